//! `NonZero`: how many columns there are, is known when the elements are.

use ir::Type;
use ops::movement::NonZero;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs};

impl Kernel for NonZero {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::No("there is no kernel yet")
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        Err(c.refuse("there is no kernel yet".to_owned()))
    }
}
