//! A sweep as one HTML page that needs nothing else.
//!
//! | module | shows |
//! |---|---|
//! | `heat` | operators × dtypes × backends |
//! | `errors` | errors by argument, with what the specification and the tight tier allow |
//! | `lengths` | errors by the length of a sum or product |
//! | `scale` | where an error lies in a drawing |

mod errors;
mod heat;
mod lengths;
mod scale;

use maud::{Markup, html};
use sweep::cases::{self, CASES};
use sweep::rows::{Between, Counts, PartCount, Row};
use sweep::table::ulps;
use sweep::{Identity, Rows};

use crate::page::{counted, document, grouped, scrolling, share, tile};

/// The file of a sweep's folder that has the page.
pub const PAGE: &str = "index.html";

/// The page of a sweep.
pub fn html(identity: &Identity, rows: &Rows, parts: PartCount) -> String {
    let body = html! {
        header {
            p.brand { "onnxsmith sweep" }
            h1 { (headline(rows, parts)) }
            p.muted { (scope(identity, rows)) }
            (tiles(rows))
            nav aria-label="Sections" { @for (id, name) in SECTIONS { a href=(format!("#{id}")) { (name) } } }
        }
        main {
            section id="map" { h2 { "Operators, dtypes, backends" } (heat::map(identity, rows)) }
            section id="worst" { h2 { "Worst inputs" } (worst(rows)) }
            section id="apart" { h2 { "Backends against each other" } (apart(rows)) }
            section id="errors" { h2 { "Errors by argument" } (errors::figures(identity, rows)) }
            section id="lengths" { h2 { "Errors by length" } (lengths::figures(identity, rows)) }
            section id="ran" { h2 { "What ran" } (ran(identity)) }
        }
        footer { p.muted { "Made by onnxsmith " (env!("CARGO_PKG_VERSION")) "." } }
    };
    document(&format!("onnxsmith sweep: {}", headline(rows, parts)), &body)
}

const SECTIONS: [(&str, &str); 6] = [
    ("map", "Map"),
    ("worst", "Worst inputs"),
    ("apart", "Against each other"),
    ("errors", "By argument"),
    ("lengths", "By length"),
    ("ran", "What ran"),
];

/// The class in the style sheet of a backend's lines.
fn line_class(backend: usize) -> String {
    format!("b{}", backend % COLOURS)
}

/// How many lines have a colour of their own.
const COLOURS: usize = 5;

/// Which colour is whose.
fn legend(identity: &Identity) -> Markup {
    html! {
        p.legend {
            @for (number, target) in identity.targets.iter().enumerate() {
                span class=(line_class(number)) { i {} (target.name) }
            }
        }
    }
}

/// How many rows have an element that is so far off.
fn with(rows: &Rows, is: impl Fn(&Row) -> bool) -> usize {
    rows.rows.iter().filter(|row| is(row)).count()
}

/// What a sweep found, and whether that is all of it.
fn headline(rows: &Rows, parts: PartCount) -> String {
    let PartCount { done, of } = parts;
    if parts.is_whole() {
        summary(rows)
    } else {
        format!("Stopped after {done} of {of} parts. So far: {}", summary(rows))
    }
}

fn summary(rows: &Rows) -> String {
    let beyond = with(rows, |row| row.total.beyond_spec > 0);
    let failed = with(rows, |row| !row.failed.is_empty());
    let flagged = with(rows, |row| row.total.beyond_tight > 0);
    match (beyond + failed, flagged) {
        (0, 0) => match with(rows, |row| row.has_answers() && row.is_hardly_judged()) {
            0 => "Everything is as good implementations have it".to_owned(),
            hardly => format!(
                "What can be judged is as good implementations have it; of {} less than half can",
                counted(hardly as u64, "row", "rows")
            ),
        },
        (0, flagged) => format!(
            "Nothing is beyond its specification; {} beyond what good implementations reach",
            counted(flagged as u64, "row is", "rows are")
        ),
        (wrong, _) => counted(wrong as u64, "row is wrong", "rows are wrong"),
    }
}

fn scope(identity: &Identity, rows: &Rows) -> String {
    let backends: Vec<&str> = identity.targets.iter().map(|target| target.name.as_str()).collect();
    format!("{} on {}", counted(rows.rows.len() as u64, "row", "rows"), backends.join(", "))
}

fn tiles(rows: &Rows) -> Markup {
    let sum = |of: fn(&Row) -> u64| rows.rows.iter().map(of).sum::<u64>();
    let elements = sum(|row| row.total.elements);
    let judged = sum(|row| row.total.judged);
    let part = |part: u64| share(if judged == 0 { 0.0 } else { part as f64 / judged as f64 });
    let (exact, tight, spec) =
        (sum(|row| row.total.exact), sum(|row| row.total.beyond_tight), sum(|row| row.total.beyond_spec));
    let non_finite = sum(|row| row.total.non_finite);
    html! {
        dl.tiles {
            (tile("", "elements", &grouped(elements), &format!("{} judged, one by one", grouped(judged))))
            (tile("pass", "the reference's, of those judged", &part(exact), ""))
            (tile("incomparable", "beyond the tight tier", &part(tight), &grouped(tight)))
            (tile("bug", "beyond the specification", &grouped(spec), &part(spec)))
            (tile("incomparable", "not finite, or wrongly so", &grouped(non_finite), ""))
        }
    }
}

