//! `cargo xtask status`: tables of the implemented parts of a specification, with the tests that prove them.

mod filters;
mod hdf5;
mod sources;
mod tiledb;

use crate::tally::Tally;
use crate::workspace;
use sources::Sources;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// A section of the specification.
struct Section {
    /// The section number, as in `Spec:` lines.
    number: &'static str,
    title: &'static str,
    /// Its versions, classes, types and so on. Empty for a section that only explains something.
    parts: &'static [Part],
}

/// A part of a section that can be implemented.
struct Part {
    name: &'static str,
    /// The proofs that it is read.
    read: &'static [Proof],
    written: Written,
}

/// Whether a part is written to files.
enum Written {
    /// It is written, as these tests prove.
    By(&'static [Proof]),
    /// The writer supports it, as these tests prove, but no command requests it.
    Unasked(&'static [Proof]),
    /// It is not written, for this reason.
    Not(&'static str),
}

enum Proof {
    /// Bytes from another writer that decode and encode unchanged: a file in `tests/golden`.
    Golden(&'static str),
    /// A file from another writer in `tests/data`.
    Data(&'static str),
    /// A test, by name; preceded by its module and `::` if other modules have a test of that name.
    Test(&'static str),
    /// A feature of random documents whose files other libraries read: an option, a value or a function of the
    /// generators of `xtask/oracles/hdf5_written.py`.
    Trial(&'static str),
}

/// A page of tables.
struct Page {
    /// The name of the file in `docs/status`.
    name: &'static str,
    text: String,
    /// The parts without code or proof.
    faults: Vec<String>,
}

/// Writes the pages.
pub(crate) fn main() -> Result<(), String> {
    for Page { name, text, faults } in pages()? {
        if !faults.is_empty() {
            return Err(faults.join("\n"));
        }
        let path = path(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Checks that the pages are up to date and that each part has a proof.
pub(crate) fn check(tally: &mut Tally) -> Result<(), String> {
    for Page { name, text, faults } in pages()? {
        for fault in &faults {
            println!("{name}: {fault}");
        }
        let is_whole =
            format_args!("each part of the specification in docs/status/{name} has code and tests");
        tally.check(faults.is_empty(), is_whole);
        let written = fs::read_to_string(path(name)).unwrap_or_default();
        tally.check(written == text, format_args!("docs/status/{name} is what cargo xtask status writes"));
    }
    Ok(())
}

fn pages() -> Result<[Page; 2], String> {
    Ok([hdf5_page()?, tiledb::page()?])
}

fn path(name: &str) -> PathBuf {
    workspace::root().join("docs/status").join(name)
}

fn hdf5_page() -> Result<Page, String> {
    let sources = Sources::read(&sources::HDF5)?;
    let mut faults = Vec::new();
    let mut text = String::from(HEAD);
    let (mut parts, mut written) = (0, 0);
    for section in hdf5::sections() {
        let files = sources.of_section(section.number);
        let files = match (files.is_empty(), section.parts.is_empty()) {
            (true, false) => {
                faults.push(format!("no file has a Spec line for section {}", section.number));
                String::new()
            }
            (true, true) => "no structure".to_owned(),
            (false, _) => files.join(", "),
        };
        let _ = writeln!(text, "| **{}** | **{}** | {files} | | | |", section.number, section.title);
        for part in section.parts {
            let mut fault =
                |why: String| faults.push(format!("section {}, {}: {why}", section.number, part.name));
            let read = proofs(&sources, part.read, Proof::is_of_reading, &mut fault);
            let (is_written, how) = match &part.written {
                Written::By(by) => ("yes", proofs(&sources, by, Proof::is_of_writing, &mut fault)),
                Written::Unasked(by) => ("if asked", proofs(&sources, by, Proof::is_of_writing, &mut fault)),
                Written::Not(reason) => {
                    if reason.is_empty() {
                        fault("no reason why it is not written".to_owned());
                    }
                    ("no", (*reason).to_owned())
                }
            };
            parts += 1;
            written += u32::from(is_written == "yes");
            let _ = writeln!(text, "| | {} | yes | {read} | {is_written} | {how} |", part.name);
        }
    }
    let _ = writeln!(
        text,
        "\n{} sections, {parts} parts, of which {written} are written. {LEGEND}",
        hdf5::sections().count()
    );
    text.push_str(filters::HEAD);
    for row in filters::rows(&sources, &mut faults)? {
        let _ = writeln!(text, "{row}");
    }
    Ok(Page { name: "hdf5.md", text, faults })
}

/// The proofs as the table states them. Each must exist, and be of a kind that proves the claim.
fn proofs(
    sources: &Sources,
    proofs: &[Proof],
    is_valid: fn(&Proof) -> bool,
    fault: &mut dyn FnMut(String),
) -> String {
    let mut found = Vec::with_capacity(proofs.len());
    for proof in proofs {
        match sources.proof(proof) {
            _ if !is_valid(proof) => fault(format!("{} proves something else", proof.name())),
            Ok(()) => found.push(proof.shown()),
            Err(why) => fault(why),
        }
    }
    if proofs.is_empty() {
        fault("no proof".to_owned());
    }
    found.join(", ")
}

const HEAD: &str = "\
# HDF5 File Format Specification 4.0: what is read and written

Written by `cargo xtask status` from the `Spec:` lines of the sources and the lists in `xtask/src/status/hdf5/`.

| section | part | read | proven by | written | proven by, or why not |
|---|---|---|---|---|---|
";

const LEGEND: &str = "`golden` are bytes that libhdf5 wrote, which are decoded, encoded to the same bytes, cut at every
length and changed at random; `file` are files that it wrote, `test` are tests of ours. `trial` is what random documents have: the
files made of them are read by three versions of libhdf5, as far as each knows their content, and some are edited by one. *If asked*
means that `hyperslab_hdf5::write` writes it, and that no command asks for it.";

impl Proof {
    fn name(&self) -> String {
        match self {
            Proof::Golden(name) => format!("golden {name}"),
            Proof::Data(name) => format!("file {name}"),
            Proof::Test(name) => format!("test {name}"),
            Proof::Trial(word) => format!("trial {word}"),
        }
    }

    /// The form used in the table.
    fn shown(&self) -> String {
        let name = self.name();
        let (kind, name) = name.split_once(' ').unwrap_or_default();
        format!("{kind} `{name}`")
    }

    fn is_of_reading(&self) -> bool {
        !matches!(self, Proof::Trial(_))
    }

    /// Bytes from another writer prove that a structure can be encoded, but not that any file contains it.
    fn is_of_writing(&self) -> bool {
        matches!(self, Proof::Test(_) | Proof::Trial(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_no_gap() {
        for page in pages().unwrap() {
            assert_eq!(page.faults, Vec::<String>::new(), "{}", page.name);
        }
    }

    #[test]
    fn a_part_without_proof_or_reason_is_a_fault() {
        let sources = Sources::read(&sources::HDF5).unwrap();
        let found = |of: &[Proof], is_valid| {
            let mut faults = Vec::new();
            let shown = proofs(&sources, of, is_valid, &mut |why| faults.push(why));
            (shown, faults.join("; "))
        };
        let of = |shown: &str, faults: &str| (shown.to_owned(), faults.to_owned());
        assert_eq!(found(&[], Proof::is_of_writing), of("", "no proof"));
        let golden = [Proof::Golden("superblock_v0")];
        assert_eq!(found(&golden, Proof::is_of_reading), of("golden `superblock_v0`", ""));
        assert_eq!(
            found(&golden, Proof::is_of_writing),
            of("", "golden superblock_v0 proves something else")
        );
        let trial = [Proof::Trial("make_virtual"), Proof::Trial("make_virtua")];
        assert_eq!(
            found(&trial, Proof::is_of_writing),
            of("trial `make_virtual`", "there is no trial make_virtua")
        );
    }
}
