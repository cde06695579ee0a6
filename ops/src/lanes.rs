//! Walking tensors along some of their axes.

use std::borrow::Cow;

use ndarray::{ArrayD, ArrayViewD, IxDyn};

/// The elements of a tensor, grouped by the axes that are walked: one lane for each position on the other axes.
pub struct Lanes<T> {
    items: Vec<T>,
    len: usize,
    count: usize,
}

impl<T: Clone> Lanes<T> {
    /// The lanes along `axes` (indices, each once). Within a lane and among the lanes the order is row-major.
    pub fn new(x: &ArrayD<T>, axes: &[usize]) -> Self {
        let kept = (0..x.ndim()).filter(|a| !axes.contains(a));
        let mut walked = axes.to_vec();
        walked.sort_unstable();
        let order: Vec<usize> = kept.chain(walked.iter().copied()).collect();
        let len = axes.iter().map(|&a| x.shape()[a]).product();
        let count = (0..x.ndim()).filter(|a| !axes.contains(a)).map(|a| x.shape()[a]).product();
        Self { items: row_major(&x.view().permuted_axes(order)), len, count }
    }

    /// The lanes in order; lanes of length 0 are there too.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.count).map(|i| &self.items[i * self.len..(i + 1) * self.len])
    }
}

/// One element per lane, in the shape given (the lanes' order is row-major over the axes that stay).
pub fn reduce<T: Clone, U>(
    x: &ArrayD<T>,
    axes: &[usize],
    shape: &[usize],
    f: impl FnMut(&[T]) -> U,
) -> ArrayD<U> {
    array(shape, Lanes::new(x, axes).iter().map(f).collect())
}

/// A tensor of the same shape in which every lane along `axes` is replaced by as many new elements.
pub fn map<T: Clone, U: Clone>(
    x: &ArrayD<T>,
    axes: &[usize],
    mut f: impl FnMut(&[T]) -> Vec<U>,
) -> ArrayD<U> {
    let mut walked = axes.to_vec();
    walked.sort_unstable();
    let order: Vec<usize> = (0..x.ndim()).filter(|a| !axes.contains(a)).chain(walked).collect();
    let permuted: Vec<usize> = order.iter().map(|&a| x.shape()[a]).collect();
    let mut back = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        back[from] = to;
    }
    let mut items = Vec::with_capacity(x.len());
    if x.is_empty() {
        return array(x.shape(), items);
    }
    Lanes::new(x, axes).iter().for_each(|lane| items.extend(f(lane)));
    array(&permuted, items).permuted_axes(back).as_standard_layout().into_owned()
}

/// The tensor with its last axis moved to the position given.
pub fn move_last<T: Clone>(x: ArrayD<T>, to: usize) -> ArrayD<T> {
    let last = x.ndim().saturating_sub(1);
    let mut order: Vec<usize> = (0..last).collect();
    order.insert(to, last);
    x.permuted_axes(order).as_standard_layout().into_owned()
}

/// A tensor from its elements in row-major order.
///
/// # Panics
/// If their number does not fit the shape: the caller has lost elements.
pub fn array<T>(shape: &[usize], items: Vec<T>) -> ArrayD<T> {
    ArrayD::from_shape_vec(IxDyn(shape), items).expect("as many elements as the shape has places")
}

/// A tensor whose element at each position is a function of the position.
pub fn build<T>(shape: &[usize], mut f: impl FnMut(&[usize]) -> T) -> ArrayD<T> {
    let mut at = vec![0; shape.len()];
    let mut next = || {
        let item = f(&at);
        for (i, &size) in at.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < size {
                break;
            }
            *i = 0;
        }
        item
    };
    array(shape, (0..shape.iter().product()).map(|_| next()).collect())
}

/// A tensor whose element at each position is that of `x` at another one: `from` tells its index along each axis, by the axis and the
/// position's index along it.
pub fn by_axis<T: Clone>(x: &ArrayD<T>, shape: &[usize], from: impl Fn(usize, usize) -> usize) -> ArrayD<T> {
    let items = broadcast(x, x.shape());
    let mut step = 1;
    let mut steps: Vec<Vec<usize>> = Vec::with_capacity(shape.len());
    for axis in (0..shape.len()).rev() {
        steps.push((0..shape[axis]).map(|at| from(axis, at) * step).collect());
        step *= x.shape()[axis];
    }
    build(shape, |at| items[at.iter().rev().zip(&steps).map(|(&at, steps)| steps[at]).sum::<usize>()].clone())
}

/// A function of each element. Compiled for every function and number system: half of what `ndarray` makes of it.
pub fn each<T: Copy, U>(x: &ArrayD<T>, f: impl FnMut(T) -> U) -> ArrayD<U> {
    array(x.shape(), broadcast(x, x.shape()).iter().copied().map(f).collect())
}

