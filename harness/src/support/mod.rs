//! What an engine has, as far as is known: from its own statements, and from what was found out.
//!
//! Cases are made from what an engine has ([`Support::narrow`]), and cases that need more are not run
//! ([`Support::lacks`]). It is data: [`mod@file`] writes and reads it, so that cases can be made for an engine that is
//! not at hand.

pub mod file;

use std::collections::{BTreeMap, BTreeSet};

use graphgen::support::text;
use graphgen::{Refused, Settings, UseForm};
use interp::Profile;
use ir::{DType, DTypes, NodeId};
use ops::Model;
use worker::Description;

use crate::case::{self, Case};
use crate::naming;

/// What an engine has.
#[derive(Clone, Debug)]
pub struct Support {
    /// The engine, as `--on` takes it.
    pub engine: String,
    /// The engine's name in reports: that of its hello where it is started by a command ([`crate::naming`]).
    pub name: String,
    /// Its version.
    pub version: String,
    /// The accuracy it is held to.
    pub profile: &'static Profile,
    /// The newest opset that it loads, if that is known.
    pub opset: Option<u32>,
    /// The dtypes it computes in as they are, or in one that holds the same values.
    pub dtypes: DTypes,
    /// Whether it takes model-local functions, as far as is known.
    pub functions: bool,
    /// Whether a value that comes for an input with a default takes the place of that.
    pub overrides_defaults: bool,
    lacking: Vec<Lacking>,
    lacking_forms: Vec<LackingForm>,
    /// For operators that are written out where they are read: the dtypes on which the engine was found to
    /// lack each.
    composites: BTreeMap<&'static str, DTypes>,
    /// The forms that are lacking, for the generator.
    refused: Refused,
}

/// A form of an operator that an engine was found to lack.
#[derive(Clone, PartialEq, Debug)]
pub struct Lacking {
    /// The operator.
    pub operator: &'static str,
    /// The form.
    pub form: UseForm,
    /// How many uses of it were tried, all of which the engine said not to support.
    pub tried: u64,
    /// What it said of one of them.
    pub said: String,
}

/// A form of programs that an engine was found to lack: one of those with bodies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LackingForm {
    /// The form.
    pub form: &'static str,
    /// How many programs with it were tried, all of which the engine said not to support, though it has the plain
    /// models that they lead to.
    pub tried: u64,
    /// What it said of one of them.
    pub said: String,
}

impl LackingForm {
    /// The form of a name that was found out earlier, elsewhere; `None` if there is no form with bodies of that name.
    pub fn recalled(name: &str) -> Option<Self> {
        let form = forms::WITH_BODIES.into_iter().find(|form| *form == name)?;
        Some(Self { form, tried: 0, said: String::new() })
    }
}

impl Lacking {
    /// A form that was found out earlier, elsewhere.
    pub fn recalled(operator: &'static str, form: UseForm) -> Self {
        Self { operator, form, tried: 0, said: String::new() }
    }

    /// The form in words.
    pub fn sentence(&self) -> String {
        ops::find(self.operator).map(|spec| text::sentence(&self.form, spec)).unwrap_or_default()
    }
}

impl Support {
    /// What an engine states of itself.
    pub fn stated(engine: &str, profile: &'static Profile, description: &Description) -> Self {
        Self {
            engine: engine.to_owned(),
            name: naming::name(engine, &description.engine),
            version: description.version.clone(),
            profile,
            opset: description.opset.map(|opset| opset.clamp(0, 1000) as u32),
            dtypes: dtypes(description),
            functions: true,
            overrides_defaults: description.overrides_defaults,
            lacking: Vec::new(),
            lacking_forms: Vec::new(),
            composites: BTreeMap::new(),
            refused: Refused::new(),
        }
    }

    /// This support as that of an engine that has another command.
    #[must_use]
    pub fn as_of(self, other: &Self) -> Self {
        Self { engine: other.engine.clone(), name: other.name.clone(), ..self }
    }

    /// This support with another newest opset.
    #[must_use]
    pub fn with_opset(self, opset: Option<u32>) -> Self {
        Self { opset, ..self }
    }

    /// This support with functions or without.
    #[must_use]
    pub fn with_functions(self, functions: bool) -> Self {
        Self { functions, ..self }
    }

    /// This support with these forms lacking, and no others.
    #[must_use]
    pub fn with_lacking(self, lacking: Vec<Lacking>) -> Self {
        let mut refused = Refused::new();
        for lack in &lacking {
            refused.insert(lack.operator, lack.form.clone());
        }
        Self { lacking, refused, ..self }
    }

    /// This support with these forms of programs lacking, and no others.
    #[must_use]
    pub fn with_lacking_forms(self, lacking_forms: Vec<LackingForm>) -> Self {
        Self { lacking_forms, ..self }
    }

    /// This support with operators that are written out where they are read lacking on these dtypes.
    #[must_use]
    pub fn with_composites(self, composites: BTreeMap<&'static str, DTypes>) -> Self {
        Self { composites, ..self }
    }

