//! Writing kernels.
//!
//! | module | holds |
//! |---|---|
//! | `class` | how each dtype is stored and computed with |
//! | `params` | what a kernel is told, by name: declared once for both sides |
//! | `shader` | putting a kernel together from its text, its types and its parameters |
//! | `library`, `library/` | the functions that every kernel may call |
//!
//! A kernel's text is a `.wgsl` file beside its operator and has no dtype in it; [`Shader`] writes the types, the
//! tensors and the entry point around it. f16 is a storage type only: arithmetic of native `f16` is not exercised.
//!
//! Worth knowing when writing one:
//!
//! - Blank lines separate functions and stand nowhere else, because a function is brought in where it is called.
//! - `params.zero` is a zero that no compiler knows. WGSL refuses constant expressions that are not finite, and compilers
//!   reassociate: `inf()`, `nan()` and `keep(x)` of the library are made with it.
//! - `max`, `min`, `==` and `<` of floats lose NaNs: call `largest`, `smallest`, `equal`, `less`, `unordered`.
//! - WGSL reads `select(a < b, c > d, e)` as a template; brackets around the comparisons help. It reserves words such as
//!   `filter`, `mod` and `column_major`.
//! - What the invocations of a workgroup do together (`KernelForm`) must go the same way for all of them up to each barrier.
//! - A loop of one invocation runs at most `Gpu::loop_limit` times: longer work is cut into launches or
//!   chunks.

mod class;
mod library;
mod params;
mod shader;

pub(crate) use class::{Class, Element, accumulator, is_stored, stored_size};
pub use library::Functions;
pub(crate) use params::{
    Body, Field, Param, body, every_declared_name_is_read, every_name_read_is_declared, params,
};
pub(crate) use shader::{Constant, KernelForm, Parts, Shader, WORKGROUP};
