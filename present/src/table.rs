//! The operators, with the dtypes and backends that have them: generated from the code.

use std::collections::BTreeMap;

use backends::support::Support;
use graphgen::{Settings, Weights};
use ir::{DType, DTypes, NodeKind, Stream, Type};
use ops::spec::Deviation;
use ops::{Op, Spec};
use serde::Serialize;

use crate::written_out;

/// One operator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Row {
    /// Its ONNX name.
    pub operator: &'static str,
    /// The group of operators that it belongs to.
    pub group: &'static str,
    /// What it does, in one sentence.
    pub does: &'static str,
    /// The shapes of operands and results.
    pub shapes: &'static str,
    /// The first opset, from 13 on, that has it.
    pub since: u32,
    /// The dtypes of its first operand (or output) in the newest opset.
    pub dtypes: Vec<&'static str>,
    /// The dtypes our CPU kernels have.
    pub cpu: Vec<&'static str>,
    /// The dtypes our GPU kernels have, on a device with every optional feature.
    pub wgpu: Vec<&'static str>,
    /// Why the kernels lack the other dtypes.
    pub lacking: Vec<Lacking>,
}

/// A reason why our kernels lack an operator on some dtypes, or in some uses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Lacking {
    /// `cpu` or `wgpu`.
    pub backend: &'static str,
    /// What the kernels say.
    pub why: &'static str,
    /// The dtypes for which they say so.
    pub dtypes: Vec<&'static str>,
}

/// How many uses of an operator on a dtype are looked at.
const USES: usize = 12;

/// How many draws are made to find them.
const DRAWS: u64 = 150;

/// Every operator, by name.
pub fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = ops::registry().map(row).collect();
    rows.sort_by_key(|r| r.operator);
    rows
}

fn row(spec: &'static Spec) -> Row {
    let opset = *ir::graph::OPSETS.end();
    let dtypes = match spec.inputs.first() {
        Some(_) => spec.input_types(0, opset),
        None => spec.output_types(0, opset),
    };
    let mut row = Row {
        operator: spec.name,
        group: spec.about.group(),
        does: spec.about.does(),
        shapes: spec.about.shapes(),
        since: spec.since(),
        dtypes: vec![],
        cpu: vec![],
        wgpu: vec![],
        lacking: vec![],
    };
    for dtype in dtypes.iter() {
        let uses = uses(spec, dtype, opset);
        row.dtypes.push(dtype.name());
        let lacks = |has: &dyn Fn(&Use) -> Support| {
            uses.iter().find_map(|u| if let Support::No(why) = has(u) { Some(why) } else { None })
        };
        let cpu = lacks(&|u| backends::cpu::support(&u.op, &u.inputs()));
        let wgpu = lacks(&|u| backends::wgpu::support(&u.op, &u.inputs()));
        for (backend, has, why) in [("cpu", &mut row.cpu, cpu), ("wgpu", &mut row.wgpu, wgpu)] {
            match why {
                None if !uses.is_empty() => has.push(dtype.name()),
                None => {}
                Some(why) => lack(&mut row.lacking, backend, why, dtype.name()),
            }
        }
    }
    row
}

/// Adds a dtype to those that a backend lacks for the same reason.
fn lack(lacking: &mut Vec<Lacking>, backend: &'static str, why: &'static str, dtype: &'static str) {
    match lacking.iter_mut().find(|known| known.backend == backend && known.why == why) {
        Some(known) => known.dtypes.push(dtype),
        None => lacking.push(Lacking { backend, why, dtypes: vec![dtype] }),
    }
}

/// One use of an operator.
struct Use {
    op: Op,
    inputs: Vec<Option<Type>>,
}

impl Use {
    fn inputs(&self) -> Vec<Option<&Type>> {
        self.inputs.iter().map(Option::as_ref).collect()
    }
}

/// Some uses of the operator with a first operand (or output) of the dtype.
fn uses(spec: &'static Spec, dtype: DType, opset: u32) -> Vec<Use> {
    // With only this dtype in use the draw cannot miss it, but operators on several dtypes need the others.
    let sets =
        [DTypes::of(&[dtype]), DTypes::of(&[dtype]).with(DType::I64).with(DType::Bool).with(DType::F32)];
    let draws = sets.into_iter().flat_map(|dtypes| (0..DRAWS).map(move |draw| (dtypes, draw)));
    draws
        .filter_map(|(dtypes, draw)| {
            let operators = [spec.name].into();
            let settings = Settings {
                opset,
                dtypes,
                wanted: dtypes,
                operators,
                nodes: 1,
                function: 0.0,
                ..Settings::default()
            };
            let graph = graphgen::generate(&settings, &Weights, Stream::new(draw)).model.graph;
            graph.nodes.iter().find_map(|node| {
                let NodeKind::Operator(op) = &node.kind else { return None };
                let inputs: Vec<Option<Type>> =
                    graph.types(&node.inputs).into_iter().map(Option::<&Type>::cloned).collect();
                let first = inputs.iter().flatten().chain(&node.outputs).next()?;
                (first.dtype == dtype).then(|| Use { op: op.clone(), inputs: inputs.clone() })
            })
        })
        .take(USES)
        .collect()
}

/// What stands before the tables.
const ABOUT: &str = "\
# Operators

Which operators of ONNX onnxsmith generates, knows the meaning of, and has kernels for. Generated by `cargo xtask docs` from the
code: what an operator does is the first sentence of its documentation there, which goes on with what is special about it.

- An operator's name leads to its specification.
- *shapes* are those of operands and results. Results have the dtype of the operands where nothing else is said. `…` stands for any
  number of axes, none among them. Shapes broadcast as in numpy, in any direction.
