//! A handful of operators for the tests of graphs: enough for every structure, and for every kind of attribute.

use onnxsmith_ir::{Attributes, BadAttribute, DType, Operation, Type};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Tiny {
    /// Two operands of the same type.
    Add,
    /// The last two of its three operands are optional.
    Clip,
    /// Cuts axis 0 into so many equal parts.
    Split { parts: i64 },
    /// One operand, unchanged; an attribute of every kind.
    Tune { sizes: Vec<i64>, scale: f32, mode: String, to: DType },
    /// No operands and no outputs; whatever attributes it is given.
    Note(Attributes),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the operands do not fit")
    }
}

impl std::error::Error for Refused {}

impl Operation for Tiny {
    type Reject = Refused;

    fn name(&self) -> &'static str {
        match self {
            Self::Add => "Add",
            Self::Clip => "Clip",
            Self::Split { .. } => "Split",
            Self::Tune { .. } => "Tune",
            Self::Note(_) => "Note",
        }
    }

    fn infer(&self, inputs: &[Option<&Type>]) -> Result<Vec<Type>, Refused> {
        match (self, inputs) {
            (Self::Add, [Some(a), Some(b)]) if a == b => Ok(vec![(*a).clone()]),
            (Self::Clip, [Some(x)] | [Some(x), _] | [Some(x), _, _]) | (Self::Tune { .. }, [Some(x)]) => {
                Ok(vec![(*x).clone()])
            }
            (Self::Split { parts: parts @ 1..=64 }, [Some(x)]) => match x.shape.first() {
                Some(d) if d % parts == 0 => {
                    let mut part = (*x).clone();
                    part.shape[0] /= parts;
                    Ok(vec![part; *parts as usize])
                }
                _ => Err(Refused),
            },
            (Self::Note(_), []) => Ok(Vec::new()),
            _ => Err(Refused),
        }
    }

    fn attributes(&self) -> Attributes {
        match self {
            Self::Add | Self::Clip => Attributes::new(),
            Self::Split { parts } => Attributes::new().int("num_outputs", *parts),
            Self::Tune { sizes, scale, mode, to } => Attributes::new()
                .ints("sizes", sizes)
                .float("scale", *scale)
                .name("the mode", mode)
                .dtype("to", *to),
            Self::Note(all) => all.clone(),
        }
    }

    fn parse(name: &str, given: &Attributes) -> Option<Result<Self, BadAttribute>> {
        let tune = || {
            Ok(Self::Tune {
                sizes: given.get_ints("sizes")?.ok_or_else(|| BadAttribute::Missing("sizes".to_owned()))?,
                scale: given.get_float("scale", 1.0)?,
                mode: given.get_name("the mode", "")?,
                to: given.get_dtype("to")?.unwrap_or(DType::F32),
            })
        };
        Some(match name {
            "Add" => Ok(Self::Add),
            "Clip" => Ok(Self::Clip),
            "Split" => given.get_int("num_outputs", None).map(|parts| Self::Split { parts }),
            "Tune" => tune(),
            "Note" => Ok(Self::Note(given.clone())),
            _ => return None,
        })
    }
}
