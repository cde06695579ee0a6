//! Kernels with a fault. Each is wrong in one way that implementations are wrong in, and right elsewhere.
//!
//! They are made of the right kernels: other attributes or operands go in, or other elements come out. `None` says
//! that the fault does not show on a node.

use backends::cpu::run_node;
use ir::{Tensor, Type};
use ops::Op;
use ops::elementwise::{Binary, BinaryFn, Compare, Mod, Unary, UnaryFn};
use ops::nn::{AveragePool, LayerNorm, MaxPool, Softmax, SoftmaxFn};
use ops::reduction::{Arg, ArgFn, CumSum, Reduce, ReduceFn};

/// What a kernel is given.
pub(crate) struct Node<'a> {
    pub(crate) op: &'a Op,
    pub(crate) inputs: &'a [Option<&'a Tensor>],
    pub(crate) outputs: &'a [Type],
}

/// What a wrong kernel gives.
type Outputs = Option<Vec<Tensor>>;

impl Node<'_> {
    fn input(&self, operand: usize) -> Option<&Tensor> {
        self.inputs.get(operand).copied().flatten()
    }

    /// The right outputs of another operator on the same operands.
    fn instead(&self, op: impl Into<Op>) -> Outputs {
        run_node(&op.into(), self.inputs, self.outputs).ok()
    }

    /// The right outputs on other operands.
    fn on(&self, inputs: &[Option<&Tensor>]) -> Outputs {
        run_node(self.op, inputs, self.outputs).ok()
    }

    /// The right outputs with another tensor as one of the operands.
    fn with(&self, operand: usize, tensor: &Tensor) -> Outputs {
        let mut inputs = self.inputs.to_vec();
        *inputs.get_mut(operand)? = Some(tensor);
        self.on(&inputs)
    }

    /// The right outputs.
    fn right(&self) -> Outputs {
        self.on(self.inputs)
    }
}

fn resolve(axis: i64, rank: usize) -> Option<usize> {
    axis.checked_rem_euclid(rank as i64).map(|a| a as usize)
}

/// The tensor whose slice `i` of the `n` along an axis is slice `from(i, n)` of another; zeros where there is none.
fn along(x: &Tensor, axis: usize, from: impl Fn(usize, usize) -> Option<usize>) -> Option<Tensor> {
    let n = *x.shape().get(axis)?;
    let slice = x.shape()[axis + 1..].iter().product::<usize>() * x.dtype().size();
    let bytes = x.to_bytes();
    let mut moved = Vec::with_capacity(bytes.len());
    if slice > 0 && n > 0 {
        for lane in bytes.chunks(slice * n) {
            for i in 0..n {
                match from(i, n) {
                    Some(j) => moved.extend_from_slice(&lane[j * slice..(j + 1) * slice]),
                    None => moved.resize(moved.len() + slice, 0),
                }
            }
        }
    }
    Tensor::from_bytes(&x.ty(), &moved).ok()
}

/// One of what each axis gets before it goes to its end instead.
pub(crate) fn pad_is_off_by_one(n: &Node<'_>) -> Outputs {
    let Op::Pad(pad) = n.op else { return None };
    let (mut pad, axes) = (pad.clone(), pad.pads.len() / 2);
    let (begins, ends) = pad.pads.split_at_mut(axes);
    for (begin, end) in begins.iter_mut().zip(ends).filter(|(begin, _)| **begin > 0) {
        *begin -= 1;
        *end += 1;
    }
    n.instead(pad)
}

pub(crate) fn gemm_forgets_the_addend(n: &Node<'_>) -> Outputs {
    let Op::Gemm(_) = n.op else { return None };
    n.on(&n.inputs[..2])
}

pub(crate) fn conv_forgets_the_bias(n: &Node<'_>) -> Outputs {
    let Op::Conv(_) = n.op else { return None };
    n.on(&n.inputs[..2])
}

pub(crate) fn round_takes_halves_away_from_zero(n: &Node<'_>) -> Outputs {
    let Op::Unary(Unary(UnaryFn::Round)) = n.op else { return None };
    let x = n.input(0)?.to_f64s();
    Some(vec![Tensor::from_f64_fn(&n.outputs[0], |i| x[i].round())])
}

pub(crate) fn mod_has_the_sign_of_the_dividend(n: &Node<'_>) -> Outputs {
    let Op::Mod(_) = n.op else { return None };
    n.instead(Mod { fmod: true })
}

pub(crate) fn softmax_takes_the_wrong_axis(n: &Node<'_>) -> Outputs {
    let &Op::Softmax(Softmax { function: SoftmaxFn::Softmax, axis }) = n.op else { return None };
    let rank = n.input(0)?.shape().len();
    n.instead(Softmax { function: SoftmaxFn::Softmax, axis: resolve(axis + 1, rank)? as i64 })
}

/// The operand's position is not advanced from row to row.
pub(crate) fn add_repeats_the_first_row(n: &Node<'_>) -> Outputs {
    let Op::Binary(Binary(BinaryFn::Add)) = n.op else { return None };
    n.with(1, &along(n.input(1)?, 0, |_, _| Some(0))?)
}

