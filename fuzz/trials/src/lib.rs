//! Reads everything in untrusted bytes.

pub mod ndl;
pub mod zarr;

use bytes::Bytes;
use hyperslab::describe::{DescribeOptions, describe};
use hyperslab::location::LocatedObject;
use hyperslab::ndl::StorageDetail;
use hyperslab::{
    FORMATS, Item, Location, NodePath, OpenOptions, Probe, Recognition, Result, Source, Step, digest, walk,
};
use std::sync::Arc;

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The bytes were a file whose content was described, completely or in part.
    Described,
    /// The bytes were rejected with a reason.
    Refused,
}

/// Larger arrays are described without values, because a file may legitimately claim any size.
const ELEMENTS: u64 = 20_000;

/// Opens the bytes as a file, as stored and in the NetCDF view, and describes, lists and hashes its content.
///
/// # Panics
/// If an error has no text.
pub fn everything(bytes: Vec<u8>) -> Outcome {
    let bytes = Bytes::from(bytes);
    let outcomes = [false, true].map(|raw| match read(&bytes, raw) {
        Ok(()) => Outcome::Described,
        Err(error) => {
            assert!(!error.reason().to_string().trim().is_empty(), "an error without a reason");
            Outcome::Refused
        }
    });
    if outcomes.contains(&Outcome::Described) { Outcome::Described } else { Outcome::Refused }
}

fn read(bytes: &Bytes, raw: bool) -> Result<()> {
    described(&*open(bytes, raw)?)
}

/// Describes, lists and hashes an opened source.
///
/// # Errors
/// If it cannot be described at all.
pub fn described(source: &dyn Source) -> Result<()> {
    let root = source.find(&NodePath::root())?;
    let options =
        DescribeOptions { values: Some(ELEMENTS), storage: StorageDetail::Full, ..Default::default() };
    let target = LocatedObject { entry: root, attribute: None };
    describe(source, "case.h5", &[target], &options, &mut std::io::sink())?;
    digest_of_few(source)
}

/// Asks for the stored sizes of all arrays, and hashes them unless they have too many elements.
///
/// # Errors
/// If the source cannot be walked or hashed.
pub(crate) fn digest_of_few(source: &dyn Source) -> Result<()> {
    let root = source.find(&NodePath::root())?.handle;
    let mut elements = 0_u64;
    walk(source, &root, &mut |step| {
        if let Step::Member(entry) = step
            && matches!(entry.item, Item::Array { .. })
            && let Ok(array) = source.array(&entry.handle)
        {
            let count =
                array.extents().into_iter().flatten().fold(1_u64, |product, n| product.saturating_mul(*n));
            elements = elements.saturating_add(count);
            // Whether the sum is right does not matter here; the request only has to end.
            let _ = array.stored();
        }
        Ok(())
    })?;
    if elements <= ELEMENTS {
        digest::lines(source, &NodePath::root())?;
    }
    Ok(())
}

fn open(bytes: &Bytes, raw: bool) -> Result<Arc<dyn Source>> {
    let options = OpenOptions { raw, ..OpenOptions::default() };
    let location = Location::Object(Box::new(bytes.clone()));
    let probe = Probe::read(&location)?;
    let is_zip = bytes.starts_with(b"PK");
    let is_meant = |format: &&&dyn hyperslab::Format| match is_zip {
        true => format.name() == "zarr",
        false => format.recognizes(&probe) != Recognition::No,
    };
    let mut formats = FORMATS.iter().filter(is_meant);
    let format = formats.next().or(FORMATS.first()).ok_or_else(|| hyperslab::Error::invalid("no format"))?;
    format.open(location, &options)
}
