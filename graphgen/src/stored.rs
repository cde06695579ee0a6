//! How settings are stored: as names and numbers, which stay when the types behind them change.

use std::collections::BTreeMap;

use ir::{DType, DTypes};
use serde::{Serialize, Serializer};

use crate::budget::Span;
use crate::support::{Refused, text};

/// A set of dtypes as their names.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde prescribes the signature")]
pub(crate) fn dtypes<S: Serializer>(dtypes: &DTypes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(dtypes.iter().map(DType::name))
}

/// Sets of dtypes by the name of what they are for.
pub(crate) fn dtypes_by_name<S: Serializer>(
    all: &BTreeMap<&'static str, DTypes>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let names = |dtypes: &DTypes| -> Vec<&str> { dtypes.iter().map(DType::name).collect() };
    serializer.collect_map(all.iter().map(|(name, dtypes)| (name, names(dtypes))))
}

/// Refused forms as sentences, each behind the name of its operator.
pub(crate) fn refused<S: Serializer>(refused: &Refused, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(refused.iter().filter_map(|(operator, form)| {
        Some(format!("{operator}: {}", text::sentence(form, ops::find(operator)?)))
    }))
}

impl Serialize for Span {
    /// The span as its two ends.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.least, self.most).serialize(serializer)
    }
}
