//! An open device: what it can do, and how its errors become values.
//!
//! | module | holds |
//! |---|---|
//! | `adapter` | the adapters of this machine, and choosing one |
//! | `selftest` | what the driver can be trusted with |
//! | `error` | what can go wrong |
//!
//! Nothing here panics on what a driver does: every `wgpu` call runs inside error scopes, and what escapes them is kept
//! and reported by the next call.

mod adapter;
mod error;
mod selftest;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ir::DType;

use super::record::{Launched, Pipelines, Recorder};
use super::wgsl::Functions;
use adapter::enumerate;

pub use adapter::{AdapterInfo, Which, adapters};
pub use error::GpuError;
pub use selftest::SelfTest;

/// What the device can compute with beyond 32-bit types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is there or not, whatever the others are")]
pub struct Capabilities {
    /// 16-bit floats.
    pub f16: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// 64-bit floats (arithmetic only: drivers accept the transcendental functions and return garbage).
    pub f64: bool,
    /// Invocations of a subgroup can exchange 32-bit numbers.
    pub subgroups: bool,
}

impl Capabilities {
    /// Whether the device has the dtype; those of 32 bits and fewer all do, but f16.
    pub fn has(self, dtype: DType) -> bool {
        match dtype {
            DType::F16 => self.f16,
            DType::F64 => self.f64,
            DType::I64 | DType::U64 => self.int64,
            _ => true,
        }
    }

    /// These without some dtypes.
    #[must_use]
    fn without(self, wrong: &[DType]) -> Self {
        let lacks = |dtype| wrong.contains(&dtype);
        Self {
            subgroups: self.subgroups,
            f16: self.f16 && !lacks(DType::F16),
            int64: self.int64 && !lacks(DType::I64) && !lacks(DType::U64),
            f64: self.f64 && !lacks(DType::F64),
        }
    }
}

/// Whether the invocations of a workgroup work together: through memory that they share, and through subgroups where
/// there are any.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Teamwork {
    /// As suits the adapter. What is together is what makes hardware fast, and takes software drivers long to compile.
    #[default]
    ByAdapter,
    /// Wherever there is a kernel in which they do, however little there is to do.
    Always,
    /// Nowhere.
    Never,
}

/// What becomes of a shader's text before the device gets it.
pub type Rewriting = Box<dyn Fn(String) -> String + Send + Sync>;

