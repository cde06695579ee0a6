//! Rare faults beside operators that are always wrong: does a campaign tell each of them, under a name of its own?
//!
//! An engine with one fault that strikes in every other graph is what campaigns meet. Here Sign, MatMul with a vector and
//! Slice are wrong wherever they occur, and twenty faults of the catalogue are planted beside them, those that campaigns take
//! longest to find. A fault is told if some signature is its own: what the signature's case was reduced to shows a bug where
//! this fault is the only one, and where any other is the only one it does not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use campaign::fuzz::{Plan, fuzz};
use campaign::report::Report;
use campaign::store::{self, Identity};
use campaign::{Event, Shard, Store};
use graphgen::Settings;
use harness::invalid::schedule::{Choice, Levels};
use harness::{Maker, Target, threads};
use ir::Tensor;
use serde_json::{Value, json};
use triage::known::Known;

use crate::clusters::explain;
use crate::kernels::target;
use crate::node::{Node, Outputs};
use crate::{PlantedFault, catalogue};

/// What is wrong wherever it occurs.
static ALWAYS: [PlantedFault; 3] = [
    PlantedFault {
        name: "sign-is-wrong",
        operator: "Sign",
        does: "is always wrong",
        kernel: spoilt,
        source: None,
    },
    PlantedFault {
        name: "matmul-of-a-vector-is-wrong",
        operator: "MatMul",
        does: "is wrong where an operand is a vector",
        kernel: |n| {
            let is_vector = |operand| n.input(operand).is_some_and(|x| x.shape().len() == 1);
            if is_vector(0) || is_vector(1) { spoilt(n) } else { None }
        },
        source: None,
    },
    PlantedFault {
        name: "slice-is-wrong",
        operator: "Slice",
        does: "is always wrong",
        kernel: spoilt,
        source: None,
    },
];

/// The right outputs with every element of the first one wrong.
fn spoilt(n: &Node<'_>) -> Outputs {
    let mut right = n.right()?;
    let first = right.first_mut()?;
    let ty = first.ty();
    *first = if first.dtype().is_float() {
        let y = first.to_f64s();
        Tensor::from_f64_fn(&ty, |i| if y[i] == 0.0 || y[i].is_nan() { 1.0 } else { -y[i] })
    } else {
        let y = first.to_i128s();
        Tensor::from_i128_fn(&ty, |i| y[i] ^ 1)
    };
    Some(right)
}

/// The faults that a campaign takes longest to find (docs/faults.md, under "tight": after 596 to 1,906 cases), each in an operator of its own.
const RARE: [&str; 20] = [
    "average-pool-ignores-ceil-mode",
    "cast-to-8-bit-floats-by-f16",
    "rms-norm-squares-in-f16",
    "reduce-sum-of-f16-in-bf16",
    "is-nan-of-fnuz-looks-for-all-ones",
    "max-pool-numbers-row-by-row",
    "global-average-pool-of-one-workgroup",
    "pad-of-bool-is-true",
    "reduce-prod-over-nothing-is-zero",
    "min-of-signed-as-unsigned",
    "softmax-of-each-block",
    "equal-within-epsilon",
    "log-softmax-takes-the-logarithm-last",
    "reduce-min-of-unsigned-as-signed",
    "abs-of-i8-clears-the-sign-bit",
    "gather-takes-the-first-axis",
    "neg-of-i16-is-the-complement",
    "dequantize-takes-u8-for-i8",
    "identity-through-f32",
    "cast-like-ignores-round-mode",
];

/// A campaign over kernels with all these faults.
pub struct Shadow {
    seed: u64,
    cases: u64,
    jobs: usize,
    rare: Vec<&'static PlantedFault>,
}

