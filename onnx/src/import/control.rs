//! If, Loop and Scan: the way that the values lead is written out.

mod batched;

use ir::{Attributes, DType, Tensor, Type, Value};

use super::declared::Declared;
use super::frame::Bound;
use super::given::GivenAttributes;
use super::origin::Inside;
use super::terms::{axis_of, bounded};
use super::translation::{
    Read, SourceNode, Translation, apply, bind, body, flag, given, if_given, number, stack, tensor, times,
};
use super::walk::Walk;
use crate::Error;
use crate::program::{Body, Node, Port};

/// The function that writes out an operator of this name, if it branches or loops.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "If" => Some(branch),
        "Loop" => Some(repeat),
        "Scan" => Some(scan),
        _ => None,
    }
}

/// If: the side that the condition takes.
fn branch<'p>(walk: &mut Walk<'p, '_>, &SourceNode { node, .. }: &SourceNode<'p, '_>) -> Result<(), Error> {
    let Read { is: condition, from } = flag(walk, super::translation::need(node, 0)?)?;
    let (taken, other) = (body(node, "then_branch")?, body(node, "else_branch")?);
    let (taken, other) = if condition { (taken, other) } else { (other, taken) };
    if taken.outputs.len() != other.outputs.len() {
        return Err(Error::invalid("branches", "they give different numbers of values"));
    }
    let results = walk.inside(Inside::Branch(condition), taken, Vec::new())?;
    for (result, port) in results.iter().zip(&other.outputs) {
        check_side(walk, port, result)?;
    }
    let results = results.into_iter().map(|result| given(walk, result, from.as_slice()));
    let results = results.collect::<Result<_, _>>()?;
    bind(walk, node, results)
}

/// Requires that the side that is not taken declares the same for an output as the other one gives: "The return values
/// in the then_branch and else_branch must be of the same data type", and may have different shapes.
fn check_side(walk: &Walk<'_, '_>, port: &Port, given: &Bound) -> Result<(), Error> {
    let declared = Declared::read(walk.frame.scope.name(port.value), &port.declared)?;
    let checked = walk.check_is(&declared.of_any_shape(), port.value, given);
    checked.map_err(|e| e.inside("the side that is not taken"))
}

/// Loop: its body once for each iteration, the values that go around and those that pile up.
fn repeat<'p>(walk: &mut Walk<'p, '_>, &SourceNode { node, .. }: &SourceNode<'p, '_>) -> Result<(), Error> {
    let body = body(node, "body")?;
    let most = if_given(walk, node, 0).map(|id| times(walk, id)).transpose()?;
    let condition = if_given(walk, node, 1).map(|id| flag(walk, id)).transpose()?;
    let initial = node.inputs.iter().skip(2).enumerate().map(|(i, id)| {
        let id = id.ok_or_else(|| Error::invalid(format!("operand {}", i + 2), "it must be there"))?;
        walk.frame.get(id).cloned()
    });
    let carried: Vec<Bound> = initial.collect::<Result<_, _>>()?;
    let piled = body.outputs.len().checked_sub(1 + carried.len());
    let Some(piled) = piled.filter(|_| body.inputs.len() == 2 + carried.len()) else {
        let why = format!(
            "with {} values that go around it has {} inputs and {} outputs",
            carried.len(),
            body.inputs.len(),
            body.outputs.len()
        );
        return Err(Error::invalid("attribute `body`", why));
    };
    let loops = Loops { node, body, most, condition, piles: vec![Vec::new(); piled] };
    let results = loops.run(walk, &carried)?;
    bind(walk, node, results)
}

/// A Loop that is written out.
struct Loops<'p> {
    node: &'p Node,
    body: &'p Body,
    most: Option<Read<i64>>,
    condition: Option<Read<bool>>,
    /// What each iteration adds to the outputs that pile up.
    piles: Vec<Vec<Value>>,
}

