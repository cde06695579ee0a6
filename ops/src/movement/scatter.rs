//! `ScatterElements` and `ScatterND`: a copy of one operand in which updates stand where indices point to, or are combined with
//! what is there. They differ in what indices point to; what happens there is the same.

use super::gather::{Pointed, in_range, point, points_into};
use super::gather_nd::{self, point_at, pointed};
use crate::prelude::*;

attributes! {
    /// A copy of x in which updates stand where indices point to along an axis, or are combined with what is there.
    ///
    /// `x: […, n, …], indices: […, m, …], updates: as indices → y: as x`
    ///
    /// Each update is at its own place on the other axes, on which the indices may be less than x. Negative indices count
    /// from the axis' end. One out of range is undefined, and so is an element to which several point that are not combined.
    ///
    /// ONNX: [ScatterElements](https://onnx.ai/onnx/operators/onnx__ScatterElements.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ScatterElements {
        /// The axis that the indices point into.
        pub axis: i64 = 0,
        /// What becomes of an update and what is there.
        pub reduction: Reduction as part,
    }
}

attributes! {
    /// A copy of x in which updates stand where lists of indices point to, or are combined with what is there.
    ///
    /// `x: [s…(n), r…], indices: [i…, n], i64, updates: [i…, r…] → y: as x`
    ///
    /// A list has an index for each of the first axes. Negative indices count from the axis' end. One out of range is
    /// undefined, and so is an element to which several point that are not combined.
    ///
    /// ONNX: [ScatterND](https://onnx.ai/onnx/operators/onnx__ScatterND.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ScatterNd {
        /// What becomes of an update and what is there.
        pub reduction: Reduction as part,
    }
}

/// What becomes of an update and what is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Reduction {
    /// The update.
    None,
    Add,
    Mul,
    Max,
    Min,
}

impl Reduction {
    const SPELLINGS: [(&'static str, Self); 5] = [
        ("none", Self::None),
        ("add", Self::Add),
        ("mul", Self::Mul),
        ("max", Self::Max),
        ("min", Self::Min),
    ];

    /// The first opset that has it.
    const fn since(self) -> u32 {
        match self {
            Self::None => 13,
            Self::Add | Self::Mul => 16,
            Self::Max | Self::Min => 18,
        }
    }

    fn draw(d: &mut Draw<'_, '_>, dtype: DType) -> Option<Self> {
        let opset = d.limits.opset;
        let all: Vec<Self> =
            Self::SPELLINGS.iter().map(|&(_, it)| it).filter(|it| it.since() <= opset).collect();
        if dtype == DType::Bool { Some(Self::None) } else { d.choose(&all) }
    }

    /// Real numbers combined, in whatever order.
    fn real<A: Arith>(self, a: &A, x: A::R, updates: &[A::R]) -> A::R {
        let all = std::iter::once(x).chain(updates.iter().copied());
        match (self, updates) {
            (_, []) => x,
            (Self::None, &[update]) => update,
            (Self::None, _) => a.undefined_real(),
            (Self::Add, _) => a.sum(all),
            (Self::Mul, _) => a.product(all),
            (Self::Max, _) => all.fold(x, |x, y| a.max(x, y)),
            (Self::Min, _) => all.fold(x, |x, y| a.min(x, y)),
        }
    }

    /// Integers combined, with the low bits of what overflows.
    fn int<A: Arith>(self, a: &A, x: A::Z, updates: &[A::Z]) -> A::Z {
        let both = |f: fn(i128, i128) -> i128| {
            let step = |x, y| a.exact([x, y], |[x, y]| Some(f(x, y)));
            updates.iter().fold(x, |x, &y| step(x, y))
        };
        match (self, updates) {
            (_, []) => x,
            (Self::None, &[update]) => update,
            (Self::None, _) => a.exact([x], |_| None),
            (Self::Add, _) => both(plain::plus),
            (Self::Mul, _) => both(plain::times),
            (Self::Max, _) => both(std::cmp::Ord::max),
            (Self::Min, _) => both(std::cmp::Ord::min),
        }
    }

    fn facts(self) -> Facts {
        let (cost, edges) = match self {
            Self::None => (Cost::Moves, Vec::new()),
            Self::Add | Self::Mul => (Cost::PerOutput(1), vec![(1, Edge::Alike)]),
            Self::Max | Self::Min => {
                (Cost::PerOutput(1), vec![(1, Edge::Alike), (0, Edge::NonFinite), (2, Edge::NonFinite)])
            }
        };
        Facts {
            since: self.since(),
            reads: Reads::Elements,
            cost,
            batch: Batch::Together,
            linear: None,
            edges,
        }
    }

    /// Some elements are undefined in any case where there are more updates than places, none of which takes two, and where
    /// truth values are combined, of which the standard does not say how.
    fn is_undefined(self, dtype: DType, updates: u64, places: u64) -> bool {
        if self == Self::None { updates > places } else { dtype == DType::Bool && updates > 0 }
    }
}

impl Part for Reduction {
    fn read(given: &Attributes) -> Result<Self, BadAttribute> {
        read_choice(given, "reduction", &Self::SPELLINGS, Some(Self::None))
    }

