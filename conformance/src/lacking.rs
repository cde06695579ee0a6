//! The list of what a backend or an engine lacks, held against a problem and against what it says.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use backends::Support as KernelSupport;
use graphgen::Use;
use harness::Support;
use ir::{Operation, Type};
use ops::Op;

use crate::problem::Problem;
use crate::row::Lacks;

/// One thing that a list says is lacking.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LackEntry {
    /// The operator that is lacking, or lacks something; `None` of what is about models as a whole.
    pub operator: Option<&'static str>,
    /// What is lacking, in words.
    pub what: String,
}

impl LackEntry {
    fn of(operator: &'static str, what: impl Into<String>) -> Self {
        Self { operator: Some(operator), what: what.into() }
    }
}

impl fmt::Display for LackEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operator {
            Some(operator) => write!(f, "{operator}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// A list that has been read.
pub enum Lacking {
    /// What our own kernels say of each use of an operator.
    Kernels(fn(&Op, &[Option<&Type>]) -> KernelSupport),
    /// Forms of operators.
    Forms(Support),
}

impl Lacking {
    /// Reads a list.
    pub fn read(name: &str, lacks: &Lacks) -> Result<Self, String> {
        Ok(match lacks {
            Lacks::Kernels(support) => Self::Kernels(*support),
            Lacks::Forms(text) => {
                let file = format!("engines/{name}.toml");
                Self::Forms(Support::parse(text, Path::new(&file)).map_err(|e| e.to_string())?)
            }
        })
    }

    /// Whatever is listed that a problem needs.
    pub fn of(&self, problem: &Problem) -> Vec<LackEntry> {
        match self {
            Self::Kernels(support) => problem
                .uses()
                .filter_map(|(op, types)| Some(LackEntry::of(op.name(), support(op, &types).why_not()?)))
                .collect(),
            Self::Forms(support) => {
                let functions = !support.functions && !problem.model.functions.is_empty();
                let uses = harness::case::uses(&problem.model, &BTreeSet::new(), |_| true);
                let forms = support.lacking().iter().filter(|lack| {
                    let has = |use_: &Use| lack.form.holds(use_) == Some(true);
                    uses.iter().any(|(spec, use_)| spec.name == lack.operator && has(use_))
                });
                let forms = forms.map(|lack| LackEntry::of(lack.operator, lack.sentence()));
                let whole = || LackEntry { operator: None, what: "functions".to_owned() };
                functions.then(whole).into_iter().chain(forms).collect()
            }
        }
    }

    /// Whether what an engine says may be about these entries. Our own kernels must say why in the same words; what the words of
    /// runtimes mean is not known.
    pub fn may_say(&self, said: &str, entries: &[LackEntry]) -> bool {
        match self {
            Self::Kernels(_) => entries.iter().any(|entry| said.contains(&entry.what)),
            Self::Forms(_) => true,
        }
    }

    /// All entries that there are, where they can be listed.
    pub fn all(&self) -> Vec<LackEntry> {
        match self {
            Self::Kernels(_) => Vec::new(),
            Self::Forms(support) => {
                support.lacking().iter().map(|lack| LackEntry::of(lack.operator, lack.sentence())).collect()
            }
        }
    }
}
