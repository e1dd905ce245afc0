//! Lists what was written to the objects of a store: the current content, and earlier content that it still keeps.

pub use crate::source::{Event, EventKind};

use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::NodePath;

/// Calls `visit` with the writes to an object, and to each object below it that has a history of its own: the events
/// from the oldest to the newest, and simultaneous ones in the order of their names. An object whose history cannot be
/// read is visited with the error.
///
/// ```
/// use hyperslab::{NodePath, OpenOptions, Source, history, open};
///
/// let source = open("../../examples/survey.tdb".as_ref(), &OpenOptions::default())?;
/// let group = source.find(&NodePath::root())?;
/// history::history(&*source, &group, &mut |path, events| {
///     for event in events? {
///         println!("{path}: {} of {} bytes", event.kind, event.bytes);
///     }
///     Ok(())
/// })?;
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If the object has no history of its own, or its history cannot be read; the errors of `visit`.
pub fn history<V>(source: &dyn Source, object: &Entry, visit: &mut V) -> Result<()>
where
    V: FnMut(&NodePath, Result<Vec<Event>>) -> Result<()> + ?Sized,
{
    let first = &object.handle;
    let Some(events) = source.history(first)? else { return Err(none(source, &first.path)?) };
    visit(&first.path, Ok(sorted(events)))?;
    if !matches!(object.item, Item::Group) {
        return Ok(());
    }
    walk(source, first, &mut |step| {
        let below = match step {
            Step::Enter(group, _) => group,
            Step::Member(Entry { item: Item::Link(_), .. }) | Step::Leave(_) => return Ok(()),
            Step::Member(entry) => &entry.handle,
        };
        if below.path == first.path {
            return Ok(());
        }
        match source.history(below) {
            Ok(None) => Ok(()),
            Ok(Some(events)) => visit(&below.path, Ok(sorted(events))),
            Err(error) if error.kind() == ErrorKind::Cancelled => Err(error),
            Err(error) => visit(&below.path, Err(error)),
        }
    })
}

/// The error for an object without a history of its own: either nothing in the store has one, or a group above it has
/// one.
fn none(source: &dyn Source, path: &NodePath) -> Result<Error> {
    let above = std::iter::successors(path.parent(), NodePath::parent);
    for group in above {
        let Entry { handle, .. } = source.find(&group)?;
        if source.history(&handle)?.is_some() {
            let error = Error::invalid("has no history of its own").in_object(path);
            return Ok(error.with_remedy(Remedy::Instead {
                given: path.to_string(),
                write: group.to_string(),
                effect: Some(format!("lists what was written to all of {group}")),
            }));
        }
    }
    let detail = format!("{} does not store earlier states, only the current one", source.format());
    Ok(Error::invalid(detail).with_remedy(Remedy::DescribeObject(path.to_string())))
}

fn sorted(mut events: Vec<Event>) -> Vec<Event> {
    let moment = |event: &Event| event.at.as_ref().map(|at| (*at.start(), *at.end()));
    events.sort_by(|a, b| (moment(a), &a.name).cmp(&(moment(b), &b.name)));
    events
}
