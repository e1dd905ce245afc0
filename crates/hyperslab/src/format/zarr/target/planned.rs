//! What an array of the model is in Zarr: its definition, how elements are lowered, what is kept in a record.

mod fill;

use super::{
    ARRAY_TYPE, BYTE_ORDER, DOMAIN, ENUM, FILTERS, INNER_NAMED_TYPE, LAYOUT, MASKED_FILL, MISSING,
    NAMED_TYPE, NESTED, NOT_UNICODE, NULL_SPACE, ORDER, OTHER_TYPE, OUTER_DIMENSION, PADDING, PRECISION,
    REFERENCES, REFUSED, SEQUENCE, SHARDS, SHORT, SPACES, UNCOUNTED, UNDEFINED_FILL, UNLIMITED, UNNAMED,
    UNSETTLED, attributes, keep,
};
use crate::format::zarr::attribute::FILL_VALUE;
use crate::format::zarr::datatype::datatype as stored_datatype;
use crate::format::zarr::lowering::Lowering;
use crate::format::zarr::{filter, record};
use crate::target::{Facts, Filters, Growing, Losses, TargetOptions};
use fill::{empty_row, fill_row};
use hyperslab_codec::Fidelity;
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{
    Attributes, ByteOrder, Datatype, Dimension, Directive, ElementStorage, Elements, Extent, Fill, Filter,
    Layout, Node, NodePath, Order, Shape, Storage, Text, Values,
};
use hyperslab_zarr::Array;
use hyperslab_zarr::data_type::{self as zarr, DataType, StructForm};
use hyperslab_zarr::hierarchy::{self as zarr_hierarchy, Metadata};
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::store::Key;
use hyperslab_zarr::write::{ArrayDefinition, Version, WrittenCodec};
use std::sync::Arc;

/// An array ready to be begun.
pub(super) struct Planned {
    pub(super) definition: ArrayDefinition,
    pub(super) lowering: Lowering,
    /// How long the array is, where it is stored at the length of its dimensions.
    pub(super) own: Option<Vec<u64>>,
    /// Whether chunks are written that the source has not.
    pub(super) wants_all: bool,
}

/// What a node says of its elements.
struct Described<'n> {
    path: &'n NodePath,
    shape: Shape,
    datatype: &'n Arc<Datatype>,
    storage: &'n Storage,
    attributes: &'n Attributes,
    is_dimcoord: bool,
}

