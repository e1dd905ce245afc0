"""Small NetCDF files of the kinds that people exchange, one function each: model output, satellites, stations, groups."""

import os

import netCDF4
import numpy as np
import xarray


def cmip(file):
    """A climate model: bounds, an unlimited time, missing values twice, two-dimensional coordinates of a rotated grid."""
    for name, size in (("time", None), ("bnds", 2), ("rlat", 3), ("rlon", 4)):
        file.createDimension(name, size)
    time = variable(file, "time", "f8", ("time",), np.arange(5) * 30.0 + 15, units="days since 1850-01-01",
                    calendar="365_day", bounds="time_bnds", axis="T", standard_name="time", long_name="time")
    assert time.shape == (5,)
    variable(file, "time_bnds", "f8", ("time", "bnds"), np.arange(10.0).reshape(5, 2) * 15)
    variable(file, "rlat", "f8", ("rlat",), [-1.0, 0, 1], units="degrees", axis="Y")
    variable(file, "rlon", "f8", ("rlon",), [0.0, 1, 2, 3], units="degrees", axis="X")
    grid = np.arange(12.0).reshape(3, 4)
    variable(file, "lat", "f8", ("rlat", "rlon"), grid, units="degrees_north", standard_name="latitude")
    variable(file, "lon", "f8", ("rlat", "rlon"), -grid, units="degrees_east", standard_name="longitude")
    crs = variable(file, "rotated_pole", "S1", (), b"x", grid_mapping_name="rotated_latitude_longitude",
                   grid_north_pole_latitude=39.25, grid_north_pole_longitude=np.float32(-162.0))
    assert crs.ndim == 0
    tas = np.linspace(250, 300, 60).astype("f4").reshape(5, 3, 4)
    tas[1, 1, 1] = 1e20
    variable(file, "tas", "f4", ("time", "rlat", "rlon"), tas, fill=np.float32(1e20), zlib=True, shuffle=True,
             missing_value=np.float32(1e20), units="K", standard_name="air_temperature", coordinates="lat lon",
             grid_mapping="rotated_pole", cell_methods="area: time: mean")
    attributes(file, Conventions="CF-1.7", title="a model", realization_index=np.int32(1), tracking_id="hdl:21.14100/x",
               branch_time=0.0, nominal_resolution="50 km", version=np.int16(3), factor=np.float32(0.1))


def wrf(file):
    """A weather model: times as characters, dimensions without coordinates, attributes of all sizes."""
    for name, size in (("Time", None), ("DateStrLen", 19), ("south_north", 3), ("west_east", 2), ("bottom_top", 2)):
        file.createDimension(name, size)
    times = netCDF4.stringtochar(np.array(["2020-01-01_00:00:00", "2020-01-01_06:00:00"], "S19"))
    variable(file, "Times", "S1", ("Time", "DateStrLen"), times)
    variable(file, "XLAT", "f4", ("Time", "south_north", "west_east"), np.arange(12).reshape(2, 3, 2), FieldType=np.int32(104),
             MemoryOrder="XY ", description="LATITUDE, SOUTH IS NEGATIVE", units="degree_north", stagger="")
    variable(file, "T", "f4", ("Time", "bottom_top", "south_north", "west_east"), np.arange(24).reshape(2, 2, 3, 2),
             FieldType=np.int32(104), units="K", coordinates="XLONG XLAT XTIME")
    attributes(file, TITLE=" OUTPUT FROM WRF", DX=np.float32(1000.5), GRIDTYPE="C", PARENT_ID=np.int32(0),
               SIMULATION_START_DATE="2020-01-01_00:00:00", CEN_LAT=np.float32(47.25))


def roms(file):
    """An ocean model: curvilinear coordinates, vertical coordinates, masks as doubles."""
    for name, size in (("ocean_time", None), ("s_rho", 3), ("eta_rho", 4), ("xi_rho", 2)):
        file.createDimension(name, size)
    variable(file, "ocean_time", "f8", ("ocean_time",), [0.0, 3600], units="seconds since 2000-01-01 00:00:00",
             calendar="proleptic_gregorian")
    variable(file, "s_rho", "f8", ("s_rho",), [-0.8, -0.5, -0.1], valid_min=-1.0, valid_max=0.0, positive="up",
             formula_terms="s: s_rho C: Cs_r eta: zeta depth: h depth_c: hc")
    variable(file, "hc", "f8", (), 250.0, units="meter")
    variable(file, "mask_rho", "f8", ("eta_rho", "xi_rho"), np.eye(4, 2), flag_values=np.array([0.0, 1.0]), flag_meanings="land water")
    variable(file, "temp", "f4", ("ocean_time", "s_rho", "eta_rho", "xi_rho"), np.arange(48).reshape(2, 3, 4, 2),
             fill=np.float32(1e37), time="ocean_time", units="Celsius", chunksizes=(1, 3, 4, 2), zlib=True, complevel=1)


