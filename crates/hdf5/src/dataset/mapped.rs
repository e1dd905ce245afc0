//! Reads virtual datasets, whose elements are in other datasets.
//!
//! Options of the library have their default values here: a dataset grows with its sources (`H5D_VDS_LAST_AVAILABLE`),
//! and numbered sources end before the first missing one.
//!
//! Spec: HDF5 III.F Disk Format: Level 1F - Global Heap Block for Virtual Datasets

mod axis;
mod chain;
mod indexes;
mod name;
mod pairing;
mod source;
mod sources;

pub(crate) use chain::Chain;
pub(crate) use name::first_name;
pub use sources::SourceMapping;

use super::array::Means;
use crate::element::conversion::Conversion;
use crate::file::File;
use crate::format::encoding::DataspaceSelection;
use crate::format::encoding::selection::hyperslab::{Blocks, Dimension, HyperslabSelection};
use crate::format::infrastructure::VirtualDatasetBlock;
use crate::format::message::datatype::{Datatype, DatatypeClass};
use crate::format::{Address, Structure};
use axis::Axis;
use hyperslab_core::nd::{Planes, Region, bands, fill_rows};
use hyperslab_core::{Decoder, Error, ErrorKind, Result};
use indexes::{Elements, Indexes};
use name::{Name, Names};
use pairing::Pairing;
use source::{SAME_FILE, SourceFile};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

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

    /// Calls `visit` with the name of each file that has sources, except the file itself. Numbered files end before the
    /// first one that `is_there` reports as missing.
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

    /// Reads the rows of `region` from the sources. Beforehand, all rows must hold the fill value `fill`.
    pub(super) fn read(
        &self,
        means: &mut Means<'_>,
        datatype: &Datatype,
        extents: &[u64],
        region: &Region,
        fill: &[u8],
        rows: &mut [u8],
    ) -> Result<()> {
        // Every selected source of a source has at least one element in the region.
        let elements = u32::try_from(region.len().unwrap_or(u64::MAX)).unwrap_or(u32::MAX);
        let sources = AtomicU32::new(elements.saturating_add(MIN_SOURCES).min(MAX_SOURCES));
        let chain = Chain::after(means.chain, means.file, self.own, &sources)?;
        let mut missing = 0;
        let mut rest = rows;
        for band in bands(region, &vec![1; region.rank()], fill.len(), MAX_BAND)? {
            let now = band.take_rows(&mut rest, fill.len())?;
            for mapping in &self.mappings {
                means.scratch.cancel.check()?;
                let mut target = Output {
                    means: &mut *means,
                    datatype,
                    extents,
                    region: &band,
                    fill,
                    rows: &mut *now,
                    missing: &mut missing,
                };
                mapping.read(&mut target, &chain)?;
            }
        }
        Ok(())
    }
}

/// The state of one read.
struct Output<'a, 'm> {
    means: &'a mut Means<'m>,
    datatype: &'a Datatype,
    extents: &'a [u64],
    region: &'a Region,
    /// The fill value as a row: rows that no mapping has set yet hold it, and others may have been set by an earlier one.
    fill: &'a [u8],
    rows: &'a mut [u8],
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

    fn read(&self, target: &mut Output<'_, '_>, chain: &Chain<'_>) -> Result<()> {
        let here = Elements::of(&self.here, target.extents)?;
        if !here.may_meet(target.region) {
            return Ok(());
        }
        match (self.kind, here) {
            (Kind::Limited | Kind::Unlimited { .. }, here) => {
                self.read_source(target, 0, here, chain)?;
                Ok(())
            }
            (Kind::Numbered { here: unlimited }, Elements::Product(here)) => {
                self.read_numbered(target, unlimited, &here, chain)
            }
            (Kind::Numbered { .. }, Elements::Runs(_)) => Ok(()),
        }
    }

