//! A source in which pairs of arrays are shown as nullable arrays again.

use super::{DTYPE, Mark, Marked, SUFFIX, says_bool};
use crate::pool::Pool;
use crate::source::engine::row_size;
use crate::source::{
    ArraySource, ByGroup, Chunks, Declared, Entry, Handle, Item, MissingSources, Source, SourceView,
};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result, valid};
use hyperslab_model::rows::{clear_nulls, put_nullable};
use hyperslab_model::{Datatype, Fill, Node, NodeKind, NodePath, Reference, Values};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A source with nullable arrays. Arrays that do not fit the mark of their group are shown as they are stored.
pub(crate) struct Restored {
    source: Arc<dyn Source>,
    /// The groups that were looked up; `None` for those without a mark.
    known: ByGroup<Option<Arc<Nullables>>>,
}

/// The nullable arrays of a group.
struct Nullables {
    arrays: Vec<Nullable>,
    /// Whether these include every existing array that the mark names.
    is_whole: bool,
}

struct Nullable {
    marked: Marked,
    datatype: Arc<Datatype>,
    /// The array that states which values are valid.
    valid: Handle,
}

impl Nullables {
    fn named(&self, name: &str) -> Option<&Nullable> {
        self.arrays.iter().find(|array| array.marked.name == name)
    }

    /// Whether a member of the group only states which values of another one are valid.
    fn hides(&self, name: &str) -> bool {
        self.arrays.iter().any(|array| array.marked.valid == name)
    }
}

impl Restored {
    /// The same source, with nullable arrays in place of pairs of arrays.
    pub(crate) fn shared(source: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(Restored { source, known: ByGroup::default() })
    }

    /// The nullable arrays of a group.
    fn nullables(&self, group: &NodePath) -> Result<Option<Arc<Nullables>>> {
        self.known.get(group, || Ok(self.read(group)?.map(Arc::new)))
    }

    fn read(&self, group: &NodePath) -> Result<Option<Nullables>> {
        let Some(entry) = valid(self.source.find(group))? else { return Ok(None) };
        if !matches!(entry.item, Item::Group) {
            return Ok(None);
        }
        let Some(Node::Group(node)) = valid(self.source.load(&entry.handle))? else { return Ok(None) };
        // A mark that hyperslab did not write, or that another program has truncated, is an ordinary attribute.
        let Some(mark) = valid(Mark::of(&node.attributes))?.flatten() else { return Ok(None) };
        let (mut arrays, mut is_whole) = (Vec::new(), true);
        for marked in mark.arrays {
            // It may have been left out, or deleted.
            if valid(self.source.find(&group.child(&marked.name)))?.is_none() {
                continue;
            }
            match self.nullable(group, marked)? {
                Some(array) => arrays.push(array),
                None => is_whole = false,
            }
        }
        Ok(Some(Nullables { arrays, is_whole }))
    }

    /// A nullable array, if the arrays that a mark names exist and have the same shape.
    fn nullable(&self, group: &NodePath, mut marked: Marked) -> Result<Option<Nullable>> {
        let mut found = Vec::new();
        for name in [&marked.name, &marked.valid] {
            let Some(entry) = valid(self.source.find(&group.child(name)))? else { return Ok(None) };
            let Item::Array { kind: NodeKind::Ndarray, datatype: Some(datatype), shape, .. } = entry.item
            else {
                return Ok(None);
            };
            found.push((entry.handle, datatype, shape.current()));
        }
        let [(values, of, shape), (flagged, flags, other)] = found.as_slice() else { return Ok(None) };
        let is_flags = matches!(flags.resolved(), Datatype::Int { .. }) && flags.row_size() == Some(1);
        if shape != other || !is_flags || matches!(of.resolved(), Datatype::Nullable(_)) {
            return Ok(None);
        }
        let mut of = Datatype::clone(of);
        // Booleans stored as integers have the same rows.
        if of == Datatype::int(8, true)
            && let Some(Node::Ndarray(node)) = valid(self.source.load(values))?
            && says_bool(&node.attributes)
        {
            of = Datatype::Bool;
            marked.added.push(DTYPE.to_owned());
        }
        let datatype = Arc::new(Datatype::Nullable(Box::new(of)));
        Ok(Some(Nullable { marked, datatype, valid: flagged.clone() }))
    }

    /// The nullable arrays to which an object may belong.
    fn around(&self, path: &NodePath) -> Result<Option<Arc<Nullables>>> {
        path.parent().map_or(Ok(None), |group| self.nullables(&group))
    }
}

/// An object as it is listed; `None` if it is hidden.
fn shown(nullables: &Nullables, mut entry: Entry) -> Option<Entry> {
    let name = entry.handle.path.name();
    if nullables.hides(name) {
        return None;
    }
    if let Some(array) = nullables.named(name)
        && let Item::Array { datatype, .. } = &mut entry.item
    {
        *datatype = Some(Arc::clone(&array.datatype));
    }
    Some(entry)
}

impl SourceView for Restored {
    fn viewed(&self) -> &dyn Source {
        &*self.source
    }

    fn entry_at(&self, path: &NodePath) -> Result<Entry> {
        let entry = self.source.find(path)?;
        // For other objects, the group need not be examined.
        if !matches!(entry.item, Item::Array { kind: NodeKind::Ndarray, .. }) {
            return Ok(entry);
        }
        match self.around(&entry.handle.path)? {
            None => Ok(entry),
            Some(nullables) => {
                shown(&nullables, entry).ok_or_else(|| Error::not_found(format!("no object {path}")))
            }
        }
    }

