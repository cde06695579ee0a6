//! Types of operands and results: those that ONNX's operator has in the opset that the model declares.
//!
//! What an operator is read as has the types of today. A model that is older, or gives a node what it never took, is
//! for no runtime to accept.

use std::collections::BTreeMap;

use ir::DType;
use ops::schema::{self, Arity, Others, Parameter, Schema};

use super::context::{Context, domain};
use super::frame::Bound;
use super::standard;
use super::walk::Walk;
use crate::Error;
use crate::program::{Node, ValueId};

/// The definition of a node's operator that holds in the model.
#[derive(Clone, Copy)]
pub(super) struct Definition<'n> {
    pub(super) schema: &'static Schema,
    /// The operator's domain, if that is not the default one.
    pub(super) domain: Option<&'n str>,
    /// The version of the domain that the model imports.
    version: u32,
}

impl<'n> Definition<'n> {
    /// The definition, if ONNX has the operator. Of Constant nobody asks it: by the text it had floats alone before
    /// opset 9, and exporters have put integers there as long. An operator of another domain than the default one must
    /// exist in the version that is imported.
    pub(super) fn of(node: &'n Node, context: &Context<'_>) -> Result<Option<Self>, Error> {
        let (domain, op_type) = (domain(node.rest.domain()), node.rest.op_type());
        if domain.is_empty() {
            let version = context.declared;
            let schema = schema::in_force(op_type, version).filter(|_| op_type != "Constant");
            return Ok(schema.map(|schema| Self { schema, domain: None, version }));
        }
        let name = format!("{domain}.{op_type}");
        let Some(&version) = context.imports.get(domain) else { return Ok(None) };
        if schema::definitions(&name).is_empty() {
            return Ok(None);
        }
        let version = version.clamp(0, i64::from(u32::MAX)) as u32;
        let schema = standard::definition(&name, version)?;
        Ok(Some(Self { schema, domain: Some(domain), version }))
    }

    /// Requires that each operand may have the type that it has. What is left out, the signature asks for.
    pub(super) fn check_operands(&self, walk: &Walk<'_, '_>, node: &Node) -> Result<(), Error> {
        self.check(walk, "operand", &node.inputs, &self.schema.inputs)?;
        self.check_same(walk, node)
    }

    /// Requires one dtype of the operands that share a type parameter, in an opset before ours: types were split since
    /// (Pow has two from opset 12 on), and the rules of today ask for no more than today's.
    fn check_same(&self, walk: &Walk<'_, '_>, node: &Node) -> Result<(), Error> {
        if self.domain.is_some() || self.version >= *ir::graph::OPSETS.start() {
            return Ok(());
        }
        let mut first: BTreeMap<&str, (usize, DType)> = BTreeMap::new();
        let fixed = self.schema.inputs.iter().filter(|parameter| parameter.arity != Arity::Variadic);
        for (i, (parameter, value)) in fixed.zip(&node.inputs).enumerate() {
            let dtype = match value.and_then(|id| walk.frame.get(id).ok()) {
                Some(Bound::Tensor(value)) => walk.ty(*value).dtype,
                Some(Bound::Static(tensor)) => tensor.dtype(),
                _ => continue,
            };
            let &mut (other, wanted) = first.entry(parameter.ty).or_insert((i, dtype));
            if dtype != wanted {
                let why = format!(
                    "it is {dtype}, and operand {other} is {wanted}: both are {} in opset {}",
                    parameter.ty, self.version
                );
                return Err(Error::invalid(format!("operand {i}"), why));
            }
        }
        Ok(())
    }

    /// Requires that each result may have the type that it has.
    pub(super) fn check_results(&self, walk: &Walk<'_, '_>, node: &Node) -> Result<(), Error> {
        self.check(walk, "output", &node.outputs, &self.schema.outputs)
    }

    fn check(
        &self,
        walk: &Walk<'_, '_>,
        what: &str,
        values: &[Option<ValueId>],
        parameters: &[Parameter],
    ) -> Result<(), Error> {
        for (i, value) in values.iter().enumerate() {
            // The last one may be repeated.
            let Some(parameter) = parameters.get(i).or(parameters.last()) else { continue };
            let Some(bound) = value.and_then(|id| walk.frame.get(id).ok()) else { continue };
            let Some(is) = other_than(walk, parameter, bound) else { continue };
            let (allowed, version) = (allowed(parameter), self.version);
            let within = match self.domain {
                None => format!("opset {version}"),
                Some(domain) => format!("version {version} of {domain}"),
            };
            let why = format!("it is {is}, but must be {allowed} in {within}");
            return Err(Error::invalid(format!("{what} {i}"), why));
        }
        Ok(())
    }
}

/// What is allowed, in words.
fn allowed(parameter: &Parameter) -> String {
    let Others { strings, sequences, optionals, optional_sequences } = parameter.others;
    let numbers = (!parameter.dtypes.is_empty()).then(|| format!("one of {}", parameter.dtypes));
    let others = [
        (strings, "strings"),
        (!sequences.is_empty(), "a sequence"),
        (!optionals.is_empty() || !optional_sequences.is_empty(), "an optional"),
    ];
    let others = others.iter().filter(|(is_allowed, _)| *is_allowed).map(|(_, what)| (*what).to_owned());
    numbers.into_iter().chain(others).collect::<Vec<_>>().join(", or ")
}

/// What a value is, if that is none of what is allowed.
fn other_than(walk: &Walk<'_, '_>, parameter: &Parameter, bound: &Bound) -> Option<String> {
    let others = &parameter.others;
    // An optional that holds something is bound as what it holds.
    let of_tensor = |dtype: DType| {
        let is_allowed = parameter.dtypes.contains(dtype) || others.optionals.contains(dtype);
        (!is_allowed).then(|| dtype.to_string())
    };
    match bound {
        Bound::Tensor(value) => of_tensor(walk.ty(*value).dtype),
        Bound::Static(tensor) => of_tensor(tensor.dtype()),
        Bound::Sequence(sequence) => {
            let allowed = others.sequences.union(others.optional_sequences);
            let dtype = sequence.items.first().map(|&item| walk.ty(item).dtype).or(sequence.dtype);
            let is_allowed = dtype.map_or(!allowed.is_empty(), |dtype| allowed.contains(dtype));
            (!is_allowed)
                .then(|| dtype.map_or("a sequence".to_owned(), |dtype| format!("a sequence of {dtype}")))
        }
        Bound::Strings(_) => {
            let is_allowed = others.strings || !others.optionals.is_empty();
            (!is_allowed).then(|| "strings".to_owned())
        }
        Bound::Nothing(_) => {
            let is_allowed = !others.optionals.is_empty() || !others.optional_sequences.is_empty();
            (!is_allowed).then(|| "an optional that holds nothing".to_owned())
        }
        Bound::Absent => None,
    }
}
