//! Objects of the model as objects of an HDF5 file.

use super::datatype::{Committed, Types, Written, byte};
use super::dimensions::{Scales, pure_dimension};
use super::fill::{allocation_time, write_time};
use super::filters::{Filters, fill_bits};
use super::lowerings::{self, directive, numbers};
use super::options::Options;
use super::uses::Uses;
use super::{name, references};
use crate::format::hdf5::mapping::{read_external, read_mappings};
use crate::target::conventions::of_datetimes;
use crate::target::{Facts, Filters as Origin, Losses};
use hyperslab_core::rows::{Heap, Rows, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::Reference as Hdf5Reference;
use hyperslab_hdf5::filter::Chunks;
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::format::message::character_set::CharacterSet;
use hyperslab_hdf5::format::message::dataspace::{Extent as Hdf5Extent, UNLIMITED};
use hyperslab_hdf5::format::message::datatype::Datatype as Hdf5Datatype;
use hyperslab_hdf5::format::message::fill_value::AllocationTime;
use hyperslab_hdf5::format::message::filter_pipeline::FilterPipeline;
use hyperslab_hdf5::format::message::group_info::{Estimates, LinkPhaseChange};
use hyperslab_hdf5::format::object_header::prefix_v2::{AttributePhaseChange, Times};
use hyperslab_hdf5::write::{
    CreationOrder, ExternalSegment, FileOptions, HeaderOptions, LinkOptions, NewAttribute, NewDataset,
    NewDatatype, NewFill, NewLayout, NewObject, VirtualMapping,
};
use hyperslab_model::{
    Attribute, Datatype, Directive, Extent, Fill, Filter, Group, Layout, Link, NamedDatatype, Ndarray, Node,
    NodePath, Shape, Storage, Text, Values,
};
use std::borrow::Cow;
use std::sync::Arc;

/// The context on which the objects of a file depend.
pub(super) struct Objects<'a> {
    pub(super) options: &'a Options,
    pub(super) uses: &'a Uses,
    pub(super) scales: &'a Scales,
    /// The committed datatype at a path.
    pub(super) committed: &'a dyn Fn(&NodePath) -> Option<Committed>,
    /// The address of the object at a path; `None` if it is not in the file.
    pub(super) address: &'a dyn Fn(&NodePath) -> Option<Address>,
}

/// An object of the file.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and a box would be one for each dataset"
)]
pub(super) enum Made {
    Group(NewObject, LinkOptions),
    Datatype(NewObject, Hdf5Datatype),
    Dataset(Dataset),
    Link(Link),
    /// An object that cannot be read.
    Nothing,
}

/// A dataset and how its elements are written.
pub(super) struct Dataset {
    pub(super) new: NewDataset,
    /// Whether elements that were never written are stored as fill values, because all space is allocated at once.
    pub(super) needs_unwritten: bool,
}

impl Made {
    /// Checks that a file with these options can hold the object.
    ///
    /// # Errors
    /// As [`NewDataset::check`].
    pub(super) fn check(&self, options: &FileOptions) -> Result<()> {
        match self {
            Made::Group(object, _) | Made::Datatype(object, _) => object.check(options),
            Made::Dataset(dataset) => dataset.new.check(options),
            Made::Link(_) | Made::Nothing => Ok(()),
        }
    }
}

