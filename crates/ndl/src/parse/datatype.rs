//! Datatypes: keywords, categories with parameters, and paths of named types.

mod parts;

use super::context::{Context, NamedType, suggest};
use super::events::{Key, Mapping, Node, Span, View, shown};
use super::value::Selections;
use hyperslab_model::{Datatype, ElementStorage, Float, Length, Member, NodePath, Pad, Text, TimeUnit};
use std::sync::Arc;

impl<'t> Context<'t, '_> {
    /// The type of an object or attribute. Sets `selections` to the kinds of selections that its references allow.
    pub(super) fn own_datatype(&mut self, node: Node<'t>, storage: &ElementStorage) -> Option<Datatype> {
        self.selections = Selections::default();
        self.datatype(node, storage)
    }

    /// The type of a node. Strings have the length that `storage` gives.
    fn datatype(&mut self, node: Node<'t>, storage: &ElementStorage) -> Option<Datatype> {
        let before = self.type_parts;
        let datatype = self.declared(node);
        self.type_parts = before;
        Some(stored(datatype?, storage))
    }

    fn declared(&mut self, node: Node<'t>) -> Option<Datatype> {
        self.type_parts = self.type_parts.saturating_add(1);
        self.few_parts(node.span())?;
        let datatype = match node.view() {
            View::Scalar(scalar) if scalar.is_null() => None,
            View::Scalar(scalar) => return self.keyword(scalar.text, node.span()),
            View::Mapping(mapping) => return self.categories(mapping, node.span(), false),
            View::Sequence(_) => None,
        };
        if datatype.is_none() {
            let message = format!("{} for a type, expected a keyword or a map", node.describe());
            self.findings.error("ndl/type", node.span(), message);
        }
        datatype
    }

    fn keyword(&mut self, text: &str, span: Span) -> Option<Datatype> {
        if text.starts_with('/') {
            self.extension(span, "a named datatype");
            let path = self.path(text, span)?;
            return self.named(path, span);
        }
        let plain = match text {
            "string" => Some(Datatype::String(Text::Variable)),
            "objref" => Some(Datatype::ObjRef),
            "float32" => Some(Datatype::Float(Float::Single)),
            "float64" => Some(Datatype::Float(Float::Double)),
            _ => None,
        };
        if plain.is_some() {
            return plain;
        }
        let extended = match text {
            "float16" => Some(Datatype::Float(Float::Half)),
            "bfloat16" => Some(Datatype::Float(Float::BFloat)),
            "float128" => Some(Datatype::Float(Float::Quad)),
            "complex64" => Some(Datatype::Complex(Float::Single)),
            "complex128" => Some(Datatype::Complex(Float::Double)),
            "bool" => Some(Datatype::Bool),
            "regref" => {
                self.selections = self.selections.or(Selections::ANY);
                Some(Datatype::RegRef)
            }
            "reference" => Some(Datatype::Reference),
            _ => None,
        };
        if extended.is_some() {
            self.extension(span, &format!("the type {text}"));
            return extended;
        }
        if let Some((bits, signed)) = integer_keyword(text) {
            if !matches!(bits, 8 | 16 | 32 | 64) {
                self.extension(span, &format!("the type {text}"));
            }
            return Some(Datatype::int(bits, signed));
        }
        let hint = match text {
            "float" | "f4" | "<f4" | ">f4" | "single" => "did you mean float32?".into(),
            "double" | "f8" | "<f8" | ">f8" => "did you mean float64?".into(),
            "int" | "i4" | "<i4" | ">i4" => "did you mean int32?".into(),
            "char" | "str" | "text" => "did you mean string?".into(),
            "byte" | "i1" => "did you mean int8?".into(),
            "ubyte" | "uchar" | "unsigned char" | "u1" => "did you mean uint8?".into(),
            "short" | "i2" => "did you mean int16?".into(),
            "long" | "i8" => "did you mean int64?".into(),
            "boolean" => "did you mean bool?".into(),
            "compound" => "write compound: with a list of members, [{x: float32}, …]".into(),
            "enum" => "write enum: with a base and members, {base: int8, members: {UP: 0}}".into(),
            "opaque" => "write opaque: with a size, {size: 16}".into(),
            "vlen" => "write vlen: with a base, {base: int32}".into(),
            "array" => "write array: with a base and a shape, {base: int32, shape: [3]}".into(),
            _ if self.findings.is_full() => String::new(),
            _ if self.types.len() > MAX_SUGGESTED => suggest(text, KEYWORDS),
            _ => match self.types.keys().filter(|path| path.name() == text).min() {
                Some(path) => format!("did you mean {path}?"),
                None => suggest(text, KEYWORDS),
            },
        };
        self.findings.error("ndl/type", span, format!("unknown type {}", shown(text))).hint(hint);
        None
    }

    /// The named type at a path.
    pub(super) fn named(&mut self, path: NodePath, span: Span) -> Option<Datatype> {
        let datatype = match self.types.get(&path).cloned() {
            Some(NamedType::Read(read, parts, selections)) => {
                self.type_parts = self.type_parts.saturating_add(parts);
                self.selections = self.selections.or(selections);
                self.few_parts(span)?;
                read
            }
            Some(NamedType::Unread(_)) if self.type_levels >= MAX_NAMED_LEVELS => {
                let message = format!("named types nested more than {MAX_NAMED_LEVELS} levels deep");
                self.findings.error("ndl/depth", span, message);
                None
            }
            Some(NamedType::Unread(node)) => {
                self.types.insert(path.clone(), NamedType::Reading);
                let before = self.type_parts;
                self.type_levels += 1;
                let around = std::mem::take(&mut self.selections);
                let read = self.named_type(node).map(Arc::new);
                let own = self.selections;
                self.selections = around.or(own);
                self.type_levels -= 1;
                self.types.insert(path.clone(), NamedType::Read(read.clone(), self.type_parts - before, own));
                read
            }
            Some(NamedType::Reading) => {
                self.findings.error("ndl/type", span, format!("the type {path} contains itself"));
                None
            }
            None => {
                let message = format!("unknown named datatype {path}");
                let mut known: Vec<&str> = match self.types.len() {
                    ..=MAX_SUGGESTED if !self.findings.is_full() => {
                        self.types.keys().map(NodePath::as_str).collect()
                    }
                    _ => Vec::new(),
                };
                known.sort_unstable();
                let hint = suggest(path.as_str(), &known);
                self.findings.error("ndl/type", span, message).hint(match hint.starts_with("did") {
                    true => hint,
                    false => "define it under the key datatypes of its group".into(),
                });
                None
            }
        };
        Some(Datatype::Named(path, datatype?))
    }

    /// Counts a part of the current type. `None`, after an error, if there are too many.
    fn few_parts(&mut self, span: Span) -> Option<()> {
        if self.type_parts > MAX_PARTS {
            self.findings.error("ndl/limit", span, format!("a type of more than {MAX_PARTS} parts"));
            return None;
        }
        Some(())
    }

    /// The type of an entry of `datatypes`. Attributes and storage can be beside the category.
    fn named_type(&mut self, node: Node<'t>) -> Option<Datatype> {
        let Some(mapping) = node.mapping() else { return self.declared(node) };
        let storage = match mapping.get("storage").and_then(|storage| self.map(storage, "storage")) {
            Some(storage) => self.quietly(|context| context.element_storage(storage)),
            None => ElementStorage::default(),
        };
        match mapping.get("type") {
            Some(node) => self.datatype(node, &storage),
            None => Some(stored(self.categories(mapping, node.span(), true)?, &storage)),
        }
    }

    /// The type of a map with one category as its key. If `named`, attributes and storage can be beside the category.
    fn categories(&mut self, mapping: Mapping<'t>, span: Span, named: bool) -> Option<Datatype> {
        let of_type = |key: &Key<'_>| {
            !(named && matches!(key.name, "attributes" | "storage") || key.name.starts_with("x-"))
        };
        if !named {
            for (key, _) in mapping.iter().filter(|(key, _)| key.name.starts_with("x-")) {
                self.unknown_key(key, "a type without a name", CATEGORIES);
            }
        }
        let mut entries = mapping.iter().filter(|(key, _)| of_type(key));
        let (Some((key, node)), None) = (entries.next(), entries.next()) else {
            let message = "a type with no category or with several, expected one";
            self.findings
                .error("ndl/type", span, message)
                .hint(format!("expected one of {}", CATEGORIES.join(", ")));
            return None;
        };
        if !matches!(key.name, "opaque" | "enum" | "regref" | "compound" | "vlen" | "array")
            && CATEGORIES.contains(&key.name)
        {
            self.extension(key.span, &format!("the type {}", key.name));
        }
        match key.name {
            "compound" => self.compound(node),
            "opaque" => {
                let [size, tag] = self.parameters(node, "opaque", ["size", "tag"])?;
                let size = self.byte_count(size, node, "opaque")?;
                let tag = tag.and_then(|tag| self.text(tag, "the tag")).unwrap_or_default().to_string();
                Some(Datatype::Opaque { size, tag })
            }
            "bitfield" => {
                let [size] = self.parameters(node, "bitfield", ["size"])?;
                Some(Datatype::Bitfield { size: self.byte_count(size, node, "bitfield")? })
            }
            "time" => {
                let [size] = self.parameters(node, "time", ["size"])?;
                let size = self.byte_count(size, node, "time")?;
                match u16::try_from(size).ok().filter(|size| *size <= 16) {
                    Some(size) => Some(Datatype::Time { bits: 8 * size }),
                    None => {
                        self.findings.error(
                            "ndl/type",
                            node.span(),
                            format!("a time of {size} bytes, expected 1 to 16"),
                        );
                        None
                    }
                }
            }
            "datetime" | "timedelta" => {
                let [unit] = self.parameters(node, key.name, ["unit"])?;
                let unit = self.required(unit, node, key.name, "unit")?;
                let place = unit.span();
                let unit = self.text(unit, "the unit")?.to_string();
                let letters = unit.trim_start_matches(|c: char| c.is_ascii_digit());
                if !UNITS.contains(&letters) {
                    let message = format!("unknown unit of time {}", shown(&unit));
                    self.findings.error("ndl/type", place, message).hint(suggest(letters, UNITS));
                    return None;
                }
                Some(Datatype::Datetime(TimeUnit { unit, duration: key.name == "timedelta" }))
            }
            "enum" => self.enumeration(node),
            "regref" => {
                let [selection] = self.parameters(node, "regref", ["selection"])?;
                let selection = self.required(selection, node, "regref", "selection")?;
                let words = [
                    ("block", Selections::BLOCKS),
                    ("element", Selections::ELEMENTS),
                    ("any", Selections::ANY),
                ];
                let selected = self.word(selection, "the selection", &words)?;
                self.selections = self.selections.or(selected);
                Some(Datatype::RegRef)
            }
            "vlen" => {
                let base = self.base(node, "vlen")?;
                Some(Datatype::Vlen(Box::new(base)))
            }
            "nullable" => Some(Datatype::Nullable(Box::new(self.base(node, "nullable")?))),
            "complex" => match self.base(node, "complex")? {
                Datatype::Float(float) => Some(Datatype::Complex(float)),
                other => {
                    self.findings.error(
                        "ndl/type",
                        node.span(),
                        format!("complex numbers with the base {other}, expected a float type"),
                    );
                    None
                }
            },
            "array" => {
                let [base, shape] = self.parameters(node, "array", ["base", "shape"])?;
                let base = self.required(base, node, "array", "base")?;
                let base = self.declared(base)?;
                let shape_node = self.required(shape, node, "array", "shape")?;
                let shape = self.sizes(shape_node, "the shape of an array type")?;
                if shape.is_empty() {
                    self.findings.error("ndl/type", shape_node.span(), "an array type without dimensions");
                    return None;
                }
                self.sized(Datatype::Array { base: Box::new(base), shape }, node.span())
            }
            "float" => self.float_format(node),
            name => {
                let message = format!("unknown type {}", shown(name));
                self.findings.error("ndl/type", key.span, message).hint(suggest(name, CATEGORIES));
                None
            }
        }
    }

    fn base(&mut self, node: Node<'t>, name: &str) -> Option<Datatype> {
        let [base] = self.parameters(node, name, ["base"])?;
        let base = self.required(base, node, name, "base")?;
        self.declared(base)
    }

    fn byte_count(&mut self, size: Option<Node<'t>>, node: Node<'t>, name: &str) -> Option<u32> {
        let size = self.required(size, node, name, "size")?;
        let bytes = self.count(size, "the size in bytes")?;
        // Empty bytes are a valid value: metadata of TileDB may be empty.
        if bytes == 0 && name != "opaque" {
            self.findings.error("ndl/type", size.span(), "a size of 0 bytes, expected at least 1");
            return None;
        }
        Some(bytes)
    }

    /// The entries of the map of a category, by name.
    fn parameters<const N: usize>(
        &mut self,
        node: Node<'t>,
        name: &str,
        known: [&str; N],
    ) -> Option<[Option<Node<'t>>; N]> {
        let Some(mapping) = node.mapping() else {
            let message = format!("{} for {name}, expected a map with {}", node.describe(), known.join(", "));
            self.findings.error("ndl/type", node.span(), message);
            return None;
        };
        for (key, _) in mapping.iter().filter(|(key, _)| !known.contains(&key.name)) {
            self.unknown_key(key, name, &known);
        }
        Some(known.map(|name| mapping.get(name)))
    }

    fn required(
        &mut self,
        found: Option<Node<'t>>,
        node: Node<'t>,
        name: &str,
        key: &str,
    ) -> Option<Node<'t>> {
        if found.is_none() {
            let (span, hint) = self.instead(node, key);
            self.findings.error("ndl/type", span, format!("{name} without the key {key}")).maybe_hint(hint);
        }
        found
    }

    /// A type whose elements do not exceed the size limit.
    fn sized(&mut self, datatype: Datatype, span: Span) -> Option<Datatype> {
        if datatype.row_size().is_none_or(|size| size > MAX_BYTES) {
            self.findings.error("ndl/limit", span, format!("elements of more than {MAX_BYTES} bytes"));
            return None;
        }
        Some(datatype)
    }
}

