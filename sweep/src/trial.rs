//! A part as a model with inputs, and what is expected of it.

use std::collections::BTreeSet;

use graphgen::{Settings, Weights};
use harness::case::{self, Maker, Values};
use ir::{DType, Graph, Interface, NodeKind, Stream, Tensor, Value};
use ops::{Model, Op, Spec};
use rand::RngExt;

use crate::columns;
use crate::lanes::{Shaped, Spread};
use crate::numbers::{self, Numbers};
use crate::plan::{Part, Placed, Recipe, Scope};
use crate::tier::{Obligation, Reference};
use crate::uses::{self, Operand, Use};

/// A part that can be run.
pub struct Trial {
    /// The model.
    pub model: Model,
    /// Its inputs, by name.
    pub inputs: Vec<(String, Tensor)>,
    /// Its bytes.
    pub onnx: Vec<u8>,
    /// What a target's inputs and outputs are made of.
    pub interface: Interface,
    /// What is expected, once for each obligation.
    pub references: Vec<Reference>,
    /// The columns, where the operator works element by element.
    pub columns: Option<Columns>,
}

/// The columns of a use.
pub struct Columns {
    /// The operator and its operands.
    pub of: Use,
    /// What the operands that are there hold.
    pub numbers: Vec<Numbers>,
    /// How they come to the operator.
    pub placed: Placed,
}

/// The trial of a part; `None` where no row is left on which the operator is defined, or nothing was drawn.
pub fn trial(scope: &Scope, part: &Part, obligations: &[Obligation]) -> Option<Trial> {
    let stream = stream(scope, part);
    match &part.recipe {
        Recipe::Columns { of, fill, placed } => {
            let numbers = columns::columns(of, *fill, stream);
            let all = Columns { of: (**of).clone(), numbers, placed: *placed };
            of_columns(scope.opset, all, obligations)
        }
        Recipe::Shaped { of, spread } => of_shapes(scope.opset, of, *spread, stream, obligations),
        Recipe::Drawn { of, dtype, number } => drawn(scope, of, *dtype, *number, obligations),
    }
}

/// Where everything random about a part comes from.
fn stream(scope: &Scope, part: &Part) -> Stream {
    let name = &part.name;
    let of_form =
        Stream::new(scope.seed).child("sweep").child(&name.op).child(&name.dtype).child(name.form.name());
    of_form.at(name.number)
}

/// The most rows of constants: these are part of the model.
const MOST_CONSTANTS: usize = 4096;

/// The trial of columns, without the rows that the specification leaves undefined.
pub fn of_columns(opset: u32, columns: Columns, obligations: &[Obligation]) -> Option<Trial> {
    let columns = match columns.placed {
        Placed::Inputs => columns,
        Placed::Constants => {
            let rows = columns::spread(columns.rows(), MOST_CONSTANTS);
            columns.only(&rows)
        }
    };
    let rows = columns.rows();
    let trial = columns.trial(opset, obligations)?;
    let undefined: BTreeSet<usize> = undefined(&trial);
    if undefined.is_empty() {
        return Some(trial);
    }
    let defined: Vec<usize> = (0..rows).filter(|row| !undefined.contains(row)).collect();
    trial.columns?.only(&defined).trial(opset, obligations)
}

fn undefined(trial: &Trial) -> BTreeSet<usize> {
    let outputs = trial.references.iter().flat_map(|reference| &reference.specified.evaluation.outputs);
    outputs.flat_map(|output| output.undefined.iter().copied()).collect()
}

impl Columns {
    /// How many elements the result has.
    pub fn rows(&self) -> usize {
        self.numbers.iter().map(Numbers::len).max().unwrap_or(0)
    }

    /// These rows alone.
    #[must_use]
    pub fn only(&self, rows: &[usize]) -> Self {
        let each = self.of.present().zip(&self.numbers);
        let numbers = each.map(|(operand, column)| columns::rows_of(operand, column, rows)).collect();
        Self { numbers, of: self.of.clone(), placed: self.placed }
    }

    /// What the operands hold in a row, with the attributes.
    pub fn at(&self, row: usize) -> String {
        let number = |(operand, column): (&Operand, &Numbers)| match column {
            Numbers::Real(all) => numbers::text(operand.dtype, all[row % all.len()]),
            Numbers::Whole(all) => all[row % all.len()].to_string(),
        };
        let numbers: Vec<String> = self.of.present().zip(&self.numbers).map(number).collect();
        match self.of.attributes() {
            none if none.is_empty() => numbers.join(", "),
            attributes => format!("{} ({attributes})", numbers.join(", ")),
        }
    }

