//! Checks datasets: whether their messages agree, and contiguous storage.

use super::Checker;
use super::elements::{Pointers, Source};
use super::object_header::Header;
use super::objects::shown;
use super::reading::{Pointer, pointer};
use super::rule;
use crate::filter::registered_name;
use crate::format::message::MessageType;
use crate::format::message::data_layout::{DataLayout, LayoutClass, Version};
use crate::format::message::dataspace::{Dataspace, Extent};
use crate::format::message::datatype::Datatype;
use crate::format::message::external_files::ExternalFiles;
use crate::format::message::fill_value::{Fill, FillValue};
use crate::format::message::fill_value_old::FillValueOld;
use crate::format::message::filter_pipeline::FilterPipeline;
use crate::format::{Address, Structure};
use hyperslab_core::Result;
use std::rc::Rc;

/// The messages of a dataset that could be read.
pub(super) struct Described {
    pub(super) datatype: Option<Rc<Datatype>>,
    pub(super) dataspace: Option<Dataspace>,
    pub(super) pipeline: Option<FilterPipeline>,
    pub(super) pointers: Option<Pointers>,
    pub(super) layout: DataLayout,
    /// The offset of the layout message.
    pub(super) layout_at: u64,
}

impl Described {
    /// The size of all elements in bytes.
    fn logical_bytes(&self) -> Option<u64> {
        let size = u64::from(self.datatype.as_ref()?.size);
        self.dataspace.as_ref()?.element_count()?.checked_mul(size)
    }
}

