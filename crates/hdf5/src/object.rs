//! Objects of a file: groups, datasets and committed datatypes.

use crate::attribute::{self, Attribute};
use crate::dataset::Dataset;
use crate::file::File;
use crate::format::Address;
use crate::format::message::datatype::Datatype;
use crate::group::{self, Link, Links};
use crate::navigate::object_header::ObjectHeader;
use hyperslab_core::{Error, Result};

pub use crate::navigate::object_header::ObjectKind;

/// An object of a file. It keeps the messages of its header and nothing of the file.
#[derive(Debug)]
pub struct Object {
    header: ObjectHeader,
}

impl Object {
    /// Reads the header of the object at `address`.
    ///
    /// # Errors
    /// If there is none that can be understood.
    pub fn open(file: &File, address: Address) -> Result<Object> {
        Ok(Object { header: ObjectHeader::read(file.reader(), address)? })
    }

    /// Where it is.
    pub fn address(&self) -> Address {
        self.header.address()
    }

    /// What it is.
    pub fn kind(&self) -> ObjectKind {
        self.header.kind()
    }

    /// How many hard links lead to it, as its header counts them.
    pub fn reference_count(&self) -> u32 {
        self.header.reference_count()
    }

    /// The header, message by message.
    pub fn header(&self) -> &ObjectHeader {
        &self.header
    }

    /// The links of a group: in order of creation where the group tracks it, else by name. Those that cannot
    /// be read are left out; [`Object::all_links`] has them.
    ///
    /// # Errors
    /// If the object is no group or its links cannot be listed.
    pub fn links(&self, file: &File) -> Result<Vec<Link>> {
        Ok(self.all_links(file)?.links)
    }

    /// The links of a group, and what stands in place of those that cannot be read.
    ///
    /// # Errors
    /// As [`Object::links`].
    pub fn all_links(&self, file: &File) -> Result<Links> {
        self.expect(ObjectKind::Group, "group")?;
        group::links(file.reader(), &self.header)
    }

    /// The link of a group with this name.
    ///
    /// # Errors
    /// As [`Object::links`].
    pub fn link(&self, file: &File, name: &[u8]) -> Result<Option<Link>> {
        self.expect(ObjectKind::Group, "group")?;
        group::link(file.reader(), &self.header, name)
    }

    /// The attributes: in order of creation where the object tracks it, else by name. One that cannot be
    /// read is given by its name, as far as that can be read, and its error.
    ///
    /// # Errors
    /// If the list of attributes itself cannot be read.
    pub fn attributes(&self, file: &File) -> Result<Vec<(Vec<u8>, Result<Attribute>)>> {
        attribute::attributes(file.reader(), &self.header)
    }

    /// Whether there may be an attribute at all; costs nothing.
    ///
    /// # Errors
    /// If the Attribute Info message cannot be understood.
    pub fn has_attributes(&self, file: &File) -> Result<bool> {
        attribute::has_any(file.reader(), &self.header)
    }

    /// Whether a group tracks the order in which its links were created.
    ///
    /// # Errors
    /// If the Link Info message cannot be understood.
    pub fn tracks_creation_order(&self, file: &File) -> Result<bool> {
        group::tracks_creation_order(file.reader(), &self.header)
    }

    /// The attribute with this name.
    ///
    /// # Errors
    /// If the list of attributes, or this one, cannot be read.
    pub fn attribute(&self, file: &File, name: &[u8]) -> Result<Option<Attribute>> {
        attribute::find(file.reader(), &self.header, name)
    }

    /// The object as a dataset.
    ///
    /// # Errors
    /// If it is none, or its messages cannot be understood.
    pub fn dataset(&self, file: &File) -> Result<Dataset> {
        self.expect(ObjectKind::Dataset, "dataset")?;
        Dataset::open(file, &self.header, None)
    }

    /// The type that a committed datatype is.
    ///
    /// # Errors
    /// If it is none, or cannot be understood.
    pub fn named_datatype(&self, file: &File) -> Result<Datatype> {
        self.expect(ObjectKind::NamedDatatype, "committed datatype")?;
        self.header.required(file.reader())
    }

    fn expect(&self, kind: ObjectKind, what: &str) -> Result<()> {
        if self.kind() == kind {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the object at {} is a {}, not a {what}",
            self.address(),
            self.kind().name()
        )))
    }
}

impl ObjectKind {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Group => "group",
            ObjectKind::Dataset => "dataset",
            ObjectKind::NamedDatatype => "committed datatype",
            ObjectKind::Unknown => "object of unknown kind",
        }
    }
}
