//! `TreeEnsembleRegressor` and `TreeEnsembleClassifier`: branches and leaves are nodes of one list, told apart by their
//! mode, and a leaf may have weights for several results.

use std::collections::{BTreeMap, BTreeSet};

use ir::{DType, Type, Value};

use super::classes::{Labels, classified};
use super::forest::{Aggregate, Branch, Forest, Leaf, Question, Way, few};
use super::{features_of, in_rows, transformed};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::translation::{SourceNode, bind};
use crate::import::walk::Walk;

/// A node by its tree and its number there.
type Key = (i64, i64);

/// What the leaves of an ensemble give.
struct Weighed<'a> {
    trees: &'a [i64],
    nodes: &'a [i64],
    /// The result that a weight counts for.
    results: &'a [i64],
    weights: &'a [f64],
}

/// The dtypes of features.
const FEATURES: [DType; 4] = [DType::F32, DType::F64, DType::I64, DType::I32];

/// The numbers of a node's attributes: of f32 in lists, or in tensors, which may be of f64.
struct Numbers {
    nodes: Vec<f64>,
    weights: Vec<f64>,
    base: Vec<f64>,
    /// Whether one of the tensors is of f64.
    are_double: bool,
}

impl Numbers {
    /// Those of a node whose weights are called so.
    fn read(walk: &Walk<'_, '_>, given: &GivenAttributes<'_>, weights: &str) -> Result<Self, Error> {
        let mut are_double = false;
        let mut of = |name: &str| -> Result<Vec<f64>, Error> {
            let in_tensor = format!("{name}_as_tensor");
            let list: Vec<f64> = given.floats(name).iter().map(|&number| number.into()).collect();
            let Some(tensor) = given.tensor(&in_tensor, walk.context.options.external)? else {
                return Ok(list);
            };
            if !list.is_empty() {
                return Err(Error::invalid(
                    format!("attribute `{in_tensor}`"),
                    format!("there is `{name}` as well"),
                ));
            }
            are_double |= tensor.dtype() == DType::F64;
            Ok(tensor.to_f64s())
        };
        let (nodes, weights, base) = (of("nodes_values")?, of(weights)?, of("base_values")?);
        for ignored in ["nodes_hitrates", "nodes_hitrates_as_tensor"] {
            given.ignore(ignored);
        }
        Ok(Self { nodes, weights, base, are_double })
    }

    /// The features, in the precision in which they are compared and weights are added.
    fn features(&self, walk: &mut Walk<'_, '_>, source: &SourceNode<'_, '_>) -> Result<Value, Error> {
        let x = features_of(walk, source, &FEATURES)?;
        let x = in_rows(walk, x)?;
        let is_double = self.are_double || walk.graph.ty(x).dtype == DType::F64;
        walk.cast(x, if is_double { DType::F64 } else { DType::F32 })
    }

    /// What is added to the scores of each row.
    fn base(&self, walk: &mut Walk<'_, '_>, dtype: DType, results: usize) -> Result<Option<Value>, Error> {
        let Self { base, .. } = self;
        if base.is_empty() {
            return Ok(None);
        }
        if base.len() != results {
            let why = format!("there are {} numbers for {results} results", base.len());
            return Err(Error::invalid("attribute `base_values`", why));
        }
        walk.reals(dtype, &[results as i64], |i| base[i]).map(Some)
    }
}

/// The attributes of the nodes.
struct Nodes<'a, 'n> {
    keys: Vec<Key>,
    /// Where a yes and a no lead, by the numbers in the same tree.
    ways: [&'a [i64]; 2],
    features: &'a [i64],
    numbers: &'n [f64],
    modes: Vec<String>,
    /// Whether what is not a number counts as a yes; empty where it never does.
    missing: &'a [i64],
}

impl<'a, 'n> Nodes<'a, 'n> {
    fn read(given: &GivenAttributes<'a>, numbers: &'n [f64]) -> Result<Self, Error> {
        let (trees, nodes) = (given.ints("nodes_treeids"), given.ints("nodes_nodeids"));
        let ways = [given.ints("nodes_truenodeids"), given.ints("nodes_falsenodeids")];
        let features = given.ints("nodes_featureids");
        let (modes, missing) = (given.texts("nodes_modes"), given.ints("nodes_missing_value_tracks_true"));
        let lengths = [nodes.len(), ways[0].len(), ways[1].len(), features.len(), numbers.len(), modes.len()];
        let is_other = |&length: &usize| length != trees.len();
        if lengths.iter().any(is_other) || !missing.is_empty() && is_other(&missing.len()) {
            return Err(Error::invalid("attributes", "the lists of nodes are not of one length"));
        }
        let keys = trees.iter().copied().zip(nodes.iter().copied()).collect();
        Ok(Self { keys, ways, features, numbers, modes, missing })
    }

