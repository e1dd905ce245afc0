//! Files of every kind for other libraries, with their content as JSON.

use crate::content::{Content, default_fill, next, number_of, open, read, shape};
use crate::{attribute, dimension, empty, variable};
use bytes::Bytes;
use hyperslab_core::nd::Region;
use hyperslab_netcdf3::{Attribute, DataType, Definition, Dimension, Header, Variable, Version};
use std::path::Path;

/// How the variables of a file are laid out.
#[derive(Clone, Copy, Debug)]
enum Records {
    /// Without a record dimension.
    No,
    /// One record variable, and nothing else.
    Alone,
    /// The same, with only the last record written.
    AloneLast,
    /// One record variable with a single element in each record.
    AloneFlat,
    /// One record variable beside other variables.
    One,
    /// Several record variables, with the record dimension first.
    Several,
    /// The record dimension is the last one, and the variables have more dimensions.
    Deep,
    /// No records at all.
    Empty,
    /// Records of which no variable is written.
    NoneWritten,
    /// Every other record of one variable is written.
    SomeWritten,
    /// Only dimensions and attributes.
    NoVariables,
}

const LAYOUTS: [Records; 11] = [
    Records::No,
    Records::Alone,
    Records::AloneLast,
    Records::AloneFlat,
    Records::One,
    Records::Several,
    Records::Deep,
    Records::Empty,
    Records::NoneWritten,
    Records::SomeWritten,
    Records::NoVariables,
];

/// The lengths of the inner dimension.
const LENGTHS: [u64; 5] = [1, 3, 4, 7, 250];

/// A file, and which records of the first variable are written, unless all are.
struct Case {
    content: Content,
    records: Option<Vec<u64>>,
}

impl Case {
    fn new(version: Version, data_type: DataType, records: Records, length: u64, seed: u64) -> Case {
        let (t, x, y) = (dimension("t", 0), dimension("größe", length), dimension("y+z", 2));
        let dimensions = match records {
            Records::No => vec![x, y],
            Records::Deep => vec![x, y, t],
            _ => vec![t, x, y],
        };
        let id = |name: &str| dimensions.iter().position(|of| of.name == name.as_bytes()).unwrap_or(9) as u64;
        let (t, x, y) = (id("t"), id("größe"), id("y+z"));
        let other = if data_type == DataType::Double { DataType::Short } else { DataType::Double };
        let list: &[(&str, DataType, &[u64])] = match records {
            Records::No => &[
                ("v", data_type, &[x]),
                ("w", other, &[y, x]),
                ("scalar", data_type, &[]),
                ("text", DataType::Char, &[x]),
                ("é", data_type, &[x, y]),
            ],
            Records::Alone | Records::AloneLast => &[("v", data_type, &[t, x])],
            Records::AloneFlat => &[("v", data_type, &[t])],
            Records::One => &[
                ("a", other, &[x]),
                ("v", data_type, &[t, x]),
                ("text", DataType::Char, &[x, y]),
                ("scalar", data_type, &[]),
            ],
            Records::Several => &[
                ("v", data_type, &[t, x]),
                ("a", DataType::Byte, &[x]),
                ("w", other, &[t]),
                ("b", DataType::Byte, &[t, x]),
                ("time of day", data_type, &[t]),
            ],
            Records::Deep => &[
                ("v", data_type, &[t, x, y]),
                ("w", DataType::Short, &[t, y, x]),
                ("x", data_type, &[x]),
                ("scalar", other, &[]),
            ],
            Records::Empty | Records::NoneWritten => {
                &[("v", data_type, &[t, x]), ("w", other, &[t]), ("a", data_type, &[x])]
            }
            Records::SomeWritten => {
                &[("v", data_type, &[t, x]), ("w", other, &[t]), ("u", data_type, &[t, x, y])]
            }
            Records::NoVariables => &[],
        };
        let mut state = seed;
        let variables = list.iter().enumerate().map(|(number, (name, data_type, ids))| {
            let attributes = attributes_of(*data_type, &mut state, (seed + number as u64).is_multiple_of(3));
            Variable { attributes, ..variable(name, *data_type, ids) }
        });
        let variables = variables.collect();
        let count = match records {
            Records::No | Records::Empty | Records::NoVariables => 0,
            Records::Alone => 3,
            Records::AloneLast | Records::AloneFlat | Records::SomeWritten => 5,
            _ => 4,
        };
        let mut header = Header {
            records: Some(count),
            dimensions,
            attributes: attributes_of_file(version, &mut state),
            variables,
            ..empty(version)
        };
        if header.variables.is_empty() && length == 7 {
            header.attributes.push(attribute("nothing", DataType::Char, b""));
        }
        let content = Content::new(header, seed, |number| match records {
            // One variable is written, so that other libraries know how many records there are.
            Records::NoneWritten => number == 1,
            Records::SomeWritten => number != 2,
            _ => true,
        });
        let records = match records {
            Records::AloneLast => Some(vec![count - 1]),
            Records::SomeWritten => Some((0..count).step_by(2).collect()),
            _ => None,
        };
        Case { content, records }
    }

