//! Rules about the sizes of operands: what an operator asks of them besides broadcasting.
//!
//! A kernel that trusts a size reads beyond an operand that is smaller, or writes beyond a result that is. So sizes are made one
//! larger, of one operand alone: the others are then smaller than it says.

use ir::Type;

use super::site::{Edit, Site};
use super::{Checker, Rule, Scope, Source};
use crate::proto::NodeProto;

pub(super) const RULES: &[Rule] = &[Rule {
    name: "operand-size",
    clause: "an operand has the sizes that the operator asks for",
    scope: Scope::Operator,
    source: Source::Schemas,
    checker: Checker::Partly(
        "not for operators other than Det, Gemm, GridSample, MatMul, OneHot and mostly BatchNormalization",
    ),
    says: &["must equal", "must not exceed", "do not broadcast", "entries instead of"],
    edit: operand_size,
}];

/// An operand of some operators.
struct Row {
    operators: &'static [&'static str],
    /// Its port.
    port: usize,
    /// The axes along which one more element is wrong, whatever the other operands are.
    axes: fn(&NodeProto, &Type) -> Vec<usize>,
}

const fn row(
    operators: &'static [&'static str],
    port: usize,
    axes: fn(&NodeProto, &Type) -> Vec<usize>,
) -> Row {
    Row { operators, port, axes }
}

const ROWS: &[Row] = &[
    row(&["MatMul"], 0, |_, x| last(x)),
    row(&["MatMul"], 1, |_, x| vec![x.rank().saturating_sub(2)]),
    row(&["Gemm"], 0, |node, _| vec![usize::from(!is_set(node, "transA"))]),
    row(&["Gemm"], 1, |node, _| vec![usize::from(is_set(node, "transB"))]),
    row(&["Det"], 0, |_, x| last(x)),
    row(&["Conv"], 0, |_, _| vec![1]),
    row(&["Conv"], 1, |_, _| vec![1]),
    row(&["ConvTranspose"], 1, |_, _| vec![0]),
    row(&["Conv", "ConvTranspose"], 2, |_, _| vec![0]),
    row(&["BatchNormalization", "GroupNormalization", "InstanceNormalization"], 1, |_, _| vec![0]),
    row(&["BatchNormalization", "GroupNormalization", "InstanceNormalization"], 2, |_, _| vec![0]),
    row(&["BatchNormalization"], 3, |_, _| vec![0]),
    row(&["BatchNormalization"], 4, |_, _| vec![0]),
    row(&["LayerNormalization", "RMSNormalization"], 1, |_, x| wide(x)),
    row(&["LayerNormalization"], 2, |_, x| wide(x)),
    row(&["DepthToSpace"], 0, |node, _| if is_above_1(node, "blocksize") { vec![1] } else { Vec::new() }),
    row(&["SpaceToDepth"], 0, |node, _| if is_above_1(node, "blocksize") { vec![2, 3] } else { Vec::new() }),
    row(&["GridSample"], 1, |_, x| [vec![0], last(x)].concat()),
    row(&["OneHot"], 1, |_, _| vec![0]),
    row(&["ReverseSequence"], 1, |_, _| vec![0]),
    row(&["ScatterElements", "ScatterND"], 2, |_, x| (0..x.rank()).collect()),
    row(&["DequantizeLinear", "QuantizeLinear"], 2, |_, x| (0..x.rank()).collect()),
];

fn last(x: &Type) -> Vec<usize> {
    x.rank().checked_sub(1).into_iter().collect()
}

/// The axes of which the size is that of another operand: a size of 1 broadcasts.
fn wide(x: &Type) -> Vec<usize> {
    (0..x.rank()).filter(|&axis| x.shape[axis] > 1).collect()
}

fn integer(node: &NodeProto, name: &str) -> Option<i64> {
    node.attribute.iter().find(|a| a.name() == name)?.i
}

fn is_set(node: &NodeProto, name: &str) -> bool {
    integer(node, name).is_some_and(|value| value != 0)
}

fn is_above_1(node: &NodeProto, name: &str) -> bool {
    integer(node, name).is_some_and(|value| value > 1)
}

fn operand_size(site: &mut Site) -> Option<Edit> {
    let mut places = Vec::new();
    for (operand, spec) in site.operands() {
        let rows = ROWS.iter().filter(|r| r.port == operand.port && r.operators.contains(&spec.name));
        let ty = site.operand_type(operand)?;
        let axes = rows.flat_map(|row| (row.axes)(&site.graph.node[operand.node], ty));
        places.extend(axes.filter(|&axis| axis < ty.rank()).map(|axis| {
            let mut longer = ty.clone();
            longer.shape[axis] += 1;
            (operand, longer)
        }));
    }
    let (operand, ty) = site.choose(places)?;
    Some(site.retype(operand, &ty))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_about_an_operand_that_there_is() {
        for row in ROWS {
            for operator in row.operators {
                let spec = ops::find(operator).unwrap_or_else(|| panic!("there is no {operator}"));
                assert!(spec.port(row.port).is_some(), "{operator}: {}", row.port);
            }
        }
    }
}