    /// The branches and leaves, each numbered among its like.
    fn places(&self) -> Result<BTreeMap<Key, Way>, Error> {
        let mut places = BTreeMap::new();
        let (mut branches, mut leaves) = (0.., 0..);
        for (&key, mode) in self.keys.iter().zip(&self.modes) {
            let place =
                if mode == "LEAF" { leaves.next().map(Way::Leaf) } else { branches.next().map(Way::Branch) };
            if place.is_some_and(|place| places.insert(key, place).is_some()) {
                return Err(Error::invalid(
                    "attribute `nodes_nodeids`",
                    format!("node {key:?} is there twice"),
                ));
            }
        }
        few(branches.start, leaves.start)?;
        Ok(places)
    }

    fn branches(&self, places: &BTreeMap<Key, Way>, features: i64) -> Result<Vec<Branch>, Error> {
        let mut branches = Vec::new();
        for (i, &key) in self.keys.iter().enumerate().filter(|&(i, _)| self.modes[i] != "LEAF") {
            let feature = self.features[i];
            if !(0..features).contains(&feature) {
                let why = format!("{feature} of {features} features");
                return Err(Error::invalid("attribute `nodes_featureids`", why));
            }
            let way = |to: Key| {
                let why = || format!("node {to:?} is below {key:?}, and is not there");
                places.get(&to).copied().ok_or_else(|| Error::invalid("attributes", why()))
            };
            let [yes, no] = self.children(i).map(way);
            let question = question(&self.modes[i], self.numbers[i])?;
            let takes_nan = self.missing.get(i).is_some_and(|&tracks| tracks != 0);
            branches.push(Branch { feature, question, takes_nan, ways: [yes?, no?] });
        }
        Ok(branches)
    }

    /// Where a yes and a no lead.
    fn children(&self, i: usize) -> [Key; 2] {
        self.ways.map(|ids| (self.keys[i].0, ids[i]))
    }

