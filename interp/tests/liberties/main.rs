//! What conforming implementations may do differently, and what they may not: operators for which a bound was once
//! too narrow or a value wrong.

mod granted;
mod products;
mod sampled;

use ir::{DType, Tensor, Type};
use onnxsmith_interp::{Evaluation, Profile, Taps, compare, evaluate};
use ops::elementwise::{Activation, ActivationFn, Binary, BinaryFn, Cast, Gelu, Unary, UnaryFn};
use ops::linear::Gemm;
use ops::nn::window::{AutoPad, Window};
use ops::nn::{
    AveragePool, BatchNorm, Conv, LpNorm, LpPool, MaxPool, MeanVariance, Pooling, Softmax, SoftmaxFn,
};
use ops::reduction::{Reduce, ReduceFn};
use ops::{Graph, Model, Op};

fn tensor(dtype: DType, shape: &[i64], values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(dtype, shape), |i| values[i])
}

/// The reference of one operator on some operands.
fn reference(op: impl Into<Op>, operands: &[Tensor]) -> Evaluation {
    reference_by(&Profile::TIGHT, op, operands)
}

fn reference_by(profile: &Profile, op: impl Into<Op>, operands: &[Tensor]) -> Evaluation {
    let mut graph = Graph::new();
    let inputs: Vec<_> =
        (0..).zip(operands).map(|(i, t)| Some(graph.variable(format!("x{i}"), t.ty()))).collect();
    let node = graph.operator(op.into(), &inputs).unwrap();
    graph.output("y", ir::Value::new(node, 0));
    evaluate(&Model::new(21, graph), operands, profile, Taps::Outputs).unwrap()
}

/// Whether these elements are acceptable.
fn accepts(evaluation: &Evaluation, elements: &[f64]) -> bool {
    let expected = &evaluation.outputs[0];
    let actual = Tensor::from_f64_fn(&expected.tensor.ty(), |i| elements[i]);
    compare(expected, &actual, &Profile::TIGHT).unwrap().passes()
}

/// A window along one axis, one step at a time.
fn along_an_axis(pads: [i64; 2]) -> Window {
    let (strides, dilations) = (vec![1], vec![1]);
    Window { auto_pad: AutoPad::NotSet, strides, dilations, pads: pads.into(), ceil_mode: false }
}

#[test]
fn a_sixth_is_rounded() {
    let hard_swish = reference(Unary(UnaryFn::HardSwish), &[tensor(DType::F64, &[1], &[-2.0])]);
    let (by_sixth, by_six) = (-2.0 * (-2.0 * (1.0 / 6.0) + 0.5), -2.0 * ((-2.0 + 3.0) / 6.0));
    assert!(by_sixth != by_six && accepts(&hard_swish, &[by_sixth]) && accepts(&hard_swish, &[by_six]));
    // As an attribute it is f32.
    let by_attribute = -2.0 * (-2.0 * f64::from(1f32 / 6.0) + 0.5);
    assert!(accepts(&hard_swish, &[by_attribute]) && !accepts(&hard_swish, &[by_six * (1.0 + 1e-6)]));
    let of_f32 = reference(Unary(UnaryFn::HardSwish), &[tensor(DType::F32, &[1], &[-2.0])]);
    assert!(!accepts(&of_f32, &[by_six * (1.0 + 1e-6)]));
}

#[test]
fn a_float_that_no_integer_is_may_be_cast_to_any() {
    for profile in Profile::ALL {
        let numbers = tensor(DType::F32, &[4], &[300.0, -1e20, f64::NAN, 7.9]);
        let cast = reference_by(profile, Cast::to(DType::I8), &[numbers]);
        for any in [0.0, 127.0, -128.0, 44.0] {
            assert!(accepts(&cast, &[any, any, any, 7.0]), "{any} under {}", profile.name);
            assert!(!accepts(&cast, &[any, any, any, 8.0]), "{}", profile.name);
        }
    }
}

