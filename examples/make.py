"""Writes the example files beside this script.

    target/oracles/venv/bin/python examples/make.py [DIRECTORY] [NAME…]

Needs netCDF4, h5py >= 3.16, hdf5plugin and numpy; `cargo xtask oracles` installs them. The content is invented and
follows formulas. A second run writes the same bytes, except for the times that committed datatypes carry.
"""

import ctypes
import glob
import os
import sys

import h5py
import hdf5plugin
import netCDF4
import numpy as np
from h5py import h5d, h5p, h5s, h5t


def variable(group, name, kind, dims, data=None, fill=None, options=None, **attributes):
    """A NetCDF variable with its attributes, written without the packing that they describe."""
    v = group.createVariable(name, kind, dims, fill_value=fill, **(options or {}))
    v.set_auto_maskandscale(False)
    v.setncatts(attributes)
    if data is not None:
        v[...] = data
    return v


def ocean(path):
    """Two months of a shelf-sea model section: groups, unlimited time, packed data, strings, an enum."""
    nc = netCDF4.Dataset(path, "w")
    nc.title = "Skagerrak section, weekly mean"
    nc.institution = "Institute of Invented Oceanography"
    nc.Conventions = "CF-1.11"
    nc.history = "2024-05-02 sampled along 58 N\n2024-05-03 packed to int16\n"
    nc.comment = ("Temperature, salinity and currents of one section, averaged over a week and set on a regular grid. "
                  "Every number comes from a formula; none was measured.")
    nc.cycle = np.int16(27)
    nc.resolution_km = np.float32(4)
    nc.date_issued = "2024-05-03"
    for name, size in [("time", None), ("depth", 5), ("lat", 3), ("lon", 8), ("bound", 2), ("name_len", 10)]:
        nc.createDimension(name, size)
    flag = nc.createEnumType(np.int8, "flag_t", {"unchecked": 0, "good": 1, "doubtful": 3, "bad": 4})

    weeks = np.arange(9) * 168.0
    variable(nc, "time", "f8", ("time",), weeks, options={"chunksizes": (64,)}, standard_name="time", axis="T",
             units="hours since 2024-03-01 00:00:00", calendar="proleptic_gregorian", bounds="time_bounds")
    variable(nc, "depth", "f4", ("depth",), np.float32([0, 10, 25, 60, 150]), units="m", positive="down", axis="Z")
    variable(nc, "lat", "f4", ("lat",), np.float32([57.75, 58, 58.25]), units="degrees_north", axis="Y")
    variable(nc, "lon", "f4", ("lon",), np.float32(8 + np.arange(8) / 4), units="degrees_east", axis="X")
    variable(nc, "time_bounds", "f8", ("time", "bound"), np.stack([weeks - 84, weeks + 84], 1),
             options={"chunksizes": (64, 2)})

    t, z, y, x = np.indices((9, 5, 3, 8))
    packed = {"zlib": True, "complevel": 6, "shuffle": True, "fletcher32": True, "chunksizes": (3, 5, 3, 8)}
    temperature = (600 + 45 * t - 70 * z + 20 * y - 9 * x).astype("i2")
    temperature[:, 3:, 0, 0] = -32767
    variable(nc, "temperature", "i2", ("time", "depth", "lat", "lon"), temperature, np.int16(-32767), packed,
             standard_name="sea_water_temperature", units="degC", scale_factor=np.float32(0.01),
             add_offset=np.float32(4), valid_range=np.int16([-700, 2600]), grid_mapping="crs",
             ancillary_variables="temperature_flag", cell_methods="time: mean")
    variable(nc, "salinity", "f4", ("time", "depth", "lat", "lon"), (28 + z + t / 8 - y / 16).astype("f4"),
             np.float32(np.nan), {"zlib": True, "complevel": 4, "chunksizes": (9, 1, 3, 8)},
             standard_name="sea_water_practical_salinity", units="1", grid_mapping="crs")
    variable(nc, "temperature_flag", flag, ("depth", "lat", "lon"),
             np.array([1, 1, 3, 0, 4], "i1")[(z[0] + y[0] + x[0]) % 5], long_name="quality of the temperature")
    variable(nc, "crs", "i4", (), 0, grid_mapping_name="latitude_longitude", semi_major_axis=6378137.0,
             inverse_flattening=298.257223563)
    variable(nc, "transect", "S1", ("lat", "name_len"),
             netCDF4.stringtochar(np.array([b"Hanstholm", b"Middle", b"Arendal"], "S10")))
    v = variable(nc, "remark", str, ("time",), options={"chunksizes": (16,)}, long_name="remark of the watch")
    v[:] = np.array(["", "no", "gale, SW", "2024-03-22", "Ålesund buoy lost", "", "yes: recovered", "~", "ok"], object)

    waves = nc.createGroup("waves")
    waves.summary = "Spectra at the middle of the section"
    waves.createDimension("frequency", 4)
    waves.createDimension("direction", 6)
    variable(waves, "frequency", "f8", ("frequency",), [0.05, 0.1, 0.2, 0.4], units="Hz")
    variable(waves, "energy", "f4", ("time", "frequency", "direction"),
             np.float32(1) / (1 + np.indices((9, 4, 6)).sum(0)), units="m2 Hz-1", options={"chunksizes": (9, 4, 6)})
    variable(waves, "height", "u2", ("time",), 100 + 25 * np.arange(9), np.uint16(65535),
             {"chunksizes": (64,)}, units="m", scale_factor=0.01)
    buoys = waves.createGroup("buoys")
    buoys.operator = ["Coast Guard", "Harbour of Invented"]
    buoys.createDimension("buoy", 3)
    variable(buoys, "wmo", "i4", ("buoy",), [6301001, 6301002, 6301007], long_name="WMO number")
    variable(buoys, "position", "f8", ("buoy", "bound"), [[58.1, 8.75], [57.9, 9.25], [58.0, 9.5]])
    nc.close()


