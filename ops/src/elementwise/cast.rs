//! Cast and CastLike: the same numbers in another dtype.

pub(crate) mod narrow;

use ir::Attribute;
use ir::dtype::Kind;
use ir::format::{Extent, FloatFormat};
use ir::round::{Conversion, Overflow, RoundMode};

use crate::prelude::*;

attributes! {
    /// The same numbers in another dtype, which is an attribute.
    ///
    /// `x: any shape → y: the same, of dtype to`
    ///
    /// Floats are rounded to the nearest, ties to even. A float that becomes an integer loses its fraction, and must
    /// then fit: else it is undefined. To one of [4](https://onnx.ai/onnx/technical/int4.html) and
    /// [2](https://onnx.ai/onnx/technical/int2.html) bits it may be rounded to the nearest as well, ties to even: those pages
    /// have that, and ONNX's reference evaluator drops the fraction. Integers that do not fit lose their high bits. All but 0 is true, NaN too. For
    /// floats of 8 bits and less, [tables](https://onnx.ai/onnx/technical/float8.html) say what becomes of what does
    /// not fit.
    ///
    /// Where `saturate` and `round_mode` do not concern the dtype, whatever they say is accepted and nothing is
    /// written; so they are written only in opsets that have them.
    ///
    /// ONNX: [Cast](https://onnx.ai/onnx/operators/onnx__Cast.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Cast {
        /// The dtype of the result.
        pub to: DType,
        /// How numbers that it lacks become some that it has; the default where that is not for attributes to say.
        pub rounding: Rounding as part,
    }
    check Self::as_far_as_it_concerns;
}

attributes! {
    /// The same numbers in the dtype of a second operand, whose elements do not matter.
    ///
    /// `x: any shape, like: any shape → y: as x, of the dtype of like`
    ///
    /// As [`Cast`] has it.
    ///
    /// ONNX: [CastLike](https://onnx.ai/onnx/operators/onnx__CastLike.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct CastLike {
        /// How numbers that the dtype lacks become some that it has.
        pub rounding: Rounding as part,
    }
}

/// What attributes say of casts to floats of 8 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rounding {
    /// What becomes of numbers beyond the largest one: `saturate`.
    pub overflow: Overflow,
    /// What becomes of numbers between two powers of two where there is nothing else: `round_mode`.
    pub round_mode: RoundMode,
}

impl Cast {
    /// A cast to a dtype, as it is without further attributes.
    pub const fn to(to: DType) -> Self {
        Self { to, rounding: Rounding::DEFAULT }
    }

    #[allow(clippy::unnecessary_wraps, reason = "other checks fail")]
    fn as_far_as_it_concerns(self, _: &Attributes) -> Result<Self, BadAttribute> {
        Ok(Self { rounding: self.rounding.of(self.to), ..self })
    }
}

impl Single for Cast {
    const ROW: Row = Row::new("Cast");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let to = draw(d)?;
        Some(Cast { to, rounding: Rounding::draw(d, to) })
    }
}

impl Single for CastLike {
    const ROW: Row = Row::new("CastLike");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let to = draw(d)?;
        d.of(to, 0..=d.limits.max_rank)?;
        Some(CastLike { rounding: Rounding::draw(d, to) })
    }
}

impl Rounding {
    /// What holds without attributes.
    pub const DEFAULT: Self = Self { overflow: Overflow::Saturate, round_mode: RoundMode::Up };

