//! N-bit: stores only the significant bits of elements, without padding; filter id 5 in the HDF5 registry.
//!
//! Bits follow each other without gaps. Each number starts with its most significant bit, in either byte order.

use crate::bits::{BitReader, BitWriter};
use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, named};
use hyperslab_core::{Error, Result};

/// Stores only the significant bits of elements. Decoding sets padding bits to 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nbit {
    elements: usize,
    element: NbitType,
    /// Significant bits of an element.
    bits: u64,
}

/// The significant bits of an element, by its datatype.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NbitType {
    /// A number.
    Atomic(NbitAtomic),
    /// An array: as many elements of type `base` as fit into `size` bytes.
    Array {
        /// The size of the array in bytes.
        size: usize,
        /// The type of its elements.
        base: Box<NbitType>,
    },
    /// A compound. Members may have gaps between them.
    Compound {
        /// The size in bytes, with gaps.
        size: usize,
        /// The byte offset and the type of each member.
        members: Vec<(usize, NbitType)>,
    },
    /// Bytes that are stored unchanged.
    Bytes {
        /// The number of bytes.
        size: usize,
    },
}

/// A number with padding bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NbitAtomic {
    /// The size in bytes, with padding.
    pub size: usize,
    /// Whether the number is big-endian.
    pub big_endian: bool,
    /// The number of significant bits.
    pub precision: usize,
    /// The number of padding bits below the least significant bit.
    pub offset: usize,
}

impl Nbit {
    /// A codec of exactly `elements` elements.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a part exceeds the part that
    /// contains it, if members overlap, or if the type is nested more than 32 levels deep.
    pub fn new(elements: usize, element: NbitType) -> Result<Nbit> {
        element.check(MAX_LEVELS)?;
        let bits = element.bits();
        let sizes = elements.checked_mul(element.size()).zip(bits.checked_mul(elements as u64));
        if sizes.is_none() {
            return Err(Error::invalid(format!(
                "{elements} elements of {} bytes for nbit, which exceed the address space",
                element.size()
            )));
        }
        Ok(Nbit { elements, element, bits })
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The type of an element.
    pub fn element(&self) -> &NbitType {
        &self.element
    }

    /// The decoded size of all elements in bytes.
    fn size(&self) -> usize {
        self.elements * self.element.size()
    }

    /// The significant bits of all elements, in whole bytes, rounded down.
    fn whole_bytes(&self) -> usize {
        usize::try_from(self.bits * self.elements as u64 / 8).unwrap_or(usize::MAX)
    }
}

impl Transform for Nbit {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        (max as u64 >= (self.bits * self.elements as u64).div_ceil(8)).then_some((self.size(), self.size()))
    }

    /// One byte more than the whole bytes, even if no bits are left for it, as in libhdf5.
    fn encoded_size(&self, raw: usize) -> Option<usize> {
        (raw == self.size()).then(|| self.whole_bytes().saturating_add(1))
    }

    fn max_encoded_size(&self, _: usize) -> usize {
        self.whole_bytes().saturating_add(1)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let out = room(out, self.size())?;
        let mut bits = BitReader::new(stored);
        let decoded = if let NbitType::Atomic(atomic) = &self.element {
            atomic.decode(&mut bits, out)
        } else {
            out.fill(0);
            let mut elements = out.chunks_exact_mut(self.element.size());
            elements.try_for_each(|element| self.element.decode(&mut bits, element))
        };
        match decoded {
            Some(()) => Ok(self.size()),
            None => Err(Error::malformed(format!(
                "nbit data of {} bytes, expected {} bits for each of {} elements",
                stored.len(),
                self.bits,
                self.elements
            ))),
        }
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        if raw.len() != self.size() {
            return Err(Error::invalid(format!("{} bytes for nbit, expected {}", raw.len(), self.size())));
        }
        out.clear();
        let mut bits = BitWriter::after(std::mem::take(out));
        match &self.element {
            NbitType::Atomic(atomic) => atomic.encode(&mut bits, raw),
            element => raw.chunks_exact(element.size()).for_each(|raw| element.encode(&mut bits, raw)),
        }
        *out = bits.finish();
        out.resize(self.whole_bytes().saturating_add(1), 0);
        Ok(())
    }
}

