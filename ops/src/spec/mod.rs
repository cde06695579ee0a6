//! How this program spells ONNX's operators: operands, dtypes and attributes by opset.
//!
//! All of it follows from the standard's own [schemas](crate::schema) and from what an operator's file states beside them, a
//! [`Row`]: which operands are attributes here, and where we keep to less than the standard allows, with the reason.

use std::ops::RangeInclusive;

use ir::DTypes;
use ir::graph::OPSETS;

use crate::about::About;
pub use crate::schema::Arity;
use crate::schema::{self, Parameter, Schema};

/// What an operator's file says of its spelling.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// ONNX's `op_type`, in the default domain.
    pub name: &'static str,
    /// The attributes of ours that ONNX writes as something else, in some opset at least.
    pub written: &'static [Written],
    /// Where we keep to less than the standard allows.
    pub deviations: &'static [Deviation],
    /// What it is, in words.
    pub about: About,
    /// Whether it moves elements of all dtypes where programs are written out: a Scan stacks whatever its body gives, and Concat
    /// may have no 8-bit floats in a model.
    pub carries: bool,
}

/// The attributes that say only how narrow dtypes are stored. For all others they change nothing, whatever they are.
pub const ABOUT_NARROW: [&str; 2] = ["saturate", "round_mode"];

/// An attribute of ours that ONNX writes as something else.
#[derive(Clone, Copy, Debug)]
pub enum Written {
    /// As a constant operand, in the opsets that have such an operand.
    Operand {
        /// ONNX's name for the operand.
        operand: &'static str,
        /// Our name for the attribute.
        attribute: &'static str,
        /// What the operand looks like.
        form: Form,
    },
    /// As the number of outputs a node has.
    Outputs {
        /// Our name for the attribute.
        attribute: &'static str,
    },
    /// Nowhere: it is how many elements of an operand are not zero.
    Found {
        /// Our name for the attribute.
        attribute: &'static str,
        /// The position of the operand.
        operand: usize,
    },
}

impl Written {
    /// Our name for the attribute.
    const fn attribute(&self) -> &'static str {
        match self {
            Self::Operand { attribute, .. } | Self::Outputs { attribute } | Self::Found { attribute, .. } => {
                attribute
            }
        }
    }
}

/// What a constant operand of int64 elements looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A list.
    List,
    /// One number, of rank 0.
    Scalar,
    /// One number, a list of length 1.
    Single,
}

/// Where we keep to less than the standard allows.
#[derive(Clone, Debug)]
pub enum Deviation {
    /// A type parameter does not stand for some dtypes.
    DTypes {
        /// The type parameter.
        of: &'static str,
        /// The dtypes it does not stand for.
        without: DTypes,
        /// The opsets in which it does not.
        opsets: RangeInclusive<u32>,
        /// The reason.
        why: &'static str,
    },
    /// There are no such attributes here.
    Attributes {
        /// ONNX's names.
        names: &'static [&'static str],
        /// The reason.
        why: &'static str,
    },
}

/// An attribute that is a list operand of the same name.
pub const fn list(name: &'static str) -> Written {
    Written::Operand { operand: name, attribute: name, form: Form::List }
}

/// An attribute that is an operand of rank 0 of the same name.
pub const fn scalar(name: &'static str) -> Written {
    Written::Operand { operand: name, attribute: name, form: Form::Scalar }
}

/// An attribute that is an operand with one element in a list.
pub const fn single(operand: &'static str, attribute: &'static str) -> Written {
    Written::Operand { operand, attribute, form: Form::Single }
}

/// An attribute that is the number of outputs a node has, trailing unnamed ones left out.
pub const fn outputs(attribute: &'static str) -> Written {
    Written::Outputs { attribute }
}

/// An attribute that only the values of an operand tell: how many of them are not zero.
pub const fn found(attribute: &'static str, operand: usize) -> Written {
    Written::Found { attribute, operand }
}

impl Row {
    /// An operator as the schemas have it.
    pub const fn new(name: &'static str) -> Self {
        let about = About { text: "", module: "" };
        Self { name, written: &[], deviations: &[], about, carries: false }
    }

    /// This operator, in these words.
    #[must_use]
    pub const fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    /// This operator, some of its attributes written as something else.
    #[must_use]
    pub const fn with(self, written: &'static [Written]) -> Self {
        Self { written, ..self }
    }

    /// This operator with less than the standard allows.
    #[must_use]
    pub const fn but(self, deviations: &'static [Deviation]) -> Self {
        Self { deviations, ..self }
    }

    /// This operator, which moves elements of all dtypes where programs are written out.
    #[must_use]
    pub const fn carrying(self) -> Self {
        Self { carries: true, ..self }
    }
}

