//! The error type of all crates. It is one word wide and knows where the problem is.

use std::borrow::Cow;
use std::fmt;

/// The result of an operation that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: what went wrong, and where.
///
/// Displayed as `bad.h5:/t2m: malformed Filter Pipeline message at byte 0x1fc: 33 filters, at most 32 allowed`.
/// [`Error::reason`] is the same without file and object.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    detail: Cow<'static, str>,
    file: Option<String>,
    object: Option<String>,
    place: Option<Place>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The place of an error in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the structure in the specification.
    pub structure: &'static str,
    /// The offset of the first wrong byte, counted from the beginning of `within`.
    pub offset: u64,
    /// Where `offset` counts from.
    pub within: Within,
}

/// Where an offset counts from: the file, or bytes that exist only after decoding, like an object in a heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// The beginning of the file.
    #[default]
    File,
    /// The beginning of decoded bytes.
    Decoded {
        /// The name of the decoded structure in the specification.
        name: &'static str,
        /// The offset in the file where its stored form begins.
        stored_at: u64,
    },
}

/// The kind of an error, which tells who can do something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing failed.
    Io,
    /// Something that the caller named does not exist.
    NotFound,
    /// Something that the caller wants to create already exists.
    AlreadyExists,
    /// The file violates its specification.
    Malformed,
    /// A checksum does not match: the bytes of the file have changed since they were written.
    Checksum,
    /// The file may be valid, but this project does not support it.
    Unsupported,
    /// The file needs more than the caller's [`Limits`](crate::Limits) allow.
    LimitExceeded,
    /// The caller passed an invalid argument.
    InvalidArgument,
    /// The caller cancelled the operation.
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

    /// An [`ErrorKind::Malformed`] error without a place. Callers add the place with [`Error::at`].
    pub fn malformed(detail: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Malformed, detail)
    }

    /// An [`ErrorKind::Unsupported`] error without a place.
    pub fn unsupported(detail: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Unsupported, detail)
    }

    /// An [`ErrorKind::InvalidArgument`] error.
    pub fn invalid(detail: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::InvalidArgument, detail)
    }

    /// An [`ErrorKind::NotFound`] error.
    pub fn not_found(detail: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::NotFound, detail)
    }

    /// Adds the structure and byte, unless the error already has a place.
    #[must_use]
    pub fn at(self, structure: &'static str, offset: u64) -> Self {
        self.at_place(Place { structure, offset, within: Within::File })
    }

    /// Adds the place, unless the error already has one.
    #[must_use]
    pub fn at_place(mut self, place: Place) -> Self {
        self.0.place.get_or_insert(place);
        self
    }

    /// Adds the path of the object, unless the error already has one.
    #[must_use]
    pub fn in_object(mut self, path: impl fmt::Display) -> Self {
        self.0.object.get_or_insert_with(|| path.to_string());
        self
    }

    /// Adds the name of the file, unless the error already has one.
    #[must_use]
    pub fn in_file(mut self, file: impl fmt::Display) -> Self {
        self.0.file.get_or_insert_with(|| file.to_string());
        self
    }

    /// Turns an error in another file, which this file refers to, into an error of this file. The message keeps the
    /// place in the other file.
    #[must_use]
    pub fn of_another(self, file: impl fmt::Display) -> Self {
        Error::new(self.kind(), self.in_file(file).to_string())
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds a help line that says what the user can do.
    #[must_use]
    pub fn with_help(mut self, help: impl fmt::Display) -> Self {
        self.0.detail = format!("{}\nhelp: {help}", self.0.detail).into();
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without the place: what was found and what was expected.
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
        // Rust's standard library adds " (os error N)" to the message of the system. Users need only the message.
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
