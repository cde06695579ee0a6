//! What an engine has not: forms of operators that are not to be drawn.
//!
//! | module | holds |
//! |---|---|
//! | [`form`] | a form of an operator: a conjunction of facts of one use |
//! | [`reading`] | what can be read off a use, before and after its sizes are known |
//! | [`text`] | forms as a person reads and writes them |
//!
//! Forms are data, not closures: they can be counted, compared, stored in a campaign and written to a file. How an
//! engine's forms are found out is not the generator's business (`campaign::probe`).
//!
//! A form about nothing but one operand's dtype, or about nothing at all, is kept in mind while an operator is drawn
//! ([`Refused::withheld`], [`Refused::bars`]), so that it costs no draw. Any other is looked for in what was drawn.

pub mod form;
pub mod reading;
pub mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ir::DTypes;
use ops::Spec;
use ops::spec::Arity;

pub use form::{Fact, Form, Subject, Test};
pub use reading::{Reading, Use};

/// The forms of operators that are not drawn. They are shared, as settings are copied for each case.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Refused(Arc<BTreeMap<&'static str, BTreeSet<Form>>>);

impl Refused {
    /// Nothing is refused.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more form of an operator.
    pub fn insert(&mut self, operator: &'static str, form: Form) {
        Arc::make_mut(&mut self.0).entry(operator).or_default().insert(form);
    }

    /// All that another refuses, too.
    pub fn extend(&mut self, more: &Self) {
        for (operator, form) in more.iter() {
            self.insert(operator, form.clone());
        }
    }

    /// The forms, by operator.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Form)> {
        self.0.iter().flat_map(|(operator, forms)| forms.iter().map(move |form| (*operator, form)))
    }

    /// The forms of one operator.
    pub fn of(&self, operator: &str) -> impl Iterator<Item = &Form> {
        self.0.get(operator).into_iter().flatten()
    }

    /// How many forms there are.
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    /// Whether nothing is refused.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether some form of an operator is refused.
    pub fn knows(&self, operator: &str) -> bool {
        self.0.contains_key(operator)
    }

    /// The form that a use certainly has, if one is refused.
    pub fn refuses(&self, operator: &str, use_: &Use) -> Option<&Form> {
        self.of(operator).find(|form| form.holds(use_) == Some(true))
    }

    /// The dtypes that each operand cannot have in an opset, whatever else the use is like.
    pub fn withheld(&self, spec: &Spec, opset: u32) -> Vec<DTypes> {
        let mut withheld = vec![DTypes::NONE; spec.inputs.len()];
        for form in self.of(spec.name) {
            if let Some((operand, dtypes)) = form.only_dtypes(opset)
                && let Some(slot) = withheld.get_mut(operand)
            {
                *slot = slot.union(dtypes);
            }
        }
        withheld
    }

    /// Whether every use of an operator, with operands of these dtypes, is refused in an opset.
    pub fn bars(&self, spec: &Spec, opset: u32, dtypes: DTypes) -> bool {
        if !self.knows(spec.name) {
            return false;
        }
        let withheld = self.withheld(spec, opset);
        let lacks = |i: usize| {
            let left = spec.input_types(i, opset).intersection(dtypes);
            left.iter().all(|d| withheld[i].contains(d))
        };
        let needed = (0..spec.inputs.len()).filter(|&i| spec.inputs[i].arity != Arity::Optional);
        self.of(spec.name).any(|form| form.is_all(opset)) || needed.into_iter().any(lacks)
    }
}
