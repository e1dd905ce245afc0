"""NetCDF-4 files from seeds: random groups, dimensions, types, variables and attributes, as netCDF-C writes them."""

import netCDF4
import numpy as np

KINDS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "S1", str)


def seeded(path, seed):
    """A file of groups, dimensions, types, variables and attributes determined by a seed."""
    random = np.random.Generator(np.random.PCG64(seed))
    model = ("NETCDF4", "NETCDF4", "NETCDF4_CLASSIC")[seed % 3]
    with netCDF4.Dataset(path, "w", format=model) as file:
        fill_group(file, random, 2 if model == "NETCDF4" else 0, {})


def fill_group(group, random, depth, dimensions):
    """Dimensions, variables and attributes, then groups that see the dimensions above."""
    is_classic = group.data_model != "NETCDF4"
    dimensions = dict(dimensions)
    for number in range(random.integers(1, 4)):
        name = f"d{len(dimensions)}"
        is_unlimited = random.random() < 0.3 and not (is_classic and None in dimensions.values())
        dimensions[name] = None if is_unlimited else int(random.integers(1, 6))
        group.createDimension(name, dimensions[name])
    kinds = [kind for kind in KINDS if not is_classic or kind in ("i1", "i2", "i4", "f4", "f8", "S1")]
    if not is_classic and random.random() < 0.3:
        kinds += [group.createEnumType("u1", "colour", {"red": 1, "blue": 4}), group.createVLType("i2", "row")]
        kinds.append(group.createCompoundType([("a", "i4"), ("b", "f8")], "pair"))
    for number in range(random.integers(1, 5)):
        kind = kinds[random.integers(len(kinds))]
        names = list(dimensions)
        along = [names[at] for at in random.choice(len(names), random.integers(0, min(4, len(names) + 1)), replace=False)]
        if is_classic:
            along.sort(key=lambda name: dimensions[name] is not None)
        # Some are the coordinates of a dimension.
        name = along[0] if len(along) == 1 and along[0] in group.dimensions and along[0] not in group.variables else f"v{number}"
        made = random_variable(group, random, name, kind, along, [dimensions[d] or 3 for d in along])
        for at in range(random.integers(0, 4)):
            made.setncattr(f"attribute {at}", random_attribute(random, is_classic))
    for at in range(random.integers(0, 3)):
        group.setncattr(f"global {at}", random_attribute(random, is_classic))
    for number in range(random.integers(0, 3) if depth else 0):
        fill_group(group.createGroup(f"g{number}"), random, depth - 1, dimensions)


def random_variable(group, random, name, kind, along, shape):
    is_number = isinstance(kind, str) and kind != "S1"
    options = {}
    if is_number and random.random() < 0.3:
        options["fill_value"] = np.array(7, kind)[()]
    if isinstance(kind, str) and along and random.random() < 0.4:
        options |= {"zlib": True, "complevel": int(random.integers(1, 9)), "shuffle": bool(random.random() < 0.5)}
    made = group.createVariable(name, kind, along, **options)
    count = int(np.prod(shape, dtype=int))
    if random.random() < 0.2:
        return made
    if kind is str:
        values = np.array([f"text {at}" * int(random.integers(0, 3)) for at in range(count)], object)
    elif kind == "S1":
        values = np.array([bytes([97 + at % 26]) for at in range(count)], "S1")
    elif isinstance(kind, netCDF4.VLType):
        values = np.empty(count, object)
        values[:] = [np.arange(at % 4, dtype="i2") for at in range(count)]
    elif isinstance(kind, netCDF4.EnumType):
        values = np.where(np.arange(count) % 2, np.uint8(1), np.uint8(4))
    elif isinstance(kind, netCDF4.CompoundType):
        values = np.array([(at, at / 2) for at in range(count)], kind.dtype)
    else:
        values = (random.integers(0, 100, count) / (2 if kind[0] == "f" else 1)).astype(kind)
    made[...] = values.reshape(shape) if along else values[0]
    return made


def random_attribute(random, is_classic):
    return [
        "a text", "", np.int32(5), np.array([1.5, 2.5]), np.array([1, 2, 3], "i2"), np.float32(0.25),
        "ä" if is_classic else ["one", "two"], np.int8(-1) if is_classic else np.uint64(1 << 63),
    ][random.integers(8)]
