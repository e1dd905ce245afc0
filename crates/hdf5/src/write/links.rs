//! The links of a group that has no symbol table: messages of its header, or objects of a fractal heap with indexes.
//!
//! Spec: HDF5 IV.A.2.c The Link Info Message

use super::Sink;
use super::dense_storage::{CreationOrder, MAX_MESSAGE_SIZE, at, hash_order, write_index};
use super::fractal_heap::{FractalHeapBuilder, FractalHeapParameters};
use crate::format::infrastructure::btree_v2::{Record, RecordType};
use crate::format::message::Message;
use crate::format::message::filter_pipeline::FilterPipeline;
use crate::format::message::group_info::{Estimates, GroupInfo, LinkPhaseChange};
use crate::format::message::link::Link;
use crate::format::message::link_info::LinkInfo;
use crate::format::{Address, Structure};
use hyperslab_core::{Encoder, Result};

/// How the links of a group are stored.
#[derive(Clone, Debug, Default)]
pub struct LinkOptions {
    /// Whether the creation order is tracked and indexed.
    pub creation_order: CreationOrder,
    /// The link counts at which storage becomes dense or compact.
    pub phase_change: LinkPhaseChange,
    /// The expected links, for which libhdf5 leaves room.
    pub estimates: Estimates,
    /// The filters of the heap.
    pub filters: Option<FilterPipeline>,
}

/// Stores links, which are given in creation order. Returns the messages of the group's header.
///
/// # Errors
/// If two links have the same name, or a link cannot be encoded.
pub(crate) fn write_links(
    sink: &mut dyn Sink,
    mut links: Vec<Link>,
    options: &LinkOptions,
) -> Result<Vec<Message>> {
    let LinkOptions { creation_order, phase_change, estimates, filters } = options;
    for (link, number) in links.iter_mut().zip(0..) {
        link.creation_order = creation_order.is_tracked().then_some(number);
    }
    let mut info = LinkInfo {
        maximum_creation_index: creation_order
            .is_tracked()
            .then(|| i64::try_from(links.len()).unwrap_or(i64::MAX)),
        heap: Address::UNDEFINED,
        name_index: Address::UNDEFINED,
        creation_order_index: creation_order.index(Address::UNDEFINED),
    };
    let is_dense = links.len() > usize::from(phase_change.maximum_compact) || has_large(sink, &links)?;
    if is_dense {
        write_dense(sink, &links, &mut info, options)?;
        links.clear();
    } else {
        hash_order(&names(&links), LINKS)?;
    }
    let group_info = GroupInfo {
        link_phase_change: Some(*phase_change).filter(|change| *change != LinkPhaseChange::default()),
        estimates: Some(*estimates).filter(|estimates| *estimates != Estimates::default()),
    };
    let mut messages = vec![Message::LinkInfo(info), Message::GroupInfo(group_info)];
    messages.extend(filters.clone().map(Message::FilterPipeline));
    messages.extend(links.into_iter().map(Message::Link));
    Ok(messages)
}

/// Whether a link does not fit in a header.
fn has_large(sink: &dyn Sink, links: &[Link]) -> Result<bool> {
    let mut e = Encoder::new();
    for link in links {
        let start = e.len();
        link.encode(&mut e, &sink.sizes())?;
        if e.len() - start >= MAX_MESSAGE_SIZE {
            return Ok(true);
        }
    }
    Ok(false)
}

