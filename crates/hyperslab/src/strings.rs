//! Reads the strings of an array into one block of memory.

use crate::source::ArraySource;
use crate::source::engine::stream;
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Datatype, Element, Elements, Text, Values};

/// A name as text. Nearly all names are UTF-8. In the others, each invalid byte becomes U+FFFD and its hexadecimal
/// digits. Different names stay different: if a name itself contains U+FFFD before two such digits, the bytes of that
/// character are written in the same way.
pub(crate) fn name_text(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        let mut valid = chunk.valid();
        while let Some(at) = first_escaped(valid) {
            let (before, rest) = valid.split_at_checked(at).unwrap_or((valid, ""));
            text.push_str(before);
            let mut encoded = [0; 4];
            let character = char::REPLACEMENT_CHARACTER.encode_utf8(&mut encoded);
            character.bytes().for_each(|byte| push_byte(&mut text, byte));
            valid = rest.strip_prefix(char::REPLACEMENT_CHARACTER).unwrap_or_default();
        }
        text.push_str(valid);
        chunk.invalid().iter().for_each(|byte| push_byte(&mut text, *byte));
    }
    text
}

/// The name of a member of a group as text, as [`name_text`]. Slashes are written as bytes that are not UTF-8.
pub(crate) fn member_name(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for (number, part) in name.split(|byte| *byte == b'/').enumerate() {
        if number > 0 {
            push_byte(&mut text, b'/');
        }
        text.push_str(&name_text(part));
    }
    text
}

/// A path in which escaped slashes of [member names](member_name) are converted back to slashes.
pub(crate) fn with_slashes(path: &str) -> String {
    let mut escaped = String::new();
    push_byte(&mut escaped, b'/');
    path.replace(&escaped, "/")
}

/// The path of the [digest](crate::digest) of objects that were stored under the text of a name: a format that stores
/// names as bytes shows U+FFFD within such a text as escaped bytes. `None` for other paths.
pub(crate) fn as_stored(path: &str) -> Option<String> {
    let mut shown = String::new();
    let character = char::REPLACEMENT_CHARACTER.to_string();
    character.bytes().for_each(|byte| push_byte(&mut shown, byte));
    path.contains(&shown).then(|| with_slashes(&path.replace(&shown, &character)))
}

/// Whether a text contains bytes as [`push_byte`] writes them. A text of [`name_text`] then differs from the stored
/// name.
pub(crate) fn has_escaped(text: &str) -> bool {
    first_escaped(text).is_some()
}

/// The position of the first U+FFFD that is followed by the digits of a byte.
fn first_escaped(text: &str) -> Option<usize> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let has_digits =
        |rest: &str| rest.as_bytes().first_chunk::<2>().is_some_and(|two| two.iter().all(is_digit));
    let mut places = text.match_indices(char::REPLACEMENT_CHARACTER);
    places.find(|(at, found)| text.get(at + found.len()..).is_some_and(has_digits)).map(|(at, _)| at)
}

/// The name that [`name_text`] shows as this text.
pub(crate) fn name_bytes(text: &str) -> Vec<u8> {
    let mut name = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escaped)) = first_escaped(rest).and_then(|at| rest.split_at_checked(at)) {
        name.extend_from_slice(before.as_bytes());
        let digits =
            escaped.strip_prefix(char::REPLACEMENT_CHARACTER).and_then(|after| after.split_at_checked(2));
        let Some((digits, after)) = digits else { break };
        name.extend(u8::from_str_radix(digits, 16));
        rest = after;
    }
    name.extend_from_slice(rest.as_bytes());
    name
}

/// Adds a byte that cannot be a character of a name.
pub(crate) fn push_byte(text: &mut String, byte: u8) {
    text.push_str(&format!("{}{byte:02x}", char::REPLACEMENT_CHARACTER));
}

/// Strings in columnar form: their characters, and the offsets at which each string begins and ends.
///
/// ```
/// use hyperslab::{NodePath, OpenOptions, Strings, open};
///
/// let source = open("../../examples/strings.nc".as_ref(), &OpenOptions::default())?;
/// let string = source.array(&source.find(&NodePath::new("/string")?)?.handle)?;
/// let texts = Strings::read(&*string)?;
/// assert_eq!(texts.iter().collect::<Vec<_>>(), ["", "~", "0x1F", "line\nbreak"]);
/// let (offsets, bytes) = texts.into_parts();
/// assert_eq!((offsets, bytes.len()), (vec![0, 0, 1, 5, 15], 15));
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strings {
    characters: String,
    /// 0, then the end of each string in the characters.
    offsets: Vec<i64>,
}

