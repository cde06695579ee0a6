//! Functions of one element that are curves: where an approximation ends, a square overflows or a difference cancels.

use std::f64::consts::PI;

use ir::round::round_to;
use ir::{DType, Tensor};
use ops::Op;
use ops::elementwise::{Activation, ActivationFn, Gelu};

use crate::PlantedFault;
use crate::node::{Node, Outputs};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "acos-ignores-the-sign",
        operator: "Acos",
        does: "leaves out the reflection, so negative elements are taken for positive ones",
        source: None,
        kernel: |n| n.map(|x| x.abs().acos()),
    },
    PlantedFault {
        name: "acosh-cancels-near-one",
        operator: "Acosh",
        does: "is ln(x + √(x² − 1)) as written, which cancels near 1",
        source: Some("tenstorrent/tt-metal#47174"),
        kernel: |n| stepwise(n, |r, x| r(r(x + r(r(r(x * x) - 1.0).sqrt())).ln())),
    },
    PlantedFault {
        name: "acosh-forgets-to-double",
        operator: "Acosh",
        does: "is ln x, not ln 2x, where x is 4 or more",
        source: None,
        kernel: |n| n.edited_from(|x, right| if x >= 4.0 { x.ln() } else { right }),
    },
    PlantedFault {
        name: "asin-with-three-terms",
        operator: "Asin",
        does: "sums three terms of the series, up to ±1",
        source: None,
        kernel: |n| n.map(|x| x * (1.0 + x * x * (1.0 / 6.0 + x * x * 3.0 / 40.0))),
    },
    PlantedFault {
        name: "asinh-of-negatives-cancels",
        operator: "Asinh",
        does: "is ln(x + √(x² + 1)) for negative x too, where the two terms cancel",
        source: Some("tinygrad/tinygrad#17749"),
        kernel: |n| stepwise(n, |r, x| r(r(x + r(r(r(x * x) + 1.0).sqrt())).ln())),
    },
    PlantedFault {
        name: "atan-by-arcsine",
        operator: "Atan",
        does: "is asin(x/√(x² + 1)), which is ill-conditioned where x is large, and 0 where x² overflows",
        source: Some("tinygrad/tinygrad#17882"),
        kernel: |n| stepwise(n, |r, x| r(r(x / r(r(r(x * x) + 1.0).sqrt())).asin())),
    },
    PlantedFault {
        name: "atanh-cancels-near-zero",
        operator: "Atanh",
        does: "is ½·ln((1 + x)/(1 − x)) as written, which cancels near 0",
        source: Some("tenstorrent/tt-metal#47174"),
        kernel: |n| stepwise(n, |r, x| r(0.5 * r(r(r(1.0 + x) / r(1.0 - x)).ln()))),
    },
    PlantedFault {
        name: "cos-by-a-short-shift",
        operator: "Cos",
        does: "is sin(x + 1.57)",
        source: None,
        kernel: |n| n.map(|x| (x + 1.57).sin()),
    },
    PlantedFault {
        name: "cosh-is-half-an-exponential",
        operator: "Cosh",
        does: "is e^|x|/2, as holds where |x| is large",
        source: None,
        kernel: |n| n.map(|x| x.abs().exp() / 2.0),
    },
    PlantedFault {
        name: "sinh-halves-the-first-term",
        operator: "Sinh",
        does: "is eˣ/2 − e⁻ˣ",
        source: None,
        kernel: |n| n.map(|x| x.exp() / 2.0 - (-x).exp()),
    },
    PlantedFault {
        name: "tan-by-a-short-cosine",
        operator: "Tan",
        does: "divides by three terms of the cosine's series",
        source: None,
        kernel: |n| n.map(|x| x.sin() / (1.0 - x * x / 2.0 + x.powi(4) / 24.0)),
    },
    PlantedFault {
        name: "exp-gives-up-below-minus-four",
        operator: "Exp",
        does: "is 0 below −4, where a table of a quantised Softmax ends",
        source: None,
        kernel: |n| n.edited_from(|x, right| if x <= -4.0 { 0.0 } else { right }),
    },
    PlantedFault {
        name: "erf-saturates-at-two",
        operator: "Erf",
        does: "is ±1 from ±2 on",
        source: None,
        kernel: |n| n.edited_from(|x, right| if x.abs() >= 2.0 { 1f64.copysign(x) } else { right }),
    },
    PlantedFault {
        name: "softplus-is-linear-above-three",
        operator: "Softplus",
        does: "is x where x is 3 or more",
        source: None,
        kernel: |n| n.edited_from(|x, right| if x >= 3.0 { x } else { right }),
    },
    PlantedFault {
        name: "tanh-of-large-is-nan",
        operator: "Tanh",
        does: "is (e²ˣ − 1)/(e²ˣ + 1), which is ∞/∞ where e²ˣ overflows",
        source: Some("apache/tvm#16438"),
        kernel: |n| nan_where_infinite(n, |x| (2.0 * x).exp()),
    },
    PlantedFault {
        name: "tanh-clamps-at-five",
        operator: "Tanh",
        does: "clamps its operand to ±5",
        source: Some("ohdearquant/lattice#924"),
        kernel: |n| n.map(|x| x.clamp(-5.0, 5.0).tanh()),
    },
    PlantedFault {
        name: "sigmoid-clamps-at-ten",
        operator: "Sigmoid",
        does: "clamps its operand to ±10",
        source: Some("ohdearquant/lattice#924"),
        kernel: |n| n.map(|x| 1.0 / (1.0 + (-x.clamp(-10.0, 10.0)).exp())),
    },
    PlantedFault {
        name: "sigmoid-of-large-is-nan",
        operator: "Sigmoid",
        does: "is eˣ/(1 + eˣ), which is ∞/∞ where eˣ overflows",
        source: Some("mil-tokyo/webdnn#558"),
        kernel: |n| nan_where_infinite(n, f64::exp),
    },
    PlantedFault {
        name: "gelu-by-an-unclamped-tanh",
        operator: "Gelu",
        does: "computes the tanh form with (eʸ − e⁻ʸ)/(eʸ + e⁻ʸ), which is NaN where y is large",
        source: Some("pytorch/executorch#22323"),
        kernel: |n| match n.op {
            Op::Gelu(Gelu { tanh: true }) => {
                nan_where_infinite(n, |x| (0.797_884_56 * (x + 0.044_715 * x.powi(3))).abs().exp())
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "gelu-gives-up-below-minus-three",
        operator: "Gelu",
        does: "is 0 from −3 on downwards",
        source: None,
        kernel: |n| n.edited_from(|x, right| if x <= -3.0 { 0.0 } else { right }),
    },
    PlantedFault {
        name: "mish-skips-the-logarithm",
        operator: "Mish",
        does: "is x·tanh(eˣ)",
        source: None,
        kernel: |n| n.map(|x| x * x.exp().tanh()),
    },
    PlantedFault {
        name: "softsign-forgets-the-magnitude",
        operator: "Softsign",
        does: "is x/(1 + x)",
        source: None,
        kernel: |n| n.map(|x| x / (1.0 + x)),
    },
    PlantedFault {
        name: "swish-ignores-alpha",
        operator: "Swish",
        does: "takes 1 for alpha",
        source: None,
        kernel: |n| n.instead(Activation { function: ActivationFn::Swish, parameters: vec![1.0] }),
    },
    PlantedFault {
        name: "relu-is-relu6",
        operator: "Relu",
        does: "is cut off at 6",
        source: None,
        kernel: |n| n.edited(|_, y| y.min(6.0)),
    },
    PlantedFault {
        name: "sqrt-starts-at-one",
        operator: "Sqrt",
        does: "refines the estimate (1 + x)/2 twice, wherever x is",
        source: None,
        kernel: |n| {
            let refined = |x: f64, y: f64| 0.5 * (y + x / y);
            n.map(|x| if x > 0.0 { refined(x, refined(x, 0.5 * (1.0 + x))) } else { x.sqrt() })
        },
    },
    PlantedFault {
        name: "log-through-two-logarithms-of-two",
        operator: "Log",
        does: "is log₂x · 0.69",
        source: None,
        kernel: |n| n.map(|x| x.log2() * 0.69),
    },
    PlantedFault {
        name: "sin-repeats-after-half-a-period",
        operator: "Sin",
        does: "subtracts π where x is above it, and forgets that the sign changes",
        source: None,
        kernel: |n| n.edited_from(|x, right| if x > PI { (x - PI).sin() } else { right }),
    },
];

/// A function of each element, every step of which is rounded to the dtype by what it is given first.
fn stepwise(n: &Node<'_>, f: impl Fn(&dyn Fn(f64) -> f64, f64) -> f64) -> Outputs {
    let dtype: DType = n.dtype()?;
    n.map(|x| f(&|v| round_to(dtype, v), x))
}

/// The right outputs, but NaN where an intermediate result is infinite in the dtype.
fn nan_where_infinite(n: &Node<'_>, of: impl Fn(f64) -> f64) -> Outputs {
    let dtype = n.input(0).map(Tensor::dtype)?;
    n.edited_from(|x, right| if round_to(dtype, of(x)).is_infinite() { f64::NAN } else { right })
}
