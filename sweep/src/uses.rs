//! Uses of operators that work element by element: attributes, and what their operands are.
//!
//! Uses are found by drawing, as campaigns draw them: nobody lists them here, and a new operator is swept without a line.

use graphgen::{DRAWN, Settings, Weights};
use ir::{Attribute, Attributes, DType, DTypes, NodeKind, Operation, Stream, Type};
use ops::{Hazard, Op, Operator, Spec};

use crate::form::PartForm;

/// How many draws are made at most to find the uses of an operator on a dtype, and after how many that bring nothing new no more
/// are.
const DRAWS: u64 = 48;
const IN_VAIN: u64 = 12;

/// How many uses are kept that differ in nothing but float attributes, the one with the defaults first.
const ALIKE: usize = 2;

/// Operators whose group this is work element by element, on operands that broadcast.
const ELEMENTWISE: &str = "elementwise";

/// Whether an operator works element by element.
pub fn is_elementwise(spec: &Spec) -> bool {
    spec.about.group() == ELEMENTWISE
}

/// A use of an operator, but for the number of elements.
#[derive(Clone, PartialEq, Debug)]
pub struct Use {
    /// The operator with its attributes.
    pub op: Op,
    /// Its operands; `None` for one that is left out.
    pub operands: Vec<Option<Operand>>,
}

/// What an operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Its dtype.
    pub dtype: DType,
    /// Its shape.
    pub extent: Extent,
}

/// The shape of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// That of the result.
    Whole,
    /// `[]`: the operator takes no other.
    Scalar,
}

impl Use {
    /// The operands that are there.
    pub fn present(&self) -> impl Iterator<Item = &Operand> {
        self.operands.iter().flatten()
    }

    /// The form in which it is swept.
    pub fn form(&self) -> PartForm {
        match self.present().filter(|operand| operand.extent == Extent::Whole).count() {
            1 if self.present().count() == 1 => PartForm::Unary,
            2 if self.present().count() == 2 => PartForm::Pairs,
            _ => PartForm::Several,
        }
    }

    /// The types of the operands where the result has a shape.
    pub fn types(&self, shape: &[i64]) -> Vec<Option<Type>> {
        let ty = |operand: &Operand| match operand.extent {
            Extent::Whole => Type::new(operand.dtype, shape),
            Extent::Scalar => Type::new(operand.dtype, []),
        };
        self.operands.iter().map(|operand| operand.as_ref().map(ty)).collect()
    }

    /// Where the operator stops being defined: the ends, by operand.
    pub fn hazards(&self) -> Vec<Hazard> {
        let types = self.types(&[1]);
        let types: Vec<Option<&Type>> = types.iter().map(Option::as_ref).collect();
        self.op.hazards(&types)
    }

    /// Its attributes as text, where it has any.
    pub fn attributes(&self) -> String {
        let each = self.op.attributes();
        let each: Vec<String> = each.iter().map(|(name, value)| format!("{name}={value}")).collect();
        each.join(", ")
    }

    /// This use and its variants, in this order: with default attributes, as it is, on other dtypes, and on its first
    /// two operands alone.
    fn with_others(self) -> Vec<Self> {
        let plain = Op::from_attributes(self.op.spec(), &Attributes::new());
        let plain = plain.map(|op| Self { op, ..self.clone() });
        let others = self.on_other_dtypes();
        let pair =
            (self.operands.len() > 2).then(|| Self { operands: self.operands[..2].to_vec(), ..self.clone() });
        plain.into_iter().chain([self]).chain(others).chain(pair).collect()
    }

    /// Adds this use to others, unless it is invalid or one of them, or enough of them are like it ([`ALIKE`]).
    fn join(self, others: &mut Vec<Self>) {
        let alike = others.iter().filter(|other| other.is_like(&self)).count();
        if alike < ALIKE && !others.contains(&self) && self.is_valid() {
            others.push(self);
        }
    }

    /// This use with every other dtype: in place of an attribute that is a dtype, such as a cast's, and of each operand
    /// but the first.
    fn on_other_dtypes(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for dtype in DRAWN.iter() {
            let attributes = self.op.attributes();
            for (name, _) in attributes.iter().filter(|(_, value)| matches!(value, Attribute::DType(_))) {
                let other = attributes.clone().with(name, Attribute::DType(dtype));
                let op = Op::from_attributes(self.op.spec(), &other);
                all.extend(op.map(|op| Self { op, ..self.clone() }));
            }
            for position in 1..self.operands.len() {
                let mut other = self.clone();
                if let Some(operand) = &mut other.operands[position] {
                    operand.dtype = dtype;
                    all.push(other);
                }
            }
        }
        all
    }

