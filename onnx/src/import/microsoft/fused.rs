//! Products, convolutions and sums together with what follows them, as ONNX Runtime's optimiser fuses them.

use ir::{Attributes, Value};

use super::super::activation::{self, Activation, Is};
use super::super::frame::Bound;
use super::super::given::GivenAttributes;
use super::super::translation::{SourceNode, Translation, bind};
use super::super::walk::Walk;
use super::{floats, shared, tensors};
use crate::Error;

pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "BiasGelu" | "Gelu" => Some(|walk, source| gelu(walk, source, exact)),
        "FastGelu" => Some(|walk, source| gelu(walk, source, fast)),
        "FusedConv" => Some(conv),
        "FusedGemm" => Some(gemm),
        "FusedMatMul" | "TransposeMatMul" => Some(matmul),
        "QuickGelu" => Some(quick_gelu),
        _ => None,
    }
}

/// Gelu of X, or of X + bias.
fn gelu<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>, formula: Formula) -> Result<(), Error> {
    GivenAttributes::of(source).finish()?;
    let operands = tensors::<2>(walk, source)?;
    let mut x = floats(walk, &operands, 0)?;
    if let Some(bias) = operands[1] {
        x = walk.op("Add", &[x, bias])?;
    }
    let y = formula(walk, x)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// What makes Gelu of a value.
type Formula = fn(&mut Walk<'_, '_>, Value) -> Result<Value, Error>;

fn exact(walk: &mut Walk<'_, '_>, x: Value) -> Result<Value, Error> {
    walk.op("Gelu", &[x])
}

/// ½·X·(1 + tanh(√(2/π)·(X + 0.044715·X³))), where the description has 0.797885·X + 0.035677·X³. These are the same
/// constants in fewer digits, and near −3 the results differ by some 1e-5 of theirs: whatever these digits stand for is
/// right.
fn fast(walk: &mut Walk<'_, '_>, x: Value) -> Result<Value, Error> {
    let y = walk.op_with("Gelu", &Attributes::new().name("approximate", "tanh"), &[x])?;
    let least = by_tanh(walk, x, [0.797_884_5, 0.035_676_5])?;
    let most = by_tanh(walk, x, [0.797_885_5, 0.035_677_5])?;
    let y = walk.between(y, least)?;
    walk.between(y, most)
}

/// ½·X·(1 + tanh(a·X + b·X³)).
fn by_tanh(walk: &mut Walk<'_, '_>, x: Value, [a, b]: [f64; 2]) -> Result<Value, Error> {
    let dtype = walk.ty(x).dtype;
    let [a, b, one, half] = [a, b, 1.0, 0.5].map(|number| walk.real(dtype, number));
    let square = walk.op("Mul", &[x, x])?;
    let cube = walk.op("Mul", &[square, x])?;
    let (linear, cubic) = (walk.op("Mul", &[x, a?])?, walk.op("Mul", &[cube, b?])?);
    let sum = walk.op("Add", &[linear, cubic])?;
    let tanh = walk.op("Tanh", &[sum])?;
    let gate = walk.op("Add", &[tanh, one?])?;
    let halved = walk.op("Mul", &[x, half?])?;
    walk.op("Mul", &[halved, gate])
}

/// X · Sigmoid(α·X).
fn quick_gelu<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let alpha = given.float("alpha").unwrap_or(1.702);
    given.finish()?;
    let operands = tensors::<1>(walk, source)?;
    let x = floats(walk, &operands, 0)?;
    let scaled = times(walk, x, alpha)?;
    let gate = walk.op("Sigmoid", &[scaled])?;
    let y = walk.op("Mul", &[x, gate])?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// α·A′·B′, where an operand may be transposed before: its last two axes, its first axis behind those of the batch, or both.
fn matmul<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let alpha = given.float("alpha").unwrap_or(1.0);
    let turns = ["A", "B"].map(|side| {
        let is = |name: &str| given.int(&format!("{name}{side}"), 0) != 0;
        Turn { matrix: is("trans"), batch: is("transBatch") }
    });
    given.finish()?;
    let operands = tensors::<2>(walk, source)?;
    let a = turns[0].applied(walk, floats(walk, &operands, 0)?)?;
    let b = turns[1].applied(walk, floats(walk, &operands, 1)?)?;
    let product = walk.op("MatMul", &[a, b])?;
    let y = times(walk, product, alpha)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// How an operand is transposed.
#[derive(Clone, Copy)]
struct Turn {
    /// Whether its last two axes are.
    matrix: bool,
    /// Whether its first axis goes behind those of the batch.
    batch: bool,
}

impl Turn {
    fn applied(self, walk: &mut Walk<'_, '_>, x: Value) -> Result<Value, Error> {
        let rank = walk.ty(x).rank();
        let mut order: Vec<i64> = (0..rank as i64).collect();
        if rank >= 2 {
            if self.batch {
                order[..rank - 1].rotate_left(1);
            }
            if self.matrix {
                order.swap(rank - 2, rank - 1);
            }
        }
        if order.is_sorted() { Ok(x) } else { walk.transposed(x, &order) }
    }
}

/// The activation of a convolution, X ∗ W + B + Z.
fn conv<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    const OWN: [&str; 6] = ["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];
    let given = GivenAttributes::of(source);
    let shared = shared(walk, source, &given, &OWN)?;
    let (activation, parameters) = (given.text("activation", ""), given.floats("activation_params"));
    given.finish()?;
    let operands = tensors::<4>(walk, source)?;
    let mut factors = vec![floats(walk, &operands, 0)?, floats(walk, &operands, 1)?];
    factors.extend(operands[2]);
    let mut sum = walk.op_with("Conv", &shared, &factors)?;
    if let Some(other) = operands[3] {
        sum = walk.op("Add", &[sum, other])?;
    }
    let y = activated(walk, sum, &AFTER_CONV, &activation, parameters)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The activation of a Gemm.
fn gemm<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    const OWN: [&str; 4] = ["alpha", "beta", "transA", "transB"];
    let given = GivenAttributes::of(source);
    let shared = shared(walk, source, &given, &OWN)?;
    let activation = given.text("activation", "");
    let names = ["activation_alpha", "activation_beta", "activation_gamma"];
    let parameters: Vec<f32> = names.into_iter().map_while(|name| given.float(name)).collect();
    given.finish()?;
    let operands = tensors::<3>(walk, source)?;
    let mut factors = vec![floats(walk, &operands, 0)?, floats(walk, &operands, 1)?];
    factors.extend(operands[2]);
    let sum = walk.op_with("Gemm", &shared, &factors)?;
    let y = activated(walk, sum, &AFTER_GEMM, &activation, &parameters)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The activations that ONNX Runtime has after a convolution. Its description of the operator names none; it refuses all others.
const AFTER_CONV: [&str; 6] = ["Clip", "HardSigmoid", "LeakyRelu", "Relu", "Sigmoid", "Tanh"];

/// Those that it has after a Gemm.
const AFTER_GEMM: [&str; 9] =
    ["Elu", "HardSigmoid", "LeakyRelu", "Relu", "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"];

/// What an activation, one of some, makes of a value: an operator of ONNX with the attributes that it has, in their order.
fn activated(
    walk: &mut Walk<'_, '_>,
    x: Value,
    all: &[&str],
    name: &str,
    parameters: &[f32],
) -> Result<Value, Error> {
    if name.is_empty() {
        return Ok(x);
    }
    let is_operator = |activation: &&Activation| matches!(activation.is, Is::Operator | Is::Threshold);
    let known = activation::find(|other| other == name).filter(is_operator);
    let activation = match (all.contains(&name), known) {
        (true, None) => return clipped(walk, x, parameters),
        (true, Some(activation)) => activation,
        (false, _) => {
            let why = format!("after this operator there are {}", all.join(", "));
            return Err(Error::unsupported(format!("activation {name}"), why));
        }
    };
    let [alpha, beta] = [parameters.get(..1), parameters.get(1..)].map(Option::unwrap_or_default);
    activation.with(&mut alpha.iter().copied(), &mut beta.iter().copied()).apply(walk, x)
}

/// A value between two bounds.
fn clipped(walk: &mut Walk<'_, '_>, x: Value, bounds: &[f32]) -> Result<Value, Error> {
    let &[least, most] = bounds else {
        return Err(Error::invalid("attribute `activation_params`", "Clip has two"));
    };
    let dtype = walk.ty(x).dtype;
    let [least, most] = [least, most].map(|bound| walk.real(dtype, bound.into()));
    walk.op("Clip", &[x, least?, most?])
}

/// A value times a number.
fn times(walk: &mut Walk<'_, '_>, x: Value, factor: f32) -> Result<Value, Error> {
    if factor == 1.0 {
        return Ok(x);
    }
    let dtype = walk.ty(x).dtype;
    let factor = walk.real(dtype, factor.into())?;
    walk.op("Mul", &[x, factor])
}
