//! Where the boxes of a graph go: in layers from top to bottom, as Sugiyama's method does it.
//!
//! 1. Each box goes one layer below the lowest of those it depends on; a source goes right above its first use.
//! 2. An edge that passes layers gets a bend in each, which then counts as a narrow box.
//! 3. The order within layers is that with the fewest crossings among some sweeps of the barycentre heuristic.
//! 4. Horizontally each box is as near to the mean of its neighbours as the others of its layer allow, in that order:
//!    the least squares of an isotonic regression, which pooling adjacent violators solves exactly.
//!
//! Edges point from a smaller number to a larger one, as in SSA order. The same graph gives the same drawing.

/// The size of a box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Where everything is.
#[derive(Debug)]
pub(super) struct Drawing {
    /// The upper left corner of each box.
    pub(super) corners: Vec<(f64, f64)>,
    /// The bends of each edge, from top to bottom, without its ends. At each it is vertical.
    pub(super) bends: Vec<Vec<(f64, f64)>>,
    pub(super) size: Size,
}

/// Space between boxes of a layer, and between layers.
const GAP: Size = Size { width: 26.0, height: 34.0 };
/// A bend is as wide as this.
const BEND: f64 = 8.0;
/// How often the order within layers is improved, and how often positions are.
const SWEEPS: usize = 12;

/// A box, or the bend of an edge in a layer.
struct Item {
    layer: usize,
    size: Size,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// Arranges boxes of these sizes with edges between them.
pub(super) fn layered(sizes: &[Size], edges: &[(usize, usize)]) -> Drawing {
    let layers = layers(sizes.len(), edges);
    let items = sizes.iter().zip(&layers);
    let mut items: Vec<Item> =
        items.map(|(&size, &layer)| Item { layer, size, above: Vec::new(), below: Vec::new() }).collect();
    let chains: Vec<Vec<usize>> = edges.iter().map(|&edge| bend(&mut items, edge)).collect();
    let rows = ordered(&items);
    let x = spread(&items, &rows);
    let y = heights(&items, &rows);
    let corner =
        |i: usize| (x[i] - items[i].size.width / 2.0, y[items[i].layer] - items[i].size.height / 2.0);
    let corners: Vec<(f64, f64)> = (0..sizes.len()).map(corner).collect();
    let left = (0..items.len()).map(|i| corner(i).0).reduce(f64::min).unwrap_or(0.0);
    let right = (0..items.len()).map(|i| corner(i).0 + items[i].size.width).fold(left, f64::max);
    let bottom = corners.iter().zip(sizes).map(|(c, s)| c.1 + s.height).fold(0.0, f64::max);
    Drawing {
        corners: corners.into_iter().map(|(x, y)| (x - left, y)).collect(),
        bends: chains.iter().map(|c| c.iter().map(|&i| (x[i] - left, y[items[i].layer])).collect()).collect(),
        size: Size { width: right - left, height: bottom },
    }
}

fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut layers = vec![0; count];
    let mut sorted = edges.to_vec();
    sorted.sort_unstable();
    for &(from, to) in &sorted {
        layers[to] = layers[to].max(layers[from] + 1);
    }
    let is_source = |i: usize| edges.iter().all(|&(_, to)| to != i);
    for i in (0..count).filter(|&i| is_source(i)) {
        let first_use: Option<usize> =
            edges.iter().filter(|&&(from, _)| from == i).map(|&(_, to)| layers[to]).min();
        layers[i] = first_use.map_or(0, |layer| layer.saturating_sub(1));
    }
    layers
}

/// Connects two boxes, with a bend in each layer between; the bends.
fn bend(items: &mut Vec<Item>, (from, to): (usize, usize)) -> Vec<usize> {
    let mut chain = Vec::new();
    let mut last = from;
    for layer in items[from].layer + 1..items[to].layer {
        let size = Size { width: BEND, height: 0.0 };
        items.push(Item { layer, size, above: vec![last], below: Vec::new() });
        let new = items.len() - 1;
        items[last].below.push(new);
        chain.push(new);
        last = new;
    }
    items[last].below.push(to);
    items[to].above.push(last);
    chain
}

/// The items of each layer from left to right.
fn ordered(items: &[Item]) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (i, item) in items.iter().enumerate() {
        rows.resize_with(rows.len().max(item.layer + 1), Vec::new);
        rows[item.layer].push(i);
    }
    let mut best = (crossings(items, &rows), rows.clone());
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        let order: Vec<usize> =
            if down { (1..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
        for layer in order {
            let place = places(items, &rows);
            let towards = |i: usize| if down { &items[i].above } else { &items[i].below };
            let centre = |i: usize| {
                let near = towards(i);
                let sum: f64 = near.iter().map(|&n| place[n]).sum();
                if near.is_empty() { place[i] } else { sum / near.len() as f64 }
            };
            rows[layer].sort_by(|&a, &b| centre(a).total_cmp(&centre(b)));
        }
        let count = crossings(items, &rows);
        if count < best.0 {
            best = (count, rows.clone());
        }
    }
    best.1
}

/// The place of each item in its row, as a share, so that rows of different lengths compare.
fn places(items: &[Item], rows: &[Vec<usize>]) -> Vec<f64> {
    let mut place = vec![0.0; items.len()];
    for row in rows {
        for (k, &i) in row.iter().enumerate() {
            place[i] = (k as f64 + 0.5) / row.len() as f64;
        }
    }
    place
}

