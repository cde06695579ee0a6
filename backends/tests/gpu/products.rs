use ir::{DType, Tensor};
use onnxsmith_backends::wgpu::GpuError;
use ops::Op;
use ops::linear::{Gemm, MatMul};
use ops::nn::window::{AutoPad, Window as Slide};
use ops::nn::{AveragePool, Conv, MaxPool, Pooling};

use crate::{apply, apply_to, assert_close, down, gpu, integers, tensor, typed, up, wave};

/// `[m, k] · [k, n]` in `f64`.
fn product(a: &[f64], b: &[f64], [m, k, n]: [usize; 3]) -> Vec<f64> {
    (0..m * n).map(|i| (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum()).collect()
}

#[test]
fn matmul_of_every_rank() {
    let Some(gpu) = gpu() else { return };
    let cases: &[(&[usize], &[usize], &[usize])] = &[
        (&[3], &[3], &[]),
        (&[3], &[3, 2], &[2]),
        (&[4, 3], &[3], &[4]),
        (&[4, 3], &[3, 2], &[4, 2]),
        (&[2, 4, 3], &[3, 2], &[2, 4, 2]),
        (&[3], &[2, 3, 2], &[2, 2]),
        (&[2, 1, 4, 3], &[5, 3, 2], &[2, 5, 4, 2]),
        (&[4, 0], &[0, 2], &[4, 2]),
        (&[0, 3], &[3, 2], &[0, 2]),
    ];
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::U64] {
        for (a, b, shape) in cases {
            let (x, y) = (wave(dtype, a), wave(dtype, b));
            let got = down(gpu, &apply(gpu, MatMul, &[&up(gpu, &x), &up(gpu, &y)]).unwrap());
            assert_eq!(got.shape(), *shape, "{a:?} {b:?}");
            let wide = |s: &[usize], column: bool| match *s {
                [n] if column => vec![n, 1],
                [n] => vec![1, n],
                _ => s.to_vec(),
            };
            let (a, b) = (wide(a, false), wide(b, true));
            let [m, k, n] = [a[a.len() - 2], a[a.len() - 1], b[b.len() - 1]];
            let batches = got.len().checked_div(m * n).unwrap_or(0);
            let (xs, ys) = (x.to_f64s(), y.to_f64s());
            let mut expected = Vec::new();
            for batch in 0..batches {
                // The only case where both have batches is [2, 1] against [5].
                let of_a = if a.len() == 4 {
                    batch / 5
                } else if a.len() == 3 {
                    batch
                } else {
                    0
                };
                let of_b = if b.len() == 3 { batch % b[0] } else { 0 };
                expected.extend(product(&xs[of_a * m * k..], &ys[of_b * k * n..], [m, k, n]));
            }
            let rel = dtype.float().map_or(0.0, |f| 0.51 * f.epsilon() + 1e-6);
            assert_close(&format!("{dtype} {a:?} {b:?}"), &got.to_f64s(), &expected, rel * 4.0, rel);
        }
    }
    let x = up(gpu, &wave(DType::F32, &[2, 3]));
    assert!(matches!(apply(gpu, MatMul, &[&x, &x]), Err(GpuError::Arguments { .. })));
}

#[test]
fn an_inner_dimension_longer_than_a_loop_may_run() {
    let Some(gpu) = gpu() else { return };
    let k = 100_000;
    for (dtype, exact) in [(DType::F32, 100_000.0), (DType::I64, 100_000.0), (DType::BF16, 99_840.0)] {
        let ones = up(gpu, &tensor(dtype, &[k], &vec![1.0; k]));
        assert_eq!(down(gpu, &apply(gpu, MatMul, &[&ones, &ones]).unwrap()).to_f64s(), [exact], "{dtype}");
    }
}

fn scaled([trans_a, trans_b]: [bool; 2], [alpha, beta]: [f32; 2]) -> Gemm {
    Gemm { alpha, beta, trans_a, trans_b }
}

