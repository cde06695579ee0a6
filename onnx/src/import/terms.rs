//! What operators are written out with: the operands of a node as ONNX's schema has them, constants, and operators of ours under
//! short names.

use ir::validate::Fault;
use ir::{Attributes, DType, Tensor, Type, Value};
use ops::Reject;
use ops::schema::{self, Arity, Parameter};

use super::translation::{self, SourceNode};
use super::walk::Walk;
use crate::Error;
use crate::amount::MOST_ELEMENTS;

/// What stands for nothing where an implementation may have something: too little to be seen, but no 0 that any would leave out.
const TRACE: f64 = 1e-30;

/// A number that has digits of f32 down to 1.
const LARGE: f64 = 8_388_608.0;

/// The operands of a node, all of them tensors. There are no more than the operator has, all that must be
/// there are there, each has a dtype that the operator takes, and operands of one type parameter have one
/// dtype. An operand that is left out is `None`, at the end too.
pub(super) fn operands<const N: usize>(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
) -> Result<[Option<Value>; N], Error> {
    let mut operands = [None; N];
    let Some(schema) = schema::in_force(source.node.rest.op_type(), walk.context.declared) else {
        return Ok(operands);
    };
    let (most, inputs) = (schema.inputs.len().min(N), &source.node.inputs);
    if inputs.len() > most {
        let why = format!("there are {}, but at most {most} in this opset", inputs.len());
        return Err(Error::invalid("operands", why));
    }
    let mut dtypes: Vec<(&str, DType)> = Vec::new();
    for (i, parameter) in schema.inputs.iter().enumerate().take(N) {
        let Some(value) = walk.operand(inputs.get(i).copied().flatten())? else {
            if parameter.arity == Arity::One {
                return Err(Error::invalid(format!("operand {i}"), "it must be there"));
            }
            continue;
        };
        let dtype = walk.graph.ty(value).dtype;
        check_dtype(i, parameter, dtype)?;
        if let Some((_, other)) = dtypes.iter().find(|(ty, other)| *ty == parameter.ty && *other != dtype) {
            return Err(Error::invalid(
                format!("operand {i}"),
                format!("it is {dtype}, and another {other}"),
            ));
        }
        dtypes.push((parameter.ty, dtype));
        operands[i] = Some(value);
    }
    Ok(operands)
}

/// Products with weights, without those of elements that weigh nothing: these may be left out, infinite or NaN.
pub(super) fn spared(
    walk: &mut Walk<'_, '_>,
    products: Value,
    weights: Value,
    zero: Value,
) -> Result<Value, Error> {
    let weighs_nothing = walk.op("Equal", &[weights, zero])?;
    walk.op("Where", &[weighs_nothing, zero, products])
}

/// Requires that an operand is of a dtype that it may have.
pub(super) fn check_dtype(i: usize, parameter: &Parameter, dtype: DType) -> Result<(), Error> {
    if parameter.dtypes.contains(dtype) {
        return Ok(());
    }
    let why = format!("it is {dtype}, but must be one of {}", parameter.dtypes);
    Err(Error::invalid(format!("operand {i}"), why))
}

/// An operand that [`operands`] has found to be there.
pub(super) fn there(operands: &[Option<Value>], i: usize) -> Result<Value, Error> {
    operands
        .get(i)
        .copied()
        .flatten()
        .ok_or_else(|| Error::invalid(format!("operand {i}"), "it must be there"))
}

/// The axis of a tensor of some rank, as an index. `what` says it.
pub(super) fn axis_of(what: &str, axis: i64, rank: usize) -> Result<usize, Error> {
    ops::rule::axis(axis, rank).map_err(|e| Error::invalid(what, e.to_string()))
}

/// Why an operand has not the shape that it must have.
pub(super) fn misshapen(i: usize, is: &Type, wanted: &str) -> Error {
    Error::invalid(format!("operand {i}"), format!("it is {is}, but must be {wanted}"))
}

impl Walk<'_, '_> {
    /// The type of a value of the graph.
    pub(super) fn ty(&self, value: Value) -> Type {
        self.graph.ty(value).clone()
    }

    /// The result of an operator of ours without attributes.
    pub(super) fn op(&mut self, name: &str, operands: &[Value]) -> Result<Value, Error> {
        self.op_with(name, &Attributes::new(), operands)
    }

    /// The result of an operator of ours.
    pub(super) fn op_with(
        &mut self,
        name: &str,
        attributes: &Attributes,
        operands: &[Value],
    ) -> Result<Value, Error> {
        translation::one(self, name, attributes, operands)
    }

