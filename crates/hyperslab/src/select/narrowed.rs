//! A source with parts of the dimensions of another, as if the rest had never been written.
//!
//! Selections apply to dimensions: every array along a dimension is narrowed in the same way, and so are its
//! coordinates. A single position leaves a dimension of length 1, so that all arrays along it still fit.

mod array;
mod linked;

use self::array::NarrowedArray;
use super::request::Part;
use super::{Pick, Picks, Select, axis_of, check_known, in_dimension, is_named, suggest};
use crate::cells::CellColumn;
use crate::formats::{clear_layout_directives, forget_elsewhere};
use crate::source::{ArraySource, Entry, Handle, Item, LeftBehind, Source, SourceView, Stored, along};
use crate::walk::{Step, walk};
use hyperslab_core::{Error, Remedy, Result, valid};
use hyperslab_model::{Dimension, Extent, Node, NodeKind, NodePath, Shape, Storage};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// A source with selected positions of its dimensions, in the order of the selection.
///
/// Attributes and references are unchanged, even if they contain positions. Values that are positions or counts along
/// the dimensions, as in ragged arrays, are also unchanged; for these, [`Source::left_behind`] returns
/// `LeftBehind::Linked`.
///
/// ```
/// use hyperslab::select::{Narrowed, Pick, Select};
/// use hyperslab::{NodePath, OpenOptions, Source, open, model::Node};
///
/// let source = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
/// let root = source.find(&NodePath::root())?;
/// let select = Select::all().dim("lat", 0..2).dim("lon", Pick::nearest("-149"));
/// let narrowed = Narrowed::new(source, &[select], &[root])?;
/// let salinity = narrowed.find(&NodePath::new("/salinity")?)?;
/// let Node::Ndarray(array) = narrowed.load(&salinity.handle)? else { unreachable!() };
/// assert_eq!(array.shape.current(), Some(vec![9, 5, 2, 1]));
/// assert_eq!(narrowed.array(&salinity.handle)?.extents(), Some(&[9, 5, 2, 1][..]));
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub struct Narrowed {
    source: Arc<dyn Source>,
    /// The selected positions of the dimensions of the source.
    dimensions: BTreeMap<NodePath, Picks>,
    /// The selected positions of unnamed dimensions, by array and dimension number.
    nameless: BTreeMap<(NodePath, usize), Picks>,
    /// The dimensions whose positions differ from those in the source.
    cut: BTreeSet<NodePath>,
    /// The arrays whose values are positions or counts along these dimensions, found on demand.
    linked: OnceLock<BTreeSet<NodePath>>,
}

impl Narrowed {
    /// Narrows `source` to the selections for the dimensions of objects at or below `entries`. Selections are resolved
    /// as in [`Selected::new`](super::Selected::new). Selections by dimension order require a single array.
    ///
    /// # Errors
    /// As [`Selected::new`](super::Selected::new).
    pub fn new(source: Arc<dyn Source>, selections: &[Select], entries: &[Entry]) -> Result<Narrowed> {
        let mut known = Known::default();
        // The only array apart from coordinates, if there is just one.
        let (mut only, mut arrays) = (None, 0_u64);
        let mut add = |entry: &Entry, is_named: bool| {
            known.add(entry);
            let is_coordinate = matches!(entry.item, Item::Array { kind: NodeKind::DimCoord, .. });
            if let Some(dims) =
                entry.dimensions().filter(|dims| is_named || !is_coordinate && !dims.is_empty())
            {
                arrays = arrays.saturating_add(1);
                only.get_or_insert_with(|| (entry.handle.path.clone(), dims));
            }
        };
        for entry in entries {
            match &entry.item {
                Item::Group => walk(&*source, &entry.handle, &mut |step| {
                    if let Step::Member(entry) = step {
                        add(entry, false);
                    }
                    Ok(())
                })?,
                _ => add(entry, true),
            }
        }
        let only = only.filter(|_| arrays == 1);
        let mut requested = Requested::default();
        for selection in selections {
            requested.add(&*source, selection, &known, only.as_ref())?;
        }
        known.lengthen(&*source)?;
        requested.found(source, &known, selections)
    }

