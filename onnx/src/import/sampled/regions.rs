//! RoiAlign: samples of regions, their mean or their largest.
//!
//! The text has the largest of the values that are interpolated. ONNX's reference implementation, its tests and ONNX
//! Runtime take the largest of what each of the elements around a sample gives to it. That is what our engines have;
//! where both differ, either is right. A sample beyond the image is 0, one at its edge on the edge.

use ir::{Attributes, DType, Value};

use super::{Positions, Range, Taps, few, weighed};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::terms::{misshapen, operands, there};
use crate::import::translation::{SourceNode, bind, given_value, need};
use crate::import::walk::Walk;

/// How many samples a part of a region may have along an axis.
const MOST_SAMPLES: f64 = 4096.0;

struct Settings {
    scale: f64,
    /// By how much coordinates are moved to the middles of elements.
    offset: f64,
    is_largest: bool,
    /// How many parts a region has, vertically and horizontally.
    parts: [i64; 2],
    /// How many samples there are along an axis of a part; 0 for as many as there are elements.
    samples: i64,
}

impl Settings {
    fn read(given: &GivenAttributes<'_>, declared: u32) -> Result<Self, Error> {
        // Opsets before 16 have no shift.
        let usual = if declared < 16 { "output_half_pixel" } else { "half_pixel" };
        let (shift, mode) = (given.text("coordinate_transformation_mode", usual), given.text("mode", "avg"));
        let offset = match shift.as_str() {
            "half_pixel" => 0.5,
            "output_half_pixel" => 0.0,
            other => {
                let why = format!("there is no {other}");
                return Err(Error::invalid("attribute `coordinate_transformation_mode`", why));
            }
        };
        let is_largest = match mode.as_str() {
            "avg" => false,
            "max" => true,
            other => return Err(Error::invalid("attribute `mode`", format!("there is no mode {other}"))),
        };
        let parts = [given.int("output_height", 1), given.int("output_width", 1)];
        let samples = given.int("sampling_ratio", 0);
        let scale = f64::from(given.float("spatial_scale").unwrap_or(1.0));
        let is_some = |count: &i64| (1..=1 << 16).contains(count);
        if !parts.iter().all(is_some) || !(0.0..=MOST_SAMPLES).contains(&(samples as f64)) {
            let why = format!("{parts:?} parts with {samples} samples along an axis");
            return Err(Error::unsupported("attributes", why));
        }
        Ok(Self { scale, offset, is_largest, parts, samples })
    }
}

pub(super) fn align<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<3>(walk, source)?;
    let [x, regions, of] = [there(&operands, 0)?, there(&operands, 1)?, there(&operands, 2)?];
    let given = GivenAttributes::of(source);
    let settings = Settings::read(&given, walk.context.declared)?;
    given.finish()?;
    let (ty, region_ty, of_ty) = (walk.ty(x), walk.ty(regions), walk.ty(of));
    if !matches!(ty.dtype, DType::F32 | DType::F64) {
        let why = format!("it is {ty}; coordinates are known in f32 and f64");
        return Err(Error::unsupported("operand 0", why));
    }
    let &[batch, channels, height, width] = &ty.shape[..] else {
        return Err(misshapen(0, &ty, "of batch, channels, height and width"));
    };
    let (&[count, 4], &[each]) = (&region_ty.shape[..], &of_ty.shape[..]) else {
        return Err(misshapen(1, &region_ty, &format!("4 numbers for each of {of_ty}")));
    };
    if count != each || height < 1 || width < 1 {
        return Err(misshapen(2, &of_ty, &format!("one number for each of {region_ty}, in {ty}")));
    }
    let mut read = Positions::operand(walk, source, 1)?;
    let (images, from) = walk.read(need(source.node, 2)?)?;
    let images = images.to_i128s();
    if read.numbers.iter().any(|corner| !corner.is_finite()) {
        return Err(Error::unsupported("operand 1", "not all of it are finite numbers"));
    }
    let has_samples = |read: &Positions| {
        (0..count as usize).all(|i| {
            let ends = ends(corners(read, i), &settings);
            let mut axes = ends.into_iter().zip([height, width]).zip(settings.parts);
            axes.all(|((ends, size), parts)| Placed::of(ends, size, parts, &settings).is_ok())
        })
    };
    if read.off > 0.0 && !has_samples(&read) {
        read = read.taken_exactly();
    }
    let mut all = Vec::with_capacity(count as usize);
    for (i, &image) in images.iter().enumerate() {
        if !(0..i128::from(batch)).contains(&image) {
            return Err(Error::invalid("operand 2", format!("there is no image {image} of {batch}")));
        }
        let at = walk.integers(DType::I64, &[], |_| image)?;
        let image = walk.op("Gather", &[x, at])?;
        let image = walk.reshaped(image, &[channels, height * width])?;
        let row = walk.integers(DType::I64, &[], |_| i as i128)?;
        let region = walk.op("Gather", &[regions, row])?;
        let y = aligned(walk, image, [height, width], (region, corners(&read, i)), &settings)?;
        all.push(walk.reshaped(y, &[1, channels, settings.parts[0], settings.parts[1]])?);
        walk.check_size(|| "operator RoiAlign".to_owned())?;
    }
    let y = if all.is_empty() {
        walk.reals(ty.dtype, &[0, channels, settings.parts[0], settings.parts[1]], |_| 0.0)?
    } else {
        walk.joined(&all, 0)?
    };
    let y = read.only_near(walk, y)?;
    let y = given_value(walk, y, from.as_slice())?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// A number that a region begins or ends with, and how far implementations may be from it.
