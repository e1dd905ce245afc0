//! Content that a format cannot store unchanged, and what replaces it.

use crate::location::did_you_mean;
use hyperslab_core::{Error, Result};
use std::fmt;

/// A kind of content that a format cannot store unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Lowered {
    /// The content.
    pub what: &'static str,
    /// The replacement in the target.
    pub becomes: &'static str,
    /// Whether the content is restored, changed or lost.
    pub fate: Fate,
    /// The replacement if the target keeps no records of such content; `None` if there never is one.
    pub without_record: Option<&'static Lowered>,
}

/// Whether content that a format cannot store unchanged is restored, changed or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It is stored in another form with a mark, and a conversion back restores it.
    Restored,
    /// It is stored in another form with the same values.
    Changed,
    /// It is lost.
    Lost(Loss),
}

/// The kinds of losses. [`Loss::name`] is the word that allows one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// Targets of references.
    References,
    /// Links.
    Links,
    /// Datatypes.
    Types,
    /// Labels of enumeration values.
    Labels,
    /// Variable-length sequences.
    Vlen,
    /// The ability of a dimension to grow.
    Unlimited,
    /// Attributes.
    Attributes,
    /// Precision of numbers.
    Precision,
    /// Names of objects and dimensions.
    Names,
    /// Filters.
    Filters,
    /// Cells of sparse arrays.
    Sparse,
    /// Encryption.
    Encryption,
    /// Objects that cannot be read.
    Unreadable,
}

impl Loss {
    /// All kinds, in the order in which the help lists them.
    pub const ALL: [Loss; 13] = [
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
        Loss::Encryption,
        Loss::Unreadable,
    ];

    /// Whether an object or attribute with such a loss has different content, or is missing.
    pub(crate) const fn changes_content(self) -> bool {
        !matches!(self, Loss::Filters | Loss::Unlimited | Loss::Encryption)
    }

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
            Loss::Encryption => "encryption",
            Loss::Unreadable => "unreadable",
        }
    }
}

impl Loss {
    /// The kinds with these names; `all` stands for every kind.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for another name.
    pub fn of_names(names: impl IntoIterator<Item: AsRef<str>>) -> Result<Vec<Loss>> {
        let mut losses = Vec::new();
        for name in names {
            let name = name.as_ref();
            match Loss::ALL.iter().find(|loss| loss.name() == name) {
                Some(loss) => losses.push(*loss),
                None if name == "all" => losses.extend(Loss::ALL),
                None => {
                    let known = Loss::ALL.map(Loss::name);
                    let detail =
                        format!("unknown kind of loss {name:?}, expected one of {} or all", known.join(", "));
                    return Err(Error::invalid(detail).with_remedies(did_you_mean(name, known)));
                }
            }
        }
        Ok(losses)
    }
}

impl Fate {
    /// The word of the fate, without what is lost.
    pub const fn word(self) -> &'static str {
        match self {
            Fate::Restored => "restored",
            Fate::Changed => "changed",
            Fate::Lost(_) => "lost",
        }
    }

    /// What is lost.
    pub const fn loss(self) -> Option<Loss> {
        match self {
            Fate::Lost(loss) => Some(loss),
            Fate::Restored | Fate::Changed => None,
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
        f.write_str(self.word())?;
        self.loss().map_or(Ok(()), |loss| write!(f, " {loss}"))
    }
}

/// Collects the content that a format cannot store unchanged.
pub trait Losses {
    /// Records that the object or attribute at `place`, a path or `PATH@NAME`, is `lowered`. `detail` replaces the
    /// general description of the content.
    fn note(&mut self, lowered: &'static Lowered, place: String, detail: Option<String>);
}

/// Records nothing, for content that was already planned.
pub(crate) struct Silent;

impl Losses for Silent {
    fn note(&mut self, _: &'static Lowered, _: String, _: Option<String>) {}
}

/// Declares the table of a format: a static for each row, and `LOWERINGS` with all of them in the order of
/// docs/formats.md.
macro_rules! lowerings {
    (@without $what:literal) => { None };
    (@without $what:literal $becomes:literal, $fate:expr) => {
        Some(&$crate::target::Lowered { what: $what, becomes: $becomes, fate: $fate, without_record: None })
    };
    ($($(#[$doc:meta])* $name:ident: $what:literal => $becomes:literal, $fate:expr
        $(, without a record $instead:literal, $lost:expr)?;)*) => {
        $($(#[$doc])* pub(crate) static $name: $crate::target::Lowered = $crate::target::Lowered {
            what: $what,
            becomes: $becomes,
            fate: $fate,
            without_record: $crate::target::lowerings!(@without $what $($instead, $lost)?),
        };)*
        /// All content that the format stores in another form or loses, in the order of docs/formats.md.
        pub(crate) static LOWERINGS: &[&$crate::target::Lowered] = &[$(&$name),*];
    };
}

pub(crate) use lowerings;
