//! hdf5-pure, opened for streaming. Otherwise opening, which is not timed, reads the whole file.

use super::{Array, Strings, Visit, Walk, cannot};
use bench_side::{Failure, Job, Work, total};
use hdf5_pure::{Dataset, File, Group};

pub(super) fn work(job: &Job) -> Result<Box<dyn Work>, Failure> {
    match (job.name.as_str(), job.element.as_str()) {
        ("array", element) if job.is_whole() => {
            let data = open(job)?;
            let count = usize::try_from(data.shape()?.iter().product::<u64>())?;
            match element {
                "f4" => Array::<f32>::boxed(job, count, None, Box::new(move || Ok(data.read_f32()?))),
                _ => Array::<f64>::boxed(job, count, None, Box::new(move || Ok(data.read_f64()?))),
            }
        }
        ("strings", _) => {
            let data = open(job)?;
            Ok(Strings::boxed(move || Ok(data.read_string()?)))
        }
        ("index", _) => Ok(Box::new(Index {
            path: job.file.clone(),
            name: job.path.clone(),
            data: None,
            chunks: Vec::new(),
        })),
        ("walk", _) => {
            let path = job.file.clone();
            Ok(Walk::boxed(move |visit| members("", &File::open_streaming(&path)?.root(), visit)))
        }
        _ => Err(cannot(job)),
    }
}

fn open(job: &Job) -> Result<Dataset, Failure> {
    Ok(File::open_streaming(&job.file)?.dataset(&job.path)?)
}

struct Index {
    path: std::path::PathBuf,
    name: String,
    data: Option<Dataset>,
    chunks: Vec<hdf5_pure::Chunk>,
}

impl Work for Index {
    fn prepare(&mut self) -> Result<(), Failure> {
        self.data = Some(File::open_streaming(&self.path)?.dataset(&self.name)?);
        Ok(())
    }

    fn run(&mut self) -> Result<(), Failure> {
        self.chunks = self.data.as_ref().ok_or("nothing is open")?.chunks()?;
        Ok(())
    }

    fn output_len(&self) -> usize {
        0
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        let chunks = self.chunks.iter();
        let chunks = chunks.map(|chunk| [&chunk.offset[..], &[chunk.address, chunk.storage_size]].concat());
        Ok(Some(total::of_chunks(chunks.collect())))
    }

    fn release(&mut self) {
        self.chunks = Vec::new();
    }
}

fn members(path: &str, group: &Group, visit: Visit<'_>) -> Result<(), Failure> {
    for (name, dataset) in group.iter_datasets()? {
        let element = usize::try_from(dataset.element_size()?)?;
        visit(&format!("{path}/{name}"), Some((&dataset.shape()?, element)));
    }
    for (name, group) in group.iter_groups()? {
        let name = format!("{path}/{name}");
        visit(&name, None);
        members(&name, &group, visit)?;
    }
    Ok(())
}
