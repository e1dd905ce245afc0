//! Arrays and dimensions of the model as NetCDF variables and dimensions.

use super::attribute::{are_small, attributes, missing_text};
use super::datatype::{Change, LoweredType, Types};
use super::dimension::Along;
use super::flavour::Flavour;
use super::lowerings::{CONTENT, DIRECTIVES, FILL, LIMITED, LINK};
use super::name::{of_names, stored};
use super::record::Record;
use super::user_types::{UserType, UserTypes};
use super::{characters, default_fill};
use crate::format::hdf5::write::lowerings::layout;
use crate::target::{Facts, Losses, Needs, content};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::are_zero;
use hyperslab_model::{
    Attribute, Attributes, BoxedStorage, Datatype, DimCoord, Dimension, Directive, Elements, Extent, Fill,
    FillTime, Layout, Ndarray, Node, NodePath, Shape, Storage, Text, Values,
};
use hyperslab_netcdf4::name::FILL_VALUE;
use hyperslab_netcdf4::rules::default_chunk;
use std::sync::Arc;

/// Converts the objects of a file.
pub(in crate::format) struct Variables<'a> {
    pub(in crate::format) user: &'a mut UserTypes,
    pub(in crate::format) flavour: Flavour,
    /// Facts about the elements, as far as they are [needed](needs).
    pub(in crate::format) facts: Facts,
}

/// An object in its NetCDF form.
pub(in crate::format) struct Lowered {
    pub(in crate::format) node: Node,
    /// The dimensions of a variable.
    pub(in crate::format) along: Vec<Along>,
    /// Whether it is the scale of its first dimension.
    pub(in crate::format) is_scale: bool,
    pub(in crate::format) change: Change,
    /// The extents of dimensions that follow those of the source.
    pub(in crate::format) inner: Vec<u64>,
    /// The original names of what the object contains, except for the members of a group.
    pub(in crate::format) record: Record,
}

impl Lowered {
    fn of(node: Node) -> Lowered {
        let (along, inner, record) = Default::default();
        Lowered { node, along, is_scale: false, change: Change::None, inner, record }
    }
}

impl Variables<'_> {
    /// The NetCDF form of an object at `path`; `None` for named datatypes that variables cannot have by name.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if NetCDF has no equivalent.
    pub(in crate::format) fn lowered(
        &mut self,
        path: &NodePath,
        node: &Node,
        losses: &mut dyn Losses,
    ) -> Result<Option<Lowered>> {
        if let Some(storage) = node.storage() {
            note_directives(path, storage, losses);
        }
        let group = path.parent().map_or_else(NodePath::root, |parent| of_names(&parent, self.flavour));
        // In stored form, since a member of the root group is named after it as well.
        let hint = stored(path.name(), self.flavour).0.into_owned();
        let (flavour, longest) = (self.flavour, self.facts.longest);
        // Elements and the value that marks missing elements have the same type.
        let fill = node.attributes().and_then(|own| own.get(FILL_VALUE)?.as_ref().ok());
        let is_small = self.facts.is_small && fill.is_none_or(are_small);
        let user = &mut *self.user;
        let mut types = Types {
            user,
            group: &group,
            hint: &hint,
            flavour,
            longest,
            is_small,
            is_explained: true,
            is_unicode: self.facts.is_unicode,
        };
        let mut record = Record::default();
        let attributes = match node.attributes() {
            Some(own) => attributes(path, own, &mut types, &mut record.attributes, losses)?,
            None => Attributes::new(),
        };
        let lowered = match node {
            Node::Group(_) if !flavour.is_enhanced() && !path.is_root() => {
                return Err(flavour.without("a group"));
            }
            Node::Group(group) => {
                let mut group = group.clone();
                (group.attributes, group.storage) = (attributes, with_order(Storage::default()).into());
                Lowered::of(Node::Group(group))
            }
            Node::Datatype(named) => {
                let Some(lowered) = types.declared(&named.datatype, &named.storage.element)? else {
                    return Ok(None);
                };
                let mut named = named.clone();
                let storage = Storage { element: lowered.storage, ..Storage::default() };
                (named.datatype, named.storage) = (lowered.datatype, with_order(storage).into());
                named.attributes = attributes;
                lowered.notes.iter().for_each(|note| losses.note(note, path.to_string(), None));
                record.fields = lowered.fields;
                Lowered::of(Node::Datatype(named))
            }
            Node::DimCoord(dimension) if dimension.datatype.is_none() => {
                let dimension = DimCoord {
                    size: of_scale(grown(path, dimension.size, losses)),
                    attributes,
                    storage: with_order(Storage::default()).into(),
                    ..DimCoord::without_coordinates(dimension.size)
                };
                Lowered::of(Node::DimCoord(dimension))
            }
            Node::DimCoord(_) | Node::Ndarray(_) => {
                variable((path, node), attributes, self.facts, &mut types, losses)?
            }
            Node::Link(_) | Node::Unreadable(_) => return Ok(None),
        };
        Ok(Some(Lowered { record, ..lowered }))
    }
}

