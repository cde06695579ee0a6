//! RNN, GRU and LSTM, written out, give what loops over their equations give.

use std::collections::BTreeMap;

use ir::{DType, Datum, Stream, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;
use rand::RngExt;

const STEPS: usize = 3;
const BATCH: usize = 2;
const INPUT: usize = 2;
const HIDDEN: usize = 3;

/// Numbers that follow from a name, none of them far from 0.
fn numbers(name: &str, shape: &[usize]) -> Tensor {
    let mut rng = Stream::new(7).child(name).rng();
    let shape: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
    Tensor::from_f64_fn(&Type::new(DType::F64, shape), |_| rng.random_range(-1.0..1.0))
}

/// A network's tensors, of one direction each.
struct Net {
    gates: usize,
    directions: usize,
}

impl Net {
    fn operands(&self) -> Vec<(&'static str, Tensor)> {
        let (d, rows) = (self.directions, self.gates * HIDDEN);
        vec![
            ("x", numbers("x", &[STEPS, BATCH, INPUT])),
            ("w", numbers("w", &[d, rows, INPUT])),
            ("r", numbers("r", &[d, rows, HIDDEN])),
            ("b", numbers("b", &[d, 2 * rows])),
            ("h", numbers("h", &[d, BATCH, HIDDEN])),
            ("c", numbers("c", &[d, BATCH, HIDDEN])),
            ("p", numbers("p", &[d, 3 * HIDDEN])),
        ]
    }

    /// What goes into gate `gate` for one hidden number: the input's part and the state's.
    fn parts(
        &self,
        all: &BTreeMap<&str, Vec<f64>>,
        d: usize,
        row: usize,
        x: &[f64],
        h: &[f64],
    ) -> (f64, f64) {
        let rows = self.gates * HIDDEN;
        let at = d * rows + row;
        let of = |weights: &[f64], numbers: &[f64]| -> f64 {
            weights.iter().zip(numbers).map(|(a, b)| a * b).sum()
        };
        let (w, r, b) =
            (&all["w"][at * INPUT..][..INPUT], &all["r"][at * HIDDEN..][..HIDDEN], &all["b"][d * 2 * rows..]);
        (of(w, x) + b[row], of(r, h) + b[rows + row])
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// One step of one sequence: the states after it.
type Cell = fn(&Net, &BTreeMap<&str, Vec<f64>>, usize, &[f64], &[f64], &[f64]) -> (Vec<f64>, Vec<f64>);

fn lstm(
    net: &Net,
    all: &BTreeMap<&str, Vec<f64>>,
    d: usize,
    x: &[f64],
    h: &[f64],
    c: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let gate = |gate: usize, j: usize| {
        let (a, b) = net.parts(all, d, gate * HIDDEN + j, x, h);
        a + b
    };
    let peep = |gate: usize, j: usize| all["p"][d * 3 * HIDDEN + gate * HIDDEN + j];
    let held: Vec<f64> = (0..HIDDEN)
        .map(|j| {
            let (input, forget) =
                (sigmoid(gate(0, j) + peep(0, j) * c[j]), sigmoid(gate(2, j) + peep(2, j) * c[j]));
            forget * c[j] + input * gate(3, j).tanh()
        })
        .collect();
    let hidden = (0..HIDDEN).map(|j| sigmoid(gate(1, j) + peep(1, j) * held[j]) * held[j].tanh()).collect();
    (hidden, held)
}

fn gru(net: &Net, all: &BTreeMap<&str, Vec<f64>>, d: usize, x: &[f64], h: &[f64], late: bool) -> Vec<f64> {
    let both = |row: usize, h: &[f64]| {
        let (a, b) = net.parts(all, d, row, x, h);
        a + b
    };
    let reset: Vec<f64> = (0..HIDDEN).map(|j| sigmoid(both(HIDDEN + j, h))).collect();
    let kept: Vec<f64> = reset.iter().zip(h).map(|(r, h)| r * h).collect();
    let new = |j: usize| {
        let row = 2 * HIDDEN + j;
        if late {
            let (a, b) = net.parts(all, d, row, x, h);
            (a + reset[j] * b).tanh()
        } else {
            both(row, &kept).tanh()
        }
    };
    (0..HIDDEN)
        .map(|j| {
            let update = sigmoid(both(j, h));
            (1.0 - update) * new(j) + update * h[j]
        })
        .collect()
}

const CELLS: [(&str, &str, usize, Cell); 4] = [
    ("LSTM", "", 4, lstm),
    ("GRU", "", 3, |net, all, d, x, h, _| (gru(net, all, d, x, h, false), vec![])),
    ("GRU", "linear_before_reset = 1, ", 3, |net, all, d, x, h, _| (gru(net, all, d, x, h, true), vec![])),
    ("RNN", "", 1, |net, all, d, x, h, _| {
        let sum = |j: usize| net.parts(all, d, j, x, h);
        ((0..HIDDEN).map(|j| (sum(j).0 + sum(j).1).tanh()).collect(), vec![])
    }),
];

/// All sequences have all steps.
const WHOLE: [usize; BATCH] = [STEPS; BATCH];

/// All states [step, direction, batch, hidden], and the last ones. Sequences of some lengths are gone through as if
/// each were alone.
fn by_hand(net: &Net, cell: Cell, backwards: &[bool], lengths: [usize; BATCH]) -> (Vec<f64>, Vec<f64>) {
    let all: BTreeMap<&str, Vec<f64>> =
        net.operands().into_iter().map(|(name, t)| (name, t.to_f64s())).collect();
    let d_count = backwards.len();
    let mut y = vec![0.0; STEPS * d_count * BATCH * HIDDEN];
    let mut last = vec![0.0; d_count * BATCH * HIDDEN];
    for (d, &is_backwards) in backwards.iter().enumerate() {
        for n in 0..BATCH {
            let at = (d * BATCH + n) * HIDDEN;
            let (mut h, mut c) = (all["h"][at..][..HIDDEN].to_vec(), all["c"][at..][..HIDDEN].to_vec());
            for step in 0..lengths[n] {
                let t = if is_backwards { lengths[n] - 1 - step } else { step };
                (h, c) = cell(net, &all, d, &all["x"][(t * BATCH + n) * INPUT..][..INPUT], &h, &c);
                y[((t * d_count + d) * BATCH + n) * HIDDEN..][..HIDDEN].copy_from_slice(&h);
            }
            last[at..][..HIDDEN].copy_from_slice(&h);
        }
    }
    (y, last)
}

/// A program of one network with these attributes, and the operands in the order of its inputs.
fn read(name: &str, attributes: &str, net: &Net) -> (Result<Imported, Error>, Vec<Tensor>) {
    read_of(name, attributes, net, WHOLE)
}

/// Such a program, on sequences of these lengths.
fn read_of(
    name: &str,
    attributes: &str,
    net: &Net,
    lengths: [usize; BATCH],
) -> (Result<Imported, Error>, Vec<Tensor>) {
    let is_lstm = name == "LSTM";
    let operands: Vec<(&str, Tensor)> =
        net.operands().into_iter().filter(|(name, _)| is_lstm || !["c", "p"].contains(name)).collect();
    let list = |sizes: Vec<i64>| sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let inputs: Vec<String> =
        operands.iter().map(|(name, t)| format!("double[{}] {name}", list(t.ty().shape))).collect();
    let call = if is_lstm { "h, c, p" } else { "h" };
    let [told, l] = match lengths {
        WHOLE => [String::new(), String::new()],
        [a, b] => [format!("l = Constant<value = int32[2] {{{a}, {b}}}>() "), "l".to_owned()],
    };
    let text = format!(
        "<ir_version: 10, opset_import: [\"\" : 21]>\nm ({}) => (y, last) {{ {told}y, last = {name}<{attributes}hidden_size = {HIDDEN}>(x, w, r, b, {l}, {call}) }}\n",
        inputs.join(", ")
    );
    let program = Program::from_text(&text).expect("a program");
    let known: BTreeMap<String, Datum> = BTreeMap::new();
    let imported = specialise(&program, &Options { known_inputs: &known, ..Options::default() });
    (imported, operands.into_iter().map(|(_, tensor)| tensor).collect())
}

fn near(actual: &Tensor, wanted: &[f64], what: &str) {
    assert_eq!(actual.len(), wanted.len(), "{what}");
    for (a, b) in actual.to_f64s().iter().zip(wanted) {
        assert!((a - b).abs() < 1e-12, "{what}: {a} for {b}");
    }
}

#[test]
fn each_network_goes_step_by_step_in_each_direction() {
    for (name, more, gates, cell) in CELLS {
        for (direction, backwards) in
            [("forward", &[false][..]), ("reverse", &[true]), ("bidirectional", &[false, true])]
        {
            let net = Net { gates, directions: backwards.len() };
            for lengths in [WHOLE, [STEPS, 1], [1, 2]] {
                let what = format!("{name} {more}{direction} {lengths:?}");
                let attributes = format!("{more}direction = \"{direction}\", ");
                let (imported, inputs) = read_of(name, &attributes, &net, lengths);
                let model = imported.unwrap_or_else(|e| panic!("{what}: {e}")).model;
                let results = interp::evaluate_plain(&model, &inputs).expect("values");
                let (y, last) = by_hand(&net, cell, backwards, lengths);
                assert_eq!(results[0].shape(), [STEPS, backwards.len(), BATCH, HIDDEN], "{what}");
                near(&results[0], &y, &what);
                near(&results[1], &last, &what);
            }
        }
    }
}

#[test]
fn what_is_not_written_out_is_told() {
    let net = Net { gates: 1, directions: 1 };
    let says = |attributes: &str| read("RNN", attributes, &net).0.expect_err("it is refused");
    let swish = says("activations = [\"Swish\"], ");
    assert!(matches!(swish, Error::Unsupported { .. }) && swish.to_string().contains("Swish"), "{swish}");
    for name in ["Affine", "ScaledTanh"] {
        let without = says(&format!("activations = [\"{name}\"], activation_alpha = [0.5], "));
        assert!(
            matches!(without, Error::Unsupported { .. }) && without.to_string().contains(name),
            "{without}"
        );
    }
    let unknown = says("activations_alpha = [0.5], ");
    assert!(unknown.to_string().contains("`activations_alpha`"), "{unknown}");
    let of_lstm = says("input_forget = 1, ");
    assert!(of_lstm.to_string().contains("`input_forget`"), "{of_lstm}");
    let two = says("activations = [\"Tanh\", \"Relu\"], ");
    assert!(matches!(two, Error::Invalid { .. }) && two.to_string().contains("2 instead of 1"), "{two}");
    let aside = says("direction = \"sideways\", ");
    assert!(matches!(aside, Error::Invalid { .. }) && aside.to_string().contains("sideways"), "{aside}");
    let (gru, _) = read("GRU", "", &net);
    let gru = gru.expect_err("there are too few gates");
    assert!(
        matches!(gru, Error::Invalid { .. }) && gru.to_string().contains("R must be [1, 3·hidden"),
        "{gru}"
    );
}

/// ONNX: initial_h and initial_c are [num_directions, batch_size, hidden_size]; with `layout` 1, [batch_size,
/// num_directions, hidden_size].
#[test]
fn an_initial_state_has_one_shape() {
    let read = |layout: i64, h: &str, c: &str| {
        let x = if layout == 0 { "float[4, 2, 2]" } else { "float[2, 4, 2]" };
        let inputs = format!("{x} x, float[1, 12, 2] w, float[1, 12, 3] r, float[{h}] h, float[{c}] c");
        let node = format!("y = LSTM<hidden_size = 3, layout = {layout}>(x, w, r, , , h, c)");
        let text = format!("<ir_version: 10, opset_import: [\"\" : 21]>\nm ({inputs}) => (y) {{ {node} }}\n");
        specialise(&Program::from_text(&text).expect("a program"), &Options::default())
    };
    assert!(read(0, "1, 2, 3", "1, 2, 3").is_ok() && read(1, "2, 1, 3", "2, 1, 3").is_ok());
    let wrong = [(0, "1, 2, 3", "1, 3", 6), (0, "1, 1, 3", "1, 2, 3", 5), (1, "1, 2, 3", "2, 1, 3", 5)];
    for (layout, h, c, operand) in wrong {
        let error = read(layout, h, c).expect_err("a state has another shape");
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(error.to_string().contains(&format!("operand {operand}")), "{error}");
    }
}

#[test]
fn functions_and_clips_are_those_that_are_told() {
    let net = Net { gates: 1, directions: 1 };
    let run = |attributes: &str| {
        let (imported, inputs) = read("RNN", attributes, &net);
        interp::evaluate_plain(&imported.expect("a model").model, &inputs)
            .expect("values")
            .remove(1)
            .to_f64s()
    };
    let clipped = run("activations = [\"relu\"], clip = 0.25, ");
    assert!(clipped.iter().all(|&x| (0.0..=0.25).contains(&x)) && clipped.contains(&0.25), "{clipped:?}");
    assert_ne!(run("activations = [\"Softsign\"], "), run(""));
}

/// A network of one step, which gives its function of the input, and of as many directions as there are functions.
fn alone(attributes: &str, directions: usize) -> Result<Vec<f64>, Error> {
    let (ones, zeros) = (vec!["1.0"; directions].join(", "), vec!["0.0"; directions].join(", "));
    let direction = if directions == 2 { "direction = \"bidirectional\", " } else { "" };
    let text = format!(
        "<ir_version: 10, opset_import: [\"\" : 21]>\nm (double[1, 5, 1] x) => (y) {{
        w = Constant<value = double[{directions}, 1, 1] {{{ones}}}>() r = Constant<value = double[{directions}, 1, 1] {{{zeros}}}>()
        y = RNN<{direction}{attributes}, hidden_size = 1>(x, w, r) }}\n"
    );
    let model = specialise(&Program::from_text(&text)?, &Options::default())?.model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F64, [1, 5, 1]), |i| INPUTS[i]);
    Ok(interp::evaluate_plain(&model, &[x]).expect("values").remove(0).to_f64s())
}

