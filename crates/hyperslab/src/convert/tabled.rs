//! A source whose sparse arrays are tables of cells, for formats that have no sparse arrays.

use super::Parts;
use super::made::{MADE, Names};
use crate::cell_table::{CELL, MARK, Mark, text_attribute};
use crate::cells::{CellColumn, CellQuery, CellSource, Columns};
use crate::pool::Pool;
use crate::source::{ArraySource, ByGroup, Entry, Handle, Item, Source, SourceView, Stored};
use crate::target::{TargetFormat, conventions};
use crate::validity::{self, ANCILLARY, SUFFIX, null_row};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::{place_rows, push_zero};
use hyperslab_model::{
    Attributes, BoxedStorage, Datatype, DimCoord, Dimension, Extent, Ndarray, Node, NodePath, Reference,
    Shape, Storage, Values,
};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The tables of a conversion, made when their groups are first listed.
#[derive(Default)]
pub(super) struct Tables {
    /// Whether the format has no sparse arrays.
    is_needed: bool,
    has_datetimes: bool,
    parts: Option<Parts>,
    pool: Pool,
    known: ByGroup<Option<Arc<Table>>>,
}

/// The table of one sparse array.
struct Table {
    /// The name of its dimension.
    along: String,
    count: u64,
    cells: Arc<dyn CellSource>,
    members: Vec<Member>,
    /// The text of the mark attribute.
    mark: String,
    /// The sorted cells, kept since arrays are written one after another.
    kept: Mutex<Option<Arc<Columns>>>,
    pool: Pool,
}

/// An array of a table.
struct Member {
    name: String,
    /// The index of the column.
    column: usize,
    /// Whether its elements state which values are not null.
    says_valid: bool,
    datatype: Arc<Datatype>,
    attributes: Attributes,
    storage: BoxedStorage,
}

/// A source with tables in place of sparse arrays.
pub(super) struct Tabled<'a> {
    source: &'a dyn Source,
    tables: Arc<Tables>,
}

impl Tables {
    /// The tables that a format needs.
    pub(super) fn of(format: &dyn TargetFormat, parts: Option<&Parts>, pool: &Pool) -> Tables {
        Tables {
            is_needed: !format.has_cells(),
            has_datetimes: format.has_datetimes(),
            parts: parts.cloned(),
            pool: pool.clone(),
            known: ByGroup::default(),
        }
    }

    /// The columns of the sparse array at a group that becomes a table, as far as they are converted.
    pub(super) fn columns(&self, group: &NodePath) -> Option<Vec<CellColumn>> {
        let table = self.known.known(group)??;
        let values = table.members.iter().filter(|member| !member.says_valid);
        Some(values.filter_map(|member| table.cells.columns().get(member.column).cloned()).collect())
    }

    /// Whether an object belongs to a table, which is always converted.
    pub(super) fn has(&self, path: &NodePath) -> bool {
        let table = path.parent().and_then(|group| self.known.known(&group)?);
        table.is_some_and(|table| table.has(path.name()))
    }
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = self.known.all().into_iter().filter(|(_, table)| table.is_some());
        f.debug_set().entries(tables.map(|(path, _)| path)).finish()
    }
}