/// Whether an object is stored. Notes links, and names that are changed in the file.
///
/// # Errors
/// If the root is not a group.
pub(in crate::format) fn is_stored(
    (path, node): (&NodePath, &Node),
    flavour: Flavour,
    losses: &mut dyn Losses,
) -> Result<bool> {
    if matches!(node, Node::Link(_)) {
        losses.note(&LINK, path.to_string(), None);
        return Ok(false);
    }
    if path.is_root() && !matches!(node, Node::Group(_)) {
        return Err(Error::unsupported("an array at the root, where NetCDF has a group"));
    }
    if let Some(lowered) = stored(path.name(), flavour).1.filter(|_| !path.is_root()) {
        losses.note(lowered, path.to_string(), None);
    }
    Ok(true)
}

/// The extent of the dimension that is stored next to a variable of the same name.
pub(in crate::format) fn beside(node: &Node, is_scale: bool) -> Option<Extent> {
    match node {
        Node::Ndarray(array) if !is_scale => array.dimension,
        _ => None,
    }
}

/// What must be known of the elements of an array: the length of the longest string if the flavour has no
/// variable-length strings, and whether 32 bits hold all integers if it has no 64-bit integers.
pub(in crate::format) fn needs(flavour: Flavour, node: &Node) -> Needs {
    let is_text = |of: &Datatype| matches!(of.resolved(), Datatype::String(Text::Variable));
    let longest = !flavour.is_enhanced() && node.datatype().is_some_and(|of| is_text(of));
    let small = !flavour.holds(&Datatype::int(64, true)) && node.datatype().is_some_and(|of| is_large(of));
    Needs { longest, small, ..Needs::default() }
}

/// Whether elements are integers of more than 32 bits.
fn is_large(datatype: &Datatype) -> bool {
    match datatype.resolved() {
        Datatype::Int { bits, .. } | Datatype::Time { bits } => *bits > 32,
        Datatype::Enum { base, .. } | Datatype::Array { base, .. } => is_large(base),
        Datatype::Bitfield { size } => *size > 4,
        Datatype::Datetime(_) => true,
        _ => false,
    }
}

