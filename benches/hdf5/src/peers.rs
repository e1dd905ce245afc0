//! The other libraries that do not use C.

use crate::content::{Content, Task, dataset_name, few, group_name};
use bench_side::{Failure, Job, Side, Work, Written};
use std::path::Path;

pub(crate) fn rust_hdf5(job: &Job) -> Result<Box<dyn Work>, Failure> {
    Written::boxed(job, RustHdf5(Task::of(job)?))
}

pub(crate) fn hdf5_pure(job: &Job) -> Result<Box<dyn Work>, Failure> {
    Written::boxed(job, Hdf5Pure(Task::of(job)?))
}

struct RustHdf5(Task);

impl Side for RustHdf5 {
    fn write(&mut self, store: &Path, elements: &[u8]) -> Result<(), Failure> {
        let file = rust_hdf5::H5File::create(store)?;
        match &self.0.content {
            Content::Array { shape, chunk, is_deflated } => {
                let mut dataset = file.new_dataset::<f32>().shape(sizes(shape)?);
                if !chunk.is_empty() {
                    dataset = dataset.chunk(&sizes(chunk)?);
                }
                if *is_deflated {
                    dataset = dataset.shuffle_deflate(4);
                }
                dataset.create("data")?.write_raw(bytemuck::cast_slice::<u8, f32>(elements))?;
            }
            Content::Many { groups, members } => {
                for group in 0..*groups {
                    let group = file.create_group(&group_name(group))?;
                    for member in 0..*members {
                        let dataset = group.new_dataset::<f32>().shape([few().len()]);
                        dataset.create(&dataset_name(member))?.write_raw(&few())?;
                    }
                }
            }
        }
        Ok(file.close()?)
    }

    fn hash(&self, store: &Path) -> Result<String, Failure> {
        self.0.hash(store)
    }
}

struct Hdf5Pure(Task);

impl Side for Hdf5Pure {
    fn write(&mut self, store: &Path, elements: &[u8]) -> Result<(), Failure> {
        let mut file = hdf5_pure::FileBuilder::new();
        match &self.0.content {
            Content::Array { shape, chunk, is_deflated } => {
                let elements = bytemuck::cast_slice::<u8, f32>(elements);
                let dataset = file.create_dataset("data").with_f32_data(elements).with_shape(shape);
                if !chunk.is_empty() {
                    dataset.with_chunks(chunk);
                }
                if *is_deflated {
                    dataset.with_shuffle().with_deflate(4);
                }
            }
            Content::Many { groups, members } => {
                for group in 0..*groups {
                    let mut group = file.create_group(&group_name(group));
                    for member in 0..*members {
                        group.create_dataset(&dataset_name(member)).with_f32_data(&few());
                    }
                    file.add_group(group.finish());
                }
            }
        }
        Ok(file.write(store)?)
    }

    fn hash(&self, store: &Path) -> Result<String, Failure> {
        self.0.hash(store)
    }
}

fn sizes(dims: &[u64]) -> Result<Vec<usize>, Failure> {
    Ok(dims.iter().map(|size| usize::try_from(*size)).collect::<Result<_, _>>()?)
}
