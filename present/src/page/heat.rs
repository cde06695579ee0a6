//! Which operators met: a square for each pair of producer and consumer, the darker the more cases have it.
//!
//! There are thousands of squares, so those of one shade are one path.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use maud::{Markup, html};

use super::{grouped, scrolling};
use campaign::coverage::Coverage;

/// The side of a square, and the room for names.
const CELL: f64 = 8.0;
const NAMES: f64 = 126.0;
/// The least number of cases of each shade.
const SHADES: [u64; 5] = [1, 3, 10, 30, 100];

/// The map, with operators in the order of their families.
pub(super) fn map(coverage: &Coverage) -> Markup {
    let names: Vec<&str> =
        ops::registry().map(|spec| spec.name).filter(|name| coverage.operators.contains_key(*name)).collect();
    if names.is_empty() {
        return html! { p.muted { "No case was counted." } };
    }
    let (met, possible) = (coverage.distinct_pairs(), names.len() * names.len());
    let side = NAMES + names.len() as f64 * CELL;
    let shades = shades(coverage, &names);
    html! {
        p {
            (grouped(met as u64)) " of the " (grouped(possible as u64)) " pairs of the " (names.len())
            " operators that occurred have met: the output of the operator at the left is an operand of that at the top."
        }
        p.legend {
            @for (shade, least) in SHADES.iter().enumerate() {
                span { i class=(format!("shade{shade}")) {} (range(shade, *least)) }
            }
            span { "cases" }
        }
        (scrolling(&html! {
            svg.heat role="img" aria-label="Pairs of operators that met" width=(side) height=(side) viewBox=(format!("0 0 {side} {side}")) {
                @for (k, name) in names.iter().enumerate() {
                    @let at = NAMES + (k as f64 + 0.8) * CELL;
                    text.row x=(NAMES - 4.0) y=(format!("{at:.1}")) { (name) }
                    text.column transform=(format!("translate({at:.1} {}) rotate(-90)", NAMES - 4.0)) { (name) }
                }
                rect.ground x=(NAMES) y=(NAMES) width=(side - NAMES) height=(side - NAMES) {}
                @for (shade, path) in &shades { path class=(format!("shade{shade}")) d=(path) {} }
            }
        }))
    }
}

fn range(shade: usize, least: u64) -> String {
    match SHADES.get(shade + 1) {
        Some(next) if *next == least + 1 => least.to_string(),
        Some(next) => format!("{least}–{}", next - 1),
        None => format!("{least} and more"),
    }
}

/// The squares of each shade as one path.
fn shades(coverage: &Coverage, names: &[&str]) -> BTreeMap<usize, String> {
    let place: BTreeMap<&str, usize> = names.iter().enumerate().map(|(k, name)| (*name, k)).collect();
    let mut paths: BTreeMap<usize, String> = BTreeMap::new();
    for (producer, consumers) in &coverage.pairs {
        for (consumer, count) in consumers {
            let (Some(row), Some(column)) = (place.get(producer.as_str()), place.get(consumer.as_str()))
            else {
                continue;
            };
            let shade = SHADES.iter().rposition(|least| count >= least).unwrap_or(0);
            let (x, y) = (NAMES + *column as f64 * CELL, NAMES + *row as f64 * CELL);
            let side = CELL - 1.0;
            let _ = write!(paths.entry(shade).or_default(), "M{x} {y}h{side}v{side}h-{side}z");
        }
    }
    paths
}
