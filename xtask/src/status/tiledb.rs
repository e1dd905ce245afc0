//! The fields of the TileDB array schema, in the order of the tables of its specification.

use super::sources::{self, Sources};
use super::{Page, Proof, proofs};
use Proof::{Golden, Test};
use std::fmt::Write as _;

/// A table of the specification.
struct Table {
    title: &'static str,
    fields: &'static [Field],
}

/// A row of a table.
struct Field {
    name: &'static str,
    /// The format versions that have it.
    since: &'static str,
    /// How NDL represents it.
    ndl: &'static str,
    read: &'static [Proof],
}

/// The page of all tables. A field without a proof is an error.
pub(super) fn page() -> Result<Page, String> {
    let sources = Sources::read(&sources::TILEDB)?;
    let (mut text, mut faults, mut count) = (String::from(HEAD), Vec::new(), 0);
    for Table { title, fields } in TABLES {
        let files = sources.of_section(&format!("\"{title}\""));
        if files.is_empty() {
            faults.push(format!("no file has a Spec line for {title}"));
        }
        let _ = writeln!(text, "\n## {title}\n\n{}\n\n{COLUMNS}", files.join(", "));
        for Field { name, since, ndl, read } in *fields {
            let mut fault = |why: String| faults.push(format!("{title}, {name}: {why}"));
            let read = proofs(&sources, read, Proof::is_of_reading, &mut fault);
            if since.is_empty() || ndl.is_empty() {
                fault("no version or no key of NDL".to_owned());
            }
            count += 1;
            let _ = writeln!(text, "| {name} | {since} | {ndl} | {read} |");
        }
    }
    let _ = writeln!(text, "\n{} tables, {count} fields. {LEGEND}", TABLES.len());
    Ok(Page { name: "tiledb.md", text, faults })
}

const HEAD: &str = "\
# TileDB array schema: what is read, and how NDL says it

Written by `cargo xtask status` from the `Spec:` lines of the sources and the list in `xtask/src/status/tiledb.rs`. The tables and their rows are
those of `format_spec/array_schema.md`; [where files differ](../tiledb-format-notes.md) from them, the row says so.
";

const COLUMNS: &str = "\
| field | versions | NDL | read, proven by |
|---|---|---|---|";

const LEGEND: &str = "Keys stand in the `storage` of the group of the array, of its dimcoord or of its ndarray, unless they are those of NDL itself:
`type`, `size`, `shape`. `golden` are bytes that the TileDB library wrote, which are decoded, encoded to the same bytes, cut at every length and changed at
random; `test` are tests of ours. Those whose names end with *return* or *returns* describe an array, make the schema of the description again, and
compare its bytes with those that were described. `schemas_of_a_corpus_return_from_descriptions` does so for every schema of the corpus.";

const fn field(name: &'static str, since: &'static str, ndl: &'static str, read: &'static [Proof]) -> Field {
    Field { name, since, ndl, read }
}

