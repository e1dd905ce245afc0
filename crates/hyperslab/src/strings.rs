//! Texts of an array, one after the other in memory.

use crate::engine::stream;
use crate::source::ArraySource;
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Element, Elements, Text, Values};

/// Texts as columnar formats hold them: their characters, and where each ends.
///
/// ```
/// use hyperslab::{NodePath, OpenOptions, Strings, open};
///
/// let source = open("../../examples/strings.nc".as_ref(), &OpenOptions::default())?;
/// let string = source.array(&source.find(&NodePath::new("/string")?)?.handle)?;
/// let texts = Strings::read(&*string)?;
/// assert_eq!(texts.iter().collect::<Vec<_>>(), ["", "~", "0x1F", "line\nbreak"]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings {
    characters: String,
    ends: Vec<usize>,
}

impl Strings {
    /// All texts of an array, row-major.
    ///
    /// # Errors
    /// If its elements are no texts, one is not UTF-8, or they cannot be read.
    pub fn read(array: &dyn ArraySource) -> Result<Strings> {
        match array.extents() {
            Some(extents) => Strings::read_region(array, &Region::all(extents)),
            None => Ok(Strings::default()),
        }
    }

    /// Those of a region.
    ///
    /// # Errors
    /// As [`Strings::read`].
    pub fn read_region(array: &dyn ArraySource, region: &Region) -> Result<Strings> {
        let datatype = array.datatype();
        let Datatype::String(text) = datatype.resolved() else {
            return Err(Error::invalid(format!("elements of type {datatype}, expected string")));
        };
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        if let Some(count) = region.len().and_then(|count| usize::try_from(count).ok()) {
            // Of what files claim to have, only so much is taken at its word.
            ends.reserve(count.min(MAX_RESERVED));
        }
        stream(array, region, &mut |_, values| match text {
            Text::Variable => append(values, &mut bytes, &mut ends),
            Text::Fixed { .. } => append_fixed(datatype, values, &mut bytes, &mut ends),
        })?;
        let characters = String::from_utf8(bytes).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            not_utf8(ends.partition_point(|end| *end <= at))
        })?;
        match ends.iter().position(|end| !characters.is_char_boundary(*end)) {
            Some(index) => Err(not_utf8(index)),
            None => Ok(Strings { characters, ends }),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text number `index`.
    pub fn get(&self, index: usize) -> Option<&str> {
        let start = index.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before))?;
        self.characters.get(*start..*self.ends.get(index)?)
    }

    /// The texts in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.characters.get(start..*end).unwrap_or_default())
    }

    /// The characters of all texts, one text behind the other.
    pub fn characters(&self) -> &str {
        &self.characters
    }

    /// Where in the characters each text ends, in bytes.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }
}

fn append(values: &Values, bytes: &mut Vec<u8>, ends: &mut Vec<usize>) -> Result<()> {
    for row in values.rows.chunks_exact(Slot::SIZE) {
        let slot = Slot::get(row).unwrap_or_default();
        let text = usize::try_from(slot.count).ok().and_then(|len| values.heap.bytes(slot, len));
        bytes.extend_from_slice(text.ok_or_else(|| Error::invalid("a slot that points nowhere"))?);
        ends.push(bytes.len());
    }
    Ok(())
}

fn append_fixed(
    datatype: &Datatype,
    values: &Values,
    bytes: &mut Vec<u8>,
    ends: &mut Vec<usize>,
) -> Result<()> {
    for element in Elements::new(datatype, values) {
        let Element::Text(text) = element.get() else {
            return Err(Error::invalid("an element that is no text"));
        };
        bytes.extend_from_slice(text);
        ends.push(bytes.len());
    }
    Ok(())
}

fn not_utf8(index: usize) -> Error {
    Error::malformed(format!("text {index} is not UTF-8"))
}

const MAX_RESERVED: usize = 1 << 20;