/// The elements in row-major order.
fn row_major<T: Clone>(x: &ArrayViewD<'_, T>) -> Vec<T> {
    if let Some(items) = x.as_slice() {
        return items.to_vec();
    }
    let mut items = Vec::with_capacity(x.len());
    // Of a tensor without elements there may be any number of rows.
    if x.ndim() == 0 || x.is_empty() {
        items.extend(x.iter().cloned());
    } else {
        // Where they are not contiguous, this is several times as fast as to collect them.
        x.rows().into_iter().for_each(|row| row.iter().for_each(|item| items.push(item.clone())));
    }
    items
}

/// The elements of a tensor that is broadcast to a shape, in row-major order.
///
/// # Panics
/// If it does not broadcast to the shape, which the type rule excludes.
pub fn broadcast<'a, T: Clone>(x: &'a ArrayD<T>, shape: &[usize]) -> Cow<'a, [T]> {
    match x.as_slice() {
        Some(items) if x.shape() == shape => Cow::Borrowed(items),
        _ => Cow::Owned(row_major(&x.broadcast(shape).expect("the type rule makes the operands broadcast"))),
    }
}

/// Combines two arrays element by element after broadcasting both to `shape`.
///
/// # Panics
/// If one does not broadcast to the shape, which the type rule excludes.
pub fn zip<T: Copy, U: Copy, V>(
    shape: &[usize],
    x: &ArrayD<T>,
    y: &ArrayD<U>,
    mut f: impl FnMut(T, U) -> V,
) -> ArrayD<V> {
    let (x, y) = (broadcast(x, shape), broadcast(y, shape));
    array(shape, x.iter().zip(y.iter()).map(|(&x, &y)| f(x, y)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_without_elements_takes_no_time_however_many_rows_it_has() {
        let x: ArrayD<f64> = array(&[1 << 20, 1 << 20, 1 << 20, 0], Vec::new());
        assert_eq!(map(&x, &[3], <[f64]>::to_vec).shape(), x.shape());
        assert_eq!(map(&x, &[0], <[f64]>::to_vec).shape(), x.shape());
    }

    #[test]
    fn lanes_group_by_the_other_axes() {
        let x = array(&[2, 3], vec![1, 2, 3, 4, 5, 6]);
        assert_eq!(
            reduce(&x, &[0], &[3], <[i32]>::to_vec).into_raw_vec_and_offset().0,
            [[1, 4], [2, 5], [3, 6]]
        );
        assert_eq!(reduce(&x, &[], &[2, 3], <[i32]>::len).sum(), 6);
        assert_eq!(
            reduce(&x, &[1, 0], &[], <[i32]>::to_vec).into_raw_vec_and_offset().0,
            [[1, 2, 3, 4, 5, 6]]
        );
    }

    #[test]
    fn positions_are_told_in_order() {
        let at = build(&[2, 1, 3], <[usize]>::to_vec).into_raw_vec_and_offset().0;
        assert_eq!(at, [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 0, 1], [1, 0, 2]]);
        assert_eq!(build(&[], <[usize]>::len).into_raw_vec_and_offset().0, [0]);
        assert!(build(&[2, 0], <[usize]>::len).is_empty());
    }

    #[test]
    fn each_axis_tells_where_elements_are_from() {
        let x = array(&[2, 3], vec![1, 2, 3, 4, 5, 6]);
        let turned = by_axis(&x, &[3, 2], |axis, at| if axis == 0 { at % 2 } else { 2 - at });
        assert_eq!(turned, array(&[3, 2], vec![3, 2, 6, 5, 3, 2]));
        assert_eq!(by_axis(&x.reversed_axes(), &[1, 1], |axis, _| axis), array(&[1, 1], vec![4]));
    }

    #[test]
    fn broadcasting_repeats_elements() {
        let x = array(&[2, 1], vec![1, 2]);
        assert_eq!(*broadcast(&x, &[2, 2, 2]), [1, 1, 2, 2, 1, 1, 2, 2]);
        assert!(matches!(broadcast(&x, &[2, 1]), Cow::Borrowed(_)));
    }

    #[test]
    fn empty_lanes_are_lanes() {
        let x: ArrayD<i32> = array(&[2, 0], vec![]);
        assert_eq!(reduce(&x, &[1], &[2], <[i32]>::len).into_raw_vec_and_offset().0, [0, 0]);
    }

    #[test]
    fn map_puts_lanes_back() {
        let x = array(&[2, 3], vec![1, 2, 3, 4, 5, 6]);
        let reversed = map(&x, &[0], |l| l.iter().rev().copied().collect());
        assert_eq!(reversed, array(&[2, 3], vec![4, 5, 6, 1, 2, 3]));
    }
}
