//! The sliding window that convolution and pooling share: where it starts, how it steps, where it may overhang.

use ir::{Attributes, BadAttribute, Dim, Sym, Type};
use ndarray::Dimension;

use crate::attributes::{self, Part};
use crate::draw::Draw;
use crate::operator::{Effort, operand};
use crate::rule::{Check, Reject, Rule, accepted};

/// How padding is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AutoPad {
    /// By the `pads` attribute.
    NotSet,
    /// So that the output has ⌈input / stride⌉ positions; an odd cell goes to the end.
    SameUpper,
    /// As `SameUpper`, but an odd cell goes to the beginning.
    SameLower,
    /// No padding.
    Valid,
}

impl AutoPad {
    /// Whether the padding follows from the number of positions.
    pub const fn is_same(self) -> bool {
        matches!(self, Self::SameUpper | Self::SameLower)
    }
}

/// ONNX's names.
const AUTO_PADS: &[(&str, AutoPad)] = &[
    ("NOTSET", AutoPad::NotSet),
    ("SAME_UPPER", AutoPad::SameUpper),
    ("SAME_LOWER", AutoPad::SameLower),
    ("VALID", AutoPad::Valid),
];

/// A window over n spatial axes. An empty list of strides or dilations means 1 everywhere, of pads 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Window<D = i64> {
    /// How padding is chosen.
    pub auto_pad: AutoPad,
    /// The distance between positions, by axis.
    pub strides: Vec<D>,
    /// The distance between cells, by axis.
    pub dilations: Vec<D>,
    /// Cells added before each axis, then after each axis.
    pub pads: Vec<D>,
    /// Whether a last position may overhang the padded input.
    pub ceil_mode: bool,
}

/// One spatial axis of a window, in plain numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axis {
    /// The distance between positions.
    pub stride: i64,
    /// The distance between cells.
    pub dilation: i64,
    /// Cells added before.
    pub begin: i64,
    /// Cells added after.
    pub end: i64,
}

impl Axis {
    /// The cells of a kernel that do not fall on padding at a position.
    fn taps(self, position: i64, input: i64, kernel: i64) -> Vec<Tap> {
        let at = |cell: i64| position * self.stride - self.begin + cell * self.dilation;
        let is_inside = |&cell: &i64| (0..input).contains(&at(cell));
        let tap = |cell: i64| Tap { input: at(cell) as usize, cell: cell as usize };
        (0..kernel).filter(is_inside).map(tap).collect()
    }
}

impl<D: Dim> Window<D> {
    /// This window with its sizes in another number system.
    pub fn map<E: Dim>(&self, f: &mut dyn FnMut(D) -> E) -> Window<E> {
        let mut all = |list: &[D]| list.iter().map(|&d| f(d)).collect();
        Window {
            auto_pad: self.auto_pad,
            strides: all(&self.strides),
            dilations: all(&self.dilations),
            pads: all(&self.pads),
            ceil_mode: self.ceil_mode,
        }
    }

    /// The distance between positions on an axis.
    pub fn stride(&self, axis: usize) -> D {
        self.strides.get(axis).copied().unwrap_or_else(|| D::from(1))
    }

    /// The distance between cells on an axis.
    pub fn dilation(&self, axis: usize) -> D {
        self.dilations.get(axis).copied().unwrap_or_else(|| D::from(1))
    }

    /// The cells added before and after an axis, as `pads` says.
    pub fn pads(&self, axis: usize) -> [D; 2] {
        let after = self.pads.len() / 2;
        [axis, after + axis].map(|i| self.pads.get(i).copied().unwrap_or_else(|| D::from(0)))
    }

    /// The number of positions on each spatial axis, for inputs and kernels of these sizes.
    pub fn positions(&self, r: &mut dyn Rule<D>, input: &[D], kernel: &[D]) -> Result<Vec<D>, Reject> {
        let n = input.len();
        length("kernel_shape", kernel.len(), n)?;
        for (name, list, wanted) in
            [("strides", &self.strides, n), ("dilations", &self.dilations, n), ("pads", &self.pads, 2 * n)]
        {
            if !list.is_empty() {
                length(name, list.len(), wanted)?;
            }
        }
        (0..n).map(|i| self.positions_on(r, i, input[i], kernel[i])).collect()
    }

