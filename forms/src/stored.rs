//! What means nothing, and every exporter has its own way of: how a tensor's elements are stored, and the names of
//! values and nodes.

use ir::Choices;
use onnx::program::Indices;
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::draft::Draft;

/// Tensors with their elements in the fields of their types, where exporters of today write bytes.
pub(crate) fn in_fields(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let share = if choices.random_bool(0.5) { 1.0 } else { choices.random_range(0.2..0.8) };
    draft.program = draft.program.with_tensor_fields(|| choices.random_bool(share))?;
    Some(draft)
}

/// The first IR version that has sparse initializers.
const SPARSE_SINCE: i64 = 6;

/// Initializers in sparse form: those of their elements that are not 0, and where these are.
pub(crate) fn sparse(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let share = if choices.random_bool(0.5) { 1.0 } else { choices.random_range(0.2..0.8) };
    let indices = if choices.random_bool(0.5) { Indices::Linear } else { Indices::Tuples };
    draft.program =
        draft.program.with_sparse_initializers(|_| choices.random_bool(share).then_some(indices))?;
    let version = draft.program.rest.ir_version().max(SPARSE_SINCE);
    draft.program.rest.ir_version = Some(version);
    Some(draft)
}

/// How an exporter names a value, its node, and what they are numbered by. ONNX's text asks for identifiers of C, and
/// no exporter has kept to it.
struct Naming {
    value: &'static str,
    node: &'static str,
}

/// As the exporters of PyTorch (numbers alone, and by module), of TensorFlow, and of scikit-learn and Paddle have them.
const NAMINGS: [Naming; 5] = [
    Naming { value: "{}", node: "Add_{}" },
    Naming { value: "/layers.{}/Add_output_0", node: "/layers.{}/Add" },
    Naming { value: "onnx::MatMul_{}", node: "node_MatMul_{}" },
    Naming { value: "model/dense_{}/BiasAdd:0", node: "model/dense_{}/BiasAdd" },
    Naming { value: "conv2d_{}.w_0@GRAD", node: "p2o.Conv.{}" },
];

/// Values and nodes with the names that one exporter gives.
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
