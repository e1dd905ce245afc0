//! Chapter 3, Description of the Data.

use super::{fails, passes};
use crate::cdl::Cdl;

#[test]
fn quantities_have_units() {
    let rule = "cf/units-present";
    passes(
        rule,
        8,
        "float t\n:standard_name = \"air_temperature\"\n:units = \"degC\"\nfloat u\nstring s\n:standard_name = \"region\"",
    );
    passes(rule, 8, "float a\n:standard_name = \"sea_ice_area_fraction\"");
    passes(rule, 8, "byte q\n:standard_name = \"air_temperature status_flag\"");
    fails(
        rule,
        8,
        "float t\n:standard_name = \"air_temperature\"",
        "/t: no units, expected units convertible to K",
    );
    fails(
        rule,
        8,
        "dim z 2\nfloat z(z)\n:positive = \"up\"",
        "/z: a coordinate variable along Z has no units",
    );
    let bounds =
        "dim x 2\ndim v 2\nfloat x(x)\n:bounds = \"b\"\nfloat b(x, v)\n:standard_name = \"latitude\"";
    passes(rule, 8, bounds);
}

#[test]
fn units_are_those_of_udunits() {
    let rule = "cf/units-known";
    passes(
        rule,
        8,
        "float t\n:units = \"W m-2\"\nfloat u\n:units = \"1\"\nfloat l\n:units = \"level\"\nfloat e\n:units = \"\"",
    );
    fails(
        rule,
        8,
        "float t\n:units = \"kelvn\"",
        "/t@units: units \"kelvn\" with `kelvn` at byte 0, expected",
    );
    fails(rule, 8, "float t\n:units = 1", "/t@units: units are int32, expected a single string");
    fails(rule, 8, "float t\n:units = {\"m\", \"s\"}", "/t@units: units are 2 strings");
    let hint = &Cdl::new("float t\n:units = \"kelvn\"").findings(8);
    assert!(hint.iter().any(|finding| finding.hint == "did you mean kelvin?"), "{hint:?}");
}

#[test]
fn units_fit_the_standard_name() {
    let rule = "cf/units-canonical";
    let t = |name: &str, units: &str, more: &str| {
        format!("float t\n:standard_name = \"{name}\"\n:units = \"{units}\"{more}")
    };
    passes(rule, 8, &t("air_temperature", "degF", ""));
    passes(rule, 8, &t("time", "days since 2000-01-01", ""));
    passes(rule, 8, &t("air_temperature", "K2", "\n:cell_methods = \"time: variance (interval: 1 day)\""));
    passes(rule, 8, &t("air_temperature number_of_observations", "1", ""));
    passes(rule, 8, &t("no_such_name", "m", ""));
    fails(rule, 8, &t("air_temperature", "m", ""), "/t@units: units \"m\", expected units convertible to K");
    fails(
        rule,
        8,
        &t("air_temperature", "K", "\n:cell_methods = \"time: variance\""),
        "/t@units: units \"K\"",
    );
    fails(rule, 8, &t("frequency_of_lightning_flashes_per_unit_area", "s", ""), "/t@units:");
    // UDUNITS converts hertz to seconds, but seconds do not measure a frequency.
    fails(rule, 8, &t("wave_frequency", "s", ""), "/t@units: units \"s\"");
    fails(
        rule,
        11,
        &t("mole_fraction_of_ozone_in_air", "ppmv", ""),
        "/t@units: units \"ppmv\" beside a standard name",
    );
    passes(rule, 10, &t("mole_fraction_of_ozone_in_air", "ppmv", ""));
}

#[test]
fn levels_are_deprecated_units() {
    let rule = "cf/units-dimensionless-name";
    passes(rule, 8, "float z\n:units = \"1\"");
    fails(rule, 8, "float z\n:units = \"level\"", "/z@units: units \"level\" are deprecated");
    fails(rule, 8, "float z\n:units = \"sigma_level\"", "/z@units:");
}

