//! Writes Zarr stores in directories and zip files.

mod array;
mod attributes;
mod definition;
mod generated;
mod lowerings;
mod netcdf;
mod trial;
mod zarr_python;

pub(super) use attributes::{fill_value, is_reserved, is_shown_as, json_of_text, text_of_bytes};

use super::keep::record;
use super::nczarr;
use crate::cells::CellColumn;
use crate::target::{
    ArrayTarget, Encoder, Facts, Filters, Growing, Losses, Lowered, Needs, OptionType, OptionValue,
    OrderedMember, Planned, Planner, Silent, Target, TargetFormat, TargetOption, TargetOptions, content,
};
use array::{ZarrArrayTarget, ZarrEncoder};
use definition::{ArrayPlan, Destination};
use generated::{Generated, Unnamed};
use hyperslab_core::store::{DirectoryWriter, Durability, Key, WritableStore, ZipWriter};
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{Datatype, Extent, Fill, Link, Node, NodePath};
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::name::{Names, Reason};
use hyperslab_zarr::write::{ArrayWriter, HierarchyWriter, Version};
use lowerings::{
    CASE, CLASH, DATATYPE, EXTERNAL_LINK, HARD_LINK, INNER_NAMED_TYPE, LOWERINGS, MEMBER_ORDER, NAME,
    NO_ARRAYS, SOFT_LINK, SPARSE, UNCOUNTED, UNLIMITED, USER_LINK,
};
use netcdf::{Netcdf, Referring};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A version of Zarr as a target.
pub(crate) struct ZarrFormat {
    name: &'static str,
    version: Version,
}

/// Version 3.
pub(crate) static ZARR3: ZarrFormat = ZarrFormat { name: "zarr3", version: Version::V3 };
/// Version 2.
pub(crate) static ZARR2: ZarrFormat = ZarrFormat { name: "zarr2", version: Version::V2 };

impl TargetFormat for ZarrFormat {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        if self.version == Version::V3 { &["zarr"] } else { &[] }
    }

    fn family(&self) -> &'static str {
        "zarr"
    }

    fn dialects(&self) -> &'static [&'static str] {
        if self.version == Version::V3 { &["Zarr v3"] } else { &["Zarr v2"] }
    }

    fn has_filters_of(&self, dialect: &str) -> bool {
        super::DIALECTS.iter().any(|own| own.title == dialect)
    }

    fn suffixes(&self) -> &'static [&'static str] {
        if self.version == Version::V3 { &[".zarr", ".zarr.zip"] } else { &[] }
    }

    fn is_directory(&self, path: &Path) -> bool {
        !is_zip(path)
    }

    fn is_always_chunked(&self) -> bool {
        true
    }

    fn marks_missing(&self) -> bool {
        true
    }

    fn needs_default_fill(&self, _: &str) -> bool {
        // Without a fill value, the elements of a store are zeros.
        true
    }

    fn options(&self) -> &'static [TargetOption] {
        OPTIONS
    }

    fn lowerings(&self) -> &'static [&'static Lowered] {
        LOWERINGS
    }

    fn planner<'a>(&self, options: &'a TargetOptions, growing: &'a Growing) -> Box<dyn Planner + 'a> {
        Box::new(ZarrPlanner { version: self.version, options, growing, names: FxHashMap::default() })
    }

    fn create(
        &self,
        path: &Path,
        is_directory: bool,
        options: &TargetOptions,
        planned: &Planned,
    ) -> Result<Box<dyn Target>> {
        let durability = Durability::Process;
        let store: Arc<dyn WritableStore> = if is_directory {
            let directory = DirectoryWriter::open_real(path, durability)?;
            // Files left behind by an interrupted run.
            directory.remove_unfinished()?;
            Arc::new(directory)
        } else {
            // Files written by this library need no limits.
            let limits = Limits { allocation: u64::MAX, ..Limits::default() };
            Arc::new(ZipWriter::go_on(path, durability, &limits)?)
        };
        let mut hierarchy = HierarchyWriter::new(store, self.version)?;
        if !has_records(options) {
            hierarchy = hierarchy.without_records();
        }
        Ok(Box::new(ZarrTarget {
            version: self.version,
            options: options.clone(),
            growing: Arc::clone(&planned.growing),
            is_ordered: !is_directory,
            hierarchy,
            state: Mutex::default(),
            generated: OnceLock::new(),
        }))
    }
}

/// Whether a path is that of a zip file.
fn is_zip(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("zip"))
}

/// Plans the objects below one root.
struct ZarrPlanner<'a> {
    version: Version,
    options: &'a TargetOptions,
    growing: &'a Growing,
    /// The names of nodes in the store, by group.
    names: FxHashMap<NodePath, Names>,
}

