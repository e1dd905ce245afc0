//! A source whose nullable arrays are two arrays each, for formats without nullable types.

use super::Parts;
use super::made::{MADE, Names};
use crate::cell_table::text_attribute;
use crate::source::engine::row_size;
use crate::source::{
    ArraySource, ArrayView, ByGroup, Declared, Entry, Handle, Item, LeftBehind, Source, SourceView,
};
use crate::target::TargetFormat;
use crate::target::conventions::FILL_VALUE;
use crate::validity::{self, ANCILLARY, Mark, Marked, SUFFIX, absent, null_row};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attribute, BoxedStorage, Datatype, Fill, Ndarray, Node, NodeKind, NodePath, Reference, Storage, Values,
};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// The nullable arrays of a conversion, found when their groups are first listed.
#[derive(Default)]
pub(super) struct Splits {
    /// Whether the format has no nullable types.
    is_needed: bool,
    has_datetimes: bool,
    parts: Option<Parts>,
    known: ByGroup<Arc<[SplitArray]>>,
}

/// One nullable array.
struct SplitArray {
    source: Handle,
    marked: Marked,
    /// Whether readers recognise nulls without the second array.
    is_marked: bool,
    /// The attributes that the array of values gets.
    added: Vec<(&'static str, Attribute)>,
    halves: Arc<Halves>,
}

/// The properties of the two arrays.
struct Halves {
    /// The datatype of the values.
    datatype: Arc<Datatype>,
    /// The element that replaces a null.
    null: Vec<u8>,
}

/// One of the two arrays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Values,
    Valid,
}

/// A source with two arrays in place of each nullable array.
pub(super) struct Split<'a> {
    source: &'a dyn Source,
    splits: Arc<Splits>,
}

impl Splits {
    /// The arrays that a format needs in two parts.
    pub(super) fn of(format: &dyn TargetFormat, parts: Option<&Parts>) -> Splits {
        Splits {
            is_needed: !format.has_nullables(),
            has_datetimes: format.has_datetimes(),
            parts: parts.cloned(),
            known: ByGroup::default(),
        }
    }

    /// Describes what a nullable array becomes.
    pub(super) fn becomes(&self, path: &NodePath) -> Option<String> {
        let arrays = self.known.known(&path.parent()?)?;
        let array = arrays.iter().find(|array| array.marked.name == path.name())?;
        let values = if array.is_marked { "values" } else { "values, zero or empty where they are null" };
        Some(format!("{values}, and {}, which marks those that are not null", array.marked.valid))
    }

    /// Whether an object is the second array of a nullable one, which is converted with it.
    pub(super) fn has(&self, path: &NodePath) -> bool {
        let arrays = path.parent().and_then(|group| self.known.known(&group));
        arrays.is_some_and(|arrays| arrays.iter().any(|array| array.marked.valid == path.name()))
    }
}

impl fmt::Debug for Splits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.known.all();
        let arrays = all.iter().flat_map(|(_, arrays)| arrays.iter());
        f.debug_set().entries(arrays.map(|array| &array.source.path)).finish()
    }
}

