//! What the list of operators is made of: payloads, each of them one operator or a uniform family.
//!
//! A payload knows nothing of the list. It says how one use of it is drawn and gives itself; the list makes an
//! [`Op`](crate::Op) of that.

use ir::Sym;

use crate::attributes::Declared;
use crate::draw::Draw;
use crate::operator::Operator;
use crate::spec::Row;

/// Operators that share a payload, a row for each.
pub trait Family: Operator + Declared {
    /// The operators.
    const ROWS: &'static [(Self::Function, Row)];

    /// Chooses an operator and its operands; `None` where the choice came to nothing.
    fn draw<'a>(function: Self::Function, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>>;

    /// The position of this operator's row.
    ///
    /// # Panics
    /// If it has none: a family has one for each of its functions.
    fn row(&self) -> usize {
        let function = self.function();
        Self::ROWS.iter().position(|&(of, _)| of == function).expect("each function of a family has a row")
    }
}

/// The names of operators that share a payload, in the order of their rows.
pub(crate) const fn names<F, const N: usize>(rows: &[(F, Row)]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = rows[at].1.name;
        at += 1;
    }
    names
}

/// An operator that is a family of its own.
pub trait Single: Operator + Declared<Function = ()> {
    /// The operator.
    const ROW: Row;

    /// Chooses the operator's attributes and operands; `None` where the choice came to nothing.
    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>>;
}

impl<T: Single> Family for T {
    const ROWS: &'static [((), Row)] = &[((), T::ROW.about(T::ABOUT))];

    fn draw<'a>((): (), d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        <T as Single>::draw(d)
    }
}
