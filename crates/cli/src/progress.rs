//! How far work has come, on standard error.

use crate::args::{Common, Progress as How};
use crate::output::without_controls;
use hyperslab::Watch;
use hyperslab::list::human_bytes;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Progress of one verb. It says nothing before half a second has passed.
pub(crate) struct Progress {
    verb: &'static str,
    how: How,
    begun: Instant,
    said: Option<Instant>,
    drawn: bool,
}

impl Progress {
    /// Progress as the options want it.
    pub(crate) fn new(verb: &'static str, common: &Common) -> Self {
        let terminal = io::stderr().is_terminal() && !common.quiet;
        let how = match common.progress {
            How::Auto if !terminal => How::Never,
            how => how,
        };
        Progress { verb, how, begun: Instant::now(), said: None, drawn: false }
    }

    /// The same for a verb that is told by what it reads of a store; `None` if nothing is to be said. A verb that
    /// writes to a terminal as it goes says enough by that.
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
            // While one thread says it, the others go on reading.
            if let Ok(mut progress) = progress.try_lock() {
                progress.update(&store, total);
            }
        }))
    }

    /// Says that `bytes` are done in all and `subject` is at hand.
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
        let clean = without_controls(subject);
        let shown = clean.as_deref().unwrap_or(subject);
        let text = match self.how {
            How::Json => {
                let path = serde_json::Value::from(subject);
                format!(
                    "{{\"verb\":\"{verb}\",\"path\":{path},\"bytes\":{bytes},\"bytes_per_second\":{rate}}}\n"
                )
            }
            _ => format!("{verb}  {shown}  {}  {}/s", human_bytes(bytes), human_bytes(rate)),
        };
        // There is nowhere left to say that standard error is closed.
        let _ = match self.how {
            How::Json => io::stderr().write_all(text.as_bytes()),
            How::Plain => writeln!(io::stderr(), "{text}"),
            _ => {
                self.drawn = true;
                write!(io::stderr(), "\r\x1b[K{text}")
            }
        };
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

const PATIENCE: Duration = Duration::from_millis(500);
