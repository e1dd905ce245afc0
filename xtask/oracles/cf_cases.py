"""Changes to files that are valid by the CF conventions, each of which breaks one rule of `check --conventions CF-1.N`.

A case has the file that is changed, the rule, and the change. `since` and `until` are the first and the last version in
which it is a fault. `values` means that only values show it, `typed` that only the datatypes of attributes do, which the
JSON of Zarr does not have, and `advice` that it breaks a recommendation. Where any one of several rules may rightly report a fault,
`rule` lists them with `|`; `also` lists further rules that may be broken.
"""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

from cf_bases import BASES, VERSIONS, add_horizontal, at_least, f4, f8, i1, i2, i4, temperature, time_attributes

ALL = ("netcdf", "zarr", "tiledb")


@dataclass
class Case:
    name: str
    base: str
    rule: str
    change: Callable
    since: str = "1.6"
    until: str = "1.13"
    values: bool = False
    typed: bool = False
    advice: bool = False
    also: tuple = ()
    formats: tuple = field(default=ALL)

    def versions(self):
        """The versions in which it is a fault and the file is valid otherwise."""
        first = BASES[self.base][1]
        return [one for one in VERSIONS if at_least(one, first) and at_least(one, self.since) and at_least(self.until, one)]

    def version(self):
        own = self.versions()
        return "1.8" if "1.8" in own else own[0] if at_least(own[0], "1.8") else own[-1]

    def sound(self):
        """A version in which the file is valid and the change is not a fault, if there is one."""
        own = set(self.versions())
        others = [one for one in VERSIONS if at_least(one, BASES[self.base][1]) and one not in own]
        before = [one for one in others if at_least(self.since, one)]
        return before[-1] if before else others[0] if others else None

    def make(self, version):
        file = BASES[self.base][0](version)
        self.change(file)
        return file


CASES = []


def case(name, base, rule, change, **more):
    CASES.append(Case(name, base, rule, change, **more))


def put(variable=None, /, **attributes):
    """Sets attributes of a variable, or global ones."""
    return lambda file: (file[variable] if variable else file).attributes.update(attributes)


def drop(variable, *names):
    def change(file):
        for name in names:
            (file[variable] if variable else file).attributes.pop(name)
    return change


def values(variable, new):
    def change(file):
        file[variable].values = new
    return change


def shape(variable, *dims, **sizes):
    def change(file):
        file.dim(**sizes)
        file[variable].dims, file[variable].values = dims, None
    return change


def kind(variable, new, values=None):
    def change(file):
        file[variable].kind = new
        if values is not None:
            file[variable].values = values
    return change


def rename(old, new):
    def change(file):
        file.variables = {new if name == old else name: variable for name, variable in file.variables.items()}
    return change


def remove(name):
    return lambda file: file.variables.pop(name)


def add(name, kind, dims=(), values=None, **attributes):
    return lambda file: file.var(name, kind, dims, values, **attributes)


def both(*changes):
    def change(file):
        for one in changes:
            one(file)
    return change


def within(path, change):
    def changed(file):
        for name in path.split("/"):
            file = file.groups[name]
        change(file)
    return changed


GRID = ["time", "lat", "lon"]
MEANS = {"coordinates": "height", "cell_methods": "area: mean time: mean height: point"}
DECOMPOSED = "A\u030angstro\u0308m"  # Ångström, not in normalization form C

# ---- chapter 2: files and their parts

case("variable_with_hyphen", "grid", "names", rename("u", "eastward-wind"), advice=True)
case("dimension_of_digits", "grid", "names", both(lambda file: file.dim(**{"2d": 3}), add("extra", "f4", ["2d"], long_name="extra")), advice=True)
case("attribute_with_space", "grid", "names", lambda file: file["u"].attributes.update({"my note": "a note"}), advice=True)
case("names_in_other_case", "grid", "names-differ-in-case", add("U", "f4", GRID, standard_name="northward_wind", units="m s-1", **MEANS), advice=True)
case("scalar_in_other_case", "grid", "names-differ-in-case", add("HEIGHT", "f4", [], 2, long_name="something else"), advice=True)
case("text_decomposed", "grid", "text-utf8", put("u", comment=DECOMPOSED), since="1.12")
case("label_decomposed", "surfaces", "text-utf8", values("strait_label", ["here", DECOMPOSED]), since="1.12", values=True)
case("text_not_utf8", "grid", "text-utf8", put("u", comment=b"caf\xe9"), since="1.12", formats=("netcdf",))
case("text_in_list", "grid", "text-utf8", put("u", comment=["one", "two"]))
case("text_of_strings", "grid", "datatypes", add("run", "str", [], "r1", long_name="name of the run"), until="1.7")
case("labels_of_strings", "described", "datatypes", both(lambda file: file.dim(strait=2),
     add("strait_label", "str", ["strait"], ["here", "there"], long_name="name of the strait")), until="1.7")
