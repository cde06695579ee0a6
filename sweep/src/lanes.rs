//! Operators along an axis of every length, and operators on shapes at which kernels end: as tables.

use ir::{Attribute, Attributes, DType, DTypes, Operation, Type};
use ops::reduction::REDUCTIONS;
use ops::{Op, Spec};

use crate::uses::Use;

/// A size of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Size {
    /// The length that is swept.
    Length,
    /// This size.
    Of(i64),
}

use Size::{Length, Of};

/// Which operators add, multiply or search along an axis, and on which operands.
struct Row {
    /// ONNX's names.
    operators: &'static [&'static str],
    /// Attributes that have no default, or another one.
    attributes: &'static [(&'static str, i64)],
    /// The shapes of the operands.
    operands: &'static [&'static [Size]],
    /// The longest axis: of a cumulative sum, the reference adds anew for each element.
    longest: i64,
}

/// The longest axis of all.
const LONGEST: i64 = 65_537;

const NONE: &[(&str, i64)] = &[];

const ROWS: &[Row] = &[
    Row { operators: REDUCTIONS, attributes: NONE, operands: &[&[Length]], longest: LONGEST },
    Row {
        operators: &["ArgMax", "ArgMin"],
        attributes: NONE,
        operands: &[&[Length, Of(3)]],
        longest: LONGEST,
    },
    Row {
        operators: &["CumSum", "CumProd"],
        attributes: &[("axis", 0)],
        operands: &[&[Length, Of(3)]],
        longest: 1025,
    },
    Row {
        operators: &["Softmax", "LogSoftmax", "Hardmax", "LpNormalization"],
        attributes: NONE,
        operands: &[&[Of(3), Length]],
        longest: LONGEST,
    },
    Row {
        operators: &["LayerNormalization", "RMSNormalization"],
        attributes: NONE,
        operands: &[&[Of(3), Length], &[Length]],
        longest: LONGEST,
    },
    Row {
        operators: &["InstanceNormalization"],
        attributes: NONE,
        operands: &[&[Of(1), Of(2), Length], &[Of(2)], &[Of(2)]],
        longest: LONGEST,
    },
    Row {
        operators: &["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"],
        attributes: NONE,
        operands: &[&[Of(1), Of(2), Length]],
        longest: LONGEST,
    },
    Row {
        operators: &["MatMul", "Gemm"],
        attributes: NONE,
        operands: &[&[Of(3), Length], &[Length, Of(5)]],
        longest: LONGEST,
    },
    Row {
        operators: &["Conv"],
        attributes: NONE,
        operands: &[&[Of(1), Of(1), Length], &[Of(2), Of(1), Length]],
        longest: LONGEST,
    },
];

/// The lengths: one, the tails of vectors, groups and blocks, and longer than a loop or a dispatch of some devices.
pub const LENGTHS: [i64; 24] = [
    1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 4097, 16_385,
    65_537,
];

/// How the numbers along an axis are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// From -1 to 1: sums cancel. Integers from -8 to 8.
    Centred,
    /// From 1/2 to 1: partial sums grow. Integers from 1 to 4.
    Positive,
}

impl Spread {
    /// The spread of numbers of a dtype on which operators are defined: integers are divisors, exponents and numbers of bits.
    pub fn defined(dtype: DType) -> Self {
        if dtype.is_float() || dtype == DType::Bool { Self::Centred } else { Self::Positive }
    }
}

/// Every spread.
pub const SPREADS: [Spread; 2] = [Spread::Centred, Spread::Positive];

/// An operator on operands of concrete types.
#[derive(Clone, PartialEq, Debug)]
pub struct Shaped {
    /// The operator.
    pub op: Op,
    /// The types of its operands.
    pub operands: Vec<Type>,
}