/// What a campaign told of the faults.
pub struct ShadowResult {
    cases: u64,
    findings: u64,
    tries: u64,
    seconds: f64,
    signatures: BTreeSet<String>,
    /// The signatures of each rare fault.
    own: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Shadow {
    /// A campaign of so many cases, over the faults that take longest.
    pub fn new(seed: u64, cases: u64) -> Result<Self> {
        Self::of(&RARE, seed, cases)
    }

    /// A campaign over the faults of these names.
    fn of(names: &[&str], seed: u64, cases: u64) -> Result<Self> {
        let rare: Vec<_> = catalogue::all().filter(|fault| names.contains(&fault.name)).collect();
        ensure!(rare.len() == names.len(), "the catalogue has {} of the rare faults", rare.len());
        let operators: BTreeSet<&str> = rare.iter().copied().chain(&ALWAYS).map(|f| f.operator).collect();
        ensure!(operators.len() == rare.len() + ALWAYS.len(), "two of the faults are in one operator");
        let jobs = threads::all();
        Ok(Self { seed, cases, jobs, rare })
    }

    fn faults(&self) -> Vec<&'static PlantedFault> {
        self.rare.iter().copied().chain(&ALWAYS).collect()
    }

    fn plan(&self, shard: Shard) -> Result<Plan<'static>> {
        let settings = Settings { opset: *ir::graph::OPSETS.end(), nodes: 10, ..Settings::default() };
        Ok(Plan {
            maker: Maker::new(self.seed, settings),
            levels: Levels { choice: Choice::Valid, rules: Vec::new() },
            targets: vec![open(&self.faults())?],
            oracles: triage::oracle::Oracles::default(),
            jobs: self.jobs,
            cases: Some(self.cases),
            time: None,
            shard,
            saved_per_signature: 1,
            max_disk: None,
            known: Known::default(),
            until_found: false,
        })
    }

    /// Runs a part of the campaign, or goes on with it, until so many cases have been stored in this session.
    fn session(&self, folder: &Path, shard: Shard, most: u64) -> Result<Report> {
        let plan = self.plan(shard)?;
        let mut store = if Store::exists(folder) {
            Store::resume(folder)?
        } else {
            Store::create(folder, &Identity::of(&plan))?
        };
        let (stop, mut ran) = (AtomicBool::new(false), 0);
        let mut count = |event: &Event| {
            ran += u64::from(matches!(event, Event::Ran { .. }));
            stop.store(ran >= most, Ordering::Relaxed);
        };
        let report = fuzz(&plan, &mut store, &stop, &mut count)?;
        ensure!(report.trouble.is_empty(), "trouble: {}", report.trouble.join("; "));
        Ok(report)
    }

    /// Runs the whole campaign.
    pub fn run(&self) -> Result<ShadowResult> {
        let out = tempfile::tempdir()?;
        self.told(&self.session(out.path(), Shard::WHOLE, u64::MAX)?)
    }

    /// Runs the campaign in so many parts, and merges them.
    pub fn run_in_parts(&self, count: u64) -> Result<ShadowResult> {
        let out = tempfile::tempdir()?;
        let parts: Vec<PathBuf> = (0..count).map(|index| out.path().join(index.to_string())).collect();
        for (index, part) in (0..count).zip(&parts) {
            let shard = Shard::new(index, count).context("no such part")?;
            self.session(part, shard, u64::MAX)?;
        }
        self.told(&store::merge(&parts, &out.path().join("merged"))?.report()?)
    }

    /// Runs the campaign in some sessions, each of which is stopped in the midst of cases.
    pub fn run_in_sessions(&self) -> Result<ShadowResult> {
        let out = tempfile::tempdir()?;
        loop {
            let report = self.session(out.path(), Shard::WHOLE, self.cases / SESSIONS + 1)?;
            if report.cases >= self.cases {
                return self.told(&report);
            }
        }
    }

    /// Which signatures are whose.
    fn told(&self, report: &Report) -> Result<ShadowResult> {
        let alone: Vec<(&'static PlantedFault, Target)> =
            self.faults().into_iter().map(|fault| Ok((fault, open(&[fault])?))).collect::<Result<_>>()?;
        let mut own: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
        for cluster in &report.clusters {
            let Some(case) = cluster.reduced.as_ref().or(cluster.smallest.as_ref()) else { continue };
            let explained = explain(case, &alone).with_context(|| case.display().to_string())?;
            if let [fault] = explained.faults[..] {
                own.entry(fault.name).or_default().insert(cluster.signature.clone());
            }
        }
        own.retain(|name, _| self.rare.iter().any(|fault| fault.name == *name));
        Ok(ShadowResult {
            cases: report.cases,
            findings: report.findings,
            tries: report.naming.tries,
            seconds: report.wall_seconds,
            signatures: report.clusters.iter().map(|cluster| cluster.signature.clone()).collect(),
            own,
        })
    }

    /// The rare faults that nothing tells.
    pub fn missed(&self, told: &ShadowResult) -> Vec<&'static str> {
        self.rare.iter().map(|fault| fault.name).filter(|name| !told.own.contains_key(name)).collect()
    }
}

