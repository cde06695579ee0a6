//! Operators that this program reads by writing them out, drawn and put into graphs.
//!
//! Of Resize, LSTM or Attention there is no type rule and no meaning here: where a model has one, import writes it out
//! in operators that have. The other way round, such an operator is drawn as a node with its operands, written out by
//! that same import, and what that gives is appended to a drawn graph. Value search, the reference and its bounds work
//! on that as on any graph. Then the nodes are folded into the one that they were written out from ([`fold`](Placed)),
//! and that is what targets get. Where what is between operators is no tensor, several are drawn and folded at once.
//! The law that all forms keep, that the program leads back to the graph, holds of these because import is what made
//! the graph.
//!
//! What an operator reads from values that depend on inputs (the regions of RoiAlign, say) is a constant here: what
//! import makes of the node must not hang on values that are searched for later.
//!
//! | module | holds |
//! |---|---|
//! | [`piece`] | what a draw has at hand: dtypes, operands, attributes |
//! | `place`, `fold` | writing an operator out, and folding it again |
//! | `vision`, `recurrent`, `language`, `integral`, `signal`, `learning`, `training`, `texts` | the operators, by what they are for |
//! | `filled`, `found`, `sequences` | and by what they read and make |
//! | `microsoft` | those of ONNX Runtime's own |

mod filled;
mod fold;
mod found;
mod integral;
mod language;
mod learning;
mod microsoft;
pub mod piece;
mod place;
mod recurrent;
mod sequences;
mod signal;
mod texts;
mod training;
mod vision;

use graphgen::Composites;
use ir::{DType, DTypes, NodeId, Stream};
use ops::Model;
use rand::RngExt;
use rand::seq::IndexedRandom;

use piece::{Bounds, Piece};
pub use place::Placed;

/// An operator that is written out in others where it is read.
#[derive(Clone, Copy)]
pub struct Composite {
    /// Its name.
    pub name: &'static str,
    /// Its domain; empty for ONNX's default one.
    pub domain: &'static str,
    /// The version of its domain that it is drawn in, if that is not the default one, whose version is the model's opset.
    pub version: i64,
    /// The first opset of ONNX's default domain in which it is drawn.
    pub since: u32,
    /// The dtypes that its first operand of numbers may have.
    pub dtypes: DTypes,
    /// Draws a use of it; `None` where the bounds leave no room for one.
    pub(crate) draw: fn(&mut Piece<'_>) -> Option<()>,
}

/// Dtypes that are floats in all opsets of an operator.
const REALS: DTypes = DTypes::of(&[DType::F16, DType::F32, DType::F64]);

impl Composite {
    /// An operator of ONNX's default domain.
    const fn new(
        name: &'static str,
        since: u32,
        dtypes: DTypes,
        draw: fn(&mut Piece<'_>) -> Option<()>,
    ) -> Self {
        Self { name, domain: "", version: 0, since, dtypes, draw }
    }

    /// An operator of classical models, on f32. Version 3 of the domain is the last one that has all of these
    /// but one under their present names.
    const fn learning(name: &'static str, dtypes: DTypes, draw: fn(&mut Piece<'_>) -> Option<()>) -> Self {
        Self { name, domain: "ai.onnx.ml", version: 3, since: 13, dtypes, draw }
    }

    /// A step of an optimiser.
    const fn training(name: &'static str, draw: fn(&mut Piece<'_>) -> Option<()>) -> Self {
        let (domain, dtypes) = ("ai.onnx.preview.training", DTypes::of(&[DType::F32, DType::F64]));
        Self { name, domain, version: 1, since: 13, dtypes, draw }
    }

    /// An operator of ONNX Runtime's own, from the first opset on that has what it is written out in.
    const fn microsoft(
        name: &'static str,
        since: u32,
        dtypes: DTypes,
        draw: fn(&mut Piece<'_>) -> Option<()>,
    ) -> Self {
        Self { name, domain: "com.microsoft", version: 1, since, dtypes, draw }
    }

    /// Whether ONNX itself has it: a runtime's own is for those that have it too.
    pub fn is_of_onnx(&self) -> bool {
        self.domain.is_empty() || self.domain.starts_with("ai.onnx")
    }

    /// A use of the operator within bounds, in place of nothing: a model with its inputs as variables, and where the nodes are.
    pub fn alone(&self, opset: u32, dtype: DType, stream: Stream) -> Option<(Model, Vec<NodeId>, Placed)> {
        let mut model = Model::new(opset, ops::Graph::new());
        let mut constants = Vec::new();
        let bounds = Bounds { dtypes: DTypes::IR4, first: DTypes::of(&[dtype]) };
        let placed = place::place(self, &mut model, &mut constants, &[], bounds, &mut stream.rng())?;
        Some((model, constants, placed))
    }
}

/// The operators by what they do, with the weight of each group in a draw. Operators that compute have a
/// larger weight than those that pick, fill or move: there is more to be wrong about.
const GROUPS: [(u32, &[Composite]); 13] = [
    (3, vision::ALL),
    (3, recurrent::ALL),
    (3, language::ALL),
    (3, integral::ALL),
    (3, signal::ALL),
    (1, learning::ALL),
    (1, filled::ALL),
    (1, found::ALL),
    (1, sequences::ALL),
    (1, texts::ALL),
    (1, training::ALL),
    (1, microsoft::ALL),
    (1, microsoft::attention::ALL),
];

/// Every such operator.
pub fn all() -> impl Iterator<Item = &'static Composite> {
    weighted().map(|(_, composite)| composite)
}

