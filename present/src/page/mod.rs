//! A campaign as one HTML page that needs nothing else: no script, no font, no picture from elsewhere.
//!
//! | module | shows |
//! |---|---|
//! | `findings` | the groups of findings, each with its smallest case |
//! | `footprints` | what the models take |
//! | `graph`, `layout` | a case's graph, drawn |
//! | `known` | which known findings were not met |
//! | `chart` | verdicts over time and by target |
//! | `heat` | which operators met |
//! | `operators` | operators in numbers |
//! | `ran` | seed, settings, engines |
//!
//! All text goes through `maud`, which escapes it; nothing is written around it but our own style sheet. Text from outside is
//! [`Outside`].

mod chart;
mod findings;
mod footprints;
mod graph;
mod heat;
mod known;
mod layout;
mod operators;
mod ran;

use std::cmp::Reverse;
use std::path::Path;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::outside::{Outside, seen};
use campaign::group::Group;
use campaign::report::{Report, SuspectKind};
use campaign::store::{Identity, Stored};

/// What a page shows.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The numbers.
    pub report: &'a Report,
    /// The findings, by cause.
    pub groups: &'a [Group],
    /// The campaign's folder, where the cases are.
    pub campaign: &'a Path,
    /// What ran.
    pub identity: &'a Identity,
    /// When the verdicts came.
    pub blocks: &'a [Stored],
}

/// How the page looks.
const STYLE: &str = include_str!("style.css");

/// The page.
pub fn html(page: &Page<'_>) -> String {
    let Page { report, groups, .. } = page;
    let body = html! {
        header {
            p.brand { "onnxsmith" }
            h1 { (summary(page)) }
            p.muted { (scope(page)) }
            (tiles(page))
            nav aria-label="Sections" {
                @for (id, name) in sections(page) { a href=(format!("#{id}")) { (name) } }
            }
        }
        main {
            (findings::section(page))
            section id="verdicts" {
                h2 { "Verdicts" }
                (chart::over_time(page.blocks))
                (chart::by_target(report))
                (incomparable(report))
                (allowances(report))
                (suspects(report))
            }
            section id="coverage" {
                h2 { "Which operators met" }
                (heat::map(&report.coverage))
                (footprints::table(report))
            }
            section id="operators" {
                h2 { "Operators" }
                (operators::table(report))
            }
            (ran::section(page))
            (trouble(report))
        }
        footer { p.muted { (groups.len()) " causes, " (report.clusters.len()) " signatures. Made by onnxsmith " (env!("CARGO_PKG_VERSION")) "." } }
    };
    document(&format!("onnxsmith: {}", summary(page)), &body)
}

/// A document with our style sheet and nothing from elsewhere.
pub(crate) fn document(title: &str, body: &Markup) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    // Whatever a section has forgotten to say of a text.
    seen(&markup.into_string())
}

fn sections(page: &Page<'_>) -> Vec<(&'static str, &'static str)> {
    let mut sections = vec![
        ("findings", "Findings"),
        ("verdicts", "Verdicts"),
        ("coverage", "Coverage"),
        ("operators", "Operators"),
        ("ran", "What ran"),
    ];
    if !page.report.trouble.is_empty() {
        sections.push(("trouble", "Trouble"));
    }
    sections
}

/// What matters, in a line.
fn summary(page: &Page<'_>) -> String {
    let new = page.groups.iter().filter(|g| g.known.is_none()).count();
    let known = page.groups.len() - new;
    match (new, known) {
        (0, 0) => "Nothing found".to_owned(),
        (0, known) => format!("Nothing new; {}", counted(known as u64, "known cause", "known causes")),
        (new, 0) => format!("{} to look at", counted(new as u64, "cause", "causes")),
        (new, known) => {
            format!("{} to look at, {known} known", counted(new as u64, "new cause", "new causes"))
        }
    }
}

fn scope(page: &Page<'_>) -> String {
    let report = page.report;
    format!(
        "{} of {} on {}, in {}",
        counted(report.findings, "finding", "findings"),
        counted(report.cases, "case", "cases"),
        counted(report.by_target.len() as u64, "target", "targets"),
        duration(report.wall_seconds),
    )
}

fn tiles(page: &Page<'_>) -> Markup {
    let report = page.report;
    let verdicts = report.verdicts;
    let all = verdicts.pass + verdicts.bug + verdicts.incomparable;
    let covered = report.coverage.operators.len();
    html! {
        dl.tiles {
            (tile("pass", "right", &grouped(verdicts.pass), &percent(verdicts.pass, all)))
            (tile("bug", "wrong", &grouped(verdicts.bug), &format!("{} known", grouped(report.known))))
            (tile("incomparable", "say nothing", &grouped(verdicts.incomparable), &percent(verdicts.incomparable, all)))
            (tile("", "undecidable", &undecidable(report), "of output elements"))
            (tile("", "operators", &covered.to_string(), &format!("{} pairs met", grouped(report.coverage.distinct_pairs() as u64))))
        }
    }
}