const TABLES: &[Table] = &[
    Table {
        title: "Array Schema File",
        fields: &[
            field(
                "Array version",
                "1",
                "`tiledb.version`",
                &[
                    Golden("schema_version_7"),
                    Golden("schema_version_19"),
                    Test("every_version_round_trips"),
                    Test("plain_schemas_of_every_version_return"),
                ],
            ),
            field("Allows dups", "5", "`tiledb.allows_dups`", &[Golden("schema_sparse"), Test(ORDERS)]),
            field(
                "Array type",
                "1",
                "`tiledb.array`",
                &[Test("dense_schemas_say_what_was_declared"), Test(ORDERS)],
            ),
            field("Tile order", "1", "`tiledb.tile_order`", &[Golden("schema_dense"), Test(ORDERS)]),
            field(
                "Cell order",
                "1",
                "`tiledb.cell_order`",
                &[Test("dense_schemas_say_what_was_declared"), Test(ORDERS)],
            ),
            field("Capacity", "1", "`tiledb.capacity`", &[Golden("schema_sparse"), Test(ORDERS)]),
            field("Coords filters", "1", "`tiledb.coords_filter`, `tiledb.coords_filter_max_chunk`", FILTERS),
            field(
                "Offsets filters",
                "1",
                "`tiledb.offsets_filter`, `tiledb.offsets_filter_max_chunk`",
                FILTERS,
            ),
            field(
                "Validity filters",
                "7",
                "`tiledb.validity_filter`, `tiledb.validity_filter_max_chunk`",
                FILTERS,
            ),
            field("Domain", "1", "`dimcoords`", &[Golden("schema_dense"), Test(DOMAINS)]),
            field("Num attributes", "1", "the number of `ndarrays` without `tiledb.label`", ATTRIBUTES),
            field("Attribute 1", "1", "the first of those `ndarrays`", ATTRIBUTES),
            field("Attribute N", "1", "the last of those `ndarrays`", ATTRIBUTES),
            field("Num labels", "18", "the number of `ndarrays` with `tiledb.label`", LABELS),
            field("Label 1", "18", "the first of those `ndarrays`", LABELS),
            field("Label N", "18", "the last of those `ndarrays`", LABELS),
            field("Num enumerations", "20", "the number of entries of `tiledb.enumerations`", ENUMERATIONS),
            field("Enumeration name length 1", "20", "the length of the key", ENUMERATIONS),
            field("Enumeration name 1", "20", "the first key of `tiledb.enumerations`", ENUMERATIONS),
            field("Enumeration filename length 1", "20", "the length of the name", ENUMERATIONS),
            field("Enumeration filename 1", "20", FILES, ENUMERATIONS),
            field("Enumeration name length N", "20", "the length of the key", ENUMERATIONS),
            field("Enumeration name N", "20", "the last key of `tiledb.enumerations`", ENUMERATIONS),
            field("Enumeration filename length N", "20", "the length of the name", ENUMERATIONS),
            field("Enumeration filename N", "20", FILES, ENUMERATIONS),
            field(
                "Current domain",
                "22",
                "`size` of dimcoords of a dense array, `tiledb.current_domain` of a sparse one",
                &[Golden("schema_dense"), Test(CURRENT_DOMAINS)],
            ),
        ],
    },
    Table {
        title: "Domain",
        fields: &[
            field(
                "Domain datatype",
                "1 to 4",
                "`type` of every dimcoord",
                &[Test("versions_before_5_have_one_datatype"), Test("plain_schemas_of_every_version_return")],
            ),
            field("Num dimensions", "1", "the number of `dimcoords`", &[Golden("schema_dense"), Test(NAMES)]),
            field("Dimension 1", "1", "the first of `dimcoords`", &[Golden("schema_dense"), Test(NAMES)]),
            field("Dimension N", "1", "the last of `dimcoords`", &[Golden("schema_dense"), Test(NAMES)]),
        ],
    },
    Table {
        title: "Dimension",
        fields: &[
            field(
                "Dimension name length",
                "1",
                "the length of the name",
                &[Golden("dimension"), Test(NAMES)],
            ),
            field(
                "Dimension name",
                "1",
                "the key of the dimcoord; `tiledb.name`, `tiledb.anonymous` where that is another",
                &[Golden("dimension"), Test(NAMES)],
            ),
            field(
                "Dimension datatype",
                "5",
                "`type`, `charset`; `tiledb.datatype` where several are one type of NDL",
                &[Golden("dimension"), Golden("dimension_string"), Test(DOMAINS)],
            ),
            field(
                "Cell val num",
                "5",
                "`type`: a number of one value, a string of any number",
                &[Golden("dimension_string"), Test("strings_have_no_domain_and_no_extent"), Test(DOMAINS)],
            ),
            field("Filters", "5", "`filter`, `tiledb.max_chunk`", FILTERS),
            field(
                "Domain size",
                "5",
                "two coordinates of `type`; 0 of strings",
                &[Golden("dimension_string"), Test(DOMAINS)],
            ),
            field("Domain", "1", "`domain`", &[Golden("dimension"), Test(DOMAINS)]),
            field(
                "Null tile extent",
                "1",
                "no `tile` of a sparse array; `tiledb.tile_extent: null` of a dense one",
                &[Golden("dimension_string"), Test("strings_have_no_domain_and_no_extent"), Test(DOMAINS)],
            ),
            field(
                "Tile extent",
                "1",
                "`tile` of a sparse array; `chunk` of the ndarrays of a dense one",
                &[Golden("dimension"), Test("refuses_tile_extents_of_another_size"), Test(DOMAINS)],
            ),
        ],
    },
    Table {
        title: "Attribute",
        fields: &[
            field(
                "Attribute name length",
                "1",
                "the length of the name",
                &[Golden("attribute_nullable"), Test(NAMES)],
            ),
            field(
                "Attribute name",
                "1",
                "the key of the ndarray; `tiledb.attribute`, `tiledb.anonymous` where that is another",
                &[Golden("attribute_nullable"), Test(NAMES)],
            ),
            field(
                "Attribute datatype",
                "1",
                "`type`, `charset`; `tiledb.datatype` where several are one type of NDL",
                &[Golden("attribute_nullable"), Test(DATATYPES)],
            ),
            field(
                "Cell val num",
                "1",
                "`type`: `array`, `opaque`, `vlen`; of strings `length`",
                &[Test("dense_schemas_say_what_was_declared"), Test(DATATYPES)],
            ),
            field("Filters", "1", "`filter`, `tiledb.max_chunk`", FILTERS),
            field(
                "Fill value size",
                "6",
                "the size of the fill value",
                &[Test("rejects_fill_values_without_bytes"), Test(FILLS)],
            ),
            field(
                "Fill value",
                "6",
                "`fillvalue`; `tiledb.fillvalue` where no value of `type` has the bytes",
                &[Golden("attribute_nullable"), Test(FILLS)],
            ),
            field("Nullable", "7", "`type`: `nullable`", &[Golden("attribute_nullable"), Test(DATATYPES)]),
            field(
                "Fill value validity",
                "7",
                "`fillvalue`, null or not; `tiledb.fill_valid` where that does not tell it",
                &[Golden("attribute_nullable"), Test(FILLS)],
            ),
            field(
                "Order",
                "17",
                "`tiledb.order`",
                &[Golden("schema_version_17"), Test(ENUMERATIONS_AND_ORDERS)],
            ),
            field(
                "Enumeration name, which is not in the specification",
                "20",
                "`tiledb.enumeration`; of texts `type`: `enum`",
                &[Golden("attribute_enumeration"), Test(ENUMERATIONS_AND_ORDERS)],
            ),
        ],
    },
    Table {
        title: "Dimension Label",
        fields: &[
            field("Dimension index", "18", "`shape`", LABEL),
            field("Label order", "18", "`tiledb.label`", LABEL),
            field("Dimension label name length", "18", "the length of the name", LABEL),
            field(
                "Dimension label name",
                "18",
                "the key of the ndarray; `tiledb.name` where that is another",
                LABEL,
            ),
            field("Relative URI", "18", "`tiledb.relative: false` if it is not", LABEL),
            field("URI length", "18", "the length of the URI", LABEL),
            field("URI", "18", "`tiledb.uri`, unless it is `__labels/l` and the position", LABEL),
            field("Label attribute name length", "18", "the length of the name", LABEL),
            field("Label attribute name", "18", "`tiledb.attribute`, unless it is `label`", LABEL),
            field("Label datatype", "18", "`type`, `charset`, `tiledb.datatype`", LABEL),
            field("Label cell_val_num", "18", "`type`, `length`", LABEL),
            field("Label domain size", "none", NO_DOMAIN, LABEL),
            field("Label domain start size", "none", NO_DOMAIN, LABEL),
            field("Label domain data", "none", NO_DOMAIN, LABEL),
            field("Is external", "18", "`tiledb.external: true` if it is", LABEL),
        ],
    },
    Table {
        title: "Current Domain",
        fields: &[
            field(
                "Version number",
                "22",
                "`tiledb.current_domain_version`, unless it is 0",
                &[
                    Golden("schema_dense"),
                    Test("refuses_other_shapes_and_versions_by_name"),
                    Test(CURRENT_DOMAINS),
                ],
            ),
            field(
                "Empty",
                "22",
                "no `size`, or `tiledb.current_domain: null`",
                &[Golden("schema_sparse"), Test(CURRENT_DOMAINS)],
            ),
            field(
                "Type",
                "22",
                "none: there is one type, a rectangle",
                &[Golden("schema_dense"), Test("refuses_other_shapes_and_versions_by_name")],
            ),
            field(
                "NDRectangle",
                "22",
                "`size` of dimcoords; `tiledb.current_domain` where sizes do not tell it",
                &[Test("dense_schemas_say_what_was_declared"), Test(CURRENT_DOMAINS)],
            ),
        ],
    },
];

