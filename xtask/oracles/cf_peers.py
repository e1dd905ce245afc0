"""Reports what compliance-checker, cfchecks and `check --conventions` find in the same files.

    cf_peers.py HYPERSLAB --peers PYTHON --tables FOLDER [--cache FILE] [--limit SECONDS] [FILE…]

Without files, the files of cf_faults.py are checked: each that has a fault, and those that have none by CF-1.8. Files are
checked by the version that their Conventions name, and by the nearest version that the program knows: compliance-checker
6.1 has 1.6 to 1.11, cfchecks 4.1 has 1.6 to 1.8.

PYTHON has both peers installed (compliance-checker 6.1, cfchecker 4.1, with libudunits2), FOLDER has the tables that cfchecks
would otherwise download: names.xml, areas.xml and regions.xml. Their messages are mapped to our rules by the table
`MESSAGES`. Findings of the peers are cached by the content of the file, since each file takes seconds.

This is a report, not a check: it prints what only a peer finds and what it finds in valid files, and ends with counts.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

PEERS = {"compliance-checker": ("1.6", "1.11"), "cfchecks": ("1.6", "1.8")}

# The first pattern that is found in `section message` gives the rule; None stands for a message that reports no fault.
MESSAGES = [(re.compile(pattern, re.I | re.S), rule) for pattern, rule in [
    (r"found in same group|found in ancestor|found found|found \(relative|does not cross 1582|found on non-root group|might be a cell boundary", None),
    (r"^§2\.1 |^ ?\(2\.1\)", "?"),
    (r"expected to be a coordinate axis", "dimension-has-coordinate"),
    (r"^§3\.3.*long_name or/and standard_name", "name-present"),
    (r"^§7\.1.*(does not agree|should not have the attributes)", "bounds-attributes"),
    (r"must begin with a letter|should begin with a l|Invalid attribute name|Attribute names should begin", "names"),
    (r"not case sensitive|variable clash", "names-differ-in-case"),
    (r"repeated dimensions|two or more dimensions named", "dimensions-distinct"),
    (r"incorrect order|not in the recommended order", "dimension-order"),
    (r"Possible incorrect declaration of a coordinate", "dimension-has-coordinate"),
    (r"vlen types not supported|Data Types|Could not get typecode", "datatypes"),
    (r"(missing_value|_FillValue) of incorrect type|Attribute 'missing_value' \(type|'_FillValue' \(type", "fill-value-type"),
    (r"_FillValue.*should be outside|set to differing values|missing_value must be equal", "fill-in-valid-range"),
    (r"^(2\.5[. ]|§2\.5).*actual_range|actual_range", "actual-range"),
    (r"valid_range|valid_min|valid_max", "valid-range"),
    (r"must not have the _FillValue|must not have the missing_value", "coordinate-no-missing"),
    (r"MAY ONLY be used in the root group", "group-attributes"),
    (r"cell.measure", "cell-measures"),
    (r"external.variable", "external-variables"),
    (r"Conventions. attribute|Conventions (global attribute|field)|CF Convention data|appears to contain CF", "conventions"),
    (r"global attribute (title|history|institution|source|references|comment)|of type 'String'|should (exist and )?be a non-empty|references of incorrect", "global-text"),
    (r"ancillary_variables of incorrect|not found at (absolute|relative)|lateral search|is not a variable in this dataset|3\.4 Ancillary|"
     r"coordinates attribute referencing non|not present in the dataset: |references non-existent", "reference-resolves"),
    (r"temperature|units_metadata", "units-metadata"),
    (r"are deprecated by CF|units (level|layer|sigma_level) is deprecated", "units-dimensionless-name"),
    (r"latitude variable .* units|latitude variable .*must define", "latitude-units"),
    (r"longitude variable .* units|longitude variable .*must define", "longitude-units"),
    (r"correct time units|valid units format|does not have units|reference time|Invalid units: .* since|Incorrectly formatted CF date", "time-units"),
    (r"§7\.1.*(does not agree|attributes|attr,)|Boundary var.*(inconsistent|should not have attribute)", "bounds-attributes"),
    (r"lie outside the bounding|outside cell boundaries", "bounds-contain"),
    (r"climatolog|7\.4", "climatology"),
    (r"^§7\.1|boundary variable|bounds attribute", "bounds"),
    (r"cell_measures|cell measure|measure", "cell-measures"),
    (r"cell_method|^§7\.3|type1|type2|\(7\.3\)", "cell-methods"),
    (r"not recognized by UDUNITS|Invalid units|compatible with UDUNITS|units attribute for .* needs|units of incorrect|units attribute must be of type", "units-known"),
    (r"canonical units|Units are not consistent", "units-canonical"),
    (r"units attribute is required|units attribute should be present|units must be defined", "units-present"),
    (r"modifier|Invalid syntax for .?standard_name", "standard-name-modifier"),
    (r"Region|area_type|geographic_region", "region-or-area-type"),
    (r"computed_standard_name|inconsistent with that of|formula_terms variables are inconsistent", "formula-standard-names"),
    (r"formula|not declared as a variable|Dimensionless vertical|dimensionless_vertical", "formula-terms"),
    (r"standard_name or long_name|long_name or/and standard_name", "name-present"),
    (r"standard_name .* is not defined|Invalid standard_name|check_standard_name", "standard-name"),
    (r"attribute inconsistent with coordinate type", "axis"),
    (r"illegal flag meaning|same number of elements|equal the number or words|flag_meanings attribute must be a string|syntax for 'flag_meanings'", "flag-meanings"),
    (r"flag_masks|flag.mask|bit-field", "flag-masks"),
    (r"flag_values|flag_meanings", "flag-values"),
    (r"duplicate axis|same axis value|more than one coordinate variable", "axis-once"),
    (r"positive", "positive"),
    (r"geometr|node|interior ring|part_node|^§7\.5", "geometry"),
    (r"axis attribute|axis", "axis"),
    (r"1582|values prior to", "date-in-calendar"),
    (r"calendar, month_lengths|calendar and/or month_lengths|on.?standard calendar", "calendar"),
    (r"month_lengths|leap_", "month-lengths"),
    (r"calendar", "calendar"),
    (r"monotonic", "coordinate-monotonic"),
    (r"must be the name of a coordinate variable", "grid-mapping"),
    (r"must be a subset|coordinates attribute|auxiliary coordinate", "coordinates-dimensions"),
    (r"of incorrect data type \(Appendix F|required attribute for grid mapping|are defined, all must be|must all be def|geographic_crs_name|0 dimensions|crs_wkt",
     "grid-mapping-parameters"),
    (r"grid.mapping|5\.6", "grid-mapping"),
    (r"Label variable|Leading dimension", "label"),
    (r"compress|index|must be in the range|8\.2", "compress"),
    (r"scale_factor|add_offset|packed|8\.1|must be of type byte", "packing"),
    (r"cf_role|9\.5", "cf-role"),
    (r"featureType|ragged|count variable|9\.1|contains invalid value", "feature-type"),
    (r"Appendix A|attribute is not allowed", "attribute-use"),
]]

# Run by the Python that has the peers: lines of `path, tab, version`, and a JSON line of findings for each.
WORKER = r"""
import contextlib, io, json, logging, signal, sys, warnings
warnings.simplefilter("ignore"); logging.disable(logging.CRITICAL)
peer, tables, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])

