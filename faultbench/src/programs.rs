//! Faults in how an engine reads programs: for each form of them at least one.
//!
//! Each makes another program of the one that an engine gets, and the right kernels run that. A model that is written as it is
//! shows none of them, but for those in coincidences, which may be drawn too.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use graphgen::{Forms, Settings};
use harness::Maker;
use ir::Tensor;
use onnx::external::External;
use onnx::program::{Attribute, Node, Program, ValueId};
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::tensor_shape_proto::dimension;
use onnx::proto::type_proto;

use crate::found::{Refused, Rewriting, first_found};

/// A fault in how programs are read.
pub struct WrongProgram {
    /// The form that shows it.
    pub form: &'static str,
    /// What it does.
    pub does: &'static str,
    /// What it makes of a program; `None` where it finds nothing to make of it.
    of: fn(&Program) -> Option<Program>,
}

/// Faults for each form.
pub const FAULTS: &[WrongProgram] = &[
    WrongProgram {
        form: "spelled parameter",
        does: "an end of INT64_MAX is read as a 32-bit number: -1",
        of: shortened_ends,
    },
    WrongProgram {
        form: "spelled parameter",
        does: "the parts of a Split by count come in the opposite order",
        of: parts_backwards,
    },
    WrongProgram {
        form: "computed parameter",
        does: "the numbers of a parameter that is computed come in the opposite order",
        of: reversed_numbers,
    },
    WrongProgram {
        form: "made constant",
        does: "two constants that are put one behind the other are folded in the opposite order",
        of: reversed_parts,
    },
    WrongProgram {
        form: "shared constant",
        does: "a constant that two operators have as parameters is gone after the first",
        of: consumed_parameters,
    },
    WrongProgram {
        form: "node twice",
        does: "of two nodes that are equal, the second is left out, and its users get the first operand",
        of: merged_nodes,
    },
    WrongProgram {
        form: "If",
        does: "a branch whose condition is computed takes its else_branch",
        of: contrary,
    },
    WrongProgram { form: "Loop", does: "the number of an iteration counts from 1", of: counted_from_one },
    WrongProgram { form: "Scan", does: "slices that come in backwards come in forwards", of: forwards },
    WrongProgram {
        form: "function",
        does: "all calls of a function get the attributes of the first one",
        of: first_attributes,
    },
    WrongProgram { form: "Constant node", does: "a value_float is read as 0", of: zero_float },
    WrongProgram {
        form: "constant input",
        does: "a parameter that comes in is read before it is there: as zeros",
        of: zero_parameters,
    },
    WrongProgram { form: "default", does: "the default of an input is zeros", of: zero_defaults },
    WrongProgram {
        form: "overridden default",
        does: "the default of an input is folded, whatever value comes in",
        of: defaults_alone,
    },
    WrongProgram {
        form: "sizes",
        does: "an axis with a name is a batch, of which the first is computed",
        of: first_only,
    },
    WrongProgram {
        form: "value_info",
        does: "an elementwise function of whose result nothing is said is left out",
        of: unsaid_function,
    },
    WrongProgram {
        form: "former opset",
        does: "axes that are an attribute are not read: all are meant",
        of: all_axes,
    },
    WrongProgram {
        form: "former opset",
        does: "Softmax is taken over the last axis alone, as in opset 13",
        of: last_axis,
    },
    WrongProgram {
        form: "tensor fields",
        does: "the bits of narrow floats in int32_data are read as numbers",
        of: bits_as_numbers,
    },
    WrongProgram {
        form: "sparse initializer",
        does: "the values of a sparse initializer come one behind the other, wherever their places are",
        of: side_by_side,
    },
    WrongProgram {
        form: "names",
        does: "names are cut before their last slash, and of values of one name the first is read",
        of: cut_names,
    },
];

impl Rewriting for WrongProgram {
    fn refused(&self) -> Refused {
        if self.form == REFUSED { Refused::Found } else { Refused::Skipped }
    }

    fn wrong(&self, program: &Program) -> Option<Program> {
        (self.of)(program)
    }
}

