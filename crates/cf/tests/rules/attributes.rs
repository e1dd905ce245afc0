//! Appendix A, Attributes.

use crate::cdl::Cdl;

const RULE: &str = "cf/attribute-use";

fn of(edit: &str, minor: u16) -> Vec<String> {
    let text = format!(
        "dim lat 2
         dim nv 2
         float lat(lat)
           :units = \"degrees_north\"
           :bounds = \"lat_bnds\"
         float lat_bnds(lat, nv)
         float pr(lat)
           :units = \"kg m-2 s-1\"
           :cell_methods = \"lat: mean\"
           {edit}"
    );
    Cdl::new(&text).of_rule(RULE, minor)
}

#[test]
fn attributes_where_cf_has_them_are_not_reported() {
    for minor in 6..14 {
        assert_eq!(of(":long_name = \"rain\"\n:comment = \"x\"\n:own = 1\n:valid_min = 0.f", minor), [""; 0]);
    }
}

#[test]
fn attributes_without_a_meaning_are_reported() {
    assert_eq!(
        of(":title = \"Rain\"", 8),
        ["/pr@title: title of a data variable, expected only on the file, groups"]
    );
    assert_eq!(of(":featureType = \"point\"", 6).len(), 1);
    assert_eq!(
        of(":climatology = \"lat_bnds\"", 6),
        ["/pr@climatology: climatology of a data variable, expected only on coordinates"]
    );
    let cdl = Cdl::new(":standard_name = \"rain\"\ndim lat 1\nfloat lat(lat)\n:cell_methods = \"lat: mean\"");
    assert_eq!(
        cdl.of_rule(RULE, 8),
        [
            "/@standard_name: standard_name of a group, expected only on coordinates, data variables, boundary variables",
            "/lat@cell_methods: cell_methods of a coordinate, expected only on data variables",
        ]
    );
}

#[test]
fn attributes_of_another_type_are_reported() {
    assert_eq!(of(":long_name = 1", 8), ["/pr@long_name: long_name is int32, expected a text"]);
    assert_eq!(of(":valid_min = \"0\"", 8), ["/pr@valid_min: valid_min is a text, expected numbers"]);
}

#[test]
fn a_version_has_the_attributes_that_it_lists() {
    for (attribute, minor) in [
        (":computed_standard_name = 1", 7),
        (":quantization_nsd = \"2\"", 12),
        (":external_variables = \"a\"", 7),
    ] {
        assert_eq!(of(attribute, minor - 1), [""; 0], "{attribute}");
        assert!(!of(attribute, minor).is_empty(), "{attribute}");
    }
}