    /// The arguments, of a function of one float.
    pub fn arguments(&self) -> Option<&[f64]> {
        match &self.numbers[..] {
            [Numbers::Real(all)] => Some(all),
            _ => None,
        }
    }

    fn trial(self, opset: u32, obligations: &[Obligation]) -> Option<Trial> {
        let rows = self.rows();
        if rows == 0 {
            return None;
        }
        let mut graph: Graph<Op> = Graph::new();
        let mut inputs = Vec::new();
        let mut numbers = self.numbers.iter();
        let mut operands: Vec<Option<Value>> = Vec::new();
        for ty in self.of.types(&[rows as i64]) {
            operands.push(match ty {
                None => None,
                Some(ty) => {
                    let tensor = numbers.next()?.tensor(ty.dtype, &ty.shape);
                    Some(match self.placed {
                        Placed::Constants => graph.constant(tensor),
                        Placed::Inputs => {
                            inputs.push(tensor);
                            graph.variable(format!("x{}", inputs.len() - 1), ty)
                        }
                    })
                }
            });
        }
        let model = finished(opset, graph, self.of.op.clone(), &operands)?;
        Some(Trial { columns: Some(self), ..of_model(model, inputs, obligations)? })
    }
}

/// A model of one operator, all of whose results are outputs.
fn finished(opset: u32, mut graph: Graph<Op>, op: Op, operands: &[Option<Value>]) -> Option<Model> {
    let node = graph.operator(op, operands).ok()?;
    for port in 0..graph.node(node).outputs.len() {
        graph.output(format!("y{port}"), Value::new(node, port));
    }
    Some(Model::new(opset, graph))
}

fn of_model(model: Model, inputs: Vec<Tensor>, obligations: &[Obligation]) -> Option<Trial> {
    let references = Reference::of(&model, &inputs, obligations).ok()?;
    let onnx = case::export(&model).ok()?;
    let interface = Interface::of(&model);
    let inputs = case::named(&model, inputs);
    Some(Trial { model, inputs, onnx, interface, references, columns: None })
}

/// Operands of concrete shapes.
fn of_shapes(
    opset: u32,
    of: &Shaped,
    spread: Spread,
    stream: Stream,
    obligations: &[Obligation],
) -> Option<Trial> {
    let mut graph: Graph<Op> = Graph::new();
    let mut inputs = Vec::new();
    let mut operands = Vec::new();
    for (position, ty) in of.operands.iter().enumerate() {
        inputs.push(spread_over(ty, spread, stream.at(position as u64)));
        operands.push(Some(graph.variable(format!("x{position}"), ty.clone())));
    }
    let trial = of_model(finished(opset, graph, of.op.clone(), &operands)?, inputs, obligations)?;
    undefined(&trial).is_empty().then_some(trial)
}

fn spread_over(ty: &ir::Type, spread: Spread, stream: Stream) -> Tensor {
    let mut choices = stream.rng();
    let (low, high) = match spread {
        Spread::Centred => (-1.0, 1.0),
        Spread::Positive => (0.5, 1.0),
    };
    let (least, most) = match (spread, ty.dtype.int_range()) {
        (Spread::Positive, _) => (1, 4),
        (Spread::Centred, Some((least, _))) => (least.max(-8), 8),
        (Spread::Centred, None) => (-8, 8),
    };
    if ty.dtype.is_float() {
        Tensor::from_f64_fn(ty, |_| choices.random_range(low..=high))
    } else {
        Tensor::from_i128_fn(ty, |_| choices.random_range(least..=most))
    }
}

/// The largest dimension, and the most elements of a tensor, of drawn cases one after the other.
const GROWING: [(i64, i64); 4] = [(4, 256), (8, 2048), (64, 16_384), (256, 65_536)];

/// A case as campaigns draw it. In every other case floats among its inputs become edges, or any of usual size, where
/// the operator is defined on these too.
fn drawn(
    scope: &Scope,
    spec: &'static Spec,
    dtype: DType,
    number: u64,
    obligations: &[Obligation],
) -> Option<Trial> {
    let (max_dim, max_elements) = GROWING[number as usize % GROWING.len()];
    let settings = Settings { max_dim, max_elements, ..uses::settings(spec, dtype, scope.opset) };
    let maker = Maker {
        opset: Some(scope.opset),
        swarm: false,
        values: Values::Mixed,
        policy: &Weights,
        ..Maker::new(scope.seed, settings)
    };
    let case = maker.make(number).ok().filter(|case| has(&case.model, spec, dtype))?;
    let inputs = case::tensors(&case.inputs);
    let stream = maker.stream(number).child("sweep");
    let other: Vec<Tensor> =
        inputs.iter().enumerate().map(|(i, x)| refilled(x, number, stream.at(i as u64))).collect();
    let replaced = if number % 2 == 1 { of_model(case.model.clone(), other, obligations) } else { None };
    replaced.filter(|trial| undefined(trial).is_empty()).or_else(|| of_model(case.model, inputs, obligations))
}

