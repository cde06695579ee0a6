//! How much wider bounds are than the errors that are observed.

use serde::{Deserialize, Serialize};

/// Classes per doubling.
const PER_OCTAVE: f64 = 4.0;

/// The last class: all ratios from 2^64.
const LAST: f64 = 64.0 * PER_OCTAVE;

/// Elements by how many times larger their bound is than their error, in classes of a quarter of an octave. Elements
/// without an error, or with a bound of 0, are not among them: their ratio says nothing.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Margins {
    counts: Vec<u64>,
}

impl Margins {
    /// Counts an element. The error is above 0 and not above the bound.
    pub(crate) fn add(&mut self, bound: f64, error: f64) {
        // The quotient is infinite where the error is a denormal.
        let class = (libm::log2(bound / error) * PER_OCTAVE).clamp(0.0, LAST) as usize;
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
    }

    /// Counts the elements of another count too.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(all, more)| *all += more);
    }

    /// How many elements there are.
    pub fn elements(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The middle of the class that the median is in: within 9 % of it.
    pub fn median(&self) -> Option<f64> {
        let half = self.elements().div_ceil(2);
        let mut below = 0;
        let class = self.counts.iter().position(|count| {
            below += count;
            half > 0 && below >= half
        })?;
        Some(libm::exp2((class as f64 + 0.5) / PER_OCTAVE))
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn the_least_error_is_in_the_last_class() {
        let mut margins = Margins::default();
        margins.add(1e300, f64::from_bits(1));
        assert!(margins.median().unwrap() > 1e19);
    }

    #[test]
    fn the_median_is_near_the_middle_element() {
        let mut margins = Margins::default();
        assert_eq!(margins.median(), None);
        for ratio in [1.0, 2.0, 10.0, 10.5, 300.0] {
            margins.add(ratio, 1.0);
        }
        let mut more = Margins::default();
        more.add(1e6, 1.0);
        more.add(1.5, 1.0);
        margins.merge(&more);
        assert_eq!(margins.elements(), 7);
        let median = margins.median().unwrap();
        assert_abs_diff_eq!(median, 10.0, epsilon = 1.0);
    }
}
