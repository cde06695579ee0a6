//! The names that nodes read and define, their bodies included, and the names that these have in a function.

use std::collections::{BTreeMap, BTreeSet};

use onnx::proto::NodeProto;

/// Every node, those of bodies too.
pub(super) fn each(nodes: &[NodeProto], visit: &mut dyn FnMut(&NodeProto)) {
    for node in nodes {
        visit(node);
        for body in node.attribute.iter().filter_map(|attribute| attribute.g.as_ref()) {
            each(&body.node, visit);
        }
    }
}

/// Every name that is used, those in bodies too.
pub(super) fn each_use(nodes: &[NodeProto], visit: &mut dyn FnMut(&String)) {
    for node in nodes {
        node.input.iter().for_each(&mut *visit);
        for body in node.attribute.iter().filter_map(|attribute| attribute.g.as_ref()) {
            each_use(&body.node, visit);
            body.output.iter().filter_map(|output| output.name.as_ref()).for_each(&mut *visit);
        }
    }
}

pub(super) fn names_used(nodes: &[NodeProto]) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    each_use(nodes, &mut |name| _ = used.insert(name.clone()));
    used
}

/// Every name that nodes and the bodies in them give, take or own.
pub(super) fn names_defined(nodes: &[NodeProto]) -> BTreeSet<String> {
    let mut defined = BTreeSet::new();
    each(nodes, &mut |node| {
        defined.extend(node.output.iter().cloned());
        for body in node.attribute.iter().filter_map(|attribute| attribute.g.as_ref()) {
            defined.extend(body.input.iter().filter_map(|input| input.name.clone()));
            defined.extend(body.initializer.iter().filter_map(|initializer| initializer.name.clone()));
        }
    });
    defined
}

/// The names of values inside a function, by their names outside.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    fn called(&mut self, outside: &str, letter: char) -> String {
        let next = format!("{letter}{}", self.0.len());
        self.0.entry(outside.to_owned()).or_insert(next).clone()
    }

    pub(super) fn parameter(&mut self, outside: &str) -> String {
        self.called(outside, 'x')
    }

    pub(super) fn inner(&mut self, outside: &str) -> String {
        self.called(outside, 'c')
    }

    pub(super) fn result(&mut self, outside: &str) -> String {
        self.called(outside, 'y')
    }

    /// Renames the operands and results of a node, and of the nodes in its bodies. A name that is not known yet becomes
    /// one of the function's own.
    pub(super) fn rename(&mut self, node: &mut NodeProto) {
        for name in node.input.iter_mut().chain(&mut node.output).filter(|name| !name.is_empty()) {
            *name = self.called(name, 't');
        }
        for body in node.attribute.iter_mut().filter_map(|attribute| attribute.g.as_mut()) {
            let ports = body.input.iter_mut().chain(&mut body.output).chain(&mut body.value_info);
            let ports = ports.filter_map(|said| said.name.as_mut());
            let own = body.initializer.iter_mut().filter_map(|initializer| initializer.name.as_mut());
            for name in ports.chain(own) {
                *name = self.called(name, 't');
            }
            body.node.iter_mut().for_each(|inner| self.rename(inner));
        }
    }
}
