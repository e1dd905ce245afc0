//! Reads structures where others point to them: bounds, claims, checksums, and findings about these.

use super::extents::Hold;
use super::objects;
use super::{Checker, Extent, Finding};
use super::{Rule, rule};
use crate::format::{Address, Sizes, Structure, checksum};
use bytes::Bytes;
use hyperslab_core::{Decoder, Error, ErrorKind, Result, Within};

/// The field that contains an address, for findings about the address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    pub(super) structure: &'static str,
    pub(super) byte: u64,
}

/// A structure and its place.
#[derive(Clone, Debug)]
pub(super) struct AtOffset<S> {
    pub(super) value: S,
    /// The file offset.
    pub(super) byte: u64,
}

pub(super) fn pointer(structure: &'static str, byte: u64) -> Pointer {
    Pointer { structure, byte }
}

impl Checker<'_> {
    /// A finding at a byte.
    pub(super) fn report(
        &mut self,
        rule: &'static Rule,
        structure: &'static str,
        byte: u64,
        message: impl Into<String>,
    ) {
        self.report_bytes(rule, structure, byte, None, message);
    }

    /// A finding about a number of bytes.
    pub(super) fn report_bytes(
        &mut self,
        rule: &'static Rule,
        structure: &'static str,
        byte: u64,
        len: Option<u64>,
        message: impl Into<String>,
    ) {
        if self.findings.wants(rule) {
            let finding = Finding {
                severity: rule.severity,
                rule: rule.name,
                object: self.objects.path(self.current),
                structure,
                byte: Some(byte),
                len,
                message: message.into(),
                hint: rule.hint.map(str::to_owned),
            };
            self.findings.give(finding);
        }
    }

    /// Turns an error in the bytes into a finding.
    ///
    /// # Errors
    /// Errors of reading itself.
    pub(super) fn error(&mut self, error: Error) -> Result<()> {
        self.error_as(error, &rule::MALFORMED, None)
    }

    /// As [`Checker::error`], with another rule or a more precise place.
    pub(super) fn error_as(
        &mut self,
        error: Error,
        malformed: &'static Rule,
        instead: Option<Pointer>,
    ) -> Result<()> {
        let rule = match error.kind() {
            ErrorKind::Io | ErrorKind::Cancelled => return Err(error),
            ErrorKind::Checksum => &rule::CHECKSUM,
            ErrorKind::Unsupported => &rule::UNKNOWN_VERSION,
            ErrorKind::LimitExceeded => &rule::LIMIT,
            _ => malformed,
        };
        let mut message = format!("{}{}", error.detail(), error.advice());
        let (structure, byte) = match (instead, error.place()) {
            (Some(pointer), Some(place)) if place.structure != pointer.structure => {
                message = error.reason().to_string();
                (pointer.structure, pointer.byte)
            }
            (Some(pointer), _) => (pointer.structure, pointer.byte),
            (None, Some(place)) => match place.within {
                Within::File => (place.structure, place.offset),
                Within::Decoded { name, stored_at } => {
                    message = format!("{message} (at byte {:#x} of the {name})", place.offset);
                    (place.structure, stored_at)
                }
            },
            (None, None) => ("file", self.base),
        };
        let len = (error.kind() == ErrorKind::Checksum).then_some(CHECKSUM_LEN);
        self.report_bytes(rule, structure, byte, len, message);
        Ok(())
    }

    pub(super) fn sizes(&self) -> Sizes {
        *self.reader.sizes()
    }

    /// The file offset of `len` bytes at `address`, if they are within the file.
    pub(super) fn locate(
        &mut self,
        structure: &'static str,
        address: Address,
        len: u64,
        from: Pointer,
    ) -> Option<u64> {
        let Some(raw) = address.get() else {
            let message = format!("the address of the {structure} is undefined");
            self.report(&rule::UNDEFINED_ADDRESS, from.structure, from.byte, message);
            return None;
        };
        let start = raw.checked_add(self.base);
        let end = start.and_then(|start| start.checked_add(len));
        match (start, end) {
            (Some(start), Some(end)) if end <= self.end && end <= self.len => Some(start),
            (Some(start), Some(end)) if end <= self.end => {
                let message = format!("ends at byte {end:#x}, the file has {} bytes", self.len);
                self.report_bytes(&rule::TRUNCATED, structure, start, Some(len), message);
                None
            }
            _ => {
                let message = format!(
                    "{len} bytes of {structure} at {address} reach past the end-of-file address {:#x}",
                    self.end - self.base
                );
                self.report(&rule::OUT_OF_BOUNDS, from.structure, from.byte, message);
                None
            }
        }
    }

    /// Whether `len` more bytes of metadata may be read.
    fn spend(&mut self, len: u64, structure: &'static str, byte: u64) -> bool {
        let enough = take(&mut self.bytes_left, len);
        if !enough {
            self.give_up(structure, byte);
        }
        enough
    }

    /// Whether `len` more bytes of raw data may be read or decoded.
    pub(super) fn spend_raw(&mut self, len: u64, structure: &'static str, byte: u64) -> bool {
        let enough = take(&mut self.raw_left, len);
        if !enough {
            self.give_up(structure, byte);
        }
        enough
    }

    /// Reports once that structures are nested in each other so often that the check would not end.
    fn give_up(&mut self, structure: &'static str, byte: u64) {
        self.complete = false;
        if !self.tired {
            self.tired = true;
            let message = "structures overlap so often that the rest of them is not followed";
            self.report(&rule::LIMIT, structure, byte, message);
        }
    }

    /// The bytes of a structure and their offset. Does not claim them.
    pub(super) fn bytes(
        &mut self,
        structure: &'static str,
        address: Address,
        len: u64,
        from: Pointer,
    ) -> Result<Option<(u64, Bytes)>> {
        let Some(byte) = self.locate(structure, address, len, from) else { return Ok(None) };
        if !self.spend(len, structure, byte) {
            return Ok(None);
        }
        match self.reader.bytes(structure, address, len) {
            Ok(bytes) => Ok(Some((byte, bytes))),
            Err(error) => self.error(error).map(|()| None),
        }
    }

    /// Up to `len` bytes at `address`, fewer at the end of the file.
    pub(super) fn bytes_up_to(
        &mut self,
        structure: &'static str,
        address: Address,
        len: u64,
        from: Pointer,
    ) -> Result<Option<(u64, Bytes)>> {
        let Some(byte) = self.locate(structure, address, 1, from) else { return Ok(None) };
        let len = len.min(self.end.min(self.len) - byte);
        self.bytes(structure, address, len, from)
    }

    /// Records the start of a structure that has one owner. Returns false if it was reached before.
    pub(super) fn enter(&mut self, structure: &'static str, address: Address, from: Pointer) -> bool {
        let Some(raw) = address.get() else { return true };
        if self.visited.len() >= super::max(self.stored, VISITED_SIZE) {
            self.give_up(structure, from.byte);
            return false;
        }
        if self.visited.insert(raw) {
            return true;
        }
        let message = format!("the {structure} at {address} is reached a second time");
        self.report(&rule::REACHED_TWICE, from.structure, from.byte, message);
        false
    }

    /// Claims bytes for a structure of the current object.
    pub(super) fn claim(&mut self, structure: &'static str, byte: u64, len: u64) {
        self.claim_as(Hold::Used, structure, byte, len);
    }

    /// Claims bytes that are allocated with a structure but not used, up to the end of the file.
    pub(super) fn claim_spare(&mut self, structure: &'static str, byte: u64, len: u64) {
        let end = byte.saturating_add(len).min(self.end);
        self.claim_as(Hold::Spare, structure, byte, end.saturating_sub(byte));
    }

    pub(super) fn claim_as(&mut self, hold: Hold, structure: &'static str, byte: u64, len: u64) {
        if len == 0 {
            return;
        }
        let (object, is_spare) = (self.current, hold == Hold::Spare);
        (self.trace)(Extent { structure, byte, len, object, is_part: false, is_spare });
        self.extents.claim(structure, self.current, hold, byte, byte.saturating_add(len));
    }

    /// Reports a named part of a claimed range.
    pub(super) fn part(&mut self, structure: &'static str, byte: u64, len: u64) {
        (self.trace)(Extent { structure, byte, len, object: self.current, is_part: true, is_spare: false });
    }

    /// Reads, claims and decodes a structure of `len` bytes that has one owner.
    pub(super) fn structure<S: Structure>(
        &mut self,
        address: Address,
        len: u64,
        context: &S::Context,
        from: Pointer,
    ) -> Result<Option<AtOffset<S>>> {
        let Some((byte, bytes)) = self.owned_bytes(S::NAME, address, len, from)? else { return Ok(None) };
        Ok(self.decode(byte, &bytes, context)?.map(|value| AtOffset { value, byte }))
    }

    /// Reads and claims the bytes of a structure that has one owner.
    pub(super) fn owned_bytes(
        &mut self,
        structure: &'static str,
        address: Address,
        len: u64,
        from: Pointer,
    ) -> Result<Option<(u64, Bytes)>> {
        let Some((byte, bytes)) = self.bytes(structure, address, len, from)? else { return Ok(None) };
        if !self.enter(structure, address, from) {
            return Ok(None);
        }
        self.claim(structure, byte, len);
        Ok(Some((byte, bytes)))
    }

    /// Decodes bytes. If only the checksum is wrong, that is reported and the value is used.
    pub(super) fn decode<S: Structure>(
        &mut self,
        byte: u64,
        bytes: &[u8],
        context: &S::Context,
    ) -> Result<Option<S>> {
        let error = match S::decode(&mut Decoder::new(S::NAME, byte, bytes), context) {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error,
        };
        let repaired = match (error.kind(), error.place()) {
            (ErrorKind::Checksum, Some(place)) => repair(bytes, place.offset.wrapping_sub(byte)),
            _ => None,
        };
        self.error(error)?;
        let Some(repaired) = repaired else { return Ok(None) };
        match S::decode(&mut Decoder::new(S::NAME, byte, &repaired), context) {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.error(error).map(|()| None),
        }
    }

    /// Runs `check` for another object, which findings then refer to.
    pub(super) fn about<T>(&mut self, object: u32, check: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.current, object);
        let result = check(self);
        self.current = before;
        result
    }

    /// Reports ranges with two owners, and ranges without one.
    pub(super) fn account(&mut self) -> Result<Option<u64>> {
        let (overlaps, more) = self.extents.take_overlaps();
        for overlap in overlaps {
            let (first, second) = (overlap.first, overlap.second);
            let rule = match (first.hold, second.hold) {
                (Hold::Used, Hold::Used) => &rule::OVERLAP,
                (Hold::Spare, _) | (_, Hold::Spare) => &rule::OVERLAP_UNUSED,
                _ => &rule::FREE_SPACE_OVERLAP,
            };
            let (other, name) = (self.extents.name(first), self.extents.name(second));
            let of = match self.objects.path(first.object) {
                Some(path) => format!(" of {path}"),
                None => String::new(),
            };
            let len = overlap.end - overlap.start;
            let message = format!("{len} bytes are also claimed by the {other}{of}");
            self.about(second.object, |checker| {
                checker.report_bytes(rule, name, overlap.start, Some(len), message);
            });
        }
        self.findings.count_more(&rule::OVERLAP, more);
        self.current = objects::FILE;
        let end = self.end.min(self.len);
        let Some(gaps) = self.extents.gaps(self.base, end) else {
            let message = "the file is in too many pieces to account for each byte";
            self.report(&rule::LIMIT, "file", self.base, message);
            return Ok(None);
        };
        let mut unaccounted = 0;
        for (start, end) in gaps {
            if self.is_end_of_page(start, end) {
                continue;
            }
            unaccounted += end - start;
            let message = match self.signature_at(start, end)? {
                Some(structure) => {
                    format!("{} bytes belong to no structure; they begin as a {structure}", end - start)
                }
                None => format!("{} bytes belong to no structure", end - start),
            };
            self.report_bytes(&rule::UNACCOUNTED, "file", start, Some(end - start), message);
        }
        Ok(Some(unaccounted))
    }

    /// Whether a gap is the rest of a page, which the next allocation did not fit in.
    fn is_end_of_page(&self, start: u64, end: u64) -> bool {
        let is_end = |page: u64| end - start < page && (end - self.base).is_multiple_of(page);
        self.page_size.is_some_and(|page| page > 0 && is_end(page))
    }

    /// The former structure of bytes in a gap, if its signature is still there.
    fn signature_at(&mut self, start: u64, end: u64) -> Result<Option<&'static str>> {
        if end - start < 4 {
            return Ok(None);
        }
        let bytes = self.storage.read_at(start..start + 4)?;
        Ok(SIGNATURES.iter().find(|(signature, _)| **signature == bytes[..]).map(|(_, name)| *name))
    }
}

