//! Normalisation and softmax.

use ir::Tensor;
use ir::round::round_to;
use ops::Op;
use ops::nn::{GroupNorm, InstanceNorm, LayerNorm, LpNorm, Lrn, Softmax};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, each, lanes, resolve};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "batch-norm-exchanges-mean-and-variance",
        operator: "BatchNormalization",
        does: "takes the variance for the mean and the mean for the variance",
        source: None,
        kernel: |n| n.exchanging(3, 4),
    },
    PlantedFault {
        name: "batch-norm-adds-epsilon-to-the-deviation",
        operator: "BatchNormalization",
        does: "is …/(√variance + epsilon): epsilon after the root",
        source: None,
        kernel: |n| {
            let Op::BatchNorm(op) = n.op else { return None };
            let epsilon = f64::from(op.epsilon);
            // The variance whose root, epsilon added inside, is that sum.
            n.with(4, &each(n.input(4)?, |v| (v.sqrt() + epsilon).powi(2) - epsilon))
        },
    },
    PlantedFault {
        name: "batch-norm-adds-before-it-scales",
        operator: "BatchNormalization",
        does: "is scale·(… + B): the addition comes before the factor",
        source: None,
        kernel: batch_norm_adding_first,
    },
    PlantedFault {
        name: "layer-norm-forgets-epsilon",
        operator: "LayerNormalization",
        does: "takes 0 for epsilon",
        source: None,
        kernel: |n| match *n.op {
            Op::LayerNorm(op) => n.instead(LayerNorm { epsilon: 0.0, ..op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "layer-norm-takes-the-last-axis",
        operator: "LayerNormalization",
        does: "standardises along the last axis whatever axis says",
        source: None,
        kernel: |n| match *n.op {
            Op::LayerNorm(op) if n.outputs.len() == 1 => n.instead(LayerNorm { axis: -1, ..op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "instance-norm-exchanges-scale-and-bias",
        operator: "InstanceNormalization",
        does: "takes B for scale and scale for B",
        source: None,
        kernel: |n| n.exchanging(1, 2),
    },
    PlantedFault {
        name: "instance-norm-ignores-epsilon",
        operator: "InstanceNormalization",
        does: "takes the default for epsilon",
        source: None,
        kernel: |n| n.instead(InstanceNorm { epsilon: 1e-5 }),
    },
    PlantedFault {
        name: "group-norm-takes-each-channel-alone",
        operator: "GroupNormalization",
        does: "standardises each channel on its own",
        source: None,
        kernel: |n| match *n.op {
            Op::GroupNorm(op) => {
                let channels = *n.input(0)?.shape().get(1)? as i64;
                n.instead(GroupNorm { num_groups: channels, ..op })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "rms-norm-subtracts-the-mean",
        operator: "RMSNormalization",
        does: "subtracts the mean first, as LayerNormalization does",
        source: None,
        kernel: |n| {
            let (Op::RmsNorm(op), x) = (n.op, n.input(0)?) else { return None };
            let together: usize = x.shape()[resolve(op.axis, x.shape().len())?..].iter().product();
            let values = x.to_f64s();
            let means: Vec<f64> = values.chunks(together.max(1)).map(mean).collect();
            n.with(0, &Tensor::from_f64_fn(&x.ty(), |i| values[i] - means[i / together]))
        },
    },
    PlantedFault {
        name: "lp-norm-exchanges-p",
        operator: "LpNormalization",
        does: "takes p = 2 for p = 1 and the other way round",
        source: None,
        kernel: |n| match *n.op {
            Op::LpNorm(op) => n.instead(LpNorm { taxicab: !op.taxicab, ..op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "mean-variance-is-unbiased",
        operator: "MeanVarianceNormalization",
        does: "divides the squares by one less than their number",
        source: None,
        kernel: |n| {
            let (Op::MeanVariance(op), x) = (n.op, n.input(0)?) else { return None };
            let rank = x.shape().len();
            let mut count = if op.axes.is_empty() { x.len() } else { 1 };
            for &axis in &op.axes {
                count *= x.shape()[resolve(axis, rank)?];
            }
            let count = count as f64;
            n.edited(|_, y| y * ((count - 1.0) / count).sqrt())
        },
    },
    PlantedFault {
        name: "lrn-does-not-divide-by-size",
        operator: "LRN",
        does: "weighs the squares by alpha, not by alpha / size",
        source: Some("MarcBS/keras#4"),
        kernel: |n| match *n.op {
            Op::Lrn(op) => n.instead(Lrn { alpha: op.alpha * op.size as f32, ..op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "lrn-leans-to-the-front",
        operator: "LRN",
        does: "takes the odd channel of an even size before, not after",
        source: None,
        kernel: |n| {
            let mirrored = |x: &Tensor| along(x, 1, |i, size| Some(size - 1 - i));
            let mut outputs = n.with(0, &mirrored(n.input(0)?)?)?;
            outputs[0] = mirrored(&outputs[0])?;
            Some(outputs)
        },
    },
    PlantedFault {
        name: "softmax-takes-the-next-axis",
        operator: "Softmax",
        does: "is off by one axis",
        source: None,
        kernel: |n| match *n.op {
            Op::Softmax(op) => {
                let axis = resolve(op.axis + 1, n.input(0)?.shape().len())? as i64;
                n.instead(Softmax { axis, ..op })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "softmax-does-not-subtract-the-maximum",
        operator: "Softmax",
        does: "takes eˣ as it is, which overflows",
        source: Some("apache/singa#540"),
        kernel: |n| {
            let dtype = n.dtype()?;
            along_axis(n, |lane| {
                let powers: Vec<f64> = lane.iter().map(|x| round_to(dtype, x.exp())).collect();
                let sum = round_to(dtype, powers.iter().sum());
                powers.iter().map(|x| x / sum).collect()
            })
        },
    },
    PlantedFault {
        name: "log-softmax-takes-the-logarithm-last",
        operator: "LogSoftmax",
        does: "is the logarithm of a rounded Softmax, which may be 0 or 1",
        source: None,
        kernel: |n| {
            let dtype = n.dtype()?;
            along_axis(n, |lane| {
                let top = lane.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = lane.iter().map(|x| (x - top).exp()).sum();
                lane.iter().map(|x| round_to(dtype, (x - top).exp() / sum).ln()).collect()
            })
        },
    },
    PlantedFault {
        name: "hardmax-marks-all-of-equals",
        operator: "Hardmax",
        does: "marks every element that equals the largest",
        source: None,
        kernel: |n| {
            along_axis(n, |lane| {
                let top = lane.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                lane.iter().map(|&x| f64::from(u8::from(x == top))).collect()
            })
        },
    },
];

/// The operators of the Softmax family, lane by lane.
fn along_axis(n: &Node<'_>, f: impl Fn(&[f64]) -> Vec<f64>) -> Outputs {
    let Op::Softmax(op) = n.op else { return None };
    let x = n.input(0)?;
    Some(vec![lanes(x, resolve(op.axis, x.shape().len())?, f)?])
}

fn mean(lane: &[f64]) -> f64 {
    lane.iter().sum::<f64>() / lane.len() as f64
}

/// x̂·scale + scale·B, with x̂·scale taken from the right kernel.
fn batch_norm_adding_first(n: &Node<'_>) -> Outputs {
    let (scale, bias) = (n.input(1)?, n.input(2)?);
    let (s, b) = (scale.to_f64s(), bias.to_f64s());
    n.with(2, &Tensor::from_f64_fn(&bias.ty(), |i| s.get(i).map_or(b[i], |s| s * b[i])))
}