/// Of each fault the case after which the reference finds it, of so many; `None` if it does not.
pub fn found_after(seed: u64, cases: u64) -> Result<Vec<Option<u64>>> {
    let forms = Forms { each: forms::usual(), ..Forms::default() };
    let maker = Maker::new(seed, Settings { forms, max_elements: 64, ..Settings::default() });
    first_found(&maker, cases, FAULTS)
}

/// The form whose fault gives two values one name: an implementation that reads the one for the other finds types that do not go
/// together, and refuses the model.
const REFUSED: &str = "names";

/// The tensor of an initializer.
fn tensor(program: &Program, value: ValueId) -> Option<Tensor> {
    let initializer = program.main.body.initializers.iter().find(|i| i.value == value)?;
    onnx::tensor::from_proto(&initializer.tensor, External::Refuse).ok()
}

/// The program with other initializers, where one changes.
fn with_tensors(program: &Program, other: impl Fn(ValueId, &Tensor) -> Option<Tensor>) -> Option<Program> {
    let mut wrong = program.clone();
    let mut is_new = false;
    for initializer in &mut wrong.main.body.initializers {
        let Some(old) = tensor(program, initializer.value) else { continue };
        if let Some(new) = other(initializer.value, &old).filter(|new| *new != old) {
            let proto = onnx::tensor::to_proto("", &new);
            initializer.tensor = onnx::proto::TensorProto { name: None, ..proto };
            is_new = true;
        }
    }
    is_new.then_some(wrong)
}

fn shortened_ends(program: &Program) -> Option<Program> {
    let slices = program.main.body.nodes.iter().filter(|node| node.rest.op_type() == "Slice");
    let ends: BTreeSet<ValueId> = slices.filter_map(|node| node.inputs.get(2).copied().flatten()).collect();
    with_tensors(program, |value, old| {
        let numbers = old.to_i128s();
        let is_wide = ends.contains(&value) && numbers.contains(&i128::from(i64::MAX));
        is_wide.then(|| Tensor::from_i128_fn(&old.ty(), |i| i128::from(numbers[i] as i64 as i32)))
    })
}

fn parts_backwards(program: &Program) -> Option<Program> {
    with_node(program, &mut |node| {
        let is_counted = node.attributes.iter().any(|attribute| attribute.rest.name() == "num_outputs");
        if is_counted {
            node.outputs.reverse();
        }
        is_counted && node.outputs.len() > 1
    })
}

fn bits_as_numbers(program: &Program) -> Option<Program> {
    let initializers = &program.main.body.initializers;
    let stored: BTreeMap<ValueId, &[i32]> =
        initializers.iter().map(|i| (i.value, &i.tensor.int32_data[..])).collect();
    with_tensors(program, |value, old| {
        let bits = stored.get(&value).filter(|bits| !bits.is_empty())?;
        let is_narrow = matches!(old.dtype(), ir::DType::F16 | ir::DType::BF16);
        is_narrow.then(|| Tensor::from_f64_fn(&old.ty(), |i| f64::from(bits[i])))
    })
}

fn all_axes(program: &Program) -> Option<Program> {
    let is_former = program.has_former_opset();
    with_node(program, &mut |node| {
        let before = node.attributes.len();
        if is_former && node.rest.op_type().starts_with("Reduce") {
            node.attributes.retain(|attribute| attribute.rest.name() != "axes");
        }
        node.attributes.len() < before
    })
}

fn last_axis(program: &Program) -> Option<Program> {
    const ALL_FROM_ONE_ON: [&str; 3] = ["Hardmax", "LogSoftmax", "Softmax"];
    let is_former = program.has_former_opset();
    with_node(program, &mut |node| {
        let is_it = is_former && ALL_FROM_ONE_ON.contains(&node.rest.op_type());
        if is_it {
            node.attributes.clear();
            *node = std::mem::replace(node, Node::new("", Vec::new(), Vec::new())).with_int("axis", -1);
        }
        is_it
    })
}

