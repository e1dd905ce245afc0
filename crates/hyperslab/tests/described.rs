//! Descriptions of parts of a store, and the limits on descriptions.

use crate::history::{changed, written};
use crate::{description, open};
use bytes::Bytes;
use hyperslab::Source;
use hyperslab::describe::DescribeOptions;

fn described(source: &dyn Source, path: &str, options: &DescribeOptions) -> String {
    let (text, errors) = description(source, path, options);
    assert!(errors.is_empty(), "{errors:?}");
    text
}

/// Whether a document contains this key at any depth.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
}

#[test]
fn a_part_includes_the_dimensions_and_types_that_it_uses() {
    let source = open("nested_groups.nc");
    let text = described(&*source, "/beside", &DescribeOptions::default());
    assert!(has_key(&text, "root_x") && has_key(&text, "x") && has_key(&text, "y"), "{text}");
    assert!(!has_key(&text, "home") && !has_key(&text, "inner") && !has_key(&text, "colour_t"), "{text}");
    let text = described(&*source, "/paint", &DescribeOptions::default());
    assert!(has_key(&text, "colour_t") && has_key(&text, "x") && !has_key(&text, "place_t"), "{text}");
    let text = described(&*source, "/inner/deep", &DescribeOptions::default());
    assert!(has_key(&text, "depth_t") && has_key(&text, "x") && !has_key(&text, "own_x"), "{text}");
}

#[test]
fn depth_omits_the_members_of_deeper_groups() {
    let source = open("nested_groups.nc");
    let at = |depth: usize| {
        described(&*source, "/", &DescribeOptions { depth: Some(depth), ..DescribeOptions::default() })
    };
    assert!(has_key(&at(0), "home") && !has_key(&at(0), "own_x"), "{}", at(0));
    assert!(has_key(&at(1), "own_x") && !has_key(&at(1), "zone"), "{}", at(1));
    assert!(has_key(&at(2), "zone"), "{}", at(2));
    assert_eq!(at(2), at(9));
}

#[test]
fn values_are_included_for_arrays_within_the_limit() {
    let source = open("nested_groups.nc");
    let values = |most: Option<u64>| {
        let options = DescribeOptions { values: most, ..DescribeOptions::default() };
        described(&*source, "/inner", &options)
    };
    assert!(!values(None).contains("[7, 8]"), "{}", values(None));
    assert!(!values(Some(1)).contains("[7, 8]"));
    // Arrays of two elements are shown, those of three are not.
    assert!(
        values(Some(2)).contains("[7, 8]") && !values(Some(2)).contains("[1, 2, 3]"),
        "{}",
        values(Some(2))
    );
    assert!(values(Some(3)).contains("[1, 2, 3]"));
}

#[test]
fn a_pattern_that_matches_a_group_and_its_members_describes_them_once() {
    let source = open("ocean.nc");
    let options = DescribeOptions::default();
    assert_eq!(described(&*source, "/**", &options), described(&*source, "/", &options));
    assert_eq!(described(&*source, "/waves/**", &options), described(&*source, "/waves", &options));
}

/// All files of the fragments are empty here, but a description does not need them.
#[test]
fn a_description_opens_no_fragment() {
    for name in ["nullable", "three_dimensions", "sparse_rows", "sparse_text", "deleted", "current_domain"] {
        let texts = [
            written(name, None),
            changed(name, None, &|key, bytes| match key.contains("__fragments/") {
                true => Bytes::new(),
                false => bytes,
            }),
        ];
        let [whole, empty] = texts.map(|source| described(&*source, "/", &DescribeOptions::default()));
        assert_eq!(whole, empty, "{name}");
        assert!(has_key(&whole, "shape") || has_key(&whole, "cells"), "{whole}");
    }
}
