//! `cargo xtask faults`: the command line of the fault bench.

use anyhow::{Result, ensure};
use faultbench::{PlantedFault, Sample, bench, catalogue, clusters, report, shadow};

use crate::checked_in::{Mode, bring_up_to_date, root};

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
    /// Plant rare faults beside operators that are always wrong, and say which are told: in one campaign, in one of so many
    /// parts, and in one that is stopped now and then
    #[arg(long, conflicts_with_all = ["markdown", "reduce", "only", "clusters"], value_name = "PARTS")]
    shadow: Option<u64>,
}

/// Runs the bench and reports.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(count) = arguments.clusters {
        return clustered(count, arguments);
    }
    if let Some(parts) = arguments.shadow {
        return shadowed(parts, arguments);
    }
    for name in &arguments.only {
        let is_known = catalogue::all().any(|fault| fault.is_called(name));
        ensure!(
            is_known,
            "no fault is called {name} or is in an operator of that name; --json lists all faults"
        );
    }
    let is_chosen = |fault: &&PlantedFault| {
        arguments.only.is_empty() || arguments.only.iter().any(|name| fault.is_called(name))
    };
    let faults: Vec<&PlantedFault> = catalogue::all().filter(is_chosen).collect();
    let sample = Sample {
        seed: arguments.seed,
        cases: arguments.cases,
        nodes: 10,
        max_elements: None,
        reduce: arguments.reduce,
    };
    let results = bench::run(&sample, &faults)?;
    if arguments.markdown {
        bring_up_to_date(&root(), report::PAGE, &report::markdown(&results), Mode::Write, "faults --markdown")
    } else if arguments.json {
        println!("{}", report::json(&results));
        Ok(())
    } else {
        print!("{}", report::text(&results));
        Ok(())
    }
}

/// Plants many faults at once, and says what becomes of the findings.
fn clustered(count: usize, arguments: &Arguments) -> Result<()> {
    let results = clusters::run(count, arguments.cases, arguments.seed)?;
    if arguments.json {
        println!("{}", clusters::json(&results));
    } else {
        print!("{}", clusters::text(&results));
    }
    Ok(())
}

/// Plants rare faults beside operators that are always wrong, and says which are told. In parts and in sessions, the
/// campaign must be the same.
fn shadowed(parts: u64, arguments: &Arguments) -> Result<()> {
    let campaign = shadow::Shadow::new(arguments.seed, arguments.cases)?;
    let whole = campaign.run()?;
    if arguments.json {
        println!("{}", shadow::json(&campaign, &whole));
    } else {
        print!("{}", shadow::text(&campaign, &whole));
    }
    for other in [campaign.run_in_parts(parts)?, campaign.run_in_sessions()?] {
        ensure!(
            other.signatures() == whole.signatures(),
            "in parts or in sessions, the campaign has other signatures"
        );
    }
    Ok(())
}
