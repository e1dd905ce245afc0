//! Chapter 7, Data Representative of Cells.

use crate::cdl::Cdl;

/// A field on latitudes and times, followed by `edit`.
fn grid(edit: &str) -> Cdl {
    Cdl::new(&format!("{GRID}{edit}"))
}

/// The dataset of `text` with the first `from` replaced by `to`.
fn changed(text: &str, from: &str, to: &str) -> Cdl {
    assert!(text.contains(from), "{from}");
    Cdl::new(&text.replacen(from, to, 1))
}

const GRID: &str = "
    dim time 2
    dim lat 3
    dim nv 2
    double time(time)
      :units = \"days since 2000-01-01\"
      :standard_name = \"time\"
      :bounds = \"time_bnds\"
      = 0.5 1.5
    double time_bnds(time, nv)
      = 0 1 1 2
    float lat(lat)
      :units = \"degrees_north\"
      :standard_name = \"latitude\"
      :bounds = \"lat_bnds\"
      = 30 0 -30
    float lat_bnds(lat, nv)
      = 45 15 15 -15 -15 -45
    float height
      :units = \"m\"
      :positive = \"up\"
    float tas(time, lat)
      :units = \"K\"
      :standard_name = \"air_temperature\"
      :coordinates = \"height\"
      :cell_methods = \"area: mean time: mean height: point\"
";

#[test]
fn a_boundary_variable_has_the_dimensions_of_its_coordinate_and_vertices() {
    for minor in 6..14 {
        assert_eq!(grid("").of_rule("cf/bounds", minor), [""; 0]);
    }
    let of = |from, to| changed(GRID, from, to).of_rule("cf/bounds", 8);
    assert_eq!(
        of("float lat_bnds(lat, nv)\n      = 45 15 15 -15 -15 -45", "float lat_bnds(lat)"),
        ["/lat_bnds: dimensions lat, expected those of lat, lat, and one more for the vertices"]
    );
    assert_eq!(
        of("float lat_bnds(lat, nv)\n      = 45 15 15 -15 -15 -45", "float lat_bnds(lat, lat)"),
        ["/lat_bnds: 3 vertices, expected 2 as lat is a coordinate variable"]
    );
    assert_eq!(of("double time_bnds(time, nv)\n      = 0 1 1 2", "char time_bnds(time, nv)").len(), 1);
    assert_eq!(
        of(":bounds = \"time_bnds\"", ":bounds = 1"),
        ["/time@bounds: bounds is int32, expected the name of one variable"]
    );
    assert_eq!(
        of(":bounds = \"time_bnds\"", ":bounds = \"time_bnds lat_bnds\"")[0],
        "/time@bounds: bounds is 2 names, expected the name of one variable"
    );
    // Another rule reports a variable that does not exist.
    assert_eq!(of(":bounds = \"time_bnds\"", ":bounds = \"other\""), [""; 0]);
}

#[test]
fn cells_in_a_plane_have_more_than_two_vertices_since_1_12() {
    let text = "
        dim j 2
        dim i 2
        dim nv 2
        dim corner 4
        float lat(j, i)
          :bounds = \"lat_bnds\"
        float lon(j, i)
          :bounds = \"lon_bnds\"
        float lat_bnds(j, i, nv)
        float lon_bnds(j, i, corner)
        float tos(j, i)
          :coordinates = \"lat lon\"";
    let cdl = Cdl::new(text);
    assert_eq!(cdl.of_rule("cf/bounds", 11), [""; 0]);
    assert_eq!(
        cdl.of_rule("cf/bounds", 12),
        ["/lat_bnds: 2 vertices, expected more than 2 as lat has 2 dimensions"]
    );
}

#[test]
fn bounds_are_in_the_order_of_their_coordinate() {
    let cdl = changed(GRID, "= 45 15 15 -15 -15 -45", "= 15 45 -15 15 -15 -45");
    assert_eq!(
        cdl.of_rule("cf/bounds", 6),
        [
            "/lat_bnds: bounds of 2 cells in the other order, the first at 0, expected the order of lat, which decreases"
        ]
    );
    // Two equal bounds are a cell without extent.
    let cdl = changed(GRID, "= 0 1 1 2", "= 1 1 1 1");
    assert_eq!(cdl.of_rule("cf/bounds", 13), [""; 0]);
}

