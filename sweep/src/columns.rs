//! The operands of a use that works element by element: columns of numbers, an element of the result for each row.

use ir::{Choices, DType, Stream};
use ops::Hazard;

use crate::numbers::{self, Numbers, bits};
use crate::uses::{Extent, Operand, Use};

/// How a column is filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// With every number of the dtype, or every pair.
    Every,
    /// With edges; several operands with all pairs of edges, or a sample of all combinations.
    Edges,
    /// With one number of each of some ranges of equally many codes.
    Ranges {
        /// The first range.
        from: u64,
        /// How many ranges.
        count: u64,
        /// How many there are in all.
        of: u64,
    },
    /// With numbers of usual size; several operands also with numbers next to each other, and with any.
    Usual {
        /// How many rows.
        count: u64,
    },
}

/// The most rows of combinations of edges.
const COMBINATIONS: usize = 1 << 16;

/// The columns of the operands that are there. Rows on which an integer operator is not defined are left out; of floats, all rows
/// stay: what an operator gives beyond its domain is known, or seen to be undefined.
pub fn columns(one: &Use, fill: Fill, stream: Stream) -> Vec<Numbers> {
    let hazards = one.hazards();
    let (whole, scalars): (Vec<_>, Vec<_>) = present(one).partition(|(_, o)| o.extent == Extent::Whole);
    let filled = filled(&whole, fill, &hazards, stream);
    let choices = &mut stream.child("scalars").rng();
    let scalar = |(position, operand): (usize, Operand)| {
        (position, operand, numbers::usual(operand.dtype, 1, choices))
    };
    let whole = whole.iter().zip(filled).map(|((position, operand), numbers)| (*position, *operand, numbers));
    let mut columns: Vec<(usize, Operand, Numbers)> = whole.collect();
    columns.extend(scalars.into_iter().map(scalar));
    columns.sort_by_key(|(position, ..)| *position);
    let rows = columns.iter().map(|(.., numbers)| numbers.len()).max().unwrap_or(0);
    let is_safe = |row: usize| {
        columns.iter().all(|column| is_safe(column, row, &hazards)) && !meet(&columns, row, &hazards)
    };
    let safe: Vec<usize> = (0..rows).filter(|&row| is_safe(row)).collect();
    columns.into_iter().map(|(_, operand, numbers)| rows_of(&operand, &numbers, &safe)).collect()
}

/// The rows of a column at some positions; a scalar stays as it is.
pub fn rows_of(operand: &Operand, column: &Numbers, rows: &[usize]) -> Numbers {
    match operand.extent {
        Extent::Whole => column.at(rows),
        Extent::Scalar => column.clone(),
    }
}

fn present(one: &Use) -> impl Iterator<Item = (usize, Operand)> {
    one.operands.iter().enumerate().filter_map(|(position, operand)| Some((position, (*operand)?)))
}

/// An integer of a row; `None` where the column holds floats.
fn whole((_, operand, column): &(usize, Operand, Numbers), row: usize) -> Option<i128> {
    let Numbers::Whole(all) = column else { return None };
    Some(if operand.extent == Extent::Whole { all[row] } else { all[0] })
}

/// Whether an integer is a number, exactly: of 64 bits, `f64` does not tell neighbours apart.
fn equals(integer: i128, number: f64) -> bool {
    number.fract() == 0.0 && integer == number as i128
}

/// Whether two integers of a row meet for which the operator is not defined.
fn meet(columns: &[(usize, Operand, Numbers)], row: usize, hazards: &[Hazard]) -> bool {
    let is = |wanted: usize, number: f64| {
        let is_it = |integer| equals(integer, number);
        columns.iter().any(|column| column.0 == wanted && whole(column, row).is_some_and(is_it))
    };
    hazards.iter().any(|hazard| match *hazard {
        Hazard::Meeting { operand, value, other, met } => is(operand, value) && is(other, met),
        Hazard::Zero { .. }
        | Hazard::Outside { .. }
        | Hazard::Perhaps { .. }
        | Hazard::Count { .. }
        | Hazard::Repeated { .. }
        | Hazard::Ties { .. }
        | Hazard::Far { .. }
        | Hazard::Always => false,
    })
}

