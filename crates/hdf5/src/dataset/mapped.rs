//! Reads virtual datasets, whose elements are in other datasets.
//!
//! Options of the library have their defaults here: a dataset grows with its sources (`H5D_VDS_LAST_AVAILABLE`), and
//! numbered sources end before the first missing one.
//!
//! Spec: HDF5 III.F Disk Format: Level 1F - Global Heap Block for Virtual Datasets

mod indexes;
mod name;
mod pairing;
mod sources;

pub(crate) use name::first_name;
pub use sources::SourceMapping;

use super::Dataset;
use super::array::Means;
use crate::element::conversion::Conversion;
use crate::file::File;
use crate::format::encoding::DataspaceSelection;
use crate::format::encoding::selection::hyperslab::{Blocks, Dimension, HyperslabSelection};
use crate::format::infrastructure::VirtualDatasetBlock;
use crate::format::message::datatype::{Datatype, DatatypeClass};
use crate::format::{Address, Structure};
use crate::object::ObjectKind;
use crate::reference::Reference;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region, bands, fill_rows};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Decoder, Error, ErrorKind, Result};
use indexes::{Elements, Indexes};
use name::{Name, Names};
use pairing::Pairing;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The mappings of a virtual dataset.
#[derive(Debug)]
pub(super) struct Mapped {
    mappings: Vec<Mapping>,
    /// The address of its own object header.
    own: Address,
}

#[derive(Debug)]
struct Mapping {
    file: Arc<Name>,
    dataset: Arc<Name>,
    here: DataspaceSelection,
    there: DataspaceSelection,
    kind: Kind,
}

/// The extent of a mapping.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Limited,
    /// As large as the source, along these dimensions.
    Unlimited {
        here: usize,
        there: usize,
    },
    /// One block along this dimension for each numbered source.
    Numbered {
        here: usize,
    },
}

/// The virtual datasets that are being read, each as a source of the one before.
#[derive(Clone, Copy)]
pub(crate) struct Chain<'a> {
    identity: Option<&'a Path>,
    address: Address,
    before: Option<&'a Chain<'a>>,
    depth: u32,
    /// The number of further sources that may be opened for all of them.
    sources: &'a AtomicU32,
}

/// A source that was found.
struct Source<'a> {
    file: SourceFile<'a>,
    /// The address of its object header.
    address: Address,
    dataset: Dataset,
}

enum SourceFile<'a> {
    Same(&'a File),
    Other(Arc<File>),
}

impl SourceFile<'_> {
    fn get(&self) -> &File {
        match self {
            SourceFile::Same(file) => file,
            SourceFile::Other(file) => file,
        }
    }
}

impl Mapped {
    /// Reads the mappings of the dataset with the header at `own`, which has this many dimensions.
    pub(super) fn open(file: &File, own: Address, heap: Address, index: u32, rank: usize) -> Result<Mapped> {
        if heap.is_undefined() {
            return Ok(Mapped { mappings: Vec::new(), own });
        }
        let bytes = file.global_heap().object(file.reader(), heap, index)?;
        let _charge = file.reader().budget().charge((bytes.len() as u64).saturating_mul(4))?;
        let mut d = Decoder::decoded(VirtualDatasetBlock::NAME, "global heap object", heap.0, &bytes);
        let block = VirtualDatasetBlock::decode(&mut d, file.reader().sizes())?;
        let sources = block.sources()?;
        let mut names = Names::default();
        let mut mappings = Vec::with_capacity(block.mappings.len());
        for (mapping, source) in block.mappings.iter().zip(sources) {
            let (file, dataset) = (names.parse(source.file)?, names.parse(source.dataset)?);
            let (here, there) = (mapping.virtual_selection.clone(), mapping.source_selection.clone());
            if here.rank().is_some_and(|own| usize::try_from(own).ok() != Some(rank)) {
                return Err(Error::malformed(
                    "virtual selection has another number of dimensions than the dataset",
                ));
            }
            let numbered = file.is_numbered() || dataset.is_numbered();
            let kind = match (unlimited(&here)?, unlimited(&there)?) {
                (None, None) if !numbered => Kind::Limited,
                (Some((here, _)), Some((there, _))) if !numbered => Kind::Unlimited { here, there },
                (Some((here, Dimension { count: u64::MAX, .. })), None) if numbered => {
                    Kind::Numbered { here }
                }
                (None, None) => {
                    return Err(Error::malformed(
                        "source name has %b, but the virtual selection is not unlimited",
                    ));
                }
                (Some(_), None) => {
                    return Err(Error::malformed(
                        "virtual selection is unlimited, but the source selection is not",
                    ));
                }
                (None, Some(_)) => {
                    return Err(Error::malformed(
                        "source selection is unlimited, but the virtual selection is not",
                    ));
                }
                (Some(_), Some(_)) => {
                    return Err(Error::malformed(
                        "source name has %b, but the source selection is unlimited",
                    ));
                }
            };
            mappings.push(Mapping { file, dataset, here, there, kind });
        }
        Ok(Mapped { mappings, own })
    }

