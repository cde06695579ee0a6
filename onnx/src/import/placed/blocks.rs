//! Windows over an image: Col2Im adds up the blocks that they have shown.

use ir::{Attributes, DType};

use super::list;
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::terms::{misshapen, operands, there};
use crate::import::translation::{SourceNode, bind, given_value};
use crate::import::walk::Walk;

/// A window that goes over some axes.
pub(in crate::import) struct Window {
    pub(in crate::import) kernel: Vec<i64>,
    pub(in crate::import) strides: Vec<i64>,
    /// Before each axis, and then behind each.
    pub(in crate::import) pads: Vec<i64>,
    pub(in crate::import) dilations: Vec<i64>,
}

/// More than an axis may have.
const FAR: i64 = 1 << 31;

impl Window {
    /// The window that the attributes describe. Attributes that are left out have the values of a dense
    /// window that moves by one, without padding.
    pub(in crate::import) fn of(
        kernel: &[i64],
        strides: &[i64],
        pads: &[i64],
        dilations: &[i64],
    ) -> Result<Self, Error> {
        let axes = kernel.len();
        let list = |name: &str, list: &[i64], count: usize, default: i64| -> Result<Vec<i64>, Error> {
            let list = if list.is_empty() { vec![default; count] } else { list.to_vec() };
            if list.len() == count && list.iter().all(|number| (default..FAR).contains(number)) {
                return Ok(list);
            }
            Err(Error::invalid(format!("attribute `{name}`"), format!("{list:?} is not for {axes} axes")))
        };
        Ok(Self {
            kernel: list("kernel_shape", kernel, axes, 1)?,
            strides: list("strides", strides, axes, 1)?,
            pads: list("pads", pads, 2 * axes, 0)?,
            dilations: list("dilations", dilations, axes, 1)?,
        })
    }
}

impl Window {
    /// What lies on the axes of an image, of blocks of a size.
    fn axes(&self, image: &[i64], block: &[i64]) -> Result<Vec<Axis>, Error> {
        let axes = image.len();
        let axis = |i: usize| {
            let reach = self.dilations[i].saturating_mul(block[i] - 1).saturating_add(1);
            let padded = image[i].saturating_add(self.pads[i]).saturating_add(self.pads[axes + i]);
            if reach > padded {
                let why = format!("a block is larger than axis {i} of the image");
                return Err(Error::invalid("operand 2", why));
            }
            Ok(Axis { padded, blocks: (padded - reach) / self.strides[i] + 1 })
        };
        (0..axes).map(axis).collect()
    }
}

/// What lies on an axis: its size with the pads, and the first places of the blocks.
struct Axis {
    padded: i64,
    blocks: i64,
}

/// Col2Im: each block is added to the image where it was.
pub(super) fn put_together<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<3>(walk, source)?;
    let given = GivenAttributes::of(source);
    let (strides, pads, dilations) = (given.ints("strides"), given.ints("pads"), given.ints("dilations"));
    given.finish()?;
    let x = there(&operands, 0)?;
    let ((image, of_image), (block, of_block)) = (list(walk, source, 1)?, list(walk, source, 2)?);
    let window = Window::of(&block, strides, pads, dilations)?;
    let ty = walk.ty(x);
    let (count, axes) = (block.iter().fold(1_i64, |count, &size| count.saturating_mul(size)), image.len());
    let &[batch, rows, columns] = &ty.shape[..] else {
        return Err(misshapen(0, &ty, "of a batch, blocks and their count"));
    };
    if ty.dtype == DType::Bool {
        return Err(Error::unsupported("operand 0", "of truth values there is no sum where blocks meet"));
    }
    if block.len() != axes || rows % count != 0 {
        let why = format!("an image of {image:?} is not put together from {ty} and blocks of {block:?}");
        return Err(Error::invalid("operand 2", why));
    }
    let all = window.axes(&image, &block)?;
    let blocks = all.iter().fold(1_i64, |count, axis| count.saturating_mul(axis.blocks));
    if blocks != columns {
        return Err(misshapen(0, &ty, &format!("of {blocks} blocks")));
    }
    let channels = rows / count;
    let padded = all.iter().fold(1_i64, |count, axis| count.saturating_mul(axis.padded));
    let zeros = if ty.dtype.is_float() {
        walk.reals(ty.dtype, &[batch, channels, padded], |_| 0.0)?
    } else {
        walk.integers(ty.dtype, &[batch, channels, padded], |_| 0)?
    };
    let each = [batch, channels, count.saturating_mul(columns)];
    let places = walk.integers(DType::I64, &[1, 1, each[2]], |i| {
        let (mut within, mut at) = (i as i64 / columns, i as i64 % columns);
        let (mut place, mut stride) = (0, 1);
        for (axis, lies) in all.iter().enumerate().rev() {
            let first = at % lies.blocks * window.strides[axis];
            place += stride * (first + within % block[axis] * window.dilations[axis]);
            (within, at, stride) = (within / block[axis], at / lies.blocks, stride * lies.padded);
        }
        place.into()
    })?;
    let places = walk.op_with("Expand", &Attributes::new().ints("shape", &each), &[places])?;
    let elements = walk.reshaped(x, &each)?;
    let sum = Attributes::new().int("axis", 2).name("reduction", "add");
    let flat = walk.op_with("ScatterElements", &sum, &[zeros, places, elements])?;
    let shape: Vec<i64> = [batch, channels].into_iter().chain(all.iter().map(|axis| axis.padded)).collect();
    let mut y = walk.reshaped(flat, &shape)?;
    for (i, &size) in image.iter().enumerate() {
        let first = window.pads[i];
        if first > 0 || window.pads[axes + i] > 0 {
            y = walk.slice(y, i as i64 + 2, first, first + size)?;
        }
    }
    let from: Vec<_> = of_image.into_iter().chain(of_block).collect();
    let y = given_value(walk, y, &from)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}
