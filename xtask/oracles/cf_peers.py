"""What compliance-checker and cfchecks find in files of one fault each, beside `check --conventions`.

    cf_peers.py HYPERSLAB PYTHON TABLES [--write PAGE]

PYTHON is one that has compliance-checker 6.1, cfchecker 4.1 and netCDF4. TABLES is a folder with the tables that cfchecks
would fetch from the network: standard-names.xml, area-types.xml, regions.xml.

Files are those of cf_faults.py, as NetCDF-4. A checker finds a fault if it says anything of the file that it does not say of
the same file without the fault, notes aside; whether it says the right thing is not asked. Errors in valid files are counted.
"""

import argparse
import json
import os
import subprocess
import tempfile
import warnings

from cf_bases import BASES, VERSIONS, at_least, write_netcdf
from cf_cases import CASES

PEERS = {"cc": "compliance-checker 6.1", "cfchecks": "cfchecks 4.1"}

RUN = r'''
import contextlib, io, json, logging, os, sys, warnings
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
which, tables = sys.argv[1:]

def cfchecks(path, version):
    from cfchecker.cfchecks import CFChecker, CFVersion, FatalCheckerError
    names = [os.path.join(tables, of) for of in ("standard-names.xml", "area-types.xml", "regions.xml")]
    version = version if version in ("1.6", "1.7", "1.8") else "1.8"
    checker = CFChecker(cfStandardNamesXML=names[0], cfAreaTypesXML=names[1], cfRegionNamesXML=names[2],
                        version=CFVersion(version), silent=True, useFileName="yes")
    with contextlib.suppress(FatalCheckerError):
        checker.checker(path)
    for result in checker.all_results.values():
        for of in [result["global"], *result["variables"].values()]:
            for level in ("FATAL", "ERROR", "WARN"):
                yield from ([level, str(message)] for message in of.get(level, []))

def cc(path, version):
    from compliance_checker.runner import CheckSuite
    version = "1.11" if version in ("1.12", "1.13") else version
    CheckSuite.load_all_available_checkers()
    suite = CheckSuite()
    def told(result):
        for message in result.msgs or []:
            yield [{3: "ERROR", 2: "WARN"}.get(result.weight, "INFO"), str(message)]
        for child in result.children or []:
            yield from told(child)
    for groups, errors in suite.run_all(suite.load_dataset(path), ["cf:" + version]).values():
        for group in groups:
            yield from told(group)
        for name, (error, _) in errors.items():
            yield ["CRASH", f"{name}: {error}"]

for line in sys.stdin:
    path, version = line.rstrip("\n").split("\t")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            found = list({"cfchecks": cfchecks, "cc": cc}[which](path, version))
        except BaseException as error:
            found = [["CRASH", f"{type(error).__name__}: {error}"]]
    print(json.dumps([path, found]), flush=True)
'''


def by_peer(python, which, tables, files):
    asked = "".join(f"{path}\t{version}\n" for path, version in files)
    ran = subprocess.run([python, "-c", RUN, which, tables], input=asked, capture_output=True, text=True, check=True)
    lines = map(json.loads, ran.stdout.splitlines())
    return {path: {(level, message) for level, message in found if level != "INFO"} for path, found in lines}


def by_ours(hyperslab, files):
    found = {}
    for path, version in files:
        ran = subprocess.run([hyperslab, "check", path, "--conventions", f"CF-{version}", "--json"], capture_output=True, text=True)
        lines = map(json.loads, ran.stdout.splitlines())
        found[path] = {({"error": "ERROR", "warning": "WARN"}[one["severity"]], one["object"] + one["message"]) for one in lines}
    return found


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    for name in ["hyperslab", "python", "tables", "--write"]:
        parser.add_argument(name)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        valid, faulty = {}, []
        for name, (make, since) in BASES.items():
            for version in (one for one in VERSIONS if at_least(one, since)):
                valid[name, version] = os.path.join(folder, f"{name}-{version}.nc")
                write_netcdf(make(version), valid[name, version])
        for case in CASES:
            path = os.path.join(folder, case.name + ".nc")
            write_netcdf(case.make(case.version()), path)
            faulty.append((case, path))
        files = [(path, version) for (_, version), path in valid.items()] + [(path, case.version()) for case, path in faulty]
        results = {"hyperslab": by_ours(given.hyperslab, files)}
        results |= {PEERS[which]: by_peer(given.python, which, given.tables, files) for which in PEERS}
    rows = []
    for name, of in results.items():
        missed = [case.name for case, path in faulty if not of[path] - of[valid[case.base, case.version()]]]
        wrong = sum(any(level in ("ERROR", "FATAL") for level, _ in of[path]) for path in valid.values())
        crashes = sum(any(level == "CRASH" for level, _ in found) for found in of.values())
        rows.append((name, len(faulty) - len(missed), missed, wrong, crashes))
    page = ["# Faults of CF that checkers find", "", f"Made by `xtask/oracles/cf_peers.py`: {len(faulty)} NetCDF-4 files with one fault each, and {len(valid)} valid ones of CF-1.6 to CF-1.13.",
            "cfchecks knows versions up to 1.8 and compliance-checker up to 1.11; files of later versions are checked by these.", "",
            "| | faults found | valid files with errors | exceptions |", "|---|---|---|---|"]
    page += [f"| {name} | {count} of {len(faulty)} | {wrong} of {len(valid)} | {crashes} |" for name, count, _, wrong, crashes in rows]
    page += ["", "Faults of which a checker says nothing:", ""]
    page += [f"* {name}: {', '.join(missed).replace('_', ' ') or 'none'}" for name, _, missed, _, _ in rows]
    text = "\n".join(page) + "\n"
    if given.write:
        with open(given.write, "w") as file:
            file.write(text)
    print(text)


if __name__ == "__main__":
    main()
