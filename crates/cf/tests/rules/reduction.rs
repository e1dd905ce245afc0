//! Chapter 8.

use super::{fails, passes};

#[test]
fn packing_has_types_that_fit() {
    let rule = "cf/packing";
    passes(rule, 8, "short t\n:scale_factor = 0.1\n:add_offset = 2.0");
    passes(rule, 11, "short t\n:scale_factor = 0.1f");
    fails(
        rule,
        8,
        "short t\n:scale_factor = 0.1\n:add_offset = 2.f",
        "/t@add_offset: add_offset is float32 and scale_factor float64",
    );
    fails(
        rule,
        8,
        "short t\n:scale_factor = \"0.1\"",
        "/t@scale_factor: scale_factor is a text, expected a number",
    );
    fails(
        rule,
        8,
        "float t\n:scale_factor = 0.1",
        "/t@scale_factor: scale_factor of float64 of a variable of float32",
    );
    passes(rule, 10, "int t\n:scale_factor = 0.1f");
    fails(
        rule,
        11,
        "int t\n:scale_factor = 0.1f",
        "/t@scale_factor: scale_factor of float32 of a variable of int32",
    );
    passes(rule, 10, "int t\n:scale_factor = 2");
    fails(rule, 11, "int t\n:scale_factor = 2", "/t@scale_factor: scale_factor is int32");
}

#[test]
fn lists_of_gathering_are_within_their_dimensions() {
    let rule = "cf/compress";
    let of = |kind: &str, values: &str| {
        format!("dim lat 2\ndim lon 3\ndim land 2\n{kind} land(land)\n:compress = \"lat lon\"\n= {values}")
    };
    passes(rule, 8, &of("int", "0 5"));
    fails(rule, 8, &of("int", "0 6"), "/land:");
    fails(rule, 8, &of("int", "-1 5"), "/land:");
    fails(rule, 8, &of("double", "0 5"), "/land");
    fails(
        rule,
        8,
        "dim x 2\nint t(x)\n:compress = \"x\"\n= 0 1",
        "/t@compress: compress of a variable that is no coordinate",
    );
}