    /// The selected positions of each dimension of an array; `None` for all.
    fn picks(&self, path: &NodePath, dims: &[Dimension]) -> Result<Option<Vec<Picks>>> {
        let mut narrowed = false;
        let picks = dims.iter().enumerate().map(|(number, dimension)| {
            let extent = dimension.extent.current();
            let named = dimension.coordinate.as_ref().and_then(|name| self.dimensions.get(name));
            match named.or_else(|| self.nameless.get(&(path.clone(), number))) {
                Some(picks) => {
                    narrowed = true;
                    picks.within(extent).map_err(|e| in_dimension(e, dimension, number))
                }
                None => Ok(Picks::Range { start: 0, count: extent, step: 1 }),
            }
        });
        let picks: Vec<Picks> = picks.collect::<Result<_>>()?;
        Ok(narrowed.then_some(picks))
    }

    fn shape(&self, path: &NodePath, kind: NodeKind, shape: &Shape) -> Result<Option<Shape>> {
        let Shape::Dims(dims) = shape else { return Ok(None) };
        let along = along(path, kind, dims);
        let Some(picks) = self.picks(path, &along)? else { return Ok(None) };
        let narrowed = dims.iter().zip(&picks).map(|(dimension, picks)| Dimension {
            extent: dimension.extent.resized(picks.count()),
            coordinate: dimension.coordinate.clone(),
        });
        Ok(Some(Shape::Dims(narrowed.collect())))
    }

    /// The selected part of the length of a dimension; `None` for all.
    fn length(&self, path: &NodePath, extent: Extent) -> Result<Option<Extent>> {
        let dimension = Dimension { extent, coordinate: Some(path.clone()) };
        let picks = self.picks(path, &[dimension])?;
        Ok(picks.as_deref().and_then(<[Picks]>::first).map(|picks| extent.resized(picks.count())))
    }
}

impl SourceView for Narrowed {
    fn viewed(&self) -> &dyn Source {
        &*self.source
    }

    fn entry(&self, mut entry: Entry) -> Result<Entry> {
        let path = &entry.handle.path;
        if let Item::Array { kind, shape, stored, .. } = &mut entry.item
            && let Some(narrowed) = self.shape(path, *kind, shape).map_err(|e| e.in_object(path))?
        {
            if let Stored::Chunks(storage) = stored {
                fit(Arc::make_mut(storage), narrowed.dims().iter().map(|dimension| dimension.extent));
            }
            *shape = narrowed;
        }
        Ok(entry)
    }

    fn node(&self, object: &Handle, mut node: Node) -> Result<Node> {
        let path = &object.path;
        match &mut node {
            Node::Ndarray(array) => {
                if let Some(narrowed) = self.shape(path, NodeKind::Ndarray, &array.shape)? {
                    fit(&mut array.storage, narrowed.dims().iter().map(|dimension| dimension.extent));
                    array.shape = narrowed;
                }
                if let Some(extent) = array.dimension {
                    array.dimension = Some(self.length(path, extent)?.unwrap_or(extent));
                }
            }
            Node::DimCoord(dimcoord) => {
                if let Some(narrowed) = self.length(path, dimcoord.size)? {
                    dimcoord.size = narrowed;
                    fit(&mut dimcoord.storage, std::iter::once(dimcoord.size));
                    dimcoord.storage.domain = None;
                }
            }
            _ => {}
        }
        Ok(node)
    }

    fn elements(&self, object: &Handle, array: Arc<dyn ArraySource>) -> Result<Arc<dyn ArraySource>> {
        let entry = self.source.find(&object.path)?;
        let Some(dims) = entry.dimensions() else { return Ok(array) };
        Ok(match self.picks(&object.path, &dims)? {
            Some(picks) => Arc::new(NarrowedArray::new(array, picks)),
            None => array,
        })
    }

    fn left_behind_of(&self, object: &Handle) -> Result<Vec<LeftBehind>> {
        let mut left = self.source.left_behind(object)?;
        let linked = match self.linked.get() {
            Some(linked) => linked,
            None => {
                let found = linked::along(&*self.source, &self.cut)?;
                self.linked.get_or_init(|| found)
            }
        };
        left.extend(linked.contains(&object.path).then_some(LeftBehind::Linked));
        Ok(left)
    }
}

