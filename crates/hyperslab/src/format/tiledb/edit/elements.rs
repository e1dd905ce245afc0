//! Elements of dense arrays. A fragment contains all attributes, so attributes that are not given are read and written
//! again.

use super::super::objects::{ArrayObject, Field, Object};
use super::columns::{attribute_column, attribute_name, fill};
use super::schema::{SchemaEdit, rectangle_text};
use super::{TileDbEditor, What};
use crate::editor::{Change, ChangeKind, JOINED_INSTEAD};
use hyperslab_core::nd::{Region, element_count};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Column as Given, NodePath};
use hyperslab_tiledb::array::Array;
use hyperslab_tiledb::filter::Scratch;
use hyperslab_tiledb::format::array_schema::Attribute;
use hyperslab_tiledb::format::data_type::CellValNum;
use hyperslab_tiledb::read::{DenseDomain, IndexBox, TilePart};
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::dense::{DenseFragment, TileBuffers, rectangle, stored_cells};
use hyperslab_tiledb::write::field::TileCells;
use hyperslab_tiledb::write::sparse::Column;

/// Elements of a box of a dense array.
pub(super) struct Elements {
    /// The box, in indices of the domain.
    written: IndexBox,
    /// Attributes by their stored names, with their cells in row-major order.
    given: Vec<(Vec<u8>, Column)>,
    /// Whether attributes that are not given get their fill value, because the box is empty.
    is_new: bool,
}

impl TileDbEditor {
    pub(super) fn write_elements(
        &mut self,
        path: &NodePath,
        region: &Region,
        given: &Given,
    ) -> Result<Change> {
        let (group, name) = self.array_of(path)?;
        self.with_array(&group, |editor, key, array| {
            if array.is_sparse() {
                return Err(Error::invalid(
                    "is an attribute of a sparse array, expected one of a dense array",
                )
                .with_hint("cells of sparse arrays are appended, with their coordinates"));
            }
            let Field::Attribute(position) = TileDbEditor::field(array, &name)? else {
                return Err(Error::invalid("has coordinates that follow from its domain, which cannot be written"));
            };
            let attribute = array.attribute(position)?;
            let positions = array.positions()?;
            region.check(&positions.counts)?;
            if region.count.contains(&0) {
                return Err(Error::invalid("an empty selection"));
            }
            if region.step.iter().zip(&region.count).any(|(step, count)| *step != 1 && *count != 1) {
                return Err(Error::unsupported("a selection with steps, expected elements without gaps"));
            }
            let first: Vec<u64> = region
                .start
                .iter()
                .zip(&positions.first)
                .map(|(at, first)| at.saturating_add(*first))
                .collect();
            let last = first.iter().zip(&region.count).map(|(first, count)| first + (count - 1)).collect();
            let written = IndexBox { first, last };
            let cells = element_count(&region.count);
            let column = attribute_column(&editor.evolution(key, &array.array)?, array, attribute, given)?;
            check_count(&column, attribute, cells)?;
            let mut notes = Vec::new();
            if array.array.attributes().len() > 1 {
                let others =
                    "the other attributes of these cells are written again, because a fragment contains all attributes";
                notes.push(others.to_owned());
            }
            let around = rectangle(array.array.schema(), &written)?;
            let what = format!("elements {}", rectangle_text(array, &around));
            let given = vec![(attribute.name.clone(), column)];
            editor.push(key, What::Elements(Elements { written, given, is_new: false }));
            Ok(Change { cells, notes, ..Change::new(ChangeKind::Changed, path, what) })
        })
    }