impl Planner for ZarrPlanner<'_> {
    fn plan(&mut self, path: &NodePath, node: &Node, facts: Facts, losses: &mut dyn Losses) -> Result<()> {
        if self.version == Version::V3 && self.options.flag(NCZARR) {
            return Err(Error::invalid(format!("{NCZARR}, which only version 2 has")));
        }
        let mut without_records = WithoutRecords(losses);
        let losses: &mut dyn Losses =
            if has_records(self.options) { without_records.0 } else { &mut without_records };
        let place = || path.to_string();
        match node {
            Node::Group(group) => {
                attributes::of_group(path, group, self.options, losses)?;
            }
            Node::Ndarray(_) | Node::DimCoord(_) if node.has_elements() => {
                ArrayPlan::new(path, node, facts, &self.destination(), losses)?;
            }
            Node::DimCoord(dimcoord) => {
                if dimcoord.size == Extent::Uncounted {
                    losses.note(&UNCOUNTED, place(), None);
                } else if !dimcoord.size.is_fixed() {
                    losses.note(&UNLIMITED, place(), None);
                }
                if !self.growing.has_arrays(path) {
                    losses.note(&NO_ARRAYS, place(), None);
                }
                attributes::note_native(path, &dimcoord.storage, losses);
                attributes::note_changed(path, &dimcoord.attributes, losses);
            }
            Node::Datatype(named) => {
                losses.note(&DATATYPE, place(), None);
                if record::has_named(&named.datatype) {
                    losses.note(&INNER_NAMED_TYPE, place(), None);
                }
                attributes::note_native(path, &named.storage, losses);
                attributes::note_changed(path, &named.attributes, losses);
            }
            Node::Link(link) => match link {
                Link::Hard(target) => {
                    losses.note(&HARD_LINK, place(), Some(format!("second path of {target}")))
                }
                Link::Soft(target) => {
                    losses.note(&SOFT_LINK, place(), Some(format!("soft link to {target}")))
                }
                Link::External { file, path: there } => {
                    losses.note(&EXTERNAL_LINK, place(), Some(format!("external link to {file}:{there}")));
                }
                Link::User { class, .. } => {
                    losses.note(&USER_LINK, place(), Some(format!("link of class {class}")));
                }
            },
            Node::Ndarray(_) | Node::Unreadable(_) => {}
        }
        match node {
            Node::Group(_) => self.name(path, losses),
            node if node.has_elements() => self.name(path, losses),
            _ => Ok(()),
        }
    }

    fn needs(&self, _: &NodePath, node: &Node) -> Needs {
        let has_plain_fill = match (node.datatype(), node.storage().map(|storage| &storage.fill)) {
            (Some(datatype), Some(Fill::Value(_))) => {
                !datatype.has_slots() && !matches!(datatype.resolved(), Datatype::Array { .. })
            }
            (_, Some(Fill::Default) | None) => true,
            _ => false,
        };
        // In version 2, readers may treat the fill value as missing.
        let written = self.version == Version::V2 || !has_plain_fill;
        Needs { readable: true, unicode: true, padding: true, written, ..Needs::default() }
    }

    fn order_members(&mut self, group: &NodePath, members: &[OrderedMember<'_>], losses: &mut dyn Losses) {
        if !members.iter().map(|member| member.name).is_sorted() {
            match has_records(self.options) {
                true => losses.note(&MEMBER_ORDER, group.to_string(), None),
                false => WithoutRecords(losses).note(&MEMBER_ORDER, group.to_string(), None),
            }
        }
    }

    fn cells(&mut self, path: &NodePath, _: &[CellColumn], losses: &mut dyn Losses) -> Result<bool> {
        losses.note(&SPARSE, path.to_string(), None);
        Ok(false)
    }

    fn trial(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Option<Box<dyn Encoder>>> {
        self.trial_of(path, node, facts)
    }
}

impl ZarrPlanner<'_> {
    fn destination(&self) -> Destination<'_> {
        let (version, options, growing) = (self.version, self.options, self.growing);
        Destination { version, options, growing, generated: None }
    }

    /// Assigns a name to a node, in the order of writing.
    fn name(&mut self, path: &NodePath, losses: &mut dyn Losses) -> Result<()> {
        let Some(group) = path.parent() else { return Ok(()) };
        let names = self.names.entry(group).or_insert_with(|| Names::new(self.version, DISTINGUISHES_CASE));
        let assigned = names.assign(path.name())?;
        match assigned.reason {
            None if assigned.differs_in_case => losses.note(&CASE, path.to_string(), None),
            None => {}
            Some(Reason::Clash) => losses.note(&CLASH, path.to_string(), None),
            Some(_) => losses.note(&NAME, path.to_string(), None),
        }
        Ok(())
    }
}