/// Refuses a dimension of a sparse array: selecting a part of it would select arbitrary cells, regardless of their
/// positions.
fn refuse_sparse(source: &dyn Source, dimension: &NodePath) -> Result<()> {
    let Some(group) = dimension.parent() else { return Ok(()) };
    // Unreadable cells are reported when they are converted.
    let cells = source.find(&group).and_then(|entry| source.cells(&entry.handle));
    let Ok(Some(cells)) = cells else { return Ok(()) };
    let is_own = |column: &CellColumn| column.is_dimension && column.name == dimension.name();
    match cells.columns().iter().any(is_own) {
        false => Ok(()),
        true => {
            let what = format!("cannot select a part of a sparse array along {}", dimension.name());
            Err(Error::invalid(what).with_remedy(Remedy::ReadCells).in_object(&group))
        }
    }
}

/// Limits chunks to the narrowed extents, and makes shards consist of whole chunks again.
fn fit(storage: &mut Storage, extents: impl Iterator<Item = Extent> + Clone) {
    let before = (storage.chunk.clone(), storage.shard.clone());
    let longest = |extent: Extent| extent.max().map_or(u64::MAX, |max| max.max(1));
    if let Some(chunk) = &mut storage.chunk {
        for (side, extent) in chunk.iter_mut().zip(extents.clone()) {
            *side = (*side).min(longest(extent)).max(1);
        }
        for ((side, chunk), extent) in storage.shard.iter_mut().flatten().zip(chunk).zip(extents.clone()) {
            *side = (*side).min(longest(extent)).div_ceil(*chunk).max(1).saturating_mul(*chunk);
        }
    }
    // Chunks exceeded the old extents, not the new ones.
    clear_layout_directives(storage, before != (storage.chunk.clone(), storage.shard.clone()), false);
    forget_elsewhere(storage);
    if let Some(origin) = &mut storage.origin {
        fit(origin, extents);
    }
}

/// The dimensions of arrays and their lengths.
#[derive(Default)]
struct Known {
    extents: BTreeMap<NodePath, Extent>,
}

impl Known {
    fn add(&mut self, entry: &Entry) {
        for dimension in entry.dimensions().into_iter().flatten() {
            if let Some(name) = dimension.coordinate {
                let extent = self.extents.entry(name).or_insert(dimension.extent);
                if extent.current() < dimension.extent.current() {
                    *extent = dimension.extent;
                }
            }
        }
    }

    /// Arrays can be shorter than their dimensions.
    fn lengthen(&mut self, source: &dyn Source) -> Result<()> {
        for (name, extent) in &mut self.extents {
            if let Some(Entry { item: Item::Array { kind: NodeKind::DimCoord, shape, .. }, .. }) =
                valid(source.find(name))?
                && let [own] = shape.dims()
                && own.extent.current() > extent.current()
            {
                *extent = own.extent;
            }
        }
        Ok(())
    }
}

/// The selections, before positions are known.
#[derive(Default)]
struct Requested {
    dimensions: BTreeMap<NodePath, Pick>,
    nameless: BTreeMap<(NodePath, usize), (Dimension, Pick)>,
}

impl Requested {
    fn add(
        &mut self,
        source: &dyn Source,
        selection: &Select,
        known: &Known,
        only: Option<&(NodePath, Vec<Dimension>)>,
    ) -> Result<()> {
        let parts = selection.parts()?;
        let next = parts.iter().filter(|part| matches!(part, Part::Next(_))).count();
        let mut at = 0;
        for part in parts {
            match (part, only) {
                (Part::Named(name, pick), _) => {
                    let named: Vec<_> = known.extents.keys().filter(|path| is_named(path, name)).collect();
                    if named.is_empty() {
                        let own = only.map(|(_, dims)| dims.as_slice()).unwrap_or_default();
                        check_known(source, name, own, selection)?;
                    }
                    self.dimensions.extend(named.into_iter().map(|path| (path.clone(), pick.clone())));
                }
                (Part::Between, None) => {}
                (Part::Next(_), None) => {
                    let what = "depends on the order of dimensions, which differs from array to array";
                    return Err(Error::invalid(format!("selection \"{selection}\" {what}"))
                        .with_hint("name the dimensions, as in time=0:10"));
                }
                (Part::Between, Some((_, dims))) => at += dims.len().saturating_sub(next),
                (Part::Next(pick), Some((path, dims))) => {
                    let Some(dimension) = dims.get(at) else {
                        let rank = dims.len();
                        return Err(Error::invalid(format!(
                            "selection \"{selection}\" has {next} dimensions, the array has {rank}"
                        )));
                    };
                    match &dimension.coordinate {
                        Some(name) => {
                            self.dimensions.insert(name.clone(), pick.clone());
                        }
                        None => {
                            self.nameless.insert((path.clone(), at), (dimension.clone(), pick.clone()));
                        }
                    }
                    at += 1;
                }
            }
        }
        Ok(())
    }

