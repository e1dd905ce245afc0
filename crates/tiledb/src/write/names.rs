//! Names of what is written: the time, and 32 hexadecimal digits that no other writer has.
//!
//! Spec: TileDB format_spec, timestamped_name.md. The library counts the first 8 of the digits upwards within a
//! millisecond, so that the names of one process are in the order in which they were created.

use crate::format::timestamped_name::{Form, TimestampedName};
use hyperslab_core::{Error, Result};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// A source of names. It can be shared between threads.
pub struct Names {
    clock: Box<Clock>,
    random: Box<Random>,
    last: Mutex<Option<Last>>,
}

/// The time in milliseconds since 1970.
type Clock = dyn Fn() -> u64 + Send + Sync;

/// Fills a buffer with random bytes.
type Random = dyn Fn(&mut [u8]) -> Result<()> + Send + Sync;

/// The most recent name.
struct Last {
    millisecond: u64,
    count: u32,
}

impl Names {
    /// Names from the clock and the random numbers of the system.
    pub fn system() -> Names {
        let clock = || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        };
        let random = |bytes: &mut [u8]| {
            getrandom::fill(bytes).map_err(|e| Error::invalid(format!("no random numbers: {e}")))
        };
        Names::new(clock, random)
    }

    /// Names from a clock, in milliseconds since 1970, and a source of random bytes.
    pub fn new(
        clock: impl Fn() -> u64 + Send + Sync + 'static,
        random: impl Fn(&mut [u8]) -> Result<()> + Send + Sync + 'static,
    ) -> Names {
        Names { clock: Box::new(clock), random: Box::new(random), last: Mutex::default() }
    }

    /// Names of one moment, the same in every run. They are unique in a store that is written by one writer.
    ///
    /// ```
    /// use hyperslab_tiledb::write::names::Names;
    ///
    /// let names = Names::fixed(1_700_000_000_000);
    /// assert_eq!(names.now(), 1_700_000_000_000);
    /// assert_eq!(names.schema(5)?.to_string(), "__5_5_00000001000000000000000000000000");
    /// # Ok::<(), hyperslab_core::Error>(())
    /// ```
    pub fn fixed(time: u64) -> Names {
        let zeros = |bytes: &mut [u8]| {
            bytes.fill(0);
            Ok(())
        };
        let last = Mutex::new(Some(Last { millisecond: time, count: 0 }));
        Names { last, ..Names::new(move || time, zeros) }
    }

    /// The time of the clock, in milliseconds since 1970.
    pub fn now(&self) -> u64 {
        (self.clock)()
    }

    /// A name for a schema or metadata that is written at a time.
    ///
    /// # Errors
    /// If there are no random numbers.
    pub fn schema(&self, time: u64) -> Result<TimestampedName> {
        self.name(time, time, Form::Unversioned)
    }

    /// A name for a fragment or a commit, with the format version; for files in `__group`, with the version of groups.
    ///
    /// # Errors
    /// If there are no random numbers; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a time that
    /// ends before it begins.
    pub fn versioned(&self, start: u64, end: u64, version: u32) -> Result<TimestampedName> {
        self.name(start, end, Form::Versioned(version))
    }

    /// A name for consolidated metadata, which covers a range of time.
    ///
    /// # Errors
    /// As [`Names::versioned`].
    pub fn unversioned(&self, start: u64, end: u64) -> Result<TimestampedName> {
        self.name(start, end, Form::Unversioned)
    }

    /// A name for the file of an enumeration.
    ///
    /// # Errors
    /// If there are no random numbers.
    pub fn enumeration(&self) -> Result<String> {
        Ok(format!("__{}_0", self.uuid()?))
    }

    fn name(&self, start: u64, end: u64, form: Form) -> Result<TimestampedName> {
        if start > end {
            return Err(Error::invalid(format!("a time from {start} to {end}")));
        }
        Ok(TimestampedName { start, end, uuid: self.uuid()?, form })
    }

    fn uuid(&self) -> Result<String> {
        let mut random = [0; 16];
        (self.random)(&mut random)?;
        let first = random.first_chunk::<4>().copied().unwrap_or_default();
        let now = self.now();
        let count = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let count = match &*last {
                Some(last) if last.millisecond == now => last.count.wrapping_add(1),
                // Small enough that it can count up.
                _ => u32::from_le_bytes(first) >> 1,
            };
            *last = Some(Last { millisecond: now, count });
            count
        };
        let digits = random.iter().skip(4).map(|byte| format!("{byte:02x}"));
        Ok([format!("{count:08x}")].into_iter().chain(digits).collect())
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn names_of_a_millisecond_are_in_the_order_in_which_they_were_made() {
        let clock = Arc::new(AtomicU64::new(7));
        let now = Arc::clone(&clock);
        let names = Names::new(
            move || now.load(Ordering::Relaxed),
            |bytes| {
                bytes.fill(0xff);
                Ok(())
            },
        );
        let made: Vec<String> = (0..3).map(|_| names.versioned(7, 9, 22).unwrap().to_string()).collect();
        let uuid = |first: &str| format!("__7_9_{first}{}_22", "f".repeat(24));
        assert_eq!(made, [uuid("7fffffff"), uuid("80000000"), uuid("80000001")]);
        clock.store(8, Ordering::Relaxed);
        assert_eq!(names.versioned(7, 9, 22).unwrap().to_string(), uuid("7fffffff"));
        assert!(names.versioned(9, 7, 22).is_err());
    }

    #[test]
    fn names_of_the_system_are_unique() {
        let names = Names::system();
        let made: BTreeSet<String> = (0..1000).map(|_| names.schema(1).unwrap().to_string()).collect();
        assert_eq!(made.len(), 1000);
        assert!(names.now() > 1_700_000_000_000);
    }
}
