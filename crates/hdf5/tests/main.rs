//! Reads files written by other software through the public interface of this crate.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod attributes;
mod check;
mod damage;
mod elements;
mod far;
mod filters;
mod kinds;
mod links;
mod mapped;
mod regions;

use hyperslab_core::nd::Region;
use hyperslab_core::rows::{Heap, Rows};
use hyperslab_core::{Limits, Result};
use hyperslab_hdf5::format::checksum::lookup3;
use hyperslab_hdf5::{Dataset, File, Object, Reference};
use std::path::{Path, PathBuf};

/// The path of an example file, or of a data file of these tests if `name` starts with `data/`.
fn path(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    match name.strip_prefix("data/") {
        Some(name) => here.join("tests/data").join(name),
        None => here.join("../../examples").join(name),
    }
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

fn open_bytes(bytes: Vec<u8>) -> Result<File> {
    File::open(Box::new(bytes::Bytes::from(bytes)), Limits::default())
}

fn open(name: &str) -> File {
    open_bytes(bytes(name)).unwrap()
}

/// The object at a path that consists of hard links.
fn object(file: &File, path: &str) -> Result<Object> {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.fold(file.root(), |group, name| {
        let link = group?.link(file, name.as_bytes())?;
        let address = link.and_then(|link| link.address());
        file.object(address.unwrap_or_else(|| panic!("{path} is not a hard link")))
    })
}

fn dataset(file: &File, path: &str) -> Dataset {
    object(file, path).unwrap().dataset(file).unwrap()
}

fn read_region(file: &File, dataset: &Dataset, region: &Region) -> Result<Rows<Reference>> {
    let array = dataset.array(file)?;
    let count = usize::try_from(region.len().unwrap()).unwrap();
    let (mut rows, mut heap) = (vec![0; count * array.row_size()], Heap::default());
    array.read(file, region, &mut rows, &mut heap)?;
    Ok(Rows { rows: rows.into(), heap })
}

fn read(file: &File, path: &str) -> Result<Rows<Reference>> {
    let dataset = dataset(file, path);
    read_region(file, &dataset, &Region::all(dataset.extents().unwrap_or_default()))
}

/// The values of integers stored as rows of `size` bytes.
fn integers(rows: &[u8], size: usize) -> Vec<i64> {
    let number = |row: &[u8]| match row {
        [a] => i64::from(i8::from_ne_bytes([*a])),
        [a, b] => i64::from(i16::from_ne_bytes([*a, *b])),
        [a, b, c, d] => i64::from(i32::from_ne_bytes([*a, *b, *c, *d])),
        long => i64::from_ne_bytes(long.try_into().unwrap()),
    };
    rows.chunks_exact(size).map(number).collect()
}

/// Changes the byte at `place` and corrects the checksum of the object header chunk that contains it.
fn with_byte(mut bytes: Vec<u8>, place: usize, value: u8) -> Vec<u8> {
    let begins = |four: &[u8]| four == b"OHDR" || four == b"OCHK";
    let header = bytes[..place].windows(4).rposition(begins).unwrap();
    let stored = |bytes: &[u8], end: usize| u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap());
    let end =
        (place..bytes.len() - 4).find(|end| stored(&bytes, *end) == lookup3(&bytes[header..*end])).unwrap();
    bytes[place] = value;
    let sum = lookup3(&bytes[header..end]);
    bytes[end..end + 4].copy_from_slice(&sum.to_le_bytes());
    bytes
}
