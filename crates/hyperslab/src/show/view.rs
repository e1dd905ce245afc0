//! A view of an array or attribute before its values are read: dimensions, coordinates, and how elements are decoded.

use super::{Gap, Part, Shown, ShownAxis, check_empty, with_coordinate};
use crate::decode::{Decoder, Encoded, Times};
use crate::location::{LocatedObject, missing_attribute};
use crate::select::{Picks, Select, Selected};
use crate::source::{ArraySource, Entry, Item, MissingSources, Source, check_counts};
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::{Datatype, Link, NodeKind, NodePath, Pad, Shape, Text, Values};
use std::sync::Arc;

/// How an array is shown.
#[derive(Clone, Debug, Default)]
pub struct ShowOptions {
    /// The selected elements; all elements if there is no selection.
    pub select: Vec<Select>,
    /// The names of the member of a compound to show, outermost first; the whole elements if there are none.
    pub member: Vec<String>,
    /// Apply CF attributes to values and coordinates: unpack numbers, show times as dates, flags as words, and missing
    /// values as null.
    pub decode: bool,
    /// Show the characters of an array along its last dimension as strings.
    pub texts: bool,
    /// Leave out the middle of large arrays.
    pub abbreviate: Option<Abbreviation>,
}

/// How much is shown of arrays with more than `above` elements: the number of first and last positions of each
/// dimension.
#[derive(Clone, Copy, Debug)]
pub struct Abbreviation {
    /// The maximum number of elements of arrays that are shown completely.
    pub above: u64,
    /// The number of positions of the last dimension that are shown at each end.
    pub columns: u64,
    /// As `columns`, for the dimension before the last.
    pub rows: u64,
    /// As `columns`, for all dimensions before these.
    pub tables: u64,
}

impl Abbreviation {
    /// The number of positions at each end of each dimension, of which those in `kept` are shown.
    fn edges(&self, rank: usize, kept: &[usize]) -> Vec<u64> {
        let mut edges = vec![u64::MAX; rank];
        for (from_end, dimension) in kept.iter().rev().enumerate() {
            // A single dimension is shown vertically.
            let edge = match from_end {
                0 if kept.len() > 1 => self.columns,
                0 | 1 => self.rows,
                _ => self.tables,
            };
            if let Some(own) = edges.get_mut(*dimension) {
                *own = edge;
            }
        }
        edges
    }
}

/// A view of an array or attribute. Its values are read on demand.
#[allow(missing_debug_implementations, reason = "elements are read from a source, which has no text form")]
pub struct View {
    /// The path of the object, with `@NAME` for an attribute.
    pub name: String,
    /// The datatype of an element, decoded.
    pub datatype: Arc<Datatype>,
    /// The dimensions of the values, slowest first.
    pub axes: Vec<ShownAxis>,
    /// The dimensions that were dropped, since a single position was selected.
    pub fixed: Vec<ShownAxis>,
    /// The sources of a virtual array that do not exist.
    pub missing: MissingSources,
    /// The reasons why coordinates cannot be read; positions are shown in their place.
    pub unread: Vec<Error>,
    /// The arrays that are shown as stored although attributes give their numbers another meaning.
    pub encoded: Vec<(String, Encoded)>,
    content: Content,
}

enum Content {
    /// No shape and no elements.
    Null,
    Held(Values),
    Stored {
        array: Arc<dyn ArraySource>,
        selected: Selected,
        shown: ShownElements,
    },
}

/// Which part of stored elements is shown.
enum ShownElements {
    Whole,
    Decoded(Box<Decoder>),
    /// A member, in rows of this size.
    Member(Part, usize),
}

impl ShownElements {
    fn of(&self, values: Values) -> Result<Values> {
        match self {
            ShownElements::Whole => Ok(values),
            ShownElements::Decoded(decoder) => decoder.decode(values),
            ShownElements::Member(part, size) => Ok(part.of(&values, *size)),
        }
    }
}

impl View {
    /// Whether the labels of its enumeration are ordered.
    pub(crate) fn has_ordered_labels(&self) -> bool {
        matches!(&self.content, Content::Stored { array, .. } if array.has_ordered_labels())
    }

