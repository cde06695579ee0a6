//! Trees of branches, however the attributes spell them that they are read from.
//!
//! All branches of all trees are taken at once: each asks something of its feature. An end is where a row ends if every
//! branch above it answered as that way wants, so if as many said yes that should, and none that should not: a product
//! of the answers with a matrix of 1 and -1, of integers and so exact. What the leaves weigh is then one product more,
//! whose bound holds for whatever order an implementation adds the trees in. Several branches may lead to one leaf, and
//! what is not a number goes where the branch says.

use std::collections::BTreeSet;

use ir::{Attributes, DType, Value};

use super::chosen;
use crate::Error;
use crate::amount::MOST_ELEMENTS;
use crate::import::walk::Walk;

/// The operators that a branch may compare with.
const COMPARISONS: [&str; 5] = ["LessOrEqual", "Less", "GreaterOrEqual", "Greater", "Equal"];

/// What a branch asks of its feature.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Question {
    /// How it compares with a number: by one of [`COMPARISONS`].
    Compared(&'static str, f64),
    /// Whether the feature is one of these numbers.
    Member(Vec<f64>),
    /// Whether the feature is another number than this.
    Other(f64),
}

pub(super) struct Branch {
    pub(super) feature: i64,
    pub(super) question: Question,
    /// Whether what is not a number counts as a yes.
    pub(super) takes_nan: bool,
    /// Where a yes and a no lead: to a leaf or another branch.
    pub(super) ways: [Way; 2],
}

#[derive(Clone, Copy)]
pub(super) enum Way {
    Branch(usize),
    Leaf(usize),
}

/// What a leaf weighs for some of the targets, each of them once.
pub(super) type Leaf = Vec<(usize, f64)>;

/// Where a row may end in a tree, and the branches on the way there with the answers that lead on.
struct End {
    tree: usize,
    leaf: usize,
    answers: Vec<(usize, bool)>,
}

/// What becomes of the weights that the trees give for a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Aggregate {
    Average,
    Sum,
    Least,
    Greatest,
}

/// Trees, with what their leaves give.
pub(super) struct Forest {
    branches: Vec<Branch>,
    leaves: Vec<Leaf>,
    ends: Vec<End>,
    trees: usize,
    targets: usize,
}

impl Forest {
    pub(super) fn of(
        branches: Vec<Branch>,
        leaves: Vec<Leaf>,
        roots: &[Way],
        targets: usize,
    ) -> Result<Self, Error> {
        if branches.is_empty() {
            return Err(Error::unsupported("attributes", "trees without a branch"));
        }
        let ends = ends(&branches, roots)?;
        few(ends.len(), targets)?;
        Ok(Self { branches, leaves, ends, trees: roots.len(), targets })
    }

    /// What the trees give for rows, for each target, and what is added to that.
    pub(super) fn scores(
        &self,
        walk: &mut Walk<'_, '_>,
        x: Value,
        how: Aggregate,
        base: Option<Value>,
    ) -> Result<Value, Error> {
        let dtype = walk.ty(x).dtype;
        let reached = self.reached(walk, x)?;
        let scores = match how {
            Aggregate::Sum => return self.sums(walk, reached, dtype, base),
            Aggregate::Average => {
                let sums = self.sums(walk, reached, dtype, None)?;
                let trees = walk.real(dtype, self.trees as f64)?;
                walk.op("Div", &[sums, trees])?
            }
            Aggregate::Least => self.extreme(walk, reached, dtype, ("ReduceMin", f64::INFINITY))?,
            Aggregate::Greatest => self.extreme(walk, reached, dtype, ("ReduceMax", f64::NEG_INFINITY))?,
        };
        base.map_or(Ok(scores), |base| walk.op("Add", &[scores, base]))
    }

    /// The sums of what the leaves weigh, for each row and target.
    fn sums(
        &self,
        walk: &mut Walk<'_, '_>,
        reached: Value,
        dtype: DType,
        base: Option<Value>,
    ) -> Result<Value, Error> {
        let weights = self.weights(walk, dtype, 0.0)?;
        if self.leaves.iter().flatten().all(|(_, weight)| weight.is_finite()) {
            let ends = walk.cast(reached, dtype)?;
            return match base {
                Some(base) => walk.op("Gemm", &[ends, weights, base]),
                None => walk.op("MatMul", &[ends, weights]),
            };
        }
        let sums = chosen(walk, reached, weights)?;
        base.map_or(Ok(sums), |base| walk.op("Add", &[sums, base]))
    }

