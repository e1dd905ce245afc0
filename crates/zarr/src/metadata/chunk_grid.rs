//! Chunk grids, which divide an array into chunks.
//!
//! Spec: Zarr v3 "Chunk grids", zarr-extensions/chunk-grids/rectilinear

use super::extension::ExtensionRef;
use super::{Extension, Written};
use crate::json::{Json, Object, Spot};
use hyperslab_core::nd::{self, Axis};
use hyperslab_core::{Error, Limit, Limits, Result};

/// A chunk grid of version 3. Version 2 has only regular grids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkGrid {
    /// `regular`: chunks of one shape.
    Regular {
        /// The shape of a chunk, in elements.
        chunk_shape: Vec<u64>,
    },
    /// `rectilinear`: chunks of several sizes along a dimension.
    Rectilinear {
        /// The sizes along each dimension.
        chunk_shapes: Vec<Edges>,
    },
}

/// The sizes of chunks along one dimension of a rectilinear grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edges {
    /// All chunks have this size.
    Step(u64),
    /// Pairs of a size and the number of its repetitions, as in the document.
    Runs(Vec<(u64, u64)>),
}

impl ChunkGrid {
    /// A regular grid in the form of version 3.
    pub fn regular(chunk_shape: Vec<u64>) -> Written<ChunkGrid> {
        let mut configuration = Object::new();
        configuration.insert("chunk_shape", chunk_shape.as_slice().into());
        let json = Extension::new("regular", Some(configuration)).emit();
        Written::new(ChunkGrid::Regular { chunk_shape }, json)
    }

    /// A rectilinear grid in the form of version 3.
    pub fn rectilinear(chunk_shapes: Vec<Edges>) -> Written<ChunkGrid> {
        let mut configuration = Object::new();
        configuration.insert("kind", "inline".into());
        configuration.insert("chunk_shapes", Json::Array(chunk_shapes.iter().map(Edges::emit).collect()));
        let json = Extension::new("rectilinear", Some(configuration)).emit();
        Written::new(ChunkGrid::Rectilinear { chunk_shapes }, json)
    }

    pub(crate) fn parse(json: &Json, shape: &[u64], at: &Spot<'_>) -> Result<ChunkGrid> {
        let extension = ExtensionRef::parse(json, at)?;
        extension.check_understood(at)?;
        let inner = at.name("configuration");
        match extension.name {
            "regular" => {
                let here = inner.name("chunk_shape");
                let sizes = extension.configured(at)?.required("chunk_shape", &inner)?;
                let chunk_shape = sizes.unsigned_array(&here)?;
                check_rank(chunk_shape.len(), shape, &here)?;
                if let Some(index) = chunk_shape.iter().position(|size| *size == 0) {
                    return Err(here.index(index).malformed("0, expected 1 or more"));
                }
                Ok(ChunkGrid::Regular { chunk_shape })
            }
            "rectilinear" => rectilinear(extension.configured(at)?, shape, &inner),
            other => Err(at.unsupported(format!("chunk grid {other:?}"))),
        }
    }

    /// The grid with all chunk edges of an array of `shape`.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) if the edges take more memory than `limits`
    /// allow.
    pub fn geometry(&self, shape: &[u64], limits: &Limits) -> Result<nd::ChunkGrid> {
        match self {
            ChunkGrid::Regular { chunk_shape } => nd::ChunkGrid::regular(chunk_shape),
            ChunkGrid::Rectilinear { chunk_shapes } => {
                // One budget for all axes: a short document can have many axes with many edges each.
                let mut left = limits.allocation / EDGE_SHARE;
                let axes = chunk_shapes.iter().zip(shape).map(|(edges, len)| edges.axis(*len, &mut left));
                let axes = axes.collect::<Option<_>>().ok_or_else(|| {
                    let max = limits.allocation / EDGE_SHARE;
                    let detail = format!("more than {max} chunks along the dimensions of a grid");
                    Error::limit_exceeded(Limit::Allocation, detail)
                })?;
                nd::ChunkGrid::new(axes)
            }
        }
    }
}

impl Edges {
    fn emit(&self) -> Json {
        let run = |(size, count): &(u64, u64)| match count {
            1 => Json::from(*size),
            count => Json::from([*size, *count].as_slice()),
        };
        match self {
            Edges::Step(size) => Json::from(*size),
            Edges::Runs(runs) => Json::Array(runs.iter().map(run).collect()),
        }
    }

    /// The edges along a dimension of length `len`. They are subtracted from `left`; `None` if there are more than
    /// `left`.
    fn axis(&self, len: u64, left: &mut u64) -> Option<Axis> {
        let runs = match self {
            Edges::Step(chunk) => return Some(Axis::Regular { chunk: *chunk }),
            Edges::Runs(runs) => runs,
        };
        let mut edges = Vec::new();
        let mut end = 0_u64;
        for (size, count) in runs {
            let mut repetitions = *count;
            // At least one chunk, so that an axis without elements also has a first chunk.
            while repetitions > 0 && (end < len || edges.is_empty()) {
                *left = left.checked_sub(1)?;
                end = end.saturating_add(*size);
                edges.push(end);
                repetitions -= 1;
            }
        }
        Some(Axis::Edges(edges))
    }
}

/// The edges of a grid may take at most this fraction of the allocation limit: 8 bytes each, and the list may grow to
/// twice the size of its content.
const EDGE_SHARE: u64 = 64;

fn rectilinear(configuration: &Object, shape: &[u64], at: &Spot<'_>) -> Result<ChunkGrid> {
    let here = at.name("kind");
    let kind = configuration.required("kind", at)?.text(&here)?;
    if kind != "inline" {
        return Err(here.unsupported(format!("a rectilinear grid of kind {kind:?}")));
    }
    let here = at.name("chunk_shapes");
    let shapes = configuration.required("chunk_shapes", at)?.array(&here)?;
    check_rank(shapes.len(), shape, &here)?;
    let edges = shapes.iter().zip(shape).enumerate();
    let chunk_shapes = edges.map(|(index, (json, len))| edges_of(json, *len, &here.index(index)));
    Ok(ChunkGrid::Rectilinear { chunk_shapes: chunk_shapes.collect::<Result<_>>()? })
}

fn edges_of(json: &Json, len: u64, at: &Spot<'_>) -> Result<Edges> {
    let Json::Array(items) = json else { return positive(json, at).map(Edges::Step) };
    let mut runs = Vec::with_capacity(items.len());
    let mut sum = 0_u64;
    for (index, item) in items.iter().enumerate() {
        let here = at.index(index);
        let (size, count) = match item {
            Json::Array(run) => match run.as_slice() {
                [size, count] => (positive(size, &here.index(0))?, positive(count, &here.index(1))?),
                _ => return Err(here.malformed(format!("{} numbers, expected size and count", run.len()))),
            },
            size => (positive(size, &here)?, 1),
        };
        sum = sum.saturating_add(size.saturating_mul(count));
        runs.push((size, count));
    }
    match sum < len || runs.is_empty() {
        true => Err(at.malformed(format!("chunks of {sum} elements in all, expected at least {len}"))),
        false => Ok(Edges::Runs(runs)),
    }
}

fn positive(json: &Json, at: &Spot<'_>) -> Result<u64> {
    match json.unsigned(at)? {
        0 => Err(at.malformed("0, expected 1 or more")),
        size => Ok(size),
    }
}

fn check_rank(found: usize, shape: &[u64], at: &Spot<'_>) -> Result<()> {
    match found == shape.len() {
        true => Ok(()),
        false => Err(at.malformed(format!("{found} dimensions, expected {} as in the array", shape.len()))),
    }
}
