//! Where the elements of a new file go: after the header, variables without records in the order of their definition,
//! then the records, all aligned to four bytes.
//!
//! Spec: NetCDF Classic Format Specification, "Note on vsize", "Note on padding", "Notes on Computing File Offsets",
//! "Offset restrictions"

use super::path;
use crate::header::{Header, Variable, Version, padding};
use crate::layout::{Records, block, is_record};
use hyperslab_core::{Error, Result};

/// Sets the size and the place of each variable. Returns the size of the file in bytes.
pub(super) fn place(header: &mut Header) -> Result<u64> {
    let version = header.version;
    let mut sizes = Vec::with_capacity(header.variables.len());
    for variable in &header.variables {
        sizes.push((is_record(header, variable), padded_block(header, variable)?));
    }
    check_sizes(header, &sizes)?;
    // The offsets have the same width wherever the variables begin.
    for variable in &mut header.variables {
        (variable.size, variable.begin) = (0, 0);
    }
    let mut end = header.encode()?.len() as u64;
    for wanted in [false, true] {
        for (variable, (is_record, size)) in header.variables.iter_mut().zip(&sizes) {
            if *is_record != wanted {
                continue;
            }
            if version == Version::Classic && end > version.largest_count() {
                let most = version.largest_count();
                let detail =
                    format!("its elements would begin at byte {end}, in {version} at byte {most} at most");
                return Err(Error::invalid(detail)
                    .with_hint("write CDF-2 or CDF-5, or define it before the large variables")
                    .in_object(path(variable)));
            }
            variable.begin = end;
            variable.size = stored_size(version, *size);
            end = end.checked_add(*size).filter(|end| *end <= LARGEST).ok_or_else(too_large)?;
        }
    }
    end_of_file(header, end)
}

/// The offset after the last record, if the first one with its padding would end at `end`.
fn end_of_file(header: &Header, end: u64) -> Result<u64> {
    let records = Records::of(header, 0);
    let of_records = header.variables.iter().filter(|variable| is_record(header, variable));
    let Some(begin) = of_records.map(|variable| variable.begin).min() else { return Ok(end) };
    let size = records.size.and_then(|size| size.checked_mul(records.count));
    let end = size.and_then(|size| size.checked_add(begin));
    end.filter(|end| *end <= LARGEST).ok_or_else(too_large)
}

/// The size in bytes of the elements of a variable, or of those in one record, with padding.
fn padded_block(header: &Header, variable: &Variable) -> Result<u64> {
    let block = block(header, variable).map_err(|error| Error::invalid(error.detail().to_owned()));
    let block = block.map_err(|error| error.in_object(path(variable)))?;
    block.checked_add(padding(block)).ok_or_else(too_large)
}

/// `vsize`: a size that does not fit its field is stored as 2^32 - 1.
fn stored_size(version: Version, size: u64) -> u64 {
    match version {
        Version::Data64 => size,
        Version::Classic | Version::Offset64 if size > LARGEST_32 => u64::from(u32::MAX),
        Version::Classic | Version::Offset64 => size,
    }
}

/// Checks that a variable is large only if no other follows it, since readers compute offsets from sizes.
fn check_sizes(header: &Header, sizes: &[(bool, u64)]) -> Result<()> {
    let version = header.version;
    let most = match version {
        Version::Classic => LARGEST_31,
        Version::Offset64 => LARGEST_32,
        Version::Data64 => LARGEST,
    };
    let last = |wanted| sizes.iter().rposition(|(is_record, _)| *is_record == wanted);
    let (last_fixed, last_record) = (last(false), last(true));
    for (number, (variable, (is_record, size))) in header.variables.iter().zip(sizes).enumerate() {
        if *size <= most {
            continue;
        }
        let of_records = if *is_record { " in a record" } else { "" };
        let limit = match is_record {
            _ if version == Version::Data64 => "",
            true if last_record == Some(number) => continue,
            true => " in all but the last variable with records",
            false if last_fixed != Some(number) => " in all but the last variable without records",
            false if last_record.is_some() => " in a file with records",
            false => continue,
        };
        let detail = format!("{size} bytes of elements{of_records}, {version} has {most} at most{limit}");
        let error = Error::invalid(detail).in_object(path(variable));
        return Err(match version {
            Version::Data64 => error,
            Version::Classic if *size <= LARGEST_32 => error.with_hint("write CDF-2 or CDF-5"),
            Version::Classic | Version::Offset64 => error.with_hint("write CDF-5"),
        });
    }
    Ok(())
}

fn too_large() -> Error {
    Error::invalid("the file would have 2^63 bytes or more")
}

/// The largest padded sizes that a size or an offset of 31, 32 and 63 bits can express.
const LARGEST_31: u64 = (1 << 31) - 4;
const LARGEST_32: u64 = (1 << 32) - 4;
const LARGEST: u64 = (1 << 63) - 4;
