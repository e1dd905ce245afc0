//! Handmade, random and truncated files.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod check;
mod content;
mod elements;
mod headers;
mod refusals;
mod sparse;
mod truncated;
mod write;
mod written;

use hyperslab_netcdf3::{Attribute, DataType, Dimension, Header, Variable, Version};

/// The example of the specification: `dim = 5; short vx(dim); vx = 3, 1, 4, 1, 5`.
pub(crate) const TINY: &[u8] =
    b"CDF\x01\0\0\0\0\0\0\0\x0a\0\0\0\x01\0\0\0\x03dim\0\0\0\0\x05\0\0\0\0\0\0\0\0\
\0\0\0\x0b\0\0\0\x01\0\0\0\x02vx\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\x0c\0\0\0\x50\
\0\x03\0\x01\0\x04\0\x01\0\x05\x80\x01";

pub(crate) fn dimension(name: &str, length: u64) -> Dimension {
    Dimension { name: name.into(), length }
}

pub(crate) fn attribute(name: &str, data_type: DataType, values: &[u8]) -> Attribute {
    Attribute { name: name.into(), data_type, values: values.to_vec() }
}

pub(crate) fn variable(name: &str, data_type: DataType, dimensions: &[u64]) -> Variable {
    let (attributes, dimensions) = (Vec::new(), dimensions.to_vec());
    Variable { name: name.into(), dimensions, attributes, data_type, size: 0, begin: 0 }
}

/// A file with the variables one after another, and elements whose bytes follow from their offsets.
pub(crate) fn file(mut header: Header, records: u64) -> (Header, Vec<u8>) {
    header.records = Some(records);
    let sizes: Vec<u64> = header.variables.iter().map(|variable| block(&header, variable)).collect();
    let is_record: Vec<bool> = header.variables.iter().map(|variable| is_record(&header, variable)).collect();
    let mut at = header.encode().unwrap().len() as u64;
    for wanted in [false, true] {
        for ((variable, size), is_record) in header.variables.iter_mut().zip(&sizes).zip(&is_record) {
            if *is_record == wanted {
                (variable.begin, variable.size) = (at, size.next_multiple_of(4));
                at += size.next_multiple_of(4);
            }
        }
    }
    let record = record(&header);
    let first = header.variables.iter().zip(&is_record).find(|(_, is_record)| **is_record);
    let end = first.map_or(at, |(variable, _)| variable.begin + record * records);
    let mut bytes = header.encode().unwrap();
    let len = bytes.len() as u64;
    bytes.extend((len..end).map(|at| u8::try_from(((at * 7) ^ (at >> 8)) & 0xff).unwrap()));
    (header, bytes)
}

pub(crate) fn is_record(header: &Header, variable: &Variable) -> bool {
    variable.dimensions.first().is_some_and(|id| header.dimensions[usize::try_from(*id).unwrap()].length == 0)
}

/// The size of a record in bytes. A record of a single variable has no padding.
pub(crate) fn record(header: &Header) -> u64 {
    let of_records = header.variables.iter().filter(|variable| is_record(header, variable));
    let sizes: Vec<u64> = of_records.map(|variable| block(header, variable)).collect();
    match sizes.as_slice() {
        [only] => *only,
        several => several.iter().map(|size| size.next_multiple_of(4)).sum(),
    }
}

/// The size in bytes of the elements of a variable, or of one record if it is a record variable.
pub(crate) fn block(header: &Header, variable: &Variable) -> u64 {
    let lengths =
        variable.dimensions.iter().map(|id| header.dimensions[usize::try_from(*id).unwrap()].length);
    lengths.filter(|length| *length > 0).product::<u64>() * variable.data_type.size() as u64
}

pub(crate) fn empty(version: Version) -> Header {
    Header { version, records: Some(0), dimensions: vec![], attributes: vec![], variables: vec![] }
}