    const MODES: [(&'static str, RoundMode); 3] =
        [("up", RoundMode::Up), ("down", RoundMode::Down), ("nearest", RoundMode::Nearest)];

    /// This, whatever sizes become: it has none.
    #[must_use]
    pub fn map<D, E>(&self, _: &mut dyn FnMut(D) -> E) -> Self {
        *self
    }

    /// One for results of a dtype: the default for all but narrow floats, of which the attributes say something.
    pub(crate) fn draw(d: &mut Draw<'_, '_>, to: DType) -> Self {
        let mut drawn = Self::DEFAULT;
        if !is_narrow(to) {
            return drawn;
        }
        if d.has("saturate") && d.chance(0.3) {
            drawn.overflow = Overflow::Escape;
        }
        if d.has("round_mode") {
            drawn.round_mode = d.choose(&Self::MODES.map(|(_, mode)| mode)).unwrap_or(drawn.round_mode);
        }
        drawn.of(to)
    }

    /// What of it concerns a dtype.
    pub(crate) fn of(self, to: DType) -> Self {
        match to.float() {
            Some(format) if format.extent == Extent::PositiveNormals => self,
            Some(format) if format.bits() == 8 => Self { round_mode: Self::DEFAULT.round_mode, ..self },
            Some(_) | None => Self::DEFAULT,
        }
    }

    /// The conversion to a narrow format: only powers of two are rounded otherwise than to nearest.
    pub(crate) fn conversion(self, format: FloatFormat) -> Conversion {
        let mode = match format.extent {
            Extent::PositiveNormals => self.round_mode,
            Extent::Full => RoundMode::Nearest,
        };
        Conversion { format, mode, overflow: self.overflow }
    }
}

impl Part for Rounding {
    fn read(given: &Attributes) -> Result<Self, BadAttribute> {
        let round_mode = read_choice(given, "round_mode", &Self::MODES, Some(RoundMode::Up))?;
        let overflow = if given.get_flag("saturate", true)? { Overflow::Saturate } else { Overflow::Escape };
        Ok(Self { overflow, round_mode })
    }

    fn write(&self, all: &mut Attributes) {
        if self.overflow != Self::DEFAULT.overflow {
            all.set("saturate", Attribute::Int(i64::from(self.overflow == Overflow::Saturate)));
        }
        match Self::MODES.into_iter().find(|(_, mode)| *mode == self.round_mode) {
            Some((name, mode)) if mode != Self::DEFAULT.round_mode => {
                all.set("round_mode", Attribute::Name(name.to_owned()));
            }
            _ => {}
        }
    }
}

/// Whether there are tables for casts to the type: floats of 8 bits and less.
fn is_narrow(to: DType) -> bool {
    to.is_float() && to.bits() <= 8
}

/// The operand and the dtype to cast it to.
fn draw(d: &mut Draw<'_, '_>) -> Option<DType> {
    let ranks = 0..=d.limits.max_rank;
    let Some(wanted) = d.wanted() else {
        let x = d.any(ranks)?;
        let others = d.limits.in_use(d.results(0)).without(x.dtype);
        let floats = others.intersection(DTypes::FLOATS);
        // From one float to another, numbers are rounded; there are few such pairs among all.
        if x.dtype.is_float() && !floats.is_empty() && d.chance(0.4) {
            let floats: Vec<DType> = floats.iter().collect();
            return d.choose(&floats);
        }
        return if others.is_empty() { Some(x.dtype) } else { d.dtype(others) };
    };
    // Asking for any operand would lean to the wanted dtype, but the operand's is free.
    let allowed: Vec<DType> = d.allowed().iter().collect();
    let from = d.choose(&allowed)?;
    d.of(from, ranks)?;
    Some(wanted.dtype)
}

/// The elements as numbers of another dtype.
fn convert<A: Arith>(c: &Call<'_, A>, to: DType, rounding: Rounding) -> Data<A> {
    let (a, from) = (c.arith, c.dtype(0));
    match (c.data(0), to.kind()) {
        (Data::Real(x), Kind::Float(format)) if is_narrow(to) => {
            let conversion = rounding.conversion(format);
            Data::Real(each(x, |x| narrow::stored(a, x, from, conversion, c.opset)))
        }
        (Data::Int(x), Kind::Float(format)) if is_narrow(to) => {
            let conversion = rounding.conversion(format);
            Data::Real(each(x, |z| narrow::stored(a, a.convert(z), from, conversion, c.opset)))
        }
        (Data::Real(x), Kind::Float(_)) => Data::Real(x.clone()),
        (Data::Int(x), Kind::Float(_)) => Data::Real(each(x, |z| a.convert(z))),
        (Data::Real(x), Kind::Bool) => {
            // Everything but zero is true, NaN included.
            let is_zero = |x| a.compare(Comparison::Equal, x, a.real(0.0));
            Data::Int(each(x, |x| a.exact([is_zero(x)], |[zero]| Some(1 - zero))))
        }
        (Data::Real(x), Kind::Signed | Kind::Unsigned) if to.bits() < 8 => {
            Data::Int(each(x, |x| narrow::truncated(a, x, to)))
        }
        (Data::Real(x), Kind::Signed | Kind::Unsigned) => Data::Int(each(x, |x| a.truncate(x, to))),
        // Integers wrap when they are stored: the standard discards the bits that do not fit.
        (Data::Int(x), Kind::Bool | Kind::Signed | Kind::Unsigned) => {
            Data::Int(each(x, |z| a.exact([z], |[z]| Some(to.wrap(z)))))
        }
    }
}

/// Where a float becomes an integer, what lies outside of the integer's range is undefined. Where there are only powers of two,
/// what lies outside of theirs is, but for two pairs of attributes.
fn hazards(x: &[Option<&Type>], to: DType) -> Vec<Hazard> {
    let from_float = x[0].is_some_and(|t| t.dtype.is_float());
    match (to.kind(), to.int_range()) {
        (Kind::Signed | Kind::Unsigned, Some((low, high))) if from_float => {
            // The largest `f64` within: the largest 64-bit integers round up to one outside.
            let above = high as f64;
            let high = if above as i128 > high { above.next_down() } else { above };
            vec![Hazard::Outside { operand: 0, low: low as f64, high }]
        }
        (Kind::Float(format), _) if format.extent == Extent::PositiveNormals => {
            vec![Hazard::Outside { operand: 0, low: format.min_normal(), high: format.max_finite() }]
        }
        _ => Vec::new(),
    }
}

/// What rounds on the way to a narrower dtype is worth a tie; NaN is true.
fn edges(x: &[Option<&Type>], to: DType) -> Vec<(usize, Edge)> {
    match x[0].map(|t| t.dtype) {
        Some(from) if from.is_float() && to.is_float() => {
            let digits = |dtype: DType| dtype.float().map(FloatFormat::precision);
            let tie = (digits(from) > digits(to)).then_some((0, Edge::Between(to)));
            tie.into_iter().chain([(0, Edge::NonFinite)]).collect()
        }
        Some(from) if from.is_float() && to == DType::Bool => {
            vec![(0, Edge::NonFinite), (0, Edge::Zeros), (0, Edge::Denormals)]
        }
        _ => Vec::new(),
    }
}

impl<D: Dim> TypeRule<D> for Cast {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.with_dtype(self.to)])
    }
}

