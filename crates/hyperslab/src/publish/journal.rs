//! Which parts of a store are finished, a line for each.
//!
//! A line is the checksum of its text, a space, and the text: in the first line what the store is made from, then
//! `["/sst",[8,64,64],0,16,65536]` for 65536 bytes of work on the tiles 0 to 15 of that shape of `/sst`, and `{"safe":1234}` once everything
//! that the first 1234 bytes of the journal tell is on the disk; `{"forget":"/sst"}` takes back what was told of `/sst`. What a torn line tells, and all behind it, is done
//! again.

use super::fingerprint::Fingerprint;
use super::{named, rename};
use hyperslab_core::Result;
use hyperslab_model::NodePath;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A part of a store that is finished or is not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// The array.
    pub array: NodePath,
    /// The shape of its tiles; of other tiles nothing is known.
    pub tile: Vec<u64>,
    /// Which of them, in whatever order whoever makes them counts.
    pub tiles: Range<u64>,
}

/// The journal of this run.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// Of the interrupted run: sorted by their beginning, apart from each other.
    earlier: Earlier,
    state: Mutex<State>,
}

type Earlier = FxHashMap<(String, Vec<u64>), Vec<Range<u64>>>;

#[derive(Debug)]
struct State {
    file: File,
    len: u64,
    units: u64,
    bytes: u64,
    synced: Instant,
}

/// The journal of an interrupted run.
#[derive(Debug)]
pub(super) struct Found {
    made_from: Value,
    units: Vec<Done>,
    /// So many of the first units outlive the end of power.
    safe: usize,
    /// Whether units at the end were left out, as the system has been started since.
    pub(super) is_cut: bool,
}

/// A line of a journal. Arrays can have names that make no path by themselves, so it is the text that counts.
#[derive(Debug)]
struct Done {
    array: String,
    tile: Vec<u64>,
    tiles: Range<u64>,
    bytes: u64,
}

impl Journal {
    /// Begins a journal.
    pub(super) fn create(path: &Path, fingerprint: &Fingerprint) -> Result<Journal> {
        let nothing = Found { made_from: Value::Null, units: Vec::new(), safe: 0, is_cut: false };
        Journal::go_on(path, nothing, fingerprint)
    }

