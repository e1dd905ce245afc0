#!/usr/bin/env python3
"""Writes cf_times.tsv: calendar, units, date and count as cftime 1.6 has them."""

import random
from pathlib import Path

import cftime

CALENDARS = ["standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day", "all_leap", "366_day",
             "360_day"]
UNITS = ["seconds since 1970-01-01", "days since 1850-01-01", "hours since 1900-1-1 00:00:0.0",
         "minutes since 2000-01-01T06:30:00Z", "days since 1582-10-04 12:00:00", "Days since 1-1-1",
         "hours since 2024-02-28 23:00:00 -05:30", "days since 1600-03-01 00:00 +01", "milliseconds since 2000-02-28"]

random.seed(5)
lines = []
for calendar in CALENDARS:
    fixed = [(1582, 10, 4, 0), (1582, 10, 15, 0), (1900, 2, 28, 6), (1900, 3, 1, 0), (2000, 2, 28, 18), (2000, 3, 1, 0),
             (1, 1, 1, 0), (2100, 12, 30, 12), (1582, 12, 30, 0), (-4, 2, 28, 0), (-4, 3, 1, 0)]
    drawn = [(random.choice([random.randint(1, 3000), random.randint(1570, 1590), random.randint(1950, 2050)]),
              random.randint(1, 12), random.randint(1, 28), 6 * random.randint(0, 3)) for _ in range(60)]
    for index, (year, month, day, hour) in enumerate(fixed + drawn):
        if (year, month) == (1582, 10) and 5 <= day < 15:
            continue
        units = UNITS[index % len(UNITS)]
        date = cftime.datetime(year, month, day, hour, calendar=calendar)
        count = cftime.date2num(date, units, calendar)
        sign = "-" if year < 0 else ""
        lines.append(f"{calendar}\t{units}\t{sign}{abs(year):04}-{month:02}-{day:02}T{hour:02}:00:00\t{float(count)!r}\n")
(Path(__file__).parent / "cf_times.tsv").write_text("".join(lines))