impl Objects<'_> {
    /// Converts an object of the model to an object of the file.
    ///
    /// # Errors
    /// If HDF5 cannot store it.
    pub(super) fn made(
        &self,
        path: &NodePath,
        node: &Node,
        facts: Facts,
        losses: &mut dyn Losses,
    ) -> Result<Made> {
        Ok(match node {
            Node::Group(group) => Made::Group(self.object(path, node, losses)?, self.links(group)),
            Node::Datatype(named) => {
                let object = self.object(path, node, losses)?;
                Made::Datatype(object, self.committed(path, named, losses)?.datatype)
            }
            Node::Ndarray(_) | Node::DimCoord(_) => Made::Dataset(self.dataset(path, node, facts, losses)?),
            Node::Link(link) => Made::Link(link.clone()),
            Node::Unreadable(_) => Made::Nothing,
        })
    }

    fn types(&self) -> Types<'_> {
        let file = &self.options.file;
        Types {
            sizes: file.sizes,
            low: file.low,
            high: file.high,
            has_complex: self.options.has_complex,
            committed: self.committed,
        }
    }

    /// The attributes, comment and header of an object.
    fn object(&self, path: &NodePath, node: &Node, losses: &mut dyn Losses) -> Result<NewObject> {
        let mut attributes = Vec::new();
        for (name, attribute) in node.attributes().into_iter().flatten() {
            // An unreadable attribute is noted with the object.
            let Ok(attribute) = attribute else { continue };
            let place = || format!("{path}@{name}");
            match self.attribute(&place, name, attribute, losses).and_then(|one| self.fitting(one)) {
                Ok(attribute) => attributes.push(attribute),
                Err(error) => {
                    let detail = format!("attribute {name:?}: {}", error.detail());
                    losses.note(&lowerings::REFUSED_ATTRIBUTE, place(), Some(detail));
                }
            }
        }
        for (name, attribute) in self.scales.attributes(path, node, &self.options.file.sizes)? {
            let place = || format!("{path}@{name}");
            attributes.push(self.attribute(&place, name, &attribute, losses)?);
        }
        let none = Storage::default();
        let storage = node.storage().unwrap_or(&none);
        let comment = match directive(storage, "comment") {
            Some(Directive::Text(comment)) => Some(name::stored(comment).0),
            _ => None,
        };
        let phase_change = numbers(directive(storage, "attribute_phase_change"))
            .map(|[maximum_compact, minimum_dense]| AttributePhaseChange { maximum_compact, minimum_dense });
        let header = HeaderOptions {
            attribute_order: creation_order(storage, "track_attributes", "index_attributes"),
            attribute_phase_change: phase_change.unwrap_or_default(),
            times: times(storage).filter(|_| self.options.times),
            reference_count: self.uses.reference_count(path),
        };
        Ok(NewObject { header, attributes, comment })
    }

    /// Attributes that tell readers what the elements of an array are, in addition to its own attributes.
    fn told(
        &self,
        path: &NodePath,
        node: &Node,
        told: Vec<(&str, String)>,
        losses: &mut dyn Losses,
    ) -> Result<Vec<NewAttribute>> {
        let is_new = |name: &str| node.attributes().is_none_or(|own| !own.contains_key(name));
        told.into_iter()
            .filter(|(name, _)| is_new(name))
            .map(|(name, text)| self.attribute(&|| format!("{path}@{name}"), name, &of_text(&text), losses))
            .collect()
    }

    /// An attribute, provided that headers of the file can hold it.
    fn fitting(&self, attribute: NewAttribute) -> Result<NewAttribute> {
        if attribute.value.rows.len() < LARGE_ATTRIBUTE {
            return Ok(attribute);
        }
        let alone = NewObject { attributes: vec![attribute], ..NewObject::default() };
        alone.check(&self.options.file)?;
        alone.attributes.into_iter().next().ok_or_else(|| Error::invalid("no attribute"))
    }

    fn attribute(
        &self,
        place: &dyn Fn() -> String,
        name: &str,
        attribute: &Attribute,
        losses: &mut dyn Losses,
    ) -> Result<NewAttribute> {
        let written = self.types().written(&attribute.datatype, &attribute.storage)?;
        note(&written, place, losses);
        let (stored, lowered) = name::attribute(name);
        if let Some(lowered) = lowered {
            losses.note(lowered, place(), None);
        }
        let extent = match attribute.shape.as_deref() {
            None => Hdf5Extent::Null,
            Some([]) => Hdf5Extent::Scalar,
            Some(dims) => Hdf5Extent::Simple { dimensions: dims.to_vec(), maximum: None, permutation: None },
        };
        Ok(NewAttribute {
            character_set: character_set(&stored),
            name: stored,
            datatype: new_datatype(written),
            extent,
            value: self.rows(&attribute.value),
        })
    }

    /// Values whose references contain addresses.
    fn rows(&self, values: &Values) -> Rows<Hdf5Reference> {
        Rows { rows: values.rows.clone(), heap: references::heap(&values.heap, self.address) }
    }

    /// How the links of a group are stored.
    fn links(&self, group: &Group) -> LinkOptions {
        let storage = &group.storage;
        let change = numbers(directive(storage, "link_phase_change"))
            .map(|[maximum_compact, minimum_dense]| LinkPhaseChange { maximum_compact, minimum_dense });
        let estimates = numbers(directive(storage, "link_estimates"))
            .map(|[entries, name_len]| Estimates { entries, name_len });
        LinkOptions {
            creation_order: creation_order(storage, "track_order", "index_order"),
            phase_change: change.unwrap_or_default(),
            estimates: estimates.unwrap_or_default(),
            filters: self.link_filters(group).unwrap_or_default(),
        }
    }

    /// The filters of the heap of links; `None` if there are none.
    ///
    /// # Errors
    /// If they cannot be applied.
    pub(super) fn link_filters(&self, group: &Group) -> Result<Option<FilterPipeline>> {
        let Some(Directive::List(listed)) = directive(&group.storage, "link_filter") else { return Ok(None) };
        let wrong = |of: &Directive| Error::invalid(format!("filter {of:?}, expected a name and parameters"));
        let filter = |of: &Directive| match of {
            Directive::Text(name) => Ok(Filter { name: name.clone(), parameters: Vec::new(), main: true }),
            Directive::Map(map) => match map.as_slice() {
                [(name, Directive::Map(parameters))] => {
                    Ok(Filter { name: name.clone(), parameters: parameters.clone(), main: true })
                }
                _ => Err(wrong(of)),
            },
            _ => Err(wrong(of)),
        };
        let filters: Vec<Filter> = listed.iter().map(filter).collect::<Result<_>>()?;
        // Heap blocks are filtered as bytes.
        let byte = byte()?;
        let chunks = Chunks { datatype: &byte, shape: &[1] };
        let pipeline =
            Filters { filters: &filters, origin: Origin::Asked, change: false, chunks, fill: None }
                .pipeline()?;
        Ok(Some(FilterPipeline {
            version: self.options.file.low.filter_pipeline(),
            filters: pipeline.filters,
        }))
    }

    /// The type of a committed datatype.
    fn committed(&self, path: &NodePath, named: &NamedDatatype, losses: &mut dyn Losses) -> Result<Written> {
        let written = self.types().written(&named.datatype, &named.storage.element)?;
        note(&written, &|| path.to_string(), losses);
        Ok(written)
    }

    /// A dataset: an array, or a dimension with or without coordinates.
    fn dataset(
        &self,
        path: &NodePath,
        node: &Node,
        facts: Facts,
        losses: &mut dyn Losses,
    ) -> Result<Dataset> {
        let place = || path.to_string();
        let mut object = self.object(path, node, losses)?;
        let pure;
        let (shape, datatype, storage): (Cow<'_, Shape>, _, _) = match node {
            Node::DimCoord(dimension) if dimension.datatype.is_none() => {
                pure = pure_dimension(dimension);
                let Ndarray { shape, datatype, storage, .. } = &pure;
                (Cow::Borrowed(shape), datatype.as_ref(), storage)
            }
            Node::DimCoord(dimension) => {
                let shape = node.shape(path).unwrap_or(Shape::Null);
                (Cow::Owned(shape), dimension.datatype.as_ref(), &dimension.storage)
            }
            Node::Ndarray(array) => (Cow::Borrowed(&array.shape), array.datatype.as_ref(), &array.storage),
            _ => return Err(Error::invalid("an object without elements, expected an array")),
        };
        let datatype = datatype.ok_or_else(|| Error::invalid("an array without a datatype"))?;
        let mut written = self.types().written(datatype, &storage.element)?;
        if let Datatype::Datetime(unit) = datatype.resolved() {
            let told = self.told(path, node, of_datetimes(unit), losses)?;
            if !told.is_empty() {
                object.attributes.extend(told);
                written.lowered.iter_mut().for_each(|lowered| *lowered = &lowerings::DATETIME);
            }
        }
        note(&written, &place, losses);
        let extent = extent(&shape);
        let is_extendible = matches!(&extent, Hdf5Extent::Simple { maximum: Some(_), .. });
        let mut layout = lowerings::layout(storage, is_extendible);
        let is_elsewhere = matches!(layout, Layout::Virtual | Layout::External);
        if is_elsewhere && !self.options.keeps_sources {
            losses.note(&lowerings::SOURCES, place(), None);
            layout = if is_extendible { Layout::Chunked } else { Layout::Contiguous };
        }
        let is_plain = matches!(&extent, Hdf5Extent::Simple { .. });
        if !is_plain && layout == Layout::Chunked {
            layout = Layout::Contiguous;
        }
        let size = u64::from(written.datatype.size);
        let chunk = match (&layout, &extent) {
            (Layout::Chunked, Hdf5Extent::Simple { dimensions, maximum, .. }) => {
                let wanted = storage.chunk.as_deref();
                chunk(wanted, dimensions, maximum.as_deref(), size)
            }
            _ => Vec::new(),
        };
        let mut filters = Vec::new();
        if layout == Layout::Chunked && !storage.filters.is_empty() {
            let fill = match &storage.fill {
                Fill::Undefined => None,
                fill => fill_bits(fill),
            };
            let chunks = Chunks { datatype: &written.datatype, shape: &chunk };
            let change = facts.filters_change || !facts.fits_filters;
            let pipeline = Filters { filters: &storage.filters, origin: facts.filters, change, chunks, fill }
                .pipeline()?;
            for (lowered, detail) in &pipeline.lowered {
                losses.note(lowered, place(), Some(detail.clone()));
            }
            filters = pipeline.filters;
        }
        let fill = match &storage.fill {
            Fill::Default => NewFill::Default,
            Fill::Undefined => NewFill::Undefined,
            Fill::Value(value) => NewFill::Value(self.rows(value)),
        };
        let allocation_time = allocation_time(storage, &layout)?;
        let rank = match &extent {
            Hdf5Extent::Simple { dimensions, .. } => dimensions.len(),
            _ => 0,
        };
        let new_layout = match layout {
            Layout::Compact => NewLayout::Compact,
            Layout::Contiguous => NewLayout::Contiguous,
            Layout::Chunked => {
                let unfiltered_edges =
                    matches!(directive(storage, "unfiltered_edges"), Some(Directive::Bool(true)));
                NewLayout::Chunked { shape: chunk, unfiltered_edges }
            }
            Layout::Virtual => NewLayout::Virtual(mappings(storage, rank)?),
            Layout::External => NewLayout::External(segments(storage)?),
        };
        let needs_unwritten = allocation_time == AllocationTime::Early && new_layout.has_elements();
        let new = NewDataset {
            object,
            datatype: new_datatype(written),
            extent,
            layout: new_layout,
            filters,
            fill,
            allocation_time,
            write_time: write_time(storage),
        };
        Ok(Dataset { new, needs_unwritten })
    }
}

