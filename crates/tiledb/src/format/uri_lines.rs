//! Lists of URIs as lines of text, the content of ignore files and vacuum files.
//!
//! Spec: TileDB format_spec, ignore_file.md and vacuum_file.md

use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The last name of a URI. Old files have absolute URIs, and arrays can be moved, so only this part is reliable.
///
/// ```
/// use hyperslab_tiledb::format::uri_lines::last_name;
///
/// assert_eq!(last_name(b"file:///old/place/a/__fragments/__1_2_x_18"), b"__1_2_x_18");
/// assert_eq!(last_name(b"/__fragments/__1_2_x_19/"), b"__1_2_x_19");
/// ```
pub fn last_name(uri: &[u8]) -> &[u8] {
    let uri = uri.strip_suffix(b"/").unwrap_or(uri);
    uri.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// Takes a line with its line end.
pub(crate) fn line<'a>(d: &mut Decoder<'a>) -> Result<&'a [u8]> {
    let len = d.clone().rest().iter().position(|byte| *byte == b'\n');
    let Some(len) = len else { return Err(d.malformed("a line without its end")) };
    let line = d.take(len)?;
    d.reserved(1)?;
    Ok(line)
}

/// Appends a line.
pub(crate) fn put_line(e: &mut Encoder, line: &[u8]) -> Result<()> {
    if line.contains(&b'\n') {
        return Err(Error::invalid("a URI with the end of a line"));
    }
    e.bytes(line);
    e.u8(b'\n');
    Ok(())
}

/// All lines.
pub(crate) fn lines(d: &mut Decoder<'_>) -> Result<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    while !d.is_empty() {
        lines.push(line(d)?.to_vec());
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_name_of_a_uri_is_sure() {
        for (uri, name) in [
            (&b"__commits/a.wrt"[..], &b"a.wrt"[..]),
            (b"a", b"a"),
            (b"", b""),
            (b"/", b""),
            (b"s3://b/x/", b"x"),
        ] {
            assert_eq!(last_name(uri), name);
        }
    }

    #[test]
    fn refuses_uris_that_would_be_two_lines() {
        assert!(put_line(&mut Encoder::new(), b"a\nb").is_err());
    }
}
