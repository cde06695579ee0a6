//! Writing kernels: how each dtype is stored and computed with, the shared skeleton, and the function library.
//!
//! | dtype | stored as | computed as |
//! |---|---|---|
//! | bool, i8, i16, i32 | `i32` | `i32`, wrapped to its width at each store |
//! | u8, u16, u32 | `u32` | `u32`, wrapped likewise |
//! | i64, u64 | itself | itself |
//! | f16 | `f16` | `f32`, rounded to nearest even at each store |
//! | bf16, f32 | `f32` | `f32`, bf16 rounded likewise |
//! | f64 | itself | itself |
//!
//! `f32` computes + − × ÷ and square roots of 11- and 8-bit significands to more than twice their width plus two bits,
//! so rounding its result once more is rounding the exact result once.

use std::fmt::Write as _;
use std::sync::OnceLock;

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;

/// Invocations per workgroup: a multiple of every vendor's subgroup.
pub(super) const WORKGROUP: u32 = 64;

/// The WGSL type a dtype is computed with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Class {
    /// 0 or 1 in an `i32`.
    Bool,
    /// `i32`.
    Int,
    /// `u32`.
    Uint,
    /// `i64`.
    Long,
    /// `u64`.
    Ulong,
    /// `f32`.
    Float,
    /// `f64`.
    Double,
}

impl Class {
    pub(super) fn of(dtype: DType) -> Self {
        match dtype {
            DType::Bool => Self::Bool,
            DType::I8 | DType::I16 | DType::I32 => Self::Int,
            DType::U8 | DType::U16 | DType::U32 => Self::Uint,
            DType::I64 => Self::Long,
            DType::U64 => Self::Ulong,
            DType::F16 | DType::BF16 | DType::F32 => Self::Float,
            DType::F64 => Self::Double,
        }
    }

    /// The name of the type in WGSL.
    pub(super) fn wgsl(self) -> &'static str {
        match self {
            Self::Bool | Self::Int => "i32",
            Self::Uint => "u32",
            Self::Long => "i64",
            Self::Ulong => "u64",
            Self::Float => "f32",
            Self::Double => "f64",
        }
    }

    pub(super) fn is_integer(self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Long | Self::Ulong)
    }
}

/// The WGSL type of a dtype in memory.
pub(super) fn storage(dtype: DType) -> &'static str {
    match dtype {
        DType::F16 => "f16",
        _ => Class::of(dtype).wgsl(),
    }
}

/// An element read from memory, as its computing type.
pub(super) fn load(dtype: DType, element: &str) -> String {
    match dtype {
        DType::F16 => format!("f32({element})"),
        _ => element.to_owned(),
    }
}

/// A value of the computing type, as it goes to memory: wrapped or rounded to the dtype.
pub(super) fn store(dtype: DType, value: &str) -> String {
    match dtype {
        DType::Bool => format!("select(0, 1, ({value}) != 0)"),
        DType::I8 => format!("((({value}) << 24u) >> 24u)"),
        DType::I16 => format!("((({value}) << 16u) >> 16u)"),
        DType::U8 => format!("(({value}) & 0xffu)"),
        DType::U16 => format!("(({value}) & 0xffffu)"),
        DType::F16 => format!("f16(round_f16({value}))"),
        DType::BF16 => format!("round_bf16({value})"),
        DType::I32 | DType::U32 | DType::I64 | DType::U64 | DType::F32 | DType::F64 => value.to_owned(),
    }
}

/// An integer as a WGSL constant. The lowest of a signed type has no literal: its sign is an operator.
pub(super) fn integer(class: Class, value: i128) -> String {
    let suffix = match class {
        Class::Long => "li",
        Class::Ulong => "lu",
        Class::Uint => "u",
        _ => "i",
    };
    if value < 0 { format!("(-{}{suffix} - 1{suffix})", -(value + 1)) } else { format!("{value}{suffix}") }
}

impl Gpu {
    /// Refuses a kernel on a dtype that the device's shaders do not have.
    pub(super) fn require(&self, kernel: &str, dtype: DType) -> Result<(), GpuError> {
        let has = self.capabilities();
        let (present, feature) = match dtype {
            DType::F16 => (has.f16, "SHADER_F16"),
            DType::I64 | DType::U64 => (has.int64, "SHADER_INT64"),
            DType::F64 => (has.f64, "SHADER_F64"),
            _ => (true, ""),
        };
        if present {
            Ok(())
        } else {
            Err(GpuError::dtype(kernel, dtype, &format!("the adapter has no {feature}")))
        }
    }
}

/// A whole kernel: bindings `p` (params), `in0`.. (reads) and `out` (write), and an entry point in which `i` is the
/// number of the element. Library functions that `body` and `helpers` call are added.
pub(super) fn kernel(inputs: &[&str], output: &str, helpers: &str, body: &str) -> String {
    let mut text = String::new();
    let needs_f16 = inputs.iter().chain([&output]).any(|&t| t == "f16");
    if needs_f16 {
        text.push_str("enable f16;\n");
    }
    text.push_str("@group(0) @binding(0) var<storage, read> p: array<u32>;\n");
    for (n, ty) in inputs.iter().enumerate() {
        let _ = writeln!(text, "@group(0) @binding({}) var<storage, read> in{n}: array<{ty}>;", n + 1);
    }
    let _ = writeln!(
        text,
        "@group(0) @binding({}) var<storage, read_write> out: array<{output}>;",
        inputs.len() + 1
    );
    for function in link(&format!("{helpers}\n{body}")) {
        text.push_str(function);
        text.push('\n');
    }
    text.push_str(helpers);
    let _ = write!(
        text,
        "@compute @workgroup_size({WORKGROUP})\n\
         fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{\n\
         \x20   let i = id.x + groups.x * {WORKGROUP}u * (id.y + groups.y * id.z);\n\
         \x20   if (i >= p[1]) {{ return; }}\n"
    );
    for line in body.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("}\n");
    text
}

/// The functions of the library that `text` calls, and those that they call, in the library's order.
fn link(text: &str) -> Vec<&'static str> {
    let library = library();
    let mut wanted = vec![false; library.len()];
    let mut unread = vec![text];
    while let Some(text) = unread.pop() {
        for ((name, function), wanted) in library.iter().zip(&mut wanted) {
            if !*wanted && calls(text, name) {
                *wanted = true;
                unread.push(function);
            }
        }
    }
    library.iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|((_, function), _)| *function).collect()
}

fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        text[at + name.len()..].starts_with('(') && !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// The library: blank lines separate its functions.
fn library() -> &'static [(&'static str, &'static str)] {
    static LIBRARY: OnceLock<Vec<(&str, &str)>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let sources = [include_str!("shaders/bits.wgsl"), include_str!("shaders/math.wgsl")];
        let chunks = sources.into_iter().flat_map(|s| s.split("\n\n"));
        chunks.filter_map(|chunk| Some((chunk.split_once("fn ")?.1.split_once('(')?.0, chunk))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linking_adds_what_is_called_and_nothing_else() {
        let names = |text| link(text).iter().map(|f| f.split_once("fn ").unwrap().1).collect::<Vec<_>>();
        assert!(names("x + abs(y)").is_empty());
        assert!(names("my_is_nan(x)").is_empty());
        let linked = names("f_sigmoid(x)");
        assert!(linked.iter().any(|f| f.starts_with("f_exp(")), "{linked:?}");
        assert!(linked.iter().any(|f| f.starts_with("is_nan(")), "{linked:?}");
    }

    #[test]
    fn library_names_are_unique() {
        let mut names: Vec<_> = library().iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert!(all == names.len() && all > 20);
    }
}
