//! What faulty kernels are made of: the right kernels with other attributes or operands, or with other results.
//!
//! Everything returns `None` where a fault does not apply to a node.

use backends::cpu::run_node;
use ir::format::FloatFormat;
use ir::round::{round_to, round_to_format};
use ir::{DType, Tensor, Type};
use ops::Op;
use ops::movement::{Expand, Transpose};

/// What a kernel is given.
pub(crate) struct Node<'a> {
    pub(crate) op: &'a Op,
    pub(crate) inputs: &'a [Option<&'a Tensor>],
    pub(crate) outputs: &'a [Type],
}

/// What a wrong kernel gives.
pub(crate) type Outputs = Option<Vec<Tensor>>;

impl Node<'_> {
    /// An operand that may be absent.
    pub(crate) fn input(&self, operand: usize) -> Option<&Tensor> {
        self.inputs.get(operand).copied().flatten()
    }

    /// The dtype of the first operand.
    pub(crate) fn dtype(&self) -> Option<DType> {
        self.input(0).map(Tensor::dtype)
    }

    /// The right outputs.
    pub(crate) fn right(&self) -> Outputs {
        self.on(self.inputs)
    }

    /// The right outputs of another operator on the same operands.
    pub(crate) fn instead(&self, op: impl Into<Op>) -> Outputs {
        run_node(&op.into(), self.inputs, self.outputs).ok()
    }

    /// The right outputs on other operands.
    pub(crate) fn on(&self, inputs: &[Option<&Tensor>]) -> Outputs {
        run_node(self.op, inputs, self.outputs).ok()
    }

    /// The right outputs with another tensor as one of the operands.
    pub(crate) fn with(&self, operand: usize, tensor: &Tensor) -> Outputs {
        let mut inputs = self.inputs.to_vec();
        *inputs.get_mut(operand)? = Some(tensor);
        self.on(&inputs)
    }

    /// The right outputs with two of the operands exchanged.
    pub(crate) fn exchanging(&self, a: usize, b: usize) -> Outputs {
        let mut inputs = self.inputs.to_vec();
        inputs.get(a.max(b))?;
        inputs.swap(a, b);
        self.on(&inputs)
    }

    /// The right outputs with the elements of the first one changed; `f` gets the position too.
    pub(crate) fn edited(&self, f: impl Fn(usize, f64) -> f64) -> Outputs {
        let mut right = self.right()?;
        let first = right.first_mut()?;
        if !first.dtype().is_float() {
            return None;
        }
        let y = first.to_f64s();
        *first = Tensor::from_f64_fn(&first.ty(), |i| f(i, y[i]));
        Some(right)
    }

    /// The right output with elements changed where the first operand, of floats, asks for it: `f` gets the operand's
    /// element and the right one.
    pub(crate) fn edited_from(&self, f: impl Fn(f64, f64) -> f64) -> Outputs {
        let x = self.input(0).filter(|x| x.dtype().is_float())?.to_f64s();
        self.edited(|i, right| f(x[i], right))
    }

    /// A function of each element of the first operand, if these are floats.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Outputs {
        let x = self.input(0).filter(|x| x.dtype().is_float())?.to_f64s();
        Some(vec![Tensor::from_f64_fn(self.outputs.first()?, |i| f(x[i]))])
    }

    /// A function of the elements of the first two operands, if the first ones are floats.
    pub(crate) fn zip(&self, f: impl Fn(f64, f64) -> f64) -> Outputs {
        self.input(0).filter(|x| x.dtype().is_float())?;
        let (x, y) = (self.spread(0)?.to_f64s(), self.spread(1)?.to_f64s());
        Some(vec![Tensor::from_f64_fn(self.outputs.first()?, |i| f(x[i], y[i]))])
    }

    /// A function of the elements of the first two operands, if the first ones are integers.
    pub(crate) fn zip_integers(&self, f: impl Fn(i128, i128) -> i128) -> Outputs {
        self.input(0).filter(|x| x.dtype().is_int())?;
        let (x, y) = (self.spread(0)?.to_i128s(), self.spread(1)?.to_i128s());
        Some(vec![Tensor::from_i128_fn(self.outputs.first()?, |i| f(x[i], y[i]))])
    }

    /// An operand broadcast to the shape of the first output.
    pub(crate) fn spread(&self, operand: usize) -> Option<Tensor> {
        let (x, shape) = (self.input(operand)?, &self.outputs.first()?.shape);
        let expand = Expand { shape: shape.clone() };
        only(&expand.into(), &[Some(x)], &Type::new(x.dtype(), shape.clone()))
    }

    /// The first operand, if it has one of these dtypes.
    pub(crate) fn of(&self, dtypes: &[DType]) -> Option<&Tensor> {
        self.input(0).filter(|x| dtypes.contains(&x.dtype()))
    }

    /// The first operand, if it is the second one too: the same value, not one that happens to be equal.
    pub(crate) fn alias(&self) -> Option<&Tensor> {
        let (x, y) = (self.input(0)?, self.input(1)?);
        std::ptr::eq(x, y).then_some(x)
    }

    /// The first operand, if it has no axes.
    pub(crate) fn scalar(&self) -> Option<&Tensor> {
        self.input(0).filter(|x| x.shape().is_empty())
    }

    /// An operand without elements, if there is one.
    pub(crate) fn empty(&self) -> Option<&Tensor> {
        self.inputs.iter().flatten().copied().find(|x| x.is_empty())
    }

    /// How many elements the first output has, if it has more than so many.
    pub(crate) fn more_than(&self, count: usize) -> Option<usize> {
        Some(self.outputs.first()?.extents().iter().product()).filter(|&all| all > count)
    }

    /// The right outputs, but that an element of the first one is what `from` says: that at another place, or 0.
    pub(crate) fn moved(&self, from: impl Fn(usize) -> Option<usize>) -> Outputs {
        let mut right = self.right()?;
        let first = right.first_mut()?;
        *first = picked(first, &first.ty(), from)?;
        Some(right)
    }

    /// The right outputs of a loop over so many elements at a time, which leaves 0 in what remains at the end.
    pub(crate) fn without_tail(&self, lanes: usize) -> Outputs {
        let all = self.more_than(lanes)?;
        self.moved(|i| (i < all / lanes * lanes).then_some(i))
    }

    /// The right outputs, but for elements of the first one that are taken from another tensor of its type.
    pub(crate) fn patched(&self, wrong: &Tensor, is_wrong: impl Fn(usize) -> bool) -> Outputs {
        let mut right = self.right()?;
        let first = right.first_mut().filter(|y| y.ty() == wrong.ty())?;
        let width = first.dtype().whole_bytes();
        let (mut bytes, others) = (bytes(first)?, bytes(wrong)?);
        for i in (0..first.len()).filter(|&i| is_wrong(i)) {
            bytes[i * width..(i + 1) * width].copy_from_slice(&others[i * width..(i + 1) * width]);
        }
        *first = Tensor::from_bytes(&first.ty(), &bytes).ok()?;
        Some(right)
    }

    /// Sums along an axis of an operand, one term after the other, each of them from the right kernel, and what has been summed
    /// up kept in a dtype.
    pub(crate) fn summed_in(&self, dtype: DType, operand: usize, axis: usize) -> Outputs {
        let (x, y) = (self.input(operand)?, self.outputs.first()?);
        let mut sums = vec![0.0; y.extents().iter().product()];
        for k in 0..*x.shape().get(axis)? {
            let one = along(x, axis, |i, _| (i == k).then_some(i))?;
            let terms = self.with(operand, &one)?.pop()?.to_f64s();
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum = round_to(dtype, *sum + term);
            }
        }
        Some(vec![Tensor::from_f64_fn(y, |i| sums[i])])
    }

    /// The node computed in another dtype, where operands and outputs are of dtypes among `of`.
    pub(crate) fn through(&self, dtype: DType, of: &[DType]) -> Outputs {
        self.dtype().filter(|d| of.contains(d))?;
        let converted: Vec<Option<Tensor>> =
            self.inputs.iter().map(|x| x.map(|x| converted(x, dtype))).collect();
        let inputs: Vec<Option<&Tensor>> = converted.iter().map(Option::as_ref).collect();
        let types: Vec<Type> = self.outputs.iter().map(|t| Type::new(dtype, t.shape.clone())).collect();
        let outputs = run_node(self.op, &inputs, &types).ok()?;
        Some(outputs.iter().zip(self.outputs).map(|(y, ty)| converted_to(y, ty)).collect())
    }

    /// The right outputs with operands whose floats of a dtype have fewer significant bits.
    pub(crate) fn with_bits(&self, bits: i32, of: DType) -> Outputs {
        self.dtype().filter(|&d| d == of)?;
        let short: Vec<Option<Tensor>> =
            self.inputs.iter().map(|x| x.map(|x| each(x, |v| keep_bits(v, bits)))).collect();
        self.on(&short.iter().map(Option::as_ref).collect::<Vec<_>>())
    }
}

