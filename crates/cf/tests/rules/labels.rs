//! Chapter 6, Labels and Alternative Coordinates.

use super::{fails, passes};

#[test]
fn label() {
    let rule = "cf/label";
    let with = |label: &str| {
        format!("dim x 2\ndim y 3\ndim z 4\ndim len 9\n{label}\nfloat u(y, x)\n:coordinates = \"name\"")
    };
    passes(rule, 6, &with("char name(x, len)"));
    passes(rule, 6, &with("char name(len)"));
    passes(rule, 8, &with("string name(y)"));
    passes(rule, 8, &with("string name"));
    fails(rule, 6, &with("char name(z, len)"), "/u@coordinates: label name has the dimension z");
    fails(rule, 6, &with("char name(y, x, len)"), "label name has the dimensions y, x, expected one at most");
    let several = with("string name(y, x)");
    passes(rule, 7, &several);
    fails(rule, 8, &several, "label name has the dimensions y, x");
}

#[test]
fn label_of_a_ragged_array() {
    let text = "dim station 2\ndim obs 9\ndim len 5\nchar name(station, len)
        int size(station)\n:sample_dimension = \"obs\"\nfloat u(obs)\n:coordinates = \"name\"";
    passes("cf/label", 6, text);
}