    /// Calls `visit` with the name of each file that has sources, the file itself left out. Numbered files end before the
    /// first of which `is_there` says that it is missing.
    pub(super) fn files(
        &self,
        is_there: &dyn Fn(&str) -> bool,
        visit: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        // Neighbouring mappings mostly share a name.
        let mut last: Option<&Arc<Name>> = None;
        for name in self.mappings.iter().map(|mapping| &mapping.file) {
            if last.is_some_and(|last| Arc::ptr_eq(last, name)) {
                continue;
            }
            last = Some(name);
            let text = name.text(0);
            if text == SAME_FILE {
                continue;
            }
            visit(&text)?;
            if !name.is_numbered() {
                continue;
            }
            for text in
                (1..u64::from(MAX_SOURCES)).map(|number| name.text(number)).take_while(|text| is_there(text))
            {
                visit(&text)?;
            }
        }
        Ok(())
    }

    /// Whether the size of the dataset depends on its sources.
    pub(super) fn is_derived(&self) -> bool {
        self.mappings.iter().any(|mapping| !matches!(mapping.kind, Kind::Limited))
    }

    /// The dimensions of the dataset as its sources determine them. `stored` are those in the file.
    pub(super) fn derive(&self, file: &File, stored: &[u64], before: Option<&Chain<'_>>) -> Result<Vec<u64>> {
        let sources = AtomicU32::new(MIN_SOURCES);
        let chain = Chain::after(before, file, self.own, &sources)?;
        let mut min = vec![0; stored.len()];
        let mut derived: Vec<Option<u64>> = vec![None; stored.len()];
        for mapping in &self.mappings {
            let unlimited = match mapping.kind {
                Kind::Limited => None,
                Kind::Unlimited { here, .. } | Kind::Numbered { here } => Some(here),
            };
            if !matches!(mapping.here, DataspaceSelection::All) {
                let ends = Elements::of(&mapping.here, stored).map(|here| here.ends(stored.len()));
                for (dimension, (min, end)) in min.iter_mut().zip(ends.unwrap_or_default()).enumerate() {
                    if unlimited != Some(dimension) {
                        *min = (*min).max(end);
                    }
                }
            }
            let Some(dimension) = unlimited else { continue };
            let end = mapping.end(file, &chain, stored)?;
            if let Some(derived) = derived.get_mut(dimension) {
                *derived = Some(derived.unwrap_or(0).max(end));
            }
        }
        let all = stored.iter().zip(derived).zip(min);
        Ok(all.map(|((stored, derived), min)| derived.map_or(*stored, |derived| derived.max(min))).collect())
    }

    /// Reads the rows of `region` from the sources. Before, all rows hold the fill value.
    #[expect(clippy::too_many_arguments, reason = "what is read, where to, and for whom")]
    pub(super) fn read(
        &self,
        file: &File,
        datatype: &Datatype,
        extents: &[u64],
        region: &Region,
        row: usize,
        rows: &mut [u8],
        heap: &mut Heap<Reference>,
        before: Option<&Chain<'_>>,
    ) -> Result<()> {
        // Every selected source of a source has at least one element in the region.
        let elements = u32::try_from(region.len().unwrap_or(u64::MAX)).unwrap_or(u32::MAX);
        let sources = AtomicU32::new(elements.saturating_add(MIN_SOURCES).min(MAX_SOURCES));
        let chain = Chain::after(before, file, self.own, &sources)?;
        let mut missing = 0;
        let mut rest = rows;
        for band in bands(region, &vec![1; region.rank()], row, MAX_BAND)? {
            let now = band.take_rows(&mut rest, row)?;
            for mapping in &self.mappings {
                let mut target = Output {
                    file,
                    datatype,
                    extents,
                    region: &band,
                    row,
                    rows: &mut *now,
                    heap: &mut *heap,
                    missing: &mut missing,
                };
                mapping.read(&mut target, &chain)?;
            }
        }
        Ok(())
    }
}