fn note(written: &Written, place: &dyn Fn() -> String, losses: &mut dyn Losses) {
    written.lowered.iter().for_each(|lowered| losses.note(lowered, place(), None));
}

fn new_datatype(written: Written) -> NewDatatype {
    NewDatatype { datatype: written.datatype, committed: written.committed }
}

/// A string as an attribute.
fn of_text(text: &str) -> Attribute {
    let slot = Slot::at(0, u32::try_from(text.len()).unwrap_or(u32::MAX), 0);
    let heap = Heap { buffers: vec![text.as_bytes().to_vec().into()], ..Heap::default() };
    let value = Values { rows: slot.to_bytes().to_vec().into(), heap };
    Attribute::new(Vec::new(), Arc::new(Datatype::String(Text::Variable)), value)
}

/// The character set of a name, chosen by the name itself, as h5py does.
pub(super) fn character_set(name: &[u8]) -> CharacterSet {
    if name.is_ascii() { CharacterSet::Ascii } else { CharacterSet::Utf8 }
}

fn extent(shape: &Shape) -> Hdf5Extent {
    let dims = match shape {
        Shape::Null | Shape::Unsaid => return Hdf5Extent::Null,
        Shape::Dims(dims) if dims.is_empty() => return Hdf5Extent::Scalar,
        Shape::Dims(dims) => dims,
    };
    let maximum = dims.iter().any(|dimension| !dimension.extent.is_fixed()).then(|| {
        let max = |extent: &Extent| {
            if extent.is_fixed() { extent.current() } else { extent.max().unwrap_or(UNLIMITED) }
        };
        dims.iter().map(|dimension| max(&dimension.extent)).collect()
    });
    let dimensions = dims.iter().map(|dimension| dimension.extent.current()).collect();
    Hdf5Extent::Simple { dimensions, maximum, permutation: None }
}