impl<'a> Split<'a> {
    pub(super) fn new(source: &'a dyn Source, splits: &Arc<Splits>) -> Split<'a> {
        Split { source, splits: Arc::clone(splits) }
    }

    /// The nullable arrays of a group.
    fn arrays(&self, group: &NodePath) -> Result<Arc<[SplitArray]>> {
        if !self.splits.is_needed {
            return Ok(Arc::default());
        }
        self.splits.known.get(group, || Ok(self.find_arrays(group)?.into()))
    }

    fn find_arrays(&self, group: &NodePath) -> Result<Vec<SplitArray>> {
        let entry = self.source.find(group)?;
        if !matches!(entry.item, Item::Group) {
            return Ok(Vec::new());
        }
        let members = self.source.members(&entry.handle)?;
        let is_split = |entry: &&Entry| {
            is_nullable(entry) && self.splits.parts.as_ref().is_none_or(|parts| parts.has(entry))
        };
        if !members.iter().any(|entry| is_split(&entry)) || self.source.cells(&entry.handle)?.is_some() {
            return Ok(Vec::new());
        }
        let mut names = Names::of(&members);
        let mut found = Vec::new();
        for entry in members.iter().filter(is_split) {
            found.extend(self.split(entry, &mut names)?);
        }
        Ok(found)
    }

    fn split(&self, entry: &Entry, names: &mut Names) -> Result<Option<SplitArray>> {
        let source = entry.handle.clone();
        // An unreadable object is left out under its own name.
        let Ok(Node::Ndarray(node)) = self.source.load(&source) else { return Ok(None) };
        let Some(Datatype::Nullable(of)) = node.datatype.as_deref() else { return Ok(None) };
        if of.any(&|part| matches!(part, Datatype::Nullable(_))) {
            return Ok(None);
        }
        let Some(mut null) = null_row(of)? else { return Ok(None) };
        let datatype = Arc::new(Datatype::clone(of));
        let name = source.path.name().to_owned();
        let valid = names.new_one(&format!("{name}{SUFFIX}"));
        let mut added = Vec::new();
        let mut is_marked = matches!(datatype.resolved(), Datatype::Float(_) | Datatype::Datetime(_));
        if !node.attributes.contains_key(ANCILLARY) {
            added.push((ANCILLARY, text_attribute(&valid)?));
        }
        match node.attributes.get(FILL_VALUE) {
            Some(Ok(own))
                if own.datatype.resolved() == datatype.resolved() && own.value.rows.len() == null.len() =>
            {
                null = own.value.rows.to_vec();
                is_marked = true;
            }
            Some(_) => {}
            None if matches!(datatype.resolved(), Datatype::Datetime(_)) => {
                // Readers of datetimes stored as numbers do not recognise NaT.
                if !self.splits.has_datetimes {
                    let value = Values { rows: null.clone().into(), ..Values::default() };
                    added.push((
                        FILL_VALUE,
                        Attribute::new(Vec::new(), Datatype::int(64, true).into(), value),
                    ));
                }
            }
            // xarray turns all numbers into booleans, and those marked as missing into true.
            None if validity::says_bool(&node.attributes) => {}
            None => {
                if let Ok(array) = self.source.array(&source)
                    && let Some(absent) = absent(&*array)?
                {
                    let value = Values { rows: absent.clone().into(), ..Values::default() };
                    added.push((FILL_VALUE, Attribute::new(Vec::new(), Arc::clone(&datatype), value)));
                    null = absent;
                    is_marked = true;
                }
            }
        }
        let names = added.iter().map(|(name, _)| (*name).to_owned()).collect();
        let marked = Marked { name, valid, added: names };
        Ok(Some(SplitArray { source, marked, is_marked, added, halves: Arc::new(Halves { datatype, null }) }))
    }

    /// The nullable array of which an object is a part.
    fn part<T>(
        &self,
        path: &NodePath,
        take: impl FnOnce(&SplitArray, Half) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(group) = path.parent() else { return Ok(None) };
        let arrays = self.arrays(&group)?;
        let found = arrays.iter().find_map(|array| Some((array, array.half(path.name())?)));
        found.map(|(array, half)| take(array, half)).transpose()
    }
}

/// Whether an object is a nullable array. A named type keeps its name.
fn is_nullable(entry: &Entry) -> bool {
    let Item::Array { kind: NodeKind::Ndarray, datatype: Some(datatype), .. } = &entry.item else {
        return false;
    };
    matches!(**datatype, Datatype::Nullable(_))
}

impl SplitArray {
    /// Which of the two arrays has this name.
    fn half(&self, name: &str) -> Option<Half> {
        match name {
            name if name == self.marked.name => Some(Half::Values),
            name if name == self.marked.valid => Some(Half::Valid),
            _ => None,
        }
    }

    /// The two arrays, as they are listed in place of the nullable one.
    fn entries(&self, entry: Entry) -> Vec<Entry> {
        let valid = self.entry(&entry, Half::Valid);
        vec![self.entry(&entry, Half::Values), valid]
    }

    fn entry(&self, of: &Entry, half: Half) -> Entry {
        let mut entry = of.clone();
        if let Item::Array { datatype, .. } = &mut entry.item {
            *datatype = Some(self.halves.datatype(half));
        }
        if half == Half::Valid
            && let Some(group) = of.handle.path.parent()
        {
            entry.handle = Handle { path: group.child(&self.marked.valid), id: MADE };
        }
        entry
    }

