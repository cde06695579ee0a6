//! Rules about operands that are parameters: constants that say what an operator does, as the axes of Squeeze do.
//!
//! An edit puts another constant in the place of one. What it says contradicts the operator's text, and nothing else
//! does. Where the text calls something undefined, as axes that Slice and Pad name twice, or says nothing of it, as
//! axes that a Reduce names twice, an engine may do as it likes: no row has it.

use ir::{DType, Tensor, Type};
use ops::reduction::REDUCTIONS;

use super::site::{Edit, NEW, Parameter, Site, edit};
use super::{Checker, Rule, Scope, Source};
use crate::tensor;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "parameter-axes",
        clause: "the axes that an operand names are there, and such as the operator takes",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Partly("not for CumSum and CumProd"),
        says: &["is outside of rank", "is named twice", "must equal"],
        edit: |site| contradict(site, AXES),
    },
    Rule {
        name: "parameter-length",
        clause: "a list that is an operand has an entry for each axis that it is about",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Partly("not for a Pad of no axes"),
        says: &["entries instead of"],
        edit: |site| contradict(site, LENGTHS),
    },
    Rule {
        name: "parameter-value",
        clause: "sizes, counts and steps that are an operand are such as the operator is defined for",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Infers,
        says: &[
            "attribute `steps`",
            "do not broadcast",
            "entries instead of",
            "must equal",
            "must not exceed",
            "of size -",
        ],
        edit: |site| contradict(site, VALUES),
    },
];

/// What the parameters of some operators must not be.
struct Row {
    operators: &'static [&'static str],
    /// Our name for the parameter.
    name: &'static str,
    /// The lists that contradict the text, each alone; none where every one is in order.
    wrong: fn(&Parameter) -> Vec<Vec<i64>>,
}

const fn row(
    operators: &'static [&'static str],
    name: &'static str,
    wrong: fn(&Parameter) -> Vec<Vec<i64>>,
) -> Row {
    Row { operators, name, wrong }
}

const AXES: &[Row] = &[
    row(REDUCTIONS, "axes", outside),
    row(&["Pad", "Slice", "Squeeze"], "axes", outside),
    row(&["CumProd", "CumSum"], "axis", outside),
    row(&["Squeeze"], "axes", of_another_size),
    row(&["Unsqueeze"], "axes", outside_of_result),
    row(&["Unsqueeze"], "axes", twice),
];

const LENGTHS: &[Row] = &[
    row(&["Pad"], "pads", longer),
    row(&["Slice"], "starts", longer),
    row(&["Slice"], "ends", longer),
    row(&["Slice"], "axes", longer),
    row(&["Slice"], "steps", longer),
    row(&["Tile"], "repeats", longer),
    row(&["Tile"], "repeats", shorter),
];

const VALUES: &[Row] = &[
    row(&["Expand"], "shape", negative),
    row(&["Expand"], "shape", of_no_broadcast),
    row(&["OneHot"], "depth", negative),
    row(&["Pad"], "pads", cropping_more_than_there_is),
    row(&["Reshape"], "shape", negative),
    row(&["Reshape"], "shape", of_another_count),
    row(&["Reshape"], "shape", undetermined),
    row(&["Reshape"], "shape", of_no_axis),
    row(&["Slice"], "steps", |p| with_each(p, |_| 0)),
    row(&["Split"], "split", negative_in_sum),
    row(&["Split"], "split", |p| with_each(p, |size| size + 1)),
    row(&["Tile"], "repeats", negative),
    row(&["TopK"], "k", negative),
    row(&["TopK"], "k", more_than_there_are),
];

/// Changes a parameter that one of the rows is about.
fn contradict(site: &mut Site, rows: &[Row]) -> Option<Edit> {
    let mut places = Vec::new();
    for parameter in site.parameters() {
        let about = rows.iter().filter(|row| row.operators.contains(&parameter.spec.name));
        for row in about.filter(|row| row.name == parameter.name) {
            let wrong = (row.wrong)(&parameter);
            if !wrong.is_empty() {
                places.push((parameter.clone(), wrong));
            }
        }
    }
    let (parameter, wrong) = site.choose(places)?;
    let list = site.choose(wrong)?;
    let Parameter { node, position, .. } = parameter;
    let shape = if parameter.is_scalar { Vec::new() } else { vec![list.len() as i64] };
    let constant = Tensor::from_i128_fn(&Type::new(DType::I64, shape), |i| i128::from(list[i]));
    site.graph.initializer.push(tensor::to_proto(NEW, &constant));
    NEW.clone_into(&mut site.node(node).input[position]);
    let (name, was) = (parameter.name, &parameter.values);
    let what = format!(
        "operand {position} (`{name}`) of {} is {list:?} instead of {was:?}, and operand 0 is {}",
        site.label(node),
        parameter.x
    );
    Some(edit(site.graph.node[node].name(), what))
}