impl Planned {
    /// Plans an array or a dimension coordinate, and notes what of it Zarr does not hold as it is.
    ///
    /// # Errors
    /// If there is no such array in Zarr.
    pub(super) fn new(
        path: &NodePath,
        node: &Node,
        version: Version,
        facts: Facts,
        options: &TargetOptions,
        growing: &Growing,
        losses: &mut dyn Losses,
    ) -> Result<Planned> {
        let of = Described::new(path, node)?;
        let lowering = Lowering::new(of.datatype, version, facts)?;
        let mut record = Object::new();
        of.record_type(&lowering, facts, &mut record, losses)?;
        let (own, names) = of.record_shape(&mut record, losses);
        let shape = of.record_extents(&own, &lowering, growing, &mut record, losses);
        let own = (own != shape).then_some(own);
        // What is shown behind it is fill.
        let (is_whole, can_fill) = (facts.is_whole && own.is_none(), facts.can_fill && own.is_none());
        let facts = Facts { is_whole, can_fill, ..facts };
        // xarray opens no group of version 2 in which an array has no such list.
        let is_scalar = shape.is_empty() && lowering.trailing.is_empty() && version == Version::V2;
        let names = names.or_else(|| is_scalar.then(Vec::new));
        let names = names.map(|names| {
            let trailing = lowering.trailing.iter().map(|_| None);
            of.all_named(names.into_iter().chain(trailing).collect(), version, &mut record, losses)
        });
        let marker = of.marker(&lowering).filter(|_| version == Version::V2);
        let hides_fill = of.hides_fill(&lowering, marker.as_ref(), version, facts);
        let wants_all = hides_fill && !facts.is_whole;
        if hides_fill {
            of.record_fill(&lowering, marker.is_some(), &mut record, losses)?;
        } else if version == Version::V2 && own.is_none() && of.is_masked(&lowering, marker.as_ref(), facts) {
            losses.note(&MASKED_FILL, path.to_string(), None);
        }
        of.record_domain(&mut record, losses)?;
        let coded = (version == Version::V3).then_some(&lowering.data_type);
        let mut attributes = attributes::visible(path, of.attributes, coded, losses)?;
        if let (Some(data_type), true) = (coded, facts.fill_is_missing)
            && let Some(json) = of.missing(data_type, &lowering)?
        {
            attributes.insert(FILL_VALUE, json);
            record.insert("missing", Json::Bool(true));
            losses.note(&MISSING, path.to_string(), None);
        }
        keep(&mut attributes, record);

        let inner = |shape: &[u64]| -> Vec<u64> {
            let within = shape.iter().map(|size| (*size).max(1));
            within.chain(lowering.trailing.iter().copied()).collect()
        };
        let stored_shape: Vec<u64> = shape.iter().copied().chain(lowering.trailing.iter().copied()).collect();
        let mut definition = ArrayDefinition::new(stored_shape, lowering.data_type.clone());
        definition = definition.attributes(attributes).struct_form(struct_form(options)?);
        definition = match (&of.storage.chunk, shape.len()) {
            (Some(chunk), rank) if chunk.len() == rank => definition.chunks(inner(chunk)),
            _ if of.is_chunked() => definition,
            (_, _) => definition.chunks(inner(&shape)),
        };
        match &of.storage.shard {
            Some(_) if version == Version::V2 => losses.note(&SHARDS, path.to_string(), None),
            Some(shard) => definition = definition.shards(inner(shard)),
            None => {}
        }
        if matches!(
            of.storage.layout,
            Some(Layout::Compact | Layout::Contiguous | Layout::External | Layout::Virtual)
        ) {
            losses.note(&LAYOUT, path.to_string(), None);
        }
        if let Some(names) = names.filter(|names| version == Version::V2 || !names.is_empty()) {
            definition = definition.dimension_names(names);
        }
        let order = of.byte_order(losses);
        definition = definition.byte_order(order);
        definition = definition.codecs(match facts.fits_filters {
            true => of.or_usual(of.codecs(&lowering.data_type, order, facts), facts, losses)?,
            false => {
                let what = format!("{}, which not all elements pass", of.filters_as_told());
                losses.note(&REFUSED, path.to_string(), Some(what));
                vec![usual()]
            }
        });
        if let Some(order) = of.transpose() {
            let last = order.len()..order.len() + lowering.trailing.len();
            let order: Vec<usize> = order.into_iter().chain(last).collect();
            match version == Version::V3 || order.iter().rev().is_sorted() {
                true => definition = definition.transpose(order),
                false => losses.note(&ORDER, path.to_string(), None),
            }
        }
        definition = match &of.storage.fill {
            _ if hides_fill && version == Version::V2 => match marker {
                Some(Some(row)) if definition.clone().fill(row.clone()).documents(version).is_ok() => {
                    definition.fill(row).store_fill()
                }
                Some(None) => definition.store_fill(),
                _ => definition.undefined_fill(),
            },
            _ if hides_fill => definition,
            Fill::Default => definition,
            Fill::Undefined => match empty_row(&lowering, of.datatype)? {
                None if version == Version::V2 => definition.undefined_fill(),
                row => {
                    losses.note(&UNDEFINED_FILL, path.to_string(), None);
                    row.into_iter().fold(definition, ArrayDefinition::fill)
                }
            },
            Fill::Value(value) => match fill_row(&lowering, value)? {
                Some(row) => definition.fill(row),
                None => definition,
            },
        };
        // Refused here, what cannot be written is known before anything is.
        let metadata = definition.documents(version)?.metadata;
        let limits = Limits::of_any_size();
        match Array::new(&zarr_node(metadata), &limits).map(|array| array.fidelity()) {
            Ok(Fidelity::Exact) => {}
            // The fill behind a shorter array would change its last elements.
            Ok(Fidelity::Settled)
                if facts.filters == Filters::Passed && own.is_none() && of.is_settled(facts) => {}
            Ok(_) if facts.filters == Filters::Passed => {
                losses.note(&UNSETTLED, path.to_string(), Some(of.filters_as_told()));
                definition = definition.codecs(vec![usual()]);
            }
            Ok(_) => losses.note(&PRECISION, path.to_string(), Some(of.filters_as_told())),
            Err(error) => {
                let refused = Err((of.filters_as_told(), error));
                definition = definition.codecs(of.or_usual(refused, facts, losses)?);
            }
        }
        Ok(Planned { definition, lowering, own, wants_all })
    }
}