/// Whether an integer of a row is where the operator is defined, whatever the others are.
fn is_safe(column: &(usize, Operand, Numbers), row: usize, hazards: &[Hazard]) -> bool {
    let (Some(value), (position, ..)) = (whole(column, row), column) else { return true };
    hazards.iter().all(|hazard| match *hazard {
        Hazard::Zero { operand } => operand != *position || value != 0,
        Hazard::Outside { operand, low, high } => {
            operand != *position || (low.ceil() as i128..=high.floor() as i128).contains(&value)
        }
        Hazard::Meeting { .. }
        | Hazard::Perhaps { .. }
        | Hazard::Count { .. }
        | Hazard::Repeated { .. }
        | Hazard::Ties { .. }
        | Hazard::Far { .. }
        | Hazard::Always => true,
    })
}

/// The ends of an operand's domain.
fn domain(hazards: &[Hazard], position: usize) -> Vec<f64> {
    let ends = hazards.iter().filter_map(|hazard| match *hazard {
        Hazard::Outside { operand, low, high }
        | Hazard::Perhaps { operand, low, high }
        | Hazard::Far { operand, low, high } => (operand == position).then_some([low, high]),
        Hazard::Zero { .. }
        | Hazard::Meeting { .. }
        | Hazard::Count { .. }
        | Hazard::Repeated { .. }
        | Hazard::Ties { .. }
        | Hazard::Always => None,
    });
    ends.flatten().collect()
}

/// Columns for whole operands, each at its position.
fn filled(operands: &[(usize, Operand)], fill: Fill, hazards: &[Hazard], stream: Stream) -> Vec<Numbers> {
    let mut choices = stream.child("columns").rng();
    let edges =
        |(position, operand): &(usize, Operand)| numbers::edges(operand.dtype, &domain(hazards, *position));
    match (operands, fill) {
        ([(_, one)], Fill::Every) => vec![numbers::every(one.dtype)],
        ([_, (_, second)], Fill::Every) => numbers::every_pair(second.dtype).into(),
        ([one], Fill::Edges) => vec![edges(one)],
        ([first, second], Fill::Edges) => crossed(&edges(first), &edges(second)).into(),
        (all, Fill::Edges | Fill::Every) => {
            all.iter().map(|one| picked(&edges(one), COMBINATIONS / 16, &mut choices)).collect()
        }
        (all, Fill::Ranges { from, count, of }) => {
            let one =
                |(_, o): &(usize, Operand)| numbers::one_of_each(o.dtype, from, count, of, &mut choices);
            all.iter().map(one).collect()
        }
        ([(_, one)], Fill::Usual { count }) => vec![numbers::usual(one.dtype, count, &mut choices)],
        (all, Fill::Usual { count }) => together(all, count, &mut choices),
    }
}

/// At most so many of some rows, in order: one of each stretch of as many, at a place in it that differs from stretch
/// to stretch. Where rows are pairs, and the second numbers come again and again, every one of them is among the
/// chosen: one row in sixteen would have the same of sixteen numbers each time.
pub(crate) fn spread(rows: usize, most: usize) -> Vec<usize> {
    /// Multiples of the golden ratio leave no large gap, however many there are.
    const GOLDEN: f64 = 0.618_034;
    if rows <= most {
        return (0..rows).collect();
    }
    let one_of = |stretch: usize| {
        let (from, past) = (stretch * rows / most, (stretch + 1) * rows / most);
        from + ((stretch as f64 * GOLDEN).fract() * (past - from) as f64) as usize
    };
    (0..most).map(one_of).collect()
}

/// All pairs, or as many of them, evenly, as one run takes.
fn crossed(first: &Numbers, second: &Numbers) -> [Numbers; 2] {
    let columns = second.len();
    let pairs = spread(first.len() * columns, COMBINATIONS);
    let left: Vec<usize> = pairs.iter().map(|pair| pair / columns).collect();
    let right: Vec<usize> = pairs.iter().map(|pair| pair % columns).collect();
    [first.at(&left), second.at(&right)]
}

