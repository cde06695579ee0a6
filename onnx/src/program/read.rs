//! `ModelProto` → [`Program`]: every name becomes the number of the value that it means.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::taken::Taken;
use super::{
    Attribute, Body, Declaration, Function, Initializer, Node, Port, Program, Scope, ValueId, sparse,
};
use crate::Error;
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto,
    ValueInfoProto,
};

/// How many names of a cycle are told.
const TOLD: usize = 8;

/// The IR versions that can be read.
const IR_VERSIONS: std::ops::RangeInclusive<i64> = 3..=14;

impl Program {
    /// The program of a model.
    ///
    /// Fails where its header is not one of a model for inference of a version that is known, where it has no graph, where
    /// a name is used that nothing before gives, and where a name is given twice in one body.
    pub fn read(mut model: ModelProto) -> Result<Self, Error> {
        check_header(&model)?;
        let graph = model.graph.take().ok_or_else(|| Error::invalid("model", "it has no graph"))?;
        let functions = std::mem::take(&mut model.functions);
        let functions = functions.into_iter().map(function).collect::<Result<_, _>>()?;
        unique_outputs(&graph.output)?;
        let mut reader = Reader::default();
        let body = reader.graph(graph)?;
        let main = reader.scope(body);
        Ok(Self { main, functions, rest: model })
    }
}

impl Scope {
    /// An attribute of a node of the outermost body. Bodies that it holds are of this scope from now on; what they use they give
    /// themselves. Their values get other names where theirs are in use.
    pub fn attribute(&mut self, proto: AttributeProto) -> Result<Attribute, Error> {
        let there = self.names.len();
        let (names, sparse) = (std::mem::take(&mut self.names), std::mem::take(&mut self.sparse));
        let mut reader = Reader { names, sparse, ..Reader::default() };
        let attribute = reader.attribute(proto);
        (self.names, self.sparse) = (reader.names, reader.sparse);
        for name in self.names.split_off(there) {
            self.fresh(&name);
        }
        attribute
    }
}

/// What a model says about itself must be something that can be read.
fn check_header(proto: &ModelProto) -> Result<(), Error> {
    match proto.ir_version {
        None => return Err(Error::invalid("model", "it has no ir_version")),
        Some(v) if v < 1 => return Err(Error::invalid("model", format!("its ir_version is {v}"))),
        Some(v) if !IR_VERSIONS.contains(&v) => {
            return Err(Error::unsupported("model", format!("its ir_version is {v}")));
        }
        Some(_) => {}
    }
    if !proto.training_info.is_empty() {
        return Err(Error::unsupported("training_info", "only inference is supported"));
    }
    Ok(())
}

fn function(mut proto: FunctionProto) -> Result<Function, Error> {
    let take = |list: &mut Vec<String>| list.drain(..).map(named).collect();
    let parts = Parts {
        inputs: take(&mut proto.input),
        initializers: Vec::new(),
        sparse: Vec::new(),
        nodes: std::mem::take(&mut proto.node),
        outputs: take(&mut proto.output),
        declared: std::mem::take(&mut proto.value_info),
    };
    let mut reader = Reader::default();
    let body = unique_outputs(&parts.outputs).and_then(|()| reader.body(parts, GraphProto::default()));
    let body = body.map_err(|e| e.inside(format!("function `{}`", proto.name())))?;
    Ok(Function { scope: reader.scope(body), rest: proto })
}

fn named(name: String) -> ValueInfoProto {
    ValueInfoProto { name: Some(name), ..Default::default() }
}

/// What graphs and functions both have.
struct Parts {
    inputs: Vec<ValueInfoProto>,
    initializers: Vec<TensorProto>,
    sparse: Vec<SparseTensorProto>,
    nodes: Vec<NodeProto>,
    outputs: Vec<ValueInfoProto>,
    declared: Vec<ValueInfoProto>,
}

/// A scope while it is read.
#[derive(Default)]
struct Reader {
    names: Vec<String>,
    /// The initializers that are sparse in the model.
    sparse: BTreeMap<ValueId, SparseTensorProto>,
    /// How many bytes these have, written out.
    filled: usize,
    /// What names mean now, in the bodies that are open, the innermost last.
    open: Vec<HashMap<String, ValueId>>,
}

