//! The one list of operators.
//!
//! `operators!` turns it into the [`Op`] enum and its dispatch. A backend matches on [`Op`] without a wildcard,
//! so a new line here does not compile until every backend has answered for it.

use ir::{Attribute, Attributes, BadAttribute, Dim, Operation, Sym, Type};

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::elementwise::{
    Activation, Binary, BitShift, Cast, CastLike, Clip, Compare, Gelu, Mod, PRelu, Pow, Predicate, Shrink,
    Unary, Variadic, Where,
};
use crate::linear::{Gemm, MatMul};
use crate::movement::{
    Concat, DepthToSpace, Expand, EyeLike, Flatten, Gather, GatherElements, OneHot, Pad, Reshape,
    ReverseSequence, Shape, Size, Slice, SpaceToDepth, Split, Squeeze, Tile, Transpose, Trilu, Unsqueeze,
};
use crate::nn::{
    AveragePool, BatchNorm, Conv, GlobalPool, GroupNorm, InstanceNorm, LayerNorm, LpNorm, LpPool, Lrn,
    MaxPool, MeanVariance, RmsNorm, Softmax,
};
use crate::operator::{Edge, Hazard, Operator, TypeRule};
use crate::reduction::{Arg, CumSum, Reduce, TopK};
use crate::rule::{Args, Check, Reject, Rule};
use crate::spec::Spec;

/// Declares [`Op`] and what dispatches over it. `Name(Payload)` is an operator without sizes among its
/// attributes; `Name(Payload<D>)` has some, so its payload is generic over the kind of dimension.
macro_rules! operators {
    ($($name:ident($payload:ident $(<$d:ident>)?) from $($specs:path),+;)*) => {
        /// An operator with its attributes. `Op<Sym>` is one whose sizes are not known yet.
        #[derive(Clone, PartialEq, Debug)]
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
            fn spec(&self) -> &'static Spec {
                match self {
                    $(Self::$name(o) => o.spec(),)*
                }
            }
            fn attributes(&self) -> Attributes {
                match self {
                    $(Self::$name(o) => Operator::attributes(o),)*
                }
            }
            fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
                match self {
                    $(Self::$name(o) => o.eval(c),)*
                }
            }
            fn since(&self, x: &[Option<&Type>]) -> u32 {
                match self {
                    $(Self::$name(o) => o.since(x),)*
                }
            }
            fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
                match self {
                    $(Self::$name(o) => o.hazards(x),)*
                }
            }
            fn edges(&self, x: &[Option<&Type>]) -> Vec<(usize, Edge)> {
                match self {
                    $(Self::$name(o) => o.edges(x),)*
                }
            }
            fn flops(&self, x: &[Option<&Type>], y: &[Type]) -> u64 {
                match self {
                    $(Self::$name(o) => o.flops(x, y),)*
                }
            }
        }

        /// Every operator's row, in the order of the list.
        pub fn registry() -> impl Iterator<Item = &'static Spec> {
            static FAMILIES: &[&[Spec]] = &[$($($specs),+),*];
            FAMILIES.iter().copied().flatten()
        }
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
    Unary(Unary) from crate::elementwise::unary::SPECS;
    Binary(Binary) from crate::elementwise::binary::SPECS;
    Mod(Mod) from crate::elementwise::modulus::SPECS;
    Pow(Pow) from crate::elementwise::pow::SPECS;
    BitShift(BitShift) from crate::elementwise::bit_shift::SPECS;
    PRelu(PRelu) from crate::elementwise::prelu::SPECS;
    Variadic(Variadic) from crate::elementwise::variadic::SPECS;
    Compare(Compare) from crate::elementwise::compare::SPECS;
    Predicate(Predicate) from crate::elementwise::predicate::SPECS;
    Where(Where) from crate::elementwise::select::SPECS;
    Clip(Clip) from crate::elementwise::clip::SPECS;
    Cast(Cast) from crate::elementwise::cast::SPECS;
    CastLike(CastLike) from crate::elementwise::cast::LIKE_SPECS;
    Activation(Activation) from crate::elementwise::activation::SPECS;
    Gelu(Gelu) from crate::elementwise::gelu::SPECS;
    Shrink(Shrink) from crate::elementwise::shrink::SPECS;
    Reshape(Reshape<D>) from crate::movement::reshape::SPECS;
    Split(Split<D>) from crate::movement::split::SPECS;
    Transpose(Transpose) from crate::movement::transpose::SPECS;
    Concat(Concat) from crate::movement::concat::SPECS;
    Slice(Slice<D>) from crate::movement::slice::SPECS;
    Pad(Pad<D>) from crate::movement::pad::SPECS;
    Expand(Expand<D>) from crate::movement::expand::SPECS;
    Squeeze(Squeeze) from crate::movement::squeeze::SQUEEZE;
    Unsqueeze(Unsqueeze) from crate::movement::squeeze::UNSQUEEZE;
    Flatten(Flatten) from crate::movement::flatten::SPECS;
    Gather(Gather) from crate::movement::gather::SPECS;
    Trilu(Trilu) from crate::movement::trilu::SPECS;
    OneHot(OneHot<D>) from crate::movement::one_hot::SPECS;
    GatherElements(GatherElements) from crate::movement::gather_elements::SPECS;
    Tile(Tile<D>) from crate::movement::tile::SPECS;
    DepthToSpace(DepthToSpace<D>) from crate::movement::depth_space::TO_SPACE;
    SpaceToDepth(SpaceToDepth<D>) from crate::movement::depth_space::TO_DEPTH;
    ReverseSequence(ReverseSequence) from crate::movement::reverse_sequence::SPECS;
    EyeLike(EyeLike) from crate::movement::eye_like::SPECS;
    Shape(Shape) from crate::movement::shape::SHAPE;
    Size(Size) from crate::movement::shape::SIZE;
    MatMul(MatMul) from crate::linear::matmul::SPECS;
    Gemm(Gemm) from crate::linear::gemm::SPECS;
    Reduce(Reduce) from crate::reduction::reduce::SPECS;
    Arg(Arg) from crate::reduction::arg::SPECS;
    CumSum(CumSum) from crate::reduction::cum_sum::SPECS;
    TopK(TopK<D>) from crate::reduction::top_k::SPECS;
    Conv(Conv<D>) from crate::nn::conv::SPECS;
    MaxPool(MaxPool<D>) from crate::nn::max_pool::SPECS;
    AveragePool(AveragePool<D>) from crate::nn::average_pool::SPECS;
    LpPool(LpPool<D>) from crate::nn::lp_pool::SPECS;
    GlobalPool(GlobalPool) from crate::nn::global_pool::SPECS;
    BatchNorm(BatchNorm) from crate::nn::batch_norm::SPECS;
    LayerNorm(LayerNorm) from crate::nn::layer_norm::SPECS;
    InstanceNorm(InstanceNorm) from crate::nn::channel_norm::INSTANCE_SPECS;
    GroupNorm(GroupNorm<D>) from crate::nn::channel_norm::GROUP_SPECS;
    RmsNorm(RmsNorm) from crate::nn::rms_norm::SPECS;
    LpNorm(LpNorm) from crate::nn::lp_norm::SPECS;
    MeanVariance(MeanVariance) from crate::nn::mean_variance::SPECS;
    Lrn(Lrn) from crate::nn::lrn::SPECS;
    Softmax(Softmax) from crate::nn::softmax::SPECS;
}