/// The handling of strings that are not UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Utf8 {
    /// The first such string is an error.
    #[default]
    Strict,
    /// Invalid bytes become U+FFFD.
    Lossy,
}

impl Default for Strings {
    fn default() -> Self {
        Strings { characters: String::new(), offsets: vec![0] }
    }
}

impl Strings {
    /// Reads all strings of an array in row-major order.
    ///
    /// # Errors
    /// If the elements are not strings or cannot be read, or a string is not UTF-8.
    pub fn read(array: &dyn ArraySource) -> Result<Strings> {
        match array.extents() {
            Some(extents) => Strings::read_region(array, &Region::all(extents), Utf8::Strict),
            None => Ok(Strings::default()),
        }
    }

    /// Reads the strings of a region.
    ///
    /// # Errors
    /// If the elements are not strings, or cannot be read; for [`Utf8::Strict`], if a string is not UTF-8.
    pub fn read_region(array: &dyn ArraySource, region: &Region, utf8: Utf8) -> Result<Strings> {
        let datatype = array.datatype();
        let mut column = Column::of(datatype)?;
        if let Some(count) = region.len().and_then(|count| usize::try_from(count).ok()) {
            // Sizes from a file are trusted only up to this limit.
            column.ends.reserve(count.min(MAX_RESERVED));
        }
        stream(array, region, &mut |_, values| column.append(datatype, values))?;
        column.finish(utf8)
    }

    /// The strings in `values`, which have the datatype `datatype`.
    ///
    /// # Errors
    /// As [`Strings::read_region`].
    pub fn of(datatype: &Datatype, values: &Values, utf8: Utf8) -> Result<Strings> {
        let mut column = Column::of(datatype)?;
        column.append(datatype, values)?;
        column.finish(utf8)
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no strings.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string with this index.
    pub fn get(&self, index: usize) -> Option<&str> {
        let (start, end) = (self.offsets.get(index)?, self.offsets.get(index.checked_add(1)?)?);
        self.characters.get(usize::try_from(*start).ok()?..usize::try_from(*end).ok()?)
    }

    /// The strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        (0..self.len()).map(|index| self.get(index).unwrap_or_default())
    }

    /// The characters of all strings, one after another.
    pub fn characters(&self) -> &str {
        &self.characters
    }

    /// The offsets in bytes: 0, then the end of each string; one more than the number of strings.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// The offsets, starting with 0, and the UTF-8 characters, as in Arrow's `LargeUtf8`. Nothing is copied.
    pub fn into_parts(self) -> (Vec<i64>, Vec<u8>) {
        (self.offsets, self.characters.into_bytes())
    }
}

/// Strings that have not yet been checked for UTF-8.
struct Column {
    is_variable: bool,
    bytes: Vec<u8>,
    ends: Vec<i64>,
}

impl Column {
    fn of(datatype: &Datatype) -> Result<Column> {
        match datatype.resolved() {
            Datatype::String(text) => {
                Ok(Column { is_variable: *text == Text::Variable, bytes: Vec::new(), ends: vec![0] })
            }
            _ => Err(Error::invalid(format!("elements of type {datatype}, expected string"))),
        }
    }

    fn append(&mut self, datatype: &Datatype, values: &Values) -> Result<()> {
        if self.is_variable {
            for slot in Slot::each(&values.rows) {
                self.push(
                    values.heap.content(slot).ok_or_else(|| Error::invalid("a slot that points nowhere"))?,
                );
            }
            return Ok(());
        }
        for element in Elements::new(datatype, values) {
            let Element::Text(text) = element.get() else {
                return Err(Error::invalid("an element that is not a string"));
            };
            self.push(text);
        }
        Ok(())
    }

    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        // No memory has this size.
        self.ends.push(i64::try_from(self.bytes.len()).unwrap_or(i64::MAX));
    }

    fn finish(self, utf8: Utf8) -> Result<Strings> {
        let Column { bytes, ends, .. } = self;
        let place = |end: &i64| usize::try_from(*end).unwrap_or(usize::MAX);
        match String::from_utf8(bytes) {
            Ok(characters) => match ends.iter().position(|end| !characters.is_char_boundary(place(end))) {
                None => Ok(Strings { characters, offsets: ends }),
                Some(_) if utf8 == Utf8::Lossy => Ok(lossy(characters.as_bytes(), &ends)),
                Some(end) => Err(not_utf8(end.saturating_sub(1))),
            },
            Err(e) if utf8 == Utf8::Lossy => Ok(lossy(e.as_bytes(), &ends)),
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                Err(not_utf8(ends.partition_point(|end| place(end) <= at).saturating_sub(1)))
            }
        }
    }
}

