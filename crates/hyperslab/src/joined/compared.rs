//! Whether stores have the same objects, and which differences are allowed.

mod times;

use super::axis::Axis;
use super::counts::{self, Forms, between, units_of};
use super::ranges::{RANGES, Ranges};
use super::recounted::NewCounts;
use super::stores::Recounts;
use crate::diff::{all_elements, element_text, format_of};
use crate::digest::{self, LineContent};
use crate::meaning::{is_packed, type_fill_attribute};
use crate::source::{Asked, Entry, Item, Source};
use crate::target::conventions::MARKS;
use hyperslab_cf::dataset::Dataset;
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Difference, Extent, Node, NodePath, Rules, Shape, Tally, Tolerance};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// The objects of the first store, with which those of the others are compared.
pub(super) struct Template<'a> {
    paths: &'a [PathBuf],
    first: &'a dyn Source,
    axis: &'a Axis,
    tolerance: Tolerance,
    objects: Vec<Object>,
    /// The length along the dimension.
    length: u64,
    /// Attributes that differ: the number of stores in which they do, and the first of them.
    attributes: BTreeMap<(NodePath, String), (u64, usize)>,
    /// Ranges of values that differ.
    ranges: Ranges,
    /// Likewise, units and types of times that differ; the string is empty if only the type differs.
    units: BTreeMap<(NodePath, String), (u64, usize)>,
    /// The arrays of times whose form differs from that in the first store.
    reformed: &'a BTreeSet<NodePath>,
    /// Forms that the first store must take so that it can be joined with a store.
    wanted: Option<Forms>,
    /// Likewise, elements that differ within the tolerance, with the largest difference in the first of these stores.
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

/// The findings about a store.
pub(super) struct Found {
    /// The length along the dimension.
    pub(super) length: u64,
    /// The arrays of times that are counted from another epoch.
    pub(super) recounts: Recounts,
}

impl<'a> Template<'a> {
    pub(super) fn new(
        paths: &'a [PathBuf],
        first: &'a dyn Source,
        entries: &[Entry],
        (axis, tolerance): (&'a Axis, Tolerance),
        reformed: &'a BTreeSet<NodePath>,
    ) -> Result<Template<'a>> {
        let name = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        let objects = entries.iter().map(|entry| {
            let (node, _) = loaded(first, entry, axis)?;
            Ok(Object { entry: entry.clone(), node, content: None })
        });
        let objects: Vec<Object> = objects.collect::<Result<_>>().map_err(|error| error.in_file(&name))?;
        check_links(first, &objects, axis).map_err(|error| error.in_file(&name))?;
        let length = length(first, entries, axis).map_err(|error| error.in_file(&name))?;
        let (attributes, units, tolerated) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (ranges, wanted) = (Ranges::default(), None);
        Ok(Template {
            paths,
            first,
            axis,
            tolerance,
            objects,
            length,
            attributes,
            ranges,
            units,
            reformed,
            wanted,
            tolerated,
        })
    }

    /// Forms that the first store must take so that it can be joined with the store that was compared last.
    pub(super) fn wanted(&mut self) -> Option<Forms> {
        self.wanted.take()
    }