/// A graph of these operators.
pub type Graph = ir::Graph<Op>;
/// A model of these operators.
pub type Model = ir::Model<Op>;

/// The row of the operator with that ONNX name.
pub fn find(name: &str) -> Option<&'static Spec> {
    registry().find(|s| s.name == name)
}

impl Operation for Op {
    type Reject = Reject;

    fn name(&self) -> &'static str {
        self.spec().name
    }

    fn infer(&self, inputs: &[Option<&Type>]) -> Result<Vec<Type>, Reject> {
        check_attributes(&Operator::attributes(self))?;
        check_operands(self.spec(), inputs)?;
        let outputs = TypeRule::infer(self, Args(inputs), &mut Check)?;
        let too_large = outputs.iter().any(|t| t.span() > ir::dim::LIMIT || t.shape.iter().any(|&d| d < 0));
        if too_large { Err(Reject::Overflow) } else { Ok(outputs) }
    }

    fn attributes(&self) -> Attributes {
        Operator::attributes(self)
    }

    fn parse(name: &str, attributes: &Attributes) -> Option<Result<Self, BadAttribute>> {
        find(name).map(|spec| (spec.parse)(attributes))
    }
}

/// Numbers beyond [`ir::dim::LIMIT`] are refused before a rule calculates with them.
fn check_attributes(attributes: &Attributes) -> Result<(), Reject> {
    let fits = |v: &i64| v.unsigned_abs() <= ir::dim::LIMIT as u64;
    let all_fit = attributes.iter().all(|(_, value)| match value {
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
        let allowed = spec.input_types(operand, u32::MAX);
        match ty {
            Some(ty) if !allowed.contains(ty.dtype) => {
                return Err(Reject::DType { operand, found: ty.dtype, allowed });
            }
            _ => {}
        }
    }
    Ok(())
}
