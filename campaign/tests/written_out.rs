//! Operators that are written out in others where they are read, and who is to blame in a model that has one.

use std::path::{Path, PathBuf};

use harness::Target;
use ir::{DType, Tensor, Type};
use onnx::program::{Indices, Node, Program};
use onnx::text;
use onnxsmith_campaign::replay::UserInputs;
use triage::local::Subject;

mod having;
mod replayed;

use having::{Having, case, case_of};
use replayed::not_passing;

/// A transform before an exponential.
const SPECTRUM: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
spectrum (float[1, 4, 1] x) => (y) {
    f = DFT(x)
    a = Abs(f)
    y = Exp(a)
}"#;

/// There are no products of matrices, which a transform is written out in, and exponentials are something else.
fn without_products(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    let mut nodes = program.main.body.nodes.iter_mut();
    let is_either = |node: &&mut Node| ["MatMul", "Exp"].contains(&node.rest.op_type());
    let first = nodes.find(is_either)?;
    let other = if first.rest.op_type() == "MatMul" { "Absent" } else { "Neg" };
    first.rest.op_type = Some(other.to_owned());
    Some(program)
}

/// A case of it, in a folder.
fn spectrum(folder: &Path) -> PathBuf {
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 4, 1]), |i| i as f64 / 4.0);
    case(folder, SPECTRUM, &[("x", x.into())]);
    folder.to_owned()
}

#[test]
fn what_fails_alone_is_blamed_where_an_engine_cannot_run_what_others_are_written_out_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = spectrum(&folder.path().join("case"));
    let failures = not_passing(&path, without_products);
    let named = failures.iter().filter_map(|failure| failure.signatures.first());
    assert_eq!(named.collect::<Vec<_>>(), ["interp | Exp f32 dense | mismatch gross"], "{failures:?}");
}

/// A transform goes the other way.
fn back(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    let mut nodes = program.main.body.nodes.iter_mut();
    let transform = nodes.find(|node| node.rest.op_type() == "DFT")?;
    *transform = transform.clone().with_int("inverse", 1);
    Some(program)
}

/// The transform in a function.
const CALLED: &str = r#"<ir_version: 8, opset_import: ["" : 17, "this.model" : 1]>
called (float[1, 4, 1] x) => (y) {
    f = this.model.Transform(x)
    y = Abs(f)
}
<domain: "this.model", opset_import: ["" : 17]>
Transform (x) => (y) {
    y = DFT(x)
}"#;

/// A transform goes the other way, in a function or not.
fn called_back(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    let bodies = program.functions.iter_mut().map(|function| &mut function.scope.body);
    let mut is_wrong = false;
    for node in bodies.chain([&mut program.main.body]).flat_map(|body| &mut body.nodes) {
        if node.rest.op_type() == "DFT" {
            *node = node.clone().with_int("inverse", 1);
            is_wrong = true;
        }
    }
    is_wrong.then_some(program)
}

#[test]
fn an_operator_in_a_function_is_named_and_not_the_whole_graph() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case");
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 4, 1]), |i| i as f64 / 4.0);
    case(&path, CALLED, &[("x", x.into())]);
    let failures = not_passing(&path, called_back);
    let named = failures.iter().filter_map(|failure| failure.signatures.first());
    assert_eq!(named.collect::<Vec<_>>(), ["interp | DFT f32 dense | mismatch gross"], "{failures:?}");
}

/// A product with a constant.
const PRODUCT: &str = r#"<ir_version: 11, opset_import: ["" : 21]>
product (uint8[2, 2] a) => (y) <uint8[2, 2] b = {1, 0, 0, 2}> {
    y = MatMulInteger(a, b)
}"#;

/// Where the constant is sparse, the product is another one.
fn transposed_by_sparse(program: &Program) -> Option<Program> {
    program.first_sparse_initializer()?;
    let mut program = program.clone();
    program.main.body.nodes.iter_mut().find(|node| node.rest.op_type() == "MatMulInteger")?.inputs.reverse();
    Some(program)
}

#[test]
fn a_form_of_a_constant_is_named_and_not_the_operator_that_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case");
    let dense = Program::read(text::parse(PRODUCT).unwrap()).unwrap();
    let dense = dense.without_tensor_fields(|_| true).unwrap();
    let sparse = dense.with_sparse_initializers(|_| Some(Indices::Linear)).unwrap();
    let a = Tensor::from_i128_fn(&Type::new(DType::U8, [2, 2]), |i| i as i128 + 1);
    case_of(&path, &sparse.write(), &[("a", a.into())]);
    let failures = not_passing(&path, transposed_by_sparse);
    let named = failures.iter().filter_map(|failure| failure.signatures.first());
    let form = "interp | form sparse initializer i32 dense in context | mismatch gross";
    assert_eq!(named.collect::<Vec<_>>(), [form], "{failures:?}");
}

/// How often is computed from a constant.
const REPEATED: &str = r#"<ir_version: 11, opset_import: ["" : 21]>
repeated (float[2] x) => (y) <int64[1] n = {-2}> {
    m = Abs(n)
    t = Tile(x, m)
    y = Neg(t)
}"#;

/// Where a constant is sparse, signs are kept.
fn kept_by_sparse(program: &Program) -> Option<Program> {
    program.first_sparse_initializer()?;
    let mut program = program.clone();
    let sign = program.main.body.nodes.iter_mut().find(|node| node.rest.op_type() == "Neg")?;
    sign.rest.op_type = Some("Identity".to_owned());
    Some(program)
}

#[test]
fn a_form_of_a_constant_is_named_and_not_the_parameter_that_is_computed_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case");
    let dense = Program::read(text::parse(REPEATED).unwrap()).unwrap();
    let dense = dense.without_tensor_fields(|_| true).unwrap();
    let sparse = dense.with_sparse_initializers(|_| Some(Indices::Linear)).unwrap();
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| i as f64 + 1.0);
    case_of(&path, &sparse.write(), &[("x", x.into())]);
    let failures = not_passing(&path, kept_by_sparse);
    let named = failures.iter().filter_map(|failure| failure.signatures.first());
    let form = "interp | form sparse initializer f32 dense in context | mismatch gross";
    assert_eq!(named.collect::<Vec<_>>(), [form], "{failures:?}");
}

#[test]
fn an_operator_is_judged_alone_where_it_is_written_out_or_the_model_cannot_be_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = spectrum(&folder.path().join("case"));
    let subject = Subject::read(&path, &UserInputs::default(), 1).unwrap();
    for (wrong, first) in [(back as fn(&Program) -> _, "DFT"), (without_products, "Exp")] {
        let target = Target::here(Box::new(Having(wrong))).remove(0);
        let local = subject.on(&target).unwrap();
        assert_eq!(
            local.operators.iter().map(|judged| &judged.op).collect::<Vec<_>>(),
            ["DFT", "Abs", "Exp"]
        );
        assert_eq!(local.first_wrong().map(|judged| judged.op.as_str()), Some(first), "{local:?}");
    }
}
