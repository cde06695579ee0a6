//! Nodes that compute numbers from shapes, as exporters write them.
//!
//! A number is the size of an axis of a value that is there, or follows from such sizes by arithmetic. If neither is
//! found, it is a constant. The numbers of a list are concatenated, and may be cast to another dtype and back. All of
//! it is exact: int64, int32, and floats that hold the number.

use ir::format::FloatFormat;
use ir::{Choices, DType, Type};
use onnx::program::{Node, ValueId};
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::draft::Draft;

/// By how much a number may differ from a size that it follows from.
const NEAR: i64 = 8;

/// A size of a value.
#[derive(Clone, Copy)]
struct Size {
    of: ValueId,
    axis: usize,
    is: i64,
}

/// How a number follows from sizes.
#[derive(Clone, Copy)]
enum Way {
    Is(Size),
    Times(Size, i64),
    Part(Size, i64),
    Plus(Size, i64),
    Product(Size, Size),
}

/// Nodes that compute numbers before a node.
pub(crate) struct Chain<'d> {
    draft: &'d mut Draft,
    choices: &'d mut Choices,
    /// The values whose shapes may be asked for.
    sources: Vec<(ValueId, Type)>,
    nodes: Vec<Node>,
}

impl<'d> Chain<'d> {
    /// No nodes yet.
    pub(crate) fn new(draft: &'d mut Draft, at: usize, choices: &'d mut Choices) -> Self {
        let allowed = ops::find("Shape").map(|shape| shape.input_types(0, draft.opset));
        let is_fit = |ty: &Type| ty.rank() > 0 && allowed.is_some_and(|allowed| allowed.contains(ty.dtype));
        let sources = draft.before(at).into_iter().filter(|(_, ty)| is_fit(ty)).collect();
        Self { draft, choices, sources, nodes: Vec::new() }
    }

    /// The nodes.
    pub(crate) fn finish(self) -> Vec<Node> {
        self.nodes
    }

    /// A truth value without an axis, computed to be `is`: a size compared with a number.
    pub(crate) fn compared(mut self, is: bool) -> (ValueId, Vec<Node>) {
        let number = self.choices.random_range(0..=NEAR);
        let (left, right) = match (self.choices.random_range(0..3), is) {
            (0, _) => (number, number),
            (_, true) => (number, number + 1),
            (_, false) => (number + 1, number),
        };
        let op_type = if left == right { "Equal" } else { "Less" };
        let operands = [self.number(left), self.number(right)];
        let mut truth = self.apply(op_type, &operands, Type::new(DType::Bool, []));
        if left == right && !is {
            truth = self.apply("Not", &[truth], Type::new(DType::Bool, []));
        }
        (truth, self.nodes)
    }

    /// A number without an axis.
    pub(crate) fn number(&mut self, number: i64) -> ValueId {
        let Some(way) = self.way(number) else { return self.draft.number("number", number) };
        match way {
            Way::Is(size) => self.size(size),
            Way::Times(size, by) => self.with("Mul", size, by),
            Way::Part(size, by) => self.with("Div", size, by),
            Way::Plus(size, by) if by < 0 && self.choices.random_bool(0.5) => self.with("Sub", size, -by),
            Way::Plus(size, by) => self.with("Add", size, by),
            Way::Product(one, other) => {
                let operands = [self.size(one), self.size(other)];
                self.apply("Mul", &operands, int64(&[]))
            }
        }
    }

    fn with(&mut self, op_type: &str, size: Size, by: i64) -> ValueId {
        let operands = [self.size(size), self.draft.number("number", by)];
        self.apply(op_type, &operands, int64(&[]))
    }

    /// A way to compute a number. Plain ways are preferred.
    fn way(&mut self, number: i64) -> Option<Way> {
        let sizes: Vec<Size> = self.sizes();
        let is: Vec<Way> = sizes.iter().filter(|s| s.is == number).map(|&s| Way::Is(s)).collect();
        if !is.is_empty() && self.choices.random_bool(0.7) {
            return is.choose(self.choices).copied();
        }
        let mut others = Vec::new();
        for (i, &size) in sizes.iter().enumerate() {
            if size.is > 0 && number > size.is && number % size.is == 0 {
                others.push(Way::Times(size, number / size.is));
            }
            if number > 0 && size.is > number && size.is % number == 0 {
                others.push(Way::Part(size, size.is / number));
            }
            let more =
                number.checked_sub(size.is).filter(|&more| more != 0 && (-NEAR..=NEAR).contains(&more));
            others.extend(more.map(|more| Way::Plus(size, more)));
            let second = sizes[i..].iter().find(|s| size.is > 1 && size.is.checked_mul(s.is) == Some(number));
            others.extend(second.map(|&second| Way::Product(size, second)));
        }
        let is_plain = others.is_empty() || self.choices.random_bool(0.3);
        if is_plain { is.choose(self.choices).copied() } else { others.choose(self.choices).copied() }
    }

    fn sizes(&self) -> Vec<Size> {
        let of = |(value, ty): &(ValueId, Type)| {
            let of = *value;
            ty.shape.clone().into_iter().enumerate().map(move |(axis, is)| Size { of, axis, is })
        };
        self.sources.iter().flat_map(of).collect()
    }

    /// A size, without an axis.
    fn size(&mut self, Size { of, axis, .. }: Size) -> ValueId {
        let at = axis as i64;
        match self.choices.random_range(0..4) {
            0 if self.draft.opset >= 15 => {
                let shape = self.shape(of, Some((at, at + 1)));
                self.apply("Squeeze", &[shape], int64(&[]))
            }
            1 => {
                let shape = self.shape(of, None);
                let bounds = [self.draft.list("start", &[at]), self.draft.list("end", &[at + 1])];
                let one = self.apply("Slice", &[shape, bounds[0], bounds[1]], int64(&[1]));
                let axes = self.draft.list("axes", &[0]);
                self.apply("Squeeze", &[one, axes], int64(&[]))
            }
            _ => {
                let shape = self.shape(of, None);
                let index = self.draft.number("index", at);
                self.apply("Gather", &[shape, index], int64(&[]))
            }
        }
    }

