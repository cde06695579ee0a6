//! What all parts of a model have in common while it is read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ir::{Tensor, Type};
use ops::{Graph, Op};

use super::Options;
use super::origin::Path;
use crate::Error;
use crate::program::{Function, Node, Program};
use crate::proto::OperatorSetIdProto;

/// How many nodes all typed functions together may have, beyond as many as are in the file.
const MAX_EXTRA_NODES: usize = 10_000;

/// How many iterations all loops and scans of a model may have together. Most meet the limit of nodes first, but a body
/// may add no node, and loops may stand in loops.
pub(super) const MAX_ITERATIONS: usize = 100_000;

/// A model while it is read.
pub(super) struct Context<'p> {
    /// The opset of the result.
    pub(super) opset: u32,
    /// The opset that the model declares; 0 if it declares none.
    pub(super) declared: u32,
    /// The version of each domain that the model imports.
    pub(super) imports: BTreeMap<String, i64>,
    /// The opset whose spelling the model has: the one that it declares if that is older than the result's,
    /// otherwise the result's.
    pub(super) spelled: u32,
    /// Whether the model says that this program wrote it.
    pub(super) ours: bool,
    pub(super) options: &'p Options<'p>,
    pub(super) functions: Functions<'p>,
    /// The inputs that something was read from.
    pub(super) specialised: Vec<String>,
    /// The operators that nobody here knows, and for whose outputs numbers stand.
    pub(super) unknown: BTreeSet<String>,
    /// The bodies that were walked over because they run, those of a loop as in its first turn.
    pub(super) ran: BTreeSet<Path>,
    /// What sizes that have a name in the model are, as far as values have shown.
    pub(super) sizes: BTreeMap<String, i64>,
    /// Whether a branch, a loop, a sequence or a function was written out, something was read from what a node
    /// computes, or the size of an input was not said.
    pub(super) is_written_out: bool,
    /// How many scalar operations may still be spent on what is read from values.
    pub(super) operations: u64,
    /// How many iterations of loops and scans may still be written out.
    pub(super) iterations: usize,
}

/// What identifies a function: domain, name and overload.
type Key<'p> = (&'p str, &'p str, &'p str);

/// The functions of a model while it is read.
pub(super) struct Functions<'p> {
    pub(super) all: &'p [Function],
    /// Which of them hold, or call what holds, what a typed function cannot have.
    written_out: Vec<bool>,
    by_key: BTreeMap<Key<'p>, usize>,
    /// Typed functions, callees before callers.
    pub(super) instances: Vec<Instance>,
    pub(super) by_use: HashMap<Use, usize>,
    /// The functions that are being read now.
    pub(super) active: Vec<usize>,
    /// How many nodes further typed functions may have.
    pub(super) budget: usize,
    /// Whether something was to be read from a value that nothing tells where it was asked for.
    pub(super) lacks_value: bool,
}

/// A function that is typed.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) function: usize,
    pub(super) body: Graph,
}

/// What makes two calls use the same typed function.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(super) struct Use {
    pub(super) function: usize,
    pub(super) types: Vec<Type>,
    /// The attributes of the call, encoded and sorted.
    pub(super) attributes: Vec<Vec<u8>>,
}

impl<'p> Functions<'p> {
    /// `is_written_out` says which operators are written out; all others become nodes.
    pub(super) fn new(program: &'p Program, is_written_out: fn(&str, &str) -> bool) -> Result<Self, Error> {
        let mut by_key = BTreeMap::new();
        for (i, function) in program.functions.iter().enumerate() {
            let proto = &function.rest;
            if proto.name().is_empty() {
                return Err(Error::invalid(format!("function #{i}"), "it has no name"));
            }
            let key = (domain(proto.domain()), proto.name(), proto.overload());
            if by_key.insert(key, i).is_some() {
                return Err(Error::invalid(format!("function `{}`", proto.name()), "it is defined twice"));
            }
        }
        let in_file = program.functions.iter().map(cost).fold(0, usize::saturating_add);
        let mut functions = Self {
            all: &program.functions,
            written_out: vec![false; program.functions.len()],
            by_key,
            instances: Vec::new(),
            by_use: HashMap::new(),
            active: Vec::new(),
            budget: in_file.saturating_add(MAX_EXTRA_NODES),
            lacks_value: false,
        };
        functions.find_written_out(is_written_out);
        Ok(functions)
    }

