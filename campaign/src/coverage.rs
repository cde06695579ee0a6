//! Which operators occurred in a campaign's cases, and which met: the output of one as an operand of the other.
//!
//! The counts are of cases, not of nodes, so that one case full of `Add` is one. There are at most as many as there are
//! pairs of operators, whatever the number of cases.

use std::collections::{BTreeMap, BTreeSet};

use ir::{NodeKind, Operation};
use ops::Model;
use serde::{Deserialize, Serialize};

use harness::{case, counts};

/// In how many cases operators and pairs of operators occurred.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// The operators.
    pub operators: BTreeMap<String, u64>,
    /// How often operators occurred, by the dtype of the first operand, or of the first output where there is none.
    #[serde(default)]
    pub dtypes: BTreeMap<String, BTreeMap<String, u64>>,
    /// The pairs: producer, then consumer.
    pub pairs: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Coverage {
    /// Counts a model. Functions are graphs of their own: what meets across a call is not counted.
    pub fn take(&mut self, model: &Model) {
        let (mut operators, mut pairs) = (BTreeSet::new(), BTreeSet::new());
        for graph in model.functions.iter().map(|f| &f.body).chain([&model.graph]) {
            for node in &graph.nodes {
                let NodeKind::Operator(consumer) = &node.kind else { continue };
                operators.insert(consumer.name());
                for operand in node.inputs.iter().flatten() {
                    if let NodeKind::Operator(producer) = &graph.node(operand.node).kind {
                        pairs.insert((producer.name(), consumer.name()));
                    }
                }
            }
        }
        for operator in operators {
            *self.operators.entry(operator.to_owned()).or_default() += 1;
        }
        for (operator, dtype) in case::operators(model).collect::<BTreeSet<_>>() {
            let dtypes = self.dtypes.entry(operator.to_owned()).or_default();
            *dtypes.entry(dtype.to_string()).or_default() += 1;
        }
        for (producer, consumer) in pairs {
            let consumers = self.pairs.entry(producer.to_owned()).or_default();
            *consumers.entry(consumer.to_owned()).or_default() += 1;
        }
    }

    /// Adds the counts of other cases.
    pub fn merge(&mut self, more: Self) {
        for (operator, count) in more.operators {
            *self.operators.entry(operator).or_default() += count;
        }
        for (operator, dtypes) in more.dtypes {
            counts::add(self.dtypes.entry(operator).or_default(), dtypes);
        }
        for (producer, consumers) in more.pairs {
            let into = self.pairs.entry(producer).or_default();
            for (consumer, count) in consumers {
                *into.entry(consumer).or_default() += count;
            }
        }
    }

    /// How many different pairs occurred.
    pub fn distinct_pairs(&self) -> usize {
        self.pairs.values().map(BTreeMap::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(text: &str) -> Model {
        text.parse().unwrap()
    }

    const TWICE: &str = "onnxsmith 1 opset 18
graph {
  %0: f32[2] = variable \"x\"
  %1: f32[2] = Abs(%0)
  %2: f32[2] = Add(%1, %1)
  %3: f32[2] = Add(%2, %1)
  return \"y\" = %3
}
";

    #[test]
    fn a_pair_counts_once_in_a_case_and_parts_add_up() {
        let twice = model(TWICE);
        let mut whole = Coverage::default();
        whole.take(&twice);
        assert_eq!(whole.operators, [("Abs", 1), ("Add", 1)].map(|(n, c)| (n.to_owned(), c)).into());
        assert_eq!(whole.distinct_pairs(), 2);
        assert_eq!(whole.pairs["Abs"]["Add"], 1);
        assert_eq!(whole.pairs["Add"]["Add"], 1);
        let part = whole.clone();
        whole.take(&twice);
        let mut sum = part.clone();
        sum.merge(part);
        assert_eq!(sum, whole);
    }
}
