//! Tests that a damaged journal never lists parts that are not finished.

use super::*;

fn fingerprint() -> (tempfile::NamedTempFile, Fingerprint) {
    let source = tempfile::NamedTempFile::new().unwrap();
    let fingerprint = Fingerprint::of_source(source.path(), "").unwrap();
    (source, fingerprint)
}

fn unit(array: &str, tiles: Range<u64>) -> Unit {
    Unit { array: NodePath::root().child(array), tile: vec![8, 4], tiles }
}

#[test]
fn a_journal_truncated_at_any_byte_keeps_its_complete_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (_source, fingerprint) = fingerprint();
    let journal = Journal::create(&path, &fingerprint).unwrap();
    let names = ["a", "a b", "line\nbreak", "..", "å\"\\"];
    let mut ends = Vec::new();
    for (index, name) in names.iter().enumerate() {
        journal.record(&unit(name, 0..4), index as u64).unwrap();
        ends.push(fs::metadata(&path).unwrap().len());
    }
    let bytes = fs::read(&path).unwrap();
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for len in 0..=bytes.len() {
        let found = Found::parse(&bytes[..len], system_start().as_deref());
        assert_eq!(found.is_some(), len >= header, "{len}");
        let Some(found) = found else { continue };
        let whole = ends.iter().filter(|end| **end <= len as u64).count();
        assert_eq!(found.units.len(), whole, "{len}");
        // A resumed journal has the same parts, and more can be recorded.
        let other = folder.path().join("other");
        let journal = Journal::resume(&other, found, &fingerprint).unwrap();
        journal.record(&unit("more", 7..8), 1).unwrap();
        let journal = Journal::resume(&other, Journal::read(&other).unwrap().unwrap(), &fingerprint).unwrap();
        for (index, name) in names.iter().enumerate() {
            assert_eq!(journal.finished(&unit(name, 1..3)), index < whole);
        }
        assert!(journal.finished(&unit("more", 7..8)));
    }
}

#[test]
fn a_journal_with_any_bit_changed_lists_only_finished_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (_source, fingerprint) = fingerprint();
    let journal = Journal::create(&path, &fingerprint).unwrap();
    journal.record(&unit("a", 0..4), 10).unwrap();
    journal.record(&unit("b", 4..6), 10).unwrap();
    let bytes = fs::read(&path).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            let Some(found) = Found::parse(&bytes, system_start().as_deref()) else { continue };
            for done in found.units {
                let found = (done.array.as_str(), done.tiles);
                assert!([("/a", 0..4), ("/b", 4..6)].contains(&found), "{found:?}");
            }
        }
    }
}

#[test]
fn adjacent_parts_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (_source, fingerprint) = fingerprint();
    let journal = Journal::create(&path, &fingerprint).unwrap();
    for tiles in [6..8, 0..2, 2..4, 1..3, 10..10] {
        journal.record(&unit("a", tiles), 1).unwrap();
    }
    assert!(!journal.finished(&unit("a", 0..2)), "only the parts of the interrupted run");
    let journal = Journal::resume(&path, Journal::read(&path).unwrap().unwrap(), &fingerprint).unwrap();
    for (tiles, finished) in [
        (0..4, true),
        (3..4, true),
        (3..5, false),
        (4..6, false),
        (5..7, false),
        (6..8, true),
        (9..11, false),
    ] {
        assert_eq!(journal.finished(&unit("a", tiles.clone())), finished, "{tiles:?}");
    }
    assert!(!journal.finished(&unit("b", 0..1)));
    assert!(!journal.finished(&Unit { tile: vec![4, 8], ..unit("a", 0..1) }), "another tile shape");
}

#[test]
fn forget_removes_the_earlier_parts_of_an_array() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (_source, fingerprint) = fingerprint();
    let journal = Journal::create(&path, &fingerprint).unwrap();
    journal.record(&unit("a", 0..2), 1).unwrap();
    journal.record(&unit("b", 0..2), 1).unwrap();
    journal.forget(&unit("a", 0..2).array).unwrap();
    journal.record(&unit("a", 4..5), 1).unwrap();
    for _ in 0..2 {
        let journal = Journal::resume(&path, Journal::read(&path).unwrap().unwrap(), &fingerprint).unwrap();
        let finished =
            [("a", 0..2), ("a", 4..5), ("b", 0..2)].map(|(name, tiles)| journal.finished(&unit(name, tiles)));
        assert_eq!(finished, [false, true, true]);
    }
}

#[test]
fn after_a_restart_only_synced_parts_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (_source, fingerprint) = fingerprint();
    let journal = Journal::create(&path, &fingerprint).unwrap();
    journal.record(&unit("a", 0..1), 1).unwrap();
    // Pretends that the last sync was long ago, so that the next record syncs.
    let synced = Instant::now().checked_sub(BETWEEN_SYNCS);
    journal.state().synced = synced.expect("a clock that is older than the time between syncs");
    journal.record(&unit("a", 1..2), 1).unwrap();
    journal.record(&unit("a", 2..3), 1).unwrap();
    let bytes = fs::read(&path).unwrap();
    let can_sync = rename::sync_file_system(&path).is_some();
    assert_eq!(String::from_utf8_lossy(&bytes).matches("\"safe\"").count(), 1 + usize::from(can_sync));

    let same = Found::parse(&bytes, system_start().as_deref()).unwrap();
    assert_eq!((same.units.len(), same.is_cut), (3, false));
    let other = Found::parse(&bytes, Some("another")).unwrap();
    assert_eq!((other.units.len(), other.is_cut), (if can_sync { 2 } else { 0 }, true));

    // A resumed journal keeps the parts and does not record more of them as safe.
    drop(Journal::resume(&path, same, &fingerprint).unwrap());
    let bytes = fs::read(&path).unwrap();
    let other = Found::parse(&bytes, Some("another")).unwrap();
    assert_eq!(other.units.len(), if can_sync { 2 } else { 0 });
    drop(Journal::resume(&path, other, &fingerprint).unwrap());
    let again = Found::parse(&fs::read(&path).unwrap(), Some("a third")).unwrap();
    assert_eq!((again.units.len(), again.is_cut), (if can_sync { 2 } else { 0 }, false));
}

#[cfg(target_os = "linux")]
#[test]
fn a_failed_write_does_not_hide_later_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (_source, fingerprint) = fingerprint();
    let journal = Journal::create(&path, &fingerprint).unwrap();
    journal.record(&unit("a", 0..1), 1).unwrap();
    let file =
        std::mem::replace(&mut journal.state().file, File::options().write(true).open("/dev/full").unwrap());
    let e = journal.record(&unit("a", 1..2), 1).unwrap_err().to_string();
    assert!(e.ends_with("journal: no space left on device"), "{e}");
    journal.state().file = file;
    journal.record(&unit("a", 2..3), 1).unwrap();
    assert_eq!(Journal::read(&path).unwrap().unwrap().units.len(), 2);
    assert_eq!(journal.bytes(), 2);
}

#[test]
fn many_lines_in_little_time_are_written_together_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (_source, fingerprint) = fingerprint();
    let journal = Journal::create(&path, &fingerprint).unwrap();
    let parts = 10 * u64::from(MAX_WRITES);
    (0..parts).for_each(|part| journal.record(&unit("a", 2 * part..2 * part + 1), 1).unwrap());
    drop(journal);
    let found = Journal::read(&path).unwrap().unwrap();
    assert_eq!((found.units.len() as u64, found.bytes()), (parts, parts));
}
