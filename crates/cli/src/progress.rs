//! Reports progress on standard error.

use crate::args::{Common, Progress as How};
use crate::output::to_stderr;
use crate::terminal::{harmless, json};
use hyperslab::Watch;
use hyperslab::list::human_bytes;
use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The progress of one verb. Nothing is printed in the first half second.
pub(crate) struct Progress {
    verb: &'static str,
    how: How,
    /// The total number of bytes, if it is known.
    total: Option<u64>,
    begun: Instant,
    said: Option<Instant>,
    drawn: bool,
}

impl Progress {
    /// Progress according to the options.
    pub(crate) fn new(verb: &'static str, common: &Common) -> Self {
        let terminal = io::stderr().is_terminal() && !common.quiet;
        let how = match common.progress {
            How::Auto if !terminal => How::Never,
            how => how,
        };
        Progress { verb, how, total: None, begun: Instant::now(), said: None, drawn: false }
    }

    /// Sets the total number of bytes.
    pub(crate) fn of(&mut self, total: u64) {
        self.total = Some(total).filter(|total| *total > 0);
        self.begun = Instant::now();
    }

    /// Progress of a verb that reads a store; `None` if nothing should be printed. A verb that continuously writes to a
    /// terminal needs no progress.
    pub(crate) fn of_reading(
        verb: &'static str,
        store: &str,
        writes: bool,
        common: &Common,
    ) -> Option<Watch> {
        let progress = Progress::new(verb, common);
        if matches!(progress.how, How::Never) || writes && io::stdout().is_terminal() {
            return None;
        }
        let (progress, store, total) = (Mutex::new(progress), store.to_owned(), AtomicU64::new(0));
        Some(Watch::new(move |bytes| {
            let total = total.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
            // While one thread reports, the others continue to read.
            if let Ok(mut progress) = progress.try_lock() {
                progress.update(&store, total);
            }
        }))
    }

    /// Clears the drawn line, so that other text can be printed.
    pub(crate) fn end(&mut self) {
        if std::mem::take(&mut self.drawn) {
            to_stderr("\r\x1b[K");
        }
    }

    /// Reports that `bytes` are done in total, and that `subject` is the current object.
    pub(crate) fn update(&mut self, subject: &str, bytes: u64) {
        let every = match self.how {
            How::Never => return,
            How::Plain => Duration::from_secs(10),
            How::Auto | How::Json => Duration::from_millis(100),
        };
        let now = Instant::now();
        let waited = self.said.map_or(now - self.begun >= PATIENCE, |said| now - said >= every);
        if !waited {
            return;
        }
        self.said = Some(now);
        let seconds = (now - self.begun).as_millis().max(1);
        let rate = u64::try_from(u128::from(bytes) * 1000 / seconds).unwrap_or(u64::MAX);
        let verb = self.verb;
        let shown = harmless(subject);
        let text = match self.how {
            How::Json => {
                let path = json(serde_json::Value::from(subject));
                let total = self.total.map(|total| format!(",\"total\":{total}")).unwrap_or_default();
                format!(
                    "{{\"verb\":\"{verb}\",\"path\":{path},\"bytes\":{bytes}{total},\"bytes_per_second\":{rate}}}\n"
                )
            }
            How::Auto => match self.total {
                Some(total) => format!("{verb}  {shown}  {}  {}", bar(bytes, total), of(bytes, total, rate)),
                None => format!("{verb}  {shown}  {}  {}/s", human_bytes(bytes), human_bytes(rate)),
            },
            _ => match self.total {
                Some(total) => format!("{verb}  {shown}  {}", of(bytes, total, rate)),
                None => format!("{verb}  {shown}  {}  {}/s", human_bytes(bytes), human_bytes(rate)),
            },
        };
        match self.how {
            How::Json => to_stderr(text),
            How::Plain => to_stderr(format_args!("{text}\n")),
            _ => {
                self.drawn = true;
                to_stderr(format_args!("\r\x1b[K{text}"));
            }
        }
    }
}

/// A progress bar, in ASCII unless the terminal supports other characters.
fn bar(bytes: u64, total: u64) -> String {
    let is_utf8 = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| {
        std::env::var(name).ok().filter(|value| !value.is_empty()).map(|value| value.to_lowercase())
    });
    let (done, left) = match is_utf8.is_some_and(|locale| locale.contains("utf")) {
        true => ("━", "─"),
        false => ("=", "-"),
    };
    let filled = u128::from(bytes.min(total)) * BAR as u128 / u128::from(total.max(1));
    let filled = usize::try_from(filled).unwrap_or(BAR);
    format!("{}{}", done.repeat(filled), left.repeat(BAR - filled))
}

/// A text such as `43 %  412 MiB of 960 MiB  188 MiB/s  3 s left`.
fn of(bytes: u64, total: u64, rate: u64) -> String {
    let percent = u128::from(bytes.min(total)) * 100 / u128::from(total.max(1));
    let left = total.saturating_sub(bytes).checked_div(rate).unwrap_or(0);
    let left = match left {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    };
    let (bytes, total, rate) = (human_bytes(bytes), human_bytes(total), human_bytes(rate));
    format!("{percent} %  {bytes} of {total}  {rate}/s  {left} left")
}

/// The width of a bar in characters.
const BAR: usize = 24;

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

const PATIENCE: Duration = Duration::from_millis(500);
