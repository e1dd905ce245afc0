//! The tables of CF.

use hyperslab_cf::tables::attributes::{self, AttributeType, Use};
use hyperslab_cf::tables::cell_methods::{self, MethodUnits};
use hyperslab_cf::tables::grid_mappings::{self, Presence};
use hyperslab_cf::tables::modifiers::{self, ModifiedUnits};
use hyperslab_cf::tables::vertical::{self, TermPresence};
use hyperslab_cf::tables::{StandardNames, Version, Vocabulary, published};
use std::collections::BTreeSet;
use std::{env, fs};

const SMALL: &str = r#"<?xml version="1.0"?>
<standard_name_table xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
   <version_number>7</version_number>
   <last_modified>2026-01-02T03:04:05Z</last_modified>
   <!-- later names stand first -->
   <entry id="wind_speed">
      <canonical_units>m s-1</canonical_units>
      <description>Speed &amp; no <b>direction</b>, &#233; <![CDATA[<entry id="none">]]></description>
   </entry>
   <entry id="platform_name"><canonical_units/></entry>
   <entry id="albedo"><canonical_units> 1 </canonical_units><grib/></entry>
   <alias id="gust"><entry_id>wind_speed</entry_id></alias>
   <alias id="reflectance"><entry_id>albedo</entry_id><entry_id>wind_speed</entry_id></alias>
</standard_name_table>
"#;

fn refusal(xml: &str) -> String {
    StandardNames::from_xml(xml.as_bytes()).unwrap_err().reason().to_string()
}

fn is_sorted<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    // The order is strict, so no name occurs twice.
    let names: Vec<&str> = names.collect();
    names.windows(2).all(|pair| pair[0] < pair[1])
}

/// The number of lines that are not comments in one of the crate's tables.
fn lines(text: &str) -> usize {
    text.lines().filter(|line| !line.starts_with('#')).count()
}

#[test]
fn standard_names_are_those_of_version_93() {
    let names = StandardNames::embedded();
    assert_eq!((names.version(), names.date()), ("93", "2026-03-17T10:53:20Z"));
    assert_eq!((names.len(), names.aliases().count()), (5023, 595));
    assert!(is_sorted(names.iter().map(|name| name.name)));
    assert!(is_sorted(names.aliases().map(|alias| alias.alias)));
    let is_plain = |text: &str| text.is_ascii() && !text.contains(|c: char| c.is_ascii_control());
    assert!(names.iter().all(|name| is_plain(name.name) && name.units.is_none_or(is_plain)));
    assert_eq!(names.iter().filter(|name| name.units.is_none()).count(), 17);
}

#[test]
fn every_standard_name_is_found() {
    let names = StandardNames::embedded();
    for name in names.iter() {
        assert_eq!(names.get(name.name), Some(name));
        assert_eq!(names.get(&format!("{}_", name.name)), None);
    }
    for alias in names.aliases() {
        assert_eq!(names.alias(alias.alias), Some(alias));
        assert!(alias.names().all(|name| names.get(name).is_some()), "{}", alias.alias);
    }
    for nothing in ["", "\t", "\n", "K", "Air_temperature", "zzz", "\u{10ffff}", "air_temperature\tK"] {
        assert_eq!(names.get(nothing), None, "{nothing:?}");
        assert_eq!(names.alias(nothing), None, "{nothing:?}");
    }
}

#[test]
fn standard_names_have_units_and_aliases() {
    let names = StandardNames::embedded();
    let units = |name| names.get(name).map(|found| found.units);
    assert_eq!(units("air_temperature"), Some(Some("K")));
    assert_eq!(units("time"), Some(Some("s")));
    assert_eq!(units("latitude"), Some(Some("degree_north")));
    assert_eq!(units("region"), Some(None));
    assert_eq!(units("air_pressur"), None);
    let of = |alias| names.alias(alias).map(|found| found.names().collect::<Vec<_>>());
    assert_eq!(of("air_pressure_at_sea_level"), Some(vec!["air_pressure_at_mean_sea_level"]));
    assert_eq!(of("air_temperature"), None);
    assert_eq!(
        of("surface_carbon_dioxide_mole_flux"),
        Some(vec![
            "surface_downward_mole_flux_of_carbon_dioxide",
            "surface_upward_mole_flux_of_carbon_dioxide"
        ])
    );
    // Some former names now mean something else.
    let both: Vec<&str> =
        names.aliases().map(|alias| alias.alias).filter(|name| names.get(name).is_some()).collect();
    assert_eq!(
        both,
        [
            "convective_precipitation_rate",
            "integral_wrt_depth_of_sea_water_potential_temperature_expressed_as_heat_content",
            "ocean_volume"
        ]
    );
}

