//! A source that shows packed numbers as the numbers they represent.
//!
//! Spec: CF 1.13, 2.5.1 Missing data, 8.1 Packed Data

use super::clear_layout_directives;
use crate::meaning::{Meaning, is_number, is_packed, meaning};
use crate::source::engine::row_size;
use crate::source::{ArraySource, ArrayView, Entry, Handle, Item, Source, SourceView};
use hyperslab_cf::meaning::{Missing, Packing, push_float, single};
use hyperslab_codec::Scratch;
use hyperslab_core::filter::{self, Default as FilterDefault};
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attribute, Datatype, Element, ElementStorage, Elements, Fill, Float, Node, NodePath, Reference, Storage,
    Values,
};
use std::sync::Arc;

/// A source in which arrays of packed numbers (those with `scale_factor` or `add_offset`) appear as arrays of
/// floating-point numbers. Missing elements are NaN. The attributes that describe the packing are left out;
/// `_FillValue` and the valid range are converted to unpacked numbers.
///
/// The precision is the one that NetCDF readers use: single precision if both attributes have it and the packed numbers
/// have at most 16 bits, otherwise double.
///
/// ```
/// use hyperslab::{File, OpenOptions, StoreBuilder, Unpacked, select::Select};
///
/// let mut store = StoreBuilder::new();
/// store.dimension("/x", 3)?;
/// store.array("/t", &["/x"], &[10_i16, -1, 20])?.numbers("scale_factor", &[0.5]).numbers("_FillValue", &[-1_i16]);
/// let file = File::from(Unpacked::shared(store.build()));
/// let numbers = file.array("/t")?.read::<f64>(&Select::all())?;
/// assert_eq!((numbers[0], numbers[2]), (5.0, 10.0));
/// assert!(numbers[1].is_nan());
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub struct Unpacked {
    source: Arc<dyn Source>,
}

impl Unpacked {
    /// The arrays of `source` with unpacked numbers.
    pub fn shared(source: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(Unpacked { source })
    }

    /// How the numbers of an array are unpacked; `None` if they are not packed.
    fn unpacking(&self, path: &NodePath, node: &Node) -> Option<Unpacking> {
        // Few arrays are packed; the others need no further examination.
        let datatype = node.datatype().filter(|of| is_packed(node) && is_number(of.non_null()))?;
        let meaning = meaning(&*self.source, path, node, datatype);
        let packing = meaning.packing.clone()?;
        let missing = meaning.missing.clone().without_range();
        let unpacked = Arc::new(Datatype::Float(packing.unpacked.clone()));
        Some(Unpacking { meaning, packing, missing, unpacked })
    }
}

impl SourceView for Unpacked {
    fn viewed(&self) -> &dyn Source {
        &*self.source
    }

    fn entry(&self, mut entry: Entry) -> Result<Entry> {
        if let Item::Array { datatype: Some(datatype), .. } = &mut entry.item
            && is_number(datatype.non_null())
            && let Ok(node) = self.source.load(&entry.handle)
            && let Some(unpacking) = self.unpacking(&entry.handle.path, &node)
        {
            *datatype = unpacking.unpacked;
        }
        Ok(entry)
    }

    fn node(&self, object: &Handle, mut node: Node) -> Result<Node> {
        let Some(unpacking) = self.unpacking(&object.path, &node) else { return Ok(node) };
        let attributes = node.attributes().and_then(|all| unpacking.meaning.unpacked_attributes(all));
        if let (Some(own), Some(attributes)) = (node.attributes_mut(), attributes) {
            *own = attributes;
        }
        if let Some(storage) = node.storage_mut() {
            let fill = match &storage.fill {
                Fill::Undefined => Fill::Undefined,
                Fill::Value(value) => unpacking.fill(Some(value)),
                Fill::Default => unpacking.default_fill(self.source.array(object)?.fill()?.as_ref()),
            };
            store_as_numbers(storage, fill);
        }
        match &mut node {
            Node::Ndarray(array) => (array.datatype, array.value) = (Some(unpacking.unpacked), None),
            Node::DimCoord(dimcoord) => {
                (dimcoord.datatype, dimcoord.value) = (Some(unpacking.unpacked), None);
            }
            _ => {}
        }
        Ok(node)
    }

    fn elements(&self, object: &Handle, array: Arc<dyn ArraySource>) -> Result<Arc<dyn ArraySource>> {
        if !is_number(array.datatype().non_null()) {
            return Ok(array);
        }
        Ok(match self.unpacking(&object.path, &self.source.load(object)?) {
            Some(unpacking) => Arc::new(UnpackedArray { array, unpacking }),
            None => array,
        })
    }

    fn fill_attribute_of(&self, object: &Handle) -> Result<Option<Attribute>> {
        match self.unpacking(&object.path, &self.source.load(object)?) {
            Some(_) => Ok(None),
            None => self.source.fill_attribute(object),
        }
    }

    fn open_other(&self, file: &str) -> Result<Option<Arc<dyn Source>>> {
        Ok(self.source.open_named(file)?.map(Unpacked::shared))
    }
}

/// How stored elements are converted to the numbers they represent.
struct Unpacking {
    meaning: Meaning,
    packing: Packing,
    missing: Missing,
    unpacked: Arc<Datatype>,
}

impl Unpacking {
    /// The fill value of the unpacked numbers. Without a fill value, packed numbers that were never written are zero.
    fn fill(&self, packed: Option<&Values>) -> Fill {
        let zero = Element::Int(0);
        let number = match packed {
            Some(values) => {
                Elements::new(&self.meaning.datatype, values).next().map(|of| self.number(&of.get()))
            }
            None => Some(self.number(&zero)),
        };
        match number {
            Some(number) if number.to_bits() != 0 => Fill::Value(self.value(number)),
            _ => Fill::Default,
        }
    }

