//! How the bytes of a row are arranged in a stored element.

/// Where the bytes of a row lie in an element of a chunk, before filters are applied.
///
/// Two arrays with the same element type and the same layout have the same bytes for the same elements, apart from
/// padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementLayout {
    size: usize,
    parts: Vec<ElementPart>,
}

/// A piece of a row. The parts of a layout follow each other in the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementPart {
    /// Its offset in the stored element, in bytes.
    pub offset: usize,
    /// Its length in bytes.
    pub len: usize,
    /// How many bytes are reversed together: 1 if the piece is stored as it is in memory. For numbers whose byte order
    /// is not the native one, it is their size.
    pub unit: usize,
}

impl ElementLayout {
    /// The layout of elements of `size` stored bytes, still without parts.
    pub fn new(size: usize) -> ElementLayout {
        ElementLayout { size, parts: Vec::new() }
    }

    /// Adds the next piece of the row. A piece that continues the previous one is merged with it. `None` if there are
    /// more pieces than a layout keeps, as with elements of thousands of members.
    #[must_use]
    pub fn push(&mut self, part: ElementPart) -> Option<()> {
        let is_full = self.parts.len() >= MAX_PARTS;
        match self.parts.last_mut() {
            Some(last)
                if last.offset.checked_add(last.len) == Some(part.offset) && last.unit == part.unit =>
            {
                last.len = last.len.checked_add(part.len)?;
            }
            _ if is_full => return None,
            _ => self.parts.push(part),
        }
        Some(())
    }

    /// The layout of `count` consecutive elements as one element.
    pub fn repeated(&self, count: u64) -> Option<ElementLayout> {
        let count = usize::try_from(count).ok()?;
        let mut all = ElementLayout::new(self.size.checked_mul(count)?);
        match self.parts.as_slice() {
            [only] if only.len == self.size => all.push(ElementPart { len: all.size, ..*only })?,
            parts => {
                for first in (0..count).map(|number| number.checked_mul(self.size)) {
                    for part in parts {
                        all.push(ElementPart { offset: part.offset.checked_add(first?)?, ..*part })?;
                    }
                }
            }
        }
        Some(all)
    }

    /// The size of a stored element, padding included, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The pieces in the order of the row.
    pub fn parts(&self) -> &[ElementPart] {
        &self.parts
    }

    /// Whether a stored element is identical to the row.
    pub fn is_row(&self) -> bool {
        matches!(self.parts.as_slice(), [ElementPart { offset: 0, len, unit: 1 }] if *len == self.size)
    }
}

const MAX_PARTS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn part(offset: usize, len: usize, unit: usize) -> ElementPart {
        ElementPart { offset, len, unit }
    }

    #[test]
    fn adjacent_parts_of_one_unit_are_merged() {
        let mut layout = ElementLayout::new(12);
        for piece in [part(0, 4, 1), part(4, 4, 1), part(8, 4, 4)] {
            layout.push(piece).unwrap();
        }
        assert_eq!(layout.parts(), [part(0, 8, 1), part(8, 4, 4)]);
        assert!(!layout.is_row());
        let twice = layout.repeated(2).unwrap();
        assert_eq!((twice.size(), twice.parts().len()), (24, 4));
    }

    #[test]
    fn repeated_numbers_are_one_part_but_not_across_padding() {
        let mut numbers = ElementLayout::new(2);
        numbers.push(part(0, 2, 2)).unwrap();
        assert_eq!(numbers.repeated(1 << 40).unwrap().parts(), [part(0, 2 << 40, 2)]);
        let mut padded = ElementLayout::new(8);
        padded.push(part(0, 3, 1)).unwrap();
        assert_eq!(padded.repeated(2).unwrap().parts(), [part(0, 3, 1), part(8, 3, 1)]);
        assert_eq!(padded.repeated(1 << 40), None);
    }
}