    fn node(&self, of: Ndarray, half: Half) -> Result<Ndarray> {
        let datatype = Some(self.halves.datatype(half));
        let fill = self.halves.fill(&of.storage.fill, half);
        Ok(match half {
            Half::Values => {
                let mut array = Ndarray { datatype, value: None, ..of };
                array.storage.fill = fill;
                for (name, attribute) in &self.added {
                    array.attributes.insert((*name).to_owned(), Ok(attribute.clone()));
                }
                array
            }
            Half::Valid => Ndarray {
                datatype,
                dimension: None,
                value: None,
                attributes: validity::attributes(&self.marked.name)?,
                storage: storage_of_valid(&of.storage, fill),
                shape: of.shape,
            },
        })
    }
}

/// How the array that marks valid values is stored: in the same chunks as the values, and compressed if the values are.
fn storage_of_valid(of: &Storage, fill: Fill) -> BoxedStorage {
    let mut storage =
        Storage { fill, chunk: of.chunk.clone(), shard: of.shard.clone(), ..Storage::default() };
    storage.filters = of.filters.iter().filter(|own| COMPRESSORS.contains(&&*own.name)).cloned().collect();
    storage.into()
}

impl Halves {
    fn datatype(&self, half: Half) -> Arc<Datatype> {
        match half {
            Half::Values => Arc::clone(&self.datatype),
            Half::Valid => validity::datatype(),
        }
    }

    /// The part of the fill value that belongs to one of the arrays.
    fn fill(&self, of: &Fill, half: Half) -> Fill {
        match of {
            Fill::Undefined => Fill::Undefined,
            Fill::Default => self.part_of_fill(None, half).map_or(Fill::Default, Fill::Value),
            Fill::Value(value) => self.part_of_fill(Some(value), half).map_or(Fill::Default, Fill::Value),
        }
    }

    /// The part of a fill value; `None` if it is empty. Zeros are stated, since not all formats have them by default.
    /// Without a fill value, elements that were never written are null.
    fn part_of_fill(&self, of: Option<&Values>, half: Half) -> Option<Values> {
        let valid =
            of.and_then(|of| of.rows.split_first().filter(|(mark, _)| **mark != 0).zip(Some(&of.heap)));
        let (rows, heap) = match (half, valid) {
            (Half::Values, None) => (self.null.clone(), Heap::default()),
            (Half::Values, Some(((_, row), heap))) => (row.to_vec(), heap.clone()),
            (Half::Valid, valid) => (vec![u8::from(valid.is_some())], Heap::default()),
        };
        let is_empty =
            half == Half::Values && self.datatype.has_slots() && rows.iter().all(|byte| *byte == 0);
        (!is_empty).then(|| Values { rows: rows.into(), heap })
    }
}

impl SourceView for Split<'_> {
    fn viewed(&self) -> &dyn Source {
        self.source
    }

    fn entry_at(&self, path: &NodePath) -> Result<Entry> {
        let found = self.part(path, |array, half| {
            let entry = self.source.find(&array.source.path)?;
            Ok(array.entry(&entry, half))
        })?;
        found.map_or_else(|| self.source.find(path), Ok)
    }

    fn entries_in(&self, group: &Handle) -> Result<Vec<Entry>> {
        let members = self.source.members(group)?;
        let arrays = self.arrays(&group.path)?;
        if arrays.is_empty() {
            return Ok(members);
        }
        let shown = members.into_iter().flat_map(|entry| {
            let array = arrays.iter().find(|array| array.source.path == entry.handle.path);
            array.map_or_else(|| vec![entry.clone()], |array| array.entries(entry.clone()))
        });
        Ok(shown.collect())
    }

    fn node_of(&self, object: &Handle) -> Result<Node> {
        let path = &object.path;
        let part = self.part(path, |array, half| match self.source.load(&array.source)? {
            Node::Ndarray(of) => array.node(of, half).map(Node::Ndarray),
            other => Ok(other),
        })?;
        if let Some(node) = part {
            return Ok(node);
        }
        let mut node = self.source.load(object)?;
        if let Node::Group(group) = &mut node {
            let arrays = self.arrays(path)?;
            if !arrays.is_empty() {
                let mark = Mark { arrays: arrays.iter().map(|array| array.marked.clone()).collect() };
                group.attributes.insert(Mark::NAME.to_owned(), Ok(text_attribute(&mark.to_json())?));
            }
        }
        Ok(node)
    }

    fn elements_of(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let part = self.part(&object.path, |array, half| {
            let (viewed, halves) = (self.source.array(&array.source)?, Arc::clone(&array.halves));
            let datatype = halves.datatype(half);
            Ok(Arc::new(HalfArray { viewed, halves, half, datatype }) as Arc<dyn ArraySource>)
        })?;
        part.map_or_else(|| self.source.array(object), Ok)
    }

