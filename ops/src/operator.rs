//! What every operator states about itself.

use ir::{Attribute, Attributes, DType, Dim, Type};

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::rule::{self, Args, Check, Reject, Rule};
use crate::spec::Spec;

/// The shape and type relation of an operator, for dimensions of any kind.
pub trait TypeRule<D: Dim> {
    /// The types of the outputs, after posting every requirement to `r`.
    ///
    /// Each operand's dtype is already known to be one its [`Spec`] allows; requirements *between* dtypes are
    /// the rule's.
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject>;
}

/// Everything else that is true of an operator on every backend. No fact, hazard or meaning has a default: what an operator forgets
/// would be wrong of it, and nobody would see that. Only [`effort`](Self::effort) has one, which is off where the reference takes
/// other steps than implementations. Of a [`Movement`](crate::kind::Movement) facts and hazards follow from that it is one.
pub trait Operator: TypeRule<i64> + Clone + PartialEq + std::fmt::Debug {
    /// What is known of such a use from the types of its operands, which must be valid.
    fn facts(&self, x: &[Option<&Type>]) -> Facts;

    /// Values of operands for which the result is undefined or not finite. For valid operands; where a window is huge, as it
    /// may be in a model from outside, this takes as long as running it.
    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard>;

    /// What evaluating the reference semantics takes, for valid operands and outputs of these types: by default as many
    /// operations as an implementation, and no memory.
    fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
        Effort { operations: self.facts(x).cost.flops(x, y), scratch: 0 }
    }

    /// The reference semantics: what the outputs are, in any number system.
    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>>;
}

/// What evaluating the reference semantics of one use of an operator takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Scalar operations.
    pub operations: u64,
    /// What is held besides operands and results, in elements.
    pub scratch: u64,
}

impl Effort {
    /// Nothing.
    pub const NONE: Self = Self { operations: 0, scratch: 0 };
}

/// Properties of one use of an operator; each field is a column. They are cheap to compute, whatever the sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// The first opset in which this use means what it means here, if the value of an attribute or the like decides
    /// that; otherwise 13, the first opset that there is. What follows from the dtypes, and from which attributes there
    /// are, is not in here: a [`Spec`] says that.
    pub since: u32,
    /// What the outputs depend on.
    pub reads: Reads,
    /// The scalar operations that one evaluation takes.
    pub cost: Cost,
    /// What slices along the first axis have to do with each other.
    pub batch: Batch,
    /// An operand in which the operator is homogeneous: scaling it by 2ᵏ scales the result by exactly 2ᵏ, in
    /// any order of addition, barring overflow and denormals. `None` promises nothing.
    pub linear: Option<usize>,
    /// Values of operands on which implementations differ although the operator is defined, besides what follows
    /// from the [`hazards`](Operator::hazards), from the branches that the meaning takes and from the operands' dtypes:
    /// an operand and what is worth putting there.
    pub edges: Vec<(usize, Edge)>,
}

/// What holds of most operators, with the columns in which they differ. One of which another column differs names that
/// column first: `Facts { since: 19, ..Facts::moves(Reads::Elements, None) }`.
impl Facts {
    /// Those of an operator that calculates with elements, and means the same in every opset.
    pub const fn calculates(
        cost: Cost,
        batch: Batch,
        linear: Option<usize>,
        edges: Vec<(usize, Edge)>,
    ) -> Self {
        Self { since: 13, reads: Reads::Elements, cost, batch, linear, edges }
    }

    /// Those of an operator that moves elements or tells types: it calculates nothing, has no edges and means the same
    /// in every opset, and of batches nothing is promised.
    pub const fn moves(reads: Reads, linear: Option<usize>) -> Self {
        Self { since: 13, reads, cost: Cost::Moves, batch: Batch::Together, linear, edges: Vec::new() }
    }
}

/// What the outputs of an operator depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// The elements of an operand, at least of one.
    Elements,
    /// The elements of an operand, to cast them and for nothing else: where the node's dtype is narrower, that is the rounding, not
    /// one before a calculation.
    Cast,
    /// The elements of an operand, in the dtypes that the meaning itself says it calculates in: it rounds them where that is
    /// narrower, and they are not rounded to the node's dtype before.
    Own,
    /// The bits of an operand's elements: they are not rounded to the node's dtype before.
    Bits,
    /// The types of the operands alone, so that the outputs are known before any element is
    /// ([`plain::of_types`](crate::plain::of_types)).
    Types,
}

/// How many scalar operations an evaluation takes, by the convention of docs/budgets.md: a multiply-add counts as two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// None: elements are only moved.
    Moves,
    /// So many for each element of the first output.
    PerOutput(u64),
    /// So many for each element of the first operand.
    PerInput(u64),
}

impl Cost {
    /// The scalar operations on operands `x` with the outputs `y`.
    pub fn flops(self, x: &[Option<&Type>], y: &[Type]) -> u64 {
        let (ty, each) = match self {
            Self::Moves => return 0,
            Self::PerOutput(each) => (y.first(), each),
            Self::PerInput(each) => (operand(x, 0), each),
        };
        ty.map_or(0, elements).saturating_mul(each)
    }
}