/// The shape of a chunk: as requested, but limited by fixed dimensions. Without a request, about 1 MiB.
fn chunk(wanted: Option<&[u64]>, dims: &[u64], maximum: Option<&[u64]>, size: u64) -> Vec<u64> {
    let maximum = maximum.unwrap_or(dims);
    let limits = dims.iter().zip(maximum).map(|(extent, max)| match max {
        // A dataset without elements can have chunks of any size.
        0 => 1,
        &UNLIMITED => UNLIMITED,
        max => (*max).max(*extent),
    });
    let limits: Vec<u64> = limits.collect();
    match wanted {
        Some(wanted) => wanted.iter().zip(&limits).map(|(size, limit)| (*size).clamp(1, *limit)).collect(),
        None => {
            let sides = dims.iter().zip(&limits).map(|(extent, limit)| match *limit {
                UNLIMITED => (*extent).max(MIN_UNLIMITED),
                limit => limit,
            });
            let mut shape: Vec<u64> = sides.collect();
            let bytes =
                |shape: &[u64]| shape.iter().fold(size.max(1), |bytes, side| bytes.saturating_mul(*side));
            while bytes(&shape) > MAX_CHUNK {
                let Some(longest) = shape.iter_mut().max().filter(|side| **side > 1) else { break };
                *longest = longest.div_ceil(2);
            }
            shape
        }
    }
}

