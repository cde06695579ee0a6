//! The labels of classifiers, and which of them a row gets.

use ir::{Attributes, DType, Value};

use super::{integers, one, transformed};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::strings;
use crate::import::translation::{SourceNode, bind};
use crate::import::walk::Walk;

/// The labels of a classifier.
pub(super) enum Labels {
    Numbers(Vec<i64>),
    Texts(Vec<String>),
}

impl Labels {
    /// "One and only one" of the attributes is there: the one of integers, or that of strings.
    pub(super) fn read(given: &GivenAttributes<'_>, numbers: &str) -> Result<Self, Error> {
        const TEXTS: &str = "classlabels_strings";
        match (given.ints(numbers), given.texts(TEXTS)) {
            (numbers, texts) if texts.is_empty() => Ok(Self::Numbers(numbers.to_vec())),
            ([], texts) => Ok(Self::Texts(texts)),
            _ => {
                let why = "both are there, and one alone must be";
                Err(Error::invalid(format!("attributes `{numbers}` and `{TEXTS}`"), why))
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// The label at each of some places. Strings are read, where they are asked for: which they are must be known.
    fn at(
        &self,
        walk: &mut Walk<'_, '_>,
        source: &SourceNode<'_, '_>,
        places: Value,
    ) -> Result<Bound, Error> {
        match self {
            Self::Numbers(numbers) => {
                let labels = integers(walk, DType::I64, &[numbers.len() as i64], numbers)?;
                one(walk, "Gather", &Attributes::new().int("axis", 0), &[labels, places]).map(Bound::Tensor)
            }
            Self::Texts(texts) => {
                let output = source.node.outputs.first().copied().flatten();
                if !output.is_some_and(|output| walk.frame.is_used(output)) {
                    return Ok(Bound::Absent);
                }
                let (places, from) = walk.read_value(places, "output 0".to_owned())?;
                let labels: Vec<String> =
                    places.to_i128s().into_iter().map(|place| texts[place as usize].clone()).collect();
                strings::made(walk, places.ty().shape, &labels, from.into_iter().collect())
            }
        }
    }
}

/// The label of the highest score of each row, the first of equal ones, and the scores. Whether it is that of the
/// scores before they are transformed or after, ONNX does not say: these differ where a transformation saturates, and
/// there its bound leaves open which is the highest.
pub(super) fn classified<'p>(
    walk: &mut Walk<'p, '_>,
    source: &SourceNode<'p, '_>,
    labels: &Labels,
    scores: Value,
    transform: &str,
) -> Result<(), Error> {
    let highest = Attributes::new().int("axis", 1).int("keepdims", 0);
    let scores = transformed(walk, scores, transform)?;
    let places = one(walk, "ArgMax", &highest, &[scores])?;
    let label = labels.at(walk, source, places)?;
    bind(walk, source.node, vec![label, Bound::Tensor(scores)])
}
