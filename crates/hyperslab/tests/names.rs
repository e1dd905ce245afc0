//! This crate exports all types in public signatures, so programs need no other crate.

fn named<T: ?Sized>() {}

#[test]
fn types_in_public_signatures_are_exported() {
    use hyperslab::*;
    // Storage and stores.
    named::<dyn storage::Siblings>();
    named::<Box<dyn ReadAt>>();
    named::<dyn store::Store>();
    named::<dyn store::Value>();
    named::<(store::Key, store::Entry, store::EntryKind)>();
    named::<(ChunkPlace<'_>, Container<'_>, ChunkPlacement, ChunkLevel)>();
    // Reading.
    named::<(nd::Overlap<'_, '_>, nd::Elements<'_>, nd::ChunkGrid, nd::Axis, Planes<'_>, Region, Selection)>(
    );
    named::<(Heap<model::Reference>, Charge, Slot, Scratch, codec::Buffers, CancelToken)>();
    named::<(model::Values, model::Datatype, model::Node, model::Shape, model::Attributes, model::Storage)>();
    named::<(StoredForm, StoredFilter, StoredChunk, ElementLayout, ElementPart, Codec, codec::Deflate)>();
    named::<(CachedChunks, ChunkCache, Pool, Watch, Limits, Limit)>();
    named::<dyn cells::CellSource>();
    named::<(cells::CellQuery, cells::CellOrder, cells::CellRange)>();
    named::<(model::Element<'_>, model::Elements<'_>, Strings, Utf8)>();
    // Writing.
    named::<(convert::layout::Layout, convert::layout::Rule, convert::layout::Cut)>();
    named::<(target::TargetOptions, target::OptionValue, target::OptionType, target::Facts, target::Growing)>(
    );
    named::<(publish::Fingerprint, publish::PublishOptions, convert::Plan, convert::Summary)>();
    named::<(stat::ArrayStat, stat::Advice, stat::Better, ndl::StorageDetail)>();
    named::<(Error, ErrorKind, Remedy, Place, Within, Severity, check::Finding)>();
}
