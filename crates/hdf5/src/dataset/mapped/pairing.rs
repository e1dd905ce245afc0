//! Copies elements from a source to their places in a virtual dataset.

use super::indexes::{Elements, Indexes, bounds};
use hyperslab_core::nd::{Region, advance, element_count, gather, scatter};
use hyperslab_core::{Error, Result};

/// Reads a region of the source, as rows of the virtual dataset.
pub(super) type ReadSource<'a> = dyn FnMut(&Region) -> Result<Vec<u8>> + 'a;

/// Two selections with the same number of elements, paired in order.
pub(super) struct Pairing<'a> {
    /// The selection in the virtual dataset.
    pub(super) here: &'a Elements,
    /// The selection in the source.
    pub(super) there: &'a Elements,
    /// The extents of the source.
    pub(super) extents: &'a [u64],
}

impl Pairing<'_> {
    /// Fills those rows of `region` that come from the source. A row has `row` bytes.
    pub(super) fn read(
        &self,
        region: &Region,
        row: usize,
        out: &mut [u8],
        read: &mut ReadSource<'_>,
    ) -> Result<()> {
        if let (Elements::Product(here), Elements::Product(there)) = (self.here, self.there)
            && let Some(matched) = matched(here, there)
        {
            return separable(here, there, &matched, region, row, out, read);
        }
        self.one_by_one(region, row, out, read)
    }

    /// Visits the selected elements within the region in order, and looks up each run in the source.
    fn one_by_one(
        &self,
        region: &Region,
        row: usize,
        out: &mut [u8],
        read: &mut ReadSource<'_>,
    ) -> Result<()> {
        let mut batch: Vec<Copy> = Vec::new();
        let mut at = Vec::new();
        let mut flush = |batch: &mut Vec<Copy>, out: &mut [u8]| -> Result<()> {
            read_batch(batch, self.extents.len(), row, out, read)?;
            batch.clear();
            Ok(())
        };
        let mut add = |place: u64, to: u64, step: u64, len: u64, out: &mut [u8]| -> Result<()> {
            let (mut place, mut to, mut left) = (place, to, len);
            while left > 0 {
                let neighbours = self.there.run_at(place, &mut at).ok_or_else(unpaired)?;
                let len = neighbours.min(left);
                batch.push(Copy { from: at.clone(), len, to, step });
                if batch.len() >= MAX_COPIES {
                    flush(&mut batch, out)?;
                }
                place = place.saturating_add(len);
                to = to.saturating_add(len.saturating_mul(step));
                left -= len;
            }
            Ok(())
        };
        pieces(self.here, region, &mut |place, to, step, len| add(place, to, step, len, out))?;
        flush(&mut batch, out)
    }
}

/// A run of elements in the source, and their places.
struct Copy {
    from: Vec<u64>,
    len: u64,
    /// The row of the first element, and the distance to that of the next one.
    to: u64,
    step: u64,
}

