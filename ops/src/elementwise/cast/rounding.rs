//! What attributes say of casts to floats of 8 bits and less: how numbers that a dtype lacks become some that it has.

use ir::Attribute;
use ir::format::{Extent, FloatFormat};
use ir::round::{Conversion, Overflow, RoundMode};

use crate::prelude::*;

/// What attributes say of casts to floats of 8 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rounding {
    /// What becomes of numbers beyond the largest one: `saturate`.
    pub overflow: Overflow,
    /// What becomes of numbers between two powers of two where there is nothing else: `round_mode`.
    pub round_mode: RoundMode,
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
pub(crate) fn is_narrow(to: DType) -> bool {
    to.is_float() && to.bits() <= 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elementwise::Cast;

    #[test]
    fn attributes_are_written_where_they_say_something() {
        let attributes = |text: &str| Declared::attributes(&Cast::parse((), &text_attributes(text)).unwrap());
        assert_eq!(attributes("f8e4m3fn 1 up"), Attributes::new().dtype("to", DType::F8E4M3FN));
        assert_eq!(attributes("f8e8m0 0 down"), text_attributes("f8e8m0 0 down"));
        assert_eq!(
            attributes("f8e5m2 0 down"),
            Attributes::new().dtype("to", DType::F8E5M2).flag("saturate", false)
        );
        assert_eq!(attributes("f32 0 down"), Attributes::new().dtype("to", DType::F32));
    }

    fn text_attributes(text: &str) -> Attributes {
        let words: Vec<&str> = text.split(' ').collect();
        let to = Attributes::new().dtype("to", words[0].parse().unwrap());
        to.flag("saturate", words[1] == "1").name("round_mode", words[2])
    }
}