    /// What is at `path`; none if there is nothing that could be gone on from.
    pub(super) fn read(path: &Path) -> Result<Option<Found>> {
        match fs::read(path) {
            Ok(bytes) => Ok(Found::parse(&bytes, system_start().as_deref())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(named(e, path)),
        }
    }

    /// Begins a journal that tells what an earlier one told. That one is there until this one is whole.
    pub(super) fn go_on(path: &Path, found: Found, fingerprint: &Fingerprint) -> Result<Journal> {
        let mut made_from = fingerprint.emit();
        if let (Value::Object(made_from), Some(start)) = (&mut made_from, system_start()) {
            made_from.insert("system-start".into(), start.into());
        }
        let mut text = line(&made_from);
        for (index, unit) in found.units.iter().enumerate() {
            if index == found.safe {
                text.push_str(&line(&json!({"safe": text.len()})));
            }
            text.push_str(&line(&unit.emit()));
        }
        if found.safe == found.units.len() {
            text.push_str(&line(&json!({"safe": text.len()})));
        }
        let beside = path.with_extension("new");
        fs::write(&beside, &text).and_then(|()| fs::rename(&beside, path)).map_err(|e| named(e, path))?;
        let file = OpenOptions::new().append(true).open(path).map_err(|e| named(e, path))?;
        let (bytes, units) = (found.bytes(), found.units.len() as u64);
        let state = State { file, len: text.len() as u64, units, bytes, synced: Instant::now() };
        Ok(Journal { path: path.to_path_buf(), earlier: merged(found.units), state: Mutex::new(state) })
    }

    /// Whether the interrupted run had finished this.
    pub(super) fn finished(&self, unit: &Unit) -> bool {
        let Some(ranges) = self.earlier.get(&(unit.array.to_string(), unit.tile.clone())) else {
            return false;
        };
        let after = ranges.partition_point(|range| range.start <= unit.tiles.start);
        let before = after.checked_sub(1).and_then(|index| ranges.get(index));
        before.is_some_and(|range| unit.tiles.end <= range.end)
    }

    /// Records a part.
    pub(super) fn record(&self, unit: &Unit, bytes: u64) -> Result<()> {
        let Unit { array, tile, tiles } = unit.clone();
        let done = Done { array: array.to_string(), tile, tiles, bytes };
        let text = line(&done.emit());
        let mut state = self.state();
        // Written at once, so that nothing is lost with the process; that takes microseconds.
        state.append(&text).map_err(|e| named(e, &self.path))?;
        state.units += 1;
        state.bytes = state.bytes.saturating_add(bytes);
        if state.synced.elapsed() < BETWEEN_SYNCS {
            return Ok(());
        }
        state.synced = Instant::now();
        let safe = state.len;
        drop(state);
        // Other threads go on meanwhile. If it fails nothing becomes safe.
        if rename::sync_file_system(&self.path).is_some_and(|synced| synced.is_ok()) {
            self.state().append(&line(&json!({"safe": safe}))).map_err(|e| named(e, &self.path))?;
        }
        Ok(())
    }

    /// Records that an array has no parts that are finished.
    pub(super) fn forget(&self, array: &NodePath) -> Result<()> {
        let text = line(&json!({"forget": array.as_str()}));
        self.state().append(&text).map_err(|e| named(e, &self.path))
    }

    /// Bytes of all parts that are finished.
    pub(super) fn bytes(&self) -> u64 {
        self.state().bytes
    }

    /// Whether nothing is finished.
    pub(super) fn is_empty(&self) -> bool {
        self.state().units == 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn append(&mut self, line: &str) -> io::Result<()> {
        match self.file.write_all(line.as_bytes()) {
            Ok(()) => {
                self.len += line.len() as u64;
                Ok(())
            }
            Err(e) => {
                // Behind half a line nothing could be read.
                let _ = self.file.set_len(self.len);
                Err(e)
            }
        }
    }
}

impl Found {
    /// Refuses to go on from what was made from something else.
    pub(super) fn check_same(&self, fingerprint: &Fingerprint) -> Result<()> {
        fingerprint.check_same(&self.made_from)
    }

    /// Bytes of all parts that are finished.
    pub(super) fn bytes(&self) -> u64 {
        self.units.iter().fold(0, |sum, done| sum.saturating_add(done.bytes))
    }

    fn parse(bytes: &[u8], system_start: Option<&str>) -> Option<Found> {
        let mut at = 0;
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').map_while(|line| {
            let value = checked(line)?;
            at += line.len() as u64;
            Some((value, at))
        });
        let (made_from, _) = lines.next()?;
        let (mut units, mut safe_to) = (Vec::<(Done, u64)>::new(), 0);
        for (value, end) in lines {
            if let Some(done) = Done::parse(&value) {
                units.push((done, end));
            } else if let Some(safe) = value.get("safe").and_then(Value::as_u64) {
                safe_to = safe.max(safe_to);
            } else if let Some(array) = value.get("forget").and_then(Value::as_str) {
                units.retain(|(done, _)| done.array != array);
            } else {
                break;
            }
        }
        let safe = units.partition_point(|(_, end)| *end <= safe_to);
        let mut units: Vec<_> = units.into_iter().map(|(done, _)| done).collect();
        // A system that was not started since has all that was written, wherever it is.
        let begun = made_from.get("system-start").and_then(Value::as_str);
        let is_cut = begun != system_start && safe < units.len();
        if is_cut {
            units.truncate(safe);
        }
        Some(Found { made_from, units, safe, is_cut })
    }
}

impl Done {
    fn emit(&self) -> Value {
        json!([self.array, self.tile, self.tiles.start, self.tiles.end, self.bytes])
    }

    fn parse(value: &Value) -> Option<Done> {
        let [array, tile, start, end, bytes] = value.as_array()?.as_slice() else { return None };
        let array = array.as_str()?.to_owned();
        let tile = tile.as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?;
        Some(Done { array, tile, tiles: start.as_u64()?..end.as_u64()?, bytes: bytes.as_u64()? })
    }
}

fn merged(units: Vec<Done>) -> Earlier {
    let mut arrays = Earlier::default();
    for Done { array, tile, tiles, .. } in units {
        arrays.entry((array, tile)).or_default().push(tiles);
    }
    for ranges in arrays.values_mut() {
        ranges.sort_by_key(|range| range.start);
        ranges.dedup_by(|next, before| {
            let touch = next.start <= before.end;
            if touch {
                before.end = before.end.max(next.end);
            }
            touch
        });
    }
    arrays
}

fn line(value: &Value) -> String {
    let text = value.to_string();
    format!("{} {text}\n", checksum(&text))
}

/// What a line tells, if it is whole.
fn checked(line: &[u8]) -> Option<Value> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    (sum == checksum(text)).then(|| serde_json::from_str(text).ok())?
}

fn checksum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect()
}

/// Tells one start of the system from others, if it has a word for it.
fn system_start() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// About as often as Linux writes by itself what is older than that, so that little is left to wait for.
const BETWEEN_SYNCS: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests;
