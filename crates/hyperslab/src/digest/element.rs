//! The hashed bytes of an element, equal in every format.

use crate::canonical::{canonical, is_verbatim};
use crate::source::{Item, Source};
use blake3::Hasher;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Elements, NodePath, Values};

pub(super) fn head(datatype: &str, shape: Option<&[u64]>) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(b"ndl-digest-1\n").update(datatype.as_bytes()).update(b"\n");
    match shape {
        Some(shape) => {
            let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
            hasher.update(extents.join(",").as_bytes()).update(b"\n");
        }
        None => {
            hasher.update(b"null\n");
        }
    }
    hasher
}

/// How elements of a datatype are hashed.
pub(super) struct Hashing<'a> {
    datatype: &'a Datatype,
    /// Whether rows already have the hashed bytes.
    verbatim: bool,
}

impl<'a> Hashing<'a> {
    pub(super) fn new(datatype: &'a Datatype) -> Self {
        Hashing { datatype, verbatim: is_verbatim(datatype) }
    }

    pub(super) fn hash(
        &self,
        source: &dyn Source,
        values: &Values,
        count: Option<u64>,
        hasher: &mut Hasher,
    ) -> Result<()> {
        if self.verbatim {
            hasher.update(&values.rows);
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(1 << 16);
        let elements = Elements::new(self.datatype, values);
        if count.is_some_and(|count| count != elements.len() as u64) {
            return Err(Error::malformed("elements of no bytes cannot be counted"));
        }
        for element in elements {
            canonical(&|path| rank_of(source, path), element, &mut bytes)?;
            if bytes.len() >= 1 << 16 {
                hasher.update(&bytes);
                bytes.clear();
            }
        }
        hasher.update(&bytes);
        Ok(())
    }
}

/// The rank of an array, for selections of all or no elements, which do not store it.
fn rank_of(source: &dyn Source, path: &NodePath) -> usize {
    match source.find(path).map(|entry| entry.item) {
        Ok(Item::Array { shape, .. }) => shape.dims().len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::testing::Nothing;
    use bytes::Bytes;
    use hyperslab_core::rows::Slot;
    use hyperslab_model::{Float, Text};

    #[test]
    fn worked_example_scalar() {
        let t = Datatype::int(32, true);
        let values = Values { rows: Bytes::copy_from_slice(&42_i32.to_ne_bytes()), ..Values::default() };
        let mut hasher = head(&t.to_string(), Some(&[]));
        Hashing::new(&t).hash(&Nothing, &values, Some(1), &mut hasher).unwrap();
        assert_eq!(
            hasher.finalize().to_string(),
            "6bb45e5f179b49e5b80e08d5155fcc9b100d0bc916776c3726b7a3bde0ca801a"
        );
    }

    #[test]
    fn worked_example_strings() {
        let t = Datatype::String(Text::Variable);
        let mut values = Values::default();
        values.heap.push(Bytes::from_static("aé".as_bytes())).unwrap();
        let slots = [Slot { buffer: 0, count: 1, offset: 0 }, Slot { buffer: 0, count: 2, offset: 1 }];
        values.rows = slots.iter().flat_map(|slot| slot.to_bytes()).collect::<Vec<_>>().into();
        let mut hasher = head(&t.to_string(), Some(&[2]));
        Hashing::new(&t).hash(&Nothing, &values, Some(2), &mut hasher).unwrap();
        assert_eq!(
            hasher.finalize().to_string(),
            "cd30cd073d2f88b1b0e43b98015ed2bb971d979463d59b13d4e4179cc235370b"
        );
    }

    #[test]
    fn values_that_can_be_null_follow_a_byte_that_says_whether_they_are() {
        let t = Datatype::Nullable(Box::new(Datatype::int(16, true)));
        let rows = [0_u8, 9, 9, 1, 5, 0];
        let values = Values { rows: Bytes::copy_from_slice(&rows), ..Values::default() };
        let mut hasher = head(&t.to_string(), Some(&[2]));
        Hashing::new(&t).hash(&Nothing, &values, Some(2), &mut hasher).unwrap();
        let mut expected = head("nullable(int16)", Some(&[2]));
        expected.update(&[0, 1, 5, 0]);
        assert_eq!(hasher.finalize(), expected.finalize());
    }

    #[test]
    fn verbatim_rows_hash_as_element_by_element() {
        let t = Datatype::Compound(vec![
            hyperslab_model::Member { name: "a".into(), datatype: Datatype::int(16, true) },
            hyperslab_model::Member { name: "b".into(), datatype: Datatype::Float(Float::Double) },
        ]);
        let values = Values { rows: (0..=99).collect::<Vec<u8>>().into(), ..Values::default() };
        let mut fast = head("t", Some(&[10]));
        Hashing { datatype: &t, verbatim: true }.hash(&Nothing, &values, Some(10), &mut fast).unwrap();
        let mut slow = head("t", Some(&[10]));
        Hashing { datatype: &t, verbatim: false }.hash(&Nothing, &values, Some(10), &mut slow).unwrap();
        assert_eq!(fast.finalize(), slow.finalize());
    }

    #[test]
    fn sequences_hash_as_their_length_and_their_elements() {
        // 24-bit integers are stored in rows of four bytes, and hashed as three.
        for (bits, row) in [(16, 2), (24, 4), (64, 8)] {
            let base = Datatype::int(bits, false);
            let rows: Vec<u8> = (1..=3_u64).flat_map(|n| n.to_le_bytes().into_iter().take(row)).collect();
            let t = Datatype::Vlen(Box::new(base));
            let mut values = Values::default();
            values.heap.push(rows.into()).unwrap();
            values.rows = Slot { buffer: 0, count: 3, offset: 0 }.to_bytes().to_vec().into();
            let mut found = head("t", Some(&[1]));
            Hashing::new(&t).hash(&Nothing, &values, Some(1), &mut found).unwrap();
            let mut expected = head("t", Some(&[1]));
            expected.update(&3_u64.to_le_bytes());
            let size = usize::from(bits) / 8;
            for n in 1..=3_u64 {
                expected.update(&n.to_le_bytes()[..size]);
            }
            assert_eq!(found.finalize(), expected.finalize(), "{bits} bits");
        }
    }
}
