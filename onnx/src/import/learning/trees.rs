//! `TreeEnsembleRegressor` and `TreeEnsembleClassifier`.
//!
//! All branches of all trees are taken at once: each compares its feature with its number. A leaf is where a row ends if every branch above
//! it went its way, so if as many branches went left that should, and none that should not: a product of the outcomes with a matrix of 1 and
//! -1, of integers and so exact. What the leaves weigh is then one product more, whose bound holds for whatever order an implementation
//! adds the trees in.

use std::collections::{BTreeMap, BTreeSet};

use ir::{Attributes, DType, Value};

use super::{chosen, classified, constant, integers, one, rows, transformed};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::translation::{SourceNode, bind};
use crate::import::walk::Walk;

/// How many elements a matrix may have.
const MOST_ELEMENTS: usize = 1 << 24;

/// A node by its tree and its number there.
type Key = (i64, i64);

/// What the leaves of an ensemble give.
struct Weighed<'a> {
    trees: &'a [i64],
    nodes: &'a [i64],
    /// The result that a weight counts for.
    results: &'a [i64],
    weights: &'a [f32],
}

/// A branch: a row goes left where its feature compares so with the number. No comparison with NaN holds, so NaN goes right.
struct Branch {
    feature: i64,
    /// The name of an operator.
    comparison: &'static str,
    number: f32,
    left: Key,
    right: Key,
}

/// The trees of a node.
struct Ensemble {
    /// Those that compare alike beside each other.
    branches: Vec<Branch>,
    leaves: Vec<Key>,
    /// For each branch and leaf, in this order: 1 if the leaf is to its left, -1 to its right, 0 elsewhere.
    sides: Vec<i64>,
    /// For each leaf, how many branches above it have it to their left.
    lefts: Vec<i64>,
}

impl Ensemble {
    fn read(given: &GivenAttributes<'_>, features: i64) -> Result<Self, Error> {
        let (trees, nodes) = (given.ints("nodes_treeids"), given.ints("nodes_nodeids"));
        let (left, right) = (given.ints("nodes_truenodeids"), given.ints("nodes_falsenodeids"));
        let (features_of, numbers) = (given.ints("nodes_featureids"), given.floats("nodes_values"));
        let modes = given.texts("nodes_modes");
        let missing = given.ints("nodes_missing_value_tracks_true");
        given.ignore("nodes_hitrates");
        if missing.iter().any(|&tracks| tracks != 0) {
            return Err(Error::unsupported(
                "attribute `nodes_missing_value_tracks_true`",
                "NaN goes right here",
            ));
        }
        let lengths = [nodes.len(), left.len(), right.len(), features_of.len(), numbers.len(), modes.len()];
        if lengths.iter().any(|&length| length != trees.len()) {
            return Err(Error::invalid("attributes", "the lists of nodes are not of one length"));
        }
        let (mut branches, mut leaves, mut seen) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        for i in 0..trees.len() {
            let key = (trees[i], nodes[i]);
            if !seen.insert(key) {
                return Err(Error::invalid(
                    "attribute `nodes_nodeids`",
                    format!("node {key:?} is there twice"),
                ));
            }
            if modes[i] == "LEAF" {
                leaves.push(key);
                continue;
            }
            if !(0..features).contains(&features_of[i]) {
                let why = format!("{} of {features} features", features_of[i]);
                return Err(Error::invalid("attribute `nodes_featureids`", why));
            }
            let ways = [(trees[i], left[i]), (trees[i], right[i])];
            let branch = branch(&modes[i], features_of[i], numbers[i], ways)?;
            branches.insert(key, branch);
        }
        few(branches.len(), leaves.len())?;
        if branches.is_empty() {
            return Err(Error::unsupported("attributes", "trees without a branch"));
        }
        Self::of(branches, leaves, &seen)
    }

