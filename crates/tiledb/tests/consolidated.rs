//! Consolidates and vacuums fragments, commits, footers and metadata of arrays: every moment reads as before, except
//! for those that the plan reports as lost.

mod arrays;
mod kills;
mod others;

use crate::written::{Place, attribute, cells, dimension, key, options, schema, two_by_two, write_dense};
use arrays::{
    ALL_CELLS, TIMES, assert_same, consolidate, delete, dense_array, history, lost, numbered, seen,
    sparse_array, sparse_array_of, until, vacuum, write_sparse,
};
use hyperslab_core::Limits;
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::format::array_schema::{ArraySchema, Dimension};
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::delete_condition::Operator;
use hyperslab_tiledb::format::layout::{ArrayType, Layout};
use hyperslab_tiledb::format::metadata::{Entry, Metadata};
use hyperslab_tiledb::group::Group;
use hyperslab_tiledb::opened::Moment;
use hyperslab_tiledb::read::IndexBox;
use hyperslab_tiledb::read::sparse::{SparseCells, SparseField, SparseRequest};
use hyperslab_tiledb::write::array::{ArrayWriter, WriteOptions};
use hyperslab_tiledb::write::consolidate::{ConsolidateOptions, ConsolidateScratch, Deleted};
use hyperslab_tiledb::write::group::GroupWriter;
use hyperslab_tiledb::write::sparse::{Column, SparseFragment};
use hyperslab_tiledb::write::vacuum::VacuumOptions;
use std::sync::{Condvar, Mutex};

#[test]
fn consolidated_dense_arrays_read_as_before_at_all_times() {
    for (order, name) in [(Layout::RowMajor, "con_dense_row"), (Layout::ColMajor, "con_dense_col")] {
        let place = Place::new();
        let writer = dense_array(&place, name, order);
        let before = history(&place.readable(), &key(name), &TIMES);
        let plan = consolidate(&writer, ALL_CELLS);
        assert_eq!((plan.sets.len(), plan.left.len(), plan.sets[0].fragments.len()), (1, 0, 5));
        let set = &plan.sets[0];
        assert_eq!((set.start, set.end, set.lost.map(|lost| (lost.from, lost.until))), (2, 6, Some((2, 6))));
        place.check(name);
        assert_same(&before, &history(&place.readable(), &key(name), &TIMES), &[], name);
        assert_eq!(place.open(name).fragments().unwrap().len(), 1);
        let plan = vacuum(&writer, &VacuumOptions { fragments: true, ..VacuumOptions::default() });
        // Five commits, five folders and a vacuum file.
        assert_eq!((plan.removals.len(), lost(&plan)), (11, vec![(2, 6)]));
        assert!(plan.bytes() > 0 && plan.kept.is_empty() && plan.ignored.is_empty());
        place.check(name);
        let after = history(&place.readable(), &key(name), &TIMES);
        assert_same(&before, &after, &lost(&plan), name);
        let again = writer.plan_vacuum(&VacuumOptions::ALL, &Limits::default()).unwrap();
        assert!(again.is_empty(), "{again:?}");
    }
}

#[test]
fn consolidated_dense_fragments_hide_no_older_cells() {
    let place = Place::new();
    let schema = two_by_two(Layout::RowMajor);
    let writer = ArrayWriter::create(place.writable(), &key("a"), schema, Vec::new(), 1, options()).unwrap();
    for (time, first) in (2..).zip([[4, 3], [0, 0], [8, 9], [4, 3]]) {
        let last = first.iter().map(|at| at + 1).map(|at| at.min(9)).collect();
        write_dense(&writer, time, IndexBox { first: first.to_vec(), last }, &cells);
    }
    let before = history(&place.readable(), &key("a"), &TIMES);
    let options = ConsolidateOptions { amplification: 8.0, ..ConsolidateOptions::default() };
    let plan = writer.consolidator(options, &Limits::default()).unwrap().plan().unwrap();
    assert_eq!(plan.sets.len(), 1);
    let plan = consolidate(&writer, ConsolidateOptions::default());
    assert!(plan.sets.is_empty());
    let reasons: Vec<&str> = plan.left.iter().map(|left| left.reason.as_str()).collect();
    assert!(reasons[0].contains("many cells that none of them has"), "{reasons:?}");
    assert!(reasons[1].contains("would hide cells of __2_2_"), "{reasons:?}");
    assert!(reasons[2].contains("would hide cells of __2_2_"), "{reasons:?}");
    assert_eq!(reasons[3], "no fragment is newer");
    assert_same(&before, &history(&place.readable(), &key("a"), &TIMES), &[], "a");
}

