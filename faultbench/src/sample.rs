//! Which cases are tried, and who tries them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result};
use graphgen::Settings;
use harness::{Maker, threads};

/// Which cases the faults and the controls are tried on.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The seed of the cases.
    pub seed: u64,
    /// How many cases each fault may take to be found.
    pub cases: u64,
    /// The number of operators in a graph.
    pub nodes: usize,
    /// The most elements of a tensor; `None` for the default.
    pub max_elements: Option<i64>,
    /// Whether the cases on which faults are found are reduced.
    pub reduce: bool,
}

impl Sample {
    /// The cases that a campaign on default settings makes, in every opset.
    pub(crate) fn maker(&self) -> Maker<'static> {
        let default = Settings::default();
        let settings = Settings {
            opset: *ir::graph::OPSETS.end(),
            nodes: self.nodes,
            max_elements: self.max_elements.unwrap_or(default.max_elements),
            ..default
        };
        Maker::new(self.seed, settings)
    }
}

/// Lets every thread work on the next of so many cases until there are none left; what each thread makes of its own.
pub(crate) fn on_all_threads<T: Send>(
    cases: u64,
    work: impl Fn(&mut dyn Iterator<Item = u64>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let threads = threads::all();
    let next = AtomicU64::new(0);
    let run = || {
        let indices = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        work(&mut indices.take_while(|&index| index < cases))
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let done = running.into_iter().map(|thread| thread.join().ok().context("a thread panicked")?);
        done.collect()
    })
}
