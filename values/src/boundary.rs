//! Numbers at an operator's edges.

use ir::format::{FloatFormat, exp2i};
use ir::{DType, Type};
use ops::operator::Edge;
use ops::{Hazard, Op, Operator};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

use crate::origin::Number;
use crate::undefined::Wish;

/// What to put where: an edge of one operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Aim {
    /// One that the operator declares, or that follows from the operand's dtype.
    Edge(Edge),
    /// The ends of where the operator is defined.
    Ends(f64, f64),
    /// Where the operator is infinite or NaN: what is not as wished.
    Poles(Wish),
}

impl Aim {
    /// A short name for reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ends(..) => "ends of the domain",
            Self::Poles(_) => Edge::Poles.name(),
            Self::Edge(edge) => edge.name(),
        }
    }

    /// The operand whose elements the numbers depend on.
    pub(crate) fn meets(self) -> Option<usize> {
        match self {
            Self::Edge(
                Edge::Meets(other) | Edge::Halves(other) | Edge::Sums(other) | Edge::Products(other),
            ) => Some(other),
            Self::Edge(_) | Self::Ends(..) | Self::Poles(_) => None,
        }
    }

    /// Whether the element that another operand has there is moved with it: numbers of the usual size overflow with none.
    pub(crate) fn moves_both(self) -> bool {
        matches!(self, Self::Edge(Edge::Sums(_) | Edge::Products(_)))
    }

    /// Whether a device may flush what is meant or treat it as it likes, as WGSL lets it: the rest of a graph says nothing there.
    pub(crate) fn is_open_to_devices(self) -> bool {
        self.is_non_finite() || matches!(self, Self::Edge(Edge::Denormals))
    }

    /// Whether infinities and NaN are meant, or may be what comes of it.
    pub(crate) fn is_non_finite(self) -> bool {
        let is_made = matches!(self, Self::Poles(_)) || self.moves_both();
        is_made || matches!(self, Self::Edge(Edge::NonFinite | Edge::Beyond(_)))
    }
}

/// An edge of an operand, and how often it is taken beside the others of its operator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Aimed {
    pub operand: usize,
    pub aim: Aim,
    pub weight: u32,
}

/// How often an edge is taken that an operator states of itself, where those that its operands have by their dtypes are
/// taken once all together: these every operator meets.
const STATED: u32 = 3;

/// How often infinities and NaN are, where not every profile has to promise something.
const NON_FINITE: u32 = 9;

/// The edges of an operator's operands, and how often a branch is taken beside them.
pub(crate) struct Aims {
    /// What the operator declares, the ends of its hazards, and what its operands' dtypes have.
    pub edges: Vec<Aimed>,
    /// The weight of what is taken as often as an edge that the operator states.
    pub of_branches: u32,
}

/// The edges that an operator states of its operands, where their dtypes have them.
pub(crate) fn stated(op: &Op, types: &[Option<&Type>]) -> Vec<(usize, Edge)> {
    let dtype = |operand: usize| types.get(operand).copied().flatten().map(|ty| ty.dtype);
    let is_there = |&(operand, edge): &(usize, Edge)| dtype(operand).is_some_and(|dtype| edge.is_of(dtype));
    op.facts(types).edges.into_iter().filter(is_there).collect()
}

/// The edges of an operator's operands.
pub(crate) fn aims(op: &Op, types: &[Option<&Type>], is_promised: bool) -> Aims {
    let hazards = op.hazards(types);
    let declared = stated(op, types).into_iter().flat_map(|(operand, edge)| aims_of(operand, edge, &hazards));
    let ends = hazards.iter().filter_map(|hazard| match *hazard {
        Hazard::Outside { operand, low, high } | Hazard::Far { operand, low, high } => {
            Some((operand, Aim::Ends(low, high)))
        }
        Hazard::Zero { .. }
        | Hazard::Meeting { .. }
        | Hazard::Perhaps { .. }
        | Hazard::Count { .. }
        | Hazard::Repeated { .. }
        | Hazard::Ties { .. }
        | Hazard::Always => None,
    });
    let of_dtypes = types.iter().enumerate().filter_map(|(i, ty)| Some((i, (*ty)?.dtype)));
    let of_dtypes = of_dtypes.filter(|(_, dtype)| *dtype != DType::Bool).flat_map(|(i, dtype)| {
        let edges =
            if dtype.is_float() { [Edge::Zeros, Edge::Denormals] } else { [Edge::Limits, Edge::Wide] };
        edges.map(|edge| Aimed { operand: i, aim: Aim::Edge(edge), weight: 1 })
    });
    let of_dtypes: Vec<Aimed> = of_dtypes.collect();
    let unit = of_dtypes.len().max(1) as u32;
    let weight = |aim: Aim| unit * weight(aim, is_promised);
    let stated = declared.chain(ends).map(|(operand, aim)| Aimed { operand, aim, weight: weight(aim) });
    Aims { edges: stated.chain(of_dtypes).collect(), of_branches: STATED * unit }
}

