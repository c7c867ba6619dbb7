"""Write the high-precision reference values, frozen as CSV beside this file.

Nothing of pe_spectra is imported, only mpmath and NumPy:

    python -m tests.reference.generate            # every table: about five minutes on one idle core
    python -m tests.reference.generate dft_entries encoding

Inputs and results are hexadecimal floats, so what is read back is what was meant, and the last
column is the digits that two runs needed to agree. The cases are fixed: a second run writes the
same bytes. With gmpy2 installed mpmath is faster by itself.
"""

import csv
import math
import random
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from mpmath import mp, mpf

from tests.reference.high_precision import (
    Case,
    Row,
    dft_row,
    encoding_row,
    frequency,
    low_bin_row,
    reconstruction_rows,
    separation_row,
    spectrum_rows,
)
from tests.reference.model_precision import alibi_row, bounds_row, bucket_rows, negative_lag_row
from tests.reference.rotary_cases import audit_configs, rope_cases
from tests.reference.rotary_precision import audit_row, rope_row

HERE = Path(__file__).parent
WIDTHS = (2, 3, 7, 30, 64, 256, 511, 512, 4096)
BASES = (0.01, 1.0, 1.5, 3.0, 100.0, 1e4, 1e6)


def choose_bins(case: Case, draw: random.Random, count: int = 12) -> list[int]:
    """Up to `count` bins: the first four, that of 1 rad, the last, and some between."""
    last = case.n // 2
    if last < count:
        return list(range(last + 1))
    chosen = {0, 1, 2, 3, round(case.n / (2 * math.pi)), last - 1, last}
    while len(chosen) < count:
        chosen.add(draw.randint(4, last - 2))
    return sorted(chosen)[:3] + sorted(chosen)[3:][-(count - 3) :]


def any_width(draw: random.Random, linear: bool, largest: int, smallest: int = 2) -> int:
    """Even, odd and prime widths as they come."""
    if linear:
        return draw.randint(smallest, largest)
    return int(2 ** draw.uniform(math.log2(smallest), math.log2(largest)))


def any_rho(draw: random.Random, linear: bool) -> float:
    """Linearly over what is usual, or over all magnitudes that are accepted."""
    return draw.uniform(1e-6, 2e4) if linear else float(10 ** draw.uniform(-6, 300))


def any_case(draw: random.Random, linear: bool, largest: int, work: float) -> Case:
    """A spectrum with any width, base, bandwidth, lattice and boundary that takes at most `work` kernels."""
    while True:
        d, rho = any_width(draw, linear, largest), any_rho(draw, linear)
        bandwidth = draw.uniform(1e-3, 40) if linear else float(10 ** draw.uniform(-6, 6))
        grid = any_width(draw, linear, largest) if draw.random() < 0.5 else 0
        case = Case(d, rho, bandwidth, grid, "reflect" if draw.random() < 0.3 else "none")
        reached = 40 * bandwidth if case.boundary == "reflect" else min(40 * bandwidth, case.n / 2)
        if d * (reached + 1) < work:
            return case


def random_case(draw: random.Random, linear: bool) -> Case:
    d = draw.choice((2, 3, 4, 5, 6, 9, 13, 16, 31, 48, 97, 128, 255, 300, 449, 600))
    if linear:
        return Case(d, draw.uniform(0.5, 2e4), draw.uniform(0.05, 20))
    return Case(d, 10 ** draw.uniform(-4, 40), 10 ** draw.uniform(-1.3, 1.8))


def hard_cases(draw: random.Random) -> Iterable[Case]:
    """Narrow kernels, and images of frequencies above pi: differences of nearly equal places."""
    yield Case(33, 0.004048873408499202, 1.9895170018313622, 295, "reflect")
    yield Case(64, 0.4573780867926953, 0.10916240672740928)
    for index in range(24):
        rho, bandwidth = 10 ** draw.uniform(-6, 4), 10 ** draw.uniform(-1.5, 2)
        d, grid = draw.choice((2, 7, 33, 64, 129, 200)), draw.choice((0, draw.randint(2, 300)))
        yield Case(d, rho, bandwidth, grid, "none" if index % 4 == 0 else "reflect")


