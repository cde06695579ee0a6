//! `TreeEnsemble`: trees of branches that compare a feature with a number or with several.
//!
//! As in [`trees`](super::trees) all branches are taken at once, and a row ends where as many went the way that leads there as there are above:
//! a product of the outcomes with a matrix of 1 and -1. Here branches and leaves are apart, several branches may lead to one leaf, and what is
//! not a number goes where the branch says.

use ir::{Attributes, DType, Tensor, Value};

use super::trees::few;
use super::{chosen, transformed};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::terms::misshapen;
use crate::import::translation::{SourceNode, bind, tensor};
use crate::import::walk::Walk;

/// What a branch asks of its feature.
#[derive(Clone, PartialEq, Debug)]
enum Question {
    /// How it compares with a number: by an operator.
    Compared(&'static str, f64),
    /// Whether the feature is one of these numbers.
    Member(Vec<f64>),
    /// Whether the feature is another number than this.
    Other(f64),
}

struct Branch {
    feature: i64,
    question: Question,
    /// Whether what is not a number counts as a yes.
    takes_nan: bool,
    /// Where a yes and a no lead: to a leaf or another branch.
    ways: [Way; 2],
}

#[derive(Clone, Copy)]
enum Way {
    Branch(usize),
    Leaf(usize),
}

/// Where a row may end, and the branches on the way there with the answers that lead on.
struct End {
    leaf: usize,
    answers: Vec<(usize, bool)>,
}

struct Ensemble {
    branches: Vec<Branch>,
    ends: Vec<End>,
    weights: Vec<f64>,
    targets: Vec<usize>,
}

/// TreeEnsemble: the sum of what the trees give, or their mean, for each target.
pub(super) fn ensemble<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = tensor(walk, source.node, 0)?;
    let ty = walk.ty(x);
    let [rows, features] = ty.shape[..] else { return Err(misshapen(0, &ty, "of rows and features")) };
    if !matches!(ty.dtype, DType::F16 | DType::F32 | DType::F64) {
        return Err(misshapen(0, &ty, "of f16, f32 or f64"));
    }
    let given = GivenAttributes::of(source);
    let targets = given.whole("n_targets").and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let (how, transform) = (given.int("aggregate_function", 1), given.int("post_transform", 0));
    let roots = given.ints("tree_roots");
    let ensemble = Ensemble::read(walk, &given, features, roots, targets)?;
    given.finish()?;
    let transform = match transform {
        0 => "NONE",
        1 => "SOFTMAX",
        2 => "LOGISTIC",
        other => {
            return Err(Error::unsupported("attribute `post_transform`", format!("{other} is not there")));
        }
    };
    let reached = ensemble.reached(walk, x, rows)?;
    let count = ensemble.ends.len();
    let weights = walk.reals(ty.dtype, &[count as i64, targets as i64], |i| {
        let leaf = ensemble.ends[i / targets].leaf;
        if ensemble.targets[leaf] == i % targets { ensemble.weights[leaf] } else { 0.0 }
    })?;
    let mut y = if ensemble.weights.iter().all(|weight| weight.is_finite()) {
        let ends = walk.cast(reached, ty.dtype)?;
        walk.op("MatMul", &[ends, weights])?
    } else {
        chosen(walk, reached, weights)?
    };
    match how {
        0 => {
            let trees = walk.real(ty.dtype, roots.len() as f64)?;
            y = walk.op("Div", &[y, trees])?;
        }
        1 => {}
        other => {
            return Err(Error::unsupported(
                "attribute `aggregate_function`",
                format!("{other} is not there"),
            ));
        }
    }
    let y = transformed(walk, y, transform)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The numbers of a tensor attribute. If `count` is given, there must be that many.
fn numbers(
    walk: &Walk<'_, '_>,
    given: &GivenAttributes<'_>,
    name: &str,
    count: Option<usize>,
) -> Result<Vec<f64>, Error> {
    let tensor = given.tensor(name, walk.context.options.external)?;
    let numbers = tensor.as_ref().map_or_else(Vec::new, Tensor::to_f64s);
    match count {
        Some(count) if numbers.len() != count => {
            let why = format!("it has {} numbers, and there are {count} branches", numbers.len());
            Err(Error::invalid(format!("attribute `{name}`"), why))
        }
        _ => Ok(numbers),
    }
}

impl Ensemble {
    fn read(
        walk: &Walk<'_, '_>,
        given: &GivenAttributes<'_>,
        features: i64,
        roots: &[i64],
        targets: usize,
    ) -> Result<Self, Error> {
        let of = given.ints("nodes_featureids");
        let count = of.len();
        let (modes, splits) = (
            numbers(walk, given, "nodes_modes", Some(count))?,
            numbers(walk, given, "nodes_splits", Some(count))?,
        );
        let members = numbers(walk, given, "membership_values", None)?;
        let mut members = members.split(|member| member.is_nan());
        let missing = given.ints("nodes_missing_value_tracks_true");
        given.ignore("nodes_hitrates");
        let lists = [
            given.ints("nodes_truenodeids"),
            given.ints("nodes_trueleafs"),
            given.ints("nodes_falsenodeids"),
            given.ints("nodes_falseleafs"),
        ];
        let (weights, of_leaves) =
            (numbers(walk, given, "leaf_weights", None)?, given.ints("leaf_targetids"));
        let is_short = !missing.is_empty() && missing.len() != count;
        if lists.iter().any(|list| list.len() != count) || is_short || weights.len() != of_leaves.len() {
            return Err(Error::invalid(
                "attributes",
                "the lists of branches or of leaves are not of one length",
            ));
        }
        let target = |&of: &i64| usize::try_from(of).ok().filter(|of| *of < targets);
        let Some(leaf_targets) = of_leaves.iter().map(target).collect::<Option<Vec<usize>>>() else {
            return Err(Error::invalid(
                "attribute `leaf_targetids`",
                format!("they are not all below {targets}"),
            ));
        };
        let mut branches = Vec::with_capacity(count);
        for i in 0..count {
            if !(0..features).contains(&of[i]) {
                let why = format!("{} of {features} features", of[i]);
                return Err(Error::invalid("attribute `nodes_featureids`", why));
            }
            let way = |to: i64, is_leaf: i64| {
                let most = if is_leaf == 0 { count } else { weights.len() };
                let to = usize::try_from(to).ok().filter(|to| *to < most);
                to.map(|to| if is_leaf == 0 { Way::Branch(to) } else { Way::Leaf(to) })
            };
            let ways = [way(lists[0][i], lists[1][i]), way(lists[2][i], lists[3][i])];
            let [Some(yes), Some(no)] = ways else {
                return Err(Error::invalid("attributes", format!("branch {i} leads to what is not there")));
            };
            let takes_nan = missing.get(i).is_some_and(|&tracks| tracks != 0);
            let question = question(modes[i], splits[i], &mut members)?;
            branches.push(Branch { feature: of[i], question, takes_nan, ways: [yes, no] });
        }
        let ends = ends(&branches, roots)?;
        Ok(Self { branches, ends, weights, targets: leaf_targets })
    }