def packed(file):
    """A reanalysis: short integers with scale and offset of doubles, hours since 1900."""
    for name, size in (("longitude", 4), ("latitude", 3), ("time", 2)):
        file.createDimension(name, size)
    variable(file, "longitude", "f4", ("longitude",), [0, 90, 180, 270], units="degrees_east")
    variable(file, "latitude", "f4", ("latitude",), [90, 0, -90], units="degrees_north")
    variable(file, "time", "i4", ("time",), [1043832, 1043833], units="hours since 1900-01-01 00:00:00.0", calendar="gregorian")
    raw = np.arange(24, dtype="i2").reshape(2, 3, 4) - 12
    raw[0, 0, 0] = -32767
    variable(file, "t2m", "i2", ("time", "latitude", "longitude"), raw, fill=np.int16(-32767), scale_factor=0.00176,
             add_offset=259.9432, missing_value=np.int16(-32767), units="K", long_name="2 metre temperature")


def satellite(file):
    """A satellite: unsigned numbers stored as signed ones, flags, ranges, float scales, a scalar time."""
    for name, size in (("y", 4), ("x", 3), ("number_of_time_bounds", 2)):
        file.createDimension(name, size)
    variable(file, "y", "i2", ("y",), [0, 1, 2, 3], scale_factor=-0.000056, add_offset=0.126532, units="rad", axis="Y")
    variable(file, "x", "i2", ("x",), [0, 1, 2], scale_factor=0.000056, add_offset=-0.101332, units="rad", axis="X")
    variable(file, "t", "f8", (), 6.3e8, units="seconds since 2000-01-01 12:00:00", bounds="time_bounds")
    variable(file, "time_bounds", "f8", ("number_of_time_bounds",), [6.3e8, 6.30001e8])
    raw = np.array([[0, 1, 2], [3, -1, 5], [6, 7, 8], [9, 10, 11]], "i2")
    variable(file, "Rad", "i2", ("y", "x"), raw, fill=np.int16(-1), _Unsigned="true", valid_range=np.array([0, 32766], "i2"),
             scale_factor=np.float64(np.float32(0.1)), add_offset=-25.5, zlib=True)
    variable(file, "DQF", "i1", ("y", "x"), raw % 4, fill=np.int8(-1), _Unsigned="true", flag_values=np.array([0, 1, 2, 3], "i1"),
             flag_masks=np.array([15], "i1"), flag_meanings="good conditionally_usable out_of_range no_value")
    variable(file, "counts", "u2", ("y", "x"), raw.astype("u2"), fill=np.uint16(65535), valid_max=np.uint16(65000))
    variable(file, "mask", "u1", ("y", "x"), raw.astype("u1"))
    attributes(file, naming_authority="gov.example", orbit=np.uint32(4000000000), limits=np.array([0, 255], "u1"),
               bounds=np.array([-1.5, 0.1], "f4"), big=np.int64(1 << 40))


def single_scale(file):
    """Packed numbers with a single-precision scale."""
    file.createDimension("x", 3)
    variable(file, "p", "i2", ("x",), [1, 2, -9], fill=np.int16(-9), scale_factor=np.float32(0.01))


def profiles(file):
    """Floats: strings as characters of several lengths, fill characters, a dimension of length one."""
    for name, size in (("N_PROF", 2), ("N_LEVELS", 3), ("STRING8", 8), ("DATE_TIME", 14), ("N_PARAM", 1)):
        file.createDimension(name, size)
    file.createVariable("PLATFORM_NUMBER", "S1", ("N_PROF", "STRING8"), fill_value=b" ")[:] = netCDF4.stringtochar(
        np.array(["1900001", "1900002"], "S8"))
    file.createVariable("DATE_CREATION", "S1", ("DATE_TIME",))[:] = netCDF4.stringtochar(np.array(["20200101000000"], "S14"))[0]
    variable(file, "JULD", "f8", ("N_PROF",), [25567.5, 999999.0], fill=999999.0, units="days since 1950-01-01 00:00:00 UTC",
             resolution=0.0)
    pressure = np.array([[5, 10, 99999], [5, 99999, 99999]], "f4")
    variable(file, "PRES", "f4", ("N_PROF", "N_LEVELS"), pressure, fill=np.float32(99999), valid_min=np.float32(0),
             C_format="%7.1f", resolution=np.float32(0.1))


