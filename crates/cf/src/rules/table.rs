//! The table of rules.

use super::{Attributes, Check, OfValues, Related, version};
use super::{
    attributes, cells, coordinate_systems, coordinate_types, description, files_and_components, labels,
    reduction, sampling_geometries,
};
use crate::tables::Version;
use hyperslab_core::Severity;
use hyperslab_core::check::Rule;

/// A rule of CF.
pub struct CfRule {
    /// Its name, section and explanation. A requirement is an error, a recommendation a warning.
    pub rule: Rule,
    /// The first version that has it.
    pub since: Version,
    /// The last version that has it, unless it is in all later versions.
    pub until: Option<Version>,
    pub(super) check: Check,
}

impl CfRule {
    /// Whether a version has the rule.
    pub fn is_of(&self, version: Version) -> bool {
        self.since <= version && self.until.is_none_or(|until| version <= until)
    }

    /// Whether it reads values, if reading is allowed.
    pub fn reads_values(&self) -> bool {
        self.check.values.is_some() || self.check.related.is_some()
    }

    /// Whether no part of it can be checked without values.
    pub fn needs_values(&self) -> bool {
        self.check.attributes.is_none()
    }
}

/// The word for the rules of the NetCDF User's Guide.
pub const USERS_GUIDE: &str = "netcdf";

/// Whether a rule is also in the NetCDF User's Guide, or in the data model of NetCDF.
pub fn is_of_users_guide(rule: &CfRule) -> bool {
    OF_USERS_GUIDE.contains(&rule.rule.name)
}

/// Whether a rule requires the name of the version that is checked. If this version is the one named in the file, or
/// the nearest one that can be checked, the rule does not report anything.
pub fn is_of_identification(rule: &CfRule) -> bool {
    rule.rule.name == CONVENTIONS
}

const CONVENTIONS: &str = "cf/conventions";

/// The rules in the NetCDF User's Guide: its attribute conventions, and its definition of coordinate variables.
const OF_USERS_GUIDE: &[&str] = &[
    "cf/dimensions-distinct",
    "cf/fill-value-type",
    "cf/valid-range",
    "cf/fill-in-valid-range",
    "cf/units-known",
    "cf/coordinate-monotonic",
    "cf/coordinate-no-missing",
    "cf/global-text",
];

/// All rules, for explaining them.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().map(|rule| &rule.rule)
}

