//! Whole files, read back: what depends on the bounds and the options of a file.

use super::*;
use crate::Object;
use crate::format::message::MessageType;
use crate::format::message::attribute::{Attribute, Version as AttributeVersion};
use crate::format::message::character_set::CharacterSet;
use crate::format::message::comment::Comment;
use crate::format::message::modification_time::ModificationTime;
use crate::format::message::reference_count::ReferenceCount;
use crate::format::message::shared::{MaybeShared, MessageLocation, SharedMessage, Version as SharedVersion};
use crate::format::object_header::Prefix;
use crate::format::object_header::prefix_v2::{AttributePhaseChange, Times};
use crate::write::LibraryVersion::{Earliest, V1_8, V1_10, V2_0};
use crate::write::test_datasets::{
    bounds, chunks, datasets, filter, integer, line, link, numbers, put_dataset, rows,
};
use crate::write::test_file::TestFile;
use crate::write::{
    CreationOrder, NewAttribute, NewDataset, NewDatatype, NewGroup, NewLayout, NewObject, SharedIndexOptions,
};
use hyperslab_core::rows::{Heap, Rows};

#[test]
fn superblocks_have_the_version_and_the_extension_that_the_options_need() {
    let usual = BtreeKValues::default();
    let chunks_k = BtreeKValues { indexed_storage_internal: 7, ..usual };
    let groups_k = BtreeKValues { group_internal: 3, group_leaf: 2, ..usual };
    for (low, btree_k, page_size, version) in [
        (Earliest, usual, None, 0),
        (Earliest, groups_k, None, 0),
        (Earliest, chunks_k, None, 1),
        (Earliest, chunks_k, Some(512), 2),
        (V1_8, usual, None, 2),
        (V1_8, groups_k, None, 2),
        (V1_10, chunks_k, Some(4096), 3),
        (V2_0, usual, Some(1000), 3),
    ] {
        for (user_block, width) in [(0, 8), (512, 4), (2048, 2)] {
            let sizes = Sizes { offsets: width, lengths: width };
            let file_space = page_size.map(FileSpace::paged);
            let options = FileOptions { sizes, user_block, file_space, btree_k, ..bounds(low, V2_0) };
            let numbers = numbers(40, 40, chunks(2), Vec::new());
            let file = datasets(&options, &[("a", numbers)]);
            assert_eq!(file.elements("a"), rows(2, 0..40));
            let superblock = file.file().superblock();
            assert_eq!((superblock.version_number(), superblock.sizes), (version, sizes), "{options:?}");
            assert_eq!((file.file().user_block(), superblock.consistency_flags), (user_block, 0));
            let root = match &superblock.version {
                Version::V0(root) => root,
                Version::V1 { root, indexed_storage_k } => {
                    assert_eq!(*indexed_storage_k, btree_k.indexed_storage_internal);
                    root
                }
                Version::V2(root) | Version::V3(root) => {
                    let is_needed = page_size.is_some() || btree_k != usual;
                    assert_eq!(root.extension.is_undefined(), !is_needed);
                    if is_needed {
                        let extension = Object::open(file.file(), root.extension).unwrap();
                        assert_eq!(file.message(&extension), Some(btree_k).filter(|k| *k != usual));
                        let space = file.message::<FileSpaceInfo>(&extension);
                        assert_eq!(space.is_some(), page_size.is_some());
                        if let Some(FileSpaceInfo::V1 { strategy, page_size: found, .. }) = space {
                            assert_eq!((strategy, Some(found)), (StrategyV1::Page, page_size));
                        }
                    }
                    continue;
                }
            };
            let found = (root.group_internal_k, root.group_leaf_k);
            assert_eq!(found, (btree_k.group_internal, btree_k.group_leaf));
            assert!(matches!(root.entry.cache, Cache::Group { .. }));
        }
    }
}

