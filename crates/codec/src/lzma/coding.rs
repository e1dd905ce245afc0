//! Encodes and decodes LZMA streams with readers and writers.

use super::{Lzma, LzmaBranches, LzmaCheck, LzmaCoder, LzmaContainer, LzmaFilter, LzmaParameters};
use crate::codec::too_long;
use hyperslab_core::{Error, Result};
use lzma_rust2::filter::bcj::{BcjReader, BcjWriter};
use lzma_rust2::filter::delta::{DeltaReader, DeltaWriter};
use lzma_rust2::{
    CheckType, EncodeMode, FilterConfig, FilterType, Lzma2Options, Lzma2Reader, Lzma2Writer, LzmaOptions,
    LzmaReader, LzmaWriter, MfType, XzOptions, XzReader, XzWriter,
};
use std::io::{self, Read, Write};

impl Lzma {
    /// Decodes to the beginning of `out` and returns the number of bytes.
    pub(super) fn decode_to(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let refused = |e: io::Error| match e.kind() {
            io::ErrorKind::OutOfMemory => Error::unsupported(format!(
                "LZMA dictionary of more than {} MiB, the limit of memory",
                MAX_MEMORY >> 10
            )),
            _ => Error::malformed(format!("{} bytes are not a complete LZMA stream", stored.len())),
        };
        let mut reader = self.reader(stored).map_err(refused)?;
        let mut found = 0;
        loop {
            // When the output is full, the stream must end. One more byte shows that it is longer.
            let mut probe = [0];
            let (room, is_full) = match out.get_mut(found..) {
                Some(room) if !room.is_empty() => (room, false),
                _ => (&mut probe[..], true),
            };
            match reader.read(room) {
                Ok(0) => return Ok(found),
                Ok(_) if is_full => return Err(too_long(found.saturating_add(1), out.len())),
                Ok(more) => found = found.saturating_add(more),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(refused(e)),
            }
        }
    }

    /// Appends `raw` encoded.
    pub(super) fn encode_to(&self, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let refused = |e: io::Error| Error::invalid(format!("LZMA: {e}"));
        self.write(raw, out).map_err(refused)
    }