    fn write(&self, all: &mut Attributes) {
        write_choice(all, "reduction", self, &Self::SPELLINGS);
    }
}

impl Single for ScatterElements {
    const ROW: Row = Row::new("ScatterElements");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let indices = d.any_pinned(x.rank())?;
        d.matching(x.dtype, &indices.shape.iter().copied().map(Some).collect::<Vec<_>>())?;
        Some(ScatterElements { axis: d.axis(x.rank())?, reduction: Reduction::draw(d, x.dtype)? })
    }
}

impl Single for ScatterNd {
    const ROW: Row = Row::new("ScatterND");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let pointed = d.int(1, x.rank() as i64) as usize;
        let rest = &x.shape[pointed..];
        let lists = d.int(0, (d.limits.max_rank - rest.len()).min(d.limits.max_rank - 1) as i64);
        let lists: Vec<Sym<'a>> = (0..lists).map(|_| d.dim()).collect();
        d.pinned_like(DType::I64, [&lists[..], &[(pointed as i64).into()]].concat());
        d.matching(x.dtype, &lists.iter().chain(rest).copied().map(Some).collect::<Vec<_>>())?;
        Some(ScatterNd { reduction: Reduction::draw(d, x.dtype)? })
    }
}

impl<D: Dim> TypeRule<D> for ScatterElements {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (data, updates) = (x.need(0)?, x.need(2)?);
        let along = rule::axis(self.axis, data.rank())?;
        let indices = x.ranked(1, data.rank()..=data.rank())?;
        for (a, (&index, &size)) in indices.shape.iter().zip(&data.shape).enumerate() {
            if a != along {
                r.le(index, size)?;
            }
        }
        points_into(r, indices, &data.shape[along..=along])?;
        same_shape(r, &indices.shape, &updates.shape)?;
        same_dtype(&[data, updates])?;
        Ok(vec![data.clone()])
    }
}

impl<D: Dim> TypeRule<D> for ScatterNd {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (data, indices, updates) = (x.ranked_from(0, 1)?, x.ranked_from(1, 1)?, x.need(2)?);
        let (into, rest) = data.shape.split_at(pointed(r, indices, data.rank())?);
        points_into(r, indices, into)?;
        let slices = [&indices.shape[..indices.rank() - 1], rest].concat();
        same_shape(r, &slices, &updates.shape)?;
        same_dtype(&[data, updates])?;
        Ok(vec![data.clone()])
    }
}

/// Where each update goes in the first operand, in row-major order, if that can be told of all.
type Places = Pointed<Vec<usize>>;

/// The place of an element, in row-major order.
fn place(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |place, (&i, &size)| place * size + i)
}

