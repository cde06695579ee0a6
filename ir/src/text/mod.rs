//! The text form of a model: what people read, write by hand and diff.
//!
//! [`Model`](crate::Model) implements `Display` and `FromStr`, and the two are exact inverses: a valid model comes
//! back equal, bit for bit. So do most invalid ones, which is what a message about one needs; the exceptions are
//! operands of variables and constants, which cannot be written at all, and absent operands at the end
//! of a list, which are dropped.
//!
//! ```text
//! onnxsmith 1 opset 17
//! function f {
//!   %0: f32[2, 3] = variable "x"
//!   %1: f32[2, 3] = Relu(%0)
//!   return "y" = %1
//! }
//! graph {
//!   %0: f32[2, 3] = variable "x"
//!   %1: f32[] = constant {-0.0}
//!   %2: f32[1, 3], f32[1, 3] = Split(%0) {axis = 0, split = [1, 1]}
//!   %3: f32[2, 3] = call f(%0)
//!   %4: f32[2, 3] = Clip(%3, _, %1)
//!   return "z" = %2.1, "w" = %4
//! }
//! ```
//!
//! A [`Tensor`](crate::Tensor) alone has the same two, and is written as a constant is: `f32[2] {1.0, -0.0}`.
//!
//! `%2.1` is output 1 of node `%2`, and `%2` is output 0. A node lists the types of all its outputs, so one
//! without outputs has no `:`. Nodes are numbered from 0 in each graph. `_` is an optional operand left out. `given`
//! lists what a node was read from ([`Node::given`](crate::Node)), `terse` marks one that is written without
//! what is at its default ([`Spelling`](crate::Spelling)), `unnamed (1, 4)` one that lists an operand and four outputs
//! by the empty name, and `inner` a step within an operator that is written out.
//!
//! ```text
//! model    = "onnxsmith" "1" "opset" integer {"function" name graph} "graph" graph
//! graph    = "{" {node} "return" [output {"," output}] "}"
//! output   = string "=" value
//! node     = "%"integer [":" type {"," type}] "=" body ["given" "(" [value {"," value}] ")"]
//!            ["terse"] ["unnamed" "(" integer "," integer ")"] ["inner"]
//! tensor   = type elements
//! body     = "variable" string
//!          | "constant" [type] elements                            the type is only there if it is not the node's
//!          | "call" (name | "@"integer) operands                   by position if the name does not tell
//!          | name operands ["{" attribute {"," attribute} "}"]
//! elements = "{" [element {"," element}] "}"
//! operands = "(" [operand {"," operand}] ")"
//! operand  = value | "_"
//! value    = "%"integer["."integer]
//! attribute = name "=" (integer | float | string | dtype | tensor | list)
//! list     = "[" [integer {"," integer}] "]" | "[" float {"," float} "]" | "[" string {"," string} "]"
//!          | ("floats" | "strings") "[" "]"                       a list without elements does not tell of what
//! type     = dtype "[" [integer {"," integer}] "]"
//! name     = identifier | string
//! ```
//!
//! Elements are `true` and `false`, integers, or the shortest decimal that rounds to the float; a NaN is written
//! with its bits, as `nan(0x7fc00000)`, and infinities are `inf` and `-inf`. A float attribute always has a `.`,
//! an exponent, `nan` or `inf` in it; an integer attribute never has. Strings have the escapes `\"`, `\\`, `\n`,
//! `\r`, `\t` and `\u{hex}`. `//` starts a comment that ends with the line.
//!
//! What reading a text takes whatever its syntax is public: a [`Cursor`], and the [`Place`] of a mistake. So are
//! patterns of texts ([`wildcard`]).

mod cursor;
mod lex;
mod literal;
mod parse;
mod print;
pub mod wildcard;

pub use cursor::{Cursor, Place, is_identifier, is_integer, shortened, starts_word};
pub(crate) use print::{attributes, name, quoted};

/// What stands before an attribute's empty list of floats, and of strings.
const FLOATS: &str = "floats";
const STRINGS: &str = "strings";

use crate::attr::BadAttribute;
use crate::tensor::WrongCount;
use crate::{DType, dtype::UnknownDType};

/// A text that is not the text form of a model, with the place where that shows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ParseError {
    /// Where that shows.
    pub place: Place,
    /// What is wrong there.
    pub problem: Problem,
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
    /// A string does not end on its line.
    #[error("the string has no closing quote on its line")]
    OpenString,
    /// A backslash is followed by something that is no escape.
    #[error(r#"unknown escape; known are \", \\, \n, \r, \t and \u{{hex}}"#)]
    Escape,
    /// The number does not exist in the type it is meant for.
    #[error("`{text}` is not a number of type {dtype}")]
    Number {
        /// The number as written.
        text: String,
        /// The type.
        dtype: DType,
    },
    /// No such element type.
    #[error(transparent)]
    DType(#[from] UnknownDType),
    /// A constant has more or fewer elements than its type.
    #[error(transparent)]
    Elements(#[from] WrongCount),
    /// A call names a function that is not defined before it.
    #[error("there is no function {0:?} before this call")]
    UnknownFunction(String),
    /// No operator has that name.
    #[error("there is no operator `{0}`")]
    UnknownOperator(String),
    /// An attribute is written twice.
    #[error("attribute {0:?} is given twice")]
    DuplicateAttribute(String),
    /// The operator refuses its attributes.
    #[error("{op}: {cause}")]
    Attribute {
        /// The operator.
        op: String,
        /// What it says.
        cause: BadAttribute,
    },
}
