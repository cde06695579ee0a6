//! `onnxsmith gen`

use campaign::generate;
use harness::invalid::schedule::{Choice, Levels};
use harness::{Support, Values};
use interp::Profile;
use serde_json::json;

use super::{jobs, maker, probe, rules, writable};
use crate::args::{Common, Gen, Level};
use crate::progress::Progress;
use crate::screen;
use campaign::Exit;

/// Writes random cases.
pub(crate) fn run(common: Common, args: &Gen) -> anyhow::Result<Exit> {
    let taste = args.bounds.taste()?;
    let (jobs, mut settings) = (jobs(args.jobs), args.bounds.settings(&taste)?);
    let engine = args.engine.as_deref();
    let support = engine.map(|name| probe::support(common, name, &settings, jobs)).transpose()?;
    if let Some(support) = &support {
        settings = probe::narrowed(support, settings, taste.opset.as_ref())?;
    }
    let theirs = support.as_ref().map_or(&Profile::DECLARED, |support| support.profile);
    let profile = args.profile.unwrap_or(theirs);
    let values = if args.no_values { Values::None } else { args.values.into() };
    let maker = maker(common.seed, settings, &taste, values);
    let choice = match args.level {
        Level::Valid => Choice::Valid,
        Level::Violate => Choice::Violate,
    };
    let levels = Levels { choice, rules: rules(&args.rules, choice != Choice::Valid)? };
    if let Some(out) = &args.out {
        generate::vacant(out)?;
    }
    writable(args.out.as_deref(), None)?;
    let bar = Progress::new(common, Some(args.count), "generating");
    let before = backends::usage::cpu_seconds();
    let out = args.out.as_deref();
    let mut on_case = |done| bar.set_position(done);
    let made = generate::cases(&maker, &levels, profile, args.count, jobs, out, &mut on_case);
    bar.finish_and_clear();
    let made = made?;
    let cpu_seconds = backends::usage::cpu_seconds() - before;
    if common.json {
        let mut all = serde_json::to_value(&made)?;
        all["cpu_seconds"] = json!(cpu_seconds);
        if let Some(Support { engine, version, .. }) = &support {
            all["for"] = json!({ "engine": engine, "version": version, "accuracy": profile.name });
        }
        screen::json(&all)?;
    } else {
        let lacks = support.as_ref().map_or_else(String::new, |support| {
            format!(" and {} because {} lacks their form", made.refused_draws, support.engine)
        });
        let place = args.out.as_ref().map_or_else(String::new, |out| format!(" in {}", out.display()));
        screen::text(&format!(
            "{} cases of {} nodes in all{place}; {} draws came to nothing{lacks}; {:.2} s, {:.2} s of CPU",
            made.generated, made.nodes, made.rejected, made.wall_seconds, cpu_seconds
        ))?;
        for (name, amounts) in made.footprints.each() {
            screen::text(&amounts.text(name))?;
        }
    }
    Ok(Exit::Clean)
}
