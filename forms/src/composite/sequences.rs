//! Sequences and optionals: each with what makes the sequence that it reads, and takes a tensor out of the one that it makes.

use ir::{DType, DTypes, DatumKind, Type};
use onnx::export::open_type;
use onnx::proto::{GraphProto, NodeProto, ValueInfoProto};

use super::Composite;
use super::piece::{Link, Piece};

/// What sequences are of here. They may be of more.
const ITEMS: DTypes = DTypes::of(&[
    DType::Bool,
    DType::I8,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::F16,
    DType::F32,
    DType::F64,
]);

pub(super) const ALL: &[Composite] = &[
    Composite::new("SequenceConstruct", 13, ITEMS, sequence_construct),
    Composite::new("SequenceEmpty", 13, ITEMS, sequence_empty),
    Composite::new("SequenceInsert", 13, ITEMS, sequence_insert),
    Composite::new("SequenceErase", 13, ITEMS, sequence_erase),
    Composite::new("SequenceAt", 13, ITEMS, sequence_at),
    Composite::new("SequenceLength", 13, ITEMS, sequence_length),
    Composite::new("SequenceMap", 17, ITEMS, sequence_map),
    Composite::new("ConcatFromSequence", 13, ITEMS, concat_from_sequence),
    Composite::new("SplitToSequence", 13, ITEMS, split_to_sequence),
    Composite::new("Optional", 15, ITEMS, optional),
    Composite::new("OptionalGetElement", 15, ITEMS, optional),
    Composite::new("OptionalHasElement", 15, ITEMS, optional_has_element),
];

/// A sequence under way.
struct Sequence {
    link: Link,
    length: i64,
}

/// The shapes of the next tensors of a sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shapes {
    /// One for all.
    Same,
    /// Each its own.
    Any,
}

/// A sequence of tensors that are there or new.
fn construct(p: &mut Piece<'_>, dtype: DType, shapes: Shapes) -> Sequence {
    construct_typed(p, dtype, shapes).0
}

/// The same with their types.
fn construct_typed(p: &mut Piece<'_>, dtype: DType, shapes: Shapes) -> (Sequence, Vec<Type>) {
    let length = p.size(1..=4);
    let (mut items, mut types) = (Vec::new(), Vec::<Type>::new());
    for _ in 0..length {
        let ty = match types.first() {
            Some(first) if shapes == Shapes::Same || p.chance(0.5) => p.of(dtype, &first.shape.clone()),
            _ => p.any(dtype, 1..=3),
        };
        types.push(ty);
        items.push(p.last());
    }
    (Sequence { link: p.step("SequenceConstruct", &items), length }, types)
}

/// A sequence of tensors of these types.
fn construct_of(p: &mut Piece<'_>, types: &[Type]) -> Link {
    let mut items = Vec::new();
    for ty in types {
        p.of(ty.dtype, &ty.shape);
        items.push(p.last());
    }
    p.step("SequenceConstruct", &items)
}

/// A place in a sequence, counted from either end. If `is_behind_too`, it may be the place behind the last
/// one.
fn position(p: &mut Piece<'_>, length: i64, is_behind_too: bool) -> Option<Link> {
    let last = if is_behind_too { length } else { length - 1 };
    let place = p.size(-length..=last);
    let dtype = p.choose(&[DType::I64, DType::I32])?;
    p.integers(dtype, &[], &[place]);
    Some(p.last())
}

/// A tensor of a sequence.
fn taken(p: &mut Piece<'_>, sequence: &Sequence) -> Option<()> {
    let place = position(p, sequence.length, false)?;
    let item = p.step("SequenceAt", &[sequence.link, place]);
    p.give(&[item]);
    Some(())
}

/// All of a sequence of tensors of one shape, which have so many axes, one behind the other.
fn joined(p: &mut Piece<'_>, sequence: &Sequence, rank: usize) {
    let is_new = p.chance(0.4);
    if is_new {
        p.int("new_axis", 1);
    }
    let axes = rank as i64 + i64::from(is_new);
    let axis = p.size(-axes..=axes - 1);
    p.int("axis", axis);
    let y = p.step("ConcatFromSequence", &[sequence.link]);
    p.give(&[y]);
}

fn sequence_construct(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let sequence = construct(p, dtype, Shapes::Any);
    taken(p, &sequence)
}

fn sequence_empty(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    if dtype != DType::F32 || p.chance(0.5) {
        p.int("dtype", onnx::tensor::code_of(dtype).into());
    }
    let empty = p.step("SequenceEmpty", &[]);
    p.any(dtype, 0..=3);
    let item = p.last();
    let sequence = Sequence { link: p.step("SequenceInsert", &[empty, item]), length: 1 };
    let measured = if p.chance(0.3) { empty } else { sequence.link };
    let length = p.step("SequenceLength", &[measured]);
    taken(p, &sequence)?;
    p.give(&[length]);
    Some(())
}

fn sequence_insert(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let before = construct(p, dtype, Shapes::Any);
    p.any(dtype, 1..=3);
    let mut inputs = vec![before.link, p.last()];
    if p.chance(0.7) {
        inputs.push(position(p, before.length, true)?);
    }
    let sequence = Sequence { link: p.step("SequenceInsert", &inputs), length: before.length + 1 };
    taken(p, &sequence)
}

fn sequence_erase(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (before, types) = construct_typed(p, dtype, Shapes::Same);
    if before.length < 2 {
        return None;
    }
    let mut inputs = vec![before.link];
    if p.chance(0.7) {
        inputs.push(position(p, before.length, false)?);
    }
    let sequence = Sequence { link: p.step("SequenceErase", &inputs), length: before.length - 1 };
    joined(p, &sequence, types[0].rank());
    Some(())
}