const INPUTS: [f64; 5] = [-3.0, -0.5, 0.0, 0.75, 4.0];

type Formula = fn(f64) -> f64;

/// A function, and by which formula ONNX's text gives it. Defaults are those of the operator of that name.
const FUNCTIONS: [(&str, Formula); 13] = [
    ("\"HardSigmoid\"]", |x| (f64::from(0.2_f32) * x + 0.5).clamp(0.0, 1.0)),
    ("\"HardSigmoid\"], activation_alpha = [0.25], activation_beta = [0.75]", |x| {
        (0.25 * x + 0.75).clamp(0.0, 1.0)
    }),
    ("\"LeakyRelu\"]", |x| if x >= 0.0 { x } else { f64::from(0.01_f32) * x }),
    ("\"leakyrelu\"], activation_alpha = [0.5]", |x| if x >= 0.0 { x } else { 0.5 * x }),
    ("\"Elu\"]", |x| if x >= 0.0 { x } else { x.exp() - 1.0 }),
    ("\"Elu\"], activation_alpha = [2.0]", |x| if x >= 0.0 { x } else { 2.0 * (x.exp() - 1.0) }),
    ("\"ThresholdedRelu\"]", |x| if x >= 1.0 { x } else { 0.0 }),
    ("\"ThresholdedRelu\"], activation_alpha = [0.75]", |x| if x >= 0.75 { x } else { 0.0 }),
    ("\"Affine\"], activation_alpha = [2.0], activation_beta = [0.5]", |x| 2.0 * x + 0.5),
    ("\"ScaledTanh\"], activation_alpha = [2.0], activation_beta = [0.5]", |x| 2.0 * (0.5 * x).tanh()),
    ("\"Softsign\"]", |x| x / (1.0 + x.abs())),
    ("\"Softplus\"]", |x| x.exp().ln_1p()),
    ("\"RELU\"]", |x| x.max(0.0)),
];

