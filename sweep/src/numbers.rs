//! The numbers that operands hold: edges of a dtype, all of its numbers, and samples of them.

use std::collections::BTreeSet;

use ir::format::FloatFormat;
use ir::round::round_to_format;
use ir::{Choices, DType, Tensor, Type};
use rand::RngExt;

/// Numbers of one dtype, in order.
#[derive(Clone, PartialEq, Debug)]
pub enum Numbers {
    /// Of a float.
    Real(Vec<f64>),
    /// Of an integer, or truth values.
    Whole(Vec<i128>),
}

impl Numbers {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Real(all) => all.len(),
            Self::Whole(all) => all.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers at some positions, which may repeat.
    #[must_use]
    pub fn at(&self, positions: &[usize]) -> Self {
        match self {
            Self::Real(all) => Self::Real(positions.iter().map(|&i| all[i]).collect()),
            Self::Whole(all) => Self::Whole(positions.iter().map(|&i| all[i]).collect()),
        }
    }

    /// These numbers, and others of the same dtype behind them.
    ///
    /// # Panics
    /// If one are of a float and the others are not.
    #[must_use]
    pub fn and(self, others: Self) -> Self {
        match (self, others) {
            (Self::Real(all), Self::Real(more)) => Self::Real([all, more].concat()),
            (Self::Whole(all), Self::Whole(more)) => Self::Whole([all, more].concat()),
            (Self::Real(_), Self::Whole(_)) | (Self::Whole(_), Self::Real(_)) => {
                unreachable!("a column has one dtype")
            }
        }
    }

    /// As a tensor of a shape; they repeat where it has more elements.
    pub fn tensor(&self, dtype: DType, shape: &[i64]) -> Tensor {
        let ty = Type::new(dtype, shape);
        match self {
            Self::Real(all) => Tensor::from_f64_fn(&ty, |i| all[i % all.len()]),
            Self::Whole(all) => Tensor::from_i128_fn(&ty, |i| all[i % all.len()]),
        }
    }

    /// The number of a code: the bits of a float, or of an integer.
    fn of_codes(dtype: DType, codes: impl Iterator<Item = u64>) -> Self {
        match dtype.float() {
            Some(format) => Self::Real(codes.map(|code| format.decode(code)).collect()),
            None => Self::Whole(codes.map(|code| dtype.wrap(i128::from(code))).collect()),
        }
    }
}

/// A number of a dtype in as few digits as tell it from its neighbours; every f16 and bf16 is an f32.
pub fn text(dtype: DType, number: f64) -> String {
    if dtype == DType::F64 { format!("{number:?}") } else { format!("{:?}", number as f32) }
}

/// How many bits tell the numbers of a dtype apart.
pub fn bits(dtype: DType) -> u32 {
    if dtype == DType::Bool { 1 } else { dtype.bits() }
}

/// The ends of a dtype that is no float.
fn range(dtype: DType) -> (i128, i128) {
    dtype.int_range().unwrap_or((0, 1))
}

/// Every number of a dtype of at most 16 bits.
pub fn every(dtype: DType) -> Numbers {
    Numbers::of_codes(dtype, 0..1 << bits(dtype))
}

/// Every pair of numbers of a dtype of at most 8 bits.
pub fn every_pair(dtype: DType) -> [Numbers; 2] {
    let bits = bits(dtype);
    let pairs = || 0..1u64 << (2 * bits);
    let low = (1 << bits) - 1;
    [Numbers::of_codes(dtype, pairs().map(|i| i >> bits)), Numbers::of_codes(dtype, pairs().map(|i| i & low))]
}

/// One number of each of `count` ranges of equally many codes, those from `from` on: log-uniform among floats, and uniform among
/// integers. Where there are as many ranges as codes, that is every number.
pub fn one_of_each(dtype: DType, from: u64, count: u64, ranges: u64, choices: &mut Choices) -> Numbers {
    let all = 1u128 << bits(dtype);
    let start = |range: u64| (u128::from(range) * all / u128::from(ranges)) as u64;
    let mut code = |range: u64| {
        let (first, width) = (start(range), (all / u128::from(ranges)).max(1) as u64);
        first + if width > 1 { choices.random_range(0..width) } else { 0 }
    };
    Numbers::of_codes(dtype, (from..from + count).map(&mut code))
}

/// Floats whose magnitudes are between 2⁻¹² and 2¹², log-uniform; small integers. Most functions are neither flat nor nearly the
/// identity there, and few sums overflow.
pub fn usual(dtype: DType, count: u64, choices: &mut Choices) -> Numbers {
    if let Some(format) = dtype.float() {
        return Numbers::Real((0..count).map(|_| log_uniform(format, 12, choices)).collect());
    }
    let (least, most) = range(dtype);
    let (low, high) = (least.max(-100), most.min(100));
    Numbers::Whole((0..count).map(|_| choices.random_range(low..=high)).collect())
}

