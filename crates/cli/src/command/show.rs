//! `show LOCATION`: prints values.

mod cells;

use crate::args::{Common, Form, Show};
use crate::exit::Exit;
use crate::output::{Column, Messages, Table, open_followed, paints_stdout};
use crate::progress::Progress;
use crate::terminal::{Out, harmless};
use crate::words;
use hyperslab::location::Locator;
use hyperslab::model::{Datatype, Element, ElementRef};
use hyperslab::select::FullLength;
use hyperslab::show::{Shown, ShownCells, show, show_cells};
use hyperslab::{Error, ErrorKind, Result, ndl};
use std::io::Write;

pub(crate) fn run(args: &Show, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let location = Locator::parse(&args.location);
    let watch = Progress::of_reading("show", &location.store, false, common);
    let shown = open_followed(true, &location, common, watch, messages).and_then(|source| {
        // As readers of the format show it.
        let source = if source.dialect().fills_to_length { FullLength::shared(source) } else { source };
        let targets = location.targets(&*source)?;
        match targets.as_slice() {
            [target] => {
                let selections = words::selections(&args.select)?;
                match show_cells(&*source, target, &selections)? {
                    Some(cells) => Ok(Found::Cells(cells)),
                    None => show(&*source, target, &selections).map(|shown| Found::Array(Box::new(shown))),
                }
            }
            many => Err(Error::invalid(format!(
                "matches {} objects, expected one; `hyperslab ls` lists them",
                many.len()
            ))),
        }
    });
    let shown = match shown {
        Ok(shown) => shown,
        Err(error) => {
            messages.error(&error.in_file(&location.store));
            return Ok(Exit::Trouble);
        }
    };
    let form = if args.json { Form::Json } else { args.form };
    let paint = paints_stdout(common, args.to.file().is_some());
    let shown = match shown {
        Found::Array(shown) => shown,
        Found::Cells(cells) => match cells::write(&cells, form, paint, out) {
            // Errors of the output are reported by its writer.
            Err(error) if error.kind() != ErrorKind::Io => {
                messages.error(&error.in_object(&cells.name).in_file(&location.store));
                return Ok(Exit::Trouble);
            }
            written => return written.map(|()| Exit::Yes),
        },
    };
    if !shown.missing.is_empty() {
        messages.warning(&words::missing(&location.store, &shown.name, &shown.missing));
    }
    for error in &shown.unread {
        messages.error_in(error, &location.store);
    }
    match form {
        Form::Table => table(&shown, paint, out)?,
        Form::Csv => separated(&shown, ',', out)?,
        Form::Tsv => separated(&shown, '\t', out)?,
        Form::Json => json(&shown, out)?,
        Form::Npy => npy(&shown, out)?,
        Form::Raw => out.write_all(&little_endian(&shown)?)?,
    }
    Ok(if shown.unread.is_empty() { Exit::Yes } else { Exit::No })
}

/// The object to show.
enum Found {
    Array(Box<Shown>),
    Cells(ShownCells),
}

