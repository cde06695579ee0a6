//! The workers that live, for a program that ends at once: nothing is dropped then, and a runner that hangs would run on for ever.
//!
//! `PR_SET_PDEATHSIG` would have the kernel do this on Linux, also after `kill -9`. But it is about the thread that has started a
//! process: threads of a campaign end, and the workers that they have started go on in the pool.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::sys;

/// The process ids of the workers that were started and not reaped yet: each is that of its group, too.
static LIVING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn living() -> MutexGuard<'static, BTreeSet<u32>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a worker.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    // Nobody ends all between the start of a process and its entry.
    let mut living = living();
    let child = command.spawn()?;
    living.insert(child.id());
    Ok(child)
}

/// A worker is about to be reaped: from then on its id may be another's.
pub(super) fn forget(id: u32) {
    living().remove(&id);
}

/// Kills all workers and what they have started, for a program that exits now. From then on no worker starts, and none is
/// seen off: threads that do either wait for ever, so that nobody takes what is killed here for a fault of a case.
pub fn end_all() {
    let living = living();
    living.iter().for_each(|&id| sys::kill_group(id));
    std::mem::forget(living);
}
