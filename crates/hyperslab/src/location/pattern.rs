//! Patterns for paths and names.

use hyperslab_core::{Error, Result};

/// Whether a path has wildcards or alternatives.
pub fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[']) || first_list(path).is_some()
}

/// Whether `path` matches `pattern`: `*`, `?` and `[…]` within a name, `**` across groups, `{a,b}` for one of several
/// alternatives.
///
/// ```
/// use hyperslab::location::matches;
/// assert!(matches("/**/sst*", "/a/b/sst_mean"));
/// assert!(matches("/**/sst*", "/sst"));
/// assert!(!matches("/*/x", "/a/b/x"));
/// assert!(matches("/t[0-9]", "/t5") && !matches("/t[!0-9]", "/t5"));
/// assert!(matches("/{u,v}10", "/v10") && !matches("/{u,v}10", "/t10"));
/// ```
pub fn matches(pattern: &str, path: &str) -> bool {
    // Too many alternatives match nothing.
    alternatives(pattern).is_ok_and(|all| all.iter().any(|one| Pattern::new(one).matches(path)))
}

/// Whether a name matches a pattern for a single name.
pub(crate) fn name_matches(pattern: &str, name: &str) -> bool {
    alternatives(pattern).is_ok_and(|all| all.iter().any(|one| tokens_match(&tokens(one), name)))
}

/// A pattern without alternatives.
pub(super) struct Pattern {
    text: String,
    names: Vec<Name>,
}

/// The pattern for a single name, or for any number of groups.
enum Name {
    AnyGroups,
    Tokens(Vec<Token>),
}