/// The rows with an element beyond the tight tier, those beyond the specification first.
fn worst(rows: &Rows) -> Markup {
    let is_off = |row: &&Row| row.total.beyond_tight > 0 || !row.failed.is_empty();
    let mut off: Vec<&Row> = rows.rows.iter().filter(is_off).collect();
    off.sort_by_key(|row| {
        std::cmp::Reverse((row.total.beyond_spec > 0 || !row.failed.is_empty(), row.total.non_finite > 0))
    });
    if off.is_empty() {
        return html! { p.muted { "No element is beyond the tight tier." } };
    }
    html! {
        p { "Each links to a case: " code { "onnxsmith run " (CASES) "/NAME --on BACKEND" } " runs it again." }
        (scrolling(&html! {
            table.worst-inputs {
                thead { tr {
                    th { "operator" } th { "dtype" } th { "backend" } th.number { "elements" } th.number { "judged" } th.number { "max ULP" } th.number { "p99" }
                    th.number { "> tight" } th.number { "> spec" } th.number { "non-finite" } th.wide { "worst" }
                } }
                tbody { @for row in off { (worst_row(row)) } }
            }
        }))
    }
}

fn worst_row(row: &Row) -> Markup {
    let counts = Counts::from(&row.total);
    let names = cases::names(row);
    // Behind the worst element, if there is one.
    let failures = &names[names.len() - row.failed.len()..];
    let class = if row.total.beyond_spec > 0 || !row.failed.is_empty() { "number bug" } else { "number" };
    html! {
        tr {
            td { @if let Some(name) = names.first() { a href=(format!("{CASES}/{name}")) { (row.op) } } @else { (row.op) } }
            td { (row.dtype) }
            td { (row.backend) }
            td.number { (grouped(counts.elements)) @if row.fewer() > 0 { " of " (grouped(row.most)) } }
            td.number { (grouped(counts.judged)) }
            td.number { (ulps(counts.max_ulp)) }
            td.number { (ulps(counts.p99_ulp)) }
            td.number { (grouped(counts.beyond_tight)) }
            td class=(class) { (grouped(counts.beyond_spec)) }
            td.number { (grouped(counts.non_finite)) }
            td {
                @if let Some(worst) = &row.total.worst { (worst.to_string()) }
                @for ((what, failed), name) in row.failed.iter().zip(failures) {
                    span.bug { " " a href=(format!("{CASES}/{name}")) { "failed" } " in " (failed.parts) " parts: " (what) }
                }
            }
        }
    }
}

/// How many pairs are listed.
const MOST_APART: usize = 60;

fn apart(rows: &Rows) -> Markup {
    let mut pairs: Vec<Between> =
        rows.pairs.iter().filter(|pair| pair.apart.elements > 0).map(Between::from).collect();
    let same = pairs.iter().filter(|pair| pair.differ == 0).count();
    let all = pairs.len();
    pairs.retain(|pair| pair.differ > 0);
    pairs.sort_by(|x, y| (y.non_finite > 0).cmp(&(x.non_finite > 0)).then(y.max_ulp.total_cmp(&x.max_ulp)));
    html! {
        p { "Two backends have the same bits in " (same) " of " (all) " rows. Distances are in ULP of the reference." }
        (scrolling(&html! {
            table {
                thead { tr {
                    th { "operator" } th { "dtype" } th { "one" } th { "other" } th.number { "elements" } th.number { "differ" }
                    th.number { "max ULP" } th.number { "p99" } th.number { "one not finite" }
                } }
                tbody {
                    @for pair in pairs.iter().take(MOST_APART) {
                        tr {
                            td { (pair.op) } td { (pair.dtype) } td { (pair.a) } td { (pair.b) }
                            td.number { (grouped(pair.elements)) } td.number { (grouped(pair.differ)) }
                            td.number { (ulps(pair.max_ulp)) } td.number { (ulps(pair.p99_ulp)) } td.number { (grouped(pair.non_finite)) }
                        }
                    }
                }
            }
        }))
        @if pairs.len() > MOST_APART { p.muted { "… and " (pairs.len() - MOST_APART) " more, in sweep.json." } }
    }
}

fn ran(identity: &Identity) -> Markup {
    let scope = &identity.scope;
    let forms: Vec<&str> = scope.forms.iter().map(|form| form.name()).collect();
    let dtypes: Vec<&str> = scope.dtypes.iter().map(String::as_str).collect();
    html! {
        dl.facts {
            @for target in &identity.targets {
                dt { (target.name) } dd { (target.version) ", held to " code { (target.profile) } }
            }
            dt { "operators" } dd { (scope.operators.len()) }
            dt { "dtypes" } dd { (dtypes.join(", ")) }
            dt { "forms" } dd { (forms.join(", ")) }
            dt { "samples" } dd { (grouped(scope.samples)) " numbers of a dtype of more than 16 bits" }
            dt { "seed" } dd { (scope.seed) }
        }
    }
}
