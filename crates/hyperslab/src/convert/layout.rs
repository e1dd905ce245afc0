//! How arrays are laid out in a target: chunks, shards, filters, byte order, fill value.
//!
//! Every option may have `/PATTERN:` in front; of those that apply to an array the last holds. What a target cannot
//! have is no matter of this module.
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
mod shape;

use self::array::Array;
use self::filled::Filled;
use self::option::{Cutting, Filtering};
use crate::format::forget_layout;
use crate::location::{is_pattern, matches, nearest};
use crate::source::ArraySource;
use hyperslab_core::{Error, Result};
use hyperslab_model::{ByteOrder, Datatype, DimCoord, ElementStorage, Extent, Fill, Node, NodePath};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How arrays of the target are laid out: the options in the order given. Clones share what
/// [`unused`](Layout::unused) knows.
///
/// ```
/// use hyperslab::convert::layout::Layout;
/// use hyperslab::{NodePath, OpenOptions, open, model::Node};
///
/// let source = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
/// let path = NodePath::new("/salinity")?;
/// let mut node = source.load(&source.find(&path)?.handle)?;
/// let mut layout = Layout::default();
/// layout.chunk("time=1")?;
/// layout.filter("/sal*:shuffle,zstd=3")?;
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

/// One option.
#[derive(Clone, Debug)]
struct Rule {
    /// `-c time=8`, as it was typed.
    typed: String,
    pattern: Option<String>,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    Chunk(Cutting),
    Shard(Cutting),
    Filter(Filtering),
    Endian(Option<ByteOrder>),
    /// `None` to keep it.
    Fill(Option<String>),
}

/// What was met so far.
#[derive(Debug, Default)]
struct Seen {
    /// Numbers of rules whose pattern matched an array, or a group.
    arrays: BTreeSet<usize>,
    groups: BTreeSet<usize>,
    /// Numbers of rules that an array was right for.
    applied: BTreeSet<usize>,
    /// Names of dimensions that rules have and arrays had.
    named: BTreeSet<(usize, String)>,
    dimensions: BTreeSet<String>,
}

/// The rules that hold for one array.
#[derive(Default)]
struct Held<'a> {
    chunk: Option<&'a Cutting>,
    shard: Option<&'a Cutting>,
    filter: Option<&'a Filtering>,
    endian: Option<ByteOrder>,
    fill: Option<&'a str>,
}

impl Layout {
    /// Adds what `-c` says: `8,256,256`, `time=8,lat=256`, `4MiB`, `whole`, `keep` or `none`.
    ///
    /// # Errors
    /// For anything else.
    pub fn chunk(&mut self, option: &str) -> Result<()> {
        self.add("-c", option, |value| option::cutting(value).map(Change::Chunk))
    }

    /// Adds what `--shard` says, in the words of [`chunk`](Layout::chunk).
    ///
    /// # Errors
    /// For anything else.
    pub fn shard(&mut self, option: &str) -> Result<()> {
        self.add("--shard", option, |value| option::cutting(value).map(Change::Shard))
    }

    /// Adds what `-f` says: `shuffle,deflate=4`, a list or a map of NDL, `keep` or `none`.
    ///
    /// # Errors
    /// For anything else.
    pub fn filter(&mut self, option: &str) -> Result<()> {
        self.add("-f", option, |value| option::filtering(value).map(Change::Filter))
    }

    /// Adds what `--endian` says: `little`, `big` or `keep`.
    ///
    /// # Errors
    /// For anything else.
    pub fn endian(&mut self, option: &str) -> Result<()> {
        self.add("--endian", option, |value| option::endian(value).map(Change::Endian))
    }

    /// Adds what `--fill` says: a value as NDL writes it, `null` to leave it undefined, or `keep`.
    ///
    /// # Errors
    /// If there is none. Whether it is of the type of an array, [`apply`](Layout::apply) finds out.
    pub fn fill(&mut self, option: &str) -> Result<()> {
        self.add("--fill", option, |value| match value.trim() {
            "" => Err(Error::invalid(
                "no value\nhelp: write -999, null for undefined, or '\"\"' for an empty text",
            )),
            "keep" => Ok(Change::Fill(None)),
            value => Ok(Change::Fill(Some(value.to_owned()))),
        })
    }

