//! The sections of the HDF5 File Format Specification, version 4.0, with a file or two per chapter.

mod appendices;
mod infrastructure;
mod messages;
mod metadata;
mod objects;

use super::{Part, Proof, Section, Written};

/// All sections, in order.
pub(super) fn sections() -> impl Iterator<Item = &'static Section> {
    [
        metadata::SECTIONS,
        infrastructure::SECTIONS,
        objects::SECTIONS,
        messages::SECTIONS,
        appendices::SECTIONS,
    ]
    .into_iter()
    .flatten()
}

const fn part(name: &'static str, read: &'static [Proof], written: Written) -> Part {
    Part { name, read, written }
}

const fn section(number: &'static str, title: &'static str, parts: &'static [Part]) -> Section {
    Section { number, title, parts }
}
