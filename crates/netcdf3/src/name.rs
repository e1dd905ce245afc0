//! The characters that names may have.
//!
//! Spec: NetCDF Classic Format Specification, "Note on names"

/// What is wrong with the characters of a name.
pub(crate) fn fault(name: &[u8]) -> Option<&'static str> {
    let Ok(text) = str::from_utf8(name) else { return Some("is not UTF-8") };
    let Some(first) = text.chars().next() else { return Some("is empty") };
    if first.is_ascii() && !first.is_ascii_alphanumeric() && first != '_' {
        return Some("begins with a character that is neither a letter, a digit nor _");
    }
    if text.contains(|c: char| c.is_ascii_control() || c == '/') {
        return Some("has a slash or a control character");
    }
    text.ends_with(' ').then_some("ends with a space")
}
