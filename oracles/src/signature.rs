//! What makes two findings the same finding: structure, not text.

use ir::{DType, DTypes, Type};
use serde::{Deserialize, Serialize};
use worker::{FaultKind, Stage};

use crate::verdict::{AtFault, Finding};

/// What an engine did wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Symptom {
    /// The engine crashed, hung or broke the protocol.
    Fault {
        /// In which way.
        kind: FaultKind,
        /// The normalised message or the innermost frame; empty where there is none.
        place: String,
    },
    /// The engine refused a valid model.
    Rejected {
        /// Where.
        #[serde(with = "stage")]
        stage: Stage,
        /// The normalised message.
        message: String,
    },
    /// The engine took a model that breaks this rule, and gave outputs.
    Accepted {
        /// The rule's name.
        rule: String,
    },
    /// An output is missing.
    MissingOutput,
    /// An output has another dtype or shape.
    WrongType,
    /// Elements differ by more than the bound.
    Mismatch(ErrorShape),
    /// The engine takes much longer than for what is next to it.
    Slow,
}

/// In which way elements differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorShape {
    /// NaN where a number is right. Files of earlier versions spell it `na-n`.
    #[serde(rename = "nan", alias = "na-n")]
    NaN,
    /// An infinity where a finite number is right.
    Infinite,
    /// A number where NaN or an infinity is right.
    Finite,
    /// Up to 16 times the bound: a question of accuracy.
    Slight,
    /// Beyond that: another value.
    Gross,
}

/// A stage is stored by its name. The protocol of workers has no word for `optimise`, and a finding has.
mod stage {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use worker::Stage;

    // serde hands over a reference.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
    pub(super) fn serialize<S: Serializer>(stage: &Stage, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(stage.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Stage, D::Error> {
        let name = String::deserialize(deserializer)?;
        let stage = Stage::ALL.into_iter().find(|stage| stage.name() == name);
        stage.ok_or_else(|| D::Error::custom(format!("there is no stage `{name}`")))
    }
}

impl Symptom {
    /// Whether the engine did not answer in time.
    pub fn is_hang(&self) -> bool {
        matches!(self, Self::Fault { kind: FaultKind::Timeout, .. })
    }

    /// What kind of thing the engine did, in a word or two.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Fault { kind, .. } => kind.name(),
            Self::Rejected { .. } => "rejected",
            Self::Accepted { .. } => "accepted",
            Self::MissingOutput => "missing output",
            Self::WrongType => "wrong type",
            Self::Mismatch(_) => "mismatch",
            Self::Slow => "slow",
        }
    }

    /// What tells symptoms of one kind apart: a message, a place or a rule; empty where nothing does.
    pub fn text(&self) -> &str {
        match self {
            Self::Fault { place: text, .. }
            | Self::Rejected { message: text, .. }
            | Self::Accepted { rule: text } => text,
            Self::MissingOutput | Self::WrongType | Self::Mismatch(_) | Self::Slow => "",
        }
    }
}

impl ErrorShape {
    fn name(self) -> &'static str {
        match self {
            Self::NaN => "nan",
            Self::Infinite => "infinite",
            Self::Finite => "finite",
            Self::Slight => "slight",
            Self::Gross => "gross",
        }
    }
}

/// The operator at fault.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Culprit {
    /// Its ONNX name; of a form of programs, `form` and its name.
    pub operator: String,
    /// The dtype of its first operand, and of a narrow one behind it: `f32,i4` of what casts to the dtype of another
    /// operand. Of a form, that of what it is about.
    pub dtype: String,
    /// What is remarkable about the operands' shapes.
    pub shapes: String,
    /// Whether the operator alone shows the fault; otherwise it is the first to diverge within the graph, or gives
    /// alone the wrong type that a later operator fails on.
    pub alone: bool,
    /// Whether it gives that wrong type, and with the right one in its place the graph is right. Files of earlier
    /// versions do not say so of refusals and panics, of which all that an operator is to blame for in its graph are of
    /// this kind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reason: bool,
}