fn variable(
    (path, node): (&NodePath, &Node),
    mut attributes: Attributes,
    facts: Facts,
    types: &mut Types<'_>,
    losses: &mut dyn Losses,
) -> Result<Lowered> {
    let none = Storage::default();
    let source = node.storage().unwrap_or(&none);
    let datatype = node.datatype().ok_or_else(|| Error::invalid("an array without a datatype"))?;
    let dims = match node.shape(path) {
        Some(Shape::Dims(dims)) => dims,
        _ => return Err(Error::unsupported("an array without a shape, which NetCDF does not have")),
    };
    let lowered = types.of_elements(datatype, &source.element)?;
    lowered.notes.iter().for_each(|note| losses.note(note, path.to_string(), None));
    for (name, value) in &lowered.conventions {
        if !attributes.contains_key(*name) {
            attributes.insert((*name).to_owned(), Ok(text(value)));
        }
    }
    let marker = node.attributes().and_then(|own| own.get(FILL_VALUE)?.as_ref().ok());
    if let (Datatype::String(Text::Variable), Some(marker)) = (lowered.datatype.resolved(), marker)
        && let Some(marker) = missing_text(marker)?
    {
        attributes.insert(FILL_VALUE.to_owned(), Ok(marker));
    }
    let mut along = Vec::new();
    for dimension in &dims {
        along.push(Along {
            extent: grown(path, dimension.extent, losses),
            dimension: dimension.coordinate.as_ref().map(|of| of_names(of, types.flavour)),
            is_characters: false,
        });
    }
    let last = lowered.inner.len().saturating_sub(1);
    along.extend(lowered.inner.iter().enumerate().map(|(at, extent)| Along {
        extent: Extent::Fixed(*extent),
        dimension: None,
        is_characters: lowered.has_characters && at == last,
    }));
    let own = dims.first().and_then(|dimension| dimension.coordinate.as_ref()) == Some(path);
    let is_dimension = match node {
        Node::Ndarray(array) => array.dimension.is_some(),
        _ => true,
    };
    let is_scale = own && is_dimension;
    let mut storage = storage(source, &lowered, &along);
    storage.fill = fill(path, source, &lowered, &attributes, datatype, losses)?;
    // Readers of the source recognise missing elements by the fill value alone.
    if let Fill::Value(value) = &storage.fill
        && facts.fill_is_missing
        // Readers do not recognise missing compounds, and xarray opens no file that has such an attribute.
        && matches!(lowered.datatype.resolved(), Datatype::Int { .. } | Datatype::Float(_) | Datatype::String(_))
        && !attributes.contains_key(FILL_VALUE)
    {
        let (datatype, element) = (Arc::clone(&lowered.datatype), lowered.storage.clone());
        let fill = Attribute {
            shape: Some(vec![1]),
            datatype,
            value: value.clone(),
            storage: element,
            native: Vec::new(),
        };
        attributes.insert(FILL_VALUE.to_owned(), Ok(fill));
    }
    if is_scale && along.len() > 1 {
        let name = Directive::Text(stored(path.name(), types.flavour).0.into_owned());
        storage.native_mut("hdf5")?.push(("scale".to_owned(), name));
    }
    let LoweredType { datatype, inner, change, .. } = lowered;
    let node = match is_scale && along.len() == 1 {
        true => Node::DimCoord(DimCoord {
            size: along.first().map_or(Extent::Fixed(0), |own| own.extent),
            datatype: Some(datatype),
            attributes,
            storage: storage.into(),
            value: None,
        }),
        false => Node::Ndarray(Ndarray {
            // Scales are attached once all dimensions are known.
            shape: Shape::Dims(
                along.iter().map(|along| Dimension { extent: along.extent, coordinate: None }).collect(),
            ),
            dimension: None,
            datatype: Some(datatype),
            attributes,
            storage: storage.into(),
            value: None,
        }),
    };
    Ok(Lowered { node, along, is_scale, change, inner, record: Record::default() })
}

/// The storage of a variable: as in the source, as far as NetCDF can represent it.
fn storage(source: &Storage, lowered: &LoweredType, along: &[Along]) -> Storage {
    let is_extendible = along.iter().any(|along| !along.extent.is_fixed());
    let chunk = source.chunk.as_ref().map(|chunk| chunk.iter().chain(&lowered.inner).copied().collect());
    let mut storage = Storage {
        chunk,
        shard: source.shard.clone(),
        filters: source.filters.clone(),
        element: lowered.storage.clone(),
        fill_time: source.fill_time.filter(|time| *time == FillTime::Never),
        layout: source.layout.clone(),
        order: source.order,
        native: source.native.iter().filter(|(format, _)| *format == "hdf5").cloned().collect(),
        ..Storage::default()
    };
    for (_, directives) in &mut storage.native {
        directives.retain(|(key, _)| KEPT.contains(&key.as_str()));
    }
    // The content of an element is one block, so that a chunk has whole elements.
    let is_large = lowered.inner.iter().product::<u64>() > MAX_BLOCK;
    let is_chunked = layout(&storage, is_extendible) == Layout::Chunked;
    if storage.chunk.is_none() && (is_chunked || is_large) {
        let outer = along.len().saturating_sub(lowered.inner.len());
        let outer = along.get(..outer).unwrap_or_default();
        let extents: Vec<u64> = outer.iter().map(|along| along.extent.current()).collect();
        let unlimited: Vec<bool> = outer.iter().map(|along| !along.extent.is_fixed()).collect();
        let row = lowered.datatype.row_size().unwrap_or(1) as u64;
        let size = lowered.inner.iter().fold(row, |size, extent| size.saturating_mul(*extent));
        if !outer.is_empty() {
            let chunk = default_chunk(&extents, &unlimited, size);
            storage.chunk = Some(chunk.into_iter().chain(lowered.inner.iter().copied()).collect());
        }
    }
    with_order(storage)
}

