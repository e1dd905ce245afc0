//! The filters of a pipeline, applied to tiles of one type.

use super::bit_width_reduction::BitWidthReduction;
use super::checksum::Checksum;
use super::chunk::{self, Chunk, Chunks};
use super::compression::Compression;
use super::encryption::{Encryption, Key};
use super::number::Integer;
use super::part::{Filtered, Output, Part, Transform, Work};
use super::pieces::Pieces;
use super::positive_delta::PositiveDelta;
use super::scale_float::ScaleFloat;
use super::shuffle::Shuffle;
use super::strings::{StringFilter, Strings};
use super::tile_type::TileType;
use super::webp::Webp;
use super::xor::Xor;
use crate::format::data_type::DataType;
use crate::format::filter_pipeline::{Filter, FilterPipeline};
use hyperslab_core::memory::check_memory;
use hyperslab_core::{Decoder, Error, Result};

/// The filters of a pipeline, prepared for tiles of one type.
///
/// ```
/// use hyperslab_core::Decoder;
/// use hyperslab_tiledb::filter::{Pipeline, Scratch, TileType};
/// use hyperslab_tiledb::format::filter_pipeline::{Filter, FilterPipeline};
///
/// let stored = FilterPipeline { max_chunk_size: 65_536, filters: vec![Filter::Rle { level: -1 }] };
/// let pipeline = Pipeline::new(&stored, &TileType::validity(22))?;
/// let (mut tile, mut back, mut scratch) = (Vec::new(), Vec::new(), Scratch::new());
/// pipeline.encode(&[1; 1000], &mut tile, &mut scratch)?;
/// assert_eq!(tile.len(), 8 + 12 + 16 + 3);
/// pipeline.decode(Decoder::new("Tile", 0, &tile), 1000, &mut back, &mut scratch)?;
/// assert_eq!(back, [1; 1000]);
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
pub struct Pipeline {
    /// The filter of strings that comes before all steps.
    strings: Option<StringFilter>,
    steps: Vec<Step>,
    /// The first step that changes data. Those before it are checksums.
    first: Option<usize>,
    cell_size: usize,
    is_chunked: bool,
    verify: bool,
}

/// Buffers that are reused from tile to tile. Each thread needs its own.
#[derive(Default)]
pub struct Scratch {
    held: Filtered,
    spare: Filtered,
    work: Work,
}

/// One filter. Filters that never change anything are not steps.
enum Step {
    /// Changes only metadata.
    Checksum(Checksum),
    Encryption(Encryption),
    Transform(Box<dyn Transform>),
}

/// The location of a chunk between two steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// As given by the caller.
    Given,
    /// In a buffer.
    Held,
    /// At its place in the tile.
    Placed,
}

impl Scratch {
    /// An empty scratch; nothing is allocated yet.
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// The capacity of all buffers in bytes. A caller that keeps the scratch can drop it if this is too much.
    pub fn held(&self) -> usize {
        let Scratch { held, spare, work } = self;
        let own = [&held.metadata, &held.data, &spare.metadata, &spare.data, &work.buffer];
        own.iter().map(|buffer| buffer.capacity()).sum::<usize>() + work.codec.held()
    }
}

impl Pipeline {
    /// The filters of a stored pipeline, for tiles of one type.
    ///
    /// The pipeline of an encrypted array must end with [`Filter::Encryption`], which schemas do not store:
    /// [`FilterPipeline::encrypted`].
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if a filter does not exist for the datatype that reaches
    /// it, or its options are wrong.
    pub fn new(stored: &FilterPipeline, tile: &TileType) -> Result<Pipeline> {
        let strings = string_filter(stored, tile);
        let mut steps = Vec::with_capacity(stored.filters.len());
        let mut data_type = tile.data_type;
        for filter in stored.filters.iter().skip(usize::from(strings.is_some())) {
            let named = |e: Error| e.map_detail(|detail| format!("filter {}: {detail}", filter.name()));
            steps.extend(step(filter, data_type, tile).map_err(named)?);
            data_type = output(filter, data_type);
        }
        let first = steps.iter().position(|step| !matches!(step, Step::Checksum(_)));
        let holds_image = stored.filters.iter().any(|filter| matches!(filter, Filter::Webp(_)));
        Ok(Pipeline {
            strings,
            steps,
            first,
            cell_size: usize::try_from(tile.cell_size).unwrap_or(usize::MAX),
            is_chunked: stored.max_chunk_size > 0 && !holds_image,
            verify: true,
        })
    }

