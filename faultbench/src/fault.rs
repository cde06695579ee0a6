//! A fault, by where it sits: in a kernel, in what an optimiser makes of a model, or in how a process runs models.

use interp::Profile;

use crate::processes::{self, WrongProcess};
use crate::rewritings::{self, WrongRewriting};
use crate::{PlantedFault, catalogue};

/// A fault.
#[derive(Clone, Copy)]
pub enum Fault {
    /// In the kernel of one operator.
    Operator(&'static PlantedFault),
    /// In what an optimiser makes of a model before the right kernels run it.
    Graph(&'static WrongRewriting),
    /// In how a process runs one model after another, with the right kernels.
    Process(&'static WrongProcess),
}

/// Where a fault sits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    Operator,
    Graph,
    Process,
}

impl Level {
    /// Every level, from the smallest part of an engine to the largest.
    pub(crate) const ALL: [Self; 3] = [Self::Operator, Self::Graph, Self::Process];

    /// In reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Graph => "graph",
            Self::Process => "process",
        }
    }
}

/// Every fault, level by level.
pub fn all() -> impl Iterator<Item = Fault> {
    let graphs = rewritings::all().map(Fault::Graph);
    catalogue::all().map(Fault::Operator).chain(graphs).chain(processes::all().map(Fault::Process))
}

impl Fault {
    /// What it is called on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Operator(fault) => fault.name,
            Self::Graph(fault) => fault.name,
            Self::Process(fault) => fault.name,
        }
    }

    /// Whether this is its name, that of its operator, or that of its level.
    pub fn is_called(&self, name: &str) -> bool {
        [Some(self.name()), self.operator(), Some(self.level().name())].contains(&Some(name))
    }

    /// What it does.
    pub(crate) fn does(&self) -> &'static str {
        match self {
            Self::Operator(fault) => fault.does,
            Self::Graph(fault) => fault.does,
            Self::Process(fault) => fault.does,
        }
    }

    /// The public bug that it does as.
    pub(crate) fn source(&self) -> Option<&'static str> {
        match self {
            Self::Operator(fault) => fault.source(),
            Self::Graph(fault) => fault.source,
            Self::Process(fault) => fault.source,
        }
    }

    /// Whether it counts as a fault under an accuracy profile. The profile may grant what it does.
    pub(crate) fn is_fault_under(&self, profile: &Profile) -> bool {
        catalogue::granted(self.name()).iter().all(|granting| granting.name != profile.name)
    }

    /// Where it sits.
    pub(crate) fn level(&self) -> Level {
        match self {
            Self::Operator(_) => Level::Operator,
            Self::Graph(_) => Level::Graph,
            Self::Process(_) => Level::Process,
        }
    }

    /// The operator that it is in, where it is in one.
    pub(crate) fn operator(&self) -> Option<&'static str> {
        match self {
            Self::Operator(fault) => Some(fault.operator),
            Self::Graph(_) | Self::Process(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_level_has_faults_and_no_two_have_one_name() {
        let names: BTreeSet<&str> = all().map(|fault| fault.name()).collect();
        assert_eq!(names.len(), all().count(), "two faults have one name");
        let count = |level| all().filter(|fault| fault.level() == level).count();
        assert!(count(Level::Graph) >= 25, "{}", count(Level::Graph));
        assert!(count(Level::Process) >= 10, "{}", count(Level::Process));
    }

    #[test]
    fn a_fault_with_a_source_names_a_repository_and_a_number() {
        for source in all().filter_map(|fault| fault.source()) {
            let (repository, number) = source.split_once('#').unwrap_or_default();
            assert!(repository.split('/').count() == 2 && number.parse::<u32>().is_ok(), "{source}");
        }
    }
}
