//! Time, CPU time and peak memory of work in this process.

use crate::Failure;
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::time::{Duration, Instant};

/// The measurements of a run.
pub(crate) struct Taken {
    pub(crate) wall: Duration,
    /// The CPU time of all threads.
    pub(crate) cpu: Duration,
    /// The peak resident memory in bytes, including memory that was resident before.
    pub(crate) peak: u64,
}

/// Runs `act` and measures it.
pub(crate) fn measure(act: impl FnOnce() -> Result<(), Failure>) -> Result<Taken, Failure> {
    // 5 resets the peak to the current resident memory.
    fs::write("/proc/self/clear_refs", "5")?;
    let cpu = cpu_time()?;
    let start = Instant::now();
    act()?;
    let wall = start.elapsed();
    Ok(Taken { wall, cpu: cpu_time()?.saturating_sub(cpu), peak: peak()? })
}

fn cpu_time() -> Result<Duration, Failure> {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Ok(Duration::new(u64::try_from(now.tv_sec)?, u32::try_from(now.tv_nsec)?))
}

fn peak() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()).ok_or("no VmHWM")?;
    Ok(kibibytes.parse::<u64>()? * 1024)
}
