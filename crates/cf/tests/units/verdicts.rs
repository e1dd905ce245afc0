//! Units as UDUNITS itself reads them, recorded by `xtask/oracles/cf_units.py`.

use hyperslab_cf::units::{Form, Unit};

const VERDICTS: &str = include_str!("verdicts.tsv");

#[test]
fn units_are_read_as_udunits_reads_them() {
    // The variable can name a larger table than the one kept here.
    let larger = std::env::var("CF_UNITS_VERDICTS").map(|path| std::fs::read_to_string(path).unwrap());
    let verdicts = larger.as_deref().unwrap_or(VERDICTS);
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in verdicts.lines().filter(|line| !line.starts_with("# ")) {
        let (text, expected) = line.split_once('\t').unwrap();
        let text = unescaped(text);
        let found = Unit::parse(&text);
        let form = found.as_ref().map_or_else(|_| vec!["-".to_owned()], form);
        if !is_equal(&form, expected) && !is_beyond(expected) {
            let error = found.err().map(|error| error.to_string()).unwrap_or_default();
            wrong.push(format!("{text:?}: {}, UDUNITS {expected}; {error}", form.join(" ")));
        }
        count += 1;
    }
    let first = &wrong[..wrong.len().min(40)];
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), first.join("\n"));
    assert!(count > 4000, "{count}");
}

#[test]
fn values_are_converted_as_udunits_converts_them() {
    let mut wrong = Vec::new();
    for line in include_str!("conversions.tsv").lines().filter(|line| !line.starts_with("# ")) {
        let [of, to, value, expected] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let (of, to) = (Unit::parse(of).unwrap(), Unit::parse(to).unwrap());
        let found = of.convert(&to).map(|conversion| conversion.apply(value.parse().unwrap()));
        let is_equal = match (found, expected.parse::<f64>()) {
            (Some(found), Ok(expected)) => {
                found == expected
                    || found.is_nan() && expected.is_nan()
                    || (found - expected).abs() <= 1e-12 * expected.abs().max(1e-3)
            }
            (found, _) => found.is_none() && expected == "-",
        };
        if !is_equal || found.is_some() != of.can_convert_to(&to) {
            wrong.push(format!("{line}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// The form in the notation of the table.
fn form(unit: &Unit) -> Vec<String> {
    let mut tokens = Vec::new();
    if unit.scale() != 1.0 || unit.offset() != 0.0 {
        tokens.extend(["G".to_owned(), unit.scale().to_string(), unit.offset().to_string()]);
    }
    match unit.form() {
        Form::Product(dimension) => {
            tokens.push("P".to_owned());
            for (base, power) in dimension.powers() {
                tokens.extend([base.symbol().to_owned(), power.to_string()]);
            }
        }
        Form::Logarithm { base, reference } => {
            tokens.extend(["L".to_owned(), base.value().to_string()]);
            tokens.extend(form(reference));
        }
        Form::Since { unit, reference } => {
            tokens.extend(["T".to_owned(), reference.seconds().to_string()]);
            tokens.extend(form(unit));
        }
    }
    tokens
}

fn is_equal(form: &[String], expected: &str) -> bool {
    let expected: Vec<&str> = expected.split(' ').collect();
    let are_equal = |(found, expected): (&String, &&str)| {
        let numbers = (found.parse::<f64>(), expected.parse::<f64>());
        match numbers {
            (Ok(found), Ok(expected)) => (found - expected).abs() <= 1e-14 * expected.abs(),
            _ => found == expected,
        }
    };
    form.len() == expected.len() && form.iter().zip(&expected).all(are_equal)
}

/// Whether UDUNITS computed a number that is an error here, as the documentation of `units` states.
fn is_beyond(expected: &str) -> bool {
    let numbers = expected.split(' ').filter_map(|token| token.parse::<f64>().ok());
    numbers.into_iter().any(|number| number != 0.0 && !number.is_normal())
}

/// `\x0a` and the like stand for control characters.
fn unescaped(text: &str) -> String {
    let mut parts = text.split("\\x");
    let mut whole = parts.next().unwrap().to_owned();
    for part in parts {
        let (code, rest) = part.split_at(2);
        whole.push(char::from(u8::from_str_radix(code, 16).unwrap()));
        whole.push_str(rest);
    }
    whole
}
