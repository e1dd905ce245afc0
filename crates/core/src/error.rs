//! The error type of all crates. It is one word wide and knows where the problem is.

mod remedy;

pub use remedy::{Limit, Remedy};

use std::borrow::Cow;
use std::fmt;

/// The result of an operation that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: what went wrong, and where.
///
/// Displayed as `bad.h5:/t2m: malformed Filter Pipeline message at byte 0x1fc: 33 filters, expected at most 32`.
/// [`Error::reason`] is the same without file and object. What the caller can do about it follows: see
/// [`Error::remedies`].
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    detail: Cow<'static, str>,
    file: Option<String>,
    object: Option<String>,
    place: Option<Place>,
    remedies: Vec<Remedy>,
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

/// The kind of an error, which indicates who can do something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing failed.
    Io,
    /// A file or folder named by the caller or by a file does not exist.
    FileNotFound,
    /// The store has no object, attribute or label with the name that the caller gave.
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
            remedies: Vec::new(),
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

    /// An [`ErrorKind::NotFound`], for objects, attributes and labels.
    pub fn not_found(detail: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::NotFound, detail)
    }

    /// An [`ErrorKind::LimitExceeded`] that a higher `limit` would avoid.
    pub fn limit_exceeded(limit: Limit, detail: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::LimitExceeded, detail).with_remedy(Remedy::RaiseLimit(limit))
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
        let mut error = self.in_file(file);
        let remedies = std::mem::take(&mut error.0.remedies);
        Error::new(error.kind(), error.to_string()).with_remedies(remedies)
    }

    /// Turns an error in another object into one to which the path of a referring object can be added. The message
    /// keeps the path of the other object.
    #[must_use]
    pub fn of_another_object(self) -> Self {
        let mut error = self;
        let remedies = std::mem::take(&mut error.0.remedies);
        Error::new(error.kind(), error.to_string()).with_remedies(remedies)
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds what the caller can do.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedies.push(remedy);
        self
    }

    /// Adds all remedies of another error.
    #[must_use]
    pub fn with_remedies(mut self, remedies: impl IntoIterator<Item = Remedy>) -> Self {
        self.0.remedies.extend(remedies);
        self
    }

    /// Adds a [`Remedy::Hint`].
    #[must_use]
    pub fn with_hint(self, hint: impl fmt::Display) -> Self {
        self.with_remedy(Remedy::Hint(hint.to_string()))
    }

    /// The same error with another detail: its kind, place, file, object and remedies stay.
    #[must_use]
    pub fn map_detail(mut self, detail: impl FnOnce(&str) -> String) -> Self {
        self.0.detail = detail(&self.0.detail).into();
        self
    }

    /// The same error, for a caller that repeats the failed request, without the error that caused it.
    #[must_use]
    pub fn again(&self) -> Self {
        let Inner { kind, detail, file, object, place, remedies, source: _ } = &*self.0;
        Error(Box::new(Inner {
            kind: *kind,
            detail: detail.clone(),
            file: file.clone(),
            object: object.clone(),
            place: place.clone(),
            remedies: remedies.clone(),
            source: None,
        }))
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was found and what was expected, without place and remedies.
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

    /// What the caller can do about it; empty if nothing is known to help.
    pub fn remedies(&self) -> &[Remedy] {
        &self.0.remedies
    }

    /// The remedies in the form in which they follow a detail: empty, or beginning with a space or a new line.
    pub fn advice(&self) -> impl fmt::Display + '_ {
        Advice { error: self, words: &|remedy| remedy.to_string() }
    }

    /// The message without file and object: kind, structure, byte, detail and remedies.
    pub fn reason(&self) -> impl fmt::Display + '_ {
        Worded { error: self, in_place: false, words: &|remedy| remedy.to_string() }
    }

    /// The message with remedies in the words of an interface, which may name its own options.
    ///
    /// ```
    /// use hyperslab_core::{Error, Limit, Remedy};
    ///
    /// let error = Error::limit_exceeded(Limit::Allocation, "a text of 9 bytes").in_file("a.yaml");
    /// assert_eq!(error.to_string(), "a.yaml: a text of 9 bytes (raise the allocation limit)");
    /// let words = |remedy: &Remedy| match remedy {
    ///     Remedy::RaiseLimit(limit) => format!("raise with --limit {limit}=N"),
    ///     other => other.to_string(),
    /// };
    /// assert_eq!(error.worded(&words).to_string(), "a.yaml: a text of 9 bytes (raise with --limit allocation=N)");
    /// ```
    pub fn worded<'a>(&'a self, words: &'a dyn Fn(&Remedy) -> String) -> impl fmt::Display + 'a {
        Worded { error: self, in_place: true, words }
    }

    /// As [`Error::worded`], without file and object.
    pub fn reason_worded<'a>(&'a self, words: &'a dyn Fn(&Remedy) -> String) -> impl fmt::Display + 'a {
        Worded { error: self, in_place: false, words }
    }

    fn fmt_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
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

