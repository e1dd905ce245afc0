//! HDF5 structures that some readers silently misread. `data/make_traps.py` writes the files and checks them with h5py.
//! The element with the indexes i and j is 100 i + j.

use crate::{description, find, open, targets};
use hyperslab::describe::DescribeOptions;
use hyperslab::{ErrorKind, Item, Limit, Remedy, digest, ndl, show};

const MADE: &str = "own/traps.h5";

/// The elements of an array in row-major order.
fn values(file: &str, path: &str) -> Vec<f64> {
    let source = open(file);
    let shown = show::show(&*source, &targets(&*source, path).unwrap()[0], &[]).unwrap();
    shown.elements().map(|element| ndl::plain(element).parse().unwrap()).collect()
}

fn grid(rows: u32, columns: u32, of: impl Fn(u32, u32) -> f64) -> Vec<f64> {
    (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| of(i, j)).collect()
}

fn indexes(i: u32, j: u32) -> f64 {
    f64::from(100 * i + j)
}

#[test]
fn chunks_keep_their_offset_when_any_dimension_grows() {
    for name in ["second_unlimited", "both_unlimited", "maximum_beyond"] {
        assert_eq!(values(MADE, &format!("/{name}")), grid(5, 7, indexes), "{name}");
    }
}

#[test]
fn elements_removed_by_shrinking_read_as_fill_value_after_growth() {
    let kept = |i, j| if i < 3 && j < 5 { indexes(i, j) } else { -7.0 };
    assert_eq!(values(MADE, "/shrunk"), grid(6, 8, kept));
}

#[test]
fn missing_chunks_read_as_fill_value() {
    let written = |i, j| if (i, j) == (4, 6) { 1.0 } else { 2.5 };
    assert_eq!(values(MADE, "/sparse"), grid(6, 8, written));
}

#[test]
fn chunks_of_two_datasets_are_not_confused_in_the_cache() {
    let source = open(MADE);
    for _ in 0..2 {
        for (path, sign) in [("/one", 1.0), ("/other", -1.0)] {
            let shown = show::show(&*source, &targets(&*source, path).unwrap()[0], &[]).unwrap();
            let found: Vec<f64> = shown.elements().map(|one| ndl::plain(one).parse().unwrap()).collect();
            assert_eq!(found, grid(4, 4, |i, j| sign * indexes(i, j)), "{path}");
        }
    }
}

#[test]
fn scaleoffset_decodes_floats_fill_values_and_both_byte_orders() {
    for name in ["big_i4", "big_u2", "little_i8"] {
        assert_eq!(values(MADE, &format!("/scaleoffset_{name}")), grid(4, 6, indexes), "{name}");
    }
    for name in ["big_f4", "big_f8", "little_f8"] {
        let found = values(MADE, &format!("/scaleoffset_{name}"));
        let wanted = grid(4, 6, |i, j| indexes(i, j) / 4.0);
        let near = found.iter().zip(&wanted).all(|(found, wanted)| (found - wanted).abs() < 0.001);
        assert!(near && found.len() == wanted.len(), "{name}: {found:?}");
    }
    let filled = |i, j| if i == 1 || i == 2 { indexes(i, j) } else { -1.0 };
    assert_eq!(values(MADE, "/scaleoffset_filled"), grid(4, 6, filled));
}

#[test]
fn nbit_decodes_narrow_integers_big_endian_floats_and_compounds() {
    assert_eq!(values(MADE, "/nbit_narrow"), grid(4, 6, indexes));
    assert_eq!(values(MADE, "/nbit_big_f4"), grid(4, 6, |i, j| indexes(i, j) / 8.0));
    let source = open(MADE);
    let shown = show::show(&*source, &targets(&*source, "/nbit_compound").unwrap()[0], &[]).unwrap();
    let last = shown.elements().last().map(ndl::json).unwrap();
    assert_eq!(last, "[2, 1.25, [10, 11]]");
}

#[test]
fn virtual_datasets_grow_with_their_sources_and_read_fill_values_without_source() {
    let first = |i, j| if i == 0 { f64::from(j) } else { -5.0 };
    assert_eq!(values(MADE, "/virtual"), grid(3, 4, first));
    // The dataspace of the virtual dataset has four rows, but its source has three.
    assert_eq!(values(MADE, "/virtual_growing"), grid(3, 4, indexes));
}

#[test]
fn reads_old_layouts_and_members_with_dimensions() {
    for version in [1_u32, 2] {
        let times = |count: u32| (0..count).map(|n| f64::from(n * version)).collect::<Vec<_>>();
        assert_eq!(values("own/traps_old.h5", &format!("/contiguous_{version}")), times(6));
        assert_eq!(values("own/traps_old.h5", &format!("/chunked_{version}")), times(7));
    }
    let source = open("own/traps_old.h5");
    let shown = show::show(&*source, &targets(&*source, "/compound_1").unwrap()[0], &[]).unwrap();
    let found: Vec<String> = shown.elements().map(ndl::json).collect();
    assert_eq!(found, ["[1, [2, 3]]", "[4, [5, 6]]"]);
}

#[test]
fn link_cycles_end_and_links_to_other_files_are_not_followed() {
    let source = open(MADE);
    let (text, errors) = description(&*source, "/", &DescribeOptions::default());
    // A description without values does not read the unreadable elements.
    assert!(errors.is_empty(), "{errors:?}");
    assert!(text.contains("back: {hard: /loop}"), "{text}");
    assert!(text.contains("outside: {external: {file: traps.h5, path: /outside}}"), "{text}");
    assert!(matches!(find(&*source, "/circle_a").item, Item::Link(_)));
    let lines = digest::lines(&*source, &hyperslab::NodePath::root()).unwrap();
    assert_eq!(lines.iter().filter(|line| line.path.starts_with("/loop")).count(), 2);
}

#[test]
fn rejects_unwritten_arrays_of_petabytes_by_name() {
    let source = open(MADE);
    let target = &targets(&*source, "/vast").unwrap()[0];
    let error = show::show(&*source, target, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(error.remedies(), [Remedy::RaiseLimit(Limit::Allocation)], "{error}");
    let shown = show::show(&*source, target, &["1000000,5".parse().unwrap()]).unwrap();
    assert_eq!(shown.elements().map(ndl::plain).collect::<Vec<_>>(), ["1.5"]);
}
