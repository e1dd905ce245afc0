//! Converts the storage of arrays to NDL directives and native Zarr directives.

use super::datatype::{is_lossless, utf32_spans};
use super::{datatype, elements};
use crate::filter::Elements;
use crate::format::zarr::directive::{directive, directives, sizes};
use crate::format::zarr::filter;
use hyperslab_core::Result;
use hyperslab_model::{Directive, Fill, Filter, Layout, Order, Storage};
use hyperslab_zarr::data_type::{ByteOrder, DataType, TypeForm};
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::metadata::v2::{self, CodecConfiguration};
use hyperslab_zarr::metadata::{ChunkGrid, ChunkKeyEncoding, Extension, Separator, v3};
use hyperslab_zarr::record;

/// The storage of a version 3 array. `longest` are its maximum extents. Its record counts as a member only if `is_raw`.
pub(in crate::format::zarr) fn of_v3(
    array: &v3::ArrayMetadata,
    longest: &[u64],
    is_raw: bool,
) -> Result<Storage> {
    let (_, element) = datatype::datatype(&array.data_type, array.byte_order)?;
    let mut storage = Storage { element, layout: Some(Layout::Chunked), ..Storage::default() };
    let mut native = Vec::new();
    note_type(&array.data_type, array.data_type.json(), array.byte_order, &mut native);
    let mut grid = None;
    match &*array.chunk_grid {
        ChunkGrid::Regular { chunk_shape } => grid = Some(chunk_shape.clone()),
        ChunkGrid::Rectilinear { .. } => native.push(("chunk_grid", directive(array.chunk_grid.json()))),
    }
    let keys = *array.chunk_key_encoding;
    if keys != ChunkKeyEncoding::Default(Separator::Slash) {
        native.push(("chunk_key_encoding", directive(array.chunk_key_encoding.json())));
    }
    // Codecs receive elements in memory order; the codec `bytes` sets the byte order later.
    let elements = hyperslab_zarr::codec::elements(&array.data_type, ByteOrder::Little);
    let shape = longest;
    match (shape.is_empty(), sharding(&array.codecs)) {
        // In NDL, scalars have neither chunks nor filters.
        (true, _) => {
            if !array.codecs.iter().all(is_plain) {
                native.push(("codecs", codecs(&array.codecs)));
            }
        }
        (_, None) => {
            storage.filters = filters(&array.codecs, &elements);
            storage.chunk = grid.map(|chunk| within("chunk_shape", chunk, shape, &mut native));
        }
        (_, Some((shard, inner, chunk))) => {
            let others: Vec<_> =
                array.codecs.iter().filter(|codec| codec.name != SHARDING).cloned().collect();
            storage.shard = grid.map(|shard| within("shard_shape", shard, shape, &mut native));
            match sharding(&inner) {
                // For nested shards, NDL can express only the outermost and the innermost level.
                Some(_) => {
                    native.push(("codecs", codecs(&array.codecs)));
                    let (innermost, chunk) = innermost(inner, chunk);
                    storage.filters = filters(&innermost, &elements);
                    storage.chunk = Some(within("chunk_shape", chunk, shape, &mut native));
                }
                None => {
                    if !others.is_empty() {
                        native.push(("codecs", codecs(&others)));
                    }
                    note_index(shard, &mut native);
                    storage.filters = filters(&inner, &elements);
                    storage.chunk = Some(within("chunk_shape", chunk, shape, &mut native));
                }
            }
        }
    }
    storage.fill = fill(&array.data_type, Some(array.fill_value.as_slice()))?;
    if let Some(transformers) = array.storage_transformers.as_ref().filter(|list| !list.is_empty()) {
        native.push(("storage_transformers", codecs(transformers)));
    }
    let is_shown = |name: &str| is_raw || name != record::MEMBER;
    let shown = array.unknown.iter().filter(|(name, _)| is_shown(name));
    let shown = shown.map(|(name, json)| (name.to_owned(), json.clone())).collect();
    note_unknown(&shown, &mut native);
    put(native, &mut storage)?;
    Ok(storage)
}