impl<'n> Described<'n> {
    fn new(path: &'n NodePath, node: &'n Node) -> Result<Self> {
        let (Some(shape), Some(storage), Some(attributes)) =
            (node.shape(path), node.storage(), node.attributes())
        else {
            return Err(Error::invalid("is no array"));
        };
        let datatype = node.datatype().ok_or_else(|| Error::invalid("an array without a type"))?;
        let is_dimcoord = matches!(node, Node::DimCoord(_));
        Ok(Described { path, shape, datatype, storage, attributes, is_dimcoord })
    }

    fn place(&self) -> String {
        self.path.to_string()
    }

    fn record_type(
        &self,
        lowering: &Lowering,
        facts: Facts,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> Result<()> {
        let datatype = self.datatype.resolved();
        let (seen, _) = stored_datatype(&lowering.data_type, None)?;
        let has_tag = matches!(datatype, Datatype::Opaque { tag, .. } if !tag.is_empty());
        let is_told =
            lowering.trailing.is_empty() && seen.same_content(datatype) && !has_tag && facts.can_pad;
        let named = match &**self.datatype {
            Datatype::Named(path, _) => Some(path),
            _ => None,
        };
        if record::has_named(datatype) {
            losses.note(&INNER_NAMED_TYPE, self.place(), None);
        }
        if is_told && named.is_none() {
            if lowering.pads() {
                losses.note(&PADDING, self.place(), None);
            }
            return Ok(());
        }
        record.insert("type", record::datatype_json(lowering.padded().resolved())?);
        if let Some(path) = named {
            record.insert("named", path.as_str().into());
            losses.note(&NAMED_TYPE, self.place(), Some(format!("committed datatype {path}")));
        }
        if is_told {
            return Ok(());
        }
        let lowered = match datatype {
            Datatype::Enum { .. } => &ENUM,
            Datatype::String(Text::Variable) if !facts.is_unicode => &NOT_UNICODE,
            Datatype::Vlen(base) if !base.has_slots() => &SEQUENCE,
            Datatype::ObjRef | Datatype::RegRef | Datatype::Reference => &REFERENCES,
            of if of.has_slots() => &NESTED,
            Datatype::Array { .. } => &ARRAY_TYPE,
            _ if !facts.can_pad => &SPACES,
            _ => &OTHER_TYPE,
        };
        let detail = match lowered.what {
            what if what == OTHER_TYPE.what => Some(format!("type {datatype}")),
            _ => None,
        };
        losses.note(lowered, self.place(), detail);
        Ok(())
    }

    /// What coordinates a dimension can have.
    fn record_domain(&self, record: &mut Object, losses: &mut dyn Losses) -> Result<()> {
        let json = |values: &Values| {
            let items = Elements::new(self.datatype, values).map(|one| {
                Json::parse("record", hyperslab_ndl::json(one).as_bytes(), &Limits::of_any_size())
            });
            items.collect::<Result<Vec<_>>>()
        };
        if let Some(domain) = &self.storage.domain {
            record.insert("domain", Json::Array(json(domain)?));
        }
        if let Some(tile) = &self.storage.tile {
            record.insert("tile", json(tile)?.into_iter().next().unwrap_or(Json::Null));
        }
        if self.storage.domain.is_some() || self.storage.tile.is_some() {
            losses.note(&DOMAIN, self.place(), None);
        }
        Ok(())
    }

    /// The current extents, and the names of dimensions if any has one.
    fn record_shape(
        &self,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> (Vec<u64>, Option<Vec<Option<String>>>) {
        let dims = match &self.shape {
            Shape::Null => {
                record.insert("shape", Json::Null);
                losses.note(&NULL_SPACE, self.place(), None);
                return (vec![0], None);
            }
            shape => shape.dims(),
        };
        if dims.iter().any(|dimension| !dimension.extent.is_fixed()) {
            let maximum = |dimension: &Dimension| match dimension.extent {
                Extent::Fixed(max) | Extent::Limited { max, .. } => max.into(),
                Extent::Unlimited { .. } | Extent::Uncounted => Json::Null,
            };
            record.insert("maximum", Json::Array(dims.iter().map(maximum).collect()));
            let is_uncounted = dims.iter().any(|dimension| dimension.extent == Extent::Uncounted);
            losses.note(if is_uncounted { &UNCOUNTED } else { &UNLIMITED }, self.place(), None);
        }
        let parent = self.path.parent().unwrap_or_else(NodePath::root);
        let is_own = |path: &NodePath| path.parent().as_ref() == Some(&parent);
        let outer =
            dims.iter().filter_map(|dimension| dimension.coordinate.as_ref()).find(|path| !is_own(path));
        if let Some(outer) = outer {
            record.insert("dimensions", self.dimension_paths());
            losses.note(&OUTER_DIMENSION, self.place(), Some(format!("dimension {outer}")));
        }
        let name = |dimension: &Dimension| Some(dimension.coordinate.as_ref()?.name().to_owned());
        let names: Vec<_> = dims.iter().map(name).collect();
        let names = match names.iter().any(Option::is_some) || names.is_empty() {
            true => Some(names),
            false => self.native_names(dims.len()),
        };
        let owns = matches!(names.as_deref(), Some([Some(name)]) if name == self.path.name());
        if owns != self.is_dimcoord && outer.is_none() {
            record.insert("kind", if self.is_dimcoord { "dimcoord" } else { "ndarray" }.into());
        }
        let extents = dims.iter().map(|dimension| dimension.extent.current()).collect();
        (extents, names)
    }

    /// The extents that are stored: those of the dimensions, which readers want all arrays along one to agree on.
    fn record_extents(
        &self,
        own: &[u64],
        lowering: &Lowering,
        growing: &Growing,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> Vec<u64> {
        let dims = self.shape.dims();
        // A fill value that Zarr cannot have cannot be shown behind it either.
        let is_shown =
            !matches!(&self.storage.fill, Fill::Value(value) if fill_row(lowering, value).is_err());
        let full = if dims.is_empty() || !is_shown { own.to_vec() } else { growing.full(dims) };
        if full != own {
            record.insert("extents", Json::Array(own.iter().map(|extent| (*extent).into()).collect()));
            losses.note(&SHORT, self.place(), None);
        }
        full
    }

    /// Version 2 has names for all dimensions or for none: others are made up, and a record says which are not.
    fn all_named(
        &self,
        names: Vec<Option<String>>,
        version: Version,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> Vec<Option<String>> {
        if version == Version::V3 || names.iter().all(Option::is_some) {
            return names;
        }
        losses.note(&UNNAMED, self.place(), None);
        record.insert("dimensions", self.dimension_paths());
        let name = |(at, name): (usize, Option<String>)| name.or_else(|| Some(format!("dim_{at}")));
        names.into_iter().enumerate().map(name).collect()
    }

    fn dimension_paths(&self) -> Json {
        let path = |dimension: &Dimension| match &dimension.coordinate {
            Some(path) => path.as_str().into(),
            None => Json::Null,
        };
        Json::Array(self.shape.dims().iter().map(path).collect())
    }

    /// Names of dimensions that are no dimension coordinates, which Zarr alone has.
    fn native_names(&self, rank: usize) -> Option<Vec<Option<String>>> {
        let Directive::List(names) = self.native("dimension_names")? else { return None };
        let name = |name: &Directive| match name {
            Directive::Text(name) => Some(name.clone()),
            _ => None,
        };
        Some(names.iter().map(name).collect::<Vec<_>>()).filter(|names| names.len() == rank)
    }

    /// The order of dimensions in which chunks are stored, if it is another.
    fn transpose(&self) -> Option<Vec<usize>> {
        let rank = self.shape.dims().len();
        if self.storage.order == Some(Order::ColumnMajor) {
            return Some((0..rank).rev().collect());
        }
        let filter = self.storage.filters.iter().find(|filter| filter.name == TRANSPOSE)?;
        let (_, Directive::List(order)) = filter.parameters.first()? else { return None };
        let place = |place: &Directive| match place {
            Directive::Int(place) => usize::try_from(*place).ok(),
            _ => None,
        };
        order.iter().map(place).collect::<Option<Vec<_>>>().filter(|order| order.len() == rank)
    }

    fn native(&self, key: &str) -> Option<&Directive> {
        let (_, directives) = self.storage.native.iter().find(|(format, _)| *format == "zarr")?;
        directives.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether it is cut into chunks wherever it says so or not: what is small is one chunk.
    fn is_chunked(&self) -> bool {
        self.storage.chunk.is_none() && self.shape.current().is_some_and(|shape| !shape.is_empty())
    }

    fn byte_order(&self, losses: &mut dyn Losses) -> zarr::ByteOrder {
        let mut orders = Vec::new();
        push_orders(&self.storage.element, &mut orders);
        match (orders.contains(&ByteOrder::Big), orders.iter().any(|order| *order != ByteOrder::Big)) {
            (true, false) => zarr::ByteOrder::Big,
            (big, _) => {
                if big || orders.contains(&ByteOrder::Vax) {
                    losses.note(&BYTE_ORDER, self.place(), None);
                }
                zarr::ByteOrder::Little
            }
        }
    }

    /// What chunks pass: the filters of the array. What Zarr does not have is named, with why.
    fn codecs(&self, data_type: &DataType, order: zarr::ByteOrder, facts: Facts) -> Codecs {
        let mut codecs = Vec::with_capacity(self.storage.filters.len());
        for of in &self.storage.filters {
            let checked = if facts.filters == Filters::Passed { Ok(()) } else { filter::check(of) };
            let codec = match of.name.as_str() {
                TRANSPOSE => checked.map(|()| None),
                _ => checked.and_then(|()| filter::written(of, data_type, order)),
            };
            // None for one that does nothing to these elements.
            codecs.extend(codec.map_err(|error| (format!("filter {}", as_told(of)), error))?);
        }
        Ok(codecs)
    }

    /// What chunks pass instead of filters that Zarr does not have, unless somebody asked for these.
    fn or_usual(&self, codecs: Codecs, facts: Facts, losses: &mut dyn Losses) -> Result<Vec<WrittenCodec>> {
        match codecs {
            Ok(codecs) => Ok(codecs),
            Err((of, error)) if facts.filters == Filters::Asked => {
                Err(Error::invalid(format!("{of}: {}", error.detail())))
            }
            Err((of, _)) => {
                losses.note(&FILTERS, self.place(), Some(of));
                Ok(vec![usual()])
            }
        }
    }

    /// What says to readers of version 3 that the fill value counts as missing, as it does where it is from.
    fn missing(&self, of: &DataType, lowering: &Lowering) -> Result<Option<Json>> {
        let size = self.datatype.row_size().unwrap_or(0);
        let value = match &self.storage.fill {
            _ if !lowering.is_identity() || self.attributes.contains_key(FILL_VALUE) => return Ok(None),
            Fill::Value(value) => value.clone(),
            Fill::Default => Values { rows: vec![0; size].into(), ..Values::default() },
            Fill::Undefined => return Ok(None),
        };
        attributes::missing(of, self.datatype, value)
    }

    /// Whether elements that have passed the filters once stay as they are: all of them have.
    fn is_settled(&self, facts: Facts) -> bool {
        let is_zero = match &self.storage.fill {
            Fill::Value(value) => value.rows.iter().all(|byte| *byte == 0),
            Fill::Default | Fill::Undefined => true,
        };
        facts.is_whole || is_zero
    }

    fn filters_as_told(&self) -> String {
        let names: Vec<_> = self.storage.filters.iter().map(as_told).collect();
        let s = if names.len() == 1 { "" } else { "s" };
        format!("filter{s} {}", names.join(", "))
    }
}

/// Codecs, or the filter that is none and why.
type Codecs = Result<Vec<WrittenCodec>, (String, Error)>;

/// NDL's name of a filter, or the name that Zarr has where NDL has none.
fn as_told(filter: &Filter) -> &str {
    match filter.parameters.first() {
        Some((key, Directive::Text(name))) if filter.name == "zarr" && key == "name" => name,
        _ => &filter.name,
    }
}

fn zarr_node(metadata: Metadata) -> zarr_hierarchy::Node {
    zarr_hierarchy::Node { path: Key::root(), metadata }
}

/// What chunks pass instead of filters that Zarr does not have.
fn usual() -> WrittenCodec {
    hyperslab_codec::Zstd { level: 3, checksum: false }.into()
}

/// NDL's name of the filter that turns dimensions.
const TRANSPOSE: &str = "transpose";

fn push_orders(of: &ElementStorage, orders: &mut Vec<ByteOrder>) {
    orders.extend(of.endian);
    for (_, member) in &of.members {
        push_orders(member, orders);
    }
}

fn struct_form(options: &TargetOptions) -> Result<StructForm> {
    match options.value("zarr.struct") {
        None | Some("registered") => Ok(StructForm::Registered),
        Some("seed") => Ok(StructForm::Seed),
        Some("legacy") => Ok(StructForm::Legacy),
        Some(other) => {
            Err(Error::invalid(format!("zarr.struct={other}, expected registered, seed or legacy")))
        }
    }
}
