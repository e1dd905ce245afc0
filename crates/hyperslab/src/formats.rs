//! The table of all formats, and the detection of the format of a store.

pub(crate) use crate::format::netcdf::{FIRST_WORD_OF_CDL, RESERVED_ATTRIBUTES};

pub(crate) mod unpacked;

use self::unpacked::Unpacked;
use crate::cell_table;
use crate::editor::Editor;
use crate::format::hdf5::{HDF5_TARGET, Hdf5};
use crate::format::ndl::Ndl;
use crate::format::netcdf3::Netcdf3;
use crate::format::netcdf3::write::{NETCDF3, NETCDF3_DATA_64, NETCDF3_OFFSET_64};
use crate::format::netcdf4::{NETCDF4, NETCDF4_CLASSIC};
use crate::format::tiledb::{TILEDB_TARGET, TileDb};
use crate::format::zarr::{ZARR2, ZARR3, Zarr};
use crate::format::{Format, Head, Location, OpenOptions, Probe, Recognition};
use crate::location::{did_you_mean, is_url};
use crate::size;
use crate::source::{Dialect, Source, grouped};
use crate::target::{OptionType, OptionValue, TargetFormat, TargetOptions};
use crate::validity;
use hyperslab_core::storage::{FileStorage, ReadAt};
use hyperslab_core::store::DirectoryStore;
use hyperslab_core::{Error, ErrorKind, Remedy, Result, valid};
use hyperslab_model::{Layout, Node, Storage};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

pub(crate) use crate::format::zarr::{RegionWriter, Regions};

pub use crate::format::ndl::Document;
pub(crate) use crate::format::ndl::{read as read_document, source_of_content};

/// All formats, in the order in which recognition tries them.
pub static FORMATS: &[&dyn Format] = &[&Hdf5, &Netcdf3, &Zarr, &TileDb, &Ndl];

/// All formats that can be written.
pub static TARGETS: &[&dyn TargetFormat] = &[
    &ZARR3,
    &ZARR2,
    &HDF5_TARGET,
    &NETCDF4,
    &NETCDF4_CLASSIC,
    &NETCDF3,
    &NETCDF3_OFFSET_64,
    &NETCDF3_DATA_64,
    &TILEDB_TARGET,
];

/// The format in which a store is assembled from regions: each chunk is a separate value, which any process can write.
pub(crate) static REGIONS: &dyn TargetFormat = &ZARR3;

/// Sets an option of any format by its name, such as `hdf5.userblock`, after the options already set. `given` is the
/// option as the user wrote it, for error messages.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] if no format has an option of this name, or the option does not accept the value.
pub fn with_target_option(
    options: TargetOptions,
    name: &str,
    value: Option<&str>,
    given: &str,
) -> Result<TargetOptions> {
    let known = TARGETS.iter().flat_map(|format| {
        let named = move |key: &str| format!("{}.{key}", format.family());
        format.options().iter().map(move |option| (named(option.key), *format, option))
    });
    let Some((_, format, option)) = known.clone().find(|(known, ..)| known == name) else {
        let known: BTreeSet<_> = known.map(|(known, ..)| known).collect();
        let names = known.iter().map(String::as_str);
        let listed = names.clone().collect::<Vec<_>>().join(", ");
        let detail = format!("unknown option {name:?}, expected one of {listed}");
        return Err(Error::invalid(detail).with_remedies(did_you_mean(name, names)));
    };
    let read = match (option.takes, value) {
        (OptionType::Flag, None | Some("true")) => Some(OptionValue::Flag(true)),
        (OptionType::Flag, Some("false")) => Some(OptionValue::Flag(false)),
        (OptionType::Word(_), Some(word)) => Some(OptionValue::Word(word.to_owned())),
        (OptionType::Text(_), Some(text)) => Some(OptionValue::Text(text.to_owned())),
        (OptionType::Size { .. }, Some(size)) => size::parse(size).map(OptionValue::Size),
        (OptionType::Size { usual, .. }, None) => usual.map(OptionValue::Size),
        (OptionType::Number { .. }, Some(number)) => number.parse().ok().map(OptionValue::Number),
        _ => None,
    };
    match read.filter(|value| option.takes.takes(value)) {
        Some(value) => options.with(format, option.key, value),
        None => Err(Error::invalid(format!("{given}: expected {name}={}", option.takes))),
    }
}

/// Opens a file or directory. The format is recognised from its content, unless the options name one.
///
/// # Errors
/// If the file does not exist, no format recognises it, or its format cannot open it.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    open_stored(path, options).map(|source| shown(source, options))
}