/// A tensor in parts: of one size, of sizes that are listed, or each place alone.
fn split(p: &mut Piece<'_>, dtype: DType) -> Sequence {
    let x = p.any(dtype, 1..=3);
    let mut inputs = vec![p.last()];
    let axis = p.size(0..=x.rank() as i64 - 1);
    let extent = x.shape[axis as usize];
    let length = match p.size(0..=2) {
        0 => {
            let size = p.size(1..=extent);
            p.integers(DType::I64, &[], &[size]);
            inputs.push(p.last());
            (extent + size - 1) / size
        }
        1 => {
            let first = p.size(1..=extent);
            let sizes = if first < extent { vec![first, extent - first] } else { vec![first] };
            p.list(&sizes);
            inputs.push(p.last());
            sizes.len() as i64
        }
        _ => {
            p.flag_or("keepdims", 1);
            extent
        }
    };
    if axis != 0 || p.chance(0.5) {
        let from_the_end = axis - x.rank() as i64;
        let axis = if p.chance(0.3) { from_the_end } else { axis };
        p.int("axis", axis);
    }
    Sequence { link: p.step("SplitToSequence", &inputs), length }
}

fn split_to_sequence(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let sequence = split(p, dtype);
    taken(p, &sequence)
}

fn sequence_at(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let sequence = if p.chance(0.3) { split(p, dtype) } else { construct(p, dtype, Shapes::Any) };
    taken(p, &sequence)
}

fn sequence_length(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let sequence = if p.chance(0.5) { split(p, dtype) } else { construct(p, dtype, Shapes::Any) };
    let length = p.step("SequenceLength", &[sequence.link]);
    p.give(&[length]);
    Some(())
}

/// A function of each tensor, perhaps with that at its place in another sequence, or with one number for all; and now
/// and then each one's shape.
fn sequence_map(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (sequence, types) = construct_typed(p, dtype, Shapes::Any);
    let mut inputs = vec![sequence.link];
    match p.size(0..=2) {
        0 => {}
        1 => inputs.push(construct_of(p, &types)),
        _ => {
            p.of(dtype, &[]);
            inputs.push(p.last());
        }
    }
    let functions: &[&str] = match (dtype, inputs.len()) {
        (DType::Bool, 1) => &["Not", "Identity"],
        (DType::Bool, _) => &["And", "Or", "Xor"],
        (DType::U8, 1) => &["Identity"],
        (_, 1) => &["Neg", "Abs", "Identity"],
        _ => &["Add", "Sub", "Mul"],
    };
    let function = p.choose(functions)?;
    let is_swapped = p.chance(0.3);
    let results = p.size(1..=2) as usize;
    p.body("body", body(dtype, function, inputs.len(), is_swapped, results));
    for link in p.step_of("SequenceMap", &inputs, results) {
        taken(p, &Sequence { link, ..sequence })?;
    }
    Some(())
}

/// A graph of so many inputs that computes a function of them all, in the order of the inputs or the other way round,
/// and the shape of the first where there are two results.
pub(super) fn body(
    dtype: DType,
    function: &str,
    inputs: usize,
    is_swapped: bool,
    results: usize,
) -> GraphProto {
    let info = |name: &String, dtype| ValueInfoProto {
        name: Some(name.clone()),
        r#type: Some(open_type(DatumKind::Tensor, dtype)),
        ..ValueInfoProto::default()
    };
    let node = |op_type: &str, input: Vec<String>, output: &str| NodeProto {
        op_type: Some(op_type.to_owned()),
        input,
        output: vec![output.to_owned()],
        ..NodeProto::default()
    };
    let items: Vec<String> = (0..inputs).map(|i| format!("item{i}")).collect();
    let mut operands = items.clone();
    if is_swapped {
        operands.reverse();
    }
    let nodes = [node(function, operands, "of_item"), node("Shape", items[..1].to_vec(), "shape")];
    let outputs = [info(&"of_item".to_owned(), dtype), info(&"shape".to_owned(), DType::I64)];
    GraphProto {
        name: Some("body".to_owned()),
        node: nodes.into_iter().take(results).collect(),
        input: items.iter().map(|name| info(name, dtype)).collect(),
        output: outputs.into_iter().take(results).collect(),
        ..GraphProto::default()
    }
}

fn concat_from_sequence(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (sequence, types) = construct_typed(p, dtype, Shapes::Same);
    joined(p, &sequence, types[0].rank());
    Some(())
}

/// What an optional of a tensor, or of a sequence, holds.
fn optional(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    if p.chance(0.4) {
        let sequence = construct(p, dtype, Shapes::Any);
        let held = p.step("Optional", &[sequence.link]);
        let link = p.step("OptionalGetElement", &[held]);
        return taken(p, &Sequence { link, ..sequence });
    }
    p.any(dtype, 0..=3);
    let held = p.last();
    let held = p.step("Optional", &[held]);
    let y = p.step("OptionalGetElement", &[held]);
    p.give(&[y]);
    Some(())
}

/// Asks of something whether it is there: a tensor or a sequence, in an optional or, from opset 18 on, by
/// itself.
fn optional_has_element(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    if p.chance(0.25) {
        p.ty("type", open_type(DatumKind::Tensor, dtype));
        let nothing = p.step("Optional", &[]);
        let y = p.step("OptionalHasElement", &[nothing]);
        p.give(&[y]);
        return Some(());
    }
    p.any(dtype, 0..=3);
    let mut held = p.last();
    if p.chance(0.3) {
        held = p.step("SequenceConstruct", &[held]);
    }
    if p.opset < 18 || p.chance(0.5) {
        held = p.step("Optional", &[held]);
    }
    let y = p.step("OptionalHasElement", &[held]);
    p.give(&[y]);
    Some(())
}
