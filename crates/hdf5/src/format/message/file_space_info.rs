//! File Space Info message, type 0x0017.
//!
//! Spec: HDF5 IV.A.2.x

use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// How free space of the file is managed; stands in the superblock extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSpaceInfo {
    /// Of libhdf5 1.10.0.
    V0 {
        /// How space is given out.
        strategy: StrategyV0,
        /// Smaller free sections are not tracked.
        threshold: u64,
    },
    /// Since libhdf5 1.10.1.
    V1 {
        /// How space is given out.
        strategy: StrategyV1,
        /// Smaller free sections are not tracked.
        threshold: u64,
        /// Bytes of a page.
        page_size: u64,
        /// Smaller sections at the end of a page of metadata are not tracked.
        page_end_threshold: u16,
        /// The end of the file before the free-space managers were allocated.
        end_of_allocation: Address,
        /// Where free-space managers are, if they persist: six of small and six of large sections.
        managers: Option<[Address; 12]>,
    },
}

/// How space is given out in version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyV0 {
    /// By free-space managers that persist, aggregators and the driver.
    AllPersist {
        /// Where the managers are, by type of storage.
        managers: [Address; 6],
    },
    /// By free-space managers, aggregators and the driver.
    All,
    /// By aggregators and the driver.
    AggregatorsAndDriver,
    /// By the driver.
    Driver,
}

/// How space is given out in version 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StrategyV1 {
    /// By free-space managers, aggregators and the driver.
    FreeSpaceManagersAndAggregators = 0,
    /// In pages.
    Page = 1,
    /// By aggregators and the driver.
    Aggregators = 2,
    /// By the driver.
    None = 3,
}

impl Structure for FileSpaceInfo {
    type Context = Sizes;
    const NAME: &'static str = "File Space Info message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        match d.u8()? {
            0 => decode_v0(d, sizes),
            1 => decode_v1(d, sizes),
            other => Err(at.unsupported(format!("version {other}, expected 0 or 1"))),
        }
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        match self {
            FileSpaceInfo::V0 { strategy, threshold } => {
                e.u8(0);
                e.u8(match strategy {
                    StrategyV0::AllPersist { .. } => 1,
                    StrategyV0::All => 2,
                    StrategyV0::AggregatorsAndDriver => 3,
                    StrategyV0::Driver => 4,
                });
                sizes.put_length(e, *threshold)?;
                match strategy {
                    StrategyV0::AllPersist { managers } => put_addresses(e, sizes, managers),
                    _ => Ok(()),
                }
            }
            FileSpaceInfo::V1 {
                strategy,
                threshold,
                page_size,
                page_end_threshold,
                end_of_allocation,
                managers,
            } => {
                e.u8(1);
                e.u8(*strategy as u8);
                e.u8(managers.is_some().into());
                sizes.put_length(e, *threshold)?;
                sizes.put_length(e, *page_size)?;
                e.u16(*page_end_threshold);
                sizes.put_address(e, *end_of_allocation)?;
                managers.as_ref().map_or(Ok(()), |managers| put_addresses(e, sizes, managers))
            }
        }
    }
}

impl HeaderMessage for FileSpaceInfo {
    const TYPE: MessageType = MessageType::FILE_SPACE_INFO;
}

fn decode_v0(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<FileSpaceInfo> {
    let at = d.clone();
    let code = d.u8()?;
    let threshold = sizes.length(d)?;
    let strategy = match code {
        1 => StrategyV0::AllPersist { managers: addresses(d, sizes)? },
        2 => StrategyV0::All,
        3 => StrategyV0::AggregatorsAndDriver,
        4 => StrategyV0::Driver,
        other => return Err(at.unsupported(format!("strategy {other}, expected 1 to 4"))),
    };
    Ok(FileSpaceInfo::V0 { strategy, threshold })
}

fn decode_v1(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<FileSpaceInfo> {
    let at = d.clone();
    let strategy = match d.u8()? {
        0 => StrategyV1::FreeSpaceManagersAndAggregators,
        1 => StrategyV1::Page,
        2 => StrategyV1::Aggregators,
        3 => StrategyV1::None,
        other => return Err(at.unsupported(format!("strategy {other}, expected 0 to 3"))),
    };
    let persists = d.u8()? != 0;
    let threshold = sizes.length(d)?;
    let at = d.clone();
    // DIFFERENCE: the specification draws four bytes, libhdf5 writes a length.
    let page_size = sizes.length(d)?;
    if page_size == 0 || page_size > MAX_PAGE_SIZE {
        return Err(at.malformed(format!("pages of {page_size} bytes, expected 1 to {MAX_PAGE_SIZE}")));
    }
    Ok(FileSpaceInfo::V1 {
        strategy,
        threshold,
        page_size,
        page_end_threshold: d.u16()?,
        end_of_allocation: sizes.address(d)?,
        managers: if persists { Some(addresses(d, sizes)?) } else { None },
    })
}

fn addresses<const N: usize>(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<[Address; N]> {
    let mut addresses = [Address::UNDEFINED; N];
    for address in &mut addresses {
        *address = sizes.address(d)?;
    }
    Ok(addresses)
}

fn put_addresses(e: &mut Encoder, sizes: &Sizes, addresses: &[Address]) -> Result<()> {
    addresses.iter().try_for_each(|address| sizes.put_address(e, *address))
}

/// That of libhdf5.
const MAX_PAGE_SIZE: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{self, structure_tests};

    fn v0(strategy: StrategyV0) -> FileSpaceInfo {
        FileSpaceInfo::V0 { strategy, threshold: 1 }
    }

    structure_tests!(FileSpaceInfo, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/message_file_space_info_v1_page.hex"),
        include_str!("../../../tests/golden/message_file_space_info_v1_persist.hex"),
        include_str!("../../../tests/golden/message_file_space_info_v1_none.hex"),
    ],
    values: [
        v0(StrategyV0::AllPersist { managers: [Address(1); 6] }),
        v0(StrategyV0::All),
        v0(StrategyV0::AggregatorsAndDriver),
        v0(StrategyV0::Driver),
    ]);

    #[test]
    fn version_0_has_addresses_only_if_all_is_kept() {
        let mut bytes = vec![0, 1];
        (0..7_u64).for_each(|number| bytes.extend(number.to_le_bytes()));
        let decode = |bytes: &[u8]| FileSpaceInfo::decode(&mut Decoder::new("t", 0, bytes), &Sizes::DEFAULT);
        let managers = [1, 2, 3, 4, 5, 6].map(Address);
        let kept = FileSpaceInfo::V0 { strategy: StrategyV0::AllPersist { managers }, threshold: 0 };
        assert_eq!(decode(&bytes).unwrap(), kept);
        bytes.truncate(10);
        assert!(decode(&bytes).is_err());
        bytes[1] = 2;
        assert_eq!(decode(&bytes).unwrap(), FileSpaceInfo::V0 { strategy: StrategyV0::All, threshold: 0 });
    }

    #[test]
    fn narrow_sizes_return() {
        let narrow = include_str!("../../../tests/golden/message_file_space_info_v1_narrow.hex");
        structure_tests::golden::<FileSpaceInfo>(&[narrow], &Sizes { offsets: 4, lengths: 4 });
    }

    #[test]
    fn rejects_pages_of_no_bytes() {
        assert!(FileSpaceInfo::decode(&mut Decoder::new("t", 0, &[1; 100]), &Sizes::DEFAULT).is_err());
        let mut bytes = [0; 100];
        bytes[0] = 1;
        assert!(FileSpaceInfo::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).is_err());
    }
}
