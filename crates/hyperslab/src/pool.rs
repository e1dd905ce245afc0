//! The threads that read and decode. No other module starts threads.

mod ordered;

use hyperslab_codec::Scratch;
use hyperslab_core::{CancelToken, Error, Result};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The resources of an operation: the number of threads, the memory for elements in transit, and the cancellation
/// token.
///
/// Clones share the threads, as do pools that [`Pool::with_memory`] and [`Pool::with_cancel`] return. Use
/// [`Pool::default`] for all operations of a process, each with its own memory and token: together they start at most
/// as many threads as there are processors.
///
/// A pool keeps no idle threads. For work that is large enough, it starts as many threads as other work of the pool
/// leaves free. It keeps the coders and buffers of threads for later work.
///
/// ```
/// use hyperslab::{CancelToken, OpenOptions, Pool};
///
/// let token = CancelToken::new();
/// let pool = Pool::new(2, Pool::MEMORY).with_memory(64 << 20).with_cancel(token.clone());
/// let options = OpenOptions { pool, ..OpenOptions::default() };
/// assert_eq!((options.pool.threads(), options.pool.memory()), (2, 64 << 20));
/// token.cancel();
/// assert!(options.pool.check().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    memory: u64,
    cancel: CancelToken,
}

struct Shared {
    threads: usize,
    /// The number of running threads.
    busy: AtomicUsize,
    idle: Mutex<Vec<Scratch>>,
}

impl Pool {
    /// The default memory for elements in transit, in bytes.
    pub const MEMORY: u64 = 512 << 20;

    /// A pool with `threads` threads, or one for each processor if 0, and `memory` bytes.
    pub fn new(threads: usize, memory: u64) -> Pool {
        let threads = match threads {
            0 => thread::available_parallelism().map_or(1, NonZeroUsize::get),
            threads => threads,
        };
        let shared = Shared { threads, busy: AtomicUsize::new(0), idle: Mutex::default() };
        Pool { shared: Arc::new(shared), memory, cancel: CancelToken::default() }
    }

