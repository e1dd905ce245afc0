//! References in elements.

use super::program::{Run, Store};
use super::variable_length::fill;
use crate::format::encoding::DataspaceSelection;
use crate::format::encoding::reference::{
    ReferenceBlock, Referent, RegionReference, StoredReference, StoredReferenceContext,
};
use crate::format::infrastructure::{GlobalHeapCollection, GlobalHeapId};
use crate::format::message::dataspace::Dataspace;
use crate::format::{Address, Structure};
use crate::navigate::object_header::ObjectHeader;
use crate::reference::Reference;
use hyperslab_core::nd::{Region, Selection};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The stored form of references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceForm {
    /// The address of an object.
    Object1,
    /// The global heap ID of a region reference.
    Region1,
    /// A revised reference.
    Revised,
}

/// Decodes the reference in an element.
pub(super) fn read(run: &mut Run<'_>, form: ReferenceForm, stored: &[u8]) -> Result<Reference> {
    let mut d = Decoder::new("reference", 0, stored);
    match form {
        ReferenceForm::Object1 => Ok(object(run.sizes.address(&mut d)?)),
        ReferenceForm::Region1 => {
            let id = GlobalHeapId::decode(&mut d, run.sizes)?;
            if is_null(id.collection) {
                return Ok(Reference::Null);
            }
            let sizes = *run.sizes;
            let RegionReference { object, selection } =
                in_heap(run, id, |d| RegionReference::decode(d, &sizes))?;
            Ok(Reference::Region(object, plain(run, Some(object), &selection)?))
        }
        ReferenceForm::Revised => {
            let context = StoredReferenceContext { sizes: *run.sizes, len: stored.len() };
            let block = match StoredReference::decode(&mut d, &context)? {
                StoredReference::Null => return Ok(Reference::Null),
                StoredReference::Inline(block) => block,
                StoredReference::Heap { id, .. } if is_null(id.collection) => return Ok(Reference::Null),
                StoredReference::Heap { header, id, .. } => {
                    in_heap(run, id, |d| ReferenceBlock::decode(d, &header))?
                }
            };
            revised(run, block)
        }
    }
}

fn revised(run: &mut Run<'_>, block: ReferenceBlock) -> Result<Reference> {
    let address = block.address(run.sizes)?;
    let target = match block.target {
        Referent::Object => object(address),
        Referent::Region { selection, .. } => {
            let here = if block.file.is_none() { Some(address) } else { None };
            Reference::Region(address, plain(run, here, &selection)?)
        }
        Referent::Attribute(name) => Reference::Attribute(address, name),
    };
    Ok(match block.file {
        Some(file) => Reference::External { file, target: Box::new(target) },
        None => target,
    })
}

fn in_heap<T>(
    run: &Run<'_>,
    id: GlobalHeapId,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<T>,
) -> Result<T> {
    let bytes = run.global_heap.object(run.reader, id.collection, id.index)?;
    let stored_at = run.reader.offset(GlobalHeapCollection::NAME, id.collection)?;
    decode(&mut Decoder::decoded("reference", "global heap object", stored_at, &bytes))
}

/// The selection as regions or points. A few stored bytes may describe many. An unlimited selection ends at the
/// extent of the dataset, if that is in the same file.
fn plain(run: &mut Run<'_>, dataset: Option<Address>, selection: &DataspaceSelection) -> Result<Selection> {
    let selection = match dataset {
        Some(dataset) if selection.is_unlimited() => {
            let header = ObjectHeader::read(run.reader, dataset)?;
            let dataspace: Dataspace = header.required(run.reader)?;
            selection.to_selection_in(dataspace.dimensions())?
        }
        _ => selection.to_selection()?,
    };
    let bytes = match &selection {
        Selection::Blocks(blocks) => {
            let rank = blocks.first().map_or(0, Region::rank);
            blocks.len() * (size_of::<Region>() + 3 * rank * size_of::<u64>())
        }
        Selection::Points { coordinates, .. } => coordinates.len() * size_of::<u64>(),
        Selection::All | Selection::None | Selection::Region(_) => 0,
    };
    run.charge(bytes as u64)?;
    Ok(selection)
}

fn object(address: Address) -> Reference {
    if is_null(address) { Reference::Null } else { Reference::Object(address) }
}

/// Encodes a reference. A reference to an object of the same file is stored in the element, any other in the global
/// heap.
pub(super) fn write(
    store: &mut Store<'_>,
    form: ReferenceForm,
    reference: &Reference,
    stored: &mut [u8],
) -> Result<()> {
    stored.fill(0);
    let mut e = Encoder::new();
    match (form, reference) {
        (_, Reference::Null) => return Ok(()),
        (ReferenceForm::Object1, Reference::Object(address)) => store.sizes.put_address(&mut e, *address)?,
        (ReferenceForm::Region1, Reference::Region(object, selection)) => {
            let selection = DataspaceSelection::of(selection)?;
            let mut block = Encoder::new();
            RegionReference { object: *object, selection }.encode(&mut block, store.sizes)?;
            store.objects.put(block.as_slice())?.encode(&mut e, store.sizes)?;
        }
        (ReferenceForm::Revised, reference) => {
            let context = StoredReferenceContext { sizes: *store.sizes, len: stored.len() };
            let block = block(store, reference)?;
            let header = block.header();
            let element = match header.is_inline() {
                true => StoredReference::Inline(block),
                false => {
                    let mut object = Encoder::new();
                    block.encode(&mut object, &header)?;
                    let size = u32::try_from(object.len());
                    let size = size.map_err(|_| Error::invalid("reference of 4 GiB or more"))?;
                    StoredReference::Heap { header, size, id: store.objects.put(object.as_slice())? }
                }
            };
            element.encode(&mut e, &context)?;
        }
        (form, _) => {
            let expected = if form == ReferenceForm::Object1 { "an object" } else { "a region" };
            return Err(Error::invalid(format!("reference of another kind, expected {expected}")));
        }
    }
    fill(stored, e.as_slice())
}

fn block(store: &mut Store<'_>, reference: &Reference) -> Result<ReferenceBlock> {
    let (file, reference) = match reference {
        Reference::External { file, target } => (Some(file.clone()), &**target),
        reference => (None, reference),
    };
    let (address, target) = match reference {
        Reference::Object(address) => (*address, Referent::Object),
        Reference::Attribute(address, name) => (*address, Referent::Attribute(name.clone())),
        Reference::Region(address, selection) => {
            let selection = DataspaceSelection::of(selection)?;
            let rank = selection.rank().map_or_else(|| store.objects.rank(*address), Ok)?;
            (*address, Referent::Region { rank, selection })
        }
        Reference::Null | Reference::External { .. } => {
            return Err(Error::invalid("null reference with the name of another file"));
        }
    };
    let mut token = Encoder::new();
    store.sizes.put_address(&mut token, address)?;
    Ok(ReferenceBlock { token: token.into_bytes(), file, target })
}

/// Address 0 is that of the superblock, so it means null.
fn is_null(address: Address) -> bool {
    address.0 == 0 || address.is_undefined()
}
