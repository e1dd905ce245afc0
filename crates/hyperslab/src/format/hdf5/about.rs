//! Properties of objects that only HDF5 has: comment, times, creation order, space allocation time.

use super::{Hdf5Source, text};
use hyperslab_core::Result;
use hyperslab_hdf5::format::encoding::DataspaceSelection;
use hyperslab_hdf5::format::encoding::selection::hyperslab::{Blocks, Dimension, HyperslabSelection};
use hyperslab_hdf5::format::message::comment::Comment;
use hyperslab_hdf5::format::message::fill_value::AllocationTime;
use hyperslab_hdf5::format::message::modification_time::ModificationTime;
use hyperslab_hdf5::format::message::modification_time_old::ModificationTimeOld;
use hyperslab_hdf5::navigate::Reader;
use hyperslab_hdf5::{Dataset, Object, SourceMapping};
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
        let user_block = self.file.user_block();
        if user_block > 0 && header.address() == self.file.root_address() {
            match user_block <= MAX_USER_BLOCK {
                true => note("user_block", user_block_of(reader, user_block)?),
                // Its content is not described.
                false => note("user_block_size", Directive::Int(user_block.into())),
            }
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
        if let Some(dataset) = dataset.filter(|dataset| dataset.mappings().next().is_some()) {
            let (listed, more) =
                (dataset.mappings().take(MAX_MAPPINGS), dataset.mappings().nth(MAX_MAPPINGS));
            let mut mappings: Vec<_> = listed.map(|one| mapping(&one)).collect();
            mappings.extend(more.map(|_| Directive::Text("…".into())));
            notes.push(("mappings".to_owned(), Directive::List(mappings)));
        }
        if !notes.is_empty() {
            storage.native_mut("hdf5")?.extend(notes);
        }
        Ok(())
    }
}

/// The size of a user block, and its bytes without the zeros behind them.
fn user_block_of(reader: &Reader, size: u64) -> Result<Directive> {
    let bytes = reader.user_block(size)?;
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let digits = bytes.iter().take(used).map(|byte| format!("{byte:02x}")).collect::<String>();
    Ok(Directive::Map(vec![
        ("size".to_owned(), Directive::Int(size.into())),
        ("bytes".to_owned(), Directive::Text(format!("0x{digits}"))),
    ]))
}

/// A mapping of a virtual dataset.
fn mapping(from: &SourceMapping<'_>) -> Directive {
    Directive::Map(vec![
        ("file".into(), Directive::Text(from.file.clone())),
        ("dataset".into(), Directive::Text(from.dataset.clone())),
        ("virtual".into(), selection(from.here)),
        ("source".into(), selection(from.there)),
    ])
}

/// A selection in the words of the HDF5 library. An unlimited count or block is `null`.
fn selection(from: &DataspaceSelection) -> Directive {
    let number = |value: u64| match value {
        u64::MAX => Directive::Null,
        value => Directive::Int(value.into()),
    };
    let along = |dimensions: &[Dimension], of: fn(&Dimension) -> u64| {
        Directive::List(dimensions.iter().map(|dimension| number(of(dimension))).collect())
    };
    match from {
        DataspaceSelection::All => Directive::Text("all".into()),
        DataspaceSelection::None => Directive::Text("none".into()),
        DataspaceSelection::Points(_) => Directive::Text("points".into()),
        DataspaceSelection::Hyperslab(HyperslabSelection { blocks: Blocks::Regular(dimensions), .. }) => {
            Directive::Map(vec![
                ("start".into(), along(dimensions, |dimension| dimension.start)),
                ("stride".into(), along(dimensions, |dimension| dimension.stride)),
                ("count".into(), along(dimensions, |dimension| dimension.count)),
                ("block".into(), along(dimensions, |dimension| dimension.block)),
            ])
        }
        DataspaceSelection::Hyperslab(HyperslabSelection {
            blocks: Blocks::Irregular { rank, bounds },
            ..
        }) => {
            let rank = usize::try_from(*rank).unwrap_or(usize::MAX).max(1);
            let corner = |corner: Option<&[u64]>| {
                Directive::List(corner.unwrap_or_default().iter().copied().map(number).collect())
            };
            let blocks = bounds.chunks(rank.saturating_mul(2)).map(|block| {
                let (start, opposite) = (block.get(..rank), block.get(rank..));
                Directive::Map(vec![("start".into(), corner(start)), ("opposite".into(), corner(opposite))])
            });
            Directive::Map(vec![("blocks".into(), Directive::List(blocks.collect()))])
        }
    }
}

/// The maximum size of a user block whose bytes are described. They are not kept by conversions beyond it.
pub(super) const MAX_USER_BLOCK: u64 = 1 << 16;

/// The number of mappings that are listed.
const MAX_MAPPINGS: usize = 10_000;
