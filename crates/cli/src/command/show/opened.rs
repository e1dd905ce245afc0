//! The object that a location names, opened for `show`.

use crate::args::{Common, Show};
use crate::command::joined;
use crate::output::{Messages, open_followed};
use crate::progress::Progress;
use crate::{line, tried};
use hyperslab::location::{LocatedObject, Locator};
use hyperslab::select::FullLength;
use hyperslab::{Error, ErrorKind, OpenOptions, Result, Source};
use std::path::Path;
use std::sync::Arc;

/// An opened source and the object in it.
pub(super) struct Opened {
    pub(super) source: Arc<dyn Source>,
    pub(super) target: LocatedObject,
    /// The names that lead to the member of a compound, if the location names one.
    pub(super) member: Vec<String>,
}

/// The location of an object, in one store or in several joined ones.
pub(super) struct Place<'a> {
    location: Locator,
    /// The stores to join, and how.
    joined: Option<(Vec<String>, &'a Show)>,
}

impl Place<'_> {
    /// # Errors
    /// If several locations name different objects.
    pub(super) fn of(args: &Show) -> Result<Place<'_>> {
        if args.locations.len() > 1 || args.joining.names_dimension() {
            let (stores, path) = stores(args)?;
            let location = Locator { store: joined::name(&stores), path };
            return Ok(Place { location, joined: Some((stores, args)) });
        }
        let only = args.locations.first().map_or(".", String::as_str);
        Ok(Place { location: Locator::parse(only), joined: None })
    }

    /// The name of the store as typed.
    pub(super) fn store(&self) -> &str {
        &self.location.store
    }

    /// Opens the source in the form that is usual for its format, and finds the one object.
    pub(super) fn target(&self, common: &Common, messages: &Messages) -> Result<Opened> {
        let watch = Progress::of_reading("show", &self.location.store, false, common);
        let source = match &self.joined {
            Some((stores, args)) => {
                let open = OpenOptions { watch, ..common.open_options() };
                let options = args.joining.options(self.location.path.clone(), open);
                joined::open(stores, &options, messages)?.shared()
            }
            None => {
                let source = open_followed(true, &self.location, common, watch, messages)?;
                if source.dialect().fills_to_length { FullLength::shared(source) } else { source }
            }
        };
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

/// The stores that are joined, and the path that all of them share.
fn stores(args: &Show) -> Result<(Vec<String>, Option<String>)> {
    // A variable or a selection may have been given as a separate word.
    let is_word = |text: &String| !Path::new(&Locator::parse(text).store).exists();
    if let Some(word) = args.locations.iter().skip(1).find(|text| is_word(text))
        && let Some(line) = tried::variable(&line::typed()).or_else(|| tried::selection(&line::typed(), word))
    {
        return Err(Error::invalid(format!("unexpected argument '{word}'"))
            .with_hint(format_args!("did you mean `{line}`?")));
    }
    joined::stores(&args.locations)
}