    /// The view of `target` that the options define.
    ///
    /// # Errors
    /// If `target` is neither an array nor an attribute, the selections do not fit it, or it cannot be read.
    pub fn new(source: &dyn Source, target: &LocatedObject, options: &ShowOptions) -> Result<View> {
        let path = &target.entry.handle.path;
        match &target.attribute {
            Some(name) => View::of_attribute(source, target, name, options)
                .map_err(|error| error.in_object(format!("{path}@{name}"))),
            None => View::of_array(source, &target.entry, options).map_err(|error| error.in_object(path)),
        }
    }

    /// Whether the object has a null dataspace: no shape and no elements.
    pub fn is_null(&self) -> bool {
        matches!(self.content, Content::Null)
    }

    /// Whether these are the values of an attribute.
    pub fn is_attribute(&self) -> bool {
        matches!(self.content, Content::Held(_))
    }

    /// The number of elements; `None` if it overflows.
    pub fn count(&self) -> Option<u64> {
        if self.is_null() {
            return Some(0);
        }
        self.axes.iter().try_fold(1_u64, |count, axis| count.checked_mul(u64::try_from(axis.len()).ok()?))
    }

    /// The number of selected elements if some are left out because there are many; `None` if all are shown.
    pub fn abbreviated_from(&self) -> Option<u64> {
        self.axes.iter().any(|axis| axis.gap().is_some()).then(|| {
            let extent = |axis: &ShownAxis| axis.len() as u64 + axis.gap().map_or(0, |gap| gap.count);
            self.axes.iter().map(extent).fold(1, u64::saturating_mul)
        })
    }

    /// Reads all values.
    ///
    /// # Errors
    /// If they cannot be read, or exceed the memory.
    pub fn read(self) -> Result<Shown> {
        let name = self.name;
        let is_null = matches!(self.content, Content::Null);
        let values = match self.content {
            Content::Null => Ok(Values::default()),
            Content::Held(values) => Ok(values),
            Content::Stored { array, selected, shown } => {
                selected.read(&*array).and_then(|values| shown.of(values))
            }
        };
        Ok(Shown {
            values: values.map_err(|error| error.in_object(&name))?,
            name,
            datatype: self.datatype,
            axes: self.axes,
            fixed: self.fixed,
            is_null,
            missing: self.missing,
            unread: self.unread,
        })
    }

    /// Reads the values in row-major order, in parts that fit into the memory.
    ///
    /// # Errors
    /// If they cannot be read; the first error of `take`.
    pub fn stream(&self, take: &mut dyn FnMut(Values) -> Result<()>) -> Result<()> {
        match &self.content {
            Content::Null => Ok(()),
            Content::Held(values) => take(values.clone()),
            Content::Stored { array, selected, shown } => {
                selected.stream(&**array, &mut |values| take(shown.of(values.clone())?))
            }
        }
    }

