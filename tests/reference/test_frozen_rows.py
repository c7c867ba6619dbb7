"""Every frozen high-precision row of tests/reference holds the fast code to its tolerance.

A failure names the file, the row and by how much the value is off; the worst error of each kind is printed
(pytest -rP). The rows were written by tests/reference/generate.py; inputs and results are hexadecimal floats.
That each tolerance is tight is shown in test_notices.
"""

import csv
import json
import math
from functools import cache
from itertools import groupby

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
from pe_spectra.encodings.biases import compute_slopes
from pe_spectra.encodings.lag_tables import compute_buckets
from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rotary import Rope
from pe_spectra.models.cosine_sums import find_first_negative_lag
from pe_spectra.models.lengths import proposals
from pe_spectra.models.scheme import Lengths, build_layers
from pe_spectra.models.stated.configuration import read_configuration
from tests.places import REFERENCE
from tests.reference import high_precision, model_precision, rotary_precision

FOLDER = REFERENCE
SMALLEST_NORMAL = 2.0**-1022
TEXT = {"boundary", "config", "layer", "rope", "pairs", "frequencies"}
FRACTIONS = {
    *("rho", "bandwidth", "g", "log_g_high", "log_g_low", "r", "relative_error", "fwhm", "crossing", "sin", "cos"),
    *("table_cos", "table_sin", "separation", "attention", "slope", "base", "critical", "extrapolation", "ntk"),
    *("fitted", "quarter", "half", "full", "alias", "stability"),
}
#: Rows of each table.
SIZES = {
    "alibi": 80,
    "audit": 330,
    "bounds": 64,
    "buckets": 708,
    "dft_entries": 320,
    "encoding": 424,
    "low_bin": 247,
    "low_bin_ties": 203,
    "negative_lags": 48,
    "reconstruction": 460,
    "rope": 308,
    "separation": 105,
    "spectrum": 1326,
}


def parse(name, cell):
    if name in TEXT:
        return cell
    if cell == "":
        return None
    return float.fromhex(cell) if name in FRACTIONS else int(cell)


