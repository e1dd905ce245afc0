//! How arrays are laid out in a target: chunks, shards, filters, byte order, fill value.
//!
//! Rules are values ([`Rule`]), for all arrays or for those that a pattern matches; of those that apply to an array the
//! last of a kind holds. What a target cannot have is no matter of this module.
//!
//! * A shape (`8,256,256`) is for arrays of as many dimensions, sides by name (`time=8`) for arrays that have one
//!   of the names, the other sides as in the source. A dimension's own coordinates are not cut by its name unless a
//!   pattern names them: they would become as many chunks. Sides longer than a dimension can become are cut.
//! * A number of bytes (`4MiB`) is for all arrays: chunks at most that large, near it, and made of whole chunks of
//!   the source or the other way round where that can be (see `shape::about`).
//! * An array without chunks gets some where it must have them: for filters, for shards, or because the target has
//!   nothing else. They are the whole array up to 4 MiB, near that beyond.
//! * Shards are made of whole chunks, so they can reach past the end of the array.
//! * A fill value is read in the type of each array.

mod array;
mod filled;
mod option;
mod rule;
mod shape;

use self::array::Array;
use self::filled::Filled;
pub use self::option::{Cut, FilterRule};
pub use self::rule::Rule;
use self::rule::{Change, Seen};
use crate::formats::clear_layout_directives;
use crate::source::ArraySource;
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{ByteOrder, Datatype, DimCoord, ElementStorage, Extent, Fill, Node, NodePath};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How arrays of the target are laid out: the options in the order given. Clones share what
/// [`unused`](Layout::unused) knows.
///
/// ```
/// use hyperslab::convert::layout::{Cut, Layout, Rule};
/// use hyperslab::{NodePath, OpenOptions, open, model::Node};
///
/// let source = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
/// let path = NodePath::new("/salinity")?;
/// let mut node = source.load(&source.find(&path)?.handle)?;
/// let layout = Layout::default()
///     .with(Rule::chunk(Cut::Sides(vec![("time".into(), 1)])))
///     .with(Rule::filter("shuffle,zstd=3".parse()?).of("/sal*"));
/// layout.apply(&path, &mut node)?;
/// let Node::Ndarray(array) = node else { unreachable!() };
/// assert_eq!(array.storage.chunk.as_deref(), Some(&[1, 1, 3, 8][..]));
/// assert_eq!(array.storage.filters[1].name, "zstd");
/// assert!(layout.unused().is_empty());
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Layout {
    rules: Vec<Rule>,
    always_chunked: bool,
    seen: Arc<Mutex<Seen>>,
}

/// The rules that hold for one array.
#[derive(Default)]
struct Held<'a> {
    chunk: Option<&'a Cut>,
    shard: Option<&'a Cut>,
    filter: Option<&'a FilterRule>,
    endian: Option<ByteOrder>,
    fill: Option<&'a str>,
}

impl Layout {
    /// Adds a rule; of those that apply to an array the last of a kind holds.
    #[must_use]
    pub fn with(mut self, rule: Rule) -> Layout {
        self.rules.push(rule);
        self
    }