/// No output where one is due: the runner of the graph says that the node fails.
#[allow(clippy::unnecessary_wraps, reason = "what a kernel gives")]
pub(crate) const fn refusal() -> Outputs {
    Some(Vec::new())
}

/// The right outputs of a node whose unsigned integers are taken for signed ones.
pub(crate) fn as_signed(n: &Node<'_>) -> Outputs {
    let signed = signed(n.dtype()?)?;
    let taken: Vec<Tensor> = n.inputs.iter().map(|x| bits_as((*x)?, signed)).collect::<Option<_>>()?;
    let inputs: Vec<Option<&Tensor>> = taken.iter().map(Some).collect();
    // Truth values and positions stay what they are.
    let retyped = |t: &Type| if Some(t.dtype) == n.dtype() { signed } else { t.dtype };
    let types: Vec<Type> = n.outputs.iter().map(|t| Type::new(retyped(t), t.shape.clone())).collect();
    let outputs = run_node(n.op, &inputs, &types).ok()?;
    outputs.iter().zip(n.outputs).map(|(y, ty)| bits_as(y, ty.dtype)).collect()
}

/// The only output, of the type given, of the right kernel of an operator.
pub(crate) fn only(op: &Op, inputs: &[Option<&Tensor>], output: &Type) -> Option<Tensor> {
    run_node(op, inputs, std::slice::from_ref(output)).ok()?.pop()
}