#[test]
fn consolidated_sparse_arrays_read_as_before_at_all_times() {
    for order in [Layout::RowMajor, Layout::ColMajor, Layout::Hilbert] {
        for allows_dups in [false, true] {
            let name = format!("con_sparse_{order:?}_{allows_dups}").to_lowercase();
            let place = Place::new();
            let writer = sparse_array_of(&place, &name, order, allows_dups, 9);
            let before = history(&place.readable(), &key(&name), &TIMES);
            let plan = consolidate(&writer, ConsolidateOptions::default());
            assert_eq!((plan.sets.len(), plan.sets[0].fragments.len()), (1, 5));
            assert_eq!(plan.sets[0].lost, None);
            assert_same(&before, &history(&place.readable(), &key(&name), &TIMES), &[], &name);
            place.check(&name);
            let plan = vacuum(&writer, &VacuumOptions::ALL);
            assert_eq!(lost(&plan), []);
            assert_same(&before, &history(&place.readable(), &key(&name), &TIMES), &[], &name);
            // Consolidated fragments are consolidated again with later ones.
            write_sparse(&writer, 8, (0..9).map(|n| (n * 3, n)));
            delete(&place, &name, 8, "number", Operator::Le, 9050);
            let before = history(&place.readable(), &key(&name), &TIMES);
            consolidate(&writer, ConsolidateOptions::default());
            vacuum(&writer, &VacuumOptions::ALL);
            assert_same(&before, &history(&place.readable(), &key(&name), &TIMES), &[], &name);
            assert_eq!(place.open(&name).fragments().unwrap().len(), 1);
            place.check(&name);
        }
    }
}

#[test]
fn both_zeros_are_coordinates_of_their_own() {
    let number = |number: f64| number.to_le_bytes();
    for order in [Layout::RowMajor, Layout::Hilbert] {
        let (place, name) = (Place::new(), format!("con_zeros_{order:?}").to_lowercase());
        let axis = |name| Dimension {
            data_type: DataType::Float64,
            domain: [number(-9.0), number(9.0)].concat(),
            tile_extent: None,
            ..dimension(name, (0, 0), 1)
        };
        let own =
            schema(ArrayType::Sparse, vec![axis("x"), axis("y")], vec![attribute("a", DataType::Int32)]);
        let own = ArraySchema { cell_order: order, ..own };
        let writer =
            ArrayWriter::create(place.writable(), &key(&name), own, Vec::new(), 1, options()).unwrap();
        let write = |time, cells: &[(f64, i32)]| {
            let xs = cells.iter().flat_map(|(x, _)| number(*x)).collect();
            let ys = cells.iter().flat_map(|_| number(0.0)).collect();
            let values = cells.iter().flat_map(|(_, value)| value.to_le_bytes()).collect();
            let columns = [xs, ys, values].map(|values| Column { values, ..Column::default() });
            let fragment = SparseFragment::of_cells(&writer, time, &columns, cells.len()).unwrap();
            writer.commit(&[fragment]).unwrap();
        };
        write(2, &[(-0.0, 1)]);
        write(3, &[(0.0, 2), (-2.0, 5)]);
        write(4, &[(-0.0, 3), (0.0, 4)]);
        let values = || -> Vec<i32> {
            let mut values = Vec::new();
            let columns = vec![SparseField::Attribute(0)];
            let request = SparseRequest { ranges: Vec::new(), columns };
            let take = &mut |cells: &SparseCells| {
                let numbers = cells.columns[0].bytes.as_chunks().0;
                values.extend(numbers.iter().map(|number| i32::from_le_bytes(*number)));
                Ok(())
            };
            place.open(&name).read_sparse(&request, take).unwrap();
            values.sort_unstable();
            values
        };
        assert_eq!(values(), [3, 4, 5], "{name}");
        let before = history(&place.readable(), &key(&name), &TIMES);
        consolidate(&writer, ALL_CELLS);
        vacuum(&writer, &VacuumOptions::ALL);
        assert_eq!(values(), [3, 4, 5], "{name}");
        assert_same(&before, &history(&place.readable(), &key(&name), &TIMES), &[], &name);
        assert_eq!(place.open(&name).fragments().unwrap().len(), 1);
        place.check(&name);
    }
}

