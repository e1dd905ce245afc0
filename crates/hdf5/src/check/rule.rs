//! The table of rules.

hyperslab_core::rules! {
    SIGNATURE Error "hdf5/signature" "no format signature at any of the allowed offsets"
        => "HDF5 files begin with a signature at byte 0, 512, 1024 and so on";
    MALFORMED Error "hdf5/malformed" "a structure does not have the layout of the specification";
    UNKNOWN_VERSION Error "hdf5/unknown-version"
        "a version, type, class or flag is not defined in the specification";
    CHECKSUM Error "hdf5/checksum" "a stored checksum differs from the checksum of the structure";
    TRUNCATED Error "hdf5/truncated" "the file ends before its end-of-file address"
        => "the file was cut, or a part of it was never copied";
    OUT_OF_BOUNDS Error "hdf5/out-of-bounds" "an address and length exceed the end-of-file address";
    UNDEFINED_ADDRESS Error "hdf5/undefined-address" "a required address is undefined";
    REACHED_TWICE Error "hdf5/reached-twice"
        "two structures point to a structure that may have only one owner";
    OVERLAP Error "hdf5/overlap" "two structures claim the same bytes";
    OWNER Error "hdf5/owner" "a block names another owner or address than the structure that points to it";
    K_VALUES Error "hdf5/k-values" "a B-tree K value is zero";
    REFERENCE_COUNT Error "hdf5/reference-count"
        "the reference count of an object differs from its number of links";
    BTREE_LEVEL Error "hdf5/btree-level" "the level of a B-tree node is not one below that of its parent";
    BTREE_COUNT Error "hdf5/btree-count"
        "a B-tree stores a number of records or children that differs from the actual one, or exceeds its capacity";
    BTREE_ORDER Error "hdf5/btree-order" "the records or keys of a B-tree are not in order";
    BTREE_KEY Error "hdf5/btree-key" "a B-tree key does not bound the entries below it";
    BTREE_SIBLING Error "hdf5/btree-sibling" "a sibling pointer does not point to the neighbouring node";
    RECORD_TYPE Error "hdf5/record-type"
        "the records of a B-tree have a type or size that does not match the structure that uses it";
    LOCAL_HEAP Error "hdf5/local-heap" "the free list of a local heap is invalid or its blocks overlap";
    LINK_NAME Error "hdf5/link-name" "a link has no readable name";
    LINK_TARGET Error "hdf5/link-target" "a hard link points to an address without an object";
    DUPLICATE_NAME Error "hdf5/duplicate-name"
        "two links of a group, or two attributes of an object, have the same name";
    SYMBOL_TABLE_CACHE Error "hdf5/symbol-table-cache"
        "the cached addresses in a symbol table entry differ from those of the object";
    NAME_HASH Error "hdf5/name-hash" "the hash in a name index differs from the hash of the name";
    CREATION_ORDER Error "hdf5/creation-order"
        "a creation order is duplicate, missing, or exceeds the maximum";
    INDEX_MISMATCH Error "hdf5/index-mismatch"
        "the index by creation order and the index by name have different records";
    HEAP_COUNT Error "hdf5/heap-count"
        "the number of objects in a fractal heap differs from the number of references to them";
    HEAP_SIZE Error "hdf5/heap-size"
        "the sizes in a fractal heap header differ from those of its blocks and objects";
    HEAP_OBJECT Error "hdf5/heap-object" "a heap ID does not point to an object";
    HEAP_OVERLAP Error "hdf5/heap-overlap" "two objects of a fractal heap share bytes";
    FREE_SPACE_COUNT Error "hdf5/free-space-count"
        "the counts in a free-space manager differ from its list of sections";
    FREE_SPACE_SECTION Error "hdf5/free-space-section"
        "a free section is out of order or outside of the managed space";
    FREE_SPACE_OVERLAP Error "hdf5/free-space-overlap" "bytes are both free and in use";
    GLOBAL_HEAP Error "hdf5/global-heap"
        "a global heap collection is invalid or has two objects with the same index";
    GLOBAL_HEAP_OBJECT Error "hdf5/global-heap-object"
        "an element refers to a global heap object that does not exist";
    VARIABLE_LENGTH Error "hdf5/variable-length" "an element is longer than the heap object that holds it";
    SHARED_MESSAGE Error "hdf5/shared-message" "a shared message does not exist at its stored location";
    SHARED_MESSAGE_COUNT Error "hdf5/shared-message-count"
        "the reference count of a shared message is too small, or the message count of its index is wrong";
    SHARED_MESSAGE_HASH Error "hdf5/shared-message-hash"
        "the stored hash of a shared message differs from the hash of its bytes";
    MISSING_MESSAGE Error "hdf5/missing-message" "an object lacks a required message";
    DATATYPE Error "hdf5/datatype" "a datatype contradicts itself";
    LAYOUT_RANK Error "hdf5/layout-rank" "the dimensions of a data layout differ from those of the dataspace";
    ELEMENT_SIZE Error "hdf5/element-size" "the element size of chunks differs from that of the datatype";
    STORAGE_SIZE Error "hdf5/storage-size" "storage is too small for the elements";
    FILL_VALUE_SIZE Error "hdf5/fill-value-size" "the size of a fill value differs from that of an element";
    CHUNK_INDEX Error "hdf5/chunk-index" "a chunk index contradicts the data layout or the dataspace";
    CHUNK_OFFSET Error "hdf5/chunk-offset" "the offset of a chunk is not a multiple of the chunk dimensions";
    CHUNK_SIZE Error "hdf5/chunk-size" "the stored size of a chunk is impossible";
    CHUNK_CHECKSUM Error "hdf5/chunk-checksum" "the checksum of a chunk differs from that of its bytes";
    CHUNK_DATA Error "hdf5/chunk-data" "the bytes of a chunk cannot be decoded by its filters";
    ARRAY_STATISTICS Error "hdf5/array-statistics"
        "the counts of blocks or elements in an extensible array are wrong";
    VIRTUAL_MAPPING Error "hdf5/virtual-mapping" "a mapping of a virtual dataset does not fit its dataspace";
    EXTERNAL_FILES Error "hdf5/external-files" "the names or sizes of external files are invalid";
    FILE_SPACE Error "hdf5/file-space" "the file space information contradicts the file";

    CHUNK_OUTSIDE Warning "hdf5/chunk-outside" "a chunk is outside of the current dimensions of the dataset";
    UNKNOWN_MESSAGE_FATAL Warning "hdf5/unknown-message-fatal"
        "a message of unknown type forbids opening the object";
    USE_COUNT Warning "hdf5/use-count"
        "the reference count of a committed datatype differs from the number of messages that share it";
    SHARED_MESSAGE_LEFT Warning "hdf5/shared-message-left"
        "the reference count of a shared message is too large";
    UNUSUAL_DATATYPE Warning "hdf5/unusual-datatype"
        "a datatype has more unused bits than libhdf5 accepts in structures without checksum";
    ATTRIBUTE_ORDER Warning "hdf5/attribute-order" "two attributes of an object have the same creation order";
    WRITE_FLAG Warning "hdf5/write-flag" "a writer has the file open, or did not close it"
        => "`h5clear -s FILE` clears the mark once no writer has the file open";
    BASE_ADDRESS Warning "hdf5/base-address" "the base address is not where the superblock is"
        => "bytes were added or removed before the superblock; addresses are relative to the superblock";
    RESERVED Warning "hdf5/reserved" "reserved bits or bytes are not zero";
    OVERLAP_UNUSED Warning "hdf5/overlap-unused"
        "a structure overlaps bytes that another one has allocated but does not use";
    MESSAGE_COUNT Warning "hdf5/message-count"
        "the message count of an object header differs from its number of messages";
    DUPLICATE_MESSAGE Warning "hdf5/duplicate-message"
        "an object has two messages of a type of which only one is used";
    MODIFIED_UNKNOWING Warning "hdf5/modified-unknowing"
        "software that did not know one of its messages has modified an object";
    FILL_VALUES_DIFFER Warning "hdf5/fill-values-differ" "the old and the new fill value message differ";
    FILTER_MASK Warning "hdf5/filter-mask" "the filter mask of a chunk skips filters that do not exist";
    DANGLING_REFERENCE Warning "hdf5/dangling-reference"
        "a reference does not point to an object of the file";
    DIMENSION_SCALE Warning "hdf5/dimension-scale"
        "DIMENSION_LIST and REFERENCE_LIST of dataset and dimension scale do not agree";
    VIRTUAL_SOURCE Warning "hdf5/virtual-source"
        "the source file of a virtual dataset does not have the source dataset";
    MISSING_FILE Warning "hdf5/missing-file" "a file with elements of a dataset does not exist";
    SHORT_FILE Warning "hdf5/short-file" "a file with elements of a dataset ends before the last of them";
    LIMIT Warning "hdf5/limit" "a part was not checked, because it needs more memory or work than allowed";

    UNKNOWN_MESSAGE Note "hdf5/unknown-message" "the type of a message is not defined in the specification";
    UNKNOWN_FILTER Note "hdf5/unknown-filter"
        "chunks have an unknown filter, so their content is not checked";
    DANGLING_SOFT_LINK Note "hdf5/dangling-soft-link" "a soft link points to a path that does not exist";
    EXTERNAL_LINK Note "hdf5/external-link" "a link points to another file, which is not checked";
    EXTERNAL_DATA Note "hdf5/external-data"
        "elements are in another file, of which only the presence is checked";
    UNREFERENCED Note spare "hdf5/unreferenced" "objects of a heap that nothing refers to take space";
    TRAILING_BYTES Note "hdf5/trailing-bytes" "the file continues past its end-of-file address";
    UNACCOUNTED Note spare "hdf5/unaccounted" "bytes belong to no structure"
        => "`h5repack` writes a file without them";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn rule_names_are_unique_and_well_formed() {
        let names: HashSet<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), RULES.len());
        for name in names {
            let word = name.strip_prefix("hdf5/").unwrap();
            assert!(
                word.split('-').all(|part| !part.is_empty()
                    && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())),
                "{name}"
            );
        }
    }

    #[test]
    fn rules_are_sorted_by_severity() {
        assert!(RULES.is_sorted_by_key(|rule| rule.severity));
    }
}