#[test]
fn metadata_of_units_are_of_temperatures_and_times() {
    let rule = "cf/units-metadata";
    let t =
        |units: &str, value: &str| format!("float t\n:units = \"{units}\"\n:units_metadata = \"{value}\"");
    passes(rule, 11, &t("K", "temperature: on_scale"));
    passes(rule, 11, &t("days since 2000-01-01", "leap_seconds: none"));
    fails(
        rule,
        11,
        &t("K", "temperature: scale"),
        "/t@units_metadata: units_metadata is \"temperature: scale\"",
    );
    fails(
        rule,
        11,
        &t("m", "temperature: on_scale"),
        "/t@units_metadata: units_metadata beside units without",
    );
    fails(
        rule,
        11,
        &t("K", "leap_seconds: utc"),
        "/t@units_metadata: units_metadata is \"leap_seconds: utc\", expected temperature",
    );
    fails(
        rule,
        11,
        "float t\n:units_metadata = \"temperature: unknown\"",
        "/t@units_metadata: units_metadata without units",
    );
    let spread = t("K", "temperature: on_scale") + "\n:cell_methods = \"time: standard_deviation\"";
    fails(
        rule,
        11,
        &spread,
        "/t@units_metadata: units_metadata is \"temperature: on_scale\", expected temperature: difference",
    );
    passes(rule, 10, &t("K", "temperature: scale"));
}

#[test]
fn variables_have_a_name_for_people() {
    let rule = "cf/name-present";
    passes(
        rule,
        8,
        "float t\n:long_name = \"a\"\nfloat u\n:standard_name = \"b\"\nint crs\n:grid_mapping_name = \"latitude_longitude\"",
    );
    passes(rule, 8, "dim x 2\ndim v 2\nfloat x(x)\n:long_name = \"x\"\n:bounds = \"b\"\nfloat b(x, v)");
    fails(rule, 8, "float t", "/t: neither long_name nor standard_name");
    fails(rule, 8, "dim x 2\nfloat x(x)", "/x: neither long_name nor standard_name");
}

#[test]
fn standard_names_are_in_the_table() {
    let rule = "cf/standard-name";
    passes(
        rule,
        8,
        "float t\n:standard_name = \"air_temperature standard_error\"\nfloat u\n:standard_name = \"moles_of_cfc11_in_atmosphere\"",
    );
    fails(
        rule,
        8,
        "float t\n:standard_name = \"air_temprature\"",
        "/t@standard_name: standard_name \"air_temprature\", expected a name of table 93",
    );
    fails(rule, 8, "float t\n:standard_name = \"Air_temperature\"", "/t@standard_name:");
    fails(rule, 8, "float t\n:standard_name = 1", "/t@standard_name: standard_name is int32");
    fails(rule, 8, "float t\n:standard_name = \" \"", "/t@standard_name: standard_name is empty");
}

#[test]
fn modifiers_are_those_of_appendix_c() {
    let rule = "cf/standard-name-modifier";
    passes(rule, 8, "float t\n:standard_name = \"air_temperature  standard_error\"");
    fails(
        rule,
        8,
        "float t\n:standard_name = \"air_temperature error\"",
        "/t@standard_name: modifier \"error\"",
    );
    fails(
        rule,
        8,
        "float t\n:standard_name = \"air_temperature standard_error x\"",
        "/t@standard_name: \"x\" behind the modifier",
    );
}

#[test]
fn regions_and_area_types_are_in_their_tables() {
    let rule = "cf/region-or-area-type";
    let t =
        |name: &str, value: &str| format!("dim n 1\nstring t(n)\n:standard_name = \"{name}\"\n= \"{value}\"");
    passes(rule, 8, &t("region", "atlantic_ocean"));
    passes(rule, 8, &t("area_type", "sea_ice"));
    fails(rule, 8, &t("region", "atlantik_ocean"), "/t: region \"atlantik_ocean\", expected one of table 5");
    fails(rule, 8, &t("area_type", "atlantic_ocean"), "/t: area_type \"atlantic_ocean\"");
    let letters = "dim l 5\nchar t(l)\n:standard_name = \"area_type\"\n= \"l\" \"a\" \"n\" \"d\" \"\"";
    passes(rule, 8, letters);
    fails(rule, 8, &letters.replace("\"l\" ", "\"s\" "), "/t: area_type \"sand\"");
    let flags = "byte t\n:standard_name = \"region\"\n:flag_values = 1b\n:flag_meanings = \"europe\"\n= 1";
    passes(rule, 8, flags);
    fails(rule, 8, &flags.replace("europe", "eurpe"), "/t@flag_meanings: region \"eurpe\"");
}

