//! Judging a backend's answer element by element: inside the tight tier, inside the specification, or beyond.

use interp::compare::{after_overflow, is_beyond_too};
use interp::{Acceptance, Bounded, Profile};
use ir::format::FloatFormat;
use ir::{DType, Tensor};

use crate::bins;
use crate::numbers;
use crate::plan::Name;
use crate::tally::{Apart, Bin, Standing, Tally, Worst};
use crate::tier::Reference;

/// What is known of a part beside its outputs.
pub struct Context<'a> {
    /// Its name.
    pub part: &'a Name,
    /// What the operands hold at an element, as text.
    pub at: &'a dyn Fn(usize) -> String,
    /// The arguments, where the operator is a function of one float.
    pub arguments: Option<&'a [f64]>,
}

/// A backend's answer, judged. It has the reference's types.
pub fn judge(reference: &Reference, answer: &[Tensor], context: &Context<'_>) -> Tally {
    let mut tally = Tally::default();
    for (number, actual) in answer.iter().enumerate() {
        let (specified, tight) = (&reference.specified[number], &reference.tight[number]);
        let output = Output { number, specified, tight, profile: reference.profile };
        let elements = elements(&specified.tensor).into_iter().zip(elements(actual));
        for (index, (expected, actual)) in elements.enumerate() {
            output.take(&mut tally, index, expected, actual, context);
        }
    }
    tally
}

/// How two backends' answers differ. They have the reference's types.
pub fn apart(reference: &Reference, one: &[Tensor], other: &[Tensor]) -> Apart {
    let mut apart = Apart::default();
    for ((expected, one), other) in reference.tight.iter().zip(one).zip(other) {
        let scale = Scale::of(one.dtype());
        let values = elements(&expected.tensor);
        for (index, (one, other)) in elements(one).into_iter().zip(elements(other)).enumerate() {
            if expected.undefined.binary_search(&index).is_ok() {
                continue;
            }
            apart.elements += 1;
            apart.differ += u64::from(!one.equals(other));
            match scale.distance(values[index], one, other) {
                Distance::Ulp(ulp) | Distance::Flushed(ulp) => apart.ulps.add(ulp),
                Distance::NonFinite => apart.non_finite += 1,
            }
        }
    }
    apart
}

/// An element of a tensor.
#[derive(Clone, Copy, Debug)]
enum Element {
    Real(f64),
    Whole(i128),
}

impl Element {
    /// Whether both are the same; NaNs are, and zeros of both signs.
    fn equals(self, other: Self) -> bool {
        match (self, other) {
            (Self::Real(a), Self::Real(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Self::Whole(a), Self::Whole(b)) => a == b,
            (Self::Real(_), Self::Whole(_)) | (Self::Whole(_), Self::Real(_)) => false,
        }
    }

    fn text(self, dtype: DType) -> String {
        match self {
            Self::Real(v) => numbers::text(dtype, v),
            Self::Whole(v) => v.to_string(),
        }
    }
}

/// An element of a tensor as text.
pub fn text(tensor: &Tensor, element: usize) -> Option<String> {
    elements(tensor).get(element).map(|found| found.text(tensor.dtype()))
}

fn elements(tensor: &Tensor) -> Vec<Element> {
    if tensor.dtype().is_float() {
        tensor.to_f64s().into_iter().map(Element::Real).collect()
    } else {
        tensor.to_i128s().into_iter().map(Element::Whole).collect()
    }
}

/// How far two elements are from each other.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Distance {
    /// So many ULP of the expected number.
    Ulp(f64),
    /// As many, but one of them is a zero in place of a denormal number.
    Flushed(f64),
    /// One of them is infinite or NaN, and not the other.
    NonFinite,
}

/// What an ULP is.
struct Scale(Option<FloatFormat>);

impl Scale {
    fn of(dtype: DType) -> Self {
        Self(dtype.float())
    }

    /// How far two elements are from each other, in ULP of an expected one.
    fn distance(&self, expected: Element, one: Element, other: Element) -> Distance {
        match (one, other) {
            (Element::Real(a), Element::Real(b)) => {
                let near = if let Element::Real(v) = expected { v } else { a };
                self.reals(if near.is_finite() { near } else { a }, a, b)
            }
            (Element::Whole(a), Element::Whole(b)) => Distance::Ulp((a - b).abs() as f64),
            (Element::Real(_), Element::Whole(_)) | (Element::Whole(_), Element::Real(_)) => {
                Distance::NonFinite
            }
        }
    }

    fn reals(&self, near: f64, a: f64, b: f64) -> Distance {
        if a == b || (a.is_nan() && b.is_nan()) {
            return Distance::Ulp(0.0);
        }
        let Some(format) = self.0.filter(|_| a.is_finite() && b.is_finite()) else {
            return Distance::NonFinite;
        };
        let is_denormal = |v: f64| v != 0.0 && v.abs() < format.min_normal();
        if (a == 0.0 && is_denormal(b)) || (b == 0.0 && is_denormal(a)) {
            return Distance::Flushed(0.0);
        }
        // Of doubles, it may be more than there are numbers for.
        Distance::Ulp(((a - b).abs() / format.ulp(near)).min(f64::MAX))
    }
}

