//! Mutants of TileDB arrays and groups: of their files as the library writes them, and of files without filters, in
//! which damage reaches every structure. Each mutant is read with the TileDB crate alone, and also shown as a store.

use crate::handmade::{Files, Parts, generic, raw_body, store_of};
use crate::mutate::Random;
use crate::text::damage;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::storage::FileStorage;
use hyperslab_core::store::{EntryKind, Key, MemoryStore, Store, ZipStore};
use hyperslab_core::{Error, ErrorKind, Limits, Severity};
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::check::{Options, check};
use hyperslab_tiledb::filter;
use hyperslab_tiledb::format::data_type::CellValNum;
use hyperslab_tiledb::format::layout::ArrayType;
use hyperslab_tiledb::group::Group;
use hyperslab_tiledb::history::{ArrayHistory, GroupHistory};
use hyperslab_tiledb::read::sparse::{SparseField, SparseRequest, SparseScratch};
use std::path::Path;
use std::sync::Arc;
use trials::{Outcome, described};

/// A valid array or group.
pub struct Base {
    name: String,
    files: Files,
    is_group: bool,
    is_raw: bool,
}

/// A mutant, identified by its base and seed.
#[derive(Clone, Copy)]
pub struct Case {
    base: usize,
    seed: u64,
}

/// The limits on what an array may cause to be allocated.
const LIMITS: Limits = Limits { allocation: 16 << 20, nesting: 32, rank: 64, filters: 32 };

/// Cells with more bytes in total are not read, because a schema may legitimately claim any size.
const BYTES: u64 = 1 << 20;

/// The key of the encrypted array.
const KEY: &[u8] = b"0123456789abcdef0123456789ABCDEF";

/// The arrays of the tests of the TileDB crate, unchanged and without filters.
pub fn bases() -> Vec<Base> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(ARRAYS);
    let file = FileStorage::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let store = ZipStore::open(Box::new(file), &Limits::default()).expect("the arrays are a zip file");
    let mut bases = Vec::new();
    for entry in store.list(&Key::root()).expect("a zip file has a root") {
        if entry.kind != EntryKind::Prefix || entry.name == "expected" {
            continue;
        }
        let mut files = Files::new();
        collect(&store, &Key::new(&entry.name).expect("a name"), &mut files);
        let is_group = files.keys().any(|key| key.ends_with("__tiledb_group.tdb"));
        if entry.name != "encrypted" {
            let (name, files) = (format!("{} without filters", entry.name), raw(&files, &entry.name));
            bases.push(Base { name, files, is_group, is_raw: true });
        }
        bases.push(Base { name: entry.name, files, is_group, is_raw: false });
    }
    bases
}

fn collect(store: &dyn Store, folder: &Key, files: &mut Files) {
    for entry in store.list(folder).expect("a zip file can be listed") {
        let key = folder.join(&entry.name).expect("a name");
        match store.read(&key, u64::MAX) {
            Ok(Some(content)) => drop(files.insert(key.to_string(), content.to_vec())),
            _ => collect(store, &key, files),
        }
    }
}

/// The same array with generic tiles that have no filters.
fn raw(files: &Files, array: &str) -> Files {
    let mut raw = files.clone();
    for (key, content) in files {
        let has_tile = ["/__schema/", "/__meta/", "/__group/"].iter().any(|folder| key.contains(folder));
        if (has_tile && !key.ends_with(".vac")) || key.ends_with(".del") {
            raw.insert(key.clone(), generic(&raw_body(content)));
        } else if let Some(folder) = key.strip_suffix("__fragment_metadata.tdb") {
            Parts::of_folder(files, array, folder).put(&mut raw);
        }
    }
    raw
}

/// This number of mutants, of all arrays in turn; the first of each is the original.
pub fn cases(bases: &[Base], count: usize) -> Vec<Case> {
    (0..count).map(|index| Case { base: index % bases.len(), seed: (index / bases.len()) as u64 }).collect()
}

impl Case {
    pub fn name(&self, bases: &[Base]) -> String {
        format!("{} mutant {}", bases[self.base].name, self.seed)
    }