#[test]
fn a_norm_may_be_made_of_powers() {
    let pool = |p| {
        let window = along_an_axis([0, 0]);
        let op = LpPool { pool: Pooling { kernel_shape: vec![2], window }, p };
        reference_by(&Profile::DECLARED, op, &[tensor(DType::F32, &[1, 1, 2], &[3.3, -4.1])])
    };
    for (p, norm) in [(1, 3.3 + 4.1), (2, (3.3f64 * 3.3 + 4.1 * 4.1).sqrt())] {
        let next = f64::from((norm as f32).next_up().next_up());
        assert!(accepts(&pool(p), &[next]) && !accepts(&pool(p), &[norm * 1.001]), "{p}");
    }
}

#[test]
fn a_sum_that_overflows_on_its_way_to_a_root_may_be_in_a_wider_accumulator() {
    let roots = |squares: &[f64]| {
        let operands = [tensor(DType::I32, &[squares.len() as i64], squares)];
        let profile = &Profile::DECLARED;
        reference_by(profile, reduce(ReduceFn::L2), &operands).outputs[0].undecidable()
    };
    assert_eq!((roots(&[5.0, 1.0]), roots(&[46_341.0, 46_341.0])), (0, 1));
}

#[test]
fn a_sum_that_is_scaled_last_may_be_a_negative_zero() {
    let gemm = |alpha, a: &[f64], b: &[f64]| {
        let n = a.len() as i64;
        let operands = [tensor(DType::F32, &[1, n], a), tensor(DType::F32, &[n, 1], b)];
        reference(Gemm { alpha, beta: 1.0, trans_a: false, trans_b: false }, &operands)
    };
    for (a, b) in [(&[2.0][..], &[-0.0][..]), (&[2.0, 2.0], &[3.0, -3.0])] {
        let negative = gemm(-1.0, a, b);
        assert!(accepts(&negative, &[0.0]) && accepts(&negative, &[-0.0]) && !accepts(&negative, &[1e-45]));
    }
    assert!(!accepts(&gemm(1.0, &[2.0, 2.0], &[3.0, -3.0]), &[-0.0]));
}

#[test]
fn a_batch_may_be_centred_first_or_folded() {
    let line = |dtype, x, parameters: [f64; 3]| {
        let op = BatchNorm { epsilon: 0.0, momentum: 0.9, training_mode: false };
        let [scale, bias, mean] = parameters.map(|v| tensor(dtype, &[1], &[v]));
        reference(op, &[tensor(dtype, &[1, 1], &[x]), scale, bias, mean, tensor(dtype, &[1], &[1.0])])
    };
    // (2 - 2)·-1 is -0, 2·-1 + 2·1 is 0.
    let cancelled = line(DType::F64, 2.0, [-1.0, -0.0, 2.0]);
    assert!(accepts(&cancelled, &[-0.0]) && accepts(&cancelled, &[0.0]) && !accepts(&cancelled, &[1e-300]));
    let (x, scale, bias, mean) = (1.1f32, 0.3f32, 0.7f32, 1.3f32);
    let both = line(DType::F32, x.into(), [scale, bias, mean].map(f64::from));
    let (centred, folded) = ((x - mean) * scale + bias, x * scale + (bias - mean * scale));
    assert!(accepts(&both, &[centred.into()]) && accepts(&both, &[folded.into()]));
    assert!(!accepts(&both, &[f64::from(folded) * (1.0 + 1e-5)]));
}

#[test]
fn the_mean_of_a_normalisation_may_be_a_running_one() {
    // The sum, 8, is exact in every order, and so is the mean; the running one is not.
    let x = [6.0f32, -3.0, -5.0, 1.0, -6.0, 7.0, 0.0, 8.0];
    let mut running = 0.0f32;
    for (k, x) in (1u8..).zip(x) {
        running += (x - running) / f32::from(k);
    }
    assert_ne!(running, 1.0);
    let squares: f32 = x.iter().map(|x| (x - 1.0) * (x - 1.0)).sum();
    let deviation = (squares / 8.0).sqrt();
    let op = MeanVariance { axes: vec![0] };
    let expected = reference(op, &[tensor(DType::F32, &[8], &x.map(f64::from))]);
    let by = |mean: f32| x.map(|x| f64::from((x - mean) / deviation));
    assert!(accepts(&expected, &by(1.0)) && accepts(&expected, &by(running)));
    assert!(!accepts(&expected, &by(1.00001)));
}