/// One ONNX operator of the registry.
#[derive(Debug)]
pub struct Spec {
    /// ONNX's `op_type`, in the default domain.
    pub name: &'static str,
    /// The operands, in ONNX's order, those that are attributes here left out.
    pub inputs: Vec<Port>,
    /// The dtypes of the outputs, one entry per output; the last entry stands for all further ones.
    pub outputs: Vec<Allowed>,
    /// Where each opset spells each attribute.
    pub fields: Vec<Field>,
    /// Where we keep to less than the standard allows.
    pub deviations: &'static [Deviation],
    /// What it is, in words.
    pub about: About,
    /// The first opset of ours that has the operator.
    since: u32,
    /// The attributes that ONNX writes as something else, in some opset at least.
    written: &'static [Written],
    /// Whether it moves elements of all dtypes where programs are written out.
    carries: bool,
    /// Where the operator stands in the registry.
    pub(crate) position: usize,
}

/// What holds from which opset on: ascending, the first entry names the opset in which the operator appeared (13 stands
/// for "13 or before").
pub type ByOpset<T> = Vec<(u32, T)>;

/// Which dtypes are allowed from which opset on.
pub type Allowed = ByOpset<DTypes>;

/// An operand.
#[derive(Clone, Debug)]
pub struct Port {
    /// ONNX's name for it.
    pub name: &'static str,
    /// Whether it may be absent or repeated.
    pub arity: Arity,
    /// The dtypes it may have.
    pub types: Allowed,
}

/// An attribute that is not spelled as a plain ONNX attribute in every opset from 13 on.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name here, and in ONNX where it is an attribute.
    pub name: &'static str,
    /// Where it is written.
    pub places: ByOpset<Place>,
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
    /// Nowhere: it is how many elements of the operand at this position are not zero.
    Found(usize),
}

/// The entry of a table by opset that holds in `opset`.
pub fn at<T: Copy>(table: &[(u32, T)], opset: u32) -> Option<T> {
    table.iter().rev().find(|(since, _)| *since <= opset).map(|&(_, v)| v)
}

