//! Strided views: how broadcasting, transposing and slicing reach a kernel as data.

use super::tensor::GpuTensor;
use crate::wgpu::device::GpuError;

/// A tensor read through an offset and a stride per axis of the result: element `i` of the result reads the tensor's
/// element `offset + Σ iₐ·strideₐ`.
#[derive(Clone, Debug)]
pub(crate) struct View<'a> {
    pub tensor: &'a GpuTensor,
    pub offset: i64,
    pub strides: Vec<i64>,
}

/// The row-major strides of a shape.
pub(crate) fn strides(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as i64;
    }
    strides
}

/// The shape that ONNX's multidirectional broadcasting gives.
pub(crate) fn broadcast_shape(kernel: &str, shapes: &[&[usize]]) -> Result<Vec<usize>, GpuError> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut result = vec![1; rank];
    for shape in shapes {
        for (have, &want) in result[rank - shape.len()..].iter_mut().zip(*shape) {
            if *have != want && *have != 1 && want != 1 {
                return Err(GpuError::arguments(kernel, format!("shapes {shapes:?} do not broadcast")));
            }
            if want != 1 {
                *have = want;
            }
        }
    }
    Ok(result)
}

impl<'a> View<'a> {
    /// The tensor as it is.
    pub(crate) fn whole(tensor: &'a GpuTensor) -> Self {
        Self { tensor, offset: 0, strides: strides(tensor.shape()) }
    }

    /// The tensor repeated to a larger shape, aligned at the last axis.
    pub(crate) fn broadcast(kernel: &str, tensor: &'a GpuTensor, shape: &[usize]) -> Result<Self, GpuError> {
        let own = tensor.shape();
        let fits = own.len() <= shape.len()
            && own.iter().rev().zip(shape.iter().rev()).all(|(&have, &want)| have == want || have == 1);
        if !fits {
            return Err(GpuError::arguments(kernel, format!("{own:?} does not broadcast to {shape:?}")));
        }
        let mut all = vec![0; shape.len() - own.len()];
        all.extend(strides(own).iter().zip(own).map(|(&stride, &d)| if d == 1 { 0 } else { stride }));
        Ok(Self { tensor, offset: 0, strides: all })
    }
}

/// A result shape and the views on it, with axes dropped and joined wherever all views allow: fewer axes mean less
/// index arithmetic per element, and the rank a kernel meets is bounded by how often its operands disagree.
pub(crate) fn view_params(shape: &[usize], views: &[View<'_>]) -> Vec<u32> {
    let mut axes: Vec<(usize, Vec<i64>)> = Vec::new();
    for (axis, &extent) in shape.iter().enumerate().filter(|(_, extent)| **extent != 1) {
        let steps: Vec<i64> = views.iter().map(|v| v.strides[axis]).collect();
        match axes.last_mut() {
            Some((outer, outer_steps))
                if outer_steps.iter().zip(&steps).all(|(&o, &s)| o == s * extent as i64) =>
            {
                *outer *= extent;
                *outer_steps = steps;
            }
            _ => axes.push((extent, steps)),
        }
    }
    let mut params: Vec<u32> = views.iter().map(|v| v.offset as u32).collect();
    params.push(axes.len() as u32);
    for (extent, steps) in axes.iter().rev() {
        params.push(*extent as u32);
        // Negative steps wrap: index arithmetic is modulo 2^32, and element numbers are below that.
        params.extend(steps.iter().map(|&s| s as u32));
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_follows_numpy() {
        let shape = |shapes: &[&[usize]]| broadcast_shape("Add", shapes).ok();
        assert_eq!(shape(&[&[2, 1, 4], &[3, 1]]), Some(vec![2, 3, 4]));
        assert_eq!(shape(&[&[], &[0, 5]]), Some(vec![0, 5]));
        assert_eq!(shape(&[&[0], &[1]]), Some(vec![0]));
        assert_eq!(shape(&[&[2], &[3]]), None);
    }

    #[test]
    fn strides_are_row_major() {
        assert_eq!(strides(&[2, 3, 4]), [12, 4, 1]);
        assert!(strides(&[]).is_empty());
    }
}