def spectrum_cases() -> Iterable[tuple[Case, list[int]]]:
    draw = random.Random(15)
    cases = [(Case(d, rho), 9 if d > 30 else 8) for d in WIDTHS for rho in BASES]
    cases += [
        (Case(d, rho, bandwidth), 8)
        for d, rho in ((30, 1e4), (256, 1e4), (511, 3.0))
        for bandwidth in (0.05, 0.25, 1.0, 16.0, 64.0)
    ]
    for d, rho, bandwidth, grid in (
        *((2, 1e4, 4.0, 0), (7, 100.0, 4.0, 0), (30, 0.01, 1.0, 0), (64, 1e4, 4.0, 0)),
        *(
            (256, 1e4, 4.0, 0),
            (256, 1e4, 40.0, 0),
            (511, 1e6, 4.0, 0),
            (64, 3.0, 4.0, 45),
        ),
    ):
        cases.append((Case(d, rho, bandwidth, grid, "reflect"), 8))
    for d, rho, grid in (
        *(
            (64, 1e4, 512),
            (512, 1e4, 64),
            (7, 3.0, 100),
            (256, 1e4, 255),
            (30, 0.01, 31),
        ),
        *((4096, 1e4, 2), (2, 1e4, 1024), (511, 1.5, 3)),
    ):
        cases.append((Case(d, rho, 4.0, grid), 8))
    cases += [(random_case(draw, index % 2 == 0), 5) for index in range(40)]
    cases += [(case, 5) for case in hard_cases(draw)]
    other = random.Random(18)
    for index in range(64):
        cases.append((any_case(other, index % 2 == 0, 4096, 2e5), 6))
    cases += [(Case(8192, 1e4, 1.0), 8), (Case(5003, 0.5, 0.3), 6), (Case(300, 7.5, 1.0, 20011), 6)]
    return [(case, choose_bins(case, draw, count)) for case, count in cases]


def spectrum() -> Iterable[Row]:
    for case, bins in spectrum_cases():
        yield from spectrum_rows(case, bins)


