//! Whether stores have the same objects, and what of them may differ.

use super::ranges::{RANGES, Ranges};
use super::recounted::Recounted;
use super::stores::Recounts;
use crate::diff::{all_elements, element_text, format_of};
use crate::digest::{self, LineContent};
use crate::meaning::{is_packed, meaning_as_stored, text_of};
use crate::source::engine::stream;
use crate::source::{ArraySource, Asked, Entry, Item, Source};
use hyperslab_cf::time::{Counting, Recount};
use hyperslab_core::nd::Region;
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Difference, Extent, Node, NodePath, Rules, Shape, Tally, Tolerance};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The objects of the first store, with which those of the others are compared.
pub(super) struct Template<'a> {
    paths: &'a [PathBuf],
    first: &'a dyn Source,
    axis: &'a NodePath,
    tolerance: Tolerance,
    objects: Vec<Object>,
    /// The length along the dimension.
    length: u64,
    /// Attributes that differ: in how many stores, and the first of them.
    attributes: BTreeMap<(NodePath, String), (u64, usize)>,
    /// Ranges of values that differ.
    ranges: Ranges,
    /// Units of time that differ, likewise.
    units: BTreeMap<(NodePath, String), (u64, usize)>,
    /// Elements that differ within the tolerance, likewise, with the largest difference in the first of them.
    tolerated: BTreeMap<NodePath, (u64, usize, String)>,
}

/// An object of the first store.
struct Object {
    entry: Entry,
    /// The object, with a length of 0 along the dimension.
    node: Node,
    /// The digest of its elements, if it was needed.
    content: Option<LineContent>,
}

/// What was found out about a store.
pub(super) struct Found {
    /// The length along the dimension.
    pub(super) length: u64,
    /// The arrays of times that count since another epoch.
    pub(super) recounts: Recounts,
}

impl<'a> Template<'a> {
    pub(super) fn new(
        paths: &'a [PathBuf],
        first: &'a dyn Source,
        entries: &[Entry],
        (axis, tolerance): (&'a NodePath, Tolerance),
    ) -> Result<Template<'a>> {
        let name = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        let objects = entries.iter().map(|entry| {
            let (node, _) = loaded(first, entry, axis)?;
            Ok(Object { entry: entry.clone(), node, content: None })
        });
        let objects = objects.collect::<Result<_>>().map_err(|error| error.in_file(&name))?;
        let length = length(first, entries, axis).map_err(|error| error.in_file(&name))?;
        let (attributes, units, tolerated) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let ranges = Ranges::default();
        Ok(Template { paths, first, axis, tolerance, objects, length, attributes, ranges, units, tolerated })
    }

    /// The coordinates of the dimension in the first store, if it has any.
    pub(super) fn coordinates(&self) -> Option<&Node> {
        let object = self.objects.iter().find(|object| object.entry.handle.path == *self.axis)?;
        matches!(object.entry.item, Item::Array { datatype: Some(_), .. }).then_some(&object.node)
    }

    pub(super) fn first(&self) -> &dyn Source {
        self.first
    }

    fn first_name(&self) -> String {
        self.paths.first().map(|path| path.display().to_string()).unwrap_or_default()
    }

    /// Compares a store with the first one.
    ///
    /// # Errors
    /// If the two cannot be joined.
    pub(super) fn compare(
        &mut self,
        source: &dyn Source,
        entries: Option<&[Entry]>,
        number: usize,
    ) -> Result<Found> {
        let Some(entries) = entries else {
            return Ok(Found { length: self.length, recounts: Recounts::default() });
        };
        let first = self.first_name();
        let mut others: FxHashMap<&NodePath, &Entry> =
            entries.iter().map(|entry| (&entry.handle.path, entry)).collect();
        let mut recounts = Recounts::default();
        for index in 0..self.objects.len() {
            let Some(object) = self.objects.get(index) else { continue };
            let path = object.entry.handle.path.clone();
            let Some(entry) = others.remove(&path) else {
                return Err(Error::not_found(format!("is missing here; {first} has it"))
                    .with_hint(WHAT_ALL_HAVE)
                    .in_object(path));
            };
            let found = self.object(index, source, entry, number).map_err(|error| error.in_object(&path))?;
            recounts.extend(found.map(|recount| (path, recount)));
        }
        self.add_bounds(source, entries, &mut recounts)?;
        if let Some(path) = others.into_keys().min() {
            return Err(Error::invalid(format!("is only here; {first} does not have it"))
                .with_hint(WHAT_ALL_HAVE)
                .in_object(path));
        }
        Ok(Found { length: length(source, entries, self.axis)?, recounts })
    }

