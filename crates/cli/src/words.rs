//! The library's values in the words of the command line: what to do about an error names our options.

use hyperslab::list::human_bytes;
use hyperslab::select::Select;
use hyperslab::{Error, Remedy, Result};

/// Selections as they were typed.
pub(crate) fn selections(typed: &[String]) -> Result<Vec<Select>> {
    typed.iter().map(|text| text.parse()).collect()
}

/// An error with file and object, and what to do about it.
pub(crate) fn error(error: &Error) -> String {
    error.worded(&remedy).to_string()
}

/// As [`error()`], for an error that does not know its file.
pub(crate) fn error_in(error: &Error, file: &str) -> String {
    let reason = error.reason_worded(&remedy);
    match error.object() {
        Some(object) => format!("{file}:{object}: {reason}"),
        None => format!("{file}: {reason}"),
    }
}

/// What to do about an error.
fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::RaiseLimit(limit) => format!("raise with --limit {limit}=N"),
        Remedy::AllowExternal(folder) => format!("follow it with --allow-external {}", folder.display()),
        Remedy::AllowLoss { kinds, losses } => {
            let them = if *losses == 1 { "it" } else { "them" };
            format!("--allow-loss {} accepts {them}; -n shows this table and stops", kinds.join(","))
        }
        Remedy::LeaveOutUnreadable => "--allow-loss unreadable leaves such arrays out".into(),
        Remedy::Overwrite => "--overwrite replaces it".into(),
        Remedy::KeepForeignFiles => {
            "--overwrite would remove that; move it away, or choose another target".into()
        }
        Remedy::Resume { done, of } => {
            let of = of.map_or(String::new(), |of| format!(" of {}", human_bytes(of)));
            format!("--resume goes on from {}{of}", human_bytes(*done))
        }
        Remedy::StartAnew => "without --resume, all is made anew".into(),
        Remedy::NameTargetFormat(formats) => format!("--format {} says which", formats.join(" or ")),
        Remedy::KeepChunks => "-c none leaves no chunks for them".into(),
        Remedy::FillByType => {
            "--fill '/PATTERN:VALUE' gives arrays their own, '/PATTERN:keep' leaves it".into()
        }
        Remedy::ListFolder(folder) => format!("`hyperslab ls {}` lists the stores in it", folder.display()),
        Remedy::CheckDocument => "`hyperslab check` shows all that is wrong with the text".into(),
        Remedy::DescribeWithValues => "`hyperslab describe --values` writes them".into(),
        Remedy::ReadCells => "`hyperslab show` of the group lists the cells".into(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::{ErrorKind, Limit};

    #[test]
    fn remedies_name_the_options_of_the_command_line() {
        let limit = Error::limit_exceeded(Limit::Allocation, "a text of 9 bytes").in_file("a.yaml");
        assert_eq!(error(&limit), "a.yaml: a text of 9 bytes (raise with --limit allocation=N)");
        let exists = Error::new(ErrorKind::AlreadyExists, "exists")
            .with_remedy(Remedy::Overwrite)
            .with_remedy(Remedy::Resume { done: 100, of: Some(2 << 20) });
        assert_eq!(
            error(&exists),
            "exists\nhelp: --overwrite replaces it\nhelp: --resume goes on from 100 B of 2.0 MiB"
        );
    }
}
