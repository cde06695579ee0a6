//! Asking further about what hangs, without waiting as long each time.
//!
//! Who is to blame for a model that hangs, and what is left of it when it is reduced, takes dozens of runs that hang too. Each would take
//! all the time that a case may take, at each level of the engine. So they get less, and what has hung once is not asked again. What is
//! found out so is asked once more at the end, with all its time.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use worker::{Case, Fault, Outcome, Pool, Run, WorkerError};

/// The part of a case's time that is given.
const PART: u32 = 10;

/// What is given at least, where a case may take as long: an engine that is busy loading does not hang.
const LEAST: Duration = Duration::from_secs(1);

/// Little time, and what has not ended within it.
#[derive(Default)]
pub(crate) struct Hurry(Mutex<HashSet<u64>>);

impl Hurry {
    /// Runs a case, unless it is known to hang.
    pub(crate) fn run(&self, pool: &Pool, case: &Case<'_>) -> Result<Run, WorkerError> {
        let content = content(case);
        let hung = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if hung().contains(&content) {
            let outcome = Outcome::Fault(Fault::Timeout);
            let stderr = String::new();
            return Ok(Run { outcome, engine_seconds: 0.0, wall_seconds: 0.0, stderr, late_fault: None });
        }
        let ran = pool.run_within(given(pool.timeout()), case)?;
        if ran.outcome == Outcome::Fault(Fault::Timeout) {
            hung().insert(content);
        }
        Ok(ran)
    }
}

/// What a case gets of its usual time.
fn given(usual: Duration) -> Duration {
    (usual / PART).max(LEAST).min(usual)
}

fn content(case: &Case<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (case.level, case.model).hash(&mut hasher);
    for (name, value) in case.inputs {
        name.hash(&mut hasher);
        value.tensors().for_each(|tensor| tensor.to_bytes().hash(&mut hasher));
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_given_but_no_less_than_a_second() {
        let given = |seconds| given(Duration::from_secs_f64(seconds)).as_secs_f64();
        assert_eq!([60.0, 10.0, 5.0, 0.5].map(given), [6.0, 1.0, 1.0, 0.5]);
    }
}
