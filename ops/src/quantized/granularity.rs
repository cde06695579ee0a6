//! How many elements share a scale and a zero point: all of a tensor, a slice of it, or a block along an axis.

use ir::{Attributes, BadAttribute, Dim, Sym, Type};
use ndarray::ArrayD;

use crate::attributes::{self, Part};
use crate::draw::Draw;
use crate::rule::{self, Args, Reject, Rule, same_shape};

/// Which elements share a scale. That of a scalar is all of them, whatever is said here, and so is the only one of a
/// list; those of other lists are slices along the axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Granularity<D = i64> {
    /// The axis along which scales follow each other.
    pub axis: i64,
    /// How many elements along the axis share a scale, where there are scales for blocks; else 0.
    pub block_size: D,
}

impl<D: Dim> Granularity<D> {
    /// This granularity with its sizes in another number system.
    pub fn map<E: Dim>(&self, f: &mut dyn FnMut(D) -> E) -> Granularity<E> {
        Granularity { axis: self.axis, block_size: f(self.block_size) }
    }

    /// Whether there is one scale for a list: "When the rank of the input is 1, per-tensor quantization is applied,
    /// rendering the axis unnecessary".
    fn is_one_for_a_list(data: &Type<D>, scale: &Type<D>) -> bool {
        data.rank() == 1 && scale.shape[0].known() == Some(1)
    }

    /// Requires scales, operand 1, and zero points, operand 2 if it is there, to be those of the first operand.
    pub fn check(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<(), Reject> {
        let (data, scale) = (x.need(0)?, x.need(1)?);
        let (zero, one) = (D::from(0), D::from(1));
        if self.block_size != zero {
            let (scale, along) =
                (x.ranked(1, data.rank()..=data.rank())?, rule::axis(self.axis, data.rank())?);
            r.le(one, self.block_size)?;
            for (axis, (&scales, &size)) in scale.shape.iter().zip(&data.shape).enumerate() {
                let wanted =
                    if axis == along { (size + self.block_size - one) / self.block_size } else { size };
                r.eq(scales, wanted)?;
            }
        } else if x.ranked(1, 0..=1)?.rank() == 1 && !Self::is_one_for_a_list(data, scale) {
            r.eq(scale.shape[0], data.shape[rule::axis(self.axis, data.rank())?])?;
        }
        match x.opt(2) {
            None => Ok(()),
            // The text wants the scale's shape, but ONNX's own tests have one zero point in a list for a scale without an axis.
            Some(point) if scale.rank() == 0 && point.rank() == 1 => r.eq(point.shape[0], one),
            Some(point) => same_shape(r, &scale.shape, &point.shape),
        }
    }
}

impl<'a> Granularity<Sym<'a>> {
    /// A granularity for an operand, and the shape that scales then have.
    pub fn draw(d: &mut Draw<'_, 'a>, x: &Type<Sym<'a>>) -> (Self, Vec<Sym<'a>>) {
        let default = Self { axis: 1, block_size: 0.into() };
        let has_blocks = d.has("block_size");
        // Of a list the standard says that it has one scale.
        match d.axis(x.rank()).filter(|_| x.rank() >= 2 && d.chance(0.6)) {
            None => (default, Vec::new()),
            Some(axis) if has_blocks && d.chance(0.4) => {
                let shape = (0..x.rank()).map(|_| d.dim()).collect();
                (Self { axis, block_size: d.unknown(1, 4) }, shape)
            }
            Some(axis) => {
                let along = rule::axis(axis, x.rank()).map_or(1.into(), |along| x.shape[along]);
                (Self { axis, ..default }, vec![along])
            }
        }
    }
}

impl Granularity {
    /// The scale, or the zero point, of the element at a place.
    pub(super) fn shared<T: Copy>(self, scales: &ArrayD<T>, at: &[usize]) -> T {
        let along = || rule::accepted(rule::axis(self.axis, at.len()));
        match (scales.first(), usize::try_from(self.block_size)) {
            (Some(&only), _) if scales.len() == 1 => only,
            (_, Ok(block @ 1..)) => {
                let mut at = at.to_vec();
                at[along()] /= block;
                scales[at.as_slice()]
            }
            _ => scales[[at[along()]].as_slice()],
        }
    }
}

impl Part for Granularity {
    fn read(given: &Attributes) -> Result<Self, BadAttribute> {
        let block_size = attributes::read_among(given, "block_size", &(0..), Some(0))?;
        Ok(Self { axis: attributes::read(given, "axis", Some(1))?, block_size })
    }

    fn write(&self, all: &mut Attributes) {
        attributes::write(all, "axis", &self.axis);
        attributes::write(all, "block_size", &self.block_size);
    }
}
