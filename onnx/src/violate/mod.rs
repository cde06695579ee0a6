//! Valid models, broken in exactly one named way.
//!
//! A runtime has to refuse a broken model with an error; whether it does is worth a test, because its checks stand
//! between a damaged file and its memory. [`rules`] lists what can be broken. Each [`Rule`] is a row: a clause of the
//! standard, where a model has a place for it, and an edit of the model's message. Most of these models cannot be
//! expressed in [`ops::Model`], which has no names to collide and no cycles; so the edits work on [`ModelProto`].
//!
//! | module | rules about |
//! |---|---|
//! | `edges` | names, and the order of nodes |
//! | `operands` | how many operands and results a node has, and their types |
//! | `sizes` | the sizes of operands |
//! | `attributes` | attributes |
//! | `parameters` | operands whose values say what an operator does |
//! | `declared` | declared types |
//! | `environment` | opsets, domains, initializers, functions |
//! | `site` | what an edit knows of the model, and its choices |
//!
//! An edit makes the model invalid by the text of the standard, not by trial. That our own import refuses it, with an
//! error that names the rule and the thing that breaks it, is for [`Violation::refusal`] to show.

mod attributes;
mod declared;
mod edges;
mod environment;
mod operands;
mod parameters;
mod site;
mod sizes;

use std::collections::BTreeMap;

use ir::{Datum, Stream};

use crate::import::Options;
use crate::proto::ModelProto;
use crate::{Error, import};
use site::{Edit, Site};

/// A rule of ONNX, and how to break it.
#[derive(Debug)]
pub struct Rule {
    /// Its name, by what is wrong with the model.
    pub name: &'static str,
    /// What the standard says.
    pub clause: &'static str,
    /// Who has to notice.
    pub scope: Scope,
    /// Where the standard says so: a section of IR.md, a message of onnx.proto, or the operators' schemas.
    pub source: Source,
    /// Whether ONNX's checker notices.
    pub checker: Checker,
    /// Words of which every error of import about this rule has one.
    says: &'static [&'static str],
    edit: fn(&mut Site) -> Option<Edit>,
}

/// Who has to notice that a model breaks a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Whoever reads models: it makes no difference which operators a model has.
    Model,
    /// Whoever knows the operator of the one node that breaks the rule: each operator is checked by code of its own.
    Operator,
}

/// A part of the standard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A section of IR.md.
    Ir(&'static str),
    /// The comment of a message or field in onnx.proto.
    Proto(&'static str),
    /// The schemas of the operators, Operators.md.
    Schemas,
    /// Broadcasting.md.
    Broadcasting,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ir(section) => write!(f, "IR.md, {section}"),
            Self::Proto(message) => write!(f, "onnx.proto, {message}"),
            Self::Schemas => f.write_str("Operators.md"),
            Self::Broadcasting => f.write_str("Broadcasting.md"),
        }
    }
}

/// What `onnx.checker.check_model(…, full_check=True)` of onnx 1.23 does about a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checker {
    /// The checker refuses the model, also without type inference.
    Refuses,
    /// The checker refuses the model, but only by type inference (`full_check`).
    Infers,
    /// The checker notices in some places; why not in others.
    Partly(&'static str),
    /// The checker does not look.
    Blind(&'static str),
}

/// A model that breaks one rule.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The rule.
    pub rule: &'static Rule,
    /// The model.
    pub model: ModelProto,
    /// The name of the node, value, domain, function or operator that breaks it.
    pub subject: String,
    /// The operator of the node that breaks it, if it is a rule about the use of one operator.
    pub operator: Option<String>,
    /// What was done, in a few words.
    pub edit: String,
}

/// Our import takes a model that breaks a rule, or refuses it for something else. A defect of this program.
#[derive(Debug, thiserror::Error)]
pub enum NotRefused {
    /// The model is taken for valid.
    #[error("import accepts a model that breaks the rule {rule}: {edit}")]
    Accepted {
        /// The rule.
        rule: &'static str,
        /// What was done to the model.
        edit: String,
    },
    /// The error does not name the rule and its subject.
    #[error("import does not say that a model breaks the rule {rule} ({edit}), but: {error}")]
    Unnamed {
        /// The rule.
        rule: &'static str,
        /// What was done to the model.
        edit: String,
        /// The error.
        error: Error,
    },
}

/// Every rule, in the order of the documentation.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        edges::RULES,
        operands::RULES,
        sizes::RULES,
        attributes::RULES,
        parameters::RULES,
        declared::RULES,
        environment::RULES,
    ]
    .into_iter()
    .flatten()
}

/// The rule of that name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.name == name)
}

impl Rule {
    /// The model with this rule broken at a place drawn from the stream; `None` where it has no place for that. The
    /// model must be valid, and a result of [`crate::export()`]: every value's type is declared.
    pub fn violate(&'static self, model: &ModelProto, stream: Stream) -> Option<Violation> {
        let mut site = Site::new(model, stream.child(self.name).rng())?;
        let Edit { subject, what } = (self.edit)(&mut site)?;
        let operator = match self.scope {
            Scope::Model => None,
            Scope::Operator => site.operator_of(&subject),
        };
        Some(Violation { rule: self, model: site.finish(), subject, operator, edit: what })
    }
}

impl Violation {
    /// The error with which our own import refuses the model, where need be for known inputs: what depends on how many elements
    /// an operator picks cannot be checked without.
    pub fn refusal(&self, known: &BTreeMap<String, Datum>) -> Result<Error, NotRefused> {
        let (rule, edit) = (self.rule.name, self.edit.clone());
        let with_inputs = || import(&self.model, &Options { known_inputs: known, ..Options::default() });
        let imported = match import(&self.model, &Options::default()) {
            Err(Error::Unsupported { .. }) => with_inputs(),
            settled => settled,
        };
        match imported {
            Ok(_) => Err(NotRefused::Accepted { rule, edit }),
            Err(error @ Error::Invalid { .. }) if self.is_named_by(&error.to_string()) => Ok(error),
            Err(error) => Err(NotRefused::Unnamed { rule, edit, error }),
        }
    }

    fn is_named_by(&self, message: &str) -> bool {
        message.contains(&self.subject) && self.rule.says.iter().any(|words| message.contains(words))
    }
}
