//! The parts of a program that did not run for the inputs at hand. Nothing is said about the operators in them.

use std::collections::BTreeSet;

use onnx::import::{Idle, Path, idle};
use onnx::program::{Node, Program};
use serde::Serialize;

/// A body that did not run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct NotRun {
    /// The node that holds it.
    pub of: String,
    /// The attribute that it stands in.
    pub body: String,
    /// The operators in it.
    pub operators: Vec<String>,
}

/// How many bodies are named in a line.
const MOST_NAMED: usize = 6;

impl NotRun {
    /// All parts of a program that did not run, given the bodies that did. Bodies without operators are left out.
    pub fn all(program: &Program, ran: &BTreeSet<Path>) -> Vec<Self> {
        let of = |idle: Idle<'_>| Self {
            of: idle.holder.called(),
            body: idle.attribute.to_owned(),
            operators: idle.nodes().into_iter().map(Node::called).collect(),
        };
        idle(program, ran).into_iter().map(of).filter(|not_run| !not_run.operators.is_empty()).collect()
    }

    /// The parts that did not run, in a line; `None` if all ran.
    pub fn told<'n>(all: impl ExactSizeIterator<Item = &'n Self>) -> Option<String> {
        let more = all.len().saturating_sub(MOST_NAMED);
        let each: Vec<String> = all.take(MOST_NAMED).map(Self::in_words).collect();
        let more = if more == 0 { String::new() } else { format!("; {more} more") };
        (!each.is_empty())
            .then(|| format!("not judged, as these inputs do not run it: {}{more}", each.join("; ")))
    }

    fn in_words(&self) -> String {
        let Self { of, body, operators } = self;
        let operators = match &operators[..] {
            [one] => one.clone(),
            many => format!("{} operators", many.len()),
        };
        match body.as_str() {
            "body" => format!("{operators} in {of}, which has no turn"),
            side => format!("{operators} in `{side}` of {of}"),
        }
    }
}
