//! The commands, one file each.

mod backends;
mod fuzz;
mod generate;
mod ops;
mod run;
mod show;
mod worker;

use std::num::NonZero;

use anyhow::bail;
use graphgen::Settings;

use crate::Exit;
use crate::args::{Args, Bounds, Command};

/// Runs the command that was asked for.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    let common = args.common;
    match args.command {
        Command::Gen(gen_) => generate::run(common, &gen_),
        Command::Run(run_) => run::run(common, &run_),
        Command::Fuzz(fuzz_) => fuzz::run(common, &fuzz_),
        Command::Ops(ops_) => ops::run(common, ops_),
        Command::Show(show_) => show::run(common, &show_),
        Command::Backends => backends::run(common),
        Command::Worker { engine } => worker::run(&engine),
    }
}

/// How many threads to use.
fn jobs(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get)).max(1)
}

/// The generator's settings for the bounds on the command line.
fn settings(bounds: &Bounds) -> anyhow::Result<Settings> {
    let mut settings = Settings { nodes: bounds.nodes as usize, ..Settings::default() };
    if let Some(opset) = bounds.opset {
        settings.opset = opset;
    }
    for name in bounds.ops.iter().chain(&bounds.exclude) {
        if !settings.operators.contains(name.as_str()) {
            bail!(
                "there is no operator `{name}`; `onnxsmith ops` lists them (names are ONNX's, as in LayerNormalization)"
            );
        }
    }
    if !bounds.ops.is_empty() {
        settings.operators.retain(|o| bounds.ops.iter().any(|name| name == o));
    }
    settings.operators.retain(|o| !bounds.exclude.iter().any(|name| name == o));
    if !bounds.dtypes.is_empty() {
        settings.dtypes = bounds.dtypes.iter().copied().collect();
    }
    settings.max_flops = bounds.max_flops;
    settings.max_memory = bounds.max_memory;
    if settings.available().is_empty() {
        bail!(
            "no operator is left: --ops, --exclude, --dtypes and --opset exclude each other (opset {})",
            settings.opset
        );
    }
    Ok(settings)
}
