//! Nullable arrays as two arrays, for formats without nullable types: one with the values, and one that states which of
//! them are valid.
//!
//! A null becomes a value that readers treat as missing: NaN, NaT, or a number that no valid element has, which the
//! attribute `_FillValue` states. In all other cases it becomes zero or empty. The [`Mark`] of the group lists these
//! arrays, so a store with this mark is opened with nullable arrays again.
//!
//! Spec: CF 1.13, 2.5.1 Missing data, 3.4 Ancillary Data, 3.5 Flags

mod mark;
mod null;
mod restored;

pub(crate) use mark::{Mark, Marked};
pub(crate) use null::{absent, null_row};
pub(crate) use restored::Restored;

use crate::cell_table::{text_attribute, text_of_attribute};
use hyperslab_core::Result;
use hyperslab_model::{Attribute, Attributes, Datatype, Values};
use std::sync::Arc;

/// The suffix of the name of the array that states which values are valid.
pub(crate) const SUFFIX: &str = "_valid";
/// The attribute of the array of values that names the other array.
pub(crate) const ANCILLARY: &str = "ancillary_variables";
/// The attribute of integers that represent booleans.
pub(crate) const DTYPE: &str = "dtype";

/// The type of the array that states which values are valid: 0 or 1, in a type that all formats have.
pub(crate) fn datatype() -> Arc<Datatype> {
    Arc::new(Datatype::int(8, true))
}

/// Whether attributes state that integers represent booleans, in the way of xarray.
pub(crate) fn says_bool(attributes: &Attributes) -> bool {
    text_of_attribute(attributes, DTYPE) == Some(b"bool")
}

/// The attributes of the array that states which values of the array `of` are valid.
///
/// # Errors
/// For a name of 4 GiB or more.
pub(crate) fn attributes(of: &str) -> Result<Attributes> {
    let flags = Attribute::new(vec![2], datatype(), Values { rows: vec![0, 1].into(), ..Values::default() });
    let all = [
        ("long_name", text_attribute(&format!("whether {of} has a value"))?),
        ("flag_values", flags),
        ("flag_meanings", text_attribute("null valid")?),
    ];
    Ok(all.into_iter().map(|(name, of)| (name.to_owned(), Ok(of))).collect())
}
