//! Directives of a document, requested by their keys.

use super::TILEDB;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Directive, EXTRA, Storage};

/// The directives of an object or filter that have not been requested yet.
pub(super) struct Directives<'d> {
    /// Their position in the document, for messages.
    place: String,
    left: Vec<(&'d str, &'d Directive)>,
}

impl<'d> Directives<'d> {
    pub(super) fn new(place: String, entries: &'d [(String, Directive)]) -> Self {
        Directives { place, left: entries.iter().map(|(key, value)| (key.as_str(), value)).collect() }
    }

    /// The directives in the storage of an object that only TileDB has.
    pub(super) fn of(storage: &'d Storage) -> Self {
        let own = storage.native.iter().filter(|(format, _)| *format == TILEDB);
        let left = own.flat_map(|(_, entries)| entries).map(|(key, value)| (key.as_str(), value)).collect();
        Directives { place: format!("storage.{TILEDB}"), left }
    }

    /// The directive with this key.
    pub(super) fn take(&mut self, key: &str) -> Option<&'d Directive> {
        let at = self.left.iter().position(|(own, _)| *own == key)?;
        Some(self.left.remove(at).1)
    }

    pub(super) fn int<T: TryFrom<i128>>(&mut self, key: &str) -> Result<Option<T>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let size = size_of::<T>();
        let found = match value {
            Directive::Int(number) => T::try_from(*number).ok(),
            _ => None,
        };
        found.map(Some).ok_or_else(|| self.wrong(key, value, &format!("an integer of {size} bytes")))
    }

    /// Sets `value` if there is a directive with this key.
    pub(super) fn set_int<T: TryFrom<i128>>(&mut self, key: &str, value: &mut T) -> Result<()> {
        if let Some(said) = self.int(key)? {
            *value = said;
        }
        Ok(())
    }

    pub(super) fn real(&mut self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        real(value).map(Some).ok_or_else(|| self.wrong(key, value, "a number"))
    }

    pub(super) fn single(&mut self, key: &str) -> Result<Option<f32>> {
        Ok(self.real(key)?.map(single))
    }

    pub(super) fn boolean(&mut self, key: &str) -> Result<Option<bool>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value {
            Directive::Bool(value) => Ok(Some(*value)),
            _ => Err(self.wrong(key, value, "true or false")),
        }
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<&'d str>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value {
            Directive::Text(text) => Ok(Some(text)),
            _ => Err(self.wrong(key, value, "a text")),
        }
    }

    /// One of several values, by its name.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &str,
        known: impl IntoIterator<Item = T>,
        name: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let known: Vec<T> = known.into_iter().collect();
        let found = match value {
            Directive::Text(text) => known.iter().find(|own| name(**own) == text),
            _ => None,
        };
        found.copied().map(Some).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|own| name(*own)).collect();
            self.wrong(key, value, &format!("one of {}", names.join(", ")))
        })
    }

    /// Bytes, written as `0x` and two digits for each.
    pub(super) fn bytes(&mut self, key: &str) -> Result<Option<Vec<u8>>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        value
            .to_bytes()
            .map(Some)
            .ok_or_else(|| self.wrong(key, value, "bytes, as 0x and two digits for each"))
    }

    /// Entries of a map.
    pub(super) fn map(&mut self, key: &str) -> Result<Option<&'d [(String, Directive)]>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value {
            Directive::Map(entries) => Ok(Some(entries)),
            _ => Err(self.wrong(key, value, "a map")),
        }
    }

    /// Rejects directives that were not requested: otherwise, a misspelt key would be ignored.
    pub(super) fn finish(self) -> Result<()> {
        match self.left.iter().find(|(key, _)| !key.starts_with(EXTRA)) {
            Some((key, _)) => {
                Err(Error::invalid(format!("{}: the key {key}, which has no meaning here", self.place)))
            }
            None => Ok(()),
        }
    }

    /// The error for a missing directive that is required.
    pub(super) fn missing(&self, key: &str) -> Error {
        Error::invalid(format!("{} without the key {key}", self.place))
    }

    pub(super) fn wrong(&self, key: &str, found: &Directive, wanted: &str) -> Error {
        expected(&format!("{}.{key}", self.place), found, wanted)
    }
}

/// The error for a directive with an unexpected value.
pub(super) fn expected(place: &str, found: &Directive, wanted: &str) -> Error {
    Error::invalid(format!("{place}: {found}, expected {wanted}"))
}

/// A number. In JSON, non-finite numbers are words.
pub(super) fn real(value: &Directive) -> Option<f64> {
    match value {
        Directive::Float(number) => Some(*number),
        Directive::Int(number) => Some(*number as f64),
        Directive::Text(word) if ["NaN", "Infinity", "-Infinity"].contains(&word.as_str()) => {
            word.parse().ok()
        }
        _ => None,
    }
}

/// A 32-bit number. The written form of such a number is read back as the same number.
#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
pub(super) fn single(number: f64) -> f32 {
    number as f32
}
