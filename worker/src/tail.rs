//! The end of a stream: what a dying engine said last.

use std::io::{PipeWriter, Read};
use std::process::ChildStderr;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::sys::{self, Peek};

/// How much is kept: a Rust or C++ abort message and a short backtrace fit many times over.
const KEPT: usize = 16 << 10;

/// How long to wait until all is read that has been written. Only a writer that never pauses takes that long.
const CATCH_UP: Duration = Duration::from_millis(20);

/// Reads a stream to its end on a thread of its own, so that the writer never blocks, and keeps the last of it.
pub(super) struct Tail {
    text: Arc<Mutex<Vec<u8>>>,
    /// Tells whether something waits to be read.
    more: Peek,
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
        let more = Peek::of(&stream)?;
        let kept = Arc::clone(&text);
        thread::Builder::new().name("worker-stderr".into()).spawn(move || {
            let mut chunk = [0; 4096];
            while sys::wait_unless_dropped(&stream, &deaf) {
                // Locked before it is read: what is no longer in the pipe is in the text for whoever has the lock. Where
                // nobody can tell that there is something to read, that would lock others out while nothing comes.
                let text = cfg!(unix).then(|| lock(&kept));
                let Ok(n @ 1..) = stream.read(&mut chunk) else { break };
                let mut text = text.unwrap_or_else(|| lock(&kept));
                text.extend_from_slice(&chunk[..n]);
                let surplus = text.len().saturating_sub(KEPT);
                text.drain(..surplus);
            }
            drop(running);
        })?;
        Ok(Self { text, more, ended, _listening: listening })
    }

    /// Forgets what was written so far.
    pub(super) fn clear(&self) {
        self.caught_up().clear();
    }

    /// The last of what was written so far.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.caught_up()).into_owned()
    }

    /// What is kept, once all is read that was written before: what an engine says of one case must be neither missing there
    /// nor told of the next.
    fn caught_up(&self) -> MutexGuard<'_, Vec<u8>> {
        let until = Instant::now() + CATCH_UP;
        loop {
            let text = lock(&self.text);
            if !self.more.is_there() || Instant::now() >= until {
                return text;
            }
            drop(text);
            thread::sleep(Duration::from_micros(50));
        }
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

    #[test]
    #[cfg(unix)]
    fn what_was_written_is_there_at_once_and_gone_when_cleared() {
        use std::io::{BufRead, BufReader, Write};
        use std::process::{Command, Stdio};
        // It answers each line on one stream after it has said the same on the other.
        let script = "while read -r line; do echo \"$line\" >&2; echo done; done";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a shell");
        let tail = Tail::of(child.stderr.take().expect("a pipe")).expect("a thread");
        let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut questions = child.stdin.take().expect("a pipe");
        for number in 0..500 {
            tail.clear();
            writeln!(questions, "case {number}").expect("it listens");
            answers.read_line(&mut String::new()).expect("it answers");
            assert_eq!(tail.text(), format!("case {number}\n"));
        }
        drop(questions);
        child.wait().expect("it ends");
    }
}