/// The share of undecidable elements. If it differs between targets, from the least to the largest.
fn undecidable(report: &Report) -> String {
    let shares = || report.elements_by_target.values().map(|of| of.undecidable_share);
    let least = shares().reduce(f64::min).unwrap_or(report.undecidable_elements_share);
    let most = shares().reduce(f64::max).unwrap_or(least);
    let (least, most) = (share(least), share(most));
    if least == most { most } else { format!("{least} to {most}") }
}

pub(crate) fn tile(class: &str, name: &str, value: &str, note: &str) -> Markup {
    html! { div class=(class) { dt { (name) } dd { strong { (value) } span { (note) } } } }
}

fn incomparable(report: &Report) -> Markup {
    if report.incomparable.is_empty() {
        return html! {};
    }
    let mut whys: Vec<(&String, u64)> =
        report.incomparable.iter().map(|(why, count)| (why, *count)).collect();
    whys.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    html! {
        details {
            summary { "Why runs say nothing (" (whys.len()) ")" }
            (scrolling(&html! {
                table {
                    thead { tr { th.number { "runs" } th { "why" } } }
                    tbody { @for (why, count) in whys { tr { td.number { (grouped(count)) } td { (Outside(why)) } } } }
                }
            }))
        }
    }
}

fn allowances(report: &Report) -> Markup {
    if report.allowances.is_empty() {
        return html! {};
    }
    let answers =
        report.allowances.iter().flat_map(|(target, by_name)| by_name.iter().map(move |at| (target, at)));
    html! {
        details {
            summary { "Allowances that answers rest on" }
            (scrolling(&html! {
                table {
                    thead { tr { th.number { "answers" } th { "allowance" } th { "target" } } }
                    tbody {
                        @for (target, (name, count)) in answers {
                            tr { td.number { (grouped(*count)) } td { (name) } td { (Outside(target)) } }
                        }
                    }
                }
            }))
        }
    }
}

fn suspects(report: &Report) -> Markup {
    if report.suspects.kinds.is_empty() {
        return html! {};
    }
    let mut kinds: Vec<&SuspectKind> = report.suspects.kinds.values().collect();
    kinds.sort_by_key(|kind| Reverse(kind.answers));
    html! {
        details {
            summary { "Right, but suspect: further from the reference than good implementations are" }
            (scrolling(&html! {
                table {
                    thead { tr { th.number { "answers" } th { "what" } th { "first case" } th { "in it" } } }
                    tbody {
                        @for kind in kinds {
                            tr {
                                td.number { (grouped(kind.answers)) }
                                td { (Outside(&kind.name())) }
                                td { @match &kind.saved { Some(saved) => { (saved.folder) }, None => { (kind.first) } } }
                                td { (Outside(&kind.example.to_string())) }
                            }
                        }
                    }
                }
            }))
        }
    }
}

fn trouble(report: &Report) -> Markup {
    if report.trouble.is_empty() {
        return html! {};
    }
    html! { section id="trouble" { h2 { "Trouble on this side" } ul { @for what in &report.trouble { li { (Outside(what)) } } } } }
}

/// A table or drawing that may be wider than the screen, in a box that scrolls by itself.
pub(crate) fn scrolling(content: &Markup) -> Markup {
    html! { div.scroll tabindex="0" { (content) } }
}

pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// A number with its digits in groups of three, by thin spaces.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

fn percent(part: u64, of: u64) -> String {
    share(if of == 0 { 0.0 } else { part as f64 / of as f64 })
}

pub(crate) fn share(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".to_owned(),
        p if p < 0.01 => "< 0.01 %".to_owned(),
        p if p < 10.0 => format!("{p:.2} %"),
        p => format!("{p:.1} %"),
    }
}

fn duration(seconds: f64) -> String {
    match seconds as u64 {
        s if s < 60 => format!("{seconds:.1} s"),
        s if s < 3600 => format!("{} min {:02} s", s / 60, s % 60),
        s => format!("{} h {:02} min", s / 3600, s / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!([0.0, 1e-6, 0.0123, 0.5].map(share), ["0 %", "< 0.01 %", "1.23 %", "50.0 %"]);
        assert_eq!([3.26, 61.0, 7260.0].map(duration), ["3.3 s", "1 min 01 s", "2 h 01 min"]);
        assert_eq!(percent(1, 0), "0 %");
    }
}
