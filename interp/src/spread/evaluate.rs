//! The spreads of a model's outputs.

use ir::execute::Keep;
use ir::{DType, Tensor};
use ops::{Data, Model};

use super::{DEVIATIONS, Tier};
use crate::balls::{Balls, Errors};
use crate::evaluate::{by_variable, kept, run};
use crate::walk::{Error, check};

/// What rounds to the same number but for the last digit is never suspect: so many ULP are granted at least.
const LEAST_ULPS: f64 = 2.0;

/// So many elements have one beyond [`DEVIATIONS`] deviations once in 250 tensors.
const FEW: f64 = 64.0;

/// How far good implementations are from the elements of one output. By default nothing can be said of any.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Limits {
    /// What good implementations have, but for their errors.
    values: Vec<f64>,
    errors: Vec<f64>,
}

impl Limits {
    /// How far they are from the element at a row-major position: infinitely far where nothing can be said. It may be more than
    /// the bound allows.
    pub fn at(&self, i: usize) -> f64 {
        self.errors.get(i).copied().unwrap_or(f64::INFINITY)
    }

    /// How far they are from that element, where all elements are looked at and the furthest is told. Of many some are unlucky:
    /// one in 16,000 is beyond four deviations, a dozen in a picture of ResNet. So the limit grows with the number of
    /// elements, as the tail of a normal distribution falls: of a tensor of any size no more are beyond than of 64.
    pub fn among_all(&self, i: usize) -> f64 {
        let more = (self.errors.len() as f64 / FEW).max(1.0);
        self.at(i) * (1.0 + 2.0 * libm::log(more) / (DEVIATIONS * DEVIATIONS)).sqrt()
    }

    /// Whether they are about a number that a reference has for an element. Beside a jump they may be about what is on its other side, and
    /// then they say nothing of that number.
    pub fn are_about(&self, i: usize, number: f64) -> bool {
        self.values.get(i).is_some_and(|value| (value - number).abs() <= self.at(i))
    }

    /// Whether an element may be beyond its limit that is so many ULP away from the reference's.
    pub fn may_exceed(ulps: f64) -> bool {
        ulps > LEAST_ULPS
    }
}

/// How far good implementations of a tier are from the outputs of a model, in order.
pub fn limits(model: &Model, inputs: &[Tensor], tier: &Tier) -> Result<Vec<Limits>, Error> {
    let all: Vec<usize> = (0..model.graph.outputs.len()).collect();
    limits_of(&all, model, inputs, tier)
}

/// How far good implementations are from those outputs alone whose numbers are given: of the others nothing is said,
/// and nothing is computed for them.
pub fn limits_of(
    outputs: &[usize],
    model: &Model,
    inputs: &[Tensor],
    tier: &Tier,
) -> Result<Vec<Limits>, Error> {
    check(model, inputs)?;
    let given = by_variable(model, inputs);
    let system = Errors::Spreads(tier);
    let values = run(&system, model, &|id| given.get(&id).copied(), Keep::Only(outputs), &mut |_| true);
    let mut all = vec![Limits::default(); model.graph.outputs.len()];
    for &number in outputs {
        let value = model.graph.outputs[number].value;
        all[number] = of_output(kept(&values, value).data(&system), model.graph.ty(value).dtype);
    }
    Ok(all)
}

fn of_output(data: &Data<Balls<'_>>, dtype: DType) -> Limits {
    let (Data::Real(a), Some(format)) = (data, dtype.float()) else { return Limits::default() };
    let (values, errors) = a.iter().map(|x| (x.value, x.error.max(LEAST_ULPS * format.ulp(x.value)))).unzip();
    Limits { values, errors }
}
