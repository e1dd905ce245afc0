//! The job of a side.

use crate::Failure;
use std::collections::HashMap;
use std::path::PathBuf;

/// A job that can be repeated.
pub trait Work {
    /// Prepares a run. Called before each run, and not timed.
    fn prepare(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The timed work. Newly allocated output is kept until [`Work::release`].
    fn run(&mut self) -> Result<(), Failure>;

    /// The size of the requested output in bytes; 0 if it is known only after the first run.
    fn output_len(&self) -> usize;

    /// The hash of the last output; `None` if it cannot be compared with other sides.
    fn total(&mut self) -> Result<Option<String>, Failure>;

    /// The number of bytes that the last run has stored; 0 if it only reads.
    fn stored(&mut self) -> Result<u64, Failure> {
        Ok(0)
    }

    /// Frees newly allocated output.
    fn release(&mut self) {}
}

/// The memory for output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// The same memory in each run, in huge pages, touched before the first run.
    Reused,
    /// Memory that each run allocates.
    Fresh,
}

/// A job with its name and keys.
pub struct Job {
    /// `array`, `write`, `strings`, `index`, `elements`, `walk`, `datasets`, `digest`; for limits `pread`, `chunks`, `inflate`,
    /// `unshuffle`, `recode`.
    pub name: String,
    /// `file`.
    pub file: PathBuf,
    /// `path` within the file.
    pub path: String,
    /// `memory=reused` or `fresh`.
    pub memory: Memory,
    /// `threads`.
    pub threads: usize,
    /// `step` along the first dimensions; 1 along the others.
    pub step: Vec<u64>,
    /// `element`: `f4` or `f8`, for sides that need the type in advance; `>f8` if it is stored in big-endian order.
    pub element: String,
    /// `chunk`: size of a decoded chunk in bytes, for limits.
    pub chunk: usize,
    /// `source`: a file with the elements to write, uncompressed.
    pub source: PathBuf,
    /// `into`: the path of the store to write.
    pub into: PathBuf,
    keys: HashMap<String, String>,
}

impl Job {
    /// Reads `KEY=VALUE` words.
    pub fn parse(name: &str, words: &[String]) -> Result<Job, Failure> {
        let mut keys = HashMap::new();
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("{word} is no KEY=VALUE"))?;
            keys.insert(key, value);
        }
        let text = |key| keys.get(key).copied().unwrap_or_default().to_owned();
        let number = |key, default| keys.get(key).map_or(Ok(default), |value| value.parse());
        let memory = match keys.get("memory") {
            None | Some(&"reused") => Memory::Reused,
            Some(&"fresh") => Memory::Fresh,
            Some(other) => return Err(format!("memory={other}, expected reused or fresh").into()),
        };
        let step = keys.get("step").map(|step| step.split(',').map(str::parse).collect());
        Ok(Job {
            name: name.to_owned(),
            file: text("file").into(),
            path: text("path"),
            memory,
            threads: number("threads", 1)?,
            step: step.transpose()?.unwrap_or_default(),
            element: text("element"),
            chunk: number("chunk", 0)?,
            source: text("source").into(),
            into: text("into").into(),
            keys: keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        })
    }

    /// The value of any other key; empty if the key is missing.
    pub fn text(&self, key: &str) -> &str {
        self.keys.get(key).map_or("", String::as_str)
    }

    /// The comma-separated numbers of any other key; empty if the key is missing.
    pub fn numbers(&self, key: &str) -> Result<Vec<u64>, Failure> {
        let numbers = self.text(key).split(',').filter(|number| !number.is_empty());
        Ok(numbers.map(str::parse).collect::<Result<_, _>>()?)
    }

    /// The step along each of `rank` dimensions.
    pub fn steps(&self, rank: usize) -> Vec<u64> {
        self.step.iter().copied().chain(std::iter::repeat(1)).take(rank).collect()
    }

    /// Whether all elements are read.
    pub fn is_whole(&self) -> bool {
        self.step.iter().all(|step| *step == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_without_a_step_have_step_1() {
        let words = ["step=4,4".to_owned(), "memory=fresh".to_owned()];
        let job = Job::parse("array", &words).unwrap();
        assert_eq!(job.steps(3), [4, 4, 1]);
        assert!(!job.is_whole() && job.memory == Memory::Fresh);
        assert!(Job::parse("array", &["memory=some".to_owned()]).is_err());
    }
}
