//! The table of rules. Sections are those of TileDB's format_spec.

hyperslab_core::rules! {
    NO_OBJECT Error "tiledb/no-object" in "array_file_hierarchy.md, group_file_hierarchy.md" "the folder is neither an array nor a group";
    STRUCTURE Error "tiledb/structure" in "generic_tile.md" "a file cannot be decoded";
    SCHEMA Error "tiledb/schema" in "array_schema.md" "the schema of an array contradicts itself";
    DUPLICATE_NAME Error "tiledb/duplicate-name" in "array_schema.md Attribute, Dimension, Dimension Label"
        "two of the attributes, dimensions and dimension labels of a schema have the same name";
    FILL_VALUE Error "tiledb/fill-value" in "array_schema.md Attribute" "the fill value of an attribute has another size than its cells";
    ENUMERATION_MISSING Error "tiledb/enumeration-missing" in "enumeration.md" "an enumeration that a schema names does not exist";
    ENUMERATION Error "tiledb/enumeration" in "enumeration.md" "the values of an enumeration end within a value, are not distinct, or are more than its attribute can index";
    LABEL_MISSING Error "tiledb/label-missing" in "array_schema.md Dimension Label" "the array of a dimension label does not exist, or lacks the attribute of the labels";
    COMMIT_ALONE Error "tiledb/commit-alone" in "array_file_hierarchy.md" "a commit marks a fragment as complete that does not exist"
        => "the library refuses to open the array; if the fragment was vacuumed, remove the commit or name it in an ignore file";
    FRAGMENT_SCHEMA Error "tiledb/fragment-schema" in "fragment.md Footer" "a fragment was written with a schema that the array does not have";
    FOOTER Error "tiledb/footer" in "fragment.md Footer" "the footer of a fragment contradicts itself, its name or the schema";
    FILE_MISSING Error "tiledb/file-missing" in "fragment.md File hierarchy" "a file with tiles of a fragment does not exist";
    FILE_SIZE Error "tiledb/file-size" in "fragment.md Footer" "a file with tiles is shorter than the footer says"
        => "the file was cut, or a part of it was never copied";
    TILE_OFFSETS Error "tiledb/tile-offsets" in "fragment.md Tile Offsets" "tile offsets do not ascend from 0, lie outside of their file, or do not match the number of tiles";
    R_TREE Error "tiledb/r-tree" in "fragment.md R-Tree" "a rectangle does not cover those below it, or there is not one for each tile"
        => "the library does not find the cells that are not covered";
    RECTANGLE Error "tiledb/rectangle" in "fragment.md MBR" "a cell lies outside of the rectangle of its tile"
        => "the library does not find the cell in queries of a part of the array";
    GLOBAL_ORDER Error "tiledb/global-order" in "array_schema.md Cell order" "cells of a sparse fragment are not in the global order"
        => "the library relies on the order where it merges fragments";
    TILE_SUMMARY Error "tiledb/tile-summary" in "fragment.md Tile Mins Maxes, Tile Sums, Tile Null Counts"
        "the minimum, maximum, sum or null count recorded for a tile is not that of its cells"
        => "the library uses these numbers to skip tiles and to compute aggregates";
    FRAGMENT_SUMMARY Error "tiledb/fragment-summary" in "fragment.md Fragment Min Max Sum Null Count" "the minimum, maximum, sum or null count recorded for a fragment does not match those of its tiles";
    TILE Error "tiledb/tile" in "tile.md, filter_pipeline.md" "the cells of a tile cannot be decoded";
    CHECKSUM Error "tiledb/checksum" in "filters/checksum_md5.md, filters/checksum_sha256.md" "the checksum of a tile is wrong, or it was encrypted with another key"
        => "write the cells again from their source";
    CONSOLIDATED_FOOTER Error "tiledb/consolidated-footer" in "consolidated_fragment_metadata_file.md"
        "a copy of a footer differs from the footer of the fragment"
        => "the library reads the copy; consolidate fragment metadata again";
    MEMBER_TYPE Error "tiledb/member-type" in "group.md" "a member of a group is an array but recorded as a group, or the reverse";

    KEY Warning "tiledb/key" in "encryption_notes.md" "an encrypted array was not checked, because no key or a wrong key was given"
        => "give the key that it was written with";
    DEAD_LINE Warning "tiledb/dead-line" in "vacuum_file.md, ignore_file.md, consolidated_commits_file.md"
        "a line names something that does not exist";
    MEMBER_MISSING Warning "tiledb/member-missing" in "group.md" "a member of a group does not exist"
        => "the array was removed, but not from the group; remove the member";
    TRAILING_BYTES Warning "tiledb/trailing-bytes" in "fragment.md Footer" "a file with tiles is longer than the footer says"
        => "the library does not read anything after the last tile";
    DELETE_FIELD Warning "tiledb/delete-field" in "delete_commit_file.md" "a delete condition compares a field that no schema has, or compares with a value of the wrong size"
        => "the library refuses to read the array";
    ENUMERATION_INDEX Warning "tiledb/enumeration-index" in "enumeration.md" "the index in a cell exceeds the values of its enumeration";
    DUPLICATE_CELL Warning "tiledb/duplicate-cell" in "array_schema.md Allows dups" "two cells of a fragment have the same coordinates, which the array does not allow";
    NAME Warning "tiledb/name" in "timestamped_name.md" "a file has an unknown name in a folder where readers expect only known names";
    CYCLE Warning "tiledb/cycle" in "group.md" "a group is a member of itself, directly or through others";
    LIMIT Warning "tiledb/limit" in "Limits" "a check was skipped, because it exceeds a limit of memory or work";

    INCOMPLETE Note spare "tiledb/incomplete" in "array_file_hierarchy.md" "a fragment without a commit, or a temporary file: left behind by an interrupted writer"
        => "nothing reads it; `hyperslab edit --vacuum=all` removes it; run it only while no writer is active";
    ENUMERATION_UNUSED Note "tiledb/enumeration-unused" in "enumeration.md" "no attribute uses an enumeration of its schema";
    EXTERNAL_MEMBER Note "tiledb/external-member" in "group.md" "a member of a group lies outside of the opened store, and was not checked";
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
            let word = name.strip_prefix("tiledb/").unwrap();
            let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
            assert!(word.split('-').all(is_word) || name == "tiledb/r-tree", "{name}");
        }
    }

    #[test]
    fn rules_are_sorted_by_severity() {
        assert!(RULES.is_sorted_by_key(|rule| rule.severity));
    }
}
