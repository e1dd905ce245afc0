//! rust-hdf5.

use super::{Array, Strings, Walk, cannot};
use bench_side::{Failure, Job, Work};
use bytemuck::Pod;
use rust_hdf5::types::H5Type;
use rust_hdf5::{H5Dataset, H5File};
use std::rc::Rc;

pub(super) fn work(job: &Job) -> Result<Box<dyn Work>, Failure> {
    match (job.name.as_str(), job.element.as_str()) {
        ("array", "f4") => array::<f32>(job),
        ("array", "f8") => array::<f64>(job),
        ("strings", _) => {
            let data = open(job)?;
            Ok(Strings::boxed(move || Ok(data.read_vlen_strings()?)))
        }
        ("walk", _) => {
            let path = job.file.clone();
            Ok(Walk::boxed(move |visit| {
                let file = H5File::open(&path)?;
                let mut groups = vec![(String::new(), file.root_group())];
                while let Some((at, group)) = groups.pop() {
                    for name in group.group_names()? {
                        let member = format!("{at}/{name}");
                        visit(&member, None);
                        groups.push((member, group.group(&name)?));
                    }
                    for name in group.dataset_names()? {
                        let member = format!("{at}/{name}");
                        let dataset = file.dataset(member.trim_start_matches('/'))?;
                        let extents: Vec<u64> = dataset.shape().iter().map(|n| *n as u64).collect();
                        visit(&member, Some((&extents, dataset.element_size())));
                    }
                }
                Ok(())
            }))
        }
        _ => Err(cannot(job)),
    }
}

fn open(job: &Job) -> Result<H5Dataset, Failure> {
    Ok(H5File::open(&job.file)?.dataset(&job.path)?)
}

fn array<T: Pod + H5Type>(job: &Job) -> Result<Box<dyn Work>, Failure> {
    let data = Rc::new(open(job)?);
    let shape = data.shape();
    let steps: Vec<usize> =
        job.steps(shape.len()).into_iter().map(usize::try_from).collect::<Result<_, _>>()?;
    let counts: Vec<usize> = shape.iter().zip(&steps).map(|(n, step)| n.div_ceil(*step)).collect();
    let count = counts.iter().product();
    if job.is_whole() {
        let same = Rc::clone(&data);
        let into = Box::new(move |out: &mut [T]| Ok(same.read_raw_into(out)?));
        return Array::boxed(job, count, Some(into), Box::new(move || Ok(data.read_raw()?)));
    }
    let ones = vec![1; shape.len()];
    let zeros = vec![0; shape.len()];
    Array::boxed(
        job,
        count,
        None,
        Box::new(move || Ok(data.read_hyperslab::<T>(&zeros, &steps, &counts, &ones)?)),
    )
}
