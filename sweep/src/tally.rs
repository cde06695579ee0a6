//! What is counted of elements, and merged from parts to rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plan::Name;

/// The elements of a backend's answers, judged.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Tally {
    /// How many there are.
    pub elements: u64,
    /// How many of them the tight tier says something of.
    pub judged: u64,
    /// How many of these are the reference's.
    pub exact: u64,
    /// How many are a zero in place of a denormal number. They count as 0 ULP.
    pub flushed: u64,
    /// How many are beyond the tight tier, those beyond the specification included.
    pub beyond_tight: u64,
    /// How many no implementation may have that keeps its specification.
    pub beyond_spec: u64,
    /// How many are infinite or NaN where a number is due, or a number where one of these is.
    pub non_finite: u64,
    /// How far they are from the reference, where both are numbers.
    pub ulps: Histogram,
    /// The element that is worst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Worst>,
    /// Errors by argument, of a function of one float.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bins: BTreeMap<i32, Bin>,
}

/// How two backends differ.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Apart {
    /// The elements that both have, without those that the specification leaves undefined.
    pub elements: u64,
    /// How many differ by more than the sign of a zero.
    pub differ: u64,
    /// How many are a number of one and an infinity or NaN of the other.
    pub non_finite: u64,
    /// How far they are from each other, in ULP of the reference.
    pub ulps: Histogram,
}

/// The errors of one stretch of arguments.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Bin {
    /// The largest error in ULP.
    pub ulp: f32,
    /// The largest error in ULP that the tight tier allows, where it says something.
    pub tight: f32,
    /// The largest that the specification allows, where it says something; elements of which it says nothing are left out.
    pub spec: f32,
    /// How many elements are infinite or NaN where a number is due, or the reverse.
    pub non_finite: u32,
}

/// How bad an element is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// As good implementations have it.
    Tight,
    /// The specification allows it.
    Specified,
    /// The specification forbids it.
    Beyond,
}

/// An element that is off.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Worst {
    /// How bad it is.
    pub standing: Standing,
    /// The part that it is in.
    pub part: Name,
    /// Which output of the model.
    pub output: usize,
    /// Its row-major position.
    pub element: usize,
    /// The operands' elements, where the operator works element by element, and its attributes.
    pub at: String,
    /// What the reference has, what the backend has, how far off the tight tier and the specification allow: as text,
    /// as any may be infinite.
    pub expected: String,
    /// What the backend has.
    pub actual: String,
    /// How far off it is, in ULP; `None` if one of the two is no number.
    pub ulp: Option<f64>,
    /// How far off the tight tier lets it be.
    pub tight: String,
    /// How far off the specification lets it be.
    pub spec: String,
}

impl Worst {
    /// Where it is, in words.
    pub fn place(&self) -> String {
        let Self { part, output, element, at, .. } = self;
        match (at.is_empty(), part.length) {
            (false, _) => format!("at {at}"),
            (true, Some(length)) => format!("length {length}, element {element}"),
            (true, None) => {
                format!("{} {}, output {output}, element {element}", part.form.name(), part.number)
            }
        }
    }

    /// Whether an element is worse than this: by its standing, then by ULP, none being more than any. Of equals, the first stays.
    pub fn yields_to(&self, standing: Standing, ulp: Option<f64>) -> bool {
        (standing, ulp.unwrap_or(f64::INFINITY)) > (self.standing, self.ulp.unwrap_or(f64::INFINITY))
    }
}

impl std::fmt::Display for Worst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { expected, actual, tight, spec, .. } = self;
        write!(f, "{}: {actual} for {expected} (tight ± {tight}, specified ± {spec})", self.place())
    }
}

impl Tally {
    /// Adds the elements of another part.
    pub fn merge(&mut self, more: &Self) {
        self.elements += more.elements;
        self.judged += more.judged;
        self.exact += more.exact;
        self.flushed += more.flushed;
        self.beyond_tight += more.beyond_tight;
        self.beyond_spec += more.beyond_spec;
        self.non_finite += more.non_finite;
        self.ulps.merge(&more.ulps);
        if let Some(worst) = &more.worst
            && self.worst.as_ref().is_none_or(|known| known.yields_to(worst.standing, worst.ulp))
        {
            self.worst = Some(worst.clone());
        }
        for (place, bin) in &more.bins {
            self.bins.entry(*place).or_default().merge(bin);
        }
    }
}

impl Apart {
    /// Adds the elements of another part.
    pub fn merge(&mut self, more: &Self) {
        self.elements += more.elements;
        self.differ += more.differ;
        self.non_finite += more.non_finite;
        self.ulps.merge(&more.ulps);
    }
}

impl Bin {
    /// Takes in other elements.
    pub fn merge(&mut self, more: &Self) {
        self.ulp = self.ulp.max(more.ulp);
        self.tight = self.tight.max(more.tight);
        self.spec = self.spec.max(more.spec);
        self.non_finite += more.non_finite;
    }
}

/// Distances in ULP: the largest, and how many there are of each, whole ones below 128 exactly and others to 1/64.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Histogram {
    /// The largest.
    max: f64,
    /// How many there are by the first bits of the distance as a `f32`.
    counts: BTreeMap<u32, u64>,
}

/// The bits of a distance that do not count.
const DROPPED: u32 = 17;

impl Histogram {
    /// Adds a distance.
    pub fn add(&mut self, ulp: f64) {
        self.max = self.max.max(ulp);
        *self.counts.entry((ulp.min(f64::from(f32::MAX)) as f32).to_bits() >> DROPPED).or_default() += 1;
    }

    /// Adds distances.
    pub fn merge(&mut self, more: &Self) {
        self.max = self.max.max(more.max);
        for (key, count) in &more.counts {
            *self.counts.entry(*key).or_default() += count;
        }
    }

    /// How many distances there are.
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The largest; 0 where there is none.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// The least distance that a share of them does not exceed.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut missing = (self.count() as f64 * share).ceil() as u64;
        for (key, count) in &self.counts {
            if *count >= missing {
                return f64::from(f32::from_bits(key << DROPPED));
            }
            missing -= count;
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_least_distance_that_enough_do_not_exceed() {
        let mut all = Histogram::default();
        (1..=100).for_each(|ulp| all.add(f64::from(ulp)));
        assert_eq!((all.quantile(0.99), all.quantile(0.5), all.max()), (99.0, 50.0, 100.0));
        assert_eq!((Histogram::default().quantile(0.99), Histogram::default().max()), (0.0, 0.0));
        let mut zeros = Histogram::default();
        (0..1000).for_each(|_| zeros.add(0.0));
        zeros.add(5000.0);
        assert_eq!((zeros.quantile(0.99), zeros.max(), zeros.count()), (0.0, 5000.0, 1001));
    }

    #[test]
    fn merging_parts_in_any_order_gives_the_same() {
        let of = |ulps: &[f64]| {
            let mut histogram = Histogram::default();
            for &ulp in ulps {
                histogram.add(ulp);
            }
            Tally { elements: ulps.len() as u64, ulps: histogram, ..Tally::default() }
        };
        let (a, b) = (of(&[0.0, 0.5, 3.0]), of(&[1e6, 0.5]));
        let (mut ab, mut ba) = (a.clone(), b.clone());
        ab.merge(&b);
        ba.merge(&a);
        assert_eq!(ab, ba);
        assert_eq!(ab, of(&[0.0, 0.5, 3.0, 1e6, 0.5]));
    }
}