/// An open device. It may be shared between threads; what they record is submitted together.
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) limits: wgpu::Limits,
    pub(crate) functions: Functions,
    teamwork: Teamwork,
    pub(crate) rewriting: Option<Rewriting>,
    pub(crate) pipelines: Mutex<Pipelines>,
    pub(crate) recorder: Mutex<Recorder>,
    /// Memory in which results have come back, for the next ones.
    pub(crate) readback: Mutex<Option<wgpu::Buffer>>,
    /// The launches since somebody asked for them.
    pub(crate) trace: Mutex<Option<Vec<Launched>>>,
    /// The first error that reached no error scope; the handler must not panic, which is `wgpu`'s default.
    fault: Arc<Mutex<Option<String>>>,
    info: AdapterInfo,
    capabilities: Capabilities,
    self_test: SelfTest,
    /// How long a download waits for the device; `None` as long as it takes.
    pub(crate) timeout: Option<Duration>,
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
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// From now on, shaders come to the device as `rewriting` makes them of their text: as if by a driver that gets something
    /// wrong. What the device has compiled before is forgotten.
    pub fn rewrite(&mut self, rewriting: Rewriting) {
        self.rewriting = Some(rewriting);
        lock(&self.pipelines).clear();
    }

    /// Which real functions kernels call from now on.
    pub fn call(&mut self, functions: Functions) {
        self.functions = functions;
    }

    /// Whether kernels in which a workgroup works together are chosen.
    pub fn teamwork(&self) -> Teamwork {
        self.teamwork
    }

    /// Whether they are from now on.
    pub fn team(&mut self, teamwork: Teamwork) {
        self.teamwork = teamwork;
    }

    /// How long downloads wait for the device from now on; `None` lets it take all the time, for a process that somebody else ends.
    pub fn wait_at_most(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// The least size at which a kernel is chosen whose workgroups work together. Hardware gains from such a
    /// kernel at sizes from `pays` on.
    pub(crate) fn team_from(&self, pays: usize) -> usize {
        match self.teamwork {
            Teamwork::Always => 0,
            Teamwork::ByAdapter if self.info.kind != AdapterInfo::SOFTWARE => pays,
            Teamwork::ByAdapter | Teamwork::Never => usize::MAX,
        }
    }

    /// Opens an adapter, with the 16- and 64-bit types that it has, and runs the self-test. A type that the
    /// adapter says it has and gets wrong counts as lacking; one that gets the basics wrong does not open.
    pub fn open(which: &Which) -> Result<Self, GpuError> {
        Self::open_rewriting(which, None)
    }

    /// Opens an adapter, where shaders come to the device [rewritten](Self::rewrite) from the start.
    pub fn open_rewriting(which: &Which, rewriting: Option<Rewriting>) -> Result<Self, GpuError> {
        let adapters = enumerate();
        let matches = |(i, a): &(usize, &wgpu::Adapter)| which.is(*i, &a.get_info().into());
        let (_, adapter) = adapters.iter().enumerate().find(matches).ok_or_else(|| GpuError::NoAdapter {
            wanted: which.to_string(),
            there: adapters.iter().map(|adapter| AdapterInfo::from(adapter.get_info()).to_string()).collect(),
        })?;
        let mut gpu = Self { rewriting, ..Self::request(adapter)? };
        gpu.self_test = SelfTest::run(&gpu)?;
        if !gpu.self_test.has_basics() {
            let why = format!("its driver gets the basics wrong: {}", gpu.self_test);
            return Err(GpuError::Open { adapter: gpu.info.to_string(), why });
        }
        gpu.capabilities = gpu.capabilities.without(&gpu.self_test.wrong);
        gpu.capabilities.subgroups &= gpu.self_test.subgroups;
        Ok(gpu)
    }

    fn request(adapter: &wgpu::Adapter) -> Result<Self, GpuError> {
        let wanted = wgpu::Features::SHADER_F16
            | wgpu::Features::SHADER_INT64
            | wgpu::Features::SHADER_F64
            | wgpu::Features::SUBGROUP;
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
            readback: Mutex::default(),
            trace: Mutex::default(),
            teamwork: Teamwork::default(),
            functions: Functions::default(),
            rewriting: None,
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
                subgroups: features.contains(wgpu::Features::SUBGROUP),
            },
            self_test: SelfTest::default(),
            timeout: Some(Duration::from_mins(2)),
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

    /// Refuses a kernel on a dtype that the device's shaders do not have.
    pub(crate) fn require(&self, kernel: &str, dtype: DType) -> Result<(), GpuError> {
        if self.capabilities.has(dtype) {
            return Ok(());
        }
        let why = if self.self_test.wrong.contains(&dtype) {
            "the adapter has it and gets it wrong"
        } else {
            "the adapter does not have it"
        };
        Err(GpuError::dtype(kernel, dtype, why))
    }

    /// The longest loop a kernel may run in one invocation; longer work is split over invocations or launches.
    /// The probe counts a driver's whole allowance, of which index arithmetic takes a little.
    pub(crate) fn loop_limit(&self) -> usize {
        self.self_test.max_loop_iterations.map_or(16_384, |n| (n as usize / 4).clamp(64, 16_384))
    }

    /// Runs `f` with every kind of `wgpu` error captured.
    pub(crate) fn guarded<T>(&self, during: &str, f: impl FnOnce() -> T) -> Result<T, GpuError> {
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
