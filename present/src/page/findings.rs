//! The groups of findings: a table to scan, then a card for each.

use ir::Tensor;
use maud::{Markup, html};

use super::{Page, counted, graph, grouped, known, scrolling};
use crate::evidence::{Evidence, elements};
use crate::others::{self, Line};
use crate::outside::Outside;
use campaign::group::Group;

/// How many cards are open from the start.
const OPEN: usize = 3;
/// How many elements of an input are shown.
const ELEMENTS: usize = 24;

/// The findings.
pub(super) fn section(page: &Page<'_>) -> Markup {
    html! {
        section id="findings" {
            h2 { "Findings by cause" }
            @if page.groups.is_empty() {
                p.muted { "Every answer that could be judged was right." }
            } @else {
                (index(page.groups))
                @for (k, group) in page.groups.iter().enumerate() { (card(page, k, group)) }
            }
            (known::lists(page.report))
        }
    }
}

fn index(groups: &[Group]) -> Markup {
    html! {
        table.index {
            thead { tr { th.number { "#" } th.number { "findings" } th { "engine" } th { "operator" } th { "what it does" } } }
            tbody {
                @for (k, group) in groups.iter().enumerate() {
                    tr.known[group.known.is_some()] {
                        td.number { (k + 1) }
                        td.number { (grouped(group.count)) }
                        td { (Outside(&group.backend)) }
                        td { a href=(format!("#cause-{}", k + 1)) { (Outside(&group.place)) } }
                        td.does { (Outside(&group.does)) (badges(group)) }
                    }
                }
            }
        }
    }
}

fn badges(group: &Group) -> Markup {
    html! {
        @if group.known.is_some() { " " span.badge { "known" } }
        @if group.is_odd_one_out() { " " span.badge title="Two or more other targets agree with the reference, none disagrees" { "odd one out" } }
    }
}

fn card(page: &Page<'_>, k: usize, group: &Group) -> Markup {
    html! {
        article.finding id=(format!("cause-{}", k + 1)) {
            details open[k < OPEN] {
                summary {
                    span.rank { (k + 1) }
                    h3 { (Outside(&group.backend)) ": " (Outside(&group.place)) span { (Outside(&group.does)) } }
                    span.count { (counted(group.count, "finding", "findings")) (badges(group)) }
                }
                @match Evidence::of(group, page.campaign, page.identity) {
                    Ok(evidence) => (shown(group, &evidence)),
                    Err(why) => {
                        p { (Outside(&group.example.detail)) }
                        (stderr(&group.example.stderr))
                        p.muted { "No case to show: " (why) }
                    },
                }
                (members(group))
            }
        }
    }
}

fn shown(group: &Group, evidence: &Evidence) -> Markup {
    let culprit = evidence.finding.culprit.as_ref().map(|c| c.operator.as_str());
    html! {
        div.evidence {
            @if let Some(model) = &evidence.model {
                div.drawing { (scrolling(&graph::draw(model, culprit))) (program(evidence)) }
            }
            div {
                (verdict(evidence))
                @if !evidence.finding.after.is_empty() {
                    p.muted { "After " (Outside(&evidence.finding.after.join(", "))) ", wrong as well in the same graph, and cut out here." }
                }
                @for caution in group.cautions() { p.muted { "Note: " (Outside(&caution)) "." } }
                @if let Some(known) = &group.known { p { "Written up in " code { (Outside(known)) } "." } }
                (inputs(evidence))
                (others(group))
                (stderr(&evidence.finding.stderr))
                h4 { "Again" }
                pre.command { (evidence.run_command()) }
                pre.command { (evidence.reduce_command()) }
            }
        }
    }
}

/// The program, where the graph that is drawn is what it leads to.
fn program(evidence: &Evidence) -> Markup {
    html! {
        @if let Some(text) = &evidence.program {
            details {
                summary { "The program; the graph is what it leads to for these inputs" }
                (scrolling(&html! { pre { (text) } }))
            }
        }
    }
}

/// What was expected and what came, at the worst element, or else the finding in words.
fn verdict(evidence: &Evidence) -> Markup {
    let finding = &evidence.finding;
    let Some(worst) = &finding.worst else { return html! { p.detail { (Outside(&finding.detail)) } } };
    html! {
        dl.facts.worst {
            dt { "got" }
            dd.bug { code { (Outside(&worst.got)) } }
            dt { "expected" }
            dd { code { (Outside(&worst.right())) } }
            dt { "at" }
            dd {
                "element " (worst.index) " of " code { (Outside(&worst.output)) }
                @if !evidence.has_worst_output() { " in the whole case" }
                "; " (grouped(worst.mismatches as u64)) " of " (grouped(worst.elements as u64)) " are off"
            }
            dt { "on" }
            dd { code { (Outside(&evidence.target)) } }
        }
    }
}

fn inputs(evidence: &Evidence) -> Markup {
    if evidence.telling_inputs().next().is_none() {
        return html! {};
    }
    html! {
        h4 { "Inputs" }
        dl.facts.inputs {
            @for (name, tensor) in evidence.telling_inputs() {
                dt { code { (Outside(name)) } } dd { span.muted { (tensor.ty()) } " " code { (values(tensor)) } }
            }
        }
    }
}

fn values(tensor: &Tensor) -> String {
    let shown = elements(tensor, ELEMENTS).join(", ");
    match tensor.len() {
        0 => "no elements".to_owned(),
        all if all > ELEMENTS => format!("{shown}, … {} more", grouped((all - ELEMENTS) as u64)),
        _ => shown,
    }
}

/// What the engine wrote to its standard error.
fn stderr(text: &str) -> Markup {
    let text = Outside(text).lines();
    html! {
        @if !text.is_empty() {
            details {
                summary { "Standard error (" (counted(text.lines().count() as u64, "line", "lines")) ")" }
                (scrolling(&html! { pre.stderr { (text) } }))
            }
        }
    }
}

/// What the other targets made of the same cases.
fn others(group: &Group) -> Markup {
    let lines = others::lines(group);
    if lines.is_empty() {
        return html! {};
    }
    html! {
        h4 { "The same cases, each as a whole" }
        ul.others {
            @for Line { targets, counts, is_wrong, instead } in lines {
                li {
                    code { (Outside(&targets)) } " " span.bug[is_wrong] { (counts.join(", ")) }
                    @for (signature, count) in instead { " · " (grouped(count)) " × " code { (Outside(&signature)) } }
                }
            }
        }
    }
}

fn members(group: &Group) -> Markup {
    html! {
        details.members {
            summary { (counted(group.signatures.len() as u64, "signature", "signatures")) }
            (scrolling(&html! {
                table {
                    thead { tr { th.number { "findings" } th { "signature" } th { "smallest case" } } }
                    tbody {
                        @for member in &group.signatures {
                            tr {
                                td.number { (grouped(member.count)) }
                                td { (Outside(&member.signature)) @if let Some(known) = &member.known { " " span.badge title=(known) { "known" } } }
                                td { @if let Some(path) = &member.smallest { code { (path.display()) } } }
                            }
                        }
                    }
                }
            }))
        }
    }
}
