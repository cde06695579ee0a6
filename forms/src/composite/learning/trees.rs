//! Trees: decisions above each other, whose leaves weigh for results.

use ir::DType;

use super::labelled;
use crate::composite::piece::Piece;

/// The most decisions above a leaf.
const DEEPEST: usize = 3;

/// The share of children that are leaves, above the deepest ones.
const LEAVES: f64 = 0.5;

/// What an older tree may ask of a feature.
const DECISIONS: [&str; 4] = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"];

/// A tree.
enum Tree {
    Leaf,
    Decision(Box<[Tree; 2]>),
}

impl Tree {
    /// One of some decisions, at least one.
    fn drawn(p: &mut Piece<'_>, depth: usize) -> Self {
        if depth == DEEPEST || (depth > 0 && p.chance(LEAVES)) {
            return Self::Leaf;
        }
        Self::Decision(Box::new([Self::drawn(p, depth + 1), Self::drawn(p, depth + 1)]))
    }
}

/// The nodes of trees, as the older operators list them.
#[derive(Default)]
struct Nodes {
    trees: Vec<i64>,
    ids: Vec<i64>,
    features: Vec<i64>,
    values: Vec<f32>,
    modes: Vec<&'static str>,
    ways: [Vec<i64>; 2],
    /// The tree and the node of each leaf.
    leaves: Vec<(i64, i64)>,
}

impl Nodes {
    /// Adds a tree below a node that gets the next number of its tree, and gives that.
    fn add(
        &mut self,
        p: &mut Piece<'_>,
        tree: i64,
        next: &mut i64,
        features: i64,
        node: &Tree,
    ) -> Option<i64> {
        let (id, at) = (*next, self.ids.len());
        *next += 1;
        self.trees.push(tree);
        self.ids.push(id);
        self.ways.iter_mut().for_each(|way| way.push(0));
        match node {
            Tree::Leaf => {
                self.features.push(0);
                self.values.push(0.0);
                self.modes.push("LEAF");
                self.leaves.push((tree, id));
            }
            Tree::Decision(children) => {
                self.features.push(p.size(0..=features - 1));
                self.values.push(p.quarters(1)[0] + 0.125);
                self.modes.push(p.choose(&DECISIONS)?);
                for (way, child) in children.iter().enumerate() {
                    self.ways[way][at] = self.add(p, tree, next, features, child)?;
                }
            }
        }
        Some(id)
    }
}

/// Trees, and what their leaves weigh, in attributes that begin so; gives how many results there are.
fn trees(p: &mut Piece<'_>, [treeids, nodeids, ids, weights]: [&str; 4], least: i64) -> Option<i64> {
    let dtype = p.dtype()?;
    let are_double = dtype == DType::F64 && p.chance(0.7);
    let (rows, features, trees) = (p.count(1..=4), p.size(1..=4), p.size(least..=3));
    let results = p.size(least..=3);
    p.of(dtype, &[rows, features]);
    let mut nodes = Nodes::default();
    for tree in 0..trees {
        let drawn = Tree::drawn(p, 0);
        nodes.add(p, tree, &mut 0, features, &drawn)?;
    }
    let Nodes { trees, ids: own, features, values, modes, ways: [left, right], leaves } = nodes;
    p.ints("nodes_treeids", &trees);
    p.ints("nodes_nodeids", &own);
    p.ints("nodes_featureids", &features);
    numbers(p, "nodes_values", are_double, &values);
    p.texts("nodes_modes", &modes);
    p.ints("nodes_truenodeids", &left);
    p.ints("nodes_falsenodeids", &right);
    missing(p, trees.len());
    // How often each is met says nothing of results.
    if p.chance(0.2) {
        numbers(p, "nodes_hitrates", are_double, &vec![1.0; trees.len()]);
    }
    // The first leaves weigh for one result each, so that all do.
    let count = leaves.len() as i64;
    let of: Vec<i64> = (0..count).map(|at| if at < results { at } else { p.size(0..=results - 1) }).collect();
    let weighs: Vec<f32> = (0..count).map(|_| p.size(-999..=999) as f32 / 250.0).collect();
    p.ints(treeids, &leaves.iter().map(|leaf| leaf.0).collect::<Vec<_>>());
    p.ints(nodeids, &leaves.iter().map(|leaf| leaf.1).collect::<Vec<_>>());
    p.ints(ids, &of);
    numbers(p, weights, are_double, &weighs);
    if p.chance(0.4) {
        let base = p.quarters(results);
        numbers(p, "base_values", are_double, &base);
    }
    p.word("post_transform", &["NONE", "SOFTMAX", "LOGISTIC"])?;
    Some(results)
}

/// Numbers of an attribute, in a list of f32 or a tensor of f64.
fn numbers(p: &mut Piece<'_>, name: &str, are_double: bool, numbers: &[f32]) {
    if are_double {
        let all: Vec<f64> = numbers.iter().copied().map(f64::from).collect();
        p.tensor(&format!("{name}_as_tensor"), DType::F64, &[all.len() as i64], &all);
    } else {
        p.floats(name, numbers);
    }
}

