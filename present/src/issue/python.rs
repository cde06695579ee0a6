//! The Python program of an issue: the model on ONNX Runtime.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ir::{DType, Tensor};
use onnx::case::{Leeway, MODEL};
use oracles::signature::Symptom;
use oracles::verdict::Worst;

use super::{SMALL_MODEL, SMALL_TENSOR, headline};
use crate::evidence::{Evidence, elements};

/// Whether the program runs the engine that the finding is of: then it reproduces the fault, and else it is there to compare.
pub(super) fn is_of_its_engine(evidence: &Evidence) -> bool {
    matches!(evidence.finding.backend.as_str(), "ort" | "onnxruntime")
}

/// The program. Its exit code is 1 while the fault is there and 0 once it is not, so that it can look for the commit
/// that did it. On the model of another engine's finding, it says whether ONNX Runtime is right.
pub(super) fn program(evidence: &Evidence) -> String {
    let headline = headline(&evidence.finding);
    let mut text = if is_of_its_engine(evidence) {
        format!(
            "# {headline}\n# Exit code: 1 while that is so, 0 once it is not, 125 where that cannot be told.\n"
        )
    } else {
        format!(
            "# ONNX Runtime, for comparison, on the model of this finding:\n# {headline}\n\
             # Exit code: 0 where ONNX Runtime is right, 1 where it is wrong, 125 where that cannot be told.\n"
        )
    };
    text += &imports(evidence);
    text += &model(evidence);
    text += "inputs = {\n";
    for (name, tensor) in evidence.inputs() {
        let _ = writeln!(text, "    {}: {},", literal(name), array(tensor));
    }
    text += "}\n\noptions = ort.SessionOptions()\n";
    let _ =
        writeln!(text, "options.graph_optimization_level = ort.GraphOptimizationLevel.{}", level(evidence));
    text += "options.intra_op_num_threads = 1\n\
             # What hangs is ended after a minute.\n\
             faulthandler.dump_traceback_later(60, exit=True)\n\n";
    if let Symptom::Accepted { rule } = &evidence.finding.symptom {
        let text_of_rule = literal(&format!("a model that breaks the rule {rule} was run"));
        return text
            + "try:\n    "
            + SESSION
            + "    session.run(None, inputs)\n\
               except Exception as error:\n    \
                   print(\"refused, as is right:\", error)\n    \
                   sys.exit(0)\n"
            + &format!("sys.exit({text_of_rule})\n");
    }
    let zero_signs_count = if evidence.zero_signs_count { "True" } else { "False" };
    text += &format!("zero_signs_count = {zero_signs_count}\n\n\n");
    text += COMPARE;
    text += &format!(
        "\n\ndef wrong_elements(outputs):\n    wrong = []\n{}    return wrong\n\n\n",
        compared(evidence)
    );
    text += "try:\n    ";
    text += SESSION;
    text += RUNS;
    text
}

/// A session on the model.
const SESSION: &str =
    "session = ort.InferenceSession(model, options, providers=[\"CPUExecutionProvider\"])\n";

/// What is done with it, and the exit code.
const RUNS: &str = "    \
    names = [output.name for output in session.get_outputs()]\n    \
    # What was never written to memory varies from run to run.\n    \
    runs = [dict(zip(names, session.run(None, inputs))) for _ in range(3)]\n\
except Exception as error:\n    \
    # No such tensors in NumPy, no kernel, or a model that is newer than the package.\n    \
    lacks = [\"Numpy type\", \"NOT_IMPLEMENTED\", \"Unsupported model IR version\", \"is under development\"]\n    \
    if any(words in str(error) for words in lacks):\n        \
        print(\"this package cannot tell:\", error)\n        \
        sys.exit(125)\n    \
    sys.exit(f\"a valid model is refused: {error}\")\n\n\
for outputs in runs:\n    \
    wrong = wrong_elements(outputs)\n    \
    if wrong:\n        \
        break\n\
for name, y in outputs.items():\n    \
    print(name, y.dtype, y.shape, y)\n\
sys.exit(\"\\n\".join(wrong) or 0)\n";

/// The judge of a number. A bound that is not a number is that of an element that nothing is said of.
const COMPARE: &str = "def is_right(got, right, bound):\n    \
    if math.isnan(bound):\n        \
        return True\n    \
    if math.isnan(got) or math.isnan(right):\n        \
        return math.isnan(got) and math.isnan(right)\n    \
    if got == right:\n        \
        signs_count = zero_signs_count and bound == 0 and right == 0\n        \
        return not signs_count or math.copysign(1, got) == math.copysign(1, right)\n    \
    return abs(got - right) <= bound\n";

