//! Choosing one use of an operator: everything but the sizes, which the solver finds.
//!
//! An operator's `draw` asks a [`Draw`] for operands, ranks, dtypes and unknown sizes. Whether the generator is
//! inserting forward (operands may be values that exist) or backward (all operands are fresh and the output is
//! wanted) is not the operator's business: it shows only in what the answers lean towards. A draw that does not
//! fit is thrown away, so an operator needs no inverse.
//!
//! What is likely is no truth about operators. How much answers lean is the generator's [`Taste`].

use ir::Choices;
use ir::dim::Arena;
use ir::{DType, DTypes, Dim, Sym, Type};
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::spec::{Place, Spec};

/// Bounds on what is drawn, and what it leans towards.
#[derive(Clone, PartialEq, Debug)]
pub struct Limits {
    /// The operator set version: decides which dtypes an operand may have.
    pub opset: u32,
    /// The dtypes that values may have.
    pub dtypes: DTypes,
    /// The dtypes that operands and outputs have wherever the operator allows one of them.
    pub wanted: DTypes,
    /// The highest rank.
    pub max_rank: usize,
    /// The smallest dimension: 0 or 1.
    pub min_dim: i64,
    /// The largest dimension of a fresh operand.
    pub max_dim: i64,
    /// A dimension that fresh operands may have besides, however large.
    pub long_dim: Option<i64>,
    /// A dimension that fresh operands often have.
    pub usual_dim: Option<i64>,
    /// A dtype that fresh operands often have.
    pub usual_dtype: DType,
    /// What is likely within the bounds.
    pub taste: Taste,
}

/// How often a draw leans one way where it could go another: probabilities.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Taste {
    /// An operand is a value that exists, where one of some dtypes will do.
    pub live_of_any: f64,
    /// An operand is a value that exists, where the dtype or the shape is asked for.
    pub live_of_one: f64,
    /// A new operand that broadcasts with another has its rank.
    pub rank_of_other: f64,
    /// A rank is that of the wanted output.
    pub wanted_rank: f64,
    /// A rank is 0, where it may be.
    pub scalar: f64,
    /// A dtype is that of the wanted output.
    pub wanted_dtype: f64,
    /// A dtype is the usual one, where it may be.
    pub usual_dtype: f64,
    /// An axis is spelled from the end.
    pub from_end: f64,
    /// An attribute that says yes or no says yes, where neither is the rule.
    pub flag: f64,
    /// A dimension is the long one, where there is one.
    pub long_dim: f64,
    /// A dimension is the usual one, where there is one.
    pub usual_dim: f64,
    /// A first stage is calculated in bf16 instead of f32, where an operator has one.
    pub bf16_stage: f64,
    /// A size falls into more parts than one, where there may be one alone.
    pub parted: f64,
    /// An operand is an earlier one of the same node once more, where that may be.
    pub again: f64,
}

impl Taste {
    /// One way as often as the other.
    pub const EVEN: Self = Self {
        live_of_any: 0.5,
        live_of_one: 0.5,
        rank_of_other: 0.5,
        wanted_rank: 0.5,
        scalar: 0.5,
        wanted_dtype: 0.5,
        usual_dtype: 0.5,
        from_end: 0.5,
        flag: 0.5,
        long_dim: 0.5,
        usual_dim: 0.5,
        bf16_stage: 0.5,
        parted: 0.5,
        again: 0.5,
    };
}

impl Limits {
    /// Of these dtypes those in use: the wanted ones or, where none is among them, all that there may be.
    pub fn in_use(&self, of: DTypes) -> DTypes {
        in_use(of.intersection(self.dtypes), self.wanted)
    }
}

/// Of dtypes that there may be the wanted ones, or all where none is among them.
pub fn in_use(allowed: DTypes, wanted: DTypes) -> DTypes {
    let both = allowed.intersection(wanted);
    if both.is_empty() { allowed } else { both }
}

/// What the draw is for.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'r> {
    /// A node that may use any of these values.
    Forward(&'r [&'r Type]),
    /// A node whose first output has this type.
    Backward(&'r Type),
}

/// Where a drawn operand comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The value at this position of [`Goal::Forward`]'s list.
    Live(usize),
    /// A new variable or constant.
    Fresh,
    /// A new variable or constant that must stay one, because its values are restricted (indices, say).
    Pinned,
    /// The operand at this earlier position of the same node.
    Again(usize),
}

/// A drawn operand.
#[derive(Clone, Debug)]
pub struct Operand<'a> {
    /// Its type; the sizes of a fresh one are unknowns.
    pub ty: Type<Sym<'a>>,
    /// Where it comes from.
    pub source: Source,
}

