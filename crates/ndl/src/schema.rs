//! The language as a JSON Schema, for editors and for programs that write documents.

/// The JSON Schema of NDL 0.6.1 with all extensions, draft 2020-12.
///
/// It validates the tree of a document (YAML in the core schema, or JSON) as strictly as `check --strict`. It cannot
/// check what depends on other parts: whether a name exists, whether chunks fit, whether values are in range.
/// Editors use it for keys, keywords and descriptions.
///
/// ```
/// let schema: serde_json::Value = serde_json::from_str(hyperslab_ndl::SCHEMA)?;
/// assert_eq!(schema["title"], "Ndarray Data Language");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub const SCHEMA: &str = include_str!("../schema/ndl.schema.json");
