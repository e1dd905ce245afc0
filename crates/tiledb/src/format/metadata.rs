//! Metadata of arrays and groups: the body of the generic tile in a metadata file.
//!
//! Spec: TileDB format_spec, metadata.md "Metadata File"

use super::data_type::DataType;
use super::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Changes to metadata, in the order in which they were written. Changes in later files come later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The changes.
    pub entries: Vec<Entry>,
}

/// A key that was assigned a value, or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Vec<u8>,
    /// The new value. `None` if the key is deleted.
    pub value: Option<Value>,
}

/// A value of metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The datatype.
    pub data_type: DataType,
    /// The bytes of the values. The number of values is the number of bytes divided by the size of the datatype.
    pub bytes: Vec<u8>,
}

impl Structure for Metadata {
    type Context = ();
    const NAME: &'static str = "Metadata";

    /// All bytes belong to entries, since their number is not stored.
    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let mut entries = Vec::new();
        while !d.is_empty() {
            entries.push(Entry::decode(d, &())?);
        }
        Ok(Metadata { entries })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        self.entries.iter().try_for_each(|entry| entry.encode(e, &()))
    }
}

impl Structure for Entry {
    type Context = ();
    const NAME: &'static str = "Metadata";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let key = field::bytes32(d)?;
        let value = match field::boolean(d, "deletion")? {
            true => None,
            false => Some(Value::decode(d)?),
        };
        Ok(Entry { key, value })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        field::put_bytes32(e, &self.key)?;
        field::put_boolean(e, self.value.is_none());
        self.value.as_ref().map_or(Ok(()), |value| value.encode(e))
    }
}

impl Value {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let data_type = DataType::decode(d, &())?;
        let count = u64::from(d.u32()?);
        let count = d.count(count, data_type.size())?;
        let bytes = d.take(count.saturating_mul(data_type.size()))?.to_vec();
        Ok(Value { data_type, bytes })
    }

    fn encode(&self, e: &mut Encoder) -> Result<()> {
        let (len, size) = (self.bytes.len(), self.data_type.size());
        if !len.is_multiple_of(size) {
            return Err(Error::invalid(format!("{len} bytes of values of {size} bytes")));
        }
        self.data_type.encode(e, &())?;
        e.len_as(4, len / size)?;
        e.bytes(&self.bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    // A file that is cut between two entries is a valid file with fewer entries.
    structure_tests!(Metadata, context: (),
        golden: [include_str!("../../tests/golden/metadata.hex"), include_str!("../../tests/golden/metadata_deleted.hex")],
        values: [Metadata::default()], open_ended);

    mod entry {
        use super::*;
        structure_tests!(Entry, context: (), golden: [], values: [
            Entry { key: b"gone".to_vec(), value: None },
            Entry { key: b"empty".to_vec(), value: Some(Value { data_type: DataType::StringUtf8, bytes: vec![] }) },
            Entry { key: vec![], value: Some(Value { data_type: DataType::Float64, bytes: vec![0; 16] }) },
        ]);
    }

    #[test]
    fn deleted_keys_have_no_value() {
        let bytes =
            crate::format::structure_tests::hex(include_str!("../../tests/golden/metadata_deleted.hex"));
        let metadata = Metadata::decode(&mut Decoder::new("Metadata", 0, &bytes), &()).unwrap();
        let deleted = metadata.entries.iter().find(|entry| entry.key == b"number").unwrap();
        assert_eq!(deleted.value, None);
    }

    #[test]
    fn refuses_parts_of_values() {
        let value = Some(Value { data_type: DataType::Int32, bytes: vec![0; 6] });
        let e = Entry { key: b"k".to_vec(), value }.encode(&mut Encoder::new(), &()).unwrap_err();
        assert_eq!(e.detail(), "6 bytes of values of 4 bytes");
    }
}
