//! ONNX `Cast` between every pair of dtypes.
//!
//! Integers wrap; floats truncate, saturate at the bounds of the target and give 0 for NaN (all of which drivers get
//! wrong left alone); any non-zero is `true`. Each value is rounded once: where a conversion passes through a shorter
//! float, it first makes the bits it will lose visible in one sticky bit.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::map::Map;
use super::tensor::GpuTensor;
use super::wgsl::{Class, integer};

impl Gpu {
    /// Converts every element.
    pub fn cast(&self, x: &GpuTensor, to: DType) -> Result<GpuTensor, GpuError> {
        if x.dtype() == to {
            return Ok(x.clone());
        }
        let (expr, helpers) = conversion(x.dtype(), to);
        self.map_with(&helpers, &Map { name: "Cast", expr: &expr, dtype: to, params: &[] }, &[x])
    }
}

/// The expression that converts `a`, and the declarations it needs.
fn conversion(from: DType, to: DType) -> (String, String) {
    let (source, target) = (Class::of(from), Class::of(to));
    let none = String::new();
    if to == DType::Bool {
        let zero = match source {
            Class::Float => "is_zero(a)".to_owned(),
            _ => format!("a == {}(0)", source.wgsl()),
        };
        return (format!("select(1, 0, {zero})"), none);
    }
    match (source, target) {
        (Class::Float, Class::Float) => ("a".to_owned(), none),
        (Class::Double, Class::Float) => {
            ("narrow(a)".to_owned(), NARROW.replace("ODD", if to == DType::F32 { "false" } else { "true" }))
        }
        (
            Class::Float | Class::Double,
            Class::Bool | Class::Int | Class::Uint | Class::Long | Class::Ulong,
        ) => ("to_int(a)".to_owned(), to_int(source, to)),
        (Class::Long | Class::Ulong, Class::Float) if to != DType::F32 => {
            ("T(shorten(a))".to_owned(), SHORTEN.replace("SOURCE", source.wgsl()))
        }
        (Class::Int | Class::Uint, Class::Float) if to != DType::F32 => {
            let magnitude = if source == Class::Int { "select(u32(a), u32(-a), a < 0)" } else { "a" };
            let sign = if source == Class::Int { "select(1.0, -1.0, a < 0)" } else { "1.0" };
            (format!("{sign} * f32(sticky({magnitude}))"), none)
        }
        // naga extends by the sign of the target: the source's type has to be widened before it changes.
        (Class::Int | Class::Bool, Class::Ulong) => ("u64(i64(a))".to_owned(), none),
        (Class::Uint, Class::Long) => ("i64(u64(a))".to_owned(), none),
        _ => ("T(a)".to_owned(), none),
    }
}

/// Truncation that saturates. Bounds are compared as powers of two, which every float has exactly.
fn to_int(source: Class, to: DType) -> String {
    let (float, int) = (source.wgsl(), Class::of(to).wgsl());
    let (low, high) = to.int_range().unwrap_or((0, 1));
    let suffix = if source == Class::Double { "lf" } else { "f" };
    // One above the highest value is a power of two; the lowest is minus a power of two, or zero.
    let (above, below) = ((high + 1) as f64, low as f64);
    let (lowest, highest) = (integer(Class::of(to), low), integer(Class::of(to), high));
    format!(
        "fn to_int(x: {float}) -> {int} {{\n    if (is_nan(f32(x))) {{ return T(0); }}\n    if (x >= {above:.1}{suffix}) {{ return {highest}; }}\n    \
         if (x <= {below:.1}{suffix}) {{ return {lowest}; }}\n    return {int}(trunc(x));\n}}\n"
    )
}

/// `f64` to `f32`, to nearest for a result in `f32` and to odd on the way to a shorter float.
const NARROW: &str = "\
fn narrow(x: f64) -> f32 {
    let r = f32(x);
    let back = f64(r);
    if (!ODD || back == x) { return r; }
    let b = bitcast<u32>(r);
    return bitcast<f32>(select(b, b - 1u, abs(back) > abs(x)) | 1u);
}
";

/// A 64-bit integer to an `f32` that rounds to every shorter float as the integer does.
const SHORTEN: &str = "\
fn shorten(x: SOURCE) -> f32 {
    let negative = x < SOURCE(0);
    var m = select(u64(x), u64(0) - u64(x), negative);
    var scale = 1.0;
    while (m >= 4294967296lu) {
        m = (m >> 16u) | select(0lu, 1lu, (m & 65535lu) != 0lu);
        scale = scale * 65536.0;
    }
    return select(1.0, -1.0, negative) * f32(sticky(u32(m))) * scale;
}
";
