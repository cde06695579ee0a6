//! Memory for results.
//!
//! What costs most in an operator that computes little is memory that is new to the process: the system finds and clears a page
//! of 4 KiB for each fault. Large results ask for large pages instead, and are written once.

use std::mem::MaybeUninit;

use super::wide::wide;

/// The fewest bytes of a result that it is worth to ask for large pages for, which are 2 MiB on most systems.
const LARGE: usize = 4 << 20;

/// The fewest elements that a further thread is worth for.
const GRAIN: usize = 1 << 17;

/// Room for elements.
pub(super) fn room<T>(count: usize) -> Vec<T> {
    let room = Vec::with_capacity(count);
    advise(&room);
    room
}

/// Elements that are all `zero`.
pub(super) fn zeros<T: Copy>(zero: T, count: usize) -> Vec<T> {
    // The system has cleared what is large and of Rust's own numbers.
    let zeros = vec![zero; count];
    advise(&zeros);
    zeros
}

/// Tells the system that large pages are welcome.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "madvise has no safe interface in the standard library")]
fn advise<T>(room: &Vec<T>) {
    const PAGE: usize = 4096;
    let bytes = room.capacity() * size_of::<T>();
    if bytes < LARGE {
        return;
    }
    let start = (room.as_ptr() as usize).next_multiple_of(PAGE);
    let end = (room.as_ptr() as usize + bytes) / PAGE * PAGE;
    // SAFETY: the pages lie within the vector's allocation, and the advice changes nothing of what they hold. That it is refused
    // does no harm.
    unsafe {
        libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &Vec<T>) {}

/// As many elements as `count`, which `fill` writes: it gets the number of the first element of a part, and room for the part.
#[allow(unsafe_code, reason = "room that nobody has cleared must be declared to be written")]
fn filled<U: Send>(
    threads: usize,
    count: usize,
    fill: &(dyn Fn(usize, &mut [MaybeUninit<U>]) + Sync),
) -> Vec<U> {
    let mut out: Vec<U> = room(count);
    each_part(threads, &mut out.spare_capacity_mut()[..count], 1, 1, fill);
    // SAFETY: `fill` is one of the two functions below, which write every element of the room that they get, and together the
    // parts are all of it.
    unsafe { out.set_len(count) };
    out
}

/// A function of each element.
pub(super) fn map<T: Copy + Sync, U: Copy + Send>(
    threads: usize,
    x: &[T],
    f: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    filled(threads, x.len(), &|first, out| {
        let x = &x[first..][..out.len()];
        wide!({
            for (y, &x) in out.iter_mut().zip(x) {
                y.write(f(x));
            }
        });
    })
}

/// A function of each pair of elements.
///
/// # Panics
/// If there are not as many of one as of the other.
pub(super) fn zip<T: Copy + Sync, U: Copy + Send>(
    threads: usize,
    x: &[T],
    y: &[T],
    f: impl Fn(T, T) -> U + Sync,
) -> Vec<U> {
    assert_eq!(x.len(), y.len(), "each element has a partner");
    filled(threads, x.len(), &|first, out| {
        let (x, y) = (&x[first..][..out.len()], &y[first..][..out.len()]);
        wide!({
            for ((z, &x), &y) in out.iter_mut().zip(x).zip(y) {
                z.write(f(x, y));
            }
        });
    })
}

/// Runs `work` on each part of a list of results, together with the number of the first element of that part divided by `unit`:
/// parts are whole units. `cost` says how many elements' worth of work a unit is.
pub(super) fn each_part<T: Send>(
    threads: usize,
    out: &mut [T],
    unit: usize,
    cost: usize,
    work: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    let units = out.len() / unit.max(1);
    let parts = threads.min(units.saturating_mul(cost) / GRAIN).min(units).max(1);
    let mut jobs: Vec<Job<'_>> = Vec::with_capacity(parts);
    let (mut first, mut space) = (0, out);
    for left in (1..=parts).rev() {
        let here = (units - first) / left;
        let (room, after) = space.split_at_mut(here * unit);
        jobs.push(Box::new(move || work(first, room)));
        (first, space) = (first + here, after);
    }
    at_once(jobs);
}

/// What a thread does.
type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Does all jobs, the last one on this thread. A job is boxed, so that the code for threads is compiled once
/// and not with each kernel.
fn at_once(mut jobs: Vec<Job<'_>>) {
    let last = jobs.pop();
    std::thread::scope(|scope| {
        for job in jobs {
            scope.spawn(job);
        }
        if let Some(job) = last {
            job();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_put_together_in_their_order() {
        let count = 3 * GRAIN + 17;
        let x: Vec<u32> = (0..count as u32).collect();
        for threads in [1, 2, 3, 8] {
            assert!(map(threads, &x, |x| x + 1).iter().zip(1..).all(|(&y, i)| y == i));
            assert!(zip(threads, &x, &x, |x, y| x + y).iter().zip(0..).all(|(&y, i)| y == 2 * i));
        }
        assert!(map(4, &[0u8; 0], |x| x).is_empty());
    }

    #[test]
    fn every_unit_is_worked_on_once() {
        for (threads, units, unit) in [(1, 5, 3), (2, 5, 3), (3, 2, 7), (4, 0, 3), (2, 3, 0)] {
            let mut out = vec![0usize; units * unit];
            each_part(threads, &mut out, unit, GRAIN, &|first, part| {
                for (i, unit) in part.chunks_mut(unit.max(1)).enumerate() {
                    for y in unit {
                        *y += first + i + 1;
                    }
                }
            });
            assert!(out.iter().enumerate().all(|(i, &y)| y == i / unit + 1), "{threads} {units} {unit}");
        }
    }
}
