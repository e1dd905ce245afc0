//! The object that a location names, as `show` opens it.

use crate::args::{Common, Show};
use crate::line;
use crate::output::{Messages, open_followed};
use crate::progress::Progress;
use hyperslab::location::{LocatedObject, Locator};
use hyperslab::select::FullLength;
use hyperslab::{Error, ErrorKind, Result, Source};
use std::sync::Arc;

/// An opened source and the object in it.
pub(super) struct Opened {
    pub(super) source: Arc<dyn Source>,
    pub(super) target: LocatedObject,
    /// The names of the member of a compound, if the location names one.
    pub(super) member: Vec<String>,
}

/// The location of an object.
pub(super) struct Place {
    location: Locator,
}

impl Place {
    pub(super) fn of(args: &Show) -> Place {
        Place { location: Locator::parse(&args.location) }
    }

    /// The name of the store, as typed.
    pub(super) fn store(&self) -> &str {
        &self.location.store
    }

    /// The source, as readers of its format show it, and the one object.
    pub(super) fn target(&self, common: &Common, messages: &Messages) -> Result<Opened> {
        let watch = Progress::of_reading("show", &self.location.store, false, common);
        let source = open_followed(true, &self.location, common, watch, messages)?;
        let source = if source.dialect().fills_to_length { FullLength::shared(source) } else { source };
        let mut targets = match self.location.followed(&*source) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let (target, member) = self.location.member(&*source)?.ok_or(error)?;
                return Ok(Opened { source, target, member });
            }
            targets => targets?,
        };
        match (targets.pop(), targets.len()) {
            (Some(target), 0) => Ok(Opened { source, target, member: Vec::new() }),
            (_, others) => {
                let path = self.location.path.as_deref().unwrap_or("/");
                let listed = line::of(["ls", &format!("{}:{path}", self.location.store)]);
                Err(Error::invalid(format!("matches {} objects, expected one", others + 1))
                    .with_hint(format_args!("`{listed}` lists them")))
            }
        }
    }
}