impl<'p> Loops<'p> {
    fn run(mut self, walk: &mut Walk<'p, '_>, initial: &[Bound]) -> Result<Vec<Bound>, Error> {
        let decisions = [self.most.and_then(|m| m.from), self.condition.and_then(|c| c.from)];
        let mut decisions: Vec<Value> = decisions.into_iter().flatten().collect();
        let mut goes_on = self.condition.is_none_or(|c| c.is);
        let (mut carried, mut iteration) = (initial.to_vec(), 0);
        while goes_on && self.most.is_none_or(|m| i64::try_from(iteration).is_ok_and(|i| i < m.is)) {
            walk.iterate(|| self.so_far(iteration))?;
            if iteration > 0 && self.condition.is_none() {
                let from = self.still_holds(walk)?;
                decisions.extend(from.filter(|from| !decisions.contains(from)));
            }
            let arguments = self.arguments(walk, iteration, carried)?;
            let mut results = walk.inside(Inside::Iteration(iteration), self.body, arguments)?.into_iter();
            let next = results.next();
            carried = results.by_ref().take(initial.len()).collect();
            check_around(walk, Stays::DType, initial, &carried)?;
            self.pile(walk, results)?;
            iteration += 1;
            // Where no condition comes in, what the body says of going on is ignored.
            if self.condition.is_some() && next.is_some() {
                let read = flag(walk, self.body.outputs[0].value)?;
                goes_on = read.is;
                decisions.extend(read.from.filter(|from| !decisions.contains(from)));
            }
            walk.check_size(|| self.so_far(iteration))?;
        }
        if iteration == 0 {
            self.check_begin(walk, initial)?;
        }
        let piles = self.piled(walk, initial)?;
        let results = carried.into_iter().chain(piles);
        results.map(|result| given(walk, result, &decisions)).collect()
    }

    /// Requires, where no condition comes in and the body reads the one that it is given, that its last one is true.
    /// ONNX ignores that one for going on, and does not say whether it is what the next iteration is given. Gives the
    /// value that it was read from.
    fn still_holds(&self, walk: &mut Walk<'p, '_>) -> Result<Option<Value>, Error> {
        if !walk.frame.is_used(self.body.inputs[1].value) {
            return Ok(None);
        }
        let read = flag(walk, self.body.outputs[0].value)?;
        if read.is {
            return Ok(read.from);
        }
        let why = "its body reads the condition and has given a false one, and without an operand for it ONNX \
                   does not say whether the next iteration is given that";
        Err(Error::unsupported("operand 1", why))
    }

    /// The iteration's number, the condition, and what goes around.
    fn arguments(
        &self,
        walk: &mut Walk<'p, '_>,
        iteration: usize,
        carried: Vec<Bound>,
    ) -> Result<Vec<Bound>, Error> {
        let [count, condition] = [0, 1].map(|i| self.body.inputs[i].value);
        let truth = |_| 1;
        // Nodes only where they are read: most loops count without looking at the number.
        let count = if walk.frame.is_used(count) {
            Bound::Tensor(number(walk, iteration as i64)?)
        } else {
            Bound::Static(Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| iteration as i128).into())
        };
        let truth = Tensor::from_i128_fn(&Type::new(DType::Bool, []), truth).into();
        let condition = if walk.frame.is_used(condition) {
            Bound::Tensor(walk.push_constant(truth, None)?)
        } else {
            Bound::Static(truth)
        };
        Ok([count, condition].into_iter().chain(carried).collect())
    }

    /// Requires that what the body says it takes is what comes in, of a body that does not run.
    fn check_begin(&self, walk: &mut Walk<'p, '_>, initial: &[Bound]) -> Result<(), Error> {
        let mut around = self.body.inputs.iter().skip(2).zip(initial);
        around.try_for_each(|(port, bound)| walk.check(port, bound))
    }

    fn pile(&mut self, walk: &mut Walk<'p, '_>, items: impl Iterator<Item = Bound>) -> Result<(), Error> {
        let first = self.body.outputs.len() - self.piles.len();
        for ((pile, item), port) in self.piles.iter_mut().zip(items).zip(&self.body.outputs[first..]) {
            pile.push(piece(walk, item, port.value)?);
        }
        Ok(())
    }

    /// The outputs that pile up. Those of a loop without iterations are empty, and of the type that one would give.
    fn piled(&self, walk: &mut Walk<'p, '_>, initial: &[Bound]) -> Result<Vec<Bound>, Error> {
        if self.piles.iter().all(|pile| !pile.is_empty()) {
            let stacked = self.piles.iter().map(|pile| stack(walk, pile, 0, &[]).map(Bound::Tensor));
            return stacked.collect();
        }
        let first = self.body.outputs.len() - self.piles.len();
        let arguments = self.arguments(walk, 0, initial.to_vec())?;
        let types = walk.types_of(self.body, arguments)?.split_off(first);
        types.into_iter().map(|ty| empty(walk, ty, 0)).collect()
    }

    /// The loop and how far it is, for people.
    fn so_far(&self, iterations: usize) -> String {
        let of = self.most.map_or(String::new(), |m| format!(" of at most {}", m.is));
        format!("{} after {iterations} iterations{of}", self.node.called())
    }
}

/// The part of the type of a tensor that is the same in all iterations of a loop.
#[derive(Clone, Copy)]
enum Stays {
    /// The element type: a Loop's values may get other shapes.
    DType,
    /// The whole type: all outputs of a Scan's body, states among them, have one shape in all iterations, so that
    /// memory is reserved once.
    Type,
}

