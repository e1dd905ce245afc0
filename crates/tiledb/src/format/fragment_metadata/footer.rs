//! Footer: the start of the other structures of a fragment metadata file. New in version 3.
//!
//! Spec: TileDB format_spec, fragment.md "Footer" and "Optional section"

use super::FragmentContext;
use super::mbr::{self, Mbr};
use super::slots::Slots;
use crate::format::{Structure, field, version};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The content of the end of a fragment metadata file. Lists have an entry for each [slot](Slots).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footer {
    /// The format version of the fragment.
    pub version: u32,
    /// The name of the schema file that the fragment was written with. New in version 10.
    pub schema_name: Option<Vec<u8>>,
    /// Whether the fragment is dense.
    pub dense: bool,
    /// The rectangle around the cells that were written.
    pub non_empty_domain: Option<Mbr>,
    /// The number of tiles of a sparse fragment.
    pub sparse_tile_num: u64,
    /// The number of cells in the last tile of a sparse fragment, and in each tile of a dense one.
    pub last_tile_cell_num: u64,
    /// Whether cells have timestamps. New in version 14.
    pub has_timestamps: bool,
    /// Whether cells have a deletion time and a condition that deleted them. New in version 15.
    pub has_delete_metadata: bool,
    /// The sizes in bytes of files; for attributes of variable size, the size of the file of offsets.
    pub file_sizes: Vec<u64>,
    /// The sizes in bytes of files with values of variable size.
    pub file_var_sizes: Vec<u64>,
    /// The sizes in bytes of files with validities. New in version 7.
    pub file_validity_sizes: Vec<u64>,
    /// The start of each generic tile in the file.
    pub generic_tiles: GenericTileOffsets,
    /// Further sections. New in version 23.
    pub optional_sections: Vec<OptionalSection>,
}

/// The offset of each generic tile in a fragment metadata file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GenericTileOffsets {
    /// The [R-tree](super::r_tree).
    pub r_tree: u64,
    /// The [offsets](super::tile_offsets) of tiles.
    pub tile_offsets: Vec<u64>,
    /// The offsets of tiles with values of variable size.
    pub tile_var_offsets: Vec<u64>,
    /// The decoded sizes of tiles with values of variable size.
    pub tile_var_sizes: Vec<u64>,
    /// The offsets of tiles with validities. New in version 7.
    pub tile_validity_offsets: Vec<u64>,
    /// The [minimum values](super::tile_min_max) of tiles. New in version 11.
    pub tile_mins: Vec<u64>,
    /// The maximum values of tiles. New in version 11.
    pub tile_maxes: Vec<u64>,
    /// The [sums](super::tile_sums) of tiles. New in version 11.
    pub tile_sums: Vec<u64>,
    /// The null counts of tiles. New in version 11.
    pub tile_null_counts: Vec<u64>,
    /// The [summary](super::fragment_summary) of the fragment. New in version 12.
    pub fragment_summary: Option<u64>,
    /// An unused number: TileDB 2.30 ends footers of version 11 with a number where later versions have the offset of
    /// the summary, which it does not write. Footers of TileDB 2.7 end before it.
    pub unused: Option<u64>,
    /// The [processed conditions](super::processed_conditions). New in version 16.
    pub processed_conditions: Option<u64>,
}

/// A section of a footer that readers may ignore. New in version 23.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionalSection {
    /// The kind of section: see [`TILE_GLOBAL_ORDER`](Self::TILE_GLOBAL_ORDER).
    pub identifier: u64,
    /// Its bytes.
    pub data: Vec<u8>,
}

impl OptionalSection {
    /// The identifier of the section with the offsets of the generic tiles that contain, for each dimension of a sparse
    /// fragment, the first coordinates of tiles, then of those that contain the last coordinates, in global order.
    pub const TILE_GLOBAL_ORDER: u64 = 0;
}

impl Footer {
    /// The version and the schema name at the start of a footer, which determine the context to decode it.
    ///
    /// # Errors
    /// As [`Footer::decode`].
    pub fn beginning(d: &mut Decoder<'_>) -> Result<(u32, Option<Vec<u8>>)> {
        let at = d.clone();
        let version = version::decode(d)?;
        if version < 3 {
            return Err(at.malformed(format!("version {version}, which has no footer")));
        }
        if version < 10 {
            return Ok((version, None));
        }
        let at = d.clone();
        let name = field::bytes64(d)?;
        match name.is_empty() {
            true => Err(at.malformed("a schema name of 0 bytes")),
            false => Ok((version, Some(name))),
        }
    }