/// A number of either sign with a magnitude from 2⁻ᵉ to 2ᵉ.
fn log_uniform(format: FloatFormat, exponent: i32, choices: &mut Choices) -> f64 {
    let power = choices.random_range(-f64::from(exponent)..f64::from(exponent));
    let sign = if choices.random() { 1.0 } else { -1.0 };
    round_to_format(format, sign * power.exp2())
}

/// Any numbers: log-uniform over all of a dtype's, infinities and NaN now and then.
pub fn any(dtype: DType, count: u64, choices: &mut Choices) -> Numbers {
    if dtype.is_float() {
        let mask = u64::MAX >> (64 - bits(dtype));
        return Numbers::of_codes(dtype, (0..count).map(|_| choices.random::<u64>() & mask));
    }
    let (least, most) = range(dtype);
    let mut number = || {
        let bits = choices.random_range(0..=bits(dtype));
        let magnitude = choices.random_range(0..=(1i128 << bits));
        let signed = if least < 0 && choices.random() { -magnitude } else { magnitude };
        signed.clamp(least, most)
    };
    Numbers::Whole((0..count).map(|_| number()).collect())
}

/// Numbers next to others: the same one, or a few steps off, or its negative. Differences cancel there, and quotients are near 1.
pub fn next_to(dtype: DType, others: &Numbers, choices: &mut Choices) -> Numbers {
    match (others, dtype.float()) {
        (Numbers::Real(all), Some(format)) => {
            let mut near = |&v: &f64| {
                let sign = if choices.random() { 1.0 } else { -1.0 };
                let steps = f64::from(choices.random_range(-2..=2));
                let moved = v + steps * format.ulp(v);
                sign * if moved.is_nan() { v } else { round_to_format(format, moved) }
            };
            Numbers::Real(all.iter().map(&mut near).collect())
        }
        (Numbers::Whole(all), _) => {
            let mut near = |&v: &i128| dtype.wrap(v + choices.random_range(-2..=2));
            Numbers::Whole(all.iter().map(&mut near).collect())
        }
        (Numbers::Real(all), None) => Numbers::Real(all.clone()),
    }
}

/// The edges of a dtype: zeros, denormals, the ends, ties, what is next to powers of two; and the ends of a domain,
/// with what is next to them.
pub fn edges(dtype: DType, domain: &[f64]) -> Numbers {
    match dtype.float() {
        Some(format) => Numbers::Real(float_edges(format, domain)),
        None => Numbers::Whole(integer_edges(range(dtype), domain)),
    }
}

/// Powers of two next to which formats, integers or intermediate results end.
const ENDS: [i32; 16] = [-24, -12, -1, 0, 1, 7, 8, 11, 15, 16, 23, 24, 31, 32, 63, 64];

/// Where functions are flat, fold their argument, or go beyond a format: logarithms of largest and least numbers, and
/// arguments for which a range reduction loses its digits.
const TURNS: [f64; 14] = [0.1, 5.5, 9.0, 11.1, 17.3, 20.0, 88.0, 88.73, 89.5, 104.0, 709.8, 745.2, 1e5, 1e22];

/// Halves, which ties to even and ties away round differently.
const TIES: [f64; 6] = [0.5, 1.5, 2.5, 3.5, 127.5, 32767.5];

fn float_edges(format: FloatFormat, domain: &[f64]) -> Vec<f64> {
    let least = format.ulp(0.0);
    let limits = [
        0.0,
        least,
        3.0 * least,
        format.min_normal() / 2.0,
        format.min_normal() - least,
        format.min_normal(),
        format.min_normal() + least,
        format.epsilon(),
        format.max_finite().sqrt(),
        format.max_finite() / 2.0,
        format.max_finite(),
        f64::INFINITY,
    ];
    let quarters = (1..=8).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_4);
    let powers = ENDS.into_iter().map(|e| f64::from(e).exp2());
    let turning = powers.chain(quarters).chain(TURNS).chain(domain.iter().map(|v| v.abs()));
    let beside = turning.flat_map(|v| {
        let near = round_to_format(format, v);
        [near, near - format.ulp(near), near + format.ulp(near)]
    });
    let magnitudes = limits.into_iter().chain(TIES).chain(beside).map(|v| round_to_format(format, v));
    // Ordered by their bits, so that zeros of both signs are two.
    let bits: BTreeSet<u64> = magnitudes.flat_map(|v| [v.abs(), -v.abs()]).map(f64::to_bits).collect();
    let numbers = bits.into_iter().map(f64::from_bits).filter(|v| !v.is_nan());
    numbers.chain([f64::NAN]).collect()
}

