//! The location of elements that a dataset stores outside its own file, converted to directives and back: the mappings
//! of virtual datasets (`mappings`) and the segments of external files (`external`).
//!
//! ```yaml
//! mappings: [{file: "part-%b.h5", dataset: x, virtual: {start: [0], stride: [4], count: [null], block: [4]}, source: all}]
//! external: [{file: raw.bin, offset: 0, size: 96}, {file: rest.bin, offset: 8, size: null}]
//! ```
//!
//! Names are those stored in the file, with `%b` for a block number and `%%` for a percent sign. A selection is `all`,
//! `none`, a regular hyperslab (an unlimited count or block is `null`), or a map of `blocks` or `points`.

use hyperslab_core::{Error, Result};
use hyperslab_hdf5::format::encoding::DataspaceSelection;
use hyperslab_hdf5::format::encoding::selection::hyperslab::{Blocks, Dimension};
use hyperslab_hdf5::{Dataset, ExternalSegment, SourceMapping};
use hyperslab_model::Directive;

/// The mappings of a virtual dataset. Mappings that would take more than `memory` bytes as directives are omitted; a
/// final item marks the omission.
pub(super) fn mappings(dataset: &Dataset, memory: u64) -> Directive {
    let mut left = memory;
    let mut listed = Vec::new();
    for of in dataset.mappings() {
        let numbers = numbers(of.here).saturating_add(numbers(of.there));
        let taken = numbers.saturating_mul(NUMBER).saturating_add(MAPPING);
        let taken = taken.saturating_add((of.file.len() + of.dataset.len()) as u64);
        let Some(rest) = left.checked_sub(taken) else {
            listed.push(Directive::Text(MORE.into()));
            break;
        };
        left = rest;
        listed.push(mapping(of));
    }
    Directive::List(listed)
}

fn mapping(of: SourceMapping<'_>) -> Directive {
    Directive::Map(vec![
        (FILE.into(), Directive::Text(of.file)),
        (DATASET.into(), Directive::Text(of.dataset)),
        (VIRTUAL.into(), selection(of.here)),
        (SOURCE.into(), selection(of.there)),
    ])
}

/// The segments of external files.
pub(super) fn external(segments: Vec<ExternalSegment>) -> Directive {
    let segment = |ExternalSegment { file, offset, len }| {
        Directive::Map(vec![
            (FILE.into(), Directive::Text(file)),
            (OFFSET.into(), number(offset)),
            (SIZE.into(), number(len)),
        ])
    };
    Directive::List(segments.into_iter().map(segment).collect())
}

/// A number; `null` for unlimited.
fn number(value: u64) -> Directive {
    match value {
        u64::MAX => Directive::Null,
        value => Directive::Int(value.into()),
    }
}

/// The number of coordinates of a selection.
fn numbers(of: &DataspaceSelection) -> u64 {
    let count = match of {
        DataspaceSelection::All | DataspaceSelection::None => 0,
        DataspaceSelection::Points(points) => points.coordinates.len(),
        DataspaceSelection::Hyperslab(hyperslab) => match &hyperslab.blocks {
            Blocks::Regular(dimensions) => dimensions.len().saturating_mul(4),
            Blocks::Irregular { bounds, .. } => bounds.len(),
        },
    };
    count as u64
}

fn selection(of: &DataspaceSelection) -> Directive {
    let list = |numbers: &[u64]| Directive::List(numbers.iter().copied().map(number).collect());
    let rank = |rank: u32| usize::try_from(rank).unwrap_or(usize::MAX).max(1);
    match of {
        DataspaceSelection::All => Directive::Text(ALL.into()),
        DataspaceSelection::None => Directive::Text(NONE.into()),
        // Nothing is selected, whatever the rank.
        _ if numbers(of) == 0 => Directive::Text(NONE.into()),
        DataspaceSelection::Points(points) => {
            let points = points.coordinates.chunks(rank(points.rank)).map(list);
            Directive::Map(vec![(POINTS.into(), Directive::List(points.collect()))])
        }
        DataspaceSelection::Hyperslab(hyperslab) => match &hyperslab.blocks {
            Blocks::Regular(dimensions) => {
                let along = |(name, of): &(&str, OfDimension)| {
                    ((*name).to_owned(), list(&dimensions.iter().map(of).collect::<Vec<_>>()))
                };
                Directive::Map(REGULAR.iter().map(along).collect())
            }
            Blocks::Irregular { rank: of, bounds } => {
                let block = |block: &[u64]| {
                    let (start, opposite) = block.split_at_checked(rank(*of)).unwrap_or_default();
                    Directive::Map(vec![(START.into(), list(start)), (OPPOSITE.into(), list(opposite))])
                };
                let blocks = bounds.chunks(rank(*of).saturating_mul(2)).map(block);
                Directive::Map(vec![(BLOCKS.into(), Directive::List(blocks.collect()))])
            }
        },
    }
}

