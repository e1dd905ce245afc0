//! The part of an array that is visible at one moment.
//!
//! The specification does not define it; this is what the library does.

use crate::directory::{ArrayDirectory, DeleteCommit, Fragment, NamedFile, SchemaFile, Vacuum};
use crate::format::layout::ArrayType;
use crate::format::timestamped_name::TimestampedName;

/// The range of visible times, in milliseconds since 1970, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The first.
    pub start: u64,
    /// The last.
    pub end: u64,
}

/// The files that are visible at a moment.
#[derive(Clone, Debug)]
pub struct Opened<'a> {
    /// The schema: of the schemas up to the end of the moment, the last one by name; if there are none, the first of
    /// all.
    pub schema: Option<&'a SchemaFile>,
    /// The fragments, from oldest to newest; later ones take precedence. Fragments that begin before the moment or end
    /// after it have the timestamp of each cell, and only cells within the moment are visible.
    pub fragments: Vec<&'a Fragment>,
    /// The deletes, the oldest first.
    pub deletes: Vec<&'a DeleteCommit>,
    /// The metadata files, from oldest to newest; later ones take precedence.
    pub metadata: Vec<&'a NamedFile>,
}

impl Moment {
    /// Everything that was ever written.
    pub const ALL: Moment = Moment { start: 0, end: u64::MAX };

    /// Everything that was written up to a time.
    pub fn until(end: u64) -> Moment {
        Moment { start: 0, end }
    }

    fn contains(&self, name: &TimestampedName) -> bool {
        self.start <= name.start && name.end <= self.end
    }

    fn overlaps(&self, name: &TimestampedName) -> bool {
        name.start <= self.end && self.start <= name.end
    }
}

impl ArrayDirectory {
    /// The files of an array of this type that are visible at the moment.
    ///
    /// A fragment that became part of a consolidated one is visible again at moments at which that one is not, as long
    /// as it has not been vacuumed. In sparse arrays, consolidated fragments since version 15 are visible if part of
    /// their time range is.
    pub fn opened(&self, moment: Moment, array_type: ArrayType) -> Opened<'_> {
        let sees_fragment = |name: &TimestampedName| {
            let has_timestamps = array_type == ArrayType::Sparse && name.fragment_version() >= TIMESTAMPS;
            if has_timestamps { moment.overlaps(name) } else { moment.contains(name) }
        };
        let is_old = |schema: &&SchemaFile| schema.name.as_ref().is_some_and(|name| name.end <= moment.end);
        Opened {
            schema: self.schemas.iter().rev().find(is_old).or_else(|| self.schemas.first()),
            fragments: self
                .fragments
                .iter()
                .filter(|fragment| sees_fragment(&fragment.name))
                .filter(|fragment| !is_replaced(&fragment.name, &self.fragment_vacuums, &sees_fragment))
                .collect(),
            deletes: self.deletes.iter().filter(|delete| moment.contains(&delete.name)).collect(),
            metadata: files(&self.metadata, &self.metadata_vacuums, moment),
        }
    }
}

/// The files that are visible at a moment, except those that others replace.
pub(crate) fn files<'a>(files: &'a [NamedFile], vacuums: &[Vacuum], moment: Moment) -> Vec<&'a NamedFile> {
    let sees = |name: &TimestampedName| moment.contains(name);
    files.iter().filter(|file| sees(&file.name) && !is_replaced(&file.name, vacuums, &sees)).collect()
}

fn is_replaced(name: &TimestampedName, vacuums: &[Vacuum], sees: &dyn Fn(&TimestampedName) -> bool) -> bool {
    let text = name.to_string();
    vacuums.iter().any(|vacuum| sees(&vacuum.name) && vacuum.replaced.contains(&text))
}

