//! Rules of chapter 3, Description of the Data.

mod flags;
mod standard_names;
mod units;
mod vocabularies;

pub(super) use flags::{flag_masks, flag_meanings, flag_values};
pub(super) use standard_names::{name_present, standard_name, standard_name_modifier};
pub(super) use units::{
    units_canonical, units_dimensionless_name, units_known, units_metadata, units_present,
};
pub(super) use vocabularies::region_or_area_type;

use super::scope::{Found, Scope};
