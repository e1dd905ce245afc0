//! The journal: a text file that lists the finished parts of a store.
//!
//! Each line is the checksum of a JSON text, a space, and the text:
//!
//! | text | meaning |
//! |---|---|
//! | first line: an object | the fingerprint of the source and the options |
//! | `["/sst",[8,64,64],0,16,65536]` | tiles 0 to 15 of `/sst`, of shape 8×64×64 and 65536 bytes, are finished |
//! | `{"safe":1234}` | all parts in the first 1234 bytes of the journal are on the disk |
//! | `{"forget":"/sst"}` | all earlier lines about `/sst` are void |
//!
//! Reading stops at the first incomplete line. All parts after that point are written again.

use super::fingerprint::Fingerprint;
use super::{named, rename};
use hyperslab_core::Result;
use hyperslab_core::real_path::RealFolder;
use hyperslab_model::NodePath;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A part of a store: some tiles of one array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// The path of the array.
    pub array: NodePath,
    /// The shape of the tiles in elements. Parts with different tile shapes are not comparable.
    pub tile: Vec<u64>,
    /// The numbers of the tiles, in an order that the caller chooses.
    pub tiles: Range<u64>,
}

/// The journal of this run.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// The parts of the interrupted run: disjoint ranges, sorted by their starts.
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
    /// Lines that wait to be written together, because many arrive within a short time.
    waiting: String,
    /// When counting of writes began, and the count.
    counted: Instant,
    writes: u32,
}

/// The journal of an interrupted run.
#[derive(Debug)]
pub(super) struct Found {
    made_from: Value,
    units: Vec<Done>,
    /// The number of leading units that are on disk, so that a power failure cannot lose them.
    safe: usize,
    /// Whether units at the end were dropped, because the operating system has been restarted since.
    pub(super) is_cut: bool,
}

/// A finished part in a journal. The array is kept as text, because some names in files are not valid paths.
#[derive(Debug)]
struct Done {
    array: String,
    tile: Vec<u64>,
    tiles: Range<u64>,
    bytes: u64,
}

impl Journal {
    /// Creates an empty journal.
    pub(super) fn create(path: &Path, fingerprint: &Fingerprint) -> Result<Journal> {
        let nothing = Found { made_from: Value::Null, units: Vec::new(), safe: 0, is_cut: false };
        Journal::resume(path, nothing, fingerprint)
    }

