//! Faults in operators that are written out in others where they are read: for each operator several.
//!
//! A target that runs what import writes out has no kernel of them that could be wrong. So a fault makes another
//! program: the node without an attribute or an operand that it has, or with a result that went through another
//! operator: it is backwards, narrower, flat …

mod mistakes;

use std::collections::BTreeSet;

use anyhow::Result;
use forms::Composite;
use graphgen::{Composites, Settings};
use harness::Maker;
use ir::{DType, DatumKind, Tensor, Type};
use onnx::external::External;
use onnx::program::{Node, Program, ValueId};
use onnx::proto::{TensorProto, ValueInfoProto};
use onnx::tensor::code_of;
use ops::schema;

use crate::found::{Refused, Rewriting, first_found};
use mistakes::{SHORT, SINGLE, UNREAD};

/// What an implementation does wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// It does not read an attribute.
    Attribute(&'static str),
    /// It does not read an operand that may be absent.
    Operand(usize),
    /// It takes a constant operand for 0.
    Zero(usize),
    /// It reads its operands in the opposite order.
    Reversed,
    /// It reads its first operand, a tensor, as one of one axis.
    FlatOperand,
    /// It reads its first operand, a sequence, without its first tensor.
    ShortOperand,
    /// It makes a sequence that is not empty.
    Occupied,
    /// The sequence that it makes also holds a tensor that is later inserted into it.
    InPlace,
    /// Its first result is backwards along the last axis.
    Backwards,
    /// Its first result goes through a dtype of fewer bits.
    Narrow,
    /// Its first result is the other truth value.
    Negated,
    /// Its first result is larger by one.
    More,
    /// Its first result has an axis more.
    Deeper,
    /// Its first result has one axis.
    Flat,
}

/// A fault in an operator.
#[derive(Clone, Copy)]
pub struct WrongOperator {
    /// The operator.
    pub operator: &'static Composite,
    /// What is wrong.
    pub mistake: Mistake,
}

/// Every fault, operator by operator.
pub fn all() -> impl Iterator<Item = WrongOperator> {
    forms::composite::all().flat_map(|operator| {
        let unread = UNREAD.iter().filter(|(name, _)| *name == operator.name).flat_map(|(_, unread)| *unread);
        let shows = |mistake: &Mistake| match mistake {
            Mistake::Backwards => !SINGLE.contains(&operator.name),
            _ => !SHORT.contains(&operator.name),
        };
        let each = [Mistake::Backwards, Mistake::Narrow].into_iter().filter(move |mistake| shows(mistake));
        each.chain(unread.copied()).map(move |mistake| WrongOperator { operator, mistake })
    })
}

impl Rewriting for WrongOperator {
    fn refused(&self) -> Refused {
        Refused::Skipped
    }

    fn wrong(&self, program: &Program) -> Option<Program> {
        let mut wrong = program.clone();
        // What is wrong may have another type than was said.
        wrong.main.body.outputs.iter_mut().for_each(|port| port.declared = ValueInfoProto::default());
        let at = wrong.main.body.nodes.iter().position(|node| node.rest.op_type() == self.operator.name)?;
        match self.mistake {
            Mistake::Attribute(name) => without_attribute(wrong, at, name),
            Mistake::Operand(slot) => {
                wrong.main.body.nodes[at].inputs.get_mut(slot)?.take()?;
                Some(wrong)
            }
            Mistake::Zero(slot) => with_zeros(wrong, at, slot),
            Mistake::Reversed => {
                wrong.main.body.nodes[at].inputs.reverse();
                Some(wrong)
            }
            Mistake::FlatOperand => {
                let all = constant(&mut wrong, DType::I64, &[1], -1);
                before(wrong, at, DatumKind::Tensor, "Reshape", all)
            }
            Mistake::ShortOperand => {
                let first = constant(&mut wrong, DType::I64, &[], 0);
                before(wrong, at, DatumKind::Sequence, "SequenceErase", first)
            }
            Mistake::Occupied => Some(occupied(wrong, at, first_dtype(program)?)),
            Mistake::InPlace => inserted_in_place(wrong, at),
            Mistake::Backwards => {
                let bounds =
                    [-1, i64::MIN, -1, -1].map(|number| constant(&mut wrong, DType::I64, &[1], number));
                through(wrong, at, "Slice", &bounds)
            }
            Mistake::Negated => through(wrong, at, "Not", &[]),
            Mistake::More => {
                let dtype = first_dtype(program).filter(|&dtype| dtype != DType::Bool)?;
                let one = constant(&mut wrong, dtype, &[], 1);
                through(wrong, at, "Add", &[one])
            }
            Mistake::Deeper => {
                let axis = constant(&mut wrong, DType::I64, &[1], 0);
                through(wrong, at, "Unsqueeze", &[axis])
            }
            Mistake::Flat => {
                let all = constant(&mut wrong, DType::I64, &[1], -1);
                through(wrong, at, "Reshape", &[all])
            }
            Mistake::Narrow => narrowed(wrong, at, first_dtype(program)?),
        }
    }
}

