"""The units that a map of columns may name, by what they measure."""

from __future__ import annotations

# Of a duration or an instant [ms]. An instant counts from 1970, or from whatever the log counts from.
TIMES_MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6, "d": 8.64e7}
ISO = "iso"  # an instant as a text: 2023-05-01T10:00:00+02:00
DATE = "date"  # an instant as a text, in the form of the field's `format`
EPOCH = "epoch"  # an instant since 1970 in s, ms, us or ns: each value's size tells which
CLOCK = "clock"  # a duration as a text: [DD-]HH:MM:SS; a number alone is seconds
# Of an amount of bytes [B].
SIZES_B = {
    "B": 1.0,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
}
SIZE = "size"  # bytes as a text with a unit in it: 1.5G, 3000M, 4 KB (a thousand of them is 1024)
# Of a number of cores, tasks or counted resources [1].
COUNTS = {"1": 1.0, "milli": 1e-3, "percent": 1e-2}
SHARE = "share"  # of the cores, or of the memory, of one machine: the map's `machine`

INSTANT_UNITS = (*TIMES_MS, ISO, DATE, EPOCH)
DURATION_UNITS = (*TIMES_MS, CLOCK)
SIZE_UNITS = (*SIZES_B, SIZE, SHARE)
CORE_UNITS = (*COUNTS, SHARE)
