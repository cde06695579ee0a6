//! `cargo xtask faults`: the command line of the fault bench.

use anyhow::{Result, ensure};
use faultbench::{Fault, Sample, bench, clusters, controls, fault, report, shadow};

use crate::checked_in::{Mode, bring_up_to_date, root};

/// What the command line asks for.
#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
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
    /// Plant only the faults whose name, operator or level this is, or try only the controls of this name; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Reduce the first case on which each fault is found
    #[arg(long, conflicts_with = "markdown")]
    reduce: bool,
    /// Plant no faults, and try the implementations that are right in another way alone
    #[arg(long, conflicts_with_all = ["markdown", "reduce"])]
    controls: bool,
    /// Plant so many faults at once, in operators drawn by the seed, and group what a campaign finds
    #[arg(long, conflicts_with_all = ["markdown", "reduce", "only", "controls"], value_name = "N")]
    clusters: Option<usize>,
    /// Plant rare faults beside operators that are always wrong, and say which are told: in one campaign, in one of so many
    /// parts, and in one that is stopped now and then
    #[arg(long, conflicts_with_all = ["markdown", "reduce", "only", "clusters", "controls"], value_name = "PARTS")]
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
    let sample = Sample {
        seed: arguments.seed,
        cases: arguments.cases,
        nodes: 10,
        max_elements: None,
        reduce: arguments.reduce,
    };
    if arguments.controls {
        return try_controls(&sample, arguments);
    }
    let results = bench::run(&sample, &chosen(&arguments.only)?)?;
    if arguments.markdown {
        let controls = controls::bench::run(&sample, &[])?;
        let page = report::markdown(&results, &controls);
        bring_up_to_date(&root(), report::PAGE, &page, Mode::Write, "faults --markdown")?;
        let idle = controls.explained_without_alarm();
        ensure!(
            idle.is_empty(),
            "the alarms of these are explained, and they have none: {}",
            idle.join(", ")
        );
        no_alarms(controls.alarms())?;
    } else if arguments.json {
        println!("{}", report::json(&results));
    } else {
        print!("{}", report::text(&results));
    }
    no_alarms(results.alarms_of_profiles())
}

/// Fails where something right was called wrong.
fn no_alarms(alarms: u64) -> Result<()> {
    ensure!(alarms == 0, "{alarms} right answers were called wrong; standard error has them");
    Ok(())
}

/// The faults of these names, or all where none is named.
fn chosen(names: &[String]) -> Result<Vec<Fault>> {
    for name in names {
        ensure!(
            fault::all().any(|fault| fault.is_called(name)),
            "no fault is called {name} or is in an operator or at a level of that name; --json lists all faults"
        );
    }
    let is_chosen = |fault: &Fault| names.is_empty() || names.iter().any(|name| fault.is_called(name));
    Ok(fault::all().filter(is_chosen).collect())
}

/// Tries implementations that are right, and says which of them are called wrong.
fn try_controls(sample: &Sample, arguments: &Arguments) -> Result<()> {
    for name in &arguments.only {
        let is_known = controls::names().any(|known| known == name);
        ensure!(is_known, "no control is called {name}; --controls --json lists all");
    }
    let results = controls::bench::run(sample, &arguments.only)?;
    if arguments.json {
        println!("{}", controls::report::json(&results));
    } else {
        print!("{}", controls::report::text(&results));
    }
    no_alarms(results.alarms())
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
    let count = whole.signatures().len();
    for (how, other) in
        [("in parts", campaign.run_in_parts(parts)?), ("stopped now and then", campaign.run_in_sessions()?)]
    {
        ensure!(other.signatures() == whole.signatures(), "{how}, the campaign has other signatures");
        eprintln!("{how}: the same {count} signatures");
    }
    Ok(())
}