/// Whether an integer type can hold a number.
pub(super) fn in_range(number: i128, bits: u16, signed: bool) -> bool {
    let bits = u32::from(bits);
    match (signed, bits) {
        (_, 0) => false,
        (true, 128..) => true,
        (false, 127..) => number >= 0,
        (true, bits) => (-(1_i128 << (bits - 1))..1_i128 << (bits - 1)).contains(&number),
        (false, bits) => (0..1_i128 << bits).contains(&number),
    }
}

/// The type with strings of the length and padding that the storage gives.
fn stored(datatype: Datatype, storage: &ElementStorage) -> Datatype {
    match datatype {
        Datatype::String(Text::Variable) => match storage.length {
            Some(Length::Fixed(len)) => {
                Datatype::String(Text::Fixed { len, pad: storage.pad.unwrap_or(Pad::NulTerminated) })
            }
            _ => Datatype::String(Text::Variable),
        },
        Datatype::Compound(members) => {
            let members = members.into_iter().map(|Member { name, datatype }| {
                let storage = storage.members.iter().find(|(of, _)| *of == name).map(|(_, storage)| storage);
                let datatype = match storage {
                    Some(storage) => stored(datatype, storage),
                    None => datatype,
                };
                Member { name, datatype }
            });
            Datatype::Compound(members.collect())
        }
        Datatype::Array { base, shape } => Datatype::Array { base: Box::new(stored(*base, storage)), shape },
        Datatype::Vlen(base) => Datatype::Vlen(Box::new(stored(*base, storage))),
        Datatype::Nullable(base) => Datatype::Nullable(Box::new(stored(*base, storage))),
        other => other,
    }
}