/// Whether names that differ only in case refer to different files, by the conventions of the operating system. If the
/// destination behaves otherwise, such names are encoded with a record.
const DISTINGUISHES_CASE: bool = !cfg!(any(windows, target_vendor = "apple"));

struct ZarrTarget {
    version: Version,
    options: TargetOptions,
    growing: Arc<Growing>,
    /// Whether all values are in one file, one after another.
    is_ordered: bool,
    hierarchy: HierarchyWriter,
    state: Mutex<State>,
    /// The generated names of unnamed dimensions, available once all arrays are declared.
    generated: OnceLock<FxHashMap<NodePath, Generated>>,
}

#[derive(Default)]
struct State {
    /// The keys of groups in the store.
    groups: FxHashMap<NodePath, Key>,
    /// Members of groups that are not nodes, kept until the store is finished.
    members: FxHashMap<NodePath, Vec<(String, Node)>>,
    /// The dimensions named by arrays of the same group.
    named: FxHashSet<NodePath>,
    /// The keys of arrays. Empty if the store has no metadata for the NetCDF library.
    arrays: FxHashMap<NodePath, Key>,
    netcdf: Netcdf,
    unnamed: Unnamed,
    /// Whether there is an array whose type zarr-python cannot read.
    has_other_type: bool,
    /// Whether the store is a single array.
    is_array: bool,
}

impl Target for ZarrTarget {
    fn declare(&self, path: &NodePath, node: &Node, _: Facts) -> Result<()> {
        self.state().unnamed.declare(path, node, &self.growing);
        let parent = path.parent().unwrap_or_else(NodePath::root);
        match node {
            Node::Group(group) => {
                let definition = attributes::of_group(path, group, &self.options, &mut Silent)?;
                let key = if path.is_root() {
                    self.hierarchy.amend(&Key::root(), |own| *own = definition)?;
                    Key::root()
                } else {
                    self.hierarchy.group(&self.group(&parent)?, path.name(), definition)?.path
                };
                self.state().groups.insert(path.clone(), key);
            }
            Node::Unreadable(_) => {}
            array if array.has_elements() => {
                let mut state = self.state();
                if let Node::Ndarray(array) = array {
                    let own = array.shape.dims().iter().filter_map(|dimension| dimension.coordinate.clone());
                    let own = own.filter(|of| of.parent().as_ref() == Some(&parent));
                    state.named.extend(own);
                }
                let dimension = match array {
                    Node::DimCoord(dimcoord) => Some(dimcoord.size),
                    Node::Ndarray(array) => array.dimension,
                    _ => None,
                };
                if let Some(dimension) = dimension {
                    state.netcdf.declare(path, dimension, &self.growing);
                }
                drop(state);
                if !path.is_root() {
                    self.hierarchy.declare(&self.group(&parent)?, path.name())?;
                }
            }
            member => {
                if let Node::DimCoord(dimcoord) = member {
                    self.state().netcdf.declare(path, dimcoord.size, &self.growing);
                }
                let member = (path.name().to_owned(), member.clone());
                self.state().members.entry(parent).or_default().push(member);
            }
        }
        Ok(())
    }

