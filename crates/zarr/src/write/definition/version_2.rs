//! `.zarray` and `.zattrs` of a definition.
//!
//! Spec: Zarr v2 "Arrays"

use super::chunks::default_chunks;
use super::{ArrayDefinition, ArrayDocuments, Chunks, wrong};
use crate::data_type::{DataType, Dtype};
use crate::hierarchy::Metadata;
use crate::json::{Json, Object};
use crate::metadata::v2::{self, Order};
use crate::metadata::{Separator, Written};
use crate::record;
use crate::write::WrittenCodec;
use hyperslab_core::{Error, Limits, Result};

impl ArrayDefinition {
    pub(super) fn documents_v2(&self) -> Result<ArrayDocuments> {
        if self.shards.is_some() {
            return Err(Error::unsupported("shards, which version 2 does not have"));
        }
        let chunks = match &self.chunks {
            Chunks::Default => default_chunks(&self.shape, self.data_type.row_size()),
            Chunks::Regular(chunk) => chunk.clone(),
            Chunks::Rectilinear(_) => {
                return Err(Error::unsupported("chunks of several sizes, which version 2 does not have"));
            }
        };
        let dtype = self.dtype_v2();
        let fill_value = match self.fill_row()? {
            Some(row) => Some(Written::fill_value_v2(&dtype, row)?),
            None => None,
        };
        if let Some(bits) = fill_value.as_ref().and_then(|value| bits_in(value.json(), &self.data_type)) {
            return Err(Error::unsupported(format!(
                "the fill value {bits}, which version 2 cannot represent"
            )));
        }
        let (filters, compressor) = self.filters_and_compressor()?;
        let metadata = v2::ArrayMetadata {
            shape: self.shape.clone(),
            chunks,
            dtype: Written::dtype(dtype)?,
            compressor,
            fill_value,
            order: self.order_v2()?,
            filters: (!filters.is_empty()).then_some(filters),
            dimension_separator: Some(self.separator.unwrap_or(Separator::Dot)),
            unknown: Object::new(),
            deviations: Vec::new(),
        };
        let attributes = self.attributes_v2()?;
        let mut documents = vec![(v2::ARRAY, metadata.emit())];
        let array = documents.first().map(|(_, json)| v2::ArrayMetadata::parse(json, &Limits::of_any_size()));
        let array = array.transpose().map_err(wrong)?.unwrap_or(metadata);
        if let Some(attributes) = &attributes {
            documents.insert(0, (v2::ATTRIBUTES, Json::Object(attributes.clone())));
        }
        let metadata = Metadata::V2Array { array: Box::new(array), attributes };
        Ok(ArrayDocuments { metadata, documents, warnings: Vec::new() })
    }

    fn dtype_v2(&self) -> Dtype {
        // A struct passes the order on to its fields.
        let ordered = self.data_type.swapped_together() > 1 || matches!(self.data_type, DataType::Struct(_));
        Dtype { data_type: self.data_type.clone(), byte_order: ordered.then_some(self.byte_order) }
    }

    fn filters_and_compressor(
        &self,
    ) -> Result<(Vec<v2::CodecConfiguration>, Option<v2::CodecConfiguration>)> {
        let objects = match &self.data_type {
            DataType::String => Some("vlen-utf8"),
            DataType::Bytes => Some("vlen-bytes"),
            _ => None,
        };
        let mut codecs = self.codecs_or_default();
        let compressor = match codecs.last() {
            Some(last) if !last.is_filter() => codecs.pop(),
            _ => None,
        };
        let objects = objects
            .map(|id| v2::CodecConfiguration { id: id.to_owned(), parameters: Object::new() })
            .into_iter();
        let filters = objects.map(Ok).chain(codecs.iter().map(WrittenCodec::configuration));
        let compressor = compressor.map(|codec| codec.configuration()).transpose()?;
        Ok((filters.collect::<Result<_>>()?, compressor))
    }

    fn order_v2(&self) -> Result<Order> {
        let Some(order) = &self.transpose else { return Ok(Order::C) };
        let rank = order.len();
        if order.iter().copied().eq(0..rank) {
            Ok(Order::C)
        } else if order.iter().copied().eq((0..rank).rev()) {
            Ok(Order::F)
        } else {
            Err(Error::unsupported(format!("transposed storage {order:?}, which version 2 cannot represent")))
        }
    }

    fn attributes_v2(&self) -> Result<Option<Object>> {
        let mut attributes = self.attributes.clone();
        // A scalar has an empty list, because readers expect the attribute.
        let is_said = |names: &&Vec<Option<String>>| names.is_empty() || names.iter().any(Option::is_some);
        if let Some(names) = self.dimension_names.as_ref().filter(is_said) {
            let name = |name: &Option<String>| match name {
                Some(name) => Ok(Json::from(name.as_str())),
                None => Err(Error::unsupported(
                    "names for only some dimensions, which version 2 cannot represent",
                )),
            };
            let names = Json::Array(names.iter().map(name).collect::<Result<_>>()?);
            match attributes.get(v2::DIMENSION_NAMES) {
                Some(told) if *told != names => {
                    let name = v2::DIMENSION_NAMES;
                    return Err(Error::invalid(format!(
                        "an attribute {name:?} that differs from the dimension names"
                    )));
                }
                _ => attributes.insert(v2::DIMENSION_NAMES, names),
            }
        }
        record::put_attribute(&self.record, &mut attributes);
        Ok((!attributes.is_empty()).then_some(attributes))
    }
}

/// The bits of a NaN that JSON of version 2 cannot represent.
fn bits_in(json: &Json, data_type: &DataType) -> Option<String> {
    match (json, data_type) {
        (Json::String(text), DataType::Float(_) | DataType::Complex(_)) if text.starts_with("0x") => {
            Some(text.clone())
        }
        (Json::Array(parts), DataType::Complex(_)) => parts.iter().find_map(|part| bits_in(part, data_type)),
        _ => None,
    }
}
