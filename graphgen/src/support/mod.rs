//! What an engine has not: forms of operators that are not to be drawn.
//!
//! | module | holds |
//! |---|---|
//! | [`form`] | a form of an operator: a conjunction of facts of one use |
//! | [`reading`] | what can be read off a use, before and after its sizes are known |
//! | [`text`] | forms as a person reads and writes them |
//!
//! Forms are data, not closures: they can be counted, compared, stored in a campaign and written to a file. How an
//! engine's forms are found out is not the generator's business (`harness::probe`).
//!
//! A form about nothing but one operand's dtype, or about nothing at all, is kept in mind while an operator is drawn
//! ([`Refused::withheld`], [`Refused::bars`]), so that it costs no draw. Any other is looked for in what was drawn.

pub mod form;
pub mod reading;
pub mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use ir::DTypes;
use ir::graph::OPSETS;
use ops::Spec;
use ops::spec::Arity;

pub use form::{Fact, Subject, Test, UseForm};
pub use reading::{Reading, Use};

/// The forms of operators that are not drawn. They are shared, as settings are copied for each case.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Refused(Arc<BTreeMap<&'static str, Forms>>);

/// The forms of one operator.
#[derive(Clone, Default, Debug)]
struct Forms {
    forms: BTreeSet<UseForm>,
    /// What follows from them in each opset. It is kept because every draw asks for it.
    barred: OnceLock<Vec<Barred>>,
}

/// What is known of all uses of an operator in one opset.
#[derive(Clone, Default, Debug)]
struct Barred {
    /// Whether each is refused.
    all: bool,
    /// The dtypes that each operand cannot have.
    dtypes: Vec<DTypes>,
}

impl PartialEq for Forms {
    fn eq(&self, other: &Self) -> bool {
        self.forms == other.forms
    }
}

impl Eq for Forms {}

impl Forms {
    fn insert(&mut self, form: UseForm) {
        self.forms.insert(form);
        self.barred = OnceLock::new();
    }

    fn barred(&self, spec: &Spec, opset: u32) -> Option<&Barred> {
        let all =
            self.barred.get_or_init(|| OPSETS.map(|opset| Barred::by(&self.forms, spec, opset)).collect());
        all.get(opset.checked_sub(*OPSETS.start())? as usize)
    }
}

impl Barred {
    fn by(forms: &BTreeSet<UseForm>, spec: &Spec, opset: u32) -> Self {
        let mut dtypes = vec![DTypes::NONE; spec.inputs.len()];
        for (operand, more) in forms.iter().filter_map(|form| form.only_dtypes(opset)) {
            if let Some(slot) = dtypes.get_mut(operand) {
                *slot = slot.union(more);
            }
        }
        Self { all: forms.iter().any(|form| form.is_all(opset)), dtypes }
    }
}

impl Refused {
    /// Nothing is refused.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more form of an operator.
    pub fn insert(&mut self, operator: &'static str, form: UseForm) {
        Arc::make_mut(&mut self.0).entry(operator).or_default().insert(form);
    }

    /// All that another refuses, too.
    pub fn extend(&mut self, more: &Self) {
        for (operator, form) in more.iter() {
            self.insert(operator, form.clone());
        }
    }

    /// The forms, by operator.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &UseForm)> {
        self.0.iter().flat_map(|(operator, known)| known.forms.iter().map(move |form| (*operator, form)))
    }

    /// The forms of one operator.
    pub fn of(&self, operator: &str) -> impl Iterator<Item = &UseForm> {
        self.0.get(operator).into_iter().flat_map(|known| &known.forms)
    }

    /// How many forms there are.
    pub fn len(&self) -> usize {
        self.0.values().map(|known| known.forms.len()).sum()
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
    pub fn refuses(&self, operator: &str, use_: &Use) -> Option<&UseForm> {
        self.of(operator).find(|form| form.holds(use_) == Some(true))
    }

    /// The dtypes that each operand cannot have in an opset, whatever else the use is like. Operands beyond the list can
    /// have any.
    pub fn withheld(&self, spec: &Spec, opset: u32) -> &[DTypes] {
        let barred = self.0.get(spec.name).and_then(|forms| forms.barred(spec, opset));
        barred.map_or(&[], |barred| &barred.dtypes)
    }

    /// Whether every use of an operator, with operands of these dtypes, is refused in an opset.
    pub fn bars(&self, spec: &Spec, opset: u32, dtypes: DTypes) -> bool {
        let Some(barred) = self.0.get(spec.name).and_then(|forms| forms.barred(spec, opset)) else {
            return false;
        };
        let lacks = |i: usize| {
            let left = spec.input_types(i, opset).intersection(dtypes);
            left.iter().all(|d| barred.dtypes[i].contains(d))
        };
        let mut needed = (0..spec.inputs.len()).filter(|&i| spec.inputs[i].arity != Arity::Optional);
        barred.all || needed.any(lacks)
    }
}
