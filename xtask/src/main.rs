//! `cargo xtask`: what keeps the repository itself in order. Tasks that write checked-in files from their source only
//! compare them with `--check`, so that CI notices a stale file; the others measure, the fault bench among them.

#[cfg(target_os = "linux")]
mod chaos;
mod checked_in;
mod codegen;
mod commands;
mod compilers;
mod corpus;
mod docs;
mod engines;
mod faults;
mod modules;
mod node_suite;
mod pairs;
mod program;
mod schema;
mod soundness;
mod survive;
mod values;
mod zoo;

use std::path::PathBuf;
use std::process::ExitCode;

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
    /// Generate the Rust types of ONNX's messages from the schemas in onnx/proto
    Codegen {
        /// Change nothing; fail if the checked-in file is stale
        #[arg(long)]
        check: bool,
    },
    /// Write ops/src/schema/schemas.txt from the operator schemas of the onnx package in .venv (scripts/python-env makes it)
    Schema {
        /// Change nothing; fail if the checked-in file is stale. Without .venv there is nothing to compare with: that passes,
        /// and says so
        #[arg(long)]
        check: bool,
    },
    /// Generate docs/operators.md, docs/violations.md and docs/metamorphic.md from the code, and check that
    /// docs/node-suite.md and ARCHITECTURE.md are not behind it
    Docs {
        /// Change nothing; fail if the checked-in file is stale
        #[arg(long)]
        check: bool,
        /// The program to run; without it, it is built here
        #[arg(long, value_name = "FILE")]
        program: Option<PathBuf>,
    },
    /// Generate known.toml and the pages of corpus/ from the findings there, and check that each is complete
    Corpus(corpus::Arguments),
    /// Run ONNX's node tests on the engines and write the table in docs/engines.md
    Engines {
        /// The folder that scripts/export_node_tests.py has written
        tests: PathBuf,
        /// The engines
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "interp,cpu,rten,tract,ort,oxionnx,onnxruntime,onnxruntime_webgpu,onnxruntime_web,openvino,tvm,candle,onnx_reference"
        )]
        on: Vec<String>,
        /// The program to run; without it, it is built here with the features of all engines
        #[arg(long, value_name = "FILE")]
        program: Option<PathBuf>,
    },
    /// Run ONNX's node tests on the reference and on our CPU kernels and write docs/node-suite.md
    NodeSuite {
        /// The folder that scripts/export_node_tests.py has written
        tests: PathBuf,
        /// The program to run; without it, it is built here
        #[arg(long, value_name = "FILE")]
        program: Option<PathBuf>,
    },
    /// Run the commands in README.md and docs/, and read those that cannot be run
    Commands(commands::Arguments),
    /// What `onnxsmith` and `cargo` are for the task `commands`
    #[command(hide = true)]
    StandIn(commands::stand_in::Arguments),
    /// Measure how often value search finds values on which everything is defined, and what it costs
    Values {
        /// What to measure: --nodes N, --count N, --opset N, --seed N, --json, --show
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run a campaign on an engine that does everything wrong, and check that it is accounted for
    #[cfg(target_os = "linux")]
    Chaos(chaos::Arguments),
    /// Kill campaigns at random moments, continue them, and compare with undisturbed ones
    Survive(survive::Arguments),
    /// Ask for every operator on every dtype alone, and list what our own engines say
    Pairs(pairs::Arguments),
    /// Hold the bounds against implementations that do all the harm their profiles permit
    Soundness(soundness::Arguments),
    /// Run our shaders through naga and through Tint, and count what differs
    Compilers(compilers::Arguments),
    /// Run the models that scripts/zoo has made and write docs/zoo.md
    Zoo(zoo::Arguments),
    /// Plant faults in correct kernels, and count which of them a campaign finds
    Faults(faults::Arguments),
}

fn main() -> Result<ExitCode> {
    let done = match Cli::parse().task {
        Task::Codegen { check } => codegen::run(Mode::of(check)),
        Task::Schema { check } => schema::run(Mode::of(check)),
        Task::Docs { check, program } => docs::run(Mode::of(check), program.as_deref()),
        Task::Corpus(arguments) => corpus::run(&arguments),
        Task::Engines { tests, on, program } => engines::run(&tests, &on, program.as_deref()),
        Task::Values { arguments } => values::run(&arguments),
        #[cfg(target_os = "linux")]
        Task::Chaos(arguments) => chaos::run(&arguments),
        Task::Survive(arguments) => survive::run(&arguments),
        Task::Pairs(arguments) => pairs::run(&arguments),
        Task::Soundness(arguments) => soundness::run(&arguments),
        Task::Compilers(arguments) => compilers::run(&arguments),
        Task::Zoo(arguments) => zoo::run(&arguments),
        Task::Faults(arguments) => faults::run(&arguments),
        Task::NodeSuite { tests, program } => node_suite::run(&tests, program.as_deref()),
        Task::Commands(arguments) => commands::run(&arguments),
        Task::StandIn(arguments) => return commands::stand_in::run(&arguments),
    };
    done.map(|()| ExitCode::SUCCESS)
}
