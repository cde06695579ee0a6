//! Einsum: each element walks all terms of its sum, each operand by strides of its own. Long sums are cut into launches
//! that add to the result, because drivers bound the loops of an invocation.

use std::collections::BTreeMap;

use ir::Type;
use ops::linear::Einsum;
use ops::linear::equation::{Equation, Label};

use crate::implied::results;
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers, one};
use crate::wgpu::record::{GpuTensor, Launch, strides};
use crate::wgpu::wgsl::{Body, Element, Shader, accumulator, body, params};

params! {
    /// The axes, and which terms a launch adds up.
    struct Sum {
        start: u32,
        end: u32,
        operands: u32,
        /// How many axes the result has, and how many axes there are in all, summed ones included.
        kept: u32,
        axes_in_all: u32,
        /// For each axis its size and each operand's stride: those of the result from the last one on, then the others.
        axes: Vec<u32>,
    }
}

const BODY: Body<Sum> = body!(Sum, "einsum.wgsl");

/// The names of operands, and the function of the text for each number of them.
const OPERANDS: [(&str, &str); 4] =
    [("a", "one_operand"), ("b", "two_operands"), ("c", "three_operands"), ("d", "four_operands")];

impl Kernel for Einsum {
    fn support(&self, x: &Type, operands: &[Option<&Type>]) -> Support {
        if operands.len() > OPERANDS.len() {
            return Support::No("kernels exist for one to four operands");
        }
        numbers(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (operands, dtype) = (c.all()?, c.get(0)?.dtype());
        let shape = c.output()?.extents();
        let Axes { kept, summed } = Axes::new(&self.equation, c, &operands, &shape)?;
        let stretches = c.stretches(terms(&summed), 1 + operands.len() * summed.len())?;
        let partial = if stretches.len() > 1 { accumulator(dtype) } else { dtype };
        let output = c.gpu.alloc(partial, &shape)?;
        let mut shader = Shader::new(c.name, BODY, dtype, Element::Number(partial));
        for (_, (name, _)) in operands.iter().zip(OPERANDS) {
            shader = shader.reads(name, Element::Number(dtype));
        }
        let (_, function) = OPERANDS[operands.len() - 1];
        let shader = shader.means("element", function);
        let numbers = |axis: &Axis| [vec![axis.size], axis.strides.clone()].concat();
        let axes = kept.iter().rev().chain(&summed).flat_map(numbers).map(|number| number as u32);
        let axes: Vec<_> = axes.collect();
        for stretch in stretches {
            let sum = Sum {
                start: stretch.start,
                end: stretch.end,
                operands: operands.len() as u32,
                kept: kept.len() as u32,
                axes_in_all: (kept.len() + summed.len()) as u32,
                axes: axes.clone(),
            };
            c.gpu.launch(&Launch::new(&shader, &operands, sum, &output))?;
        }
        one(c.gpu.cast(&output, dtype))
    }
}

/// How many terms each sum has; more than can be counted are as many as can.
fn terms(summed: &[Axis]) -> usize {
    let none = summed.iter().any(|axis| axis.size == 0);
    if none { 0 } else { summed.iter().fold(1, |terms, axis| terms.saturating_mul(axis.size)) }
}

/// What stands for an axis: the letter, or, for an axis without a letter, its distance from the last such
/// axis.
type Name = (Option<char>, usize);

/// An axis: its size, and how far each operand moves along it.
struct Axis {
    size: usize,
    strides: Vec<usize>,
}

/// The axes of the result, and the axes that are summed.
struct Axes {
    kept: Vec<Axis>,
    summed: Vec<Axis>,
}

impl Axes {
    /// Those of an equation, for a result of this shape.
    fn new(
        equation: &Equation,
        c: &Call<'_>,
        operands: &[&GpuTensor],
        result: &[usize],
    ) -> Result<Self, GpuError> {
        if equation.operands.len() != operands.len() {
            return Err(c.refuse(format!("{} operands for {}", operands.len(), equation)));
        }
        let mut axes: BTreeMap<Name, Axis> = BTreeMap::new();
        for (number, (labels, x)) in equation.operands.iter().zip(operands).enumerate() {
            let names = names(c, labels, x.rank())?;
            for ((name, &size), stride) in names.into_iter().zip(x.shape()).zip(strides(x.shape())) {
                let axis =
                    axes.entry(name).or_insert_with(|| Axis { size, strides: vec![0; operands.len()] });
                // An axis of one element repeats along those of the others.
                if size != 1 && axis.size != 1 && size != axis.size {
                    return Err(c.refuse(format!("axes of one name have {size} and {} elements", axis.size)));
                }
                if size != 1 {
                    axis.size = size;
                    // Twice as far where the operand has the name twice.
                    axis.strides[number] += stride as usize;
                }
            }
        }
        let mut kept = Vec::new();
        for (name, &size) in names(c, &results(equation), result.len())?.iter().zip(result) {
            let fits = axes.remove(name).filter(|axis| axis.size == size);
            kept.push(fits.ok_or_else(|| c.refuse(format!("no axis of its result {result:?}")))?);
        }
        Ok(Self { kept, summed: axes.into_values().collect() })
    }
}

/// A name for each axis of a tensor of this rank.
fn names(c: &Call<'_>, labels: &[Label], rank: usize) -> Result<Vec<Name>, GpuError> {
    let letters = labels.iter().filter(|label| **label != Label::Rest).count();
    let unnamed = rank.checked_sub(letters).ok_or_else(|| c.refuse("it names more axes than there are"))?;
    let of = |label: &Label| match label {
        Label::Letter(letter) => vec![(Some(*letter), 0)],
        Label::Rest => (0..unnamed).rev().map(|from_last| (None, from_last)).collect(),
    };
    let names: Vec<_> = labels.iter().flat_map(of).collect();
    if names.len() == rank { Ok(names) } else { Err(c.refuse("it does not name every axis")) }
}