impl Shaped {
    /// The operator on operands of one dtype, if it takes them in an opset.
    fn of(spec: &Spec, attributes: &[(&str, i64)], operands: Vec<Type>, opset: u32) -> Option<Self> {
        let given = attributes
            .iter()
            .fold(Attributes::new(), |all, (name, value)| all.with(name, Attribute::Int(*value)));
        let op = Op::from_attributes(spec, &given).ok()?;
        let is_taken = |(i, ty): (usize, &Type)| spec.input_types(i, opset).contains(ty.dtype);
        let types: Vec<Option<&Type>> = operands.iter().map(Some).collect();
        let is_valid = operands.iter().enumerate().all(is_taken) && op.infer(&types).is_ok();
        is_valid.then_some(Self { op, operands })
    }
}

/// An operator on a dtype along an axis of a length, if it works along one.
pub fn along(spec: &Spec, dtype: DType, length: i64, opset: u32) -> Option<Shaped> {
    let row = ROWS.iter().find(|row| row.operators.contains(&spec.name) && length <= row.longest)?;
    let size = |size: &Size| match size {
        Length => length,
        Of(size) => *size,
    };
    let ty = |shape: &&[Size]| Type::new(dtype, shape.iter().map(size).collect::<Vec<_>>());
    Shaped::of(spec, row.attributes, row.operands.iter().map(ty).collect(), opset)
}

/// The shapes of one operand, or of two that broadcast.
type Shapes = &'static [&'static [i64]];

/// The dtypes on which shapes are tried that have millions of elements: one of each way to store elements.
const STORED: DTypes = DTypes::of(&[DType::Bool, DType::U8, DType::F16, DType::F32, DType::I64]);

/// What one workgroup of 64 in each of 65,535 groups of a dispatch cannot reach.
const BEYOND: i64 = 65_535 * 64 + 65;

/// Operators that do next to nothing, so that what is wrong is the shape: those of one operand and those of two.
const OF_ONE: &[&str] = &["Identity", "Neg", "Not", "BitwiseNot", "Abs", "Transpose"];
const OF_TWO: &[&str] = &["Add", "And", "BitwiseXor", "Equal", "Less", "MatMul"];

const SHAPES_OF_ONE: &[Shapes] = &[
    &[&[1]],
    &[&[3]],
    &[&[5]],
    &[&[7]],
    &[&[9]],
    &[&[31]],
    &[&[65]],
    &[&[127]],
    &[&[255]],
    &[&[257]],
    &[&[1025]],
    &[&[65_537]],
    &[&[BEYOND]],
    &[&[2, 3, 1, 5, 2]],
    &[&[2, 3, 1, 5, 2, 3]],
    &[&[2, 1, 3, 1, 2, 3, 2, 2]],
];

const SHAPES_OF_TWO: &[Shapes] = &[
    &[&[1], &[7]],
    &[&[255], &[1]],
    &[&[17, 1], &[1, 19]],
    &[&[65_537], &[65_537]],
    &[&[BEYOND], &[1]],
    &[&[2, 3, 1, 5, 2], &[3, 4, 1, 1]],
    &[&[2, 3, 1, 5, 2, 3], &[1, 3, 4, 5, 1, 1]],
    &[&[2, 1, 3, 1, 2, 3, 2, 2], &[3, 1, 2, 1, 1, 2, 1]],
    &[&[2, 1, 2, 3, 5, 4], &[3, 1, 1, 4, 5]],
];

/// An operator on a dtype on each shape that it takes.
pub fn shaped(spec: &Spec, dtype: DType, opset: u32) -> Vec<Shaped> {
    let shapes = match spec.name {
        name if OF_ONE.contains(&name) => SHAPES_OF_ONE,
        name if OF_TWO.contains(&name) => SHAPES_OF_TWO,
        _ => return Vec::new(),
    };
    let types = |shapes: &Shapes| shapes.iter().map(|shape| Type::new(dtype, *shape)).collect();
    let is_tried = |shapes: &&Shapes| STORED.contains(dtype) || !shapes.iter().any(|s| s.contains(&BEYOND));
    let tried = shapes.iter().filter(is_tried);
    tried.filter_map(|shapes| Shaped::of(spec, NONE, types(shapes), opset)).collect()
}