    /// The length of a footer in bytes. `None` if it is stored in the last 8 bytes of the file: since version 10, and
    /// earlier for arrays with a dimension of variable size.
    pub fn known_len(version: u32, context: &FragmentContext) -> Option<u64> {
        let domain = mbr::fixed_len(&context.coordinates).filter(|_| version < 10)? as u64;
        let slots = slots(version, context, false, false);
        let (all, var) = (slots.count(), slots.var_count());
        // Sizes of files and offsets of tiles; then the same for validities.
        let lists = match version < 7 {
            true => [all, var, all, var, var].iter().fold(0, |sum: u64, len| sum.saturating_add(*len)),
            false => all.saturating_mul(7),
        };
        let numbers = lists.saturating_add(3).saturating_mul(8);
        Some(numbers.saturating_add(domain).saturating_add(4 + 1 + 1))
    }

    /// The slots of the lists.
    pub fn slots(&self, context: &FragmentContext) -> Slots {
        slots(self.version, context, self.has_timestamps, self.has_delete_metadata)
    }
}

impl Structure for Footer {
    type Context = FragmentContext;
    const NAME: &'static str = "Footer";

    /// The bytes must end with the footer: this is the only way to know whether a footer of version 11 has its last
    /// number.
    fn decode(d: &mut Decoder<'_>, context: &FragmentContext) -> Result<Self> {
        let (version, schema_name) = Footer::beginning(d)?;
        let dense = field::boolean(d, "dense")?;
        let non_empty_domain = decode_non_empty_domain(d, context)?;
        let sparse_tile_num = d.u64()?;
        let last_tile_cell_num = d.u64()?;
        let has_timestamps = version >= 14 && field::boolean(d, "includes timestamps")?;
        let has_delete_metadata = version >= 15 && field::boolean(d, "includes delete metadata")?;
        let slots = slots(version, context, has_timestamps, has_delete_metadata);
        let file_sizes = field::u64s(d, slots.count())?;
        let file_var_sizes = field::u64s(d, slots.var_count())?;
        let file_validity_sizes = field::u64s(d, since(7, &slots))?;
        let generic_tiles = GenericTileOffsets::decode(d, &slots)?;
        let optional_sections = match version >= 23 {
            true => {
                let count = u64::from(d.u32()?);
                let count = d.count(count, 12)?;
                (0..count).map(|_| OptionalSection::decode(d, &())).collect::<Result<_>>()?
            }
            false => Vec::new(),
        };
        Ok(Footer {
            version,
            schema_name,
            dense,
            non_empty_domain,
            sparse_tile_num,
            last_tile_cell_num,
            has_timestamps,
            has_delete_metadata,
            file_sizes,
            file_var_sizes,
            file_validity_sizes,
            generic_tiles,
            optional_sections,
        })
    }

    fn encode(&self, e: &mut Encoder, context: &FragmentContext) -> Result<()> {
        let version = self.version;
        version::check(version)?;
        version::requires(3, version, true, "footers")?;
        version::requires(14, version, self.has_timestamps, "timestamps of cells")?;
        version::requires(15, version, self.has_delete_metadata, "times of deletion")?;
        version::requires(23, version, !self.optional_sections.is_empty(), "optional sections")?;
        e.u32(version);
        match (version >= 10, self.schema_name.as_deref()) {
            (true, None | Some([])) => {
                return Err(Error::invalid("a footer without schema name since version 10"));
            }
            (false, Some(_)) => return Err(Error::invalid("a footer with a schema name before version 10")),
            (true, Some(name)) => field::put_bytes64(e, name),
            (false, None) => {}
        }
        field::put_boolean(e, self.dense);
        encode_non_empty_domain(self.non_empty_domain.as_ref(), e, context)?;
        e.u64(self.sparse_tile_num);
        e.u64(self.last_tile_cell_num);
        if version >= 14 {
            field::put_boolean(e, self.has_timestamps);
        }
        if version >= 15 {
            field::put_boolean(e, self.has_delete_metadata);
        }
        let slots = self.slots(context);
        put_list(e, &self.file_sizes, slots.count())?;
        put_list(e, &self.file_var_sizes, slots.var_count())?;
        put_list(e, &self.file_validity_sizes, since(7, &slots))?;
        self.generic_tiles.encode(e, &slots)?;
        if version >= 23 {
            e.len_as(4, self.optional_sections.len())?;
            self.optional_sections.iter().try_for_each(|section| section.encode(e, &()))?;
        }
        Ok(())
    }
}

impl Structure for GenericTileOffsets {
    type Context = Slots;
    const NAME: &'static str = "Footer";