    /// The trees of these branches and leaves, which are `nodes`.
    fn of(branches: BTreeMap<Key, Branch>, leaves: Vec<Key>, nodes: &BTreeSet<Key>) -> Result<Self, Error> {
        let mut branches: Vec<(Key, Branch)> = branches.into_iter().collect();
        branches.sort_by_key(|(_, branch)| branch.comparison);
        let mut above: BTreeMap<Key, (usize, i64, Key)> = BTreeMap::new();
        for (number, &(key, ref branch)) in branches.iter().enumerate() {
            for (child, side) in [(branch.left, 1), (branch.right, -1)] {
                if !nodes.contains(&child) {
                    let why = format!("node {child:?} is below {key:?}, and is not there");
                    return Err(Error::invalid("attributes", why));
                }
                if above.insert(child, (number, side, key)).is_some() {
                    return Err(Error::invalid(
                        "attributes",
                        format!("node {child:?} is below two branches"),
                    ));
                }
            }
        }
        let mut roots: BTreeMap<i64, Key> = BTreeMap::new();
        for &root in nodes.iter().filter(|node| !above.contains_key(node)) {
            if let Some(other) = roots.insert(root.0, root) {
                let why =
                    format!("which of {other:?} and {root:?} is the root of their tree, ONNX does not say");
                return Err(Error::unsupported("attributes", why));
            }
        }
        let mut sides = vec![0; branches.len() * leaves.len()];
        let mut lefts = vec![0; leaves.len()];
        for (column, &leaf) in leaves.iter().enumerate() {
            let mut at = leaf;
            let mut depth = 0;
            while let Some(&(branch, side, parent)) = above.get(&at) {
                sides[branch * leaves.len() + column] = side;
                lefts[column] += i64::from(side == 1);
                at = parent;
                depth += 1;
                if depth > branches.len() {
                    return Err(Error::invalid("attributes", format!("node {leaf:?} is below itself")));
                }
            }
        }
        let branches = branches.into_iter().map(|(_, branch)| branch).collect();
        Ok(Self { branches, leaves, sides, lefts })
    }

    /// Which leaves the rows end in, as truth values.
    fn reached(&self, walk: &mut Walk<'_, '_>, x: Value) -> Result<Value, Error> {
        let (branches, leaves) = (self.branches.len() as i64, self.leaves.len() as i64);
        let sides = integers(walk, DType::I32, &[branches, leaves], &self.sides)?;
        let lefts = integers(walk, DType::I32, &[leaves], &self.lefts)?;
        let alike = self.branches.chunk_by(|a, b| a.comparison == b.comparison);
        let parts = alike.map(|branches| goes_left(walk, x, branches)).collect::<Result<Vec<_>, _>>()?;
        let goes_left = walk.joined(&parts, 1)?;
        let goes_left = walk.cast(goes_left, DType::I32)?;
        let count = one(walk, "MatMul", &Attributes::new(), &[goes_left, sides])?;
        one(walk, "Equal", &Attributes::new(), &[count, lefts])
    }

    /// The sums of what the leaves weigh, for each row and result.
    fn sums(
        &self,
        walk: &mut Walk<'_, '_>,
        x: Value,
        results: usize,
        weights: &Weighed<'_>,
        base: &[f32],
    ) -> Result<Value, Error> {
        let table = self.table(results, weights)?;
        let are_finite = table.iter().all(|weight| weight.is_finite());
        let reached = self.reached(walk, x)?;
        let table = constant(walk, &[self.leaves.len() as i64, results as i64], &table)?;
        let base = if base.is_empty() { None } else { Some(constant(walk, &[results as i64], base)?) };
        if are_finite {
            let ends = walk.cast(reached, DType::F32)?;
            let operands: Vec<Value> = [ends, table].into_iter().chain(base).collect();
            return one(walk, "Gemm", &Attributes::new(), &operands);
        }
        let sums = chosen(walk, reached, table)?;
        base.map_or(Ok(sums), |base| walk.op("Add", &[sums, base]))
    }

    /// What each leaf weighs for each result.
    fn table(&self, results: usize, weights: &Weighed<'_>) -> Result<Vec<f32>, Error> {
        let &Weighed { trees, nodes, results: of, weights } = weights;
        if [nodes.len(), of.len(), weights.len()].iter().any(|&length| length != trees.len()) {
            return Err(Error::invalid("attributes", "the lists of weights are not of one length"));
        }
        let places: BTreeMap<Key, usize> =
            self.leaves.iter().enumerate().map(|(place, &leaf)| (leaf, place)).collect();
        few(self.leaves.len(), results)?;
        let mut table = vec![0.0; self.leaves.len() * results];
        for i in 0..trees.len() {
            let (place, result) = (places.get(&(trees[i], nodes[i])), usize::try_from(of[i]).ok());
            let (Some(place), Some(result)) = (place, result.filter(|&result| result < results)) else {
                let why = format!("of node {} of tree {} for result {}", nodes[i], trees[i], of[i]);
                return Err(Error::invalid(
                    "attributes",
                    format!("there is a weight {why}, which is not there"),
                ));
            };
            let cell = &mut table[place * results + result];
            if *cell != 0.0 {
                return Err(Error::unsupported("attributes", "a leaf weighs twice for one result"));
            }
            *cell = weights[i];
        }
        Ok(table)
    }
}

