"""Writes a file with many variables that follow the CF conventions, and times checks of it.

    cf_many.py --write FILE [--variables N] [--length N]
    cf_many.py HYPERSLAB --peers PYTHON --tables FOLDER [--variables 500] [--length 1000] [--rounds 5] [--without PROGRAM]

The file has a time coordinate with bounds, a scalar height, and N data variables with units, standard names, cell
methods and flags, each as long as the time coordinate: 500 of 1,000 elements are 3.5 MB. The programs are
`check --conventions CF-1.8` with values and without (`--quick`), cfchecks and compliance-checker as cf_peers.py runs them,
in turn in each round; medians of the seconds of wall clock and CPU are printed. A program that is slower than the first by
a factor of 100 runs once.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from cf_bases import File, add_height, f4, i1, time_attributes, write_netcdf

KINDS = [("eastward_wind", "m s-1"), ("northward_wind", "m s-1"), ("air_pressure", "hPa"), ("specific_humidity", "1"),
         ("precipitation_flux", "kg m-2 s-1"), ("relative_humidity", "%"), ("surface_snow_amount", "kg m-2")]


def many(count, length):
    """Every 500 variables have their own time coordinate, because HDF5 keeps a list of the variables that use a dimension."""
    file = File("1.8")
    add_height(file)
    for number in range(count):
        block = number // 500
        time = f"time{block}" if block else "time"
        if number % 500 == 0:
            days = np.arange(length)
            file.dim(**{time: length, "bnds": 2})
            file.var(time, "f8", [time], days + 0.5, axis="T", bounds=f"{time}_bnds", **time_attributes(file))
            file.var(f"{time}_bnds", "f8", [time, "bnds"], np.stack([days, days + 1], 1))
        if number % 10 == 9:
            file.var(f"flag{number}", "i1", [time], np.arange(length) % 3, standard_name="status_flag", flag_values=i1(0, 1, 2),
                     flag_meanings="good doubtful bad", coordinates="height", cell_methods=f"{time}: height: point")
            continue
        name, units = KINDS[number % len(KINDS)]
        file.var(f"data{number}", "f4", [time], np.arange(length) % 97 + 1, standard_name=name, units=units, long_name=f"series {number}",
                 coordinates="height", cell_methods=f"{time}: mean height: point", _FillValue=f4(-999), valid_range=f4(0, 1000))
    return file


def commands(options, path):
    from cf_peers import WORKER
    line = f"{path}\t1.8\n"
    peers = {peer: ([options.peers, "-I", "-c", WORKER, peer, options.tables, "100000"], line) for peer in ["cfchecks", "compliance-checker"]}
    check = [options.hyperslab, "check", "-q", "--json", "--conventions", "CF-1.8", path]
    return {"hyperslab": (check, ""), "hyperslab --quick": ([*check, "--quick"], ""), **peers}


def measure(command, given):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1:
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr[-500:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hyperslab", nargs="?")
    parser.add_argument("--write", help="write the file here and end")
    parser.add_argument("--variables", type=int, default=500)
    parser.add_argument("--length", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default=sys.executable, help="a Python that has compliance-checker and cfchecker")
    parser.add_argument("--tables", default=".", help="the folder of names.xml, areas.xml and regions.xml")
    parser.add_argument("--without", action="append", default=[], help="a program that is left out")
    options = parser.parse_args()
    if options.write:
        return write_netcdf(many(options.variables, options.length), options.write)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "many.nc")
        write_netcdf(many(options.variables, options.length), path)
        print(f"{options.variables} variables of {options.length} elements, {os.path.getsize(path) / 1e6:.1f} MB")
        taken = {program: [] for program in commands(options, path) if program not in options.without}
        for number in range(options.rounds):
            for program, (command, given) in commands(options, path).items():
                slow = number and statistics.median(wall for wall, _ in taken.get(program, [(0, 0)])) > 100 * taken["hyperslab"][0][0]
                if program in taken and not slow:
                    taken[program].append(measure(command, given))
    first = statistics.median(cpu for _, cpu in taken["hyperslab"])
    print(f"{'program':20} {'wall s':>8} {'CPU s':>8} {'CPU ratio':>10} {'runs':>5}")
    for program, times in taken.items():
        wall, cpu = (statistics.median(column) for column in zip(*times))
        print(f"{program:20} {wall:8.3f} {cpu:8.3f} {cpu / first:10.1f} {len(times):5}")


if __name__ == "__main__":
    main()
