//! What a campaign or a sweep found, for people and for their trackers.
//!
//! ```
//! use std::path::Path;
//!
//! use onnxsmith_present::shell;
//!
//! let command = shell::reduce(Path::new("findings/a case"), "rten:all");
//! assert_eq!(command, "onnxsmith reduce 'findings/a case' --on rten:all");
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`page`] | a campaign as one HTML page |
//! | [`sweep`] | a sweep as one HTML page |
//! | [`issue`] | a group of findings as Markdown, with programs that show the fault |
//! | [`evidence`] | the saved case that shows a group of findings best |
//! | [`others`] | what other targets made of the cases of a group |
//! | [`table`] | operators × dtypes × backends |
//! | [`written_out`] | the operators that are read by writing them out in others |
//! | [`shell`] | commands for a person to paste |
//! | [`junit`] | results as CI systems show them |
//! | [`outside`] | text from outside, as each place can show it |

pub mod evidence;
pub mod issue;
pub mod junit;
pub mod others;
pub mod outside;
pub mod page;
pub mod shell;
pub mod sweep;
pub mod table;
pub mod written_out;