    /// The rules in their order.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// What each rule is called.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(Rule::label)
    }

    /// Says that the target has nothing but chunks: arrays in one piece get some, the whole as one chunk where
    /// that was asked for.
    #[must_use]
    pub fn always_chunked(mut self, always: bool) -> Layout {
        self.always_chunked = always;
        self
    }

    /// Changes the storage of an array, or of a dimension with coordinates, to what the target shall have;
    /// other objects stay as they are.
    ///
    /// # Errors
    /// If an option that names the array does not fit it, its type has no such fill value, or its shards would
    /// not be made of whole chunks.
    pub fn apply(&self, path: &NodePath, node: &mut Node) -> Result<()> {
        let array = match node {
            Node::Ndarray(array) => {
                let dims = array.shape.dims();
                Array {
                    extents: dims.iter().map(|dimension| dimension.extent).collect(),
                    names: dims.iter().map(|dimension| dimension.coordinate.clone()).collect(),
                    datatype: array.datatype.as_deref(),
                    storage: &mut array.storage,
                    is_dimcoord: false,
                }
            }
            Node::DimCoord(DimCoord { size, datatype: Some(datatype), storage, .. }) => Array {
                extents: vec![*size],
                names: vec![Some(path.clone())],
                datatype: Some(&**datatype),
                storage,
                is_dimcoord: true,
            },
            Node::Group(_) => {
                let rules = self.rules.iter().enumerate().filter(|(_, rule)| rule.is_for_some());
                let matching = rules.filter(|(_, rule)| rule.names(path)).map(|(number, _)| number);
                self.seen().groups.extend(matching);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.held(path, &array).and_then(|held| self.lay_out(array, &held)).map_err(|e| e.in_object(path))
    }

    /// The elements of the array at `path` on their way into a target: where that has another fill value, what was
    /// never written has to be written as what it was.
    pub(crate) fn elements(&self, path: &NodePath, array: Arc<dyn ArraySource>) -> Arc<dyn ArraySource> {
        match self.sets_fill(path) {
            true => Arc::new(Filled(array)),
            false => array,
        }
    }

    /// Whether an option gives the array at `path` another fill value.
    pub(crate) fn sets_fill(&self, path: &NodePath) -> bool {
        let is_set = self.last(path, |change| match change {
            Change::Fill(value) => Some(value.is_some()),
            _ => None,
        });
        is_set == Some(true)
    }

    /// Whether the filters of the array at `path` are those of an option.
    pub(crate) fn asks_filters(&self, path: &NodePath) -> bool {
        let is_asked = self.last(path, |change| match change {
            Change::Filter(filtering) => Some(*filtering != FilterRule::Keep),
            _ => None,
        });
        is_asked == Some(true)
    }

    /// What the last rule of a kind says of an array.
    fn last<T>(&self, path: &NodePath, says: impl Fn(&Change) -> Option<T>) -> Option<T> {
        let mut said = self.rules.iter().rev().filter(|rule| rule.names(path));
        said.find_map(|rule| says(&rule.change))
    }

    /// What was said in vain once all objects are known, an error each: patterns that matched no array, names
    /// and numbers of dimensions that none has.
    pub fn unused(&self) -> Vec<Error> {
        let seen = self.seen();
        let rules = self.rules.iter().enumerate();
        rules.flat_map(|(number, rule)| seen.missing(number, rule)).collect()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last rules that apply to an array.
    fn held(&self, path: &NodePath, array: &Array<'_>) -> Result<Held<'_>> {
        let mut seen = self.seen();
        let names = array.names.iter().flatten();
        seen.dimensions.extend(names.map(|name| name.name().to_owned()));
        let mut held = Held::default();
        for (number, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.names(path)) {
            seen.arrays.insert(number);
            if !rule.suits(number, array, &mut seen)? {
                continue;
            }
            seen.applied.insert(number);
            match &rule.change {
                Change::Chunk(cutting) => held.chunk = Some(cutting),
                Change::Shard(cutting) => held.shard = Some(cutting),
                Change::Filter(filtering) => held.filter = Some(filtering),
                Change::Endian(order) => held.endian = *order,
                Change::Fill(value) => held.fill = value.as_deref(),
            }
        }
        Ok(held)
    }

    fn lay_out(&self, mut array: Array<'_>, held: &Held<'_>) -> Result<()> {
        if let (Some(value), Some(datatype)) = (held.fill, array.datatype) {
            array.storage.fill = fill(value, datatype)?;
        }
        if let (Some(order), Some(datatype)) = (held.endian, array.datatype) {
            set_order(&mut array.storage.element, datatype, order);
        }
        if array.extents.is_empty() || array.extents.contains(&Extent::Uncounted) {
            return Ok(());
        }
        let before = (array.storage.chunk.clone(), array.storage.shard.clone());
        let filtered = match held.filter {
            Some(FilterRule::List(list)) => {
                array.storage.filters = hyperslab_ndl::filters_for(list.clone(), array.datatype);
                true
            }
            Some(FilterRule::Keep) | None => false,
        };
        array.cut_chunks(held, self.always_chunked)?;
        array.cut_shards(held.shard)?;
        let cut = before != (array.storage.chunk.clone(), array.storage.shard.clone());
        if cut {
            // Where elements are follows from the chunks.
            array.storage.layout = None;
        }
        clear_layout_directives(array.storage, cut, filtered);
        Ok(())
    }
}

fn fill(value: &str, datatype: &Datatype) -> Result<Fill> {
    hyperslab_ndl::fill_value(value, datatype).map_err(|e| match e.remedies() {
        [] => e.map_detail(|detail| format!("fill value {detail}")).with_remedy(Remedy::FillByType),
        _ => e,
    })
}

/// Gives every number of a type this byte order.
fn set_order(storage: &mut ElementStorage, datatype: &Datatype, order: ByteOrder) {
    match datatype {
        Datatype::Named(_, of) => set_order(storage, of, order),
        Datatype::Array { base, .. } | Datatype::Vlen(base) | Datatype::Nullable(base) => {
            set_order(storage, base, order);
        }
        Datatype::Compound(members) => {
            storage.endian = None;
            for member in members {
                let at = match storage.members.iter().position(|(name, _)| *name == member.name) {
                    Some(at) => at,
                    None => {
                        storage.members.push((member.name.clone(), ElementStorage::default()));
                        storage.members.len() - 1
                    }
                };
                storage
                    .members
                    .iter_mut()
                    .skip(at)
                    .take(1)
                    .for_each(|(_, of)| set_order(of, &member.datatype, order));
            }
            storage.members.retain(|(_, of)| !of.is_empty());
        }
        datatype if datatype.has_byte_order() => storage.endian = Some(order),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
