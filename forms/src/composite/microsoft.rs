//! Operators of ONNX Runtime's own domain, `com.microsoft`, which its optimiser and its tools for quantisation write.

pub(super) mod attention;

use ir::{DType, DTypes};

use super::Composite;
use super::integral::{BYTES, scale, scaled, zero};
use super::piece::Piece;

/// What fused products and activations take.
const FLOATS: DTypes = DTypes::of(&[DType::F16, DType::F32, DType::F64]);

/// What normalised sums and weights of few bits take.
const HALVES: DTypes = DTypes::of(&[DType::F16, DType::F32]);

const F32: DTypes = DTypes::of(&[DType::F32]);

const U8: DTypes = DTypes::of(&[DType::U8]);

pub(super) const ALL: &[Composite] = &[
    Composite::microsoft("BiasGelu", 20, FLOATS, |p| gelu(p, true)),
    Composite::microsoft("DynamicQuantizeMatMul", 13, F32, dynamic_quantize_mat_mul),
    Composite::microsoft("FastGelu", 20, FLOATS, |p| {
        let is_biased = p.chance(0.6);
        gelu(p, is_biased)
    }),
    Composite::microsoft("FusedConv", 13, FLOATS, fused_conv),
    Composite::microsoft("FusedGemm", 13, FLOATS, fused_gemm),
    Composite::microsoft("FusedMatMul", 13, FLOATS, fused_mat_mul),
    Composite::microsoft("GatherBlockQuantized", 21, U8, gather_block_quantized),
    Composite::microsoft("MatMulIntegerToFloat", 13, BYTES, mat_mul_integer_to_float),
    Composite::microsoft("MatMulNBits", 18, HALVES, mat_mul_n_bits),
    Composite::microsoft("QGemm", 13, BYTES, q_gemm),
    Composite::microsoft("QLinearAdd", 13, BYTES, q_linear_binary),
    Composite::microsoft("QLinearAveragePool", 13, BYTES, q_linear_average_pool),
    Composite::microsoft("QLinearConcat", 13, BYTES, q_linear_concat),
    Composite::microsoft("QLinearGlobalAveragePool", 13, BYTES, q_linear_global_average_pool),
    Composite::microsoft("QLinearLeakyRelu", 13, BYTES, q_linear_leaky_relu),
    Composite::microsoft("QLinearMul", 13, BYTES, q_linear_binary),
    Composite::microsoft("QLinearReduceMean", 13, BYTES, q_linear_reduce_mean),
    Composite::microsoft("QLinearSigmoid", 13, BYTES, q_linear_sigmoid),
    Composite::microsoft("QLinearSoftmax", 13, BYTES, q_linear_softmax),
    Composite::microsoft("QLinearWhere", 13, BYTES, q_linear_where),
    Composite::microsoft("QuickGelu", 13, FLOATS, quick_gelu),
    Composite::microsoft("SkipLayerNormalization", 17, HALVES, |p| skip_normalization(p, true)),
    Composite::microsoft("SkipSimplifiedLayerNormalization", 23, HALVES, |p| skip_normalization(p, false)),
];

fn gelu(p: &mut Piece<'_>, is_biased: bool) -> Option<()> {
    let dtype = p.dtype()?;
    let x = p.any(dtype, 1..=4);
    if is_biased {
        p.of(dtype, &x.shape[x.rank() - 1..]);
    }
    Some(())
}

fn quick_gelu(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    p.any(dtype, 1..=4);
    if p.chance(0.4) {
        let alpha = p.choose(&[1.0, 0.5, 2.0, -1.0])?;
        p.float("alpha", alpha);
    }
    Some(())
}

/// A product of matrices in a batch of one axis or two, of which an operand may lie otherwise.
fn fused_mat_mul(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let batch: Vec<i64> = (0..p.size(0..=2)).map(|_| p.size(1..=3)).collect();
    let (rows, inner, columns) = (p.size(1..=5), p.size(1..=9), p.size(1..=5));
    for (side, [first, second]) in [("A", [rows, inner]), ("B", [inner, columns])] {
        let mut matrix = [first, second];
        if p.flag(&format!("trans{side}")) {
            matrix.reverse();
        }
        let is_outside = !batch.is_empty() && p.chance(0.3);
        let shape = if is_outside {
            p.int(&format!("transBatch{side}"), 1);
            [&matrix[..1], &batch[..], &matrix[1..]].concat()
        } else {
            [&batch[..], &matrix[..]].concat()
        };
        p.of(dtype, &shape);
    }
    if p.chance(0.5) {
        let alpha = p.choose(&[0.5, 0.125, -1.0, 2.0])?;
        p.float("alpha", alpha);
    }
    Some(())
}

