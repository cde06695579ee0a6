//! What is run: single operators, of the sizes that models have.

use ir::{Attributes, DType, Operation, Stream, Tensor, Type, Value, Wanted};
use onnx::export::{encode, export};
use ops::{Graph, Model, Op};
use rand::RngExt;

/// One operator on operands of these types.
pub(crate) struct Problem {
    name: &'static str,
    attributes: Attributes,
    operands: Vec<Type>,
}

/// A model with its inputs, as a worker gets them.
pub(crate) struct Case {
    pub(crate) model: Vec<u8>,
    pub(crate) inputs: Vec<(String, Tensor)>,
    pub(crate) outputs: Vec<Wanted>,
}

/// All that is measured: what the issue names first, then what else shows how kernels are made.
pub(crate) fn all() -> Vec<Problem> {
    let none = Attributes::new;
    let padded = || Attributes::new().ints("pads", &[1, 1, 1, 1]);
    let f32s = |name, attributes, shapes: &[&[i64]]| Problem {
        name,
        attributes,
        operands: shapes.iter().map(|&shape| Type::new(DType::F32, shape)).collect(),
    };
    let along = |axis: i64| Attributes::new().ints("axes", &[axis]);
    let pool = || Attributes::new().ints("kernel_shape", &[3, 3]).ints("strides", &[2, 2]);
    let mut all = vec![
        f32s("MatMul", none(), &[&[1024, 1024], &[1024, 1024]]),
        f32s("Conv", padded(), &[&[1, 64, 56, 56], &[64, 64, 3, 3]]),
        f32s("LayerNormalization", none(), &[&[1024, 1024], &[1024], &[1024]]),
        f32s("Add", none(), &[&[10_000_000], &[10_000_000]]),
        f32s("Transpose", Attributes::new().ints("perm", &[0, 2, 1]), &[&[8, 1024, 1024]]),
        f32s("Softmax", none(), &[&[1024, 1024]]),
        f32s("ReduceSum", none(), &[&[8_000_000]]),
        f32s("ReduceSum", along(1), &[&[4096, 1024]]),
        f32s("ReduceSum", along(0), &[&[4096, 1024]]),
        f32s("ReduceMax", along(1), &[&[4096, 1024]]),
        f32s("MatMul", none(), &[&[64, 128, 64], &[64, 64, 128]]),
        f32s("Gemm", Attributes::new().int("transB", 1), &[&[128, 768], &[3072, 768], &[3072]]),
        f32s("Conv", padded(), &[&[1, 128, 28, 28], &[128, 128, 3, 3], &[128]]),
        f32s("Conv", none(), &[&[1, 256, 28, 28], &[256, 256, 1, 1]]),
        f32s("Conv", padded().int("group", 128), &[&[1, 128, 56, 56], &[128, 1, 3, 3]]),
        f32s("MaxPool", pool(), &[&[1, 64, 112, 112]]),
        f32s("AveragePool", pool(), &[&[1, 64, 112, 112]]),
        f32s("GlobalAveragePool", none(), &[&[8, 256, 56, 56]]),
        f32s("BatchNormalization", none(), &[&[1, 64, 112, 112], &[64], &[64], &[64], &[64]]),
        f32s("Add", none(), &[&[64, 1, 1024], &[64, 1024]]),
        f32s("Mul", none(), &[&[1, 64, 112, 112], &[1, 64, 1, 1]]),
        f32s("Relu", none(), &[&[4_000_000]]),
        f32s("Exp", none(), &[&[1_000_000]]),
        f32s("Tanh", none(), &[&[1_000_000]]),
        f32s("Sigmoid", none(), &[&[1_000_000]]),
        f32s("Erf", none(), &[&[1_000_000]]),
        f32s("Gelu", none(), &[&[1_000_000]]),
        f32s("Concat", Attributes::new().int("axis", 1), &[&[1024, 1024], &[1024, 1024]]),
        f32s(
            "Slice",
            Attributes::new().ints("starts", &[1, 1]).ints("ends", &[1023, 1023]),
            &[&[1024, 1024]],
        ),
        f32s("Transpose", Attributes::new().ints("perm", &[0, 2, 3, 1]), &[&[8, 64, 56, 56]]),
    ];
    let (from, to) = (Type::new(DType::F32, [1 << 22]), Type::new(DType::F16, [1 << 22]));
    let cast = |to: DType| Attributes::new().dtype("to", to);
    all.push(Problem { name: "Cast", attributes: cast(DType::F16), operands: vec![from] });
    all.push(Problem { name: "Cast", attributes: cast(DType::F32), operands: vec![to] });
    let table = [Type::new(DType::F32, [50_000, 256]), Type::new(DType::I64, [4096])];
    all.push(Problem { name: "Gather", attributes: none(), operands: table.into() });
    let halves = |shape: &[i64]| Type::new(DType::F16, shape);
    all.push(Problem {
        name: "Add",
        attributes: none(),
        operands: vec![halves(&[1 << 20]), halves(&[1 << 20])],
    });
    all
}

impl Problem {
    /// The operator, its operands and attributes.
    pub(crate) fn name(&self) -> String {
        let operands = self.operands.iter().map(ToString::to_string);
        let attributes = self.attributes.iter().map(|(name, value)| format!("{name}={value}"));
        let all: Vec<String> = [self.name.to_owned()].into_iter().chain(operands).chain(attributes).collect();
        all.join(" ")
    }

    /// The model, and inputs from a stream of its own.
    pub(crate) fn case(&self) -> Case {
        let op = Op::parse(self.name, &self.attributes).expect("a known operator").expect("legal attributes");
        let mut graph = Graph::new();
        let names: Vec<String> = (0..self.operands.len()).map(|i| format!("x{i}")).collect();
        let variables = names.iter().zip(&self.operands);
        let variables: Vec<_> = variables.map(|(name, ty)| Some(graph.variable(name, ty.clone()))).collect();
        let node = graph.operator(op, &variables).expect("operands that fit");
        let dtype = graph.node(node).outputs[0].dtype;
        graph.output("y", Value::new(node, 0));
        let model = Model::new(21, graph);
        let stream = Stream::new(1).child(self.name);
        let tensors = (0u64..).zip(&self.operands).map(|(i, ty)| elements(ty, stream.at(i)));
        Case {
            model: encode(&export(&model).expect("an exportable model")),
            inputs: names.into_iter().zip(tensors).collect(),
            outputs: vec![Wanted::tensor("y", dtype)],
        }
    }
}

/// Real numbers, of either sign; indices are small enough for any axis, and variances what comes out positive.
fn elements(ty: &Type, stream: Stream) -> Tensor {
    let rng = &mut stream.rng();
    match ty.dtype {
        DType::I64 => Tensor::from_i128_fn(ty, |_| rng.random_range(0..50_000)),
        // One number for each channel: a variance must not be negative.
        _ if ty.shape.len() == 1 && ty.shape[0] < 100 => {
            Tensor::from_f64_fn(ty, |_| rng.random_range(0.5..2.0))
        }
        _ => Tensor::from_f64_fn(ty, |_| rng.random_range(-4.0..4.0)),
    }
}
