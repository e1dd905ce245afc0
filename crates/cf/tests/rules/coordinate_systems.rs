//! Chapter 5, Coordinate Systems and Domain.

use super::{fails, passes};

#[test]
fn dimension_has_coordinate() {
    let rule = "cf/dimension-has-coordinate";
    let with = |coordinates: &str| {
        format!(
            "dim time 3\ndim n 2\ndouble t(time)\n:units = \"days since 2000-01-01\"
             float lat(time)\n:units = \"degrees_north\"\nfloat lon(time, n)\n:units = \"degrees_east\"
             float u(time, n)\n:coordinates = \"{coordinates}\""
        )
    };
    fails(rule, 6, &with("t"), "/t: the only coordinate along dimension time is an auxiliary one");
    fails(rule, 6, &with("lat"), "/lat: the only coordinate along dimension time");
    // Samples along a track and scan lines have several coordinates.
    passes(rule, 6, &with("t lat"));
    passes(rule, 6, &with("t lon"));
    passes(rule, 6, &format!(":featureType = \"timeSeries\"\n{}", with("t")));
    passes(
        rule,
        6,
        "dim time 3\ndouble time(time)\nfloat t(time)\n:axis = \"T\"\nfloat u(time)\n:coordinates = \"t\"",
    );
}

#[test]
fn coordinate_monotonic() {
    let rule = "cf/coordinate-monotonic";
    let of = |kind: &str, values: &str| format!("dim x 4\n{kind} x(x)\n= {values}");
    passes(rule, 6, &of("double", "1 2 3 4"));
    passes(rule, 6, &of("int", "4 3 2 -1"));
    passes(
        rule,
        6,
        &of("int64", "9223372036854775804 9223372036854775805 9223372036854775806 9223372036854775807"),
    );
    passes(rule, 6, "dim x 4\nfloat y(x)\n= 1 1 1 1");
    passes(rule, 6, "dim x 4\nbyte x(x)\n:_Unsigned = \"true\"\n= 126 127 -128 -127");
    fails(rule, 6, &of("double", "1 2 2 4"), "/x: values 2 at 1 and 2 at 2, expected values that increase");
    fails(rule, 6, &of("short", "4 3 5 1"), "values 3 at 1 and 5 at 2, expected values that decrease");
    fails(rule, 6, &of("float", "1 1 2 3"), "values 1 at 0 and 1 at 1, expected different values");
    fails(rule, 6, &of("float", "1 NaN 2 3"), "value NaN at 1 is a missing one");
    fails(rule, 6, "dim x 3\nint x(x)\n:_FillValue = -9\n= 1 2 -9", "value -9 at 2 is a missing one");
}

#[test]
fn coordinate_no_missing() {
    let rule = "cf/coordinate-no-missing";
    passes(rule, 6, "dim x 2\nfloat x(x)\nfloat y(x)\n:_FillValue = 1.f");
    fails(
        rule,
        6,
        "dim x 2\nfloat x(x)\n:_FillValue = 1.f",
        "/x@_FillValue: _FillValue at a coordinate variable",
    );
    fails(rule, 6, "dim x 2\nfloat x(x)\n:missing_value = 1.f", "/x@missing_value");
}

#[test]
fn coordinates_dimensions() {
    let rule = "cf/coordinates-dimensions";
    let with = |rest: &str| {
        format!("dim x 2\ndim y 3\ndim z 4\nfloat a(y, x)\nfloat b(z)\nfloat c(x, z)\nfloat s\n{rest}")
    };
    passes(rule, 6, &with("float u(z, y, x)\n:coordinates = \"a b c s\""));
    fails(
        rule,
        6,
        &with("float u(y, x)\n:coordinates = \"a b\""),
        "/u@coordinates: coordinate b has the dimension z",
    );
    fails(rule, 6, &with("float u(y, x)\n:coordinates = \"c\""), "coordinate c has the dimension z");
    fails(rule, 6, &with("float u(y, x)\n:coordinates = 1"), "expected a text of names");
    // Compression by gathering, and ragged arrays.
    passes(rule, 6, &with("dim p 5\nint p(p)\n:compress = \"y x\"\nfloat u(p)\n:coordinates = \"a\""));
    passes(
        rule,
        6,
        &with("dim obs 9\nint n(z)\n:sample_dimension = \"obs\"\nfloat u(obs)\n:coordinates = \"b\""),
    );
    passes(
        rule,
        6,
        &with("dim obs 9\nint n(obs)\n:instance_dimension = \"z\"\nfloat u(obs)\n:coordinates = \"b\""),
    );
}

