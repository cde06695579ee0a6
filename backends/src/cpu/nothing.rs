//! Results without elements.
//!
//! A window over images of which there are none still has as many positions as they are large, and a kernel lists what it meets
//! at each. So nobody asks a kernel for what is not there.

use ir::{Tensor, Type};
use ops::Op;

/// The outputs of an operator with a window where none of them has an element.
pub(super) fn outputs(op: &Op, outputs: &[Type]) -> Option<Vec<Tensor>> {
    let has_window = matches!(
        op,
        Op::Conv(_) | Op::ConvTranspose(_) | Op::AveragePool(_) | Op::LpPool(_) | Op::MaxPool(_)
    );
    let is_empty = has_window && outputs.iter().all(|ty| ty.count() == 0);
    is_empty.then(|| outputs.iter().map(Tensor::zeros).collect())
}

#[cfg(test)]
mod tests {
    use ir::{DType, Tensor, Type};
    use ops::Model;

    use crate::cpu::run_node;

    #[test]
    fn no_images_cost_nothing_however_large_they_are() {
        // 5 · 10¹⁵ cells of windows.
        let text = "onnxsmith 1 opset 23 graph { %0: f32[0, 1, 8192, 8192] = variable \"x\" \
                    %1: f32[0, 1, 8192, 8192] = variable \"w\" \
                    %2: f32[0, 0, 8192, 8192] = Conv(%0, %1) {auto_pad = \"SAME_UPPER\", kernel_shape = [8192, 8192]} \
                    return \"y\" = %2 }";
        let model: Model = text.parse().unwrap();
        let nothing = Tensor::zeros(&Type::new(DType::F32, [0, 1, 8192, 8192]));
        let node = model.graph.nodes.last().unwrap();
        let ir::NodeKind::Operator(op) = &node.kind else { panic!("it is a Conv") };
        let y = run_node(op, &[Some(&nothing), Some(&nothing)], &node.outputs).unwrap();
        assert_eq!(y[0].shape(), [0, 0, 8192, 8192]);
    }
}