    /// Whether two uses differ at most in the numbers of float attributes.
    fn is_like(&self, other: &Self) -> bool {
        let words = |one: &Self| {
            let all = one.op.attributes();
            let words = all.iter().filter(|(_, value)| !matches!(value, Attribute::Float(_)));
            words.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        self.operands == other.operands && words(self) == words(other)
    }

    /// Whether the operator takes the operands on some number of elements, and gives as many.
    fn is_valid(&self) -> bool {
        let types = self.types(&[3]);
        let types: Vec<Option<&Type>> = types.iter().map(Option::as_ref).collect();
        self.op.infer(&types).is_ok_and(|outputs| outputs.iter().all(|ty| ty.shape == [3]))
    }
}

/// The uses of an operator on a dtype that differ in more than sizes: the one with all defaults first.
pub fn uses(spec: &'static Spec, dtype: DType, opset: u32) -> Vec<Use> {
    let mut found: Vec<Use> = Vec::new();
    let mut in_vain = 0;
    for draw in 0..DRAWS {
        let before = found.len();
        if let Some(one) = drawn(spec, dtype, opset, draw) {
            one.with_others().into_iter().for_each(|one| one.join(&mut found));
        }
        in_vain = if found.len() > before { 0 } else { in_vain + 1 };
        if in_vain == IN_VAIN {
            break;
        }
    }
    found.sort_by_key(|one| !is_plain(spec, one));
    found
}

/// Whether a use has no attribute that is not at its default.
fn is_plain(spec: &Spec, one: &Use) -> bool {
    Op::from_attributes(spec, &Attributes::new()).is_ok_and(|plain| plain == one.op)
}

/// One use of an operator as it is drawn, in shapes that are alike.
fn drawn(spec: &'static Spec, dtype: DType, opset: u32, draw: u64) -> Option<Use> {
    let stream = Stream::new(0).child("sweep").child(spec.name).child(dtype.name()).at(draw);
    let graph = graphgen::generate(&settings(spec, dtype, opset), &Weights, stream).model.graph;
    let node = graph.nodes.iter().find(|node| matches!(node.kind, NodeKind::Operator(_)))?;
    let NodeKind::Operator(op) = &node.kind else { return None };
    let types = graph.types(&node.inputs);
    concerns(spec, dtype, opset, &types, &node.outputs).then_some(())?;
    let with = |others: Extent| {
        let operand = |(i, ty): (usize, Option<&Type>)| {
            let extent = if i == 0 { Extent::Whole } else { others };
            ty.map(|ty| Operand { dtype: ty.dtype, extent })
        };
        Use { op: op.clone(), operands: types.iter().copied().enumerate().map(operand).collect() }
    };
    [Extent::Whole, Extent::Scalar].map(with).into_iter().find(Use::is_valid)
}

/// The dtypes on which an operator is swept: those of its first operand, and those of its result where it has them from another
/// operand, as a selection has.
pub fn dtypes(spec: &Spec, opset: u32) -> DTypes {
    let (first, result) = (spec.input_types(0, opset), spec.output_types(0, opset));
    let others = (1..spec.inputs.len()).map(|i| spec.input_types(i, opset));
    if others.into_iter().any(|other| other == result) || spec.inputs.is_empty() {
        first.union(result)
    } else {
        first
    }
}

/// Whether a use is one on a dtype: its first operand has it, or, where that can never be, its result.
pub fn concerns(spec: &Spec, dtype: DType, opset: u32, operands: &[Option<&Type>], results: &[Type]) -> bool {
    let deciding = if spec.input_types(0, opset).contains(dtype) {
        operands.first().copied().flatten()
    } else {
        results.first()
    };
    deciding.is_some_and(|ty| ty.dtype == dtype)
}

/// What is drawn: one operator on a dtype, with whatever dtypes its other operands need.
pub fn settings(spec: &'static Spec, dtype: DType, opset: u32) -> Settings {
    Settings {
        opset,
        nodes: 1,
        operators: [spec.name].into(),
        wanted_on: [(spec.name, DTypes::of(&[dtype]))].into(),
        function: 0.0,
        constant: 0.0,
        empty_dims: 0.0,
        reuse: 0.0,
        again: 0.0,
        ..Settings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, dtype: DType) -> Vec<Use> {
        uses(ops::find(name).unwrap(), dtype, *ir::graph::OPSETS.end())
    }

    #[test]
    fn operators_are_swept_in_the_form_of_their_operands() {
        for (name, form) in [
            ("Exp", PartForm::Unary),
            ("Elu", PartForm::Unary),
            ("Cast", PartForm::Unary),
            ("Add", PartForm::Pairs),
            ("PRelu", PartForm::Pairs),
            ("Mod", PartForm::Pairs),
            ("Where", PartForm::Several),
        ] {
            let uses = of(name, DType::F32);
            assert!(!uses.is_empty() && uses.iter().all(|one| one.form() == form), "{name}: {uses:?}");
        }
    }

    #[test]
    fn a_use_with_defaults_comes_first_and_a_cast_goes_to_many_dtypes() {
        let elu = of("Elu", DType::F32);
        assert!(elu.len() > 1 && elu[0].attributes().contains("alpha=1"), "{}", elu[0].attributes());
        let to: std::collections::BTreeSet<String> =
            of("Cast", DType::F32).iter().map(Use::attributes).collect();
        assert!(to.len() >= 8, "{to:?}");
    }

    #[test]
    fn an_operator_of_any_number_of_operands_is_swept_on_pairs() {
        for (name, dtype) in [("Min", DType::F32), ("Max", DType::U32), ("Sum", DType::F16)] {
            assert!(of(name, dtype).iter().any(|one| one.form() == PartForm::Pairs), "{name} {dtype}");
        }
    }

    #[test]
    fn the_bounds_of_a_clip_are_scalars() {
        let is_scalar = |one: &Use| one.operands.iter().skip(1).flatten().all(|o| o.extent == Extent::Scalar);
        let clips = of("Clip", DType::F32);
        assert!(clips.iter().any(|one| one.present().count() == 3) && clips.iter().all(is_scalar));
    }

    #[test]
    fn an_operator_on_a_dtype_has_that_dtype() {
        let uses = of("Where", DType::F16);
        assert!(!uses.is_empty() && uses.iter().all(|one| one.operands[1].unwrap().dtype == DType::F16));
        assert!(of("Cast", DType::U8).iter().all(|one| one.operands[0].unwrap().dtype == DType::U8));
        let dtypes = |name: &str| dtypes(ops::find(name).unwrap(), *ir::graph::OPSETS.end());
        assert!(dtypes("Where").contains(DType::F16) && dtypes("Where").contains(DType::Bool));
        assert!(!dtypes("Pow").contains(DType::I8), "an exponent may be i8, and no power is one of it");
        assert!(!dtypes("IsNaN").contains(DType::Bool));
    }
}