case("data_of_long_integers", "grid", "datatypes", kind("u", "i8"), until="1.8")
case("data_without_sign", "grid", "datatypes", kind("u", "u2"), until="1.8")
case("coordinate_of_long_integers", "scalars", "datatypes", kind("step", "i8"), until="1.8")
case("data_of_enumeration", "grid", "datatypes", add("flag", "enum", ["time"], [0, 1, 1, 0], long_name="flag", cell_methods="time: point"),
     formats=("netcdf",))
case("dimension_twice", "grid", "dimensions-distinct", add("correlation", "f4", ["lat", "lat"], long_name="correlation", cell_methods="lat: point"),
     also=("dimension-order",), formats=("netcdf", "zarr"))
case("unnamed_dimension_twice", "grid", "dimensions-distinct",
     both(lambda file: file.dim(n=3), add("covariance", "f4", ["n", "n"], long_name="covariance")), formats=("netcdf", "zarr"))
case("longitude_before_latitude", "grid", "dimension-order", shape("u", "time", "lon", "lat"), advice=True)
case("time_last", "grid", "dimension-order", shape("u", "lat", "lon", "time"), advice=True)
case("vertical_before_time", "atmosphere", "dimension-order", shape("u", "lev", "time", "lat", "lon"), advice=True)
case("string_coordinate", "grid", "string-coordinate-name",
     both(lambda file: file.dim(station=2), add("station", "str", ["station"], ["a", "b"], long_name="name of the station")), since="1.12")
case("string_coordinate_of_data", "surfaces", "string-coordinate-name",
     lambda file: (file.var("kind", "str", ["kind"], ["x", "y", "z"], long_name="kind"), file["fraction"].attributes.update(coordinates="kind_name kind")),
     since="1.12")
case("missing_of_other_type", "data_values", "fill-value-type", put("v", missing_value=f8(-999)), typed=True)
case("missing_as_text", "data_values", "fill-value-type", put("v", missing_value="-999"), also=("fill-in-valid-range",), typed=True)
case("missing_of_packed", "data_values", "fill-value-type", put("w", missing_value=f4(-32768)), typed=True)
case("range_and_minimum", "data_values", "valid-range", put("v", valid_min=f4(-50)))
case("range_and_maximum", "data_values", "valid-range", put("w", valid_range=i2(-100, 100)))
case("range_of_three", "data_values", "valid-range", put("v", valid_range=f4(-50, 0, 50)), also=("actual-range",))
case("minimum_of_packed", "data_values", "valid-range", put("w", valid_min=f8(-100)), typed=True)
case("fill_in_range", "data_values", "fill-in-valid-range", put("v", valid_range=f4(-1000, 50)), advice=True, typed=True)
case("fill_above_minimum", "data_values", "fill-in-valid-range", put("w", valid_min=i2(-32768)), advice=True, typed=True)
case("fill_is_not_missing", "data_values", "fill-in-valid-range|fill-value-type", put("v", missing_value=f4(-99)), advice=True, typed=True)
case("actual_maximum", "data_values", "actual-range", put("v", actual_range=f4(0.25, 20)), since="1.7", values=True)
case("actual_of_packed", "data_values", "actual-range", put("w", actual_range=f4(-30, 29)), since="1.7", values=True)
case("actual_of_other_type", "data_values", "actual-range", put("v", actual_range=f8(0.25, 14.75)), since="1.7", typed=True)
case("actual_of_three", "data_values", "actual-range", put("v", actual_range=f4(0.25, 10, 14.75)), since="1.7")
case("actual_beyond_valid", "data_values", "actual-range", put("v", valid_range=f4(5, 10)), since="1.7")
case("actual_of_nothing", "data_values", "actual-range", values("v", -999), since="1.7", values=True)
case("no_conventions", "grid", "conventions", drop(None, "Conventions"))
case("other_conventions", "grid", "conventions", put(Conventions="COARDS"))
case("conventions_in_lower_case", "grid", "conventions", put(Conventions="cf 1.8"))
case("conventions_as_list", "grid", "conventions", put(Conventions=["CF-1.8", "ACDD-1.3"]), also=("text-utf8",))
case("title_as_number", "grid", "global-text", put(title=i4(5)))
case("history_as_number", "grid", "global-text", put(history=f8(2020)))
case("references_of_variable", "described", "global-text", put("u", references=i4(7)))
case("external_is_here", "curvilinear", "external-variables", put(external_variables="areacella areacello"), since="1.7")
case("external_as_number", "grid", "external-variables", put(external_variables=i4(1)), since="1.7")
case("conventions_of_group", "grouped", "group-attributes", within("forecast", put(Conventions="CF-1.8")))
case("external_of_group", "grouped", "group-attributes", within("forecast/quality", put(external_variables="elsewhere")))
case("coordinate_is_not_there", "grid", "reference-resolves", put("u", coordinates="height depth"))
case("ancillary_is_not_there", "grid", "reference-resolves", put("u", ancillary_variables="error"))
case("path_is_not_there", "grouped", "reference-resolves", within("forecast", put("u", coordinates="/heights/height")))
case("relative_path_too_high", "grouped", "reference-resolves", within("forecast", put("v", coordinates="../../height")))
case("reference_as_number", "grid", "reference-resolves", put("u", ancillary_variables=i4(1)))

