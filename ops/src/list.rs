//! The one list of operators.
//!
//! `operators!` turns it into the [`Op`] enum and its dispatch. A backend matches on [`Op`] without a wildcard,
//! so a new line here does not compile until every backend has answered for it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ir::{Attributes, BadAttribute, Dim, Operation, Sym, Type};

use crate::arith::Arith;
use crate::attributes::Declared;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::elementwise::{
    Activation, Binary, BitCast, BitShift, Cast, CastLike, Clip, Compare, Gelu, IsInf, IsNaN, Mod, PRelu,
    Pow, Shrink, Unary, Variadic, Where,
};
use crate::family::Family;
use crate::linear::{Det, Einsum, Gemm, MatMul};
use crate::movement::{
    Compress, Concat, DepthToSpace, Expand, EyeLike, Flatten, Gather, GatherElements, GatherNd, NonZero,
    OneHot, Pad, Reshape, ReverseSequence, ScatterElements, ScatterNd, Shape, Size, Slice, SpaceToDepth,
    Split, Squeeze, Tile, Transpose, Trilu, Unsqueeze,
};
use crate::nn::{
    AveragePool, BatchNorm, Conv, ConvTranspose, Dropout, GlobalLpPool, GlobalPool, GridSample, GroupNorm,
    InstanceNorm, LayerNorm, LpNorm, LpPool, Lrn, MaxPool, MeanVariance, RmsNorm, Softmax,
};
use crate::operator::{self, Effort, Facts, Hazard, Operator, TypeRule};
use crate::quantized::{DequantizeLinear, DynamicQuantizeLinear, QuantizeLinear};
use crate::reduction::{Arg, Cumulative, Reduce, TopK};
use crate::rule::{Args, Reject, Rule};
use crate::spec::{Row, Spec};

/// Declares [`Op`] and what dispatches over it. `Name(Payload)` is an operator without sizes among its
/// attributes; `Name(Payload<D>)` has some, so its payload is generic over the kind of dimension.
macro_rules! operators {
    ($($name:ident($payload:ident $(<$d:ident>)?);)*) => {
        /// An operator with its attributes. `Op<Sym>` is one whose sizes are not known yet.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "each variant is documented at its payload")]
        pub enum Op<D: Dim = i64> {
            $($name($payload $(<$d>)?),)*
        }

        $(operators!(@from $name $payload $($d)?);)*

        impl<D: Dim> Op<D> {
            /// The operator with the sizes among its attributes in another number system.
            pub fn map<E: Dim>(&self, f: &mut dyn FnMut(D) -> E) -> Op<E> {
                match self {
                    $(Self::$name(o) => Op::$name(operators!(@map o f $($d)?)),)*
                }
            }
        }

        impl Op<Sym<'_>> {
            /// The operator with every unknown replaced by its value.
            pub fn settle(&self, value: &dyn Fn(Sym<'_>) -> i64) -> Op {
                self.map(&mut |d| value(d))
            }
        }

        impl<D: Dim> TypeRule<D> for Op<D> {
            fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
                match self {
                    $(Self::$name(o) => o.infer(x, r),)*
                }
            }
        }

        impl Operator for Op {
            fn facts(&self, x: &[Option<&Type>]) -> Facts {
                match self {
                    $(Self::$name(o) => o.facts(x),)*
                }
            }
            fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
                match self {
                    $(Self::$name(o) => o.hazards(x),)*
                }
            }
            fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
                match self {
                    $(Self::$name(o) => o.effort(x, y),)*
                }
            }
            fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
                match self {
                    $(Self::$name(o) => o.eval(c),)*
                }
            }
        }

        impl Op {
            /// The operator's entry in the registry.
            pub fn spec(&self) -> &'static Spec {
                let (family, row) = match self {
                    $(Self::$name(o) => (Position::$name, o.row()),)*
                };
                &REGISTRY[FIRST[family as usize] + row]
            }

            /// The attributes; [`from_attributes`](Self::from_attributes) gives the operator back.
            pub fn attributes(&self) -> Attributes {
                match self {
                    $(Self::$name(o) => Declared::attributes(o),)*
                }
            }
        }

        /// The families, numbered in the order of the list.
        #[derive(Clone, Copy)]
        enum Position {
            $($name,)*
        }

        const FAMILIES: &[Member] = &[$(Member {
            rows: || <$payload as Family>::ROWS.iter().map(|(_, row)| row).collect(),
            draw: |row, d| <$payload as Family>::draw(<$payload as Family>::ROWS[row].0, d).map(Op::$name),
            parse: |row, given| <$payload as Declared>::parse(<$payload as Family>::ROWS[row].0, given).map(Op::$name),
        },)*];

        const LENGTHS: &[usize] = &[$(<$payload as Family>::ROWS.len(),)*];
    };
    (@from $name:ident $payload:ident) => {
        impl<D: Dim> From<$payload> for Op<D> {
            fn from(o: $payload) -> Self {
                Self::$name(o)
            }
        }
    };
    (@from $name:ident $payload:ident $d:ident) => {
        impl<D: Dim> From<$payload<D>> for Op<D> {
            fn from(o: $payload<D>) -> Self {
                Self::$name(o)
            }
        }
    };
    (@map $o:ident $f:ident) => { $o.clone() };
    (@map $o:ident $f:ident $d:ident) => { $o.map($f) };
}

