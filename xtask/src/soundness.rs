//! `cargo xtask soundness`: the command line of the test that holds bounds against conforming implementations.

use anyhow::{Result, ensure};
use faultbench::soundness::{self, Contract, Sample};

use crate::checked_in::{Mode, bring_up_to_date, root};

/// What the command line asks for.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print one JSON object
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Write docs/soundness.md
    #[arg(long, conflicts_with = "only")]
    markdown: bool,
    /// How many cases of each operator on each dtype
    #[arg(long, default_value_t = 20, value_name = "N")]
    cases: u64,
    /// How many implementations of each profile run each case
    #[arg(long, default_value_t = 16, value_name = "N")]
    implementations: u64,
    /// The seed of the cases and of the implementations
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Try only the operators of these names; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// Tries the bounds and reports.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    for name in &arguments.only {
        ensure!(ops::registry().any(|spec| spec.name == name), "no operator that is drawn is called {name}");
    }
    let sample =
        Sample { seed: arguments.seed, cases: arguments.cases, implementations: arguments.implementations };
    let results = soundness::run(sample, &Contract::ALL, &arguments.only)?;
    if arguments.markdown {
        let page = soundness::markdown(&results);
        bring_up_to_date(&root(), soundness::PAGE, &page, Mode::Write, "soundness --markdown")?;
    } else if arguments.json {
        println!("{}", soundness::json(&results));
    } else {
        print!("{}", soundness::text(&results));
    }
    let refuted = results.refuted();
    ensure!(refuted == 0, "{refuted} answers of conforming implementations are outside of their bounds");
    Ok(())
}
