//! Client data of nbit: the number of values, whether elements have no padding, the number of elements, and the
//! significant bits of an element as a tree of types, root first.

use hyperslab_codec::{Codec, Nbit, NbitAtomic, NbitType};
use hyperslab_core::{Error, Result};

/// The codec that client data describe; `None` if elements have no padding.
pub(super) fn decode(client_data: &[u32]) -> Result<Option<Codec>> {
    let [count, whole, ..] = *client_data else {
        return Err(Error::malformed(format!(
            "{} values of client data, expected 3 or more",
            client_data.len()
        )));
    };
    if usize::try_from(count) != Ok(client_data.len()) {
        return Err(Error::malformed(format!(
            "{} values of client data, expected {count} as in the first one",
            client_data.len()
        )));
    }
    if whole != 0 {
        return Ok(None);
    }
    let mut values = Values { left: client_data.get(2..).unwrap_or_default() };
    let elements = values.next()?;
    let element = values.tree(MAX_LEVELS)?;
    Ok(Some(Nbit::new(elements, element)?.into()))
}

/// The client data of a codec.
///
/// # Errors
/// If a size exceeds 32 bits.
pub(super) fn encode(nbit: &Nbit) -> Result<Vec<u32>> {
    client_data(nbit.elements(), nbit.element(), false)
}

/// The client data for chunks of `elements` such elements, which have no padding if `is_whole` is set.
///
/// # Errors
/// If a size exceeds 32 bits.
pub(super) fn client_data(elements: usize, element: &NbitType, is_whole: bool) -> Result<Vec<u32>> {
    let mut values = vec![0, is_whole.into(), value(elements)?];
    // The type of elements that consist of whole bytes is left out.
    if !matches!(element, NbitType::Bytes { .. }) {
        append(element, &mut values)?;
    }
    let count = value(values.len())?;
    if let Some(first) = values.first_mut() {
        *first = count;
    }
    Ok(values)
}

struct Values<'a> {
    left: &'a [u32],
}

impl Values<'_> {
    fn next(&mut self) -> Result<usize> {
        let Some((value, left)) = self.left.split_first() else {
            return Err(Error::malformed("client data end within a type"));
        };
        self.left = left;
        usize::try_from(*value)
            .map_err(|_| Error::malformed(format!("size {value} exceeds the address space")))
    }

    fn tree(&mut self, levels: u32) -> Result<NbitType> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(Error::malformed(format!("types nested more than {MAX_LEVELS} levels deep")));
        };
        let kind = self.next()?;
        let size = self.next()?;
        Ok(match kind {
            ATOMIC => {
                let big_endian = match self.next()? {
                    0 => false,
                    1 => true,
                    order => return Err(Error::malformed(format!("byte order {order}, expected 0 or 1"))),
                };
                let (precision, offset) = (self.next()?, self.next()?);
                NbitType::Atomic(NbitAtomic { size, big_endian, precision, offset })
            }
            ARRAY => NbitType::Array { size, base: self.tree(levels)?.into() },
            COMPOUND => {
                let count = self.next()?;
                let mut members = Vec::new();
                for _ in 0..count {
                    members.push((self.next()?, self.tree(levels)?));
                }
                NbitType::Compound { size, members }
            }
            BYTES => NbitType::Bytes { size },
            kind => return Err(Error::malformed(format!("type {kind}, expected 1 to 4"))),
        })
    }
}

fn append(element: &NbitType, values: &mut Vec<u32>) -> Result<()> {
    let kind = match element {
        NbitType::Atomic(_) => ATOMIC,
        NbitType::Array { .. } => ARRAY,
        NbitType::Compound { .. } => COMPOUND,
        NbitType::Bytes { .. } => BYTES,
    };
    values.extend([value(kind)?, value(element.size())?]);
    match element {
        NbitType::Atomic(NbitAtomic { big_endian, precision, offset, .. }) => {
            values.extend([u32::from(*big_endian), value(*precision)?, value(*offset)?]);
            Ok(())
        }
        NbitType::Array { base, .. } => append(base, values),
        NbitType::Compound { members, .. } => {
            values.push(value(members.len())?);
            members.iter().try_for_each(|(offset, member)| {
                values.push(value(*offset)?);
                append(member, values)
            })
        }
        NbitType::Bytes { .. } => Ok(()),
    }
}

fn value(size: usize) -> Result<u32> {
    u32::try_from(size).map_err(|_| Error::invalid(format!("nbit size {size}, expected less than 2^32")))
}

const ATOMIC: usize = 1;
const ARRAY: usize = 2;
const COMPOUND: usize = 3;
const BYTES: usize = 4;

/// The maximum nesting of types, as in the codec.
const MAX_LEVELS: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    /// The client data of libhdf5 2.0 for three elements of a compound of 24 bytes: an integer of 3 bits in one byte at
    /// 1, an array of two integers of 17 bits in four bytes at 4, a string of one byte at 14, and an integer of 50 bits
    /// in eight bytes at 16.
    const CLIENT_DATA: [u32; 29] =
        [29, 0, 3, 3, 24, 4, 1, 1, 1, 0, 3, 2, 4, 2, 8, 1, 4, 0, 17, 3, 14, 4, 1, 16, 1, 8, 1, 50, 9];

    #[test]
    fn round_trips_client_data_of_libhdf5() {
        let Some(Codec::Nbit(nbit)) = decode(&CLIENT_DATA).unwrap() else { panic!("expected nbit") };
        assert_eq!(nbit.elements(), 3);
        let NbitType::Compound { size: 24, members } = nbit.element() else { panic!("expected a compound") };
        assert_eq!(members.iter().map(|(offset, _)| *offset).collect::<Vec<_>>(), [1, 4, 14, 16]);
        assert_eq!(encode(&nbit).unwrap(), CLIENT_DATA);
    }

    #[test]
    fn elements_without_padding_need_no_codec() {
        assert_eq!(decode(&[8, 1, 9, 1, 4, 0, 32, 0]).unwrap(), None);
        assert_eq!(decode(&[3, 1, 9]).unwrap(), None);
    }

    #[test]
    fn rejects_every_truncation() {
        for len in 0..CLIENT_DATA.len() {
            let mut client_data = CLIENT_DATA[..len].to_vec();
            assert!(decode(&client_data).is_err(), "{len}");
            if let Some(first) = client_data.first_mut() {
                *first = len.try_into().unwrap();
            }
            assert!(decode(&client_data).is_err(), "{len}");
        }
    }

    #[test]
    fn rejects_deeply_nested_types() {
        let mut client_data = vec![2; 4000];
        client_data[..3].copy_from_slice(&[4000, 0, 1]);
        assert_eq!(decode(&client_data).unwrap_err().to_string(), "types nested more than 32 levels deep");
    }
}