/// HDF5 derives this codec from the datatype and the chunk. It has no parameters in the vocabulary.
impl Vocabulary for Nbit {
    const NAMES: &'static [&'static str] = &[];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Err(given.not_by_name())
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("nbit", [])
    }
}

impl NbitType {
    /// The decoded size in bytes, with padding.
    pub fn size(&self) -> usize {
        match self {
            NbitType::Atomic(NbitAtomic { size, .. })
            | NbitType::Array { size, .. }
            | NbitType::Compound { size, .. }
            | NbitType::Bytes { size } => *size,
        }
    }

    fn check(&self, levels: u32) -> Result<()> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(Error::invalid(format!(
                "nbit type of more than {MAX_LEVELS} levels, expected at most {MAX_LEVELS}"
            )));
        };
        if self.size() == 0 {
            return Err(Error::invalid("nbit type of 0 bytes, expected 1 or more"));
        }
        match self {
            NbitType::Atomic(atomic) => atomic.check(),
            NbitType::Bytes { .. } => Ok(()),
            NbitType::Array { size, base } => {
                base.check(levels)?;
                if base.size() > *size {
                    let base = base.size();
                    return Err(Error::invalid(format!(
                        "nbit array of {size} bytes, expected a multiple of its elements of {base} bytes"
                    )));
                }
                Ok(())
            }
            NbitType::Compound { size, members } => {
                let mut used = 0_usize;
                for (offset, member) in members {
                    member.check(levels)?;
                    used = used.saturating_add(member.size());
                    if used > *size || offset.saturating_add(member.size()) > *size {
                        let member = member.size();
                        return Err(Error::invalid(format!(
                            "nbit compound of {size} bytes has a member of {member} bytes at offset {offset}, which exceeds it or overlaps another"
                        )));
                    }
                }
                Ok(())
            }
        }
    }

    /// The number of significant bits of one element.
    fn bits(&self) -> u64 {
        match self {
            NbitType::Atomic(atomic) => atomic.precision as u64,
            NbitType::Bytes { size } => *size as u64 * 8,
            NbitType::Array { size, base } => (size / base.size()) as u64 * base.bits(),
            NbitType::Compound { members, .. } => members.iter().map(|(_, member)| member.bits()).sum(),
        }
    }

    /// Decodes one element into `out`, which is zeros. Returns `None` if the bits end early.
    fn decode(&self, bits: &mut BitReader<'_>, out: &mut [u8]) -> Option<()> {
        match self {
            NbitType::Atomic(atomic) => atomic.decode(bits, out),
            NbitType::Bytes { .. } => {
                for byte in out {
                    *byte = low(bits.read(8)?);
                }
                Some(())
            }
            NbitType::Array { base, .. } => match &**base {
                NbitType::Atomic(atomic) => atomic.decode(bits, out),
                base => out.chunks_exact_mut(base.size()).try_for_each(|part| base.decode(bits, part)),
            },
            NbitType::Compound { members, .. } => members.iter().try_for_each(|(offset, member)| {
                let part = out.get_mut(*offset..)?.get_mut(..member.size())?;
                member.decode(bits, part)
            }),
        }
    }

    fn encode(&self, bits: &mut BitWriter, raw: &[u8]) {
        match self {
            NbitType::Atomic(atomic) => atomic.encode(bits, raw),
            NbitType::Bytes { .. } => {
                for byte in raw {
                    bits.write(8, (*byte).into());
                }
            }
            NbitType::Array { base, .. } => match &**base {
                NbitType::Atomic(atomic) => atomic.encode(bits, raw),
                base => raw.chunks_exact(base.size()).for_each(|part| base.encode(bits, part)),
            },
            NbitType::Compound { members, .. } => {
                for (offset, member) in members {
                    let part = raw.get(*offset..).and_then(|part| part.get(..member.size()));
                    member.encode(bits, part.unwrap_or_default());
                }
            }
        }
    }
}