impl Reader {
    fn scope(self, body: Body) -> Scope {
        Scope { names: self.names, sparse: self.sparse, taken: Taken::default(), body }
    }

    fn graph(&mut self, mut proto: GraphProto) -> Result<Body, Error> {
        let parts = Parts {
            inputs: std::mem::take(&mut proto.input),
            initializers: std::mem::take(&mut proto.initializer),
            sparse: std::mem::take(&mut proto.sparse_initializer),
            nodes: std::mem::take(&mut proto.node),
            outputs: std::mem::take(&mut proto.output),
            declared: std::mem::take(&mut proto.value_info),
        };
        self.body(parts, proto)
    }

    fn body(&mut self, parts: Parts, rest: GraphProto) -> Result<Body, Error> {
        self.open.push(HashMap::new());
        let body = self.parts(parts, rest);
        self.open.pop();
        body
    }

    fn parts(&mut self, mut parts: Parts, rest: GraphProto) -> Result<Body, Error> {
        let inputs = parts.inputs.into_iter().map(|i| self.input(i)).collect::<Result<Vec<_>, _>>()?;
        let mut defaults: BTreeSet<ValueId> = inputs.iter().map(|port| port.value).collect();
        let initializers = parts.initializers.into_iter().map(|i| self.initializer(i, &mut defaults));
        let mut initializers = initializers.collect::<Result<Vec<_>, _>>()?;
        for sparse in parts.sparse {
            initializers.push(self.sparse_initializer(sparse, &mut defaults)?);
        }
        let nodes = self.nodes(&mut parts.nodes)?;
        let outputs = parts.outputs.into_iter().map(|output| self.output(output, &parts.nodes));
        let outputs = outputs.collect::<Result<_, _>>()?;
        let nodes = nodes.into_iter().zip(parts.nodes).map(|(node, proto)| node.with(proto)).collect();
        let declared = parts.declared.into_iter().map(|info| self.declaration(info)).collect();
        Ok(Body { inputs, initializers, nodes, outputs, declared, rest })
    }

    fn input(&mut self, mut info: ValueInfoProto) -> Result<Port, Error> {
        let name = info.name.take().unwrap_or_default();
        if self.here(&name).is_some() {
            return Err(Error::invalid(format!("input `{name}`"), "there are two of that name"));
        }
        Ok(Port { value: self.define(name)?, declared: info })
    }

    /// An initializer. That of an input gives its default, once.
    fn initializer(
        &mut self,
        mut tensor: TensorProto,
        defaults: &mut BTreeSet<ValueId>,
    ) -> Result<Initializer, Error> {
        let name = tensor.name.take().unwrap_or_default();
        let value = match self.here(&name).filter(|of| defaults.remove(of)) {
            Some(input) => input,
            None => self.define(name)?,
        };
        Ok(Initializer { value, tensor })
    }

    /// A sparse initializer, as the dense one that it means.
    fn sparse_initializer(
        &mut self,
        sparse: SparseTensorProto,
        defaults: &mut BTreeSet<ValueId>,
    ) -> Result<Initializer, Error> {
        let dense = sparse::message(&sparse)?;
        self.filled += dense.raw_data().len();
        if self.filled > sparse::MOST_TOGETHER {
            let why = format!("written out, they have more than {} bytes", sparse::MOST_TOGETHER);
            return Err(Error::unsupported("sparse_initializer", why));
        }
        let initializer = self.initializer(dense, defaults)?;
        self.sparse.insert(initializer.value, sparse);
        Ok(initializer)
    }

    /// The nodes without what stays in their messages: that is needed for as long as names are looked for.
    fn nodes(&mut self, protos: &mut [NodeProto]) -> Result<Vec<Resolved>, Error> {
        tell_apart(protos);
        let mut nodes = Vec::with_capacity(protos.len());
        for index in 0..protos.len() {
            let attributes = std::mem::take(&mut protos[index].attribute);
            let node = self.node(protos, index, attributes);
            nodes.push(node.map_err(|e| e.inside(label(index, &protos[index])))?);
        }
        Ok(nodes)
    }

