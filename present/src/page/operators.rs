//! Operators in numbers: how often they occurred, how much of what they compute can be judged, and how tightly.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{grouped, percent, scrolling};
use campaign::report::{OperatorNumbers, Report};

/// A row for each operator, most frequent first.
pub(super) fn table(report: &Report) -> Markup {
    let coverage = &report.coverage;
    let names: BTreeSet<&String> = coverage.operators.keys().chain(report.by_operator.keys()).collect();
    let cases = |name: &str| coverage.operators.get(name).copied().unwrap_or(0);
    let mut names: Vec<&String> = names.into_iter().collect();
    names.sort_by(|a, b| cases(b).cmp(&cases(a)).then_with(|| a.cmp(b)));
    let most = names.iter().map(|name| cases(name)).max().unwrap_or(0).max(1);
    let none = OperatorNumbers::default();
    let undecidable: u64 = report.by_operator.values().map(|o| o.undecidable).sum();
    html! {
        p {
            "Elements are undecidable where conforming implementations may disagree; the share is of what the operator computed, and "
            "“of all” of everything undecidable. The margin is the median of bound ÷ observed error."
        }
        (scrolling(&html! {
            table {
                thead { tr {
                    th { "operator" } th.number { "cases" } th.wide {} th.number { "elements" } th.number { "undecidable" }
                    th.number { "of all" } th.wide {} th.number { "margin" }
                } }
                tbody {
                    @for name in names {
                        @let numbers = report.by_operator.get(name).unwrap_or(&none);
                        tr {
                            td { code { (name) } }
                            td.number { (grouped(cases(name))) }
                            td { (level("pass", cases(name), most)) }
                            td.number { (grouped(numbers.elements)) }
                            td.number { (some(numbers.undecidable, numbers.elements)) }
                            td.number { (some(numbers.undecidable, undecidable)) }
                            td { (level("bug", numbers.undecidable, undecidable)) }
                            td.number { @if let Some(margin) = numbers.median_margin { (quotient(margin)) } }
                        }
                    }
                }
            }
        }))
    }
}

/// A quotient in two digits or more, however large.
fn quotient(quotient: f64) -> String {
    match quotient {
        large if large.is_infinite() => "∞".to_owned(),
        large if large >= 1e4 => format!("{large:.1e}"),
        usual => format!("{usual:.1}"),
    }
}

/// A share, or nothing for none: what is rare is found more easily among blanks than among zeros.
fn some(part: u64, of: u64) -> String {
    if part == 0 { String::new() } else { percent(part, of) }
}

fn level(class: &str, part: u64, of: u64) -> Markup {
    let share = if of == 0 { 0.0 } else { 100.0 * part as f64 / of as f64 };
    html! { span.level { i class=(class) style=(format!("width:{share:.1}%")) {} } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_quotients_are_short() {
        let all = [1.25, 9999.0, 12_345.0, 2.011_631_705_487_728_2e19, f64::INFINITY];
        assert_eq!(all.map(quotient), ["1.2", "9999.0", "1.2e4", "2.0e19", "∞"]);
    }
}
