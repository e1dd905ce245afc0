//! Errors as exceptions of `hyperslab._errors`.

use hyperslab::size::human_bytes;
use hyperslab::{Error, ErrorKind, Remedy};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::error::Error as _;

/// Results whose errors become exceptions.
pub(crate) trait Raised<T> {
    /// The same result, with an exception as its error.
    fn raised(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> Raised<T> for hyperslab::Result<T> {
    fn raised(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}

/// The exception for an error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    made(py, error).unwrap_or_else(|failed| failed)
}

fn made(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = MAKE.import(py, "hyperslab._errors", "exception")?;
    let parts = PyDict::new(py);
    parts.set_item("detail", error.detail())?;
    parts.set_item("file", error.file())?;
    parts.set_item("object", error.object())?;
    parts.set_item("structure", error.place().map(|place| place.structure))?;
    parts.set_item("offset", error.place().map(|place| place.offset))?;
    let advice: Vec<String> = error.remedies().iter().map(remedy).collect();
    parts.set_item("help", advice)?;
    let mut cause = None;
    if let Some(source) = error.source() {
        if let Some(io) = source.downcast_ref::<std::io::Error>() {
            let denied = (io.kind() == std::io::ErrorKind::PermissionDenied).then_some(EACCES);
            parts.set_item("errno", io.raw_os_error().or(denied))?;
        }
        // The exception that a Python storage raised.
        cause = source.downcast_ref::<PyErr>().map(|raised| raised.clone_ref(py));
    }
    let made = make.call((word(error.kind()), error.worded(&remedy).to_string()), Some(&parts))?;
    let made = PyErr::from_value(made);
    made.set_cause(py, cause);
    Ok(made)
}

/// The error for an exception raised by a Python storage.
pub(crate) fn raised_by_storage(raised: PyErr) -> Error {
    let (is_interrupt, unsupported) = Python::attach(|py| {
        let error = raised.value(py);
        let told = |name| error.getattr(name).ok()?.extract::<String>().ok();
        let is_ours = told("kind").is_some_and(|kind| kind == word(ErrorKind::Unsupported));
        (!error.is_instance_of::<PyException>(), told("detail").filter(|_| is_ours))
    });
    let error = match unsupported {
        // Ctrl-C, or the end of the program.
        _ if is_interrupt => Error::new(ErrorKind::Cancelled, raised.to_string()),
        // A storage reports what it cannot do with an exception of this package.
        Some(detail) => Error::unsupported(detail),
        None => Error::new(ErrorKind::Io, raised.to_string()),
    };
    error.caused_by(raised)
}

/// The errno of a permission error, used if that of the system is unknown.
const EACCES: i32 = 13;

/// What to do, in terms of Python arguments.
fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::RaiseLimit(limit) => format!("raise with open(…, limits={{\"{limit}\": N}})"),
        Remedy::AllowExternal(folder) => format!("follow it with open(…, allow_external=[{folder:?}])"),
        Remedy::AllowLoss { kinds, losses } => {
            let them = if *losses == 1 { "it" } else { "them" };
            format!("allow_loss={kinds:?} accepts {them}")
        }
        Remedy::LeaveOutUnreadable => "allow_loss=[\"unreadable\"] leaves such arrays out".to_owned(),
        Remedy::Overwrite => "overwrite=True replaces it".to_owned(),
        Remedy::KeepForeignFiles => {
            "overwrite=True would also remove these files; move them away, or choose another target"
                .to_owned()
        }
        Remedy::Resume { done, .. } => format!("resume=True continues from {}", human_bytes(*done)),
        Remedy::StartAnew => "without resume=True, everything is written again from the beginning".to_owned(),
        Remedy::NameTargetFormat(formats) => format!("specify format={}", formats.join(" or ")),
        Remedy::FillByType => "fill={\"/PATTERN\": VALUE} sets fill values for individual arrays".to_owned(),
        Remedy::DescribeWithValues => "describe(…, values=True) writes them".to_owned(),
        Remedy::GiveKey => "pass the 32-byte key as open(…, key=…)".to_owned(),
        Remedy::ReadTextsAsBytes => {
            "read(…, text=\"bytes\") returns bytes; errors=\"replace\" substitutes U+FFFD for invalid UTF-8"
                .to_owned()
        }
        Remedy::ReadCells => "read the cells with hyperslab.table(group)".to_owned(),
        Remedy::JoinAsSteps(name) => {
            format!("new_dimension=\"{name}\" makes each store one step of a new dimension")
        }
        Remedy::JoinAlong(names) => format!("specify along={}", names.join(" or ")),
        Remedy::Compare { a, b } => format!("hyperslab.diff({a:?}, {b:?}) shows what differs"),
        Remedy::Tolerate(difference) => format!("atol={difference} treats them as equal"),
        Remedy::OtherFormat(format) => {
            format!("convert(…, format={format:?}) writes a format that supports them")
        }
        Remedy::UnpackStores => "unpack=True joins the unpacked values".to_owned(),
        Remedy::SortStores => "sort=True joins them in the order of their coordinates".to_owned(),
        other => other.to_string(),
    }
}

/// The kind as a word for `hyperslab._errors`.
fn word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Io => "io",
        ErrorKind::FileNotFound => "file-not-found",
        ErrorKind::NotFound => "not-found",
        ErrorKind::AlreadyExists => "already-exists",
        ErrorKind::Malformed => "malformed",
        ErrorKind::Checksum => "checksum",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::LimitExceeded => "limit-exceeded",
        ErrorKind::Cancelled => "cancelled",
        _ => "invalid-argument",
    }
}
