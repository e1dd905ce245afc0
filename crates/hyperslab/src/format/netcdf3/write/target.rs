//! A NetCDF classic file that is being written.

use super::array::{Netcdf3ArrayTarget, Unstored};
use super::definition::Found;
use crate::format::netcdf::array::ChangedArray;
use crate::format::netcdf::datatype::Change;
use crate::target::{ArrayTarget, Facts, Target};
use hyperslab_core::storage::{ReadAt, WritableFile};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Node, NodePath};
use hyperslab_netcdf3::Writer;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A file whose header is known from the plan.
pub(super) struct Netcdf3Target {
    found: Arc<Found>,
    /// `None` if the file is finished.
    writer: Mutex<Option<Arc<Writer>>>,
}

impl Netcdf3Target {
    /// Begins a file at `path`, or resumes one that was begun there.
    pub(super) fn create(path: &Path, found: Arc<Found>) -> Result<Netcdf3Target> {
        let definition = found.definition.clone();
        let writer = match WritableFile::open(path) {
            Ok(file) if file.len()? == definition.len() => definition.resume(Arc::new(file)),
            Ok(file) => definition.begin(Arc::new(file)),
            Err(_) => definition.begin(Arc::new(WritableFile::create(path)?)),
        };
        Ok(Netcdf3Target { found, writer: Mutex::new(Some(Arc::new(writer?))) })
    }
}

impl Target for Netcdf3Target {
    fn needs_declarations(&self) -> bool {
        false
    }

    fn declare(&self, _: &NodePath, _: &Node, _: Facts) -> Result<()> {
        Ok(())
    }

    fn begin(&self, path: &NodePath, node: &Node, _: Facts) -> Result<Box<dyn ArrayTarget + '_>> {
        let found = self.found.variables.get(path);
        let found = found.ok_or_else(|| Error::invalid("an array that was not planned"))?;
        let inner = found.inner.as_slice();
        let Some(number) = found.number else {
            return Ok(Box::new(Unstored::new(&found.extents, inner.len())));
        };
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let writer = writer.ok_or_else(|| Error::invalid("the file is finished"))?;
        let array = Box::new(Netcdf3ArrayTarget::new(writer, number, found)?);
        match (found.change, inner, node.datatype()) {
            (Change::None, [], _) | (_, _, None) => Ok(array),
            (change, inner, Some(datatype)) => {
                Ok(Box::new(ChangedArray::new(array, Arc::clone(datatype), change, inner)?))
            }
        }
    }

    fn can_abandon(&self) -> bool {
        false
    }

    fn finish(&self) -> Result<()> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let writer = writer.and_then(Arc::into_inner);
        writer.ok_or_else(|| Error::invalid("the file is finished"))?.finish()
    }
}
