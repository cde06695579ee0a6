//! Images: sizes, grids, windows and regions.

use ir::{DType, DTypes};

use super::piece::Piece;
use super::{Composite, REALS};

const F32_F64: DTypes = DTypes::of(&[DType::F32, DType::F64]);

pub(super) const ALL: &[Composite] = &[
    Composite::new("Resize", 13, REALS, resize),
    Composite::new("AffineGrid", 20, REALS, affine_grid),
    Composite::new("CenterCropPad", 18, DTypes::IR4, center_crop_pad),
    Composite::new("Col2Im", 18, DTypes::IR4.without(DType::Bool), col2im),
    Composite::new("MaxUnpool", 13, REALS, max_unpool),
    Composite::new("RoiAlign", 16, F32_F64, roi_align),
    Composite::new("DeformConv", 19, F32_F64, deform_conv),
];

/// The most elements of what Resize makes where all axes keep their ratio.
const MOST_RESIZED: f64 = 2048.0;

/// A few axes, of which the last two or three get other sizes.
fn resize(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let x = p.any(dtype, 1..=5);
    let way = way_of_resize(p, dtype)?;
    let rank = x.rank();
    let changed = (rank as i64).min(p.size(1..=2)) as usize;
    let is_of_some = p.opset >= 18 && p.chance(0.4);
    if is_of_some {
        p.ints("axes", &(rank - changed..rank).map(|axis| axis as i64).collect::<Vec<_>>());
    }
    let told = if is_of_some { changed } else { rank };
    let first = rank - told;
    if way == "tf_crop_and_resize" {
        let regions = (0..2 * told).map(|i| if i < told { 0.25 } else { 0.75 }).collect::<Vec<_>>();
        p.reals(dtype, &[2 * told as i64], &regions);
        p.float("extrapolation_value", 1.5);
    } else {
        p.absent();
    }
    let is_kept = |axis: usize| axis < rank - changed;
    // Whether a scale is that of a part or of the whole, nobody says.
    if way != "tf_crop_and_resize" && p.chance(0.5) {
        let mut scales = Vec::new();
        for axis in first..rank {
            // Sizes are whole, so that nobody need round them.
            let size = x.shape[axis];
            let to = p.size(1..=2 * size.max(1));
            let is_exact = (size & (size - 1)) == 0 && size > 0;
            scales.push(match (is_kept(axis), is_exact) {
                (true, _) => 1.0,
                (false, true) => to as f64 / size as f64,
                (false, false) => p.choose(&[1.0, 2.0])?,
            });
        }
        p.reals(DType::F32, &[told as i64], &scales);
    } else {
        p.absent();
        let mut sizes = Vec::new();
        for axis in first..rank {
            sizes.push(if is_kept(axis) { x.shape[axis] } else { p.size(1..=9) });
        }
        p.list(&sizes);
        if p.opset >= 18 && p.chance(0.3) {
            let ratios = sizes.iter().zip(&x.shape[first..]).map(|(&to, &from)| to as f64 / from as f64);
            let largest =
                ratios.fold(1.0, f64::max).powi(told as i32) * x.shape.iter().product::<i64>() as f64;
            // Every axis grows as much as the one that grows most: five axes by seven are 16,807 times as many elements.
            let is_small = largest <= MOST_RESIZED;
            let policies = ["stretch", "not_larger", "not_smaller"];
            p.word("keep_aspect_ratio_policy", &policies[..if is_small { 3 } else { 2 }])?;
        }
    }
    Some(())
}

