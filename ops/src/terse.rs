//! Attributes of which a node may say nothing, because they are what they are where nothing is said.

use ir::Attribute;

use crate::list::Op;
use crate::schema::{self, Absence};
use crate::spec::Place;

/// Attributes whose text says that they are 1 along each axis where they are not there; the schema has no default of theirs.
const ONES: [&str; 2] = ["dilations", "strides"];

/// The same of attributes that are 0.
const ZEROS: [&str; 1] = ["pads"];

impl Op {
    /// The attributes that a node of this operator may leave out in an opset, by name.
    pub fn left_out(&self, opset: u32) -> Vec<&'static str> {
        let (spec, all) = (self.spec(), self.attributes());
        let Some(schema) = schema::in_force(spec.name, opset) else { return Vec::new() };
        let may_go = |attribute: &&schema::Attribute| {
            let is_written = spec.place(attribute.name, opset) == Place::Attribute;
            let Some(value) = all.get(attribute.name).filter(|_| is_written) else { return false };
            let mut rest = all.clone();
            rest.remove(attribute.name);
            // Where there is no default, what is left says the same in fewer words.
            let reads_back = |op: Op| attribute.absence == Absence::Allowed || op == *self;
            is_implied(attribute, value) && Op::from_attributes(spec, &rest).is_ok_and(reads_back)
        };
        schema.attributes.iter().filter(may_go).map(|attribute| attribute.name).collect()
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
    use ir::Attributes;

    use super::*;

    fn left_out(name: &str, attributes: &Attributes, opset: u32) -> Vec<&'static str> {
        let spec = crate::find(name).expect("an operator");
        Op::from_attributes(spec, attributes).expect("attributes").left_out(opset)
    }

    #[test]
    fn what_is_at_its_default_may_be_left_out() {
        assert_eq!(left_out("Selu", &Attributes::new(), 21), ["alpha", "gamma"]);
        assert_eq!(left_out("Selu", &Attributes::new().float("alpha", 1.5), 21), ["gamma"]);
        let pool = Attributes::new().ints("kernel_shape", &[2]).ints("strides", &[1]).ints("pads", &[0, 0]);
        let left = left_out("MaxPool", &pool.clone().ints("dilations", &[2]), 21);
        assert!(
            left.contains(&"strides") && left.contains(&"pads") && !left.contains(&"dilations"),
            "{left:?}"
        );
        let strided = left_out("MaxPool", &pool.ints("strides", &[2]), 21);
        assert!(!strided.contains(&"strides") && !strided.contains(&"kernel_shape"), "{strided:?}");
        // The default was another one.
        assert_eq!(left_out("Hardmax", &Attributes::new().int("axis", -1), 13), ["axis"]);
        assert_eq!(left_out("Hardmax", &Attributes::new().int("axis", 1), 13), [""; 0]);
    }
}
