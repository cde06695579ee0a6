//! What makes two findings the same finding: structure, not text.

use ir::{DType, DTypes, Type};
use serde::{Deserialize, Serialize};
use worker::Fault;

use crate::verdict::Finding;

/// What an engine did wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Symptom {
    /// The engine crashed, hung or broke the protocol. Kind, and the normalised message or innermost frame.
    Fault {
        /// [`worker::Fault::kind`].
        kind: String,
        /// The normalised message or place; empty where there is none.
        place: String,
    },
    /// The engine refused a valid model.
    Rejected {
        /// `load`, `run` or `optimise`.
        stage: String,
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

impl Symptom {
    /// Whether the engine did not answer in time.
    pub fn is_hang(&self) -> bool {
        matches!(self, Self::Fault { kind, .. } if *kind == Fault::Timeout.kind())
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
    /// The dtype of its first operand, and of a narrow one behind it: `f32,i4` of what casts to the dtype of another operand. Of a form, that
    /// of what it is about.
    pub dtype: String,
    /// What is remarkable about the operands' shapes.
    pub shapes: String,
    /// Whether the operator alone shows the fault; otherwise it is the first to diverge within the graph, or gives
    /// alone the wrong type that a later operator fails on.
    pub alone: bool,
    /// Whether it gives that wrong type, and with the right one in its place the graph is right. Files of earlier versions do not say so of
    /// refusals and panics, of which all that an operator is to blame for in its graph are of this kind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reason: bool,
}

impl Culprit {
    /// The culprit for an operator on operands of these types.
    pub fn new(operator: &str, operands: &[Option<&Type>], alone: bool) -> Self {
        Self {
            operator: operator.to_owned(),
            dtype: dtypes(operands),
            shapes: shape_class(operands),
            alone,
            is_reason: false,
        }
    }

    /// The culprit for a form of programs that is about a value of this type, if that is known.
    pub fn of_form(form: &str, about: Option<&Type>) -> Self {
        let known = Self::new(form, &[about], false);
        match about {
            Some(_) => known,
            None => Self { dtype: UNKNOWN.to_owned(), shapes: UNKNOWN.to_owned(), ..known },
        }
    }

    /// Whether it is a form of programs, and no operator: what is wrong is then the program, and not what comes of a wrong type.
    pub fn is_form(&self) -> bool {
        self.operator.starts_with("form ")
    }
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
        let Culprit { operator, dtype, shapes, .. } = Culprit::new(&named, operands, false);
        Self { operators: operator, nodes, dtype, shapes, symptom }
    }
}

impl std::fmt::Display for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.operators, self.dtype, self.shapes)
    }
}

/// A finding's identity.
///
/// There are two forms of it. The second is what its case was reduced to ([`Core`]). The first, the operator at fault and what
/// the whole case shows, is that of findings which are not reduced, and the one that lists of known findings were written in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Signature(String);

impl Signature {
    /// The signature of a finding.
    pub fn new(finding: &Finding) -> Self {
        let Some(core) = &finding.core else { return Self::former(finding) };
        let is_alone = finding.culprit.as_ref().is_some_and(|culprit| culprit.alone);
        // One operator may need its graph: constants as operands, or one value as two of them.
        let context = if is_alone || finding.is_of_several() { "" } else { " in context" };
        Self::of(finding, &format!("{core}{context}"), &told(&core.symptom))
    }

    /// The first form of a finding's signature.
    pub fn former(finding: &Finding) -> Self {
        let symptom = match &finding.symptom {
            Symptom::Fault { kind, .. } if finding.is_consequence() => format!("{kind} later"),
            Symptom::Rejected { .. } if finding.is_consequence() => "rejected later".to_owned(),
            Symptom::Mismatch(_) if finding.is_consequence() => "mismatch later".to_owned(),
            symptom => told(symptom),
        };
        let culprit = match &finding.culprit {
            Some(c) if c.alone => format!("{} {} {}", c.operator, c.dtype, c.shapes),
            Some(c) => format!("{} {} {} in context", c.operator, c.dtype, c.shapes),
            None if finding.hidden_by_taps => "whole graph, hidden by taps".to_owned(),
            None => "whole graph".to_owned(),
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
        Symptom::Fault { kind, place } if place.is_empty() => kind.clone(),
        Symptom::Fault { kind, place } => format!("{kind} at {place}"),
        Symptom::Rejected { stage, message } => format!("rejected at {stage}: {message}"),
        Symptom::Accepted { rule } => format!("accepted an invalid model: {rule}"),
        Symptom::MissingOutput => "missing output".to_owned(),
        Symptom::WrongType => "wrong type".to_owned(),
        Symptom::Mismatch(shape) => format!("mismatch {}", shape.name()),
        Symptom::Slow => "slow".to_owned(),
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
    }

    #[test]
    fn a_narrow_operand_behind_the_first_is_told() {
        let (x, like) = (Type::new(DType::F32, [3]), Type::new(DType::I4, [3]));
        let dtype = |operands: &[Option<&Type>]| Culprit::new("CastLike", operands, true).dtype;
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
        finding.culprit = Some(Culprit::new("Exp", &[Some(&x)], true));
        assert_eq!(finding.signature().to_string(), "engine | Exp f32 dense | mismatch gross");
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
