//! What goes wrong with the reply.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio, exit};
use std::rc::Rc;
use std::thread::{self, sleep};
use std::time::Duration;

use super::Misbehaviour;
use super::engine::FOR_EVER;
use crate::protocol::MAX_HEADER;

/// How long after its answer a process dies.
const SOON: Duration = Duration::from_millis(1);

/// Where frames go out: as they are, or as planned for the next one.
pub(super) struct Replies {
    /// `None` once it was closed.
    out: Option<File>,
    next: Rc<Cell<Option<Misbehaviour>>>,
    /// When late answers come.
    pause: Duration,
}

impl Replies {
    pub(super) fn new(out: File, next: Rc<Cell<Option<Misbehaviour>>>, pause: Duration) -> Self {
        Self { out: Some(out), next, pause }
    }

    fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.write_all(bytes))
    }

    /// Says something other than this frame.
    fn twist(&mut self, misbehaviour: Misbehaviour, frame: &[u8]) -> io::Result<()> {
        use Misbehaviour as M;
        match misbehaviour {
            M::Garbage => self.say(b"Segmentation fault (no, not really)\n").map(|()| sleep(FOR_EVER)),
            M::Half => self.say(&frame[..frame.len() / 2]).map(|()| exit(0)),
            M::LongHeader => {
                let mut header = vec![b' '; MAX_HEADER as usize + 1];
                header[0] = b'{';
                self.say(&header)
            }
            M::Boast => self.say(&replaced(frame, b"\"bytes\":", b"9999999999")),
            M::OtherId => self.say(&replaced(frame, b"\"id\":", b"0")),
            M::DieLater => {
                self.say(frame)?;
                thread::spawn(|| {
                    sleep(SOON);
                    std::process::abort()
                });
                Ok(())
            }
            M::Twice => self.say(frame).and_then(|()| self.say(frame)),
            M::Close => {
                self.out = None;
                sleep(FOR_EVER);
                Ok(())
            }
            M::LeaveChild => self.leave(&mut Command::new("sleep"), &["3600"]),
            M::LeaveStranger => {
                let header = frame.split(|b| *b == b'\n').next().unwrap_or_default();
                let (pause, header) = (self.pause.as_secs_f64(), String::from_utf8_lossy(header));
                let late = format!("sleep {pause}; printf '%s\\n' '{header}'");
                self.leave(Command::new("sh").process_group(0), &["-c", &late])
            }
            _ => self.say(frame),
        }
    }

    /// Starts a process that holds the pipes, and ends.
    fn leave(&self, command: &mut Command, args: &[&str]) -> io::Result<()> {
        if let Some(out) = &self.out {
            command.args(args).stdout(Stdio::from(out.try_clone()?));
        }
        #[allow(clippy::zombie_processes, reason = "this process ends at once")]
        command.spawn()?;
        exit(0)
    }
}

impl Write for Replies {
    /// Takes one frame at a time, as the worker's loop writes them.
    fn write(&mut self, frame: &[u8]) -> io::Result<usize> {
        match self.next.take() {
            None => self.say(frame)?,
            Some(misbehaviour) => self.twist(misbehaviour, frame)?,
        }
        Ok(frame.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), File::flush)
    }
}

/// A frame in which a number of the header, the digits after `key`, is another one.
fn replaced(frame: &[u8], key: &[u8], digits: &[u8]) -> Vec<u8> {
    let Some(at) = frame.windows(key.len()).position(|w| w == key) else { return frame.to_vec() };
    let (before, rest) = frame.split_at(at + key.len());
    let after = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
    [before, digits, &rest[after..]].concat()
}