def nested_groups(path):
    """Dimensions seen, hidden and shadowed across groups, and every kind of user type."""
    nc = netCDF4.Dataset(path, "w")
    nc.createDimension("x", 4)
    nc.createDimension("y", 3)
    place = np.dtype([("lat", "<f8"), ("lon", "<f8"), ("floor", "<i2")])
    place_t = nc.createCompoundType(place, "place_t")
    track_t = nc.createVLType(np.int32, "track_t")
    colour_t = nc.createEnumType(np.uint8, "colour_t", {"red": 0, "green": 1, "blue": 2})
    variable(nc, "x", "f4", ("x",), [0, 0.5, 1, 1.5], units="km")
    v = variable(nc, "home", place_t, ("y",))
    v[:] = np.array([(60.5, 5.25, 3), (59.75, 10.5, -1), (63.5, 10.25, 0)], place)
    v = variable(nc, "tracks", track_t, ("y",))
    tracks = np.empty(3, object)
    tracks[:] = [np.int32([1, 2, 3]), np.int32([]), np.int32([-5])]
    v[:] = tracks
    variable(nc, "paint", colour_t, ("y", "x"), np.indices((3, 4)).sum(0) % 3)

    inner = nc.createGroup("inner")
    inner.createDimension("x", 2)
    variable(inner, "own_x", "i2", ("x",), [7, 8], comment="x of this group, which hides that of the root")
    variable(inner, "root_y", "i2", ("y",), [1, 2, 3], comment="y of the root")
    variable(inner, "x", "i4", ("x",), [10, 20], comment="coordinates of the inner x")
    deep = inner.createGroup("deep")
    deep.createDimension("z", None)
    variable(deep, "both", "f4", ("z", "x"), [[1, 2], [3, 4], [5, 6]], options={"chunksizes": (4, 2)})
    variable(deep, "x", "f4", ("z",), [0.25, 0.5, 0.75], comment="named as a dimension of a parent, of another shape",
             options={"chunksizes": (4,)})
    depth_t = deep.createEnumType(np.int16, "depth_t", {"shelf": 1, "slope": 2, "abyss": 1000})
    variable(deep, "zone", depth_t, ("z",), np.int16([1, 2, 1000]), options={"chunksizes": (4,)})
    beside = nc.createGroup("beside")
    variable(beside, "root_x", "u1", ("x", "y"), np.arange(12).reshape(4, 3))
    nc.createGroup("empty")
    nc.close()


def strings(path):
    """Text in every way that NetCDF-4 has it, much of it text that YAML would misread."""
    nc = netCDF4.Dataset(path, "w")
    nc.plain = "one line"
    nc.lines = "first\nsecond\n\nfourth"
    nc.ends_with_newline = "first\nsecond\n"
    nc.tabs = "a\tb"
    nc.quotes = "she said \"it's here\""
    nc.backslash = "C:\\data\\new"
    nc.empty = ""
    nc.looks_true = "true"
    nc.looks_null = "null"
    nc.looks_number = "1e3"
    nc.looks_time = "12:30:45"
    nc.looks_date = "2024-02-29"
    nc.looks_list = "[1, 2]"
    nc.looks_map = "key: value"
    nc.looks_comment = "value # not a comment"
    nc.leading_dash = "- item"
    nc.padded = "  space  "
    nc.unicode = "Blåbærsyltetøy, 深海, \U0001f30a"
    nc.setncattr_string("one_string", "variable-length")
    nc.setncattr_string("many_strings", ["no", "", "two words", "nan"])
    setattr(nc, "name with space", "allowed")
    setattr(nc, "yes", "a key that YAML 1.1 reads as true")
    nc.long = " ".join(f"word{i}" for i in range(40))
    nc.createDimension("row", 4)
    nc.createDimension("width", 6)
    v = variable(nc, "string", str, ("row",))
    v[:] = np.array(["", "~", "0x1F", "line\nbreak"], object)
    v = variable(nc, "filled_string", str, ("row",), fill="none")
    v[1:3] = np.array(["a", "b"], object)
    variable(nc, "chars", "S1", ("row", "width"),
             netCDF4.stringtochar(np.array([b"abc", b"", b"sixsix", b"a b"], "S6")))
    variable(nc, "single", "S1", (), b"x", fill=b"-")
    nc.createVariable("scalar_string", str, ())[...] = "alone"
    nc.close()


