//! Global Heap Block for Virtual Datasets.
//!
//! Spec: HDF5 III.F Disk Format: Level 1F - Global Heap Block for Virtual Datasets

use crate::format::encoding::DataspaceSelection;
use crate::format::{Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The mappings of a virtual dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualDatasetBlock {
    /// The version of the encoding.
    pub version: Version,
    /// The mappings.
    pub mappings: Vec<Mapping>,
}

/// Versions of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Each name is stored with its mapping.
    V0,
    /// Since libhdf5 2.0: mappings may share names.
    V1,
}

/// A mapping: a source selection that provides a part of a virtual dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The name of the source file. `%b` stands for the number of a block.
    pub source_file: SourceFile,
    /// The name of the source dataset. `%b` stands for the number of a block.
    pub source_dataset: SourceName,
    /// The selected elements of the source.
    pub source_selection: DataspaceSelection,
    /// The selected elements of the virtual dataset.
    pub virtual_selection: DataspaceSelection,
}

/// The source file of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceFile {
    /// A file by name; the name `.` is the file itself.
    Named(SourceName),
    /// The file itself, by a flag.
    Same,
}

/// A name, or a reference to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceName {
    /// The name itself.
    Here(Vec<u8>),
    /// The name of the mapping with this index, which must be an earlier one.
    Shared(u64),
}

/// The names of a mapping, with shared names resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// The file name; `.` is the file itself.
    pub file: &'a [u8],
    /// The dataset name.
    pub dataset: &'a [u8],
}

impl VirtualDatasetBlock {
    /// The sources of all mappings, in order.
    ///
    /// # Errors
    /// If a name is shared with a mapping that is not an earlier one.
    pub fn sources(&self) -> Result<Vec<Source<'_>>> {
        let mut sources: Vec<Source<'_>> = Vec::with_capacity(self.mappings.len());
        for mapping in &self.mappings {
            let shared = |index: &u64| {
                let source = usize::try_from(*index).ok().and_then(|index| sources.get(index));
                source.ok_or_else(|| {
                    Error::malformed(format!(
                        "mapping {} shares a name of mapping {index}, expected an earlier one",
                        sources.len()
                    ))
                })
            };
            let file = match &mapping.source_file {
                SourceFile::Same => SAME_FILE,
                SourceFile::Named(SourceName::Here(name)) => name,
                SourceFile::Named(SourceName::Shared(index)) => shared(index)?.file,
            };
            let dataset = match &mapping.source_dataset {
                SourceName::Here(name) => name,
                SourceName::Shared(index) => shared(index)?.dataset,
            };
            sources.push(Source { file, dataset });
        }
        Ok(sources)
    }
}

impl Structure for VirtualDatasetBlock {
    type Context = Sizes;
    const NAME: &'static str = "Global Heap Block for Virtual Datasets";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let start = d.clone();
        let version = match d.u8()? {
            0 => Version::V0,
            1 => Version::V1,
            other => return Err(start.unsupported(format!("version {other}, expected 0 or 1"))),
        };
        let count = sizes.length(d)?;
        let mappings = (0..d.count(count, MIN_MAPPING)? as u64)
            .map(|index| Mapping::decode(d, sizes, version, index))
            .collect::<Result<_>>()?;
        verify_checksum(&start, d)?;
        Ok(VirtualDatasetBlock { version, mappings })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let start = e.len();
        e.u8(match self.version {
            Version::V0 => 0,
            Version::V1 => 1,
        });
        sizes.put_length(e, self.mappings.len() as u64)?;
        self.mappings.iter().try_for_each(|mapping| mapping.encode(e, sizes, self.version))?;
        append_checksum(e, start)
    }
}

