//! Drivers that get something wrong: between our kernels and the device, the text of a shader is rewritten. A sweep
//! sees each, in the row of the operator and the adapter.
//!
//! The list was written before it was first run.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use backends::engines::gpu::GpuRunner;
use backends::engines::models::OnModels;
use backends::wgpu::{Gpu, GpuError, Which};
use harness::Target;
use onnxsmith_sweep::rows::{Row, Rows};
use onnxsmith_sweep::{Identity, PartForm, Scope, parts, run};

/// What a sweep says of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen {
    /// WGSL forbids it.
    Wrong,
    /// WGSL allows it, and good implementations do otherwise.
    Flagged,
    /// WGSL allows it and many drivers do it: counted by itself.
    Flushed,
    /// WGSL allows it, and whether good implementations may have it depends on what is not known: how far beyond the largest
    /// number a result would be. It is seen where the adapter is compared with another.
    Apart,
}
use Seen::{Apart, Flagged, Flushed, Wrong};

/// A driver that is right but for one thing.
struct Fault {
    /// What the driver does: "it …".
    what: &'static str,
    /// The operator, dtype and form that show it.
    on: (&'static str, &'static str, PartForm),
    /// A piece of a shader's text, and what the driver makes of it.
    reads: &'static str,
    makes: &'static str,
    seen: Seen,
}