    /// The pool of the process: one thread for each processor, [`Pool::MEMORY`], no token.
    pub fn shared() -> &'static Pool {
        static SHARED: LazyLock<Pool> = LazyLock::new(|| Pool::new(0, Pool::MEMORY));
        &SHARED
    }

    /// The same threads, with `memory` bytes for elements in transit.
    #[must_use]
    pub fn with_memory(self, memory: u64) -> Pool {
        Pool { memory, ..self }
    }

    /// The same threads, stopped by `token`.
    #[must_use]
    pub fn with_cancel(self, token: CancelToken) -> Pool {
        Pool { cancel: token, ..self }
    }

    /// The token that stops the work.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Fails if the token was cancelled.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](hyperslab_core::ErrorKind::Cancelled).
    pub fn check(&self) -> Result<()> {
        self.cancel.check()
    }

    /// The maximum number of threads that work at the same time.
    pub fn threads(&self) -> usize {
        self.shared.threads
    }

    /// The memory for elements in transit, in bytes. The result that the caller requested is not counted.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Runs `work` in a thread of its own, and calls `look` on this one every `interval`. When it returns true, the
    /// token is cancelled, and the work ends at its next chunk. For callers that must notice signals.
    ///
    /// ```
    /// use hyperslab::{CancelToken, ErrorKind, Pool};
    /// use std::time::Duration;
    ///
    /// let pool = Pool::default().with_cancel(CancelToken::new());
    /// fn endless(pool: &Pool) -> hyperslab::Result<()> {
    ///     loop {
    ///         pool.check()?;
    ///     }
    /// }
    /// let ended = pool.watched(Duration::from_millis(1), &mut || true, endless);
    /// assert_eq!(ended.unwrap_err().kind(), ErrorKind::Cancelled);
    /// ```
    ///
    /// # Errors
    /// The error of the work; if the system has no more threads.
    pub fn watched<T: Send>(
        &self,
        interval: Duration,
        look: &mut dyn FnMut() -> bool,
        work: impl FnOnce(&Pool) -> Result<T> + Send,
    ) -> Result<T> {
        let (answer, answered) = (Mutex::new(None), Condvar::new());
        thread::scope(|scope| {
            let working = thread::Builder::new().spawn_scoped(scope, || {
                let own = work(self);
                *unpoisoned(&answer) = Some(own);
                answered.notify_all();
            })?;
            loop {
                let is_over = working.is_finished();
                let waited = answered.wait_timeout_while(unpoisoned(&answer), interval, |own| own.is_none());
                match waited.unwrap_or_else(PoisonError::into_inner).0.take() {
                    Some(own) => return own,
                    // Only a panic ends the work without an answer.
                    None if is_over => return Err(Error::invalid("the work ended without an answer")),
                    None if look() => self.cancel.cancel(),
                    None => {}
                }
            }
        })
    }

    /// Runs `work` on this thread, with reused memory.
    pub(crate) fn alone<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let busy = Busy::begin(&self.shared.busy);
        let mut scratch = unpoisoned(&self.shared.idle).pop().unwrap_or_default();
        scratch.cancel = self.cancel.clone();
        let done = work(&mut scratch);
        scratch.cancel = CancelToken::default();
        drop(busy);
        if scratch.held() <= MAX_HELD / self.threads() {
            let mut idle = unpoisoned(&self.shared.idle);
            if idle.len() < self.shared.threads {
                idle.push(scratch);
            }
        }
        done
    }

    /// Runs `work` for each of `items`, started in their order, on this thread and others: as many as are free and
    /// have `bytes` bytes of memory each.
    ///
    /// # Errors
    /// The error of the first item that failed, independent of the number of threads.
    pub(crate) fn each<T: Send, I: Iterator<Item = T> + Send>(
        &self,
        items: impl IntoIterator<Item = T, IntoIter = I>,
        bytes: u64,
        work: impl Fn(T, &mut Scratch) -> Result<()> + Sync,
    ) -> Result<()> {
        let room = usize::try_from(self.memory() / bytes.max(1)).unwrap_or(usize::MAX);
        let items = items.into_iter();
        let max_items = items.size_hint().1.unwrap_or(usize::MAX);
        let helpers = self.free().min(max_items.saturating_sub(1)).min(room.saturating_sub(1));
        let queue = Mutex::new(items.enumerate());
        let failed: Mutex<Option<(usize, Error)>> = Mutex::default();
        let stop = AtomicBool::new(false);
        let worker = || {
            self.alone(|scratch| {
                while !stop.load(Ordering::Relaxed) {
                    if let Err(error) = self.check() {
                        stop.store(true, Ordering::Relaxed);
                        // Checked after taking an item: an error of an item is more informative. No item is taken and
                        // then dropped, since others might wait for it.
                        unpoisoned(&failed).get_or_insert((usize::MAX, error));
                        return;
                    }
                    let Some((index, item)) = unpoisoned(&queue).next() else { return };
                    let Err(error) = work(item, scratch) else { continue };
                    // All earlier items have been started and will be finished, so the first error is known.
                    stop.store(true, Ordering::Relaxed);
                    let mut failed = unpoisoned(&failed);
                    if failed.as_ref().is_none_or(|(first, _)| index < *first) {
                        *failed = Some((index, error));
                    }
                }
            });
        };
        match helpers {
            0 => worker(),
            _ => thread::scope(|scope| {
                for _ in 0..helpers {
                    // If the system has no more threads, fewer threads do the same work.
                    if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                        break;
                    }
                }
                worker();
            }),
        }
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Runs `make` and `take`, which receives the sent items in the same order. With several threads both run at the
    /// same time, otherwise in turn.
    ///
    /// # Errors
    /// The first error of either.
    pub(crate) fn ahead<T: Send>(
        &self,
        make: impl FnOnce(&mut dyn FnMut(T) -> Result<()>) -> Result<()> + Send,
        mut take: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let mut take = |item| self.check().and_then(|()| take(item));
        if self.threads() < 2 {
            return make(&mut take);
        }
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(0);
            let send = |sender: &SyncSender<T>, item| {
                // `make` stops if its items are no longer received. The error of `take` is the reason.
                sender.send(item).map_err(|_| Error::invalid("the receiver has stopped"))
            };
            let make = Arc::new(Mutex::new(Some(make)));
            let making = Arc::clone(&make);
            let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                let make = unpoisoned(&making).take();
                make.map_or(Ok(()), |make| make(&mut |item| send(&sender, item)))
            });
            let Ok(maker) = spawned else {
                // If the system has no more threads, one thread does both.
                let make = unpoisoned(&make).take();
                return make.map_or(Ok(()), |make| make(&mut take));
            };
            for item in &receiver {
                if let Err(error) = take(item) {
                    drop(receiver);
                    // It stops at its next item.
                    let _ = maker.join();
                    return Err(error);
                }
            }
            maker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// The number of free threads in addition to that of the caller.
    fn free(&self) -> usize {
        (self.threads() - 1).saturating_sub(self.shared.busy.load(Ordering::Relaxed))
    }
}