    /// The first node of each tree.
    fn roots(&self, places: &BTreeMap<Key, Way>) -> Result<Vec<Way>, Error> {
        let mut above: BTreeMap<Key, Key> = BTreeMap::new();
        for (i, &key) in self.keys.iter().enumerate().filter(|&(i, _)| self.modes[i] != "LEAF") {
            for child in self.children(i) {
                if above.insert(child, key).is_some() {
                    let why = format!("node {child:?} is below two branches");
                    return Err(Error::invalid("attributes", why));
                }
            }
        }
        let mut roots: BTreeMap<i64, Key> = BTreeMap::new();
        for &node in places.keys() {
            let mut way_up = std::iter::successors(Some(node), |at| above.get(at).copied());
            if way_up.nth(places.len()).is_some() {
                return Err(Error::invalid("attributes", format!("node {node:?} is below itself")));
            }
            if above.contains_key(&node) {
                continue;
            }
            if let Some(other) = roots.insert(node.0, node) {
                let why =
                    format!("which of {other:?} and {node:?} is the root of their tree, ONNX does not say");
                return Err(Error::unsupported("attributes", why));
            }
        }
        Ok(roots.values().map(|root| places[root]).collect())
    }
}

/// What a branch asks, by its mode.
fn question(mode: &str, number: f64) -> Result<Question, Error> {
    Ok(match mode {
        "BRANCH_LEQ" => Question::Compared("LessOrEqual", number),
        "BRANCH_LT" => Question::Compared("Less", number),
        "BRANCH_GTE" => Question::Compared("GreaterOrEqual", number),
        "BRANCH_GT" => Question::Compared("Greater", number),
        "BRANCH_EQ" => Question::Compared("Equal", number),
        "BRANCH_NEQ" => Question::Other(number),
        other => return Err(Error::invalid("attribute `nodes_modes`", format!("there is no mode {other}"))),
    })
}

/// What each leaf weighs, for so many results.
fn leaves(places: &BTreeMap<Key, Way>, weighed: &Weighed<'_>, results: usize) -> Result<Vec<Leaf>, Error> {
    let Weighed { trees, nodes, results: of, weights } = weighed;
    if [nodes.len(), of.len(), weights.len()].iter().any(|&length| length != trees.len()) {
        return Err(Error::invalid("attributes", "the lists of weights are not of one length"));
    }
    let count = places.values().filter(|way| matches!(way, Way::Leaf(_))).count();
    let mut leaves = vec![Leaf::new(); count];
    for i in 0..trees.len() {
        let result = usize::try_from(of[i]).ok().filter(|&result| result < results);
        let (Some(&Way::Leaf(leaf)), Some(result)) = (places.get(&(trees[i], nodes[i])), result) else {
            let why = format!("of node {} of tree {} for result {}", nodes[i], trees[i], of[i]);
            return Err(Error::invalid("attributes", format!("there is a weight {why}, which is not there")));
        };
        if leaves[leaf].iter().any(|&(other, _)| other == result) {
            return Err(Error::unsupported("attributes", "a leaf weighs twice for one result"));
        }
        leaves[leaf].push((result, weights[i]));
    }
    Ok(leaves)
}

/// The trees of a node, whose leaves weigh for so many results.
fn forest(
    given: &GivenAttributes<'_>,
    numbers: &[f64],
    features: i64,
    weighed: &Weighed<'_>,
    results: usize,
) -> Result<Forest, Error> {
    let nodes = Nodes::read(given, numbers)?;
    let places = nodes.places()?;
    let branches = nodes.branches(&places, features)?;
    let roots = nodes.roots(&places)?;
    Forest::of(branches, leaves(&places, weighed, results)?, &roots, results)
}

/// TreeEnsembleRegressor: what the trees give together, for each target.
pub(super) fn regressor<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let numbers = Numbers::read(walk, &given, "target_weights")?;
    let x = numbers.features(walk, source)?;
    let weighed = Weighed {
        trees: given.ints("target_treeids"),
        nodes: given.ints("target_nodeids"),
        results: given.ints("target_ids"),
        weights: &numbers.weights,
    };
    let targets = given.int("n_targets", 1);
    let targets = usize::try_from(targets)
        .map_err(|_| Error::invalid("attribute `n_targets`", format!("there are {targets}")))?;
    let (transform, how) = (given.text("post_transform", "NONE"), given.text("aggregate_function", "SUM"));
    let Type { dtype, shape, .. } = walk.graph.ty(x).clone();
    let forest = forest(&given, &numbers.nodes, shape[1], &weighed, targets)?;
    given.finish()?;
    let base = numbers.base(walk, dtype, targets)?;
    let scores = forest.scores(walk, x, aggregate(&how)?, base)?;
    let scores = walk.cast(scores, DType::F32)?;
    let y = transformed(walk, scores, &transform)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// What becomes of weights, by its name.
fn aggregate(name: &str) -> Result<Aggregate, Error> {
    Ok(match name {
        "AVERAGE" => Aggregate::Average,
        "SUM" => Aggregate::Sum,
        "MIN" => Aggregate::Least,
        "MAX" => Aggregate::Greatest,
        other => {
            let why = format!("there is no function {other}");
            return Err(Error::invalid("attribute `aggregate_function`", why));
        }
    })
}

/// TreeEnsembleClassifier: a score for each label, and the label of the highest one. Where the trees weigh one of two
/// labels alone, what the other's score is hangs on the transformation, of which ONNX's text does not speak.
pub(super) fn classifier<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let numbers = Numbers::read(walk, &given, "class_weights")?;
    let x = numbers.features(walk, source)?;
    let weighed = Weighed {
        trees: given.ints("class_treeids"),
        nodes: given.ints("class_nodeids"),
        results: given.ints("class_ids"),
        weights: &numbers.weights,
    };
    let labels = Labels::read(&given, "classlabels_int64s")?;
    let transform = given.text("post_transform", "NONE");
    let Type { dtype, shape, .. } = walk.graph.ty(x).clone();
    let forest = forest(&given, &numbers.nodes, shape[1], &weighed, labels.len())?;
    given.finish()?;
    let of = weighed.results.iter().collect::<BTreeSet<_>>().len();
    if labels.len() < 2 || labels.len() == 2 && of < 2 {
        let why = format!("{} labels, of which {of} have weights", labels.len());
        return Err(Error::unsupported("attributes `classlabels_…`", why));
    }
    let base = numbers.base(walk, dtype, labels.len())?;
    let scores = forest.scores(walk, x, Aggregate::Sum, base)?;
    let scores = walk.cast(scores, DType::F32)?;
    classified(walk, source, &labels, scores, &transform)
}