/// Takes `len` from what is left. Returns false if it is not enough.
fn take(left: &mut u64, len: u64) -> bool {
    let rest = left.checked_sub(len);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// The bytes with a corrected checksum at `at`.
fn repair(bytes: &[u8], at: u64) -> Option<Vec<u8>> {
    let at = usize::try_from(at).ok()?;
    let sum = checksum::lookup3(bytes.get(..at)?);
    let mut repaired = bytes.to_vec();
    repaired.get_mut(at..at.checked_add(4)?)?.copy_from_slice(&sum.to_le_bytes());
    Some(repaired)
}

const CHECKSUM_LEN: u64 = 4;

/// Bytes per address in a set.
const VISITED_SIZE: u64 = 24;

const SIGNATURES: &[(&[u8; 4], &str)] = &[
    (b"TREE", "Version 1 B-tree Node"),
    (b"SNOD", "Symbol Table Node"),
    (b"HEAP", "Local Heap"),
    (b"GCOL", "Global Heap Collection"),
    (b"OHDR", "Version 2 Object Header"),
    (b"OCHK", "Object Header Continuation Block"),
    (b"BTHD", "Version 2 B-tree Header"),
    (b"BTIN", "Version 2 B-tree Internal Node"),
    (b"BTLF", "Version 2 B-tree Leaf Node"),
    (b"FRHP", "Fractal Heap Header"),
    (b"FHDB", "Fractal Heap Direct Block"),
    (b"FHIB", "Fractal Heap Indirect Block"),
    (b"FSHD", "Free-space Manager Header"),
    (b"FSSE", "Free-space Section List"),
    (b"SMTB", "Shared Object Header Message Table"),
    (b"SMLI", "Shared Message Record List"),
    (b"FAHD", "Fixed Array Header"),
    (b"FADB", "Fixed Array Data Block"),
    (b"EAHD", "Extensible Array Header"),
    (b"EAIB", "Extensible Array Index Block"),
    (b"EASB", "Extensible Array Secondary Block"),
    (b"EADB", "Extensible Array Data Block"),
    (b"MDCI", "Metadata Cache Image"),
];
