//! What a side is asked to do.

use crate::Failure;
use std::collections::HashMap;
use std::path::PathBuf;

/// A job that can be repeated.
pub trait Work {
    /// What is done anew before each run and not timed.
    fn prepare(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// What is timed. Fresh output is kept until [`Work::release`].
    fn run(&mut self) -> Result<(), Failure>;

    /// Bytes that the caller asked for; 0 before the first run if only that tells.
    fn output_len(&self) -> usize;

    /// The hash of the last output; none if it is not what other sides put out.
    fn total(&mut self) -> Result<Option<String>, Failure>;

    /// Bytes that the last run has put into storage; 0 if it only reads.
    fn stored(&mut self) -> Result<u64, Failure> {
        Ok(0)
    }

    /// Frees fresh output.
    fn release(&mut self) {}
}

/// Where output goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// To the same memory in each run, of huge pages, touched before the first.
    Reused,
    /// To memory that the run takes itself.
    Fresh,
}

/// A job by its name and keys.
pub struct Job {
    /// `array`, `write`, `strings`, `index`, `elements`, `walk`, `datasets`, `digest`; of a limit `pread`, `chunks`, `inflate`,
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
    /// `step` along the first dimensions; the others are taken whole.
    pub step: Vec<u64>,
    /// `element`: `f4` or `f8`, for those who must know beforehand.
    pub element: String,
    /// `chunk`: bytes of a chunk before filters, for limits.
    pub chunk: usize,
    /// `source`: the elements that are written, as they are.
    pub source: PathBuf,
    /// `into`: where a store is made.
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

    /// What any other key says; nothing if it is not there.
    pub fn text(&self, key: &str) -> &str {
        self.keys.get(key).map_or("", String::as_str)
    }

    /// The numbers that any other key says, between commas; none if it is not there.
    pub fn numbers(&self, key: &str) -> Result<Vec<u64>, Failure> {
        let numbers = self.text(key).split(',').filter(|number| !number.is_empty());
        Ok(numbers.map(str::parse).collect::<Result<_, _>>()?)
    }

    /// The step along each of so many dimensions.
    pub fn steps(&self, rank: usize) -> Vec<u64> {
        self.step.iter().copied().chain(std::iter::repeat(1)).take(rank).collect()
    }

    /// Whether everything is taken.
    pub fn is_whole(&self) -> bool {
        self.step.iter().all(|step| *step == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_without_a_step_are_taken_whole() {
        let words = ["step=4,4".to_owned(), "memory=fresh".to_owned()];
        let job = Job::parse("array", &words).unwrap();
        assert_eq!(job.steps(3), [4, 4, 1]);
        assert!(!job.is_whole() && job.memory == Memory::Fresh);
        assert!(Job::parse("array", &["memory=some".to_owned()]).is_err());
    }
}
