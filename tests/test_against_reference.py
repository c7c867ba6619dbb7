"""Every frozen high-precision row of tests/reference holds the fast code to its tolerance.

A failure names the file, the row and by how much the value is off. The rows were written by
tests/reference/generate.py; inputs and results are hexadecimal floats.
"""

import csv
import math
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from pe_spectra import (
    Dft,
    Sinusoidal,
    compute_spectrum,
    count_low_bin,
    exact,
    measure_faithfulness,
    reconstruct_positions,
)
from tests.reference import high_precision

FOLDER = Path(__file__).parent / "reference"
SMALLEST_NORMAL = 2.0**-1022
TEXT = {"boundary"}
WHOLE = {"d", "grid", "k", "tau", "length", "inside", "total", "index", "s", "lag"}


def parse(name, cell):
    if name in TEXT:
        return cell
    if cell == "":
        return None
    return int(cell) if name in WHOLE else float.fromhex(cell)


@cache
def read(table):
    """The rows of one file as dictionaries, each with its line number."""
    with (FOLDER / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        rows = [{key: parse(key, cell) for key, cell in row.items()} for row in csv.DictReader(file)]
    return [{"line": number, **row} for number, row in enumerate(rows, start=2)]


def groups(table, *names):
    """One pytest parameter for each run of rows that agree in `names`."""
    parameters = []
    for key, rows in groupby(read(table), key=lambda row: tuple(row[name] for name in names)):
        label = " ".join(
            f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in zip(names, key, strict=True)
        )
        parameters.append(pytest.param(list(rows), id=label))
    return parameters


def in_ulps(found, expected):
    """Distance in units in the last place of the expected value; a zero must be met exactly."""
    if expected == 0:
        return 0.0 if found == 0 else math.inf
    return abs(found - expected) / float(np.spacing(abs(expected)))


def or_both_none(distance, found, expected):
    """The distance of two values that may be undefined: undefined in one alone is infinitely far."""
    if found is None or expected is None:
        return 0.0 if found is expected else math.inf
    return distance(found, expected)


class Failures:
    """Collects the rows that are off, so that one message names them all."""

    def __init__(self, table):
        self.table, self.lines = table, []

    def hold(self, row, what, found, expected, error, limit, unit=""):
        if not error <= limit:  # a NaN fails too
            given = {key: value for key, value in row.items() if key != "line"}
            self.lines.append(
                f"{self.table}.csv line {row['line']}: {what} is {found!r}, not {expected!r}: "
                f"off by {error:.4g}{unit}, allowed {limit:.4g}{unit}; row {given}"
            )

    def report(self):
        assert not self.lines, f"{len(self.lines)} rows are off\n" + "\n".join(self.lines[:20])


# ------------------------------------------------------------------------------------ Eq. 15


@pytest.mark.parametrize("rows", groups("spectrum", "d", "rho", "bandwidth", "grid", "boundary"))
def test_weights_and_their_logarithms(rows):
    case, failures = rows[0], Failures("spectrum")
    spectrum = compute_spectrum(
        Sinusoidal(d=case["d"], rho=case["rho"]),
        grid=case["grid"],
        bandwidth=case["bandwidth"],
        boundary=case["boundary"],
    )
    for row in rows:
        g, log = float(spectrum.weights[row["k"]]), float(spectrum.log_weights[row["k"]])
        if row["g"] == 0:  # below the normal range, where no library promises anything
            failures.hold(row, "g", g, 0.0, g, SMALLEST_NORMAL)
        else:
            failures.hold(row, "g", g, row["g"], in_ulps(g, row["g"]), 16, " ulp")
        high, low = row["log_g_high"], row["log_g_low"]
        limit = 1e-15 * max(1.0, abs(high))
        failures.hold(row, "ln g", log, high, abs((log - high) - low), limit)
    failures.report()


# ------------------------------------------------------------------------------- Algorithm 1


@cache
def reconstruction_of(d, rho, bandwidth):
    spectrum = compute_spectrum(Sinusoidal(d=d, rho=rho), bandwidth=bandwidth)
    return reconstruct_positions(spectrum, [0, d // 3, d - 1])


@pytest.mark.parametrize("rows", groups("reconstruction", "d", "rho", "bandwidth"))
def test_reconstructions(rows):
    d, failures = rows[0]["d"], Failures("reconstruction")
    found = reconstruction_of(d, rows[0]["rho"], rows[0]["bandwidth"])
    limit = 4e-16 * max(1.0, math.log2(d))  # the norm of the one-hot is 1
    for row in rows:
        r = row["r"]
        values = [("impulse response", found.impulse_response[row["tau"]])]
        values += [(f"value for s = {at.s}", at.values[(at.s + row["tau"]) % d]) for at in found.positions]
        for what, value in values:
            failures.hold(row, what, float(value), r, abs(value - r), limit)
    failures.report()


@pytest.mark.parametrize("rows", groups("reconstruction", "d", "rho", "bandwidth"))
def test_errors_and_widths_of_reconstructions(rows):
    row, failures = rows[0], Failures("reconstruction")
    limit = 4e-16 * max(1.0, math.log2(row["d"]))
    for at in reconstruction_of(row["d"], row["rho"], row["bandwidth"]).positions:
        error, width = row["relative_error"], row["fwhm"]
        off = abs(at.relative_error - error)
        failures.hold(row, f"relative_error of s = {at.s}", at.relative_error, error, off, limit)
        off = or_both_none(lambda a, b: abs(a - b), at.fwhm, width)
        failures.hold(row, f"fwhm of s = {at.s}", at.fwhm, width, off, 1e-10)
    failures.report()


# ------------------------------------------------------------------------------------ Eq. 16


@pytest.mark.parametrize("rows", groups("low_bin", "d"))
def test_counts_and_crossings(rows):
    failures = Failures("low_bin")
    for row in rows:
        found = count_low_bin(Sinusoidal(d=row["d"], rho=row["rho"]), length=row["length"])
        numbers = (found.inside, found.total, found.outside)
        expected = (row["inside"], row["total"], row["total"] - row["inside"])
        off = float(max(abs(a - b) for a, b in zip(numbers, expected, strict=True)))
        failures.hold(row, "inside, total, outside", numbers, expected, off, 0)
        off = or_both_none(in_ulps, found.crossing, row["crossing"])
        failures.hold(row, "crossing", found.crossing, row["crossing"], off, 1, " ulp")
    failures.report()


# ------------------------------------------------------------------------- Eq. 2, Eq. 17-21


@pytest.mark.parametrize("rows", groups("encoding", "d"))
def test_entries_of_the_sinusoidal_table(rows):
    failures = Failures("encoding")
    for row in rows:
        d, index, count = row["d"], row["index"], (row["d"] + 1) // 2
        places = {
            "interleaved": (index, index + 1),
            "concatenated": (index // 2, count + index // 2),
        }
        for layout, (sine, cosine) in places.items():
            entries = Sinusoidal(d=d, rho=row["rho"], layout=layout).table([row["s"]])[0]
            found = {"sin": float(entries[sine])}
            if index + 1 < d:  # an odd width ends with a sine
                found["cos"] = float(entries[cosine])
            for what, value in found.items():
                off = in_ulps(value, row[what])
                failures.hold(row, f"{what}, {layout}", value, row[what], off, 8, " ulp")
    failures.report()


@pytest.mark.parametrize("rows", groups("dft_entries", "d"))
def test_sines_and_cosines_of_turns(rows):
    failures = Failures("dft_entries")
    for row in rows:
        sine, cosine = exact.sin_cos_of_turns([row["k"] * row["s"] % row["d"]], row["d"])
        for what, value in (("sin", float(sine[0])), ("cos", float(cosine[0]))):
            failures.hold(row, what, value, row[what], in_ulps(value, row[what]), 2, " ulp")
    failures.report()


@pytest.mark.parametrize("rows", groups("dft_entries", "d"))
def test_entries_of_the_dft_table(rows):
    failures = Failures("dft_entries")
    for row in rows:
        d, k, terms = row["d"], row["k"], (row["d"] - 1) // 2
        entries = Dft(d=d).table([row["s"]])[0]
        found = {"table_cos": float(entries[d - 1 if 2 * k == d else k])}
        if row["table_sin"] is not None:
            found["table_sin"] = float(entries[terms + k])
        for what, value in found.items():
            failures.hold(row, what, value, row[what], in_ulps(value, row[what]), 2, " ulp")
    failures.report()


# -------------------------------------------------------------------------------- separation


@pytest.mark.parametrize("rows", groups("separation", "d"))
def test_smallest_separations(rows):
    failures = Failures("separation")
    for row in rows:
        encoding = Sinusoidal(d=row["d"], rho=row["rho"])
        found = measure_faithfulness(encoding, length=row["length"])
        value, expected = found.min_separation, row["separation"]
        off = abs(value - expected) / expected
        failures.hold(row, "separation", value, expected, off, 4e-16)
        s, t = found.closest_pair
        failures.hold(row, "lag", t - s, row["lag"], float(abs(t - s - row["lag"])), 0)
    failures.report()


# ------------------------------------------------------------------------ the rows themselves


def test_the_files_hold_what_they_should():
    sizes = {path.stem: len(read(path.stem)) for path in sorted(FOLDER.glob("*.csv"))}
    assert sizes == {
        "dft_entries": 160,
        "encoding": 264,
        "low_bin": 267,
        "reconstruction": 280,
        "separation": 66,
        "spectrum": 948,
    }


def test_the_generator_still_writes_these_rows():
    """A sample, computed again; all of it takes minutes."""
    hp = high_precision
    again = {
        "spectrum": hp.spectrum_rows(hp.Case(7, 100.0), range(4)),
        "reconstruction": hp.reconstruction_rows(hp.Case(7, 100.0), (0, 1, 3)),
        "low_bin": [hp.low_bin_row(64, 1e4, 7), hp.low_bin_row(256, 1e300, None)],
        "encoding": [hp.encoding_row(256, 1e4, 100, 2**53)],
        "dft_entries": [hp.dft_row(512, 128, 3), hp.dft_row(512, 170, 2**53)],
        "separation": [hp.separation_row(8, 3.0, 800)],
    }
    for table, rows in again.items():
        frozen = (FOLDER / f"{table}.csv").read_text(encoding="utf-8").splitlines()
        missing = [",".join(row) for row in rows if ",".join(row) not in frozen]
        assert not missing, f"{table}.csv lacks {missing}"
