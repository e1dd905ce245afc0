//! Tables as Apache Parquet files.

use super::Tabular;
use super::arrow::{Home, Rows, record_batches, schema};
use crate::pool::Pool;
use arrow_schema::SchemaRef;
use hyperslab_core::{Error, ErrorKind, Result};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::add_encoded_arrow_schema_to_metadata;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use std::io::Write;
use std::sync::Arc;

/// The maximum number of rows of a row group, as in files of other writers.
const GROUP_ROWS: usize = 1 << 20;
/// An estimate of the memory for a column of a batch.
const COLUMN_MEMORY: u64 = 16 << 20;

/// Writes a table as a Parquet file, compressed with Zstandard. Columns are encoded in parallel by the threads of
/// `pool`; memory use does not grow with the number of rows.
///
/// # Errors
/// If the elements cannot be read, or the file cannot be written.
pub fn write_parquet(tabular: &Tabular<'_>, pool: &Pool, out: &mut dyn Write) -> Result<()> {
    let schema = schema(tabular, Home::File(tabular));
    let mut file = ParquetFile::new(&schema)?;
    record_batches(tabular, &schema, Home::File(tabular), &mut |rows| {
        file.add(&rows, &schema, pool)?;
        if file.rows >= GROUP_ROWS {
            file.end_group()?;
        }
        file.write_to(out)
    })?;
    file.end_group()?;
    let end = file.writer.into_inner().map_err(failed)?;
    Ok(out.write_all(&end)?)
}

/// A file in memory from which complete row groups are removed.
struct ParquetFile {
    writer: SerializedFileWriter<Vec<u8>>,
    factory: ArrowRowGroupWriterFactory,
    /// The columns of the row group that is being written; empty before its first row.
    columns: Vec<ArrowColumnWriter>,
    /// The number of rows in it.
    rows: usize,
    groups: usize,
}

impl ParquetFile {
    fn new(schema: &SchemaRef) -> Result<ParquetFile> {
        let level = ZstdLevel::try_new(1).map_err(failed)?;
        let mut properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
        add_encoded_arrow_schema_to_metadata(schema, &mut properties);
        let columns = ArrowSchemaConverter::new().convert(schema).map_err(failed)?;
        let writer = SerializedFileWriter::new(Vec::new(), columns.root_schema_ptr(), Arc::new(properties));
        let writer = writer.map_err(failed)?;
        let factory = ArrowRowGroupWriterFactory::new(&writer, Arc::clone(schema));
        Ok(ParquetFile { writer, factory, columns: Vec::new(), rows: 0, groups: 0 })
    }

    fn add(&mut self, rows: &Rows<'_>, schema: &SchemaRef, pool: &Pool) -> Result<()> {
        if self.columns.is_empty() {
            self.columns = self.factory.create_column_writers(self.groups).map_err(failed)?;
        }
        // A column of structs has a writer for each of its leaves.
        let mut writers = self.columns.iter_mut();
        let work = rows.columns().iter().zip(schema.fields()).map(|(column, field)| {
            let own: Vec<_> = writers.by_ref().take(leaves(field.data_type())).collect();
            (column, field, own)
        });
        let work: Vec<_> = work.collect();
        pool.each(work, COLUMN_MEMORY, |(column, field, own), _| {
            let found = compute_leaves(field, &column.array()?).map_err(failed)?;
            own.into_iter().zip(&found).try_for_each(|(writer, leaf)| writer.write(leaf)).map_err(failed)
        })?;
        self.rows += rows.len;
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for column in self.columns.drain(..) {
            column.close().and_then(|chunk| chunk.append_to_row_group(&mut group)).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.rows = 0;
        self.groups += 1;
        Ok(())
    }

    /// Moves the completed bytes to `out`.
    fn write_to(&mut self, out: &mut dyn Write) -> Result<()> {
        let done = self.writer.inner_mut();
        out.write_all(done)?;
        done.clear();
        Ok(())
    }
}

/// The number of Parquet columns that a column of this type has.
fn leaves(of: &arrow_schema::DataType) -> usize {
    match of {
        arrow_schema::DataType::Struct(fields) => fields.iter().map(|field| leaves(field.data_type())).sum(),
        arrow_schema::DataType::LargeList(item) => leaves(item.data_type()),
        _ => 1,
    }
}

fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
            Ok(error) => Error::from(*error),
            Err(cause) => Error::new(ErrorKind::Unsupported, format!("Parquet: {cause}")),
        },
        error => Error::new(ErrorKind::Unsupported, format!("Parquet: {error}")),
    }
}
