//! Converts filters in both directions, with their names in NDL, or as stored if NDL has no name for the filter or one
//! of its parameters.

use super::TILEDB;
use super::directives::{Directives, expected};
use crate::filter::filter;
use hyperslab_core::{Result, filter as vocabulary};
use hyperslab_model::{Directive, Filter};
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::filter_pipeline::{
    Filter as StoredFilter, FilterPipeline, ScaleFloat, Webp, WebpFormat,
};

/// The filters of a pipeline.
pub(super) fn filters(pipeline: &FilterPipeline) -> Vec<Filter> {
    pipeline.filters.iter().map(|stored| named(stored).unwrap_or_else(|| raw(stored))).collect()
}

/// The filters of a pipeline as a directive.
pub(super) fn directive(pipeline: &FilterPipeline) -> Directive {
    let one = |filter: Filter| match filter.parameters.is_empty() {
        true => Directive::Text(filter.name),
        false => Directive::Map(vec![(filter.name, Directive::Map(filter.parameters))]),
    };
    Directive::List(filters(pipeline).into_iter().map(one).collect())
}

/// The maximum size of a chunk, unless it is the usual one.
pub(super) fn max_chunk(pipeline: &FilterPipeline) -> Option<(String, Directive)> {
    let size = pipeline.max_chunk_size;
    (size != USUAL_MAX_CHUNK).then(|| (MAX_CHUNK.to_owned(), Directive::Int(size.into())))
}

/// The pipeline for the filters of a document.
///
/// # Errors
/// If TileDB does not have one of the filters or one of its parameters.
pub(super) fn pipeline(filters: &[Filter], max_chunk: Option<u32>) -> Result<FilterPipeline> {
    let filters = filters.iter().map(stored).collect::<Result<_>>()?;
    Ok(FilterPipeline { max_chunk_size: max_chunk.unwrap_or(USUAL_MAX_CHUNK), filters })
}

/// The filters listed in a directive.
///
/// # Errors
/// If the directive is not a list of filters.
pub(super) fn of_directive(key: &str, value: &Directive) -> Result<Vec<Filter>> {
    let wrong = |found: &Directive| {
        let place = format!("storage.{TILEDB}.{key}");
        expected(&place, found, "a list of filters: each a name, or a name with parameters")
    };
    let Directive::List(items) = value else { return Err(wrong(value)) };
    let one = |item: &Directive| {
        let (name, said) = match item {
            Directive::Text(name) => (name, None),
            Directive::Map(entries) => match entries.as_slice() {
                [(name, said)] => (name, Some(said)),
                _ => return Err(wrong(item)),
            },
            _ => return Err(wrong(item)),
        };
        let row = vocabulary::find(name);
        let parameters = match (said, row.and_then(|row| row.main.first())) {
            (None, _) => Vec::new(),
            (Some(Directive::Map(parameters)), _) => parameters.clone(),
            (Some(value), Some(main)) => vec![((*main).to_owned(), value.clone())],
            (Some(_), None) => return Err(wrong(item)),
        };
        Ok(filter(row.map_or(name, |row| row.name), parameters))
    };
    items.iter().map(one).collect()
}