/// What the slices of the first operand along its first axis have to do with each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Batch {
    /// Each makes a slice of the result along its first axis, with the same other operands.
    Apart,
    /// They may meet: nothing is promised.
    Together,
}

impl Batch {
    /// Apart where the first operand has a first axis, and that is none of those, as indices, along which its elements meet.
    pub fn meeting(x: &[Option<&Type>], axes: &[usize]) -> Self {
        Self::apart_if(rank(x, 0) >= 1 && !axes.contains(&0))
    }

    /// As [`meeting`](Self::meeting), along one axis that may count from the end.
    pub fn meeting_along(x: &[Option<&Type>], axis: i64) -> Self {
        Self::meeting(x, &[rule::accepted(rule::axis(axis, rank(x, 0)))])
    }

    /// Apart where a condition holds.
    pub const fn apart_if(holds: bool) -> Self {
        if holds { Self::Apart } else { Self::Together }
    }
}

/// The type of an operand that may be absent.
pub fn operand<'a>(x: &[Option<&'a Type>], i: usize) -> Option<&'a Type> {
    x.get(i).copied().flatten()
}

/// The dtype of an operand that may be absent.
pub fn dtype(x: &[Option<&Type>], i: usize) -> Option<DType> {
    operand(x, i).map(|t| t.dtype)
}

/// The rank of an operand; 0 of one that is absent.
pub fn rank(x: &[Option<&Type>], i: usize) -> usize {
    operand(x, i).map_or(0, Type::rank)
}

/// A condition on an operand under which an operator is defined.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Hazard {
    /// Every element of the operand must lie between the bounds, both included.
    Outside {
        /// The operand.
        operand: usize,
        /// The least allowed value.
        low: f64,
        /// The greatest allowed value.
        high: f64,
    },
    /// No element of the operand may be 0.
    Zero {
        /// The operand.
        operand: usize,
    },
    /// No element of the operand may be one number where the element of another operand that it meets, both broadcast to the
    /// result, is a certain one.
    Meeting {
        /// The operand.
        operand: usize,
        /// The number that its element may not be.
        value: f64,
        /// The other operand.
        other: usize,
        /// What its element is there.
        met: f64,
    },
    /// Elements between the bounds are safe. Whether the operator is defined on others depends on more than one
    /// element: on the exponent of a base, say. There, the result tells.
    Perhaps {
        /// The operand.
        operand: usize,
        /// The least safe value.
        low: f64,
        /// The greatest safe value.
        high: f64,
    },
    /// Defined, but operands in simple ratios divide to ties, whose rounding no profile fixes; prefer values
    /// whose ratios are not simple.
    Ties {
        /// The operand.
        operand: usize,
    },
    /// So many elements of the operand are not zero: the result has room for as many.
    Count {
        /// The operand.
        operand: usize,
        /// How many of its elements are not zero.
        nonzero: u64,
    },
    /// No two indices of the operand may point to one place of the first operand.
    Repeated {
        /// The operand.
        operand: usize,
        /// The axis that they point into, each at its own place on the others; none where they are lists along the last axis.
        axis: Option<usize>,
    },
    /// All is defined, but of elements that are not between the bounds, both included, an accuracy profile promises nothing.
    Far {
        /// The operand.
        operand: usize,
        /// The least element of which all profiles promise something.
        low: f64,
        /// The greatest one.
        high: f64,
    },
    /// Some elements of the result are undefined whatever the operands hold.
    Always,
}

/// A kind of values next to which implementations part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// 0 and -0.
    Zeros,
    /// Numbers that flush to zero on some devices.
    Denormals,
    /// The ends of the dtype.
    Limits,
    /// Integers that no float of some width holds, at most their own: a calculation in such floats loses their last bit.
    Wide,
    /// Numbers so large that a function is flat there.
    Saturation,
    /// Of several numbers one that is so large that adding 1 to it changes nothing, the others 1: a sum in the
    /// operand's own dtype stalls, and a product of integers has more bits than a float.
    Stall,
    /// Numbers whose squares are beyond the operand's dtype and within a wider one.
    Squares,
    /// Exponents of which powers are taken in ways of their own: 0, ±1, 2, 3, ±½.
    Powers,
    /// Elements that are equal.
    Alike,
    /// NaN and the infinities.
    NonFinite,
    /// Numbers on which the result is infinite or NaN as IEEE 754 has it, those outside of the operand's hazards: zeros of a divisor, the
    /// logarithm of 0, the root of a negative number.
    Poles,
    /// Numbers whose sums with elements of another operand are beyond the dtype, or all but so; infinities that cancel.
    Sums(usize),
    /// Numbers whose products with elements of another operand are beyond the dtype, or all but so.
    Products(usize),
    /// Elements of another operand, or numbers next to them.
    Meets(usize),
    /// Odd multiples of half an element of another operand: the quotients of both are ties.
    Halves(usize),
    /// Numbers halfway between two of a narrower dtype.
    Between(DType),
    /// Numbers about the largest of a dtype with a smaller range, and beyond.
    Beyond(DType),
}