impl Culprit {
    /// The culprit for an operator that shows the fault within its graph, on operands of these types.
    pub fn in_context(operator: &str, operands: &[Option<&Type>]) -> Self {
        Self {
            operator: operator.to_owned(),
            dtype: dtypes(operands),
            shapes: shape_class(operands),
            alone: false,
            is_reason: false,
        }
    }

    /// The culprit for an operator that shows the fault alone.
    pub fn alone(operator: &str, operands: &[Option<&Type>]) -> Self {
        Self { alone: true, ..Self::in_context(operator, operands) }
    }

    /// The culprit for a form of programs that is about a value of this type, if that is known.
    pub fn of_form(form: &str, about: Option<&Type>) -> Self {
        let known = Self::in_context(form, &[about]);
        match about {
            Some(_) => known,
            None => Self { dtype: UNKNOWN.to_owned(), shapes: UNKNOWN.to_owned(), ..known },
        }
    }

    /// Whether it is a form of programs, and no operator: what is wrong is then the program, and not what comes of a wrong type.
    pub fn is_form(&self) -> bool {
        is_form(&self.operator)
    }
}

/// Whether what findings call an operator is the name of a form of programs.
pub fn is_form(operator: &str) -> bool {
    operator.starts_with("form ")
}

/// What stands for the dtype and the class of shapes of what is not known.
const UNKNOWN: &str = "unknown";

/// The dtype of the first operand, and of a narrow one behind it: few kernels have such results, each a case of its own.
fn dtypes(operands: &[Option<&Type>]) -> String {
    let mut all = operands.iter().flatten().map(|ty| ty.dtype);
    let first = all.next().unwrap_or(DType::Bool);
    let other = all.find(|&dtype| DTypes::NARROW.contains(dtype) && dtype != first);
    other.map_or_else(|| first.to_string(), |other| format!("{first},{other}"))
}

/// Empty and scalar operands are what implementations forget; everything else is one class.
fn shape_class(operands: &[Option<&Type>]) -> String {
    let mut types = operands.iter().flatten();
    if types.clone().any(|t| t.shape.contains(&0)) {
        "empty".to_owned()
    } else if types.any(|t| t.rank() == 0) {
        "scalar".to_owned()
    } else {
        "dense".to_owned()
    }
}

/// What is left of a finding's case when it is reduced: what the finding is called by.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Core {
    /// The operators, each with the attributes without which the fault is gone, such as `Conv(auto_pad=SAME_UPPER) + Relu`;
    /// `graph of 7` where they are more than [`MOST_NAMED`].
    pub operators: String,
    /// How many operators there are.
    pub nodes: usize,
    /// The dtype of the first operand, and of a narrow one behind it.
    pub dtype: String,
    /// What is remarkable about the operands' shapes.
    pub shapes: String,
    /// What the engine does with it.
    pub symptom: Symptom,
}

/// How many operators a name lists. Of more than these, it says how many they are.
pub const MOST_NAMED: usize = 4;

impl Core {
    /// The core of these operators, in the order in which they are named, on operands of these types.
    pub fn new(operators: &[String], operands: &[Option<&Type>], symptom: Symptom) -> Self {
        let nodes = operators.len();
        let named = if nodes > MOST_NAMED { format!("graph of {nodes}") } else { operators.join(" + ") };
        Self { operators: named, nodes, dtype: dtypes(operands), shapes: shape_class(operands), symptom }
    }
}

impl Core {
    /// Whether its name lists the operators, as it does of a few.
    pub fn lists_operators(&self) -> bool {
        self.nodes <= MOST_NAMED
    }

    /// The operators that its name lists, without attributes; none where there are too many to list.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let listed = self.operators.split(" + ").filter(|_| self.lists_operators());
        listed.map(|operator| operator.split_once('(').map_or(operator, |(name, _)| name))
    }
}

impl std::fmt::Display for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.operators, self.dtype, self.shapes)
    }
}

/// A finding's identity.
///
/// There are two forms of it. The second is what its case was reduced to ([`Core`]), or the rule that is broken in a
/// use of an operator ([`Broken`](crate::verdict::Broken)). The first, the operator at fault and what the whole case
/// shows, is that of findings which are not reduced, and the one that lists of known findings were written in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Signature(String);

