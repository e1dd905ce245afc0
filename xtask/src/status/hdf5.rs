//! The sections of the HDF5 File Format Specification, version 4.0, with one file per chapter.

mod appendices;
mod infrastructure;
mod metadata;
mod objects;

use super::{Part, Proof, Section};

/// All sections, in order.
pub(super) fn sections() -> impl Iterator<Item = &'static Section> {
    [metadata::SECTIONS, infrastructure::SECTIONS, objects::SECTIONS, appendices::SECTIONS]
        .into_iter()
        .flatten()
}

const fn part(name: &'static str, proofs: &'static [Proof]) -> Part {
    Part { name, proofs }
}

const fn section(number: &'static str, title: &'static str, parts: &'static [Part]) -> Section {
    Section { number, title, parts }
}
