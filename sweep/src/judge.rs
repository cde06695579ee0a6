//! Judging a backend's answer element by element: inside the tight tier, inside the specification, or beyond.

use interp::{Bounded, Profile};
use ir::Tensor;

use crate::bins;
use crate::element::{Distance, Element, elements};
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
        let (specified, tight) = (&reference.specified.evaluation.outputs[number], &reference.tight[number]);
        let output = Output { number, specified, tight, profile: reference.obligation.profile };
        let expected = elements(&specified.tensor).into_iter().zip(elements(&tight.tensor));
        for (index, (expected, actual)) in expected.zip(elements(actual)).enumerate() {
            output.take(&mut tally, &output.found(index, expected, actual), context);
        }
    }
    tally
}

/// How two backends' answers differ. They have the reference's types.
pub fn apart(reference: &Reference, one: &[Tensor], other: &[Tensor]) -> Apart {
    let mut apart = Apart::default();
    for ((bounded, one), other) in reference.tight.iter().zip(one).zip(other) {
        let dtype = one.dtype();
        let both = elements(one).into_iter().zip(elements(other));
        let all = elements(&bounded.tensor).into_iter().zip(both).enumerate();
        for (_, (expected, (one, other))) in all.filter(|(i, _)| bounded.undefined.binary_search(i).is_err())
        {
            apart.elements += 1;
            apart.differ += u64::from(!one.equals(other));
            match Distance::between(dtype, expected, one, other).ulp() {
                Some(ulp) => apart.ulps.add(ulp),
                None => apart.non_finite += 1,
            }
        }
    }
    apart
}

/// An output of a part, and what may be expected of it.
struct Output<'a> {
    number: usize,
    specified: &'a Bounded,
    tight: &'a Bounded,
    profile: &'a Profile,
}

/// An element of an answer, and how it stands.
struct JudgedElement {
    index: usize,
    expected: Element,
    actual: Element,
    distance: Distance,
    standing: Standing,
    /// Whether the tight tier says something of it.
    is_judged: bool,
}

impl Output<'_> {
    /// How an element stands: beyond the specification's bound; else beyond the tight one, also where the
    /// specification leaves the element open; else within both.
    fn found(
        &self,
        index: usize,
        (specified, expected): (Element, Element),
        actual: Element,
    ) -> JudgedElement {
        let spec = self.allows(self.specified, index, specified, actual);
        let tight = self.allows(self.tight, index, expected, actual);
        let standing = match (spec, tight) {
            (Some(false), _) => Standing::Beyond,
            (_, Some(false)) => Standing::Specified,
            (Some(true) | None, Some(true) | None) => Standing::Tight,
        };
        let distance = Distance::between(self.specified.tensor.dtype(), expected, expected, actual);
        JudgedElement { index, expected, actual, distance, standing, is_judged: tight.is_some() }
    }

    /// Whether an implementation may have an element; `None` where nothing can be said.
    fn allows(&self, bounded: &Bounded, index: usize, expected: Element, actual: Element) -> Option<bool> {
        match (expected, actual) {
            (Element::Real(value), Element::Real(actual)) => {
                bounded.accepts_float(index, (value, actual), self.profile)
            }
            (Element::Whole(value), Element::Whole(actual)) => {
                bounded.accepts_integer(index, (value, actual))
            }
            (Element::Real(_), Element::Whole(_)) | (Element::Whole(_), Element::Real(_)) => Some(false),
        }
    }

    fn take(&self, tally: &mut Tally, found: &JudgedElement, context: &Context<'_>) {
        tally.elements += 1;
        tally.beyond_tight += u64::from(found.standing != Standing::Tight);
        tally.beyond_spec += u64::from(found.standing == Standing::Beyond);
        if found.is_judged {
            tally.judged += 1;
            tally.exact += u64::from(found.expected.equals(found.actual));
            tally.flushed += u64::from(found.distance == Distance::Flushed);
            match found.distance.ulp() {
                Some(ulp) => tally.ulps.add(ulp),
                None => tally.non_finite += u64::from(found.standing != Standing::Tight),
            }
            if let Some(arguments) = context.arguments {
                let place = bins::place(arguments[found.index]);
                tally.bins.entry(place).or_default().merge(&self.bin(found));
            }
        }
        let is_off = found.is_judged && found.distance.ulp().is_some_and(|ulp| ulp > 0.0);
        if is_off || found.standing != Standing::Tight {
            self.keep(tally, found, context);
        }
    }

    fn bin(&self, found: &JudgedElement) -> Bin {
        let ulps = |bounded: &Bounded| match (found.expected, bounded.tensor.dtype().float()) {
            (Element::Real(v), Some(format))
                if v.is_finite() && bounded.error_at(found.index).is_finite() =>
            {
                narrowed(bounded.error_at(found.index) / format.ulp(v))
            }
            _ => 0.0,
        };
        let ulp = found.distance.ulp();
        Bin {
            ulp: narrowed(ulp.unwrap_or(0.0)),
            tight: ulps(self.tight),
            spec: ulps(self.specified),
            non_finite: u32::from(ulp.is_none() && found.standing != Standing::Tight),
        }
    }

    /// Keeps an element if it is the worst so far. Texts are made of few elements only.
    fn keep(&self, tally: &mut Tally, found: &JudgedElement, context: &Context<'_>) {
        let ulp = found.distance.ulp();
        if tally.worst.as_ref().is_some_and(|known| !known.yields_to(found.standing, ulp)) {
            return;
        }
        let dtype = self.specified.tensor.dtype();
        let limit = |bounded: &Bounded| match bounded.error_at(found.index) {
            f64::INFINITY => "any".to_owned(),
            error => format!("{error:.1e}"),
        };
        tally.worst = Some(Worst {
            standing: found.standing,
            part: context.part.clone(),
            output: self.number,
            element: found.index,
            at: (context.at)(found.index),
            expected: found.expected.text(dtype),
            actual: found.actual.text(dtype),
            ulp,
            tight: limit(self.tight),
            spec: limit(self.specified),
        });
    }
}