#[test]
fn consolidation_purges_deleted_cells_on_request() {
    for allows_dups in [false, true] {
        let name = format!("con_purged_{allows_dups}");
        let place = Place::new();
        let writer = sparse_array(&place, &name, Layout::RowMajor, allows_dups);
        let before = seen(&place.readable(), &key(&name), Moment::ALL).unwrap();
        consolidate(&writer, ConsolidateOptions::default());
        vacuum(&writer, &VacuumOptions::ALL);
        let options = ConsolidateOptions { deleted: Deleted::Purged, ..ConsolidateOptions::default() };
        let plan = consolidate(&writer, options);
        let lost = plan.sets[0].lost.map(|lost| (lost.from, lost.until));
        assert_eq!((plan.sets[0].fragments.len(), lost), (1, Some((2, 9))));
        vacuum(&writer, &VacuumOptions::ALL);
        assert_eq!(seen(&place.readable(), &key(&name), Moment::ALL).unwrap(), before);
        place.check(&name);
        let fragment = &place.open(&name).fragments().unwrap()[0].footer.clone();
        let count = (fragment.sparse_tile_num - 1) * 3 + fragment.last_tile_cell_num;
        assert_eq!((count, fragment.has_delete_metadata), (before.len() as u64, false));
    }
}

#[test]
fn consolidation_of_sparse_fragments_takes_the_memory_it_may() {
    let place = Place::new();
    let writer = sparse_array(&place, "few", Layout::RowMajor, false);
    let before = history(&place.readable(), &key("few"), &TIMES);
    let options = ConsolidateOptions { memory: 400, ..ConsolidateOptions::default() };
    let plan = consolidate(&writer, options);
    // The second and the third fragment have the same time.
    let sizes: Vec<usize> = plan.sets.iter().map(|set| set.fragments.len()).collect();
    assert!(sizes.len() > 1 && sizes.iter().all(|size| *size >= 2), "{sizes:?}");
    assert_same(&before, &history(&place.readable(), &key("few"), &TIMES), &[], "few");
    place.check("few");
    let purged = ConsolidateOptions { deleted: Deleted::Purged, ..options };
    let plan = writer.consolidator(purged, &Limits::default()).unwrap().plan().unwrap();
    assert!(plan.sets.is_empty() && plan.left[0].reason.contains("of 400 allowed"));
}

#[test]
fn all_cells_that_are_deleted_leave_the_fragments_as_they_are() {
    let place = Place::new();
    let writer = sparse_array(&place, "none", Layout::RowMajor, false);
    delete(&place, "none", 10, "row", Operator::Lt, 0);
    let options = ConsolidateOptions { deleted: Deleted::Purged, ..ConsolidateOptions::default() };
    let consolidator = writer.consolidator(options, &Limits::default()).unwrap();
    let names = consolidator.run(&consolidator.plan().unwrap(), &mut |_| Ok(())).unwrap();
    assert_eq!((names.len(), place.open("none").fragments().unwrap().len()), (0, 5));
    place.check("none");
}

#[test]
fn consolidation_that_is_cancelled_leaves_nothing() {
    let place = Place::new();
    let writer = sparse_array(&place, "cancelled", Layout::RowMajor, true);
    let consolidator = writer.consolidator(ConsolidateOptions::default(), &Limits::default()).unwrap();
    let plan = consolidator.plan().unwrap();
    let e = consolidator.run(&plan, &mut |_| Err(hyperslab_core::Error::invalid("stop"))).unwrap_err();
    assert_eq!(e.detail(), "stop");
    place.check("cancelled");
    assert_eq!(place.open("cancelled").fragments().unwrap().len(), 5);
}

