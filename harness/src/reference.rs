//! The reference interpreter as an engine, so that `--on interp` works like any other backend.

use std::collections::BTreeMap;

use backends::engines::models::Runner;
use interp::evaluate::BYTES_PER_ELEMENT;
use interp::{Profile, Taps};
use ir::dataflow::most_in_use;
use ir::inline::inline;
use ir::{DType, Datum, NodeKind, Tensor};
use ops::operator::elements;
use ops::{Effort, Graph, Model, Operator};
use values::Budget;
use worker::{Description, EngineError};

use crate::memory;

/// The name of the reference interpreter as a backend.
pub const REFERENCE: &str = "interp";

/// Evaluates models with the reference semantics, values alone.
#[derive(Clone, Copy, Default, Debug)]
pub struct Reference;

impl Runner for Reference {
    fn describe(&self) -> Description {
        Description {
            engine: REFERENCE.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dtypes: DType::ALL.map(|d| (d.to_string(), d.to_string())).into(),
            opset: Some(i64::from(*ir::graph::OPSETS.end())),
            levels: vec!["reference".to_owned()],
            profile: Some(Profile::TIGHT.name.to_owned()),
            repeats: true,
            ..Description::default()
        }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        interp::evaluate_plain(model, inputs).map_err(|e| EngineError::Run(e.to_string()))
    }
}

/// The most scalar operations of a model that the reference evaluates in a campaign: with bounds, some minutes.
pub const MAX_FLOPS: u64 = 1 << 31;

/// The most elements that the values of such a model have together: with bounds, a gigabyte or two.
pub const MAX_ELEMENTS: u64 = 1 << 25;

/// The most scalar operations of a model that somebody waits for: minutes for matrix products, an hour for the slowest operators.
const MOST_FLOPS: u64 = 1 << 38;

/// How many operations a model may take beyond [`MAX_FLOPS`], and elements beyond [`MAX_ELEMENTS`], for each element of
/// its constants. Trained models have weights in proportion to what they compute: ResNet-50 at 224×224 takes some 330
/// operations for each. A model of a few bytes that asks for as much is a mistake, or malice.
const FLOPS_BY_CONSTANT: u64 = 1 << 12;
const ELEMENTS_BY_CONSTANT: u64 = 4;

/// The cost of evaluating a valid model, if a campaign may do so many times. The reference runs in this process,
/// without limits on time and memory, and a model of a few bytes can ask for any amount of both.
pub fn affordable(model: &Model) -> Result<Spent, String> {
    let all = Spent::on(model);
    within("scalar operations", all.operations, MAX_FLOPS)?;
    within("tensor elements", all.elements.saturating_add(all.scratch), MAX_ELEMENTS)?;
    Ok(all)
}

/// Whether a user's model may take more than is in proportion to its weights.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Large {
    /// A model of a few bytes that asks for much is refused.
    #[default]
    Refused,
    /// The user knows that the model is large. Its weights may be computed, by ConstantOfShape for example.
    Allowed,
}

/// Whether the reference may evaluate a valid model once for a user who brings it.
pub fn bearable(model: &Model, taps: Taps, large: Large) -> Result<(), String> {
    let bear = |large| Means::of(model, large).bear(model, taps).map(|_| ());
    bear(large).map_err(|why| {
        let helps = large == Large::Refused && bear(Large::Allowed).is_ok();
        if helps { format!("{why}; `run`, `blame` and `reduce` take it with --large") } else { why }
    })
}

/// What the reference may take for a user's model, and for parts of it, in half the memory of the machine: an amount in
/// proportion to its weights, unless it may be [`Large`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Means {
    /// Scalar operations.
    flops: u64,
    /// Elements that are in use at one time.
    elements: u64,
}

impl Means {
    /// For a valid model.
    pub fn of(model: &Model, large: Large) -> Self {
        let brought = match large {
            Large::Refused => constants(model),
            Large::Allowed => u64::MAX,
        };
        Self::with(brought, memory::available() / 2)
    }

    /// The limits for a model with `brought` elements in its constants, on a machine with `bytes` for it.
    fn with(brought: u64, bytes: u64) -> Self {
        let elements = MAX_ELEMENTS.saturating_add(ELEMENTS_BY_CONSTANT.saturating_mul(brought));
        Self {
            flops: MAX_FLOPS.saturating_add(FLOPS_BY_CONSTANT.saturating_mul(brought)).min(MOST_FLOPS),
            elements: elements.min(bytes / BYTES_PER_ELEMENT),
        }
    }

