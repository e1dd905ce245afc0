//! Consolidated commits file: many commit files in one. New in version 12.
//!
//! Spec: TileDB format_spec, consolidated_commits_file.md

use super::{Structure, field, uri_lines};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Commits, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsolidatedCommits {
    /// The commits.
    pub commits: Vec<ConsolidatedCommit>,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsolidatedCommit {
    /// The URI of the commit file relative to the array: `__commits/NAME.wrt`, or `NAME.ok` of old fragments.
    pub uri: Vec<u8>,
    /// The whole delete commit file, a generic tile, if the URI ends with `.del`.
    pub delete: Option<Vec<u8>>,
}

impl Structure for ConsolidatedCommits {
    type Context = ();
    const NAME: &'static str = "Consolidated Commits File";

    /// All bytes belong to commits, since their number is not stored.
    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let mut commits = Vec::new();
        while !d.is_empty() {
            commits.push(ConsolidatedCommit::decode(d, &())?);
        }
        Ok(ConsolidatedCommits { commits })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        self.commits.iter().try_for_each(|commit| commit.encode(e, &()))
    }
}

impl Structure for ConsolidatedCommit {
    type Context = ();
    const NAME: &'static str = "Consolidated Commits File";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let uri = uri_lines::line(d)?.to_vec();
        let delete = match uri.ends_with(DELETE) {
            true => Some(field::bytes64(d)?),
            false => None,
        };
        Ok(ConsolidatedCommit { uri, delete })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        uri_lines::put_line(e, &self.uri)?;
        match (self.uri.ends_with(DELETE), &self.delete) {
            (true, Some(file)) => field::put_bytes64(e, file),
            (false, None) => {}
            _ => return Err(Error::invalid("a delete commit without its file, or a file of another commit")),
        }
        Ok(())
    }
}

const DELETE: &[u8] = b".del";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(ConsolidatedCommits, context: (),
        golden: [
            include_str!("../../tests/golden/consolidated_commits.hex"),
            include_str!("../../tests/golden/consolidated_commits_delete.hex"),
        ],
        values: [ConsolidatedCommits::default()], open_ended);

    mod commit {
        use super::*;
        structure_tests!(ConsolidatedCommit, context: (), golden: [], values: [
            ConsolidatedCommit { uri: b"__1_1_x_10.ok".to_vec(), delete: None },
            ConsolidatedCommit { uri: b"__commits/__1_1_x_22.del".to_vec(), delete: Some(b"\ntile\n".to_vec()) },
        ]);
    }

    #[test]
    fn delete_commits_alone_have_a_file() {
        for (uri, delete) in [(&b"a.wrt"[..], Some(vec![1])), (b"a.del", None)] {
            let commit = ConsolidatedCommit { uri: uri.to_vec(), delete };
            assert!(commit.encode(&mut Encoder::new(), &()).is_err());
        }
    }
}
