//! The options of a layout, as values and as text, independent of the arrays to which they apply.

use crate::location::is_pattern;
use crate::size;
use hyperslab_core::{Error, Result};
use hyperslab_model::{ByteOrder, Filter};
use std::str::FromStr;

/// How an array is divided into chunks or shards. The text form is `8,256,256`, `time=8,lat=256`, `4MiB`, `whole`,
/// `keep` or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// As in the source.
    Keep,
    /// No chunks or shards.
    None,
    /// One chunk or shard for the whole array.
    Whole,
    /// The shape in elements. For arrays with that number of dimensions.
    Shape(Vec<u64>),
    /// The sizes along some dimensions, by name, in elements; the others are as in the source. For arrays with one of
    /// the names.
    Sides(Vec<(String, u64)>),
    /// A shape of about this number of bytes.
    Bytes(u64),
}

/// The filters of arrays. The text form is `shuffle,deflate=4`, an NDL list or map, `keep` or `none`.
#[derive(Clone, Debug, PartialEq)]
pub enum FilterRule {
    /// As in the source.
    Keep,
    /// These filters, in the order of writing; an empty list for none.
    List(Vec<Filter>),
}

/// Splits `/PATTERN:VALUE`. Without a leading slash there is no pattern. A colon inside `[…]` belongs to the pattern.
pub(super) fn parted(option: &str) -> Result<(Option<&str>, &str)> {
    if !option.starts_with('/') {
        return Ok((None, option));
    }
    let (mut class, mut previous) = (None, ' ');
    for (at, c) in option.char_indices() {
        match (c, class) {
            (':', None) => {
                let (pattern, value) = option.split_at_checked(at).unwrap_or((option, ""));
                return Ok((Some(pattern), value.strip_prefix(':').unwrap_or(value)));
            }
            ('[', None) => class = Some(at),
            // A `]` at the start of the brackets is a literal.
            (']', Some(begin)) if at > begin + 1 && !(at == begin + 2 && "!^".contains(previous)) => {
                class = None
            }
            _ => {}
        }
        previous = c;
    }
    let help = if is_pattern(option) { "/**/sst*:4MiB" } else { "/sst:4MiB" };
    Err(Error::invalid(format!("{option:?} has a pattern and no value, expected /PATTERN:VALUE"))
        .with_hint(format_args!("write it like {help}")))
}

impl FromStr for Cut {
    type Err = Error;

    fn from_str(text: &str) -> Result<Cut> {
        cutting(text)
    }
}

impl FromStr for FilterRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<FilterRule> {
        filtering(text)
    }
}

fn cutting(value: &str) -> Result<Cut> {
    let wrong = |what: String| Error::invalid(what).with_hint(CUTTINGS);
    let side = |text: &str| {
        let side = text.trim().parse().ok().filter(|side: &u64| *side > 0);
        side.ok_or_else(|| wrong(format!("{text:?} is not a number of elements, expected at least 1")))
    };
    match value.trim() {
        "keep" => return Ok(Cut::Keep),
        "none" => return Ok(Cut::None),
        "whole" => return Ok(Cut::Whole),
        "" => return Err(wrong("the value is empty".into())),
        _ => {}
    }
    if value.contains('=') {
        let parts = value.split(',').map(|part| match part.rsplit_once('=') {
            Some((name, _)) if name.trim().is_empty() => Err(wrong(format!("{part:?} lacks a name"))),
            Some((name, length)) => Ok((name.trim().to_owned(), side(length)?)),
            None => Err(wrong(format!("{part:?} has no name, although other sizes do"))),
        });
        return Ok(Cut::Sides(parts.collect::<Result<_>>()?));
    }
    // A single number is the chunk of a one-dimensional array.
    if value.ends_with(|c: char| c.is_ascii_alphabetic()) && !value.contains(',') {
        return match size::parse(value.trim()) {
            Some(bytes) if bytes > 0 => Ok(Cut::Bytes(bytes)),
            _ => Err(wrong(format!("{value:?} is neither a shape, a number of bytes nor a word for one"))),
        };
    }
    Ok(Cut::Shape(value.split(',').map(side).collect::<Result<_>>()?))
}

fn filtering(value: &str) -> Result<FilterRule> {
    let list = match value.trim() {
        "keep" => return Ok(FilterRule::Keep),
        "none" => "[]".to_owned(),
        list if list.starts_with('[') => list.to_owned(),
        map if map.starts_with('{') => format!("[{map}]"),
        words => {
            let words = words.split(',').map(|word| match word.trim().split_once('=') {
                Some((name, main)) => Ok(format!("{{{}: {}}}", bare(name)?, bare(main)?)),
                None => bare(word).map(str::to_owned),
            });
            format!("[{}]", words.collect::<Result<Vec<_>>>()?.join(", "))
        }
    };
    let list = hyperslab_ndl::filters(&list, None).map_err(|error| match error.remedies() {
        [] => error.with_hint(FILTERS),
        _ => error,
    })?;
    Ok(FilterRule::List(list))
}

/// A name or a number that needs no quotes in NDL.
fn bare(text: &str) -> Result<&str> {
    let text = text.trim();
    let means_itself = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    match !text.is_empty() && text.chars().all(means_itself) {
        true => Ok(text),
        false => Err(Error::invalid(format!("{text:?} is not a name or number")).with_hint(FILTERS)),
    }
}

