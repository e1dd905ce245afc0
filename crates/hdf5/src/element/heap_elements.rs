//! The IDs of global heap objects in stored elements.

use super::program::{Op, Program};
use super::reference::ReferenceForm;
use super::variable_length::{Variable, fill};
use crate::format::encoding::StoredReference;
use crate::format::encoding::reference::StoredReferenceContext;
use crate::format::infrastructure::GlobalHeapId;
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Elements that contain IDs of objects in the global heap.
#[derive(Clone, Copy, Debug)]
pub struct HeapElements<'a> {
    program: &'a Program,
    sizes: &'a Sizes,
}

/// Called with an ID, and with the elements and the length of its object, if those also contain IDs. Returns the ID
/// that is stored instead.
pub type IdVisitor<'v> =
    dyn FnMut(GlobalHeapId, Option<(HeapElements<'_>, usize)>) -> Result<GlobalHeapId> + 'v;

impl<'a> HeapElements<'a> {
    /// `None` if the elements never contain IDs.
    pub(super) fn new(program: &'a Program, sizes: &'a Sizes) -> Option<Self> {
        program.has_ids().then_some(HeapElements { program, sizes })
    }

    /// Replaces all IDs in whole elements.
    ///
    /// # Errors
    /// If an element is malformed, and the errors of `visit`.
    pub fn replace_ids(&self, stored: &mut [u8], visit: &mut IdVisitor<'_>) -> Result<()> {
        match &self.program.op {
            Op::VariableLength(size, items) => {
                stored.chunks_exact_mut(*size).try_for_each(|element| self.sequence(items, element, visit))
            }
            Op::Reference(size, form) => {
                stored.chunks_exact_mut(*size).try_for_each(|element| self.reference(*form, element, visit))
            }
            Op::Compound { stored: size, members, .. } => {
                for compound in stored.chunks_exact_mut(*size) {
                    for member in members {
                        let elements = HeapElements { program: &member.program, sizes: self.sizes };
                        if let Some(part) = compound.get_mut(member.from..member.from + member.program.stored)
                        {
                            elements.replace_ids(part, visit)?;
                        }
                    }
                }
                Ok(())
            }
            Op::Copy | Op::Reverse(_) | Op::ReverseVaxWords(_) | Op::Widen(_) | Op::ExtractBits(_) => Ok(()),
        }
    }

    fn sequence(&self, items: &Variable, element: &mut [u8], visit: &mut IdVisitor<'_>) -> Result<()> {
        let mut d = Decoder::new("variable-length element", 0, element);
        let (count, id) = (d.u32()?, GlobalHeapId::decode(&mut d, self.sizes)?);
        // No heap object has index 0. In a piece without addresses, the first collection has address 0.
        if id.index == 0 {
            return Ok(());
        }
        let nested = match items {
            Variable::Elements(program) => HeapElements::new(program, self.sizes).map(|elements| {
                let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(program.stored));
                len.map(|len| (elements, len)).ok_or_else(|| Error::invalid("sequence of 2^64 bytes or more"))
            }),
            Variable::Characters(_) => None,
        };
        let mut e = Encoder::new();
        e.u32(count);
        visit(id, nested.transpose()?)?.encode(&mut e, self.sizes)?;
        fill(element, e.as_slice())
    }

    fn reference(&self, form: ReferenceForm, element: &mut [u8], visit: &mut IdVisitor<'_>) -> Result<()> {
        let mut d = Decoder::new("reference", 0, element);
        let mut e = Encoder::new();
        match form {
            ReferenceForm::Object1 => return Ok(()),
            ReferenceForm::Region1 => {
                let id = GlobalHeapId::decode(&mut d, self.sizes)?;
                if id.collection.0 == 0 {
                    return Ok(());
                }
                visit(id, None)?.encode(&mut e, self.sizes)?;
            }
            ReferenceForm::Revised => {
                let context = StoredReferenceContext { sizes: *self.sizes, len: element.len() };
                let StoredReference::Heap { header, size, id } = StoredReference::decode(&mut d, &context)?
                else {
                    return Ok(());
                };
                StoredReference::Heap { header, size, id: visit(id, None)? }.encode(&mut e, &context)?;
            }
        }
        fill(element, e.as_slice())
    }
}

impl Program {
    fn has_ids(&self) -> bool {
        match &self.op {
            Op::VariableLength(..) => true,
            Op::Reference(_, form) => *form != ReferenceForm::Object1,
            Op::Compound { members, .. } => members.iter().any(|member| member.program.has_ids()),
            Op::Copy | Op::Reverse(_) | Op::ReverseVaxWords(_) | Op::Widen(_) | Op::ExtractBits(_) => false,
        }
    }
}
