//! The CPU's kernels but for some.

use backends::cpu::{Cpu, CpuError, GraphRunner, NodeRunner};
use backends::engines::models::OnModels;
use backends::support::Support;
use harness::Target;
use interp::Profile;
use ir::{Operation, Tensor, Type};
use ops::Op;

use crate::PlantedFault;
use crate::node::Node;

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
    let kernels = GraphRunner::new("faulty", Kernels(faults.to_vec()));
    let mut target = Target::here(Box::new(OnModels::new(kernels))).into_iter().next()?;
    target.profile = &Profile::TIGHT;
    Some(target)
}
