//! Lists the nodes of stores: `cargo run -p hyperslab-zarr --example list -- STORE...`

use hyperslab_core::storage::FileStorage;
use hyperslab_core::store::{DirectoryStore, Key, Store, ZipStore};
use hyperslab_core::{Limits, Result};
use hyperslab_zarr::hierarchy::{Hierarchy, Metadata, Node};
use hyperslab_zarr::metadata::v3;
use std::path::Path;
use std::sync::Arc;

fn main() {
    for path in std::env::args().skip(1) {
        println!("{path}");
        match open(Path::new(&path)) {
            Ok(hierarchy) => hierarchy.walk(&Key::root()).for_each(|(path, node)| match node {
                Ok(node) => println!("  /{path}\t{}", tell(&node)),
                Err(e) => println!("  /{path}\terror\t{e}"),
            }),
            Err(e) => println!("  error\t{e}"),
        }
    }
}

fn open(path: &Path) -> Result<Hierarchy> {
    let limits = Limits::default();
    let store: Arc<dyn Store> = match path.is_dir() {
        true => Arc::new(DirectoryStore::open(path)?),
        false => Arc::new(ZipStore::open(Box::new(FileStorage::open(path)?), &limits)?),
    };
    Hierarchy::open(store, limits)
}

fn tell(node: &Node) -> String {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) => {
            format!("array\t{:?}\t{}", array.shape, array.data_type.json().emit().replace('\n', ""))
        }
        Metadata::V2Array { array, .. } => {
            format!("array\t{:?}\t{}", array.shape, array.dtype.json().emit().replace('\n', ""))
        }
        _ => "group".to_owned(),
    }
}