/// The storage of a version 2 array. `longest` are its maximum extents.
pub(in crate::format::zarr) fn of_v2(array: &v2::ArrayMetadata, longest: &[u64]) -> Result<Storage> {
    let (_, element) = datatype::datatype(&array.dtype.data_type, array.dtype.byte_order)?;
    let mut storage = Storage { element, layout: Some(Layout::Chunked), ..Storage::default() };
    let mut native = Vec::new();
    let lossless = is_lossless(&array.dtype.data_type);
    if !lossless || array.dtype.emit().ok().as_ref() != Some(array.dtype.json()) {
        native.push(("dtype", directive(array.dtype.json())));
    }
    if let Some(Separator::Slash) = array.dimension_separator {
        native.push(("dimension_separator", Directive::Text(Separator::Slash.text().into())));
    }
    let order = array.dtype.byte_order.unwrap_or(ByteOrder::Little);
    let elements = hyperslab_zarr::codec::elements(&array.dtype.data_type, order);
    let is_filter = |codec: &&CodecConfiguration| !["vlen-utf8", "vlen-bytes"].contains(&codec.id.as_str());
    let steps = array.filters.iter().flatten().filter(is_filter).chain(&array.compressor);
    let steps: Vec<_> = steps.map(|codec| filter::numcodecs(codec, &elements)).collect();
    match array.shape.is_empty() {
        true if steps.is_empty() => {}
        true => native.push(("filter", Directive::List(steps.iter().map(as_directive).collect()))),
        false => {
            storage.filters = steps;
            storage.chunk = Some(within("chunks", array.chunks.clone(), longest, &mut native));
        }
    }
    if array.order == v2::Order::F && array.shape.len() > 1 {
        storage.order = Some(Order::ColumnMajor);
    }
    storage.fill = fill(&array.dtype.data_type, array.fill_value.as_ref().map(|value| value.as_slice()))?;
    note_unknown(&array.unknown, &mut native);
    put(native, &mut storage)?;
    Ok(storage)
}

/// The storage of a group.
pub(in crate::format::zarr) fn of_group(unknown: Option<&Object>, is_consolidated: bool) -> Result<Storage> {
    let mut storage = Storage::default();
    let mut native = Vec::new();
    if is_consolidated {
        native.push(("consolidated", Directive::Bool(true)));
    }
    if let Some(unknown) = unknown {
        note_unknown(unknown, &mut native);
    }
    put(native, &mut storage)?;
    Ok(storage)
}

/// Removes directives that contradict changed chunks, shards or filters.
pub(in crate::format::zarr) fn clear_layout_directives(
    directives: &mut Vec<(String, Directive)>,
    cut: bool,
    filtered: bool,
) {
    directives.retain(|(key, _)| match key.as_str() {
        "chunk_grid" | "chunk_shape" | "chunks" | "shard_shape" => !cut,
        // For nested shards, the codecs contain their shapes.
        "codecs" | "filter" => !cut && !filtered,
        _ => true,
    });
}

/// The fill value. Zeros are the default.
fn fill(data_type: &DataType, value: Option<&[u8]>) -> Result<Fill> {
    let Some(value) = value else { return Ok(Fill::Undefined) };
    let is_nothing = match data_type {
        DataType::String | DataType::Bytes => value.is_empty(),
        _ => value.iter().all(|byte| *byte == 0),
    };
    if is_nothing {
        return Ok(Fill::Default);
    }
    let spans = utf32_spans(data_type)?;
    Ok(Fill::Value(elements::one(data_type, value.to_vec(), &spans)?))
}

fn put(native: Vec<(&str, Directive)>, storage: &mut Storage) -> Result<()> {
    if !native.is_empty() {
        storage.native_mut("zarr")?.extend(native.into_iter().map(|(key, value)| (key.to_owned(), value)));
    }
    Ok(())
}

/// Adds the data type of the document, unless the datatype of the model would be written in the same way.
fn note_type(
    data_type: &DataType,
    json: &Json,
    order: Option<ByteOrder>,
    native: &mut Vec<(&str, Directive)>,
) {
    let written = data_type.emit(TypeForm::Registered, order.unwrap_or(ByteOrder::Little));
    if !is_lossless(data_type) || written.ok().as_ref() != Some(json) {
        native.push(("data_type", directive(json)));
    }
}

