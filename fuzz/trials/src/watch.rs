//! Watches over cases: panics, time and memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, process, thread};

/// The current case of each worker, observed by a thread that ends the process when a worker hangs.
pub struct Watch {
    running: Arc<Vec<Mutex<Running>>>,
    slowest: Mutex<(f64, String)>,
    /// The memory limit of the process, raised when a case has exceeded it, because peak memory never decreases.
    mebibytes: AtomicU64,
}

/// The case of a worker and its start time.
type Running = Option<(Instant, String)>;

impl Watch {
    pub fn new(workers: usize, seconds: u64, mebibytes: u64) -> Self {
        // A panic is reported with its case, not when it occurs.
        std::panic::set_hook(Box::new(|_| {}));
        let running: Arc<Vec<Mutex<Running>>> = Arc::new((0..workers).map(|_| Mutex::new(None)).collect());
        let looked_at = Arc::clone(&running);
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(200));
                for slot in looked_at.iter() {
                    let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some((start, name)) = &*slot
                        && start.elapsed() > Duration::from_secs(seconds)
                    {
                        println!("FAILED {name}: still not done after {seconds} s");
                        println!("0 passed, 1 failed, 0 skipped");
                        process::exit(1);
                    }
                }
            }
        });
        Watch { running, slowest: Mutex::new((0.0, String::new())), mebibytes: mebibytes.into() }
    }

    /// Runs a case. The error is the reason why it failed.
    pub fn guard<T>(
        &self,
        worker: usize,
        name: impl Fn() -> String,
        case: impl FnOnce() -> T,
    ) -> Result<T, String> {
        let start = Instant::now();
        self.set(worker, Some((start, name())));
        let outcome = catch_unwind(AssertUnwindSafe(case));
        self.set(worker, None);
        let took = start.elapsed().as_secs_f64();
        let mut slowest = self.slowest.lock().unwrap_or_else(PoisonError::into_inner);
        if took > slowest.0 {
            *slowest = (took, name());
        }
        drop(slowest);
        let value = outcome.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            format!("panicked: {}", text.unwrap_or_default())
        })?;
        match peak_mebibytes() {
            Some(peak) if peak > self.mebibytes.fetch_max(peak, Ordering::Relaxed) => {
                Err(format!("the process grew to {peak} MiB in this case or in one beside it"))
            }
            _ => Ok(value),
        }
    }

    /// The seconds and the name of the slowest case.
    pub fn slowest(&self) -> (f64, String) {
        self.slowest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, worker: usize, state: Running) {
        *self.running[worker].lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// The peak memory of this process, if the system reports it.
pub fn peak_mebibytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").trim().parse().ok()?;
    Some(kibibytes / 1024)
}
