//! Long sums and products, in any order and fused or not.

use rand::seq::SliceRandom;

use super::habits::{Order, Shape};
use super::{Malice, Number};

/// What is added to a sum.
#[derive(Clone, Copy)]
enum Term {
    /// A number.
    One(Number),
    /// A product.
    Product(Number, Number),
}

impl Term {
    fn value(self) -> f64 {
        match self {
            Self::One(x) => x.held,
            Self::Product(x, y) => x.held * y.held,
        }
    }
}

impl Malice<'_> {
    /// A sum that is made of at least `least_parts` parts.
    pub(super) fn any_sum(&self, terms: impl Iterator<Item = Number>, least_parts: usize) -> Number {
        self.total(terms.map(|x| Term::One(self.operand(x))).collect(), least_parts)
    }

    /// A sum of products, likewise.
    pub(super) fn any_dot(
        &self,
        terms: impl Iterator<Item = (Number, Number)>,
        least_parts: usize,
    ) -> Number {
        let term = |(x, y)| Term::Product(self.operand(x), self.operand(y));
        self.total(terms.map(term).collect(), least_parts)
    }

    /// A product of many factors.
    pub(super) fn any_product(&self, factors: impl Iterator<Item = Number>) -> Number {
        let mut factors: Vec<Number> = factors.map(|x| self.operand(x)).collect();
        self.arrange(&mut factors, |x| x.held);
        factors.into_iter().reduce(|x, y| self.times(x, y)).unwrap_or_else(|| self.nothing(1.0))
    }

    fn nothing(&self, v: f64) -> Number {
        Number { held: self.loose(v), truth: v }
    }

    /// The sum of terms in the order that is usual here.
    fn total(&self, mut terms: Vec<Term>, least_parts: usize) -> Number {
        self.arrange(&mut terms, |term| term.value());
        let parts = match self.by.habits.shape {
            Shape::Chain => 1,
            Shape::Blocks(parts) => parts,
            Shape::Pairs => terms.len() / 2,
        };
        let length = terms.len() / parts.max(least_parts).max(1);
        let whole = length.max(1);
        let in_parts = terms.len() - terms.len() % whole;
        let (blocks, rest) =
            if length == 0 { terms.split_at(0) } else { terms.split_at(in_parts.min(terms.len())) };
        let blocks = blocks.chunks(whole).map(|block| self.chain(block));
        let rest = rest.iter().map(|&term| self.chain(&[term]));
        self.together(blocks.chain(rest).collect())
    }

    /// One term after the other, the accumulator starting from the first or from 0.
    fn chain(&self, terms: &[Term]) -> Number {
        let (first, rest) = match terms {
            [first, rest @ ..] if self.by.coin() => (self.alone(*first), rest),
            all => (self.nothing(0.0), all),
        };
        rest.iter().fold(first, |sum, &term| match term {
            Term::Product(x, y) if self.by.does(self.by.habits.fuses) => self.fused(x, y, sum),
            term => self.plus(sum, self.alone(term)),
        })
    }

    fn alone(&self, term: Term) -> Number {
        match term {
            Term::One(x) => x,
            Term::Product(x, y) => self.times(x, y),
        }
    }

    /// The sum of partial sums.
    fn together(&self, mut sums: Vec<Number>) -> Number {
        if self.by.habits.shape == Shape::Pairs {
            while sums.len() > 1 {
                sums = sums.chunks(2).map(|pair| self.both(pair)).collect();
            }
        }
        sums.into_iter().reduce(|x, y| self.plus(x, y)).unwrap_or_else(|| self.nothing(0.0))
    }

    fn both(&self, pair: &[Number]) -> Number {
        match pair {
            [x, y] => self.plus(*x, *y),
            _ => pair[0],
        }
    }

    /// Puts things into the order that is usual here.
    fn arrange<T>(&self, all: &mut [T], value: impl Fn(&T) -> f64) {
        match self.by.habits.order {
            Order::Given => {}
            Order::Reversed => all.reverse(),
            Order::Rising => all.sort_by(|x, y| value(x).abs().total_cmp(&value(y).abs())),
            Order::Falling => all.sort_by(|x, y| value(y).abs().total_cmp(&value(x).abs())),
            Order::BySign => all.sort_by(|x, y| value(y).total_cmp(&value(x))),
            Order::Shuffled => all.shuffle(&mut *self.by.choices.borrow_mut()),
        }
    }
}
