//! Arrays to consolidate, and what is read from them at each moment.

use crate::handmade::generic_of;
use crate::written::{
    Place, attribute, cells, dimension, key, options, schema, texts, two_by_two, write_dense,
};
use hyperslab_core::Limits;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Slot;
use hyperslab_core::store::{Key, Store};
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::format::array_schema::ArraySchema;
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::delete_condition::{Comparison, DeleteCondition, Node, Operator};
use hyperslab_tiledb::format::layout::{ArrayType, Layout};
use hyperslab_tiledb::format::metadata::{Entry, Metadata, Value};
use hyperslab_tiledb::opened::Moment;
use hyperslab_tiledb::read::IndexBox;
use hyperslab_tiledb::read::sparse::{SparseField, SparseRequest};
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::consolidate::{ConsolidateOptions, Deleted, FragmentsPlan};
use hyperslab_tiledb::write::sparse::{Column, SparseFragment};
use hyperslab_tiledb::write::vacuum::{VacuumOptions, VacuumPlan};
use std::sync::Arc;

/// What is read at one moment, with the cells in any order.
pub(crate) type Seen = Vec<Vec<Vec<u8>>>;

pub(crate) const ALL_CELLS: ConsolidateOptions =
    ConsolidateOptions { amplification: 1e9, deleted: Deleted::Kept, memory: 512 << 20 };

/// All cells and metadata that are visible at a moment.
pub(crate) fn seen(store: &Arc<dyn Store>, array: &Key, at: Moment) -> hyperslab_core::Result<Seen> {
    let array = Array::open(Arc::clone(store), array, OpenOptions { at, ..OpenOptions::default() })?;
    let mut seen = match array.schema().array_type {
        ArrayType::Dense => dense(&array)?,
        ArrayType::Sparse => sparse(&array)?,
    };
    seen.extend(array.metadata()?.into_iter().map(|(key, value)| vec![key, value.bytes]));
    Ok(seen)
}

fn dense(array: &Array) -> hyperslab_core::Result<Seen> {
    let Some(of) = array.dense_non_empty_domain()? else { return Ok(Vec::new()) };
    let shape = array.dense_domain()?.shape;
    let last: Vec<u64> = of.last.iter().zip(&shape).map(|(last, len)| *last.min(&(len - 1))).collect();
    // Cells that were never written read as the fill value, so the bounds of the box do not matter.
    let region = Region::all(&last.iter().map(|last| last + 1).collect::<Vec<_>>());
    let count = region.bytes(1)?;
    let mut seen = Vec::new();
    for (position, attribute) in array.attributes().iter().enumerate() {
        let mut validity = vec![1; count];
        let values = match attribute.cell_val_num {
            CellValNum::Fixed(values) => {
                let size = values as usize * attribute.data_type.size();
                let mut rows = vec![0; count * size];
                array.read_dense(position, &region, &mut Planes::whole(&mut rows), Some(&mut validity))?;
                rows.chunks(size).map(<[u8]>::to_vec).collect::<Vec<_>>()
            }
            CellValNum::Var => {
                let found = array.read_dense_var(position, &region, Some(&mut validity))?;
                let size = attribute.data_type.size();
                let value = |slot: Slot| {
                    let start = usize::try_from(slot.offset).unwrap();
                    match slot.count as usize * size {
                        0 => Vec::new(),
                        len => found.buffers[slot.buffer as usize][start..][..len].to_vec(),
                    }
                };
                Slot::each(&found.rows).map(value).collect()
            }
        };
        for (value, validity) in values.into_iter().zip(validity) {
            seen.push(if validity == 0 { vec![vec![], vec![0]] } else { vec![value, vec![1]] });
        }
    }
    Ok(seen)
}

