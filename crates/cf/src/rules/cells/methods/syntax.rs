//! The grammar of `cell_methods`:
//!
//! ```text
//! name: [name: …] method [where type1 [over type2]] [within|over days|years] [(comment)]
//! ```
//!
//! Spec: CF 1.13, 7.3 Cell Methods, 7.4 Climatological Statistics, 7.5 Anomalies

use super::brief;

/// A method and the names that it is applied to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// The dimensions, scalar coordinates and standard names.
    pub(super) names: Vec<&'a str>,
    pub(super) method: &'a str,
    /// The variable that an anomaly is relative to.
    pub(super) norm: Option<&'a str>,
    /// The area type after `where`.
    pub(super) portion: Option<&'a str>,
    /// The area type after `over`.
    pub(super) of: Option<&'a str>,
    /// `within` or `over`, and the period after it.
    pub(super) period: Option<(&'a str, &'a str)>,
    /// The contents of parentheses.
    pub(super) comments: Vec<&'a str>,
}

/// A part of the text.
#[derive(Clone, Copy)]
enum Token<'a> {
    /// A word followed by a colon.
    Name(&'a str),
    Word(&'a str),
    /// The content of parentheses, which may nest.
    Comment(&'a str),
    /// A comment without a closing parenthesis.
    Open,
}

/// The entries of a string up to the first error, and a description of that error.
pub(super) fn parse(text: &str) -> (Vec<Entry<'_>>, Option<String>) {
    let mut tokens = tokens(text).peekable();
    let mut entries: Vec<Entry<'_>> = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            Token::Name(name) => {
                let mut entry = Entry { names: vec![name], ..Entry::default() };
                while let Some(Token::Name(name)) = tokens.peek() {
                    entry.names.push(name);
                    tokens.next();
                }
                if let Err(fault) = method(&mut tokens, &mut entry) {
                    return (entries, Some(fault));
                }
                entries.push(entry);
            }
            Token::Comment(comment) => match entries.last_mut() {
                Some(entry) => entry.comments.push(comment),
                None => return (entries, Some("a comment first, expected a name with a colon".to_owned())),
            },
            Token::Word(word) => {
                return (entries, Some(format!("{:?}, expected a name with a colon", brief(word))));
            }
            Token::Open => {
                return (entries, Some("a parenthesis that is not closed, expected \")\"".to_owned()));
            }
        }
    }
    (entries, None)
}

type Tokens<'a, I> = std::iter::Peekable<I>;

/// The method of an entry and the phrases after it.
fn method<'a, I: Iterator<Item = Token<'a>>>(
    tokens: &mut Tokens<'a, I>,
    entry: &mut Entry<'a>,
) -> Result<(), String> {
    let name = entry.names.last().copied().unwrap_or_default();
    entry.method = word(tokens).ok_or_else(|| format!("\"{}:\" without a method", brief(name)))?;
    let behind = |word: &str| format!("{word:?} at the end of a method, expected a word behind it");
    if entry.method == "anomaly_wrt" {
        entry.norm = Some(word(tokens).ok_or_else(|| behind("anomaly_wrt"))?);
    }
    while let Some(Token::Word(keyword @ ("where" | "over" | "within"))) = tokens.peek().copied() {
        tokens.next();
        let argument = word(tokens).ok_or_else(|| behind(keyword))?;
        // After `where`, `over` states a portion of the cell. Otherwise, or with a period, it states a range of time.
        let is_area = entry.portion.is_some() && !matches!(argument, "days" | "years");
        match keyword {
            "where" if entry.portion.is_none() && entry.period.is_none() => entry.portion = Some(argument),
            "over" if is_area && entry.of.is_none() && entry.period.is_none() => entry.of = Some(argument),
            "over" | "within" if entry.period.is_none() => entry.period = Some((keyword, argument)),
            _ => return Err(format!("a second {keyword:?} of one method, expected one")),
        }
    }
    Ok(())
}

fn word<'a, I: Iterator<Item = Token<'a>>>(tokens: &mut Tokens<'a, I>) -> Option<&'a str> {
    match tokens.peek() {
        Some(Token::Word(word)) => {
            let word = *word;
            tokens.next();
            Some(word)
        }
        _ => None,
    }
}

fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let (token, after) = if let Some(inside) = rest.strip_prefix('(') {
            match closing(inside) {
                Some((comment, after)) => (Token::Comment(comment.trim()), after),
                None => (Token::Open, ""),
            }
        } else {
            // A name may be joined to the text after it.
            let is_end = |letter: char| letter.is_whitespace() || matches!(letter, '(' | ':');
            let (word, after) = rest.split_at_checked(rest.find(is_end).unwrap_or(rest.len()))?;
            match after.strip_prefix(':') {
                Some(after) if !word.is_empty() => (Token::Name(word), after),
                Some(after) => (Token::Word(":"), after),
                None if word.is_empty() => return None,
                None => (Token::Word(word), after),
            }
        };
        rest = after;
        Some(token)
    })
}

/// The text before the closing parenthesis, and the text after it.
fn closing(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return Some((text.get(..at)?, text.get(at + 1..)?)),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The text after `interval:` at the start of a comment up to the next keyword, and the rest from there.
pub(super) fn interval(comment: &str) -> Option<(&str, &str)> {
    let own = comment.trim_start().strip_prefix("interval:")?.trim_start();
    let next = own.find("interval:").unwrap_or(own.len());
    let end = own.get(..next)?.find("comment:").unwrap_or(next);
    let (own, rest) = own.split_at_checked(end)?;
    Some((own.trim(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_all_its_phrases() {
        let text =
            "lat: lon: mean where sea_ice over sea (interval: 1 km comment: a (b) c) time:sum within days";
        let (entries, fault) = parse(text);
        assert_eq!(fault, None);
        let [first, second] = entries.as_slice() else { panic!("{entries:?}") };
        assert_eq!(first.names, ["lat", "lon"]);
        assert_eq!((first.method, first.portion, first.of), ("mean", Some("sea_ice"), Some("sea")));
        assert_eq!(first.comments, ["interval: 1 km comment: a (b) c"]);
        assert_eq!((second.method, second.period), ("sum", Some(("within", "days"))));
    }

    #[test]
    fn what_is_wrong_ends_the_entries() {
        let fault = |text| parse(text).1;
        assert!(fault("time: mean (interval: 1 hr").is_some());
        assert!(fault("time mean").is_some());
        assert!(fault("time:").is_some());
        assert!(fault("time: mean where").is_some());
        assert!(fault("time: mean mean").is_some());
        assert_eq!(fault(""), None);
        assert_eq!(parse("time: mean lat:").0.len(), 1);
    }

    #[test]
    fn intervals_are_taken_one_by_one() {
        assert_eq!(interval("interval: 1 day comment: x"), Some(("1 day", "comment: x")));
        assert_eq!(interval("interval: 1 m interval: 2 m"), Some(("1 m", "interval: 2 m")));
        assert_eq!(interval("by hand"), None);
    }
}
