//! The grammar of units.
//!
//! ```text
//! unit    = [ product [ SHIFT ( number | time ) ] ]
//! product = power { [ MULTIPLY | DIVIDE ] power }
//! power   = basic [ INTEGER | EXPONENT ]
//! basic   = IDENTIFIER | number | "(" unit ")" | LOGARITHM product ")"
//! time    = DATE [ CLOCK [ CLOCK | "UTC" | "GMT" | "Z" ] ]
//! ```
//!
//! The unit in parentheses must not be empty. An integer after a basic unit is its exponent. `m 2` is not `m2`, because
//! the space there is a token.
//!
//! Spec: UDUNITS-2.2.28, `lib/parser.y`

use super::algebra::Meaningless;
use super::database::{Database, NoUnit};
use super::near::near;
use super::reference_time::Clock;
use super::scanner::{Lexeme, Scanner, Token};
use super::{Dimension, LogarithmBase, ReferenceTime, Unit, UnitError};

/// Parses a unit with this database.
pub(super) fn parse(text: &str, database: &Database) -> Result<Unit, UnitError> {
    let trimmed = text.trim_matches(WHITE_SPACE);
    let start = text.len() - text.trim_start_matches(WHITE_SPACE).len();
    let mut parser =
        Parser { text: trimmed, scanner: Scanner::new(trimmed), ahead: None, depth: 0, database };
    let unit = parser.whole();
    unit.map_err(|error| UnitError { at: error.at + start, ..error })
        .map(|unit| Unit { unread: unit.unread.map(|at| at + start), ..unit })
}

/// The characters that `ut_trim` is documented to remove from both ends.
const WHITE_SPACE: [char; 6] = [' ', '\t', '\n', '\r', '\u{c}', '\u{b}'];

/// The maximum number of open parentheses, so that a file cannot exhaust the stack.
const MAX_DEPTH: usize = 100;

const UNIT: &str = "a unit or a number";
const MORE: &str = "a unit, a number, an operator or the end";
const NESTED_MORE: &str = "a unit, a number, an operator or `)`";
const END: &str = "the end";

struct Parser<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
    /// The token that was peeked at but not consumed.
    ahead: Option<Lexeme<'a>>,
    depth: usize,
    database: &'a Database,
}

impl<'a> Parser<'a> {
    fn whole(&mut self) -> Result<Unit, UnitError> {
        if self.peek().token == Token::End {
            return Ok(Unit::product(Dimension::ONE));
        }
        let (unit, is_shifted) = self.unit()?;
        let Some(next) = self.ahead else {
            // A shifted unit is complete without looking at what follows.
            return match self.scanner.position() {
                position if position == self.text.len() => Ok(unit),
                _ => {
                    let next = self.peek();
                    Err(self.error(next, END))
                }
            };
        };
        let is_last = next.end == self.text.len();
        match next.token {
            Token::End => Ok(unit),
            // See `Unit::unread`.
            _ if is_last && (is_shifted || next.token == Token::Close) => {
                Ok(Unit { unread: Some(next.start), ..unit })
            }
            _ => Err(self.error(next, if is_shifted { END } else { MORE })),
        }
    }

    /// A unit, and whether it was shifted.
    fn unit(&mut self) -> Result<(Unit, bool), UnitError> {
        let start = self.peek().start;
        let unit = self.product()?;
        if self.peek().token != Token::Shift {
            return Ok((unit, false));
        }
        self.take();
        let is_time = !unit.is_reference_time() && unit.can_convert_to(&Unit::product(Dimension::TIME));
        let origin = self.scanner.next(is_time);
        let shifted = match origin.token {
            Token::Integer(number) => unit.shifted(nearest_float(number)),
            Token::Real(number) => unit.shifted(number),
            Token::Date(date) => {
                let (clock, zone) = (self.clock(), self.zone()?);
                let text = self.text.get(origin.start..self.read()).unwrap_or_default();
                let reference = ReferenceTime::new(text.trim_end(), date, clock, zone);
                return match unit.since(reference) {
                    Ok(unit) => Ok((unit, true)),
                    Err(Meaningless(expected)) => Err(self.error_between(start, origin.start, expected)),
                };
            }
            _ if is_time => return Err(self.error(origin, "a date or a number")),
            _ => return Err(self.error(origin, "a number")),
        };
        match shifted {
            Ok(unit) => Ok((unit, true)),
            Err(Meaningless(expected)) => Err(self.error_between(start, origin.end, expected)),
        }
    }

    /// The time of day after a date.
    fn clock(&mut self) -> Option<Clock> {
        match self.peek().token {
            Token::Clock(clock) => {
                self.take();
                Some(clock)
            }
            _ => None,
        }
    }

