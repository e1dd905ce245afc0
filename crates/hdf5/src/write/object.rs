//! What groups, datasets and committed datatypes have in common.

use super::attribute::NewAttribute;
use super::attributes::{AttributeOptions, AttributeToStore, write_attributes};
use super::file::FileWriter;
use super::global_heap::HeapObjects;
use super::object_header::{HeaderOptions, ObjectHeader};
use super::shared_messages::Sharing;
use crate::element::Converter;
use crate::format::message::HeaderMessage;
use crate::format::message::attribute::Attribute;
use crate::format::message::comment::Comment;
use crate::format::message::shared::{MessageLocation, SharedMessage, Version};
use crate::format::object_header::MessageFlags;
use crate::reference::Reference;
use hyperslab_core::rows::Rows;
use hyperslab_core::{Error, Result};
use std::sync::Arc;

/// The parts of an object that do not depend on its kind.
#[derive(Clone, Debug, Default)]
pub struct NewObject {
    /// The properties of its header.
    pub header: HeaderOptions,
    /// Its attributes, in order of creation.
    pub attributes: Vec<NewAttribute>,
    /// Its comment.
    pub comment: Option<Vec<u8>>,
}

impl FileWriter {
    /// Adds comment and attributes to a header.
    pub(super) fn write_object(&mut self, header: &mut ObjectHeader, object: &NewObject) -> Result<()> {
        let (low, sizes) = (self.options().low, self.options().sizes);
        if let Some(text) = &object.comment {
            header.push(&Comment { text: text.clone() }, 0)?;
        }
        let mut attributes = Vec::with_capacity(object.attributes.len());
        for attribute in &object.attributes {
            let count = attribute.count()?;
            let converter = Converter::new(&attribute.datatype.datatype, &sizes)?;
            let data = self.stored(&converter, &attribute.value, count);
            let name = || String::from_utf8_lossy(&attribute.name);
            let data =
                data.map_err(|e| e.map_detail(|detail| format!("attribute {:?}: {detail}", name())))?;
            let mut message = attribute.message(low, data);
            // The bytes of references are not the same in both passes.
            let shared = match &mut self.shared {
                Some(shared) if attribute.datatype.datatype.portable_bytes().is_some() => {
                    match shared.share_attribute(&mut message)? {
                        Sharing::Reference(SharedMessage { location: MessageLocation::Heap(id), .. }) => {
                            Some(id)
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            attributes.push(AttributeToStore { attribute: message, shared });
        }
        let options = match header.is_v1() {
            true => AttributeOptions::HeaderV1,
            false => AttributeOptions::HeaderV2 {
                creation_order: object.header.attribute_order,
                phase_change: object.header.attribute_phase_change,
            },
        };
        let stored = write_attributes(&mut self.metadata().0, attributes, options)?;
        if let Some(info) = stored.info {
            header.push(&info, MessageFlags::DO_NOT_SHARE)?;
        }
        for (index, AttributeToStore { attribute, shared }) in (0..).zip(stored.compact) {
            match shared {
                Some(id) => {
                    let location = MessageLocation::Heap(id);
                    let shared = SharedMessage { version: Version::V3, location };
                    header.push_shared_indexed(Attribute::TYPE, &shared, index)?;
                }
                None => header.push_indexed(&attribute, index)?,
            }
        }
        Ok(())
    }

    /// The stored form of `count` elements. Data that variable-length elements refer to becomes part of the metadata
    /// region.
    pub(super) fn stored(
        &mut self,
        converter: &Converter,
        rows: &Rows<Reference>,
        count: usize,
    ) -> Result<Vec<u8>> {
        let len = converter.stored_size().checked_mul(count);
        let mut stored = vec![0; len.ok_or_else(|| Error::invalid("more elements than memory holds"))?];
        // Ranks do not affect sizes, so they do not matter until they are known.
        let ranks = Arc::clone(&self.ranks);
        let (mut metadata, heap) = self.metadata();
        let mut put = |object: &[u8]| heap.put(&mut metadata, object);
        let mut objects = HeapObjects { put: &mut put, ranks: &ranks };
        converter.store(&rows.rows, &rows.heap, &mut stored, &mut objects)?;
        Ok(stored)
    }
}
