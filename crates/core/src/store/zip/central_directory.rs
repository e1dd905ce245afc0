//! The central directory of a zip file, with and without zip64.
//!
//! Spec: APPNOTE.TXT 4.3.12 to 4.3.16, 4.5.3

use super::LOCAL_NAME;
use crate::storage::ReadAt;
use crate::store::Key;
use crate::{Decoder, Encoder, Error, Limit, Limits, Result};
use std::collections::BTreeMap;

/// The place and the form of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) method: Method,
    pub(super) crc: u32,
    pub(super) stored: u64,
    pub(super) size: u64,
    /// The offset of its local header.
    pub(super) header: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflated,
    Encrypted,
    Link,
    Other(u16),
}

/// All entries except directories.
pub(super) fn read(file: &dyn ReadAt, limits: &Limits) -> Result<BTreeMap<String, Located>> {
    let len = file.len()?;
    let start = len.saturating_sub(END_RECORD + u64::from(u16::MAX));
    let tail = file.read_at(start..len)?;
    let End { count, size, offset } = end(file, start, &tail)?;
    // Names and places in memory take little more than in the file.
    if size > limits.allocation / 4 {
        let detail = format!("a central directory of {size} bytes");
        return Err(Error::limit_exceeded(Limit::Allocation, detail).at(NAME, offset));
    }
    // A small central directory is inside the tail.
    let bytes = match offset.checked_sub(start) {
        Some(within) => tail.read_at(within..within.saturating_add(size)),
        None => file.read_at(offset..offset.saturating_add(size)),
    };
    let bytes = bytes?;
    let mut d = Decoder::new(NAME, offset, &bytes);
    let count = d.count(count, 46)?;
    let mut entries = BTreeMap::new();
    for _ in 0..count {
        if let Some((name, located)) = entry(&mut d)? {
            entries.insert(name, located);
        }
    }
    Ok(entries)
}

/// Encodes the central directory of stored entries and the end records. The directory begins at `offset`.
pub(super) fn encode(entries: &BTreeMap<String, Located>, offset: u64) -> Result<Encoder> {
    let mut e = Encoder::new();
    for (name, located) in entries {
        encode_entry(name, located, &mut e)?;
    }
    let (count, size) = (entries.len() as u64, e.len() as u64);
    if count >= u16::MAX.into() || size >= u32::MAX.into() || offset >= u32::MAX.into() {
        e.bytes(b"PK\x06\x06");
        e.u64(END_RECORD_64 - 12);
        e.u16(BY_UNIX | VERSION_64);
        e.u16(VERSION_64);
        e.reserved(8);
        e.u64(count);
        e.u64(count);
        e.u64(size);
        e.u64(offset);
        e.bytes(b"PK\x06\x07");
        e.u32(0);
        e.u64(offset.saturating_add(size));
        e.u32(1);
    }
    e.bytes(b"PK\x05\x06");
    e.reserved(4);
    let narrow_count = u16::try_from(count).unwrap_or(u16::MAX);
    e.u16(narrow_count);
    e.u16(narrow_count);
    e.u32(narrow(size));
    e.u32(narrow(offset));
    e.u16(0);
    Ok(e)
}

/// Encodes the local header of a stored entry.
pub(super) fn encode_local_header(name: &str, crc: u32, size: u64) -> Result<Encoder> {
    let mut e = Encoder::new();
    let is_wide = size >= u32::MAX.into();
    e.bytes(b"PK\x03\x04");
    e.u16(if is_wide { VERSION_64 } else { VERSION });
    encode_common(crc, [size, size], &mut e);
    encode_name_length(name, &mut e)?;
    e.u16(if is_wide { 20 } else { 0 });
    e.bytes(name.as_bytes());
    if is_wide {
        e.u16(ZIP64);
        e.u16(16);
        e.u64(size);
        e.u64(size);
    }
    Ok(e)
}

/// The contiguous stored entries that our writer has written from the beginning of a file, and their end: the entry
/// that was incomplete when the writer was killed, or the central directory. All names together have at most
/// `max_bytes` bytes.
pub(super) fn read_local(file: &dyn ReadAt, max_bytes: u64) -> Result<(BTreeMap<String, Located>, u64)> {
    let (len, mut left) = (file.len()?, max_bytes);
    let (mut entries, mut at) = (BTreeMap::new(), 0);
    while let Some((name, located, end)) = local_entry(file, at, len)? {
        left = left.checked_sub(name.len() as u64).ok_or_else(|| {
            let detail = format!("names of more than {max_bytes} bytes");
            Error::limit_exceeded(Limit::Allocation, detail).at(LOCAL_NAME, at)
        })?;
        entries.insert(name, located);
        at = end;
    }
    Ok((entries, at))
}