#[test]
fn a_wrong_name_has_a_near_one() {
    let names = StandardNames::embedded();
    for (wrong, right) in [
        ("air_temprature", Some("air_temperature")),
        ("Air Temperature", Some("air_temperature")),
        ("sea_surface_temprature", Some("sea_surface_temperature")),
        ("eastward-wind", Some("eastward_wind")),
        ("presipitation_flux", Some("precipitation_flux")),
        ("lattitude", Some("latitude")),
        ("something_entirely_different", None),
        ("", None),
        ("t", None),
    ] {
        assert_eq!(names.nearest(wrong), right, "{wrong}");
    }
    assert_eq!(names.nearest(&"air_temperature".repeat(100_000)), None);
    assert_eq!(names.nearest(&"é".repeat(30)), None);
}

#[test]
fn area_types_and_regions_are_those_of_their_versions() {
    let (types, regions) = (Vocabulary::area_types(), Vocabulary::regions());
    assert_eq!((types.version(), types.date(), types.len()), ("13", "20 March 2025", 62));
    assert_eq!((regions.version(), regions.date(), regions.len()), ("5", "12 November 2024", 74));
    for list in [types, regions] {
        assert!(is_sorted(list.iter()));
        assert!(list.iter().all(|name| list.contains(name)));
        assert!(!list.contains("") && !list.contains("# name"));
    }
    assert!(types.contains("sea_ice") && types.contains("all_area_types") && types.contains("wetland"));
    assert!(regions.contains("africa") && regions.contains("global") && regions.contains("yellow_sea"));
    assert_eq!(types.nearest("sea ice"), Some("sea_ice"));
    assert_eq!(regions.nearest("atlantic_ocaen"), Some("atlantic_ocean"));
}

#[test]
fn attributes_are_those_of_appendix_a() {
    assert_eq!(attributes::all().len(), 64);
    assert_eq!(lines(include_str!("../data/attributes.tsv")), 64);
    assert!(is_sorted(attributes::all().iter().map(|attribute| attribute.name)));
    let fill = attributes::get("_FillValue").unwrap();
    assert_eq!(fill.data_type, AttributeType::OfVariable);
    assert_eq!(fill.uses, [Use::Coordinate, Use::Data, Use::BoundaryOwn]);
    assert_eq!((fill.sections.as_slice(), fill.since), (["2.5.1", "9.6"].as_slice(), None));
    let dimensions = attributes::get("dimensions").unwrap();
    assert_eq!(dimensions.uses, [Use::Domain]);
    assert_eq!(dimensions.since, Version::parse("1.9"));
    assert_eq!(attributes::get("valid_min").unwrap().data_type, AttributeType::Number);
    assert_eq!(attributes::get("history").unwrap().uses, [Use::Global, Use::Group]);
    assert_eq!(attributes::get("instance_dimension").unwrap().uses, [Use::Other]);
    assert!(attributes::get("conventions").is_none());
    assert!(attributes::all().iter().all(|attribute| attribute.since <= Some(Version::EMBEDDED)));
}

#[test]
fn modifiers_are_those_of_appendix_c() {
    let found: Vec<_> = modifiers::all().iter().map(|found| (found.name, found.units)).collect();
    assert_eq!(
        found,
        [
            ("detection_minimum", ModifiedUnits::OfName),
            ("number_of_observations", ModifiedUnits::One),
            ("standard_error", ModifiedUnits::OfName),
            ("status_flag", ModifiedUnits::None),
        ]
    );
    assert!(modifiers::get("standard_error").unwrap().is_difference);
    assert_eq!(modifiers::get("status_flag").unwrap().deprecated, Version::parse("1.7"));
    assert!(modifiers::get("standard").is_none());
}

