//! Files: the header, and the elements of variables.

use crate::header::{Decoded, Header, Version};
use crate::layout::{Layout, Records};
use hyperslab_core::nd::{Planes, Region, read_contiguous};
use hyperslab_core::storage::{NEAR, ReadAt};
use hyperslab_core::{Error, Limit, Limits, Result};

/// An opened file.
pub struct File {
    storage: Box<dyn ReadAt>,
    len: u64,
    header: Header,
    header_len: u64,
    records: Records,
}

impl File {
    /// Whether a file that begins with these bytes has one of these formats.
    pub fn is_recognized(first: &[u8]) -> bool {
        let version = first.strip_prefix(crate::header::MAGIC).and_then(<[u8]>::first);
        version.is_some_and(|byte| Version::of(*byte).is_some())
    }

    /// Opens a file. Only the header is read, in pieces of increasing size.
    ///
    /// # Errors
    /// As [`Header::decode`]; if reading fails; and
    /// [`ErrorKind::LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) if the header is larger than a fraction
    /// of [`Limits::allocation`].
    pub fn open(storage: Box<dyn ReadAt>, limits: &Limits) -> Result<File> {
        let len = storage.len()?;
        let most = limits.allocation / COST;
        let mut want = FIRST;
        loop {
            let now = want.min(len);
            if now > most {
                let detail = format!("a header of {now} bytes or more, at most {most} are read");
                return Err(Error::limit_exceeded(Limit::Allocation, detail));
            }
            let bytes = storage.read_at(0..now)?;
            match Header::decode(&bytes, len)? {
                Decoded::Header(header, header_len) => {
                    let records = Records::of(&header, len);
                    return Ok(File { storage, len, header: *header, header_len, records });
                }
                // Each piece is decoded from its beginning.
                Decoded::More(needed) => want = needed.max(now.saturating_mul(GROWTH)).min(most.max(needed)),
            }
        }
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The size of the header in bytes.
    pub fn header_len(&self) -> u64 {
        self.header_len
    }

    /// The size of the file in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file is empty, which an opened file never is.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The records.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Where the elements of a variable lie.
    ///
    /// # Errors
    /// As [`Records::layout`], and [`ErrorKind::NotFound`](hyperslab_core::ErrorKind::NotFound) if there is no variable
    /// with this number.
    pub fn layout(&self, variable: usize) -> Result<Layout> {
        let found = self.header.variables.get(variable);
        let variable = found.ok_or_else(|| Error::not_found(format!("no variable {variable}")))?;
        self.records.layout(&self.header, variable)
    }

    /// Fills `rows` with the elements of a region: numbers in native byte order, characters unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the file ends before an element, with the
    /// byte; [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the region is not within the
    /// variable.
    pub fn read_part(&self, layout: &Layout, region: &Region, rows: &mut Planes<'_>) -> Result<()> {
        region.check(&layout.shape)?;
        // Adjacent records also form one block.
        let apart = layout.record.filter(|distance| *distance != layout.block);
        for (part, out) in rows.slices(region) {
            match apart {
                None => {
                    let bytes =
                        |offset: u64, out: &mut [u8]| self.read(layout.begin.saturating_add(offset), out);
                    read_contiguous(&bytes, &layout.shape, &part, layout.element, out)?;
                }
                Some(distance) => self.read_records(layout, distance, &part, out)?,
            }
            to_native(out, layout.element);
        }
        Ok(())
    }

    fn read_records(&self, layout: &Layout, distance: u64, region: &Region, out: &mut [u8]) -> Result<()> {
        let (Some((_, inner)), Some(first), Some(count), Some(step)) =
            (layout.shape.split_first(), region.start.first(), region.count.first(), region.step.first())
        else {
            return Err(Error::invalid("records without a dimension"));
        };
        if region.is_empty() {
            return Ok(());
        }
        let without_first = |of: &[u64]| of.get(1..).unwrap_or_default().to_vec();
        let part = Region {
            start: without_first(&region.start),
            count: without_first(&region.count),
            step: without_first(&region.step),
        };
        let apart = step.saturating_mul(distance);
        // Records with small gaps between them are read together: a read costs more than the bytes in the gaps.
        let together = match apart.saturating_sub(layout.block) <= NEAR && apart < PIECE {
            true => PIECE / apart.max(1),
            false => 1,
        };
        let mut rest = out;
        let mut piece = Vec::new();
        let mut done = 0;
        while done < *count {
            let now = together.clamp(1, count - done);
            let at = |record: u64| {
                let record = first.saturating_add(record.saturating_mul(*step));
                layout.begin.saturating_add(record.saturating_mul(distance))
            };
            let begin = at(done);
            if now > 1 {
                let len = (now - 1).saturating_mul(apart).saturating_add(layout.block);
                let len = usize::try_from(len).map_err(|_| Error::invalid("records too large"))?;
                piece.resize(len, 0);
                self.read(begin, &mut piece)?;
            }
            for record in done..done + now {
                let block = at(record);
                let bytes = |offset: u64, out: &mut [u8]| match now {
                    1 => self.read(block.saturating_add(offset), out),
                    _ => copy(&piece, (block - begin).saturating_add(offset), out),
                };
                read_contiguous(
                    &bytes,
                    inner,
                    &part,
                    layout.element,
                    part.take_rows(&mut rest, layout.element)?,
                )?;
            }
            done += now;
        }
        Ok(())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let end = offset.checked_add(out.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            let (count, len) = (out.len(), self.len);
            let detail = format!("elements of {count} bytes, the file ends after {len} bytes");
            return Err(Error::malformed(detail).at("NetCDF variable", offset));
        }
        self.storage.read_into(offset, out)
    }
}

fn copy(piece: &[u8], offset: u64, out: &mut [u8]) -> Result<()> {
    let from = usize::try_from(offset).ok().and_then(|offset| piece.get(offset..)?.get(..out.len()));
    let from = from.ok_or_else(|| Error::invalid("elements outside of their record"))?;
    out.copy_from_slice(from);
    Ok(())
}

/// Converts big-endian numbers of `size` bytes to native byte order, in place.
pub fn to_native(bytes: &mut [u8], size: usize) {
    swap(bytes, size);
}

/// Converts native numbers of `size` bytes to big-endian, in place.
pub fn to_big_endian(bytes: &mut [u8], size: usize) {
    swap(bytes, size);
}

fn swap(bytes: &mut [u8], size: usize) {
    fn reverse<const N: usize>(bytes: &mut [u8]) {
        let (numbers, _) = bytes.as_chunks_mut::<N>();
        numbers.iter_mut().for_each(|number| number.reverse());
    }
    if cfg!(target_endian = "big") {
        return;
    }
    match size {
        2 => reverse::<2>(bytes),
        4 => reverse::<4>(bytes),
        8 => reverse::<8>(bytes),
        _ => {}
    }
}

/// The number of bytes of a file that are read first. Most headers are smaller.
const FIRST: u64 = 64 << 10;

/// The factor by which each piece is larger than the previous one.
const GROWTH: u64 = 16;

/// The number of bytes of memory that one byte of a header can take, including its stored form.
const COST: u64 = 8;

/// The maximum length of a read of several records.
const PIECE: u64 = 1 << 20;
