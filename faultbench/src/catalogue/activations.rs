//! Functions of one element.

use ir::DType;
use ir::round::round_to;
use ops::Op;
use ops::elementwise::{Activation, ActivationFn, Gelu};

use crate::PlantedFault;
use crate::node::{Node, Outputs, keep_bits};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "relu-swallows-nan",
        operator: "Relu",
        does: "turns NaN into 0",
        source: None,
        kernel: |n| n.map(|x| if x > 0.0 { x } else { 0.0 }),
    },
    PlantedFault {
        name: "neg-subtracts-from-zero",
        operator: "Neg",
        does: "is 0 − x, so −0 never comes out",
        source: None,
        kernel: |n| n.map(|x| 0.0 - x),
    },
    PlantedFault {
        name: "sign-of-zero",
        operator: "Sign",
        does: "takes 0 for positive",
        source: None,
        kernel: |n| n.edited_from(|x, right| if x == 0.0 { 1.0 } else { right }),
    },
    PlantedFault {
        name: "abs-of-integers-through-f32",
        operator: "Abs",
        does: "takes integers through f32",
        source: None,
        kernel: |n| n.through(DType::F32, &[DType::I32, DType::I64]),
    },
    PlantedFault {
        name: "floor-truncates",
        operator: "Floor",
        does: "rounds towards zero",
        source: None,
        kernel: |n| n.map(f64::trunc),
    },
    PlantedFault {
        name: "ceil-adds-one",
        operator: "Ceil",
        does: "is floor + 1, also of whole numbers",
        source: None,
        kernel: |n| n.map(|x| x.floor() + 1.0),
    },
    PlantedFault {
        name: "round-halves-away",
        operator: "Round",
        does: "rounds halves away from zero, not to even",
        source: Some("apache/tvm#18590"),
        kernel: |n| n.map(f64::round),
    },
    PlantedFault {
        name: "sqrt-by-estimate",
        operator: "Sqrt",
        does: "refines an estimate of 1/√x once only",
        source: None,
        kernel: |n| n.map(|x| if x > 0.0 { x * inverse_root(x) } else { x.sqrt() }),
    },
    PlantedFault {
        name: "reciprocal-of-12-bits",
        operator: "Reciprocal",
        does: "returns the processor's estimate of 12 bits",
        source: None,
        kernel: |n| n.map(|x| keep_bits(1.0 / x, 12)),
    },
    PlantedFault {
        name: "exp-with-a-short-constant",
        operator: "Exp",
        does: "is 2^(x·log₂e) with log₂e in f16",
        source: None,
        kernel: |n| n.map(|x| (x * round_to(DType::F16, std::f64::consts::LOG2_E)).exp2()),
    },
    PlantedFault {
        name: "log-adds-epsilon",
        operator: "Log",
        does: "adds 1e-7 to its operand, to be safe at 0",
        source: None,
        kernel: |n| n.map(|x| (x + 1e-7).ln()),
    },
    PlantedFault {
        name: "sin-without-reduction",
        operator: "Sin",
        does: "sums five terms of the series about 0, however large x is",
        source: None,
        kernel: |n| n.map(sine_series),
    },
    PlantedFault {
        name: "tanh-too-coarse",
        operator: "Tanh",
        does: "is x·(27 + x²)/(27 + 9x²), clamped to ±1",
        source: None,
        kernel: |n| n.map(|x| (x * (27.0 + x * x) / (27.0 + 9.0 * x * x)).clamp(-1.0, 1.0)),
    },
    PlantedFault {
        name: "tanh-cancels",
        operator: "Tanh",
        does: "is (e²ˣ − 1)/(e²ˣ + 1), which cancels near 0",
        source: None,
        kernel: tanh_by_exponential,
    },
    PlantedFault {
        name: "sigmoid-in-f16",
        operator: "Sigmoid",
        does: "computes f32 in f16",
        source: None,
        kernel: |n| n.through(DType::F16, &[DType::F32]),
    },
    PlantedFault {
        name: "erf-with-three-terms",
        operator: "Erf",
        does: "uses a polynomial that is off by 2.5e-5 (Abramowitz and Stegun 7.1.25)",
        source: None,
        kernel: |n| n.map(erf_of_three_terms),
    },
    PlantedFault {
        name: "softplus-overflows",
        operator: "Softplus",
        does: "is ln(1 + eˣ) with eˣ in x's dtype, which overflows",
        source: None,
        kernel: |n| {
            let dtype = n.dtype()?;
            n.edited_from(
                |x, right| if round_to(dtype, x.exp()).is_infinite() { f64::INFINITY } else { right },
            )
        },
    },
    PlantedFault {
        name: "hard-swish-without-lower-clamp",
        operator: "HardSwish",
        does: "clamps from above only",
        source: None,
        kernel: |n| n.map(|x| x * (x / 6.0 + 0.5).min(1.0)),
    },
    PlantedFault {
        name: "gelu-by-tanh",
        operator: "Gelu",
        does: "takes the tanh form although the exact one is asked for",
        source: None,
        kernel: |n| match n.op {
            Op::Gelu(Gelu { tanh: false }) => n.instead(Gelu { tanh: true }),
            _ => None,
        },
    },
    PlantedFault {
        name: "leaky-relu-ignores-alpha",
        operator: "LeakyRelu",
        does: "takes the default for alpha",
        source: None,
        kernel: |n| n.instead(Activation { function: ActivationFn::LeakyRelu, parameters: vec![0.01] }),
    },
    PlantedFault {
        name: "celu-divides-nothing",
        operator: "Celu",
        does: "is alpha·(eˣ − 1) below 0, without x / alpha",
        source: None,
        kernel: |n| match n.op {
            Op::Activation(op) => {
                n.instead(Activation { function: ActivationFn::Elu, parameters: op.parameters.clone() })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "hard-sigmoid-without-upper-clamp",
        operator: "HardSigmoid",
        does: "clamps from below only",
        source: None,
        kernel: |n| {
            let [alpha, beta] = parameters(n)?;
            n.edited_from(|x, right| if right >= 1.0 { alpha * x + beta } else { right })
        },
    },
    PlantedFault {
        name: "thresholded-relu-at-the-threshold",
        operator: "ThresholdedRelu",
        does: "lets x = alpha through",
        source: None,
        kernel: |n| {
            let [alpha] = parameters(n)?;
            n.edited_from(|x, right| if x == alpha { x } else { right })
        },
    },
    PlantedFault {
        name: "shrink-forgets-the-bias",
        operator: "Shrink",
        does: "does not move elements above lambd by the bias",
        source: None,
        kernel: |n| match n.op {
            Op::Shrink(op) => {
                let lambd = f64::from(op.lambd);
                n.edited_from(|x, right| if x > lambd && x >= -lambd { x } else { right })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "is-nan-never-holds",
        operator: "IsNaN",
        does: "is compiled with \"fast\" mathematics, in which nothing is NaN",
        source: None,
        kernel: |n| n.map(|_| 0.0),
    },
    PlantedFault {
        name: "elu-takes-zero-for-alpha",
        operator: "Elu",
        does: "takes 0 for the default of alpha",
        source: Some("llvm/torch-mlir#3583"),
        kernel: |n| {
            let [alpha] = parameters(n)?;
            n.edited_from(|x, right| if x < 0.0 && alpha == 1.0 { 0.0 } else { right })
        },
    },
    PlantedFault {
        name: "elu-scales-both-sides",
        operator: "Elu",
        does: "multiplies positive elements by alpha too",
        source: None,
        kernel: |n| {
            let [alpha] = parameters(n)?;
            n.edited_from(|x, right| if x > 0.0 { alpha * x } else { right })
        },
    },
    PlantedFault {
        name: "selu-by-the-sign-of-the-curve",
        operator: "Selu",
        does: "is gamma·(max(0, x) + min(0, alpha·(eˣ − 1))), which is something else where alpha is negative",
        source: Some("microsoft/onnxruntime#10726"),
        kernel: |n| {
            let [alpha, gamma] = parameters(n)?;
            n.map(|x| gamma * (x.max(0.0) + (alpha * x.exp_m1()).min(0.0)))
        },
    },
    PlantedFault {
        name: "selu-forgets-gamma-above-zero",
        operator: "Selu",
        does: "leaves positive elements as they are",
        source: None,
        kernel: |n| n.edited_from(|x, right| if x > 0.0 { x } else { right }),
    },
    PlantedFault {
        name: "hard-swish-is-hard-sigmoid",
        operator: "HardSwish",
        does: "does not multiply by x in the end",
        source: Some("onnxruntime/onnxruntime-qnn#392"),
        kernel: |n| n.map(|x| (x / 6.0 + 0.5).clamp(0.0, 1.0)),
    },
    PlantedFault {
        name: "hard-swish-with-a-fifth",
        operator: "HardSwish",
        does: "has a slope of 1/5, which is HardSigmoid's default, not 1/6",
        source: Some("ThanatosShinji/onnx-tool#39"),
        kernel: |n| n.map(|x| x * (x / 5.0 + 0.5).clamp(0.0, 1.0)),
    },
    PlantedFault {
        name: "hard-sigmoid-ignores-its-parameters",
        operator: "HardSigmoid",
        does: "takes 0.2 for alpha and 0.5 for beta whatever they are",
        source: Some("VeriSilicon/TIM-VX#306"),
        kernel: |n| n.instead(Activation { function: ActivationFn::HardSigmoid, parameters: vec![0.2, 0.5] }),
    },
    PlantedFault {
        name: "leaky-relu-of-zero-slope-is-relu",
        operator: "LeakyRelu",
        does: "takes a slope below 0 for none",
        source: None,
        kernel: |n| {
            let [alpha] = parameters(n)?;
            n.edited_from(|x, right| if x < 0.0 && alpha < 0.0 { 0.0 } else { right })
        },
    },
    PlantedFault {
        name: "thresholded-relu-subtracts-the-threshold",
        operator: "ThresholdedRelu",
        does: "is x − alpha above alpha",
        source: None,
        kernel: |n| {
            let [alpha] = parameters(n)?;
            n.edited_from(|x, right| if x > alpha { x - alpha } else { right })
        },
    },
    PlantedFault {
        name: "round-adds-a-half",
        operator: "Round",
        does: "is floor(x + ½)",
        source: Some("moonbitlang/core#3912"),
        kernel: |n| n.map(|x| (x + 0.5).floor()),
    },
    PlantedFault {
        name: "shrink-clamps-to-the-threshold",
        operator: "Shrink",
        does: "gives what lies within ±lambd as it is, not 0",
        source: None,
        kernel: |n| match n.op {
            Op::Shrink(op) => {
                let lambd = f64::from(op.lambd);
                n.edited_from(|x, right| if x.abs() < lambd { x } else { right })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "identity-through-f32",
        operator: "Identity",
        does: "copies what has 64 bits through f32",
        source: None,
        kernel: |n| n.through(DType::F32, &[DType::F64, DType::I64, DType::U64]),
    },
];

/// The operator's attributes, in the dtype of the operand.
fn parameters<const N: usize>(n: &Node<'_>) -> Option<[f64; N]> {
    let (Op::Activation(op), dtype) = (n.op, n.dtype()?) else { return None };
    let given: [f32; N] = op.parameters.as_slice().try_into().ok()?;
    Some(given.map(|v| round_to(dtype, f64::from(v))))
}

/// 1/√x by the well-known estimate from the bits of an f32, refined once.
fn inverse_root(x: f64) -> f64 {
    let estimate = f64::from(f32::from_bits(0x5f37_59df - ((x as f32).to_bits() >> 1)));
    estimate * (1.5 - 0.5 * x * estimate * estimate)
}

fn sine_series(x: f64) -> f64 {
    let square = x * x;
    x * (1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0))))
}

fn tanh_by_exponential(n: &Node<'_>) -> Outputs {
    let dtype = n.dtype()?;
    n.map(|x| {
        let e = round_to(dtype, (2.0 * x).exp());
        if e.is_finite() { round_to(dtype, e - 1.0) / round_to(dtype, e + 1.0) } else { 1.0 }
    })
}

fn erf_of_three_terms(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.47047 * x.abs());
    let y = 1.0 - t * (0.348_024_2 - t * (0.095_879_8 - t * 0.747_855_6)) * (-x * x).exp();
    y.copysign(x)
}
