//! Groups and committed datatypes.
//!
//! Spec: HDF5 III.C Symbol Table Entry, IV.A.2.c The Link Info Message

use super::file::FileWriter;
use super::links::{LinkOptions, write_links};
use super::object::NewObject;
use super::object_header::ObjectHeader;
use super::symbol_table::{SymbolTableLink, SymbolTableNodes, write_symbol_table};
use super::{LibraryVersion, Sink};
use crate::format::Address;
use crate::format::message::MessageType;
use crate::format::message::datatype::Datatype;
use crate::format::message::group_info::{Estimates, LinkPhaseChange};
use crate::format::message::link::{Link, LinkTarget};
use crate::format::message::symbol_table::SymbolTable;
use crate::format::object_header::MessageFlags;
use hyperslab_core::Result;

/// A group to be written, after its members.
#[derive(Clone, Debug, Default)]
pub struct NewGroup {
    /// What all objects have in common.
    pub object: NewObject,
    /// Its links, in order of creation.
    pub links: Vec<NewLink>,
    /// How they are stored. In files for the earliest library, a group without special options is a symbol table.
    pub options: LinkOptions,
}

/// A link of a group.
#[derive(Clone, Debug)]
pub struct NewLink {
    /// The link. Its creation order is given by its position.
    pub link: Link,
    /// The symbol table of the group that the link leads to, if that group has one.
    pub symbol_table: Option<SymbolTable>,
}

/// The location of a group that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupAddress {
    /// The address of its header.
    pub header: Address,
    /// The addresses of its symbol table, if it is stored as one.
    pub symbol_table: Option<SymbolTable>,
}

impl FileWriter {
    /// Measures or writes a group.
    ///
    /// # Errors
    /// If it cannot be stored with the options of the file; any error of the storage.
    pub fn group(&mut self, group: NewGroup) -> Result<GroupAddress> {
        let NewGroup { object, links, options } = group;
        let (low, sizes, k) = (self.options().low, self.options().sizes, self.options().btree_k);
        let mut header = ObjectHeader::new(&object.header, low, sizes)?;
        let mut symbol_table = None;
        if low == LibraryVersion::Earliest && options.fits_symbol_table(&links) {
            let links = links.into_iter().map(|NewLink { link, symbol_table }| SymbolTableLink {
                name: link.name,
                target: link.target,
                table: symbol_table,
            });
            let nodes = SymbolTableNodes { leaf_k: k.group_leaf, internal_k: k.group_internal };
            let table = write_symbol_table(&mut self.metadata().0, links.collect(), nodes)?;
            header.push(&table, 0)?;
            symbol_table = Some(table);
        } else {
            let links = links.into_iter().map(|new| new.link).collect();
            for message in write_links(&mut self.metadata().0, links, &options)? {
                let flags = match message.message_type() {
                    MessageType::GROUP_INFO => MessageFlags::CONSTANT,
                    _ => 0,
                };
                header.push_message(&message, flags)?;
            }
        }
        self.write_object(&mut header, &object)?;
        Ok(GroupAddress { header: self.write_header(header)?, symbol_table })
    }

    /// Measures or writes a committed datatype.
    ///
    /// # Errors
    /// As [`FileWriter::group`].
    pub fn committed_datatype(&mut self, object: &NewObject, datatype: &Datatype) -> Result<Address> {
        let mut header = ObjectHeader::new(&object.header, self.options().low, self.options().sizes)?;
        header.push(datatype, MessageFlags::CONSTANT)?;
        self.write_object(&mut header, object)?;
        self.write_header(header)
    }

    fn write_header(&mut self, header: ObjectHeader) -> Result<Address> {
        let bytes = header.encode()?;
        let address = self.allocate_header(bytes.len() as u64)?;
        self.metadata().0.write(address, &bytes)?;
        Ok(address)
    }
}

impl LinkOptions {
    /// Whether an old-style group can hold these links.
    fn fits_symbol_table(&self, links: &[NewLink]) -> bool {
        let LinkOptions { creation_order, phase_change, estimates, filters } = self;
        let is_old = |new: &NewLink| matches!(new.link.target, LinkTarget::Hard(_) | LinkTarget::Soft(_));
        !creation_order.is_tracked()
            && *phase_change == LinkPhaseChange::default()
            && *estimates == Estimates::default()
            && filters.is_none()
            && links.iter().all(is_old)
    }
}
