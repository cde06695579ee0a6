//! The oracle of oracles: implementations with one planted fault each, which a campaign must find and name, and ones
//! that are right in another way (controls), in which it must find nothing.
//!
//! A missed fault says that generation, value search, bounds or blame have a hole; a finding in a control says that a bound is
//! too narrow. The same runs are also judged with the fixed tolerances that are usual, so that bounds and constants
//! stand side by side. `cargo xtask faults` is the command line.
//!
//! ```
//! use onnxsmith_faultbench::{Sample, bench, fault, report};
//!
//! let floor: Vec<_> = fault::all().filter(|fault| fault.is_called("floor-truncates")).collect();
//! let sample = Sample { seed: 0, cases: 20, nodes: 4, max_elements: Some(64), reduce: false };
//! let results = bench::run(&sample, &floor)?;
//! assert_eq!(report::json(&results)["faults"], 1);
//! assert_eq!(report::json(&results)["false_alarms"], 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`fault`] | a fault, by where it sits |
//! | [`catalogue`] | those in kernels, a file per family of operators |
//! | `rewritings` | those in what an optimiser makes of a model |
//! | [`composites`] | those in operators that are written out where they are read |
//! | [`programs`] | those in how programs are read, for each of their forms one |
//! | `processes` | those in how a process runs models |
//! | `found` | after how many cases a wrong program is noticed |
//! | `node` | what the faulty kernels are made of: the right kernels, on other operands or with other results |
//! | `kernels` | the CPU's kernels but for one |
//! | `engines` | what has a fault and answers to cases |
//! | [`controls`] | implementations that are right in another way |
//! | `sample`, `prepared` | which cases are tried, and what is expected on one |
//! | `judges` | bounds under each profile, and constants |
//! | [`mod@bench`] | trying every fault on the same cases |
//! | [`clusters`] | many faults in one campaign: is there one group of findings for each? |
//! | [`shadow`] | rare faults beside operators that are always wrong: is each told? |
//! | `reduction` | reducing the cases on which faults are found |
//! | `unseen` | why a fault is not found |
//! | [`report`] | the results as JSON, as a page, in a few lines |
//! | [`malice`] | an implementation that does all the harm its accuracy profile permits |
//! | [`soundness`] | holding the bounds against such implementations |

pub mod bench;
pub mod catalogue;
pub mod clusters;
pub mod composites;
pub mod controls;
mod engines;
pub mod fault;
mod found;
mod judges;
mod kernels;
pub mod malice;
mod node;
mod prepared;
mod processes;
pub mod programs;
mod reduction;
pub mod report;
mod rewritings;
mod sample;
pub mod shadow;
pub mod soundness;
mod unseen;

use ir::Tensor;

pub use bench::Results;
pub use fault::Fault;
pub use sample::Sample;

use node::Node;

/// A kernel that is wrong on some nodes of its operator; `None` leaves a node to the right kernel.
type Wrong = fn(&Node<'_>) -> Option<Vec<Tensor>>;

/// A kernel that differs from the right one in one thing.
pub struct PlantedFault {
    /// What it is called on the command line.
    name: &'static str,
    /// The operator it is in, by ONNX name.
    operator: &'static str,
    /// What it does.
    does: &'static str,
    /// The public bug report or change that it is copied from, as `owner/repository#number`: what `does` says is what was wrong
    /// there.
    source: Option<&'static str>,
    kernel: Wrong,
}

impl PlantedFault {
    /// Whether this is its name, or that of its operator.
    pub fn is_called(&self, name: &str) -> bool {
        [self.name, self.operator].contains(&name)
    }

    /// Where the mistake was made in public, if it is one of those.
    pub fn source(&self) -> Option<&'static str> {
        self.source
    }
}
