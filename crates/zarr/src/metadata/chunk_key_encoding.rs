//! The keys of chunks.
//!
//! Spec: Zarr v3 "Chunk key encodings", Zarr v2 "Chunks"

use super::extension::ExtensionRef;
use super::{Extension, Written};
use crate::json::{Json, Object, Spot};
use hyperslab_core::Result;
use std::fmt::Write;

/// The rule that derives a key from the index of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKeyEncoding {
    /// `default`: `c/1/2`.
    Default(Separator),
    /// `v2`: `1.2`, as in version 2.
    V2(Separator),
}

/// The separator between the indices along the dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// `.`
    Dot,
    /// `/`
    Slash,
}

impl ChunkKeyEncoding {
    /// The encoding in the form of version 3.
    pub fn written(self) -> Written<ChunkKeyEncoding> {
        let (name, separator) = match self {
            ChunkKeyEncoding::Default(separator) => ("default", separator),
            ChunkKeyEncoding::V2(separator) => ("v2", separator),
        };
        let mut configuration = Object::new();
        configuration.insert("separator", separator.text().into());
        Written::new(self, Extension::new(name, Some(configuration)).emit())
    }

    /// The key of a chunk, relative to its array.
    pub fn encode(self, index: &[u64]) -> String {
        let (mut key, separator) = match self {
            ChunkKeyEncoding::Default(separator) => ("c".to_owned(), separator),
            ChunkKeyEncoding::V2(separator) => (String::new(), separator),
        };
        for place in index {
            if !key.is_empty() {
                key.push_str(separator.text());
            }
            // Writing to a string cannot fail.
            let _ = write!(key, "{place}");
        }
        if key.is_empty() {
            key.push('0');
        }
        key
    }

    /// The chunk index of a key, relative to the array, with `rank` dimensions. `None` for keys of documents and other
    /// values.
    pub fn decode(self, key: &str, rank: usize) -> Option<Vec<u64>> {
        let (index, separator) = match self {
            ChunkKeyEncoding::Default(_) if rank == 0 => return (key == "c").then(Vec::new),
            ChunkKeyEncoding::V2(_) if rank == 0 => return (key == "0").then(Vec::new),
            ChunkKeyEncoding::Default(separator) => {
                (key.strip_prefix('c')?.strip_prefix(separator.text())?, separator)
            }
            ChunkKeyEncoding::V2(separator) => (key, separator),
        };
        let place = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
        let index: Vec<u64> = index.split(separator.text()).map(place).collect::<Option<_>>()?;
        (index.len() == rank).then_some(index)
    }

    pub(crate) fn parse(json: &Json, at: &Spot<'_>) -> Result<ChunkKeyEncoding> {
        let extension = ExtensionRef::parse(json, at)?;
        extension.check_understood(at)?;
        let inner = at.name("configuration");
        let here = inner.name("separator");
        let separator = extension
            .configuration
            .and_then(|configuration| configuration.get("separator"))
            .map(|json| Separator::parse(json, &here))
            .transpose()?;
        match extension.name {
            "default" => Ok(ChunkKeyEncoding::Default(separator.unwrap_or(Separator::Slash))),
            "v2" => Ok(ChunkKeyEncoding::V2(separator.unwrap_or(Separator::Dot))),
            other => Err(at.unsupported(format!("chunk key encoding {other:?}"))),
        }
    }
}

impl Separator {
    /// The character.
    pub fn text(self) -> &'static str {
        match self {
            Separator::Dot => ".",
            Separator::Slash => "/",
        }
    }

    pub(crate) fn parse(json: &Json, at: &Spot<'_>) -> Result<Separator> {
        match json.text(at)? {
            "." => Ok(Separator::Dot),
            "/" => Ok(Separator::Slash),
            other => Err(at.malformed(format!("{other:?}, expected \".\" or \"/\""))),
        }
    }
}
