//! Rewrites a store in its own format: in another layout, with other options, or just without the space left unused by
//! changes.
//!
//! A repacked store is converted, with two differences. Content that a conversion would interpret is taken as stored:
//! HDF5 is opened raw, so that hidden attributes and dimension scales of NetCDF-4 are ordinary attributes. Features
//! that another format might not support are kept: filters that few readers support, and the sources of virtual
//! datasets.
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
use crate::format::OpenOptions;
use crate::formats::{self, FORMATS, TARGETS};
use crate::source::Source;
use crate::target::{TargetFormat, TargetOptions};
use hyperslab_core::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// Opens a store in the way that repacking requires.
///
/// # Errors
/// As [`crate::open`], and if the options request unpacked numbers.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    if options.unpack {
        return Err(Error::invalid("repacking keeps numbers packed").with_hint("convert can unpack them"));
    }
    // Opening reports the error of a store that has no format.
    let format = formats::locate(path, options)
        .and_then(|location| formats::format_of(&location, Some(path), options));
    let is_raw = format.is_ok_and(|format| format.repacks_raw());
    formats::open_stored(path, &OpenOptions { raw: options.raw || is_raw, ..options.clone() })
}

/// The options of a conversion to the format of the source that keeps everything unchanged.
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

/// The same options, with a layout that finds dimensions by the names in `shown`, which is the store as
/// [`open`](crate::open) opens it. `source` was opened by [`open`], and may not have any names.
#[must_use]
pub fn with_names_of<'a>(
    options: ConvertOptions<'a>,
    source: Arc<dyn Source>,
    shown: Arc<dyn Source>,
) -> ConvertOptions<'a> {
    let title = source.dialect().title;
    let mut raw = FORMATS.iter().filter(|format| format.repacks_raw());
    match raw.any(|format| format.dialects().iter().any(|dialect| dialect.title == title)) {
        true => ConvertOptions { layout: options.layout.clone().with_names_of(source, shown), ..options },
        false => options,
    }
}

/// Checks that the name of a target does not have a suffix of a format other than that of the source, for which these
/// options are. NetCDF-4 files are HDF5 files and may have the suffixes of both; NetCDF files of any version may have
/// those of all versions.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a suffix of another format.
pub fn check_target(options: &ConvertOptions<'_>, target: &Path) -> Result<()> {
    let own = options.format;
    let Ok(named) = formats::target_format_of(target) else { return Ok(()) };
    let is_like = |one: &dyn TargetFormat, other: &dyn TargetFormat| {
        one.family() == other.family() || one.shares_suffixes_with() == Some(other.family())
    };
    if is_like(own, named) || is_like(named, own) {
        return Ok(());
    }
    let like = TARGETS.iter().filter(|format| is_like(own, **format));
    let suffixes: Vec<_> = like.flat_map(|format| format.suffixes()).copied().collect();
    let title = |format: &dyn TargetFormat| format.dialects().first().copied().unwrap_or(format.name());
    let (own, named) = (title(own), title(named));
    let detail = format!("has a suffix of {named}, but repack writes {own}, the format of the source");
    let hint = format!("convert writes {named}; names of {own} end in {}", suffixes.join(" "));
    Err(Error::invalid(detail).with_hint(hint).in_file(target.display()))
}
