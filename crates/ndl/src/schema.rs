//! The language as a JSON Schema, for editors and for programs that write documents.

/// The JSON Schema of NDL 0.6.1 with all extensions, draft 2020-12.
///
/// It judges the tree of a document, YAML read by the core schema or JSON, and is as strict as a check in which
/// warnings are errors. What a tree alone does not show it lets pass: whether a name that is used exists, whether
/// chunks fit and values are in range. An editor offers its keys, words and descriptions.
///
/// ```
/// let schema: serde_json::Value = serde_json::from_str(hyperslab_ndl::SCHEMA)?;
/// assert_eq!(schema["title"], "Ndarray Data Language");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub const SCHEMA: &str = include_str!("../schema/ndl.schema.json");
