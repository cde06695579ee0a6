//! The words that mean something, and what is written without quotes.

use std::fmt::{self, Display};

use ir::text::is_identifier;

use crate::proto::attribute_proto::AttributeType;
use crate::proto::tensor_proto::DataType;

/// The words that start a type and are no element types.
pub(super) const COMPOSITES: [&str; 5] = ["seq", "map", "optional", "sparse_tensor", "opaque"];

/// The element type of a name: ONNX's own in small letters.
pub(super) fn element_type(word: &str) -> Option<DataType> {
    let is_small = !word.contains(|c: char| c.is_ascii_uppercase());
    DataType::from_str_name(&word.to_ascii_uppercase()).filter(|_| is_small)
}

/// The kind of attribute of a name.
pub(super) fn attribute_type(word: &str) -> Option<AttributeType> {
    let is_small = !word.contains(|c: char| c.is_ascii_uppercase());
    AttributeType::from_str_name(&word.to_ascii_uppercase()).filter(|_| is_small)
}

/// Whether a type starts with this word.
pub(super) fn starts_type(word: &str) -> bool {
    element_type(word).is_some() || COMPOSITES.contains(&word)
}

/// Whether a number is spelled so, less its sign.
pub(super) fn spells_number(word: &str) -> bool {
    ["nan", "inf", "infinity"].iter().any(|number| word.eq_ignore_ascii_case(number))
}

/// A name, in quotes unless it is an identifier.
pub(super) fn name(text: &str) -> impl Display {
    fmt::from_fn(move |f| if is_identifier(text) { f.write_str(text) } else { write!(f, "{}", quoted(text)) })
}

/// A name where a type or a number could stand as well.
pub(super) fn name_of_its_own(text: &str) -> impl Display {
    let is_other = starts_type(text) || spells_number(text);
    fmt::from_fn(move |f| if is_other { write!(f, "{}", quoted(text)) } else { write!(f, "{}", name(text)) })
}

/// A string in quotes.
pub(super) fn quoted(text: &str) -> impl Display {
    fmt::from_fn(move |f| {
        f.write_str("\"")?;
        for piece in text.split_inclusive(['"', '\\']) {
            match piece.strip_suffix(['"', '\\']) {
                Some(plain) => write!(f, "{plain}\\{}", &piece[plain.len()..])?,
                None => f.write_str(piece)?,
            }
        }
        f.write_str("\"")
    })
}

/// Items with commas between them.
pub(super) fn separated<T: Display>(items: impl Iterator<Item = T> + Clone) -> impl Display {
    fmt::from_fn(move |f| {
        for (i, item) in items.clone().enumerate() {
            write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    })
}