#[derive(Clone, Copy)]
struct Corner {
    at: f64,
    doubt: f64,
}

/// Which corners are the ends along each axis.
const ENDS: [[usize; 2]; 2] = [[1, 3], [0, 2]];

/// The corners of a region, of these positions.
fn corners(read: &Positions, region: usize) -> [Corner; 4] {
    [0, 1, 2, 3].map(|corner| {
        let at = 4 * region + corner;
        Corner { at: read.numbers[at], doubt: read.doubt(at) }
    })
}

/// The ends of a region along each axis, in elements.
fn ends(corners: [Corner; 4], settings: &Settings) -> [[Corner; 2]; 2] {
    let end = |corner: usize| {
        let Corner { at, doubt } = corners[corner];
        Corner { at: at * settings.scale - settings.offset, doubt: doubt * settings.scale.abs() }
    };
    ENDS.map(|ends| ends.map(end))
}

/// The samples along an axis of a region.
struct Samples {
    /// How many there are in each part.
    each: i64,
    taps: Taps,
}

/// The parts of a region: for each channel, one number for each.
fn aligned(
    walk: &mut Walk<'_, '_>,
    image: Value,
    sizes: [i64; 2],
    (region, corners): (Value, [Corner; 4]),
    settings: &Settings,
) -> Result<Value, Error> {
    let dtype = walk.ty(image).dtype;
    let (scale, offset) = (walk.real(dtype, settings.scale)?, walk.real(dtype, settings.offset)?);
    let scaled = walk.op("Mul", &[region, scale])?;
    let moved = walk.op("Sub", &[scaled, offset])?;
    let ends = ends(corners, settings);
    let mut axes = Vec::with_capacity(2);
    for (axis, [first, last]) in ENDS.into_iter().enumerate() {
        let node = |walk: &mut Walk<'_, '_>, i: usize| walk.slice(moved, 0, i as i64, i as i64 + 1);
        let nodes = [node(walk, first)?, node(walk, last)?];
        axes.push(samples(walk, nodes, ends[axis], sizes[axis], settings.parts[axis], settings)?);
    }
    let [rows, columns] = [&axes[0], &axes[1]];
    let channels = walk.ty(image).shape[0];
    let [high, wide] = settings.parts;
    if rows.each == 0 || columns.each == 0 {
        return walk.reals(dtype, &[channels, high * wide], |_| 0.0);
    }
    let [tall, broad] = [rows, columns].map(|axis| axis.taps.count as i64);
    let each = rows.each * columns.each * tall * broad;
    few((high * wide).saturating_mul(each) as usize)?;
    let weights = crossed(walk, rows, columns, settings.parts)?;
    let weights = walk.reshaped(weights, &[high * wide, each])?;
    // The numbers of a tap along both axes, by its number in all.
    let taps = |i: usize| {
        let (part, within) = (i as i64 / each, i as i64 % each);
        let (tap, sample) = (within % (tall * broad), within / (tall * broad));
        let row = (part / wide * rows.each + sample / columns.each) * tall + tap / broad;
        let column = (part % wide * columns.each + sample % columns.each) * broad + tap % broad;
        [row as usize, column as usize]
    };
    let shape = [high * wide, each];
    let places = walk.integers(DType::I64, &shape, |i| {
        let [row, column] = taps(i);
        (rows.taps.places[row] * sizes[1] + columns.taps.places[column]).into()
    })?;
    let are_taken = |i: usize| {
        let [row, column] = taps(i);
        rows.taps.are_taken[row] && columns.taps.are_taken[column]
    };
    let elements = walk.op_with("Gather", &Attributes::new().int("axis", 1), &[image, places])?;
    if settings.is_largest {
        let are_around = |i: usize| {
            let [row, column] = taps(i);
            rows.taps.are_around[row] && columns.taps.are_around[column]
        };
        // Of two taps on each axis, every one is.
        let are_around = (tall > 2 || broad > 2).then_some(are_around);
        let apart = [high * wide, rows.each * columns.each, tall * broad];
        return largest(walk, [elements, weights], apart, are_around, are_taken);
    }
    let sums = weighed(walk, elements, weights, are_taken)?;
    let count = walk.real(dtype, (rows.each * columns.each) as f64)?;
    walk.op("Div", &[sums, count])
}

