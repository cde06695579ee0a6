//! `cargo xtask`: what keeps the repository itself in order. Every task writes checked-in files from their source,
//! and with `--check` only compares, so that CI notices a stale file.

mod checked_in;
mod codegen;
mod docs;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::checked_in::Mode;

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Generate the Rust types of ONNX's messages from onnx/proto/onnx.proto
    Codegen {
        /// Change nothing; fail if the checked-in file is stale
        #[arg(long)]
        check: bool,
    },
    /// Generate docs/operators.md from the code
    Docs {
        /// Change nothing; fail if the checked-in file is stale
        #[arg(long)]
        check: bool,
    },
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::Codegen { check } => codegen::run(Mode::of(check)),
        Task::Docs { check } => docs::run(Mode::of(check)),
    }
}
