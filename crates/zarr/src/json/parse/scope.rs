//! The part of a document that contains a value.

use crate::metadata::{v2, v3};

/// The part of a document that contains a value. It determines the meaning of bare words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// A part that must be strict JSON.
    Strict,
    /// Bare words are numbers.
    Attributes,
    /// `.zarray`
    Array2,
    /// Its fill value. Bare words stand for the strings that the specification defines for these numbers: zarr-python
    /// 3.0 leaves out the quotes.
    Fill2,
    /// `zarr.json`
    Node,
    /// Its consolidated metadata.
    Consolidated,
    /// Copies of `zarr.json` by path.
    Nodes,
    /// `.zmetadata`
    Consolidated2,
    /// Copies of the documents of version 2 by key.
    Documents2,
}

impl Scope {
    pub(super) fn of(document: &str) -> Scope {
        match document {
            v2::ATTRIBUTES => Scope::Attributes,
            v2::ARRAY => Scope::Array2,
            v3::DOCUMENT => Scope::Node,
            v2::CONSOLIDATED => Scope::Consolidated2,
            _ => Scope::Strict,
        }
    }

    pub(super) fn member(self, name: &str) -> Scope {
        match (self, name) {
            (Scope::Attributes, _) | (Scope::Node, "attributes") => Scope::Attributes,
            (Scope::Node, "consolidated_metadata") => Scope::Consolidated,
            (Scope::Consolidated, "metadata") => Scope::Nodes,
            (Scope::Nodes, _) => Scope::Node,
            (Scope::Consolidated2, "metadata") => Scope::Documents2,
            (Scope::Documents2, key) => match key.rsplit('/').next() {
                Some(v2::ATTRIBUTES) => Scope::Attributes,
                Some(v2::ARRAY) => Scope::Array2,
                _ => Scope::Strict,
            },
            (Scope::Array2, "fill_value") => Scope::Fill2,
            _ => Scope::Strict,
        }
    }

    pub(super) fn item(self) -> Scope {
        match self {
            Scope::Attributes | Scope::Fill2 => self,
            _ => Scope::Strict,
        }
    }
}
