//! Tensors of abstract numbers, and the call of an operator on them.

use ir::{DType, Type};
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::lanes::{each, zip};
use crate::rule::{self, accepted};

/// A tensor whose elements belong to a number system.
pub enum Data<A: Arith> {
    /// The elements of a floating-point tensor.
    Real(ArrayD<A::R>),
    /// The elements of an integer or `bool` tensor.
    Int(ArrayD<A::Z>),
}

impl<A: Arith> Clone for Data<A> {
    fn clone(&self) -> Self {
        match self {
            Self::Real(a) => Self::Real(a.clone()),
            Self::Int(a) => Self::Int(a.clone()),
        }
    }
}

impl<A: Arith> Data<A> {
    /// The size of each axis.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Real(a) => a.shape(),
            Self::Int(a) => a.shape(),
        }
    }

    /// These elements, each of them one of several between which the specification does not choose.
    #[must_use]
    pub fn unspecified(mut self, arith: &A) -> Self {
        match &mut self {
            Self::Real(a) => a.mapv_inplace(|x| arith.unspecified(x)),
            Self::Int(a) => a.mapv_inplace(|z| arith.unspecified_int(z)),
        }
        self
    }
}

/// One use of an operator: its operands, their types, the types it must produce and the number system.
///
/// The accessors may assume what the type rule has established; they panic where a caller has not validated.
pub struct Call<'a, A: Arith> {
    /// The number system.
    pub arith: &'a A,
    /// The operands; `None` where an optional one is absent.
    pub inputs: &'a [Option<&'a Data<A>>],
    /// The operands' types.
    pub types: &'a [Option<&'a Type>],
    /// The types of the outputs.
    pub outputs: &'a [Type],
    /// The version of the operator set: few texts change what the same use means.
    pub opset: u32,
}

#[allow(clippy::missing_panics_doc, reason = "said once, at the type")]
impl<'a, A: Arith> Call<'a, A> {
    /// An operand that may be absent.
    pub fn opt(&self, i: usize) -> Option<&'a Data<A>> {
        self.inputs.get(i).copied().flatten()
    }

    /// An operand that is there.
    pub fn data(&self, i: usize) -> &'a Data<A> {
        self.opt(i).expect("the type rule requires this operand")
    }

    /// A floating-point operand.
    pub fn real(&self, i: usize) -> &'a ArrayD<A::R> {
        self.opt_real(i).expect("the type rule requires a floating-point operand")
    }

    /// A floating-point operand that may be absent.
    pub fn opt_real(&self, i: usize) -> Option<&'a ArrayD<A::R>> {
        match self.opt(i) {
            Some(Data::Real(a)) => Some(a),
            _ => None,
        }
    }

    /// An integer or `bool` operand.
    pub fn int(&self, i: usize) -> &'a ArrayD<A::Z> {
        self.opt_int(i).expect("the type rule requires an integer operand")
    }

    /// An integer or `bool` operand that may be absent.
    pub fn opt_int(&self, i: usize) -> Option<&'a ArrayD<A::Z>> {
        match self.opt(i) {
            Some(Data::Int(a)) => Some(a),
            _ => None,
        }
    }

    /// An axis of the first operand, as an index.
    pub fn axis(&self, axis: i64) -> usize {
        accepted(rule::axis(axis, self.data(0).shape().len()))
    }

    /// Whether the first operand is floating-point.
    pub fn is_real(&self) -> bool {
        matches!(self.data(0), Data::Real(_))
    }

    /// The output that has a function of each element of the first operand: one of reals, or one of integers.
    pub fn each(&self, real: impl FnMut(A::R) -> A::R, int: impl FnMut(A::Z) -> A::Z) -> Vec<Data<A>> {
        vec![match self.data(0) {
            Data::Real(x) => Data::Real(each(x, real)),
            Data::Int(x) => Data::Int(each(x, int)),
        }]
    }

    /// The output that has a function of the elements at each place of the first two operands, which broadcast: one of
    /// reals, or one of integers.
    pub fn zip(
        &self,
        real: impl FnMut(A::R, A::R) -> A::R,
        int: impl FnMut(A::Z, A::Z) -> A::Z,
    ) -> Vec<Data<A>> {
        let shape = self.extents(0);
        vec![if self.is_real() {
            Data::Real(zip(&shape, self.real(0), self.real(1), real))
        } else {
            Data::Int(zip(&shape, self.int(0), self.int(1), int))
        }]
    }

    /// The type of an operand that is there.
    pub fn ty(&self, i: usize) -> &'a Type {
        self.types[i].expect("the type rule requires this operand")
    }

    /// The dtype of an operand that is there.
    pub fn dtype(&self, i: usize) -> DType {
        self.ty(i).dtype
    }

    /// The extents of an output.
    pub fn extents(&self, i: usize) -> Vec<usize> {
        self.outputs[i].extents()
    }
}
