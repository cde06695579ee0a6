//! Calls of functions: a call written out in its place, and functions that nothing calls.

use std::collections::{BTreeSet, HashMap};

use super::edit::Way;
use super::{Body, Function, Node, Program, ValueId};
use crate::import::domain;
use crate::names::FUNCTION_DOMAIN;
use crate::proto::{AttributeProto, OperatorSetIdProto};

/// How many nodes a program may have once all calls are written out.
const MOST_NODES: usize = 10_000;

impl Program {
    /// The program with the nodes of its function in place of a call, for each call of the main graph and of the bodies
    /// in it whose operands are all there and whose function has the model's opsets.
    pub fn with_a_call_written_out(&self) -> impl Iterator<Item = Self> {
        self.calls().filter_map(|(way, at)| {
            let node = self.body(&way)?.nodes.get(at)?;
            let function = self.functions.iter().find(|function| function.is_called_by(node))?;
            let is_plain = node.inputs.len() == function.scope.body.inputs.len()
                && node.inputs.iter().all(Option::is_some);
            (is_plain && self.has_opsets_of(function)).then(|| self.with_call_written_out(&way, at)).flatten()
        })
    }

    /// The program with the nodes of functions in place of all calls; `None` where there are none, or nodes would be
    /// too many. A function of another opset than the model's means the same in that, or the program would not be
    /// valid.
    pub fn without_calls(&self) -> Option<Self> {
        let mut program: Option<Self> = None;
        loop {
            let now = program.as_ref().unwrap_or(self);
            let Some((way, at)) = now.calls().next() else { return program.map(|p| p.pruned()) };
            let next = now.with_call_written_out(&way, at).filter(|next| next.nodes() <= MOST_NODES)?;
            program = Some(next);
        }
    }

    /// Whether there are functions of other domains than the one in which graphs of ours are exported, of which each is
    /// called once and has no attributes.
    pub fn has_functions_of_its_own(&self) -> bool {
        self.functions.iter().any(|function| function.rest.domain() != FUNCTION_DOMAIN)
    }

    /// The position of the first call in the main graph.
    pub fn first_call(&self) -> Option<usize> {
        self.calls().find(|(way, _)| way.is_empty()).map(|(_, at)| at)
    }

    /// Where calls are, in the main graph and in the bodies in it.
    fn calls(&self) -> impl Iterator<Item = (Way, usize)> {
        let places = self.ways().into_iter().flat_map(|way| {
            let nodes = 0..self.body(&way).map_or(0, |body| body.nodes.len());
            nodes.map(move |at| (way.clone(), at))
        });
        let is_call = |way: &Way, at: usize| {
            let node = self.body(way).and_then(|body| body.nodes.get(at));
            node.is_some_and(|node| self.functions.iter().any(|function| function.is_called_by(node)))
        };
        places.filter(move |(way, at)| is_call(way, *at))
    }

    fn with_call_written_out(&self, way: &Way, at: usize) -> Option<Self> {
        let node = self.body(way)?.nodes.get(at)?;
        let function = self.functions.iter().find(|function| function.is_called_by(node))?;
        let mut held = function.scope.body.clone();
        let (mut bound, mut absent) = (HashMap::new(), BTreeSet::new());
        for (i, port) in held.inputs.iter().enumerate() {
            match node.inputs.get(i).copied().flatten() {
                Some(argument) => _ = bound.insert(port.value, argument),
                None => _ = absent.insert(port.value),
            }
        }
        held.leave_out(&absent);
        let mut program = self.clone();
        let mut body = program.main.copy_of(Some(&function.scope), &held, &mut bound);
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
    /// Leaves out the operands that are these values.
    fn leave_out(&mut self, absent: &BTreeSet<ValueId>) {
        for node in &mut self.nodes {
            node.inputs.iter_mut().for_each(|operand| *operand = operand.filter(|is| !absent.contains(is)));
            let held = node.attributes.iter_mut().flat_map(|a| a.body.iter_mut().chain(&mut a.bodies));
            held.for_each(|inner| inner.leave_out(absent));
        }
    }

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
    fn all_calls_are_written_out_where_the_form_is_undone_and_what_one_leaves_out_stays_so() {
        let text = r#"<ir_version: 10, opset_import: ["" : 17, "f" : 1]>
g (float[2] v) => (y) {
    a = f.outer(v)
    y = f.outer(a, "")
}
<domain: "f", opset_import: ["" : 14, "f" : 1]>
outer (v, least) => (out) {
    a = Clip(v, least)
    out = f.inner(a)
}
<domain: "f", opset_import: ["" : 17]>
inner (v) => (v_) { v_ = Abs(v) }
"#;
        let program = Program::from_text(text).unwrap();
        assert!(program.has_functions_of_its_own());
        let without = program.without_calls().expect("calls");
        let written = without.to_text().to_string();
        assert!(without.functions.is_empty(), "{written}");
        assert_eq!(without.without_calls(), None);
        let operators: Vec<&str> = without.main.body.nodes.iter().map(|node| node.rest.op_type()).collect();
        // The last one keeps the name of the model's output.
        assert_eq!(operators, ["Clip", "Abs", "Clip", "Abs", "Identity"], "{written}");
        assert!(without.main.body.nodes[0].inputs[1].is_none());
    }

    #[test]
    fn a_function_of_another_opset_stays() {
        let old = CALLS
            .replace(r#""f", opset_import: ["" : 17, "f" : 1]"#, r#""f", opset_import: ["" : 16, "f" : 1]"#);
        let program = Program::from_text(&old).unwrap();
        assert_eq!(program.with_a_call_written_out().count(), 0);
    }
}
