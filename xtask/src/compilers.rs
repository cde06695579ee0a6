//! Our shaders through naga and through Tint, on one driver: what differs is a compiler's.
//!
//! The launches of a small sweep run on our own backend (wgpu, whose compiler is naga), each alone, and are repeated by
//! Dawn (whose compiler is Tint) in Node.js, with the same memory. It needs `scripts/node-env` and an adapter that both
//! take, so CI does not run it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use backends::wgpu::{Functions, Gpu, Launched, Teamwork, Which};
use ir::Tensor;
use serde::{Deserialize, Serialize};
use sweep::element::{Distance, elements};
use sweep::tally::Apart;
use sweep::trial::trial;
use sweep::{PartForm, Scope, parts};
use worker::protocol;

use crate::checked_in::{Mode, bring_up_to_date, root};

/// The page, and the lines between which the table stands.
const PAGE: &str = "docs/gpu.md";
const BEGIN: &str = "<!-- begin: cargo xtask compilers -->\n";
const END: &str = "<!-- end -->\n";

/// What repeats launches.
const DAWN: &str = "adapters/dawn.mjs";

/// What the command line asks for.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The adapter, by a part of its name or driver
    #[arg(long, default_value = "swiftshader", value_name = "NAME")]
    adapter: String,
    /// Try only the operators of these names (separated by commas)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    ops: Vec<String>,
    /// How many numbers of a dtype that has more than 65,536
    #[arg(long, default_value_t = 2048, value_name = "N")]
    samples: u64,
    /// How many drawn cases of an operator on a dtype
    #[arg(long, default_value_t = 3, value_name = "N")]
    cases: u64,
    /// Write the table in docs/gpu.md
    #[arg(long)]
    markdown: bool,
}

/// Runs the launches on both and reports.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut gpu = Gpu::open(&Which::named(&arguments.adapter))?;
    let usual = gpu.teamwork();
    let mut dawn = Dawn::start()?;
    let (mut results, mut common) = (Results::default(), BTreeSet::new());
    let scope = scope(arguments);
    for part in parts(&scope) {
        // Nobody asks what is right.
        let Some(trial) = trial(&scope, &part, &[]) else { continue };
        let inputs: Vec<&Tensor> = trial.inputs.iter().map(|(_, tensor)| tensor).collect();
        // The kernels of campaigns; those that call the driver's functions; those in which workgroups work together.
        let manners =
            [(Functions::Own, usual), (Functions::Builtin, usual), (Functions::Own, Teamwork::Always)];
        for (number, (functions, teamwork)) in manners.into_iter().enumerate() {
            gpu.call(functions);
            gpu.team(teamwork);
            // What there is no kernel for has no launches.
            let (_, launches) = gpu.traced(|| gpu.run(&trial.model, &inputs));
            for launched in launches {
                // Most are the same in all manners.
                if number == 0 {
                    common.insert(launched.source.clone());
                } else if common.contains(&launched.source) {
                    continue;
                }
                if !is_standard(&launched.source) {
                    results.beyond.insert(launched.source);
                    continue;
                }
                let answer = dawn.repeat(&launched)?;
                results.add(&part.name.op, &launched, answer)?;
            }
        }
    }
    let text = results.text(&gpu.info().to_string(), &dawn.adapter);
    if !arguments.markdown {
        print!("{text}");
        return Ok(());
    }
    let root = root();
    let page = std::fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let Some((before, (_, after))) =
        page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)))
    else {
        bail!("{PAGE} lacks the lines `{}` and `{}`", BEGIN.trim(), END.trim());
    };
    bring_up_to_date(&root, PAGE, &format!("{before}{BEGIN}{text}{END}{after}"), Mode::Write, "compilers")
}

