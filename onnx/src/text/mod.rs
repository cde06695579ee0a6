//! Models as text, in ONNX's own syntax: what people read, write by hand and diff, loops and branches included.
//!
//! | module | holds |
//! |---|---|
//! | `lex` | tokens |
//! | `names` | the words that mean something, and what is written without quotes |
//! | `floats` | floats, as the text has them |
//! | `parse` | text → `ModelProto` |
//! | `print` | `ModelProto` → text |
//!
//! ```
//! use onnxsmith_onnx::text;
//!
//! let written = r#"<ir_version: 10, opset_import: ["" : 21]>
//! branch (float[N] x, bool c) => (float[N] y) {
//!   y = If(c) <
//!     then_branch = positive () => (float[N] a) {
//!       a = Elu <alpha = 0.5> (x)
//!     },
//!     else_branch = negative () => (float[N] n) {
//!       n = Neg(x)
//!     }
//!   >
//! }
//! "#;
//! let model = text::parse(written).unwrap();
//! assert_eq!(text::print(&model).to_string(), written);
//!
//! let error = text::parse("g (float x) => (float y) { y Relu(x) }").unwrap_err();
//! assert_eq!(error.to_string(), "\
//! line 1, column 30: expected `=`, found `Relu`
//!   g (float x) => (float y) { y Relu(x) }
//!                                ^");
//! ```
//!
//! The grammar is ONNX's ([Syntax.md](https://github.com/onnx/onnx/blob/main/docs/Syntax.md)): whatever ONNX's parser
//! reads is read here, as the same message, and ONNX's parser reads what is printed here. Numbers of a tensor are those
//! of the field that ONNX has for its type: bits of a `float16`, packed bytes of an `int4`. Floats are the shortest
//! decimals that read back to the same bits. A message that is read has its numbers in these fields, never in
//! `raw_data`, and an empty name where none is written. What is made of a text for a runtime has them as bytes: not
//! every runtime reads both.
//!
//! What ONNX's parser does not take, and is read and printed here:
//!
//! - names in quotes wherever there are names: of operators, domains, overloads, attributes, and bodies of nodes,
//! - lists of tensors, graphs and types as attributes, which ONNX's parser takes for empty ones,
//! - `nan(0x7fc00001)` for a NaN of other bits than `nan` and `-nan` stand for,
//! - `undefined` for an element type that is not said, and `[]` for external data without a place,
//! - the `metadata_props` of functions.
//!
//! What has no place in the syntax is left out, and said so: [`Text::left_out`] lists it, and so do comments at the end
//! of the text. These are documentation and metadata of all but models and functions, sparse tensors that are values,
//! annotations for quantization, devices, training, denotations, strings that are no UTF-8, and what contradicts
//! itself, such as a tensor with elements in two places.

mod floats;
mod lex;
mod names;
mod parse;
mod print;

use std::collections::BTreeMap;
use std::fmt;

use ir::text::Place;

use crate::Error;
use crate::proto::ModelProto;

/// What the name of a file ends with that holds a model as text.
pub const EXTENSION: &str = "onnxtxt";

/// A model as text, and what the text does not say.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Text {
    text: String,
    /// What of the message is not in the text, and how often that is so.
    pub left_out: BTreeMap<&'static str, usize>,
}

/// The text, with a comment at its end for whatever is left out.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.left_out.iter().try_for_each(|(what, times)| writeln!(f, "# left out: {what} ({times})"))
    }
}

/// The text of a model.
pub fn print(model: &ModelProto) -> Text {
    print::model(model)
}

/// The model of a text.
pub fn parse(text: &str) -> Result<ModelProto, ParseError> {
    parse::model(text)
}

/// A text that is not a model, with the place where that shows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {problem}\n{shown}")]
pub struct ParseError {
    /// Where that shows.
    pub place: Place,
    /// What is wrong there.
    pub problem: Problem,
    /// The line, and a mark below the column.
    pub shown: String,
}

/// What is wrong at one place of a text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// Something else belongs here.
    #[error("expected {wanted}, found {found}")]
    Unexpected {
        /// What would have been right.
        wanted: String,
        /// The start of what is there.
        found: String,
    },
    /// No token starts with this character.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// A string does not end.
    #[error("the string has no closing quote")]
    OpenString,
    /// The number does not exist in the type it is meant for.
    #[error("`{text}` is not a number of type {dtype}")]
    Number {
        /// The number as written.
        text: String,
        /// The type.
        dtype: &'static str,
    },
    /// Graphs and types lie deeper in each other than a message of protobuf may.
    #[error("this lies deeper in graphs and types than a message can hold")]
    Deep,
}

impl ParseError {
    /// The error of a file or whatever else the text is.
    pub(crate) fn inside(&self, what: impl Into<String>) -> Error {
        Error::invalid(what, self.to_string())
    }

    /// The error that something is wrong at a byte of a text.
    fn at(text: &str, at: usize, problem: Problem) -> Self {
        let place = Place::of(text, at);
        let line = text.lines().nth(place.line - 1).unwrap_or_default();
        Self { place, problem, shown: marked(line, place.column - 1) }
    }
}

/// A line, or the part of it around a column, with a mark below the column.
fn marked(line: &str, column: usize) -> String {
    const AROUND: usize = 60;
    let start = column.saturating_sub(AROUND);
    let part = line.chars().skip(start).take(2 * AROUND);
    let part: String = part.map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("  {part}\n  {:width$}^", "", width = column - start)
}

#[cfg(test)]
mod tests;
