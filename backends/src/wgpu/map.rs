//! Elementwise kernels: one expression over broadcast or strided operands.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::record::Launch;
use super::tensor::GpuTensor;
use super::view::{View, broadcast_shape, index_code, index_params};
use super::wgsl::{Class, kernel, load, storage, store};

/// Where the float parameters of an expression begin in `p`, and where the index parameters do.
const EXTRA: usize = 2;
const INDEX: usize = 6;

/// The names operands go by in an expression.
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// An elementwise function as WGSL: operands are `a`, `b`, `c`, `d`, `e` in their computing types; `T` is the result's
/// computing type; `q0`..`q3` are parameters.
pub(super) struct Map<'m> {
    /// Identifies the expression; together with the dtypes it names the pipeline.
    pub name: &'m str,
    /// The expression, of type `T`.
    pub expr: &'m str,
    /// The dtype of the result.
    pub dtype: DType,
    /// At most four parameters.
    pub params: &'m [f32],
}

impl Gpu {
    /// Applies an expression to operands broadcast against each other.
    pub(super) fn map(&self, map: &Map<'_>, operands: &[&GpuTensor]) -> Result<GpuTensor, GpuError> {
        self.map_with("", map, operands)
    }

    /// [`Gpu::map`] with declarations that the expression uses; the name of the map must tell them apart.
    pub(super) fn map_with(
        &self,
        helpers: &str,
        map: &Map<'_>,
        operands: &[&GpuTensor],
    ) -> Result<GpuTensor, GpuError> {
        let shapes: Vec<_> = operands.iter().map(|t| t.shape()).collect();
        let shape = broadcast_shape(map.name, &shapes)?;
        let views: Result<Vec<_>, _> =
            operands.iter().map(|t| View::broadcast(map.name, t, &shape)).collect();
        self.map_views(helpers, map, &views?, &shape)
    }

    /// Applies an expression to strided operands.
    fn map_views(
        &self,
        helpers: &str,
        map: &Map<'_>,
        views: &[View<'_>],
        shape: &[usize],
    ) -> Result<GpuTensor, GpuError> {
        let dtypes: Vec<_> = views.iter().map(|v| v.tensor.dtype()).collect();
        for &dtype in dtypes.iter().chain([&map.dtype]) {
            self.require(map.name, dtype)?;
        }
        let output = self.alloc(map.dtype, shape)?;
        let mut params: Vec<u32> = map.params.iter().map(|q| q.to_bits()).collect();
        params.resize(INDEX - EXTRA, 0);
        params.extend(index_params(shape, views));
        let inputs: Vec<_> = views.iter().map(|v| v.tensor).collect();
        let names: Vec<_> = dtypes.iter().map(|d| d.name()).collect();
        let key = format!("{} {} -> {}", map.name, names.join(" "), map.dtype);
        let source = || source(helpers, map, &dtypes);
        self.launch(&Launch {
            key,
            source: &source,
            inputs: &inputs,
            params: &params,
            output: &output,
            count: output.len(),
        })?;
        Ok(output)
    }
}

fn source(helpers: &str, map: &Map<'_>, dtypes: &[DType]) -> String {
    use std::fmt::Write as _;
    let mut body = index_code("i", dtypes.len(), INDEX);
    for (n, (&dtype, name)) in dtypes.iter().zip(NAMES).enumerate() {
        let _ = writeln!(body, "let {name} = {};", load(dtype, &format!("in{n}[x{n}]")));
    }
    for q in 0..map.params.len() {
        let _ = writeln!(body, "let q{q} = bitcast<f32>(p[{}]);", EXTRA + q);
    }
    let _ = writeln!(body, "let r: T = {};", map.expr);
    let _ = write!(body, "out[i] = {};", store(map.dtype, "r"));
    let inputs: Vec<_> = dtypes.iter().map(|&d| storage(d)).collect();
    let helpers = format!("alias T = {};\n{helpers}", Class::of(map.dtype).wgsl());
    kernel(&inputs, storage(map.dtype), &helpers, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_read_well() {
        let map = Map { name: "scale", expr: "a * q0 + b", dtype: DType::BF16, params: &[2.0] };
        insta::assert_snapshot!(source("", &map, &[DType::F16, DType::BF16]));
    }
}