    /// Seeks pads within the kernel, so that windows reach into the input: for pooling, which has nothing to say of padding
    /// alone. The text allows others; whether a window sees nothing is for [`misses`](Window::misses) to say.
    pub fn reach_in(&self, r: &mut dyn Rule<D>, kernel: &[D]) -> Result<(), Reject> {
        let one = D::from(1);
        for (i, &pad) in self.pads.iter().enumerate() {
            let axis = i % kernel.len().max(1);
            r.seek_le(pad, (kernel[axis] - one) * self.dilation(axis))?;
        }
        Ok(())
    }

    fn positions_on(&self, r: &mut dyn Rule<D>, i: usize, input: D, kernel: D) -> Result<D, Reject> {
        let one = D::from(1);
        let (stride, dilation, [begin, end]) = (self.stride(i), self.dilation(i), self.pads(i));
        for positive in [kernel, stride, dilation] {
            r.le(one, positive)?;
        }
        let span = (kernel - one) * dilation + one;
        match self.auto_pad {
            AutoPad::SameUpper | AutoPad::SameLower => {
                r.le(one, input)?;
                Ok((input + stride - one) / stride)
            }
            AutoPad::Valid => {
                r.le(span, input)?;
                Ok((input - span) / stride + one)
            }
            AutoPad::NotSet => {
                r.le(D::from(0), begin)?;
                r.le(D::from(0), end)?;
                let room = input + begin + end - span;
                r.le(D::from(0), room)?;
                r.le(one, input)?;
                if !self.ceil_mode {
                    return Ok(room / stride + one);
                }
                // A position that would start in the padding at the end is left out.
                let overhanging = (room + stride - one) / stride + one;
                Ok(overhanging.at_most((input + begin - one) / stride + one))
            }
        }
    }
}

/// Requires a list to have so many entries.
pub(super) fn length(name: &'static str, found: usize, wanted: usize) -> Result<(), Reject> {
    if found == wanted { Ok(()) } else { Err(Reject::Length { name, found, wanted }) }
}

impl<'a> Window<Sym<'a>> {
    /// A window over `n` spatial axes, its sizes unknown.
    pub fn draw(d: &mut Draw<'_, 'a>, n: usize, dilate: bool, ceil_mode: bool) -> Self {
        let auto_pad = match d.int(0, 9) {
            0 => AutoPad::SameUpper,
            1 => AutoPad::SameLower,
            2 => AutoPad::Valid,
            _ => AutoPad::NotSet,
        };
        let explicit = auto_pad == AutoPad::NotSet;
        let pad = explicit && d.chance(0.6);
        let dilate = dilate && d.chance(0.4);
        Self {
            auto_pad,
            strides: (0..n).map(|_| d.unknown(1, 3)).collect(),
            dilations: (0..n).map(|_| d.unknown(1, if dilate { 3 } else { 1 })).collect(),
            pads: if explicit {
                (0..2 * n).map(|_| d.unknown(0, if pad { 2 } else { 0 })).collect()
            } else {
                Vec::new()
            },
            ceil_mode: ceil_mode && explicit && d.chance(0.3),
        }
    }
}

/// `ceil_mode` is written by those alone that have it. `pads` "cannot be used simultaneously with auto_pad".
impl Part for Window {
    fn read(given: &Attributes) -> Result<Self, BadAttribute> {
        let window = Self::read_both(given)?;
        if window.auto_pad == AutoPad::NotSet || window.pads.is_empty() {
            return Ok(window);
        }
        let wanted = "absent beside an auto_pad other than NOTSET".to_owned();
        Err(BadAttribute::Value { name: "pads".to_owned(), value: format!("{:?}", window.pads), wanted })
    }

    fn write(&self, all: &mut Attributes) {
        attributes::write_choice(all, "auto_pad", &self.auto_pad, AUTO_PADS);
        for (name, sizes) in
            [("strides", &self.strides), ("dilations", &self.dilations), ("pads", &self.pads)]
        {
            if !sizes.is_empty() {
                attributes::write(all, name, sizes);
            }
        }
    }
}

impl Window {
    /// As [`read`](Part::read), for pools: pads of 0 beside `auto_pad` are none, as in models in use, which ONNX's checker and
    /// runtimes take. (Both refuse them for a transposed convolution, ONNX Runtime for every one.)
    pub(super) fn read_for_pool(given: &Attributes) -> Result<Self, BadAttribute> {
        let both = Self::read_both(given)?;
        let are_none = both.auto_pad != AutoPad::NotSet && both.pads.iter().all(|&pad| pad == 0);
        if are_none { Ok(Self { pads: Vec::new(), ..both }) } else { Self::read(given) }
    }

