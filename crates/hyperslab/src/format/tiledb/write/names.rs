//! Stored names of members.

use crate::strings::name_bytes;

/// The names under which members of an array are shown, with their stored names.
#[derive(Clone, Debug, Default)]
pub(super) struct StoredNames(pub(super) Vec<(String, Vec<u8>)>);

impl StoredNames {
    /// The stored name of a member.
    pub(super) fn of(&self, shown: &str) -> Vec<u8> {
        let found = self.0.iter().find(|(own, _)| own == shown);
        found.map_or_else(|| name_bytes(shown), |(_, stored)| stored.clone())
    }
}