operators! {
    Unary(Unary);
    Binary(Binary);
    Mod(Mod);
    Pow(Pow);
    BitShift(BitShift);
    PRelu(PRelu);
    Variadic(Variadic);
    Compare(Compare);
    IsNaN(IsNaN);
    IsInf(IsInf);
    Where(Where);
    Clip(Clip);
    Cast(Cast);
    CastLike(CastLike);
    BitCast(BitCast);
    Activation(Activation);
    Gelu(Gelu);
    Shrink(Shrink);
    Reshape(Reshape<D>);
    Split(Split<D>);
    Transpose(Transpose);
    Concat(Concat);
    Slice(Slice<D>);
    Pad(Pad<D>);
    Expand(Expand<D>);
    Squeeze(Squeeze);
    Unsqueeze(Unsqueeze);
    Flatten(Flatten);
    Gather(Gather);
    GatherNd(GatherNd);
    ScatterElements(ScatterElements);
    ScatterNd(ScatterNd);
    Compress(Compress<D>);
    Trilu(Trilu);
    OneHot(OneHot<D>);
    GatherElements(GatherElements);
    Tile(Tile<D>);
    DepthToSpace(DepthToSpace<D>);
    SpaceToDepth(SpaceToDepth<D>);
    ReverseSequence(ReverseSequence);
    EyeLike(EyeLike);
    NonZero(NonZero<D>);
    Shape(Shape);
    Size(Size);
    MatMul(MatMul);
    Gemm(Gemm);
    Det(Det);
    Einsum(Einsum);
    Reduce(Reduce);
    Arg(Arg);
    Cumulative(Cumulative);
    TopK(TopK<D>);
    Conv(Conv<D>);
    ConvTranspose(ConvTranspose<D>);
    MaxPool(MaxPool<D>);
    AveragePool(AveragePool<D>);
    LpPool(LpPool<D>);
    GlobalPool(GlobalPool);
    GlobalLpPool(GlobalLpPool);
    BatchNorm(BatchNorm);
    LayerNorm(LayerNorm);
    InstanceNorm(InstanceNorm);
    GroupNorm(GroupNorm<D>);
    RmsNorm(RmsNorm);
    LpNorm(LpNorm);
    MeanVariance(MeanVariance);
    Lrn(Lrn);
    Softmax(Softmax);
    Dropout(Dropout);
    GridSample(GridSample);
    QuantizeLinear(QuantizeLinear<D>);
    DequantizeLinear(DequantizeLinear<D>);
    DynamicQuantizeLinear(DynamicQuantizeLinear);
}

/// Operators are the same that are written the same. So a NaN among their attributes is itself, and 0 is not -0.
impl<D: Dim> PartialEq for Op<D> {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && self.written() == other.written()
    }
}