/// A mapping that a writer is asked to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AskedMapping {
    /// The name of the source file as stored.
    pub(super) file: String,
    /// The path of the source dataset as stored.
    pub(super) dataset: String,
    /// The selected elements of the virtual dataset.
    pub(super) here: DataspaceSelection,
    /// The selected elements of the source.
    pub(super) there: DataspaceSelection,
}

/// Parses the output of [`mappings`] for a dataset with `rank` dimensions. Selections use the oldest encoding that can
/// represent them.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a mapping is incomplete; the message names it.
pub(super) fn read_mappings(of: &Directive, rank: usize) -> Result<Vec<AskedMapping>> {
    read_list("mappings", of, |map| {
        Ok(AskedMapping {
            file: text(map, FILE)?,
            dataset: text(map, DATASET)?,
            here: read_selection(member(map, VIRTUAL)?, Some(rank)).map_err(|e| within(VIRTUAL, &e))?,
            there: read_selection(member(map, SOURCE)?, None).map_err(|e| within(SOURCE, &e))?,
        })
    })
}

/// Parses the output of [`external`].
///
/// # Errors
/// As [`read_mappings`].
pub(super) fn read_external(of: &Directive) -> Result<Vec<ExternalSegment>> {
    read_list("external", of, |map| {
        Ok(ExternalSegment {
            file: text(map, FILE)?,
            offset: read_number(member(map, OFFSET)?)?,
            len: read_number(member(map, SIZE)?)?,
        })
    })
}

type Members = [(String, Directive)];

/// A number of a regular hyperslab along a dimension.
type OfDimension = fn(&Dimension) -> u64;

fn read_list<T>(name: &str, of: &Directive, one: impl Fn(&Members) -> Result<T>) -> Result<Vec<T>> {
    let Directive::List(items) = of else {
        return Err(wrong(of, "a list").map_detail(|d| format!("{name}: {d}")));
    };
    let item = |(at, item): (usize, &Directive)| {
        let read = match item {
            Directive::Map(map) => one(map),
            other => Err(wrong(other, "a map")),
        };
        read.map_err(|e| within(&format!("{name}[{at}]"), &e))
    };
    items.iter().enumerate().map(item).collect()
}

fn member<'a>(map: &'a Members, name: &str) -> Result<&'a Directive> {
    let found = map.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    found.ok_or_else(|| Error::invalid(format!("no {name}")))
}

fn text(map: &Members, name: &str) -> Result<String> {
    match member(map, name)? {
        Directive::Text(text) if !text.is_empty() && !text.contains('\0') => Ok(text.clone()),
        // A name that consists only of digits is a number in a document.
        Directive::Int(digits) => Ok(digits.to_string()),
        other => Err(within(name, &wrong(other, "a name"))),
    }
}

fn read_number(of: &Directive) -> Result<u64> {
    match of {
        Directive::Null => Ok(u64::MAX),
        Directive::Int(value) => u64::try_from(*value).map_err(|_| wrong(of, "0 to 2^64 - 1")),
        other => Err(wrong(other, "an integer or null")),
    }
}

fn read_numbers(of: &Directive, rank: Option<usize>) -> Result<Vec<u64>> {
    match of {
        Directive::List(items) if rank.is_none_or(|rank| items.len() == rank) && !items.is_empty() => {
            items.iter().map(read_number).collect()
        }
        other => Err(wrong(other, "a number for each dimension")),
    }
}