#[test]
fn gemm_transposes_scales_and_adds() {
    let Some(gpu) = gpu() else { return };
    for dtype in [DType::F32, DType::F16, DType::F64] {
        let (a, b) = (wave(dtype, &[2, 3]), wave(dtype, &[3, 4]));
        let flip = |t: &Tensor| {
            let [rows, columns] = [t.shape()[0], t.shape()[1]];
            tensor(
                dtype,
                &[columns, rows],
                &(0..rows * columns).map(|i| t.to_f64s()[i % rows * columns + i / rows]).collect::<Vec<_>>(),
            )
        };
        let plain = product(&a.to_f64s(), &b.to_f64s(), [2, 3, 4]);
        let c = tensor(dtype, &[2, 1], &[1.0, -3.0]);
        let expected: Vec<_> =
            plain.iter().enumerate().map(|(i, v)| 0.5 * v + 2.0 * [1.0, -3.0][i / 4]).collect();
        for transposed in [[false, false], [true, false], [false, true], [true, true]] {
            let x = up(gpu, &if transposed[0] { flip(&a) } else { a.clone() });
            let y = up(gpu, &if transposed[1] { flip(&b) } else { b.clone() });
            let got =
                down(gpu, &apply(gpu, scaled(transposed, [0.5, 2.0]), &[&x, &y, &up(gpu, &c)]).unwrap());
            let rel = dtype.float().unwrap().epsilon();
            assert_close(&format!("{dtype} {transposed:?}"), &got.to_f64s(), &expected, 1e-6, rel);
            let got = down(gpu, &apply(gpu, scaled(transposed, [1.0, 1.0]), &[&x, &y]).unwrap());
            assert_close("without C", &got.to_f64s(), &plain, 1e-6, rel);
        }
    }
    let (a, b) = (integers(DType::I32, &[1, 2], &[3, 4]), integers(DType::I32, &[2, 1], &[5, 6]));
    let got = apply(
        gpu,
        scaled([false; 2], [2.0, -1.0]),
        &[&up(gpu, &a), &up(gpu, &b), &up(gpu, &integers(DType::I32, &[], &[7]))],
    );
    assert_eq!(down(gpu, &got.unwrap()).to_i128s(), [71]);
}

/// A window's geometry: one number per spatial axis in each list.
#[derive(Clone, Debug)]
struct Window {
    kernel: Vec<usize>,
    strides: Vec<usize>,
    dilations: Vec<usize>,
    pads_begin: Vec<usize>,
    pads_end: Vec<usize>,
    output: Vec<usize>,
}

impl Window {
    /// As ONNX has it.
    fn slide(&self) -> Slide {
        let numbers = |list: &[usize]| list.iter().map(|&v| v as i64).collect::<Vec<_>>();
        Slide {
            auto_pad: AutoPad::NotSet,
            strides: numbers(&self.strides),
            dilations: numbers(&self.dilations),
            pads: [numbers(&self.pads_begin), numbers(&self.pads_end)].concat(),
            ceil_mode: false,
        }
    }

    fn pool(&self) -> Pooling {
        let kernel_shape = self.kernel.iter().map(|&v| v as i64).collect();
        Pooling { window: self.slide(), kernel_shape }
    }

    fn max(&self) -> Op {
        MaxPool { pool: self.pool(), column_major: false, outputs: 1 }.into()
    }

    fn average(&self, count_include_pad: bool) -> Op {
        AveragePool { pool: self.pool(), count_include_pad }.into()
    }

    fn conv(&self, groups: usize) -> Conv {
        Conv { window: self.slide(), group: groups as i64, kernel_shape: None }
    }
}