    /// The same pipeline with the key of an encrypted array.
    #[must_use]
    pub fn with_key(mut self, key: &Key) -> Pipeline {
        for step in &mut self.steps {
            if let Step::Encryption(encryption) = step {
                encryption.set_key(key);
            }
        }
        self
    }

    /// The same pipeline without comparing checksums. Encrypted tiles are always verified.
    #[must_use]
    pub fn without_verification(mut self) -> Pipeline {
        self.verify = false;
        self
    }

    /// Whether tiles have strings whose offsets are not stored but rebuilt. Such tiles are decoded with
    /// [`Pipeline::decode_strings`], and the tile of offsets has no chunks.
    pub fn rebuilds_offsets(&self) -> bool {
        self.strings.is_some()
    }

    /// Decodes a tile, which ends where the bytes of `tile` end. It replaces the content of `out`.
    ///
    /// Memory is bounded by a small multiple of `limit`, whatever the bytes of the tile contain.
    ///
    /// # Errors
    /// [`LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) for more than `limit` bytes,
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if the tile cannot be decoded,
    /// [`Checksum`](hyperslab_core::ErrorKind::Checksum) if a checksum does not match or the key is wrong,
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) without the key of an encrypted array.
    pub fn decode(
        &self,
        tile: Decoder<'_>,
        limit: u64,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let chunks = Chunks::of(tile)?;
        let len = chunks.len_within(limit)?;
        check_memory(len)?;
        out.truncate(len);
        out.resize(len, 0);
        self.decode_chunks(&chunks, out, scratch)
    }

    /// Decodes a tile with a known decoded size directly to its destination.
    ///
    /// # Errors
    /// As [`Pipeline::decode`]; [`Malformed`](hyperslab_core::ErrorKind::Malformed) if the tile has another size.
    pub fn decode_to(&self, tile: Decoder<'_>, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let at = tile.clone();
        let chunks = Chunks::of(tile)?;
        if chunks.len != out.len() as u64 {
            return Err(at.malformed(format!("a tile of {} bytes, expected {}", chunks.len, out.len())));
        }
        self.decode_chunks(&chunks, out, scratch)
    }

    /// Decodes a tile of strings whose offsets are not stored. The bytes of the strings, and the start of each, replace
    /// the content of `out` and `offsets`.
    ///
    /// # Errors
    /// As [`Pipeline::decode`]. `limit` counts 8 bytes for each offset.
    pub fn decode_strings(
        &self,
        tile: Decoder<'_>,
        limit: u64,
        out: &mut Vec<u8>,
        offsets: &mut Vec<u64>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Some(filter) = self.strings else {
            return Err(Error::invalid("offsets are stored, expected a filter that rebuilds them"));
        };
        let at = tile.clone();
        let chunks = Chunks::of(tile)?;
        if chunks.count() > 1 {
            return Err(at.malformed(format!("{} chunks of strings, expected 1", chunks.count())));
        }
        chunks.len_within(limit)?;
        let mut strings = Strings::new(out, offsets, limit);
        for chunk in chunks.iter() {
            let chunk = chunk?;
            let undone = self.undo(&chunk, None, max_between(limit), scratch);
            let decoded = undone.and_then(|(at, skip)| {
                let data = if at == At::Given { chunk.part.data } else { &scratch.held.data };
                filter.decode(Part { data, ..scratch.metadata(&chunk, at, skip) }, &mut strings)
            });
            decoded.map_err(|e| e.at_place(chunk.place.clone()))?;
            strings.check_len(chunk.len).map_err(|e| e.at_place(chunk.place))?;
        }
        Ok(())
    }

    /// Filters a tile of cells of one size, and appends it to `out`.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for values that a filter cannot represent, or a
    /// missing key; [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for lossy WebP.
    pub fn encode(&self, tile: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        if self.strings.is_some() {
            return Err(Error::invalid("strings without their offsets, which this filter needs"));
        }
        let size = if self.is_chunked { chunk::size(tile.len(), self.cell_size) } else { tile.len() };
        let chunks = tile.chunks(size.max(1));
        out.extend_from_slice(&(chunks.len() as u64).to_le_bytes());
        chunks.into_iter().try_for_each(|chunk| self.encode_chunk(chunk, out, scratch))
    }

    /// Filters a tile of cells that differ in size, and appends it to `out`. `offsets` are the starts of cells in
    /// `tile`.
    ///
    /// # Errors
    /// As [`Pipeline::encode`]; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for offsets that do not
    /// ascend from 0.
    pub fn encode_variable(
        &self,
        tile: &[u8],
        offsets: &[u64],
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if let Some(filter) = self.strings {
            out.extend_from_slice(&u64::from(!offsets.is_empty()).to_le_bytes());
            if offsets.is_empty() {
                return Ok(());
            }
            filter.encode(tile, offsets, &mut scratch.held)?;
            return self.finish_chunk(tile, At::Held, out, scratch);
        }
        let size = if self.is_chunked { chunk::size(tile.len(), self.cell_size) } else { usize::MAX };
        let chunks = chunk::cut(tile, offsets, size)?;
        out.extend_from_slice(&(chunks.len() as u64).to_le_bytes());
        chunks.into_iter().try_for_each(|chunk| self.encode_chunk(chunk, out, scratch))
    }

    pub(super) fn decode_chunks(
        &self,
        chunks: &Chunks<'_>,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if self.strings.is_some() {
            return Err(Error::invalid("strings whose offsets must be rebuilt"));
        }
        let mut left = out;
        for chunk in chunks.iter() {
            let chunk = chunk?;
            let Some((place, rest)) = std::mem::take(&mut left).split_at_mut_checked(chunk.len) else {
                return Err(Error::malformed("chunks exceed their tile").at_place(chunk.place));
            };
            left = rest;
            if chunk.len > 0 {
                let decoded = self.decode_chunk(&chunk, place, scratch);
                decoded.map_err(|e| e.at_place(chunk.place))?;
            }
        }
        Ok(())
    }

    /// The chunks of a tile of `len` bytes, each with whole cells of `cell` bytes, to be decoded one by one or skipped.
    /// If a cell is cut, the tile is one piece.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if the tile has another size or does not end with its
    /// chunks.
    pub(crate) fn pieces<'a>(&'a self, tile: Decoder<'a>, len: u64, cell: usize) -> Result<Pieces<'a>> {
        let at = tile.clone();
        let chunks = Chunks::of(tile)?;
        if chunks.len != len {
            return Err(at.malformed(format!("a tile of {} bytes, expected {len}", chunks.len)));
        }
        let mut is_cut = false;
        for chunk in chunks.iter() {
            is_cut |= !chunk?.len.is_multiple_of(cell.max(1));
        }
        Ok(Pieces::new(self, chunks, is_cut))
    }

    fn decode_chunk(&self, chunk: &Chunk<'_>, place: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        if !self.placed(chunk, place, scratch)? {
            place.copy_from_slice(chunk.part.data);
        }
        Ok(())
    }

    /// Decodes a chunk to `place`, or returns `false` if its data is stored unchanged, with the size of the place.
    pub(super) fn placed(&self, chunk: &Chunk<'_>, place: &mut [u8], scratch: &mut Scratch) -> Result<bool> {
        let max = max_between(place.len() as u64);
        let (at, skip) = self.undo(chunk, Some(&mut *place), max, scratch)?;
        let Part { metadata, .. } = scratch.metadata(chunk, at, skip);
        if !metadata.is_empty() {
            return Err(Error::malformed(format!(
                "{} bytes of metadata belong to no filter",
                metadata.len()
            )));
        }
        let data = chunk.part.data;
        match at == At::Placed || data.len() == place.len() {
            true => Ok(at == At::Placed),
            false => Err(Error::malformed(format!("{} bytes, expected {}", data.len(), place.len()))),
        }
    }

    /// Undoes all steps from last to first. The first step that changes data decodes to `place`, if there is one.
    /// Returns the location of the data, and how much of the metadata was consumed.
    fn undo(
        &self,
        chunk: &Chunk<'_>,
        mut place: Option<&mut [u8]>,
        max: usize,
        scratch: &mut Scratch,
    ) -> Result<(At, usize)> {
        let Scratch { held, spare, work } = scratch;
        work.max = max;
        let (mut at, mut skip) = (At::Given, 0);
        let mut written: Option<&[u8]> = None;
        for (index, step) in self.steps.iter().enumerate().rev() {
            let (metadata, data) = match at {
                At::Given => (chunk.part.metadata, chunk.part.data),
                At::Held => (held.metadata.as_slice(), held.data.as_slice()),
                At::Placed => (held.metadata.as_slice(), written.unwrap_or_default()),
            };
            let metadata = metadata.get(skip..).unwrap_or_default();
            let from = Part { metadata, data, ..chunk.part };
            let transform: &dyn Transform = match step {
                Step::Checksum(checksum) => {
                    skip += checksum.decode(from, self.verify)?;
                    continue;
                }
                Step::Encryption(encryption) => encryption,
                Step::Transform(transform) => transform.as_ref(),
            };
            let to_place = if self.first == Some(index) { place.take() } else { None };
            match to_place {
                Some(place) => {
                    transform.decode(from, Output::Place(&mut *place), &mut spare.metadata, work)?;
                    written = Some(place);
                    at = At::Placed;
                }
                None => {
                    transform.decode(from, Output::Buffer(&mut spare.data), &mut spare.metadata, work)?;
                    at = At::Held;
                }
            }
            std::mem::swap(held, spare);
            skip = 0;
        }
        Ok((at, skip))
    }

    /// Appends a chunk with its sizes to `out`.
    fn encode_chunk(&self, raw: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        scratch.held.metadata.clear();
        self.finish_chunk(raw, At::Given, out, scratch)
    }

    /// Applies all steps to data that is in `raw` or in a buffer, and appends the chunk.
    fn finish_chunk(&self, raw: &[u8], mut at: At, out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        let Scratch { held, spare, work } = scratch;
        for step in &self.steps {
            let data = if at == At::Given { raw } else { &held.data };
            let from = Part { metadata: &held.metadata, data, stored_at: 0 };
            let transform: &dyn Transform = match step {
                Step::Checksum(checksum) => {
                    checksum.encode(from, &mut spare.metadata)?;
                    std::mem::swap(&mut held.metadata, &mut spare.metadata);
                    continue;
                }
                Step::Encryption(encryption) => encryption,
                Step::Transform(transform) => transform.as_ref(),
            };
            transform.encode(from, spare, work)?;
            std::mem::swap(held, spare);
            at = At::Held;
        }
        let data = if at == At::Given { raw } else { &held.data };
        chunk::put(raw.len(), &held.metadata, data, out)
    }
}

