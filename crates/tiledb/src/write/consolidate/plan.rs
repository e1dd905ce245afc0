//! Plans which fragments are merged into one.
//!
//! Fragments are in the order of their times, and only consecutive ones are merged: the new fragment takes the place of
//! the first of them. In a dense array, it covers all tiles of the box around their cells; so no older fragment may
//! have cells there, which the fill value would hide. In a sparse array, each cell keeps its time.

use super::{Consolidator, DELETES, Deleted, TIMESTAMPS};
use crate::array::fragment::{METADATA, OpenedFragment};
use crate::format::data_type::CellValNum;
use crate::format::delete_condition::{DeleteCondition, Node};
use crate::format::layout::ArrayType;
use crate::format::timestamped_name::TimestampedName;
use crate::read::{DenseDomain, IndexBox};
use crate::write::vacuum::{Lost, LostTimes};
use hyperslab_core::Result;
use std::ops::Range;

/// Which fragments are merged, and which are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FragmentsPlan {
    /// Sets of fragments that are merged into one, the oldest first.
    pub sets: Vec<FragmentSet>,
    /// Fragments that stay unchanged.
    pub left: Vec<LeftFragment>,
}

/// Fragments that are merged into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentSet {
    /// The names, the oldest first.
    pub fragments: Vec<TimestampedName>,
    /// The size of their files in bytes.
    pub bytes: u64,
    /// When the first was written, in milliseconds since 1970.
    pub start: u64,
    /// When the last was written.
    pub end: u64,
    /// The moments that no longer see the same cells once the fragments are vacuumed. `None` if each cell keeps its
    /// time.
    pub lost: Option<LostTimes>,
    /// Attributes that the newest schema does not have: their values are no longer visible at moments with older
    /// schemas.
    pub lost_attributes: Vec<String>,
}

/// A fragment that stays unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftFragment {
    /// The name.
    pub name: TimestampedName,
    /// The reason.
    pub reason: String,
}

/// A delete, as a plan sees it.
struct Delete {
    time: u64,
    marker: String,
    condition: DeleteCondition,
}

