//! The table of rules.

hyperslab_core::rules! {
    MISSING Error "against/missing" "there is no object where the contract names one";
    KIND Error "against/kind" "an object is of another kind: a group, an ndarray, a dimcoord, a datatype, a link";
    UNREADABLE Error "against/unreadable" "an object or an attribute named in the contract cannot be read";
    TYPE Error "against/type" "elements are of another type";
    SHAPE Error "against/shape" "an array differs in its dimensions, lengths or maximum lengths";
    DIMENSION Error "against/dimension" "a dimension refers to a different dimcoord, or to none";
    VALUE Error "against/value" "an array has other values";
    ATTRIBUTE_MISSING Error "against/attribute-missing" "an object lacks an attribute";
    ATTRIBUTE_TYPE Error "against/attribute-type" "an attribute is of another type";
    ATTRIBUTE_SHAPE Error "against/attribute-shape" "an attribute has another shape";
    ATTRIBUTE_VALUE Error "against/attribute-value" "an attribute has another value";
    STORAGE Error "against/storage" "elements are stored differently: chunks, filters, byte order, fill value or similar";
    LINK Error "against/link" "a link leads elsewhere";
    UNNAMED Note "against/unnamed" "the contract does not name an object or an attribute";
}