/// The state of one read.
struct Output<'a> {
    file: &'a File,
    datatype: &'a Datatype,
    extents: &'a [u64],
    region: &'a Region,
    row: usize,
    rows: &'a mut [u8],
    heap: &'a mut Heap<Reference>,
    /// The number of numbered sources that were not found.
    missing: &'a mut u32,
}

impl Mapping {
    /// The extent of this mapping along its unlimited dimension.
    fn end(&self, file: &File, chain: &Chain<'_>, stored: &[u64]) -> Result<u64> {
        match self.kind {
            Kind::Limited => Ok(0),
            Kind::Unlimited { here, there } => {
                let Some(source) = self.source(file, 0, chain)? else { return Ok(0) };
                let extents = source.dataset.extents().unwrap_or_default();
                let slices = slices(&Elements::of(&self.there, extents)?, there, extents);
                let Elements::Product(own) = Elements::of(&self.here, stored)? else { return Ok(0) };
                let last = slices.checked_sub(1);
                Ok(last.and_then(|last| own.get(here)?.at(last)?.checked_add(1)).unwrap_or(0))
            }
            Kind::Numbered { here } => {
                let mut number = 0;
                let (mut last, mut same) = (None, 0_u32);
                while let Some(source) = self.source(file, number, chain)? {
                    number += 1;
                    // With an absolute path that has the number in a directory name, a missing directory leads to the
                    // same file for every number.
                    let found = Some((source.file.get().identity().map(Path::to_owned), source.address));
                    same = if found == last { same + 1 } else { 0 };
                    if same > MAX_SAME {
                        let detail = format!("more than {MAX_SAME} numbered sources are the same dataset");
                        return Err(Error::new(ErrorKind::LimitExceeded, detail));
                    }
                    last = found;
                }
                let last = number.checked_sub(1);
                let block = last.and_then(|last| self.block(here, last));
                Ok(block.map_or(0, |block| block.start.saturating_add(block.block)))
            }
        }
    }

    /// Reads one block of a numbered mapping.
    fn block(&self, here: usize, number: u64) -> Option<Dimension> {
        let dimension = unlimited_dimensions(&self.here)?.get(here)?;
        let start = dimension.stride.checked_mul(number)?.checked_add(dimension.start)?;
        Some(Dimension { start, stride: 1, count: 1, block: dimension.block })
    }