impl NbitAtomic {
    fn check(&self) -> Result<()> {
        let end = self.precision.checked_add(self.offset);
        if self.precision > 0 && end.is_some_and(|end| end.div_ceil(8) <= self.size) {
            return Ok(());
        }
        let NbitAtomic { size, precision, offset, .. } = self;
        Err(Error::invalid(format!(
            "nbit number of {size} bytes with precision {precision} at bit offset {offset}, expected bits within it"
        )))
    }

    /// Decodes numbers until `out` is full.
    fn decode(&self, bits: &mut BitReader<'_>, out: &mut [u8]) -> Option<()> {
        match self.size {
            1 => self.decode_words::<1>(bits, out),
            2 => self.decode_words::<2>(bits, out),
            4 => self.decode_words::<4>(bits, out),
            8 => self.decode_words::<8>(bits, out),
            size => out.chunks_exact_mut(size).try_for_each(|number| {
                number.fill(0);
                self.parts().try_for_each(|part| {
                    *number.get_mut(part.byte)? = low(bits.read(part.bits)? << part.shift);
                    Some(())
                })
            }),
        }
    }

    /// Decodes numbers of at most eight bytes.
    fn decode_words<const SIZE: usize>(&self, bits: &mut BitReader<'_>, out: &mut [u8]) -> Option<()> {
        let precision = u32::try_from(self.precision).ok()?;
        let shift = u32::try_from(self.offset).ok()?;
        let (numbers, _) = out.as_chunks_mut::<SIZE>();
        for number in numbers {
            let value = bits.read_long(precision)? << shift;
            if self.big_endian {
                if let Some(bytes) = value.to_be_bytes().last_chunk() {
                    *number = *bytes;
                }
            } else if let Some(bytes) = value.to_le_bytes().first_chunk() {
                *number = *bytes;
            }
        }
        Some(())
    }

    /// Appends the significant bits of numbers.
    fn encode(&self, bits: &mut BitWriter, raw: &[u8]) {
        match self.size {
            1 => self.encode_words::<1>(bits, raw),
            2 => self.encode_words::<2>(bits, raw),
            4 => self.encode_words::<4>(bits, raw),
            8 => self.encode_words::<8>(bits, raw),
            size => {
                for number in raw.chunks_exact(size) {
                    for part in self.parts() {
                        let byte = number.get(part.byte).copied().unwrap_or(0);
                        bits.write(part.bits, u64::from(byte) >> part.shift & ((1 << part.bits) - 1));
                    }
                }
            }
        }
    }

    fn encode_words<const SIZE: usize>(&self, bits: &mut BitWriter, raw: &[u8]) {
        let sizes = u32::try_from(self.precision).ok().zip(u32::try_from(self.offset).ok());
        let Some((precision, shift)) = sizes else { return };
        let mask = u64::MAX.checked_shr(64 - precision).unwrap_or(0);
        for number in raw.as_chunks::<SIZE>().0 {
            let mut bytes = [0; 8];
            if let Some(low) = bytes.first_chunk_mut() {
                *low = *number;
            }
            if self.big_endian
                && let Some(low) = bytes.get_mut(..SIZE)
            {
                low.reverse();
            }
            bits.write(precision, u64::from_le_bytes(bytes) >> shift & mask);
        }
    }

