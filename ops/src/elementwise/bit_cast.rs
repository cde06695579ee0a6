//! BitCast: the same bits as elements of another dtype.

use ir::dtype::Kind;

use crate::plain::decoded;
use crate::prelude::*;

attributes! {
    /// The same bits as elements of another dtype, which is an attribute and as wide.
    ///
    /// `x: any shape → y: the same, of dtype to`
    ///
    /// Which NaN a NaN is, nobody says of one that was computed: its bits are undecidable, as are those of zeros and
    /// denormals where a device may have others. Bits that are neither those of false nor of true are undefined as
    /// bool.
    ///
    /// ONNX: [BitCast](https://onnx.ai/onnx/operators/onnx__BitCast.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct BitCast {
        /// The dtype of the result.
        pub to: DType,
    }
}

/// The dtypes that are as wide as one.
fn as_wide(dtype: DType) -> DTypes {
    DTypes::IR13.iter().filter(|other| other.bits() == dtype.bits()).collect()
}

impl Single for BitCast {
    const ROW: Row = Row::new("BitCast");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let ranks = 0..=d.limits.max_rank;
        let Some(wanted) = d.wanted() else {
            let x = d.any(ranks)?;
            let others = d.limits.in_use(as_wide(x.dtype).intersection(d.results(0))).without(x.dtype);
            let to = if others.is_empty() { x.dtype } else { d.dtype(others)? };
            return Some(BitCast { to });
        };
        let allowed: Vec<DType> = d.allowed().intersection(as_wide(wanted.dtype)).iter().collect();
        let from = d.choose(&allowed)?;
        d.of(from, ranks)?;
        Some(BitCast { to: wanted.dtype })
    }
}

impl<D: Dim> TypeRule<D> for BitCast {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        if x.dtype.bits() != self.to.bits() {
            return Err(Reject::DType { operand: 0, found: x.dtype, allowed: as_wide(self.to) });
        }
        Ok(vec![x.with_dtype(self.to)])
    }
}

impl Operator for BitCast {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let edges = vec![(0, Edge::Zeros), (0, Edge::Limits)];
        Facts { batch: Batch::meeting(x, &[]), edges, ..Facts::moves(Reads::Bits, None) }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        match x[0].map(|x| x.dtype) {
            Some(from) if self.to == DType::Bool && from != DType::Bool => {
                let of_bits =
                    |bits: i128| if from.is_float() { plain::decoded(from, bits) } else { bits as f64 };
                vec![Hazard::Outside { operand: 0, low: of_bits(0), high: of_bits(1) }]
            }
            _ => Vec::new(),
        }
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, from, to) = (c.arith, c.dtype(0), self.to);
        let bits = match c.data(0) {
            Data::Real(x) => {
                let a = a.within(from);
                lanes::each(x, |x| a.bits(x, from))
            }
            Data::Int(x) => x.clone(),
        };
        vec![match to.kind() {
            Kind::Float(_) => Data::Real(lanes::each(&bits, |z| a.of_bits(z, |z| decoded(to, z)))),
            Kind::Bool => {
                Data::Int(lanes::each(&bits, |z| a.exact([z], |[z]| (0..=1).contains(&z).then_some(z))))
            }
            Kind::Signed | Kind::Unsigned => {
                Data::Int(lanes::each(&bits, |z| a.exact([z], |[z]| Some(to.wrap(z)))))
            }
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outputs, tensor};

    tables! {
        bits_are_those_of_the_formats: "
            x = f32[4] {1, -2, -0, inf}
            BitCast(x) {to = u32} = u32[4] {1065353216, 3221225472, 2147483648, 2139095040}
            BitCast(x) {to = i32} = i32[4] {1065353216, -1073741824, -2147483648, 2139095040}
            // 0x3c00, 0xc000 and the least denormal.
            BitCast(i16[3] {15360, -16384, 1}) {to = f16} = f16[3] {1, -2, 0.000000059604644775390625}
            BitCast(f16[1] {1.5}) {to = bf16} = bf16[1] {1/8}
            BitCast(f4e2m1[2] {6, -0.5}) {to = u4} = u4[2] {7, 9}
            BitCast(i8[2] {-1, -128}) {to = u8} = u8[2] {255, 128}
            BitCast(f64[1] {2}) {to = i64} = i64[1] {4611686018427387904}
            BitCast(f32[1] {1}) {to = f16} is refused
            // Whatever 0 and 1 as bits are.
            BitCast(i8[2]) {to = bool} has the hazards [Outside { operand: 0, low: 0.0, high: 1.0 }]
            BitCast(f8e5m2[2]) {to = bool} has the hazards [Outside { operand: 0, low: 0.0, high: 1.52587890625e-5 }]
        ";
    }

    #[test]
    fn there_and_back_nothing_is_lost() {
        for from in DType::ALL {
            for to in as_wide(from).without(DType::Bool).iter() {
                // The lowest bit is set, or the next: no dtype has a NaN there.
                let codes = if from == DType::Bool { [0, 1] } else { [1, 2] };
                let x = tensor(
                    from,
                    &[2],
                    &codes.map(
                        |code| if from.is_float() { decoded(from, code) } else { from.wrap(code) as f64 },
                    ),
                );
                let y = &outputs(BitCast { to }, &[&x]).unwrap()[0];
                assert_eq!(y.to_bytes(), x.to_bytes(), "{from} to {to}");
                assert_eq!(outputs(BitCast { to: from }, &[y]).unwrap()[0], x, "{to} to {from}");
            }
        }
    }
}
