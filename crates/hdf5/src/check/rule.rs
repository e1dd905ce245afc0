//! The table of rules.

hyperslab_core::rules! {
    SIGNATURE Error "hdf5/signature" "there is no format signature where one may be"
        => "HDF5 files begin with a signature at byte 0, 512, 1024 and so on";
    MALFORMED Error "hdf5/malformed" "a structure breaks the layout that the specification gives it";
    UNKNOWN_VERSION Error "hdf5/unknown-version"
        "a version, type, class or flag that the specification does not define";
    CHECKSUM Error "hdf5/checksum" "a stored checksum is not that of the bytes of its structure";
    TRUNCATED Error "hdf5/truncated" "the file ends before its end-of-file address"
        => "the file was cut, or a part of it was never copied";
    OUT_OF_BOUNDS Error "hdf5/out-of-bounds" "an address and length reach past the end-of-file address";
    UNDEFINED_ADDRESS Error "hdf5/undefined-address" "an address is undefined that must be defined";
    REACHED_TWICE Error "hdf5/reached-twice" "a structure that has one owner is pointed to from two places";
    OVERLAP Error "hdf5/overlap" "two structures claim the same bytes";
    OWNER Error "hdf5/owner" "a block says that it belongs to another structure or place than the one that points to it";
    K_VALUES Error "hdf5/k-values" "a B-tree K value is zero";
    REFERENCE_COUNT Error "hdf5/reference-count" "an object counts other links than lead to it";
    BTREE_LEVEL Error "hdf5/btree-level" "a B-tree node is not on the level below its parent";
    BTREE_COUNT Error "hdf5/btree-count" "a B-tree counts other records or children than it has room for, or has";
    BTREE_ORDER Error "hdf5/btree-order" "the records or keys of a B-tree are not in order";
    BTREE_KEY Error "hdf5/btree-key" "a B-tree key does not bound what is below it";
    BTREE_SIBLING Error "hdf5/btree-sibling" "a sibling pointer leads to another node than the neighbour";
    RECORD_TYPE Error "hdf5/record-type" "a B-tree has records of another type or size than its user needs";
    LOCAL_HEAP Error "hdf5/local-heap" "the free blocks of a local heap are not a list of separate pieces of it";
    LINK_NAME Error "hdf5/link-name" "a link has no readable name";
    LINK_TARGET Error "hdf5/link-target" "a hard link leads to nothing that is an object";
    DUPLICATE_NAME Error "hdf5/duplicate-name" "two links of a group, or two attributes of an object, have one name";
    SYMBOL_TABLE_CACHE Error "hdf5/symbol-table-cache"
        "a symbol table entry caches other addresses than the object has";
    NAME_HASH Error "hdf5/name-hash" "the hash in a name index is not that of the name";
    CREATION_ORDER Error "hdf5/creation-order" "a creation order is used twice, missing, or past the maximum";
    INDEX_MISMATCH Error "hdf5/index-mismatch" "the index by creation order has other records than that by name";
    HEAP_COUNT Error "hdf5/heap-count" "a fractal heap counts other objects than are referred to";
    HEAP_SIZE Error "hdf5/heap-size" "a fractal heap counts other bytes than its blocks and objects have";
    HEAP_OBJECT Error "hdf5/heap-object" "a heap ID leads to no object";
    HEAP_OVERLAP Error "hdf5/heap-overlap" "two objects of a fractal heap share bytes";
    FREE_SPACE_COUNT Error "hdf5/free-space-count"
        "a free-space manager counts other sections or bytes than its list has";
    FREE_SPACE_SECTION Error "hdf5/free-space-section" "a free section is out of order or outside of what is managed";
    FREE_SPACE_OVERLAP Error "hdf5/free-space-overlap" "bytes are both free and in use";
    GLOBAL_HEAP Error "hdf5/global-heap" "a global heap collection is broken or has two objects of one index";
    GLOBAL_HEAP_OBJECT Error "hdf5/global-heap-object" "an element refers to a global heap object that is not there";
    VARIABLE_LENGTH Error "hdf5/variable-length" "an element is longer than the heap object that holds it";
    SHARED_MESSAGE Error "hdf5/shared-message" "a message is shared from where no such message is";
    SHARED_MESSAGE_COUNT Error "hdf5/shared-message-count"
        "a shared message counts fewer uses than there are, or its index other messages";
    SHARED_MESSAGE_HASH Error "hdf5/shared-message-hash" "the hash of a shared message is not that of its bytes";
    MISSING_MESSAGE Error "hdf5/missing-message" "an object lacks a message that it cannot do without";
    DATATYPE Error "hdf5/datatype" "a datatype contradicts itself";
    LAYOUT_RANK Error "hdf5/layout-rank" "a data layout has other dimensions than the dataspace";
    ELEMENT_SIZE Error "hdf5/element-size" "chunks are of elements of another size than the datatype";
    STORAGE_SIZE Error "hdf5/storage-size" "storage is too small for the elements";
    FILL_VALUE_SIZE Error "hdf5/fill-value-size" "a fill value is not of one element";
    CHUNK_INDEX Error "hdf5/chunk-index" "a chunk index contradicts the data layout or the dataspace";
    CHUNK_OFFSET Error "hdf5/chunk-offset" "a chunk does not begin at a multiple of the chunk's dimensions";
    CHUNK_SIZE Error "hdf5/chunk-size" "a chunk is stored in a number of bytes that it cannot have";
    CHUNK_CHECKSUM Error "hdf5/chunk-checksum" "the checksum of a chunk is not that of its bytes";
    CHUNK_DATA Error "hdf5/chunk-data" "the bytes of a chunk are not what its filters make";
    ARRAY_STATISTICS Error "hdf5/array-statistics" "an extensible array counts other blocks or elements than it has";
    VIRTUAL_MAPPING Error "hdf5/virtual-mapping" "a mapping of a virtual dataset does not fit its dataspace";
    EXTERNAL_FILES Error "hdf5/external-files" "external files are named or sized wrongly";
    FILE_SPACE Error "hdf5/file-space" "the file space information contradicts the file";

    CHUNK_OUTSIDE Warning "hdf5/chunk-outside" "a chunk lies outside of the dataset's current dimensions";
    UNKNOWN_MESSAGE_FATAL Warning "hdf5/unknown-message-fatal"
        "a message of an unknown type says that objects with it must not be opened";
    USE_COUNT Warning "hdf5/use-count" "a committed datatype counts other messages than share it";
    SHARED_MESSAGE_LEFT Warning "hdf5/shared-message-left" "a shared message counts more uses than there are";
    UNUSUAL_DATATYPE Warning "hdf5/unusual-datatype"
        "a datatype leaves so many bits unused that libhdf5 refuses it without a checksum";
    ATTRIBUTE_ORDER Warning "hdf5/attribute-order" "two attributes of an object have one creation order";
    WRITE_FLAG Warning "hdf5/write-flag" "a writer has the file open, or did not close it"
        => "`h5clear -s FILE` clears the mark once no writer has the file open";
    BASE_ADDRESS Warning "hdf5/base-address" "the base address is not where the superblock is"
        => "something was put before the file, or taken away; addresses are counted from the superblock";
    RESERVED Warning "hdf5/reserved" "bits or bytes are set that the specification reserves";
    OVERLAP_UNUSED Warning "hdf5/overlap-unused" "a structure lies in bytes that another has allocated but does not use";
    MESSAGE_COUNT Warning "hdf5/message-count" "an object header counts other messages than it has";
    DUPLICATE_MESSAGE Warning "hdf5/duplicate-message" "an object has two messages of a type of which one counts";
    MODIFIED_UNKNOWING Warning "hdf5/modified-unknowing"
        "an object was modified by software that did not know one of its messages";
    FILL_VALUES_DIFFER Warning "hdf5/fill-values-differ" "the old and the new fill value message differ";
    FILTER_MASK Warning "hdf5/filter-mask" "a chunk skips filters that there are not";
    DANGLING_REFERENCE Warning "hdf5/dangling-reference" "a reference leads to nothing that is an object of the file";
    DIMENSION_SCALE Warning "hdf5/dimension-scale"
        "DIMENSION_LIST and REFERENCE_LIST of dataset and dimension scale do not agree";
    VIRTUAL_SOURCE Warning "hdf5/virtual-source" "the source of a virtual dataset is not in the file that should have it";
    MISSING_FILE Warning "hdf5/missing-file" "a file that has elements of a dataset does not exist";
    LIMIT Warning "hdf5/limit" "something was not checked, as it needs more memory or work than is allowed";

    UNKNOWN_MESSAGE Note "hdf5/unknown-message" "a message is of a type that the specification does not define";
    UNKNOWN_FILTER Note "hdf5/unknown-filter" "chunks pass a filter that is not known, so what they hold is not checked";
    DANGLING_SOFT_LINK Note "hdf5/dangling-soft-link" "a soft link leads to a path that does not exist";
    EXTERNAL_LINK Note "hdf5/external-link" "a link leads to another file, which is not checked";
    EXTERNAL_DATA Note "hdf5/external-data" "elements are in another file, of which only the presence is checked";
    UNREFERENCED Note "hdf5/unreferenced" "objects of a heap that nothing refers to take space";
    TRAILING_BYTES Note "hdf5/trailing-bytes" "the file goes on behind its end-of-file address";
    UNACCOUNTED Note "hdf5/unaccounted" "bytes belong to no structure"
        => "`h5repack` writes a file without them";
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
            let word = name.strip_prefix("hdf5/").unwrap();
            assert!(
                word.split('-').all(|part| !part.is_empty()
                    && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())),
                "{name}"
            );
        }
    }

    #[test]
    fn the_worst_rules_come_first() {
        assert!(RULES.is_sorted_by_key(|rule| rule.severity));
    }
}
