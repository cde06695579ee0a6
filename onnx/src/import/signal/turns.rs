//! The matrix of a Fourier transform, and the product with it.

use std::f64::consts::TAU;

use ir::{DType, Type, Value};

use crate::Error;
use crate::amount::MOST_ELEMENTS;
use crate::import::walk::Walk;

/// Which transform it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// To all frequencies.
    Forward,
    /// From real numbers to the frequencies that are not the mirror of others.
    Half,
    /// From all frequencies.
    Back,
    /// From the frequencies that are not the mirror of others, to real numbers.
    FromHalf,
}

/// A transform of so many numbers.
pub(super) struct Transform {
    pub(super) direction: Direction,
    pub(super) length: i64,
}

/// A cosine and a sine.
type Turn = (f64, f64);

/// The point of the unit circle at `part` of `of` equal parts of a full turn, exact at the quarters.
fn turn(part: i64, of: i64) -> Turn {
    let part = part.rem_euclid(of);
    match (4 * part % of, 4 * part / of) {
        (0, 0) => (1.0, 0.0),
        (0, 1) => (0.0, 1.0),
        (0, 2) => (-1.0, 0.0),
        (0, _) => (0.0, -1.0),
        _ => {
            let angle = TAU * part as f64 / of as f64;
            (libm::cos(angle), libm::sin(angle))
        }
    }
}

impl Transform {
    /// The transform of an axis, where the last one has real and imaginary parts. What is missing of the signal are zeros.
    pub(super) fn along(&self, walk: &mut Walk<'_, '_>, x: Value, axis: usize) -> Result<Value, Error> {
        let ty = walk.ty(x);
        let last = ty.rank() - 1;
        let parts = ty.shape[last];
        self.check(&ty, parts)?;
        let (half, n) = (self.length / 2 + 1, self.length);
        let most = if self.direction == Direction::FromHalf { half } else { n };
        let (taken, given) =
            (ty.shape[axis].min(most), if self.direction == Direction::Half { half } else { n });
        let x = if taken < ty.shape[axis] { walk.slice(x, axis as i64, 0, taken)? } else { x };
        // The axis goes before the last, and both are one sum.
        let mut order: Vec<i64> = (0..=last as i64).collect();
        order.swap(axis, last - 1);
        let x = walk.transposed(x, &order)?;
        let before = walk.ty(x).shape[..last - 1].to_vec();
        let x = walk.reshaped(x, &[&before[..], &[taken * parts]].concat())?;
        let made = if self.direction == Direction::FromHalf { 1 } else { 2 };
        let columns = given * made;
        let matrix = walk.reals(ty.dtype, &[taken * parts, columns], |i| {
            let (row, column) = (i as i64 / columns, i as i64 % columns);
            self.weight([row / parts, row % parts], [column / made, column % made])
        })?;
        let product = walk.op("MatMul", &[x, matrix])?;
        let rounded = rounded(walk, x, n)?;
        let mut y = walk.op("Add", &[product, rounded])?;
        // Which numbers of the result are NaN where the signal has one or an infinity hangs on which products an
        // implementation forms.
        let spoilt = walk.op("IsNaN", &[rounded])?;
        let zero = walk.real(ty.dtype, 0.0)?;
        let spared = walk.op("Where", &[spoilt, zero, y])?;
        y = walk.either(y, spared)?;
        if matches!(self.direction, Direction::Back | Direction::FromHalf) {
            let count = walk.real(ty.dtype, n as f64)?;
            y = walk.op("Div", &[y, count])?;
        }
        let y = walk.reshaped(y, &[&before[..], &[given, made]].concat())?;
        walk.transposed(y, &order)
    }

    /// Requires that the transform takes a signal with so many parts of each number, and is not too long.
    fn check(&self, ty: &Type, parts: i64) -> Result<(), Error> {
        let takes = match self.direction {
            Direction::Half => 1..=1,
            Direction::FromHalf => 2..=2,
            Direction::Forward | Direction::Back => 1..=2,
        };
        if !takes.contains(&parts) {
            return Err(Error::invalid(
                "operand 0",
                format!("it is {ty}, with {parts} parts of each number"),
            ));
        }
        let length = format!("a transform of {} numbers", self.length);
        if self.length < 1 {
            return Err(Error::invalid("operand 1", format!("it asks for {length}")));
        }
        if self.length >= MOST_ELEMENTS {
            return Err(Error::unsupported("operand 1", format!("{length} is too large")));
        }
        Ok(())
    }

    /// How a part of a number of the signal counts for a part of one of the result.
    fn weight(&self, [from, part]: [i64; 2], [to, of]: [i64; 2]) -> f64 {
        let (cosine, sine) = turn(from * to % self.length, self.length);
        let sine = if matches!(self.direction, Direction::Forward | Direction::Half) { -sine } else { sine };
        let weight = match (part, of) {
            (0, 0) | (1, 1) => cosine,
            (0, _) => sine,
            _ => -sine,
        };
        // The mirror of a frequency counts as it does; the first and the middle one have none.
        let has_mirror = self.direction == Direction::FromHalf && from > 0 && 2 * from != self.length;
        if has_mirror { 2.0 * weight } else { weight }
    }
}

/// What a transform of so many numbers may be off by, as 0: signals in rows.
fn rounded(walk: &mut Walk<'_, '_>, x: Value, n: i64) -> Result<Value, Error> {
    let ty = walk.ty(x);
    // A fast transform adds up all of the signal on the way to each number of the result, in a logarithm of its
    // length of steps, and its turns come from rounded angles: what it is off by is a share of all magnitudes,
    // whatever cancels (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., theorem 24.2).
    let magnitudes = walk.op("Abs", &[x])?;
    let ones = walk.reals(ty.dtype, &[ty.shape[ty.rank() - 1], 1], |_| 1.0)?;
    let all = walk.op("MatMul", &[magnitudes, ones])?;
    let steps = walk.real(ty.dtype, 2.0 * f64::from(n.ilog2() + 1) + 1.0 / 3.0)?;
    let size = walk.op("Mul", &[all, steps])?;
    let mut rounded = walk.op("Sub", &[size, size])?;
    // Whoever has no table of them computes the turns with the cosine that there is: what a profile allows of that,
    // it allows of each. Not in f64, which shaders have no cosine of: there a table is what is held against.
    if ty.dtype != DType::F64 {
        let angle = walk.real(ty.dtype, 1.0)?;
        let cosine = walk.op("Cos", &[angle])?;
        let off = walk.op("Sub", &[cosine, cosine])?;
        let half = walk.real(ty.dtype, 0.5)?;
        let off = walk.op("Mul", &[off, half])?;
        let off = walk.op("Mul", &[all, off])?;
        rounded = walk.op("Add", &[rounded, off])?;
    }
    Ok(rounded)
}