impl ScatterElements {
    /// Each update is at its own place but for the axis.
    fn places<A: Arith>(self, c: &Call<'_, A>) -> Places {
        let (indices, shape) = (c.int(1), c.data(0).shape());
        let axis = c.axis(self.axis);
        let places = lanes::build(indices.shape(), |at| {
            point(c.arith, indices[at], shape[axis]).map(|i| {
                let mut target = at.to_vec();
                target[axis] = i;
                place(&target, shape)
            })
        });
        places.into_iter().collect()
    }
}

/// Each list of indices leads to a slice, and its updates to the elements of that.
fn places_of_slices<A: Arith>(c: &Call<'_, A>) -> Places {
    let (indices, shape) = (c.int(1), c.data(0).shape());
    let length = indices.shape()[indices.ndim() - 1];
    let (into, rest) = shape.split_at(length);
    let inner: usize = rest.iter().product();
    let lists = indices.len() / length;
    let all: Vec<A::Z> = indices.iter().copied().collect();
    let target = |update: usize| {
        let list = &all[update / inner * length..][..length];
        point_at(c.arith, list.iter().copied(), into).map(|at| place(&at, into) * inner + update % inner)
    };
    (0..lists * inner).map(target).collect()
}

/// The first operand with each element combined with the updates that lead to it.
fn scattered<A: Arith>(reduction: Reduction, c: &Call<'_, A>, places: &Places) -> Vec<Data<A>> {
    let a = c.arith;
    vec![match (c.data(0), c.data(2)) {
        (Data::Real(x), Data::Real(updates)) => Data::Real(match places {
            Pointed::At(places) => combined(x, updates, places, |x, updates| reduction.real(a, x, updates)),
            Pointed::Unknown => x.mapv(|_| a.unknown_real()),
            Pointed::Undefined => x.mapv(|_| a.undefined_real()),
        }),
        (Data::Int(x), Data::Int(updates)) => Data::Int(match places {
            Pointed::At(places) => combined(x, updates, places, |x, updates| reduction.int(a, x, updates)),
            Pointed::Unknown => x.mapv(|_| a.unknown_int()),
            Pointed::Undefined => x.mapv(|_| a.undefined_int()),
        }),
        (Data::Real(_), Data::Int(_)) | (Data::Int(_), Data::Real(_)) => {
            unreachable!("the type rule makes the updates have the dtype of what is updated")
        }
    }]
}

fn combined<T: Copy>(
    x: &ArrayD<T>,
    updates: &ArrayD<T>,
    places: &[usize],
    combine: impl Fn(T, &[T]) -> T,
) -> ArrayD<T> {
    let mut landed: Vec<Vec<T>> = vec![Vec::new(); x.len()];
    places.iter().zip(updates).for_each(|(&place, &update)| landed[place].push(update));
    array(x.shape(), x.iter().zip(landed).map(|(&x, updates)| combine(x, &updates)).collect())
}

/// The hazards of an index out of range and those of a use that is undefined in any case.
fn hazards(reduction: Reduction, x: &[Option<&Type>], places: u64, out_of_range: Vec<Hazard>) -> Vec<Hazard> {
    let [Some(data), _, Some(updates)] = x else { return out_of_range };
    let is_undefined = reduction.is_undefined(data.dtype, elements(updates), places);
    out_of_range.into_iter().chain(is_undefined.then_some(Hazard::Always)).collect()
}

impl Operator for ScatterElements {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        self.reduction.facts()
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let [Some(data), Some(indices), ..] = x else { return Vec::new() };
        // Where there is a lane, it has this many places for its updates.
        let lane = accepted(rule::axis(self.axis, data.rank()));
        let places = if indices.shape[lane] > data.shape[lane] { 0 } else { u64::MAX };
        hazards(self.reduction, x, places, in_range(x, self.axis))
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        scattered(self.reduction, c, &self.places(c))
    }
}

