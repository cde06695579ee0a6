//! `onnxsmith sweep`

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::bail;
use campaign::Exit;
use campaign::exit::SearchEnd;
use harness::Target;
use harness::target::is_runner;
use indicatif::ProgressBar;
use serde_json::json;
use sweep::against::{self, Compared};
use sweep::cases;
use sweep::rows::{Between, Line, PartCount};
use sweep::store::{self, Earlier};
use sweep::{Identity, Part, PartForm, PartResult, Rows, Scope, Store, parts, table};
use worker::Limits;

use super::{jobs, targets, writable_folder};
use crate::args::{Common, Sweep};
use crate::interrupts::Interrupts;
use crate::progress::Progress;
use crate::{destination, screen};

/// Sweeps operators over backends.
pub(crate) fn run(common: Common, args: &Sweep) -> anyhow::Result<Exit> {
    let scope = scope(common, args);
    let before = args.against.as_deref().map(earlier).transpose()?;
    let limits = Limits { timeout: args.timeout, ..Limits::default() };
    let interrupts = Interrupts::take(match args.out {
        Some(_) => "the parts under way are finished and stored",
        None => "the parts under way are finished and told",
    })?;
    args.out.as_deref().map_or(Ok(()), store::vacant)?;
    let targets = targets(&args.on, &limits)?;
    writable_folder("--out", args.out.as_deref())?;
    for note in of_one_adapter(&targets) {
        screen::tell(common, &note);
    }
    if let Some(newest) = targets.iter().filter_map(|target| target.support.opset).min()
        && newest < scope.opset
        && args.opset.is_some()
    {
        bail!("--opset asks for {}, and one of the backends loads none above {newest}", scope.opset);
    }
    let scope = Scope { opset: newest(&targets).min(scope.opset), ..scope };
    let identity = Identity::of(&scope, &targets);
    let parts = parts(&scope);
    if parts.is_empty() {
        bail!("{}", no_part(&scope));
    }
    let started = Instant::now();
    let all = swept(common, args, &identity, &parts, &targets, interrupts.flag())?;
    let rows = Rows::of(&identity, &all);
    let compared =
        before.map(|(earlier, before)| against::compare((&earlier.scope, &before), (&identity.scope, &rows)));
    let found = SweepResult {
        identity: &identity,
        rows: &rows,
        compared: compared.as_ref(),
        parts: PartCount { done: all.len(), of: parts.len() },
        seconds: started.elapsed().as_secs_f64(),
    };
    if let Some(folder) = &args.out {
        found.write(folder).map_err(resumable)?;
        let bar = Progress::new(common, Some(rows.rows.len() as u64), "saving the worst inputs of rows");
        let saved = cases::save(folder, &identity.scope, &parts, &targets, &rows, || bar.inc(1));
        drop(bar);
        let saved = saved.map_err(|e| resumable(e.into()))?;
        screen::tell(common, &format!("{saved} cases in {}", folder.join(cases::CASES).display()));
    }
    found.show(common, args)
}

/// An error of writing what follows from the parts, with the way on where the disk is full.
fn resumable(error: anyhow::Error) -> anyhow::Error {
    let is_full =
        |cause: &io::Error| matches!(cause.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    if error.chain().filter_map(|cause| cause.downcast_ref()).any(is_full) {
        error.context("the parts that ran are stored, so free some space and go on with --resume")
    } else {
        error
    }
}

/// What is asked for.
fn scope(common: Common, args: &Sweep) -> Scope {
    let named = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
    let all_operators = || ops::registry().map(|spec| spec.name).collect();
    let operators: BTreeSet<&str> =
        if args.ops.is_empty() { all_operators() } else { args.ops.iter().copied().collect() };
    let operators = operators.into_iter().filter(|name| !args.exclude.contains(name)).collect();
    let dtypes: BTreeSet<&str> = if args.dtypes.is_empty() {
        graphgen::DRAWN.iter().map(ir::DType::name).collect()
    } else {
        args.dtypes.iter().map(|dtype| dtype.name()).collect()
    };
    let forms =
        if args.forms.is_empty() { PartForm::ALL.into() } else { args.forms.iter().copied().collect() };
    Scope {
        seed: common.seed,
        opset: args.opset.unwrap_or(*ir::graph::OPSETS.end()),
        operators: named(operators),
        dtypes: named(dtypes),
        forms,
        samples: args.samples,
        cases: args.cases,
    }
}

/// Why there is nothing to sweep.
fn no_part(scope: &Scope) -> String {
    let Scope { operators, opset, .. } = scope;
    if operators.is_empty() {
        return "no operator is left: --exclude names all that are asked for".to_owned();
    }
    let specs = || operators.iter().filter_map(|name| ops::find(name));
    if specs().all(|spec| spec.since() > *opset) {
        let each = specs().map(|spec| format!("{} comes with opset {}", spec.name, spec.since()));
        let each: Vec<String> = each.collect();
        return format!("none of the operators is in opset {opset}: {}", each.join(", "));
    }
    format!(
        "none of the operators has in opset {opset} one of the dtypes in one of the forms that are asked for"
    )
}

/// What there is to say of backends that may be one adapter by several names. Two GPUs of a kind have the same name, and are two.
fn of_one_adapter(targets: &[Target]) -> Vec<String> {
    let mut same: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    for target in targets.iter().filter(|target| !is_runner(&target.engine)) {
        let engine = target.engine.split_once('@').map_or(target.engine.as_str(), |(engine, _)| engine);
        let key = (engine, target.level.as_str(), target.description().version.as_str());
        same.entry(key).or_default().push(store::name(target));
    }
    let said = |((_, _, version), names): ((&str, &str, &str), Vec<String>)| {
        let names = names.join(", ");
        format!(
            "{names} are all {version}: unless there are several such adapters, one is compared with itself"
        )
    };
    same.into_iter().filter(|(_, names)| names.len() > 1).map(said).collect()
}

/// The newest opset that all backends load, as far as they say so.
fn newest(targets: &[Target]) -> u32 {
    let stated = targets.iter().filter_map(|target| target.support.opset);
    stated.min().unwrap_or(*ir::graph::OPSETS.end())
}

/// An earlier sweep.
fn earlier(folder: &Path) -> anyhow::Result<(Identity, Rows)> {
    let (identity, all) = store::load(folder)?;
    let rows = Rows::of(&identity, &all);
    Ok((identity, rows))
}

/// Runs what has not run yet.
fn swept(
    common: Common,
    args: &Sweep,
    identity: &Identity,
    parts: &[Part],
    targets: &[Target],
    stop: &AtomicBool,
) -> anyhow::Result<Vec<PartResult>> {
    let earlier = if args.resume { Earlier::Continued } else { Earlier::Refused };
    let opened =
        args.out.as_deref().map(|folder| Store::open(folder, identity, parts, earlier)).transpose()?;
    let (mut store, mut all) = opened.map_or((None, Vec::new()), |(store, ran)| (Some(store), ran));
    if !all.is_empty() {
        screen::tell(common, &format!("going on after {} of {} parts", all.len(), parts.len()));
    }
    let bar = Progress::new(common, Some(parts.len() as u64), "sweeping");
    bar.inc(all.len() as u64);
    let left = &parts[all.len()..];
    sweep::run(&identity.scope, left, targets, jobs(args.jobs), stop, |ran| {
        show(&bar, &ran);
        if let Some(store) = &mut store {
            store.add(&ran)?;
        }
        all.push(ran);
        Ok(())
    })?;
    bar.finish_and_clear();
    if all.len() < parts.len() {
        screen::say(&format!("stopped after {} of {} parts", all.len(), parts.len()));
    }
    Ok(all)
}

fn show(bar: &ProgressBar, ran: &PartResult) {
    bar.inc(1);
    bar.set_message(format!("{} {} {}", ran.part.op, ran.part.dtype, ran.part.form.name()));
}

/// What a sweep ends with.
struct SweepResult<'a> {
    identity: &'a Identity,
    rows: &'a Rows,
    compared: Option<&'a Compared>,
    /// How many parts have run before a signal came, or all.
    parts: PartCount,
    seconds: f64,
}

