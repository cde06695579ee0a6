//! An engine that misbehaves at set rates, to test what surrounds engines: nothing it does may hurt a campaign.
//!
//! `onnxsmith worker chaos segfault=1 hang=0.05` answers as the engine `cpu` does, except that one case in a hundred is
//! a segmentation fault and one in two thousand never ends. What happens in a case follows from the case's bytes
//! alone, so that whoever has the case can tell what its verdict must be ([`Rates::of`], [`Misbehaviour::shows`]).
//! `cargo xtask chaos` does that for a whole campaign.
//!
//! | module | holds |
//! |---|---|
//! | this | which misbehaviours there are, how often they occur, what each must be called |
//! | `engine` | those of the engine: they happen before there is an answer |
//! | `reply` | those of the reply: cut off, too long, twice, not an answer at all |

mod engine;
mod reply;

pub use engine::{Choice, serve, serve_with};

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Case, FaultKind, Outcome, Source};

/// Something that an engine may do wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Misbehaviour {
    /// Touches memory that is not there.
    Segfault,
    /// Executes what is no instruction.
    Illegal,
    /// Aborts.
    Abort,
    /// Is killed as the kernel does when memory is short.
    Killed,
    /// Recurses without end.
    Overflow,
    /// Takes memory until there is none.
    Memory,
    /// Panics.
    Panic,
    /// Panics on a thread of its own and waits for it.
    PanicInThread,
    /// Ends without an answer, as if all were well.
    Exit,
    /// Ends without an answer, with last words.
    ExitWithWords,
    /// Does not end.
    Hang,
    /// Answers rightly, after the time is over.
    Late,
    /// Does not end, and has started another process.
    HangWithChild,
    /// Ends, and leaves a process of its group behind that holds its pipes.
    LeaveChild,
    /// As before, but that process is in a group of its own and writes an answer later.
    LeaveStranger,
    /// Closes its standard output and goes on.
    Close,
    /// Answers with something that is no frame.
    Garbage,
    /// Answers with the first half of a frame, then ends.
    Half,
    /// Answers with a header beyond the limit.
    LongHeader,
    /// Announces more bytes than are allowed.
    Boast,
    /// Answers another request.
    OtherId,
    /// Answers with outputs of other names.
    OtherNames,
    /// Answers with outputs of another shape.
    OtherShape,
    /// Says that the model is wrong.
    Reject,
    /// Says that it lacks an operator.
    Lack,
    /// Fills standard error, then answers rightly.
    Flood,
    /// Prints to standard output, then answers rightly.
    Print,
    /// Answers rightly, then once more.
    Twice,
    /// Answers rightly, and dies of a thread that goes on.
    DieLater,
}

/// What a misbehaviour must be taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shows {
    /// Nothing: the answer is right.
    Answer,
    /// Nothing in this case. The next one on the same process finds it unusable; its fault then is late, not its own.
    LateFault,
    /// Outputs of the wrong type.
    WrongType,
    /// A clean error.
    Rejected,
    /// The lack of something.
    Unsupported,
    /// A [`Fault`](super::Fault) of this kind, whose text holds these words.
    Fault(FaultKind, &'static str),
}

/// What an engine says that it lacks.
pub const LACK: &str = "the operator Chaos";

use Misbehaviour as M;

