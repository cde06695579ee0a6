//! Differences without a meaning, in which every exporter has its own way: how the elements of tensors are stored, and
//! how values and nodes are named.

use ir::Choices;
use onnx::program::Indices;
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::draft::Draft;

/// Stores the elements of tensors in the fields for their types, where today's exporters write bytes.
pub(crate) fn in_fields(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let share = if choices.random_bool(0.5) { 1.0 } else { choices.random_range(0.2..0.8) };
    draft.program = draft.program.with_tensor_fields(|| choices.random_bool(share))?;
    Some(draft)
}

/// The first IR version that has sparse initializers.
const SPARSE_SINCE: i64 = 6;

/// Writes initializers in sparse form: their elements that are not 0, and the places of these.
pub(crate) fn sparse(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let share = if choices.random_bool(0.5) { 1.0 } else { choices.random_range(0.2..0.8) };
    let indices = if choices.random_bool(0.5) { Indices::Linear } else { Indices::Tuples };
    draft.program =
        draft.program.with_sparse_initializers(|_| choices.random_bool(share).then_some(indices))?;
    let version = draft.program.rest.ir_version().max(SPARSE_SINCE);
    draft.program.rest.ir_version = Some(version);
    Some(draft)
}

/// How an exporter names a value and its node, and what their numbers count. ONNX's text asks for identifiers of C, and
/// no exporter keeps to that.
struct Naming {
    value: &'static str,
    node: &'static str,
}

/// The names that exporters of PyTorch (numbers alone, and by module), of TensorFlow, of scikit-learn and of Paddle
/// give.
const NAMINGS: [Naming; 5] = [
    Naming { value: "{}", node: "Add_{}" },
    Naming { value: "/layers.{}/Add_output_0", node: "/layers.{}/Add" },
    Naming { value: "onnx::MatMul_{}", node: "node_MatMul_{}" },
    Naming { value: "model/dense_{}/BiasAdd:0", node: "model/dense_{}/BiasAdd" },
    Naming { value: "conv2d_{}.w_0@GRAD", node: "p2o.Conv.{}" },
];

/// Gives values and nodes the names that one exporter would give.
pub(crate) fn named(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let Naming { value, node } = NAMINGS.choose(choices)?;
    let mut numbers = 0..;
    let mut number = |pattern: &str| {
        let number: usize = numbers.next().unwrap_or(0);
        pattern.replace("{}", &number.to_string())
    };
    let values: Vec<String> = (0..draft.program.main.values()).map(|_| number(value)).collect();
    let mut values = values.into_iter();
    let named = draft.program.renamed(
        |old| values.next().unwrap_or_else(|| old.to_owned()),
        |old| if onnx::names::is_alias(old) { old.to_owned() } else { number(node) },
    );
    draft.program = named;
    Some(draft)
}
