//! Rules of chapter 8, Reduction of Dataset Size.

use super::scope::{Found, Scope};
use super::values::Fold;
use crate::brief::brief;
use crate::dataset::{Attribute, Dataset, Number, Role, Target, Value, Variable};
use hyperslab_model::{Datatype, Elements, Float};

/// Spec: CF 1.13, 8.1 Packed Data; CF 1.10 and earlier, where packing may also keep the type of the variable
pub(super) fn packing(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables() {
        let own = ["scale_factor", "add_offset"].map(|name| (name, variable.attributes.get(name)));
        let given = own.into_iter().filter_map(|(name, attribute)| Some((name, attribute?)));
        let mut first: Option<(&str, &Attribute)> = None;
        let mut is_reported = false;
        for (name, attribute) in given {
            if let Err(message) = check_number(scope.dataset, attribute) {
                found.add(variable.place(name), format!("{name} is {message}"), "write it as one number");
                continue;
            }
            if let Some((other, of)) = first
                && scope.dataset.has_typed_attributes
                && of.datatype != attribute.datatype
            {
                let message = format!(
                    "{name} is {} and {other} {}, expected the same type",
                    attribute.type_name(),
                    of.type_name()
                );
                found.add(variable.place(name), message, format!("write it as {}", of.type_name()));
                continue;
            }
            first = Some((name, attribute));
            if !is_reported && let Err((message, hint)) = check_types(scope, variable, attribute) {
                is_reported = true;
                found.add(variable.place(name), format!("{name} {message}"), hint);
            }
        }
    }
}

/// Whether an attribute is one number; otherwise a description of it. Special numbers are strings where attributes keep
/// no types.
fn check_number(dataset: &Dataset, attribute: &Attribute) -> Result<(), String> {
    match &attribute.value {
        Value::Numbers(numbers) if numbers.len() == 1 => Ok(()),
        Value::Numbers(numbers) => Err(format!("{} numbers, expected one", numbers.len())),
        Value::Text(text)
            if !dataset.has_typed_attributes && matches!(&**text, "NaN" | "Infinity" | "-Infinity") =>
        {
            Ok(())
        }
        _ => Err(format!("{}, expected a number", attribute.type_name())),
    }
}

/// Whether the types of an attribute and of the packed variable match.
fn check_types(
    scope: &Scope<'_>,
    variable: &Variable,
    attribute: &Attribute,
) -> Result<(), (String, String)> {
    let Some(of) = &variable.datatype else { return Ok(()) };
    let own = attribute.datatype.as_ref().filter(|_| scope.dataset.has_typed_attributes);
    if !scope.is_since(11) && own.is_none_or(|own| own == of) && variable.is_numeric() {
        return Ok(());
    }
    let is_float = |own: &Datatype| matches!(own, Datatype::Float(Float::Single | Float::Double));
    if let Some(own) = own.filter(|own| !is_float(own)) {
        let message = format!("is {own}, expected 32 or 64 bits of floating point");
        return Err((message, "write it as a floating-point number".to_owned()));
    }
    let most = match own {
        Some(Datatype::Float(Float::Single)) if scope.is_since(11) => 16,
        _ => 32,
    };
    let integer = match of {
        Datatype::Enum { base, .. } => base,
        other => other,
    };
    if matches!(integer, Datatype::Int { bits, .. } if *bits <= most) {
        return Ok(());
    }
    let unpacked = own.map_or_else(String::new, |own| format!(" of {own}"));
    let message =
        format!("{unpacked} of a variable of {of}, expected one of integers of at most {most} bits");
    Err((
        message.trim_start().to_owned(),
        "store the variable as such integers, or remove the packing".to_owned(),
    ))
}

/// Spec: CF 1.13, 8.2 Lossless Compression by Gathering
pub(super) fn compress(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("compress") {
        let place = variable.place("compress");
        let attribute = variable.attributes.get("compress");
        if variable.text("compress").is_none_or(str::is_empty) {
            let own = attribute.filter(|own| !own.is_text()).map(Attribute::type_name);
            let message = format!(
                "compress is {}, expected names of dimensions",
                own.unwrap_or_else(|| "empty".to_owned())
            );
            found.add(&place, message, "name the dimensions that are gathered");
        }
        let is_list = matches!(variable.dimensions.as_slice(), [along] if along.name() == variable.name());
        if !is_list {
            let message = "compress of a variable that is not a coordinate variable, expected one only there";
            found.add(&place, message, "give the list variable the name of its one dimension");
        } else if variable.datatype.is_some() && !variable.is_integer() {
            let own = variable.type_name();
            found.add(
                &variable.path,
                format!("a list variable of {own}, expected integers"),
                "store it as integers",
            );
        }
        if scope.is_since(11) && variable.has("bounds") {
            let message = "bounds of a list variable, expected none";
            found.add(variable.place("bounds"), message, "remove bounds");
        }
    }
}

/// Checks that the values are indices of the elements of the gathered dimensions.
pub(super) fn compress_values<'a>(
    scope: &'a Scope<'_>,
    variable: &'a Variable,
) -> Option<Box<dyn Fold + 'a>> {
    if !variable.has("compress") || !variable.is_integer() || !variable.is(Role::Coordinate) {
        return None;
    }
    let mut size = 1_i128;
    let mut count = 0;
    for reference in scope.dataset.references(variable, "compress") {
        let Target::Dimension(id) = reference.target else { return None };
        size = size.saturating_mul(i128::from(scope.dataset.dimension_at(id)?.length));
        count += 1;
    }
    (count > 0).then(|| Box::new(Indices { variable, size, wrong: 0, first: None }) as Box<dyn Fold>)
}

struct Indices<'a> {
    variable: &'a Variable,
    size: i128,
    wrong: u64,
    first: Option<i128>,
}

impl Fold for Indices<'_> {
    fn take(&mut self, values: Elements<'_>) {
        let integers =
            values.filter_map(|element| Number::of(&element.present()?.get()).and_then(Number::as_int));
        for index in integers.filter(|index| !(0..self.size).contains(index)) {
            self.first.get_or_insert(index);
            self.wrong = self.wrong.saturating_add(1);
        }
    }

    fn finish(self: Box<Self>, found: &mut Found) {
        if let Some(first) = self.first {
            let last = self.size.saturating_sub(1);
            let message = format!(
                "{} indices out of range, the first is {first}, expected 0 to {last} as {} have",
                self.wrong,
                brief(self.variable.text("compress").unwrap_or_default())
            );
            found.add(&self.variable.path, message, "correct the indices or the dimensions");
        }
    }
}