def unlimited(path):
    """Several unlimited dimensions, used together and to different lengths."""
    nc = netCDF4.Dataset(path, "w")
    for name in ("time", "profile", "level"):
        nc.createDimension(name, None)
    nc.createDimension("fixed", 2)
    nc.createDimension("never", None)
    variable(nc, "time", "i8", ("time",), [0, 60, 120, 180, 240], options={"chunksizes": (8,)}, units="s")
    variable(nc, "short", "f4", ("time",), [1.5, 2.5], fill=np.float32(-1), options={"chunksizes": (8,)},
             comment="two of five written")
    variable(nc, "grid", "i2", ("profile", "level"), np.arange(12).reshape(4, 3),
             options={"chunksizes": (2, 2), "zlib": True})
    variable(nc, "cube", "u1", ("time", "fixed", "level"), np.arange(18).reshape(3, 2, 3),
             options={"chunksizes": (1, 2, 3)})
    variable(nc, "unwritten", "f8", ("never", "fixed"), options={"chunksizes": (4, 2)})
    nc.close()


def classic_model(path):
    """The classic data model kept in HDF5: one unlimited dimension, no groups, no new types."""
    nc = netCDF4.Dataset(path, "w", format="NETCDF4_CLASSIC")
    nc.title = "tide gauge"
    nc.createDimension("time", None)
    nc.createDimension("station", 2)
    nc.createDimension("name_len", 8)
    nc.createDimension("unused", 7)
    variable(nc, "time", "f8", ("time",), [0, 0.5, 1], units="days since 1999-12-31", options={"chunksizes": (32,)})
    variable(nc, "name", "S1", ("station", "name_len"),
             netCDF4.stringtochar(np.array([b"Kabelvag", b"Honning"], "S8")))
    variable(nc, "level", "i4", ("time", "station"), [[120, 131], [95, -2147483647], [88, 140]],
             np.int32(-2147483647), {"chunksizes": (8, 2)}, units="cm", valid_min=np.int32(-500),
             missing_value=np.int32(-2147483647))
    variable(nc, "byte", "i1", ("station",), [-1, 1])
    nc.close()


def classic(path):
    """A tide gauge in the classic format: records of different sizes, characters, bytes with padding."""
    nc = netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC")
    nc.title = "tide gauges"
    nc.history = "2024-05-02 written by the gauges\n2024-05-03 joined\n"
    nc.number = np.int32(2)
    for name, size in [("time", None), ("station", 2), ("name_len", 8), ("unused", 7)]:
        nc.createDimension(name, size)
    variable(nc, "time", "f8", ("time",), [0, 0.5, 1], units="days since 1999-12-31")
    variable(nc, "lat", "f4", ("station",), np.float32([68.2, 70.98]), units="degrees_north")
    variable(nc, "name", "S1", ("station", "name_len"),
             netCDF4.stringtochar(np.array([b"Kabelvag", b"Honning"], "S8")))
    variable(nc, "level", "i4", ("time", "station"), [[120, 131], [95, -2147483647], [88, 140]],
             np.int32(-2147483647), units="cm", valid_min=np.int32(-500), valid_range=np.int32([-500, 500]))
    variable(nc, "flag", "i1", ("time",), [0, 1, -127], flag_values=np.int8([0, 1]), flag_meanings="good doubtful")
    variable(nc, "pressure", "i2", ("time", "station"), [[10132, -32767], [10127, 9987], [10110, 9990]],
             units="hPa", scale_factor=0.1)
    variable(nc, "datum", "f8", (), 1.25)
    nc.close()