    fn found(self, source: Arc<dyn Source>, known: &Known, selections: &[Select]) -> Result<Narrowed> {
        let (dimensions, nameless) = (BTreeMap::new(), BTreeMap::new());
        let (cut, linked) = (BTreeSet::new(), OnceLock::new());
        let mut narrowed = Narrowed { source, dimensions, nameless, cut, linked };
        for (name, pick) in self.dimensions {
            let Some(extent) = known.extents.get(&name) else { continue };
            refuse_sparse(&*narrowed.source, &name)?;
            let dimension = Dimension { extent: *extent, coordinate: Some(name.clone()) };
            let axis = axis_of(&*narrowed.source, &dimension, &pick).map_err(|e| {
                let e = suggest::by_coordinate(e, &*narrowed.source, selections, &dimension, &pick);
                in_dimension(e, &dimension, 0)
            })?;
            if axis.picks != (Picks::Range { start: 0, count: extent.current(), step: 1 }) {
                narrowed.cut.insert(name.clone());
            }
            narrowed.dimensions.insert(name, axis.picks);
        }
        for ((path, number), (dimension, pick)) in self.nameless {
            let axis = axis_of(&*narrowed.source, &dimension, &pick)
                .map_err(|e| in_dimension(e, &dimension, number))?;
            narrowed.nameless.insert((path, number), axis.picks);
        }
        Ok(narrowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::Selected;
    use hyperslab_core::nd::Region;
    use hyperslab_model::Elements;

    fn ocean() -> Arc<dyn Source> {
        crate::open("../../examples/ocean.nc".as_ref(), &crate::OpenOptions::default()).unwrap()
    }

    fn narrowed(source: &Arc<dyn Source>, texts: &[&str], at: &str) -> Result<Narrowed> {
        let selections = texts.iter().map(|text| text.parse()).collect::<Result<Vec<Select>>>()?;
        let entry = source.find(&NodePath::new(at)?)?;
        Narrowed::new(Arc::clone(source), &selections, &[entry])
    }

    /// Every array of a source with its dimensions.
    fn arrays(source: &dyn Source) -> Vec<(Handle, Vec<Dimension>)> {
        let root = source.find(&NodePath::root()).unwrap();
        let mut all = Vec::new();
        walk(source, &root.handle, &mut |step| {
            if let Step::Member(entry @ Entry { item: Item::Array { datatype: Some(_), .. }, .. }) = step {
                all.extend(entry.dimensions().map(|dims| (entry.handle.clone(), dims)));
            }
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn narrowed_arrays_have_the_elements_that_show_selects() {
        let source = ocean();
        for texts in [
            &["lat=0:2,lon~=-149"][..],
            &["time=[3,0,1]"],
            &["time=[2,2]", "lon=::2"],
            &["lat=..58", "depth=1:"],
            &["time=2026-01-15.."],
            &["lat=0", "lat=:"],
            &[],
        ] {
            let narrowed = narrowed(&source, texts, "/").unwrap();
            let texts: Vec<Select> = texts.iter().map(|text| text.parse().unwrap()).collect();
            let mut lengths: BTreeMap<NodePath, u64> = BTreeMap::new();
            for ((handle, dims), (_, short)) in arrays(&*source).into_iter().zip(arrays(&narrowed)) {
                let selected = Selected::new(&*source, &texts, &Shape::Dims(dims)).unwrap();
                let expected = selected.read(&*source.array(&handle).unwrap()).unwrap();
                let array = narrowed.array(&handle).unwrap();
                let extents = array.extents().unwrap().to_vec();
                assert_eq!(extents, selected.counts(), "{} {texts:?}", handle.path);
                assert_eq!(extents, short.iter().map(|d| d.extent.current()).collect::<Vec<_>>());
                let values = array.values(&Region::all(&extents)).unwrap();
                let plain = |values| -> Vec<String> {
                    Elements::new(array.datatype(), values).map(hyperslab_ndl::plain).collect()
                };
                assert_eq!(plain(&values), plain(&expected), "{} {texts:?}", handle.path);
                let node = narrowed.load(&handle).unwrap();
                let (shape, storage) = match &node {
                    Node::Ndarray(array) => (array.shape.current().unwrap(), &array.storage),
                    Node::DimCoord(dimcoord) => (vec![dimcoord.size.current()], &dimcoord.storage),
                    _ => panic!("no array"),
                };
                assert_eq!(shape, extents);
                for (side, dimension) in storage.chunk.iter().flatten().zip(&short) {
                    assert!(dimension.extent.max().is_none_or(|max| *side <= max.max(1)));
                }
                for dimension in short {
                    let Some(name) = dimension.coordinate else { continue };
                    let length = *lengths.entry(name).or_insert(dimension.extent.current());
                    assert_eq!(length, dimension.extent.current(), "{}", handle.path);
                }
            }
        }
    }

    #[test]
    fn wrappers_forward_to_the_source_beneath() {
        let folder = tempfile::tempdir().unwrap();
        let array = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "fill_value": 9,
            "order": "C", "compressor": null, "filters": null, "dimension_separator": "."}"#;
        std::fs::write(folder.path().join(".zarray"), array).unwrap();
        let source = crate::open(folder.path(), &crate::OpenOptions::default()).unwrap();
        let root = source.find(&NodePath::root()).unwrap();
        let narrowed =
            Narrowed::new(Arc::clone(&source), &["0:2".parse().unwrap()], std::slice::from_ref(&root));
        let narrowed = narrowed.unwrap();
        assert_eq!(narrowed.limits(), source.limits());
        let layers = [source.array(&root.handle), narrowed.array(&root.handle)];
        assert!(layers.into_iter().all(|array| array.unwrap().fill_is_missing()));
    }

    #[test]
    fn dimensions_by_order_are_for_a_single_array_and_narrow_their_coordinates() {
        let source = ocean();
        let one = narrowed(&source, &["0:2,...,[4,1]"], "/salinity").unwrap();
        let extents = |path: &str| {
            let handle = one.find(&NodePath::new(path).unwrap()).unwrap().handle;
            one.array(&handle).unwrap().extents().unwrap().to_vec()
        };
        assert_eq!(extents("/salinity"), [2, 5, 3, 2]);
        assert_eq!((extents("/time"), extents("/lon"), extents("/lat")), (vec![2], vec![2], vec![3]));
        let refused = |texts: &[&str], at: &str| narrowed(&source, texts, at).err().unwrap().to_string();
        assert!(refused(&["0:2"], "/").contains("differs from array to array\nhelp: name the dimensions"));
        assert!(refused(&["0,0,0,0,0"], "/salinity").contains("has 5 dimensions, the array has 4"));
        assert!(refused(&["lta=0"], "/").contains("no dimension lta\nhelp: did you mean lat=0?"));
        assert!(refused(&["nothing=0"], "/").contains("no dimension nothing; dimensions: "));
        assert!(
            refused(&["lat=9"], "/").contains("dimension lat: position 9 is out of range, expected -3 to 2")
        );
    }

    #[test]
    fn shards_stay_of_whole_chunks() {
        let mut storage =
            Storage { chunk: Some(vec![10, 4]), shard: Some(vec![40, 8]), ..Storage::default() };
        fit(&mut storage, [Extent::Fixed(7), Extent::Unlimited { current: 1 }].into_iter());
        assert_eq!((storage.chunk, storage.shard), (Some(vec![7, 4]), Some(vec![7, 8])));
        let mut storage = Storage { chunk: Some(vec![10]), shard: Some(vec![40]), ..Storage::default() };
        fit(&mut storage, std::iter::once(Extent::Fixed(25)));
        assert_eq!((storage.chunk, storage.shard), (Some(vec![10]), Some(vec![30])));
    }
}