    /// Reads the numbered sources whose blocks have selected indexes: there can be any number of others between them.
    fn read_numbered(
        &self,
        target: &mut Output<'_, '_>,
        unlimited: usize,
        here: &[Indexes],
        chain: &Chain<'_>,
    ) -> Result<()> {
        let blocks = unlimited_dimensions(&self.here).and_then(|dimensions| dimensions.get(unlimited));
        let axis = Axis::all(target.region).nth(unlimited);
        let (Some(blocks), Some(axis), Some(all)) = (blocks, axis, here.get(unlimited)) else {
            return Ok(());
        };
        let mut row = 0;
        while let Some((later, is_met)) = axis.towards(row, all) {
            target.means.scratch.cancel.check()?;
            row = later;
            let Some(index) = axis.at(row).filter(|_| is_met) else { continue };
            let number = index.saturating_sub(blocks.start) / blocks.stride.max(1);
            let Some(block) = self.block(unlimited, number) else { break };
            let mut here = here.to_vec();
            if let Some(own) = here.get_mut(unlimited) {
                *own = Indexes::of(&block)?;
            }
            if !self.read_source(target, number, Elements::Product(here), chain)? {
                *target.missing += 1;
                if *target.missing > MAX_MISSING {
                    let detail = format!("more than {MAX_MISSING} numbered sources are missing");
                    return Err(Error::new(ErrorKind::LimitExceeded, detail));
                }
            }
            row = axis.row_from(block.start.saturating_add(block.block)).max(row.saturating_add(1));
        }
        Ok(())
    }

    /// Reads the elements of a source that the region needs. Returns false if there is no such source.
    fn read_source(
        &self,
        target: &mut Output<'_, '_>,
        number: u64,
        here: Elements,
        chain: &Chain<'_>,
    ) -> Result<bool> {
        let Some(source) = self.source(target.means.file, number, chain)? else { return Ok(false) };
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
        let other =
            matches!(source.file, SourceFile::Other(_)) && from.identity() != target.means.file.identity();
        if other && has_references(source.dataset.datatype()) {
            return Err(Error::unsupported(
                "source with references in another file, which refer to objects of that file",
            ));
        }
        let array = source.dataset.array(from).map_err(|e| source.file.in_it(e))?;
        let conversion = Conversion::between(
            (source.dataset.datatype(), from.reader().sizes()),
            (target.datatype, target.means.file.reader().sizes()),
        )?;
        let Output { means: Means { file, heap, scratch, .. }, region, fill, rows, .. } = target;
        let mut read = |part: &Region| {
            let len = part.bytes(conversion.row_size())?;
            let _charge = file.reader().budget().charge(len as u64)?;
            let mut own = vec![0; len];
            let means = Means { file: from, heap, scratch, chain: Some(chain) };
            let read = array.read_after(means, part, &mut Planes::whole(&mut own));
            read.map_err(|e| source.file.in_it(e))?;
            if conversion.is_identity() {
                return Ok(own);
            }
            let len = part.bytes(fill.len())?;
            let _charge = file.reader().budget().charge(len as u64)?;
            let mut converted = vec![0; len];
            fill_rows(fill, &mut converted)?;
            conversion.convert(&own, &mut converted, heap)?;
            Ok(converted)
        };
        Pairing { here: &here, there: &there, extents }.read(region, fill.len(), rows, &mut read)?;
        Ok(true)
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

fn has_references(datatype: &Datatype) -> bool {
    matches!(datatype.class, DatatypeClass::Reference(_)) || datatype.parts().any(has_references)
}

/// The maximum number of sources of sources, each of which can be a file to be opened, for one read.
const MIN_SOURCES: u32 = 1 << 12;
const MAX_SOURCES: u32 = 1 << 17;
/// The maximum number of consecutive numbers that lead to the same source, as symbolic links can make them.
const MAX_SAME: u32 = 1000;
/// The maximum number of numbered sources that one read does not find.
const MAX_MISSING: u32 = 1 << 13;
/// The number of bytes of elements that are read at once, in addition to the output.
const MAX_BAND: u64 = 64 << 20;

#[cfg(test)]
mod tests;
