//! Checks elements that point elsewhere: into the global heap, and to objects.

use super::Checker;
use super::reading::{Pointer, pointer};
use super::rule;
use crate::format::encoding::reference::{
    ReferenceBlock, RegionReference, StoredReference, StoredReferenceContext,
};
use crate::format::infrastructure::GlobalHeapId;
use crate::format::message::datatype::{Datatype, DatatypeClass, ReferenceType, VariableLengthKind};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Result};
use std::rc::Rc;

/// The place of elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) structure: &'static str,
    pub(super) byte: u64,
    /// Whether they are stored without filters, so that each one has an offset in the file.
    pub(super) is_plain: bool,
}

/// The parts of a datatype that point elsewhere.
#[derive(Debug)]
pub(super) struct Pointers {
    /// The size of an element in bytes.
    size: usize,
    items: Vec<Item>,
}

/// A part of an element, repeated for arrays.
#[derive(Debug)]
struct Item {
    offset: usize,
    count: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Parts(Pointers),
    Sequence { item_size: u64, items: Option<Rc<Pointers>> },
    Object,
    Region,
    Revised { len: usize },
}

impl Pointers {
    /// The pointers in elements of a datatype. `None` if no part of it points elsewhere.
    pub(super) fn new(datatype: &Datatype) -> Option<Pointers> {
        let size = usize::try_from(datatype.size).ok()?;
        let one = |kind| Some(Pointers { size, items: vec![Item { offset: 0, count: 1, kind }] });
        match &datatype.class {
            DatatypeClass::Compound(compound) => {
                let item = |member: &crate::format::message::datatype::Member| {
                    let pointers = Pointers::new(&member.datatype)?;
                    let offset = usize::try_from(member.byte_offset).ok()?;
                    Some(Item { offset, count: 1, kind: Kind::Parts(pointers) })
                };
                let items: Vec<Item> = compound.members.iter().filter_map(item).collect();
                (!items.is_empty()).then_some(Pointers { size, items })
            }
            DatatypeClass::Array(array) => {
                let pointers = Pointers::new(&array.base)?;
                let count = usize::try_from(array.len()?).ok()?;
                Some(Pointers { size, items: vec![Item { offset: 0, count, kind: Kind::Parts(pointers) }] })
            }
            DatatypeClass::VariableLength(class) => {
                let items = match class.kind {
                    VariableLengthKind::Sequence => Pointers::new(&class.base).map(Rc::new),
                    VariableLengthKind::String { .. } => None,
                };
                one(Kind::Sequence { item_size: class.base.size.into(), items })
            }
            DatatypeClass::Reference(class) => one(match class.reference_type {
                ReferenceType::Object1 => Kind::Object,
                ReferenceType::DatasetRegion1 => Kind::Region,
                ReferenceType::Object2 | ReferenceType::DatasetRegion2 | ReferenceType::Attribute => {
                    Kind::Revised { len: size }
                }
            }),
            _ => None,
        }
    }
}

impl Kind {
    fn size(&self, sizes: Sizes) -> usize {
        match self {
            Kind::Parts(pointers) => pointers.size,
            Kind::Sequence { .. } => 8 + usize::from(sizes.offsets),
            Kind::Object => usize::from(sizes.offsets),
            Kind::Region => 4 + usize::from(sizes.offsets),
            Kind::Revised { len } => *len,
        }
    }
}

