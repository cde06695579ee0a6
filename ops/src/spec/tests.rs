//! Where the schemas and a row put operands, dtypes and attributes. Expected is what ONNX's changelog of operators says.

use ir::DType;

use super::*;

fn places(row: Row, attribute: &str) -> ByOpset<Place> {
    let spec = Spec::new(&row, 0);
    let field = spec.fields.into_iter().find(|field| field.name == attribute);
    field.map(|field| field.places).unwrap_or_default()
}

const TOP_K: Row = Row::new("TopK").with(&[single("K", "k")]);
const TRILU: Row = Row::new("Trilu").with(&[scalar("k")]);
const AXES: &[Written] = &[list("axes")];
const PADS: &[Written] = &[list("pads"), list("axes")];

#[test]
fn an_attribute_moves_to_an_operand_in_the_opset_that_moves_it() {
    let axes = |name| places(Row::new(name).with(AXES), "axes");
    assert_eq!(axes("ReduceSum"), [(13, Place::List(1))]);
    assert_eq!(axes("ReduceMean"), [(13, Place::Attribute), (18, Place::List(1))]);
    assert_eq!(axes("Pad"), [(13, Place::Absent), (18, Place::List(3))]);
    assert_eq!(places(TOP_K, "k"), [(13, Place::Single(1))]);
    assert_eq!(places(TRILU, "k"), [(14, Place::Scalar(1))]);
}

#[test]
fn an_attribute_that_came_later_was_absent_before() {
    assert_eq!(places(Row::new("Shape"), "end"), [(13, Place::Absent), (15, Place::Attribute)]);
    assert_eq!(places(Row::new("Shape"), "nothing"), []);
    assert_eq!(places(Row::new("Concat"), "axis"), []);
}

#[test]
fn operands_that_are_attributes_are_left_out() {
    let pad = Spec::new(&Row::new("Pad").with(PADS), 0);
    let names: Vec<_> = pad.inputs.iter().map(|port| (port.name, port.arity)).collect();
    assert_eq!(names, [("data", Arity::One), ("constant_value", Arity::Optional)]);
}

#[test]
fn a_definition_that_deprecates_is_none() {
    assert_eq!(Spec::new(&Row::new("GroupNormalization"), 0).since(), 21);
    assert_eq!(Spec::new(&Row::new("Abs"), 0).since(), 13);
}

#[test]
fn deviations_take_away_and_end() {
    const WITHOUT_F16: &[Deviation] = &[Deviation::DTypes {
        of: "T",
        without: DTypes::of(&[DType::F16]),
        opsets: 13..=15,
        why: "a test wants it",
    }];
    let abs = Spec::new(&Row::new("Abs").but(WITHOUT_F16), 0);
    let has = |opset| abs.input_types(0, opset).contains(DType::F16);
    assert_eq!([has(12), has(13), has(15), has(16), has(26)], [false, false, false, true, true]);
    let split = Row::new("Split").but(&[Deviation::Attributes { names: &["num_outputs"], why: "a test" }]);
    assert_eq!(places(split, "num_outputs"), []);
    assert_eq!(Spec::new(&Row::new("LayerNormalization"), 0).outputs.len(), 3);
}

#[test]
fn only_split_has_any_number_of_outputs() {
    let variadic = crate::registry().filter(|spec| spec.has_variadic_outputs());
    assert_eq!(variadic.map(|spec| spec.name).collect::<Vec<_>>(), ["Split"]);
}
