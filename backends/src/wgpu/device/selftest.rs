//! Probes run when a device is opened. They decide what kernels may rely on, and `onnxsmith backends` shows them.

use std::fmt;

use ir::{DType, Tensor, Type};

use super::{Gpu, GpuError};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Element, KernelForm, Shader, WORKGROUP, body};

/// Iterations the loop probe asks for. Mesa 22.3.6 stops every invocation at 65,535 without a word.
const LOOP_PROBE: u32 = 1 << 17;

/// What the start-up probes saw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent observations, each with its own name")]
pub struct SelfTest {
    /// An elementwise kernel over a thousand numbers gave the right ones.
    pub arithmetic: bool,
    /// The iterations after which the driver silently leaves a loop; `None` if the probe's 131,072 all ran.
    pub max_loop_iterations: Option<u32>,
    /// `a != a` finds a NaN. Kernels test the bits instead.
    pub nan_by_comparison: bool,
    /// The test on bits finds a NaN.
    pub nan_by_bits: bool,
    /// Arithmetic keeps denormals instead of flushing them to zero.
    pub keeps_denormals: bool,
    /// `(a + b) - a` is computed as written instead of becoming `b`.
    pub keeps_association: bool,
    /// A workgroup's numbers are combined rightly by its subgroups. They are not used otherwise.
    pub subgroups: bool,
    /// The dtypes beyond 32-bit types that the adapter says it computes in, and gets wrong. They are not used.
    pub wrong: Vec<DType>,
}

impl fmt::Display for SelfTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let say = |b: bool| if b { "yes" } else { "no" };
        let loops = self.max_loop_iterations.map_or_else(|| "unlimited".to_owned(), |n| n.to_string());
        write!(
            f,
            "arithmetic {}, loop iterations {loops}, NaN by bits {}, NaN by != {}, denormals kept {}, association kept {}",
            if self.arithmetic { "ok" } else { "WRONG" },
            say(self.nan_by_bits),
            say(self.nan_by_comparison),
            say(self.keeps_denormals),
            say(self.keeps_association),
        )?;
        write!(f, ", subgroups {}", say(self.subgroups))?;
        if self.wrong.is_empty() {
            return Ok(());
        }
        let wrong: Vec<&str> = self.wrong.iter().map(|dtype| dtype.name()).collect();
        write!(f, "; {} WRONG and not used, although the adapter says that it has them", wrong.join(", "))
    }
}

impl SelfTest {
    /// Whether the driver gets right what every kernel is made of: if not, nothing it says means anything.
    pub(super) fn has_basics(&self) -> bool {
        self.arithmetic && self.nan_by_bits
    }

    /// Runs every probe.
    pub(super) fn run(gpu: &Gpu) -> Result<Self, GpuError> {
        let n = 1000;
        let input = Tensor::from_i128_fn(&Type::new(DType::U32, [n]), |i| i as i128);
        let words = |t: &Tensor| t.to_i128s();
        let arithmetic = probe(gpu, ARITHMETIC, &input)?;
        let arithmetic = words(&arithmetic).iter().enumerate().all(|(i, &v)| v == 3 * i as i128 + 1);

        let start = Tensor::from_i128_fn(&Type::new(DType::U32, [1]), |_| i128::from(LOOP_PROBE));
        let counted = words(&probe(gpu, LOOP, &start)?)[0] as u32;

        // 1.0, a NaN, the smallest normal number, 2^24.
        let bits = [0x3f80_0000, 0x7fc0_0000, 0x0080_0000, 0x4b80_0000_i128];
        let floats = Tensor::from_i128_fn(&Type::new(DType::U32, [4]), |i| bits[i]);
        let seen = words(&probe(gpu, FLOATS, &floats)?);
        Ok(Self {
            arithmetic,
            max_loop_iterations: (counted < LOOP_PROBE).then_some(counted),
            nan_by_comparison: seen[0] == 1,
            nan_by_bits: seen[1] == 1,
            keeps_denormals: seen[2] == 0x0040_0000,
            keeps_association: seen[3] == 0x0000_0000,
            subgroups: gpu.capabilities().subgroups && combines(gpu),
            wrong: wide(gpu).filter(|&dtype| !computes(gpu, dtype)).collect(),
        })
    }
}

