//! Nodes that relate to one that stands.
//!
//! Optimisers look for pairs: an operator on what one of its kind gives, the same operator twice on the same operand. What their
//! rewritings get wrong shows in such pairs alone, and independent draws seldom make one. Which operators are of one kind
//! follows from the registry; only [the chains of a policy](crate::policy) name any.

use ir::{Choices, DTypes, Stream};
use ops::Spec;
use rand::seq::{IndexedRandom, IteratorRandom};

use crate::builder::{Origin, ValueId};
use crate::insert::Inserter;
use crate::policy::{Policy, choose};
use crate::settings::Settings;

/// How a node relates to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    /// It is the same use on the same operands: a result that need not be computed twice.
    Twice,
    /// It is another use of the operator, on one of the operands: what must not be taken for the same result.
    Beside,
    /// It is a use of the operator on what that gives: two in a row that may be one.
    Onto,
    /// It is a use of an operator of the same kind, on what that gives.
    Kin,
}

/// The relations, in the order of how often they are taken.
const RELATIONS: [(Relation, u32); 4] =
    [(Relation::Kin, 4), (Relation::Onto, 3), (Relation::Beside, 2), (Relation::Twice, 1)];

/// How many draws of one pair are made.
const TRIES: u64 = 6;

/// Inserts a node that is related to one of the nodes of the graph. Returns whether it did.
pub(crate) fn insert(
    inserter: &mut Inserter<'_>,
    settings: &Settings,
    policy: &dyn Policy,
    available: &[&'static Spec],
    stream: Stream,
) -> bool {
    let mut rng = stream.child("related").rng();
    let Some(node) = (0..inserter.builder.nodes.len()).choose(&mut rng) else { return false };
    let Ok(&(relation, _)) = RELATIONS.choose_weighted(&mut rng, |(_, weight)| *weight) else { return false };
    let first = &inserter.builder.nodes[node];
    let (spec, outputs) = (first.op.spec(), first.outputs.clone());
    let (spec, used) = match relation {
        Relation::Twice => return inserter.repeat(node, stream),
        Relation::Beside => (Some(spec), operand(inserter, node, &mut rng)),
        Relation::Onto => (Some(spec), Some(outputs)),
        Relation::Kin => {
            let kin = kin(spec, settings.opset, available);
            (choose(policy, &kin, &mut rng), Some(outputs))
        }
    };
    let (Some(spec), Some(used)) = (spec, used) else { return false };
    (0..TRIES).any(|t| inserter.forward(spec, std::slice::from_ref(&used), stream.at(t)))
}

/// One of a node's operands, which another node may read as it likes.
fn operand(inserter: &Inserter<'_>, node: usize, rng: &mut Choices) -> Option<Vec<ValueId>> {
    let builder = &inserter.builder;
    let is_free = |v: &ValueId| builder.values[*v].origin != Origin::Pinned;
    let free: Vec<ValueId> = builder.nodes[node].inputs.iter().flatten().copied().filter(is_free).collect();
    free.choose(rng).map(|&v| vec![v])
}

/// The operators of the same kind: they take and give the same of the usual dtypes, as those do that only move elements, those of
/// arithmetic, and those of floats. Casts take and give all of them as well, and move nothing.
fn kin(spec: &Spec, opset: u32, available: &[&'static Spec]) -> Vec<&'static Spec> {
    let kind = |spec: &Spec| {
        let usual = |dtypes: DTypes| dtypes.intersection(DTypes::IR4);
        let (taken, given) = (usual(spec.input_types(0, opset)), usual(spec.output_types(0, opset)));
        (taken, given, taken == DTypes::IR4 && !keeps_dtype(spec, opset))
    };
    available.iter().filter(|other| kind(other) == kind(spec)).copied().collect()
}

/// Whether the first result has the dtype of the first operand, whichever that is.
pub(crate) fn keeps_dtype(spec: &Spec, opset: u32) -> bool {
    let of = |schema: &ops::schema::Schema| Some(schema.inputs.first()?.ty == schema.outputs.first()?.ty);
    ops::schema::in_force(spec.name, opset).and_then(of).unwrap_or(false)
}
