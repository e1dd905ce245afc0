"""NetCDF variables with fewer records than their unlimited dimensions, and a check of these dimensions with the NetCDF
library after a conversion."""

import os

import h5py
import netCDF4
import numpy as np


def make(folder):
    """Files with variables of every length along unlimited dimensions, in all groups."""
    plain, strings, resized = (os.path.join(folder, name) for name in ("records.nc", "texts.nc", "resized.nc"))
    with netCDF4.Dataset(plain, "w") as file:
        for name, size in (("time", None), ("station", None), ("never", None), ("x", 3), ("alone", 4)):
            file.createDimension(name, size)
        file.createVariable("scalar", "i4", ())[...] = 7
        time = file.createVariable("time", "f8", ("time",), chunksizes=(4,))
        time[0:2] = [0, 1]
        whole = file.createVariable("whole", "i2", ("time", "x"), fill_value=-9, zlib=True, chunksizes=(2, 3))
        whole[0:7] = np.arange(21).reshape(7, 3)
        both = file.createVariable("both", "f4", ("time", "station"), chunksizes=(2, 2))
        both[0:3, 0:5] = np.arange(15).reshape(3, 5)
        file.createVariable("other", "i8", ("station",), chunksizes=(4,))[0:2] = [5, 6]
        file.createVariable("none", "i4", ("time",))
        file.createVariable("ever", "u2", ("never", "x"))
        file.setncattr("numbers", np.array([1, 2], "i2"))
        below = file.createGroup("below")
        below.createDimension("y", 2)
        below.createDimension("level", None)
        part = below.createVariable("part", "f4", ("time", "y"), zlib=True, chunksizes=(3, 2))
        part[0:4] = np.arange(8).reshape(4, 2)
        part.setncattr("number", np.float32(1.5))
        below.createVariable("level", "u1", ("level",))[0:3] = [1, 2, 3]
        deep = below.createGroup("deep").createVariable("deep", "i1", ("time", "x", "level"), chunksizes=(2, 3, 2))
        deep[0:1, :, 0:2] = 4
    with netCDF4.Dataset(strings, "w") as file:
        file.createDimension("time", None)
        file.createVariable("long", "i4", ("time",))[0:5] = np.arange(5)
        words = file.createVariable("words", str, ("time",), chunksizes=(2,))
        words[0:3] = np.array(["a", "bc", "d"], dtype=object)
    with netCDF4.Dataset(resized, "w") as file:
        file.createDimension("time", None)
        file.createVariable("long", "i2", ("time",), chunksizes=(4,))[0:11] = np.arange(11)
        for name in ("raw", "packed"):
            short = file.createVariable(name, "i2", ("time",), chunksizes=(4,), fill_value=-5)
            short[0:6] = np.arange(100, 106)
    with h5py.File(resized, "r+") as file:
        # HDF5 never reads the elements of a chunk beyond the end of the dataset.
        file["raw"].id.write_direct_chunk((4,), np.array([104, 105, 666, 667], "<i2").tobytes())
    return [plain, strings, resized]


def own_shape(file, path):
    """The stored shape of a variable of a NetCDF file, without fill."""
    group, _, name = path.rpartition("/")
    for stored in (name, f"_nc4_non_coord_{name}"):
        place = f"{group}/{stored}" if group else stored
        if place in file:
            return file[place].shape
    return None


def within(values, shape):
    """The stored part of the values."""
    if not shape or len(shape) != values.ndim:
        return values
    return values[tuple(slice(0, size) for size in shape)]


def beyond(values, shape):
    """The fill part of the values, in any order."""
    mask = np.ones(values.shape, bool)
    mask[tuple(slice(0, size) for size in shape)] = False
    return values[mask]


def groups(group, path=""):
    yield path, group
    for name, below in group.groups.items():
        yield from groups(below, f"{path}/{name}")


def by_nczarr(tally, name, source, store):
    """NetCDF-C must find the same unlimited dimensions and lengths in version 2 as in the source."""
    with netCDF4.Dataset(source) as original:
        wanted = dict(groups(original))
        if not any(of.isunlimited() for group in wanted.values() for of in group.dimensions.values()):
            return
        what = f"NetCDF-C, by its own keys: {name}"
        try:
            dataset = netCDF4.Dataset(f"file://{os.path.abspath(store)}#mode=nczarr,file")
        except OSError as error:
            # NetCDF-C cannot read variable-length strings and user-defined types here.
            is_basic = lambda of: isinstance(of.dtype, np.dtype) and not isinstance(of.datatype, netCDF4.EnumType)
            basic = all(is_basic(of) for group in wanted.values() for of in group.variables.values())
            tally.check(not basic, what, [str(error)])
            return
        with dataset:
            found = dict(groups(dataset))
            tally.check(set(found) == set(wanted), f"{what}: groups", [f"{sorted(found)}, expected {sorted(wanted)}"])
            for path in set(found) & set(wanted):
                said = lambda group: {of.name: (len(of), of.isunlimited()) for of in group.dimensions.values()}
                one, other = said(wanted[path]), said(found[path])
                tally.check(one == other, f"{what}:{path}/", [f"dimensions {one} became {other}"])
                for variable in found[path].variables.values():
                    before = wanted[path].variables[variable.name]
                    kept = before.dimensions == variable.dimensions
                    tally.check(kept, f"{what}:{path}/{variable.name}", [f"{before.dimensions} became {variable.dimensions}"])
                    for key in before.ncattrs():
                        one, other = before.getncattr(key), variable.getncattr(key)
                        if hasattr(one, "dtype") and not isinstance(one, str):
                            is_same = one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
                            tally.check(is_same, f"{what}:{path}/{variable.name}@{key}", [f"{one!r} became {other!r}"])
