//! ScatterElements and ScatterND: an element may be updated more than once, and devices add floats in no atomic step. So each
//! element looks for its updates, in their order. That takes as many steps as there are updates that may be its own, which are cut
//! into launches, because drivers bound the loops of an invocation.

use std::ops::Range;

use ir::{DType, Type};

use ops::movement::{Reduction, ScatterElements, ScatterNd};

use super::gather::index;
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers, one};
use crate::wgpu::record::{Launch, strides};
use crate::wgpu::wgsl::{Body, Element, Param, Shader, accumulator, body, params};

params! {
    /// The places along the axis that a launch looks at.
    struct Along {
        start: u32,
        end: u32,
        /// Nothing, the sum, the product, the largest or the smallest of an update and what is there.
        reduction: u32,
        rank: u32,
        axis: u32,
        /// Three numbers for each axis: its extent, that of the indices, and their stride.
        axes: Vec<u32>,
    }
}

params! {
    /// The lists of indices that a launch looks at, and the slices that they point to.
    struct Slices {
        start: u32,
        end: u32,
        /// Nothing, the sum, the product, the largest or the smallest of an update and what is there.
        reduction: u32,
        /// How many elements a slice has.
        inner: u32,
        pointed: u32,
        /// Two numbers for each axis that an index points into: its extent and its stride.
        axes: Vec<u32>,
    }
}

const ELEMENTS: Body<Along> = body!(Along, "scatter_elements.wgsl", "scatter.wgsl", "index.wgsl");
const SLICES: Body<Slices> = body!(Slices, "scatter_nd.wgsl", "scatter.wgsl", "index.wgsl");

impl Kernel for ScatterElements {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        combines(self.reduction, x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, indices, updates) = (c.get(0)?, c.get(1)?, c.get(2)?);
        let axis = c.axis(self.axis, x.rank())?;
        let fits = indices.rank() == x.rank()
            && indices.shape() == updates.shape()
            && (0..x.rank()).all(|a| a == axis || indices.shape()[a] <= x.shape()[a]);
        if !fits {
            return Err(c.refuse(format!("indices {:?} into {:?}", indices.shape(), x.shape())));
        }
        let extents = x.shape().iter().zip(indices.shape());
        let axes =
            extents.zip(strides(indices.shape())).flat_map(|((&x, &own), stride)| [x, own, stride as usize]);
        let axes: Vec<_> = axes.map(|number| number as u32).collect();
        let (rank, axis_number) = (x.rank() as u32, axis as u32);
        let part = |Range { start, end }: Range<u32>| Along {
            start,
            end,
            reduction: number(self.reduction),
            rank,
            axis: axis_number,
            axes: axes.clone(),
        };
        scatter(c, self.reduction, ELEMENTS, indices.shape()[axis], 1 + x.rank(), part)
    }
}

impl Kernel for ScatterNd {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        combines(self.reduction, x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, indices, updates) = (c.get(0)?, c.get(1)?, c.get(2)?);
        let Some((&pointed, around)) = indices.shape().split_last() else {
            return Err(c.refuse("indices are one number".to_owned()));
        };
        if pointed > x.rank() || updates.shape() != [around, &x.shape()[pointed..]].concat() {
            return Err(c.refuse(format!("indices {:?} into {:?}", indices.shape(), x.shape())));
        }
        let (into, rest) = x.shape().split_at(pointed);
        let axes = into.iter().zip(strides(x.shape())).flat_map(|(&d, stride)| [d as u32, stride as u32]);
        let axes: Vec<_> = axes.collect();
        let inner = rest.iter().product::<usize>() as u32;
        let part = |Range { start, end }: Range<u32>| Slices {
            start,
            end,
            reduction: number(self.reduction),
            inner,
            pointed: pointed as u32,
            axes: axes.clone(),
        };
        scatter(c, self.reduction, SLICES, around.iter().product(), 1 + pointed, part)
    }
}

/// What a kernel knows a reduction by.
fn number(reduction: Reduction) -> u32 {
    match reduction {
        Reduction::None => 0,
        Reduction::Add => 1,
        Reduction::Mul => 2,
        Reduction::Max => 3,
        Reduction::Min => 4,
    }
}

/// Whether updates are combined with what is there: any bits are replaced, and numbers are combined.
fn combines(reduction: Reduction, dtype: DType) -> Support {
    if reduction == Reduction::None { Support::Yes } else { numbers(dtype) }
}

/// Launches the kernel as often as it takes for all updates: the loop over `part` of the updates goes round
/// `rounds` times for each.
fn scatter<P: Param>(
    c: &Call<'_>,
    reduction: Reduction,
    body: Body<P>,
    updates: usize,
    rounds: usize,
    part: impl Fn(Range<u32>) -> P,
) -> Outputs {
    let (x, indices) = (c.get(0)?, c.get(1)?);
    let stretches = c.stretches(updates, rounds)?;
    let goes_on = stretches.len() > 1;
    let shader = shader(c, reduction, body, goes_on)?;
    let partial = if goes_on && reduction != Reduction::None { accumulator(x.dtype()) } else { x.dtype() };
    let output = c.gpu.alloc(partial, x.shape())?;
    for stretch in stretches {
        c.gpu.launch(&Launch::new(&shader, &[x, indices, c.get(2)?], part(stretch), &output))?;
    }
    one(c.gpu.cast(&output, x.dtype()))
}

/// The kernel, whose results are kept as they are for a launch that goes on with them.
fn shader<P: Param>(
    c: &Call<'_>,
    reduction: Reduction,
    body: Body<P>,
    goes_on: bool,
) -> Result<Shader<P>, GpuError> {
    let (dtype, indices) = (c.get(0)?.dtype(), index(c, c.get(1)?.dtype())?);
    if reduction == Reduction::None {
        let bits = Element::Bits(dtype);
        let shader = Shader::mover(c.name, body, dtype).alias("Value", bits).means("combine", "replaced");
        return Ok(shader.reads("indices", indices).reads("updates", bits));
    }
    let (number, kept) = (Element::Number(dtype), if goes_on { accumulator(dtype) } else { dtype });
    let shader =
        Shader::new(c.name, body, dtype, Element::Number(kept)).reads("x", number).alias("Value", number);
    Ok(shader.reads("indices", indices).reads("updates", number).means("combine", "combined"))
}
