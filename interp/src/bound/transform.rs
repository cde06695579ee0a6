//! Convolutions by transformed operands (Winograd, FFT).
//!
//! Such an algorithm adds and scales neighbouring elements before it multiplies, so an element's error is not relative
//! to its own terms but to the norms of the image x and the filter w, and reaches elements whose own terms are 0.
//!
//! Winograd's F(2×2, 3×3) is Aᵀ[(G·w·Gᵀ) ⊙ (Bᵀ·x·B)]A, summed over the channels. A term goes through 2 roundings of the
//! data's transform, 4 of the filter's, 1 product, 4 of the output's and one less than there are channels. The
//! elements of A are 0 and ±1, so the magnitudes of the terms add up to no more than ‖G‖²·‖w‖·‖B‖²·‖x‖ in Frobenius
//! norms (Cauchy and Schwarz), which is 3½·8·‖w‖·‖x‖. An FFT is below that. Larger tiles (F(4×4, 3×3)) have worst cases
//! above it, which no implementation comes near.

use super::Bound;
use super::ball::Ball;

/// ‖G‖²·‖B‖² of F(2×2, 3×3).
const NORMS: f64 = 28.0;

/// The roundings of a term but for one per channel; there are no more channels than weights.
pub(crate) const ROUNDINGS: u32 = 10;

impl Bound<'_> {
    /// Widens the elements that an image gives with a filter by what a transformation may add.
    pub(super) fn transformed(&self, sums: &mut [Ball], image: &[Ball], filter: &[Ball]) {
        if !self.profile.transforms_convolutions {
            return;
        }
        let norm = |balls: &[Ball]| {
            balls.iter().map(|b| b.value.abs() + b.error).map(|most| most * most).sum::<f64>().sqrt()
        };
        let growth = self.growth(ROUNDINGS + filter.len() as u32);
        let more = NORMS * growth * norm(image) * norm(filter);
        for sum in sums.iter_mut().filter(|sum| (sum.is_known() || sum.is_beyond()) && more != 0.0) {
            // An infinity or NaN spreads to all that is transformed with it.
            let ball = if more.is_finite() && sum.is_known() && sum.value.is_finite() {
                self.widened(sum.value, sum.error, more)
            } else {
                Ball::unknown(sum.value)
            };
            *sum = ball.with_terms(sum.terms());
        }
    }
}
