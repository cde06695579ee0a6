use ir::{DType, DTypes, Operation};
use onnxsmith_backends::wgpu::GpuError;
use ops::Op;
use ops::arith::Comparison;
use ops::elementwise::{
    Activation, ActivationFn, Binary, BinaryFn, BitShift, Clip, Compare, Direction, Gelu, IsInf, IsNaN, Mod,
    PRelu, Pow, Shrink, Unary, UnaryFn, Variadic, VariadicFn, Where,
};

use crate::{apply, assert_close, down, gpu, has, integers, tensor, up, wave};

const COMPARISONS: [Comparison; 5] = [
    Comparison::Equal,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];
const POW: Op = Op::Pow(Pow);
const FLOORED: Op = Op::Mod(Mod { fmod: false });
const TRUNCATED: Op = Op::Mod(Mod { fmod: true });
const LEFT: Op = Op::BitShift(BitShift { direction: Direction::Left });
const RIGHT: Op = Op::BitShift(BitShift { direction: Direction::Right });

fn unary(f: UnaryFn) -> Op {
    Unary(f).into()
}

fn binary(f: BinaryFn) -> Op {
    Binary(f).into()
}

fn variadic(f: VariadicFn) -> Op {
    Variadic(f).into()
}

fn activation(function: ActivationFn, parameters: &[f32]) -> Op {
    Activation { function, parameters: parameters.to_vec() }.into()
}

