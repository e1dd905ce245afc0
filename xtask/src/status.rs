//! `cargo xtask status`: tables of the implemented parts of a specification, with the tests that prove them.

mod hdf5;

use crate::tally::Tally;
use crate::workspace;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A section of the specification.
struct Section {
    /// The section number, as in `Spec:` lines.
    number: &'static str,
    title: &'static str,
    /// Its versions, classes, types and so on. Empty for a section that only explains.
    parts: &'static [Part],
}

/// A part of a section that can be implemented.
struct Part {
    name: &'static str,
    proofs: &'static [Proof],
}

enum Proof {
    /// Bytes of another writer that decode and encode unchanged: a file in `tests/golden`.
    Golden(&'static str),
    /// A file of another writer in `tests/data`.
    Data(&'static str),
    /// A test, by name.
    Test(&'static str),
}

/// The sources, from which the tables are made.
struct Sources {
    /// Path and text of each file.
    files: Vec<(PathBuf, String)>,
    /// The paths of fixture files.
    fixtures: Vec<String>,
}

/// Writes the tables.
pub(crate) fn main() -> Result<(), String> {
    let (table, faults) = table()?;
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let path = path();
    fs::write(&path, table).map_err(|error| format!("{}: {error}", path.display()))
}

/// Checks that the tables are up to date and that each part has a proof.
pub(crate) fn check(tally: &mut Tally) -> Result<(), String> {
    let (table, faults) = table()?;
    for fault in &faults {
        println!("{fault}");
    }
    tally.check(faults.is_empty(), "each part of the specification has code and tests");
    let written = fs::read_to_string(path()).unwrap_or_default();
    tally.check(written == table, "docs/status/hdf5.md is what cargo xtask status writes");
    Ok(())
}

fn path() -> PathBuf {
    workspace::root().join("docs/status/hdf5.md")
}

fn table() -> Result<(String, Vec<String>), String> {
    let sources = Sources::read()?;
    let mut faults = Vec::new();
    let mut text = String::from(HEAD);
    let mut proven = 0;
    for section in hdf5::sections() {
        let files = sources.of_section(section.number);
        let files = match (files.is_empty(), section.parts.is_empty()) {
            (true, false) => {
                faults.push(format!("no file has a Spec line for section {}", section.number));
                String::new()
            }
            (true, true) => "nothing to read".to_owned(),
            (false, _) => files.join(", "),
        };
        let _ = writeln!(text, "| **{}** | **{}** | {files} | |", section.number, section.title);
        for part in section.parts {
            let mut proofs = Vec::new();
            for proof in part.proofs {
                match sources.proof(proof) {
                    Some(found) => proofs.push(found),
                    None => faults.push(format!(
                        "section {}, {}: there is no {}",
                        section.number,
                        part.name,
                        proof.name()
                    )),
                }
            }
            proven += 1;
            let _ = writeln!(text, "| | {} | yes | {} |", part.name, proofs.join(", "));
        }
    }
    let filters = sources.filters()?;
    let _ = writeln!(
        text,
        "\n{} sections, {proven} parts. `golden` are bytes that libhdf5 wrote, which are decoded, encoded to the same bytes, cut at every\n\
         length and changed at random; `file` are files that it wrote, `test` are tests of ours.",
        hdf5::sections().count()
    );
    text.push_str(FILTERS);
    for filter in &filters {
        let (read, proof) = match (filter.reading, sources.codec(&filter.name)) {
            ("read", Some(proof)) => ("yes", proof),
            ("read", None) => {
                faults.push(format!("filter {}: no codec of that name has tests", filter.name));
                continue;
            }
            ("nothing", _) => ("as it is: it rounds when it writes", String::new()),
            _ => ("refused by name", String::new()),
        };
        let _ = writeln!(text, "| {} | {} | {read} | {proof} |", filter.id, filter.registered);
    }
    Ok((text, faults))
}

const HEAD: &str = "\
# HDF5 File Format Specification 4.0: what is read

Written by `cargo xtask status` from the `Spec:` lines of the sources and the list in `xtask/src/status/hdf5.rs`.

| section | part | read | proven by |
|---|---|---|---|
";

const FILTERS: &str = "
## Filters

The specification leaves what filters do to libraries: those of libhdf5 and those registered with The HDF Group. Any other is refused by
its number.

| number | name | read | proven by |
|---|---|---|---|
";

/// A row of the table of filters.
struct Filter {
    id: String,
    registered: String,
    name: String,
    reading: &'static str,
}

impl Proof {
    fn name(&self) -> String {
        match self {
            Proof::Golden(name) => format!("golden {name}"),
            Proof::Data(name) => format!("file {name}"),
            Proof::Test(name) => format!("test {name}"),
        }
    }
}

impl Sources {
    fn read() -> Result<Sources, String> {
        let root = workspace::root();
        let (mut files, mut fixtures) = (Vec::new(), Vec::new());
        for krate in ["crates/hdf5", "crates/codec"] {
            walk(&root.join(krate), &mut |path| {
                let name = path.strip_prefix(&root).unwrap_or(path).to_path_buf();
                if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
                    files.push((name, text));
                } else {
                    fixtures.push(name.to_string_lossy().into_owned());
                }
                Ok(())
            })?;
        }
        Ok(Sources { files, fixtures })
    }

    /// The files whose `Spec:` lines name a section, without their folder.
    fn of_section(&self, number: &str) -> Vec<String> {
        let mut found = BTreeMap::new();
        for (path, text) in &self.files {
            let spec = text.lines().take(12).filter_map(|line| line.strip_prefix("//! Spec: HDF5 "));
            if spec.into_iter().any(|line| names(line, number)) {
                let name = path.strip_prefix("crates/hdf5/src").unwrap_or(path);
                found.insert(name.display().to_string(), ());
            }
        }
        found.into_keys().map(|name| format!("`{name}`")).collect()
    }

    fn text(&self, path: &str) -> Result<&str, String> {
        let found = self.files.iter().find(|(own, _)| own == Path::new(path));
        found.map(|(_, text)| text.as_str()).ok_or_else(|| format!("{path} does not exist"))
    }

    /// The registered filters, as listed in the source.
    fn filters(&self) -> Result<Vec<Filter>, String> {
        let numbers = self.text("crates/hdf5/src/filter.rs")?;
        let list = self.text("crates/hdf5/src/filter/registered.rs")?;
        let number = |word: &str| match word.parse::<u16>() {
            Ok(number) => number.to_string(),
            Err(_) => {
                let start = format!("pub const {word}: u16 = ");
                let line = numbers.lines().find_map(|line| line.strip_prefix(&start));
                line.unwrap_or(word).trim_end_matches(';').to_owned()
            }
        };
        let mut filters = Vec::new();
        let mut lines =
            list.lines().map(str::trim).skip_while(|line| !line.starts_with("pub(super) const REGISTERED"));
        while let Some(line) = lines.next().filter(|line| *line != "];") {
            let call = ["read", "unknown"]
                .into_iter()
                .find_map(|reading| Some((reading, line.strip_prefix(reading)?.strip_prefix('(')?)));
            if let Some((reading, arguments)) = call {
                let mut words =
                    arguments.split(',').map(|word| word.trim().trim_end_matches(')').trim_matches('"'));
                let mut word = || words.next().unwrap_or_default().to_owned();
                filters.push(Filter { id: number(&word()), registered: word(), name: word(), reading });
            } else if let Some(fields) = line.strip_prefix("Registered { ") {
                let mut values =
                    fields.split(", ").map(|field| field.split_once(": ").map_or("", |(_, value)| value));
                let mut value = || values.next().unwrap_or_default().trim_matches('"').to_owned();
                filters.push(Filter {
                    id: number(&value()),
                    registered: value(),
                    name: value(),
                    reading: "nothing",
                });
            } else if line == "Registered {" {
                let mut field = |name: &str| {
                    let line = lines.next().unwrap_or_default();
                    line.trim_start_matches(name).trim_end_matches(',').trim_matches('"').to_owned()
                };
                let (id, registered, name) = (field("id: "), field("registered_name: \""), field("name: \""));
                filters.push(Filter { id: number(&id), registered, name, reading: "nothing" });
            }
        }
        match filters.len() {
            0..10 => Err("crates/hdf5/src/filter/registered.rs lists its filters in another way".to_owned()),
            _ => Ok(filters),
        }
    }

    /// The file of a codec, if it has tests in it or elsewhere.
    fn codec(&self, name: &str) -> Option<String> {
        let plain = |text: &str| text.replace('_', "");
        let of = |path: &Path| {
            let rest = path.strip_prefix("crates/codec/src").ok()?;
            let stem = rest.components().next()?.as_os_str().to_str()?.trim_end_matches(".rs").to_owned();
            (plain(&stem) == name).then_some(stem)
        };
        let files: Vec<(String, &str)> =
            self.files.iter().filter_map(|(path, text)| Some((of(path)?, text.as_str()))).collect();
        let own = files.iter().any(|(_, text)| text.contains("#[test]"));
        let (stem, _) = files.first()?;
        let mut elsewhere = self.files.iter().filter(|(path, text)| {
            path.components().any(|part| part.as_os_str() == "tests")
                || text.contains("mod tests {") && of(path).is_none()
        });
        let other = elsewhere.any(|(_, text)| plain(&text.to_lowercase()).contains(name));
        (own || other).then(|| format!("tests of `crates/codec/src/{stem}.rs`, golden streams"))
    }

    fn proof(&self, proof: &Proof) -> Option<String> {
        let ends = |folder: &str, name: &str| {
            let end = format!("/tests/{folder}/{name}");
            self.fixtures.iter().any(|path| path.ends_with(&end))
        };
        match proof {
            Proof::Golden(name) => {
                let file = format!("{name}.hex");
                // A fixture that no test includes proves nothing.
                let used = |text: &str| text.contains(&file) || macro_names(text, name);
                let used = self.files.iter().any(|(_, text)| used(text));
                (ends("golden", &file) && used).then(|| format!("golden `{name}`"))
            }
            Proof::Data(name) => ends("data", name).then(|| format!("file `{name}`")),
            Proof::Test(name) => {
                let function = format!("fn {name}()");
                self.files.iter().any(|(_, text)| text.contains(&function)).then(|| format!("test `{name}`"))
            }
        }
    }
}

/// Whether a test macro composes the name of the golden file: `golden!("none")` for `selection_none`.
fn macro_names(text: &str, name: &str) -> bool {
    let mut rest = name;
    while let Some((_, end)) = rest.split_once('_') {
        if text.contains(&format!("golden!(\"{end}\")")) {
            return true;
        }
        rest = end;
    }
    false
}

/// Whether a `Spec:` line names a section, not only one with a longer number.
fn names(line: &str, number: &str) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find(number) {
        let (before, behind) = (&rest[..at], &rest[at + number.len()..]);
        let bounded = !before.ends_with(|c: char| c.is_alphanumeric() || c == '.');
        let deeper =
            behind.strip_prefix('.').is_some_and(|more| more.starts_with(|c: char| c.is_alphanumeric()));
        if bounded && !deeper && !behind.starts_with(|c: char| c.is_alphanumeric()) {
            return true;
        }
        rest = &rest[at + number.len()..];
    }
    false
}

fn walk(dir: &Path, each: &mut dyn FnMut(&Path) -> Result<(), String>) -> Result<(), String> {
    let entries = fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => walk(&path, each)?,
            false => each(&path)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_number_does_not_match_a_longer_one() {
        assert!(names("IV.A.2.d, Class Specific Information", "IV.A.2.d"));
        assert!(names("VII.C The Fixed Array Index and VII.D The Extensible", "VII.D"));
        assert!(names("II. The superblock extension (II.C) is an object header.", "II.C"));
        assert!(!names("IV.A.2.d", "IV.A.2"));
        assert!(!names("VIII.A Dataspace Encoding", "III.A"));
        assert!(!names("III.A.1 Disk Format", "III.A"));
    }

    #[test]
    fn the_table_has_no_gap() {
        let (_, faults) = table().unwrap();
        assert_eq!(faults, Vec::<String>::new());
    }
}