/// For so many nodes, where a missing value leads.
fn missing(p: &mut Piece<'_>, nodes: usize) {
    if p.chance(0.3) {
        let missing: Vec<i64> = (0..nodes).map(|_| p.size(0..=1)).collect();
        p.ints("nodes_missing_value_tracks_true", &missing);
    }
}

/// The ways to put together what so many trees give for each of so many targets, the usual one first. Of targets that a row
/// may get nothing for, nobody says what is the least.
fn aggregates<T: Clone>(all: &[T; 4], targets: i64) -> Vec<T> {
    all[..if targets == 1 { 4 } else { 2 }].to_vec()
}

pub(super) fn regressor(p: &mut Piece<'_>) -> Option<()> {
    let targets = trees(p, ["target_treeids", "target_nodeids", "target_ids", "target_weights"], 1)?;
    p.int("n_targets", targets);
    p.word("aggregate_function", &aggregates(&["SUM", "AVERAGE", "MIN", "MAX"], targets))?;
    Some(())
}

pub(super) fn classifier(p: &mut Piece<'_>) -> Option<()> {
    let labels = trees(p, ["class_treeids", "class_nodeids", "class_ids", "class_weights"], 2)?;
    labelled(p, "classlabels_int64s", labels);
    Some(())
}

/// The decisions of trees in one list and their leaves in another one, as the operator has them that is for all that is
/// done with trees.
#[derive(Default)]
struct Lists {
    features: Vec<i64>,
    modes: Vec<f64>,
    splits: Vec<f64>,
    /// Where the children of each stand, and whether they are leaves.
    ways: [Vec<i64>; 2],
    are_leaves: [Vec<i64>; 2],
    leaves: i64,
    /// The sets that branches ask about membership in, with a NaN behind each.
    members: Vec<f64>,
}

/// What a branch asks in the newer ensemble: the code for whether a feature is one of a set.
const MEMBER: i64 = 6;

impl Lists {
    /// Adds a tree of at least one decision, and gives where that stands.
    fn add(&mut self, p: &mut Piece<'_>, features: i64, children: &[Tree; 2]) -> i64 {
        let at = self.features.len();
        self.features.push(p.size(0..=features - 1));
        let mode = p.size(0..=MEMBER);
        self.modes.push(mode as f64);
        if mode == MEMBER {
            let count = p.size(1..=3);
            self.members.extend(p.quarters(count).into_iter().map(f64::from).chain([f64::NAN]));
        }
        self.splits.push(f64::from(p.quarters(1)[0]));
        self.ways.iter_mut().chain(&mut self.are_leaves).for_each(|way| way.push(0));
        for (way, child) in children.iter().enumerate() {
            let (place, is_leaf) = match child {
                Tree::Leaf => {
                    self.leaves += 1;
                    (self.leaves - 1, 1)
                }
                Tree::Decision(children) => (self.add(p, features, children), 0),
            };
            self.ways[way][at] = place;
            self.are_leaves[way][at] = is_leaf;
        }
        at as i64
    }
}

pub(super) fn ensemble(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, features, trees, targets) = (p.count(1..=4), p.size(1..=4), p.size(1..=3), p.size(1..=2));
    p.of(dtype, &[rows, features]);
    let (mut lists, mut roots) = (Lists::default(), Vec::new());
    for _ in 0..trees {
        if let Tree::Decision(children) = Tree::drawn(p, 0) {
            roots.push(lists.add(p, features, &children));
        }
    }
    let decisions = lists.features.len() as i64;
    p.ints("nodes_featureids", &lists.features);
    p.tensor("nodes_modes", DType::U8, &[decisions], &lists.modes);
    p.tensor("nodes_splits", dtype, &[decisions], &lists.splits);
    p.ints("nodes_truenodeids", &lists.ways[0]);
    p.ints("nodes_falsenodeids", &lists.ways[1]);
    p.ints("nodes_trueleafs", &lists.are_leaves[0]);
    p.ints("nodes_falseleafs", &lists.are_leaves[1]);
    let weights: Vec<f64> = (0..lists.leaves).map(|_| p.size(-999..=999) as f64 / 256.0).collect();
    let of: Vec<i64> = (0..lists.leaves).map(|_| p.size(0..=targets - 1)).collect();
    p.tensor("leaf_weights", dtype, &[lists.leaves], &weights);
    p.ints("leaf_targetids", &of);
    p.ints("tree_roots", &roots);
    p.int("n_targets", targets);
    if !lists.members.is_empty() {
        p.tensor("membership_values", dtype, &[lists.members.len() as i64], &lists.members);
    }
    if p.chance(0.5) {
        let aggregate = p.choose(&aggregates(&[1, 0, 2, 3], targets))?;
        p.int("aggregate_function", aggregate);
    }
    if p.chance(0.4) {
        let transform = p.size(0..=2);
        p.int("post_transform", transform);
    }
    missing(p, lists.features.len());
    if p.chance(0.2) {
        // ONNX's own inference takes f32 alone, whatever the features are.
        p.tensor("nodes_hitrates", DType::F32, &[decisions], &vec![1.0; lists.features.len()]);
    }
    Some(())
}