fn picked(from: &Numbers, count: usize, choices: &mut Choices) -> Numbers {
    use rand::RngExt;
    let positions: Vec<usize> = (0..count).map(|_| choices.random_range(0..from.len())).collect();
    from.at(&positions)
}

/// Columns of several operands: a third of the rows of usual size, a third next to the first operand, a third of any size.
fn together(operands: &[(usize, Operand)], count: u64, choices: &mut Choices) -> Vec<Numbers> {
    let third = count.div_ceil(3);
    let mut columns: Vec<Numbers> = Vec::new();
    let mut first: Option<(DType, Numbers)> = None;
    for (_, operand) in operands {
        let dtype = operand.dtype;
        let usual = numbers::usual(dtype, third, choices);
        let near = match &first {
            Some((of, others)) if *of == dtype => numbers::next_to(dtype, others, choices),
            _ => numbers::usual(dtype, third, choices),
        };
        let any = numbers::any(dtype, third, choices);
        first.get_or_insert((dtype, near.clone()));
        columns.push(usual.and(near).and(any));
    }
    columns
}

/// Whether all numbers of a dtype, or all pairs, are few enough to be run.
pub fn are_few(one: &Use) -> bool {
    let whole: Vec<u32> =
        one.present().filter(|o| o.extent == Extent::Whole).map(|o| bits(o.dtype)).collect();
    let is_alike = whole.iter().all(|other| *other == whole[0]);
    is_alike && whole.len() == one.present().count() && whole.len() <= 2 && whole.iter().sum::<u32>() <= 16
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::uses::uses;

    fn first(name: &str, dtype: DType) -> Use {
        let opset = *ir::graph::OPSETS.end();
        let form = |one: &&Use| one.present().count() == 2;
        uses(ops::find(name).unwrap(), dtype, opset).iter().find(form).unwrap().clone()
    }

    #[test]
    fn no_integer_is_divided_by_zero() {
        let all = columns(&first("Div", DType::I8), Fill::Every, Stream::new(1));
        let [Numbers::Whole(dividends), Numbers::Whole(divisors)] = &all[..] else { panic!("two columns") };
        assert!(divisors.iter().all(|&v| v != 0) && dividends.len() > 60_000);
        let floats = columns(&first("Div", DType::F32), Fill::Edges, Stream::new(1));
        let Numbers::Real(divisors) = &floats[1] else { panic!("floats") };
        assert!(divisors.contains(&0.0));
    }

    #[test]
    fn the_one_pair_whose_quotient_does_not_fit_is_left_out_and_its_neighbours_are_not() {
        let all = columns(&first("Div", DType::I64), Fill::Edges, Stream::new(1));
        let [Numbers::Whole(dividends), Numbers::Whole(divisors)] = &all[..] else { panic!("two columns") };
        let has = |pair| dividends.iter().copied().zip(divisors.iter().copied()).any(|row| row == pair);
        let least = i128::from(i64::MIN);
        assert!(!has((least, -1)) && has((least + 1, -1)) && has((least, 1)));
    }

    #[test]
    fn rows_are_spread_over_both_numbers_of_a_pair() {
        for (first, second, most) in
            [(400, 16, 400), (256, 64, 256), (249, 52, 1000), (1 << 11, 1 << 11, 1 << 16)]
        {
            let rows = spread(first * second, most);
            let all =
                |numbers: &dyn Fn(&usize) -> usize| rows.iter().map(numbers).collect::<BTreeSet<_>>().len();
            assert_eq!(all(&|row| *row), most, "each once");
            assert_eq!(all(&|row| row % second), second, "{first} × {second}");
            assert_eq!(all(&|row| row / second), first.min(most), "{first} × {second}");
        }
        assert_eq!(spread(3, 5), [0, 1, 2]);
    }

    #[test]
    fn pairs_of_bytes_are_few_and_pairs_of_halves_are_not() {
        assert!(are_few(&first("Add", DType::U8)) && !are_few(&first("Add", DType::F16)));
        let opset = *ir::graph::OPSETS.end();
        assert!(uses(ops::find("Exp").unwrap(), DType::F16, opset).iter().all(are_few));
        assert!(!uses(ops::find("Exp").unwrap(), DType::F32, opset).iter().any(are_few));
    }
}
