//! The record of what was written to an array.

use hyperslab_core::{Error, Result};
use hyperslab_model::NodePath;
use serde_json::{Value, json};

/// Records which chunks of an array were written. Processes send it as [JSON](Receipt::to_json).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    array: NodePath,
    /// Their indices in the grid of the array.
    chunks: Vec<Vec<u64>>,
}

impl Receipt {
    pub(super) fn new(array: &NodePath, chunks: Vec<Vec<u64>>) -> Receipt {
        Receipt { array: array.clone(), chunks }
    }

    /// The array.
    pub fn array(&self) -> &NodePath {
        &self.array
    }

    /// The indices of the chunks in the grid of the array.
    pub fn chunks(&self) -> &[Vec<u64>] {
        &self.chunks
    }

    /// The receipt as JSON.
    pub fn to_json(&self) -> String {
        json!({ "array": self.array.as_str(), "chunks": self.chunks }).to_string()
    }

    /// Parses a receipt that [`Receipt::to_json`] wrote.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for any other text.
    pub fn of_json(text: &str) -> Result<Receipt> {
        let parsed = || {
            let json: Value = serde_json::from_str(text).ok()?;
            let array = NodePath::new(json.get("array")?.as_str()?).ok()?;
            let index = |of: &Value| of.as_array()?.iter().map(Value::as_u64).collect();
            let chunks = json.get("chunks")?.as_array()?.iter().map(index);
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
        let receipt = Receipt::new(&NodePath::new("/a/b").unwrap(), vec![vec![0, 7], vec![1, 7]]);
        assert_eq!(Receipt::of_json(&receipt.to_json()).unwrap(), receipt);
        assert!(Receipt::of_json("{}").is_err() && Receipt::of_json("[").is_err());
    }
}