    /// As [`fill`](Self::fill), for an array that has only `_FillValue`, in a format that takes it as the fill value.
    /// The unpacked array states it in the same way.
    fn default_fill(&self, packed: Option<&Values>) -> Fill {
        let is_taken = packed.is_some_and(|packed| packed.rows.iter().any(|byte| *byte != 0));
        let is_nan = |value: &Values| {
            let of = Elements::new(&self.unpacked, value).next();
            of.is_some_and(|of| matches!(of.get(), Element::Float(number) if number.is_nan()))
        };
        match self.fill(packed) {
            Fill::Value(value) if is_taken && is_nan(&value) => Fill::Default,
            fill => fill,
        }
    }

    /// One unpacked number as an element.
    fn value(&self, number: f64) -> Values {
        let mut rows = Vec::new();
        push_float(&self.packing.unpacked, number, &mut rows);
        Values { rows: rows.into(), ..Values::default() }
    }

    /// The number that an element represents; NaN for a missing one.
    fn number(&self, element: &Element<'_>) -> f64 {
        match element {
            element if self.missing.is_missing(element) => f64::NAN,
            Element::Int(packed) => self.packing.unpack(*packed as f64),
            Element::Float(packed) => self.packing.unpack(*packed),
            _ => f64::NAN,
        }
    }

    /// Unpacks rows of elements.
    fn unpack(&self, rows: &[u8], out: &mut [u8]) {
        // For types that fit in double precision, missing numbers are identified by their floating-point value.
        match &self.meaning.datatype {
            Datatype::Int { bits: 8, signed: true } => {
                self.each(rows, out, |of| f64::from(i8::from_ne_bytes(of)));
            }
            Datatype::Int { bits: 8, signed: false } => self.each(rows, out, |[of]| f64::from(of)),
            Datatype::Int { bits: 16, signed: true } => {
                self.each(rows, out, |of| f64::from(i16::from_ne_bytes(of)));
            }
            Datatype::Int { bits: 16, signed: false } => {
                self.each(rows, out, |of| f64::from(u16::from_ne_bytes(of)));
            }
            Datatype::Int { bits: 32, signed: true } => {
                self.each(rows, out, |of| f64::from(i32::from_ne_bytes(of)));
            }
            Datatype::Int { bits: 32, signed: false } => {
                self.each(rows, out, |of| f64::from(u32::from_ne_bytes(of)));
            }
            Datatype::Float(Float::Single) => self.each(rows, out, |of| f64::from(f32::from_ne_bytes(of))),
            Datatype::Float(Float::Double) => self.each(rows, out, f64::from_ne_bytes),
            datatype => {
                let heap = Heap::default();
                let size = self.unpacked.row_size().unwrap_or(1).max(1);
                let elements = Elements::of(datatype, rows, &heap);
                for (element, out) in elements.zip(out.chunks_exact_mut(size)) {
                    out.copy_from_slice(&self.value(self.number(&element.get())).rows);
                }
            }
        }
    }

    fn each<const N: usize>(&self, rows: &[u8], out: &mut [u8], number: impl Fn([u8; N]) -> f64) {
        let unpack = |row: &[u8; N]| {
            let packed = number(*row);
            if self.missing.floats().contains(&packed) { f64::NAN } else { self.packing.unpack(packed) }
        };
        let (packed, _) = rows.as_chunks::<N>();
        match self.packing.unpacked {
            Float::Single => {
                let (out, _) = out.as_chunks_mut::<4>();
                packed.iter().zip(out).for_each(|(row, out)| *out = single(unpack(row)).to_ne_bytes());
            }
            _ => {
                let (out, _) = out.as_chunks_mut::<8>();
                packed.iter().zip(out).for_each(|(row, out)| *out = unpack(row).to_ne_bytes());
            }
        }
    }
}

struct UnpackedArray {
    array: Arc<dyn ArraySource>,
    unpacking: Unpacking,
}

impl ArrayView for UnpackedArray {
    fn viewed(&self) -> &dyn ArraySource {
        &*self.array
    }

    fn is_in_place(&self) -> bool {
        true
    }

    fn shown_datatype(&self) -> &Arc<Datatype> {
        &self.unpacking.unpacked
    }

    fn read_shown(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let row = row_size(&*self.array)?;
        rows.slices(region).try_for_each(|(part, out)| {
            let mut packed = vec![0; part.bytes(row)?];
            self.array.read_part(&part, &mut Planes::whole(&mut packed), heap, scratch)?;
            self.unpacking.unpack(&packed, out);
            Ok::<_, Error>(())
        })
    }

    fn shown_fill(&self) -> Result<Option<Values>> {
        Ok(match self.unpacking.fill(self.array.fill()?.as_ref()) {
            Fill::Value(value) => Some(value),
            _ => None,
        })
    }
}

/// Converts storage of numbers to storage of numbers of another type with this fill value, dropping what only applies
/// to the original type.
pub(crate) fn store_as_numbers(storage: &mut Storage, fill: Fill) {
    storage.fill = fill;
    storage.element = ElementStorage { endian: storage.element.endian, ..ElementStorage::default() };
    storage.filters.retain(|own| filter::find(&own.name).is_some_and(|known| known.takes_any_type));
    for own in &mut storage.filters {
        let known = filter::find(&own.name);
        // Parameters of the elements get the defaults of the new elements.
        own.parameters.retain(|(name, _)| {
            let default = known.and_then(|known| known.parameter(name)).map(|parameter| parameter.default);
            !matches!(default, Some(FilterDefault::ElementSize | FilterDefault::ElementType))
        });
    }
    clear_layout_directives(storage, false, true);
    (storage.domain, storage.tile, storage.origin) = (None, None, None);
}
