//! Arrays that ask for excessive resources or mislead the reader: each is rejected by name, before memory is allocated.

use crate::handmade::{Files, Parts, SCHEMA, add_fragment, array, change_schema, generic, schema, store_of};
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::store::Key;
use hyperslab_core::{Encoder, Error, ErrorKind, Limits, Result};
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::check::{Options, check};
use hyperslab_tiledb::format::array_schema::EnumerationFile;
use hyperslab_tiledb::format::layout::{ArrayType, Layout};
use hyperslab_tiledb::read::sparse::{SparseField, SparseRequest};

/// The limits on what a file can make the reader allocate in these tests.
const LIMITS: Limits = Limits { allocation: 1 << 20, nesting: 32, rank: 64, filters: 32 };

fn open(files: &Files) -> Result<Array> {
    let options = OpenOptions { limits: LIMITS, ..OpenOptions::default() };
    Array::open(store_of(files), &Key::new("hand").unwrap(), options)
}

/// The number of cells that are read.
fn read(files: &Files, columns: Vec<SparseField>) -> Result<usize> {
    let mut count = 0;
    open(files)?.read_sparse(&SparseRequest { ranges: Vec::new(), columns }, &mut |cells| {
        count += cells.count;
        Ok(())
    })?;
    Ok(count)
}

fn sound() -> Files {
    let mut files = array(&schema(false));
    add_fragment(&mut files, 10, &(0..9).collect::<Vec<i64>>(), 100);
    files
}

fn changed(change: impl FnOnce(&mut Parts)) -> Files {
    let mut files = sound();
    let mut parts = Parts::of(&files, "hand");
    change(&mut parts);
    parts.put(&mut files);
    files
}

fn refused(files: &Files) -> Error {
    // A check must also end, whatever it finds.
    let options = Options { values: true, ..Options::default() };
    let open = OpenOptions { limits: LIMITS, ..OpenOptions::default() };
    check(&store_of(files), &Key::new("hand").unwrap(), &open, &options, &mut |_| {}).unwrap();
    let all = read(files, vec![SparseField::Dimension(0), SparseField::Attribute(0)]);
    // Reading ends, whichever columns are requested.
    let _ = read(files, Vec::new());
    let _ = read(files, vec![SparseField::Attribute(0)]);
    all.unwrap_err()
}

fn assert_refused(files: &Files, expected: &str) {
    let e = refused(files);
    assert!(e.to_string().contains(expected), "{e}, expected {expected}");
}

fn fragment(file: &str) -> String {
    format!("hand/__fragments/__10_10_0123456789abcdef0123456789abcdef_22/{file}")
}

#[test]
fn arrays_made_by_hand_are_read() {
    assert_eq!(read(&sound(), vec![SparseField::Attribute(0)]).unwrap(), 9);
}

#[test]
fn tiles_that_fall_or_pass_the_end_are_refused() {
    assert_refused(
        &changed(|parts| parts.offsets[0].offsets[2] = 20),
        "bytes 36 to 20 of a file of 96 bytes",
    );
    assert_refused(&changed(|parts| parts.offsets[2].offsets[2] = 1 << 62), "of a file of");
    assert_refused(
        &changed(|parts| parts.offsets[0].offsets.clear()),
        "the metadata of the fragment has 0 tiles",
    );
}

#[test]
fn sizes_that_lie_are_refused() {
    assert_refused(
        &changed(|parts| parts.footer.file_sizes[0] = 1 << 40),
        "bytes, the footer says 1099511627776",
    );
    assert_refused(&changed(|parts| parts.footer.file_sizes[0] = 50), "bytes 36 to 72 of a file of 50 bytes");
    assert_refused(&changed(|parts| parts.footer.last_tile_cell_num = 1 << 60), "at most 1048576 are read");
    for count in [1 << 20, 1 << 62, u64::MAX] {
        let files = changed(|parts| parts.footer.sparse_tile_num = count);
        assert_refused(&files, &format!("offsets of 3 tiles, the footer says {count}"));
    }
    assert_refused(
        &changed(|parts| parts.footer.sparse_tile_num = 5),
        "tile 2: a tile of 8 bytes, expected 32",
    );
    let mut files = sound();
    let metadata = files.get_mut(&fragment("__fragment_metadata.tdb")).unwrap();
    let end = metadata.len() - 8;
    metadata[end..].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_refused(&files, "a footer of 18446744073709551615 bytes");
}

