//! `ModelProto` → text.
//!
//! Every message is taken apart field by field, so a field that ONNX adds does not compile until it is printed or said to be left
//! out.

mod attribute;
mod tensor;
mod ty;

use std::fmt::Display;

use ir::text::is_identifier;

use super::Text;
use super::names::{name, name_of_its_own, quoted, separated};
use crate::proto::{
    FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto,
};

/// The text of a model.
pub(super) fn model(model: &ModelProto) -> Text {
    let mut printer = Printer::default();
    printer.model(model);
    printer.text
}

/// The text so far, and how deep what comes next lies in bodies.
#[derive(Default)]
struct Printer {
    text: Text,
    depth: usize,
}

impl Printer {
    fn model(&mut self, model: &ModelProto) {
        let ModelProto {
            ir_version,
            opset_import,
            producer_name,
            producer_version,
            domain,
            model_version,
            doc_string,
            graph,
            metadata_props,
            training_info,
            functions,
            configuration,
        } = model;
        self.leave_out("training_info of a model", !training_info.is_empty());
        self.leave_out("configuration of a model", !configuration.is_empty());
        let mut header = Header::default();
        header.entry("ir_version", ir_version.as_ref());
        header.opsets(opset_import);
        header.string("producer_name", producer_name.as_deref());
        header.string("producer_version", producer_version.as_deref());
        header.string("domain", domain.as_deref());
        header.entry("model_version", model_version.as_ref());
        header.string("doc_string", doc_string.as_deref());
        header.metadata(metadata_props);
        self.header(&header);
        match graph {
            Some(graph) => self.graph(graph),
            None => self.leave_out("that a model has no graph", true),
        }
        self.push("\n");
        for function in functions {
            self.function(function);
        }
    }

    fn function(&mut self, function: &FunctionProto) {
        let FunctionProto {
            name: of,
            input,
            output,
            attribute,
            attribute_proto,
            node,
            doc_string,
            opset_import,
            domain,
            overload,
            value_info,
            metadata_props,
        } = function;
        let mut header = Header::default();
        header.string("domain", domain.as_deref());
        header.string("overload", overload.as_deref());
        header.opsets(opset_import);
        header.string("doc_string", doc_string.as_deref());
        header.metadata(metadata_props);
        self.header(&header);
        self.push(name(of.as_deref().unwrap_or_default()));
        if !attribute.is_empty() || !attribute_proto.is_empty() {
            self.push(" <");
            self.push(separated(attribute.iter().map(|attribute| name(attribute))));
            if !attribute.is_empty() && !attribute_proto.is_empty() {
                self.push(", ");
            }
            self.list(attribute_proto, Self::attribute);
            self.push(">");
        }
        self.push(format!(" ({}) => ({})", names(input), names(output)));
        if !value_info.is_empty() {
            self.push(" <");
            self.list(value_info, Self::value_info);
            self.push(">");
        }
        self.nodes(node);
        self.push("\n");
    }

    fn header(&mut self, header: &Header) {
        if !header.0.is_empty() {
            self.push(format!("<{}>\n", separated(header.0.iter())));
        }
    }

    fn graph(&mut self, graph: &GraphProto) {
        let GraphProto {
            node,
            name,
            initializer,
            sparse_initializer,
            doc_string,
            input,
            output,
            value_info,
            quantization_annotation,
            metadata_props,
        } = graph;
        self.leave_out("sparse_initializer of a graph", !sparse_initializer.is_empty());
        self.leave_out("quantization_annotation of a graph", !quantization_annotation.is_empty());
        self.leave_out("doc_string of a graph", says(doc_string.as_deref()));
        self.leave_out("metadata_props of a graph", !metadata_props.is_empty());
        self.push(name_of_its_own(name.as_deref().unwrap_or_default()));
        self.push(" (");
        self.list(input, Self::value_info);
        self.push(") => (");
        self.list(output, Self::value_info);
        self.push(")");
        if !initializer.is_empty() || !value_info.is_empty() {
            self.push(" <");
            self.depth += 1;
            self.lines(initializer, Self::initializer);
            if !initializer.is_empty() && !value_info.is_empty() {
                self.push(",");
            }
            self.lines(value_info, Self::value_info);
            self.depth -= 1;
            self.line();
            self.push(">");
        }
        self.nodes(node);
    }

