//! The objects of a file: groups, datasets and committed datatypes.

use crate::attribute::{self, Attribute};
use crate::dataset::Dataset;
use crate::file::File;
use crate::format::Address;
use crate::format::message::datatype::Datatype;
use crate::group::{self, Link, Links};
use crate::navigate::object_header::ObjectHeader;
use hyperslab_core::{Error, Result};

pub use crate::navigate::object_header::ObjectKind;

/// An object of a file. It holds the messages of its header, but no reference to the file.
#[derive(Debug)]
pub struct Object {
    header: ObjectHeader,
}

impl Object {
    /// Reads the header of the object at `address`.
    ///
    /// # Errors
    /// If there is no valid object header.
    pub fn open(file: &File, address: Address) -> Result<Object> {
        Ok(Object { header: ObjectHeader::read(file.reader(), address)? })
    }

    /// The address of its header.
    pub fn address(&self) -> Address {
        self.header.address()
    }

    /// The kind of the object.
    pub fn kind(&self) -> ObjectKind {
        self.header.kind()
    }

    /// The number of hard links to it, according to its header.
    pub fn reference_count(&self) -> u32 {
        self.header.reference_count()
    }

    /// The messages of its header.
    pub fn header(&self) -> &ObjectHeader {
        &self.header
    }

    /// The links of a group, in creation order if the group tracks it, otherwise by name. Unreadable links are left
    /// out; [`Object::all_links`] returns them.
    ///
    /// # Errors
    /// If the object is not a group, or its links cannot be listed.
    pub fn links(&self, file: &File) -> Result<Vec<Link>> {
        Ok(self.all_links(file)?.links)
    }

    /// The links of a group, and its unreadable links with their errors.
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

    /// The attributes, in creation order if the object tracks it, otherwise by name. For an unreadable attribute, its
    /// name if that can be read, and the error.
    ///
    /// # Errors
    /// If the list of attributes itself cannot be read.
    pub fn attributes(&self, file: &File) -> Result<Vec<(Vec<u8>, Result<Attribute>)>> {
        attribute::attributes(file.reader(), &self.header)
    }

    /// The names of the attributes in storage order, in which the HDF5 library visits attributes whose creation order
    /// is not tracked. `None` if it is tracked.
    ///
    /// # Errors
    /// As [`Object::attributes`].
    pub fn stored_order_of_attributes(&self, file: &File) -> Result<Option<Vec<Vec<u8>>>> {
        attribute::stored_order(file.reader(), &self.header)
    }

    /// Whether the object may have attributes. Needs no I/O.
    ///
    /// # Errors
    /// If the Attribute Info message is invalid.
    pub fn has_attributes(&self, file: &File) -> Result<bool> {
        attribute::has_any(file.reader(), &self.header)
    }

    /// Whether a group tracks the creation order of its links.
    ///
    /// # Errors
    /// If the Link Info message is invalid.
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

    /// Opens the object as a dataset.
    ///
    /// # Errors
    /// If it is not a dataset, or its messages are invalid.
    pub fn dataset(&self, file: &File) -> Result<Dataset> {
        self.expect(ObjectKind::Dataset, "dataset")?;
        Dataset::open(file, &self.header, None)
    }

    /// The datatype of a committed datatype.
    ///
    /// # Errors
    /// If the object is not a committed datatype, or it is invalid.
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
    /// The name of the kind in messages.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Group => "group",
            ObjectKind::Dataset => "dataset",
            ObjectKind::NamedDatatype => "committed datatype",
            ObjectKind::Unknown => "object of unknown kind",
        }
    }
}
