//! Attributes of which a node may say nothing, because they are what they are where nothing is said.

use ir::{Attribute, Attributes};

use crate::list::Op;
use crate::schema::{self, Absence};
use crate::spec::Place;

/// Attributes that are 1 along each axis where they are not there.
const ONES: [&str; 2] = ["dilations", "strides"];

/// Attributes that are 0 there.
const ZEROS: [&str; 1] = ["pads"];

impl Op {
    /// The attributes that a node of this operator may leave out in an opset, by name: the schema has a default of
    /// theirs, and they are that.
    pub fn left_out(&self, opset: u32) -> Vec<&'static str> {
        self.at_defaults(opset).filter(|attribute| self.may_leave_out(attribute)).map(|a| a.name).collect()
    }

    /// Whether a node that has these attributes alone leaves some of the operator's out.
    pub fn leaves_out_of(&self, written: &Attributes, opset: u32) -> bool {
        let mut missing = self.at_defaults(opset).filter(|attribute| written.get(attribute.name).is_none());
        missing.any(|attribute| self.may_leave_out(attribute))
    }

    /// The attributes in ONNX's form of which the schema has a default, and that are that.
    fn at_defaults(&self, opset: u32) -> impl Iterator<Item = &'static schema::Attribute> {
        self.implied(opset).filter(|attribute| matches!(attribute.absence, Absence::Default(_)))
    }

    fn may_leave_out(&self, attribute: &schema::Attribute) -> bool {
        self.less(attribute).as_ref() == Some(self)
    }

    /// The operator without the attributes whose default the schema leaves to the text, where they are that: what means
    /// the same has fewer attributes then.
    pub fn shortened(&self, opset: u32) -> Self {
        let allowed = self.implied(opset).filter(|attribute| attribute.absence == Absence::Allowed);
        allowed.fold(self.clone(), |op, attribute| op.less(attribute).unwrap_or(op))
    }

    /// The attributes in ONNX's form that are what they are where nothing is said.
    fn implied(&self, opset: u32) -> impl Iterator<Item = &'static schema::Attribute> {
        let (spec, all) = (self.spec(), self.attributes());
        let schema = schema::in_force(spec.name, opset);
        schema.into_iter().flat_map(|schema| &schema.attributes).filter(move |attribute| {
            let is_written = spec.place(attribute.name, opset) == Place::Attribute;
            is_written && all.get(attribute.name).is_some_and(|value| is_implied(attribute, value))
        })
    }

    /// The operator of which nothing is said of an attribute.
    fn less(&self, attribute: &schema::Attribute) -> Option<Self> {
        let mut rest = self.attributes();
        rest.remove(attribute.name)?;
        Self::from_attributes(self.spec(), &rest).ok()
    }
}

/// Whether an attribute is what it is where nothing is said of it.
fn is_implied(attribute: &schema::Attribute, value: &Attribute) -> bool {
    match (attribute.absence, value) {
        (Absence::Default(default), Attribute::Int(v)) => default == v.to_string(),
        (Absence::Default(default), Attribute::Float(v)) => default.parse() == Ok(*v),
        (Absence::Default(default), Attribute::Name(v)) => default == v,
        (Absence::Default(default), Attribute::Ints(list)) => {
            default.split(' ').map(str::parse).eq(list.iter().copied().map(Ok))
        }
        (Absence::Allowed, Attribute::Ints(list)) => {
            let is_all = |number| list.iter().all(|&v| v == number);
            ONES.contains(&attribute.name) && is_all(1) || ZEROS.contains(&attribute.name) && is_all(0)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(name: &str, attributes: &Attributes, opset: u32) -> Vec<&'static str> {
        let spec = crate::find(name).expect("an operator");
        Op::from_attributes(spec, attributes).expect("attributes").left_out(opset)
    }

    #[test]
    fn what_is_at_its_default_may_be_left_out() {
        assert_eq!(left_out("Selu", &Attributes::new(), 21), ["alpha", "gamma"]);
        assert_eq!(left_out("Selu", &Attributes::new().float("alpha", 1.5), 21), ["gamma"]);
        // The default was another one.
        assert_eq!(left_out("Hardmax", &Attributes::new().int("axis", -1), 13), ["axis"]);
        assert_eq!(left_out("Hardmax", &Attributes::new().int("axis", 1), 13), [""; 0]);
    }

    #[test]
    fn strides_of_one_and_pads_of_zero_may_go() {
        let pool = |strides: i64| {
            let attributes = Attributes::new().ints("kernel_shape", &[2]).ints("strides", &[strides]);
            let all = attributes.ints("pads", &[0, 0]).ints("dilations", &[1]);
            Op::from_attributes(crate::find("MaxPool").expect("an operator"), &all).expect("attributes")
        };
        let left = |strides| pool(strides).shortened(21).attributes();
        assert!(
            ["strides", "pads", "dilations"].iter().all(|name| left(1).get(name).is_none()),
            "{:?}",
            left(1)
        );
        assert_eq!(left(2).get("strides"), Some(&Attribute::Ints(vec![2])));
        assert_eq!(left(2).get("kernel_shape"), Some(&Attribute::Ints(vec![2])));
    }
}