fn without_attribute(mut program: Program, at: usize, name: &str) -> Option<Program> {
    let attributes = &mut program.main.body.nodes[at].attributes;
    let before = attributes.len();
    attributes.retain(|attribute| attribute.rest.name() != name);
    (attributes.len() < before).then_some(program)
}

/// The program in which a constant operand of a node is 0; `None` where it is already.
fn with_zeros(mut program: Program, at: usize, slot: usize) -> Option<Program> {
    let body = &mut program.main.body;
    let value = (*body.nodes[at].inputs.get(slot)?)?;
    let initializer = body.initializers.iter_mut().find(|i| i.value == value)?;
    let right = onnx::tensor::from_proto(&initializer.tensor, External::Refuse).ok()?;
    let zeros = Tensor::zeros(&right.ty());
    initializer.tensor = TensorProto { name: None, ..onnx::tensor::to_proto("", &zeros) };
    (zeros != right).then_some(program)
}

/// The program whose node makes a sequence of one scalar.
fn occupied(mut program: Program, at: usize, dtype: DType) -> Program {
    let zero = constant(&mut program, dtype, &[], 0);
    let node = &mut program.main.body.nodes[at];
    let result = std::mem::take(&mut node.outputs);
    *node = Node::new("SequenceConstruct", vec![Some(zero)], result);
    program
}

/// The program in which inserting a tensor into a node's sequence changes that sequence for all later
/// readers. `None` if nothing reads it later.
fn inserted_in_place(mut program: Program, at: usize) -> Option<Program> {
    let nodes = &mut program.main.body.nodes;
    let sequence = nodes[at].outputs[0]?;
    let inserted = nodes
        .iter()
        .position(|node| node.rest.op_type() == "SequenceInsert" && node.inputs[0] == Some(sequence))?;
    let longer = nodes[inserted].outputs[0];
    let later = nodes[inserted + 1..].iter_mut().flat_map(|node| &mut node.inputs);
    let mut is_read = false;
    for operand in later.filter(|operand| **operand == Some(sequence)) {
        *operand = longer;
        is_read = true;
    }
    is_read.then_some(program)
}

/// The program in which a node's result goes through a dtype of fewer bits and back. `None` if there is no
/// such dtype.
fn narrowed(mut program: Program, at: usize, dtype: DType) -> Option<Program> {
    let narrow = if dtype.is_float() { narrower_float(dtype) } else { DType::I8 };
    if dtype == narrow || dtype == DType::U8 {
        return None;
    }
    let between = program.main.fresh("narrow");
    let cast = |from, to, dtype: DType| {
        Node::new("Cast", vec![Some(from)], vec![Some(to)]).with_int("to", code_of(dtype).into())
    };
    after(program, at, |value, result| vec![cast(value, between, narrow), cast(between, result, dtype)])
}

/// The dtype of the first output.
fn first_dtype(program: &Program) -> Option<DType> {
    let port = program.main.body.outputs.first()?;
    onnx::import::declared_dtype(&port.declared)
}

