//! Errors by length: for each operator along an axis, the largest error and the 99th percentile of each backend at each length.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use sweep::rows::Row;
use sweep::{Identity, Rows};

use super::scale::{BELOW, HEIGHT, LEFT, marks, path, y};
use super::{legend, line_class};

/// The width of a drawing, but for the numbers at its left.
const WIDTH: f64 = 320.0;

/// The lengths that are marked below.
const MARKS: [i64; 4] = [1, 32, 1024, 65_537];

/// A drawing for each operator and dtype of floats.
pub(super) fn figures(identity: &Identity, rows: &Rows) -> Markup {
    let mut operators: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    let differs = |row: &&Row| row.lengths.values().any(|tally| tally.ulps.max() > 0.0);
    for row in rows.rows.iter().filter(differs) {
        operators.entry((&row.op, &row.dtype)).or_default().push(row);
    }
    if operators.is_empty() {
        return html! { p.muted { "No error was seen along an axis." } };
    }
    html! {
        p {
            "Errors in ULP of the result, by the length of the axis; both axes are logarithmic. The full line is the largest error, the "
            "dotted one what 99 % do not exceed. Of sums that cancel, an ULP of the result is small."
        }
        (legend(identity))
        div.plots { @for ((op, dtype), rows) in &operators { (figure(identity, op, dtype, rows)) } }
    }
}

fn figure(identity: &Identity, op: &str, dtype: &str, rows: &[&Row]) -> Markup {
    let lengths: BTreeSet<i64> = rows.iter().flat_map(|row| row.lengths.keys().copied()).collect();
    let longest = lengths.last().copied().unwrap_or(1).max(2) as f64;
    let x = |length: i64| LEFT + (length as f64).log2() / longest.log2() * WIDTH;
    let line = |row: &Row, share: f64| {
        let at = |length: &i64| {
            let ulps = &row.lengths.get(length)?.ulps;
            Some((x(*length), y(if share < 1.0 { ulps.quantile(share) } else { ulps.max() })))
        };
        path(lengths.iter().map(at))
    };
    let number =
        |row: &Row| identity.targets.iter().position(|target| target.name == row.backend).unwrap_or(0);
    html! {
        figure {
            figcaption { (op) " " (dtype) }
            svg.plot role="img" aria-label=(format!("Errors of {op} on {dtype} by length"))
                viewBox=(format!("0 -4 {} {}", LEFT + WIDTH + 4.0, HEIGHT + BELOW + 4.0)) {
                (marks(WIDTH))
                @for length in MARKS {
                    text.tick.middle x=(format!("{:.0}", x(length).min(LEFT + WIDTH - 14.0))) y=(HEIGHT + 14.0) { (length) }
                }
                @for row in rows {
                    path class=(format!("tight {}", line_class(number(row)))) d=(line(row, 0.99)) {}
                    path class=(line_class(number(row))) d=(line(row, 1.0)) {}
                }
            }
        }
    }
}
