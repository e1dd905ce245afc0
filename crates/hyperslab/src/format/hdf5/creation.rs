//! Settings chosen at the creation of an object or a file that are not visible in later use, as directives: tracked
//! orders, phase changes, allocation time, bit padding, and for the root group the settings of the whole file. The
//! defaults of the HDF5 library are omitted.
//!
//! Spec: HDF5 II.C Disk Format: Level 0C - Superblock Extension, IV.A Disk Format: Level 2A - Data Object Headers

use super::Hdf5Source;
use super::netcdf::is_classic_model;
use super::storage::pipeline;
use hyperslab_core::{Result, valid};
use hyperslab_hdf5::format::Sizes;
use hyperslab_hdf5::format::infrastructure::SharedMessageTable;
use hyperslab_hdf5::format::infrastructure::shared_message_table::SharedMessageTableContext;
use hyperslab_hdf5::format::message::MessageType;
use hyperslab_hdf5::format::message::btree_k_values::BtreeKValues;
use hyperslab_hdf5::format::message::data_layout::LayoutClass;
use hyperslab_hdf5::format::message::datatype::{Datatype as Hdf5Datatype, DatatypeClass};
use hyperslab_hdf5::format::message::file_space_info::{FileSpaceInfo, StrategyV0, StrategyV1};
use hyperslab_hdf5::format::message::fill_value::AllocationTime;
use hyperslab_hdf5::format::message::filter_pipeline::FilterPipeline;
use hyperslab_hdf5::format::message::group_info::GroupInfo;
use hyperslab_hdf5::format::message::link_info::LinkInfo;
use hyperslab_hdf5::format::message::shared_message_table::SharedMessageTable as TableMessage;
use hyperslab_hdf5::format::metadata::superblock::{SymbolTableRoot, Version};
use hyperslab_hdf5::format::object_header::Prefix;
use hyperslab_hdf5::navigate::object_header::ObjectHeader;
use hyperslab_hdf5::{Dataset, Object, ObjectKind};
use hyperslab_model::Directive;

/// Directives with their names.
pub(super) type Notes = Vec<(String, Directive)>;

impl Hdf5Source {
    /// The settings of any object: whether attributes keep their order, and when their storage changes.
    pub(super) fn note_attributes(&self, header: &ObjectHeader, notes: &mut Notes) {
        let Prefix::V2(prefix) = header.prefix() else { return };
        // In NetCDF-4 all objects track it.
        if prefix.attribute_creation_order_tracked && !self.netcdf {
            note_order(
                ["track_attributes", "index_attributes"],
                prefix.attribute_creation_order_indexed,
                notes,
            );
        }
        if let Some(change) = prefix.attribute_phase_change {
            note(notes, "attribute_phase_change", sizes([change.maximum_compact, change.minimum_dense]));
        }
    }

    /// The settings of a group: whether links keep their order, when their storage changes, how many were expected, and
    /// the filters of their heap.
    pub(super) fn note_group(&self, object: &Object, notes: &mut Notes) -> Result<()> {
        let (header, reader) = (object.header(), self.file.reader());
        if object.kind() != ObjectKind::Group {
            return Ok(());
        }
        // Damage is reported when the members are listed.
        if let Some(Some(info)) = valid(header.message::<LinkInfo>(reader))?
            && info.maximum_creation_index.is_some()
            && !self.netcdf
        {
            note_order(["track_order", "index_order"], info.creation_order_index.is_some(), notes);
        }
        if let Some(Some(info)) = valid(header.message::<GroupInfo>(reader))? {
            if let Some(change) = info.link_phase_change {
                note(notes, "link_phase_change", sizes([change.maximum_compact, change.minimum_dense]));
            }
            if let Some(expected) = info.estimates {
                note(notes, "link_estimates", sizes([expected.entries, expected.name_len]));
            }
        }
        if let Some(Some(filters)) = valid(header.message::<FilterPipeline>(reader))? {
            note(notes, "link_filter", pipeline(&filters.filters));
        }
        Ok(())
    }