# ---- chapter 3: description of the data

case("no_units", "grid", "units-present", drop("u", "units"))
case("no_units_of_pressure", "scalars", "units-present", drop("p", "units"), also=("positive",))
case("no_units_with_modifier", "described", "units-present", drop("pressure", "units"))
case("units_misspelt", "grid", "units-known", put("u", units="metre per secnd"))
case("units_as_number", "grid", "units-known", put("u", units=i4(1)))
case("units_of_no_unit", "described", "units-known", put("count", units="soundings"))
case("units_with_factor", "grid", "units-known", put("u", units="10 m s-1"))
case("units_with_offset", "described", "units-known", put("ta", units="K @ 273.15"))
case("units_of_another_kind", "grid", "units-canonical", put("u", units="K"))
case("units_of_variance", "statistics", "units-canonical", put("statistic1", units="m s-1"))
case("units_of_number", "described", "units-canonical", put("ta_count", units="m"))
case("units_of_detection", "described", "units-canonical", put("pressure", units="1"))
case("units_level", "grid", "units-dimensionless-name", both(lambda file: file.dim(n=3),
     add("n", "f8", ["n"], [1, 2, 3], long_name="model level", units="level", axis="Z", positive="up")), advice=True)
case("units_layer", "described", "units-dimensionless-name", put("count", units="layer"), advice=True)
case("units_of_volume_fraction", "described", "units-dimensionless-name|units-canonical|units-known",
     add("ozone", "f4", GRID, standard_name="mole_fraction_of_ozone_in_air", units="ppmv", **MEANS), since="1.11")
case("metadata_unknown", "temperatures", "units-metadata", put("ta", units_metadata="temperature: absolute"))
case("metadata_of_wind", "grid", "units-metadata", put("u", units_metadata="temperature: on_scale"), since="1.11")
case("metadata_without_units", "described", "units-metadata", put("count", units_metadata="temperature: unknown"), since="1.11")
case("metadata_of_variance", "temperatures", "units-metadata", put("variance", units_metadata="temperature: on_scale"))
case("metadata_of_error", "described", "units-metadata", put("ta_error", units_metadata="temperature: on_scale"), since="1.11")
case("metadata_missing", "temperatures", "units-metadata", drop("ta", "units_metadata"), advice=True)
case("no_name", "grid", "name-present", add("unnamed", "f4", GRID, units="m", **MEANS), advice=True)
case("no_name_of_ancillary", "flagged", "name-present", drop("sensors", "long_name"), advice=True)
case("no_name_of_coordinate", "scalars", "name-present", drop("weight", "long_name"), advice=True)
case("name_unknown", "grid", "standard-name", put("u", standard_name="eastward_wnd"))
case("name_in_capitals", "grid", "standard-name", put("u", standard_name="Eastward_Wind"))
case("name_as_number", "grid", "standard-name", put("u", standard_name=i4(3)))
case("name_of_coordinate", "rotated", "standard-name", put("rlat", standard_name="rotated_latitude"))
case("modifier_unknown", "described", "standard-name-modifier", put("ta_error", standard_name="air_temperature error"))
case("modifier_with_more", "described", "standard-name-modifier", put("ta_error", standard_name="air_temperature standard_error extra"))
case("modifier_deprecated", "flagged", "standard-name-modifier", put("quality", standard_name="eastward_wind status_flag"), since="1.7", advice=True)
case("region_unknown", "surfaces", "region-or-area-type", values("strait_name", ["drake_passage", "atlantis"]), values=True)
case("area_type_unknown", "surfaces", "region-or-area-type", values("kind_name", ["land", "sea", "moon"]), values=True)
case("region_as_string_unknown", "surfaces", "region-or-area-type", put("strait_label", standard_name="region"), values=True)
case("flags_of_other_type", "flagged", "flag-values", put("quality", flag_values=i4(0, 1, 2)), typed=True)
case("flags_twice", "flagged", "flag-values", put("quality", flag_values=i1(0, 1, 1)))
case("flags_without_meanings", "flagged", "flag-values|flag-meanings", drop("quality", "flag_meanings"))
case("flags_as_text", "flagged", "flag-values", put("quality", flag_values="0, 1, 2"), also=("flag-meanings",))
case("mask_of_zero", "flagged", "flag-masks", put("sensors", flag_masks=i1(0, 2, 4)))
case("mask_of_numbers", "flagged", "flag-masks", both(kind("sensors", "f4"), put("sensors", flag_masks=f4(1, 2, 4))))
case("mask_of_other_type", "flagged", "flag-masks", put("sensors", flag_masks=i4(1, 2, 4)), typed=True)
case("mask_without_bits", "flagged", "flag-masks", put("state", flag_masks=i4(1, 2, 4, 12, 12), flag_values=i4(1, 2, 12, 8, 4)), advice=True)
case("meanings_too_few", "flagged", "flag-meanings", put("quality", flag_meanings="good bad"))
case("meanings_of_masks", "flagged", "flag-meanings", put("sensors", flag_meanings="a b c d"))
case("meanings_with_commas", "flagged", "flag-meanings", put("quality", flag_meanings="good, doubtful, bad"))
case("meanings_as_number", "flagged", "flag-meanings", put("quality", flag_meanings=i4(3)))