    /// The bytes that hold significant bits, the most significant first.
    fn parts(&self) -> impl Iterator<Item = Part> {
        let first = self.offset / 8;
        let end = self.precision + self.offset;
        (first..end.div_ceil(8)).rev().filter_map(move |significance| {
            let from = self.offset.saturating_sub(significance * 8);
            let to = (end - significance * 8).min(8);
            let byte = if self.big_endian { self.size - 1 - significance } else { significance };
            Some(Part { byte, shift: u32::try_from(from).ok()?, bits: u32::try_from(to - from).ok()? })
        })
    }
}

/// The significant bits within one byte of a number.
struct Part {
    /// The index of the byte in the number.
    byte: usize,
    /// The number of padding bits below them.
    shift: u32,
    bits: u32,
}

/// The lowest byte of a word.
fn low(value: u64) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low
}

/// The maximum nesting of arrays and compounds, far more than real types have.
const MAX_LEVELS: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;
    use hyperslab_core::ErrorKind;
    use proptest::prelude::*;

    fn stored(nbit: &Nbit, raw: &[u8]) -> Vec<u8> {
        crate::encode(&[nbit.clone().into()], raw, &mut Scratch::new()).unwrap()
    }

    fn decoded(nbit: &Nbit, stored: &[u8]) -> Result<Vec<u8>> {
        let mut out = vec![0xee; nbit.size()];
        crate::decode(&[nbit.clone().into()], stored, &mut out, &mut Scratch::new())?;
        Ok(out)
    }

    fn atomic() -> impl Strategy<Value = NbitType> {
        (1..=18_usize, any::<bool>())
            .prop_flat_map(|(size, big_endian)| (Just(size), Just(big_endian), 1..=size * 8))
            .prop_flat_map(|(size, big_endian, precision)| {
                (0..=size * 8 - precision).prop_map(move |offset| {
                    NbitType::Atomic(NbitAtomic { size, big_endian, precision, offset })
                })
            })
    }

    fn any_type() -> impl Strategy<Value = NbitType> {
        let leaf = prop_oneof![atomic(), (1..9_usize).prop_map(|size| NbitType::Bytes { size })];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                (1..5_usize, inner.clone()).prop_map(|(count, base)| {
                    NbitType::Array { size: base.size() * count, base: base.into() }
                }),
                prop::collection::vec((0..3_usize, inner), 0..4).prop_map(|parts| {
                    let (mut size, mut members) = (1, vec![]);
                    for (gap, member) in parts {
                        let offset = size + gap;
                        size = offset + member.size();
                        members.push((offset, member));
                    }
                    NbitType::Compound { size, members }
                }),
            ]
        })
    }

    /// Keeps the significant bits of `raw`, by the definition.
    fn significant(nbit: &NbitType, raw: &[u8], out: &mut [u8]) {
        match nbit {
            NbitType::Atomic(atomic) => {
                for bit in atomic.offset..atomic.offset + atomic.precision {
                    let byte = if atomic.big_endian { atomic.size - 1 - bit / 8 } else { bit / 8 };
                    out[byte] |= raw[byte] & 1 << (bit % 8);
                }
            }
            NbitType::Bytes { .. } => out.copy_from_slice(raw),
            NbitType::Array { base, .. } => {
                for (raw, out) in raw.chunks(base.size()).zip(out.chunks_mut(base.size())) {
                    significant(base, raw, out);
                }
            }
            NbitType::Compound { members, .. } => {
                for (offset, member) in members {
                    let range = *offset..offset + member.size();
                    significant(member, &raw[range.clone()], &mut out[range]);
                }
            }
        }
    }

    fn nbit() -> impl Strategy<Value = (Nbit, Vec<u8>)> {
        (any_type(), 0..9_usize).prop_flat_map(|(element, elements)| {
            let len = element.size() * elements;
            (Just(Nbit::new(elements, element).unwrap()), prop::collection::vec(any::<u8>(), len))
        })
    }

    proptest! {
        #[test]
        fn keeps_the_significant_bits_and_no_others((nbit, raw) in nbit()) {
            let stored = stored(&nbit, &raw);
            prop_assert_eq!(nbit.encoded_size(raw.len()), Some(stored.len()));
            let mut expected = vec![0; raw.len()];
            let elements = raw.chunks(nbit.element.size()).zip(expected.chunks_mut(nbit.element.size()));
            elements.for_each(|(raw, out)| significant(&nbit.element, raw, out));
            prop_assert_eq!(decoded(&nbit, &stored).unwrap(), expected);
        }

        #[test]
        fn rejects_every_truncation((nbit, raw) in nbit()) {
            let stored = stored(&nbit, &raw);
            let needed = usize::try_from((nbit.bits * nbit.elements as u64).div_ceil(8)).unwrap();
            for len in 0..stored.len() {
                match decoded(&nbit, &stored[..len]) {
                    Ok(_) => prop_assert_eq!(len, needed),
                    Err(e) => prop_assert_eq!(e.kind(), ErrorKind::Malformed),
                }
            }
        }

        #[test]
        fn any_bytes_decode_or_are_malformed(
            (nbit, _) in nbit(),
            stored in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            if let Err(e) = decoded(&nbit, &stored) {
                prop_assert_eq!(e.kind(), ErrorKind::Malformed);
            }
        }
    }

    #[test]
    fn stores_the_most_significant_bit_first() {
        for (big_endian, raw) in [(false, [0x40, 0x3a, 0x60, 0x3a]), (true, [0x3a, 0x40, 0x3a, 0x60])] {
            let atomic = NbitAtomic { size: 2, big_endian, precision: 9, offset: 5 };
            let nbit = Nbit::new(2, NbitType::Atomic(atomic)).unwrap();
            // 1 1101 0010 and 1 1101 0011.
            assert_eq!(stored(&nbit, &raw), [0xe9, 0x74, 0xc0]);
            assert_eq!(decoded(&nbit, &[0xe9, 0x74, 0xc0]).unwrap(), raw);
        }
    }

    #[test]
    fn rejects_parts_outside_of_the_part_that_contains_them() {
        let atomic = |precision, offset| {
            NbitType::Atomic(NbitAtomic { size: 2, big_endian: false, precision, offset })
        };
        let number = |precision, offset: &str| {
            format!(
                "nbit number of 2 bytes with precision {precision} at bit offset {offset}, expected bits within it"
            )
        };
        let refused = |element| Nbit::new(1, element).unwrap_err().to_string();
        assert_eq!(refused(atomic(0, 0)), number(0, "0"));
        assert_eq!(refused(atomic(9, 8)), number(9, "8"));
        assert_eq!(refused(atomic(1, usize::MAX)), number(1, &usize::MAX.to_string()));
        assert_eq!(refused(NbitType::Bytes { size: 0 }), "nbit type of 0 bytes, expected 1 or more");
        let array = NbitType::Array { size: 1, base: atomic(9, 0).into() };
        assert_eq!(refused(array), "nbit array of 1 bytes, expected a multiple of its elements of 2 bytes");
        let compound = |offset| NbitType::Compound { size: 3, members: vec![(offset, atomic(9, 0))] };
        assert_eq!(
            refused(compound(2)),
            "nbit compound of 3 bytes has a member of 2 bytes at offset 2, which exceeds it or overlaps another"
        );
        let overlapping = NbitType::Compound { size: 3, members: vec![(0, atomic(9, 0)), (1, atomic(9, 0))] };
        assert_eq!(
            refused(overlapping),
            "nbit compound of 3 bytes has a member of 2 bytes at offset 1, which exceeds it or overlaps another"
        );
        let mut deep = atomic(9, 0);
        for _ in 0..32 {
            deep = NbitType::Array { size: 2, base: deep.into() };
        }
        assert_eq!(refused(deep), "nbit type of more than 32 levels, expected at most 32");
        assert!(Nbit::new(usize::MAX, atomic(9, 0)).is_err());
    }
}
