//! Plans an array of the model as a Zarr array: the definition, the lowering of elements, and the record.

mod codecs;
mod dimensions;
mod fill;
mod registered;

use self::dimensions::Dimensions;
use super::lowerings::{
    ARRAY_TYPE, BOOLEAN, COMPLEX, DOMAIN, ENUM, INNER_NAMED_TYPE, LAYOUT, MISSING, NAMED_TYPE, NESTED,
    NOT_UNICODE, OTHER_TYPE, PADDED, PADDING, REFERENCES, SEQUENCE, SHARDS, SPACES, STRUCT, TAGGED_TIME,
    UNCONSOLIDATED,
};
use super::{CONSOLIDATED, SEPARATOR, attributes, has_records, zarr_python};
use crate::format::zarr::keep::lowering::Lowering;
use crate::format::zarr::keep::record;
use crate::format::zarr::read::datatype::datatype as stored_datatype;
use crate::format::zarr::read::shown_storage;
use crate::target::{Facts, Growing, Losses, OptionValue, TargetOptions};
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attributes, Datatype, Directive, Extent, Layout, Node, NodePath, Shape, Storage, Text,
};
use hyperslab_netcdf4::name::FILL_VALUE;
use hyperslab_zarr::data_type::{DataType, TypeForm};
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::metadata::Separator;
use hyperslab_zarr::write::{ArrayDefinition, Version, is_mostly_padding};
use std::sync::Arc;

/// A planned array.
pub(super) struct ArrayPlan {
    pub(super) definition: ArrayDefinition,
    pub(super) lowering: Lowering,
    /// The extents of the array, if it is stored with longer dimensions.
    pub(super) own: Option<Vec<u64>>,
    /// Whether zarr-python can read the type.
    pub(super) fits_zarr_python: bool,
    /// Whether chunks that the source never wrote must be written, because the store has a different fill value.
    pub(super) needs_unwritten: bool,
}

/// The properties that all arrays of a store share.
pub(super) struct Destination<'a> {
    pub(super) version: Version,
    pub(super) options: &'a TargetOptions,
    pub(super) growing: &'a Growing,
    /// The generated names for unnamed dimensions of the array, if all arrays are known.
    pub(super) generated: Option<&'a [Option<String>]>,
}

/// The properties of an array of the model from which it is planned.
struct Described<'n> {
    path: &'n NodePath,
    shape: Shape,
    datatype: &'n Arc<Datatype>,
    storage: &'n Storage,
    attributes: &'n Attributes,
    is_dimcoord: bool,
    /// The length of the dimension of the same name, if the array is not its coordinates.
    beside: Option<Extent>,
    /// The version of Zarr to write.
    version: Version,
    /// How version 3 represents compounds.
    type_form: TypeForm,
    /// Known facts about the elements.
    facts: Facts,
}