/// An axis counted from the first one.
pub(crate) fn resolve(axis: i64, rank: usize) -> Option<usize> {
    axis.checked_rem_euclid(rank as i64).map(|a| a as usize)
}

/// The signed integer dtype as wide as an unsigned one.
fn signed(dtype: DType) -> Option<DType> {
    match dtype {
        DType::U8 => Some(DType::I8),
        DType::U16 => Some(DType::I16),
        DType::U32 => Some(DType::I32),
        DType::U64 => Some(DType::I64),
        _ => None,
    }
}

/// The bytes of elements; none where several share one.
pub(crate) fn bytes(x: &Tensor) -> Option<Vec<u8>> {
    (x.dtype().bits() >= u8::BITS).then(|| x.to_bytes())
}

/// A tensor's bits under another dtype.
fn bits_as(x: &Tensor, dtype: DType) -> Option<Tensor> {
    Tensor::from_bytes(&Type::new(dtype, x.ty().shape), &x.to_bytes()).ok()
}

/// The tensor of a type, with as many bytes to an element, whose element `i` is element `from(i)` of another; zeros where there
/// is none.
pub(crate) fn picked(x: &Tensor, ty: &Type, from: impl Fn(usize) -> Option<usize>) -> Option<Tensor> {
    let (width, bytes) = (x.dtype().whole_bytes(), bytes(x)?);
    let mut moved = vec![0; ty.extents().iter().product::<usize>() * width];
    for (i, place) in moved.chunks_exact_mut(width).enumerate() {
        if let Some(j) = from(i).filter(|&j| j < x.len()) {
            place.copy_from_slice(&bytes[j * width..(j + 1) * width]);
        }
    }
    Tensor::from_bytes(ty, &moved).ok()
}

