//! The layout of arrays in a target: chunks, shards, filters, byte order and fill value.
//!
//! Rules are values ([`Rule`]), for all arrays or for those that match a pattern. If several rules of one kind match
//! an array, the last applies. The limits of targets are not considered here.
//!
//! * A shape (`8,256,256`) applies to arrays with that number of dimensions. Sizes by name (`time=8`) apply to arrays
//!   with such a dimension; the other sizes are as in the source. They apply to the coordinates of the dimension itself
//!   only if a pattern names it, since the coordinates would otherwise be split into as many chunks. Sizes are limited
//!   to the maximum length of the dimension.
//! * A number of bytes (`4MiB`) applies to all arrays. Chunks have about that size, and never more. If possible, they
//!   consist of whole chunks of the source or divide them (see `shape::about`).
//! * An array without chunks gets chunks if it needs them: for filters, for shards, or because the target requires
//!   them. Up to 4 MiB, the chunk is the whole array; above that, chunks have about that size.
//! * Shards consist of whole chunks, so they can exceed the array.
//! * A fill value is parsed with the datatype of each array.

mod array;
mod filled;
mod option;
mod rule;
mod shape;
mod shown;

use self::array::Array;
use self::filled::Filled;
pub use self::option::{Cut, FilterRule};
pub use self::rule::Rule;
use self::rule::{Change, Seen};
use self::shown::{Named, Shown};
use crate::formats::clear_layout_directives;
use crate::source::{ArraySource, Source};
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{ByteOrder, Datatype, DimCoord, ElementStorage, Extent, Fill, Node, NodePath};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The layout of the arrays of a target: rules in the given order. Clones share the state of
/// [`unused`](Layout::unused).
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
    shown: Option<Shown>,
    seen: Arc<Mutex<Seen>>,
}

/// The rules that apply to one array.
#[derive(Default)]
struct Held<'a> {
    chunk: Option<&'a Cut>,
    shard: Option<&'a Cut>,
    filter: Option<&'a FilterRule>,
    endian: Option<ByteOrder>,
    fill: Option<&'a str>,
}

impl Layout {
    /// Adds a rule. If several rules of one kind match an array, the last applies.
    #[must_use]
    pub fn with(mut self, rule: Rule) -> Layout {
        self.rules.push(rule);
        self
    }

    /// Adds rules written by users, such as `/sst*:64KiB`. `read` parses the part after the pattern; `label` returns
    /// the name of a rule in errors.
    ///
    /// # Errors
    /// For a pattern without a value; any error of `read`.
    pub fn with_texts(
        self,
        texts: &[String],
        label: impl Fn(&str) -> String,
        read: impl Fn(&str) -> Result<Rule>,
    ) -> Result<Layout> {
        texts.iter().try_fold(self, |layout, text| {
            let label = label(text);
            let rule = Rule::parse(text, &read);
            let rule = rule.map_err(|e| e.map_detail(|detail| format!("{label}: {detail}")))?;
            Ok(layout.with(rule.labelled(label)))
        })
    }

