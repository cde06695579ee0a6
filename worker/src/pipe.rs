//! Pipes that are waited for no longer than is allowed.
//!
//! Killing a worker ends its pipes, and with them a read or write that waits: that is how the watchdog works. But a
//! process that the engine started and that left the process group may hold the other end, and lives on. So nobody
//! waits for a pipe without an end to it. (On systems that are not Unix one does.)

use std::io::{self, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::time::Instant;

use super::sys;

/// How many bytes are read at once.
pub(super) const AT_ONCE: usize = 64 << 10;

/// One end of a pipe, with a time after which it gives up.
pub(super) struct Patient<P> {
    pipe: P,
    until: Option<Instant>,
}

impl<P> Patient<P> {
    /// From now on reads and writes fail after this time; `None` for never.
    pub(super) fn until(&mut self, time: Option<Instant>) {
        self.until = time;
    }
}

impl Patient<ChildStdout> {
    /// The end that is read.
    pub(super) fn reader(pipe: ChildStdout) -> Self {
        Self { pipe, until: None }
    }
}

impl Patient<ChildStdin> {
    /// The end that is written.
    pub(super) fn writer(pipe: ChildStdin) -> io::Result<Self> {
        sys::never_block(&pipe)?;
        Ok(Self { pipe, until: None })
    }

    /// How many bytes the pipe holds.
    pub(super) fn room(&self) -> usize {
        sys::room(&self.pipe)
    }
}

impl Read for Patient<ChildStdout> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        sys::wait_to_read(&self.pipe, self.until)?;
        self.pipe.read(buffer)
    }
}

impl Write for Patient<ChildStdin> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.pipe.write(bytes) {
                // Most requests fit into the pipe, so that it is written before it is waited for.
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    sys::wait_to_write(&self.pipe, self.until)?;
                }
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}