/// Calls `each` with every run of elements of `here` in the region: the position among the selected elements, the row
/// in the region, the step to the next row, and the length.
fn pieces(
    here: &Elements,
    region: &Region,
    each: &mut dyn FnMut(u64, u64, u64, u64) -> Result<()>,
) -> Result<()> {
    match here {
        Elements::Product(dimensions) => {
            let found: Vec<Vec<(u64, u64)>> =
                dimensions.iter().enumerate().map(|(d, own)| places_in(own, region, d).collect()).collect();
            if found.iter().any(Vec::is_empty) {
                return Ok(());
            }
            let Some((inner, outer)) = found.split_last() else { return each(0, 0, 1, 1) };
            let inner_len = dimensions.last().map_or(1, Indexes::len);
            let inner_count = region.count.last().copied().unwrap_or(1);
            let lens: Vec<usize> = outer.iter().map(Vec::len).collect();
            let mut at = vec![0; outer.len()];
            loop {
                let (mut place, mut to) = (0_u64, 0_u64);
                let counts = dimensions.iter().map(Indexes::len).zip(&region.count);
                for ((found, at), (len, count)) in outer.iter().zip(&at).zip(counts) {
                    let (row, own) = found.get(*at).copied().unwrap_or_default();
                    place = place.saturating_mul(len).saturating_add(own);
                    to = to.saturating_mul(*count).saturating_add(row);
                }
                let (place, to) = (place.saturating_mul(inner_len), to.saturating_mul(inner_count));
                let mut rest = inner.as_slice();
                while let Some((row, own)) = rest.first() {
                    let run =
                        rest.iter().zip(0_u64..).take_while(|((_, place), n)| *place == own + n).count();
                    let step = rest.get(1).map_or(1, |(next, _)| next - row);
                    let even = rest
                        .iter()
                        .zip(0_u64..)
                        .take(run)
                        .take_while(|((next, _), n)| *next == row + n * step);
                    let len = even.count().max(1);
                    each(place.saturating_add(*own), to.saturating_add(*row), step, len as u64)?;
                    rest = rest.get(len..).unwrap_or_default();
                }
                if !advance(&mut at, &lens) {
                    return Ok(());
                }
            }
        }
        Elements::Runs(runs) => {
            let limits: Vec<(u64, u64)> = bounds(region).collect();
            for run in runs {
                let Some((outer_at, last)) = run.at.split_last().map(|(last, outer)| (outer, *last)) else {
                    each(run.before, 0, 1, 1)?;
                    continue;
                };
                let mut to = Some(0_u64);
                let dims = region.start.iter().zip(&region.count).zip(&region.step);
                for (at, ((start, count), step)) in outer_at.iter().zip(dims) {
                    let row = at.checked_sub(*start).filter(|far| far % step == 0).map(|far| far / step);
                    to = to
                        .zip(row.filter(|row| row < count))
                        .map(|(to, row)| to.saturating_mul(*count).saturating_add(row));
                }
                let (Some(to), Some((first, end))) = (to, limits.last().copied()) else { continue };
                let (Some(count), Some(step)) = (region.count.last(), region.step.last()) else { continue };
                let to = to.saturating_mul(*count);
                let from = last.max(first).saturating_sub(first).div_ceil(*step);
                let begin = first.saturating_add(from.saturating_mul(*step));
                let end = last.saturating_add(run.len).min(end);
                let mut index = begin;
                // Neighbours in the run are neighbours in the region only where it has no gaps.
                while index < end {
                    let len = if *step == 1 { end - index } else { 1 };
                    let row = (index - first) / step;
                    each(run.before.saturating_add(index - last), to.saturating_add(row), 1, len)?;
                    index = index.saturating_add(len.saturating_mul(*step));
                }
            }
            Ok(())
        }
    }
}

/// The indexes of `own` within the region along a dimension: the row, and the position among the indexes.
fn places_in(own: &Indexes, region: &Region, dimension: usize) -> impl Iterator<Item = (u64, u64)> {
    let of = |values: &[u64]| values.get(dimension).copied().unwrap_or(1);
    let (start, count, step) = (of(&region.start), of(&region.count), of(&region.step).max(1));
    let end = start.saturating_add(count.saturating_sub(1).saturating_mul(step)).saturating_add(1);
    let (first, behind) = (own.before(start), own.before(end));
    let behind = if count == 0 { first } else { behind };
    // Iterates over whichever are fewer: there can be any number of indexes between two rows of a region with gaps.
    let (places, rows) = if behind - first <= count { (first..behind, 0..0) } else { (0..0, 0..count) };
    let of_places = places.filter_map(move |place| {
        let far = own.at(place)?.checked_sub(start)?;
        far.is_multiple_of(step).then_some((far / step, place))
    });
    of_places.chain(rows.filter_map(move |row| {
        let index = row.checked_mul(step)?.checked_add(start)?;
        let place = own.before(index);
        (own.at(place) == Some(index)).then_some((row, place))
    }))
}

