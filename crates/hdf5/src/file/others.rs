//! Other files that an open file refers to, which are kept open for a while.

use super::File;
use hyperslab_core::Result;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The files opened through one file, and through these files. The first one owns them: they can reach each other
/// only as long as it exists.
pub(super) enum Others {
    Owned(Arc<Opened>),
    Known(Weak<Opened>),
}

/// The most recently used file is last.
type Opened = Mutex<Vec<(PathBuf, Arc<File>)>>;

impl Default for Others {
    fn default() -> Others {
        Others::Owned(Arc::default())
    }
}

impl Others {
    /// What a file opened through this one holds.
    pub(super) fn of_another(&self) -> Others {
        match self {
            Others::Owned(opened) => Others::Known(Arc::downgrade(opened)),
            Others::Known(opened) => Others::Known(Weak::clone(opened)),
        }
    }

    /// The file with this `identity`, which is opened unless it already is.
    pub(super) fn get(
        &self,
        identity: Option<PathBuf>,
        open: impl FnOnce() -> Result<File>,
    ) -> Result<Arc<File>> {
        let opened = match self {
            Others::Owned(opened) => Some(Arc::clone(opened)),
            Others::Known(opened) => opened.upgrade(),
        };
        let (Some(opened), Some(identity)) = (opened, identity) else { return open().map(Arc::new) };
        if let Some(file) = kept(&opened, &identity) {
            return Ok(file);
        }
        let file = Arc::new(open()?);
        let mut kept = opened.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((identity, Arc::clone(&file)));
        let excess = kept.len().saturating_sub(MAX_OPEN);
        kept.drain(..excess);
        Ok(file)
    }
}

fn kept(opened: &Opened, identity: &Path) -> Option<Arc<File>> {
    let mut kept = opened.lock().unwrap_or_else(PoisonError::into_inner);
    let place = kept.iter().position(|(own, _)| *own == identity)?;
    if let Some(used) = kept.get_mut(place..) {
        used.rotate_left(1);
    }
    kept.last().map(|(_, file)| Arc::clone(file))
}

/// Systems allow a process about a thousand open files, or fewer.
const MAX_OPEN: usize = 64;
