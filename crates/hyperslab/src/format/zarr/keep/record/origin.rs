//! How an object was stored originally, as far as Zarr stores it differently: layout, filters, byte order, and
//! directives of the other format.
//!
//! A conversion to a format other than Zarr restores it
//! ([`Node::restore_origin`](hyperslab_model::Node::restore_origin)). A description of the store shows what Zarr
//! stores.

use super::{Record, in_member, json, malformed, unnamed, value};
use crate::target::{Filters, is_content};
use hyperslab_core::Result;
use hyperslab_model::{Datatype, EXTRA, Fill, Layout, Order, Storage};
use hyperslab_ndl::part::{self, Value};
use hyperslab_zarr::json::{Json, Object};

/// The record of how an array was stored; `None` if Zarr stores it in the same way. `shown` is the storage that a
/// reader sees, `filters` the origin of its filters. Filters of another format are recorded even if Zarr has them,
/// since readers of that format have them wherever the array returns to.
///
/// # Errors
/// If NDL cannot express the fill value.
pub(in crate::format) fn of_array(
    stored: &Storage,
    shown: &Storage,
    datatype: &Datatype,
    filters: Filters,
) -> Result<Option<Json>> {
    let mut origin = of_format(stored);
    let is_chunked = matches!(stored.layout, None | Some(Layout::Chunked));
    if origin.layout.is_none() {
        origin.layout = stored.layout.clone().filter(|_| !is_chunked);
    }
    if origin.layout.is_none() {
        if origin.chunk.is_none() && stored.chunk != shown.chunk {
            origin.chunk.clone_from(&stored.chunk);
        }
        let is_told = match filters {
            Filters::Asked => false,
            Filters::Foreign => true,
            _ => stored.filters != shown.filters,
        };
        if origin.filters.is_empty() && is_told {
            origin.filters.clone_from(&stored.filters);
        }
    }
    let is_named = matches!(datatype, Datatype::Named(..));
    if origin.element.is_empty() && !is_named && stored.element != shown.element {
        origin.element = stored.element.clone();
    }
    origin.fill = match (&origin.fill, &stored.fill, &shown.fill) {
        (Fill::Default, Fill::Undefined, _) => Fill::Undefined,
        // Zeros that are set explicitly are more than the default.
        (Fill::Default, Fill::Value(zeros), Fill::Default | Fill::Undefined) => Fill::Value(zeros.clone()),
        (kept, _, _) => kept.clone(),
    };
    origin.fill_time = origin.fill_time.or(stored.fill_time);
    origin.order = origin.order.or(stored.order.filter(|order| *order == Order::ColumnMajor));
    if stored.order == shown.order {
        origin.order = None;
    }
    let written = written(&origin, Some(&unnamed(datatype)))?;
    // Version 2 leaves out fill values that readers would take for missing ones. A record without a fill value marks
    // this.
    let is_left_out = matches!((&stored.fill, &shown.fill), (Fill::Default, Fill::Undefined));
    Ok(written.or_else(|| is_left_out.then(|| Json::Object(Object::new()))))
}

/// The record of how a group was stored; `None` if there is nothing to record.
///
/// # Errors
/// None in practice.
pub(in crate::format) fn of_group(stored: &Storage) -> Result<Option<Json>> {
    written(&of_format(stored), None)
}

/// The directives that only the other format has, and everything in an earlier record.
fn of_format(stored: &Storage) -> Storage {
    let mut origin = stored.origin.as_deref().cloned().unwrap_or_default();
    for (format, directives) in &stored.native {
        if *format == ZARR || *format == EXTRA || origin.native.iter().any(|(known, _)| known == format) {
            continue;
        }
        // Directives that count as content have a member of their own.
        let own: Vec<_> = directives.iter().filter(|(key, _)| !is_content(format, key)).cloned().collect();
        if !own.is_empty() {
            origin.native.push((format, own));
        }
    }
    origin
}

fn written(origin: &Storage, datatype: Option<&Datatype>) -> Result<Option<Json>> {
    let written = part::storage(origin, datatype)?;
    if written.is_empty() { Ok(None) } else { json(Value::Map(written)).map(Some) }
}

impl Record {
    /// How the object was stored originally. `rank` is the number of dimensions of an array, and `datatype` its
    /// datatype.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the record does not describe the storage of
    /// such an object.
    pub(in crate::format) fn origin(
        &self,
        datatype: Option<&Datatype>,
        rank: usize,
    ) -> Result<Option<Box<Storage>>> {
        let Some(recorded) = &self.storage else { return Ok(None) };
        let read = part::read_storage(&value(recorded), datatype.map(unnamed).as_ref());
        let origin = read.map_err(|e| in_member("storage", &malformed(e.detail().to_string())))?;
        match &origin.chunk {
            Some(chunk) if chunk.len() != rank => {
                let detail = format!("a chunk of {} dimensions, expected {rank}", chunk.len());
                Err(in_member("storage", &malformed(detail)))
            }
            _ => Ok(Some(Box::new(origin))),
        }
    }
}

/// The format whose directives are stored unchanged.
const ZARR: &str = "zarr";
