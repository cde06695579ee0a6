//! Sums of products.

use ir::DType;
use onnxsmith_interp::Profile;
use ops::Op;
use ops::linear::Einsum;
use ops::linear::equation::Equation;
use ops::nn::Conv;
use rand::RngExt;

use super::{PLAIN, accepts, open, reference, reference_by, tensor};

fn einsum(equation: &str) -> Op {
    Einsum { equation: Equation::parse(equation).unwrap() }.into()
}

#[test]
fn an_axis_that_one_operand_alone_has_may_be_summed_first() {
    let sums = |equation: &str, a: f64, b: &[f64]| {
        let operands = [tensor(DType::F32, &[1], &[a]), tensor(DType::F32, &[b.len() as i64], b)];
        reference(einsum(equation), &operands)
    };
    let max = f64::from(f32::MAX);
    // A factor, what is summed, the sum of products and the product by the sum.
    let parting = [
        (f64::INFINITY, [1.0, -0.5], f64::NAN, f64::INFINITY),
        (0.25, [max, max], 0.5 * max, f64::INFINITY),
        (0.0, [max, max], 0.0, f64::NAN),
    ];
    for (a, b, of_products, by_sum) in parting {
        let all = sums("k,i->k", a, &b);
        assert!(accepts(&all, &[of_products]) && accepts(&all, &[by_sum]), "{a} {b:?}");
    }
    for (a, b, right, wrong) in [
        (f64::INFINITY, [1.0, 0.5], f64::INFINITY, f64::NAN),
        (2.0, [1.0, 0.5], 3.0, 3.001),
        (f64::NAN, [1.0, 1.0], f64::NAN, 2.0),
    ] {
        let all = sums("k,i->k", a, &b);
        assert!(accepts(&all, &[right]) && !accepts(&all, &[wrong]), "{a} {b:?}");
    }
    // Each operand has the axis: there is one reading.
    let shared = [tensor(DType::F32, &[2], &[f64::INFINITY; 2]), tensor(DType::F32, &[2], &[1.0, -0.5])];
    let (all, _) = open(einsum("i,i->"), &shared);
    assert_eq!(all, 0, "∞ − ∞ is NaN in any order");
}

#[test]
fn three_operands_may_be_multiplied_from_either_end() {
    let x = |values: &[f64]| tensor(DType::F32, &[2], values);
    let matrix = tensor(DType::F32, &[2, 2], &[1.0, -1.0, 1.0, 1.0]);
    // Σⱼₖ xⱼ·mⱼₖ·yₖ with infinities in x: from the left Σⱼ is ∞·1 + ∞·1 = ∞ and −∞ + ∞ = NaN; from the right m·y is (0,
    // 2), and ∞·0 is NaN.
    let all = reference(einsum("j,jk,k->"), &[x(&[f64::INFINITY, 1.0]), matrix.clone(), x(&[1.0, 0.5])]);
    assert!(accepts(&all, &[f64::NAN]) && accepts(&all, &[f64::INFINITY]), "½·∞, or ∞ − ½·∞");
    let all = reference(einsum("j,jk,k->"), &[x(&[1.0, 2.0]), matrix, x(&[1.0, 0.5])]);
    assert!(accepts(&all, &[3.5]) && !accepts(&all, &[3.75]));
}

#[test]
fn sums_of_no_terms_are_read_both_ways_too() {
    let none = |shape: &[i64]| tensor(DType::F32, shape, &[]);
    let x = |values: &[f64]| tensor(DType::F32, &[values.len() as i64], values);
    let finite = reference(einsum("k,i->k"), &[x(&[2.0, 3.0]), none(&[0])]);
    assert!(accepts(&finite, &[0.0, 0.0]) && !accepts(&finite, &[0.0, 1.0]));
    let infinite = reference(einsum("k,i->k"), &[x(&[f64::INFINITY]), none(&[0])]);
    assert!(accepts(&infinite, &[0.0]) && accepts(&infinite, &[f64::NAN]), "nothing, or ∞·0");
    let three = reference(einsum("ij,j,k->"), &[none(&[2, 0]), none(&[0]), x(&[1.0, 2.0, 3.0])]);
    assert!(accepts(&three, &[0.0]) && !accepts(&three, &[6.0]));
    let beside = reference(einsum("ij,k->j"), &[tensor(DType::F32, &[2, 2], &[1.0; 4]), none(&[0])]);
    assert!(accepts(&beside, &[0.0, 0.0]));
}

type Square<const N: usize> = [[f32; N]; N];

/// Winograd's F(2×2, 3×3) in f32, step by step.
fn winograd(x: &Square<4>, w: &Square<3>) -> [f32; 4] {
    let data = |d: [f32; 4]| [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]];
    let filter = |g: [f32; 3]| [g[0], 0.5 * (g[0] + g[1] + g[2]), 0.5 * (g[0] - g[1] + g[2]), g[2]];
    let output = |m: [f32; 4]| [m[0] + m[1] + m[2], m[1] - m[2] - m[3]];
    let column = |rows: &[[f32; 4]], j: usize| std::array::from_fn(|i| rows[i][j]);
    // Along the rows, then along the columns; the transposition cancels in the product.
    let x_rows = x.map(data);
    let w_rows = w.map(filter);
    let products: Square<4> = std::array::from_fn(|j| {
        let u = data(column(&x_rows, j));
        let v = filter(std::array::from_fn(|i| w_rows[i][j]));
        std::array::from_fn(|i| u[i] * v[i])
    });
    let halves: [[f32; 2]; 4] = products.map(output);
    let [left, right] = [0, 1].map(|i| output(std::array::from_fn(|j| halves[j][i])));
    [left[0], left[1], right[0], right[1]]
}

#[test]
fn winograd_is_for_those_who_say_so() {
    let (mut worst, mut outside) = (0.0f64, 0);
    for seed in 0..500 {
        let rng = &mut ir::Stream::new(seed).rng();
        let mut x: Square<4> = std::array::from_fn(|_| std::array::from_fn(|_| rng.random_range(-1.0..1.0)));
        let mut w: Square<3> = std::array::from_fn(|_| std::array::from_fn(|_| rng.random_range(-1.0..1.0)));
        // A large element of no weight in the first sum: transformed, it is there.
        (x[1][1], w[1][1]) = (1e4 * x[1][1], 0.0);
        let flat = |v: &[f32]| v.iter().copied().map(f64::from).collect::<Vec<_>>();
        let (x_tensor, w_tensor) = (
            tensor(DType::F32, &[1, 1, 4, 4], &flat(x.as_flattened())),
            tensor(DType::F32, &[1, 1, 3, 3], &flat(w.as_flattened())),
        );
        let conv = Conv { window: PLAIN, group: 1, kernel_shape: None };
        let by = |profile| reference_by(profile, conv.clone(), &[x_tensor.clone(), w_tensor.clone()]);
        let numbers: Vec<f64> = winograd(&x, &w).map(f64::from).to_vec();
        let transforming = by(&Profile::TRANSFORMING);
        assert!(accepts(&transforming, &numbers), "seed {seed}: {numbers:?}");
        outside += usize::from(!accepts(&by(&Profile::DECLARED), &numbers));
        let (values, errors) = (transforming.outputs[0].tensor.to_f64s(), &transforming.outputs[0].error);
        for ((number, value), error) in numbers.iter().zip(values).zip(errors) {
            worst = worst.max((number - value).abs() / error);
        }
    }
    assert!(outside > 10, "{outside} are outside of the ordinary bound");
    assert!(worst > 0.001, "no bound is used by more than {worst}");
}