/// An error as text.
struct Worded<'a> {
    error: &'a Error,
    /// Whether file and object come first.
    in_place: bool,
    words: &'a dyn Fn(&Remedy) -> String,
}

impl fmt::Display for Worded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.error.file(), self.error.object()) {
            _ if !self.in_place => {}
            (Some(file), Some(object)) => write!(f, "{file}:{object}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, Some(object)) => write!(f, "{object}: ")?,
            (None, None) => {}
        }
        self.error.fmt_reason(f)?;
        Advice { error: self.error, words: self.words }.fmt(f)
    }
}

/// The remedies, which follow the description of the problem.
struct Advice<'a> {
    error: &'a Error,
    words: &'a dyn Fn(&Remedy) -> String,
}

impl fmt::Display for Advice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for remedy in self.error.remedies() {
            match remedy.is_inline() {
                true => write!(f, " ({})", (self.words)(remedy))?,
                false => write!(f, "\nhelp: {}", (self.words)(remedy))?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.worded(&|remedy| remedy.to_string()).fmt(f)
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

/// The value that was read, or `None` if its bytes are invalid.
///
/// For readers that continue without the value. A failed read must not be mistaken for an invalid value.
///
/// # Errors
/// If the system failed to read it, or the work was cancelled.
pub fn valid<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(e) if matches!(e.kind(), ErrorKind::Io | ErrorKind::Cancelled) => Err(e),
        Err(_) => Ok(None),
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        let kind = match e.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::FileNotFound,
            std::io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
            _ => ErrorKind::Io,
        };
        // Rust's standard library appends " (os error N)" to the system's message. Users need only the message.
        let text = e.to_string();
        let text = text.split(" (os error").next().unwrap_or_default().to_lowercase();
        Error::new(kind, text).caused_by(e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_word_wide() {
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
    }

    #[test]
    fn the_innermost_place_is_kept_and_each_layer_adds_its_own_context() {
        let e = Error::malformed("33 filters, expected at most 32")
            .at("Filter Pipeline message", 0x1fc)
            .at("object header", 0)
            .in_object("/t2m")
            .in_file("bad.h5");
        assert_eq!(
            e.to_string(),
            "bad.h5:/t2m: malformed Filter Pipeline message at byte 0x1fc: 33 filters, expected at most 32"
        );
        assert_eq!(
            e.reason().to_string(),
            "malformed Filter Pipeline message at byte 0x1fc: 33 filters, expected at most 32"
        );
    }

    #[test]
    fn system_errors_read_as_sentences() {
        let e = Error::from(std::io::Error::from_raw_os_error(2));
        assert_eq!(e.kind(), ErrorKind::FileNotFound);
        assert_eq!(e.to_string(), "no such file or directory");
    }

    #[test]
    fn remedies_are_values_until_they_are_formatted() {
        let e =
            Error::limit_exceeded(Limit::Rank, "70 dimensions").with_hint("did you mean 7?").in_object("/x");
        let e = e.map_detail(|detail| format!("dimension y: {detail}"));
        assert_eq!(e.detail(), "dimension y: 70 dimensions");
        assert_eq!(
            e.to_string(),
            "/x: dimension y: 70 dimensions (raise the rank limit)\nhelp: did you mean 7?"
        );
        let e = e.of_another("b.h5");
        assert_eq!(e.remedies(), [Remedy::RaiseLimit(Limit::Rank), Remedy::Hint("did you mean 7?".into())]);
        assert_eq!(e.detail(), "b.h5:/x: dimension y: 70 dimensions");
    }
}
