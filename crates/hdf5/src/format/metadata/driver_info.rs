//! Driver information block. The message of type 0x0014 holds the same driver information.
//!
//! Spec: HDF5 II.B Disk Format: Level 0B - File Driver Info

use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Information of the file driver that wrote a file with a superblock of version 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfoBlock {
    /// The driver information.
    pub info: DriverInfo,
}

/// The driver information, by driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverInfo {
    /// `NCSAmulti`: the data is in several files, by kind of data.
    Multi(Multi),
    /// `NCSAfami`: the data is in a family of files of equal size.
    Family {
        /// The size of each member file in bytes.
        member_size: u64,
    },
    /// Another driver, or information that does not have the length of its driver.
    Unknown {
        /// The driver identification, eight characters.
        identification: [u8; 8],
        /// The driver information, not decoded.
        info: Vec<u8>,
    },
}

/// The member files of the multi driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multi {
    /// For superblock, B-trees, raw data, global heaps, local heaps and object headers, in this order: the kind (1 to
    /// 6, in the same order) whose member file holds it. 0 for its own member file.
    pub mapping: [u8; 6],
    /// The distinct member files, in the order of their kinds.
    pub members: Vec<Member>,
}

/// One member file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The address in the address space of the whole at which the member begins.
    pub address: u64,
    /// The end of its allocated space.
    pub end: u64,
    /// The file name, in which `%s` stands for the base name.
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
    /// The driver identification, eight characters.
    pub fn identification(&self) -> [u8; 8] {
        match self {
            DriverInfo::Multi(_) => *MULTI,
            DriverInfo::Family { .. } => *FAMILY,
            DriverInfo::Unknown { identification, .. } => *identification,
        }
    }

    /// Decodes all remaining bytes of `d` as the information of a driver.
    pub fn decode(identification: [u8; 8], d: Decoder<'_>) -> Self {
        let known = match &identification {
            MULTI => Multi::decode(d.clone()).map(DriverInfo::Multi),
            FAMILY => family(d.clone()),
            _ => Err(d.unsupported("unknown file driver, expected NCSAmult or NCSAfami")),
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
                "{} member files, expected {} as in the mapping",
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

/// The number of distinct member files of a mapping.
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
    fn keeps_information_of_the_wrong_length() {
        let info = DriverInfo::decode(*FAMILY, Decoder::new("t", 0, &[1, 2, 3]));
        assert_eq!(info, DriverInfo::Unknown { identification: *FAMILY, info: vec![1, 2, 3] });
    }

    #[test]
    fn rejects_members_that_are_not_in_the_mapping() {
        let multi = Multi { mapping: [1; 6], members: vec![] };
        assert!(DriverInfo::Multi(multi).encode().is_err());
    }
}