fn scope(arguments: &Arguments) -> Scope {
    let is_wanted = |name: &str| arguments.ops.is_empty() || arguments.ops.iter().any(|op| op == name);
    let operators = ops::registry().map(|spec| spec.name).filter(|name| is_wanted(name));
    Scope {
        seed: 0,
        opset: *ir::graph::OPSETS.end(),
        operators: operators.map(str::to_owned).collect(),
        dtypes: ir::DTypes::IR4.iter().map(|dtype| dtype.to_string()).collect(),
        // Constants are memory to a shader, as inputs are, and a long lane is a short one many times.
        forms: [PartForm::Unary, PartForm::Pairs, PartForm::Several, PartForm::Drawn].into(),
        samples: arguments.samples,
        cases: arguments.cases,
    }
}

/// Whether a shader has no numbers of 64 bits, which naga has and the standard of WGSL lacks.
fn is_standard(source: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !source.split(|c| !is_word(c)).any(|word| matches!(word, "i64" | "u64" | "f64"))
}

/// What is asked of Dawn; the shader and the memory of each binding follow.
#[derive(Serialize)]
struct Request {
    wgsl: usize,
    workgroups: [u32; 3],
    memory: Vec<usize>,
}

/// What it says; the memory follows.
#[derive(Deserialize)]
#[serde(untagged)]
enum Reply {
    Memory { memory: usize },
    Adapter { adapter: String },
    Trouble { trouble: String },
}

/// Dawn in Node.js.
struct Dawn {
    process: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
    /// The adapter that it has chosen.
    adapter: String,
}

impl Dawn {
    fn start() -> Result<Self> {
        let mut process = Command::new("node")
            .arg(root().join(DAWN))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start node")?;
        let (Some(requests), Some(replies)) = (process.stdin.take(), process.stdout.take()) else {
            bail!("node has no pipes");
        };
        let mut replies = BufReader::new(replies);
        let first = protocol::read_header(&mut replies)
            .context("Dawn does not start in Node.js; `scripts/node-env` installs it")?;
        match first {
            Reply::Adapter { adapter } => Ok(Self { process, requests, replies, adapter }),
            Reply::Trouble { trouble } => bail!("{trouble}; docs/gpu.md says which drivers it takes"),
            Reply::Memory { .. } => bail!("Dawn answers before it is asked"),
        }
    }

    /// The memory that a launch writes; the inner `Err` is what Dawn says against it.
    fn repeat(&mut self, launched: &Launched) -> Result<Result<Vec<u8>, String>> {
        let memory: Vec<&[u8]> = launched.reads.iter().chain([&launched.before]).map(Vec::as_slice).collect();
        let header = Request {
            wgsl: launched.source.len(),
            workgroups: launched.workgroups,
            memory: memory.iter().map(|bytes| bytes.len()).collect(),
        };
        let blobs: Vec<&[u8]> = [launched.source.as_bytes()].into_iter().chain(memory).collect();
        self.requests.write_all(&protocol::frame(&header, &blobs)?)?;
        self.requests.flush()?;
        match protocol::read_header(&mut self.replies).context("Dawn gives no answer")? {
            Reply::Memory { memory } => {
                let mut bytes = vec![0; memory];
                self.replies.read_exact(&mut bytes)?;
                Ok(Ok(bytes))
            }
            Reply::Trouble { trouble } => Ok(Err(trouble)),
            Reply::Adapter { .. } => bail!("Dawn names its adapter twice"),
        }
    }
}

