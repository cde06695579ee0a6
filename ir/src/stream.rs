//! The tree of named random streams.
//!
//! A draw in one place must not change what is drawn in another, or every edit of the generator would change
//! every case. So a [`Stream`] is not consumed: it has children by name and by number, and each child's numbers
//! depend on its path alone.

use crate::Choices;

/// A node in the tree of random streams: a place to draw from and to descend from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream(u64);

impl Stream {
    /// The root for a seed.
    pub const fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x6f6e_6e78_736d_6974))
    }

    /// The child of that name.
    #[must_use]
    pub const fn child(self, name: &str) -> Self {
        let bytes = name.as_bytes();
        let mut state = mix(self.0 ^ bytes.len() as u64);
        let mut i = 0;
        while i < bytes.len() {
            state = mix(state ^ bytes[i] as u64);
            i += 1;
        }
        Self(state)
    }

    /// The child of that number; distinct from every named child.
    #[must_use]
    pub const fn at(self, index: u64) -> Self {
        Self(mix(mix(!self.0) ^ index))
    }

    /// The choices of this place; two calls give the same.
    pub fn rng(self) -> Choices {
        Choices::seeded(self.0)
    }
}

/// A bijection that spreads every input bit over the word: the finalizer of `SplitMix64` (Steele, Lea and Flood,
/// OOPSLA 2014) after a Weyl step.
const fn mix(v: u64) -> u64 {
    let v = v.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let v = (v ^ (v >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let v = (v ^ (v >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    v ^ (v >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn children_are_independent_and_stable() {
        let root = Stream::new(1);
        let draws: Vec<u64> =
            [root, root.child("a"), root.child("b"), root.at(0), root.at(1), root.child("a").at(0)]
                .into_iter()
                .map(|s| s.rng().random())
                .collect();
        let distinct: std::collections::BTreeSet<_> = draws.iter().collect();
        assert_eq!(distinct.len(), draws.len());
        assert_eq!(root.child("a").rng().random::<u64>(), draws[1]);
    }
}
