//! Arrays of another library, which reads them again afterwards.

use super::arrays::{ALL_CELLS, consolidate, vacuum};
use crate::written::{copy, key};
use hyperslab_core::Limits;
use hyperslab_core::store::{DirectoryWriter, Durability, Key, Store, WritableStore};
use hyperslab_tiledb::array::OpenOptions;
use hyperslab_tiledb::check::{self, Options};
use hyperslab_tiledb::write::array::{ArrayWriter, WriteOptions};
use hyperslab_tiledb::write::consolidate::{ConsolidateOptions, Deleted};
use hyperslab_tiledb::write::vacuum::VacuumOptions;
use std::path::PathBuf;
use std::sync::Arc;

/// Copies the arrays in the folder that `HYPERSLAB_CONSOLIDATE` names to the folder that `HYPERSLAB_CONSOLIDATED`
/// names, and consolidates and vacuums the copies, which another library then reads.
#[test]
fn arrays_of_others_are_consolidated() {
    let (Some(from), Some(to)) =
        (std::env::var_os("HYPERSLAB_CONSOLIDATE"), std::env::var_os("HYPERSLAB_CONSOLIDATED"))
    else {
        return;
    };
    let (from, to) = (PathBuf::from(from), PathBuf::from(to));
    copy(&from, &to);
    let store = Arc::new(DirectoryWriter::open(&to, Durability::Process).unwrap());
    let limits = Limits::default();
    let steps = std::env::var("HYPERSLAB_STEPS").unwrap_or_else(|_| "fcmFCM".to_owned());
    for entry in store.list(&Key::root()).unwrap() {
        let name = key(&entry.name);
        let writable = Arc::clone(&store) as Arc<dyn WritableStore>;
        let readable = Arc::clone(&store) as Arc<dyn Store>;
        let options = WriteOptions::default();
        let writer = ArrayWriter::open(writable, Arc::clone(&readable), &name, limits, options).unwrap();
        for step in steps.chars() {
            let only = VacuumOptions::default();
            match step {
                'f' => drop(consolidate(&writer, ALL_CELLS)),
                'p' => {
                    drop(consolidate(&writer, ConsolidateOptions { deleted: Deleted::Purged, ..ALL_CELLS }))
                }
                'c' => drop(writer.consolidate_commits(&limits).unwrap()),
                'o' => drop(writer.consolidate_footers(&limits).unwrap()),
                'm' => drop(writer.consolidate_metadata(&limits).unwrap()),
                'F' => drop(vacuum(&writer, &VacuumOptions { fragments: true, ..only })),
                'C' => drop(vacuum(&writer, &VacuumOptions { commits: true, ..only })),
                'O' => drop(vacuum(&writer, &VacuumOptions { footers: true, ..only })),
                _ => drop(vacuum(&writer, &VacuumOptions { metadata: true, ..only })),
            }
        }
        let (mut found, options) = (Vec::new(), Options { values: true, ..Options::default() });
        check::check(&readable, &name, &OpenOptions::default(), &options, &mut |finding| {
            found.push(format!("{finding:?}"));
        })
        .unwrap();
        assert_eq!(found, Vec::<String>::new(), "{name}");
    }
}
