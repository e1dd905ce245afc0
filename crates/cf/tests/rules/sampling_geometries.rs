//! Chapter 9, Discrete Sampling Geometries.

use crate::cdl::Cdl;

const SERIES: &str = "
    :featureType = \"timeSeries\"
    dim station 2
    dim obs 3
    float lon(station)
      :units = \"degrees_east\"
    float lat(station)
      :units = \"degrees_north\"
    int name(station)
      :cf_role = \"timeseries_id\"
    double time(station, obs)
      :units = \"days since 2000-01-01\"
    float humidity(station, obs)
      :coordinates = \"time lat lon name\"
";

const PROFILES: &str = "
    :featureType = \"profile\"
    dim profile 2
    dim obs 5
    float lon(profile)
      :units = \"degrees_east\"
    float lat(profile)
      :units = \"degrees_north\"
    double time(profile)
      :units = \"days since 2000-01-01\"
    int id(profile)
      :cf_role = \"profile_id\"
    int row_size(profile)
      :sample_dimension = \"obs\"
    float z(obs)
      :units = \"m\"
      :positive = \"up\"
    float t(obs)
      :coordinates = \"time lat lon z\"
";

fn changed(text: &str, from: &str, to: &str) -> Cdl {
    assert!(text.contains(from), "{from}");
    Cdl::new(&text.replacen(from, to, 1))
}

#[test]
fn a_feature_type_is_known_and_fits_the_data() {
    let rule = "cf/feature-type";
    for minor in 6..14 {
        assert_eq!(Cdl::new(SERIES).of_rule(rule, minor), [""; 0]);
        assert_eq!(Cdl::new(PROFILES).of_rule(rule, minor), [""; 0]);
    }
    let of = |to| changed(SERIES, "\"timeSeries\"", to).of_rule(rule, 6);
    assert_eq!(of("\"TIMESERIES\""), [""; 0]);
    assert_eq!(of("\"series\""), ["/@featureType: featureType \"series\", expected one of Table 9.1"]);
    assert_eq!(of("1"), ["/@featureType: featureType is int32, expected a text"]);
    assert_eq!(
        of("\"point\""),
        ["/humidity: data along 2 dimensions of places and times, expected at most 1 for featureType point"]
    );
    let without =
        SERIES.replace("float lon(station)\n      :units = \"degrees_east\"", "").replace("lat lon", "lat");
    assert_eq!(
        Cdl::new(&without).of_rule(rule, 6),
        ["/@featureType: featureType timeSeries without a coordinate of longitude or x, expected one"]
    );
}

#[test]
fn ragged_arrays_need_a_feature_type_and_integers() {
    let rule = "cf/feature-type";
    let of = |from, to| changed(PROFILES, from, to).of_rule(rule, 6);
    assert_eq!(
        of(":featureType = \"profile\"", ""),
        ["/: no attribute featureType, expected one as row_size makes ragged arrays"]
    );
    assert_eq!(
        of("int row_size", "double row_size"),
        ["/row_size: a count variable of float64, expected integers"]
    );
    assert_eq!(of("\"obs\"", "\"profile\"").len(), 1);
    assert_eq!(of("\"obs\"", "1").len(), 1);
    assert_eq!(of("row_size(profile)", "row_size(profile, obs)").len(), 1);
}

#[test]
fn a_role_is_known_and_stands_once() {
    let rule = "cf/cf-role";
    for minor in 6..14 {
        assert_eq!(Cdl::new(SERIES).of_rule(rule, minor), [""; 0]);
    }
    let of = |from, to| changed(SERIES, from, to).of_rule(rule, 6);
    assert_eq!(of("\"timeseries_id\"", "\"station_id\"").len(), 1);
    assert_eq!(
        of("\"timeseries_id\"", "\"profile_id\""),
        ["/name@cf_role: cf_role profile_id, expected timeseries_id for featureType timeSeries"]
    );
    assert_eq!(
        of("float humidity", "int other(station)\n:cf_role = \"timeseries_id\"\nfloat humidity"),
        ["/other@cf_role: cf_role timeseries_id also occurs at /name, expected it once"]
    );
    assert_eq!(of("\"timeseries_id\"", "1").len(), 1);
    assert_eq!(of("float humidity", "int mesh\n:cf_role = \"mesh_topology\"\nfloat humidity"), [""; 0]);
}
