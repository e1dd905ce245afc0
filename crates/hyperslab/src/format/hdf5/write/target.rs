//! An HDF5 file that is being written.

use super::array::Hdf5ArrayTarget;
use super::datatype::Committed;
use super::log::Log;
use super::name;
use super::objects::{Dataset, Objects, character_set};
use super::planner::Found;
use super::references::{Addresses, SOMEWHERE};
use crate::target::{ArrayTarget, Facts, Filters, OrderedMember, Silent, Target};
use hyperslab_core::storage::{WritableFile, WriteAt};
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::format::message::character_set::CharacterSet;
use hyperslab_hdf5::format::message::link::{ExternalLink, Link as Hdf5Link, LinkTarget};
use hyperslab_hdf5::format::message::symbol_table::SymbolTable;
use hyperslab_hdf5::write::{DatasetWriter, FileWriter, GroupAddress, NewGroup, NewLink, Ranks};
use hyperslab_model::{Group, Link, Node, NodePath};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file. All objects are visited twice, in the same order: while they are declared they are measured, then they are
/// written.
pub(in crate::format) struct Hdf5Target {
    path: PathBuf,
    found: Arc<Found>,
    log: Arc<Log>,
    state: Mutex<State>,
}

struct State {
    /// `None` if the file is finished or has failed.
    writer: Option<FileWriter>,
    /// The groups from the root to the one whose members are visited.
    open: Vec<OpenGroup>,
    addresses: Arc<Addresses>,
    /// The numbers of dimensions of datasets, if references need them.
    ranks: FxHashMap<Address, u32>,
    root: Option<GroupAddress>,
    /// The number of arrays begun.
    arrays: u32,
}

/// A group whose members are visited. It is measured or written after them.
struct OpenGroup {
    path: NodePath,
    group: Group,
    links: Vec<(String, PendingLink)>,
    /// The names of the members in stored order.
    order: Vec<String>,
}

enum PendingLink {
    /// To a member at its address, with its symbol table.
    Member(Address, Option<SymbolTable>),
    /// As the model has it.
    Link(Link),
}