/// The model: its bytes where they are few, else those of the attachment.
fn model(evidence: &Evidence) -> String {
    if evidence.case.model.len() <= SMALL_MODEL {
        return format!("model = base64.b64decode(\n{})\n", wrapped(&STANDARD.encode(&evidence.case.model)));
    }
    format!(
        "try:\n    \
             model = pathlib.Path(__file__).with_name(\"{MODEL}\").read_bytes()\n\
         except OSError as error:\n    \
             print(\"the attached model belongs beside this program:\", error)\n    \
             sys.exit(125)\n"
    )
}

fn imports(evidence: &Evidence) -> String {
    let mut tensors = evidence.inputs().chain(evidence.outputs());
    let is_beyond_numpy = tensors.any(|(_, tensor)| numpy(tensor.dtype()).starts_with("ml_dtypes"));
    let more = if is_beyond_numpy { "    import ml_dtypes\n" } else { "" };
    format!(
        "import base64\nimport faulthandler\nimport math\nimport pathlib\nimport sys\n\n\
         try:\n{more}    import numpy as np\n    import onnxruntime as ort\n\
         except ImportError as error:\n    print(error)\n    sys.exit(125)\n\n"
    )
}

/// What is looked at of the outputs: types; of small ones all elements, and of others the worst.
fn compared(evidence: &Evidence) -> String {
    let worst = evidence.finding.worst.as_ref().filter(|_| evidence.has_worst_output());
    let mut text = String::new();
    for (name, tensor, leeway) in evidence.judged_outputs() {
        text += &of_type(name, tensor);
        match (leeway, worst) {
            (Some(leeway), _) if tensor.len() <= SMALL_TENSOR => text += &of_all(name, tensor, leeway),
            (_, Some(worst)) if worst.output == name => text += &of_worst(worst),
            _ => {}
        }
    }
    text
}

/// Looks at the type of an output.
fn of_type(name: &str, tensor: &Tensor) -> String {
    let (name, shape, dtype) = (literal(name), tensor.shape(), numpy(tensor.dtype()));
    format!(
        "    y = outputs[{name}]\n    \
         if y.dtype != {dtype} or list(y.shape) != {shape:?}:\n        \
             wrong.append({name} + f\": {{y.dtype}} {{y.shape}} instead of \" + {})\n        \
             return wrong\n",
        literal(&format!("{} {shape:?}", tensor.dtype()))
    )
}

/// Looks at all elements of an output.
fn of_all(name: &str, tensor: &Tensor, leeway: &Leeway) -> String {
    let judged = leeway.mask.tensor().into_iter().flat_map(Tensor::to_f64s).map(|mask| mask == 0.0);
    let bounds = leeway.bound.tensor().into_iter().flat_map(Tensor::to_f64s).zip(judged);
    let bounds: Vec<String> = bounds
        .map(|(bound, is_judged)| number(&format!("{:?}", if is_judged { bound } else { f64::NAN })))
        .collect();
    format!(
        "    right = {}\n    \
         bounds = [{}]\n    \
         for index, (got, want, bound) in enumerate(zip(y.flat, right.flat, bounds)):\n        \
             if not is_right(got.item(), want.item(), bound):\n            \
                 wrong.append({} + f\": element {{index}} is {{got}} where {{want}} ± {{bound:.1e}} is right\")\n",
        array(tensor),
        bounds.join(", "),
        literal(name)
    )
}

/// Looks at the element that is worst.
fn of_worst(worst: &Worst) -> String {
    let Worst { output, index, expected, bound, .. } = worst;
    format!(
        "    got = y.flat[{index}].item()\n    \
         if not is_right(got, {expected}, {bound}):\n        \
             wrong.append({output} + f\": element {index} is {{got}} \" + {right})\n",
        output = literal(output),
        right = literal(&format!("where {} is right", worst.right())),
        expected = number(expected),
        bound = number(bound),
    )
}

/// A number as Python writes it.
fn number(text: &str) -> String {
    match text {
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        "inf" => "math.inf".to_owned(),
        "-inf" => "-math.inf".to_owned(),
        "NaN" => "math.nan".to_owned(),
        number => number.to_owned(),
    }
}