#[test]
fn pieces_are_made_by_many_threads() {
    for is_dense in [true, false] {
        let place = Place::new();
        let writer = match is_dense {
            true => dense_array(&place, "con_threads", Layout::RowMajor),
            false => sparse_array(&place, "con_threads", Layout::RowMajor, false),
        };
        let before = until(&place.readable(), &key("con_threads"));
        let consolidator = writer.consolidator(ALL_CELLS, &Limits::default()).unwrap();
        let begun = consolidator.begun(&consolidator.plan().unwrap().sets[0]).unwrap();
        let (next, taken) = (Mutex::new(0), (Mutex::new(0), Condvar::new()));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut scratch = ConsolidateScratch::default();
                    loop {
                        let (number, piece) = {
                            let mut next = next.lock().unwrap();
                            let Some(piece) = begun.next_piece().unwrap() else { return };
                            *next += 1;
                            (*next - 1, piece)
                        };
                        let made = begun.make(piece, &mut scratch).unwrap();
                        let mut turn =
                            taken.1.wait_while(taken.0.lock().unwrap(), |turn| *turn != number).unwrap();
                        begun.take(made).unwrap();
                        *turn += 1;
                        taken.1.notify_all();
                    }
                });
            }
        });
        assert!(begun.finish().unwrap().is_some());
        assert_same(&before, &until(&place.readable(), &key("con_threads")), &[], "threads");
        place.check("con_threads");
    }
}

#[test]
fn pieces_are_taken_in_order() {
    let place = Place::new();
    let writer = dense_array(&place, "order", Layout::RowMajor);
    let consolidator = writer.consolidator(ALL_CELLS, &Limits::default()).unwrap();
    let begun = consolidator.begun(&consolidator.plan().unwrap().sets[0]).unwrap();
    let mut scratch = ConsolidateScratch::default();
    let mut made = || begun.make(begun.next_piece().unwrap().unwrap(), &mut scratch).unwrap();
    let (_, second) = (made(), made());
    assert_eq!(begun.take(second).unwrap_err().detail(), "tile [0, 1], expected the one behind 0 others");
    assert!(begun.finish().is_err());
}

#[test]
fn arrays_of_older_versions_are_consolidated() {
    for version in [10, 11, 12, 14, 15, 16, 18, 21] {
        for is_dense in [true, false] {
            let (place, name) = (Place::new(), format!("con_{version}_{is_dense}"));
            let array_type = if is_dense { ArrayType::Dense } else { ArrayType::Sparse };
            let schema = ArraySchema { version, array_type, ..two_by_two(Layout::RowMajor) };
            let writer =
                ArrayWriter::create(place.writable(), &key(&name), schema, Vec::new(), 1, options()).unwrap();
            for (time, row) in [(2, 0), (4, 3), (8, 2)] {
                match is_dense {
                    true => {
                        let written = IndexBox { first: vec![row, 0], last: vec![row + 3, 9] };
                        write_dense(&writer, time, written, &cells);
                    }
                    false => write_sparse(&writer, u16::try_from(time).unwrap(), (0..5).map(|n| (n, n - 3))),
                }
                writer.put_metadata(&numbered(&[("k", time)]), time).unwrap();
            }
            let before = until(&place.readable(), &key(&name));
            let plan = consolidate(&writer, ALL_CELLS);
            let lost: Vec<(u64, u64)> =
                plan.sets[0].lost.iter().map(|lost| (lost.from, lost.until)).collect();
            let keeps_times = !is_dense && version >= 15;
            assert_eq!(lost, if keeps_times { vec![] } else { vec![(2, 8)] });
            assert_same(&before, &until(&place.readable(), &key(&name)), &[], &name);
            place.check(&name);
            let limits = Limits::default();
            assert_eq!(writer.consolidate_commits(&limits).is_ok(), version >= 12);
            assert_eq!(writer.consolidate_footers(&limits).unwrap(), 0);
            writer.consolidate_metadata(&limits).unwrap();
            vacuum(&writer, &VacuumOptions::ALL);
            let after = until(&place.readable(), &key(&name));
            assert_same(&before, &after, &[(2, 8)], &name);
            assert_eq!(place.open(&name).fragments().unwrap().len(), 1, "{name}");
            place.check(&name);
        }
    }
}