    pub(super) fn append_elements(
        &mut self,
        path: &NodePath,
        along: usize,
        counts: &[u64],
        arrays: &[Given],
    ) -> Result<Change> {
        if let Object::Group(_) = &*self.object(path)?.1 {
            let detail = "is a group whose arrays are separate TileDB arrays: elements can only be appended to \
                          attributes of one array, all at once";
            return Err(Error::unsupported(detail).with_hint(JOINED_INSTEAD));
        }
        self.with_array(path, |editor, key, array| {
            if array.is_sparse() {
                return Err(Error::invalid("is a sparse array, expected a dense one"));
            }
            let written = editor.behind(key, array, along, counts)?;
            let (mut given, mut notes) = (Vec::new(), Vec::new());
            let mut evolution = editor.evolution(key, &array.array)?;
            let cells = element_count(counts);
            for attribute in &evolution.schema().attributes {
                let name = attribute_name(array, attribute);
                match arrays.iter().find(|own| own.name == name) {
                    Some(own) => {
                        let column = attribute_column(&evolution, array, attribute, own)?;
                        check_count(&column, attribute, cells)?;
                        given.push((attribute.name.clone(), column));
                    }
                    None => notes.push(format!("{name} is not given, so it gets its fill value there")),
                }
            }
            let around = rectangle(array.array.schema(), &written)?;
            if evolution.grow_around(&around)? {
                notes.push("the current domain grows".to_owned());
                editor.push_schema(key, SchemaEdit::GrowAround(around.clone()));
            }
            let what = format!("elements {}", rectangle_text(array, &around));
            editor.push(key, What::Elements(Elements { written, given, is_new: true }));
            Ok(Change { cells, notes, ..Change::new(ChangeKind::Added, path, what) })
        })
    }

    /// The box beyond all elements along a dimension: beyond the current domain, or if there is none, beyond what was
    /// written.
    fn behind(&self, key: &Key, array: &ArrayObject, along: usize, counts: &[u64]) -> Result<IndexBox> {
        let domain = array.array.dense_domain()?;
        let there = match array.array.dense_current_domain()? {
            Some(current) => Some(current),
            None => array.array.dense_non_empty_domain()?,
        };
        let planned = self.planned(key).filter_map(|what| match what {
            What::Elements(elements) if elements.is_new => elements.written.last.get(along).copied(),
            _ => None,
        });
        let (first, shown) = match &there {
            Some(there) => (there.first.clone(), there.shape()),
            None => (vec![0; domain.shape.len()], domain.shape.clone()),
        };
        let end = there.as_ref().and_then(|there| there.last.get(along).copied());
        let begin = planned.chain(end).max().map_or(0, |last| last.saturating_add(1));
        let mut written = IndexBox { first: first.clone(), last: Vec::new() };
        if let Some(place) = written.first.get_mut(along) {
            *place = begin;
        }
        for (dimension, (count, shown)) in counts.iter().zip(&shown).enumerate() {
            let name = array.name(Field::Dimension(dimension)).unwrap_or_default();
            if dimension != along && count != shown {
                return Err(Error::invalid(format!("{count} elements along {name}, expected {shown}")));
            }
            let first = written.first.get(dimension).copied().unwrap_or(0);
            let last = count.checked_sub(1).and_then(|more| first.checked_add(more));
            let last = last.ok_or_else(|| Error::invalid(format!("no elements along {name}")))?;
            let all = domain.shape.get(dimension).copied().unwrap_or(0);
            if last >= all {
                let left = all.saturating_sub(first);
                return Err(Error::invalid(format!(
                    "{count} elements along {name}, but the domain has room for only {left} after the existing ones"
                )));
            }
            written.last.push(last);
        }
        match written.last.len() == domain.shape.len() {
            true => Ok(written),
            false => {
                let (found, expected) = (counts.len(), domain.shape.len());
                Err(Error::invalid(format!("elements of {found} dimensions, expected {expected}")))
            }
        }
    }
}