impl Mapping {
    fn decode(d: &mut Decoder<'_>, sizes: &Sizes, version: Version, index: u64) -> Result<Self> {
        let at = d.clone();
        let flags = match version {
            Version::V0 => 0,
            Version::V1 => d.u8()?,
        };
        if flags & !(FILE_SHARED | DATASET_SHARED | FILE_IS_SAME) != 0 {
            return Err(at.unsupported(format!("flags {flags:#04x}, expected at most 0x07")));
        }
        let name = |d: &mut Decoder<'_>, shared: bool| {
            if !shared {
                return Ok(SourceName::Here(d.until_nul()?.to_vec()));
            }
            let at = d.clone();
            match sizes.length(d)? {
                earlier if earlier < index => Ok(SourceName::Shared(earlier)),
                later => Err(at.malformed(format!(
                    "mapping {index} shares a name of mapping {later}, expected an earlier one"
                ))),
            }
        };
        let source_file = match flags & FILE_IS_SAME != 0 {
            true => SourceFile::Same,
            false => SourceFile::Named(name(d, flags & FILE_SHARED != 0)?),
        };
        Ok(Mapping {
            source_file,
            source_dataset: name(d, flags & DATASET_SHARED != 0)?,
            source_selection: DataspaceSelection::decode(d, &())?,
            virtual_selection: DataspaceSelection::decode(d, &())?,
        })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes, version: Version) -> Result<()> {
        let mut flags = match &self.source_file {
            SourceFile::Same => FILE_IS_SAME,
            SourceFile::Named(SourceName::Shared(_)) => FILE_SHARED,
            SourceFile::Named(SourceName::Here(_)) => 0,
        };
        if let SourceName::Shared(_) = self.source_dataset {
            flags |= DATASET_SHARED;
        }
        match version {
            Version::V0 if flags != 0 => return Err(Error::invalid("shared names need version 1")),
            Version::V0 => {}
            Version::V1 => e.u8(flags),
        }
        if let SourceFile::Named(name) = &self.source_file {
            name.encode(e, sizes)?;
        }
        self.source_dataset.encode(e, sizes)?;
        self.source_selection.encode(e, &())?;
        self.virtual_selection.encode(e, &())
    }
}

impl SourceName {
    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        match self {
            SourceName::Shared(index) => sizes.put_length(e, *index),
            SourceName::Here(name) if name.contains(&0) => {
                Err(Error::invalid("the name of a source contains NUL"))
            }
            SourceName::Here(name) => {
                e.bytes(name);
                e.u8(0);
                Ok(())
            }
        }
    }
}

const FILE_SHARED: u8 = 0x01;
const DATASET_SHARED: u8 = 0x02;
const FILE_IS_SAME: u8 = 0x04;
const SAME_FILE: &[u8] = b".";
/// The size of a mapping with an empty name and two selections.
const MIN_MAPPING: usize = 33;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    const V0: &str = include_str!("../../../tests/golden/vds_v0.hex");
    const V1: &str = include_str!("../../../tests/golden/vds_v1.hex");
    const UNLIMITED: &str = include_str!("../../../tests/golden/vds_unlimited.hex");

    structure_tests!(VirtualDatasetBlock, context: Sizes::DEFAULT, golden: [V0, V1, UNLIMITED], values: []);

    fn decode(text: &str) -> VirtualDatasetBlock {
        let bytes = hex(text);
        VirtualDatasetBlock::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap()
    }

    #[test]
    fn both_versions_have_the_same_sources() {
        let (v0, v1) = (decode(V0), decode(V1));
        assert_eq!((v0.version, v1.version), (Version::V0, Version::V1));
        let file: &[u8] = b"a file with a name.h5";
        let dataset: &[u8] = b"a dataset with a name";
        let want = [
            Source { file, dataset },
            Source { file, dataset: b"other" },
            Source { file: b".", dataset },
            Source { file: b".", dataset: b"other" },
        ];
        assert_eq!(v0.sources().unwrap(), want);
        assert_eq!(v1.sources().unwrap(), want);
        assert_eq!(v1.mappings[1].source_file, SourceFile::Named(SourceName::Shared(0)));
        assert_eq!(v1.mappings[3].source_file, SourceFile::Same);
        assert_eq!(v0.mappings[1].virtual_selection.to_selection().unwrap().count(&[4, 10]), Some(10));
    }

    #[test]
    fn unlimited_mappings_have_numbered_sources() {
        let block = decode(UNLIMITED);
        assert_eq!(block.sources().unwrap()[0].file, b"part-%b.h5");
        match &block.mappings[0].virtual_selection {
            DataspaceSelection::Hyperslab(hyperslab) => assert!(hyperslab.is_unlimited()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rejects_names_shared_with_later_mappings() {
        let mut block = decode(V1);
        block.mappings[1].source_dataset = SourceName::Shared(1);
        assert!(block.sources().is_err());
        let mut e = Encoder::new();
        block.encode(&mut e, &Sizes::DEFAULT).unwrap();
        let mut d = Decoder::new("t", 0, e.as_slice());
        assert!(VirtualDatasetBlock::decode(&mut d, &Sizes::DEFAULT).is_err());
    }
}