/// What taps along both axes weigh together: in each part, of each sample, each tap.
fn crossed(
    walk: &mut Walk<'_, '_>,
    rows: &Samples,
    columns: &Samples,
    [high, wide]: [i64; 2],
) -> Result<Value, Error> {
    let [tall, broad] = [rows, columns].map(|axis| axis.taps.count as i64);
    let by_row = walk.reshaped(rows.taps.weights, &[high, 1, rows.each, 1, tall, 1])?;
    let by_column = walk.reshaped(columns.taps.weights, &[1, wide, 1, columns.each, 1, broad])?;
    walk.op("Mul", &[by_row, by_column])
}

/// The largest of the samples, or of what each of the elements around them gives. `apart` are the parts, the samples of
/// each and the taps of each of these; taps may be around a sample or not, and are where that is not asked.
fn largest(
    walk: &mut Walk<'_, '_>,
    [elements, weights]: [Value; 2],
    apart: [i64; 3],
    are_around: Option<impl Fn(usize) -> bool>,
    are_taken: impl Fn(usize) -> bool,
) -> Result<Value, Error> {
    let (ty, channels) = (walk.ty(weights), walk.ty(elements).shape[0]);
    let mut products = walk.op("Mul", &[elements, weights])?;
    // A weight of 0 gives 0, which counts where an element may be around a sample, and only there.
    if let Some(are_around) = are_around {
        let around = walk.integers(DType::Bool, &ty.shape, |i| are_around(i).into())?;
        let least = walk.real(ty.dtype, f64::NEG_INFINITY)?;
        products = walk.op("Where", &[around, products, least])?;
    }
    let largest = Attributes::new().ints("axes", &[-1]).int("keepdims", 0);
    let of_elements = walk.op_with("ReduceMax", &largest, &[products])?;
    let elements = walk.reshaped(elements, &[&[channels], &apart[..]].concat())?;
    let weights = walk.reshaped(weights, &apart)?;
    let sums = weighed(walk, elements, weights, are_taken)?;
    let of_samples = walk.op_with("ReduceMax", &largest, &[sums])?;
    walk.either(of_elements, of_samples)
}

/// How many samples each of some parts has along an axis between two ends, where the number hangs on the length.
fn samples_of((ends, moved): ([f64; 2], f64), length: f64, parts: i64, offset: f64) -> Result<i64, Error> {
    let count = length / parts as f64;
    // Where all numbers on the way are stored as they are, nothing is rounded.
    let is_stored = |number: &f64| f64::from(*number as f32) == *number;
    let on_the_way = [ends[0], ends[1], ends[0] + offset, ends[1] + offset, length, count];
    let range = if moved == 0.0 && on_the_way.iter().all(is_stored) {
        Range { low: count, high: count }
    } else {
        Range::near(count, ends[0].abs() + ends[1].abs() + offset, moved)
    };
    let counts = [range.low, range.high].map(|count| count.ceil().max(0.0));
    if counts[0] != counts[1] || counts[1] > MOST_SAMPLES {
        let why = format!("how many samples {length} elements in {parts} parts have");
        return Err(Error::unsupported("operand 1", format!("{why} hangs on how it is rounded")));
    }
    if counts[0] == 0.0 {
        let why = format!("{length} elements have no samples, whose mean ONNX does not say");
        return Err(Error::unsupported("operand 1", why));
    }
    Ok(counts[0] as i64)
}

