//! Units.

use hyperslab_cf::units::{BaseUnit, Dimension, Form, LogarithmBase, Unit, UnitError};
use proptest::prelude::*;

mod verdicts;

fn unit(text: &str) -> Unit {
    Unit::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn error(text: &str) -> UnitError {
    match Unit::parse(text) {
        Ok(unit) => panic!("{text:?} is read as {unit}"),
        Err(error) => error,
    }
}

fn convert(value: f64, of: &str, to: &str) -> f64 {
    unit(of).convert(&unit(to)).unwrap_or_else(|| panic!("{of} to {to}")).apply(value)
}

fn assert_near(found: f64, expected: f64) {
    let most = 1e-12 * expected.abs().max(1.0);
    assert!((found - expected).abs() <= most, "{found}, expected {expected}");
}

#[test]
fn a_unit_has_dimension_scale_and_offset() {
    let fahrenheit = unit("degF");
    assert_eq!(fahrenheit.dimension(), Dimension::of(BaseUnit::Kelvin));
    assert_near(fahrenheit.scale(), 5.0 / 9.0);
    assert_near(fahrenheit.offset(), 459.67);
    let flux = unit("W m-2").dimension();
    assert_eq!(flux.power(BaseUnit::Kilogram), 1);
    assert_eq!(flux.power(BaseUnit::Second), -3);
    assert_eq!(flux.power(BaseUnit::Metre), 0);
    assert_eq!(unit("").to_string(), "1");
}

#[test]
fn values_are_converted() {
    assert_near(convert(0.0, "degC", "K"), 273.15);
    assert_near(convert(212.0, "degF", "degC"), 100.0);
    assert_near(convert(1013.25, "hPa", "Pa"), 101_325.0);
    assert_near(convert(1.0, "day", "s"), 86_400.0);
    assert_near(convert(36.0, "km/h", "m s-1"), 10.0);
    assert_near(convert(180.0, "degrees", "rad"), std::f64::consts::PI);
    assert_near(convert(50.0, "%", "1"), 0.5);
    assert_eq!(unit("m").convert(&unit("metre")).unwrap().as_linear(), Some((1.0, 0.0)));
}

#[test]
fn reciprocal_units_are_converted() {
    assert!(unit("s").can_convert_to(&unit("Hz")));
    assert_near(convert(4.0, "s", "Hz"), 0.25);
    assert!(!unit("m s").can_convert_to(&unit("s m-1")));
    assert!(unit("m s").convert(&unit("s m-1")).is_none());
    assert!(unit("m").convert(&unit("kg")).is_none());
}

#[test]
fn logarithmic_units_are_converted() {
    assert_near(convert(30.0, "0.1 lg(re 1 mW)", "W"), 1.0);
    assert_near(convert(20.0, "dBZ", "mm6 m-3"), 100.0);
    assert_near(convert(1.0, "W", "ln(re 1 mW)"), 1000_f64.ln());
    assert_near(convert(8.0, "1", "lb(re 1)"), 3.0);
    assert!(unit("lg(re 1 mW)").is_dimensionless());
    // A scaled unit is only as dimensionless as its reference level: `ut_is_dimensionless` looks below the scale.
    assert!(!unit("dBm").is_dimensionless());
    let Form::Logarithm { base, reference } = unit("dBZ").form().clone() else { panic!("no logarithm") };
    assert_eq!(base, LogarithmBase::Decimal);
    assert!(reference.same(&unit("mm6 m-3")));
}

#[test]
fn times_since_a_moment_are_converted() {
    assert_near(convert(1.0, "days since 1970-01-01", "hours since 1970-01-02"), 0.0);
    assert_near(convert(0.0, "s since 1970-01-01 00:00:00 +1:00", "s since 1970-01-01"), -3600.0);
    assert_near(convert(0.0, "days since 1582-10-15", "days since 1582-10-04"), 1.0);
    let days = unit("days since 1850-1-1 6:30");
    assert!(days.is_reference_time() && !days.is_time());
    assert!(!days.can_convert_to(&unit("days")) && days.convert(&unit("days")).is_none());
    assert!(unit("days").is_time() && !unit("Hz").is_time() && !unit("lg(re 1 s)").is_time());
}

#[test]
fn the_origin_of_times_is_read() {
    for (text, fields, clock, zone) in [
        ("1970-01-01", (1970, 1, 1), None, None),
        ("1-1-1", (1, 1, 1), None, None),
        ("2000-02-30 00:00", (2000, 2, 30), Some(0.0), None),
        ("1970-01-01T12:30:15.5Z", (1970, 1, 1), Some(45_015.5), Some(0.0)),
        ("1970-01-01 00:00:00 +1:00", (1970, 1, 1), Some(0.0), Some(3600.0)),
        ("1970-01-01 00:00:00 -0530", (1970, 1, 1), Some(0.0), Some(-19_800.0)),
        ("1970-1-1 0:0:0 UTC", (1970, 1, 1), Some(0.0), Some(0.0)),
        ("19700102T0304", (1970, 1, 2), Some(11_040.0), None),
        ("-4713-11-24", (-4713, 11, 24), None, None),
    ] {
        let unit = unit(&format!("days since {text} "));
        let reference = unit.reference_time().unwrap();
        assert_eq!(reference.text, text);
        assert_eq!((reference.year, reference.month, reference.day), fields, "{text}");
        assert_eq!(reference.has_clock.then(|| reference.clock()), clock, "{text}");
        assert_eq!(reference.has_zone.then(|| reference.zone()), zone, "{text}");
    }
}

#[test]
fn what_udunits_leaves_unread_is_told() {
    assert_eq!(unit("m").unread(), None);
    assert_eq!(unit(" m)").unread(), Some(2));
    assert_eq!(unit("days since 1970-01-01Z").unread(), Some(21));
    assert_eq!(error("m))").at, 1);
}

#[test]
fn names_are_found_in_any_case_and_symbols_are_not() {
    assert!(unit("Kelvin").same(&unit("K")));
    assert!(unit("MilliMetres").same(&unit("mm")));
    assert!(!unit("Mm").same(&unit("mm")));
    assert_eq!(error("KG").near.as_deref(), Some("kg"));
}

#[test]
fn errors_say_where_and_what() {
    for (text, message) in [
        ("kg kelvn", "`kelvn` at byte 3, expected a unit of UDUNITS; did you mean `kelvin`?"),
        ("HPA", "`HPA` at byte 0, expected a unit of UDUNITS; did you mean `hPa`?"),
        ("millimetrs", "`millimetrs` at byte 0, expected a unit of UDUNITS; did you mean `millimeters`?"),
        (
            "degres_north",
            "`degres_north` at byte 0, expected a unit of UDUNITS; did you mean `degree_north`?",
        ),
        ("psu", "`psu` at byte 0, expected a unit of UDUNITS"),
        (" m /", "the end at byte 4, expected a unit or a number"),
        ("(m", "the end at byte 2, expected a unit, a number, an operator or `)`"),
        ("m $ s", "`$` at byte 2, expected a unit or a number"),
        ("m^s", "`^` at byte 1, expected a unit, a number, an operator or the end"),
        ("m^256", "`^256` at byte 1, expected an exponent from -255 to 255"),
        ("0 m", "`0` at byte 0, expected a number other than 0"),
        ("1e999", "`1e999` at byte 0, expected a number that 64 bits hold"),
        ("K @ 5 m", "`m` at byte 6, expected the end"),
        ("days since today", "`t` at byte 11, expected a date or a number"),
        ("m since 2000-01-01", "`m since ` at byte 0, expected a unit of time before a date"),
        (
            "days since 2000-01-01 00:00 CET",
            "`CET` at byte 28, expected `UTC`, `GMT`, `Z` or hours and minutes",
        ),
        ("dBm W", "`W` at byte 4, expected only factors without dimension beside a logarithmic unit"),
        ("m\u{0}", "`\\0` at byte 1, expected a unit, a number, an operator or the end"),
    ] {
        assert_eq!(error(text).to_string(), message, "{text}");
    }
}

#[test]
fn long_texts_end_at_once() {
    let started = std::time::Instant::now();
    for part in [
        "m",
        "m ",
        "(",
        "lg(re ",
        "kilo",
        "k",
        " ",
        "1",
        "1.",
        "^",
        "²",
        "m2.",
        "-",
        "2-",
        "lg ",
        "m/",
        "(m)",
        "s @ ",
        "\n",
        "é",
        "m(",
        "1 ",
        "lg(re 1) ",
        "s since 1-1-1 ",
        "s since 1-1-1 1:1 +",
        "2 per ",
        "yocto",
        "m1",
        "@ ",
        "e1",
        "(s since 1-1-1) ",
    ] {
        let text = part.repeat((1 << 20) / part.len());
        if let Ok(unit) = Unit::parse(&text) {
            assert!(unit.to_string().len() < 1 << 21);
        }
        let _ = Unit::parse(&format!("s since 1970-01-01 00:00:00 +{text}"));
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    assert!(unit(&format!("{}m{}", "(".repeat(100), ")".repeat(100))).same(&unit("m")));
    assert_eq!(error(&format!("{}m", "lg(re ".repeat(101))).expected, "at most 100 open parentheses");
}

/// Strings made of the parts of units.
fn texts() -> impl Strategy<Value = String> {
    let parts = [
        "m",
        "kg",
        "s",
        "K",
        "days",
        "degC",
        "dBZ",
        "%",
        "°",
        "µ",
        "rad",
        " ",
        " ",
        ".",
        "/",
        " per ",
        "-",
        "^",
        "**",
        "2",
        "3",
        "10",
        "²",
        "⁻¹",
        "1e3",
        "0.5",
        "(",
        ")",
        "lg(re ",
        "ln(re: ",
        " since ",
        " @ ",
        "2000-01-01",
        "20000101",
        "T",
        " 12:30:59.5",
        " +1:30",
        " UTC",
        "Z",
        "-1",
        "kilo",
        "é",
        "\n",
        "$",
    ];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_a_panic(text in any::<String>()) {
        let _ = Unit::parse(&text);
    }

    #[test]
    fn what_is_displayed_is_read_back(text in texts()) {
        match Unit::parse(&text) {
            Ok(unit) => {
                let canonical = unit.to_string();
                let again = Unit::parse(&canonical);
                prop_assert!(again.is_ok_and(|again| again.same(&unit) && again.unread().is_none()), "{canonical}");
            }
            Err(error) => prop_assert!(error.at <= text.len()),
        }
    }

    #[test]
    fn conversions_are_undone(value in -1e6..1e6, (of, to) in prop::sample::select(vec![
        ("degF", "K"), ("km/h", "knot"), ("dBZ", "mm6 m-3"), ("s", "Hz"),
        ("days since 1-1-1", "seconds since 1970-01-01 12:00 -5"),
    ])) {
        let (of, to) = (unit(of), unit(to));
        let value = if matches!(of.form(), Form::Logarithm { .. }) { value / 1e4 } else { value };
        let there = of.convert(&to).unwrap().apply(value);
        let back = to.convert(&of).unwrap().apply(there);
        prop_assert!((back - value).abs() <= 1e-9 * value.abs().max(1.0), "{value} {there} {back}");
    }
}
