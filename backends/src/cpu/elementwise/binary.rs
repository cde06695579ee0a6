//! Functions of two elements of one dtype, with broadcasting.

use ops::elementwise::BinaryFn;

use crate::cpu::call::Call;
use crate::cpu::element::{Int, Number, dispatch_int, dispatch_work};
use crate::cpu::error::Outputs;

/// A kernel for every integer and float dtype.
macro_rules! numbers {
    ($c:expr, $f:expr) => {
        dispatch_work!($c.dtype(0)?, T => $c.zip_numbers::<T>($f))
    };
}

/// A kernel for every integer dtype.
macro_rules! integers {
    ($c:expr, $f:expr) => {
        dispatch_int!($c.dtype(0)?, T => $c.zip::<T, T, T>($f))
    };
}

pub(crate) fn run(function: BinaryFn, c: &Call<'_>) -> Outputs {
    match function {
        BinaryFn::Add => numbers!(c, Number::add),
        BinaryFn::Sub => numbers!(c, Number::sub),
        BinaryFn::Mul => numbers!(c, Number::mul),
        BinaryFn::Div => numbers!(c, Number::div),
        BinaryFn::And => c.zip::<bool, bool, bool>(|x, y| x && y),
        BinaryFn::Or => c.zip::<bool, bool, bool>(|x, y| x || y),
        BinaryFn::Xor => c.zip::<bool, bool, bool>(|x, y| x != y),
        BinaryFn::BitwiseAnd => integers!(c, Int::and),
        BinaryFn::BitwiseOr => integers!(c, Int::or),
        BinaryFn::BitwiseXor => integers!(c, Int::xor),
    }
}