#[test]
fn coordinates_of_ragged_arrays_of_two_levels() {
    let text = "dim station 2\ndim profile 3\ndim obs 9\nfloat lat(station)
        int index(profile)\n:instance_dimension = \"station\"\nint size(profile)\n:sample_dimension = \"obs\"
        float u(obs)\n:coordinates = \"lat\"";
    passes("cf/coordinates-dimensions", 6, text);
}

#[test]
fn horizontal_coordinates() {
    let rule = "cf/horizontal-coordinates";
    let with = |names: &str, attributes: &str| {
        let [y, x] = [0, 1].map(|at| names.split(' ').nth(at).unwrap());
        format!(
            "dim x 2\ndim y 2\ndouble x(x)\n{x}\ndouble y(y)\n{y}\nint crs\n:grid_mapping_name = \"sinusoidal\"
             float lat(y, x)\n:units = \"degrees_north\"\nfloat lon(y, x)\n:standard_name = \"longitude\"
             float s\nfloat u(y, x)\n{attributes}"
        )
    };
    let projected = |attributes: &str| {
        let name = |axis: &str| format!(":standard_name=\"projection_{axis}_coordinate\"");
        with(&format!("{} {}", name("y"), name("x")), attributes)
    };
    let rotated = |attributes: &str| {
        with(":standard_name=\"grid_latitude\" :standard_name=\"grid_longitude\"", attributes)
    };
    for minor in 6..14 {
        passes(rule, minor, &projected(":coordinates = \"lat lon\""));
        passes(rule, minor, &rotated(":coordinates = \"lon s lat\"\n:grid_mapping = \"crs\""));
        fails(
            rule,
            minor,
            &projected(""),
            "/u: coordinates of data on y and x name no latitude or longitude, expected",
        );
        fails(
            rule,
            minor,
            &rotated(":coordinates = \"lat\""),
            "/u: coordinates of data on y and x name no longitude,",
        );
        fails(
            rule,
            minor,
            &rotated(":coordinates = \"lon s\""),
            "/u: coordinates of data on y and x name no latitude,",
        );
        fails(rule, minor, &with(":axis=\"Y\" :axis=\"X\"", ""), "name no latitude or longitude, expected");
    }
    // Since 1.8, a grid mapping also suffices.
    for minor in [6, 7] {
        fails(rule, minor, &projected(":grid_mapping = \"crs\""), "name no latitude or longitude, expected");
    }
    for minor in 8..14 {
        passes(rule, minor, &projected(":grid_mapping = \"crs\""));
        passes(rule, minor, &projected(":grid_mapping = \"crs: x y\""));
    }
    // Latitudes and longitudes themselves, even with wrong units; data that are not on a grid; faults that other rules
    // report.
    passes(rule, 6, &with(":units=\"degrees_north\" :units=\"degrees_east\"", ""));
    passes(rule, 6, &with(":standard_name=\"latitude\" :standard_name=\"longitude\"", ""));
    passes(rule, 6, &projected("").replace("u(y, x)", "u(x)"));
    passes(rule, 6, &projected("").replace("u(y, x)", "u"));
    passes(rule, 6, &projected(":coordinates = 1"));
    passes(rule, 6, &projected(":coordinates = \"lat longitude\""));
    passes(rule, 9, &projected(":coordinate_interpolation = \"lat: lon: s\""));
}

fn mapped(grid_mapping: &str, attributes: &str) -> String {
    format!(
        "dim x 2\ndim y 2\nfloat x(x)\nfloat y(y)\nfloat lat(y, x)\nfloat lon(y, x)\nint crs\n{attributes}
         float u(y, x)\n:coordinates = \"lat\"\n:grid_mapping = {grid_mapping}"
    )
}

const PLAIN: &str = ":grid_mapping_name = \"latitude_longitude\"";