    /// All options as they were typed.
    pub fn typed(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.typed.as_str())
    }

    /// Says that the target has nothing but chunks: arrays in one piece get some, the whole as one chunk where
    /// that was asked for.
    #[must_use]
    pub fn always_chunked(mut self, always: bool) -> Layout {
        self.always_chunked = always;
        self
    }

    fn add(&mut self, flag: &str, option: &str, read: impl FnOnce(&str) -> Result<Change>) -> Result<()> {
        let typed = format!("{flag} {option}");
        let rule = option::parted(option).and_then(|(pattern, value)| {
            Ok(Rule { typed: typed.clone(), pattern: pattern.map(str::to_owned), change: read(value)? })
        });
        self.rules.push(rule.map_err(|e| Error::new(e.kind(), format!("{typed}: {}", e.detail())))?);
        Ok(())
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
                let rules = self.rules.iter().enumerate().filter(|(_, rule)| rule.pattern.is_some());
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
    pub(crate) fn elements<'a>(
        &self,
        path: &NodePath,
        array: Box<dyn ArraySource + 'a>,
    ) -> Box<dyn ArraySource + 'a> {
        let is_filled = self.last(path, |change| match change {
            Change::Fill(value) => Some(value.is_some()),
            _ => None,
        });
        match is_filled {
            Some(true) => Box::new(Filled(array)),
            _ => array,
        }
    }

    /// Whether the filters of the array at `path` are those of an option.
    pub(crate) fn asks_filters(&self, path: &NodePath) -> bool {
        let is_asked = self.last(path, |change| match change {
            Change::Filter(filtering) => Some(*filtering != Filtering::Keep),
            _ => None,
        });
        is_asked == Some(true)
    }

    /// What the last rule of a kind says of an array.
    fn last<T>(&self, path: &NodePath, says: impl Fn(&Change) -> Option<T>) -> Option<T> {
        let mut said = self.rules.iter().rev().filter(|rule| rule.names(path));
        said.find_map(|rule| says(&rule.change))
    }

    /// What was said in vain once all objects are known, a sentence each: patterns that matched no array, names
    /// and numbers of dimensions that none has.
    pub fn unused(&self) -> Vec<String> {
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
            Some(Filtering::List(list)) => {
                array.storage.filters = hyperslab_ndl::filters(list, array.datatype)?;
                true
            }
            Some(Filtering::Keep) | None => false,
        };
        array.cut_chunks(held, self.always_chunked)?;
        array.cut_shards(held.shard)?;
        let cut = before != (array.storage.chunk.clone(), array.storage.shard.clone());
        if cut {
            // Where elements are follows from the chunks.
            array.storage.layout = None;
        }
        forget_layout(array.storage, cut, filtered);
        Ok(())
    }
}

impl Rule {
    fn names(&self, path: &NodePath) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| matches(pattern, path.as_str()))
    }

    /// Whether it means this one array and no other.
    fn is_literal(&self) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| !is_pattern(pattern))
    }

    /// Whether it says something to arrays like one that it names.
    fn suits(&self, number: usize, array: &Array<'_>, seen: &mut Seen) -> Result<bool> {
        let (Change::Chunk(cutting) | Change::Shard(cutting)) = &self.change else { return Ok(true) };
        let rank = array.extents.len();
        match cutting {
            Cutting::Shape(shape) if shape.len() != rank && self.is_literal() => {
                let (typed, found) = (&self.typed, shape.len());
                Err(Error::invalid(format!("{typed}: {found} sides, the array has {rank} dimensions")))
            }
            Cutting::Shape(shape) => Ok(shape.len() == rank),
            Cutting::Named(_) if array.is_dimcoord && self.pattern.is_none() => Ok(false),
            Cutting::Named(sides) => {
                let own: Vec<_> =
                    sides.iter().filter(|(name, _)| array.dimensions(name).next().is_some()).collect();
                seen.named.extend(own.iter().map(|(name, _)| (number, name.clone())));
                Ok(!own.is_empty())
            }
            _ => Ok(true),
        }
    }
}

