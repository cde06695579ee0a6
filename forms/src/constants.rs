//! Constants in the other places that ONNX has for them: in a Constant node, as an input, as the default of an input,
//! or as an input that overrides another default.

use ir::{Choices, DType, Tensor};
use onnx::external::External;
use onnx::program::{Attribute, Body, Initializer, Node, Port, ValueId};
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{AttributeProto, TensorProto};
use onnx::tensor;
use rand::RngExt;

use crate::draft::{Draft, parameters, unnamed};

/// The share of constants that change their place. One always does.
const SHARE: f64 = 0.4;

/// Writes some initializers as Constant nodes, each somewhere before its first use. Initializers of a body become nodes
/// at the beginning of that body.
pub(crate) fn nodes(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let of_main = chosen(&draft, choices, |_, _| true);
    let mut is_new = of_main.is_some();
    for value in of_main.unwrap_or_default() {
        let tensor = draft.tensor(value)?;
        let Some(last) = draft.first_use(value) else { continue };
        let node = constant(draft.program.main.name(value), value, &tensor, choices);
        let body = draft.body_mut();
        body.initializers.retain(|i| i.value != value);
        body.nodes.insert(choices.random_range(0..=last), node);
    }
    let mut nodes = std::mem::take(&mut draft.body_mut().nodes);
    for body in nodes.iter_mut().flat_map(|node| &mut node.attributes).filter_map(|held| held.body.as_mut()) {
        is_new |= in_body(body, &draft, choices)?;
    }
    draft.body_mut().nodes = nodes;
    is_new.then_some(draft)
}

/// Writes some initializers of a body, and of the bodies in it, as Constant nodes. Tells whether there are some.
fn in_body(body: &mut Body, draft: &Draft, choices: &mut Choices) -> Option<bool> {
    let (moved, kept): (Vec<Initializer>, Vec<Initializer>) =
        std::mem::take(&mut body.initializers).into_iter().partition(|_| choices.random_bool(SHARE));
    body.initializers = kept;
    let mut is_new = !moved.is_empty();
    for Initializer { value, tensor } in moved {
        let tensor = tensor::from_proto(&tensor, External::Refuse).ok()?;
        body.nodes.insert(0, constant(draft.program.main.name(value), value, &tensor, choices));
    }
    for inner in
        body.nodes.iter_mut().flat_map(|node| &mut node.attributes).filter_map(|held| held.body.as_mut())
    {
        is_new |= in_body(inner, draft, choices)?;
    }
    Some(is_new)
}

/// A Constant node for a value of this name.
fn constant(name: &str, value: ValueId, tensor: &Tensor, choices: &mut Choices) -> Node {
    let mut node = Node::new("Constant", Vec::new(), vec![Some(value)]);
    // The name says at which position of the model it stands.
    node.rest.name = Some(name.strip_prefix('v').map_or_else(|| name.to_owned(), |at| format!("n{at}")));
    node.attributes.push(Attribute { rest: attribute(tensor, choices), body: None, bodies: Vec::new() });
    node
}

/// Some initializers as inputs.
pub(crate) fn inputs(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let is_rare = choices.random_bool(0.7);
    // Parameters that are known only when the model runs are rare, and ask more of a runtime than all else.
    for value in chosen(&draft, choices, |draft, value| !is_rare || !is_parameter(draft, value))? {
        let tensor = draft.tensor(value)?;
        draft.body_mut().initializers.retain(|i| i.value != value);
        draft.input(value, tensor);
    }
    Some(draft)
}

/// Makes some initializers the defaults of inputs. No values are given for these inputs.
pub(crate) fn defaults(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    for value in chosen(&draft, choices, |draft, value| !is_parameter(draft, value))? {
        let declared = unnamed(draft.ty(value)?);
        draft.body_mut().inputs.push(Port { value, declared });
    }
    Some(draft)
}

