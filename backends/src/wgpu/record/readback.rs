//! The way back: what is recorded is submitted, and all results come back in one piece of memory, which is kept for the next.

use crate::wgpu::device::{Gpu, GpuError, lock};

/// The most bytes that are kept. What is larger takes long enough without.
const MOST: u64 = 16 << 20;

/// The fewest bytes that are asked for.
const LEAST: u64 = 1 << 16;

impl Gpu {
    /// Submits what is recorded, waits once, and copies buffers back as they are; one by one where all are more than a
    /// buffer holds.
    pub(super) fn memory(&self, buffers: &[&wgpu::Buffer]) -> Result<Vec<Vec<u8>>, GpuError> {
        let all: u64 = buffers.iter().map(|buffer| buffer.size().next_multiple_of(wgpu::MAP_ALIGNMENT)).sum();
        if all <= self.limits.max_buffer_size || buffers.len() < 2 {
            return self.memory_at_once(buffers);
        }
        let each = buffers.iter().map(|&buffer| self.memory_at_once(&[buffer]));
        Ok(each.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    fn memory_at_once(&self, buffers: &[&wgpu::Buffer]) -> Result<Vec<Vec<u8>>, GpuError> {
        let mut kept = lock(&self.readback);
        let mut total = 0;
        let places: Vec<_> = buffers
            .iter()
            .map(|buffer| {
                let start = total;
                total = (start + buffer.size()).next_multiple_of(wgpu::MAP_ALIGNMENT);
                start..start + buffer.size()
            })
            .collect();
        // After an error nobody knows what state it is in, so that it is put back only when all is done.
        let staging = match kept.take().filter(|staging| staging.size() >= total) {
            Some(staging) => staging,
            None => self.staging(total)?,
        };
        self.guarded("readback", || {
            let mut recorder = lock(&self.recorder);
            for (buffer, place) in buffers.iter().zip(&places) {
                let encoder = recorder.encoder(&self.device);
                encoder.copy_buffer_to_buffer(buffer, 0, &staging, place.start, buffer.size());
            }
            recorder.submit(self);
        })?;
        if total > 0 {
            self.wait(&staging.slice(..total))?;
        }
        let bytes = |place: &std::ops::Range<u64>| {
            let view = staging.slice(place.clone()).get_mapped_range();
            view.map(|view| view.to_vec()).map_err(|e| failed(e.to_string()))
        };
        let memory = places.iter().map(bytes).collect::<Result<_, _>>()?;
        if total > 0 {
            staging.unmap();
        }
        *kept = Some(staging).filter(|staging| staging.size() <= MOST);
        Ok(memory)
    }

    fn staging(&self, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        self.guarded("readback", || {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("readback"),
                size: bytes.next_power_of_two().min(self.limits.max_buffer_size).max(bytes).max(LEAST),
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        })
    }

    /// Waits until memory is mapped for reading.
    fn wait(&self, memory: &wgpu::BufferSlice<'_>) -> Result<(), GpuError> {
        self.guarded("readback", || {
            // A failed map shows when the range is read.
            memory.map_async(wgpu::MapMode::Read, drop);
            self.device.poll(wgpu::PollType::Wait { submission_index: None, timeout: self.timeout })
        })?
        .map(drop)
        .map_err(|e| match e {
            wgpu::PollError::Timeout => GpuError::Timeout { waited: self.timeout.unwrap_or_default() },
            e @ wgpu::PollError::WrongSubmissionIndex(..) => {
                GpuError::Device { during: "waiting".to_owned(), why: e.to_string() }
            }
        })
    }
}

pub(super) fn failed(why: String) -> GpuError {
    GpuError::Device { during: "readback".to_owned(), why }
}
