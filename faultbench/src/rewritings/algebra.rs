//! Identities of mathematics that do not hold for tensors: for NaN, for integers, for more than the first element.

use ir::{DType, Tensor, Value};
use ops::Op;
use ops::arith::Comparison;
use ops::elementwise::{Binary, BinaryFn, Compare, Unary, UnaryFn};

use super::site::{Site, is_binary};
use super::{Pass, WrongRewriting};

pub(super) const FAULTS: &[WrongRewriting] = &[
    WrongRewriting {
        name: "difference-with-itself-is-zero",
        does: "takes x − x for 0, be it NaN or an infinity",
        source: Some("StanfordPL/stoke#904"),
        pass: Pass::Each(|s| of_itself(s, BinaryFn::Sub, 0)),
    },
    WrongRewriting {
        name: "quotient-with-itself-is-one",
        does: "takes x / x for 1, be it 0, NaN or an infinity",
        source: Some("rigetti/quil-rs#457"),
        pass: Pass::Each(|s| of_itself(s, BinaryFn::Div, 1)),
    },
    WrongRewriting {
        name: "neutral-constant-is-told-by-its-first-element",
        does: "drops what adds a constant that begins with 0, or multiplies by one that begins with 1",
        source: Some("microsoft/onnxruntime#27976"),
        pass: Pass::Each(neutral_by_first),
    },
    WrongRewriting {
        name: "exponent-is-told-by-its-first-element",
        does: "takes a power whose constant exponents begin with 1 or 2 for x or x·x",
        source: None,
        pass: Pass::Each(exponent_by_first),
    },
    WrongRewriting {
        name: "condition-is-told-by-its-first-element",
        does: "takes one operand of a Where for all elements if the first of a constant condition chooses it",
        source: None,
        pass: Pass::Each(condition_by_first),
    },
    WrongRewriting {
        name: "negated-comparison-forgets-equals",
        does: "takes the negation of a comparison for the opposite one, without equality",
        source: None,
        pass: Pass::Each(opposite_comparison),
    },
    WrongRewriting {
        name: "signs-of-signs-keep-the-outer-one",
        does: "drops the first of two of Neg, Abs, Sign and Relu after each other",
        source: None,
        pass: Pass::Each(outer_sign),
    },
    WrongRewriting {
        name: "negation-moves-into-and-and-or-as-they-are",
        does: "takes not (a and b) for (not a) and (not b), likewise or",
        source: None,
        pass: Pass::Each(negated_terms),
    },
    WrongRewriting {
        name: "division-by-a-constant-multiplies-by-its-integer-reciprocal",
        does: "divides integers by a constant by multiplying with 1 divided by it, an integer too",
        source: None,
        pass: Pass::Each(integer_reciprocal),
    },
    WrongRewriting {
        name: "subtraction-of-a-difference-is-taken-to-be-associative",
        does: "takes a − (b − c) for (a − b) − c",
        source: None,
        pass: Pass::Each(reassociated_difference),
    },
    WrongRewriting {
        name: "division-of-a-quotient-is-taken-to-be-associative",
        does: "takes (a / b) · c and (a · b) / c of integers for a · (b / c), whatever is rounded off",
        source: None,
        pass: Pass::Each(reassociated_quotient),
    },
];

fn of_itself(s: &mut Site<'_, '_>, function: BinaryFn, result: i128) -> Option<Value> {
    let is_it = is_binary(s.op, function) && s.operand(0)? == s.operand(1)?;
    is_it.then(|| s.put(Tensor::from_i128_fn(s.result(), |_| result)))
}

fn neutral_by_first(s: &mut Site<'_, '_>) -> Option<Value> {
    let (neutral, commutes) = match s.op {
        Op::Binary(Binary(BinaryFn::Add)) => (0.0, true),
        Op::Binary(Binary(BinaryFn::Sub)) => (0.0, false),
        Op::Binary(Binary(BinaryFn::Mul)) => (1.0, true),
        Op::Binary(Binary(BinaryFn::Div)) => (1.0, false),
        _ => return None,
    };
    let begins = |i: usize| s.constant(i).and_then(first) == Some(neutral);
    if begins(1) { s.x(0) } else { s.x(1).filter(|_| commutes && begins(0)) }
}

