"""Compares NetCDF classic files written by hyperslab-netcdf3, as netCDF4 and SciPy read them, with their descriptions.

    classic_written.py FOLDER

The folder has files (`*.nc`), each beside a description (`*.json`): dimensions, attributes, variables, values.
`writes_files_for_other_libraries` in crates/netcdf3/tests makes them. Names, order, types and values must be the same
in netCDF-C, and for CDF-1 and CDF-2 in SciPy; netCDF-C must write the same bytes for the same content; and both files
must still be the same after netCDF-C has added another dimension, attribute, variable and record to each.
`declared.json` has definitions with sizes around the limits and names of all kinds: netCDF-C must reject those that we
reject, and write the same headers for all others.
"""

import ctypes
import glob
import json
import os
import shutil
import sys
import tempfile
import warnings

import netCDF4
import numpy as np
import scipy.io

from tally import Reasons, Tally

warnings.simplefilter("ignore")

FORMATS = {1: "NETCDF3_CLASSIC", 2: "NETCDF3_64BIT_OFFSET", 5: "NETCDF3_64BIT_DATA"}
TYPES = {
    "Byte": "i1", "Char": "S1", "Short": "i2", "Int": "i4", "Float": "f4", "Double": "f8", "UByte": "u1", "UShort": "u2",
    "UInt": "u4", "Int64": "i8", "UInt64": "u8",
}
# One in this number of files is continued in netCDF-C.
CONTINUED_EVERY = 12


def array(kind, numbers, shape=None):
    """Numbers of a description as an array of native byte order."""
    if kind == "Char":
        found = np.array(numbers, "u1").view("S1")
    else:
        found = np.array(numbers, TYPES[kind])
    return found if shape is None else found.reshape(shape)


def attribute(kind, numbers):
    """An attribute as netCDF4 accepts and returns it."""
    if kind == "Char":
        return bytes(numbers).decode()
    found = array(kind, numbers)
    return found[0] if found.size == 1 else found


def same(found, expected):
    """Whether arrays have the same type, shape and bytes."""
    found, expected = np.asarray(found), np.asarray(expected)
    found = found.astype(found.dtype.newbyteorder("="))
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


def shape_of(description, variable):
    lengths = [description["records"] if length is None else length for _, length in description["dimensions"]]
    return tuple(lengths[number] for number in variable["dimensions"])


def names_of(description, variable):
    return tuple(description["dimensions"][number][0] for number in variable["dimensions"])


def prepared(path):
    """The file in netCDF4, with elements as they are stored."""
    file = netCDF4.Dataset(path)
    file.set_auto_maskandscale(False)
    file.set_auto_chartostring(False)
    return file


def compare_attributes(reasons, what, found, expected):
    reasons.equal(f"{what}: names of attributes", list(found), [name for name, _, _ in expected])
    for name, kind, numbers in expected:
        value, wanted = found.get(name), attribute(kind, numbers)
        # netCDF4 gives the fill value of characters as bytes.
        value = value.decode() if isinstance(value, bytes) else value
        equal = value == wanted if kind == "Char" else value is not None and same(value, wanted)
        reasons.expect(equal, f"{what}: attribute {name}: {value!r}, expected {wanted!r}")


def by_netcdf(path, description):
    reasons = Reasons()
    with prepared(path) as file:
        reasons.equal("format", file.data_model, FORMATS[description["version"]])
        dimensions = [(name, None if of.isunlimited() else len(of)) for name, of in file.dimensions.items()]
        reasons.equal("dimensions", dimensions, [tuple(of) for of in description["dimensions"]])
        for of in file.dimensions.values():
            if of.isunlimited():
                reasons.equal("records", len(of), description["records"])
        compare_attributes(reasons, "file", {name: file.getncattr(name) for name in file.ncattrs()}, description["attributes"])
        reasons.equal("variables", list(file.variables), [of["name"] for of in description["variables"]])
        for expected in description["variables"]:
            name, variable = expected["name"], file.variables.get(expected["name"])
            if variable is None:
                continue
            reasons.equal(f"{name}: dimensions", variable.dimensions, names_of(description, expected))
            own = {key: variable.getncattr(key) for key in variable.ncattrs()}
            compare_attributes(reasons, name, own, expected["attributes"])
            wanted = array(expected["type"], expected["values"], shape_of(description, expected))
            reasons.expect(same(variable[...], wanted), f"{name}: other values or type than {TYPES[expected['type']]}")
    return reasons


