//! DeformConv: a convolution each of whose taps is moved, and weighed, for each place of the result.
//!
//! The moved taps are samples of the image, of which what lies outside is 0. They are put into the columns of a matrix,
//! which is multiplied with the kernel: so do implementations.

use ir::{Attributes, DType, Value};

use super::{Positions, Range, Taps, few, weighed};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::placed::Window;
use crate::import::terms::{misshapen, operands, there};
use crate::import::translation::{SourceNode, bind};
use crate::import::walk::{self, Walk};

/// The sizes of what takes part.
struct Sizes {
    batch: i64,
    channels: i64,
    filters: i64,
    groups: i64,
    /// How many groups of channels have offsets of their own.
    moved: i64,
    image: Vec<i64>,
    after: Vec<i64>,
    /// How many taps the kernel has, and the result places.
    taps: i64,
    places: i64,
    window: Window,
}

pub(super) fn conv<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<5>(walk, source)?;
    let [x, kernel, offsets] = [there(&operands, 0)?, there(&operands, 1)?, there(&operands, 2)?];
    let sizes = sizes(walk, source, [x, kernel, offsets])?;
    let dtype = walk.ty(x).dtype;
    let mask = match operands[4] {
        Some(mask) => {
            let shape = [&[sizes.batch, sizes.moved * sizes.taps], &sizes.after[..]].concat();
            if walk.ty(mask).shape[..] != shape[..] {
                return Err(misshapen(4, &walk.ty(mask), &format!("{shape:?}")));
            }
            Some(walk.reshaped(mask, &[sizes.batch, sizes.moved, sizes.taps * sizes.places])?)
        }
        None => None,
    };
    let bias = match operands[3] {
        Some(bias) if walk.ty(bias).shape[..] == [sizes.filters] => {
            Some(walk.reshaped(bias, &[sizes.filters, 1])?)
        }
        Some(bias) => return Err(misshapen(3, &walk.ty(bias), &format!("[{}]", sizes.filters))),
        None => None,
    };
    let read = Positions::operand(walk, source, 2)?;
    let axes = sizes.image.len() as i64;
    let count: i64 = sizes.image.iter().product();
    let images = walk.reshaped(x, &[sizes.batch, sizes.moved, sizes.channels / sizes.moved, count])?;
    let offsets = walk.reshaped(offsets, &[sizes.batch, sizes.moved, sizes.taps, axes, sizes.places])?;
    let each = (sizes.taps * axes * sizes.places) as usize;
    let mut results = Vec::with_capacity(sizes.batch as usize);
    for image in 0..sizes.batch {
        let mut columns = Vec::with_capacity(sizes.moved as usize);
        for group in 0..sizes.moved {
            let at = (image * sizes.moved + group) as usize * each;
            let of = |walk: &mut Walk<'p, '_>, from: Value| -> Result<Value, Error> {
                let first = walk.integers(DType::I64, &[], |_| image.into())?;
                let first = walk.op("Gather", &[from, first])?;
                let second = walk.integers(DType::I64, &[], |_| group.into())?;
                walk.op("Gather", &[first, second])
            };
            let (elements, moved) = (of(walk, images)?, of(walk, offsets)?);
            let mut column = samples(walk, elements, moved, (&read, at), &sizes)?;
            if let Some(mask) = mask {
                let mask = of(walk, mask)?;
                column = walk.op("Mul", &[column, mask])?;
            }
            columns.push(column);
            walk.check_size(|| "operator DeformConv".to_owned())?;
        }
        let columns = walk.joined(&columns, 0)?;
        results.push(filtered(walk, kernel, columns, bias, &sizes)?);
    }
    let y = if results.is_empty() {
        walk.reals(dtype, &[0, sizes.filters, sizes.places], |_| 0.0)?
    } else {
        walk.joined(&results, 0)?
    };
    let y = walk.reshaped(y, &[&[sizes.batch, sizes.filters], &sizes.after[..]].concat())?;
    let y = read.only_near(walk, y)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The kernel times the columns, group by group: [1, filters, places].