def classic_data64(path):
    """The types that only the format with 64-bit data has, and a single variable of records without padding."""
    nc = netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA")
    nc.createDimension("time", None)
    nc.createDimension("x", 3)
    for kind, values in [("u1", [0, 1, 255]), ("u2", [0, 1, 65535]), ("u4", [0, 1, 4294967295]),
                         ("i8", [-9223372036854775806, 0, 9223372036854775807]),
                         ("u8", [0, 1, 18446744073709551615])]:
        variable(nc, kind, kind, ("x",), np.array(values, kind), limits=np.array(values[::2], kind))
    variable(nc, "samples", "i1", ("time", "x"), np.arange(-6, 6, dtype="i1").reshape(4, 3))
    nc.close()


def low(group, name, kind, shape, data=None, memory=None, plist=None, maxshape=None):
    """A dataset of a datatype or layout that h5py's own interface cannot name."""
    space = h5s.create_simple(shape, maxshape) if shape else h5s.create(h5s.SCALAR)
    plist = plist or h5p.create(h5p.DATASET_CREATE)
    plist.set_obj_track_times(False)
    d = h5d.create(group.id, name.encode(), kind, space, plist)
    if data is not None:
        d.write(h5s.ALL, h5s.ALL, np.asarray(data), mtype=memory or kind)
    return h5py.Dataset(d)


def text(size, pad, charset=h5t.CSET_ASCII):
    t = h5t.C_S1.copy()
    t.set_size(size), t.set_strpad(pad), t.set_cset(charset)
    return t


def integer(base, precision, offset):
    t = base.copy()
    t.set_precision(precision), t.set_offset(offset)
    return t


def floating(size, sign, exponent, mantissa, bias):
    t = (h5t.IEEE_F64LE if size > 4 else h5t.IEEE_F32LE).copy()
    t.set_fields(sign, *exponent, *mantissa)
    t.set_precision(sign + 1)
    t.set_size(size)
    t.set_ebias(bias)
    return t


def layout(kind, chunk=None):
    p = h5p.create(h5p.DATASET_CREATE)
    if chunk:
        p.set_chunk(chunk)
    else:
        p.set_layout(kind)
    return p


def user_link(group, name, data):
    """A link of a class of our own: h5py cannot make one, so the library that it carries is called."""
    library = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(h5py.__file__), "..", "h5py.libs", "libhdf5-*"))[0])
    follow = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t,
                              ctypes.c_int64, ctypes.c_int64)(lambda *_: -1)

    class LinkClass(ctypes.Structure):
        _fields_ = [("version", ctypes.c_int), ("id", ctypes.c_int), ("comment", ctypes.c_char_p),
                    ("create", ctypes.c_void_p), ("move", ctypes.c_void_p), ("copy", ctypes.c_void_p),
                    ("follow", ctypes.c_void_p), ("delete", ctypes.c_void_p), ("query", ctypes.c_void_p)]

    link = LinkClass(1, 187, b"example", None, None, None, ctypes.cast(follow, ctypes.c_void_p), None, None)
    library.H5Lcreate_ud.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t,
                                     ctypes.c_int64, ctypes.c_int64]
    if library.H5Lregister(ctypes.byref(link)) < 0:
        raise OSError("the link class was refused")
    if library.H5Lcreate_ud(group.id.id, name.encode(), 187, data, len(data), 0, 0) < 0:
        raise OSError("the link was refused")
    library.H5Lunregister(187)