# ---- chapter 4: types of coordinates

case("axis_unknown", "grid", "axis", put("lat", axis="N"))
case("axis_of_other_kind", "grid", "axis", put("height", axis="Q"))
case("axis_against_units", "grid", "axis", put("lat", axis="X"), also=("axis-once",))
case("axis_of_time", "grid", "axis", put("time", axis="Z"), also=("positive", "axis-once"))
case("axis_of_data", "grid", "axis", put("u", axis="Z"), also=("attribute-use", "positive"))
case("horizontal_without_axis", "projected", "axis", drop("x", "axis"), advice=True)
case("two_east", "projected", "axis-once", put("y", axis="X"), also=("axis",))
case("two_times", "grid", "axis-once", both(lambda file: file.dim(run=2),
     lambda file: file.var("run", "f8", ["run"], [0, 1], axis="T", **{**time_attributes(file), "standard_name": "forecast_reference_time"}),
     add("w", "f4", ["run", "time"], standard_name="air_pressure", units="Pa", cell_methods="time: mean run: point")))
case("latitude_in_degrees", "grid", "latitude-units", put("lat", units="degrees"))
case("latitude_east", "grid", "latitude-units", put("lat", units="degrees_east"), also=("axis",))
case("latitude_of_auxiliary", "projected", "latitude-units", put("lat", units="degree"))
case("latitude_without_units", "curvilinear", "latitude-units|units-present", drop("lat", "units"))
case("longitude_in_degrees", "grid", "longitude-units", put("lon", units="degrees"))
case("longitude_north", "grid", "longitude-units", put("lon", units="degrees_north"), also=("axis",))
case("longitude_of_auxiliary", "projected", "longitude-units", put("lon", units="radians"))
case("positive_unknown", "grid", "positive", put("height", positive="upward"))
case("positive_missing", "ocean", "positive", drop("depth", "positive"))
case("positive_as_number", "grid", "positive", put("height", positive=i4(1)))
case("positive_against_name", "grid", "positive", put("height", positive="down"), since="1.7", advice=True)
case("terms_unknown", "atmosphere", "formula-terms", put("lev", formula_terms="sigma: lev ps: ps ptop: ptop top: ptop"), also=("bounds-attributes",))
case("terms_malformed", "atmosphere", "formula-terms", put("lev", formula_terms="sigma lev ps ps ptop ptop"))
case("terms_not_there", "atmosphere", "formula-terms|reference-resolves", put("lev", formula_terms="sigma: lev ps: surface ptop: ptop"))
case("terms_of_ocean_not_there", "ocean", "formula-terms|reference-resolves", put("lev", formula_terms="sigma: lev eta: eta depth: floor"))
case("terms_of_other_coordinate", "grid", "formula-terms", put("height", formula_terms="a: height b: height orog: height"))
case("terms_in_other_units", "ocean", "formula-terms", both(put("bottom", units="K"), drop("bottom", "standard_name"), put("bottom", long_name="depth")),
     since="1.9", also=("formula-standard-names",))
