//! What `ScatterElements` and `ScatterND` share: a copy of one operand in which updates stand where indices point to, or are
//! combined with what is there. They differ in what indices point to; what happens there is the same.

use super::index::Pointed;
use crate::prelude::*;

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

    /// One that there is in the opset, and for the dtype.
    pub(super) fn draw(d: &mut Draw<'_, '_>, dtype: DType) -> Option<Self> {
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
            (Self::Max, _) => a.max_of(x, updates.iter().copied()),
            (Self::Min, _) => a.min_of(x, updates.iter().copied()),
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

    /// What is known of a use with it.
    pub(super) fn facts(self) -> Facts {
        let (cost, edges) = match self {
            Self::None => (Cost::Moves, Vec::new()),
            Self::Add | Self::Mul => (Cost::PerOutput(1), vec![(1, Edge::Alike)]),
            Self::Max | Self::Min => {
                (Cost::PerOutput(1), vec![(1, Edge::Alike), (0, Edge::NonFinite), (2, Edge::NonFinite)])
            }
        };
        Facts { since: self.since(), ..Facts::calculates(cost, Batch::Together, None, edges) }
    }

    /// The hazards of an index out of range, those of one that is there twice, along an axis or in lists, and those of a use
    /// that is undefined in any case.
    pub(super) fn hazards(
        self,
        x: &[Option<&Type>],
        places: u64,
        out_of_range: Vec<Hazard>,
        axis: Option<usize>,
    ) -> Vec<Hazard> {
        let [Some(data), _, Some(updates)] = x else { return out_of_range };
        let more = if self.is_undefined(data.dtype, operator::elements(updates), places) {
            Some(Hazard::Always)
        } else {
            (self == Self::None).then_some(Hazard::Repeated { operand: 1, axis })
        };
        out_of_range.into_iter().chain(more).collect()
    }

    /// The first operand with each element combined with the updates that lead to it.
    pub(super) fn scattered<A: Arith>(self, c: &Call<'_, A>, places: &Places) -> Vec<Data<A>> {
        let a = c.arith;
        vec![match (c.data(0), c.data(2)) {
            (Data::Real(x), Data::Real(updates)) => Data::Real(match places {
                Pointed::At(places) => combined(x, updates, places, |x, updates| self.real(a, x, updates)),
                Pointed::Unknown => x.mapv(|_| a.unknown_real()),
                Pointed::Undefined => x.mapv(|_| a.undefined_real()),
            }),
            (Data::Int(x), Data::Int(updates)) => Data::Int(match places {
                Pointed::At(places) => combined(x, updates, places, |x, updates| self.int(a, x, updates)),
                Pointed::Unknown => x.mapv(|_| a.unknown_int()),
                // Each by itself: other indices help, which a search has to see.
                Pointed::Undefined => x.mapv(|x| a.exact([x], |_| None)),
            }),
            (Data::Real(_), Data::Int(_)) | (Data::Int(_), Data::Real(_)) => {
                unreachable!("the type rule makes the updates have the dtype of what is updated")
            }
        }]
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

/// Where each update goes in the first operand, in row-major order, if that can be told of all.
pub(super) type Places = Pointed<Vec<usize>>;

/// The place of an element, in row-major order.
pub(super) fn place(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |place, (&i, &size)| place * size + i)
}

/// Each element combined with the updates that lead to its place.
fn combined<T: Copy>(
    x: &ArrayD<T>,
    updates: &ArrayD<T>,
    places: &[usize],
    combine: impl Fn(T, &[T]) -> T,
) -> ArrayD<T> {
    let mut landed: Vec<Vec<T>> = vec![Vec::new(); x.len()];
    places.iter().zip(updates).for_each(|(&place, &update)| landed[place].push(update));
    lanes::array(x.shape(), x.iter().zip(landed).map(|(&x, updates)| combine(x, &updates)).collect())
}

#[cfg(test)]
tables! {
    updates_meet_at_one_place: "
        to = i32[3] {1, 1, -1}
        ScatterElements(u8[2] {5, 250}, to, u8[3] {1, 2, 4}) {reduction = 'add'} = u8[2] {5, 1}
        ScatterElements(f64[2] {5, 2}, to, f64[3] {0.5, -3, 2}) {reduction = 'mul'} = f64[2] {5, -6}
        ScatterElements(f16[2] {5, 2}, to, f16[3] {3, -3, 2}) {reduction = 'max'} = f16[2] {5, 3}
        ScatterElements(i8[2] {5, -2}, to, i8[3] {3, -3, 2}) {reduction = 'min'} = i8[2] {5, -3}
        ScatterElements(f32[2] {5, 2}, to, f32[3] {1, 1, 1}) = f32[2] {5, nan}
    ";
}
