//! Steps of optimisers, of ONNX's domain `ai.onnx.preview.training`.

use ir::DType;

use super::Composite;
use super::piece::Piece;

pub(super) const ALL: &[Composite] = &[
    Composite::training("Adagrad", adagrad),
    Composite::training("Adam", adam),
    Composite::training("Momentum", momentum),
];

/// The rate, how many updates there were, and so many tensors of each kind; one or two are updated.
fn operands(p: &mut Piece<'_>, kinds: i64) -> Option<()> {
    let dtype = p.dtype()?;
    let rate = p.size(0..=4) as f64 / 4.0;
    p.reals(dtype, &[], &[rate]);
    let count = p.size(0..=3);
    p.integers(DType::I64, &[], &[count]);
    let shapes: Vec<Vec<i64>> = (0..p.size(1..=2)).map(|_| vec![p.size(1..=3), p.size(1..=4)]).collect();
    for _ in 0..kinds {
        for shape in &shapes {
            p.of(dtype, shape);
        }
    }
    p.results = shapes.len() * (kinds as usize - 1);
    Some(())
}

fn adagrad(p: &mut Piece<'_>) -> Option<()> {
    operands(p, 3)?;
    p.float("norm_coefficient", 0.5);
    p.float("decay_factor", 0.25);
    p.float("epsilon", 0.125);
    Some(())
}

fn adam(p: &mut Piece<'_>) -> Option<()> {
    operands(p, 4)?;
    p.float("norm_coefficient", 0.5);
    p.float("alpha", 0.75);
    p.float("beta", 0.5);
    p.float("epsilon", 0.125);
    if p.chance(0.5) {
        p.float("norm_coefficient_post", 0.25);
    }
    Some(())
}

fn momentum(p: &mut Piece<'_>) -> Option<()> {
    operands(p, 3)?;
    p.float("alpha", 0.75);
    p.float("beta", 0.5);
    p.float("norm_coefficient", 0.25);
    let mode = p.choose(&["standard", "nesterov"])?;
    p.text("mode", mode);
    Some(())
}
