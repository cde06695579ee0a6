//! Which function of the kernels' tables each of ONNX's functions is.

use ops::arith::Comparison;
use ops::elementwise::{ActivationFn, BinaryFn, BitShift, Direction, Gelu, Mod, UnaryFn};
use ops::nn::GlobalPoolFn;
use ops::reduction::ReduceFn;

use crate::wgpu::binary::Binary;
use crate::wgpu::reduce::Reduce;
use crate::wgpu::unary::Unary;

/// An enum of names mapped to another by name, but for an exception.
macro_rules! by_name {
    ($value:expr, $from:ty => $to:ty: $($name:ident)* $(; $except:ident => $answer:expr)?) => {
        match $value {
            $(<$from>::$name => <$to>::$name,)*
            $(<$from>::$except => $answer,)?
        }
    };
}

/// `None` for `Not`, which is on bool alone and no row of the table.
pub(in crate::wgpu) fn unary(f: UnaryFn) -> Option<Unary> {
    Some(by_name! {
        f, UnaryFn => Unary:
        Identity Abs Neg Sign Floor Ceil Round Relu Reciprocal Sqrt Exp Log Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Erf Sigmoid Softplus Mish Softsign HardSwish BitwiseNot;
        Not => return None
    })
}

pub(in crate::wgpu) fn binary(f: BinaryFn) -> Binary {
    by_name!(f, BinaryFn => Binary: Add Sub Mul Div And Or Xor BitwiseAnd BitwiseOr BitwiseXor)
}

pub(in crate::wgpu) fn modulus(op: Mod) -> Binary {
    if op.fmod { Binary::Fmod } else { Binary::Mod }
}

pub(in crate::wgpu) fn shift(op: BitShift) -> Binary {
    match op.direction {
        Direction::Left => Binary::ShiftLeft,
        Direction::Right => Binary::ShiftRight,
    }
}

pub(in crate::wgpu) fn comparison(f: Comparison) -> Binary {
    by_name!(f, Comparison => Binary: Equal Less LessOrEqual Greater GreaterOrEqual)
}

pub(in crate::wgpu) fn activation(f: ActivationFn) -> Unary {
    by_name!(f, ActivationFn => Unary: LeakyRelu Elu Selu Celu HardSigmoid ThresholdedRelu Swish)
}

pub(in crate::wgpu) fn gelu(op: Gelu) -> Unary {
    if op.tanh { Unary::GeluTanh } else { Unary::Gelu }
}

pub(in crate::wgpu) fn reduction(f: ReduceFn) -> Reduce {
    by_name!(f, ReduceFn => Reduce: Sum Mean Max Min Prod SumSquare L1 L2 LogSum LogSumExp)
}

pub(in crate::wgpu) fn global_pool(f: GlobalPoolFn) -> Reduce {
    match f {
        GlobalPoolFn::Average => Reduce::Mean,
        GlobalPoolFn::Max => Reduce::Max,
    }
}
