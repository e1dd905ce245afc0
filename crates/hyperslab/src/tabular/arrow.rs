//! Tables as Apache Arrow record batches.
//!
//! | element | Arrow |
//! |---|---|
//! | integers of 8 to 64 bits, bit fields of as many | the same |
//! | float16, float32, float64; bfloat16 | the same; float32 |
//! | complex numbers of these | struct of `real` and `imag` |
//! | booleans | boolean |
//! | datetimes and durations of weeks to nanoseconds | timestamp without zone, duration |
//! | texts | large string; bytes that are not UTF-8 are escaped in files, `\xff`, and an error in memory |
//! | enumerations | large string: the names; in memory a dictionary of them, and boolean for `FALSE` and `TRUE` |
//! | opaque elements | fixed size binary |
//! | compounds in others | struct |
//! | sequences; arrays in elements | large list |
//! | all others, such as references and 128-bit numbers | large string: the text that tables show |

mod build;
mod memory;

pub use memory::{arrow_array, arrow_type, read_arrow};

use super::{BatchColumn, Tabular, TabularColumn};
use crate::target::conventions::is_boolean;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Datatype, Elements, Float, Values};
use std::io::Write;
use std::sync::Arc;

/// The number of rows of a record batch.
const BATCH_ROWS: usize = 1 << 17;

/// Where batches are kept.
#[derive(Clone, Copy)]
pub(super) enum Home<'a> {
    /// In a file: enumeration values become their names, since all batches would need the same dictionary, and bytes
    /// that are not UTF-8 are escaped, as in other table files, which the table notes.
    File(&'a Tabular<'a>),
    /// In memory: enumerations become dictionaries, and bytes that are not UTF-8 are an error.
    Memory,
}

/// Writes a table as an Arrow IPC file, which is also known as Feather.
///
/// # Errors
/// If the elements cannot be read, or the file cannot be written.
pub fn write_arrow(tabular: &Tabular<'_>, out: &mut dyn Write) -> Result<()> {
    let schema = schema(tabular, Home::File(tabular));
    let mut writer = arrow_ipc::writer::FileWriter::try_new(out, &schema).map_err(failed)?;
    record_batches(tabular, &schema, Home::File(tabular), &mut |batch| {
        writer.write(&batch.arrays()?).map_err(failed)
    })?;
    writer.finish().map_err(failed)
}

/// The columns of a table.
pub(super) fn schema(tabular: &Tabular<'_>, home: Home<'_>) -> SchemaRef {
    let field = |column: &TabularColumn| {
        let is_nullable = has_nulls(&column.datatype);
        let field = Field::new(&column.name, data_type(&column.datatype, home), is_nullable);
        field.with_dict_is_ordered(column.is_ordered)
    };
    Arc::new(Schema::new(tabular.columns().iter().map(field).collect::<Fields>()))
}

/// Whether elements themselves may be null.
fn has_nulls(datatype: &Datatype) -> bool {
    use Datatype::{Datetime, Nullable, ObjRef, Reference, RegRef};
    matches!(datatype.resolved(), Nullable(_) | Datetime(_) | ObjRef | RegRef | Reference)
}

