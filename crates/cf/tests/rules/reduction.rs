//! Chapter 8, Reduction of Dataset Size.

use crate::cdl::Cdl;

fn packed(kind: &str, attributes: &str, minor: u16) -> Vec<String> {
    Cdl::new(&format!("dim x 2\n{kind} speed(x)\n{attributes}")).of_rule("cf/packing", minor)
}

#[test]
fn packing_has_numbers_of_one_type() {
    for minor in 6..14 {
        assert_eq!(packed("short", ":scale_factor = 0.1f\n:add_offset = 1.f", minor), [""; 0]);
        assert_eq!(packed("int", ":scale_factor = 0.1", minor), [""; 0]);
        assert_eq!(
            packed("short", ":scale_factor = 2", minor),
            ["/speed@scale_factor: scale_factor is int32, expected 32 or 64 bits of floating point"]
        );
        assert_eq!(packed("short", ":scale_factor = \"0.1\"", minor).len(), 1);
        assert_eq!(packed("short", ":scale_factor = 0.1, 0.2", minor).len(), 1);
        assert_eq!(
            packed("short", ":scale_factor = 0.1\n:add_offset = 1.f", minor),
            ["/speed@add_offset: add_offset is float32 and scale_factor float64, expected the same type"]
        );
        assert_eq!(packed("float", ":scale_factor = 0.1", minor).len(), 1);
        assert_eq!(packed("int64", ":scale_factor = 0.1", minor).len(), 1);
    }
}

#[test]
fn packing_is_into_shorter_integers_since_1_11() {
    for (kind, attributes) in
        [("float", ":scale_factor = 0.1f"), ("int", ":scale_factor = 0.1f"), ("short", ":scale_factor = 2s")]
    {
        assert_eq!(packed(kind, attributes, 10), [""; 0]);
        assert_eq!(packed(kind, attributes, 11).len(), 1, "{kind}");
    }
}

const GATHERED: &str = "
    dim lat 3
    dim lon 4
    dim point 2
    dim nv 2
    int point(point)
      :compress = \"lat lon\"
      = 0 11
    float runoff(point)
";

#[test]
fn a_list_variable_has_indices_of_the_dimensions() {
    let rule = "cf/compress";
    for minor in 6..14 {
        assert_eq!(Cdl::new(GATHERED).of_rule(rule, minor), [""; 0]);
    }
    let of = |from, to| Cdl::new(&GATHERED.replacen(from, to, 1)).of_rule(rule, 8);
    assert_eq!(
        of("= 0 11", "= 0 12"),
        ["/point: 1 indices out of range, the first is 12, expected 0 to 11 as lat lon have"]
    );
    assert_eq!(of("= 0 11", "= -1 11").len(), 1);
    assert_eq!(of("int point(point)", "double point(point)").len(), 1);
    assert_eq!(
        of("float runoff(point)", "int runoff(lat, lon)\n:compress = \"lat lon\""),
        [
            "/runoff@compress: compress of a variable that is not a coordinate variable, expected one only there"
        ]
    );
    assert_eq!(of(":compress = \"lat lon\"", ":compress = 1").len(), 1);
}

#[test]
fn a_list_variable_has_no_bounds_since_1_11() {
    let text = GATHERED.replacen("= 0 11", ":bounds = \"b\"\n= 0 11\nint b(point, nv)", 1);
    assert_eq!(Cdl::new(&text).of_rule("cf/compress", 10), [""; 0]);
    assert_eq!(
        Cdl::new(&text).of_rule("cf/compress", 11),
        ["/point@bounds: bounds of a list variable, expected none"]
    );
}