struct End {
    count: u64,
    size: u64,
    offset: u64,
}

/// The entry whose local header begins at `at`, and its end. `None` unless it is complete and in the form of our writer.
fn local_entry(file: &dyn ReadAt, at: u64, len: u64) -> Result<Option<(String, Located, u64)>> {
    let fixed_end = at.saturating_add(super::LOCAL_HEADER);
    if fixed_end > len {
        return Ok(None);
    }
    let bytes = file.read_at(at..fixed_end)?;
    let mut d = Decoder::new(LOCAL_NAME, at, &bytes);
    d.reserved(14)?;
    let crc = d.u32()?;
    let narrow_size = d.u32()?;
    d.reserved(4)?;
    let (name_len, extra_len) = (d.u16()?, d.u16()?);
    let name_end = fixed_end.saturating_add(name_len.into());
    let start = name_end.saturating_add(extra_len.into());
    if start > len {
        return Ok(None);
    }
    let rest = file.read_at(fixed_end..start)?;
    let (name, extra) = rest.split_at_checked(name_len.into()).unwrap_or_default();
    let mut extra = Decoder::new("extra field", name_end, extra);
    let Ok([size, ..]) = wide([narrow_size, 0, 0], &mut extra) else { return Ok(None) };
    let end = start.saturating_add(size);
    let name = std::str::from_utf8(name).ok().filter(|name| Key::new(name).is_ok_and(|key| !key.is_root()));
    let Some(name) = name.filter(|_| end <= len) else { return Ok(None) };
    // All other fields must equal those that our writer produces.
    let ours = encode_local_header(name, crc, size)?;
    let is_ours = ours.as_slice().strip_prefix(&*bytes) == Some(&*rest);
    let located = Located { method: Method::Stored, crc, stored: size, size, header: at };
    Ok(is_ours.then(|| (name.to_owned(), located, end)))
}

/// Finds the end of central directory record, searching backwards. `tail` are the last bytes of the file, from `start`
/// on.
fn end(file: &dyn ReadAt, start: u64, tail: &[u8]) -> Result<End> {
    let not_zip = || Error::malformed("no end of central directory record, so this is not a zip file");
    // The comment after the record may look like another record, but then its length does not match the end of the file.
    let found = tail.windows(4).enumerate().rev().find(|(at, window)| {
        let comment = tail.get(at + 20..at + 22).and_then(|bytes| bytes.try_into().ok());
        *window == b"PK\x05\x06"
            && comment
                .map(u16::from_le_bytes)
                .is_some_and(|comment| at + 22 + usize::from(comment) == tail.len())
    });
    let at = found.map(|(at, _)| at).ok_or_else(not_zip)?;
    let place = start.saturating_add(at as u64);
    let mut d = Decoder::new("end of central directory", place, tail.get(at..).unwrap_or_default());
    d.reserved(4)?;
    let (disk, first_disk) = (d.u16()?, d.u16()?);
    let (here, count) = (d.u16()?, d.u16()?);
    let (size, offset) = (d.u32()?, d.u32()?);
    let narrow =
        [disk, first_disk, here, count].contains(&u16::MAX) || size == u32::MAX || offset == u32::MAX;
    if narrow && let Some(end) = end_64(file, place)? {
        return Ok(end);
    }
    if disk != 0 || first_disk != 0 || here != count {
        return Err(d.unsupported("a zip file in several parts"));
    }
    Ok(End { count: count.into(), size: size.into(), offset: offset.into() })
}

/// Finds the zip64 end record, through the locator before the old record.
fn end_64(file: &dyn ReadAt, old: u64) -> Result<Option<End>> {
    let Some(start) = old.checked_sub(LOCATOR_64) else { return Ok(None) };
    let bytes = file.read_at(start..old)?;
    let mut d = Decoder::new("zip64 end of central directory locator", start, &bytes);
    if !d.starts_with(b"PK\x06\x07") {
        return Ok(None);
    }
    d.reserved(8)?;
    let at = d.u64()?;
    let bytes = file.read_at(at..at.saturating_add(END_RECORD_64))?;
    let mut d = Decoder::new("zip64 end of central directory", at, &bytes);
    d.signature(b"PK\x06\x06")?;
    d.reserved(12)?;
    let (disk, first_disk) = (d.u32()?, d.u32()?);
    let (here, count) = (d.u64()?, d.u64()?);
    if disk != 0 || first_disk != 0 || here != count {
        return Err(d.unsupported("a zip file in several parts"));
    }
    Ok(Some(End { count, size: d.u64()?, offset: d.u64()? }))
}

