//! The versions named in the attribute `Conventions` of groups.
//!
//! Spec: CF 1.13, 2.6.1 Identification of Conventions

use super::{VERSIONS, versions_of};
use crate::brief::brief;
use crate::dataset::{Attribute, Dataset, Group};
use crate::finding::Finding;
use crate::tables::Version;
use hyperslab_core::check::Rule;
use table::{CHECKED, NOT_CHECKED};

pub use table::RULES as VERDICTS;

/// The word for checking each group against the version in its attribute `Conventions`.
pub const AUTO: &str = "auto";

/// The version against which each group is checked, and notes that report it.
///
/// Groups without the attribute are checked like their parent. Versions earlier than the first supported one are
/// checked against the first, and later versions than the last against the last. If no group names a version, a warning
/// reports that nothing is checked.
pub fn auto(dataset: &Dataset) -> (Vec<Option<Version>>, Vec<Finding>) {
    let (mut versions, mut notes) = (Vec::with_capacity(dataset.groups.len()), Vec::new());
    for group in &dataset.groups {
        // Parents come before their members.
        let inherited = group.parent.and_then(|parent| versions.get(parent).copied().flatten());
        let own = named(group);
        if let Some((version, used)) = own {
            let message = match version == used {
                true => format!("checked against CF-{version}, as stated in Conventions"),
                false => {
                    format!("checked against CF-{used}, the nearest to CF-{version} stated in Conventions")
                }
            };
            notes.push(note(&CHECKED, group, message, ""));
        }
        versions.push(own.map(|(_, used)| used).or(inherited));
    }
    if versions.iter().all(Option::is_none)
        && let Some(root) = dataset.groups.first()
    {
        let found = root.attributes.get("Conventions").and_then(Attribute::text);
        let found = found.map_or_else(
            || "no attribute Conventions".to_owned(),
            |text| format!("Conventions {:?}", brief(text)),
        );
        let message = format!("{found}, expected the name of a version of CF: nothing was checked");
        notes.push(note(&NOT_CHECKED, root, message, "name a version to check, such as CF-1.8"));
    }
    (versions, notes)
}

fn note(rule: &'static Rule, group: &Group, message: String, hint: &str) -> Finding {
    let (severity, object) = (rule.severity, group.path.to_string());
    Finding { rule, severity, object, message, hint: hint.to_owned() }
}

/// The version that a group names, and the one that is used for the check.
fn named(group: &Group) -> Option<(Version, Version)> {
    let text = group.attributes.get("Conventions")?.text()?;
    let version = versions_of(text).max()?;
    let [first, .., last] = VERSIONS;
    Some((version, version.clamp(first, last)))
}

mod table {
    hyperslab_core::rules! {
        NOT_CHECKED Warning "cf/not-checked" in "CF 2.6.1" "no group names a version of CF";
        CHECKED Note "cf/checked-by" in "CF 2.6.1" "the version of CF that a group was checked against";
    }
}
