//! What prepares features: `Scaler`, `Binarizer`, `Normalizer` and `ArrayFeatureExtractor`.

use ir::{Attributes, DType, Value};

use super::{IN_F32, constant, features, features_of, one};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::terms::misshapen;
use crate::import::translation::{SourceNode, bind, tensor};
use crate::import::walk::Walk;

/// Scaler: an offset is taken away, then it is multiplied. Each is one number, or one for each feature.
pub(super) fn scaler<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = features(walk, source)?;
    let given = GivenAttributes::of(source);
    let (offset, scale) = (given.floats("offset"), given.floats("scale"));
    given.finish()?;
    let columns = walk.graph.ty(x).shape.last().copied().unwrap_or(1);
    let number = |walk: &mut Walk<'p, '_>, name: &str, numbers: &[f32]| -> Result<Value, Error> {
        let count = numbers.len() as i64;
        if count != 1 && count != columns {
            let why = format!("there are {count} for {columns} features");
            return Err(Error::invalid(format!("attribute `{name}`"), why));
        }
        constant(walk, &[count], numbers)
    };
    let offset = number(walk, "offset", offset)?;
    let scale = number(walk, "scale", scale)?;
    let centred = one(walk, "Sub", &Attributes::new(), &[x, offset])?;
    let y = one(walk, "Mul", &Attributes::new(), &[centred, scale])?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// Binarizer: 1 for what is above a threshold, and 0 for the rest.
pub(super) fn binarizer<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = features_of(walk, source, &IN_F32)?;
    let dtype = walk.ty(x).dtype;
    let x = walk.cast(x, DType::F32)?;
    let given = GivenAttributes::of(source);
    let threshold = given.float("threshold").unwrap_or(0.0);
    given.finish()?;
    let threshold = constant(walk, &[], &[threshold])?;
    let above = one(walk, "Greater", &Attributes::new(), &[x, threshold])?;
    let y = walk.cast(above, dtype)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// Normalizer: each row divided by its norm; a row whose norm is 0 stays as it is. For `L1` the text sums the
/// elements, while ONNX's reference implementation and runtimes sum their magnitudes. Implementations differ
/// for `MAX` too, and nothing says which is right.
pub(super) fn normalizer<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = features(walk, source)?;
    let given = GivenAttributes::of(source);
    let norm = given.text("norm", "MAX");
    given.finish()?;
    let reduce = match norm.as_str() {
        "L1" => "ReduceL1",
        "L2" => "ReduceL2",
        "MAX" => {
            let why = "ONNX does not say whether the largest element or the largest magnitude is meant";
            return Err(Error::unsupported("attribute `norm`", why));
        }
        other => return Err(Error::invalid("attribute `norm`", format!("there is no norm `{other}`"))),
    };
    let last = Attributes::new().ints("axes", &[-1]).int("keepdims", 1);
    let norm = one(walk, reduce, &last, &[x])?;
    let (zero, unit) = (constant(walk, &[], &[0.0])?, constant(walk, &[], &[1.0])?);
    let is_zero = one(walk, "Equal", &Attributes::new(), &[norm, zero])?;
    let divisor = one(walk, "Where", &Attributes::new(), &[is_zero, unit, norm])?;
    let y = one(walk, "Div", &Attributes::new(), &[x, divisor])?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// ArrayFeatureExtractor: elements of the last axis by their indices, "based on 0 as the first index". What has no
/// other axis gets one.
pub(super) fn array_feature_extractor<'p>(
    walk: &mut Walk<'p, '_>,
    source: &SourceNode<'p, '_>,
) -> Result<(), Error> {
    let (x, indices) = (tensor(walk, source.node, 0)?, tensor(walk, source.node, 1)?);
    GivenAttributes::of(source).finish()?;
    if walk.ty(indices).dtype != DType::I64 {
        return Err(misshapen(1, &walk.ty(indices), "of i64"));
    }
    let list = one(walk, "Reshape", &Attributes::new().ints("shape", &[-1]), &[indices])?;
    let list = walk.counted_from_first(list, walk.ty(x).shape.last().copied().unwrap_or(0))?;
    let mut y = one(walk, "Gather", &Attributes::new().int("axis", -1), &[x, list])?;
    if walk.graph.ty(y).rank() == 1 {
        y = one(walk, "Unsqueeze", &Attributes::new().ints("axes", &[0]), &[y])?;
    }
    bind(walk, source.node, vec![Bound::Tensor(y)])
}
