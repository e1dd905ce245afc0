//! The codecs that chunks are written through, as either version writes them.
//!
//! Spec: Zarr v3 "Codecs", zarr-extensions/codecs, numcodecs

use super::Version;
use crate::codec::{Kind, Row};
use crate::json::Object;
use crate::metadata::Extension;
use crate::metadata::v2::CodecConfiguration;
use hyperslab_codec::Codec;
use hyperslab_core::{Error, Result};

/// One codec that chunks pass.
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenCodec {
    /// A codec that other formats have as well.
    Codec(Codec),
    /// Any codec of numcodecs, by its `id` there and its parameters.
    Numcodecs {
        /// The name.
        id: String,
        /// All that stands beside the name.
        parameters: Object,
    },
}

impl<T: Into<Codec>> From<T> for WrittenCodec {
    fn from(codec: T) -> WrittenCodec {
        WrittenCodec::Codec(codec.into())
    }
}

impl WrittenCodec {
    /// As version 3 has it: registered where it is, else with the prefix `numcodecs.`.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for codecs that Zarr has no name for.
    pub fn registered(&self) -> Result<Extension> {
        match self {
            WrittenCodec::Codec(codec) => {
                let (row, parameters) = row(codec, Version::V3)?;
                Ok(row.extension(parameters))
            }
            WrittenCodec::Numcodecs { id, parameters } => Ok(match Row::of_id(id) {
                Some(row) => row.extension(parameters.clone()),
                None => Extension::new(format!("numcodecs.{id}"), Some(parameters.clone())),
            }),
        }
    }

    /// As version 2 has it.
    ///
    /// # Errors
    /// As [`WrittenCodec::registered`].
    pub fn configuration(&self) -> Result<CodecConfiguration> {
        match self {
            WrittenCodec::Codec(codec) => {
                let (row, parameters) = row(codec, Version::V2)?;
                Ok(CodecConfiguration { id: row.id.to_owned(), parameters })
            }
            WrittenCodec::Numcodecs { id, parameters } => {
                Ok(CodecConfiguration { id: id.clone(), parameters: parameters.clone() })
            }
        }
    }

    /// Whether it takes and gives arrays, and not bytes.
    pub fn is_of_arrays(&self) -> bool {
        self.kind() == Some(Kind::Elements)
    }

    /// Whether it makes bytes of numbers, so that version 3 has no `bytes` before it.
    pub(super) fn makes_bytes(&self) -> bool {
        self.kind() == Some(Kind::NumbersToBytes)
    }

    /// Whether version 2 calls it a filter even where it is the last.
    pub(super) fn is_filter(&self) -> bool {
        matches!(self.kind(), Some(Kind::Elements | Kind::Filter))
    }

    fn kind(&self) -> Option<Kind> {
        match self {
            WrittenCodec::Codec(codec) => Row::of(codec, Version::V3).map(|(row, _)| row.kind),
            WrittenCodec::Numcodecs { id, .. } => Row::of_id(id).map(|row| row.kind),
        }
    }
}

fn row(codec: &Codec, version: Version) -> Result<(&'static Row, Object)> {
    Row::of(codec, version).ok_or_else(|| {
        let debug = format!("{codec:?}");
        let name = debug.split(['(', ' ']).next().unwrap_or_default();
        Error::unsupported(format!("the codec {name}, which Zarr does not have"))
    })
}