/// Converts each string separately, with U+FFFD for invalid bytes.
fn lossy(bytes: &[u8], ends: &[i64]) -> Strings {
    let mut strings = Strings::default();
    for pair in ends.windows(2) {
        let [start, end] = pair else { continue };
        let range = usize::try_from(*start).unwrap_or(0)..usize::try_from(*end).unwrap_or(0);
        strings.characters.push_str(&String::from_utf8_lossy(bytes.get(range).unwrap_or_default()));
        strings.offsets.push(i64::try_from(strings.characters.len()).unwrap_or(i64::MAX));
    }
    strings
}

fn not_utf8(index: usize) -> Error {
    Error::malformed(format!("string {index} is not UTF-8")).with_remedy(Remedy::ReadTextsAsBytes)
}

const MAX_RESERVED: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::Pad;

    fn column(texts: &[&[u8]], utf8: Utf8) -> Result<Strings> {
        let mut rows = Vec::new();
        for text in texts {
            rows.extend_from_slice(text);
            rows.resize(rows.len().next_multiple_of(4), 0);
        }
        let datatype = Datatype::String(Text::Fixed { len: 4, pad: Pad::Nul });
        Strings::of(&datatype, &Values { rows: rows.into(), ..Values::default() }, utf8)
    }

    #[test]
    fn different_names_become_different_texts() {
        let names: [&[u8]; 7] = [
            b"\xe9",
            "\u{fffd}e9".as_bytes(),
            "\u{fffd}ef\u{fffd}bf\u{fffd}bde9".as_bytes(),
            "\u{fffd}".as_bytes(),
            "\u{fffd}E9".as_bytes(),
            b"\xef\xbf\xbd\xe9",
            b"\xef\xbf\xbde\xe9",
        ];
        let texts = names.map(name_text);
        assert_eq!(texts[0], "\u{fffd}e9");
        assert_eq!(texts[1], "\u{fffd}ef\u{fffd}bf\u{fffd}bde9");
        assert_eq!(texts[3..], ["\u{fffd}", "\u{fffd}E9", "\u{fffd}\u{fffd}e9", "\u{fffd}e\u{fffd}e9"]);
        let distinct: std::collections::BTreeSet<_> = texts.iter().collect();
        assert_eq!(distinct.len(), texts.len());
        assert_eq!(texts.each_ref().map(|text| name_bytes(text)), names);
        let is_other = texts.iter().zip(names).map(|(text, name)| text.as_bytes() != name);
        assert!(texts.iter().map(|text| has_escaped(text)).eq(is_other));
    }

    #[test]
    fn parts_are_offsets_from_0_on_and_bytes() {
        let texts = column(&[b"ab", b"c", b"def"], Utf8::Strict).unwrap();
        assert_eq!(texts.into_parts(), (vec![0, 2, 3, 6], b"abcdef".to_vec()));
        assert_eq!(Strings::default().into_parts(), (vec![0], Vec::new()));
    }

    #[test]
    fn one_bad_text_is_named_or_replaced_and_the_others_stay() {
        let texts: [&[u8]; 3] = [b"ab", b"\xffx", b"cd"];
        assert_eq!(column(&texts, Utf8::Strict).unwrap_err().detail(), "string 1 is not UTF-8");
        let lossy = column(&texts, Utf8::Lossy).unwrap();
        assert_eq!(lossy.iter().collect::<Vec<_>>(), ["ab", "\u{fffd}x", "cd"]);
        // Two parts of one character in two strings are invalid in both.
        let torn: [&[u8]; 2] = [b"\xc3", b"\xa9"];
        assert_eq!(column(&torn, Utf8::Strict).unwrap_err().detail(), "string 0 is not UTF-8");
        assert_eq!(column(&torn, Utf8::Lossy).unwrap().iter().collect::<Vec<_>>(), ["\u{fffd}", "\u{fffd}"]);
    }
}