fn exponent_by_first(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Pow(_), exponent) = (s.op, s.constant(1)?) else { return None };
    let x = s.x(0)?;
    match first(exponent)? {
        1.0 => Some(x),
        2.0 => s.push(Binary(BinaryFn::Mul), &[x, x]),
        _ => None,
    }
}

fn condition_by_first(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Where(_), condition) = (s.op, s.constant(0)?) else { return None };
    s.x(if first(condition)? == 0.0 { 2 } else { 1 })
}

/// The first element of a tensor.
fn first(tensor: &Tensor) -> Option<f64> {
    tensor.to_f64s().first().copied()
}

fn opposite_comparison(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Unary(Unary(UnaryFn::Not)), inner) = (s.op, s.inner(0)?) else { return None };
    let Op::Compare(Compare(comparison)) = inner.op else { return None };
    let opposite = match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::Greater => Comparison::Less,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        Comparison::Equal => return None,
    };
    let (a, b) = (s.now(inner.operand(0)?)?, s.now(inner.operand(1)?)?);
    s.push(Compare(opposite), &[a, b])
}

fn outer_sign(s: &mut Site<'_, '_>) -> Option<Value> {
    let is_sign = |op: &Op| {
        let Op::Unary(Unary(f)) = op else { return false };
        matches!(f, UnaryFn::Neg | UnaryFn::Abs | UnaryFn::Sign | UnaryFn::Relu)
    };
    let inner = s.inner(0).filter(|inner| is_sign(s.op) && is_sign(inner.op))?;
    let x = s.now(inner.operand(0)?)?;
    s.push(s.op.clone(), &[x])
}

fn negated_terms(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Unary(Unary(UnaryFn::Not)), inner) = (s.op, s.inner(0)?) else { return None };
    if !is_binary(inner.op, BinaryFn::And) && !is_binary(inner.op, BinaryFn::Or) {
        return None;
    }
    let (a, b) = (s.now(inner.operand(0)?)?, s.now(inner.operand(1)?)?);
    let (a, b) = (s.push(Unary(UnaryFn::Not), &[a])?, s.push(Unary(UnaryFn::Not), &[b])?);
    s.push(inner.op.clone(), &[a, b])
}

fn integer_reciprocal(s: &mut Site<'_, '_>) -> Option<Value> {
    let divisor = s.constant(1).filter(|c| is_binary(s.op, BinaryFn::Div) && c.dtype().is_int())?;
    let divisors = divisor.to_i128s();
    let reciprocals = Tensor::from_i128_fn(&divisor.ty(), |i| 1i128.checked_div(divisors[i]).unwrap_or(0));
    let (x, reciprocals) = (s.x(0)?, s.put(reciprocals));
    s.push(Binary(BinaryFn::Mul), &[x, reciprocals])
}

fn reassociated_difference(s: &mut Site<'_, '_>) -> Option<Value> {
    let inner =
        s.inner(1).filter(|inner| is_binary(s.op, BinaryFn::Sub) && is_binary(inner.op, BinaryFn::Sub))?;
    let (a, b, c) = (s.x(0)?, s.now(inner.operand(0)?)?, s.now(inner.operand(1)?)?);
    let difference = s.push(Binary(BinaryFn::Sub), &[a, b])?;
    s.push(Binary(BinaryFn::Sub), &[difference, c])
}

fn reassociated_quotient(s: &mut Site<'_, '_>) -> Option<Value> {
    let (outer, inner) = (s.op, s.inner(0)?);
    let is_one = |outer_fn, inner_fn| is_binary(outer, outer_fn) && is_binary(inner.op, inner_fn);
    if !s.result().dtype.is_int() || s.result().dtype == DType::Bool {
        return None;
    }
    let (a, b, c) = (s.now(inner.operand(0)?)?, s.now(inner.operand(1)?)?, s.x(1)?);
    let (dividend, divisor) = if is_one(BinaryFn::Mul, BinaryFn::Div) {
        (c, b)
    } else if is_one(BinaryFn::Div, BinaryFn::Mul) {
        (b, c)
    } else {
        return None;
    };
    let quotient = s.push(Binary(BinaryFn::Div), &[dividend, divisor])?;
    s.push(Binary(BinaryFn::Mul), &[a, quotient])
}
