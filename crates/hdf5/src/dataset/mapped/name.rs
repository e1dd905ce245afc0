//! Names of sources, which can contain the number of a block.

use hyperslab_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A name in parts, with the number of a block between them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name(Vec<String>);

/// The names of blocks, each stored once: thousands of mappings can share a long one.
#[derive(Default)]
pub(super) struct Names(FxHashMap<(usize, usize), Arc<Name>>);

impl Names {
    /// The name for `stored`. The same bytes in memory give the same name.
    ///
    /// # Errors
    /// If it is not UTF-8, is too long, or has an invalid percent sign.
    pub(super) fn parse(&mut self, stored: &[u8]) -> Result<Arc<Name>> {
        let place = (stored.as_ptr().addr(), stored.len());
        if let Some(name) = self.0.get(&place) {
            return Ok(Arc::clone(name));
        }
        let name = Arc::new(Name::parse(stored)?);
        self.0.insert(place, Arc::clone(&name));
        Ok(name)
    }
}

/// The name of the first of numbered sources, or the only one.
///
/// # Errors
/// If it is not UTF-8, is too long, or has an invalid percent sign.
pub(crate) fn first_name(stored: &[u8]) -> Result<String> {
    Name::parse(stored).map(|name| name.text(0))
}

impl Name {
    /// Splits at `%b`. `%%` is a percent sign.
    fn parse(name: &[u8]) -> Result<Name> {
        if name.len() > LONGEST {
            let detail = format!("source name of {} bytes, expected at most {LONGEST}", name.len());
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
        let text = str::from_utf8(name).map_err(|_| Error::unsupported("source name is not UTF-8"))?;
        let mut pieces = vec![String::new()];
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            let last = pieces.last_mut();
            match (c, last) {
                ('%', Some(last)) => match chars.next() {
                    Some('b') => pieces.push(String::new()),
                    Some('%') => last.push('%'),
                    _ => {
                        return Err(Error::malformed(format!(
                            "source name {text:?} has a %, expected %b or %%"
                        )));
                    }
                },
                (c, Some(last)) => last.push(c),
                (_, None) => {}
            }
        }
        Ok(Name(pieces))
    }

    /// Whether it contains the number of a block.
    pub(super) fn is_numbered(&self) -> bool {
        self.0.len() > 1
    }

    /// The name as it is stored: with `%b` for the number, and `%%` for a percent sign.
    pub(super) fn pattern(&self) -> String {
        let pieces: Vec<String> = self.0.iter().map(|piece| piece.replace('%', "%%")).collect();
        pieces.join("%b")
    }

    /// The name with this number.
    pub(super) fn text(&self, number: u64) -> String {
        self.0.join(&number.to_string())
    }
}

/// The maximum length of a name of a file or object.
const LONGEST: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_where_the_name_says() {
        let name = Name::parse(b"a%%b-%b_%b").unwrap();
        assert!(name.is_numbered());
        assert_eq!(name.text(12), "a%b-12_12");
        for stored in ["f-%b.h5", "a%%b-%b_%b", "100%%"] {
            assert_eq!(Name::parse(stored.as_bytes()).unwrap().pattern(), stored);
        }
        assert!(!Name::parse(b"100%%").unwrap().is_numbered());
        for wrong in [&b"%"[..], b"%d", b"a%"] {
            assert_eq!(Name::parse(wrong).unwrap_err().kind(), ErrorKind::Malformed);
        }
        assert_eq!(Name::parse(b"\xff").unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn a_shared_name_is_kept_once() {
        let stored = b"long".to_vec();
        let mut names = Names::default();
        let (first, second) = (names.parse(&stored).unwrap(), names.parse(&stored).unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        // Bytes at another address are another name.
        assert_eq!(names.parse(&stored[..2]).unwrap().text(0), "lo");
    }

    #[test]
    fn names_longer_than_any_are_refused() {
        assert!(Name::parse(&[b'a'; LONGEST]).is_ok());
        assert_eq!(Name::parse(&[b'a'; LONGEST + 1]).unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
}