#[test]
fn attributes_of_bounds_agree_with_those_of_the_coordinate() {
    let rule = "cf/bounds-attributes";
    for minor in 6..14 {
        assert_eq!(grid("").of_rule(rule, minor), [""; 0]);
    }
    let with = |attribute: &str| {
        let to = format!("double time_bnds(time, nv)\n {attribute}\n");
        changed(GRID, "double time_bnds(time, nv)\n", &to)
    };
    let units = with(":units = \"hours since 2000-01-01\"");
    assert_eq!(
        units.of_rule(rule, 6),
        [
            "/time_bnds@units: units is \"hours since 2000-01-01\", expected \"days since 2000-01-01\" as time has"
        ]
    );
    assert_eq!(units.of_rule(rule, 13).len(), 1);
    // A different spelling of the same unit is accepted, but since 1.11 the spelling must be the same.
    let same = with(":units = \"day since 2000-1-1\"");
    assert_eq!(same.of_rule(rule, 10), [""; 0]);
    assert_eq!(same.of_rule(rule, 11).len(), 1);
    let name = with(":long_name = \"bounds of time\"");
    assert_eq!(name.of_rule(rule, 10), [""; 0]);
    assert_eq!(
        name.of_rule(rule, 11),
        ["/time_bnds@long_name: long_name of a boundary variable whose coordinate time has none"]
    );
    let calendar = Cdl::new(
        &GRID
            .replacen(":bounds = \"time_bnds\"", ":bounds = \"time_bnds\"\n:calendar = \"standard\"", 1)
            .replacen(
                "double time_bnds(time, nv)\n",
                "double time_bnds(time, nv)\n:calendar = \"noleap\"\n",
                1,
            ),
    );
    assert_eq!(calendar.of_rule(rule, 6), [""; 0]);
    assert_eq!(calendar.of_rule(rule, 7).len(), 1);
    let degrees =
        changed(GRID, "float lat_bnds(lat, nv)\n", "float lat_bnds(lat, nv)\n:units = \"degrees\"\n");
    assert_eq!(degrees.of_rule(rule, 6).len(), 1);
}

const LEVELS: &str = "
    dim lev 2
    dim nv 2
    float lev(lev)
      :standard_name = \"atmosphere_hybrid_sigma_pressure_coordinate\"
      :formula_terms = \"a: a b: b ps: ps p0: p0\"
      :bounds = \"lev_bnds\"
    float lev_bnds(lev, nv)
      :formula_terms = \"a: a_bnds b: b_bnds ps: ps p0: p0\"
    float a(lev)
    float b(lev)
    float a_bnds(lev, nv)
    float b_bnds(lev, nv)
    float ps
    float p0
";

#[test]
fn bounds_of_a_parametric_coordinate_have_terms_since_1_7() {
    let rule = "cf/bounds-attributes";
    assert_eq!(Cdl::new(LEVELS).of_rule(rule, 7), [""; 0]);
    assert_eq!(Cdl::new(LEVELS).of_rule(rule, 13), [""; 0]);
    let own = ":formula_terms = \"a: a_bnds b: b_bnds ps: ps p0: p0\"";
    let without = changed(LEVELS, own, "");
    assert_eq!(without.of_rule(rule, 6), [""; 0]);
    assert_eq!(
        without.of_rule(rule, 7),
        ["/lev_bnds: no formula_terms, expected some as the coordinate lev has"]
    );
    let same = changed(LEVELS, own, ":formula_terms = \"a: a b: b_bnds ps: p0\"");
    assert_eq!(same.of_rule(rule, 8).len(), 3, "{:?}", same.of_rule(rule, 8));
}

#[test]
fn coordinates_are_within_their_bounds() {
    let rule = "cf/bounds-contain";
    assert_eq!(grid("").of_rule(rule, 6), [""; 0]);
    assert_eq!(
        changed(GRID, "= 30 0 -30", "= 30 20 -30").of_rule(rule, 6),
        ["/lat: 1 values outside of their bounds in lat_bnds, the first at 1, expected all within"]
    );
    assert_eq!(changed(GRID, "= 0.5 1.5", "= 2.5 3.5").of_rule(rule, 13).len(), 1);
    // A value on a bound, and a missing value.
    assert_eq!(changed(GRID, "= 0.5 1.5", "= 1 2").of_rule(rule, 13), [""; 0]);
    assert_eq!(changed(GRID, "= 0.5 1.5", "= NaN 2").of_rule(rule, 13), [""; 0]);
}

#[test]
fn longitudes_may_cross_the_end_of_the_circle() {
    let text = "
        dim lon 3
        dim nv 2
        float lon(lon)
          :units = \"degrees_east\"
          :bounds = \"lon_bnds\"
          = 0 120 240
        float lon_bnds(lon, nv)
          = 300 60 60 180 180 300";
    assert_eq!(Cdl::new(text).of_rule("cf/bounds-contain", 8), [""; 0]);
    assert_eq!(changed(text, "= 0 120 240", "= 0 120 170").of_rule("cf/bounds-contain", 8).len(), 1);
}