#[test]
fn grid_mapping() {
    let rule = "cf/grid-mapping";
    passes(rule, 6, &mapped("\"crs\"", PLAIN));
    passes(rule, 7, &mapped("\"crs: x y lat\"", PLAIN));
    fails(rule, 6, &mapped("\"crs: x y\"", PLAIN), "/u@grid_mapping: grid_mapping with a colon");
    fails(
        rule,
        7,
        &mapped("\"crs: x y lat lon\"", PLAIN),
        "grid_mapping names lon, expected a coordinate variable",
    );
    fails(rule, 7, &mapped("\"crs: other: x y\"", PLAIN), "no coordinates behind \"crs\"");
    fails(rule, 7, &mapped("\"crs x: y\"", PLAIN), "grid_mapping has \"crs\", expected a name with a colon");
    fails(rule, 6, &mapped("\"crs x\"", PLAIN), "grid_mapping has 2 names");
    fails(rule, 6, &mapped("1", PLAIN), "expected the name of a variable");
    fails(rule, 6, &mapped("\"crs\"", ""), "/crs: a grid mapping variable without grid_mapping_name");
    fails(rule, 6, &mapped("\"crs\"", ":grid_mapping_name = \"lambert\""), "expected one of Appendix F");
    let later = ":grid_mapping_name = \"sinusoidal\"";
    fails(rule, 6, &mapped("\"crs\"", later), "it came with CF 1.7");
    passes(rule, 7, &mapped("\"crs\"", later));
}

#[test]
fn grid_mapping_parameters() {
    let rule = "cf/grid-mapping-parameters";
    let conic = |rest: &str| {
        format!(
            "int crs\n:grid_mapping_name = \"lambert_conformal_conic\"\n:longitude_of_central_meridian = 5.0
             :latitude_of_projection_origin = 50.0\n{rest}"
        )
    };
    passes(rule, 6, &conic(":standard_parallel = 40.0, 60.0\n:earth_radius = 6371000.0"));
    fails(rule, 6, &conic(""), "/crs: lambert_conformal_conic without standard_parallel");
    fails(
        rule,
        6,
        &conic(":standard_parallel = 40.0, 50.0, 60.0"),
        "standard_parallel has 3 values, expected 1 to 2",
    );
    fails(rule, 6, &conic(":standard_parallel = \"40\""), "standard_parallel is a text, expected a number");
    let datum = conic(":standard_parallel = 40.0\n:horizontal_datum_name = \"WGS_1984\"");
    passes(rule, 6, &datum);
    fails(
        rule,
        7,
        &datum,
        "horizontal_datum_name without reference_ellipsoid_name, prime_meridian_name, geographic_crs_name",
    );
    let projected = conic(":standard_parallel = 40.0\n:projected_crs_name = \"a\"");
    passes(rule, 6, &projected);
    fails(rule, 7, &projected, "projected_crs_name without geographic_crs_name");
    let wkt = "int crs\n:grid_mapping_name = \"latitude_longitude\"\n:crs_wkt = 1";
    passes(rule, 6, wkt);
    fails(rule, 7, wkt, "/crs@crs_wkt: crs_wkt is ");
}

#[test]
fn parameters_of_alternatives() {
    let rule = "cf/grid-mapping-parameters";
    let polar = |rest: &str| {
        format!(
            "int crs\n:grid_mapping_name = \"polar_stereographic\"\n:latitude_of_projection_origin = 90.0
             :standard_parallel = 70.0\n{rest}"
        )
    };
    passes(rule, 13, &polar(":straight_vertical_longitude_from_pole = 0.0"));
    passes(rule, 13, &polar(":longitude_of_projection_origin = 0.0"));
    fails(rule, 10, &polar(""), "without straight_vertical_longitude_from_pole, expected");
    fails(rule, 11, &polar(""), "without longitude_of_projection_origin, expected");
    let cells = |rest: &str| format!("int crs\n:grid_mapping_name = \"healpix\"\n{rest}");
    passes(rule, 13, &cells(":indexing_scheme = \"nested\"\n:refinement_level = 5"));
    passes(rule, 13, &cells(":indexing_scheme = \"nuniq\""));
    passes(rule, 12, &cells(":indexing_scheme = \"nested\""));
    fails(rule, 13, &cells(":indexing_scheme = \"nested\""), "without refinement_level");
    fails(rule, 13, &cells(":indexing_scheme = \"zuniq\"\n:refinement_level = 5"), "expected none");
    fails(rule, 13, &cells(":indexing_scheme = \"ring\"\n:refinement_level = 30"), "from 0 to 29");
}
