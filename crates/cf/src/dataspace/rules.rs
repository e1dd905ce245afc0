//! The table of rules. [`Convention::rules`](super::Convention::rules) returns those of one convention.

hyperslab_core::rules! {
    NAMED Error "tiledb-cf/named" in "0.1.0, 0.2.0: Attributes and Dimensions 1" "an attribute or a dimension has no name";
    DIM_COLLECTION Error "tiledb-cf/dim-collection" in "0.1.0 to 0.3.0: Requirements for Dimensions" "dimensions of one name have different datatypes or domains";
    ATTR_DATASPACE_NAME_UNIQUE Error "tiledb-cf/attr-dataspace-name-unique" in "0.1.0, 0.2.0: Attributes and Dimensions 3" "two attributes of a group have the same name, without .index and .data";
    ATTR_AND_DATA_DIM_AGREE Error "tiledb-cf/attr-and-data-dim-agree" in "0.1.0: Attributes and Dimensions 4" "an attribute and a data dimension of the same name differ in their full name or their datatype";
    GROUP_METADATA_ARRAY Error "tiledb-cf/group-metadata-array" in "0.1.0, 0.2.0: Metadata 1" "a group has metadata of its own, instead of those of an array __tiledb_group";
    ATTR_METADATA_PREFIX Error "tiledb-cf/attr-metadata-prefix" in "0.1.0 to 0.3.0: Metadata" "a key of metadata of an attribute names no attribute of its array";
    DIM_METADATA_PREFIX Error "tiledb-cf/dim-metadata-prefix" in "0.3.0: Metadata 2" "a key of metadata of a dimension names no dimension of its array";
    FILLVALUE_EQUALS Error "tiledb-cf/fillvalue-equals" in "0.1.0, 0.2.0: Metadata 3" "the metadata _FillValue of an attribute are not its fill value";
    AXIS_LABEL Error "tiledb-cf/axis-label" in "0.1.0: Indexable CF Dataspace" "a data dimension has no axis label";
    DIM_INTEGER_FROM_0 Error "tiledb-cf/dim-integer-from-0" in "0.2.0, 0.3.0: Simple CF Dataspace, Dimensions 1" "a dimension is not one of integers from 0";
    COLLECTION_DATASPACE_NAME_UNIQUE Error "tiledb-cf/collection-dataspace-name-unique" in "0.2.0: Simple CF Dataspace, Dimensions 2" "dimensions of different names have the same name, without .index and .data";
    ARRAY_NAMED_SINGLE_ATTRIBUTE Error "tiledb-cf/array-named-single-attribute" in "0.3.0: Simple CF Dataspace, Arrays 1" "an array has no name in its group, or not one attribute";
    METADATA_ATTRIBUTE_AND_GROUP_ONLY Error "tiledb-cf/metadata-attribute-and-group-only" in "0.3.0: Simple CF Dataspace, Metadata 1" "an array has metadata that are not those of an attribute";
}
