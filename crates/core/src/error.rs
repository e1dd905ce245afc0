//! The one error of all crates: one word wide, with the place where it happened.

use std::borrow::Cow;
use std::fmt;

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong and where.
///
/// Displayed as `bad.h5:/t2m: malformed Filter Pipeline message at byte 0x1fc: 33 filters, at most 32
/// allowed`; [`Error::reason`] is the same without file and object.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    detail: Cow<'static, str>,
    file: Option<String>,
    object: Option<String>,
    place: Option<Place>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The bytes an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The structure, as the specification names it.
    pub structure: &'static str,
    /// The first byte that is wrong, counted from the beginning of what `within` names.
    pub offset: u64,
    /// What `offset` counts from.
    pub within: Within,
}

/// What an offset counts from: the file, or bytes that exist only decoded, as a heap object does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// The file itself.
    #[default]
    File,
    /// A decoded piece whose stored form begins at `stored_at`.
    Decoded {
        /// The piece, as the specification names it.
        name: &'static str,
        /// Where its stored form begins in the file.
        stored_at: u64,
    },
}

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The world: reading or writing failed.
    Io,
    /// The caller named something that is not there.
    NotFound,
    /// The caller wants to create something that is there.
    AlreadyExists,
    /// The file breaks its specification.
    Malformed,
    /// The file's bytes are not those that were checksummed.
    Checksum,
    /// The file is right, but this is not implemented.
    Unsupported,
    /// The file asks for more than the caller's [`Limits`](crate::Limits) grant.
    LimitExceeded,
    /// The caller passed something impossible.
    InvalidArgument,
    /// The caller stopped the work.
    Cancelled,
}

impl Error {
    /// An error without a place.
    pub fn new(kind: ErrorKind, detail: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner {
            kind,
            detail: detail.into(),
            file: None,
            object: None,
            place: None,
            source: None,
        }))
    }

    /// An [`ErrorKind::Malformed`] without a place, for callers that add it with [`Error::at`].
    pub fn malformed(detail: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Malformed, detail)
    }

    /// An [`ErrorKind::Unsupported`] without a place.
    pub fn unsupported(detail: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Unsupported, detail)
    }

    /// An [`ErrorKind::InvalidArgument`].
    pub fn invalid(detail: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::InvalidArgument, detail)
    }

    /// An [`ErrorKind::NotFound`].
    pub fn not_found(detail: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::NotFound, detail)
    }

    /// Names the structure and byte, unless a deeper layer already did.
    #[must_use]
    pub fn at(self, structure: &'static str, offset: u64) -> Self {
        self.at_place(Place { structure, offset, within: Within::File })
    }

    /// Names the place, unless a deeper layer already did.
    #[must_use]
    pub fn at_place(mut self, place: Place) -> Self {
        self.0.place.get_or_insert(place);
        self
    }

    /// Names the object, unless a deeper layer already did.
    #[must_use]
    pub fn in_object(mut self, path: impl fmt::Display) -> Self {
        self.0.object.get_or_insert_with(|| path.to_string());
        self
    }

    /// Names the file, unless a deeper layer already did.
    #[must_use]
    pub fn in_file(mut self, file: impl fmt::Display) -> Self {
        self.0.file.get_or_insert_with(|| file.to_string());
        self
    }

    /// The error of another file that the one being read needed, as an error of the latter: what it says and
    /// where, which means bytes of the other file, becomes what is said here.
    #[must_use]
    pub fn of_another(self, file: impl fmt::Display) -> Self {
        Error::new(self.kind(), self.in_file(file).to_string())
    }

    /// Keeps the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds a line that says what can be done.
    #[must_use]
    pub fn with_help(mut self, help: impl fmt::Display) -> Self {
        self.0.detail = format!("{}\nhelp: {help}", self.0.detail).into();
        self
    }

    /// Whose fault it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was found and what was expected, without place.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// The structure and byte, if known.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// The path of the object, if known.
    pub fn object(&self) -> Option<&str> {
        self.0.object.as_deref()
    }

    /// The file, if known.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The message without file and object: kind, structure, byte and detail.
    pub fn reason(&self) -> impl fmt::Display + '_ {
        Reason(self)
    }
}

struct Reason<'a>(&'a Error);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0.0;
        let Some(place) = &inner.place else { return f.write_str(&inner.detail) };
        let adjective = match inner.kind {
            ErrorKind::Malformed => "malformed ",
            ErrorKind::Checksum => "damaged ",
            ErrorKind::Unsupported => "unsupported ",
            ErrorKind::LimitExceeded => "oversized ",
            _ => "",
        };
        write!(f, "{adjective}{} at byte {:#x}", place.structure, place.offset)?;
        if let Within::Decoded { name, stored_at } = place.within {
            write!(f, " of the {name} stored at {stored_at:#x}")?;
        }
        write!(f, ": {}", inner.detail)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file(), self.object()) {
            (Some(file), Some(object)) => write!(f, "{file}:{object}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, Some(object)) => write!(f, "{object}: ")?,
            (None, None) => {}
        }
        Reason(self).fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|e| e as _)
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        let kind = match e.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            std::io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
            _ => ErrorKind::Io,
        };
        // The library adds " (os error N)" to what the system says; people read the rest.
        let text = e.to_string();
        let text = text.split(" (os error").next().unwrap_or_default().to_lowercase();
        Error::new(kind, text).caused_by(e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_word_wide() {
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
    }

    #[test]
    fn innermost_place_wins_and_each_layer_adds_what_it_knows() {
        let e = Error::malformed("33 filters, at most 32 allowed")
            .at("Filter Pipeline message", 0x1fc)
            .at("object header", 0)
            .in_object("/t2m")
            .in_file("bad.h5");
        assert_eq!(
            e.to_string(),
            "bad.h5:/t2m: malformed Filter Pipeline message at byte 0x1fc: 33 filters, at most 32 allowed"
        );
        assert_eq!(
            e.reason().to_string(),
            "malformed Filter Pipeline message at byte 0x1fc: 33 filters, at most 32 allowed"
        );
    }

    #[test]
    fn system_errors_read_as_sentences() {
        let e = Error::from(std::io::Error::from_raw_os_error(2));
        assert_eq!(e.kind(), ErrorKind::NotFound);
        assert_eq!(e.to_string(), "no such file or directory");
    }
}