/// What an edge of an operand means: where its poles are, its hazards tell.
fn aims_of(operand: usize, edge: Edge, hazards: &[Hazard]) -> Vec<(usize, Aim)> {
    if edge != Edge::Poles {
        return vec![(operand, Aim::Edge(edge))];
    }
    let wishes = hazards.iter().filter_map(Wish::of).filter(|(of, _)| *of == operand);
    wishes.map(|(_, wish)| (operand, Aim::Poles(wish))).collect()
}

/// How often an aim is taken that an operator states.
fn weight(aim: Aim, is_promised: bool) -> u32 {
    match aim {
        Aim::Edge(Edge::NonFinite) if !is_promised => NON_FINITE,
        // Where every profile has to promise something, next to nothing of it is kept.
        Aim::Poles(_) | Aim::Edge(Edge::Sums(_) | Edge::Products(_)) if is_promised => 1,
        Aim::Poles(_) | Aim::Edge(_) | Aim::Ends(..) => STATED,
    }
}

/// A number at the edge for an element of a dtype. `other` is the element of the operand that it depends on.
pub(crate) fn number(aim: Aim, dtype: DType, other: Option<Number>, rng: &mut impl Rng) -> Number {
    match dtype.int_range() {
        Some(ends) => Number::Int(integer(aim, ends, other, rng)),
        None => Number::Real(ir::round::round_to(dtype, real(aim, dtype, other, rng))),
    }
}

/// A number in the place of one that an aim depends on, in the operand that it [`meets`](Aim::meets): a large one where both are moved,
/// else a zero.
pub(crate) fn met(aim: Aim, dtype: DType, of: Number, rng: &mut impl Rng) -> Number {
    let Some(format) = dtype.float().filter(|_| aim.moves_both()) else { return zero(of, rng) };
    let most = format.max_finite();
    let large = match aim {
        Aim::Edge(Edge::Products(_)) => {
            let part = rng.random_range(format.max_exponent() / 4..=format.max_exponent() * 3 / 4);
            exp2i(part)
        }
        _ => pick(rng, &[most / 2.0, most * 0.75, most, f64::INFINITY]),
    };
    Number::Real(large.copysign(if rng.random() { 1.0 } else { -1.0 }))
}

/// A zero in the place of a number.
fn zero(of: Number, rng: &mut impl Rng) -> Number {
    match of {
        Number::Real(_) => Number::Real(0f64.copysign(if rng.random() { 1.0 } else { -1.0 })),
        Number::Int(_) => Number::Int(0),
    }
}

fn pick<T: Copy>(rng: &mut impl Rng, from: &[T]) -> T {
    from[rng.random_range(0..from.len())]
}

/// A distance in units in the last place: in one of three draws none, else a power of two below 2^`digits`, on either side. What an
/// operator computes of its operands is not known to the last digit, and what is nearer than that cannot be judged.
fn beside(digits: i32, rng: &mut impl Rng) -> f64 {
    let sign = f64::from(rng.random_range(-1..=1));
    sign * exp2i(rng.random_range(0..digits.max(1)))
}

