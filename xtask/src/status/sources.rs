//! The sources from which the tables are generated.

use super::Proof;
use crate::workspace;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The location of the sources that know a format.
pub(super) struct Places {
    /// The crates that know the format. The first contains its structures.
    crates: &'static [&'static str],
    /// The location of the tests of whole conversions.
    above: &'static [&'static str],
    /// The scripts of the trial, in `xtask/oracles`.
    scripts: &'static [&'static str],
    /// How `Spec:` lines name the specification.
    specification: &'static str,
}

/// The sources of HDF5.
pub(super) const HDF5: Places = Places {
    crates: &["crates/hdf5", "crates/codec"],
    above: &["crates/hyperslab/src/format/hdf5", "crates/hyperslab/tests", "crates/cli/tests"],
    scripts: &["hdf5_written.py", "hdf5_documents.py", "hdf5_types.py"],
    specification: "HDF5 ",
};

/// The sources of array schemas of TileDB.
pub(super) const TILEDB: Places = Places {
    crates: &["crates/tiledb"],
    above: &["crates/hyperslab/tests"],
    scripts: &[],
    specification: "TileDB format_spec, array_schema.md ",
};

/// The sources from which the tables are generated.
pub(super) struct Sources {
    places: &'static Places,
    /// Path and text of each file in the crates that know the format.
    files: Vec<(PathBuf, String)>,
    /// The same for files above them, which contain tests of whole conversions.
    above: Vec<(PathBuf, String)>,
    /// The text of the scripts that generate random documents and compare the files made from them.
    trial: Vec<String>,
    /// The paths of fixture files.
    fixtures: Vec<String>,
}

impl Sources {
    pub(super) fn read(places: &'static Places) -> Result<Sources, String> {
        let root = workspace::root();
        let (mut files, mut above, mut fixtures) = (Vec::new(), Vec::new(), Vec::new());
        for folder in places.crates.iter().chain(places.above) {
            let is_above = places.above.contains(folder);
            walk(&root.join(folder), &mut |path| {
                let name = path.strip_prefix(&root).unwrap_or(path).to_path_buf();
                if path.extension().is_some_and(|extension| extension == "rs") {
                    let to = if is_above { &mut above } else { &mut files };
                    to.push((name, text_of(path)?));
                } else if !is_above {
                    fixtures.push(name.to_string_lossy().into_owned());
                }
                Ok(())
            })?;
        }
        let scripts = places.scripts.iter().map(|name| text_of(&root.join("xtask/oracles").join(name)));
        Ok(Sources { places, files, above, trial: scripts.collect::<Result<_, _>>()?, fixtures })
    }

    /// The files whose `Spec:` lines name a section, without their folder.
    pub(super) fn of_section(&self, number: &str) -> Vec<String> {
        let mut found = BTreeMap::new();
        let Places { crates, specification, .. } = self.places;
        let of_structures = Path::new(crates.first().unwrap_or(&"")).join("src");
        for (path, text) in &self.files {
            let spec = text.lines().take(12).filter_map(|line| {
                line.strip_prefix("//! Spec: ").and_then(|line| line.strip_prefix(specification))
            });
            if spec.into_iter().any(|line| names(line, number)) {
                let name = path.strip_prefix(&of_structures).unwrap_or(path);
                found.insert(name.display().to_string(), ());
            }
        }
        found.into_keys().map(|name| format!("`{name}`")).collect()
    }

    pub(super) fn text(&self, path: &str) -> Result<&str, String> {
        let found = self.files.iter().find(|(own, _)| own == Path::new(path));
        found.map(|(_, text)| text.as_str()).ok_or_else(|| format!("{path} does not exist"))
    }

    /// The file of a codec, if it has tests, in the file itself or elsewhere.
    pub(super) fn codec(&self, name: &str) -> Option<String> {
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

    /// Whether a proof exists.
    ///
    /// # Errors
    /// If it does not, with the reason.
    pub(super) fn proof(&self, proof: &Proof) -> Result<(), String> {
        let ends = |folder: &str, name: &str| {
            let end = format!("/tests/{folder}/{name}");
            self.fixtures.iter().any(|path| path.ends_with(&end))
        };
        let exists = match proof {
            Proof::Golden(name) => {
                let file = format!("{name}.hex");
                // A fixture that no test includes proves nothing.
                let used = |text: &str| text.contains(&file) || macro_names(text, name);
                let used = self.files.iter().any(|(_, text)| used(text));
                ends("golden", &file) && used
            }
            Proof::Data(name) => ends("data", name),
            Proof::Test(name) => match self.tests(name) {
                0 => false,
                1 => true,
                count => return Err(format!("{count} modules have a test {name}, expected one: name it")),
            },
            Proof::Trial(word) => self.is_tried(word),
        };
        if exists { Ok(()) } else { Err(format!("there is no {}", proof.name())) }
    }

    /// The number of files that have a test.
    fn tests(&self, name: &str) -> usize {
        let (module, name) =
            name.rsplit_once("::").map_or((None, name), |(module, name)| (Some(module), name));
        let (function, by_macro) = (format!("fn {name}()"), format!("_tests!({name},"));
        let files = self.files.iter().chain(&self.above);
        let has = |path: &Path, text: &str| {
            module.is_none_or(|module| is_module(path, module))
                && (text.contains(&function) || text.contains(&by_macro))
        };
        files.filter(|(path, text)| has(path, text)).count()
    }

    /// Whether the generators of random documents contain a function or a word.
    pub(super) fn is_tried(&self, word: &str) -> bool {
        let forms = [format!("def {word}("), format!("\"{word}\""), format!("\"{word}=")];
        self.trial.iter().any(|text| forms.iter().any(|form| text.contains(form)))
    }
}

/// Whether the tests of a module are in this file.
fn is_module(path: &Path, module: &str) -> bool {
    let path = path.with_extension("");
    path.ends_with(module) || path.ends_with(Path::new(module).join("tests"))
}

fn text_of(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
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
    fn a_test_is_found_in_its_module() {
        let file = Path::new("crates/hdf5/src/write/links.rs");
        assert!(is_module(file, "links") && !is_module(file, "inks") && !is_module(file, "write"));
        assert!(is_module(Path::new("crates/hdf5/src/write/attributes/tests.rs"), "attributes"));
    }
}
