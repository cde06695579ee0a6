//! Where an error lies in a drawing: by its logarithm, as errors go from nothing to millions of ULP.

use maud::{Markup, html};

/// The height of a drawing, and the room for numbers at its left and below it.
pub(super) const HEIGHT: f64 = 120.0;
pub(super) const LEFT: f64 = 38.0;
pub(super) const BELOW: f64 = 18.0;

/// The largest error that has a place of its own, as a power of two.
const HIGHEST: f64 = 24.0;

/// The errors that are marked at the left.
const MARKS: [(f64, &str); 4] = [(0.0, "0"), (15.0, "16"), (4095.0, "2¹²"), (16_777_215.0, "2²⁴")];

/// The height at which an error in ULP is drawn.
pub(super) fn y(ulp: f64) -> f64 {
    HEIGHT * (1.0 - (1.0 + ulp).log2().min(HIGHEST) / HIGHEST)
}

/// Lines at the marks.
pub(super) fn marks(width: f64) -> Markup {
    html! {
        @for (ulp, name) in MARKS {
            line.axis x1=(LEFT) x2=(LEFT + width) y1=(format!("{:.1}", y(ulp))) y2=(format!("{:.1}", y(ulp))) {}
            text.tick.end x=(LEFT - 4.0) y=(format!("{:.1}", y(ulp) + 4.0)) { (name) }
        }
    }
}

/// A path through points; it begins anew after each that is missing.
pub(super) fn path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut out = String::new();
    let mut is_open = false;
    let mut last = None;
    for point in points {
        if let Some((x, y)) = point {
            let at = (x.round() as i64, y.round() as i64);
            // Steps of a flat line need no points.
            if last != Some(at) {
                out += &format!("{}{} {}", if is_open { 'L' } else { 'M' }, at.0, at.1);
            }
            last = Some(at);
        }
        is_open = point.is_some();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_at_the_bottom_and_much_at_the_top() {
        assert_eq!((y(0.0), y(1e9)), (HEIGHT, 0.0));
        assert!(y(1.0) > y(16.0) && y(16.0) > y(4096.0));
    }

    #[test]
    fn a_path_has_gaps_where_points_are_missing() {
        let points = [Some((0.0, 1.0)), Some((1.0, 1.0)), None, Some((3.0, 2.0))];
        assert_eq!(path(points.into_iter()), "M0 1L1 1M3 2");
    }
}