#[test]
fn padding_may_be_multiplied_or_left_out() {
    let window = along_an_axis([1, 0]);
    let conv = |weight| {
        let operands =
            [tensor(DType::F32, &[1, 1, 2], &[3.0, 5.0]), tensor(DType::F32, &[1, 1, 2], &[weight, 1.0])];
        reference(Conv { window: window.clone(), group: 1, kernel_shape: None }, &operands)
    };
    let of_nan = conv(f64::NAN);
    assert!(accepts(&of_nan, &[3.0, f64::NAN]) && accepts(&of_nan, &[f64::NAN; 2]));
    assert!(!accepts(&of_nan, &[3.0, 5.0]));
    assert!(!accepts(&conv(2.0), &[f64::NAN, 11.0]) && accepts(&conv(2.0), &[3.0, 11.0]));
}

#[test]
fn a_denormal_may_be_flushed_where_nothing_is_added_to_it() {
    let x = [tensor(DType::F32, &[1, 1], &[1e-40])];
    let activation = |function, alpha: f32| Activation { function, parameters: vec![alpha] };
    let concerned: [Op; 7] = [
        reduce(ReduceFn::Sum),
        reduce(ReduceFn::Mean),
        reduce(ReduceFn::Prod),
        reduce(ReduceFn::L1),
        reduce(ReduceFn::Max),
        activation(ActivationFn::LeakyRelu, 0.01).into(),
        activation(ActivationFn::ThresholdedRelu, -1.0).into(),
    ];
    for op in concerned {
        let by = |profile| reference_by(profile, op.clone(), &x);
        for profile in [&Profile::DECLARED, &Profile::WGSL] {
            let expected = by(profile);
            let x = expected.outputs[0].tensor.to_f64s()[0];
            assert!(accepts(&expected, &[0.0]) && accepts(&expected, &[x]), "{op:?} {}", profile.name);
            assert!(!accepts(&expected, &[1e-37]) && !accepts(&expected, &[f64::NAN]), "{op:?}");
        }
        assert!(!accepts(&by(&Profile::TIGHT), &[0.0]), "{op:?}");
    }
}

#[test]
fn a_runtime_in_shaders_may_take_forms_that_cancel() {
    let x = -3.476_804_f32;
    let by =
        |profile| reference_by(profile, Unary(UnaryFn::Sigmoid), &[tensor(DType::F32, &[1], &[x.into()])]);
    let cancelled = f64::from(1.0 - 1.0 / (1.0 + x.exp()));
    assert!(accepts(&by(&Profile::WGSL_RUNTIME), &[cancelled]));
    assert!(!accepts(&by(&Profile::WGSL), &[cancelled]));
    assert!(!accepts(&by(&Profile::WGSL_RUNTIME), &[cancelled + 1e-6]));
}

#[test]
fn terms_of_a_mean_may_be_scaled_first() {
    // Their sum is exact.
    let x = [1000.0f32, -999.0, 3.0];
    let scaled: f32 = x.iter().map(|x| x / 3.0).sum();
    let divided = x.iter().sum::<f32>() / 3.0;
    let by = |profile| {
        let operand = tensor(DType::F32, &[1, 3], &x.map(f64::from));
        reference_by(profile, reduce(ReduceFn::Mean), &[operand])
    };
    let (tight, declared) = (by(&Profile::TIGHT), by(&Profile::DECLARED));
    assert!(accepts(&declared, &[scaled.into()]) && accepts(&declared, &[divided.into()]));
    assert!(accepts(&tight, &[divided.into()]) && !accepts(&tight, &[scaled.into()]));
    assert!(!accepts(&declared, &[f64::from(divided) * 1.001]));
}

#[test]
fn a_logarithm_of_a_softmax_may_be_subtracted_as_a_whole() {
    let (x, top) = (999.3f32, 1000.6f32);
    let by = |profile| {
        let softmax = Softmax { function: SoftmaxFn::LogSoftmax, axis: -1 };
        reference_by(profile, softmax, &[tensor(DType::F32, &[2], &[x.into(), top.into()])])
    };
    let log = ((x - top).exp() + 1.0).ln();
    let (apart, whole) = ([x - top - log, -log], [x - (top + log), top - (top + log)]);
    assert!(apart != whole);
    let (tight, declared) = (by(&Profile::TIGHT), by(&Profile::DECLARED));
    let accepts = |expected, y: [f32; 2]| accepts(expected, &y.map(f64::from));
    assert!(accepts(&declared, apart) && accepts(&declared, whole));
    assert!(accepts(&tight, apart) && !accepts(&tight, whole) && !accepts(&declared, [0.0; 2]));
}

