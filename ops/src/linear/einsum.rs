//! `Einsum`: sums of products of elements that share their places on axes of one name.

mod early;

use self::early::Early;
use super::equation::{Equation, Label};
use crate::prelude::*;

attributes! {
    /// Sums of products of elements that share their places on axes of one name: Einstein's summation.
    ///
    /// `x…: as the equation says → y: as the equation says`
    ///
    /// Axes of a letter have one size; `...` stands for as many axes of each operand, which broadcast. What the result
    /// does not have is summed up: of products, says the text, and implementations sum an axis that one operand alone
    /// has before they multiply. Either is right.
    ///
    /// ONNX: [Einsum](https://onnx.ai/onnx/operators/onnx__Einsum.html).
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Einsum {
        /// Which axes are one, and which the result has.
        pub equation: Equation as part,
    }
}

/// An axis, as all operands and the result see it: that of a letter, or one of the rest, counted from the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Axis {
    Letter(char),
    Rest(usize),
}

/// The axes that labels stand for, where so many axes are the rest.
fn spelled(labels: &[Label], rest: usize) -> Vec<Axis> {
    let axes = |&label: &Label| match label {
        Label::Letter(letter) => vec![Axis::Letter(letter)],
        Label::Rest => (0..rest).rev().map(Axis::Rest).collect(),
    };
    labels.iter().flat_map(axes).collect()
}

impl Einsum {
    /// The axes of the operands, and those of the result, for operands of these ranks.
    fn axes(&self, ranks: &[usize]) -> Result<(Vec<Vec<Axis>>, Vec<Axis>), Reject> {
        let labels = &self.equation.operands;
        if labels.len() != ranks.len() {
            return Err(Reject::Length { name: "equation", found: labels.len(), wanted: ranks.len() });
        }
        // However often `...` stands there, it stands for as many axes.
        let mut rest = None;
        let mut operands = Vec::with_capacity(ranks.len());
        for (operand, (labels, &rank)) in labels.iter().zip(ranks).enumerate() {
            let letters = labels.iter().filter(|&&label| label != Label::Rest).count();
            let has_rest = labels.contains(&Label::Rest);
            let wrong = |wanted: String| Err(Reject::Rank { operand, found: rank, wanted });
            let more = match (has_rest, rank.checked_sub(letters)) {
                (true, Some(more)) => more,
                (false, Some(0)) => 0,
                (true, None) => return wrong(format!("rank {letters} or more")),
                (false, _) => return wrong(format!("rank {letters}")),
            };
            if has_rest && more != *rest.get_or_insert(more) {
                return wrong(format!("rank {}", letters + rest.unwrap_or_default()));
            }
            operands.push(spelled(labels, more));
        }
        Ok((operands, spelled(&self.equation.results(), rest.unwrap_or_default())))
    }

    /// The size of each axis that an operand has.
    fn sizes<D: Dim>(
        operands: &[Vec<Axis>],
        types: &[&Type<D>],
        r: &mut dyn Rule<D>,
    ) -> Result<Vec<(Axis, D)>, Reject> {
        let mut sizes: Vec<(Axis, D)> = Vec::new();
        for (&axis, &size) in operands.iter().zip(types).flat_map(|(axes, ty)| axes.iter().zip(&ty.shape)) {
            match sizes.iter_mut().find(|(known, _)| *known == axis) {
                None => sizes.push((axis, size)),
                Some((Axis::Letter(_), known)) => same_letter(*known, size, r)?,
                Some((Axis::Rest(_), known)) => {
                    *known = rule::broadcast_shapes(r, &[&[*known], &[size]])?[0];
                }
            }
        }
        Ok(sizes)
    }

    /// How operands that are valid are walked.
    fn walked(&self, types: &[&Type]) -> Walk {
        let ranks: Vec<usize> = types.iter().map(|ty| ty.rank()).collect();
        let (operands, result) = rule::accepted(self.axes(&ranks));
        let sizes = rule::accepted(Self::sizes(&operands, types, &mut Check));
        let size =
            |axis: Axis| sizes.iter().find(|(known, _)| *known == axis).map_or(1, |&(_, size)| size as usize);
        let summed = sizes.iter().map(|(axis, _)| *axis).filter(|axis| !result.contains(axis));
        let axes = result.iter().copied().chain(summed).map(|axis| (axis, size(axis))).collect();
        Walk { operands, axes, kept: result.len() }
    }
}

/// Requires two axes of a letter to be of one size. "Ellipsis to enable broadcasting", says the text; of an axis of size 1 that has the
/// letter of another one it says nothing, and ONNX's reference broadcasts it.
fn same_letter<D: Dim>(a: D, b: D, r: &mut dyn Rule<D>) -> Result<(), Reject> {
    let is_one = |size: D| size.known() == Some(1);
    let are_known = a.known().is_some() && b.known().is_some();
    if are_known && is_one(a) != is_one(b) {
        return Err(Reject::Unsaid("whether an axis of size 1 broadcasts to others of its letter"));
    }
    r.eq(a, b)
}