    /// The elements that may be in use at one time.
    pub fn elements(self) -> u64 {
        self.elements
    }

    /// The number of elements that a model has in use at one time, if these limits are enough for it.
    pub fn bear(self, model: &Model, taps: Taps) -> Result<u64, String> {
        let spent = Spent::on(model);
        within("scalar operations", spent.operations, self.flops)?;
        let most = match taps {
            Taps::All => spent.elements,
            Taps::Outputs => {
                let graph = inline(model).ok_or("written out, with its functions, it has too many nodes")?;
                most_in_use(&graph, &elements)
            }
        };
        let most = most.saturating_add(spent.scratch);
        within("tensor elements at one time", most, self.elements)?;
        Ok(most)
    }
}

/// How many elements the constants of a model have.
fn constants(model: &Model) -> u64 {
    let graphs = model.functions.iter().map(|f| &f.body).chain([&model.graph]);
    let nodes = graphs.flat_map(|graph| &graph.nodes);
    let constants = nodes.filter(|node| matches!(node.kind, NodeKind::Constant(_)));
    constants.flat_map(|node| &node.outputs).map(elements).fold(0, u64::saturating_add)
}

fn within(what: &str, takes: u64, most: u64) -> Result<(), String> {
    if takes <= most {
        return Ok(());
    }
    Err(format!("the model is too large for the reference: {takes} {what} of at most {most}"))
}

/// The cost of evaluating a model by the reference.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Spent {
    /// Scalar operations.
    pub operations: u64,
    /// The elements of all values.
    pub elements: u64,
    /// The most elements that an operator holds besides its operands and results.
    pub scratch: u64,
}

impl Spent {
    fn on(model: &Model) -> Self {
        let mut functions = Vec::with_capacity(model.functions.len());
        for function in &model.functions {
            functions.push(spent(&function.body, &functions));
        }
        spent(&model.graph, &functions)
    }

    /// How many evaluations may be made together.
    pub fn runs(self) -> u64 {
        (MAX_FLOPS / self.operations.max(1)).min(MAX_ELEMENTS / self.elements.max(1))
    }

    /// How much a search for the model's values may do: the cost of one run decides how many runs there may be.
    pub fn search(self) -> Budget {
        let all = Budget::default();
        Budget { runs: self.runs().clamp(1, all.runs.into()) as u32, ..all }
    }

    fn and(self, other: Self) -> Self {
        Self {
            operations: self.operations.saturating_add(other.operations),
            elements: self.elements.saturating_add(other.elements),
            scratch: self.scratch.max(other.scratch),
        }
    }
}

fn spent(graph: &Graph, functions: &[Spent]) -> Spent {
    graph.nodes.iter().fold(Spent::default(), |all, node| {
        let types = graph.types(&node.inputs);
        let inside = match &node.kind {
            NodeKind::Operator(op) => {
                let Effort { operations, scratch } = op.effort(&types, &node.outputs);
                Spent { operations, elements: 0, scratch }
            }
            // Calls in a valid model go to earlier functions.
            NodeKind::Call(function) => functions.get(function.0 as usize).copied().unwrap_or_default(),
            _ => Spent::default(),
        };
        let elements = node.outputs.iter().map(elements).fold(0, u64::saturating_add);
        all.and(inside).and(Spent { elements, ..Spent::default() })
    })
}

/// The tensors for a model's variables, from the values of its program's inputs by name.
pub fn bind(model: &Model, named: &BTreeMap<String, Datum>) -> Result<Vec<Tensor>, String> {
    let tensors = named.iter().flat_map(|(name, value)| value.as_ref().into_named(name));
    let tensors: BTreeMap<String, &Tensor> = tensors.collect();
    let find = |name: &str| {
        let tensor = tensors.get(name).copied().cloned();
        tensor.ok_or_else(|| format!("there is no tensor for input `{name}`"))
    };
    model.graph.variables().map(|(_, name, _)| find(name)).collect()
}

#[cfg(test)]
mod tests {
    use ir::{Type, Value};
    use ops::elementwise::{Unary, UnaryFn};

    use super::*;

    #[test]
    fn a_model_may_take_more_for_what_it_brings() {
        // y = −x, of 17·2²⁰ numbers each, beside a constant.
        let beside = |elements: i64| {
            let mut graph = Graph::new();
            let w = graph.constant(Tensor::zeros(&Type::new(DType::U8, [elements])));
            let x = graph.variable("x", Type::new(DType::F32, [17 << 20]));
            let node = graph.operator(Unary(UnaryFn::Neg).into(), &[Some(x)]).expect("it fits");
            graph.output("y", Value::new(node, 0));
            graph.output("w", w);
            let model = Model::new(21, graph);
            Means::with(constants(&model), u64::MAX).bear(&model, Taps::Outputs).map(|_| ())
        };
        let why = beside(1).unwrap_err();
        assert!(why.contains("35651585 tensor elements at one time of at most 33554436"), "{why}");
        assert_eq!(beside(1 << 20), Ok(()));
    }