#[test]
fn the_norm_of_zeros_is_a_zero() {
    let zeros = [tensor(DType::F32, &[1, 2], &[0.0, -0.0])];
    for profile in [&Profile::TIGHT, &Profile::DECLARED, &Profile::WGSL] {
        let by = |op: Op| reference_by(profile, op, &zeros);
        for (op, n) in [(reduce(ReduceFn::L2), 1), (LpNorm { axis: -1, taxicab: false }.into(), 2)] {
            let y = by(op);
            assert!(accepts(&y, &[0.0, 0.0][..n]) && accepts(&y, &[-0.0, -0.0][..n]));
            assert!(!accepts(&y, &[f64::NAN, f64::NAN][..n]) && !accepts(&y, &[1e-30, 1e-30][..n]));
        }
    }
    let log = reference_by(&Profile::DECLARED, reduce(ReduceFn::LogSum), &zeros);
    assert!(accepts(&log, &[f64::NEG_INFINITY]) && !accepts(&log, &[f64::NAN]) && !accepts(&log, &[-100.0]));
}

#[test]
fn the_logarithm_of_infinite_sums_is_infinite() {
    let reduce = |x| {
        let op = Reduce {
            function: ReduceFn::LogSumExp,
            axes: None,
            keepdims: false,
            noop_with_empty_axes: false,
        };
        reference(op, &[tensor(DType::F32, &[2], &[x, f64::NEG_INFINITY])])
    };
    for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
        assert!(accepts(&reduce(infinity), &[infinity]) && !accepts(&reduce(infinity), &[f64::NAN]));
    }
    assert!(accepts(&reduce(f64::NAN), &[f64::NAN]) && accepts(&reduce(1.0), &[1.0]));
}

#[test]
fn an_integer_that_overflows_is_open_but_discarded_bits_are_not() {
    let stored = |profile: &Profile, op: Op, x: &[f64]| {
        let operands: Vec<Tensor> = x.iter().map(|&x| tensor(DType::U8, &[1], &[x])).collect();
        let evaluation = reference_by(profile, op, &operands);
        (evaluation.outputs[0].tensor.to_f64s()[0], evaluation.outputs[0].undecidable())
    };
    let (mul, not) = (Op::from(Binary(BinaryFn::Mul)), Op::from(Unary(UnaryFn::BitwiseNot)));
    assert_eq!(stored(&Profile::TIGHT, mul.clone(), &[28.0, 28.0]), (16.0, 0));
    assert_eq!(stored(&Profile::DECLARED, mul.clone(), &[28.0, 28.0]), (16.0, 1));
    assert_eq!(stored(&Profile::DECLARED, mul, &[3.0, 3.0]), (9.0, 0));
    assert_eq!(stored(&Profile::DECLARED, not, &[3.0]), (252.0, 0));
}

#[test]
fn a_reduction_of_integers_that_overflows_on_its_way_is_open() {
    let open = |function, values: &[f64]| {
        let reduce = Reduce { function, axes: None, keepdims: false, noop_with_empty_axes: false };
        let x = tensor(DType::I32, &[values.len() as i64], values);
        let by = |profile| reference_by(profile, reduce.clone(), std::slice::from_ref(&x)).outputs.remove(0);
        let (tight, declared) = (by(&Profile::TIGHT), by(&Profile::DECLARED));
        assert_eq!((tight.undecidable(), &tight.tensor), (0, &declared.tensor));
        (tight.tensor.to_f64s()[0], declared.undecidable())
    };
    assert_eq!(open(ReduceFn::Mean, &[2_147_483_647.0, 1.0]), (-1_073_741_824.0, 1));
    assert_eq!(open(ReduceFn::Mean, &[2_147_483_647.0, -1.0]), (1_073_741_823.0, 0));
    assert_eq!(open(ReduceFn::Prod, &[65_536.0, 65_536.0, 2.0]), (0.0, 1));
    assert_eq!(open(ReduceFn::L1, &[-2_147_483_648.0]), (-2_147_483_648.0, 1));
}

