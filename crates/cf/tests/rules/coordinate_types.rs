//! Chapter 4, Coordinate Types.

use super::{fails, passes};

const LAT: &str = "dim lat 3\ndouble lat(lat)\n:standard_name = \"latitude\"\n:units = \"degrees_north\"\n";

#[test]
fn axis() {
    let rule = "cf/axis";
    passes(rule, 6, &format!("{LAT}:axis = \"y\""));
    passes(
        rule,
        6,
        "double t\n:axis = \"T\"\n:units = \"days since 2000-01-01\"\nfloat u\n:coordinates = \"t\"",
    );
    fails(rule, 6, &format!("{LAT}:axis = \"N\""), "/lat@axis: axis is \"N\", expected X, Y, Z or T");
    fails(
        rule,
        6,
        &format!("{LAT}:axis = \"X\""),
        "axis is X, expected Y as the units \"degrees_north\" say",
    );
    fails(rule, 6, &format!("{LAT}:axis = 1"), "axis is ");
    fails(rule, 6, "float u\n:axis = \"Z\"\n:units = \"m s-1\"", "axis at a data variable");
}

#[test]
fn axis_once() {
    let rule = "cf/axis-once";
    let grid = |axis: &str| {
        format!(
            "dim x 2\ndim y 2\nfloat x(x)\n:axis = \"X\"\nfloat y(y)\n:axis = \"{axis}\"\nfloat u(y, x)\n:coordinates = \"x\""
        )
    };
    passes(rule, 6, &grid("Y"));
    fails(rule, 6, &grid("X"), "/u: 2 coordinates have axis X: y, x");
    let scalar =
        "dim x 2\nfloat x(x)\n:axis = \"X\"\nfloat s\n:axis = \"x\"\nfloat u(x)\n:coordinates = \"s\"";
    fails(rule, 6, scalar, "2 coordinates have axis X: x, s");
}

#[test]
fn latitude_units() {
    let rule = "cf/latitude-units";
    passes(rule, 6, LAT);
    passes(rule, 6, "float rlat\n:standard_name = \"grid_latitude\"\n:units = \"degrees\"");
    passes(rule, 6, "float e\n:standard_name = \"latitude standard_error\"\n:units = \"degrees\"");
    fails(
        rule,
        6,
        "float lat\n:standard_name = \"latitude\"\n:units = \"degrees\"",
        "/lat@units: units \"degrees\"",
    );
    fails(rule, 6, "float lat\n:standard_name = \"latitude\"\n:units = \"degrees_east\"", "of a latitude");
    fails(rule, 6, "float lat\n:standard_name = \"latitude\"", "/lat: a latitude without units");
}

#[test]
fn longitude_units() {
    let rule = "cf/longitude-units";
    passes(rule, 6, "float lon\n:standard_name = \"longitude\"\n:units = \"degreeE\"");
    passes(rule, 6, "float rlon\n:standard_name = \"grid_longitude\"\n:units = \"degrees\"");
    fails(rule, 6, "float lon\n:standard_name = \"longitude\"\n:units = \"degrees_north\"", "of a longitude");
    fails(rule, 6, "float lon\n:standard_name = \"longitude\"", "without units, expected degrees_east");
}

#[test]
fn positive() {
    let rule = "cf/positive";
    let depth = "dim depth 2\nfloat depth(depth)\n:standard_name = \"depth\"\n:units = \"m\"\n";
    passes(rule, 6, &format!("{depth}:positive = \"Down\""));
    passes(rule, 6, "dim p 2\nfloat p(p)\n:axis = \"Z\"\n:units = \"hPa\"");
    passes(rule, 6, "dim lev 2\nfloat lev(lev)\n:axis = \"Z\"\n:units = \"1\"");
    fails(rule, 6, depth, "/depth: a vertical coordinate in \"m\" without positive");
    fails(rule, 6, &format!("{depth}:positive = \"upward\""), "positive is \"upward\", expected up or down");
    fails(rule, 6, &format!("{depth}:positive = 1"), "/depth@positive: positive is ");
}

fn sigma(attributes: &str) -> String {
    format!(
        "dim lev 2\nfloat lev(lev)\n:standard_name = \"atmosphere_sigma_coordinate\"\n{attributes}\n
         float ps\n:standard_name = \"surface_air_pressure\"\n:units = \"Pa\"\nfloat ptop\n:units = \"Pa\""
    )
}

