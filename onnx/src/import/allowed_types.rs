//! Types of operands and results: those that ONNX's operator has in the opset that the model declares.
//!
//! What an operator is read as has the types of today. A model that is older, or gives a node what it never took, is for no runtime to
//! accept.

use ir::DType;
use ops::schema::{self, Others, Parameter, Schema};

use super::context::domain;
use super::frame::Bound;
use super::walk::Walk;
use crate::Error;
use crate::program::{Node, ValueId};

/// The definition of a node's operator that holds in the model, if ONNX's default domain has one. Of Constant nobody asks it: by the text
/// it had floats alone before opset 9, and exporters have put integers there as long.
pub(super) fn schema(walk: &Walk<'_, '_>, node: &Node) -> Option<&'static Schema> {
    let is_standard = domain(node.rest.domain()).is_empty() && node.rest.op_type() != "Constant";
    is_standard.then(|| schema::in_force(node.rest.op_type(), walk.context.declared)).flatten()
}

/// Requires that each operand may have the type that it has. What is left out, the signature asks for.
pub(super) fn check_operands(walk: &Walk<'_, '_>, node: &Node, schema: &Schema) -> Result<(), Error> {
    check(walk, "operand", &node.inputs, &schema.inputs)
}

/// The same of results.
pub(super) fn check_results(walk: &Walk<'_, '_>, node: &Node, schema: &Schema) -> Result<(), Error> {
    check(walk, "output", &node.outputs, &schema.outputs)
}

fn check(
    walk: &Walk<'_, '_>,
    what: &str,
    values: &[Option<ValueId>],
    parameters: &[Parameter],
) -> Result<(), Error> {
    for (i, value) in values.iter().enumerate() {
        // The last one may be repeated.
        let Some(parameter) = parameters.get(i).or(parameters.last()) else { continue };
        let Some(bound) = value.and_then(|id| walk.frame.get(id).ok()) else { continue };
        let Some(is) = other_than(walk, parameter, bound) else { continue };
        let (allowed, opset) = (allowed(parameter), walk.context.declared);
        let why = format!("it is {is}, but must be {allowed} in opset {opset}");
        return Err(Error::invalid(format!("{what} {i}"), why));
    }
    Ok(())
}

/// What is allowed, in words.
fn allowed(parameter: &Parameter) -> String {
    let Others { strings, sequences, optionals, optional_sequences } = parameter.others;
    let numbers = (!parameter.dtypes.is_empty()).then(|| format!("one of {}", parameter.dtypes));
    let others = [
        (strings, "strings"),
        (!sequences.is_empty(), "a sequence"),
        (!optionals.is_empty() || !optional_sequences.is_empty(), "an optional"),
    ];
    let others = others.iter().filter(|(is_allowed, _)| *is_allowed).map(|(_, what)| (*what).to_owned());
    numbers.into_iter().chain(others).collect::<Vec<_>>().join(", or ")
}

/// What a value is, if that is none of what is allowed.
fn other_than(walk: &Walk<'_, '_>, parameter: &Parameter, bound: &Bound) -> Option<String> {
    let others = &parameter.others;
    // An optional that holds something is bound as what it holds.
    let of_tensor = |dtype: DType| {
        let is_allowed = parameter.dtypes.contains(dtype) || others.optionals.contains(dtype);
        (!is_allowed).then(|| dtype.to_string())
    };
    match bound {
        Bound::Tensor(value) => of_tensor(walk.ty(*value).dtype),
        Bound::Static(tensor) => of_tensor(tensor.dtype()),
        Bound::Sequence(sequence) => {
            let allowed = others.sequences.union(others.optional_sequences);
            let dtype = sequence.items.first().map(|&item| walk.ty(item).dtype).or(sequence.dtype);
            let is_allowed = dtype.map_or(!allowed.is_empty(), |dtype| allowed.contains(dtype));
            (!is_allowed)
                .then(|| dtype.map_or("a sequence".to_owned(), |dtype| format!("a sequence of {dtype}")))
        }
        Bound::Strings(_) => {
            let is_allowed = others.strings || !others.optionals.is_empty();
            (!is_allowed).then(|| "strings".to_owned())
        }
        Bound::Nothing(_) => {
            let is_allowed = !others.optionals.is_empty() || !others.optional_sequences.is_empty();
            (!is_allowed).then(|| "an optional that holds nothing".to_owned())
        }
        Bound::Absent => None,
    }
}
