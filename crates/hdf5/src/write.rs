//! Writes files.
//!
//! A file is written in two passes over the same objects, in the same order, members before their groups. The first
//! pass measures: everything is assigned its address, and no byte is written. The second pass writes the same
//! structures with these addresses, so that headers, links and indexes precede all elements, in one region. Both passes
//! run the same code with different [`Sink`]s.

mod attribute;
mod attributes;
mod bounds;
mod btree_v2;
mod check;
mod chunk_index;
mod dataset;
mod datatype;
mod dense_storage;
mod elements;
mod external_files;
mod file;
mod fractal_heap;
mod global_heap;
mod group;
#[cfg(test)]
mod image;
mod links;
mod object;
mod object_header;
mod output;
mod shared_messages;
mod sink;
mod symbol_table;
#[cfg(test)]
pub(crate) mod test_datasets;
#[cfg(test)]
pub(crate) mod test_file;
mod virtual_dataset;

pub use attribute::{NewAttribute, NewDatatype};
pub use bounds::LibraryVersion;
pub use chunk_index::{ChunkIndexBuilder, ChunkedStorage, IndexChoice};
pub use dataset::{DatasetWriter, NewDataset, NewFill, NewLayout};
pub use dense_storage::CreationOrder;
pub use elements::{ElementEncoder, EncodedPiece, RelocatablePiece};
pub use external_files::{ExternalSegment, external_files};
pub use file::{FileOptions, FileSpace, FileWriter, MeasuredFile, Ranks};
pub use global_heap::{GlobalHeapWriter, HeapObjects, RelocatableHeap};
pub use group::{GroupAddress, NewGroup, NewLink};
pub use links::LinkOptions;
pub use object::NewObject;
pub use object_header::HeaderOptions;
pub use shared_messages::{SharedIndexOptions, SharedMessageOptions};
pub use sink::Sink;
pub(crate) use sink::put;
pub use virtual_dataset::{VirtualMapping, virtual_layout};
