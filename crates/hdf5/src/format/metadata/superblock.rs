//! Superblock, versions 0 to 3.
//!
//! Spec: HDF5 II.A Disk Format: Level 0A - Format Signature and Superblock

use crate::format::infrastructure::SymbolTableEntry;
use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The first eight bytes of every superblock.
pub const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

/// The superblock: the entry point of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// The widths of addresses and lengths in the whole file.
    pub sizes: Sizes,
    /// The base address, to which all other addresses are relative, as stored.
    pub base_address: Address,
    /// The end of file address, as stored.
    pub end_of_file: Address,
    /// The file consistency flags; see [`Superblock::is_open_for_writing`]. One byte since version 2.
    pub consistency_flags: u32,
    /// The version, with its own fields.
    pub version: Version,
}

/// The version of a superblock, with its own fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// Version 0.
    V0(SymbolTableRoot),
    /// Version 1.
    V1 {
        /// The fields that version 0 also has.
        root: SymbolTableRoot,
        /// Half the maximum number of entries of a B-tree node that indexes chunks.
        indexed_storage_k: u16,
    },
    /// Version 2.
    V2(ObjectHeaderRoot),
    /// Version 3, which gives the consistency flags a meaning.
    V3(ObjectHeaderRoot),
}

/// The fields of superblocks of versions 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolTableRoot {
    /// Half the maximum number of entries of a symbol table node.
    pub group_leaf_k: u16,
    /// Half the maximum number of entries of a group B-tree node.
    pub group_internal_k: u16,
    /// The address of the free-space information, which no library has ever written.
    pub free_space: Address,
    /// The address of the driver information block.
    pub driver_info: Address,
    /// The symbol table entry of the root group.
    pub entry: SymbolTableEntry,
}

/// The fields of superblocks of versions 2 and 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectHeaderRoot {
    /// The address of the object header of the superblock extension.
    pub extension: Address,
    /// The address of the object header of the root group.
    pub object_header: Address,
}

impl Superblock {
    /// The maximum size of a superblock in bytes: version 1 with addresses of 32 bytes.
    pub const MAX_LEN: u64 = 28 + 6 * 32 + 24;

    /// The version number.
    pub fn version_number(&self) -> u8 {
        match self.version {
            Version::V0(_) => 0,
            Version::V1 { .. } => 1,
            Version::V2(_) => 2,
            Version::V3(_) => 3,
        }
    }

    /// The address of the object header of the root group.
    pub fn root_object_header(&self) -> Address {
        match &self.version {
            Version::V0(root) | Version::V1 { root, .. } => root.entry.object_header,
            Version::V2(root) | Version::V3(root) => root.object_header,
        }
    }

    /// The address of the object header of the superblock extension; undefined before version 2.
    pub fn extension(&self) -> Address {
        match &self.version {
            Version::V0(_) | Version::V1 { .. } => Address::UNDEFINED,
            Version::V2(root) | Version::V3(root) => root.extension,
        }
    }

    /// The address of the driver information block. Since version 2 a message of the extension replaces it.
    pub fn driver_info(&self) -> Address {
        match &self.version {
            Version::V0(root) | Version::V1 { root, .. } => root.driver_info,
            Version::V2(_) | Version::V3(_) => Address::UNDEFINED,
        }
    }

    /// Whether a writer has the file open, or did not close it. Only version 3 defines this: in older versions the
    /// flags may have any value.
    pub fn is_open_for_writing(&self) -> bool {
        self.flag(OPEN_FOR_WRITING)
    }

    /// Whether this writer allows concurrent readers (SWMR).
    pub fn is_open_for_swmr_writing(&self) -> bool {
        self.flag(OPEN_FOR_SWMR_WRITING)
    }

    fn flag(&self, bit: u32) -> bool {
        matches!(self.version, Version::V3(_)) && self.consistency_flags & bit != 0
    }
}

impl Structure for Superblock {
    type Context = ();
    const NAME: &'static str = "Superblock";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let start = d.clone();
        d.signature(&SIGNATURE)?;
        let at = d.clone();
        match d.u8()? {
            0 => decode_symbol_table_root(d, false),
            1 => decode_symbol_table_root(d, true),
            2 => decode_object_header_root(&start, d, Version::V2),
            3 => decode_object_header_root(&start, d, Version::V3),
            other => Err(at.unsupported(format!("version {other}, expected 0 to 3"))),
        }
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        let start = e.len();
        e.bytes(&SIGNATURE);
        e.u8(self.version_number());
        match &self.version {
            Version::V0(root) => self.encode_symbol_table_root(e, root, None),
            Version::V1 { root, indexed_storage_k } => {
                self.encode_symbol_table_root(e, root, Some(*indexed_storage_k))
            }
            Version::V2(root) | Version::V3(root) => {
                self.encode_object_header_root(e, root)?;
                append_checksum(e, start)
            }
        }
    }
}