case("computed_without_terms", "grid", "formula-terms|formula-standard-names", put("height", computed_standard_name="altitude"), since="1.7", also=("attribute-use",))
case("name_of_term", "atmosphere", "formula-standard-names", put("ps", standard_name="air_pressure"), since="1.7")
case("names_of_terms_disagree", "ocean", "formula-standard-names", put("eta", standard_name="sea_surface_height_above_reference_ellipsoid"), since="1.7")
case("computed_name", "atmosphere", "formula-standard-names", put("lev", computed_standard_name="altitude"), since="1.7")
case("time_without_reference", "grid", "time-units", put("time", units="days"), also=("axis",))
case("time_without_units", "grid", "time-units|units-present", drop("time", "units"), also=("calendar", "axis"))
case("time_since_nothing", "grid", "time-units|units-known", put("time", units="days since yesterday"))
case("time_since_month_13", "grid", "time-units|units-known", put("time", units="days since 2000-13-01"))
case("time_in_metres", "grid", "time-units|units-canonical", put("time", units="m"), also=("axis", "calendar"))
case("time_of_minute_60", "grid", "time-units|units-known", put("time", units="days since 2000-01-01 10:60:00"))
case("time_in_months", "grid", "time-units-month", put("time", units="months since 2000-01-01"), advice=True)
case("time_in_yr", "grid", "time-units-month", put("time", units="yr since 2000-01-01"), advice=True)
case("time_from", "grid", "time-units", put("time", units="days from 2000-01-01"), since="1.13", advice=True)
case("time_zone_east", "grid", "time-units", put("time", units="hours since 2000-01-01 00:00:00 +2:00"), since="1.13", advice=True)
case("calendar_unknown", "grid", "calendar", put("time", calendar="lunar"), also=("month-lengths",))
case("calendar_as_number", "grid", "calendar", put("time", calendar=i4(360)))
case("calendar_of_latitude", "grid", "calendar", put("lat", calendar="standard"), also=("attribute-use",))
case("calendar_gregorian", "grid", "calendar", put("time", calendar="gregorian"), since="1.9", advice=True)
case("calendar_missing", "grid", "calendar", drop("time", "calendar"), advice=True)
case("calendar_of_later", "grid", "calendar", put("time", calendar="tai"), until="1.11", also=("month-lengths",))
case("eleven_months", "calendars", "month-lengths", put("past", month_lengths=i4(*[30] * 11)))
case("months_of_fractions", "calendars", "month-lengths", put("past", month_lengths=f8(*[30.4] * 12)))
case("leap_month_13", "calendars", "month-lengths", put("past", leap_month=i4(13)))
case("leap_month_alone", "calendars", "month-lengths", drop("past", "leap_year"), advice=True)
case("months_of_latitude", "grid", "month-lengths", put("lat", month_lengths=i4(*[30] * 12)), also=("attribute-use",))
case("months_of_standard", "grid", "month-lengths|calendar", put("time", month_lengths=i4(*[30] * 12)), since="1.12")
case("reference_is_no_date", "grid", "date-in-calendar|time-units|units-known", put("time", units="days since 2001-02-30"))
case("reference_in_gap", "grid", "date-in-calendar|time-units", put("time", units="days since 1582-10-10"))
case("reference_of_360_days", "grid", "date-in-calendar|time-units", put("time", calendar="360_day", units="days since 2000-01-31"))
case("reference_in_year_0", "grid", "date-in-calendar|time-units", put("time", units="days since 0000-01-01"), advice=True)
case("across_1582", "grid", "date-in-calendar", put("time", units="days since 1582-10-03"), values=True, advice=True)
case("utc_before_1972", "calendars", "date-in-calendar", values("t8", [-3.0e9, 0, 1]), since="1.12", values=True)
case("tai_before_1958", "calendars", "date-in-calendar", values("t9", [-3.0e9, 0, 1]), since="1.12", values=True)

# ---- chapter 5: coordinate systems

case("time_without_coordinate", "grid", "dimension-has-coordinate", lambda file: (rename("time", "t")(file),
     file["u"].attributes.update(coordinates="height t", cell_methods="area: mean height: point"), file["t"].attributes.pop("axis")), also=("cell-methods",))
case("latitude_without_coordinate", "grid", "dimension-has-coordinate", lambda file: (rename("lat", "latitude")(file),
     file["u"].attributes.update(coordinates="height latitude"), file["latitude"].attributes.pop("axis")))
