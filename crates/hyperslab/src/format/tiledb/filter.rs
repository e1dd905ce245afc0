//! Filters under NDL's names, or as they are stored if NDL lacks the name or a parameter.

use super::TILEDB;
use crate::filter::filter;
use hyperslab_model::{Directive, Filter};
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
    let is_usual = size == USUAL_MAX_CHUNK || (size == 0 && pipeline.filters.is_empty());
    (!is_usual).then(|| ("max_chunk".to_owned(), Directive::Int(size.into())))
}

/// A filter of the vocabulary. Its default level is stored as -1, and is not stated.
fn named(stored: &StoredFilter) -> Option<Filter> {
    let int = |name: &str, value: i128| vec![(name.to_owned(), Directive::Int(value))];
    let level = |level: i32| match level {
        DEFAULT_LEVEL => Some(Vec::new()),
        0.. => Some(int("level", level.into())),
        _ => None,
    };
    let plain = |level: i32| (level == DEFAULT_LEVEL).then(Vec::new);
    let (name, parameters) = match *stored {
        StoredFilter::Noop => ("noop", Vec::new()),
        StoredFilter::Gzip { level: of } => ("deflate", level(of)?),
        StoredFilter::Zstd { level: of } => ("zstd", level(of)?),
        StoredFilter::Lz4 { level: of } => ("lz4", level(of)?),
        StoredFilter::Bzip2 { level: of } => ("bzip2", level(of)?),
        StoredFilter::Rle { level } => ("rle", plain(level)?),
        StoredFilter::Dictionary { level } => ("dictionary", plain(level)?),
        StoredFilter::DoubleDelta { level, reinterpret: None } => ("doubledelta", plain(level)?),
        StoredFilter::Delta { level, reinterpret: None } => ("delta", plain(level)?),
        StoredFilter::BitWidthReduction { max_window } => ("bitwidth", int("window", max_window.into())),
        StoredFilter::PositiveDelta { max_window } => ("positivedelta", int("window", max_window.into())),
        StoredFilter::Bitshuffle => ("bitshuffle", Vec::new()),
        StoredFilter::Byteshuffle => ("shuffle", Vec::new()),
        StoredFilter::ChecksumMd5 => ("md5", Vec::new()),
        StoredFilter::ChecksumSha256 => ("sha256", Vec::new()),
        StoredFilter::ScaleFloat(ScaleFloat { scale, offset, byte_width }) => {
            let real = |name: &str, value| (name.to_owned(), Directive::Float(value));
            let bytes = ("bytes".to_owned(), Directive::Int(byte_width.into()));
            ("scalefloat", vec![real("scale", scale), real("offset", offset), bytes])
        }
        StoredFilter::Xor => ("xor", Vec::new()),
        StoredFilter::DoubleDelta { .. }
        | StoredFilter::Delta { .. }
        | StoredFilter::Webp(_)
        | StoredFilter::Encryption => return None,
    };
    Some(filter(name, parameters))
}

/// A filter with all that is stored of it, by the names of the C API.
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

fn webp_format(format: WebpFormat) -> &'static str {
    match format {
        WebpFormat::None => "none",
        WebpFormat::Rgb => "rgb",
        WebpFormat::Bgr => "bgr",
        WebpFormat::Rgba => "rgba",
        WebpFormat::Bgra => "bgra",
    }
}

/// The level that stands for the default of a compressor.
const DEFAULT_LEVEL: i32 = -1;

/// The maximum size of a chunk that all libraries write.
pub(super) const USUAL_MAX_CHUNK: u32 = 65_536;
