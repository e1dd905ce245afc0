//! Vacuum file: what a consolidated fragment or metadata file replaces.
//!
//! Spec: TileDB format_spec, vacuum_file.md

use super::{Structure, uri_lines};
use hyperslab_core::{Decoder, Encoder, Result};

/// The fragments or metadata files that can be deleted, since another one with the same name as this file contains all
/// of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VacuumFile {
    /// The URIs: `/__fragments/NAME` or `/__meta/NAME` since version 19, absolute before. Only the [last
    /// name](uri_lines::last_name) is reliable.
    pub uris: Vec<Vec<u8>>,
}

impl Structure for VacuumFile {
    type Context = ();
    const NAME: &'static str = "Vacuum File";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        Ok(VacuumFile { uris: uri_lines::lines(d)? })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        self.uris.iter().try_for_each(|uri| uri_lines::put_line(e, uri))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(VacuumFile, context: (),
        golden: [include_str!("../../tests/golden/vacuum_file.hex")],
        values: [VacuumFile { uris: vec![b"/__meta/__1_2_x".to_vec(), vec![]] }], open_ended);
}