def by_scipy(path, description):
    """SciPy reads names as Latin-1, and treats the attributes of a file as attributes of an object."""
    reasons = Reasons()
    utf8 = lambda name: name.encode("latin1").decode()
    with scipy.io.netcdf_file(path, "r", mmap=False) as file:
        reasons.equal("version", file.version_byte, description["version"])
        dimensions = [(utf8(name), length) for name, length in file.dimensions.items()]
        reasons.equal("dimensions", dimensions, [tuple(of) for of in description["dimensions"]])
        scipy_attributes(reasons, "file", {utf8(name): value for name, value in file._attributes.items()}, description["attributes"])
        # SciPy lists record variables after all others.
        variables = {utf8(name): variable for name, variable in file.variables.items()}
        reasons.equal("variables", sorted(variables), sorted(of["name"] for of in description["variables"]))
        for expected in description["variables"]:
            name, variable = expected["name"], variables.get(expected["name"])
            if variable is None:
                continue
            reasons.equal(f"{name}: dimensions", tuple(map(utf8, variable.dimensions)), names_of(description, expected))
            own = {utf8(key): value for key, value in variable._attributes.items()}
            scipy_attributes(reasons, name, own, expected["attributes"])
            wanted = array(expected["type"], expected["values"], shape_of(description, expected))
            reasons.expect(same(variable.data, wanted), f"{name}: other values or type than {TYPES[expected['type']]}")
    return reasons


def scipy_attributes(reasons, what, found, expected):
    reasons.equal(f"{what}: names of attributes", list(found), [name for name, _, _ in expected])
    for name, kind, numbers in expected:
        value = found.get(name)
        wanted = bytes(numbers) if kind == "Char" else attribute(kind, numbers)
        equal = value == wanted if kind == "Char" else value is not None and same(value, wanted)
        reasons.expect(equal, f"{what}: attribute {name}: {value!r}, expected {wanted!r}")


def write(path, description):
    """The same content, written by netCDF-C: all is defined before elements are written."""
    with netCDF4.Dataset(path, "w", format=FORMATS[description["version"]]) as file:
        file.setncatts({name: attribute(kind, numbers) for name, kind, numbers in description["attributes"]})
        for name, length in description["dimensions"]:
            file.createDimension(name, length)
        written = []
        for of in description["variables"]:
            own = {name: attribute(kind, numbers) for name, kind, numbers in of["attributes"]}
            fill = own.pop("_FillValue", None)
            fill = fill.encode() if isinstance(fill, str) else fill
            variable = file.createVariable(of["name"], TYPES[of["type"]], names_of(description, of), fill_value=fill)
            variable.set_auto_maskandscale(False)
            variable.setncatts(own)
            written.append((variable, of))
        for variable, of in written:
            values = array(of["type"], of["values"], shape_of(description, of))
            if isinstance(of["written"], list):
                for record in of["written"]:
                    variable[record] = values[record]
            elif of["written"] and values.size:
                variable[tuple(slice(0, length) for length in values.shape)] = values


def go_on(path, description):
    """Adds a dimension, an attribute, variables and a record."""
    records = description["records"]
    with netCDF4.Dataset(path, "a") as file:
        file.set_auto_maskandscale(False)
        file.createDimension("added", 5)
        file.history = "gone on"
        file.createVariable("more", "i2", ("added",))[:] = [1, 2, 3, 4, 5]
        unlimited = [name for name, of in file.dimensions.items() if of.isunlimited()]
        if unlimited:
            variable = file.createVariable("along", "i1", (unlimited[0], "added"))
            variable[records] = [1, 2, 3, 4, 5]
            for of in description["variables"]:
                if names_of(description, of)[:1] == (unlimited[0],):
                    shape = shape_of(description, of)[1:]
                    values = np.arange(int(np.prod(shape)), dtype="u1").reshape(shape)
                    own = (values % 26 + 97).view("S1") if of["type"] == "Char" else values.astype(TYPES[of["type"]])
                    file.variables[of["name"]][records + 1] = own


def content(path):
    """Everything that netCDF4 finds in a file."""
    with prepared(path) as file:
        own = lambda of: [(name, np.asarray(of.getncattr(name)).tobytes()) for name in of.ncattrs()]
        variables = [
            (name, of.dimensions, str(of.dtype), own(of), of.shape, np.asarray(of[...]).tobytes())
            for name, of in file.variables.items()
        ]
        return [(name, len(of)) for name, of in file.dimensions.items()], own(file), variables


def guarded(compare, *args):
    try:
        return compare(*args)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"[:400]]


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def difference(found, expected):
    """Where two files differ first."""
    if found == expected:
        return []
    at = next((at for at, (one, other) in enumerate(zip(found, expected)) if one != other), min(len(found), len(expected)))
    around = slice(max(0, at - 4), at + 12)
    return [f"{len(found)} bytes, expected {len(expected)}", f"at byte {at}: {found[around].hex(' ')}, expected {expected[around].hex(' ')}"]


