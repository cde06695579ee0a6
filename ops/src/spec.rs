//! What the ONNX standard says of an operator's spelling: operands, dtypes and attributes by version.

use ir::DTypes;

/// What an operator's file says of its spelling.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// ONNX's `op_type`, in the default domain.
    pub name: &'static str,
    /// The operands, in ONNX's order, those that are attributes here left out.
    pub inputs: &'static [Port],
    /// The dtypes of the outputs, one entry per output; the last entry stands for all further ones.
    pub outputs: &'static [Allowed],
    /// Where each opset spells each attribute.
    pub fields: &'static [Field],
}

/// One ONNX operator of the registry.
#[derive(Debug)]
pub struct Spec {
    /// ONNX's `op_type`, in the default domain.
    pub name: &'static str,
    /// The operands, in ONNX's order, those that are attributes here left out.
    pub inputs: &'static [Port],
    /// The dtypes of the outputs, one entry per output; the last entry stands for all further ones.
    pub outputs: &'static [Allowed],
    /// Where each opset spells each attribute.
    pub fields: &'static [Field],
    /// Where the operator stands in the registry.
    pub(crate) position: usize,
}

/// Which dtypes are allowed from which opset on: ascending, the first entry names the opset in which the
/// operator appeared (13 stands for "13 or before").
pub type Allowed = &'static [(u32, DTypes)];

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// ONNX's name for it.
    pub name: &'static str,
    /// Whether it may be absent or repeated.
    pub arity: Arity,
    /// The dtypes it may have.
    pub types: Allowed,
}

/// How often an operand may appear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly once.
    One,
    /// Once or not at all.
    Optional,
    /// Once or more; only the last operand can be variadic.
    Variadic,
}

/// An attribute that is not spelled as a plain ONNX attribute in every opset from 13 on.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name here, and in ONNX where it is an attribute.
    pub name: &'static str,
    /// Where it is written, by opset, ascending.
    pub places: &'static [(u32, Place)],
}

/// Where an attribute is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// As an ONNX attribute.
    Attribute,
    /// As a constant operand of int64 elements, a list, at this position.
    List(usize),
    /// As a constant operand holding one int64, of rank 0, at this position.
    Scalar(usize),
    /// As a constant operand holding one int64, a list of length 1, at this position.
    Single(usize),
    /// Nowhere: the opset has only the default behaviour.
    Absent,
    /// Nowhere: an integer that is the number of outputs a node has, trailing unnamed ones left out.
    Outputs,
}

/// A required operand.
pub const fn one(name: &'static str, types: Allowed) -> Port {
    Port { name, arity: Arity::One, types }
}

/// An operand that may be absent.
pub const fn optional(name: &'static str, types: Allowed) -> Port {
    Port { name, arity: Arity::Optional, types }
}

/// An operand that may be repeated.
pub const fn variadic(name: &'static str, types: Allowed) -> Port {
    Port { name, arity: Arity::Variadic, types }
}

/// The entry of a table by opset that holds in `opset`.
pub fn at<T: Copy>(table: &[(u32, T)], opset: u32) -> Option<T> {
    table.iter().rev().find(|(since, _)| *since <= opset).map(|&(_, v)| v)
}

impl Spec {
    /// The operator at a position of the registry.
    pub(crate) const fn new(row: &Row, position: usize) -> Self {
        let Row { name, inputs, outputs, fields } = *row;
        Self { name, inputs, outputs, fields, position }
    }

    /// The first opset (from 13 on) that has the operator.
    pub fn since(&self) -> u32 {
        self.inputs
            .first()
            .and_then(|p| p.types.first())
            .or_else(|| self.outputs[0].first())
            .map_or(13, |e| e.0)
    }

    /// The operand that stands at position `i` of a use of the operator.
    pub fn port(&self, i: usize) -> Option<&Port> {
        self.inputs.get(i).or_else(|| self.inputs.last().filter(|p| p.arity == Arity::Variadic))
    }

    /// The most operands a use may have.
    pub fn most_inputs(&self) -> usize {
        match self.inputs.last() {
            Some(p) if p.arity == Arity::Variadic => usize::MAX,
            _ => self.inputs.len(),
        }
    }

    /// The dtypes operand `i` may have in an opset.
    pub fn input_types(&self, i: usize, opset: u32) -> DTypes {
        self.port(i).and_then(|p| at(p.types, opset)).unwrap_or(DTypes::NONE)
    }

    /// The dtypes output `i` may have in an opset.
    pub fn output_types(&self, i: usize, opset: u32) -> DTypes {
        let allowed = self.outputs.get(i).or(self.outputs.last());
        allowed.and_then(|types| at(types, opset)).unwrap_or(DTypes::NONE)
    }

    /// Where an attribute is written in an opset.
    pub fn place(&self, attribute: &str, opset: u32) -> Place {
        let field = self.fields.iter().find(|f| f.name == attribute);
        field.map_or(Place::Attribute, |f| at(f.places, opset).unwrap_or(Place::Attribute))
    }
}
