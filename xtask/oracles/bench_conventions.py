"""Times `check --conventions` against cfchecks, compliance-checker and `digest`, and writes the table.

    bench_conventions.py HYPERSLAB DIRECTORY TABLE [PEERS]

PEERS is a Python that has cfchecker and compliance-checker; without it they are not measured. The files of many variables are those
of cf_many.py. The large ones contain one variable with actual_range, which is shuffled and deflated: its values should be decoded once,
as in `digest`. All runs of a row take turns, except that compliance-checker runs only once.
"""

import os
import statistics
import subprocess
import sys

import netCDF4
import numpy as np

from cf_bases import write_netcdf
from cf_many import many
from cf_peers import WORKER
from measure import ROUNDS, machine, run_with_cpu, write

VERSION = "1.8"
# The time limit of a peer in seconds.
LIMIT = "3600"
# Programs that take more seconds than this run less often.
SLOW, SLOW_ROUNDS = 5, 3
SIDE = 1024
HERE = os.path.dirname(os.path.abspath(__file__))
# Time steps, and the properties of the variable other than its shape.
LARGE = {
    "float32": (64, "f4", {}),
    "int16": (128, "i2", {}),
    "int16 packed as float32": (128, "i2", {"scale_factor": np.float32(0.01), "add_offset": np.float32(273.15)}),
}


def fields(count, dtype):
    x, random = np.arange(SIDE), np.random.default_rng(1)
    for t in range(count):
        of = np.sin(x / 100) * 20 + x[:, None] / 100 + t / 10 + random.normal(0, 0.5, (SIDE, SIDE))
        yield np.round(of, 2).astype("f4") if dtype == "f4" else np.round(of * 100).astype("i2")


def make_large(path, count, dtype, packing):
    with netCDF4.Dataset(path, "w") as file:
        file.set_auto_maskandscale(False)
        file.Conventions = f"CF-{VERSION}"
        for name, size, units in (("time", count, "days since 2000-01-01"), ("lat", SIDE, "degrees_north"), ("lon", SIDE, "degrees_east")):
            file.createDimension(name, size)
            own = file.createVariable(name, "f8", (name,))
            own.standard_name = {"lat": "latitude", "lon": "longitude"}.get(name, name)
            own.units = units
            if name == "time":
                own.calendar, own.axis = "standard", "T"
            own[:] = np.arange(size) if name == "time" else np.linspace(-80, 80, size)
        data = file.createVariable("data", dtype, ("time", "lat", "lon"), zlib=True, complevel=4, shuffle=True, chunksizes=(1, SIDE, SIDE),
                                   fill_value=np.dtype(dtype).type(-32768))
        data.set_auto_maskandscale(False)
        data.standard_name, data.units = "air_temperature", "K"
        limits = []
        for t, field in enumerate(fields(count, dtype)):
            data[t] = field
            limits += [field.min(), field.max()]
        limits = np.array([min(limits), max(limits)])
        if packing:
            data.setncatts(packing)
            limits = limits.astype("f4") * packing["scale_factor"] + packing["add_offset"]
        data.actual_range = limits


def tables(folder, peers):
    """The tables that cfchecks would fetch: names as compliance-checker has them, areas and regions as the project has them."""
    data = os.path.join(HERE, "..", "..", "crates", "cf", "data")
    for name, source, root in (("areas.xml", "area_types.tsv", "area_type_table"), ("regions.xml", "regions.tsv", "standardized_region_list")):
        with open(os.path.join(data, source)) as file:
            entries = [line.split("\t")[0].strip() for line in file if line.strip() and not line.startswith("#")]
        with open(os.path.join(folder, name), "w") as file:
            file.write(f"<{root}><version_number>1</version_number><date>2026</date><last_modified>2026</last_modified>")
            file.write("".join(f'<entry id="{entry}"/>' for entry in entries) + f"</{root}>")
    where = "import os, compliance_checker as c; print(os.path.join(os.path.dirname(c.__file__), 'data', 'cf-standard-name-table.xml'))"
    names = subprocess.run([peers, "-W", "ignore", "-c", where], capture_output=True, text=True, check=True).stdout.strip()
    link = os.path.join(folder, "names.xml")
    if os.path.lexists(link):
        os.remove(link)
    os.symlink(names, link)


def peer(peers, name, path, folder):
    """A run of a peer, which reads the path from standard input."""
    with open(os.path.join(folder, "asked.txt"), "w") as file:
        file.write(f"{path}\t{VERSION}\n")
    return ["sh", "-c", 'exec "$@" <"$0"', os.path.join(folder, "asked.txt"), peers, "-I", "-c", WORKER, name, folder, LIMIT]


