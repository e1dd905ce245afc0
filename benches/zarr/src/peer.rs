//! The crate zarrs, with its calls for whole arrays.

use crate::ours;
use bench_side::{Failure, Job, Side, Work, Written, total};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zarrs::array::{Array, ArrayMetadata};
use zarrs::config::global_config_mut;
use zarrs::filesystem::FilesystemStore;
use zarrs::node::{Node, NodeMetadata};

/// Called for each node with its path and, for arrays, shape and element size in bytes.
type Visit<'a> = &'a mut dyn FnMut(&str, Option<(&[u64], usize)>);

/// The work for a job.
pub(crate) fn work(job: &Job) -> Result<Box<dyn Work>, Failure> {
    rayon::ThreadPoolBuilder::new().num_threads(job.threads).build_global()?;
    global_config_mut().set_codec_concurrent_target(job.threads);
    match job.name.as_str() {
        "array" => Ok(Box::new(Read { array: open(&job.file)?, elements: Vec::new(), len: 0 })),
        "write" => Written::boxed(job, Zarrs { template: job.file.clone(), array: None }),
        "walk" => Ok(Box::new(Walk { store: job.file.clone(), count: 0 })),
        other => Err(format!("no job {other}").into()),
    }
}

fn open(store: &Path) -> Result<Array<FilesystemStore>, Failure> {
    Ok(Array::open(Arc::new(FilesystemStore::new(store)?), "/data")?)
}

/// The hash of the elements that zarrs reads.
pub(crate) fn hash(store: &Path) -> Result<String, Failure> {
    let array = open(store)?;
    let elements: Vec<f32> = array.retrieve_array_subset(&array.subset_all())?;
    Ok(total::of_bytes(bytemuck::cast_slice(&elements)))
}

struct Read {
    array: Array<FilesystemStore>,
    elements: Vec<f32>,
    len: usize,
}

impl Work for Read {
    fn run(&mut self) -> Result<(), Failure> {
        self.elements = self.array.retrieve_array_subset(&self.array.subset_all())?;
        self.len = size_of_val(self.elements.as_slice());
        Ok(())
    }

    fn output_len(&self) -> usize {
        self.len
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        Ok(Some(total::of_bytes(bytemuck::cast_slice(&self.elements))))
    }

    fn release(&mut self) {
        self.elements = Vec::new();
    }
}

/// Writes a store with the metadata documents of a template.
struct Zarrs {
    template: PathBuf,
    array: Option<Array<FilesystemStore>>,
}

impl Side for Zarrs {
    fn begin(&mut self, store: &Path) -> Result<(), Failure> {
        fs::create_dir_all(store.join("data"))?;
        for document in ["zarr.json", "data/zarr.json"] {
            fs::copy(self.template.join(document), store.join(document))?;
        }
        self.array = Some(open(store)?);
        Ok(())
    }

    fn write(&mut self, _: &Path, elements: &[u8]) -> Result<(), Failure> {
        let array = self.array.as_ref().ok_or("nothing is open")?;
        let elements: &[f32] = bytemuck::cast_slice(elements);
        Ok(array.store_array_subset(&array.subset_all(), elements)?)
    }

    fn hash(&self, store: &Path) -> Result<String, Failure> {
        ours::hash(store)
    }
}

/// Lists all nodes of a store with shape and type.
struct Walk {
    store: PathBuf,
    count: usize,
}

impl Walk {
    fn walk(&self, visit: Visit<'_>) -> Result<(), Failure> {
        let store = Arc::new(FilesystemStore::new(&self.store)?);
        let root = Node::open(&store, "/")?;
        let mut left: Vec<&Node> = root.children().iter().collect();
        while let Some(node) = left.pop() {
            match node.metadata() {
                NodeMetadata::Array(metadata) => visit_array(&store, node.path().as_str(), metadata, visit)?,
                NodeMetadata::Group(_) => visit(node.path().as_str(), None),
            }
            left.extend(node.children());
        }
        Ok(())
    }
}

fn visit_array(
    store: &Arc<FilesystemStore>,
    path: &str,
    metadata: &ArrayMetadata,
    visit: Visit<'_>,
) -> Result<(), Failure> {
    let array = Array::new_with_metadata(Arc::clone(store), path, metadata.clone())?;
    visit(path, Some((array.shape(), array.data_type().fixed_size().unwrap_or(0))));
    Ok(())
}

impl Work for Walk {
    fn run(&mut self) -> Result<(), Failure> {
        let mut count = 0;
        self.walk(&mut |path, array| {
            count += 1;
            std::hint::black_box((path, array));
        })?;
        self.count = count;
        Ok(())
    }

    fn output_len(&self) -> usize {
        0
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        let mut objects = total::Objects::default();
        self.walk(&mut |path, array| match array {
            Some((shape, element)) => objects.dataset(path, shape, element),
            None => objects.group(path),
        })?;
        Ok(Some(objects.total()))
    }
}