/// A distance as it is stored for a drawing.
fn narrowed(ulp: f64) -> f32 {
    ulp.min(f64::from(f32::MAX)) as f32
}

#[cfg(test)]
mod tests {
    use ir::{DType, Type};
    use ops::Model;

    use super::*;
    use crate::form::PartForm;
    use crate::tier::Obligation;

    /// What is expected of one f32, 1: to be no further off than that.
    fn within(error: f64) -> Bounded {
        let tensor = Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| 1.0);
        Bounded::within(tensor, vec![error])
    }

    #[test]
    fn an_integer_that_may_be_off_on_one_side_is_held_to_the_other() {
        let zero = Tensor::from_i128_fn(&Type::new(DType::I32, [1]), |_| 0);
        let uneven = vec![interp::Uneven { at: 0, below: 0, above: 1 }];
        let bounded = &Bounded { uneven, ..Bounded::within(zero, vec![1.0]) };
        let output = Output { number: 0, specified: bounded, tight: bounded, profile: &Profile::DECLARED };
        for (actual, standing) in [(-1, Standing::Beyond), (0, Standing::Tight), (1, Standing::Tight)] {
            let found = output.found(0, (Element::Whole(0), Element::Whole(0)), Element::Whole(actual));
            assert_eq!(found.standing, standing, "{actual}");
        }
    }

    #[test]
    fn the_specification_comes_before_the_tight_tier_and_neither_is_held_to_what_is_open() {
        let (open, wide, narrow) = (f64::INFINITY, 0.5, 0.125);
        for (specified, tight, actual, standing, is_judged) in [
            (wide, narrow, 1.0, Standing::Tight, true),
            (wide, narrow, 1.25, Standing::Specified, true),
            (wide, narrow, 2.0, Standing::Beyond, true),
            (open, narrow, 1.0, Standing::Tight, true),
            (open, narrow, 2.0, Standing::Specified, true),
            (open, open, 2.0, Standing::Tight, false),
            (wide, open, 1.25, Standing::Tight, false),
            (wide, open, 2.0, Standing::Beyond, false),
            (narrow, wide, 1.25, Standing::Beyond, true),
        ] {
            let (specified, tight) = (&within(specified), &within(tight));
            let output = Output { number: 0, specified, tight, profile: &Profile::WGSL };
            let one = Element::Real(1.0);
            let found = output.found(0, (one, one), Element::Real(actual));
            let (of, by) = (specified.error_at(0), tight.error_at(0));
            assert_eq!(
                (found.standing, found.is_judged),
                (standing, is_judged),
                "{actual} within {of}, {by}"
            );
        }
    }

    #[test]
    fn good_implementations_are_held_to_their_own_number_where_the_specification_has_none() {
        let text = "onnxsmith 1 opset 28 graph { %0: f16[1, 1, 259, 4] = variable \"x\" \
                    %1: f16[1, 1, 1, 2] = variable \"at\" %2: f16[1, 1, 1, 1] = GridSample(%0, %1) \
                    {mode = \"nearest\", padding_mode = \"reflection\", align_corners = 1} return \"y\" = %2 }";
        let model: Model = text.parse().unwrap();
        let tensor =
            |shape: &[i64], f: &dyn Fn(usize) -> f64| Tensor::from_f64_fn(&Type::new(DType::F16, shape), f);
        let inputs =
            [tensor(&[1, 1, 259, 4], &|i| i as f64), tensor(&[1, 1, 1, 2], &|i| [-0.987, -0.8413][i])];
        let reference = Reference::of(&model, &inputs, &[Obligation::new(&Profile::WGSL)]).unwrap().remove(0);
        let beyond = |y: f64| {
            let (op, dtype) = ("GridSample".to_owned(), "f16".to_owned());
            let part = Name { op, dtype, form: PartForm::Several, number: 0, length: None };
            let context = Context { part: &part, at: &|_| String::new(), arguments: None };
            let tally = judge(&reference, &[tensor(&[1, 1, 1, 1], &|_| y)], &context);
            (tally.beyond_spec, tally.beyond_tight)
        };
        assert_eq!([80.0, 84.0].map(beyond), [(0, 0), (0, 1)]);
    }
}