    /// Adds the bounds of times that are counted anew: without units of their own, they have those of the times (CF 7.1).
    fn add_bounds(&self, source: &dyn Source, entries: &[Entry], recounts: &mut Recounts) -> Result<()> {
        let mut bounds = Vec::new();
        for object in &self.objects {
            let path = &object.entry.handle.path;
            let (Some(recount), Some(group)) = (recounts.get(path), path.parent()) else { continue };
            let named = ["bounds", "climatology"].into_iter().filter_map(|name| text_of(&object.node, name));
            bounds.extend(named.map(|name| (group.child(&name), path, recount.clone())));
        }
        for (path, times, recount) in bounds {
            let entry = entries.iter().find(|entry| entry.handle.path == path);
            let Some(entry) = entry.filter(|_| !recounts.contains_key(&path)) else { continue };
            let (node, length) = loaded(source, entry, self.axis)?;
            if length.is_none() || text_of(&node, "units").is_some() {
                continue;
            }
            check_counts(source, entry, &node, &recount).map_err(|error| {
                let what =
                    format!("bounds of {times}, whose units differ from those in {}", self.first_name());
                error.map_detail(|detail| format!("{what}: {detail}")).in_object(&path)
            })?;
            recounts.insert(path, recount);
        }
        Ok(())
    }

    /// Compares one object.
    fn object(
        &mut self,
        index: usize,
        source: &dyn Source,
        entry: &Entry,
        number: usize,
    ) -> Result<Option<Recount>> {
        let first = self.first_name();
        let Some(object) = self.objects.get(index) else { return Ok(None) };
        let path = &object.entry.handle.path;
        let (node, length) = loaded(source, entry, self.axis)?;
        let rules =
            Rules { habits: format_of(self.first) == format_of(source), show: element_text, ..Rules::EXACT };
        let mut differences = Vec::new();
        rules.nodes(path, &object.node, &node, &mut differences);
        let mut recount = None;
        for difference in differences {
            match &difference.attribute {
                Some(name) if UNITS.contains(&name.as_str()) && length.is_some() => {
                    recount = recounted(&object.node, &node);
                    if recount.is_none() {
                        return Err(differing(&difference, &first, (&object.node, &node)));
                    }
                }
                Some(name)
                    if RANGES.contains(&name.as_str())
                        && self.ranges.add(path, name, (&object.node, &node), number) => {}
                Some(name) if !MEANING.contains(&name.as_str()) && difference.what != "unreadable" => {
                    self.attributes.entry((path.clone(), name.clone())).or_insert((0, number)).0 += 1;
                }
                _ => return Err(differing(&difference, &first, (&object.node, &node))),
            }
        }
        if let Some(recount) = &recount {
            self.units.entry((path.clone(), units_of(&node))).or_insert((0, number)).0 += 1;
            check_counts(source, entry, &node, recount).map_err(|error| {
                let what = format!("counts {}, {first} {}: ", units_of(&node), units_of(&object.node));
                error.map_detail(|detail| format!("{what}{detail}")).with_hint(
                    "give both files the same units, or first the file with the shorter unit or the finer type",
                )
            })?;
        }
        if length.is_none() && matches!(entry.item, Item::Array { datatype: Some(_), .. }) {
            self.same_content(index, source, entry, number)?;
        }
        Ok(recount)
    }

    /// Compares the elements of an array that is not joined.
    fn same_content(
        &mut self,
        index: usize,
        source: &dyn Source,
        entry: &Entry,
        number: usize,
    ) -> Result<()> {
        let (first, name) = (self.first, self.first_name());
        let Some(object) = self.objects.get_mut(index) else { return Ok(()) };
        let digest = |source: &dyn Source, entry: &Entry| {
            digest::array((source, &Asked::default()), &entry.handle, &mut |_, _| {})
                .map(|(content, _)| content)
        };
        if object.content.is_none() {
            object.content = Some(digest(first, &object.entry).map_err(|error| error.in_file(&name))?);
        }
        if object.content == Some(digest(source, entry)?) {
            return Ok(());
        }
        let sides = ((first, &object.entry), (source, entry));
        let within = |tolerance| all_elements(sides.0, sides.1, tolerance, MAX_MEASURED);
        let exact = within(Tolerance::default())?;
        let largest = exact.largest.and_then(|gap| gap.magnitude());
        let is_tolerated = |tolerance| Ok::<_, Error>(within(tolerance)?.differing == 0);
        if exact.differing > 0 && self.tolerance != Tolerance::default() && is_tolerated(self.tolerance)? {
            let path = object.entry.handle.path.clone();
            let largest = largest.clone().unwrap_or_default();
            self.tolerated.entry(path).or_insert((0, number, largest)).0 += 1;
        } else if exact.differing > 0 {
            let remedy = match rounding(&exact) {
                Some(absolute) if is_tolerated(Tolerance { absolute, ..Tolerance::default() })? => {
                    Remedy::Tolerate(format!("{absolute:e}"))
                }
                _ => self.of_difference(&entry.handle.path, number),
            };
            let (differing, of, axis) = (exact.differing, exact.compared, self.axis.name());
            let verb = if differing == 1 { "differs" } else { "differ" };
            let by = largest.map_or_else(String::new, |largest| format!(", by at most {largest}"));
            let what = format!("has other values than in {name}: {differing} of {of} {verb}{by}");
            return Err(
                Error::invalid(format!("{what}; only arrays along {axis} are joined")).with_remedy(remedy)
            );
        }
        Ok(())
    }

