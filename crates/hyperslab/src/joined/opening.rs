//! How each of the joined stores is opened.

use super::JoinOptions;
use super::new_dimension::{NewDimension, Step};
use super::objects;
use crate::formats;
use crate::select::FullLength;
use crate::source::{Entry, Source};
use hyperslab_core::Result;
use std::path::Path;
use std::sync::Arc;

/// Opens stores in the form in which they are joined.
#[derive(Clone)]
pub(super) struct Opening {
    options: JoinOptions,
    /// The new dimension along which each store is one step.
    new: Option<Arc<NewDimension>>,
}

impl Opening {
    pub(super) fn new(options: &JoinOptions) -> Opening {
        Opening { options: options.clone(), new: None }
    }

    /// The same, with each store as one step along a new dimension.
    pub(super) fn along(self, new: NewDimension) -> Opening {
        Opening { new: Some(Arc::new(new)), ..self }
    }

    pub(super) fn options(&self) -> &JoinOptions {
        &self.options
    }

    /// Opens a store. Arrays have the length of their dimensions, as readers of its format show them.
    pub(super) fn open(&self, path: &Path) -> Result<Arc<dyn Source>> {
        let source = formats::open(path, &self.options.open)?;
        let source = if source.dialect().fills_to_length { FullLength::shared(source) } else { source };
        Ok(self.shown(source))
    }

    /// A store in the form in which it is joined: one step along the new dimension, if there is one.
    pub(super) fn shown(&self, source: Arc<dyn Source>) -> Arc<dyn Source> {
        match &self.new {
            Some(new) => Step::shared(source, Arc::clone(new)),
            None => source,
        }
    }

    /// Opens a store and lists those of its objects that are joined.
    pub(super) fn listed(&self, path: &Path) -> Result<(Arc<dyn Source>, Vec<Entry>)> {
        let source = self.open(path)?;
        let entries = objects(&*source, &self.options).map_err(|error| error.in_file(path.display()))?;
        Ok((source, entries))
    }
}
