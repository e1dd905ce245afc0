//! Checks dimension scales, which datasets and scales both refer to.

use super::reading::pointer;
use super::rule;
use super::{Checker, max, objects};
use crate::format::Structure;
use crate::format::infrastructure::GlobalHeapId;
use crate::format::message::attribute::Attribute;
use crate::format::message::datatype::{Datatype, DatatypeClass, ReferenceType};
use hyperslab_core::{Decoder, Result};

/// References between datasets and their scales.
#[derive(Default)]
pub(super) struct DimensionScales {
    /// From DIMENSION_LIST of datasets.
    forward: Vec<Attached>,
    /// From REFERENCE_LIST of scales.
    backward: Vec<Attached>,
}

/// A scale of a dimension of a dataset, and the attribute that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Attached {
    dataset: u64,
    dimension: u64,
    scale: u64,
    object: u32,
    byte: u64,
}

impl Attached {
    fn key(&self) -> (u64, u64, u64) {
        (self.dataset, self.dimension, self.scale)
    }
}

impl Checker<'_> {
    /// Records the references of an attribute.
    pub(super) fn keep_dimension_scales(
        &mut self,
        attribute: &Attribute,
        datatype: &Datatype,
        value: &[u8],
        byte: u64,
    ) {
        let result = match attribute.name.as_slice() {
            b"DIMENSION_LIST" => self.dimension_list(datatype, value, byte),
            b"REFERENCE_LIST" => self.reference_list(datatype, value, byte),
            _ => return,
        };
        // Unreadable elements were reported when the attribute was checked.
        if result.is_err() {
            self.complete = false;
        }
    }

    fn dimension_list(&mut self, datatype: &Datatype, value: &[u8], byte: u64) -> Result<()> {
        let DatatypeClass::VariableLength(class) = &datatype.class else { return Ok(()) };
        if !is_object_reference(&class.base) {
            return Ok(());
        }
        let sizes = self.sizes();
        let size = usize::try_from(datatype.size).unwrap_or(usize::MAX);
        let dataset = self.objects.address(self.current).0;
        for (dimension, element) in (0..).zip(value.chunks_exact(size)) {
            let mut d = Decoder::new(Attribute::NAME, byte, element);
            let (count, id) = (d.u32()?, GlobalHeapId::decode(&mut d, &sizes)?);
            if count == 0 || self.scales.forward.len() >= max(self.stored, ATTACHED_SIZE) {
                continue;
            }
            let Some(object) = self.known_element(id) else { continue };
            let Some(bytes) = self.heap_element_bytes(&object)? else { continue };
            let mut d = Decoder::new(Attribute::NAME, byte, &bytes);
            for _ in 0..count {
                let Ok(scale) = sizes.address(&mut d) else { break };
                let object = self.current;
                self.scales.forward.push(Attached { dataset, dimension, scale: scale.0, object, byte });
            }
        }
        Ok(())
    }

    fn reference_list(&mut self, datatype: &Datatype, value: &[u8], byte: u64) -> Result<()> {
        let DatatypeClass::Compound(class) = &datatype.class else { return Ok(()) };
        let [dataset, dimension] = class.members.as_slice() else { return Ok(()) };
        let width = match &dimension.datatype.class {
            DatatypeClass::FixedPoint(_) => u8::try_from(dimension.datatype.size).unwrap_or(0),
            _ => return Ok(()),
        };
        if !is_object_reference(&dataset.datatype) || !(1..=8).contains(&width) {
            return Ok(());
        }
        let sizes = self.sizes();
        let size = usize::try_from(datatype.size).unwrap_or(usize::MAX);
        let scale = self.objects.address(self.current).0;
        let place = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
        for element in value.chunks_exact(size) {
            let field = |offset: u32| {
                Decoder::new(Attribute::NAME, byte, element.get(place(offset)..).unwrap_or_default())
            };
            let address = sizes.address(&mut field(dataset.byte_offset))?;
            let dimension = field(dimension.byte_offset).uint(width)?;
            if self.scales.backward.len() < max(self.stored, ATTACHED_SIZE) && address.0 != 0 {
                let object = self.current;
                self.scales.backward.push(Attached { dataset: address.0, dimension, scale, object, byte });
            }
        }
        Ok(())
    }

    /// Reports references that only one side has.
    pub(super) fn check_dimension_scales(&mut self) {
        let DimensionScales { mut forward, mut backward } = std::mem::take(&mut self.scales);
        forward.sort_unstable();
        backward.sort_unstable();
        if !self.complete {
            return;
        }
        let lacks =
            |list: &[Attached], one: &Attached| list.binary_search_by_key(&one.key(), Attached::key).is_err();
        let name = |checker: &Self, address: u64| {
            let number = checker.objects.number(crate::format::Address(address));
            number.and_then(|number| checker.objects.path(number)).unwrap_or_else(|| format!("{address:#x}"))
        };
        for one in forward.iter().filter(|one| lacks(&backward, one)) {
            let (scale, dimension) = (name(self, one.scale), one.dimension);
            let message =
                format!("{scale} is a scale of dimension {dimension}, but does not refer to this dataset");
            self.scale_finding(one, message);
        }
        for one in backward.iter().filter(|one| lacks(&forward, one)) {
            let (dataset, dimension) = (name(self, one.dataset), one.dimension);
            let message =
                format!("is named as a scale of dimension {dimension} of {dataset}, which does not name it");
            self.scale_finding(one, message);
        }
        self.current = objects::FILE;
    }

    fn scale_finding(&mut self, one: &Attached, message: String) {
        let from = pointer(Attribute::NAME, one.byte);
        self.about(one.object, |checker| {
            checker.report(&rule::DIMENSION_SCALE, from.structure, from.byte, message);
        });
    }
}

fn is_object_reference(datatype: &Datatype) -> bool {
    matches!(&datatype.class, DatatypeClass::Reference(class) if class.reference_type == ReferenceType::Object1)
}

const ATTACHED_SIZE: u64 = 96;
