//! What each engine takes for the same problems, and ONNX Runtime beside them: ratios of medians, measured side by side.
//!
//! ```sh
//! cargo bench -p onnxsmith-backends --features ort --bench engines
//! cargo bench -p onnxsmith-backends --features ort --bench engines -- --rounds 21 --threads 2 --only Conv
//! cargo bench -p onnxsmith-backends --features ort --bench engines -- --on cpu,cpu:plain,wgpu@llvmpipe --write
//! ```
//!
//! A model goes the way that it goes in a campaign: ONNX's bytes to a worker process, which reads them, runs them and
//! answers. The seconds are those that the worker tells, so that loading the model counts and the pipe does not. In
//! each round every engine runs the problem once with each number of threads, one after the other: whatever else a
//! machine does slows all of them, and what a second thread gains is told from the same minute. That is why it is no
//! bench of `criterion`, which knows no ratio. `--write` puts the tables into `docs/performance.md`.

mod problems;
mod table;
mod workers;

use std::process::ExitCode;

use problems::Problem;
use table::{Cell, Row};
use workers::Timed;

/// What the command line asks for.
struct Settings {
    /// What runs, beside the engine that is the measure.
    on: Vec<String>,
    /// How often everything runs.
    rounds: usize,
    /// The numbers of threads, each of which everything runs with.
    threads: Vec<usize>,
    /// Part of the names of what runs.
    only: String,
    /// Whether the tables go into the documentation.
    write: bool,
}

impl Settings {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let on = ["cpu", "cpu:plain"].map(str::to_owned).into();
        let mut settings = Self { on, rounds: 11, threads: vec![1, 2], only: String::new(), write: false };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            let number = |text: String| text.parse().map_err(|_| format!("`{text}` is no number"));
            match word.as_str() {
                "--on" => settings.on = value()?.split(',').map(str::to_owned).collect(),
                "--rounds" => settings.rounds = number(value()?)?,
                "--threads" => {
                    let words = value()?;
                    settings.threads =
                        words.split(',').map(|word| number(word.to_owned())).collect::<Result<_, _>>()?;
                }
                "--only" => settings.only = value()?,
                "--write" => settings.write = true,
                // Cargo says so to every bench.
                "--bench" => {}
                other => return Err(format!("`{other}` means nothing here")),
            }
        }
        Ok(settings)
    }
}

fn run(settings: &Settings) -> Result<(), String> {
    let mut engines = Vec::new();
    for &threads in &settings.threads {
        engines.extend(workers::onnx_runtime(threads));
        for name in &settings.on {
            // A device has no threads that we could choose.
            if threads == settings.threads[0] || !name.starts_with("wgpu") {
                engines.push(Timed::start(name, threads)?);
            }
        }
    }
    let version = engines.iter().find(|engine| table::is_measure(engine.name())).map(Timed::version);
    if version.is_none() {
        println!(
            "ONNX Runtime is not there (scripts/python-env, or the feature `ort`): seconds and no ratios."
        );
    }
    let mut rows = Vec::new();
    for problem in problems::all().iter().filter(|problem| problem.name().contains(&settings.only)) {
        let row = measured(problem, &mut engines, settings.rounds);
        println!("{row}");
        rows.push(row);
    }
    if settings.write {
        table::write(&rows, settings, version.as_deref())?;
    }
    Ok(())
}

/// One problem on all engines, in turns.
fn measured(problem: &Problem, engines: &mut [Timed], rounds: usize) -> Row {
    let case = problem.case();
    let mut times: Vec<Result<Vec<f64>, String>> = vec![Ok(Vec::new()); engines.len()];
    // The first run of each is no measurement: pages are new, pipelines are compiled.
    for round in 0..=rounds {
        for (engine, times) in engines.iter_mut().zip(&mut times) {
            let Ok(known) = times else { continue };
            match engine.seconds(&case) {
                Ok(_) if round == 0 => {}
                Ok(seconds) => known.push(seconds),
                Err(why) => *times = Err(why),
            }
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_unstable_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let cells = engines.iter().zip(times).map(|(engine, times)| Cell {
        engine: engine.name().to_owned(),
        threads: engine.threads(),
        seconds: times.map(median),
    });
    Row { problem: problem.name(), cells: cells.collect() }
}

fn main() -> ExitCode {
    match Settings::read(std::env::args().skip(1)).and_then(|settings| run(&settings)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