fn integer_edges((least, most): (i128, i128), domain: &[f64]) -> Vec<i128> {
    let powers = [0, 1, 2, 7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 62, 63].map(|bits| 1i128 << bits);
    let turning = powers.into_iter().chain(domain.iter().filter(|v| v.is_finite()).map(|&v| v as i128));
    let beside = turning.flat_map(|v| [v - 1, v, v + 1]).flat_map(|v| [v, -v]);
    let all = beside.chain([least, least + 1, most - 1, most, most / 3]);
    let inside: BTreeSet<i128> = all.filter(|v| (least..=most).contains(v)).collect();
    inside.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use ir::Stream;

    use super::*;

    #[test]
    fn every_number_of_a_dtype_is_there_once() {
        let Numbers::Real(halves) = every(DType::F16) else { panic!("floats") };
        let distinct: BTreeSet<u64> = halves.iter().filter(|v| !v.is_nan()).map(|v| v.to_bits()).collect();
        // Of 65,536 codes 2,046 are NaN.
        assert_eq!((halves.len(), distinct.len()), (65_536, 65_536 - 2046));
        let Numbers::Whole(bytes) = every(DType::I8) else { panic!("integers") };
        assert_eq!(bytes.iter().copied().collect::<BTreeSet<_>>(), (-128..=127).collect());
        assert_eq!(every(DType::Bool), Numbers::Whole(vec![0, 1]));
    }

    #[test]
    #[should_panic(expected = "a column has one dtype")]
    fn numbers_of_two_kinds_are_no_column() {
        let _ = Numbers::Real(vec![0.5]).and(Numbers::Whole(vec![1]));
    }

    #[test]
    fn every_pair_of_bytes_is_there_once() {
        let [Numbers::Whole(a), Numbers::Whole(b)] = every_pair(DType::U8) else { panic!("integers") };
        let pairs: BTreeSet<(i128, i128)> = a.into_iter().zip(b).collect();
        assert_eq!(pairs.len(), 65_536);
    }

    #[test]
    fn as_many_ranges_as_codes_are_every_number() {
        let mut choices = Stream::new(1).rng();
        let parts = [0, 1 << 15].map(|from| one_of_each(DType::BF16, from, 1 << 15, 1 << 16, &mut choices));
        let [Numbers::Real(first), Numbers::Real(second)] = parts else { panic!("floats") };
        let Numbers::Real(all) = every(DType::BF16) else { panic!("floats") };
        let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&[first, second].concat()), bits(&all));
    }

    #[test]
    fn samples_come_from_the_whole_range() {
        let mut choices = Stream::new(2).rng();
        let Numbers::Real(all) = one_of_each(DType::F32, 0, 1024, 1024, &mut choices) else {
            panic!("floats")
        };
        assert!(all.iter().any(|v| v.is_nan()) && all.iter().any(|v| v.abs() > 1e38 && v.is_finite()));
        assert!(all.iter().any(|v| v.abs() < 1e-37 && *v != 0.0) && all.iter().any(|v| *v < 0.0));
    }

    #[test]
    fn edges_have_both_zeros_the_ends_and_what_is_next_to_a_domain() {
        let Numbers::Real(all) = edges(DType::F32, &[3.0]) else { panic!("floats") };
        for wanted in [-0.0, 0.0, f64::from(f32::MAX), -f64::from(f32::MIN_POSITIVE), 1e-45f32.into()] {
            assert!(all.iter().any(|v| v.to_bits() == wanted.to_bits()), "{wanted}");
        }
        for wanted in [f64::from(3.0f32.next_up()), f64::from((-3.0f32).next_down()), f64::INFINITY, 2.5] {
            assert!(all.contains(&wanted), "{wanted}");
        }
        let Numbers::Whole(all) = edges(DType::U8, &[]) else { panic!("integers") };
        assert!([0, 1, 127, 128, 254, 255].iter().all(|v| all.contains(v)) && !all.contains(&-1));
    }

    #[test]
    fn neighbours_are_a_few_steps_off() {
        let mut choices = Stream::new(3).rng();
        let ones = Numbers::Real(vec![1.0; 64]);
        let Numbers::Real(near) = next_to(DType::F16, &ones, &mut choices) else { panic!("floats") };
        assert!(near.iter().all(|v| (v.abs() - 1.0).abs() <= 2.0 * FloatFormat::F16.epsilon()));
    }
}