fn window(
    kernel: &[usize],
    strides: &[usize],
    dilations: &[usize],
    pads: &[usize],
    input: &[usize],
) -> Window {
    let rank = kernel.len();
    let span = |a: usize| (kernel[a] - 1) * dilations[a] + 1;
    Window {
        kernel: kernel.to_vec(),
        strides: strides.to_vec(),
        dilations: dilations.to_vec(),
        pads_begin: pads[..rank].to_vec(),
        pads_end: pads[rank..].to_vec(),
        output: (0..rank).map(|a| (input[a] + pads[a] + pads[rank + a] - span(a)) / strides[a] + 1).collect(),
    }
}

/// Every element of a window that lies inside the tensor: its number in the window and in the channel.
fn inside(w: &Window, input: &[usize], out: usize) -> Vec<(usize, usize)> {
    let rank = input.len();
    let split = |mut i: usize, shape: &[usize]| {
        let mut at: Vec<_> = shape.iter().rev().map(|&d| (i % d, i /= d).0).collect();
        at.reverse();
        at
    };
    let corner = split(out, &w.output);
    let mut all = Vec::new();
    for k in 0..w.kernel.iter().product() {
        let offset = split(k, &w.kernel);
        let at: Option<Vec<_>> = (0..rank)
            .map(|a| (corner[a] * w.strides[a] + offset[a] * w.dilations[a]).checked_sub(w.pads_begin[a]))
            .zip(input)
            .map(|(at, &d)| at.filter(|&at| at < d))
            .collect();
        if let Some(at) = at {
            all.push((k, at.iter().zip(input).fold(0, |i, (&c, &d)| i * d + c)));
        }
    }
    all
}

type Case = (&'static [usize], &'static [usize], usize, Window);

#[test]
fn convolutions() {
    let Some(gpu) = gpu() else { return };
    let cases: &[Case] = &[
        (&[2, 3, 7], &[4, 3, 3], 1, window(&[3], &[1], &[1], &[1, 1], &[7])),
        (&[1, 4, 5, 6], &[6, 2, 3, 2], 2, window(&[3, 2], &[2, 1], &[1, 2], &[1, 0, 2, 1], &[5, 6])),
        (&[2, 2, 4, 4], &[2, 1, 2, 2], 2, window(&[2, 2], &[1, 1], &[1, 1], &[0; 4], &[4, 4])),
        (
            &[1, 2, 3, 4, 5],
            &[3, 2, 2, 2, 3],
            1,
            window(&[2, 2, 3], &[1, 2, 1], &[1; 3], &[0, 1, 1, 1, 0, 0], &[3, 4, 5]),
        ),
    ];
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        for (shape, weights, groups, window) in cases {
            let (x, w) = (wave(dtype, shape), wave(dtype, weights));
            let maps = weights[0];
            let bias = wave(dtype, &[maps]);
            let input = &shape[2..];
            let (volume, per_map) =
                (input.iter().product::<usize>(), window.kernel.iter().product::<usize>());
            let outputs = window.output.iter().product::<usize>();
            let (xs, ws) = (x.to_f64s(), w.to_f64s());
            let expected: Vec<f64> = (0..shape[0] * maps * outputs)
                .map(|i| {
                    let (n, m, o) = (i / (maps * outputs), i / outputs % maps, i % outputs);
                    let first = m / (maps / groups) * weights[1];
                    let taps = inside(window, input, o);
                    let sums = (0..weights[1]).flat_map(|c| taps.iter().map(move |&(k, at)| (c, k, at)));
                    bias.to_f64s()[m]
                        + sums
                            .map(|(c, k, at)| {
                                xs[(n * shape[1] + first + c) * volume + at]
                                    * ws[(m * weights[1] + c) * per_map + k]
                            })
                            .sum::<f64>()
                })
                .collect();
            let ty = typed(dtype, &[&[shape[0], maps], &window.output[..]].concat());
            let got =
                apply_to(gpu, window.conv(*groups), &[&up(gpu, &x), &up(gpu, &w), &up(gpu, &bias)], &[ty])
                    .unwrap();
            let got = down(gpu, &got);
            assert_eq!(got.shape(), [&[shape[0], maps], &window.output[..]].concat());
            let rel = if dtype == DType::F32 { 1e-6 } else { 0.51 * dtype.float().unwrap().epsilon() };
            assert_close(&format!("Conv {dtype} {shape:?}"), &got.to_f64s(), &expected, 1e-4, rel);
        }
    }
}

