//! The table: the goals and results of all rows, then each row with all its sides.

use super::rounds::{Figures, Measured, Outcome};
use super::row::{Memory, Name, OURS, Row, Wanted};
use super::{Comparison, Options};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Measured rows, each in its own file, so that single rows can be measured again.
pub(super) struct Report {
    kept: PathBuf,
    small: bool,
    runs: usize,
}

impl Report {
    pub(super) fn new(data: &Path, options: &Options) -> Result<Report, String> {
        let kept = data.join("results");
        fs::create_dir_all(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
        Ok(Report { kept, small: options.small, runs: options.runs })
    }

    /// Writes a row to its file and returns it as text.
    pub(super) fn keep(&self, row: &Row, measured: &Measured) -> Result<String, String> {
        let text = format!("{}\n{}", wanted(row, measured), section(row, measured));
        let path = self.path(row);
        fs::write(&path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(text)
    }

    /// The text of all rows.
    pub(super) fn text(&self, comparison: &Comparison, rows: &[Row]) -> String {
        let Comparison { name, title, about, .. } = comparison;
        let mut text = format!("# {title}\n\nWritten by `cargo xtask bench {name}`. ");
        text += "Files are in the page cache. Each side is a process that does \
                 the same job in turn with\nthe others; a figure is the median of its runs, after one that warms \
                 up. A run of more than 1.5 × the median was disturbed and is\nreplaced. `reused`: into the same \
                 touched memory each time. `fresh`: into memory taken for it, after as much was touched and\nfreed. \
                 MB are 10^6 bytes; memory is the highest of all runs, of the whole process.\n\n";
        text += about;
        let _ = writeln!(text, "{}\n", machine());
        if self.small {
            text += "**Only the harness was tried, on a sixty-fourth of the data.**\n\n";
        }
        text += "| row | wanted | found | |\n|---|---|---|---|\n";
        let mut sections = String::new();
        for row in rows {
            let path = self.path(row);
            match fs::read_to_string(&path) {
                Ok(kept) => {
                    let (wanted, section) = kept.split_once("\n\n").unwrap_or((&kept, ""));
                    let _ = writeln!(text, "{wanted}");
                    let _ = write!(sections, "\n{section}");
                }
                Err(_) => {
                    let _ = writeln!(text, "| {} | | not measured | |", row.name);
                }
            }
        }
        let _ = writeln!(text, "\nRuns wanted of each side in the last run of the bench: {}.", self.runs);
        text + &sections
    }

    fn path(&self, row: &Row) -> PathBuf {
        self.kept.join(format!("{}.md", row.name))
    }
}

/// One line for each goal of a row.
fn wanted(row: &Row, measured: &Measured) -> String {
    let mut text = String::new();
    for wanted in &row.wanted {
        let (aim, found, met) = match wanted {
            Wanted::AtMost(one, other, max) => {
                let found = ratio(row, measured, *one, *other);
                let aim = match max {
                    Some(max) => format!("{} ≤ {} × {}", label(*one), trimmed(*max), label(*other)),
                    None => format!("({} beside {})", label(*one), label(*other)),
                };
                (aim, times(found), max.map(|max| found.map(|found| found <= max)))
            }
            Wanted::AtLeast(one, other, min) => {
                let found = ratio(row, measured, *other, *one);
                let aim = match min {
                    Some(min) => {
                        format!("{} ≥ {} × as fast as {}", label(*one), trimmed(*min), label(*other))
                    }
                    None => format!("(how fast {} is beside {})", label(*one), label(*other)),
                };
                (aim, times(found), min.map(|min| found.map(|found| found >= min)))
            }
            Wanted::BestOfProcessor(one, others, min) => {
                let best = others.iter().filter_map(|other| Some((*other, cpu(row, measured, *other)?)));
                let best = best.min_by(|(_, a), (_, b)| a.total_cmp(b));
                let found = best.and_then(|(_, best)| Some(best / cpu(row, measured, *one)?));
                let aim = format!("{} ≥ {} × the best MB per CPU s", label(*one), trimmed(*min));
                let (name, _) = best.unzip();
                let beside = name.map(|name| format!(" ({})", label(name))).unwrap_or_default();
                (aim, times(found) + &beside, Some(found.map(|found| found >= *min)))
            }
            Wanted::AheadOfEach(one, others) => {
                let ratios =
                    others.iter().filter_map(|other| Some((*other, ratio(row, measured, *other, *one)?)));
                let min = ratios.min_by(|(_, a), (_, b)| a.total_cmp(b));
                let (name, found) = min.unzip();
                let beside = name.map(|name| format!(" ({})", label(name))).unwrap_or_default();
                let aim = format!("{} ahead of each", label(*one));
                (aim, times(found) + &beside, Some(found.map(|found| found > 1.0)))
            }
            Wanted::Stored(one, other, max) => {
                let stored = |name| Some(megabytes(figures(row, measured, name)?.stored));
                let found = stored(*one).zip(stored(*other)).map(|(one, other)| one / other);
                let aim = format!("{} stores ≤ {} × {}", label(*one), trimmed(*max), label(*other));
                (aim, times(found), Some(found.map(|found| found <= *max)))
            }
            Wanted::Beside(max) => {
                let (found, met) = memory(row, measured, *max, beside);
                (format!("memory ≤ output + {max} MB"), found, Some(met))
            }
            Wanted::InAll(max) => {
                let (found, met) = memory(row, measured, *max, |figures| megabytes(figures.peak));
                (format!("memory ≤ {max} MB"), found, Some(met))
            }
        };
        let verdict = match met {
            Some(Some(true)) => "met",
            Some(Some(false)) => "**short**",
            Some(None) => "**not measured**",
            None => "",
        };
        let _ = writeln!(text, "| {} | {aim} | {found} | {verdict} |", row.name);
    }
    text
}

/// The maximum memory of our sides in megabytes, and whether it is within the limit.
fn memory(
    row: &Row,
    measured: &Measured,
    allowed: u64,
    of: impl Fn(&Figures) -> f64,
) -> (String, Option<bool>) {
    let ours = row.sides.iter().zip(&measured.sides).filter_map(|(side, outcome)| match outcome {
        Outcome::Measured(figures) if side.name.starts_with(OURS) => Some(of(figures)),
        _ => None,
    });
    let found = ours.max_by(f64::total_cmp);
    let allowed = f64::from(u32::try_from(allowed).unwrap_or(u32::MAX));
    (found.map_or("–".to_owned(), |found| format!("{found:.1} MB")), found.map(|found| found <= allowed))
}

fn section(row: &Row, measured: &Measured) -> String {
    let mut text = format!("## {}\n\n{}.\n\n", row.name, capitalised(&row.what));
    text += "| side | threads | memory | s | from–to | CPU s | MB per CPU s | peak MB | beside output | stored MB | runs \
             | same content |\n";
    text += "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (side, outcome) in row.sides.iter().zip(&measured.sides) {
        let memory = side.memory.map_or("", Memory::key);
        let _ = write!(text, "| {} | {} | {memory} | ", side.name, side.threads);
        let _ = match outcome {
            Outcome::Cannot(reason) => writeln!(text, "– | {} | | | | | | | |", reason.replace('|', "/")),
            Outcome::Measured(figures) => {
                let runs = match figures.rejected {
                    0 => figures.runs.to_string(),
                    rejected => format!("{}, {rejected} disturbed", figures.runs),
                };
                let same = match figures.agrees {
                    Some(true) => "yes",
                    Some(false) => "**no**",
                    None => "",
                };
                let unless_none = |bytes: u64, text: String| if bytes == 0 { String::new() } else { text };
                writeln!(
                    text,
                    "{} | {}–{} | {} | {} | {:.0} | {:.0} | {} | {runs} | {same} |",
                    seconds(figures.wall.median),
                    seconds(figures.wall.min),
                    seconds(figures.wall.max),
                    seconds(figures.cpu),
                    unless_none(figures.output, format!("{:.0}", megabytes(figures.output) / figures.cpu)),
                    megabytes(figures.peak),
                    beside(figures),
                    unless_none(figures.stored, format!("{:.1}", megabytes(figures.stored)))
                )
            }
        };
    }
    text
}

/// The ratio of the median times of two sides.
fn ratio(row: &Row, measured: &Measured, one: Name, other: Name) -> Option<f64> {
    Some(figures(row, measured, one)?.wall.median / figures(row, measured, other)?.wall.median)
}

/// The median processor seconds of a side, over all threads.
fn cpu(row: &Row, measured: &Measured, side: Name) -> Option<f64> {
    Some(figures(row, measured, side)?.cpu)
}

fn figures<'a>(row: &Row, measured: &'a Measured, name: Name) -> Option<&'a Figures> {
    let found =
        row.sides.iter().zip(&measured.sides).find(|(side, _)| (side.name.as_str(), side.memory) == name);
    match found?.1 {
        Outcome::Measured(figures) => Some(figures),
        Outcome::Cannot(_) => None,
    }
}

