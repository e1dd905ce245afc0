//! Single elements as text, for lists and tables.

use crate::lower::{Form, element};
use crate::tree::{Scalar, Tree};
use crate::yaml;
use hyperslab_model::ElementRef;

/// An element as plain text: strings without quotes, everything else as a document writes it on one line.
///
/// ```
/// use hyperslab_model::{Datatype, Elements, Float, Values};
///
/// let datatype = Datatype::Float(Float::Single);
/// let values = Values { rows: 0.1_f32.to_ne_bytes().to_vec().into(), ..Values::default() };
/// let shown: Vec<String> = Elements::new(&datatype, &values).map(hyperslab_ndl::plain).collect();
/// assert_eq!(shown, ["0.1"]);
/// ```
pub fn plain(of: ElementRef<'_>) -> String {
    match element(of, FORM) {
        Tree::Scalar(Scalar::Text(text)) => text.into_owned(),
        tree => {
            let mut out = String::new();
            yaml::inline(&mut out, &tree);
            out
        }
    }
}

/// An element as JSON, on one line.
pub fn json(of: ElementRef<'_>) -> String {
    let mut out = String::new();
    crate::json::inline(&mut out, &element(of, FORM));
    out
}

/// An element as JSON on one line, without loss: NaN keeps its bits, as in documents.
pub fn exact_json(of: ElementRef<'_>) -> String {
    let mut out = String::new();
    crate::json::inline(&mut out, &element(of, EXACT));
    out
}

/// Writes every bit of each element.
pub(crate) const EXACT: Form = Form { exact: true, ..FORM };

const FORM: Form = Form { named: false, pure: false, exact: false };