/// Every misbehaviour, its name on the command line, and what it shows.
const ALL: [(M, &str, Shows); 29] = [
    (M::Segfault, "segfault", Shows::Fault(FaultKind::Signal, "SIGSEGV")),
    (M::Illegal, "illegal", Shows::Fault(FaultKind::Signal, "SIGILL")),
    (M::Abort, "abort", Shows::Fault(FaultKind::Signal, "SIGABRT")),
    (M::Killed, "killed", Shows::Fault(FaultKind::Memory, "")),
    (M::Overflow, "overflow", Shows::Fault(FaultKind::StackOverflow, "")),
    (M::Memory, "memory", Shows::Fault(FaultKind::Memory, "")),
    (M::Panic, "panic", Shows::Fault(FaultKind::Panic, "the axis is out of range")),
    (M::PanicInThread, "panic-in-thread", Shows::Fault(FaultKind::Panic, "first")),
    (M::Exit, "exit", Shows::Fault(FaultKind::Exit, "code 0")),
    (M::ExitWithWords, "exit-with-words", Shows::Fault(FaultKind::Exit, "code 3")),
    (M::Hang, "hang", Shows::Fault(FaultKind::Timeout, "")),
    (M::Late, "late", Shows::Fault(FaultKind::Timeout, "")),
    (M::HangWithChild, "hang-with-child", Shows::Fault(FaultKind::Timeout, "")),
    (M::LeaveChild, "leave-child", Shows::Fault(FaultKind::Exit, "code 0")),
    (M::LeaveStranger, "leave-stranger", Shows::Fault(FaultKind::Exit, "code 0")),
    (M::Close, "close", Shows::Fault(FaultKind::Garbage, "closed its standard output")),
    (M::Garbage, "garbage", Shows::Fault(FaultKind::Garbage, "expected a JSON header")),
    (M::Half, "half", Shows::Fault(FaultKind::Garbage, "inside a frame")),
    (M::LongHeader, "long-header", Shows::Fault(FaultKind::Garbage, "a header is longer than")),
    (M::Boast, "boast", Shows::Fault(FaultKind::Garbage, "bytes is announced")),
    (M::OtherId, "other-id", Shows::Fault(FaultKind::Garbage, "it answers request")),
    (M::OtherNames, "other-names", Shows::Fault(FaultKind::Garbage, "in this order were asked for")),
    (M::OtherShape, "other-shape", Shows::WrongType),
    (M::Reject, "reject", Shows::Rejected),
    (M::Lack, "lack", Shows::Unsupported),
    (M::Flood, "flood", Shows::Answer),
    (M::Print, "print", Shows::Answer),
    (M::Twice, "twice", Shows::LateFault),
    (M::DieLater, "die-later", Shows::LateFault),
];

impl Misbehaviour {
    /// Every misbehaviour.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter().map(|(misbehaviour, ..)| misbehaviour)
    }

    fn row(self) -> (&'static str, Shows) {
        let row = ALL.iter().find(|(misbehaviour, ..)| *misbehaviour == self);
        row.map(|(_, name, shows)| (*name, *shows)).expect("the table has every misbehaviour")
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What it must be taken for.
    pub fn shows(self) -> Shows {
        self.row().1
    }

    /// The misbehaviour of that name.
    pub fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|(_, n, _)| *n == name).map(|(misbehaviour, ..)| *misbehaviour)
    }
}

impl Shows {
    /// Whether an outcome is what is shown. (A wrong type is an outcome like any other until it is judged.)
    pub fn is(self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Self::Answer | Self::LateFault | Self::WrongType, Outcome::Outputs(_))
            | (Self::Rejected, Outcome::Rejected { .. })
            | (Self::Unsupported, Outcome::Unsupported { .. }) => true,
            (Self::Fault(..), Outcome::Fault(fault)) => self.is_fault(fault.kind(), &fault.to_string()),
            _ => false,
        }
    }

    /// Whether a fault of this kind and text is what is shown.
    pub fn is_fault(self, kind: FaultKind, text: &str) -> bool {
        matches!(self, Self::Fault(of, words) if of == kind && text.contains(words))
    }
}

/// How often each misbehaviour occurs.
#[derive(Clone, PartialEq, Debug)]
pub struct Rates {
    /// The share of cases of each, in per cent.
    shares: BTreeMap<Misbehaviour, f64>,
    /// After how long late answers come.
    pub pause: Duration,
}

/// Why words are no [`Rates`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RatesError {
    /// A word is not of the form `name=number`.
    #[error("`{0}` is no rate; write segfault=0.5, in per cent of all cases, or pause=2.5, in seconds")]
    Word(String),
    /// There is no such misbehaviour.
    #[error("there is no misbehaviour `{0}`; there are {known}", known = ALL.map(|(_, name, _)| name).join(", "))]
    Name(String),
    /// The rates are more than all cases.
    #[error("the rates add up to {0} per cent")]
    Sum(String),
}

impl Rates {
    /// When late answers come if nothing is said: after the time-out that campaigns have.
    const PAUSE: Duration = Duration::from_secs(15);