/// As [`open`], but tables of cells are shown as stored.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_stored(path: &Path, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    let opened = locate(path, options).and_then(|location| {
        naming_failures(options, || {
            let location = options.noting(location);
            let format = checked(format_of(&location, Some(path), options)?, options)?;
            format.open(options.watched(location), options)
        })
    });
    let opened = opened.map(|source| options.operation(source));
    opened.map_err(|error| error.in_file(path.display()))
}

/// An editor that changes the store at a path in place. `None` if stores of its format are written only once.
///
/// # Errors
/// As [`open`].
pub(crate) fn editor(path: &Path, options: &OpenOptions) -> Result<Option<Box<dyn Editor>>> {
    let location = locate(path, options).map_err(|error| error.in_file(path.display()))?;
    let format = format_of(&location, Some(path), options).and_then(|format| checked(format, options));
    let editor = format.and_then(|format| format.editor(path, options));
    editor.map_err(|error| error.in_file(path.display()))
}

/// As [`open`], for a store at any location, such as memory or a server.
///
/// # Errors
/// As [`open`].
pub fn open_location(location: Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    let opened = naming_failures(options, || {
        let location = options.noting(location);
        let format = checked(format_of(&location, None, options)?, options)?;
        format.open(options.watched(location), options)
    });
    Ok(shown(options.operation(opened?), options))
}

/// The source with tables of cells shown as sparse arrays and pairs shown as nullable arrays, unless everything is
/// shown as stored, and with numbers unpacked if the options ask for it.
fn shown(source: Arc<dyn Source>, options: &OpenOptions) -> Arc<dyn Source> {
    let source = match options.raw {
        true => source,
        false => validity::Restored::shared(cell_table::Restored::shared(source)),
    };
    if options.unpack { Unpacked::shared(source) } else { source }
}

/// Runs `open`. After a failed read, a store may look malformed or of no known format; the error is then that of the
/// failed read.
pub(crate) fn naming_failures<T>(options: &OpenOptions, open: impl FnOnce() -> Result<T>) -> Result<T> {
    let had_failed = !options.failures.is_empty();
    open().map_err(|error| match options.failures.first() {
        Some(failure) if !had_failed && !matches!(error.kind(), ErrorKind::Io | ErrorKind::Cancelled) => {
            failure
        }
        _ => error,
    })
}

/// As [`open`], for a store that is a single object of bytes, such as a file in memory.
///
/// # Errors
/// As [`open`].
pub fn open_storage(storage: Box<dyn ReadAt>, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    open_location(Location::Object(storage), options)
}

/// The location of a directory, of a file, or of the first file of a set if `path` is a pattern for a set.
///
/// # Errors
/// If the path is neither a directory nor a regular file.
pub(crate) fn locate(path: &Path, options: &OpenOptions) -> Result<Location> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Ok(Location::Store(Arc::new(DirectoryStore::open(path)?))),
        // It may be a pattern for the files of a set.
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
        Err(_) if let Some(url) = path.to_str().filter(|text| is_url(text)) => {
            return Err(Error::unsupported("URLs cannot be opened yet, only files and folders")
                .with_remedy(Remedy::Download(url.to_owned())));
        }
        Err(_) if let Ok(target) = std::fs::read_link(path) => {
            let detail = format!("is a symbolic link to {}, which does not exist", target.display());
            return Err(Error::new(ErrorKind::FileNotFound, detail));
        }
        _ => {}
    }
    let open = |path: &Path| FileStorage::open_allowing(path, &options.allow_external);
    let file = open(path).or_else(|e| match FORMATS.iter().find_map(|format| format.first_of_set(path)) {
        Some(first) if e.kind() == ErrorKind::FileNotFound => open(&first),
        _ => Err(e),
    })?;
    Ok(Location::Object(Box::new(file)))
}