    /// The settings of a dataset: when its space is allocated, and whether the chunks at its edge are filtered.
    pub(super) fn note_dataset(&self, dataset: &Dataset, notes: &mut Notes) -> Result<()> {
        if let Some(message) = dataset.fill(&self.file)?.message {
            let usual = match dataset.layout() {
                LayoutClass::Compact { .. } => AllocationTime::Early,
                LayoutClass::Contiguous { .. } => AllocationTime::Late,
                LayoutClass::Chunked(_) | LayoutClass::Virtual { .. } => AllocationTime::Incremental,
            };
            let time = match message.allocation_time {
                time if time == usual => None,
                AllocationTime::Early => Some("early"),
                AllocationTime::Late => Some("late"),
                AllocationTime::Incremental => Some("incremental"),
                AllocationTime::Default => None,
            };
            if let Some(time) = time {
                note(notes, "alloc_time", Directive::Text(time.into()));
            }
        }
        if dataset.has_unfiltered_edges() {
            note(notes, "unfiltered_edges", Directive::Bool(true));
        }
        Ok(())
    }

    /// The settings of the file: the widths of addresses and lengths, the sizes of B-tree nodes, how space is managed,
    /// which messages are shared, and whether the NetCDF library restricts itself to the classic model.
    pub(super) fn note_file(&self, notes: &mut Notes) -> Result<()> {
        let (superblock, reader) = (self.file.superblock(), self.file.reader());
        if self.netcdf && is_classic_model(&self.file)? {
            note(notes, "classic_model", Directive::Bool(true));
        }
        if superblock.sizes != Sizes::DEFAULT {
            note(notes, "sizes", sizes([superblock.sizes.offsets, superblock.sizes.lengths]));
        }
        // Opening the file has already read what matters here; damage to the rest does no harm.
        let extension = match superblock.extension().is_undefined() {
            true => None,
            false => valid(ObjectHeader::read(reader, superblock.extension()))?,
        };
        let of_root = |root: &SymbolTableRoot, indexed_storage_internal| BtreeKValues {
            indexed_storage_internal,
            group_internal: root.group_internal_k,
            group_leaf: root.group_leaf_k,
        };
        let usual = BtreeKValues::default();
        let values = match &superblock.version {
            Version::V0(root) => of_root(root, usual.indexed_storage_internal),
            Version::V1 { root, indexed_storage_k } => of_root(root, *indexed_storage_k),
            Version::V2(_) | Version::V3(_) => {
                let stored = extension.as_ref().map(|header| valid(header.message(reader))).transpose()?;
                stored.flatten().flatten().unwrap_or_default()
            }
        };
        if values != usual {
            let BtreeKValues { indexed_storage_internal, group_internal, group_leaf } = values;
            note(notes, "btree_k", sizes([group_internal, group_leaf, indexed_storage_internal]));
        }
        let Some(extension) = extension else { return Ok(()) };
        if let Some(Some(info)) = valid(extension.message::<FileSpaceInfo>(reader))? {
            note(notes, "file_space", file_space(&info));
        }
        if let Some(Some(message)) = valid(extension.message::<TableMessage>(reader))? {
            let context =
                SharedMessageTableContext { sizes: *reader.sizes(), index_count: message.index_count };
            let table = reader.structure(message.address, context.table_len(), &context);
            if let Some(table) = valid(table)? {
                note(notes, "shared_messages", shared_messages(&table));
            }
        }
        Ok(())
    }
}

/// The values of the unused bits of elements, unless they are zeros.
pub(super) fn note_padding(datatype: &Hdf5Datatype, notes: &mut Notes) {
    let (low, high, internal) = match &datatype.class {
        DatatypeClass::FixedPoint(of) => (of.low_padding, of.high_padding, false),
        DatatypeClass::BitField(of) => (of.low_padding, of.high_padding, false),
        DatatypeClass::FloatingPoint(of) => (of.low_padding, of.high_padding, of.internal_padding),
        _ => return,
    };
    let ones = [("low", low), ("high", high), ("internal", internal)];
    let ones: Vec<_> = ones.into_iter().filter(|(_, is_one)| *is_one).collect();
    if !ones.is_empty() {
        let bits = ones.into_iter().map(|(place, _)| (place.to_owned(), Directive::Int(1)));
        note(notes, "bit_padding", Directive::Map(bits.collect()));
    }
}

