//! Requirements of checks that this machine does not meet.

use crate::run::Finished;
use crate::tally::Tally;

/// The reason why a program or a library cannot be used.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    pub(crate) reason: String,
    /// Whether the registry did not respond.
    pub(crate) unreachable: bool,
}

/// The start of the skip message if a registry did not respond.
pub(crate) const UNREACHABLE: &str = "a registry does not answer";

impl Missing {
    /// Something that no registry could provide.
    pub(crate) fn of(reason: String) -> Self {
        Missing { reason, unreachable: false }
    }

    pub(crate) fn into_reason(self) -> String {
        self.reason
    }

    /// The checks that cannot be made, as a single skip.
    pub(crate) fn tally(self) -> Tally {
        match self.unreachable {
            true => Tally::skip(format!("{UNREACHABLE}: {}", self.reason)),
            false => Tally::skip(self.reason),
        }
    }
}

/// Whether a package manager failed because its registry did not respond.
pub(crate) fn is_unreachable(finished: &Finished) -> bool {
    const SIGNS: &[&str] = &[
        "Could not resolve",
        "Temporary failure",
        "Failed to establish",
        "Connection refused",
        "Connection timed out",
        "Could not connect",
        "Max retries exceeded",
        "Network is unreachable",
        "No route to host",
        "ProxyError",
        "Read timed out",
        "Cannot connect to proxy",
    ];
    SIGNS.iter().any(|sign| finished.output.contains(sign))
}
