//! Chapter 2, NetCDF Files and Components.

use super::{fails, passes};

#[test]
fn names_have_letters_digits_and_underscores() {
    let rule = "cf/names";
    passes(rule, 8, "dim x_1 2\nfloat T2(x_1)\n:_FillValue = 1.f\n:_Custom = 1\n:long_name = \"a\"");
    fails(rule, 8, "float t-2", "/t-2: variable \"t-2\" has '-', expected letters");
    fails(rule, 8, "float t\n:2m = 1", "/t@2m: attribute \"2m\" begins with a digit");
    fails(rule, 8, "dim é 3", "/é: dimension \"é\" has 'é'");
    fails(rule, 8, "group /a.b", "/a.b: group \"a.b\" has '.'");
    passes(rule, 7, "group /a.b");
    passes(rule, 8, "float t\n:_ChunkSizes = 1\n:_NCProperties = \"a\"");
    fails(
        rule,
        8,
        "float t\n:_FILLVALUE = 1.f",
        "/t@_FILLVALUE: attribute \"_FILLVALUE\" begins with an underscore",
    );
}

#[test]
fn names_differ_in_more_than_case() {
    let rule = "cf/names-differ-in-case";
    passes(rule, 8, "float t\nfloat u\ngroup /g\nfloat T");
    fails(rule, 8, "float t\nfloat T", "/t: variables \"T\" and \"t\" have the same name");
    fails(rule, 8, "group /g\nfloat Temp\nfloat temp", "/g/temp:");
}

#[test]
fn texts_are_single_and_composed() {
    let rule = "cf/text-utf8";
    passes(rule, 12, "float t\n:long_name = \"Zürich\"\n:flags = {\"a\", \"b\"}");
    fails(rule, 8, "float t\n:comment = {\"a\", \"b\"}", "/t@comment: an array of 2 strings");
    fails(rule, 12, ":title = \"Zu\u{308}rich\"", "/@title: \"Zu");
    passes(rule, 11, ":title = \"Zu\u{308}rich\"");
    let label = "dim s 1\nstring name(s)\n= \"Zu\u{308}rich\"";
    fails(rule, 12, label, "/name: \"Zu");
    passes(rule, 11, label);
    passes(rule, 12, "dim s 1\nstring name(s)\n= \"Zürich\"");
}

#[test]
fn a_dimension_occurs_once() {
    let rule = "cf/dimensions-distinct";
    passes(rule, 8, "dim x 2\ndim y 2\nfloat t(x, y)");
    fails(rule, 8, "dim x 2\nfloat t(x, x)", "/t: dimension \"x\" twice");
    fails(rule, 8, "dim x 2\ndim y 1\nfloat t(x, y, x)", "/t: dimension \"x\" twice");
}

const GRID: &str = "dim time 2
    dim lat 2
    dim lon 2
    double time(time)
    :units = \"days since 2000-01-01\"
    double lat(lat)
    :units = \"degrees_north\"
    double lon(lon)
    :units = \"degrees_east\"
    ";

#[test]
fn dimensions_are_ordered() {
    let rule = "cf/dimension-order";
    passes(
        rule,
        8,
        &format!("{GRID}dim n 2\nfloat t(time, lat, lon)\nfloat u(n, lat, lon)\nfloat v(time, n, lon)"),
    );
    fails(
        rule,
        8,
        &format!("{GRID}float t(lon, lat)"),
        "/t: dimensions in the order lon (X), lat (Y), expected lat (Y)",
    );
    fails(rule, 8, &format!("{GRID}float t(lat, time)"), "/t: dimensions in the order lat (Y), time (T)");
}

#[test]
fn strings_do_not_have_the_name_of_their_dimension() {
    let rule = "cf/string-coordinate-name";
    passes(rule, 12, "dim s 2\ndim n 3\nstring name(s)\nchar names(s, n)\ndouble n(n)");
    fails(rule, 12, "dim s 2\nstring s(s)", "/s: a variable of strings");
    fails(rule, 12, "dim s 2\ndim n 3\nchar s(s, n)", "/s: a variable of strings");
    passes(rule, 11, "dim s 2\nstring s(s)");
}

#[test]
fn fill_values_have_the_type_of_the_variable() {
    let rule = "cf/fill-value-type";
    passes(rule, 8, "short t\n:_FillValue = -9s\n:missing_value = -9s\nstring s\n:_FillValue = \"\"");
    fails(rule, 8, "short t\n:_FillValue = -9", "/t@_FillValue: _FillValue is int32, expected int16");
    fails(
        rule,
        8,
        "float t\n:missing_value = -9.0",
        "/t@missing_value: missing_value is float64, expected float32",
    );
    fails(rule, 8, "float t\n:_FillValue = \"NaN\"", "/t@_FillValue: _FillValue is a text");
}