fn crossings(items: &[Item], rows: &[Vec<usize>]) -> usize {
    let place = places(items, rows);
    let mut count = 0;
    for row in rows {
        let ends = row.iter().flat_map(|&i| items[i].below.iter().map(move |&below| (i, below)));
        let edges: Vec<(f64, f64)> = ends.map(|(i, below)| (place[i], place[below])).collect();
        for (k, a) in edges.iter().enumerate() {
            count += edges[k + 1..].iter().filter(|b| (a.0 - b.0) * (a.1 - b.1) < 0.0).count();
        }
    }
    count
}

/// The horizontal centre of each item.
fn spread(items: &[Item], rows: &[Vec<usize>]) -> Vec<f64> {
    let mut x = vec![0.0; items.len()];
    for row in rows {
        let mut right = 0.0;
        for &i in row {
            x[i] = right + items[i].size.width / 2.0;
            right += items[i].size.width + GAP.width;
        }
        for &i in row {
            x[i] -= right / 2.0;
        }
    }
    for sweep in 0..SWEEPS {
        let order: Vec<usize> =
            if sweep % 2 == 0 { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
        for layer in order {
            let wish = |i: usize| {
                let near = items[i].above.iter().chain(&items[i].below);
                let (sum, count) = near.fold((0.0, 0.0), |(sum, count), &n| (sum + x[n], count + 1.0));
                if count == 0.0 { x[i] } else { sum / count }
            };
            let wishes: Vec<f64> = rows[layer].iter().map(|&i| wish(i)).collect();
            let widths: Vec<f64> = rows[layer].iter().map(|&i| items[i].size.width).collect();
            for (&i, at) in rows[layer].iter().zip(apart(&wishes, &widths)) {
                x[i] = at;
            }
        }
    }
    x
}

/// The positions nearest to the wishes, in the sense of least squares, that keep the order and the gaps.
fn apart(wishes: &[f64], widths: &[f64]) -> Vec<f64> {
    let mut offsets = vec![0.0; wishes.len()];
    for k in 1..wishes.len() {
        offsets[k] = offsets[k - 1] + f64::midpoint(widths[k - 1], widths[k]) + GAP.width;
    }
    // Blocks of neighbours that share a position, less their offsets: its sum, and how many they are.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (wish, offset) in wishes.iter().zip(&offsets) {
        blocks.push((wish - offset, 1));
        while let [.., a, b] = blocks[..]
            && a.0 / a.1 as f64 > b.0 / b.1 as f64
        {
            blocks.truncate(blocks.len() - 2);
            blocks.push((a.0 + b.0, a.1 + b.1));
        }
    }
    let shared = blocks.iter().flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    shared.zip(offsets).map(|(x, offset)| x + offset).collect()
}

/// The vertical centre of each layer.
fn heights(items: &[Item], rows: &[Vec<usize>]) -> Vec<f64> {
    let mut top = 0.0;
    let tallest = |row: &Vec<usize>| row.iter().map(|&i| items[i].size.height).fold(0.0, f64::max);
    let centre = |row: &Vec<usize>| {
        let (height, at) = (tallest(row), top);
        top += height + GAP.height;
        at + height / 2.0
    };
    rows.iter().map(centre).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Size = Size { width: 100.0, height: 20.0 };

    #[test]
    fn a_chain_is_straight_and_a_source_is_right_above_its_use() {
        let drawing = layered(&[BOX; 4], &[(0, 1), (1, 3), (2, 3)]);
        let [a, b, source, end] = drawing.corners[..] else { panic!("four boxes") };
        assert!(a.1 < b.1 && b.1 < end.1, "{drawing:?}");
        assert_eq!(source.1, b.1);
        assert!((a.0 - b.0).abs() < 1.0, "{drawing:?}");
    }

    #[test]
    fn boxes_do_not_overlap_and_nothing_is_left_of_zero() {
        // Everything depends on everything before it.
        let edges: Vec<_> = (0..9).flat_map(|to| (0..to).map(move |from| (from, to))).collect();
        let drawing = layered(&[BOX; 9], &edges);
        let bends = drawing.bends.iter().flatten();
        for (x, y) in drawing.corners.iter().chain(bends) {
            assert!(*x >= 0.0 && *x <= drawing.size.width && *y >= 0.0 && *y <= drawing.size.height);
        }
        let wide = layered(&[BOX; 6], &[(0, 5), (1, 5), (2, 5), (3, 5), (4, 5)]);
        let mut x: Vec<f64> = wide.corners[..5].iter().map(|c| c.0).collect();
        x.sort_by(f64::total_cmp);
        assert!(x.windows(2).all(|w| w[1] - w[0] >= BOX.width + GAP.width - 1e-9), "{x:?}");
    }

    #[test]
    fn edges_that_need_not_cross_do_not() {
        let drawing = layered(&[BOX; 4], &[(0, 3), (1, 2)]);
        let x = |i: usize| drawing.corners[i].0;
        assert!((x(0) - x(1)) * (x(3) - x(2)) > 0.0, "{drawing:?}");
    }

    #[test]
    fn positions_are_as_near_to_the_wishes_as_the_gaps_allow() {
        assert_eq!(apart(&[0.0, 0.0], &[10.0, 10.0]), [-18.0, 18.0]);
        assert_eq!(apart(&[0.0, 500.0], &[10.0, 10.0]), [0.0, 500.0]);
        assert_eq!(apart(&[], &[]), [0.0; 0]);
    }

    #[test]
    fn an_empty_graph_has_no_size() {
        let drawing = layered(&[], &[]);
        assert!(drawing.corners.is_empty() && drawing.size.height == 0.0);
    }
}