    /// Reads the journal at `path`; `None` if there is no journal that a run could resume from.
    pub(super) fn read(path: &Path) -> Result<Option<Found>> {
        match fs::read(path) {
            Ok(bytes) => Ok(Found::parse(&bytes, system_start().as_deref())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(named(e, path)),
        }
    }

    /// Creates a journal with the content of an earlier one, which it replaces when it is complete.
    pub(super) fn resume(path: &Path, found: Found, fingerprint: &Fingerprint) -> Result<Journal> {
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
        let file = replaced(path, &beside, &text).map_err(|e| named(e, path))?;
        let (bytes, units) = (found.bytes(), found.units.len() as u64);
        let (len, now) = (text.len() as u64, Instant::now());
        let (waiting, writes) = (String::new(), 0);
        let state = State { file, len, units, bytes, synced: now, waiting, counted: now, writes };
        Ok(Journal { path: path.to_path_buf(), earlier: merged(found.units), state: Mutex::new(state) })
    }

    /// Whether the interrupted run had finished `unit`.
    pub(super) fn finished(&self, unit: &Unit) -> bool {
        let Some(ranges) = self.earlier.get(&(unit.array.to_string(), unit.tile.clone())) else {
            return false;
        };
        let after = ranges.partition_point(|range| range.start <= unit.tiles.start);
        let before = after.checked_sub(1).and_then(|index| ranges.get(index));
        before.is_some_and(|range| unit.tiles.end <= range.end)
    }

    /// Records a finished part.
    pub(super) fn record(&self, unit: &Unit, bytes: u64) -> Result<()> {
        let Unit { array, tile, tiles } = unit.clone();
        let done = Done { array: array.to_string(), tile, tiles, bytes };
        let text = line(&done.emit());
        let mut state = self.state();
        state.record(&text).map_err(|e| named(e, &self.path))?;
        state.units += 1;
        state.bytes = state.bytes.saturating_add(bytes);
        if state.synced.elapsed() < BETWEEN_SYNCS {
            return Ok(());
        }
        state.synced = Instant::now();
        state.append("").map_err(|e| named(e, &self.path))?;
        let safe = state.len;
        drop(state);
        // Other threads continue meanwhile. If the sync fails, the parts are not recorded as safe.
        if rename::sync_file_system(&self.path).is_some_and(|synced| synced.is_ok()) {
            self.state().append(&line(&json!({"safe": safe}))).map_err(|e| named(e, &self.path))?;
        }
        Ok(())
    }

    /// Records that no part of an array is finished.
    pub(super) fn forget(&self, array: &NodePath) -> Result<()> {
        let text = line(&json!({"forget": array.as_str()}));
        self.state().append(&text).map_err(|e| named(e, &self.path))
    }

    /// The number of bytes of all finished parts.
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
    /// Adds the line of a part. It is written immediately, which takes microseconds, so that it survives the end of the
    /// process, unless parts themselves take no longer than that.
    fn record(&mut self, line: &str) -> io::Result<()> {
        if self.counted.elapsed() >= WINDOW {
            (self.counted, self.writes) = (Instant::now(), 0);
        }
        if self.writes < MAX_WRITES {
            self.writes += 1;
            return self.append(line);
        }
        self.waiting.push_str(line);
        Ok(())
    }

    /// Writes the waiting lines and this one.
    fn append(&mut self, line: &str) -> io::Result<()> {
        self.waiting.push_str(line);
        let lines = std::mem::take(&mut self.waiting);
        match self.file.write_all(lines.as_bytes()) {
            Ok(()) => {
                self.len += lines.len() as u64;
                Ok(())
            }
            Err(e) => {
                // An incomplete line would hide all later ones.
                let _ = self.file.set_len(self.len).and_then(|()| self.file.seek(SeekFrom::Start(self.len)));
                Err(e)
            }
        }
    }
}

/// A run that fails is continued from its last line.
impl Drop for State {
    fn drop(&mut self) {
        let _ = self.append("");
    }
}

impl Found {
    /// Fails if the interrupted run had other sources or options.
    pub(super) fn check_same(&self, fingerprint: &Fingerprint) -> Result<()> {
        fingerprint.check_same(&self.made_from)
    }

    /// The number of bytes of all finished parts.
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
        // If the operating system has not been restarted since, no written data was lost.
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

/// Writes a file next to the one at a real path and gives it the name of that file. Returns it, open at its end.
fn replaced(path: &Path, beside: &Path, text: &str) -> io::Result<File> {
    let (folder, name) = RealFolder::around(path)?;
    let beside = beside.file_name().unwrap_or(name);
    match folder.remove_file(beside) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut file = folder.create_file(beside)?;
    file.write_all(text.as_bytes())?;
    folder.rename(beside, name)?;
    Ok(file)
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

/// The value of a line; `None` if the line is incomplete or its checksum is wrong.
fn checked(line: &[u8]) -> Option<Value> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    (sum == checksum(text)).then(|| serde_json::from_str(text).ok())?
}

fn checksum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect()
}

/// An identifier of the current boot of the operating system, if the system provides one.
fn system_start() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// Linux writes data of this age to disk by itself, so each sync has little left to write.
const BETWEEN_SYNCS: Duration = Duration::from_secs(30);

/// The number of writes within a period above which lines wait for the first write after the period.
const MAX_WRITES: u32 = 100;
const WINDOW: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests;
