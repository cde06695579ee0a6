//! The number system of a search's runs: plain numbers, and how often a step was undefined.
//!
//! An undefined real is NaN, which the results show. An undefined integer is a number like any other, so it has to
//! be counted where it arises: a division by zero, a shift by too much, an index or a cast out of range.

use std::cell::Cell;

use ir::{DType, Tensor};
use ndarray::ArrayView2;
use ops::Data;
use ops::arith::{Arith, Class, Comparison, Fun, Step};
use ops::plain::{self, Plain};

use interp::walk::System;

/// How many steps of a run were undefined.
#[derive(Default, Debug)]
pub(crate) struct Undefined(Cell<usize>);

impl Undefined {
    /// The count since the last look.
    pub(crate) fn take(&self) -> usize {
        self.0.take()
    }

    fn add<T>(&self, value: T) -> T {
        self.0.set(self.0.get() + 1);
        value
    }
}

/// Plain numbers that tell of undefined steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched<'u> {
    plain: Plain,
    undefined: &'u Undefined,
}

impl<'u> System for &'u Undefined {
    type A = Watched<'u>;

    fn arith(&self, dtype: DType) -> Watched<'u> {
        Watched { plain: Plain { dtype }, undefined: self }
    }

    fn load(&self, tensor: &Tensor) -> Data<Watched<'u>> {
        match plain::load(tensor) {
            Data::Real(a) => Data::Real(a),
            Data::Int(a) => Data::Int(a),
        }
    }

    fn store(&self, _: &Watched<'u>, data: &mut Data<Watched<'u>>, dtype: DType) {
        match data {
            Data::Real(a) => a.mapv_inplace(|v| ir::round::round_to(dtype, v)),
            Data::Int(a) => a.mapv_inplace(|v| dtype.wrap(v)),
        }
    }
}

impl Arith for Watched<'_> {
    type R = f64;
    type Z = i128;

    fn within(&self, dtype: DType) -> Self {
        Self { plain: Plain { dtype }, ..*self }
    }
    fn real(&self, v: f64) -> f64 {
        v
    }
    fn int(&self, v: i128) -> i128 {
        v
    }
    fn add(&self, x: f64, y: f64) -> f64 {
        x + y
    }
    fn sub(&self, x: f64, y: f64) -> f64 {
        x - y
    }
    fn mul(&self, x: f64, y: f64) -> f64 {
        x * y
    }
    fn div(&self, x: f64, y: f64) -> f64 {
        x / y
    }
    fn neg(&self, x: f64) -> f64 {
        -x
    }
    fn abs(&self, x: f64) -> f64 {
        x.abs()
    }
    fn min(&self, x: f64, y: f64) -> f64 {
        plain::min(x, y)
    }
    fn max(&self, x: f64, y: f64) -> f64 {
        plain::max(x, y)
    }
    fn call(&self, f: Fun, x: f64) -> f64 {
        f.value(x)
    }
    fn step(&self, f: Step, x: f64) -> f64 {
        f.value(x)
    }
    fn pow(&self, x: f64, y: f64) -> f64 {
        self.plain.pow(x, y)
    }
    fn fmod(&self, x: f64, y: f64) -> f64 {
        self.plain.fmod(x, y)
    }
    fn sum(&self, terms: impl Iterator<Item = f64>) -> f64 {
        plain::sum(terms)
    }
    fn dot(&self, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
        self.plain.dot(terms)
    }
    fn dots(
        &self,
        a: &ArrayView2<'_, f64>,
        b: &ArrayView2<'_, f64>,
        addend: impl Fn(usize, usize) -> Option<f64>,
    ) -> Vec<f64> {
        self.plain.dots(a, b, addend)
    }
    fn product(&self, terms: impl Iterator<Item = f64>) -> f64 {
        terms.product()
    }
    fn compare(&self, c: Comparison, x: f64, y: f64) -> i128 {
        c.holds(x, y).into()
    }
    fn is(&self, class: Class, x: f64) -> i128 {
        class.holds(x).into()
    }
    fn select(&self, condition: i128, x: f64, y: f64) -> f64 {
        self.plain.select(condition, x, y)
    }
    fn truncate(&self, x: f64, to: DType) -> i128 {
        let z = self.plain.truncate(x, to);
        if x.trunc() == z as f64 { z } else { self.undefined.add(z) }
    }
    fn bits(&self, x: f64, dtype: DType) -> i128 {
        self.plain.bits(x, dtype)
    }
    fn convert(&self, z: i128) -> f64 {
        self.plain.convert(z)
    }
    fn arg_max(&self, xs: &[f64], last: bool) -> i128 {
        self.plain.arg_max(xs, last)
    }
    fn exact<const N: usize>(&self, zs: [i128; N], f: impl Fn([i128; N]) -> Option<i128>) -> i128 {
        f(zs).unwrap_or_else(|| self.undefined.add(0))
    }
    fn peek(&self, z: i128) -> Option<i128> {
        Some(z)
    }
    fn unknown_real(&self) -> f64 {
        f64::NAN
    }
    fn unknown_int(&self) -> i128 {
        0
    }
    fn undefined_real(&self) -> f64 {
        f64::NAN
    }
    // Where an operator leaves every integer open, no values would help; so this is not counted.
    fn undefined_int(&self) -> i128 {
        0
    }
    fn unspecified(&self, one: f64) -> f64 {
        one
    }
    fn unspecified_int(&self, one: i128) -> i128 {
        one
    }
}
