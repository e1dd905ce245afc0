//! A file in memory, for tests of builders.

use super::Sink;
use crate::format::{Address, Sizes};
use crate::navigate::Reader;
use crate::space::{Space, SpaceKind};
use bytes::Bytes;
use hyperslab_core::{Limits, Result};

/// A file that is built in memory, in two passes.
#[derive(Debug)]
pub(crate) struct Image {
    sizes: Sizes,
    space: Space,
    is_measuring: bool,
    requests: Vec<(SpaceKind, u64)>,
    bytes: Vec<u8>,
    /// Bytes that were written, so that none is written twice.
    written: Vec<bool>,
}

impl Image {
    /// Runs `build` twice, to measure and to write. Both runs must make the same requests, and every byte is written
    /// once.
    pub(crate) fn write<T>(
        sizes: Sizes,
        build: &mut dyn FnMut(&mut dyn Sink) -> Result<T>,
    ) -> Result<(Image, T)> {
        Image::write_behind(sizes, 48, build)
    }

    /// As [`Image::write`]. The first `start` bytes are allocated.
    pub(crate) fn write_behind<T>(
        sizes: Sizes,
        start: usize,
        build: &mut dyn FnMut(&mut dyn Sink) -> Result<T>,
    ) -> Result<(Image, T)> {
        let (image, result) = Image::write_sparse(sizes, start, build)?;
        let gap = (start..image.written.len()).find(|at| !image.written[*at]);
        assert_eq!(gap, None, "a byte that is allocated and not written");
        assert_eq!(image.written.len() as u64, image.space.end(), "bytes at the end are not written");
        Ok((image, result))
    }

    /// As [`Image::write_behind`], for structures with parts that stay unwritten.
    pub(crate) fn write_sparse<T>(
        sizes: Sizes,
        start: usize,
        build: &mut dyn FnMut(&mut dyn Sink) -> Result<T>,
    ) -> Result<(Image, T)> {
        let mut measured = Image::new(sizes, start, true);
        build(&mut measured)?;
        let mut image = Image::new(sizes, start, false);
        let result = build(&mut image)?;
        assert_eq!(measured.requests, image.requests, "requests of the two passes");
        image.bytes.resize(usize::try_from(image.space.end()).unwrap(), 0);
        Ok((image, result))
    }

    fn new(sizes: Sizes, start: usize, is_measuring: bool) -> Image {
        Image {
            sizes,
            space: Space::new(sizes, start as u64),
            is_measuring,
            requests: Vec::new(),
            bytes: vec![0; start],
            written: vec![false; start],
        }
    }

    /// The bytes, with zeros where none were written.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes after those that were allocated before.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A reader of what was written.
    pub(crate) fn reader(&self) -> Reader {
        Reader::new(Box::new(Bytes::from(self.bytes.clone())), 0, self.sizes, Limits::default())
    }
}

impl Sink for Image {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn allocate(&mut self, kind: SpaceKind, len: u64) -> Result<Address> {
        self.requests.push((kind, len));
        self.space.allocate(kind, len)
    }

    fn is_measuring(&self) -> bool {
        self.is_measuring
    }

    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<()> {
        if self.is_measuring {
            return Ok(());
        }
        let start = usize::try_from(address.0).unwrap();
        let end = start + bytes.len();
        assert!(end as u64 <= self.space.end(), "bytes at {address} that are not allocated");
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
            self.written.resize(end, false);
        }
        assert!(!self.written[start..end].contains(&true), "bytes at {address} are written twice");
        self.bytes[start..end].copy_from_slice(bytes);
        self.written[start..end].fill(true);
        Ok(())
    }
}