impl<'a> Tabled<'a> {
    pub(super) fn new(source: &'a dyn Source, tables: &Arc<Tables>) -> Tabled<'a> {
        Tabled { source, tables: Arc::clone(tables) }
    }

    fn table(&self, group: &NodePath) -> Result<Option<Arc<Table>>> {
        if !self.tables.is_needed {
            return Ok(None);
        }
        self.tables.known.get(group, || Ok(self.make(group)?.map(Arc::new)))
    }

    fn make(&self, group: &NodePath) -> Result<Option<Table>> {
        let handle = self.source.find(group)?.handle;
        let Some(cells) = self.source.cells(&handle)? else { return Ok(None) };
        let is_converted =
            |name: &str| self.tables.parts.as_ref().is_none_or(|parts| parts.has_path(&group.child(name)));
        if !cells.columns().iter().any(|column| is_converted(&column.name)) {
            return Ok(None);
        }
        let (members, count) = (self.source.members(&handle)?, cells.count(&CellQuery::default())?);
        let mut names = Names::of(&members);
        let mut mark = Mark { along: names.new_one(CELL), ..Mark::default() };
        if let Node::Group(node) = self.source.load(&handle)? {
            mark.storage.native.clone_from(&node.storage.native);
        }
        let dimensions = cells.columns().iter().filter(|column| column.is_dimension);
        let coordinates: Vec<&str> = dimensions.map(|column| column.name.as_str()).collect();
        let mut found = Vec::new();
        for (index, column) in cells.columns().iter().enumerate() {
            if !column.is_dimension && !is_converted(&column.name) {
                continue;
            }
            let mut node = self.source.load(&self.source.find(&group.child(&column.name))?.handle)?;
            let mut attributes = node.attributes_mut().map(std::mem::take).unwrap_or_default();
            let storage = node.storage().map(|storage| stored(storage, count)).unwrap_or_default();
            mark.add(&group.child(&column.name), node);
            let (datatype, valid) = match column.datatype.resolved() {
                Datatype::Nullable(of) => (&**of, Some(names.new_one(&format!("{}{SUFFIX}", column.name)))),
                of => (of, None),
            };
            let mut added = Vec::new();
            let mut add = |name: &'static str, text: &str| -> Result<()> {
                if !attributes.contains_key(name) {
                    attributes.insert(name.to_owned(), Ok(text_attribute(text)?));
                    added.push(name.to_owned());
                }
                Ok(())
            };
            let datatype = match datatype.resolved() {
                Datatype::Datetime(unit) if !self.tables.has_datetimes => {
                    conventions::of_datetimes(unit).iter().try_for_each(|(name, text)| add(name, text))?;
                    Arc::new(Datatype::int(64, true))
                }
                _ if valid.is_some() => Arc::new(datatype.clone()),
                _ => Arc::clone(&column.datatype),
            };
            // CF readers find the coordinates by it. They split names at spaces.
            if !column.is_dimension
                && !coordinates.is_empty()
                && !coordinates.iter().any(|name| name.contains(char::is_whitespace))
            {
                add("coordinates", &coordinates.join(" "))?;
            }
            if let Some(valid) = &valid {
                add(ANCILLARY, valid)?;
            }
            if !added.is_empty() {
                mark.added.push((column.name.clone(), added));
            }
            let name = column.name.clone();
            found.push(Member { name, column: index, says_valid: false, datatype, attributes, storage });
            if let Some(valid) = valid {
                mark.valid.push((column.name.clone(), valid.clone()));
                found.push(Member::saying_valid(valid, index, &column.name)?);
            }
        }
        Ok(Some(Table {
            along: mark.along.clone(),
            count,
            cells,
            members: found,
            mark: mark.to_json()?,
            kept: Mutex::default(),
            pool: self.tables.pool.clone(),
        }))
    }
}

impl SourceView for Tabled<'_> {
    fn viewed(&self) -> &dyn Source {
        self.source
    }

    fn entry_at(&self, path: &NodePath) -> Result<Entry> {
        if let Some(group) = path.parent()
            && let Some(table) = self.table(&group)?
            && let Some(entry) = table.entry(path)
        {
            return Ok(entry);
        }
        self.source.find(path)
    }

    fn entries_in(&self, group: &Handle) -> Result<Vec<Entry>> {
        let members = self.source.members(group)?;
        let Some(table) = self.table(&group.path)? else { return Ok(members) };
        let (mut entries, mut is_begun) = (Vec::with_capacity(members.len() + 1), false);
        for entry in members {
            let name = entry.handle.path.name();
            let Some(column) = table.cells.columns().iter().position(|column| column.name == name) else {
                entries.push(entry);
                continue;
            };
            if !std::mem::replace(&mut is_begun, true) {
                entries.extend(table.entry(&group.path.child(&table.along)));
            }
            let of_column = table.members.iter().filter(|member| member.column == column);
            entries.extend(of_column.filter_map(|member| table.entry(&group.path.child(&member.name))));
        }
        Ok(entries)
    }

    fn node_of(&self, object: &Handle) -> Result<Node> {
        let path = &object.path;
        if let Some(group) = path.parent()
            && let Some(table) = self.table(&group)?
            && table.has(path.name())
        {
            return table.node(path).ok_or_else(|| Error::not_found(format!("no object {path}")));
        }
        let mut node = self.source.load(object)?;
        if let Node::Group(group) = &mut node
            && let Some(table) = self.table(path)?
        {
            group.storage.native.clear();
            group.attributes.insert(MARK.to_owned(), Ok(text_attribute(&table.mark)?));
        }
        Ok(node)
    }

    fn elements_of(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let path = &object.path;
        if let Some(group) = path.parent()
            && let Some(table) = self.table(&group)?
            && let Some(member) = table.members.iter().position(|member| member.name == path.name())
        {
            return Ok(Arc::new(TableArray::new(table, member)));
        }
        self.source.array(object)
    }

    fn cells_of(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        match self.tables.is_needed {
            true => Ok(None),
            false => self.source.cells(group),
        }
    }

    fn attribute_order_of(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        let path = &object.path;
        if let Some(group) = path.parent()
            && let Some(table) = self.table(&group)?
            && table.has(path.name())
        {
            return Ok(None);
        }
        self.source.stored_order_of_attributes(object)
    }
}

impl Table {
    fn has(&self, name: &str) -> bool {
        self.along == name || self.members.iter().any(|member| member.name == name)
    }