    /// The rules in order.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// The label of each rule.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(Rule::label)
    }

    /// Sets whether the target stores all arrays in chunks. If so, contiguous arrays get chunks, or one chunk for the
    /// whole array if no chunks were requested.
    #[must_use]
    pub fn always_chunked(mut self, always: bool) -> Layout {
        self.always_chunked = always;
        self
    }

    /// Lets rules use the dimension names that `shown` has for `stored`. Both are the same store, with the same object
    /// identifiers, but `shown` is opened so that it shows names. A store that is opened raw shows no names.
    pub(crate) fn with_names_of(mut self, stored: Arc<dyn Source>, shown: Arc<dyn Source>) -> Layout {
        self.shown = Some(Shown::new(stored, shown));
        self
    }

    /// Changes the storage of an array or of a dimension with coordinates. Other objects are unchanged.
    ///
    /// # Errors
    /// If a rule that names the array does not fit it, its datatype cannot represent the fill value, or shards would
    /// not consist of whole chunks.
    pub fn apply(&self, path: &NodePath, node: &mut Node) -> Result<()> {
        let array = match node {
            Node::Ndarray(array) => {
                let dims = array.shape.dims();
                let names = dims.iter().map(|dimension| dimension.coordinate.clone()).collect();
                let (names, is_dimcoord) = self.shown_names(path, dims.len()).unwrap_or((names, false));
                Array {
                    extents: dims.iter().map(|dimension| dimension.extent).collect(),
                    names,
                    datatype: array.datatype.as_deref(),
                    storage: &mut array.storage,
                    is_dimcoord,
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

    /// The dimension names of an array in the store that shows them, if a rule needs them.
    fn shown_names(&self, path: &NodePath, rank: usize) -> Option<Named> {
        let shown = self.shown.as_ref().filter(|_| self.rules.iter().any(Rule::names_dimensions))?;
        shown.names(path, rank)
    }

    /// The elements of the array at `path` as they are written. If the target has another fill value, elements that
    /// were never written must be written with the old one.
    pub(crate) fn elements(&self, path: &NodePath, array: Arc<dyn ArraySource>) -> Arc<dyn ArraySource> {
        match self.sets_fill(path) {
            true => Arc::new(Filled(array)),
            false => array,
        }
    }

    /// Whether a rule changes the fill value of the array at `path`.
    pub(crate) fn sets_fill(&self, path: &NodePath) -> bool {
        let is_set = self.last(path, |change| match change {
            Change::Fill(value) => Some(value.is_some()),
            _ => None,
        });
        is_set == Some(true)
    }

    /// The last rule for the filters of the array at `path`.
    pub(crate) fn filters(&self, path: &NodePath) -> Option<&FilterRule> {
        self.last(path, |change| match change {
            Change::Filter(filtering) => Some(filtering),
            _ => None,
        })
    }

    /// The value of the last rule of a kind that applies to an array.
    fn last<'a, T>(&'a self, path: &NodePath, value: impl Fn(&'a Change) -> Option<T>) -> Option<T> {
        let mut matching = self.rules.iter().rev().filter(|rule| rule.names(path));
        matching.find_map(|rule| value(&rule.change))
    }

    /// One error for each rule without effect, such as patterns that match no array, and unknown dimensions or numbers
    /// of dimensions. Call this after all objects are known.
    pub fn unused(&self) -> Vec<Error> {
        let seen = self.seen();
        let rules = self.rules.iter().enumerate();
        rules.flat_map(|(number, rule)| seen.missing(number, rule)).collect()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last rules of each kind that apply to an array.
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
            if let Some(origin) = &mut array.storage.origin {
                origin.fill = Fill::Default;
            }
        }
        if let (Some(order), Some(datatype)) = (held.endian, array.datatype) {
            set_order(&mut array.storage.element, datatype, order);
            if let Some(origin) = array.storage.origin.as_mut().filter(|origin| !origin.element.is_empty()) {
                set_order(&mut origin.element, datatype, order);
            }
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
        // Chunks that only the target needs are not a new layout: the target records the one that the array has.
        let is_asked = !self.always_chunked
            || filtered
            || [held.chunk, held.shard].into_iter().flatten().any(|cut| *cut != Cut::Keep);
        if cut && is_asked {
            // The layout follows from the chunks.
            array.storage.layout = None;
        }
        clear_layout_directives(array.storage, cut && is_asked, filtered);
        if let Some(origin) = &mut array.storage.origin {
            if cut && is_asked {
                (origin.layout, origin.chunk) = (None, None);
            }
            if filtered {
                origin.filters.clear();
            }
            clear_layout_directives(origin, cut && is_asked, filtered);
        }
        Ok(())
    }
}

fn fill(value: &str, datatype: &Datatype) -> Result<Fill> {
    hyperslab_ndl::fill_value(value, datatype).map_err(|e| match e.remedies() {
        [] => e.map_detail(|detail| format!("fill value {detail}")).with_remedy(Remedy::FillByType),
        _ => e,
    })
}

/// Sets the byte order of every number of a datatype.
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
