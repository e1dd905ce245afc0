//! A pass over the objects of a file, in the order of declaration: the first measures them, the second writes them.

use super::name;
use super::objects::{Dataset, Made, character_set};
use super::references::{Addresses, SOMEWHERE};
use crate::target::OrderedMember;
use hyperslab_core::storage::WriteAt;
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::format::message::character_set::CharacterSet;
use hyperslab_hdf5::format::message::link::{ExternalLink, Link as Hdf5Link, LinkTarget};
use hyperslab_hdf5::format::message::symbol_table::SymbolTable;
use hyperslab_hdf5::write::{
    DatasetWriter, FileOptions, FileWriter, GroupAddress, LinkOptions, MeasuredFile, NewDataset, NewGroup,
    NewLink, NewObject, Ranks,
};
use hyperslab_model::{Link, NodePath};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A pass. Groups are measured or written after their members.
pub(super) struct Pass {
    writer: FileWriter,
    /// The groups from the root down to the one whose members are being visited.
    open: Vec<OpenGroup>,
    addresses: Arc<Addresses>,
    /// The numbers of dimensions of datasets, if references need them.
    ranks: Option<FxHashMap<Address, u32>>,
    root: Option<GroupAddress>,
}

/// A file after the first pass.
#[derive(Clone)]
pub(super) struct Measured {
    file: MeasuredFile,
    addresses: Arc<Addresses>,
    ranks: Ranks,
}

/// A group whose members are being visited.
struct OpenGroup {
    path: NodePath,
    object: NewObject,
    options: LinkOptions,
    links: Vec<(String, PendingLink)>,
    /// The names of the members in stored order, if the group keeps it.
    order: Vec<String>,
}

enum PendingLink {
    /// A link to a member at its address, with its symbol table.
    Member(Address, Option<SymbolTable>),
    /// A link of the model.
    Link(Link),
}

impl Pass {
    /// Begins the first pass. `keeps_ranks` states whether references need the ranks of datasets.
    pub(super) fn first(options: &FileOptions, keeps_ranks: bool) -> Result<Pass> {
        Ok(Pass {
            writer: FileWriter::new(options.clone())?,
            open: Vec::new(),
            addresses: Arc::default(),
            ranks: keeps_ranks.then(FxHashMap::default),
            root: None,
        })
    }

    /// Ends the first pass.
    pub(super) fn measured(mut self) -> Result<Measured> {
        self.close_all()?;
        let Pass { writer, addresses, ranks, .. } = self;
        Ok(Measured { file: writer.measured()?, addresses, ranks: Ranks::new(ranks.unwrap_or_default()) })
    }

    /// The addresses of the objects visited so far; in the second pass, of all objects.
    pub(super) fn addresses(&self) -> &Arc<Addresses> {
        &self.addresses
    }

    /// The address of the object at a path; in the first pass, an arbitrary address if it is not known yet.
    pub(super) fn address_of(&self, path: &NodePath) -> Option<Address> {
        self.addresses.get(path).or_else(|| self.writer.is_measuring().then_some(SOMEWHERE))
    }

    /// Measures or writes an object without elements, or opens a group.
    pub(super) fn visit(&mut self, path: &NodePath, made: Made) -> Result<()> {
        self.close_to(path)?;
        match made {
            Made::Group(object, options) => {
                let (links, order) = (Vec::new(), Vec::new());
                self.open.push(OpenGroup { path: path.clone(), object, options, links, order });
                Ok(())
            }
            Made::Link(link) => self.link(path.name().to_owned(), PendingLink::Link(link)),
            Made::Datatype(object, datatype) => {
                let address = self.writer.committed_datatype(&object, &datatype)?;
                self.member(path, address, None)
            }
            Made::Dataset(Dataset { new, .. }) => {
                let address = match self.writer.is_measuring() {
                    true => self.measure(&new)?,
                    // A dimension without coordinates has no elements.
                    false => {
                        let writer = self.writer.begin_dataset(&new)?;
                        let address = writer.address();
                        writer.finish()?;
                        address
                    }
                };
                self.member(path, address, None)
            }
            Made::Nothing => Ok(()),
        }
    }

    /// Begins a dataset in the second pass.
    pub(super) fn begin(&mut self, path: &NodePath, new: &NewDataset) -> Result<DatasetWriter> {
        self.close_to(path)?;
        let writer = self.writer.begin_dataset(new)?;
        self.member(path, writer.address(), None)?;
        Ok(writer)
    }

