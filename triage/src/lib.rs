//! What lies behind a wrong answer: which operator is at fault, what else an engine gets wrong on the same case, and the
//! smallest case that shows it.
//!
//! | module | holds |
//! |---|---|
//! | [`blame`] | which operator is at fault |
//! | `symptom_match` | how like what an operator shows alone is to what its graph shows |
//! | `divergent` | the first operator to diverge within a graph |
//! | `wrong_type` | the operator whose wrong type is the reason for a refusal |
//! | `forms` | the forms of a program, and the program with one of them undone |
//! | `propagation` | whether what an operator got wrong is seen in an output |
//! | [`allowance`] | what looks like a finding and is none |
//! | [`oracle`] | the oracles that ask a target further questions about a case |
//! | [`judged`] | what came of a case on a target, by all oracles |
//! | [`mod@reduce`] | the smallest case with the same finding: `onnxsmith reduce` |
//! | [`folder`] | a case as a folder, with what is known about it |
//! | [`stored`] | saved cases of any kind, read and found |
//! | [`known`] | known findings: lists of them, and each as it is written up |

pub mod allowance;
pub mod blame;
mod divergent;
pub mod folder;
mod forms;
pub mod judged;
pub mod known;
pub mod oracle;
mod propagation;
pub mod reduce;
pub mod stored;
mod symptom_match;
mod wrong_type;

pub use forms::Written;
pub use reduce::reduce;
