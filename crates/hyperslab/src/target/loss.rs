//! What a format does not hold as it is, and what becomes of it.

use std::fmt;

/// Something that a format does not hold as it is.
#[derive(Clone, Copy, Debug)]
pub struct Lowered {
    /// What it is.
    pub what: &'static str,
    /// What the format has instead.
    pub becomes: &'static str,
    /// Whether it comes back.
    pub fate: Fate,
}

/// What happens to something that a format does not hold as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It has another form, is marked, and comes back when it is converted back.
    Restored,
    /// It is stored in another way, and its content is the same.
    Changed,
    /// It is lost.
    Lost(Loss),
}

/// What can be lost, by the words that allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// References that lead to nothing.
    References,
    /// Links.
    Links,
    /// Types.
    Types,
    /// Names of values.
    Labels,
    /// Sequences of any length.
    Vlen,
    /// Dimensions that can grow.
    Unlimited,
    /// Attributes.
    Attributes,
    /// Digits.
    Precision,
    /// Names.
    Names,
    /// Filters.
    Filters,
    /// Cells that are not there.
    Sparse,
    /// What cannot be read.
    Unreadable,
}

impl Loss {
    /// All kinds, in the order of help texts.
    pub const ALL: [Loss; 12] = [
        Loss::References,
        Loss::Links,
        Loss::Types,
        Loss::Labels,
        Loss::Vlen,
        Loss::Unlimited,
        Loss::Attributes,
        Loss::Precision,
        Loss::Names,
        Loss::Filters,
        Loss::Sparse,
        Loss::Unreadable,
    ];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Loss::References => "references",
            Loss::Links => "links",
            Loss::Types => "types",
            Loss::Labels => "labels",
            Loss::Vlen => "vlen",
            Loss::Unlimited => "unlimited",
            Loss::Attributes => "attributes",
            Loss::Precision => "precision",
            Loss::Names => "names",
            Loss::Filters => "filters",
            Loss::Sparse => "sparse",
            Loss::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::Restored => f.write_str("restored"),
            Fate::Changed => f.write_str("changed"),
            Fate::Lost(loss) => write!(f, "lost {loss}"),
        }
    }
}

/// Collects what a format does not hold as it is.
pub trait Losses {
    /// Notes that `place`, an object's path or `PATH@NAME`, is lowered. `detail` tells more of what it is.
    fn note(&mut self, lowered: &'static Lowered, place: String, detail: Option<String>);
}
