//! What a sweep runs: parts, in an order that depends on nothing but what is asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use ir::{DType, DTypes};
use ops::Spec;
use serde::{Deserialize, Serialize};

use crate::columns::{Fill, are_few};
use crate::form::PartForm;
use crate::lanes::{LENGTHS, SPREADS, Shaped, Spread, along, broadcast, shaped};
use crate::uses::{self, Use};

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Scope {
    /// The seed of all that is drawn.
    pub seed: u64,
    /// The version of ONNX's operators.
    pub opset: u32,
    /// The operators, by ONNX name.
    pub operators: BTreeSet<String>,
    /// The dtypes, by name.
    pub dtypes: BTreeSet<String>,
    /// The forms.
    pub forms: BTreeSet<PartForm>,
    /// How many numbers of a dtype that has more than 65,536.
    pub samples: u64,
    /// How many drawn cases of an operator on a dtype.
    pub cases: u64,
}

/// As many samples as show most of what a function does.
pub const FULL_SAMPLES: u64 = 1 << 22;

/// Samples that are every number of a dtype of 32 bits.
pub const ALL_SAMPLES: u64 = 1 << 32;

/// The most rows of a part: large enough that running it costs more than asking for it, and small enough that a sweep which is
/// killed loses little.
const BLOCK: u64 = 1 << 18;

/// One model with its inputs, to be run on every target.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name in the store.
    pub name: Name,
    /// How it is made.
    pub recipe: Recipe,
}

/// What a part is called: all that tells it from the others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Name {
    /// The operator.
    pub op: String,
    /// The dtype.
    pub dtype: String,
    /// The form.
    pub form: PartForm,
    /// Its number among the parts of that operator, dtype and form.
    pub number: u64,
    /// The length of the axis, if lengths are swept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<i64>,
}

/// How a part is made.
#[derive(Clone, Debug)]
pub enum Recipe {
    /// Element by element, on columns.
    Columns {
        /// The operator and its operands.
        of: Arc<Use>,
        /// What they hold.
        fill: Fill,
        /// How they come to it.
        placed: Placed,
    },
    /// On operands of concrete shapes.
    Shaped {
        /// The operator and its operands.
        of: Shaped,
        /// What they hold.
        spread: Spread,
    },
    /// As campaigns draw it.
    Drawn {
        /// The operator.
        of: &'static Spec,
        /// The dtype.
        dtype: DType,
        /// The number of the case.
        number: u64,
    },
}

/// How operands come to an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placed {
    /// As inputs of the model.
    Inputs,
    /// As initializers.
    Constants,
}

/// The parts of a sweep, in their order.
pub fn parts(scope: &Scope) -> Vec<Part> {
    let mut all = Vec::new();
    for spec in ops::registry().filter(|spec| scope.operators.contains(spec.name)) {
        for dtype in dtypes(spec, scope).iter() {
            of_operator(&mut all, scope, spec, dtype);
        }
    }
    all
}

/// The dtypes of an operator that are asked for.
fn dtypes(spec: &Spec, scope: &Scope) -> DTypes {
    if spec.since() > scope.opset {
        return DTypes::NONE;
    }
    let taken = uses::dtypes(spec, scope.opset);
    let is_asked = |dtype: &DType| scope.dtypes.contains(dtype.name()) && graphgen::DRAWN.contains(*dtype);
    taken.iter().filter(is_asked).collect()
}

fn of_operator(all: &mut Vec<Part>, scope: &Scope, spec: &'static Spec, dtype: DType) {
    let mut recipes: Vec<(PartForm, Option<i64>, Recipe)> = Vec::new();
    if uses::is_elementwise(spec) {
        recipes.extend(elementwise(scope, spec, dtype));
    } else {
        let drawn = |number| (PartForm::Drawn, None, Recipe::Drawn { of: spec, dtype, number });
        recipes.extend((0..scope.cases).map(drawn));
    }
    for length in LENGTHS {
        let Some(of) = along(spec, dtype, length, scope.opset) else { break };
        let of_spread = |spread| (PartForm::Lengths, Some(length), Recipe::Shaped { of: of.clone(), spread });
        recipes.extend(SPREADS.map(of_spread));
    }
    let shaped = shaped(spec, dtype, scope.opset).into_iter();
    recipes.extend(shaped.map(|of| (PartForm::Shapes, None, Recipe::Shaped { of, spread: Spread::Centred })));
    for form in PartForm::ALL.into_iter().filter(|form| scope.forms.contains(form)) {
        let of_form = recipes.iter().filter(|(other, ..)| *other == form);
        all.extend(of_form.enumerate().map(|(number, (_, length, recipe))| {
            let (op, dtype) = (spec.name.to_owned(), dtype.name().to_owned());
            let name = Name { op, dtype, form, number: number as u64, length: *length };
            Part { name, recipe: recipe.clone() }
        }));
    }
}

