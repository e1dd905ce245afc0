//! Checks that the code map of ARCHITECTURE.md matches the tree: every place in it exists, and every crate and every
//! source folder is in it.

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
        println!("ARCHITECTURE.md: {name} does not exist");
    }
    tally.check(missing.is_empty(), "every place in the code map exists");
    let mut unmapped = folders(&root)?;
    unmapped.retain(|folder| !mapped.iter().any(|place| covers(place, folder)));
    for folder in &unmapped {
        println!("ARCHITECTURE.md: {} is not in the code map", folder.display());
    }
    tally.check(unmapped.is_empty(), "every crate and every folder of sources is in the code map");
    Ok(())
}

/// Whether a place in the map is the folder, is in it, is the file of the same name beside it, or is the source
/// folder of its crate.
fn covers(place: &Path, folder: &Path) -> bool {
    place.starts_with(folder) || place == folder.with_extension("rs") || folder.parent() == Some(place)
}

/// The places in the first column of each row of the code map.
fn rows(document: &str) -> impl Iterator<Item = Vec<&str>> {
    let map = document.split("\n## Code map\n").nth(1).unwrap_or_default();
    let map = map.split("\n## ").next().unwrap_or_default();
    let cells = map.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    cells.map(|cell| cell.split('`').skip(1).step_by(2).collect()).filter(|row: &Vec<_>| !row.is_empty())
}

/// The path of a place: below the root, below `crates`, or below or beside the place before it.
fn resolve(root: &Path, before: &Path, name: &str) -> Option<PathBuf> {
    let beside = before.parent().unwrap_or(root).join(name);
    let places = [root.join(name), root.join("crates").join(name), beside, before.join(name)];
    places.into_iter().find(|place| place.exists())
}

/// All crates, and the folders directly in their sources, without tests.
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
    fn reads_the_first_column_of_the_code_map() {
        let document = "\n## Code map\n\n| place | what |\n|---|---|\n| `a/b.rs`, `c/` | `no` such |\n\n## Next\n| `d` | e |\n";
        assert_eq!(rows(document).collect::<Vec<_>>(), [["a/b.rs", "c/"]]);
    }

    #[test]
    fn a_place_covers_its_folder_its_parent_and_the_folder_beside_its_file() {
        let covered = |place: &str| covers(Path::new(place), Path::new("c/src/a"));
        assert!(["c/src/a", "c/src/a/b.rs", "c/src/a.rs", "c/src"].into_iter().all(covered));
        assert!(!["c", "c/src/b", "c/src/ab.rs"].into_iter().any(covered));
    }
}