impl ArrayPlan {
    /// Plans an array or a dimension coordinate, and notes content that Zarr loses or stores in another form.
    ///
    /// # Errors
    /// If Zarr cannot store the array.
    pub(super) fn new(
        path: &NodePath,
        node: &Node,
        facts: Facts,
        destination: &Destination<'_>,
        losses: &mut dyn Losses,
    ) -> Result<ArrayPlan> {
        let Destination { version, options, .. } = *destination;
        let mut of = Described::new(path, node, destination, facts)?;
        let lowering = Lowering::new(of.datatype, &of.storage.element, version, facts)?;
        let mut record = Object::new();
        of.record_type(&lowering, &mut record, losses)?;
        let Dimensions { shape, own, names } = of.dimensions(&lowering, destination, &mut record, losses);
        of.record_beside(destination.growing, &mut record, losses);
        if own.is_some() {
            // Elements beyond the end of the array are visible and have the fill value.
            of.facts = Facts { is_whole: false, can_fill: false, ..facts };
        }
        let filling = of.filling(&lowering, own.is_some(), &mut record, losses)?;
        let needs_unwritten = filling.is_hidden && !filling.is_implied && !of.facts.is_whole;
        of.record_domain(&mut record, losses)?;
        attributes::record_native(path, of.storage, &mut record, losses);
        let attributes = of.attributes(&lowering, options, &mut record, losses)?;

        let fits_zarr_python = zarr_python::reads(&lowering.data_type, of.version, of.type_form);
        if !fits_zarr_python && options.get(CONSOLIDATED).is_none() {
            losses.note(&UNCONSOLIDATED, of.place(), None);
        }
        let stored: Vec<u64> = shape.iter().chain(&lowering.trailing).copied().collect();
        let definition = ArrayDefinition::new(stored, lowering.data_type.clone());
        let definition = definition.attributes(attributes).record(record).type_form(of.type_form);
        let definition = of.in_chunks(definition, &shape, &lowering, losses);
        let definition = match names {
            Some(names) => definition.dimension_names(names),
            None => definition,
        };
        let definition = match of.separator(options) {
            Some(separator) => definition.separator(separator),
            None => definition,
        };
        let definition = of.encoded(definition, &lowering, losses)?;
        let definition = of.filled(definition, filling, &lowering, losses)?;
        let mut definition = of.settled(definition, &lowering, own.is_some(), losses)?;
        if has_records(options) {
            let node = codecs::zarr_node(definition.documents(version)?.metadata);
            let shown = shown_storage(&node)?;
            if let Some(json) = record::of_array(of.storage, &shown, of.datatype, facts.filters)? {
                definition.record_mut().insert("storage", json);
            }
        }
        Ok(ArrayPlan { definition, lowering, own, fits_zarr_python, needs_unwritten })
    }
}

impl<'n> Described<'n> {
    fn new(path: &'n NodePath, node: &'n Node, destination: &Destination<'_>, facts: Facts) -> Result<Self> {
        let (Some(shape), Some(storage), Some(attributes)) =
            (node.shape(path), node.storage(), node.attributes())
        else {
            return Err(Error::invalid("is not an array"));
        };
        let datatype = node.datatype().ok_or_else(|| Error::invalid("an array without a type"))?;
        let is_dimcoord = matches!(node, Node::DimCoord(_));
        let beside = match node {
            Node::Ndarray(array) => array.dimension,
            _ => None,
        };
        let (version, type_form) = (destination.version, type_form(destination.options, storage)?);
        Ok(Described {
            path,
            shape,
            datatype,
            storage,
            attributes,
            is_dimcoord,
            beside,
            version,
            type_form,
            facts,
        })
    }

    /// The separator in chunk keys: that of the option, otherwise that of a source of this version.
    fn separator(&self, options: &TargetOptions) -> Option<Separator> {
        let stated = match (options.get(SEPARATOR), self.version) {
            (Some(OptionValue::Word(asked)), _) => asked.as_str(),
            (_, Version::V2) => text(self.native("dimension_separator")?)?,
            (_, Version::V3) => {
                let Directive::Map(encoding) = self.native("chunk_key_encoding")? else { return None };
                let Directive::Map(configuration) = member(encoding, "configuration")? else { return None };
                if text(member(encoding, "name")?)? != "default" {
                    return None;
                }
                text(member(configuration, "separator")?)?
            }
        };
        [Separator::Slash, Separator::Dot].into_iter().find(|separator| separator.text() == stated)
    }

    /// The path of the array, for losses.
    fn place(&self) -> String {
        self.path.to_string()
    }