#[test]
fn unary_functions_at_the_edges() {
    let Some(gpu) = gpu() else { return };
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let x = [nan, inf, -inf, 0.0, -0.0, -1.0, 100.0, -200.0];
    let t = up(gpu, &tensor(DType::F32, &[x.len()], &x));
    let rows: &[(UnaryFn, [f64; 8])] = &[
        (UnaryFn::Exp, [nan, inf, 0.0, 1.0, 1.0, (-1f64).exp(), inf, 0.0]),
        (UnaryFn::Log, [nan, inf, nan, -inf, -inf, nan, 100f64.ln(), nan]),
        (UnaryFn::Sqrt, [nan, inf, nan, 0.0, -0.0, nan, 10.0, nan]),
        (UnaryFn::Tanh, [nan, 1.0, -1.0, 0.0, -0.0, (-1f64).tanh(), 1.0, -1.0]),
        (UnaryFn::Sigmoid, [nan, 1.0, 0.0, 0.5, 0.5, 1.0 / (1.0 + 1f64.exp()), 1.0, 0.0]),
        (UnaryFn::Relu, [nan, inf, 0.0, 0.0, 0.0, 0.0, 100.0, 0.0]),
        (UnaryFn::Sin, [nan, nan, nan, 0.0, -0.0, (-1f64).sin(), 100f64.sin(), (-200f64).sin()]),
        (
            UnaryFn::Atan,
            [
                nan,
                90f64.to_radians(),
                (-90f64).to_radians(),
                0.0,
                -0.0,
                (-1f64).atan(),
                100f64.atan(),
                (-200f64).atan(),
            ],
        ),
        (UnaryFn::Sign, [nan, 1.0, -1.0, 0.0, -0.0, -1.0, 1.0, -1.0]),
        (UnaryFn::Softplus, [nan, inf, 0.0, 2f64.ln(), 2f64.ln(), (-1f64).exp().ln_1p(), 100.0, 0.0]),
        (UnaryFn::Erf, [nan, 1.0, -1.0, 0.0, -0.0, libm::erf(-1.0), 1.0, -1.0]),
        (UnaryFn::Asin, [nan, nan, nan, 0.0, -0.0, (-1f64).asin(), nan, nan]),
    ];
    for (f, expected) in rows {
        let got = down(gpu, &apply(gpu, Unary(*f), &[&t]).unwrap()).to_f64s();
        assert_close(&format!("{f:?}"), &got, expected, 1e-6, 1e-6);
    }
    assert_eq!(down(gpu, &apply(gpu, IsNaN, &[&t]).unwrap()).to_i128s(), [1, 0, 0, 0, 0, 0, 0, 0]);
    let is_inf = |detect_negative| {
        let op = IsInf { detect_negative, detect_positive: true };
        down(gpu, &apply(gpu, op, &[&t]).unwrap()).to_i128s()
    };
    assert_eq!(is_inf(true), [0, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(is_inf(false), [0, 1, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn every_table_entry_compiles_or_says_why() {
    let Some(gpu) = gpu() else { return };
    for dtype in DTypes::IR4.iter() {
        let x = up(gpu, &integers(dtype, &[3], &[1, 1, 1]));
        let of_one = (UnaryFn::ALL.iter().map(|&f| unary(f)))
            .chain(ActivationFn::ALL.iter().map(|&f| activation(f, &[1.0, 1.0])))
            .chain([Gelu { tanh: false }.into(), Gelu { tanh: true }.into()])
            .chain([Shrink { bias: 1.0, lambd: 1.0 }.into()]);
        let of_two = (BinaryFn::ALL.iter().map(|&f| binary(f)))
            .chain(VariadicFn::ALL.iter().map(|&f| variadic(f)))
            .chain(COMPARISONS.map(|f| Compare(f).into()))
            .chain([POW, FLOORED, TRUNCATED, LEFT, RIGHT, PRelu.into()]);
        let of_one = of_one.map(|op| (op.name(), apply(gpu, op, &[&x])));
        let outcomes = of_one.chain(of_two.map(|op| (op.name(), apply(gpu, op, &[&x, &x]))));
        for (name, outcome) in outcomes {
            assert!(
                matches!(outcome, Ok(_) | Err(GpuError::Unsupported { .. })),
                "{name} {dtype}: {outcome:?}"
            );
        }
    }
    // Reading something back waits for all that was launched: a driver that is still compiling when the process ends aborts it.
    let last = integers(DType::I32, &[1], &[7]);
    assert_eq!(down(gpu, &up(gpu, &last)), last);
}

#[test]
fn remainders_powers_and_shifts_of_integers() {
    let Some(gpu) = gpu() else { return };
    for dtype in [DType::I8, DType::I32, DType::I64].into_iter().filter(|&dtype| has(gpu, dtype)) {
        let x = up(gpu, &integers(dtype, &[6], &[7, -7, 7, -7, 6, -6]));
        let y = up(gpu, &integers(dtype, &[6], &[3, 3, -3, -3, -3, 3]));
        let run = |f: Op| down(gpu, &apply(gpu, f, &[&x, &y]).unwrap()).to_i128s();
        assert_eq!(run(FLOORED), [1, 2, -2, -1, 0, 0], "{dtype}");
        assert_eq!(run(TRUNCATED), [1, -1, 1, -1, 0, 0], "{dtype}");
        let base = up(gpu, &integers(dtype, &[7], &[2, -3, 0, -1, -1, 1, 2]));
        let exponent = up(gpu, &integers(dtype, &[7], &[6, 3, 0, 7, -2, -9, -1]));
        let power = down(gpu, &apply(gpu, POW, &[&base, &exponent]).unwrap()).to_i128s();
        assert_eq!(power, [64, -27, 1, -1, 1, 1, 0], "{dtype}");
    }
    let unsigned = [DType::U8, DType::U16, DType::U32, DType::U64];
    for dtype in unsigned.into_iter().filter(|&dtype| has(gpu, dtype)) {
        let bits = i128::from(dtype.bits());
        let x = up(gpu, &integers(dtype, &[4], &[0x81, 0x81, 0x81, 1]));
        let y = up(gpu, &integers(dtype, &[4], &[1, bits, 0, bits - 1]));
        let run = |f: Op| down(gpu, &apply(gpu, f, &[&x, &y]).unwrap()).to_i128s();
        assert_eq!(run(LEFT), [dtype.wrap(0x102), 0, 0x81, 1 << (bits - 1)], "{dtype}");
        assert_eq!(run(RIGHT), [0x40, 0, 0x81, 0], "{dtype}");
    }
}

#[test]
fn floats_meet_nan_zero_and_infinity() {
    let Some(gpu) = gpu() else { return };
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let a = [nan, 1.0, nan, 0.0, -0.0, inf, 5.0, -5.0];
    let b = [1.0, nan, nan, -0.0, 0.0, inf, 7.0, 3.0];
    for dtype in [DType::F32, DType::F16, DType::BF16].into_iter().filter(|&dtype| has(gpu, dtype)) {
        let (x, y) = (up(gpu, &tensor(dtype, &[8], &a)), up(gpu, &tensor(dtype, &[8], &b)));
        let run = |f: Op| down(gpu, &apply(gpu, f, &[&x, &y]).unwrap());
        assert_close(
            "Min",
            &run(variadic(VariadicFn::Min)).to_f64s(),
            &[nan, nan, nan, 0.0, 0.0, inf, 5.0, -5.0],
            0.0,
            0.0,
        );
        assert_close(
            "Max",
            &run(variadic(VariadicFn::Max)).to_f64s(),
            &[nan, nan, nan, 0.0, 0.0, inf, 7.0, 3.0],
            0.0,
            0.0,
        );
        assert_eq!(run(Compare(Comparison::Equal).into()).to_i128s(), [0, 0, 0, 1, 1, 1, 0, 0], "{dtype}");
        assert_eq!(run(Compare(Comparison::Less).into()).to_i128s(), [0, 0, 0, 0, 0, 0, 1, 1], "{dtype}");
        assert_eq!(
            run(Compare(Comparison::LessOrEqual).into()).to_i128s(),
            [0, 0, 0, 1, 1, 1, 1, 1],
            "{dtype}"
        );
        assert_eq!(run(Compare(Comparison::Greater).into()).to_i128s(), [0, 0, 0, 0, 0, 0, 0, 0], "{dtype}");
        assert_eq!(
            run(Compare(Comparison::GreaterOrEqual).into()).to_i128s(),
            [0, 0, 0, 1, 1, 1, 0, 0],
            "{dtype}"
        );
    }
}

#[test]
fn float_remainders_are_exact() {
    let Some(gpu) = gpu() else { return };
    let a = [1e10, 5.3, -5.3, 5.0, 1e30, -1e-3, 3e-40, 7.0, 2.0, -0.0, 1e38];
    let b = [3.0, 2.0, 2.0, f64::INFINITY, 0.7, 3e-7, 7e-45, -2.5, 0.0, 1.0, 1e-38];
    let (x, y) = (tensor(DType::F32, &[11], &a), tensor(DType::F32, &[11], &b));
    // `f64` remainders of `f32` values are exact.
    let expected: Vec<_> = x.to_f64s().iter().zip(y.to_f64s()).map(|(a, b)| a % b).collect();
    let got = down(gpu, &apply(gpu, TRUNCATED, &[&up(gpu, &x), &up(gpu, &y)]).unwrap()).to_f64s();
    assert_close("Fmod", &got, &expected, 0.0, 0.0);
}

#[test]
fn an_exponent_is_odd_although_no_float_holds_it() {
    let Some(gpu) = gpu() else { return };
    let base = up(gpu, &tensor(DType::F32, &[4], &[-1.0, -1.0, -1.0, -2.0]));
    for dtype in [DType::I32, DType::I64].into_iter().filter(|&dtype| has(gpu, dtype)) {
        let exponent = up(gpu, &integers(dtype, &[4], &[16_777_217, 16_777_216, -16_777_217, 3]));
        let power = down(gpu, &apply(gpu, POW, &[&base, &exponent]).unwrap()).to_f64s();
        assert_eq!(power, [-1.0, 1.0, -1.0, -8.0], "{dtype}");
    }
}

#[test]
fn powers_follow_ieee() {
    let Some(gpu) = gpu() else { return };
    let inf = f64::INFINITY;
    let a = [
        2.0,
        -2.0,
        -2.0,
        0.0,
        0.0,
        -0.0,
        -8.0,
        1.0,
        f64::NAN,
        9.0,
        0.5,
        inf,
        -inf,
        10.0,
        3.7,
        0.999_999_9,
        1.000_000_1,
        3.3e38,
        1e-30,
        1.5,
    ];
    let b = [
        10.0,
        3.0,
        2.0,
        0.0,
        -1.0,
        -3.0,
        0.5,
        f64::NAN,
        0.0,
        0.5,
        inf,
        -1.0,
        3.0,
        60.0,
        2.0,
        -16_777_216.0,
        3e8,
        0.999,
        -1.2,
        218.0,
    ];
    let (x, y) = (tensor(DType::F32, &[20], &a), tensor(DType::F32, &[20], &b));
    let expected: Vec<_> =
        x.to_f64s().iter().zip(y.to_f64s()).map(|(a, b)| f64::from(a.powf(b) as f32)).collect();
    let got = down(gpu, &apply(gpu, POW, &[&up(gpu, &x), &up(gpu, &y)]).unwrap()).to_f64s();
    assert_close("Pow", &got, &expected, 0.0, 2.5e-7);
}

#[test]
fn logic_where_and_clip() {
    let Some(gpu) = gpu() else { return };
    let a = up(gpu, &integers(DType::Bool, &[4], &[0, 0, 1, 1]));
    let b = up(gpu, &integers(DType::Bool, &[4], &[0, 1, 0, 1]));
    let run = |f: Op| down(gpu, &apply(gpu, f, &[&a, &b]).unwrap()).to_i128s();
    assert_eq!(run(binary(BinaryFn::And)), [0, 0, 0, 1]);
    assert_eq!(run(binary(BinaryFn::Or)), [0, 1, 1, 1]);
    assert_eq!(run(binary(BinaryFn::Xor)), [0, 1, 1, 0]);
    assert_eq!(run(Compare(Comparison::Equal).into()), [1, 0, 0, 1]);
    assert_eq!(down(gpu, &apply(gpu, Unary(UnaryFn::Not), &[&a]).unwrap()).to_i128s(), [1, 1, 0, 0]);
    for dtype in DTypes::IR4.iter().filter(|&dtype| has(gpu, dtype)) {
        let (x, y) = (integers(dtype, &[2, 1], &[1, 0]), integers(dtype, &[], &[1]));
        let got = down(gpu, &apply(gpu, Where, &[&a, &up(gpu, &x), &up(gpu, &y)]).unwrap());
        assert_eq!(got, integers(dtype, &[2, 4], &[1, 1, 1, 1, 1, 1, 0, 0]), "{dtype}");
    }
    let x = up(gpu, &tensor(DType::F32, &[4], &[-3.0, 0.5, f64::NAN, 9.0]));
    let (low, high) = (up(gpu, &tensor(DType::F32, &[], &[-1.0])), up(gpu, &tensor(DType::F32, &[], &[2.0])));
    let got = down(gpu, &apply(gpu, Clip, &[&x, &low, &high]).unwrap()).to_f64s();
    assert_close("Clip", &got, &[-1.0, 0.5, f64::NAN, 2.0], 0.0, 0.0);
}

#[test]
fn narrow_floats_round_to_nearest_even() {
    let Some(gpu) = gpu() else { return };
    for dtype in [DType::F16, DType::BF16].into_iter().filter(|&dtype| has(gpu, dtype)) {
        let (a, b) = (wave(dtype, &[101]), tensor(dtype, &[101], &[1.1; 101]));
        let (x, y) = (up(gpu, &a), up(gpu, &b));
        for (f, exact) in [
            (binary(BinaryFn::Add), (|a, b| a + b) as fn(f64, f64) -> f64),
            (binary(BinaryFn::Mul), |a, b| a * b),
        ] {
            let exact: Vec<_> = a.to_f64s().iter().zip(b.to_f64s()).map(|(&a, b)| exact(a, b)).collect();
            assert_eq!(
                down(gpu, &apply(gpu, f.clone(), &[&x, &y]).unwrap()),
                tensor(dtype, &[101], &exact),
                "{f:?} {dtype}"
            );
        }
        // The largest number, its overflow, and denormals.
        let most = dtype.float().unwrap().max_finite();
        let tiny = dtype.float().unwrap().ulp(0.0);
        let a = tensor(dtype, &[4], &[most, most, 3.0 * tiny, tiny]);
        let b = tensor(dtype, &[4], &[1.0, most, 0.5, 0.5]);
        let got =
            down(gpu, &apply(gpu, binary(BinaryFn::Mul), &[&up(gpu, &a), &up(gpu, &b)]).unwrap()).to_f64s();
        assert_eq!(got[..2], [most, f64::INFINITY], "{dtype}");
        if dtype == DType::F16 {
            assert_eq!(got[2..], [2.0 * tiny, 0.0], "{dtype}");
        }
    }
}

#[test]
fn more_than_65535_workgroups() {
    let Some(gpu) = gpu() else { return };
    let n = 65_536 * 64 + 3;
    let x = ir::Tensor::from_i128_fn(&ir::Type::new(DType::I32, [n]), |i| i as i128);
    let got = down(gpu, &apply(gpu, Unary(UnaryFn::Neg), &[&up(gpu, &x)]).unwrap());
    let ir::Tensor::I32(got) = got else { panic!("dtype changed") };
    assert!(got.iter().enumerate().all(|(i, &v)| v == -(i as i32)));
}