fn sparse(array: &Array) -> hyperslab_core::Result<Seen> {
    let dimensions = (0..array.dimensions().len()).map(SparseField::Dimension);
    let columns = dimensions.chain((0..array.attributes().len()).map(SparseField::Attribute)).collect();
    let mut seen = Vec::new();
    array.read_sparse(&SparseRequest { ranges: Vec::new(), columns }, &mut |cells| {
        for cell in 0..cells.count {
            let of = |column: &hyperslab_tiledb::read::sparse::SparseColumn| {
                let start = if cell == 0 { 0 } else { column.ends[cell - 1] };
                match column.validity[cell] {
                    0 => vec![b'n'],
                    _ => [&b"v"[..], &column.bytes[start..column.ends[cell]]].concat(),
                }
            };
            seen.push(cells.columns.iter().map(of).collect());
        }
        Ok(())
    })?;
    seen.sort();
    Ok(seen)
}

/// What is read until each of the times, from the beginning and from some later times on.
pub(crate) fn history(store: &Arc<dyn Store>, array: &Key, times: &[u64]) -> Vec<((u64, u64), Seen)> {
    let mut found = Vec::new();
    for start in [0, 3, 5] {
        for end in times.iter().filter(|end| **end >= start).chain([&u64::MAX]) {
            let at = Moment { start, end: *end };
            found.push(((start, *end), seen(store, array, at).unwrap()));
        }
    }
    found
}

/// What is read until each of several times, from the beginning.
pub(crate) fn until(store: &Arc<dyn Store>, array: &Key) -> Vec<((u64, u64), Seen)> {
    let ends = [1, 2, 4, 5, 8, u64::MAX];
    ends.iter().map(|end| ((0, *end), seen(store, array, Moment::until(*end)).unwrap())).collect()
}

/// Asserts that every moment reads as before, except for those that are lost.
pub(crate) fn assert_same(
    before: &[((u64, u64), Seen)],
    after: &[((u64, u64), Seen)],
    lost: &[(u64, u64)],
    what: &str,
) {
    for ((at, before), (_, after)) in before.iter().zip(after) {
        let is_lost = lost.iter().any(|(from, until)| {
            // Moments that include only a part of what is now one fragment.
            (at.1 >= *from && at.1 < *until) || (at.0 > *from && at.0 <= *until)
        });
        assert!(is_lost || before == after, "{what}: moment {at:?} saw {before:?}, now {after:?}");
    }
}

pub(crate) fn consolidate(writer: &ArrayWriter, options: ConsolidateOptions) -> FragmentsPlan {
    let consolidator = writer.consolidator(options, &Limits::default()).unwrap();
    let plan = consolidator.plan().unwrap();
    consolidator.run(&plan, &mut |_| Ok(())).unwrap();
    plan
}

pub(crate) fn vacuum(writer: &ArrayWriter, options: &VacuumOptions) -> VacuumPlan {
    let plan = writer.plan_vacuum(options, &Limits::default()).unwrap();
    writer.vacuum(&plan, &mut |_| Ok(())).unwrap();
    plan
}

pub(crate) fn lost(plan: &VacuumPlan) -> Vec<(u64, u64)> {
    plan.lost.iter().map(|lost| (lost.from, lost.until)).collect()
}

/// A dense array of five fragments, some of which overlap, with metadata.
pub(crate) fn dense_array(place: &Place, name: &str, order: Layout) -> ArrayWriter {
    let writer =
        ArrayWriter::create(place.writable(), &key(name), two_by_two(order), Vec::new(), 1, options())
            .unwrap();
    let boxes = [([0, 0], [3, 2]), ([2, 1], [5, 7]), ([8, 8], [9, 9]), ([2, 2], [2, 2]), ([6, 0], [9, 5])];
    for (time, (first, last)) in (2..).zip(boxes) {
        let shifted = move |attribute: usize, begin: &[u64], count: &[u64]| {
            let begin: Vec<u64> = begin.iter().map(|at| at + time * 1000).collect();
            cells(attribute, &begin, count)
        };
        write_dense(&writer, time, IndexBox { first: first.to_vec(), last: last.to_vec() }, &shifted);
        writer.put_metadata(&numbered(&[("k", time), (&format!("k{time}"), time)]), time).unwrap();
    }
    writer
}