/// Tables of at most two dimensions, one after another, each under a line with its position.
fn table(shown: &Shown, paint: bool, out: &mut Out<'_>) -> Result<()> {
    let (outer, inner) = shown.axes.split_at_checked(shown.axes.len().saturating_sub(2)).unwrap_or_default();
    let label = shown.datatype.to_string();
    let mut elements = shown.elements();
    let size: usize = inner.iter().map(|axis| axis.len()).product();
    let mut at = vec![0_usize; outer.len()];
    let tables: usize = outer.iter().map(|axis| axis.len()).product();
    for index in 0..tables {
        if index > 0 {
            writeln!(out)?;
        }
        let mut head = format!("# {} {label}", shown.name);
        let fixed = shown.fixed.iter().map(|axis| (axis, 0));
        for (axis, position) in fixed.chain(outer.iter().zip(at.iter().copied())) {
            if let Some(label) = axis.label(position) {
                head.push_str(&format!(", {} {label}", axis.name));
            }
        }
        write_head(&head, paint, out)?;
        let texts: Vec<String> = elements.split(size).map(ndl::plain).collect();
        match inner {
            [] if shown.is_null => writeln!(out, "null")?,
            [] => writeln!(out, "{}", texts.concat())?,
            [axis] => {
                let mut rows = Table::new(vec![
                    Column { header: axis.name.clone(), numbers: true },
                    Column { header: String::new(), numbers: is_number(&shown.datatype) },
                ]);
                for (label, text) in axis.labels().zip(texts) {
                    rows.cell(label);
                    rows.cell(text);
                }
                rows.write(out, paint)?;
            }
            [down, across, ..] => {
                let corner = Column { header: format!("{} \\ {}", down.name, across.name), numbers: true };
                let numbers = is_number(&shown.datatype);
                let columns = across.labels().map(|label| Column { header: label, numbers });
                let mut rows = Table::new(std::iter::once(corner).chain(columns).collect());
                let mut texts = texts.into_iter();
                for label in down.labels() {
                    rows.cell(label);
                    texts.by_ref().take(across.len()).for_each(|text| rows.cell(text));
                }
                rows.write(out, paint)?;
            }
        }
        for (axis, position) in outer.iter().zip(at.iter_mut()).rev() {
            *position += 1;
            if *position < axis.len() {
                break;
            }
            *position = 0;
        }
    }
    Ok(())
}

/// Writes the line above a table.
fn write_head(head: &str, paint: bool, out: &mut Out<'_>) -> Result<()> {
    let head = harmless(head);
    match paint {
        true => out.own(format_args!("\x1b[2m{head}\x1b[0m\n"))?,
        false => writeln!(out, "{head}")?,
    }
    Ok(())
}

fn is_number(datatype: &Datatype) -> bool {
    matches!(
        datatype.resolved(),
        Datatype::Int { .. } | Datatype::Float(_) | Datatype::Time { .. } | Datatype::Bitfield { .. }
    )
}

