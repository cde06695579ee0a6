//! A payload with a field of most kinds.
#![allow(unreachable_pub, reason = "a declaration says `pub`")]

use ir::{DType, DTypes};

use super::*;

attributes! {
    /// Has a field of most kinds.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Sample<D> {
        /// Must be given.
        pub axis: i64,
        /// Has a default and another name.
        pub trans_a: bool as "transA" = false,
        /// May be absent.
        pub axes: Option<Vec<i64>>,
        /// One of two numbers.
        pub taxicab: bool as "p" { 1 => true, 2 => false } = false,
        /// Sizes.
        pub shape: Vec<D> as sizes { 0.. },
        /// One or two.
        pub outputs: i64 { 1..=2 } = 1,
        /// A dtype, of two that it may be.
        pub to: Option<DType> { DTypes::of(&[DType::F16, DType::F32]) },
        /// However large, no more than there may be of anything.
        pub k: Option<i64> { Clamped },
    }
    check Self::has_a_shape;
}

impl Sample {
    fn has_a_shape(self, _: &Attributes) -> Result<Self, BadAttribute> {
        if self.shape.is_empty() { Err(BadAttribute::Unknown("shape".to_owned())) } else { Ok(self) }
    }
}

fn least() -> Attributes {
    Attributes::new().int("axis", 3).ints("shape", &[2, 5])
}

#[test]
fn what_is_not_given_has_its_default_and_what_has_none_is_missing() {
    let sample = Sample::parse((), &least()).expect("all that is needed");
    assert_eq!((sample.trans_a, sample.axes.clone(), sample.taxicab), (false, None, false));
    let written = Attributes::new().int("axis", 3).flag("transA", false).int("p", 2).ints("shape", &[2, 5]);
    let written = written.int("outputs", 1);
    assert_eq!(Declared::attributes(&sample), written);
    let none = Attributes::new().ints("shape", &[1]);
    assert_eq!(Sample::parse((), &none), Err(BadAttribute::Missing("axis".to_owned())));
}

#[test]
fn values_of_other_kinds_and_other_choices_are_refused() {
    let refused = |given: &Attributes| Sample::parse((), given).expect_err("a bad attribute").to_string();
    assert_eq!(refused(&least().float("axis", 1.0)), "attribute `axis` must be an integer");
    assert_eq!(refused(&least().int("p", 3)), "attribute `p` is 3; it must be 1 or 2");
    assert_eq!(refused(&least().name("p", "1")), "attribute `p` must be an integer");
    assert_eq!(refused(&least().int("outputs", 0)), "attribute `outputs` is 0; it must be 1 or 2");
    let shape = "attribute `shape` is [3, -1]; it must be a list of numbers that are 0 or more";
    assert_eq!(refused(&least().ints("shape", &[3, -1])), shape);
    assert_eq!(refused(&least().dtype("to", DType::I8)), "attribute `to` is i8; it must be one of f16, f32");
    assert_eq!(refused(&least().ints("shape", &[])), "there is no attribute `shape` here");
}

#[test]
fn ranges_include_their_ends_and_clamped_numbers_are_what_they_mean() {
    let given = least().int("outputs", 2).ints("shape", &[0]).dtype("to", DType::F32).int("k", i64::MIN);
    let sample = Sample::parse((), &given).expect("legal attributes");
    let values = (sample.outputs, sample.shape, sample.to, sample.k);
    assert_eq!(values, (2, vec![0], Some(DType::F32), Some(-ir::dim::LIMIT)));
}

#[test]
fn sizes_are_carried_and_nothing_else() {
    let given = least().flag("transA", true).ints("axes", &[7]).int("p", 1);
    let sample = Sample::parse((), &given).expect("legal attributes");
    let doubled = sample.map(&mut |size: i64| 2 * size);
    assert_eq!(doubled, Sample { shape: vec![4, 10], ..sample });
}
