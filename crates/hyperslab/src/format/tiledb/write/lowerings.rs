//! Content that TileDB loses or stores in another form: what replaces it, and whether a record restores it.

use crate::target::{Fate, Loss, lowerings};

lowerings! {
    BYTES: "type that TileDB does not have" => "bytes", Fate::Restored;
    MEMBERS: "compound that is collected with other arrays" => "an attribute for each member", Fate::Restored;
    BOOLEAN: "enumeration of FALSE and TRUE" => "booleans", Fate::Restored;
    NUMBERS: "enumeration that does not count from 0" => "integers", Fate::Restored;
    COMPLEX: "complex numbers" => "two values a cell", Fate::Restored;
    REFERENCES: "references" => "paths as strings", Fate::Restored;
    TEXTS: "UTF-32 strings" => "strings of variable length", Fate::Changed;
    NESTED: "elements with variable-length parts" => "JSON strings", Fate::Restored;
    NOT_UNICODE: "strings that are not UTF-8" => "variable-length bytes", Fate::Restored;
    PADDING: "padded strings" => "strings padded with zeros", Fate::Restored;
    NAMED_TYPE: "committed datatype" => "the type in each array", Fate::Restored;
    INNER_NAMED_TYPE: "committed datatype within a type" => "the type itself", Fate::Lost(Loss::Names);
    DATATYPE: "committed datatype as an object" => "a record in its group", Fate::Restored;
    DIMENSION: "dimension without coordinates" => "a record in its group", Fate::Restored;
    LINK: "link" => "a record in its group", Fate::Restored;
    NULL_SPACE: "null dataspace" => "an array without cells", Fate::Restored;
    SCALAR: "scalar" => "an array of one cell along the dimension __scalars", Fate::Restored;
    EMPTY: "dimension of length 0" => "a domain of one cell", Fate::Restored;
    UNNAMED: "dimension without a name" => "a generated name", Fate::Restored;
    DIMENSION_NAME: "dimension name that occurs twice in an array, is the name of its values, or denotes another length elsewhere in its group" => "another name", Fate::Restored;
    FILL: "fill value that TileDB does not have" => "its default", Fate::Restored;
    DOMAIN: "domain of a dimension" => "a record", Fate::Restored;
    DOMAIN_START: "domain with its first written cell within a tile" => "a domain that begins later", Fate::Changed;
    UNCOUNTED: "dimension without a length" => "a dimension of length 0", Fate::Lost(Loss::Names);
    NATIVE: "content that only the format of the source has" => "a record", Fate::Restored;
    ATTRIBUTE_TYPE: "type or shape of an attribute" => "numbers or JSON in metadata", Fate::Restored;
    ATTRIBUTE_NAME: "attribute with a reserved name" => "a record", Fate::Restored;
    ATTRIBUTE_STORAGE: "storage of attributes" => "a record", Fate::Restored;
    UNREADABLE_ATTRIBUTE: "attribute that cannot be read" => "nothing", Fate::Lost(Loss::Unreadable);
    ORDER: "order of members or attributes" => "a record", Fate::Restored;
    FILTERS: "filters that TileDB does not have" => "Zstandard", Fate::Changed;
    REFUSED: "filters that cannot encode all elements" => "Zstandard", Fate::Changed;
    CHECKSUM: "checksum" => "MD5", Fate::Changed;
    SHARDS: "shards" => "their inner chunks", Fate::Changed;
    CHUNKS: "chunks longer than their domain" => "tiles of its length", Fate::Changed;
    COLLECTED_TILES: "chunks other than those of another array that is collected with this one" => "the same tiles", Fate::Changed;
    LAYOUT: "storage without chunks" => "tiles", Fate::Changed;
    BYTE_ORDER: "big-endian order" => "little-endian", Fate::Changed;
    UNWRITTEN: "chunks that were never written, more than can be filled" => "fragments of what was written", Fate::Changed;
    LABELS: "labels of a dimension in no order, stored elsewhere, or of cells" => "nothing", Fate::Lost(Loss::Labels);
    LABEL_ATTRIBUTE: "attribute of labels" => "nothing", Fate::Lost(Loss::Attributes);
}
