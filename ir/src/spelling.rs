//! How a model in ONNX's form says a node, where there are several ways that mean the same: engines may take them for
//! different things.

/// One way to write a node; by default the plainest, in which every attribute is said and nothing is listed that is not there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Spelling {
    /// Whether nothing is said of those of its attributes that are what they are where nothing is said.
    pub is_terse: bool,
    /// The optional operands and outputs that are not there and listed all the same.
    pub unnamed: Unnamed,
}

/// How many optional operands and outputs at the end of a node's lists stand there with the empty name, where they
/// might as well be left off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Unnamed {
    /// Of operands.
    pub operands: u32,
    /// Of outputs.
    pub outputs: u32,
}

impl Spelling {
    /// In how many things it differs from the plainest way.
    pub fn count(self) -> usize {
        usize::from(self.is_terse) + self.unnamed.operands as usize + self.unnamed.outputs as usize
    }

    /// Ways that differ in fewer things.
    pub fn plainer(self) -> impl Iterator<Item = Self> {
        let Unnamed { operands, outputs } = self.unnamed;
        let with = |operands, outputs| Self { unnamed: Unnamed { operands, outputs }, ..self };
        let all = [
            Self::default(),
            Self { is_terse: false, ..self },
            with(0, outputs),
            with(operands, 0),
            with(operands.saturating_sub(1), outputs),
            with(operands, outputs.saturating_sub(1)),
        ];
        all.into_iter().filter(move |other| other.count() < self.count())
    }
}

impl Unnamed {
    /// The smaller number of either.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        Self { operands: self.operands.min(other.operands), outputs: self.outputs.min(other.outputs) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plainer_ways_differ_in_fewer_things_the_plainest_first() {
        let spelling =
            |is_terse, operands, outputs| Spelling { is_terse, unnamed: Unnamed { operands, outputs } };
        let found: Vec<Spelling> = spelling(true, 1, 4).plainer().collect();
        let expected = [(false, 0, 0), (false, 1, 4), (true, 0, 4), (true, 1, 0), (true, 0, 4), (true, 1, 3)];
        assert_eq!(
            found,
            expected.map(|(is_terse, operands, outputs)| spelling(is_terse, operands, outputs))
        );
        assert_eq!(Spelling::default().plainer().count(), 0);
    }
}