def stations(file):
    """Ragged arrays of stations, with names as strings."""
    for name, size in (("station", 3), ("obs", None)):
        file.createDimension(name, size)
    names = file.createVariable("station_name", str, ("station",))
    names[:] = np.array(["Kiel", "Tromsø", ""], object)
    names.cf_role = "timeseries_id"
    variable(file, "row_size", "i4", ("station",), [1, 2, 0], sample_dimension="obs")
    variable(file, "time", "i8", ("obs",), [1, 2, 3], units="seconds since 1970-01-01")
    variable(file, "humidity", "f4", ("obs",), [0.5, np.nan, 0.75], fill=np.float32(np.nan), coordinates="time lat lon")
    variable(file, "lat", "f4", ("station",), [54, 69.5, 0])
    file.setncattr_string("keywords", ["one", "two"])
    file.setncattr_string("name", "Meßstation °C")
    attributes(file, featureType="timeSeries", empty="", numbers=np.array([1, 2, 3], "i4"), mean=np.array([0.1, 0.2], "f4"))


def names_as_coordinates(file):
    """A coordinate of strings."""
    file.createDimension("site", 2)
    file.createVariable("site", str, ("site",))[:] = np.array(["a", "bb"], object)
    variable(file, "v", "f8", ("site",), [1, 2])


def crossed(file):
    """Variables with the names of dimensions that are not their coordinates."""
    for name, size in (("lat", 2), ("lon", 3), ("station", 2), ("strlen", 4)):
        file.createDimension(name, size)
    variable(file, "lat", "f8", ("lat", "lon"), np.arange(6.0).reshape(2, 3))
    variable(file, "lon", "f8", ("lat", "lon"), np.arange(6.0).reshape(2, 3) * 10)
    file.createVariable("station", "S1", ("station", "strlen"))[:] = netCDF4.stringtochar(np.array(["ab", "cdef"], "S4"))
    variable(file, "t", "f4", ("lat", "lon"), np.ones((2, 3)), coordinates="lat lon")


def groups(file):
    """A satellite product: nested groups that use dimensions of their parents."""
    for name, size in (("time", 1), ("scanline", None)):
        file.createDimension(name, size)
    file.title = "root"
    product = file.createGroup("PRODUCT")
    product.createDimension("ground_pixel", 3)
    variable(product, "ground_pixel", "i4", ("ground_pixel",), [0, 1, 2])
    variable(product, "delta_time", "i4", ("time", "scanline"), [[0, 840]], units="milliseconds since 2018-05-01 00:00:00")
    variable(product, "qa_value", "u1", ("time", "scanline", "ground_pixel"), np.arange(6).reshape(1, 2, 3), fill=np.uint8(255),
             scale_factor=0.01, add_offset=0.0, valid_max=np.uint8(100))
    deep = product.createGroup("SUPPORT_DATA").createGroup("GEOLOCATIONS")
    variable(deep, "zenith", "f4", ("time", "scanline", "ground_pixel"), np.arange(6.0).reshape(1, 2, 3), fill=np.float32(9.96921e36))
    attributes(deep, note="deep")
    file.createGroup("METADATA").createGroup("EMPTY")


def enumeration(file):
    """An enumerated type."""
    clouds = file.createEnumType(np.uint8, "cloud", {"Clear": 0, "Cumulus": 1, "Missing": 255})
    file.createDimension("x", 3)
    variable(file, "sky", clouds, ("x",), [0, 1, 255], fill=np.uint8(255))


def numbers(file):
    """Every numeric type, with default and explicit fill values, unwritten elements, and both byte orders."""
    file.createDimension("x", 4)
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
        variable(file, f"whole_{kind}", kind, ("x",), np.arange(4), endian="big")
        file.createVariable(f"part_{kind}", kind, ("x",))[0:2] = [1, 2]
        file.createVariable(f"own_{kind}", kind, ("x",), fill_value=7)[1:3] = [8, 9]
        file.createVariable(f"bare_{kind}", kind, ("x",), fill_value=False)[:] = np.arange(4)
        file.setncattr(f"attribute_{kind}", np.array([1, 2], kind))
        file.setncattr(f"single_{kind}", np.array(1, kind))


