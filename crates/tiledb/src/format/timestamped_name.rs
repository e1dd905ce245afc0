//! Timestamped names of fragments, schemas, commits and metadata files.
//!
//! Spec: TileDB format_spec, timestamped_name.md

use hyperslab_core::{Error, Result};
use std::fmt;

/// A name that contains the time when something was written.
///
/// ```
/// use hyperslab_tiledb::format::timestamped_name::TimestampedName;
///
/// let name = TimestampedName::parse("__1000_2000_0123456789abcdef0123456789abcdef_22")?;
/// assert_eq!((name.start, name.end, name.fragment_version()), (1000, 2000, 22));
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimestampedName {
    /// The first moment, in milliseconds since 1970.
    pub start: u64,
    /// The last moment, later than the first if several files or fragments were consolidated.
    pub end: u64,
    /// What makes the name unique: today 32 hexadecimal digits, of which the first 8 count upwards within one process.
    pub uuid: String,
    /// The form of the name.
    pub form: Form,
}

/// Forms of names, in the order of their age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// `__uuid_t1`, of fragments of versions 1 and 2.
    UuidStart,
    /// `__uuid_t1_t2`, of consolidated fragments of versions 1 and 2.
    UuidStartEnd,
    /// `__t1_t2_uuid`, of fragments of versions 3 and 4, and of schemas and metadata files of all versions.
    Unversioned,
    /// `__t1_t2_uuid_v`, with the format version, or for files in `__group` with the version of groups.
    Versioned(u32),
}

/// The name of a file that records what happened to a fragment: a timestamped name and a suffix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommitName {
    /// The name, which may be that of a fragment.
    pub name: TimestampedName,
    /// The kind of the file.
    pub kind: CommitKind,
}

/// The meaning of a commit file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitKind {
    /// `.ok`: the fragment is complete. In the array folder, in versions 5 to 11.
    Ok,
    /// `.wrt`: the fragment is complete. In `__commits`, since version 12.
    Write,
    /// `.del`: cells are [deleted](super::delete_condition). Since version 16.
    Delete,
    /// `.upd`: cells are [updated](super::update_condition). Since version 16.
    Update,
    /// `.vac`: other fragments can be [vacuumed](super::vacuum_file).
    Vacuum,
    /// `.con`: [many commits](super::consolidated_commits). Since version 12.
    Consolidated,
    /// `.ign`: commits to [ignore](super::ignore_file). Since version 12.
    Ignore,
    /// `.meta`: [footers](super::consolidated_fragment_metadata) of many fragments.
    FragmentMetadata,
}

impl TimestampedName {
    /// Parses a name without suffix.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if it has none of the forms, or begins after it ends.
    pub fn parse(text: &str) -> Result<Self> {
        let malformed =
            || Error::malformed(format!("name {text:?}, expected __t1_t2_uuid_v or an older form"));
        let parts: Vec<&str> = text.strip_prefix("__").ok_or_else(malformed)?.split('_').collect();
        let found = match parts.as_slice() {
            [uuid, start] => (*start, *start, *uuid, Some(Form::UuidStart)),
            [start, end, uuid] if uuid.len() == UUID_LEN => (*start, *end, *uuid, Some(Form::Unversioned)),
            [uuid, start, end] => (*start, *end, *uuid, Some(Form::UuidStartEnd)),
            [start, end, uuid, version] => (*start, *end, *uuid, number(version).map(Form::Versioned)),
            _ => return Err(malformed()),
        };
        let (Some(start), Some(end), uuid, Some(form)) = (number(found.0), number(found.1), found.2, found.3)
        else {
            return Err(malformed());
        };
        if uuid.is_empty() || !uuid.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(malformed());
        }
        if start > end {
            return Err(Error::malformed(format!("name {text:?}, whose time ends before it begins")));
        }
        Ok(TimestampedName { start, end, uuid: uuid.to_owned(), form })
    }

    /// The earliest start and the latest end of these names. Zeros if there are no names.
    pub(crate) fn span<'n>(names: impl Iterator<Item = &'n TimestampedName> + Clone) -> (u64, u64) {
        let start = names.clone().map(|name| name.start).min();
        (start.unwrap_or(0), names.map(|name| name.end).max().unwrap_or(0))
    }

    /// The format version in the name of a fragment; if its form has none, the newest version with this form.
    pub fn fragment_version(&self) -> u32 {
        match self.form {
            Form::UuidStart | Form::UuidStartEnd => 2,
            Form::Unversioned => 4,
            Form::Versioned(version) => version,
        }
    }
}