impl Operator for Cast {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts {
            since: 13,
            reads: Reads::Cast,
            cost: Cost::PerOutput(1),
            batch: Batch::Together,
            linear: None,
            edges: edges(x, self.to),
        }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        hazards(x, self.to)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![convert(c, self.to, self.rounding)]
    }
}

impl<D: Dim> TypeRule<D> for CastLike {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let to = x.need(1)?.dtype;
        Ok(vec![x.need(0)?.with_dtype(to)])
    }
}

impl Operator for CastLike {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts {
            since: 13,
            reads: Reads::Cast,
            cost: Cost::PerOutput(1),
            batch: Batch::Together,
            linear: None,
            edges: x.get(1).copied().flatten().map_or(Vec::new(), |like| edges(x, like.dtype)),
        }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        x.get(1).copied().flatten().map_or(Vec::new(), |like| hazards(x, like.dtype))
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![convert(c, c.dtype(1), self.rounding)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outputs, run, tensor};

    const LIKE: CastLike = CastLike { rounding: Rounding::DEFAULT };

    #[test]
    fn every_pair_of_dtypes_keeps_small_numbers() {
        for from in DType::ALL {
            for to in DType::ALL {
                // A type of powers of two has no 0.
                let numbers = if [from, to].contains(&DType::F8E8M0) { [1., 1.] } else { [0., 1.] };
                let x = tensor(from, &[2], &numbers);
                let y = &outputs(Cast::to(to), &[&x]).unwrap()[0];
                assert_eq!((y.dtype(), run(Cast::to(to), &[&x])), (to, numbers.to_vec()), "{from} to {to}");
                let like = tensor(to, &[], &[1.]);
                assert_eq!(outputs(LIKE, &[&x, &like]).unwrap()[0], *y);
            }
        }
    }

    tables! {
        floats_truncate_integers_wrap_and_truth_is_not_zero: "
            x = f32[4] {-1.9, 0.4, nan, -0}; z = i32[2] {256, -1}
            Cast(x) {to = bool} = bool[4] {true, true, true, false}
            Cast(f32[2] {-1.9, 0.4}) {to = i8} = i8[2] {-1, 0}
            Cast(z) {to = u8} = u8[2] {0, 255}
            Cast(z) {to = bool} = bool[2] {true, true}
            Cast(i32[] {257}) {to = bf16} = bf16[] {256}
        ";
    }

    #[test]
    fn hazards_leave_only_what_fits() {
        let f64s = Type::new(DType::F64, []);
        for to in DTypes::INTS.iter() {
            let (least, most) = to.int_range().unwrap();
            let Hazard::Outside { low, high, .. } = Cast::to(to).hazards(&[Some(&f64s)])[0] else { panic!() };
            assert!(low as i128 == least && high as i128 <= most && high.next_up() as i128 >= most, "{to}");
        }
    }

    #[test]
    fn attributes_are_written_where_they_say_something() {
        let attributes = |text: &str| Declared::attributes(&Cast::parse((), &text_attributes(text)).unwrap());
        let default = text_attributes("f8e4m3fn 1 up");
        assert_eq!(attributes("f8e4m3fn 1 up"), Attributes::new().dtype("to", DType::F8E4M3FN));
        assert_eq!(attributes("f8e8m0 0 down"), text_attributes("f8e8m0 0 down"));
        assert_eq!(
            attributes("f8e5m2 0 down"),
            Attributes::new().dtype("to", DType::F8E5M2).flag("saturate", false)
        );
        assert_eq!(attributes("f32 0 down"), Attributes::new().dtype("to", DType::F32));
        assert!(CastLike::parse((), &default.name("round_mode", "sideways")).is_err());
    }

    fn text_attributes(text: &str) -> Attributes {
        let words: Vec<&str> = text.split(' ').collect();
        let to = Attributes::new().dtype("to", words[0].parse().unwrap());
        to.flag("saturate", words[1] == "1").name("round_mode", words[2])
    }
}