#[test]
fn vertical_coordinates_are_those_of_appendix_d() {
    let all = vertical::all();
    assert_eq!(all.len(), 11);
    assert!(is_sorted(all.iter().map(|coordinate| coordinate.standard_name)));
    let terms: usize = all.iter().map(|coordinate| coordinate.terms.len()).sum();
    assert_eq!(terms, lines(include_str!("../data/formula_terms.tsv")));
    let hybrid = vertical::get("atmosphere_hybrid_sigma_pressure_coordinate").unwrap();
    let names: Vec<_> = hybrid.terms.iter().map(|term| (term.name, term.presence)).collect();
    assert_eq!(
        names,
        [
            ("a", TermPresence::InsteadOf("ap")),
            ("ap", TermPresence::InsteadOf("a")),
            ("b", TermPresence::InFormula),
            ("ps", TermPresence::InFormula),
            ("p0", TermPresence::With("a")),
        ]
    );
    assert_eq!(hybrid.computed, ["air_pressure"]);
    let ps = hybrid.term("PS").unwrap();
    assert_eq!(hybrid.expected(ps, "air_pressure"), Some("surface_air_pressure"));
    assert_eq!(hybrid.expected(ps, "altitude"), None);
    let ocean = vertical::get("ocean_sigma_z_coordinate").unwrap();
    let expected = |term, computed| ocean.expected(ocean.term(term).unwrap(), computed);
    let ellipsoid = "height_above_reference_ellipsoid";
    assert_eq!(expected("eta", ellipsoid), Some("sea_surface_height_above_reference_ellipsoid"));
    assert_eq!(expected("depth", "altitude"), Some("sea_floor_depth_below_geoid"));
    assert_eq!(expected("zlev", ellipsoid), Some(ellipsoid));
    assert_eq!(expected("sigma", ellipsoid), Some("ocean_sigma_coordinate"));
    assert_eq!(expected("depth_c", ellipsoid), None);
    assert_eq!(ocean.term("nsigma").unwrap().presence, TermPresence::Optional);
    assert_eq!(vertical::get("ocean_s_coordinate_g1").unwrap().since, Version::parse("1.7"));
}

#[test]
fn vertical_coordinates_name_standard_names() {
    let names = StandardNames::embedded();
    for coordinate in vertical::all() {
        let terms = coordinate.terms.iter().flat_map(|term| &term.standard_names);
        for name in [&coordinate.standard_name].into_iter().chain(&coordinate.computed).chain(terms) {
            assert!(names.get(name).is_some(), "{name}");
        }
        for term in &coordinate.terms {
            let len = term.standard_names.len();
            assert!(len <= 1 || len == coordinate.computed.len(), "{}", term.name);
            if let TermPresence::InsteadOf(other) | TermPresence::With(other) = term.presence {
                assert!(coordinate.term(other).is_some(), "{other}");
            }
        }
    }
}

#[test]
fn cell_methods_are_those_of_appendix_e() {
    assert_eq!(cell_methods::all().len(), 18);
    assert!(is_sorted(cell_methods::all().iter().map(|method| method.name)));
    assert_eq!(lines(include_str!("../data/cell_methods.tsv")), 18);
    let mean = cell_methods::get("mean").unwrap();
    assert_eq!((mean.units, mean.is_difference, mean.since), (MethodUnits::Same, false, None));
    let variance = cell_methods::get("variance").unwrap();
    assert_eq!((variance.units, variance.is_difference), (MethodUnits::Squared, true));
    assert_eq!(cell_methods::get("anomaly_wrt").unwrap().since, Version::parse("1.13"));
    assert_eq!(cell_methods::nearest("standard deviation"), Some("standard_deviation"));
    assert_eq!(cell_methods::nearest("max"), None);
}