fn side_by_side(program: &Program) -> Option<Program> {
    let mut model = program.write();
    for sparse in &mut model.graph.as_mut()?.sparse_initializer {
        let count = sparse.values.as_ref()?.dims.first().copied()?;
        let places = Tensor::from_i128_fn(&ir::Type::new(ir::DType::I64, [count]), |i| i as i128);
        sparse.indices = Some(onnx::tensor::to_proto("", &places));
    }
    Program::read(model).ok().filter(|wrong| wrong != program)
}

fn cut_names(program: &Program) -> Option<Program> {
    let mut first: BTreeMap<&str, ValueId> = BTreeMap::new();
    let mut wrong = program.clone();
    let mut is_new = false;
    let cut = |value: ValueId| program.main.name(value).rsplit_once('/').map(|(_, last)| last);
    for (node, read) in program.main.body.nodes.iter().zip(&mut wrong.main.body.nodes) {
        for operand in read.inputs.iter_mut().flatten() {
            let there = cut(*operand).and_then(|name| first.get(name));
            if let Some(&there) = there.filter(|&there| there != operand) {
                *operand = there;
                is_new = true;
            }
        }
        for &value in node.outputs.iter().flatten() {
            if let Some(name) = cut(value) {
                first.entry(name).or_insert(value);
            }
        }
    }
    is_new.then_some(wrong)
}

/// The first node of the main graph, or of a body in it, that a change is made to.
fn with_node(program: &Program, change: &mut dyn FnMut(&mut Node) -> bool) -> Option<Program> {
    fn any(nodes: &mut [Node], change: &mut dyn FnMut(&mut Node) -> bool) -> bool {
        nodes.iter_mut().any(|node| {
            change(node)
                || node
                    .attributes
                    .iter_mut()
                    .filter_map(|a| a.body.as_mut())
                    .any(|b| any(&mut b.nodes, change))
        })
    }
    let mut wrong = program.clone();
    any(&mut wrong.main.body.nodes, change).then_some(wrong)
}

fn reversed_numbers(program: &Program) -> Option<Program> {
    let open: BTreeSet<ValueId> = program.open_parameters().into_iter().map(|(.., value)| value).collect();
    with_node(program, &mut |node| {
        let is_it = node.rest.op_type() == "Concat"
            && node.inputs.len() > 1
            && node.outputs.iter().flatten().any(|value| open.contains(value));
        if is_it {
            node.inputs.reverse();
        }
        is_it
    })
}

fn reversed_parts(program: &Program) -> Option<Program> {
    with_node(program, &mut |node| {
        let is_it = node.rest.op_type() == "Concat"
            && node.inputs.len() > 1
            && node.inputs.iter().all(|part| part.is_some_and(|part| tensor(program, part).is_some()));
        if is_it {
            node.inputs.reverse();
        }
        is_it
    })
}

fn consumed_parameters(program: &Program) -> Option<Program> {
    let body = &program.main.body;
    let is_list = |value: ValueId| {
        tensor(program, value).is_some_and(|t| t.dtype() == ir::DType::I64 && t.shape().len() == 1)
    };
    let mut seen = BTreeSet::new();
    for (at, node) in body.nodes.iter().enumerate() {
        for (slot, value) in node.inputs.iter().enumerate().skip(1) {
            let Some(value) = value.filter(|&value| is_list(value)) else { continue };
            if !seen.insert(value) {
                let gone = Tensor::zeros(&tensor(program, value)?.ty());
                return program.with_constants(&[(at, slot, gone)]);
            }
        }
    }
    None
}

fn merged_nodes(program: &Program) -> Option<Program> {
    let nodes = &program.main.body.nodes;
    for (at, node) in nodes.iter().enumerate() {
        let is_same = |other: &Node| {
            (other.rest.op_type(), &other.inputs, &other.attributes)
                == (node.rest.op_type(), &node.inputs, &node.attributes)
        };
        if nodes[..at].iter().any(is_same)
            && let Some(wrong) = program.without_node(&Vec::new(), at, 0)
        {
            return Some(wrong);
        }
    }
    None
}

