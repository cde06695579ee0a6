//! Known findings: data, so that a campaign can tell a new finding from one that is already written up.
//!
//! An operator is never kept from an engine because the engine fails on it. Its findings are listed instead, each
//! with a date after which somebody has to look again. [`Known`] is such a list; our own is generated from the findings in
//! `corpus/`, each of which is a [`WriteUp`].
//!
//! | module | holds |
//! |---|---|
//! | `list` | lists of known findings |
//! | `pattern` | patterns of signatures |
//! | `date` | days of the calendar |
//! | `write_up` | a finding in `corpus/` |
//! | `corpus` | all of them, by engine |
//! | `case` | its case, as text or as bytes |
//! | `print` | all of these as TOML |
//! | `content` | reading them, with the line of what is wrong |

mod accepted;
mod case;
mod content;
mod corpus;
mod date;
mod list;
mod pattern;
mod print;
mod write_up;

pub use case::Kept;
pub use content::KnownError;
pub use corpus::{About, Corpus, ENGINE, EngineFindings, Unreadable};
pub use date::Date;
pub use list::{Known, KnownEntry};
pub use pattern::Pattern;
pub use write_up::{Covered, FILE, Judgement, Upstream, WriteUp};
