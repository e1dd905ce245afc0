//! The content to write: one array, or many small ones.

use bench_side::{Failure, Job};
use std::path::Path;
use std::process::Command;

/// What a job writes.
#[derive(Clone)]
pub(crate) enum Content {
    /// The dataset `data` of float32: its shape, and the shape of its chunks, which are shuffled and deflated (level 4)
    /// if `is_deflated`. Without chunks it is contiguous.
    Array { shape: Vec<u64>, chunk: Vec<u64>, is_deflated: bool },
    /// Groups `group_000` of datasets `dataset_000` of the same elements.
    Many { groups: u64, members: u64 },
}

/// A job, and how its result is read.
pub(crate) struct Task {
    pub(crate) content: Content,
    pub(crate) threads: usize,
    reader: [String; 2],
}

impl Task {
    /// The keys are `shape`, `chunks` and `codec`, or `groups` and `members`; `python` and `script` of the reader.
    pub(crate) fn of(job: &Job) -> Result<Task, Failure> {
        let content = match job.name.as_str() {
            "array" => Content::Array {
                shape: job.numbers("shape")?,
                chunk: job.numbers("chunks")?,
                is_deflated: job.text("codec") == "deflate",
            },
            "many" => {
                let number =
                    |key| job.numbers(key)?.first().copied().ok_or(Failure::from(format!("no {key}")));
                Content::Many { groups: number("groups")?, members: number("members")? }
            }
            other => return Err(format!("no job {other}").into()),
        };
        let reader = ["python", "script"].map(|key| job.text(key).to_owned());
        Ok(Task { content, threads: job.threads, reader })
    }

    /// The hash of a file that h5py reads.
    pub(crate) fn hash(&self, file: &Path) -> Result<String, Failure> {
        self.hash_with(file, None)
    }

    /// The hash of a file that is nothing but the elements of an array.
    pub(crate) fn hash_elements(&self, file: &Path) -> Result<String, Failure> {
        let Content::Array { shape, .. } = &self.content else { return Err("no array".to_owned().into()) };
        let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
        self.hash_with(file, Some(shape.join(",")))
    }

    fn hash_with(&self, file: &Path, shape: Option<String>) -> Result<String, Failure> {
        let [python, script] = &self.reader;
        let done = Command::new(python).args(["-B", script]).arg(file).args(shape).output()?;
        match done.status.success() {
            true => Ok(String::from_utf8(done.stdout)?.trim().to_owned()),
            false => Err(format!("h5py: {}", String::from_utf8_lossy(&done.stderr)).into()),
        }
    }
}

pub(crate) fn group_name(group: u64) -> String {
    format!("group_{group:03}")
}

pub(crate) fn dataset_name(member: u64) -> String {
    format!("dataset_{member:03}")
}

/// The elements of a dataset of many.
pub(crate) const FEW: u64 = 10;

/// The elements of each dataset of many.
pub(crate) fn few() -> [f32; 10] {
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
}