/// For each dimension of the source, the corresponding dimension of the virtual dataset, if the selections have the
/// same shape apart from dimensions of one index.
fn matched(here: &[Indexes], there: &[Indexes]) -> Option<Vec<Option<usize>>> {
    let mut rest = here.iter().enumerate().filter(|(_, own)| own.len() != 1);
    let mut matched = Vec::with_capacity(there.len());
    for own in there {
        matched.push(match own.len() {
            1 => None,
            len => {
                let (dimension, other) = rest.next()?;
                (other.len() == len).then_some(Some(dimension))?
            }
        });
    }
    rest.next().is_none().then_some(matched)
}

/// Indexes at equal distances in both: the row in the region, and the index in the source.
#[derive(Clone, Debug)]
struct Even {
    row: u64,
    row_step: u64,
    from: u64,
    from_step: u64,
    count: u64,
}

fn separable(
    here: &[Indexes],
    there: &[Indexes],
    matched: &[Option<usize>],
    region: &Region,
    row: usize,
    out: &mut [u8],
    read: &mut ReadSource<'_>,
) -> Result<()> {
    // For each dimension of the virtual dataset, runs at equal distances.
    let mut evens: Vec<Vec<Even>> = Vec::with_capacity(here.len());
    for (dimension, own) in here.iter().enumerate() {
        let followed = matched.iter().position(|other| *other == Some(dimension)).and_then(|d| there.get(d));
        // One combination at a time: a list of all would take more memory than the elements.
        evens.push(evenly(places_in(own, region, dimension).map(|(row, place)| {
            let from = followed.map_or(Some(0), |there| there.at(place));
            Ok((row, from.ok_or_else(unpaired)?))
        }))?);
    }
    if evens.iter().any(Vec::is_empty) {
        return Ok(());
    }
    let combinations = evens.iter().fold(1_u64, |all, own| all.saturating_mul(own.len() as u64));
    // The bounding region of all parts, for when reading it is cheaper than reading each part.
    let hull = source_region(there, matched, |dimension| {
        let own = evens.get(dimension)?;
        let first = own.first()?.from;
        let last = own
            .last()
            .map(|last| last.from.saturating_add((last.count - 1).saturating_mul(last.from_step)))?;
        Some((first, last.checked_sub(first)?.checked_add(1)?, 1))
    })?;
    let wanted = evens.iter().fold(1_u64, |all, own| {
        all.saturating_mul(own.iter().fold(0, |sum: u64, even| sum.saturating_add(even.count)))
    });
    let whole = match combinations > 1 && hull.len().is_some_and(|len| worth(len, wanted)) {
        true => Some(read(&hull)?),
        false => None,
    };
    let lens: Vec<usize> = evens.iter().map(Vec::len).collect();
    let mut at = vec![0; evens.len()];
    loop {
        let chosen: Vec<&Even> = evens.iter().zip(&at).filter_map(|(own, at)| own.get(*at)).collect();
        let part = source_region(there, matched, |dimension| {
            let even = chosen.get(dimension)?;
            Some((even.from, even.count, even.from_step))
        })?;
        let rows = match &whole {
            Some(whole) => {
                let mut rows = vec![0; part.bytes(row)?];
                scatter(whole, &hull.start, &hull.count, &part, &mut rows, row)?;
                rows
            }
            None => read(&part)?,
        };
        let to = Region {
            start: chosen.iter().map(|even| even.row).collect(),
            count: chosen.iter().map(|even| even.count).collect(),
            step: chosen.iter().map(|even| even.row_step).collect(),
        };
        gather(&rows, &to, out, &vec![0; region.rank()], &region.count, row)?;
        if !advance(&mut at, &lens) {
            return Ok(());
        }
    }
}

/// A region of the source. `of` gives start, count and step along each dimension of the virtual dataset.
fn source_region(
    there: &[Indexes],
    matched: &[Option<usize>],
    of: impl Fn(usize) -> Option<(u64, u64, u64)>,
) -> Result<Region> {
    let mut region = Region::new(Vec::new(), Vec::new());
    for (own, dimension) in there.iter().zip(matched) {
        let (start, count, step) = match dimension {
            Some(dimension) => of(*dimension),
            None => own.at(0).map(|only| (only, 1, 1)),
        }
        .ok_or_else(unpaired)?;
        region.start.push(start);
        region.count.push(count);
        region.step.push(step);
    }
    Ok(region)
}

