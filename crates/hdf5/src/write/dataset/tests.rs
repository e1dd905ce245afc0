//! Datasets of whole files, read back.

use super::*;
use crate::filter::{self as filters, Chunks, Kept, ZfpMode};
use crate::format::encoding::DataspaceSelection;
use crate::format::encoding::selection::hyperslab::{Blocks, Dimension};
use crate::format::message::data_layout::ChunkIndex;
use crate::format::message::dataspace::Version as DataspaceVersion;
use crate::format::message::datatype::DatatypeClass;
use crate::format::message::fill_value::Version as FillVersion;
use crate::format::message::filter_pipeline::Version as PipelineVersion;
use crate::write::LibraryVersion::{Earliest, V1_8, V1_10, V1_14, V2_0};
use crate::write::NewGroup;
use crate::write::test_datasets::{bounds, chunks, datasets, filter, integer, link, numbers, rows};
use crate::write::test_file::TestFile;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Region, Selection};
use hyperslab_core::rows::Heap;

#[test]
fn messages_of_datasets_have_the_versions_of_the_lower_bound() {
    for (low, dataspace, fill_value, pipeline, layouts) in [
        (Earliest, DataspaceVersion::V1, FillVersion::V2, PipelineVersion::V1, [LayoutVersion::V3; 3]),
        (V1_8, DataspaceVersion::V2, FillVersion::V3, PipelineVersion::V2, [LayoutVersion::V3; 3]),
        (V1_10, DataspaceVersion::V2, FillVersion::V3, PipelineVersion::V2, [LayoutVersion::V4; 3]),
        (V1_14, DataspaceVersion::V2, FillVersion::V3, PipelineVersion::V2, [LayoutVersion::V4; 3]),
        (
            V2_0,
            DataspaceVersion::V2,
            FillVersion::V3,
            PipelineVersion::V2,
            [LayoutVersion::V4, LayoutVersion::V4, LayoutVersion::V5],
        ),
    ] {
        let filters = || vec![filter(2, &[2]), filter(1, &[6]), filter(32_015, &[3])];
        let nothing = NewDataset { extent: Extent::Null, ..numbers(1, 1, NewLayout::Contiguous, vec![]) };
        let value = NewFill::Value(Rows { rows: rows(2, 7..8), heap: Heap::default() });
        let scalar = NewDataset { extent: Extent::Scalar, fill: value, ..nothing.clone() };
        let undefined = NewFill::Undefined;
        let file = datasets(
            &bounds(low, V2_0),
            &[
                ("compact", numbers(9, 9, NewLayout::Compact, vec![])),
                (
                    "contiguous",
                    NewDataset { fill: undefined, ..numbers(9, 9, NewLayout::Contiguous, vec![]) },
                ),
                ("chunked", numbers(90, u64::MAX, chunks(8), filters())),
                ("nothing", nothing),
                ("scalar", scalar),
            ],
        );
        for (name, version) in ["compact", "contiguous", "chunked"].into_iter().zip(layouts) {
            let object = file.object(name);
            assert_eq!(file.message::<DataLayout>(&object).unwrap().version, version, "{name} {low}");
            assert_eq!(file.message::<Dataspace>(&object).unwrap().version, dataspace, "{name} {low}");
            assert_eq!(file.message::<FillValue>(&object).unwrap().version, fill_value, "{name} {low}");
        }
        assert_eq!(file.elements("chunked"), rows(2, 0..90));
        let chunked = file.object("chunked");
        let found = file.message::<FilterPipeline>(&chunked).unwrap();
        assert_eq!((found.version, found.filters.len()), (pipeline, 3));
        // A null dataspace needs version 2.
        let space = file.message::<Dataspace>(&file.object("nothing")).unwrap();
        assert_eq!((space.version, space.extent), (DataspaceVersion::V2, Extent::Null));
        // The oldest libraries know only the old message.
        let scalar = file.object("scalar");
        assert_eq!(file.message::<Dataspace>(&scalar).unwrap().extent, Extent::Scalar);
        let old = file.message::<FillValueOld>(&scalar).map(|fill| fill.value);
        assert_eq!(old, (low == Earliest).then(|| vec![7, 0]));
        assert_eq!(file.elements("scalar"), rows(2, 7..8));
    }
}

