//! How far work has come, on standard error.

use crate::args::{Common, Progress as How};
use hyperslab::NodePath;
use hyperslab::list::human_bytes;
use std::io::{self, IsTerminal, Write};
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

    /// Says that `bytes` are done in all and `path` is at hand.
    pub(crate) fn update(&mut self, path: &NodePath, bytes: u64) {
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
        let text = match self.how {
            How::Json => {
                let path = serde_json::Value::from(path.as_str());
                format!(
                    "{{\"verb\":\"{verb}\",\"path\":{path},\"bytes\":{bytes},\"bytes_per_second\":{rate}}}\n"
                )
            }
            _ => format!("{verb}  {path}  {}  {}/s", human_bytes(bytes), human_bytes(rate)),
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
