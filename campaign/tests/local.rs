//! Operators judged on the operands that a target itself has: in deep networks, where bounds from the inputs on say nothing.

use std::fmt::Write as _;

use backends::cpu::{Cpu, model::run_model};
use backends::engines::models::{OnModels, Runner};
use harness::Target;

use ir::rewrite::Rewrite;
use ir::{Attributes, DType, NodeKind, Operation, Tensor, Type, Value};
use ops::{Model, Op};
use triage::local::{Local, Standing, local};
use worker::{Description, EngineError};

/// Our CPU kernels on a copy of the model in which the results of one operator are 1.001 times what they should be.
struct Altered(Option<usize>);

impl Runner for Altered {
    fn describe(&self) -> Description {
        Description {
            engine: "altered".to_owned(),
            dtypes: DType::ALL.map(|d| (d.to_string(), d.to_string())).into(),
            levels: vec!["none".to_owned()],
            ..Description::default()
        }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let model = self.0.map_or_else(|| model.clone(), |which| altered(model, which));
        run_model(&model, inputs, &mut Cpu).map_err(|e| EngineError::Run(e.to_string()))
    }
}

/// The model with a multiplication behind its operator of this number.
fn altered(model: &Model, which: usize) -> Model {
    let mut rewrite = Rewrite::of(&model.graph);
    let mut operators = 0;
    for (id, node) in model.graph.iter() {
        rewrite.keep(id).expect("operands come first");
        if matches!(node.kind, NodeKind::Operator(_)) {
            if operators == which {
                let right = rewrite.at(Value::new(id, 0)).expect("it is kept");
                let factor = Tensor::from_f64_fn(&Type::new(DType::F32, []), |_| 1.001);
                let factor = rewrite.graph.constant(factor);
                let mul =
                    Op::parse("Mul", &Attributes::new()).expect("it is known").expect("it has no attributes");
                let node = rewrite.graph.operator(mul, &[Some(right), Some(factor)]).expect("it is valid");
                rewrite.replace(Value::new(id, 0), Value::new(node, 0));
            }
            operators += 1;
        }
    }
    Model::new(model.opset, rewrite.finish().expect("the outputs are there"))
}

/// So many layers: a product with weights that are inputs, a bias, an activation.
fn network(layers: usize) -> (Model, Vec<Tensor>) {
    const WIDTH: i64 = 24;
    let mut text = format!("onnxsmith 1 opset 21 graph {{ %0: f32[3,{WIDTH}] = variable \"x\" ");
    let mut inputs = vec![numbers(&[3, WIDTH], 0)];
    let mut last = 0;
    for layer in 0..layers {
        let (w, b) = (last + 1, last + 2);
        let _ = write!(
            text,
            "%{w}: f32[{WIDTH},{WIDTH}] = variable \"w{layer}\" %{b}: f32[{WIDTH}] = variable \"b{layer}\" "
        );
        let (product, sum, y) = (last + 3, last + 4, last + 5);
        let _ = write!(text, "%{product}: f32[3,{WIDTH}] = MatMul(%{last}, %{w}) ");
        let _ = write!(
            text,
            "%{sum}: f32[3,{WIDTH}] = Add(%{product}, %{b}) %{y}: f32[3,{WIDTH}] = Softsign(%{sum}) "
        );
        inputs.extend([numbers(&[WIDTH, WIDTH], 2 * layer + 1), numbers(&[WIDTH], 2 * layer + 2)]);
        last = y;
    }
    let _ = write!(text, "return \"y\" = %{last} }}");
    (text.parse().expect("a model"), inputs)
}

/// Numbers about 1 that look random.
fn numbers(shape: &[i64], seed: usize) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, shape), |i| ((i * 37 + seed * 101) % 61) as f64 / 20.0 - 1.5)
}

fn judged(which: Option<usize>, layers: usize) -> Local {
    let (model, inputs) = network(layers);
    let target = Target::here(Box::new(OnModels::new(Altered(which)))).remove(0);
    local(&target, &model, &inputs).expect("it runs").expect("it is written out")
}

#[test]
fn an_operator_that_is_off_by_a_thousandth_is_named_wherever_it_stands() {
    for which in [1, 44, 87] {
        let local = judged(Some(which), 30);
        assert_eq!((local.operators.len(), local.count(Standing::Right)), (90, 89), "{which}");
        let first = local.first_wrong().expect("one is wrong");
        assert_eq!(local.operators.iter().position(|one| one.node == first.node), Some(which));
        assert!(!first.why.is_empty() && !local.changed_by_taps);
    }
}

#[test]
fn each_operator_of_a_deep_network_is_judged_though_the_bounds_of_its_outputs_say_nothing() {
    let local = judged(None, 60);
    assert_eq!(local.count(Standing::Right), 180);
    assert!(local.operators.iter().all(|one| one.used <= 1.0));
    let (model, inputs) = network(60);
    let profile = &interp::Profile::DECLARED;
    let whole = interp::evaluate(&model, &inputs, profile, interp::Taps::Outputs).expect("it is valid");
    assert!(whole.outputs[0].error.iter().all(|error| *error > 1.0), "{:?}", whole.outputs[0].error);
}

/// Our CPU kernels, but a sum of a product and something is rounded once, as fused kernels have it; the product is told
/// as it is rounded.
struct Fused;

impl Runner for Fused {
    fn describe(&self) -> Description {
        Description { engine: "fused".to_owned(), ..Altered(None).describe() }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let mut outputs = Altered(None).run(model, inputs)?;
        let graph = &model.graph;
        let is = |value: Value, name: &str| matches!(&graph.node(value.node).kind, NodeKind::Operator(op) if op.name() == name);
        for (output, tensor) in graph.outputs.iter().zip(&mut outputs) {
            let sums = is(output.value, "Add")
                && graph.node(output.value.node).inputs[0].is_some_and(|v| is(v, "Mul"));
            if sums {
                let [x, c] = [0, 1].map(|i| inputs[i].to_f64s());
                *tensor = Tensor::from_f64_fn(&tensor.ty(), |i| x[i].mul_add(x[i], c[i]));
            }
        }
        Ok(outputs)
    }
}

#[test]
fn what_is_computed_as_one_with_its_operand_is_not_wrong_beside_the_operand_that_is_told() {
    let text = "onnxsmith 1 opset 21 graph { %0: f32[1] = variable \"x\" %1: f32[1] = variable \"c\" \
                %2: f32[1] = Mul(%0, %0) %3: f32[1] = Add(%2, %1) return \"y\" = %3 }";
    let model: Model = text.parse().expect("a model");
    let x = 1.0 + 2f64.powi(-12);
    // What is left is the product's rounding alone.
    let inputs =
        [x, -f64::from((x * x) as f32)].map(|v| Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| v));
    let target = Target::here(Box::new(OnModels::new(Fused))).remove(0);
    let local = local(&target, &model, &inputs).expect("it runs").expect("it is written out");
    assert_eq!(local.count(Standing::Right), 2, "{:?}", local.operators);
    assert!(local.operators[1].why.starts_with("as one with"), "{:?}", local.operators);
}
