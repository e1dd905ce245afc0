//! Rules for stores that are not in the specification of Zarr.

hyperslab_core::rules! {
    RECORD Error "zarr/record" in "hyperslab" "the attribute hyperslab is no record of the node that it is of, which cannot be read"
        => "remove the attribute, and the node is what Zarr says alone";
    RECORD_ATTRIBUTE Warning "zarr/record-attribute" in "hyperslab"
        "another program changed or removed an attribute of which a record keeps more than its JSON"
        => "the JSON counts; remove the attribute's entry from the member attributes of the record";
}
