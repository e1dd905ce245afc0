//! The codecs of chunks, in the form of version 2 or 3.
//!
//! Spec: Zarr v3 "Codecs", zarr-extensions/codecs, numcodecs

use super::Version;
use crate::codec::{Kind, PREFIX, Row};
use crate::json::Object;
use crate::metadata::Extension;
use crate::metadata::v2::CodecConfiguration;
use hyperslab_codec::Codec;
use hyperslab_core::{Error, Result};

/// One codec of a chunk.
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenCodec {
    /// A codec that other formats also have.
    Codec(Codec),
    /// Any codec of numcodecs, by its `id` there and its parameters.
    Numcodecs {
        /// The name.
        id: String,
        /// The other members of its configuration.
        parameters: Object,
    },
}

impl<T: Into<Codec>> From<T> for WrittenCodec {
    fn from(codec: T) -> WrittenCodec {
        WrittenCodec::Codec(codec.into())
    }
}

impl WrittenCodec {
    /// The codec in the form of version 3: with its registered name, or with the prefix `numcodecs.`.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for codecs without a name in Zarr.
    pub fn registered(&self) -> Result<Extension> {
        match self {
            WrittenCodec::Codec(codec) => {
                let (row, parameters) = row(codec, Version::V3)?;
                Ok(row.extension(parameters))
            }
            WrittenCodec::Numcodecs { id, parameters } => Ok(match Row::of_id(id) {
                Some(row) => row.extension(parameters.clone()),
                None => Extension::new(format!("{PREFIX}{id}"), Some(parameters.clone())),
            }),
        }
    }

    /// Whether version 3 registers the codec under its own name, so that readers without numcodecs also support it.
    pub fn is_registered(&self) -> bool {
        self.registered().is_ok_and(|codec| !codec.name.starts_with(PREFIX))
    }

    /// The codec in the form of version 2.
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

    /// Whether it is an array-to-array codec.
    pub fn is_of_arrays(&self) -> bool {
        self.kind() == Some(Kind::Elements)
    }

    /// Whether it is an array-to-bytes codec, which replaces `bytes` in version 3.
    pub(super) fn makes_bytes(&self) -> bool {
        self.kind() == Some(Kind::NumbersToBytes)
    }

    /// Whether version 2 lists it as a filter even if it is the last codec.
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
