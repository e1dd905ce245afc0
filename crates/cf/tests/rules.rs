//! Rules of CF, each tested with datasets that satisfy it and datasets that break it.

mod actual_range;
mod advice;
mod attributes;
mod cells;
mod climatology;
mod coordinate_systems;
mod coordinate_types;
mod datatypes;
mod description;
mod files_and_components;
mod labels;
mod long_texts;
mod mutated;
mod reduction;
mod sampling_geometries;

use crate::cdl::Cdl;

/// Expects that a rule has no finding in a dataset when checked against version 1.`minor`.
pub(crate) fn passes(rule: &str, minor: u16, text: &str) {
    let found = Cdl::new(text).of_rule(rule, minor);
    assert!(found.is_empty(), "{rule} by 1.{minor} on {text}: {found:?}");
}

/// Expects that a rule has exactly one finding in a dataset, whose `OBJECT: MESSAGE` contains `expected`.
pub(crate) fn fails(rule: &str, minor: u16, text: &str, expected: &str) {
    let found = Cdl::new(text).of_rule(rule, minor);
    assert!(
        matches!(found.as_slice(), [one] if one.contains(expected)),
        "{rule} by 1.{minor} on {text}: {found:?}, expected {expected:?}"
    );
}

/// The rules as a Markdown table.
fn table() -> String {
    use std::fmt::Write as _;
    let mut table =
        "| rule | CF | | since | values | what breaks it |\n|---|---|---|---|---|---|\n".to_owned();
    for rule in hyperslab_cf::rules::RULES {
        let section = rule.rule.specification.unwrap().trim_start_matches("CF ");
        let kind = match rule.rule.severity {
            hyperslab_core::Severity::Error => "required",
            _ => "recommended",
        };
        let values = if rule.reads_values() { "yes" } else { "" };
        let (name, since, explanation) = (rule.rule.name, rule.since, rule.rule.explanation);
        writeln!(table, "| `{name}` | {section} | {kind} | {since} | {values} | {explanation} |").unwrap();
    }
    table
}

#[test]
fn the_documentation_lists_all_rules() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conventions.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once("version on.\n\n").unwrap();
    let (found, after) = rest.split_once("\n\n## What is not").unwrap();
    let table = table();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let text = format!("{before}version on.\n\n{}\n\n## What is not{after}", table.trim_end());
        std::fs::write(path, text).unwrap();
        return;
    }
    assert_eq!(found, table.trim_end(), "UPDATE_GOLDEN=1 writes the table anew");
}

#[test]
fn there_are_60_rules_with_distinct_names() {
    let names: std::collections::BTreeSet<&str> =
        hyperslab_cf::rules::rules().map(|rule| rule.name).collect();
    assert_eq!((names.len(), hyperslab_cf::rules::RULES.len()), (60, 60));
}