def datatypes(path):
    """Every class of datatype, the links, the references, the attributes and the layouts of HDF5."""
    f = h5py.File(path, "w", libver=("v108", "v200"), track_order=True)
    f.attrs["title"] = "one of every kind"

    g = f.create_group("numbers", track_order=True)
    for bits in (8, 16, 32, 64):
        g[f"int{bits}"] = np.array([-(2 ** (bits - 1)), -1, 2 ** (bits - 1) - 1], f"<i{bits // 8}")
        g[f"uint{bits}"] = np.array([0, 1, 2**bits - 1], f"<u{bits // 8}")
    g["int32_big"] = np.array([-2, 70000], ">i4")
    low(g, "int12_of_16", integer(h5t.STD_I16LE, 12, 3), (3,), np.int16([-2048, 2047, -1]), h5t.NATIVE_INT16)
    low(g, "uint20_of_32_big", integer(h5t.STD_U32BE, 20, 7), (2,), np.uint32([0xFFFFF, 5]), h5t.NATIVE_UINT32)
    g["float16"] = np.float16([0.1, -2, 65504])
    g["float32"] = np.float32([0.1, np.inf, -np.inf, np.nan, -0.0, 1e-45, 1.5e20])
    g["float64"] = np.array([0.1, 1e300, 5e-324], "<f8")
    g["float64_big"] = np.array([np.pi, -1e-300], ">f8")
    low(g, "float128", h5t.IEEE_F128LE, (2,), np.float64([1.5, -0.1]), h5t.NATIVE_DOUBLE)
    low(g, "extended80", h5t.LDOUBLE_LE, (2,), np.float64([1.5, -0.1]), h5t.NATIVE_DOUBLE)
    low(g, "bfloat16", floating(2, 15, (7, 8), (0, 7), 127), (3,), np.float32([1, -2.5, 3e38]), h5t.NATIVE_FLOAT)
    low(g, "float8", floating(1, 7, (3, 4), (0, 3), 7), (3,), np.float32([1, -2.5, 0.015625]), h5t.NATIVE_FLOAT)
    g.create_dataset("complex64", (2,), h5t.COMPLEX_IEEE_F32LE)[...] = np.complex64([1 + 2j, -0.5j])
    low(g, "complex128_big", h5t.COMPLEX_IEEE_F64BE, (1,), np.array([0.1 - 3j], ">c16"), h5t.COMPLEX_IEEE_F64BE)
    low(g, "bits8", h5t.STD_B8LE, (2,), np.uint8([0xA5, 0x0F]))
    low(g, "bits32_big", h5t.STD_B32BE, (1,), np.array([0xDEADBEEF], ">u4"))
    low(g, "time32", h5t.UNIX_D32LE, (2,), np.uint32([0, 1709251200]))
    low(g, "time64_big", h5t.UNIX_D64BE, (1,), np.array([1709251200], ">u8"))

    g = f.create_group("text", track_order=True)
    g.create_dataset("variable", dtype=h5py.string_dtype(), data=np.array(["Tromsø", "", "off", "a\nb"], object))
    g.create_dataset("variable_ascii", dtype=h5py.string_dtype("ascii"), data="scalar")
    low(g, "nullterm", text(6, h5t.STR_NULLTERM), (), np.array(b"abc", "S6"))
    low(g, "nullpad", text(5, h5t.STR_NULLPAD, h5t.CSET_UTF8), (2,), np.array(["fjord".encode(), "å".encode()], "S5"))
    low(g, "spacepad", text(4, h5t.STR_SPACEPAD), (2,), np.array([b"ab  ", b"abcd"], "S4"))
    kind = h5t.create(h5t.OPAQUE, 3)
    kind.set_tag(b"colour/rgb")
    low(g, "opaque", kind, (2,), np.array([b"\xff\x80\x00", b"\x00\x00\x01"], "V3"))

    g = f.create_group("made_of_others", track_order=True)
    g["bool"] = np.array([True, False])
    phase = h5py.enum_dtype({"SOLID": 0, "LIQUID": 1, "GAS": -1, "no": 7}, "i1")
    g.create_dataset("enum", data=np.int8([0, -1, 7, 9]), dtype=phase)
    g.create_dataset("enum_big", data=np.array([300, 2], ">u2"), dtype=h5py.enum_dtype({"far": 300, "near": 2}, ">u2"))
    cell = np.dtype({"names": ["id", "volume", "label"], "formats": ["<u2", ">f8", "S3"], "offsets": [0, 8, 16],
                     "itemsize": 24})
    f["cell_t"] = cell
    f["cell_t"].attrs["unit"] = "m3"
    g.create_dataset("compound", (2,), dtype=f["cell_t"])[...] = np.array([(1, 2.5, b"ab"), (2, -1, b"xyz")], cell)
    nested = np.dtype([("at", [("x", "<f4"), ("y", "<f4")]), ("rgb", "u1", (3,)), ("phase", phase),
                       ("note", h5py.string_dtype())])
    g.create_dataset("nested", (), dtype=nested)[...] = np.array(((1.5, -2), [255, 0, 9], 1, "deep"), nested)
    g.create_dataset("array", (2,), dtype=np.dtype(("<i2", (2, 3))))[...] = np.arange(12, dtype="i2").reshape(2, 2, 3)
    rows = g.create_dataset("vlen", (3,), dtype=h5py.vlen_dtype("<f4"))
    for i, row in enumerate(([0.5, 1], [], [-2])):
        rows[i] = np.float32(row)
    kind = h5t.vlen_create(h5t.vlen_create(h5t.STD_I8LE))
    low(g, "vlen_of_vlen", kind, (1,))
    low(g, "array_of_vlen", h5t.array_create(h5t.vlen_create(h5t.STD_U16BE), (2,)), (1,))
    f["text_t"] = h5py.string_dtype()
    f["float_t"] = np.dtype("<f4")

    g = f.create_group("layouts", track_order=True)
    low(g, "compact", h5t.STD_I16LE, (2, 2), np.int16([[1, 2], [3, 4]]), plist=layout(h5d.COMPACT))
    g["contiguous"] = np.arange(6, dtype="<i4").reshape(2, 3)
    g.create_dataset("unwritten", (5,), "<i4", fillvalue=-1)
    g.create_dataset("no_fill", (3,), "<i4")
    g["zero"] = np.empty((0, 3), "<f4")
    g["scalar"] = np.float64(6.02214076e23)
    g.create_dataset("null", data=h5py.Empty("<i4"))
    grid = g.create_dataset("chunked", data=np.arange(35, dtype="<u2").reshape(5, 7), chunks=(2, 4),
                            maxshape=(None, 7), shuffle=True, compression=6, fletcher32=True, fillvalue=65535)
    low(g, "growable", h5t.STD_I8LE, (2, 3), np.int8([[1, 2, 3], [4, 5, 6]]), plist=layout(None, (4, 4)),
        maxshape=(10, h5s.UNLIMITED))

    g = f.create_group("attributes", track_order=True)
    g.attrs["compact"] = np.int16([1, 2])
    g.attrs["name/with/slash"] = 0.5
    g.attrs["nothing"] = h5py.Empty("f4")
    g.attrs["matrix"] = np.eye(2, dtype=">i4")
    g.attrs["committed"] = np.float32(2.5)
    g.attrs.create("shared_type", "by name", dtype=f["text_t"])
    g.attrs["main"] = grid.ref
    g.attrs["corner"] = grid.regionref[0:2, 5:7]
    g.attrs.create("rows", np.array([np.int8([1]), np.int8([2, 3])], object), dtype=h5py.vlen_dtype("i1"))
    many = g.create_group("many")
    for i in range(40):
        many.attrs[f"a{i:02}"] = np.int32(i * i)

    g = f.create_group("links", track_order=True)
    g["hard"] = grid
    g["soft"] = h5py.SoftLink("/layouts/chunked")
    g["relative"] = h5py.SoftLink("hard")
    g["dangling"] = h5py.SoftLink("/nowhere")
    g["external"] = h5py.ExternalLink("elsewhere.h5", "/data")
    user_link(g, "user", b"\x01\x02")
    g["up"] = f["/"]

    g = f.create_group("references", track_order=True)
    g["object"] = np.array([grid.ref, f["links"].ref, f["cell_t"].ref, h5py.Reference()], h5py.ref_dtype)
    region = g.create_dataset("region", (5,), dtype=h5py.regionref_dtype)
    region[0] = grid.regionref[1:3, 2:6]
    space = grid.id.get_space()
    space.select_elements(np.array([[0, 0], [4, 6]], "u8"))
    region[1] = h5py.h5r.create(grid.id, b".", h5py.h5r.DATASET_REGION, space)
    space.select_all()
    region[2] = h5py.h5r.create(grid.id, b".", h5py.h5r.DATASET_REGION, space)
    space.select_hyperslab((0, 0), (2, 2), (3, 4), (1, 2))
    region[3] = h5py.h5r.create(grid.id, b".", h5py.h5r.DATASET_REGION, space)
    f.create_group("empty")
    f.close()