/// Where the samples along an axis are.
struct Placed {
    /// How many there are in each part.
    each: i64,
    ranges: Vec<Range>,
    /// Which of them are not beyond the image.
    counts: Vec<bool>,
}

impl Placed {
    /// Those between two ends. Refused where implementations may have other samples.
    fn of(ends: [Corner; 2], size: i64, parts: i64, settings: &Settings) -> Result<Self, Error> {
        // A sample is moved with the start and by a part of the length, which is moved with both.
        let moved = 2.0 * ends[0].doubt + ends[1].doubt;
        let ends = ends.map(|end| end.at);
        let length = if settings.offset == 0.0 { (ends[1] - ends[0]).max(1.0) } else { ends[1] - ends[0] };
        let reach = ends[0].abs() + ends[1].abs() + settings.offset;
        let each = match settings.samples {
            0 => samples_of((ends, moved), length, parts, settings.offset)?,
            each => each,
        };
        let all = (parts * each) as usize;
        few(all)?;
        let (step, start) = (length / parts as f64, ends[0]);
        let exact = |i: usize| {
            let (part, sample) = (i as i64 / each.max(1), i as i64 % each.max(1));
            start + part as f64 * step + (sample as f64 + 0.5) * step / each as f64
        };
        let last = (size - 1) as f64;
        let (mut ranges, mut counts) = (Vec::with_capacity(all), Vec::with_capacity(all));
        for range in (0..all).map(|i| Range::near(exact(i), reach, moved)) {
            let is_inside = |coordinate: f64| (-1.0..=size as f64).contains(&coordinate);
            if is_inside(range.low) != is_inside(range.high) {
                let why = "whether a sample is beyond the image hangs on how it is rounded";
                return Err(Error::unsupported("operand 1", why));
            }
            counts.push(is_inside(range.low));
            ranges.push(range.clamped(0.0, last));
        }
        Ok(Self { each, ranges, counts })
    }
}

/// The samples along an axis between two ends, of which there are nodes and what these give.
fn samples(
    walk: &mut Walk<'_, '_>,
    nodes: [Value; 2],
    ends: [Corner; 2],
    size: i64,
    parts: i64,
    settings: &Settings,
) -> Result<Samples, Error> {
    let dtype = walk.ty(nodes[0]).dtype;
    let mut length_node = walk.op("Sub", &[nodes[1], nodes[0]])?;
    if settings.offset == 0.0 {
        let one = walk.real(dtype, 1.0)?;
        length_node = walk.op("Max", &[length_node, one])?;
    }
    let Placed { each, ranges, counts } = Placed::of(ends, size, parts, settings)?;
    let (all, last) = (ranges.len(), (size - 1) as f64);
    let (count, parts_node) = (walk.real(dtype, each.max(1) as f64)?, walk.real(dtype, parts as f64)?);
    let width = walk.op("Div", &[length_node, parts_node])?;
    let part = walk.reals(dtype, &[all as i64], |i| (i as i64 / each.max(1)) as f64)?;
    let middle = walk.reals(dtype, &[all as i64], |i| (i as i64 % each.max(1)) as f64 + 0.5)?;
    let of_part = walk.op("Mul", &[part, width])?;
    let begin = walk.op("Add", &[nodes[0], of_part])?;
    let within = walk.op("Mul", &[middle, width])?;
    let within = walk.op("Div", &[within, count])?;
    let coordinates = walk.op("Add", &[begin, within])?;
    let (zero, last) = (walk.real(dtype, 0.0)?, walk.real(dtype, last)?);
    let coordinates = walk.op("Clip", &[coordinates, zero, last])?;
    let taps = Taps::read(walk, coordinates, &ranges, size)?.only(walk, &counts)?;
    Ok(Samples { each, taps })
}