/// A number that is not as wished: one beside an end, beyond it, or 0.
fn pole(wish: Wish, format: FloatFormat, rng: &mut impl Rng) -> f64 {
    let all = match wish {
        Wish::Between(low, high) => {
            let beside = [1.0, 2.0, 4.0]
                .into_iter()
                .flat_map(|steps| [low - steps * format.ulp(low), high + steps * format.ulp(high)]);
            beside.chain([0.0, -0.0, low - 1.0, high + 1.0, 2.0 * high]).collect()
        }
        Wish::Not(number) => vec![number, -number],
        Wish::Smaller => Vec::new(),
    };
    let is_one = |v: &f64| v.abs() <= format.max_finite() && !wish.holds(*v);
    let all: Vec<f64> = all.into_iter().filter(is_one).collect();
    all.choose(rng).copied().unwrap_or(0.0)
}

/// A number whose sum or product with another, by magnitudes, is about the largest there is.
fn beyond(edge: Edge, other: Option<Number>, format: FloatFormat, rng: &mut impl Rng) -> f64 {
    let most = format.max_finite();
    match (edge, other) {
        (_, Some(Number::Real(v))) if v.is_infinite() => v.abs(),
        (Edge::Products(_), Some(Number::Real(v))) if v != 0.0 => {
            let factor = pick(rng, &[0.5, 1.0, 1.0 + 4.0 * format.epsilon(), 2.0, 16.0]);
            (factor * (most / v.abs())).min(most)
        }
        (Edge::Sums(_), Some(Number::Real(v))) => {
            let steps = pick(rng, &[-1.0, 0.0, 1.0, 4.0]);
            (most - v.abs() + steps * format.ulp(most)).min(most)
        }
        _ => most,
    }
}

