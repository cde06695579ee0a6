//! The CPU's kernels but for some, and all of them on a model that was rewritten.

use backends::cpu::{Cpu, CpuError, GraphRunner, NodeRunner, run_model};
use backends::engines::models::{OnModels, Runner};
use backends::support::Support;
use harness::Target;
use interp::Profile;
use ir::{Operation, Tensor, Type};
use ops::{Model, Op};
use worker::{Description, EngineError};

use crate::node::Node;
use crate::rewritings::WrongRewriting;
use crate::{PlantedFault, Wrong};

/// The kernels with faults, at most one of which is in an operator.
struct Kernels(Vec<&'static PlantedFault>);

impl NodeRunner for Kernels {
    type Error = CpuError;

    fn support(&self, op: &Op, inputs: &[Option<&Type>]) -> Support {
        Cpu.support(op, inputs)
    }

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        let fault = self.0.iter().find(|fault| fault.operator == op.name());
        match fault.and_then(|fault| (fault.kernel)(&Node { op, inputs, outputs })) {
            Some(wrong) => Ok(wrong),
            None => Cpu.run_node(op, inputs, outputs),
        }
    }
}

/// Kernels as a target of campaigns, held to the accuracy that our own are held to.
pub(crate) fn target(faults: &[&'static PlantedFault]) -> Option<Target> {
    open(GraphRunner::new(NAME, Kernels(faults.to_vec())))
}

/// What the kernels are called in findings.
const NAME: &str = "faulty";

fn open(runner: impl Runner + Send + 'static) -> Option<Target> {
    let mut target = Target::here(Box::new(OnModels::new(runner))).into_iter().next()?;
    target.profile = &Profile::TIGHT;
    Some(target)
}

/// The right kernels, which run what a rewriting makes of a model.
struct Rewritten(GraphRunner<Cpu>, &'static WrongRewriting);

impl Runner for Rewritten {
    fn describe(&self) -> Description {
        self.0.describe()
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        match self.1.of(model) {
            Some(rewritten) => self.0.run(&rewritten, inputs),
            None => self.0.run(model, inputs),
        }
    }
}

/// An optimiser with a wrong rewriting, and the right kernels, as a target of campaigns.
pub(crate) fn optimised(fault: &'static WrongRewriting) -> Option<Target> {
    open(Rewritten(GraphRunner::new(NAME, Cpu), fault))
}

/// The right kernels but for that of one operator, where it gives something.
struct But {
    operator: &'static str,
    kernel: Wrong,
    /// Whether it has given anything.
    is_used: bool,
}

impl NodeRunner for But {
    type Error = CpuError;

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        let own =
            (op.name() == self.operator).then(|| (self.kernel)(&Node { op, inputs, outputs })).flatten();
        self.is_used |= own.is_some();
        own.map_or_else(|| Cpu.run_node(op, inputs, outputs), Ok)
    }
}

/// The outputs of a model whose uses of one operator are computed by another kernel; `None` where it gives nothing.
pub(crate) fn with_kernel(
    operator: &'static str,
    kernel: Wrong,
    model: &Model,
    inputs: &[Tensor],
) -> Option<Vec<Tensor>> {
    let mut kernels = But { operator, kernel, is_used: false };
    let outputs = run_model(model, inputs, &mut kernels).ok()?;
    kernels.is_used.then_some(outputs)
}
