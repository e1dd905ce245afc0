//! Files of random content. The same seed always gives the same file.
//!
//! Generates every type, shape, link and directive of the model, including nested ones, with names and values that are
//! difficult to write as text. Does not generate content that text cannot represent: region references without
//! elements, and an extent whose maximum is its current length.

#![allow(clippy::indexing_slicing, reason = "tests may panic")]

#[path = "generator/references.rs"]
mod references;
#[path = "generator/storage.rs"]
mod storage;
#[path = "generator/values.rs"]
mod values;

use bytes::Bytes;
use hyperslab_core::nd::element_count;
use hyperslab_core::{Error, ErrorKind};
use hyperslab_model::{
    Attribute, Attributes, Cells, Column, Content, Datatype, DimCoord, Dimension, Directive, ElementStorage,
    Extent, Float, FloatFormat, Group, Length, Link, Member, NamedDatatype, Ndarray, Node, NodeKind,
    NodePath, Normalization, Pad, Shape, Storage, Text, TimeUnit, Unreadable, Values,
};
use hyperslab_ndl::{Emitter, Format, Head, Options, StorageDetail};
use std::collections::HashSet;
use std::sync::Arc;

/// The objects of a file, and the options for its document.
pub(crate) struct Document {
    pub(crate) nodes: Vec<(NodePath, Node)>,
    pub(crate) options: Options,
}

impl Document {
    /// The document of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let options = Options {
            storage: if random.one_in(3) { StorageDetail::Full } else { StorageDetail::Brief },
            texts_are_characters: random.one_in(4),
            ..Options::default()
        };
        let mut file = File { random, nodes: Vec::new(), dimcoords: Vec::new(), types: Vec::new() };
        file.groups();
        references::settle(&mut file.random, &mut file.nodes);
        Document { nodes: file.nodes, options }
    }

    pub(crate) fn content(&self) -> Content {
        Content { nodes: self.nodes.iter().cloned().collect() }
    }

    pub(crate) fn text(&self, format: Format) -> String {
        text(format, self.options, self.nodes.iter().map(|(path, node)| (path, node)))
    }
}

/// The document of objects in their order.
pub(crate) fn text<'a>(
    format: Format,
    options: Options,
    nodes: impl Iterator<Item = (&'a NodePath, &'a Node)> + Clone,
) -> String {
    let mut emitter = Emitter::new(format, options);
    for (path, node) in nodes.clone() {
        if let Node::DimCoord(dimcoord) = node {
            emitter.declare_dimcoord(path, dimcoord.datatype.is_some());
        }
    }
    for (path, node) in nodes {
        emitter.node(path, node).expect("the content is sound");
    }
    let head = Head { location: "random.h5", format: "hdf5", title: "HDF5", version: "0.1.0" };
    let mut out = Vec::new();
    emitter.finish(&head, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("documents are UTF-8")
}

/// Pseudo-random numbers from a seed (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub(crate) fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).expect("below a usize")
    }

    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let at = self.index(of.len());
        &of[at]
    }

    pub(crate) fn some<T>(&mut self, one_in: u64, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.one_in(one_in).then(|| make(self))
    }

    /// A text, often one that YAML reads as another type if it is unquoted.
    pub(crate) fn text(&mut self) -> String {
        match self.below(10) {
            0..=3 => (*self.pick(PLAIN)).to_string(),
            4..=6 => (*self.pick(STRANGE)).to_string(),
            7 | 8 => {
                let count = self.below(5);
                (0..count).map(|_| *self.pick(PARTS)).collect()
            }
            _ => {
                let count = self.below(30);
                let words: Vec<&str> = (0..count).map(|_| *self.pick(PLAIN)).collect();
                words.join(" ")
            }
        }
    }

    pub(crate) fn ascii(&mut self) -> String {
        self.text().chars().filter(char::is_ascii).collect()
    }

    /// A name that can be part of a path.
    fn name(&mut self, taken: &mut HashSet<String>) -> String {
        let mut name: String = match self.one_in(3) {
            true => self.text().chars().filter(|c| *c != '/').take(40).collect(),
            false => (*self.pick(NAMES)).to_string(),
        };
        while name.is_empty() || name == "." || name == ".." || taken.contains(&name) {
            name.push_str(self.pick::<&str>(&["a", "1", "é", " ", "-", "x_"]));
        }
        taken.insert(name.clone());
        name
    }

    /// Different names for attributes and members, which may contain slashes.
    fn names(&mut self, count: u64) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for _ in 0..count {
            let mut name = if self.one_in(2) { self.text() } else { (*self.pick(NAMES)).to_string() };
            while names.contains(&name) {
                name.push_str(self.pick::<&str>(&["a", "1", "é", " ", "/", "x_"]));
            }
            names.push(name);
        }
        names
    }

    fn path(&mut self) -> NodePath {
        let mut path = NodePath::root();
        for _ in 0..self.below(4) {
            path = path.child(&self.name(&mut HashSet::new()));
        }
        path
    }
}

