//! Engines that run this program's own form of a model, behind the same protocol as foreign runtimes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use ir::{Datum, DatumKind, NodeKind, Tensor, Type, Value, Wanted};
use onnx::import::{Evaluator, Options, specialise};
use onnx::program::Program;
use onnx::proto::{ModelProto, decode};
use onnx::{CaseFolder, Error};
use ops::{Graph, Model, Op};

use worker::{Case, Description, Engine, EngineError, Source};

/// Something that runs models.
pub trait Runner {
    /// What it is and can do. Every level it names is one that it [takes](Self::take_level).
    fn describe(&self) -> Description;

    /// The level at which it runs models from now on. One that has a single level need not know.
    fn take_level(&mut self, _: &str) {}

    /// The outputs of a valid model, in order, for inputs in the order of its variables.
    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError>;

    /// The same for inputs that are somebody else's. One that only looks at them need not copy them.
    fn run_on(&mut self, model: &Model, inputs: &[&Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let inputs: Vec<Tensor> = inputs.iter().map(|&tensor| tensor.clone()).collect();
        self.run(model, &inputs)
    }
}

/// The engine of a [`Runner`]: reads ONNX, and pairs tensors with names.
#[derive(Clone, Debug)]
pub struct OnModels<R> {
    runner: R,
    description: Description,
}

impl<R: Runner> OnModels<R> {
    /// The engine of a runner, which is asked once what it is.
    pub fn new(runner: R) -> Self {
        let values = DatumKind::ALL.map(|kind| kind.name().to_owned()).into();
        let description = Description { values, overrides_defaults: true, files: true, ..runner.describe() };
        Self { runner, description }
    }
}

impl<R: Runner + Default> Default for OnModels<R> {
    fn default() -> Self {
        Self::new(R::default())
    }
}

impl<R: Runner> Engine for OnModels<R> {
    fn describe(&self) -> Description {
        self.description.clone()
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        if !self.description.all_levels().any(|level| level == case.level) {
            return Err(EngineError::Unsupported(format!("no optimisation level `{}`", case.level)));
        }
        self.runner.take_level(case.level);
        let known: BTreeMap<&str, Datum<&Tensor>> = case.inputs.iter().cloned().collect();
        let program = match case.model {
            Source::Message(bytes) => decode::<ModelProto>("model", bytes),
            Source::File(path) => CaseFolder::read_within(path, u64::MAX).and_then(|folder| folder.decode()),
        };
        let model = read(program.and_then(Program::read), &known, &mut self.runner)?;
        let outputs = self.runner.run_on(&model, &inputs(&model, known)?)?;
        wanted(case, &model, outputs)
    }
}

/// The tensor for each variable of a model.
fn inputs<'t>(
    model: &Model,
    known: BTreeMap<&str, Datum<&'t Tensor>>,
) -> Result<Vec<&'t Tensor>, EngineError> {
    let mut named: BTreeMap<String, &Tensor> =
        known.into_iter().flat_map(|(name, value)| value.into_named(name)).collect();
    let mut input = |name: &str| {
        let given = named.remove(name);
        given.ok_or_else(|| EngineError::Run(format!("there is no tensor for input `{name}`")))
    };
    model.graph.variables().map(|(_, name, _)| input(name)).collect()
}

/// The outputs that a case asks for, of those of a model. What a runner of ours lacks is a mistake of ours, and no answer.
fn wanted(case: &Case, model: &Model, outputs: Vec<Tensor>) -> Result<Vec<(String, Datum)>, EngineError> {
    let mut by_name: BTreeMap<String, Tensor> =
        model.graph.outputs.iter().map(|o| o.name.clone()).zip(outputs).collect();
    let wanted = case.outputs.iter().map(|Wanted { name, kind, .. }| {
        let output = kind.gather(name, &mut by_name);
        let lacks = |part| EngineError::Run(format!("the model has no output `{part}`"));
        Ok((name.clone(), output.map_err(lacks)?))
    });
    wanted.collect()
}

/// The runner as what computes the values that shapes, branches and loops are read from: it goes where its own values
/// lead.
struct Own<'r, R> {
    runner: RefCell<&'r mut R>,
    /// Its last error. Import has the words alone, and not of what kind it is.
    failed: RefCell<Option<EngineError>>,
}

