"""Judges where compliance-checker, cfchecks and `check --conventions` differ on real files, by a table.

    cf_real.py HYPERSLAB FOLDER… --tables FOLDER [--peers PYTHON] [--cache FILE] [--limit SECONDS] [--text FOLDER] [--page FILE] [--count 100]

Of the NetCDF and HDF5 files below the folders, those most like CF are selected: first those whose Conventions name CF, then by
the number of variables with units, then by the number of attributes of variables, not counting variables in groups. All are checked in the same way as in cf_peers.py.
A finding is shared if another program has one by the same rule at the same variable. Findings that only the peers have, and those
that only we have, must fall into a row of `xtask/corpus/cf_real.tsv`, which has the verdict and the sentence of CF that decides it.
A finding without a row is an error; a row without a finding causes a warning.

`--text` is a folder with the sources of each version of CF in a folder of its own (such as v1.8.0): each quoted sentence must occur in them. `--page` writes
docs/status/cf-real.md. The Python that runs this needs netCDF4; the peers are the same as for cf_peers.py.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import resource
import sys
import warnings

import netCDF4

from cf_peers import PEERS, nearest, ours, peers_find
from corpus import rows

LARGEST = 30_000_000
PROGRAMS = ["compliance-checker", "cfchecks", "hyperslab"]
# Files made by the scripts of the corpus itself are not real.
MADE = "generated"

Row = collections.namedtuple("Row", "by rule pattern versions verdict section of sentence why")
File = collections.namedtuple("File", "path name conventions version units attributes variables")


def minor(version):
    return int(version.split(".")[1])


def table():
    """The rows of the table; the rule `-` stands for messages that report no fault."""
    found = []
    for line in rows("cf_real.tsv"):
        by, rule, pattern, versions, *rest = line
        first, _, last = versions.partition("-")
        found.append(Row(by, rule, re.compile(pattern, re.I | re.S), (minor(first), minor(last or first)), *rest))
    return found


def isolated(call, seconds):
    """The result of a call, or None if it fails, crashes or takes too long: libraries crash on files that were broken on purpose."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(writer, "w") as out:
                json.dump(call(), out)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    try:
        return json.loads(text)
    except ValueError:
        return None


def look(path):
    """Conventions of a file, how many variables of its root have units, how many attributes they have, and the names of all variables."""
    def within(group):
        yield group
        for below in group.groups.values():
            yield from within(below)

    with netCDF4.Dataset(path) as dataset:
        conventions = str(dataset.getncattr("Conventions")) if "Conventions" in dataset.ncattrs() else ""
        names = [name for group in within(dataset) for name in group.variables]
        attributes = [variable.ncattrs() for variable in dataset.variables.values()]
    return conventions, sum("units" in own for own in attributes), sum(map(len, attributes)), names


def choose(folders, count):
    seen, found = set(), []
    for folder in folders:
        for at, below, names in os.walk(folder):
            below.sort()
            if at == folder and MADE in below:
                below.remove(MADE)
            for path in (os.path.join(at, name) for name in sorted(names)):
                if os.path.islink(path) or not 32 < os.path.getsize(path) < LARGEST:
                    continue
                with open(path, "rb") as file:
                    start = file.read(8)
                    if start[:3] != b"CDF" and start != b"\x89HDF\r\n\x1a\n":
                        continue
                    digest = hashlib.sha256(start + file.read()).digest()
                looked = None if digest in seen else isolated(lambda: look(path), 2)
                seen.add(digest)
                if looked and looked[3]:
                    conventions, *others = looked
                    named = re.search(r"CF-1\.(\d+)", conventions)
                    version = f"1.{min(max(int(named[1]), 6), 13)}" if named else "1.8"
                    found.append(File(path, os.path.relpath(path, folder), conventions, version, *others))
    return sorted(found, key=lambda one: ("CF" not in one.conventions, -one.units, -one.attributes, one.name))[:count]


def about(program, place, message, variables):
    """The variables that a finding is about."""
    if program == "compliance-checker":
        return {name for name in variables if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w])", f"{place} {message}")}
    return {place.split("@")[0].rsplit("/", 1)[-1]} & set(variables)


def share(one, others):
    """Whether another program has a finding by the rule, at the same variable if both name one."""
    return any(one[0] == other[0] and (one[1] & other[1] or not (one[1] and other[1])) for other in others)


def only(file, results):
    """What the peers find and we do not, and what we find and both peers do not: program, severity, rule, section and message."""
    sides = {}
    for program, found in results.items():
        sides[program] = [((rule, about(program, place, message, file.variables)), program, level, rule or "-", " ".join(f"{place} {message}".split()))
                          for level, place, message, rule in found if level not in ("crash", "late")]
    both = [key for peer in PEERS for key, *_ in sides[peer]]
    own = [key for key, *_ in sides["hyperslab"]]
    for program, found in sides.items():
        against = both if program == "hyperslab" else own
        seen = set()
        for key, *finding in found:
            if tuple(finding) not in seen and (key[0] is None or not share(key, against)):
                yield finding
            seen.add(tuple(finding))


def plain(text):
    """The words of a text, without the marks of AsciiDoc."""
    text = re.sub(r"<<[^,>]*,\s*([^>]*)>>", r"\1", text)
    text = re.sub(r"<<([^>]*)>>", r"\1", text)
    text = re.sub(r"(?:https?|link):\S*?\[([^\]]*)\]", r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r"[*_`+\\^\"“”]", "", text.replace("’", "'"))).lower()