struct File {
    random: Random,
    nodes: Vec<(NodePath, Node)>,
    dimcoords: Vec<(NodePath, Extent, Option<Arc<Datatype>>)>,
    types: Vec<(NodePath, Arc<Datatype>)>,
}

impl File {
    fn groups(&mut self) {
        let mut paths = vec![NodePath::root()];
        let mut taken: Vec<HashSet<String>> = vec![HashSet::new()];
        for _ in 0..self.random.pick(&[0, 0, 0, 1, 3]).to_owned() {
            let parent = self.random.index(paths.len());
            let name = self.random.name(&mut taken[parent]);
            paths.push(paths[parent].child(&name));
            taken.push(HashSet::new());
        }
        // A group comes before the groups inside it.
        for (path, mut taken) in paths.into_iter().zip(taken) {
            self.group(&path, &mut taken);
        }
    }

    fn group(&mut self, path: &NodePath, taken: &mut HashSet<String>) {
        if !path.is_root() && self.random.one_in(12) {
            let unreadable = self.unreadable(NodeKind::Group, false);
            self.nodes.push((path.clone(), Node::Unreadable(unreadable)));
            return;
        }
        let place = self.nodes.len();
        let sparse = self.random.one_in(8);
        self.datatypes(path, taken);
        for _ in 0..self.random.below(3) {
            self.dimcoord(path, taken, sparse);
        }
        for _ in 0..self.random.below(4) {
            self.ndarray(path, taken, sparse);
        }
        for _ in 0..self.random.pick(&[0, 0, 0, 1, 3]).to_owned() {
            let name = self.random.name(taken);
            let link = self.link();
            self.nodes.push((path.child(&name), Node::Link(link)));
        }
        let attributes = self.attributes(4);
        let mut storage = Storage { native: self.random.natives(6), ..Storage::default() };
        let cells = if sparse {
            storage.native = vec![("tiledb", vec![("array".into(), Directive::Text("sparse".into()))])];
            self.random.one_in(2).then(|| self.cells(place))
        } else {
            None
        };
        self.nodes
            .insert(place, (path.clone(), Node::Group(Group { attributes, cells, storage: storage.into() })));
    }

    fn datatypes(&mut self, path: &NodePath, taken: &mut HashSet<String>) {
        for _ in 0..self.random.pick(&[0, 0, 0, 1, 2]).to_owned() {
            let path = path.child(&self.random.name(taken));
            let mut datatype = self.datatype(3);
            let element = self.element_storage(&mut datatype);
            let datatype = Arc::new(datatype);
            self.types.push((path.clone(), datatype.clone()));
            let storage = Storage { element, native: self.random.natives(8), ..Storage::default() };
            let attributes = self.attributes(2);
            self.nodes.push((
                path,
                Node::Datatype(NamedDatatype { datatype, attributes, storage: storage.into() }),
            ));
        }
    }