#[test]
fn grid_mappings_are_those_of_appendix_f() {
    let names: Vec<_> = grid_mappings::all().iter().map(|mapping| mapping.name).collect();
    assert_eq!(
        names,
        [
            "albers_conical_equal_area",
            "azimuthal_equidistant",
            "geostationary",
            "healpix",
            "lambert_azimuthal_equal_area",
            "lambert_conformal_conic",
            "lambert_cylindrical_equal_area",
            "latitude_longitude",
            "mercator",
            "oblique_mercator",
            "orthographic",
            "polar_stereographic",
            "rotated_latitude_longitude",
            "sinusoidal",
            "stereographic",
            "transverse_mercator",
            "vertical_perspective",
        ]
    );
    let polar = grid_mappings::get("polar_stereographic").unwrap();
    let longitude = polar.parameter("straight_vertical_longitude_from_pole").unwrap();
    let former = longitude.alternatives.last().unwrap();
    assert_eq!((former.since, former.deprecated), (None, Version::parse("1.11")));
    assert_eq!(longitude.presence, Presence::Required);
    assert_eq!(longitude.alternatives[0].name, "longitude_of_projection_origin");
    assert_eq!(longitude.alternatives[0].since, Version::parse("1.11"));
    assert_eq!(polar.parameter("false_easting").unwrap().presence, Presence::Optional);
    let conic = grid_mappings::get("lambert_conformal_conic").unwrap();
    assert_eq!(conic.parameter("standard_parallel").unwrap().alternatives[0].max_values, 2);
    let healpix = grid_mappings::get("healpix").unwrap();
    assert_eq!(healpix.parameter("refinement_level").unwrap().presence, Presence::Depends);
    assert_eq!(healpix.since, Version::parse("1.13"));
    assert_eq!(grid_mappings::get("latitude_longitude").unwrap().parameters, []);
    assert_eq!(grid_mappings::nearest("lambert_conformal_conical"), Some("lambert_conformal_conic"));
}

#[test]
fn parameters_of_grid_mappings_are_attributes_of_table_f1() {
    let attributes = grid_mappings::attributes();
    assert_eq!(attributes.len(), 33);
    assert!(is_sorted(attributes.iter().map(|attribute| attribute.name)));
    let mut parameters = BTreeSet::new();
    for mapping in grid_mappings::all() {
        for alternative in mapping.parameters.iter().flat_map(|parameter| &parameter.alternatives) {
            parameters.insert(alternative.name);
        }
        for alternative in mapping.coordinates.iter().flatten() {
            // CF 1.13 mentions this name, but version 93 of the table does not contain it yet.
            let is_known = alternative.name != "healpix_index";
            let found = StandardNames::embedded().get(alternative.name);
            assert_eq!(found.is_some(), is_known, "{}", alternative.name);
        }
    }
    for attribute in attributes {
        assert_ne!(attribute.is_general, parameters.remove(attribute.name), "{}", attribute.name);
        assert_ne!(attribute.data_type, AttributeType::OfVariable);
    }
    assert_eq!(parameters, BTreeSet::new());
    assert!(grid_mappings::attribute("earth_radius").unwrap().is_general);
    assert_eq!(grid_mappings::attribute("sweep_angle_axis").unwrap().data_type, AttributeType::Text);
}