    /// What to do about other values of the array at a path. Coordinates come along with the arrays that have their
    /// dimension; other arrays can be left out.
    fn of_difference(&self, path: &NodePath, number: usize) -> Remedy {
        let is_coordinate = self
            .objects
            .iter()
            .filter_map(|object| object.entry.dimensions())
            .any(|dims| dims.iter().any(|dim| dim.coordinate.as_ref() == Some(path)));
        let at = |number: usize| {
            self.paths.get(number).map(|store| format!("{}:{path}", store.display())).unwrap_or_default()
        };
        match is_coordinate {
            true => Remedy::Compare { a: at(0), b: at(number) },
            false => Remedy::Hint("leave it out: join only the arrays that are needed, as FILE:/PATH".into()),
        }
    }

    /// The ranges of values of all stores, where they differ.
    pub(super) fn into_ranges(self) -> Ranges {
        self.ranges
    }

    /// What differs and does not prevent joining.
    pub(super) fn notes(&self) -> Vec<String> {
        let name = |number: usize| self.paths.get(number).map(|path| path.display().to_string());
        let first = self.first_name();
        let further = |count: u64, of: usize| {
            let of = name(of).unwrap_or_default();
            match count {
                0 | 1 => of,
                2 => format!("{of} and 1 more"),
                count => format!("{of} and {} more", count - 1),
            }
        };
        let mut notes = Vec::new();
        let mut by_path: BTreeMap<&NodePath, (u64, u64, usize)> = BTreeMap::new();
        for ((path, _), (count, number)) in &self.units {
            let known = by_path.entry(path).or_insert((0, 0, *number));
            *known = (known.0 + 1, known.1 + count, known.2.min(*number));
        }
        for (path, (_, count, number)) in by_path {
            let object = self.objects.iter().find(|object| object.entry.handle.path == *path);
            let units = object.map(|object| units_of(&object.node)).unwrap_or_default();
            notes.push(format!(
                "{path}: other units or calendar in {}; counted as in {first}, {units}",
                further(count, number)
            ));
        }
        for (path, (count, number, largest)) in &self.tolerated {
            notes.push(format!(
                "{path}: values differ by at most {largest} in {}; those of {first} are taken",
                further(*count, *number)
            ));
        }
        notes.extend(self.ranges.notes(further));
        for ((path, name), (count, number)) in &self.attributes {
            notes.push(format!(
                "{path}@{name} differs in {}; that of {first} is kept",
                further(*count, *number)
            ));
        }
        notes
    }
}

/// An object with a length of 0 along the dimension, and its length there; `None` if it is not joined.
fn loaded(source: &dyn Source, entry: &Entry, axis: &NodePath) -> Result<(Node, Option<u64>)> {
    let path = &entry.handle.path;
    let mut node = match &entry.item {
        Item::Link(link) => Node::Link(link.clone()),
        Item::Unreadable(why) => Node::Unreadable(why.clone()),
        _ => source.load(&entry.handle)?,
    };
    if let Node::Unreadable(why) = &node {
        return Err(Error::malformed(format!("cannot be read: {}", why.reason)).in_object(path));
    }
    if source.cells(&entry.handle).is_ok_and(|cells| cells.is_some()) && matches!(entry.item, Item::Group) {
        return Err(Error::unsupported("is a sparse array, whose cells are not joined").in_object(path));
    }
    let dims = entry.dimensions().unwrap_or_default();
    let mut along = dims.iter().filter(|dimension| dimension.coordinate.as_ref() == Some(axis));
    let length = along.next().map(|dimension| dimension.extent.current());
    if along.next().is_some() {
        let what = format!("has the dimension {} twice", axis.name());
        return Err(Error::unsupported(what).in_object(path));
    }
    match &mut node {
        Node::Ndarray(array) => {
            if let Shape::Dims(dims) = &mut array.shape {
                for dimension in dims.iter_mut().filter(|dim| dim.coordinate.as_ref() == Some(axis)) {
                    dimension.extent = Extent::Fixed(0);
                }
            }
            if path == axis {
                array.dimension = None;
            }
        }
        Node::DimCoord(dimcoord) if path == axis => {
            dimcoord.size = Extent::Fixed(0);
            dimcoord.storage.domain = None;
        }
        _ => {}
    }
    Ok((node, length))
}