    fn dimcoord(&mut self, path: &NodePath, taken: &mut HashSet<String>, sparse: bool) {
        let path = path.child(&self.random.name(taken));
        if self.random.one_in(25) {
            let unreadable = self.unreadable(NodeKind::DimCoord, true);
            self.nodes.push((path, Node::Unreadable(unreadable)));
            return;
        }
        let mut size = self.extent();
        let mut datatype = match self.random.below(4) {
            0 => None,
            1 => Some(self.datatype(1)),
            _ => Some(self.simple()),
        };
        let mut storage = self.storage(datatype.as_mut(), &[size]);
        if let Some(datatype) = &datatype
            && has_domain(datatype)
            && self.random.one_in(3)
        {
            storage.domain = Some(self.values(datatype, 2));
            storage.tile = self.random.one_in(2).then(|| self.values(datatype, 1));
        }
        if sparse && self.random.one_in(2) {
            size = Extent::Uncounted;
            storage.chunk = None;
        }
        let datatype = datatype.map(Arc::new);
        self.dimcoords.push((path.clone(), size, datatype.clone()));
        let value = datatype.as_deref().filter(|_| size != Extent::Uncounted && self.random.one_in(2));
        let value = value.map(|datatype| self.values(datatype, size.current()));
        let attributes = self.attributes(2);
        let dimcoord = DimCoord { size, datatype, attributes, storage: storage.into(), value };
        self.nodes.push((path, Node::DimCoord(dimcoord)));
    }

    fn ndarray(&mut self, path: &NodePath, taken: &mut HashSet<String>, sparse: bool) {
        let path = path.child(&self.random.name(taken));
        if self.random.one_in(25) {
            let unreadable = self.unreadable(NodeKind::Ndarray, true);
            self.nodes.push((path, Node::Unreadable(unreadable)));
            return;
        }
        let shape = if self.random.one_in(20) { Shape::Null } else { self.shape() };
        let extents: Vec<Extent> = shape.dims().iter().map(|dimension| dimension.extent).collect();
        let counted = !extents.contains(&Extent::Uncounted);
        let depth = self.random.below(4);
        let mut datatype = (!self.random.one_in(30)).then(|| self.datatype(depth));
        let storage = self.storage(datatype.as_mut(), &extents);
        let datatype = datatype.map(Arc::new);
        let count = shape.current().and_then(|shape| element_count(&shape)).filter(|_| counted && !sparse);
        let value = match (&datatype, count) {
            (Some(datatype), Some(count @ 0..=60)) if !self.random.one_in(4) => {
                Some(self.values(datatype, count))
            }
            _ => None,
        };
        let attributes = self.attributes(2);
        self.nodes.push((
            path,
            Node::Ndarray(Ndarray {
                shape,
                dimension: None,
                datatype,
                attributes,
                storage: storage.into(),
                value,
            }),
        ));
    }

    fn extent(&mut self) -> Extent {
        let current = *self.random.pick(&[0, 1, 1, 2, 3, 4, 7]);
        match self.random.below(5) {
            0 => Extent::Unlimited { current },
            1 => Extent::Limited { current, max: current + 1 + self.random.below(1 << 40) },
            _ => Extent::Fixed(current),
        }
    }

    fn shape(&mut self) -> Shape {
        if self.random.one_in(40) {
            // Rows that are longer than a line of text.
            return Shape::fixed(&[self.random.below(60)]);
        }
        let rank = *self.random.pick(&[0, 0, 1, 1, 1, 2, 2, 3]);
        let uncounted = |extent: &Extent| *extent == Extent::Uncounted;
        let mut dims: Vec<Dimension> = Vec::new();
        for _ in 0..rank {
            let known = self.random.index(self.dimcoords.len() + 2);
            dims.push(match self.dimcoords.get(known) {
                Some((path, extent, _)) => Dimension { extent: *extent, coordinate: Some(path.clone()) },
                None => Dimension { extent: self.extent(), coordinate: None },
            });
        }
        if dims.iter().any(|dimension| uncounted(&dimension.extent)) {
            dims.retain(|dimension| dimension.coordinate.is_some());
        } else if let Some(dimension) = dims.first_mut()
            && let Extent::Unlimited { current } = &mut dimension.extent
        {
            // Some arrays are shorter than their dimension.
            *current = self.random.below(*current + 1);
        }
        Shape::Dims(dims)
    }

