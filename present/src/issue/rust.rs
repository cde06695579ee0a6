//! The Rust program of an issue, for the engines that are crates.

use std::fmt::Write as _;

use ir::{DType, DTypes, Tensor};

use super::{MODEL, SMALL_MODEL, headline};
use crate::evidence::Evidence;

/// The program; `None` for engines that are no crates, and for inputs that the engine has no type for.
pub(super) fn program(evidence: &Evidence, version: &str) -> Option<String> {
    match evidence.finding.backend.as_str() {
        "rten" => rten(evidence, version),
        "tract" => tract(evidence, version),
        _ => None,
    }
}

fn rten(evidence: &Evidence, version: &str) -> Option<String> {
    let optimised = evidence.finding.level == "all";
    let mut inputs = String::new();
    for (name, tensor) in evidence.inputs() {
        let dtype = match tensor.dtype() {
            DType::I8 | DType::U8 | DType::I32 | DType::F32 => tensor.dtype(),
            // What rten reads a model's tensors of these dtypes as.
            DType::Bool | DType::I64 => DType::I32,
            DType::F16 | DType::F64 => DType::F32,
            DType::I16
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::BF16
            | DType::I4
            | DType::U4
            | DType::I2
            | DType::U2
            | DType::F8E4M3FN
            | DType::F8E4M3FNUZ
            | DType::F8E5M2
            | DType::F8E5M2FNUZ
            | DType::F8E8M0
            | DType::F4E2M1 => return None,
        };
        let (shape, values) = (shape(tensor), values(tensor, dtype)?);
        let _ = writeln!(
            inputs,
            "        (model.node_id({name:?})?, Value::from_shape(&{shape}[..], vec!{values})?.into()),"
        );
    }
    let outputs: Vec<String> =
        evidence.outputs().map(|(name, _)| format!("model.node_id({name:?})?")).collect();
    Some(format!(
        "//! {}\n//! [dependencies] rten = {{ version = \"{version}\", features = [\"onnx_format\"] }}, rten-tensor = \"{version}\"\n\
         use rten::{{ModelOptions, {}ValueOrView}};\nuse rten_tensor::prelude::*;\n\n\
         {}\n\
         fn main() -> Result<(), Box<dyn std::error::Error>> {{\n\
         \x20   let model = ModelOptions::with_all_ops().enable_optimization({optimised}).load(MODEL.to_vec())?;\n\
         \x20   let inputs: Vec<(_, ValueOrView)> = vec![\n{inputs}    ];\n\
         \x20   let outputs = model.run(inputs, &[{}], None)?;\n\
         \x20   for output in &outputs {{\n        println!(\"{{:?}} {{output:?}}\", output.shape());\n    }}\n\
         {}    Ok(())\n}}\n",
        headline(&evidence.finding),
        if inputs.is_empty() { "" } else { "Value, " },
        model(evidence),
        outputs.join(", "),
        expected(evidence),
    ))
}

fn tract(evidence: &Evidence, version: &str) -> Option<String> {
    let pass = match evidence.finding.level.as_str() {
        "none" => "",
        "declutter" => ".into_decluttered()?",
        _ => ".into_optimized()?",
    };
    let mut inputs = String::new();
    for (name, tensor) in evidence.inputs() {
        // What Rust or tract's prelude has numbers of.
        let plain = DTypes::IR4.without(DType::BF16);
        if !plain.contains(tensor.dtype()) {
            return None;
        }
        let (shape, values) = (shape(tensor), values(tensor, tensor.dtype())?);
        let _ = writeln!(inputs, "        ({name:?}, Tensor::from_shape(&{shape}[..], &{values})?),");
    }
    Some(format!(
        "//! {}\n//! [dependencies] tract-onnx = \"{version}\"\n\
         use tract_onnx::prelude::*;\n\n\
         {}\n\
         fn main() -> TractResult<()> {{\n\
         \x20   let mut model = tract_onnx::onnx().model_for_read(&mut &MODEL[..])?;\n\
         \x20   let named: Vec<(&str, Tensor)> = vec![\n{inputs}    ];\n\
         \x20   let mut inputs = tvec!();\n\
         \x20   for k in 0..model.inputs.len() {{\n\
         \x20       let name = model.node(model.inputs[k].node).name.clone();\n\
         \x20       let tensor = named.iter().find(|(n, _)| *n == name).unwrap().1.clone();\n\
         \x20       model.set_input_fact(k, InferenceFact::dt_shape(tensor.datum_type(), tensor.shape()))?;\n\
         \x20       inputs.push(tensor.into());\n    }}\n\
         \x20   let outputs = model.into_typed()?{pass}.into_runnable()?.run(inputs)?;\n\
         \x20   for output in &outputs {{\n        println!(\"{{}}\", output.dump(true)?);\n    }}\n\
         {}    Ok(())\n}}\n",
        headline(&evidence.finding),
        model(evidence),
        expected(evidence),
    ))
}

