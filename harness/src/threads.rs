//! Work on many items by several threads.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};

/// The number of threads if nobody states one: one per processor.
pub fn all() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Does something with each item, first come, first served. The results are in the order of the items, whatever the number of threads.
pub fn each<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    each_until(threads, items, || false, work)
}

/// Does something with each item, in their order, until `stop` says so. Items that were begun are finished, so that
/// there are results for the first items, without gaps.
pub fn each_until<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    stop: impl Fn() -> bool + Sync,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                while !stop() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(index, result);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

/// Works on the numbers from 0 to `count` on threads, first come, first served, until all are done, `stop` says so, or
/// `take` fails. `take` gets each number with its result on this thread, in no fixed order.
pub fn as_done<R: Send, E>(
    threads: usize,
    count: u64,
    stop: impl Fn() -> bool + Sync,
    work: impl Fn(u64) -> R + Sync,
    mut take: impl FnMut(u64, R) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        // The receiver is gone when this closure ends. Where nothing is taken any more, threads cannot send, and end.
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads.clamp(1, usize::try_from(count).unwrap_or(usize::MAX).max(1)) {
            let (sender, next, stop, work) = (sender.clone(), &next, &stop, &work);
            scope.spawn(move || {
                while !stop() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count || sender.send((number, work(number))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        receiver.into_iter().try_for_each(|(number, result)| take(number, result))
    })
}

/// A limited amount of something, such as memory, of which each thread takes a part while it works.
pub struct Share {
    free: Mutex<u64>,
    all: u64,
    returned: Condvar,
}

/// A part of a [`Share`], until it is dropped.
pub struct Part<'s> {
    share: &'s Share,
    amount: u64,
}

impl Share {
    /// This amount, all of it free.
    pub fn new(all: u64) -> Self {
        Self { free: Mutex::new(all), all, returned: Condvar::new() }
    }

    /// Takes a part, as soon as that much is free. A request for more than the whole takes the whole.
    pub fn take(&self, amount: u64) -> Part<'_> {
        let amount = amount.min(self.all);
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.returned.wait_while(free, |free| *free < amount);
        *waited.unwrap_or_else(PoisonError::into_inner) -= amount;
        Part { share: self, amount }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        *self.share.free.lock().unwrap_or_else(PoisonError::into_inner) += self.amount;
        self.share.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        for threads in [0, 1, 7, 200] {
            let squares = each(threads, &items, |x| {
                std::thread::sleep(std::time::Duration::from_micros(100 - x));
                x * x
            });
            assert!(squares.iter().zip(0..).all(|(&square, x)| square == x * x), "{threads}");
        }
        assert!(each(3, &[0; 0], |x| *x).is_empty());
    }

    #[test]
    fn where_it_stops_the_first_so_many_are_done() {
        let (items, begun): (Vec<u64>, _) = ((0..100).collect(), AtomicUsize::new(0));
        let stop = || begun.load(Ordering::Relaxed) >= 10;
        let done = each_until(4, &items, stop, |x| {
            begun.fetch_add(1, Ordering::Relaxed);
            *x
        });
        assert!((10..=13).contains(&done.len()), "{}", done.len());
        assert_eq!(done, items[..done.len()]);
    }

    #[test]
    fn nobody_has_more_than_there_is() {
        let (share, taken, most) = (Share::new(10), AtomicUsize::new(0), AtomicUsize::new(0));
        each(8, &[1, 4, 7, 10, 25, 3, 3, 3], |&amount| {
            let _part = share.take(amount);
            let now = taken.fetch_add(amount.min(10) as usize, Ordering::Relaxed) + amount.min(10) as usize;
            most.fetch_max(now, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(1));
            taken.fetch_sub(amount.min(10) as usize, Ordering::Relaxed);
        });
        assert!(most.into_inner() <= 10);
    }
}