def unquoted(table, folder):
    """The rows whose sentence is not in the sources of its version."""
    texts = {}
    for name in os.listdir(folder):
        if version := re.fullmatch(r"v?(1\.\d+)(\.\d+)?", name):
            texts[version[1]] = plain("\n".join(open(os.path.join(folder, name, file), encoding="utf-8").read()
                                               for file in sorted(os.listdir(os.path.join(folder, name))) if file.endswith(".adoc")))
    for row in table:
        for part in row.sentence.split(" … "):
            if plain(part).strip() not in texts[row.of]:
                yield row, part


def page(path, files, table, used, counts, crashes):
    def cell(text):
        return text.replace("|", "\\|")

    versions = collections.Counter(file.version for file in files)
    total = sum(counts.values())
    verdicts = collections.Counter()
    for number, row in enumerate(table):
        verdicts[row.verdict] += sum(used[number].values())
    of = {program: sum(count for number, row in enumerate(table) if row.by == program for count in used[number].values()) for program in PROGRAMS}
    lines = f"""# Where checkers of CF differ on real files

Written by `xtask/oracles/cf_real.py` from the {len(files)} NetCDF and HDF5 files of the corpus that are most like CF: {sum('CF' in file.conventions for file in files)} name it, {sum(bool(file.units) for file in files)}
have units, {sum(bool(file.attributes) for file in files)} have attributes of variables. compliance-checker 6.1, cfchecks 4.1 and `check --conventions` checked each by the version that it names, or else by 1.8: {
', '.join(f'{versions[version]} by {version}' for version in sorted(versions, key=minor))}.
A finding is shared if another program has one by the same rule at the same variable. All others are below, each with the sentence of CF that decides; the rows are those of `xtask/corpus/cf_real.tsv`.

| | findings |
|---|---|
| only compliance-checker | {of['compliance-checker']} |
| only cfchecks | {of['cfchecks']} |
| only hyperslab | {of['hyperslab']} |
| exceptions of compliance-checker | in {crashes['compliance-checker']} files |
| exceptions of cfchecks | in {crashes['cfchecks']} files |

| verdict | findings |
|---|---|
""".splitlines()
    lines += [f"| {verdict} | {count} |" for verdict, count in verdicts.most_common()]
    assert total == sum(verdicts.values())
    for program in PROGRAMS:
        lines += ["", f"## Only {program}", "", "| rule | message | findings | files | verdict | decided by |", "|---|---|---|---|---|---|"]
        for number, row in enumerate(table):
            if row.by == program and used[number]:
                name = {"-": "none"}.get(row.rule, f"`{row.rule}`")
                lines.append(f"| {name} | `{cell(row.pattern.pattern)}` | {sum(used[number].values())} | {len(used[number])} | {row.verdict} | "
                             f"{cell(row.why)}{': ' if row.why else ''}“{cell(row.sentence)}” (CF {row.of}, {row.section}) |")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hyperslab")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--peers", default=sys.executable, help="a Python that has compliance-checker and cfchecker")
    parser.add_argument("--tables", default=".", help="the folder of names.xml, areas.xml and regions.xml")
    parser.add_argument("--cache", help="a file that keeps what the peers found")
    parser.add_argument("--limit", type=int, default=120, help="seconds a file for a peer")
    parser.add_argument("--text", help="the folder of the sources of CF, by version")
    parser.add_argument("--page", help="the page that is written")
    parser.add_argument("--count", type=int, default=100, help="how many files")
    parser.add_argument("--json", help="write the findings that are not shared to this file")
    options = parser.parse_args()
    judged, failed = table(), 0
    for row, part in unquoted(judged, options.text) if options.text else []:
        failed += 1
        print(f"not in the text of CF {row.of}: {part}")
    files = choose(options.folders, options.count)
    cache = {}
    if options.cache and os.path.exists(options.cache):
        with open(options.cache) as file:
            cache = json.load(file)
    pairs = [(file.path, file.version) for file in files]
    results = {"hyperslab": [ours(options.hyperslab, *pair) for pair in pairs]}
    for peer in PEERS:
        results[peer] = peers_find(peer, pairs, options, cache)
        if options.cache:
            with open(options.cache, "w") as file:
                json.dump(cache, file)
    used, counts, told = [collections.Counter() for _ in judged], collections.Counter(), []
    for number, file in enumerate(files):
        for program, level, rule, text in only(file, {program: found[number] for program, found in results.items()}):
            told.append([file.name, file.version, program, level, rule, text])
            asked = minor(file.version if program == "hyperslab" else nearest(file.version, *PEERS[program]))
            place = next((place for place, row in enumerate(judged) if (row.by, row.rule) == (program, rule)
                          and row.versions[0] <= asked <= row.versions[1] and row.pattern.search(text)), None)
            counts[program] += 1
            if place is None:
                failed += 1
                print(f"no row: {file.name} by CF-{file.version}: {program} {level} {rule}: {text[:300]}")
            else:
                used[place][file.name] += 1
        for level, _, message, _ in results["hyperslab"][number]:
            if level == "crash":
                failed += 1
                print(f"hyperslab failed: {file.name}: {message}")
    crashes = {peer: sum(any(level in ("crash", "late") for level, *_ in found) for found in results[peer]) for peer in PEERS}
    for row, found in zip(judged, used):
        if not found:
            print(f"warning: no finding for {row.by} {row.rule}: {row.pattern.pattern}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(told, file, indent=1)
    if options.page and not failed:
        page(options.page, files, judged, used, counts, crashes)
    print(f"{len(files)} files, not shared: {', '.join(f'{counts[program]} of {program}' for program in PROGRAMS)}; {failed} failures; "
          f"exceptions {crashes}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
