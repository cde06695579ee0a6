//! Shape and Size.

use ops::movement::Shape;

use crate::cpu::call::Call;
use crate::cpu::error::Outputs;

pub(crate) fn shape(op: Shape, c: &Call<'_>) -> Outputs {
    let sizes = c.shape(0)?;
    let rank = sizes.len() as i64;
    let axis = |v: i64| v.saturating_add(if v < 0 { rank } else { 0 }).clamp(0, rank) as usize;
    let (start, end) = (axis(op.start), op.end.map_or(sizes.len(), axis));
    c.only(sizes.get(start..end).unwrap_or(&[]).iter().map(|&d| d as i64).collect())
}

pub(crate) fn size(c: &Call<'_>) -> Outputs {
    c.only(vec![c.tensor(0)?.len() as i64])
}