#[test]
fn a_scalar_coordinate_has_bounds_of_two_values() {
    let text = "
        dim nv 2
        float height
          :units = \"m\"
          :bounds = \"height_bnds\"
          = 2
        float height_bnds(nv)
          = 0 4";
    for rule in ["cf/bounds", "cf/bounds-contain"] {
        assert_eq!(Cdl::new(text).of_rule(rule, 13), [""; 0]);
    }
    assert_eq!(changed(text, "= 0 4", "= 3 4").of_rule("cf/bounds-contain", 8).len(), 1);
}

#[test]
fn measures_are_areas_or_volumes_of_the_cells() {
    let rule = "cf/cell-measures";
    let text = "
        dim lat 2
        dim lon 2
        dim time 2
        float area(lat, lon)
          :units = \"km2\"
          :standard_name = \"cell_area\"
        float tas(time, lat, lon)
          :cell_measures = \"area: area\"";
    for minor in 6..14 {
        assert_eq!(Cdl::new(text).of_rule(rule, minor), [""; 0]);
    }
    let of = |from, to| changed(text, from, to).of_rule(rule, 8);
    assert_eq!(
        of("\"area: area\"", "\"surface: area\""),
        ["/tas@cell_measures: measure \"surface\", expected area or volume"]
    );
    assert_eq!(
        of("\"area: area\"", "\"area\""),
        ["/tas@cell_measures: \"area\" in cell_measures, expected pairs \"measure: name\""]
    );
    assert_eq!(of("\"area: area\"", "1").len(), 1);
    assert_eq!(of("\"area: area\"", "\"area: \"").len(), 1);
    assert_eq!(
        of("\"km2\"", "\"m\""),
        ["/area@units: area has units \"m\", expected units convertible to m2"]
    );
    assert_eq!(of(":units = \"km2\"", "").len(), 1);
    assert_eq!(
        of("tas(time, lat, lon)", "tas(time, lat)"),
        ["/tas@cell_measures: measure area has dimensions lat, lon, expected some of time, lat"]
    );
    // A variable in another file cannot be checked.
    let external =
        format!(":external_variables = \"areacella\"\n{}", text.replace("area: area", "area: areacella"));
    assert_eq!(Cdl::new(&external).of_rule(rule, 7), [""; 0]);
}

#[test]
fn methods_that_are_written_well_are_not_reported() {
    let rule = "cf/cell-methods";
    for text in [
        "area: mean time: mean height: point",
        "time: lat: mean",
        "time: mean (interval: 1 hr comment: sampled (twice) a day) area: mean",
        "lat: time: standard_deviation (interval: 0.1 degree_N interval: 1 day)",
        "area: mean where land time: mean (with samples weighted by snow mass)",
        "area: mean where sea_ice over sea time: mean",
        "area: mean time: maximum within days time: mean over days time: mean over years",
        "time: mean over years (ENSO years)",
        "longitude: mean area: sum",
        "",
    ] {
        let cdl = changed(GRID, "area: mean time: mean height: point", text);
        for minor in [6, 13] {
            assert_eq!(cdl.of_rule(rule, minor), [""; 0], "{text}");
        }
    }
}

#[test]
fn methods_that_are_not_written_well_are_reported() {
    let of =
        |text: &str| changed(GRID, "area: mean time: mean height: point", text).of_rule("cf/cell-methods", 8);
    assert_eq!(of("time: average"), ["/tas@cell_methods: method \"average\", expected one of Appendix E"]);
    assert_eq!(
        of("depths: mean"),
        ["/tas@cell_methods: \"depths\", expected a dimension, a scalar coordinate, a standard name or area"]
    );
    assert_eq!(of("area mean"), ["/tas@cell_methods: \"area\", expected a name with a colon"]);
    assert_eq!(of("time: mean time: maximum"), ["/tas@cell_methods: \"time\" has two methods, expected one"]);
    assert_eq!(of("time: mean (interval: 1 fortnite)").len(), 1);
    assert_eq!(of("time: mean (interval: day)").len(), 1);
    assert_eq!(
        of("time: mean (interval: 1 hr interval: 2 hr)"),
        ["/tas@cell_methods: 2 intervals of 1 names, expected one, or one of each name"]
    );
    assert_eq!(of("area: mean where moon").len(), 1);
    assert_eq!(of("time: mean within hours").len(), 1);
    assert_eq!(of("time: mean (interval: 1 hr height: point").len(), 1);
    assert_eq!(of("time: mean lat:").len(), 1);
    assert_eq!(
        changed(GRID, "\"area: mean time: mean height: point\"", "1").of_rule("cf/cell-methods", 8),
        ["/tas@cell_methods: cell_methods is int32, expected a single string"]
    );
}

