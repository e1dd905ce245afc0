//! Appendix A.

use super::{fails, passes};

#[test]
fn attributes_stand_where_they_have_a_meaning() {
    let rule = "cf/attribute-use";
    passes(
        rule,
        8,
        ":title = \"a\"\n:location = \"b\"\nfloat t\n:units = \"m\"\n:cell_methods = \"area: mean\"",
    );
    fails(rule, 8, ":units = \"m\"", "/@units: units at a group, expected it at coordinates, data variables");
    fails(
        rule,
        8,
        "float t\n:title = \"a\"",
        "/t@title: title at a data variable, expected it at the root group",
    );
    fails(
        rule,
        8,
        "dim x 2\nfloat x(x)\n:cell_methods = \"x: mean\"",
        "/x@cell_methods: cell_methods at a coordinate variable",
    );
    fails(rule, 8, "float t\n:long_name = 1", "/t@long_name: long_name is int32, expected a text");
    // Attributes have a meaning from the version that added them.
    passes(rule, 6, "float t\n:external_variables = \"a\"");
    fails(rule, 7, "float t\n:external_variables = \"a\"", "/t@external_variables:");
}