fn narrower_float(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::F32,
        _ => DType::BF16,
    }
}

fn constant(program: &mut Program, dtype: DType, shape: &[i64], number: i64) -> ValueId {
    let ty = Type::new(dtype, shape.to_vec());
    let tensor = if dtype.is_float() {
        Tensor::from_f64_fn(&ty, |_| number as f64)
    } else {
        Tensor::from_i128_fn(&ty, |_| number.into())
    };
    let mut initializers = std::mem::take(&mut program.main.body.initializers);
    let value = program.main.constant("bound", &tensor, &mut initializers);
    program.main.body.initializers = initializers;
    value
}

/// The program with nodes between a node's first result and the name that others read it by. If that result
/// is no tensor, the nodes come behind the last node of the program.
fn after(
    mut program: Program,
    at: usize,
    nodes: impl FnOnce(ValueId, ValueId) -> Vec<Node>,
) -> Option<Program> {
    let all = &program.main.body.nodes;
    let at = if schema::gives_tensor(all[at].rest.op_type(), 0) { at } else { all.len() - 1 };
    let result = *program.main.body.nodes[at].outputs.first()?.as_ref()?;
    let right = program.main.fresh("right");
    program.main.body.nodes[at].outputs[0] = Some(right);
    program.main.body.declared.retain(|said| said.value != Some(result));
    let nodes = nodes(right, result);
    program.main.body.nodes.splice((at + 1)..=at, nodes);
    Some(program)
}

/// The program in which the first operand of a node goes through an operator whose other operand is `other`.
/// `None` if the operand is of another kind.
fn before(
    mut program: Program,
    at: usize,
    kind: DatumKind,
    op_type: &str,
    other: ValueId,
) -> Option<Program> {
    let nodes = &program.main.body.nodes;
    let operand = (*nodes[at].inputs.first()?)?;
    let maker = nodes.iter().find(|node| node.outputs.contains(&Some(operand)));
    let is_sequence = maker.is_some_and(|node| !schema::gives_tensor(node.rest.op_type(), 0));
    if is_sequence != (kind == DatumKind::Sequence) {
        return None;
    }
    let read = program.main.fresh("read");
    let nodes = &mut program.main.body.nodes;
    nodes[at].inputs[0] = Some(read);
    nodes.insert(at, Node::new(op_type, vec![Some(operand), Some(other)], vec![Some(read)]));
    Some(program)
}

/// The program whose result goes through an operator, of which these are the other operands.
fn through(program: Program, at: usize, op_type: &str, others: &[ValueId]) -> Option<Program> {
    after(program, at, |value, result| {
        let operands = std::iter::once(value).chain(others.iter().copied()).map(Some);
        vec![Node::new(op_type, operands.collect(), vec![Some(result)])]
    })
}

/// The faults of an operator, each with the case after which the reference finds it, of so many with the operator
/// alone; `None` if it does not.
pub fn found_after(operator: &Composite, seed: u64, cases: u64) -> Result<Vec<(WrongOperator, Option<u64>)>> {
    let each = [(operator.name, operator.dtypes)].into();
    let composites = Composites { share: 1.0, each };
    let maker = Maker::new(seed, Settings { operators: BTreeSet::new(), composites, ..Settings::default() });
    let faults: Vec<_> = all().filter(|fault| fault.operator.name == operator.name).collect();
    let found = first_found(&maker, cases, &faults)?;
    Ok(faults.into_iter().zip(found).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many cases a fault may take.
    const CASES: u64 = 300;

    #[test]
    fn every_operator_has_faults_and_each_is_found() {
        let mut missed = Vec::new();
        for composite in forms::composite::all() {
            let faults = found_after(composite, 1, CASES).expect("a target");
            assert!(faults.len() >= 2, "{} has {} faults", composite.name, faults.len());
            let is_missed = faults.iter().filter(|(_, after)| after.is_none());
            missed.extend(is_missed.map(|(fault, _)| format!("{}: {:?}", composite.name, fault.mistake)));
        }
        assert!(missed.is_empty(), "not found: {}", missed.join(", "));
    }
}