/// A running thread, until it ends or panics.
struct Busy<'a>(&'a AtomicUsize);

impl<'a> Busy<'a> {
    fn begin(busy: &'a AtomicUsize) -> Self {
        busy.fetch_add(1, Ordering::Relaxed);
        Busy(busy)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for Pool {
    /// [`Pool::shared`].
    fn default() -> Self {
        Pool::shared().clone()
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} threads", self.threads)
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The maximum size of the buffers that all threads keep for later work, in bytes.
const MAX_HELD: usize = 128 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_processes_every_item_once_with_all_threads() {
        let pool = Pool::new(3, Pool::MEMORY);
        let (done, threads) = (Mutex::new(Vec::new()), Mutex::new(std::collections::HashSet::new()));
        pool.each(0..100, 0, |item, _| {
            thread::sleep(Duration::from_millis(1));
            done.lock().unwrap().push(item);
            threads.lock().unwrap().insert(thread::current().id());
            Ok(())
        })
        .unwrap();
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert_eq!(done, (0..100).collect::<Vec<_>>());
        assert_eq!(threads.into_inner().unwrap().len(), 3);
        assert_eq!(pool.shared.busy.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn nested_work_shares_the_threads_of_the_pool() {
        let pool = Pool::new(2, Pool::MEMORY);
        let (now, max) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pool.each(vec![(); 4], 0, |(), _| {
            pool.each(vec![(); 4], 0, |(), _| {
                max.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(1));
                now.fetch_sub(1, Ordering::Relaxed);
                Ok(())
            })
        })
        .unwrap();
        assert!(max.into_inner() <= 2);
    }

    #[test]
    fn each_returns_the_error_of_the_first_failed_item() {
        let pool = Pool::new(4, Pool::MEMORY);
        for _ in 0..50 {
            let e = pool.each(0..40_u64, 0, |item: u64, _| match item {
                7 => {
                    thread::sleep(Duration::from_micros(300));
                    Err(Error::invalid("seven"))
                }
                8.. => Err(Error::invalid("later")),
                _ => Ok(()),
            });
            assert_eq!(e.unwrap_err().to_string(), "seven");
        }
    }

    #[test]
    fn ahead_keeps_the_order_and_returns_errors_of_both_sides() {
        for threads in [1, 2] {
            let pool = Pool::new(threads, Pool::MEMORY);
            let mut got = Vec::new();
            let make = |send: &mut dyn FnMut(u32) -> Result<()>| (0..20).try_for_each(send);
            pool.ahead(make, |item| {
                got.push(item);
                Ok(())
            })
            .unwrap();
            assert_eq!(got, (0..20).collect::<Vec<_>>());

            let full = |item| if item == 3 { Err(Error::invalid("full")) } else { Ok(()) };
            assert_eq!(pool.ahead(make, full).unwrap_err().to_string(), "full");
            let broken = |send: &mut dyn FnMut(u32) -> Result<()>| {
                send(0)?;
                Err(Error::invalid("broken"))
            };
            assert_eq!(pool.ahead(broken, |_| Ok(())).unwrap_err().to_string(), "broken");
        }
    }
}