fn write_dense(
    sink: &mut dyn Sink,
    links: &[Link],
    info: &mut LinkInfo,
    options: &LinkOptions,
) -> Result<()> {
    let sizes = sink.sizes();
    let mut heap = FractalHeapBuilder::new(sizes, FractalHeapParameters::LINKS, options.filters.as_ref())?;
    for link in links {
        let mut e = Encoder::new();
        link.encode(&mut e, &sizes)?;
        heap.insert(e.as_slice())?;
    }
    let (address, ids) = heap.write(sink)?;
    info.heap = address;
    info.name_index = write_index(sink, RecordType::LinkName, links.len(), || {
        let order = hash_order(&names(links), LINKS)?;
        let record = |(hash, place)| Ok(Record::LinkName { hash, heap_id: at(&ids, place)? });
        Ok(order.into_iter().map(record))
    })?;
    if info.creation_order_index.is_some() {
        let records = || {
            let record = |(creation_order, heap_id)| Record::LinkCreationOrder { creation_order, heap_id };
            Ok((0..).zip(ids.iter().copied()).map(record).map(Ok))
        };
        let index = write_index(sink, RecordType::LinkCreationOrder, links.len(), records)?;
        info.creation_order_index = Some(index);
    }
    Ok(())
}

fn names(links: &[Link]) -> Vec<&[u8]> {
    links.iter().map(|link| link.name.as_slice()).collect()
}

