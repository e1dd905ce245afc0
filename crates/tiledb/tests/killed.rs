//! A store whose writer is killed after some writes.

use hyperslab_core::store::{Key, ValueWriter, WritableStore};
use hyperslab_core::wrapper::Wrapper;
use hyperslab_core::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A store that rejects all writes and deletions after some of them, as if the process had been killed.
pub(crate) struct Killed<S> {
    inner: Arc<S>,
    left: AtomicU64,
}

impl<S> Killed<S> {
    pub(crate) fn after(writes: u64, inner: Arc<S>) -> Arc<Self> {
        Arc::new(Self { inner, left: AtomicU64::new(writes) })
    }

    /// Accepts all writes from now on, as a new process would.
    pub(crate) fn revive(&self) {
        self.left.store(u64::MAX, Ordering::Relaxed);
    }

    fn act(&self) -> Result<()> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| Error::new(ErrorKind::Io, "killed"))
    }
}

impl<S: WritableStore> Wrapper for Killed<S> {
    type Inner = S;

    fn wrapped(&self) -> &S {
        &self.inner
    }
}

impl<S: WritableStore + 'static> WritableStore for Killed<S> {
    fn put(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.act()?;
        self.inner.put(key, value)
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.act()?;
        self.inner.delete(key)
    }

    fn writer(self: Arc<Self>, key: &Key) -> Result<Box<dyn ValueWriter>> {
        self.act()?;
        let inner = Arc::clone(&self.inner).writer(key)?;
        Ok(Box::new(KilledValue { store: self, inner }))
    }

    fn finish(&self) -> Result<()> {
        self.inner.finish()
    }
}

/// A value that is written to such a store in parts.
struct KilledValue<S> {
    store: Arc<Killed<S>>,
    inner: Box<dyn ValueWriter>,
}

impl<S: WritableStore> ValueWriter for KilledValue<S> {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.store.act()?;
        self.inner.write_at(offset, bytes)
    }

    fn finish(&self, len: u64) -> Result<()> {
        self.store.act()?;
        self.inner.finish(len)
    }
}
