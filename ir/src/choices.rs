//! The source of random choices.
//!
//! What is drawn from it is a function of its seed alone, the same on every machine. Only this module says which
//! generator that is; to exchange it would change every case of every seed.

use std::convert::Infallible;

use rand::{SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;

/// A source of random choices, to be asked with the methods of [`rand::RngExt`]. [`Stream`](crate::Stream) gives one for
/// each place where something is drawn.
///
/// ```
/// use onnxsmith_ir::Choices;
/// use rand::RngExt;
///
/// let mut one = Choices::seeded(7);
/// let mut other = one.clone();
/// assert_eq!(one.random_range(0..1000), other.random_range(0..1000));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choices(ChaCha8Rng);

impl Choices {
    /// The choices that follow from a seed.
    pub fn seeded(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }
}

impl TryRng for Choices {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    #[test]
    fn a_seed_means_the_same_choices_for_ever() {
        let mut choices = Choices::seeded(1);
        let drawn: [u32; 4] = choices.random();
        assert_eq!(drawn, [2_359_561_649, 1_728_662_762, 4_228_812_395, 345_245_400]);
    }
}