const LINKS: &str = "links of a group";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Sizes;
    use crate::format::message::link::{ExternalLink, LinkTarget};
    use crate::write::test_file::{Form, TestFile, empty_group};

    /// Names of many lengths, in creation order, which is not the order of the names.
    fn name(number: usize) -> Vec<u8> {
        let filler = "x".repeat(number % 23);
        format!("link {}{filler} {number}", number % 7).into_bytes()
    }

    fn link(number: usize, name: Vec<u8>, target: LinkTarget) -> Link {
        let character_set =
            number.is_multiple_of(3).then_some(crate::format::message::character_set::CharacterSet::Utf8);
        Link { name, character_set, creation_order: None, target }
    }

    fn links(count: usize, sink: &mut dyn Sink) -> Result<Vec<Link>> {
        let object = empty_group(sink)?;
        let target = |number: usize| match number {
            0 => LinkTarget::Hard(object),
            number => LinkTarget::Soft(vec![b'p'; 1 + number % 50]),
        };
        Ok((0..count).map(|number| link(number, name(number), target(number))).collect())
    }

    /// Writes a group of `count` links, and finds them all again.
    fn round_trip(sizes: Sizes, options: &LinkOptions, count: usize) -> TestFile {
        let form = Form::V2(CreationOrder::Untracked);
        let file = TestFile::write(sizes, form, &mut |sink| {
            let links = links(count, sink)?;
            write_links(sink, links, options)
        })
        .unwrap();
        let found = file.links();
        let mut expected: Vec<Vec<u8>> = (0..count).map(name).collect();
        if !options.creation_order.is_tracked() {
            expected.sort_unstable();
        }
        let names: Vec<&[u8]> = found.iter().map(|link| link.name.as_slice()).collect();
        assert_eq!(names, expected);
        for number in (0..count).step_by(1 + count / 50) {
            let link = file.link(&name(number)).unwrap();
            match number {
                0 => assert!(matches!(link.target, LinkTarget::Hard(_))),
                _ => assert_eq!(link.target, LinkTarget::Soft(vec![b'p'; 1 + number % 50])),
            }
        }
        file
    }

    fn options(creation_order: CreationOrder) -> LinkOptions {
        LinkOptions { creation_order, ..LinkOptions::default() }
    }

    const ORDERS: [CreationOrder; 3] =
        [CreationOrder::Untracked, CreationOrder::Tracked, CreationOrder::Indexed];

    #[test]
    fn links_are_found_around_every_boundary() {
        for order in ORDERS {
            for count in [1, 2, 7, 8, 9, 10, 45, 46, 47, 500, 1148, 1149, 1150, 1151, 3000] {
                round_trip(Sizes::DEFAULT, &options(order), count).check();
            }
        }
    }

    #[test]
    fn an_empty_group_has_no_heap() {
        for order in ORDERS {
            let file = TestFile::write(Sizes::DEFAULT, Form::V2(order), &mut |sink| {
                write_links(sink, Vec::new(), &options(order))
            });
            let file = file.unwrap();
            assert!(file.links().is_empty());
            file.check();
        }
    }

    #[test]
    fn links_of_narrow_addresses_are_found() {
        for (offsets, lengths) in [(2, 2), (4, 4), (2, 8), (8, 2), (4, 8)] {
            for count in [3, 9, 300] {
                round_trip(Sizes { offsets, lengths }, &options(CreationOrder::Indexed), count).check();
            }
        }
    }

    #[test]
    fn a_hundred_thousand_links_are_found() {
        round_trip(Sizes::DEFAULT, &options(CreationOrder::Indexed), 100_000).check();
    }

    #[test]
    fn filtered_heaps_are_read() {
        let filter = crate::format::message::filter_pipeline::Filter {
            id: crate::filter::DEFLATE,
            name: Vec::new(),
            optional: false,
            client_data: vec![6],
        };
        let version = crate::format::message::filter_pipeline::Version::V2;
        let filters = Some(FilterPipeline { version, filters: vec![filter] });
        for count in [3, 9, 20, 1000, 5000] {
            let options = LinkOptions { filters: filters.clone(), ..LinkOptions::default() };
            round_trip(Sizes::DEFAULT, &options, count).check();
        }
    }

    #[test]
    fn phase_changes_and_estimates_are_kept() {
        let phase_change = LinkPhaseChange { maximum_compact: 2, minimum_dense: 1 };
        let estimates = Estimates { entries: 100, name_len: 20 };
        let options = LinkOptions { phase_change, estimates, ..LinkOptions::default() };
        for (count, is_dense) in [(2, false), (3, true)] {
            let file = round_trip(Sizes::DEFAULT, &options, count);
            file.check();
            assert_eq!(file.has(b"FRHP"), is_dense);
        }
    }

    #[test]
    fn links_of_any_kind_and_length_are_stored() {
        let external = ExternalLink { file: b"other.h5".to_vec(), path: b"/a".to_vec() };
        let data = vec![1, 0, 255];
        let targets = [
            LinkTarget::External(external),
            LinkTarget::UserDefined { code: 200, data },
            LinkTarget::Soft(vec![b'q'; 5000]),
        ];
        for count in [0, 8] {
            let file = TestFile::write(Sizes::DEFAULT, Form::V2(CreationOrder::Untracked), &mut |sink| {
                let mut links = links(count, sink)?;
                let more = targets.iter().zip(0..);
                links.extend(
                    more.map(|(target, at)| link(at, format!("more {at}").into_bytes(), target.clone())),
                );
                write_links(sink, links, &LinkOptions::default())
            });
            let file = file.unwrap();
            for (target, at) in targets.iter().zip(0..) {
                assert_eq!(&file.link(format!("more {at}").as_bytes()).unwrap().target, target);
            }
            if count > 0 {
                file.check();
            }
        }
    }

    #[test]
    fn a_link_of_64_kib_makes_all_dense() {
        for (len, is_dense) in [(65_500, false), (65_535, true)] {
            let file = TestFile::write(Sizes::DEFAULT, Form::V2(CreationOrder::Untracked), &mut |sink| {
                let object = empty_group(sink)?;
                let links = vec![link(1, vec![b'n'; len], LinkTarget::Hard(object))];
                write_links(sink, links, &LinkOptions::default())
            })
            .unwrap();
            assert_eq!(file.has(b"FRHP"), is_dense);
            file.check();
            assert_eq!(file.links()[0].name.len(), len);
        }
    }

    #[test]
    fn two_links_of_one_name_are_refused() {
        for count in [2, 20] {
            let error = TestFile::write(Sizes::DEFAULT, Form::V2(CreationOrder::Untracked), &mut |sink| {
                let mut links = links(count, sink)?;
                links[1].name = name(0);
                write_links(sink, links, &LinkOptions::default())
            });
            assert_eq!(error.err().unwrap().detail(), "two links of a group have the name \"link 0 0\"");
        }
    }
}