const FAULTS: [Fault; 22] = [
    Fault {
        what: "divides by an estimate of the reciprocal",
        on: ("Div", "f32", PartForm::Pairs),
        reads: "fn Div(a: T, b: T) -> T { return a / b; }",
        makes: "fn Div(a: T, b: T) -> T { return a * bitcast<f32>(bitcast<u32>(1.0 / b) & 0xfffff000u); }",
        seen: Wrong,
    },
    Fault {
        what: "knows that nothing is NaN",
        on: ("Sign", "f32", PartForm::Unary),
        reads: "return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;",
        makes: "return false;",
        seen: Flagged,
    },
    Fault {
        what: "takes the number beside a NaN",
        on: ("Min", "f32", PartForm::Pairs),
        reads: "    if (is_nan(b)) { return b; }\n    return select(b, a,",
        makes: "    return select(b, a,",
        seen: Flagged,
    },
    Fault {
        what: "ends loops after 64 iterations",
        on: ("ReduceSum", "f32", PartForm::Lengths),
        reads: "k < chunk.end;",
        makes: "k < min(chunk.end, chunk.start + 64u);",
        seen: Wrong,
    },
    Fault {
        what: "flushes denormals as it stores them",
        on: ("Abs", "f32", PartForm::Unary),
        reads: "out_data[at] = value;",
        makes: "out_data[at] = select(value, 0.0, abs(value) < 1.1754944e-38);",
        seen: Flushed,
    },
    Fault {
        what: "clamps from above alone",
        on: ("HardSwish", "f32", PartForm::Unary),
        reads: "f_max(0.0, f_min(1.0, a * 0.16666667 + 0.5))",
        makes: "f_min(1.0, a * 0.16666667 + 0.5)",
        seen: Wrong,
    },
    Fault {
        what: "rounds f16 towards zero",
        on: ("Mul", "f16", PartForm::Pairs),
        reads: "(b + 0xfffu + ((b >> 13u) & 1u))",
        makes: "b",
        seen: Flagged,
    },
    Fault {
        what: "stores the upper half of an f32 as bf16",
        on: ("Add", "bf16", PartForm::Pairs),
        reads: "(b + 0x7fffu + ((b >> 16u) & 1u))",
        makes: "b",
        seen: Flagged,
    },
    Fault {
        what: "has no infinity in f16",
        on: ("Mul", "f16", PartForm::Pairs),
        reads: "return with_sign(inf(), x);",
        makes: "return with_sign(65504.0, x);",
        seen: Apart,
    },
    Fault {
        what: "reads i64 as its low 32 bits",
        on: ("Abs", "i64", PartForm::Unary),
        reads: "return a_data[at];",
        makes: "return i64(i32(a_data[at]));",
        seen: Wrong,
    },
    Fault {
        what: "has workgroups along the first dimension alone",
        on: ("Neg", "f32", PartForm::Shapes),
        reads: "groups.x * 64u * (id.y + groups.y * id.z)",
        makes: "groups.x * 0u",
        seen: Wrong,
    },
    Fault {
        what: "compares words as if they had signs",
        on: ("Max", "u32", PartForm::Pairs),
        reads: "return max(a, b);",
        makes: "return T(max(i32(a), i32(b)));",
        seen: Wrong,
    },
    Fault {
        what: "rounds where it should truncate",
        on: ("Cast", "f32", PartForm::Unary),
        reads: "return T(trunc(x));",
        makes: "return T(round(x));",
        seen: Wrong,
    },
    Fault {
        what: "rounds ties away from zero",
        on: ("Round", "f32", PartForm::Unary),
        reads: "return round(a);",
        makes: "return sign(a) * floor(abs(a) + 0.5);",
        seen: Wrong,
    },
    Fault {
        what: "leaves out two terms of the sine",
        on: ("Sin", "f32", PartForm::Unary),
        reads: "s = s * z - 1.9841270e-4;",
        makes: "s = 0.0;",
        seen: Flagged,
    },
    Fault {
        what: "has exponentials of 11 bits",
        on: ("Exp", "f32", PartForm::Unary),
        reads: "return (1.0 + (r + r * r * s)) *",
        makes: "return bitcast<f32>(bitcast<u32>(1.0 + (r + r * r * s)) & 0xffffe000u) *",
        seen: Wrong,
    },
    Fault {
        what: "estimates roots",
        on: ("Sqrt", "f32", PartForm::Unary),
        reads: "return sqrt(x);",
        makes: "return x * bitcast<f32>(bitcast<u32>(inverseSqrt(x)) & 0xfffff000u);",
        seen: Wrong,
    },
    Fault {
        what: "adds in 11 bits",
        on: ("ReduceSum", "f32", PartForm::Lengths),
        reads: "return r + a;",
        makes: "return bitcast<f32>(bitcast<u32>(r + a) & 0xffffe000u);",
        seen: Wrong,
    },
    Fault {
        what: "leaves a term out of products of more than 64",
        on: ("MatMul", "f32", PartForm::Lengths),
        reads: "k < params.end;",
        makes: "k < params.end - select(0u, 1u, params.end > 64u);",
        seen: Wrong,
    },
    Fault {
        what: "rounds quotients of integers down",
        on: ("Div", "i32", PartForm::Pairs),
        reads: "return a / b;",
        makes: "return select(a / b, a / b - 1, a % b != 0 && (a < 0) != (b < 0));",
        seen: Wrong,
    },
    Fault {
        what: "keeps reads one short of the end of a buffer",
        on: ("Gather", "f32", PartForm::Drawn),
        reads: "i32(extent) - 1));",
        makes: "max(i32(extent) - 2, 0)));",
        seen: Wrong,
    },
    Fault {
        what: "loses the last byte of a word that is not full",
        on: ("Neg", "i8", PartForm::Shapes),
        reads: "out_data[at] = ((value << 24u) >> 24u);",
        makes: "out_data[at] = select((value << 24u) >> 24u, 0, at + 1u == params.count && params.count % 4u != 0u);",
        seen: Wrong,
    },
];

/// lavapipe, or whatever adapter there is; `None` where there is none.
fn open() -> Option<Gpu> {
    let gpu = Gpu::open(&Which::Name("llvmpipe".to_owned())).or_else(|_| Gpu::open(&Which::Best));
    gpu.map_err(|why| not_tested("drivers that are wrong", &why)).ok()
}

/// Says what is not tested, past the test harness, which shows nothing of a test that passes.
fn not_tested(what: &str, why: &GpuError) {
    let _ = writeln!(std::io::stderr(), "NOT TESTED: {what}: {why}");
}

