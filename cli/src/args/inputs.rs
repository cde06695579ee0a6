//! The flags about the inputs of cases and of models that come without data, which several commands have.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::value::{input, size};

/// What is given of the inputs of cases, and of models that come without data.
#[derive(ClapArgs, Debug)]
pub(crate) struct Inputs {
    /// The value of an input, in the place of the case's own where it has data: an array of NumPy (.npy), or a TensorProto,
    /// SequenceProto or OptionalProto (.pb). May be repeated; without it, values on which a lone model is defined are searched.
    #[arg(long, value_name = "NAME=FILE", value_parser = input)]
    pub input: Vec<(String, PathBuf)>,
    /// A size that models without data leave open, by their name for it; `INPUT[AXIS]` where they have none. May be repeated; without
    /// it, a small one is drawn.
    #[arg(long, value_name = "NAME=N", value_parser = size)]
    pub dim: Vec<(String, i64)>,
}