def groups_old(path):
    """Groups as before 1.8: symbol tables over two levels of B-tree, local heaps, version 1 headers."""
    f = h5py.File(path, "w", libver="earliest")
    f.attrs["kind"] = np.bytes_(b"symbol tables")
    many = f.create_group("many")
    for i in range(60):
        low(many, f"member_{i:03}", h5t.STD_I16LE, (), np.int16(i), plist=layout(h5d.COMPACT))
    deep = f
    for name in ("a", "b", "c", "d"):
        deep = deep.create_group(name)
    deep["soft"] = h5py.SoftLink("../../x")
    deep["data"] = np.arange(4, dtype="<i8")
    deep["data"].attrs["units"] = np.bytes_(b"counts")
    for i in range(12):
        deep["data"].attrs[f"attribute {i}"] = np.float64(i) / 4
    f["same"] = deep["data"]
    f["loop"] = f["a/b"]
    f.create_group("empty")
    f.close()


def groups_new(path):
    """Groups since 1.8: compact and dense links, by name and by creation order, with UTF-8 names."""
    f = h5py.File(path, "w", libver="latest")
    for tracked in (False, True):
        for size in (3, 40):
            g = f.create_group(f"{'tracked' if tracked else 'by_name'}_{size}", track_order=tracked)
            for i in reversed(range(size)):
                g[f"n{i:02}"] = h5py.SoftLink(f"/target/{i}")
    dense = f.create_group("dense_objects", track_order=True)
    for i in range(20):
        dense.create_group(f"g{19 - i}", track_order=bool(i % 2)).attrs["index"] = i
    names = f.create_group("names")
    for name in ("space in name", "Ærøskøbing", "dot.dot", "yes", "1", "a" * 70, "quote\"d", "tab\tbed", "colon: x"):
        names[name] = np.int8(len(name))
    names["external"] = h5py.ExternalLink("../other place.h5", "/a b/c")
    f["attributes"] = np.float32(1)
    for i in range(30):
        f["attributes"].attrs[f"k{i:02}"] = f"value {i}"
    big = f.create_group("big_attribute")
    big.attrs["table"] = np.arange(6000, dtype="<i2")
    f.close()


