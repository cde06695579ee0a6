//! What may occur in a graph.
//!
//! Settings are swarm style: [`Settings::swarm`] switches features off at random, so that different cases
//! explore different corners (Groce et al., "Swarm testing", ISSTA 2012). A backend then narrows them with
//! [`Settings::narrow`] before anything is generated; narrowing can only turn things off.

use std::collections::BTreeSet;

use ir::{DType, DTypes, Stream};
use ops::Spec;
use ops::draw::Limits;
use rand::RngExt;

use crate::support::Refused;

/// Bounds on generated graphs.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The version of ONNX's default operator set.
    pub opset: u32,
    /// The number of operator nodes.
    pub nodes: usize,
    /// The operators in use, by ONNX name.
    pub operators: BTreeSet<&'static str>,
    /// The forms of operators that are not drawn.
    pub refused: Refused,
    /// The dtypes in use.
    pub dtypes: DTypes,
    /// The highest rank of a value.
    pub max_rank: usize,
    /// The largest dimension of a graph input or constant.
    pub max_dim: i64,
    /// The largest number of elements of any value.
    pub max_elements: i64,
    /// Whether dimensions of size 0 occur.
    pub empty_dims: bool,
    /// The most floating-point operations that one evaluation of the graph may take.
    pub max_flops: Option<u64>,
    /// The most bytes that all values of the graph together may take.
    pub max_memory: Option<u64>,
    /// The share of nodes that are inserted backward: as producers of a wanted value.
    pub backward: f64,
    /// The probability that a part of the graph becomes a function and a call.
    pub function: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            opset: 21,
            nodes: 10,
            operators: ops::registry().map(|s| s.name).collect(),
            refused: Refused::new(),
            dtypes: DTypes::ALL,
            max_rank: 5,
            max_dim: 8,
            max_elements: 2048,
            empty_dims: false,
            max_flops: None,
            max_memory: None,
            backward: 0.35,
            function: 0.1,
        }
    }
}

/// What a backend can take; what it lacks is turned off before generation.
#[derive(Clone, PartialEq, Debug)]
pub struct Capabilities {
    /// The dtypes it has.
    pub dtypes: DTypes,
    /// The highest opset it reads.
    pub max_opset: u32,
    /// The highest rank it has.
    pub max_rank: usize,
    /// Whether it takes dimensions of size 0.
    pub empty_dims: bool,
    /// Whether it takes model-local functions.
    pub functions: bool,
}

impl Settings {
    /// The same settings with some features switched off at random.
    #[must_use]
    pub fn swarm(mut self, stream: Stream) -> Self {
        let mut rng = stream.child("swarm").rng();
        // Half of the cases use everything, so that rare pairs of features still meet.
        if rng.random_bool(0.5) {
            let keep = rng.random_range(0.3..1.0);
            self.operators.retain(|_| rng.random_bool(keep));
            let dtypes = DType::ALL.into_iter().filter(|_| rng.random_bool(0.6));
            let chosen = dtypes.collect::<DTypes>().intersection(self.dtypes);
            self.dtypes = if self.dtypes.contains(DType::F32) { chosen.with(DType::F32) } else { chosen };
            self.max_rank = self.max_rank.min(rng.random_range(2..=6));
            self.max_dim = self.max_dim.min(rng.random_range(2..=16));
        }
        self.empty_dims &= rng.random_bool(0.05);
        self.backward *= rng.random_range(0.0..2.0);
        self
    }

    /// The same settings without what the backend cannot take.
    #[must_use]
    pub fn narrow(mut self, to: &Capabilities) -> Self {
        self.dtypes = self.dtypes.intersection(to.dtypes);
        self.opset = self.opset.min(to.max_opset);
        self.max_rank = self.max_rank.min(to.max_rank);
        self.empty_dims &= to.empty_dims;
        if !to.functions {
            self.function = 0.0;
        }
        self
    }

    /// The operators in use that exist in the opset and have an operand dtype in use.
    pub fn available(&self) -> Vec<&'static Spec> {
        ops::registry()
            .filter(|s| self.operators.contains(s.name) && s.since() <= self.opset)
            .filter(|s| (0..s.inputs.len()).all(|i| self.usable(s, i)))
            .filter(|s| !self.refused.bars(s, self.opset, self.dtypes))
            .collect()
    }

    fn usable(&self, spec: &Spec, operand: usize) -> bool {
        spec.inputs[operand].arity == ops::spec::Arity::Optional
            || !spec.input_types(operand, self.opset).intersection(self.dtypes).is_empty()
    }

    /// The bounds that operators draw within.
    pub fn limits(&self) -> Limits {
        Limits {
            opset: self.opset,
            dtypes: self.dtypes,
            max_rank: self.max_rank,
            min_dim: i64::from(!self.empty_dims),
            max_dim: self.max_dim,
        }
    }
}
