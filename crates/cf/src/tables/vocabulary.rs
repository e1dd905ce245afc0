//! Vocabularies: lists of names that certain variables contain.
//!
//! Spec: CF 1.13, sections 3.3 and 7.3.3

use super::nearest::nearest;
use super::sorted::SortedLines;
use super::xml::Document;
use super::{published, tsv};
use hyperslab_core::Result;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A list of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    version: Cow<'static, str>,
    date: Cow<'static, str>,
    names: SortedLines,
}

impl Vocabulary {
    /// The area types embedded in the crate: version 13, with 62 names.
    pub fn area_types() -> &'static Vocabulary {
        static TABLE: LazyLock<Vocabulary> =
            LazyLock::new(|| Vocabulary::embedded(include_str!("../../data/area_types.tsv")));
        &TABLE
    }

    /// The standardized regions embedded in the crate: version 5, with 74 names.
    pub fn regions() -> &'static Vocabulary {
        static TABLE: LazyLock<Vocabulary> =
            LazyLock::new(|| Vocabulary::embedded(include_str!("../../data/regions.tsv")));
        &TABLE
    }

    fn embedded(text: &'static str) -> Vocabulary {
        Vocabulary {
            version: tsv::header(text, "Version").into(),
            date: tsv::header(text, "Date").into(),
            names: SortedLines::embedded(tsv::below_comments(text)),
        }
    }

    /// Parses area types or regions in the form in which CF publishes them. Errors are like those of
    /// [`StandardNames::from_xml`](super::StandardNames::from_xml).
    pub fn from_xml(xml: &[u8]) -> Result<Vocabulary> {
        let mut document = Document::open(xml)?;
        published::expect_root(&document, &["area_type_table", "standardized_region_list"])?;
        Vocabulary::read(&mut document)
    }

    /// Reads the content of the root.
    pub(super) fn read(document: &mut Document<'_>) -> Result<Vocabulary> {
        let mut head = published::Head::default();
        let mut names = BTreeMap::new();
        while let Some(element) = document.next(&[])? {
            match element.name.as_str() {
                "entry" => {
                    names.insert(element.id()?.to_owned(), String::new());
                }
                _ => head.take(&element),
            }
        }
        let (version, date) = head.done()?;
        Ok(Vocabulary { version: version.into(), date: date.into(), names: SortedLines::of(&names) })
    }

    /// The version as stated in the list: `13`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The date as stated in the list: `20 March 2025`. Empty if it is not stated.
    pub fn date(&self) -> &str {
        &self.date
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether the list has no names.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the list contains a name, which is case-sensitive.
    pub fn contains(&self, name: &str) -> bool {
        self.names.get(name).is_some()
    }

    /// All names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name)
    }

    /// The name that a misspelt one probably means, if a few edits lead to it.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.iter())
    }

    /// The list in the text form of the embedded lists.
    pub(super) fn to_tsv(&self, title: &str, source: &str) -> String {
        let Vocabulary { version, date, names } = self;
        format!(
            "# {title} of the CF conventions.\n# Version: {version}\n# Date: {date}\n# Source: {source}\n\
             # Licence: CC0-1.0\n# name\n{}",
            names.text()
        )
    }
}
