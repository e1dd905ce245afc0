//! Properties of objects that only HDF5 has: comment, times, creation order, space allocation time.

use super::{Hdf5Source, text};
use hyperslab_core::Result;
use hyperslab_hdf5::format::message::comment::Comment;
use hyperslab_hdf5::format::message::fill_value::AllocationTime;
use hyperslab_hdf5::format::message::modification_time::ModificationTime;
use hyperslab_hdf5::format::message::modification_time_old::ModificationTimeOld;
use hyperslab_hdf5::{Dataset, Object};
use hyperslab_model::{Directive, Storage};

impl Hdf5Source {
    /// Adds native directives of HDF5. Times are in seconds since 1970; the oldest message has digits instead.
    pub(super) fn note_object(
        &self,
        object: &Object,
        dataset: Option<&Dataset>,
        storage: &mut Storage,
    ) -> Result<()> {
        let (header, reader) = (object.header(), self.file.reader());
        let mut notes = Vec::new();
        let mut note = |key: &str, value| notes.push((key.to_owned(), value));
        if let Some(comment) = header.message::<Comment>(reader)? {
            note("comment", Directive::Text(text(&comment.text)));
        }
        if let Some(times) = header.times() {
            let of = [
                ("atime", times.access),
                ("mtime", times.modification),
                ("ctime", times.change),
                ("btime", times.birth),
            ];
            of.into_iter().for_each(|(key, seconds)| note(key, Directive::Int(seconds.into())));
        } else if let Some(time) = header.message::<ModificationTime>(reader)? {
            note("mtime", Directive::Int(time.seconds.into()));
        } else if let Some(time) = header.message::<ModificationTimeOld>(reader)? {
            note("mtime", Directive::Text(text(&time.digits)));
        }
        // In NetCDF-4 all groups track it.
        if !self.netcdf && object.tracks_creation_order(&self.file).unwrap_or(false) {
            note("track_order", Directive::Bool(true));
        }
        if let Some(dataset) = dataset
            && let Some(message) = dataset.fill(&self.file)?.message
        {
            let time = match message.allocation_time {
                AllocationTime::Early => Some("early"),
                AllocationTime::Late => Some("late"),
                AllocationTime::Incremental => Some("incremental"),
                AllocationTime::Default => None,
            };
            if let Some(time) = time {
                note("alloc_time", Directive::Text(time.into()));
            }
        }
        if !notes.is_empty() {
            storage.native_mut("hdf5")?.extend(notes);
        }
        Ok(())
    }
}
