//! Where a program keeps the elements of its tensors, and what it calls its values and nodes: both mean nothing, and
//! every runtime reads both.

use std::collections::{BTreeMap, BTreeSet};

use super::{Body, Initializer, Program, Scope, ValueId};
use crate::names;
use crate::proto::TensorProto;
use crate::tensor::elements::is_in_field;
use crate::tensor::{in_bytes, in_field};

impl Program {
    /// The program with the elements of some of its tensors in the fields of their types (`int32_data` of a float16);
    /// `None` where none changes.
    pub fn with_tensor_fields(&self, mut is_meant: impl FnMut() -> bool) -> Option<Self> {
        self.with_tensors(&mut |tensor| in_field(tensor).filter(|_| is_meant()))
    }

    /// The program with the elements of its tensors as bytes, of those of some element types (as ONNX numbers them);
    /// `None` where they are.
    pub fn without_tensor_fields(&self, is_meant: impl Fn(i32) -> bool) -> Option<Self> {
        self.with_tensors(&mut |tensor| in_bytes(tensor).filter(|_| is_meant(tensor.data_type())))
    }

    /// The element types of the tensors that have their elements in the field of their type, as ONNX numbers them, and
    /// of each a value of the main graph that is such a tensor; `None` where they are all inside.
    pub fn types_in_fields(&self) -> BTreeMap<i32, Option<ValueId>> {
        let mut types = BTreeMap::new();
        let mut add = |tensor: &TensorProto, value: Option<ValueId>| {
            if is_in_field(tensor) {
                let known: &mut Option<ValueId> = types.entry(tensor.data_type()).or_default();
                *known = known.or(value);
            }
        };
        let Body { initializers, nodes, .. } = &self.main.body;
        for Initializer { value, tensor } in initializers {
            add(tensor, Some(*value));
        }
        let constants = nodes.iter().filter(|node| node.rest.op_type() == "Constant");
        for (node, attribute) in constants.flat_map(|node| node.attributes.iter().map(move |a| (node, a))) {
            attribute.rest.t.iter().for_each(|tensor| add(tensor, node.outputs.first().copied().flatten()));
        }
        self.each_tensor(&mut |tensor| add(tensor, None));
        types
    }

    fn each_tensor(&self, visit: &mut dyn FnMut(&TensorProto)) {
        self.main.body.each_tensor(visit);
        self.functions.iter().for_each(|function| function.scope.body.each_tensor(visit));
    }

    /// The program with other tensors; `None` where none is another.
    fn with_tensors(&self, other: &mut dyn FnMut(&TensorProto) -> Option<TensorProto>) -> Option<Self> {
        let mut program = self.clone();
        let mut is_new = false;
        let mut visit = |tensor: &mut TensorProto| {
            if let Some(new) = other(tensor) {
                *tensor = new;
                is_new = true;
            }
        };
        program.main.body.each_tensor_mut(&mut visit);
        program.functions.iter_mut().for_each(|function| function.scope.body.each_tensor_mut(&mut visit));
        is_new.then_some(program)
    }

    /// The program with new names for nodes, and for values that are neither inputs nor outputs. `value` and `node`
    /// make a new name from an old one; if the new name is taken, an unused one is made from it. Nodes without a name
    /// stay without.
    #[must_use]
    pub fn renamed(
        &self,
        mut value: impl FnMut(&str) -> String,
        mut node: impl FnMut(&str) -> String,
    ) -> Self {
        let mut program = self.clone();
        program.main.rename(&mut value);
        let mut taken = names::Names::default();
        program.main.body.each_name(&mut |name| *name = taken.fresh(node(name)));
        program
    }

    /// The program with names as exported models have them; `None` if its names are like that already.
    pub fn with_plain_names(&self) -> Option<Self> {
        if self.has_plain_names() {
            return None;
        }
        let mut values = 0..;
        let mut nodes = 0..;
        let plain = |prefix: &str, numbers: &mut std::ops::RangeFrom<usize>, name: &str| {
            if is_plain(name) { name.to_owned() } else { format!("{prefix}{}", numbers.next().unwrap_or(0)) }
        };
        Some(self.renamed(|name| plain("w", &mut values, name), |name| plain("m", &mut nodes, name)))
    }