def chunk_indexes(path):
    """The six chunk indexes, each unfiltered and filtered, with edge chunks and chunks never written."""

    def fill(f, name, shape, maxshape, chunk, filtered=(False, True), early=False):
        for with_filters in filtered:
            p = layout(None, chunk)
            p.set_fill_value(np.array(-9, "<i4"))
            if early:
                p.set_alloc_time(h5d.ALLOC_TIME_EARLY)
            if with_filters:
                p.set_shuffle(), p.set_deflate(5), p.set_fletcher32()
            d = low(f, name + "_filtered" * with_filters, h5t.STD_I32LE, shape, plist=p, maxshape=maxshape)
            written = tuple(slice(0, n - c) if n > 2 * c else slice(None) for n, c in zip(shape, chunk))
            d[written] = np.arange(np.prod(shape), dtype="i4").reshape(shape)[written]

    unlimited = h5s.UNLIMITED
    with h5py.File(path, "w", libver="earliest") as f:
        fill(f, "btree_v1", (9, 10), (unlimited, 10), (4, 3))
        fill(f, "btree_v1_deep", (150,), (unlimited,), (2,), [False])
    with h5py.File(path, "a", libver="latest") as f:
        fill(f, "single_chunk", (3, 4), (3, 4), (3, 4))
        fill(f, "implicit", (5, 6), (5, 6), (2, 4), [False], early=True)
        fill(f, "fixed_array", (9, 10), (9, 10), (4, 3))
        fill(f, "fixed_array_paged", (1100,), (1100,), (1,), [False])
        fill(f, "extensible_array", (9, 10), (unlimited, 10), (4, 3))
        fill(f, "extensible_array_long", (600,), (unlimited,), (2,), [False])
        fill(f, "btree_v2", (9, 10), (unlimited, unlimited), (4, 3))
        fill(f, "btree_v2_deep", (24, 20), (unlimited, unlimited), (2, 2), [False])


def h5netcdf_style(path):
    """Dimension scales made with h5py alone, as h5netcdf and others do, some of them half done."""
    f = h5py.File(path, "w", libver="v108", track_order=True)
    f["lat"] = np.float32([10, 20, 30])
    f["lon"] = np.float64([1, 2, 3, 4])
    f["lat"].make_scale("lat")
    f["lon"].make_scale("")
    d = f.create_dataset("both", data=np.arange(12, dtype="<i4").reshape(3, 4))
    d.dims[0].attach_scale(f["lat"]), d.dims[1].attach_scale(f["lon"])
    d.dims[0].label, d.dims[1].label = "latitude", "longitude"
    d = f.create_dataset("only_first", data=np.zeros((3, 5), "<f4"))
    d.dims[0].attach_scale(f["lat"])
    f["bare"] = np.zeros((5, 5), "u1")
    f["bare_again"] = np.zeros((5, 7), "u1")
    f["surface"] = np.ones((3, 4), "<f4")
    f["surface"].make_scale("surface")
    d = f.create_dataset("two_scales", data=np.arange(3, dtype="<i2"))
    f["lat_number"] = np.int8([1, 2, 3])
    f["lat_number"].make_scale("number")
    d.dims[0].attach_scale(f["lat"]), d.dims[0].attach_scale(f["lat_number"])
    g = f.create_group("group")
    d = g.create_dataset("above", data=np.arange(4, dtype="<u8"))
    d.dims[0].attach_scale(f["lon"])
    f.close()


def userblock(path):
    """A file whose HDF5 begins behind 1024 bytes of something else."""
    with h5py.File(path, "w", libver="latest", userblock_size=1024) as f:
        f.attrs["note"] = "addresses count from byte 1024"
        f["x"] = np.linspace(0, 1, 5)
        f.create_dataset("c", data=np.arange(20, dtype="<u2").reshape(4, 5), chunks=(2, 5), compression=1)
    with open(path, "r+b") as f:
        f.write(b"#!/bin/sh\necho This file is HDF5 behind a userblock.\nexit\n")


