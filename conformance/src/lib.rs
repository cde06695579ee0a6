//! One suite for every backend and engine: the same problems, and the reference's word on each.
//!
//! A [`Problem`] is a model with inputs. Some are [`drawn`]: every operator on every dtype, in drawn forms, and graphs of some
//! operators. Others are made by hand ([`made`]): the ends of number formats, shapes at which kernels go another way,
//! padding of every kind. What is right is written down nowhere: it is what `interp` says, with its bounds under the
//! profile that the backend or engine is held to. So a problem is one line, and holds for whatever is tested.
//!
//! A [`Row`] says what is tested, and what is expected of it other than that it is right: what it lacks, and which of
//! the findings in `corpus/` the problems show. Both lists are held against the answers in both directions: what is
//! listed and works fails the suite, as does what is not listed and does not. Nothing that is wrong is passed over: it
//! is either written up in `corpus/` or a failure.
//!
//! ```
//! use ir::Operation;
//! use onnxsmith_conformance::{ProblemResult, Problem, Subject, row};
//!
//! let relu = ops::Op::parse("Relu", &ir::Attributes::new()).ok_or("no Relu")??;
//! let x = ir::Tensor::from_f64_fn(&ir::Type::new(ir::DType::F32, [3]), |i| i as f64 - 1.0);
//! let problem = Problem::alone("Relu of both signs".to_owned(), &relu, &[Some(&x)]).ok_or("not ONNX")?;
//!
//! // Our own kernels need no worker program.
//! let cpu = Subject::open(row::of("cpu").ok_or("no row")?, "no program".as_ref())?;
//! assert_eq!(cpu.ask(&problem)?, [ProblemResult::Right { compared: 3 }]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`problem`] | a model with inputs, and its name |
//! | [`drawn`] | problems from streams that never change |
//! | [`made`] | problems made by hand, a file for each family of operators |
//! | [`row`] | the table of what is tested |
//! | [`lacking`] | lists of what is lacking, held against problems |
//! | [`subject`] | an engine that has been opened, and its answers |
//! | [`tally`] | the answers to all problems, held against the row |
//!
//! A new engine costs its row and, in `engines/`, the file that `onnxsmith backends --probe ENGINE --out FILE` writes. What the
//! suite then says is wrong with it is written up in `corpus/`.

pub mod drawn;
pub mod lacking;
pub mod made;
pub mod problem;
pub mod row;
pub mod subject;
pub mod tally;

pub use problem::Problem;
pub use row::Row;
pub use subject::{ProblemResult, Subject};
pub use tally::Tally;
