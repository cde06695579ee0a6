//! The Python program of an issue: the model on ONNX Runtime.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ir::{DType, Tensor};
use oracles::signature::Symptom;
use oracles::verdict::Worst;

use super::{MODEL, SMALL_MODEL, SMALL_TENSOR, headline};
use crate::evidence::{Evidence, elements};

/// The program. Its exit code is 1 while the fault is there and 0 once it is not, so that it can look for the commit that did it.
pub(super) fn program(evidence: &Evidence) -> String {
    let mut text = format!(
        "# {}\n# Exit code: 1 while that is so, 0 once it is not, 125 where that cannot be told.\n",
        headline(&evidence.finding)
    );
    text += &imports(evidence);
    if evidence.case.model.len() <= SMALL_MODEL {
        let _ =
            writeln!(text, "model = base64.b64decode(\n{})", wrapped(&STANDARD.encode(&evidence.case.model)));
    } else {
        let _ = writeln!(text, "model = open(\"{MODEL}\", \"rb\").read()");
    }
    text += "inputs = {\n";
    for (name, tensor) in evidence.inputs() {
        let _ = writeln!(text, "    {}: {},", literal(name), array(tensor));
    }
    text += "}\n\noptions = ort.SessionOptions()\n";
    let _ =
        writeln!(text, "options.graph_optimization_level = ort.GraphOptimizationLevel.{}", level(evidence));
    text += "options.intra_op_num_threads = 1\n\
             # What hangs is ended after a minute.\n\
             faulthandler.dump_traceback_later(60, exit=True)\n\
             try:\n    \
                 session = ort.InferenceSession(model, options, providers=[\"CPUExecutionProvider\"])\n    \
                 outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))\n\
             except Exception as error:\n";
    if let Symptom::Accepted { rule } = &evidence.finding.symptom {
        let _ = write!(text, "    print(\"refused, as is right:\", error)\n    sys.exit(0)\n");
        let _ =
            writeln!(text, "sys.exit({})", literal(&format!("a model that breaks the rule {rule} was run")));
        return text;
    }
    text += "    \
                 if \"Numpy type\" in str(error):\n        \
                     print(\"this package hands out no such tensors:\", error)\n        \
                     sys.exit(125)\n    \
                 sys.exit(f\"a valid model is refused: {error}\")\n\n\
             wrong = []\n";
    for (name, tensor) in evidence.outputs() {
        text += &of_output(name, tensor);
    }
    text += &of_worst(evidence);
    text + "sys.exit(\"; \".join(wrong) or 0)\n"
}

fn imports(evidence: &Evidence) -> String {
    let mut tensors = evidence.inputs().chain(evidence.outputs());
    let is_beyond_numpy = tensors.any(|(_, tensor)| numpy(tensor.dtype()).starts_with("ml_dtypes"));
    let more = if is_beyond_numpy { "import ml_dtypes\n" } else { "" };
    format!(
        "import base64\nimport faulthandler\nimport math\nimport sys\n\n{more}import numpy as np\nimport onnxruntime as ort\n\n"
    )
}

/// What is looked at of every output: its type. Its elements are printed.
fn of_output(name: &str, tensor: &Tensor) -> String {
    let (name, shape) = (literal(name), tensor.shape());
    let mut text = format!("y = outputs[{name}]\nprint({name}, y.dtype, y.shape, y)\n");
    if tensor.len() <= SMALL_TENSOR {
        let _ = writeln!(text, "print(\"expected\", {})", array(tensor));
    }
    let dtype = numpy(tensor.dtype());
    let _ = write!(
        text,
        "if y.dtype != {dtype} or list(y.shape) != {shape:?}:\n    \
             wrong.append({name} + f\": {{y.dtype}} {{y.shape}} instead of \" + {})\n",
        literal(&format!("{} {shape:?}", tensor.dtype()))
    );
    text
}

/// What is looked at of the element that is worst.
fn of_worst(evidence: &Evidence) -> String {
    let worst = evidence.finding.worst.as_ref().filter(|_| evidence.has_worst_output());
    let Some(Worst { output, index, expected, bound, .. }) = worst else { return String::new() };
    let right = literal(&format!("where {} is right", worst.map_or_else(String::new, Worst::right)));
    format!(
        "y = outputs[{output}].reshape(-1)\n\
         got, expected, bound = y[{index}].item() if y.size > {index} else math.nan, {expected}, {bound}\n\
         if math.isnan(got) or math.isnan(expected):\n    \
             is_right = math.isnan(got) and math.isnan(expected)\n\
         elif got == expected:\n    \
             is_right = bound > 0 or math.copysign(1, got) == math.copysign(1, expected)\n\
         else:\n    \
             is_right = abs(got - expected) <= bound\n\
         print(\"element {index}:\", got, {right})\n\
         if not is_right:\n    \
             wrong.append(f\"element {index} is {{got}}\")\n",
        output = literal(output),
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