impl Stays {
    /// That part of a type, in words.
    fn of(self, ty: &Type) -> String {
        match self {
            Self::DType => format!("a tensor of {}", ty.dtype),
            Self::Type => format!("a tensor {ty}"),
        }
    }
}

/// Checks that each value that goes around a loop is of the same kind after an iteration as before. Of a tensor, the
/// part of the type that the node asks for ([`Stays`]) must be the same too.
fn check_around(walk: &Walk<'_, '_>, stays: Stays, initial: &[Bound], now: &[Bound]) -> Result<(), Error> {
    let said = |bound: &Bound| match walk.type_of(bound) {
        Some(ty) => Some(stays.of(&ty)),
        None => match bound {
            Bound::Sequence(_) => Some("a sequence".to_owned()),
            Bound::Strings(_) => Some("a tensor of strings".to_owned()),
            // An optional may hold something in one iteration and nothing in the next.
            _ => None,
        },
    };
    check_kept(initial.iter().map(said), now.iter().map(said))
}

/// Checks that values that go around are described alike before and after an iteration, where both have a description.
fn check_kept(
    before: impl Iterator<Item = Option<String>>,
    after: impl Iterator<Item = Option<String>>,
) -> Result<(), Error> {
    for (i, said) in before.zip(after).enumerate() {
        if let (Some(before), Some(after)) = said
            && before != after
        {
            return Err(Error::invalid(
                "attribute `body`",
                format!("value {i} that goes around is {before} and becomes {after}"),
            ));
        }
    }
    Ok(())
}

/// The tensor for one piece of an output that piles up. Fails if the piece is no tensor.
fn piece(walk: &mut Walk<'_, '_>, item: Bound, of: crate::program::ValueId) -> Result<Value, Error> {
    match item {
        Bound::Tensor(value) => Ok(value),
        Bound::Static(tensor) => walk.push_constant(tensor, None),
        bound => Err(walk.not_a_tensor(of, &bound)),
    }
}

/// No tensors of that type, one behind the other along a new axis.
fn empty(walk: &mut Walk<'_, '_>, ty: Option<Type>, axis: usize) -> Result<Bound, Error> {
    let Some(mut ty) = ty else { return Err(Error::invalid("outputs", "only tensors pile up")) };
    if axis > ty.rank() {
        return Err(Error::invalid("outputs", format!("{ty} has no axis {axis} more")));
    }
    ty.shape.insert(axis, 0);
    let ty = bounded(ty.dtype, &ty.shape)?;
    walk.push_constant(Tensor::zeros(&ty).into(), None).map(Bound::Tensor)
}

/// Scan: its body once for each slice of the operands that are scanned.
fn scan<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let node = source.node;
    if walk.context.declared < 9 {
        let results = batched::scan(walk, source)?;
        return bind(walk, node, results);
    }
    let scan = Scan::read(walk, source)?;
    let states = (0..scan.states).map(|i| walk.frame.get(super::translation::need(node, i)?).cloned());
    let initial: Vec<Bound> = states.collect::<Result<_, _>>()?;
    let results = scan.run(walk, &initial, 0)?;
    bind(walk, node, results)
}

/// A Scan that is written out.
struct Scan<'p> {
    node: &'p Node,
    body: &'p Body,
    /// What goes around.
    states: usize,
    inputs: Vec<Scanned>,
    /// For each output that piles up its axis and whether pieces come before the others.
    outputs: Vec<(i64, bool)>,
}

/// An operand that is scanned.
struct Scanned {
    value: Value,
    axis: i64,
    is_reversed: bool,
    extent: i64,
}