    fn nodes(&mut self, nodes: &[NodeProto]) {
        self.push(" {");
        self.depth += 1;
        for node in nodes {
            self.line();
            self.node(node);
        }
        self.depth -= 1;
        self.line();
        self.push("}");
    }

    fn node(&mut self, node: &NodeProto) {
        let NodeProto {
            input,
            output,
            name: label,
            op_type,
            domain,
            overload,
            attribute,
            doc_string,
            metadata_props,
            device_configurations,
        } = node;
        self.leave_out("device_configurations of a node", !device_configurations.is_empty());
        self.leave_out("doc_string of a node", says(doc_string.as_deref()));
        self.leave_out("metadata_props of a node", !metadata_props.is_empty());
        if let Some(label) = label {
            self.push(format!("[{}] ", name(label)));
        }
        self.push(names(output));
        self.push(if output.is_empty() { "= " } else { " = " });
        self.push(operator(domain.as_deref().unwrap_or_default(), op_type.as_deref().unwrap_or_default()));
        if let Some(overload) = overload.as_deref().filter(|overload| !overload.is_empty()) {
            self.push(format!(":{}", name(overload)));
        }
        let holds_graphs = attribute.iter().any(|a| a.g.is_some() || !a.graphs.is_empty());
        if !attribute.is_empty() && !holds_graphs {
            self.push(" <");
            self.list(attribute, Self::attribute);
            self.push("> ");
        }
        self.push(format!("({})", names(input)));
        if holds_graphs {
            self.push(" <");
            self.depth += 1;
            self.lines(attribute, Self::attribute);
            self.depth -= 1;
            self.line();
            self.push(">");
        }
    }

    /// Items with commas between them.
    fn list<T>(&mut self, items: &[T], mut print: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            self.push(if i > 0 { ", " } else { "" });
            print(self, item);
        }
    }

    /// Items with commas between them, each on a line of its own.
    fn lines<T>(&mut self, items: &[T], mut print: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            self.push(if i > 0 { "," } else { "" });
            self.line();
            print(self, item);
        }
    }

    /// Begins a line.
    fn line(&mut self) {
        self.push(format!("\n{:1$}", "", 2 * self.depth));
    }

    fn push(&mut self, text: impl Display) {
        use std::fmt::Write as _;
        write!(self.text.text, "{text}").expect("a String takes all text");
    }

    /// Counts what is in a message and has no place in the syntax.
    fn leave_out(&mut self, what: &'static str, is_there: bool) {
        if is_there {
            *self.text.left_out.entry(what).or_default() += 1;
        }
    }
}

/// What stands before a model or a function, entry by entry.
#[derive(Default)]
struct Header(Vec<String>);

impl Header {
    fn entry(&mut self, key: &str, value: Option<impl Display>) {
        self.0.extend(value.map(|value| format!("{key}: {value}")));
    }

    fn string(&mut self, key: &str, value: Option<&str>) {
        self.entry(key, value.map(quoted));
    }

    fn opsets(&mut self, all: &[OperatorSetIdProto]) {
        let opset = |opset: &OperatorSetIdProto| format!("{} : {}", quoted(opset.domain()), opset.version());
        self.entries("opset_import", all.iter().map(opset));
    }

    fn metadata(&mut self, all: &[StringStringEntryProto]) {
        self.entries("metadata_props", all.iter().map(pair));
    }

    fn entries(&mut self, key: &str, entries: impl ExactSizeIterator<Item = String> + Clone) {
        if entries.len() > 0 {
            self.entry(key, Some(format!("[{}]", separated(entries))));
        }
    }
}

/// Whether a string says anything.
fn says(text: Option<&str>) -> bool {
    text.is_some_and(|text| !text.is_empty())
}

/// A key with its value.
fn pair(entry: &StringStringEntryProto) -> String {
    format!("{}: {}", quoted(entry.key()), quoted(entry.value()))
}

fn names(all: &[String]) -> String {
    separated(all.iter().map(|each| name(each))).to_string()
}

/// An operator behind its domain.
fn operator(domain: &str, op_type: &str) -> String {
    match domain {
        "" => name(op_type).to_string(),
        domain if domain.split('.').all(is_identifier) => format!("{domain}.{}", name(op_type)),
        domain => format!("{}.{}", quoted(domain), name(op_type)),
    }
}
