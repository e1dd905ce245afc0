//! Rules for stores that are not part of the Zarr specification.

hyperslab_core::rules! {
    RECORD Error "zarr/record" in "hyperslab" "the record of a node, which hyperslab writes for what Zarr cannot represent, is invalid; the node cannot be read"
        => "remove the attribute; the node then has only the content that Zarr itself stores";
    RECORD_ATTRIBUTE Warning "zarr/record-attribute" in "hyperslab"
        "another program changed or removed an attribute for which a record keeps more than its JSON value"
        => "the JSON value takes precedence; remove the attribute's entry from the member attributes of the record";
}
