//! Virtual datasets that are sources of each other.

use crate::file::File;
use crate::format::Address;
use hyperslab_core::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// The virtual datasets that are being read, each as a source of the one before.
#[derive(Clone, Copy)]
pub(crate) struct Chain<'a> {
    identity: Option<&'a Path>,
    address: Address,
    before: Option<&'a Chain<'a>>,
    depth: u32,
    /// The number of further sources that may be opened for all of them.
    sources: &'a AtomicU32,
}

impl<'a> Chain<'a> {
    /// Opens the dataset at `address` of `file`.
    pub(super) fn after(
        before: Option<&'a Chain<'a>>,
        file: &'a File,
        address: Address,
        sources: &'a AtomicU32,
    ) -> Result<Chain<'a>> {
        let identity = file.identity();
        let mut at = before;
        while let Some(chain) = at {
            if chain.address == address && chain.identity == identity {
                return Err(Error::malformed(
                    "virtual dataset is its own source, directly or through other virtual datasets",
                ));
            }
            at = chain.before;
        }
        let depth = before.map_or(0, |before| before.depth + 1);
        if depth > MAX_DEPTH {
            let detail = format!("virtual datasets nested more than {MAX_DEPTH} levels deep");
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
        let sources = before.map_or(sources, |before| before.sources);
        Ok(Chain { identity, address, before, depth, sources })
    }

    /// Counts a source, or a file that an external link on the way to it leads through.
    pub(super) fn count(&self) -> Result<()> {
        // Only sources of sources can multiply.
        let take = |left: u32| left.checked_sub(1);
        if self.depth > 0 && self.sources.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            let detail = "nested virtual datasets have too many sources";
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
        Ok(())
    }
}

/// The maximum number of virtual datasets that are each a source of the next one.
const MAX_DEPTH: u32 = 32;