/// A filter of the vocabulary. Its default level is stored as -1 and is not stated.
fn named(stored: &StoredFilter) -> Option<Filter> {
    let (name, _) = NAMED.iter().find(|(_, own)| own.id() == stored.id())?;
    let int = |name: &str, value: i128| vec![(name.to_owned(), Directive::Int(value))];
    let parameters = match *stored {
        StoredFilter::Gzip { level }
        | StoredFilter::Zstd { level }
        | StoredFilter::Lz4 { level }
        | StoredFilter::Bzip2 { level } => match level {
            DEFAULT_LEVEL => Vec::new(),
            0.. => int("level", level.into()),
            _ => return None,
        },
        StoredFilter::Rle { level }
        | StoredFilter::Dictionary { level }
        | StoredFilter::DoubleDelta { level, reinterpret: None }
        | StoredFilter::Delta { level, reinterpret: None } => (level == DEFAULT_LEVEL).then(Vec::new)?,
        StoredFilter::BitWidthReduction { max_window } | StoredFilter::PositiveDelta { max_window } => {
            int("window", max_window.into())
        }
        StoredFilter::ScaleFloat(ScaleFloat { scale, offset, byte_width }) => {
            let real = |name: &str, value| (name.to_owned(), Directive::Float(value));
            let bytes = ("bytes".to_owned(), Directive::Int(byte_width.into()));
            vec![real("scale", scale), real("offset", offset), bytes]
        }
        StoredFilter::Noop
        | StoredFilter::Bitshuffle
        | StoredFilter::Byteshuffle
        | StoredFilter::ChecksumMd5
        | StoredFilter::ChecksumSha256
        | StoredFilter::Xor => Vec::new(),
        StoredFilter::DoubleDelta { .. }
        | StoredFilter::Delta { .. }
        | StoredFilter::Webp(_)
        | StoredFilter::Encryption => return None,
    };
    Some(filter(name, parameters))
}

/// A filter with everything that is stored of it, under the names of the C API.
fn raw(stored: &StoredFilter) -> Filter {
    let mut parameters = vec![("filter".to_owned(), Directive::Text(stored.name().to_owned()))];
    let mut put = |name: &str, value| parameters.push((name.to_owned(), value));
    match *stored {
        StoredFilter::Gzip { level }
        | StoredFilter::Zstd { level }
        | StoredFilter::Lz4 { level }
        | StoredFilter::Bzip2 { level }
        | StoredFilter::Rle { level }
        | StoredFilter::Dictionary { level } => put("level", Directive::Int(level.into())),
        StoredFilter::DoubleDelta { level, reinterpret } | StoredFilter::Delta { level, reinterpret } => {
            if level != DEFAULT_LEVEL {
                put("level", Directive::Int(level.into()));
            }
            if let Some(data_type) = reinterpret {
                put("reinterpret", Directive::Text(data_type.name().to_owned()));
            }
        }
        StoredFilter::Webp(Webp { quality, format, lossless, y_extent, x_extent }) => {
            put("quality", Directive::Float(quality.into()));
            put("format", Directive::Text(webp_format(format).to_owned()));
            put("lossless", Directive::Bool(lossless));
            put("y_extent", Directive::Int(y_extent.into()));
            put("x_extent", Directive::Int(x_extent.into()));
        }
        _ => {}
    }
    filter(TILEDB, parameters)
}

/// Converts a filter of a document, which has a name in NDL or the form of [`raw`]. Omitted parameters have their
/// defaults.
fn stored(filter: &Filter) -> Result<StoredFilter> {
    let mut said = Directives::new(format!("filter {}", filter.name), &filter.parameters);
    // An HDF5 flag, which any filter may have.
    said.take(vocabulary::OPTIONAL);
    let mut stored = match filter.name.as_str() {
        TILEDB => {
            let all = NAMED.iter().map(|(_, filter)| *filter).chain(UNNAMED);
            said.word("filter", all, |filter| filter.name())?.ok_or_else(|| said.missing("filter"))?
        }
        // NDL has separate filters for the zlib stream and the gzip file; the filter of TileDB has the name of one and
        // stores the other.
        "gzip" => StoredFilter::Gzip { level: DEFAULT_LEVEL },
        name => {
            let found = NAMED.iter().find(|(own, _)| *own == name);
            let (_, found) = found.ok_or_else(|| {
                let names = NAMED.map(|(name, _)| name).join(", ");
                hyperslab_core::Error::unsupported(format!(
                    "filter {name}, which TileDB does not have, expected one of {names}"
                ))
            })?;
            *found
        }
    };
    match &mut stored {
        StoredFilter::Gzip { level }
        | StoredFilter::Zstd { level }
        | StoredFilter::Lz4 { level }
        | StoredFilter::Bzip2 { level }
        | StoredFilter::Rle { level }
        | StoredFilter::Dictionary { level } => said.set_int("level", level)?,
        StoredFilter::DoubleDelta { level, reinterpret } | StoredFilter::Delta { level, reinterpret } => {
            said.set_int("level", level)?;
            *reinterpret = said.word("reinterpret", DataType::ALL, DataType::name)?;
        }
        StoredFilter::BitWidthReduction { max_window } | StoredFilter::PositiveDelta { max_window } => {
            said.set_int("window", max_window)?;
        }
        StoredFilter::ScaleFloat(ScaleFloat { scale, offset, byte_width }) => {
            *scale = said.real("scale")?.unwrap_or(*scale);
            *offset = said.real("offset")?.unwrap_or(*offset);
            said.set_int("bytes", byte_width)?;
        }
        StoredFilter::Webp(Webp { quality, format, lossless, y_extent, x_extent }) => {
            *quality = said.single("quality")?.unwrap_or(*quality);
            *format = said.word("format", WEBP_FORMATS, webp_format)?.unwrap_or(*format);
            *lossless = said.boolean("lossless")?.unwrap_or(*lossless);
            said.set_int("y_extent", y_extent)?;
            said.set_int("x_extent", x_extent)?;
        }
        StoredFilter::Noop
        | StoredFilter::Bitshuffle
        | StoredFilter::Byteshuffle
        | StoredFilter::Encryption
        | StoredFilter::ChecksumMd5
        | StoredFilter::ChecksumSha256
        | StoredFilter::Xor => {}
    }
    said.finish()?;
    Ok(stored)
}

