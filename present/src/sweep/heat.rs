//! Operators × dtypes × backends: a square for each, the darker the farther off, and red beyond the specification.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use maud::{Markup, html};
use sweep::rows::Row;
use sweep::{Identity, Rows};

use crate::page::scrolling;

/// The side of a square, and the room for names.
const CELL: f64 = 11.0;
const NAMES: f64 = 130.0;

/// The width of a letter in a name, at most.
const LETTER: f64 = 5.6;

/// What a row is, from the best to the worst: its class in the style sheet, and what it is called.
const KINDS: [(&str, &str); 6] = [
    ("shade0", "the reference's bits"),
    ("shade1", "at most 1 ULP off"),
    ("shade3", "within the tight tier"),
    ("flagged", "beyond the tight tier"),
    ("wrong", "beyond the specification, or failed"),
    ("none", "lacking"),
];

/// The position of a row's kind.
fn kind(row: &Row) -> usize {
    let total = &row.total;
    if total.beyond_spec > 0 || !row.failed.is_empty() {
        4
    } else if !row.has_answers() {
        5
    } else if total.beyond_tight > 0 {
        3
    } else {
        match total.ulps.max() {
            0.0 => 0,
            few if few <= 1.0 => 1,
            _ => 2,
        }
    }
}

/// The map, operators in the order of their families.
pub(super) fn map(identity: &Identity, rows: &Rows) -> Markup {
    let swept: BTreeSet<&str> = rows.rows.iter().map(|row| row.op.as_str()).collect();
    let operators: Vec<&str> =
        ops::registry().map(|spec| spec.name).filter(|name| swept.contains(name)).collect();
    let dtypes: BTreeSet<&str> = rows.rows.iter().map(|row| row.dtype.as_str()).collect();
    let backends = identity.targets.iter().map(|target| target.name.as_str());
    let columns: Vec<(&str, &str)> =
        dtypes.iter().flat_map(|dtype| backends.clone().map(move |backend| (*dtype, backend))).collect();
    let heads = columns.iter().map(|(dtype, backend)| LETTER * (dtype.len() + 1 + backend.len()) as f64);
    let heads = heads.fold(0.0, f64::max);
    let (width, height) = (NAMES + columns.len() as f64 * CELL, heads + operators.len() as f64 * CELL);
    html! {
        p.legend { @for (class, name) in KINDS { span { i class=(class) {} (name) } } }
        (scrolling(&html! {
            svg.heat.wide role="img" aria-label="Operators, dtypes and backends" width=(width) height=(height)
                viewBox=(format!("0 0 {width} {height}")) {
                @for (number, name) in operators.iter().enumerate() {
                    text.row x=(NAMES - 4.0) y=(format!("{:.1}", heads + (number as f64 + 0.8) * CELL)) { (name) }
                }
                @for (number, (dtype, backend)) in columns.iter().enumerate() {
                    @let x = NAMES + (number as f64 + 0.8) * CELL;
                    text.column transform=(format!("translate({x:.1} {}) rotate(-90)", heads - 4.0)) { (dtype) " " (backend) }
                }
                @for (kind, path) in paths(rows, &operators, &columns, heads) { path class=(KINDS[kind].0) d=(path) {} }
            }
        }))
    }
}

/// The squares of each kind as one path.
fn paths(rows: &Rows, operators: &[&str], columns: &[(&str, &str)], heads: f64) -> BTreeMap<usize, String> {
    let line: BTreeMap<&str, usize> = operators.iter().enumerate().map(|(k, name)| (*name, k)).collect();
    let column: BTreeMap<(&str, &str), usize> =
        columns.iter().enumerate().map(|(k, key)| (*key, k)).collect();
    let mut paths: BTreeMap<usize, String> = BTreeMap::new();
    for row in &rows.rows {
        let at = (line.get(row.op.as_str()), column.get(&(row.dtype.as_str(), row.backend.as_str())));
        let (Some(line), Some(column)) = at else { continue };
        let (x, y) = (NAMES + *column as f64 * CELL, heads + *line as f64 * CELL);
        let side = CELL - 1.0;
        let _ = write!(paths.entry(kind(row)).or_default(), "M{x} {y}h{side}v{side}h-{side}z");
    }
    paths
}