#[test]
fn encrypted_arrays_are_consolidated_with_their_key() {
    let place = Place::new();
    let secret = hyperslab_tiledb::filter::Key::new(crate::KEY).unwrap();
    let with_key = WriteOptions { key: Some(secret.clone()), ..options() };
    let schema = ArraySchema { array_type: ArrayType::Sparse, ..two_by_two(Layout::RowMajor) };
    let writer =
        ArrayWriter::create(place.writable(), &key("secret"), schema, Vec::new(), 1, with_key).unwrap();
    for time in [2, 3] {
        write_sparse(&writer, time, (0..5).map(|n| (n, n - 3)));
    }
    consolidate(&writer, ALL_CELLS);
    vacuum(&writer, &VacuumOptions::ALL);
    let open = OpenOptions { key: Some(secret), ..OpenOptions::default() };
    let array = Array::open(place.readable(), &key("secret"), open).unwrap();
    let columns = vec![SparseField::Attribute(0)];
    let mut numbers = Vec::new();
    array
        .read_sparse(&SparseRequest { ranges: Vec::new(), columns }, &mut |cells| {
            numbers.extend(cells.columns[0].bytes.as_chunks().0.iter().map(|n| i32::from_le_bytes(*n)));
            Ok(())
        })
        .unwrap();
    assert_eq!((array.fragments().unwrap().len(), numbers), (1, vec![3000, 3010, 3020, 3030, 3040]));
}

#[test]
fn footers_and_commits_are_consolidated() {
    let place = Place::new();
    let writer = sparse_array(&place, "con_small", Layout::RowMajor, false);
    let limits = Limits::default();
    let before = history(&place.readable(), &key("con_small"), &TIMES);
    assert_eq!(writer.consolidate_footers(&limits).unwrap(), 5);
    assert_eq!(writer.consolidate_footers(&limits).unwrap(), 5);
    let plan = writer.plan_commits(&limits).unwrap().unwrap();
    assert_eq!((plan.commits, plan.files), (7, 7));
    assert_eq!(writer.consolidate_commits(&limits).unwrap(), Some(plan));
    assert_eq!(writer.plan_commits(&limits).unwrap(), None);
    assert_same(&before, &history(&place.readable(), &key("con_small"), &TIMES), &[], "consolidated");
    place.check("con_small");
    let plan = vacuum(&writer, &VacuumOptions::ALL);
    // Seven commits and the older of the two files of footers.
    assert_eq!((plan.removals.len(), lost(&plan)), (8, vec![]));
    assert_same(&before, &history(&place.readable(), &key("con_small"), &TIMES), &[], "vacuumed");
    place.check("con_small");
}

#[test]
fn the_four_steps_can_come_in_any_order() {
    let only = |fragments, commits| VacuumOptions { fragments, commits, ..VacuumOptions::default() };
    for order in permutations(4) {
        for is_dense in [true, false] {
            let place = Place::new();
            let name = format!("con_{}_{is_dense}", order.iter().map(usize::to_string).collect::<String>());
            let writer = match is_dense {
                true => dense_array(&place, &name, Layout::RowMajor),
                false => sparse_array_of(&place, &name, Layout::RowMajor, true, 5),
            };
            let before = until(&place.readable(), &key(&name));
            let mut gone = Vec::new();
            for (number, step) in order.iter().chain(&order).enumerate() {
                match step {
                    0 => drop(consolidate(&writer, ALL_CELLS)),
                    1 => drop(writer.consolidate_commits(&Limits::default()).unwrap()),
                    2 => gone.extend(lost(&vacuum(&writer, &only(true, false)))),
                    _ => drop(vacuum(&writer, &only(false, true))),
                }
                place.check(&name);
                let after = until(&place.readable(), &key(&name));
                assert_same(&before, &after, &gone, &format!("{name} step {number}"));
            }
            assert_eq!(place.open(&name).fragments().unwrap().len(), 1);
        }
    }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    match count {
        0 => vec![Vec::new()],
        count => permutations(count - 1)
            .into_iter()
            .flat_map(|shorter| {
                (0..count).map(move |at| {
                    let mut longer = shorter.clone();
                    longer.insert(at, count - 1);
                    longer
                })
            })
            .collect(),
    }
}

