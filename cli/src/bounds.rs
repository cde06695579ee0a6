//! What may occur in generated models: the flags that `gen` and `fuzz` share, and the policy file beside them.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args as ClapArgs;
use forms::Composite;
use graphgen::policy::{self, Taste, WantedOperator};
use graphgen::{Composites, Settings, Span, amount};
use harness::memory;
use ir::{DType, DTypes};

use crate::value::{dtype, operator};

/// What may occur in generated graphs.
#[derive(ClapArgs, Clone, Debug)]
pub(crate) struct Bounds {
    /// The number of operator nodes of each model, or a range of them such as 5..30, drawn for each model; 10 by default.
    #[arg(long, value_name = "N", value_parser = amount::nodes)]
    pub nodes: Option<RangeInclusive<usize>>,
    /// The version of ONNX's default operator set, 13 to 28, or a range of them such as 13..17, drawn for each model;
    /// without it any, up to the newest that the engines load.
    #[arg(long, value_parser = policy::opsets)]
    pub opset: Option<RangeInclusive<u32>>,
    /// Use only these operators (ONNX names, separated by commas), each on all dtypes or on one: Conv:f32,TopK.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = asked)]
    pub ops: Vec<Named>,
    /// Do not use these operators.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = named)]
    pub exclude: Vec<Named>,
    /// Use operators on these dtypes only (separated by commas); other dtypes occur where an operator has no choice, such as
    /// ArgMax's i64 indices.
    #[arg(long, value_delimiter = ',', value_name = "DTYPES", value_parser = dtype)]
    pub dtypes: Vec<DType>,
    /// The highest rank of a tensor; without it 5, and 8 in a few models.
    #[arg(long, value_name = "N", value_parser = amount::rank)]
    pub max_rank: Option<usize>,
    /// The largest dimension of an input or constant, and of any where models are grown into a budget; without it 8, and in some
    /// models one of about 8, 16, … or 1,024.
    #[arg(long, value_name = "N", value_parser = policy::size)]
    pub max_dim: Option<i64>,
    /// The most elements of a tensor; 2048 by default, or what suits a budget that models are grown into.
    #[arg(long, value_name = "N", value_parser = policy::size)]
    pub max_elements: Option<i64>,
    /// Grow each model to an amount of operations from this range (1e6..1e9), drawn log-uniformly; docs/budgets.md says what
    /// counts.
    #[arg(long, value_name = "RANGE", value_parser = amount::span, conflicts_with = "max_flops")]
    pub flops: Option<Span>,
    /// The most floating-point operations one evaluation of a model may take.
    #[arg(long, value_name = "N", value_parser = amount::positive)]
    pub max_flops: Option<u64>,
    /// Grow each model until what must be in memory at one time comes to an amount from this range (8M..64M).
    #[arg(long, value_name = "RANGE", value_parser = amount::span, conflicts_with = "max_memory")]
    pub memory: Option<Span>,
    /// The most bytes of tensors that exist at one time while a model runs.
    #[arg(long, value_name = "BYTES", value_parser = amount::positive)]
    pub max_memory: Option<u64>,
    /// The most bytes that all tensors of a model take together.
    #[arg(long, value_name = "BYTES", value_parser = amount::positive)]
    pub max_total: Option<u64>,
    /// The share of models in which some nodes are a function; 0.1 by default.
    #[arg(long, value_name = "SHARE", value_parser = amount::share)]
    pub functions: Option<f64>,
    /// The share of models in which dimensions may be 0; 0.08 by default.
    #[arg(long, value_name = "SHARE", value_parser = amount::share)]
    pub zero_dims: Option<f64>,
    /// The probability that the next node relates to one that stands, as pairs do that optimisers rewrite; 0.08 by default.
    #[arg(long, value_name = "SHARE", value_parser = amount::share)]
    pub related_share: Option<f64>,
    /// The share of models that are written with forms of programs: size names, computed parameters, branches, loops; 0.5 by
    /// default.
    #[arg(long, value_name = "SHARE", value_parser = amount::share)]
    pub forms: Option<f64>,
    /// The share of models with an operator that is written out in others where it is read, such as Resize, LSTM or
    /// Attention; 0.12 by default, and 1 where `--ops` names one.
    #[arg(long, value_name = "SHARE", value_parser = amount::share)]
    pub composites: Option<f64>,
    /// A file (TOML) that says all of this, and weights, probabilities and patterns as well; see docs/budgets.md. Flags
    /// overrule it.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

/// The domains whose operators are drawn where none is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Domains {
    /// Those of ONNX: the models are for anybody.
    Onnx,
    /// Those of runtimes too: whoever takes the models was asked what it has.
    Any,
}

/// How many times its own memory a model takes here: with values, their copies as ONNX, and what a worker has of it.
const HELD: u64 = 8;