/// Megabytes of resident memory in addition to the output.
fn beside(figures: &Figures) -> f64 {
    megabytes(figures.peak) - megabytes(figures.output)
}

fn megabytes(bytes: u64) -> f64 {
    // No measured size exceeds 2^32 KB.
    f64::from(u32::try_from(bytes / 1000).unwrap_or(u32::MAX)) / 1000.0
}

fn label((name, memory): Name) -> String {
    memory.map_or(name.to_owned(), |memory| format!("{name} {}", memory.key()))
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or("–".to_owned(), |ratio| format!("{} ×", trimmed(ratio)))
}

/// Formats a number with three significant digits.
fn trimmed(value: f64) -> String {
    let text = match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 0.2 => format!("{value:.2}"),
        value => format!("1/{:.1}", 1.0 / value),
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn seconds(value: f64) -> String {
    match value {
        value if value >= 10.0 => format!("{value:.2}"),
        value if value >= 0.1 => format!("{value:.3}"),
        value => format!("{value:.5}"),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A description of the machine in one sentence.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let line = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    format!(
        "{}, {cores} cores, Linux {}; transparent huge pages: {}.",
        std::env::consts::ARCH,
        line("/proc/sys/kernel/osrelease"),
        line("/sys/kernel/mm/transparent_hugepage/enabled")
    )
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Spread;
    use super::super::row::Side;
    use super::*;

    #[test]
    fn reports_missed_goals_and_rows_without_measurement() {
        let side = |name: &str| Side {
            name: name.to_owned(),
            threads: 1,
            memory: None,
            program: PathBuf::new(),
            args: Vec::new(),
        };
        let took = |seconds: f64, peak: u64| {
            let wall = Spread { min: seconds, median: seconds, max: seconds };
            Outcome::Measured(Figures {
                runs: 7,
                rejected: 0,
                wall,
                cpu: seconds,
                peak,
                output: 4_000_000,
                stored: 0,
                agrees: Some(true),
            })
        };
        let (ours, limit, other) = ((OURS, None), ("limit", None), ("other", None));
        let row = Row {
            name: "row",
            what: "a row".to_owned(),
            sides: vec![side(OURS), side("limit"), side("other")],
            wanted: vec![
                Wanted::AtMost(ours, limit, Some(1.1)),
                Wanted::AtLeast(ours, limit, Some(0.5)),
                Wanted::AtMost(ours, other, Some(0.5)),
                Wanted::AtMost(ours, limit, None),
                Wanted::BestOfProcessor(ours, vec![limit, other], 0.95),
                Wanted::AheadOfEach(limit, vec![ours, other]),
                Wanted::Beside(64),
                Wanted::InAll(64),
            ],
            once: false,
        };
        let sides = vec![took(1.2, 67_000_000), took(1.0, 0), Outcome::Cannot("reads nothing".to_owned())];
        let text = wanted(&row, &Measured { sides, agrees: true });
        let verdicts: Vec<_> =
            text.lines().map(|line| line.rsplit('|').nth(1).unwrap_or("").trim()).collect();
        assert_eq!(
            verdicts,
            ["**short**", "met", "**not measured**", "", "**short**", "met", "met", "**short**"]
        );
    }

    #[test]
    fn numbers_have_three_significant_digits() {
        let texts = [1.1, 0.6, 1.0 / 60.0, 0.125, 1.15, 17.04, 250.0].map(trimmed);
        assert_eq!(texts, ["1.1", "0.6", "1/60", "1/8", "1.15", "17", "250"]);
        assert_eq!([0.00012, 0.7312, 12.0].map(seconds), ["0.00012", "0.731", "12.00"]);
    }
}
