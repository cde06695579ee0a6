//! graphgen