#[test]
fn trees_deeper_than_they_say_are_refused() {
    let ranged = |files: &Files| {
        let range = hyperslab_tiledb::format::fragment_metadata::mbr::Range {
            min: 0_i64.to_le_bytes().to_vec(),
            max: 5_i64.to_le_bytes().to_vec(),
        };
        let request = SparseRequest { ranges: vec![Some(range)], columns: vec![SparseField::Dimension(0)] };
        open(files)?.read_sparse(&request, &mut |_| Ok(()))
    };
    ranged(&sound()).unwrap();
    let doubled = changed(|parts| {
        let leaves = parts.r_tree.levels.last().unwrap().clone();
        parts.r_tree.levels.push(leaves);
    });
    let e = ranged(&doubled).unwrap_err();
    assert!(e.to_string().contains("a level of 3 MBR above one of 3, with a fanout of 10"), "{e}");
    let shallow = changed(|parts| drop(parts.r_tree.levels.pop()));
    let e = ranged(&shallow).unwrap_err();
    assert!(e.to_string().contains("an R-tree of 1 tiles, the footer says 3"), "{e}");
    // A tree that claims to have four billion levels.
    let mut files = sound();
    let metadata = files.get_mut(&fragment("__fragment_metadata.tdb")).unwrap();
    let levels = metadata.windows(8).position(|bytes| bytes == [10, 0, 0, 0, 2, 0, 0, 0]).unwrap() + 4;
    metadata[levels..levels + 4].fill(0xff);
    let e = ranged(&files).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Malformed, "{e}");
}

#[test]
fn domains_and_extents_of_any_size_are_refused_or_read() {
    let with_extent = |extent: u64, other: &[i64]| {
        let mut files = sound();
        change_schema(&mut files, "hand", |of| {
            let dimension = &mut of.domain.dimensions[0];
            dimension.domain = [i64::MIN.to_le_bytes(), i64::MAX.to_le_bytes()].concat();
            dimension.tile_extent = Some(extent.to_le_bytes().to_vec());
        });
        add_fragment(&mut files, 20, other, 0);
        files
    };
    assert_refused(&with_extent(0, &[3]), "a tile extent of 0 of dimension \"x\"");
    // Fragments that do not overlap need no order, and so no extent.
    assert_eq!(read(&with_extent(0, &[30]), Vec::new()).unwrap(), 10);
    assert_eq!(read(&with_extent(u64::MAX, &[3, 9]), Vec::new()).unwrap(), 10);
    assert_eq!(read(&with_extent(1, &[3, 9]), Vec::new()).unwrap(), 10);
}

#[test]
fn dense_arrays_of_2_to_the_63_cells_are_not_allocated() {
    let dense = |extent: u64, last: i64| {
        let mut files = array(&schema(false));
        change_schema(&mut files, "hand", |of| {
            of.array_type = ArrayType::Dense;
            let dimension = &mut of.domain.dimensions[0];
            dimension.domain = [0_i64.to_le_bytes(), i64::MAX.to_le_bytes()].concat();
            dimension.tile_extent = Some(extent.to_le_bytes().to_vec());
        });
        add_fragment(&mut files, 10, &[0, 1, 2, 3], 100);
        let mut parts = Parts::of(&files, "hand");
        parts.footer.dense = true;
        parts.footer.non_empty_domain.as_mut().unwrap().ranges[0].max = last.to_le_bytes().to_vec();
        parts.put(&mut files);
        files
    };
    let read = |files: &Files, region: Region| {
        let options = Options { values: true, ..Options::default() };
        let open_options = OpenOptions { limits: LIMITS, ..OpenOptions::default() };
        check(&store_of(files), &Key::new("hand").unwrap(), &open_options, &options, &mut |_| {}).unwrap();
        let mut rows = vec![0; 4 * usize::try_from(region.len().unwrap()).unwrap()];
        open(files)?.read_dense(0, &region, &mut Planes::whole(&mut rows), None).map(|()| rows)
    };
    let first = Region::new(vec![0], vec![4]);
    assert_eq!(read(&dense(4, 3), first.clone()).unwrap()[..4], 100_i32.to_le_bytes());
    // The first tile exists, the last one does not.
    assert_eq!(read(&dense(4, i64::MAX), first.clone()).unwrap()[..4], 100_i32.to_le_bytes());
    let e = read(&dense(4, i64::MAX), Region::new(vec![1 << 62], vec![4])).unwrap_err();
    assert!(e.to_string().contains("the metadata of the fragment has 1 tiles"), "{e}");
    let e = read(&dense(0, 3), first.clone()).unwrap_err();
    assert!(e.to_string().contains("a tile extent of 0"), "{e}");
    for extent in [u64::MAX, 1 << 62] {
        let e = read(&dense(extent, 3), first.clone()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::LimitExceeded, "{e}");
    }
}