    /// A constant of floats.
    pub(super) fn reals(
        &mut self,
        dtype: DType,
        shape: &[i64],
        number: impl FnMut(usize) -> f64,
    ) -> Result<Value, Error> {
        let ty = bounded(dtype, shape)?;
        self.push_constant(Tensor::from_f64_fn(&ty, number).into(), None)
    }

    /// One number without an axis.
    pub(super) fn real(&mut self, dtype: DType, number: f64) -> Result<Value, Error> {
        self.reals(dtype, &[], |_| number)
    }

    /// A constant of integers or truth values.
    pub(super) fn integers(
        &mut self,
        dtype: DType,
        shape: &[i64],
        number: impl FnMut(usize) -> i128,
    ) -> Result<Value, Error> {
        let ty = bounded(dtype, shape)?;
        self.push_constant(Tensor::from_i128_fn(&ty, number).into(), None)
    }

    /// Numbers with the error of something as well that others compute on the way: its difference to itself,
    /// which is 0, and off by what rounding it may have brought about.
    pub(super) fn within(&mut self, x: Value, rounded: Value) -> Result<Value, Error> {
        let nothing = self.op("Sub", &[rounded, rounded])?;
        self.op("Add", &[x, nothing])
    }

    /// What is computed of floats. Of 16 bits it is computed in f32 and rounded once, within what it may bring about to
    /// compute it in 16 bits step by step. Where a step of that overflows, either is right.
    pub(super) fn in_f32_or_by_steps(
        &mut self,
        floats: &[Value],
        compute: impl Fn(&mut Self, &[Value]) -> Result<Value, Error>,
    ) -> Result<Value, Error> {
        let dtype = self.ty(floats[0]).dtype;
        let by_steps = compute(self, floats)?;
        if !matches!(dtype, DType::F16 | DType::BF16) {
            return Ok(by_steps);
        }
        let wide = floats.iter().map(|&x| self.cast(x, DType::F32)).collect::<Result<Vec<Value>, Error>>()?;
        let y = compute(self, &wide)?;
        let y = self.cast(y, dtype)?;
        let near = self.within(y, by_steps)?;
        let (size, infinity) = (self.op("Abs", &[by_steps])?, self.real(dtype, f64::INFINITY)?);
        let is_finite = self.op("Less", &[size, infinity])?;
        let either = self.either(y, by_steps)?;
        self.op("Where", &[is_finite, near, either])
    }

    /// Weights, as good as those have them who meet an element at the end of an axis several times, each time with a
    /// part of its weight, or all axes at once: sums of parts that are exact here are rounded there. A weight of 0 is
    /// one for those who compute with it, and none for others.
    pub(super) fn in_parts(&mut self, weights: Value) -> Result<Value, Error> {
        let dtype = self.ty(weights).dtype;
        // 0.6 divides none of them that are exact, but 0.
        let [trace, divisor] = [TRACE, 0.6].map(|number| self.real(dtype, number));
        let some = self.op("Add", &[weights, trace?])?;
        let parts = self.op("Div", &[some, divisor?])?;
        self.within(weights, parts)
    }

    /// A value, where ONNX leaves open whether it is that or another one: a choice by a truth value that is true here,
    /// and may be either for an implementation that rounds.
    pub(super) fn either(&mut self, x: Value, other: Value) -> Result<Value, Error> {
        let [nothing, trace, divisor] = [0.0, TRACE, 0.6].map(|number| self.real(DType::F32, number));
        let (nothing, parts) = (nothing?, self.op("Div", &[trace?, divisor?])?);
        let nearly = self.within(nothing, parts)?;
        let is_open = self.op("Equal", &[nearly, nothing])?;
        self.op("Where", &[is_open, x, other])
    }

    /// A value, where all that lies between it and another one is right as well: to it comes their difference times a 0
    /// that may be off by 1, and so as much on the other side.
    pub(super) fn between(&mut self, x: Value, other: Value) -> Result<Value, Error> {
        let dtype = self.ty(x).dtype;
        // The sum is no number of f32: whoever rounds it may be off by a half from what it is, which is a hair from the nearest
        // one, and twice so in a difference.
        let [large, small] = [LARGE, 0.01].map(|number| self.real(DType::F32, number));
        let rounded = self.op("Add", &[large?, small?])?;
        let share = self.op("Sub", &[rounded, rounded])?;
        let share = self.cast(share, dtype)?;
        let difference = self.op("Sub", &[other, x])?;
        let part = self.op("Mul", &[share, difference])?;
        // Nothing lies between two infinities, and 0 times one is no number.
        let (size, infinity) = (self.op("Abs", &[difference])?, self.real(dtype, f64::INFINITY)?);
        let (is_finite, nothing) = (self.op("Less", &[size, infinity])?, self.real(dtype, 0.0)?);
        let part = self.op("Where", &[is_finite, part, nothing])?;
        self.op("Add", &[x, part])
    }