#[test]
fn a_version_has_the_methods_that_it_lists() {
    let cdl = |text| changed(GRID, "area: mean time: mean height: point", text);
    let of = |text, minor| cdl(text).of_rule("cf/cell-methods", minor).len();
    assert_eq!((of("time: range", 6), of("time: range", 7)), (1, 0));
    assert_eq!((of("time: anomaly_wrt norm", 12), of("time: anomaly_wrt norm", 13)), (1, 1));
    let named = changed(
        GRID,
        ":cell_methods = \"area: mean time: mean height: point\"",
        ":cell_methods = \"time: anomaly_wrt norm\"\n:ancillary_variables = \"norm\"\nfloat norm",
    );
    assert_eq!(named.of_rule("cf/cell-methods", 13), [""; 0]);
}

#[test]
fn a_long_text_takes_no_long_time() {
    let begin = std::time::Instant::now();
    for part in ["a:", "time: mean ", "(", "time: mean (interval: 1 m ", "x ", "interval: 1 m "] {
        let text = format!("time: mean ({}", part.repeat(1_000_000 / part.len()));
        changed(GRID, "area: mean time: mean height: point", &text).of_rule("cf/cell-methods", 13);
        let text = part.repeat(1_000_000 / part.len());
        changed(GRID, "area: mean time: mean height: point", &text).of_rule("cf/cell-methods", 13);
        let text = format!("time: mean ({text})");
        changed(GRID, "area: mean time: mean height: point", &text).of_rule("cf/cell-methods", 13);
    }
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}

const CLIMATOLOGY: &str = "
    dim time 2
    dim lat 2
    dim nv 2
    double time(time)
      :units = \"days since 2000-01-01\"
      :climatology = \"bounds\"
    double bounds(time, nv)
    float lat(lat)
      :units = \"degrees_north\"
    float pr(time, lat)
      :cell_methods = \"time: mean within years time: mean over years\"
";

#[test]
fn a_climatology_belongs_to_a_time_coordinate() {
    let rule = "cf/climatology";
    for minor in 6..14 {
        assert_eq!(Cdl::new(CLIMATOLOGY).of_rule(rule, minor), [""; 0]);
    }
    let of = |from, to| changed(CLIMATOLOGY, from, to).of_rule(rule, 8);
    assert_eq!(of("\"degrees_north\"", "\"degrees_north\"\n:climatology = \"bounds\"").len(), 2);
    assert_eq!(
        of("bounds(time, nv)", "bounds(time, nv)\n:_FillValue = -1.0"),
        ["/bounds@_FillValue: _FillValue of a climatology boundary variable, expected none"]
    );
    assert_eq!(of("bounds(time, nv)", "bounds(time, nv)\n:units = \"days since 1990-01-01\"").len(), 1);
    assert_eq!(of("bounds(time, nv)", "bounds(time)").len(), 1);
    assert_eq!(of("double bounds(time, nv)", "dim three 3\ndouble bounds(time, three)").len(), 1);
    assert_eq!(of("double bounds", "char bounds").len(), 1);
    assert_eq!(of(":climatology = \"bounds\"", ":climatology = 1").len(), 1);
    assert_eq!(of(":climatology = \"bounds\"", ":climatology = \"bounds\"\n:bounds = \"bounds\"").len(), 1);
}

const BASINS: &str = "
    dim basin 2
    dim part 3
    dim node 11
    double x(node)
      :axis = \"X\"
      = 0 10 10 0 2 4 4 20 30 30 20
    double y(node)
      :axis = \"Y\"
      = 0 0 10 10 2 4 2 0 0 10 10
    int node_count(basin)
      = 7 4
    int part_node_count(part)
      = 4 3 4
    int interior_ring(part)
      = 0 1 0
    float lat(basin)
      :nodes = \"y\"
    int basins
      :geometry_type = \"polygon\"
      :node_count = \"node_count\"
      :node_coordinates = \"x y\"
      :part_node_count = \"part_node_count\"
      :interior_ring = \"interior_ring\"
    float flow(basin)
      :geometry = \"basins\"
      :coordinates = \"lat\"
";