/// The fill value that the library finds in HDF5: that of the source, otherwise that of the attribute, otherwise its
/// default.
fn fill(
    path: &NodePath,
    source: &Storage,
    lowered: &LoweredType,
    attributes: &Attributes,
    datatype: &hyperslab_model::Datatype,
    losses: &mut dyn Losses,
) -> Result<Fill> {
    if source.fill_time == Some(FillTime::Never) {
        return Ok(Fill::Default);
    }
    match &source.fill {
        Fill::Undefined => Ok(Fill::Undefined),
        Fill::Value(value) if lowered.inner.is_empty() => {
            match super::array::changed(lowered.change, datatype, value) {
                // No element has this value, as all are small.
                Err(_) if lowered.change == Change::ToInt => Ok(Fill::Default),
                changed => changed.map(Fill::Value),
            }
        }
        Fill::Value(value) => {
            if !are_zero(datatype, value)? {
                losses.note(&FILL, path.to_string(), None);
            }
            Ok(Fill::Default)
        }
        Fill::Default => {
            if let Some(Ok(attribute)) = attributes.get(FILL_VALUE)
                && attribute.datatype == lowered.datatype
                && Elements::new(&attribute.datatype, &attribute.value).len() == 1
            {
                return Ok(Fill::Value(attribute.value.clone()));
            }
            let default = default_fill(lowered.datatype.resolved());
            Ok(default
                .map_or(Fill::Default, |row| Fill::Value(Values { rows: row.into(), heap: Heap::default() })))
        }
    }
}

/// The extent of a dimension, which is unlimited if it can grow.
fn grown(path: &NodePath, extent: Extent, losses: &mut dyn Losses) -> Extent {
    match extent {
        Extent::Limited { current, .. } => {
            losses.note(&LIMITED, path.to_string(), None);
            Extent::Unlimited { current }
        }
        other => other,
    }
}

/// The extent of the scale of a dimension without a variable. It has no data of its own that would grow with the
/// variables along it.
fn of_scale(extent: Extent) -> Extent {
    if extent.is_fixed() { extent } else { Extent::Unlimited { current: 0 } }
}

/// Notes content of an object that only its own format can represent.
fn note_directives(path: &NodePath, storage: &Storage, losses: &mut dyn Losses) {
    for (format, key, _) in content(storage) {
        let lowered = if format == "hdf5" { &CONTENT } else { &DIRECTIVES };
        losses.note(lowered, path.to_string(), Some(format!("{format}: {key}")));
    }
}

/// The storage of an object whose members or attributes keep their creation order, as in all NetCDF files.
fn with_order(mut storage: Storage) -> Storage {
    let order = ["track_order", "index_order", "track_attributes", "index_attributes"];
    let order = order.map(|key| (key.to_owned(), Directive::Bool(true)));
    if let Ok(own) = storage.native_mut("hdf5") {
        own.extend(order);
    }
    storage
}

/// A dimension that does not exist in the source.
pub(in crate::format) fn made_dimension(extent: Extent) -> DimCoord {
    DimCoord {
        storage: BoxedStorage::from(with_order(Storage::default())),
        ..DimCoord::without_coordinates(of_scale(extent))
    }
}

/// A datatype that does not exist in the source, with the record of its members.
pub(in crate::format) fn made_datatype(made: &UserType) -> hyperslab_model::NamedDatatype {
    let storage = with_order(Storage { element: made.storage.clone(), ..Storage::default() });
    let record = Record { fields: made.fields.clone(), ..Record::default() };
    let mut attributes = Attributes::new();
    record.add_to(&mut attributes);
    hyperslab_model::NamedDatatype {
        datatype: Arc::clone(&made.datatype),
        attributes,
        storage: storage.into(),
    }
}

/// A string of characters.
pub(in crate::format) fn text(of: &str) -> Attribute {
    let (datatype, storage) = characters(u32::try_from(of.len()).unwrap_or(u32::MAX));
    Attribute {
        shape: Some(Vec::new()),
        datatype: Arc::new(datatype),
        value: Values { rows: of.as_bytes().to_vec().into(), heap: Heap::default() },
        storage,
        native: Vec::new(),
    }
}

/// The HDF5 directives that state how elements are stored.
const KEPT: [&str; 4] = ["mappings", "external", "alloc_time", "unfiltered_edges"];

/// The maximum size in bytes of what is certainly one block of a contiguous variable.
const MAX_BLOCK: u64 = 64 << 10;