/// A tracked order. The library indexes it only on request; h5py always requests it.
fn note_order([tracked, indexed]: [&str; 2], is_indexed: bool, notes: &mut Notes) {
    note(notes, tracked, Directive::Bool(true));
    if !is_indexed {
        note(notes, indexed, Directive::Bool(false));
    }
}

fn file_space(info: &FileSpaceInfo) -> Directive {
    let (strategy, persists, threshold, page_size) = match info {
        FileSpaceInfo::V0 { strategy, threshold } => {
            let (strategy, persists) = match strategy {
                StrategyV0::AllPersist { .. } => (FSM, true),
                StrategyV0::All => (FSM, false),
                StrategyV0::AggregatorsAndDriver => (AGGREGATE, false),
                StrategyV0::Driver => (NONE, false),
            };
            (strategy, persists, *threshold, None)
        }
        FileSpaceInfo::V1 { strategy, threshold, page_size, managers, .. } => {
            let strategy = STRATEGIES.iter().find(|(of, _)| of == strategy).map_or(NONE, |(_, word)| *word);
            (strategy, managers.is_some(), *threshold, Some(*page_size))
        }
    };
    let mut members = Notes::new();
    note(&mut members, "strategy", Directive::Text(strategy.into()));
    note(&mut members, "persist", Directive::Bool(persists));
    note(&mut members, "threshold", Directive::Int(threshold.into()));
    if let Some(size) = page_size {
        note(&mut members, "page_size", Directive::Int(size.into()));
    }
    Directive::Map(members)
}

fn shared_messages(table: &SharedMessageTable) -> Directive {
    let index = |of: &hyperslab_hdf5::format::infrastructure::shared_message_table::SharedMessageIndex| {
        let has = |(kind, _): &(MessageType, &str)| {
            of.message_types.checked_shr(kind.0.into()).unwrap_or(0) & 1 == 1
        };
        let kinds = SHAREABLE.iter().copied().filter(has).map(|(_, word)| Directive::Text(word.into()));
        let mut members = Notes::new();
        note(&mut members, "messages", Directive::List(kinds.collect()));
        note(&mut members, "min_size", Directive::Int(of.min_message_size.into()));
        note(&mut members, "phase_change", sizes([of.list_cutoff, of.btree_cutoff]));
        Directive::Map(members)
    };
    Directive::List(table.indexes.iter().map(index).collect())
}

fn sizes<T: Into<i128>, const N: usize>(numbers: [T; N]) -> Directive {
    Directive::List(numbers.into_iter().map(|number| Directive::Int(number.into())).collect())
}

pub(super) fn note(notes: &mut Notes, key: &str, value: Directive) {
    notes.push((key.to_owned(), value));
}

/// The messages that files can share.
pub(super) const SHAREABLE: [(MessageType, &str); 5] = [
    (MessageType::DATASPACE, "dataspace"),
    (MessageType::DATATYPE, "datatype"),
    (MessageType::FILL_VALUE, "fill"),
    (MessageType::FILTER_PIPELINE, "filter"),
    (MessageType::ATTRIBUTE, "attribute"),
];

/// The file space strategies.
pub(super) const STRATEGIES: [(StrategyV1, &str); 4] = [
    (StrategyV1::FreeSpaceManagersAndAggregators, FSM),
    (StrategyV1::Page, "page"),
    (StrategyV1::Aggregators, AGGREGATE),
    (StrategyV1::None, NONE),
];

const FSM: &str = "fsm";
const AGGREGATE: &str = "aggregate";
const NONE: &str = "none";
