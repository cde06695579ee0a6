//! Verdicts over time, and by target.

use maud::{Markup, html};
use oracles::Tally;

use super::{duration, grouped, percent, scrolling, share};
use campaign::report::Report;
use campaign::store::Stored;

const COLUMNS: usize = 60;
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 130.0;

/// A kind of verdict: its class in the style sheet, what it is called, and how many of a tally are of it.
type VerdictKind = (&'static str, &'static str, fn(&Tally) -> u64);

/// The kinds from the bottom of a column to its top.
const KINDS: [VerdictKind; 3] = [
    ("bug", "wrong", |t| t.bug),
    ("pass", "right", |t| t.pass),
    ("incomparable", "say nothing", |t| t.incomparable),
];

/// A column for each part of the campaign's time, as high as verdicts came in it.
pub(super) fn over_time(blocks: &[Stored]) -> Markup {
    let end = blocks.iter().map(|m| m.seconds).fold(0.0, f64::max);
    if blocks.len() < 2 || end <= 0.0 {
        return html! {};
    }
    let count = COLUMNS.min(blocks.len());
    let mut columns = vec![Tally::default(); count];
    for block in blocks {
        let at = (block.seconds / end * count as f64) as usize;
        columns[at.min(count - 1)].merge(block.verdicts);
    }
    let all = |t: &Tally| t.pass + t.bug + t.incomparable;
    let most = columns.iter().map(all).max().unwrap_or(0).max(1);
    let step = WIDTH / count as f64;
    let bars = columns.iter().enumerate().flat_map(|(k, tally)| {
        let mut below = 0;
        KINDS.map(|(class, _, of)| {
            let (low, high) = (below, below + of(tally));
            below = high;
            let y = |v: u64| HEIGHT - v as f64 / most as f64 * HEIGHT;
            (class, k as f64 * step, y(high), y(low) - y(high))
        })
    });
    let rate = all(&columns.iter().fold(Tally::default(), |mut sum, t| {
        sum.merge(*t);
        sum
    })) as f64
        / end;
    html! {
        figure {
            figcaption { "Verdicts over time, " (format!("{rate:.0}")) " a second on average" }
            (legend())
            (scrolling(&html! {
                svg.chart role="img" aria-label="Verdicts over time" width=(WIDTH) height=(HEIGHT + 20.0)
                    viewBox=(format!("0 0 {WIDTH} {}", HEIGHT + 20.0)) {
                    @for (class, x, y, height) in bars {
                        @if height > 0.0 {
                            rect class=(class) x=(format!("{x:.1}")) y=(format!("{y:.1}")) width=(format!("{:.1}", step - 1.0)) height=(format!("{height:.1}")) {}
                        }
                    }
                    line.axis x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                    text.tick x="0" y=(HEIGHT + 15.0) { "0" }
                    text.tick.end x=(WIDTH) y=(HEIGHT + 15.0) { (duration(end)) }
                }
            }))
        }
    }
}

fn legend() -> Markup {
    html! { p.legend { @for (class, name, _) in KINDS { span class=(class) { i {} (name) } } } }
}

/// A row for each target, with its verdicts as a bar.
pub(super) fn by_target(report: &Report) -> Markup {
    scrolling(&html! {
        table {
            thead { tr {
                th { "target" } th.number { "right" } th.number { "wrong" } th.number { "say nothing" } th.number { "undecidable" } th.wide { "shares" }
            } }
            tbody {
                @for (target, tally) in &report.by_target {
                    tr {
                        td { code { (target) } }
                        td.number { (grouped(tally.pass)) }
                        td.number { (grouped(tally.bug)) }
                        td.number { (grouped(tally.incomparable)) }
                        td.number { @if let Some(of) = report.elements_by_target.get(target) { (share(of.undecidable_share)) } }
                        td { (bar(tally)) }
                    }
                }
            }
        }
    })
}

fn bar(tally: &Tally) -> Markup {
    let all = tally.pass + tally.bug + tally.incomparable;
    html! {
        span.bar role="img" aria-label=(format!("{} right, {} wrong", percent(tally.pass, all), percent(tally.bug, all))) {
            @for (class, _, of) in KINDS {
                @if of(tally) > 0 { i class=(class) style=(format!("flex-grow:{}", of(tally))) {} }
            }
        }
    }
}
