//! File Space Info message, type 0x0017.
//!
//! Spec: HDF5 IV.A.2.x

use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The management of free space in the file. In the superblock extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSpaceInfo {
    /// Version 0, of libhdf5 1.10.0.
    V0 {
        /// The file space strategy.
        strategy: StrategyV0,
        /// The minimum size in bytes of a free section that is tracked.
        threshold: u64,
    },
    /// Version 1, since libhdf5 1.10.1.
    V1 {
        /// The file space strategy.
        strategy: StrategyV1,
        /// The minimum size in bytes of a free section that is tracked.
        threshold: u64,
        /// The size of a page in bytes.
        page_size: u64,
        /// The minimum size in bytes of a free section at the end of a metadata page that is tracked.
        page_end_threshold: u16,
        /// The end of allocated space before the free-space managers were allocated.
        end_of_allocation: Address,
        /// The addresses of the free-space managers if they persist: six for small sections, six for large ones.
        managers: Option<[Address; 12]>,
    },
}

/// The file space strategy in version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyV0 {
    /// Free-space managers that persist, aggregators and the file driver.
    AllPersist {
        /// The addresses of the managers, by type of storage.
        managers: [Address; 6],
    },
    /// Free-space managers, aggregators and the file driver.
    All,
    /// Aggregators and the file driver.
    AggregatorsAndDriver,
    /// The file driver.
    Driver,
}

/// The file space strategy in version 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StrategyV1 {
    /// Free-space managers, aggregators and the file driver.
    FreeSpaceManagersAndAggregators = 0,
    /// Paged allocation.
    Page = 1,
    /// Aggregators and the file driver.
    Aggregators = 2,
    /// The file driver.
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
        return Err(at.malformed(format!("page size {page_size}, expected 1 to {MAX_PAGE_SIZE}")));
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

/// The maximum in libhdf5.
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
    fn version_0_has_manager_addresses_only_if_they_persist() {
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
    fn round_trips_with_narrow_sizes() {
        let narrow = include_str!("../../../tests/golden/message_file_space_info_v1_narrow.hex");
        structure_tests::golden::<FileSpaceInfo>(&[narrow], &Sizes { offsets: 4, lengths: 4 });
    }

    #[test]
    fn rejects_page_size_0() {
        assert!(FileSpaceInfo::decode(&mut Decoder::new("t", 0, &[1; 100]), &Sizes::DEFAULT).is_err());
        let mut bytes = [0; 100];
        bytes[0] = 1;
        assert!(FileSpaceInfo::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).is_err());
    }
}