/// A distance as it is stored for a drawing.
fn narrowed(ulp: f64) -> f32 {
    ulp.min(f64::from(f32::MAX)) as f32
}

/// An output of a part, and what may be expected of it.
struct Output<'a> {
    number: usize,
    specified: &'a Bounded,
    tight: &'a Bounded,
    profile: &'a Profile,
}

impl Output<'_> {
    fn take(
        &self,
        tally: &mut Tally,
        index: usize,
        expected: Element,
        actual: Element,
        context: &Context<'_>,
    ) {
        tally.elements += 1;
        let (tight, spec) = (
            self.allows(self.tight, index, expected, actual),
            self.allows(self.specified, index, expected, actual),
        );
        let dtype = self.specified.tensor.dtype();
        let distance = Scale::of(dtype).distance(expected, expected, actual);
        let standing = match (spec, tight) {
            (Some(false), _) => Standing::Beyond,
            (_, Some(false)) => Standing::Specified,
            (Some(true) | None, Some(true) | None) => Standing::Tight,
        };
        if tight.is_some() {
            tally.judged += 1;
            tally.exact += u64::from(expected.equals(actual));
            match distance {
                Distance::Ulp(ulp) => tally.ulps.add(ulp),
                Distance::Flushed(ulp) => {
                    tally.flushed += 1;
                    tally.ulps.add(ulp);
                }
                Distance::NonFinite => tally.non_finite += 1,
            }
            if let Some(arguments) = context.arguments {
                let bin = self.bin(index, expected, distance);
                tally.bins.entry(bins::place(arguments[index])).or_default().merge(&bin);
            }
        }
        if standing != Standing::Tight {
            tally.beyond_tight += 1;
            tally.beyond_spec += u64::from(standing == Standing::Beyond);
        }
        if standing != Standing::Tight
            || matches!(distance, Distance::Ulp(ulp) if tight.is_some() && ulp > 0.0)
        {
            self.keep(tally, index, standing, (expected, actual), distance, context);
        }
    }

    /// Whether an implementation may have an element; `None` where nothing can be said.
    fn allows(&self, bounded: &Bounded, index: usize, expected: Element, actual: Element) -> Option<bool> {
        let error = bounded.error_at(index);
        let is_overflown = error > 0.0 && bounded.overflown.binary_search(&index).is_ok();
        let dtype = bounded.tensor.dtype();
        match (expected, actual) {
            (Element::Real(value), Element::Real(actual)) if is_overflown => {
                Some(is_beyond_too(dtype.float(), value, actual))
            }
            (Element::Real(value), Element::Real(actual)) => {
                let accept = Acceptance { value, error, zero_sign: !self.profile.ignores_zero_sign };
                error.is_finite().then(|| accept.accepts(actual))
            }
            (Element::Whole(value), Element::Whole(actual)) if is_overflown => {
                Some(after_overflow(dtype, value, actual))
            }
            (Element::Whole(value), Element::Whole(actual)) => (error == 0.0).then_some(value == actual),
            (Element::Real(_), Element::Whole(_)) | (Element::Whole(_), Element::Real(_)) => Some(false),
        }
    }

    fn bin(&self, index: usize, expected: Element, distance: Distance) -> Bin {
        let ulps = |bounded: &Bounded| match (expected, bounded.tensor.dtype().float()) {
            (Element::Real(v), Some(format)) if v.is_finite() && bounded.error_at(index).is_finite() => {
                narrowed(bounded.error_at(index) / format.ulp(v))
            }
            _ => 0.0,
        };
        let (ulp, non_finite) = match distance {
            Distance::Ulp(ulp) | Distance::Flushed(ulp) => (narrowed(ulp), 0),
            Distance::NonFinite => (0.0, 1),
        };
        Bin { ulp, tight: ulps(self.tight), spec: ulps(self.specified), non_finite }
    }

    fn keep(
        &self,
        tally: &mut Tally,
        element: usize,
        standing: Standing,
        (expected, actual): (Element, Element),
        distance: Distance,
        context: &Context<'_>,
    ) {
        let ulp = match distance {
            Distance::Ulp(ulp) | Distance::Flushed(ulp) => Some(ulp),
            Distance::NonFinite => None,
        };
        // Texts are made of few elements only.
        if tally.worst.as_ref().is_some_and(|known| !known.yields_to(standing, ulp)) {
            return;
        }
        let dtype = self.specified.tensor.dtype();
        let limit = |bounded: &Bounded| match bounded.error_at(element) {
            f64::INFINITY => "any".to_owned(),
            error => format!("{error:.1e}"),
        };
        tally.worst = Some(Worst {
            standing,
            part: context.part.clone(),
            output: self.number,
            element,
            at: (context.at)(element),
            expected: expected.text(dtype),
            actual: actual.text(dtype),
            ulp,
            tight: limit(self.tight),
            spec: limit(self.specified),
        });
    }
}