    fn attributes(&mut self, most: u64) -> Attributes {
        let count = self.random.below(most + 1);
        let names = self.random.names(count);
        names.into_iter().map(|name| (name, self.attribute())).collect()
    }

    fn attribute(&mut self) -> Result<Attribute, Unreadable> {
        if self.random.one_in(40) {
            return Err(self.unreadable(NodeKind::Ndarray, false));
        }
        let mut datatype = match self.random.below(6) {
            0 => self.datatype(2),
            1 => self.simple(),
            2 => Datatype::int(*self.random.pick(&[32, 64]), self.random.one_in(2)),
            3 => Datatype::Float(Float::Double),
            _ => Datatype::String(Text::Variable),
        };
        let shape = match self.random.below(6) {
            0 => (0..self.random.below(3)).map(|_| self.random.below(4)).collect(),
            1 => vec![self.random.below(6)],
            _ => Vec::new(),
        };
        let storage = match self.random.one_in(6) {
            true => self.element_storage(&mut datatype),
            false => ElementStorage::default(),
        };
        // The stored length of a text may be unknown when it is read again. Then the bytes are read as written.
        let count = shape.iter().product();
        let value = self.values(&datatype, count);
        let native: Vec<(&'static str, Directive)> = match self.random.one_in(15) {
            true => vec![("zarr", Directive::Text("json".into()))],
            false => Vec::new(),
        };
        let (shape, value) = match self.random.one_in(25) {
            true => (None, Values::default()),
            false => (Some(shape), value),
        };
        Ok(Attribute { shape, datatype: Arc::new(datatype), value, storage, native })
    }

    fn unreadable(&mut self, found: NodeKind, attributes: bool) -> Unreadable {
        let reason = match self.random.one_in(2) {
            true => format!("unsupported {}", self.random.text()),
            false => "malformed version 7, expected 1 to 4 at byte 0x1fc: object header".into(),
        };
        let mut unreadable = Unreadable::new(Some(found), &Error::new(ErrorKind::Malformed, "x"));
        unreadable.reason = reason;
        if attributes {
            unreadable.attributes = self.attributes(2);
        }
        unreadable
    }

    fn link(&mut self) -> Link {
        match self.random.below(4) {
            0 => Link::Hard(self.random.path()),
            1 => Link::Soft(self.random.text()),
            2 => Link::External { file: self.random.text(), path: self.random.text() },
            _ => {
                let class = u8::try_from(self.random.below(256)).expect("below 256");
                Link::User { class, data: (0..self.random.below(6)).map(|n| n as u8 ^ class).collect() }
            }
        }
    }

    /// Columns for some members of the group, whose nodes begin at `place`.
    fn cells(&mut self, place: usize) -> Cells {
        let count = self.random.below(5);
        let members: Vec<(String, Arc<Datatype>)> = self.nodes[place..]
            .iter()
            .filter_map(|(path, node)| match node {
                Node::DimCoord(DimCoord { datatype: Some(datatype), .. })
                | Node::Ndarray(Ndarray { datatype: Some(datatype), .. }) => {
                    Some((path.name().to_string(), datatype.clone()))
                }
                _ => None,
            })
            .collect();
        let columns = members.into_iter().map(|(name, datatype)| {
            let values = self.values(&datatype, count);
            Column { name, datatype, values }
        });
        Cells { columns: columns.collect() }
    }
}