    /// Whether a function is written out where it is called.
    pub(super) fn is_written_out(&self, function: usize) -> bool {
        self.written_out[function]
    }

    /// Has a function written out from here on: it reads from values that only its calls tell.
    pub(super) fn write_out(&mut self, function: usize) {
        self.written_out[function] = true;
    }

    fn find_written_out(&mut self, is_written_out: fn(&str, &str) -> bool) {
        let mut has_changed = true;
        while std::mem::take(&mut has_changed) {
            for (index, function) in
                self.all.iter().enumerate().filter(|&(i, _)| !self.written_out[i]).collect::<Vec<_>>()
            {
                let mut is = false;
                function.scope.body.each_node(&mut |node| {
                    is |= match self.find(node) {
                        Some(callee) => self.written_out[callee],
                        None => is_written_out(domain(node.rest.domain()), node.rest.op_type()),
                    };
                });
                self.written_out[index] = is;
                has_changed |= is;
            }
        }
    }

    /// The function that a node calls, if it does not name an operator.
    pub(super) fn find(&self, node: &Node) -> Option<usize> {
        let node = &node.rest;
        self.by_key.get(&(domain(node.domain()), node.op_type(), node.overload())).copied()
    }
}

/// What reading a function takes of the budget.
pub(super) fn cost(function: &Function) -> usize {
    function.scope.body.nodes.len() + 1
}

/// A domain by its one name: `ai.onnx` is another name of the default domain, the empty one.
pub(crate) fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

/// The version of each domain that is imported.
pub(super) fn opsets(entries: &[OperatorSetIdProto]) -> Result<BTreeMap<&str, i64>, Error> {
    let mut all = BTreeMap::new();
    for entry in entries {
        let name = domain(entry.domain());
        if all.insert(name, entry.version()).is_some_and(|before| before != entry.version()) {
            return Err(Error::invalid("opset_import", format!("domain `{name}` has two versions")));
        }
    }
    Ok(all)
}

/// Requires that the domain of every node is imported. The default domain is left to the nodes that need it.
pub(super) fn check_domains(nodes: &[Node], imports: &BTreeMap<&str, i64>) -> Result<(), Error> {
    for (index, node) in nodes.iter().enumerate() {
        let name = domain(node.rest.domain());
        if !name.is_empty() && !imports.contains_key(name) {
            let what = format!("operator {}.{}", node.rest.domain(), node.rest.op_type());
            let why = format!("its domain `{}` is not imported", node.rest.domain());
            return Err(Error::invalid(what, why).inside(node.label(index)));
        }
        for body in node.bodies() {
            check_domains(&body.nodes, imports).map_err(|e| e.inside(node.label(index)))?;
        }
    }
    Ok(())
}

/// What computes the values that a model's attributes, branches and loops are read from.
///
/// That is the reference for whoever judges, and an engine of ours uses its own kernels: then it goes the way that its
/// own values lead.
pub trait Evaluator {
    /// The outputs of an operator, of the types given, or why it cannot compute them.
    fn evaluate(
        &self,
        op: &Op,
        operands: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, String>;
}

/// The values of the reference, without bounds.
#[derive(Clone, Copy, Debug)]
pub struct Reference;

impl Evaluator for Reference {
    fn evaluate(
        &self,
        op: &Op,
        operands: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, String> {
        Ok(ops::plain::evaluate(op, operands, outputs))
    }
}
