//! What a program is given, smaller and simpler: fewer elements on axes of one size together or on one axis, simpler numbers.
//!
//! Of an operator that is written out where it is read no type rule is known here. So sizes are cut as they are, and what does not
//! fit together any more is refused where the program is read.

use std::collections::{BTreeMap, BTreeSet};

use ir::{Datum, Tensor, Type};
use onnx::export::value_info;
use onnx::external::External;
use onnx::program::{Program, ValueId};
use onnx::proto::ValueInfoProto;

use super::Candidates;
use super::values::simpler;
use crate::forms::Written;
use crate::reduce::interest::Shown;
use crate::reduce::problem::Problem;
use crate::reduce::scalar::{Part, slice};

/// An axis of a tensor that is given.
type Axis = (ValueId, usize);

/// A program, and all tensors that it is given: inputs and initializers.
struct Given<'a> {
    program: &'a Program,
    inputs: BTreeMap<String, Datum>,
    tensors: BTreeMap<ValueId, Tensor>,
}

/// Fewer elements.
pub(super) fn sizes(shown: &Shown) -> Candidates<'_> {
    let Some(given) = Given::of(&shown.problem) else { return Box::new(std::iter::empty()) };
    let cuts = given.cuts();
    Box::new(cuts.into_iter().filter_map(move |(axes, size)| given.with(&given.cut(&axes, size))))
}

/// Simpler numbers.
pub(super) fn numbers(shown: &Shown) -> Candidates<'_> {
    let Some(given) = Given::of(&shown.problem) else { return Box::new(std::iter::empty()) };
    let all: Vec<(ValueId, Tensor)> = given.tensors.iter().map(|(value, t)| (*value, t.clone())).collect();
    let others = all.into_iter().flat_map(|(value, tensor)| simpler(tensor).map(move |other| (value, other)));
    Box::new(others.filter_map(move |change| given.with(&[change].into())))
}

impl<'a> Given<'a> {
    fn of(problem: &'a Problem) -> Option<Self> {
        let Written { program, interface } = &**problem.program.as_ref()?;
        let inputs = interface.values_of(&problem.named());
        let body = &program.main.body;
        let constants = body.initializers.iter().filter_map(|initializer| {
            Some((initializer.value, onnx::tensor::from_proto(&initializer.tensor, External::Refuse).ok()?))
        });
        let variables = body.inputs.iter().filter_map(|port| {
            Some((port.value, inputs.get(program.main.name(port.value))?.tensor()?.clone()))
        });
        let tensors = constants.chain(variables).collect();
        Some(Self { program, inputs, tensors })
    }

    /// Which axes may be cut to which size: all of one size together, then each alone; to 1, to half, by one.
    fn cuts(&self) -> Vec<(Vec<Axis>, i64)> {
        let axes = self.tensors.iter().flat_map(|(value, tensor)| {
            let shape = tensor.ty().shape.into_iter().enumerate();
            shape.filter(|(_, size)| *size > 1).map(|(axis, size)| ((*value, axis), size))
        });
        let mut by_size: BTreeMap<i64, Vec<Axis>> = BTreeMap::new();
        for (axis, size) in axes {
            by_size.entry(size).or_default().push(axis);
        }
        let together = by_size.iter().rev().map(|(size, axes)| (axes.clone(), *size));
        let alone = by_size.iter().filter(|(_, axes)| axes.len() > 1);
        let alone = alone.flat_map(|(size, axes)| axes.iter().map(|axis| (vec![*axis], *size)));
        let smaller = |(axes, size): (Vec<Axis>, i64)| {
            BTreeSet::from([1, size / 2, size - 1]).into_iter().map(move |to| (axes.clone(), to))
        };
        together.chain(alone).flat_map(smaller).collect()
    }