    /// Records the datatype if Zarr stores a different one, and the path of a committed datatype.
    fn record_type(&self, lowering: &Lowering, record: &mut Object, losses: &mut dyn Losses) -> Result<()> {
        let datatype = self.datatype.resolved();
        let (stored_type, _) = stored_datatype(&lowering.data_type, None)?;
        let has_tag = datatype.any(&|of| matches!(of, Datatype::Opaque { tag, .. } if !tag.is_empty()));
        let is_same_type = lowering.trailing.is_empty()
            && stored_type.same_content(datatype)
            && !has_tag
            && self.facts.can_pad;
        let named = match &**self.datatype {
            Datatype::Named(path, _) => Some(path),
            _ => None,
        };
        if record::has_named(datatype) {
            losses.note(&INNER_NAMED_TYPE, self.place(), None);
        }
        let (pads, replaces_spaces) = lowering.pads();
        let is_new = self.version == Version::V3 && self.type_form == TypeForm::Registered;
        if is_new && matches!(lowering.data_type, DataType::Struct(_)) {
            losses.note(&STRUCT, self.place(), None);
        }
        if is_same_type && named.is_none() && !pads {
            return Ok(());
        }
        record.insert("type", record::datatype_json(datatype)?);
        if replaces_spaces {
            record.insert("padded", Json::Bool(true));
        }
        if let Some(path) = named {
            record.insert("named", path.as_str().into());
            losses.note(&NAMED_TYPE, self.place(), Some(format!("committed datatype {path}")));
        }
        let lowered = match datatype {
            _ if is_same_type && pads => &PADDING,
            _ if is_same_type => return Ok(()),
            _ if lowering.data_type == DataType::Bool => &BOOLEAN,
            Datatype::Compound(_) if matches!(lowering.data_type, DataType::Complex(_)) => &COMPLEX,
            Datatype::Opaque { .. } if !matches!(lowering.data_type, DataType::Raw { .. }) => &TAGGED_TIME,
            Datatype::Enum { .. } => &ENUM,
            Datatype::String(Text::Variable) if !self.facts.is_unicode => &NOT_UNICODE,
            Datatype::Vlen(base) if !base.has_slots() => &SEQUENCE,
            Datatype::ObjRef | Datatype::RegRef | Datatype::Reference => &REFERENCES,
            of if of.has_slots() => &NESTED,
            Datatype::Array { .. } => &ARRAY_TYPE,
            _ if !self.facts.can_pad => &SPACES,
            _ => &OTHER_TYPE,
        };
        let detail = match lowered.what {
            what if what == OTHER_TYPE.what => Some(format!("type {datatype}")),
            _ => None,
        };
        losses.note(lowered, self.place(), detail);
        Ok(())
    }

    /// Records the domain and the tile of a dimension.
    fn record_domain(&self, record: &mut Object, losses: &mut dyn Losses) -> Result<()> {
        if let Some(domain) = &self.storage.domain {
            let ends = record::elements_json(self.datatype, domain).collect::<Result<Vec<_>>>()?;
            record.insert("domain", Json::Array(ends));
        }
        if let Some(tile) = &self.storage.tile {
            let size = record::elements_json(self.datatype, tile).next();
            record.insert("tile", size.transpose()?.unwrap_or(Json::Null));
        }
        if self.storage.domain.is_some() || self.storage.tile.is_some() {
            losses.note(&DOMAIN, self.place(), None);
        }
        Ok(())
    }