    fn write(&self) -> Vec<u8> {
        self.content.write_by(|writer, number, rows| {
            let layout = writer.definition().layout(number).unwrap();
            let all = Region::all(&layout.shape);
            let Some(records) = self.records.as_ref().filter(|_| number == 0) else {
                return writer.write_part(number, &all, rows).unwrap();
            };
            let each = rows.len() / usize::try_from(layout.shape[0]).unwrap();
            for record in records {
                let mut region = all.clone();
                (region.start[0], region.count[0]) = (*record, 1);
                let row = rows.chunks(each).nth(usize::try_from(*record).unwrap()).unwrap();
                writer.write_part(number, &region, row).unwrap();
            }
        })
    }

    /// The elements of a variable in the file.
    fn expected(&self, number: usize) -> Vec<u8> {
        let written = self.content.expected(number);
        let Some(records) = self.records.as_ref().filter(|_| number == 0) else { return written };
        let mut content = self.content.clone();
        content.elements[number] = None;
        let fill = content.expected(number);
        let count = shape(&self.content.header, number)[0];
        let each = written.len() / usize::try_from(count).unwrap();
        let of = written.chunks(each).zip(fill.chunks(each)).zip(0..);
        of.flat_map(|((row, fill), at)| if records.contains(&at) { row } else { fill }).copied().collect()
    }

    /// The content of the file as JSON.
    fn json(&self) -> String {
        let header = &self.content.header;
        let dimensions = header.dimensions.iter().map(|of| {
            let length = if of.length == 0 { "null".to_owned() } else { of.length.to_string() };
            format!("[{}, {length}]", text(&of.name))
        });
        let variables = header.variables.iter().enumerate().map(|(number, of)| {
            let ids = of.dimensions.iter().map(u64::to_string);
            let written = match &self.records {
                Some(records) if number == 0 => list(records.iter().map(u64::to_string)),
                _ => self.content.elements[number].is_some().to_string(),
            };
            format!(
                r#"{{"name": {}, "type": "{:?}", "dimensions": {}, "attributes": {}, "written": {written}, "values": {}}}"#,
                text(&of.name),
                of.data_type,
                list(ids),
                attributes(&of.attributes),
                values(of.data_type, &self.expected(number)),
            )
        });
        format!(
            r#"{{"version": {}, "records": {}, "dimensions": {}, "attributes": {}, "variables": {}}}"#,
            header.version as u8,
            header.records.unwrap(),
            list(dimensions),
            attributes(&header.attributes),
            list(variables),
        )
    }
}

/// Attributes of a variable, with the fill value first, as other libraries order them.
fn attributes_of(data_type: DataType, state: &mut u64, has_fill: bool) -> Vec<Attribute> {
    let mut attributes = Vec::new();
    if has_fill {
        attributes.push(numbers("_FillValue", data_type, 1, state));
    }
    attributes.push(attribute("long name", DataType::Char, "§ 5 of each".as_bytes()));
    if data_type != DataType::Char {
        attributes.push(numbers("range", data_type, 2, state));
    }
    attributes
}

fn attributes_of_file(version: Version, state: &mut u64) -> Vec<Attribute> {
    let mut attributes = vec![attribute("title", DataType::Char, "written, é".as_bytes())];
    let types = DataType::ALL.into_iter().filter(|of| *of != DataType::Char && of.is_in(version));
    for (count, data_type) in (1..).zip(types) {
        attributes.push(numbers(&format!("of_{data_type:?}"), data_type, count, state));
    }
    attributes
}

/// An attribute of `count` numbers.
fn numbers(name: &str, data_type: DataType, count: usize, state: &mut u64) -> Attribute {
    let values = (0..count).flat_map(|_| {
        let mut number = number_of(data_type, next(state));
        hyperslab_netcdf3::to_big_endian(&mut number, data_type.size());
        number
    });
    Attribute { name: name.into(), data_type, values: values.collect() }
}