/// A tensor's elements, in the same order, under another shape.
pub(crate) fn reshaped(x: &Tensor, shape: &Type) -> Option<Tensor> {
    Tensor::from_bytes(&Type::new(x.dtype(), shape.shape.clone()), &x.to_bytes()).ok()
}

/// The elements in another dtype; floats become integers by truncation and saturation.
pub(crate) fn converted(x: &Tensor, dtype: DType) -> Tensor {
    converted_to(x, &Type::new(dtype, x.ty().shape))
}

/// The elements in the dtype of a type of their shape; floats become integers by truncation and saturation.
pub(crate) fn converted_to(x: &Tensor, ty: &Type) -> Tensor {
    if x.dtype().is_float() {
        let values = x.to_f64s();
        Tensor::from_f64_fn(ty, |i| values[i])
    } else {
        let values = x.to_i128s();
        Tensor::from_i128_fn(ty, |i| values[i])
    }
}

/// A function of each element of a tensor of floats; others stay as they are.
pub(crate) fn each(x: &Tensor, f: impl Fn(f64) -> f64) -> Tensor {
    if !x.dtype().is_float() {
        return x.clone();
    }
    let values = x.to_f64s();
    Tensor::from_f64_fn(&x.ty(), |i| f(values[i]))
}

/// A number rounded to so many significant bits.
pub(crate) fn keep_bits(v: f64, bits: i32) -> f64 {
    round_to_format(FloatFormat { mantissa_bits: bits - 1, ..FloatFormat::F64 }, v)
}

/// The tensor whose slice `i` of the `n` along an axis is slice `from(i, n)` of another; zeros where there is none.
pub(crate) fn along(x: &Tensor, axis: usize, from: impl Fn(usize, usize) -> Option<usize>) -> Option<Tensor> {
    let size = *x.shape().get(axis)?;
    resized(x, axis, size, |i| from(i, size))
}

/// The tensor of another size along an axis, whose slice `i` there is slice `from(i)`; zeros where there is none.
pub(crate) fn resized(
    x: &Tensor,
    axis: usize,
    to: usize,
    from: impl Fn(usize) -> Option<usize>,
) -> Option<Tensor> {
    let n = *x.shape().get(axis)?;
    let slice = x.shape()[axis + 1..].iter().product::<usize>() * x.dtype().whole_bytes();
    let bytes = bytes(x)?;
    let mut moved = Vec::new();
    for lane in bytes.chunks((slice * n).max(1)) {
        for i in 0..to {
            match from(i).filter(|&j| j < n) {
                Some(j) => moved.extend_from_slice(&lane[j * slice..(j + 1) * slice]),
                None => moved.resize(moved.len() + slice, 0),
            }
        }
    }
    let mut ty = x.ty();
    ty.shape[axis] = to as i64;
    Tensor::from_bytes(&ty, &moved).ok()
}

/// The tensor with each lane along an axis replaced by a function of it, rounded once at the end.
pub(crate) fn lanes(x: &Tensor, axis: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> Option<Tensor> {
    let n = *x.shape().get(axis)?;
    let stride: usize = x.shape()[axis + 1..].iter().product();
    let mut values = x.to_f64s();
    for start in (0..values.len()).filter(|i| (i / stride).is_multiple_of(n)) {
        let lane: Vec<f64> = (0..n).map(|k| values[start + k * stride]).collect();
        for (k, v) in f(&lane).into_iter().enumerate().take(n) {
            values[start + k * stride] = v;
        }
    }
    Some(Tensor::from_f64_fn(&x.ty(), |i| values[i]))
}

/// The elements in the order in which the first axis runs fastest, under the same shape.
pub(crate) fn column_major(x: &Tensor) -> Option<Tensor> {
    let mut shape = x.ty().shape;
    shape.reverse();
    let reversed = only(&Transpose { perm: None }.into(), &[Some(x)], &Type::new(x.dtype(), shape))?;
    reshaped(&reversed, &x.ty())
}