/// The parts of an operator that works element by element.
fn elementwise(
    scope: &Scope,
    spec: &'static Spec,
    dtype: DType,
) -> impl Iterator<Item = (PartForm, Option<i64>, Recipe)> {
    let mut recipes = Vec::new();
    for of in uses::uses(spec, dtype, scope.opset).into_iter().map(Arc::new) {
        let mut add = |form, fill, placed| {
            recipes.push((form, None, Recipe::Columns { of: Arc::clone(&of), fill, placed }));
        };
        for fill in fills(&of, dtype, scope.samples) {
            add(of.form(), fill, Placed::Inputs);
        }
        add(PartForm::Constants, Fill::Edges, Placed::Constants);
        recipes.extend(broadcast(&of).into_iter().map(|of| {
            let spread = Spread::defined(dtype);
            (PartForm::Broadcast, None, Recipe::Shaped { of, spread })
        }));
    }
    recipes.into_iter()
}

/// What the operands of a use hold, part by part.
fn fills(of: &Use, dtype: DType, samples: u64) -> Vec<Fill> {
    if are_few(of) {
        return vec![Fill::Every];
    }
    let mut fills = vec![Fill::Edges];
    match of.form() {
        PartForm::Unary if dtype.is_float() && samples >= ALL_SAMPLES => fills.extend(ranges(samples)),
        // Half of the samples where functions are neither flat nor nearly the identity.
        PartForm::Unary if dtype.is_float() => {
            fills.extend(ranges(samples / 2));
            fills.extend(blocks(samples / 2).map(|count| Fill::Usual { count }));
        }
        PartForm::Unary => fills.push(Fill::Ranges { from: 0, count: WHOLE_SAMPLES, of: WHOLE_SAMPLES }),
        _ => fills.extend(blocks(samples / FEWER_PAIRS).map(|count| Fill::Usual { count })),
    }
    fills
}

/// How many samples there are of integers, which few operators of one operand take and none approximates.
const WHOLE_SAMPLES: u64 = 1 << 14;

/// Pairs of operands get one sample where single operands get this many. Operators of two operands go wrong
/// at edges, and few of them approximate.
const FEWER_PAIRS: u64 = 32;

/// One number of each of so many ranges, block by block.
fn ranges(of: u64) -> impl Iterator<Item = Fill> {
    (0..of).step_by(BLOCK as usize).map(move |from| Fill::Ranges { from, count: BLOCK.min(of - from), of })
}

fn blocks(count: u64) -> impl Iterator<Item = u64> {
    (0..count).step_by(BLOCK as usize).map(move |from| BLOCK.min(count - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(operators: &[&str], dtypes: &[&str]) -> Scope {
        Scope {
            seed: 0,
            opset: *ir::graph::OPSETS.end(),
            operators: operators.iter().map(ToString::to_string).collect(),
            dtypes: dtypes.iter().map(ToString::to_string).collect(),
            forms: PartForm::ALL.into(),
            samples: 1 << 20,
            cases: 3,
        }
    }

    fn forms(parts: &[Part], form: PartForm) -> Vec<&Part> {
        parts.iter().filter(|part| part.name.form == form).collect()
    }

    #[test]
    fn a_function_of_halves_is_swept_on_every_number() {
        let all = parts(&scope(&["Exp"], &["f16"]));
        let [unary] = forms(&all, PartForm::Unary)[..] else { panic!("{all:?}") };
        assert!(matches!(&unary.recipe, Recipe::Columns { fill: Fill::Every, placed: Placed::Inputs, .. }));
        assert_eq!(forms(&all, PartForm::Constants).len(), 1);
    }

    #[test]
    fn samples_of_a_wide_dtype_are_as_many_as_asked_for() {
        let all = parts(&scope(&["Exp"], &["f32"]));
        let count = |part: &&Part| match part.recipe {
            Recipe::Columns { fill: Fill::Ranges { count, .. } | Fill::Usual { count }, .. } => count,
            _ => 0,
        };
        assert_eq!(forms(&all, PartForm::Unary).iter().map(count).sum::<u64>(), 1 << 20);
        let every = parts(&Scope { samples: ALL_SAMPLES, ..scope(&["Exp"], &["f32"]) });
        assert_eq!(forms(&every, PartForm::Unary).iter().map(count).sum::<u64>(), 1 << 32);
    }

    #[test]
    fn parts_have_names_of_their_own_and_the_order_does_not_change() {
        let scope = scope(&["ReduceSum", "Add", "Concat", "Cast"], &["f32", "u8"]);
        let names = || parts(&scope).into_iter().map(|part| part.name).collect::<Vec<_>>();
        let (first, second) = (names(), names());
        assert_eq!(first, second);
        assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), first.len());
        let lengths: Vec<i64> = first.iter().filter_map(|name| name.length).collect();
        assert!(lengths.contains(&1) && lengths.contains(&65_537));
        assert!(first.iter().any(|name| name.op == "Concat" && name.form == PartForm::Drawn));
    }

    #[test]
    fn every_operator_has_parts_on_every_dtype_that_it_takes() {
        let names: Vec<&str> = ops::registry().map(|spec| spec.name).collect();
        let all = parts(&Scope { samples: 1024, ..scope(&names, &["f32", "u8", "bool"]) });
        let swept: BTreeSet<&str> = all.iter().map(|part| part.name.op.as_str()).collect();
        let missing: Vec<&str> = names.into_iter().filter(|name| !swept.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
