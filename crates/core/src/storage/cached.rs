//! x
use super::ReadAt;
/// x
pub struct Cached<R>(R);
impl<R: ReadAt> Cached<R> { /// x
 pub fn new(inner: R) -> Self { Cached(inner) } /// raw
 pub fn uncached(&self) -> &R { &self.0 } }
impl<R: ReadAt> ReadAt for Cached<R> {
    fn len(&self) -> crate::Result<u64> { self.0.len() }
    fn read_at(&self, r: std::ops::Range<u64>) -> crate::Result<bytes::Bytes> { self.0.read_at(r) }
    fn read_into(&self, o: u64, out: &mut [u8]) -> crate::Result<()> { self.0.read_into(o, out) }
}