/// About how many sessions there are.
const SESSIONS: u64 = 4;

fn open(faults: &[&'static PlantedFault]) -> Result<Target> {
    target(faults).context("the kernels have no optimisation level")
}

impl ShadowResult {
    /// The signatures of a campaign.
    pub fn signatures(&self) -> &BTreeSet<String> {
        &self.signatures
    }

    /// How many rare faults have a signature of their own.
    pub fn own(&self) -> usize {
        self.own.len()
    }
}

/// One JSON object.
pub fn json(shadow: &Shadow, told: &ShadowResult) -> Value {
    json!({
        "seed": shadow.seed,
        "cases": told.cases,
        "findings": told.findings,
        "signatures": told.signatures,
        "tries": told.tries,
        "seconds": told.seconds,
        "rare": shadow.rare.len(),
        "told": told.own.len(),
        "missed": shadow.missed(told),
        "own": told.own,
    })
}

/// A few lines: the totals, and the signatures of each fault.
pub fn text(shadow: &Shadow, told: &ShadowResult) -> String {
    let mut text = format!(
        "{} of {} rare faults have a signature of their own, in {} cases with {} findings of {} signatures; {} tries to \
         name them\n",
        told.own.len(),
        shadow.rare.len(),
        told.cases,
        told.findings,
        told.signatures.len(),
        told.tries,
    );
    for (fault, signatures) in &told.own {
        text += &format!("{fault}: {}\n", signatures.iter().cloned().collect::<Vec<_>>().join("; "));
    }
    for fault in shadow.missed(told) {
        text += &format!("{fault}: not told\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some that a short campaign finds.
    const QUICK: [&str; 12] = [
        "cast-truncates-to-bf16",
        "pow-of-integers-through-f32",
        "mul-of-integers-through-f32",
        "mod-has-the-sign-of-the-dividend",
        "tanh-cancels",
        "max-swallows-nan",
        "gemm-does-not-transpose-b",
        "clip-starts-at-zero",
        "arg-max-takes-the-last-of-equals",
        "reduce-mean-of-integers-floors",
        "bit-shift-keeps-the-sign",
        "gelu-by-tanh",
    ];

    #[test]
    fn the_faults_that_take_longest_are_in_the_catalogue() {
        let shadow = Shadow::new(0, 1).expect("one for each name, each in an operator of its own");
        assert_eq!(shadow.rare.len(), RARE.len());
    }

    #[test]
    fn rare_faults_are_told_beside_what_is_always_wrong_and_the_same_in_parts_and_sessions() {
        let shadow = Shadow::of(&QUICK, 0, 150).expect("the faults");
        let whole = shadow.run().expect("a campaign");
        assert!(whole.own() >= 4, "{}", text(&shadow, &whole));
        let parts = shadow.run_in_parts(4).expect("a campaign in parts");
        assert_eq!(parts.signatures(), whole.signatures());
        let sessions = shadow.run_in_sessions().expect("a campaign in sessions");
        assert_eq!(sessions.signatures(), whole.signatures());
    }
}
