//! What was read from values that a conforming implementation may have otherwise is not judged, and neither is its shape.

use interp::{Profile, Taps, compare, evaluate};
use ir::{Attributes, DType, Operation, Tensor, Type, Value};
use onnxsmith_interp as interp;
use ops::{Graph, Model, Op};

fn apply(graph: &mut Graph, name: &str, operands: &[Value]) -> Value {
    let op = Op::parse(name, &Attributes::new()).unwrap().unwrap();
    let operands: Vec<_> = operands.iter().map(|&v| Some(v)).collect();
    Value::new(graph.operator(op, &operands).unwrap(), 0)
}

fn scalar(x: f64) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, []), |_| x)
}

/// y is x, given whether exp(x) is above a limit; z depends on y, and w on nothing that was read.
fn model(limit: f64) -> Model {
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, []));
    let limit = graph.constant(scalar(limit));
    let power = apply(&mut graph, "Exp", &[x]);
    let above = apply(&mut graph, "Greater", &[power, limit]);
    let y = apply(&mut graph, "Identity", &[x]);
    graph.give(y.node, [above]);
    let z = apply(&mut graph, "Neg", &[y]);
    let w = apply(&mut graph, "Neg", &[x]);
    for (name, value) in [("y", y), ("z", z), ("w", w)] {
        graph.output(name, value);
    }
    Model::new(21, graph)
}

fn is_open(limit: f64) -> Vec<bool> {
    let evaluation = evaluate(&model(limit), &[scalar(1.0)], &Profile::DECLARED, Taps::Outputs).unwrap();
    evaluation.outputs.iter().map(|output| output.is_open).collect()
}

#[test]
fn what_depends_on_a_decision_is_open_where_the_decision_is_undecidable() {
    let e = f64::from(std::f32::consts::E);
    assert_eq!(is_open(e), [true, true, false], "an exponential of one ULP more or less is right, too");
    assert_eq!(is_open(2.0), [false; 3]);
    assert_eq!(is_open(3.0), [false; 3]);
}

#[test]
fn an_open_output_has_any_shape_but_not_any_dtype() {
    let e = f64::from(std::f32::consts::E);
    let evaluation = evaluate(&model(e), &[scalar(1.0)], &Profile::DECLARED, Taps::Outputs).unwrap();
    let longer = Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |_| 7.0);
    let compared = compare(&evaluation.outputs[0], &longer, &Profile::DECLARED).unwrap();
    assert!(compared.passes());
    assert_eq!((compared.elements, compared.compared()), (3, 0));
    assert!(compare(&evaluation.outputs[2], &longer, &Profile::DECLARED).is_err());
    let whole = Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| 7);
    assert!(compare(&evaluation.outputs[0], &whole, &Profile::DECLARED).is_err());
}
