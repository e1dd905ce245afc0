//! Declared files: checked and laid out before a byte is written.
//!
//! Spec: NetCDF Classic Format Specification, "The Format in Detail"

use super::{Writer, names, path, placement};
use crate::data_type::DataType;
use crate::file::to_big_endian;
use crate::header::{Attribute, Header, Variable, Version};
use crate::layout::{Layout, Records};
use hyperslab_core::storage::WriteAt;
use hyperslab_core::{Error, Result};
use std::sync::Arc;

/// A declared file. Its header is complete, but no byte has been written.
#[derive(Clone, Debug)]
pub struct Definition {
    header: Header,
    encoded: Vec<u8>,
    layouts: Vec<Layout>,
    /// The fill value of each variable, big-endian.
    fill: Vec<Vec<u8>>,
    len: u64,
}

impl Definition {
    /// Declares a file. The sizes and places of variables in `header` are ignored and computed anew; the number of
    /// records must be known. `default_fill` gives the fill value of a type in native byte order. It is used for
    /// variables whose attribute `_FillValue` is missing or has another type.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for anything that the format, or this
    /// version of it, cannot represent. The error names the variable, dimension or attribute, and suggests what to do.
    pub fn new(mut header: Header, default_fill: &dyn Fn(DataType) -> Vec<u8>) -> Result<Definition> {
        names::check(&header)?;
        check_dimensions(&header)?;
        check_attributes(&header.attributes, header.version)?;
        for variable in &header.variables {
            check_variable(&header, variable).map_err(|error| error.in_object(path(variable)))?;
        }
        let fill = |variable: &Variable| {
            fill_value(variable, default_fill).map_err(|error| error.in_object(path(variable)))
        };
        let fill = header.variables.iter().map(fill).collect::<Result<_>>()?;
        let len = placement::place(&mut header)?;
        let records = Records::of(&header, len);
        let layout = |variable: &Variable| records.layout(&header, variable);
        let layouts = header.variables.iter().map(layout).collect::<Result<_>>()?;
        Ok(Definition { encoded: header.encode()?, header, layouts, fill, len })
    }

    /// Declares a file in the oldest version that can represent it, regardless of the version of `header`.
    ///
    /// # Errors
    /// As [`Definition::new`] with the newest version, if no version can represent the file.
    pub fn oldest(header: &Header, default_fill: &dyn Fn(DataType) -> Vec<u8>) -> Result<Definition> {
        let of = |version| Definition::new(Header { version, ..header.clone() }, default_fill);
        of(Version::Classic).or_else(|_| of(Version::Offset64)).or_else(|_| of(Version::Data64))
    }

    /// The header as it will be written, with the size and the place of each variable.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The size of the header in bytes.
    pub fn header_len(&self) -> u64 {
        self.encoded.len() as u64
    }

    /// The size of the file in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file is empty, which it never is.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the elements of a variable will lie.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](hyperslab_core::ErrorKind::NotFound) if there is no variable with this number.
    pub fn layout(&self, variable: usize) -> Result<&Layout> {
        self.layouts.get(variable).ok_or_else(|| Error::not_found(format!("no variable {variable}")))
    }

    /// The stored fill value of a variable, big-endian.
    ///
    /// # Errors
    /// As [`Definition::layout`].
    pub fn fill(&self, variable: usize) -> Result<&[u8]> {
        let found = self.fill.get(variable).map(Vec::as_slice);
        found.ok_or_else(|| Error::not_found(format!("no variable {variable}")))
    }

    /// Begins to write the file. Discards the content of the storage, and reserves space for the file.
    ///
    /// # Errors
    /// Any error of the storage.
    pub fn begin(self, storage: Arc<dyn WriteAt>) -> Result<Writer> {
        Writer::begin(self, storage)
    }

    /// Continues a file that was begun with the same definition. What was written before is kept, but it is not known
    /// which elements that was: see [`Writer::finish`].
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the storage does not have the
    /// length of the file, and any error of the storage.
    pub fn resume(self, storage: Arc<dyn WriteAt>) -> Result<Writer> {
        Writer::resume(self, storage)
    }

    /// The header as bytes.
    pub(super) fn encoded(&self) -> &[u8] {
        &self.encoded
    }
}

