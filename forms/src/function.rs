//! A function of the model's own: some nodes become its body, and calls take their place.
//!
//! Exporters write modules so, and operators that they write in others. What they do is done here. Attributes of nodes
//! are attributes of the function, which calls give or leave to a default. Nodes that are alike are calls of one
//! function. A function calls another one. It has a parameter that calls leave out, an overload, or an opset of its
//! own. Functions name values without their types, so this works on messages.

mod lifted;
mod names;

use std::collections::{BTreeMap, BTreeSet};

use ir::Choices;
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
};
use ops::schema::{self, Arity};
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use crate::draft::Draft;
use names::{Names, each, each_use, names_defined, names_used};

/// The form's name.
pub(crate) const NAME: &str = "function";

/// The most nodes of a function's body, before some of them move on into another function.
const LONGEST: usize = 4;

/// The most calls of a function.
const MOST_CALLS: usize = 3;

/// The share of functions that are made of nodes that are alike, where there are such nodes.
const ALIKE: f64 = 0.7;

/// The share of functions that call another one.
const NESTED: f64 = 0.35;

/// The domains of functions, as exporters and people name them.
const DOMAINS: [&str; 3] = ["local", "pkg.torch.2.8.0", "this.model"];

/// The nodes of a list that become the body of a function, and those that are like them.
struct Runs {
    length: usize,
    /// The place of the first node of each run, in order.
    starts: Vec<usize>,
}

/// Makes a function of some nodes.
pub(crate) fn write(draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let mut model = draft.program.write();
    let mut graph = model.graph.take()?;
    let runs = chosen(&graph.node, choices)?;
    let mut writer = Writer::of(&model, &graph, draft.opset, choices);
    let given: BTreeSet<String> = graph.output.iter().map(|output| output.name().to_owned()).collect();
    let functions = writer.functions(&mut graph.node, &runs, &given)?;
    let inner: BTreeSet<&str> = functions.iter().flat_map(|made| &made.gone).map(String::as_str).collect();
    graph.value_info.retain(|said| !inner.contains(said.name()));
    let used = names_used(&graph.node);
    let is_kept = |initializer: &TensorProto| {
        used.contains(initializer.name()) || !writer.moved.contains(initializer.name())
    };
    graph.initializer.retain(is_kept);
    model.ir_version = Some(model.ir_version().max(writer.since));
    let imports = BTreeSet::from([writer.domain]);
    model.opset_import.extend(imports.into_iter().map(|domain| opset(domain, 1)));
    // Callees come before callers.
    model.functions.extend(functions.into_iter().rev().map(|made| made.function));
    model.graph = Some(graph);
    draft.reread(model)
}

fn opset(domain: &str, version: i64) -> OperatorSetIdProto {
    OperatorSetIdProto { domain: Some(domain.to_owned()), version: Some(version) }
}

/// Nodes for a function: a few in a row, or several that are alike.
fn chosen(nodes: &[NodeProto], choices: &mut Choices) -> Option<Runs> {
    let mut alike: Vec<Vec<usize>> = Vec::new();
    for (at, node) in nodes.iter().enumerate().filter(|(_, node)| is_fit(node)) {
        match alike.iter_mut().find(|group| are_alike(&nodes[group[0]], node)) {
            Some(group) => group.push(at),
            None => alike.push(vec![at]),
        }
    }
    alike.retain(|group| group.len() > 1);
    if let Some(group) = alike.choose(choices).filter(|_| choices.random_bool(ALIKE)) {
        let mut starts = group.clone();
        starts.shuffle(choices);
        starts.truncate(MOST_CALLS);
        starts.sort_unstable();
        return Some(Runs { length: 1, starts });
    }
    let starts: Vec<usize> = (0..nodes.len()).filter(|&at| is_fit(&nodes[at])).collect();
    let start = *starts.choose(choices)?;
    let fit = nodes[start..].iter().take_while(|node| is_fit(node)).count();
    Some(Runs { length: choices.random_range(1..=LONGEST.min(fit)), starts: vec![start] })
}

/// Whether a node may stand in a function. Constants may not, as they are no calls, nor may a node none of whose
/// outputs has a name.
fn is_fit(node: &NodeProto) -> bool {
    node.op_type() != "Constant" && node.output.iter().any(|output| !output.is_empty())
}

