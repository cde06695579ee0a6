//! Calls of functions: a call written out in its place, and functions that nothing calls.

use std::collections::{BTreeSet, HashMap};

use super::edit::Way;
use super::{Body, Function, Node, Program, ValueId};
use crate::import::domain;
use crate::proto::{AttributeProto, OperatorSetIdProto};

impl Program {
    /// The program with the nodes of its function in place of a call, for each call of the main graph and of the bodies in it whose
    /// operands are all there and whose function has the model's opsets.
    pub fn with_a_call_written_out(&self) -> impl Iterator<Item = Self> {
        let places = self.ways().into_iter().flat_map(|way| {
            let nodes = 0..self.body(&way).map_or(0, |body| body.nodes.len());
            nodes.map(move |at| (way.clone(), at))
        });
        places.filter_map(|(way, at)| self.with_call_written_out(&way, at))
    }

    fn with_call_written_out(&self, way: &Way, at: usize) -> Option<Self> {
        let node = self.body(way)?.nodes.get(at)?;
        let function = self.functions.iter().find(|function| function.is_called_by(node))?;
        let arguments: Vec<ValueId> = node.inputs.iter().copied().collect::<Option<_>>()?;
        let held = &function.scope.body;
        if arguments.len() != held.inputs.len() || !self.has_opsets_of(function) {
            return None;
        }
        let mut program = self.clone();
        let mut bound: HashMap<_, _> = held.inputs.iter().map(|port| port.value).zip(arguments).collect();
        let mut body = program.main.copy_of(Some(&function.scope), held, &mut bound);
        body.resolve(&|name| function.attribute(node, name));
        let results: Vec<ValueId> = body.outputs.iter().map(|port| port.value).collect();
        program.replace(way, at, body.nodes, body.initializers, &results)
    }

    /// Whether the model imports the domains of a function in the same versions.
    fn has_opsets_of(&self, function: &Function) -> bool {
        let version = |wanted: &str| {
            let mut all = self.rest.opset_import.iter();
            all.find(|import| domain(import.domain()) == domain(wanted)).map(OperatorSetIdProto::version)
        };
        let mut imports = function.rest.opset_import.iter();
        imports.all(|import| version(import.domain()) == Some(import.version()))
    }

    /// Drops the functions that nothing calls.
    pub(super) fn drop_uncalled(&mut self) {
        let mut called = BTreeSet::new();
        let mut bodies = vec![&self.main.body];
        while let Some(body) = bodies.pop() {
            body.each_node(&mut |node| {
                let callees = self.functions.iter().enumerate().filter(|(_, f)| f.is_called_by(node));
                let new = callees.filter(|(i, _)| called.insert(*i));
                bodies.extend(new.map(|(_, function)| &function.scope.body));
            });
        }
        let mut at = 0..;
        self.functions.retain(|_| at.next().is_some_and(|i| called.contains(&i)));
    }
}

impl Function {
    fn is_called_by(&self, node: &Node) -> bool {
        (node.rest.op_type(), domain(node.rest.domain()), node.rest.overload())
            == (self.rest.name(), domain(self.rest.domain()), self.rest.overload())
    }

    /// The value of one of its attributes in a call; `None` where that leaves it out and there is no default.
    fn attribute(&self, call: &Node, name: &str) -> Option<AttributeProto> {
        let given = call.attributes.iter().map(|attribute| &attribute.rest);
        given.chain(&self.rest.attribute_proto).find(|attribute| attribute.name() == name).cloned()
    }
}

impl Body {
    /// Replaces each attribute that refers to one of the function's by that one's value, and drops it if
    /// there is no value.
    fn resolve(&mut self, value: &dyn Fn(&str) -> Option<AttributeProto>) {
        for node in &mut self.nodes {
            node.attributes.retain_mut(|attribute| {
                let rest = &mut attribute.rest;
                if rest.ref_attr_name().is_empty() {
                    return true;
                }
                let Some(value) = value(rest.ref_attr_name()) else { return false };
                *rest = AttributeProto { name: rest.name.take(), ..value };
                true
            });
            let held = node.attributes.iter_mut().flat_map(|a| a.body.iter_mut().chain(&mut a.bodies));
            held.for_each(|inner| inner.resolve(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Program;

    const CALLS: &str = r#"<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
g (float[2] v) => (y) {
    a = f.outer <alpha = 0.5> (v)
    y = Neg(a)
}
<domain: "f", opset_import: ["" : 17, "f" : 1]>
outer <alpha, gamma> (v) => (out) {
    a = Elu <alpha: float = @alpha> (v)
    s = Selu <gamma: float = @gamma> (a)
    out = f.inner(s)
}
<domain: "f", opset_import: ["" : 17]>
inner (v) => (v_) { v_ = Abs(v) }
"#;

    #[test]
    fn calls_are_written_out_one_after_the_other() {
        let program = Program::from_text(CALLS).unwrap();
        let once: Vec<Program> = program.with_a_call_written_out().map(|p| p.pruned()).collect();
        let [once] = &once[..] else { panic!("one call") };
        let text = once.to_text().to_string();
        assert_eq!(once.functions.len(), 1, "{text}");
        assert!(text.contains("Elu <alpha = 0.5> (v)"), "{text}");
        // The call leaves it out.
        assert!(text.contains("Selu(a_)"), "{text}");
        let twice: Vec<Program> = once.with_a_call_written_out().map(|p| p.pruned()).collect();
        let [twice] = &twice[..] else { panic!("one call") };
        assert!(twice.functions.is_empty());
        assert_eq!(twice.with_a_call_written_out().count(), 0);
        assert_eq!((program.nodes(), once.nodes(), twice.nodes()), (6, 5, 4));
    }

    #[test]
    fn a_function_of_another_opset_stays() {
        let old = CALLS
            .replace(r#""f", opset_import: ["" : 17, "f" : 1]"#, r#""f", opset_import: ["" : 16, "f" : 1]"#);
        let program = Program::from_text(&old).unwrap();
        assert_eq!(program.with_a_call_written_out().count(), 0);
    }
}