fn read_selection(of: &Directive, rank: Option<usize>) -> Result<DataspaceSelection> {
    let map = match of {
        Directive::Text(word) if word == ALL => return Ok(DataspaceSelection::All),
        Directive::Text(word) if word == NONE => return Ok(DataspaceSelection::None),
        Directive::Map(map) => map.as_slice(),
        other => return Err(wrong(other, "all, none or a map")),
    };
    let lists = |name: &str| match map {
        [(key, Directive::List(items))] if key == name && !items.is_empty() => Some(items.as_slice()),
        _ => None,
    };
    if let Some(points) = lists(POINTS) {
        let mut rank = rank;
        let mut coordinates = Vec::with_capacity(points.len());
        for point in points {
            let point = read_numbers(point, rank)?;
            rank = Some(point.len());
            coordinates.extend(point);
        }
        return Ok(DataspaceSelection::of_points(stored_rank(rank)?, coordinates));
    }
    let blocks = match lists(BLOCKS) {
        Some(blocks) => {
            let mut rank = rank;
            let mut bounds = Vec::with_capacity(blocks.len());
            for block in blocks {
                let Directive::Map(block) = block else { return Err(wrong(block, "start and opposite")) };
                for corner in [START, OPPOSITE] {
                    let corner = read_numbers(member(block, corner)?, rank)?;
                    rank = Some(corner.len());
                    bounds.extend(corner);
                }
            }
            Blocks::Irregular { rank: stored_rank(rank)?, bounds }
        }
        None => {
            let start = read_numbers(member(map, START)?, rank)?;
            let rank = Some(start.len());
            let [stride, count, block] =
                [STRIDE, COUNT, BLOCK].map(|name| read_numbers(member(map, name)?, rank));
            let others = stride?.into_iter().zip(count?).zip(block?);
            let dimensions = start
                .into_iter()
                .zip(others)
                .map(|(start, ((stride, count), block))| Dimension { start, stride, count, block });
            Blocks::Regular(dimensions.collect())
        }
    };
    Ok(DataspaceSelection::of_blocks(blocks))
}

fn stored_rank(rank: Option<usize>) -> Result<u32> {
    let rank = rank.and_then(|rank| u32::try_from(rank).ok());
    rank.ok_or_else(|| Error::invalid("no dimensions"))
}

fn within(name: &str, error: &Error) -> Error {
    Error::new(error.kind(), format!("{name}: {}", error.detail()))
}

fn wrong(found: &Directive, expected: &str) -> Error {
    Error::invalid(format!("{found}, expected {expected}"))
}

const FILE: &str = "file";
const DATASET: &str = "dataset";
const VIRTUAL: &str = "virtual";
const SOURCE: &str = "source";
const OFFSET: &str = "offset";
const SIZE: &str = "size";

const ALL: &str = "all";
const NONE: &str = "none";
const POINTS: &str = "points";
const BLOCKS: &str = "blocks";
const OPPOSITE: &str = "opposite";
const START: &str = "start";
const STRIDE: &str = "stride";
const COUNT: &str = "count";
const BLOCK: &str = "block";

/// The members of a regular hyperslab.
const REGULAR: [(&str, OfDimension); 4] = [
    (START, |dimension| dimension.start),
    (STRIDE, |dimension| dimension.stride),
    (COUNT, |dimension| dimension.count),
    (BLOCK, |dimension| dimension.block),
];

/// The item that marks omitted mappings.
const MORE: &str = "…";

/// The approximate memory in bytes that a mapping takes as a directive, without its coordinates.
const MAPPING: u64 = 1 << 10;