#[test]
fn flag_values_are_different_and_typed() {
    let rule = "cf/flag-values";
    let t = |values: &str, more: &str| format!("byte t\n:flag_values = {values}{more}");
    let meanings = "\n:flag_meanings = \"a b\"";
    passes(rule, 8, &t("1b, 2b", meanings));
    passes(rule, 8, &t("1b, 1b", &format!("{meanings}\n:flag_masks = 1b, 3b")));
    fails(rule, 8, &t("1, 2", meanings), "/t@flag_values: flag_values are int32, expected int8");
    fails(rule, 8, &t("1b, 1b", meanings), "/t@flag_values: flag_values has 1 twice");
    fails(rule, 8, &t("1b, 2b", ""), "/t@flag_values: flag_values without flag_meanings");
}

#[test]
fn flag_masks_are_of_integers_and_not_zero() {
    let rule = "cf/flag-masks";
    let meanings = "\n:flag_meanings = \"a b\"";
    passes(rule, 8, &format!("byte t\n:flag_masks = 1b, 2b{meanings}"));
    fails(rule, 8, &format!("byte t\n:flag_masks = 1b, 0b{meanings}"), "/t@flag_masks: flag_masks has a 0");
    fails(
        rule,
        8,
        &format!("float t\n:flag_masks = 1.f, 2.f{meanings}"),
        "/t@flag_masks: flag_masks of a variable of float32",
    );
    fails(rule, 8, &format!("byte t\n:flag_masks = 1, 2{meanings}"), "/t@flag_masks: flag_masks are int32");
    let values = format!("byte t\n:flag_masks = 1b, 2b\n:flag_values = 1b, 4b{meanings}");
    fails(rule, 8, &values, "/t@flag_masks: flag value 4 has bits");
}

#[test]
fn flag_meanings_are_as_many_words() {
    let rule = "cf/flag-meanings";
    passes(rule, 8, "byte t\n:flag_values = 1b, 2b\n:flag_meanings = \"a.b c@d\"");
    fails(
        rule,
        8,
        "byte t\n:flag_values = 1b, 2b\n:flag_meanings = \"a b c\"",
        "/t@flag_meanings: 3 flag_meanings and 2 flag_values",
    );
    fails(
        rule,
        8,
        "byte t\n:flag_values = 1b\n:flag_meanings = \"a,\"",
        "/t@flag_meanings: flag meaning \"a,\"",
    );
    fails(
        rule,
        8,
        "byte t\n:flag_values = 1b\n:flag_meanings = {\"a\", \"b\"}",
        "/t@flag_meanings: flag_meanings are 2 strings",
    );
    fails(rule, 8, "byte t\n:flag_masks = 1b", "/t@flag_masks: flag_masks without flag_meanings");
}

#[test]
fn units_have_no_factors_and_offsets() {
    let rule = "cf/units-known";
    let of = |units: &str| format!("float t\n:units = \"{units}\"");
    for units in ["W m-2", "1e-3", "1/s", "kg m^-2", "days since 2000-01-01 00:00", "m2", "100"] {
        passes(rule, 8, &of(units));
    }
    fails(rule, 8, &of("10 m s-1"), "units \"10 m s-1\" with \"10\", expected no factors or offsets");
    fails(rule, 8, &of("K @ 273.15"), "with \"@ 273.15\"");
    fails(rule, 8, &of("g/(100 m)"), "with \"100\"");
}