#[test]
fn file_space_of_all_strategies_is_kept() {
    use StrategyV1::{Aggregators, FreeSpaceManagersAndAggregators, None, Page};
    for strategy in [FreeSpaceManagersAndAggregators, Page, Aggregators, None] {
        for (persists, threshold, page_size) in [(false, 1, 4096), (true, 300, 512)] {
            let space = FileSpace { strategy, persists, threshold, page_size };
            let options = FileOptions { file_space: Some(space), ..bounds(V1_8, V2_0) };
            let file = datasets(&options, &[("a", numbers(40, 40, chunks(2), Vec::new()))]);
            assert_eq!(file.elements("a"), rows(2, 0..40));
            let Version::V2(root) = &file.file().superblock().version else { panic!("another superblock") };
            let extension = Object::open(file.file(), root.extension).unwrap();
            let Some(FileSpaceInfo::V1 {
                managers, threshold: least, strategy: found, page_size: pages, ..
            }) = file.message::<FileSpaceInfo>(&extension)
            else {
                panic!("no file space information of version 1");
            };
            assert_eq!((found, managers.is_some(), least, pages), (strategy, persists, threshold, page_size));
            let options = FileOptions { high: V1_8, ..options };
            assert!(options.check().unwrap_err().detail().contains("which v1.8 cannot read"));
        }
    }
}

#[test]
fn headers_keep_times_counts_comments_and_what_was_chosen_for_attributes() {
    let times = Times { access: 1, modification: 2, change: 3, birth: 4 };
    let phase_change = AttributePhaseChange { maximum_compact: 3, minimum_dense: 1 };
    for (low, attribute_phase_change, attribute_order, is_v2) in [
        (Earliest, AttributePhaseChange::default(), CreationOrder::Untracked, false),
        (Earliest, AttributePhaseChange::default(), CreationOrder::Tracked, true),
        (Earliest, phase_change, CreationOrder::Untracked, true),
        (V1_8, AttributePhaseChange::default(), CreationOrder::Untracked, true),
        (V1_8, phase_change, CreationOrder::Indexed, true),
    ] {
        let header =
            HeaderOptions { attribute_order, attribute_phase_change, times: Some(times), reference_count: 2 };
        let attributes = ["b", "a"].map(|name| attribute(name, None)).to_vec();
        let comment = Some(b"measured twice".to_vec());
        let object = NewObject { header, attributes, comment };
        let file = TestFile::write_objects(&bounds(low, V2_0), &mut |writer| {
            let dataset = NewDataset { object: object.clone(), ..numbers(3, 3, NewLayout::Compact, vec![]) };
            let address = put_dataset(writer, &dataset)?;
            let links = vec![link("one", address), link("other", address)];
            writer.group(NewGroup { links, ..NewGroup::default() })
        })
        .unwrap();
        file.check();
        let object = file.object("one");
        assert_eq!(object.reference_count(), 2);
        assert_eq!(file.message(&object), Some(Comment { text: b"measured twice".to_vec() }));
        assert!(object.header().find(MessageType::NIL).is_some(), "room for a continuation");
        let seconds = file.message::<ModificationTime>(&object).map(|time| time.seconds);
        let count = file.message::<ReferenceCount>(&object).map(|count| count.count);
        let names = object.attributes(file.file()).unwrap().into_iter().map(|(name, _)| name);
        let names: Vec<_> = names.collect();
        match object.header().prefix() {
            Prefix::V1(prefix) => {
                assert!(!is_v2);
                assert_eq!((seconds, count, prefix.reference_count), (Some(2), None, 2));
            }
            Prefix::V2(prefix) => {
                assert!(is_v2);
                assert_eq!((seconds, count, prefix.times), (None, Some(2), Some(times)));
                let is_kept = attribute_phase_change == phase_change;
                assert_eq!(prefix.attribute_phase_change, is_kept.then_some(phase_change));
                assert_eq!(prefix.attribute_creation_order_tracked, attribute_order.is_tracked());
            }
        }
        let is_tracked = attribute_order.is_tracked();
        assert_eq!(names, if is_tracked { [b"b", b"a"] } else { [b"a", b"b"] });
    }
}

/// An attribute of three numbers.
fn attribute(name: &str, committed: Option<Address>) -> NewAttribute {
    NewAttribute {
        name: name.as_bytes().to_vec(),
        character_set: if name.is_ascii() { CharacterSet::Ascii } else { CharacterSet::Utf8 },
        datatype: NewDatatype { datatype: integer(2), committed },
        extent: line(3, 3),
        value: Rows { rows: rows(2, 0..3), heap: Heap::default() },
    }
}