fn decode_symbol_table_root(d: &mut Decoder<'_>, has_indexed_storage_k: bool) -> Result<Superblock> {
    part_version(d, "free-space information")?;
    part_version(d, "root group symbol table entry")?;
    d.reserved(1)?;
    part_version(d, "shared header message format")?;
    let sizes = decode_sizes(d)?;
    d.reserved(1)?;
    let group_leaf_k = d.u16()?;
    let group_internal_k = d.u16()?;
    let consistency_flags = d.u32()?;
    let indexed_storage_k = if has_indexed_storage_k { Some(d.u16()?) } else { None };
    if has_indexed_storage_k {
        d.reserved(2)?;
    }
    let base_address = sizes.address(d)?;
    let free_space = sizes.address(d)?;
    let end_of_file = sizes.address(d)?;
    let driver_info = sizes.address(d)?;
    let entry = SymbolTableEntry::decode(d, &sizes)?;
    let root = SymbolTableRoot { group_leaf_k, group_internal_k, free_space, driver_info, entry };
    let version = match indexed_storage_k {
        Some(indexed_storage_k) => Version::V1 { root, indexed_storage_k },
        None => Version::V0(root),
    };
    Ok(Superblock { sizes, base_address, end_of_file, consistency_flags, version })
}

fn decode_object_header_root(
    start: &Decoder<'_>,
    d: &mut Decoder<'_>,
    version: fn(ObjectHeaderRoot) -> Version,
) -> Result<Superblock> {
    let sizes = decode_sizes(d)?;
    let consistency_flags = d.u8()?.into();
    let base_address = sizes.address(d)?;
    let extension = sizes.address(d)?;
    let end_of_file = sizes.address(d)?;
    let object_header = sizes.address(d)?;
    verify_checksum(start, d)?;
    let version = version(ObjectHeaderRoot { extension, object_header });
    Ok(Superblock { sizes, base_address, end_of_file, consistency_flags, version })
}

impl Superblock {
    fn encode_symbol_table_root(
        &self,
        e: &mut Encoder,
        root: &SymbolTableRoot,
        indexed_storage_k: Option<u16>,
    ) -> Result<()> {
        e.bytes(&[0, 0, 0, 0]);
        self.encode_sizes(e)?;
        e.reserved(1);
        e.u16(root.group_leaf_k);
        e.u16(root.group_internal_k);
        e.u32(self.consistency_flags);
        if let Some(k) = indexed_storage_k {
            e.u16(k);
            e.reserved(2);
        }
        self.sizes.put_address(e, self.base_address)?;
        self.sizes.put_address(e, root.free_space)?;
        self.sizes.put_address(e, self.end_of_file)?;
        self.sizes.put_address(e, root.driver_info)?;
        root.entry.encode(e, &self.sizes)
    }

    fn encode_object_header_root(&self, e: &mut Encoder, root: &ObjectHeaderRoot) -> Result<()> {
        self.encode_sizes(e)?;
        e.uint(1, self.consistency_flags.into())?;
        self.sizes.put_address(e, self.base_address)?;
        self.sizes.put_address(e, root.extension)?;
        self.sizes.put_address(e, self.end_of_file)?;
        self.sizes.put_address(e, root.object_header)
    }

    fn encode_sizes(&self, e: &mut Encoder) -> Result<()> {
        for width in [self.sizes.offsets, self.sizes.lengths] {
            if ![2, 4, 8, 16, 32].contains(&width) {
                return Err(Error::invalid(format!(
                    "size of offsets or lengths {width}, expected 2, 4, 8, 16 or 32"
                )));
            }
            e.u8(width);
        }
        Ok(())
    }
}

fn decode_sizes(d: &mut Decoder<'_>) -> Result<Sizes> {
    let offsets = decode_size(d, "offsets")?;
    let lengths = decode_size(d, "lengths")?;
    Ok(Sizes { offsets, lengths })
}

fn decode_size(d: &mut Decoder<'_>, of: &str) -> Result<u8> {
    let at = d.clone();
    match d.u8()? {
        size @ (2 | 4 | 8 | 16 | 32) => Ok(size),
        size => Err(at.malformed(format!("{of} of {size} bytes, expected 2, 4, 8, 16 or 32"))),
    }
}

