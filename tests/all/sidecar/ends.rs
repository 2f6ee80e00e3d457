//! How it ends, where the client does not read, or has nothing read.

use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc;

use chaperone::serve::connection::serve;
use chaperone::serve::presence::Closed;
use chaperone::serve::{FindWatchers, MAX_LINE_BYTES, Settings, Sidecar};
use tokio::sync::watch;

/// Neither gives nor takes anything before the other end of the channel is dropped.
struct Stuck(mpsc::Receiver<()>);

impl Read for Stuck {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        Ok(0)
    }
}

impl Write for Stuck {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Lines without an end, of which each is refused with one.
struct Nonsense;

impl Read for Nonsense {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'\n');
        buffer.iter_mut().step_by(2).for_each(|byte| *byte = b'?');
        Ok(buffer.len())
    }
}

fn sidecar() -> Sidecar {
    let find_watchers: FindWatchers = Box::new(|_, _| Box::pin(async { Err("there is no project".to_owned()) }));
    Sidecar::new(Settings { find_watchers, clock: Box::new(|| 0), max_line_bytes: MAX_LINE_BYTES })
}

#[tokio::test(start_paused = true)]
async fn a_client_that_closed_its_end_and_does_not_read_is_not_waited_for_however_much_it_has_sent() {
    let (_stuck, stuck) = mpsc::channel();
    let (_closing, closed) = watch::channel(Closed::Input);
    serve(sidecar(), BufReader::new(Nonsense), Stuck(stuck), closed, |_| {}).await;
}

#[tokio::test(start_paused = true)]
async fn an_output_that_is_closed_ends_it_before_anything_is_written() {
    let (_stuck, stuck) = mpsc::channel();
    let (_closing, closed) = watch::channel(Closed::Output);
    serve(sidecar(), BufReader::new(Stuck(stuck)), io::sink(), closed, |_| {}).await;
}