def cfchecks(path, version):
    from cfchecker.cfchecks import CFChecker, CFVersion, FatalCheckerError
    checker = CFChecker(cfStandardNamesXML=tables + "/names.xml", cfAreaTypesXML=tables + "/areas.xml",
                        cfRegionNamesXML=tables + "/regions.xml", version=CFVersion(version), silent=True)
    try:
        checker.checker(path)
    except FatalCheckerError:
        pass
    for results in checker.all_results.values():
        for of, levels in [("", results["global"]), *results["variables"].items()]:
            for level, messages in levels.items():
                if level in ("FATAL", "ERROR", "WARN"):
                    yield from ([level.lower(), of, str(message)] for message in messages)

def compliance_checker(path, version):
    from compliance_checker.runner import CheckSuite
    CheckSuite.load_all_available_checkers()
    suite = CheckSuite()
    def told(group):
        name = group.name if isinstance(group.name, str) else "/".join(map(str, group.name))
        for message in group.msgs or []:
            yield [{3: "error", 2: "warn", 1: "info"}.get(group.weight, "info"), name, str(message)]
        for child in group.children or []:
            yield from told(child)
    for groups, errors in suite.run_all(suite.load_dataset(path), ["cf:" + version]).values():
        for group in groups:
            yield from told(group)
        for name, (error, _) in errors.items():
            yield ["crash", name, f"{type(error).__name__}: {error}"]

