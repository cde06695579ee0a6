//! `onnxsmith run`

use anyhow::{Context, bail};
use backends::worker::Limits;
use campaign::junit;
use campaign::replay::{Replay, Replayed, replay};
use oracles::Tolerance;

use super::{jobs, targets, writable};
use crate::Exit;
use crate::args::{Common, Run};
use crate::screen;

/// Runs saved cases and compares.
pub(crate) fn run(common: Common, args: &Run) -> anyhow::Result<Exit> {
    let cases = onnx::case::find(&args.paths)?;
    if cases.is_empty() {
        bail!("there is no case folder and no .onnx file in {}", names(args));
    }
    let limits = Limits { timeout: args.timeout, ..Limits::default() };
    writable(args.out.as_deref(), args.junit.as_deref())?;
    let targets = targets(&args.on, &limits)?;
    let how = Replay {
        targets: &targets,
        jobs: jobs(args.jobs),
        out: args.out.as_deref(),
        tolerance: tolerance(args),
        seed: common.seed,
    };
    let bar = screen::progress(common, Some(cases.len() as u64), "running");
    let replayed = replay(&cases, &how, &|| bar.inc(1));
    bar.finish_and_clear();
    if let Some(file) = &args.junit {
        let text = junit::document("onnxsmith run", &replayed.results);
        std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if common.json {
        screen::json(&replayed)?;
    } else {
        screen::text(&summary(&replayed))?;
    }
    let failed = replayed.backends.values().any(campaign::replay::Counts::failed);
    Ok(if failed { Exit::Findings } else { Exit::Clean })
}

fn names(args: &Run) -> String {
    args.paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The tolerance on the command line, completed by ONNX's own.
fn tolerance(args: &Run) -> Option<Tolerance> {
    let given = args.rtol.is_some() || args.atol.is_some();
    given.then(|| Tolerance {
        relative: args.rtol.unwrap_or(Tolerance::ONNX.relative),
        absolute: args.atol.unwrap_or(Tolerance::ONNX.absolute),
    })
}

fn summary(replayed: &Replayed) -> String {
    let mut out = format!("{} cases\n", replayed.cases);
    for (backend, c) in &replayed.backends {
        out += &format!(
            "{backend}: {} pass, {} mismatch, {} accepted, {} unsupported, {} rejected, {} crash, {} timeout, {} slow\n",
            c.pass, c.mismatch, c.accepted, c.unsupported, c.rejected, c.crash, c.timeout, c.slow
        );
    }
    for case in &replayed.not_passing {
        let outcome = format!("{:?}", case.outcome).to_lowercase();
        out += &format!("{} on {}: {outcome}: {}\n", case.case.display(), case.backend, case.why);
    }
    out
}
