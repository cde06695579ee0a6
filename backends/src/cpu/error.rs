//! Why a kernel or a graph does not run.

use ir::{DType, Tensor, Type};

/// Why a kernel gives no outputs. On a validated node only [`CpuError::Index`] occurs.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CpuError {
    /// An operand that must be there is not.
    #[error("operand {0} is missing")]
    Missing(usize),
    /// An operand has a dtype the kernel does not take.
    #[error("operand {operand} is {found}, which the kernel does not take")]
    DType {
        /// The operand.
        operand: usize,
        /// What it is.
        found: DType,
    },
    /// An index points outside of the axis it indexes. This depends on data, so no validation can exclude it.
    #[error("index {index} of operand {operand} is out of range for an axis of {size}")]
    Index {
        /// The operand that holds the index.
        operand: usize,
        /// The index.
        index: i64,
        /// The size of the axis.
        size: usize,
    },
    /// The operands' shapes or the attributes do not fit the declared outputs: the node is not valid.
    #[error("the node is not valid: {0}")]
    Invalid(&'static str),
}

/// Why a model does not run.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RunError<E: std::error::Error + 'static> {
    /// A node fails.
    #[error("node %{node} ({op}): {cause}")]
    Node {
        /// The node's position in its graph.
        node: u32,
        /// Its operator.
        op: &'static str,
        /// What the node's runner says.
        cause: E,
    },
    /// A node in a function fails.
    #[error("in function `{function}`: {}", .cause.to_string())]
    Function {
        /// The function.
        function: String,
        /// What fails in it.
        cause: Box<RunError<E>>,
    },
    /// A node has other outputs than it declares: a bug of the node's runner.
    #[error("node %{node} ({op}) gives {found:?} instead of {declared:?}")]
    Outputs {
        /// The node's position in its graph.
        node: u32,
        /// Its operator.
        op: &'static str,
        /// The types it gives.
        found: Vec<Type>,
        /// The types it declares.
        declared: Vec<Type>,
    },
    /// The number of inputs is wrong.
    #[error("{given} inputs are given instead of {wanted}")]
    Arity {
        /// How many are given.
        given: usize,
        /// How many variables the graph has.
        wanted: usize,
    },
    /// An input has the wrong type.
    #[error("input `{name}` is {given} instead of {wanted}")]
    Input {
        /// The variable.
        name: String,
        /// The type given.
        given: Type,
        /// The type the graph declares.
        wanted: Type,
    },
    /// The graph is not valid; validating the model says more.
    #[error("the graph is not valid at node %{0}")]
    Invalid(u32),
}

/// What a kernel gives.
pub(crate) type Outputs = Result<Vec<Tensor>, CpuError>;