/// The format named by the options, or else the one detected from the content. An unrecognised file is treated as NDL
/// if `path` has the suffix of a document, so that the errors are those of the document.
///
/// # Errors
/// If the options name an unknown format, or the content matches none.
pub(crate) fn format_of(
    location: &Location,
    path: Option<&Path>,
    options: &OpenOptions,
) -> Result<&'static dyn Format> {
    if let Some(format) = asked_for(options)? {
        return Ok(format);
    }
    let object = match location {
        Location::Object(object) => object,
        Location::Store(_) => return recognized(&Probe::read(location)?).ok_or_else(|| unknown_store(path)),
    };
    let store_of = |path| FORMATS.iter().find_map(|format| Some((format, format.store_of_part(path)?)));
    if let Some((format, folder)) = path.and_then(store_of) {
        let title = format.titles().first().copied().unwrap_or_default();
        return Err(Error::invalid(format!("is a part of a {title} store"))
            .with_hint(format_args!("the store is the folder, {}", folder.display())));
    }
    let probe = Probe::Object(Head::read(object)?);
    if let Some(format) = recognized(&probe) {
        return Ok(format);
    }
    let Probe::Object(head) = probe else { return Err(unknown_store(path)) };
    let suffix = path.and_then(Path::extension).and_then(|suffix| suffix.to_str());
    let is_text = suffix.is_some_and(|suffix| ["yaml", "yml", "json"].contains(&suffix));
    if is_text && !SIGNATURES.iter().any(|(signature, ..)| head.first.starts_with(signature)) {
        return Ok(&Ndl);
    }
    part_of(object)?.ok_or_else(|| unknown(&head))
}

/// The format, if it supports everything that the options request.
fn checked<'f>(format: &'f dyn Format, options: &OpenOptions) -> Result<&'f dyn Format> {
    let title = || format.titles().first().copied().unwrap_or_default();
    if options.at.is_some() && !format.has_times() {
        return Err(Error::invalid(format!("{} does not store earlier states", title())));
    }
    if options.key.is_some() && !format.has_encryption() {
        return Err(Error::invalid(format!("{} has no encryption, but a key was given", title())));
    }
    if options.dataspace.is_some() && !format.has_dataspaces() {
        return Err(Error::invalid(format!("{} has no dataspaces", title()))
            .with_hint("no option is needed: variables and dimensions are always shown"));
    }
    Ok(format)
}

fn asked_for(options: &OpenOptions) -> Result<Option<&'static dyn Format>> {
    let Some(name) = &options.format else { return Ok(None) };
    let format = FORMATS.iter().find(|format| format.name() == name).copied();
    format.map(Some).ok_or_else(|| {
        let known: Vec<_> = FORMATS.iter().map(|format| format.name()).collect();
        Error::invalid(format!("unknown format {name:?}, expected one of {}", known.join(", ")))
    })
}

/// Detects the format of a file or directory from its content, without opening it. `None` for an unknown format.
///
/// # Errors
/// If the path is neither a regular file nor a directory, or reading its first bytes fails.
pub fn recognize(path: &Path) -> Result<Option<&'static dyn Format>> {
    let recognize = || {
        let location = match std::fs::metadata(path)?.is_dir() {
            true => Location::Store(Arc::new(DirectoryStore::open(path)?)),
            false => Location::Object(Box::new(FileStorage::open(path)?)),
        };
        let options = OpenOptions::default();
        let found = recognize_location(&options.noting(location))?;
        match options.failures.first().filter(|_| found.is_none()) {
            // The part that could not be read may be the one that identifies the format.
            Some(failure) => Err(failure),
            None => Ok(found),
        }
    };
    recognize().map_err(|e: Error| e.in_file(path.display()))
}

/// As [`recognize`], for a store at any location.
///
/// # Errors
/// If reading its first bytes fails.
pub fn recognize_location(location: &Location) -> Result<Option<&'static dyn Format>> {
    let found = recognized(&Probe::read(location)?);
    match (found, location) {
        // A zip file is recognised by bytes at its end. If these are malformed, the format is unknown.
        (None, Location::Object(object)) => {
            Ok(valid(Zarr.recognizes_part(object))?.unwrap_or(false).then_some(&Zarr))
        }
        (found, _) => Ok(found),
    }
}

/// The most likely format of a store. Formats after the first certain match are not tried, since each may need
/// requests.
fn recognized(probe: &Probe<'_>) -> Option<&'static dyn Format> {
    let mut likely = None;
    for format in FORMATS {
        match format.recognizes(probe) {
            Recognition::Certain => return Some(*format),
            Recognition::Possible => likely = likely.or(Some(*format)),
            Recognition::No => {}
        }
    }
    likely
}

/// The format of an object that is not recognised by its first bytes: a whole store, or a part of one.
fn part_of(object: &dyn ReadAt) -> Result<Option<&'static dyn Format>> {
    for format in FORMATS {
        if format.recognizes_part(object)? {
            return Ok(Some(*format));
        }
    }
    Ok(None)
}

