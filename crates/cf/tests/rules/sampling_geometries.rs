//! Chapter 9.

use super::{fails, passes};

fn series(feature: &str, role: &str, coordinates: &str) -> String {
    format!(
        ":featureType = \"{feature}\"
        dim station 2
        dim time 3
        double lat(station)
        :units = \"degrees_north\"
        double lon(station)
        :units = \"degrees_east\"
        double time(time)
        :units = \"days since 2000-01-01\"
        string name(station)
        {role}
        float t(station, time)
        :coordinates = \"{coordinates}\""
    )
}

const ROLE: &str = ":cf_role = \"timeseries_id\"";

#[test]
fn feature_types_are_known_and_have_coordinates() {
    let rule = "cf/feature-type";
    passes(rule, 8, &series("timeSeries", ROLE, "lat lon name"));
    passes(rule, 8, &series("TIMESERIES", ROLE, "lat lon name"));
    fails(
        rule,
        8,
        &series("timeserie", ROLE, "lat lon"),
        "/@featureType: featureType is \"timeserie\", expected one of point",
    );
    fails(
        rule,
        8,
        &series("timeSeries", ROLE, "lat name"),
        "/t@coordinates: no coordinate of longitude, expected one",
    );
    fails(rule, 8, &series("point", "", "lat lon"), "/t: coordinates of points along station and time");
    fails(rule, 8, ":featureType = 1", "/@featureType: featureType is int32");
}

#[test]
fn ragged_arrays_have_a_feature_type() {
    let rule = "cf/feature-type";
    let ragged = |kind: &str| format!("dim obs 5\ndim p 2\n{kind} size(p)\n:sample_dimension = \"obs\"");
    passes(rule, 8, &format!(":featureType = \"profile\"\n{}", ragged("int")));
    fails(rule, 8, &ragged("int"), "/size@sample_dimension: sample_dimension in a file without featureType");
    fails(rule, 8, &ragged("double"), "/size@sample_dimension: sample_dimension at a variable of float64");
}

#[test]
fn roles_identify_features() {
    let rule = "cf/cf-role";
    passes(rule, 8, &series("timeSeries", ROLE, "lat lon"));
    passes(rule, 8, "int mesh\n:cf_role = \"mesh_topology\"");
    fails(
        rule,
        8,
        &series("timeSeries", ":cf_role = \"station_id\"", "lat lon"),
        "/name@cf_role: cf_role is \"station_id\"",
    );
    fails(
        rule,
        8,
        &series("timeSeries", ":cf_role = \"profile_id\"", "lat lon"),
        "in a file of featureType timeSeries, expected timeseries_id",
    );
    fails(rule, 8, &series("timeSeries", "", "lat lon"), "/@featureType: no variable with cf_role");
    let twice = format!("{}\nfloat z\n{ROLE}", series("timeSeries", ROLE, "lat lon"));
    fails(rule, 8, &twice, "/z@cf_role: cf_role \"timeseries_id\" here and at /name");
}
