//! Section 7.4: the cell methods of climatological times.

use super::{fails, passes};
use crate::cdl::Cdl;
use hyperslab_core::Severity;

const RULE: &str = "cf/climatology";

fn averaged(cell_methods: &str) -> String {
    format!(
        "dim time 2\ndim lat 2\ndim nv 2\ndouble time(time)\n:units = \"days since 2000-01-01\"
         :standard_name = \"time\"\n:climatology = \"bounds\"\ndouble bounds(time, nv)
         float lat(lat)\n:units = \"degrees_north\"\nfloat pr(time, lat)\n{cell_methods}"
    )
}

fn with(cell_methods: &str) -> String {
    averaged(&format!(":cell_methods = \"{cell_methods}\""))
}

#[test]
fn methods_are_within_and_over() {
    for minor in 6..14 {
        passes(RULE, minor, &with("time: minimum within years time: mean over years"));
        passes(RULE, minor, &with("time: mean within days time: mean over days"));
        passes(RULE, minor, &with("time: maximum within days time: mean over days time: mean over years"));
        fails(
            RULE,
            minor,
            &with("time: mean"),
            "/pr@cell_methods: methods of the climatological time time: mean without",
        );
    }
    // Other dimensions may have their own methods in any position, as may comments and area types.
    passes(
        RULE,
        8,
        &with("area: mean time: mean within years lat: point time: mean over years (ENSO years)"),
    );
    passes(RULE, 8, &with("lat: time: mean where land within years time: mean over years"));
    passes(
        RULE,
        8,
        "dim time 2\ndouble time(time)\n:units = \"days since 2000-01-01\"\nfloat pr(time)\n:cell_methods = \"time: mean\"",
    );
}

#[test]
fn other_forms_are_reported() {
    let of = |text: &str, told: &str| fails(RULE, 8, &with(text), told);
    of("time: mean over years", "time: mean over years, expected within years and over years");
    of("time: mean within years", "time: mean within years, expected");
    of("time: mean over years time: mean within years", "mean over years, mean within years, expected");
    of("time: mean within days time: mean over years", "mean within days, mean over years, expected");
    of("time: mean within years time: mean over days", "mean within years, mean over days, expected");
    of("time: sum time: mean within years time: mean over years", "sum without a period, mean within years");
    of(
        "time: mean within days time: mean over days time: mean over days",
        "mean over days, mean over days, expected",
    );
    // Malformed cell methods are reported only once, by another rule.
    for text in
        ["time: mean within months time: mean over years", "time: mean within years time:", "time mean"]
    {
        passes(RULE, 8, &with(text));
        assert!(!Cdl::new(&with(text)).of_rule("cf/cell-methods", 8).is_empty(), "{text}");
    }
}

#[test]
fn a_time_is_known_by_its_names() {
    let hours = |cell_methods: &str| {
        with(cell_methods)
            .replace("dim time", "dim hour")
            .replace("time(time)", "hour(hour)")
            .replace("(time,", "(hour,")
    };
    passes(RULE, 8, &hours("hour: mean within days hour: mean over days"));
    passes(RULE, 8, &hours("time: mean within days time: mean over days"));
    fails(RULE, 8, &hours("time: mean"), "methods of the climatological time hour: mean without a period");
    passes(RULE, 8, &hours("/hour: mean within days /hour: mean over days"));
    let auxiliary = "dim n 2\ndim v 2\ndouble t(n)\n:units = \"days since 2000-01-01\"\n:climatology = \"b\"\ndouble b(n, v)
        float pr(n)\n:coordinates = \"t\"\n:cell_methods = \"n: mean within days n: mean over days\"";
    passes(RULE, 8, auxiliary);
    fails(
        RULE,
        8,
        &auxiliary.replace("over days", ""),
        "climatological time t: mean within days, mean without",
    );
    // Another coordinate has this name.
    let scalar = format!(
        "double time\n{}:coordinates = \"time\"",
        hours("hour: mean within days hour: mean over days time: point\"\n:a = \"").trim_end()
    );
    passes(RULE, 8, &scalar.replace(":coordinates", "\n:coordinates"));
    let scalar = "dim nv 2\ndouble day\n:units = \"days since 2000-01-01\"\n:climatology = \"bounds\"\ndouble bounds(nv)
        float pr\n:coordinates = \"day\"\n:cell_methods = \"day: minimum within days day: sum PERIOD\"";
    passes(RULE, 8, &scalar.replace("PERIOD", "over days"));
    fails(
        RULE,
        8,
        &scalar.replace("PERIOD", ""),
        "climatological time day: minimum within days, sum without a period",
    );
}

#[test]
fn methods_are_recommended() {
    fails(RULE, 8, &averaged(""), "/pr: no methods of the climatological time time, expected within years");
    fails(RULE, 8, &with("area: mean"), "/pr@cell_methods: no methods of the climatological time time");
    let found = Cdl::new(&averaged("")).findings(8);
    let found = found.iter().find(|finding| finding.rule.name == RULE).unwrap();
    assert_eq!((found.rule.severity, found.severity), (Severity::Error, Severity::Warning));
}

/// Based on examples 7.15 and 7.16 of CF 1.13.
#[test]
fn anomalies_have_the_time_of_their_norm() {
    let text = "dim time 2\ndim nv 2\ndouble time(time)\n:units = \"days since 2023-07-16\"\n:standard_name = \"time\"
        double normal\n:units = \"days since 1990-01-01\"\n:standard_name = \"time\"\n:climatology = \"b\"
        double b(nv)\nint norm\n:coordinates = \"normal\"\n:cell_methods = \"normal: mean within years normal: mean over years\"
        float d(time)\n:coordinates = \"normal\"\n:ancillary_variables = \"norm\"
        :cell_methods = \"time: maximum time: anomaly_wrt norm\"";
    passes(RULE, 13, text);
    passes("cf/cell-methods", 13, text);
    fails("cf/cell-methods", 13, &text.replace("anomaly_wrt norm", "mean"), "has two methods");
}