pub(crate) fn reduce_sum_drops_the_last_element(n: &Node<'_>) -> Outputs {
    let Op::Reduce(Reduce { function: ReduceFn::Sum, axes, noop_with_empty_axes, .. }) = n.op else {
        return None;
    };
    let x = n.input(0)?;
    let axis = match axes.as_deref() {
        Some([first, ..]) => resolve(*first, x.shape().len())?,
        _ if *noop_with_empty_axes => return None,
        _ => 0,
    };
    n.with(0, &along(x, axis, |i, size| (i + 1 < size).then_some(i))?)
}

pub(crate) fn cast_rounds_to_nearest(n: &Node<'_>) -> Outputs {
    let (Op::Cast(_), x) = (n.op, n.input(0)?) else { return None };
    if !x.dtype().is_float() || !n.outputs[0].dtype.is_int() {
        return None;
    }
    let rounded = run_node(&Unary(UnaryFn::Round).into(), n.inputs, &[x.ty()]).ok()?;
    n.with(0, rounded.first()?)
}

pub(crate) fn slice_backward_is_off_by_one(n: &Node<'_>) -> Outputs {
    let Op::Slice(slice) = n.op else { return None };
    let backward = slice.steps.as_ref()?.iter().position(|&step| step < 0)?;
    let axis = slice.axes.as_ref().map_or(backward as i64, |axes| axes[backward]);
    let y = n.right()?;
    let axis = resolve(axis, y[0].shape().len())?;
    Some(vec![along(&y[0], axis, |i, size| Some((i + 1).min(size - 1)))?])
}

pub(crate) fn gather_does_not_wrap_negative_indices(n: &Node<'_>) -> Outputs {
    let Op::Gather(_) = n.op else { return None };
    let indices = n.input(1)?;
    let at = indices.to_i128s();
    n.with(1, &Tensor::from_i128_fn(&indices.ty(), |i| at[i].max(0)))
}

pub(crate) fn max_pool_exchanges_its_pads(n: &Node<'_>) -> Outputs {
    let Op::MaxPool(pool) = n.op else { return None };
    let mut pool: MaxPool = pool.clone();
    let half = pool.window.pads.len() / 2;
    pool.window.pads.rotate_left(half);
    n.instead(pool)
}

pub(crate) fn max_pool_ignores_dilations(n: &Node<'_>) -> Outputs {
    let Op::MaxPool(pool) = n.op else { return None };
    let mut pool: MaxPool = pool.clone();
    pool.window.dilations.fill(1);
    n.instead(pool)
}

pub(crate) fn layer_norm_forgets_epsilon(n: &Node<'_>) -> Outputs {
    let &Op::LayerNorm(norm) = n.op else { return None };
    n.instead(LayerNorm { epsilon: 0.0, ..norm })
}

pub(crate) fn batch_norm_exchanges_mean_and_variance(n: &Node<'_>) -> Outputs {
    let (Op::BatchNorm(_), &[x, scale, bias, mean, variance]) = (n.op, n.inputs) else { return None };
    n.on(&[x, scale, bias, variance, mean])
}

/// ONNX says that max wins where min is larger.
pub(crate) fn clip_takes_min_last(n: &Node<'_>) -> Outputs {
    let Op::Clip(_) = n.op else { return None };
    let (low, high) = (n.input(1)?, n.input(2)?);
    if low.to_f64s() <= high.to_f64s() {
        return None;
    }
    n.on(&[n.input(0), Some(low), Some(low)])
}

pub(crate) fn concat_reverses_its_operands(n: &Node<'_>) -> Outputs {
    let Op::Concat(_) = n.op else { return None };
    let reversed: Vec<_> = n.inputs.iter().rev().copied().collect();
    n.on(&reversed)
}

/// The shape changes, the elements stay where they are.
pub(crate) fn transpose_copies(n: &Node<'_>) -> Outputs {
    let Op::Transpose(_) = n.op else { return None };
    Some(vec![Tensor::from_bytes(&n.outputs[0], &n.input(0)?.to_bytes()).ok()?])
}

pub(crate) fn arg_max_takes_the_last_of_equals(n: &Node<'_>) -> Outputs {
    let &Op::Arg(arg @ Arg { function: ArgFn::Max, .. }) = n.op else { return None };
    n.instead(Arg { select_last_index: true, ..arg })
}

pub(crate) fn cum_sum_ignores_exclusive(n: &Node<'_>) -> Outputs {
    let &Op::CumSum(sum) = n.op else { return None };
    n.instead(CumSum { exclusive: false, ..sum })
}

pub(crate) fn average_pool_counts_padding(n: &Node<'_>) -> Outputs {
    let Op::AveragePool(pool) = n.op else { return None };
    n.instead(AveragePool { count_include_pad: true, ..pool.clone() })
}

pub(crate) fn less_holds_for_equals(n: &Node<'_>) -> Outputs {
    let Op::Compare(Compare(ops::arith::Comparison::Less)) = n.op else { return None };
    n.instead(Compare(ops::arith::Comparison::LessOrEqual))
}
