//! Whether ARCHITECTURE.md and the tree agree: every place in its code map is there, and every crate and every folder
//! of sources is in the map.

use crate::tally::Tally;
use crate::workspace;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn check(tally: &mut Tally) -> Result<(), String> {
    let root = workspace::root();
    let document = fs::read_to_string(root.join("ARCHITECTURE.md"))
        .map_err(|error| format!("ARCHITECTURE.md: {error}"))?;
    let (mut mapped, mut missing) = (Vec::new(), Vec::new());
    for row in rows(&document) {
        let mut before = root.clone();
        for name in row {
            match resolve(&root, &before, name) {
                Some(found) => {
                    before.clone_from(&found);
                    mapped.push(found);
                }
                None => missing.push(name),
            }
        }
    }
    for name in &missing {
        println!("ARCHITECTURE.md: {name} is not there");
    }
    tally.check(missing.is_empty(), "every place in the code map is there");
    let mut unmapped = folders(&root)?;
    unmapped.retain(|folder| !mapped.iter().any(|place| covers(place, folder)));
    for folder in &unmapped {
        println!("ARCHITECTURE.md: {} is not in the code map", folder.display());
    }
    tally.check(unmapped.is_empty(), "every crate and every folder of sources is in the code map");
    Ok(())
}

/// Whether a place in the map is a folder, lies in it, is the file beside it that it belongs to, or is the folder of
/// all sources of its crate.
fn covers(place: &Path, folder: &Path) -> bool {
    place.starts_with(folder) || place == folder.with_extension("rs") || folder.parent() == Some(place)
}

/// The places that each row of the code map names in its first column.
fn rows(document: &str) -> impl Iterator<Item = Vec<&str>> {
    let map = document.split("\n## Code map\n").nth(1).unwrap_or_default();
    let map = map.split("\n## ").next().unwrap_or_default();
    let cells = map.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    cells.map(|cell| cell.split('`').skip(1).step_by(2).collect()).filter(|row: &Vec<_>| !row.is_empty())
}

/// A place below the root, below `crates`, or beside or below the one named before it.
fn resolve(root: &Path, before: &Path, name: &str) -> Option<PathBuf> {
    let beside = before.parent().unwrap_or(root).join(name);
    let places = [root.join(name), root.join("crates").join(name), beside, before.join(name)];
    places.into_iter().find(|place| place.exists())
}

/// Crates, and the folders directly in their sources, tests aside.
fn folders(root: &Path) -> Result<Vec<PathBuf>, String> {
    let below = |folder: &Path| -> Result<Vec<PathBuf>, String> {
        let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut folders: Vec<_> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        Ok(folders)
    };
    let mut folders = below(&root.join("crates"))?;
    for member in folders.clone() {
        folders.extend(below(&member.join("src"))?.into_iter().filter(|folder| !folder.ends_with("tests")));
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_column_of_the_code_map_is_read() {
        let document = "\n## Code map\n\n| place | what |\n|---|---|\n| `a/b.rs`, `c/` | `no` such |\n\n## Next\n| `d` | e |\n";
        assert_eq!(rows(document).collect::<Vec<_>>(), [["a/b.rs", "c/"]]);
    }

    #[test]
    fn a_folder_is_in_the_map_by_itself_by_what_is_in_it_or_by_its_file() {
        let covered = |place: &str| covers(Path::new(place), Path::new("c/src/a"));
        assert!(["c/src/a", "c/src/a/b.rs", "c/src/a.rs", "c/src"].into_iter().all(covered));
        assert!(!["c", "c/src/b", "c/src/ab.rs"].into_iter().any(covered));
    }
}
