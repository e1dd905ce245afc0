//! The tokens of a unit.
//!
//! Of the patterns that are active in its state, the scanner of UDUNITS takes the one that matches the most bytes, and
//! among equal matches the first. The patterns are those of `lib/scanner.l`, in its order. The meaning of spaces and
//! signs depends on the state: in `m-2` the sign belongs to the number, while `K @ 1-2` contains a date.
//!
//! Spec: UDUNITS-2.2.28, `lib/scanner.l`

mod pattern;

use super::LogarithmBase;
use super::reference_time::{Clock, Date};
pub(super) use pattern::scan_integer;
use pattern::{BEHIND_DATE, length, scan_real, scan_superscript};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Shift,
    Multiply,
    Divide,
    Integer(i64),
    Exponent(i64),
    Real(f64),
    Identifier(&'a str),
    Date(Date),
    Clock(Clock),
    Logarithm(LogarithmBase),
    Open,
    Close,
    /// A number that does not fit in 64 bits.
    Beyond,
    /// A byte that is not part of any token.
    Stray,
    End,
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'a> {
    pub(super) token: Token<'a>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What the scanner has seen so far, which determines the active patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Initial,
    Identifier,
    Shift,
    Date,
    Clock,
}

/// The patterns, in their order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    Shift,
    Divide,
    Multiply,
    Exponent,
    Superscript,
    BrokenDate,
    PackedDate,
    BrokenClock,
    PackedClock,
    BrokenZone,
    SignedZone,
    Zone,
    Real,
    Integer,
    Logarithm(LogarithmBase),
    Identifier,
    Any,
}

impl State {
    /// The active patterns in this state.
    fn patterns(self) -> &'static [Pattern] {
        use Pattern::{
            Any, BrokenClock, BrokenDate, BrokenZone, Divide, Exponent, Identifier, Integer, Multiply,
            PackedClock, PackedDate, Real, Shift, SignedZone, Superscript, Zone,
        };
        const BINARY: Pattern = Pattern::Logarithm(LogarithmBase::Binary);
        const NATURAL: Pattern = Pattern::Logarithm(LogarithmBase::Natural);
        const DECIMAL: Pattern = Pattern::Logarithm(LogarithmBase::Decimal);
        match self {
            State::Initial => &[
                Shift,
                Divide,
                Multiply,
                Exponent,
                Superscript,
                Real,
                Integer,
                DECIMAL,
                NATURAL,
                BINARY,
                Identifier,
                Any,
            ],
            State::Identifier => {
                &[Shift, Divide, Multiply, Exponent, Superscript, Integer, DECIMAL, NATURAL, BINARY, Any]
            }
            State::Shift => &[BrokenDate, PackedDate, Real, Integer, DECIMAL, NATURAL, BINARY, Any],
            State::Date => &[BrokenClock, PackedClock, DECIMAL, NATURAL, BINARY, Any],
            State::Clock => &[BrokenZone, SignedZone, Zone, DECIMAL, NATURAL, BINARY, Identifier, Any],
        }
    }
}

/// A scanner of the text of a unit.
pub(super) struct Scanner<'a> {
    text: &'a str,
    position: usize,
    state: State,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, position: 0, state: State::Initial }
    }

    /// The end of the scanned text.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// The next token. `is_time` states whether the unit before `since` is a unit of time: only then are digits a date.
    pub(super) fn next(&mut self, is_time: bool) -> Lexeme<'a> {
        let bytes = self.text.as_bytes();
        loop {
            let start = self.position;
            let rest = bytes.get(start..).unwrap_or_default();
            let Some(first) = rest.first() else {
                return Lexeme { token: Token::End, start, end: start };
            };
            let patterns = self.state.patterns().iter();
            // `max_by_key` returns the last of equal elements.
            let longest = patterns.rev().map(|pattern| (*pattern, length(*pattern, rest)));
            match longest.max_by_key(|(_, length)| *length) {
                Some((pattern, length)) if length > 0 => {
                    self.position = start + length;
                    let text = self.text.get(start..self.position);
                    let token = self.token(pattern, *first, text, is_time);
                    return Lexeme { token, start, end: self.position };
                }
                // No pattern matches a line feed, and flex skips what no pattern matches.
                _ => self.position += 1,
            }
        }
    }

    /// The token of a match; its text is `None` if the match is only part of a character.
    fn token(&mut self, pattern: Pattern, first: u8, text: Option<&'a str>, is_time: bool) -> Token<'a> {
        let Some(text) = text else {
            self.state = State::Initial;
            return Token::Stray;
        };
        let (token, state) = match pattern {
            Pattern::Shift => (Token::Shift, State::Shift),
            Pattern::Divide => (Token::Divide, State::Initial),
            Pattern::Multiply => (Token::Multiply, State::Initial),
            Pattern::Exponent => {
                let (exponent, _) = scan_integer(text.trim_start_matches(['^', '*']));
                // The state does not change: `m^2s` is not `m^2 s`.
                (Token::Exponent(exponent), self.state)
            }
            Pattern::Superscript => {
                (scan_superscript(text).map_or(Token::Beyond, Token::Exponent), State::Initial)
            }
            Pattern::BrokenDate => (Token::Date(Date::parse_broken(text)), State::Date),
            Pattern::PackedDate if is_time => (Token::Date(Date::parse_packed(text)), State::Date),
            Pattern::PackedDate | Pattern::Real => {
                let number = text.trim_end_matches(BEHIND_DATE);
                (scan_real(number).map_or(Token::Beyond, Token::Real), State::Initial)
            }
            Pattern::BrokenClock => (Token::Clock(Clock::parse_broken(text)), State::Clock),
            Pattern::PackedClock => (Token::Clock(Clock::parse_packed(text)), State::Clock),
            Pattern::BrokenZone => (Token::Clock(Clock::parse_broken(text)), State::Initial),
            Pattern::SignedZone | Pattern::Zone => (Token::Clock(Clock::parse_zone(text)), State::Initial),
            Pattern::Integer => match scan_integer(text) {
                (number, true) => (Token::Integer(number), State::Initial),
                (_, false) => (Token::Beyond, State::Initial),
            },
            Pattern::Logarithm(base) => (Token::Logarithm(base), self.state),
            Pattern::Identifier => (Token::Identifier(text), State::Identifier),
            Pattern::Any => match first {
                b'(' => (Token::Open, State::Initial),
                b')' => (Token::Close, State::Initial),
                _ => (Token::Stray, State::Initial),
            },
        };
        self.state = state;
        token
    }
}