impl Consolidator<'_> {
    /// The fragments that [consolidation](Self::run) would merge.
    ///
    /// # Errors
    /// If the metadata of a fragment cannot be read or is malformed.
    pub fn plan(&self) -> Result<FragmentsPlan> {
        let fragments = self.array.fragments()?;
        let mut plan = FragmentsPlan::default();
        let runs = match self.array.schema().array_type {
            ArrayType::Dense => self.dense_runs(fragments, &mut plan)?,
            ArrayType::Sparse => self.sparse_runs(fragments, &mut plan)?,
        };
        for run in runs {
            plan.sets.push(self.set(fragments.get(run).unwrap_or_default())?);
        }
        Ok(plan)
    }

    fn set(&self, fragments: &[OpenedFragment]) -> Result<FragmentSet> {
        let schema = self.array.schema();
        let (start, end) = TimestampedName::span(fragments.iter().map(|fragment| &fragment.name));
        let (mut bytes, mut lost_attributes) = (0_u64, Vec::new());
        for fragment in fragments {
            bytes = bytes.saturating_add(self.size_of(fragment)?);
            for own in &fragment.schema.attributes {
                let name = String::from_utf8_lossy(&own.name).into_owned();
                if schema.attributes.iter().all(|of| of.name != own.name) && !lost_attributes.contains(&name)
                {
                    lost_attributes.push(name);
                }
            }
        }
        let keeps_times = schema.array_type == ArrayType::Sparse && self.writer.version() >= TIMESTAMPS;
        let keeps_all = keeps_times && self.options.deleted == Deleted::Kept;
        Ok(FragmentSet {
            fragments: fragments.iter().map(|fragment| fragment.name.clone()).collect(),
            bytes,
            start,
            end,
            lost: (!keeps_all).then_some(LostTimes { of: Lost::Cells, from: start, until: end }),
            lost_attributes,
        })
    }

    /// The size of the files of a fragment in bytes.
    fn size_of(&self, fragment: &OpenedFragment) -> Result<u64> {
        let footer = &fragment.footer;
        let sizes = [&footer.file_sizes, &footer.file_var_sizes, &footer.file_validity_sizes];
        let metadata = self.writer.store().size(&fragment.folder.join(METADATA)?)?.unwrap_or(0);
        Ok(sizes.into_iter().flatten().fold(metadata, |sum, size| sum.saturating_add(*size)))
    }

    /// The runs of fragments of a dense array.
    fn dense_runs(
        &self,
        fragments: &[OpenedFragment],
        plan: &mut FragmentsPlan,
    ) -> Result<Vec<Range<usize>>> {
        let domain = self.array.dense_domain()?;
        let boxes: Vec<Option<IndexBox>> =
            fragments.iter().map(|of| tiles(&domain, of)).collect::<Result<_>>()?;
        let (mut runs, mut first) = (Vec::new(), 0);
        while first < fragments.len() {
            match self.dense_run(fragments, &boxes, &domain, first) {
                Ok(end) => {
                    runs.push(first..end);
                    first = end;
                }
                Err(reason) => {
                    if let Some(fragment) = fragments.get(first) {
                        plan.left.push(LeftFragment { name: fragment.name.clone(), reason });
                    }
                    first = first.saturating_add(1);
                }
            }
        }
        Ok(runs)
    }

    /// The end of the longest run that begins at a fragment, or the reason why there is none.
    fn dense_run(
        &self,
        fragments: &[OpenedFragment],
        boxes: &[Option<IndexBox>],
        domain: &DenseDomain,
        first: usize,
    ) -> Result<usize, String> {
        let older: Vec<(usize, &IndexBox)> =
            boxes.iter().take(first).enumerate().filter_map(|(at, of)| Some((at, of.as_ref()?))).collect();
        // However many fragments join, they have no more cells than this.
        let most: f64 = boxes.iter().skip(first).flatten().map(|own| cell_count(own, domain)).sum();
        let (mut around, mut cells): (Option<IndexBox>, f64) = (None, 0.0);
        let (mut end, mut reason) = (None, "no fragment is newer".to_owned());
        for (last, own) in boxes.iter().enumerate().skip(first) {
            let Some(own) = own else { continue };
            cells += cell_count(own, domain);
            let joint = match &around {
                None => own.clone(),
                Some(around) => joined(around, own),
            };
            let is_larger = around.as_ref() != Some(&joint);
            if last > first
                && is_larger
                && let Some((hidden, _)) = older.iter().find(|(_, older)| overlap(older, &joint))
            {
                let name = fragments.get(*hidden).map(|of| of.name.to_string()).unwrap_or_default();
                reason = format!("the box around it and the next would hide cells of {name}, which is older");
                break;
            }
            let around_cells = cell_count(&joint, domain);
            around = Some(joint);
            if last > first && around_cells > cells * self.options.amplification {
                reason = "the box around it and the next has many cells that none of them has".to_owned();
            } else if last > first && !is_cut(fragments, first, last) {
                end = last.checked_add(1);
            }
            if around_cells > most * self.options.amplification {
                break;
            }
        }
        end.ok_or(reason)
    }

    /// The runs of fragments of a sparse array.
    fn sparse_runs(
        &self,
        fragments: &[OpenedFragment],
        plan: &mut FragmentsPlan,
    ) -> Result<Vec<Range<usize>>> {
        let deletes: Vec<Delete> = self
            .array
            .deletes()?
            .into_iter()
            .map(|(commit, condition)| Delete { time: commit.name.start, marker: commit.marker(), condition })
            .collect();
        let is_purged = self.options.deleted == Deleted::Purged;
        let mut refused = None;
        for fragment in fragments {
            if let Some(reason) = self.fault_of_deletes(fragment, &deletes)? {
                refused = Some(reason);
            }
        }
        let memory: Vec<u64> = fragments.iter().map(|of| self.tile_memory(of)).collect::<Result<_>>()?;
        let all = memory.iter().fold(0, |sum: u64, more| sum.saturating_add(*more));
        if is_purged && all > self.options.memory {
            // Merging only a part would drop cells that hide older ones in another part.
            refused =
                Some(format!("tiles of all fragments take {all} bytes, of {} allowed", self.options.memory));
        }
        let (mut runs, mut first) = (Vec::new(), 0);
        while first < fragments.len() {
            let (mut end, mut held) = (first, 0_u64);
            while let Some(more) = memory.get(end) {
                held = held.saturating_add(*more);
                let is_full = held > self.options.memory && end.saturating_sub(first) >= 2;
                if is_full && !is_cut(fragments, first, end.saturating_sub(1)) {
                    break;
                }
                end = end.saturating_add(1);
            }
            let run = first..end;
            let is_useful = run.len() > 1 || is_purged && self.has_more(fragments.get(first), &deletes)?;
            let reason = match (&refused, is_useful) {
                (Some(reason), _) => Some(reason.clone()),
                (None, false) => Some("no fragment is left to join it".to_owned()),
                (None, true) => None,
            };
            match reason {
                None => runs.push(run),
                Some(reason) => {
                    for fragment in fragments.get(run).unwrap_or_default() {
                        plan.left.push(LeftFragment { name: fragment.name.clone(), reason: reason.clone() });
                    }
                }
            }
            first = end;
        }
        Ok(runs)
    }

    /// Whether a fragment may have cells that are deleted or replaced.
    fn has_more(&self, fragment: Option<&OpenedFragment>, deletes: &[Delete]) -> Result<bool> {
        let Some(fragment) = fragment else { return Ok(false) };
        let footer = &fragment.footer;
        let has_copies = footer.has_timestamps && !self.array.schema().allows_dups;
        Ok(footer.has_delete_metadata || has_copies || !self.applied(fragment, deletes)?.is_empty())
    }

    /// The reason why deletes cannot be recorded in a consolidated fragment, if there is one.
    fn fault_of_deletes(&self, fragment: &OpenedFragment, deletes: &[Delete]) -> Result<Option<String>> {
        let (schema, version) = (self.array.schema(), self.writer.version());
        let applied = self.applied(fragment, deletes)?;
        if (!applied.is_empty() || fragment.footer.has_delete_metadata) && version < DELETES {
            return Ok(Some(format!("deletes in an array of version {version}, which has none")));
        }
        let known = |name: &[u8]| {
            let mut dimensions = schema.domain.dimensions.iter();
            dimensions.any(|of| of.name == name) || schema.attributes.iter().any(|of| of.name == name)
        };
        let nodes = applied.iter().flat_map(|delete| delete.condition.nodes());
        let unknown = nodes.filter_map(|node| match node {
            Node::Value(comparison) => Some(&comparison.field).filter(|name| !known(name)),
            Node::Expression { .. } => None,
        });
        Ok(unknown.map(|name| String::from_utf8_lossy(name)).next().map(|name| {
            format!("a delete compares attribute {name:?}, which the newest schema does not have")
        }))
    }

    /// The deletes that must be applied to a fragment.
    fn applied<'d>(&self, fragment: &OpenedFragment, deletes: &'d [Delete]) -> Result<Vec<&'d Delete>> {
        let mut applied: Vec<&Delete> =
            deletes.iter().filter(|delete| delete.time >= fragment.name.start).collect();
        if !applied.is_empty() {
            let processed = fragment.processed_conditions(&self.array.generic_tiles())?;
            applied.retain(|delete| processed.iter().all(|file| file != delete.marker.as_bytes()));
        }
        Ok(applied)
    }

    /// The maximum number of bytes that a tile of a fragment takes in memory.
    fn tile_memory(&self, fragment: &OpenedFragment) -> Result<u64> {
        let (tiles, mut row, mut var) = (self.array.generic_tiles(), 0_u64, 0_u64);
        let dimensions = self.array.dimensions().len();
        let attributes = self.array.attributes().iter().map(|of| fragment.attribute(of));
        let coordinates = (0..dimensions).map(|position| Ok(fragment.dimension(position)));
        for field in attributes.chain(coordinates) {
            let Some(field) = field? else { continue };
            let of = fragment.field_type(field)?;
            let size = of.data_type.size() as u64;
            row = row.saturating_add(match of.cell_val_num {
                CellValNum::Fixed(count) => u64::from(count).saturating_mul(size),
                CellValNum::Var => {
                    let sizes = &fragment.tile_lists(&tiles, field)?.var_sizes;
                    var = var.saturating_add(sizes.iter().max().copied().unwrap_or(0));
                    OFFSET
                }
            });
            row = row.saturating_add(u64::from(of.nullable));
        }
        // The key of each cell contains its coordinates again, and times are stored next to it.
        let keys = (dimensions as u64).saturating_mul(2 * OFFSET);
        let times = 3 * OFFSET;
        let footer = &fragment.footer;
        let cells = match footer.sparse_tile_num {
            1 => footer.last_tile_cell_num,
            _ => fragment.schema.capacity,
        };
        Ok(row.saturating_add(keys).saturating_add(times).saturating_mul(cells).saturating_add(var))
    }
}