/// Merges indexes at equal distances.
fn evenly(indexes: impl Iterator<Item = Result<(u64, u64)>>) -> Result<Vec<Even>> {
    let mut evens: Vec<Even> = Vec::new();
    for index in indexes {
        let (row, from) = index?;
        match evens.last_mut() {
            Some(last) if last.count == 1 && from >= last.from => {
                (last.row_step, last.from_step) = (row - last.row, (from - last.from).max(1));
                last.count = 2;
            }
            Some(last)
                if row == last.row + last.count * last.row_step
                    && last.from.checked_add(last.count.saturating_mul(last.from_step)) == Some(from) =>
            {
                last.count += 1;
            }
            _ => evens.push(Even { row, row_step: 1, from, from_step: 1, count: 1 }),
        }
    }
    Ok(evens)
}

/// Reads the elements of the copies in few boxes, each of which is mostly needed.
fn read_batch(
    copies: &[Copy],
    rank: usize,
    row: usize,
    out: &mut [u8],
    read: &mut ReadSource<'_>,
) -> Result<()> {
    let Some(first) = copies.first() else { return Ok(()) };
    let (mut low, mut high) = (first.from.clone(), first.from.clone());
    let mut wanted = 0_u64;
    for copy in copies {
        wanted = wanted.saturating_add(copy.len);
        for (dimension, ((low, high), at)) in low.iter_mut().zip(&mut high).zip(&copy.from).enumerate() {
            let more = if dimension + 1 == rank { copy.len - 1 } else { 0 };
            *low = (*low).min(*at);
            *high = (*high).max(at.saturating_add(more));
        }
    }
    let count: Vec<u64> =
        low.iter().zip(&high).map(|(low, high)| high.saturating_sub(*low).saturating_add(1)).collect();
    if copies.len() > 1 && !element_count(&count).is_some_and(|len| worth(len, wanted)) {
        let (left, right) = copies.split_at(copies.len() / 2);
        read_batch(left, rank, row, out, read)?;
        return read_batch(right, rank, row, out, read);
    }
    let rows = read(&Region::new(low.clone(), count.clone()))?;
    for copy in copies {
        let mut from = 0_u64;
        for ((at, low), count) in copy.from.iter().zip(&low).zip(&count) {
            from = from.saturating_mul(*count).saturating_add(at - low);
        }
        for index in 0..copy.len {
            let piece = |element: u64| {
                let start = usize::try_from(element).ok()?.checked_mul(row)?;
                Some(start..start.checked_add(row)?)
            };
            let from = piece(from + index).and_then(|range| rows.get(range));
            let to = copy.step.checked_mul(index).and_then(|far| copy.to.checked_add(far)).and_then(piece);
            match (from, to.and_then(|range| out.get_mut(range))) {
                (Some(from), Some(to)) => to.copy_from_slice(from),
                _ => return Err(unpaired()),
            }
        }
    }
    Ok(())
}

/// Whether one read of `len` elements, of which `wanted` are needed, is better than several reads.
fn worth(len: u64, wanted: u64) -> bool {
    len <= wanted.saturating_mul(8) || len <= SMALL
}

#[cold]
fn unpaired() -> Error {
    Error::malformed("virtual selection and source selection have different numbers of elements")
}

/// The number of runs that are looked up at once.
const MAX_COPIES: usize = 1 << 14;
/// The number of elements that cost as much as another read.
const SMALL: u64 = 1 << 14;

#[cfg(test)]
mod tests {
    use super::super::indexes::Run;
    use super::*;

    fn blocks(start: u64, stride: u64, block: u64, len: u64) -> Indexes {
        Indexes::Blocks { start, stride, block, len }
    }