/// The dialect with this title, as written in the header of a document.
pub(crate) fn dialect(title: &str) -> Option<&'static Dialect> {
    let dialects = FORMATS.iter().flat_map(|format| format.dialects()).copied();
    dialects.into_iter().find(|dialect| dialect.title == title)
}

/// Removes the native directives that contradict changed chunks and shards (`cut`) or changed filters (`filtered`).
pub(crate) fn clear_layout_directives(storage: &mut Storage, cut: bool, filtered: bool) {
    for (name, directives) in &mut storage.native {
        if let Some(format) = FORMATS.iter().find(|format| format.name() == *name) {
            format.clear_layout_directives(directives, cut, filtered);
        }
    }
    storage.native.retain(|(_, directives)| !directives.is_empty());
}

/// Removes the location of elements stored outside the store, for an array whose extents have changed: mappings and
/// external files describe the elements of the whole array.
pub(crate) fn forget_elsewhere(storage: &mut Storage) {
    if matches!(storage.layout, Some(Layout::Virtual | Layout::External)) {
        storage.layout = None;
        clear_layout_directives(storage, true, false);
    }
    if let Some(origin) = &mut storage.origin {
        forget_elsewhere(origin);
    }
}

/// Removes the native directives that a brief description omits, such as times: a program that recreates the store sets
/// its own.
pub(crate) fn strip_default_directives(node: &mut Node) {
    // Mutable access to storage allocates it.
    if node.storage().is_none_or(|storage| storage.native.is_empty()) {
        return;
    }
    let Some(storage) = node.storage_mut() else { return };
    for (name, directives) in &mut storage.native {
        if let Some(format) = FORMATS.iter().find(|format| format.name() == *name) {
            directives.retain(|(key, _)| !format.default_directives().contains(&key.as_str()));
        }
    }
    storage.native.retain(|(_, directives)| !directives.is_empty());
}

/// The name of the array in a store that consists of a single array, derived from the name of the store.
pub(crate) fn array_name(store: &str) -> &str {
    let suffixes = FORMATS.iter().flat_map(|format| format.array_suffixes());
    let name = suffixes.fold(store, |name, suffix| name.strip_suffix(suffix).unwrap_or(name));
    if matches!(name, "" | "." | "..") { "array" } else { name }
}

/// Whether a filter name is the name of a format, which means that the filter exists only in that format.
pub(crate) fn is_filter_of_format(name: &str) -> bool {
    FORMATS.iter().any(|format| format.name() == name)
}

/// The target format with this name or alias: `zarr3`.
///
/// # Errors
/// If no writable format has this name.
pub fn target_format(name: &str) -> Result<&'static dyn TargetFormat> {
    let found = TARGETS.iter().find(|format| format.name() == name || format.aliases().contains(&name));
    found.copied().ok_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|format| format.name()).collect();
        Error::invalid(format!("unknown target format {name:?}, expected one of {}", known.join(", ")))
            .with_remedies(did_you_mean(name, known.iter().copied()))
    })
}

/// The target format for a file or directory, chosen by the suffix of its name.
///
/// # Errors
/// If the suffix belongs to no writable format.
pub fn target_format_of(path: &Path) -> Result<&'static dyn TargetFormat> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let ends =
        |format: &&&'static dyn TargetFormat| format.suffixes().iter().any(|suffix| name.ends_with(suffix));
    TARGETS.iter().find(ends).copied().ok_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|format| format.name()).collect();
        Error::invalid("has no suffix of a format that can be written")
            .with_remedy(Remedy::NameTargetFormat(known))
    })
}

