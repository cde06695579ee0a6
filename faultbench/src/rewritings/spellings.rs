//! Ways to write a node that mean the same, taken for different things: an attribute of which nothing is said, an
//! operand that is listed by the empty name.

use ir::graph::OPSETS;
use ir::{Attribute, Operation, Tensor, Type, Value};
use ops::Op;

use super::site::Site;
use super::{Pass, WrongRewriting};

pub(super) const FAULTS: &[WrongRewriting] = &[
    WrongRewriting {
        name: "axis-that-is-left-out-is-the-first",
        does: "takes an axis of which nothing is said for 0, whatever its default is",
        source: None,
        pass: Pass::Each(first_axis),
    },
    WrongRewriting {
        name: "operand-with-the-empty-name-is-zero",
        does: "reads an operand at the end that has the empty name as the number 0",
        source: None,
        pass: Pass::Each(zero_operand),
    },
];

fn first_axis(s: &mut Site<'_, '_>) -> Option<Value> {
    if !s.spelling().is_terse || !s.op.left_out(*OPSETS.end()).contains(&"axis") {
        return None;
    }
    let mut attributes = Operation::attributes(s.op);
    attributes.set("axis", Attribute::Int(0));
    let op = Op::from_attributes(s.op.spec(), &attributes).ok().filter(|op| op != s.op)?;
    let operands = s.all_now(s.operands())?;
    s.push_some(&op, &operands)
}

fn zero_operand(s: &mut Site<'_, '_>) -> Option<Value> {
    if s.spelling().unnamed.operands == 0 {
        return None;
    }
    let number = Type::new(s.operand_ty(0)?.dtype, []);
    let mut operands = s.all_now(s.operands())?;
    operands.push(Some(s.put(Tensor::zeros(&number))));
    s.push_some(s.op, &operands)
}