    fn of_array(source: &dyn Source, entry: &Entry, options: &ShowOptions) -> Result<View> {
        let (shape, datatype) = shown_shape(source, entry)?;
        if let Shape::Null = shape {
            if !options.select.is_empty() {
                return Err(Error::invalid("a part of a null dataspace cannot be selected"));
            }
            return Ok(View::held(entry.handle.path.to_string(), &datatype, Content::Null));
        }
        let selected = Selected::new(source, &options.select, &shape)?;
        let array = source.array(&entry.handle)?;
        check_counts(source, &*array, &selected.counts())?;
        check_empty(&selected.counts())?;
        let mut view = View::held(entry.handle.path.to_string(), array.datatype(), Content::Null);
        view.missing = array.missing_sources()?;
        let kept = selected.kept();
        let joined = match options.texts && options.member.is_empty() {
            true => joined_text(array.datatype(), &selected, shape.dims().len()),
            false => None,
        };
        let all = selected.counts();
        let count = all.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent));
        let selected = match options.abbreviate.filter(|short| count.is_none_or(|count| count > short.above))
        {
            Some(short) => {
                // Strings are always complete.
                let shown =
                    kept.split_last().filter(|_| joined.is_some()).map_or(&*kept, |(_, before)| before);
                selected.edges(&short.edges(all.len(), shown))
            }
            None => selected,
        };
        for ((index, picks), all) in selected.picks().enumerate().zip(&all) {
            let path = shape.dims().get(index).and_then(|dimension| dimension.coordinate.as_ref());
            let mut axis = view.axis(source, (index, path), picks, (&entry.handle.path, options.decode));
            let left_out = all.saturating_sub(picks.count());
            axis.gap = (left_out > 0).then(|| Gap { at: axis.len() / 2, count: left_out });
            if kept.contains(&index) { view.axes.push(axis) } else { view.fixed.push(axis) }
        }
        let mut shown = ShownElements::Whole;
        if !options.member.is_empty() {
            let size = array.datatype().row_size().unwrap_or(0);
            let (datatype, part) = Part::of_member(array.datatype(), &options.member)
                .ok_or_else(|| Error::not_found(format!("no member {}", options.member.join("/"))))?;
            view.name = format!("{}/{}", view.name, options.member.join("/"));
            view.datatype = Arc::new(datatype);
            shown = ShownElements::Member(part, size);
        } else if let Some(text) = joined {
            view.datatype = Arc::new(text);
            view.axes.pop();
        } else {
            let path = &entry.handle.path;
            let own = source.load(&entry.handle);
            let own = own.map(|node| Decoder::new(source, path, &node, array.datatype()));
            match own {
                Ok(mut own) if options.decode => {
                    if own.is_time() {
                        let mut times = Times::default();
                        selected.stream(&*array, &mut |values| {
                            own.see(values, &mut times);
                            Ok(())
                        })?;
                        own.settle(times);
                    }
                    view.datatype = Arc::clone(own.datatype());
                    shown = ShownElements::Decoded(Box::new(own));
                }
                Err(error) if options.decode => return Err(error),
                // Stored values can be shown even if attributes cannot be read.
                own => {
                    let encoded = own.ok().and_then(|own| own.encoded());
                    view.encoded.extend(encoded.map(|encoded| (entry.handle.path.to_string(), encoded)));
                }
            }
        }
        view.content = Content::Stored { array, selected, shown };
        Ok(view)
    }

    /// The dimension number `index`, whose coordinates are at `path`.
    fn axis(
        &mut self,
        source: &dyn Source,
        (index, path): (usize, Option<&NodePath>),
        picks: &Picks,
        (own, decode): (&NodePath, bool),
    ) -> ShownAxis {
        let other = path.filter(|path| *path != own);
        let coordinates = match other.map(|path| coordinates(source, path, picks, decode)) {
            Some(Ok(Some(found))) => {
                let encoded = found.encoded.zip(other);
                self.encoded.extend(encoded.map(|(encoded, path)| (path.to_string(), encoded)));
                Some((found.datatype, found.values))
            }
            Some(Err(error)) => {
                self.unread.push(match other {
                    Some(path) => error.in_object(path),
                    None => error,
                });
                None
            }
            Some(Ok(None)) | None => None,
        };
        ShownAxis {
            name: other.map_or_else(|| format!("[{index}]"), |path| path.name().to_owned()),
            number: index,
            is_named: other.is_some(),
            is_own: path.is_some() && other.is_none(),
            positions: picks.clone(),
            gap: None,
            coordinates,
        }
    }

    fn of_attribute(
        source: &dyn Source,
        target: &LocatedObject,
        name: &str,
        options: &ShowOptions,
    ) -> Result<View> {
        if !options.select.is_empty() {
            return Err(Error::invalid("a part of an attribute cannot be selected"));
        }
        let node = source.load(&target.entry.handle)?;
        let attributes = node.attributes().ok_or_else(|| Error::not_found("it has no attributes"))?;
        let found = attributes.get(name).ok_or_else(|| {
            let path = &target.entry.handle.path;
            missing_attribute(path, name, attributes.keys().map(String::as_str))
        })?;
        let found =
            found.as_ref().map_err(|unreadable| Error::new(unreadable.kind, unreadable.reason.clone()))?;
        let name = format!("{}@{name}", target.entry.handle.path);
        let Some(shape) = &found.shape else {
            return Ok(View::held(name, &found.datatype, Content::Null));
        };
        check_empty(shape)?;
        let mut view = View::held(name, &found.datatype, Content::Held(found.value.clone()));
        let axis = |(index, extent): (usize, &u64)| ShownAxis {
            name: format!("[{index}]"),
            number: index,
            is_named: false,
            is_own: true,
            positions: Picks::Range { start: 0, count: *extent, step: 1 },
            gap: None,
            coordinates: None,
        };
        view.axes = shape.iter().enumerate().map(axis).collect();
        Ok(view)
    }

    fn held(name: String, datatype: &Arc<Datatype>, content: Content) -> View {
        View {
            name,
            datatype: Arc::clone(datatype),
            axes: Vec::new(),
            fixed: Vec::new(),
            missing: MissingSources::default(),
            unread: Vec::new(),
            encoded: Vec::new(),
            content,
        }
    }
}