#[test]
fn names_never_lead_out_of_the_array() {
    let files = changed(|parts| parts.footer.schema_name = Some(b"../../secret".to_vec()));
    assert_refused(&files, "a fragment of schema \"../../secret\", which the array does not have");
    let mut files = sound();
    files.insert("secret".to_owned(), b"secret".to_vec());
    let name = "hand/__commits/__1_1_0123456789abcdef0123456789abcdef_22.con";
    files.insert(name.to_owned(), b"../../secret\n".to_vec());
    assert_refused(&files, "\"secret\" among consolidated commits");
    let mut files = sound();
    files.insert("secret".to_owned(), b"secret".to_vec());
    change_schema(&mut files, "hand", |of| {
        of.enumerations =
            vec![EnumerationFile { name: b"e".to_vec(), file_name: b"../../../secret".to_vec() }];
    });
    let mut messages = Vec::new();
    let open = OpenOptions::default();
    check(&store_of(&files), &Key::new("hand").unwrap(), &open, &Options::default(), &mut |found| {
        messages.push(found.message);
    })
    .unwrap();
    assert!(
        messages.contains(&"\"e\" in file \"../../../secret\", which does not exist".to_owned()),
        "{messages:?}"
    );
}

#[test]
fn conditions_10_000_deep_are_refused() {
    let mut e = Encoder::new();
    for _ in 0..10_000 {
        e.u8(0); // an expression
        e.u8(2); // not
        e.u64(1);
    }
    e.u8(1);
    let mut files = sound();
    let name = "hand/__commits/__20_20_0123456789abcdef0123456789abcdef_22.del";
    files.insert(name.to_owned(), generic(e.as_slice()));
    assert_refused(&files, "256");
}

#[test]
fn chunks_of_4_gib_are_refused() {
    // The first chunk of the first tile claims to decode to 4 GiB, or to have as many stored bytes or as much metadata.
    for at in [8, 12, 16] {
        let mut files = sound();
        files.get_mut(&fragment("a0.tdb")).unwrap()[at..at + 4].fill(0xff);
        let e = refused(&files);
        assert!(e.to_string().contains("a0.tdb") && e.to_string().contains("tile 0: "), "{e}");
    }
    let mut files = sound();
    files.get_mut(&fragment("a0.tdb")).unwrap()[..8].fill(0xff);
    assert_refused(&files, "tile 0: ");
    // A generic tile that claims such a size itself, and one whose chunk does.
    let key = format!("hand/__schema/{SCHEMA}");
    for (at, len) in [(4, 8), (12, 8), (46 + 8, 4)] {
        let mut files = sound();
        files.get_mut(&key).unwrap()[at..at + len].fill(0xff);
        let e = refused(&files);
        assert!(e.to_string().contains(SCHEMA), "{e}");
    }
}

#[test]
fn orders_that_only_queries_have_are_refused() {
    let mut files = sound();
    change_schema(&mut files, "hand", |of| of.cell_order = Layout::Unordered);
    add_fragment(&mut files, 20, &[3], 0);
    assert_refused(&files, "cells of a sparse array in order Unordered");
}