def main():
    hyperslab, data, table, *peers = sys.argv[1:]
    peers = peers[0] if peers else None
    data = os.path.join(data, "conventions")
    os.makedirs(data, exist_ok=True)
    if peers:
        tables(data, peers)
    at = lambda name: os.path.join(data, name)
    sources = {f"{count}.nc": lambda path, count=count: write_netcdf(many(count, 1000), path) for count in (500, 10_000)}
    sources.update({f"{name}.nc": lambda path, of=of: make_large(path, *of) for name, of in LARGE.items()})
    for name, make in sources.items():
        if not os.path.exists(at(name)):
            make(at(name) + ".part")
            os.rename(at(name) + ".part", at(name))
    check = lambda name, *words: [hyperslab, "check", "-q", "--json", "--conventions", f"CF-{VERSION}", at(name), *words]
    megabytes = lambda name: f"{os.path.getsize(at(name)) / 1e6:.0f} MB"

    def taken(commands, rounds=ROUNDS):
        """Medians of seconds, CPU seconds and peak MB of commands in turn."""
        runs = {of: [] for of in commands}
        for _ in range(rounds):
            for of, command in commands.items():
                if len(runs[of]) == SLOW_ROUNDS and runs[of][0][0] > SLOW:
                    continue
                seconds, cpu, peak, last, size = run_with_cpu(command, (0, 1))
                runs[of].append((seconds, cpu, peak * 1.048576))
                if any(word in (last or [""])[0] for word in ('["crash"', '["late"')):
                    sys.exit(f"{of} did not finish: {last}")
                if command[1] == "check" and size:
                    sys.exit(f"findings in a valid file: {last}")
        return {of: [statistics.median(column) for column in zip(*times)] for of, times in runs.items()}

    lines = ["# Speed of checks of conventions", "",
             f"Written by `cargo xtask bench conventions`. `check --conventions CF-{VERSION}` with all its threads; medians of {ROUNDS} runs in turn, {SLOW_ROUNDS} of what takes "
             f"more than {SLOW} s, files in the page cache. compliance-checker runs once, and cfchecks has its tables in files.", "", machine(), ""]
    name = "500.nc"
    commands = {"check": check(name), "check --quick": check(name, "--quick")}
    if peers:
        commands["cfchecks 4.1.0"] = peer(peers, "cfchecks", at(name), data)
    found = taken(commands)
    if peers:
        found.update(taken({"compliance-checker 6.1.0": peer(peers, "compliance-checker", at(name), data)}, 1))
    lines += [f"500 variables of 1,000 elements, {megabytes(name)}:", "", "| program | s | CPU s | MB | wanted of `check` | found | CPU |", "|---|---|---|---|---|---|---|"]
    wanted = {"cfchecks 4.1.0": "≤ 0.15", "compliance-checker 6.1.0": "≤ 0.001"}
    for of in ["check", "check --quick", *wanted]:
        if of not in found:
            lines.append(f"| {of} | not measured | | | {wanted[of]} | | |")
            continue
        seconds, cpu, peak = found[of]
        ratios = [f"{found['check'][key] / found[of][key]:.{3 if seconds < 30 else 5}f}" if of in wanted else "" for key in (0, 1)]
        shown = f"`{of}`" if of.startswith("check") else of
        lines.append(f"| {shown} | {seconds:.3f} | {cpu:.3f} | {peak:.0f} | {wanted.get(of, '')} | {ratios[0]} | {ratios[1]} |")
    name = "10000.nc"
    found = taken({"`check`": check(name), "`check --quick`": check(name, "--quick")})
    lines += ["", f"10,000 variables of 1,000 elements, {megabytes(name)}:", "", "| program | s | CPU s | MB | wanted |", "|---|---|---|---|---|"]
    lines += [f"| {of} | {seconds:.3f} | {cpu:.3f} | {peak:.0f} | ≤ 1 s |" for of, (seconds, cpu, peak) in found.items()]
    lines += ["", "One variable with actual_range, shuffled and deflated by level 4, beside `digest` of the same file:", "",
              "| of | file | check s | CPU s | MB | digest s | CPU s | wanted | found | CPU |", "|---|---|---|---|---|---|---|---|---|---|"]
    for of, (count, dtype, _) in LARGE.items():
        name = f"{of}.nc"
        found = taken({"check": check(name), "digest": [hyperslab, "digest", "-q", at(name)]})
        own, other = found["check"], found["digest"]
        size = count * SIDE * SIDE * np.dtype(dtype).itemsize / 1e6
        lines.append(f"| {size:.0f} MB of {of} | {megabytes(name)} | {own[0]:.3f} | {own[1]:.3f} | {own[2]:.0f} | {other[0]:.3f} | {other[1]:.3f} | ≤ 1.2 | "
                     f"{own[0] / other[0]:.2f} | {own[1] / other[1]:.2f} |")
    print("\n".join(lines[6:]), flush=True)
    write(table, lines)


if __name__ == "__main__":
    main()
