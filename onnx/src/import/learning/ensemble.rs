//! `TreeEnsemble`: branches and leaves are apart, and a branch may compare its feature with several numbers.

use ir::{DType, Tensor};

use super::forest::{Aggregate, Branch, Forest, Leaf, Question, Way};
use super::transformed;
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::terms::misshapen;
use crate::import::translation::{SourceNode, bind, tensor};
use crate::import::walk::Walk;

/// TreeEnsemble: what the trees give together, for each target.
pub(super) fn ensemble<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = tensor(walk, source.node, 0)?;
    let ty = walk.ty(x);
    let [_, features] = ty.shape[..] else { return Err(misshapen(0, &ty, "of rows and features")) };
    if !matches!(ty.dtype, DType::F16 | DType::F32 | DType::F64) {
        return Err(misshapen(0, &ty, "of f16, f32 or f64"));
    }
    let given = GivenAttributes::of(source);
    let (how, transform) = (given.int("aggregate_function", 1), given.int("post_transform", 0));
    let forest = read(walk, &given, features)?;
    given.finish()?;
    let y = forest.scores(walk, x, aggregate(how)?, None)?;
    let y = transformed(walk, y, post_transform(transform)?)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// What becomes of weights, by its code.
fn aggregate(code: i64) -> Result<Aggregate, Error> {
    Ok(match code {
        0 => Aggregate::Average,
        1 => Aggregate::Sum,
        2 => Aggregate::Least,
        3 => Aggregate::Greatest,
        other => {
            let why = format!("there is no function {other}");
            return Err(Error::invalid("attribute `aggregate_function`", why));
        }
    })
}

/// What is done to scores, by its code.
fn post_transform(code: i64) -> Result<&'static str, Error> {
    match code {
        0 => Ok("NONE"),
        1 => Ok("SOFTMAX"),
        2 => Ok("LOGISTIC"),
        other => Err(Error::unsupported("attribute `post_transform`", format!("{other} is not there"))),
    }
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

fn read(walk: &Walk<'_, '_>, given: &GivenAttributes<'_>, features: i64) -> Result<Forest, Error> {
    let targets = given.whole("n_targets").and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let leaves = leaves(walk, given, targets)?;
    let branches = branches(walk, given, features, leaves.len())?;
    let root = |&root: &i64| usize::try_from(root).ok().filter(|root| *root < branches.len());
    let roots = given.ints("tree_roots");
    if roots.is_empty() {
        return Err(Error::unsupported("attribute `tree_roots`", "there are no trees"));
    }
    let roots: Option<Vec<Way>> = roots.iter().map(|of| root(of).map(Way::Branch)).collect();
    let roots = roots.ok_or_else(|| Error::invalid("attribute `tree_roots`", "not all are branches"))?;
    Forest::of(branches, leaves, &roots, targets)
}

fn leaves(walk: &Walk<'_, '_>, given: &GivenAttributes<'_>, targets: usize) -> Result<Vec<Leaf>, Error> {
    let (weights, of) = (numbers(walk, given, "leaf_weights", None)?, given.ints("leaf_targetids"));
    if weights.len() != of.len() {
        return Err(Error::invalid("attributes", "the lists of leaves are not of one length"));
    }
    let target = |&of: &i64| usize::try_from(of).ok().filter(|of| *of < targets);
    let leaves = of.iter().zip(weights).map(|(of, weight)| Some(vec![(target(of)?, weight)]));
    let why = || Error::invalid("attribute `leaf_targetids`", format!("they are not all below {targets}"));
    leaves.collect::<Option<Vec<Leaf>>>().ok_or_else(why)
}

fn branches(
    walk: &Walk<'_, '_>,
    given: &GivenAttributes<'_>,
    features: i64,
    leaves: usize,
) -> Result<Vec<Branch>, Error> {
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
    let yes = [given.ints("nodes_truenodeids"), given.ints("nodes_trueleafs")];
    let no = [given.ints("nodes_falsenodeids"), given.ints("nodes_falseleafs")];
    let is_short = !missing.is_empty() && missing.len() != count;
    if yes.iter().chain(&no).any(|list| list.len() != count) || is_short {
        return Err(Error::invalid("attributes", "the lists of branches are not of one length"));
    }
    let way = |[to, is_leaf]: [&[i64]; 2], i: usize| {
        let most = if is_leaf[i] == 0 { count } else { leaves };
        let to = usize::try_from(to[i]).ok().filter(|to| *to < most);
        to.map(|to| if is_leaf[i] == 0 { Way::Branch(to) } else { Way::Leaf(to) })
    };
    let mut branches = Vec::with_capacity(count);
    for i in 0..count {
        if !(0..features).contains(&of[i]) {
            let why = format!("{} of {features} features", of[i]);
            return Err(Error::invalid("attribute `nodes_featureids`", why));
        }
        let [Some(yes), Some(no)] = [way(yes, i), way(no, i)] else {
            return Err(Error::invalid("attributes", format!("branch {i} leads to what is not there")));
        };
        let takes_nan = missing.get(i).is_some_and(|&tracks| tracks != 0);
        let question = question(modes[i], splits[i], &mut members)?;
        branches.push(Branch { feature: of[i], question, takes_nan, ways: [yes, no] });
    }
    Ok(branches)
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
        4 => Question::Compared("Equal", split),
        5 => Question::Other(split),
        6 => {
            let lacks =
                || Error::invalid("attribute `membership_values`", "there are not as many sets as branches");
            Question::Member(members.next().filter(|set| !set.is_empty()).ok_or_else(lacks)?.to_vec())
        }
        other => return Err(Error::invalid("attribute `nodes_modes`", format!("there is no mode {other}"))),
    })
}