/// The shape and datatype of an array with values.
pub(crate) fn shown_shape(source: &dyn Source, entry: &Entry) -> Result<(Shape, Arc<Datatype>)> {
    Err(match &entry.item {
        Item::Array { datatype: None, .. } => Error::invalid("a dimension without values"),
        Item::Array { shape: Shape::Unsaid, .. } => Error::invalid("the document states no shape"),
        Item::Array { kind, shape, datatype: Some(datatype), .. } => {
            let shape = with_coordinate(*kind, shape, &entry.handle.path);
            return Ok((shape, Arc::clone(datatype)));
        }
        Item::Group => Error::invalid("a group has no values")
            .with_remedy(Remedy::ListMembers(entry.handle.path.to_string())),
        Item::Datatype(_) => {
            let path = entry.handle.path.to_string();
            Error::invalid("a datatype has no values").with_remedy(Remedy::DescribeObject(path))
        }
        Item::Link(link) => match (source.unfollowed_links().reason(&entry.handle.path), link) {
            (Some(why), _) => {
                Error::new(why.kind(), why.detail().to_owned()).with_remedies(why.remedies().to_vec())
            }
            (None, Link::External { file, path }) => Error::invalid(format!(
                "points to {path} in {file}, which does not exist or must not be followed"
            )),
            (None, _) => Error::invalid("a link has no values of its own; name its target"),
        },
        Item::Unreadable(unreadable) => Error::new(unreadable.kind, unreadable.reason.clone()),
    })
}

/// The datatype of strings whose characters are elements along the last dimension. `None` if the elements are not such
/// characters.
fn joined_text(datatype: &Datatype, selected: &Selected, rank: usize) -> Option<Datatype> {
    let Datatype::String(Text::Fixed { len: 1, .. }) = datatype.resolved() else { return None };
    let last = rank.checked_sub(1).filter(|last| selected.kept().contains(last))?;
    let len = u32::try_from(*selected.counts().get(last)?).ok().filter(|len| *len > 0)?;
    Some(Datatype::String(Text::Fixed { len, pad: Pad::Nul }))
}

/// Coordinates along a dimension.
struct Coordinates {
    datatype: Arc<Datatype>,
    values: Values,
    /// What the numbers represent, if they are not decoded.
    encoded: Option<Encoded>,
}

/// The coordinates at some positions of a dimension; `None` if it has none.
fn coordinates(
    source: &dyn Source,
    path: &NodePath,
    positions: &Picks,
    decode: bool,
) -> Result<Option<Coordinates>> {
    let entry = match source.find(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        entry => entry?,
    };
    match entry.item {
        Item::Array { kind: NodeKind::DimCoord, datatype: Some(_), .. } => {}
        Item::Unreadable(unreadable) => return Err(Error::new(unreadable.kind, unreadable.reason)),
        // Values that a format stores for a dimension without coordinates, such as the zeros of a dimension scale, are
        // not labels.
        _ => return Ok(None),
    }
    let array = source.array(&entry.handle)?;
    check_counts(source, &*array, &[positions.count()])?;
    let values = Selected::along(positions).read(&*array)?;
    let node = source.load(&entry.handle);
    let decoder = node.map(|node| Decoder::new(source, path, &node, array.datatype()));
    if !decode {
        let encoded = decoder.ok().and_then(|decoder| decoder.encoded());
        return Ok(Some(Coordinates { datatype: Arc::clone(array.datatype()), values, encoded }));
    }
    let mut decoder = decoder?;
    let mut times = Times::default();
    decoder.see(&values, &mut times);
    decoder.settle(times);
    let values = decoder.decode(values)?;
    Ok(Some(Coordinates { datatype: Arc::clone(decoder.datatype()), values, encoded: None }))
}
