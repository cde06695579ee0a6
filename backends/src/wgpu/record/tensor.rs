//! Tensors on the device.
//!
//! WGSL has no 8-bit types and cannot store `bool`, so narrow integers take a 32-bit word each and a bfloat16 is the
//! `f32` of the same value; they are widened on upload and narrowed on download. The other types keep their layout.

use ir::{DType, Tensor, Type};

use super::readback::failed;
use crate::wgpu::device::{Gpu, GpuError};
use crate::wgpu::kernel::NOT_STORED;
use crate::wgpu::wgsl::{is_stored, stored_size};

/// A tensor in device memory, contiguous and row-major. Clones and reshapes share the memory, which no kernel
/// overwrites once the tensor is made.
#[derive(Clone, Debug)]
pub struct GpuTensor {
    pub(crate) buffer: wgpu::Buffer,
    dtype: DType,
    shape: Vec<usize>,
}

impl GpuTensor {
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Dtype and shape.
    pub fn ty(&self) -> Type {
        Type::new(self.dtype, self.shape.iter().map(|&d| d as i64).collect::<Vec<_>>())
    }

    /// The size of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// This tensor's elements in another shape; no data moves.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self, GpuError> {
        if count(shape) != Some(self.len()) {
            return Err(GpuError::arguments("Reshape", format!("{:?} does not fit {shape:?}", self.shape)));
        }
        Ok(Self { shape: shape.to_vec(), ..self.clone() })
    }

    /// This tensor's memory as elements of another dtype, if both are in memory as ONNX has them, and as wide.
    pub(crate) fn read_as(&self, dtype: DType) -> Option<Self> {
        let is_plain = |dtype: DType| is_stored(dtype) && dtype.bits() >= 32;
        let fits = is_plain(self.dtype) && is_plain(dtype) && self.dtype.bits() == dtype.bits();
        fits.then(|| Self { dtype, ..self.clone() })
    }
}

/// The number of elements of a shape, unless it overflows.
fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))
}

impl Gpu {
    /// A new tensor whose elements are undefined until a kernel writes them.
    pub(crate) fn alloc(&self, dtype: DType, shape: &[usize]) -> Result<GpuTensor, GpuError> {
        self.create(dtype, shape, None)
    }

    /// Copies a tensor to the device.
    pub fn upload(&self, tensor: &Tensor) -> Result<GpuTensor, GpuError> {
        let bytes = widen(tensor.dtype(), &tensor.to_bytes());
        self.create(tensor.dtype(), tensor.shape(), Some(&bytes))
    }

    fn create(&self, dtype: DType, shape: &[usize], data: Option<&[u8]>) -> Result<GpuTensor, GpuError> {
        let what =
            || format!("a tensor {}", Type::new(dtype, shape.iter().map(|&d| d as i64).collect::<Vec<_>>()));
        if !is_stored(dtype) {
            return Err(GpuError::Unsupported { kernel: what(), why: NOT_STORED.to_owned() });
        }
        let limit = self.limits.max_buffer_size.min(self.limits.max_storage_buffer_binding_size);
        let needed =
            count(shape).and_then(|n| n.checked_mul(stored_size(dtype))).map_or(u64::MAX, |n| n as u64);
        if needed > limit {
            return Err(GpuError::TooLarge { what: what(), needed, limit });
        }
        // Zero-size buffers are invalid, and copies go by four bytes; eight fit one element of any type.
        let size = needed.max(8).next_multiple_of(4);
        let buffer = self.guarded(&what(), || {
            let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: data.is_some(),
            });
            if let Some(data) = data {
                let written = buffer
                    .slice(..)
                    .get_mapped_range_mut()
                    .map(|mut view| view.slice(..data.len()).copy_from_slice(data))
                    .map_err(|e| e.to_string());
                buffer.unmap();
                return written.map(|()| buffer);
            }
            Ok(buffer)
        })?;
        let buffer = buffer.map_err(|why| GpuError::Device { during: what(), why })?;
        Ok(GpuTensor { buffer, dtype, shape: shape.to_vec() })
    }

    /// Submits what is recorded, waits, and copies a tensor back.
    pub fn download(&self, tensor: &GpuTensor) -> Result<Tensor, GpuError> {
        let mut all = self.download_all(&[tensor])?;
        all.pop().ok_or_else(|| GpuError::arguments("download", "no tensor came back"))
    }

    /// Submits what is recorded, waits once, and copies several tensors back.
    pub fn download_all(&self, tensors: &[&GpuTensor]) -> Result<Vec<Tensor>, GpuError> {
        let buffers: Vec<_> = tensors.iter().map(|t| &t.buffer).collect();
        let memory = self.memory(&buffers)?;
        tensors.iter().zip(&memory).map(|(tensor, memory)| read(&tensor.ty(), memory)).collect()
    }
}

/// The tensor that memory of the device holds.
pub(super) fn read(ty: &Type, memory: &[u8]) -> Result<Tensor, GpuError> {
    let count = ty.shape.iter().map(|&d| d as usize).product::<usize>();
    let stored = memory.get(..count * stored_size(ty.dtype)).unwrap_or_default();
    Tensor::from_bytes(ty, &narrow(ty.dtype, stored)).map_err(|e| failed(e.to_string()))
}

/// From ONNX's bytes to the device's.
fn widen(dtype: DType, bytes: &[u8]) -> Vec<u8> {
    fn each<const N: usize>(bytes: &[u8], f: impl Fn([u8; N]) -> u32) -> Vec<u8> {
        bytes.as_chunks().0.iter().flat_map(|&chunk| f(chunk).to_le_bytes()).collect()
    }
    match dtype {
        DType::Bool => each(bytes, |[b]| u32::from(b != 0)),
        DType::I8 => each(bytes, |[b]| i32::from(b as i8) as u32),
        DType::U8 => each(bytes, |[b]| u32::from(b)),
        DType::I16 => each(bytes, |b| i32::from(i16::from_le_bytes(b)) as u32),
        DType::U16 => each(bytes, |b| u32::from(u16::from_le_bytes(b))),
        DType::BF16 => each(bytes, |b| u32::from(u16::from_le_bytes(b)) << 16),
        _ => bytes.to_vec(),
    }
}

/// From the device's bytes to ONNX's.
fn narrow(dtype: DType, stored: &[u8]) -> Vec<u8> {
    let words = || stored.as_chunks::<4>().0.iter();
    match dtype {
        DType::Bool => words().map(|&w| u8::from(w != [0; 4])).collect(),
        DType::I8 | DType::U8 => words().map(|w| w[0]).collect(),
        DType::I16 | DType::U16 => words().flat_map(|w| [w[0], w[1]]).collect(),
        DType::BF16 => words().flat_map(|w| [w[2], w[3]]).collect(),
        _ => stored.to_vec(),
    }
}
