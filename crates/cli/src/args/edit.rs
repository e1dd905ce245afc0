//! The options of `edit`: each is a change, and all are made in the order in which they are typed.

use clap::Args;
use hyperslab::edit::Action;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Args, Debug)]
pub(crate) struct Edit {
    /// The store to change, or an object in it; paths in changes that do not begin with / are relative to it
    #[arg(value_name = "LOCATION")]
    pub(crate) location: String,
    /// Report what would change, and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Wait until each change is on the disk before the next
    #[arg(long)]
    pub(crate) sync: bool,
    /// Print the report as one JSON value
    #[arg(long)]
    pub(crate) json: bool,
    // As in `convert`.
    #[command(flatten)]
    changes: Changes,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Changes (applied in the order given, each completely or not at all)")]
struct Changes {
    /// Set an attribute: '/sst@units=K', '/sst@n={shape: [], type: int8, value: 3}'
    #[arg(long, value_name = "PATH@NAME=VALUE", allow_hyphen_values = true, value_parser = change)]
    set: Vec<Change>,
    /// Remove an attribute
    #[arg(long, value_name = "PATH@NAME", allow_hyphen_values = true, value_parser = change)]
    remove: Vec<Change>,
    /// Add the cells and elements of a document, or of any other store, to the arrays of the same paths; dimensions grow as
    /// far as they can
    #[arg(long, value_name = "STORE[:/PATH]", value_parser = change)]
    append: Vec<Change>,
    /// Write elements from a NumPy file: '/sst:time=0,lat=0:90=new.npy'
    #[arg(long, value_name = "PATH:SEL=FILE", allow_hyphen_values = true, value_parser = change)]
    write: Vec<Change>,
    /// Remove the cells for which a condition holds: 'x >= 20 and (s == "a" or y in [1, 2])'; null and NaN match any
    /// comparison
    #[arg(long, value_name = "[PATH:]CONDITION", allow_hyphen_values = true, value_parser = change)]
    remove_cells: Vec<Change>,
    /// Add an attribute to an array (TileDB): '/sightings/note=string', '/t/flag={type: int8, storage: {fillvalue: -1}}'
    #[arg(long, value_name = "PATH=TYPE", allow_hyphen_values = true, value_parser = change)]
    add_attribute: Vec<Change>,
    /// Remove an attribute from an array (TileDB)
    #[arg(long, value_name = "PATH", allow_hyphen_values = true, value_parser = change)]
    drop_attribute: Vec<Change>,
    /// Rename an object within its group: '/day2=monday'
    #[arg(long, value_name = "PATH=NAME", allow_hyphen_values = true, value_parser = change)]
    rename: Vec<Change>,
    /// Append values to the enumeration of an array: '/sightings/species=walrus,orca'
    #[arg(long, value_name = "PATH=VALUE,…", allow_hyphen_values = true, value_parser = change)]
    extend_enumeration: Vec<Change>,
    /// Extend dimensions to a new first and last coordinate: '/t:y=0..99'
    #[arg(long, value_name = "[PATH:]DIM=A..B,…", allow_hyphen_values = true, value_parser = change)]
    grow: Vec<Change>,
    /// Add a member to a group, an array or a group of the same store: '/day2=runs/day2'
    #[arg(long, value_name = "PATH=URI", value_parser = change)]
    add_member: Vec<Change>,
    /// Remove a member from a group; only the membership is removed; the array or group itself stays in place
    #[arg(long, value_name = "PATH", value_parser = change)]
    remove_member: Vec<Change>,
    /// Merge many fragments, commits, footers or metadata files into one, for all arrays of the location or for one: '/t:commits';
    /// `purge` leaves deleted and replaced cells out of fragments
    #[arg(long, value_name = "[PATH:]WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "fragments", value_parser = change)]
    consolidate: Vec<Change>,
    /// Remove what consolidation has replaced; states before it can then no longer be read; with `all`, also what killed writers
    /// have left, while none is at work
    #[arg(long, value_name = "[PATH:]WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "replaced", value_parser = change)]
    vacuum: Vec<Change>,
}

/// A change as it is typed, and how many were typed before.
#[derive(Clone, Debug)]
struct Change {
    before: usize,
    text: String,
}

impl Edit {
    /// The changes in the order in which they were typed.
    pub(crate) fn changes(&self) -> Vec<(Action, &str)> {
        let Changes {
            set,
            remove,
            append,
            write,
            remove_cells,
            add_attribute,
            drop_attribute,
            rename,
            extend_enumeration,
            grow,
            add_member,
            remove_member,
            consolidate,
            vacuum,
        } = &self.changes;
        let of = [
            (Action::Set, set),
            (Action::Remove, remove),
            (Action::Append, append),
            (Action::Write, write),
            (Action::RemoveCells, remove_cells),
            (Action::AddAttribute, add_attribute),
            (Action::DropAttribute, drop_attribute),
            (Action::Rename, rename),
            (Action::ExtendEnumeration, extend_enumeration),
            (Action::Grow, grow),
            (Action::AddMember, add_member),
            (Action::RemoveMember, remove_member),
            (Action::Consolidate, consolidate),
            (Action::Vacuum, vacuum),
        ];
        let mut all: Vec<(usize, Action, &str)> = of
            .iter()
            .flat_map(|(action, changes)| changes.iter().map(|of| (of.before, *action, of.text.as_str())))
            .collect();
        all.sort_unstable_by_key(|(before, ..)| *before);
        all.into_iter().map(|(_, action, text)| (action, text)).collect()
    }
}

/// Takes the text of a change. Options are read in the order in which they are typed.
fn change(text: &str) -> Result<Change, String> {
    static TYPED: AtomicUsize = AtomicUsize::new(0);
    Ok(Change { before: TYPED.fetch_add(1, Ordering::Relaxed), text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use crate::args::{Cli, Verb};
    use clap::Parser;

    #[test]
    fn changes_are_in_the_order_in_which_they_are_typed() {
        let line = "hyperslab edit a.tdb --remove /@b --set /@a=1 --remove /@c --drop-attribute /x/y -n";
        let Verb::Edit(edit) = Cli::parse_from(line.split(' ')).verb else { unreachable!() };
        let texts: Vec<&str> = edit.changes().iter().map(|(_, text)| *text).collect();
        assert_eq!(texts, ["/@b", "/@a=1", "/@c", "/x/y"]);
    }
}