#[test]
fn a_geometry_names_its_nodes() {
    let rule = "cf/geometry";
    for minor in 8..14 {
        assert_eq!(Cdl::new(BASINS).of_rule(rule, minor), [""; 0]);
    }
    let of = |from, to| changed(BASINS, from, to).of_rule(rule, 8);
    assert_eq!(
        of("\"polygon\"", "\"curve\""),
        ["/basins@geometry_type: geometry_type \"curve\", expected point, line or polygon"]
    );
    assert_eq!(changed(BASINS, "\"polygon\"", "\"curve\"").of_rule(rule, 7), [""; 0]);
    assert_eq!(of("\"polygon\"", "\"Polygon\""), [""; 0]);
    assert_eq!(of(":geometry_type = \"polygon\"", "").len(), 1);
    assert_eq!(
        of(":node_coordinates = \"x y\"", ""),
        [
            "/basins: a geometry container without node_coordinates, expected some",
            "/lat@nodes: nodes names y, expected a node coordinate of a geometry",
        ]
    );
    assert_eq!(of(":axis = \"X\"", "").len(), 1);
    assert_eq!(of(":axis = \"X\"", ":axis = \"y\"").len(), 1);
    assert_eq!(of(":part_node_count = \"part_node_count\"", "").len(), 1);
    assert_eq!(
        of("int interior_ring(part)", "int interior_ring(basin)\n:a = 1\nint other(part)")[0],
        "/interior_ring: dimension basin, expected part as part_node_count has"
    );
    assert_eq!(of("flow(basin)", "flow(part)").len(), 1);
    assert_eq!(of(":geometry = \"basins\"", ":geometry = 1").len(), 1);
    assert_eq!(of("int basins", "int basins\n:grid_mapping = \"crs\"").len(), 1);
    assert_eq!(of("double y(node)", "double y(part)")[0], "/y: dimension part, expected node as x has");
}

#[test]
fn nodes_are_as_many_as_the_geometries_have() {
    let of = |from, to| changed(BASINS, from, to).of_rule("cf/geometry", 8);
    assert_eq!(
        of("= 7 4", "= 7 5"),
        [
            "/node_count: a sum of 12 nodes, expected 11 as there are nodes",
            "/part_node_count: a sum of 11 nodes, expected 12 as the geometries have",
        ]
    );
    assert_eq!(
        of("= 4 3 4", "= 5 2 4"),
        ["/part_node_count: 2 nodes in part 1, expected at least 3 of a polygon"]
    );
    assert_eq!(
        of("= 0 1 0", "= 0 2 0"),
        ["/interior_ring: value 2 at 1, expected 0 of an exterior and 1 of an interior ring"]
    );
    assert_eq!(of("= 4 3 4", "= 4 3 3").len(), 1);
}

#[test]
fn rings_have_a_direction() {
    let of = |from, to| changed(BASINS, from, to).of_rule("cf/geometry", 8);
    // A hole with the direction of an exterior ring, and an exterior ring with that of a hole.
    assert_eq!(
        of("= 0 1 0", "= 0 0 0"),
        [
            "/basins@node_coordinates: 1 rings in the wrong direction, the first at 1: an exterior ring is clockwise, \
         expected anticlockwise"
        ]
    );
    assert_eq!(of("= 0 1 0", "= 1 1 0").len(), 1);
    // Rings without a direction: all nodes on one line, or a node is missing.
    assert_eq!(of("= 0 0 10 10 2 4 2", "= 0 0 0 0 2 4 2"), [""; 0]);
    assert_eq!(of("= 0 0 10 10 2 4 2", "= 0 0 NaN 10 2 4 2"), [""; 0]);
}

#[test]
fn long_coordinates_are_compared_part_by_part() {
    let count = 70_000;
    let values = |last: f64| {
        let points: Vec<String> =
            (0..count).map(|at| if at == count - 1 { last } else { f64::from(at) }.to_string()).collect();
        let ends: Vec<String> = (0..count).map(|at| format!("{at} {}", f64::from(at) + 0.5)).collect();
        format!(
            "dim x {count}\ndim v 2\ndouble x(x)\n:bounds = \"b\"\n= {}\ndouble b(x, v)\n= {}",
            points.join(" "),
            ends.join(" ")
        )
    };
    let found = |last: f64| Cdl::new(&values(last)).of_rule("cf/bounds-contain", 8);
    assert_eq!(found(69_999.0), Vec::<String>::new());
    let outside = found(70_000.0);
    assert!(matches!(outside.as_slice(), [one] if one.contains("the first at 69999")), "{outside:?}");
}