    /// Indices of i64 that count from the first of so many elements alone. Operators of ours count negative ones from the last
    /// element: here these are out of range, as those are that are too large.
    pub(super) fn counted_from_first(&mut self, indices: Value, count: i64) -> Result<Value, Error> {
        let [first, beyond] = [0, count].map(|at| self.integers(DType::I64, &[], |_| at.into()));
        let is_before = self.op("Less", &[indices, first?])?;
        self.op("Where", &[is_before, beyond?, indices])
    }

    /// A tensor with other axes.
    pub(super) fn reshaped(&mut self, x: Value, shape: &[i64]) -> Result<Value, Error> {
        // A 0 stands for the size that was there, and opsets before 14 have no other. Of nothing no element has to be moved.
        if shape.contains(&0) && self.context.opset < 14 {
            return match self.ty(x).dtype {
                dtype if dtype.is_float() => self.reals(dtype, shape, |_| 0.0),
                dtype => self.integers(dtype, shape, |_| 0),
            };
        }
        let attributes = Attributes::new().ints("shape", shape);
        let attributes = if shape.contains(&0) { attributes.int("allowzero", 1) } else { attributes };
        self.op_with("Reshape", &attributes, &[x])
    }

    /// A tensor with its axes in another order.
    pub(super) fn transposed(&mut self, x: Value, order: &[i64]) -> Result<Value, Error> {
        self.op_with("Transpose", &Attributes::new().ints("perm", order), &[x])
    }

    /// A tensor with further axes of size 1.
    pub(super) fn unsqueezed(&mut self, x: Value, axes: &[i64]) -> Result<Value, Error> {
        self.op_with("Unsqueeze", &Attributes::new().ints("axes", axes), &[x])
    }

    /// A tensor without an axis of size 1.
    pub(super) fn squeezed(&mut self, x: Value, axis: i64) -> Result<Value, Error> {
        self.op_with("Squeeze", &Attributes::new().ints("axes", &[axis]), &[x])
    }

    /// What is on an axis between two places.
    pub(super) fn slice(&mut self, x: Value, axis: i64, from: i64, to: i64) -> Result<Value, Error> {
        let slice = Attributes::new().ints("starts", &[from]).ints("ends", &[to]).ints("axes", &[axis]);
        self.op_with("Slice", &slice, &[x])
    }

    /// Tensors one behind the other.
    pub(super) fn joined(&mut self, parts: &[Value], axis: i64) -> Result<Value, Error> {
        match parts {
            [only] => Ok(*only),
            parts => self.op_with("Concat", &Attributes::new().int("axis", axis), parts),
        }
    }

    /// A tensor in another dtype.
    pub(super) fn cast(&mut self, x: Value, dtype: DType) -> Result<Value, Error> {
        if self.graph.ty(x).dtype == dtype {
            return Ok(x);
        }
        self.op_with("Cast", &Attributes::new().dtype("to", dtype), &[x])
    }

    /// One number of all elements.
    pub(super) fn reduced(&mut self, name: &str, x: Value) -> Result<Value, Error> {
        self.op_with(name, &Attributes::new().int("keepdims", 0), &[x])
    }
}

/// The type of a constant that is no larger than what is written out.
pub(super) fn bounded(dtype: DType, shape: &[i64]) -> Result<Type, Error> {
    if let Some(size) = shape.iter().find(|&&size| size < 0) {
        return Err(Error::invalid("operator", format!("size {size} is negative")));
    }
    let ty = Type::new(dtype, shape);
    if ty.count() > MOST_ELEMENTS {
        let why = format!("a constant of more than {MOST_ELEMENTS} elements is not written out");
        return Err(Error::unsupported("operator", why));
    }
    // An empty tensor has strides, too.
    check_countable("constant", &ty).map(|()| ty)
}

/// Requires that a type is one that a graph may have. The whole graph is validated in the end, and before that what is
/// written out computes with sizes.
pub(super) fn check_countable(what: impl Into<String>, ty: &Type) -> Result<(), Error> {
    if ty.is_countable() {
        return Ok(());
    }
    Err(Error::unsupported(what, Fault::<Reject>::Size { ty: ty.clone() }.to_string()))
}