/// Superblocks of versions 0 and 1 store versions of their parts, which have always been 0.
fn part_version(d: &mut Decoder<'_>, part: &str) -> Result<()> {
    let at = d.clone();
    match d.u8()? {
        0 => Ok(()),
        other => Err(at.unsupported(format!("{part} version {other}, expected 0"))),
    }
}

const OPEN_FOR_WRITING: u32 = 1 << 0;
const OPEN_FOR_SWMR_WRITING: u32 = 1 << 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::infrastructure::symbol_table_entry::Cache;
    use crate::format::structure_tests::{hex, structure_tests};
    use hyperslab_core::ErrorKind;

    fn old_root() -> SymbolTableRoot {
        SymbolTableRoot {
            group_leaf_k: 5,
            group_internal_k: 17,
            free_space: Address::UNDEFINED,
            driver_info: Address(0x60),
            entry: SymbolTableEntry { name_offset: 8, object_header: Address(0x99), cache: Cache::Nothing },
        }
    }

    fn superblock(offsets: u8, lengths: u8, version: Version) -> Superblock {
        Superblock {
            sizes: Sizes { offsets, lengths },
            base_address: Address(0x200),
            end_of_file: Address(0x1234),
            consistency_flags: 5,
            version,
        }
    }

    fn new_root() -> ObjectHeaderRoot {
        ObjectHeaderRoot { extension: Address::UNDEFINED, object_header: Address(0x30) }
    }

    structure_tests!(Superblock, context: (),
    golden: [
        include_str!("../../../tests/golden/superblock_v0.hex"),
        include_str!("../../../tests/golden/superblock_v0_user_block.hex"),
        include_str!("../../../tests/golden/superblock_v0_driver_info.hex"),
        include_str!("../../../tests/golden/superblock_v0_narrow.hex"),
        include_str!("../../../tests/golden/superblock_v2.hex"),
        include_str!("../../../tests/golden/superblock_v3.hex"),
        include_str!("../../../tests/golden/superblock_v3_open.hex"),
        include_str!("../../../tests/golden/superblock_v3_extension.hex"),
    ],
    values: [
        superblock(4, 8, Version::V0(old_root())),
        superblock(8, 4, Version::V1 { root: old_root(), indexed_storage_k: 33 }),
        superblock(2, 2, Version::V2(new_root())),
        superblock(8, 8, Version::V3(new_root())),
        superblock(16, 32, Version::V2(new_root())),
        superblock(32, 16, Version::V1 { root: old_root(), indexed_storage_k: 33 }),
    ]);

    fn decode(text: &str) -> Result<Superblock> {
        let bytes = hex(text);
        Superblock::decode(&mut Decoder::new("superblock", 0, &bytes), &())
    }

    #[test]
    fn only_version_3_has_consistency_flags() {
        let open = decode(include_str!("../../../tests/golden/superblock_v3_open.hex")).unwrap();
        assert!(open.is_open_for_writing() && open.is_open_for_swmr_writing());
        let closed = decode(include_str!("../../../tests/golden/superblock_v3.hex")).unwrap();
        assert!(!closed.is_open_for_writing() && !closed.is_open_for_swmr_writing());
        let older = superblock(8, 8, Version::V2(new_root()));
        assert!(!older.is_open_for_writing() && !older.is_open_for_swmr_writing());
    }

    #[test]
    fn rejects_sizes_that_are_not_powers_of_two_up_to_32() {
        let mut bytes = hex(include_str!("../../../tests/golden/superblock_v0.hex"));
        for size in [0, 1, 3, 64] {
            bytes[13] = size;
            let e = Superblock::decode(&mut Decoder::new("superblock", 0, &bytes), &()).unwrap_err();
            assert_eq!((e.kind(), e.place().unwrap().offset), (ErrorKind::Malformed, 13));
        }
        bytes[8] = 4;
        let e = Superblock::decode(&mut Decoder::new("superblock", 0, &bytes), &()).unwrap_err();
        assert_eq!(e.to_string(), "unsupported superblock at byte 0x8: version 4, expected 0 to 3");
    }

    #[test]
    fn rejects_a_changed_byte_by_the_checksum() {
        let mut bytes = hex(include_str!("../../../tests/golden/superblock_v3.hex"));
        bytes[20] ^= 1;
        let e = Superblock::decode(&mut Decoder::new("superblock", 0, &bytes), &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Checksum);
    }
}