#[test]
fn elements_are_read_back_from_every_chunk_index_and_layout() {
    let deflate = || vec![filter(1, &[9])];
    let early = |of: NewDataset| NewDataset { allocation_time: AllocationTime::Early, ..of };
    let edges = NewLayout::Chunked { shape: vec![8], unfiltered_edges: true };
    let two = Extent::Simple { dimensions: vec![3, 1], maximum: Some(vec![u64::MAX; 2]), permutation: None };
    let tree = NewDataset {
        extent: two,
        allocation_time: AllocationTime::Incremental,
        ..numbers(3, 3, NewLayout::Chunked { shape: vec![2, 1], unfiltered_edges: false }, vec![])
    };
    let segments = vec![ExternalSegment { file: b"raw.bin".to_vec(), offset: 3, len: 80 }];
    let mapping = |row: u64| VirtualMapping {
        file: b".".to_vec(),
        dataset: b"compact".to_vec(),
        source_selection: DataspaceSelection::All,
        virtual_selection: DataspaceSelection::of(&Selection::Region(Region::new(vec![row * 40], vec![40])))
            .unwrap(),
    };
    for low in [V1_8, V1_10, V2_0] {
        let whole = |layout, filters| numbers(40, 40, layout, filters);
        let file = datasets(
            &bounds(low, V2_0),
            &[
                ("compact", whole(NewLayout::Compact, vec![])),
                ("contiguous", whole(NewLayout::Contiguous, vec![])),
                ("single", whole(chunks(40), vec![])),
                ("single filtered", whole(chunks(40), deflate())),
                ("implicit", early(numbers(40, 44, chunks(8), vec![]))),
                ("fixed", whole(chunks(8), vec![])),
                ("fixed filtered", whole(chunks(8), deflate())),
                ("extensible", numbers(40, u64::MAX, chunks(3), deflate())),
                ("edges", numbers(40, 43, edges.clone(), deflate())),
                ("tree", tree.clone()),
                ("external", whole(NewLayout::External(segments.clone()), vec![])),
                ("virtual", numbers(80, 80, NewLayout::Virtual(vec![mapping(0), mapping(1)]), vec![])),
            ],
        );
        for name in
            ["compact", "contiguous", "single", "single filtered", "implicit", "fixed", "fixed filtered"]
                .into_iter()
                .chain(["extensible", "edges"])
        {
            assert_eq!(file.elements(name), rows(2, 0..40), "{name} {low}");
        }
        assert_eq!(file.elements("virtual"), [rows(2, 0..40), rows(2, 0..40)].concat());
        assert!(file.object("external").dataset(file.file()).unwrap().has_external_files());
        let index = |name: &str| {
            let layout = file.message::<DataLayout>(&file.object(name)).unwrap();
            let LayoutClass::Chunked(chunked) = layout.class else { panic!("{layout:?}") };
            (layout.version, chunked.index)
        };
        let (version, own) = index("edges");
        assert!(version >= LayoutVersion::V4 && matches!(own, ChunkIndex::FixedArray { .. }));
        let is = |name: &str, of: fn(&ChunkIndex) -> bool| {
            let found = index(name).1;
            assert!(if low < V1_10 { found == ChunkIndex::BtreeV1 } else { of(&found) }, "{name}: {found:?}");
        };
        is("single filtered", |of| matches!(of, ChunkIndex::SingleChunk { filtered: Some(_) }));
        is("single", |of| matches!(of, ChunkIndex::SingleChunk { filtered: None }));
        is("implicit", |of| matches!(of, ChunkIndex::Implicit));
        is("fixed", |of| matches!(of, ChunkIndex::FixedArray { .. }));
        is("extensible", |of| matches!(of, ChunkIndex::ExtensibleArray(_)));
        is("tree", |of| matches!(of, ChunkIndex::BtreeV2 { .. }));
    }
}

#[test]
fn virtual_datasets_grow_with_their_sources() {
    let hyperslab = |count, block| {
        let along = Dimension { start: 0, stride: 10, count, block };
        DataspaceSelection::of_blocks(Blocks::Regular(vec![along]))
    };
    let mapping = |dataset: &str, source_selection, virtual_selection| {
        let (file, dataset) = (b".".to_vec(), dataset.as_bytes().to_vec());
        vec![VirtualMapping { file, dataset, source_selection, virtual_selection }]
    };
    let numbered = mapping("part %b", DataspaceSelection::All, hyperslab(u64::MAX, 10));
    let growing = mapping("part 0", hyperslab(1, u64::MAX), hyperslab(1, u64::MAX));
    for low in [V1_10, V2_0] {
        let part = numbers(10, u64::MAX, chunks(4), vec![]);
        let file = datasets(
            &bounds(low, V2_0),
            &[
                ("part 0", part.clone()),
                ("part 1", part.clone()),
                ("numbered", numbers(20, u64::MAX, NewLayout::Virtual(numbered.clone()), vec![])),
                ("growing", numbers(10, u64::MAX, NewLayout::Virtual(growing.clone()), vec![])),
            ],
        );
        assert_eq!(file.elements("numbered"), [rows(2, 0..10), rows(2, 0..10)].concat());
        assert_eq!(file.elements("growing"), rows(2, 0..10));
    }
}

