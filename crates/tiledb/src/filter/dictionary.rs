//! Dictionary: each string is stored as the number of its entry in a dictionary, which is stored as metadata. Numbers
//! and lengths are big-endian.
//!
//! Spec: TileDB format_spec, filters/dictionary_encoding.md

use super::strings::{Strings, Width};
use hyperslab_core::{Error, Result};
use std::collections::HashMap;

/// The entries of a dictionary, each of which follows its length.
pub(crate) fn entries(dictionary: &[u8], len: Width) -> Result<Vec<&[u8]>> {
    let mut left = dictionary;
    let mut entries = Vec::new();
    while !left.is_empty() {
        entries.push(len.take_bytes(&mut left)?);
    }
    Ok(entries)
}

/// Decodes numbers of entries.
pub(crate) fn decode_strings(
    stored: &[u8],
    number: Width,
    entries: &[&[u8]],
    to: &mut Strings<'_>,
) -> Result<()> {
    let mut left = stored;
    while !left.is_empty() {
        let entry = number.take(&mut left)?;
        let string = usize::try_from(entry).ok().and_then(|entry| entries.get(entry));
        let Some(string) = string else {
            return Err(Error::malformed(format!("entry {entry} of a dictionary of {}", entries.len())));
        };
        to.push(string, 1)?;
    }
    Ok(())
}

/// Appends the numbers of the entries of strings to `out`. Returns the dictionary, with the widths of numbers and of
/// entry lengths.
pub(crate) fn encode_strings<'a>(
    strings: impl Iterator<Item = &'a [u8]> + Clone,
    out: &mut Vec<u8>,
) -> (Vec<u8>, [Width; 2]) {
    let (mut count, mut longest) = (0, 0);
    for string in strings.clone() {
        count += 1;
        longest = (string.len() as u64).max(longest);
    }
    // TileDB derives the width of numbers from the number of cells, not of entries.
    let widths = [Width::of(count), Width::of(longest)];
    let [number, len] = widths;
    let (mut dictionary, mut known) = (Vec::new(), HashMap::new());
    for string in strings {
        let next = known.len() as u64;
        let entry = *known.entry(string).or_insert_with(|| {
            len.put(string.len() as u64, &mut dictionary);
            dictionary.extend_from_slice(string);
            next
        });
        number.put(entry, out);
    }
    (dictionary, widths)
}