case("coordinate_repeats", "grid", "coordinate-monotonic", values("lon", [0, 10, 20, 20, 40]), values=True, also=("bounds-contain",))
case("coordinate_turns", "grid", "coordinate-monotonic", values("time", [0.5, 1.5, 0.7, 3.5]), values=True, also=("bounds-contain",))
case("coordinate_of_groups", "grouped", "coordinate-monotonic", values("lat", [-30, -30, 30]), values=True, also=("bounds-contain",))
case("coordinate_with_fill", "grid", "coordinate-no-missing", put("lat", _FillValue=f8(-999)), also=("bounds-attributes",), typed=True)
case("coordinate_with_missing", "grid", "coordinate-no-missing", put("time", missing_value=f8(-999)), also=("bounds-attributes",))
case("auxiliary_of_other_dimension", "scalars", "coordinates-dimensions", shape("weight", "n", n=2))
case("auxiliary_of_more_dimensions", "scalars", "coordinates-dimensions", shape("weight", "step", "n", n=2))
case("coordinates_as_number", "scalars", "coordinates-dimensions|reference-resolves", put("z", coordinates=i4(1)), also=("cell-methods",))
case("projection_without_latitudes", "projected", "horizontal-coordinates", drop("u", "coordinates"), until="1.7")
case("projection_without_longitude", "projected", "horizontal-coordinates", put("u", coordinates="lat"), until="1.7")
case("projection_without_mapping", "projected", "horizontal-coordinates", drop("u", "coordinates", "grid_mapping"))
case("rotated_without_latitude", "rotated", "horizontal-coordinates", both(drop("u", "grid_mapping"), put("u", coordinates="lon")))
case("mapping_not_there", "projected", "grid-mapping|reference-resolves", put("u", grid_mapping="projection"))
case("mapping_without_name", "projected", "grid-mapping", drop("crs", "grid_mapping_name"))
case("mapping_unknown", "projected", "grid-mapping", put("crs", grid_mapping_name="lambert"))
case("mapping_of_no_coordinates", "projected_twice", "grid-mapping|reference-resolves", put("u", grid_mapping="crs: x yy geographic: lat lon"))
case("mapping_malformed", "projected_twice", "grid-mapping", put("u", grid_mapping="crs: geographic: lat lon"))
case("mapping_of_other_auxiliary", "projected_twice", "grid-mapping", put("u", coordinates="lat"), also=("reference-resolves",))
case("mapping_as_number", "projected", "grid-mapping", put("u", grid_mapping=i4(1)), also=("reference-resolves",))
case("parameter_as_text", "projected", "grid-mapping-parameters", put("crs", longitude_of_central_meridian="5"))
case("parameter_missing", "projected", "grid-mapping-parameters", drop("crs", "standard_parallel"))
case("parameter_of_pole_missing", "rotated", "grid-mapping-parameters", drop("rotated_pole", "grid_north_pole_latitude"))
case("datum_alone", "projected", "grid-mapping-parameters", put("crs", horizontal_datum_name="WGS_1984"), since="1.7")
case("projection_alone", "projected", "grid-mapping-parameters", put("crs", projected_crs_name="a projection"), since="1.7")
case("wkt_as_number", "projected_twice", "grid-mapping-parameters", put("geographic", crs_wkt=i4(1)))
case("mapping_with_dimension", "projected", "grid-mapping-parameters|grid-mapping", shape("crs", "x"), advice=True)

# ---- chapter 6: labels

case("label_of_other_dimension", "surfaces", "label", lambda file: (file.dim(other=2),
     file.var("label", "char", ["other", "name_length"], ["a", "b"], long_name="label"),
     file["transport"].attributes.update(coordinates="strait_name label")), also=("coordinates-dimensions",))
case("label_of_three_dimensions", "surfaces", "label", lambda file: (
     file.var("label", "char", ["time", "strait", "name_length"], [["a", "b"]] * 4, long_name="label"),
     file["transport"].attributes.update(coordinates="strait_name label")))
case("string_of_two_dimensions", "surfaces", "label", lambda file: (
     file.var("label", "str", ["time", "strait"], [["a", "b"]] * 4, long_name="label"),
     file["transport"].attributes.update(coordinates="strait_name label")), since="1.8")

# ---- chapter 7: cells

case("bounds_not_there", "grid", "bounds|reference-resolves", put("lat", bounds="latitude_bounds"), also=("name-present", "units-present"))
case("bounds_as_number", "grid", "bounds|reference-resolves", put("lat", bounds=i4(1)), also=("name-present", "units-present"))
case("bounds_of_three", "grid", "bounds", shape("lat_bnds", "lat", "three", three=3), also=("bounds-contain",))
case("bounds_of_other_dimension", "grid", "bounds", shape("lat_bnds", "lon", "bnds"), also=("bounds-contain",))
case("bounds_without_vertices", "grid", "bounds", shape("lat_bnds", "lat"), also=("bounds-contain",))
case("bounds_as_text", "grid", "bounds", kind("time_bnds", "char", [b"ab"] * 4))
case("bounds_in_other_order", "grid", "bounds", values("lat_bnds", [[-15, -45], [15, -15], [45, 15]]), values=True)
case("bounds_of_two_in_plane", "curvilinear", "bounds", both(lambda file: file.dim(corner=2), shape("lat_vertices", "j", "i", "corner"),
     shape("lon_vertices", "j", "i", "corner")), since="1.12", also=("bounds-contain",))