    fn node(
        &mut self,
        protos: &[NodeProto],
        index: usize,
        attributes: Vec<AttributeProto>,
    ) -> Result<Resolved, Error> {
        let proto = &protos[index];
        let inputs = proto.input.iter().map(|name| self.operand(name, protos)).collect::<Result<_, _>>()?;
        let attributes = attributes.into_iter().map(|a| self.attribute(a)).collect::<Result<_, _>>()?;
        let outputs = proto.output.iter().map(|name| self.given(name)).collect::<Result<_, _>>()?;
        Ok(Resolved { inputs, outputs, attributes })
    }

    fn attribute(&mut self, mut proto: AttributeProto) -> Result<Attribute, Error> {
        let inside = |e: Error, name: &str| e.inside(format!("attribute `{name}`"));
        let (body, bodies) = (proto.g.take(), std::mem::take(&mut proto.graphs));
        let body = body.map(|g| self.graph(g)).transpose().map_err(|e| inside(e, proto.name()))?;
        let bodies = bodies.into_iter().map(|g| self.graph(g)).collect::<Result<_, _>>();
        let bodies = bodies.map_err(|e| inside(e, proto.name()))?;
        Ok(Attribute { rest: proto, body, bodies })
    }

    fn output(&mut self, mut info: ValueInfoProto, nodes: &[NodeProto]) -> Result<Port, Error> {
        let name = info.name.take().unwrap_or_default();
        let value = self.operand(&name, nodes).map_err(|e| e.inside(format!("output `{name}`")))?;
        let value = value.ok_or_else(|| Error::invalid("an output", "its name is empty"))?;
        Ok(Port { value, declared: info })
    }

    fn declaration(&self, mut info: ValueInfoProto) -> Declaration {
        let value = self.here(info.name());
        if value.is_some() {
            info.name = None;
        }
        Declaration { value, declared: info }
    }

    /// The value of that name in the innermost body.
    fn here(&self, name: &str) -> Option<ValueId> {
        self.open.last()?.get(name).copied()
    }

    /// The value of that name, as seen from the innermost body; `None` for the empty name.
    fn operand(&self, name: &str, nodes: &[NodeProto]) -> Result<Option<ValueId>, Error> {
        if name.is_empty() {
            return Ok(None);
        }
        let found = self.open.iter().rev().find_map(|names| names.get(name).copied());
        let missing = || Error::invalid(format!("value `{name}`"), why_missing(name, nodes));
        found.map(Some).ok_or_else(missing)
    }

    /// A new value for an output; `None` for the empty name.
    ///
    /// IR.md, Nodes: "In the case of a nested subgraph, a node output name MUST be distinct from the names from the
    /// outer scopes that are visible in the nested subgraph."
    fn given(&mut self, name: &str) -> Result<Option<ValueId>, Error> {
        if name.is_empty() {
            return Ok(None);
        }
        let outer = self.open.len().saturating_sub(1);
        if self.open[..outer].iter().any(|names| names.contains_key(name)) {
            let why = "a node gives it, and a graph around the node has one of that name";
            return Err(Error::invalid(format!("value `{name}`"), why));
        }
        self.define(name.to_owned()).map(Some)
    }

    fn define(&mut self, name: String) -> Result<ValueId, Error> {
        if name.is_empty() {
            return Err(Error::invalid("name", "it is empty, which means absent"));
        }
        let id = u32::try_from(self.names.len())
            .map_err(|_| Error::unsupported("model", "it has more values than can be counted"))?;
        let twice = self.open.last_mut().and_then(|names| names.insert(name.clone(), ValueId(id)));
        if twice.is_some() {
            return Err(Error::invalid(
                format!("value `{name}`"),
                "two inputs, initializers or nodes give it",
            ));
        }
        self.names.push(name);
        Ok(ValueId(id))
    }
}

/// What becomes of a node besides what stays in its message.
struct Resolved {
    inputs: Vec<Option<ValueId>>,
    outputs: Vec<Option<ValueId>>,
    attributes: Vec<Attribute>,
}

