//! Digests: one line per object, independent of storage.

use crate::{node_path, open, path};
use hyperslab::digest::{Line, LineContent, lines};
use hyperslab::{NodePath, OpenOptions, Source};

fn of(source: &dyn Source, path: &str) -> Vec<Line> {
    lines(source, &node_path(path)).unwrap()
}

fn json(lines: &[Line]) -> Vec<String> {
    lines.iter().map(Line::to_json).collect()
}

#[test]
fn lines_are_sorted_by_path_and_unique() {
    for name in ["ocean.nc", "nested_groups.nc", "datatypes.h5", "groups_old.h5", "groups_new.h5"] {
        let paths: Vec<String> = of(&*open(name), "/").into_iter().map(|line| line.path).collect();
        assert!(paths.windows(2).all(|pair| pair[0].as_bytes() < pair[1].as_bytes()), "{name}: {paths:?}");
    }
}

#[test]
fn a_part_has_the_same_lines_as_in_the_whole_store() {
    let source = open("ocean.nc");
    let whole = json(&of(&*source, "/"));
    for part in ["/waves", "/waves/buoys/wmo", "/flag_t"] {
        let lines = json(&of(&*source, part));
        assert!(!lines.is_empty() && lines.iter().all(|line| whole.contains(line)), "{part}");
    }
}

#[test]
fn an_unreadable_object_has_a_line_and_does_not_change_others() {
    let mut bytes = std::fs::read(path("hdf5/reading.h5")).unwrap();
    let whole = of(&*open("hdf5/reading.h5"), "/");
    let stored: Vec<u8> = [10_i16, 20, 30, 40].iter().flat_map(|n| n.to_le_bytes()).collect();
    let at = bytes.windows(8).position(|window| window == stored).unwrap();
    bytes[at] = 11;
    // It is written to a file because external files are looked up in the folder of that file.
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("reading.h5"), bytes).unwrap();
    let damaged = hyperslab::open(&dir.path().join("reading.h5"), &OpenOptions::default()).unwrap();
    let damaged = of(&*damaged, "/");
    assert_eq!(damaged.len(), whole.len());
    for (damaged, whole) in damaged.iter().zip(&whole) {
        match damaged.path.as_str() {
            "/checked" => {
                let LineContent::Error { kind, reason, .. } = &damaged.content else { panic!("{damaged:?}") };
                assert_eq!(*kind, "array");
                assert!(reason.contains("chunk"), "{reason}");
            }
            _ => assert_eq!(damaged.to_json(), whole.to_json()),
        }
    }
    let refused: Vec<_> =
        whole.iter().filter(|line| line.is_error()).map(|line| line.path.as_str()).collect();
    assert_eq!(refused, ["/external", "/unknown_filter"]);
}

#[test]
fn digests_are_independent_of_layouts_and_filters() {
    let source = open("chunk_indexes.h5");
    let digest = |path: &str| match &of(&*source, path)[0].content {
        LineContent::Hashed { digest, .. } => *digest,
        other => panic!("{other:?}"),
    };
    for name in ["btree_v1", "single_chunk", "fixed_array", "extensible_array", "btree_v2"] {
        assert_eq!(digest(&format!("/{name}")), digest(&format!("/{name}_filtered")), "{name}");
    }
    assert_eq!(digest("/btree_v1"), digest("/fixed_array"));
    assert_ne!(digest("/btree_v1"), digest("/single_chunk"));
}

#[test]
fn digests_are_independent_of_byte_order() {
    let source = open("big_endian.h5");
    let line = &of(&*source, "/i2")[0];
    let LineContent::Hashed { datatype, shape, digest, .. } = &line.content else { panic!("{line:?}") };
    let mut expected = format!("ndl-digest-1\n{datatype}\n3\n").into_bytes();
    assert_eq!(shape.as_deref(), Some(&[3][..]));
    expected.extend([1_i16, 100, 3].iter().flat_map(|n| n.to_le_bytes()));
    assert_eq!(*digest, blake3::hash(&expected));
}

#[test]
fn links_have_lines_and_further_paths_of_an_object_have_none() {
    let source = open("datatypes.h5");
    let found = of(&*source, "/links");
    let paths: Vec<_> = found.iter().map(|line| line.path.as_str()).collect();
    let links = ["dangling", "external", "relative", "soft", "user"].map(|name| format!("/links/{name}"));
    assert_eq!(paths, std::iter::once("/links").chain(links.iter().map(String::as_str)).collect::<Vec<_>>());
    assert!(lines(&*source, &NodePath::root().child("absent")).is_err());
}