impl Elements {
    /// Writes a fragment with the elements and commits it.
    pub(super) fn write(&self, array: &Array, writer: &ArrayWriter, time: u64) -> Result<()> {
        let fragment = DenseFragment::new(writer, (time, time), self.written.clone())?;
        let (counts, domain) = (self.written.shape(), DenseDomain::of(writer.schema())?);
        let (mut buffers, mut scratch) = (TileBuffers::default(), Scratch::new());
        for (position, attribute) in writer.schema().attributes.iter().enumerate() {
            let own = self.given.iter().find(|(name, _)| *name == attribute.name);
            let column = match own {
                Some((_, column)) => column.clone(),
                None if self.is_new => fill(attribute, cells_of(&counts)?)?,
                None => {
                    stored_cells(array, position, &Region::new(self.written.first.clone(), counts.clone()))?
                }
            };
            let encoder = fragment.encoder(position)?;
            let size = attribute.cell_size()?.unwrap_or(0);
            let mut next = Some(domain.first_tile(&self.written));
            while let Some(at) = next {
                let TilePart { within, start, count } = domain.part_in(&self.written, &at);
                let begin: Vec<u64> =
                    start.iter().zip(&self.written.first).map(|(at, first)| at - first).collect();
                let Column { values, offsets, validity } = cut(&column, size, &counts, (&begin, &count))?;
                let cells = TileCells { values: &values, offsets: &offsets, validity: &validity };
                let mut bytes = Vec::new();
                let tile =
                    encoder.encode((&within, &count), &cells, &mut bytes, (&mut buffers, &mut scratch))?;
                fragment.put(position, &at, &bytes, &tile)?;
                next = domain.next_tile(&self.written, &at);
            }
        }
        writer.commit(&[fragment.finish()?])
    }
}

fn cells_of(counts: &[u64]) -> Result<usize> {
    let cells = element_count(counts).and_then(|cells| usize::try_from(cells).ok());
    cells.ok_or_else(|| Error::unsupported(format!("{counts:?} elements at once")))
}

/// Checks that the number of cells equals the number of selected elements.
fn check_count(column: &Column, of: &Attribute, cells: Option<u64>) -> Result<()> {
    let found = match of.cell_val_num {
        CellValNum::Var => column.offsets.len() as u64,
        CellValNum::Fixed(values) => {
            let size = u64::from(values).saturating_mul(of.data_type.size() as u64).max(1);
            column.values.len() as u64 / size
        }
    };
    match Some(found) == cells {
        true => Ok(()),
        false => Err(Error::invalid(format!("{found} elements, expected {}", cells.unwrap_or(u64::MAX)))),
    }
}

/// The cells of a part of a box, whose cells are in row-major order. Cells have `size` bytes, or 0 if their sizes
/// differ.
fn cut(column: &Column, size: usize, counts: &[u64], (begin, count): (&[u64], &[u64])) -> Result<Column> {
    let mut part = Column::default();
    let mut at = vec![0_u64; count.len()];
    let wrong = || Error::invalid("fewer elements than were selected");
    loop {
        let place = at.iter().zip(begin).zip(counts).fold(0_u64, |place, ((at, begin), all)| {
            place.saturating_mul(*all).saturating_add(at.saturating_add(*begin))
        });
        let cell = usize::try_from(place).map_err(|_| wrong())?;
        let value = match size {
            0 => {
                let offset = |cell: usize| column.offsets.get(cell).and_then(|at| usize::try_from(*at).ok());
                let end = offset(cell.saturating_add(1)).unwrap_or(column.values.len());
                part.offsets.push(part.values.len() as u64);
                column.values.get(offset(cell).ok_or_else(wrong)?..end)
            }
            size => {
                cell.checked_mul(size).and_then(|start| column.values.get(start..start.checked_add(size)?))
            }
        };
        part.values.extend_from_slice(value.ok_or_else(wrong)?);
        if !column.validity.is_empty() {
            part.validity.push(*column.validity.get(cell).ok_or_else(wrong)?);
        }
        if !hyperslab_core::nd::advance(&mut at, count) {
            return Ok(part);
        }
    }
}