impl<R: Runner> Evaluator for Own<'_, R> {
    fn evaluate(
        &self,
        op: &Op,
        operands: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, String> {
        let (model, inputs) = alone(op, operands, outputs);
        self.runner.borrow_mut().run_on(&model, &inputs).map_err(|e| {
            let words = e.to_string();
            self.failed.replace(Some(e));
            words
        })
    }
}

impl<R> Own<'_, R> {
    /// Why a model cannot be read. Where the runner failed on the way, that is of the kind that it is where the whole model runs.
    fn why(self, error: Error) -> EngineError {
        match (error, self.failed.into_inner()) {
            (Error::Unsupported { why, .. }, Some(failed)) if why == failed.to_string() => failed,
            (e @ Error::Unsupported { .. }, _) => EngineError::Unsupported(e.to_string()),
            (e @ (Error::Invalid { .. } | Error::Io { .. }), _) => EngineError::Load(e.to_string()),
        }
    }
}

/// The model of one operator, and its inputs.
fn alone<'t>(op: &Op, operands: &[Option<&'t Tensor>], outputs: &[Type]) -> (Model, Vec<&'t Tensor>) {
    let mut graph = Graph::new();
    let variable =
        |graph: &mut Graph, i: usize, tensor: &Tensor| graph.variable(format!("x{i}"), tensor.ty());
    let given = operands.iter().enumerate();
    let given = given.map(|(i, tensor)| tensor.map(|tensor| variable(&mut graph, i, tensor))).collect();
    let node = graph.push(NodeKind::Operator(op.clone()), given, outputs.to_vec());
    for port in 0..outputs.len() {
        graph.output(format!("y{port}"), Value::new(node, port));
    }
    let inputs = operands.iter().flatten().copied().collect();
    (Model::new(*ir::graph::OPSETS.end(), graph), inputs)
}

/// The model that a program leads to for these inputs, by the runner's own values.
fn read(
    program: Result<Program, Error>,
    known_inputs: &BTreeMap<&str, Datum<&Tensor>>,
    runner: &mut impl Runner,
) -> Result<Model, EngineError> {
    let own = Own { runner: RefCell::new(runner), failed: RefCell::new(None) };
    let options = Options { known_inputs, evaluator: &own, ..Options::default() };
    let imported = program.and_then(|program| specialise(&program, &options));
    imported.map(|imported| imported.model).map_err(|e| own.why(e))
}

#[cfg(test)]
mod tests {
    use ir::{DType, Operation};

    use super::*;

    /// What fails on every sum, with an error of some kind.
    struct NoSums(fn(String) -> EngineError);

    impl Runner for NoSums {
        fn describe(&self) -> Description {
            Description { levels: vec!["default".to_owned()], ..Description::default() }
        }

        fn run(&mut self, model: &Model, _: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
            let mut kinds = model.graph.nodes.iter().map(|node| &node.kind);
            let is_sum = kinds.any(|kind| matches!(kind, NodeKind::Operator(op) if op.name() == "Add"));
            assert!(is_sum, "nothing else is computed");
            Err((self.0)("no sums".to_owned()))
        }
    }

    /// A shape is computed by a sum.
    const COMPUTED: &str = "<ir_version: 10, opset_import: [\"\" : 21]>
        g (float[2] x, int64[1] n) => (float[?] y) { m = Add(n, n) y = Reshape(x, m) }";

    #[test]
    fn what_fails_on_the_way_to_a_shape_is_of_its_own_kind() {
        let model = onnx::encode(&onnx::text::parse(COMPUTED).expect("a text"));
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |_| 0.0);
        let n = Tensor::from_i128_fn(&Type::new(DType::I64, [1]), |_| 1);
        let inputs = [("x", Datum::Tensor(&x)), ("n", Datum::Tensor(&n))];
        let outputs = [Wanted::tensor("y", DType::F32)];
        for kind in [EngineError::Run, EngineError::Unsupported, EngineError::Internal] {
            let case =
                Case { model: Source::Message(&model), level: "default", inputs: &inputs, outputs: &outputs };
            let failed = OnModels::new(NoSums(kind)).run(&case);
            assert_eq!(failed, Err(kind("no sums".to_owned())));
        }
    }
}
