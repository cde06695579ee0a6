//! What the models take: operations and memory, and how much of a budget that is.

use maud::{Markup, html};

use super::{grouped, percent, scrolling, share};
use campaign::report::Report;

/// A row for each quantity.
pub(super) fn table(report: &Report) -> Markup {
    let rows = report.footprints.each();
    if rows.iter().all(|(_, amounts)| amounts.models == 0) {
        return html! {};
    }
    html! {
        p { "What one model takes. The median is the power of two below it." }
        (scrolling(&html! {
            table {
                thead { tr {
                    th { "of a model" } th.number { "least" } th.number { "median" } th.number { "most" }
                    th.number { "budget" } th.number { "models within" } th.number { "mean share" }
                } }
                tbody {
                    @for (name, amounts) in rows {
                        tr {
                            td { (name) }
                            td.number { (grouped(amounts.least)) }
                            td.number { (grouped(amounts.median())) }
                            td.number { (grouped(amounts.most)) }
                            @if let (Some((least, most)), Some(used)) = (amounts.budget, amounts.share_of_budget()) {
                                td.number { (grouped(least)) " to " (grouped(most)) }
                                td.number { (percent(amounts.inside, amounts.models)) }
                                td.number { (share(used)) }
                            } @else {
                                td.number { "–" } td {} td {}
                            }
                        }
                    }
                }
            }
        }))
    }
}