#[test]
fn attributes_have_the_version_that_they_need_and_refer_to_committed_datatypes() {
    for (low, versions) in [(Earliest, ["V1", "V2", "V3"]), (V1_8, ["V3"; 3])] {
        let file = TestFile::write_objects(&bounds(low, V2_0), &mut |writer| {
            let datatype = writer.committed_datatype(
                &NewObject {
                    header: HeaderOptions { reference_count: 3, ..HeaderOptions::default() },
                    ..NewObject::default()
                },
                &integer(2),
            )?;
            let attributes = vec![attribute("a", None), attribute("b", Some(datatype)), attribute("ü", None)];
            let object = NewObject { attributes, ..NewObject::default() };
            let own = NewDatatype { datatype: integer(2), committed: Some(datatype) };
            let plain = numbers(3, 3, NewLayout::Contiguous, Vec::new());
            let dataset = put_dataset(writer, &NewDataset { object, datatype: own, ..plain })?;
            let links = vec![link("dataset", dataset), link("datatype", datatype)];
            writer.group(NewGroup { links, ..NewGroup::default() })
        })
        .unwrap();
        file.check();
        let (object, reader) = (file.object("dataset"), file.file().reader());
        let datatype = file.object("datatype").address();
        let expected =
            SharedMessage { version: SharedVersion::V2, location: MessageLocation::Committed(datatype) };
        assert_eq!(object.dataset(file.file()).unwrap().committed(), Some(datatype));
        assert_eq!(file.object("datatype").named_datatype(file.file()).unwrap(), integer(2));
        let found = object.header().find_all(MessageType::ATTRIBUTE);
        let found: Vec<Attribute> = found.map(|stored| stored.decode(reader).unwrap()).collect();
        for (attribute, version) in found.iter().zip(versions) {
            let own = match attribute.version {
                AttributeVersion::V1 => "V1",
                AttributeVersion::V2 => "V2",
                AttributeVersion::V3 { .. } => "V3",
            };
            assert_eq!(own, version, "{low}");
        }
        assert_eq!(found[1].datatype, MaybeShared::Shared(expected));
        let values = object.attributes(file.file()).unwrap().into_iter();
        let values: Vec<_> = values.map(|(_, of)| of.unwrap().read(file.file()).unwrap().rows).collect();
        assert_eq!(values, [rows(2, 0..3), rows(2, 0..3), rows(2, 0..3)]);
    }
}

#[test]
fn messages_are_shared_between_the_headers_of_a_file() {
    let bit = |message_type: MessageType| 1_u16 << message_type.0;
    let types = [MessageType::DATASPACE, MessageType::DATATYPE, MessageType::FILL_VALUE]
        .into_iter()
        .chain([MessageType::FILTER_PIPELINE, MessageType::ATTRIBUTE]);
    let index = SharedIndexOptions { message_types: types.map(bit).sum(), min_message_size: 1 };
    for (low, version) in [(Earliest, 2), (V1_8, 2), (V1_10, 3)] {
        for list_cutoff in [50, 1] {
            let shared =
                SharedMessageOptions { indexes: vec![index], list_cutoff, btree_cutoff: list_cutoff / 2 };
            let options = FileOptions { shared_messages: Some(shared), ..bounds(low, V2_0) };
            let object = NewObject { attributes: vec![attribute("a", None)], ..NewObject::default() };
            let dataset = NewDataset { object, ..numbers(40, 40, chunks(8), vec![filter(1, &[6])]) };
            let file = datasets(&options, &[("one", dataset.clone()), ("two", dataset.clone())]);
            assert_eq!(file.file().superblock().version_number(), version);
            assert_eq!((file.has(b"SMLI"), file.has(b"BTHD\0\x07")), (list_cutoff == 50, list_cutoff == 1));
            let second = file.object("two");
            for message_type in [MessageType::DATASPACE, MessageType::DATATYPE, MessageType::FILTER_PIPELINE]
                .into_iter()
                .chain([MessageType::FILL_VALUE, MessageType::ATTRIBUTE])
            {
                assert!(second.header().find(message_type).unwrap().flags.is_shared(), "{message_type}");
            }
            for name in ["one", "two"] {
                assert_eq!(file.elements(name), rows(2, 0..40), "{name}");
                let (_, attribute) = file.object(name).attributes(file.file()).unwrap().remove(0);
                assert_eq!(attribute.unwrap().read(file.file()).unwrap().rows, rows(2, 0..3));
            }
        }
    }
}
