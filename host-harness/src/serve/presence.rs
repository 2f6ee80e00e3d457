//! Whether the other end of the process's own pipes is still there.

use tokio::sync::watch;

/// What the other end has closed, as far as can be known without reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closed {
    /// Nothing that is known.
    Nothing,
    /// Its way to us: it sends nothing more, but what it has sent may lie there unread.
    Input,
    /// Our way to it: it reads nothing more.
    Output,
}

/// Watches stdin and stdout, on a thread of its own that ends with the process. Systems that do not tell leave it to
/// those who read and write.
pub fn of_stdio() -> watch::Receiver<Closed> {
    let (closing, closed) = watch::channel(Closed::Nothing);
    #[cfg(unix)]
    std::thread::spawn(move || watch_stdio(&closing));
    #[cfg(not(unix))]
    drop(closing);
    closed
}

#[cfg(unix)]
fn watch_stdio(closing: &watch::Sender<Closed>) {
    use rustix::event::{PollFd, PollFlags, poll};

    let (input, output) = (std::io::stdin(), std::io::stdout());
    // Who waits for nothing is told of the end alone.
    let end = PollFlags::empty();
    let mut ends = vec![PollFd::new(&output, end), PollFd::new(&input, end)];
    loop {
        match poll(&mut ends, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) if !ends[0].revents().is_empty() => {
                closing.send_replace(Closed::Output);
                return;
            }
            Ok(_) => {
                closing.send_replace(Closed::Input);
                ends.truncate(1);
            }
        }
    }
}
