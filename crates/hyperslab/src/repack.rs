//! Writes a store again in its own format: in another layout, with other options, or only without the space that
//! changes have left.
//!
//! A repacked store is converted, with two differences. Content that a conversion interprets comes as it is stored: HDF5
//! is opened raw, so that hidden attributes and dimension scales of NetCDF-4 are attributes like others. And what
//! another format might not have stays: filters that few readers have, and the sources of virtual datasets.
//!
//! ```
//! use hyperslab::convert::{convert, plan};
//! use hyperslab::publish::Fingerprint;
//! use hyperslab::{OpenOptions, digest, NodePath, repack};
//!
//! let file = "../../examples/ocean.nc".as_ref();
//! let made_from = Fingerprint::of_source(file, "")?;
//! let source = repack::open(file, &OpenOptions::default())?;
//! let options = repack::options(&*source)?;
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("smaller.nc");
//! convert(&*source, &made_from, &path, &plan(&*source, &options)?, &options)?;
//! let written = repack::open(&path, &OpenOptions::default())?;
//! let digests = |source| digest::lines(source, &NodePath::root());
//! let (before, after) = (digests(&*source)?, digests(&*written)?);
//! assert!(before.iter().zip(&after).all(|(before, after)| before.to_json() == after.to_json()));
//! # Ok::<(), hyperslab::Error>(())
//! ```

use crate::convert::ConvertOptions;
use crate::convert::layout::{FilterRule, Layout, Rule};
use crate::format::{Format, OpenOptions};
use crate::formats::{self, FORMATS, TARGETS};
use crate::source::Source;
use crate::target::TargetOptions;
use hyperslab_core::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// Opens a store as repacking reads it.
///
/// # Errors
/// As [`crate::open`].
pub fn open(path: &Path, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    let source = formats::open(path, options)?;
    match format_of(&*source).is_some_and(|format| format.repacks_raw()) && !options.raw {
        true => formats::open(path, &OpenOptions { raw: true, ..options.clone() }),
        false => Ok(source),
    }
}

/// The options of a conversion to the format of the source, in which everything stays as it is.
///
/// # Errors
/// If that format cannot be written.
pub fn options(source: &dyn Source) -> Result<ConvertOptions<'static>> {
    let title = source.dialect().title;
    let Some(format) = TARGETS.iter().find(|format| format.dialects().contains(&title)) else {
        return Err(Error::unsupported(format!("{title} cannot be written yet, only converted")));
    };
    let layout = Layout::default().with(Rule::filter(FilterRule::Keep).labelled("repack".to_owned()));
    Ok(ConvertOptions {
        native: format.repacking(TargetOptions::default())?,
        layout: layout.always_chunked(format.is_always_chunked()),
        ..ConvertOptions::new(*format)
    })
}

/// The format of an open store; `None` for one that was not opened by a format.
fn format_of(source: &dyn Source) -> Option<&'static dyn Format> {
    let title = source.dialect().title;
    let has_dialect = |format: &&&dyn Format| format.dialects().iter().any(|dialect| dialect.title == title);
    FORMATS.iter().find(has_dialect).copied()
}
