//! What was written of an array.

use crate::formats::WrittenChunk;
use hyperslab_core::{Error, Result};
use hyperslab_model::NodePath;
use serde_json::{Value, json};

/// Tells which chunks of an array were written. Processes send it as [text](Receipt::to_json).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    array: NodePath,
    chunks: Vec<StoredReceipt>,
}

/// A chunk that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReceipt {
    /// Its index in the grid of the array.
    pub index: Vec<u64>,
    /// The number of its encoded bytes.
    pub len: u64,
    /// The BLAKE3 digest of these, in hexadecimal digits.
    pub digest: String,
}

impl Receipt {
    pub(super) fn new(array: &NodePath, chunks: Vec<WrittenChunk>) -> Receipt {
        let one = |WrittenChunk { index, len, digest }| {
            let digest = blake3::Hash::from_bytes(digest).to_hex().to_string();
            StoredReceipt { index, len, digest }
        };
        Receipt { array: array.clone(), chunks: chunks.into_iter().map(one).collect() }
    }

    /// The array.
    pub fn array(&self) -> &NodePath {
        &self.array
    }

    /// The chunks.
    pub fn chunks(&self) -> &[StoredReceipt] {
        &self.chunks
    }

    /// The receipt as JSON.
    pub fn to_json(&self) -> String {
        let chunks = self.chunks.iter().map(|of| json!([of.index, of.len, of.digest]));
        json!({ "array": self.array.as_str(), "chunks": chunks.collect::<Vec<_>>() }).to_string()
    }

    /// The receipt that [`Receipt::to_json`] wrote.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for other texts.
    pub fn of_json(text: &str) -> Result<Receipt> {
        let parsed = || {
            let json: Value = serde_json::from_str(text).ok()?;
            let array = NodePath::new(json.get("array")?.as_str()?).ok()?;
            let chunks = json.get("chunks")?.as_array()?.iter().map(|of| {
                let index = of.get(0)?.as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?;
                let (len, digest) = (of.get(1)?.as_u64()?, of.get(2)?.as_str()?.to_owned());
                Some(StoredReceipt { index, len, digest })
            });
            Some(Receipt { array, chunks: chunks.collect::<Option<_>>()? })
        };
        parsed().ok_or_else(|| Error::invalid("a receipt that this library has not written"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_are_sent_as_text() {
        let written = WrittenChunk { index: vec![0, 7], len: 40, digest: [9; 32] };
        let receipt = Receipt::new(&NodePath::new("/a/b").unwrap(), vec![written]);
        assert_eq!(Receipt::of_json(&receipt.to_json()).unwrap(), receipt);
        assert!(Receipt::of_json("{}").is_err() && Receipt::of_json("[").is_err());
    }
}
