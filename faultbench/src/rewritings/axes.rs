//! Axes: what moves them is dropped, composed or moved past others wrongly; layouts that are changed in part.

use ir::Value;
use ops::Op;
use ops::movement::{Reshape, Slice, Transpose};
use ops::nn::window::Window;
use ops::nn::{AveragePool, Conv, LpPool, MaxPool, Pooling};

use super::site::Site;
use super::{Pass, WrongRewriting};

pub(super) const FAULTS: &[WrongRewriting] = &[
    WrongRewriting {
        name: "transpose-that-keeps-the-shape-is-dropped",
        does: "takes a Transpose whose result has the operand's shape for one that does nothing",
        source: None,
        pass: Pass::Each(|s| if let Op::Transpose(_) = s.op { s.x(0) } else { None }),
    },
    WrongRewriting {
        name: "transposes-are-composed-in-the-wrong-order",
        does: "makes two Transposes into one by the second permutation, then the first",
        source: None,
        pass: Pass::Each(composed_transposes),
    },
    WrongRewriting {
        name: "transpose-moves-behind-an-axis-that-is-not-mapped",
        does: "moves a Transpose behind an operator along an axis, which keeps its number",
        source: None,
        pass: Pass::Each(transpose_behind_axis),
    },
    WrongRewriting {
        name: "transpose-moves-behind-arithmetic-with-another-operand",
        does: "moves a Transpose behind an operator of two operands without permuting the other one",
        source: Some("apple/coremltools#2784"),
        pass: Pass::Each(transpose_behind_arithmetic),
    },
    WrongRewriting {
        name: "reshape-swallows-a-transpose",
        does: "drops a Transpose before a change of shape",
        source: None,
        pass: Pass::Each(reshape_swallows),
    },
    WrongRewriting {
        name: "movement-that-keeps-the-shape-is-dropped",
        does: "takes a Slice, Pad, Gather or reversal whose result has the operand's shape for one that does nothing",
        source: None,
        pass: Pass::Each(kept_shape),
    },
    WrongRewriting {
        name: "slice-of-a-slice-forgets-the-first-start",
        does: "makes two Slices into one that starts where the second says",
        source: None,
        pass: Pass::Each(slice_of_slice),
    },
    WrongRewriting {
        name: "windows-are-turned-with-the-layout",
        does: "changes the layout and takes strides, dilations and pads for those of the spatial axes in reverse",
        source: None,
        pass: Pass::Each(turned_window),
    },
    WrongRewriting {
        name: "concat-of-a-concat-puts-the-inner-operands-last",
        does: "makes two Concats along one axis into one, the operands of the inner one behind the others",
        source: None,
        pass: Pass::Each(flat_concat),
    },
];

/// The permutation of a Transpose of so many axes.
fn permutation(op: &Op, rank: usize) -> Option<Vec<i64>> {
    let Op::Transpose(Transpose { perm }) = op else { return None };
    Some(perm.clone().unwrap_or_else(|| (0..rank as i64).rev().collect()))
}

fn composed_transposes(s: &mut Site<'_, '_>) -> Option<Value> {
    let (rank, inner) = (s.result().shape.len(), s.inner(0)?);
    let (first, second) = (permutation(inner.op, rank)?, permutation(s.op, rank)?);
    let at = |perm: &[i64], axis: i64| perm.get(axis as usize).copied();
    let wrong: Vec<i64> = first.iter().map(|&axis| at(&second, axis)).collect::<Option<_>>()?;
    let right: Vec<i64> = second.iter().map(|&axis| at(&first, axis)).collect::<Option<_>>()?;
    let x = s.now(inner.operand(0)?)?;
    if wrong == right {
        return None;
    }
    s.push(Transpose { perm: Some(wrong) }, &[x])
}

fn transpose_behind_axis(s: &mut Site<'_, '_>) -> Option<Value> {
    let has_axis =
        matches!(s.op, Op::Softmax(_) | Op::Cumulative(_) | Op::LpNorm(_) | Op::Reduce(_) | Op::Arg(_));
    let inner = s.inner(0).filter(|inner| has_axis && matches!(inner.op, Op::Transpose(_)))?;
    let x = s.now(inner.operand(0)?)?;
    let result = s.push(s.op.clone(), &[x])?;
    s.push(inner.op.clone(), &[result])
}

