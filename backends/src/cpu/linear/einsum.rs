//! Einsum: loops over all axes, those of the result outside; each operand is walked by strides of its own.

use std::collections::BTreeMap;

use ops::linear::Einsum;
use ops::linear::equation::Label;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_work};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, dense};
use crate::implied::results;

pub(crate) fn run(op: &Einsum, c: &Call<'_>) -> Outputs {
    dispatch_work!(c.dtype(0)?, T => einsum::<T>(op, c))
}

/// What stands for an axis: the letter, or, for an axis without a letter, its distance from the last such
/// axis.
type Name = (Option<char>, usize);

/// A name for each axis of a tensor of this rank.
fn names(labels: &[Label], rank: usize) -> Result<Vec<Name>, CpuError> {
    let letters = labels.iter().filter(|label| **label != Label::Rest).count();
    let unnamed = rank.checked_sub(letters).ok_or(CpuError::Invalid("it names more axes than there are"))?;
    let mut names = Vec::with_capacity(rank);
    for label in labels {
        match label {
            Label::Letter(letter) => names.push((Some(*letter), 0)),
            Label::Rest => names.extend((0..unnamed).map(|i| (None, unnamed - 1 - i))),
        }
    }
    if names.len() == rank { Ok(names) } else { Err(CpuError::Invalid("it does not name every axis")) }
}

/// Where each operand's elements lie.
struct Offsets {
    /// The first one for each element of the result.
    outer: Vec<Vec<usize>>,
    /// How far from there that of each term is.
    inner: Vec<Vec<usize>>,
    /// How many elements the result has, and of how many terms each is the sum.
    count: usize,
    terms: usize,
}

fn einsum<T: Numeric>(op: &Einsum, c: &Call<'_>) -> Outputs {
    let Offsets { outer, inner, count, terms } = offsets(op, c)?;
    let mut operands = Vec::with_capacity(outer.len());
    for i in 0..outer.len() {
        operands.push(c.loaded::<T>(i)?);
    }
    let mut y = vec![<T::Work as Number>::ZERO; count];
    for (at, y) in y.iter_mut().enumerate() {
        for k in 0..terms {
            let factors = operands.iter().enumerate().map(|(i, x)| x[outer[i][at] + inner[i][k]]);
            *y = y.add(factors.reduce(Number::mul).unwrap_or(Number::ONE));
        }
    }
    c.only_numbers::<T>(y)
}

fn offsets(op: &Einsum, c: &Call<'_>) -> Result<Offsets, CpuError> {
    let count = c.inputs.len();
    if op.equation.operands.len() != count {
        return Err(CpuError::Invalid("it has not as many operands as its equation"));
    }
    let shapes = (0..count).map(|i| c.shape(i)).collect::<Result<Vec<_>, _>>()?;
    let each = op.equation.operands.iter().zip(&shapes);
    let axes = each.map(|(labels, shape)| names(labels, shape.len())).collect::<Result<Vec<_>, _>>()?;
    let mut sizes: BTreeMap<Name, usize> = BTreeMap::new();
    for (&name, &size) in axes.iter().zip(&shapes).flat_map(|(names, shape)| names.iter().zip(*shape)) {
        // An axis of one element repeats along those of the others.
        let known = sizes.entry(name).or_insert(size);
        *known = if *known == 1 { size } else { *known };
        if size != 1 && *known != size {
            return Err(CpuError::Invalid("axes of one name have several sizes"));
        }
    }
    let output = c.output(0)?.extents();
    let kept = names(&results(&op.equation), output.len())?;
    let summed: Vec<Name> = sizes.keys().copied().filter(|name| !kept.contains(name)).collect();
    let size = |name: &Name| sizes.get(name).copied().unwrap_or(1);
    if kept.iter().zip(&output).any(|(name, extent)| size(name) != *extent) {
        return Err(CpuError::Invalid("its result has other sizes than its operands"));
    }
    let inner: Vec<usize> = summed.iter().map(size).collect();
    // How far an operand moves along an axis: twice as far where it has the name twice.
    let strides = |operand: usize, walked: &[Name]| -> Vec<isize> {
        let own = axes[operand].iter().zip(dense(shapes[operand])).zip(shapes[operand]);
        let moves: Vec<_> = own.filter(|(_, size)| **size != 1).map(|(step, _)| step).collect();
        let along =
            |name: &Name| moves.iter().filter(|(own, _)| *own == name).map(|(_, stride)| stride).sum();
        walked.iter().map(along).collect()
    };
    let offsets = |operand: usize, shape: &[usize], walked: &[Name]| -> Vec<usize> {
        let rows = Rows::new(shape, &[strides(operand, walked)]);
        rows.starts()
            .flat_map(|[start]| (0..rows.len).map(|k| rows.nth(0, start, k)).collect::<Vec<_>>())
            .collect()
    };
    let outer: Vec<Vec<usize>> = (0..count).map(|i| offsets(i, &output, &kept)).collect();
    let inner: Vec<Vec<usize>> = (0..count).map(|i| offsets(i, &inner, &summed)).collect();
    let terms = inner.first().map_or(0, Vec::len);
    Ok(Offsets { outer, inner, count: output.iter().product(), terms })
}