    /// The rates in words such as `segfault=0.5`, in per cent, and `pause=2.5`, in seconds.
    pub fn parse<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Result<Self, RatesError> {
        let mut rates = Self { shares: BTreeMap::new(), pause: Self::PAUSE };
        for word in words {
            let word = word.as_ref();
            let wrong = || RatesError::Word(word.to_owned());
            let (name, number) = word.split_once('=').ok_or_else(wrong)?;
            let number: f64 = number.parse().map_err(|_| wrong())?;
            if name == "pause" {
                rates.pause = Duration::try_from_secs_f64(number).map_err(|_| wrong())?;
                continue;
            }
            let misbehaviour = Misbehaviour::named(name).ok_or_else(|| RatesError::Name(name.to_owned()))?;
            if !(0.0..=100.0).contains(&number) {
                return Err(wrong());
            }
            rates.shares.insert(misbehaviour, number);
        }
        let sum: f64 = rates.shares.values().sum();
        if sum > 100.0 { Err(RatesError::Sum(sum.to_string())) } else { Ok(rates) }
    }

    /// The words that [`Rates::parse`] takes.
    pub fn words(&self) -> Vec<String> {
        let words = self.shares.iter().map(|(misbehaviour, rate)| format!("{}={rate}", misbehaviour.name()));
        words.chain([format!("pause={}", self.pause.as_secs_f64())]).collect()
    }

    /// What happens in a case, if anything.
    pub fn of(&self, case: &Case<'_>) -> Option<Misbehaviour> {
        let mut at = 100.0 * share(case);
        self.shares.iter().find_map(|(misbehaviour, rate)| {
            let is_it = at < *rate;
            at -= rate;
            is_it.then_some(*misbehaviour)
        })
    }
}

/// A number from 0 to 1 that follows from the level, the model and the inputs: FNV-1a over their bytes, its high bits
/// mixed once more (the last bytes hardly reach them).
fn share(case: &Case<'_>) -> f64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut take = |bytes: &[u8]| {
        hash = bytes.iter().fold(hash, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3));
    };
    take(case.level.as_bytes());
    match case.model {
        Source::Message(bytes) => take(bytes),
        Source::File(path) => take(path.as_os_str().as_encoded_bytes()),
    }
    for tensor in case.inputs.iter().flat_map(|(_, value)| value.tensors()) {
        take(&tensor.to_bytes());
    }
    // The finaliser of MurmurHash3.
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    ((hash ^ (hash >> 33)) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fault;

    fn case(model: &[u8]) -> Case<'_> {
        Case { model: Source::Message(model), level: "default", inputs: &[], outputs: &[] }
    }

    #[test]
    fn words_round_trip_and_wrong_ones_are_named() {
        let rates = Rates::parse(["segfault=1", "late=0.25", "pause=2.5"]).unwrap();
        assert_eq!(Rates::parse(rates.words()), Ok(rates));
        assert_eq!(Rates::parse(["segfault"]), Err(RatesError::Word("segfault".into())));
        assert_eq!(Rates::parse(["segfault=-1"]), Err(RatesError::Word("segfault=-1".into())));
        assert_eq!(Rates::parse(["segfault=NaN"]), Err(RatesError::Word("segfault=NaN".into())));
        assert_eq!(Rates::parse(["dance=1"]), Err(RatesError::Name("dance".into())));
        assert_eq!(Rates::parse(["hang=60", "exit=50"]), Err(RatesError::Sum("110".into())));
    }

    #[test]
    fn rates_are_kept_and_a_case_decides_alone() {
        let rates = Rates::parse(["segfault=10", "hang=1"]).unwrap();
        let models: Vec<[u8; 8]> = (0..10_000u64).map(u64::to_le_bytes).collect();
        let count = |wanted| models.iter().filter(|m| rates.of(&case(*m)) == Some(wanted)).count();
        assert!((900..1100).contains(&count(M::Segfault)), "{}", count(M::Segfault));
        assert!((70..130).contains(&count(M::Hang)), "{}", count(M::Hang));
        assert_eq!(Rates::parse(["panic=100"]).unwrap().of(&case(b"any")), Some(M::Panic));
        assert_eq!(Rates::parse([""; 0]).unwrap().of(&case(b"any")), None);
    }

    #[test]
    fn outcomes_are_told_apart() {
        let fault = |fault| Outcome::Fault(fault);
        assert!(M::Killed.shows().is(&fault(Fault::Memory)));
        assert!(!M::Hang.shows().is(&fault(Fault::Memory)));
        assert!(!M::Exit.shows().is(&fault(Fault::Exit { code: 3 })));
        assert!(M::Flood.shows().is(&Outcome::Outputs(Vec::new())));
        assert!(!M::Reject.shows().is(&Outcome::Outputs(Vec::new())));
    }
}
