//! Less of a program: the model that it leads to, one of its forms or calls written out, fewer iterations, fewer
//! outputs, fewer nodes.

use onnx::program::Program;

use super::{Candidates, chunks};
use crate::composite;
use crate::forms::{Forms, TargetProgram};
use crate::reduce::interest::Shown;
use crate::reduce::problem::Problem;

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    let problem = &shown.problem;
    let Some(written) = &problem.program else { return Box::new(std::iter::empty()) };
    let TargetProgram { program, interface } = &**written;
    let inputs = interface.values_of(&problem.named());
    let flat = Problem::flat(problem.model.clone(), problem.inputs.clone());
    let forms = Forms::of(program, &inputs);
    let (undone, fewer) = (forms.undone(), forms.fewer_iterations());
    let undone = undone.into_iter().map(|undone| undone.program);
    let smaller = fewer_outputs(program)
        .chain(values_inside(program))
        .chain(undone)
        .chain(fewer)
        .chain(program.with_a_call_written_out())
        .chain(program.without_unread_outputs())
        .chain(composite::without_attributes(program))
        .chain(fewer_nodes(program))
        .map(|program| program.pruned());
    let smaller = smaller.filter_map(move |program| Problem::edited(program, &inputs));
    Box::new(std::iter::once(flat).chain(smaller))
}

/// One attribute less of an operator that is written out where it is read.
pub(super) fn fewer_attributes(shown: &Shown) -> Candidates<'_> {
    let problem = &shown.problem;
    let Some(written) = &problem.program else { return Box::new(std::iter::empty()) };
    let inputs = written.interface.values_of(&problem.named());
    let without = composite::without_attributes(&written.program);
    Box::new(without.filter_map(move |program| Problem::edited(program.pruned(), &inputs)))
}

/// Each chunk of the outputs alone, and all but that chunk.
fn fewer_outputs(program: &Program) -> impl Iterator<Item = Program> {
    let all = program.main.body.outputs.len();
    chunks(if all > 1 { all } else { 0 })
        .flat_map(move |chunk| {
            let others = (0..all).filter(|i| !chunk.contains(i)).collect();
            [chunk.clone().collect::<Vec<_>>(), others]
        })
        .filter_map(|kept| program.with_outputs(&kept))
}

/// Each value of the main graph as the only output, the earliest first.
fn values_inside(program: &Program) -> impl Iterator<Item = Program> {
    let given = program.main.body.nodes.iter().flat_map(|node| node.outputs.iter().flatten());
    given.map(|&value| program.giving(value))
}

/// An operand in place of each node, those of bodies included; the last nodes first.
fn fewer_nodes(program: &Program) -> impl Iterator<Item = Program> {
    program.ways().into_iter().flat_map(move |way| {
        let operands = |at: usize| program.body(&way).map_or(0, |body| body.nodes[at].inputs.len());
        let nodes = 0..program.body(&way).map_or(0, |body| body.nodes.len());
        let places: Vec<(usize, usize)> =
            nodes.rev().flat_map(|at| (0..operands(at)).map(move |operand| (at, operand))).collect();
        places.into_iter().filter_map(move |(at, operand)| program.without_node(&way, at, operand))
    })
}