    fn read(&self, target: &mut Output<'_>, chain: &Chain<'_>) -> Result<()> {
        match self.kind {
            Kind::Limited | Kind::Unlimited { .. } => {
                let here = Elements::of(&self.here, target.extents)?;
                if here.may_meet(target.region) {
                    self.read_source(target, 0, here, chain)?;
                }
                Ok(())
            }
            Kind::Numbered { here: unlimited } => {
                let Some(dimensions) = unlimited_dimensions(&self.here) else { return Ok(()) };
                let Some(blocks) = dimensions.get(unlimited) else { return Ok(()) };
                let Some((first, end)) = indexes::bounds(target.region).nth(unlimited) else { return Ok(()) };
                let stride = blocks.stride.max(1);
                let number = |index: u64| index.saturating_sub(blocks.start) / stride;
                for number in number(first)..=number(end.saturating_sub(1)) {
                    let Some(block) = self.block(unlimited, number) else { break };
                    let mut dimensions = dimensions.to_vec();
                    if let Some(dimension) = dimensions.get_mut(unlimited) {
                        *dimension = block;
                    }
                    let here = Elements::of(&selection(dimensions), target.extents)?;
                    if here.may_meet(target.region) && !self.read_source(target, number, here, chain)? {
                        *target.missing += 1;
                        if *target.missing > MAX_MISSING {
                            let detail = format!("more than {MAX_MISSING} numbered sources are missing");
                            return Err(Error::new(ErrorKind::LimitExceeded, detail));
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// Reads the elements of a source that the region needs. Returns false if there is no such source.
    fn read_source(
        &self,
        target: &mut Output<'_>,
        number: u64,
        here: Elements,
        chain: &Chain<'_>,
    ) -> Result<bool> {
        let Some(source) = self.source(target.file, number, chain)? else { return Ok(false) };
        let from = source.file.get();
        let extents = source.dataset.extents().unwrap_or_default();
        let there = Elements::of(&self.there, extents)?;
        let (here, there) = match self.kind {
            Kind::Unlimited { here: unlimited, there: source_unlimited } => {
                let max =
                    slices(&there, source_unlimited, extents).min(slices(&here, unlimited, target.extents));
                (cut(here, unlimited, max), cut(there, source_unlimited, max))
            }
            Kind::Limited | Kind::Numbered { .. } => (here, there),
        };
        if here.count() != there.count() {
            let count =
                |elements: &Elements| elements.count().map_or("many".to_owned(), |count| count.to_string());
            return Err(Error::malformed(format!(
                "virtual selection has {} elements, the source selection has {} of {}",
                count(&here),
                count(&there),
                self.dataset.text(number)
            )));
        }
        let other = matches!(source.file, SourceFile::Other(_)) && from.identity() != target.file.identity();
        if other && has_references(source.dataset.datatype()) {
            return Err(Error::unsupported(
                "source with references in another file, which refer to objects of that file",
            ));
        }
        let array = source.dataset.array(from).map_err(|e| self.in_source(&source.file, number, e))?;
        let conversion = Conversion::between(
            (source.dataset.datatype(), from.reader().sizes()),
            (target.datatype, target.file.reader().sizes()),
        )?;
        let fill =
            (!conversion.is_identity()).then(|| target.rows.get(..target.row).unwrap_or_default().to_vec());
        let Output { region, row, rows, heap, file, .. } = target;
        let mut scratch = Scratch::new();
        let mut read = |part: &Region| {
            let len = part.bytes(conversion.row_size())?;
            let _charge = file.reader().budget().charge(len as u64)?;
            let mut own = vec![0; len];
            let means = Means { file: from, heap, scratch: &mut scratch, chain: Some(chain) };
            let read = array.read_after(means, part, &mut Planes::whole(&mut own));
            read.map_err(|e| self.in_source(&source.file, number, e))?;
            let Some(fill) = &fill else { return Ok(own) };
            let len = part.bytes(*row)?;
            let _charge = file.reader().budget().charge(len as u64)?;
            let mut converted = vec![0; len];
            fill_rows(fill, &mut converted)?;
            conversion.convert(&own, &mut converted, heap)?;
            Ok(converted)
        };
        Pairing { here: &here, there: &there, extents }.read(region, *row, rows, &mut read)?;
        Ok(true)
    }

    /// The source, or the numbered one. `None` if there is no such file or object.
    fn source<'a>(&self, file: &'a File, number: u64, chain: &Chain<'_>) -> Result<Option<Source<'a>>> {
        // Only sources of sources can multiply.
        let take = |left: u32| left.checked_sub(1);
        if chain.depth > 0 && chain.sources.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err()
        {
            let detail = "nested virtual datasets have too many sources";
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
        let name = self.file.text(number);
        let found = match name.as_str() {
            SAME_FILE => SourceFile::Same(file),
            name => match file.other(name)? {
                Some(other) => SourceFile::Other(other),
                None => return Ok(None),
            },
        };
        let path = self.dataset.text(number);
        let open = || {
            let Some(address) = found.get().find(path.as_bytes())? else { return Ok(None) };
            let object = found.get().object(address)?;
            if object.kind() != ObjectKind::Dataset {
                return Err(Error::malformed(format!(
                    "source {path} is a {}, expected a dataset",
                    object.kind().name()
                )));
            }
            Ok(Some((address, Dataset::open(found.get(), object.header(), Some(chain))?)))
        };
        let opened = open().map_err(|e| self.in_source(&found, number, e))?;
        Ok(opened.map(|(address, dataset)| Source { file: found, address, dataset }))
    }

    /// Adds to an error in another file the name of that file.
    fn in_source(&self, file: &SourceFile<'_>, number: u64, e: Error) -> Error {
        match file {
            SourceFile::Same(_) => e,
            SourceFile::Other(_) => e.in_object(self.dataset.text(number)).of_another(self.file.text(number)),
        }
    }
}

impl<'a> Chain<'a> {
    /// Opens the dataset at `address` of `file`.
    fn after(
        before: Option<&'a Chain<'a>>,
        file: &'a File,
        address: Address,
        sources: &'a AtomicU32,
    ) -> Result<Chain<'a>> {
        let identity = file.identity();
        let mut at = before;
        while let Some(chain) = at {
            if chain.address == address && chain.identity == identity {
                return Err(Error::malformed(
                    "virtual dataset is its own source, directly or through other virtual datasets",
                ));
            }
            at = chain.before;
        }
        let depth = before.map_or(0, |before| before.depth + 1);
        if depth > MAX_DEPTH {
            let detail = format!("virtual datasets nested more than {MAX_DEPTH} levels deep");
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
        let sources = before.map_or(sources, |before| before.sources);
        Ok(Chain { identity, address, before, depth, sources })
    }
}

/// The number of indexes of an unlimited selection that are within an array.
fn slices(elements: &Elements, dimension: usize, extents: &[u64]) -> u64 {
    match elements {
        Elements::Product(dimensions) => {
            let size = extents.get(dimension).copied().unwrap_or(0);
            dimensions.get(dimension).map_or(0, |own| own.before(size))
        }
        Elements::Runs(_) => 0,
    }
}

/// The selection with at most `max` indexes along a dimension.
fn cut(elements: Elements, dimension: usize, max: u64) -> Elements {
    match elements {
        Elements::Product(mut dimensions) => {
            if let Some(own) = dimensions.get_mut(dimension) {
                *own = Indexes::first(own, max);
            }
            Elements::Product(dimensions)
        }
        runs => runs,
    }
}

/// The unlimited dimension of a selection.
fn unlimited(selection: &DataspaceSelection) -> Result<Option<(usize, Dimension)>> {
    let Some(dimensions) = unlimited_dimensions(selection) else { return Ok(None) };
    let mut found = dimensions.iter().copied().enumerate().filter(|(_, dimension)| dimension.is_unlimited());
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(_) => Err(Error::malformed("selection is unlimited along two dimensions, expected at most one")),
    }
}

fn unlimited_dimensions(selection: &DataspaceSelection) -> Option<&[Dimension]> {
    match selection {
        DataspaceSelection::Hyperslab(HyperslabSelection { blocks: Blocks::Regular(dimensions), .. }) => {
            Some(dimensions)
        }
        _ => None,
    }
}

fn selection(dimensions: Vec<Dimension>) -> DataspaceSelection {
    use crate::format::encoding::selection::hyperslab::HyperslabVersion;
    let (version, blocks) = (HyperslabVersion::V2, Blocks::Regular(dimensions));
    DataspaceSelection::Hyperslab(HyperslabSelection { version, blocks })
}

fn has_references(datatype: &Datatype) -> bool {
    matches!(datatype.class, DatatypeClass::Reference(_)) || datatype.parts().any(has_references)
}

/// The name that stands for the file of the virtual dataset itself.
const SAME_FILE: &str = ".";
/// The maximum number of virtual datasets that are each a source of the next one.
const MAX_DEPTH: u32 = 32;
/// The maximum number of sources of sources, each of which can be a file to be opened, for one read.
const MIN_SOURCES: u32 = 1 << 12;
const MAX_SOURCES: u32 = 1 << 17;
/// The maximum number of consecutive numbers that lead to the same source, as symbolic links can make them.
const MAX_SAME: u32 = 1000;
/// The maximum number of numbered sources that one read does not find.
const MAX_MISSING: u32 = 1 << 13;
/// The number of bytes of elements that are read at once, in addition to the output.
const MAX_BAND: u64 = 64 << 20;
