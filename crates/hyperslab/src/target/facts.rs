//! Facts about the elements of an array that a format needs before it declares the array.

/// The [`Facts`] that a format needs. Others are not determined: some require reading all elements. Without needs, no
/// element is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// That elements can be read, because they are decoded to be written. Reads the first written element, so that an
    /// array that cannot be decoded is found before anything is written.
    pub readable: bool,
    /// [`Facts::is_unicode`]. Reads all elements of variable-length texts.
    pub unicode: bool,
    /// [`Facts::has_nul`]. Reads all elements of variable-length texts.
    pub nul: bool,
    /// [`Facts::longest`]. Reads all elements of variable-length texts.
    pub longest: bool,
    /// [`Facts::is_small`]. Reads all elements of integers.
    pub small: bool,
    /// [`Facts::can_pad`]. Reads all elements of texts that are padded with spaces.
    pub padding: bool,
    /// [`Facts::is_whole`] and [`Facts::can_fill`]. Counts the chunks.
    pub written: bool,
    /// [`Facts::coordinates`]. Reads all coordinates of the dimension, unless its domain tells them.
    pub coordinates: bool,
}

/// Facts about the elements of an array. A fact that was not requested has its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Whether all variable-length texts are valid UTF-8.
    pub is_unicode: bool,
    /// Whether a variable-length text contains a NUL.
    pub has_nul: bool,
    /// Bytes of the longest variable-length text.
    pub longest: u64,
    /// Whether 32 bits hold all elements, which are integers.
    pub is_small: bool,
    /// Whether texts that are padded with spaces can be padded with zeros instead, because none ends in a zero.
    pub can_pad: bool,
    /// Whether all chunks were written, so that no fill value is needed.
    pub is_whole: bool,
    /// Whether readers of the source's format treat the fill value as missing, without an attribute for it.
    pub fill_is_missing: bool,
    /// Whether the chunks that were never written are small enough in total to be written with fill values.
    pub can_fill: bool,
    /// The origin of the filters.
    pub filters: Filters,
    /// Whether the filters accept all elements.
    pub fits_filters: bool,
    /// Whether a trial has found an element that the filters change.
    pub filters_change: bool,
    /// The coordinates of a dimension of whole numbers or times.
    pub coordinates: Coordinates,
}

/// Whether the coordinates of a dimension are told by the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// The domain of the dimension tells them, or there are none.
    #[default]
    Told,
    /// Each is by one more than the one before; the first.
    From(i128),
    /// One does not follow the one before.
    Uneven {
        /// Its position.
        position: u64,
        /// By how much it is more.
        step: i128,
    },
}

/// The origin of the filters of an array, which decides whether a target may use others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filters {
    /// The source: it applied them to all elements.
    #[default]
    Passed,
    /// The source, whose readers may have filters that those of the target lack. It applied them to all elements.
    Foreign,
    /// The source, and the user asked to keep them.
    Kept,
    /// The store that the source was made from: its filters were applied to all elements, but its chunks are gone.
    Restored,
    /// A text document that describes the array.
    Described,
    /// An option of the user.
    Asked,
}

impl Default for Facts {
    fn default() -> Self {
        Facts {
            is_unicode: true,
            has_nul: false,
            longest: 0,
            is_small: true,
            can_pad: true,
            is_whole: true,
            can_fill: true,
            fill_is_missing: false,
            filters: Filters::Passed,
            fits_filters: true,
            filters_change: false,
            coordinates: Coordinates::Told,
        }
    }
}

impl Filters {
    /// Whether the source applied the filters to all elements.
    pub fn have_passed(self) -> bool {
        matches!(self, Filters::Passed | Filters::Foreign | Filters::Kept | Filters::Restored)
    }
}