    /// The dtypes on which it was found to lack operators that are written out where they are read.
    pub fn composites(&self) -> &BTreeMap<&'static str, DTypes> {
        &self.composites
    }

    /// The forms of operators that it was found to lack.
    pub fn lacking(&self) -> &[Lacking] {
        &self.lacking
    }

    /// The forms of programs that it was found to lack.
    pub fn lacking_forms(&self) -> &[LackingForm] {
        &self.lacking_forms
    }

    /// The settings without what the engine lacks.
    pub fn narrow(&self, mut settings: Settings) -> Settings {
        settings.dtypes = settings.dtypes.intersection(self.dtypes);
        if let Some(opset) = self.opset {
            settings.opset = settings.opset.min(opset);
            if opset < *ir::graph::OPSETS.start() {
                // There are no models for it, nor of what is written out where it is read.
                settings.composites.share = 0.0;
            }
        }
        settings.refused.extend(&self.refused);
        for (name, dtypes) in &mut settings.composites.each {
            let lacking = self.composites.get(name).copied().unwrap_or(DTypes::NONE);
            *dtypes = dtypes.iter().filter(|&dtype| !lacking.contains(dtype)).collect();
        }
        if !self.functions {
            settings.function = 0.0;
            settings.forms.each.remove(forms::FUNCTION);
        }
        if !self.overrides_defaults {
            settings.forms.each.remove(forms::OVERRIDDEN_DEFAULT);
        }
        for lacking in &self.lacking_forms {
            settings.forms.each.remove(lacking.form);
        }
        settings
    }

    /// What a case needs and the engine lacks, if anything.
    pub fn lacks_of(&self, case: &Case) -> Option<String> {
        if !self.overrides_defaults && case.forms.contains(&forms::OVERRIDDEN_DEFAULT) {
            return Some(format!("{} makes constants of defaults", self.engine));
        }
        if !self.functions && case.forms.contains(&forms::FUNCTION) {
            return Some(format!("{} was found to lack functions", self.engine));
        }
        if let Some(lacking) = self.lacking_forms.iter().find(|lacking| case.forms.contains(&lacking.form)) {
            return Some(format!("{} was found to lack {}", self.engine, lacking.form));
        }
        self.lacks(&case.model, &case.unseen)
    }

    /// What a model needs and the engine lacks, if anything; of its nodes the engine does not see some, as their operators are
    /// written out where they are read.
    pub fn lacks(&self, model: &Model, unseen: &BTreeSet<NodeId>) -> Option<String> {
        let Self { engine, .. } = self;
        if let Some(newest) = self.opset.filter(|&newest| model.opset > newest) {
            return Some(format!("{engine} loads no opset above {newest}"));
        }
        if !self.functions && !model.functions.is_empty() {
            return Some(format!("{engine} was found to lack functions"));
        }
        if let Some(dtype) = case::dtypes(model, unseen).iter().find(|&d| !self.dtypes.contains(d)) {
            return Some(format!("{engine} does not compute in {dtype}"));
        }
        let known = case::uses(model, unseen, |spec| self.refused.knows(spec.name));
        known.into_iter().find_map(|(spec, use_)| {
            let form = self.refused.refuses(spec.name, &use_)?;
            Some(format!("{engine} was found to lack {}: {}", spec.name, text::sentence(form, spec)))
        })
    }
}

/// The dtypes that an engine computes in as they are, or in one that holds the same values: `bool` as an integer, and i64
/// as i32 for values that fit.
fn dtypes(description: &Description) -> DTypes {
    let stands_for = |d: DType| match description.computes_in(d) {
        Some(e) if e == d => true,
        Some(e) => e.is_int() && (d == DType::Bool || (d == DType::I64 && e == DType::I32)),
        None => false,
    };
    DType::ALL.into_iter().filter(|&d| stands_for(d)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_lacks_opsets_that_are_newer_than_it_says() {
        let description = Description {
            engine: "old".to_owned(),
            opset: Some(15),
            dtypes: DType::ALL.map(|dtype| (dtype.to_string(), dtype.to_string())).into(),
            ..Description::default()
        };
        let support = Support::stated("old", &Profile::DECLARED, &description);
        let lacks = |opset| support.lacks(&Model::new(opset, ops::Graph::new()), &BTreeSet::new());
        assert_eq!(lacks(15), None);
        assert!(lacks(16).is_some_and(|why| why.contains("no opset above 15")));
    }

    #[test]
    fn nothing_is_drawn_for_an_engine_that_loads_no_opset_that_is_drawn() {
        for (opset, is_barren) in [(1, true), (12, true), (13, false)] {
            let dtypes = [("f32".to_owned(), "f32".to_owned())].into();
            let description = Description { opset: Some(opset), dtypes, ..Description::default() };
            let support = Support::stated("old", &Profile::DECLARED, &description);
            assert_eq!(support.narrow(Settings::default()).is_barren(), is_barren, "{opset}");
        }
    }
}
