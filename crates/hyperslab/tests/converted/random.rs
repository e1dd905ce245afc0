//! Conversions of random documents lose only what the report lists.

#[allow(
    dead_code,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "what is generated is small, and the tests of NDL use more of it"
)]
#[path = "../../../ndl/tests/properties/generator.rs"]
mod generator;
#[path = "../../../ndl/tests/properties/trials.rs"]
mod trials;

use super::{Lost, converted, described, difference, same, unlike, write_description};
use generator::Document;
use hyperslab::TARGETS;
use hyperslab::ndl::{Format, StorageDetail};
use hyperslab::target::{Loss, TargetFormat};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use trials::try_all;

/// The default number of documents.
const TRIALS: u64 = 60;

/// Converts a document to a store, then to the other version and back, and creates a store from the description of the
/// first store. The stores are directories or zip files.
fn returns(seed: u64) -> Result<(), String> {
    let folder = TempDir::new().unwrap();
    let bit = |place: u64| seed >> place & 1 == 1;
    let at = |name: &str, zip: bool| -> PathBuf {
        folder.path().join(if zip { format!("{name}.zip") } else { name.to_owned() })
    };
    let (first_format, second_format): (&dyn TargetFormat, &dyn TargetFormat) =
        if bit(0) { (TARGETS[0], TARGETS[1]) } else { (TARGETS[1], TARGETS[0]) };
    let (first, second, third) = (at("first", bit(1)), at("second", bit(2)), at("third", !bit(1)));
    let source = folder.path().join("source.yaml");
    let mut text = Document::new(seed).text(Format::Yaml);
    if !seed.is_multiple_of(5) {
        // If the document does not name a source file, arrays without values consist of fill values.
        let (_, rest) = text.split_once('\n').unwrap();
        text = rest.to_owned();
    }
    fs::write(&source, &text).unwrap();

    let told = |what: &str, why: String| format!("{what}: {why}");
    let lost = converted(&source, first_format, &first)?;
    unlike(&source, &first, &lost).map_err(|why| told(first_format.name(), why))?;
    if lost.is_empty() {
        // A region reference to an unknown object has a different digest because its rank is not known.
        same(&source, &first, &lost).map_err(|why| told("digests", why))?;
    }

    let none = Lost::new();
    for (from, to, format) in [(&first, &second, second_format), (&second, &third, first_format)] {
        let lost = converted(from, format, to)?;
        if !lost.is_empty() {
            return Err(format!("on to {}: {lost:?}", format.name()));
        }
        same(&first, to, &none).map_err(|why| told("digests further on", why))?;
        unlike(&first, to, &none).map_err(|why| told("further on", why))?;
    }
    let sorted = |store: &Path| {
        // The order of the attributes differs if one of them is stored only in a record.
        let text = described(store, StorageDetail::None);
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    let (had, has) = (sorted(&first), sorted(&third));
    if had != has {
        return Err(told("described", difference(&had, &has)));
    }

    let (again, fourth) = (folder.path().join("again.yaml"), at("fourth", false));
    write_description(&first, &again, bit(3))?;
    let rounded = converted(&again, second_format, &fourth)?;
    // A document does not state whether its elements have already been rounded by the filters.
    if rounded.iter().any(|(place, loss)| *loss != Loss::Precision || lost.get(place) != Some(loss)) {
        return Err(format!("created: {rounded:?}"));
    }
    same(&first, &fourth, &rounded).map_err(|why| told("digests of what was created", why))?;
    unlike(&first, &fourth, &rounded).map_err(|why| told("created", why))
}

#[test]
fn random_documents_are_equal_after_conversion_to_every_format_and_back() {
    try_all(TRIALS, returns);
}