fn attributes(attributes: &[Attribute]) -> String {
    list(attributes.iter().map(|of| {
        let mut rows = of.values.clone();
        hyperslab_netcdf3::to_native(&mut rows, of.data_type.size());
        format!(r#"[{}, "{:?}", {}]"#, text(&of.name), of.data_type, values(of.data_type, &rows))
    }))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A name as a JSON string; it has no characters that JSON escapes.
fn text(name: &[u8]) -> String {
    format!("\"{}\"", str::from_utf8(name).unwrap())
}

/// Elements as a list of numbers, with characters as their codes.
fn values(data_type: DataType, rows: &[u8]) -> String {
    let float = |number: f64| if number.is_nan() { "NaN".to_owned() } else { number.to_string() };
    list(rows.chunks(data_type.size()).map(|row| match data_type {
        DataType::Byte => i8::from_ne_bytes(row.try_into().unwrap()).to_string(),
        DataType::Char | DataType::UByte => row[0].to_string(),
        DataType::Short => i16::from_ne_bytes(row.try_into().unwrap()).to_string(),
        DataType::UShort => u16::from_ne_bytes(row.try_into().unwrap()).to_string(),
        DataType::Int => i32::from_ne_bytes(row.try_into().unwrap()).to_string(),
        DataType::UInt => u32::from_ne_bytes(row.try_into().unwrap()).to_string(),
        DataType::Int64 => i64::from_ne_bytes(row.try_into().unwrap()).to_string(),
        DataType::UInt64 => u64::from_ne_bytes(row.try_into().unwrap()).to_string(),
        DataType::Float => float(f32::from_ne_bytes(row.try_into().unwrap()).into()),
        DataType::Double => float(f64::from_ne_bytes(row.try_into().unwrap())),
    }))
}

/// Definitions whose sizes lie around the limits of the versions, each with the header that we would write, or `null` if
/// it is rejected. Variables consist of bytes along a dimension of length 4 and one of their own.
fn sizes() -> String {
    let lengths =
        [1, 5, 100, (1 << 29) - 1, 1 << 29, (1 << 29) + 1, (1 << 30) - 1, 1 << 30, (1 << 31) - 4_u64];
    let mut state = 0;
    let mut lines = Vec::new();
    for version in [Version::Classic, Version::Offset64, Version::Data64] {
        for _ in 0..SIZES {
            let mut dimensions = vec![dimension("t", 0), dimension("four", 4)];
            let mut variables = Vec::new();
            let mut said = Vec::new();
            for number in 0..1 + next(&mut state) % 4 {
                let is_record = next(&mut state).is_multiple_of(3);
                // Small and large ones are equally frequent.
                let small = next(&mut state).is_multiple_of(2);
                let among = if small { &lengths[..3] } else { &lengths[3..] };
                let length = among[usize::try_from(next(&mut state)).unwrap() % among.len()];
                dimensions.push(dimension(&format!("x{number}"), length));
                let ids = if is_record { vec![0, 1, number + 2] } else { vec![1, number + 2] };
                variables.push(variable(&format!("v{number}"), DataType::Byte, &ids));
                said.push(format!("[{is_record}, {length}]"));
            }
            let header = Header { dimensions, variables, ..empty(version) };
            let header = Definition::new(header, &default_fill).map(|found| found.header().encode().unwrap());
            let header = header.map_or("null".to_owned(), |bytes| format!("\"{}\"", hex(&bytes)));
            let (version, said) = (version as u8, said.join(", "));
            lines.push(format!(r#"{{"version": {version}, "variables": [{said}], "header": {header}}}"#));
        }
    }
    list(lines.into_iter())
}

/// Names of dimensions, and whether we accept them.
fn names() -> String {
    let mut names: Vec<Vec<u8>> = (1..=255).flat_map(|byte| [vec![byte], vec![b'a', byte]]).collect();
    names.extend((1..=255).map(|byte| vec![b'a', byte, b'b']));
    let more = [
        "é",
        "aé",
        "日本",
        "a\u{a0}",
        "a b",
        " a",
        "𝛼",
        "a\u{85}",
        "a\u{2028}b",
        "\u{feff}a",
        "/",
        "a/",
        "_é",
    ];
    names.extend(more.map(|name| name.as_bytes().to_vec()));
    names.extend([255, 256, 257].map(|len| vec![b'n'; len]));
    names.extend([127, 128, 129].map(|len| "é".repeat(len).into_bytes()));
    names.extend([&b"a\xc3"[..], b"\xed\xa0\x80", b"a\xc0\x80", b"\xf4\x90\x80\x80"].map(<[u8]>::to_vec));
    list(names.into_iter().map(|name| {
        let shown = hex(&name);
        let header = Header { dimensions: vec![Dimension { name, length: 1 }], ..empty(Version::Classic) };
        format!(r#"["{shown}", {}]"#, Definition::new(header, &default_fill).is_ok())
    }))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The number of definitions for each version.
const SIZES: u64 = 300;

/// Writes files that `classic_written.py` reads with other libraries, to the folder that
/// `HYPERSLAB_CLASSIC_WRITTEN` names.
#[test]
fn writes_files_for_other_libraries() {
    let folder = std::env::var_os("HYPERSLAB_CLASSIC_WRITTEN");
    let mut count = 0;
    for version in [Version::Classic, Version::Offset64, Version::Data64] {
        for data_type in DataType::ALL.into_iter().filter(|of| of.is_in(version)) {
            for records in LAYOUTS {
                for length in LENGTHS {
                    count += 1;
                    let case = Case::new(version, data_type, records, length, count);
                    let bytes = case.write();
                    let file = open(Bytes::from(bytes.clone())).unwrap();
                    for number in 0..case.content.elements.len() {
                        assert!(read(&file, number).unwrap() == case.expected(number), "{count} {number}");
                    }
                    if let Some(folder) = &folder {
                        let name = format!("{count:04} {version} {data_type:?} {records:?} {length}");
                        std::fs::write(Path::new(folder).join(format!("{name}.nc")), bytes).unwrap();
                        std::fs::write(Path::new(folder).join(format!("{name}.json")), case.json()).unwrap();
                    }
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
    let declared = format!(r#"{{"sizes": {}, "names": {}}}"#, sizes(), names());
    if let Some(folder) = &folder {
        std::fs::write(Path::new(folder).join("declared.json"), declared).unwrap();
    }
}