    #[test]
    fn a_user_may_say_that_a_model_is_large() {
        // Weights that are computed, as a "light" model of the package `onnx` has them: a few bytes, and 40 million numbers.
        let text = "onnxsmith 1 opset 21\ngraph {\n  %0: f32[1, 40000000] = variable \"x\"\n  \
                    %1: f32[1] = ReduceSum(%0) {axes = [1], keepdims = 0}\n  return \"y\" = %1\n}\n";
        let model: Model = text.parse().expect("a model");
        let why = bearable(&model, Taps::Outputs, Large::Refused).unwrap_err();
        assert!(why.ends_with("at most 33554432; `run`, `blame` and `reduce` take it with --large"), "{why}");
        assert_eq!(bearable(&model, Taps::Outputs, Large::Allowed), Ok(()));
        let endless: Model = text.replace("40000000", "1099511627776").parse().expect("a model");
        let why = bearable(&endless, Taps::Outputs, Large::Allowed).unwrap_err();
        assert!(why.contains("too large"), "{why}");
        let why = bearable(&endless, Taps::Outputs, Large::Refused).unwrap_err();
        assert!(!why.contains("--large"), "it would not help: {why}");
    }

    #[test]
    fn what_is_too_much_for_a_campaign_may_be_borne_once() {
        let mut text = "onnxsmith 1 opset 21\ngraph {\n  %0: f32[4194304] = variable \"x\"\n".to_owned();
        for i in 1..=10 {
            text += &format!("  %{i}: f32[4194304] = Relu(%{})\n", i - 1);
        }
        text += "  return \"y\" = %10\n}\n";
        let model: Model = text.parse().expect("a model");
        assert!(affordable(&model).unwrap_err().contains("46137344 tensor elements of at most 33554432"));
        let bear = |taps, bytes| Means::with(0, bytes).bear(&model, taps);
        let two = BYTES_PER_ELEMENT << 23;
        assert_eq!(bear(Taps::Outputs, two), Ok(1 << 23), "one operator's operand and result");
        let why = bear(Taps::Outputs, two - 1).unwrap_err();
        assert!(why.contains("8388608 tensor elements at one time of at most 8388607"), "{why}");
        assert!(bear(Taps::All, u64::MAX).is_err(), "all of them at one time");
    }

    #[test]
    fn what_the_reference_holds_and_does_besides_counts() {
        let asks = |operands: &[&str], result: &str, call: &str| {
            let mut text = "onnxsmith 1 opset 21\ngraph {\n".to_owned();
            for (i, ty) in operands.iter().enumerate() {
                text += &format!("  %{i}: {ty} = variable \"x{i}\"\n");
            }
            let n = operands.len();
            text += &format!("  %{n}: {result} = {call}\n  return \"y\" = %{n}\n}}\n");
            let model: Model = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
            affordable(&model).map(|spent| spent.operations)
        };
        let scan = |name: &str| format!("{name}(%0) {{axis = 0, exclusive = 0, reverse = 0}}");
        let long = "f32[8388608]";
        assert!(asks(&[long], long, &scan("CumProd")).is_err(), "each product is formed anew");
        assert_eq!(asks(&[long], long, &scan("CumSum")), Ok(8_388_608));
        let einsum =
            |equation: &str, operands: &str| format!("Einsum({operands}) {{equation = \"{equation}\"}}");
        let long = "f32[4194304]";
        assert!(asks(&[long; 3], "f32[]", &einsum("i,j,k->", "%0, %1, %2")).is_err(), "2⁶⁶ terms");
        assert!(asks(&["f32[32768]"; 2], "f32[]", &einsum("i,j->", "%0, %1")).is_err(), "2³⁰ offsets");
        let pool = "AveragePool(%0) {auto_pad = \"NOTSET\", ceil_mode = 0, count_include_pad = 0, dilations = [1], \
                    kernel_shape = [32767], pads = [0, 0], strides = [1]}";
        assert!(asks(&["f32[1, 1, 65536]"], "f32[1, 1, 32770]", pool).is_err(), "2³⁰ cells");
    }
}