fn fused_conv(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (channels, filters, size, kernel) = (p.size(1..=4), p.size(1..=4), p.size(3..=6), p.size(1..=3));
    p.of(dtype, &[1, channels, size, size]);
    p.of(dtype, &[filters, channels, kernel, kernel]);
    let (pad, stride) = (p.size(0..=1), p.size(1..=2));
    p.perhaps(0.6, dtype, &[filters]);
    let out = (size + 2 * pad - kernel) / stride + 1;
    p.perhaps(0.4, dtype, &[1, filters, out, out]);
    p.ints("kernel_shape", &[kernel, kernel]);
    p.ints("pads", &[pad; 4]);
    p.ints("strides", &[stride, stride]);
    let (activation, parameters) = p.choose(&[COMMON, &[("Clip", &[-0.5, 1.0])]].concat())?;
    p.text("activation", activation);
    if !parameters.is_empty() {
        p.floats("activation_params", parameters);
    }
    Some(())
}

fn fused_gemm(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, inner, columns) = (p.size(1..=5), p.size(1..=9), p.size(1..=5));
    let a = if p.flag("transA") { [inner, rows] } else { [rows, inner] };
    let b = if p.flag("transB") { [columns, inner] } else { [inner, columns] };
    p.of(dtype, &a);
    p.of(dtype, &b);
    p.perhaps(0.6, dtype, &[columns]);
    for name in ["alpha", "beta"] {
        if p.chance(0.4) {
            p.float(name, 0.5);
        }
    }
    let behind_gemm: &[Activation] =
        &[("Elu", &[0.5]), ("Softplus", &[]), ("Softsign", &[]), ("ThresholdedRelu", &[0.5])];
    let (activation, parameters) = p.choose(&[COMMON, behind_gemm].concat())?;
    p.text("activation", activation);
    for (name, &number) in ["activation_alpha", "activation_beta"].into_iter().zip(parameters) {
        p.float(name, number);
    }
    Some(())
}

/// What a result goes through, with its numbers.
type Activation = (&'static str, &'static [f32]);

/// What the result of a convolution or a Gemm may go through.
const COMMON: &[Activation] = &[
    ("Relu", &[]),
    ("Sigmoid", &[]),
    ("Tanh", &[]),
    ("LeakyRelu", &[0.25]),
    ("HardSigmoid", &[0.25, 0.375]),
];

fn skip_normalization(p: &mut Piece<'_>, is_shifted: bool) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, length, width) = (p.size(1..=2), p.size(1..=3), p.size(2..=8));
    p.of(dtype, &[batch, length, width]);
    let is_shared = is_shifted && p.chance(0.3);
    p.of(dtype, &if is_shared { vec![length, width] } else { vec![batch, length, width] });
    p.of(dtype, &[width]);
    if is_shifted {
        p.perhaps(0.7, dtype, &[width]);
    }
    p.perhaps(0.4, dtype, &[width]);
    if p.chance(0.8) {
        p.float("epsilon", 1e-3);
    }
    Some(())
}

fn q_linear_binary(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let a = p.any(dtype, 1..=4);
    scaled_or_about_zero(p, dtype);
    let kept = p.size(0..=a.rank() as i64) as usize;
    p.of(dtype, &a.shape[kept..]);
    scaled_or_about_zero(p, dtype);
    scaled_or_about_zero(p, dtype);
    Some(())
}

/// A scale, and mostly a zero point: it is 0 where it is left out.
fn scaled_or_about_zero(p: &mut Piece<'_>, dtype: DType) {
    scale(p);
    if p.chance(0.9) {
        zero(p, dtype);
    } else {
        p.absent();
    }
}