/// A walk over all axes, those of the result outside.
struct Walk {
    /// The axes of each operand.
    operands: Vec<Vec<Axis>>,
    /// All axes with their sizes.
    axes: Vec<(Axis, usize)>,
    /// How many of them the result has, the first ones.
    kept: usize,
}

impl Walk {
    /// How many products each element of the result is the sum of.
    fn terms(&self) -> u64 {
        self.axes[self.kept..].iter().fold(1, |terms, &(_, size)| terms.saturating_mul(size as u64))
    }
}

/// The letters that are drawn.
const ALPHABET: [char; 5] = ['i', 'j', 'k', 'l', 'm'];

/// The most axes of an operand that is drawn: all of an equation's letters are loops around each other.
const MOST_AXES: usize = 4;

impl Single for Einsum {
    const ROW: Row = Row::new("Einsum");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let mut drawn = Drawn::start(d)?;
        let count = d.choose(&[1, 1, 2, 2, 2, 2, 2, 3, 3, 4])?;
        (0..count).try_for_each(|_| drawn.operand(d))?;
        let result = drawn.result(d)?;
        let result = if d.wanted().is_none() && d.chance(0.15) { None } else { Some(result) };
        Some(Einsum { equation: Equation { operands: drawn.operands, result } })
    }
}

/// An equation under way.
struct Drawn<'a> {
    /// The most axes of an operand.
    most: usize,
    /// How many axes `...` stands for, where an operand has it.
    rest: usize,
    alphabet: &'static [char],
    /// The letters that operands have, with their sizes.
    sizes: Vec<(char, Sym<'a>)>,
    operands: Vec<Vec<Label>>,
    dtype: Option<DType>,
}

impl<'a> Drawn<'a> {
    fn start(d: &mut Draw<'_, 'a>) -> Option<Self> {
        let most = d.limits.max_rank.min(MOST_AXES);
        if most == 0 {
            return None;
        }
        let rest = if most > 1 && d.chance(0.2) { 1 + usize::from(most > 2 && d.chance(0.3)) } else { 0 };
        // The fewer letters, the more operands share them, and the more stand twice in one.
        let letters = if rest > 0 { d.choose(&[1, 2, 2, 3])? } else { d.choose(&[1, 2, 3, 3, 3, 4, 5])? };
        let alphabet = &ALPHABET[..letters];
        Some(Self { most, rest, alphabet, sizes: Vec::new(), operands: Vec::new(), dtype: None })
    }

    fn size(&self, letter: char) -> Option<Sym<'a>> {
        self.sizes.iter().find(|(other, _)| *other == letter).map(|&(_, size)| size)
    }

    /// One more operand, whose letters have the sizes that they have elsewhere.
    fn operand(&mut self, d: &mut Draw<'_, 'a>) -> Option<()> {
        let named = d.int(1, (self.most - self.rest) as i64) as usize;
        let letters: Vec<char> = (0..named).map(|_| d.choose(self.alphabet)).collect::<Option<_>>()?;
        let rest = if self.rest > 0 && d.chance(0.8) { self.rest } else { 0 };
        // In front of all letters more often than not.
        let before = if rest > 0 && d.chance(0.4) { d.int(0, named as i64) as usize } else { 0 };
        let ty = match self.dtype {
            None => d.any(rest + named..=rest + named)?,
            Some(dtype) => {
                let mut shape: Vec<_> = letters.iter().map(|&letter| self.size(letter)).collect();
                shape.splice(before..before, std::iter::repeat_n(None, rest));
                d.matching(dtype, &shape)?
            }
        };
        self.dtype = Some(ty.dtype);
        let of_letters = ty.shape[..before].iter().chain(&ty.shape[before + rest..]);
        for (&letter, &size) in letters.iter().zip(of_letters) {
            if self.size(letter).is_none() {
                self.sizes.push((letter, size));
            }
        }
        let mut labels: Vec<Label> = letters.into_iter().map(Label::Letter).collect();
        if rest > 0 {
            labels.insert(before, Label::Rest);
        }
        self.operands.push(labels);
        Some(())
    }

    /// The labels of the result: some of the letters in any order, and the rest if an operand has it.
    fn result(&self, d: &mut Draw<'_, 'a>) -> Option<Vec<Label>> {
        let mut letters: Vec<Label> = self.sizes.iter().map(|&(letter, _)| Label::Letter(letter)).collect();
        let has_rest = self.operands.iter().flatten().any(|&label| label == Label::Rest);
        let rest = if has_rest { self.rest } else { 0 };
        let kept = match d.wanted() {
            Some(wanted) => wanted.rank().checked_sub(rest).filter(|&kept| kept <= letters.len())?,
            None => d.int(0, letters.len() as i64) as usize,
        };
        let mut result: Vec<Label> = Vec::new();
        while result.len() < kept {
            let next = d.int(0, letters.len() as i64 - 1) as usize;
            result.push(letters.remove(next));
        }
        if has_rest {
            let before = if d.chance(0.4) { d.int(0, kept as i64) as usize } else { 0 };
            result.insert(before, Label::Rest);
        }
        Some(result)
    }
}

