//! Truth values, bits, comparisons and choices by them.

use ir::{DType, Tensor};
use ops::arith::Comparison;
use ops::elementwise::{Binary, BinaryFn, Compare, IsInf};

use crate::PlantedFault;
use crate::node::{Node, Outputs, as_signed, converted};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "not-inverts-the-byte",
        operator: "Not",
        does: "inverts all bits of the byte that holds a truth value, which leaves true as true",
        source: None,
        kernel: |n| Some(vec![Tensor::from_i128_fn(n.outputs.first()?, |_| 1)]),
    },
    PlantedFault {
        name: "and-is-equality",
        operator: "And",
        does: "compares the operands, and so holds where neither does",
        source: None,
        kernel: |n| n.zip_truths(|x, y| x == y),
    },
    PlantedFault {
        name: "or-is-xor",
        operator: "Or",
        does: "does not hold where both operands do",
        source: None,
        kernel: |n| n.instead(Binary(BinaryFn::Xor)),
    },
    PlantedFault {
        name: "bitwise-not-leaves-the-sign",
        operator: "BitwiseNot",
        does: "inverts all bits of signed integers but the highest",
        source: None,
        kernel: |n| {
            let (least, most) = n.dtype().filter(|d| d.is_signed())?.int_range()?;
            let x = n.input(0)?.to_i128s();
            let kept = |v: i128| if v < 0 { least + (most ^ (v - least)) } else { most ^ v };
            Some(vec![Tensor::from_i128_fn(n.outputs.first()?, |i| kept(x[i]))])
        },
    },
    PlantedFault {
        name: "bitwise-not-is-negation",
        operator: "BitwiseNot",
        does: "is −x, which is one more",
        source: None,
        kernel: |n| {
            let x = n.input(0)?.to_i128s();
            Some(vec![Tensor::from_i128_fn(n.outputs.first()?, |i| -x[i])])
        },
    },
    PlantedFault {
        name: "bitwise-and-is-logical",
        operator: "BitwiseAnd",
        does: "gives 1 where both operands are not 0",
        source: None,
        kernel: |n| n.zip_integers(|x, y| i128::from(x != 0 && y != 0)),
    },
    PlantedFault {
        name: "bitwise-or-adds",
        operator: "BitwiseOr",
        does: "adds, which is the same only where no bit is in both operands",
        source: None,
        kernel: |n| n.zip_integers(|x, y| x + y),
    },
    PlantedFault {
        name: "is-inf-ignores-the-signs-asked-for",
        operator: "IsInf",
        does: "ignores detect_negative and detect_positive",
        source: Some("emmtrix/emx-onnx-cgen#307"),
        kernel: |n| n.instead(IsInf { detect_negative: true, detect_positive: true }),
    },
    PlantedFault {
        name: "is-inf-looks-for-zeros",
        operator: "IsInf",
        does: "looks for an exponent without bits, not for one of all bits, and so finds zeros",
        source: None,
        kernel: |n| n.map(|x| f64::from(u8::from(x == 0.0))),
    },
    PlantedFault {
        name: "is-nan-by-the-exponent",
        operator: "IsNaN",
        does: "masks too few bits of the exponent, so that numbers from 2 to 4 count as well",
        source: None,
        kernel: |n| n.edited_truths(|x, right| right || (2.0..4.0).contains(&x)),
    },
    PlantedFault {
        name: "less-or-equal-is-less",
        operator: "LessOrEqual",
        does: "does not hold for equals",
        source: None,
        kernel: |n| n.instead(Compare(Comparison::Less)),
    },
    PlantedFault {
        name: "less-or-equal-of-bytes-as-signed",
        operator: "LessOrEqual",
        does: "compares bytes of u8 as those of i8",
        source: Some("pytorch/executorch#7313"),
        kernel: |n| {
            n.of(&[DType::U8])?;
            as_signed(n)
        },
    },
    PlantedFault {
        name: "less-by-subtraction",
        operator: "Less",
        does: "asks whether x − y is negative, which says nothing where it overflows",
        source: None,
        kernel: |n| {
            let dtype = n.dtype().filter(|d| d.is_int())?;
            n.zip_integers(|x, y| i128::from(dtype.wrap(x - y) < 0))
        },
    },
    PlantedFault {
        name: "equal-of-floats-compares-bits",
        operator: "Equal",
        does: "compares the bits of floats, so that 0 is not −0",
        source: None,
        kernel: |n| n.zip(|x, y| f64::from(u8::from(x.to_bits() == y.to_bits()))),
    },
    PlantedFault {
        name: "less-orders-zeros",
        operator: "Less",
        does: "holds for −0 and 0",
        source: None,
        kernel: |n| {
            n.zip(|x, y| {
                f64::from(u8::from(x < y || (x == y && x.is_sign_negative() && y.is_sign_positive())))
            })
        },
    },
    PlantedFault {
        name: "sign-of-minus-zero",
        operator: "Sign",
        does: "is −1 for −0",
        source: None,
        kernel: |n| n.edited_from(|x, right| if x == 0.0 && x.is_sign_negative() { -1.0 } else { right }),
    },
    PlantedFault {
        name: "greater-of-f16-as-integers",
        operator: "Greater",
        does: "compares halves by their bits as integers, which turns the order of negative ones round",
        source: None,
        kernel: |n| {
            n.of(&[DType::F16])?;
            n.zip(|x, y| f64::from(u8::from(if x < 0.0 && y < 0.0 { x < y } else { x > y })))
        },
    },
    PlantedFault {
        name: "greater-or-equal-in-f16",
        operator: "GreaterOrEqual",
        does: "compares floats of 32 bits as halves",
        source: None,
        kernel: |n| {
            let (x, y) = (n.of(&[DType::F32])?, n.input(1)?);
            let short = |x: &Tensor| converted(&converted(x, DType::F16), DType::F32);
            n.on(&[Some(&short(x)), Some(&short(y))])
        },
    },
    PlantedFault {
        name: "equal-of-truths-is-and",
        operator: "Equal",
        does: "holds for truth values only where both are true",
        source: None,
        kernel: |n| {
            n.of(&[DType::Bool])?;
            n.zip_truths(|x, y| x && y)
        },
    },
    PlantedFault {
        name: "where-of-bytes-chooses-by-fours",
        operator: "Where",
        does: "chooses four elements of one byte at a time, all by the first of their conditions",
        source: None,
        kernel: |n| {
            n.outputs.first().filter(|y| y.dtype.whole_bytes() == 1)?;
            let c = n.spread(0)?;
            let held = c.to_i128s();
            n.with(0, &Tensor::from_i128_fn(&c.ty(), |i| held[i / 4 * 4]))
        },
    },
];

impl Node<'_> {
    /// A function of the elements of the first two operands, if these are truth values.
    fn zip_truths(&self, f: impl Fn(bool, bool) -> bool) -> Outputs {
        self.of(&[DType::Bool])?;
        let (x, y) = (self.spread(0)?.to_i128s(), self.spread(1)?.to_i128s());
        Some(vec![Tensor::from_i128_fn(self.outputs.first()?, |i| i128::from(f(x[i] != 0, y[i] != 0)))])
    }

    /// The right answers to a question about each element, but where `f` gives another.
    fn edited_truths(&self, f: impl Fn(f64, bool) -> bool) -> Outputs {
        let (x, right) = (self.input(0)?.to_f64s(), self.right()?.pop()?);
        let answers = right.to_i128s();
        Some(vec![Tensor::from_i128_fn(&right.ty(), |i| i128::from(f(x[i], answers[i] != 0)))])
    }
}
