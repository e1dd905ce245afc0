//! Content that Zarr loses or stores in another form: what replaces it, and whether a record restores it.

use crate::target::{Fate, Loss, lowerings};

lowerings! {
    ENUM: "enumeration" => "integers", Fate::Restored,
        without a record "integers", Fate::Lost(Loss::Labels);
    BOOLEAN: "enumeration of FALSE and TRUE" => "booleans", Fate::Restored,
        without a record "booleans", Fate::Changed;
    COMPLEX: "compound of r and i" => "complex numbers", Fate::Restored,
        without a record "complex numbers", Fate::Changed;
    TAGGED_TIME: "times of NumPy in opaque elements" => "datetimes", Fate::Restored,
        without a record "datetimes", Fate::Changed;
    ARRAY_TYPE: "array type" => "additional dimensions", Fate::Restored,
        without a record "additional dimensions", Fate::Lost(Loss::Types);
    SEQUENCE: "variable-length sequences" => "variable-length bytes", Fate::Restored,
        without a record "variable-length bytes", Fate::Lost(Loss::Types);
    REFERENCES: "references" => "paths as strings", Fate::Restored,
        without a record "paths as strings", Fate::Lost(Loss::Types);
    NESTED: "elements with variable-length parts" => "JSON strings", Fate::Restored,
        without a record "JSON strings", Fate::Lost(Loss::Types);
    NOT_UNICODE: "strings that are not UTF-8" => "variable-length bytes", Fate::Restored,
        without a record "variable-length bytes", Fate::Lost(Loss::Types);
    SPACES: "space-padded strings that Zarr cannot hold" => "strings with their spaces", Fate::Restored,
        without a record "strings with their spaces", Fate::Changed;
    OTHER_TYPE: "type that Zarr does not have" => "a type with the same bytes", Fate::Restored,
        without a record "a type with the same bytes", Fate::Lost(Loss::Types);
    NAMED_TYPE: "committed datatype" => "the type in each array", Fate::Restored,
        without a record "the type in each array", Fate::Lost(Loss::Names);
    DATATYPE: "committed datatype as an object" => "a record in its group", Fate::Restored,
        without a record "nothing", Fate::Lost(Loss::Types);
    NULL_SPACE: "null dataspace" => "an array without elements", Fate::Restored,
        without a record "an array without elements", Fate::Changed;
    FILL: "unused fill value that Zarr cannot hold" => "a record", Fate::Restored,
        without a record "another fill value", Fate::Changed;
    UNLIMITED: "extendible dimension" => "its current size", Fate::Restored,
        without a record "its current size", Fate::Lost(Loss::Unlimited);
    NO_ARRAYS: "dimension without arrays" => "a record", Fate::Restored,
        without a record "nothing", Fate::Lost(Loss::Names);
    SHORT: "array shorter than its dimensions" => "fill values up to their lengths", Fate::Restored,
        without a record "fill values up to their lengths", Fate::Changed;
    DOMAIN: "domain of a dimension" => "a record", Fate::Restored,
        without a record "nothing", Fate::Lost(Loss::Attributes);
    NATIVE: "content that only the format of the source has" => "a record", Fate::Restored,
        without a record "nothing", Fate::Lost(Loss::Attributes);
    OUTER_DIMENSION: "dimension of a parent group" => "its name", Fate::Restored,
        without a record "its name", Fate::Lost(Loss::Names);
    UNNAMED: "dimension without a name" => "a generated name", Fate::Restored,
        without a record "a generated name", Fate::Changed;
    AMBIGUOUS_NAME: "dimension name that arrays of a group use differently" => "the name, which xarray may refuse",
        Fate::Changed;
    REPEATED_NAME: "dimension used twice in one array" => "its name twice; tensorstore refuses the array", Fate::Changed;
    ATTRIBUTE_TYPE: "type of an attribute" => "JSON", Fate::Restored,
        without a record "JSON", Fate::Lost(Loss::Types);
    ATTRIBUTE_STORAGE: "storage of attributes" => "JSON", Fate::Restored,
        without a record "JSON", Fate::Changed;
    NOT_FINITE: "NaN or infinity in an attribute" => "a bare word, as in zarr-python; tensorstore refuses it",
        Fate::Changed;
    ATTRIBUTE_NAME: "attribute with a reserved name" => "a record", Fate::Restored,
        without a record "nothing", Fate::Lost(Loss::Attributes);
    MISSING: "fill value that marks missing values" => "the attribute _FillValue", Fate::Restored,
        without a record "the attribute _FillValue", Fate::Changed;
    NAME: "name that Zarr forbids" => "an encoded name", Fate::Restored,
        without a record "an encoded name", Fate::Lost(Loss::Names);
    CLASH: "name that differs from another only in case" => "an encoded name", Fate::Restored,
        without a record "an encoded name", Fate::Lost(Loss::Names);
    CASE: "names that differ only in case" => "the same names, which cannot both exist in a folder on Windows or macOS",
        Fate::Changed;
    HARD_LINK: "second path" => "a record in its group", Fate::Restored,
        without a record "nothing", Fate::Lost(Loss::Links);
    SOFT_LINK: "soft link" => "a record in its group", Fate::Restored,
        without a record "nothing", Fate::Lost(Loss::Links);
    EXTERNAL_LINK: "external link" => "a record in its group", Fate::Restored,
        without a record "nothing", Fate::Lost(Loss::Links);
    USER_LINK: "user-defined link" => "a record in its group", Fate::Restored,
        without a record "nothing", Fate::Lost(Loss::Links);
    MEMBER_ORDER: "order of members" => "a record", Fate::Restored,
        without a record "the order of names", Fate::Changed;
    INNER_NAMED_TYPE: "committed datatype in an attribute or a type" => "the type itself", Fate::Changed;
    STRUCT: "compound type" => "struct; zarr-python 3.1 needs zarr.struct=legacy", Fate::Changed;
    BIG_ENDIAN: "big-endian order" => "little-endian, for zarr-python", Fate::Restored,
        without a record "little-endian, for zarr-python", Fate::Changed;
    BYTE_ORDER: "mixed byte orders" => "little-endian", Fate::Restored,
        without a record "little-endian", Fate::Changed;
    PADDING: "padded strings" => "strings padded with zeros", Fate::Restored,
        without a record "strings padded with zeros", Fate::Changed;
    LAYOUT: "storage without chunks" => "chunks", Fate::Restored,
        without a record "chunks", Fate::Changed;
    GZIP: "filters that few readers of Zarr support" => "gzip", Fate::Restored,
        without a record "gzip", Fate::Changed;
    BLOSC_ZLIB: "filters that few readers of Zarr support" => "Blosc with zlib", Fate::Restored,
        without a record "Blosc with zlib", Fate::Changed;
    BLOSC_ZSTD: "filters that few readers of Zarr support" => "Blosc with Zstandard", Fate::Restored,
        without a record "Blosc with Zstandard", Fate::Changed;
    BLOSC_LZ4: "filters that few readers of Zarr support" => "Blosc with LZ4", Fate::Restored,
        without a record "Blosc with LZ4", Fate::Changed;
    BLOSC: "Blosc 2" => "Blosc", Fate::Restored,
        without a record "Blosc", Fate::Changed;
    FILTERS: "filters that Zarr does not have" => "Zstandard", Fate::Restored,
        without a record "Zstandard", Fate::Changed;
    UNFILTERED: "shuffles without compression" => "no filter", Fate::Restored,
        without a record "no filter", Fate::Changed;
    CHECKSUM: "checksums that few readers of Zarr have" => "CRC32C", Fate::Restored,
        without a record "CRC32C", Fate::Changed;
    UNREGISTERED: "requested filters" => "codecs that only readers with numcodecs have", Fate::Changed;
    SNAPPY: "Snappy in Blosc, which was asked for" => "Blosc with Snappy, which zarr-python does not read", Fate::Changed;
    REFUSED: "filters that cannot encode all elements" => "Zstandard", Fate::Restored,
        without a record "Zstandard", Fate::Changed;
    UNSETTLED: "filters that would change elements a second time" => "Zstandard", Fate::Restored,
        without a record "Zstandard", Fate::Changed;
    PADDED: "chunks many times larger than their array" => "chunks of its shape", Fate::Restored,
        without a record "chunks of its shape", Fate::Changed;
    SHARDS: "shards" => "their inner chunks", Fate::Changed;
    UNCONSOLIDATED: "type that zarr-python 3.1 does not read" => "no consolidated metadata, so that it opens the store", Fate::Changed;
    CODEC_ORDER: "checksums before a shuffle" => "checksums behind it", Fate::Restored,
        without a record "checksums behind it", Fate::Changed;
    ORDER: "transposed storage" => "row-major chunks", Fate::Restored,
        without a record "row-major chunks", Fate::Changed;
    MASKED_FILL: "fill value of unwritten elements" => "a missing value in xarray", Fate::Changed;
    UNDEFINED_FILL: "undefined fill value" => "zeros or spaces", Fate::Restored,
        without a record "zeros or spaces", Fate::Changed;
    PRECISION: "elements that the requested filters change" => "rounded elements", Fate::Lost(Loss::Precision);
    SPARSE: "sparse array" => "a table: an array for each column of its cells", Fate::Restored;
    UNCOUNTED: "dimension without a length" => "a dimension of length 0", Fate::Lost(Loss::Names);
    UNREADABLE_ATTRIBUTE: "attribute that cannot be read" => "nothing", Fate::Lost(Loss::Unreadable);
}
