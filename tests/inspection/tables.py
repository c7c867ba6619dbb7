"""Tables with nothing planted, and how the one finding of a table is looked up."""

import numpy as np
import pytest

from pe_spectra.inspection import inspect_table
from pe_spectra.inspection.anatomy import dissect
from pe_spectra.inspection.diagnosis import find_in_table
from tests import planted

BASES = {
    "trained": planted.make_trained,
    "smooth": lambda rows, width, seed: planted.make_trained(rows, width, seed, noise=0.05),
    "periodic": planted.make_periodic,
}


def draw_noise(generator, rows, rank, memory):
    """Noise in `rank` columns, each an autoregressive process of this memory; 1 is a random walk."""
    noise = generator.standard_normal((rows, rank))
    for row in range(1, rows):
        noise[row] += memory * noise[row - 1]
    return noise


def inspect_codes(table, **options):
    return [finding.code for finding in inspect_table(table, **options).findings]


def find_only(table, code, **options):
    """The one finding that there is, of this code."""
    result = inspect_table(table, **options)
    assert [finding.code for finding in result.findings] == [code]
    return result.findings[0], result


def look_at_rows(table):
    """The findings about rows alone: what `inspect_table` says without periods and traces of interpolation."""
    anatomy = dissect(table)
    return find_in_table(anatomy), anatomy


def find_row_only(table, code):
    """The one finding about rows that there is, of this code."""
    findings, anatomy = look_at_rows(table)
    assert [finding.code for finding in findings] == [code]
    return findings[0], anatomy


#: The first two, and the others in the slow run.
EACH_SEED = [pytest.param(seed, marks=[pytest.mark.slow] if seed > 1 else []) for seed in planted.SEEDS]


def each_base(sizes=planted.SIZES, seeds=planted.SEEDS):
    """Every kind of table in every size: all seeds of the narrow ones, one of the wide; from the second on slow."""
    return [
        pytest.param(
            (base, rows, width, seed),
            id=f"{base}-{rows}x{width}-{seed}",
            marks=[pytest.mark.slow] if seed > 0 or (rows, width) == (1024, 768) else [],
        )
        for base in BASES
        for rows, width in sizes
        for seed in (seeds if width < 768 else seeds[:1])
    ]


# ----------------------------------------------------------------------------------- nothing planted


CONTROLS = {
    "trained": planted.make_trained,
    "smooth": lambda rows, width, seed: planted.make_trained(rows, width, seed, noise=0.05),
    "noiseless": lambda rows, width, seed: planted.make_trained(rows, width, seed, noise=0.0),
    "rough": lambda rows, width, seed: planted.make_trained(rows, width, seed, noise=1.0),
    "periodic": planted.make_periodic,
    "noisy periods": lambda rows, width, seed: planted.make_periodic(rows, width, seed, noise=0.5),
    "fading": lambda rows, width, seed: planted.make_trained(rows, width, seed) * np.linspace(1, 0.4, rows)[:, None],
    "fast start": lambda rows, width, seed: (
        planted.make_trained(rows, width, seed) * (1 + 0.7 * np.exp(-np.arange(rows) / 6))[:, None]
    ),
}


# ----------------------------------------------------------------------------------- the portrait


def put(table, rows, change):
    changed = table.copy()
    changed[rows] = change(table[rows])
    return changed
