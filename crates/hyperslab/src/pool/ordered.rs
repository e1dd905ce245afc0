//! Work on many threads whose results are consumed in order.

use super::{Pool, unpoisoned};
use hyperslab_codec::Scratch;
use hyperslab_core::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

impl Pool {
    /// Runs `make` for each of `items`, as [`Pool::each`] does, and `take` for each result, one at a time and in the
    /// order of the items. Results that are ready before their turn wait in memory: at most two for each thread, and
    /// only as many as the memory allows at `bytes` bytes each.
    ///
    /// # Errors
    /// The error of the first item that failed. The results of all items before it have been taken, and none after it.
    pub(crate) fn in_order<T: Send, U: Send, I: Iterator<Item = T> + Send>(
        &self,
        items: impl IntoIterator<Item = T, IntoIter = I>,
        bytes: u64,
        make: impl Fn(T, &mut Scratch) -> Result<U> + Sync,
        take: impl Fn(U, &mut Scratch) -> Result<()> + Sync,
    ) -> Result<()> {
        let room = usize::try_from(self.memory() / bytes.max(1)).unwrap_or(usize::MAX);
        let window = self.threads().saturating_mul(2).min(room).max(1);
        let turns = Turns { window, changed: Condvar::new(), state: Mutex::new(State::default()) };
        let done = self.each(items.into_iter().enumerate(), bytes, |(number, item), scratch| {
            // A thread that panics must not leave the others waiting.
            let _guard = Guard(&turns);
            if turns.may_begin(number) {
                let made = make(item, scratch);
                turns.lock().made.insert(number, made);
                turns.take(&take, scratch);
            }
            match turns.lock().is_stopped() {
                // Stops the other threads; the error itself is in `state`.
                true => Err(Error::invalid("stopped")),
                false => Ok(()),
            }
        });
        let state = turns.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(done, Err)
    }
}

/// Coordinates the threads: which results are ready, and which one is taken next.
struct Turns<U> {
    /// The maximum number of items between the next one to be taken and the last one started.
    window: usize,
    changed: Condvar,
    state: Mutex<State<U>>,
}

struct State<U> {
    /// The item that is taken next.
    next: usize,
    is_taking: bool,
    made: BTreeMap<usize, Result<U>>,
    failed: Option<Error>,
    has_panicked: bool,
}

impl<U> Default for State<U> {
    fn default() -> Self {
        State { next: 0, is_taking: false, made: BTreeMap::new(), failed: None, has_panicked: false }
    }
}

impl<U> State<U> {
    fn is_stopped(&self) -> bool {
        self.failed.is_some() || self.has_panicked
    }
}

impl<U> Turns<U> {
    fn lock(&self) -> MutexGuard<'_, State<U>> {
        unpoisoned(&self.state)
    }

    /// Waits until an item is within the window; returns false if the work was stopped. Items are started in order, so
    /// the next one to be taken never waits.
    fn may_begin(&self, number: usize) -> bool {
        let is_ahead =
            |state: &mut State<U>| !state.is_stopped() && number >= state.next.saturating_add(self.window);
        let state = self.changed.wait_while(self.lock(), is_ahead).unwrap_or_else(PoisonError::into_inner);
        !state.is_stopped()
    }

    /// Takes results as long as the next one is ready. If another thread is already taking results, that thread takes
    /// these as well.
    fn take(&self, take: &(impl Fn(U, &mut Scratch) -> Result<()> + Sync), scratch: &mut Scratch) {
        let mut state = self.lock();
        while !state.is_taking && !state.is_stopped() {
            let next = state.next;
            let Some(made) = state.made.remove(&next) else { return };
            state.is_taking = true;
            drop(state);
            let taken = made.and_then(|made| take(made, scratch));
            state = self.lock();
            state.is_taking = false;
            match taken {
                Ok(()) => state.next += 1,
                Err(error) => state.failed = Some(error),
            }
            self.changed.notify_all();
        }
    }
}

struct Guard<'a, U>(&'a Turns<U>);

impl<U> Drop for Guard<'_, U> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().has_panicked = true;
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn takes_results_in_order_by_one_thread_at_a_time() {
        for threads in [1, 2, 8] {
            let pool = Pool::new(threads, Pool::MEMORY);
            let (taken, taking, makers) =
                (Mutex::new(Vec::new()), AtomicUsize::new(0), Mutex::new(HashSet::new()));
            let make = |item: u64, _: &mut Scratch| {
                // The later items of a group of seven are ready first.
                thread::sleep(Duration::from_micros((7 - item % 7) * 100));
                makers.lock().unwrap().insert(thread::current().id());
                Ok(item)
            };
            let take = |item, _: &mut Scratch| {
                assert_eq!(taking.fetch_add(1, Ordering::SeqCst), 0);
                taken.lock().unwrap().push(item);
                taking.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            };
            pool.in_order(0..100, 0, make, take).unwrap();
            assert_eq!(taken.into_inner().unwrap(), (0..100).collect::<Vec<_>>());
            // On a busy machine some threads may get no item.
            let makers = makers.into_inner().unwrap().len();
            assert!((threads.min(2)..=threads).contains(&makers), "{makers} of {threads}");
        }
    }

    #[test]
    fn takes_all_results_before_the_first_error_and_none_after_it() {
        for threads in [1, 2, 8] {
            let pool = Pool::new(threads, Pool::MEMORY);
            for fails_at_taking in [false, true] {
                let taken = Mutex::new(Vec::new());
                let fail = |item, here: bool| match item {
                    17 if here => Err(Error::invalid("seventeen")),
                    _ => Ok(()),
                };
                let e = pool.in_order(
                    0..60,
                    0,
                    |item, _| fail(item, !fails_at_taking).map(|()| item),
                    |item, _| {
                        fail(item, fails_at_taking)?;
                        taken.lock().unwrap().push(item);
                        Ok(())
                    },
                );
                assert_eq!(e.unwrap_err().to_string(), "seventeen");
                assert_eq!(taken.into_inner().unwrap(), (0..17).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn memory_limits_the_number_of_waiting_results() {
        let pool = Pool::new(8, 300);
        let (ahead, max_ahead) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let make = |item: u64, _: &mut Scratch| {
            max_ahead.fetch_max(ahead.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // The first item is slow.
            thread::sleep(Duration::from_millis(if item == 0 { 30 } else { 0 }));
            Ok(item)
        };
        let take = |_, _: &mut Scratch| {
            ahead.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        };
        pool.in_order(0..50, 100, make, take).unwrap();
        assert!(max_ahead.load(Ordering::SeqCst) <= 3, "{max_ahead:?}");
    }

    #[test]
    fn a_panic_ends_the_other_threads() {
        let pool = Pool::new(4, Pool::MEMORY);
        let make = |item: u64, _: &mut Scratch| {
            assert!(item != 3, "in the middle");
            Ok(item)
        };
        let run = || pool.in_order(0..100, 0, make, |_, _| Ok(()));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }
}