    /// Whether all names are identifiers, except those of inputs and outputs, and no two nodes have the same name.
    /// Nodes without a name do not matter.
    pub fn has_plain_names(&self) -> bool {
        let kept = self.main.ports();
        let mut values = self.main.names.iter().enumerate();
        let mut taken = BTreeSet::new();
        let mut are_plain = values.all(|(value, name)| is_plain(name) || kept.contains(&value));
        self.main.body.each_node(&mut |node| {
            let name = node.rest.name();
            are_plain &= name.is_empty() || is_plain(name) && taken.insert(name);
        });
        are_plain
    }
}

/// Whether a name is an identifier of C, as ONNX's text asks for, or means something here.
fn is_plain(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    names::is_alias(name)
        || name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

impl Scope {
    /// The inputs and outputs of the outermost body.
    fn ports(&self) -> BTreeSet<usize> {
        self.body.inputs.iter().chain(&self.body.outputs).map(|port| port.value.index()).collect()
    }

    /// Other names of all values that are no input or output of the outermost body.
    fn rename(&mut self, name: &mut dyn FnMut(&str) -> String) {
        let kept = self.ports();
        let mut taken = names::Names::default();
        for &value in &kept {
            taken.take(&self.names[value]);
        }
        for (value, old) in self.names.iter_mut().enumerate() {
            if !kept.contains(&value) {
                *old = taken.fresh(name(old));
            }
        }
        self.taken = super::taken::Taken::default();
    }
}

impl Body {
    /// Every tensor: initializers, and attributes of nodes, those of bodies inside included.
    fn each_tensor(&self, visit: &mut dyn FnMut(&TensorProto)) {
        self.initializers.iter().for_each(|initializer| visit(&initializer.tensor));
        self.each_node(&mut |node| {
            let attributes = node.attributes.iter();
            attributes.flat_map(|a| a.rest.t.iter().chain(&a.rest.tensors)).for_each(&mut *visit);
            let held = node.bodies().flat_map(|body| &body.initializers);
            held.for_each(|initializer| visit(&initializer.tensor));
        });
    }

    /// The tensors of [`Body::each_tensor`], to be changed.
    fn each_tensor_mut(&mut self, visit: &mut dyn FnMut(&mut TensorProto)) {
        self.initializers.iter_mut().for_each(|initializer| visit(&mut initializer.tensor));
        for attribute in self.nodes.iter_mut().flat_map(|node| &mut node.attributes) {
            attribute.rest.t.iter_mut().chain(&mut attribute.rest.tensors).for_each(&mut *visit);
            attribute
                .body
                .iter_mut()
                .chain(&mut attribute.bodies)
                .for_each(|body| body.each_tensor_mut(visit));
        }
    }

    /// Every name of a node that has one, those of bodies inside included.
    fn each_name(&mut self, visit: &mut dyn FnMut(&mut String)) {
        for node in &mut self.nodes {
            node.rest.name.iter_mut().filter(|name| !name.is_empty()).for_each(&mut *visit);
            let bodies = node.attributes.iter_mut().flat_map(|a| a.body.iter_mut().chain(&mut a.bodies));
            bodies.for_each(|body| body.each_name(visit));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_exporters_become_plain_and_no_two_nodes_have_one() {
        let program = |first: &str, second: &str, value: &str| {
            Program::from_text(&format!(
                "<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[2] \"in:0\") => (float[2] y) {{\n  \
                 [\"{first}\"] \"{value}\" = Abs(\"in:0\")\n  [\"{second}\"] y = Neg(\"{value}\")\n}}\n"
            ))
            .unwrap()
        };
        // Inputs and outputs keep their names.
        assert_eq!(program("n0", "n1", "v1").with_plain_names(), None);
        let plain = program("/a/Abs", "n", "/a/Abs_output_0").with_plain_names().unwrap();
        assert_eq!(plain, program("m0", "n", "w0"));
        assert!(plain.has_plain_names());
        let mut twice = program("n", "m", "v1");
        twice.main.body.nodes[1].rest.name = Some("n".to_owned());
        assert_eq!(twice.with_plain_names(), Some(program("n", "n_", "v1")));
    }
}