/// The Arrow type of elements.
fn data_type(datatype: &Datatype, home: Home<'_>) -> DataType {
    let item = |of: &Datatype| Arc::new(Field::new_list_field(data_type(of, home), true));
    match datatype.non_null() {
        of if matches!(home, Home::Memory) && is_boolean(of) => DataType::Boolean,
        Datatype::Enum { .. } if matches!(home, Home::Memory) => {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::LargeUtf8))
        }
        Datatype::Int { bits, signed: true } => match bits.div_ceil(8) {
            1 => DataType::Int8,
            2 => DataType::Int16,
            3..=4 => DataType::Int32,
            5..=8 => DataType::Int64,
            _ => DataType::LargeUtf8,
        },
        Datatype::Int { bits, signed: false } | Datatype::Time { bits } => unsigned(bits.div_ceil(8).into()),
        Datatype::Bitfield { size } => unsigned(*size),
        Datatype::Float(float) => number(float).unwrap_or(DataType::LargeUtf8),
        Datatype::Complex(float) => number(float).map_or(DataType::LargeUtf8, |part| {
            let field = |name: &str| Field::new(name, part.clone(), false);
            DataType::Struct(Fields::from(vec![field("real"), field("imag")]))
        }),
        Datatype::Bool => DataType::Boolean,
        Datatype::Datetime(of) => match (resolution(&of.unit), of.duration) {
            (Some((unit, _)), true) => DataType::Duration(unit),
            (Some((unit, _)), false) => DataType::Timestamp(unit, None),
            (None, _) => DataType::LargeUtf8,
        },
        Datatype::Opaque { size, .. } => {
            i32::try_from(*size).map_or(DataType::LargeUtf8, DataType::FixedSizeBinary)
        }
        Datatype::Array { base, shape } if !shape.is_empty() => {
            let list = |of| DataType::LargeList(Arc::new(Field::new_list_field(of, true)));
            shape.iter().fold(data_type(base, home), |of, _| list(of))
        }
        Datatype::Vlen(of) | Datatype::Array { base: of, .. } => DataType::LargeList(item(of)),
        Datatype::Compound(members) if !members.is_empty() => {
            let field = |member: &hyperslab_model::Member| {
                Field::new(&member.name, data_type(&member.datatype, home), true)
            };
            DataType::Struct(members.iter().map(field).collect())
        }
        _ => DataType::LargeUtf8,
    }
}

fn unsigned(size: u32) -> DataType {
    match size {
        1 => DataType::UInt8,
        2 => DataType::UInt16,
        3..=4 => DataType::UInt32,
        5..=8 => DataType::UInt64,
        _ => DataType::LargeUtf8,
    }
}

fn number(float: &Float) -> Option<DataType> {
    match float {
        Float::Half => Some(DataType::Float16),
        Float::Single | Float::BFloat => Some(DataType::Float32),
        Float::Double => Some(DataType::Float64),
        Float::Quad | Float::Other(_) => None,
    }
}

/// The Arrow unit for an NDL unit, and the number of Arrow units in one NDL unit. `None` for months and years, whose
/// length varies, and for units below nanoseconds.
fn resolution(unit: &str) -> Option<(TimeUnit, i64)> {
    let letters = unit.trim_start_matches(|c: char| c.is_ascii_digit());
    let step = match unit.strip_suffix(letters)? {
        "" => 1,
        digits => digits.parse::<i64>().ok()?,
    };
    let (unit, factor) = match letters {
        // Parquet has no times in seconds.
        "W" => (TimeUnit::Millisecond, 7 * 86_400_000),
        "D" => (TimeUnit::Millisecond, 86_400_000),
        "h" => (TimeUnit::Millisecond, 3_600_000),
        "m" => (TimeUnit::Millisecond, 60_000),
        "s" => (TimeUnit::Millisecond, 1000),
        "ms" => (TimeUnit::Millisecond, 1),
        "us" => (TimeUnit::Microsecond, 1),
        "ns" => (TimeUnit::Nanosecond, 1),
        _ => return None,
    };
    Some((unit, step.checked_mul(factor)?))
}

/// Some rows of a table, whose columns become arrays one by one.
pub(super) struct Rows<'a> {
    schema: &'a SchemaRef,
    columns: Vec<Column<'a>>,
    pub(super) len: usize,
}

/// The cells of a column in some rows.
pub(super) enum Column<'a> {
    /// Coordinates, by the positions of the rows.
    Coordinates {
        all: Elements<'a>,
        home: Home<'a>,
        positions: Repeated,
    },
    /// The positions in the array.
    Positions {
        axis: &'a crate::show::ShownAxis,
        positions: Repeated,
    },
    Own(Elements<'a>, Home<'a>),
}

impl Rows<'_> {
    pub(super) fn columns(&self) -> &[Column<'_>] {
        &self.columns
    }

    /// All columns.
    fn arrays(&self) -> Result<RecordBatch> {
        let arrays = self.columns.iter().map(Column::array).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.len));
        RecordBatch::try_new_with_options(Arc::clone(self.schema), arrays, &options).map_err(failed)
    }
}