/// Requires that a matrix is not much larger than what it is made of.
pub(super) fn few(rows: usize, columns: usize) -> Result<(), Error> {
    if rows.saturating_mul(columns) <= MOST_ELEMENTS {
        return Ok(());
    }
    Err(Error::unsupported(
        "attributes",
        format!("trees with {rows} times {columns} of branches, leaves or results"),
    ))
}

/// Which rows go left at some branches, at least one, that compare alike.
fn goes_left(walk: &mut Walk<'_, '_>, x: Value, branches: &[Branch]) -> Result<Value, Error> {
    let count = [branches.len() as i64];
    let features: Vec<i64> = branches.iter().map(|branch| branch.feature).collect();
    let numbers: Vec<f32> = branches.iter().map(|branch| branch.number).collect();
    let features = integers(walk, DType::I64, &count, &features)?;
    let numbers = constant(walk, &count, &numbers)?;
    let compared = one(walk, "Gather", &Attributes::new().int("axis", 1), &[x, features])?;
    one(walk, branches[0].comparison, &Attributes::new(), &[compared, numbers])
}

/// A branch by its mode.
fn branch(mode: &str, feature: i64, number: f32, [left, right]: [Key; 2]) -> Result<Branch, Error> {
    let comparison = match mode {
        "BRANCH_LEQ" => "LessOrEqual",
        "BRANCH_LT" => "Less",
        "BRANCH_GTE" => "GreaterOrEqual",
        "BRANCH_GT" => "Greater",
        other => return Err(Error::unsupported("attribute `nodes_modes`", format!("{other} is not there"))),
    };
    Ok(Branch { feature, comparison, number, left, right })
}

/// TreeEnsembleRegressor: the sum of what the trees give, for each target.
pub(super) fn regressor<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = rows(walk, source)?;
    let given = GivenAttributes::of(source);
    let ensemble = Ensemble::read(&given, walk.graph.ty(x).shape[1])?;
    let weights = Weighed {
        trees: given.ints("target_treeids"),
        nodes: given.ints("target_nodeids"),
        results: given.ints("target_ids"),
        weights: given.floats("target_weights"),
    };
    let (targets, base) = (given.int("n_targets", 1), given.floats("base_values"));
    let (transform, how) = (given.text("post_transform", "NONE"), given.text("aggregate_function", "SUM"));
    given.finish()?;
    if how != "SUM" {
        return Err(Error::unsupported("attribute `aggregate_function`", format!("{how} is not there")));
    }
    let targets = usize::try_from(targets)
        .map_err(|_| Error::invalid("attribute `n_targets`", format!("there are {targets}")))?;
    let sums = ensemble.sums(walk, x, targets, &weights, base)?;
    let y = transformed(walk, sums, &transform)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// TreeEnsembleClassifier: a score for each label, and the label of the highest one. Where the trees weigh one of two labels alone, what
/// the other's score is hangs on the transformation, of which ONNX's text does not speak.
pub(super) fn classifier<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = rows(walk, source)?;
    let given = GivenAttributes::of(source);
    let ensemble = Ensemble::read(&given, walk.graph.ty(x).shape[1])?;
    let weights = Weighed {
        trees: given.ints("class_treeids"),
        nodes: given.ints("class_nodeids"),
        results: given.ints("class_ids"),
        weights: given.floats("class_weights"),
    };
    let (labels, base) = (given.ints("classlabels_int64s"), given.floats("base_values"));
    let transform = given.text("post_transform", "NONE");
    given.finish()?;
    let weighed = weights.results.iter().collect::<std::collections::BTreeSet<_>>().len();
    if labels.len() < 2 || labels.len() == 2 && weighed < 2 {
        let why = format!("{} labels, of which {weighed} have weights", labels.len());
        return Err(Error::unsupported("attribute `classlabels_int64s`", why));
    }
    let scores = ensemble.sums(walk, x, labels.len(), &weights, base)?;
    classified(walk, source, labels, scores, &transform)
}
