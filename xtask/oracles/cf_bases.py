"""Valid files by the CF conventions, in memory, and their writing as NetCDF-4 and as Zarr.

Each function below `BASES` gives a file for one version of the conventions that exercises some of their rules; none of
them breaks a requirement or a recommendation. `cf_cases.py` changes them so that each change breaks one rule.
"""

import numpy as np

VERSIONS = ["1.6", "1.7", "1.8", "1.9", "1.10", "1.11", "1.12", "1.13"]


def at_least(version, other):
    return VERSIONS.index(version) >= VERSIONS.index(other)


class Variable:
    def __init__(self, kind, dims, values, attributes):
        self.kind, self.dims, self.values, self.attributes = kind, tuple(dims), values, dict(attributes)


class Group:
    def __init__(self, **attributes):
        self.dims, self.variables, self.attributes, self.groups = {}, {}, dict(attributes), {}

    def __getitem__(self, name):
        return self.variables[name]

    def dim(self, **sizes):
        self.dims.update(sizes)

    def var(self, name, kind, dims=(), values=None, /, **attributes):
        """A variable; kind is `f8`, `i2` and the like, `char` (the last dimension is the length of the strings), `str`, or
        `enum`, an enumeration of bytes in NetCDF."""
        self.variables[name] = Variable(kind, dims, values, attributes)
        return self.variables[name]

    def group(self, name, **attributes):
        self.groups[name] = Group(**attributes)
        return self.groups[name]


class File(Group):
    """The root group; `version` is what `Conventions` states."""

    def __init__(self, version):
        super().__init__(Conventions=f"CF-{version}", title="A file for tests of conventions", history="made by a script")
        self.version = version

    def since(self, version):
        return at_least(self.version, version)


def array(variable, dims):
    """The values of a variable as an array of its shape."""
    shape = tuple(dims[name] for name in variable.dims)
    if variable.kind == "char":
        if not shape:
            return np.array(variable.values.encode(), "S1")
        texts = np.array(variable.values, f"S{shape[-1]}").reshape(shape[:-1])
        return np.frombuffer(texts.tobytes(), "S1").reshape(shape)
    if variable.kind == "str":
        return np.array(variable.values, object).reshape(shape)
    kind = {"enum": "i1"}.get(variable.kind, variable.kind)
    if variable.values is None:
        count = int(np.prod(shape))
        return (np.arange(count) % 50 + 1).astype(kind).reshape(shape)
    return np.broadcast_to(np.asarray(variable.values, kind), shape).copy()


def write_netcdf(file, path):
    import netCDF4
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.set_auto_maskandscale(False)
        write_netcdf_group(file, dataset, {})


def write_netcdf_group(group, dataset, dims):
    dims = {**dims, **group.dims}
    for name, size in group.dims.items():
        dataset.createDimension(name, size)
    for name, value in group.attributes.items():
        put_attribute(dataset, name, value)
    for name, variable in group.variables.items():
        kind = {"char": "S1", "str": str}.get(variable.kind, variable.kind)
        if kind == "enum":
            kind = dataset.createEnumType("i1", f"{name}_type", {"no": 0, "yes": 1})
        fill = variable.attributes.get("_FillValue")
        made = dataset.createVariable(name, kind, variable.dims, fill_value=fill)
        made.set_auto_maskandscale(False)
        made.set_auto_chartostring(False)
        for key, value in variable.attributes.items():
            if key != "_FillValue":
                put_attribute(made, key, value)
        values = array(variable, dims)
        made[...] = values if values.shape or variable.kind != "str" else values.item()
    for name, inner in group.groups.items():
        write_netcdf_group(inner, dataset.createGroup(name), dims)


def put_attribute(to, name, value):
    if isinstance(value, list):
        to.setncattr_string(name, value)
    else:
        to.setncattr(name, value)


def write_zarr(file, path):
    import zarr
    write_zarr_group(file, zarr.open_group(path, mode="w", zarr_format=2), {})


def write_zarr_group(group, to, dims):
    dims = {**dims, **group.dims}
    to.attrs.update({name: plain(value) for name, value in group.attributes.items()})
    for name, variable in group.variables.items():
        values = array(variable, dims)
        kind = {"str": str, "char": "S1"}.get(variable.kind, variable.kind)
        fill = variable.attributes.get("_FillValue")
        made = to.create_array(name, shape=values.shape, dtype=kind, chunks=tuple(max(1, size) for size in values.shape), fill_value=fill)
        made[...] = values
        attributes = {key: plain(value) for key, value in variable.attributes.items() if key != "_FillValue"}
        made.attrs.update({"_ARRAY_DIMENSIONS": list(variable.dims), **attributes})
    for name, inner in group.groups.items():
        write_zarr_group(inner, to.create_group(name), dims)


