//! ONNX in and out: models, tensors and test-case folders.
//!
//! ```
//! use onnxsmith_onnx::import::Options;
//! use onnxsmith_onnx::{encode, export, import};
//!
//! let text = "onnxsmith 1 opset 17 graph { %0: f32[2] = variable \"x\" %1: f32[2] = Abs(%0) return \"y\" = %1 }";
//! let model: ops::Model = text.parse()?;
//! let message = export(&model)?;
//! assert!(!encode(&message).is_empty(), "the bytes of a file");
//! assert_eq!(import(&message, &Options::default())?.model, model);
//!
//! // What is wrong with a model is said of the node, by name.
//! let mut broken = message;
//! broken.graph.as_mut().ok_or("no graph")?.node[0].op_type = Some("Frobnicate".to_owned());
//! let error = import(&broken, &Options::default()).expect_err("there is no such operator");
//! assert!(error.to_string().contains("ONNX has no such operator"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`proto`] | the protobuf messages, generated from ONNX's schema |
//! | [`tensor`] | `TensorProto` ↔ [`ir::Tensor`] |
//! | [`external`] | tensor data in files beside the model |
//! | [`case`] | test-case folders in ONNX's backend-test layout, and how to find them |
//! | [`mod@export`] | [`ops::Model`] → `ModelProto` |
//! | [`mod@import`] | `ModelProto` → [`ops::Model`], from any tool |
//! | [`violate`] | valid models, broken in one named way |
//! | [`program`] | a model as it is written, its names resolved |
//! | [`text`] | models as text, in ONNX's own syntax |
//! | [`names`] | the names that exported models give |
//! | [`error`] | what can go wrong: invalid, unsupported and unreadable are three different things |
//!
//! Whatever comes from outside is checked before anything is allocated for it, and no input makes this crate panic.

mod amount;
pub mod case;
pub mod error;
pub mod export;
pub mod external;
mod file;
pub mod import;
pub mod names;
pub mod program;
pub mod proto;
pub mod tensor;
pub mod text;
pub mod violate;

pub use bytes::Bytes;
pub use case::CaseFolder;
pub use error::Error;
pub use export::{encode, export};
pub use import::{Imported, import};