impl Drop for Dawn {
    fn drop(&mut self) {
        // It may have ended; nothing can be done about anything else.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The launches of an operator.
#[derive(Default)]
struct Of {
    shaders: BTreeSet<String>,
    launches: u64,
    /// Those that differ, by dtype.
    apart: BTreeMap<String, Apart>,
    /// What Dawn says against some.
    refused: BTreeSet<String>,
}

/// All of them.
#[derive(Default)]
struct Results {
    operators: BTreeMap<String, Of>,
    /// Shaders with numbers of 64 bits, which Dawn is not asked about.
    beyond: BTreeSet<String>,
}

impl Results {
    fn add(&mut self, operator: &str, launched: &Launched, answer: Result<Vec<u8>, String>) -> Result<()> {
        let of = self.operators.entry(operator.to_owned()).or_default();
        of.launches += 1;
        of.shaders.insert(launched.source.clone());
        match answer {
            Ok(memory) => {
                let apart = of.apart.entry(launched.ty.dtype.to_string()).or_default();
                compare(apart, &launched.tensor(&launched.after)?, &launched.tensor(&memory)?);
            }
            Err(why) => drop(of.refused.insert(why)),
        }
        Ok(())
    }

    /// Sentences, and a table of the operators that differ.
    fn text(&self, naga: &str, tint: &str) -> String {
        let shaders: BTreeSet<&String> = self.operators.values().flat_map(|of| &of.shaders).collect();
        let launches: u64 = self.operators.values().map(|of| of.launches).sum();
        let all = || {
            self.operators
                .iter()
                .flat_map(|(op, of)| of.apart.iter().map(move |(d, apart)| (op, d, of, apart)))
        };
        let elements: u64 = all().map(|(.., apart)| apart.elements).sum();
        let differ: u64 = all().map(|(.., apart)| apart.differ).sum();
        let refused: Vec<_> =
            self.operators.iter().flat_map(|(op, of)| of.refused.iter().map(move |why| (op, why))).collect();
        let mut text = format!(
            "naga: {naga}. Tint: {tint}. {} shaders of {} operators in {launches} launches, {elements} elements: {differ} differ, \
             {} shaders are refused by Tint. {} more have numbers of 64 bits, which WGSL lacks.\n\n\
             | operator | writes | shaders | elements | differ | not finite in one | largest difference in ULP | 99 % |\n\
             |---|---|---:|---:|---:|---:|---:|---:|\n",
            shaders.len(),
            self.operators.len(),
            refused.len(),
            self.beyond.len(),
        );
        for (op, dtype, of, apart) in all().filter(|(.., apart)| apart.differ > 0) {
            text += &format!(
                "| {op} | {dtype} | {} | {} | {} | {} | {:.3e} | {:.3e} |\n",
                of.shaders.len(),
                apart.elements,
                apart.differ,
                apart.non_finite,
                apart.ulps.max(),
                apart.ulps.quantile(0.99),
            );
        }
        for (op, why) in refused {
            text += &format!("\n{op} is refused: {}\n", why.lines().next().unwrap_or_default());
        }
        text
    }
}

/// Adds how two tensors of one type differ, in ULP of the first.
fn compare(apart: &mut Apart, one: &Tensor, other: &Tensor) {
    for (one_element, other_element) in elements(one).into_iter().zip(elements(other)) {
        apart.elements += 1;
        apart.differ += u64::from(!one_element.equals(other_element));
        match Distance::between(one.dtype(), one_element, one_element, other_element).ulp() {
            Some(ulp) => apart.ulps.add(ulp),
            None => apart.non_finite += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use ir::{DType, Type};

    use super::*;

    #[test]
    fn numbers_of_64_bits_are_not_of_the_standard() {
        assert!(is_standard("var i64_count: i32 = 64;"));
        assert!(!is_standard("let wide = vec2<f64>(0.0, 1.0);"));
    }

    #[test]
    fn what_differs_is_counted_in_ulp() {
        let tensor =
            |values: [f32; 4]| Tensor::from_f64_fn(&Type::new(DType::F32, [4]), |i| f64::from(values[i]));
        let mut apart = Apart::default();
        let next = 1.0f32.next_up();
        compare(&mut apart, &tensor([1.0, 0.0, 2.0, 1.0]), &tensor([next, -0.0, f32::NAN, 1.0]));
        assert_eq!((apart.elements, apart.differ, apart.non_finite), (4, 2, 1));
        assert!((apart.ulps.max() - 1.0).abs() < 1e-9);
    }
}
