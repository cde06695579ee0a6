//! Asking further without waiting long for what hangs.
//!
//! To find out who is to blame for a finding, and to reduce it, takes dozens of runs of smaller models. These may hang,
//! whether the whole model does or not. Each hang would take all the time that a case may take, at each level of the
//! engine. So these runs get less time, and a model that has hung once is not run again, at no level. A hang that is
//! found in this way is run once more at the end, with all its time, unless it is only compared with a list of known
//! hangs.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ir::Tensor;
use worker::{Case, Fault, Outcome, Pool, Run, WorkerError};

/// How many times as long as other cases a case may take. On a busy machine it takes some times as long as usual.
const USUAL: u32 = 50;

/// How many times as long as other cases a case may take if the question is not whether it hangs: then an answer is
/// worth a few lost seconds.
const ENOUGH: u32 = 200;

/// The most that is given is this part of a case's time; [`SECOND`], and the time of the whole model, may make it more.
const PART: u32 = 10;

/// The least that is given, if a case may take that long: an engine that is busy starting does not hang.
const LEAST: Duration = Duration::from_millis(250);

/// This much may be given, however short the time of a case is.
const SECOND: Duration = Duration::from_secs(1);

/// How many times as long as the whole model a smaller one may take.
const TIMES: u32 = 4;

/// What is known to hang at some level of an engine, and how long the whole model takes.
#[derive(Default)]
pub struct Hurry {
    hung: Mutex<HashMap<u64, Hung>>,
    whole: Mutex<Duration>,
    is_first_look: bool,
}

/// How long something has hung.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hung {
    /// With little time.
    Little,
    /// With all of it.
    All,
}

impl Hurry {
    /// For a first look: what hangs with little time is taken to hang with all of it.
    pub fn first_look() -> Self {
        Self { is_first_look: true, ..Self::default() }
    }

    /// Whether what hangs with little time is taken to hang with all of it.
    pub fn is_first_look(&self) -> bool {
        self.is_first_look
    }

    /// Notes how long the whole model took at some level. (An engine may report any number.)
    pub fn took(&self, seconds: f64) {
        let took = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        *whole = took.max(*whole);
    }

    /// The time limit for a case, if other cases on its engine take `usual` seconds (`None` if that is not
    /// known).
    fn given(&self, time: Duration, usual: Option<f64>) -> Duration {
        let whole = *self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        let most = (time / PART).max(SECOND);
        times(USUAL, usual)
            .map_or(most, |it| it.clamp(LEAST, most))
            .max(whole.saturating_mul(TIMES))
            .min(time)
    }

    /// Runs a case with little time, unless it is known to hang.
    pub(crate) fn run(&self, pool: &Pool, case: &Case<'_>) -> Result<Run, WorkerError> {
        let content = content(case);
        if self.knows(content).is_some() {
            return Ok(hung());
        }
        let ran = pool.run_within(self.given(pool.timeout(), pool.usual_seconds()), case)?;
        Ok(self.note(content, Hung::Little, ran))
    }

    /// Runs a case with all its time in a process of its own, unless it is known to hang for so long.
    pub(crate) fn run_afresh(&self, pool: &Pool, case: &Case<'_>) -> Result<Run, WorkerError> {
        let content = content(case);
        if self.knows(content) == Some(Hung::All) {
            return Ok(hung());
        }
        Ok(self.note(content, Hung::All, pool.run_afresh(case)?))
    }

    fn knows(&self, content: u64) -> Option<Hung> {
        self.hung.lock().unwrap_or_else(PoisonError::into_inner).get(&content).copied()
    }

    fn note(&self, content: u64, how_long: Hung, ran: Run) -> Run {
        if ran.has_hung() {
            self.hung.lock().unwrap_or_else(PoisonError::into_inner).insert(content, how_long);
        }
        ran
    }
}

/// What is not asked again.
fn hung() -> Run {
    Run::of(Outcome::Fault(Fault::Timeout))
}

