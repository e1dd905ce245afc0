//! The part of a document that contains a value.

use crate::metadata::{v2, v3};

/// The part of a document that contains a value. It determines whether bare words are numbers.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    /// A part that must be strict JSON.
    Strict,
    Attributes,
    /// `zarr.json`
    Node,
    /// The consolidated metadata in it.
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
            (Scope::Documents2, key) if key.rsplit('/').next() == Some(v2::ATTRIBUTES) => Scope::Attributes,
            _ => Scope::Strict,
        }
    }

    pub(super) fn item(self) -> Scope {
        match self {
            Scope::Attributes => Scope::Attributes,
            _ => Scope::Strict,
        }
    }
}