#[test]
fn a_product_may_be_added_without_being_rounded() {
    let (x, seven) = (0.853_121_f32, 7.0_f32);
    let (unfused, fused) = (x * seven - seven, x.mul_add(seven, -seven));
    assert!(unfused.to_bits() != fused.to_bits());
    let operands = [x, seven].map(|v| tensor(DType::F32, &[1], &[v.into()]));
    let accepts = |profile: &Profile, y: f32| {
        let mut graph = Graph::new();
        let [x, seven] = ["x", "seven"].map(|name| graph.variable(name, Type::new(DType::F32, [1])));
        let product = graph.operator(Op::from(Binary(BinaryFn::Mul)), &[Some(x), Some(seven)]).unwrap();
        let product = Some(ir::Value::new(product, 0));
        let difference = graph.operator(Op::from(Binary(BinaryFn::Sub)), &[product, Some(seven)]).unwrap();
        graph.output("y", ir::Value::new(difference, 0));
        let evaluation = evaluate(&Model::new(21, graph), &operands, profile, Taps::Outputs).unwrap();
        compare(&evaluation.outputs[0], &tensor(DType::F32, &[1], &[y.into()]), profile).unwrap().passes()
    };
    assert!(accepts(&Profile::TIGHT, unfused) && !accepts(&Profile::TIGHT, fused));
    assert!(accepts(&Profile::DECLARED, unfused) && accepts(&Profile::DECLARED, fused));
    assert!(!accepts(&Profile::DECLARED, fused * (1.0 + 1e-5)));
}

/// How many elements are open by our own profile, and by that of runtimes that declare nothing.
fn open(op: impl Into<Op>, operands: &[Tensor]) -> (usize, usize) {
    let op = op.into();
    let by = |profile| {
        let evaluation = reference_by(profile, op.clone(), operands);
        evaluation.outputs[0].error.iter().filter(|e| e.is_infinite()).count()
    };
    (by(&Profile::TIGHT), by(&Profile::DECLARED))
}

/// A window of one cell on each axis, one step at a time.
const PLAIN: Window =
    Window { auto_pad: AutoPad::NotSet, strides: vec![], dilations: vec![], pads: vec![], ceil_mode: false };

fn reduce(function: ReduceFn) -> Op {
    Reduce { function, axes: Some(vec![-1]), keepdims: false, noop_with_empty_axes: false }.into()
}

#[test]
fn the_largest_of_nan_alone_is_open() {
    let pool =
        MaxPool { pool: Pooling { window: PLAIN, kernel_shape: vec![1] }, column_major: false, outputs: 1 };
    let x = [tensor(DType::F32, &[1, 1, 2], &[f64::NAN, f64::NEG_INFINITY])];
    assert_eq!(open(pool, &x), (0, 1));
    let column = [tensor(DType::F32, &[2, 1], &[f64::NAN, f64::NEG_INFINITY])];
    for op in [reduce(ReduceFn::Max), reduce(ReduceFn::Min), Unary(UnaryFn::Sign).into()] {
        assert_eq!(open(op.clone(), &column), (0, 1), "{op:?}");
    }
    // It is the largest, or equal to nothing.
    let hardmax = Softmax { function: SoftmaxFn::Hardmax, axis: -1 };
    let accepts = |profile: &Profile, first: f64| {
        let y = &reference_by(profile, hardmax, &column).outputs[0];
        compare(y, &tensor(DType::F32, &[2, 1], &[first, 1.0]), profile).unwrap().passes()
    };
    assert!(accepts(&Profile::DECLARED, 0.0) && accepts(&Profile::DECLARED, 1.0));
    assert!(!accepts(&Profile::DECLARED, 3.0) && !accepts(&Profile::TIGHT, 0.0));
}