case("bounds_with_other_units", "grid", "bounds-attributes", put("lat_bnds", units="degrees"))
case("bounds_with_other_name", "grid", "bounds-attributes", put("lon_bnds", standard_name="latitude"))
case("bounds_with_other_calendar", "grid", "bounds-attributes", put("time_bnds", units="days since 2000-01-01", calendar="noleap"), since="1.7")
case("bounds_with_the_same", "grid", "bounds-attributes", put("lat_bnds", units="degrees_north"), since="1.7", advice=True)
case("bounds_with_own_name", "grid", "bounds-attributes", put("lat_bnds", long_name="bounds of latitude"), since="1.11")
case("bounds_without_terms", "atmosphere", "bounds-attributes|formula-terms|bounds", drop("lev_bnds", "formula_terms"), since="1.7")
case("point_beside_cell", "grid", "bounds-contain", values("lat", [-30, 20, 30]), values=True, advice=True)
case("time_beside_cell", "grid", "bounds-contain", values("time", [0.5, 1.5, 2.5, 5]), values=True, advice=True)
case("measure_unknown", "curvilinear", "cell-measures", put("tos", cell_measures="surface: areacello"))
case("measure_not_there", "curvilinear", "cell-measures|reference-resolves", put("tos", cell_measures="area: area_of_cells"))
case("measure_malformed", "curvilinear", "cell-measures", put("tos", cell_measures="areacello"))
case("measure_in_other_units", "curvilinear", "cell-measures", both(put("areacello", units="m"), drop("areacello", "standard_name"),
     put("areacello", long_name="area")))
case("measure_without_units", "curvilinear", "cell-measures|units-present", drop("volcello", "units"))
case("measure_of_more_dimensions", "curvilinear", "cell-measures", shape("areacello", "corner", "j", "i"))
case("method_unknown", "grid", "cell-methods", put("u", cell_methods="area: mean time: average height: point"))
case("method_of_unknown_dimension", "grid", "cell-methods", put("u", cell_methods="area: mean time: mean height: point deep: point"))
case("method_without_colon", "grid", "cell-methods", put("u", cell_methods="area mean time mean"))
case("method_twice", "grid", "cell-methods", put("u", cell_methods="area: mean time: mean time: maximum height: point"))
case("method_with_unknown_interval", "grid", "cell-methods", put("u", cell_methods="area: mean time: mean (interval: 1 fortnite) height: point"))
case("method_with_intervals_too_many", "grid", "cell-methods",
     put("u", cell_methods="area: mean time: mean (interval: 1 hr interval: 2 hr interval: 3 hr) height: point"))
case("method_where_unknown", "grid", "cell-methods", put("u", cell_methods="area: mean where moon time: mean height: point"))
case("method_as_number", "grid", "cell-methods", put("u", cell_methods=i4(1)))
case("method_open", "grid", "cell-methods", put("u", cell_methods="area: mean time: mean (interval: 1 hr height: point"))
case("climatology_not_there", "climatology", "climatology|reference-resolves", put("time", climatology="bounds_of_years"),
     also=("name-present", "units-present", "cell-methods"))
case("climatology_of_latitude", "climatology", "climatology", lambda file: (file["lat"].attributes.pop("bounds"),
     file["lat"].attributes.update(climatology="lat_bnds")), also=("attribute-use", "cell-methods"))