impl Signature {
    /// The signature of a finding.
    pub fn new(finding: &Finding) -> Self {
        if let Some(broken) = finding.broken_use() {
            return Self::of(finding, &broken.to_string(), &told(&finding.symptom));
        }
        let Some(core) = &finding.core else { return Self::former(finding) };
        let is_alone = finding.culprit.as_ref().is_some_and(|culprit| culprit.alone);
        // One operator may need its graph: constants as operands, or one value as two of them.
        let context = if is_alone || finding.is_of_several() { "" } else { " in context" };
        Self::of(finding, &format!("{core}{context}"), &told(&core.symptom))
    }

    /// The signature with `*` for the dtype, as lists of known findings write what is so on others too; `None` where it
    /// names no dtype.
    pub fn of_every_dtype(finding: &Finding) -> Option<Self> {
        let mut open = finding.clone();
        let named =
            [open.core.as_mut().map(|core| &mut core.dtype), open.culprit.as_mut().map(|c| &mut c.dtype)];
        // What is reduced has its name from that alone.
        let dtype = named.into_iter().flatten().next().filter(|dtype| *dtype != UNKNOWN)?;
        "*".clone_into(dtype);
        Some(Self::new(&open))
    }

    /// The first form of a finding's signature.
    pub fn former(finding: &Finding) -> Self {
        let symptom = match &finding.symptom {
            symptom @ (Symptom::Fault { .. } | Symptom::Rejected { .. } | Symptom::Mismatch(_))
                if finding.is_consequence() =>
            {
                format!("{} later", symptom.kind())
            }
            symptom => told(symptom),
        };
        let culprit = match &finding.culprit {
            Some(c) if c.alone => format!("{} {} {}", c.operator, c.dtype, c.shapes),
            Some(c) => format!("{} {} {} in context", c.operator, c.dtype, c.shapes),
            // Rules were once told without the operator.
            None if finding.broken.is_some() => AtFault::Nobody.to_string(),
            None => finding.at_fault().to_string(),
        };
        Self::of(finding, &culprit, &symptom)
    }

    /// The signature of a finding by who is to blame for which symptom.
    fn of(finding: &Finding, culprit: &str, symptom: &str) -> Self {
        let backend = &finding.backend;
        match finding.telling_check() {
            Some(check) => Self(format!("{backend} | {culprit} | {check}: {symptom}")),
            None => Self(format!("{backend} | {culprit} | {symptom}")),
        }
    }

    /// A name for files: the hash in hexadecimal.
    pub fn file_name(&self) -> String {
        format!("{:016x}", hash(&self.0))
    }
}

/// A symptom in a signature.
fn told(symptom: &Symptom) -> String {
    match symptom {
        Symptom::Fault { kind, place } if !place.is_empty() => format!("{kind} at {place}"),
        Symptom::Rejected { stage, message } => format!("rejected at {}: {message}", stage.name()),
        Symptom::Accepted { rule } => format!("accepted an invalid model: {rule}"),
        Symptom::Mismatch(shape) => format!("mismatch {}", shape.name()),
        Symptom::Fault { .. } | Symptom::MissingOutput | Symptom::WrongType | Symptom::Slow => {
            symptom.kind().to_owned()
        }
    }
}