/// One line for each row of the last dimension. Members of compounds are columns.
fn separated(shown: &Shown, separator: char, out: &mut Out<'_>) -> Result<()> {
    let columns = shown.axes.last().map_or(1, |axis| axis.len());
    let mut line = String::new();
    if let Datatype::Compound(members) = shown.datatype.resolved() {
        let names: Vec<_> = members.iter().map(|member| field(&member.name, separator, out)).collect();
        writeln!(out, "{}", names.join(&separator.to_string()))?;
        for element in shown.elements() {
            line.clear();
            if let Element::Compound(fields) = element.get() {
                push(&mut line, fields.map(|(_, field)| field), separator, out);
            }
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    let mut elements = shown.elements();
    while elements.len() > 0 {
        line.clear();
        push(&mut line, elements.split(columns.max(1)), separator, out);
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn push<'a>(
    line: &mut String,
    elements: impl Iterator<Item = ElementRef<'a>>,
    separator: char,
    out: &Out<'_>,
) {
    for (index, element) in elements.enumerate() {
        if index > 0 {
            line.push(separator);
        }
        line.push_str(&field(&ndl::plain(element), separator, out));
    }
}

/// A field as it is, or on one line if a terminal shows it.
fn field(text: &str, separator: char, out: &Out<'_>) -> String {
    match out.is_terminal() {
        true => quoted(&harmless(text), separator),
        false => quoted(text, separator),
    }
}

/// A field as in RFC 4180.
fn quoted(text: &str, separator: char) -> String {
    if text.contains([separator, '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Nested lists, one level for each dimension.
fn json(shown: &Shown, out: &mut Out<'_>) -> Result<()> {
    if shown.is_null {
        writeln!(out, "null")?;
        return Ok(());
    }
    let extents = shown.extents();
    let mut elements = shown.elements();
    nested(&extents, &mut elements, out)?;
    writeln!(out)?;
    Ok(())
}

fn nested(extents: &[usize], elements: &mut hyperslab::model::Elements<'_>, out: &mut Out<'_>) -> Result<()> {
    let Some((count, inner)) = extents.split_first() else {
        if let Some(element) = elements.next() {
            write!(out, "{}", ndl::json(element))?;
        }
        return Ok(());
    };
    write!(out, "[")?;
    for index in 0..*count {
        if index > 0 {
            write!(out, ", ")?;
        }
        nested(inner, elements, out)?;
    }
    write!(out, "]")?;
    Ok(())
}

/// A NumPy file, version 1.0.
fn npy(shown: &Shown, out: &mut Out<'_>) -> Result<()> {
    if shown.is_null {
        return Err(Error::unsupported("NumPy cannot store a null dataspace; use --as json"));
    }
    let descr = descr(&shown.datatype)
        .ok_or_else(|| Error::unsupported(format!("NumPy has no type for {}", shown.datatype)))?;
    let extents: Vec<String> = shown.extents().iter().map(|extent| format!("{extent},")).collect();
    let mut header =
        format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({}), }}", extents.join(" "));
    // The header and the bytes before it fill whole blocks of 64 bytes.
    let unpadded = 10 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let len =
        u16::try_from(header.len()).map_err(|_| Error::unsupported("NumPy header of 64 KiB or more"))?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&len.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    out.write_all(&little_endian(shown)?)?;
    Ok(())
}

/// The dtype string of NumPy, if its elements equal our rows.
fn descr(datatype: &Datatype) -> Option<String> {
    let plain =
        |code: &str, size: usize| Some(format!("'{}{code}{size}'", if size == 1 { '|' } else { '<' }));
    match datatype.resolved() {
        Datatype::Int { signed, .. } => plain(if *signed { "i" } else { "u" }, datatype.row_size()?),
        Datatype::Time { .. } => plain("u", datatype.row_size()?),
        Datatype::Float(hyperslab::model::Float::Half) => plain("f", 2),
        Datatype::Float(hyperslab::model::Float::Single) => plain("f", 4),
        Datatype::Float(hyperslab::model::Float::Double) => plain("f", 8),
        Datatype::Complex(hyperslab::model::Float::Single) => plain("c", 8),
        Datatype::Complex(hyperslab::model::Float::Double) => plain("c", 16),
        Datatype::Bool => Some("'|b1'".into()),
        Datatype::Enum { base, .. } => descr(base),
        Datatype::Bitfield { size } if matches!(size, 1 | 2 | 4 | 8) => {
            plain("u", usize::try_from(*size).ok()?)
        }
        Datatype::Opaque { size, .. } => Some(format!("'|V{size}'")),
        Datatype::String(hyperslab::model::Text::Fixed { len, .. }) => Some(format!("'|S{len}'")),
        Datatype::Compound(members) => {
            let fields: Option<Vec<String>> = members
                .iter()
                .map(|member| {
                    let name = python(&member.name);
                    Some(match member.datatype.resolved() {
                        Datatype::Array { base, shape } => {
                            let extents: Vec<_> = shape.iter().map(|extent| format!("{extent},")).collect();
                            format!("('{name}', {}, ({}))", descr(base)?, extents.join(" "))
                        }
                        other => format!("('{name}', {})", descr(other)?),
                    })
                })
                .collect();
            Some(format!("[{}]", fields?.join(", ")))
        }
        _ => None,
    }
}

/// The inside of a string of Python, in ASCII: other characters need version 3.0 of the format.
fn python(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match (c, u32::from(c)) {
            ('\\' | '\'', _) => escaped.extend(['\\', c]),
            (' '..='~', _) => escaped.push(c),
            (_, code @ ..=0xff) => escaped.push_str(&format!("\\x{code:02x}")),
            (_, code @ ..=0xffff) => escaped.push_str(&format!("\\u{code:04x}")),
            (_, code) => escaped.push_str(&format!("\\U{code:08x}")),
        }
    }
    escaped
}

/// The rows in little-endian byte order on every machine.
fn little_endian(shown: &Shown) -> Result<Vec<u8>> {
    if descr(&shown.datatype).is_none() {
        return Err(Error::unsupported(format!(
            "elements of {} are not plain bytes; use --as json",
            shown.datatype
        )));
    }
    if cfg!(target_endian = "big") {
        return Err(Error::unsupported("raw values on a big-endian machine; use --as json"));
    }
    Ok(shown.values.rows.to_vec())
}