    fn decode(d: &mut Decoder<'_>, slots: &Slots) -> Result<Self> {
        let r_tree = d.u64()?;
        let tile_offsets = field::u64s(d, slots.count())?;
        let tile_var_offsets = field::u64s(d, slots.var_count())?;
        let tile_var_sizes = field::u64s(d, slots.var_count())?;
        let tile_validity_offsets = field::u64s(d, since(7, slots))?;
        let tile_mins = field::u64s(d, since(11, slots))?;
        let tile_maxes = field::u64s(d, since(11, slots))?;
        let tile_sums = field::u64s(d, since(11, slots))?;
        let tile_null_counts = field::u64s(d, since(11, slots))?;
        let fragment_summary = optional(d, slots.version >= 12)?;
        let unused = optional(d, slots.version == 11 && !d.is_empty())?;
        let processed_conditions = optional(d, slots.version >= 16)?;
        Ok(GenericTileOffsets {
            r_tree,
            tile_offsets,
            tile_var_offsets,
            tile_var_sizes,
            tile_validity_offsets,
            tile_mins,
            tile_maxes,
            tile_sums,
            tile_null_counts,
            fragment_summary,
            unused,
            processed_conditions,
        })
    }

    fn encode(&self, e: &mut Encoder, slots: &Slots) -> Result<()> {
        e.u64(self.r_tree);
        put_list(e, &self.tile_offsets, slots.count())?;
        put_list(e, &self.tile_var_offsets, slots.var_count())?;
        put_list(e, &self.tile_var_sizes, slots.var_count())?;
        put_list(e, &self.tile_validity_offsets, since(7, slots))?;
        put_list(e, &self.tile_mins, since(11, slots))?;
        put_list(e, &self.tile_maxes, since(11, slots))?;
        put_list(e, &self.tile_sums, since(11, slots))?;
        put_list(e, &self.tile_null_counts, since(11, slots))?;
        put_optional(e, self.fragment_summary, slots.version >= 12)?;
        put_optional(e, self.unused, slots.version == 11 && self.unused.is_some())?;
        put_optional(e, self.processed_conditions, slots.version >= 16)
    }
}

impl Structure for OptionalSection {
    type Context = ();
    const NAME: &'static str = "Optional section";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let identifier = d.u64()?;
        let data = field::bytes32(d)?;
        Ok(OptionalSection { identifier, data })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u64(self.identifier);
        field::put_bytes32(e, &self.data)
    }
}

/// The rectangle, or the same number of zeros if there is none. Writers leave zeros only for dimensions of fixed size.
fn decode_non_empty_domain(d: &mut Decoder<'_>, context: &FragmentContext) -> Result<Option<Mbr>> {
    let at = d.clone();
    match field::boolean(d, "null non-empty domain")? {
        false => Mbr::decode(d, &context.coordinates).map(Some),
        true => {
            let len = mbr::fixed_len(&context.coordinates)
                .ok_or_else(|| at.malformed("no non-empty domain, with dimensions of variable size"))?;
            d.reserved(len)?;
            Ok(None)
        }
    }
}

fn encode_non_empty_domain(domain: Option<&Mbr>, e: &mut Encoder, context: &FragmentContext) -> Result<()> {
    field::put_boolean(e, domain.is_none());
    match (domain, mbr::fixed_len(&context.coordinates)) {
        (Some(domain), _) => domain.encode(e, &context.coordinates),
        (None, Some(len)) => {
            e.reserved(len);
            Ok(())
        }
        (None, None) => Err(Error::invalid("no non-empty domain, with dimensions of variable size")),
    }
}

fn slots(version: u32, context: &FragmentContext, has_timestamps: bool, has_delete_metadata: bool) -> Slots {
    let (attributes, dimensions) = (context.attributes, context.coordinates.len());
    Slots { version, attributes, dimensions, has_timestamps, has_delete_metadata }
}

/// The length of lists that exist since a version.
fn since(version: u32, slots: &Slots) -> u64 {
    if slots.version < version { 0 } else { slots.count() }
}

fn put_list(e: &mut Encoder, list: &[u64], len: u64) -> Result<()> {
    if list.len() as u64 != len {
        return Err(Error::invalid(format!("a list of {} slots, expected {len}", list.len())));
    }
    field::put_u64s(e, list);
    Ok(())
}

fn optional(d: &mut Decoder<'_>, exists: bool) -> Result<Option<u64>> {
    exists.then(|| d.u64()).transpose()
}

fn put_optional(e: &mut Encoder, offset: Option<u64>, exists: bool) -> Result<()> {
    match (offset, exists) {
        (Some(offset), true) => e.u64(offset),
        (None, false) => {}
        _ => {
            return Err(Error::invalid(
                "an offset that its version lacks, or lacks one that its version has",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
