//! Keys.
//!
//! Spec: Zarr v3 "Node names", "Abstract store interface"

use crate::{Error, Result};
use std::fmt;

/// The key of a value, or a prefix of keys: names separated by slashes, without a leading slash. The root is empty.
///
/// No key leads out of a store: names are not empty, `.` or `..`, and contain no characters with a special meaning in
/// paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// The empty key, the prefix of all keys.
    pub fn root() -> Key {
        Key::default()
    }

    /// Makes a key from text, unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for names that are not
    /// allowed.
    pub fn new(key: &str) -> Result<Key> {
        check(key)?;
        Ok(Key(key.to_owned()))
    }

    /// The key of `name` below this one. `name` may be several names separated by slashes.
    ///
    /// # Errors
    /// As [`Key::new`].
    pub fn join(&self, name: &str) -> Result<Key> {
        check(name)?;
        Ok(match (self.0.is_empty(), name.is_empty()) {
            (true, _) => Key(name.to_owned()),
            (_, true) => self.clone(),
            _ => Key([&self.0, "/", name].concat()),
        })
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The last name; empty for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }
}

impl From<Key> for String {
    fn from(key: Key) -> String {
        key.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check(key: &str) -> Result<()> {
    if key.is_empty() {
        return Ok(());
    }
    let wrong = |what| Error::invalid(format!("{what} in the key {key:?}"));
    key.split('/').try_for_each(|name| check_name(name).map_err(wrong))
}

fn check_name(name: &str) -> Result<(), String> {
    // These characters separate names or mark a drive on Windows.
    let separator = |c: char| c == '\0' || cfg!(windows) && matches!(c, '\\' | ':');
    match name {
        "" => Err("an empty name".to_owned()),
        "." | ".." => Err(format!("the name {name:?}")),
        name if name.contains(separator) => Err(format!("the name {name:?}")),
        _ => Ok(()),
    }
}