#[test]
fn valid_ranges_are_two_values() {
    let rule = "cf/valid-range";
    passes(rule, 8, "float t\n:valid_range = 0.f, 1.f\nfloat u\n:valid_min = 0.f");
    fails(rule, 8, "float t\n:valid_range = 0.f", "/t@valid_range: valid_range has 1 values");
    fails(rule, 8, "float t\n:valid_range = 1.f, 0.f", "/t@valid_range: valid_range is 1, 0");
    fails(
        rule,
        8,
        "float t\n:valid_range = 0.f, 1.f\n:valid_max = 1.f",
        "/t@valid_range: valid_range beside valid_max",
    );
    fails(rule, 8, "float t\n:valid_range = \"0 1\"", "/t@valid_range: valid_range is a text");
}

#[test]
fn valid_ranges_of_unsigned_values_are_read_as_such() {
    let unsigned = "short t\n:_Unsigned = \"true\"\n:valid_range = 0s, -6s\n:_FillValue = -1s";
    passes("cf/valid-range", 8, unsigned);
    passes("cf/fill-in-valid-range", 8, unsigned);
    fails(
        "cf/fill-in-valid-range",
        8,
        &unsigned.replace("-1s", "-9s"),
        "/t@_FillValue: _FillValue -9 is within",
    );
}

#[test]
fn fill_values_are_outside_of_the_valid_range() {
    let rule = "cf/fill-in-valid-range";
    passes(
        rule,
        8,
        "float t\n:_FillValue = -9.f\n:valid_min = 0.f\nfloat u\n:_FillValue = -9.f\n:missing_value = -9.f",
    );
    fails(rule, 8, "float t\n:_FillValue = 5.f\n:valid_min = 0.f", "/t@_FillValue: _FillValue 5 is within");
    fails(
        rule,
        8,
        "float t\n:_FillValue = 5.f\n:valid_range = 0.f, 9.f",
        "/t@_FillValue: _FillValue 5 is within",
    );
    fails(
        rule,
        8,
        "float t\n:_FillValue = 5.f\n:missing_value = 6.f",
        "/t@missing_value: missing_value is 6",
    );
}

#[test]
fn actual_ranges_are_those_of_the_values() {
    let rule = "cf/actual-range";
    let t = |attributes: &str| format!("dim x 4\nfloat t(x)\n{attributes}\n= 1 2.5 -9 4");
    passes(rule, 8, &t(":actual_range = 1.f, 4.f\n:_FillValue = -9.f"));
    passes(rule, 8, &t(":actual_range = 1.f, 2.5f\n:valid_range = 0.f, 3.f"));
    fails(rule, 8, &t(":actual_range = 1.f, 4.f"), "/t@actual_range: actual_range is 1, 4, expected -9, 4");
    fails(rule, 8, &t(":actual_range = 1.f"), "/t@actual_range: actual_range is 1 values");
    let infinite = "dim x 2\nfloat t(x)\n:actual_range = 0.f, 1.f\n= 0 inf";
    fails(rule, 8, infinite, "/t@actual_range: actual_range is 0, 1, expected 0, inf");
    fails(
        rule,
        8,
        &t(":actual_range = -9.0, 4.0"),
        "/t@actual_range: actual_range is float64, expected float32",
    );
    passes(rule, 6, &t(":actual_range = 1.f, 4.f"));
    let packed =
        "dim x 2\nshort p(x)\n:scale_factor = -0.5\n:add_offset = 1.0\n:actual_range = 0.0, 0.5\n= 1 2";
    passes(rule, 8, packed);
    let missing = "dim x 2\nshort p(x)\n:_FillValue = 1s\n:actual_range = 1s, 1s\n= 1 1";
    fails(rule, 8, missing, "/p@actual_range: actual_range of a variable whose values are all missing");
}

#[test]
fn conventions_name_the_version() {
    let rule = "cf/conventions";
    passes(rule, 8, ":Conventions = \"ACDD-1.3, CF-1.8\"");
    fails(rule, 8, "float t", "/: no attribute Conventions, expected one with CF-1.8");
    fails(rule, 8, ":Conventions = \"CF-1.7\"", "/@Conventions: Conventions names CF-1.7, expected CF-1.8");
    fails(rule, 8, ":Conventions = \"CF1.8\"", "/@Conventions: Conventions is \"CF1.8\", expected");
    fails(rule, 8, ":Conventions = 1", "/@Conventions: Conventions is int32, expected a single string");
}