#[test]
fn formula_terms() {
    let rule = "cf/formula-terms";
    passes(rule, 6, &sigma(":formula_terms = \"sigma: lev PS: ps ptop: ptop\""));
    // An omitted term is zero.
    passes(rule, 6, &sigma(":formula_terms = \"sigma: lev ps: ps\""));
    fails(
        rule,
        6,
        &sigma(":formula_terms = \"sigma: lev ps: ps top: ptop\""),
        "term \"top\", expected one of sigma, ps, ptop",
    );
    fails(
        rule,
        6,
        &sigma(":formula_terms = \"sigma lev\""),
        "formula_terms has \"sigma\", expected a term with a colon",
    );
    fails(rule, 6, &sigma(":formula_terms = \"sigma: lev ps\""), "2 names behind the term \"sigma\"");
    fails(rule, 6, "float u\n:formula_terms = \"a: u\"", "formula_terms without standard_name");
    fails(
        rule,
        6,
        "float u\n:standard_name = \"height\"\n:formula_terms = \"a: u\"",
        "expected one of Appendix D",
    );
}

#[test]
fn formula_terms_by_version() {
    let rule = "cf/formula-terms";
    let later = "float s\n:standard_name = \"ocean_s_coordinate_g1\"\n:formula_terms = \"s: s\"";
    fails(rule, 6, later, "expected one of Appendix D");
    passes(rule, 7, later);
    let units = sigma(":formula_terms = \"sigma: lev ptop: ptop\"")
        .replace("ptop\n:units = \"Pa\"", "ptop\n:units = \"K\"");
    passes(rule, 8, &units);
    fails(rule, 9, &units, "/ptop@units: units \"K\" of the term ptop, expected units convertible to Pa");
}

#[test]
fn formula_standard_names() {
    let rule = "cf/formula-standard-names";
    let terms = ":formula_terms = \"sigma: lev ps: ps ptop: ptop\"";
    passes(rule, 7, &sigma(&format!("{terms}\n:computed_standard_name = \"air_pressure\"")));
    let computed = sigma(&format!("{terms}\n:computed_standard_name = \"altitude\""));
    passes(rule, 6, &computed);
    fails(rule, 7, &computed, "computed_standard_name \"altitude\", expected one of air_pressure");
    let of_term = sigma(terms).replace("surface_air_pressure", "air_pressure");
    fails(rule, 7, &of_term, "/ps@standard_name: standard_name \"air_pressure\" of the term ps");
    fails(rule, 7, "float z\n:computed_standard_name = \"altitude\"", "without formula_terms");
    let ocean =
        "float lev\n:standard_name = \"ocean_sigma_coordinate\"\n:formula_terms = \"eta: eta depth: depth\"
        float eta\n:standard_name = \"sea_surface_height_above_geoid\"
        float depth\n:standard_name = \"sea_floor_depth_below_reference_ellipsoid\"";
    fails(rule, 8, ocean, "heights above different surfaces");
}

fn time(attributes: &str) -> String {
    format!("dim time 3\ndouble time(time)\n:standard_name = \"time\"\n{attributes}")
}

fn since(date: &str) -> String {
    time(&format!(":units = \"days since {date}\""))
}

#[test]
fn time_units() {
    let rule = "cf/time-units";
    for text in ["2000-1-1", "2000-01-01T00:00:00Z", "2000-01-01 00:00:00 -6:00", "1-7-15 0:0:0", "20000101"]
    {
        passes(rule, 6, &since(text));
    }
    for text in ["2000-1-1", "2000-01-01T00:00:00Z", "2000-01-01 00:00", "-500-01-01 00:00:00"] {
        passes(rule, 13, &since(text));
    }
    fails(rule, 6, &time(""), "/time: a time coordinate without units");
    fails(rule, 6, &time(":units = \"days\""), "/time@units: units \"days\" of a time coordinate");
    fails(rule, 6, &time(":units = \"m\""), "units \"m\" of a time coordinate");
    fails(rule, 6, &since("2000-13-01"), "expected a month of 1 to 12");
    fails(rule, 6, &since("2000-00-00"), "expected a month of 1 to 12");
    fails(rule, 6, &since("2000-01-32"), "expected a day of 1 to 31");
    fails(rule, 6, &since("2000-01-01 10:60:00"), "expected a time of 00:00:00 to 23:59:59");
}

#[test]
fn time_units_by_version() {
    let rule = "cf/time-units";
    passes(rule, 8, &since("2016-12-31 23:59:60"));
    fails(rule, 9, &since("2016-12-31 23:59:60"), "expected less than 60 seconds");
    passes(rule, 12, &since("20000101"));
    fails(rule, 13, &since("20000101"), "expected year, month and day with hyphens");
    let zone = time(":calendar = \"tai\"\n:units = \"days since 2000-01-01 00:00:00 +1:00\"");
    passes(rule, 12, &zone);
    fails(rule, 13, &zone, "expected no time zone in the calendars utc and tai");
    passes(rule, 12, &since("2000-01-01 00:00:00 UTC"));
    fails(rule, 13, &since("2000-01-01 00:00:00 UTC"), "expected a time zone of digits or Z");
}

