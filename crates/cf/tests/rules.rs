//! Rules of CF, each by datasets that keep it and datasets that break it.

mod description;
mod files_and_components;

use crate::cdl::Cdl;

/// Expects no findings of a rule in a dataset, by version 1.`minor`.
pub(crate) fn keeps(rule: &str, minor: u16, text: &str) {
    let found = Cdl::new(text).of_rule(rule, minor);
    assert!(found.is_empty(), "{rule}: {found:?}");
}

/// Expects exactly one finding of a rule in a dataset, whose text begins with `expected`.
pub(crate) fn breaks(rule: &str, minor: u16, text: &str, expected: &str) {
    let found = Cdl::new(text).of_rule(rule, minor);
    assert!(found.len() == 1 && found[0].starts_with(expected), "{rule}: {found:?}, expected {expected}");
}
