//! Lists of dimensions, attributes and variables.

use super::Version;
use super::fields::{self, Fields, Stop};
use hyperslab_core::{Encoder, Result};

/// The tag before a list.
pub(super) struct Tag {
    pub(super) code: u32,
    /// The name of the items of the list, for messages.
    pub(super) name: &'static str,
}

/// An item of a list.
pub(super) trait Item: Sized {
    const TAG: Tag;

    /// The minimum size of an item in bytes.
    fn least(version: Version) -> u64;

    fn decode(f: &mut Fields<'_>) -> Result<Self, Stop>;

    fn encode(&self, e: &mut Encoder, version: Version) -> Result<()>;
}

pub(super) fn decode<T: Item>(f: &mut Fields<'_>) -> Result<Vec<T>, Stop> {
    let count = f.tag(T::TAG.code, T::TAG.name)?;
    f.check_count(count, T::least(f.version()), T::TAG.name)?;
    let mut items = Vec::with_capacity(fields::some(count));
    for _ in 0..count {
        items.push(T::decode(f)?);
    }
    Ok(items)
}

pub(super) fn encode<T: Item>(items: &[T], e: &mut Encoder, version: Version) -> Result<()> {
    fields::u32(e, if items.is_empty() { 0 } else { T::TAG.code });
    fields::non_negative(e, version, items.len() as u64)?;
    items.iter().try_for_each(|item| item.encode(e, version))
}

/// The file offset of each item, if the list begins at `at`. Moves `at` to the end of the list.
pub(super) fn offsets<T: Item>(items: &[T], at: &mut u64, version: Version) -> Result<Vec<u64>> {
    *at += 4 + u64::from(version.count_width());
    let mut offsets = Vec::with_capacity(items.len());
    for item in items {
        offsets.push(*at);
        let mut e = Encoder::new();
        item.encode(&mut e, version)?;
        *at += e.len() as u64;
    }
    Ok(offsets)
}