/// The dtypes beyond 32-bit types that the adapter says it computes in.
fn wide(gpu: &Gpu) -> impl Iterator<Item = DType> {
    let all = [DType::F16, DType::I64, DType::U64, DType::F64];
    let capabilities = gpu.capabilities();
    all.into_iter().filter(move |&dtype| capabilities.has(dtype))
}

/// Whether an elementwise kernel gives the right numbers of a dtype, all of whose bits matter.
fn computes(gpu: &Gpu, dtype: DType) -> bool {
    let ty = Type::new(dtype, [1000]);
    let (x, right) = if dtype.is_float() {
        let step = if dtype == DType::F16 { 0.5 } else { 1.0 + 2f64.powi(-40) };
        let of = |f: fn(f64) -> f64| Tensor::from_f64_fn(&ty, |i| f(i as f64 * step));
        (of(|v| v), of(|v| v * 3.0 + 1.0))
    } else {
        let of = |f: fn(i128) -> i128| Tensor::from_i128_fn(&ty, |i| f(i as i128 * ((1 << 40) + 1)));
        (of(|v| v), of(|v| v * 3 + 1))
    };
    let number = Element::Number(dtype);
    let shader = Shader::new("self-test", DTYPE, dtype, number).reads("x", number);
    probe_with(gpu, &shader, &x, dtype).is_ok_and(|output| output == right)
}

/// Whether each of some workgroups finds the sum of its numbers by way of its subgroups.
fn combines(gpu: &Gpu) -> bool {
    let (teams, each) = (5, i128::from(WORKGROUP));
    let numbers = Tensor::from_i128_fn(&Type::new(DType::U32, [teams * each as i64]), |i| i as i128);
    let words = Element::Number(DType::U32);
    let shader = Shader::new("self-test", TEAM, DType::U32, words).reads("x", words);
    let shader =
        shader.means("combine", "plus").means("together", "by_subgroups").form(KernelForm::Subgroups);
    let sums = gpu.upload(&numbers).and_then(|numbers| {
        let output = gpu.alloc(DType::U32, &[teams as usize])?;
        gpu.launch(&Launch::new(&shader, &[&numbers], (), &output))?;
        gpu.download(&output)
    });
    let right = |team: i128| (team * each..(team + 1) * each).sum();
    sums.is_ok_and(|sums| sums.to_i128s().into_iter().eq((0..i128::from(teams)).map(right)))
}

const TEAM: Body<()> = body!((), "selftest_team.wgsl", "../wgsl/team.wgsl", "../wgsl/subgroups.wgsl");
const ARITHMETIC: Body<()> = body!((), "selftest_arithmetic.wgsl");
const LOOP: Body<()> = body!((), "selftest_loop.wgsl");
const FLOATS: Body<()> = body!((), "selftest_floats.wgsl");
const DTYPE: Body<()> = body!((), "selftest_dtype.wgsl");

fn probe(gpu: &Gpu, body: Body<()>, input: &Tensor) -> Result<Tensor, GpuError> {
    let words = Element::Number(DType::U32);
    let shader = Shader::new("self-test", body, DType::U32, words).reads("x", words);
    probe_with(gpu, &shader, input, DType::U32)
}

fn probe_with(gpu: &Gpu, shader: &Shader<()>, input: &Tensor, gives: DType) -> Result<Tensor, GpuError> {
    let input = gpu.upload(input)?;
    let output = gpu.alloc(gives, input.shape())?;
    gpu.launch(&Launch::new(shader, &[&input], (), &output))?;
    gpu.download(&output)
}