    /// The attributes that all readers see. The rest is added to the record.
    fn attributes(
        &self,
        lowering: &Lowering,
        options: &TargetOptions,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> Result<Object> {
        let coded = (self.version == Version::V3).then_some(&lowering.data_type);
        let mut attributes = attributes::visible(self.path, self.attributes, coded, options, record, losses)?;
        if let (Some(data_type), true) = (coded, self.facts.fill_is_missing)
            && let Some(json) = self.missing(data_type, lowering)?
        {
            attributes.insert(FILL_VALUE, json);
            record.insert("missing", Json::Bool(true));
            losses.note(&MISSING, self.place(), None);
        }
        Ok(attributes)
    }

    /// Adds the shapes of chunks and shards to the definition.
    fn in_chunks(
        &self,
        definition: ArrayDefinition,
        shape: &[u64],
        lowering: &Lowering,
        losses: &mut dyn Losses,
    ) -> ArrayDefinition {
        let trailing = &lowering.trailing;
        let inner = |shape: &[u64]| -> Vec<u64> {
            shape.iter().map(|size| (*size).max(1)).chain(trailing.iter().copied()).collect()
        };
        let mut chunk = self.storage.chunk.clone().filter(|chunk| chunk.len() == shape.len());
        let mut shard = self.storage.shard.clone();
        if shard.is_some() && self.version == Version::V2 {
            losses.note(&SHARDS, self.place(), None);
            shard = None;
        }
        let row = lowering
            .trailing
            .iter()
            .fold(lowering.data_type.row_size(), |row, count| row.saturating_mul(*count));
        let is_padded = |outer: &Vec<u64>| !shape.contains(&0) && is_mostly_padding(outer, shape, row);
        if shard.as_ref().or(chunk.as_ref()).is_some_and(is_padded) {
            losses.note(&PADDED, self.place(), None);
            for (side, extent) in chunk.iter_mut().flatten().zip(shape) {
                *side = (*side).min(*extent);
            }
            for ((side, chunk), extent) in shard.iter_mut().flatten().zip(chunk.iter().flatten()).zip(shape) {
                *side = (*side).min(extent.div_ceil((*chunk).max(1)).saturating_mul(*chunk));
            }
        }
        let mut definition = match &chunk {
            Some(chunk) => definition.chunks(inner(chunk)),
            _ if self.is_chunked() => definition,
            _ => definition.chunks(inner(shape)),
        };
        if let Some(shard) = &shard {
            definition = definition.shards(inner(shard));
        }
        // Chunks that the array is given are reported as such.
        let is_chunked = matches!(self.storage.layout, None | Some(Layout::Chunked));
        if !is_chunked && chunk.is_none() {
            losses.note(&LAYOUT, self.place(), None);
        }
        definition
    }

    /// Whether the writer chooses the chunk shape: the array has none and is not a scalar. A small array is one chunk.
    fn is_chunked(&self) -> bool {
        self.storage.chunk.is_none() && self.shape.current().is_some_and(|shape| !shape.is_empty())
    }

    /// The value of a storage directive that only Zarr has.
    fn native(&self, key: &str) -> Option<&Directive> {
        native(self.storage, key)
    }
}

fn native<'a>(storage: &'a Storage, key: &str) -> Option<&'a Directive> {
    let (_, directives) = storage.native.iter().find(|(format, _)| *format == "zarr")?;
    member(directives, key)
}

fn member<'a>(map: &'a [(String, Directive)], key: &str) -> Option<&'a Directive> {
    map.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn text(of: &Directive) -> Option<&str> {
    match of {
        Directive::Text(text) => Some(text),
        _ => None,
    }
}

/// Whether the source is an array of `raw_bytes`.
fn is_raw_bytes(storage: &Storage) -> bool {
    let Some(Directive::Map(data_type)) = native(storage, "data_type") else { return false };
    member(data_type, "name").and_then(text) == Some("raw_bytes")
}

/// The form of structs and raw bytes that was requested. An array of `raw_bytes` keeps this form, since zarr-python reads
/// no other.
fn type_form(options: &TargetOptions, storage: &Storage) -> Result<TypeForm> {
    let form = match options.get("zarr.struct") {
        Some(OptionValue::Word(form)) => Some(form.as_str()),
        _ => None,
    };
    match form {
        None if is_raw_bytes(storage) => Ok(TypeForm::Legacy),
        None | Some("registered") => Ok(TypeForm::Registered),
        Some("seed") => Ok(TypeForm::Seed),
        Some("legacy") => Ok(TypeForm::Legacy),
        Some(other) => {
            Err(Error::invalid(format!("zarr.struct={other}, expected registered, seed or legacy")))
        }
    }
}