class Library:
    """netCDF-C itself, because netCDF4 ends define mode after each variable, which moves existing data."""

    MODES = {1: 0, 2: 0x200, 5: 0x20}
    NO_FILL = 0x100
    BYTE = 1

    def __init__(self, folder):
        libraries = os.path.join(os.path.dirname(os.path.dirname(netCDF4.__file__)), "netcdf4.libs", "libnetcdf-*")
        self.library = ctypes.CDLL(glob.glob(libraries)[0])
        self.path = os.path.join(folder, "declared.nc")

    def create(self, version):
        number = ctypes.c_int()
        code = self.library.nc_create(self.path.encode(), self.MODES[version], ctypes.byref(number))
        if code != 0:
            raise OSError(f"nc_create: {code}")
        return number

    def header(self, definition):
        """The header that netCDF-C writes; `None` if it rejects the sizes."""
        library, file, found, codes = self.library, self.create(definition["version"]), ctypes.c_int(), []
        try:
            codes.append(library.nc_set_fill(file, self.NO_FILL, ctypes.byref(found)))
            lengths = [length for _, length in definition["variables"]]
            names = ["t", "four", *(f"x{number}" for number in range(len(lengths)))]
            for name, length in zip(names, [0, 4, *lengths]):
                codes.append(library.nc_def_dim(file, name.encode(), ctypes.c_size_t(length), ctypes.byref(found)))
            for number, (is_record, _) in enumerate(definition["variables"]):
                dimensions = [0, 1, number + 2] if is_record else [1, number + 2]
                of = (ctypes.c_int * len(dimensions))(*dimensions)
                codes.append(library.nc_def_var(file, f"v{number}".encode(), self.BYTE, len(dimensions), of, ctypes.byref(found)))
            if any(codes):
                raise OSError(f"definitions: {codes}")
            if library.nc_enddef(file) != 0:
                return None
            library.nc_sync(file)
            with open(self.path, "rb") as written:
                return written.read(10_000)
        finally:
            library.nc_abort(file)

    def takes(self, name):
        file = self.create(1)
        code = self.library.nc_def_dim(file, name, ctypes.c_size_t(1), ctypes.byref(ctypes.c_int()))
        self.library.nc_abort(file)
        return code == 0


def compare_declared(tally, folder, scratch):
    with open(os.path.join(folder, "declared.json"), encoding="utf-8") as file:
        declared = json.load(file)
    library = Library(scratch)
    refused = 0
    for definition in declared["sizes"]:
        expected = library.header(definition)
        found = definition["header"] and bytes.fromhex(definition["header"])
        refused += found is None
        agrees = (found is None) == (expected is None)
        reasons = difference(found, expected[:len(found)]) if agrees and found else []
        reasons += [] if agrees else [f"we {'refuse' if found is None else 'write'} it, netCDF-C does not"]
        tally.check(not reasons, f"sizes {definition['version']} {definition['variables']}", reasons)
    for name, is_written in declared["names"]:
        taken = library.takes(bytes.fromhex(name))
        tally.check(taken == is_written, f"name {bytes.fromhex(name)}: {is_written} here, {taken} in netCDF-C")
    count = len(declared["sizes"])
    tally.check(0 < refused < count, f"{refused} of {count} definitions are refused")
    print(f"{count} definitions with sizes around the limits, {refused} refused; {len(declared['names'])} names")


def main():
    folder, = sys.argv[1:]
    tally = Tally()
    paths = sorted(glob.glob(os.path.join(glob.escape(folder), "*.nc")))
    identical = continued = 0
    with tempfile.TemporaryDirectory() as scratch:
        compare_declared(tally, folder, scratch)
        own, twin = os.path.join(scratch, "own.nc"), os.path.join(scratch, "twin.nc")
        for number, path in enumerate(paths):
            name = os.path.basename(path).removesuffix(".nc")
            with open(path.removesuffix(".nc") + ".json", encoding="utf-8") as file:
                description = json.load(file)
            reasons = guarded(by_netcdf, path, description)
            tally.check(not reasons, f"{name}: as netCDF4 reads it", reasons)
            if description["version"] != 5:
                reasons = guarded(by_scipy, path, description)
                tally.check(not reasons, f"{name}: as SciPy reads it", reasons)
            if any(not numbers for _, _, numbers in description["attributes"]):
                # netCDF4 writes an empty string as a zero byte.
                continue
            reasons = guarded(lambda: write(twin, description) or difference(bytes_of(path), bytes_of(twin)))
            tally.check(not reasons, f"{name}: the bytes that netCDF4 writes", reasons)
            identical += not reasons
            if number % CONTINUED_EVERY == 0:
                continued += 1
                shutil.copyfile(path, own)
                reasons = guarded(lambda: go_on(own, description) or go_on(twin, description) or [])
                reasons = reasons or guarded(lambda: Reasons() if content(own) == content(twin) else ["other content"])
                reasons = reasons or difference(bytes_of(own), bytes_of(twin))
                tally.check(not reasons, f"{name}: goes on in netCDF4", reasons)
    print(f"{len(paths)} files, {identical} with the bytes that netCDF-C writes, {continued} gone on in netCDF-C")
    tally.check(len(paths) > 1000, f"{len(paths)} files, expected more than 1000")
    tally.close()


if __name__ == "__main__":
    main()