    fn reader<'a>(&self, stored: &'a [u8]) -> io::Result<Box<dyn Read + 'a>> {
        let mut reader: Box<dyn Read + 'a> = match (self.container, self.coder) {
            (LzmaContainer::Xz { .. }, _) => {
                return Ok(Box::new(XzReader::new_mem_limit(stored, true, MAX_MEMORY)));
            }
            (LzmaContainer::Alone, _) => {
                return Ok(Box::new(LzmaReader::new_mem_limit(stored, MAX_MEMORY, None)?));
            }
            (LzmaContainer::Raw, LzmaCoder::Lzma2(parameters)) => {
                Box::new(Lzma2Reader::new_mem_limit(stored, parameters.dictionary, MAX_MEMORY, None)?)
            }
            (LzmaContainer::Raw, LzmaCoder::Lzma1(parameters)) => {
                let LzmaParameters { literal_context: lc, literal_position: lp, position: pb, .. } =
                    parameters;
                if parameters.dictionary >> 10 > MAX_MEMORY {
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
                let dictionary = parameters.dictionary;
                let [lc, lp, pb] = [lc, lp, pb].map(u32::from);
                Box::new(LzmaReader::new(stored, u64::MAX, lc, lp, pb, dictionary, None)?)
            }
        };
        for filter in self.filters.iter().rev() {
            reader = match *filter {
                LzmaFilter::Delta { distance } => Box::new(DeltaReader::new(reader, distance.into())),
                LzmaFilter::Branches { of, start } => {
                    let start = usize::try_from(start).unwrap_or_default();
                    Box::new(match of {
                        LzmaBranches::X86 => BcjReader::new_x86(reader, start),
                        LzmaBranches::PowerPc => BcjReader::new_ppc(reader, start),
                        LzmaBranches::Ia64 => BcjReader::new_ia64(reader, start),
                        LzmaBranches::Arm => BcjReader::new_arm(reader, start),
                        LzmaBranches::ArmThumb => BcjReader::new_arm_thumb(reader, start),
                        LzmaBranches::Sparc => BcjReader::new_sparc(reader, start),
                    })
                }
            };
        }
        Ok(reader)
    }

    fn write(&self, raw: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let (LzmaCoder::Lzma1(parameters) | LzmaCoder::Lzma2(parameters)) = self.coder;
        let options = options(&parameters, raw.len());
        match (self.container, self.coder) {
            (LzmaContainer::Xz { check }, _) => {
                let filters = self.filters.iter().map(config).collect();
                let check_type = match check {
                    LzmaCheck::None => CheckType::None,
                    LzmaCheck::Crc32 => CheckType::Crc32,
                    LzmaCheck::Crc64 => CheckType::Crc64,
                    LzmaCheck::Sha256 => CheckType::Sha256,
                };
                let options = XzOptions { lzma_options: options, check_type, filters, block_size: None };
                let mut writer = XzWriter::new(out, options)?;
                writer.write_all(raw)?;
                writer.finish()?;
            }
            (LzmaContainer::Alone, _) => {
                let mut writer = LzmaWriter::new_use_header(out, &options, None)?;
                writer.write_all(raw)?;
                writer.finish()?;
            }
            (LzmaContainer::Raw, LzmaCoder::Lzma1(_)) => {
                let mut writer = LzmaWriter::new_no_header(out, &options, true)?;
                writer.write_all(&self.filtered(raw)?)?;
                writer.finish()?;
            }
            (LzmaContainer::Raw, LzmaCoder::Lzma2(_)) => {
                let options = Lzma2Options { lzma_options: options, chunk_size: None };
                let mut writer = Lzma2Writer::new(out, options);
                writer.write_all(&self.filtered(raw)?)?;
                writer.finish()?;
            }
        }
        Ok(())
    }

    fn filtered(&self, raw: &[u8]) -> io::Result<Vec<u8>> {
        self.filters.iter().try_fold(raw.to_vec(), |raw, filter| {
            let out = Vec::with_capacity(raw.len());
            match *filter {
                LzmaFilter::Delta { distance } => {
                    let mut writer = DeltaWriter::new(out, distance.into());
                    writer.write_all(&raw)?;
                    Ok(writer.into_inner())
                }
                LzmaFilter::Branches { of, start } => {
                    let start = usize::try_from(start).unwrap_or_default();
                    let mut writer = match of {
                        LzmaBranches::X86 => BcjWriter::new_x86(out, start),
                        LzmaBranches::PowerPc => BcjWriter::new_ppc(out, start),
                        LzmaBranches::Ia64 => BcjWriter::new_ia64(out, start),
                        LzmaBranches::Arm => BcjWriter::new_arm(out, start),
                        LzmaBranches::ArmThumb => BcjWriter::new_arm_thumb(out, start),
                        LzmaBranches::Sparc => BcjWriter::new_sparc(out, start),
                    };
                    writer.write_all(&raw)?;
                    writer.finish()
                }
            }
        })
    }
}

fn config(filter: &LzmaFilter) -> FilterConfig {
    match *filter {
        LzmaFilter::Delta { distance } => {
            FilterConfig { filter_type: FilterType::Delta, property: distance.into() }
        }
        LzmaFilter::Branches { of, start } => {
            let filter_type = match of {
                LzmaBranches::X86 => FilterType::BcjX86,
                LzmaBranches::PowerPc => FilterType::BcjPpc,
                LzmaBranches::Ia64 => FilterType::BcjIa64,
                LzmaBranches::Arm => FilterType::BcjArm,
                LzmaBranches::ArmThumb => FilterType::BcjArmThumb,
                LzmaBranches::Sparc => FilterType::BcjSparc,
            };
            FilterConfig { filter_type, property: start }
        }
    }
}

/// The options of the encoder. A dictionary larger than the data would only waste memory.
fn options(parameters: &LzmaParameters, raw: usize) -> LzmaOptions {
    let needed = u32::try_from(raw).unwrap_or(u32::MAX).max(super::MIN_DICTIONARY);
    LzmaOptions {
        dict_size: parameters.dictionary.min(needed),
        lc: parameters.literal_context.into(),
        lp: parameters.literal_position.into(),
        pb: parameters.position.into(),
        mode: if parameters.is_fast { EncodeMode::Fast } else { EncodeMode::Normal },
        nice_len: parameters.nice_length.into(),
        mf: if parameters.has_trees { MfType::Bt4 } else { MfType::Hc4 },
        depth_limit: parameters.depth.into(),
        preset_dict: None,
    }
}

/// The memory limit of a decoder in KiB: twice the need of the largest preset.
const MAX_MEMORY: u32 = 1 << 17;