impl<D: Dim> TypeRule<D> for Einsum {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let types = x.all()?;
        let ranks: Vec<usize> = types.iter().map(|ty| ty.rank()).collect();
        let (operands, result) = self.axes(&ranks)?;
        let sizes = Self::sizes(&operands, &types, r)?;
        let size = |axis: &Axis| sizes.iter().find(|(known, _)| known == axis).map(|&(_, size)| size);
        let shape: Vec<D> = result.iter().filter_map(size).collect();
        Ok(vec![Type::new(rule::same_dtype(&types)?, shape)])
    }
}

/// An operand, as a walk over all axes sees it.
struct Operand<T> {
    elements: Vec<T>,
    /// Its strides along the axes of the result: 0 along those that it does not have, and along those that it repeats on.
    outer: Vec<usize>,
    /// Where the terms of a sum have their elements.
    terms: Vec<usize>,
    /// Where these are, each once: by the axes that are summed and that the operand has.
    own: Vec<usize>,
}

impl<T: Copy> Operand<T> {
    fn new(x: &ArrayD<T>, axes: &[Axis], walk: &Walk) -> Self {
        let mut strides = vec![0; walk.axes.len()];
        let mut stride = 1;
        for (axis, &size) in axes.iter().zip(x.shape()).rev() {
            // A letter that stands twice walks along the diagonal.
            if let Some(i) = walk.axes.iter().position(|(other, _)| other == axis).filter(|_| size != 1) {
                strides[i] += stride;
            }
            stride *= size;
        }
        let inner = strides.split_off(walk.kept);
        let sizes: Vec<usize> = walk.axes[walk.kept..].iter().map(|&(_, size)| size).collect();
        let terms = lanes::build(&sizes, |at| offset(at, &inner)).into_raw_vec_and_offset().0;
        let lengths = own_lengths(axes, x.shape(), walk);
        let own = if lengths == sizes {
            terms.clone()
        } else {
            lanes::build(&lengths, |at| offset(at, &inner)).into_raw_vec_and_offset().0
        };
        Self { elements: x.iter().copied().collect(), outer: strides, terms, own }
    }
}

/// The sizes that the axes which are summed have in an operand: 1 where it repeats along them.
fn own_lengths(axes: &[Axis], shape: &[usize], walk: &Walk) -> Vec<usize> {
    let has = |wanted: Axis| axes.iter().zip(shape).any(|(&axis, &size)| axis == wanted && size != 1);
    walk.axes[walk.kept..].iter().map(|&(axis, size)| if has(axis) { size } else { 1 }).collect()
}

fn offset(at: &[usize], strides: &[usize]) -> usize {
    at.iter().zip(strides).map(|(i, stride)| i * stride).sum()
}

/// The elements of each operand, as often as terms have them or once.
type Factors<'f, T> = &'f dyn Fn() -> Vec<Vec<T>>;

