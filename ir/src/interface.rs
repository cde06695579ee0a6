//! How the tensors of a flat model make up what its program gets and gives.

use std::collections::BTreeMap;

use crate::datum::{Datum, DatumKind};
use crate::{DType, Model, Operation, Tensor};

/// The inputs and outputs of a program, and which tensors of the flat model that it leads to they are made of.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Interface {
    /// The inputs in order, with the names of the variables that they are made of. Where there are none, each variable is an
    /// input.
    pub inputs: Vec<(String, Datum<String>)>,
    /// The outputs. They are made of the model's outputs as [`Datum::parts`] says.
    pub outputs: Vec<Wanted>,
}

/// An output as a program declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// The element type of its tensors.
    pub dtype: DType,
    /// What it is.
    pub kind: DatumKind,
}

impl Wanted {
    /// A tensor.
    pub fn tensor(name: impl Into<String>, dtype: DType) -> Self {
        Self { name: name.into(), dtype, kind: DatumKind::Tensor }
    }
}

impl Interface {
    /// That of a model that targets get as it is.
    pub fn of<O: Operation>(model: &Model<O>) -> Self {
        let outputs = model.graph.outputs.iter();
        let wanted = outputs.map(|o| Wanted::tensor(&o.name, model.graph.ty(o.value).dtype));
        Self { inputs: Vec::new(), outputs: wanted.collect() }
    }

    /// That of a program that gets these inputs and is to give these outputs, and the tensors that the inputs are made of.
    pub fn taking<'d>(
        inputs: impl Iterator<Item = (&'d str, &'d Datum)>,
        outputs: Vec<Wanted>,
    ) -> (Self, Vec<(String, Tensor)>) {
        let (mut interface, mut tensors) = (Self { inputs: Vec::new(), outputs }, Vec::new());
        for (name, datum) in inputs {
            interface.inputs.push((name.to_owned(), datum.names(name)));
            tensors.extend(datum.clone().into_named(name));
        }
        (interface, tensors)
    }

    /// The program's inputs in their order, made of tensors for the model's variables. One of which a tensor is not there is
    /// left out.
    pub fn inputs_of<'t>(&'t self, variables: &'t [(String, Tensor)]) -> Vec<(&'t str, Datum<&'t Tensor>)> {
        if self.inputs.is_empty() {
            return Datum::of_tensors(variables);
        }
        let by_name: BTreeMap<&str, &Tensor> =
            variables.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        let made = self.inputs.iter().filter_map(|(name, made_of)| {
            let find = |part: &String| by_name.get(part.as_str()).copied().ok_or(());
            Some((name.as_str(), made_of.as_ref().try_map(find).ok()?))
        });
        made.collect()
    }

    /// The program's inputs, made of tensors for the model's variables, by name.
    pub fn values_of(&self, variables: &[(String, Tensor)]) -> BTreeMap<String, Datum> {
        let inputs = self.inputs_of(variables);
        inputs.into_iter().map(|(name, datum)| (name.to_owned(), datum.map(Tensor::clone))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Type;
    use crate::datum::Held;

    fn number(value: i128) -> Tensor {
        Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| value)
    }

    #[test]
    fn inputs_are_made_of_the_tensors_that_they_were_taken_apart_into() {
        let inputs = [
            ("xs", Datum::Sequence(vec![number(1), number(2)])),
            ("x", Datum::Tensor(number(3))),
            ("none", Datum::Optional(None)),
            ("o", Datum::Optional(Some(Held::Tensor(number(4))))),
        ];
        let (interface, mut tensors) =
            Interface::taking(inputs.iter().map(|(name, datum)| (*name, datum)), Vec::new());
        let names: Vec<&str> = tensors.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["xs[0]", "xs[1]", "x", "o"]);
        let expected: Vec<(&str, Datum<&Tensor>)> =
            inputs.iter().map(|(name, datum)| (*name, datum.as_ref())).collect();
        tensors.reverse();
        assert_eq!(interface.inputs_of(&tensors), expected);
        // Without its second element `xs` cannot be made.
        tensors.retain(|(name, _)| name != "xs[1]");
        assert_eq!(interface.inputs_of(&tensors), expected[1..]);
    }

    #[test]
    fn where_nothing_is_said_each_tensor_is_an_input() {
        let tensors = [("b".to_owned(), number(1)), ("a".to_owned(), number(2))];
        assert_eq!(Interface::default().inputs_of(&tensors), Datum::of_tensors(&tensors));
    }
}
