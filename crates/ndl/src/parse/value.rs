//! Values, parsed directly into their declared type.

mod bytes;
mod decimal;
mod number;
mod reference;

pub(super) use reference::Selections;

use super::context::{Context, suggest};
use super::datatype::in_range;
use super::events::{Node, Scalar, Sequence, Span, View, shown};
use super::scalar::{boolean, integer, is_decimal, is_integer};
use decimal::Powers;
use hyperslab_core::rows::{Heap, Slot, int_row};
use hyperslab_model::{CharacterSet, Datatype, Reference, Values};
use std::collections::{HashMap, HashSet};

/// Settings for parsing a value that are not part of its datatype.
#[derive(Clone, Copy)]
pub(super) struct Expected<'t> {
    /// The fill value, which replaces null elements.
    pub(super) fill: Option<Node<'t>>,
    pub(super) charset: Option<CharacterSet>,
    /// The kinds of selections that references allow.
    pub(super) selections: Selections,
    /// The name of the value in messages: `the value`, `the fill value`.
    pub(super) name: &'static str,
}

impl Expected<'_> {
    /// A value with this name in messages, without a fill value and restrictions.
    pub(super) const fn of(name: &'static str) -> Self {
        Expected { fill: None, charset: None, selections: Selections::ANY, name }
    }
}

/// Parses the values of one array.
struct Reader<'c, 't, 's> {
    context: &'c mut Context<'t, 's>,
    expected: Expected<'t>,
    /// Bytes of strings, and rows of variable-length sequences.
    heap: Vec<u8>,
    references: Heap<Reference>,
    /// Members of large enumerations, by the address of the type.
    members: HashMap<usize, HashMap<String, i128>>,
    /// Powers of ten, kept for numbers in float formats that the processor does not support.
    powers: Powers,
    /// The number of wrong elements so far.
    wrong: usize,
}

/// An element is invalid, and its diagnostic has been added.
struct Wrong;

