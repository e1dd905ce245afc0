//! What a format must know of the elements of an array before it can declare it.

/// Questions about the elements of an array. Only what is asked is found out: some answers take reading all elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// [`Facts::is_unicode`]: all texts of any length are read.
    pub unicode: bool,
    /// [`Facts::can_pad`]: all texts that are padded by spaces are read.
    pub padding: bool,
    /// [`Facts::is_whole`] and [`Facts::can_fill`]: the chunks are counted.
    pub written: bool,
}

/// Answers about the elements of an array. What was not asked has its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Whether all texts of any length are UTF-8.
    pub is_unicode: bool,
    /// Whether texts that are padded by spaces can be padded by zeros as well, because none ends in a zero.
    pub can_pad: bool,
    /// Whether all chunks were written, so that no element need be the fill value.
    pub is_whole: bool,
    /// Whether readers of the source's format take the fill value for a missing one, though no attribute says so.
    pub fill_is_missing: bool,
    /// Whether chunks that were not written are few enough to be written out.
    pub can_fill: bool,
    /// Who chose the filters.
    pub filters: Filters,
    /// Whether the filters take all elements.
    pub fits_filters: bool,
}

/// Who chose the filters of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filters {
    /// The source has them: all elements have passed them.
    #[default]
    Passed,
    /// A text describes them.
    Described,
    /// An option asks for them.
    Asked,
}

impl Default for Facts {
    fn default() -> Self {
        Facts {
            is_unicode: true,
            can_pad: true,
            is_whole: true,
            can_fill: true,
            fill_is_missing: false,
            filters: Filters::Passed,
            fits_filters: true,
        }
    }
}