    /// The least or greatest of the weights, for each row and target. `nothing` is none of them.
    fn extreme(
        &self,
        walk: &mut Walk<'_, '_>,
        reached: Value,
        dtype: DType,
        (reduction, nothing): (&str, f64),
    ) -> Result<Value, Error> {
        let certain = self.certain();
        if let Some(target) = (0..self.targets).find(|target| !certain.contains(target)) {
            let why = format!(
                "of target {target} a row may get no weight, and ONNX does not say what is the least or greatest then"
            );
            return Err(Error::unsupported("attribute `aggregate_function`", why));
        }
        let weights = self.weights(walk, dtype, nothing)?;
        let nothing = walk.real(dtype, nothing)?;
        let reached = walk.unsqueezed(reached, &[2])?;
        let given = walk.op("Where", &[reached, weights, nothing])?;
        walk.op_with(reduction, &Attributes::new().ints("axes", &[1]).int("keepdims", 0), &[given])
    }

    /// The targets for which each row gets a weight, because all leaves of some tree have one.
    fn certain(&self) -> BTreeSet<usize> {
        let of = |end: &End| self.leaves[end.leaf].iter().map(|&(target, _)| target).collect::<BTreeSet<_>>();
        let trees = self.ends.chunk_by(|one, other| one.tree == other.tree);
        trees.filter_map(|ends| ends.iter().map(of).reduce(|one, other| &one & &other)).flatten().collect()
    }

    /// What each end weighs for each target, and `nothing` where that is nothing.
    fn weights(&self, walk: &mut Walk<'_, '_>, dtype: DType, nothing: f64) -> Result<Value, Error> {
        let targets = self.targets;
        walk.reals(dtype, &[self.ends.len() as i64, targets as i64], |i| {
            let leaf = &self.leaves[self.ends[i / targets].leaf];
            leaf.iter().find(|(target, _)| *target == i % targets).map_or(nothing, |&(_, weight)| weight)
        })
    }

    /// Which ends the rows reach, as truth values.
    fn reached(&self, walk: &mut Walk<'_, '_>, x: Value) -> Result<Value, Error> {
        let (answers, order) = self.answers(walk, x)?;
        let answers = walk.cast(answers, DType::I32)?;
        let ends = self.ends.len();
        let mut place = vec![0; order.len()];
        for (at, &branch) in order.iter().enumerate() {
            place[branch] = at;
        }
        let mut sides = vec![0; order.len() * ends];
        for (i, end) in self.ends.iter().enumerate() {
            for &(branch, is_yes) in &end.answers {
                sides[place[branch] * ends + i] = if is_yes { 1 } else { -1 };
            }
        }
        let sides = walk.integers(DType::I32, &[order.len() as i64, ends as i64], |i| sides[i])?;
        let count = walk.op("MatMul", &[answers, sides])?;
        let wanted = walk.integers(DType::I32, &[ends as i64], |i| {
            self.ends[i].answers.iter().filter(|(_, is_yes)| *is_yes).count() as i128
        })?;
        walk.op("Equal", &[count, wanted])
    }

    /// What the branches answer, beside each other, and which branch each answer is of.
    fn answers(&self, walk: &mut Walk<'_, '_>, x: Value) -> Result<(Value, Vec<usize>), Error> {
        let mut order = Vec::with_capacity(self.branches.len());
        let mut answers = Vec::new();
        for function in COMPARISONS {
            let those =
                self.which(|question| matches!(question, Question::Compared(name, _) if *name == function));
            if !those.is_empty() {
                let features = self.features(walk, x, &those)?;
                let numbers = self.splits(walk, x, &those)?;
                let holds = walk.op(function, &[features, numbers])?;
                answers.push(self.or_nan(walk, features, holds, &those)?);
                order.extend(those);
            }
        }
        let others = self.which(|question| matches!(question, Question::Other(_)));
        if !others.is_empty() {
            let features = self.features(walk, x, &others)?;
            let numbers = self.splits(walk, x, &others)?;
            let is = walk.op("Equal", &[features, numbers])?;
            let is_other = walk.op("Not", &[is])?;
            answers.push(self.perhaps_nan(walk, features, is_other, &others)?);
            order.extend(others);
        }
        for branch in self.which(|question| matches!(question, Question::Member(_))) {
            let Question::Member(members) = &self.branches[branch].question else { continue };
            answers.push(self.is_member(walk, x, branch, members)?);
            order.push(branch);
            walk.check_size(|| "trees with sets of members".to_owned())?;
        }
        Ok((walk.joined(&answers, 1)?, order))
    }

