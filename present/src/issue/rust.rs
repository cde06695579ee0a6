//! The Rust program of an issue, for the engines that are crates: a template beside this file, and what is the finding's own. Its exit code
//! is 1 while the fault is there and 0 once it is not.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ir::{DType, DTypes, Tensor};

use super::{SMALL_MODEL, headline};
use crate::evidence::Evidence;
use onnx::case::MODEL;

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
    let own = [("OPTIMISED", optimised.to_string()), ("INPUTS", inputs), ("OUTPUTS", outputs.join(", "))];
    Some(filled(include_str!("rten.rs.txt"), evidence, version, own))
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
    let own = [("PASS", pass.to_owned()), ("INPUTS", inputs)];
    Some(filled(include_str!("tract.rs.txt"), evidence, version, own))
}

/// A program with what is its own in the place of the words in capitals.
fn filled<const N: usize>(
    template: &str,
    evidence: &Evidence,
    version: &str,
    own: [(&str, String); N],
) -> String {
    let common = [
        ("HEADLINE", headline(&evidence.finding)),
        ("VERSION", version.to_owned()),
        ("MODEL", model(evidence)),
        ("CHECKS", checks(evidence)),
    ];
    let words: BTreeMap<&str, String> = common.into_iter().chain(own).collect();
    // Each word once, so that what is put in may hold the like.
    let parts = template.split('@').enumerate();
    let text: String =
        parts.map(|(number, part)| if number % 2 == 1 { words[part].as_str() } else { part }).collect();
    text + include_str!("is_right.rs.txt")
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

/// Looks at the outputs: their shapes, and the element that is furthest off.
fn checks(evidence: &Evidence) -> String {
    let mut text = String::new();
    for (k, (name, tensor)) in evidence.outputs().enumerate() {
        let shape = shape(tensor);
        let what = format!("output {name} has another shape than {:?}", tensor.shape());
        let _ = writeln!(
            text,
            "    if shape(&outputs[{k}]) != vec!{shape} {{\n        wrong.push({what:?}.to_owned());\n    }}"
        );
    }
    text + &worst(evidence).unwrap_or_default()
}

/// Looks at the element that is furthest off. `None` where there is none, or its bound is no number.
fn worst(evidence: &Evidence) -> Option<String> {
    let worst = evidence.finding.worst.as_ref()?;
    let output = evidence.outputs().position(|(name, _)| name == worst.output)?;
    let [right, bound] = [&worst.expected, &worst.bound].map(|text| text.parse().ok());
    let bound: f64 = bound.filter(|bound: &f64| !bound.is_nan())?;
    let (right, told) = (float(right?, DType::F64), worst.right());
    let signs_count = evidence.zero_signs_count && bound == 0.0;
    let told = format!(
        "element {} of {}: {{got}} where {told} is right",
        worst.index,
        worst.output.replace(['{', '}'], "?")
    );
    let index = worst.index;
    Some(format!(
        "    match element(&outputs[{output}], {index}) {{\n        \
             Some(got) if is_right(got, {right}, {bound}, {signs_count}) => {{}}\n        \
             Some(got) => wrong.push(format!({told:?})),\n        \
             None => wrong.push(\"there is no element {index}\".to_owned()),\n    }}\n",
        bound = float(bound, DType::F64),
    ))
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
