//! Operators of ONNX Runtime's own domain, `com.microsoft`, written out in ONNX's.
//!
//! Its optimiser and its tools for quantisation put them into models ([contributed
//! operators](https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md)). Here are those whose meaning their
//! description settles; for the others numbers stand (`opaque`), of a type that [`types`] knows where the model does
//! not declare it.
//!
//! | module | operators |
//! |---|---|
//! | `attention` | attention of all kinds |
//! | `embedded` | the sum of embeddings, normalised |
//! | `fused` | a product, convolution or sum together with what follows it |
//! | `gathered` | rows of a table that is quantised in blocks |
//! | `normalized` | a sum and its normalisation |
//! | `quantized` | quantised operands and results around an operator of floats |
//! | `products` | products of quantised matrices |
//! | `rotary` | embeddings of places by rotation |

mod attention;
mod embedded;
mod fused;
mod gathered;
mod normalized;
mod products;
mod quantized;
mod rotary;

use ir::{Attributes, DType, Type, Value};

use super::attribute;
use super::given::GivenAttributes;
use super::translation::{SourceNode, Translation};
use super::walk::Walk;
use crate::Error;

/// The domain.
pub(super) const DOMAIN: &str = "com.microsoft";

/// What adds an operator of that name of the domain.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    let groups = [
        attention::translation,
        embedded::translation,
        fused::translation,
        gathered::translation,
        normalized::translation,
        products::translation,
        quantized::translation,
        rotary::translation,
    ];
    groups.into_iter().find_map(|translation| translation(op_type))
}

/// What adds an operator of that name that ONNX Runtime has in ONNX's own domain, where ONNX has none.
pub(super) fn in_default_domain(op_type: &str) -> Option<Translation> {
    normalized::in_default_domain(op_type)
}

/// The types of an operator's results, where its operands tell them and it is not written out.
pub(super) fn types(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
) -> Result<Option<Vec<Type>>, Error> {
    if source.node.rest.op_type() != "DynamicQuantizeLSTM" {
        return Ok(None);
    }
    let [sequences, _, recurrence] =
        tensors::<12>(walk, source)?.first_chunk().copied().expect("there are twelve");
    let (Some(sequences), Some(recurrence)) = (sequences, recurrence) else { return Ok(None) };
    let ([steps, batch, _], [directions, hidden, _]) =
        (&walk.ty(sequences).shape[..], &walk.ty(recurrence).shape[..])
    else {
        return Ok(None);
    };
    let last = Type::new(DType::F32, [*directions, *batch, *hidden]);
    Ok(Some(vec![Type::new(DType::F32, [*steps, *directions, *batch, *hidden]), last.clone(), last]))
}

/// The operands of a node, all of them tensors. One that is left out is `None`, at the end too.
fn tensors<const N: usize>(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
) -> Result<[Option<Value>; N], Error> {
    let inputs = &source.node.inputs;
    if inputs.len() > N {
        return Err(Error::invalid("operands", format!("there are {}, but at most {N}", inputs.len())));
    }
    let mut operands = [None; N];
    for (operand, input) in operands.iter_mut().zip(inputs) {
        *operand = walk.operand(*input)?;
    }
    Ok(operands)
}

/// An operand that must be there and hold floats.
fn floats(walk: &Walk<'_, '_>, operands: &[Option<Value>], i: usize) -> Result<Value, Error> {
    let x = super::terms::there(operands, i)?;
    match walk.ty(x) {
        ty if ty.dtype.is_float() => Ok(x),
        ty => Err(Error::invalid(format!("operand {i}"), format!("it is {ty}, but must hold floats"))),
    }
}

/// The attributes of these names, for the operator of ONNX that has them too.
fn shared(
    walk: &Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    given: &GivenAttributes<'_>,
    names: &[&str],
) -> Result<Attributes, Error> {
    let mut attributes = Attributes::new();
    for proto in source.attributes.iter().filter(|proto| names.contains(&proto.name())) {
        given.ignore(proto.name());
        if let Some(value) = attribute::read(proto, walk.context.options.external)? {
            attributes.set(proto.name(), value);
        }
    }
    Ok(attributes)
}