/// The time limit for a case that hung at another level of its engine, or of which nobody asks whether it hangs. It is
/// [`ENOUGH`] times as long as other cases take, but at least a second and at most half of `time`. If it is not known
/// how long others take, it is half of `time`.
pub(crate) fn enough(time: Duration, usual: Option<f64>) -> Duration {
    let most = (time / 2).max(SECOND);
    times(ENOUGH, usual).map_or(most, |it| it.clamp(SECOND, most)).min(time)
}

/// `factor` times `seconds`, if these are known.
fn times(factor: u32, seconds: Option<f64>) -> Option<Duration> {
    Some(Duration::try_from_secs_f64(seconds?).unwrap_or_default().saturating_mul(factor))
}

/// What tells a case from others, at whatever level.
fn content(case: &Case<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    case.model.hash(&mut hasher);
    for (name, value) in case.inputs {
        name.hash(&mut hasher);
        // Where a size is open, inputs of several shapes may have the same bytes.
        value.clone().map(Tensor::ty).to_string().hash(&mut hasher);
        value.tensors().for_each(|tensor| tensor.to_bytes().hash(&mut hasher));
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use ir::{DType, Datum, Strings, Type};
    use worker::Source;

    use super::*;

    #[test]
    fn inputs_of_the_same_bytes_and_of_other_types_are_other_cases() {
        let of_datum = |datum: Datum| {
            let inputs = [("x", datum.as_ref())];
            content(&Case { model: Source::Message(b"model"), level: "all", inputs: &inputs, outputs: &[] })
        };
        let of = |dtype, shape: [i64; 2]| of_datum(Datum::Tensor(Tensor::zeros(&Type::new(dtype, shape))));
        let strings = |shape: [i64; 2]| {
            of_datum(Datum::Strings(
                Strings::of_texts(shape.to_vec(), &["a".to_owned(), "b".to_owned()]).unwrap(),
            ))
        };
        assert_eq!(of(DType::F32, [2, 3]), of(DType::F32, [2, 3]));
        assert_ne!(of(DType::F32, [2, 3]), of(DType::F32, [3, 2]));
        assert_ne!(of(DType::F32, [0, 4]), of(DType::F32, [4, 0]));
        assert_ne!(of(DType::F32, [2, 3]), of(DType::I32, [2, 3]));
        assert_ne!(strings([1, 2]), strings([2, 1]));
    }

    #[test]
    fn what_is_given_follows_from_other_cases_and_from_the_whole() {
        let hurry = Hurry::default();
        let given = |time, usual| hurry.given(Duration::from_secs_f64(time), usual).as_secs_f64();
        // No more than a tenth or a second of the time.
        for usual in [Some(1.0), None] {
            assert_eq!([60.0, 10.0, 5.0, 0.5].map(|time| given(time, usual)), [6.0, 1.0, 1.0, 0.5]);
        }
        // But less where others take less.
        let quick = [0.03, 0.01, 0.001, 0.0, -1.0].map(|usual| given(60.0, Some(usual)));
        assert_eq!(quick, [1.5, 0.5, 0.25, 0.25, 0.25]);
        let elsewhere = |time, usual| enough(Duration::from_secs_f64(time), usual).as_secs_f64();
        let others =
            [(10.0, Some(0.001)), (10.0, Some(0.01)), (10.0, Some(1.0)), (10.0, None), (0.5, Some(1.0))];
        assert_eq!(others.map(|(time, usual)| elsewhere(time, usual)), [1.0, 2.0, 5.0, 5.0, 0.5]);
        for seconds in [0.25, 0.5, f64::NAN, -1.0] {
            hurry.took(seconds);
        }
        assert_eq!([60.0, 10.0, 5.0, 0.5].map(|time| given(time, Some(0.001))), [2.0, 2.0, 2.0, 0.5]);
    }
}