def reconstruction_cases() -> Iterable[tuple[Case, list[int]]]:
    draw = random.Random(1)
    cases = [Case(d, rho) for d in WIDTHS for rho in BASES]
    cases += [
        Case(d, rho, bandwidth)
        for d, rho in ((30, 1e4), (256, 1e4), (511, 3.0))
        for bandwidth in (0.05, 0.25, 1.0, 16.0, 64.0)
    ]
    other = random.Random(19)
    for index in range(48):
        drawn = any_case(other, index % 2 == 0, 300, 1e5)
        cases.append(drawn._replace(boundary="none"))
    for case in cases:
        lags = {0, 1, case.n // 2, draw.randrange(case.n)}
        yield case, sorted(tau for tau in lags if tau < case.n)


def reconstruction() -> Iterable[Row]:
    for case, lags in reconstruction_cases():
        yield from reconstruction_rows(case, lags)


def near_ties() -> Iterable[tuple[int, float, int | None]]:
    """Bases within three units in the last place of one with w_l = 2 pi / length, down to 0.02, widths to 2**20."""
    for d, length, index in (
        *(
            (4, None, 2),
            (6, None, 2),
            (6, None, 4),
            (7, None, 2),
            (7, None, 6),
            (8, None, 4),
        ),
        *(
            (30, None, 10),
            (64, None, 32),
            (256, None, 2),
            (256, None, 104),
            (511, None, 510),
        ),
        *((512, None, 244), (512, None, 6), (4096, None, 2048), (4096, None, 100)),
        *(
            (128, 4096, 94),
            (128, 8192, 70),
            (9, 7, 8),
            (64, 5, 40),
            (1000, 131072, 700),
        ),
        *((64, 5, 4), (1021, 6, 300), (1021, 1, 1020), (2**20, None, 2**19), (999983, None, 60000)),
        *((2**20, 2**40, 2**20 - 2), (65537, 1, 65536), (3, 6, 2), (48, 2**40, 46)),
    ):
        with mp.workdps(60):
            rho = float((mpf(length or d) / (2 * mp.pi)) ** (mpf(d) / index))
        below = above = rho
        yield d, rho, length
        for _ in range(3):
            below, above = math.nextafter(below, 0.0), math.nextafter(above, math.inf)
            yield d, below, length
            yield d, above, length


def low_bin() -> Iterable[Row]:
    draw = random.Random(16)
    cases: list[tuple[int, float, int | None]] = [(d, rho, None) for d in WIDTHS for rho in BASES]
    cases += [(d, 1e4, None) for d in (4, 5, 6, 8, 9)] + [
        (256, 1e300, None),
        (128, 1e4, 4096),
    ]
    cases += [
        (128, 5e5, 8192),
        (64, 1e4, 1),
        (64, 1e4, 6),
        (64, 1e4, 7),
        (2, 7.0, 10**6),
    ]
    cases += [(8, math.nextafter(1.0, end), None) for end in (0.0, 2.0)]
    for _ in range(50):
        length = draw.choice((None, draw.randint(1, 10**6)))
        cases.append((draw.randint(2, 1200), 10 ** draw.uniform(-6, 30), length))
    for index in range(120):
        linear = index % 2 == 0
        d, length = any_width(draw, linear, 4096 if linear else 2**17), any_width(draw, linear, 2**40, 1)
        cases.append((d, any_rho(draw, linear), length if index % 3 else None))
    for case in cases:
        yield low_bin_row(*case)


def low_bin_ties() -> Iterable[Row]:
    for case in near_ties():
        yield low_bin_row(*case)


def near_quarter_turns(d: int, rho: float, index: int) -> list[int]:
    """Positions where w s comes closest to a multiple of pi / 2: the hardest to get right."""
    with mp.workdps(120):
        rest, old, new, found = frequency(d, rho, index) * 2 / mp.pi, 0, 1, []
        while new <= 2**53:
            found.append(new)
            rest = 1 / (rest - mp.floor(rest))
            old, new = new, int(mp.floor(rest)) * new + old
    return found


def encoding() -> Iterable[Row]:
    draw = random.Random(2)
    ladders = [(d, rho) for d in WIDTHS for rho in (*BASES, 10 ** draw.uniform(-6, 12))]
    for d, rho in ladders:
        index = 2 * draw.randrange((d + 1) // 2)
        small, large = draw.randrange(1000), int(2 ** draw.uniform(0, 53))
        for s in (small, large, int(2 ** draw.uniform(40, 53))):
            yield encoding_row(d, rho, index, s)
    for d, rho, index in ((2, 1e4, 0), (30, 3.0, 14), (256, 1e4, 100), (511, 1e6, 510)):
        for s in (0, 1, 2**53, *near_quarter_turns(d, rho, index)[-9:]):
            yield encoding_row(d, rho, index, s)
    for index in range(160):
        linear = index % 2 == 0
        d, rho = any_width(draw, linear, 512 if linear else 2**13), any_rho(draw, linear)
        s = draw.randint(0, 2**53) if linear else int(2 ** draw.uniform(0, 53))
        yield encoding_row(d, rho, 2 * draw.randrange((d + 1) // 2), s)


def dft_entries() -> Iterable[Row]:
    draw = random.Random(17)
    for d in (2, 3, 4, 5, 7, 8, 12, 30, 64, 255, 256, 511, 512, 1024, 4096, 65536):
        for k, s in ((0, 5), (1, 1), (d // 2, 3), (d // 4, 3), (d // 3, 2**53)):
            yield dft_row(d, k, s)
        for limit in (d, 10**6, 2**53, 2**53, 2**53):
            yield dft_row(d, draw.randint(0, d // 2), int(limit ** draw.random()))
    for index in range(160):
        linear = index % 2 == 0
        d = any_width(draw, linear, 2**12 if linear else 2**18)
        s = draw.randint(0, 2**53) if linear else int(2 ** draw.uniform(0, 53))
        yield dft_row(d, draw.randint(0, d // 2), s)


def separation() -> Iterable[Row]:
    draw = random.Random(3)
    cases = [(d, rho, 80) for d in WIDTHS[:-1] for rho in (0.01, 1.0, 1.5, 100.0, 1e4)]
    cases += [(256, 1e4, 4096), (512, 1e4, 4096), (256, 1.0, 1000), (64, 1.0, 711)]
    cases += [
        (2, 1e4, 1000),
        (8, 3.0, 800),
        (8, 1e4, 6300),
        (4, 1e6, 5000),
        (6, 1.5, 2000),
    ]
    cases += [
        (64, 1e4, 2),
        (64, 1e4, 3),
        (7, 50.0, 2),
        (16, 30.0, 1500),
        (10, 2.0, 2500),
    ]
    for _ in range(12):
        d, rho = 2 * draw.randint(1, 40), 10 ** draw.uniform(-1, 6)
        cases.append((d, rho, draw.randint(2, 1500)))
    for index in range(60):
        linear = index % 2 == 0
        d, rho = 2 * any_width(draw, linear, 400, 1), any_rho(draw, linear)
        length = any_width(draw, linear, 2000)
        if d * length < 150_000:
            cases.append((d, rho, length))
    for d, rho, length in cases:
        yield separation_row(d, rho, length)


# ------------------------------------------------------------------------------------- models


def audit() -> Iterable[Row]:
    return (audit_row(*case) for case in audit_configs())


def rope() -> Iterable[Row]:
    return (rope_row(case) for case in rope_cases())


def alibi() -> Iterable[Row]:
    for heads in (1, 2, 3, 6, 7, 8, 12, 16, 20, 31, 40, 71, 112, 128, 200, 1024):
        for head in sorted({0, 1, heads // 3, heads // 2, 1 << (heads.bit_length() - 1), heads - 1}):
            if head < heads:
                yield alibi_row(heads, head)


def buckets() -> Iterable[Row]:
    draw = random.Random(22)
    cases = [(32, 128, 1), (32, 128, 0), (64, 256, 1), (4, 9, 1), (256, 2**20, 0), (33, 1000, 0), (7, 50, 1)]
    cases += [(128, 2**20, 1), (254, 777777, 0), (16, 4096, 1), (24, 6**6, 0), (64, 2**16, 0)]
    # the logarithm is an integer where a bucket starts, which floats miss
    cases += [(2 * e, e * r**e, 0) for e, r in ((2, 3), (3, 5), (4, 5), (5, 11), (6, 7), (8, 3))]
    for count, most, both in cases:
        yield from bucket_rows(count, most, both, draw)


def bounds() -> Iterable[Row]:
    draw = random.Random(23)
    for index in range(64):
        linear = index % 2 == 0
        d = 2 * any_width(draw, linear, 128, 2)
        base = draw.uniform(1.5, 1e6) if linear else float(10 ** draw.uniform(0.01, 30))
        trained = any_width(draw, linear, 2**20, 8)
        yield bounds_row(d, base, trained, trained + any_width(draw, linear, 2**21, 1))


def negative_lags() -> Iterable[Row]:
    draw = random.Random(24)
    for index in range(48):
        linear = index % 2 == 0
        base = draw.uniform(1.5, 1e4) if linear else float(10 ** draw.uniform(0.01, 6))
        yield negative_lag_row(2 * any_width(draw, linear, 100, 2), base, 4096)


# -------------------------------------------------------------------------------------- files

SPECTRUM = "d,rho,bandwidth,grid,boundary,k,g,log_g_high,log_g_low"
BOUNDS = "d,base,trained,target,channels,critical,extrapolation,ntk,fitted,quarter,half,full,alias,stability"
LOW_BIN = "d,rho,length,inside,total,crossing"
TABLES: dict[str, tuple[str, Callable[[], Iterable[Row]]]] = {
    "spectrum": (SPECTRUM, spectrum),
    "reconstruction": ("d,rho,bandwidth,grid,tau,r,relative_error,fwhm", reconstruction),
    "low_bin": (LOW_BIN, low_bin),
    "low_bin_ties": (LOW_BIN, low_bin_ties),
    "encoding": ("d,rho,index,s,sin,cos", encoding),
    "dft_entries": ("d,k,s,cos,sin,table_cos,table_sin", dft_entries),
    "separation": ("d,rho,length,lag,separation", separation),
    "audit": ("config,layer,served,pairs,frequencies,attention,never", audit),
    "rope": ("rope,pairs,frequencies,attention,never", rope),
    "alibi": ("heads,head,slope", alibi),
    "buckets": ("buckets,max_distance,bidirectional,relative,bucket", buckets),
    "bounds": (BOUNDS, bounds),
    "negative_lags": ("d,base,limit,lag", negative_lags),
}


def write(name: str) -> int:
    """Compute one table and write it; the number of its rows."""
    header, rows = TABLES[name]
    frozen = list(rows())
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*header.split(","), "digits"])
        writer.writerows(frozen)
    return len(frozen)


if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        begun = time.perf_counter()
        count = write(table)
        print(f"{table}.csv: {count} rows in {time.perf_counter() - begun:.0f} s", flush=True)