#[test]
fn time_units_month() {
    let rule = "cf/time-units-month";
    passes(rule, 6, &since("2000-01-01"));
    passes(rule, 6, &time(":units = \"common_year since 2000-01-01\""));
    fails(rule, 6, &time(":units = \"months since 2000-01-01\""), "are a month of fixed length");
    fails(rule, 6, &time(":units = \"yr since 2000-01-01\""), "are a year of fixed length");
}

fn in_calendar(calendar: &str) -> String {
    format!("{}\n:calendar = {calendar}", since("2000-01-01"))
}

#[test]
fn calendar() {
    let rule = "cf/calendar";
    for name in ["standard", "gregorian", "NoLeap", "360_day", "none"] {
        passes(rule, 6, &in_calendar(&format!("\"{name}\"")));
    }
    let months = "\n:month_lengths = 34, 31, 32, 30, 29, 27, 28, 28, 28, 32, 32, 34";
    passes(rule, 6, &(in_calendar("\"126 kyr B.P.\"") + months));
    fails(rule, 6, &in_calendar("\"lunar\""), "/time@calendar: calendar \"lunar\", expected one of standard");
    fails(rule, 6, &in_calendar("360"), "expected a text");
    fails(rule, 6, &format!("{LAT}:calendar = \"standard\""), "calendar at a variable that is not a time");
    fails(rule, 11, &in_calendar("\"tai\""), "calendar \"tai\"");
    passes(rule, 12, &in_calendar("\"tai\""));
    passes(rule, 11, &(in_calendar("\"standard\"") + months));
    fails(rule, 12, &(in_calendar("\"standard\"") + months), "beside month_lengths");
}

#[test]
fn month_lengths() {
    let rule = "cf/month-lengths";
    let with = |months: &str, rest: &str| format!("{}\n:month_lengths = {months}\n{rest}", since("1-1-1"));
    let twelve = ["30"; 12].join(", ");
    passes(rule, 6, &with(&twelve, ":leap_year = 4\n:leap_month = 2"));
    fails(rule, 6, &with("30, 30", ""), "month_lengths has 2 values, expected 12 integers");
    fails(rule, 6, &with(&["30.5"; 12].join(", "), ""), "expected 12 integers");
    fails(rule, 6, &with(&twelve, ":leap_month = 13"), "leap_month is 13, expected 1 to 12");
    fails(rule, 6, &with(&twelve, ":leap_year = 4.5"), "expected 1 integer");
    fails(rule, 6, &format!("{LAT}:leap_year = 4"), "leap_year at a variable that is not a time");
}

#[test]
fn reference_dates() {
    let rule = "cf/date-in-calendar";
    let of = |date: &str, calendar: &str| format!("{}\n:calendar = \"{calendar}\"", since(date));
    passes(rule, 6, &since("2000-02-29"));
    passes(rule, 6, &since("1500-02-29"));
    passes(rule, 6, &since("1582-10-04"));
    passes(rule, 6, &of("1582-10-10", "proleptic_gregorian"));
    passes(rule, 6, &of("2001-02-30", "360_day"));
    passes(rule, 6, &of("2001-02-29", "all_leap"));
    passes(rule, 6, &of("1900-02-29", "julian"));
    passes(rule, 6, &of("2001-02-31", "none"));
    fails(rule, 9, &since("0000-02-29"), "a reference date in the year 0, which stood for a climatology");
    let expected = "at most 28 days";
    fails(
        rule,
        6,
        &since("2001-02-30"),
        "/time@units: reference date 2001-02-30 in calendar standard, expected at most 28",
    );
    fails(rule, 6, &since("1900-02-29"), expected);
    fails(rule, 6, &of("1500-02-29", "proleptic_gregorian"), expected);
    fails(rule, 6, &of("2000-02-29", "365_day"), expected);
    fails(rule, 6, &of("2000-01-31", "360_day"), "at most 30 days");
    fails(rule, 6, &since("1582-10-10"), "which it leaves out");
    passes(rule, 8, &since("-500-01-01"));
    fails(rule, 9, &since("-500-01-01"), "expected none before 0000-01-01");
    passes(rule, 9, &of("-500-01-01", "proleptic_gregorian"));
    passes(rule, 11, &of("1950-01-01", "tai"));
    fails(rule, 12, &of("1950-01-01", "tai"), "expected none before 1958-01-01");
}

