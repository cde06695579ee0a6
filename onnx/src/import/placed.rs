//! CenterCropPad, TensorScatter, MaxUnpool and Col2Im, written out: elements that get another place.
//!
//! ONNX: [CenterCropPad](https://onnx.ai/onnx/operators/onnx__CenterCropPad.html),
//! [TensorScatter](https://onnx.ai/onnx/operators/onnx__TensorScatter.html),
//! [MaxUnpool](https://onnx.ai/onnx/operators/onnx__MaxUnpool.html),
//! [Col2Im](https://onnx.ai/onnx/operators/onnx__Col2Im.html). Whatever places are known gets them by slices and
//! padding, the rest by ScatterElements, which has several for one place as undefined or as a sum.

mod blocks;

pub(super) use blocks::Window;

use ir::{Attributes, DType, Value};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::{axis_of, misshapen, operands, there};
use super::translation::{SourceNode, Translation, bind, given_value};
use super::walk::Walk;
use crate::Error;

/// The function that writes out an operator of this name, if it is one of this module.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "CenterCropPad" => Some(centred),
        "Col2Im" => Some(blocks::put_together),
        "MaxUnpool" => Some(unpooled),
        "TensorScatter" => Some(scattered),
        _ => None,
    }
}

/// A list of sizes that is read from an operand, and what it was read from.
pub(super) fn list(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    i: usize,
) -> Result<(Vec<i64>, Option<Value>), Error> {
    let (tensor, from) = walk.read(super::translation::need(source.node, i)?)?;
    let sizes: Vec<i64> = tensor.to_i128s().into_iter().map(|size| size as i64).collect();
    if tensor.shape().len() != 1 || sizes.iter().any(|&size| size < 0) {
        return Err(misshapen(i, &tensor.ty(), "a list of sizes"));
    }
    Ok((sizes, from))
}

/// CenterCropPad. If an odd number of elements is cut off or added on an axis, the end of the axis loses or
/// gets one more than its start.
fn centred<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<2>(walk, source)?;
    let given = GivenAttributes::of(source);
    let (is_some, axes) = (source.attributes.iter().any(|a| a.name() == "axes"), given.ints("axes"));
    given.finish()?;
    let x = there(&operands, 0)?;
    let (sizes, from) = list(walk, source, 1)?;
    let ty = walk.ty(x);
    let axes: Vec<i64> = if is_some { axes.to_vec() } else { (0..ty.rank() as i64).collect() };
    if axes.len() != sizes.len() {
        let why = format!("there are {} sizes for {} axes", sizes.len(), axes.len());
        return Err(Error::invalid("operand 1", why));
    }
    let (mut starts, mut ends) = (vec![0; ty.rank()], ty.shape.clone());
    let mut pads = vec![0; 2 * ty.rank()];
    let mut seen = vec![false; ty.rank()];
    for (&axis, &size) in axes.iter().zip(&sizes) {
        let axis = axis_of("attribute `axes`", axis, ty.rank())?;
        if std::mem::replace(&mut seen[axis], true) {
            return Err(Error::unsupported("attribute `axes`", format!("axis {axis} is there twice")));
        }
        let there = ty.shape[axis];
        if size < there {
            starts[axis] = (there - size) / 2;
            ends[axis] = starts[axis] + size;
        } else {
            pads[axis] = (size - there) / 2;
            pads[ty.rank() + axis] = size - there - pads[axis];
        }
    }
    let mut y = x;
    if starts.iter().zip(&ends).zip(&ty.shape).any(|((&start, &end), &size)| (start, end) != (0, size)) {
        y = walk.op_with("Slice", &Attributes::new().ints("starts", &starts).ints("ends", &ends), &[y])?;
    }
    if pads.iter().any(|&pad| pad != 0) {
        y = walk.op_with("Pad", &Attributes::new().ints("pads", &pads), &[y])?;
    }
    let y = given_value(walk, y, from.as_slice())?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// TensorScatter: an update in place of what stands from an index on, for each of the batch. The text has no negative
