//! The Python program of an issue: the model on ONNX Runtime.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ir::{DType, Tensor};

use super::{MODEL, SMALL_MODEL, SMALL_TENSOR, headline};
use crate::evidence::{Evidence, elements};

/// The program.
pub(super) fn program(evidence: &Evidence) -> String {
    let mut text = format!("# {}\nimport base64\n\n", headline(&evidence.finding));
    let imports = if evidence.inputs().any(|(_, t)| numpy(t.dtype()).starts_with("ml_dtypes")) {
        "import ml_dtypes\n"
    } else {
        ""
    };
    let _ = write!(text, "{imports}import numpy as np\nimport onnxruntime as ort\n\n");
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
             session = ort.InferenceSession(model, options, providers=[\"CPUExecutionProvider\"])\n\
             outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))\n";
    for (name, tensor) in evidence.outputs() {
        let _ = writeln!(text, "print({}, outputs[{}])", literal(name), literal(name));
        if tensor.len() <= SMALL_TENSOR {
            let _ = writeln!(text, "print(\"expected\", {})", array(tensor));
        }
    }
    if let (Some(worst), true) = (&evidence.finding.worst, evidence.has_worst_output()) {
        let (output, index) = (literal(&worst.output), worst.index);
        let note = literal(&format!("where {} is right", worst.right()));
        let _ = writeln!(text, "print(\"element {index}:\", outputs[{output}].reshape(-1)[{index}], {note})");
    }
    text
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
    let values = elements(tensor, tensor.len()).into_iter().map(|v| match v.as_str() {
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        "inf" => "np.inf".to_owned(),
        "-inf" => "-np.inf".to_owned(),
        "NaN" => "np.nan".to_owned(),
        _ => v,
    });
    let values: Vec<String> = values.collect();
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
        assert_eq!(array(&tensor), "np.array([np.nan, np.inf, -0.0, 0.1], dtype=np.float32).reshape([2, 2])");
        let many = Tensor::zeros(&Type::new(DType::U8, [65]));
        assert!(array(&many).starts_with("np.frombuffer(base64.b64decode(\n    \"AAAA"), "{}", array(&many));
        assert_eq!(literal("a\"\\\n"), "\"a\\\"\\\\\\u000a\"");
    }
}
