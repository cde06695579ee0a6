//! `onnxsmith gen`

use std::path::Path;

use anyhow::{anyhow, bail};
use backends::usage::CpuTime;
use campaign::exit::SearchEnd;
use campaign::generate::{self, Corpus, Generated, Unfinished};
use harness::invalid::schedule::{Choice, Levels};
use harness::{Support, Values};
use interp::Profile;
use serde_json::json;

use super::{jobs, maker, probe, rules, writable_folder};
use crate::args::{Common, Gen, Level};
use crate::bounds::Domains;
use crate::interrupts::Interrupts;
use crate::progress::Progress;
use crate::screen;
use campaign::Exit;

/// Writes random cases.
pub(crate) fn run(common: Common, args: &Gen) -> anyhow::Result<Exit> {
    let taste = args.bounds.taste()?;
    let (jobs, engine) = (jobs(args.jobs), args.engine.as_deref());
    let domains = if engine.is_some() { Domains::Any } else { Domains::Onnx };
    let mut settings = args.bounds.settings(&taste, domains)?;
    // What can be said at once is said before an engine is asked what it has.
    let levels = levels(args)?;
    let first = args.first.unwrap_or(0);
    if first.checked_add(args.count).is_none() {
        bail!("there is no case behind the number {}", u64::MAX);
    }
    check_folder(common, args)?;
    let interrupts = Interrupts::at_once()?;
    let support = engine
        .map(|name| probe::support(common, name, &settings, jobs, &args.patience.limits()))
        .transpose()?;
    if let Some(support) = &support {
        settings = probe::narrowed(support, &settings, taste.opset.as_ref())?;
    }
    let theirs = support.as_ref().map_or(&Profile::DECLARED, |support| support.profile);
    let profile = args.profile.unwrap_or(theirs);
    let values = if args.no_values { Values::None } else { args.values.into() };
    let mut maker = maker(common.seed, settings, &taste, values);
    // The maker adds forms, some of which the engine may lack.
    if let Some(support) = &support {
        maker.settings = support.narrow(maker.settings);
    }
    interrupts.keep("the cases under way are finished");
    let bar = Progress::new(common, Some(args.count), "generating");
    let before = CpuTime::now();
    let out = args.out.as_deref();
    let mut on_case = |done| bar.set_position(done);
    let corpus = Corpus { maker: &maker, levels: &levels, profile, first, count: args.count, out };
    let made = corpus.make(jobs, interrupts.flag(), &mut on_case);
    bar.finish_and_clear();
    let made = made.map_err(|unfinished| failed(unfinished, args))?;
    let cpu_seconds = before.since().total();
    let results = Results { made: &made, support: support.as_ref(), profile, out, cpu_seconds };
    if common.json {
        results.json()?;
    } else {
        results.text()?;
    }
    for (name, amounts) in made.footprints.each().into_iter().filter(|(_, amounts)| amounts.is_out_of_reach())
    {
        screen::tell(
            common,
            &format!(
                "onnxsmith: {} of {} models have the {name} that were asked for; other operators, more --nodes or a larger \
                 --max-elements allow more",
                amounts.inside, amounts.models
            ),
        );
    }
    let was_interrupted = made.generated < args.count;
    if was_interrupted {
        let go_on = go_on(args, first + made.generated);
        screen::say(&format!("onnxsmith: stopped after {} of {} cases{go_on}", made.generated, args.count));
    }
    Ok(Exit::of(SearchEnd { has_found: false, was_interrupted }))
}

/// Which cases break a rule, and which rules.
fn levels(args: &Gen) -> anyhow::Result<Levels> {
    let choice = match args.level {
        Level::Valid => Choice::Valid,
        Level::Violate => Choice::Violate,
    };
    Ok(Levels { choice, rules: rules(&args.broken.rules, choice != Choice::Valid)? })
}

/// Makes sure that the folder takes the cases: a new one, or one of which `--first` says that cases are added.
fn check_folder(common: Common, args: &Gen) -> anyhow::Result<()> {
    let Some(out) = &args.out else { return Ok(()) };
    match args.first {
        Some(_) => generate::continuable(out, common.seed)?,
        None => generate::vacant(out)?,
    }
    writable_folder("--out", Some(out))
}

/// The flags that make the cases from a number on, where cases are kept.
fn go_on(args: &Gen, next: u64) -> String {
    let left = args.first.unwrap_or(0) + args.count - next;
    if args.out.is_none() || left == 0 {
        return String::new();
    }
    format!("; the same flags with --first {next} --count {left} go on")
}

/// Why not all cases are there, how many are, and how to go on.
fn failed(unfinished: Unfinished, args: &Gen) -> anyhow::Error {
    let Unfinished { whole, next, cause } = unfinished;
    let Some(out) = &args.out else { return cause.into() };
    anyhow!("{cause}; {whole} cases in {} are whole{}", out.display(), go_on(args, next))
}

/// What `gen` ends with.
struct Results<'a> {
    made: &'a Generated,
    /// What the engine has that the cases are for.
    support: Option<&'a Support>,
    profile: &'static Profile,
    out: Option<&'a Path>,
    cpu_seconds: f64,
}

impl Results<'_> {
    fn json(&self) -> anyhow::Result<()> {
        let mut all = serde_json::to_value(self.made)?;
        all["cpu_seconds"] = json!(self.cpu_seconds);
        if let Some(Support { engine, version, .. }) = self.support {
            all["for"] = json!({ "engine": engine, "version": version, "accuracy": self.profile.name });
        }
        screen::json(&all)
    }

    fn text(&self) -> anyhow::Result<()> {
        let Self { made, support, out, cpu_seconds, .. } = self;
        let lacks = support.map_or_else(String::new, |support| {
            format!(" and {} because {} lacks their form", made.refused_draws, support.engine)
        });
        let place = out.map_or_else(String::new, |out| format!(" in {}", out.display()));
        screen::text(&format!(
            "{} cases of {} nodes in all{place}; {} draws came to nothing{lacks}; {:.2} s, {:.2} s of CPU",
            made.generated, made.written_nodes, made.rejected, made.wall_seconds, cpu_seconds
        ))?;
        // Models that break a rule are not measured.
        for (name, amounts) in made.footprints.each().into_iter().filter(|(_, amounts)| amounts.most > 0) {
            screen::text(&amounts.text(name))?;
        }
        Ok(())
    }
}