const fn row(
    (name, severity): (&'static str, Severity),
    section: &'static str,
    minor: u16,
    check: Check,
    explanation: &'static str,
) -> CfRule {
    let specification = Some(section);
    let rule = Rule { name, severity, explanation, specification, hint: None, is_spare: false };
    CfRule { rule, since: version(minor), until: None, check }
}

const fn required(name: &'static str) -> (&'static str, Severity) {
    (name, Severity::Error)
}

const fn advised(name: &'static str) -> (&'static str, Severity) {
    (name, Severity::Warning)
}

const fn attributes(check: Attributes) -> Check {
    Check { attributes: Some(check), ..Check::NONE }
}

const fn values(check: OfValues) -> Check {
    Check { values: Some(check), ..Check::NONE }
}

const fn related(check: Related) -> Check {
    Check { related: Some(check), ..Check::NONE }
}

/// All rules by section: whether they are requirements or recommendations, the section, the first minor version that
/// has them, the kind of check, and what breaks them.
#[rustfmt::skip]
pub static RULES: &[CfRule] = &[
    // 2 NetCDF Files and Components
    row(advised("cf/names"), "CF 2.3", 6, attributes(files_and_components::names), "the name of a variable, dimension or attribute does not begin with a letter, or has characters other than letters, digits and underscores"),
    row(advised("cf/names-differ-in-case"), "CF 2.3", 6, attributes(files_and_components::names_differ_in_case), "two variables of a group have the same name but for case"),
    row(required("cf/datatypes"), "CF 2.2", 6, attributes(files_and_components::datatypes), "a variable has a type that the version does not have"),
    row(required("cf/text-utf8"), "CF 2.2", 6, attributes(files_and_components::text_utf8).and_values(files_and_components::label_utf8), "the text of an attribute is not UTF-8 in Normalization Form C, or is several strings"),
    row(required("cf/dimensions-distinct"), "CF 2.4", 6, attributes(files_and_components::dimensions_distinct), "a variable has a dimension twice"),
    row(advised("cf/dimension-order"), "CF 2.4", 6, attributes(files_and_components::dimension_order), "dimensions of time, height, latitude and longitude are not in this order"),
    row(required("cf/string-coordinate-name"), "CF 2.5", 12, attributes(files_and_components::string_coordinate_name), "a one-dimensional variable of strings has the name of its dimension"),
    row(required("cf/fill-value-type"), "CF 2.5.1", 6, attributes(files_and_components::fill_value_type), "_FillValue or missing_value has another type than its variable"),
    row(required("cf/valid-range"), "CF 2.5.1", 6, attributes(files_and_components::valid_range), "valid_range does not have two values, or is used together with valid_min or valid_max"),
    row(advised("cf/fill-in-valid-range"), "CF 2.5.1", 6, attributes(files_and_components::fill_in_valid_range), "_FillValue is within the valid range, or differs from missing_value"),
    row(required("cf/actual-range"), "CF 2.5.1", 7, attributes(files_and_components::actual_range_type).and_values(files_and_components::actual_range), "actual_range is not the least and the greatest value"),
    row(required(CONVENTIONS), "CF 2.6.1", 6, attributes(files_and_components::conventions), "the attribute Conventions does not name a version of CF"),
    row(required("cf/global-text"), "CF 2.6.2", 6, attributes(files_and_components::global_text), "an attribute that describes the file is not a text"),
    row(required("cf/external-variables"), "CF 2.6.3", 7, attributes(files_and_components::external_variables), "external_variables is not a text, or names a variable of the file"),
    row(required("cf/group-attributes"), "CF 2.7", 8, attributes(files_and_components::group_attributes), "Conventions or external_variables stand in a group that is not the root"),
    row(required("cf/reference-resolves"), "CF 2.7", 6, attributes(files_and_components::reference_resolves), "an attribute names a variable or dimension that is not there"),
    // 3 Description of the Data
    row(required("cf/units-present"), "CF 3.1", 6, attributes(description::units_present), "a variable of a quantity with a dimension has no units"),
    row(required("cf/units-known"), "CF 3.1", 6, attributes(description::units_known), "units are not a string that UDUNITS can read"),
    row(required("cf/units-canonical"), "CF 3.1", 6, attributes(description::units_canonical), "units are not convertible to those of the standard name"),
    row(advised("cf/units-dimensionless-name"), "CF 3.1", 6, attributes(description::units_dimensionless_name), "units are level, layer or sigma_level"),
    row(required("cf/units-metadata"), "CF 3.1", 11, attributes(description::units_metadata), "units_metadata has a value that is not allowed, or is used where it must not be"),
    row(advised("cf/name-present"), "CF 3.2", 6, attributes(description::name_present), "a variable has neither long_name nor standard_name"),
    row(required("cf/standard-name"), "CF 3.3", 6, attributes(description::standard_name), "standard_name is not in the table"),
    row(required("cf/standard-name-modifier"), "CF 3.3", 6, attributes(description::standard_name_modifier), "a standard name modifier is not in Appendix C"),
    row(required("cf/region-or-area-type"), "CF 3.3", 6, values(description::region_or_area_type), "a value of a region or area_type variable is not in its table"),
    row(required("cf/flag-values"), "CF 3.5", 6, attributes(description::flag_values), "flag_values do not have the type of the variable, are not distinct, or have no flag_meanings"),
    row(required("cf/flag-masks"), "CF 3.5", 6, attributes(description::flag_masks), "flag_masks do not have the type of the variable, or are zero"),
    row(required("cf/flag-meanings"), "CF 3.5", 6, attributes(description::flag_meanings), "flag_meanings do not match the number of values or masks, or have characters that are not allowed"),
    // 4 Coordinate Types
    row(required("cf/axis"), "CF 4", 6, attributes(coordinate_types::axis), "axis is not X, Y, Z or T, contradicts the units, or is used where it must not be"),
    row(required("cf/axis-once"), "CF 4", 6, attributes(coordinate_types::axis_once), "a data variable has several coordinate variables of one axis"),
    row(required("cf/latitude-units"), "CF 4.1", 6, attributes(coordinate_types::latitude_units), "units of a latitude are none of the spellings of degrees_north"),
    row(required("cf/longitude-units"), "CF 4.2", 6, attributes(coordinate_types::longitude_units), "units of a longitude are none of the spellings of degrees_east"),
    row(required("cf/positive"), "CF 4.3", 6, attributes(coordinate_types::positive), "positive is neither up nor down, or is missing at a height or depth"),
    row(required("cf/formula-terms"), "CF 4.3.3", 6, attributes(coordinate_types::formula_terms), "formula_terms are not those of the standard name, or are used where they must not be"),
    row(required("cf/formula-standard-names"), "CF 4.3.3", 7, attributes(coordinate_types::formula_standard_names), "standard names of the terms and computed_standard_name do not match"),
    row(required("cf/time-units"), "CF 4.4", 6, attributes(coordinate_types::time_units), "units of a time coordinate have no reference time, or one that is not in the form that CF requires"),
    row(advised("cf/time-units-month"), "CF 4.4", 6, attributes(coordinate_types::time_units_month), "units of time are months or years"),
    row(required("cf/calendar"), "CF 4.4.1", 6, attributes(coordinate_types::calendar), "calendar is not one that CF defines, or is used where it must not be"),
    row(required("cf/month-lengths"), "CF 4.4.1", 6, attributes(coordinate_types::month_lengths), "month_lengths, leap_year or leap_month do not describe a calendar"),
    row(required("cf/date-in-calendar"), "CF 4.4", 6, attributes(coordinate_types::reference_in_calendar).and_values(coordinate_types::date_in_calendar), "a date does not exist in the calendar"),
    // 5 Coordinate Systems and Domain
    row(required("cf/dimension-has-coordinate"), "CF 5", 6, attributes(coordinate_systems::dimension_has_coordinate), "a dimension of latitude, longitude, height or time has no coordinate variable"),
    row(required("cf/coordinate-monotonic"), "CF 5", 6, values(coordinate_systems::coordinate_monotonic), "values of a coordinate variable do not all increase or all decrease"),
    row(required("cf/coordinate-no-missing"), "CF 5", 6, attributes(coordinate_systems::coordinate_no_missing), "a coordinate variable has _FillValue or missing_value"),
    row(required("cf/coordinates-dimensions"), "CF 5", 6, attributes(coordinate_systems::coordinates_dimensions), "an auxiliary coordinate has dimensions that its variable does not have"),
    row(required("cf/horizontal-coordinates"), "CF 5.6", 6, attributes(coordinate_systems::horizontal_coordinates), "coordinates of data on the grid of a projection or a rotated pole name no latitude and longitude; since 1.8, a grid mapping does as well"),
    row(required("cf/grid-mapping"), "CF 5.6", 6, attributes(coordinate_systems::grid_mapping), "grid_mapping is not in the form that CF requires, or names no grid mapping variable with a known grid_mapping_name"),
    row(required("cf/grid-mapping-parameters"), "CF 5.6", 6, attributes(coordinate_systems::grid_mapping_parameters), "a parameter of a grid mapping is missing, has another type or contradicts others"),
    // 6 Labels and Alternative Coordinates
    row(required("cf/label"), "CF 6.1", 6, attributes(labels::label), "a label has dimensions that a label cannot have"),
    // 7 Data Representative of Cells
    row(required("cf/bounds"), "CF 7.1", 6, attributes(cells::bounds).and_related(cells::bounds_order), "the type or the dimensions of a boundary variable do not fit its coordinate"),
    row(required("cf/bounds-attributes"), "CF 7.1", 6, attributes(cells::bounds_attributes), "an attribute of a boundary variable differs from that of its coordinate"),
    row(advised("cf/bounds-contain"), "CF 7.1", 6, related(cells::bounds_contain), "a coordinate is outside of its bounds"),
    row(required("cf/cell-measures"), "CF 7.2", 6, attributes(cells::cell_measures), "cell_measures are not pairs of a measure and a variable, or its dimensions or units do not fit"),
    row(required("cf/cell-methods"), "CF 7.3", 6, attributes(cells::cell_methods), "cell_methods are not in the form that CF requires"),
    row(required("cf/climatology"), "CF 7.4", 6, attributes(cells::climatology), "a climatology boundary variable does not fit its time coordinate, or cell_methods do not say what is within and over days or years"),
    row(required("cf/geometry"), "CF 7.5", 8, attributes(cells::geometry).and_related(cells::geometry_values), "a geometry container or its nodes do not follow CF"),
    // 8 Reduction of Dataset Size
    row(required("cf/packing"), "CF 8.1", 6, attributes(reduction::packing), "scale_factor and add_offset have types that do not fit the variable"),
    row(required("cf/compress"), "CF 8.2", 6, attributes(reduction::compress).and_values(reduction::compress_values), "a list variable of compression by gathering is invalid"),
    // 9 Discrete Sampling Geometries
    row(required("cf/feature-type"), "CF 9.4", 6, attributes(sampling_geometries::feature_type), "featureType is not known, or the dimensions of data do not fit it"),
    row(required("cf/cf-role"), "CF 9.5", 6, attributes(sampling_geometries::cf_role), "cf_role has an unknown value, or is used by several variables"),
    // Appendix A
    row(advised("cf/attribute-use"), "CF Appendix A", 6, attributes(attributes::attribute_use), "an attribute is used where CF gives it no meaning, or has the wrong type"),
];