impl Edge {
    /// A name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Denormals => "denormals",
            Self::Limits => "limits of the dtype",
            Self::Wide => "integers wider than floats",
            Self::Saturation => "saturation",
            Self::Stall => "a sum that stalls",
            Self::Squares => "squares beyond the dtype",
            Self::Powers => "exponents with powers of their own",
            Self::Alike => "equal elements",
            Self::NonFinite => "NaN and infinities",
            Self::Poles => "poles and domain errors",
            Self::Sums(_) => "a sum that overflows",
            Self::Products(_) => "a product that overflows",
            Self::Meets(_) => "elements of another operand",
            Self::Halves(_) => "ties of a quotient",
            Self::Between(_) => "ties of a narrower dtype",
            Self::Beyond(_) => "numbers beyond a narrower dtype",
        }
    }

    /// Whether a dtype has numbers of this kind. Operators state an edge whatever the dtype of the operand: what only floats have
    /// is no edge of integers.
    pub const fn is_of(self, dtype: DType) -> bool {
        match self {
            Self::NonFinite => match dtype.float() {
                Some(format) => format.has_nan() || format.has_infinities(),
                None => false,
            },
            Self::Denormals | Self::Poles | Self::Sums(_) | Self::Products(_) => dtype.is_float(),
            Self::Zeros
            | Self::Limits
            | Self::Wide
            | Self::Saturation
            | Self::Stall
            | Self::Squares
            | Self::Powers
            | Self::Alike
            | Self::Meets(_)
            | Self::Halves(_)
            | Self::Between(_)
            | Self::Beyond(_) => true,
        }
    }
}

/// The number of elements of a type.
pub fn elements(ty: &Type) -> u64 {
    ty.count().max(0) as u64
}

/// The types of an operator's outputs on operands of these types. All is checked: numbers, the operands' dtypes, the rule.
pub fn infer(
    op: &impl TypeRule<i64>,
    attributes: &Attributes,
    spec: &Spec,
    inputs: &[Option<&Type>],
) -> Result<Vec<Type>, Reject> {
    // A rule compares an axis with a rank, and says so where it is outside: that is wrong in any case, whatever limit it exceeds.
    check_attributes(attributes, |name| !AXES.contains(&name))?;
    check_operands(spec, inputs)?;
    let outputs = op.infer(Args(inputs), &mut Check)?;
    check_attributes(attributes, |name| AXES.contains(&name))?;
    if let Some(&size) = outputs.iter().flat_map(|t| &t.shape).find(|&&size| size < 0) {
        return Err(Reject::Negative(size));
    }
    if outputs.iter().all(Type::is_countable) { Ok(outputs) } else { Err(Reject::Overflow) }
}

/// The attributes that are axes.
const AXES: [&str; 2] = ["axis", "axes"];

/// Numbers beyond [`ir::dim::LIMIT`] are refused before a rule calculates with them.
fn check_attributes(attributes: &Attributes, of: impl Fn(&str) -> bool) -> Result<(), Reject> {
    let fits = |v: &i64| v.unsigned_abs() <= ir::dim::LIMIT as u64;
    let all_fit = attributes.iter().filter(|(name, _)| of(name)).all(|(_, value)| match value {
        Attribute::Int(v) => fits(v),
        Attribute::Ints(v) => v.iter().all(fits),
        Attribute::Float(_)
        | Attribute::Floats(_)
        | Attribute::Name(_)
        | Attribute::Strings(_)
        | Attribute::Tensor(_)
        | Attribute::DType(_) => true,
    });
    if all_fit { Ok(()) } else { Err(Reject::Overflow) }
}

fn check_operands(spec: &Spec, inputs: &[Option<&Type>]) -> Result<(), Reject> {
    if inputs.len() > spec.most_inputs() {
        return Err(Reject::TooMany { given: inputs.len(), most: spec.most_inputs() });
    }
    for (operand, ty) in inputs.iter().enumerate() {
        let allowed = spec.known_types(operand);
        match ty {
            Some(ty) if !allowed.contains(ty.dtype) => {
                return Err(Reject::DType { operand, found: ty.dtype, allowed });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ir::Operation;

    use super::*;
    use crate::list::Op;
    use crate::movement::{Compress, Tile};

    #[test]
    fn a_size_below_0_is_wrong_and_one_beyond_the_limit_too_large() {
        let (x, condition) = (Type::new(DType::F32, [3]), Type::new(DType::Bool, [2]));
        let compress = Op::from(Compress { axis: None, count: -1 });
        assert_eq!(Operation::infer(&compress, &[Some(&x), Some(&condition)]), Err(Reject::Negative(-1)));
        let tile = Op::from(Tile { repeats: vec![ir::dim::LIMIT] });
        assert_eq!(Operation::infer(&tile, &[Some(&x)]), Err(Reject::Overflow));
    }
}