/// A tensor with its scale and zero point, and those of the result.
fn q_linear(p: &mut Piece<'_>, dtype: DType, shape: &[i64]) {
    p.of(dtype, shape);
    scaled(p, dtype);
    scaled(p, dtype);
}

fn q_linear_sigmoid(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    p.any(dtype, 1..=4);
    scaled(p, dtype);
    let scale = p.choose(&[1.0 / 256.0, 1.0 / 256.0, 1.0 / 128.0, 0.0125])?;
    p.reals(DType::F32, &[], &[scale]);
    p.integers(dtype, &[], &[if dtype == DType::I8 { -128 } else { 0 }]);
    Some(())
}

fn q_linear_softmax(p: &mut Piece<'_>) -> Option<()> {
    q_linear_sigmoid(p)?;
    let opset = p.choose(&[12, 13])?;
    p.int("opset", opset);
    if p.chance(0.4) {
        p.int("axis", 0);
    }
    Some(())
}

fn q_linear_leaky_relu(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    p.any(dtype, 1..=4);
    scaled_or_about_zero(p, dtype);
    scaled_or_about_zero(p, dtype);
    p.float("alpha", 0.25);
    Some(())
}

fn q_linear_reduce_mean(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let x = p.any(dtype, 2..=4);
    scaled_or_about_zero(p, dtype);
    scaled_or_about_zero(p, dtype);
    let axis = p.size(0..=x.rank() as i64 - 1);
    p.ints("axes", &[axis]);
    p.flag_or("keepdims", 2);
    Some(())
}

/// The shape of an image, whose channels may come last.
fn image(p: &mut Piece<'_>, size: i64) -> [i64; 4] {
    let (batch, channels) = (p.size(1..=2), p.size(1..=5));
    if p.flag("channels_last") { [batch, size, size, channels] } else { [batch, channels, size, size] }
}

fn q_linear_global_average_pool(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let size = p.size(1..=5);
    let shape = image(p, size);
    q_linear(p, dtype, &shape);
    Some(())
}

fn q_linear_average_pool(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (size, kernel) = (p.size(3..=6), p.size(1..=3));
    let shape = image(p, size);
    q_linear(p, dtype, &shape);
    p.ints("kernel_shape", &[kernel, kernel]);
    if kernel > 1 && p.chance(0.5) {
        p.ints("pads", &[1, 0, 0, 1]);
        p.flag("count_include_pad");
    }
    if p.chance(0.3) {
        p.ints("strides", &[2, 1]);
    }
    Some(())
}

fn q_linear_concat(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    scaled(p, dtype);
    let (rows, axis) = (p.size(1..=4), p.size(0..=1));
    for _ in 0..p.size(1..=3) {
        let joined = p.size(1..=4);
        p.of(dtype, &if axis == 0 { [joined, rows] } else { [rows, joined] });
        scaled(p, dtype);
    }
    p.int("axis", axis);
    Some(())
}

fn q_linear_where(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, columns) = (p.size(1..=4), p.size(1..=4));
    p.of(DType::Bool, &[rows, 1]);
    p.of(dtype, &[rows, columns]);
    scaled(p, dtype);
    p.of(dtype, &[columns]);
    scaled(p, dtype);
    scaled(p, dtype);
    Some(())
}

fn q_gemm(p: &mut Piece<'_>) -> Option<()> {
    let a = p.dtype()?;
    let b = p.other_dtype(BYTES)?;
    let (rows, inner, columns) = (p.size(1..=4), p.size(1..=6), p.size(1..=4));
    let left = if p.flag("transA") { [inner, rows] } else { [rows, inner] };
    let right = if p.flag("transB") { [columns, inner] } else { [inner, columns] };
    p.of(a, &left);
    scaled(p, a);
    p.of(b, &right);
    scaled(p, b);
    p.perhaps(0.5, DType::I32, &[columns]);
    if p.chance(0.7) {
        scaled(p, a);
    }
    if p.chance(0.4) {
        p.float("alpha", 0.5);
    }
    Some(())
}