/// Whether two nodes differ at most in the names of their operands and results, and in the values of attributes.
fn are_alike(one: &NodeProto, other: &NodeProto) -> bool {
    let called =
        |node: &NodeProto| (node.op_type().to_owned(), node.domain().to_owned(), node.overload().to_owned());
    // Which names are left out, and which repeat an earlier one.
    let there = |names: &[String]| {
        let first = |name: &String| names.iter().position(|other| other == name);
        names.iter().map(|name| (name.is_empty(), first(name))).collect::<Vec<_>>()
    };
    let kinds = |node: &NodeProto| {
        let all = node.attribute.iter().map(|a| (a.name().to_owned(), a.r#type()));
        all.collect::<BTreeMap<_, _>>()
    };
    let has_body = |node: &NodeProto| node.attribute.iter().any(|attribute| attribute.g.is_some());
    called(one) == called(other)
        && there(&one.input) == there(&other.input)
        && there(&one.output) == there(&other.output)
        && kinds(one) == kinds(other)
        && !has_body(one)
        && !has_body(other)
}

/// A function that was made, and the values that are now inside of it.
struct Made {
    function: FunctionProto,
    gone: Vec<String>,
}

/// Makes functions.
struct Writer<'c> {
    opset: u32,
    /// The domains that the model imports.
    imports: Vec<OperatorSetIdProto>,
    /// The constants of the main graph.
    constants: BTreeMap<String, TensorProto>,
    /// Those that became constants in a function.
    moved: BTreeSet<String>,
    domain: &'static str,
    /// The names of the functions that were made.
    names: Vec<String>,
    /// The first IR version that has what functions use.
    since: i64,
    choices: &'c mut Choices,
}

/// The first IR version that has functions.
const FUNCTIONS_SINCE: i64 = 8;
/// The first one in which their attributes have defaults.
const DEFAULTS_SINCE: i64 = 9;
/// The first one in which they have overloads.
const OVERLOADS_SINCE: i64 = 10;

/// The operands and results that a function has at one of its calls.
struct Place {
    operands: Vec<String>,
    results: Vec<String>,
}

impl Place {
    /// The results of these nodes that nothing outside of them reads.
    fn inner(&self, nodes: &[NodeProto]) -> Vec<String> {
        let all = nodes.iter().flat_map(|node| &node.output);
        all.filter(|name| !name.is_empty() && !self.results.contains(name)).cloned().collect()
    }

    /// The call of a function that takes the place of these nodes.
    fn call(
        &self,
        function: &FunctionProto,
        operands: Vec<String>,
        attribute: Vec<AttributeProto>,
    ) -> NodeProto {
        NodeProto {
            name: Some(format!("call_{}", self.results[0])),
            op_type: function.name.clone(),
            domain: function.domain.clone(),
            overload: function.overload.clone(),
            input: operands,
            output: self.results.clone(),
            attribute,
            ..NodeProto::default()
        }
    }
}

impl<'c> Writer<'c> {
    fn of(model: &ModelProto, graph: &GraphProto, opset: u32, choices: &'c mut Choices) -> Self {
        let is_input = |name: &str| graph.input.iter().any(|input| input.name() == name);
        let constants = graph.initializer.iter().filter(|initializer| !is_input(initializer.name()));
        Self {
            opset,
            imports: model.opset_import.clone(),
            constants: constants.map(|tensor| (tensor.name().to_owned(), tensor.clone())).collect(),
            moved: BTreeSet::new(),
            domain: DOMAINS.choose(choices).copied().unwrap_or(DOMAINS[0]),
            names: Vec::new(),
            since: FUNCTIONS_SINCE,
            choices,
        }
    }

    /// Makes a function of nodes, and in some draws another one of nodes in its body; callers come before the functions
    /// that they call. `given` are the values that are used after all nodes.
    fn functions(
        &mut self,
        nodes: &mut Vec<NodeProto>,
        runs: &Runs,
        given: &BTreeSet<String>,
    ) -> Option<Vec<Made>> {
        let mut outer = self.function(nodes, runs, given)?;
        let body = &mut outer.function.node;
        let inner = self.choices.random_bool(NESTED).then(|| chosen(body, self.choices)).flatten();
        let mut all = Vec::new();
        if let Some(runs) = inner {
            let given = outer.function.output.iter().cloned().collect();
            all = self.functions(body, &runs, &given)?;
            outer.function.opset_import.push(opset(self.domain, 1));
        }
        all.insert(0, outer);
        Some(all)
    }

    /// Makes a function of nodes, and calls it in their places.
    fn function(
        &mut self,
        nodes: &mut Vec<NodeProto>,
        runs: &Runs,
        given: &BTreeSet<String>,
    ) -> Option<Made> {
        let places: Vec<Place> =
            runs.starts.iter().map(|&at| place(nodes, at, runs.length, given)).collect::<Option<_>>()?;
        let first = runs.starts[0];
        let mut body: Vec<NodeProto> = nodes[first..first + runs.length].to_vec();
        let others: Vec<Vec<NodeProto>> =
            runs.starts.iter().map(|&at| nodes[at..at + runs.length].to_vec()).collect();
        let name = self.name(&body[0]);
        let lifted = lifted::lift(&mut body, &others, self.choices);
        if lifted.attributes.iter().any(|attribute| attribute.default.is_some()) {
            self.since = self.since.max(DEFAULTS_SINCE);
        }
        let left_out = self.left_out(&mut body);
        let (kept, constants) = self.within(&places);
        let mut names = Names::default();
        let input: Vec<String> =
            kept.iter().map(|&slot| names.parameter(&places[0].operands[slot])).collect();
        let input = input.into_iter().chain(left_out.iter().map(|name| names.parameter(name))).collect();
        let constants: Vec<NodeProto> = constants
            .into_iter()
            .map(|slot| {
                constant(names.inner(&places[0].operands[slot]), &self.constants[&places[0].operands[slot]])
            })
            .collect();
        let gone = others.iter().zip(&places).flat_map(|(nodes, place)| place.inner(nodes)).collect();
        let output = places[0].results.iter().map(|name| names.result(name)).collect();
        for node in &mut body {
            names.rename(node);
        }
        let overload = self.overload();
        let mut function = FunctionProto {
            name: Some(name),
            domain: Some(self.domain.to_owned()),
            overload,
            input,
            output,
            node: constants.into_iter().chain(body).collect(),
            ..FunctionProto::default()
        };
        lifted.declare(&mut function);
        function.opset_import = self.imports_of(&function.node);
        for (i, &at) in runs.starts.iter().enumerate().rev() {
            let mut operands: Vec<String> =
                kept.iter().map(|&slot| places[i].operands[slot].clone()).collect();
            // The last ones may be left off, or have the empty name.
            if self.choices.random_bool(0.5) {
                operands.extend(left_out.iter().map(|_| String::new()));
            }
            let attribute = lifted.given(i, self.choices);
            nodes.splice(at..at + runs.length, [places[i].call(&function, operands, attribute)]);
        }
        Some(Made { function, gone })
    }

    /// A name that says what the function does, or the name of the operator itself, in another domain.
    fn name(&mut self, node: &NodeProto) -> String {
        let plain = node.op_type().to_owned();
        let name = match self.choices.random_range(0..3) {
            0 => plain,
            1 => format!("aten_{}", plain.to_lowercase()),
            _ => format!("{plain}_module"),
        };
        // An overload tells two of one name apart.
        let name = if self.names.contains(&name) { format!("{name}_{}", self.names.len()) } else { name };
        self.names.push(name.clone());
        name
    }

    fn overload(&mut self) -> Option<String> {
        let overload = self.choices.random_bool(0.2).then(|| format!("v{}", self.names.len()));
        if overload.is_some() {
            self.since = self.since.max(OVERLOADS_SINCE);
        }
        overload
    }

    /// Divides the operands into those that stay parameters and those that become constants in the function. Where all
    /// calls have the same constant, most parameters of operators become constants, and half of the others.
    fn within(&mut self, places: &[Place]) -> (Vec<usize>, Vec<usize>) {
        let (mut kept, mut constants) = (Vec::new(), Vec::new());
        for (slot, name) in places[0].operands.iter().enumerate() {
            let is_same = places.iter().all(|place| place.operands[slot] == *name);
            if is_same && self.constants.contains_key(name) && self.choices.random_bool(0.6) {
                self.moved.insert(name.clone());
                constants.push(slot);
            } else {
                kept.push(slot);
            }
        }
        (kept, constants)
    }

    /// In some draws, adds a parameter for an optional operand that a node lacks, and gives the operand a name.
    fn left_out(&mut self, body: &mut [NodeProto]) -> Option<String> {
        let opset = self.opset;
        let open: Vec<usize> = (0..body.len()).filter(|&at| has_open_operand(&body[at], opset)).collect();
        let at = *open.choose(self.choices).filter(|_| self.choices.random_bool(0.4))?;
        let name = "left_out".to_owned();
        body[at].input.push(name.clone());
        Some(name)
    }

    /// The opsets that a function imports: the model's, or another opset of ONNX in which the function's operators are
    /// the same.
    fn imports_of(&mut self, nodes: &[NodeProto]) -> Vec<OperatorSetIdProto> {
        let mut operators = BTreeSet::new();
        each(nodes, &mut |node| {
            operators.insert((node.domain().to_owned(), node.op_type().to_owned()));
        });
        let known = |(domain, _): &&(String, String)| domain.is_empty() || domain == "ai.onnx";
        let names: Vec<&str> = operators.iter().filter(known).map(|(_, name)| name.as_str()).collect();
        let since = |name: &str, opset: u32| schema::in_force(name, opset).map(|schema| schema.since);
        let is_same = |opset: &u32| names.iter().all(|name| since(name, *opset) == since(name, self.opset));
        let others: Vec<u32> = (*ir::graph::OPSETS.start()..self.opset).filter(is_same).collect();
        let other = others.choose(self.choices).copied().filter(|_| self.choices.random_bool(0.25));
        let version = other.unwrap_or(self.opset);
        let used: BTreeSet<&str> = operators.iter().map(|(domain, _)| domain.as_str()).collect();
        let others = self.imports.iter().filter(|entry| !entry.domain().is_empty());
        let others = others.filter(|entry| used.contains(entry.domain())).cloned();
        std::iter::once(opset("", version.into())).chain(others).collect()
    }
}

/// Whether a node leaves out an optional operand behind its last one. For operators that make sequences and optionals,
/// ONNX's inference counts operands, whether they are there or not.
fn has_open_operand(node: &NodeProto, opset: u32) -> bool {
    let is_ours = node.domain().is_empty() && ops::find(node.op_type()).is_some();
    let schema = schema::in_force(node.op_type(), opset).filter(|_| is_ours);
    let next = schema.and_then(|schema| schema.inputs.get(node.input.len()));
    next.is_some_and(|operand| operand.arity == Arity::Optional)
}

/// The operands and results of some nodes in a row; `None` if nothing uses their results.
fn place(nodes: &[NodeProto], at: usize, length: usize, given: &BTreeSet<String>) -> Option<Place> {
    let run = &nodes[at..at + length];
    let defined = names_defined(run);
    let mut operands: Vec<String> = Vec::new();
    each_use(run, &mut |name| {
        if !name.is_empty() && !defined.contains(name) && !operands.contains(name) {
            operands.push(name.clone());
        }
    });
    let later = names_used(&nodes[at + length..]);
    let own = run.iter().flat_map(|node| &node.output);
    let is_given = |name: &&String| {
        // The results of a single node are results of its function, in all calls.
        !name.is_empty() && (length == 1 || later.contains(*name) || given.contains(*name))
    };
    let results: Vec<String> = own.filter(is_given).cloned().collect();
    (!results.is_empty()).then_some(Place { operands, results })
}

/// A Constant node that gives a tensor under a name.
fn constant(name: String, tensor: &TensorProto) -> NodeProto {
    let value = AttributeProto {
        name: Some("value".to_owned()),
        r#type: Some(AttributeType::Tensor as i32),
        t: Some(TensorProto { name: None, ..tensor.clone() }),
        ..AttributeProto::default()
    };
    NodeProto {
        name: Some(format!("constant_{name}")),
        op_type: Some("Constant".to_owned()),
        output: vec![name],
        attribute: vec![value],
        ..NodeProto::default()
    }
}