fn weighted() -> impl Iterator<Item = (u32, &'static Composite)> {
    GROUPS.iter().flat_map(|&(weight, group)| group.iter().map(move |composite| (weight, composite)))
}

/// The operator of that name.
pub fn find(name: &str) -> Option<&'static Composite> {
    all().find(|composite| composite.name == name)
}

/// Those of ONNX on all dtypes, in a share of models that leaves most to the operators that graphs are made of.
pub fn usual() -> Composites {
    let each = all().filter(|composite| composite.is_of_onnx());
    Composites { share: 0.12, each: each.map(|composite| (composite.name, composite.dtypes)).collect() }
}

/// All of them, those of runtimes too, in the same share.
pub fn every() -> Composites {
    let each = all().map(|composite| (composite.name, composite.dtypes)).collect();
    Composites { each, ..usual() }
}

/// Those that may occur in an opset.
fn available(settings: &graphgen::Settings, opset: u32) -> impl Iterator<Item = Available> {
    weighted()
        .filter(move |(_, composite)| composite.since <= opset)
        .filter_map(|(weight, composite)| {
            let dtypes = settings.composites.each.get(composite.name)?;
            let dtypes = dtypes.intersection(settings.wanted).intersection(settings.dtypes);
            Some(Available { composite, dtypes, weight })
        })
        .filter(|available| !available.dtypes.is_empty())
}

/// An operator that may occur.
struct Available {
    composite: &'static Composite,
    /// The dtypes that its first operand of numbers may have.
    dtypes: DTypes,
    weight: u32,
}

/// The opsets, up to the settings' newest, in which at least one of the operators that may occur is
/// available.
pub fn opsets(settings: &graphgen::Settings) -> impl Iterator<Item = u32> {
    let all = settings.oldest_opset..=settings.opset;
    all.filter(|&opset| available(settings, opset).next().is_some())
}

/// How often another one is drawn where a draw finds no room.
const TRIES: u64 = 6;

/// The most in one model.
const MOST: u32 = 2;

/// Appends such operators, written out, to the share of models that the settings ask for, and returns where
/// their nodes are. Constants that value search must fill are added to `constants`.
pub fn compose(
    model: &mut Model,
    constants: &mut Vec<NodeId>,
    settings: &graphgen::Settings,
    stream: Stream,
) -> Vec<Placed> {
    let share = settings.composites.share;
    let mut rng = stream.rng();
    let there: Vec<Available> = available(settings, model.opset).collect();
    if there.is_empty() || !rng.random_bool(share.clamp(0.0, 1.0)) {
        return Vec::new();
    }
    let mut placed: Vec<Placed> = Vec::new();
    let count = if rng.random_bool(0.2) { MOST } else { 1 };
    for number in 0..count {
        let stream = stream.at(number.into());
        let next = (0..TRIES).find_map(|attempt| {
            let mut rng = stream.at(attempt).rng();
            let next = there.choose_weighted(&mut rng, |available| available.weight).ok()?;
            let bounds = Bounds { dtypes: settings.dtypes, first: next.dtypes };
            place::place(next.composite, model, constants, &placed, bounds, &mut rng)
        });
        placed.extend(next);
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own_and_is_read_by_import_alone() {
        for composite in all() {
            let Composite { name, domain, .. } = composite;
            assert_eq!(all().filter(|other| other.name == *name).count(), 1, "{name} is there twice");
            assert!(onnx::import::knows(domain, name), "{name} is not read");
            assert!(ops::find(name).is_none(), "{name} is an operator of ours");
        }
    }

    #[test]
    fn most_draws_of_each_on_each_dtype_find_room_and_give_no_more_than_other_operators_do() {
        let most = graphgen::Settings::default().max_elements as u64;
        for composite in all() {
            for dtype in composite.dtypes.iter() {
                let opset = *ir::graph::OPSETS.end();
                let draws = (0..40).filter_map(|seed| composite.alone(opset, dtype, Stream::new(seed)));
                let drawn = draws.map(|(model, _, placed)| {
                    let sizes =
                        placed.outputs.iter().map(|&output| ops::operator::elements(model.graph.ty(output)));
                    let largest = sizes.max().unwrap_or(0);
                    assert!(largest <= most, "{} on {dtype} gives {largest} elements", composite.name);
                });
                let drawn = drawn.count();
                assert!(drawn >= 20, "{} on {dtype}: {drawn} of 40 draws find room", composite.name);
            }
        }
    }
}