    /// Which ends the rows reach, as truth values.
    fn reached(&self, walk: &mut Walk<'_, '_>, x: Value, rows: i64) -> Result<Value, Error> {
        let mut order = Vec::with_capacity(self.branches.len());
        let mut answers = Vec::new();
        for function in ["LessOrEqual", "Less", "GreaterOrEqual", "Greater"] {
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
            let features = self.features(walk, x, &[branch])?;
            let Question::Member(members) = &self.branches[branch].question else { continue };
            let dtype = walk.ty(x).dtype;
            let members = walk.reals(dtype, &[members.len() as i64], |i| members[i])?;
            let alike = walk.op("Equal", &[features, members])?;
            let alike = walk.cast(alike, DType::I32)?;
            let any = walk.op_with("ReduceSum", &Attributes::new().ints("axes", &[1]), &[alike])?;
            let none = walk.integers(DType::I32, &[], |_| 0)?;
            let holds = walk.op("Greater", &[any, none])?;
            answers.push(self.or_nan(walk, features, holds, &[branch])?);
            order.push(branch);
            walk.check_size(|| "operator TreeEnsemble".to_owned())?;
        }
        let answers = walk.joined(&answers, 1)?;
        debug_assert_eq!(walk.ty(answers).shape[..], [rows, order.len() as i64], "an answer of each branch");
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
        let takes =
            walk.integers(DType::Bool, &[of.len() as i64], |i| self.branches[of[i]].takes_nan.into())?;
        let is_nan = walk.op("IsNaN", &[features])?;
        let taken = walk.op("And", &[is_nan, takes])?;
        walk.op("Or", &[holds, taken])
    }

    /// Answers to whether a feature is another number. What is not a number is another one, and ONNX's evaluator and runtimes say so; by the
    /// text it is a no where the branch does not take it. Both are right.
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
        let takes =
            walk.integers(DType::Bool, &[of.len() as i64], |i| self.branches[of[i]].takes_nan.into())?;
        let is_nan = walk.op("IsNaN", &[features])?;
        let is_number = walk.op("Not", &[is_nan])?;
        let counts = walk.op("Or", &[is_number, takes])?;
        let by_text = walk.op("And", &[is_other, counts])?;
        walk.either(by_text, is_other)
    }
}

/// What a branch asks, by the code of its mode.
fn question<'m>(
    mode: f64,
    split: f64,
    members: &mut impl Iterator<Item = &'m [f64]>,
) -> Result<Question, Error> {
    Ok(match mode as i64 {
        0 => Question::Compared("LessOrEqual", split),
        1 => Question::Compared("Less", split),
        2 => Question::Compared("GreaterOrEqual", split),
        3 => Question::Compared("Greater", split),
        4 => Question::Member(vec![split]),
        5 => Question::Other(split),
        6 => {
            let lacks =
                || Error::invalid("attribute `membership_values`", "there are not as many sets as branches");
            Question::Member(members.next().filter(|set| !set.is_empty()).ok_or_else(lacks)?.to_vec())
        }
        other => return Err(Error::invalid("attribute `nodes_modes`", format!("there is no mode {other}"))),
    })
}

/// Where the rows may end, tree by tree.
fn ends(branches: &[Branch], roots: &[i64]) -> Result<Vec<End>, Error> {
    let mut is_met = vec![false; branches.len()];
    let mut ends = Vec::new();
    for &root in roots {
        let root = usize::try_from(root).ok().filter(|root| *root < branches.len());
        let root = root.ok_or_else(|| Error::invalid("attribute `tree_roots`", "not all are branches"))?;
        let mut open = vec![(Way::Branch(root), Vec::new())];
        while let Some((way, answers)) = open.pop() {
            match way {
                Way::Leaf(leaf) => {
                    ends.push(End { leaf, answers });
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
    if ends.is_empty() {
        return Err(Error::unsupported("attribute `tree_roots`", "there are no trees"));
    }
    Ok(ends)
}