impl SweepResult<'_> {
    fn json(&self) -> serde_json::Value {
        let rows: Vec<Line> = self.rows.rows.iter().map(Line::from).collect();
        let pairs: Vec<Between> = self.rows.pairs.iter().map(Between::from).collect();
        let worse = self.compared.map(|compared| &compared.worse);
        let not_comparable = self.compared.map(|compared| &compared.not_comparable);
        let compared = self.compared.map(|compared| json!({ "rows": compared.compared, "of": compared.of }));
        json!({
            "identity": self.identity,
            "rows": rows,
            "pairs": pairs,
            "compared": compared,
            "worse": worse,
            "not_comparable": not_comparable,
            "parts": self.parts,
            "seconds": self.seconds,
        })
    }

    /// Writes what others read: the rows as JSON and CSV, and the page.
    fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let files = [
            ("sweep.json", serde_json::to_string_pretty(&self.json())?),
            ("sweep.csv", table::csv(self.rows)),
            (present::sweep::PAGE, present::sweep::html(self.identity, self.rows, self.parts)),
        ];
        for (name, text) in files {
            destination::write(&folder.join(name), &text)?;
        }
        Ok(())
    }

    fn show(&self, common: Common, args: &Sweep) -> anyhow::Result<Exit> {
        if common.json {
            screen::json(&self.json())?;
        } else if args.csv {
            screen::text(&table::csv(self.rows))?;
            if let Some(compared) = self.compared {
                screen::say(against::text(compared).trim_end());
            }
        } else {
            let worse = self.compared.map(against::text).unwrap_or_default();
            screen::text(&format!("{}{worse}", table::text(self.rows)))?;
        }
        screen::tell(common, &format!("{} rows in {:.1} s", self.rows.rows.len(), self.seconds));
        self.exit()
    }

    /// What is wrong counts before what could not be done.
    fn exit(&self) -> anyhow::Result<Exit> {
        let was_interrupted = !self.parts.is_whole();
        let exit = Exit::of(SearchEnd { has_found: !self.rows.are_clean(), was_interrupted });
        if exit == Exit::Clean && self.rows.are_without_answers() {
            bail!("nothing was swept: no backend gave an answer to what is asked for");
        }
        if exit == Exit::Clean && self.compared.is_some_and(Compared::is_empty) {
            bail!("nothing was compared with the earlier sweep");
        }
        Ok(exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_full_disk_the_way_on_is_told() {
        let why = |kind: ErrorKind| {
            let source = io::Error::from(kind);
            resumable(
                cases::Error::Write(onnx::Error::Io { action: "write", path: "x".into(), source }).into(),
            )
        };
        let told =
            |kind: ErrorKind| format!("{:#}", why(kind)).contains("go on with --resume: cannot write x");
        assert!(
            told(ErrorKind::StorageFull) && told(ErrorKind::QuotaExceeded),
            "{:#}",
            why(ErrorKind::StorageFull)
        );
        assert!(!told(ErrorKind::PermissionDenied));
    }
}