/// Parses `little`, `big`, or `keep`, which is `None`.
pub(super) fn endian(value: &str) -> Result<Option<ByteOrder>> {
    match value.trim() {
        "little" => Ok(Some(ByteOrder::Little)),
        "big" => Ok(Some(ByteOrder::Big)),
        "keep" => Ok(None),
        other => Err(Error::invalid(format!("{other:?}, expected little, big or keep"))),
    }
}

const CUTTINGS: &str = "write 8,256,256 or time=8,lat=256 or 4MiB or whole, keep, none";
const FILTERS: &str = "write shuffle,deflate=4 or, for more, NDL: '[{blosc: {codec: zstd, level: 9}}]'";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_ends_at_the_first_colon_outside_brackets() {
        for (option, expected) in [
            ("8,256", (None, "8,256")),
            ("/sst:8,256", (Some("/sst"), "8,256")),
            ("/a/**:[{blosc: {codec: zstd}}]", (Some("/a/**"), "[{blosc: {codec: zstd}}]")),
            ("/a[:]b:4MiB", (Some("/a[:]b"), "4MiB")),
            ("/a[]:]b:4MiB", (Some("/a[]:]b"), "4MiB")),
            ("/a[!]:]b:4MiB", (Some("/a[!]:]b"), "4MiB")),
            ("/a:", (Some("/a"), "")),
        ] {
            assert_eq!(parted(option).unwrap(), expected, "{option}");
        }
        for option in ["/sst", "/a[:4", "/**"] {
            assert!(parted(option).unwrap_err().to_string().contains("expected /PATTERN:VALUE"), "{option}");
        }
    }

    #[test]
    fn parses_shapes_named_sizes_byte_sizes_and_words() {
        let named = |parts: &[(&str, u64)]| {
            Cut::Sides(parts.iter().map(|(name, side)| ((*name).to_owned(), *side)).collect())
        };
        for (text, expected) in [
            ("8,256,256", Cut::Shape(vec![8, 256, 256])),
            (" 8, 256 ", Cut::Shape(vec![8, 256])),
            ("512", Cut::Shape(vec![512])),
            ("time=8,lat=256", named(&[("time", 8), ("lat", 256)])),
            ("/a/time=8", named(&[("/a/time", 8)])),
            ("4MiB", Cut::Bytes(4 << 20)),
            ("512B", Cut::Bytes(512)),
            ("1.5K", Cut::Bytes(1536)),
            ("whole", Cut::Whole),
            ("keep", Cut::Keep),
            ("none", Cut::None),
        ] {
            assert_eq!(cutting(text).unwrap(), expected, "{text}");
        }
        for (text, expected) in [
            ("8,x", "\"x\" is not a number of elements, expected at least 1"),
            ("0", "\"0\" is not a number of elements, expected at least 1"),
            ("8,,8", "\"\" is not a number of elements"),
            ("time=8,256", "\"256\" has no name, although other sizes do"),
            ("=8", "\"=8\" lacks a name"),
            ("time=many", "\"many\" is not a number of elements"),
            ("4Mib", "\"4Mib\" is neither a shape, a number of bytes nor a word for one"),
            ("0MiB", "\"0MiB\" is neither"),
            ("auto", "\"auto\" is neither"),
            ("", "the value is empty"),
            ("-1", "\"-1\" is not a number"),
            ("99999999999999999999", "is not a number"),
        ] {
            let error = cutting(text).unwrap_err().to_string();
            assert!(error.starts_with(expected) || error.contains(expected), "{text}: {error}");
            assert!(error.ends_with(&format!("\nhelp: {CUTTINGS}")), "{text}: {error}");
        }
    }

    #[test]
    fn parses_the_short_form_of_filters_as_ndl_does() {
        let list = |text: &str| match filtering(text).unwrap() {
            FilterRule::List(list) => {
                list.iter().map(|filter| filter.name.clone()).collect::<Vec<_>>().join(",")
            }
            FilterRule::Keep => "keep".into(),
        };
        assert_eq!(list("shuffle,deflate=4, fletcher32"), "shuffle,deflate,fletcher32");
        assert_eq!(list("blosc=zstd"), "blosc");
        assert_eq!(list("zstd=-3"), "zstd");
        assert_eq!(list("{blosc: {codec: zstd, level: 9}}"), "blosc");
        assert_eq!(list("[{hdf5: {id: 40000, values: [1, 2]}}]"), "hdf5");
        assert_eq!((list("none"), list("keep")), (String::new(), "keep".into()));
        for (text, expected) in [
            ("deflat", "unknown filter \"deflat\"\nhelp: did you mean deflate?"),
            ("gzip=4,none", "unknown filter \"none\""),
            ("shuffle,", "\"\" is not a name or number"),
            ("deflate=[4]", "\"[4]\" is not a name or number"),
            ("lz4=1", "lz4 with a single parameter, but it has no main parameter"),
            ("[{zstd: {levle: 3}}]", "did you mean level?"),
            ("[zstd", "\nhelp: "),
            ("[a]\n[b]", "\nhelp: "),
        ] {
            let error = filtering(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.contains("\nhelp: "), "{text}: {error}");
        }
    }
}
