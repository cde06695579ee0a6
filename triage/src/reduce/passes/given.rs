//! What a program is given, smaller and simpler: fewer elements on axes of one size together or on one axis, simpler numbers.
//!
//! Of an operator that is written out where it is read no type rule is known here. So sizes are cut as they are, and
//! what does not fit together any more is refused where the program is read.

use std::collections::{BTreeMap, BTreeSet};

use ir::{Datum, Tensor, Type};
use onnx::export::value_info;
use onnx::external::External;
use onnx::program::{Program, ValueId};
use onnx::proto::tensor_shape_proto::dimension;
use onnx::proto::{TensorShapeProto, ValueInfoProto};

use super::Candidates;
use super::values::simpler;
use crate::forms::TargetProgram;
use crate::reduce::interest::Shown;
use crate::reduce::problem::Problem;
use crate::reduce::scalar::{Part, slice};

/// An axis of a tensor that is given.
type Axis = (ValueId, usize);

/// Fewer places of axes that have one size.
struct Cut {
    axes: Vec<Axis>,
    from: i64,
    to: i64,
}

/// A program, and all tensors that it is given: inputs and initializers.
struct ProgramTensors<'a> {
    program: &'a Program,
    inputs: BTreeMap<String, Datum>,
    tensors: BTreeMap<ValueId, Tensor>,
}

/// Fewer elements.
pub(super) fn sizes(shown: &Shown) -> Candidates<'_> {
    let Some(given) = ProgramTensors::of(&shown.problem) else { return Box::new(std::iter::empty()) };
    let cuts = given.cuts();
    Box::new(cuts.into_iter().filter_map(move |cut| given.with_cut(&cut)))
}

/// The program with other tensors in place of some that it is given.
pub(super) fn with(problem: &Problem, other: &mut dyn FnMut(&Tensor) -> Option<Tensor>) -> Option<Problem> {
    let given = ProgramTensors::of(problem)?;
    let others = given.tensors.iter().filter_map(|(value, old)| Some((*value, other(old)?))).collect();
    given.edited(&others, Program::clone)
}

/// Simpler numbers.
pub(super) fn numbers(shown: &Shown) -> Candidates<'_> {
    let Some(given) = ProgramTensors::of(&shown.problem) else { return Box::new(std::iter::empty()) };
    let all: Vec<(ValueId, Tensor)> = given.tensors.iter().map(|(value, t)| (*value, t.clone())).collect();
    let others = all.into_iter().flat_map(|(value, tensor)| simpler(tensor).map(move |other| (value, other)));
    Box::new(others.filter_map(move |change| given.edited(&[change].into(), Program::clone)))
}

impl<'a> ProgramTensors<'a> {
    fn of(problem: &'a Problem) -> Option<Self> {
        let TargetProgram { program, interface } = &**problem.program.as_ref()?;
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
    fn cuts(&self) -> Vec<Cut> {
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
        let smaller = |(axes, from): (Vec<Axis>, i64)| {
            let sizes = BTreeSet::from([1, from / 2, from - 1]);
            sizes.into_iter().map(move |to| Cut { axes: axes.clone(), from, to })
        };
        together.chain(alone).flat_map(smaller).collect()
    }

    /// The program with fewer elements, if it can be read with them. What bodies say of shapes is shrunk with them, or
    /// else not said.
    fn with_cut(&self, cut: &Cut) -> Option<Problem> {
        let tensors = self.cut(cut);
        let edited = |shape: fn(&Cut, &TensorShapeProto) -> Option<TensorShapeProto>| {
            self.edited(&tensors, |program| program.with_shapes_in_bodies(|said| shape(cut, said)))
        };
        let kept = self.edited(&tensors, Program::clone);
        kept.or_else(|| edited(|cut, said| Some(cut.shape(said)))).or_else(|| edited(|_, _| None))
    }

    fn cut(&self, cut: &Cut) -> BTreeMap<ValueId, Tensor> {
        let mut shapes: BTreeMap<ValueId, Vec<i64>> = BTreeMap::new();
        for (value, axis) in &cut.axes {
            let shape = shapes.entry(*value).or_insert_with(|| self.tensors[value].ty().shape);
            shape[*axis] = cut.to;
        }
        shapes
            .into_iter()
            .map(|(value, shape)| (value, slice(&self.tensors[&value], &shape, Part::First)))
            .collect()
    }

    /// The program with other tensors and edited, if it can be read so.
    fn edited(
        &self,
        others: &BTreeMap<ValueId, Tensor>,
        edit: impl Fn(&Program) -> Program,
    ) -> Option<Problem> {
        let (mut program, mut inputs) = (edit(self.program), self.inputs.clone());
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

impl Cut {
    /// A shape in which sizes are cut like those of the axes.
    fn shape(&self, said: &TensorShapeProto) -> TensorShapeProto {
        let mut shape = said.clone();
        for dimension in &mut shape.dim {
            if dimension.value == Some(dimension::Value::DimValue(self.from)) {
                dimension.value = Some(dimension::Value::DimValue(self.to));
            }
        }
        shape
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
        let given = ProgramTensors::of(&problem).expect("a program of its own");
        let shapes = |problem: &Problem| problem.leaves().map(|(_, t)| t.ty().shape).collect::<Vec<_>>();
        let cut = |size: i64, count: usize| {
            let cuts = given.cuts().into_iter();
            let mut cuts = cuts.filter(|cut| cut.axes.len() == count && cut.to == 1);
            given.with_cut(&cuts.find(|cut| cut.from == size)?)
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
        let given = ProgramTensors::of(&problem).expect("a program of its own");
        for (value, tensor) in &given.tensors {
            let zeros = simpler(tensor.clone()).next().expect("a simpler one");
            let simple = given.edited(&[(*value, zeros)].into(), Program::clone).expect("a problem");
            assert!(simple.size() < problem.size());
        }
    }

    #[test]
    fn what_bodies_say_of_shapes_is_cut_as_well() {
        let text = r#"<ir_version: 10, opset_import: ["" : 21]>
m (float[2, 6] x) => (y) <int64 n = {2}> {
    y = Loop(n, "", x) <
        body = b (int64 i, bool on, float[2, 6] around) => (bool on2, float[2, 6] next) {
            on2 = Identity(on)
            next = Neg(around)
        }
    >
}
"#;
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2, 6]), |i| i as f64);
        let inputs = BTreeMap::from([("x".to_owned(), x.into())]);
        let program = Program::from_text(text).expect("a program");
        let problem = Problem::of_program(program, &inputs).expect("a problem");
        let given = ProgramTensors::of(&problem).expect("a program of its own");
        let cut = given.cuts().into_iter().find(|cut| (cut.from, cut.to) == (6, 1)).expect("the columns");
        let cut = given.with_cut(&cut).expect("it is read");
        let said = cut.program.expect("a program").program.to_text().to_string();
        assert!(said.contains("float[2, 1] around") && !said.contains("6]"), "{said}");
    }
}