/// Every filter that has a codec.
#[test]
fn chunks_pass_every_filter_that_has_a_codec() {
    let shape: &[u64] = &[64];
    let datatype = integer(4);
    let of = Chunks { datatype: &datatype, shape };
    let mut reduced = integer(4);
    if let DatatypeClass::FixedPoint(class) = &mut reduced.class {
        class.bit_precision = 17;
    }
    let nbit = Chunks { datatype: &reduced, shape }.nbit().unwrap();
    for (id, client_data) in [
        (filters::DEFLATE, vec![6]),
        (filters::SHUFFLE, vec![4]),
        (filters::FLETCHER32, vec![]),
        (filters::SZIP, of.szip(8, true).unwrap()),
        (filters::NBIT, nbit),
        (filters::SCALEOFFSET, of.scale_offset(Kept::Bits(0), Some(0)).unwrap()),
        (filters::BZIP2, vec![9]),
        (filters::LZF, vec![4, 261, 256]),
        (filters::BLOSC, vec![2, 2, 4, 256, 5, 1, 1]),
        (filters::SNAPPY, vec![]),
        (filters::LZ4, vec![0]),
        (filters::BITSHUFFLE, vec![0, 4, 4, 0, 2]),
        (filters::ZFP, of.zfp(ZfpMode::Reversible).unwrap()),
        (filters::ZSTD, vec![3]),
        (filters::BLOSC2, vec![1, 0, 4, 256, 5, 1, 5, 1, 64]),
    ] {
        let datatype = if id == filters::NBIT { reduced.clone() } else { datatype.clone() };
        for low in [V1_8, V1_10] {
            let mandatory = Filter { optional: false, ..filter(id, &client_data) };
            let plain = numbers(200, 200, chunks(64), vec![mandatory]);
            let datatype = NewDatatype { datatype: datatype.clone(), committed: None };
            let file = datasets(&bounds(low, V2_0), &[("a", NewDataset { datatype, ..plain })]);
            let expected: Vec<u8> = (0..200_u32).flat_map(u32::to_ne_bytes).collect();
            assert_eq!(file.elements("a"), expected, "{id} {low}");
            let found = file.object("a").dataset(file.file()).unwrap();
            let found: Vec<_> = found.filters().iter().map(|of| (of.id, of.client_data.clone())).collect();
            assert_eq!(found, [(id, client_data.clone())]);
        }
    }
}

#[test]
fn chunks_of_filters_without_a_codec_are_stored_as_they_come() {
    // The second filter rounds elements before they get here: they are stored unchanged.
    for (id, wanted) in
        [(32_017, Err("filter 32017 (SZ)".to_owned())), (filters::BITGROOM, Ok(rows(2, 0..8).to_vec()))]
    {
        let dataset = numbers(8, 8, chunks(8), vec![filter(id, &[1])]);
        let mut found = Ok(Vec::new());
        let file = TestFile::write_objects(&bounds(V1_8, V2_0), &mut |writer| {
            let address = match writer.is_measuring() {
                true => writer.measure_dataset(&dataset)?,
                false => {
                    let dataset = writer.begin_dataset(&dataset)?;
                    let scratch = &mut Scratch::new();
                    let encoded =
                        dataset.encoder().encode(&[0], &rows(2, 0..8), &Heap::default(), Vec::new(), scratch);
                    found = match encoded {
                        Ok(crate::write::EncodedPiece::Bytes(bytes, 0)) => Ok(bytes.to_vec()),
                        Ok(other) => panic!("{other:?}"),
                        Err(e) => Err(e.detail().to_owned()),
                    };
                    dataset.store(&[0], b"sixteen bytes, m", 0)?;
                    let address = dataset.address();
                    dataset.finish()?;
                    address
                }
            };
            writer.group(NewGroup { links: vec![link("a", address)], ..NewGroup::default() })
        })
        .unwrap();
        assert_eq!(found, wanted);
        let array = file.object("a").dataset(file.file()).unwrap().array(file.file()).unwrap();
        let mut stored = Vec::new();
        let (len, mask) = array.stored_chunk(file.file(), &[0], &mut stored).unwrap().unwrap();
        assert_eq!((&stored[..len], mask), (&b"sixteen bytes, m"[..], 0));
    }
}