    /// Receives all members of a group that was just visited, in stored order.
    pub(super) fn order_members(&mut self, group: &NodePath, members: &[OrderedMember<'_>]) {
        let is_open = |open: &&mut OpenGroup| open.path == *group && open.options.creation_order.is_tracked();
        if let Some(open) = self.open.last_mut().filter(is_open) {
            open.order = members.iter().map(|member| member.name.to_owned()).collect();
        }
    }

    /// Completes the file.
    pub(super) fn finish(mut self) -> Result<()> {
        self.close_all()?;
        let root = self.root.ok_or_else(|| Error::invalid("a file without a root group"))?;
        self.writer.finish(root)
    }

    fn measure(&mut self, new: &NewDataset) -> Result<Address> {
        let address = self.writer.measure_dataset(new)?;
        if let Some(ranks) = &mut self.ranks {
            ranks.insert(address, u32::try_from(new.extent.dimensions().len()).unwrap_or(0));
        }
        Ok(address)
    }

    /// Closes the groups that `path` is not in.
    fn close_to(&mut self, path: &NodePath) -> Result<()> {
        while let Some(last) = self.open.last() {
            if path.is_member_of(&last.path) {
                return Ok(());
            }
            self.close()?;
        }
        Ok(())
    }

    fn close_all(&mut self) -> Result<()> {
        while !self.open.is_empty() {
            self.close()?;
        }
        Ok(())
    }

    /// Measures or writes the innermost open group, all of whose members are known.
    fn close(&mut self) -> Result<()> {
        let Some(OpenGroup { path, object, options, mut links, order }) = self.open.pop() else {
            return Ok(());
        };
        if options.creation_order.is_tracked() {
            let places: FxHashMap<&str, usize> =
                order.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
            links.sort_by_key(|(name, _)| places.get(name.as_str()).copied().unwrap_or(usize::MAX));
        }
        let links = links.into_iter().map(|(name, link)| self.new_link(&name, link)).collect::<Result<_>>();
        let links = links.map_err(|e| e.in_object(&path))?;
        let group = NewGroup { object, links, options };
        let address = self.writer.group(group).map_err(|e| e.in_object(&path))?;
        if path.is_root() {
            self.root = Some(address);
            return self.address(&path, address.header);
        }
        self.member(&path, address.header, address.symbol_table)
    }

    fn link(&mut self, name: String, link: PendingLink) -> Result<()> {
        let group = self.open.last_mut().ok_or_else(|| Error::invalid("an object without a group"))?;
        group.links.push((name, link));
        Ok(())
    }

    fn member(&mut self, path: &NodePath, address: Address, table: Option<SymbolTable>) -> Result<()> {
        self.address(path, address)?;
        self.link(path.name().to_owned(), PendingLink::Member(address, table))
    }

    /// Records the address of an object in the first pass. In the second pass it must be the same.
    fn address(&mut self, path: &NodePath, address: Address) -> Result<()> {
        if self.writer.is_measuring() {
            if let Some(addresses) = Arc::get_mut(&mut self.addresses) {
                addresses.insert(path, address);
            }
            return Ok(());
        }
        match self.addresses.get(path) {
            Some(known) if known == address => Ok(()),
            known => {
                let known = known.unwrap_or(Address::UNDEFINED);
                let why = format!(
                    "has the address {address}, expected {known} as measured: the source has changed"
                );
                Err(Error::invalid(why).in_object(path))
            }
        }
    }

    fn new_link(&self, name: &str, link: PendingLink) -> Result<NewLink> {
        let name = name::link(name).0;
        let (target, symbol_table) = match link {
            PendingLink::Member(address, table) => (LinkTarget::Hard(address), table),
            PendingLink::Link(Link::Hard(path)) => {
                let missing = || Error::invalid(format!("link to {path}, which is not in the file"));
                (LinkTarget::Hard(self.address_of(&path).ok_or_else(missing)?), None)
            }
            PendingLink::Link(Link::Soft(path)) => (LinkTarget::Soft(name::stored(&path).0), None),
            PendingLink::Link(Link::External { file, path }) => {
                let (file, path) = (name::stored(&file).0, name::stored(&path).0);
                (LinkTarget::External(ExternalLink { file, path }), None)
            }
            PendingLink::Link(Link::User { class, data }) => {
                (LinkTarget::UserDefined { code: class, data }, None)
            }
        };
        // ASCII is the character set of a link that stores none.
        let character_set = Some(character_set(&name)).filter(|set| *set != CharacterSet::Ascii);
        let link = Hdf5Link { name, character_set, creation_order: None, target };
        Ok(NewLink { link, symbol_table })
    }
}

impl Measured {
    /// Begins the second pass.
    pub(super) fn begin(self, storage: Arc<dyn WriteAt>) -> Result<Pass> {
        let Measured { file, addresses, ranks } = self;
        let writer = file.begin(storage, ranks)?;
        Ok(Pass { writer, open: Vec::new(), addresses, ranks: None, root: None })
    }
}