// Tests that prove several fields.
const ORDERS: &str = "orders_capacities_and_duplicates_return";
const DOMAINS: &str = "domains_and_tiles_return";
const CURRENT_DOMAINS: &str = "current_domains_return";
const NAMES: &str = "names_return";
const DATATYPES: &str = "attributes_of_every_datatype_return";
const FILLS: &str = "fill_values_and_validities_return";
const ENUMERATIONS_AND_ORDERS: &str = "enumerations_and_orders_return";

// Proofs of several fields.
const FILTERS: &[Proof] = &[
    Golden("schema_dense"),
    Test("every_filter_returns_from_every_place"),
    Test("pipelines_without_filters_return"),
];
const ATTRIBUTES: &[Proof] =
    &[Golden("schema_dense"), Test("rejects_more_attributes_than_fit_before_it_allocates"), Test(DATATYPES)];
const LABELS: &[Proof] = &[Golden("schema_labels"), Test("labels_return")];
const LABEL: &[Proof] = &[Golden("dimension_label"), Test("labels_return")];
const ENUMERATIONS: &[Proof] = &[Golden("schema_dense"), Test(ENUMERATIONS_AND_ORDERS)];

// How NDL represents several fields.
const FILES: &str = "`tiledb.enumeration_files`, in full descriptions";
const NO_DOMAIN: &str = "none: no file has it";
