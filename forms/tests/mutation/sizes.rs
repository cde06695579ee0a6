//! Numbers of a model that sizes follow from, replaced by none, the largest that a graph may have, and ones that no tensor has.

use ir::Choices;
use onnx::proto::tensor_proto::DataType;
use onnx::proto::tensor_shape_proto::Dimension;
use onnx::proto::tensor_shape_proto::dimension::Value;
use onnx::proto::type_proto;
use onnx::proto::{AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TensorShapeProto};
use rand::RngExt;

const LARGEST: i64 = i32::MAX as i64;
const BEYOND: i64 = 1 << 62;

/// What a list of sizes becomes.
type Change = fn(&[i64]) -> Vec<i64>;

/// Changes of a list, which stays as long as it is or gets an axis more than most.
const LISTS: [Change; 7] = [
    |list| vec![0; list.len()],
    |list| vec![-1; list.len()],
    |list| vec![LARGEST; list.len()],
    |list| (0..list.len()).map(|i| if i == 0 { 0 } else { LARGEST }).collect(),
    |list| (0..list.len()).map(|i| if i == 0 { 0 } else { BEYOND }).collect(),
    |_| vec![0, LARGEST, LARGEST, LARGEST],
    |_| vec![0, BEYOND, BEYOND, BEYOND],
];

/// How many places of a model are changed.
const PLACES: std::ops::RangeInclusive<usize> = 1..=2;

/// Changes some places of a model.
pub(crate) fn change(model: &mut ModelProto, choices: &mut Choices) {
    let mut places = Vec::new();
    if let Some(graph) = &mut model.graph {
        of_graph(graph, &mut places);
    }
    model.functions.iter_mut().flat_map(|function| &mut function.node).for_each(|n| of_node(n, &mut places));
    for _ in 0..choices.random_range(PLACES) {
        if !places.is_empty() {
            let place = choices.random_range(0..places.len());
            places[place].replace(LISTS[choices.random_range(0..LISTS.len())]);
        }
    }
}

/// Where numbers are that sizes follow from.
enum Place<'m> {
    List(&'m mut Vec<i64>),
    Number(&'m mut i64),
    /// A shape that is declared.
    Shape(&'m mut TensorShapeProto),
    /// A tensor of int64 with its elements as bytes.
    Elements(&'m mut TensorProto),
}

impl Place<'_> {
    fn replace(&mut self, with: Change) {
        match self {
            Self::List(list) => **list = with(list),
            Self::Number(number) => **number = with(&[**number, 1]).last().copied().unwrap_or(0),
            Self::Shape(shape) => {
                let sizes = with(&vec![1; shape.dim.len()]);
                let dim = |size| Dimension { value: Some(Value::DimValue(size)), ..Dimension::default() };
                shape.dim = sizes.into_iter().map(dim).collect();
            }
            Self::Elements(tensor) => {
                let numbers = with(&vec![1; tensor.raw_data().len() / size_of::<i64>()]);
                if tensor.dims.len() == 1 {
                    tensor.dims = vec![numbers.len() as i64];
                }
                let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                tensor.raw_data = Some(bytes.into());
            }
        }
    }
}

fn of_graph<'m>(graph: &'m mut GraphProto, places: &mut Vec<Place<'m>>) {
    let GraphProto { node, initializer, input, output, value_info, .. } = graph;
    for tensor in initializer {
        of_tensor(tensor, places);
    }
    for port in input.iter_mut().chain(output).chain(value_info) {
        let ty = port.r#type.as_mut().and_then(|ty| ty.value.as_mut());
        if let Some(type_proto::Value::TensorType(tensor)) = ty {
            places.extend(tensor.shape.as_mut().map(Place::Shape));
        }
    }
    for node in node {
        of_node(node, places);
    }
}

fn of_node<'m>(node: &'m mut NodeProto, places: &mut Vec<Place<'m>>) {
    for attribute in &mut node.attribute {
        let AttributeProto { i, ints, t, g, .. } = attribute;
        places.extend(i.as_mut().map(Place::Number));
        if !ints.is_empty() {
            places.push(Place::List(ints));
        }
        if let Some(tensor) = t {
            of_tensor(tensor, places);
        }
        if let Some(graph) = g {
            of_graph(graph, places);
        }
    }
}

/// The elements of a tensor of int64, and the shape of one that is empty: of others the shape would contradict the elements.
fn of_tensor<'m>(tensor: &'m mut TensorProto, places: &mut Vec<Place<'m>>) {
    if tensor.data_type() == DataType::Int64 as i32 && !tensor.raw_data().is_empty() {
        places.push(Place::Elements(tensor));
    } else {
        places.push(Place::List(&mut tensor.dims));
    }
}