/// The name of a store without its format suffix.
pub fn stem(store: &Path) -> String {
    let name = store.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let suffixes = TARGETS.iter().flat_map(|format| format.suffixes());
    match suffixes.filter_map(|suffix| name.strip_suffix(suffix)).min_by_key(|stem| stem.len()) {
        Some(stem) => stem.to_owned(),
        None => Path::new(&name).file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

/// The source in a form that a target of this format can hold: if the format has no arrays at the root, an array there
/// is placed in a group and named after the store.
///
/// # Errors
/// If the root cannot be read.
pub fn in_group(source: Arc<dyn Source>, store: &Path, format: &dyn TargetFormat) -> Result<Arc<dyn Source>> {
    let name = stem(store);
    match format.has_root_arrays() || name.is_empty() {
        true => Ok(source),
        false => grouped(source, &name),
    }
}

/// The error for a directory that is not a store, with a hint.
fn unknown_store(path: Option<&Path>) -> Error {
    let Some(path) = path else {
        return Error::invalid("is not a Zarr store: found no zarr.json, .zarray or .zgroup");
    };
    let above = path.ancestors().skip(1);
    let is_store = |folder: &&Path| {
        let store = DirectoryStore::open(folder).ok();
        store.is_some_and(|store| recognized(&Probe::Store(&store)).is_some())
    };
    let error = Error::invalid("is a directory, but not a Zarr store");
    match above.filter(|folder| !folder.as_os_str().is_empty()).find(is_store) {
        Some(store) => error.with_hint(format_args!("it lies in the store {}", store.display())),
        None => error.with_remedy(Remedy::ListFolder(path.to_path_buf())),
    }
}

/// The error for a file of an unknown format. It names the actual format if the first bytes identify it.
fn unknown(head: &Head) -> Error {
    if head.len == 0 {
        return Error::invalid(format!("is empty, not an {} file", titles()))
            .with_hint("download or copy the file again: a transfer may have failed");
    }
    let known = SIGNATURES.iter().find(|(signature, ..)| head.first.starts_with(signature));
    if let Some((_, what, how)) = known {
        return Error::invalid(format!("is {what}, not an {} file", titles())).with_hint(how);
    }
    let first = head.first.get(..head.first.len().min(8)).unwrap_or_default();
    let is_text = first.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    let text = String::from_utf8_lossy(first);
    let (found, how) = match is_text {
        true => (
            format!("it begins with the text {text:?}"),
            "an NDL document has the suffix .yaml, .yml or .json",
        ),
        false => (
            format!("no signature \\x89HDF at byte 0, 512, 1024, …; it begins with {text:?}"),
            "if it should be one, download or copy it again: a transfer may have failed",
        ),
    };
    Error::invalid(format!("is not an {} file: {found}", titles())).with_hint(how)
}

/// The titles of all formats as a list within a sentence: `HDF5, NetCDF-4, Zarr or NDL`.
fn titles() -> String {
    let titles: Vec<&str> = FORMATS.iter().flat_map(|format| format.titles()).copied().collect();
    match titles.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The first bytes of other formats, with the name of each format and how to import its data.
const SIGNATURES: &[(&[u8], &str, &str)] = &[
    (b"\x0e\x03\x13\x01", "an HDF4 file", "h4toh5 of the HDF Group converts it to HDF5"),
    (b"PK\x03\x04", "a zip archive", "unpack it with unzip; only a Zarr store is read as it is"),
    (b"PK\x05\x06", "an empty zip archive", NOT_MEANT),
    (b"\x1f\x8b", "a gzip file", "unpack it with gunzip -k"),
    (b"BZh", "a bzip2 file", "unpack it with bunzip2 -k"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "unpack it with unzstd"),
    (b"\xfd7zXZ\0", "an xz file", "unpack it with unxz -k"),
    (b"GRIB", "a GRIB file", "`cdo -f nc4 copy IN.grib OUT.nc` converts it to NetCDF"),
    (b"\x89PNG", "a PNG image", NOT_MEANT),
    (b"II*\0", "a TIFF image", "`gdal_translate -of netCDF IN.tif OUT.nc` converts it to NetCDF"),
    (b"MM\0*", "a TIFF image", "`gdal_translate -of netCDF IN.tif OUT.nc` converts it to NetCDF"),
    (b"\x93NUMPY", "a NumPy array", "numpy.load reads it; h5py or zarr can store it"),
    (b"SIMPLE  =", "a FITS file", "astropy reads it"),
    (
        b"netcdf ",
        "CDL, the text form of NetCDF",
        "`ncgen -4 -o FILE.nc FILE.cdl` converts it to a NetCDF file",
    ),
    (b"PAR1", "a Parquet file", "pandas and DuckDB read it"),
    (b"MATLAB 5.0", "a MATLAB file older than 7.3", "MATLAB saves it as HDF5 with save(…, '-v7.3')"),
    (b"%PDF", "a PDF document", NOT_MEANT),
    (b"version https://git-lfs", "a Git LFS pointer", "`git lfs pull` fetches the file itself"),
    (b"<!DOCTYPE", "an HTML page", DOWNLOADED),
    (b"<html", "an HTML page", DOWNLOADED),
];

const NOT_MEANT: &str = "`hyperslab ls` lists the stores in a folder";
const DOWNLOADED: &str =
    "the server sent a web page instead of the file: download it again from the direct address of the file";
