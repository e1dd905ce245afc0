//! Regenerates the embedded tables from the XML files that CF publishes: `cargo xtask cf-tables`.

use super::xml::{self, Document, Element};
use super::{StandardNames, Vocabulary};
use hyperslab_core::{Error, Result};

/// A table in the form that the crate embeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The name of its file in the folder `data` of the crate.
    pub file: &'static str,
    /// The text of that file.
    pub text: String,
    /// A description of its contents.
    pub contents: String,
}

const ROOTS: [&str; 3] = ["standard_name_table", "area_type_table", "standardized_region_list"];

/// The table in a published file: standard names, area types or regions, distinguished by the root element.
pub fn table(xml: &[u8]) -> Result<Table> {
    let mut document = Document::open(xml)?;
    match document.root() {
        "standard_name_table" => {
            let names = StandardNames::read(&mut document)?;
            let (version, len, aliases) = (names.version(), names.len(), names.aliases().count());
            let contents = format!("version {version}, {len} names, {aliases} aliases");
            Ok(Table { file: "standard_names.tsv", text: names.to_tsv(), contents })
        }
        "area_type_table" => {
            let types = Vocabulary::read(&mut document)?;
            let source = format!("{DATA}/area-type-table/{}/src/area-type-table.xml", types.version());
            Ok(listed("area_types.tsv", &types, "Area types", &source))
        }
        "standardized_region_list" => {
            let regions = Vocabulary::read(&mut document)?;
            let version = regions.version();
            let source = format!("{DATA}/standardized-region-list/standardized-region-list.{version}.xml");
            Ok(listed("regions.tsv", &regions, "Standardized regions", &source))
        }
        _ => Err(wrong_root(&document, &ROOTS)),
    }
}

/// Where CF publishes its tables.
const DATA: &str = "https://cfconventions.org/Data";

fn listed(file: &'static str, names: &Vocabulary, title: &str, source: &str) -> Table {
    let contents = format!("version {}, {} names", names.version(), names.len());
    Table { file, text: names.to_tsv(title, source), contents }
}

/// Rejects tables other than those with these roots.
pub(super) fn expect_root(document: &Document<'_>, roots: &[&str]) -> Result<()> {
    if roots.contains(&document.root()) { Ok(()) } else { Err(wrong_root(document, roots)) }
}

fn wrong_root(document: &Document<'_>, roots: &[&str]) -> Error {
    let roots: Vec<String> = roots.iter().map(|root| format!("<{root}>")).collect();
    document.fault(&format!("<{}>, expected {}", xml::shown(document.root()), roots.join(" or ")))
}

/// The metadata of a table.
#[derive(Default)]
pub(super) struct Head {
    version: String,
    date: String,
}

impl Head {
    /// Reads the element if it holds the version or the date, and skips all others.
    pub(super) fn take(&mut self, element: &Element) {
        let field = match element.name.as_str() {
            "version_number" => &mut self.version,
            "last_modified" | "date" => &mut self.date,
            _ => return,
        };
        *field = xml::shown(&xml::on_one_line(&element.text));
    }

    /// The version and date. A table without a version cannot be cited.
    pub(super) fn done(self) -> Result<(String, String)> {
        match self.version.is_empty() {
            false => Ok((self.version, self.date)),
            true => {
                Err(Error::malformed("no version, expected <version_number> with the version of the table"))
            }
        }
    }
}
