//! Converts objects of the model to trees of NDL keys: which keys an object has, in which order, and which are left
//! out.

mod array;
mod attribute;
mod cells;
mod datatype;
mod reference;
mod shape;
mod storage;
mod value;

pub(crate) use shape::is_member;
pub(crate) use value::{Form, element};

use crate::StorageDetail;
use crate::extensions::{Extension, Extensions};
use crate::tree::{Entries, Key, Scalar, Style, Tree};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attributes, Link, NodePath, Unreadable};
use std::collections::HashMap;

/// The state of lowering one object.
pub(crate) struct Lower<'e> {
    /// Dimensions by path, and whether each has coordinates.
    pub(crate) dimcoords: &'e HashMap<NodePath, bool>,
    pub(crate) detail: StorageDetail,
    /// Pure NDL 0.6.1, without extensions.
    pub(crate) pure: bool,
    /// Whether attribute strings are characters by default, as in NetCDF.
    pub(crate) texts_are_characters: bool,
    /// Whether everything is in long form.
    pub(crate) long: bool,
    pub(crate) extensions: Extensions,
    /// Changes that pure NDL required.
    pub(crate) changes: Vec<&'static str>,
}

impl Lower<'_> {
    pub(crate) fn attributes<'a>(&mut self, attributes: &'a Attributes) -> Result<Entries<'a>> {
        let mut entries = Vec::with_capacity(attributes.len());
        for (name, attribute) in attributes {
            let tree = match attribute {
                Ok(attribute) => self.attribute(attribute).map_err(|e| {
                    // The emitter adds the path of the object.
                    Error::new(e.kind(), format!("attribute {name}: {}", e.detail()))
                })?,
                Err(reason) => unreadable(reason),
            };
            entries.push((Key::Name(name.as_str()), tree));
        }
        Ok(entries)
    }

    /// An unreadable object: the reason, and its attributes.
    pub(crate) fn unreadable<'a>(&mut self, object: &'a Unreadable) -> Result<Tree<'a>> {
        if object.attributes.is_empty() {
            return Ok(unreadable(object));
        }
        let mut entries = vec![(Key::Word("x-error"), Tree::text(object.reason.as_str()))];
        push_map(&mut entries, "attributes", Style::Open, self.attributes(&object.attributes)?);
        Ok(Tree::Map(Style::Open, entries))
    }

    /// A link and its target. `None` for links that pure NDL cannot express.
    pub(crate) fn link<'a>(&mut self, link: &'a Link) -> Option<Tree<'a>> {
        if self.pure {
            self.changed("links are left out");
            return None;
        }
        self.use_extension(Extension::Links);
        Some(target(link))
    }

    /// Records the use of an extension.
    fn use_extension(&mut self, extension: Extension) {
        self.extensions.add(extension);
    }

    fn changed(&mut self, change: &'static str) {
        self.changes.push(change);
    }
}

/// The reason why an object is not described.
pub(crate) fn unreadable(unreadable: &Unreadable) -> Tree<'_> {
    Tree::one("x-error", Tree::text(unreadable.reason.as_str()))
}

/// Adds a map of names, unless it is empty.
fn push_map<'a>(entries: &mut Entries<'a>, key: &'static str, style: Style, map: Entries<'a>) {
    if !map.is_empty() {
        entries.push((Key::Word(key), Tree::Map(style, map)));
    }
}

fn refused(feature: &str) -> Error {
    Error::unsupported(format!("{feature} is an extension, NDL 0.6.1 does not define it"))
}

fn target(link: &Link) -> Tree<'_> {
    match link {
        Link::Hard(path) => Tree::one("hard", Tree::text(path.as_str())),
        Link::Soft(path) => Tree::one("soft", Tree::text(path.as_str())),
        Link::External { file, path } => Tree::one(
            "external",
            Tree::map(vec![
                (Key::Word("file"), Tree::text(file.as_str())),
                (Key::Word("path"), Tree::text(path.as_str())),
            ]),
        ),
        Link::User { class, data } => Tree::one(
            "user",
            Tree::map(vec![
                (Key::Word("class"), Tree::int(*class)),
                (Key::Word("data"), Tree::Scalar(Scalar::Hex(data))),
            ]),
        ),
    }
}
