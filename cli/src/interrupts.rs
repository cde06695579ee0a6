//! What Ctrl-C and SIGTERM do: a command ends with what it has. The second time they end it at once, and its workers with it; what is
//! stored is safe then too. While a command has nothing yet, the first time ends it at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use campaign::Exit;

use crate::screen;

/// How long after the first signal another is the first once more: `timeout` sends its signal to the program and then to its
/// process group, which has the program in it.
const ECHO: Duration = Duration::from_millis(500);

/// Whether a signal came. A command asks for it once.
pub(crate) struct Interrupts {
    stop: Arc<AtomicBool>,
    /// What becomes of the command's work, once there is some.
    kept: Arc<Mutex<Option<&'static str>>>,
}

/// Ends the program and its workers.
fn end() -> ! {
    worker::end_all();
    std::process::exit(Exit::Interrupted.code().into());
}

impl Interrupts {
    /// From now on signals end the command early. `kept` says to the user what becomes of its work then.
    pub(crate) fn take(kept: &'static str) -> anyhow::Result<Self> {
        let taken = Self::at_once()?;
        taken.keep(kept);
        Ok(taken)
    }

    /// From now on a signal ends the command at once, as there is nothing to keep yet.
    pub(crate) fn at_once() -> anyhow::Result<Self> {
        let taken = Self { stop: Arc::default(), kept: Arc::default() };
        let (stop, kept) = (Arc::clone(&taken.stop), Arc::clone(&taken.kept));
        let mut first: Option<Instant> = None;
        ctrlc::set_handler(move || match first {
            None => {
                first = Some(Instant::now());
                stop.store(true, Ordering::Relaxed);
                let Some(kept) = *kept.lock().unwrap_or_else(PoisonError::into_inner) else { end() };
                screen::say(&format!("stopping: {kept}; once more stops at once"));
            }
            Some(first) if first.elapsed() < ECHO => {}
            Some(_) => end(),
        })
        .context("signals cannot be handled")?;
        Ok(taken)
    }

    /// From now on this becomes of the work.
    pub(crate) fn keep(&self, kept: &'static str) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }

    /// Whether a signal came.
    pub(crate) fn came(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What a signal sets.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.stop
    }
}