fn filtered(
    walk: &mut Walk<'_, '_>,
    kernel: Value,
    columns: Value,
    bias: Option<Value>,
    sizes: &Sizes,
) -> Result<Value, Error> {
    let (filters, depth) = (sizes.filters / sizes.groups, sizes.channels / sizes.groups);
    let kernel = walk.reshaped(kernel, &[sizes.filters, depth * sizes.taps])?;
    let columns = walk.reshaped(columns, &[sizes.channels * sizes.taps, sizes.places])?;
    let mut all = Vec::with_capacity(sizes.groups as usize);
    for group in 0..sizes.groups {
        let rows = walk.slice(kernel, 0, group * filters, (group + 1) * filters)?;
        let deep = depth * sizes.taps;
        let column = walk.slice(columns, 0, group * deep, (group + 1) * deep)?;
        let mut operands = vec![rows, column];
        if let Some(bias) = bias {
            operands.push(walk.slice(bias, 0, group * filters, (group + 1) * filters)?);
        }
        all.push(walk.op("Gemm", &operands)?);
        walk.check_size(|| "operator DeformConv".to_owned())?;
    }
    let all = walk.joined(&all, 0)?;
    walk.reshaped(all, &[1, sizes.filters, sizes.places])
}

/// The samples of all taps at all places, for each channel: [channels, taps · places]. What moves them was read from some number on.
fn samples(
    walk: &mut Walk<'_, '_>,
    elements: Value,
    moved: Value,
    (read, from): (&Positions, usize),
    sizes: &Sizes,
) -> Result<Value, Error> {
    let dtype = walk.ty(elements).dtype;
    let count = (sizes.taps * sizes.places) as usize;
    let mut all: Vec<Taps> = Vec::with_capacity(sizes.image.len());
    for (axis, &size) in sizes.image.iter().enumerate() {
        let at = walk.integers(DType::I64, &[], |_| axis as i128)?;
        let moved = walk.op_with("Gather", &Attributes::new().int("axis", 1), &[moved, at])?;
        let unmoved: Vec<f64> = (0..count as i64).map(|i| sizes.unmoved(axis, i) as f64).collect();
        let first = walk.reals(dtype, &[sizes.taps, sizes.places], |i| unmoved[i])?;
        let coordinates = walk.op("Add", &[first, moved])?;
        let ranges: Vec<Range> = unmoved
            .iter()
            .enumerate()
            .map(|(i, &first)| {
                let places = sizes.places as usize;
                let by = from + (i / places * sizes.image.len() + axis) * places + i % places;
                Range::near(first + read.numbers[by], first.abs(), read.doubt(by))
            })
            .collect();
        all.push(Taps::read(walk, coordinates, &ranges, size)?);
    }
    let around: usize = all.iter().map(|taps| taps.count).product();
    few(count.saturating_mul(around))?;
    let weights = together(walk, &all, count)?;
    let weights = walk.reshaped(weights, &[count as i64, around as i64])?;
    // By the number of a tap along all axes: its number along each, from the last to the first.
    let along = |i: usize| {
        let (sample, mut tap) = (i / around, i % around);
        all.iter().zip(&sizes.image).rev().map(move |(taps, &size)| {
            let number = sample * taps.count + tap % taps.count;
            tap /= taps.count;
            (taps, number, size)
        })
    };
    let places = walk.integers(DType::I64, &[count as i64, around as i64], |i| {
        let (mut place, mut stride) = (0, 1);
        for (taps, number, size) in along(i) {
            place += stride * taps.places[number];
            stride *= size;
        }
        place.into()
    })?;
    let is_taken = |i: usize| along(i).all(|(taps, at, _)| taps.are_taken[at] && taps.are_there[at]);
    let elements = walk.op_with("Gather", &Attributes::new().int("axis", 1), &[elements, places])?;
    weighed(walk, elements, weights, is_taken)
}