fn contrary(program: &Program) -> Option<Program> {
    let body = &program.main.body;
    let is_known = |value: ValueId| body.initializers.iter().any(|i| i.value == value);
    let at = body.nodes.iter().position(|node| {
        node.rest.op_type() == "If" && node.inputs[0].is_some_and(|condition| !is_known(condition))
    })?;
    program.with_side(&Vec::new(), at, "else_branch")
}

fn counted_from_one(program: &Program) -> Option<Program> {
    let mut wrong = program.clone();
    let mut initializers = Vec::new();
    let one = Tensor::from_i128_fn(&ir::Type::new(ir::DType::I64, []), |_| 1);
    let one = wrong.main.constant("one", &one, &mut initializers);
    let more = wrong.main.fresh("more");
    wrong.main.body.initializers.extend(initializers);
    let node = wrong.main.body.nodes.iter_mut().find(|node| node.rest.op_type() == "Loop")?;
    let body = node.attributes.iter_mut().find_map(|attribute| attribute.body.as_mut())?;
    let number = body.inputs.first()?.value;
    for inner in &mut body.nodes {
        inner.inputs.iter_mut().filter(|operand| **operand == Some(number)).for_each(|v| *v = Some(more));
    }
    body.nodes.insert(0, Node::new("Add", vec![Some(number), Some(one)], vec![Some(more)]));
    Some(wrong)
}

fn forwards(program: &Program) -> Option<Program> {
    with_node(program, &mut |node| {
        let before = node.attributes.len();
        node.attributes.retain(|attribute| attribute.rest.name() != "scan_input_directions");
        node.attributes.len() < before
    })
}

fn first_attributes(program: &Program) -> Option<Program> {
    let mut wrong = program.clone();
    let names: Vec<_> = program.functions.iter().map(|f| (f.rest.domain(), f.rest.name())).collect();
    let mut first: BTreeMap<(String, String), Vec<Attribute>> = BTreeMap::new();
    let mut is_wrong = false;
    for node in &mut wrong.main.body.nodes {
        if names.contains(&(node.rest.domain(), node.rest.op_type())) {
            let called = (node.rest.domain().to_owned(), node.rest.op_type().to_owned());
            let attributes = first.entry(called).or_insert_with(|| node.attributes.clone());
            is_wrong |= node.attributes != *attributes;
            node.attributes.clone_from(attributes);
        }
    }
    is_wrong.then_some(wrong)
}