def plain(value):
    """An attribute as JSON has it: without the datatype of numbers."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


# ---- parts of files


def f4(*values):
    return np.array(values, "f4") if len(values) > 1 else np.float32(values[0])


def f8(*values):
    return np.array(values, "f8") if len(values) > 1 else np.float64(values[0])


def i1(*values):
    return np.array(values, "i1") if len(values) > 1 else np.int8(values[0])


def i2(*values):
    return np.array(values, "i2") if len(values) > 1 else np.int16(values[0])


def i4(*values):
    return np.array(values, "i4") if len(values) > 1 else np.int32(values[0])


def time_attributes(file, units="days since 2000-01-01", calendar="standard"):
    """Attributes of a time coordinate; CF 1.12 alone recommends to say what leap seconds are."""
    own = {"standard_name": "time", "units": units, "calendar": calendar}
    leaping = calendar in ["standard", "proleptic_gregorian", "julian"]
    return {**own, "units_metadata": "leap_seconds: none"} if file.version == "1.12" and leaping else own


def add_time(file, size=4, bounds=True):
    file.dim(time=size, bnds=2)
    days = np.arange(size)
    file.var("time", "f8", ["time"], days + 0.5, axis="T", **time_attributes(file))
    if bounds:
        file["time"].attributes["bounds"] = "time_bnds"
        file.var("time_bnds", "f8", ["time", "bnds"], np.stack([days, days + 1], 1))


def add_horizontal(file, bounds=True):
    file.dim(lat=3, lon=5, bnds=2)
    lat, lon = np.array([-30.0, 0.0, 30.0]), np.array([0.0, 10.0, 20.0, 30.0, 40.0])
    file.var("lat", "f8", ["lat"], lat, standard_name="latitude", units="degrees_north", axis="Y")
    file.var("lon", "f8", ["lon"], lon, standard_name="longitude", units="degrees_east", axis="X")
    if bounds:
        file["lat"].attributes["bounds"] = "lat_bnds"
        file["lon"].attributes["bounds"] = "lon_bnds"
        file.var("lat_bnds", "f8", ["lat", "bnds"], np.stack([lat - 15, lat + 15], 1))
        file.var("lon_bnds", "f8", ["lon", "bnds"], np.stack([lon - 5, lon + 5], 1))


def add_height(file):
    file.var("height", "f8", [], 10.0, standard_name="height", units="m", positive="up", axis="Z")


METHODS = "area: mean time: mean height: point"


def temperature(file, kind="on_scale"):
    return {"units_metadata": f"temperature: {kind}"} if file.since("1.11") else {}


# ---- files


def grid(version):
    """A field on latitudes, longitudes and times, with bounds and a scalar coordinate."""
    file = File(version)
    add_time(file)
    add_horizontal(file)
    add_height(file)
    file.var("u", "f4", ["time", "lat", "lon"], standard_name="eastward_wind", units="m s-1", coordinates="height", cell_methods=METHODS)
    return file


def data_values(version):
    """Missing data, valid and actual ranges, of data that are packed and that are not."""
    file = grid(version)
    dims = ["time", "lat", "lon"]
    common = {"units": "m s-1", "coordinates": "height", "cell_methods": METHODS}
    values = np.arange(60, dtype="f4").reshape(4, 3, 5) / 4
    values[0, 0, 0] = -999
    file.var("v", "f4", dims, values, standard_name="northward_wind", _FillValue=f4(-999), missing_value=f4(-999),
             valid_range=f4(-50, 50), **common)
    packed = np.arange(60).reshape(4, 3, 5) - 30
    file.var("w", "i2", dims, packed, standard_name="upward_air_velocity", _FillValue=i2(-32768), valid_min=i2(-100),
             valid_max=i2(100), scale_factor=f4(0.5), add_offset=f4(1), **common)
    if file.since("1.7"):
        file["v"].attributes["actual_range"] = f4(0.25, 14.75)
        file["w"].attributes["actual_range"] = f4(-14, 15.5)
    file.var("speed", "i4", dims, packed, long_name="speed of something", scale_factor=f8(0.1), **common)
    return file


def described(version):
    """Global and own descriptions; units of all kinds; names with modifiers; ancillary variables."""
    file = grid(version)
    file.attributes.update(institution="An institution", source="a model", references="none", comment="for tests")
    file["u"].attributes.update(comment="a comment", institution="Another", source="another", references="none")
    dims = ["time", "lat", "lon"]
    common = {"coordinates": "height", "cell_methods": METHODS}
    file.var("ta", "f4", dims, standard_name="air_temperature", units="degC", ancillary_variables="ta_error ta_count", **common, **temperature(file))
    file.var("ta_error", "f4", dims, standard_name="air_temperature standard_error", units="K", **common, **temperature(file, "difference"))
    file.var("rh", "f4", dims, standard_name="relative_humidity", units="%", **common)
    file.var("q", "f4", dims, standard_name="specific_humidity", units="g kg-1", **common)
    file.var("count", "i4", dims, long_name="number of soundings", **common)
    file.var("pressure", "f4", dims, standard_name="air_pressure detection_minimum", units="mbar", **common)
    if file.since("1.7"):
        file.var("ta_count", "i4", dims, standard_name="number_of_observations", units="1", **common)
    else:
        file.var("ta_count", "i4", dims, standard_name="air_temperature number_of_observations", units="1", **common)
    return file


def statistics(version):
    """Cell methods in all their forms, and the units that they make of canonical ones."""
    file = grid(version)
    dims = ["time", "lat", "lon"]
    for number, (methods, units) in enumerate([
            ("time: maximum area: mean height: point", "m s-1"),
            ("time: variance (interval: 1 hr comment: sampled instantaneously) area: mean height: point", "m2 s-2"),
            ("time: lat: lon: mean height: point", "m s-1"),
            ("lat: lon: standard_deviation (interval: 0.1 degree_N interval: 0.2 degree_E) time: point height: point", "m s-1"),
            ("area: mean where land time: median height: point", "m s-1"),
            ("area: mean where sea_ice over sea time: mid_range height: point", "m s-1"),
            ("time: minimum (free text) longitude: mode latitude: sum height: point", "m s-1"),
    ]):
        file.var(f"statistic{number}", "f4", dims, standard_name="eastward_wind", units=units, coordinates="height", cell_methods=methods)
    if file.since("1.7"):
        for number, (method, units) in enumerate([("range", "m s-1"), ("root_mean_square", "m s-1"), ("sum_of_squares", "m2 s-2"),
                                                  ("mean_absolute_value", "m s-1"), ("mean_of_upper_decile", "m s-1")]):
            file.var(f"later{number}", "f4", dims, standard_name="eastward_wind", units=units, coordinates="height",
                     cell_methods=f"area: mean time: {method} height: point")
    return file


def flagged(version):
    """Flags that are values, masks, and both."""
    file = grid(version)
    dims = ["time", "lat", "lon"]
    common = {"coordinates": "height", "cell_methods": "area: time: height: point"}
    file["u"].attributes["ancillary_variables"] = "quality sensors state"
    three, name = np.arange(60).reshape(4, 3, 5) % 3, "status_flag" if file.since("1.7") else "eastward_wind status_flag"
    file.var("quality", "i1", dims, three, standard_name=name, flag_values=i1(0, 1, 2), flag_meanings="good doubtful not-seen", **common)
    file.var("sensors", "i1", dims, three, long_name="sensors at work", flag_masks=i1(1, 2, 4), flag_meanings="no.1 no.2 no.3", **common)
    file.var("state", "i4", dims, three, long_name="state of sensors", flag_masks=i4(1, 2, 12, 12, 12), flag_values=i4(1, 2, 4, 8, 12),
             flag_meanings="low_battery hardware_fault offline calibrating maintenance", **common)
    return file


def surfaces(version):
    """Area types, regions and labels, as arrays of characters and, since 1.8, as strings."""
    file = File(version)
    add_time(file)
    file.dim(strait=2, kind=3, name_length=20)
    file.var("strait_name", "char", ["strait", "name_length"], ["drake_passage", "mozambique_channel"], standard_name="region")
    file.var("kind_name", "char", ["kind", "name_length"], ["land", "sea", "sea_ice"], standard_name="area_type")
    file.var("model", "char", ["name_length"], "first", long_name="name of the model")
    file.var("transport", "f4", ["time", "strait"], standard_name="ocean_volume_transport_across_line", units="m3 s-1",
             coordinates="strait_name model", cell_methods="time: mean")
    file.var("fraction", "f4", ["time", "kind"], standard_name="area_fraction", units="1", coordinates="kind_name", cell_methods="time: mean")
    if file.since("1.8"):
        file.var("strait_label", "str", ["strait"], ["here", "there \u00e9"], long_name="name of the strait")
        file.var("run", "str", [], "r1", long_name="name of the run")
        file["transport"].attributes["coordinates"] += " strait_label run"
    return file


CALENDARS = {"standard": "1.6", "proleptic_gregorian": "1.6", "noleap": "1.6", "365_day": "1.6", "all_leap": "1.6", "366_day": "1.6",
             "360_day": "1.6", "julian": "1.6", "utc": "1.12", "tai": "1.12"}


def calendars(version):
    """A time coordinate in each calendar, one that states the lengths of its months, and one that is not a calendar."""
    file = File(version)
    for number, (calendar, since) in enumerate(CALENDARS.items()):
        if file.since(since):
            name = f"t{number}"
            units = "seconds since 2000-01-01 00:00:00" if calendar in ["utc", "tai"] else "days since 2000-02-28 06:00:00"
            file.dim(**{name: 3})
            file.var(name, "f8", [name], [0, 1, 2], axis="T", **time_attributes(file, units, calendar))
            file.var(f"v{number}", "f4", [name], standard_name="air_pressure", units="hPa", cell_methods=f"{name}: point")
    file.dim(past=3)
    file.var("past", "f8", ["past"], [0, 100, 200], axis="T", **time_attributes(file, "days since 1-1-1", None))
    file["past"].attributes.pop("calendar")
    file["past"].attributes.update(month_lengths=i4(34, 31, 32, 30, 29, 27, 28, 28, 28, 32, 32, 34), leap_year=i4(4), leap_month=i4(2))
    if file.since("1.9"):
        file["past"].attributes["calendar"] = "126 kyr B.P."
    file.var("vpast", "f4", ["past"], standard_name="air_pressure", units="hPa", cell_methods="past: point")
    return file


def times(version):
    """Reference times in all forms: with fractions, time zones, other units of time."""
    file = File(version)
    units = ["seconds since 1992-10-8 15:15:42.5 -6:00", "hours since 1997-4-29", "minutes since 1970-01-01T00:00:00",
             "ms since 1970-01-01 00:00:00", "d since 1970-01-01 00:00", "Hours Since 1970-1-1 0:0:0"]
    for number, unit in enumerate(units[file.since("1.13"):5]):
        name = f"t{number}"
        file.dim(**{name: 3})
        file.var(name, "f8", [name], [0, 1, 2], axis="T", **time_attributes(file, unit))
        file.var(f"v{number}", "f4", [name], standard_name="air_pressure", units="hPa", cell_methods=f"{name}: point")
    return file


def atmosphere(version):
    """A parametric vertical coordinate with bounds, whose terms have bounds since 1.7."""
    file = File(version)
    add_time(file, bounds=False)
    add_horizontal(file, bounds=False)
    file.dim(lev=3)
    level = np.array([0.2, 0.5, 0.9])
    file.var("lev", "f8", ["lev"], level, standard_name="atmosphere_sigma_coordinate", units="1", positive="down", axis="Z",
             formula_terms="sigma: lev ps: ps ptop: ptop", bounds="lev_bnds")
    file.var("lev_bnds", "f8", ["lev", "bnds"], [[0.1, 0.3], [0.3, 0.7], [0.7, 1.0]])
    file.var("ptop", "f8", [], 10.0, long_name="pressure at the top", units="hPa")
    point = {"cell_methods": "time: point lat: point lon: point"}
    file.var("ps", "f4", ["time", "lat", "lon"], standard_name="surface_air_pressure", units="hPa", **point)
    file.var("u", "f4", ["time", "lev", "lat", "lon"], standard_name="eastward_wind", units="m s-1",
             cell_methods="time: point lat: point lon: point lev: mean")
    if file.since("1.7"):
        file["lev_bnds"].attributes["formula_terms"] = "sigma: lev_bnds ps: ps ptop: ptop"
        file["ptop"].attributes["standard_name"] = "air_pressure_at_top_of_atmosphere_model"
        file["lev"].attributes["computed_standard_name"] = "air_pressure"
    return file


def hybrid(version):
    """Coefficients of a hybrid coordinate that have bounds themselves."""
    file = File(version)
    add_horizontal(file, bounds=False)
    file.dim(lev=3)
    a, b = np.array([0.1, 0.2, 0.0]), np.array([0.0, 0.4, 0.95])
    file.var("lev", "f8", ["lev"], [0.1, 0.6, 0.95], standard_name="atmosphere_hybrid_sigma_pressure_coordinate", units="1", positive="down",
             axis="Z", formula_terms="a: a b: b ps: ps p0: p0", bounds="lev_bnds")
    file.var("lev_bnds", "f8", ["lev", "bnds"], [[0.05, 0.3], [0.3, 0.8], [0.8, 1.0]])
    for name, values in [("a", a), ("b", b)]:
        file.var(name, "f8", ["lev"], values, long_name=f"coefficient {name}", units="1")
        file.var(f"{name}_bnds", "f8", ["lev", "bnds"], np.stack([values, values + 0.05], 1), long_name=f"bounds of coefficient {name}", units="1")
    file.var("p0", "f8", [], 1000.0, long_name="reference pressure", units="hPa")
    file.var("ps", "f4", ["lat", "lon"], standard_name="surface_air_pressure", units="Pa", cell_methods="lat: point lon: point")
    file.var("u", "f4", ["lev", "lat", "lon"], standard_name="eastward_wind", units="m s-1", cell_methods="lat: point lon: point lev: mean")
    if file.since("1.7"):
        file["lev_bnds"].attributes["formula_terms"] = "a: a_bnds b: b_bnds ps: ps p0: p0"
        file["p0"].attributes["standard_name"] = "reference_air_pressure_for_atmosphere_vertical_coordinate"
    return file


def ocean(version):
    """An ocean coordinate, whose terms agree on a datum, and depths below the surface."""
    file = File(version)
    add_horizontal(file, bounds=False)
    file.dim(lev=3, depth=3)
    point = "lat: point lon: point"
    file.var("lev", "f8", ["lev"], [-0.9, -0.5, -0.1], standard_name="ocean_sigma_coordinate", units="1", positive="up", axis="Z",
             formula_terms="sigma: lev eta: eta depth: bottom")
    file.var("eta", "f4", ["lat", "lon"], standard_name="sea_surface_height_above_geoid", units="m", cell_methods=point)
    file.var("bottom", "f4", ["lat", "lon"], standard_name="sea_floor_depth_below_geoid", units="m", cell_methods=point)
    file.var("depth", "f8", ["depth"], [0, 10, 100], standard_name="depth", units="m", positive="down", axis="Z")
    file.var("salinity", "f4", ["lev", "lat", "lon"], standard_name="sea_water_salinity", units="1e-3", cell_methods=f"{point} lev: point")
    file.var("speed", "f4", ["depth", "lat", "lon"], standard_name="sea_water_speed", units="m s-1", cell_methods=f"{point} depth: point")
    if file.since("1.7"):
        file["lev"].attributes["computed_standard_name"] = "altitude"
    return file


def add_map(file, two_dimensional=True):
    file.dim(y=3, x=4)
    x, y = np.arange(4) * 1000.0, np.arange(3) * 1000.0
    file.var("x", "f8", ["x"], x, standard_name="projection_x_coordinate", units="m", axis="X")
    file.var("y", "f8", ["y"], y, standard_name="projection_y_coordinate", units="m", axis="Y")
    if two_dimensional:
        lat = 50 + np.arange(3)[:, None] + np.arange(4) * 0.01
        lon = 5 + np.arange(3)[:, None] * 0.01 + np.arange(4)
        file.var("lat", "f8", ["y", "x"], lat, standard_name="latitude", units="degrees_north")
        file.var("lon", "f8", ["y", "x"], lon, standard_name="longitude", units="degrees_east")


ELLIPSOID = {"semi_major_axis": f8(6378137), "inverse_flattening": f8(298.257223563), "longitude_of_prime_meridian": f8(0)}


def projected(version):
    """A map projection, with its parameters and two-dimensional latitudes and longitudes."""
    file = File(version)
    add_map(file)
    file.var("crs", "i4", [], 0, grid_mapping_name="lambert_conformal_conic", standard_parallel=f8(40, 60), longitude_of_central_meridian=f8(5),
             latitude_of_projection_origin=f8(50), false_easting=f8(0), false_northing=f8(0), **ELLIPSOID)
    file.var("u", "f4", ["y", "x"], standard_name="eastward_wind", units="m s-1", coordinates="lat lon", grid_mapping="crs",
             cell_methods="x: point y: point")
    return file


WKT = ('GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]],CS[ellipsoidal,2],'
       'AXIS["latitude",north],AXIS["longitude",east],ANGLEUNIT["degree",0.0174532925199433]]')


def projected_twice(version):
    """The extended form of grid_mapping: a mapping for projected coordinates, and another for the others."""
    file = projected(version)
    file.var("geographic", "i4", [], 0, grid_mapping_name="latitude_longitude", crs_wkt=WKT, **ELLIPSOID)
    file["crs"].attributes.update(reference_ellipsoid_name="WGS 84", prime_meridian_name="Greenwich", horizontal_datum_name="WGS_1984",
                                  geographic_crs_name="WGS 84", projected_crs_name="a projection")
    file["u"].attributes["grid_mapping"] = "crs: x y geographic: lat lon"
    return file


def rotated(version):
    """A rotated pole, whose coordinates are in degrees."""
    file = File(version)
    file.dim(rlat=3, rlon=4)
    file.var("rlat", "f8", ["rlat"], [-1, 0, 1], standard_name="grid_latitude", units="degrees", axis="Y")
    file.var("rlon", "f8", ["rlon"], [0, 1, 2, 3], standard_name="grid_longitude", units="degrees", axis="X")
    lat = 50 + np.arange(3)[:, None] + np.arange(4) * 0.1
    file.var("lat", "f8", ["rlat", "rlon"], lat, standard_name="latitude", units="degrees_north")
    file.var("lon", "f8", ["rlat", "rlon"], lat - 40, standard_name="longitude", units="degrees_east")
    file.var("rotated_pole", "char", [], "", grid_mapping_name="rotated_latitude_longitude", grid_north_pole_latitude=f8(32.5),
             grid_north_pole_longitude=f8(170))
    file.var("u", "f4", ["rlat", "rlon"], standard_name="eastward_wind", units="m s-1", coordinates="lon lat", grid_mapping="rotated_pole",
             cell_methods="rlat: point rlon: point")
    return file


def curvilinear(version):
    """Two-dimensional coordinates with four-sided cells, their areas and volumes, and an area in another file since 1.7."""
    file = File(version)
    file.dim(j=3, i=4, corner=4)
    lat, lon = np.repeat([10.0, 11, 12], 4).reshape(3, 4), np.tile([20.0, 21, 22, 23], 3).reshape(3, 4)
    file.var("lat", "f8", ["j", "i"], lat, standard_name="latitude", units="degrees_north", bounds="lat_vertices")
    file.var("lon", "f8", ["j", "i"], lon, standard_name="longitude", units="degrees_east", bounds="lon_vertices")
    file.var("lat_vertices", "f8", ["j", "i", "corner"], lat[..., None] + np.array([-0.5, -0.5, 0.5, 0.5]))
    file.var("lon_vertices", "f8", ["j", "i", "corner"], lon[..., None] + np.array([-0.5, 0.5, 0.5, -0.5]))
    file.var("areacello", "f4", ["j", "i"], standard_name="cell_area", units="km2", coordinates="lat lon", cell_methods="area: sum")
    file.var("volcello", "f4", ["j", "i"], standard_name="ocean_volume", units="m3", coordinates="lat lon", cell_methods="area: sum")
    file.var("tos", "f4", ["j", "i"], standard_name="sea_surface_height_above_geoid", units="m", coordinates="lat lon",
             cell_measures="area: areacello volume: volcello", cell_methods="area: mean where sea")
    if file.since("1.7"):
        file.attributes["external_variables"] = "areacella"
        file.var("zos", "f4", ["j", "i"], standard_name="sea_surface_height_above_geoid", units="m", coordinates="lat lon",
                 cell_measures="area: areacella", cell_methods="area: mean")
    return file


def climatology(version):
    """Means of months over years, and of hours within days."""
    file = File(version)
    add_horizontal(file)
    file.dim(time=3, hour=2)
    file.var("time", "f8", ["time"], [15.5, 45, 74.5], axis="T", climatology="climatology_bounds", **time_attributes(file))
    file.var("climatology_bounds", "f8", ["time", "bnds"], [[0, 3684], [31, 3712], [60, 3743]])
    file.var("pr", "f4", ["time", "lat", "lon"], standard_name="precipitation_flux", units="kg m-2 s-1",
             cell_methods="area: mean time: mean within years time: mean over years")
    file.var("hour", "f8", ["hour"], [0.25, 0.75], axis="T", climatology="hour_bounds", **time_attributes(file))
    file.var("hour_bounds", "f8", ["hour", "bnds"], [[0, 30.5], [0.5, 31]])
    file.var("cycle", "f4", ["hour", "lat", "lon"], standard_name="precipitation_flux", units="kg m-2 s-1",
             cell_methods="area: mean hour: sum within days hour: maximum over days")
    return file


def gathered(version):
    """Data on land points alone, compressed by gathering."""
    file = File(version)
    add_time(file)
    add_horizontal(file, bounds=False)
    file.dim(landpoint=4)
    file.var("landpoint", "i4", ["landpoint"], [0, 3, 8, 14], long_name="points on land", compress="lat lon")
    file.var("runoff", "f4", ["time", "landpoint"], standard_name="runoff_flux", units="kg m-2 s-1", cell_methods="time: mean")
    return file


def add_station(file, name="series"):
    file.var(f"{name}_name", "char", [name, "name_length"], [f"{name}{number}" for number in range(file.dims[name])],
             long_name=f"name of the {name}", cf_role="timeseries_id")


def time_series(version):
    """Time series at stations, all at the same times."""
    file = File(version)
    file.attributes["featureType"] = "timeSeries"
    add_time(file, bounds=False)
    file.dim(series=3, name_length=10)
    add_station(file)
    file.var("lat", "f8", ["series"], [10, 20, 30], standard_name="latitude", units="degrees_north")
    file.var("lon", "f8", ["series"], [11, 21, 31], standard_name="longitude", units="degrees_east")
    file.var("alt", "f8", ["series"], [1, 2, 3], standard_name="altitude", units="m", positive="up", axis="Z")
    file.var("humidity", "f4", ["series", "time"], standard_name="relative_humidity", units="1", coordinates="lat lon alt series_name",
             _FillValue=f4(-1), cell_methods="time: point")
    return file


def profiles(version):
    """Profiles one after the other, with their lengths."""
    file = File(version)
    file.attributes["featureType"] = "profile"
    file.dim(profile=2, obs=5)
    file.var("profile", "i4", ["profile"], [1, 2], long_name="number of the profile", cf_role="profile_id")
    file.var("time", "f8", ["profile"], [0, 1], **time_attributes(file))
    file.var("lat", "f8", ["profile"], [10, 20], standard_name="latitude", units="degrees_north")
    file.var("lon", "f8", ["profile"], [11, 21], standard_name="longitude", units="degrees_east")
    file.var("row_size", "i4", ["profile"], [2, 3], long_name="number of samples of the profile", sample_dimension="obs")
    file.var("z", "f8", ["obs"], [1, 2, 1, 2, 3], standard_name="depth", units="m", positive="down", axis="Z")
    file.var("salinity", "f4", ["obs"], standard_name="sea_water_salinity", units="1e-3", coordinates="time lat lon z")
    return file


def trajectories(version):
    """Trajectories whose samples lie in any order, with the trajectory of each."""
    file = File(version)
    file.attributes["featureType"] = "trajectory"
    file.dim(trajectory=2, obs=5, name_length=10)
    add_station(file, "trajectory")
    file["trajectory_name"].attributes["cf_role"] = "trajectory_id"
    file.var("trajectory_index", "i4", ["obs"], [0, 1, 1, 0, 1], long_name="trajectory of the sample", instance_dimension="trajectory")
    file.var("time", "f8", ["obs"], [0, 0, 1, 1, 2], **time_attributes(file))
    file.var("lat", "f8", ["obs"], [10, 20, 21, 11, 22], standard_name="latitude", units="degrees_north")
    file.var("lon", "f8", ["obs"], [10, 20, 21, 11, 22], standard_name="longitude", units="degrees_east")
    file.var("speed", "f4", ["obs"], standard_name="sea_water_speed", units="m s-1", coordinates="time lat lon")
    return file


def points(version):
    """Observations at points without connection."""
    file = File(version)
    file.attributes["featureType"] = "point"
    file.dim(obs=5)
    file.var("time", "f8", ["obs"], [0, 0, 1, 1, 2], **time_attributes(file))
    file.var("lat", "f8", ["obs"], [10, 20, 21, 11, 22], standard_name="latitude", units="degrees_north")
    file.var("lon", "f8", ["obs"], [10, 20, 21, 11, 22], standard_name="longitude", units="degrees_east")
    file.var("speed", "f4", ["obs"], standard_name="sea_water_speed", units="m s-1", coordinates="time lat lon")
    return file


def station_profiles(version):
    """Time series of profiles at stations: two identifiers."""
    file = File(version)
    file.attributes["featureType"] = "timeSeriesProfile"
    file.dim(station=2, profile=3, z=4, name_length=10)
    add_station(file, "station")
    file.var("profile_number", "i4", ["station", "profile"], [[1, 2, 3], [4, 5, 6]], long_name="number of the profile", cf_role="profile_id")
    file.var("lat", "f8", ["station"], [10, 20], standard_name="latitude", units="degrees_north")
    file.var("lon", "f8", ["station"], [11, 21], standard_name="longitude", units="degrees_east")
    file.var("time", "f8", ["station", "profile"], [[0, 1, 2], [0, 1, 2]], **time_attributes(file))
    file.var("alt", "f8", ["station", "profile", "z"], standard_name="altitude", units="m", positive="up", axis="Z")
    file.var("humidity", "f4", ["station", "profile", "z"], standard_name="relative_humidity", units="1",
             coordinates="time lat lon alt station_name profile_number")
    return file


def lines(version):
    """Time series of rivers, whose places are lines (since 1.8)."""
    file = File(version)
    add_time(file)
    file.dim(river=2, node=5)
    file.var("x", "f8", ["node"], [30, 10, 40, 50, 50], standard_name="longitude", units="degrees_east", axis="X")
    file.var("y", "f8", ["node"], [10, 30, 40, 60, 50], standard_name="latitude", units="degrees_north", axis="Y")
    file.var("lat", "f8", ["river"], [20, 55], standard_name="latitude", units="degrees_north", nodes="y")
    file.var("lon", "f8", ["river"], [25, 50], standard_name="longitude", units="degrees_east", nodes="x")
    file.var("datum", "i4", [], 0, grid_mapping_name="latitude_longitude", **ELLIPSOID)
    file.var("node_count", "i4", ["river"], [3, 2], long_name="number of nodes of the river")
    file.var("rivers", "i4", [], 0, geometry_type="line", node_count="node_count", node_coordinates="x y", coordinates="lat lon", grid_mapping="datum")
    file.var("flow", "f4", ["time", "river"], standard_name="water_volume_transport_in_river_channel", units="m3 s-1", coordinates="lat lon",
             grid_mapping="datum", geometry="rivers", cell_methods="time: mean")
    return file


def polygons(version):
    """Areas of several parts with holes (since 1.8)."""
    file = File(version)
    add_time(file)
    file.dim(basin=2, node=12, part=4)
    file.var("x", "f8", ["node"], [20, 10, 0, 5, 10, 15, 20, 10, 0, 50, 40, 30], standard_name="longitude", units="degrees_east", axis="X")
    file.var("y", "f8", ["node"], [0, 15, 0, 5, 10, 5, 20, 35, 20, 0, 15, 0], standard_name="latitude", units="degrees_north", axis="Y")
    file.var("node_count", "i4", ["basin"], [9, 3], long_name="number of nodes of the basin")
    file.var("part_node_count", "i4", ["part"], [3, 3, 3, 3], long_name="number of nodes of the part")
    file.var("interior_ring", "i4", ["part"], [0, 1, 0, 0], long_name="whether the part is a hole")
    file.var("lat", "f8", ["basin"], [20, 7], standard_name="latitude", units="degrees_north", nodes="y")
    file.var("lon", "f8", ["basin"], [10, 40], standard_name="longitude", units="degrees_east", nodes="x")
    file.var("basins", "i4", [], 0, geometry_type="polygon", node_count="node_count", node_coordinates="x y", part_node_count="part_node_count",
             interior_ring="interior_ring")
    file.var("rain", "f4", ["time", "basin"], standard_name="precipitation_amount", units="kg m-2", coordinates="lat lon", geometry="basins",
             cell_methods="time: sum area: mean")
    return file


def sites(version):
    """Points as geometries, without counts of nodes (since 1.8)."""
    file = File(version)
    add_time(file)
    file.dim(site=3)
    file.var("x", "f8", ["site"], [30, 10, 40], standard_name="longitude", units="degrees_east", axis="X")
    file.var("y", "f8", ["site"], [10, 30, 40], standard_name="latitude", units="degrees_north", axis="Y")
    file.var("places", "i4", [], 0, geometry_type="point", node_coordinates="x y")
    file.var("rain", "f4", ["time", "site"], standard_name="precipitation_amount", units="kg m-2", geometry="places", cell_methods="time: sum")
    return file


def grouped(version):
    """Groups that share dimensions and coordinates, with references by path and by search (since 1.8)."""
    file = File(version)
    add_time(file)
    add_horizontal(file)
    add_height(file)
    forecast = file.group("forecast", title="a group", history="made by a script")
    forecast.var("u", "f4", ["time", "lat", "lon"], standard_name="eastward_wind", units="m s-1", coordinates="/height", cell_methods=METHODS,
                 ancillary_variables="quality/flag")
    quality = forecast.group("quality")
    quality.var("flag", "i1", ["time", "lat", "lon"], None, standard_name="status_flag", flag_values=i1(1, 2), flag_meanings="good bad",
                coordinates="../../height", cell_methods="area: time: height: point")
    forecast.var("v", "f4", ["time", "lat", "lon"], standard_name="northward_wind", units="m s-1", coordinates="height", cell_methods=METHODS)
    quality["flag"].values = np.arange(60).reshape(4, 3, 5) % 2 + 1
    return file


def temperatures(version):
    """What units of temperatures and of time mean (since 1.11)."""
    file = File(version)
    add_time(file)
    kinds = [("ta", "air_temperature", "degC", "on_scale", "time: mean"), ("spread", "air_temperature", "K", "difference", "time: standard_deviation"),
             ("variance", "air_temperature", "K2", "difference", "time: variance"), ("either", "air_temperature", "K", "unknown", "time: mean")]
    for name, standard, units, kind, methods in kinds:
        file.var(name, "f4", ["time"], standard_name=standard, units=units, units_metadata=f"temperature: {kind}", cell_methods=methods)
    if file.since("1.12"):
        file.dim(t=3)
        file.var("t", "f8", ["t"], [0, 1, 2], axis="T", **time_attributes(file))
        file["t"].attributes["units_metadata"] = "leap_seconds: utc"
        file.var("u", "f4", ["t"], standard_name="eastward_wind", units="m s-1", cell_methods="t: point")
    return file


def scalars(version):
    """Auxiliary and scalar coordinates of a forecast."""
    file = File(version)
    add_horizontal(file)
    file.dim(step=3)
    file.var("time", "f8", [], 0.5, **time_attributes(file))
    file.var("reference", "f8", [], 0.0, **{**time_attributes(file), "standard_name": "forecast_reference_time"})
    file.var("p", "f8", [], 500.0, standard_name="air_pressure", units="hPa", positive="down", axis="Z")
    file.var("step", "i4", ["step"], [1, 2, 3], long_name="number of the run")
    file.var("weight", "f8", ["step"], [0.1, 0.5, 0.4], long_name="weight of the run")
    file.var("z", "f4", ["step", "lat", "lon"], standard_name="geopotential_height", units="m", coordinates="time reference p weight",
             cell_methods="area: mean time: point p: point reference: point")
    return file


# Each with the first version that has the features it shows.
BASES = {
    "grid": (grid, "1.6"), "data_values": (data_values, "1.6"), "described": (described, "1.6"), "statistics": (statistics, "1.6"),
    "flagged": (flagged, "1.6"), "surfaces": (surfaces, "1.6"), "calendars": (calendars, "1.6"), "times": (times, "1.6"),
    "atmosphere": (atmosphere, "1.6"), "hybrid": (hybrid, "1.6"), "ocean": (ocean, "1.6"), "projected": (projected, "1.6"),
    "projected_twice": (projected_twice, "1.7"), "rotated": (rotated, "1.6"), "curvilinear": (curvilinear, "1.6"),
    "climatology": (climatology, "1.6"), "gathered": (gathered, "1.6"), "time_series": (time_series, "1.6"), "profiles": (profiles, "1.6"),
    "trajectories": (trajectories, "1.6"), "points": (points, "1.6"), "station_profiles": (station_profiles, "1.6"), "lines": (lines, "1.8"),
    "polygons": (polygons, "1.8"), "sites": (sites, "1.8"), "grouped": (grouped, "1.8"), "temperatures": (temperatures, "1.11"),
    "scalars": (scalars, "1.6"),
}
