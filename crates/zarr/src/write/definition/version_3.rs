//! `zarr.json` of a definition.
//!
//! Spec: Zarr v3 "Array metadata"

use super::chunks::{default_chunks, fitting};
use super::{ArrayDefinition, ArrayDocuments, Chunks, wrong};
use crate::codec::{elements, made, order_of};
use crate::data_type::{ByteOrder, DataType, Dtype, Layout, TypeForm};
use crate::hierarchy::Metadata;
use crate::json::{Json, Object};
use crate::metadata::v3::{self, NodeMetadata};
use crate::metadata::{ChunkGrid, ChunkKeyEncoding, Extension, Separator, Written};
use crate::record;
use crate::write::WrittenCodec;
use hyperslab_core::{Error, Limits, Result};

impl ArrayDefinition {
    pub(super) fn documents_v3(&self) -> Result<ArrayDocuments> {
        let mut warnings = Vec::new();
        let data_type = self.data_type_v3(&mut warnings)?;
        let row = self
            .fill_row()?
            .ok_or_else(|| Error::unsupported("an undefined fill value, which version 3 does not have"))?;
        let (chunk_grid, codecs) = self.grid_and_codecs(&data_type)?;
        let keys = ChunkKeyEncoding::Default(self.separator.unwrap_or(Separator::Slash));
        let fill_value = match (&data_type, self.type_form) {
            // Readers of only the legacy form expect the output of zarr-python 3.1.
            (DataType::Struct(_) | DataType::Raw { .. }, TypeForm::Legacy) => {
                let byte_order = Some(self.byte_order);
                Written::fill_value_v2(&Dtype { data_type: data_type.clone(), byte_order }, row)?
            }
            _ => Written::fill_value(&data_type, row)?,
        };
        let mut unknown = Object::new();
        record::put_member(&self.record, &mut unknown);
        let metadata = v3::ArrayMetadata {
            shape: self.shape.clone(),
            data_type: Written::data_type(data_type, self.type_form, self.byte_order)?,
            chunk_grid,
            chunk_key_encoding: keys.written(),
            fill_value,
            codecs,
            byte_order: Some(self.byte_order),
            attributes: (!self.attributes.is_empty()).then(|| self.attributes.clone()),
            storage_transformers: None,
            dimension_names: self.dimension_names.clone(),
            unknown,
            deviations: Vec::new(),
        };
        let json = NodeMetadata::Array(Box::new(metadata)).emit();
        let understood = NodeMetadata::parse(&json, &Limits::of_any_size()).map_err(wrong)?;
        Ok(ArrayDocuments {
            metadata: Metadata::V3(understood),
            documents: vec![(v3::DOCUMENT, json)],
            warnings,
        })
    }

    /// The type without padding, as version 3 requires. The rows are the same.
    fn data_type_v3(&self, warnings: &mut Vec<String>) -> Result<DataType> {
        let DataType::Struct(structure) = &self.data_type else { return Ok(self.data_type.clone()) };
        match self.type_form {
            TypeForm::Seed => return Ok(self.data_type.clone()),
            TypeForm::Legacy => {
                warnings.push("\"structured\", which is only to be read and not to be written".to_owned());
            }
            TypeForm::Registered => {}
        }
        if structure.fields().iter().any(|field| field.title.is_some()) {
            warnings.push("titles of fields, which \"struct\" does not have".to_owned());
        }
        Ok(DataType::Struct(structure.packed()))
    }

    fn grid_and_codecs(&self, data_type: &DataType) -> Result<(Written<ChunkGrid>, Vec<Extension>)> {
        let codecs = self.codecs_v3(data_type)?;
        let Some(shards) = &self.shards else {
            let grid = match &self.chunks {
                Chunks::Default => ChunkGrid::regular(default_chunks(&self.shape, data_type.row_size())),
                Chunks::Regular(chunk) => ChunkGrid::regular(chunk.clone()),
                Chunks::Rectilinear(edges) => ChunkGrid::rectilinear(edges.clone()),
            };
            return Ok((grid, codecs));
        };
        let chunks = match &self.chunks {
            Chunks::Default => fitting(default_chunks(&self.shape, data_type.row_size()), shards),
            Chunks::Regular(chunk) => chunk.clone(),
            Chunks::Rectilinear(_) => {
                return Err(Error::unsupported(
                    "chunks of several sizes inside shards, which Zarr does not have",
                ));
            }
        };
        for (chunk, shard) in chunks.iter().zip(shards) {
            if *chunk == 0 || !shard.is_multiple_of(*chunk) {
                return Err(Error::invalid(format!(
                    "chunks of {chunks:?} do not divide shards of {shards:?}"
                )));
            }
        }
        let emit = |codecs: &[Extension]| Json::Array(codecs.iter().map(Extension::emit).collect());
        let mut configuration = Object::new();
        configuration.insert("chunk_shape", chunks.as_slice().into());
        configuration.insert("codecs", emit(&codecs));
        let index = [bytes_codec(Some(ByteOrder::Little)), Extension::new("crc32c", None)];
        configuration.insert("index_codecs", emit(&index));
        configuration.insert("index_location", "end".into());
        let sharding = Extension::new("sharding_indexed", Some(configuration));
        Ok((ChunkGrid::regular(shards.clone()), vec![sharding]))
    }

    fn codecs_v3(&self, data_type: &DataType) -> Result<Vec<Extension>> {
        let mut list = Vec::new();
        if let Some(order) = &self.transpose {
            let mut configuration = Object::new();
            let order: Vec<u64> = order.iter().map(|dimension| *dimension as u64).collect();
            configuration.insert("order", order.as_slice().into());
            list.push(Extension::new("transpose", Some(configuration)));
        }
        let codecs = self.codecs_or_default();
        for codec in codecs.iter().filter(|codec| codec.is_of_arrays()) {
            list.push(codec.registered()?);
        }
        let makes_bytes =
            codecs.iter().find(|codec| !codec.is_of_arrays()).is_some_and(WrittenCodec::makes_bytes);
        list.extend(match data_type {
            DataType::String => Some(Extension::new("vlen-utf8", None)),
            DataType::Bytes => Some(Extension::new("vlen-bytes", None)),
            _ if makes_bytes => None,
            data_type => {
                let order = order_before_bytes(&list, data_type).unwrap_or(self.byte_order);
                Some(bytes_codec(Layout::new(data_type, None).is_err().then_some(order)))
            }
        });
        for codec in codecs.iter().filter(|codec| !codec.is_of_arrays()) {
            list.push(codec.registered()?);
        }
        Ok(list)
    }
}

/// The byte order to which the last of these codecs encodes numbers, if it is a codec of numcodecs with types in its
/// parameters. After such a codec, zarr-python ignores the order that `bytes` states, so `bytes` must state the same.
fn order_before_bytes(codecs: &[Extension], data_type: &DataType) -> Option<ByteOrder> {
    let received = elements(data_type, ByteOrder::Little);
    let last = codecs.iter().filter_map(|codec| made(&codec.codec(&received)?)).next_back();
    last.map(|number| order_of(&number))
}

fn bytes_codec(order: Option<ByteOrder>) -> Extension {
    let configuration = order.map(|order| {
        let mut configuration = Object::new();
        configuration.insert("endian", if order == ByteOrder::Little { "little" } else { "big" }.into());
        configuration
    });
    Extension::new("bytes", configuration)
}