case("climatology_of_three", "climatology", "climatology", shape("climatology_bounds", "time", "three", three=3))
case("climatology_with_fill", "climatology", "climatology|bounds-attributes", put("climatology_bounds", _FillValue=f8(-1)), typed=True)
case("climatology_with_other_units", "climatology", "climatology|bounds-attributes", put("climatology_bounds", units="days since 1990-01-01"))
case("climatology_as_text", "climatology", "climatology", kind("hour_bounds", "char", [b"ab"] * 2))
case("climatology_without_periods", "climatology", "climatology", put("pr", cell_methods="area: mean time: mean"))
case("climatology_over_alone", "climatology", "climatology", put("pr", cell_methods="area: mean time: mean over years"))
case("climatology_over_first", "climatology", "climatology", put("pr", cell_methods="area: mean time: mean over years time: mean within years"))
case("climatology_of_two_periods", "climatology", "climatology", put("cycle", cell_methods="area: mean hour: sum within days hour: maximum over years"))
case("climatology_without_methods", "climatology", "climatology", put("pr", cell_methods="area: mean"), advice=True)
case("geometry_not_there", "lines", "geometry|reference-resolves", put("flow", geometry="streams"), also=("axis",))
case("geometry_unknown", "lines", "geometry", put("rivers", geometry_type="curve"))
case("geometry_without_type", "lines", "geometry", drop("rivers", "geometry_type"))
case("geometry_without_nodes", "lines", "geometry", drop("rivers", "node_coordinates"), also=("axis",))
case("node_without_axis", "lines", "geometry", drop("x", "axis"))
case("node_axis_twice", "lines", "geometry", put("x", axis="Y"), also=("axis", "axis-once"))
case("nodes_not_there", "lines", "geometry|reference-resolves", put("rivers", node_coordinates="x z"))
case("node_count_too_large", "lines", "geometry", values("node_count", [3, 4]), values=True)
case("line_of_one_node", "lines", "geometry", values("node_count", [4, 1]), values=True)
case("polygon_of_two_nodes", "polygons", "geometry", both(values("node_count", [10, 2]), values("part_node_count", [3, 3, 4, 2])), values=True)
case("holes_without_parts", "polygons", "geometry", drop("basins", "part_node_count"))
case("hole_is_two", "polygons", "geometry", values("interior_ring", [0, 2, 0, 0]), values=True)
case("parts_do_not_add_up", "polygons", "geometry", values("part_node_count", [3, 3, 3, 2]), values=True)
case("ring_is_clockwise", "polygons", "geometry",
     both(values("x", [20, 10, 0, 5, 10, 15, 20, 10, 0, 30, 40, 50]), values("y", [0, 15, 0, 5, 10, 5, 20, 35, 20, 0, 15, 0])), values=True)
case("nodes_names_no_node", "lines", "geometry", put("lat", nodes="node_count"))

# ---- chapter 8: reduction of dataset size

case("scale_of_integer", "data_values", "packing", both(put("speed", scale_factor=i4(2))), since="1.11", typed=True)
case("scale_and_offset_differ", "data_values", "packing", put("speed", add_offset=f4(1)), typed=True)
case("scale_as_text", "data_values", "packing", put("speed", scale_factor="0.1"))
case("packed_in_numbers", "data_values", "packing", put("u", scale_factor=f8(0.1)), typed=True)
case("scale_too_short", "data_values", "packing", put("speed", scale_factor=f4(0.1)), typed=True, since="1.11")
case("index_too_large", "gathered", "compress", values("landpoint", [0, 3, 8, 15]), values=True)
case("index_negative", "gathered", "compress", values("landpoint", [-1, 3, 8, 14]), values=True)
case("compressed_not_there", "gathered", "compress|reference-resolves", put("landpoint", compress="lat longitude"))
case("index_of_numbers", "gathered", "compress", kind("landpoint", "f8"))
case("index_with_bounds", "gathered", "compress", lambda file: (file["landpoint"].attributes.update(bounds="point_bnds"),
     file.var("point_bnds", "f8", ["landpoint", "bnds"], [[0, 1], [3, 4], [8, 9], [14, 15]])), since="1.11")
case("compress_of_data", "gathered", "compress", put("runoff", compress="lat lon"), also=("attribute-use",))

# ---- chapter 9: discrete sampling geometries

case("feature_unknown", "time_series", "feature-type", put(featureType="timeseries_of_stations"))
case("feature_as_number", "time_series", "feature-type", put(featureType=i4(1)))
case("feature_of_other_shape", "time_series", "feature-type", put(featureType="point"), also=("cf-role",))
case("feature_without_longitude", "points", "feature-type", lambda file: (file.variables.pop("lon"), file["speed"].attributes.update(coordinates="time lat")))
case("ragged_without_feature", "profiles", "feature-type", drop(None, "featureType"), also=("cf-role",))
case("sample_dimension_not_there", "profiles", "feature-type|reference-resolves", put("row_size", sample_dimension="samples"),
     also=("coordinates-dimensions",))
case("count_of_numbers", "profiles", "feature-type", kind("row_size", "f8"))
case("role_unknown", "time_series", "cf-role", put("series_name", cf_role="station_id"))
case("role_twice", "time_series", "cf-role", put("alt", cf_role="timeseries_id"))
case("role_of_other_feature", "time_series", "cf-role", put("series_name", cf_role="profile_id"))
case("role_missing", "time_series", "cf-role", drop("series_name", "cf_role"), advice=True)

# ---- appendix A: attributes

case("methods_of_coordinate", "grid", "attribute-use", put("lat", cell_methods="lat: mean"), advice=True, also=("cell-methods",))
case("title_of_variable", "grid", "attribute-use", put("u", title="Wind"), advice=True)
case("feature_of_variable", "grid", "attribute-use", put("u", featureType="point"), advice=True)
case("units_of_file", "grid", "attribute-use", put(standard_name="eastward_wind"), advice=True)
case("climatology_of_data", "climatology", "attribute-use|climatology", put("pr", climatology="climatology_bounds"), advice=True)
