//! Places in a document as JSON Pointers, and deviations from the specification at these places.
//!
//! Spec: RFC 6901

use hyperslab_core::{Error, ErrorKind, Limit, Limits};
use std::cell::RefCell;
use std::fmt;

/// A deviation of a document from its specification that the reader accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// The document and the JSON Pointer into it: `zarr.json#/codecs/0`.
    pub place: String,
    /// The found and the expected content.
    pub what: String,
}

/// The state of parsing a document.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) limits: Limits,
    deviations: RefCell<Vec<Deviation>>,
}

/// A place in a document, as a linked list of steps back to the root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'a> {
    context: &'a Context,
    parent: Option<&'a Spot<'a>>,
    token: Token<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Token<'a> {
    Document(&'a str),
    Name(&'a str),
    Index(usize),
}

impl Context {
    pub(crate) fn new(limits: &Limits) -> Context {
        Context { limits: *limits, deviations: RefCell::default() }
    }

    pub(crate) fn document<'a>(&'a self, name: &'a str) -> Spot<'a> {
        Spot { context: self, parent: None, token: Token::Document(name) }
    }

    pub(crate) fn into_deviations(self) -> Vec<Deviation> {
        self.deviations.into_inner()
    }
}

impl<'a> Spot<'a> {
    pub(crate) fn name(&'a self, name: &'a str) -> Spot<'a> {
        Spot { context: self.context, parent: Some(self), token: Token::Name(name) }
    }

    pub(crate) fn index(&'a self, index: usize) -> Spot<'a> {
        Spot { context: self.context, parent: Some(self), token: Token::Index(index) }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.context.limits
    }

    /// Records a deviation at this place, which the reader accepts.
    pub(crate) fn deviates(&self, what: impl Into<String>) {
        let deviation = Deviation { place: self.to_string(), what: what.into() };
        self.context.deviations.borrow_mut().push(deviation);
    }

    #[cold]
    pub(crate) fn malformed(&self, detail: impl fmt::Display) -> Error {
        Error::malformed(format!("{self}: {detail}"))
    }

    #[cold]
    pub(crate) fn unsupported(&self, detail: impl fmt::Display) -> Error {
        Error::unsupported(format!("{self}: {detail}"))
    }

    #[cold]
    pub(crate) fn exceeds(&self, limit: Limit, detail: impl fmt::Display) -> Error {
        Error::limit_exceeded(limit, format!("{self}: {detail}"))
    }

    #[cold]
    pub(crate) fn too_large(&self, detail: impl fmt::Display) -> Error {
        Error::new(ErrorKind::LimitExceeded, format!("{self}: {detail}"))
    }
}

impl fmt::Display for Spot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Recursion to the outermost step first. The depth of documents is limited.
        let mut tokens = vec![self.token];
        let mut spot = self.parent;
        while let Some(here) = spot {
            tokens.push(here.token);
            spot = here.parent;
        }
        let inner = tokens.len() > 1;
        for token in tokens.into_iter().rev() {
            match token {
                Token::Document(name) if inner => write!(f, "{name}#")?,
                Token::Document(name) => f.write_str(name)?,
                Token::Name(name) => write!(f, "/{}", name.replace('~', "~0").replace('/', "~1"))?,
                Token::Index(index) => write!(f, "/{index}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_json_pointers_into_the_document() {
        let context = Context::new(&Limits::default());
        let document = context.document("zarr.json");
        assert_eq!(document.to_string(), "zarr.json");
        let attributes = document.name("attributes");
        let item = attributes.index(3);
        let spot = item.name("a/b~c");
        assert_eq!(spot.malformed("x").to_string(), "zarr.json#/attributes/3/a~1b~0c: x");
        spot.deviates("y");
        let found = context.into_deviations();
        assert_eq!(found[0].place, "zarr.json#/attributes/3/a~1b~0c");
    }
}