    /// Both `pads` and `auto_pad`, where both are there.
    fn read_both(given: &Attributes) -> Result<Self, BadAttribute> {
        let sizes = |name| attributes::read(given, name, Some(Vec::new()));
        Ok(Self {
            auto_pad: attributes::read_choice(given, "auto_pad", AUTO_PADS, Some(AutoPad::NotSet))?,
            strides: sizes("strides")?,
            dilations: sizes("dilations")?,
            pads: sizes("pads")?,
            ceil_mode: attributes::read(given, "ceil_mode", Some(false))?,
        })
    }

    /// The first opset in which pooling X, the first operand, has as many positions as here. Until 22 the standard
    /// counts in `ceil_mode` also positions that start in the padding at the end, on which nothing is defined.
    pub fn since(&self, x: &[Option<&Type>], kernel: &[i64]) -> u32 {
        let late = operand(x, 0).map_or(0, |x| self.late(x.shape.get(2..).unwrap_or_default(), kernel));
        if late > 0 { 22 } else { 13 }
    }

    /// How many positions of a spatial axis are left out, as they would start in the padding at its end, in
    /// `ceil_mode`; the most of all axes.
    pub fn late(&self, input: &[i64], kernel: &[i64]) -> i64 {
        if !self.ceil_mode || self.auto_pad != AutoPad::NotSet {
            return 0;
        }
        let late = |(i, axis): (usize, &Axis)| {
            let room = axis.begin + input[i] + axis.end - ((kernel[i] - 1) * axis.dilation + 1);
            let last = (room + axis.stride - 1) / axis.stride;
            last - (axis.begin + input[i] - 1) / axis.stride
        };
        self.axes(input, kernel).iter().enumerate().map(late).max().unwrap_or(0).max(0)
    }

    /// Whether some position has all its cells on padding, or beyond: a window may step over a small input. For a
    /// validated input and kernel.
    pub fn misses(&self, input: &[i64], kernel: &[i64]) -> bool {
        let positions = accepted(self.positions(&mut Check, input, kernel));
        let axes = self.axes(input, kernel);
        let misses_at = |i: usize, position: i64| {
            let start = position * axes[i].stride - axes[i].begin;
            (0..kernel[i]).all(|cell| !(0..input[i]).contains(&(start + cell * axes[i].dilation)))
        };
        (0..input.len()).any(|i| (0..positions[i]).any(|position| misses_at(i, position)))
    }

    /// Whether the standard leaves open which cells the windows see: its formula for the padding of SAME_UPPER and
    /// SAME_LOWER may be negative, where strides reach beyond the kernel. Some implementations then crop the input at
    /// both ends, others pad by 0. One cell too many lies behind the last window either way, unless it is cropped at
    /// the beginning, as an odd one is for SAME_LOWER. And in `ceil_mode` its text leaves out every position that would
    /// start in the padding at the end, its shape inference one.
    pub fn is_open(&self, input: &[i64], kernel: &[i64]) -> bool {
        let least = match self.auto_pad {
            AutoPad::SameUpper => -1,
            AutoPad::SameLower => 0,
            AutoPad::NotSet | AutoPad::Valid => return self.late(input, kernel) > 1,
        };
        (0..input.len()).any(|i| self.same_padding(i, input[i], kernel[i]) < least)
    }

    /// The cells that the standard's formula adds to a spatial axis for SAME_UPPER and SAME_LOWER, at both ends together.
    fn same_padding(&self, i: usize, input: i64, kernel: i64) -> i64 {
        let stride = self.stride(i);
        let positions = (input + stride - 1) / stride;
        (positions - 1) * stride + (kernel - 1) * self.dilation(i) + 1 - input
    }

    /// What holds on each spatial axis, automatic padding worked out, for a validated input and kernel.
    pub fn axes(&self, input: &[i64], kernel: &[i64]) -> Vec<Axis> {
        let axis = |i: usize| {
            let same = self.same_padding(i, input[i], kernel[i]).max(0);
            let [begin, end] = match self.auto_pad {
                AutoPad::NotSet => self.pads(i),
                AutoPad::Valid => [0, 0],
                AutoPad::SameUpper => [same / 2, same - same / 2],
                AutoPad::SameLower => [same - same / 2, same / 2],
            };
            Axis { stride: self.stride(i), dilation: self.dilation(i), begin, end }
        };
        (0..input.len()).map(axis).collect()
    }
}