    fn cut(&self, axes: &[Axis], size: i64) -> BTreeMap<ValueId, Tensor> {
        let mut shapes: BTreeMap<ValueId, Vec<i64>> = BTreeMap::new();
        for (value, axis) in axes {
            let shape = shapes.entry(*value).or_insert_with(|| self.tensors[value].ty().shape);
            shape[*axis] = size;
        }
        shapes
            .into_iter()
            .map(|(value, shape)| (value, slice(&self.tensors[&value], &shape, Part::First)))
            .collect()
    }

    /// The program with other tensors, if it can be read with them.
    fn with(&self, others: &BTreeMap<ValueId, Tensor>) -> Option<Problem> {
        let (mut program, mut inputs) = (self.program.clone(), self.inputs.clone());
        let main = &mut program.main;
        let names: BTreeMap<ValueId, String> =
            others.keys().map(|&value| (value, main.name(value).to_owned())).collect();
        for port in &mut main.body.inputs {
            if let Some(tensor) = others.get(&port.value) {
                port.declared = declared(&tensor.ty());
                inputs.insert(names[&port.value].clone(), tensor.clone().into());
            }
        }
        for initializer in &mut main.body.initializers {
            if let Some(tensor) = others.get(&initializer.value) {
                initializer.tensor = onnx::tensor::to_proto("", tensor);
                initializer.tensor.name = None;
            }
        }
        // What was said of other values may not hold of these.
        main.body.declared.clear();
        main.body.outputs.iter_mut().for_each(|port| port.declared = ValueInfoProto::default());
        Problem::edited(program, &inputs)
    }
}

fn declared(ty: &Type) -> ValueInfoProto {
    ValueInfoProto { name: None, ..value_info("", ty) }
}

#[cfg(test)]
mod tests {
    use ir::DType;

    use super::*;

    const TEXT: &str = r#"<ir_version: 10, opset_import: ["" : 21]>
m (uint8[6, 3] x) => (int32[6, 2] y) <uint8[3, 2] w = {1, 2, 3, 4, 5, 6}> { y = MatMulInteger(x, w) }
"#;

    fn problem() -> Problem {
        let x = Tensor::from_i128_fn(&Type::new(DType::U8, [6, 3]), |i| i as i128);
        let inputs = BTreeMap::from([("x".to_owned(), x.into())]);
        Problem::of_program(Program::from_text(TEXT).expect("a program"), &inputs).expect("a problem")
    }

    #[test]
    fn sizes_that_belong_together_are_cut_together() {
        let (problem, before) = (problem(), problem().size());
        let given = Given::of(&problem).expect("a program of its own");
        let shapes = |problem: &Problem| problem.leaves().map(|(_, t)| t.ty().shape).collect::<Vec<_>>();
        let cut = |size: i64, count: usize| {
            let cuts = given.cuts().into_iter();
            let (axes, to) =
                cuts.filter(|(axes, to)| axes.len() == count && *to == 1).find(|(axes, _)| {
                    axes.iter().all(|(value, axis)| given.tensors[value].ty().shape[*axis] == size)
                })?;
            given.with(&given.cut(&axes, to))
        };
        let narrow = cut(3, 2).expect("both operands lose columns and rows");
        assert!(shapes(&narrow).contains(&vec![6, 1]) && narrow.size() < before, "{:?}", shapes(&narrow));
        assert!(cut(3, 1).is_none(), "one operand alone does not fit the other");
        let flat = cut(6, 1).expect("the rows of one operand");
        assert!(shapes(&flat).contains(&vec![1, 3]) && flat.size() < before, "{:?}", shapes(&flat));
    }

    #[test]
    fn numbers_become_simpler() {
        let problem = problem();
        let given = Given::of(&problem).expect("a program of its own");
        for (value, tensor) in &given.tensors {
            let zeros = simpler(tensor.clone()).next().expect("a simpler one");
            let simple = given.with(&[(*value, zeros)].into()).expect("a problem");
            assert!(simple.size() < problem.size());
        }
    }
}