/// What taps along all axes weigh together, for so many samples: each axis has one of its own.
fn together(walk: &mut Walk<'_, '_>, all: &[Taps], count: usize) -> Result<Value, Error> {
    let mut weights = None;
    for (axis, taps) in all.iter().enumerate() {
        let shape: Vec<i64> = std::iter::once(count as i64)
            .chain((0..all.len()).map(|other| if other == axis { taps.count as i64 } else { 1 }))
            .collect();
        let of_axis = walk.reshaped(taps.weights, &shape)?;
        weights = Some(match weights {
            Some(weights) => walk.op("Mul", &[weights, of_axis])?,
            None => of_axis,
        });
    }
    weights.ok_or_else(|| Error::invalid("operand 0", "it has no axes of space"))
}

impl Sizes {
    /// Where a tap would be at a place if it were not moved, by the number of both.
    fn unmoved(&self, axis: usize, number: i64) -> i64 {
        let (mut tap, mut place) = (number / self.places, number % self.places);
        for later in (axis + 1..self.after.len()).rev() {
            tap /= self.window.kernel[later];
            place /= self.after[later];
        }
        let (tap, place) = (tap % self.window.kernel[axis], place % self.after[axis]);
        place * self.window.strides[axis] - self.window.pads[axis] + tap * self.window.dilations[axis]
    }
}

fn sizes(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    [x, kernel, offsets]: [Value; 3],
) -> Result<Sizes, Error> {
    let given = GivenAttributes::of(source);
    let stated = given.ints("kernel_shape");
    let (strides, pads, dilations) = (given.ints("strides"), given.ints("pads"), given.ints("dilations"));
    let (groups, moved) = (given.int("group", 1), given.int("offset_group", 1));
    given.finish()?;
    let [ty, kernel_ty, offset_ty] = [x, kernel, offsets].map(|value| walk.ty(value));
    if !matches!(ty.dtype, DType::F32 | DType::F64) {
        let why = format!("it is {ty}; coordinates are known in f32 and f64");
        return Err(Error::unsupported("operand 0", why));
    }
    let (&[batch, channels, ref image @ ..], &[filters, depth, ref shape @ ..]) =
        (&ty.shape[..], &kernel_ty.shape[..])
    else {
        return Err(misshapen(1, &kernel_ty, &format!("a kernel for {ty}")));
    };
    let axes = image.len();
    let is_divided = |number: i64, by: i64| by > 0 && number % by == 0;
    if axes == 0
        || shape.len() != axes
        || !is_divided(channels, groups)
        || !is_divided(filters, groups)
        || !is_divided(channels, moved)
        || depth != channels / groups
        || !stated.is_empty() && stated != shape
    {
        let why = format!("kernel {kernel_ty} is not one for {ty} in {groups} groups, {moved} of them moved");
        return Err(Error::invalid("operand 1", why));
    }
    // Without a channel there may be any number of groups.
    walk::few(batch, "operand 0", "images")?;
    walk::few(groups, "attribute `group`", "groups")?;
    walk::few(moved, "attribute `offset_group`", "groups")?;
    let window = Window::of(shape, strides, pads, dilations)?;
    let mut after = Vec::with_capacity(axes);
    for (axis, &size) in image.iter().enumerate().take(axes) {
        let reach = window.dilations[axis].saturating_mul(window.kernel[axis] - 1).saturating_add(1);
        let padded = size.saturating_add(window.pads[axis]).saturating_add(window.pads[axes + axis]);
        if reach > padded || size == 0 {
            return Err(Error::invalid("operand 1", format!("{kernel_ty} is larger than {ty}")));
        }
        after.push((padded - reach) / window.strides[axis] + 1);
    }
    let product = |sizes: &[i64]| sizes.iter().fold(1_i64, |all, &size| all.saturating_mul(size));
    let (taps, places) = (product(shape), product(&after));
    few(usize::try_from(taps.saturating_mul(places)).unwrap_or(usize::MAX))?;
    let wanted = [&[batch, moved.saturating_mul(taps).saturating_mul(axes as i64)], &after[..]].concat();
    if offset_ty.shape[..] != wanted[..] {
        return Err(misshapen(2, &offset_ty, &format!("{wanted:?}")));
    }
    let image = image.to_vec();
    Ok(Sizes { batch, channels, filters, groups, moved, image, after, taps, places, window })
}