impl Scratch {
    /// The remaining metadata of a chunk.
    fn metadata<'a>(&'a self, chunk: &Chunk<'a>, at: At, skip: usize) -> Part<'a> {
        let metadata = if at == At::Given { chunk.part.metadata } else { &self.held.metadata };
        Part { metadata: metadata.get(skip..).unwrap_or_default(), ..chunk.part }
    }
}

/// The filter that processes strings, if the pipeline begins with one and the version supports it: run-length encoding
/// since version 12 and dictionaries since 13, and both for UTF-8 since 17.
fn string_filter(stored: &FilterPipeline, tile: &TileType) -> Option<StringFilter> {
    let (filter, since) = match stored.filters.first()? {
        Filter::Rle { .. } => (StringFilter::Rle, 12),
        Filter::Dictionary { .. } => (StringFilter::Dictionary, 13),
        _ => return None,
    };
    let since = match tile.data_type {
        DataType::StringAscii => since,
        DataType::StringUtf8 => 17,
        _ => return None,
    };
    (tile.is_variable && tile.version >= since).then_some(filter)
}

/// The step of a filter that receives values of a datatype. `None` if it never changes anything.
fn step(filter: &Filter, data_type: DataType, tile: &TileType) -> Result<Option<Step>> {
    if let Some(compression) = Compression::new(filter, data_type, tile.cell_size)? {
        return Ok(Some(Step::Transform(Box::new(compression))));
    }
    let size = data_type.size();
    let transform: Box<dyn Transform> = match *filter {
        Filter::ChecksumMd5 => return Ok(Some(Step::Checksum(Checksum::Md5))),
        Filter::ChecksumSha256 => return Ok(Some(Step::Checksum(Checksum::Sha256))),
        Filter::Encryption => return Ok(Some(Step::Encryption(Encryption::default()))),
        Filter::Bitshuffle => Box::new(Shuffle::bits(size)),
        Filter::Byteshuffle => Box::new(Shuffle::bytes(size)),
        Filter::Xor => match Integer::signed(size as u64) {
            Some(integer) => Box::new(Xor { integer }),
            None => return Ok(None),
        },
        Filter::ScaleFloat(ref options) => Box::new(ScaleFloat::new(options, size)?),
        Filter::Webp(ref options) => Box::new(Webp::new(options)?),
        Filter::BitWidthReduction { max_window } => match counted(data_type, tile) {
            Some(integer) if integer.size() > 1 => Box::new(BitWidthReduction { integer, max_window }),
            _ => return Ok(None),
        },
        Filter::PositiveDelta { max_window } => {
            // Bytes without a meaning are treated as numbers here.
            let is_bytes =
                matches!(data_type, DataType::Blob | DataType::Bool | DataType::GeomWkb | DataType::GeomWkt);
            match counted(data_type, tile).or(is_bytes.then_some(Integer::U8)) {
                Some(integer) => Box::new(PositiveDelta { integer, max_window }),
                None => return Ok(None),
            }
        }
        Filter::Dictionary { .. } => {
            return Err(Error::malformed(format!(
                "a dictionary of {} in version {}, expected strings of any length as first filter",
                data_type.name(),
                tile.version
            )));
        }
        _ => return Ok(None),
    };
    Ok(Some(Step::Transform(transform)))
}

