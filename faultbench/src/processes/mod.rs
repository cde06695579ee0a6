//! Faults in how a process runs one model after another: what it keeps of a run shows in a later one.
//!
//! A process runs the case before, then the case, then the case once more, as a campaign with the determinism oracle has it; the
//! last two answers are judged. A process is a new one for each case, so that what it answers depends on the seed alone.

mod memory;
mod state;

use backends::cpu::{Cpu, run_model};
use ir::{Tensor, Type};
use ops::Model;

/// A process whose runs are not independent of each other.
pub struct WrongProcess {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) does: &'static str,
    /// The public bug that it does as: repository and number.
    pub(crate) source: Option<&'static str>,
    answer: WrongAnswer,
}

/// What a process answers instead of the right outputs; `None` where it answers with these.
type WrongAnswer = fn(&Run<'_>) -> Option<Vec<Tensor>>;

/// A run, and what came of it.
#[derive(Clone)]
pub(crate) struct Past {
    pub(crate) model: Model,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) outputs: Vec<Tensor>,
}

impl Past {
    /// A run of the right kernels.
    pub(crate) fn right(model: Model, inputs: Vec<Tensor>) -> Option<Self> {
        let outputs = right(&model, &inputs)?;
        Some(Self { model, inputs, outputs })
    }
}

/// A run of a process.
struct Run<'r> {
    /// The runs before.
    past: &'r [Past],
    model: &'r Model,
    inputs: &'r [Tensor],
    /// What is right.
    right: &'r [Tensor],
}

const KINDS: [&[WrongProcess]; 2] = [memory::FAULTS, state::FAULTS];

/// Every wrong process.
pub(crate) fn all() -> impl Iterator<Item = &'static WrongProcess> {
    KINDS.into_iter().flatten()
}

impl WrongProcess {
    /// The process's answers to the last `judged` of these runs, which it makes one after another. `None` if
    /// all of these answers are right.
    pub(crate) fn answers(&self, runs: &[Past], judged: usize) -> Option<Vec<Vec<Tensor>>> {
        let mut past: Vec<Past> = Vec::new();
        let mut is_wrong = false;
        for (i, run) in runs.iter().enumerate() {
            let Past { model, inputs, outputs: right } = run;
            let wrong = (self.answer)(&Run { past: &past, model, inputs, right });
            is_wrong |= wrong.is_some() && i + judged >= runs.len();
            past.push(Past { outputs: wrong.unwrap_or_else(|| right.clone()), ..run.clone() });
        }
        let last = past.split_off(runs.len().saturating_sub(judged));
        is_wrong.then(|| last.into_iter().map(|run| run.outputs).collect())
    }
}

/// What the right kernels make of a model.
fn right(model: &Model, inputs: &[Tensor]) -> Option<Vec<Tensor>> {
    run_model(model, inputs, &mut Cpu).ok()
}

impl Run<'_> {
    /// The run before.
    fn before(&self) -> Option<&Past> {
        self.past.last()
    }

    /// The run before, if it was of the same model.
    fn again(&self) -> Option<&Past> {
        self.before().filter(|past| past.model == *self.model)
    }

    /// The outputs, each changed or not; `None` if none is.
    fn each(&self, change: impl Fn(usize, &Tensor) -> Option<Tensor>) -> Option<Vec<Tensor>> {
        let changed: Vec<Option<Tensor>> = self.right.iter().enumerate().map(|(i, y)| change(i, y)).collect();
        let holds = changed.iter().any(Option::is_some);
        let outputs =
            changed.into_iter().zip(self.right).map(|(new, right)| new.unwrap_or_else(|| right.clone()));
        holds.then(|| outputs.collect())
    }
}

/// The bytes of tensors, one behind the other.
fn bytes(tensors: &[Tensor]) -> Vec<u8> {
    tensors.iter().flat_map(Tensor::to_bytes).collect()
}

/// A tensor of a type whose bytes are at a place of memory, which is zero where nothing was.
fn tensor_at(ty: &Type, memory: &[u8], place: usize) -> Option<Tensor> {
    let size = usize::try_from(ty.bytes()).ok()?;
    let bytes: Vec<u8> = (place..place + size).map(|i| memory.get(i).copied().unwrap_or(0)).collect();
    Tensor::from_bytes(ty, &bytes).ok()
}

#[cfg(test)]
mod tests {
    use ir::{DType, NodeKind, Value};
    use ops::Graph;
    use ops::elementwise::{Unary, UnaryFn};

    use super::*;

    /// A model of one function of x, with x as its second output, on some numbers.
    fn run(function: UnaryFn, numbers: &[f64]) -> Past {
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [numbers.len() as i64]), |i| numbers[i]);
        let mut graph = Graph::new();
        let input = graph.variable("x", x.ty());
        let node = graph.push(NodeKind::Operator(Unary(function).into()), vec![Some(input)], vec![x.ty()]);
        graph.output("y", Value::new(node, 0));
        graph.output("x again", input);
        Past::right(Model::new(21, graph), vec![x]).unwrap()
    }

    fn process(name: &str) -> &'static WrongProcess {
        all().find(|process| process.name == name).unwrap()
    }

    fn floats(answers: &[Tensor]) -> Vec<Vec<f64>> {
        answers.iter().map(Tensor::to_f64s).collect()
    }

    #[test]
    fn memory_shows_from_the_second_run_on() {
        let runs = [run(UnaryFn::Neg, &[1.0, 2.0]), run(UnaryFn::Abs, &[3.0, -4.0])];
        let stale = process("last-element-is-left-from-the-run-before");
        assert_eq!(stale.answers(&runs[..1], 1), None);
        let answers = stale.answers(&runs, 1).unwrap();
        assert_eq!(floats(&answers[0]), [[3.0, -2.0], [3.0, 2.0]]);
    }

    #[test]
    fn inputs_that_a_run_overwrote_show_when_it_is_repeated() {
        let runs = [run(UnaryFn::Neg, &[1.0, 2.0]), run(UnaryFn::Neg, &[1.0, 2.0])];
        let answers = process("inputs-are-overwritten-by-the-first-run").answers(&runs, 1).unwrap();
        assert_eq!(floats(&answers[0]), [[1.0, 2.0], [-1.0, -2.0]]);
    }

    #[test]
    fn outputs_that_share_a_buffer_hold_the_last_of_them() {
        let answers = process("outputs-of-one-type-share-a-buffer").answers(&[run(UnaryFn::Neg, &[1.0])], 1);
        assert_eq!(floats(&answers.unwrap()[0]), [[1.0], [1.0]]);
    }
}