/// Adds members of a document that the specification does not define.
fn note_unknown(unknown: &Object, native: &mut Vec<(&str, Directive)>) {
    let members = directives(unknown);
    // zarr-python writes null for missing values.
    let members: Vec<_> = members.into_iter().filter(|(_, value)| *value != Directive::Null).collect();
    if !members.is_empty() {
        native.push(("members", Directive::Map(members)));
    }
}

/// Adds unusual properties of the shard index.
fn note_index(shard: &Object, native: &mut Vec<(&str, Directive)>) {
    if let Some(location) = shard.get("index_location").filter(|location| location.as_str() != Some("end")) {
        native.push(("index_location", directive(location)));
    }
    let Some(Json::Array(index)) = shard.get("index_codecs") else { return };
    let names: Vec<_> = index.iter().map(codec_name).collect();
    let little = index.first().is_some_and(|codec| {
        let configuration = codec.as_object().and_then(|codec| codec.get("configuration"));
        let endian = configuration.and_then(Json::as_object).and_then(|members| members.get("endian"));
        endian.and_then(Json::as_str) == Some("little")
    });
    if names != [Some("bytes"), Some("crc32c")] || !little {
        native.push(("index_codecs", Directive::List(index.iter().map(directive).collect())));
    }
}

fn codec_name(json: &Json) -> Option<&str> {
    json.as_str().or_else(|| json.as_object()?.get("name")?.as_str())
}

/// The chunk shape for NDL: at most the maximum extents, at least 1. The stored shape is kept under `key` if it
/// differs.
fn within(
    key: &'static str,
    stored: Vec<u64>,
    shape: &[u64],
    native: &mut Vec<(&str, Directive)>,
) -> Vec<u64> {
    let fit = |(chunk, extent): (&u64, &u64)| match extent {
        0 => (*chunk).max(1),
        extent => (*chunk).clamp(1, *extent),
    };
    let fitting: Vec<_> = stored.iter().zip(shape).map(fit).collect();
    if fitting != stored {
        native.push((key, sizes(&stored)));
    }
    fitting
}

/// The configuration of the sharding codec, its codecs and its chunk shape.
fn sharding(codecs: &[Extension]) -> Option<(&Object, Vec<Extension>, Vec<u64>)> {
    let configuration = codecs.iter().find(|codec| codec.name == SHARDING)?.configuration.as_ref()?;
    let Json::Array(inner) = configuration.get("codecs")? else { return None };
    let inner = inner.iter().map(Extension::of_json).collect::<Option<_>>()?;
    let Json::Array(chunk) = configuration.get("chunk_shape")? else { return None };
    let size = |size: &Json| match size {
        Json::Number(size) => size.as_u64(),
        _ => None,
    };
    Some((configuration, inner, chunk.iter().map(size).collect::<Option<_>>()?))
}

/// The codecs and the chunk shape of the innermost shards.
fn innermost(mut codecs: Vec<Extension>, mut chunk: Vec<u64>) -> (Vec<Extension>, Vec<u64>) {
    while let Some((_, inner, shape)) = sharding(&codecs) {
        (codecs, chunk) = (inner, shape);
    }
    (codecs, chunk)
}

/// The codecs that are filters; those that convert elements to bytes are not.
fn filters(codecs: &[Extension], elements: &Elements) -> Vec<Filter> {
    codecs.iter().filter(|codec| !is_plain(codec)).map(|codec| filter::registered(codec, elements)).collect()
}

/// Whether a codec adds nothing to the datatype and byte order.
fn is_plain(codec: &Extension) -> bool {
    ["bytes", "vlen-utf8", "vlen-bytes"].contains(&codec.name.as_str())
}

fn codecs(codecs: &[Extension]) -> Directive {
    Directive::List(codecs.iter().map(|codec| directive(&codec.emit())).collect())
}

/// A filter as a directive, where filters are not possible.
fn as_directive(filter: &Filter) -> Directive {
    match filter.parameters.as_slice() {
        [] => Directive::Text(filter.name.clone()),
        parameters => Directive::Map(vec![(filter.name.clone(), Directive::Map(parameters.to_vec()))]),
    }
}

const SHARDING: &str = "sharding_indexed";
