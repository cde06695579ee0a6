//! Sums before products: what an axis that other operands lack is to implementations.
//!
//! `k,i->k` is Σᵢ aₖ·bᵢ by the text, and aₖ·Σᵢ bᵢ in NumPy, ONNX's evaluator, ONNX Runtime and OpenVINO. They part
//! where a sum overflows or cancels, and at infinities: ∞·1 + ∞·−0.5 is NaN, ∞·0.5 is not.

use ir::Type;
use ndarray::{ArrayD, Slice};

use super::{Axis, Walk, own_lengths};
use crate::arith::Arith;
use crate::lanes;

/// The sizes that the axes which are summed have in each operand: 1 in those that repeat along them.
pub(super) struct Early {
    lengths: Vec<Vec<usize>>,
}

impl Early {
    /// `None` where every operand has all: then there is nothing to sum before the products.
    pub(super) fn of(walk: &Walk, types: &[&Type]) -> Option<Self> {
        let of_operand = |(axes, ty): (&Vec<Axis>, &&Type)| own_lengths(axes, &ty.extents(), walk);
        let lengths: Vec<Vec<usize>> = walk.operands.iter().zip(types).map(of_operand).collect();
        let all = || walk.axes[walk.kept..].iter().map(|&(_, size)| size);
        let is_lacking = lengths.iter().any(|lengths| !lengths.iter().copied().eq(all()));
        (lengths.len() > 1 && is_lacking).then_some(Self { lengths })
    }

    /// The sum for an element of the result, from the elements that each operand has for it. The first operand is
    /// multiplied by the next, and so on; or from the last one back. An axis is summed as soon as no operand is left
    /// that has it.
    pub(super) fn sum<A: Arith>(&self, a: &A, elements: Vec<Vec<A::R>>) -> A::R {
        let operands: Vec<ArrayD<A::R>> = elements
            .into_iter()
            .zip(&self.lengths)
            .map(|(items, shape)| lanes::array(shape, items))
            .collect();
        let forth = in_turn(a, operands.iter());
        if operands.len() == 2 { forth } else { a.either(forth, || in_turn(a, operands.iter().rev())) }
    }
}

fn in_turn<'x, A: Arith<R: 'x>>(a: &A, operands: impl Iterator<Item = &'x ArrayD<A::R>> + Clone) -> A::R {
    let mut rest = operands;
    let mut product: Option<ArrayD<A::R>> = None;
    while let Some(next) = rest.next() {
        let is_left = |axis: usize| rest.clone().any(|x| x.shape()[axis] != 1);
        let is_met = |axis: usize| product.as_ref().is_some_and(|x| x.shape()[axis] != 1);
        let next = summed(a, next, |axis| !is_left(axis) && !is_met(axis));
        let all = match &product {
            None => next,
            Some(product) => summed(a, &multiplied(a, product, &next), |axis| !is_left(axis)),
        };
        product = Some(all);
    }
    product.and_then(|x| x.first().copied()).unwrap_or_else(|| a.real(0.0))
}

/// Summed over some of the axes, which have one place then.
fn summed<A: Arith>(a: &A, x: &ArrayD<A::R>, is_over: impl Fn(usize) -> bool) -> ArrayD<A::R> {
    let shape: Vec<usize> =
        x.shape().iter().enumerate().map(|(axis, &size)| if is_over(axis) { 1 } else { size }).collect();
    lanes::build(&shape, |at| {
        let lane = x.slice_each_axis(|axis| {
            let axis = axis.axis.index();
            if is_over(axis) { Slice::from(..) } else { Slice::from(at[axis]..=at[axis]) }
        });
        a.sum(lane.iter().copied())
    })
}

fn multiplied<A: Arith>(a: &A, x: &ArrayD<A::R>, y: &ArrayD<A::R>) -> ArrayD<A::R> {
    let shape: Vec<usize> =
        x.shape().iter().zip(y.shape()).map(|(&x, &y)| if x == 1 { y } else { x }).collect();
    let (x, y) = (lanes::broadcast(x, &shape), lanes::broadcast(y, &shape));
    let products = x.iter().zip(y.iter()).map(|(&x, &y)| a.mul(x, y)).collect();
    lanes::array(&shape, products)
}