/// Makes some initializers inputs with another default, which nobody reads: the value that comes in takes its place.
/// None of int64, from which sizes and indices are computed: ONNX's shape inference does read such defaults, and no
/// checker takes the model then.
pub(crate) fn overridden(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let is_size = |draft: &Draft, value| draft.ty(value).is_none_or(|ty| ty.dtype == DType::I64);
    let is_fit = |draft: &Draft, value| !is_parameter(draft, value) && !is_size(draft, value);
    for value in chosen(&draft, choices, is_fit)? {
        let tensor = draft.tensor(value)?;
        let default = TensorProto { name: None, ..onnx::tensor::to_proto("", &other(&tensor)) };
        let initializers = &mut draft.body_mut().initializers;
        initializers.iter_mut().find(|i| i.value == value)?.tensor = default;
        draft.input(value, tensor);
    }
    Some(draft)
}

/// Another tensor of the same type, if there is one. The elements are in the opposite order if that makes a difference:
/// what may stand in an index or a scale stays so. Otherwise all are another number.
fn other(tensor: &Tensor) -> Tensor {
    let ty = tensor.ty();
    let is_float = ty.dtype.is_float();
    let reversed = if is_float {
        let numbers = tensor.to_f64s();
        Tensor::from_f64_fn(&ty, |i| numbers[numbers.len() - 1 - i])
    } else {
        let numbers = tensor.to_i128s();
        Tensor::from_i128_fn(&ty, |i| numbers[numbers.len() - 1 - i])
    };
    let is_one = tensor.to_f64s().first() == Some(&1.0);
    if reversed != *tensor {
        reversed
    } else if is_float {
        Tensor::from_f64_fn(&ty, |_| if is_one { 2.0 } else { 1.0 })
    } else {
        Tensor::from_i128_fn(&ty, |_| i128::from(!is_one))
    }
}

/// Draws some of the initializers that are fit, at least one.
fn chosen(
    draft: &Draft,
    choices: &mut Choices,
    is_fit: impl Fn(&Draft, ValueId) -> bool,
) -> Option<Vec<ValueId>> {
    let all = draft.body().initializers.iter().map(|i: &Initializer| i.value);
    let is_free = |&value: &ValueId| draft.initializer(value).is_some() && draft.first_use(value).is_some();
    let fit: Vec<ValueId> = all.filter(is_free).filter(|&value| is_fit(draft, value)).collect();
    if fit.is_empty() {
        return None;
    }
    let sure = choices.random_range(0..fit.len());
    let each = fit.iter().enumerate().filter(|&(i, _)| i == sure || choices.random_bool(SHARE));
    Some(each.map(|(_, &value)| value).collect())
}

/// Whether a value is an operand in ONNX that is an attribute in our models.
fn is_parameter(draft: &Draft, value: ValueId) -> bool {
    draft.body().nodes.iter().any(|node| {
        parameters(node, draft.opset)
            .iter()
            .any(|&(slot, _)| node.inputs.get(slot).copied().flatten() == Some(value))
    })
}

/// The attribute of a Constant node that holds a tensor, one of several that can.
fn attribute(tensor: &Tensor, choices: &mut Choices) -> AttributeProto {
    let of = |name: &str, kind: AttributeType| AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(kind as i32),
        ..AttributeProto::default()
    };
    let whole = || tensor.to_i128s().into_iter().map(|n| n as i64).collect::<Vec<_>>();
    let floats = || tensor.to_f64s().into_iter().map(|x| x as f32).collect::<Vec<_>>();
    let is_short = choices.random_bool(0.5);
    match (tensor.dtype(), tensor.shape().len(), tensor.is_empty()) {
        (DType::I64, 0, _) if is_short => {
            AttributeProto { i: whole().first().copied(), ..of("value_int", AttributeType::Int) }
        }
        (DType::I64, 1, false) if is_short => {
            AttributeProto { ints: whole(), ..of("value_ints", AttributeType::Ints) }
        }
        (DType::F32, 0, _) if is_short => {
            AttributeProto { f: floats().first().copied(), ..of("value_float", AttributeType::Float) }
        }
        (DType::F32, 1, false) if is_short => {
            AttributeProto { floats: floats(), ..of("value_floats", AttributeType::Floats) }
        }
        _ => {
            let t = TensorProto { name: None, ..onnx::tensor::to_proto("", tensor) };
            AttributeProto { t: Some(t), ..of("value", AttributeType::Tensor) }
        }
    }
}