/// The result: a function of the elements of each operand that the terms of a sum have, and of each of these once.
fn summed<T: Copy, U>(
    walk: &Walk,
    operands: &[&ArrayD<T>],
    mut sum: impl FnMut(&[Vec<T>], Factors<'_, T>) -> U,
) -> ArrayD<U> {
    let operands: Vec<Operand<T>> =
        operands.iter().zip(&walk.operands).map(|(x, axes)| Operand::new(x, axes, walk)).collect();
    let shape: Vec<usize> = walk.axes[..walk.kept].iter().map(|&(_, size)| size).collect();
    lanes::build(&shape, |at| {
        let those = |of: fn(&Operand<T>) -> &[usize]| -> Vec<Vec<T>> {
            let factors = |operand: &Operand<T>| {
                let start = offset(at, &operand.outer);
                of(operand).iter().map(|term| operand.elements[start + term]).collect()
            };
            operands.iter().map(factors).collect()
        };
        sum(&those(|operand| &operand.terms), &|| those(|operand| &operand.own))
    })
}

impl Operator for Einsum {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let types: Vec<&Type> = x.iter().flatten().copied().collect();
        let walk = self.walked(&types);
        Facts::calculates(
            Cost::PerOutput(walk.terms().saturating_mul(types.len() as u64)),
            Batch::Together,
            // In each of its operands; of a product of more than two, less is known of what is on the way.
            (types.len() <= 2).then_some(0),
            vec![(0, Edge::Stall)],
        )
    }

    /// An integer that overflows may wrap or saturate, and of a sum with such terms nothing is promised.
    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let types: Vec<&Type> = x.iter().flatten().copied().collect();
        let Some((least, most)) = types.first().and_then(|ty| ty.dtype.int_range()) else {
            return Vec::new();
        };
        let terms = self.walked(&types).terms() as f64;
        // Terms of either sign are a random walk.
        let terms = if least < 0 { terms.sqrt() } else { terms };
        let high = libm::pow(most as f64 / terms.max(1.0), 1.0 / types.len() as f64).floor().max(1.0);
        let low = if least < 0 { -high } else { 0.0 };
        (0..types.len()).map(|operand| Hazard::Far { operand, low, high }).collect()
    }

    /// Where each term has its factors is laid out, and the factors of a sum are.
    fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
        let operations = self.facts(x).cost.flops(x, y);
        let types: Vec<&Type> = x.iter().flatten().copied().collect();
        let terms = self.walked(&types).terms();
        Effort { operations, scratch: terms.saturating_mul(2 * types.len() as u64) }
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        let types: Vec<&Type> = c.types.iter().flatten().copied().collect();
        let walk = self.walked(&types);
        vec![if c.is_real() {
            let operands: Vec<_> = (0..types.len()).map(|i| c.real(i)).collect();
            let early = Early::of(&walk, &types);
            Data::Real(summed(&walk, &operands, |factors, own| {
                let of_products = match factors {
                    [x] => a.sum(x.iter().copied()),
                    [x, y] => a.dot(x.iter().copied().zip(y.iter().copied())),
                    all => a.sum((0..all[0].len()).map(|term| a.product(all.iter().map(|x| x[term])))),
                };
                match &early {
                    None => of_products,
                    Some(early) => a.either(of_products, || early.sum(a, own())),
                }
            }))
        } else {
            let operands: Vec<_> = (0..types.len()).map(|i| c.int(i)).collect();
            Data::Int(summed(&walk, &operands, |factors, _| {
                let times = |x, y| a.exact([x, y], |[x, y]| Some(plain::times(x, y)));
                let plus = |x, y| a.exact([x, y], |[x, y]| Some(plain::plus(x, y)));
                let term = |term: usize| factors.iter().map(|x| x[term]).fold(a.int(1), times);
                (0..factors[0].len()).map(term).fold(a.int(0), plus)
            }))
        }]
    }
}

#[cfg(test)]
tables! {
    letters_say_what_is_summed: "
        x = f32[2, 3] {1, 2, 3, 4, 5, 6}; y = f32[3] {1, 10, 100}
        Einsum(x) {equation = 'ij->ji'} = f32[3, 2] {1, 4, 2, 5, 3, 6}
        Einsum(x, y) {equation = 'ij,j->i'} = f32[2] {321, 654}
        Einsum(x, y) {equation = 'ij,j'} = f32[2] {321, 654}
        Einsum(x, y, y) {equation = 'ij,j,j->'} = f32[] {90705}
        Einsum(x, y) {equation = 'ij,i->j'} is refused: 2 must equal 3
        Einsum(x, f32[1, 3]) {equation = 'ij,ij->ij'} is refused: the standard does not say whether an axis of size 1 broadcasts to others of its letter
        Einsum(x, y) {equation = 'ij->ij'} is refused
    ";
    a_letter_twice_is_a_diagonal_and_the_rest_broadcasts: "
        x = i32[2, 2] {1, 2, 3, 4}; column = i32[2, 1] {10, 100}; row = i32[2] {10, 100}
        Einsum(x) {equation = 'ii->i'} = i32[2] {1, 4}
        Einsum(x) {equation = 'ii'} = i32[] {5}
        Einsum(x, column) {equation = '...,...->...'} = i32[2, 2] {10, 20, 300, 400}
        Einsum(x, x) {equation = '...i,...i->...'} = i32[2] {5, 25}
        Einsum(x, row) {equation = '...,...->...'} is refused: operand 1 has rank 1, but must have rank 2
        Einsum(x, row) {equation = '...j,j->...'} = i32[2] {210, 430}
    ";
    sums_of_nothing_are_zero_and_integers_wrap: "
        Einsum(f64[2, 0]) {equation = 'ij->i'} = f64[2] {0, 0}
        // 50000, less 195 · 256.
        Einsum(u8[2] {200, 100}, u8[2] {200, 100}) {equation = 'i,i->'} = u8[] {80}
    ";
}
