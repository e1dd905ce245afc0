//! How much a file may make us allocate.

use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the caller grants to a file it does not trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes held at once for structures and scratch; what the caller asked for as output is not counted.
    pub allocation: u64,
    /// Datatypes within datatypes.
    pub nesting: u32,
    /// Dimensions of an array.
    pub rank: u32,
    /// Filters in one pipeline.
    pub filters: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { allocation: 1 << 30, nesting: 32, rank: 64, filters: 32 }
    }
}

impl Limits {
    /// The same but for sizes, of which none is too large: for what is no file that anyone could have sent us.
    pub fn of_any_size() -> Limits {
        Limits { allocation: u64::MAX, ..Limits::default() }
    }
}

/// What is left of [`Limits::allocation`]; clones share it.
#[derive(Clone, Debug)]
pub struct Budget {
    left: Arc<AtomicU64>,
    limit: u64,
}

/// Bytes taken from a [`Budget`], given back on drop.
#[derive(Debug)]
pub struct Charge {
    left: Arc<AtomicU64>,
    bytes: u64,
}

impl Budget {
    /// The whole of what `limits` grants.
    pub fn new(limits: &Limits) -> Self {
        Budget { left: Arc::new(AtomicU64::new(limits.allocation)), limit: limits.allocation }
    }

    /// Takes `bytes` before they are allocated.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`], naming the option that raises the limit.
    pub fn charge(&self, bytes: u64) -> Result<Charge> {
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes))
            .map(|_| Charge { left: Arc::clone(&self.left), bytes })
            .map_err(|left| {
                Error::new(
                    ErrorKind::LimitExceeded,
                    format!(
                        "needs {bytes} bytes, {left} of {} are left (raise with --limit allocation=N)",
                        self.limit
                    ),
                )
            })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_are_shared_and_given_back() {
        let budget = Budget::new(&Limits { allocation: 10, ..Limits::default() });
        let other = budget.clone();
        let held = budget.charge(7).unwrap();
        assert_eq!(other.charge(4).unwrap_err().kind(), ErrorKind::LimitExceeded);
        drop(held);
        drop(other.charge(10).unwrap());
        assert!(budget.charge(u64::MAX).is_err());
    }
}