impl Checker<'_> {
    pub(super) fn dataset(&mut self, header: &Header) -> Result<()> {
        let datatype = match header.find(MessageType::DATATYPE) {
            Some(message) => {
                let datatype = self.datatype_of(header, message)?;
                if let Some(datatype) = &datatype {
                    self.check_datatype(datatype, pointer(Datatype::NAME, message.offset));
                }
                datatype
            }
            None => {
                self.missing(header, Datatype::NAME);
                None
            }
        };
        let dataspace = self.required::<Dataspace>(header)?;
        if let Some((Dataspace { extent: Extent::Simple { permutation: Some(_), .. }, .. }, at)) = &dataspace
        {
            let message = "the dimensions are permuted, which was never defined";
            self.report(&rule::RESERVED, Dataspace::NAME, at + 2, message);
        }
        let dataspace = dataspace.map(|(dataspace, _)| dataspace);
        self.fill_values(header, datatype.as_deref())?;
        let pipeline = self.only::<FilterPipeline>(header)?;
        if let Some((pipeline, at)) = &pipeline {
            self.check_filters(pipeline, *at);
        }
        let pipeline = pipeline.map(|(pipeline, _)| pipeline);
        let external = self.only::<ExternalFiles>(header)?;
        let Some((layout, layout_at)) = self.required::<DataLayout>(header)? else {
            self.collections.is_whole = false;
            return Ok(());
        };
        let pointers = datatype.as_deref().and_then(Pointers::new);
        self.collections.is_whole &= datatype.is_some() && dataspace.is_some();
        let described = Described { datatype, dataspace, pipeline, pointers, layout, layout_at };
        if let Some((external, at)) = external {
            self.external_files(&described, &external, at)?;
        }
        match &described.layout.class {
            LayoutClass::Compact { data, .. } => self.compact(&described, data),
            LayoutClass::Contiguous { address, size, .. } => self.contiguous(&described, *address, *size),
            LayoutClass::Chunked(chunked) => self.chunked(&described, chunked),
            LayoutClass::Virtual { heap, index } => self.virtual_dataset(&described, *heap, *index),
        }
    }

    fn fill_values(&mut self, header: &Header, datatype: Option<&Datatype>) -> Result<()> {
        let new = self.only::<FillValue>(header)?;
        let old = self.only::<FillValueOld>(header)?;
        let new_value = match &new {
            Some((FillValue { value: Fill::Value(value), .. }, at)) => Some((value, *at)),
            _ => None,
        };
        let old_value =
            old.as_ref().filter(|(old, _)| !old.value.is_empty()).map(|(old, at)| (&old.value, *at));
        for (name, (value, at)) in [(FillValue::NAME, new_value), (FillValueOld::NAME, old_value)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
        {
            let Some(datatype) = datatype else { continue };
            let size = datatype.size;
            if u64::from(size) == value.len() as u64 {
                self.elements_of(datatype, value, Source { structure: name, byte: at, is_plain: false })?;
            } else {
                let message =
                    format!("fill value of {} bytes, expected the element size {size}", value.len());
                self.report(&rule::FILL_VALUE_SIZE, name, at, message);
            }
        }
        if let (Some((new, _)), Some((old, at))) = (new_value, old_value)
            && new != old
        {
            let message =
                "the value differs from that of the newer fill value message, which takes precedence";
            self.report(&rule::FILL_VALUES_DIFFER, FillValueOld::NAME, at, message);
        }
        Ok(())
    }

    fn check_filters(&mut self, pipeline: &FilterPipeline, at: u64) {
        for filter in &pipeline.filters {
            if registered_name(filter.id).is_none() {
                let message = format!("filter {} ({}) is not registered", filter.id, shown(&filter.name));
                self.report(&rule::UNKNOWN_FILTER, FilterPipeline::NAME, at, message);
            }
        }
    }

    fn compact(&mut self, described: &Described, data: &[u8]) -> Result<()> {
        let at = described.layout_at;
        if let Some(logical) = described.logical_bytes()
            && logical > data.len() as u64
        {
            let message = format!("{} stored bytes, expected {logical} bytes of elements", data.len());
            self.report(&rule::STORAGE_SIZE, DataLayout::NAME, at + 2, message);
        }
        match &described.pointers {
            Some(pointers) => {
                let before = if described.layout.version >= Version::V3 { 4 } else { 0 };
                let source = Source { structure: DataLayout::NAME, byte: at + before, is_plain: before != 0 };
                self.elements(pointers, data, source)
            }
            None => Ok(()),
        }
    }

    fn contiguous(&mut self, described: &Described, address: Address, size: Option<u64>) -> Result<()> {
        if address.is_undefined() {
            return Ok(());
        }
        let at = described.layout_at;
        let is_old = described.layout.version < Version::V3;
        let address_at = if is_old { at + 8 } else { at + 2 };
        let logical = described.logical_bytes();
        if let (Some(size), Some(logical)) = (size, logical)
            && size < logical
        {
            let message = format!("{size} stored bytes, expected {logical} bytes of elements");
            let at = address_at + u64::from(self.sizes().offsets);
            self.report(&rule::STORAGE_SIZE, DataLayout::NAME, at, message);
        }
        let Some(len) = size.or(logical).filter(|len| *len > 0) else { return Ok(()) };
        let from = pointer(DataLayout::NAME, address_at);
        let Some(byte) = self.locate(RAW_DATA, address, len, from) else {
            self.collections.is_whole &= described.pointers.is_none();
            return Ok(());
        };
        self.claim(RAW_DATA, byte, len);
        match &described.pointers {
            Some(pointers) => {
                self.raw_elements(pointers, described, address, byte, len.min(logical.unwrap_or(0)))
            }
            None => Ok(()),
        }
    }

    /// Checks the elements from `address` on, piece by piece.
    pub(super) fn raw_elements(
        &mut self,
        pointers: &Pointers,
        described: &Described,
        address: Address,
        byte: u64,
        len: u64,
    ) -> Result<()> {
        let size = described.datatype.as_ref().map_or(1, |datatype| u64::from(datatype.size)).max(1);
        let piece = (PIECE / size).max(1).saturating_mul(size);
        let mut at = 0;
        while at < len {
            let part = piece.min(len - at);
            if !self.spend_raw(part, RAW_DATA, byte + at) {
                self.collections.is_whole = false;
                return Ok(());
            }
            match self.reader.raw(RAW_DATA, Address(address.0 + at), part) {
                Ok(bytes) => {
                    let source = Source { structure: RAW_DATA, byte: byte + at, is_plain: true };
                    self.elements(pointers, &bytes, source)?;
                }
                Err(error) => self.error(error)?,
            }
            at += part;
        }
        Ok(())
    }

    /// The length of a file of elements. Reports a missing file. Files outside the allowed directories are not searched.
    pub(super) fn check_presence(&mut self, name: &str, from: Pointer) -> Option<u64> {
        let siblings = self.siblings.as_ref()?;
        let known = match self.asked.get(name) {
            Some(known) => *known,
            None if self.asked.len() >= MAX_FILES => {
                if !std::mem::replace(&mut self.asked_enough, true) {
                    let message = format!("more than {MAX_FILES} other files are not looked for");
                    self.report(&rule::LIMIT, from.structure, from.byte, message);
                }
                return None;
            }
            None => {
                let found = match siblings.open(name) {
                    Ok(Some(storage)) => Some(storage.len().ok()?),
                    Ok(None) => None,
                    Err(_) => return None,
                };
                self.asked.insert(name.to_owned(), found);
                found
            }
        };
        if known.is_none() {
            let message = format!("the file {} does not exist", shown(name.as_bytes()));
            self.report(&rule::MISSING_FILE, from.structure, from.byte, message);
        }
        known
    }

    /// Checks external files: their names, and whether their segments are long enough.
    fn external_files(&mut self, described: &Described, external: &ExternalFiles, at: u64) -> Result<()> {
        const NAME: &str = ExternalFiles::NAME;
        let sizes = self.sizes();
        let Some(heap) = self.local_heap(external.heap, pointer(NAME, at + 8))? else { return Ok(()) };
        let first = at + 8 + u64::from(sizes.offsets);
        let slot_len = 3 * u64::from(sizes.lengths);
        let mut room = 0_u64;
        for (number, slot) in (0_u64..).zip(&external.slots) {
            let from: Pointer = pointer(NAME, first + number * slot_len);
            let before = room;
            room = room.saturating_add(slot.len);
            let Some(name) = self.heap_text(&heap, slot.name_offset, from) else { continue };
            if name.is_empty() {
                self.report(&rule::EXTERNAL_FILES, NAME, from.byte, "a file without a name");
                continue;
            }
            let len = if slot.len == u64::MAX { "all".to_owned() } else { slot.len.to_string() };
            let message = format!("{len} bytes from byte {} of the file {}", slot.offset, shown(name));
            self.report(&rule::EXTERNAL_DATA, NAME, from.byte, message);
            let Some(found) = str::from_utf8(name).ok().and_then(|name| self.check_presence(name, from))
            else {
                continue;
            };
            let needed = described.logical_bytes().unwrap_or(u64::MAX).min(room);
            let needed = needed.saturating_sub(before);
            let there = found.saturating_sub(slot.offset);
            if there < needed {
                let message =
                    format!("{there} bytes of elements in the file {}, expected {needed}", shown(name));
                self.report(&rule::SHORT_FILE, NAME, from.byte, message);
            }
        }
        if let Some(logical) = described.logical_bytes()
            && room < logical
        {
            let message = format!("{room} bytes of files for elements of {logical}");
            self.report(&rule::EXTERNAL_FILES, NAME, at, message);
        }
        self.collections.is_whole &= described.pointers.is_none();
        Ok(())
    }
}

pub(super) const RAW_DATA: &str = "raw data";

/// The maximum number of files that are searched.
const MAX_FILES: usize = 1000;

/// The maximum length of a piece.
const PIECE: u64 = 1 << 20;