    /// The shape of a value, or a part of it.
    fn shape(&mut self, of: ValueId, part: Option<(i64, i64)>) -> ValueId {
        let rank = self.sources.iter().find(|(value, _)| *value == of).map_or(0, |(_, ty)| ty.rank()) as i64;
        let (start, end) = part.unwrap_or((0, rank));
        let shape = self.draft.fresh("shape", int64(&[end - start]));
        let mut node = Node::new("Shape", vec![Some(of)], vec![Some(shape)]);
        if part.is_some() {
            node = node.with_int("start", start).with_int("end", end);
        }
        self.nodes.push(node);
        shape
    }

    /// Numbers one behind the other.
    pub(crate) fn list(&mut self, numbers: &[i64]) -> ValueId {
        if self.choices.random_bool(0.5)
            && let Some((of, start)) = self.run(numbers)
        {
            return self.part(of, start, numbers.len());
        }
        let (mut pieces, mut known) = (Vec::new(), Vec::new());
        let mut is_computed = false;
        for (i, &number) in numbers.iter().enumerate() {
            let is_last = i + 1 == numbers.len();
            // At least one number is computed, if there is a value to compute it from.
            let stays = self.choices.random_bool(0.3) && (is_computed || !is_last);
            if stays || self.sources.is_empty() {
                known.push(number);
                continue;
            }
            self.put_known(&mut known, &mut pieces);
            let number = self.number(number);
            is_computed = true;
            let axes = self.draft.list("axes", &[0]);
            pieces.push(self.apply("Unsqueeze", &[number, axes], int64(&[1])));
        }
        self.put_known(&mut known, &mut pieces);
        let joined = self.draft.fresh("joined", int64(&[numbers.len() as i64]));
        let operands = pieces.into_iter().map(Some).collect();
        self.nodes.push(Node::new("Concat", operands, vec![Some(joined)]).with_int("axis", 0));
        joined
    }

    fn put_known(&mut self, known: &mut Vec<i64>, pieces: &mut Vec<ValueId>) {
        if !known.is_empty() {
            pieces.push(self.draft.list("numbers", known));
            known.clear();
        }
    }

    /// A value whose shape contains these numbers in a row, and the axis at which they begin.
    fn run(&mut self, numbers: &[i64]) -> Option<(ValueId, usize)> {
        let runs = |(value, ty): &(ValueId, Type)| {
            let starts = ty.shape.windows(numbers.len()).enumerate().filter(|(_, sizes)| *sizes == numbers);
            starts.map(|(start, _)| (*value, start)).collect::<Vec<_>>()
        };
        let all: Vec<(ValueId, usize)> = self.sources.iter().flat_map(runs).collect();
        all.choose(self.choices).copied()
    }

    /// A part of the shape of a value.
    fn part(&mut self, of: ValueId, start: usize, length: usize) -> ValueId {
        let rank = self.sources.iter().find(|(value, _)| *value == of).map_or(0, |(_, ty)| ty.rank());
        let (from, to) = (start as i64, (start + length) as i64);
        if length == rank {
            return self.shape(of, None);
        }
        match self.choices.random_range(0..3) {
            0 if self.draft.opset >= 15 => self.shape(of, Some((from, to))),
            1 => {
                let shape = self.shape(of, None);
                let indices = self.draft.list("indices", &(from..to).collect::<Vec<_>>());
                self.apply("Gather", &[shape, indices], int64(&[length as i64]))
            }
            _ => {
                let shape = self.shape(of, None);
                let to = if to == rank as i64 && self.choices.random_bool(0.5) { i64::MAX } else { to };
                let bounds = [self.draft.list("start", &[from]), self.draft.list("end", &[to])];
                self.apply("Slice", &[shape, bounds[0], bounds[1]], int64(&[length as i64]))
            }
        }
    }

    /// In some cases, casts numbers to another dtype and back.
    pub(crate) fn detour(&mut self, value: ValueId, numbers: &[i64]) -> ValueId {
        let is_small = numbers.iter().all(|n| n.unsigned_abs() <= FloatFormat::F32.whole());
        if !is_small || !self.choices.random_bool(0.2) {
            return value;
        }
        let through =
            [DType::I32, DType::F32, DType::F64].choose(self.choices).copied().unwrap_or(DType::I32);
        let shape = self.draft.ty(value).map(|ty| ty.shape.clone()).unwrap_or_default();
        let there = self.cast(value, Type::new(through, shape.clone()));
        self.cast(there, Type::new(DType::I64, shape))
    }

    fn cast(&mut self, value: ValueId, ty: Type) -> ValueId {
        let code = i64::from(onnx::tensor::code_of(ty.dtype));
        let cast = self.draft.fresh("cast", ty);
        self.nodes.push(Node::new("Cast", vec![Some(value)], vec![Some(cast)]).with_int("to", code));
        cast
    }

    fn apply(&mut self, op_type: &str, operands: &[ValueId], ty: Type) -> ValueId {
        let value = self.draft.fresh(&op_type.to_lowercase(), ty);
        let operands = operands.iter().map(|&operand| Some(operand)).collect();
        self.nodes.push(Node::new(op_type, operands, vec![Some(value)]));
        value
    }
}

fn int64(shape: &[i64]) -> Type {
    Type::new(DType::I64, shape.to_vec())
}