impl Resolved {
    fn with(self, proto: NodeProto) -> Node {
        let Self { inputs, outputs, attributes } = self;
        let rest = NodeProto { input: Vec::new(), output: Vec::new(), attribute: Vec::new(), ..proto };
        Node { inputs, outputs, attributes, rest }
    }
}

/// Requires that the outputs of a model or a function are told apart by their names. ONNX does not ask for that, and
/// those of a body inside are told by their places.
fn unique_outputs(outputs: &[ValueInfoProto]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    match outputs.iter().map(ValueInfoProto::name).find(|name| !seen.insert(*name)) {
        Some(name) => Err(Error::unsupported(format!("output `{name}`"), "there are two of that name")),
        None => Ok(()),
    }
}

/// Gives nodes that have the name of one before them in their graph a name of their own. The standard knows no such nodes (IR.md, "Names
/// Within a Graph"), but ONNX's checker does not look at that, nor do runtimes, and there are models that have some.
fn tell_apart(nodes: &mut [NodeProto]) {
    let taken: BTreeSet<String> = nodes.iter().map(|node| node.name().to_owned()).collect();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for node in nodes.iter_mut().filter(|node| !node.name().is_empty()) {
        let count = seen.entry(node.name().to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 {
            continue;
        }
        let mut another = format!("{}_{count}", node.name());
        while taken.contains(&another) {
            another.push('_');
        }
        node.name = Some(another);
    }
}

/// What tells a node from others, for messages.
fn label(position: usize, node: &NodeProto) -> String {
    match node.name() {
        "" => format!("node #{position} ({})", node.op_type()),
        name => format!("node `{name}` ({})", node.op_type()),
    }
}

/// Why there is no value of the name yet.
fn why_missing(name: &str, nodes: &[NodeProto]) -> String {
    let gives = |node: &NodeProto| node.output.iter().any(|output| output == name);
    let Some(giver) = nodes.iter().position(gives) else {
        return "no input, initializer or node gives it".to_owned();
    };
    let cycle = cycle(giver, nodes);
    if cycle.is_empty() {
        return "it is used before the node that gives it: the nodes are not sorted".to_owned();
    }
    let names: Vec<String> = cycle.iter().take(TOLD).map(|name| format!("`{name}`")).collect();
    let more = if cycle.len() > TOLD { " and more" } else { "" };
    format!("the nodes that give {}{more} form a cycle", names.join(", "))
}

/// The first outputs of the nodes that depend on this one and that it depends on, itself included, in the order of
/// the file; none, if it does not depend on itself.
fn cycle(of: usize, nodes: &[NodeProto]) -> Vec<&str> {
    fn present(names: &[String]) -> impl Iterator<Item = &str> {
        names.iter().map(String::as_str).filter(|name| !name.is_empty())
    }
    let mut givers: BTreeMap<&str, NodeIndex> = BTreeMap::new();
    let mut graph = DiGraph::<(), ()>::with_capacity(nodes.len(), nodes.len());
    for node in nodes {
        let at = graph.add_node(());
        present(&node.output).for_each(|name| _ = givers.entry(name).or_insert(at));
    }
    for (node, at) in nodes.iter().zip(graph.node_indices()) {
        for giver in present(&node.input).filter_map(|name| givers.get(name)) {
            graph.add_edge(*giver, at, ());
        }
    }
    let of = NodeIndex::new(of);
    let mut part = tarjan_scc(&graph).into_iter().find(|part| part.contains(&of)).unwrap_or_default();
    if part.len() == 1 && !graph.contains_edge(of, of) {
        part.clear();
    }
    part.sort_unstable();
    part.iter().filter_map(|at| present(&nodes[at.index()].output).next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Silero-vad's model for OpenVINO has such nodes, and ONNX's checker lets them through.
    #[test]
    fn nodes_of_one_name_have_names_of_their_own() {
        let named = |name: &str| NodeProto { name: Some(name.to_owned()), ..NodeProto::default() };
        let mut nodes = ["a", "a", "", "", "a_2", "a"].map(named);
        tell_apart(&mut nodes);
        assert_eq!(nodes.each_ref().map(NodeProto::name), ["a", "a_2_", "", "", "a_2", "a_3"]);
    }
}
