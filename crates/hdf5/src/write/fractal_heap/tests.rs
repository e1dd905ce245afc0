//! Heaps that are read back.

use super::*;
use crate::format::message::filter_pipeline::{Filter, Version};
use crate::navigate::fractal_heap::FractalHeap;
use crate::write::image::Image;

/// An object of this length whose bytes depend on its number.
fn object(number: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| u8::try_from((number * 31 + at * 7) % 251).unwrap()).collect()
}

fn deflate() -> FilterPipeline {
    let filter = Filter { id: 1, name: Vec::new(), optional: false, client_data: vec![6] };
    FilterPipeline { version: Version::V2, filters: vec![filter] }
}

/// Writes a heap of objects of these lengths, reads them, and returns the header.
fn round_trip<const N: usize>(
    sizes: Sizes,
    parameters: FractalHeapParameters,
    filters: Option<&FilterPipeline>,
    lengths: &[usize],
) -> FractalHeapHeader {
    let objects: Vec<_> = lengths.iter().enumerate().map(|(number, len)| object(number, *len)).collect();
    let (image, (address, ids)) = Image::write(sizes, &mut |sink| {
        let mut heap = FractalHeapBuilder::<N>::new(sizes, parameters, filters)?;
        objects.iter().try_for_each(|object| heap.insert(object).map(drop))?;
        heap.write(sink)
    })
    .unwrap();
    let reader = image.reader();
    let heap = FractalHeap::open(&reader, address).unwrap();
    for (id, object) in ids.iter().zip(&objects) {
        assert_eq!(heap.object(&reader, id).unwrap(), object[..]);
    }
    assert_eq!(ids.len(), objects.len());
    heap.header().clone()
}

fn links(lengths: &[usize]) -> FractalHeapHeader {
    round_trip::<7>(Sizes::DEFAULT, FractalHeapParameters::LINKS, None, lengths)
}

#[test]
fn an_empty_heap_has_no_block() {
    let header = links(&[]);
    assert!(header.table.root_block.is_undefined() && header.free_space_manager.is_undefined());
}

#[test]
fn the_first_block_is_the_root_until_there_are_two() {
    let room = 512 - 21;
    assert_eq!(links(&[room]).table.current_root_rows, 0);
    assert!(links(&[room]).free_space_manager.is_undefined());
    assert_eq!(links(&[room - 10, 10]).table.current_root_rows, 0);
    let two = links(&[room - 10, 11]);
    assert_eq!((two.table.current_root_rows, two.managed_space), (1, 2048));
    assert_eq!(two.direct_block_iterator, 1024);
    assert_eq!(two.managed_free_space, 4 * (512 - 21) - (room as u64 + 1));
}

#[test]
fn blocks_that_are_too_small_are_skipped() {
    let header = links(&[4096]);
    // Rows of 512, 512, 1024, 2048, 4096 and 8192 bytes.
    assert_eq!((header.table.current_root_rows, header.direct_block_iterator), (6, 32768 + 8192));
    assert_eq!(header.allocated_managed_space, 8192);
    links(&[30, 600, 30, 1000, 4000, 500, 4096, 20, 20]);
}

#[test]
fn objects_fill_rests_before_new_blocks() {
    let header = links(&[400, 400, 80, 80]);
    assert_eq!(header.allocated_managed_space, 1024);
}

#[test]
fn objects_of_each_kind_are_read_back() {
    let header = links(&[1, 6, 7, 4096, 4097, 100_000]);
    assert_eq!((header.tiny_object_count, header.tiny_object_size), (2, 7));
    assert_eq!((header.huge_object_count, header.huge_object_size), (2, 104_097));
    assert_eq!((header.managed_object_count, header.next_huge_object_id), (2, 2));
}

#[test]
fn heaps_of_many_objects_have_nested_indirect_blocks() {
    let lengths: Vec<usize> = (0..100_000).map(|number| 20 + number % 50).collect();
    assert!(links(&lengths).table.current_root_rows > 9);
    let lengths: Vec<usize> = (0..3000).map(|number| 10 + number * 7919 % 4100).collect();
    let sizes = Sizes::DEFAULT;
    round_trip::<8>(sizes, FractalHeapParameters::ATTRIBUTES, None, &lengths);
    round_trip::<8>(sizes, FractalHeapParameters::SHARED_MESSAGES, None, &lengths);
    links(&lengths);
}

#[test]
fn filtered_blocks_and_huge_objects_are_read_back() {
    let deflate = deflate();
    let sizes = Sizes::DEFAULT;
    for lengths in [&[100, 3][..], &[400, 300, 5000, 4000, 9999], &[300; 1000]] {
        let header = round_trip::<7>(sizes, FractalHeapParameters::LINKS, Some(&deflate), lengths);
        assert!(header.filters.is_some());
    }
}

#[test]
fn huge_objects_are_addressed_directly_where_the_id_has_room() {
    let huge = [5000, 10, 6000, 7000];
    for (offsets, lengths) in [(2, 2), (4, 2), (2, 4), (4, 4), (8, 8)] {
        let sizes = Sizes { offsets, lengths };
        for filters in [None, Some(&deflate())] {
            let header = round_trip::<8>(sizes, FractalHeapParameters::ATTRIBUTES, filters, &huge);
            let fits =
                usize::from(offsets + lengths) + if filters.is_some() { 4 + usize::from(lengths) } else { 0 };
            assert_eq!(header.next_huge_object_id, if fits < 8 { 0 } else { 3 });
        }
    }
}

#[test]
fn empty_objects_and_filters_without_encoder_are_refused() {
    let mut heap = FractalHeapBuilder::<7>::new(Sizes::DEFAULT, FractalHeapParameters::LINKS, None).unwrap();
    assert!(heap.insert(&[]).is_err());
    let mut unknown = deflate();
    unknown.filters[0].id = 9999;
    let error = Image::write(Sizes::DEFAULT, &mut |sink| {
        let links = FractalHeapParameters::LINKS;
        let mut heap = FractalHeapBuilder::<7>::new(Sizes::DEFAULT, links, Some(&unknown))?;
        heap.insert(&[1; 10])?;
        heap.write(sink)
    });
    assert!(error.unwrap_err().detail().contains("9999"));
}
