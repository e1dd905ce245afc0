//! The options of `show`, and the forms of its output.

use super::{Joining, Output, file};
use crate::command::show::Drawing;
use crate::output::Destination;
use clap::{ArgGroup, Args, ValueEnum};
use hyperslab::Error;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("file").multiple(true))]
pub(crate) struct Show {
    /// An array or an attribute; the same array of several files is joined: 'day*.nc:/t2m'
    #[arg(value_name = "LOCATION", required = true)]
    pub(crate) locations: Vec<String>,
    #[command(flatten)]
    pub(crate) joining: Joining,
    /// Select a part, per dimension: by position in order '0:10:2,:,5' or by name 'time=3,lat=0:90:2'; by coordinate
    /// 'lat=-30..30', 'time=2026-01..2026-03', 'station==oslo', nearest 'lat~=59.9'
    #[arg(short, long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Vec<String>,
    /// Apply CF attributes: dates, scale and offset, missing values, flags as words
    #[arg(long)]
    pub(crate) decode: bool,
    /// Print all elements of a large array even on a terminal, through the pager in PAGER or `less`
    #[arg(long)]
    pub(crate) all: bool,
    /// Draw a line or a heat map, decoded: on the terminal, or to a file that ends in .png or .svg
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-", value_parser = picture, group = "file", conflicts_with_all = ["form", "json", "all"])]
    plot: Option<PathBuf>,
    /// With --plot: the dimension of the line, or the vertical and the horizontal one of the heat map: lat,lon
    #[arg(long, value_name = "DIM,…", value_delimiter = ',', requires = "plot")]
    pub(crate) axes: Vec<String>,
    /// The form of the output [default: by the extension of the file of -o, otherwise table]
    #[arg(long = "as", value_name = "FORM")]
    form: Option<Form>,
    /// Same as --as json
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

impl Show {
    /// The requested form, that of the extension of the output, or a table.
    ///
    /// # Errors
    /// If the extension belongs to a kind of file that is not written here.
    pub(crate) fn form(&self) -> Result<Form, Error> {
        if let Some(form) = self.json.then_some(Form::Json).or(self.form) {
            return Ok(form);
        }
        let file = self.to.file();
        let extension = file.and_then(Path::extension).and_then(|of| of.to_str()).unwrap_or_default();
        if let (Some(file), Some((_, instead))) = (file, NOT_FORMS.iter().find(|(of, _)| *of == extension)) {
            let detail = format!("values are not written as .{extension}");
            return Err(Error::invalid(detail).in_file(file.display()).with_hint(instead));
        }
        Ok(Form::of_extension(extension).unwrap_or(Form::Table))
    }

    /// Whether values are drawn instead of printed.
    pub(crate) fn is_drawn(&self) -> bool {
        self.plot.is_some()
    }

    /// The form of the drawing: that of the extension of its file, or text.
    pub(crate) fn drawing(&self) -> Drawing {
        let extension = self.destination().file.and_then(|file| file.extension()?.to_str());
        extension.and_then(Drawing::of_extension).unwrap_or(Drawing::Text)
    }

    /// Whether both options for a file name one.
    pub(crate) fn has_two_files(&self) -> bool {
        file(self.plot.as_deref()).is_some() && self.to.file().is_some()
    }

    /// Whether an old file should be replaced, and none is written.
    pub(crate) fn overwrites_nothing(&self) -> bool {
        let Destination { file, overwrite, .. } = self.destination();
        overwrite && file.is_none()
    }

    pub(crate) fn destination(&self) -> Destination<'_> {
        let destination = self.to.destination();
        let file = file(self.plot.as_deref()).or(destination.file);
        Destination { file, pages: self.all, ..destination }
    }
}

/// The file of a picture; `-` for the terminal.
fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().and_then(|extension| extension.to_str());
    match text == "-" || extension.is_some_and(|extension| Drawing::of_extension(extension).is_some()) {
        true => Ok(path),
        false => Err("expected a name that ends in .png or .svg".to_owned()),
    }
}

/// Extensions of files that are not form of values, and what to write instead.
const NOT_FORMS: &[(&str, &str)] = &[
    ("xlsx", "write .csv, which spreadsheets open"),
    ("xls", "write .csv, which spreadsheets open"),
    ("ods", "write .csv, which spreadsheets open"),
    ("nc", "`hyperslab convert` writes stores of arrays"),
    ("h5", "`hyperslab convert` writes stores of arrays"),
    ("hdf5", "`hyperslab convert` writes stores of arrays"),
    ("zarr", "`hyperslab convert` writes stores of arrays"),
    ("pkl", "write .parquet or .npy, which Python reads"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Aligned columns
    Table,
    /// Comma-separated values: a row for each element, with its coordinates
    Csv,
    /// Tab-separated values, as csv
    Tsv,
    /// A list of rows as in csv, each an object; a single value as it is
    Json,
    /// Nested JSON lists, one level for each dimension
    Lists,
    /// Comma-separated values alone, a line for each row of the last dimension
    Matrix,
    /// An Apache Parquet file with the rows of csv
    #[cfg(feature = "arrow")]
    Parquet,
    /// An Apache Arrow IPC file, also known as Feather, with the rows of csv
    #[cfg(feature = "arrow")]
    Arrow,
    /// A NumPy file
    Npy,
    /// Only the bytes of the elements, little-endian
    Raw,
}

impl Form {
    /// The form that the name of a file asks for.
    pub(crate) fn of_file(name: &str) -> Option<Form> {
        Form::of_extension(Path::new(name).extension()?.to_str()?)
    }

    fn of_extension(extension: &str) -> Option<Form> {
        Some(match extension {
            "csv" => Form::Csv,
            "tsv" => Form::Tsv,
            "json" => Form::Json,
            "npy" => Form::Npy,
            #[cfg(feature = "arrow")]
            "parquet" => Form::Parquet,
            #[cfg(feature = "arrow")]
            "arrow" | "feather" => Form::Arrow,
            _ => return None,
        })
    }

    /// Whether the output is not a text.
    pub(crate) fn is_binary(self) -> bool {
        match self {
            Form::Table | Form::Csv | Form::Tsv | Form::Json | Form::Lists | Form::Matrix => false,
            #[cfg(feature = "arrow")]
            Form::Parquet | Form::Arrow => true,
            Form::Npy | Form::Raw => true,
        }
    }
}