/// A number that stands for a text: FNV-1a, which is the same on every machine.
pub fn hash(text: &str) -> u64 {
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325u64, step)
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;

    fn finding(symptom: Symptom) -> Finding {
        match Verdict::bug("engine", "all", symptom, String::new()) {
            Verdict::Bug(finding) => *finding,
            other => panic!("{other:?} is no bug"),
        }
    }

    fn core(operators: &[&str]) -> Core {
        let x = Type::new(DType::F32, [3]);
        let operators: Vec<String> = operators.iter().map(ToString::to_string).collect();
        Core::new(&operators, &[Some(&x)], Symptom::Mismatch(ErrorShape::Gross))
    }

    #[test]
    fn a_finding_that_was_reduced_is_called_by_what_is_left_and_keeps_its_former_name() {
        let mut finding = finding(Symptom::Mismatch(ErrorShape::NaN));
        finding.hidden_by_taps = true;
        let former = "engine | whole graph, hidden by taps | mismatch nan";
        assert_eq!(finding.signature().to_string(), former);
        finding.core = Some(core(&["Add", "Exp"]));
        assert_eq!(finding.signature().to_string(), "engine | Add + Exp f32 dense | mismatch gross");
        assert_eq!(Signature::former(&finding).to_string(), former);
    }

    #[test]
    fn of_many_operators_their_number_is_told() {
        assert_eq!(core(&["Neg"; MOST_NAMED]).to_string(), "Neg + Neg + Neg + Neg f32 dense");
        assert_eq!(core(&["Neg"; MOST_NAMED + 1]).to_string(), "graph of 5 f32 dense");
        let names = |core: Core| core.names().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(names(core(&["Conv(auto_pad=VALID,group)", "Relu"])), ["Conv", "Relu"]);
        assert!(names(core(&["Neg"; MOST_NAMED + 1])).is_empty());
    }

    #[test]
    fn a_narrow_operand_behind_the_first_is_told() {
        let (x, like) = (Type::new(DType::F32, [3]), Type::new(DType::I4, [3]));
        let dtype = |operands: &[Option<&Type>]| Culprit::alone("CastLike", operands).dtype;
        assert_eq!(dtype(&[Some(&x), Some(&like)]), "f32,i4");
        assert_eq!(dtype(&[Some(&like), Some(&x)]), "i4");
        assert_eq!(dtype(&[Some(&like), None, Some(&like)]), "i4");
    }

    #[test]
    fn one_operator_that_needs_its_graph_is_not_the_operator_alone() {
        let mut finding = finding(Symptom::Mismatch(ErrorShape::Gross));
        finding.core = Some(core(&["Exp"]));
        assert_eq!(finding.signature().to_string(), "engine | Exp f32 dense in context | mismatch gross");
        let x = Type::new(DType::F32, [3]);
        finding.culprit = Some(Culprit::alone("Exp", &[Some(&x)]));
        assert_eq!(finding.signature().to_string(), "engine | Exp f32 dense | mismatch gross");
    }

    #[test]
    fn kinds_of_faults_and_stages_are_stored_as_they_are_called() {
        use FaultKind as K;
        for kind in [K::Panic, K::Signal, K::StackOverflow, K::Exit, K::Timeout, K::Memory, K::Garbage] {
            let symptom = Symptom::Fault { kind, place: "x".to_owned() };
            let text = format!(r#"{{"fault":{{"kind":"{kind}","place":"x"}}}}"#);
            assert_eq!(serde_json::to_string(&symptom).expect("a text"), text);
            assert_eq!(serde_json::from_str::<Symptom>(&text).expect("a symptom"), symptom);
        }
        for (stage, name) in [(Stage::Load, "load"), (Stage::Run, "run"), (Stage::Optimise, "optimise")] {
            let symptom = Symptom::Rejected { stage, message: "no".to_owned() };
            let text = format!(r#"{{"rejected":{{"stage":"{name}","message":"no"}}}}"#);
            assert_eq!(serde_json::to_string(&symptom).expect("a text"), text);
            assert_eq!(serde_json::from_str::<Symptom>(&text).expect("a symptom"), symptom);
        }
        assert!(serde_json::from_str::<Symptom>(r#"{"rejected":{"stage":"link","message":""}}"#).is_err());
    }

    #[test]
    fn a_finding_of_an_earlier_version_is_read() {
        let text = r#"{"backend":"x","level":"l","symptom":"wrong_type","culprit":null,"detail":""}"#;
        let finding: Finding = serde_json::from_str(text).expect("a finding");
        assert_eq!(finding.signature().to_string(), "x | whole graph | wrong type");
        assert!(finding.core.is_none() && finding.after.is_empty());
        let text = text.replace(r#""wrong_type""#, r#"{"mismatch":"na-n"}"#);
        let finding: Finding = serde_json::from_str(&text).expect("a finding");
        assert_eq!(finding.symptom, Symptom::Mismatch(ErrorShape::NaN));
        assert_eq!(serde_json::to_string(&finding.symptom).expect("a text"), r#"{"mismatch":"nan"}"#);
    }
}