    /// The time zone after a time of day. After a date alone the scanner does not recognise any.
    fn zone(&mut self) -> Result<Option<Clock>, UnitError> {
        if self.ahead.is_some() {
            return Ok(None);
        }
        let next = self.peek();
        let zone = match next.token {
            Token::Clock(zone) => zone,
            Token::Identifier(name) if UTC.iter().any(|utc| utc.eq_ignore_ascii_case(name)) => {
                Clock::default()
            }
            Token::Identifier(_) => return Err(self.error(next, "`UTC`, `GMT`, `Z` or hours and minutes")),
            _ => return Ok(None),
        };
        self.take();
        Ok(Some(zone))
    }

    fn product(&mut self) -> Result<Unit, UnitError> {
        let mut product = self.power()?;
        loop {
            let next = self.peek();
            let combine = match next.token {
                Token::Multiply | Token::Divide => {
                    self.take();
                    if next.token == Token::Divide { Unit::divide } else { Unit::multiply }
                }
                Token::Integer(_)
                | Token::Real(_)
                | Token::Identifier(_)
                | Token::Open
                | Token::Logarithm(_) => Unit::multiply,
                _ => return Ok(product),
            };
            let start = self.peek().start;
            let factor = self.power()?;
            let combined = combine(product, factor);
            product =
                combined.map_err(|Meaningless(expected)| self.error_between(start, self.read(), expected))?;
        }
    }

    fn power(&mut self) -> Result<Unit, UnitError> {
        let unit = self.basic()?;
        let next = self.peek();
        let (Token::Integer(exponent) | Token::Exponent(exponent)) = next.token else { return Ok(unit) };
        self.take();
        unit.raise(exponent).map_err(|Meaningless(expected)| self.error(next, expected))
    }

    fn basic(&mut self) -> Result<Unit, UnitError> {
        let next = self.peek();
        let unit = match next.token {
            Token::Identifier(identifier) => {
                let database = self.database;
                database.find(identifier).map_err(|no_unit| match no_unit {
                    NoUnit::Meaningless(Meaningless(expected)) => self.error(next, expected),
                    NoUnit::Unknown => {
                        let error = self.error(next, "a unit of UDUNITS");
                        UnitError { near: near(identifier, database), ..error }
                    }
                })?
            }
            Token::Integer(number) => self.number(next, nearest_float(number))?,
            Token::Real(number) => self.number(next, number)?,
            Token::Open => return self.nested(next, None),
            Token::Logarithm(base) => return self.nested(next, Some(base)),
            Token::Beyond => return Err(self.error(next, "a number that 64 bits hold")),
            _ => return Err(self.error(next, UNIT)),
        };
        self.take();
        Ok(unit)
    }

    fn number(&self, lexeme: Lexeme<'_>, number: f64) -> Result<Unit, UnitError> {
        let unit = Unit::product(Dimension::ONE).scaled(number);
        unit.map_err(|Meaningless(expected)| self.error(lexeme, expected))
    }

    /// A unit in parentheses, or the reference level of a logarithm, which can't be shifted.
    fn nested(&mut self, open: Lexeme<'_>, logarithm: Option<LogarithmBase>) -> Result<Unit, UnitError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(open, "at most 100 open parentheses"));
        }
        self.depth += 1;
        self.take();
        let (unit, is_shifted) = match logarithm {
            None => self.unit()?,
            Some(base) => (self.product()?.logarithm(base), false),
        };
        let close = self.peek();
        if close.token != Token::Close {
            return Err(self.error(close, if is_shifted { "`)`" } else { NESTED_MORE }));
        }
        self.take();
        self.depth -= 1;
        Ok(unit)
    }

    /// The next token, without consuming it.
    fn peek(&mut self) -> Lexeme<'a> {
        // Whether a time precedes matters only after `since`, where `unit` scans the token itself.
        *self.ahead.get_or_insert_with(|| self.scanner.next(false))
    }

    fn take(&mut self) {
        self.ahead = None;
    }

    /// The end of the consumed text.
    fn read(&self) -> usize {
        self.ahead.map_or(self.scanner.position(), |next| next.start)
    }

    fn error(&self, lexeme: Lexeme<'_>, expected: &'static str) -> UnitError {
        self.error_between(lexeme.start, lexeme.end, expected)
    }

    fn error_between(&self, start: usize, end: usize, expected: &'static str) -> UnitError {
        let found = self.text.as_bytes().get(start..end).unwrap_or_default();
        UnitError::new(start, found, expected)
    }
}

/// The names that a time zone may have.
const UTC: [&str; 3] = ["UTC", "GMT", "Z"];

/// The 64-bit float nearest to an integer, as C converts it.
fn nearest_float(number: i64) -> f64 {
    number as f64
}