impl<'t> Context<'t, '_> {
    /// The elements of an array of `shape`. `None` after an error.
    pub(super) fn value(
        &mut self,
        node: Node<'t>,
        datatype: &Datatype,
        shape: &[u64],
        expected: Expected<'t>,
    ) -> Option<Values> {
        self.rows(expected, |reader, rows| reader.outer(node, datatype, shape, &mut Vec::new(), rows))
    }

    /// The elements of a column of cells, one per node.
    pub(super) fn column(
        &mut self,
        nodes: &[Node<'t>],
        datatype: &Datatype,
        expected: Expected<'t>,
    ) -> Option<Values> {
        self.rows(expected, |reader, rows| {
            nodes.iter().try_for_each(|node| reader.element_or_zero(*node, datatype, rows))
        })
    }

    fn rows(
        &mut self,
        expected: Expected<'t>,
        read: impl FnOnce(&mut Reader<'_, 't, '_>, &mut Vec<u8>) -> Result<(), Wrong>,
    ) -> Option<Values> {
        let mut rows = Vec::new();
        let mut reader = Reader {
            context: self,
            expected,
            heap: Vec::new(),
            references: Heap::default(),
            members: HashMap::new(),
            powers: Powers::default(),
            wrong: 0,
        };
        let read = read(&mut reader, &mut rows);
        let Reader { heap, mut references, wrong, .. } = reader;
        if read.is_err() || wrong > 0 {
            return None;
        }
        if !heap.is_empty() {
            // Slots point into the first buffer. References need no buffer.
            references.push(heap.into()).ok()?;
        }
        // There may be many small values.
        rows.shrink_to_fit();
        Some(Values { rows: rows.into(), heap: references })
    }

    /// The lengths of nested lists, along their first elements.
    pub(super) fn nesting(node: Node<'_>, rank: usize) -> Vec<u64> {
        let (mut extents, mut node) = (Vec::new(), Some(node));
        while let Some(View::Sequence(items)) = node.map(Node::view)
            && extents.len() < rank
        {
            extents.push(u64::try_from(items.len()).unwrap_or(u64::MAX));
            node = items.iter().next();
        }
        extents
    }
}

impl<'t> Reader<'_, 't, '_> {
    fn outer(
        &mut self,
        node: Node<'t>,
        datatype: &Datatype,
        shape: &[u64],
        place: &mut Vec<usize>,
        rows: &mut Vec<u8>,
    ) -> Result<(), Wrong> {
        let Some((extent, inner)) = shape.get(place.len()..).and_then(<[u64]>::split_first) else {
            if let (View::Sequence(items), true) = (node.view(), is_single(datatype)) {
                let message =
                    format!("{} is a list, expected one {datatype} (shape {shape:?})", self.name(place));
                let only = items.iter().next().filter(|only| items.len() == 1 && only.scalar().is_some());
                let hint = only.map(|only| format!("write {}", source(only)));
                self.context.findings.error("ndl/value-shape", node.span(), message).maybe_hint(hint);
                return Err(Wrong);
            }
            return self.element_or_zero(node, datatype, rows);
        };
        let View::Sequence(items) = node.view() else {
            let single =
                place.is_empty() && shape.iter().all(|extent| *extent == 1) && node.scalar().is_some();
            let nested = format!("{}{}{}", "[".repeat(shape.len()), source(node), "]".repeat(shape.len()));
            if single && self.context.options.lenient {
                let message = format!("a scalar, expected a list (shape {shape:?})");
                self.context
                    .findings
                    .warning("ndl/value-shape", node.span(), message)
                    .hint(format!("write {nested}"));
                return self.element_or_zero(node, datatype, rows);
            }
            let message =
                format!("{} is {}, expected a list (shape {shape:?})", self.name(place), kind(node));
            let hint = single.then(|| format!("write {nested}"));
            self.context.findings.error("ndl/value-shape", node.span(), message).maybe_hint(hint);
            return Err(Wrong);
        };
        if u64::try_from(items.len()) != Ok(*extent) {
            let count = counted(items.len());
            let message = format!("{} has {count}, expected {extent} (shape {shape:?})", self.name(place));
            let hint = parted(items, inner.is_empty(), *extent, datatype);
            self.context.findings.error("ndl/value-shape", node.span(), message).maybe_hint(hint);
            return Err(Wrong);
        }
        for (index, item) in items.iter().enumerate() {
            place.push(index);
            self.outer(item, datatype, shape, place, rows)?;
            place.pop();
        }
        Ok(())
    }

    fn name(&self, place: &[usize]) -> String {
        let mut name = self.expected.name.to_string();
        if let (Some(bare), false) = (name.strip_prefix("the "), place.is_empty()) {
            name = bare.to_string();
        }
        for index in place {
            name.push_str(&format!("[{index}]"));
        }
        name
    }

    /// Continues after a wrong element, so that others are reported too.
    fn element_or_zero(
        &mut self,
        node: Node<'t>,
        datatype: &Datatype,
        rows: &mut Vec<u8>,
    ) -> Result<(), Wrong> {
        match self.element(node, datatype, rows) {
            Err(Wrong) => {
                self.wrong += 1;
                if self.wrong >= MAX_WRONG { Err(Wrong) } else { Ok(()) }
            }
            Ok(()) => Ok(()),
        }
    }

    fn element(&mut self, node: Node<'t>, datatype: &Datatype, out: &mut Vec<u8>) -> Result<(), Wrong> {
        if node.is_null() && !accepts_null(datatype) {
            let Some(fill) = self.expected.fill.filter(|fill| !fill.is_null()) else {
                return self.wrong_element(node, datatype, "the array has no fill value");
            };
            self.expected.fill = None;
            let before = self.heap.len() + out.len();
            let read = self.element(fill, datatype, out);
            self.expected.fill = Some(fill);
            // The fill value appears only once in the text.
            let added = (self.heap.len() + out.len()).saturating_sub(before);
            return match self.context.may_pad(added, node.span()) {
                true => read,
                false => Err(Wrong),
            };
        }
        match datatype {
            Datatype::Int { bits, signed } => self.integer(node, datatype, *bits, *signed, out),
            Datatype::Time { bits } => self.integer(node, datatype, *bits, false, out),
            Datatype::Float(float) => self.float(node, float, out),
            Datatype::Complex(float) => match node.view() {
                View::Sequence(items) if items.len() == 2 => {
                    items.iter().try_for_each(|item| self.float(item, float, out))
                }
                _ => self.wrong_kind(node, "[re, im]"),
            },
            Datatype::Bool => {
                let scalar = self.scalar(node, "true or false")?;
                match boolean(scalar.text) {
                    Some(value) => out.push(u8::from(value)),
                    None => return self.wrong_kind(node, "true or false"),
                }
                Ok(())
            }
            Datatype::Datetime(unit) => self.datetime(node, datatype, unit, out),
            Datatype::Bitfield { size } => self.bits(node, *size, out),
            Datatype::String(text) => self.text(node, *text, out),
            Datatype::Opaque { size, .. } => self.opaque(node, *size, out),
            Datatype::ObjRef | Datatype::RegRef | Datatype::Reference => {
                let selections = self.expected.selections;
                let reference = self.context.reference(node, datatype, selections).ok_or(Wrong)?;
                let Ok(slot) = self.references.push_reference(reference) else { return Err(Wrong) };
                out.extend(slot.to_bytes());
                Ok(())
            }
            Datatype::Enum { base, members } => self.member(node, base, members, out),
            Datatype::Compound(members) => self.compound(node, members, out),
            Datatype::Vlen(base) => self.sequence(node, base, out),
            Datatype::Array { base, shape } => {
                if self.context.options.lenient && shape.len() > 1 && self.flat(node, base, shape, out)? {
                    return Ok(());
                }
                let mut place = Vec::new();
                let before = std::mem::replace(&mut self.expected.name, "the array element");
                let read = self.outer(node, base, shape, &mut place, out);
                self.expected.name = before;
                read
            }
            Datatype::Nullable(of) => match node.is_null() {
                true => {
                    let size = of.row_size().and_then(|size| size.checked_add(1)).ok_or(Wrong)?;
                    match self.context.pad(out, size, 0, node.span()) {
                        true => Ok(()),
                        false => Err(Wrong),
                    }
                }
                false => {
                    out.push(1);
                    self.element(node, of, out)
                }
            },
            Datatype::Named(_, of) => self.element(node, of, out),
        }
    }

    fn integer(
        &mut self,
        node: Node<'t>,
        datatype: &Datatype,
        bits: u16,
        signed: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Wrong> {
        let scalar = self.scalar(node, "an integer")?;
        let Some(value) = integer(scalar.text) else {
            if is_integer(scalar.text) {
                return self.wrong_element(node, datatype, "out of range");
            }
            let message = format!("{}, expected an integer ({datatype})", node.describe());
            let hint = is_decimal(scalar.text)
                .then(|| "write an integer without a decimal point and exponent".into());
            self.context.findings.error("ndl/value", node.span(), message).maybe_hint(hint);
            return Err(Wrong);
        };
        if !in_range(value, bits, signed) {
            return self.wrong_element(node, datatype, "out of range");
        }
        push_int(out, value, bits);
        Ok(())
    }

    fn member(
        &mut self,
        node: Node<'t>,
        base: &Datatype,
        members: &[(String, i128)],
        out: &mut Vec<u8>,
    ) -> Result<(), Wrong> {
        let Datatype::Int { bits, signed } = *base.resolved() else { return Err(Wrong) };
        let scalar = self.scalar(node, "a member's name")?;
        let number = integer(scalar.text).filter(|_| scalar.is_plain());
        let value = number.or_else(|| self.member_value(members, scalar.text));
        let Some(value) = value else {
            let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
            let message = format!("the enum has no member {}", shown(scalar.text));
            let hint = match is_integer(scalar.text) && !scalar.is_plain() {
                _ if self.context.findings.is_full() => String::new(),
                true => format!("write the number {} without quotes", scalar.text),
                false => suggest(scalar.text, &names),
            };
            self.context.findings.error("ndl/value", node.span(), message).hint(hint);
            return Err(Wrong);
        };
        if !in_range(value, bits, signed) {
            return self.wrong_element(node, base, "out of range");
        }
        push_int(out, value, bits);
        Ok(())
    }

    fn member_value(&mut self, members: &[(String, i128)], name: &str) -> Option<i128> {
        if members.len() <= FEW_MEMBERS {
            return members.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        }
        let known = self.members.entry(members.as_ptr().addr());
        known.or_insert_with(|| members.iter().cloned().collect()).get(name).copied()
    }

    fn compound(
        &mut self,
        node: Node<'t>,
        members: &[hyperslab_model::Member],
        out: &mut Vec<u8>,
    ) -> Result<(), Wrong> {
        match node.view() {
            View::Sequence(items) => {
                if items.len() != members.len() {
                    let message =
                        format!("{} for a compound of {} members", counted(items.len()), members.len());
                    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
                    let finding = self.context.findings.error("ndl/value", node.span(), message);
                    finding.hint(format!("expected [{}]", names.join(", ")));
                    return Err(Wrong);
                }
                items
                    .iter()
                    .zip(members)
                    .try_for_each(|(item, member)| self.element(item, &member.datatype, out))
            }
            View::Mapping(mapping) => {
                let found: HashMap<&str, Node<'t>> =
                    mapping.iter().map(|(key, value)| (key.name, value)).collect();
                let names: HashSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
                if let Some((key, _)) = mapping.iter().find(|(key, _)| !names.contains(key.name)) {
                    let message = format!("the compound has no member {}", shown(key.name));
                    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
                    let finding = self.context.findings.error("ndl/value", key.span, message);
                    finding.hint(suggest(key.name, &names));
                    return Err(Wrong);
                }
                for member in members {
                    let Some(item) = found.get(member.name.as_str()) else {
                        let message = format!("a compound without its member {}", shown(&member.name));
                        self.context.findings.error("ndl/value", node.span(), message);
                        return Err(Wrong);
                    };
                    self.element(*item, &member.datatype, out)?;
                }
                Ok(())
            }
            View::Scalar(_) => self.wrong_kind(node, "a list or a map of the compound's members"),
        }
    }

    fn sequence(&mut self, node: Node<'t>, base: &Datatype, out: &mut Vec<u8>) -> Result<(), Wrong> {
        let mut rows = Vec::new();
        let count = match node.view() {
            View::Sequence(items) => {
                items.iter().try_for_each(|item| self.element(item, base, &mut rows))?;
                items.len()
            }
            View::Scalar(scalar) if scalar.is_null() => 0,
            _ => return self.wrong_kind(node, "a list, which may be empty"),
        };
        let slot = self.allocate(u32::try_from(count).map_err(|_| Wrong)?);
        self.heap.extend(rows);
        out.extend(slot.to_bytes());
        Ok(())
    }

    /// Parses the elements of an array that are not nested. Returns false if they are nested.
    fn flat(
        &mut self,
        node: Node<'t>,
        base: &Datatype,
        shape: &[u64],
        out: &mut Vec<u8>,
    ) -> Result<bool, Wrong> {
        let View::Sequence(items) = node.view() else { return Ok(false) };
        let count = shape.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent));
        if count != u64::try_from(items.len()).ok() || items.iter().any(|item| item.scalar().is_none()) {
            return Ok(false);
        }
        let message = format!("a flat list, expected nested lists (shape {shape:?})");
        self.context.findings.warning("ndl/value-shape", node.span(), message);
        items.iter().try_for_each(|item| self.element(item, base, out))?;
        Ok(true)
    }

    /// A slot for `count` elements that begin at the end of the heap.
    fn allocate(&self, count: u32) -> Slot {
        Slot::at(0, count, u64::try_from(self.heap.len()).unwrap_or(u64::MAX))
    }

    fn pad(&mut self, out: &mut Vec<u8>, count: usize, byte: u8, node: Node<'t>) -> Result<(), Wrong> {
        match self.context.pad(out, count, byte, node.span()) {
            true => Ok(()),
            false => Err(Wrong),
        }
    }

    fn scalar(&mut self, node: Node<'t>, expected: &str) -> Result<Scalar<'t>, Wrong> {
        match node.scalar() {
            Some(scalar) => Ok(scalar),
            None => {
                self.error("ndl/value", node.span(), format!("{}, expected {expected}", node.describe()));
                Err(Wrong)
            }
        }
    }

    fn wrong_kind(&mut self, node: Node<'t>, expected: &str) -> Result<(), Wrong> {
        self.error("ndl/value", node.span(), format!("{}, expected {expected}", node.describe()));
        Err(Wrong)
    }

    fn wrong_element(&mut self, node: Node<'t>, datatype: &Datatype, problem: &str) -> Result<(), Wrong> {
        let message = format!("{} for {datatype}: {problem}", node.describe());
        let rule = if node.is_null() { "ndl/null" } else { "ndl/value-range" };
        self.error(rule, node.span(), message);
        Err(Wrong)
    }

    fn too_long(&mut self, node: Node<'t>, found: usize, size: usize) -> Result<(), Wrong> {
        self.error("ndl/value-length", node.span(), format!("{found} bytes, expected at most {size}"));
        Err(Wrong)
    }

    fn error(&mut self, rule: &'static str, span: Span, message: String) {
        self.context.findings.error(rule, span, message);
    }
}

/// Whether elements of the type are never lists.
fn is_single(datatype: &Datatype) -> bool {
    match datatype.resolved() {
        Datatype::Nullable(of) => is_single(of),
        Datatype::Complex(_) | Datatype::Compound(_) | Datatype::Vlen(_) | Datatype::Array { .. } => false,
        _ => true,
    }
}

fn accepts_null(datatype: &Datatype) -> bool {
    match datatype {
        Datatype::Named(_, of) => accepts_null(of),
        Datatype::Nullable(_)
        | Datatype::String(_)
        | Datatype::Vlen(_)
        | Datatype::ObjRef
        | Datatype::RegRef
        | Datatype::Reference => true,
        _ => false,
    }
}

/// Appends the row of an integer.
fn push_int(out: &mut Vec<u8>, value: i128, bits: u16) {
    let size = int_row(usize::from(bits).div_ceil(8));
    let bytes = value.to_le_bytes();
    let row = bytes.get(..size).unwrap_or(&bytes);
    match cfg!(target_endian = "little") {
        true => out.extend_from_slice(row),
        false => out.extend(row.iter().rev()),
    }
}

/// A hint for a list with too many elements: a comma in unquoted text may have split it.
fn parted(items: Sequence<'_>, last: bool, extent: u64, datatype: &Datatype) -> Option<String> {
    let texts = matches!(datatype.resolved(), Datatype::String(_)) && last && items.len() > 1 && extent == 1;
    let plain = |node: Node<'_>| {
        node.scalar().filter(|scalar| scalar.is_plain()).map(|scalar| scalar.text.to_string())
    };
    let texts: Option<Vec<String>> =
        if texts && items.len() < 10 { items.iter().map(plain).collect() } else { None };
    let joined = texts?.join(", ");
    Some(format!("a comma ends an unquoted text in [ ]: write [{}]", shown(&joined)))
}

fn counted(count: usize) -> String {
    if count == 1 { "1 element".into() } else { format!("{count} elements") }
}

fn kind(node: Node<'_>) -> &'static str {
    match node.view() {
        View::Scalar(scalar) if scalar.is_null() => "null",
        View::Scalar(_) => "a scalar",
        View::Sequence(_) => "a list",
        View::Mapping(_) => "a map",
    }
}

/// A scalar for a hint.
fn source(node: Node<'_>) -> String {
    match node.scalar() {
        Some(scalar) if scalar.is_plain() && scalar.text.len() < 60 => scalar.text.to_string(),
        Some(scalar) => shown(scalar.text),
        None => "…".into(),
    }
}

/// The number of members of an enumeration among which a similar name is looked for.
const FEW_MEMBERS: usize = 16;

/// The number of wrong elements of an array that are reported.
const MAX_WRONG: usize = 10;