    /// The coordinates of the dimension in the first store, if it has any.
    pub(super) fn coordinates(&self) -> Option<&Node> {
        let object = self.objects.iter().find(|object| self.axis.is_at(&object.entry.handle.path))?;
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
            let found = self.object(index, (source, entries), entry, number);
            recounts.extend(found.map_err(|error| error.in_object(&path))?.map(|counts| (path, counts)));
            if self.wanted.is_some() {
                return Ok(Found { length: self.length, recounts });
            }
        }
        self.add_bounds(source, entries, &mut recounts)?;
        if let Some(path) = others.into_keys().min() {
            return Err(Error::invalid(format!("is only here; {first} does not have it"))
                .with_hint(WHAT_ALL_HAVE)
                .in_object(path));
        }
        Ok(Found { length: length(source, entries, self.axis)?, recounts })
    }

    /// Compares one object. Returns how its counts are converted to those of the first store, if they differ.
    fn object(
        &mut self,
        index: usize,
        (source, entries): (&dyn Source, &[Entry]),
        entry: &Entry,
        number: usize,
    ) -> Result<Option<NewCounts>> {
        let first = self.first_name();
        let Some(object) = self.objects.get(index) else { return Ok(None) };
        let path = &object.entry.handle.path;
        let (node, length) = loaded(source, entry, self.axis)?;
        let rules =
            Rules { habits: format_of(self.first) == format_of(source), show: element_text, ..Rules::EXACT };
        let mut differences = Vec::new();
        rules.nodes(path, &object.node, &node, &mut differences);
        let nodes = (&object.node, &node);
        let recount = length.and_then(|_| between(nodes.0, nodes.1));
        let types = nodes.0.datatype().zip(nodes.1.datatype());
        let wider = types.and_then(|(a, b)| counts::wider(a, b)).filter(|_| recount.is_some());
        let has_other_type = |of: &Difference| of.attribute.is_none() && of.what == "type";
        let is_retyped = wider.is_some() && differences.iter().any(has_other_type);
        // If no times are missing, the attributes that would mark them do not matter.
        let has_marks_of_others = is_retyped || recount.is_some() && self.reformed.contains(path);
        let (mut has_other_units, mut marks) = (false, None);
        for mut difference in differences {
            match &difference.attribute {
                Some(name) if UNITS.contains(&name.as_str()) && recount.is_some() => has_other_units = true,
                None if is_retyped && ["type", "fill value"].contains(&difference.what) => {}
                Some(name) if has_marks_of_others && MARKS.contains(&name.as_str()) => {
                    marks = Some(difference)
                }
                Some(name)
                    if RANGES.contains(&name.as_str()) && self.ranges.add(path, name, nodes, number) => {}
                Some(name) if !MEANING.contains(&name.as_str()) && difference.what != "unreadable" => {
                    self.attributes.entry((path.clone(), name.clone())).or_insert((0, number)).0 += 1;
                }
                _ => {
                    if difference.what == "shape" {
                        (difference.a, difference.b) = (shape_text(&object.entry), shape_text(entry));
                    }
                    return Err(differing(&difference, &first, nodes));
                }
            }
        }
        if let Some(marks) = marks
            && counts::has_missing((source, entry, &node), (self.first, nodes.0))?
        {
            return Err(differing(&marks, &first, nodes));
        }
        let mut new = None;
        if has_other_units || is_retyped {
            let (Some(recount), Some((datatype, other))) = (recount, types) else { return Ok(None) };
            let counts = NewCounts { recount, datatype: Arc::clone(datatype) };
            let units = if has_other_units { units_of(&node) } else { String::new() };
            self.units.entry((path.clone(), units)).or_insert((0, number)).0 += 1;
            let is_wide = !is_retyped || wider.as_ref() == Some(datatype.resolved());
            let held = match is_wide {
                true => counts::check(source, entry, &node, counts.clone()),
                false => Err(Error::unsupported(format!("values of type {other}, {datatype} in {first}"))),
            };
            if let Err(error) = held {
                let what = format!("counts {}, {first} {}: ", units_of(&node), units_of(nodes.0));
                let path = path.clone();
                let forms = self.common_form(&path, (source, entries), error).map_err(|error| {
                    error.map_detail(|detail| format!("{what}{detail}")).with_hint(
                        "give both files the same units, or first the file with the shorter unit or the finer type",
                    )
                })?;
                self.wanted = Some(forms);
                return Ok(None);
            }
            new = Some(counts);
        }
        if length.is_none() && matches!(entry.item, Item::Array { datatype: Some(_), .. }) {
            self.same_content(index, source, entry, number)?;
        }
        Ok(new)
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
            let (differing, of, axis) = (exact.differing, exact.compared, self.axis);
            let verb = if differing == 1 { "differs" } else { "differ" };
            let by = largest.map_or_else(String::new, |largest| format!(", by at most {largest}"));
            let what = format!("has other values than in {name}: {differing} of {of} {verb}{by}");
            return Err(
                Error::invalid(format!("{what}; only arrays along {axis} are joined")).with_remedy(remedy)
            );
        }
        Ok(())
    }

    /// What to do if the array at a path has different values. Coordinates are included with the arrays that have their
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
            false => Remedy::Hint(LEAVE_OUT.into()),
        }
    }

    /// The value ranges of all stores, where they differ.
    pub(super) fn into_ranges(self) -> Ranges {
        self.ranges
    }

    /// Differences that do not prevent joining.
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
        let mut by_path: BTreeMap<&NodePath, (bool, u64, usize)> = BTreeMap::new();
        for ((path, units), (count, number)) in &self.units {
            let known = by_path.entry(path).or_insert((false, 0, *number));
            *known = (known.0 || !units.is_empty(), known.1 + count, known.2.min(*number));
        }
        let node = |path: &NodePath| {
            self.objects.iter().find(|object| object.entry.handle.path == *path).map(|object| &object.node)
        };
        let units = |path: &NodePath| node(path).map(units_of).unwrap_or_default();
        let type_of = |path: &NodePath| {
            node(path).and_then(Node::datatype).map(ToString::to_string).unwrap_or_default()
        };
        for path in self.reformed {
            let (units, datatype) = (units(path), type_of(path));
            notes.push(match units.is_empty() {
                true => format!("{path}: counted as {datatype}, in the units of its times"),
                false => format!(
                    "{path}: units or types differ; counted as {datatype} in {units}, which hold all times exactly"
                ),
            });
        }
        for (path, (has_other_units, count, number)) in by_path {
            let further = further(count, number);
            notes.push(match has_other_units {
                _ if self.reformed.contains(path) => continue,
                true => format!(
                    "{path}: other units or calendar in {further}; counted as in {first}, {}",
                    units(path)
                ),
                false => {
                    format!("{path}: another type in {further}; {} is used, as in {first}", type_of(path))
                }
            });
        }
        for (path, (count, number, largest)) in &self.tolerated {
            notes.push(format!(
                "{path}: values differ by at most {largest} in {}; those of {first} are used",
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
fn loaded(source: &dyn Source, entry: &Entry, axis: &Axis) -> Result<(Node, Option<u64>)> {
    let path = &entry.handle.path;
    let mut node = match &entry.item {
        Item::Link(link) => Node::Link(link.clone()),
        Item::Unreadable(why) => Node::Unreadable(why.clone()),
        _ => source.load(&entry.handle)?,
    };
    type_fill_attribute(source, &entry.handle, &mut node)?;
    if let Node::Unreadable(why) = &node {
        return Err(Error::malformed(format!("cannot be read: {}", why.reason)).in_object(path));
    }
    if source.cells(&entry.handle).is_ok_and(|cells| cells.is_some()) && matches!(entry.item, Item::Group) {
        return Err(Error::unsupported("is a sparse array, whose cells are not joined").in_object(path));
    }
    let dims = entry.dimensions().unwrap_or_default();
    let mut along = axis.positions(&dims);
    let position = along.next();
    let length = position.and_then(|at| dims.get(at)).map(|dimension| dimension.extent.current());
    if along.next().is_some() {
        let what = format!("has the dimension {axis} twice");
        return Err(Error::unsupported(what).in_object(path));
    }
    match &mut node {
        Node::Ndarray(array) => {
            if let Shape::Dims(dims) = &mut array.shape
                && let Some(dimension) = position.and_then(|at| dims.get_mut(at))
            {
                dimension.extent = Extent::Fixed(0);
            }
            if axis.is_at(path) {
                array.dimension = None;
            }
        }
        Node::DimCoord(dimcoord) if axis.is_at(path) => {
            dimcoord.size = Extent::Fixed(0);
            dimcoord.storage.domain = None;
        }
        _ => {}
    }
    Ok((node, length))
}

/// The length of a store along the dimension, which all of its arrays along it must have.
fn length(source: &dyn Source, entries: &[Entry], axis: &Axis) -> Result<u64> {
    let mut found: Option<(u64, &NodePath)> = None;
    for entry in entries {
        let dims = entry.dimensions().unwrap_or_default();
        let own = axis.positions(&dims).next().and_then(|at| dims.get(at));
        let Some(own) = own.map(|dimension| dimension.extent.current()) else { continue };
        let path = &entry.handle.path;
        match found {
            Some((length, other)) if length != own => {
                let what = format!("has {own} along {axis}, and {other} has {length}");
                let error = Error::invalid(what).in_object(path);
                return Err(match axis {
                    Axis::Named(_) => error,
                    Axis::Position(_) => error.with_hint(ONE_LENGTH),
                });
            }
            _ => found = Some((own, path)),
        }
    }
    match found {
        Some((length, _)) => Ok(length),
        None => {
            let format = source.format();
            Err(Error::not_found(format!("no array lies along {axis} in this {format} store")))
        }
    }
}

/// The shape of an array in its store.
fn shape_text(entry: &Entry) -> String {
    match &entry.item {
        Item::Array { shape, .. } => shape.to_string(),
        _ => String::new(),
    }
}

/// Refuses arrays whose values are positions or counts along the dimension: those of one store would refer to elements
/// of another one.
fn check_links(source: &dyn Source, objects: &[Object], axis: &Axis) -> Result<()> {
    let Some(axis) = axis.path() else { return Ok(()) };
    let nodes = objects.iter().map(|object| (&object.entry.handle.path, &object.node));
    let dataset = Dataset::new(nodes, source.dialect().has_typed_attributes);
    let linked = dataset.linked();
    match linked.iter().find(|linked| linked.dimensions.contains(&axis)) {
        None => Ok(()),
        Some(linked) => {
            let name = axis.name();
            let what = format!(
                "its values are positions or counts along {name}, which would refer to other elements after joining along it"
            );
            Err(Error::unsupported(what).with_hint(LEAVE_OUT).in_object(&linked.variable.path))
        }
    }
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
        false => Remedy::Hint(
            "values are joined exactly as stored, so all files must store them in the same way".into(),
        ),
    };
    Error::invalid(format!("{what} is {}, in {first} it is {}", quoted(b), quoted(a))).with_remedy(remedy)
}

/// The tolerance that makes floating-point numbers equal if the differences are as small as rounding errors.
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

/// Relative differences between floating-point numbers of up to this size are probably rounding errors.
const ROUNDING: f64 = 1e-4;

/// The maximum number of elements whose size is examined.
const MAX_MEASURED: usize = 1000;

/// Attributes that state the unit in which an array counts time.
const UNITS: &[&str] = &["units", "calendar"];

/// Attributes that determine what stored values mean: if they differ, equal values mean different things.
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

/// Those of them that unpacked numbers do not need.
const UNPACKED: &[&str] = &["scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned"];

const WHAT_ALL_HAVE: &str = "join only what all files have, as FILE:/PATH";

const ONE_LENGTH: &str =
    "join only the arrays that have one length there, and name them by a pattern: FILE:/{a,b}";

const LEAVE_OUT: &str = "leave it out: join only the arrays that are needed, as FILE:/PATH";