/// places; those of a circular cache are taken modulo its size.
fn scattered<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<3>(walk, source)?;
    let (cache, update) = (there(&operands, 0)?, there(&operands, 1)?);
    let given = GivenAttributes::of(source);
    let (axis, mode) = (given.int("axis", -2), given.text("mode", "linear"));
    given.finish()?;
    let (ty, new) = (walk.ty(cache), walk.ty(update));
    let axis = axis_of("attribute `axis`", axis, ty.rank())?;
    if axis == 0 {
        return Err(Error::invalid("attribute `axis`", "it is that of the batch"));
    }
    let (all, batch) = (ty.shape[axis], ty.shape[0]);
    let fits = |(i, (&new, &size)): (usize, (&i64, &i64))| if i == axis { new <= size } else { new == size };
    if new.rank() != ty.rank() || !new.shape.iter().zip(&ty.shape).enumerate().all(fits) {
        return Err(misshapen(
            1,
            &new,
            &format!("no longer than {ty} on axis {axis}, and like it on the others"),
        ));
    }
    let along = |first: i64, size: i64| -> Vec<i64> {
        let size = |i| {
            if i == 0 {
                first
            } else if i == axis {
                size
            } else {
                1
            }
        };
        (0..ty.rank()).map(size).collect()
    };
    let mut places = walk.integers(DType::I64, &along(1, new.shape[axis]), |i| i as i128)?;
    if let Some(first) = operands[2] {
        if walk.ty(first).shape[..] != [batch] {
            return Err(misshapen(2, &walk.ty(first), &format!("an index for each of {batch}")));
        }
        let first = walk.reshaped(first, &along(batch, 1))?;
        places = walk.op("Add", &[first, places])?;
    }
    match mode.as_str() {
        "linear" => places = walk.counted_from_first(places, all)?,
        "circular" => {
            let all = walk.integers(DType::I64, &[], |_| all.into())?;
            places = walk.op("Mod", &[places, all])?;
        }
        other => return Err(Error::invalid("attribute `mode`", format!("there is no mode {other}"))),
    }
    let places = walk.op_with("Expand", &Attributes::new().ints("shape", &new.shape), &[places])?;
    let along = Attributes::new().int("axis", axis as i64);
    let y = walk.op_with("ScatterElements", &along, &[cache, places, update])?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// MaxUnpool: elements at places in what was pooled, which count from 0, and zeros. A larger result has these in its
/// first corner: so do ONNX's tests.
fn unpooled<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<3>(walk, source)?;
    let (x, places) = (there(&operands, 0)?, there(&operands, 1)?);
    let given = GivenAttributes::of(source);
    let (kernel, strides, pads) = (given.ints("kernel_shape"), given.ints("strides"), given.ints("pads"));
    given.finish()?;
    let ty = walk.ty(x);
    if walk.ty(places).shape != ty.shape || ty.rank() < 2 {
        return Err(misshapen(1, &walk.ty(places), &format!("like {ty}, with a batch and channels")));
    }
    let window = blocks::Window::of(kernel, strides, pads, &[])?;
    let axes = ty.rank() - 2;
    if window.kernel.len() != axes {
        return Err(Error::invalid("attribute `kernel_shape`", format!("there are {axes} axes")));
    }
    let mut shape = ty.shape.clone();
    for (i, size) in shape[2..].iter_mut().enumerate() {
        let reach = (*size - 1).saturating_mul(window.strides[i]).saturating_add(window.kernel[i]);
        *size = reach.saturating_sub(window.pads[i]).saturating_sub(window.pads[axes + i]);
        if *size < 0 {
            return Err(Error::invalid("attribute `pads`", "they take more than there is"));
        }
    }
    let count = shape.iter().try_fold(1_i64, |count, &size| count.checked_mul(size)).unwrap_or(i64::MAX);
    let zeros = walk.reals(ty.dtype, &[count], |_| 0.0)?;
    let (elements, places) = (walk.reshaped(x, &[ty.count()])?, walk.reshaped(places, &[ty.count()])?);
    let places = walk.counted_from_first(places, count)?;
    let along = Attributes::new().int("axis", 0);
    let y = walk.op_with("ScatterElements", &along, &[zeros, places, elements])?;
    let mut y = walk.reshaped(y, &shape)?;
    if operands[2].is_some() {
        let (sizes, from) = list(walk, source, 2)?;
        let fits =
            sizes.len() == shape.len() && sizes.iter().zip(&shape).all(|(wanted, size)| wanted >= size);
        if !fits || window.pads.iter().any(|&pad| pad != 0) {
            let why = format!(
                "{sizes:?} is not {shape:?} or larger without pads, and ONNX does not say what it is then"
            );
            return Err(Error::unsupported("operand 2", why));
        }
        let more = sizes.iter().zip(&shape).map(|(wanted, size)| wanted - size);
        let pads: Vec<i64> = vec![0; shape.len()].into_iter().chain(more).collect();
        y = walk.op_with("Pad", &Attributes::new().ints("pads", &pads), &[y])?;
        y = given_value(walk, y, from.as_slice())?;
    }
    bind(walk, source.node, vec![Bound::Tensor(y)])
}
