//! Attributes of nodes that become attributes of the function that they are in.

use ir::Choices;
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{AttributeProto, FunctionProto, NodeProto};
use rand::RngExt;

/// The share of attributes that become the function's although nothing asks for it.
const LIFTED: f64 = 0.6;

/// An attribute of a function.
pub(super) struct Attribute {
    name: String,
    pub(super) default: Option<AttributeProto>,
    /// The value that each call means, under the name of this attribute.
    values: Vec<AttributeProto>,
}

/// The attributes of a function.
pub(super) struct Lifted {
    pub(super) attributes: Vec<Attribute>,
}

/// Makes attributes of a body's nodes attributes of the function: those that differ between calls, those that refer to
/// attributes of a function around, and some others. `calls` has the nodes with the values that each call means.
pub(super) fn lift(body: &mut [NodeProto], calls: &[Vec<NodeProto>], choices: &mut Choices) -> Lifted {
    let mut attributes: Vec<Attribute> = Vec::new();
    for (at, node) in body.iter_mut().enumerate() {
        for attribute in node.attribute.iter_mut().filter(|attribute| may_be_lifted(attribute)) {
            let of = |call: &Vec<NodeProto>| {
                let mut all = call[at].attribute.iter();
                all.find(|other| other.name() == attribute.name()).cloned().unwrap_or_default()
            };
            let values: Vec<AttributeProto> = calls.iter().map(of).collect();
            let is_same = values.iter().all(|value| value == attribute);
            // A default is a value, and a reference to an attribute of the function around is none.
            let is_around = values.iter().any(|value| !value.ref_attr_name().is_empty());
            if is_same && !is_around && !choices.random_bool(LIFTED) {
                continue;
            }
            let name = unused(attribute.name(), &attributes);
            let renamed = |value| AttributeProto { name: Some(name.clone()), ..value };
            let values: Vec<AttributeProto> = values.into_iter().map(renamed).collect();
            let default = if is_around { None } else { default(&values, choices) };
            *attribute = AttributeProto {
                name: attribute.name.take(),
                r#type: attribute.r#type,
                ref_attr_name: Some(name.clone()),
                ..AttributeProto::default()
            };
            attributes.push(Attribute { name, default, values });
        }
    }
    Lifted { attributes }
}

/// Whether an attribute holds what a call can give: no graph.
fn may_be_lifted(attribute: &AttributeProto) -> bool {
    use AttributeType::{Float, Floats, Int, Ints, String, Strings, Tensor};
    matches!(attribute.r#type(), Float | Floats | Int | Ints | String | Strings | Tensor)
}

/// The name of an operator's attribute; a name made from it if that is taken.
fn unused(name: &str, attributes: &[Attribute]) -> String {
    let is_taken = |name: &str| attributes.iter().any(|attribute| attribute.name == name);
    let numbered = (1..).map(|i| format!("{name}_{i}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|name| !is_taken(name)).unwrap_or_default()
}

/// The default of an attribute: none, the value of one of the calls, or another float.
fn default(values: &[AttributeProto], choices: &mut Choices) -> Option<AttributeProto> {
    let value = values[choices.random_range(0..values.len())].clone();
    match choices.random_range(0..4) {
        0 | 1 => None,
        2 if value.r#type() == AttributeType::Float => {
            Some(AttributeProto { f: Some(value.f() + 1.0), ..value })
        }
        _ => Some(value),
    }
}

impl Lifted {
    /// Declares these attributes in the function.
    pub(super) fn declare(&self, function: &mut FunctionProto) {
        for Attribute { name, default, .. } in &self.attributes {
            match default {
                Some(default) => function.attribute_proto.push(default.clone()),
                None => function.attribute.push(name.clone()),
            }
        }
    }

    /// The attributes that a call gives: those without a default, those whose value is not the default, and a few whose
    /// value is.
    pub(super) fn given(&self, call: usize, choices: &mut Choices) -> Vec<AttributeProto> {
        let is_given = |attribute: &&Attribute| {
            attribute.default.as_ref() != Some(&attribute.values[call]) || choices.random_bool(0.3)
        };
        let given = self.attributes.iter().filter(is_given);
        given.map(|attribute| attribute.values[call].clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use ir::Stream;

    use super::*;

    #[test]
    fn an_attribute_of_the_function_around_is_given_by_each_call() {
        let node = |attribute| NodeProto { attribute: vec![attribute], ..NodeProto::default() };
        let reduction = AttributeProto {
            name: Some("reduction".to_owned()),
            r#type: Some(AttributeType::String.into()),
            ..AttributeProto::default()
        };
        let said = node(AttributeProto { s: Some("add".into()), ..reduction.clone() });
        let around = node(AttributeProto { ref_attr_name: Some("reduction_1".to_owned()), ..reduction });
        for seed in 0..40 {
            let mut choices = Stream::new(seed).rng();
            let calls = [vec![said.clone()], vec![around.clone()]];
            let lifted = lift(&mut [said.clone()], &calls, &mut choices);
            assert!(lifted.attributes[0].default.is_none(), "seed {seed}");
            for (call, nodes) in calls.iter().enumerate() {
                assert_eq!(lifted.given(call, &mut choices), nodes[0].attribute);
            }
        }
    }
}