/// An integer keyword: `int8`, `uint24`.
fn integer_keyword(text: &str) -> Option<(u16, bool)> {
    let (signed, bits) = match text.strip_prefix("uint") {
        Some(bits) => (false, bits),
        None => (true, text.strip_prefix("int")?),
    };
    let valid = bits.bytes().all(|b| b.is_ascii_digit()) && !bits.starts_with('0');
    let bits: u16 = bits.parse().ok().filter(|_| valid)?;
    (bits.is_multiple_of(8) && (8..=128).contains(&bits)).then_some((bits, signed))
}

const KEYWORDS: &[&str] = &[
    "string",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float32",
    "float64",
    "objref",
    "regref",
    "float16",
    "bfloat16",
    "float128",
    "complex64",
    "complex128",
    "bool",
    "reference",
];

/// Units of time. Months and years have no fixed length, and `generic` counts without a unit.
const UNITS: &[&str] = &["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"];

const CATEGORIES: &[&str] = &[
    "opaque",
    "enum",
    "regref",
    "compound",
    "vlen",
    "array",
    "bitfield",
    "time",
    "datetime",
    "timedelta",
    "nullable",
    "complex",
    "float",
];

/// The maximum number of parts of a type, including those of named types wherever they are used.
const MAX_PARTS: u64 = 1 << 20;

/// The number of named types among which a similar path is looked for.
const MAX_SUGGESTED: usize = 1000;

/// The maximum nesting of named types.
const MAX_NAMED_LEVELS: usize = 32;

/// The maximum size of an element in bytes.
const MAX_BYTES: usize = 1 << 40;
