//! The pipe: lines in from one thread, lines out through another.
//!
//! Each side waits for the other: where the client does not read, the sidecar stops reading after a few lines, and
//! keeps no more than those.

use std::future::pending;
use std::io::{BufRead, Write};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use super::Sidecar;
use super::lines::{Line, read_line};
use super::presence::Closed;

/// How many lines lie between the sidecar and each thread.
const BETWEEN: usize = 4;

/// How long a client that has closed its end may still take to read what was meant for it.
const GRACE: Duration = Duration::from_secs(2);

/// Serves until the input ends, the output breaks, or the client says that it is over. `closed` tells of both ends also
/// while nothing is read or written; where its sender is dropped, only reading and writing tell. `log` gets what is not
/// for the client.
///
/// The threads are left alone where they hang in the operating system: they end with the process.
pub async fn serve(
    mut sidecar: Sidecar,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    mut closed: watch::Receiver<Closed>,
    mut log: impl FnMut(&str),
) {
    let (mut lines, mut ended) = read(input, sidecar.max_line_bytes());
    let (mut writer, written) = write(output);
    let mut has_input = true;
    // What was asked before the input ended is served, also of a session that takes seconds to open.
    while !sidecar.is_over() && (has_input || sidecar.is_opening()) {
        tokio::select! {
            line = lines.recv(), if has_input && sidecar.takes_lines() => match line {
                Some(Line::Whole(line)) => sidecar.line(&line),
                Some(Line::TooLong) => sidecar.line_too_long(),
                None => has_input = false,
            },
            () = sidecar.next() => {}
            () = writer.closed() => break,
            () = until(&mut closed, Closed::Output) => break,
        }
        if !send(&mut sidecar, &mut writer, &mut ended, &mut closed, &mut log).await {
            break;
        }
    }
    sidecar.end();
    send(&mut sidecar, &mut writer, &mut ended, &mut closed, &mut log).await;
    drop(writer);
    // It hangs where the client neither reads nor closes its end.
    let _ = tokio::time::timeout(GRACE, written).await;
}

/// Hands over what the sidecar has to say. False where nobody takes it.
async fn send(
    sidecar: &mut Sidecar,
    writer: &mut mpsc::Sender<String>,
    ended: &mut watch::Receiver<bool>,
    closed: &mut watch::Receiver<Closed>,
    log: &mut impl FnMut(&str),
) -> bool {
    let (lines, told) = sidecar.take_output();
    told.iter().for_each(|line| log(line));
    for line in lines {
        let out_of_patience = async {
            // Lines that nobody takes keep the reader from the end; `closed` knows of it all the same.
            tokio::select! {
                // An error means that the reader is gone, which is the same.
                _ = ended.wait_for(|ended| *ended) => {}
                () = until(closed, Closed::Input) => {}
            }
            tokio::time::sleep(GRACE).await;
        };
        let sent = tokio::select! {
            sent = writer.send(line) => sent.is_ok(),
            () = out_of_patience => false,
        };
        if !sent {
            return false;
        }
    }
    true
}

/// Waits until so much is closed.
async fn until(closed: &mut watch::Receiver<Closed>, what: Closed) {
    if closed.wait_for(|now| *now >= what).await.is_err() {
        pending().await
    }
}

/// Reads lines on a thread of their own. The second receiver hears of the end as soon as it is there, however many lines
/// nobody has taken yet.
fn read(mut input: impl BufRead + Send + 'static, limit: usize) -> (mpsc::Receiver<Line>, watch::Receiver<bool>) {
    let (lines, received) = mpsc::channel(BETWEEN);
    let (ending, ended) = watch::channel(false);
    std::thread::spawn(move || {
        // What cannot be read any more has ended.
        while let Ok(Some(line)) = read_line(&mut input, limit) {
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
        ending.send_replace(true);
    });
    (received, ended)
}

/// Writes lines on a thread of its own. The receiver hears when all are written, or cannot be.
fn write(mut output: impl Write + Send + 'static) -> (mpsc::Sender<String>, oneshot::Receiver<()>) {
    let (sender, mut lines) = mpsc::channel::<String>(BETWEEN);
    let (done, written) = oneshot::channel();
    std::thread::spawn(move || {
        while let Some(mut line) = lines.blocking_recv() {
            line.push('\n');
            if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
                break;
            }
        }
        drop(lines);
        // Nobody waits for it where the sidecar has lost its patience.
        let _ = done.send(());
    });
    (sender, written)
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use super::super::{FindWatchers, MAX_LINE_BYTES, Settings};
    use super::*;

    /// Each is refused with a line.
    const LINE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no such thing\"}\n";

    /// Gives one line at a time, and counts them.
    struct Lines {
        left: usize,
        read: Arc<AtomicUsize>,
    }

    impl Read for Lines {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.left == 0 {
                return Ok(0);
            }
            self.left -= 1;
            self.read.fetch_add(1, Ordering::SeqCst);
            buffer[..LINE.len()].copy_from_slice(LINE);
            Ok(LINE.len())
        }
    }

    /// Keeps what is written, and looks how much was read for it; breaks after some writes.
    #[derive(Clone, Default)]
    struct Output {
        read: Arc<AtomicUsize>,
        written: Arc<Mutex<Vec<Vec<u8>>>>,
        furthest_ahead: Arc<AtomicUsize>,
        breaks_after: Option<usize>,
    }

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut written = self.written.lock().unwrap();
            if self.breaks_after == Some(written.len()) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let ahead = self.read.load(Ordering::SeqCst).saturating_sub(written.len());
            self.furthest_ahead.fetch_max(ahead, Ordering::SeqCst);
            written.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            // Whoever else wants to run may do so: the reader gets as far as it can.
            std::thread::yield_now();
            Ok(())
        }
    }

    fn sidecar() -> Sidecar {
        let find_watchers: FindWatchers = Box::new(|_, _| Box::pin(async { Err("there is no project".to_owned()) }));
        Sidecar::new(Settings { find_watchers, clock: Box::new(|| 0), max_line_bytes: MAX_LINE_BYTES })
    }

    fn serve_lines(count: usize, output: Output) -> Output {
        let input = BufReader::with_capacity(LINE.len(), Lines { left: count, read: output.read.clone() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (_, closed) = watch::channel(Closed::Nothing);
        runtime.block_on(serve(sidecar(), input, output.clone(), closed, |_| {}));
        output
    }

    #[test]
    fn no_more_is_read_than_the_client_takes() {
        let output = serve_lines(5_000, Output::default());
        assert_eq!(output.written.lock().unwrap().len(), 5_000);
        // Lines between the threads, and those in their hands.
        let ahead = output.furthest_ahead.load(Ordering::SeqCst);
        assert!(ahead <= 2 * BETWEEN + 4, "{ahead} lines ahead");
    }

    #[test]
    fn each_line_is_written_as_a_whole() {
        let output = serve_lines(100, Output::default());
        for line in output.written.lock().unwrap().iter() {
            assert!(line.ends_with(b"\n") && line.iter().filter(|&&byte| byte == b'\n').count() == 1);
        }
    }

    #[test]
    fn an_output_that_breaks_ends_it_before_the_input_does() {
        let output = serve_lines(usize::MAX, Output { breaks_after: Some(3), ..Output::default() });
        assert_eq!(output.written.lock().unwrap().len(), 3);
    }
}