impl Operator for ScatterNd {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        self.reduction.facts()
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let places = x[0].map_or(0, elements);
        hazards(self.reduction, x, places, gather_nd::in_range(x, 0))
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        scattered(self.reduction, c, &places_of_slices(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outputs, parse, run, tensor};

    fn elements(axis: i64, reduction: Reduction) -> ScatterElements {
        ScatterElements { axis, reduction }
    }

    #[test]
    fn the_examples_of_the_specification() {
        let x = tensor(DType::F32, &[1, 5], &[1., 2., 3., 4., 5.]);
        let updates = tensor(DType::F32, &[1, 2], &[1.5, 2.0]);
        let to = |a, b| tensor(DType::I64, &[1, 2], &[a, b]);
        let op = parse::<ScatterElements>("ScatterElements", &Attributes::new().int("axis", 1));
        assert_eq!(run(op, &[&x, &to(1., 3.), &updates]), [1., 1.5, 3., 2., 5.]);
        let add = elements(1, Reduction::Add);
        assert_eq!(run(add, &[&x, &to(1., -4.), &updates]), [1., 5.5, 3., 4., 5.]);
        let x = tensor(DType::I32, &[8], &[1., 2., 3., 4., 5., 6., 7., 8.]);
        let (to, updates) =
            (tensor(DType::I64, &[4, 1], &[4., 3., 1., 7.]), tensor(DType::I32, &[4], &[9., 10., 11., 12.]));
        let op = ScatterNd { reduction: Reduction::None };
        assert_eq!(run(op, &[&x, &to, &updates]), [1., 11., 3., 10., 9., 6., 7., 12.]);
    }

    #[test]
    fn updates_meet_at_one_place() {
        let to = tensor(DType::I32, &[3], &[1., 1., -1.]);
        let met = |reduction, dtype, x: &[f64], updates: &[f64]| {
            let (x, updates) = (tensor(dtype, &[2], x), tensor(dtype, &[3], updates));
            run(elements(0, reduction), &[&x, &to, &updates])
        };
        assert_eq!(met(Reduction::Add, DType::U8, &[5., 250.], &[1., 2., 4.]), [5., 1.]);
        assert_eq!(met(Reduction::Mul, DType::F64, &[5., 2.], &[0.5, -3., 2.]), [5., -6.]);
        assert_eq!(met(Reduction::Max, DType::F16, &[5., 2.], &[3., -3., 2.]), [5., 3.]);
        assert_eq!(met(Reduction::Min, DType::I8, &[5., -2.], &[3., -3., 2.]), [5., -3.]);
        assert!(met(Reduction::None, DType::F32, &[5., 2.], &[1., 1., 1.])[1].is_nan());
    }

    #[test]
    fn slices_are_updated_as_a_whole() {
        let x = tensor(DType::F32, &[2, 2, 2], &[0.; 8]);
        let to = tensor(DType::I64, &[1, 2, 2], &[0., 1., -1., 0.]);
        let updates = tensor(DType::F32, &[1, 2, 2], &[1., 2., 3., 4.]);
        let op = ScatterNd { reduction: Reduction::Add };
        assert_eq!(run(op, &[&x, &to, &updates]), [0., 0., 1., 2., 3., 4., 0., 0.]);
        assert!(outputs(op, &[&x, &to, &tensor(DType::F32, &[1, 2], &[1., 2.])]).is_err());
    }

    #[test]
    fn more_updates_than_places_and_sums_of_truth_are_undefined() {
        let types = |dtype, updates: i64| {
            [Type::new(dtype, [2]), Type::new(DType::I64, [updates]), Type::new(dtype, [updates])]
        };
        let is_always = |reduction, types: &[Type; 3]| {
            elements(0, reduction).hazards(&types.each_ref().map(Some)).contains(&Hazard::Always)
        };
        assert!(is_always(Reduction::None, &types(DType::F32, 3)));
        assert!(!is_always(Reduction::None, &types(DType::Bool, 2)));
        assert!(!is_always(Reduction::Add, &types(DType::F32, 3)));
        assert!(is_always(Reduction::Max, &types(DType::Bool, 1)));
    }
}
