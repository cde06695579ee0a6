//! How much a model may bring about that is not in its bytes: it is untrusted, and a few numbers may ask for more than
//! there is memory.

/// How many elements a tensor may have that is written out where the model is read.
pub(crate) const MOST_ELEMENTS: i64 = 1 << 24;
