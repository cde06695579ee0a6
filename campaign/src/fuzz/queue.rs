//! Which case is next, and when it is enough.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Plan;

/// How far cases may be ahead of the first one that is not counted. One slow case would otherwise let the results of all
/// others pile up.
const LEAD: u64 = 512;

/// How long a thread that is too far ahead sleeps before it looks whether the campaign is over.
const NAP: Duration = Duration::from_millis(50);

/// Deals the numbers of a shard's cases, in order.
pub(super) struct Queue<'p> {
    plan: &'p Plan<'p>,
    stop: &'p AtomicBool,
    closed: AtomicBool,
    started: Instant,
    /// The seconds of earlier sessions.
    earlier: f64,
    state: Mutex<State>,
    moved: Condvar,
}

/// See [`Queue::closing`].
pub(super) struct Closing<'q, 'p>(&'q Queue<'p>);

impl Drop for Closing<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}

struct State {
    next: u64,
    /// The cases below are counted.
    done: u64,
}

impl<'p> Queue<'p> {
    pub(super) fn new(plan: &'p Plan<'p>, stop: &'p AtomicBool, from: u64, earlier: f64) -> Self {
        let state = Mutex::new(State { next: from, done: from });
        let (closed, started, moved) = (AtomicBool::new(false), Instant::now(), Condvar::new());
        Self { plan, stop, closed, started, earlier, state, moved }
    }

    /// The next case. It may wait for earlier ones.
    pub(super) fn next(&self) -> Option<u64> {
        let mut state = self.lock();
        loop {
            let most = self.plan.cases.unwrap_or(u64::MAX);
            if self.is_over() || self.plan.shard.case(state.next) >= most {
                return None;
            }
            if state.next < state.done + LEAD {
                state.next += 1;
                return Some(state.next - 1);
            }
            let waited = self.moved.wait_timeout(state, NAP).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
        }
    }

    /// The cases below a number are counted.
    pub(super) fn done(&self, number: u64) {
        self.lock().done = number;
        self.moved.notify_all();
    }

    /// Deals no more.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Closes the queue if the thread panics that holds this: others would wait for its case forever.
    pub(super) fn closing(&self) -> Closing<'_, 'p> {
        Closing(self)
    }

    /// The campaign's time, that of earlier sessions included.
    pub(super) fn seconds(&self) -> f64 {
        self.earlier + self.started.elapsed().as_secs_f64()
    }

    /// Whether the campaign ends, whatever is left of it.
    pub(super) fn is_over(&self) -> bool {
        let is_late = || self.plan.time.is_some_and(|time| self.seconds() >= time.as_secs_f64());
        self.is_stopped() || is_late()
    }

    /// Whether it ends early: what is not counted runs again.
    pub(super) fn is_stopped(&self) -> bool {
        self.closed.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use graphgen::Settings;
    use harness::Maker;

    use super::*;

    #[test]
    fn a_thread_that_panics_leaves_nobody_waiting_for_its_case() {
        let plan = Plan { jobs: 2, ..Plan::of(Maker::new(7, Settings::default()), Vec::new()) };
        let stop = AtomicBool::new(false);
        let queue = Queue::new(&plan, &stop, 0, 0.0);
        let panicked = std::thread::scope(|scope| {
            let planted = || {
                let _closing = queue.closing();
                assert_eq!(queue.next(), None, "as planted");
            };
            scope.spawn(planted).join().is_err()
        });
        assert!(panicked && queue.next().is_none());
    }
}
