"""Files that are valid by the CF conventions, and changed so that each breaks one rule of `check --conventions CF-1.N`.

    cf_faults.py HYPERSLAB [NAME…]
    cf_faults.py --write FOLDER [HYPERSLAB]

Valid files must have no finding in any version of the conventions. A changed file must have a finding of its rule, as an
error or, where a recommendation is broken, as a warning, and no finding of another rule; in a version of the conventions in
which the change is not a fault, it must have no finding of this rule. Each file is written as NetCDF-4 by netCDF4-python and as Zarr by
zarr-python, and converted to TileDB; the findings must be the same. NAMEs select some of the files.

With --write, the files stay in a folder, with `faults.json`, which lists them; if the command is given, TileDB as well.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings

from cf_bases import BASES, VERSIONS, at_least, write_netcdf, write_zarr
from cf_cases import CASES
from tally import Tally

WRITERS = {"netcdf": (".nc", write_netcdf), "zarr": (".zarr", write_zarr)}


def write(file, stem, formats, hyperslab):
    """The paths of a file in each of these formats in which it can be written."""
    paths = {}
    for name in formats:
        if name in WRITERS:
            paths[name] = stem + WRITERS[name][0]
            WRITERS[name][1](file, paths[name])
        elif hyperslab:
            done = subprocess.run([hyperslab, "convert", "-q", "--overwrite", stem + ".nc", stem + ".tdb"], capture_output=True, text=True)
            if done.returncode == 0:
                paths[name] = stem + ".tdb"
            else:
                paths[name] = None
                print(f"{os.path.basename(stem)} is not converted to TileDB: {done.stderr.strip().splitlines()[-1:]}")
    return {name: path for name, path in paths.items() if path}


def formats_of(case):
    return [name for name in case.formats if name != "zarr" or not case.typed]


def findings(hyperslab, path, version):
    """The findings as (rule, severity, object), and what went wrong instead."""
    done = subprocess.run([hyperslab, "check", "-q", "--json", "--conventions", f"CF-{version}", path], capture_output=True, text=True)
    if done.returncode > 1:
        return set(), f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
    found = set()
    for line in done.stdout.splitlines():
        one = json.loads(line)
        found.add((one["rule"].removeprefix("cf/"), one["severity"], one.get("object") or "/"))
    errors = any(severity == "error" for _, severity, _ in found)
    return found, None if done.returncode == errors else f"exit code {done.returncode} with {sorted(found)}"


def told(found):
    return [f"{severity} {rule} of {place}" for rule, severity, place in sorted(found)]


def check_valid(hyperslab, folder, tally, names):
    for name, (make, since) in BASES.items():
        if names and name not in names:
            continue
        for version in VERSIONS:
            if not at_least(version, since):
                continue
            formats = ["netcdf", "zarr", "tiledb"] if version in ["1.6", "1.8", "1.13"] else ["netcdf"]
            for form, path in write(make(version), os.path.join(folder, f"{name}-{version}"), formats, hyperslab).items():
                found, wrong = findings(hyperslab, path, version)
                tally.check(not found and not wrong, f"{name}, valid by CF-{version}, {form}", [wrong] if wrong else told(found))


def check_case(hyperslab, folder, tally, case):
    version, rules = case.version(), set(case.rule.split("|"))
    stem = os.path.join(folder, case.name)
    paths = write(case.make(version), stem, formats_of(case), hyperslab)
    first = None
    for form, path in paths.items():
        found, wrong = findings(hyperslab, path, version)
        severity = {"warning"} if case.advice else {"error"}
        hit = any(rule in rules and level in severity for rule, level, _ in found)
        other = {one for one in found if one[0] not in rules | set(case.also)}
        tally.check(hit and not other and not wrong, f"{case.name} breaks {case.rule} of CF-{version}, {form}", [wrong] if wrong else told(found) or ["no finding"])
        if form == "netcdf":
            first = found
        else:
            tally.check(found == first, f"{case.name}: the same findings in {form}", told(found ^ first))
    sound = case.sound()
    try:
        # Some variables are in files of later versions only.
        file = case.make(sound) if sound else None
    except KeyError:
        file = None
    if file:
        write_netcdf(file, stem + "-sound.nc")
        found, wrong = findings(hyperslab, stem + "-sound.nc", sound)
        own = {one for one in found if one[0] in rules}
        tally.check(not own and not wrong, f"{case.name} is not a fault by CF-{sound}", [wrong] if wrong else told(own))


def manifest(folder, hyperslab):
    rows = []
    for name, (make, since) in BASES.items():
        for version in VERSIONS:
            if at_least(version, since):
                formats = ["netcdf", "zarr", "tiledb"] if version in ["1.6", "1.8", "1.13"] else ["netcdf"]
                paths = write(make(version), os.path.join(folder, f"valid-{name}-{version}"), formats, hyperslab)
                rows.append({"name": name, "valid": True, "version": version, "about": make.__doc__.strip(), "files": named(paths)})
    for case in CASES:
        paths = write(case.make(case.version()), os.path.join(folder, case.name), formats_of(case), hyperslab)
        rows.append({"name": case.name, "valid": False, "version": case.version(), "base": case.base,
                     "rules": [f"cf/{rule}" for rule in case.rule.split("|")], "also": [f"cf/{rule}" for rule in case.also],
                     "versions": case.versions(), "no_fault_in": case.sound(), "values": case.values, "typed": case.typed,
                     "severity": "warning" if case.advice else "error", "files": named(paths)})
    with open(os.path.join(folder, "faults.json"), "w") as to:
        json.dump(rows, to, indent=1)
    print(f"{len(rows)} files in {folder}, {sum(not row['valid'] for row in rows)} of them with a fault")


def named(paths):
    return {form: os.path.basename(path) for form, path in paths.items()}


def main():
    warnings.simplefilter("ignore")
    if sys.argv[1] == "--write":
        os.makedirs(sys.argv[2], exist_ok=True)
        return manifest(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
    hyperslab, names, tally = sys.argv[1], sys.argv[2:], Tally()
    with tempfile.TemporaryDirectory() as folder:
        check_valid(hyperslab, folder, tally, names)
        for case in CASES:
            if not names or case.name in names or case.rule in names:
                check_case(hyperslab, folder, tally, case)
    tally.close()


if __name__ == "__main__":
    main()
