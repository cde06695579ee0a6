//! `cargo xtask faults`: the oracle of oracles. Kernels with one planted fault each, which a campaign must find and
//! name, and the same kernels without a fault, in which it must find nothing.
//!
//! A missed fault says that generation, value search, bounds or blame have a hole; a finding without a fault says
//! that a bound is too narrow or a kernel wrong. The same runs are also judged with the fixed tolerances that are
//! usual, so that bounds and constants stand side by side.
//!
//! | module | holds |
//! |---|---|
//! | [`catalogue`] | the faults, a file per family of operators |
//! | [`node`] | what the faulty kernels are made of: the right kernels, on other operands or with other results |
//! | [`kernels`] | the CPU's kernels but for one |
//! | [`judges`] | bounds, and constants |
//! | [`mod@bench`] | trying every fault on the same cases |
//! | [`clusters`] | many faults in one campaign: is there one group of findings for each? |
//! | [`reduction`] | reducing the cases on which faults are found |
//! | [`report`] | the results as JSON, as a page, in a few lines |

mod bench;
mod catalogue;
mod clusters;
mod judges;
mod kernels;
mod node;
mod reduction;
mod report;

use anyhow::{Result, ensure};
use ir::Tensor;

use crate::checked_in::{Mode, root, settle};
use bench::Plan;
use node::Node;

/// A kernel that is wrong on some nodes of its operator; `None` leaves a node to the right kernel.
type Wrong = fn(&Node<'_>) -> Option<Vec<Tensor>>;

/// A kernel that differs from the right one in one thing.
pub(crate) struct Fault {
    /// What it is called on the command line.
    name: &'static str,
    /// The operator it is in, by ONNX name.
    operator: &'static str,
    /// What it does.
    does: &'static str,
    kernel: Wrong,
}

impl Fault {
    /// Whether this is its name, or that of its operator.
    fn is_called(&self, name: &str) -> bool {
        [self.name, self.operator].contains(&name)
    }
}

/// What the command line asks for.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print one JSON object
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Write docs/faults.md
    #[arg(long, conflicts_with = "only")]
    markdown: bool,
    /// How many cases each fault may take to be found
    #[arg(long, default_value_t = 2000, value_name = "N")]
    cases: u64,
    /// The seed of the cases
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Plant only the faults whose name or operator this is; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Reduce the first case on which each fault is found
    #[arg(long, conflicts_with = "markdown")]
    reduce: bool,
    /// Plant so many faults at once, in operators drawn by the seed, and group what a campaign finds
    #[arg(long, conflicts_with_all = ["markdown", "reduce", "only"], value_name = "N")]
    clusters: Option<usize>,
}

/// Runs the bench and reports.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(count) = arguments.clusters {
        return clusters::run(count, arguments.cases, arguments.seed, arguments.json);
    }
    for name in &arguments.only {
        let is_known = catalogue::all().any(|fault| fault.is_called(name));
        ensure!(
            is_known,
            "no fault is called {name} or is in an operator of that name; --json lists all faults"
        );
    }
    let is_chosen =
        |fault: &&Fault| arguments.only.is_empty() || arguments.only.iter().any(|name| fault.is_called(name));
    let faults: Vec<&Fault> = catalogue::all().filter(is_chosen).collect();
    let plan = Plan {
        seed: arguments.seed,
        cases: arguments.cases,
        nodes: 10,
        max_elements: None,
        reduce: arguments.reduce,
    };
    let results = bench::run(&plan, &faults)?;
    if arguments.markdown {
        settle(&root(), report::PAGE, &report::markdown(&results), Mode::Write, "faults --markdown")
    } else if arguments.json {
        println!("{}", report::json(&results));
        Ok(())
    } else {
        print!("{}", report::text(&results));
        Ok(())
    }
}