/// The model as a constant: its bytes where they are few, else those of the attachment.
fn model(evidence: &Evidence) -> String {
    let bytes = &evidence.case.model;
    if bytes.len() <= SMALL_MODEL {
        format!("const MODEL: &[u8] = b\"{}\";\n", bytes.escape_ascii())
    } else {
        format!("const MODEL: &[u8] = include_bytes!(\"{MODEL}\");\n")
    }
}

/// Says what is right at the worst element.
fn expected(evidence: &Evidence) -> String {
    let Some(worst) = evidence.finding.worst.as_ref().filter(|_| evidence.has_worst_output()) else {
        return String::new();
    };
    let what =
        format!("element {} of {} is {}, {} is right", worst.index, worst.output, worst.got, worst.right());
    format!("    println!(\"{{}}\", {what:?});\n")
}

/// The shape as an array, of a type that is known.
fn shape(tensor: &Tensor) -> String {
    match tensor.shape() {
        [] => "[0usize; 0]".to_owned(),
        [first, rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(ToString::to_string).collect();
            std::iter::once(format!("[{first}usize")).chain(rest).collect::<Vec<_>>().join(", ") + "]"
        }
    }
}

/// The elements as an array of literals of a dtype.
fn values(tensor: &Tensor, dtype: DType) -> Option<String> {
    let typed = |text: String| format!("{text}{dtype}");
    let texts: Vec<String> = if dtype == DType::Bool {
        tensor.to_i128s().iter().map(|v| (*v != 0).to_string()).collect()
    } else if dtype.is_float() {
        tensor.to_f64s().into_iter().map(|v| float(v, dtype)).collect()
    } else {
        let range = dtype.int_range()?;
        let values = tensor.to_i128s();
        if values.iter().any(|v| !(range.0..=range.1).contains(v)) {
            return None;
        }
        values.iter().map(|v| typed(v.to_string())).collect()
    };
    // An empty array needs a type.
    Some(match (texts.is_empty(), dtype) {
        (true, DType::Bool) => "[false; 0]".to_owned(),
        (true, _) => format!("[0 as {dtype}; 0]"),
        (false, _) => format!("[{}]", texts.join(", ")),
    })
}

fn float(v: f64, dtype: DType) -> String {
    if v.is_nan() {
        format!("{dtype}::NAN")
    } else if v.is_infinite() {
        format!("{}{dtype}::INFINITY", if v < 0.0 { "-" } else { "" })
    } else if dtype == DType::F32 {
        format!("{:?}f32", v as f32)
    } else if dtype == DType::F16 {
        format!("f16::from_f32({:?})", v as f32)
    } else {
        format!("{v:?}f64")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Type;

    #[test]
    fn arrays_have_types_even_where_they_are_empty() {
        let of = |dtype, dims: &[i64]| Tensor::from_i128_fn(&Type::new(dtype, dims), |i| i as i128);
        assert_eq!(shape(&of(DType::I8, &[])), "[0usize; 0]");
        assert_eq!(shape(&of(DType::I8, &[2, 3])), "[2usize, 3]");
        assert_eq!(values(&of(DType::Bool, &[2]), DType::Bool).unwrap(), "[false, true]");
        assert_eq!(values(&of(DType::Bool, &[2]), DType::I32).unwrap(), "[0i32, 1i32]");
        assert_eq!(values(&of(DType::U8, &[0]), DType::U8).unwrap(), "[0 as u8; 0]");
        let wide = Tensor::from_i128_fn(&Type::new(DType::I64, [1]), |_| i128::from(i64::MAX));
        assert_eq!(values(&wide, DType::I32), None);
        assert_eq!(float(f64::NEG_INFINITY, DType::F32), "-f32::INFINITY");
        assert_eq!(float(0.1f32.into(), DType::F32), "0.1f32");
        assert_eq!(float(-1.5, DType::F16), "f16::from_f32(-1.5)");
    }
}