fn real(aim: Aim, dtype: DType, other: Option<Number>, rng: &mut impl Rng) -> f64 {
    // Only floats get here.
    let Some(format) = dtype.float() else { return 0.0 };
    let sign = if rng.random() { 1.0 } else { -1.0 };
    let near = |v: f64, step: i32| v + f64::from(step) * format.ulp(v);
    match aim {
        Aim::Ends(low, high) => {
            let end = if rng.random() { low } else { high };
            let inwards = rng.random_range(0..3) * if end == low { 1 } else { -1 };
            near(end, inwards).clamp(low, high)
        }
        Aim::Poles(wish) => pole(wish, format, rng),
        Aim::Edge(edge @ (Edge::Sums(_) | Edge::Products(_))) => sign * beyond(edge, other, format, rng),
        // Where poles are is not said here: a divisor has one at 0.
        Aim::Edge(Edge::Zeros | Edge::Poles) => 0f64.copysign(sign),
        Aim::Edge(Edge::Denormals) => sign * format.min_normal() * rng.random::<f64>(),
        Aim::Edge(Edge::Limits) => sign * format.max_finite() / pick(rng, &[1.0, 2.0, 16.0]),
        Aim::Edge(Edge::Saturation) => {
            let far: [f64; 9] = [6.0, 9.0, 11.0, 17.0, 20.0, 40.0, 88.0, 104.0, 750.0];
            sign * pick(rng, &far).min(format.max_finite())
        }
        Aim::Edge(Edge::Stall) => {
            let unit = exp2i(format.precision());
            if rng.random_bool(0.125) { unit } else { 1.0 }
        }
        Aim::Edge(Edge::Squares) => {
            sign * libm::exp2(libm::log2(format.max_finite()) * rng.random_range(0.5..0.75))
        }
        Aim::Edge(Edge::Powers) => pick(rng, &[0.0, 1.0, -1.0, 2.0, 3.0, 0.5, -0.5]),
        Aim::Edge(Edge::Alike) => pick(rng, &[1.5, 1.5, -2.0]),
        Aim::Edge(Edge::NonFinite) => pick(rng, &[f64::NAN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
        Aim::Edge(Edge::Meets(_)) => match other {
            // A zero meets the other one, too.
            Some(Number::Real(0.0)) => 0f64.copysign(sign),
            Some(Number::Real(v)) => v + beside(format.precision() / 2, rng) * format.ulp(v),
            _ => 0.0,
        },
        Aim::Edge(Edge::Halves(_)) => match other {
            Some(Number::Real(v)) => (f64::from(rng.random_range(-8..8)) + 0.5) * v,
            _ => 0.5,
        },
        Aim::Edge(Edge::Between(to)) => {
            let value = sign * (1.0 + 7.0 * rng.random::<f64>());
            let Some(target) = to.float() else { return value.round() + 0.5 };
            let below = ir::round::round_to(to, value);
            // Halfway between two numbers of the narrower dtype, or beside it: nearer to it than to either.
            let tie = below + target.ulp(below) / 2.0;
            let between = format.precision() - target.precision() - 1;
            tie + beside(between, rng) * format.ulp(tie)
        }
        Aim::Edge(Edge::Beyond(to)) => {
            let Some(target) = to.float() else { return 0.0 };
            let most = target.max_finite();
            // Halfway to what would be the next number: what rounds there is too large.
            let halfway = most + target.ulp(most) / 2.0;
            let number = pick(rng, &[most, halfway, halfway, 2.0 * most, 16.0 * most]);
            let number =
                number + beside(format.precision() - target.precision() - 1, rng) * format.ulp(number);
            sign * number.min(format.max_finite())
        }
        Aim::Edge(Edge::Wide) => sign * (exp2i(format.precision()) + f64::from(rng.random_range(0..4))),
    }
}

fn integer(aim: Aim, (least, most): (i128, i128), other: Option<Number>, rng: &mut impl Rng) -> i128 {
    match aim {
        Aim::Ends(low, high) => {
            let (low, high) = ((low.ceil() as i128).max(least), (high.floor() as i128).min(most));
            let inwards = rng.random_range(0..2);
            if rng.random() { (low + inwards).min(high) } else { (high - inwards).max(low) }
        }
        Aim::Edge(Edge::Limits) => {
            pick(rng, &[least, least + 1, most, most - 1, most / 2 + 1, if least < 0 { -1 } else { 0 }])
        }
        Aim::Edge(Edge::Meets(_)) => match other {
            Some(Number::Int(z)) => (z + rng.random_range(-1..=1)).clamp(least, most),
            _ => 0,
        },
        Aim::Edge(Edge::Powers) => pick(rng, &[0, 1, 2, 3, least.max(-1)]),
        Aim::Edge(Edge::Alike) => pick(rng, &[3, 3, least.max(-2)]),
        // Integers have no poles.
        Aim::Edge(Edge::Zeros | Edge::Denormals) | Aim::Poles(_) => 0,
        Aim::Edge(Edge::Stall) if rng.random_bool(0.875) => 1,
        // More bits than some float holds, and the last bit set.
        Aim::Edge(_) => {
            let bits = pick(rng, if most > i128::from(u32::MAX) { &[53, 53, 24, 11] } else { &[24, 11, 8] });
            let wide = ((1i128 << bits) + rng.random_range(0..1i128 << (bits - 1))) | 1;
            let signed = if least < 0 && rng.random() { -wide } else { wide };
            if (least..=most).contains(&signed) { signed } else { rng.random_range(least..=most) }
        }
    }
}

#[cfg(test)]
mod tests {
    use ir::Stream;
    use ops::elementwise::{Binary, BinaryFn, Variadic, VariadicFn, Where};
    use ops::movement::NonZero;

    use super::*;

    /// Numbers at an edge of an `f64`.
    fn numbers(edge: Edge, other: Option<f64>) -> Vec<f64> {
        let mut rng = Stream::new(0).rng();
        let drawn = (0..400).map(|_| number(Aim::Edge(edge), DType::F64, other.map(Number::Real), &mut rng));
        drawn.map(|number| if let Number::Real(value) = number { value } else { f64::NAN }).collect()
    }

    #[test]
    fn integers_have_limits_and_neither_nan_nor_denormals() {
        let condition = Type::new(DType::Bool, [4]);
        for (dtype, is_float) in [(DType::F32, true), (DType::I32, false), (DType::Bool, false)] {
            let ty = Type::new(dtype, [4]);
            let select = stated(&Op::from(Where), &[Some(&condition), Some(&ty), Some(&ty)]);
            assert_eq!(select.contains(&(1, Edge::NonFinite)), is_float, "{dtype}");
            let nonzero = stated(&Op::from(NonZero { count: 2 }), &[Some(&ty)]);
            assert_eq!(nonzero.contains(&(0, Edge::Denormals)), is_float, "{dtype}");
        }
        let ints = Type::new(DType::I32, [4]);
        let names = |aims: Aims| aims.edges.into_iter().map(|aimed| aimed.aim.name()).collect::<Vec<_>>();
        let larger = aims(&Op::from(Variadic(VariadicFn::Max)), &[Some(&ints)], false);
        assert_eq!(names(larger), ["limits of the dtype", "integers wider than floats"]);
    }

    #[test]
    fn poles_are_zeros_of_a_divisor_and_what_is_outside_of_a_domain() {
        let mut rng = Stream::new(0).rng();
        let drawn =
            |wish| (0..100).map(|_| real(Aim::Poles(wish), DType::F32, None, &mut rng)).collect::<Vec<_>>();
        let [divisors, arcs, exponents] =
            [Wish::Not(0.0), Wish::Between(-1.0, 1.0), Wish::Between(f64::from(-f32::MAX), 88.7)].map(drawn);
        assert!(divisors.iter().all(|v| *v == 0.0) && divisors.iter().any(|v| v.is_sign_negative()));
        assert!(arcs.iter().all(|v| v.abs() > 1.0) && arcs.iter().any(|v| v.abs() < 1.0 + 1e-6));
        assert!(exponents.iter().all(|&v| v > 88.7 && v.is_finite()));
    }

    #[test]
    fn two_numbers_overflow_together_or_all_but_do() {
        let ty = Type::new(DType::F16, [4]);
        let functions = [(Edge::Sums(1), BinaryFn::Add), (Edge::Products(1), BinaryFn::Mul)];
        for (edge, function) in functions {
            let mut rng = Stream::new(0).rng();
            assert!(stated(&Op::from(Binary(function)), &[Some(&ty), Some(&ty)]).contains(&(0, edge)));
            let results: Vec<f64> = (0..400)
                .map(|_| {
                    let other = met(Aim::Edge(edge), DType::F16, Number::Real(1.0), &mut rng);
                    let Number::Real(x) = number(Aim::Edge(edge), DType::F16, Some(other), &mut rng) else {
                        panic!("a real number")
                    };
                    let Number::Real(y) = other else { panic!("a real number") };
                    ir::round::round_to(DType::F16, if function == BinaryFn::Add { x + y } else { x * y })
                })
                .collect();
            let infinite = results.iter().filter(|y| y.is_infinite()).count();
            let finite = results.iter().filter(|y| y.is_finite() && y.abs() > 30_000.0).count();
            assert!(infinite > 60 && finite > 60, "{edge:?}: {infinite} and {finite} of 400");
        }
    }

    #[test]
    fn what_is_beside_a_tie_rounds_as_it_should_and_otherwise_by_way_of_f32() {
        let half = |x: f64| ir::round::round_to(DType::F16, x);
        let is_twice = |&x: &f64| half(x) != half(f64::from(x as f32));
        let drawn = numbers(Edge::Between(DType::F16), None);
        let twice = drawn.iter().copied().filter(is_twice).count();
        assert!((40..200).contains(&twice), "{twice} of 400 show that a number is rounded twice");
    }

    #[test]
    fn what_meets_a_number_is_it_or_beside_it_at_many_distances() {
        let apart: Vec<f64> = numbers(Edge::Meets(1), Some(1.0)).iter().map(|x| (x - 1.0).abs()).collect();
        let within = |low: f64, high: f64| apart.iter().filter(|&&by| low <= by && by < high).count();
        assert!(within(0.0, f64::MIN_POSITIVE) > 80, "as often as not far from one time in three");
        assert!(within(1e-16, 1e-12) > 80 && within(1e-12, 1e-7) > 40);
        assert_eq!(within(1e-7, f64::INFINITY), 0, "no more than half of the digits are off");
    }

    #[test]
    fn beyond_a_narrower_dtype_are_numbers_that_it_lacks_and_its_largest() {
        let drawn = numbers(Edge::Beyond(DType::F16), None);
        let lacks = |&&x: &&f64| ir::round::round_to(DType::F16, x).is_infinite();
        let lacking = drawn.iter().filter(lacks).count();
        assert!((100..350).contains(&lacking), "{lacking} of 400");
        assert!(drawn.iter().all(|x| x.abs() > 60_000.0 && x.is_finite()));
    }
}
