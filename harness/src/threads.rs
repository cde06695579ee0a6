//! Work on many items by several threads.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// How many there are where nobody says it: one per processor.
pub fn all() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Does something with each item, first come, first served. The results are in the order of the items, whatever the number of threads.
pub fn each<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
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

/// What there is only so much of, for threads that need some each.
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
    /// So much.
    pub fn new(all: u64) -> Self {
        Self { free: Mutex::new(all), all, returned: Condvar::new() }
    }

    /// Takes a part, once there is as much. Who asks for more than there is gets all.
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