#[test]
fn a_convolution_longer_than_a_loop_may_run() {
    let Some(gpu) = gpu() else { return };
    let channels = 9000;
    let ones = |shape: &[usize]| up(gpu, &tensor(DType::F32, shape, &vec![1.0; channels * 9]));
    let window = window(&[3, 3], &[1, 1], &[1, 1], &[0; 4], &[3, 3]);
    let bias = up(gpu, &tensor(DType::F32, &[1], &[0.5]));
    let ty = typed(DType::F32, &[1, 1, 1, 1]);
    let got = apply_to(
        gpu,
        window.conv(1),
        &[&ones(&[1, channels, 3, 3]), &ones(&[1, channels, 3, 3]), &bias],
        &[ty],
    );
    assert_eq!(down(gpu, &got.unwrap()).to_f64s(), [81_000.5]);
}

#[test]
fn pools() {
    let Some(gpu) = gpu() else { return };
    let input = [5, 6];
    let window = window(&[3, 2], &[2, 1], &[1, 2], &[1, 0, 1, 1], &input);
    for dtype in [DType::F32, DType::F16] {
        let x = wave(dtype, &[2, 3, 5, 6]);
        let outputs = window.output.iter().product::<usize>();
        let of = |f: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
            (0..6 * outputs)
                .map(|i| {
                    inside(&window, &input, i % outputs)
                        .iter()
                        .map(|&(_, at)| x.to_f64s()[i / outputs * 30 + at])
                        .collect()
                })
                .map(|values: Vec<f64>| f(&values))
                .collect()
        };
        let ty = typed(dtype, &[&[2, 3], &window.output[..]].concat());
        let run = |pool| {
            down(gpu, &apply_to(gpu, pool, &[&up(gpu, &x)], std::slice::from_ref(&ty)).unwrap()).to_f64s()
        };
        let eps = if dtype == DType::F32 { 1e-6 } else { 1e-3 };
        assert_close(
            "MaxPool",
            &run(window.max()),
            &of(&|v| v.iter().copied().fold(f64::MIN, f64::max)),
            0.0,
            0.0,
        );
        assert_close(
            "Average",
            &run(window.average(false)),
            &of(&|v| v.iter().sum::<f64>() / v.len() as f64),
            1e-6,
            eps,
        );
        let padded = of(&|v| v.iter().sum::<f64>() / 6.0);
        assert_close("AverageWithPadding", &run(window.average(true)), &padded, 1e-6, eps);
    }
    // Rounding the size up makes a last window that reaches past the padding: it is divided by what it covers.
    let ceil = Window { output: vec![2], ..self::window(&[3], &[3], &[1], &[0, 1], &[4]) };
    let ty = |dtype| typed(dtype, &[1, 1, 2]);
    let x = up(gpu, &tensor(DType::F32, &[1, 1, 4], &[1.0, 2.0, 3.0, 4.0]));
    assert_eq!(
        down(gpu, &apply_to(gpu, ceil.average(true), &[&x], &[ty(x.dtype())]).unwrap()).to_f64s(),
        [2.0, 2.0]
    );
    assert_eq!(
        down(gpu, &apply_to(gpu, ceil.average(false), &[&x], &[ty(x.dtype())]).unwrap()).to_f64s(),
        [2.0, 4.0]
    );
    let bytes = up(gpu, &integers(DType::I8, &[1, 1, 4], &[-5, -3, -9, -8]));
    assert_eq!(
        down(gpu, &apply_to(gpu, ceil.max(), &[&bytes], &[ty(bytes.dtype())]).unwrap()).to_i128s(),
        [-3, -8]
    );
}