fn webp_format(format: WebpFormat) -> &'static str {
    match format {
        WebpFormat::None => "none",
        WebpFormat::Rgb => "rgb",
        WebpFormat::Bgr => "bgr",
        WebpFormat::Rgba => "rgba",
        WebpFormat::Bgra => "bgra",
    }
}

const WEBP_FORMATS: [WebpFormat; 5] =
    [WebpFormat::None, WebpFormat::Rgb, WebpFormat::Bgr, WebpFormat::Rgba, WebpFormat::Bgra];

/// The filters that have a name in NDL, with their default options.
const NAMED: [(&str, StoredFilter); 17] = [
    ("noop", StoredFilter::Noop),
    ("deflate", StoredFilter::Gzip { level: DEFAULT_LEVEL }),
    ("zstd", StoredFilter::Zstd { level: DEFAULT_LEVEL }),
    ("lz4", StoredFilter::Lz4 { level: DEFAULT_LEVEL }),
    ("rle", StoredFilter::Rle { level: DEFAULT_LEVEL }),
    ("bzip2", StoredFilter::Bzip2 { level: DEFAULT_LEVEL }),
    ("doubledelta", StoredFilter::DoubleDelta { level: DEFAULT_LEVEL, reinterpret: None }),
    ("bitwidth", StoredFilter::BitWidthReduction { max_window: 256 }),
    ("bitshuffle", StoredFilter::Bitshuffle),
    ("shuffle", StoredFilter::Byteshuffle),
    ("positivedelta", StoredFilter::PositiveDelta { max_window: 1024 }),
    ("md5", StoredFilter::ChecksumMd5),
    ("sha256", StoredFilter::ChecksumSha256),
    ("dictionary", StoredFilter::Dictionary { level: DEFAULT_LEVEL }),
    ("scalefloat", StoredFilter::ScaleFloat(ScaleFloat { scale: 1.0, offset: 0.0, byte_width: 8 })),
    ("xor", StoredFilter::Xor),
    ("delta", StoredFilter::Delta { level: DEFAULT_LEVEL, reinterpret: None }),
];

/// The other filters. `webp` in NDL has no extents.
const UNNAMED: [StoredFilter; 2] = [
    StoredFilter::Webp(Webp {
        quality: 100.0,
        format: WebpFormat::None,
        lossless: false,
        y_extent: 0,
        x_extent: 0,
    }),
    StoredFilter::Encryption,
];

/// The level that represents the default of a compressor.
const DEFAULT_LEVEL: i32 = -1;

/// The directive that states the maximum size of a chunk.
pub(super) const MAX_CHUNK: &str = "max_chunk";

/// The maximum size of a chunk as written by all libraries.
pub(super) const USUAL_MAX_CHUNK: u32 = 65_536;