#[test]
fn versions_are_numbers() {
    assert!(Version::parse("1.10") > Version::parse("1.9"));
    assert_eq!(Version::parse("1.13"), Some(Version::EMBEDDED));
    assert_eq!(Version::EMBEDDED.to_string(), "1.13");
    for wrong in ["", "1", "1.", ".1", "1.x", "+1.7", "1.7.2", "1.99999", "CF-1.7"] {
        assert_eq!(Version::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_table_is_read_from_xml() {
    let names = StandardNames::from_xml(SMALL.as_bytes()).unwrap();
    assert_eq!((names.version(), names.date(), names.len()), ("7", "2026-01-02T03:04:05Z", 3));
    let all: Vec<_> = names.iter().map(|name| (name.name, name.units)).collect();
    assert_eq!(all, [("albedo", Some("1")), ("platform_name", None), ("wind_speed", Some("m s-1"))]);
    assert_eq!(names.alias("gust").unwrap().names().collect::<Vec<_>>(), ["wind_speed"]);
    assert_eq!(names.alias("reflectance").unwrap().names().collect::<Vec<_>>(), ["albedo", "wind_speed"]);
    assert_eq!(names.nearest("wind_sped"), Some("wind_speed"));
    let with_mark = format!("\u{feff}{}", SMALL.replace('\n', "\r\n"));
    assert_eq!(StandardNames::from_xml(with_mark.as_bytes()).unwrap(), names);
}

#[test]
fn names_of_former_tables_may_have_spaces() {
    let xml = SMALL.replace("<entry_id>albedo", "<entry_id>albedo of  ice");
    let names = StandardNames::from_xml(xml.as_bytes()).unwrap();
    assert_eq!(names.alias("reflectance").unwrap().names().next(), Some("albedo of  ice"));
}

#[test]
fn faults_of_a_table_are_found() {
    let without = |text: &str| refusal(&SMALL.replacen(text, "", 1));
    let with = |text: &str, other: &str| refusal(&SMALL.replacen(text, other, 1));
    for (found, expected) in [
        (
            without("<canonical_units>m s-1</canonical_units>"),
            "line 6: 'wind_speed' without <canonical_units>, expected one, which is empty if the name has no units",
        ),
        (
            with("<canonical_units/>", "<canonical_units/><canonical_units>1</canonical_units>"),
            "line 10: 'platform_name' with several <canonical_units>, expected one",
        ),
        (
            with("platform_name", "wind_speed"),
            "line 10: 'wind_speed' in '', expected 'm s-1', as in another entry of the name",
        ),
        (
            refusal(&SMALL.replace("standard_name_table", "table")),
            "line 2: <table>, expected <standard_name_table>",
        ),
        (
            refusal(&SMALL.replace("standard_name_table", "area_type_table")),
            "line 2: <area_type_table>, expected <standard_name_table>",
        ),
        (without(" id=\"albedo\""), "line 11: <entry> without an id, expected <entry id=\"name\">"),
        (with("\"albedo\"", "\" \""), "line 11: '' in <entry>, expected a name"),
        (with("\"albedo\"", "\"al&#9;bedo\""), "line 11: 'al\\tbedo' in <entry>, expected a name"),
        (
            with("<entry_id>albedo</entry_id>", &"<entry_id/>".repeat(200)),
            "line 13: over 100 fields of <alias>, expected fewer",
        ),
        (
            without("<entry_id>wind_speed</entry_id>"),
            "line 12: alias 'gust' without <entry_id>, expected the name that it stands for",
        ),
        (
            without("<version_number>7</version_number>"),
            "no version, expected <version_number> with the version of the table",
        ),
        (
            with("&amp;", "&nbsp;"),
            "line 8: '&nbsp;', expected a letter or one of &amp; &lt; &gt; &quot; &apos;",
        ),
        (
            with("&#233;", "&#x110000;"),
            "line 8: '&#x110000;', expected a letter or one of &amp; &lt; &gt; &quot; &apos;",
        ),
        (
            with("<standard_name", "<!DOCTYPE t [<!ENTITY a \"b\">]>\n<standard_name"),
            "line 2: <!DOCTYPE>, expected a table without a document type",
        ),
        (
            with("<entry id=\"albedo\">", "stray<entry id=\"albedo\">"),
            "line 11: 'stray' between elements, expected an element",
        ),
        (refusal(&format!("{SMALL}<more/>")), "line 15: <more> behind the root, expected nothing more"),
        (refusal(""), "line 1: the file ends, expected the root of a table"),
        (refusal("{}"), "line 1: '{}' before the root, expected an element"),
    ] {
        assert_eq!(found, expected);
    }
    let named = with("</b>", "</i>");
    assert!(named.starts_with("line 8: ") && named.ends_with(", expected well-formed XML"), "{named}");
    let latin = SMALL.replace("albedo", "alb\u{e9}do").chars().map(|c| c as u8).collect::<Vec<_>>();
    let error = StandardNames::from_xml(&latin).unwrap_err();
    assert_eq!(error.reason().to_string(), "line 11: a byte that is no UTF-8, expected a table in UTF-8");
}

#[test]
fn messages_are_short_and_on_one_line() {
    let long = "x".repeat(1 << 20);
    for xml in [
        format!("<{long}/>"),
        format!("<standard_name_table><{long}></y></standard_name_table>"),
        format!("<standard_name_table><entry id='{long}'></entry></standard_name_table>"),
        format!("<standard_name_table>{long}</standard_name_table>"),
        format!("<standard_name_table><entry id='a' {long}></entry></standard_name_table>"),
        "<standard_name_table>a\nb\u{1b}[2J</standard_name_table>".to_owned(),
    ] {
        let message = refusal(&xml);
        assert!(message.len() < 300 && !message.contains(char::is_control), "{message:?}");
    }
}

#[test]
fn a_table_that_is_cut_short_is_refused() {
    let whole = SMALL.trim_end();
    for end in 0..whole.len() {
        let error = StandardNames::from_xml(&whole.as_bytes()[..end]).unwrap_err();
        assert!(error.to_string().contains("expected"), "{end}: {error}");
    }
    assert!(StandardNames::from_xml(whole.as_bytes()).is_ok());
}

#[test]
fn any_byte_may_be_wrong() {
    for at in 0..SMALL.len() {
        for byte in [0, b'<', b'>', b'&', b'"', b'/', b'!', b'[', b'\t', b'\n', 0x80, 0xff] {
            let mut xml = SMALL.as_bytes().to_vec();
            xml[at] = byte;
            if let Ok(names) = StandardNames::from_xml(&xml) {
                assert!(names.iter().all(|name| names.get(name.name) == Some(name)));
            }
            let _ = published::table(&xml);
        }
    }
}

#[test]
fn depth_and_attributes_are_bounded_by_the_file_alone() {
    let deep = |end: &str| {
        let (open, close) = ("<a>".repeat(500_000), "</a>".repeat(500_000));
        format!("<standard_name_table><version_number>1</version_number>{open}{close}{end}")
    };
    assert_eq!(StandardNames::from_xml(deep("</standard_name_table>").as_bytes()).unwrap().len(), 0);
    assert_eq!(
        refusal(&deep("")),
        "line 1: the file ends within <standard_name_table>, expected </standard_name_table>"
    );
    let attributes = " a='1'".repeat(500_000);
    let wide = format!(
        "<standard_name_table><version_number>1</version_number><entry{attributes} id='x'><canonical_units/></entry>\
         </standard_name_table>"
    );
    assert_eq!(StandardNames::from_xml(wide.as_bytes()).unwrap().len(), 1);
    let large = " ".repeat((32 << 20) + 1);
    assert_eq!(refusal(&large), "33554433 bytes, expected a table of at most 33554432");
}

#[test]
fn lists_are_read_from_xml() {
    let xml = "<area_type_table><version_number>2</version_number><date>1 May 2026</date>\
               <entry id='sea'><description/></entry><entry id='land'/></area_type_table>";
    let types = Vocabulary::from_xml(xml.as_bytes()).unwrap();
    assert_eq!((types.version(), types.date()), ("2", "1 May 2026"));
    assert_eq!(types.iter().collect::<Vec<_>>(), ["land", "sea"]);
    assert!(!types.is_empty());
    let table = published::table(xml.as_bytes()).unwrap();
    assert_eq!((table.file, table.contents.as_str()), ("area_types.tsv", "version 2, 2 names"));
    assert!(table.text.ends_with("# name\nland\nsea\n"));
    assert!(Vocabulary::from_xml(SMALL.as_bytes()).is_err());
}

/// The published files are too large for the repository. `HYPERSLAB_CF_TABLES` names the folder that contains them.
#[test]
fn embedded_tables_are_what_the_published_files_say() {
    let Some(folder) = env::var_os("HYPERSLAB_CF_TABLES") else { return };
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "xml") {
            continue;
        }
        let xml = fs::read(&path).unwrap();
        let table = published::table(&xml).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let embedded = match table.file {
            "standard_names.tsv" => include_str!("../data/standard_names.tsv"),
            "area_types.tsv" => include_str!("../data/area_types.tsv"),
            _ => include_str!("../data/regions.tsv"),
        };
        assert!(table.text == embedded, "{}: {}", path.display(), table.contents);
        if table.file == "standard_names.tsv" {
            assert!(StandardNames::from_xml(&xml).unwrap() == *StandardNames::embedded());
        }
    }
}