#[test]
fn of_equal_elements_any_may_be_where_the_largest_is() {
    let pooling = Pooling { window: along_an_axis([0, 0]), kernel_shape: vec![2] };
    for dtype in [DType::F32, DType::I8] {
        let x = [tensor(dtype, &[1, 1, 4], &[1.0, 1.0, 0.0, 2.0])];
        let mut graph = Graph::new();
        let input = graph.variable("x".to_owned(), x[0].ty());
        let pool = MaxPool { pool: pooling.clone(), column_major: false, outputs: 2 };
        let node = graph.operator(pool.into(), &[Some(input)]).unwrap();
        graph.output("indices", ir::Value::new(node, 1));
        let indices = evaluate(&Model::new(21, graph), &x, &Profile::TIGHT, Taps::Outputs).unwrap();
        assert_eq!(indices.outputs[0].tensor.to_f64s(), [0.0, 1.0, 3.0], "{dtype}");
        assert!(accepts(&indices, &[1.0, 1.0, 3.0]) && !accepts(&indices, &[0.0, 2.0, 3.0]), "{dtype}");
    }
}

#[test]
fn an_infinity_beside_nan_may_be_the_largest() {
    let inf = f64::INFINITY;
    let lanes = [inf, f64::NAN, -inf, f64::NAN, 1.0, f64::NAN, inf, 1.0];
    let x = tensor(DType::F32, &[4, 2], &lanes);
    // A finite number beside NaN loses in every form of the sum.
    assert_eq!(open(reduce(ReduceFn::LogSumExp), &[x]), (0, 2));
}

#[test]
fn an_infinity_in_a_softmax_leaves_its_lane_open() {
    let x = [tensor(DType::F32, &[2, 2], &[0.0, f64::INFINITY, 0.0, 1.0])];
    for function in [SoftmaxFn::Softmax, SoftmaxFn::LogSoftmax] {
        assert_eq!(open(Softmax { function, axis: -1 }, &x), (0, 2), "{function:?}");
    }
}

#[test]
fn what_a_factor_of_zero_stands_before_may_not_be_read() {
    let gemm = |(alpha, beta), [a, b, c]: [f64; 3]| {
        let operands = [(&[1, 1][..], a), (&[1, 1], b), (&[1], c)].map(|(s, v)| tensor(DType::F32, s, &[v]));
        open(Gemm { alpha, beta, trans_a: false, trans_b: false }, &operands).1
    };
    let nan = f64::NAN;
    for (factors, operands) in [
        ((1.0, 0.0), [1.0, 1.0, nan]),
        ((0.0, 1.0), [f64::INFINITY, 1.0, 1.0]),
        ((0.0, 0.0), [nan, 1.0, nan]),
    ] {
        assert_eq!(gemm(factors, operands), 1, "{factors:?} {operands:?}");
    }
    for (factors, operands) in [
        ((1.0, 0.0), [nan, 1.0, 1.0]),
        ((1.0, 1.0), [1.0, 1.0, nan]),
        ((0.0, 1.0), [1.0, 1.0, nan]),
        ((0.0, 0.0), [1.0, 2.0, 3.0]),
    ] {
        assert_eq!(gemm(factors, operands), 0, "{factors:?} {operands:?}");
    }
}

#[test]
fn a_stride_beyond_the_kernel_leaves_automatic_padding_open() {
    let x = [tensor(DType::F32, &[1, 1, 4], &[1.0, 2.0, 3.0, 4.0])];
    // Padding of (⌈4/s⌉ - 1)·s + (k - 1)·d + 1 - 4: of -1 one end is cropped, the one behind the last window or the beginning.
    for (stride, dilation, kernel, padding) in
        [(3, 1, 1, 0), (2, 1, 1, -1), (4, 1, 1, -3), (4, 1, 2, -2), (4, 2, 2, -1), (4, 3, 2, 0)]
    {
        for (auto_pad, least) in [(AutoPad::SameUpper, -1), (AutoPad::SameLower, 0)] {
            let window = Window { auto_pad, strides: vec![stride], dilations: vec![dilation], ..PLAIN };
            let pool = Pooling { window: window.clone(), kernel_shape: vec![kernel] };
            let positions = (4 + stride - 1) / stride;
            let all_if = |is_open: bool| if is_open { positions } else { 0 };
            let wanted = all_if(padding < least) as usize;
            let max = MaxPool { pool: pool.clone(), column_major: false, outputs: 1 };
            assert_eq!(open(max, &x).0, wanted, "{window:?} {kernel}");
            let mean = AveragePool { pool: pool.clone(), count_include_pad: true };
            assert_eq!(open(mean, &x).0, wanted, "{window:?} {kernel}");
            let w = tensor(DType::F32, &[1, 1, kernel], &vec![1.0; kernel as usize]);
            let conv = Conv { window: window.clone(), group: 1, kernel_shape: None };
            assert_eq!(open(conv, &[x[0].clone(), w]).0, wanted, "{window:?} {kernel}");
            // Its text has no dilations there.
            let wanted = all_if(padding < least || dilation > 1) as usize;
            assert_eq!(open(LpPool { pool, p: 2 }, &x).0, wanted, "{window:?} {kernel}");
        }
    }
}

