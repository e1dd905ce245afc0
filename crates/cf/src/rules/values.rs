//! Values of variables: streamed once for all rules that examine a single variable, or read region by region.

use super::scope::{Found, Scope};
use super::table::CfRule;
use crate::dataset::Variable;
use crate::finding::Finding;
use hyperslab_core::Result;
use hyperslab_core::nd::Region;
use hyperslab_model::{Datatype, Element, Elements, NodePath};

pub use hyperslab_model::Values;

/// Reads the values of variables.
pub trait ValueReader {
    /// Passes all values of a variable to `take` in row-major order, in pieces.
    ///
    /// # Errors
    /// If they cannot be read; the errors of `take`.
    fn stream(
        &self,
        variable: &NodePath,
        take: &mut dyn FnMut(&Datatype, &Values) -> Result<()>,
    ) -> Result<()>;

    /// Returns the values of a region of a variable in row-major order.
    ///
    /// # Errors
    /// If they cannot be read, or the region exceeds the variable.
    fn region(
        &self,
        variable: &NodePath,
        region: &Region,
        take: &mut dyn FnMut(Elements<'_>) -> Result<()>,
    ) -> Result<()>;
}

/// The state of a rule while it examines the values of one variable.
pub trait Fold {
    /// Takes values, in row-major order.
    fn take(&mut self, values: Elements<'_>);

    /// Whether it has seen enough.
    fn is_done(&self) -> bool {
        false
    }

    /// Reports what it found.
    fn finish(self: Box<Self>, found: &mut Found);
}

/// The strings of a variable, assembled if they are stored as characters.
pub(super) struct Texts {
    /// The number of characters of a string; `None` if each element is a string.
    width: Option<usize>,
    /// The characters of a string that is not yet complete.
    part: Vec<u8>,
    count: usize,
}

impl Texts {
    /// The state for the strings of a variable; `None` if it has none.
    pub(super) fn of(variable: &Variable) -> Option<Texts> {
        let width = match variable.dimensions.last() {
            Some(along) if variable.is_char() => Some(usize::try_from(along.length).ok()?),
            _ if variable.is_text() => None,
            _ => return None,
        };
        Some(Texts { width, part: Vec::new(), count: 0 })
    }

    /// Passes each complete string to `each`, without its padding. Of very long strings, only the first part is passed.
    pub(super) fn take(&mut self, values: Elements<'_>, each: &mut dyn FnMut(&[u8])) {
        for element in values {
            let Element::Text(bytes) = element.get() else { continue };
            let Some(width) = self.width else {
                each(bytes);
                continue;
            };
            if self.part.len() < MAX_TEXT {
                // A padding character has no bytes.
                self.part.extend_from_slice(if bytes.is_empty() { b"\0" } else { bytes });
            }
            self.count += 1;
            if self.count >= width {
                let filling = |byte: &u8| *byte == 0 || *byte == b' ';
                let len = self.part.iter().rposition(|byte| !filling(byte)).map_or(0, |last| last + 1);
                each(self.part.get(..len).unwrap_or_default());
                self.part.clear();
                self.count = 0;
            }
        }
    }
}

/// The number of bytes of a string that are kept.
const MAX_TEXT: usize = 1 << 16;

/// Streams every variable that a rule needs, once.
pub(super) fn stream(
    scope: &Scope<'_>,
    rules: &[&'static CfRule],
    values: &dyn ValueReader,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    for variable in scope.variables() {
        let mut folds: Vec<(&'static CfRule, Box<dyn Fold + '_>)> = Vec::new();
        for rule in rules {
            if let Some(of) = rule.check.values {
                folds.extend(of(scope, variable).map(|fold| (*rule, fold)));
            }
        }
        if folds.is_empty() {
            continue;
        }
        values.stream(&variable.path, &mut |datatype, values| {
            for (_, fold) in folds.iter_mut().filter(|(_, fold)| !fold.is_done()) {
                fold.take(Elements::new(datatype, values));
            }
            Ok(())
        })?;
        for (rule, fold) in folds {
            let mut found = Found::new(&rule.rule);
            fold.finish(&mut found);
            findings.append(&mut found.findings);
        }
    }
    Ok(())
}

/// The number of elements of a variable that are read at a time together with those of another.
pub(super) const BLOCK: u64 = 1 << 16;
