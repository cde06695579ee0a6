//! The end of a stream: what a dying engine said last.

use std::io::{PipeWriter, Read};
use std::process::ChildStderr;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::sys;

/// How much is kept: a Rust or C++ abort message and a short backtrace fit many times over.
const KEPT: usize = 16 << 10;

/// Reads a stream to its end on a thread of its own, so that the writer never blocks, and keeps the last of it.
pub(super) struct Tail {
    text: Arc<Mutex<Vec<u8>>>,
    /// Disconnects when the stream has ended.
    ended: Receiver<()>,
    /// Tells the thread that nobody listens any more, should the stream not end: a process that outlived the worker
    /// may hold it.
    _listening: PipeWriter,
}

impl Tail {
    /// Starts reading.
    pub(super) fn of(mut stream: ChildStderr) -> std::io::Result<Self> {
        let text = Arc::new(Mutex::new(Vec::new()));
        let (running, ended) = channel::<()>();
        let (deaf, listening) = std::io::pipe()?;
        let kept = Arc::clone(&text);
        thread::Builder::new().name("worker-stderr".into()).spawn(move || {
            let mut chunk = [0; 4096];
            while sys::wait_unless_dropped(&stream, &deaf)
                && let Ok(n @ 1..) = stream.read(&mut chunk)
            {
                let mut text = lock(&kept);
                text.extend_from_slice(&chunk[..n]);
                let surplus = text.len().saturating_sub(KEPT);
                text.drain(..surplus);
            }
            drop(running);
        })?;
        Ok(Self { text, ended, _listening: listening })
    }

    /// Forgets what was read so far.
    pub(super) fn clear(&self) {
        lock(&self.text).clear();
    }

    /// What was read so far.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.text)).into_owned()
    }

    /// Waits for the end of the stream, then gives [`Tail::text`]. The writer should be dead; a process that it
    /// left behind may hold the stream open, so the wait is short.
    pub(super) fn last_words(&self) -> String {
        let _ = self.ended.recv_timeout(Duration::from_millis(500));
        self.text()
    }
}

fn lock(text: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn only_the_end_is_kept() {
        use std::process::{Command, Stdio};
        let line = format!("yes | head -c {} >&2; echo the end >&2", 3 * KEPT);
        let mut child =
            Command::new("sh").args(["-c", &line]).stderr(Stdio::piped()).spawn().expect("a shell");
        let text = Tail::of(child.stderr.take().expect("a pipe")).expect("a thread").last_words();
        child.wait().expect("it ends");
        assert_eq!(text.len(), KEPT);
        assert!(text.ends_with("y\nthe end\n"), "{}", &text[KEPT - 20..]);
    }
}
