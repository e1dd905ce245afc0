//! Facts about the elements of an array that a format needs before it declares the array.

/// The [`Facts`] that a format needs. Other facts are not determined, since some require reading all elements. If there
/// are no needs, no element is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// That elements can be read, because they must be decoded for writing. Reads the first written element, so that an
    /// array that cannot be decoded is detected before anything is written.
    pub readable: bool,
    /// [`Facts::is_unicode`]. Reads all elements of variable-length strings.
    pub unicode: bool,
    /// [`Facts::has_nul`]. Reads all elements of variable-length strings.
    pub nul: bool,
    /// [`Facts::longest`]. Reads all elements of variable-length strings.
    pub longest: bool,
    /// [`Facts::is_small`]. Reads all elements of integer arrays.
    pub small: bool,
    /// [`Facts::can_pad`]. Reads all elements of strings that are padded with spaces.
    pub padding: bool,
    /// [`Facts::is_whole`] and [`Facts::can_fill`]. Counts the chunks.
    pub written: bool,
    /// [`Facts::coordinates`]. Reads all coordinates of the dimension, unless they follow from its domain.
    pub coordinates: bool,
}

/// Facts about the elements of an array. A fact that was not requested has its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Whether all variable-length strings are valid UTF-8.
    pub is_unicode: bool,
    /// Whether a variable-length string contains a NUL.
    pub has_nul: bool,
    /// The length of the longest variable-length string in bytes.
    pub longest: u64,
    /// Whether all elements, which are integers, fit into 32 bits.
    pub is_small: bool,
    /// Whether strings that are padded with spaces can be padded with zeros instead, because none ends in a zero.
    pub can_pad: bool,
    /// Whether all chunks were written, so that no fill value is needed.
    pub is_whole: bool,
    /// Whether readers of the source's format treat the fill value as missing, without an attribute that says so.
    pub fill_is_missing: bool,
    /// Whether the chunks that were never written are small enough in total to be written with fill values.
    pub can_fill: bool,
    /// The origin of the filters.
    pub filters: Filters,
    /// Whether the filters accept all elements.
    pub fits_filters: bool,
    /// Whether a trial has found an element that the filters change.
    pub filters_change: bool,
    /// The coordinates of a dimension of integers or times.
    pub coordinates: Coordinates,
}

/// Whether the coordinates of a dimension follow from the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// The domain of the dimension determines them, or there are none.
    #[default]
    Told,
    /// Each is one more than the previous one; this is the first.
    From(i128),
    /// A coordinate is not one more than the previous one.
    Uneven {
        /// Its position.
        position: u64,
        /// Its difference from the previous one.
        step: i128,
    },
}

/// The origin of the filters of an array, which decides whether a target may use others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filters {
    /// The source: it applied them to all elements.
    #[default]
    Passed,
    /// The source, whose readers may support filters that readers of the target lack. It applied them to all elements.
    Foreign,
    /// The source, and the user asked to keep them.
    Kept,
    /// The store from which the source was made: its filters were applied to all elements, but its chunks are gone.
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