pub(crate) fn numbered(entries: &[(&str, u64)]) -> Metadata {
    let entry = |(key, number): &(&str, u64)| Entry {
        key: key.as_bytes().to_vec(),
        value: Some(Value { data_type: DataType::UInt64, bytes: number.to_le_bytes().to_vec() }),
    };
    Metadata { entries: entries.iter().map(entry).collect() }
}

/// A sparse array of five fragments, some of whose cells have the same coordinates, and two deletes.
pub(crate) fn sparse_array(place: &Place, name: &str, order: Layout, allows_dups: bool) -> ArrayWriter {
    sparse_array_of(place, name, order, allows_dups, 20)
}

/// The same, with `cells` cells in each fragment.
pub(crate) fn sparse_array_of(
    place: &Place,
    name: &str,
    order: Layout,
    allows_dups: bool,
    cells: i64,
) -> ArrayWriter {
    let dimensions = vec![dimension("row", (0, 99), 10), dimension("column", (0, 9), 5)];
    let attributes = vec![attribute("number", DataType::Int32), texts("text")];
    let schema =
        ArraySchema { cell_order: order, allows_dups, ..schema(ArrayType::Sparse, dimensions, attributes) };
    let writer = ArrayWriter::create(place.writable(), &key(name), schema, Vec::new(), 1, options()).unwrap();
    for time in [2, 4, 4, 6, 9] {
        let at = move |n| ((n * 7 + 1) * i64::from(time) % 40, n % 10);
        write_sparse(&writer, time, (0..cells).map(at));
    }
    delete(place, name, 5, "number", Operator::Ge, 4100);
    delete(place, name, 7, "row", Operator::Ne, 14);
    writer
}

/// Writes cells at these coordinates, each only once.
pub(crate) fn write_sparse(writer: &ArrayWriter, time: u16, at: impl Iterator<Item = (i64, i64)>) {
    let mut at: Vec<(i64, i64)> = at.collect();
    at.sort_unstable();
    at.dedup();
    let numbers = |of: &dyn Fn(usize) -> Vec<u8>| (0..at.len()).flat_map(of).collect::<Vec<u8>>();
    let mut text = Column::default();
    for cell in 0..at.len() {
        text.offsets.push(text.values.len() as u64);
        text.validity.push(u8::from(cell % 5 != 0));
        text.values.extend(format!("t{time}").repeat(if cell % 5 == 0 { 0 } else { cell % 3 }).bytes());
    }
    let columns = [
        Column { values: numbers(&|n| at[n].0.to_le_bytes().to_vec()), ..Column::default() },
        Column { values: numbers(&|n| at[n].1.to_le_bytes().to_vec()), ..Column::default() },
        Column {
            values: numbers(&|n| {
                (i32::from(time) * 1000 + i32::try_from(n).unwrap() * 10).to_le_bytes().to_vec()
            }),
            ..Column::default()
        },
        text,
    ];
    let fragment = SparseFragment::of_cells(writer, time.into(), &columns, at.len()).unwrap();
    writer.commit(&[fragment]).unwrap();
}

/// Deletes the cells that do not satisfy the comparison.
pub(crate) fn delete(place: &Place, name: &str, time: u64, field: &str, operator: Operator, value: i64) {
    let value = match field {
        "number" => i32::try_from(value).unwrap().to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    };
    let comparison = Comparison { operator, field: field.into(), value, offsets: Vec::new() };
    let condition = DeleteCondition::new(vec![Node::Value(comparison)]).unwrap();
    let file = format!("{name}/__commits/__{time}_{time}_{}_22.del", "0123456789abcdef".repeat(2));
    place.writable().put(&key(&file), &generic_of(&condition, &())).unwrap();
}

/// All times at which something happens in these arrays.
pub(crate) const TIMES: [u64; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
