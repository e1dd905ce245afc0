//! The table of rules.

hyperslab_core::rules! {
    NO_NODE Error "zarr/no-node" in "v3 Hierarchy, v2 Storage" "there is no document of a group or an array in the store";
    ZIP Error "zarr/zip" in "APPNOTE.TXT 4.3" "the zip file cannot be read as a store"
        => "unpack it with another program, look at what comes out and pack that again";
    VALUE Error "zarr/value" in "v3 Abstract store interface" "a value of the store cannot be read";
    LINK Error "zarr/link" in "v3 File system store"
        "a name leads out of the store, in a circle or to nothing, or is no regular file"
        => "put the file itself in the place of the link; nothing outside of a store is ever read";
    JSON Error "zarr/json" in "RFC 8259" "a document is not JSON";
    TEXT_ENCODING Error "zarr/text-encoding" in "RFC 8259 8.1" "a document is not UTF-8";
    DUPLICATE_NAME Error "zarr/duplicate-name" in "RFC 8259 4" "an object of a document has a name twice"
        => "readers take either of the values; remove the one that is not meant";
    NOT_FINITE Error "zarr/not-finite" in "RFC 8259 6" "a number is NaN or infinite, which JSON does not have"
        => "write it as the string \"NaN\", \"Infinity\" or \"-Infinity\"";
    DOCUMENT Error "zarr/document" in "v3 Metadata, v2 Storage" "a document is no object, or a member of it is not as it must be";
    MISSING_MEMBER Error "zarr/missing-member" in "v3 Array metadata, v2 Metadata" "a document lacks a member that it must have";
    VERSION Error "zarr/version" in "v3 zarr_format, v2 Metadata" "a document is of another version of Zarr than its name";
    NODE_TYPE Error "zarr/node-type" in "v3 node_type" "a document says that it is of a group and of an array"
        => "set \"node_type\" to what the other members are of";
    TWO_KINDS Error "zarr/two-kinds" in "v2 Hierarchies" "a node has both .zarray and .zgroup"
        => "remove the document that is not meant; the array counts";
    NODE_IN_ARRAY Error "zarr/node-in-array" in "v3 Hierarchy" "a document lies below an array, which has no children"
        => "move the node beside the array; nothing finds it where it is";
    RESERVED_NAME Error "zarr/reserved-name" in "v3 Node names" "a node has a name that no node may have"
        => "rename the folder; readers leave out names that are reserved";
    SHAPE Error "zarr/shape" in "v3 shape, v2 Metadata" "a shape is no list of integers from 0 to 2^64 - 1";
    SIZE Error "zarr/size" in "v3 chunk_grid, v2 chunks" "a chunk would have 2^63 bytes or more";
    DATA_TYPE Error "zarr/data-type" in "v3 data_type, v2 Data type encoding" "a data type contradicts itself";
    CHUNK_GRID Error "zarr/chunk-grid" in "v3 Chunk grids, v2 chunks"
        "chunks are of no elements, of other dimensions than the array, or do not reach its end";
    CHUNK_KEY_ENCODING Error "zarr/chunk-key-encoding" in "v3 Chunk key encodings, v2 dimension_separator"
        "the keys of chunks are told in a way that there is not";
    FILL_VALUE Error "zarr/fill-value" in "v3 fill_value, v2 Fill value encoding" "a fill value is no element of the data type";
    ORDER Error "zarr/order" in "v2 Metadata" "the order of elements is neither C nor F";
    CODECS Error "zarr/codecs" in "v3 Codecs, v2 Filters" "codecs cannot be applied in this order or with these parameters";
    SHARD_SHAPE Error "zarr/shard-shape" in "v3 Sharding codec" "inner chunks do not fill their shard evenly";
    ATTRIBUTES Error "zarr/attributes" in "v3 attributes, v2 Attributes" "attributes are no object";
    DIMENSION_NAMES Error "zarr/dimension-names" in "v3 dimension_names" "dimension names are not as many as dimensions, or no strings";
    STORAGE_TRANSFORMERS Error "zarr/storage-transformers" in "v3 storage_transformers" "storage transformers are no list of extensions";
    CONSOLIDATED Error "zarr/consolidated" in "zarr-python Consolidated metadata" "consolidated metadata is not as it must be";
    CONSOLIDATED_EXTRA Error "zarr/consolidated-extra" in "zarr-python Consolidated metadata"
        "consolidated metadata has a document that the store does not have"
        => "consolidate again: readers that believe it see a node that is gone";
    CONSOLIDATED_DIFFERENT Error "zarr/consolidated-different" in "zarr-python Consolidated metadata"
        "consolidated metadata has another document than the store"
        => "consolidate again: what is read depends on whether the reader believes it";
    SHARD_INDEX Error "zarr/shard-index" in "v3 Sharding codec" "a shard is too short for its index, or an entry of the index is half empty";
    SHARD_INDEX_CHECKSUM Error "zarr/shard-index-checksum" in "v3 Sharding codec"
        "the checksum of a shard index is not that of its bytes"
        => "nothing tells where the chunks of this shard lie; write it again";
    SHARD_RANGE Error "zarr/shard-range" in "v3 Sharding codec" "an inner chunk reaches outside of its shard or into the index";
    SHARD_OVERLAP Error "zarr/shard-overlap" in "v3 Sharding codec" "inner chunks of a shard share a part of their bytes";
    CHUNK_SIZE Error "zarr/chunk-size" in "v3 Bytes codec, v2 Chunks" "a chunk is stored in another number of bytes than its elements take";
    CHUNK_CHECKSUM Error "zarr/chunk-checksum" in "v3 CRC32C codec, numcodecs" "the checksum of a chunk is not that of its bytes"
        => "write the chunk again from its source";
    CHUNK_DATA Error "zarr/chunk-data" in "v3 Codecs, v2 Chunks" "the bytes of a chunk are not what its codecs make"
        => "write the chunk again from its source";

    MUST_UNDERSTAND Warning "zarr/must-understand" in "v3 Extensions"
        "a document has a member that is not known and does not say that it may be ignored"
        => "readers refuse the node; say \"must_understand\": false in it if it may be ignored";
    DEVIATION Warning "zarr/deviation" in "v3 Metadata, v2 Metadata" "a document departs from the specification in a way that can be read";
    TWO_VERSIONS Warning "zarr/two-versions" in "v3 Hierarchy" "a node has documents of both versions"
        => "zarr.json counts; readers of version 2 see the other";
    MIXED_VERSIONS Warning "zarr/mixed-versions" in "v3 Hierarchy" "a node is of another version than the group that it is in"
        => "most readers look for one version alone and do not find it";
    IMPLICIT_GROUP Warning "zarr/implicit-group" in "v3 Hierarchy, v2 Hierarchies" "nodes lie in a folder without a document of its own"
        => "write the document of a group there; without it, what lies below is not found";
    ATTRIBUTES_ALONE Warning "zarr/attributes-alone" in "v2 Attributes" "there is a .zattrs without .zarray or .zgroup";
    CONSOLIDATED_MISSING Warning "zarr/consolidated-missing" in "zarr-python Consolidated metadata"
        "the store has a document that consolidated metadata does not have"
        => "consolidate again: readers that believe it do not see this node";
    CASE_CLASH Warning "zarr/case-clash" in "v3 Node names" "two names differ in upper and lower case alone"
        => "copied to a file system that ignores case, one replaces the other";
    UNPORTABLE_NAME Warning "zarr/unportable-name" in "v3 Node names" "the name of a node cannot be a file's name everywhere";
    CHUNK_KEY Warning "zarr/chunk-key" in "v3 Chunk key encodings, v2 Chunks" "a key looks like a chunk's and is none of this array";
    CHUNK_OUTSIDE Warning "zarr/chunk-outside" in "v3 Chunk grids" "a chunk lies outside of the array's shape"
        => "it is never read; it may be left from before the array was made smaller";
    LIMIT Warning "zarr/limit" in "Limits" "something was not checked, as it needs more memory or work than is allowed";

    UNKNOWN_EXTENSION Note "zarr/unknown-extension" in "v3 Extensions"
        "a data type, codec or other extension is not known, so what it is of is not checked";
    UNKNOWN_MEMBER Note "zarr/unknown-member" in "v2 Metadata" "a document has a member that version 2 does not define";
    DIMENSION_LENGTH Note "zarr/dimension-length" in "v3 dimension_names"
        "arrays of one group give a dimension of one name different lengths"
        => "xarray cannot open the group as one dataset; give the dimensions different names if they are different ones";
    ALIAS Note "zarr/alias" in "v3 File system store" "a link leads to another folder of the store, which is checked where it really lies";
    SHARD_SHARED Note "zarr/shard-shared" in "v3 Sharding codec" "several inner chunks of a shard are the same bytes";
    SHARD_UNREFERENCED Note "zarr/shard-unreferenced" in "v3 Sharding codec" "bytes of a shard belong to no inner chunk"
        => "writing the shard again gives the space back";
    STRAY Note "zarr/stray" in "v3 Abstract store interface" "a value is neither a document nor a chunk"
        => "nothing reads it; remove it if no program needs it";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn rules_have_names_of_their_own_in_the_form_of_names() {
        let names: HashSet<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), RULES.len());
        for name in names {
            let word = name.strip_prefix("zarr/").unwrap();
            let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
            assert!(word.split('-').all(is_word), "{name}");
        }
    }

    #[test]
    fn the_worst_rules_come_first() {
        assert!(RULES.is_sorted_by_key(|rule| rule.severity));
    }
}