class Late(BaseException):
    pass

def late(*_):
    raise Late

signal.signal(signal.SIGALRM, late)
for line in sys.stdin:
    path, version = line.rstrip("\n").split("\t")
    found = []
    signal.alarm(limit)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            for one in {"cfchecks": cfchecks, "compliance-checker": compliance_checker}[peer](path, version):
                found.append(one)
        except Late:
            found.append(["late", "", f"no answer in {limit} s"])
        except BaseException as error:
            found.append(["crash", "", f"{type(error).__name__}: {error}"])
    signal.alarm(0)
    print(json.dumps(found), flush=True)
"""


def rule_of(where, message):
    text = f"{where} {message}"
    return next((rule for pattern, rule in MESSAGES if pattern.search(text)), "?")


def nearest(version, first, last):
    number = int(version.split(".")[1])
    return f"1.{min(max(number, int(first[2:])), int(last[2:]))}"


def peers_find(peer, files, options, cache):
    """For each file the findings of a peer as [severity, place, message, rule]."""
    keys = [f"{peer} {nearest(version, *PEERS[peer])} {content(path)}" for path, version in files]
    asked = [(key, path, version) for key, (path, version) in zip(keys, files) if key not in cache]
    lines = "".join(f"{path}\t{nearest(version, *PEERS[peer])}\n" for _, path, version in asked)
    if asked:
        command = [options.peers, "-I", "-c", WORKER, peer, options.tables, str(options.limit)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as done:
            answer = done.communicate(lines)[0].splitlines()
        for (key, path, _), line in zip(asked, answer):
            cache[key] = json.loads(line)
        for _, path, _ in asked[len(answer):]:
            print(f"{peer} ended before {path}")
    return [[[*one, rule_of(one[1], one[2])] for one in cache.get(key, [["crash", "", "the program ended"]])
             if nearest(version, *PEERS[peer]) == version or rule_of(one[1], one[2]) != "conventions"] for key, (_, version) in zip(keys, files)]


def content(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:24]


def ours(hyperslab, path, version):
    done = subprocess.run([hyperslab, "check", "-q", "--json", "--conventions", f"CF-{version}", path], capture_output=True, text=True)
    if done.returncode > 1:
        return [["crash", "", done.stderr.strip()[-200:], "?"]]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [[one["severity"], one.get("object") or "/", one["message"], one["rule"].removeprefix("cf/")] for one in lines]


def version_of(path):
    import netCDF4
    with netCDF4.Dataset(path) as dataset:
        named = re.search(r"CF-1\.(\d+)", str(getattr(dataset, "Conventions", "")))
    return f"1.{min(max(int(named[1]), 6), 13)}" if named else "1.8"


def fault_files(folder):
    """The files of cf_faults.py: path, version, the rules that are broken, or none, and the valid file that was changed."""
    from cf_bases import BASES, at_least, write_netcdf
    from cf_cases import CASES
    shown = {name: since if at_least(since, "1.8") else "1.8" for name, (_, since) in BASES.items()}
    valid = sorted({*shown.items(), *((case.base, case.version()) for case in CASES)})
    for name, version in valid:
        path = os.path.join(folder, f"valid-{name}-{version}.nc")
        write_netcdf(BASES[name][0](version), path)
        yield path, version, None, None
    for case in CASES:
        path = os.path.join(folder, f"{case.name}.nc")
        write_netcdf(case.make(case.version()), path)
        yield path, case.version(), case.rule.split("|"), os.path.join(folder, f"valid-{case.base}-{case.version()}.nc")


def rules_in(found):
    return {rule for level, _, _, rule in found if rule and level not in ("crash", "late")}


def messages(found):
    return {message for level, _, message, rule in found if rule and level not in ("crash", "late")}


def report_faults(files, results):
    """How many faults each program reports: under the rule, and by any message that the valid file does not get."""
    places = {path: number for number, (path, *_) in enumerate(files)}
    faulty = [(number, *file) for number, file in enumerate(files) if file[2]]
    for program, found in results.items():
        missed, other, silent, crashed = [], [], [], 0
        for number, path, _, rules, base in faulty:
            told = found[number]
            crashes = any(level in ("crash", "late") for level, *_ in told)
            crashed += crashes
            if rules_in(told) & set(rules):
                continue
            new = messages(told) - messages(found[places[base]])
            (other if new else silent).append(f"{os.path.basename(path)[:-3]} ({rules[0]}){' after an exception' if crashes else ''}"
                                              + (f": {' '.join(sorted(new)[0].split())[:110]}" if new else ""))
        print(f"\n{program}: of {len(faulty)} faults {len(faulty) - len(other) - len(silent)} under the rule, {len(other)} by another message, "
              f"{len(silent)} not; exceptions in {crashed} files")
        for title, names in [("by another message", other), ("not", silent)]:
            print(f"  {title}:")
            for name in names:
                print(f"    {name}")
    for program, found in results.items():
        wrong = collections.Counter((rule, " ".join(message.split())[:130]) for number, (_, _, rules, _) in enumerate(files) if not rules
                                    for level, _, message, rule in found[number] if rule)
        print(f"\n{program}: {sum(wrong.values())} findings in {len(files) - len(faulty)} valid files")
        for (rule, message), count in wrong.most_common():
            print(f"  {count:3} {rule}: {message}")


def report_files(files, results):
    peers = [program for program in results if program != "hyperslab"]
    for number, (path, version, *_) in enumerate(files):
        own = rules_in(results["hyperslab"][number])
        others = {program: rules_in(results[program][number]) for program in peers}
        both = set().union(*others.values())
        print(f"{path} by CF-{version}")
        print("  all: " + " ".join(sorted(own.intersection(*others.values()))))
        for program in peers:
            lacking = sorted(others[program] - own)
            for level, place, message, rule in results[program][number]:
                if rule in lacking or level in ("crash", "late"):
                    print(f"  only {program}: {level} {rule} {place} {' '.join(message.split())[:140]}")
        for level, place, message, rule in results["hyperslab"][number]:
            if rule not in both:
                print(f"  only hyperslab: {level} {rule} {place} {message[:140]}")


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hyperslab")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--peers", default=sys.executable, help="a Python that has compliance-checker and cfchecker")
    parser.add_argument("--tables", default=".", help="the folder of names.xml, areas.xml and regions.xml")
    parser.add_argument("--cache", help="a file that keeps what the peers found")
    parser.add_argument("--limit", type=int, default=120, help="seconds a file for a peer")
    parser.add_argument("--json", help="write all findings to this file")
    options = parser.parse_args()
    cache = {}
    if options.cache and os.path.exists(options.cache):
        with open(options.cache) as file:
            cache = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        files = [(path, version_of(path), None, None) for path in options.files] or list(fault_files(folder))
        pairs = [(path, version) for path, version, *_ in files]
        results = {"hyperslab": [ours(options.hyperslab, *pair) for pair in pairs]}
        for peer in PEERS:
            results[peer] = peers_find(peer, pairs, options, cache)
            if options.cache:
                with open(options.cache, "w") as file:
                    json.dump(cache, file)
        if options.json:
            rows = [{"file": os.path.basename(path), "version": version, "rules": rules,
                     **{program: found[number] for program, found in results.items()}} for number, (path, version, rules, _) in enumerate(files)]
            with open(options.json, "w") as file:
                json.dump(rows, file, indent=1)
        (report_files if options.files else report_faults)(files, results)


if __name__ == "__main__":
    main()
