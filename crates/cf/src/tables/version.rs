//! Versions of the CF conventions.

use std::fmt;

/// A version of the CF conventions. Version 1.10 is later than 1.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The number before the point.
    pub major: u16,
    /// The number after the point.
    pub minor: u16,
}

impl Version {
    /// The version of the appendices embedded in the crate.
    pub const EMBEDDED: Version = Version { major: 1, minor: 13 };

    /// Parses `1.13`, without the `CF-` that precedes it in the attribute `Conventions`.
    pub fn parse(text: &str) -> Option<Version> {
        let number = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
            true => digits.parse().ok(),
            false => None,
        };
        let (major, minor) = text.split_once('.')?;
        Some(Version { major: number(major)?, minor: number(minor)? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
