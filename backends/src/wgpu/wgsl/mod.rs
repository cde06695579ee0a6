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

mod class;
mod library;
mod params;
mod shader;

pub(crate) use class::{Class, Element, accumulator, stored_size};
pub(crate) use params::{Body, Field, Param, body, demand_names, params};
pub(crate) use shader::{Constant, Shader, WORKGROUP};