@cache
def read(table):
    """The rows of one file as dictionaries, each with its line number."""
    with (FOLDER / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        rows = [{key: parse(key, cell) for key, cell in row.items()} for row in csv.DictReader(file)]
    return [{"line": number, **row} for number, row in enumerate(rows, start=2)]


def group(rows, *names):
    """Runs of rows that agree in `names`."""
    return [list(run) for _, run in groupby(rows, key=lambda row: tuple(row[name] for name in names))]


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
    """Collects the rows that are off, so that one message names them all, and the worst error of each kind."""

    def __init__(self, table):
        self.table, self.lines, self.worst = table, [], {}

    def hold(self, row, what, found, expected, error, limit, unit="", kind=None):
        kind = kind or what
        share = error / limit if limit else error
        if not share <= self.worst.get(kind, (-1.0,))[0]:
            self.worst[kind] = (share, f"{error:.3g} of {limit:.3g}{unit} in line {row['line']}")
        if not error <= limit:  # a NaN fails too
            given = {key: value for key, value in row.items() if key != "line"}
            self.lines.append(
                f"{self.table}.csv line {row['line']}: {what} is {found!r}, not {expected!r}: "
                f"off by {error:.4g}{unit}, allowed {limit:.4g}{unit}; row {given}"
            )

    def hold_ulps(self, row, what, found, expected, limit, kind=None):
        self.hold(row, what, found, expected, or_both_none(in_ulps, found, expected), limit, " ulp", kind)

    def hold_same(self, row, what, found, expected):
        self.hold(row, what, found, expected, float(found != expected), 0)

    def report(self):
        for kind, (_, words) in sorted(self.worst.items()):
            print(f"{self.table}, {kind}: at most {words}")
        assert not self.lines, f"{len(self.lines)} values are off\n" + "\n".join(self.lines[:20])


# ----------------------------------------------------------------------------------- Eq. 15


def check_spectrum(rows, failures):
    for run in group(rows, "d", "rho", "bandwidth", "grid", "boundary"):
        case = run[0]
        spectrum = compute_spectrum(
            Sinusoidal(d=case["d"], rho=case["rho"]),
            grid=case["grid"],
            bandwidth=case["bandwidth"],
            boundary=case["boundary"],
        )
        unit = 1e-15 if case["d"] <= 4096 else 1e-12
        for row in run:
            g, log = float(spectrum.weights[row["k"]]), float(spectrum.log_weights[row["k"]])
            high, low = row["log_g_high"], row["log_g_low"]
            if row["g"] == 0:  # below the normal range, where no library promises anything
                failures.hold(row, "g that is 0", g, 0.0, g, SMALLEST_NORMAL)
            elif case["d"] <= 4096:
                failures.hold_ulps(row, "g", g, row["g"], 16)
            else:  # as exact as its logarithm
                off = abs(g - row["g"]) / row["g"] / max(1.0, abs(high))
                failures.hold(row, "g", g, row["g"], off, unit, kind="g of wide codes")
            off = abs((log - high) - low) / max(1.0, abs(high))
            failures.hold(row, "ln g", log, high, off, unit, kind=f"ln g within {unit}")


# ----------------------------------------------------------------------------------- Algorithm 1


def check_reconstruction(rows, failures):
    for run in group(rows, "d", "rho", "bandwidth", "grid"):
        case, n = run[0], run[0]["grid"]
        spectrum = compute_spectrum(Sinusoidal(d=case["d"], rho=case["rho"]), bandwidth=case["bandwidth"], grid=n)
        found = reconstruct_positions(spectrum, sorted({0, n // 3, n - 1}))
        limit = 4e-16 * max(1.0, math.log2(n))  # the norm of the one-hot is 1
        for row in run:
            r = row["r"]
            values = [("impulse response", found.impulse_response[row["tau"]])]
            values += [(f"value for s = {at.s}", at.values[(at.s + row["tau"]) % n]) for at in found.positions]
            for what, value in values:
                failures.hold(row, what, float(value), r, abs(value - r), limit, kind="values")
        for at in found.positions:
            error, width = case["relative_error"], case["fwhm"]
            off = abs(at.relative_error - error)
            failures.hold(case, f"relative_error of s = {at.s}", at.relative_error, error, off, limit, kind="error")
            off = or_both_none(lambda a, b: abs(a - b), at.fwhm, width)
            failures.hold(case, f"fwhm of s = {at.s}", at.fwhm, width, off, 1e-10, kind="fwhm")


# ----------------------------------------------------------------------------------- Eq. 16


def check_low_bin(rows, failures):
    for row in rows:
        found = count_low_bin(Sinusoidal(d=row["d"], rho=row["rho"]), length=row["length"])
        numbers = (found.inside, found.total, found.outside)
        failures.hold_same(row, "counts", numbers, (row["inside"], row["total"], row["total"] - row["inside"]))
        failures.hold_ulps(row, "crossing", found.crossing, row["crossing"], 1)


# ----------------------------------------------------------------------------------- Eq. 2, Eq. 17-21


def check_encoding(rows, failures):
    for row in rows:
        d, index, count = row["d"], row["index"], (row["d"] + 1) // 2
        places = {"interleaved": (index, index + 1), "concatenated": (index // 2, count + index // 2)}
        for layout, (sine, cosine) in places.items():
            entries = Sinusoidal(d=d, rho=row["rho"], layout=layout).table([row["s"]])[0]
            failures.hold_ulps(row, f"sin, {layout}", float(entries[sine]), row["sin"], 8, "entries")
            if index + 1 < d:  # an odd width ends with a sine
                failures.hold_ulps(row, f"cos, {layout}", float(entries[cosine]), row["cos"], 8, "entries")


def check_dft_entries(rows, failures):
    for row in rows:
        d, k, terms = row["d"], row["k"], (row["d"] - 1) // 2
        sine, cosine = exact.sin_cos_of_turns([row["k"] * row["s"] % row["d"]], row["d"])
        failures.hold_ulps(row, "sin", float(sine[0]), row["sin"], 2, "turns")
        failures.hold_ulps(row, "cos", float(cosine[0]), row["cos"], 2, "turns")
        entries = Dft(d=d).table([row["s"]])[0]
        found = {"table_cos": float(entries[d - 1 if 2 * k == d else k])}
        if row["table_sin"] is not None:
            found["table_sin"] = float(entries[terms + k])
        for what, value in found.items():
            failures.hold_ulps(row, what, value, row[what], 2, "entries")


# ----------------------------------------------------------------------------------- separation


def check_separation(rows, failures):
    for row in rows:
        found = measure_faithfulness(Sinusoidal(d=row["d"], rho=row["rho"]), length=row["length"])
        value, expected = found.min_separation, row["separation"]
        failures.hold(row, "separation", value, expected, abs(value - expected) / expected, 4e-16)
        s, t = found.closest_pair
        failures.hold_same(row, "lag", t - s, row["lag"])


# ----------------------------------------------------------------------------------- models


def hold_rotation(failures, row, frequencies, attention):
    pairs, values = map(int, row["pairs"].split()), map(float.fromhex, row["frequencies"].split())
    for pair, value in zip(pairs, values, strict=True):
        failures.hold_ulps(row, f"frequency {pair}", float(frequencies[pair]), value, 2, "frequencies")
    failures.hold_ulps(row, "attention factor", attention, row["attention"], 2)


def check_audit(rows, failures):
    for row in rows:
        stated = read_configuration(json.loads(row["config"]), "config.json")
        layers = build_layers(stated, Lengths(served=row["served"]))
        failures.hold_same(row, "refusals", [layer.refusal for layer in layers if layer.refusal is not None], [])
        layer = next(layer for layer in layers if layer.name == row["layer"])
        hold_rotation(failures, row, layer.frequencies, layer.rotation.attention_scaling)
        if row["never"] is not None:
            failures.hold_same(row, "pairs in the lowest bin", layer.low_bin.inside, row["never"])


def check_rope(rows, failures):
    for row in rows:
        found = Rope(**json.loads(row["rope"])).frequencies()
        hold_rotation(failures, row, found.values, found.amplitude)


def check_alibi(rows, failures):
    for row in rows:
        failures.hold_ulps(row, "slope", float(compute_slopes(row["heads"])[row["head"]]), row["slope"], 2)


def check_buckets(rows, failures):
    for run in group(rows, "buckets", "max_distance", "bidirectional"):
        count, most, both = (run[0][key] for key in ("buckets", "max_distance", "bidirectional"))
        relative = [row["relative"] for row in run]
        found = compute_buckets(relative, buckets=count, max_distance=most, bidirectional=bool(both))
        for row, bucket in zip(run, found.tolist(), strict=True):
            failures.hold_same(row, "bucket", bucket, row["bucket"])


#: Columns by the names of the bounds, and how far the last place may be off.
BOUNDS = {
    "critical-base": ("critical", 2),
    "extrapolation-limit": ("extrapolation", 2),
    "ntk-base": ("ntk", 2),
    "men-fit": ("fitted", 2),
    "quarter-turn-base": ("quarter", 2),
    "half-turn-base": ("half", 2),
    "full-turn-base": ("full", 2),
    "alias-bound": ("alias", 2),
    "stability-bound": ("stability", 2),
}


def check_bounds(rows, failures):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proposals, "MAX_SEARCHED", 0)  # negative_lags.csv is about its sums
        for row in rows:
            check_bounds_of(row, failures)


def check_bounds_of(row, failures):
    d, base, trained, target = (row[key] for key in ("d", "base", "trained", "target"))
    listed = [*proposals.list_bounds_of_change(d, base, trained, target), *proposals.list_bounds_of_length(d, target)]
    found = {bound.name: bound.value for bound in listed}
    failures.hold_same(row, "critical dimension", found["critical-dimension"], row["channels"])
    for name, (column, limit) in BOUNDS.items():
        failures.hold_ulps(row, name, found[name], row[column], limit)


def check_negative_lags(rows, failures):
    for row in rows:
        found = find_first_negative_lag(compute_ladder(row["base"], row["d"]), row["limit"])
        failures.hold_same(row, "lag", found, row["lag"])


CHECKS = {
    "alibi": check_alibi,
    "audit": check_audit,
    "bounds": check_bounds,
    "buckets": check_buckets,
    "dft_entries": check_dft_entries,
    "encoding": check_encoding,
    "low_bin": check_low_bin,
    "low_bin_ties": check_low_bin,
    "negative_lags": check_negative_lags,
    "reconstruction": check_reconstruction,
    "rope": check_rope,
    "separation": check_separation,
    "spectrum": check_spectrum,
}


#: What the rows of one computation agree in, where they have one together.
TOGETHER = {
    "buckets": ("buckets", "max_distance", "bidirectional"),
    "reconstruction": ("d", "rho", "bandwidth", "grid"),
    "spectrum": ("d", "rho", "bandwidth", "grid", "boundary"),
}


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 3], ids=["all", "every third"])
@pytest.mark.parametrize("table", CHECKS)
def test_values(table, step):
    failures = Failures(table)
    computed = group(read(table), *TOGETHER.get(table, ["line"]))
    CHECKS[table]([row for rows in computed[::step] for row in rows], failures)
    failures.report()


# ----------------------------------------------------------------------------------- the rows themselves


def test_the_files_hold_what_they_should():
    assert {path.stem: len(read(path.stem)) for path in FOLDER.glob("*.csv")} == SIZES
    assert sum(SIZES.values()) > 2000


@pytest.mark.parametrize("table", CHECKS)
def test_digits_were_doubled_until_two_runs_agreed(table):
    """40 digits first, so 80 at least where they were once doubled; only buckets are integers throughout."""
    found = {row["digits"] for row in read(table)}
    assert found == {None} if table == "buckets" else found <= {80, 160, 320, 640, 1280}


def test_the_generator_still_writes_these_rows():
    """A sample, computed again; all of it takes minutes."""
    hp, mp, rp = high_precision, model_precision, rotary_precision
    audited, turned = read("audit")[80], json.loads(read("rope")[3]["rope"])
    again = {
        "spectrum": hp.spectrum_rows(hp.Case(7, 100.0), range(4)),
        "reconstruction": hp.reconstruction_rows(hp.Case(7, 100.0), (0, 1, 3)),
        "low_bin": [hp.low_bin_row(64, 1e4, 7), hp.low_bin_row(256, 1e300, None)],
        "low_bin_ties": [hp.low_bin_row(row["d"], row["rho"], row["length"]) for row in read("low_bin_ties")[:7]],
        "encoding": [hp.encoding_row(256, 1e4, 100, 2**53)],
        "dft_entries": [hp.dft_row(512, 128, 3), hp.dft_row(512, 170, 2**53)],
        "separation": [hp.separation_row(8, 3.0, 800)],
        "audit": [rp.audit_row(audited["config"], audited["layer"], audited["served"])],
        "rope": [rp.rope_row(turned)],
        "alibi": [mp.alibi_row(20, 19)],
        "bounds": [mp.bounds_row(*(read("bounds")[5][key] for key in ("d", "base", "trained", "target")))],
    }
    for table, rows in again.items():
        with (FOLDER / f"{table}.csv").open(newline="", encoding="utf-8") as file:
            frozen = list(csv.reader(file))
        missing = [row for row in rows if row not in frozen]
        assert not missing, f"{table}.csv lacks {missing}"
