//! graphgen

pub mod solver;