/// For each output position, in row-major order, how many cells lie on the input or on its padding. What hangs
/// over the padding too, in `ceil_mode`, is not counted.
pub fn padded_cells(axes: &[Axis], input: &[i64], kernel: &[i64], output: &[i64]) -> Vec<usize> {
    let on_axis = |i: usize, position: usize| {
        let axis = &axes[i];
        let start = position as i64 * axis.stride - axis.begin;
        (0..kernel[i]).filter(|cell| start + cell * axis.dilation < input[i] + axis.end).count()
    };
    let output: Vec<usize> = output.iter().map(|&d| d as usize).collect();
    ndarray::indices(output)
        .into_iter()
        .map(|at| at.slice().iter().enumerate().map(|(i, &position)| on_axis(i, position)).product())
        .collect()
}

/// A cell of a window that lies on the input: the positions, in row-major order, of the input's element among
/// the spatial axes and of the cell in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tap {
    /// The input's element.
    pub input: usize,
    /// The cell in the kernel.
    pub cell: usize,
}

/// What walking over [`taps`] takes where the steps on them are so many operations: laying them out is as many, for
/// each position and cell, whatever the number of images. A tap is a quarter of an element. Nothing is laid out for a
/// result without elements.
pub fn effort(operations: u64, kernel: &[i64], walked: &[i64], result: &Type) -> Effort {
    if result.count() == 0 {
        return Effort::NONE;
    }
    let product =
        |sizes: &[i64]| sizes.iter().fold(1, |all: u64, size| all.saturating_mul(size.unsigned_abs()));
    let (cells, positions) = (product(kernel), product(walked));
    Effort {
        operations: operations.max(cells.saturating_mul(positions)),
        scratch: positions.saturating_mul(cells.div_ceil(4).saturating_add(1)),
    }
}

/// For each output position, in row-major order, the cells that do not fall on padding, in theirs.
pub fn taps(axes: &[Axis], input: &[i64], kernel: &[i64], output: &[i64]) -> Vec<Vec<Tap>> {
    let mut by_position = vec![vec![Tap { input: 0, cell: 0 }]];
    // Each axis has its positions within those of the axes before it, and at each its cells within theirs.
    for (i, axis) in axes.iter().enumerate() {
        let along: Vec<Vec<Tap>> =
            (0..output[i]).map(|position| axis.taps(position, input[i], kernel[i])).collect();
        let within = |outer: Tap, inner: Tap| Tap {
            input: outer.input * input[i] as usize + inner.input,
            cell: outer.cell * kernel[i] as usize + inner.cell,
        };
        let crossed = |outer: &[Tap], inner: &[Tap]| -> Vec<Tap> {
            outer.iter().flat_map(|&outer| inner.iter().map(move |&inner| within(outer, inner))).collect()
        };
        by_position =
            by_position.iter().flat_map(|outer| along.iter().map(|inner| crossed(outer, inner))).collect();
    }
    by_position
}

#[cfg(test)]
mod tests {
    use ir::{Attributes, BadAttribute, Operation};

    use crate::Op;

    #[test]
    fn pads_and_automatic_padding_exclude_each_other() {
        let read = |name: &str, auto_pad: &str, pads: &[i64]| {
            let given = Attributes::new().ints("kernel_shape", &[1]).name("auto_pad", auto_pad);
            Op::parse(name, &given.ints("pads", pads)).expect("a known operator")
        };
        for name in ["Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"] {
            let is_pool = name.ends_with("Pool");
            for auto_pad in ["VALID", "SAME_UPPER", "SAME_LOWER"] {
                let error = read(name, auto_pad, &[0, 1]).expect_err("both are there");
                assert!(matches!(&error, BadAttribute::Value { name, .. } if name == "pads"), "{error}");
                // Of pools no pads may be written as well.
                assert_eq!(read(name, auto_pad, &[0, 0]).is_ok(), is_pool, "{name} {auto_pad}");
                assert!(read(name, auto_pad, &[]).is_ok(), "{name} {auto_pad}");
            }
            assert!(read(name, "NOTSET", &[0, 1]).is_ok(), "{name}");
        }
        let none = read("MaxPool", "VALID", &[0, 0]).expect("a pool without pads");
        assert_eq!(none, read("MaxPool", "VALID", &[]).expect("a pool without pads"));
    }
}
