//! Kills a child that misses its deadline.
//!
//! The caller reads and writes the pipes itself, which is the fastest way; this thread only has to make those
//! calls return by killing the child. Deadlines mostly move forward, so setting one rarely needs to wake the
//! thread: it sleeps until an old deadline, sees the new one and sleeps on.

use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{living, sys};

/// A child process and the thread that watches over it.
pub(super) struct Watchdog {
    shared: Arc<(Mutex<State>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    child: Child,
    deadline: Option<Instant>,
    /// When the thread wakes by itself; `None` where it only waits to be woken.
    wakes: Option<Instant>,
    fired: bool,
    /// Whether the child was killed and reaped, so that the thread ends.
    stop: bool,
}

/// How a child ended.
pub(super) struct End {
    /// The deadline passed first.
    pub(super) overdue: bool,
    /// The process was alive and had to be killed, by the deadline or by [`Watchdog::end`].
    pub(super) killed: bool,
    /// Its status.
    pub(super) status: std::io::Result<ExitStatus>,
}

impl Watchdog {
    /// Watches over a child.
    pub(super) fn new(child: Child) -> std::io::Result<Self> {
        let state = State { child, deadline: None, wakes: None, fired: false, stop: false };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let mut watchdog = Self { shared: Arc::clone(&shared), thread: None };
        watchdog.thread =
            Some(thread::Builder::new().name("worker-watchdog".into()).spawn(move || watch(&shared))?);
        Ok(watchdog)
    }

    /// From now on the child has this long; a time beyond what the clock can count is no limit.
    pub(super) fn arm(&self, time: Duration) {
        let mut state = self.lock();
        state.deadline = Instant::now().checked_add(time);
        if state.deadline.is_some_and(|deadline| state.wakes.is_none_or(|wakes| deadline < wakes)) {
            self.shared.1.notify_one();
        }
    }

    /// The child has as long as it likes. Says whether it still lives as far as the watchdog is concerned.
    pub(super) fn disarm(&self) -> bool {
        let mut state = self.lock();
        state.deadline = None;
        !state.fired
    }

    /// The process id.
    pub(super) fn id(&self) -> u32 {
        self.lock().child.id()
    }

    /// Whether the child has ended.
    pub(super) fn has_ended(&self) -> bool {
        sys::has_ended(&mut self.lock().child)
    }

    /// Waits for `grace` for the child to end by itself, kills what is left of its process group, and reaps it.
    pub(super) fn end(&mut self, grace: Duration) -> End {
        let overdue = !self.disarm();
        let patience = Instant::now() + grace;
        while !overdue && !self.has_ended() && Instant::now() < patience {
            thread::sleep(Duration::from_millis(1));
        }
        let mut state = self.lock();
        let alive = !sys::has_ended(&mut state.child);
        sys::kill(&mut state.child);
        living::forget(state.child.id());
        let status = state.child.wait();
        state.stop = true;
        drop(state);
        self.shared.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread cannot panic, and if it did there would be nothing to do about it here.
            let _ = thread.join();
        }
        End { overdue, killed: alive || overdue, status }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Also where the thread could not be started. Who was ended is not killed again: its id may be another's by now.
        let has_ended = self.lock().stop;
        if !has_ended {
            self.end(Duration::ZERO);
        }
    }
}

fn watch(shared: &(Mutex<State>, Condvar)) {
    let (mutex, woken) = shared;
    let mut state = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    while !state.stop {
        let now = Instant::now();
        state.wakes = state.deadline;
        match state.deadline {
            Some(deadline) if deadline <= now => {
                state.deadline = None;
                state.fired = true;
                sys::kill(&mut state.child);
            }
            Some(deadline) => {
                state = woken.wait_timeout(state, deadline - now).unwrap_or_else(PoisonError::into_inner).0;
            }
            None => state = woken.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_watchdog_without_its_thread_leaves_no_child() {
        let mut command = Command::new("sleep");
        sys::own_group(&mut command);
        let child = command.arg("600").stdin(Stdio::null()).spawn().expect("there is a program `sleep`");
        let state = State { child, deadline: None, wakes: None, fired: false, stop: false };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        drop(Watchdog { shared: Arc::clone(&shared), thread: None });
        let mut state = shared.0.lock().expect("nobody panicked");
        let ended = state.child.try_wait().expect("it can be asked");
        if ended.is_none() {
            sys::kill(&mut state.child);
        }
        assert!(ended.is_some(), "it runs on");
    }
}
