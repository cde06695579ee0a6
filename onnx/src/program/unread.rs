//! Less of what a node with bodies passes on: an output that nothing reads, with what the bodies do for it.

use std::collections::BTreeSet;

use super::edit::Way;
use super::{Body, Node, Program, ValueId};

impl Program {
    /// The program without one of the outputs that nothing reads of an If, a Loop or a Scan, for each of them. Where a
    /// loop carried a value for it, its body reads what the value began with.
    pub fn without_unread_outputs(&self) -> impl Iterator<Item = Self> {
        let read = self.main.body.read();
        let place = |way: &Way, at: usize, node: &Node| {
            let is_read = |k: &usize| node.outputs[*k].is_some_and(|output| read.contains(&output));
            let unread = (0..node.outputs.len()).filter(|k| !is_read(k));
            unread.map(|k| (way.clone(), at, k)).collect::<Vec<_>>()
        };
        let mut places = Vec::new();
        for way in self.ways() {
            let nodes = self.body(&way).map_or(&[][..], |body| &body.nodes);
            places.extend(nodes.iter().enumerate().flat_map(|(at, node)| place(&way, at, node)));
        }
        places.into_iter().filter_map(|(way, at, k)| self.without_output(&way, at, k))
    }

    /// The program without an output of a node that has bodies, which nothing reads.
    fn without_output(&self, way: &Way, at: usize, output: usize) -> Option<Self> {
        let mut program = self.clone();
        let node = program.body_mut(way)?.nodes.get_mut(at)?;
        if node.outputs.len() < 2 {
            return None;
        }
        node.outputs.remove(output);
        let passed = match node.rest.op_type() {
            "If" => {
                node.drop_results(output);
                None
            }
            "Loop" => {
                // The first is whether to go on.
                node.drop_results(output + 1);
                node.not_carried(output, 2)?
            }
            "Scan" => {
                node.drop_results(output);
                let scanned = node.attributes.iter().find(|a| a.rest.name() == "num_scan_inputs")?.rest.i();
                let states = node.inputs.len().checked_sub(usize::try_from(scanned).ok()?)?;
                if output >= states {
                    node.drop_of_lists("scan_output_", output - states);
                }
                if output < states { node.not_carried(output, 0)? } else { None }
            }
            _ => return None,
        };
        let Some((inner, first)) = passed else { return Some(program) };
        // What is not made in a body cannot be given by it.
        let node = program.body_mut(way)?.nodes.get_mut(at)?;
        if node.bodies().flat_map(|body| &body.outputs).any(|port| port.value == inner) {
            return None;
        }
        node.each_body(|body| body.each_use(&mut |used| *used = if *used == inner { first } else { *used }));
        Some(program)
    }
}

impl Node {
    fn each_body(&mut self, change: impl FnMut(&mut Body)) {
        self.attributes.iter_mut().filter_map(|attribute| attribute.body.as_mut()).for_each(change);
    }

    /// Drops an output of its bodies.
    fn drop_results(&mut self, place: usize) {
        self.each_body(|body| _ = removed(&mut body.outputs, place));
    }

    /// Stops carrying a value from one iteration to the next, if the node's output is the last of a carried
    /// value. Gives the value inside the body and the one before the loop. `before` is the number of operands
    /// before the carried ones.
    #[allow(clippy::option_option, reason = "an operand that is not there is no value to begin with")]
    fn not_carried(&mut self, output: usize, before: usize) -> Option<Option<(ValueId, ValueId)>> {
        let at = output + before;
        if at >= self.inputs.len() {
            return Some(None);
        }
        let first = self.inputs.remove(at)?;
        let mut inner = None;
        self.each_body(|body| inner = removed(&mut body.inputs, at).map(|port| port.value));
        Some(Some((inner?, first)))
    }

    /// Drops one place of the attributes of lists whose names begin in this way.
    fn drop_of_lists(&mut self, prefix: &str, place: usize) {
        let lists = self.attributes.iter_mut().filter(|attribute| attribute.rest.name().starts_with(prefix));
        for list in lists.filter(|list| place < list.rest.ints.len()) {
            list.rest.ints.remove(place);
        }
    }
}

impl Body {
    /// What its nodes and outputs read, those of inner bodies included.
    fn read(&self) -> BTreeSet<ValueId> {
        let mut read: BTreeSet<ValueId> = self.outputs.iter().map(|port| port.value).collect();
        self.each_node(&mut |node| {
            read.extend(node.inputs.iter().flatten());
            read.extend(node.bodies().flat_map(|body| body.outputs.iter().map(|port| port.value)));
        });
        read
    }
}

fn removed<T>(all: &mut Vec<T>, place: usize) -> Option<T> {
    (place < all.len()).then(|| all.remove(place))
}

#[cfg(test)]
mod tests {
    use super::Program;

    /// y = |x| after two iterations of a loop, which carries twice x beside and piles up what that was; nobody reads these.
    const LOOP: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
g (float[1] x, int64 count) => (y) {
    y, twice, pile = Loop(count, "", x, x) <
        body = repeat (i, on, v, w) => (on_, a, s, w_) {
            on_ = Identity(on)
            a = Abs(v)
            s = Add(w, w)
            w_ = Neg(w)
        }
    >
}"#;

    #[test]
    fn what_nothing_reads_of_a_loop_is_dropped() {
        let program = Program::from_text(LOOP).unwrap();
        let texts = |program: &Program| -> Vec<String> {
            program.without_unread_outputs().map(|p| p.pruned().to_text().to_string()).collect()
        };
        let [without_twice, without_pile] = &texts(&program)[..] else { panic!("two are not read") };
        // The pile is of what the value began with.
        assert!(
            without_twice.contains("y, pile = Loop") && without_twice.contains("Neg(x)"),
            "{without_twice}"
        );
        assert!(!without_twice.contains("Add"), "{without_twice}");
        assert!(without_pile.contains("y, twice = Loop") && !without_pile.contains("Neg"), "{without_pile}");
        let both = Program::from_text(without_twice).unwrap();
        let [neither] = &texts(&both)[..] else { panic!("the pile is not read") };
        assert!(neither.contains("y = Loop") && neither.contains("(i, on, v) =>"), "{neither}");
    }

    #[test]
    fn what_a_body_passes_on_is_carried() {
        let passing = LOOP.replace("(on_, a, s, w_)", "(on_, a, s, w)").replace("w_ = Neg(w)", "");
        let program = Program::from_text(&passing).unwrap();
        // A body cannot give out `x`, which is not its own.
        assert_eq!(program.without_unread_outputs().count(), 1);
    }
}
