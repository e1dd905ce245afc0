//! Known failures in the corpus: the table `xtask/corpus/exceptions.tsv`, which the scripts in `xtask/oracles` read
//! too.

use crate::tally::Tally;
use std::collections::BTreeMap;

const TABLE: &str = include_str!("../../corpus/exceptions.tsv");

/// The paths of one list, each with its reason.
pub(super) type List = BTreeMap<&'static str, &'static str>;

/// The prefix of lists of losses; the kinds of losses follow.
const LOSES: &str = "loses ";

/// The rows of an archive in a list.
pub(super) fn list(name: &str, archive: &str) -> List {
    rows()
        .filter(|row| row.list == name && row.archive == archive)
        .map(|row| (row.path, row.reason))
        .collect()
}

/// The kinds of losses of each file of an archive, separated by commas.
pub(super) fn losses(archive: &str) -> List {
    let rows = rows().filter(|row| row.archive == archive);
    rows.filter_map(|row| Some((row.path, row.list.strip_prefix(LOSES)?))).collect()
}

/// The row of a path: its own, or that of a folder, which ends in `/`.
pub(super) fn row(list: &List, path: &str) -> Option<&'static str> {
    let folder = |row: &&str| row.ends_with('/') && path.starts_with(*row);
    list.get_key_value(path).map(|(row, _)| *row).or_else(|| list.keys().copied().find(|row| folder(row)))
}

/// Two checks: every found path is listed, and every listed path was found.
pub(super) fn compare(tally: &mut Tally, what: &str, found: &BTreeMap<String, String>, listed: &List) {
    let new: Vec<_> = found.iter().filter(|(path, _)| row(listed, path).is_none()).collect();
    for (path, message) in &new {
        println!("       not listed: {path}: {message}");
    }
    tally.check(new.is_empty(), format_args!("{what}: {} found, {} not listed", found.len(), new.len()));
    let is_met = |row: &str| {
        found.contains_key(row) || row.ends_with('/') && found.keys().any(|path| path.starts_with(row))
    };
    let gone: Vec<_> = listed.iter().filter(|(row, _)| !is_met(row)).collect();
    for (path, reason) in &gone {
        println!("       listed, but not found: {path}: {reason}");
    }
    tally.check(
        gone.is_empty(),
        format_args!("{what}: {} listed, {} of them not found", listed.len(), gone.len()),
    );
}

struct Row {
    list: &'static str,
    archive: &'static str,
    path: &'static str,
    reason: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut fields = line.split('\t');
        let row = Row {
            list: fields.next()?,
            archive: fields.next()?,
            path: fields.next()?,
            reason: fields.next()?,
        };
        Some(row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: &[&str] = &["refused", "unread", "unlisted", "viewed", "broken", "unconverted", "partly"];

    #[test]
    fn every_row_is_complete() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(rows().count(), lines);
        for row in rows() {
            assert!(LISTS.contains(&row.list) || row.list.starts_with(LOSES), "{} {}", row.list, row.path);
            assert!(
                ["hdf5", "zarr", "tiledb", "examples"].contains(&row.archive),
                "{} {}",
                row.archive,
                row.path
            );
            assert!(!row.path.is_empty() && !row.reason.is_empty(), "{}", row.path);
        }
    }

    fn failed(found: &[&str]) -> u64 {
        let listed = List::from([("a.h5:/x", "a filter"), ("raw/", "chunks")]);
        let found = found.iter().map(|path| ((*path).to_owned(), String::new())).collect();
        let mut tally = Tally::default();
        compare(&mut tally, "objects", &found, &listed);
        tally.failed
    }

    #[test]
    fn unlisted_failures_and_listed_successes_both_fail() {
        assert_eq!(failed(&["a.h5:/x", "raw/0", "raw/1"]), 0);
        assert_eq!(failed(&["a.h5:/x", "raw/0", "b.h5:/x"]), 1);
        assert_eq!(failed(&["a.h5:/x"]), 1);
        assert_eq!(failed(&["b.h5:/x"]), 2);
    }
}