impl Seen {
    fn missing(&self, number: usize, rule: &Rule) -> Vec<String> {
        let Rule { typed, pattern, change } = rule;
        if let Some(pattern) = pattern.as_ref().filter(|_| !self.arrays.contains(&number)) {
            let help = match self.groups.contains(&number) {
                true => format!("\nhelp: what is in a group is {}/**", pattern.trim_end_matches('/')),
                false => String::new(),
            };
            return vec![format!("{typed}: no array matches {pattern}{help}")];
        }
        match change {
            Change::Chunk(Cutting::Shape(shape)) | Change::Shard(Cutting::Shape(shape)) => {
                let (rank, s) = (shape.len(), if shape.len() == 1 { "" } else { "s" });
                let missing = !self.applied.contains(&number);
                missing.then(|| format!("{typed}: no array has {rank} dimension{s}")).into_iter().collect()
            }
            Change::Chunk(Cutting::Named(sides)) | Change::Shard(Cutting::Named(sides)) => {
                let missing = sides.iter().filter(|(name, _)| !self.named.contains(&(number, name.clone())));
                let sentence = |(name, _): &(String, u64)| {
                    let others = self.dimensions.iter().map(String::as_str).filter(|other| other != name);
                    let near = nearest(name, others);
                    let help = near.map(|near| format!("\nhelp: did you mean {near}?")).unwrap_or_default();
                    format!("{typed}: no array has a dimension {name}{help}")
                };
                missing.map(sentence).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn fill(value: &str, datatype: &Datatype) -> Result<Fill> {
    hyperslab_ndl::fill_value(value, datatype).map_err(|e| match e.detail().split_once("\nhelp: ") {
        Some(_) => e,
        None => Error::invalid(format!(
            "fill value {}\nhelp: --fill '/PATTERN:VALUE' gives arrays their own, '/PATTERN:keep' leaves it",
            e.detail()
        )),
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
mod tests {
    use super::*;
    use hyperslab_model::{
        Attributes, Dimension, Directive, Filter, Float, Member, Ndarray, Shape, Storage, Text,
    };
    use proptest::prelude::*;

    const FLOAT: Datatype = Datatype::Float(Float::Single);

    fn path(text: &str) -> NodePath {
        NodePath::new(text).unwrap()
    }

    /// An array of named dimensions, in chunks if there are some.
    fn array(dims: &[(&str, Extent)], datatype: Datatype, chunk: Option<&[u64]>) -> Node {
        let dims = dims.iter().map(|(name, extent)| Dimension {
            extent: *extent,
            coordinate: (!name.is_empty()).then(|| NodePath::root().child(name)),
        });
        let layout = Some(match chunk {
            Some(_) => hyperslab_model::Layout::Chunked,
            None => hyperslab_model::Layout::Contiguous,
        });
        Node::Ndarray(Ndarray {
            shape: Shape::Dims(dims.collect()),
            datatype: Some(Arc::new(datatype)),
            attributes: Attributes::new(),
            storage: Storage { chunk: chunk.map(<[u64]>::to_vec), layout, ..Storage::default() },
            value: None,
        })
    }

    fn sst(chunk: Option<&[u64]>) -> Node {
        let dims = [("time", 240), ("lat", 1024), ("lon", 1024)].map(|(name, n)| (name, Extent::Fixed(n)));
        array(&dims, FLOAT, chunk)
    }

    fn storage(node: &Node) -> &Storage {
        match node {
            Node::Ndarray(array) => &array.storage,
            Node::DimCoord(dimcoord) => &dimcoord.storage,
            _ => panic!("no array"),
        }
    }

    fn add(layout: &mut Layout, options: &[&str]) {
        for option in options {
            let (flag, option) = option.split_once(' ').unwrap();
            match flag {
                "-c" => layout.chunk(option),
                "--shard" => layout.shard(option),
                "-f" => layout.filter(option),
                "--endian" => layout.endian(option),
                _ => layout.fill(option),
            }
            .unwrap();
        }
    }

    /// Chunk and shard, or the error, of `node` as `/sst` with these options.
    fn cut(mut node: Node, options: &[&str], always: bool) -> String {
        let mut layout = Layout::default().always_chunked(always);
        add(&mut layout, options);
        match layout.apply(&path("/sst"), &mut node) {
            Err(e) => e.to_string(),
            Ok(()) => match storage(&node) {
                Storage { chunk: None, .. } => "none".into(),
                Storage { chunk: Some(chunk), shard: None, .. } => format!("{chunk:?}"),
                Storage { chunk: Some(chunk), shard: Some(shard), .. } => format!("{chunk:?} in {shard:?}"),
            },
        }
    }

    #[test]
    fn options_give_these_chunks_and_shards() {
        let chunk: &[u64] = &[8, 256, 256];
        for (source, options, expected) in [
            (Some(chunk), &[][..], "[8, 256, 256]"),
            (Some(chunk), &["-c keep"], "[8, 256, 256]"),
            (Some(chunk), &["-c 4,100,2000"], "[4, 100, 1024]"),
            (Some(chunk), &["-c time=1"], "[1, 256, 256]"),
            (Some(chunk), &["-c time=1,/lon=512"], "[1, 256, 512]"),
            (Some(chunk), &["-c time=1", "-c lat=64"], "[8, 64, 256]"),
            (Some(chunk), &["-c 4MiB"], "[16, 256, 256]"),
            (Some(chunk), &["-c whole"], "[240, 1024, 1024]"),
            (Some(chunk), &["-c none"], "none"),
            // The last of those that apply holds.
            (Some(chunk), &["-c whole", "-c 1,2,3", "-c 5", "-c depth=4"], "[1, 2, 3]"),
            (Some(chunk), &["-c /sst:whole", "-c 1,2,3"], "[1, 2, 3]"),
            (Some(chunk), &["-c 1,2,3", "-c /s*:whole", "-c /**/t*:2,2,2"], "[240, 1024, 1024]"),
            (Some(chunk), &["-c whole", "-c /sst:keep"], "[8, 256, 256]"),
            (None, &[], "none"),
            (None, &["-c time=1"], "[1, 1024, 1024]"),
            (None, &["-c lat=1"], "[240, 1, 1024]"),
            (None, &["-c 4MiB"], "[120, 64, 128]"),
            (None, &["-f zstd=3"], "[120, 64, 128]"),
            (Some(chunk), &["--shard 16,512,512"], "[8, 256, 256] in [16, 512, 512]"),
            (Some(chunk), &["--shard 240,2000,1024"], "[8, 256, 256] in [240, 1024, 1024]"),
            (Some(chunk), &["--shard time=80"], "[8, 256, 256] in [80, 256, 256]"),
            (Some(chunk), &["--shard 64MiB"], "[8, 256, 256] in [64, 512, 512]"),
            (Some(chunk), &["--shard 1MiB"], "[8, 256, 256] in [8, 256, 256]"),
            (Some(chunk), &["-c 7,100,100", "--shard whole"], "[7, 100, 100] in [245, 1100, 1100]"),
            (Some(chunk), &["--shard whole", "--shard none"], "[8, 256, 256]"),
            (Some(chunk), &["--shard 16,512,512", "--shard keep"], "[8, 256, 256]"),
            (None, &["--shard whole"], "[120, 64, 128] in [240, 1024, 1024]"),
        ] {
            assert_eq!(cut(sst(source), options, false), expected, "{source:?} {options:?}");
        }
    }

    #[test]
    fn a_target_of_nothing_but_chunks_has_some_for_every_array() {
        assert_eq!(cut(sst(None), &[], true), "[120, 64, 128]");
        assert_eq!(cut(sst(None), &["-c none"], true), "[240, 1024, 1024]");
        assert_eq!(cut(sst(Some(&[1, 2, 3])), &["-c none"], true), "[240, 1024, 1024]");
        let small = array(&[("", Extent::Fixed(7))], FLOAT, None);
        assert_eq!(cut(small, &[], true), "[7]");
        let empty = array(&[("", Extent::Fixed(0)), ("", Extent::Fixed(4))], FLOAT, None);
        assert_eq!(cut(empty, &[], true), "[1, 4]");
        assert_eq!(cut(array(&[], FLOAT, None), &["-c 4MiB", "-f zstd=3", "--shard whole"], true), "none");
    }

    #[test]
    fn options_that_cannot_hold_are_refused() {
        let chunk: &[u64] = &[8, 256, 256];
        for (options, expected) in [
            (&["-c /sst:8,256"][..], "/sst: -c /sst:8,256: 2 sides, the array has 3 dimensions"),
            (
                &["--shard 20,512,512"],
                "/sst: a shard of [20, 512, 512] is not made of whole chunks of [8, 256, 256]\nhelp: one of 24,512,512 would be",
            ),
            (
                &["-c none", "-f zstd=3"],
                "/sst: filters without chunks\nhelp: -c none leaves no chunks for them",
            ),
            (
                &["-c none", "--shard whole"],
                "/sst: shards without chunks\nhelp: -c none leaves no chunks for them",
            ),
            (
                &["--fill abc"],
                "/sst: fill value \"abc\", expected a number (float32)\nhelp: --fill '/PATTERN:VALUE' gives arrays their own, '/PATTERN:keep' leaves it",
            ),
        ] {
            assert_eq!(cut(sst(Some(chunk)), options, false), expected, "{options:?}");
        }
        let mut layout = Layout::default();
        let error = layout.chunk("/sst:8,x").unwrap_err().to_string();
        assert!(error.starts_with("-c /sst:8,x: \"x\" is no number of elements"), "{error}");
        assert!(layout.endian("middle").unwrap_err().to_string().contains("expected little, big or keep"));
    }

    #[test]
    fn what_can_grow_keeps_chunks_longer_than_it_is() {
        let dims =
            [("time", Extent::Unlimited { current: 3 }), ("x", Extent::Limited { current: 5, max: 20 })];
        let node = |chunk| array(&dims, FLOAT, chunk);
        assert_eq!(cut(node(Some(&[512, 10])), &["-c 4MiB"], false), "[512, 10]");
        assert_eq!(cut(node(Some(&[512, 10])), &["-c 1024,50"], false), "[1024, 20]");
        assert_eq!(cut(node(Some(&[512, 10])), &["-c whole"], false), "[3, 5]");
        assert_eq!(cut(node(Some(&[512, 10])), &["-c time=1"], false), "[1, 10]");
        assert_eq!(cut(node(Some(&[512, 10])), &["--shard time=1024"], false), "[512, 10] in [1024, 10]");
    }

    #[test]
    fn coordinates_are_cut_by_name_only_where_a_pattern_names_them() {
        let time = || {
            Node::DimCoord(DimCoord {
                size: Extent::Fixed(1000),
                datatype: Some(Arc::new(FLOAT)),
                attributes: Attributes::new(),
                storage: Storage { chunk: Some(vec![100]), ..Storage::default() },
                value: None,
            })
        };
        for (option, expected) in
            [("time=1", 100), ("/time:time=1", 1), ("10", 10), ("whole", 1000), ("100B", 25)]
        {
            let (mut layout, mut node) = (Layout::default(), time());
            layout.chunk(option).unwrap();
            layout.apply(&path("/time"), &mut node).unwrap();
            assert_eq!(storage(&node).chunk, Some(vec![expected]), "{option}");
        }
        let mut layout = Layout::default();
        layout.chunk("time=1").unwrap();
        layout.apply(&path("/time"), &mut time()).unwrap();
        assert_eq!(layout.unused(), ["-c time=1: no array has a dimension time"]);
    }

    #[test]
    fn filters_take_the_place_of_those_of_the_source() {
        let names = |options: &[&str], datatype: Datatype| {
            let mut node = array(&[("", Extent::Fixed(9))], datatype, Some(&[3]));
            if let Node::Ndarray(array) = &mut node {
                array.storage.filters.push(Filter { name: "lzf".into(), parameters: vec![], main: false });
                array.storage.native.push((
                    "zarr",
                    vec![("codecs".into(), Directive::Null), ("chunk_key_encoding".into(), Directive::Null)],
                ));
            }
            let mut layout = Layout::default();
            add(&mut layout, options);
            layout.apply(&path("/a/sst"), &mut node).unwrap();
            let Storage { filters, native, chunk, .. } = storage(&node);
            let filters: Vec<_> = filters
                .iter()
                .map(|filter| {
                    let names = filter.parameters.iter().map(|(name, value)| format!("{name}={value:?}"));
                    format!("{}({})", filter.name, names.collect::<Vec<_>>().join(","))
                })
                .collect();
            (filters.join(" "), native.first().map_or(0, |(_, list)| list.len()), chunk.clone())
        };
        let three = Some(vec![3]);
        assert_eq!(names(&[], FLOAT), ("lzf()".into(), 2, three.clone()));
        assert_eq!(names(&["-f none", "-f keep"], FLOAT), ("lzf()".into(), 2, three.clone()));
        assert_eq!(names(&["-f none"], FLOAT), (String::new(), 1, three.clone()));
        assert_eq!(names(&["-c none"], FLOAT), (String::new(), 1, None));
        assert_eq!(
            names(&["-f shuffle,zlib=4", "-f /b:none"], FLOAT),
            ("shuffle() deflate(level=Int(4))".into(), 1, three.clone())
        );
        // As in a document, the number means bits for integers.
        let scaled = |datatype| names(&["-f scaleoffset=2"], datatype).0;
        assert_eq!(scaled(FLOAT), "scaleoffset(digits=Int(2))");
        assert_eq!(scaled(Datatype::int(16, true)), "scaleoffset(bits=Int(2))");
    }

    #[test]
    fn byte_order_reaches_the_numbers_of_a_compound_and_nothing_else() {
        let member = |name: &str, datatype| Member { name: name.into(), datatype };
        let pair = Datatype::Compound(vec![
            member("n", Datatype::int(32, true)),
            member("b", Datatype::int(8, true)),
            member("t", Datatype::String(Text::Variable)),
            member("a", Datatype::Array { base: Box::new(FLOAT), shape: vec![2] }),
        ]);
        let mut node = array(&[], pair, None);
        let mut layout = Layout::default();
        add(&mut layout, &["--endian big"]);
        layout.apply(&path("/x"), &mut node).unwrap();
        let element = &storage(&node).element;
        let ordered: Vec<_> = element.members.iter().map(|(name, of)| (name.as_str(), of.endian)).collect();
        assert_eq!(ordered, [("n", Some(ByteOrder::Big)), ("a", Some(ByteOrder::Big))]);
        assert_eq!(element.endian, None);
        for (datatype, expected) in
            [(FLOAT, Some(ByteOrder::Big)), (Datatype::int(8, false), None), (Datatype::ObjRef, None)]
        {
            let mut node = array(&[], datatype, None);
            layout.apply(&path("/x"), &mut node).unwrap();
            assert_eq!(storage(&node).element.endian, expected);
        }
        add(&mut layout, &["--endian /x:keep"]);
        let mut node = array(&[], FLOAT, None);
        layout.apply(&path("/x"), &mut node).unwrap();
        assert_eq!(storage(&node).element.endian, None);
    }

    #[test]
    fn fill_values_are_of_the_type_of_each_array() {
        let fill = |options: &[&str], datatype: Datatype| {
            let mut node = array(&[], datatype, None);
            let mut layout = Layout::default();
            add(&mut layout, options);
            layout.apply(&path("/x"), &mut node).unwrap();
            storage(&node).fill.clone()
        };
        let row = |fill: Fill| match fill {
            Fill::Value(value) => value.rows.to_vec(),
            other => panic!("{other:?}"),
        };
        assert_eq!(row(fill(&["--fill -999"], FLOAT)), (-999_f32).to_ne_bytes());
        assert_eq!(row(fill(&["--fill -999"], Datatype::int(16, true))), (-999_i16).to_ne_bytes());
        assert_eq!(row(fill(&["--fill 1", "--fill /y:2"], FLOAT)), 1_f32.to_ne_bytes());
        assert!(matches!(fill(&["--fill null"], FLOAT), Fill::Undefined));
        assert!(matches!(fill(&["--fill 1", "--fill /x:keep"], FLOAT), Fill::Default));
    }

    #[test]
    fn with_another_fill_value_what_was_never_written_counts_as_written() {
        let source = crate::open("../../examples/ocean.nc".as_ref(), &crate::OpenOptions::default()).unwrap();
        let path = path("/salinity");
        let array = || source.array(&source.find(&path).unwrap().handle).unwrap();
        let is_known = |options: &[&str]| {
            let mut layout = Layout::default();
            add(&mut layout, options);
            layout.elements(&path, array()).chunks().unwrap().is_some()
        };
        assert!(is_known(&[]) && is_known(&["--fill 1", "--fill /sal*:keep"]) && is_known(&["--fill /b:1"]));
        assert!(!is_known(&["--fill 1"]) && !is_known(&["--fill /**:keep", "--fill /sal*:1"]));
    }

    #[test]
    fn what_nothing_matched_is_said_with_what_may_be_meant() {
        let mut layout = Layout::default();
        add(
            &mut layout,
            &[
                "-c /sst:4MiB",
                "-c /ssd:4MiB",
                "-f /waves:none",
                "-c 1,2,3,4",
                "-c 1,2,3",
                "-c tiem=1,lat=5",
                "--fill /[abc]*:1",
                "-c /sst:depth=1",
                "-c lat=9",
            ],
        );
        layout.apply(&path("/waves"), &mut Node::Group(hyperslab_model::Group::default())).unwrap();
        layout.apply(&path("/sst"), &mut sst(None)).unwrap();
        assert_eq!(
            layout.unused(),
            [
                "-c /ssd:4MiB: no array matches /ssd",
                "-f /waves:none: no array matches /waves\nhelp: what is in a group is /waves/**",
                "-c 1,2,3,4: no array has 4 dimensions",
                "-c tiem=1,lat=5: no array has a dimension tiem\nhelp: did you mean time?",
                "--fill /[abc]*:1: no array matches /[abc]*",
                "-c /sst:depth=1: no array has a dimension depth",
            ]
        );
        assert!(layout.clone().unused().len() == 6);
    }

    proptest! {
        #[test]
        fn shards_are_made_of_whole_chunks_that_lie_within_the_array(
            dims in prop::collection::vec((0..3000_u64, 1..3000_u64), 1..4),
            chunked in any::<bool>(),
            chunk in prop::option::of(1..(8_u64 << 20)),
            shard in prop::option::of(1..(64_u64 << 20)),
        ) {
            let extents: Vec<_> = dims.iter().map(|(extent, _)| ("", Extent::Fixed(*extent))).collect();
            let source: Vec<u64> = dims.iter().map(|(extent, side)| *side.min(&(*extent).max(1))).collect();
            let mut node = array(&extents, FLOAT, chunked.then_some(source.as_slice()));
            let mut layout = Layout::default().always_chunked(true);
            if let Some(bytes) = chunk {
                layout.chunk(&format!("{bytes}B")).unwrap();
            }
            if let Some(bytes) = shard {
                layout.shard(&format!("{bytes}B")).unwrap();
            }
            layout.apply(&path("/sst"), &mut node).unwrap();
            let Storage { chunk: cut, shard: shards, .. } = storage(&node);
            let cut = cut.clone().unwrap();
            for (side, (extent, _)) in cut.iter().zip(&dims) {
                prop_assert!((1..=(*extent).max(1)).contains(side));
            }
            if let Some(bytes) = chunk {
                prop_assert!(cut.iter().product::<u64>() * 4 <= bytes.max(4));
            }
            prop_assert_eq!(shards.is_some(), shard.is_some());
            for ((side, chunk), (extent, _)) in shards.iter().flatten().zip(&cut).zip(&dims) {
                prop_assert!(side % chunk == 0 && *side < (*extent).max(1) + chunk);
            }
            if let (Some(shards), Some(bytes)) = (shards, shard) {
                prop_assert!(shards == &cut || shards.iter().product::<u64>() * 4 <= bytes);
            }
        }
    }
}