- *opset* is the first that has the operator, where 13, the oldest that is known, stands for \"13 or before\". The newest is 28.
- *dtypes* are those of the first operand (of the first output, where there is none) in the newest opset. The reference
  has all of them.
- *cpu* and *wgpu* are our own kernels: `all` where they have every one of the dtypes.

What the standard allows is read from ONNX's own schemas. Where onnxsmith keeps to less, that is listed
[below](#less-than-the-standard-allows). Strings and complex numbers are left out everywhere; 8-bit floats and what is narrower
than a byte are in casts, quantisation and what moves them.

";

/// The groups of operators, in the order of the list, with their titles.
const GROUPS: &[(&str, &str)] = &[
    ("elementwise", "Element by element"),
    ("movement", "Moving elements"),
    ("linear", "Matrix products"),
    ("reduction", "Along axes"),
    ("nn", "Layers"),
    ("quantized", "Numbers as few integers"),
];

/// What sets of dtypes are called on the page.
const WORDS: &[(&str, DTypes)] = &[
    ("all there are", DTypes::IR13),
    ("bool and numbers", DTypes::IR4),
    ("numbers", DTypes::NUMERIC),
    ("integers", DTypes::INTS),
    ("unsigned integers", DTypes::UNSIGNED_INTS),
    ("floats", DTypes::FLOATS),
];

/// The page in Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut out = ABOUT.to_owned();
    for (word, dtypes) in WORDS {
        out += &format!("- **{word}**: {}\n", names(*dtypes).join(" "));
    }
    for (group, title) in GROUPS {
        out += &format!("\n## {title}\n\n");
        out += "| operator | does | shapes | opset | dtypes | cpu | wgpu |\n|---|---|---|---|---|---|---|\n";
        rows.iter().filter(|row| row.group == *group).for_each(|row| out += &line(row));
    }
    let full = |f: fn(&Row) -> usize| rows.iter().filter(|r| f(r) == r.dtypes.len()).count();
    out += &format!(
        "\n{} operators; {} complete on cpu, {} complete on wgpu.\n",
        rows.len(),
        full(|r| r.cpu.len()),
        full(|r| r.wgpu.len())
    );
    out + "\n## Without kernels\n\nWhat uses of an operator on these dtypes there are no kernels for, not all of them in each case, and why.\n\n"
        + &reasons(rows)
        + &written_out::markdown(&written_out::rows())
        + &deviations()
}

/// Why there are no kernels, a line for each reason, with the operators and dtypes.
pub fn reasons(rows: &[Row]) -> String {
    let mut reasons: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for row in rows {
        for Lacking { backend, why, dtypes } in &row.lacking {
            let of = format!("{} {}", row.operator, dtypes.join(" "));
            reasons.entry((backend, why)).or_default().push(of);
        }
    }
    let line = |((backend, why), of): ((&str, &str), Vec<String>)| {
        format!("- {backend}, {why}: {}.\n", of.join(", "))
    };
    reasons.into_iter().map(line).collect::<Vec<_>>().concat()
}

fn line(row: &Row) -> String {
    // A stroke ends a cell.
    let cell = |text: &str| text.replace('|', "\\|");
    format!(
        "| [{0}](https://onnx.ai/onnx/operators/onnx__{0}.html) | {1} | `{2}` | {3} | {4} | {5} | {6} |\n",
        row.operator,
        cell(row.does),
        cell(row.shapes),
        row.since,
        in_words(&row.dtypes),
        kernels(&row.cpu, &row.dtypes),
        kernels(&row.wgpu, &row.dtypes),
    )
}

fn names(dtypes: DTypes) -> Vec<&'static str> {
    dtypes.iter().map(DType::name).collect()
}

/// Dtypes by the word for them, or one by one.
fn in_words(dtypes: &[&str]) -> String {
    let word = WORDS.iter().find(|(_, set)| names(*set) == dtypes);
    word.map_or_else(|| dtypes.join(" "), |(word, _)| (*word).to_owned())
}

/// Which of an operator's dtypes there are kernels for.
fn kernels(has: &[&'static str], dtypes: &[&'static str]) -> String {
    let lacks: Vec<&str> = dtypes.iter().copied().filter(|dtype| !has.contains(dtype)).collect();
    match (has.len(), lacks.len()) {
        (0, _) => "–".to_owned(),
        (_, 0) => "all".to_owned(),
        (has, lack) if lack < has => format!("all but {}", lacks.join(" ")),
        _ => has.join(" "),
    }
}

/// Where less is taken than the standard allows.
fn deviations() -> String {
    let mut out = String::from("\n## Less than the standard allows\n\n");
    out += &format!("- **All**: no {}.\n", ops::schema::LEFT_OUT.join(", "));
    let mut specs: Vec<&Spec> = ops::registry().filter(|spec| !spec.deviations.is_empty()).collect();
    specs.sort_by_key(|spec| spec.name);
    for spec in specs {
        for deviation in spec.deviations {
            out += &format!("- **{}**: {}.\n", spec.name, sentence(deviation));
        }
    }
    out
}

/// What is left out, and why.
fn sentence(deviation: &Deviation) -> String {
    match deviation {
        Deviation::DTypes { of, without, opsets, why } if *opsets == ir::graph::OPSETS => {
            format!("{of} is not {without}: {why}")
        }
        Deviation::DTypes { of, without, opsets, why } => {
            format!("{of} is not {without} in opsets {} to {}: {why}", opsets.start(), opsets.end())
        }
        Deviation::Attributes { names, why } => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("no {}: {why}", names.join(" and "))
        }
    }
}
