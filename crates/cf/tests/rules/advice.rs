//! Recommendations that go beyond the requirements of a rule.

use super::{fails, passes};
use crate::cdl::Cdl;
use hyperslab_core::Severity;

const BOUNDS: &str = "dim lat 2\ndim v 2\ndouble lat(lat)\n:units = \"degrees_north\"\n:bounds = \"b\"
    double b(lat, v)\n:units = \"degrees_north\"";

#[test]
fn boundary_variables_need_not_repeat_attributes() {
    fails("cf/bounds-attributes", 8, BOUNDS, "/b@units: units of a boundary variable, which inherits it");
    passes("cf/bounds-attributes", 6, BOUNDS);
    let found = Cdl::new(BOUNDS).findings(8);
    let found = found.iter().find(|finding| finding.rule.name == "cf/bounds-attributes").unwrap();
    assert_eq!((found.rule.severity, found.severity), (Severity::Error, Severity::Warning));
}

#[test]
fn features_have_an_identifier() {
    let series = ":featureType = \"timeSeries\"\ndim s 2\nstring name(s)";
    fails("cf/cf-role", 8, series, "/@featureType: no variable with cf_role, expected timeseries_id");
    passes("cf/cf-role", 8, &format!("{series}\n:cf_role = \"timeseries_id\""));
    passes("cf/cf-role", 8, "int faces\n:cf_role = \"face_node_connectivity\"");
}
