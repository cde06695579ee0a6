//! The entries of the list of known findings that nothing was met of.

use maud::{Markup, html};

use super::scrolling;
use crate::outside::Outside;
use campaign::report::Report;

/// A list for each kind, which begins closed: there may be hundreds.
pub(super) fn lists(report: &Report) -> Markup {
    html! {
        (list("Known, of what ran, and not met", &report.known_unseen))
        (list("Known once, and expired", &report.known_expired))
    }
}

fn list(title: &str, signatures: &[String]) -> Markup {
    html! {
        @if !signatures.is_empty() {
            details {
                summary { (title) " (" (signatures.len()) ")" }
                (scrolling(&html! { ul { @for signature in signatures { li { code { (Outside(signature)) } } } } }))
            }
        }
    }
}