#[test]
fn descriptions_are_texts() {
    let rule = "cf/global-text";
    passes(rule, 8, ":title = \"a\"\n:history = \"b\"\nfloat t\n:comment = \"c\"");
    fails(rule, 8, ":title = 1", "/@title: title is int32, expected a text");
    fails(rule, 8, "float t\n:source = 1.0", "/t@source: source is float64");
}

#[test]
fn external_variables_are_not_in_the_file() {
    let rule = "cf/external-variables";
    passes(rule, 8, ":external_variables = \"area volume\"\nfloat t");
    fails(
        rule,
        8,
        ":external_variables = \"area t\"\nfloat t",
        "/@external_variables: external_variables names \"t\"",
    );
    fails(rule, 8, ":external_variables = 1", "/@external_variables: external_variables is int32");
    passes(rule, 6, ":external_variables = \"t\"\nfloat t");
}

#[test]
fn conventions_are_those_of_the_root() {
    let rule = "cf/group-attributes";
    passes(rule, 8, ":Conventions = \"CF-1.8\"\ngroup /g\n:title = \"a\"");
    fails(rule, 8, "group /g\n:Conventions = \"CF-1.8\"", "/g@Conventions: Conventions in a group");
    fails(rule, 8, "group /g\n:external_variables = \"a\"", "/g@external_variables:");
    passes(rule, 7, "group /g\n:Conventions = \"CF-1.8\"");
}

#[test]
fn names_in_attributes_lead_to_variables() {
    let rule = "cf/reference-resolves";
    let groups = "dim x 2
        float a
        group /g
        float b
        group /g/h
        float t(x)
        :coordinates = \"a b ../b /g/b x\"
        group /i
        double x(x)";
    passes(rule, 8, groups);
    fails(
        rule,
        8,
        "float lat\nfloat t\n:coordinates = \"lat lom\"",
        "/t@coordinates: coordinates names \"lom\"",
    );
    fails(
        rule,
        8,
        "float t\n:cell_measures = \"area: areacella\"",
        "/t@cell_measures: cell_measures names \"areacella\"",
    );
    passes(rule, 8, ":external_variables = \"areacella\"\nfloat t\n:cell_measures = \"area: areacella\"");
    fails(
        rule,
        8,
        "float t\n:grid_mapping = \"crs: a\"\nfloat a",
        "/t@grid_mapping: grid_mapping names \"crs\"",
    );
    fails(rule, 8, "float t\n:bounds = \"../u\"\nfloat u", "/t@bounds: bounds names \"../u\"");
    fails(rule, 8, "int i\n:compress = \"x\"", "/i@compress: compress names \"x\", expected a dimension");
    fails(rule, 8, "float t\n:bounds = 1", "/t@bounds: bounds is int32, expected a single string");
    // Geometries were introduced in version 1.8.
    passes(rule, 7, "float t\n:geometry = \"box\"");
    fails(rule, 8, "float t\n:geometry = \"box\"", "/t@geometry: geometry names \"box\"");
}

#[test]
fn limits_of_packed_values_have_their_type() {
    let packed = "short t\n:scale_factor = 0.5\n:valid_min = 0s";
    passes("cf/valid-range", 8, packed);
    fails(
        "cf/valid-range",
        8,
        &packed.replace("0s", "0.0"),
        "/t@valid_min: valid_min is float64, expected int16",
    );
}

#[test]
fn actual_ranges_leave_out_what_is_missing_in_every_type() {
    let rule = "cf/actual-range";
    for (kind, suffix) in [("float", ".f"), ("double", ".0"), ("int", ""), ("short", "s"), ("int64", "L")] {
        let of = |range: &str, more: &str| {
            let range = range.replace('#', suffix);
            format!(
                "dim x 5\n{kind} t(x)\n:actual_range = {range}\n:_FillValue = -9{suffix}{more}\n= 3 -9 1 7 2"
            )
        };
        passes(rule, 8, &of("1#, 7#", ""));
        passes(rule, 8, &of("1#, 3#", &format!("\n:valid_max = 5{suffix}")));
        fails(rule, 8, &of("1#, 3#", ""), "expected 1, 7 as the values are");
    }
    passes(rule, 8, "dim x 3\nfloat t(x)\n:actual_range = 1.f, 2.f\n= NaN 1 2");
    fails(
        rule,
        8,
        "dim x 2\nfloat t(x)\n:actual_range = 1.f, 2.f\n= NaN NaN",
        "whose values are all missing",
    );
    passes(rule, 8, "dim x 2\ndouble t(x)\n:actual_range = -1e300, 1e300\n= -1e300 1e300");
    passes(rule, 8, "dim x 2\nfloat t(x)\n:valid_min = 0.1\n:actual_range = 1.f, 1.f\n= 0.05 1");
}