/// Whether a run from one fragment to another ends among fragments that begin at the same time as its first one: their
/// order, which is that of their names, would be lost.
fn is_cut(fragments: &[OpenedFragment], first: usize, last: usize) -> bool {
    let start = |at: usize| fragments.get(at).map(|fragment| fragment.name.start);
    start(first).is_some() && start(last.saturating_add(1)) == start(first)
}

/// The box of the whole tiles of a fragment. `None` if it has no cells.
fn tiles(domain: &DenseDomain, fragment: &OpenedFragment) -> Result<Option<IndexBox>> {
    let Some(rectangle) = &fragment.footer.non_empty_domain else { return Ok(None) };
    let mut own = domain.indexes(&fragment.schema, rectangle).map_err(|e| e.in_object(&fragment.folder))?;
    for (first, tile) in own.first.iter_mut().zip(&domain.tile) {
        *first = first.saturating_sub(*first % tile);
    }
    for (last, tile) in own.last.iter_mut().zip(&domain.tile) {
        *last = last.saturating_sub(*last % tile).saturating_add(tile.saturating_sub(1));
    }
    Ok(Some(own))
}

fn overlap(a: &IndexBox, b: &IndexBox) -> bool {
    let before = |a: &IndexBox, b: &IndexBox| a.last.iter().zip(&b.first).any(|(last, first)| last < first);
    !before(a, b) && !before(b, a)
}

fn joined(a: &IndexBox, b: &IndexBox) -> IndexBox {
    IndexBox {
        first: a.first.iter().zip(&b.first).map(|(a, b)| *a.min(b)).collect(),
        last: a.last.iter().zip(&b.last).map(|(a, b)| *a.max(b)).collect(),
    }
}

/// The number of cells of a box of tiles, within the domain.
fn cell_count(of: &IndexBox, domain: &DenseDomain) -> f64 {
    let sides = of.first.iter().zip(&of.last).zip(&domain.shape);
    let side = |((first, last), len): ((&u64, &u64), &u64)| {
        let last = *last.min(&len.saturating_sub(1));
        last.saturating_sub(*first).saturating_add(1) as f64
    };
    sides.map(side).product()
}

const OFFSET: u64 = 8;
