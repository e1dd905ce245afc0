//! Ignore file: commits in consolidated commits files that no longer exist. New in version 12.
//!
//! Spec: TileDB format_spec, ignore_file.md

use super::{Structure, uri_lines};
use hyperslab_core::{Decoder, Encoder, Result};

/// The commits that are to be ignored in [consolidated commits](super::consolidated_commits).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoreFile {
    /// The URIs, relative to the array: `__commits/NAME.wrt`.
    pub uris: Vec<Vec<u8>>,
}

impl Structure for IgnoreFile {
    type Context = ();
    const NAME: &'static str = "Ignore File";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        Ok(IgnoreFile { uris: uri_lines::lines(d)? })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        self.uris.iter().try_for_each(|uri| uri_lines::put_line(e, uri))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(IgnoreFile, context: (),
        golden: [include_str!("../../tests/golden/ignore_file.hex")],
        values: [IgnoreFile::default()], open_ended);

    #[test]
    fn rejects_a_last_line_that_may_be_cut() {
        let e = IgnoreFile::decode(&mut Decoder::new("Ignore File", 0, b"a\nb"), &()).unwrap_err();
        assert_eq!(e.to_string(), "malformed Ignore File at byte 0x2: a line without its end");
    }
}