#[test]
fn functions_have_the_numbers_that_are_told() {
    for (told, formula) in FUNCTIONS {
        let y = alone(&format!("activations = [{told}"), 1).unwrap_or_else(|e| panic!("{told}: {e}"));
        for (x, y) in INPUTS.into_iter().zip(y) {
            assert!((y - formula(x)).abs() < 1e-12, "{told}: {y} of {x}");
        }
    }
}

/// "The values are consumed in the order of activation functions."
#[test]
fn numbers_go_to_the_functions_that_take_some() {
    let both = |attributes: &str| alone(&format!("activations = [\"Tanh\", \"LeakyRelu\"], {attributes}"), 2);
    let y = both("activation_alpha = [0.5]").expect("one number, and one function that takes one");
    assert_eq!(y[0], (-3.0_f64).tanh());
    assert_eq!(y[5..], [-1.5, -0.25, 0.0, 0.75, 4.0]);
    // ONNX's reference implementation gives each function a number, others those alone that take one.
    assert_eq!(both("activation_alpha = [0.5, 0.5]").expect("both are the same"), y);
    let open = both("activation_alpha = [0.25, 0.5]").expect_err("it may be either");
    assert!(matches!(open, Error::Unsupported { .. }), "{open}");
    assert!(open.to_string().contains("`activation_alpha` in node #2 (RNN)"), "{open}");
}

