//! Elementwise kernels: one function over broadcast operands.

use ir::DType;

use crate::wgpu::device::{Gpu, GpuError};
use crate::wgpu::record::{GpuTensor, Launch, View, broadcast_shape, view_params};
use crate::wgpu::wgsl::{Body, Constant, Element, Param, Shader};

/// An elementwise function: the function `function` of a text, which computes in `T` and takes operands of the types
/// `A`, `B`, `C`, `D`, `E`.
pub(crate) struct Map<P> {
    /// The operator.
    pub(crate) name: &'static str,
    /// The text.
    pub(crate) body: Body<P>,
    /// The function of the text.
    pub(crate) function: &'static str,
    /// The dtype whose class `T` is.
    pub(crate) computes: DType,
    /// The dtype of the result.
    pub(crate) gives: DType,
    /// Constants of the text.
    pub(crate) constants: Vec<(&'static str, Constant)>,
    /// The parameters of the text.
    pub(crate) params: P,
}

impl Map<()> {
    /// A function without parameters, of operands and a result of one dtype.
    pub(crate) fn new(name: &'static str, body: Body<()>, function: &'static str, dtype: DType) -> Self {
        Self::with(name, body, function, dtype, ())
    }
}

impl<P: Param> Map<P> {
    /// A function with parameters, of operands and a result of one dtype.
    pub(crate) fn with(
        name: &'static str,
        body: Body<P>,
        function: &'static str,
        dtype: DType,
        params: P,
    ) -> Self {
        Self { name, body, function, computes: dtype, gives: dtype, constants: Vec::new(), params }
    }

    /// This function with a result of another dtype than it computes in.
    pub(crate) fn giving(self, gives: DType) -> Self {
        Self { gives, ..self }
    }
}

/// The names of operands, and of their types.
const NAMES: [(&str, &str); 5] = [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D"), ("e", "E")];

/// The function of the library's `map.wgsl` for each number of operands.
const ELEMENT: [&str; 5] = ["of_one", "of_two", "of_three", "of_four", "of_five"];

impl<P: Param> Map<P> {
    /// Its kernel, for operands of these dtypes.
    pub(super) fn shader(&self, operands: &[DType]) -> Shader<P> {
        let mut shader = Shader::new(self.name, self.body, self.computes, Element::Number(self.gives));
        for (&dtype, (name, ty)) in operands.iter().zip(NAMES) {
            shader = shader.reads(name, Element::Number(dtype)).alias(ty, Element::Number(dtype));
        }
        for (name, value) in &self.constants {
            shader = shader.constant(name, value.clone());
        }
        shader = shader.means("value", self.function).views(operands.len());
        match ELEMENT.get(operands.len().wrapping_sub(1)) {
            Some(element) => shader.means("element", element),
            None => shader,
        }
    }
}

impl Gpu {
    /// Applies a function to operands broadcast against each other.
    pub(crate) fn map<P: Param>(&self, map: Map<P>, operands: &[&GpuTensor]) -> Result<GpuTensor, GpuError> {
        let Broadcast { shape, views, dtypes } = Broadcast::of(map.name, operands)?;
        let shader = map.shader(&dtypes);
        let output = self.alloc(map.gives, &shape)?;
        self.launch(&Launch { views, ..Launch::new(&shader, operands, map.params, &output) })?;
        Ok(output)
    }
}

/// Operands that are broadcast against each other: what the kernels of all functions are told.
struct Broadcast {
    shape: Vec<usize>,
    views: Vec<u32>,
    dtypes: Vec<DType>,
}

impl Broadcast {
    fn of(name: &'static str, operands: &[&GpuTensor]) -> Result<Self, GpuError> {
        let shapes: Vec<_> = operands.iter().map(|t| t.shape()).collect();
        let shape = broadcast_shape(name, &shapes)?;
        let views: Result<Vec<_>, _> = operands.iter().map(|t| View::broadcast(name, t, &shape)).collect();
        let views = view_params(&shape, &views?);
        Ok(Self { shape, views, dtypes: operands.iter().map(|t| t.dtype()).collect() })
    }
}