/// The approximate memory in bytes that a coordinate takes in a directive, with its share of the enclosing lists.
const NUMBER: u64 = 1 << 7;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::storage::FileStorage;
    use hyperslab_core::{Encoder, Limits};
    use hyperslab_hdf5::File;
    use hyperslab_hdf5::format::Structure;
    use hyperslab_hdf5::format::encoding::selection::hyperslab::HyperslabVersion;
    use hyperslab_model::{Datatype, Storage};
    use hyperslab_ndl::part;
    use std::path::Path;

    /// The directive after being written to a document and read back.
    fn through_text(key: &str, directive: Directive) -> Directive {
        let native = vec![("hdf5", vec![(key.to_owned(), directive)])];
        let said = part::storage(&Storage { native, ..Storage::default() }, Some(&Datatype::Bool)).unwrap();
        let read = part::read_storage(&part::Value::Map(said), Some(&Datatype::Bool)).unwrap();
        read.native.into_iter().next().unwrap().1.remove(0).1
    }

    fn datasets(name: &str, visit: &mut dyn FnMut(&File, &Dataset)) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hdf5/tests/data").join(name);
        let file = File::open(Box::new(FileStorage::open(&path).unwrap()), Limits::default()).unwrap();
        let links = file.root().unwrap().links(&file).unwrap();
        for address in links.iter().filter_map(hyperslab_hdf5::Link::address) {
            if let Ok(dataset) = file.object(address).unwrap().dataset(&file) {
                visit(&file, &dataset);
            }
        }
    }

    /// A selection as it is stored, in the oldest encoding.
    fn stored(of: &DataspaceSelection) -> Vec<u8> {
        let of = match of.clone() {
            DataspaceSelection::Hyperslab(of) => DataspaceSelection::of_blocks(of.blocks),
            DataspaceSelection::Points(of) => DataspaceSelection::of_points(of.rank, of.coordinates),
            other => other,
        };
        let mut e = Encoder::new();
        of.encode(&mut e, &()).unwrap();
        e.into_bytes()
    }

    #[test]
    fn mappings_of_files_are_the_same_when_read_from_a_text() {
        let mut count = 0;
        for name in ["vds_v110.h5", "vds_latest.h5"] {
            datasets(&format!("virtual/{name}"), &mut |_, dataset| {
                let Some(rank) = dataset.extents().map(<[u64]>::len) else { return };
                let text = through_text("mappings", mappings(dataset, u64::MAX));
                let read = read_mappings(&text, rank).unwrap();
                assert_eq!(read.len(), dataset.mappings().count());
                for (read, had) in read.iter().zip(dataset.mappings()) {
                    assert_eq!((&read.file, &read.dataset), (&had.file, &had.dataset));
                    assert_eq!(stored(&read.here), stored(had.here));
                    assert_eq!(stored(&read.there), stored(had.there));
                    count += 1;
                }
            });
        }
        assert!(count > 10, "{count}");
    }

    #[test]
    fn every_kind_of_selection_is_read_back() {
        let along = |start, stride, count, block| Dimension { start, stride, count, block };
        for of in [
            DataspaceSelection::All,
            DataspaceSelection::None,
            DataspaceSelection::of_points(2, vec![7, 0, 1 << 40, 3]),
            DataspaceSelection::of_blocks(Blocks::Irregular { rank: 1, bounds: vec![0, 3, 8, 8] }),
            DataspaceSelection::of_blocks(Blocks::Regular(vec![along(1, 4, u64::MAX, 2), along(0, 1, 1, 5)])),
            DataspaceSelection::of_blocks(Blocks::Regular(vec![along(0, 1, 1, u64::MAX), along(9, 3, 2, 1)])),
        ] {
            let text = through_text("mappings", Directive::List(vec![selection(&of)]));
            let Directive::List(items) = text else { panic!() };
            let rank = of.rank().map(|rank| usize::try_from(rank).unwrap());
            assert_eq!(read_selection(&items[0], rank).unwrap(), of);
        }
        // An empty selection has no rank.
        let nothing = DataspaceSelection::of_points(3, Vec::new());
        assert_eq!(read_selection(&selection(&nothing), Some(3)).unwrap(), DataspaceSelection::None);
        // A different encoding makes the same selection.
        let DataspaceSelection::Hyperslab(mut wide) =
            DataspaceSelection::of_blocks(Blocks::Irregular { rank: 1, bounds: vec![0, 3] })
        else {
            panic!()
        };
        wide.version = HyperslabVersion::V3 { width: 2 };
        let read = read_selection(&selection(&DataspaceSelection::Hyperslab(wide.clone())), Some(1)).unwrap();
        assert_eq!(stored(&read), stored(&DataspaceSelection::Hyperslab(wide)));
    }

    #[test]
    fn segments_of_external_files_are_read_back() {
        let mut count = 0;
        datasets("external/external.h5", &mut |file, dataset| {
            let segments = dataset.external_segments(file).unwrap();
            count += segments.len();
            assert_eq!(
                read_external(&through_text("external", external(segments.clone()))).unwrap(),
                segments
            );
        });
        assert!(count > 1, "{count}");
    }

    #[test]
    fn what_is_incomplete_is_named() {
        let text = |text: &str| Directive::Text(text.to_owned());
        let map = |members: &[(&str, Directive)]| {
            Directive::Map(members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
        };
        let one = |members: &[(&str, Directive)]| Directive::List(vec![map(members)]);
        let names = [("file", text("a.h5")), ("dataset", text("x"))];
        let wrong = map(&[("start", Directive::List(vec![Directive::Int(-1)]))]);
        let short = map(&[("points", Directive::List(vec![Directive::List(vec![Directive::Int(1)])]))]);
        for (of, expected) in [
            (text("all"), "mappings: all, expected a list"),
            (Directive::List(vec![text(MORE)]), "mappings[0]: …, expected a map"),
            (one(&[]), "mappings[0]: no file"),
            (one(&names), "mappings[0]: no virtual"),
            (
                one(&[names.as_slice(), &[("virtual", text("some"))]].concat()),
                "virtual: some, expected all, none or a map",
            ),
            (
                one(&[names.as_slice(), &[("virtual", wrong)]].concat()),
                "virtual: [-1], expected a number for each dimension",
            ),
            (
                one(&[names.as_slice(), &[("virtual", short)]].concat()),
                "virtual: [1], expected a number for each dimension",
            ),
        ] {
            let error = read_mappings(&of, 2).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let negative = one(&[("file", text("a")), ("offset", Directive::Int(-1)), ("size", Directive::Null)]);
        let error = read_external(&negative).unwrap_err().to_string();
        assert_eq!(error, "external[0]: -1, expected 0 to 2^64 - 1");
    }
}