#[test]
fn sequences_end_within_the_steps() {
    let net = Net { gates: 1, directions: 1 };
    let long = read_of("RNN", "", &net, [STEPS + 1, 1]).0.expect_err("there is no such step");
    assert!(matches!(long, Error::Invalid { .. }) && long.to_string().contains("operand 4"), "{long}");
    let none = read_of("RNN", "", &net, [0, 1]).0.expect_err("its last state is open");
    assert!(matches!(none, Error::Unsupported { .. }) && none.to_string().contains("operand 4"), "{none}");
}

/// A cell beyond the threshold is clipped before its function by the letter of the text, and by no runtime: either is right.
#[test]
fn whether_a_cell_is_clipped_is_open() {
    let constant = |name: &str, shape: &str, number: &str, count: usize| {
        format!("{name} = Constant<value = float[{shape}] {{{}}}>() ", vec![number; count].join(", "))
    };
    let error = |cell: &str| {
        let nodes = [
            constant("w", "1, 4, 1", "0.5", 4),
            constant("r", "1, 4, 1", "0.5", 4),
            constant("c", "1, 1, 1", cell, 1),
            "h, y, z = LSTM<hidden_size = 1, clip = 1.0>(x, w, r, , , , c)".to_owned(),
        ];
        let text = format!(
            "<ir_version: 8, opset_import: [\"\" : 18]>\nm (float[1, 1, 1] x) => (y) {{ {} }}\n",
            nodes.concat()
        );
        let program = Program::from_text(&text).expect("a text");
        let model = specialise(&program, &Options::default()).expect("it is read").model;
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 1, 1]), |_| 0.5);
        let (profile, taps) = (&interp::Profile::DECLARED, interp::Taps::Outputs);
        interp::evaluate(&model, &[x], profile, taps).expect("values").outputs.remove(0).error[0]
    };
    assert!(error("0.5") < 1e-4);
    assert!(error("3.0") > 1e-2);
}
