//! The arithmetic of dimensions.
//!
//! A type rule is written once, over any [`Dim`]. Over `i64` it checks and infers; over [`Sym`] the same code
//! builds expressions for a solver.

use std::cell::RefCell;
use std::fmt;
use std::ops::{Add, Div, Mul, Sub};

/// A number that a type rule can calculate with.
///
/// Rules guard every divisor with `Rule::le(1, divisor)` before they divide, and concrete inputs are bounded by
/// [`LIMIT`] before a rule sees them, so one product of two of them cannot overflow; longer products go through
/// [`Dim::product`].
pub trait Dim:
    Copy
    + PartialEq
    + fmt::Debug
    + fmt::Display
    + From<i64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// The smaller of the two.
    #[must_use]
    fn at_most(self, other: Self) -> Self;
    /// The larger of the two.
    #[must_use]
    fn at_least(self, other: Self) -> Self;
    /// The number, where it is known.
    fn known(self) -> Option<i64>;
    /// The product of all, 1 for none; saturates instead of overflowing.
    fn product(dims: &[Self]) -> Self;
}

/// The largest magnitude of a dimension or integer attribute that a graph may have.
pub const LIMIT: i64 = i32::MAX as i64;

impl Dim for i64 {
    fn at_most(self, other: Self) -> Self {
        Ord::min(self, other)
    }
    fn at_least(self, other: Self) -> Self {
        Ord::max(self, other)
    }
    fn known(self) -> Option<i64> {
        Some(self)
    }
    fn product(dims: &[Self]) -> Self {
        // A zero anywhere makes the product zero, whatever the others would have saturated to.
        if dims.contains(&0) { 0 } else { dims.iter().fold(1, |a: i64, &b| a.saturating_mul(b)) }
    }
}

/// An operation in a symbolic expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are the definition; Div is floor division by a positive number")]
pub enum SymOp {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

/// What a [`Sym`] in an [`Arena`] stands for.
#[derive(Clone, Copy, Debug)]
pub enum Expr<'a> {
    /// An unknown, from the inclusive range.
    Unknown(i64, i64),
    /// An operation on two symbols.
    Op(SymOp, Sym<'a>, Sym<'a>),
}

/// Owns the expressions that [`Sym`]s point to.
#[derive(Default, Debug)]
pub struct Arena<'a> {
    exprs: RefCell<Vec<Expr<'a>>>,
}

impl<'a> Arena<'a> {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new unknown with an inclusive range of possible values.
    pub fn unknown(&'a self, low: i64, high: i64) -> Sym<'a> {
        if low == high { Sym::Known(low) } else { self.push(Expr::Unknown(low, high)) }
    }

    fn push(&'a self, e: Expr<'a>) -> Sym<'a> {
        let mut exprs = self.exprs.borrow_mut();
        exprs.push(e);
        Sym::Term(Term { arena: self, index: exprs.len() as u32 - 1 })
    }

    /// The expression at an index (see [`Term::index`]). Operands always have smaller indices than the operation.
    ///
    /// # Panics
    /// If the index is not from this arena.
    pub fn get(&self, index: u32) -> Expr<'a> {
        self.exprs.borrow()[index as usize]
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.exprs.borrow().len()
    }

    /// Whether there is no expression yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A place in an [`Arena`].
#[derive(Clone, Copy)]
pub struct Term<'a> {
    arena: &'a Arena<'a>,
    index: u32,
}

impl Term<'_> {
    /// The index of the expression in its arena.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// A dimension that may not be known yet. Operations on known numbers fold at once; one that overflows becomes
/// `i64::MIN`, which nothing has as its size.
#[derive(Clone, Copy)]
pub enum Sym<'a> {
    /// A number.
    Known(i64),
    /// An expression with at least one unknown in it.
    Term(Term<'a>),
}

impl SymOp {
    /// The result on numbers; `None` on overflow or division by a number below 1.
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::Div => (b > 0).then(|| a.div_euclid(b)),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
        }
    }
}

impl Sym<'_> {
    fn op(op: SymOp, a: Self, b: Self) -> Self {
        match (a, b) {
            (Self::Known(x), Self::Known(y)) => Self::Known(op.apply(x, y).unwrap_or(i64::MIN)),
            (Self::Term(t), _) | (_, Self::Term(t)) => t.arena.push(Expr::Op(op, a, b)),
        }
    }
}

impl From<i64> for Sym<'_> {
    fn from(v: i64) -> Self {
        Self::Known(v)
    }
}

macro_rules! operator {
    ($($trait:ident, $method:ident;)*) => {$(
        impl $trait for Sym<'_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                Self::op(SymOp::$trait, self, other)
            }
        }
    )*};
}
operator! { Add, add; Sub, sub; Mul, mul; Div, div; }

impl Dim for Sym<'_> {
    fn at_most(self, other: Self) -> Self {
        Self::op(SymOp::Min, self, other)
    }
    fn at_least(self, other: Self) -> Self {
        Self::op(SymOp::Max, self, other)
    }
    fn known(self) -> Option<i64> {
        match self {
            Self::Known(v) => Some(v),
            Self::Term(_) => None,
        }
    }
    fn product(dims: &[Self]) -> Self {
        let known: Vec<i64> = dims.iter().filter_map(|d| d.known()).collect();
        let start = Self::Known(<i64 as Dim>::product(&known));
        dims.iter()
            .filter(|d| d.known().is_none())
            .fold(start, |a, &b| if a == Self::Known(1) { b } else { a * b })
    }
}

/// Two symbols are equal when they are the same number or the same place; equal expressions at two places are
/// not found out.
impl PartialEq for Sym<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a == b,
            (Self::Term(a), Self::Term(b)) => a.index == b.index && std::ptr::eq(a.arena, b.arena),
            _ => false,
        }
    }
}

impl fmt::Debug for Sym<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(v) => write!(f, "{v}"),
            Self::Term(t) => match t.arena.get(t.index) {
                Expr::Unknown(low, high) => write!(f, "d{}({low}..={high})", t.index),
                Expr::Op(op, a, b) => write!(f, "{op:?}({a:?}, {b:?})"),
            },
        }
    }
}

impl fmt::Display for Sym<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_fold_and_products_skip_ones() {
        let arena = Arena::new();
        let d = arena.unknown(1, 8);
        assert_eq!(Sym::from(6) / Sym::from(4) + Sym::from(1), Sym::from(2));
        assert_eq!(Dim::product(&[Sym::from(1), d]), d);
        assert_eq!(Dim::product(&[d, Sym::from(0)]).known(), None);
        assert_eq!(<i64 as Dim>::product(&[i64::MAX, 3, 0]), 0);
        assert_eq!(<i64 as Dim>::product(&[i64::MAX, 3]), i64::MAX);
    }

    #[test]
    fn division_is_floor_and_needs_a_positive_divisor() {
        assert_eq!(SymOp::Div.apply(-1, 2), Some(-1));
        assert_eq!(SymOp::Div.apply(1, 0), None);
        assert_eq!(SymOp::Mul.apply(i64::MAX, 2), None);
    }
}
