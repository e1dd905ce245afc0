//! Names that may be written: those that the specification allows and that all readers find.
//!
//! Spec: NetCDF Classic Format Specification, "Note on names"

use crate::header::{Attribute, Header};
use crate::name::{MAX_NAME, fault, normalized};
use hyperslab_core::{Error, Result};
use std::borrow::Cow;
use std::collections::HashSet;

/// Checks all names of a file.
pub(super) fn check(header: &Header) -> Result<()> {
    list("dimension", header.dimensions.iter().map(|dimension| &dimension.name[..]))?;
    attributes(&header.attributes)?;
    list("variable", header.variables.iter().map(|variable| &variable.name[..]))?;
    header.variables.iter().try_for_each(|variable| {
        attributes(&variable.attributes).map_err(|error| error.in_object(super::path(variable)))
    })
}

fn attributes(attributes: &[Attribute]) -> Result<()> {
    list("attribute", attributes.iter().map(|attribute| &attribute.name[..]))
}

fn list<'a>(what: &str, names: impl Iterator<Item = &'a [u8]>) -> Result<()> {
    let mut known = HashSet::new();
    for name in names {
        let shown = String::from_utf8_lossy(name);
        let refuse = |fault: &str| Err(Error::invalid(format!("{what} {shown:?} {fault}")));
        if let Some(fault) = fault(name) {
            return refuse(fault).map_err(|error| error.with_hint("give it another name"));
        }
        // Names are compared byte by byte, and NetCDF-C normalizes the names that it looks up.
        if matches!(normalized(&shown), Cow::Owned(_)) {
            return refuse("is not in Unicode NFC, in which readers look for it")
                .map_err(|error| error.with_hint("normalize the name"));
        }
        if name.len() > MAX_NAME {
            return refuse(&format!("has {} bytes, readers take {MAX_NAME} at most", name.len()))
                .map_err(|error| error.with_hint("give it a shorter name"));
        }
        if !known.insert(name) {
            return refuse("is used twice").map_err(|error| error.with_hint("give one of them another name"));
        }
    }
    Ok(())
}