def big_endian(path):
    """Everything in the byte order of another machine."""
    f = h5py.File(path, "w", libver="v110", track_order=True)
    f.attrs["int"] = np.array(-5, ">i4")
    f.attrs["floats"] = np.array([0.5, 1e10], ">f8")
    for kind in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8"):
        f[kind] = np.array([1, 100, 3], ">" + kind)
    low(f, "i24_of_32", integer(h5t.STD_I32BE, 24, 8), (2,), np.int32([-8388608, 77]), h5t.NATIVE_INT32)
    low(f, "f64_in_16_bytes", h5t.IEEE_F128BE, (1,), np.float64([2.5]), h5t.NATIVE_DOUBLE)
    low(f, "bits16", h5t.STD_B16BE, (2,), np.array([0x1234, 0x8001], ">u2"))
    record = np.dtype([("big", ">i4"), ("little", "<i4"), ("pair", ">f4", (2,))])
    f["mixed"] = np.array([(1, 1, [0.5, 2]), (-1, 256, [3, 4])], record)
    f.create_dataset("vlen", (2,), dtype=h5py.vlen_dtype(">i2"))
    f["vlen"][0], f["vlen"][1] = np.array([1, 256], ">i2"), np.array([-1], ">i2")
    f.create_dataset("deflated", data=np.arange(24, dtype=">f4").reshape(4, 6), chunks=(3, 4), shuffle=True,
                     compression=9)
    f.create_dataset("filled", (2, 2), ">i2", fillvalue=-300)
    f.close()


def scan(path):
    """A rocking scan of a crystal as beamlines write it, by NeXus: classes, units, links, a log, frames in bitshuffle."""
    f = h5py.File(path, "w")
    f.attrs.update(NX_class="NXroot", default="entry", creator="beamline control", HDF5_Version="1.14.4")

    def group(name, kind, **attributes):
        made = f.create_group(name)
        made.attrs.update(NX_class=kind, **attributes)
        return made

    def field(where, name, value, units=None, **options):
        made = where.create_dataset(name, data=value, **options)
        if units:
            made.attrs["units"] = units
        return made

    entry = group("entry", "NXentry", default="data")
    field(entry, "title", "Rocking scan of quartz 101")
    field(entry, "start_time", "2024-05-03T09:12:00+02:00")
    field(entry, "definition", "NXmx")
    group("entry/instrument", "NXinstrument")
    field(group("entry/instrument/monochromator", "NXmonochromator"), "energy", 12.398, "keV")
    detector = group("entry/instrument/detector", "NXdetector")
    frame, y, x = np.indices((6, 4, 5))
    spot = np.exp(-((frame - 2.5) ** 2 + (y - 1.5) ** 2 + (x - 2) ** 2) / 3)
    # Bitshuffle with LZ4, as detectors write it.
    field(detector, "counts", np.round(4000 * spot).astype("u4"), "counts", chunks=(1, 4, 5), **hdf5plugin.Bitshuffle())
    field(detector, "count_time", np.full(6, 0.1), "s")
    mask = np.zeros((4, 5), "u4")
    mask[3, 4] = 1
    field(detector, "pixel_mask", mask)
    field(detector, "distance", 0.2, "m")
    sample = group("entry/sample", "NXsample")
    field(sample, "name", "quartz")
    field(sample, "omega", 16.9 + 0.05 * np.arange(6), "deg")
    field(sample, "temperature", np.float32([295, 295.1, 295.1, 295.2, 295.2, 295.3]), "K")
    data = group("entry/data", "NXdata", signal="counts", axes=["omega", ".", "."])
    data["counts"] = h5py.SoftLink("/entry/instrument/detector/counts")
    data["omega"] = sample["omega"]
    log = np.array([(0.0, b"shutter open"), (0.62, b"beam lost"), (0.75, b"beam back")],
                   [("seconds", "f8"), ("event", "S16")])
    entry["log"] = log
    f.close()


FILES = {
    "ocean.nc": ocean,
    "nested_groups.nc": nested_groups,
    "strings.nc": strings,
    "unlimited.nc": unlimited,
    "classic_model.nc": classic_model,
    "classic.nc": classic,
    "classic_data64.nc": classic_data64,
    "datatypes.h5": datatypes,
    "groups_old.h5": groups_old,
    "groups_new.h5": groups_new,
    "chunk_indexes.h5": chunk_indexes,
    "h5netcdf_style.h5": h5netcdf_style,
    "userblock.h5": userblock,
    "big_endian.h5": big_endian,
    "scan.nxs": scan,
}

if __name__ == "__main__":
    directory, *names = sys.argv[1:] or [os.path.dirname(os.path.abspath(__file__))]
    for name in names or FILES:
        path = os.path.join(directory, name)
        if os.path.exists(path):
            os.remove(path)
        FILES[name](path)
        print(f"{os.path.getsize(path):6}  {path}")
