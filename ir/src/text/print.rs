//! Writing the text form.

use std::fmt::{self, Display, Formatter, Write};

use crate::attr::{Attribute, Attributes};
use crate::tensor::Element;
use crate::{
    Function, FunctionId, Graph, Model, Node, NodeId, NodeKind, Operation, Spelling, Tensor, Unnamed, Value,
    each_tensor,
};

use super::cursor::is_identifier;
use super::literal::Literal;
use super::{FLOATS, STRINGS};

/// Constants break their lines before this column.
const WIDTH: usize = 110;

/// The most elements of a constant that people are shown.
const SHOWN: usize = 64;

/// The text form; with `{:#}`, for people, long constants are left out.
impl<O: Operation> Display for Model<O> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "onnxsmith 1 opset {}", self.opset)?;
        for (i, function) in self.functions.iter().enumerate() {
            write!(f, "function {} ", name(&function.name))?;
            graph(f, &function.body, &self.functions[..i])?;
        }
        f.write_str("graph ")?;
        graph(f, &self.graph, &self.functions)
    }
}

/// The type and the elements, as in a constant.
impl Display for Tensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.ty())?;
        elements(f, self)
    }
}

fn graph<O: Operation>(f: &mut Formatter<'_>, graph: &Graph<O>, functions: &[Function<O>]) -> fmt::Result {
    f.write_str("{\n")?;
    for (id, n) in graph.iter() {
        f.write_str("  ")?;
        node(f, id, n, functions)?;
        f.write_char('\n')?;
    }
    f.write_str("  return")?;
    for (i, output) in graph.outputs.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        write!(f, "{comma} {} = {}", quoted(&output.name), output.value)?;
    }
    f.write_str("\n}\n")
}

fn node<O: Operation>(
    f: &mut Formatter<'_>,
    id: NodeId,
    node: &Node<O>,
    functions: &[Function<O>],
) -> fmt::Result {
    write!(f, "{}", Value { node: id, port: 0 })?;
    if !node.outputs.is_empty() {
        write!(f, ": {}", separated(|| &node.outputs))?;
    }
    f.write_str(" = ")?;
    match &node.kind {
        NodeKind::Variable { name } => write!(f, "variable {}", quoted(name)),
        NodeKind::Constant(tensor) => {
            f.write_str("constant ")?;
            let ty = tensor.ty();
            if node.outputs.first() != Some(&ty) {
                write!(f, "{ty} ")?;
            }
            if f.alternate() && tensor.len() > SHOWN {
                return write!(f, "{{… {} elements}}", tensor.len());
            }
            elements(f, tensor)
        }
        NodeKind::Call(callee) => {
            write!(f, "call {}({})", callee_name(*callee, functions), operands(&node.inputs))
        }
        NodeKind::Operator(op) => {
            write!(f, "{}({})", name(op.name()), operands(&node.inputs))?;
            let all = op.attributes();
            if all.is_empty() { Ok(()) } else { write!(f, " {}", attributes(&all)) }
        }
    }?;
    if !node.given.is_empty() {
        write!(f, " given ({})", separated(|| &node.given))?;
    }
    let Spelling { is_terse, unnamed: Unnamed { operands, outputs } } = node.spelling;
    if is_terse {
        f.write_str(" terse")?;
    }
    if operands > 0 || outputs > 0 {
        write!(f, " unnamed ({operands}, {outputs})")?;
    }
    if node.is_inner { f.write_str(" inner") } else { Ok(()) }
}

/// The name of a function, or its position where the name would not lead back to it.
fn callee_name<O>(callee: FunctionId, functions: &[Function<O>]) -> impl Display {
    fmt::from_fn(move |f| match functions.get(callee.0 as usize) {
        Some(function) if super::parse::resolve(&function.name, functions) == Some(callee) => {
            write!(f, "{}", name(&function.name))
        }
        _ => write!(f, "@{}", callee.0),
    })
}

fn operands(inputs: &[Option<Value>]) -> impl Display {
    let operand = |v: &Option<Value>| v.map_or_else(|| "_".to_owned(), |v| v.to_string());
    separated(move || inputs.iter().map(operand))
}

/// Attributes in braces.
pub(crate) fn attributes(all: &Attributes) -> impl Display {
    fmt::from_fn(|f| {
        let pair = |(key, value)| fmt::from_fn(move |f| write!(f, "{} = {}", name(key), attribute(value)));
        write!(f, "{{{}}}", separated(|| all.iter().map(pair)))
    })
}

fn attribute(value: &Attribute) -> impl Display {
    fmt::from_fn(move |f| match value {
        Attribute::Int(v) => write!(f, "{v}"),
        Attribute::Ints(v) => write!(f, "[{}]", separated(|| v)),
        Attribute::Float(v) => write!(f, "{}", Literal(*v)),
        // An empty list alone does not tell of what.
        Attribute::Floats(v) if v.is_empty() => write!(f, "{FLOATS} []"),
        Attribute::Floats(v) => write!(f, "[{}]", separated(|| v.iter().copied().map(Literal))),
        Attribute::Name(v) => write!(f, "{}", quoted(v)),
        Attribute::Strings(v) if v.is_empty() => write!(f, "{STRINGS} []"),
        Attribute::Strings(v) => write!(f, "[{}]", separated(|| v.iter().map(|text| quoted(text)))),
        Attribute::Tensor(v) => write!(f, "{v}"),
        Attribute::DType(v) => write!(f, "{v}"),
    })
}

fn elements(f: &mut Formatter<'_>, tensor: &Tensor) -> fmt::Result {
    fn all<T: Element>(f: &mut Formatter<'_>, array: &ndarray::ArrayD<T>) -> fmt::Result {
        // On one line if it fits on a line of its own; each line is built apart to know its length.
        let mut line = String::new();
        let mut wrapped = false;
        for (i, &v) in array.iter().enumerate() {
            let element = Literal(v).to_string();
            if i > 0 {
                line.push(',');
                if line.len() + element.len() + "      , ".len() > WIDTH {
                    write!(f, "\n    {line}")?;
                    line.clear();
                    wrapped = true;
                } else {
                    line.push(' ');
                }
            }
            line.push_str(&element);
        }
        if wrapped { write!(f, "\n    {line}\n  ") } else { f.write_str(&line) }
    }
    f.write_char('{')?;
    each_tensor!(tensor, array => all(f, array))?;
    f.write_char('}')
}

fn separated<T: Display, I: IntoIterator<Item = T>>(items: impl Fn() -> I) -> impl Display {
    fmt::from_fn(move |f| {
        for (i, item) in items().into_iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{item}")?;
        }
        Ok(())
    })
}

/// A name, quoted unless it is an identifier.
pub(crate) fn name(text: &str) -> impl Display {
    fmt::from_fn(move |f| if is_identifier(text) { f.write_str(text) } else { write!(f, "{}", quoted(text)) })
}

/// A string in quotes.
pub(crate) fn quoted(text: &str) -> impl Display {
    fmt::from_fn(move |f| {
        f.write_char('"')?;
        for c in text.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                c if c.is_control() => write!(f, "\\u{{{:x}}}", c as u32)?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    })
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.port {
            0 => write!(f, "%{}", self.node.0),
            port => write!(f, "%{}.{port}", self.node.0),
        }
    }
}