/// Answers an operator's questions while it chooses one use of itself.
pub struct Draw<'r, 'a> {
    /// The numbers to draw from.
    pub rng: &'r mut Choices,
    /// Bounds on what is drawn.
    pub limits: &'r Limits,
    arena: &'a Arena<'a>,
    goal: Goal<'r>,
    allowed: &'static Spec,
    withheld: Vec<DTypes>,
    again: f64,
    operands: Vec<Option<Operand<'a>>>,
}

impl<'r, 'a> Draw<'r, 'a> {
    /// A draw for one operator.
    pub fn new(
        spec: &'static Spec,
        rng: &'r mut Choices,
        limits: &'r Limits,
        arena: &'a Arena<'a>,
        goal: Goal<'r>,
    ) -> Self {
        let again = limits.taste.again;
        Self { rng, limits, arena, goal, allowed: spec, withheld: Vec::new(), again, operands: Vec::new() }
    }

    /// This draw without some dtypes of each operand, by position.
    #[must_use]
    pub fn without(self, withheld: Vec<DTypes>) -> Self {
        Self { withheld, ..self }
    }

    /// The operands asked for, in order.
    pub fn into_operands(self) -> Vec<Option<Operand<'a>>> {
        self.operands
    }

    /// The dtypes that the next operand may have, by the standard, by the limits, and less those that are withheld.
    pub fn allowed(&self) -> DTypes {
        let next = self.operands.len();
        let allowed = self.allowed.input_types(next, self.limits.opset);
        // The last operand's dtypes are those of all that follow.
        self.limits.in_use(match self.withheld.get(next).or(self.withheld.last()) {
            Some(withheld) => allowed.difference(*withheld),
            None => allowed,
        })
    }

    /// The dtypes that a result may have by the standard.
    pub fn results(&self, output: usize) -> DTypes {
        self.allowed.output_types(output, self.limits.opset)
    }

    /// Whether the opset has the attribute, in whatever form.
    pub fn has(&self, attribute: &str) -> bool {
        self.allowed.place(attribute, self.limits.opset) != Place::Absent
    }

    /// The next operand, of whatever allowed dtype and of a rank in the range.
    pub fn any(&mut self, ranks: std::ops::RangeInclusive<usize>) -> Option<Type<Sym<'a>>> {
        let allowed = self.allowed();
        self.one_of(allowed, ranks)
    }

    /// The next operand, of one of these dtypes (as far as allowed) and of a rank in the range.
    pub fn one_of(
        &mut self,
        dtypes: DTypes,
        ranks: std::ops::RangeInclusive<usize>,
    ) -> Option<Type<Sym<'a>>> {
        let dtypes = dtypes.intersection(self.allowed());
        if let Some(same) = self.again(|t| dtypes.contains(t.dtype) && ranks.contains(&t.rank())) {
            return Some(same);
        }
        if let Goal::Forward(live) = self.goal
            && self.chance(self.limits.taste.live_of_any)
            && let Some(i) = self.pick_live(live, |t| dtypes.contains(t.dtype) && ranks.contains(&t.rank()))
        {
            return Some(self.live(i));
        }
        let dtype = self.dtype(dtypes)?;
        let rank = self.rank(ranks)?;
        Some(self.fresh(dtype, rank))
    }

    /// The next operand, of this dtype and of a rank in the range.
    pub fn of(&mut self, dtype: DType, ranks: std::ops::RangeInclusive<usize>) -> Option<Type<Sym<'a>>> {
        self.one_of(DTypes::of(&[dtype]), ranks)
    }

    /// The next operand, of the same dtype as `like` and of a shape that broadcasts with it.
    pub fn broadcast_with(&mut self, dtype: DType, like: &Type<Sym<'a>>) -> Option<Type<Sym<'a>>> {
        if !self.allowed().contains(dtype) {
            return None;
        }
        if let Some(same) = self.again(|t| t.dtype == dtype) {
            return Some(same);
        }
        if let Goal::Forward(live) = self.goal
            && self.chance(self.limits.taste.live_of_one)
            && let Some(i) =
                self.pick_live(live, |t| t.dtype == dtype && may_broadcast(&t.shape, &like.shape))
        {
            return Some(self.live(i));
        }
        let most = self.limits.max_rank;
        let rank =
            if self.chance(self.limits.taste.rank_of_other) { like.rank() } else { self.rank(0..=most)? };
        Some(self.fresh(dtype, rank))
    }

    /// The next operand, of this dtype and shape; `None` among the sizes leaves one open.
    pub fn matching(&mut self, dtype: DType, shape: &[Option<Sym<'a>>]) -> Option<Type<Sym<'a>>> {
        if !self.allowed().contains(dtype) {
            return None;
        }
        if let Some(same) = self.again(|t| t.dtype == dtype && t.rank() == shape.len()) {
            return Some(same);
        }
        let fits = |t: &Type| t.dtype == dtype && may_match(&t.shape, shape);
        if let Goal::Forward(live) = self.goal
            && self.chance(self.limits.taste.live_of_one)
            && let Some(i) = self.pick_live(live, fits)
        {
            return Some(self.live(i));
        }
        let shape = shape.iter().map(|d| d.unwrap_or_else(|| self.dim())).collect();
        Some(self.fresh_like(dtype, shape))
    }

    /// The next operand, sometimes: an earlier one that fits, once more. Whether their sizes do is for the type rule to say.
    pub fn again(&mut self, fits: impl Fn(&Type<Sym<'a>>) -> bool) -> Option<Type<Sym<'a>>> {
        let is_free = |o: &Operand<'a>| o.source != Source::Pinned && fits(&o.ty);
        let operands = self.operands.iter().enumerate();
        let earlier: Vec<usize> =
            operands.filter(|(_, o)| o.as_ref().is_some_and(is_free)).map(|(i, _)| i).collect();
        if earlier.is_empty() || !self.chance(self.again) {
            return None;
        }
        let place = self.choose(&earlier)?;
        let ty = self.operands[place].as_ref()?.ty.clone();
        self.operands.push(Some(Operand { ty: ty.clone(), source: Source::Again(place) }));
        Some(ty)
    }

    /// The next operand: new, of this dtype and rank, its sizes unknown.
    pub fn fresh(&mut self, dtype: DType, rank: usize) -> Type<Sym<'a>> {
        self.push_fresh(dtype, rank, Source::Fresh)
    }

    /// The next operand: new, of this dtype and shape.
    pub fn fresh_like(&mut self, dtype: DType, shape: Vec<Sym<'a>>) -> Type<Sym<'a>> {
        let ty = Type::new(dtype, shape);
        self.operands.push(Some(Operand { ty: ty.clone(), source: Source::Fresh }));
        ty
    }

    /// The next operand: new, its values restricted by the operator, so never the output of another node.
    pub fn pinned(&mut self, dtype: DType, rank: usize) -> Type<Sym<'a>> {
        self.push_fresh(dtype, rank, Source::Pinned)
    }

    /// [`pinned`](Self::pinned), of whatever allowed dtype: indices, say.
    pub fn any_pinned(&mut self, rank: usize) -> Option<Type<Sym<'a>>> {
        let dtype = self.dtype(self.allowed())?;
        Some(self.pinned(dtype, rank))
    }

    /// [`pinned`](Self::pinned), of this shape.
    pub fn pinned_like(&mut self, dtype: DType, shape: Vec<Sym<'a>>) {
        self.operands.push(Some(Operand { ty: Type::new(dtype, shape), source: Source::Pinned }));
    }

    /// From here on no operand is an earlier one once more: of such a use implementations promise nothing.
    pub fn apart(&mut self) {
        self.again = 0.0;
    }

    /// Leaves the next operand out.
    pub fn absent(&mut self) {
        self.operands.push(None);
    }

    /// An unknown size in the range.
    pub fn unknown(&mut self, low: i64, high: i64) -> Sym<'a> {
        self.arena.unknown(low, high)
    }

    /// An unknown size of a tensor's axis.
    pub fn dim(&mut self) -> Sym<'a> {
        if let Some(long) = self.limits.long_dim
            && self.chance(self.limits.taste.long_dim)
        {
            return self.unknown(long, long);
        }
        if let Some(usual) = self.limits.usual_dim
            && self.chance(self.limits.taste.usual_dim)
        {
            return self.unknown(usual, usual);
        }
        self.unknown(self.limits.min_dim, self.limits.max_dim)
    }

    /// Into how many equal parts a size falls: at most so many, and mostly more than one where that may be, as one part is what
    /// other operators have, too.
    pub fn parts(&mut self, of: Sym<'a>, most: i64) -> Sym<'a> {
        let is_parted = self.chance(self.limits.taste.parted);
        let Some(size) = of.known() else { return self.unknown(if is_parted { 2 } else { 1 }, most) };
        let divisors: Vec<i64> = (2..=most.min(size)).filter(|part| size % part == 0).collect();
        match self.choose(&divisors) {
            Some(part) if is_parted => part.into(),
            _ => 1.into(),
        }
    }

    /// A rank in the range and within the limits; leans towards the wanted output's.
    pub fn rank(&mut self, ranks: std::ops::RangeInclusive<usize>) -> Option<usize> {
        let (low, high) = (*ranks.start(), (*ranks.end()).min(self.limits.max_rank));
        if low > high {
            return None;
        }
        if let Some(wanted) = self.wanted()
            && (low..=high).contains(&wanted.rank())
            && self.chance(self.limits.taste.wanted_rank)
        {
            return Some(wanted.rank());
        }
        if low == 0 && self.chance(self.limits.taste.scalar) {
            return Some(0);
        }
        // Two draws, the smaller: ranks 5 and 6 are kept rare, because their element counts are wasted on 1s.
        let ranks = low.max(high.min(1))..=high;
        Some(self.rng.random_range(ranks.clone()).min(self.rng.random_range(ranks)))
    }

    /// A dtype of the set that the limits allow; leans towards the wanted output's.
    pub fn dtype(&mut self, set: DTypes) -> Option<DType> {
        let set = self.limits.in_use(set);
        if let Some(wanted) = self.wanted()
            && set.contains(wanted.dtype)
            && self.chance(self.limits.taste.wanted_dtype)
        {
            return Some(wanted.dtype);
        }
        let usual = self.limits.usual_dtype;
        if set.contains(usual) && self.chance(self.limits.taste.usual_dtype) {
            return Some(usual);
        }
        let all: Vec<DType> = set.iter().collect();
        all.choose(self.rng).copied()
    }

    /// The type that the first output must have, when inserting backward.
    pub fn wanted(&self) -> Option<&'r Type> {
        match self.goal {
            Goal::Backward(ty) => Some(ty),
            Goal::Forward(_) => None,
        }
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.rng.random_bool(p)
    }

    /// Yes or no, for an attribute of which neither is the rule.
    pub fn flag(&mut self) -> bool {
        self.chance(self.limits.taste.flag)
    }

    /// The dtype of a first stage: bf16 or f32.
    pub fn stage(&mut self) -> DType {
        let is_bf16 = self.limits.dtypes.contains(DType::BF16) && self.chance(self.limits.taste.bf16_stage);
        if is_bf16 { DType::BF16 } else { DType::F32 }
    }

    /// An integer in the inclusive range.
    pub fn int(&mut self, low: i64, high: i64) -> i64 {
        self.rng.random_range(low..=high)
    }

    /// One of the list.
    pub fn choose<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        list.choose(self.rng).copied()
    }

    /// An axis of a rank, sometimes spelled as a negative number; `None` for rank 0.
    pub fn axis(&mut self, rank: usize) -> Option<i64> {
        let axis = self.rng.random_range(0..rank.max(1)) as i64;
        (rank > 0).then(|| self.spell_axis(axis, rank))
    }

    /// Between `least` and `rank` distinct axes, ascending, each sometimes spelled as a negative number.
    pub fn axes(&mut self, rank: usize, least: usize) -> Vec<i64> {
        let count = self.rng.random_range(least.min(rank)..=rank);
        let mut chosen: Vec<usize> = rand::seq::index::sample(self.rng, rank, count).into_vec();
        chosen.sort_unstable();
        chosen.into_iter().map(|a| self.spell_axis(a as i64, rank)).collect()
    }

    fn spell_axis(&mut self, axis: i64, rank: usize) -> i64 {
        if self.chance(self.limits.taste.from_end) { axis - rank as i64 } else { axis }
    }

    /// A value that exists, fits, and is no operand of the node yet: how often one comes again is said apart.
    fn pick_live(&mut self, live: &[&Type], fits: impl Fn(&Type) -> bool) -> Option<usize> {
        let is_taken = |i| self.operands.iter().flatten().any(|o| o.source == Source::Live(i));
        let fitting: Vec<usize> = (0..live.len()).filter(|&i| fits(live[i]) && !is_taken(i)).collect();
        fitting.choose(self.rng).copied()
    }

    fn live(&mut self, i: usize) -> Type<Sym<'a>> {
        let Goal::Forward(live) = self.goal else { unreachable!("only forward draws pick live values") };
        let ty = live[i].lift();
        self.operands.push(Some(Operand { ty: ty.clone(), source: Source::Live(i) }));
        ty
    }

    fn push_fresh(&mut self, dtype: DType, rank: usize, source: Source) -> Type<Sym<'a>> {
        let shape: Vec<_> = (0..rank).map(|_| self.dim()).collect();
        let ty = Type::new(dtype, shape);
        self.operands.push(Some(Operand { ty: ty.clone(), source }));
        ty
    }
}

/// Whether a known shape can broadcast with one that may have unknowns.
fn may_broadcast(a: &[i64], b: &[Sym<'_>]) -> bool {
    a.iter().rev().zip(b.iter().rev()).all(|(&a, b)| match b.known() {
        Some(b) => a == b || a == 1 || b == 1,
        None => true,
    })
}

/// Whether a known shape can be one that may have unknowns.
fn may_match(a: &[i64], b: &[Option<Sym<'_>>]) -> bool {
    let known = |d: &Option<Sym<'_>>| d.and_then(Dim::known);
    a.len() == b.len() && a.iter().zip(b).all(|(&a, b)| known(b).is_none_or(|b| a == b))
}