impl Column<'_> {
    pub(super) fn array(&self) -> Result<ArrayRef> {
        match self {
            Column::Coordinates { all, home, positions } => {
                let rows = positions.rows(all);
                build::array(Elements::of(all.datatype(), &rows, all.heap()), *home)
            }
            Column::Positions { axis, positions } => {
                let position = |at: u64| {
                    let position = usize::try_from(at).ok().and_then(|at| axis.position(at));
                    position.and_then(|position| i64::try_from(position).ok()).unwrap_or(i64::MAX)
                };
                Ok(Arc::new(Int64Array::from_iter_values(positions.clone().map(position))))
            }
            Column::Own(elements, home) => build::array(elements.clone(), *home),
        }
    }
}

/// The positions along a dimension in consecutive rows: each repeats `stride` times.
#[derive(Clone)]
pub(super) struct Repeated {
    position: u64,
    /// The number of rows left that have this position.
    left: u64,
    stride: u64,
    extent: u64,
    rows: usize,
}

impl Repeated {
    fn new(first_row: u64, stride: u64, extent: u64, rows: usize) -> Repeated {
        let (stride, extent) = (stride.max(1), extent.max(1));
        let position = first_row / stride % extent;
        Repeated { position, left: stride - first_row % stride, stride, extent, rows }
    }

    /// The elements at these positions.
    fn rows(&self, all: &Elements<'_>) -> Vec<u8> {
        let (bytes, size) = (all.rows(), all.row_size());
        let mut rows = Vec::with_capacity(size.saturating_mul(self.rows));
        for position in self.clone() {
            let start = usize::try_from(position).unwrap_or(usize::MAX).saturating_mul(size);
            let row = bytes.get(start..start.saturating_add(size));
            rows.extend_from_slice(row.unwrap_or_default());
        }
        rows
    }
}

impl Iterator for Repeated {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.rows = self.rows.checked_sub(1)?;
        let position = self.position;
        self.left -= 1;
        if self.left == 0 {
            self.left = self.stride;
            self.position = if position + 1 == self.extent { 0 } else { position + 1 };
        }
        Some(position)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rows, Some(self.rows))
    }
}

/// Reads a table in record batches.
pub(super) fn record_batches(
    tabular: &Tabular<'_>,
    schema: &SchemaRef,
    home: Home<'_>,
    take: &mut dyn FnMut(Rows<'_>) -> Result<()>,
) -> Result<()> {
    tabular.batches(&mut |batch| {
        let nothing = Values::default();
        let mut own: Vec<Elements<'_>> = batch
            .columns
            .iter()
            .zip(tabular.columns())
            .map(|(column, about)| match column {
                BatchColumn::Values(values) => Elements::new(&about.datatype, values),
                BatchColumn::Coordinates { .. } => Elements::new(&about.datatype, &nothing),
            })
            .collect();
        let mut done = 0;
        while done < batch.len {
            let len = BATCH_ROWS.min(batch.len - done);
            let columns = batch.columns.iter().zip(&mut own);
            let columns = columns.map(|(column, own)| part(column, own, home, (done, len)));
            take(Rows { schema, columns: columns.collect(), len })?;
            done += len;
        }
        Ok(())
    })
}

/// The rows of a column after the first `done`; its own elements are taken from `own`.
fn part<'b>(
    column: &'b BatchColumn<'_>,
    own: &mut Elements<'b>,
    home: Home<'b>,
    (done, len): (usize, usize),
) -> Column<'b> {
    let BatchColumn::Coordinates { axis, start, stride } = column else {
        return Column::Own(own.split(len), home);
    };
    let positions = Repeated::new(start.saturating_add(done as u64), *stride, axis.len() as u64, len);
    match axis.coordinates() {
        Some((datatype, values)) => {
            Column::Coordinates { all: Elements::new(datatype, values), home, positions }
        }
        None => Column::Positions { axis, positions },
    }
}

/// An error of the Arrow libraries. Errors of the output keep their cause.
fn failed(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => Error::from(error),
        error => Error::new(ErrorKind::Unsupported, format!("Arrow: {error}")),
    }
}