impl fmt::Display for TimestampedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TimestampedName { start, end, uuid, form } = self;
        match form {
            Form::UuidStart => write!(f, "__{uuid}_{start}"),
            Form::UuidStartEnd => write!(f, "__{uuid}_{start}_{end}"),
            Form::Unversioned => write!(f, "__{start}_{end}_{uuid}"),
            Form::Versioned(version) => write!(f, "__{start}_{end}_{uuid}_{version}"),
        }
    }
}

impl CommitName {
    /// Parses a name. `None` if it does not end with a suffix of commits.
    ///
    /// # Errors
    /// As [`TimestampedName::parse`].
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let Some((name, suffix)) = text.rsplit_once('.') else { return Ok(None) };
        let Some(kind) = CommitKind::ALL.into_iter().find(|kind| kind.suffix() == suffix) else {
            return Ok(None);
        };
        Ok(Some(CommitName { name: TimestampedName::parse(name)?, kind }))
    }
}

impl fmt::Display for CommitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.name, self.kind.suffix())
    }
}

impl CommitKind {
    /// All kinds.
    pub const ALL: [CommitKind; 8] = [
        CommitKind::Ok,
        CommitKind::Write,
        CommitKind::Delete,
        CommitKind::Update,
        CommitKind::Vacuum,
        CommitKind::Consolidated,
        CommitKind::Ignore,
        CommitKind::FragmentMetadata,
    ];

    /// The suffix, without the dot.
    pub fn suffix(self) -> &'static str {
        match self {
            CommitKind::Ok => "ok",
            CommitKind::Write => "wrt",
            CommitKind::Delete => "del",
            CommitKind::Update => "upd",
            CommitKind::Vacuum => "vac",
            CommitKind::Consolidated => "con",
            CommitKind::Ignore => "ign",
            CommitKind::FragmentMetadata => "meta",
        }
    }
}

/// A decimal number as writers write it: only digits, without leading zeros.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

/// The length of the unique part distinguishes the old forms that have three parts.
const UUID_LEN: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn every_form_is_parsed_and_emitted() {
        for (text, start, end, version, form) in [
            (format!("__{UUID}_7"), 7, 7, 2, Form::UuidStart),
            (format!("__{UUID}_7_9"), 7, 9, 2, Form::UuidStartEnd),
            (format!("__7_9_{UUID}"), 7, 9, 4, Form::Unversioned),
            (format!("__0_{}_{UUID}_5", u64::MAX), 0, u64::MAX, 5, Form::Versioned(5)),
            (format!("__7_9_{UUID}_22"), 7, 9, 22, Form::Versioned(22)),
        ] {
            let name = TimestampedName::parse(&text).unwrap();
            assert_eq!(
                (name.start, name.end, name.fragment_version(), name.form),
                (start, end, version, form)
            );
            assert_eq!(name.uuid, UUID);
            assert_eq!(name.to_string(), text);
        }
    }

    #[test]
    fn names_of_something_else_are_refused() {
        for text in [
            "",
            "__",
            "__meta",
            "__fragment_metadata",
            "1_2_x_22",
            "__1_2_x_",
            "__1__x_22",
            "__1_2__22",
            "__1_2_x_y_22",
            "__01_2_x_22",
            "__+1_2_x_22",
            "__1_2_../x_22",
            "__1_99999999999999999999_x_22",
            "__1_2_x_99999999999",
        ] {
            let e = TimestampedName::parse(text).unwrap_err();
            assert!(e.detail().contains("expected __t1_t2_uuid_v"), "{e}");
        }
        let e = TimestampedName::parse(&format!("__9_7_{UUID}_22")).unwrap_err();
        assert!(e.detail().ends_with("whose time ends before it begins"), "{e}");
    }

    #[test]
    fn suffixes_tell_what_a_commit_says() {
        for kind in CommitKind::ALL {
            let text = format!("__7_9_{UUID}_22.{}", kind.suffix());
            let name = CommitName::parse(&text).unwrap().unwrap();
            assert_eq!(name.kind, kind);
            assert_eq!(name.to_string(), text);
        }
        for text in ["__array_schema.tdb", "__7_9_x_22", "__7_9_x_22.vac.tmp"] {
            assert_eq!(CommitName::parse(text).unwrap(), None);
        }
        assert!(CommitName::parse("x.vac").is_err());
    }
}