fn transpose_behind_arithmetic(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Binary(_) | Op::Pow(_) | Op::Compare(_)) = s.op else { return None };
    let inner = s.inner(0).filter(|inner| matches!(inner.op, Op::Transpose(_)))?;
    // One number is the same in any order.
    if s.operand_ty(1)?.count() == 1 {
        return None;
    }
    let (x, other) = (s.now(inner.operand(0)?)?, s.x(1)?);
    let result = s.push(s.op.clone(), &[x, other])?;
    s.push(inner.op.clone(), &[result])
}

fn reshape_swallows(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Reshape(_) | Op::Flatten(_) | Op::Squeeze(_) | Op::Unsqueeze(_)) = s.op else { return None };
    let inner = s.inner(0).filter(|inner| matches!(inner.op, Op::Transpose(_)))?;
    let (x, shape) = (s.now(inner.operand(0)?)?, s.result().shape.clone());
    s.push(Reshape { shape, allowzero: true }, &[x])
}

fn kept_shape(s: &mut Site<'_, '_>) -> Option<Value> {
    match s.op {
        Op::Slice(_) | Op::Pad(_) | Op::Gather(_) | Op::GatherElements(_) | Op::ReverseSequence(_) => s.x(0),
        _ => None,
    }
}

fn slice_of_slice(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Slice(second), inner) = (s.op, s.inner(0)?) else { return None };
    let Op::Slice(first) = inner.op else { return None };
    let is_plain = |slice: &Slice| slice.steps.iter().flatten().all(|&step| step == 1);
    let is_counted = |slice: &Slice| slice.starts.iter().all(|&start| start >= 0);
    if !(is_plain(first) && is_plain(second) && is_counted(second)) {
        return None;
    }
    // The first Slice's axes that the second one leaves alone begin at 0.
    let rank = s.result().shape.len();
    let mut starts = vec![0; rank];
    for (entry, &start) in second.starts.iter().enumerate() {
        let axis = second.axes.as_ref().map_or(Some(entry as i64), |axes| axes.get(entry).copied())?;
        *starts.get_mut(axis.rem_euclid(rank.max(1) as i64) as usize)? = start;
    }
    let ends = starts.iter().zip(s.result().shape.iter()).map(|(start, size)| start + size).collect();
    let x = s.now(inner.operand(0)?)?;
    s.push(Slice { starts, ends, axes: None, steps: None }, &[x])
}

fn turned_window(s: &mut Site<'_, '_>) -> Option<Value> {
    let turned_pool = |pool: &Pooling| Pooling { window: turned(&pool.window), ..pool.clone() };
    let op: Op = match s.op.clone() {
        Op::Conv(op) => Conv { window: turned(&op.window), ..op }.into(),
        Op::MaxPool(op) => MaxPool { pool: turned_pool(&op.pool), ..op }.into(),
        Op::AveragePool(op) => AveragePool { pool: turned_pool(&op.pool), ..op }.into(),
        Op::LpPool(op) => LpPool { pool: turned_pool(&op.pool), ..op }.into(),
        _ => return None,
    };
    if op == *s.op {
        return None;
    }
    let operands = s.all_now(s.operands())?;
    s.push_some(&op, &operands)
}

/// The window with its spatial axes in reverse.
fn turned(window: &Window) -> Window {
    let mut window = window.clone();
    let half = window.pads.len() / 2;
    window.strides.reverse();
    window.dilations.reverse();
    window.pads[..half].reverse();
    window.pads[half..].reverse();
    window
}

fn flat_concat(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Concat(_), place) =
        (s.op, (0..s.operands().len()).find(|&i| s.inner(i).is_some_and(|inner| inner.op == s.op))?)
    else {
        return None;
    };
    let inner = s.inner(place)?;
    let mut operands = s.all_now(s.operands())?;
    operands.remove(place);
    operands.extend(s.all_now(inner.operands)?);
    s.push_some(s.op, &operands)
}