    pub fn run(&self, bases: &[Base]) -> Outcome {
        let base = &bases[self.base];
        let mut files = base.files.clone();
        let mut random = Random::new(self.seed.wrapping_mul(0x1_0001).wrapping_add(self.base as u64));
        if self.seed > 0 {
            for _ in 0..=random.below(3) {
                change(&mut files, base.is_raw, &mut random);
            }
        }
        let name = base.name.split(' ').next().unwrap_or_default();
        let outcome = everything(&store_of(&files), &Key::new(name).expect("a name"), base.is_group);
        assert!(self.seed > 0 || outcome == Outcome::Described, "a sound array is refused");
        let shown = [false, true].map(|raw| shown(&files, name, raw));
        // Without its key, an encrypted array is rejected.
        assert!(self.seed > 0 || name == "encrypted" || shown == [true; 2], "a sound array is not shown");
        outcome
    }
}

/// Changes a file or its name.
fn change(files: &mut Files, is_raw: bool, random: &mut Random) {
    let names: Vec<String> = files.keys().cloned().collect();
    if names.is_empty() {
        return;
    }
    let is_metadata = |name: &&String| name.ends_with("_metadata.tdb") || !name.ends_with(".tdb");
    let structures: Vec<&String> = names.iter().filter(is_metadata).collect();
    let name = match random.below(4) {
        0 => &names[random.below(names.len())],
        _ => structures.get(random.below(structures.len())).copied().unwrap_or(&names[0]),
    };
    let other = &names[random.below(names.len())];
    match random.below(16) {
        0 => drop(files.remove(name)),
        1 => {
            let content = files[other].clone();
            files.insert(name.clone(), content);
        }
        2 => {
            let renamed = [
                name.replace("_22", "_7"),
                name.replace("__", "__1_"),
                format!("{name}.vac"),
                name.replace(".wrt", ".con"),
                name.replace("d0.tdb", "d1.tdb"),
                format!("{name}/x"),
            ];
            let renamed = renamed[random.below(renamed.len())].clone();
            if Key::new(&renamed).is_ok() {
                let content = files[name].clone();
                files.insert(renamed, content);
            }
        }
        3 => {
            // A part of another file, at the same offset.
            let from = files[other].clone();
            let Some(content) = files.get_mut(name) else { return };
            let start = random.below(content.len().min(from.len()));
            let end = (start + random.below(200)).min(content.len()).min(from.len());
            content[start..end].copy_from_slice(&from[start..end]);
        }
        4 if is_raw => {
            // A 64-bit number, like counts, offsets and sizes.
            let Some(content) = files.get_mut(name).filter(|content| content.len() >= 8) else { return };
            let at = random.below(content.len() - 7);
            let number = [0, 1, 1 << 20, 1 << 32, 1 << 62, 1 << 63, u64::MAX - 1, u64::MAX][random.below(8)];
            content[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        _ => {
            if let Some(content) = files.get_mut(name).filter(|content| !content.is_empty()) {
                damage(content, random);
            }
        }
    }
}

/// Checks an array or a group, and reads everything in it.
///
/// # Panics
/// If an error or a finding has no text, or if something that the check finds valid cannot be read.
fn everything(store: &Arc<dyn Store>, key: &Key, is_group: bool) -> Outcome {
    let open = || OpenOptions { key: filter::Key::new(KEY).ok(), limits: LIMITS, ..OpenOptions::default() };
    let mut is_sound = true;
    let options = Options { values: true, ..Options::default() };
    let summary = check(store, key, &open(), &options, &mut |finding| {
        assert!(!finding.message.trim().is_empty(), "a finding without a reason");
        let is_open = matches!(finding.rule, "tiledb/limit" | "tiledb/key" | "tiledb/delete-field");
        is_sound &= finding.severity != Severity::Error && !is_open;
    });
    let summary = summary.expect("memory can be read");
    assert!(!is_sound || summary.count(Severity::Error) == 0, "errors that were not given");
    let read = match is_group {
        true => read_group(store, key, open()),
        false => read_array(store, key, open()),
    };
    match read {
        Ok(()) => Outcome::Described,
        Err(e) => {
            assert!(!e.reason().to_string().trim().is_empty(), "an error without a reason");
            let is_limit = matches!(e.kind(), ErrorKind::LimitExceeded | ErrorKind::Unsupported);
            assert!(!is_sound || is_limit, "a check finds no fault in {e}");
            Outcome::Refused
        }
    }
}

/// Describes and hashes an array or a group as a store, as stored (`raw`) or not. Returns false if it is rejected.
///
/// # Panics
/// If an error has no text.
fn shown(files: &Files, name: &str, raw: bool) -> bool {
    let mut store = MemoryStore::new();
    for (key, content) in files {
        let key = key.strip_prefix(name).and_then(|key| key.strip_prefix('/')).map(Key::new);
        if let Some(Ok(key)) = key {
            store.insert(&key, content.clone());
        }
    }
    let options = hyperslab::OpenOptions { raw, limits: LIMITS, ..hyperslab::OpenOptions::default() };
    let opened = hyperslab::open_location(hyperslab::Location::Store(Arc::new(store)), &options);
    match opened.and_then(|source| described(&*source)) {
        Ok(()) => true,
        Err(e) => {
            assert!(!e.reason().to_string().trim().is_empty(), "an error without a reason");
            false
        }
    }
}

fn read_group(store: &Arc<dyn Store>, key: &Key, open: OpenOptions) -> Result<(), Error> {
    let group = Group::open(Arc::clone(store), key, open.clone())?;
    group.members()?;
    group.metadata()?;
    GroupHistory::read(Arc::clone(store), key, open).map(drop)
}

fn read_array(store: &Arc<dyn Store>, key: &Key, open: OpenOptions) -> Result<(), Error> {
    let array = Array::open(Arc::clone(store), key, open.clone())?;
    array.metadata()?;
    let history = ArrayHistory::read(Arc::clone(store), key, open).map(drop);
    match array.schema().array_type {
        ArrayType::Dense => read_dense(&array)?,
        ArrayType::Sparse => {
            let dimensions = (0..array.dimensions().len()).map(SparseField::Dimension);
            let columns =
                dimensions.chain((0..array.attributes().len()).map(SparseField::Attribute)).collect();
            let plan = array.plan_sparse(&SparseRequest { ranges: Vec::new(), columns })?;
            let mut scratch = SparseScratch::default();
            for part in 0..plan.len() {
                plan.read(part, &mut scratch, &mut |_| Ok(()))?;
            }
        }
    }
    history
}

/// Reads a corner of a dense array, which contains the written cells.
fn read_dense(array: &Array) -> Result<(), Error> {
    let shape: Vec<u64> = array.dense_domain()?.shape.iter().map(|len| *len.min(&20)).collect();
    let cells = shape.iter().fold(1_u64, |cells, len| cells.saturating_mul(*len));
    let region = Region::new(vec![0; shape.len()], shape);
    for (position, attribute) in array.attributes().iter().enumerate() {
        let row = match attribute.cell_val_num {
            CellValNum::Fixed(values) => u64::from(values).saturating_mul(attribute.data_type.size() as u64),
            CellValNum::Var => 16,
        };
        let bytes = row.saturating_mul(cells);
        let Some(len) = usize::try_from(bytes).ok().filter(|_| bytes <= BYTES) else { continue };
        match attribute.cell_val_num.is_var() {
            true => drop(array.read_dense_var(position, &region, None)?),
            false => array.read_dense(position, &region, &mut Planes::whole(&mut vec![0; len]), None)?,
        }
    }
    Ok(())
}

const ARRAYS: &str = "../../crates/tiledb/tests/arrays/arrays.zip";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_arrays_are_read() {
        let bases = bases();
        for base in 0..bases.len() {
            assert_eq!(Case { base, seed: 0 }.run(&bases), Outcome::Described, "{}", bases[base].name);
        }
    }
}