#[test]
fn values_that_are_dates() {
    let rule = "cf/date-in-calendar";
    let of = |date: &str, rest: &str| format!("{}\n{rest}", since(date));
    passes(rule, 12, &of("1972-01-02", ":calendar = \"utc\"\n= -1 0 1"));
    fails(
        rule,
        12,
        &of("1972-01-02", ":calendar = \"utc\"\n= 0 1 -1.5"),
        "/time: value 2 is -1.5 days since",
    );
    passes(rule, 12, &of("1972-01-02", ":calendar = \"utc\"\n:_FillValue = -99.0\n= 0 1 -99"));
    fails(rule, 12, &of("1958-01-01", ":calendar = \"tai\"\n= -1 0 1"), "expected none before 1958-01-01");
    passes(rule, 11, &of("1958-01-01", ":calendar = \"tai\"\n= -1 0 1"));
    // 1 January of the year 0, which is a Julian year of 366 days.
    passes(rule, 9, &of("0001-01-01", "= -366 0 1"));
    fails(rule, 9, &of("0001-01-01", "= -367 0 1"), "expected none before 0000-01-01");
    passes(rule, 8, &of("0001-01-01", "= -367 0 1"));
    // The Julian day number of 1582-10-15 is 2,299,161, and that of the first day is 1,721,058.
    fails(rule, 9, &of("1582-10-15", "= -578103 0 1"), "dates before 1582-10-05 counted from a later one");
    fails(rule, 9, &of("1582-10-01", "= 0 1 4"), "dates from 1582-10-15 on counted from an earlier one");
    passes(rule, 9, &of("1582-10-01", "= 0 1 2"));
    fails(rule, 8, &of("1582-10-01", "= 0 1 4"), "dates before 1582-10-05 and from 1582-10-15 on");
    passes(rule, 8, &of("1582-10-01", "= 4 5 6"));
    passes(rule, 9, &of("1582-10-01", ":calendar = \"proleptic_gregorian\"\n= 0 1 40"));
    fails(rule, 9, &of("1582-10-15", "= -578104 0 1"), "expected none before 0000-01-01");
}

#[test]
fn what_is_recommended_of_calendars() {
    let of = |rest: &str| format!("{}\n{rest}", since("2000-01-01"));
    fails("cf/calendar", 9, &of(":calendar = \"gregorian\""), "calendar \"gregorian\" is deprecated");
    passes("cf/calendar", 8, &of(":calendar = \"gregorian\""));
    fails("cf/calendar", 9, &of(""), "a time coordinate without calendar");
    fails("cf/calendar", 8, &of(""), "a time coordinate without calendar");
    fails("cf/month-lengths", 8, &of(":leap_month = 2"), "leap_month without leap_year");
}

#[test]
fn directions_are_those_of_standard_names() {
    let z = |name: &str, positive: &str| {
        format!(
            "dim z 2\ndouble z(z)\n:standard_name = \"{name}\"\n:units = \"m\"\n:positive = \"{positive}\""
        )
    };
    passes("cf/positive", 7, &z("depth", "down"));
    passes("cf/positive", 6, &z("height", "down"));
    fails("cf/positive", 7, &z("height", "down"), "positive is \"down\", expected up");
    fails("cf/positive", 7, &z("depth_below_geoid", "up"), "positive is \"up\", expected down");
}

#[test]
fn what_is_recommended_of_time_units() {
    let of = |units: &str| {
        format!("dim time 2\ndouble time(time)\n:standard_name = \"time\"\n:units = \"{units}\"")
    };
    passes("cf/time-units", 13, &of("days since 2000-01-01"));
    fails("cf/time-units", 13, &of("days from 2000-01-01"), "expected \"since\" before the reference time");
    fails(
        "cf/time-units",
        13,
        &of("hours since 2000-01-01 00:00:00 +2:00"),
        "with a time zone, expected one in UTC",
    );
    passes("cf/time-units", 12, &of("days from 2000-01-01"));
}

#[test]
fn horizontal_coordinates_should_have_an_axis() {
    let of = |more: &str| {
        format!("dim x 2\ndouble x(x)\n:standard_name = \"projection_x_coordinate\"\n:units = \"m\"{more}")
    };
    passes("cf/axis", 8, &of("\n:axis = \"X\""));
    fails("cf/axis", 8, &of(""), "/x: a horizontal coordinate variable without axis, expected X");
}