#[test]
fn the_constants_of_gelu_may_be_f32() {
    let y = |two_by_pi: f64, third: f64| 0.5 * (1.0 + (two_by_pi.sqrt() * (1.0 + third)).tanh());
    let gelu = reference(Gelu { tanh: true }, &[tensor(DType::F64, &[1], &[1.0])]);
    let two_by_pi = std::f64::consts::FRAC_2_PI;
    let (exact, single) = (y(two_by_pi, 0.044_715), y(f64::from(two_by_pi as f32), f64::from(0.044_715_f32)));
    assert!((exact - single).abs() > 1e-10);
    assert!(accepts(&gelu, &[exact]) && accepts(&gelu, &[single]) && !accepts(&gelu, &[exact + 1e-7]));
}

#[test]
fn hard_swish_may_divide_last() {
    let x = 5.283_116_f32;
    let expected = reference(Unary(UnaryFn::HardSwish), &[tensor(DType::F32, &[1], &[x.into()])]);
    let divided_last = x * (x + 3.0).clamp(0.0, 6.0) / 6.0;
    assert!(accepts(&expected, &[x.into()]) && accepts(&expected, &[divided_last.into()]));
    assert!(!accepts(&expected, &[f64::from(x) * (1.0 + 1e-6)]));
}

/// The operator on one element of f32: its value, and whether some element is acceptable.
fn at(op: impl Into<Op>, x: f32) -> (f64, impl Fn(f32) -> bool) {
    let expected = reference(op, &[tensor(DType::F32, &[1], &[x.into()])]);
    (expected.outputs[0].tensor.to_f64s()[0], move |y| accepts(&expected, &[y.into()]))
}

#[test]
fn what_cancels_as_written_is_acceptable_and_not_the_value() {
    let activation = |function: ActivationFn| {
        let parameters = function.attributes().iter().map(|&(_, default)| default).collect();
        Activation { function, parameters }
    };
    for function in [ActivationFn::Elu, ActivationFn::Selu, ActivationFn::Celu] {
        let (value, accepts) = at(activation(function), -1e-21);
        assert!(value < -0.9e-21 && accepts(0.0) && accepts(value as f32) && !accepts(-1e-5), "{function:?}");
    }
    let (value, accepts) = at(Unary(UnaryFn::HardSwish), -3.0);
    assert!(value == 0.0 && accepts(-3.0 * (-3.0 * (1.0 / 6.0) + 0.5)) && !accepts(-1e-5));
    for tanh in [false, true] {
        let (value, accepts) = at(Gelu { tanh }, -8.0);
        assert!(value < 0.0 && value > -1e-13 && accepts(0.0) && !accepts(-1e-4), "{value:e}");
    }
}

#[test]
fn there_is_no_acosh_below_one() {
    let below: Vec<f64> = (0..60).map(|i| -1.0 - 1.3f64.powi(i)).chain([-1.0, 0.0, 0.5]).collect();
    let n = below.len();
    for dtype in [DType::F32, DType::F64] {
        let acosh = reference(Unary(UnaryFn::Acosh), &[tensor(dtype, &[n as i64], &below)]);
        assert!(accepts(&acosh, &vec![f64::NAN; n]), "{dtype}");
    }
}

#[test]
fn a_hard_swish_of_infinity_is_infinite() {
    let x = [tensor(DType::F32, &[1], &[f64::INFINITY])];
    let y = &reference_by(&Profile::DECLARED, Unary(UnaryFn::HardSwish), &x).outputs[0];
    assert_eq!((y.tensor.to_f64s(), y.error_at(0)), (vec![f64::INFINITY], 0.0));
}
