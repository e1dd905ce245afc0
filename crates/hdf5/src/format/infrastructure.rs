//! Level 1: file infrastructure. Spec: HDF5 III

pub mod btree_v1;
pub mod btree_v2;
pub mod fractal_heap;
pub mod free_space_manager;
pub mod global_heap;
pub mod local_heap;
pub mod metadata_cache_image;
pub mod shared_message_table;
pub mod symbol_table_entry;
pub mod symbol_table_node;
pub mod virtual_dataset_block;

pub use btree_v1::BtreeV1Node;
pub use btree_v2::{BtreeV2Header, BtreeV2InternalNode, BtreeV2LeafNode};
pub use fractal_heap::FractalHeapHeader;
pub use free_space_manager::{FreeSpaceManagerHeader, FreeSpaceSectionList};
pub use global_heap::{GlobalHeapCollection, GlobalHeapId};
pub use local_heap::LocalHeapHeader;
pub use metadata_cache_image::MetadataCacheImageBlock;
pub use shared_message_table::{SharedMessageList, SharedMessageTable};
pub use symbol_table_entry::SymbolTableEntry;
pub use symbol_table_node::SymbolTableNode;
pub use virtual_dataset_block::VirtualDatasetBlock;