/// The datatypes that are generated.
impl File {
    /// A type that does not contain other types.
    fn simple(&mut self) -> Datatype {
        let float = |random: &mut Random| {
            random.pick(&[Float::Half, Float::Single, Float::Double, Float::Quad, Float::BFloat]).clone()
        };
        match self.random.below(20) {
            0..=4 => Datatype::int(*self.random.pick(&[8, 16, 32, 64]), self.random.one_in(2)),
            5 => Datatype::int(*self.random.pick(&[24, 40, 48, 72, 128]), self.random.one_in(2)),
            6..=8 => Datatype::Float(float(&mut self.random)),
            9 => Datatype::Complex(float(&mut self.random)),
            10 => Datatype::Bool,
            11 => Datatype::Time { bits: *self.random.pick(&[32, 64]) },
            12 => Datatype::Datetime(TimeUnit {
                unit: (*self
                    .random
                    .pick(&["Y", "M", "W", "D", "h", "s", "ms", "ns", "as", "15m", "generic"]))
                .into(),
                duration: self.random.one_in(3),
            }),
            13 => Datatype::Bitfield { size: *self.random.pick(&[1, 2, 4, 8, 9]) },
            14 => {
                let tag = if self.random.one_in(2) { self.random.text() } else { String::new() };
                Datatype::Opaque { size: 1 + self.random.below(9) as u32, tag }
            }
            15 => Datatype::Float(Float::Other(FloatFormat {
                bits: 24,
                sign: 23,
                exponent: (15, 8),
                mantissa: (0, 15),
                bias: 127,
                normalization: *self.random.pick(&[
                    Normalization::Implied,
                    Normalization::Set,
                    Normalization::None,
                ]),
            })),
            16 => Datatype::String(Text::Fixed {
                len: 1 + self.random.below(20) as u32,
                pad: *self.random.pick(&[Pad::Nul, Pad::NulTerminated, Pad::Space]),
            }),
            _ => Datatype::String(Text::Variable),
        }
    }

    fn datatype(&mut self, depth: u64) -> Datatype {
        if depth == 0 || self.random.one_in(3) {
            return match self.random.below(12) {
                0 => Datatype::ObjRef,
                1 => Datatype::RegRef,
                2 => Datatype::Reference,
                3 => self.enumeration(),
                4 if !self.types.is_empty() => {
                    let (path, datatype) = self.random.pick(&self.types).clone();
                    Datatype::Named(path, datatype)
                }
                _ => self.simple(),
            };
        }
        let depth = depth - 1;
        match self.random.below(8) {
            0..=2 => {
                let count = 1 + self.random.below(4);
                let names = self.random.names(count);
                let member = |name| Member { name, datatype: self.datatype(depth) };
                Datatype::Compound(names.into_iter().map(member).collect())
            }
            3 | 4 => Datatype::Vlen(Box::new(self.datatype(depth))),
            5 => Datatype::Nullable(Box::new(loop {
                let of = if self.random.one_in(3) { self.enumeration() } else { self.simple() };
                if !matches!(of, Datatype::Complex(_)) {
                    break of;
                }
            })),
            _ => {
                let shape = (0..1 + self.random.below(2)).map(|_| 1 + self.random.below(3)).collect();
                Datatype::Array { base: Box::new(self.datatype(depth)), shape }
            }
        }
    }

    fn enumeration(&mut self) -> Datatype {
        let (bits, signed) = (*self.random.pick(&[8, 16, 32, 64]), self.random.one_in(2));
        let count = self.random.below(5);
        let names = self.random.names(count);
        let members = names.into_iter().map(|name| (name, self.random.integer(bits, signed))).collect();
        Datatype::Enum { base: Box::new(Datatype::int(bits, signed)), members }
    }

    fn values(&mut self, datatype: &Datatype, count: u64) -> Values {
        values::Builder::new(&mut self.random).all(datatype, count)
    }
}

fn has_domain(datatype: &Datatype) -> bool {
    matches!(
        datatype,
        Datatype::Int { .. }
            | Datatype::Float(Float::Single | Float::Double)
            | Datatype::String(_)
            | Datatype::Datetime(_)
    )
}

