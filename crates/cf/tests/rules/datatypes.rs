//! Section 2.2: datatypes of variables.

use super::{fails, passes};

const RULE: &str = "cf/datatypes";

#[test]
fn every_version_has_numbers_and_characters() {
    let all =
        "dim n 2\nchar a(n)\nbyte b\nshort c\nint d\nfloat e\ndouble f(n)\nbyte g\n:_Unsigned = \"true\"";
    for minor in 6..14 {
        passes(RULE, minor, all);
    }
}

#[test]
fn later_versions_have_more_types() {
    fails(
        RULE,
        6,
        "string a",
        "/a: a variable of string, which came with CF-1.8, expected char, byte, short",
    );
    fails(RULE, 7, "dim n 2\nstring a(n)", "/a: a variable of string, which came with CF-1.8, expected char");
    for kind in ["ubyte", "ushort", "uint", "int64", "uint64"] {
        fails(
            RULE,
            6,
            &format!("{kind} a"),
            "which came with CF-1.9, expected char, byte, short, int, float or double",
        );
        fails(RULE, 8, &format!("{kind} a"), "which came with CF-1.9, expected string, char, byte, short");
        passes(RULE, 9, &format!("{kind} a"));
        passes(RULE, 13, &format!("{kind} a"));
    }
    fails(RULE, 8, "dim x 2\nint64 x(x)", "/x: a variable of int64, which came with CF-1.9");
    passes(RULE, 8, "string a");
    passes(RULE, 9, "datetime a");
    fails(RULE, 8, "datetime a", "/a: a variable of datetime(s), which came with CF-1.9");
}

#[test]
fn no_version_has_other_types() {
    for minor in 6..14 {
        fails(RULE, minor, "pair a", "/a: a variable of compound(a:int32;b:int32), expected");
        fails(RULE, minor, "ints a", "/a: a variable of vlen(int32), expected");
        fails(RULE, minor, "enum a", "/a: a variable of enum(int8;no=0;yes=1), expected");
        fails(RULE, minor, "opaque a", "/a: a variable of opaque(2), expected");
        fails(RULE, minor, "bool a", "/a: a variable of bool, expected");
        fails(RULE, minor, "half a", "/a: a variable of float16, expected");
    }
    fails(
        RULE,
        13,
        "dim x 2\nhalf x(x)",
        "/x: a variable of float16, expected string, char, an integer of 8",
    );
}

#[test]
fn containers_have_any_type() {
    passes(RULE, 6, "string crs\n:grid_mapping_name = \"latitude_longitude\"");
    passes(RULE, 8, "int64 box\n:geometry_type = \"point\"\n:node_coordinates = \"x y\"");
    passes(RULE, 8, "int64 mesh\n:cf_role = \"mesh_topology\"");
}