/// What lies between elements and where these lie: the words for it. Gives how coordinates become others.
fn way_of_resize(p: &mut Piece<'_>, dtype: DType) -> Option<&'static str> {
    // What lies between elements has no bound in f16.
    let modes: &[&str] = if dtype == DType::F16 { &["nearest"] } else { &["nearest", "linear", "cubic"] };
    let mode = p.word("mode", modes)?;
    let mut ways =
        vec!["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_crop_and_resize"];
    if p.opset >= 19 {
        ways.push("half_pixel_symmetric");
    }
    let way = p.word("coordinate_transformation_mode", &ways)?;
    if mode == "nearest" {
        p.word("nearest_mode", &["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])?;
    }
    if mode == "cubic" && p.chance(0.4) {
        p.float("cubic_coeff_a", -0.5);
    }
    if mode != "nearest" {
        if p.chance(0.2) {
            p.int("exclude_outside", i64::from(mode == "cubic"));
        }
        if p.opset >= 18 && p.chance(0.3) {
            p.int("antialias", 1);
        }
    }
    Some(way)
}

fn affine_grid(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let axes = p.size(2..=3);
    let batch = p.size(1..=2);
    p.of(dtype, &[batch, axes, axes + 1]);
    let mut size = vec![batch, p.size(1..=2)];
    let aligns = p.flag("align_corners");
    // Where both corners of an axis of one element are, nobody says.
    let least = if aligns { 2 } else { 1 };
    (0..axes).for_each(|_| size.push(p.size(least..=4)));
    p.list(&size);
    Some(())
}

fn center_crop_pad(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let x = p.any(dtype, 1..=4);
    let rank = x.rank() as i64;
    let axes: Vec<i64> = if p.chance(0.5) {
        let axis = p.size(0..=rank - 1);
        let axis = if p.chance(0.4) { axis - rank } else { axis };
        p.ints("axes", &[axis]);
        vec![axis]
    } else {
        (0..rank).collect()
    };
    let shape: Vec<i64> = axes.iter().map(|_| p.size(1..=7)).collect();
    p.list(&shape);
    Some(())
}

/// Blocks of an image of one or two axes, added up where they overlap.
fn col2im(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let axes = p.size(1..=2) as usize;
    let [mut image, mut block, mut strides, mut dilations, mut pads] = [const { Vec::new() }; 5];
    for _ in 0..axes {
        image.push(p.size(2..=5));
        block.push(p.size(1..=2));
        strides.push(p.size(1..=2));
        dilations.push(p.size(1..=2));
        pads.push(p.size(0..=1));
    }
    let blocks: i64 = (0..axes)
        .map(|i| (image[i] + 2 * pads[i] - dilations[i] * (block[i] - 1) - 1) / strides[i] + 1)
        .product();
    if blocks < 1 {
        return None;
    }
    let (batch, channels) = (p.size(1..=2), p.size(1..=2));
    p.of(dtype, &[batch, channels * block.iter().product::<i64>(), blocks]);
    p.list(&image);
    p.list(&block);
    p.ints("strides", &strides);
    p.ints("dilations", &dilations);
    p.ints("pads", &[pads.clone(), pads].concat());
    Some(())
}

/// A window of MaxUnpool on an axis.
#[derive(Clone, Copy)]
struct Window {
    kernel: i64,
    stride: i64,
    pad: i64,
}

impl Window {
    /// That of an axis which is not pooled.
    const ONE: Self = Self { kernel: 1, stride: 1, pad: 0 };

    /// One in which places are that no other window has, and that are no padding.
    fn drawn(p: &mut Piece<'_>) -> Self {
        let (kernel, stride) = (p.size(1..=3), p.size(1..=3));
        let pad = i64::from(kernel == 3 && stride > 1 && p.chance(0.5));
        Self { kernel, stride, pad }
    }

    /// How long the axis is that so many windows come from.
    const fn reach(self, windows: i64) -> i64 {
        (windows - 1) * self.stride + self.kernel - 2 * self.pad
    }

    /// A place that the window of a number has for itself.
    fn place(self, p: &mut Piece<'_>, number: i64) -> i64 {
        let last = (self.kernel - 1 - self.pad).min(self.stride - 1);
        number * self.stride + p.size(self.pad..=last) - self.pad
    }
}

/// Maxima back to places that windows could have had them at.
fn max_unpool(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let axes = p.size(1..=3);
    let mut shape = vec![p.size(1..=2), p.size(1..=2)];
    let mut windows = vec![Window::ONE; 2];
    for _ in 0..axes {
        shape.push(p.size(1..=3));
        windows.push(Window::drawn(p));
    }
    p.of(dtype, &shape);
    let sizes: Vec<i64> =
        windows.iter().zip(&shape).map(|(window, &windows)| window.reach(windows)).collect();
    let mut indices = Vec::new();
    for element in 0..shape.iter().product() {
        let (mut rest, mut stride, mut index) = (element, 1, 0);
        for (axis, window) in windows.iter().enumerate().rev() {
            index += stride * window.place(p, rest % shape[axis]);
            stride *= sizes[axis];
            rest /= shape[axis];
        }
        indices.push(index);
    }
    p.integers(DType::I64, &shape, &indices);
    let is_padded = windows.iter().any(|window| window.pad > 0);
    // With pads, nobody says where in a larger result the places are.
    if !is_padded && p.chance(0.4) {
        let larger: Vec<i64> = sizes
            .iter()
            .enumerate()
            .map(|(axis, size)| if axis < 2 { *size } else { size + p.size(0..=2) })
            .collect();
        p.list(&larger);
    }
    let each = |of: fn(&Window) -> i64| windows[2..].iter().map(of).collect::<Vec<_>>();
    let (kernels, strides, pads) = (each(|w| w.kernel), each(|w| w.stride), each(|w| w.pad));
    p.ints("kernel_shape", &kernels);
    if strides.iter().any(|&stride| stride > 1) || p.chance(0.5) {
        p.ints("strides", &strides);
    }
    if is_padded || p.chance(0.3) {
        p.ints("pads", &[pads.clone(), pads].concat());
    }
    Some(())
}

/// Regions with corners between elements, so that nobody's rounding decides which of them are met.
fn roi_align(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, channels, height, width) = (p.size(1..=2), p.size(1..=2), p.size(2..=5), p.size(2..=5));
    p.of(dtype, &[batch, channels, height, width]);
    let count = p.size(1..=3);
    let mut corners = Vec::new();
    for _ in 0..count {
        let (left, top) = (p.size(0..=4) as f64 / 4.0 + 0.125, p.size(0..=4) as f64 / 4.0 + 0.125);
        let (wide, high) = (p.size(4..=12) as f64 / 4.0, p.size(4..=12) as f64 / 4.0);
        corners.extend([left, top, left + wide, top + high]);
    }
    p.reals(dtype, &[count, 4], &corners);
    let images: Vec<i64> = (0..count).map(|_| p.size(0..=batch - 1)).collect();
    p.integers(DType::I64, &[count], &images);
    p.word("mode", &["avg", "max"])?;
    p.word("coordinate_transformation_mode", &["half_pixel", "output_half_pixel"])?;
    let (rows, columns) = (p.size(1..=3), p.size(1..=3));
    p.int("output_height", rows);
    p.int("output_width", columns);
    let samples = p.size(0..=3);
    p.int("sampling_ratio", samples);
    if p.chance(0.5) {
        p.float("spatial_scale", 0.5);
    }
    Some(())
}

fn deform_conv(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let group = p.size(1..=2);
    let offset_group = p.size(1..=2);
    let channels = 2 * p.size(1..=2);
    let (height, width, kernel) = (p.size(2..=4), p.size(2..=4), p.size(1..=2));
    let (pad, stride) = (p.size(0..=1), p.size(1..=2));
    let dilation = if p.chance(0.4) { 2 } else { 1 };
    let batch = p.count(1..=2);
    p.of(dtype, &[batch, channels, height, width]);
    let filters = group * p.size(1..=2);
    p.of(dtype, &[filters, channels / group, kernel, kernel]);
    let room = |size: i64| size + 2 * pad - dilation * (kernel - 1) - 1;
    if room(height.min(width)) < 0 {
        return None;
    }
    let [rows, columns] = [height, width].map(|size| room(size) / stride + 1);
    // Which elements are met hangs on the offsets: constants, and none at an element itself.
    let shape = [batch, offset_group * kernel * kernel * 2, rows, columns];
    let count: i64 = shape.iter().product();
    let offsets: Vec<f64> = p.quarters(count).into_iter().map(|offset| f64::from(offset) + 0.125).collect();
    p.reals(dtype, &shape, &offsets);
    p.perhaps(0.5, dtype, &[filters]);
    if p.chance(0.4) {
        p.of(dtype, &[batch, offset_group * kernel * kernel, rows, columns]);
    }
    p.int("group", group);
    p.int("offset_group", offset_group);
    p.ints("kernel_shape", &[kernel, kernel]);
    p.ints("pads", &[pad; 4]);
    p.ints("strides", &[stride, stride]);
    if dilation > 1 {
        p.ints("dilations", &[dilation, dilation]);
    }
    Some(())
}
