//! Reals and integers, as an operator sees them that means the same of both: it moves elements and chooses among them.

use std::fmt::Debug;

use ir::Type;
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::operator::{Facts, Hazard, Operator, Reads, TypeRule};

/// Reals or integers.
pub trait Kind<A: Arith> {
    /// A number of this kind.
    type Number: Copy;

    /// 0.
    fn zero(a: &A) -> Self::Number;
    /// One that cannot be decided.
    fn unknown(a: &A) -> Self::Number;
    /// One that is not defined.
    fn undefined(a: &A) -> Self::Number;
    /// One of several, of which the specification does not say which.
    fn unspecified(a: &A, one: Self::Number) -> Self::Number;
    /// `x` where the condition is not 0, else `y`.
    fn choose(a: &A, condition: A::Z, x: Self::Number, y: Self::Number) -> Self::Number;
    /// -x
    fn neg(a: &A, x: Self::Number) -> Self::Number;
    /// The largest of some numbers, and NaN if one of them is; undefined of none.
    fn largest(a: &A, xs: &[Self::Number]) -> Self::Number;
    /// Where the largest of some numbers is, the first or the last of equal ones. NaN counts as largest.
    fn arg_max(a: &A, xs: &[Self::Number], last: bool) -> A::Z;
    /// An operand of this kind that may be absent.
    fn operand<'a>(c: &Call<'a, A>, i: usize) -> Option<&'a ArrayD<Self::Number>>;
    /// A tensor of this kind.
    fn data(elements: ArrayD<Self::Number>) -> Data<A>;
}

/// A tensor of numbers of a kind.
pub type Numbers<A, K> = ArrayD<<K as Kind<A>>::Number>;

/// The elements of floating-point tensors.
pub struct Reals;

/// The elements of integer and `bool` tensors.
pub struct Integers;

impl<A: Arith> Kind<A> for Reals {
    type Number = A::R;

    fn zero(a: &A) -> A::R {
        a.real(0.0)
    }

    fn unknown(a: &A) -> A::R {
        a.unknown_real()
    }

    fn undefined(a: &A) -> A::R {
        a.undefined_real()
    }

    fn unspecified(a: &A, one: A::R) -> A::R {
        a.unspecified(one)
    }

    fn choose(a: &A, condition: A::Z, x: A::R, y: A::R) -> A::R {
        a.select(condition, x, y)
    }

    fn neg(a: &A, x: A::R) -> A::R {
        a.neg(x)
    }

    /// From −∞ on, as implementations go: where NaN may lose, it may lose alone.
    fn largest(a: &A, xs: &[A::R]) -> A::R {
        match xs {
            [] => a.undefined_real(),
            xs => a.max_of(a.real(f64::NEG_INFINITY), xs.iter().copied()),
        }
    }

    fn arg_max(a: &A, xs: &[A::R], last: bool) -> A::Z {
        if xs.is_empty() { a.undefined_int() } else { a.arg_max(xs, last) }
    }

    fn operand<'a>(c: &Call<'a, A>, i: usize) -> Option<&'a ArrayD<A::R>> {
        c.opt_real(i)
    }

    fn data(elements: ArrayD<A::R>) -> Data<A> {
        Data::Real(elements)
    }
}

impl<A: Arith> Kind<A> for Integers {
    type Number = A::Z;

    fn zero(a: &A) -> A::Z {
        a.int(0)
    }

    fn unknown(a: &A) -> A::Z {
        a.unknown_int()
    }

    fn undefined(a: &A) -> A::Z {
        a.undefined_int()
    }

    fn unspecified(a: &A, one: A::Z) -> A::Z {
        a.unspecified_int(one)
    }

    /// Where the condition is undecidable, what is between both is right.
    fn choose(a: &A, condition: A::Z, x: A::Z, y: A::Z) -> A::Z {
        match a.peek(condition) {
            Some(0) => y,
            Some(_) => x,
            None => a.select_int(condition, x, y),
        }
    }

    fn neg(a: &A, x: A::Z) -> A::Z {
        a.exact([x], |[x]| Some(-x))
    }

    fn largest(a: &A, xs: &[A::Z]) -> A::Z {
        let larger = |x, y| a.exact([x, y], |[x, y]| Some(x.max(y)));
        xs.iter().copied().reduce(larger).unwrap_or_else(|| a.undefined_int())
    }

    fn arg_max(a: &A, xs: &[A::Z], last: bool) -> A::Z {
        let Some(zs) = a.peek_all(xs) else { return a.unknown_int() };
        let largest = zs.iter().max();
        let is_largest = |z: &i128| Some(z) == largest;
        let place = if last { zs.iter().rposition(is_largest) } else { zs.iter().position(is_largest) };
        place.map_or_else(|| a.undefined_int(), |place| a.int(place as i128))
    }

    fn operand<'a>(c: &Call<'a, A>, i: usize) -> Option<&'a ArrayD<A::Z>> {
        c.opt_int(i)
    }

    fn data(elements: ArrayD<A::Z>) -> Data<A> {
        Data::Int(elements)
    }
}

/// An operator that means the same of reals and of integers. This and its type rule are all there is to it.
pub trait EitherKind: TypeRule<i64> + Clone + PartialEq + Debug {
    /// The operand whose kind the outputs have.
    const OF: usize = 0;

    /// As [`Operator::facts`].
    fn facts(&self, x: &[Option<&Type>]) -> Facts;

    /// As [`Operator::hazards`].
    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard>;

    /// The outputs, as numbers of the kind that `x` has, the operand [`OF`](Self::OF).
    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &Numbers<A, K>) -> Vec<Numbers<A, K>>;
}

impl<T: EitherKind> Operator for T {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        EitherKind::facts(self, x)
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        EitherKind::hazards(self, x)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        match c.data(T::OF) {
            Data::Real(x) => self.outputs::<A, Reals>(c, x).into_iter().map(Reals::data).collect(),
            Data::Int(x) => self.outputs::<A, Integers>(c, x).into_iter().map(Integers::data).collect(),
        }
    }
}

/// A rearrangement of elements that does not look at them: the same for every element type. That, its type rule and one fact are
/// all there is to such an operator.
pub trait Movement: TypeRule<i64> + Clone + PartialEq + Debug {
    /// The operand that it is [`linear`](Facts::linear) in.
    const LINEAR: Option<usize>;

    /// The outputs, made of copies of the operands' elements.
    fn rearrange<T: Clone>(&self, operands: &[&ArrayD<T>], outputs: &[Type]) -> Vec<ArrayD<T>>;
}

impl<M: Movement> EitherKind for M {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Elements, M::LINEAR)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    /// All operands are of one kind.
    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, _: &Numbers<A, K>) -> Vec<Numbers<A, K>> {
        let operands: Vec<_> = (0..c.inputs.len()).filter_map(|i| K::operand(c, i)).collect();
        self.rearrange(&operands, c.outputs)
    }
}
