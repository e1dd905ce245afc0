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
}

impl Scope {
    pub(super) fn of(document: &str) -> Scope {
        match document {
            v2::ATTRIBUTES => Scope::Attributes,
            v3::DOCUMENT => Scope::Node,
            _ => Scope::Strict,
        }
    }

    pub(super) fn member(self, name: &str) -> Scope {
        match (self, name) {
            (Scope::Attributes, _) | (Scope::Node, "attributes") => Scope::Attributes,
            (Scope::Node, "consolidated_metadata") => Scope::Consolidated,
            (Scope::Consolidated, "metadata") => Scope::Nodes,
            (Scope::Nodes, _) => Scope::Node,
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