/// The first version whose fragments are visible on partial overlap: consolidated ones have timestamps.
const TIMESTAMPS: u32 = 15;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::tests::{name, read};

    #[test]
    fn consolidated_fragments_replace_their_parts_only_where_they_are_seen() {
        let vacuum = format!("/__fragments/{}\n/__fragments/{}\n", name(10, 10, 22), name(20, 20, 22));
        let directory = read(&[
            ("__schema/__5_5_0123456789abcdef0123456789abcdef", ""),
            (&format!("__commits/{}.wrt", name(10, 10, 22)), ""),
            (&format!("__commits/{}.wrt", name(20, 20, 22)), ""),
            (&format!("__commits/{}.wrt", name(10, 20, 22)), ""),
            (&format!("__commits/{}.vac", name(10, 20, 22)), &vacuum),
        ]);
        let seen = |end, array_type| {
            let opened = directory.opened(Moment::until(end), array_type);
            opened
                .fragments
                .iter()
                .map(|fragment| (fragment.name.start, fragment.name.end))
                .collect::<Vec<_>>()
        };
        assert_eq!(seen(u64::MAX, ArrayType::Dense), [(10, 20)]);
        assert_eq!(seen(15, ArrayType::Dense), [(10, 10)]);
        assert_eq!(seen(15, ArrayType::Sparse), [(10, 20)]);
        assert_eq!(seen(9, ArrayType::Sparse), []);
    }

    #[test]
    fn sparse_fragments_without_timestamps_are_seen_whole_or_not_at_all() {
        let directory =
            read(&[("__array_schema.tdb", ""), (&format!("__commits/{}.wrt", name(10, 20, 14)), "")]);
        assert_eq!(directory.opened(Moment::until(15), ArrayType::Sparse).fragments, Vec::<&Fragment>::new());
        assert_eq!(directory.opened(Moment::until(20), ArrayType::Sparse).fragments.len(), 1);
    }

    #[test]
    fn the_schema_is_the_last_one_until_then_or_the_oldest() {
        let uuid = "0123456789abcdef0123456789abcdef";
        let (first, second) = (format!("__schema/__10_10_{uuid}"), format!("__schema/__20_20_{uuid}"));
        let directory = read(&[(&first, ""), (&second, "")]);
        for (end, key) in [(5, &first), (10, &first), (19, &first), (20, &second), (u64::MAX, &second)] {
            let opened = directory.opened(Moment::until(end), ArrayType::Dense);
            assert_eq!(opened.schema.unwrap().key.as_str(), key, "at {end}");
        }
        let directory = read(&[("__array_schema.tdb", ""), (&second, "")]);
        let schema =
            |end| directory.opened(Moment::until(end), ArrayType::Dense).schema.unwrap().key.to_string();
        assert_eq!((schema(5), schema(30)), ("__array_schema.tdb".to_owned(), second));
    }

    #[test]
    fn deletes_and_metadata_are_seen_within_the_moment() {
        let uuid = "0123456789abcdef0123456789abcdef";
        let vacuum = format!("/__meta/__10_10_{uuid}\n");
        let directory = read(&[
            ("__array_schema.tdb", ""),
            (&format!("__commits/{}.del", name(30, 30, 22)), ""),
            (&format!("__commits/{}.del", name(20, 20, 22)), ""),
            (&format!("__meta/__10_10_{uuid}"), ""),
            (&format!("__meta/__10_20_{uuid}"), ""),
            (&format!("__meta/__10_20_{uuid}.vac"), &vacuum),
        ]);
        let opened = directory.opened(Moment::ALL, ArrayType::Sparse);
        assert_eq!(opened.deletes.iter().map(|delete| delete.name.start).collect::<Vec<_>>(), [20, 30]);
        assert_eq!(opened.deletes[0].marker(), format!("__commits/{}.del", name(20, 20, 22)));
        assert_eq!(opened.metadata.iter().map(|file| file.name.end).collect::<Vec<_>>(), [20]);
        let opened = directory.opened(Moment { start: 5, end: 15 }, ArrayType::Sparse);
        assert_eq!(opened.metadata.iter().map(|file| file.name.end).collect::<Vec<_>>(), [10]);
        assert!(opened.deletes.is_empty());
    }
}
