//! Kernels that work element by element.

pub(super) mod activation;
pub(super) mod binary;
pub(super) mod cast;
pub(super) mod gelu;
pub(super) mod unary;

use ir::tensor::Element;

use crate::cpu::call::Call;
use crate::cpu::error::Outputs;

/// The only output: what an expression is for each element of the first operand, which it gives the type of.
macro_rules! each {
    ($c:expr, $x:ident: $t:ty => $y:expr) => {
        super::of_each(
            $c,
            #[inline(always)]
            |$x: $t| $y,
        )
    };
    ($c:expr, $x:ident => $y:expr) => {
        $crate::cpu::vector::elementwise::each!($c, $x: f32 => $y)
    };
}
use each;

/// The only output: a function of each element of the first operand.
fn of_each<T: Element, U: Element>(c: &Call<'_>, f: impl Fn(T) -> U + Sync) -> Outputs {
    let y = super::room::map(c.threads(), &c.elements::<T>(0)?, f);
    c.only(y)
}