/// ONNX Runtime's name of the level; for other engines the one that does least.
fn level(evidence: &Evidence) -> &'static str {
    match (evidence.finding.backend.as_str(), evidence.finding.level.as_str()) {
        ("ort" | "onnxruntime", "all") => "ORT_ENABLE_ALL",
        ("ort" | "onnxruntime", "extended") => "ORT_ENABLE_EXTENDED",
        ("ort" | "onnxruntime", "basic") => "ORT_ENABLE_BASIC",
        _ => "ORT_DISABLE_ALL",
    }
}

/// A string literal.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A long literal as several lines.
fn wrapped(text: &str) -> String {
    const LINE: usize = 96;
    let lines =
        text.as_bytes().chunks(LINE).map(|line| format!("    \"{}\"\n", String::from_utf8_lossy(line)));
    lines.collect()
}

/// An array: of literals where they are few, of bytes where they are many.
fn array(tensor: &Tensor) -> String {
    let (dtype, shape) = (numpy(tensor.dtype()), tensor.shape());
    // In memory, NumPy gives every element a byte, and ONNX does not.
    let shares_bytes = tensor.dtype().bits() < u8::BITS;
    if tensor.len() > SMALL_TENSOR && !shares_bytes {
        let bytes = STANDARD.encode(tensor.to_bytes());
        return format!(
            "np.frombuffer(base64.b64decode(\n{}    ), dtype={dtype}).reshape({shape:?})",
            wrapped(&bytes)
        );
    }
    let values: Vec<String> = elements(tensor, tensor.len()).iter().map(|v| number(v)).collect();
    format!("np.array([{}], dtype={dtype}).reshape({shape:?})", values.join(", "))
}

fn numpy(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "np.bool_",
        DType::I8 => "np.int8",
        DType::I16 => "np.int16",
        DType::I32 => "np.int32",
        DType::I64 => "np.int64",
        DType::U8 => "np.uint8",
        DType::U16 => "np.uint16",
        DType::U32 => "np.uint32",
        DType::U64 => "np.uint64",
        DType::F16 => "np.float16",
        DType::BF16 => "ml_dtypes.bfloat16",
        DType::F32 => "np.float32",
        DType::F64 => "np.float64",
        DType::I4 => "ml_dtypes.int4",
        DType::U4 => "ml_dtypes.uint4",
        DType::I2 => "ml_dtypes.int2",
        DType::U2 => "ml_dtypes.uint2",
        DType::F8E4M3FN => "ml_dtypes.float8_e4m3fn",
        DType::F8E4M3FNUZ => "ml_dtypes.float8_e4m3fnuz",
        DType::F8E5M2 => "ml_dtypes.float8_e5m2",
        DType::F8E5M2FNUZ => "ml_dtypes.float8_e5m2fnuz",
        DType::F8E8M0 => "ml_dtypes.float8_e8m0fnu",
        DType::F4E2M1 => "ml_dtypes.float4_e2m1fn",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Type;

    #[test]
    fn elements_are_compared_as_what_they_are() {
        let ty = Type::new(DType::I64, [1]);
        let tensor = Tensor::from_i128_fn(&ty, |_| (1 << 53) + 1);
        let of = |dtype: DType, number: f64| Tensor::from_f64_fn(&Type::new(dtype, [1]), |_| number).into();
        let leeway = Leeway { bound: of(DType::F64, 0.0), mask: of(DType::U8, 0.0) };
        let text = of_all("y", &tensor, &leeway);
        // A double has no 2⁵³ + 1.
        assert!(text.contains("np.array([9007199254740993]") && !text.contains("float("), "{text}");
        let open = Leeway { mask: of(DType::U8, 1.0), ..leeway };
        assert!(of_all("y", &tensor, &open).contains("bounds = [math.nan]"));
    }

    #[test]
    fn arrays_and_names_are_literals() {
        let special = [f64::NAN, f64::INFINITY, -0.0, 0.1];
        let tensor = Tensor::from_f64_fn(&Type::new(DType::F32, [2, 2]), |i| special[i]);
        assert_eq!(
            array(&tensor),
            "np.array([math.nan, math.inf, -0.0, 0.1], dtype=np.float32).reshape([2, 2])"
        );
        let many = Tensor::zeros(&Type::new(DType::U8, [65]));
        assert!(array(&many).starts_with("np.frombuffer(base64.b64decode(\n    \"AAAA"), "{}", array(&many));
        assert_eq!(literal("a\"\\\n"), "\"a\\\"\\\\\\u000a\"");
    }
}