/// Shapes of two operands and of three that broadcast: along an axis of either, of both, of a scalar, over axes that one lacks.
const BROADCAST: &[Shapes] = &[
    &[&[17, 1], &[1, 19]],
    &[&[5, 33], &[33]],
    &[&[65], &[5, 1]],
    &[&[], &[3, 7]],
    &[&[129], &[1]],
    &[&[2, 1, 3, 1], &[4, 1, 5]],
    &[&[17, 1], &[1, 19], &[]],
    &[&[1, 5], &[3, 1, 1], &[7, 1]],
];

/// A use of an operator that works element by element on each of the shapes that broadcast to which it takes.
pub fn broadcast(of: &Use) -> Vec<Shaped> {
    let dtypes: Option<Vec<DType>> = of.operands.iter().map(|operand| Some((*operand)?.dtype)).collect();
    let Some(dtypes) = dtypes else { return Vec::new() };
    let shaped = |shapes: &&Shapes| {
        let operands: Vec<Type> =
            dtypes.iter().zip(**shapes).map(|(&dtype, shape)| Type::new(dtype, *shape)).collect();
        let types: Vec<Option<&Type>> = operands.iter().map(Some).collect();
        of.op.infer(&types).is_ok().then(|| Shaped { op: of.op.clone(), operands })
    };
    BROADCAST
        .iter()
        .filter(|shapes| shapes.len() == dtypes.len())
        .filter_map(|shapes| shaped(&shapes))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_of_the_tables_takes_their_operands() {
        let opset = *ir::graph::OPSETS.end();
        for name in ROWS.iter().flat_map(|row| row.operators) {
            let spec = ops::find(name).unwrap();
            for length in [1, 8, 1025] {
                assert!(along(spec, DType::F32, length, opset).is_some(), "{name} of {length}");
            }
        }
        for name in OF_ONE.iter().chain(OF_TWO) {
            let spec = ops::find(name).unwrap();
            let dtype = spec.input_types(0, opset).iter().next().unwrap();
            assert!(!shaped(spec, dtype, opset).is_empty(), "{name}");
        }
    }

    #[test]
    fn operators_of_two_operands_and_of_three_broadcast() {
        let opset = *ir::graph::OPSETS.end();
        let results = |name: &str, dtype: DType| {
            let uses = crate::uses::uses(ops::find(name).unwrap(), dtype, opset);
            let shaped: Vec<Shaped> = uses.first().map(broadcast).unwrap_or_default();
            let result = |of: &Shaped| {
                let types: Vec<Option<&Type>> = of.operands.iter().map(Some).collect();
                of.op.infer(&types).unwrap()[0].shape.clone()
            };
            shaped.iter().map(result).collect::<Vec<_>>()
        };
        let of_two = [vec![17, 19], vec![5, 33], vec![5, 65], vec![3, 7], vec![129], vec![2, 4, 3, 5]];
        assert_eq!(results("Add", DType::F32), of_two);
        assert_eq!(
            results("BitShift", DType::U8),
            of_two,
            "an attribute without a default is as it is drawn"
        );
        assert_eq!(results("Where", DType::F32), [vec![17, 19], vec![3, 7, 5]]);
        // A slope is repeated along the other operand, and not the reverse.
        assert_eq!(results("PRelu", DType::F32), [vec![5, 33], vec![129]]);
        assert!(results("Exp", DType::F32).is_empty());
    }

    #[test]
    fn an_operator_is_left_out_where_it_has_not_the_dtype() {
        let opset = *ir::graph::OPSETS.end();
        assert!(along(ops::find("Softmax").unwrap(), DType::I32, 8, opset).is_none());
        assert!(along(ops::find("Exp").unwrap(), DType::F32, 8, opset).is_none());
        assert!(shaped(ops::find("Not").unwrap(), DType::F32, opset).is_empty());
    }
}