impl Pattern {
    pub(super) fn new(text: &str) -> Pattern {
        let name = |name: &str| if name == "**" { Name::AnyGroups } else { Name::Tokens(tokens(name)) };
        Pattern { text: text.to_owned(), names: names(text).map(name).collect() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let path: Vec<&str> = names(path).collect();
        // reach[i]: whether the names of the pattern so far match the first i names of the path.
        let mut reach: Vec<bool> = std::iter::once(true).chain(path.iter().map(|_| false)).collect();
        for part in &self.names {
            let mut next = Vec::with_capacity(reach.len());
            match part {
                Name::AnyGroups => {
                    let mut any = false;
                    for matched in &reach {
                        any |= matched;
                        next.push(any);
                    }
                }
                Name::Tokens(tokens) => {
                    next.push(false);
                    let names = reach.iter().zip(&path);
                    next.extend(names.map(|(matched, name)| *matched && tokens_match(tokens, name)));
                }
            }
            reach = next;
        }
        reach.last().copied().unwrap_or(false)
    }
}

/// The names in a path.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// The patterns that a pattern with alternatives stands for, in order: `/{u,v}10` stands for `/u10` and `/v10`. Empty
/// braces are literal.
///
/// # Errors
/// If there are more than [`MAX_ALTERNATIVES`].
pub(super) fn alternatives(pattern: &str) -> Result<Vec<String>> {
    let (mut open, mut done) = (vec![pattern.to_owned()], Vec::new());
    while let Some(pattern) = open.pop() {
        let Some((before, list, behind)) = first_list(&pattern) else {
            done.push(pattern);
            continue;
        };
        open.extend(list.iter().rev().map(|one| format!("{before}{one}{behind}")));
        if open.len().saturating_add(done.len()) > MAX_ALTERNATIVES {
            return Err(Error::invalid(format!(
                "{pattern} stands for more than {MAX_ALTERNATIVES} patterns"
            )));
        }
    }
    Ok(done)
}

/// The first alternatives of a pattern, with the text before and after their braces. Alternatives can be nested.
fn first_list(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    pattern.match_indices('{').find_map(|(start, _)| {
        let (mut depth, mut from, mut list) = (0_usize, start + 1, Vec::new());
        for (at, c) in pattern.get(start..)?.char_indices().map(|(at, c)| (start + at, c)) {
            match c {
                '{' => depth += 1,
                ',' if depth == 1 => {
                    list.push(pattern.get(from..at)?);
                    from = at + 1;
                }
                '}' if depth == 1 => {
                    list.push(pattern.get(from..at)?);
                    let found = (pattern.get(..start)?, list, pattern.get(at + 1..)?);
                    return (found.1 != [""]).then_some(found);
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        None
    })
}

/// The maximum number of patterns that alternatives may stand for.
const MAX_ALTERNATIVES: usize = 1000;

/// Whether a whole name matches.
fn tokens_match(tokens: &[Token], name: &str) -> bool {
    let mut reach: Vec<bool> = vec![true];
    reach.extend(name.chars().map(|_| false));
    for token in tokens {
        let mut next = Vec::with_capacity(reach.len());
        if matches!(token, Token::Any) {
            let mut any = false;
            for matched in &reach {
                any |= matched;
                next.push(any);
            }
        } else {
            next.push(false);
            next.extend(reach.iter().zip(name.chars()).map(|(matched, c)| *matched && token.takes(c)));
        }
        reach = next;
    }
    reach.last().copied().unwrap_or(false)
}

enum Token {
    Any,
    One,
    Char(char),
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Token {
    fn takes(&self, c: char) -> bool {
        match self {
            Token::Any | Token::One => true,
            Token::Char(own) => *own == c,
            Token::Class { negated, ranges } => {
                ranges.iter().any(|(a, b)| (*a..=*b).contains(&c)) != *negated
            }
        }
    }
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        tokens.push(match c {
            '*' => Token::Any,
            '?' => Token::One,
            '[' => match class(rest.as_str()) {
                Some((class, behind)) => {
                    rest = behind.chars();
                    class
                }
                None => Token::Char('['),
            },
            other => Token::Char(other),
        });
    }
    tokens
}

/// The character class after a `[`, and the rest after its `]`.
fn class(text: &str) -> Option<(Token, &str)> {
    let (body, negated) = match text.strip_prefix(['!', '^']) {
        Some(body) => (body, true),
        None => (text, false),
    };
    // A `]` at the start of the brackets is a literal.
    let end = body.char_indices().skip(1).find(|(_, c)| *c == ']')?.0;
    let (inside, behind) = body.split_at_checked(end)?;
    let chars: Vec<char> = inside.chars().collect();
    let mut ranges = Vec::new();
    let mut rest = chars.as_slice();
    while let Some((first, tail)) = rest.split_first() {
        match tail {
            ['-', last, tail @ ..] => {
                ranges.push((*first, *last));
                rest = tail;
            }
            _ => {
                ranges.push((*first, *first));
                rest = tail;
            }
        }
    }
    Some((Token::Class { negated, ranges }, behind.strip_prefix(']')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_within_names_and_across_groups() {
        assert!(matches("/**", "/a/b/c"));
        assert!(matches("/a/**/c", "/a/c"));
        assert!(!matches("/a/*", "/a/b/c"));
        assert!(matches("/a?c", "/abc") && !matches("/a?c", "/ac"));
        assert!(matches("/[]x]", "/]") && matches("/[", "/["));
        assert!(matches("/", "/") && !matches("/", "/a"));
    }

    #[test]
    fn alternatives_stand_for_several_patterns() {
        let of = |pattern: &str| alternatives(pattern).unwrap();
        assert_eq!(of("/{u,v}10"), ["/u10", "/v10"]);
        assert_eq!(of("/{a/b,{c,d}*}{1,}"), ["/a/b1", "/a/b", "/c*1", "/c*", "/d*1", "/d*"]);
        for literal in ["/{a,b", "/a,b}", "/{}", "/a", "/a}b{c"] {
            assert_eq!(of(literal), [literal]);
            assert!(!is_pattern(literal));
        }
        // A program that puts names between braces may have a single one.
        assert_eq!(of("/{a}"), ["/a"]);
        assert_eq!(of("/{a}{b,c}{}"), ["/ab{}", "/ac{}"]);
        assert_eq!(of("/{a{b,c}"), ["/{ab", "/{ac"]);
        let many = "{a,b}".repeat(64);
        assert!(alternatives(&many).is_err() && !matches(&many, "/a"));
        assert!(name_matches("{a,b}.nc", "b.nc") && !name_matches("{a,b}.nc", "c.nc"));
        assert!(matches("/**/{t*,x}", "/a/t2") && matches("/é{ö,ü}", "/éü"));
    }
}