fn entry(d: &mut Decoder<'_>) -> Result<Option<(String, Located)>> {
    d.signature(b"PK\x01\x02")?;
    let system = d.u16()? >> 8;
    d.reserved(2)?;
    let flags = d.u16()?;
    let method = d.u16()?;
    d.reserved(4)?;
    let crc = d.u32()?;
    let (stored, size) = (d.u32()?, d.u32()?);
    let (name_len, extra_len, comment_len) = (d.u16()?, d.u16()?, d.u16()?);
    d.reserved(4)?;
    let attributes = d.u32()?;
    let header = d.u32()?;
    let place = d.place();
    let name = d.take(name_len.into())?;
    let mut extra = d.sub("extra field", extra_len.into())?;
    d.reserved(comment_len.into())?;
    let [size, stored, header] = wide([size, stored, header], &mut extra)?;
    let name = std::str::from_utf8(name)
        .map_err(|_| Error::unsupported("a name that is not UTF-8").at_place(place.clone()))?;
    if name.ends_with('/') {
        return Ok(None);
    }
    let key = Key::new(name).map_err(|e| Error::malformed(e.detail().to_owned()).at_place(place.clone()))?;
    if key.is_root() {
        return Err(Error::malformed("an entry without a name").at_place(place));
    }
    let is_link = system == UNIX && (attributes >> 16) & 0xf000 == 0xa000;
    let method = match method {
        _ if flags & 1 == 1 => Method::Encrypted,
        _ if is_link => Method::Link,
        0 => Method::Stored,
        8 => Method::Deflated,
        other => Method::Other(other),
    };
    Ok(Some((name.to_owned(), Located { method, crc, stored, size, header })))
}

fn encode_entry(name: &str, located: &Located, e: &mut Encoder) -> Result<()> {
    let Located { crc, stored, size, header, .. } = *located;
    let wide: Vec<u64> =
        [size, stored, header].into_iter().filter(|value| *value >= u32::MAX.into()).collect();
    let version = if wide.is_empty() { VERSION } else { VERSION_64 };
    e.bytes(b"PK\x01\x02");
    e.u16(BY_UNIX | version);
    e.u16(version);
    encode_common(crc, [stored, size], e);
    encode_name_length(name, e)?;
    e.len_as(2, if wide.is_empty() { 0 } else { 4 + 8 * wide.len() })?;
    // No comment, first disk, binary content.
    e.reserved(6);
    e.u32(REGULAR_FILE);
    e.u32(narrow(header));
    e.bytes(name.as_bytes());
    if !wide.is_empty() {
        e.u16(ZIP64);
        e.len_as(2, 8 * wide.len())?;
        wide.into_iter().for_each(|value| e.u64(value));
    }
    Ok(())
}

/// The fields from the flags to the sizes, which local headers and the central directory share.
fn encode_common(crc: u32, sizes: [u64; 2], e: &mut Encoder) {
    e.u16(UTF_8);
    // Stored, with the earliest date, so that equal content gives equal bytes.
    e.u16(0);
    e.u16(0);
    e.u16(FIRST_DAY);
    e.u32(crc);
    sizes.into_iter().for_each(|size| e.u32(narrow(size)));
}

fn encode_name_length(name: &str, e: &mut Encoder) -> Result<()> {
    e.len_as(2, name.len()).map_err(|_| Error::invalid(format!("a key of {} bytes", name.len())))
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The extra field with sizes and offsets that do not fit in four bytes, in this order.
fn wide(narrow: [u32; 3], extra: &mut Decoder<'_>) -> Result<[u64; 3]> {
    let mut wide = narrow.map(u64::from);
    if !narrow.contains(&u32::MAX) {
        return Ok(wide);
    }
    while extra.remaining() >= 4 {
        let id = extra.u16()?;
        let len = extra.u16()?;
        let mut field = extra.sub("zip64 extra field", len.into())?;
        if id != ZIP64 {
            continue;
        }
        for value in wide.iter_mut().filter(|value| **value == u64::from(u32::MAX)) {
            *value = field.u64()?;
        }
        break;
    }
    Ok(wide)
}

const NAME: &str = "central directory";
const END_RECORD: u64 = 22;
const LOCATOR_64: u64 = 20;
const END_RECORD_64: u64 = 56;
const ZIP64: u16 = 1;
const UNIX: u16 = 3;
const VERSION: u16 = 20;
const VERSION_64: u16 = 45;
const BY_UNIX: u16 = UNIX << 8;
const UTF_8: u16 = 0x800;
/// 1 January 1980, the earliest date of the format.
const FIRST_DAY: u16 = 0x21;
/// The Unix mode in the upper half: a regular file, writable by its owner and readable by all.
const REGULAR_FILE: u32 = 0o100_644 << 16;