    /// Whether the feature that a branch asks for is one of some numbers.
    fn is_member(
        &self,
        walk: &mut Walk<'_, '_>,
        x: Value,
        branch: usize,
        members: &[f64],
    ) -> Result<Value, Error> {
        let features = self.features(walk, x, &[branch])?;
        let dtype = walk.ty(x).dtype;
        let members = walk.reals(dtype, &[members.len() as i64], |i| members[i])?;
        let alike = walk.op("Equal", &[features, members])?;
        let alike = walk.cast(alike, DType::I32)?;
        let any = walk.op_with("ReduceSum", &Attributes::new().ints("axes", &[1]), &[alike])?;
        let none = walk.integers(DType::I32, &[], |_| 0)?;
        let holds = walk.op("Greater", &[any, none])?;
        self.or_nan(walk, features, holds, &[branch])
    }

    fn which(&self, is: impl Fn(&Question) -> bool) -> Vec<usize> {
        let all = self.branches.iter().enumerate();
        all.filter(|(_, branch)| is(&branch.question)).map(|(i, _)| i).collect()
    }

    /// The features that some branches ask for.
    fn features(&self, walk: &mut Walk<'_, '_>, x: Value, of: &[usize]) -> Result<Value, Error> {
        let places =
            walk.integers(DType::I64, &[of.len() as i64], |i| self.branches[of[i]].feature.into())?;
        walk.op_with("Gather", &Attributes::new().int("axis", 1), &[x, places])
    }

    /// The numbers that some branches compare with.
    fn splits(&self, walk: &mut Walk<'_, '_>, x: Value, of: &[usize]) -> Result<Value, Error> {
        let dtype = walk.ty(x).dtype;
        walk.reals(dtype, &[of.len() as i64], |i| match self.branches[of[i]].question {
            Question::Compared(_, split) | Question::Other(split) => split,
            Question::Member(_) => f64::NAN,
        })
    }

    /// Answers, with a yes to what is not a number where a branch takes that.
    fn or_nan(
        &self,
        walk: &mut Walk<'_, '_>,
        features: Value,
        holds: Value,
        of: &[usize],
    ) -> Result<Value, Error> {
        if of.iter().all(|&branch| !self.branches[branch].takes_nan) {
            return Ok(holds);
        }
        let takes = self.takes_nan(walk, of)?;
        let is_nan = walk.op("IsNaN", &[features])?;
        let taken = walk.op("And", &[is_nan, takes])?;
        walk.op("Or", &[holds, taken])
    }

    /// Answers to whether a feature is another number. What is not a number is another one, and ONNX's evaluator and
    /// runtimes say so; by the text it is a no where the branch does not take it. Both are right.
    fn perhaps_nan(
        &self,
        walk: &mut Walk<'_, '_>,
        features: Value,
        is_other: Value,
        of: &[usize],
    ) -> Result<Value, Error> {
        if of.iter().all(|&branch| self.branches[branch].takes_nan) {
            return Ok(is_other);
        }
        let takes = self.takes_nan(walk, of)?;
        let is_nan = walk.op("IsNaN", &[features])?;
        let is_number = walk.op("Not", &[is_nan])?;
        let counts = walk.op("Or", &[is_number, takes])?;
        let by_text = walk.op("And", &[is_other, counts])?;
        walk.either(by_text, is_other)
    }

    fn takes_nan(&self, walk: &mut Walk<'_, '_>, of: &[usize]) -> Result<Value, Error> {
        walk.integers(DType::Bool, &[of.len() as i64], |i| self.branches[of[i]].takes_nan.into())
    }
}

/// Requires that a matrix is not much larger than what it is made of.
pub(super) fn few(rows: usize, columns: usize) -> Result<(), Error> {
    if rows.saturating_mul(columns) <= MOST_ELEMENTS as usize {
        return Ok(());
    }
    Err(Error::unsupported(
        "attributes",
        format!("trees with {rows} times {columns} of branches, leaves or targets"),
    ))
}

/// Where the rows may end, tree by tree.
fn ends(branches: &[Branch], roots: &[Way]) -> Result<Vec<End>, Error> {
    let mut is_met = vec![false; branches.len()];
    let mut ends = Vec::new();
    for (tree, &root) in roots.iter().enumerate() {
        let mut open = vec![(root, Vec::new())];
        while let Some((way, answers)) = open.pop() {
            match way {
                Way::Leaf(leaf) => {
                    ends.push(End { tree, leaf, answers });
                }
                Way::Branch(branch) => {
                    if std::mem::replace(&mut is_met[branch], true) {
                        let why = format!("two ways lead to branch {branch}");
                        return Err(Error::invalid("attributes", why));
                    }
                    for (way, is_yes) in branches[branch].ways.into_iter().zip([true, false]) {
                        let mut answers = answers.clone();
                        answers.push((branch, is_yes));
                        open.push((way, answers));
                        few(branches.len(), ends.len() + open.len())?;
                    }
                }
            }
        }
    }
    Ok(ends)
}