    fn entry(&self, path: &NodePath) -> Option<Entry> {
        let node = self.node(path)?;
        let (kind, datatype) = (node.kind(), node.datatype().cloned());
        let (shape, stored) = match &node {
            Node::Ndarray(array) => {
                let row = datatype.as_ref().and_then(|datatype| datatype.row_size()).unwrap_or(0) as u64;
                (array.shape.clone(), Stored::Bytes(self.count.saturating_mul(row)))
            }
            _ => (Shape::fixed(&[self.count]), Stored::Nothing),
        };
        let handle = Handle { path: path.clone(), id: MADE };
        Some(Entry { handle, item: Item::Array { kind, datatype, shape, stored } })
    }

    fn node(&self, path: &NodePath) -> Option<Node> {
        let extent = Extent::Fixed(self.count);
        if path.name() == self.along {
            return Some(Node::DimCoord(DimCoord::without_coordinates(extent)));
        }
        let member = self.members.iter().find(|member| member.name == path.name())?;
        let along = path.parent()?.child(&self.along);
        Some(Node::Ndarray(Ndarray {
            shape: Shape::Dims(vec![Dimension { extent, coordinate: Some(along) }]),
            dimension: None,
            datatype: Some(Arc::clone(&member.datatype)),
            attributes: member.attributes.clone(),
            storage: member.storage.clone(),
            value: None,
        }))
    }

    /// The sorted cells.
    fn columns(&self) -> Result<Arc<Columns>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*kept {
            return Ok(Arc::clone(kept));
        }
        Ok(Arc::clone(kept.insert(Arc::new(Columns::of(&*self.cells, &self.pool)?))))
    }

    /// The elements of an array of the table for some cells.
    fn read(&self, member: &Member, cells: Range<u64>) -> Result<Values> {
        let values = self.columns()?.read(member.column, cells)?;
        let column = self.cells.columns().get(member.column);
        let of = column.map(|column| column.datatype.resolved());
        let Some(Datatype::Nullable(of)) = of else { return Ok(values) };
        let Values { rows, mut heap } = values;
        let size = of.row_size().unwrap_or(0).saturating_add(1);
        let null = null_row(of)?;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows.chunks_exact(size) {
            match (row.split_first(), member.says_valid) {
                (Some((mark, _)), true) => found.push(u8::from(*mark != 0)),
                (Some((0, _)), false) => match &null {
                    Some(null) => found.extend_from_slice(null),
                    None => push_zero(of, &mut found, &mut heap)?,
                },
                (Some((_, value)), false) => found.extend_from_slice(value),
                (None, _) => {}
            }
        }
        Ok(Values { rows: found.into(), heap })
    }
}

impl Member {
    /// The array that states which values of a column are not null.
    fn saying_valid(name: String, column: usize, of: &str) -> Result<Member> {
        Ok(Member {
            name,
            column,
            says_valid: true,
            datatype: validity::datatype(),
            attributes: validity::attributes(of)?,
            storage: BoxedStorage::default(),
        })
    }
}

/// The elements of an array of a table.
struct TableArray {
    table: Arc<Table>,
    member: usize,
    datatype: Arc<Datatype>,
    extents: [u64; 1],
}

impl TableArray {
    fn new(table: Arc<Table>, member: usize) -> TableArray {
        let datatype = match table.members.get(member) {
            Some(member) => Arc::clone(&member.datatype),
            None => Arc::new(Datatype::Bool),
        };
        TableArray { extents: [table.count], table, member, datatype }
    }
}

impl ArraySource for TableArray {
    fn extents(&self) -> Option<&[u64]> {
        Some(&self.extents)
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn chunk(&self) -> &[u64] {
        &[1]
    }

    fn pool(&self) -> &Pool {
        &self.table.pool
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        _: &mut Scratch,
    ) -> Result<()> {
        region.check(&self.extents)?;
        let Some(span) = region.span(0) else { return Ok(()) };
        let Some(member) = self.table.members.get(self.member) else { return Ok(()) };
        let row = self.datatype.row_size().unwrap_or(0);
        let values = self.table.read(member, span.clone())?;
        let Some(mut overlap) = rows.overlap(&[span.start], &[span.end - span.start], region, row)? else {
            return Ok(());
        };
        if !self.datatype.has_slots() {
            return overlap.scatter(&values.rows);
        }
        let mut placed = vec![0; values.rows.len()];
        place_rows(values, &self.datatype, &mut placed, heap)?;
        overlap.scatter(&placed)
    }

    fn stored(&self) -> Result<u64> {
        let row = self.datatype.row_size().unwrap_or(0) as u64;
        Ok(self.table.count.saturating_mul(row))
    }
}

/// How an array of a table is stored: with the filters of the column, in chunks of cells.
fn stored(of: &Storage, count: u64) -> BoxedStorage {
    let mut storage = Storage::default();
    storage.element.endian = of.element.endian;
    storage.element.charset = of.element.charset;
    if !of.filters.is_empty() {
        storage.filters.clone_from(&of.filters);
        storage.chunk = Some(vec![count.clamp(1, CHUNK)]);
    }
    storage.into()
}

/// The number of cells in a chunk.
const CHUNK: u64 = 1 << 17;
