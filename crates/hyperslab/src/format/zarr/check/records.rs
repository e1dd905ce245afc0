//! Compares records with their nodes.

use super::rule::{RECORD, RECORD_ATTRIBUTE, RULES};
use crate::format::zarr::keep::record::Record;
use crate::format::zarr::read::elements::ElementType;
use crate::report::{Finding, FindingPlace, Report};
use hyperslab_core::check::{Findings, Options, Rule};
use hyperslab_core::store::{Key, Store};
use hyperslab_core::{Limits, Result, valid};
use hyperslab_model::Storage;
use hyperslab_zarr::hierarchy::{Hierarchy, Metadata, Node};
use std::sync::Arc;

/// Adds the findings about the records of a store. Other findings about its nodes are already in the report.
pub(super) fn check(
    store: Arc<dyn Store>,
    limits: Limits,
    options: &Options,
    report: &mut Report,
) -> Result<()> {
    // Consolidated metadata is compared with the documents elsewhere.
    let hierarchy = Hierarchy::unconsolidated(store, limits);
    let mut found = Vec::new();
    let mut give = |finding| found.push(finding);
    let mut findings = Findings::new(options, &mut give);
    let mut left = vec![Key::root()];
    while let Some(key) = left.pop() {
        // The check of the store has already reported malformed nodes.
        if let Some(node) = valid(hierarchy.node(&key))?.flatten() {
            node_of(&node, &mut findings);
            if node.is_array() {
                continue;
            }
        }
        let mut children = valid(hierarchy.children(&key))?.unwrap_or_default();
        // Aliases are checked at their own place in the store, and links that are not followed have a finding of their
        // own.
        children.retain(|child| !child.is_alias && child.unfollowed.is_none());
        left.extend(children.into_iter().rev().map(|child| child.path));
    }
    let by_rule = findings.by_rule(RULES);
    report.findings.extend(found);
    report.count_more(&by_rule);
    Ok(())
}

fn node_of(node: &Node, findings: &mut Findings<'_, Finding>) {
    match fitting(node) {
        Ok(Some(record)) => {
            for name in &record.changed {
                let message = format!("attribute {name:?} differs from its record");
                give(node, &RECORD_ATTRIBUTE, message, findings);
            }
        }
        Ok(None) => {}
        Err(e) => give(node, &RECORD, e.reason().to_string(), findings),
    }
}

/// The record of a node, if it fits the node.
fn fitting(node: &Node) -> Result<Option<Record>> {
    let Some(record) = Record::of(node)? else { return Ok(None) };
    if node.is_array() {
        ElementType::new(node, Some(&record))?.see(Some(&record), &mut Storage::default())?;
    }
    Ok(Some(record))
}

fn give(node: &Node, rule: &'static Rule, message: String, findings: &mut Findings<'_, Finding>) {
    if !findings.wants(rule) {
        return;
    }
    let document = match &node.metadata {
        Metadata::V3(_) => "zarr.json",
        _ => ".zattrs",
    };
    let key = node.path.join(document).ok().map(|key| key.as_str().to_owned());
    findings.give(Finding {
        severity: rule.severity,
        rule: rule.name,
        message,
        hint: rule.hint.map(str::to_owned),
        place: FindingPlace::Value { object: Some(format!("/{}", node.path)), key, spot: None },
    });
}