/// Whether a model has an operator on a dtype.
fn has(model: &Model, spec: &Spec, dtype: DType) -> bool {
    model.graph.iter().any(|(_, node)| {
        let is_it = matches!(&node.kind, NodeKind::Operator(op) if op.spec().name == spec.name);
        let operands = model.graph.types(&node.inputs);
        is_it && uses::concerns(spec, dtype, model.opset, &operands, &node.outputs)
    })
}

/// Other numbers for a tensor of floats.
fn refilled(x: &Tensor, number: u64, stream: Stream) -> Tensor {
    let dtype = x.dtype();
    if !dtype.is_float() || x.is_empty() {
        return x.clone();
    }
    let mut choices = stream.rng();
    let usual = numbers::usual(dtype, x.len() as u64, &mut choices);
    let (Numbers::Real(usual), Numbers::Real(edges)) = (usual, numbers::edges(dtype, &[])) else {
        return x.clone();
    };
    let share = if number % 4 == 1 { 0.0 } else { 0.1 };
    let finite: Vec<f64> = edges.into_iter().filter(|v| v.is_finite()).collect();
    Tensor::from_f64_fn(&x.ty(), |i| {
        if choices.random_bool(share) { finite[choices.random_range(0..finite.len())] } else { usual[i] }
    })
}

#[cfg(test)]
mod tests {
    use interp::Profile;

    use super::*;
    use crate::form::PartForm;
    use crate::plan::parts;

    fn trials(operators: &[&str], dtype: &str, forms: &[PartForm]) -> Vec<(Part, Option<Trial>)> {
        let scope = Scope {
            seed: 0,
            opset: *ir::graph::OPSETS.end(),
            operators: operators.iter().map(ToString::to_string).collect(),
            dtypes: [dtype.to_owned()].into(),
            forms: forms.iter().copied().collect(),
            samples: 1 << 10,
            cases: 8,
        };
        let of = |part: Part| (part.clone(), trial(&scope, &part, &[Obligation::new(&Profile::WGSL)]));
        parts(&scope).into_iter().map(of).collect()
    }

    #[test]
    fn what_the_specification_leaves_undefined_is_not_run() {
        for (part, trial) in
            trials(&["Cast", "Div", "Mod", "BitShift"], "i8", &[PartForm::Unary, PartForm::Pairs])
        {
            let trial = trial.unwrap();
            // Powers of two are made of the positive half alone.
            assert!(undefined(&trial).is_empty() && trial.columns.unwrap().rows() > 100, "{part:?}");
        }
        let casts = trials(&["Cast"], "f32", &[PartForm::Unary]);
        assert!(casts.iter().filter_map(|(_, t)| t.as_ref()).all(|t| undefined(t).is_empty()));
    }

    #[test]
    fn constants_are_initializers_and_have_no_inputs() {
        for (_, trial) in trials(&["Exp", "Add"], "f32", &[PartForm::Constants]) {
            let trial = trial.unwrap();
            assert!(trial.inputs.is_empty() && trial.columns.unwrap().rows() > 100);
            assert!(trial.model.graph.iter().any(|(_, n)| matches!(n.kind, NodeKind::Constant(_))));
        }
    }

    #[test]
    fn drawn_cases_grow_and_have_the_operator_on_the_dtype() {
        let trials = trials(&["Gather", "Conv"], "f16", &[PartForm::Drawn]);
        let made: Vec<&Trial> = trials.iter().filter_map(|(_, trial)| trial.as_ref()).collect();
        assert!(made.len() > trials.len() / 2, "{} of {}", made.len(), trials.len());
        assert!(made.iter().any(|t| t.inputs.iter().any(|(_, x)| x.len() > 2048)));
    }

    #[test]
    fn the_same_part_gives_the_same_trial() {
        let all = || trials(&["Pow", "ReduceSum"], "f16", &[PartForm::Pairs, PartForm::Lengths]);
        for ((_, one), (_, other)) in all().into_iter().zip(all()) {
            let (one, other) = (one.unwrap(), other.unwrap());
            assert!(one.onnx == other.onnx && one.inputs == other.inputs);
        }
    }
}