impl Checker<'_> {
    /// Checks the targets of elements of this datatype.
    pub(super) fn elements_of(&mut self, datatype: &Datatype, bytes: &[u8], source: Source) -> Result<()> {
        match Pointers::new(datatype) {
            Some(pointers) => self.elements(&pointers, bytes, source),
            None => Ok(()),
        }
    }

    /// Checks the targets of elements, one after the other.
    pub(super) fn elements(&mut self, pointers: &Pointers, bytes: &[u8], source: Source) -> Result<()> {
        let sizes = self.sizes();
        for (number, element) in bytes.chunks_exact(pointers.size.max(1)).enumerate() {
            // Most elements of sparse data are null.
            if element.iter().all(|byte| *byte == 0) {
                continue;
            }
            for item in &pointers.items {
                let size = item.kind.size(sizes).max(1);
                let parts =
                    element.get(item.offset..).unwrap_or_default().chunks_exact(size).take(item.count);
                for (at, part) in parts.enumerate() {
                    let offset = number * pointers.size + item.offset + at * size;
                    let place = if source.is_plain { source.byte + offset as u64 } else { source.byte };
                    let source = Source { byte: place, ..source };
                    self.element_part(&item.kind, part, source)?;
                }
            }
        }
        Ok(())
    }

    fn element_part(&mut self, kind: &Kind, part: &[u8], source: Source) -> Result<()> {
        let sizes = self.sizes();
        let from = pointer(source.structure, source.byte);
        let mut d = Decoder::new(source.structure, source.byte, part);
        match kind {
            Kind::Parts(pointers) => self.elements(pointers, part, source),
            Kind::Sequence { item_size, items } => {
                let (Ok(count), Ok(id)) = (d.u32(), GlobalHeapId::decode(&mut d, &sizes)) else {
                    return Ok(());
                };
                self.sequence(count, id, *item_size, items.as_deref(), from)
            }
            Kind::Object => {
                if let Ok(address) = sizes.address(&mut d) {
                    self.reference(address, from);
                }
                Ok(())
            }
            Kind::Region => match GlobalHeapId::decode(&mut d, &sizes) {
                Ok(id) if id.collection.0 != 0 && !id.collection.is_undefined() => self.region(id, from),
                _ => Ok(()),
            },
            Kind::Revised { len } => self.revised(d, *len, from),
        }
    }

    fn sequence(
        &mut self,
        count: u32,
        id: GlobalHeapId,
        item_size: u64,
        items: Option<&Pointers>,
        from: Pointer,
    ) -> Result<()> {
        if count == 0 {
            return self.empty_heap_element(id, from);
        }
        let Some(object) = self.heap_element(id, from)? else { return Ok(()) };
        let wanted = u64::from(count).saturating_mul(item_size);
        if wanted > object.len {
            let message =
                format!("{count} items of {item_size} bytes, their heap object has {} bytes", object.len);
            self.report(&rule::VARIABLE_LENGTH, from.structure, from.byte, message);
            return Ok(());
        }
        match items.filter(|_| object.is_new) {
            None => Ok(()),
            Some(pointers) => match self.heap_element_bytes(&object)? {
                Some(bytes) => {
                    let len = usize::try_from(wanted).unwrap_or(usize::MAX);
                    let source =
                        Source { structure: super::global_heap::OBJECT, byte: object.byte, is_plain: true };
                    self.elements(pointers, bytes.get(..len).unwrap_or_default(), source)
                }
                None => Ok(()),
            },
        }
    }

    fn region(&mut self, id: GlobalHeapId, from: Pointer) -> Result<()> {
        let Some(object) = self.heap_element(id, from)? else { return Ok(()) };
        if !object.is_new {
            return Ok(());
        }
        let Some(bytes) = self.heap_element_bytes(&object)? else { return Ok(()) };
        let mut d = Decoder::new(RegionReference::NAME, object.byte, &bytes);
        match RegionReference::decode(&mut d, &self.sizes()) {
            Ok(region) => self.reference(region.object, pointer(RegionReference::NAME, object.byte)),
            Err(error) => self.error(error)?,
        }
        Ok(())
    }

    fn revised(&mut self, mut d: Decoder<'_>, len: usize, from: Pointer) -> Result<()> {
        let sizes = self.sizes();
        let context = StoredReferenceContext { sizes, len };
        match StoredReference::decode(&mut d, &context) {
            Ok(StoredReference::Null) => Ok(()),
            Ok(StoredReference::Inline(block)) => self.block(&block, from),
            Ok(StoredReference::Heap { header, id, .. }) => {
                let Some(object) = self.heap_element(id, from)? else { return Ok(()) };
                let Some(bytes) = self.heap_element_bytes(&object)? else { return Ok(()) };
                let mut d = Decoder::new(ReferenceBlock::NAME, object.byte, &bytes);
                match ReferenceBlock::decode(&mut d, &header) {
                    Ok(block) => self.block(&block, pointer(ReferenceBlock::NAME, object.byte)),
                    Err(error) => self.error(error),
                }
            }
            Err(error) => self.error(error),
        }
    }

    fn block(&mut self, block: &ReferenceBlock, from: Pointer) -> Result<()> {
        if block.file.is_some() {
            return Ok(());
        }
        match block.address(&self.sizes()) {
            Ok(address) => {
                self.reference(address, from);
                Ok(())
            }
            Err(error) => self.error_as(error, &rule::MALFORMED, Some(from)),
        }
    }

    fn reference(&mut self, address: Address, from: Pointer) {
        if address.0 != 0 && !address.is_undefined() {
            self.add_reference(address, from);
        }
    }
}
