//! The table of rules.

hyperslab_core::rules! {
    NO_NODE Error "zarr/no-node" in "v3 Hierarchy, v2 Storage" "the store has no document of a group or an array";
    ZIP Error "zarr/zip" in "APPNOTE.TXT 4.3" "the zip file cannot be read as a store"
        => "unpack it with another program, check the files and pack them again";
    VALUE Error "zarr/value" in "v3 Abstract store interface" "a value of the store cannot be read";
    LINK Error "zarr/link" in "v3 File system store"
        "a link points outside the store, forms a cycle or has no target, or a file is not a regular file"
        => "replace the link by the file itself; files outside of a store are never read";
    JSON Error "zarr/json" in "RFC 8259" "a document is not JSON";
    TEXT_ENCODING Error "zarr/text-encoding" in "RFC 8259 8.1" "a document is not UTF-8";
    DUPLICATE_NAME Error "zarr/duplicate-name" in "RFC 8259 4" "an object in a document has a duplicate name"
        => "readers use either of the values; remove the wrong one";
    NOT_FINITE Error "zarr/not-finite" in "RFC 8259 6" "a number is NaN or infinite, which JSON does not have"
        => "write it as the string \"NaN\", \"Infinity\" or \"-Infinity\"";
    DOCUMENT Error "zarr/document" in "v3 Metadata, v2 Storage" "a document is not an object, or a member has an invalid value";
    MISSING_MEMBER Error "zarr/missing-member" in "v3 Array metadata, v2 Metadata" "a required member is missing";
    VERSION Error "zarr/version" in "v3 zarr_format, v2 Metadata" "the version in a document does not match the name of the document";
    NODE_TYPE Error "zarr/node-type" in "v3 node_type" "a document has members of both a group and an array"
        => "set \"node_type\" to the type that the other members belong to";
    TWO_KINDS Error "zarr/two-kinds" in "v2 Hierarchies" "a node has both .zarray and .zgroup"
        => "remove the wrong document; readers use the array";
    NODE_IN_ARRAY Error "zarr/node-in-array" in "v3 Hierarchy" "a document is below an array, which cannot have children"
        => "move the node beside the array; readers do not find it below the array";
    RESERVED_NAME Error "zarr/reserved-name" in "v3 Node names" "a node has a name that is not allowed"
        => "rename the folder; readers ignore reserved names";
    SHAPE Error "zarr/shape" in "v3 shape, v2 Metadata" "a shape is not a list of integers from 0 to 2^64 - 1";
    SIZE Error "zarr/size" in "v3 chunk_grid, v2 chunks" "a chunk would have 2^63 bytes or more";
    DATA_TYPE Error "zarr/data-type" in "v3 data_type, v2 Data type encoding" "a data type contradicts itself";
    CHUNK_GRID Error "zarr/chunk-grid" in "v3 Chunk grids, v2 chunks"
        "chunks have no elements, have another rank than the array, or do not cover the array";
    CHUNK_KEY_ENCODING Error "zarr/chunk-key-encoding" in "v3 Chunk key encodings, v2 dimension_separator"
        "the chunk key encoding is invalid";
    FILL_VALUE Error "zarr/fill-value" in "v3 fill_value, v2 Fill value encoding" "a fill value is not an element of the data type";
    ORDER Error "zarr/order" in "v2 Metadata" "the order of elements is neither C nor F";
    CODECS Error "zarr/codecs" in "v3 Codecs, v2 Filters" "codecs are in an invalid order or have invalid parameters";
    SHARD_SHAPE Error "zarr/shard-shape" in "v3 Sharding codec" "inner chunks do not divide the shard evenly";
    ATTRIBUTES Error "zarr/attributes" in "v3 attributes, v2 Attributes" "attributes are not an object";
    DIMENSION_NAMES Error "zarr/dimension-names" in "v3 dimension_names" "dimension names are not strings, or their number differs from the rank";
    STORAGE_TRANSFORMERS Error "zarr/storage-transformers" in "v3 storage_transformers" "storage transformers are not a list of extensions";
    CONSOLIDATED Error "zarr/consolidated" in "zarr-python Consolidated metadata" "consolidated metadata is malformed";
    CONSOLIDATED_EXTRA Error "zarr/consolidated-extra" in "zarr-python Consolidated metadata"
        "consolidated metadata has a document that the store does not have"
        => "consolidate again: readers of consolidated metadata see a node that does not exist";
    CONSOLIDATED_DIFFERENT Error "zarr/consolidated-different" in "zarr-python Consolidated metadata"
        "a document in consolidated metadata differs from the document in the store"
        => "consolidate again: readers with and without consolidated metadata see different content";
    SHARD_INDEX Error "zarr/shard-index" in "v3 Sharding codec" "a shard is too short for its index, or only one half of an index entry is empty";
    SHARD_INDEX_CHECKSUM Error "zarr/shard-index-checksum" in "v3 Sharding codec"
        "the checksum of a shard index is wrong"
        => "the inner chunks of this shard cannot be located; write the shard again";
    SHARD_RANGE Error "zarr/shard-range" in "v3 Sharding codec" "an inner chunk extends outside of its shard or into the index";
    SHARD_OVERLAP Error "zarr/shard-overlap" in "v3 Sharding codec" "inner chunks of a shard overlap";
    CHUNK_SIZE Error "zarr/chunk-size" in "v3 Bytes codec, v2 Chunks" "the stored size of a chunk differs from the size of its elements";
    CHUNK_CHECKSUM Error "zarr/chunk-checksum" in "v3 CRC32C codec, numcodecs" "the checksum of a chunk is wrong"
        => "write the chunk again from its source";
    CHUNK_DATA Error "zarr/chunk-data" in "v3 Codecs, v2 Chunks" "the codecs cannot decode a chunk"
        => "write the chunk again from its source";

    NOT_FINITE_ATTRIBUTE Warning "zarr/not-finite-attribute" in "RFC 8259 6"
        "a number in an attribute is NaN or infinite: zarr-python writes and reads it so, but JSON does not have it, and strict readers refuse the document"
        => "remove the attribute if strict readers, such as tensorstore, have to open the node";
    MUST_UNDERSTAND Warning "zarr/must-understand" in "v3 Extensions"
        "a document has an unknown member without \"must_understand\": false"
        => "readers reject the node; add \"must_understand\": false if the member may be ignored";
    DEVIATION Warning "zarr/deviation" in "v3 Metadata, v2 Metadata" "a document deviates from the specification, but can be read";
    TWO_VERSIONS Warning "zarr/two-versions" in "v3 Hierarchy" "a node has documents of both versions"
        => "readers of version 3 use zarr.json; readers of version 2 use the other document";
    MIXED_VERSIONS Warning "zarr/mixed-versions" in "v3 Hierarchy" "a node has another version than its group"
        => "most readers search for only one version and do not find it";
    IMPLICIT_GROUP Warning "zarr/implicit-group" in "v3 Hierarchy, v2 Hierarchies" "nodes are in a folder without a document of its own"
        => "write the document of a group there; without it, readers do not find the nodes";
    ATTRIBUTES_ALONE Warning "zarr/attributes-alone" in "v2 Attributes" ".zattrs exists without .zarray or .zgroup";
    CONSOLIDATED_MISSING Warning "zarr/consolidated-missing" in "zarr-python Consolidated metadata"
        "a document of the store is missing in consolidated metadata"
        => "consolidate again: readers of consolidated metadata do not see this node";
    CASE_CLASH Warning "zarr/case-clash" in "v3 Node names" "two names differ only in case"
        => "on a file system that ignores case, one replaces the other";
    UNPORTABLE_NAME Warning "zarr/unportable-name" in "v3 Node names" "the name of a node is not allowed on all file systems";
    CHUNK_KEY Warning "zarr/chunk-key" in "v3 Chunk key encodings, v2 Chunks" "a key looks like a chunk key, but the array has no such chunk";
    CHUNK_OUTSIDE Warning "zarr/chunk-outside" in "v3 Chunk grids" "a chunk is outside of the shape of the array"
        => "readers ignore it; the array may have been larger before";
    LIMIT Warning "zarr/limit" in "Limits" "a check was skipped, because it exceeds a limit of memory or work";

    UNKNOWN_EXTENSION Note "zarr/unknown-extension" in "v3 Extensions"
        "a data type, codec or other extension is unknown, so its content is not checked";
    UNKNOWN_MEMBER Note "zarr/unknown-member" in "v2 Metadata" "a document has a member that version 2 does not define";
    DIMENSION_LENGTH Note "zarr/dimension-length" in "v3 dimension_names"
        "arrays of one group have different lengths of a dimension with the same name"
        => "xarray cannot open the group as one dataset; use different names for different dimensions";
    ALIAS Note "zarr/alias" in "v3 File system store" "a link leads to another folder of the store, which is checked at its real path";
    SHARD_SHARED Note "zarr/shard-shared" in "v3 Sharding codec" "several inner chunks of a shard have the same byte range";
    SHARD_UNREFERENCED Note "zarr/shard-unreferenced" in "v3 Sharding codec" "bytes of a shard do not belong to an inner chunk"
        => "writing the shard again frees the space";
    STRAY Note "zarr/stray" in "v3 Abstract store interface" "a value is neither a document nor a chunk"
        => "Zarr readers ignore it; remove it if no program needs it";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn rules_have_unique_and_valid_names() {
        let names: HashSet<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), RULES.len());
        for name in names {
            let word = name.strip_prefix("zarr/").unwrap();
            let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
            assert!(word.split('-').all(is_word), "{name}");
        }
    }

    #[test]
    fn rules_are_sorted_by_severity() {
        assert!(RULES.is_sorted_by_key(|rule| rule.severity));
    }
}