fn target(name: &str, gpu: Gpu) -> Target {
    Target::here(Box::new(OnModels::new(GpuRunner::new(name, gpu)))).swap_remove(0)
}

impl Fault {
    fn scope(&self) -> Scope {
        let (operator, dtype, form) = self.on;
        Scope {
            seed: 5,
            opset: *ir::graph::OPSETS.end(),
            operators: [operator.to_owned()].into(),
            dtypes: [dtype.to_owned()].into(),
            forms: [form].into(),
            samples: 4096,
            cases: 16,
        }
    }

    /// What a sweep says of the right driver, of one with the fault, and of both beside each other; and how many
    /// shaders the latter gets wrong.
    fn swept(&self, right: Gpu, mut planted: Gpu) -> (Rows, usize) {
        let rewritten = Arc::new(AtomicUsize::new(0));
        let (count, reads, makes) = (Arc::clone(&rewritten), self.reads, self.makes);
        planted.rewrite(Box::new(move |text| {
            count.fetch_add(usize::from(text.contains(reads)), Ordering::Relaxed);
            text.replace(reads, makes)
        }));
        let (scope, targets) = (self.scope(), [target("right", right), target("planted", planted)]);
        let mut ran = Vec::new();
        let take = |part| {
            ran.push(part);
            Ok(())
        };
        run(&scope, &parts(&scope), &targets, 2, &AtomicBool::new(false), take).expect("it runs");
        (Rows::of(&Identity::of(&scope, &targets), &ran), rewritten.load(Ordering::Relaxed))
    }
}

fn seen(row: &Row) -> Option<Seen> {
    let total = &row.total;
    let is = [(total.beyond_spec, Wrong), (total.beyond_tight, Flagged), (total.flushed, Flushed)];
    is.into_iter().find(|(count, _)| *count > 0).map(|(_, seen)| seen)
}

#[test]
fn what_a_driver_says_that_it_has_and_gets_wrong_is_not_used() {
    let which = Which::Name("llvmpipe".to_owned());
    let broken = |text: String| {
        let is_long = text.contains("alias T = i64;");
        if is_long { text.replace("return x_data[at];", "return T(i32(x_data[at]));") } else { text }
    };
    let Some(right) = open() else { return };
    let gpu = match Gpu::open_rewriting(&which, Some(Box::new(broken))) {
        Ok(gpu) => gpu,
        Err(why) => return not_tested("a driver that gets i64 wrong", &why),
    };
    assert!(right.capabilities().int64 && right.self_test().wrong.is_empty(), "{}", right.self_test());
    assert!(!gpu.capabilities().int64 && gpu.capabilities().f16);
    assert!(gpu.self_test().to_string().contains("i64 WRONG and not used"), "{}", gpu.self_test());
    assert!(target("broken", gpu).description().computes_in(ir::DType::I64).is_none());
}

#[test]
fn each_fault_of_a_driver_is_seen_in_its_row() {
    let mut otherwise = Vec::new();
    for fault in &FAULTS {
        let (Some(right), Some(planted)) = (open(), open()) else { return };
        let (rows, rewritten) = fault.swept(right, planted);
        let [right, planted] = &rows.rows[..] else { panic!("{:?} has no row of the form", fault.on) };
        let apart = (rows.pairs[0].apart.non_finite > 0).then_some(Apart);
        let (before, after) = (seen(right), seen(planted).or(apart));
        if right.total.elements == 0 || rewritten == 0 || before.is_some() || after != Some(fault.seen) {
            otherwise.push(format!(
                "{} on {:?}: {} elements, {before:?} before it, {after:?} with it in {rewritten} shaders; {:?}",
                fault.what, fault.on, right.total.elements, planted.total.worst
            ));
        }
    }
    assert!(otherwise.is_empty(), "{}", otherwise.join("\n"));
}
