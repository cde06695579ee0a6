//! The sides of an If that are not taken.
//!
//! An edit changes such a side too. It does not run here, and the reference does not see it. But every runtime loads
//! it, and refuses the model if the side is not valid. So in a program that is made smaller, constants replace the
//! side, unless it still fits.

use std::collections::BTreeMap;

use ir::{Datum, Tensor, Type, Wanted};
use onnx::import::declared_type;
use onnx::program::{Port, Program, ValueId};

use crate::forms::{Forms, lead};

/// The names of the attributes.
const SIDES: [&str; 2] = ["then_branch", "else_branch"];

/// The program with constants in place of each side of an If of the main graph that is not taken and does not fit. A
/// side does not fit if it is invalid, or its types differ from those that it declares, or from those of the side that
/// is taken. `None` if there are no such constants.
pub(crate) fn fitted(program: Program, inputs: &BTreeMap<String, Datum>) -> Option<Program> {
    let ifs = |program: &Program| -> Vec<usize> {
        let nodes = program.main.body.nodes.iter().enumerate();
        nodes.filter(|(_, node)| node.rest.op_type() == "If").map(|(at, _)| at).collect()
    };
    ifs(&program).into_iter().try_fold(program, |program, at| {
        let Some(is_then) = Forms::of(&program, inputs).side_at(at) else { return Some(program) };
        let other = SIDES[usize::from(is_then)];
        let given: Vec<ValueId> = program.main.body.nodes[at].outputs.iter().flatten().copied().collect();
        let alone = program.giving_all(&given);
        let taken = ProgramOutputs::by(&alone, inputs)?;
        let is_fitting = alone
            .with_side(&Vec::new(), at, other)
            .and_then(|program| ProgramOutputs::by(&program, inputs))
            .is_some_and(|other_gives| other_gives.fits(&taken, &declared(&program, at, other)));
        if is_fitting { Some(program) } else { program.with_constant_side(at, other, &taken.constants()?) }
    })
}

/// The declared types of a side's outputs.
fn declared(program: &Program, at: usize, side: &str) -> Vec<Port> {
    let held = program.main.body.nodes[at].attributes.iter().find(|held| held.rest.name() == side);
    held.and_then(|held| held.body.as_ref()).map(|body| body.outputs.clone()).unwrap_or_default()
}

/// What a program gives.
struct ProgramOutputs {
    outputs: Vec<Wanted>,
    /// The types of the tensors in these outputs.
    types: Vec<Type>,
}

impl ProgramOutputs {
    fn by(program: &Program, inputs: &BTreeMap<String, Datum>) -> Option<Self> {
        let led = lead(program, inputs).ok()?;
        let graph = &led.model.graph;
        let types = graph.outputs.iter().map(|output| graph.ty(output.value).clone()).collect();
        Some(Self { outputs: led.interface.outputs, types })
    }

    /// Whether a side with these outputs may stand beside the side that is taken: both give the same kinds, dtypes and
    /// ranks, and the declarations of this side are true.
    fn fits(&self, taken: &Self, declared: &[Port]) -> bool {
        let kinds = |given: &Self| given.outputs.iter().map(|o| (o.dtype, o.kind)).collect::<Vec<_>>();
        let ranks = |given: &Self| given.types.iter().map(|ty| (ty.dtype, ty.rank())).collect::<Vec<_>>();
        let said = declared.iter().map(|port| declared_type(&port.declared));
        kinds(self) == kinds(taken)
            && ranks(self) == ranks(taken)
            && (self.types.len() != declared.len()
                || self.types.iter().zip(said).all(|(ty, said)| said.is_none_or(|said| said == *ty)))
    }

    /// Zeros of these types; `None` if an output is no tensor.
    fn constants(&self) -> Option<Vec<Tensor>> {
        let is_tensors = self.outputs.len() == self.types.len();
        is_tensors.then(|| self.types.iter().map(Tensor::zeros).collect())
    }
}

#[cfg(test)]
mod tests {
    use ir::DType;

    use super::*;

    /// An If that takes the first side, which is `−x`, with this one as the other.
    fn with(other: &str, declared: &str) -> Program {
        let text = format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>
m (float[2, 3] x, bool c) => (y) <int64[1] numbers = {{7}}, float[1, 1] small = {{0.5}}> {{
  y = If(c) <
    then_branch = taken () => (float[2, 3] side) {{ side = Neg(x) }},
    else_branch = other () => ({declared} otherwise) {{ {other} }}
  >
}}
"
        );
        Program::from_text(&text).expect("a program")
    }

    fn inputs() -> BTreeMap<String, Datum> {
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2, 3]), |i| i as f64);
        let c = Tensor::from_i128_fn(&Type::new(DType::Bool, []), |_| 1);
        [("x".to_owned(), x.into()), ("c".to_owned(), c.into())].into()
    }

    /// The operators of the other side, once it fits.
    fn other_side(program: &Program) -> Vec<String> {
        let attributes = &program.main.body.nodes[0].attributes;
        let held = attributes.iter().find(|held| held.rest.name() == "else_branch");
        let body = held.and_then(|held| held.body.as_ref()).expect("the other side");
        assert_eq!(body.outputs.len(), 1);
        body.nodes.iter().map(|node| node.rest.op_type().to_owned()).collect()
    }

    #[test]
    fn a_side_that_fits_stays() {
        for (other, declared) in [
            ("otherwise = Abs(x)", "float[2, 3]"),
            ("otherwise = Identity(small)", "float[1, 1]"),
            ("otherwise = Identity(small)", "float[n, m]"),
        ] {
            let program = with(other, declared);
            assert_eq!(fitted(program.clone(), &inputs()), Some(program), "{other}");
        }
    }

    #[test]
    fn a_side_that_does_not_becomes_a_constant() {
        for (other, declared) in [
            ("otherwise = Not(x)", "float[2, 3]"),
            ("otherwise = Identity(numbers)", "float[2, 3]"),
            ("otherwise = Identity(small)", "float[2, 3]"),
            ("otherwise = Transpose<perm = [0, 2, 1]>(x)", "float[2, 3]"),
        ] {
            let mended = fitted(with(other, declared), &inputs()).expect("a program");
            assert_eq!(other_side(&mended), ["Identity"], "{other}");
            let again = fitted(mended.clone(), &inputs());
            assert_eq!(again, Some(mended), "{other}: then it fits");
        }
    }
}