fn check_dimensions(header: &Header) -> Result<()> {
    let version = header.version;
    for dimension in &header.dimensions {
        let name = String::from_utf8_lossy(&dimension.name);
        check_count(&format!("the length of dimension {name:?}"), dimension.length, version)?;
    }
    let mut of_records = header.dimensions.iter().filter(|dimension| dimension.length == 0);
    let (first, second) = (of_records.next(), of_records.next());
    if let (Some(first), Some(second)) = (first, second) {
        let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let (first, second) = (name(&first.name), name(&second.name));
        let detail = format!(
            "dimension {second:?} has length 0, which makes it a record dimension like {first:?}, expected at most one"
        );
        return Err(Error::invalid(detail).with_hint("give it a length of 1 or more, or write NetCDF-4"));
    }
    let Some(records) = header.records else {
        return Err(Error::invalid("the number of records is not known, expected a number"));
    };
    check_count("the number of records", records, version)?;
    if records > 0 && first.is_none() {
        let detail = format!("{records} records without a dimension of length 0");
        return Err(Error::invalid(detail).with_hint("define the dimension of records with length 0"));
    }
    Ok(())
}

/// Checks that the version can store a count.
fn check_count(what: &str, count: u64, version: Version) -> Result<()> {
    let most = version.largest_count();
    if count <= most {
        return Ok(());
    }
    let error = Error::invalid(format!("{what} is {count}, in {version} at most {most}"));
    Err(match version {
        Version::Data64 => error,
        Version::Classic | Version::Offset64 => error.with_hint("write CDF-5"),
    })
}

fn check_data_type(what: &str, data_type: DataType, version: Version) -> Result<()> {
    match data_type.is_in(version) {
        true => Ok(()),
        false => {
            let detail = format!("{what}type {data_type:?}, which {version} does not have");
            Err(Error::invalid(detail).with_hint("write CDF-5, or convert to another type"))
        }
    }
}

fn check_attributes(attributes: &[Attribute], version: Version) -> Result<()> {
    for attribute in attributes {
        let what = format!("attribute {:?}", String::from_utf8_lossy(&attribute.name));
        check_data_type(&format!("{what} is of "), attribute.data_type, version)?;
        let (len, size) = (attribute.values.len(), attribute.data_type.size());
        if !len.is_multiple_of(size) {
            let detail = format!("{what} has {len} bytes, expected values of {size} bytes");
            return Err(Error::invalid(detail));
        }
        check_count(&format!("the number of values of {what}"), (len / size) as u64, version)?;
    }
    Ok(())
}

fn check_variable(header: &Header, variable: &Variable) -> Result<()> {
    check_data_type("", variable.data_type, header.version)?;
    check_attributes(&variable.attributes, header.version)?;
    for (at, id) in variable.dimensions.iter().enumerate() {
        let dimension = usize::try_from(*id).ok().and_then(|id| header.dimensions.get(id));
        let Some(dimension) = dimension else {
            let count = header.dimensions.len();
            return Err(Error::invalid(format!("dimension {id} of {count} dimensions")));
        };
        if dimension.length == 0 && at > 0 {
            let name = String::from_utf8_lossy(&dimension.name);
            let detail = format!("records along its dimension {at}, {name:?}, expected along dimension 0");
            return Err(Error::invalid(detail).with_hint(format!(
                "transpose the variable so that {name:?} is first, or give the dimension a length"
            )));
        }
    }
    Ok(())
}

/// The fill value of a variable, big-endian.
fn fill_value(variable: &Variable, default_fill: &dyn Fn(DataType) -> Vec<u8>) -> Result<Vec<u8>> {
    let data_type = variable.data_type;
    let size = data_type.size();
    let own = variable.attributes.iter().find(|attribute| attribute.name == FILL_VALUE);
    // A fill value of another type is an attribute like any other, as it is for readers.
    if let Some(fill) = own.filter(|fill| fill.data_type == data_type && fill.values.len() == size) {
        return Ok(fill.values.clone());
    }
    let mut fill = default_fill(data_type);
    if fill.len() != size {
        let len = fill.len();
        return Err(Error::invalid(format!(
            "a fill value of {len} bytes for type {data_type:?}, expected {size}"
        )));
    }
    to_big_endian(&mut fill, size);
    Ok(fill)
}

/// The attribute with the fill value of its variable.
const FILL_VALUE: &[u8] = b"_FillValue";