impl<D: Dim> Op<D> {
    /// The name, the sizes, and the attributes without them.
    fn written(&self) -> (&'static str, Vec<D>, Attributes) {
        let mut sizes = Vec::new();
        let plain: Op = self.map(&mut |size| {
            sizes.push(size);
            0
        });
        (plain.spec().name, sizes, plain.attributes())
    }
}

/// A graph of these operators.
pub type Graph = ir::Graph<Op>;
/// A model of these operators.
pub type Model = ir::Model<Op>;

/// A family, as the list has it. Its operators are known by the position of their row.
struct Member {
    rows: fn() -> Vec<&'static Row>,
    draw: for<'r, 'a> fn(usize, &mut Draw<'r, 'a>) -> Option<Op<Sym<'a>>>,
    parse: fn(usize, &Attributes) -> Result<Op, BadAttribute>,
}

/// Where the rows of each family begin in the registry.
const FIRST: [usize; LENGTHS.len()] = {
    let mut first = [0; LENGTHS.len()];
    let mut family = 1;
    while family < LENGTHS.len() {
        first[family] = first[family - 1] + LENGTHS[family - 1];
        family += 1;
    }
    first
};

static REGISTRY: LazyLock<Vec<Spec>> = LazyLock::new(|| {
    let rows = FAMILIES.iter().flat_map(|family| (family.rows)());
    rows.enumerate().map(|(position, row)| Spec::new(row, position)).collect()
});

/// Every operator, in the order of the list.
pub fn registry() -> impl Iterator<Item = &'static Spec> {
    REGISTRY.iter()
}

/// The operator with that ONNX name.
pub fn find(name: &str) -> Option<&'static Spec> {
    static BY_NAME: LazyLock<BTreeMap<&'static str, &'static Spec>> =
        LazyLock::new(|| registry().map(|spec| (spec.name, spec)).collect());
    BY_NAME.get(name).copied()
}

/// The family that an operator belongs to, and the position of its row there.
fn member(spec: &Spec) -> (&'static Member, usize) {
    let family = FIRST.partition_point(|&first| first <= spec.position) - 1;
    (&FAMILIES[family], spec.position - FIRST[family])
}

impl Op {
    /// Builds an operator from its attributes.
    pub fn from_attributes(spec: &Spec, given: &Attributes) -> Result<Self, BadAttribute> {
        let (family, row) = member(spec);
        (family.parse)(row, given)
    }
}

impl<'a> Op<Sym<'a>> {
    /// Chooses an operator and its operands; `None` where the choice came to nothing.
    pub fn draw(spec: &Spec, d: &mut Draw<'_, 'a>) -> Option<Self> {
        let (family, row) = member(spec);
        (family.draw)(row, d)
    }
}

impl Operation for Op {
    type Reject = Reject;

    fn name(&self) -> &'static str {
        self.spec().name
    }

    fn infer(&self, inputs: &[Option<&Type>]) -> Result<Vec<Type>, Reject> {
        operator::infer(self, &self.attributes(), self.spec(), inputs)
    }

    fn attributes(&self) -> Attributes {
        self.attributes()
    }

    fn parse(name: &str, attributes: &Attributes) -> Option<Result<Self, BadAttribute>> {
        find(name).map(|spec| Self::from_attributes(spec, attributes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(name: &str, attributes: &Attributes) -> Op {
        Op::parse(name, attributes).expect("an operator").expect("its attributes")
    }

    #[test]
    fn an_operator_is_itself_whatever_its_attributes_are() {
        for name in ["LeakyRelu", "Elu", "LRN", "Gemm"] {
            let with = |alpha| op(name, &Attributes::new().int("size", 3).float("alpha", alpha));
            assert_eq!(with(f32::NAN), with(f32::NAN));
            assert_ne!(with(f32::NAN), with(1.0));
            assert_ne!(with(0.0), with(-0.0));
        }
        let tile = |repeats: &[i64]| op("Tile", &Attributes::new().ints("repeats", repeats));
        assert_eq!(tile(&[1, 2]), tile(&[1, 2]));
        assert_ne!(tile(&[1, 2]), tile(&[2, 1]));
        assert_ne!(op("Add", &Attributes::new()), op("Sub", &Attributes::new()));
    }
}
