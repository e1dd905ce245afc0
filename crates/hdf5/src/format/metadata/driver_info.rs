//! Driver information block, and the driver information that the message of type 0x0014 holds, too.
//!
//! Spec: HDF5 II.B Disk Format: Level 0B - File Driver Info

use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// What the driver that wrote a file needs to open it again, for superblocks of versions 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfoBlock {
    /// The information itself.
    pub info: DriverInfo,
}

/// Driver information by driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverInfo {
    /// `NCSAmulti`: the file is spread over several by kind of data.
    Multi(Multi),
    /// `NCSAfami`: the file is a family of files of one size.
    Family {
        /// The size of each member.
        member_size: u64,
    },
    /// Any other driver, or information that is not of the length its driver gives it.
    Unknown {
        /// Eight characters that name the driver.
        identification: [u8; 8],
        /// The information as it is stored.
        info: Vec<u8>,
    },
}

/// The members of a file that is spread by kind of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multi {
    /// Which member holds the superblock, B-trees, raw data, global heaps, local heaps and object headers:
    /// numbers from 1 to 6 in that same order, 0 for a member of its own.
    pub mapping: [u8; 6],
    /// The distinct members, in order of the kind that they are named after.
    pub members: Vec<Member>,
}

/// One file of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The address in the whole at which the file begins.
    pub address: u64,
    /// The end of its allocated addresses.
    pub end: u64,
    /// Its name, in which `%s` stands for the name of the whole.
    pub name: Vec<u8>,
}

impl Structure for DriverInfoBlock {
    type Context = Sizes;
    const NAME: &'static str = "Driver Information Block";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 0 {
            return Err(at.unsupported(format!("version {version}, expected 0")));
        }
        d.reserved(3)?;
        let size = d.u32()?;
        let identification = d.array()?;
        let size = d.len_of(size.into())?;
        let info = DriverInfo::decode(identification, d.sub(Self::NAME, size)?);
        Ok(DriverInfoBlock { info })
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        let info = self.info.encode()?;
        e.u8(0);
        e.reserved(3);
        e.len_as(4, info.len())?;
        e.bytes(&self.info.identification());
        e.bytes(&info);
        Ok(())
    }
}

impl DriverInfo {
    /// Eight characters that name the driver.
    pub fn identification(&self) -> [u8; 8] {
        match self {
            DriverInfo::Multi(_) => *MULTI,
            DriverInfo::Family { .. } => *FAMILY,
            DriverInfo::Unknown { identification, .. } => *identification,
        }
    }

    /// Decodes all that is left of `d`, by the rules of the driver.
    pub fn decode(identification: [u8; 8], d: Decoder<'_>) -> Self {
        let known = match &identification {
            MULTI => Multi::decode(d.clone()).map(DriverInfo::Multi),
            FAMILY => family(d.clone()),
            _ => Err(d.unsupported("an unknown driver")),
        };
        known.unwrap_or_else(|_| DriverInfo::Unknown { identification, info: d.clone().rest().to_vec() })
    }

    /// The bytes that [`DriverInfo::decode`] reads.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut e = Encoder::new();
        match self {
            DriverInfo::Multi(multi) => multi.encode(&mut e)?,
            DriverInfo::Family { member_size } => e.u64(*member_size),
            DriverInfo::Unknown { info, .. } => e.bytes(info),
        }
        Ok(e.into_bytes())
    }
}

fn family(mut d: Decoder<'_>) -> Result<DriverInfo> {
    let member_size = d.u64()?;
    d.finish()?;
    Ok(DriverInfo::Family { member_size })
}

impl Multi {
    fn decode(mut d: Decoder<'_>) -> Result<Self> {
        let mapping: [u8; 6] = d.array()?;
        d.reserved(2)?;
        let ranges: Vec<(u64, u64)> =
            (0..distinct(&mapping)).map(|_| Ok((d.u64()?, d.u64()?))).collect::<Result<_>>()?;
        let mut members = Vec::with_capacity(ranges.len());
        for (address, end) in ranges {
            let name = d.until_nul()?.to_vec();
            let stored = name.len() + 1;
            d.reserved(stored.next_multiple_of(NAME_ALIGNMENT) - stored)?;
            members.push(Member { address, end, name });
        }
        d.finish()?;
        Ok(Multi { mapping, members })
    }

    fn encode(&self, e: &mut Encoder) -> Result<()> {
        if self.members.len() != distinct(&self.mapping) {
            return Err(Error::invalid(format!(
                "{} members, the mapping has {}",
                self.members.len(),
                distinct(&self.mapping)
            )));
        }
        e.bytes(&self.mapping);
        e.reserved(2);
        for member in &self.members {
            e.u64(member.address);
            e.u64(member.end);
        }
        for member in &self.members {
            let start = e.len();
            e.bytes(&member.name);
            e.u8(0);
            e.pad_to(start, NAME_ALIGNMENT);
        }
        Ok(())
    }
}

/// How many different members a mapping names.
fn distinct(mapping: &[u8; 6]) -> usize {
    let mut members: Vec<u8> =
        mapping.iter().zip(1..).map(|(member, own)| if *member == 0 { own } else { *member }).collect();
    members.sort_unstable();
    members.dedup();
    members.len()
}

const MULTI: &[u8; 8] = b"NCSAmult";
const FAMILY: &[u8; 8] = b"NCSAfami";
const NAME_ALIGNMENT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    structure_tests!(DriverInfoBlock, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/driver_info_split.hex"),
        include_str!("../../../tests/golden/driver_info_family.hex"),
    ],
    values: [
        DriverInfoBlock {
            info: DriverInfo::Unknown { identification: *b"WEATHER0", info: vec![1, 2, 3] },
        },
        DriverInfoBlock {
            info: DriverInfo::Multi(Multi {
                mapping: [0, 1, 3, 3, 0, 1],
                members: vec![
                    Member { address: 0, end: 0x800, name: b"%s-s.h5".to_vec() },
                    Member { address: 0x1000, end: 0x1800, name: b"%s-raw.h5".to_vec() },
                    Member { address: 0x2000, end: 0x2008, name: Vec::new() },
                ],
            }),
        },
    ]);

    #[test]
    fn a_split_file_has_a_metadata_and_a_raw_data_member() {
        let bytes = hex(include_str!("../../../tests/golden/driver_info_split.hex"));
        let block = DriverInfoBlock::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap();
        let DriverInfo::Multi(multi) = block.info else { panic!("{block:?}") };
        assert_eq!(multi.mapping, [1, 1, 3, 3, 1, 1]);
        let names: Vec<_> = multi.members.iter().map(|m| String::from_utf8_lossy(&m.name)).collect();
        assert_eq!(names, ["%s-m.h5", "%s-r.h5"]);
    }

    #[test]
    fn information_of_the_wrong_length_is_kept_as_it_is() {
        let info = DriverInfo::decode(*FAMILY, Decoder::new("t", 0, &[1, 2, 3]));
        assert_eq!(info, DriverInfo::Unknown { identification: *FAMILY, info: vec![1, 2, 3] });
    }

    #[test]
    fn refuses_members_that_the_mapping_does_not_name() {
        let multi = Multi { mapping: [1; 6], members: vec![] };
        assert!(DriverInfo::Multi(multi).encode().is_err());
    }
}