def unusual_numbers(file):
    """Attributes and elements that JSON cannot represent directly."""
    file.createDimension("x", 3)
    extremes = np.array([np.nan, np.inf, -np.inf])
    variable(file, "f", "f8", ("x",), extremes, fill=np.nan, valid_range=np.array([-np.inf, np.inf]), missing_value=np.nan,
             tiny=np.float64(5e-324), single=np.float32(1e-45), third=1 / 3, whole=1.0, long=np.int64(-(1 << 62)))
    attributes(file, nothing=np.nan, everything=extremes.astype("f4"), unsigned=np.uint64((1 << 64) - 1))


def never_written(file):
    """Variables that were never written, and dimensions of length zero."""
    for name, size in (("time", None), ("x", 3)):
        file.createDimension(name, size)
    for name, dimensions in (("time", ("time",)), ("a", ("time", "x")), ("b", ("x",)), ("c", ())):
        file.createVariable(name, "f4", dimensions)
    file.createVariable("text", str, ("x",))


def filters(file):
    """Compression of several kinds, a checksum, storage without chunks."""
    for name, size in (("x", 64), ("y", 32)):
        file.createDimension(name, size)
    values = np.arange(2048).reshape(64, 32)
    variable(file, "deflated", "i4", ("x", "y"), values, zlib=True, complevel=9, chunksizes=(16, 32))
    variable(file, "shuffled", "f8", ("x", "y"), values, zlib=True, shuffle=True, fletcher32=True, chunksizes=(10, 10))
    variable(file, "checked", "i2", ("x", "y"), values, fletcher32=True, chunksizes=(64, 32))
    variable(file, "plain", "i4", ("x", "y"), values, contiguous=True)
    variable(file, "zstandard", "f4", ("x", "y"), values, compression="zstd")
    variable(file, "rounded", "f4", ("x", "y"), values / 7, zlib=True, significant_digits=3)


FILES = (cmip, wrf, roms, packed, satellite, single_scale, profiles, stations, names_as_coordinates, crossed, groups, enumeration,
         numbers, unusual_numbers, never_written, filters)
# What the classic formats cannot store.
ONLY_NEW = {groups, enumeration, stations, names_as_coordinates, filters, satellite, numbers, unusual_numbers, never_written}


def variable(group, name, kind, dimensions, values, fill=None, zlib=False, **rest):
    options = {key: rest.pop(key) for key in ("shuffle", "complevel", "chunksizes", "fletcher32", "contiguous", "endian",
                                              "compression", "significant_digits") if key in rest}
    made = group.createVariable(name, kind, dimensions, fill_value=fill, zlib=zlib, **options)
    made.set_auto_maskandscale(False)
    made[...] = values
    attributes(made, **rest)
    return made


def attributes(of, **values):
    for name, value in values.items():
        of.setncattr(name, value)


def by_xarray(folder):
    """Files as xarray writes them: times, durations, booleans, strings, complex coordinates."""
    times = xarray.date_range("2001-02-03", periods=3, freq="12h")
    dataset = xarray.Dataset(
        {
            "a": (("time", "x"), np.arange(6.0).reshape(3, 2), {"units": "m"}),
            "flag": ("x", np.array([True, False])),
            "lag": ("time", np.array([1, 2, 3], "m8[h]").astype("m8[ns]")),
            "label": ("x", np.array(["ä", "long text"], object)),
            "code": ("x", np.array([b"ab", b"c"], "S2")),
            "scalar": ((), 3),
        },
        coords={"time": times, "x": ["p", "q"], "height": 2.0},
        attrs={"history": "made", "many": [1, 2], "one": 1.5},
    )
    for engine in ("netcdf4", "h5netcdf", "scipy"):
        path = os.path.join(folder, f"xarray_{engine}.nc")
        kept = dataset if engine != "scipy" else dataset.drop_vars("code")
        kept.to_netcdf(path, engine=engine)
        yield path
        path = os.path.join(folder, f"unnamed_{engine}.nc")
        xarray.DataArray([1.0, 2.0], dims="x").to_netcdf(path, engine=engine)
        yield path


def make(folder):
    """All files, NetCDF-4 and, where it can store them, classic."""
    made = list(by_xarray(folder))
    for write in FILES:
        formats = ["NETCDF4"] if write in ONLY_NEW else ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT_OFFSET"]
        for format in formats:
            path = os.path.join(folder, f"{write.__name__}_{format.lower()}.nc")
            with netCDF4.Dataset(path, "w", format=format) as file:
                write(file)
            made.append(path)
    return made


if __name__ == "__main__":
    import sys

    print("\n".join(make(sys.argv[1])))
