//! The standard name table.
//!
//! Spec: CF 1.13, section 3.3 and Appendix B

use super::nearest::nearest;
use super::sorted::SortedLines;
use super::xml::{self, Document, Element};
use super::{published, tsv};
use hyperslab_core::Result;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::LazyLock;

const EMBEDDED: &str = include_str!("../../data/standard_names.tsv");
/// The maximum number of names that an alias may stand for. CF has two in an exceptional case.
const MAX_NAMES: usize = 100;
/// The separator between the names and the aliases of the embedded table.
const ALIASES: &str = "# alias\tthe names that it stands for\n";

/// A standard name table: names with their canonical units, and aliases, which are names of earlier versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandardNames {
    version: Cow<'static, str>,
    date: Cow<'static, str>,
    names: SortedLines,
    aliases: SortedLines,
}

/// A standard name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandardName<'a> {
    /// The name as it is spelled in the table.
    pub name: &'a str,
    /// Its canonical units. Names of strings and codes have none.
    pub units: Option<&'a str>,
}

/// A name of earlier versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias<'a> {
    /// The former name.
    pub alias: &'a str,
    names: &'a str,
}

impl<'a> Alias<'a> {
    /// The names to use instead: one, or several if the alias did not distinguish them.
    pub fn names(self) -> impl Iterator<Item = &'a str> {
        self.names.split('\t')
    }
}

impl StandardNames {
    /// The table embedded in the crate: version 93, with 5,023 names and 595 aliases.
    pub fn embedded() -> &'static StandardNames {
        static TABLE: LazyLock<StandardNames> = LazyLock::new(|| {
            let (names, aliases) = EMBEDDED.split_once(ALIASES).unwrap_or((EMBEDDED, ""));
            StandardNames {
                version: tsv::header(names, "Version").into(),
                date: tsv::header(names, "Date").into(),
                names: SortedLines::embedded(tsv::below_comments(names)),
                aliases: SortedLines::embedded(aliases),
            }
        });
        &TABLE
    }

    /// Parses a table in the form in which CF publishes it, `cf-standard-name-table.xml`. Errors state the line, what
    /// was found there and what was expected; the caller adds the file.
    pub fn from_xml(xml: &[u8]) -> Result<StandardNames> {
        let mut document = Document::open(xml)?;
        published::expect_root(&document, &["standard_name_table"])?;
        StandardNames::read(&mut document)
    }

    /// Reads the content of the root.
    pub(super) fn read(document: &mut Document<'_>) -> Result<StandardNames> {
        let mut head = published::Head::default();
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut aliases: BTreeMap<String, String> = BTreeMap::new();
        while let Some(element) = document.next(&["canonical_units", "entry_id"])? {
            match element.name.as_str() {
                "entry" => add_name(&mut names, &element)?,
                "alias" => add_alias(&mut aliases, &element)?,
                _ => head.take(&element),
            }
        }
        let (version, date) = head.done()?;
        Ok(StandardNames {
            version: version.into(),
            date: date.into(),
            names: SortedLines::of(&names),
            aliases: SortedLines::of(&aliases),
        })
    }

    /// The version as stated in the table: `93`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The time of the last modification as stated in the table: `2026-03-17T10:53:20Z`. Empty if it is not stated.
    pub fn date(&self) -> &str {
        &self.date
    }

    /// The number of names, without aliases.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether the table has no names.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A standard name, which is case-sensitive.
    pub fn get(&self, name: &str) -> Option<StandardName<'_>> {
        self.names.get(name).map(StandardName::of)
    }

    /// A name of earlier versions. Some of them are also names of this version, with another meaning.
    pub fn alias(&self, name: &str) -> Option<Alias<'_>> {
        self.aliases.get(name).map(|(alias, names)| Alias { alias, names })
    }

    /// All names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = StandardName<'_>> {
        self.names.iter().map(StandardName::of)
    }

    /// All aliases, sorted.
    pub fn aliases(&self) -> impl Iterator<Item = Alias<'_>> {
        self.aliases.iter().map(|(alias, names)| Alias { alias, names })
    }

    /// The name that a misspelt one probably means, if a few edits lead to it.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.names.iter().map(|(name, _)| name))
    }

    /// The table in the text form that [`StandardNames::embedded`] reads.
    pub(super) fn to_tsv(&self) -> String {
        let StandardNames { version, date, names, aliases } = self;
        format!(
            "# Standard names of the CF conventions.\n# Version: {version}\n# Date: {date}\n\
             # Source: https://cfconventions.org/Data/cf-standard-names/{version}/src/cf-standard-name-table.xml\n\
             # Licence: CC0-1.0\n\
             # name\tcanonical units, if it has some\n{}{ALIASES}{}",
            names.text(),
            aliases.text()
        )
    }
}

impl<'a> StandardName<'a> {
    fn of((name, units): (&'a str, &'a str)) -> StandardName<'a> {
        StandardName { name, units: (!units.is_empty()).then_some(units) }
    }
}

/// Adds an `<entry>`. An entry that repeats another is harmless; one that contradicts it is an error.
fn add_name(names: &mut BTreeMap<String, String>, element: &Element) -> Result<()> {
    let name = element.id()?;
    let mut fields = element.all("canonical_units");
    let Some(units) = fields.next() else {
        let detail = format!(
            "'{}' without <canonical_units>, expected one, which is empty if the name has no units",
            xml::shown(name)
        );
        return Err(element.fault(&detail));
    };
    if fields.next().is_some() {
        let detail = format!("'{}' with several <canonical_units>, expected one", xml::shown(name));
        return Err(element.fault(&detail));
    }
    let units = xml::on_one_line(units);
    match names.entry(name.to_owned()) {
        Entry::Vacant(entry) => {
            entry.insert(units);
        }
        Entry::Occupied(before) if *before.get() == units => {}
        Entry::Occupied(before) => {
            let [name, units, before] = [name, &units, before.get()].map(xml::shown);
            let detail =
                format!("'{name}' in '{units}', expected '{before}', as in another entry of the name");
            return Err(element.fault(&detail));
        }
    }
    Ok(())
}

/// Adds the names of an `<alias>` to those of other aliases with the same name.
fn add_alias(aliases: &mut BTreeMap<String, String>, element: &Element) -> Result<()> {
    let alias = element.id()?;
    let names = aliases.entry(alias.to_owned()).or_default();
    for name in element.all("entry_id") {
        let name = element.name(name)?;
        if names.split('\t').any(|known| known == name) {
            continue;
        }
        if names.split('\t').nth(MAX_NAMES - 1).is_some() {
            let alias = xml::shown(alias);
            return Err(element.fault(&format!("alias '{alias}' of over {MAX_NAMES} names, expected fewer")));
        }
        if !names.is_empty() {
            names.push('\t');
        }
        names.push_str(name);
    }
    if names.is_empty() {
        let detail =
            format!("alias '{}' without <entry_id>, expected the name that it stands for", xml::shown(alias));
        return Err(element.fault(&detail));
    }
    Ok(())
}