fn dynamic_quantize_mat_mul(p: &mut Piece<'_>) -> Option<()> {
    let (a, b) = (p.dtype()?, p.other_dtype(BYTES)?);
    let (rows, inner, columns) = (p.size(1..=4), p.size(1..=6), p.size(1..=4));
    p.of(a, &[rows, inner]);
    p.of(b, &[inner, columns]);
    scaled(p, b);
    p.perhaps(0.5, DType::F32, &[columns]);
    Some(())
}

fn mat_mul_integer_to_float(p: &mut Piece<'_>) -> Option<()> {
    let (a, b) = (p.dtype()?, p.other_dtype(BYTES)?);
    let (rows, inner, columns) = (p.size(1..=4), p.size(1..=6), p.size(1..=4));
    p.of(a, &[rows, inner]);
    p.of(b, &[inner, columns]);
    scale(p);
    scale(p);
    zero(p, a);
    zero(p, b);
    p.perhaps(0.5, DType::F32, &[columns]);
    Some(())
}

/// A matrix of 2, 4 or 8 bits in blocks of 16 or 32 rows.
fn mat_mul_n_bits(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (bits, block) = (p.choose(&[4, 4, 4, 8, 2])?, p.choose(&[16, 32])?);
    let (rows, inner, columns) = (p.size(1..=3), p.size(1..=48), p.size(1..=4));
    let blocks = (inner - 1) / block + 1;
    p.of(dtype, &[rows, inner]);
    let packed = [columns, blocks, block * bits / 8];
    let bytes: Vec<i64> = (0..packed.iter().product()).map(|_| p.size(0..=255)).collect();
    p.integers(DType::U8, &packed, &bytes);
    let scales: Vec<f64> = (0..columns * blocks).map(|_| p.size(1..=8191) as f64 / 65536.0).collect();
    p.reals(dtype, &[columns, blocks], &scales);
    if p.chance(0.5) {
        let packed = [columns, (blocks * bits + 7) / 8];
        let points: Vec<i64> = (0..packed.iter().product()).map(|_| p.size(0..=255)).collect();
        p.integers(DType::U8, &packed, &points);
    } else {
        p.absent();
    }
    // An order of the rows, which is out of use.
    p.absent();
    p.perhaps(0.3, dtype, &[columns]);
    for (name, number) in [("K", inner), ("N", columns), ("bits", bits), ("block_size", block)] {
        p.int(name, number);
    }
    if p.chance(0.3) {
        let level = p.size(0..=4);
        p.int("accuracy_level", level);
    }
    Some(())
}

/// Rows of a table of bytes, or of integers of four bits, each in blocks.
fn gather_block_quantized(p: &mut Piece<'_>) -> Option<()> {
    let scaled = p.other_dtype(HALVES)?;
    let stored = if p.chance(0.4) { p.choose(&[DType::U4, DType::I4])? } else { p.dtype()? };
    let (rows, inner, block) = (p.size(1..=4), p.size(1..=2) * 16 + p.choose(&[0, 8])?, 16);
    let blocks = (inner - 1) / block + 1;
    let bits = p.choose(&[4, 4, 8, 2])?;
    // How many numbers an element holds; along the last axis, which ends with a whole one.
    let held = if stored == DType::U8 { 8 / bits } else { 1 };
    let in_zeros = (blocks + held - 1) / held;
    let (least, most) = match stored {
        DType::U8 => (0, 255),
        DType::U4 => (0, 15),
        _ => (-8, 7),
    };
    let constant = |p: &mut Piece<'_>, shape: [i64; 2]| {
        let numbers: Vec<i64> = (0..shape[0] * shape[1]).map(|_| p.size(least..=most)).collect();
        p.integers(stored, &shape, &numbers);
    };
    constant(p, [rows, inner / held]);
    let indices = p.size(1..=4);
    let at: Vec<i64> = (0..indices).map(|_| p.size(-rows..=rows - 1)).collect();
    p.list(&at);
    let scales: Vec<f64> = (0..rows * blocks).map(|_| p.size(1..=8191) as f64 / 65536.0).collect();
    p.reals(scaled, &[rows, blocks], &scales);
    if p.chance(0.5) {
        constant(p, [rows, in_zeros]);
    }
    p.int("block_size", block);
    if stored == DType::U8 && bits != 4 {
        p.int("bits", bits);
    }
    Some(())
}
