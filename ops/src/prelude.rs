//! What the file of an operator is written with: `use crate::prelude::*;`.
//!
//! These are the types and modules in which every operator is declared: types and their rules, draws, facts, number
//! systems and the ways to walk a tensor. Functions are named with their module (`rule::axis`, `lanes::each`), so that
//! a bare word is always of the file. What some operators alone share (windows, normalisations, indices) is imported by
//! name where it is used.

pub(crate) use ir::{Attributes, BadAttribute, DType, DTypes, Dim, Sym, Type};
pub(crate) use ndarray::ArrayD;

pub(crate) use crate::about::{About, functions};
pub(crate) use crate::arith::{Arith, Class, Comparison, Fun, Step};
pub(crate) use crate::attributes::{Among, Clamped, Declared, Part, attributes, read_choice, write_choice};
pub(crate) use crate::data::{Call, Data};
pub(crate) use crate::draw::Draw;
pub(crate) use crate::family::{Family, Single};
pub(crate) use crate::kind::{EitherKind, Kind, Movement, Numbers};
pub(crate) use crate::lanes::{self, Lanes};
pub(crate) use crate::operator::{self, Batch, Cost, Edge, Effort, Facts, Hazard, Operator, Reads, TypeRule};
pub(crate) use crate::plain;
pub(crate) use crate::rule::{self, Args, Check, Reject, Rule};
pub(crate) use crate::spec::{self, Deviation, Row};
#[cfg(test)]
pub(crate) use crate::testing::table::tables;
