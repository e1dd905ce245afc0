//! Names of filters and of their parameters.

/// A filter that NDL names.
pub(super) struct Known {
    pub(super) name: &'static str,
    /// Its parameters, the main one first.
    pub(super) parameters: &'static [&'static str],
}

impl Known {
    /// The parameter that the short form has.
    pub(super) fn main(&self) -> Option<&'static str> {
        self.parameters.first().copied().filter(|_| self.name != "lz4")
    }

    /// Whether this is the name of the main parameter for integers.
    pub(super) fn is_bits(&self, parameter: &str) -> bool {
        self.name == "scaleoffset" && parameter == "bits"
    }

    /// Whether the filter has this parameter. Every filter can have `optional`.
    pub(super) fn has(&self, parameter: &str) -> bool {
        parameter == "optional" || self.parameters.contains(&parameter) || self.parameters.is_empty()
    }
}

/// The filter with this NDL name or alias.
pub(super) fn known(name: &str) -> Option<Known> {
    let name = match name {
        "zlib" => "deflate",
        "byteshuffle" => "shuffle",
        name => name,
    };
    let entry = FILTERS.iter().find(|(known, _)| *known == name);
    let described =
        || DESCRIBED.iter().find(|known| **known == name).map(|name| Known { name, parameters: &[] });
    entry.map(|(name, parameters)| Known { name, parameters }).or_else(described)
}

/// All filters that NDL names.
pub(super) fn names() -> Vec<&'static str> {
    FILTERS.iter().map(|(name, _)| *name).chain(DESCRIBED.iter().copied()).collect()
}

const FILTERS: &[(&str, &[&str])] = &[
    ("deflate", &["level"]),
    ("gzip", &["level"]),
    ("zstd", &["level", "checksum"]),
    ("lz4", &["block", "acceleration", "level"]),
    ("bzip2", &["level"]),
    ("blosc", &["codec", "level", "shuffle", "block", "bytes"]),
    ("blosc2", &["codec", "level", "shuffle", "block", "bytes"]),
    ("lzf", &[]),
    ("szip", &["coding", "pixels"]),
    ("lzma", &["preset", "format"]),
    ("pcodec", &["level"]),
    ("zfp", &["mode", "rate", "precision", "accuracy", "minbits", "maxbits", "maxprec", "minexp"]),
    ("shuffle", &["bytes"]),
    ("bitshuffle", &["codec", "level", "block"]),
    ("nbit", &[]),
    ("scaleoffset", &["digits", "bits"]),
    ("bitround", &["bits"]),
    ("quantize", &["digits"]),
    ("bitgroom", &["digits"]),
    ("granularbitround", &["digits"]),
    ("fixedscaleoffset", &["offset", "scale", "from", "to"]),
    ("astype", &["from", "to"]),
    ("scalefloat", &["scale", "offset", "bytes"]),
    ("delta", &["type"]),
    ("doubledelta", &["type"]),
    ("positivedelta", &["window"]),
    ("bitwidth", &["window"]),
    ("rle", &[]),
    ("dictionary", &[]),
    ("xor", &[]),
    ("noop", &[]),
    ("webp", &["quality", "format", "lossless"]),
    ("packbits", &["padding"]),
    ("transpose", &["order"]),
    ("fletcher32", &[]),
    ("crc32c", &[]),
    ("crc32", &[]),
    ("adler32", &[]),
    ("jenkins", &[]),
    ("md5", &[]),
    ("sha256", &[]),
];

/// HDF5 filters with a name and parameters of their own.
const DESCRIBED: &[&str] = &[
    "lzo",
    "mafisc",
    "snappy",
    "apax",
    "cbf",
    "jpegxr",
    "spdp",
    "lpcrice",
    "ccsds123",
    "jpegls",
    "fpzip",
    "b3d",
    "sz",
    "fcidecomp",
    "jpeg",
    "vbz",
    "fapec",
    "sz3",
    "deltarice",
    "flac",
    "sperr",
    "terse",
    "ffmpeg",
];