    fn entries_in(&self, group: &Handle) -> Result<Vec<Entry>> {
        let members = self.source.members(group)?;
        if !members.iter().any(|entry| entry.handle.path.name().contains(SUFFIX)) {
            // The attributes of the group need not be examined.
            self.known.note(&group.path, None);
            return Ok(members);
        }
        Ok(match self.nullables(&group.path)? {
            None => members,
            Some(nullables) => members.into_iter().filter_map(|entry| shown(&nullables, entry)).collect(),
        })
    }

    fn node_of(&self, object: &Handle) -> Result<Node> {
        let mut node = self.source.load(object)?;
        match &mut node {
            Node::Group(group)
                if group.attributes.contains_key(Mark::NAME)
                    && self.nullables(&object.path)?.is_some_and(|nullables| nullables.is_whole) =>
            {
                group.attributes.shift_remove(Mark::NAME);
            }
            Node::Ndarray(array) => {
                if let Some(nullables) = self.around(&object.path)?
                    && let Some(nullable) = nullables.named(object.path.name())
                {
                    array.datatype = Some(Arc::clone(&nullable.datatype));
                    array.attributes.retain(|name, _| !nullable.marked.added.contains(name));
                    let fill = self.elements_of(object)?.fill()?;
                    array.storage.fill = fill.map_or(Fill::Default, Fill::Value);
                }
            }
            _ => {}
        }
        Ok(node)
    }

    fn elements_of(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let values = self.source.array(object)?;
        if let Some(nullables) = self.around(&object.path)?
            && let Some(nullable) = nullables.named(object.path.name())
        {
            let valid = self.source.array(&nullable.valid)?;
            if values.extents() == valid.extents() && valid.datatype().row_size() == Some(1) {
                return Ok(Arc::new(NullableArray {
                    values,
                    valid,
                    datatype: Arc::clone(&nullable.datatype),
                }));
            }
        }
        Ok(values)
    }

    fn declared_in(&self, group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        if self.nullables(&group.path)?.is_none() {
            return self.source.declared(group, members);
        }
        let stored = self.source.members(group)?;
        let declared = self.source.declared(group, &stored)?;
        let known: FxHashMap<_, _> = stored.iter().map(|of| &of.handle.path).zip(declared).collect();
        let last = Declared { place: u64::MAX, dimension: None };
        Ok(members.iter().map(|of| known.get(&of.handle.path).copied().unwrap_or(last)).collect())
    }

    fn attribute_order_of(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        let Some(mut names) = self.source.stored_order_of_attributes(object)? else { return Ok(None) };
        if names.iter().any(|name| name == Mark::NAME)
            && self.nullables(&object.path)?.is_some_and(|nullables| nullables.is_whole)
        {
            names.retain(|name| name != Mark::NAME);
        }
        if let Some(nullables) = self.around(&object.path)?
            && let Some(nullable) = nullables.named(object.path.name())
        {
            names.retain(|name| !nullable.marked.added.contains(name));
        }
        Ok(Some(names))
    }
}

/// The values of one array, which are null where another array marks them as invalid.
struct NullableArray {
    values: Arc<dyn ArraySource>,
    valid: Arc<dyn ArraySource>,
    datatype: Arc<Datatype>,
}

impl ArraySource for NullableArray {
    fn extents(&self) -> Option<&[u64]> {
        self.values.extents()
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn chunk(&self) -> &[u64] {
        self.values.chunk()
    }

    fn pool(&self) -> &Pool {
        self.values.pool()
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let size = row_size(&*self.values)?;
        rows.slices(region).try_for_each(|(part, out)| {
            let (mut values, mut valid) = (vec![0; part.bytes(size)?], vec![0; part.bytes(1)?]);
            self.values.read_part(&part, &mut Planes::whole(&mut values), heap, scratch)?;
            self.valid.read_part(&part, &mut Planes::whole(&mut valid), &mut Heap::default(), scratch)?;
            put_nullable(&values, &valid, size, out);
            clear_nulls(size, out);
            Ok::<_, Error>(())
        })
    }

    fn decoded_chunk(&self) -> Option<Vec<u64>> {
        self.values.decoded_chunk()
    }

    fn is_divisible(&self) -> bool {
        self.values.is_divisible()
    }

    fn is_far(&self) -> bool {
        self.values.is_far()
    }

    fn stored(&self) -> Result<u64> {
        Ok(self.values.stored()?.saturating_add(self.valid.stored()?))
    }

    fn chunks(&self) -> Result<Option<Chunks>> {
        self.values.chunks()
    }

    fn fill(&self) -> Result<Option<Values>> {
        let size = row_size(&*self.values)?;
        let is_valid = self.valid.fill()?.is_some_and(|fill| fill.rows.iter().any(|byte| *byte != 0));
        let (rows, heap) = match (is_valid, self.values.fill()?) {
            (false, _) => (vec![0; size.saturating_add(1)], Heap::default()),
            (true, Some(fill)) => ([&[1], &*fill.rows].concat(), fill.heap),
            (true, None) => ([vec![1], vec![0; size]].concat(), Heap::default()),
        };
        Ok(Some(Values { rows: rows.into(), heap }))
    }

    fn missing_sources(&self) -> Result<MissingSources> {
        self.values.missing_sources()
    }

    /// A chunk of one array may be written where the corresponding chunk of the other is not.
    fn absent_is_unwritten(&self) -> bool {
        false
    }

    fn most_content(&self) -> Result<u64> {
        self.values.most_content()
    }

    fn is_unwritten_in(&self, region: &Region) -> Result<bool> {
        Ok(self.values.is_unwritten_in(region)? && self.valid.is_unwritten_in(region)?)
    }

    fn is_unwritten(&self) -> Result<bool> {
        Ok(self.values.is_unwritten()? && self.valid.is_unwritten()?)
    }
}
