#!/usr/bin/env python3
"""Writes what cftime 1.6 has: cf_times.tsv with calendar, units, date and count; cf_periods.tsv with calendar,
units, month or year, and the counts at which it begins and is over.
"""

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

lines = []
for calendar in CALENDARS:
    fixed = [(1582, 10), (1582, 9), (1582, 12), (1900, 2), (2000, 2), (2024, 2), (1500, 2), (-1, 12), (-5, 2)]
    drawn = [(random.randint(1, 3000), random.randint(1, 12)) for _ in range(20)]
    for index, (year, month) in enumerate(fixed + drawn):
        units = UNITS[index % len(UNITS)]
        zero = calendar not in ("standard", "gregorian", "julian")
        after = year + 1 if zero or year != -1 else 1
        sign = "-" if year < 0 else ""
        next_month = (year, month + 1) if month < 12 else (after, 1)
        for text, begin, over in [(f"{sign}{abs(year):04}-{month:02}", (year, month), next_month),
                                  (f"{sign}{abs(year):04}", (year, 1), (after, 1))]:
            counts = [float(cftime.date2num(cftime.datetime(*at, 1, calendar=calendar), units, calendar))
                      for at in (begin, over)]
            lines.append(f"{calendar}\t{units}\t{text}\t{counts[0]!r}\t{counts[1]!r}\n")
(Path(__file__).parent / "cf_periods.tsv").write_text("".join(lines))