/// The length of a store along the dimension, which all of its arrays there have.
fn length(source: &dyn Source, entries: &[Entry], axis: &NodePath) -> Result<u64> {
    let mut found: Option<(u64, &NodePath)> = None;
    for entry in entries {
        let dims = entry.dimensions().unwrap_or_default();
        let own = dims.iter().find(|dimension| dimension.coordinate.as_ref() == Some(axis));
        let Some(own) = own.map(|dimension| dimension.extent.current()) else { continue };
        let path = &entry.handle.path;
        match found {
            Some((length, other)) if length != own => {
                let what = format!("has {own} along {}, and {other} has {length}", axis.name());
                return Err(Error::invalid(what).in_object(path));
            }
            _ => found = Some((own, path)),
        }
    }
    match found {
        Some((length, _)) => Ok(length),
        None => {
            let format = source.format();
            Err(Error::not_found(format!("no array lies along {} in this {format} store", axis.name())))
        }
    }
}

/// The units of an array, with the calendar if it names one.
fn units_of(node: &Node) -> String {
    let units = text_of(node, "units").unwrap_or_default();
    match text_of(node, "calendar") {
        Some(calendar) => format!("{units} ({calendar})"),
        None => units,
    }
}

/// How counts of time become those of the first store: `None` if both are not times in calendars that agree.
fn recounted(first: &Node, other: &Node) -> Option<Recount> {
    let counting = |node: &Node| {
        let calendar = text_of(node, "calendar").filter(|calendar| !calendar.is_empty());
        Counting::of_units(&text_of(node, "units")?, calendar.as_deref())?.ok()
    };
    Recount::between(&counting(other)?, &counting(first)?)
}

/// Reads all counts, to find one that the units of the first store cannot hold before anything is written.
fn check_counts(source: &dyn Source, entry: &Entry, node: &Node, recount: &Recount) -> Result<()> {
    let array = source.array(&entry.handle)?;
    let missing = meaning_as_stored(source, node, array.datatype()).missing;
    let Some(extents) = array.extents().map(<[u64]>::to_vec) else { return Ok(()) };
    let recounted: Arc<dyn ArraySource> = Arc::new(Recounted::new(array, recount.clone(), missing));
    stream(&*recounted, &Region::all(&extents), &mut |_, _| Ok(()))
}

/// The error that an object is not the same in the first store.
fn differing(difference: &Difference, first: &str, nodes: (&Node, &Node)) -> Error {
    let Difference { attribute, what, a, b, .. } = difference;
    let quoted = |text: &str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
    let what = match attribute {
        Some(name) if *what == "value" || *what == "presence" => format!("attribute {name}"),
        Some(name) => format!("{what} of attribute {name}"),
        None => (*what).to_owned(),
    };
    let is_of_packing = attribute.as_ref().is_none_or(|name| UNPACKED.contains(&name.as_str()));
    let remedy = match is_of_packing && (is_packed(nodes.0) || is_packed(nodes.1)) {
        true => Remedy::UnpackStores,
        false => {
            Remedy::Hint("values are joined as they are stored, so all files must store them alike".into())
        }
    };
    Error::invalid(format!("{what} is {}, in {first} it is {}", quoted(b), quoted(a))).with_remedy(remedy)
}

/// The tolerance that makes floating-point numbers equal if they differ only as by rounding.
fn rounding(exact: &Tally) -> Option<f64> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let largest = number(&exact.largest?.magnitude()?)?;
    let size = exact.first.iter().filter_map(|pair| number(&pair.b)).fold(0.0, |size, b| b.abs().max(size));
    // Two digits, rounded up.
    let rounded = |number: f64| format!("{number:.1e}").parse::<f64>().ok();
    let absolute =
        rounded(largest).filter(|rounded| *rounded >= largest).or_else(|| rounded(largest * 1.1))?;
    (largest <= size * ROUNDING).then_some(absolute)
}

/// Differences of floating-point numbers up to this part of them are probably those of rounding.
const ROUNDING: f64 = 1e-4;

/// The number of elements whose size is looked at.
const MAX_MEASURED: usize = 1000;

/// Attributes that say in which unit an array counts time.
const UNITS: &[&str] = &["units", "calendar"];

/// Attributes that say what stored values mean: with others, the same values mean something else.
const MEANING: &[&str] = &[
    "units",
    "calendar",
    "scale_factor",
    "add_offset",
    "_FillValue",
    "missing_value",
    "_Unsigned",
    "flag_values",
    "flag_masks",
    "flag_meanings",
    "valid_min",
    "valid_max",
    "valid_range",
];

/// Of these, the ones that unpacked numbers do not need.
const UNPACKED: &[&str] = &["scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned"];

const WHAT_ALL_HAVE: &str = "join only what all files have, as FILE:/PATH";