const NAMES: &[&str] = &[
    "lat",
    "lon",
    "time",
    "x",
    "y",
    "n",
    "temperature",
    "_FillValue",
    "StructMetadata.0",
    "HDFEOS INFORMATION",
    "shape",
    "type",
    "value",
    "attributes",
    "storage",
    "ndarrays",
    "dimcoords",
    "10",
    "a",
];

const PLAIN: &[&str] =
    &["word", "two words", "degrees_north", "Ηελλο", "m s-1", "K", "see https://a.b/c", "a"];

/// Texts that YAML 1.1 or 1.2 reads as another type, or cannot read, if they are unquoted.
const STRANGE: &[&str] = &[
    "._",
    "+_",
    "-_",
    "a -",
    "- -",
    "",
    " ",
    "~",
    "null",
    "Null",
    "NULL",
    "true",
    "False",
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "N",
    "=",
    "<<",
    "-",
    "--",
    "---",
    "...",
    "?",
    "? x",
    ":",
    "a: b",
    "a:",
    ":a",
    "#",
    "a #b",
    "a#b",
    "&a",
    "*a",
    "!a",
    "!!str a",
    "%YAML",
    "@a",
    "`a",
    "|",
    ">",
    ">-",
    "'",
    "\"",
    "''",
    "\"\"",
    "'a'",
    "\"a\"",
    "it's",
    "a\\b",
    "\\",
    "[",
    "]",
    "{",
    "}",
    "[a]",
    "{a: b}",
    ",",
    "a, b",
    "0",
    "-0",
    "+1",
    "007",
    "0x1F",
    "0o17",
    "0b1",
    "1_000",
    "1:30",
    "190:20:30.15",
    "1e3",
    "1.5e3",
    "1e+3",
    ".5",
    "5.",
    "-.5",
    "+.5",
    ".",
    ".inf",
    "-.inf",
    ".nan",
    "NaN",
    "Infinity",
    "inf",
    "1.0",
    "1e400",
    "2008-12-31",
    "2001-12-14t21:59:43.10-05:00",
    "10.5067/DOI",
    " lead",
    "trail ",
    "\tlead",
    "trail\t",
    "a\tb",
    "two\nlines",
    "\nlead",
    "trail\n",
    "trail\n\n",
    "\n",
    "\n\n",
    "a\n b\n",
    " a\nb",
    "a\n\nb",
    "a \nb",
    "a\r\nb",
    "\r",
    "a\u{0}b",
    "\u{0}",
    "\u{1}",
    "\u{1b}[0m",
    "\u{7f}",
    "\u{80}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{feff}a",
    "\u{fffd}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{e000}",
    "\u{1f30a}",
    "\u{10ffff}",
    "e\u{301}",
    "\u{202e}abc",
    "日本語",
    "a ? b",
    "a?",
    "?a",
    "-a",
    "- a",
    ":: x",
    "x-error",
    "x-bytes",
    "/",
    "/a/b",
    ".",
    "..",
    "a/b",
    "NaT",
    "0x",
    "0xzz",
    "!",
    "&",
    "*",
    "\u{3000}",
    "a\u{2028}b",
    "a\u{85}b",
    "# x",
    "{",
    "nan",
    "1,000",
    "-1",
];

/// The fragments of random texts.
const PARTS: &[&str] = &[
    "a",
    "B",
    "0",
    "1",
    " ",
    "  ",
    "\n",
    "\t",
    ":",
    ": ",
    "#",
    " #",
    "-",
    "- ",
    "?",
    ",",
    ", ",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\\",
    "&",
    "*",
    "!",
    "|",
    ">",
    "%",
    "@",
    "`",
    "é",
    "中",
    "\u{1f600}",
    "\u{0}",
    "\r",
    "e",
    ".",
    "_",
    "+",
    "=",
    "~",
    "x",
    "/",
    "\u{a0}",
    "\u{feff}",
    "\u{85}",
];