fn mappings(storage: &Storage, rank: usize) -> Result<Vec<VirtualMapping>> {
    let Some(listed) = directive(storage, "mappings") else { return Ok(Vec::new()) };
    let mapping = |of: crate::format::hdf5::mapping::AskedMapping| VirtualMapping {
        file: name::stored(&of.file).0,
        dataset: name::stored(&of.dataset).0,
        source_selection: of.there,
        virtual_selection: of.here,
    };
    Ok(read_mappings(listed, rank)?.into_iter().map(mapping).collect())
}

fn segments(storage: &Storage) -> Result<Vec<ExternalSegment>> {
    let listed = directive(storage, "external")
        .ok_or_else(|| Error::invalid("external storage without hdf5: external, which lists the files"))?;
    let segment = |of: hyperslab_hdf5::ExternalSegment| ExternalSegment {
        file: name::stored(&of.file).0,
        offset: of.offset,
        len: of.len,
    };
    Ok(read_external(listed)?.into_iter().map(segment).collect())
}

fn creation_order(storage: &Storage, tracked: &str, indexed: &str) -> CreationOrder {
    match (directive(storage, tracked), directive(storage, indexed)) {
        (Some(Directive::Bool(true)), Some(Directive::Bool(false))) => CreationOrder::Tracked,
        (Some(Directive::Bool(true)), _) => CreationOrder::Indexed,
        _ => CreationOrder::Untracked,
    }
}

/// The times stored in the source.
fn times(storage: &Storage) -> Option<Times> {
    let of = |key: &str| match directive(storage, key) {
        Some(Directive::Int(seconds)) => u32::try_from(*seconds).ok(),
        _ => None,
    };
    let modification = of("mtime")?;
    let or = |time: Option<u32>| time.unwrap_or(modification);
    Some(Times { access: or(of("atime")), modification, change: or(of("ctime")), birth: or(of("btime")) })
}

/// The minimum chunk length along an unlimited dimension when none was requested.
const MIN_UNLIMITED: u64 = 1024;

/// The maximum size of a chunk in bytes when none was requested.
const MAX_CHUNK: u64 = 1 << 20;

/// Attributes with fewer bytes than this fit into every header.
const LARGE_ATTRIBUTE: usize = 32 << 10;