/// The list with one of its entries changed, for each.
fn with_each(p: &Parameter, to: impl Fn(i64) -> i64) -> Vec<Vec<i64>> {
    let changed = |i: usize| {
        let mut list = p.values.clone();
        list[i] = to(list[i]);
        list
    };
    (0..p.values.len()).map(changed).collect()
}

/// An axis just outside of a rank, at either end, in the place of one that is named.
fn outside_of(p: &Parameter, rank: usize) -> Vec<Vec<i64>> {
    let rank = rank as i64;
    [rank, -rank - 1].into_iter().flat_map(|axis| with_each(p, |_| axis)).collect()
}

fn outside(p: &Parameter) -> Vec<Vec<i64>> {
    outside_of(p, p.x.rank())
}

fn outside_of_result(p: &Parameter) -> Vec<Vec<i64>> {
    outside_of(p, p.x.rank() + p.values.len())
}

fn twice(p: &Parameter) -> Vec<Vec<i64>> {
    p.values.iter().map(|&axis| [&p.values[..], &[axis]].concat()).collect()
}

/// An axis whose size is not 1.
fn of_another_size(p: &Parameter) -> Vec<Vec<i64>> {
    let axes = (0..p.x.rank()).filter(|&axis| p.x.shape[axis] != 1);
    axes.flat_map(|axis| with_each(p, |_| axis as i64)).collect()
}

/// An entry more. It is 0, which is an axis, a start, an end and a number of copies, and 1 among steps, which must not be 0.
fn longer(p: &Parameter) -> Vec<Vec<i64>> {
    let entry = i64::from(p.name == "steps");
    vec![[&p.values[..], &[entry]].concat()]
}

fn shorter(p: &Parameter) -> Vec<Vec<i64>> {
    p.values.split_last().map(|(_, rest)| rest.to_vec()).into_iter().collect()
}

/// -2 in the place of an entry, as -1 has a meaning in a shape.
fn negative(p: &Parameter) -> Vec<Vec<i64>> {
    with_each(p, |_| -2)
}

/// Sizes of which one is below 0, while their sum stays.
fn negative_in_sum(p: &Parameter) -> Vec<Vec<i64>> {
    let (true, Some(&first)) = (p.values.len() > 1, p.values.first()) else { return Vec::new() };
    let mut list = p.values.clone();
    list[0] = -1;
    list[1] += first + 1;
    vec![list]
}

/// A size that is neither 1 nor the operand's, where that is not 1.
fn of_no_broadcast(p: &Parameter) -> Vec<Vec<i64>> {
    let sizes = p.values.iter().rev().zip(p.x.shape.iter().rev()).enumerate();
    let wrong = sizes.filter(|(_, (_, size))| **size != 1).map(|(from_end, (_, size))| {
        let mut list = p.values.clone();
        let at = list.len() - 1 - from_end;
        list[at] = if *size == 0 { 2 } else { size + 1 };
        list
    });
    wrong.collect()
}

/// One size, of one element more than there are.
fn of_another_count(p: &Parameter) -> Vec<Vec<i64>> {
    vec![vec![p.x.count() + 1]]
}

/// Sizes that do not follow: two are left open, or one beside a size of 0 that is meant as such.
fn undetermined(p: &Parameter) -> Vec<Vec<i64>> {
    let mut lists = vec![vec![-1, -1]];
    if p.attribute("allowzero") == Some(1) {
        lists.push(vec![0, -1]);
    }
    lists
}

/// The size of an axis that the operand lacks.
fn of_no_axis(p: &Parameter) -> Vec<Vec<i64>> {
    if p.attribute("allowzero") == Some(1) { Vec::new() } else { vec![vec![0; p.x.rank() + 1]] }
}

/// More elements taken away at the beginning of each axis than it has, and none added behind.
fn cropping_more_than_there_is(p: &Parameter) -> Vec<Vec<i64>> {
    let most = p.x.shape.iter().copied().max().unwrap_or(0);
    let axes = p.values.len() / 2;
    if axes == 0 {
        return Vec::new();
    }
    vec![[vec![-most - 1; axes], vec![0; axes]].concat()]
}

fn more_than_there_are(p: &Parameter) -> Vec<Vec<i64>> {
    let axis = ops::rule::axis(p.attribute("axis").unwrap_or(-1), p.x.rank());
    axis.map(|axis| vec![vec![p.x.shape[axis] + 1]]).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::static_slots;

    #[test]
    fn every_row_is_about_a_parameter_that_there_is() {
        for row in [AXES, LENGTHS, VALUES].into_iter().flatten() {
            for operator in row.operators {
                let spec = ops::find(operator).unwrap_or_else(|| panic!("there is no {operator}"));
                let slots = static_slots(spec, *ir::graph::OPSETS.end());
                assert!(slots.iter().any(|&(_, name, _)| name == row.name), "{operator}: {}", row.name);
            }
        }
    }
}
