//! Faults in what a program says in other words than it has to: sizes, types, parameters, defaults and constants.

use ir::{DType, Tensor, Type};
use onnx::program::Program;

mod having;
mod reduced;

use reduced::reduced;

/// All forms that say in other words what an initializer or a declared type says: y = Reshape(|x|, [2, N / 2]) + c + d.
const WORDS: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
words (float[1, N] x, float[1] d) => (y) <int64[1] two = {2}, float[1] d = {4}> {
    a = Abs(x)
    c = Constant <value_float = 1.0> ()
    shape = Shape <start = 1, end = 2> (x)
    half = Div(shape, two)
    sizes = Concat <axis = 0> (two, half)
    r = Reshape(a, sizes)
    s = Add(r, c)
    y = Add(s, d)
}"#;

/// The program with Neg in place of each Abs.
fn negated(program: &Program) -> Program {
    let mut program = program.clone();
    for node in program.main.body.nodes.iter_mut().filter(|node| node.rest.op_type() == "Abs") {
        node.rest.op_type = Some("Neg".to_owned());
    }
    program
}

#[test]
fn a_fault_in_what_is_said_in_other_words_is_blamed_on_these() {
    fn sizes(program: &Program) -> Option<Program> {
        let open = onnx::import::inputs(program).expect("inputs").iter().any(|i| i.open().next().is_some());
        open.then(|| negated(program))
    }
    fn types(program: &Program) -> Option<Program> {
        (!program.undeclared().is_empty()).then(|| negated(program))
    }
    fn parameters(program: &Program) -> Option<Program> {
        (!program.open_parameters().is_empty()).then(|| negated(program))
    }
    fn defaults(program: &Program) -> Option<Program> {
        program.without_defaults(|_| false).map(|_| negated(program))
    }
    fn constants(program: &Program) -> Option<Program> {
        program.without_constant_nodes().map(|_| negated(program))
    }
    type Wrong = fn(&Program) -> Option<Program>;
    let all: [(&str, Wrong); 5] = [
        ("sizes", sizes),
        ("value_info", types),
        ("parameter of Reshape", parameters),
        ("default", defaults),
        ("Constant", constants),
    ];
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 6]), |i| i as f64 + 1.0);
    for (form, wrong) in all {
        let (reduced, operators, _) = reduced(wrong, WORDS, &[("x", x.clone().into())]);
        assert!(reduced.signature.contains(&format!("| form {form} ")), "{form}: {}", reduced.signature);
        assert!(operators.contains(&"Abs".to_owned()), "{form}: {operators:?}");
        assert!(
            form.starts_with("parameter") || !operators.contains(&"Concat".to_owned()),
            "{form}: {operators:?}"
        );
    }
}

#[test]
fn a_fault_in_a_value_that_takes_the_place_of_a_default_is_blamed_on_that() {
    fn overridden(program: &Program) -> Option<Program> {
        program.without_overridden_defaults(|name| name == "w").map(|_| negated(program))
    }
    let text = r#"<ir_version: 10, opset_import: ["" : 18]>
m (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1.0, 2.0}> {
    a = Abs(x)
    b = Sub(a, w)
    y = Neg(b)
}"#;
    let [x, w] = [3.0, 5.0].map(|n| Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| n + i as f64));
    let (reduced, operators, _) = reduced(overridden, text, &[("x", x.into()), ("w", w.into())]);
    assert!(reduced.signature.contains("| form overridden default "), "{}", reduced.signature);
    assert!(operators.contains(&"Abs".to_owned()), "{operators:?}");
}

/// The flat model of several operators is right, and the same operator is wrong alone and beside a computed shape: that
/// is no fault of the form.
#[test]
fn an_operator_that_alone_shows_the_very_same_is_blamed_before_a_form() {
    fn wrong(program: &Program) -> Option<Program> {
        let is_alone = program.main.body.nodes.len() == 1;
        (is_alone || !program.open_parameters().is_empty()).then(|| negated(program))
    }
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 6]), |i| i as f64 + 1.0);
    let (reduced, operators, _) = reduced(wrong, WORDS, &[("x", x.into())]);
    assert!(reduced.signature.contains("| Abs f32 "), "{}", reduced.signature);
    assert_eq!(operators, ["Abs"]);
}