    fn declared_in(&self, group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        let arrays = self.arrays(&group.path)?;
        if arrays.is_empty() {
            return self.source.declared(group, members);
        }
        let stored = self.source.members(group)?;
        let known: FxHashMap<_, _> = stored
            .iter()
            .map(|of| of.handle.path.name())
            .zip(self.source.declared(group, &stored)?)
            .collect();
        let declared = members.iter().map(|member| {
            let name = member.handle.path.name();
            let array = arrays.iter().find(|array| array.marked.valid == name);
            let of = known.get(array.map_or(name, |array| &array.marked.name)).copied();
            let of = of.unwrap_or(Declared { place: u64::MAX >> 1, dimension: None });
            // The second array comes after the first.
            let place = of.place.saturating_mul(2).saturating_add(array.is_some().into());
            Declared { place, dimension: of.dimension.filter(|_| array.is_none()) }
        });
        Ok(declared.collect())
    }

    fn attribute_order_of(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        let path = &object.path;
        let part = self.part(path, |array, half| match half {
            Half::Valid => Ok(None),
            Half::Values => {
                let names = self.source.stored_order_of_attributes(&array.source)?;
                Ok(names.map(|names| [names, array.marked.added.clone()].concat()))
            }
        })?;
        if let Some(names) = part {
            return Ok(names);
        }
        let names = self.source.stored_order_of_attributes(object)?;
        match self.arrays(path)?.is_empty() {
            true => Ok(names),
            false => Ok(names.map(|names| [names, vec![Mark::NAME.to_owned()]].concat())),
        }
    }

    fn fill_attribute_of(&self, object: &Handle) -> Result<Option<Attribute>> {
        match self.part(&object.path, |_, _| Ok(()))? {
            Some(()) => Ok(None),
            None => self.source.fill_attribute(object),
        }
    }

    fn unshown_elements_of(&self, object: &Handle) -> Result<bool> {
        match self.part(&object.path, |_, _| Ok(()))? {
            Some(()) => Ok(false),
            None => self.source.has_unshown_elements(object),
        }
    }

    fn left_behind_of(&self, object: &Handle) -> Result<Vec<LeftBehind>> {
        let part = self.part(&object.path, |array, half| match half {
            Half::Values => self.source.left_behind(&array.source),
            Half::Valid => Ok(Vec::new()),
        })?;
        part.map_or_else(|| self.source.left_behind(object), Ok)
    }
}

/// The elements of one of the two arrays.
struct HalfArray {
    viewed: Arc<dyn ArraySource>,
    halves: Arc<Halves>,
    half: Half,
    datatype: Arc<Datatype>,
}

impl ArrayView for HalfArray {
    fn viewed(&self) -> &dyn ArraySource {
        &*self.viewed
    }

    fn is_in_place(&self) -> bool {
        true
    }

    fn shown_datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn read_shown(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (row, size) = (row_size(&*self.viewed)?, row_size(self)?);
        // Content to which only values refer was not requested.
        let (mut unasked, null) = (Heap::default(), self.halves.null.as_slice());
        let heap = if self.half == Half::Valid { &mut unasked } else { heap };
        rows.slices(region).try_for_each(|(part, out)| {
            let mut nullable = vec![0; part.bytes(row)?];
            self.viewed.read_part(&part, &mut Planes::whole(&mut nullable), heap, scratch)?;
            let elements = nullable.chunks_exact(row.max(1)).filter_map(<[u8]>::split_first);
            for (out, (mark, value)) in out.chunks_exact_mut(size.max(1)).zip(elements) {
                match (self.half, mark) {
                    (Half::Valid, mark) => out.fill(u8::from(*mark != 0)),
                    (Half::Values, mark) => {
                        let value = if *mark == 0 { null } else { value };
                        out.iter_mut().zip(value).for_each(|(out, byte)| *out = *byte);
                    }
                }
            }
            Ok::<_, Error>(())
        })
    }

    fn shown_fill(&self) -> Result<Option<Values>> {
        Ok(self.halves.part_of_fill(self.viewed.fill()?.as_ref(), self.half))
    }
}

/// Filters without parameters that depend on the type of the elements.
const COMPRESSORS: [&str; 6] = ["deflate", "gzip", "zstd", "lz4", "bzip2", "lzma"];