impl Bounds {
    /// What is asked for, by flags and by the policy file.
    pub(crate) fn taste(&self) -> anyhow::Result<Taste> {
        let file = match &self.policy {
            None => Taste::default(),
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("cannot read the policy {}", path.display()))?;
                Taste::parse(&text).with_context(|| format!("the policy {} is not valid", path.display()))?
            }
        };
        let up_to = |most: Option<u64>| most.map(Span::up_to);
        let shares = [
            ("functions", self.functions),
            ("zero-dims", self.zero_dims),
            ("related-share", self.related_share),
            ("forms", self.forms),
            ("composites", self.composites),
        ];
        let flags = Taste {
            nodes: self.nodes.clone(),
            opset: self.opset.clone(),
            ops: self.ops.iter().filter_map(Named::of_ours).collect(),
            exclude: self.exclude.iter().filter_map(Named::of_ours).map(|asked| asked.operator).collect(),
            dtypes: self.dtypes.clone(),
            max_rank: self.max_rank,
            max_dim: self.max_dim,
            max_elements: self.max_elements,
            flops: self.flops.or(up_to(self.max_flops)),
            memory: self.memory.or(up_to(self.max_memory)),
            total: up_to(self.max_total),
            shares: shares.into_iter().filter_map(|(name, share)| Some((name, share?))).collect(),
            ..Taste::default()
        };
        Ok(flags.or(file))
    }

    /// The settings that the arguments ask for: those of the taste. If `--ops` names only operators that are
    /// written out, none of ours is drawn. Fails if this machine has too little memory for such models.
    pub(crate) fn settings(&self, taste: &Taste, domains: Domains) -> anyhow::Result<Settings> {
        let base = Settings { composites: self.written_out(taste, domains), ..Settings::default() };
        let mut settings = taste.settings_over(base)?;
        if !self.ops.is_empty() && self.ops.iter().all(|named| named.of_ours().is_none()) {
            settings.operators.clear();
        }
        let (least, free) = (settings.budget.peak.least, memory::available());
        let total = settings.budget.total.most;
        if least > total {
            bail!(
                "models that have {least} bytes in memory at one time take as much in all at least, and may take {total}: --memory and \
                 --max-total contradict each other"
            );
        }
        if least.saturating_mul(HELD) > free {
            bail!(
                "models of {least} bytes are too large for this machine: of its memory {free} bytes are free, and a model takes some \
                 {HELD} times what it has in memory at one time while it is made and judged"
            );
        }
        Ok(settings)
    }

    /// The written-out operators to draw: those that are named, or all if no operator is named.
    fn written_out(&self, taste: &Taste, domains: Domains) -> Composites {
        let mut composites = match domains {
            Domains::Onnx => forms::composite::usual(),
            Domains::Any => forms::composite::every(),
        };
        if !taste.ops.is_empty() || !self.ops.is_empty() {
            composites.each.clear();
            composites.share = 1.0;
        }
        for named in &self.ops {
            let Named::WrittenOut(composite, on) = named else { continue };
            let dtypes = on.map_or(composite.dtypes, |on| DTypes::of(&[on]).intersection(composite.dtypes));
            let known = composites.each.entry(composite.name).or_insert(DTypes::NONE);
            *known = known.union(dtypes);
        }
        for named in &self.exclude {
            if let Named::WrittenOut(composite, _) = named {
                composites.each.remove(composite.name);
            }
        }
        composites
    }
}

/// An operator by its name, on one dtype or all.
#[derive(Clone, Copy)]
pub(crate) enum Named {
    /// One of ours.
    Ours(WantedOperator),
    /// One that is written out where it is read.
    WrittenOut(&'static Composite, Option<DType>),
}

impl Named {
    fn of_ours(&self) -> Option<WantedOperator> {
        match self {
            Self::Ours(asked) => Some(*asked),
            Self::WrittenOut(..) => None,
        }
    }
}

impl std::fmt::Debug for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ours(asked) => asked.fmt(f),
            Self::WrittenOut(composite, on) => write!(f, "{}:{on:?}", composite.name),
        }
    }
}

fn asked(text: &str) -> Result<Named, String> {
    let text = text.trim();
    let (name, on) = text.split_once(':').map_or((text, None), |(name, on)| (name, Some(on)));
    match forms::composite::find(name) {
        Some(composite) => Ok(Named::WrittenOut(composite, on.map(policy::dtype).transpose()?)),
        None => policy::wanted_operator(text).map(Named::Ours).map_err(|why| undrawn(name).unwrap_or(why)),
    }
}

/// An operator's name alone.
fn named(text: &str) -> Result<Named, String> {
    let text = text.trim();
    match forms::composite::find(text) {
        Some(composite) => Ok(Named::WrittenOut(composite, None)),
        None => match operator(text) {
            Ok(operator) => Ok(Named::Ours(WantedOperator { operator, dtype: None })),
            Err(why) => Err(undrawn(text).unwrap_or(why)),
        },
    }
}

/// Why an operator cannot be asked for, if it is one that models may have.
fn undrawn(name: &str) -> Option<String> {
    let is_read = ops::find(name).is_none() && onnx::import::knows("", name);
    is_read.then(|| format!("`{name}` is read in models, and cannot be asked for"))
}
