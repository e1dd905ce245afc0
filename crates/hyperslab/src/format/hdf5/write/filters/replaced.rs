//! Replacements for filters that HDF5 does not have.
//!
//! Deflate is the compression that every HDF5 reader supports; plugin filters need software that most installations
//! lack.

use super::super::lowerings::{CHECKSUM, DEFLATE, PLUGIN, SIMILAR, UNFILTERED, UNSETTLED};
use super::{Filters, Origin, Pipeline, get, needs_plugin};
use crate::filter as words;
use crate::target::Lowered;
use hyperslab_codec::{Blosc, Codec, Deflate, Fidelity, Fletcher32, Lz4Hdf5, Shuffle, Zstd};
use hyperslab_core::Result;
use hyperslab_hdf5::filter;
use hyperslab_model::Filter;

/// The replacement of a filter.
enum Instead {
    /// A filter with the same algorithm.
    Similar(Codec),
    /// A checksum.
    Checksum,
    /// Deflate compression.
    Deflate,
    /// No filter: the original one converts elements or describes how they are ordered.
    Nothing,
}

impl Filters<'_> {
    /// The filters, with each one that HDF5 does not have replaced.
    pub(super) fn replaced(&self) -> Result<Pipeline> {
        let mut pipeline = Pipeline { filters: Vec::new(), lowered: Vec::new() };
        let mut replaced: Vec<(&'static Lowered, Vec<&str>)> = Vec::new();
        let mut note = |lowered: &'static Lowered, name| match replaced
            .iter_mut()
            .find(|(known, _)| std::ptr::eq(*known, lowered))
        {
            Some((_, names)) => names.push(name),
            None => replaced.push((lowered, vec![name])),
        };
        for of in self.filters {
            let stored = self.stored(of).ok();
            let is_plugin = stored.as_ref().is_some_and(needs_plugin);
            let is_lacking = is_plugin && self.origin == Origin::Foreign;
            let is_changing = self.change && stored.as_ref().is_some_and(|stored| self.changes(stored));
            if let Some(stored) = stored.filter(|_| !is_lacking && !is_changing) {
                pipeline.filters.push(stored);
                continue;
            }
            let instead = match self.instead(of) {
                _ if is_changing => Instead::Deflate,
                Instead::Similar(codec) if self.needs_plugin(&codec) => Instead::Deflate,
                instead => instead,
            };
            let (lowered, codecs) = match instead {
                Instead::Similar(codec) => (&SIMILAR, vec![codec]),
                Instead::Checksum => (&CHECKSUM, vec![Fletcher32.into()]),
                Instead::Nothing => (&UNFILTERED, Vec::new()),
                // Compressing twice gains nothing.
                Instead::Deflate if pipeline.filters.iter().any(|of| of.id == filter::DEFLATE) => {
                    (&UNFILTERED, Vec::new())
                }
                Instead::Deflate => {
                    let element = self.element_size();
                    let has_shuffle = pipeline.filters.iter().any(|of| SHUFFLES.contains(&of.id));
                    let shuffle = (element > 1 && !has_shuffle).then(|| Shuffle { element }.into());
                    let lowered = match (is_changing, is_lacking) {
                        (true, _) => &UNSETTLED,
                        (false, true) => &PLUGIN,
                        (false, false) => &DEFLATE,
                    };
                    (lowered, shuffle.into_iter().chain([Deflate { level: LEVEL }.into()]).collect())
                }
            };
            note(lowered, of.name.as_str());
            for codec in codecs {
                let (id, client_data) = self.client_data(codec)?;
                let name = filter::canonical_name(id).unwrap_or_default().as_bytes().to_vec();
                let optional = id != filter::FLETCHER32;
                pipeline.filters.push(super::Hdf5Filter { id, name, optional, client_data });
            }
        }
        for (lowered, names) in replaced {
            let s = if names.len() == 1 { "" } else { "s" };
            pipeline.lowered.push((lowered, format!("filter{s} {}", names.join(", "))));
        }
        Ok(pipeline)
    }

    /// Whether a filter may change elements.
    fn changes(&self, stored: &super::Hdf5Filter) -> bool {
        let codec = filter::codec(stored, self.element_size()).ok().flatten();
        codec.is_some_and(|codec| codec.fidelity() != Fidelity::Exact)
    }

    /// Whether few readers can decode the output of this codec and the source is of another format.
    fn needs_plugin(&self, codec: &Codec) -> bool {
        let id = self.client_data(codec.clone()).map(|(id, _)| id);
        self.origin == Origin::Foreign && id.is_ok_and(filter::needs_plugin)
    }

    fn instead(&self, of: &Filter) -> Instead {
        if get(of, "name").is_none() && CONVERSIONS.contains(&of.name.as_str()) {
            return Instead::Nothing;
        }
        match words::codec(of, &self.elements()) {
            Ok(Codec::Gzip(of)) => Instead::Similar(Deflate { level: of.level }.into()),
            Ok(Codec::Lz4Numcodecs(_)) => Instead::Similar(Lz4Hdf5 { block: 0 }.into()),
            Ok(Codec::Zstd(of)) => Instead::Similar(Zstd { checksum: false, ..of }.into()),
            Ok(Codec::Blosc(of)) => Instead::Similar(Blosc { block: 0, ..of }.into()),
            Ok(Codec::Checksum(_)) => Instead::Checksum,
            _ => Instead::Deflate,
        }
    }
}

/// The filters that convert or reorder elements, or that change nothing.
const CONVERSIONS: [&str; 14] = [
    "astype",
    "bitgroom",
    "bitround",
    "delta",
    "doubledelta",
    "fixedscaleoffset",
    "granularbitround",
    "md5",
    "noop",
    "positivedelta",
    "quantize",
    "scalefloat",
    "sha256",
    "transpose",
];
const SHUFFLES: [u16; 2] = [filter::SHUFFLE, filter::BITSHUFFLE];
/// The default level of h5py.
const LEVEL: u8 = 4;
