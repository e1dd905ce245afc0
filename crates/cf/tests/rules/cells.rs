//! Chapter 7.

use super::{fails, passes};

const LAT: &str = "dim lat 3
    dim v 2
    double lat(lat)
    :standard_name = \"latitude\"
    :units = \"degrees_north\"
    :bounds = \"lat_bnds\"
    = -30 0 30
    ";

fn lat(bounds: &str) -> String {
    format!("{LAT}{bounds}")
}

const VALID: &str = "double lat_bnds(lat, v)\n= -45 -15 -15 15 15 45";

#[test]
fn boundary_variables_have_the_dimensions_of_their_coordinate() {
    let rule = "cf/bounds";
    passes(rule, 8, &lat(VALID));
    fails(rule, 8, &lat("double lat_bnds(v, lat)"), "/lat_bnds: dimensions v, lat, expected those of lat");
    fails(rule, 8, &lat("dim four 4\ndouble lat_bnds(lat, four)"), "/lat_bnds: 4 vertices, expected 2");
    fails(rule, 8, &lat("char lat_bnds(lat, v)"), "/lat_bnds: boundary variable of");
    fails(
        rule,
        8,
        "dim v 2\nfloat x\n:bounds = \"a b\"\nfloat a(v)\nfloat b(v)",
        "/x@bounds: bounds is 2 names",
    );
    // The other order is found by values.
    fails(rule, 8, &lat("double lat_bnds(lat, v)\n= -15 -45 15 -15 45 15"), "in the other order");
}

#[test]
fn boundary_variables_have_the_attributes_of_their_coordinate() {
    let rule = "cf/bounds-attributes";
    passes(rule, 8, &lat(VALID));
    fails(rule, 8, &lat("double lat_bnds(lat, v)\n:units = \"degrees\""), "/lat_bnds@units: units is");
    fails(
        rule,
        8,
        &lat("double lat_bnds(lat, v)\n:units = \"degrees_north\""),
        "which inherits it, expected it at lat only",
    );
    passes(rule, 6, &lat("double lat_bnds(lat, v)\n:units = \"degrees_north\""));
    let named = lat("double lat_bnds(lat, v)\n:long_name = \"bounds\"");
    passes(rule, 10, &named);
    fails(
        rule,
        11,
        &named,
        "/lat_bnds@long_name: long_name of a boundary variable whose coordinate lat has none",
    );
}

#[test]
fn coordinates_are_within_their_bounds() {
    let rule = "cf/bounds-contain";
    passes(rule, 8, &lat(VALID));
    fails(rule, 8, &lat("double lat_bnds(lat, v)\n= -45 -35 -15 15 15 45"), "/lat:");
    fails(rule, 8, &lat("double lat_bnds(lat, v)\n= -45 -15 -15 15 35 45"), "/lat:");
}

#[test]
fn cell_measures_name_a_measure_and_a_variable() {
    let rule = "cf/cell-measures";
    let of = |measure: &str, units: &str, dims: &str| {
        format!(
            "dim x 2\ndim y 2\nfloat u(x)\n:cell_measures = \"{measure}\"\nfloat a({dims})\n:units = \"{units}\""
        )
    };
    passes(rule, 8, &of("area: a", "km2", "x"));
    passes(rule, 8, &of("volume: a", "m3", ""));
    fails(rule, 8, &of("aera: a", "m2", "x"), "/u@cell_measures: measure \"aera\", expected area or volume");
    fails(rule, 8, &of("area: a", "m", "x"), "/a@units");
    fails(rule, 8, &of("area: a", "m2", "y"), "/u@cell_measures: measure a has dimensions y");
    fails(rule, 8, &of("area a", "m2", "x"), "/u@cell_measures: \"area\" in cell_measures, expected pairs");
}

#[test]
fn cell_methods_are_written_by_the_grammar() {
    let rule = "cf/cell-methods";
    let of =
        |methods: &str| format!("dim time 2\ndim lat 2\nfloat u(time, lat)\n:cell_methods = \"{methods}\"");
    passes(
        rule,
        8,
        &of("time: lat: mean (interval: 1 hour comment: of all) area: maximum where land over sea"),
    );
    passes(rule, 8, &of("time: mean within days time: mean over days"));
    passes(rule, 8, &of("height: point"));
    fails(rule, 8, &of("time: avarage"), "/u@cell_methods: method \"avarage\", expected one of Appendix E");
    fails(rule, 8, &of("deep: mean"), "\"deep\", expected a dimension");
    fails(rule, 8, &of("time mean"), "/u@cell_methods:");
    fails(rule, 8, &of("time: mean (interval: 1 fortnite)"), "interval with the unit \"fortnite\"");
    fails(rule, 8, &of("time: mean time: maximum"), "\"time\" has two methods");
    fails(rule, 6, &of("time: range"), "method \"range\", which came with CF-1.7");
    passes(rule, 7, &of("time: range"));
}

#[test]
fn climatologies_are_of_times() {
    let rule = "cf/climatology";
    let of = |attributes: &str, bounds: &str| {
        format!(
            "dim time 2\ndim v 2\ndim w 3\ndouble time(time)\n:units = \"days since 2000-01-01\"
            :climatology = \"c\"\n{attributes}\n{bounds}"
        )
    };
    passes(rule, 8, &of("", "double c(time, v)"));
    fails(rule, 8, &of("", "double c(time, w)"), "/c: 3 vertices, expected 2");
    fails(rule, 8, &of("", "double c(v, time)"), "/c:");
    fails(
        rule,
        8,
        &of("", "double c(time, v)\n:_FillValue = 1.0"),
        "/c@_FillValue: _FillValue of a climatology",
    );
    let lat = "dim x 2\ndim v 2\ndouble x(x)\n:units = \"m\"\n:climatology = \"c\"\ndouble c(x, v)";
    fails(rule, 8, lat, "/x@climatology: climatology of a variable that is no time coordinate");
}

const LINES: &str = "dim i 2
    dim n 5
    double x(n)
    :axis = \"X\"
    double y(n)
    :axis = \"Y\"
    int count(i)
    = 2 3
    int box
    :geometry_type = \"line\"
    :node_coordinates = \"x y\"
    :node_count = \"count\"
    float u(i)
    :geometry = \"box\"";

#[test]
fn geometries_have_nodes() {
    let rule = "cf/geometry";
    passes(rule, 8, LINES);
    fails(
        rule,
        8,
        &LINES.replace("\"line\"", "\"curve\""),
        "/box@geometry_type: geometry_type \"curve\", expected point",
    );
    fails(rule, 8, &LINES.replace(":axis = \"Y\"", ""), "/y: no axis, expected one");
    fails(
        rule,
        8,
        &LINES.replace("= 2 3", "= 1 4"),
        "/count: 1 nodes in geometry 0, expected at least 2 of a line",
    );
    fails(rule, 8, &LINES.replace("= 2 3", "= 2 4"), "/count: a sum of 6 nodes, expected 5");
    passes(rule, 7, &LINES.replace("\"line\"", "\"curve\""));
    let rings = LINES
        .replace(":node_count = \"count\"", ":node_count = \"count\"\n:interior_ring = \"ring\"")
        + "\nint ring(i)";
    fails(rule, 8, &rings, "/box@interior_ring: interior_ring without part_node_count");
}