impl<'p> Scan<'p> {
    fn read(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<Self, Error> {
        let node = source.node;
        let body = body(node, "body")?;
        let given = GivenAttributes::of(source);
        given.ignore("body");
        let scanned = usize::try_from(given.int("num_scan_inputs", 0)).ok();
        let Some(scanned) = scanned.filter(|&n| (1..=node.inputs.len()).contains(&n)) else {
            return Err(Error::invalid("attribute `num_scan_inputs`", "it is no number of operands"));
        };
        let states = node.inputs.len() - scanned;
        let piled = body.outputs.len().checked_sub(states);
        let Some(piled) = piled.filter(|_| body.inputs.len() == node.inputs.len()) else {
            return Err(Error::invalid(
                "attribute `body`",
                "it has other inputs or outputs than the operands",
            ));
        };
        let axes = given.each("scan_input_axes", scanned)?;
        let directions = given.each("scan_input_directions", scanned)?;
        let mut inputs = Vec::with_capacity(scanned);
        for (i, (&axis, &direction)) in axes.iter().zip(&directions).enumerate() {
            let value = tensor(walk, node, states + i)?;
            let ty = walk.graph.ty(value);
            let at = axis_of("attribute `scan_input_axes`", axis, ty.rank())?;
            let (axis, extent) = (at as i64, ty.shape[at]);
            inputs.push(Scanned { value, axis, is_reversed: direction != 0, extent });
        }
        let axes = given.each("scan_output_axes", piled)?;
        let directions = given.each("scan_output_directions", piled)?;
        given.finish()?;
        let outputs = axes.into_iter().zip(directions.into_iter().map(|d| d != 0)).collect();
        Ok(Self { node, body, states, inputs, outputs })
    }

    /// What is there in the end, and what has piled up. Iterations are counted from the first number on.
    fn run(&self, walk: &mut Walk<'p, '_>, initial: &[Bound], first: usize) -> Result<Vec<Bound>, Error> {
        let length = self.inputs[0].extent;
        if self.inputs.iter().any(|input| input.extent != length) {
            return Err(Error::invalid("operands", "those that are scanned have different lengths"));
        }
        let (mut carried, mut piles) = (initial.to_vec(), vec![Vec::new(); self.outputs.len()]);
        let so_far = |slices: i64| format!("{} after {slices} of {length} slices", self.node.called());
        for step in 0..length {
            walk.iterate(|| so_far(step))?;
            let mut arguments = carried;
            arguments.extend(self.slices(walk, step)?);
            let mut results =
                walk.inside(Inside::Iteration(first + step as usize), self.body, arguments)?.into_iter();
            carried = results.by_ref().take(self.states).collect();
            check_around(walk, Stays::Type, initial, &carried)?;
            for ((pile, item), port) in piles.iter_mut().zip(results).zip(&self.body.outputs[self.states..]) {
                pile.push(piece(walk, item, port.value)?);
            }
            walk.check_size(|| so_far(step + 1))?;
        }
        let piles = if length == 0 { self.none(walk, initial.to_vec())? } else { self.stacked(walk, piles)? };
        Ok(carried.into_iter().chain(piles).collect())
    }

    fn slices(&self, walk: &mut Walk<'p, '_>, step: i64) -> Result<Vec<Bound>, Error> {
        let mut slices = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            let at = if input.is_reversed { input.extent - 1 - step } else { step };
            let at = number(walk, at)?;
            let axis = Attributes::new().int("axis", input.axis);
            slices.push(Bound::Tensor(apply(walk, "Gather", &axis, &[input.value, at], &[])?[0]));
        }
        Ok(slices)
    }

    fn stacked(&self, walk: &mut Walk<'p, '_>, piles: Vec<Vec<Value>>) -> Result<Vec<Bound>, Error> {
        let mut stacked = Vec::with_capacity(piles.len());
        for (mut pile, &(axis, is_reversed)) in piles.into_iter().zip(&self.outputs) {
            if is_reversed {
                pile.reverse();
            }
            let rank = walk.graph.ty(pile[0]).rank() + 1;
            let axis = axis_of("attribute `scan_output_axes`", axis, rank)?;
            stacked.push(Bound::Tensor(stack(walk, &pile, axis as i64, &[])?));
        }
        Ok(stacked)
    }

    /// What piles up without any slice. What a slice would look like is known, but there is none to look at.
    fn none(&self, walk: &mut Walk<'p, '_>, initial: Vec<Bound>) -> Result<Vec<Bound>, Error> {
        let stays = |ty: Option<Type>| ty.map(|ty| Stays::Type.of(&ty));
        let before: Vec<_> = initial.iter().map(|bound| stays(walk.type_of(bound))).collect();
        let mut arguments = initial;
        for input in &self.inputs {
            let mut ty = walk.graph.ty(input.value).clone();
            ty.shape.remove(input.axis as usize);
            let ty = bounded(ty.dtype, &ty.shape)?;
            arguments.push(Bound::Static(Tensor::zeros(&ty).into()));
        }
        let mut states = walk.types_of(self.body, arguments)?;
        let piled = states.split_off(self.states);
        check_kept(before.into_iter(), states.into_iter().map(stays))?;
        let mut piles = Vec::with_capacity(piled.len());
        for (ty, &(axis, _)) in piled.into_iter().zip(&self.outputs) {
            let rank = ty.as_ref().map_or(0, Type::rank) + 1;
            let axis = axis_of("attribute `scan_output_axes`", axis, rank)?;
            piles.push(empty(walk, ty, axis)?);
        }
        Ok(piles)
    }
}