    /// The elements in `region` of the virtual dataset, read from a source of `extents` in which each element is its
    /// own position, with 255 elsewhere; and the expected ones, found by walking every element.
    fn both(here: &Elements, there: &Elements, extents: &[u64], region: &Region) -> (Vec<u8>, Vec<u8>) {
        let source: Vec<u8> = (0..u8::try_from(element_count(extents).unwrap()).unwrap()).collect();
        let mut read = |part: &Region| -> Result<Vec<u8>> {
            part.check(extents).unwrap();
            let mut rows = vec![0; usize::try_from(part.len().unwrap()).unwrap()];
            scatter(&source, &vec![0; extents.len()], extents, part, &mut rows, 1).unwrap();
            Ok(rows)
        };
        let mut got = vec![255; usize::try_from(region.len().unwrap()).unwrap()];
        let pairing = Pairing { here, there, extents };
        pairing.read(region, 1, &mut got, &mut read).unwrap();
        let mut plain = vec![255; got.len()];
        pairing.one_by_one(region, 1, &mut plain, &mut read).unwrap();
        assert_eq!(got, plain);
        let mut want = vec![255; got.len()];
        let (mut at, mut from) = (Vec::new(), Vec::new());
        for place in 0..here.count().unwrap() {
            here.run_at(place, &mut at).unwrap();
            there.run_at(place, &mut from).unwrap();
            let mut row = Some(0);
            for ((at, start), (count, step)) in
                at.iter().zip(&region.start).zip(region.count.iter().zip(&region.step))
            {
                let far = at.checked_sub(*start).filter(|far| far % step == 0 && far / step < *count);
                row = row.zip(far).map(|(row, far)| row * count + far / step);
            }
            let from = from.iter().zip(extents).fold(0, |sum, (at, size)| sum * size + at);
            if let Some(row) = row {
                want[usize::try_from(row).unwrap()] = source[usize::try_from(from).unwrap()];
            }
        }
        (got, want)
    }

    #[test]
    fn places_are_found_one_after_another() {
        let region = Region::new(vec![1], vec![1 << 50]);
        let all = Indexes::all(1 << 51);
        assert_eq!(places_in(&all, &region, 0).take(2).collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    }

    #[test]
    fn every_region_of_every_pairing_is_that_of_its_elements() {
        let run = |at: &[u64], before, len| Run { at: at.to_vec(), before, len };
        let products = [
            Elements::Product(vec![blocks(1, 3, 2, 4), blocks(0, 6, 6, 6)]),
            Elements::Product(vec![blocks(0, 4, 4, 4), blocks(1, 2, 1, 3), blocks(1, 2, 1, 2)]),
            Elements::Product(vec![blocks(3, 24, 24, 24)]),
            Elements::Product(vec![blocks(0, 2, 1, 24)]),
            Elements::Product(vec![blocks(2, 1, 1, 1), blocks(0, 3, 2, 4), blocks(0, 6, 6, 6)]),
            Elements::Runs(vec![run(&[0, 3], 0, 5), run(&[2, 0], 5, 10), run(&[3, 1], 15, 9)]),
            Elements::Runs((0..24).map(|place| run(&[23 - place], place, 1)).collect()),
        ];
        let extents: [&[u64]; 7] = [&[7, 7], &[4, 6, 5], &[30], &[50], &[3, 7, 7], &[4, 12], &[24]];
        for (here, shape) in products.iter().zip(extents) {
            for (there, source) in products.iter().zip(extents) {
                let mut regions = vec![Region::all(shape)];
                for (start, step) in [(1, 1), (0, 2), (1, 3)] {
                    let count =
                        shape.iter().map(|size| (size - start.min(size - 1)).div_ceil(step)).collect();
                    let start = shape.iter().map(|size| start.min(size - 1)).collect();
                    regions.push(Region { start, count, step: vec![step; shape.len()] });
                }
                for region in regions {
                    let (got, want) = both(here, there, source, &region);
                    assert_eq!(got, want, "{here:?} from {there:?} in {region:?}");
                }
            }
        }
    }
}
