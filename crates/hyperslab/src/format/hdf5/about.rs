//! Properties of objects that only HDF5 has, as directives: comment, user block, times, and settings chosen at
//! creation.

use super::creation::{Notes, note, note_padding};
use super::{Hdf5Source, mapping, text};
use hyperslab_core::Result;
use hyperslab_hdf5::format::message::comment::Comment;
use hyperslab_hdf5::format::message::modification_time::ModificationTime;
use hyperslab_hdf5::format::message::modification_time_old::ModificationTimeOld;
use hyperslab_hdf5::navigate::Reader;
use hyperslab_hdf5::navigate::object_header::ObjectHeader;
use hyperslab_hdf5::{Dataset, Object, ObjectKind};
use hyperslab_model::{Directive, Storage};

impl Hdf5Source {
    /// Adds native directives of HDF5. Times are in seconds since 1970, except in the oldest message, which stores
    /// digits.
    pub(super) fn note_object(
        &self,
        object: &Object,
        dataset: Option<&Dataset>,
        storage: &mut Storage,
    ) -> Result<()> {
        let (header, reader) = (object.header(), self.file.reader());
        let mut notes = Notes::new();
        if let Some(comment) = header.message::<Comment>(reader)? {
            note(&mut notes, "comment", Directive::Text(text(&comment.text)));
        }
        if header.address() == self.file.root_address() {
            match self.file.user_block() {
                0 => {}
                size if size <= MAX_USER_BLOCK => {
                    note(&mut notes, "user_block", user_block_of(reader, size)?);
                }
                // The content of a user block of this size is not described.
                size => note(&mut notes, "user_block_size", Directive::Int(size.into())),
            }
            self.note_file(&mut notes)?;
        }
        self.note_times(header, &mut notes)?;
        self.note_group(object, &mut notes)?;
        self.note_attributes(header, &mut notes);
        if let Some(dataset) = dataset {
            self.note_dataset(dataset, &mut notes)?;
            if dataset.committed().is_none() {
                note_padding(dataset.datatype(), &mut notes);
            }
            if dataset.has_external_files() {
                note(&mut notes, "external", mapping::external(dataset.external_segments(&self.file)?));
            }
            if dataset.mappings().next().is_some() {
                let memory = reader.limits().allocation / 4;
                note(&mut notes, "mappings", mapping::mappings(dataset, memory));
            }
        } else if object.kind() == ObjectKind::NamedDatatype {
            note_padding(&object.named_datatype(&self.file)?, &mut notes);
        }
        if !notes.is_empty() {
            storage.native_mut("hdf5")?.extend(notes);
        }
        Ok(())
    }

    fn note_times(&self, header: &ObjectHeader, notes: &mut Notes) -> Result<()> {
        let reader = self.file.reader();
        if let Some(times) = header.times() {
            let of = [
                ("atime", times.access),
                ("mtime", times.modification),
                ("ctime", times.change),
                ("btime", times.birth),
            ];
            of.into_iter().for_each(|(key, seconds)| note(notes, key, Directive::Int(seconds.into())));
        } else if let Some(time) = header.message::<ModificationTime>(reader)? {
            note(notes, "mtime", Directive::Int(time.seconds.into()));
        } else if let Some(time) = header.message::<ModificationTimeOld>(reader)? {
            note(notes, "mtime", Directive::Text(text(&time.digits)));
        }
        Ok(())
    }
}

/// The size of a user block, and its bytes without the trailing zeros.
fn user_block_of(reader: &Reader, size: u64) -> Result<Directive> {
    let bytes = reader.user_block(size)?;
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let digits = bytes.iter().take(used).map(|byte| format!("{byte:02x}")).collect::<String>();
    Ok(Directive::Map(vec![
        ("size".to_owned(), Directive::Int(size.into())),
        ("bytes".to_owned(), Directive::Text(format!("0x{digits}"))),
    ]))
}

/// The maximum size of a user block whose bytes are described. Conversions do not keep the bytes of larger ones.
pub(super) const MAX_USER_BLOCK: u64 = 1 << 16;
