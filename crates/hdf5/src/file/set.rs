//! Files that a driver splits over several: families, and files split by kind of data.
//!
//! Spec: HDF5 II.B Disk Format: Level 0B - File Driver Info

use crate::format::Address;
use crate::format::metadata::driver_info::{DriverInfo, Member, Multi};
use crate::navigate::superblock;
use hyperslab_core::storage::{Joined, Part, ReadAt, Siblings};
use hyperslab_core::{Error, ErrorKind, Result, valid};
use std::sync::Arc;

/// Whether a file without a superblock belongs to a set, or to a kind of set that is not supported.
pub(super) fn is_part(storage: &dyn ReadAt) -> Result<bool> {
    Ok(refused(storage)?.is_some() || leading(storage).map_or(true, |found| found.is_some()))
}

/// The member with the superblock, if this one has none.
pub(super) fn leading(storage: &dyn ReadAt) -> Result<Option<Box<dyn ReadAt>>> {
    if superblock::locate(storage)?.is_some() {
        return Ok(None);
    }
    if let Some(what) = refused(storage)? {
        return Err(Error::unsupported(what));
    }
    let Some(siblings) = storage.siblings() else { return Ok(None) };
    let Some(own) = siblings.own_name() else { return Ok(None) };
    let names = Numbered::all_of(own).into_iter().flat_map(|numbered| numbered.firsts());
    for name in names.chain(superblock_members(own)).filter(|name| name != own) {
        if let Some(Some(found)) = valid(siblings.open(&name))?
            && superblock::locate(&*found)?.is_some()
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The message for files of sets that are not supported.
fn refused(storage: &dyn ReadAt) -> Result<Option<&'static str>> {
    let mut head = [0; 8];
    if storage.len()? >= 8 {
        storage.read_into(0, &mut head)?;
    }
    if head.starts_with(ONION_HISTORY) || head == *ONION_STUB {
        return Ok(Some("a file of revisions that the onion driver wrote"));
    }
    let siblings = storage.siblings();
    let name = siblings.as_ref().and_then(|siblings| siblings.own_name()).unwrap_or_default();
    let subfile = name.split_once(SUBFILE).is_some_and(|(_, rest)| rest.contains("_of_"));
    Ok((subfile || name.contains(SUBFILE) && name.ends_with(".config"))
        .then_some("one subfile of a file that the subfiling driver spread over several"))
}

/// The whole file that a member with a superblock belongs to, if any.
pub(super) fn assemble(
    storage: &Arc<dyn ReadAt>,
    siblings: &dyn Siblings,
    driver: Result<Option<DriverInfo>>,
    base: u64,
    end: Address,
) -> Result<Option<Joined>> {
    let own = siblings.own_name().unwrap_or_default();
    let len = storage.len()?;
    // A file shorter than its end-of-file address can be the first of several: of a family whose first member does
    // not contain the driver information, or that an old library wrote without it.
    let short = end.get().is_some_and(|end| end > len);
    match driver {
        Ok(Some(DriverInfo::Multi(multi))) => split(siblings, own, &multi).map(Some),
        Ok(Some(DriverInfo::Family { member_size })) => {
            family(storage, siblings, own, member_size, base, end).map(Some)
        }
        Err(e) if e.kind() == ErrorKind::Io => Err(e),
        Ok(_) | Err(_) if short && !siblings.beginning_with(&format!("{own}{SUBFILE}"))?.is_empty() => {
            Err(Error::unsupported("the stub of a file that the subfiling driver spread over several"))
        }
        Ok(None) | Err(_) if short && Numbered::first_of(own, siblings)?.is_some() => {
            family(storage, siblings, own, len, base, end).map(Some)
        }
        Ok(_) => Ok(None),
        // Reported again, with more detail, when the superblock extension is read.
        Err(_) => Ok(None),
    }
}

/// The whole file if its driver had the default settings. A version 2 or 3 superblock points to the driver information,
/// which may itself be in another member.
pub(super) fn assumed(siblings: &dyn Siblings, headers: Address) -> Result<Option<Joined>> {
    const SHARE: u64 = (u64::MAX - 1) / 6;
    let own = siblings.own_name().unwrap_or_default();
    let Some(extension) = own.rsplit_once("-s").map(|(_, extension)| extension) else { return Ok(None) };
    if headers.get().is_none_or(|address| address < 5 * SHARE) {
        return Ok(None);
    }
    let member = |(letter, number): (&str, u64)| Member {
        address: number * SHARE,
        // The minimum sizes of members: only the one with object headers is known to have data.
        end: u64::from(letter == "o"),
        name: format!("%s-{letter}{extension}").into_bytes(),
    };
    let members: Vec<Member> = ["s", "b", "r", "g", "l", "o"].into_iter().zip(0..).map(member).collect();
    let whole = split(siblings, own, &Multi { mapping: [1, 2, 3, 4, 5, 6], members })?;
    Ok(Some(whole))
}

fn family(
    first: &Arc<dyn ReadAt>,
    siblings: &dyn Siblings,
    own: &str,
    member_size: u64,
    base: u64,
    end: Address,
) -> Result<Joined> {
    if member_size == 0 {
        return Err(Error::malformed("family member size 0, expected 1 or more"));
    }
    let end = end.get().unwrap_or(0).max(base);
    let part = |number: u64, storage: Box<dyn ReadAt>| -> Result<Part> {
        let start = number.checked_mul(member_size);
        let start = start.ok_or_else(|| Error::malformed("family of files of 2^64 bytes or more"))?;
        Ok(Part { start, end: start.saturating_add(member_size), storage: Ok(storage) })
    };
    let numbered = Numbered::first_of(own, siblings)?.or_else(|| Numbered::only_first(own));
    let mut parts = vec![part(0, Box::new(Arc::clone(first)))?];
    while parts.last().is_some_and(|last| last.end < end) {
        let number = parts.len() as u64;
        let name = numbered.as_ref().map(|numbered| numbered.name(number));
        let found = name.as_ref().map(|name| siblings.open(name)).transpose()?.flatten();
        let Some(found) = found else {
            let what = match name {
                Some(name) => format!("{name} is missing"),
                None if own.is_empty() => "the others are missing".into(),
                None => format!("no name follows {own}"),
            };
            return Err(Error::unsupported(format!(
                "one member of a family of files, which the family driver split every {member_size} bytes: {what}"
            )));
        };
        parts.push(part(number, found)?);
    }
    // The last member ends at its own end.
    if let Some(Part { start, end: part_end, storage: Ok(storage) }) = parts.last_mut() {
        *part_end = (*part_end).min(start.saturating_add(storage.len()?).max(end));
    }
    Joined::new(parts)
}

/// The members of a file that is split by kind of data.
fn split(siblings: &dyn Siblings, own: &str, multi: &Multi) -> Result<Joined> {
    let superblock = multi.mapping.first().map_or(1, |member| if *member == 0 { 1 } else { *member });
    let kinds = kinds(&multi.mapping);
    let member = |kind: u8| kinds.iter().position(|own| *own == kind).and_then(|at| multi.members.get(at));
    let whole = member(superblock).and_then(|member| {
        let template = String::from_utf8_lossy(&member.name).into_owned();
        let (before, behind) = template.split_once("%s")?;
        // Name templates can lead to other directories. Only the file name is used.
        let before = before.rsplit_once('/').map_or(before, |(_, before)| before);
        own.strip_prefix(before)?.strip_suffix(behind).map(str::to_owned)
    });
    let missing = |names: &[String]| {
        Error::unsupported(format!(
            "one member of a file that the multi driver split by kind of data: {}",
            match names {
                [] => "the others are missing".to_owned(),
                [one] => format!("{one} is missing"),
                names => format!("{} are missing", names.join(", ")),
            }
        ))
    };
    let Some(whole) = whole else { return Err(missing(&[])) };
    let mut starts: Vec<u64> = multi.members.iter().map(|member| member.address).collect();
    starts.sort_unstable();
    let (mut parts, mut absent) = (Vec::new(), Vec::new());
    for member in &multi.members {
        let name = String::from_utf8_lossy(&member.name).replacen("%s", &whole, 1);
        let next = starts.iter().find(|start| **start > member.address).copied().unwrap_or(u64::MAX);
        match siblings.open(&name)? {
            Some(storage) => {
                let len = storage.len()?.max(member.end);
                let end = member.address.saturating_add(len).min(next);
                parts.push(Part { start: member.address, end, storage: Ok(storage) });
            }
            // No data of that kind was written.
            None if member.end == 0 => {}
            None => absent.push(name),
        }
    }
    match absent.is_empty() {
        true => Joined::new(parts),
        false => Err(missing(&absent)),
    }
}

/// The kinds of data that have their own members, in order.
fn kinds(mapping: &[u8; 6]) -> Vec<u8> {
    let mut kinds: Vec<u8> =
        mapping.iter().zip(1..).map(|(kind, own)| if *kind == 0 { own } else { *kind }).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Possible names of the member with the superblock, given the name of another member: names end with a hyphen and a
/// letter for the kind, before the extension.
fn superblock_members(own: &str) -> Vec<String> {
    let Some((whole, kind)) = own.rsplit_once('-') else { return Vec::new() };
    let letters = kind.bytes().take_while(u8::is_ascii_lowercase).count();
    match kind.split_at_checked(letters) {
        Some(("s" | "b" | "r" | "g" | "l" | "o" | "m", extension)) => {
            ["m", "s"].map(|letter| format!("{whole}-{letter}{extension}")).into()
        }
        _ => Vec::new(),
    }
}

/// The first name of a family, given a pattern with `%d`, `%05d` or similar.
pub(super) fn first_of_pattern(name: &str) -> Option<String> {
    let (before, rest) = name.split_once('%')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (width, rest) = rest.split_at_checked(digits)?;
    let behind = ["lld", "llu", "ld", "lu", "d", "u", "i"].iter().find_map(|end| rest.strip_prefix(end))?;
    let width: usize = if width.is_empty() { 1 } else { width.parse().ok().filter(|width| *width < 64)? };
    Some(format!("{before}{}{behind}", "0".repeat(width.max(1))))
}

/// A name with a number in it.
#[derive(Debug, PartialEq, Eq)]
struct Numbered {
    before: String,
    /// The minimum number of digits. Shorter numbers have leading zeros.
    width: usize,
    behind: String,
}

impl Numbered {
    fn name(&self, number: u64) -> String {
        let Numbered { before, width, behind } = self;
        format!("{before}{number:0width$}{behind}")
    }

    /// One numbering for each run of digits, the last run first.
    fn all_of(name: &str) -> Vec<Numbered> {
        let mut found = Vec::new();
        let mut rest = name;
        while let Some(last) = rest.rfind(|c: char| c.is_ascii_digit()) {
            let digits = rest.bytes().take(last + 1).rev().take_while(u8::is_ascii_digit).count();
            let start = last + 1 - digits;
            if let (Some(before), Some(behind)) = (name.get(..start), name.get(last + 1..)) {
                found.push(Numbered { before: before.into(), width: digits, behind: behind.into() });
            }
            rest = name.get(..start).unwrap_or_default();
        }
        found
    }

    /// Names of the first member: all numbers have the same width, or no leading zeros.
    fn firsts(&self) -> Vec<String> {
        let unpadded = Numbered { before: self.before.clone(), width: 1, behind: self.behind.clone() };
        match self.width {
            1 => vec![self.name(0)],
            _ => vec![self.name(0), unpadded.name(0)],
        }
    }

    /// The possible numberings of families whose first member has this name.
    fn all_first(own: &str) -> Vec<Numbered> {
        Numbered::all_of(own).into_iter().filter(|numbered| numbered.name(0) == own).collect()
    }

    /// The only numbering with this first name.
    fn only_first(own: &str) -> Option<Numbered> {
        let mut numbered = Numbered::all_first(own);
        numbered.pop().filter(|_| numbered.is_empty())
    }

    /// The numbering of the family with this first member whose second member exists.
    fn first_of(own: &str, siblings: &dyn Siblings) -> Result<Option<Numbered>> {
        for numbered in Numbered::all_first(own) {
            let next = numbered.name(1);
            if siblings.beginning_with(&next)?.contains(&next) {
                return Ok(Some(numbered));
            }
        }
        Ok(None)
    }
}

const ONION_HISTORY: &[u8] = b"OHDH";
/// The whole content of a file while the onion driver writes a new one.
const ONION_STUB: &[u8; 8] = b"ONIONEOF";
const SUBFILE: &str = ".subfile_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_found_from_the_end() {
        let found = Numbered::all_of("fam2_00012.h5");
        let names: Vec<_> = found.iter().map(|numbered| numbered.name(7)).collect();
        assert_eq!(names, ["fam2_00012.h7", "fam2_00007.h5", "fam7_00012.h5"]);
        assert_eq!(found[1].firsts(), ["fam2_00000.h5", "fam2_0.h5"]);
        assert_eq!(Numbered::all_of("a").len(), 0);
        assert_eq!(Numbered::all_of("\u{e9}1\u{e9}")[0].name(10), "\u{e9}10\u{e9}");
    }

    #[test]
    fn patterns_name_their_first_member() {
        for (pattern, first) in [
            ("f%d.h5", Some("f0.h5")),
            ("f_%05d.h5", Some("f_00000.h5")),
            ("f%5lu", Some("f00000")),
            ("f%s", None),
            ("f%", None),
            ("f%99999999999d", None),
            ("f", None),
        ] {
            assert_eq!(first_of_pattern(pattern).as_deref(), first, "{pattern}");
        }
    }

    #[test]
    fn members_of_split_files_name_the_one_with_the_superblock() {
        assert_eq!(superblock_members("a-b-r.h5"), ["a-b-m.h5", "a-b-s.h5"]);
        assert_eq!(superblock_members("a-l"), ["a-m", "a-s"]);
        assert!(superblock_members("a-raw.h5").is_empty() && superblock_members("a").is_empty());
    }
}
