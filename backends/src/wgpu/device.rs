//! Adapters, and opening one. No adapter is a normal answer.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::GpuError;
use super::record::{Pipeline, Recorder};
use super::selftest::SelfTest;

/// One adapter of this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdapterInfo {
    /// The name the driver gives the device.
    pub name: String,
    /// The API it is reached through: `vulkan`, `metal`, `dx12`.
    pub api: String,
    /// The driver and its version.
    pub driver: String,
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub kind: String,
}

impl fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}, {})", self.name, self.kind, self.api, self.driver)
    }
}

impl From<wgpu::AdapterInfo> for AdapterInfo {
    fn from(info: wgpu::AdapterInfo) -> Self {
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "cpu",
            wgpu::DeviceType::Other => "other",
        };
        Self {
            name: info.name,
            api: info.backend.to_str().to_owned(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            kind: kind.to_owned(),
        }
    }
}

/// Which adapter to open.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Which {
    /// The fastest kind there is: discrete, integrated, virtual, then software.
    #[default]
    Best,
    /// The adapter at this position of [`adapters`].
    Index(usize),
    /// The first adapter whose name contains this text, in any case.
    Name(String),
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Best => f.write_str("any adapter"),
            Self::Index(i) => write!(f, "adapter {i}"),
            Self::Name(name) => write!(f, "an adapter named `{name}`"),
        }
    }
}

/// The adapters of this machine, fastest kind first; empty where there is no driver.
pub fn adapters() -> Vec<AdapterInfo> {
    enumerate().iter().map(|a| a.get_info().into()).collect()
}

/// GLES is left out: it gets the sign of an integer remainder wrong.
fn enumerate() -> Vec<wgpu::Adapter> {
    let apis = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    if !wgpu::Instance::enabled_backend_features().intersects(apis) {
        return Vec::new();
    }
    let mut desc = wgpu::InstanceDescriptor::new_without_display_handle();
    desc.backends = apis;
    desc.flags = wgpu::InstanceFlags::empty();
    let mut found = pollster::block_on(wgpu::Instance::new(desc).enumerate_adapters(apis));
    found.sort_by_key(|a| match a.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    found
}

/// What the device can compute with beyond 32-bit types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// 16-bit floats.
    pub f16: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// 64-bit floats (arithmetic only; see [`super::unary`]).
    pub f64: bool,
}

/// An open device. It may be shared between threads; what they record is submitted together.
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: wgpu::Limits,
    pub(super) pipelines: Mutex<HashMap<String, Arc<Pipeline>>>,
    pub(super) recorder: Mutex<Recorder>,
    /// The first error that reached no error scope; the handler must not panic, which is `wgpu`'s default.
    fault: Arc<Mutex<Option<String>>>,
    info: AdapterInfo,
    capabilities: Capabilities,
    self_test: SelfTest,
    /// How long a download waits for the device.
    pub(super) timeout: Duration,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu")
            .field("info", &self.info)
            .field("self_test", &self.self_test)
            .finish_non_exhaustive()
    }
}

/// A panic elsewhere while the lock was held leaves nothing half-done here, so poisoning is ignored.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// Opens an adapter, with 16- and 64-bit types where it has them, and runs the self-test.
    pub fn open(which: &Which) -> Result<Self, GpuError> {
        let matches = |(i, a): &(usize, wgpu::Adapter)| match which {
            Which::Best => true,
            Which::Index(wanted) => i == wanted,
            Which::Name(name) => a.get_info().name.to_lowercase().contains(&name.to_lowercase()),
        };
        let (_, adapter) = enumerate()
            .into_iter()
            .enumerate()
            .find(matches)
            .ok_or_else(|| GpuError::NoAdapter { wanted: which.to_string() })?;
        let mut gpu = Self::request(&adapter)?;
        gpu.self_test = SelfTest::run(&gpu)?;
        Ok(gpu)
    }

    fn request(adapter: &wgpu::Adapter) -> Result<Self, GpuError> {
        let wanted = wgpu::Features::SHADER_F16 | wgpu::Features::SHADER_INT64 | wgpu::Features::SHADER_F64;
        let features = adapter.features() & wanted;
        let info: AdapterInfo = adapter.get_info().into();
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("onnxsmith"),
            required_features: features,
            required_limits: adapter.limits(),
            ..Default::default()
        }))
        .map_err(|e| GpuError::Open { adapter: info.to_string(), why: e.to_string() })?;
        let fault = Arc::new(Mutex::new(None));
        let sink = Arc::clone(&fault);
        device.on_uncaptured_error(Arc::new(move |e: wgpu::Error| {
            lock(&sink).get_or_insert(e.to_string());
        }));
        let sink = Arc::clone(&fault);
        device.set_device_lost_callback(move |reason, message| {
            // Dropping the device is reported as `Destroyed`; nobody is left to read it then.
            lock(&sink).get_or_insert(format!("device lost ({reason:?}): {message}"));
        });
        let limits = device.limits();
        let mut gpu = Self {
            recorder: Mutex::default(),
            pipelines: Mutex::default(),
            limits,
            device,
            queue,
            fault,
            info,
            capabilities: Capabilities {
                f16: features.contains(wgpu::Features::SHADER_F16),
                int64: features.contains(wgpu::Features::SHADER_INT64),
                f64: features.contains(wgpu::Features::SHADER_F64),
            },
            self_test: SelfTest::default(),
            timeout: Duration::from_mins(2),
        };
        gpu.recorder = Mutex::new(gpu.guarded("start-up", || Recorder::new(&gpu.device, &gpu.limits))?);
        Ok(gpu)
    }

    /// The adapter behind the device.
    pub fn info(&self) -> &AdapterInfo {
        &self.info
    }

    /// What the device can compute with.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// What the start-up probes saw.
    pub fn self_test(&self) -> &SelfTest {
        &self.self_test
    }

    /// The longest loop a kernel may run in one invocation; longer work is split over invocations or launches.
    /// The probe counts a driver's whole allowance, of which index arithmetic takes a little.
    pub(super) fn loop_limit(&self) -> usize {
        self.self_test.max_loop_iterations.map_or(16_384, |n| (n as usize / 4).clamp(64, 16_384))
    }

    /// How long [`Gpu::download`] waits for the device before it gives up.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Runs `f` with every kind of `wgpu` error captured.
    pub(super) fn guarded<T>(&self, during: &str, f: impl FnOnce() -> T) -> Result<T, GpuError> {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        let scopes = [OutOfMemory, Internal, Validation].map(|filter| self.device.push_error_scope(filter));
        let value = f();
        // Scopes end innermost first; the first error to name is the validation error.
        let mut errors = scopes.into_iter().rev().filter_map(|scope| pollster::block_on(scope.pop()));
        let first = errors.next();
        errors.for_each(drop);
        match first {
            None => self.fault(during).map(|()| value),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(GpuError::OutOfMemory { during: during.to_owned() }),
            Some(e) => Err(GpuError::Device { during: during.to_owned(), why: e.to_string() }),
        }
    }

    /// An error that reached no scope makes the device unfit for further use, and is reported every time.
    fn fault(&self, during: &str) -> Result<(), GpuError> {
        match &*lock(&self.fault) {
            None => Ok(()),
            Some(why) => Err(GpuError::Device { during: during.to_owned(), why: why.clone() }),
        }
    }
}