    fn order_members(&self, group: &NodePath, members: &[OrderedMember<'_>]) -> Result<()> {
        let names = members.iter().map(|member| member.name);
        if names.clone().is_sorted() {
            return Ok(());
        }
        let order = Json::Array(names.map(Json::from).collect());
        self.hierarchy.amend(&self.group(group)?, |group| group.record.insert("member_order", order))
    }

    fn begin(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Box<dyn ArrayTarget + '_>> {
        let ArrayPlan { mut definition, lowering, own, fits_zarr_python, needs_unwritten } =
            ArrayPlan::new(path, node, facts, &self.destination(path), &mut Silent)?;
        if !fits_zarr_python {
            self.state().has_other_type = true;
        }
        let parent = path.parent().unwrap_or_else(NodePath::root);
        let mut referring = None;
        if self.options.flag(NCZARR) && !path.is_root() {
            let growing = own.as_ref().map(|_| &*self.growing);
            let refers = Referring::new(path, node, growing, &lowering.trailing);
            if let Some(json) = refers.json(&self.state().groups) {
                definition.attributes_mut().insert(nczarr::ARRAY, json);
            }
            referring = Some(refers);
        }
        let writer = match path.is_root() {
            true => {
                self.state().is_array = true;
                if !has_records(&self.options) {
                    *definition.record_mut() = Object::new();
                }
                let store = Arc::clone(self.hierarchy.store());
                ArrayWriter::create(store, &Key::root(), self.version, &definition)?
            }
            false => self.hierarchy.array(&self.group(&parent)?, path.name(), definition)?,
        };
        let key = writer.path().clone();
        let path = path.clone();
        let finished = Box::new(move || {
            let Some(referring) = referring.clone() else { return };
            let mut state = self.state();
            state.netcdf.add(referring);
            state.arrays.insert(path.clone(), key.clone());
        });
        let is_asked = facts.filters == Filters::Asked;
        let encoder = ZarrEncoder::new(writer, lowering, own, node, (needs_unwritten, is_asked));
        Ok(Box::new(ZarrArrayTarget::new(encoder, self.is_ordered, finished)))
    }

    fn finish(&self) -> Result<()> {
        let State { groups, members, named, arrays, netcdf, has_other_type, is_array, .. } =
            std::mem::take(&mut *self.state());
        if is_array {
            return self.hierarchy.store().finish();
        }
        for (group, mut members) in members {
            // Readers find these through the dimension names of arrays.
            members.retain(|(name, node)| match node {
                Node::DimCoord(dimcoord) => {
                    let has_content = content(&dimcoord.storage).next().is_some();
                    let is_plain = dimcoord.size.is_fixed() && dimcoord.attributes.is_empty() && !has_content;
                    !(is_plain && named.contains(&group.child(name)))
                }
                _ => true,
            });
            if members.is_empty() {
                continue;
            }
            let written = record::members_json(&members)?;
            let key = groups.get(&group).ok_or_else(|| no_group(&group))?;
            self.hierarchy.amend(key, |group| keep(&mut group.record, written))?;
        }
        if self.options.flag(NCZARR) {
            for (key, keys) in netcdf.keys(&groups, &arrays).into_iter().flatten() {
                self.hierarchy.amend(&key, |group| {
                    keys.iter().for_each(|(name, json)| group.attributes.insert(name, json.clone()));
                })?;
            }
        }
        self.hierarchy.finish(self.options.flag_or(CONSOLIDATED, !has_other_type))
    }
}

impl ZarrTarget {
    fn destination<'a>(&'a self, path: &NodePath) -> Destination<'a> {
        let generated = self.generated.get_or_init(|| self.state().unnamed.named());
        Destination {
            version: self.version,
            options: &self.options,
            growing: &self.growing,
            generated: generated.get(path).map(Vec::as_slice),
        }
    }

    fn group(&self, path: &NodePath) -> Result<Key> {
        self.state().groups.get(path).cloned().ok_or_else(|| no_group(path))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds members to a record.
fn keep(record: &mut Object, members: Object) {
    for (name, json) in members.iter() {
        record.insert(name, json.clone());
    }
}

fn no_group(path: &NodePath) -> Error {
    Error::invalid(format!("a member of {path}, which is not declared yet"))
}

/// Notes the loss of content that only records keep, when no records are written.
struct WithoutRecords<'a>(&'a mut dyn Losses);

impl Losses for WithoutRecords<'_> {
    fn note(&mut self, lowered: &'static Lowered, place: String, detail: Option<String>) {
        self.0.note(lowered.without_record.unwrap_or(lowered), place, detail);
    }
}

/// The option to store copies of all metadata documents at the root.
const CONSOLIDATED: &str = "zarr.consolidated";

/// The option for the separator in chunk keys.
const SEPARATOR: &str = "zarr.separator";

/// The option that adds the metadata of the NetCDF library.
const NCZARR: &str = "zarr.nczarr";

/// Whether content that Zarr cannot represent is kept in records.
fn has_records(options: &TargetOptions) -> bool {
    !matches!(options.get("zarr.record"), Some(OptionValue::Word(word)) if word == "none")
}

const OPTIONS: &[TargetOption] = &[
    TargetOption {
        key: "struct",
        takes: OptionType::Word(&["registered", "seed", "legacy"]),
        means: "how compound types and raw bytes are written: registered, as in the draft of 2022, or for zarr-python 3.1",
    },
    TargetOption {
        key: "consolidated",
        takes: OptionType::Flag,
        means: "copies of all metadata documents at the root, so that readers open the store with one request \
                (default: true, unless zarr-python 3.1 does not read the type of an array)",
    },
    TargetOption {
        key: "separator",
        takes: OptionType::Word(&["/", "."]),
        means: "separator between the numbers in chunk keys (default: as in a source of the same version, else / in version 3 and . in version 2)",
    },
    TargetOption {
        key: "nczarr",
        takes: OptionType::Flag,
        means: "version 2 only: write NCZarr metadata, so that the NetCDF library shows unlimited dimensions, dimensions of parent groups and types of attributes",
    },
    TargetOption {
        key: "record",
        takes: OptionType::Word(&["kept", "none"]),
        means: "whether content that Zarr cannot represent is kept in records, which other readers do not show; with none, the report lists it as lost",
    },
];