#[test]
fn metadata_of_arrays_and_groups_are_consolidated() {
    let place = Place::new();
    let (limits, only) = (Limits::default(), VacuumOptions { metadata: true, ..VacuumOptions::default() });
    let writer = dense_array(&place, "con_metadata", Layout::RowMajor);
    let before = history(&place.readable(), &key("con_metadata"), &TIMES);
    let plan = writer.plan_metadata(&limits).unwrap().unwrap();
    assert_eq!((plan.files, plan.from, plan.until), (5, 2, 6));
    assert_eq!(writer.consolidate_metadata(&limits).unwrap(), Some(plan));
    assert_eq!(writer.consolidate_metadata(&limits).unwrap(), None);
    assert_same(&before, &history(&place.readable(), &key("con_metadata"), &TIMES), &[], "consolidated");
    let plan = vacuum(&writer, &only);
    assert_eq!((plan.removals.len(), lost(&plan)), (6, vec![(2, 6)]));
    let after = history(&place.readable(), &key("con_metadata"), &TIMES);
    assert_same(&before, &after, &[(2, 6)], "vacuumed");
    place.check("con_metadata");

    let group = GroupWriter::create(place.writable(), &key("con_group"), options()).unwrap();
    let metadata = || {
        Group::open(place.readable(), &key("con_group"), OpenOptions::default()).unwrap().metadata().unwrap()
    };
    group.put_metadata(&numbered(&[("a", 1), ("b", 1)]), 3).unwrap();
    let gone = Metadata { entries: vec![Entry { key: b"a".to_vec(), value: None }] };
    group.put_metadata(&gone, 4).unwrap();
    let before = metadata();
    assert_eq!(group.consolidate_metadata(&limits).unwrap().unwrap().files, 2);
    assert_eq!(metadata(), before);
    let plan = group.plan_vacuum(&only, &limits).unwrap();
    assert_eq!(plan.removals.len(), 3);
    group.vacuum(&plan, &mut |_| Ok(())).unwrap();
    assert_eq!(metadata(), before);
    // If all keys are deleted, their deletions remain.
    let gone = Metadata { entries: vec![Entry { key: b"b".to_vec(), value: None }] };
    group.put_metadata(&gone, 5).unwrap();
    group.consolidate_metadata(&limits).unwrap();
    group.vacuum(&group.plan_vacuum(&only, &limits).unwrap(), &mut |_| Ok(())).unwrap();
    assert_eq!(metadata(), []);
    place.check("con_group");
}

#[test]
fn what_stopped_writers_left_is_vacuumed_on_request() {
    let place = Place::new();
    let writer = dense_array(&place, "left", Layout::RowMajor);
    let uuid = "f".repeat(32);
    for file in [
        format!("__fragments/__7_7_{uuid}_22/a0.tdb"),
        format!("__meta/__7_7_{uuid}.tmp"),
        ".hyperslab-1-2.partial".to_owned(),
        "__commits/.hyperslab-1-3.partial".to_owned(),
    ] {
        place.writable().put(&key(&format!("left/{file}")), b"half").unwrap();
    }
    let limits = Limits::default();
    assert!(writer.plan_vacuum(&VacuumOptions::ALL, &limits).unwrap().is_empty());
    let plan = vacuum(&writer, &VacuumOptions { unfinished: true, ..VacuumOptions::default() });
    assert_eq!((plan.removals.len(), plan.bytes()), (4, 16));
    place.check("left");
}
