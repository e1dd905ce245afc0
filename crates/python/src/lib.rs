//! The module `hyperslab._hyperslab`: Python classes and functions over the crate `hyperslab`, without their own logic.
//!
//! | file | content |
//! |---|---|
//! | `file.rs`, `options.rs` | opening files; limits, threads, formats |
//! | `group.rs` | members of groups |
//! | `array.rs`, `selection.rs`, `inner.rs` | arrays, and keys of `[...]` as selections |
//! | `values.rs`, `dtype.rs`, `object.rs` | elements as NumPy arrays; datatypes; elements as Python objects |
//! | `padding.rs` | fixed-length strings in rows, padded as in NumPy |
//! | `arrow.rs` | arrays and tables for Arrow readers |
//! | `builder.rs`, `given.rs` | stores made from Python values |
//! | `assembly.rs` | stores that many processes write |
//! | `attribute.rs`, `storage.rs` | attributes; how arrays are stored |
//! | `references.rs` | references to chunks in the kerchunk format |
//! | `ranges.rs`, `keyed.rs` | Python storages that are read by byte ranges, and those with values under keys |
//! | `verbs.rs` and `verbs/` | the verbs of the command line |
//! | `work.rs` | the shared pool, work without the GIL, and Ctrl-C |
//! | `error.rs` | errors as exceptions |

mod array;
mod arrow;
mod assembly;
mod attribute;
mod builder;
mod dtype;
mod error;
mod file;
mod given;
mod group;
mod inner;
mod joining;
mod keyed;
mod object;
mod options;
mod padding;
mod ranges;
mod references;
mod selection;
mod storage;
mod values;
mod verbs;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _hyperslab {
    #[pymodule_export]
    use crate::array::{Array, OpenedArray};
    #[pymodule_export]
    use crate::arrow::{Table, arrow_c_array, arrow_c_schema, has_cells, table};
    #[pymodule_export]
    use crate::assembly::Assembly;
    #[pymodule_export]
    use crate::builder::Builder;
    #[pymodule_export]
    use crate::file::{File, open};
    #[pymodule_export]
    use crate::joining::{is_pattern, open_joined, stores_like};
    #[pymodule_export]
    use crate::references::add_references;
    #[pymodule_export]
    use crate::verbs::{
        check, concat, convert, create, describe, diff, digest, human_bytes, is_folder, locate, ls,
        ls_folder, repack, stat, target_name, write_values,
    };
    #[pymodule_export]
    use crate::work::{set_threads, threads};

    #[pymodule_export]
    #[expect(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
