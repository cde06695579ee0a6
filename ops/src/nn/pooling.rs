//! What the pools share: a kernel that slides over X `[N, C, spatial…]` and sees each channel alone.

use ir::{Attributes, BadAttribute, Dim, Sym, Type};
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::attributes::{self, Part};
use crate::data::Call;
use crate::draw::Draw;
use crate::lanes::array;
use crate::nn::window::{self, Tap, Window, padded_cells, taps};
use crate::operator::{Batch, Cost, Edge, Effort, Facts, Hazard, operand};
use crate::rule::{Args, Reject, Rule};

/// A window of a stated size.
#[derive(Clone, PartialEq, Debug)]
pub struct Pooling<D = i64> {
    /// How the kernel slides.
    pub window: Window<D>,
    /// The size of the kernel on each spatial axis.
    pub kernel_shape: Vec<D>,
}

/// One output position of one channel of an image: what the window sees of it.
pub struct View<'a> {
    /// Where the channel starts among the elements of X.
    pub image: usize,
    /// Which position it is, in row-major order.
    pub position: usize,
    /// The cells on the input, their elements counted from where the channel starts.
    pub taps: &'a [Tap],
}

impl Part for Pooling {
    fn read(given: &Attributes) -> Result<Self, BadAttribute> {
        Ok(Self {
            window: Window::read_for_pool(given)?,
            kernel_shape: attributes::read(given, "kernel_shape", None)?,
        })
    }

    fn write(&self, all: &mut Attributes) {
        self.window.write(all);
        attributes::write(all, "ceil_mode", &self.window.ceil_mode);
        attributes::write(all, "kernel_shape", &self.kernel_shape);
    }
}

impl<D: Dim> Pooling<D> {
    /// This window with its sizes in another number system.
    pub fn map<E: Dim>(&self, f: &mut dyn FnMut(D) -> E) -> Pooling<E> {
        let window = self.window.map(f);
        Pooling { window, kernel_shape: self.kernel_shape.iter().map(|&size| f(size)).collect() }
    }

    /// The type of the elements that the windows give.
    pub fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Type<D>, Reject> {
        let x = x.ranked_from(0, 3)?;
        let mut shape = x.shape[..2].to_vec();
        shape.extend(self.window.positions(r, &x.shape[2..], &self.kernel_shape)?);
        Ok(Type::new(x.dtype, shape))
    }

    /// Seeks windows that reach into the input: for pools that have nothing to say of padding alone.
    pub fn reach_in(&self, r: &mut dyn Rule<D>) -> Result<(), Reject> {
        self.window.reach_in(r, &self.kernel_shape)
    }
}

impl<'a> Pooling<Sym<'a>> {
    /// X, and a window over it. What the opset has no attribute for stays at its default.
    pub fn draw(d: &mut Draw<'_, 'a>) -> Option<Self> {
        let axes = d.any(3..=5)?.rank() - 2;
        let can_dilate = d.has("dilations");
        let mut window = Window::draw(d, axes, can_dilate, d.has("ceil_mode"));
        if !can_dilate {
            window.dilations.clear();
        }
        let kernel_shape = (0..axes).map(|_| d.unknown(1, 4)).collect();
        Some(Self { window, kernel_shape })
    }
}

impl Pooling {
    /// The number of cells of the kernel.
    pub fn cells(&self) -> u64 {
        i64::product(&self.kernel_shape).max(0) as u64
    }

    /// What is known of pooling X, the first operand, where each element of the result takes so many operations.
    pub fn facts(&self, x: &[Option<&Type>], each: u64, edges: Vec<(usize, Edge)>) -> Facts {
        Facts {
            since: self.window.since(x, &self.kernel_shape),
            ..Facts::calculates(Cost::PerOutput(each), Batch::meeting(x, &[]), None, edges)
        }
    }

    /// What walking over the windows takes, where the steps under them are so many operations.
    pub fn effort(&self, operations: u64, y: &Type) -> Effort {
        window::effort(operations, &self.kernel_shape, &y.shape[2..], y)
    }

    /// Whether the standard leaves open which cells of X the windows see.
    pub fn is_open(&self, x: &Type) -> bool {
        self.window.is_open(&x.shape[2..], &self.kernel_shape)
    }

    /// Whether some window sees no element of X.
    pub fn misses(&self, x: &Type) -> bool {
        self.window.misses(&x.shape[2..], &self.kernel_shape)
    }

    /// For each position, the cells on X or on its padding; none where Y has no elements.
    pub fn padded_cells(&self, x: &Type, y: &Type) -> Vec<usize> {
        if y.count() == 0 {
            return Vec::new();
        }
        let (input, output) = (&x.shape[2..], &y.shape[2..]);
        padded_cells(&self.window.axes(input, &self.kernel_shape), input, &self.kernel_shape, output)
    }

    /// An element for each output position.
    pub fn each<U>(&self, c: &Call<'_, impl Arith>, mut f: impl FnMut(View<'_>) -> U) -> ArrayD<U> {
        let x = c.ty(0);
        // No images may have many positions.
        if c.outputs[0].count() == 0 {
            return array(&c.extents(0), Vec::new());
        }
        let (input, output) = (&x.shape[2..], &c.outputs[0].shape[2..]);
        let seen = taps(&self.window.axes(input, &self.kernel_shape), input, &self.kernel_shape, output);
        let area = i64::product(input) as usize;
        let mut items = Vec::with_capacity(c.outputs[0].count().max(0) as usize);
        for channel in 0..i64::product(&x.shape[..2]) as usize {
            let views = seen.iter().enumerate();
            items.extend(views.map(|(position, taps)| f(View { image: channel * area, position, taps })));
        }
        array(&c.extents(0), items)
    }
}

/// The type of what global pools leave of the channels. Sought are channels that have elements: what is made of none is undefined.
pub(super) fn pooled<D: Dim>(x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Type<D>, Reject> {
    let x = x.image(0)?;
    let mut shape = x.shape.clone();
    for size in &mut shape[2..] {
        r.seek_le(D::from(1), *size)?;
        *size = D::from(1);
    }
    Ok(Type::new(x.dtype, shape))
}

/// The hazard of global pools: a channel without elements.
pub(super) fn of_nothing(x: &[Option<&Type>]) -> Vec<Hazard> {
    undefined_if(x, |x| x.shape[2..].contains(&0))
}

/// A hazard where a condition holds of X, the first operand.
pub fn undefined_if(x: &[Option<&Type>], holds: impl Fn(&Type) -> bool) -> Vec<Hazard> {
    let is_undefined = operand(x, 0).is_some_and(holds);
    is_undefined.then_some(Hazard::Always).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::DType;

    #[test]
    fn nothing_is_said_where_several_windows_would_start_in_the_padding_at_the_end() {
        let late = |size: i64, ceil_mode: i64| {
            let wide = Attributes::new().ints("kernel_shape", &[1]).ints("strides", &[3]);
            let pool = Pooling::read(&wide.ints("pads", &[2, 2]).int("ceil_mode", ceil_mode)).unwrap();
            (pool.window.late(&[size], &[1]), pool.is_open(&Type::new(DType::F32, [1, 1, size])))
        };
        // Of four windows, at -2, 1, 4 and 7, one or two.
        assert_eq!(late(4, 1), (2, true));
        assert_eq!(late(5, 1), (1, false));
        assert_eq!(late(4, 0), (0, false));
    }
}
