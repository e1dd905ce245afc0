//! hdf5-reader: one thread for memory of the caller, a pool of threads for new memory.

use super::{Array, Strings, Visit, Walk, cannot};
use bench_side::{Failure, Job, Work};
use bytemuck::Pod;
use hdf5_reader::datatype_api::H5Type;
use hdf5_reader::group::Group;
use hdf5_reader::{Dataset, Hdf5File, OpenOptions, SliceInfo, SliceInfoElem};
use rayon::ThreadPoolBuilder;

pub(super) fn work(job: &Job) -> Result<Box<dyn Work>, Failure> {
    match (job.name.as_str(), job.element.as_str()) {
        ("array", "f4") => array::<f32>(job),
        ("array", "f8") => array::<f64>(job),
        ("strings", _) => {
            let data = open(job)?;
            Ok(Strings::boxed(move || Ok(data.read_strings()?)))
        }
        ("walk", _) => {
            let file = job.file.clone();
            Ok(Walk::boxed(move |visit| members("", &Hdf5File::open(&file)?.root_group()?, visit)))
        }
        _ => Err(cannot(job)),
    }
}

/// Opens a dataset without chunk cache, so that every run decodes all chunks.
fn open(job: &Job) -> Result<Dataset, Failure> {
    let options = OpenOptions::default().with_chunk_cache_bytes(0);
    Ok(Hdf5File::open_with_options(&job.file, options)?.dataset(&job.path)?)
}

fn array<T: Pod + H5Type>(job: &Job) -> Result<Box<dyn Work>, Failure> {
    let data: &'static Dataset = Box::leak(Box::new(open(job)?));
    let pool = ThreadPoolBuilder::new().num_threads(job.threads).build()?;
    let steps = job.steps(data.ndim());
    let count =
        usize::try_from(data.shape().iter().zip(&steps).map(|(n, step)| n.div_ceil(*step)).product::<u64>())?;
    if job.is_whole() {
        return Array::<T>::boxed(
            job,
            count,
            Some(Box::new(|out| Ok(data.read_into(out)?))),
            Box::new(move || Ok(data.read_array_in_pool::<T>(&pool)?.into_raw_vec_and_offset().0)),
        );
    }
    let selections = data.shape().iter().zip(steps);
    let selection = SliceInfo {
        selections: selections.map(|(n, step)| SliceInfoElem::Slice { start: 0, end: *n, step }).collect(),
    };
    let read =
        move || Ok(pool.install(|| data.read_slice_parallel::<T>(&selection))?.into_raw_vec_and_offset().0);
    Array::<T>::boxed(job, count, None, Box::new(read))
}

fn members(path: &str, group: &Group, visit: Visit<'_>) -> Result<(), Failure> {
    let (groups, datasets) = group.members()?;
    for dataset in datasets {
        let name = format!("{path}/{}", dataset.name());
        visit(&name, Some((dataset.shape(), dataset.raw_element_size()?)));
    }
    for group in groups {
        let name = format!("{path}/{}", group.name());
        visit(&name, None);
        members(&name, &group, visit)?;
    }
    Ok(())
}