impl Row {
    /// The definition that holds in an opset.
    fn definition(&self, opset: u32) -> Option<&'static Schema> {
        schema::in_force(self.name, opset).filter(|schema| !schema.deprecated)
    }

    /// What holds from which opset of ours on. `None` where an opset does not have it.
    fn by_opset<T: PartialEq>(&self, entry: impl Fn(u32, &'static Schema) -> Option<T>) -> ByOpset<T> {
        let mut table: ByOpset<T> = Vec::new();
        for opset in OPSETS {
            let Some(entry) = self.definition(opset).and_then(|schema| entry(opset, schema)) else {
                continue;
            };
            if table.last().is_none_or(|(_, before)| *before != entry) {
                table.push((opset, entry));
            }
        }
        table
    }

    /// The operands that are no attributes here.
    fn operands(&self, schema: &'static Schema) -> impl Iterator<Item = &'static Parameter> {
        let is_attribute = |name: &str| {
            self.written.iter().any(|written| match written {
                Written::Operand { operand, .. } => *operand == name,
                Written::Outputs { .. } | Written::Found { .. } => false,
            })
        };
        schema.inputs.iter().filter(move |parameter| !is_attribute(parameter.name))
    }

    /// The dtypes that an operand or a result may have.
    fn dtypes(&self, opset: u32, parameter: &Parameter) -> DTypes {
        self.deviations.iter().fold(parameter.dtypes, |allowed, deviation| match deviation {
            Deviation::DTypes { of, without, opsets, .. }
                if *of == parameter.ty && opsets.contains(&opset) =>
            {
                allowed.difference(*without)
            }
            Deviation::DTypes { .. } | Deviation::Attributes { .. } => allowed,
        })
    }

    /// Whether there is no such attribute of ONNX's here.
    fn lacks(&self, attribute: &str) -> bool {
        self.deviations.iter().any(|deviation| match deviation {
            Deviation::Attributes { names, .. } => names.contains(&attribute),
            Deviation::DTypes { .. } => false,
        })
    }

    fn inputs(&self) -> Vec<Port> {
        let latest = self.definition(*OPSETS.end()).into_iter().flat_map(|schema| self.operands(schema));
        let port = |(i, operand): (usize, &Parameter)| Port {
            name: operand.name,
            arity: operand.arity,
            // By position, because some operands have changed their names.
            types: self.by_opset(|opset, schema| {
                self.operands(schema).nth(i).map(|operand| self.dtypes(opset, operand))
            }),
        };
        latest.enumerate().map(port).collect()
    }

    fn outputs(&self) -> Vec<Allowed> {
        let count = self.definition(*OPSETS.end()).map_or(0, |schema| schema.outputs.len());
        let output =
            |i| self.by_opset(|opset, schema| schema.outputs.get(i).map(|output| self.dtypes(opset, output)));
        (0..count).map(output).collect()
    }

    fn fields(&self) -> Vec<Field> {
        let written = self.written.iter().map(|written| match *written {
            Written::Operand { operand, attribute, form } => {
                (attribute, self.by_opset(|_, schema| Some(place(schema, operand, attribute, form))))
            }
            Written::Outputs { attribute } => (attribute, self.by_opset(|_, _| Some(Place::Outputs))),
            Written::Found { attribute, operand } => {
                (attribute, self.by_opset(|_, _| Some(Place::Found(operand))))
            }
        });
        let mut fields: Vec<Field> = written.map(|(name, places)| Field { name, places }).collect();
        for name in OPSETS.filter_map(|opset| self.definition(opset)).flat_map(attributes) {
            let places = self.by_opset(|_, schema| Some(place_of_attribute(schema, name)));
            let is_new = fields.iter().all(|field| field.name != name);
            if places.len() > 1 && is_new && !self.lacks(name) {
                fields.push(Field { name, places });
            }
        }
        fields
    }
}

fn attributes(schema: &'static Schema) -> impl Iterator<Item = &'static str> {
    schema.attributes.iter().map(|attribute| attribute.name)
}

/// Where a definition has an attribute of ours that may be an operand.
fn place(schema: &'static Schema, operand: &str, attribute: &str, form: Form) -> Place {
    match (schema.inputs.iter().position(|parameter| parameter.name == operand), form) {
        (Some(slot), Form::List) => Place::List(slot),
        (Some(slot), Form::Scalar) => Place::Scalar(slot),
        (Some(slot), Form::Single) => Place::Single(slot),
        (None, _) => place_of_attribute(schema, attribute),
    }
}

fn place_of_attribute(schema: &'static Schema, name: &str) -> Place {
    if attributes(schema).any(|attribute| attribute == name) { Place::Attribute } else { Place::Absent }
}

impl Spec {
    /// The operator at a position of the registry.
    pub(crate) fn new(row: &Row, position: usize) -> Self {
        Self {
            name: row.name,
            inputs: row.inputs(),
            outputs: row.outputs(),
            fields: row.fields(),
            deviations: row.deviations,
            about: row.about,
            written: row.written,
            carries: row.carries,
            since: OPSETS.into_iter().find(|&opset| row.definition(opset).is_some()).unwrap_or(*OPSETS.end()),
            position,
        }
    }

    /// The first opset (from 13 on) that has the operator.
    pub const fn since(&self) -> u32 {
        self.since
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

    /// Whether a node has as many outputs as it names, one at least.
    pub fn has_variadic_outputs(&self) -> bool {
        let latest = schema::in_force(self.name, *OPSETS.end());
        latest.and_then(|schema| schema.outputs.last()).is_some_and(|last| last.arity == Arity::Variadic)
    }

    /// The dtypes operand `i` may have in an opset.
    pub fn input_types(&self, i: usize, opset: u32) -> DTypes {
        self.port(i).and_then(|p| at(&p.types, opset)).unwrap_or(DTypes::NONE)
    }

    /// The dtypes operand `i` may have in some opset, which a later one may take back, or where programs are written out.
    pub fn known_types(&self, i: usize) -> DTypes {
        let all = self.port(i).into_iter().flat_map(|port| &port.types);
        let all = all.fold(DTypes::NONE, |all, (_, types)| all.union(*types));
        let is_moved = self.carries && DTypes::IR4.difference(all).is_empty();
        if is_moved { DTypes::IR13 } else { all }
    }

    /// The dtypes output `i` may have in an opset.
    pub fn output_types(&self, i: usize, opset: u32) -> DTypes {
        let allowed = self.outputs.get(i).or(self.outputs.last());
        allowed.and_then(|types| at(types, opset)).unwrap_or(DTypes::NONE)
    }

    /// Where an attribute is written in an opset. An older one than ours is asked for by whoever reads its models, or writes one.
    pub fn place(&self, attribute: &str, opset: u32) -> Place {
        if opset < *OPSETS.start() {
            return self.former_place(attribute, opset);
        }
        let field = self.fields.iter().find(|f| f.name == attribute);
        field.map_or(Place::Attribute, |f| at(&f.places, opset).unwrap_or(Place::Attribute))
    }
}

impl Spec {
    /// Where an attribute is written in an opset before ours.
    fn former_place(&self, attribute: &str, opset: u32) -> Place {
        let Some(schema) = schema::in_force(self.name, opset) else { return Place::Absent };
        let written = self.written.iter().find(|written| written.attribute() == attribute);
        match written {
            Some(&Written::Operand { operand, form, .. }) => place(schema, operand, attribute, form),
            Some(Written::Outputs { .. }) => Place::Outputs,
            Some(&Written::Found { operand, .. }) => Place::Found(operand),
            None => place_of_attribute(schema, attribute),
        }
    }
}

#[cfg(test)]
mod tests;
