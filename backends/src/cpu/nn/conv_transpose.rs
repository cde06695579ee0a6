//! ConvTranspose: each element is added, times each weight, where the window puts it; what falls on the padding is dropped.

use ops::nn::ConvTranspose;
use ops::nn::window::AutoPad;

use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, dispatch_real};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: &ConvTranspose, c: &Call<'_>) -> Outputs {
    dispatch_real!(c.dtype(0)?, T => spread::<T>(op, c))
}

/// One spatial axis of the results: where a cell puts an element.
struct Axis {
    input: usize,
    kernel: usize,
    output: usize,
    stride: usize,
    dilation: usize,
    /// How many results are cut off at the beginning.
    begin: usize,
}

impl Axis {
    fn place(&self, element: usize, cell: usize) -> Option<usize> {
        let at = (element * self.stride + cell * self.dilation).checked_sub(self.begin)?;
        (at < self.output).then_some(at)
    }
}

/// The axes of a use whose operands have these spatial sizes.
fn axes(op: &ConvTranspose, input: &[usize], kernel: &[usize], output: &[usize]) -> Vec<Axis> {
    let listed =
        |list: &[i64], i: usize, default: i64| list.get(i).copied().unwrap_or(default).max(0) as usize;
    let states = op.output_shape.as_ref().is_some_and(|sizes| !sizes.is_empty());
    let added = op.output_padding.as_deref().unwrap_or_default();
    let axis = |i: usize| {
        let (stride, dilation) = (listed(&op.window.strides, i, 1), listed(&op.window.dilations, i, 1));
        let reach = (input[i].max(1) - 1) * stride + (kernel[i].max(1) - 1) * dilation + 1;
        let surplus = (reach + listed(added, i, 0)).saturating_sub(output[i]);
        let begin = match op.window.auto_pad {
            AutoPad::SameUpper => surplus / 2,
            AutoPad::SameLower => surplus.div_ceil(2),
            AutoPad::NotSet | AutoPad::Valid if states => surplus.div_ceil(2),
            AutoPad::NotSet => listed(&op.window.pads, i, 0),
            AutoPad::Valid => 0,
        };
        Axis { input: input[i], kernel: kernel[i], output: output[i], stride, dilation, begin }
    };
    (0..input.len()).map(axis).collect()
}

/// An element, a cell and the result where one puts the other, numbered in row-major order.
struct Meeting {
    element: usize,
    cell: usize,
    place: usize,
}

fn meetings(axes: &[Axis]) -> Vec<Meeting> {
    let mut all = vec![Meeting { element: 0, cell: 0, place: 0 }];
    for axis in axes {
        let mut next = Vec::new();
        for outer in &all {
            for element in 0..axis.input {
                next.extend((0..axis.kernel).filter_map(|cell| {
                    Some(Meeting {
                        element: outer.element * axis.input + element,
                        cell: outer.cell * axis.kernel + cell,
                        place: outer.place * axis.output + axis.place(element, cell)?,
                    })
                }));
            }
        }
        all = next;
    }
    all
}

fn spread<T: Float>(op: &ConvTranspose, c: &Call<'_>) -> Outputs {
    let (x, w) = (c.loaded::<T>(0)?, c.loaded::<T>(1)?);
    let bias = c.opt(2).map(|_| c.loaded::<T>(2)).transpose()?;
    let (input, kernel, output) = (c.shape(0)?, c.shape(1)?, c.output(0)?.extents());
    let groups = usize::try_from(op.group).unwrap_or(0);
    if input.len() < 2 || kernel.len() != input.len() || output.len() != input.len() || groups == 0 {
        return Err(CpuError::Invalid("its operands have not the ranks of a convolution"));
    }
    let meetings = meetings(&axes(op, &input[2..], &kernel[2..], &output[2..]));
    let [area, cells, places] =
        [&input[2..], &kernel[2..], &output[2..]].map(|s| s.iter().product::<usize>());
    let (channels, maps) = (input[1], kernel[1]);
    let per_group = channels / groups;
    let mut y: Vec<T::Work> = Vec::with_capacity(output.iter().product());
    for _ in 0..output[0] {
        for map in 0..output[1] {
            let initial = bias.as_ref().map_or(Number::ZERO, |bias| bias[map]);
            y.resize(y.len() + places, initial);
        }
    }
    for image in 0..input[0] {
        for channel in 0..channels {
            let x = &x[(image * channels + channel) * area..][..area];
            for map in 0..maps {
                let w = &w[(channel * maps + map) * cells..][..cells];
                let to = image * output[1] + channel / per_group * maps + map;
                let y = &mut y[to * places..][..places];
                for m in &meetings {
                    y[m.place] = y[m.place].add(x[m.element].mul(w[m.cell]));
                }
            }
        }
    }
    c.only_numbers::<T>(y)
}
