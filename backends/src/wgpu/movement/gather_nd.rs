//! GatherND: the slices of `x` that lists of indices name, one index for each of the axes behind those of the batch.

use ir::Type;
use ops::movement::GatherNd;

use super::gather::index;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::{Launch, strides};
use crate::wgpu::wgsl::{Body, Shader, body, params};

params! {
    /// `x` seen as `[batch, size]`, the indices as `[batch, lists, pointed]`.
    struct Gathering {
        /// How many elements a slice has.
        inner: u32,
        /// How many lists a part of the batch has.
        lists: u32,
        size: u32,
        pointed: u32,
        /// Two numbers for each axis that an index points into: its extent and its stride.
        axes: Vec<u32>,
    }
}

const BODY: Body<Gathering> = body!(Gathering, "gather_nd.wgsl", "index.wgsl");

impl Kernel for GatherNd {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, indices) = (c.get(0)?, c.get(1)?);
        let batch = usize::try_from(self.batch_dims).unwrap_or(usize::MAX);
        let pointed = indices.shape().last().copied().unwrap_or(0);
        let is_whole = batch < indices.rank()
            && (1..=x.rank().saturating_sub(batch)).contains(&pointed)
            && x.shape()[..batch] == indices.shape()[..batch];
        let is_empty = |into: &[usize]| !indices.is_empty() && into.contains(&0);
        if !is_whole || is_empty(&x.shape()[batch..batch + pointed]) {
            return Err(c.refuse(format!("indices {:?} into {:?}", indices.shape(), x.shape())));
        }
        let (into, rest) = x.shape()[batch..].split_at(pointed);
        let around = &indices.shape()[..indices.rank() - 1];
        let output = c.gpu.alloc(x.dtype(), &[around, rest].concat())?;
        let own = strides(x.shape());
        let axes = into.iter().zip(&own[batch..]).flat_map(|(&d, &stride)| [d as u32, stride as u32]);
        let params = Gathering {
            inner: rest.iter().product::<usize>() as u32,
            lists: around[batch..].iter().product::<usize>() as u32,
            size: x.shape()[batch..].iter().product::<usize>() as u32,
            pointed: pointed as u32,
            axes: axes.collect(),
        };
        let shader = Shader::mover(c.name, BODY, x.dtype()).reads("indices", index(c, indices.dtype())?);
        c.gpu.launch(&Launch::new(&shader, &[x, indices], params, &output))?;
        one(Ok(output))
    }
}