/// The integer type in which filters with windows process a datatype. Before version 20, they left dates and times
/// unchanged.
fn counted(data_type: DataType, tile: &TileType) -> Option<Integer> {
    let is_left_alone = tile.version < 20 && (data_type.is_datetime() || data_type.is_time());
    if is_left_alone { None } else { Integer::of_number(data_type) }
}

/// The datatype of the output of a filter.
fn output(filter: &Filter, data_type: DataType) -> DataType {
    let signed = |size: u64| match size {
        1 => DataType::Int8,
        2 => DataType::Int16,
        4 => DataType::Int32,
        _ => DataType::Int64,
    };
    match *filter {
        Filter::ScaleFloat(options) => signed(options.byte_width),
        Filter::Xor => signed(data_type.size() as u64),
        Filter::Delta { reinterpret, .. } | Filter::DoubleDelta { reinterpret, .. } => {
            reinterpret.unwrap_or(data_type)
        }
        Filter::Webp(_) | Filter::Encryption => DataType::Blob,
        _ => data_type,
    }
}

/// The maximum number of bytes between two filters, for a chunk of `len` bytes. Filters that do not succeed in
/// compressing make it longer: runs of single bytes take three times as much.
fn max_between(len: u64) -> usize {
    usize::try_from(len.saturating_mul(4).saturating_add(1 << 20)).unwrap_or(usize::MAX)
}
