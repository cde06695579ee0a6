//! Errors by argument: for each function of one float, the largest error of each backend in each stretch of arguments, and what
//! the tight tier and the specification allow there.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use sweep::bins;
use sweep::rows::Row;
use sweep::tally::Bin;
use sweep::{Identity, Rows};

use super::scale::{BELOW, HEIGHT, LEFT, marks, path, y};
use super::{legend, line_class};

/// The width of a drawing, but for the numbers at its left.
const WIDTH: f64 = 320.0;

/// The arguments that are marked below.
const MARKS: [(f64, &str); 5] =
    [(-65_536.0, "−2¹⁶"), (-1.0, "−1"), (0.0, "0"), (1.0, "1"), (65_536.0, "2¹⁶")];

/// A drawing for each function and dtype, those that are beyond the tight tier in the open.
pub(super) fn figures(identity: &Identity, rows: &Rows) -> Markup {
    let mut functions: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    for row in rows.rows.iter().filter(|row| !row.total.bins.is_empty()) {
        functions.entry((&row.op, &row.dtype)).or_default().push(row);
    }
    if functions.is_empty() {
        return html! { p.muted { "No function of one float was swept." } };
    }
    let is_off = |rows: &Vec<&Row>| rows.iter().any(|row| row.total.beyond_tight > 0);
    let (off, fine): (Vec<_>, Vec<_>) = functions.iter().partition(|(_, rows)| is_off(rows));
    let drawings = |of: &[(&(&str, &str), &Vec<&Row>)]| {
        html! { div.plots { @for ((op, dtype), rows) in of { (figure(identity, op, dtype, rows)) } } }
    };
    html! {
        p {
            "The largest error in each stretch of arguments, in ULP, from −∞ to ∞; both axes are logarithmic. Dashed: what the "
            "specification allows, where it says something. Dotted: the tight tier. A cross: infinite or NaN where a number is due."
        }
        (legend(identity))
        (drawings(&off))
        @if !fine.is_empty() {
            details { summary { (fine.len()) " functions within the tight tier" } (drawings(&fine)) }
        }
    }
}

/// The drawing of one function.
fn figure(identity: &Identity, op: &str, dtype: &str, rows: &[&Row]) -> Markup {
    let places: BTreeSet<i32> = rows.iter().flat_map(|row| row.total.bins.keys().copied()).collect();
    let places: Vec<i32> = places.into_iter().collect();
    let x = |rank: usize| LEFT + rank as f64 / (places.len().max(2) - 1) as f64 * WIDTH;
    let line = |row: &Row, of: fn(&Bin) -> Option<f64>| {
        let bin = |(rank, place)| Some((x(rank), y(of(row.total.bins.get(place)?)?)));
        path(places.iter().enumerate().map(bin))
    };
    let number =
        |row: &Row| identity.targets.iter().position(|target| target.name == row.backend).unwrap_or(0);
    html! {
        figure {
            figcaption { (op) " " (dtype) }
            svg.plot role="img" aria-label=(format!("Errors of {op} on {dtype} by argument"))
                viewBox=(format!("0 -4 {} {}", LEFT + WIDTH + 4.0, HEIGHT + BELOW + 4.0)) {
                (marks(WIDTH))
                @for (argument, name) in MARKS {
                    @if let Ok(rank) = places.binary_search(&bins::place(argument)) {
                        text.tick.middle x=(format!("{:.0}", x(rank))) y=(HEIGHT + 14.0) { (name) }
                    }
                }
                @for row in rows {
                    path class=(format!("spec {}", line_class(number(row)))) d=(line(row, |bin| known(bin.spec))) {}
                    path class=(format!("tight {}", line_class(number(row)))) d=(line(row, |bin| known(bin.tight))) {}
                }
                @for row in rows {
                    path class=(line_class(number(row))) d=(line(row, |bin| Some(f64::from(bin.ulp)))) {}
                    path class=(format!("cross {}", line_class(number(row)))) d=(crosses(row, &places, &x)) {}
                }
            }
        }
    }
}

/// A limit, where there is one.
fn known(ulp: f32) -> Option<f64> {
    (ulp > 0.0).then_some(f64::from(ulp))
}

/// A cross above each stretch in which an element is infinite or NaN and should not be, or the reverse.
fn crosses(row: &Row, places: &[i32], x: &dyn Fn(usize) -> f64) -> String {
    let is_marked = |place: &i32| row.total.bins.get(place).is_some_and(|bin| bin.non_finite > 0);
    let marked = places.iter().enumerate().filter(|(_, place)| is_marked(place));
    let crosses: Vec<String> =
        marked.map(|(rank, _)| format!("M{:.0} 0l4 4m-4 0l4 -4", x(rank) - 2.0)).collect();
    crosses.concat()
}