impl Hdf5Target {
    /// Begins a file at `path`, or resumes one that was begun there.
    pub(in crate::format) fn create(path: &Path, found: Arc<Found>) -> Result<Hdf5Target> {
        let state = State {
            writer: Some(FileWriter::new(found.options.file.clone())?),
            open: Vec::new(),
            addresses: Arc::default(),
            ranks: FxHashMap::default(),
            root: None,
            arrays: 0,
        };
        let log = Arc::new(Log::open(&path.with_file_name(LOG))?);
        Ok(Hdf5Target { path: path.to_path_buf(), found, log, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the first pass, if that was not done.
    fn begin_writing(&self, state: &mut State) -> Result<()> {
        if !state.writer()?.is_measuring() {
            return Ok(());
        }
        self.close_all(state)?;
        let file = WritableFile::open(&self.path).or_else(|_| WritableFile::create(&self.path))?;
        let options = &self.found.options;
        if options.file.user_block > 0 {
            file.write_at(0, &options.user_block)?;
        }
        let ranks = Ranks::new(std::mem::take(&mut state.ranks));
        state.writer()?.begin(Arc::new(file), ranks)
    }

    /// Measures or writes an object, or opens a group.
    fn visit(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<()> {
        let mut state = self.state();
        self.close_to(&mut state, path)?;
        match node {
            Node::Group(group) => {
                let group = OpenGroup {
                    path: path.clone(),
                    group: group.clone(),
                    links: Vec::new(),
                    order: Vec::new(),
                };
                state.open.push(group);
                Ok(())
            }
            Node::Link(link) => state.link(path.name().to_owned(), PendingLink::Link(link.clone())),
            Node::Datatype(named) => {
                let (object, datatype) = self.with_objects(&state, &|objects| {
                    let datatype = objects.committed(&path.to_string(), named, &mut Silent)?.datatype;
                    Ok((objects.object(path, node, &mut Silent)?, datatype))
                })?;
                let address = state.writer()?.committed_datatype(&object, &datatype)?;
                state.member(path, address, None)
            }
            Node::Ndarray(_) | Node::DimCoord(_) => {
                let dataset =
                    self.with_objects(&state, &|objects| objects.dataset(path, node, facts, &mut Silent))?;
                let is_measuring = state.writer()?.is_measuring();
                let address = match is_measuring {
                    true => state.writer()?.measure_dataset(&dataset.new)?,
                    // A dimension without coordinates has no elements.
                    false => {
                        let writer = state.writer()?.begin_dataset(&dataset.new)?;
                        let address = writer.address();
                        writer.finish()?;
                        address
                    }
                };
                if is_measuring && self.found.has_references {
                    let rank = node.shape(path).map_or(0, |shape| shape.dims().len());
                    state.ranks.insert(address, u32::try_from(rank).unwrap_or(0));
                }
                state.member(path, address, None)
            }
            Node::Unreadable(_) => Ok(()),
        }
    }

    fn with_objects<T>(&self, state: &State, make: &dyn Fn(&Objects<'_>) -> Result<T>) -> Result<T> {
        let found = &*self.found;
        let address = |path: &NodePath| state.address_of(path);
        let committed = |path: &NodePath| {
            let datatype = Arc::clone(found.committed.get(path)?);
            Some(Committed { address: address(path)?, datatype })
        };
        make(&Objects {
            options: &found.options,
            uses: &found.uses,
            scales: &found.scales,
            committed: &committed,
            address: &address,
        })
    }

    /// Closes the groups that `path` is not in.
    fn close_to(&self, state: &mut State, path: &NodePath) -> Result<()> {
        let parent = path.parent();
        while let Some(last) = state.open.last() {
            if parent.as_ref() == Some(&last.path) {
                return Ok(());
            }
            self.close(state)?;
        }
        Ok(())
    }

    fn close_all(&self, state: &mut State) -> Result<()> {
        while !state.open.is_empty() {
            self.close(state)?;
        }
        Ok(())
    }

    /// Measures or writes the innermost open group, whose members are all known.
    fn close(&self, state: &mut State) -> Result<()> {
        let Some(OpenGroup { path, group, mut links, order }) = state.open.pop() else { return Ok(()) };
        let node = Node::Group(group);
        let Node::Group(group) = &node else { return Ok(()) };
        let made = self.with_objects(state, &|objects| {
            Ok((objects.object(&path, &node, &mut Silent)?, objects.links(group)))
        });
        let (object, options) = made.map_err(|e| e.in_object(&path))?;
        if options.creation_order.is_tracked() {
            let places: FxHashMap<&str, usize> =
                order.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
            links.sort_by_key(|(name, _)| places.get(name.as_str()).copied().unwrap_or(usize::MAX));
        }
        let links = links.into_iter().map(|(name, link)| state.new_link(&name, link)).collect::<Result<_>>();
        let links = links.map_err(|e| e.in_object(&path))?;
        let address =
            state.writer()?.group(NewGroup { object, links, options }).map_err(|e| e.in_object(&path))?;
        if path.is_root() {
            state.root = Some(address);
            return state.address(&path, address.header);
        }
        state.member(&path, address.header, address.symbol_table)
    }
}

impl State {
    fn writer(&mut self) -> Result<&mut FileWriter> {
        self.writer.as_mut().ok_or_else(|| Error::invalid("the file is finished"))
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

    /// Keeps the address of an object in the first pass. In the second it must be the same.
    fn address(&mut self, path: &NodePath, address: Address) -> Result<()> {
        if self.writer()?.is_measuring() {
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

    /// The address of the object at a path; in the first pass, any address if it is not known yet.
    fn address_of(&self, path: &NodePath) -> Option<Address> {
        let is_measuring = || self.writer.as_ref().is_some_and(FileWriter::is_measuring);
        self.addresses.get(path).or_else(|| is_measuring().then_some(SOMEWHERE))
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

impl Target for Hdf5Target {
    fn declare(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<()> {
        self.visit(path, node, facts)
    }

    fn order_members(&self, group: &NodePath, members: &[OrderedMember<'_>]) -> Result<()> {
        let mut state = self.state();
        if let Some(open) = state.open.last_mut().filter(|open| open.path == *group) {
            open.order = members.iter().map(|member| member.name.to_owned()).collect();
        }
        Ok(())
    }

    fn has_definitions(&self) -> bool {
        true
    }

    fn define(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<()> {
        self.begin_writing(&mut self.state())?;
        self.visit(path, node, facts)
    }

    fn begin(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Box<dyn ArrayTarget + '_>> {
        let mut state = self.state();
        self.begin_writing(&mut state)?;
        self.close_to(&mut state, path)?;
        let addresses = Arc::clone(&state.addresses);
        let Dataset { new, needs_unwritten } =
            self.with_objects(&state, &|objects| objects.dataset(path, node, facts, &mut Silent))?;
        let writer: DatasetWriter = state.writer()?.begin_dataset(&new)?;
        state.member(path, writer.address(), None)?;
        let number = state.arrays;
        state.arrays = state.arrays.saturating_add(1);
        let log = self.log.of_array(number);
        let is_asked = facts.filters == Filters::Asked;
        let how = (needs_unwritten, is_asked);
        Ok(Box::new(Hdf5ArrayTarget::new(writer, &new, how, addresses, log)?))
    }

    fn can_abandon(&self) -> bool {
        false
    }

    fn finish(&self) -> Result<()> {
        let mut state = self.state();
        self.begin_writing(&mut state)?;
        self.close_all(&mut state)?;
        let writer = state.writer.take().ok_or_else(|| Error::invalid("the file is finished"))?;
        let root = state.root.ok_or_else(|| Error::invalid("a file without a root group"))?;
        writer.finish(root)
    }
}

/// The name of the log beside the file.
const LOG: &str = "chunks";