fn zero_float(program: &Program) -> Option<Program> {
    with_node(program, &mut |node| {
        let attribute = node
            .attributes
            .iter_mut()
            .find(|a| a.rest.name() == "value_float" && a.rest.r#type == Some(AttributeType::Float as i32));
        attribute.is_some_and(|attribute| attribute.rest.f.replace(0.0) != Some(0.0))
    })
}

fn zero_parameters(program: &Program) -> Option<Program> {
    let inputs: BTreeSet<ValueId> = program.main.body.inputs.iter().map(|port| port.value).collect();
    let types = onnx::import::inputs(program).ok()?;
    let open = program.open_parameters().into_iter().filter(|(.., value)| inputs.contains(value));
    let zeros = open.filter_map(|(at, slot, value)| {
        let said = types.iter().find(|input| input.name == program.main.name(value))?;
        let ty = said.with(&std::collections::BTreeMap::new())?;
        Some((at, slot, Tensor::zeros(&ty)))
    });
    let zeros: Vec<_> = zeros.collect();
    if zeros.is_empty() { None } else { program.with_constants(&zeros) }
}

fn zero_defaults(program: &Program) -> Option<Program> {
    let inputs: BTreeSet<ValueId> = program.main.body.inputs.iter().map(|port| port.value).collect();
    with_tensors(program, |value, old| inputs.contains(&value).then(|| Tensor::zeros(&old.ty())))
}

/// Nodes read the defaults, as constants, and none the inputs that have them.
fn defaults_alone(program: &Program) -> Option<Program> {
    fn read(nodes: &mut [Node], old: ValueId, new: ValueId) {
        for node in nodes {
            node.inputs
                .iter_mut()
                .filter(|operand| **operand == Some(old))
                .for_each(|there| *there = Some(new));
            let bodies = node.attributes.iter_mut().filter_map(|attribute| attribute.body.as_mut());
            bodies.for_each(|body| read(&mut body.nodes, old, new));
        }
    }
    let mut wrong = program.clone();
    let inputs = program.main.body.inputs.iter();
    let defaults: Vec<ValueId> = inputs.map(|p| p.value).filter(|&v| tensor(program, v).is_some()).collect();
    for &value in &defaults {
        let folded = wrong.main.fresh("folded");
        let body = &mut wrong.main.body;
        body.initializers.iter_mut().filter(|i| i.value == value).for_each(|default| default.value = folded);
        read(&mut body.nodes, value, folded);
    }
    (!defaults.is_empty()).then_some(wrong)
}

fn first_only(program: &Program) -> Option<Program> {
    let mut wrong = program.clone();
    let named = wrong.main.body.inputs.iter().find(|port| {
        let Some(type_proto::Value::TensorType(ty)) =
            port.declared.r#type.as_ref().and_then(|t| t.value.as_ref())
        else {
            return false;
        };
        let first = ty.shape.as_ref().and_then(|shape| shape.dim.first()).and_then(|dim| dim.value.as_ref());
        matches!(first, Some(dimension::Value::DimParam(_)))
    })?;
    let all = named.value;
    let first = wrong.main.fresh("first");
    for node in &mut wrong.main.body.nodes {
        node.inputs
            .iter_mut()
            .filter(|operand| **operand == Some(all))
            .for_each(|operand| *operand = Some(first));
    }
    let list = |i: i128| Tensor::from_i128_fn(&ir::Type::new(ir::DType::I64, [1]), |_| i);
    let mut initializers = Vec::new();
    let [zero, one] = [0, 1].map(|i| wrong.main.constant("bound", &list(i), &mut initializers));
    let body = &mut wrong.main.body;
    body.initializers.extend(initializers);
    body.nodes.insert(0, Node::new("Slice", [all, zero, one, zero].map(Some).to_vec(), vec![Some(first)]));
    Some(wrong)
}

fn unsaid_function(program: &Program) -> Option<Program> {
    const FUNCTIONS: [&str; 8] = ["Abs", "Neg", "Exp", "Relu", "Sigmoid", "Tanh", "Floor", "Sqrt"];
    let unsaid = program.undeclared();
    with_node(program, &mut |node| {
        let is_unsaid = node.outputs.iter().flatten().any(|value| unsaid.contains(value));
        let is_it = is_unsaid && FUNCTIONS.contains(&node.rest.op_type());
        if is_it {
            node.rest.op_type = Some("Identity".to_owned());
            node.attributes.clear();
        }
        is_it
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_a_fault_and_it_is_found() {
        let faults: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.form).collect();
        assert_eq!(faults, forms::FORMS.iter().map(|form| form.name).collect());
        for (fault, after) in FAULTS.iter().zip(found_after(1, 5000).unwrap()) {
            println!("{}: {}: {after:?}", fault.form, fault.does);
            assert!(after.is_some(), "{}: {} is not found", fault.form, fault.does);
        }
    }

    #[test]
    fn what_is_written_as_it_is_does_not_show_a_fault_of_a_form() {
        // A node that is drawn twice has its parameters from the same constant.
        let coincidences = ["made constant", "node twice", "shared constant"];
        let maker = Maker::new(1, Settings { max_elements: 64, ..Settings::default() });
        for index in 0..60 {
            let case = maker.make(index).unwrap();
            let program = harness::case::program(&case.onnx).unwrap();
            for fault in FAULTS.iter().filter(|fault| !coincidences.contains(&fault.form)) {
                assert!((fault.of)(&program).is_none(), "{} on case {index}", fault.form);
            }
        }
    }
}
