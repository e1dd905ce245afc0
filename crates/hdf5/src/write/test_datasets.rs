//! Headers of datasets, for tests of structures that they point to, and datasets of whole files.

use super::test_file::TestFile;
use super::{
    EncodedPiece, FileOptions, FileWriter, LibraryVersion, NewDataset, NewDatatype, NewFill, NewGroup,
    NewLayout, NewLink, NewObject,
};
use crate::format::Address;
use crate::format::message::Message;
use crate::format::message::dataspace::{Dataspace, Extent, Version as DataspaceVersion};
use crate::format::message::datatype::{
    ByteOrder, Datatype, DatatypeClass, FixedPoint, Version as DatatypeVersion,
};
use crate::format::message::fill_value::{
    AllocationTime, Fill, FillValue, Version as FillVersion, WriteTime,
};
use crate::format::message::filter_pipeline::Filter;
use crate::format::message::link::{Link, LinkTarget};
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;

/// The type of unsigned integers.
pub(crate) fn integer(size: u32) -> Datatype {
    let class = DatatypeClass::FixedPoint(FixedPoint {
        byte_order: ByteOrder::LittleEndian,
        low_padding: false,
        high_padding: false,
        signed: false,
        bit_offset: 0,
        bit_precision: u16::try_from(8 * size).unwrap(),
    });
    Datatype { version: DatatypeVersion::V3, size, class }
}

/// The messages of a dataset of integers.
pub(crate) fn integers(dims: &[u64], max_dims: &[u64], element_size: u32, layout: Message) -> Vec<Message> {
    let extent =
        Extent::Simple { dimensions: dims.to_vec(), maximum: Some(max_dims.to_vec()), permutation: None };
    vec![
        Message::Dataspace(Dataspace { version: DataspaceVersion::V2, extent }),
        Message::Datatype(integer(element_size)),
        Message::FillValue(FillValue {
            version: FillVersion::V3,
            allocation_time: AllocationTime::Incremental,
            write_time: WriteTime::IfSet,
            value: Fill::Default,
        }),
        layout,
    ]
}

/// The options of a file between two bounds.
pub(crate) fn bounds(low: LibraryVersion, high: LibraryVersion) -> FileOptions {
    FileOptions { low, high, ..FileOptions::default() }
}

/// Numbers of this size in bytes as rows.
pub(crate) fn rows(size: u32, range: std::ops::Range<u16>) -> Bytes {
    match size {
        2 => range.flat_map(u16::to_ne_bytes).collect(),
        4 => range.flat_map(|number| u32::from(number).to_ne_bytes()).collect(),
        other => panic!("numbers of {other} bytes"),
    }
}

/// An optional filter.
pub(crate) fn filter(id: u16, client_data: &[u32]) -> Filter {
    Filter { id, name: Vec::new(), optional: true, client_data: client_data.to_vec() }
}

/// One dimension.
pub(crate) fn line(len: u64, maximum: u64) -> Extent {
    Extent::Simple { dimensions: vec![len], maximum: Some(vec![maximum]), permutation: None }
}

/// A dataset of this many numbers.
pub(crate) fn numbers(len: u64, maximum: u64, layout: NewLayout, filters: Vec<Filter>) -> NewDataset {
    NewDataset {
        object: NewObject::default(),
        datatype: NewDatatype { datatype: integer(2), committed: None },
        extent: line(len, maximum),
        allocation_time: match layout {
            NewLayout::Compact => AllocationTime::Early,
            _ => AllocationTime::Late,
        },
        layout,
        filters,
        fill: NewFill::Default,
        write_time: WriteTime::IfSet,
    }
}

/// Chunks of this many elements.
pub(crate) fn chunks(size: u64) -> NewLayout {
    NewLayout::Chunked { shape: vec![size], unfiltered_edges: false }
}

/// Measures or writes a dataset, whose elements are the numbers from 0.
pub(crate) fn put_dataset(writer: &mut FileWriter, new: &NewDataset) -> Result<Address> {
    if writer.is_measuring() {
        return writer.measure_dataset(new);
    }
    let dataset = writer.begin_dataset(new)?;
    if let (true, [len]) = (new.layout.has_elements(), new.extent.dimensions()) {
        let piece = dataset.encoder().piece()[0];
        for index in 0..len.div_ceil(piece) {
            let at = |index: u64| u16::try_from((index * piece).min(*len)).unwrap();
            let part = rows(new.datatype.datatype.size, at(index)..at(index + 1));
            let scratch = &mut Scratch::new();
            let encoded = dataset.encoder().encode(&[index], &part, &Heap::default(), Vec::new(), scratch)?;
            let EncodedPiece::Bytes(bytes, mask) = encoded else { panic!("numbers without heap objects") };
            dataset.store(&[index], &bytes, mask)?;
        }
    }
    let address = dataset.address();
    dataset.finish()?;
    Ok(address)
}

/// A hard link.
pub(crate) fn link(name: &str, address: Address) -> NewLink {
    let target = LinkTarget::Hard(address);
    let name = name.as_bytes().to_vec();
    NewLink { link: Link { name, character_set: None, creation_order: None, target }, symbol_table: None }
}

/// Writes a file of these datasets, and checks it.
pub(crate) fn datasets(options: &FileOptions, datasets: &[(&str, NewDataset)]) -> TestFile {
    let file = TestFile::write_objects(options, &mut |writer| {
        let mut links = Vec::new();
        for (name, dataset) in datasets {
            links.push(link(name, put_dataset(writer, dataset)?));
        }
        writer.group(NewGroup { links, ..NewGroup::default() })
    })
    .unwrap();
    file.check();
    file
}
