"""The rows: what is compared with what, the target, and whether a miss fails the run.

A row becomes a gate once it has been reached in every run, its 90 % quantile included, so that noise does not fail it.
The quick form measures the rows that have a margin, and fails those that miss their target by more: it is for every
change and every machine, and finds what has become several times slower, or grows faster than it should.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.benchmarks import (
    command_rows,
    gram_rows,
    growth_rows,
    precision_rows,
    reconstruction_rows,
    separation_rows,
    spectrum_rows,
    sweep_rows,
)
from tests.benchmarks.measuring import Measured


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table; `measure` returns ratios, or says why there are none.

    Attributes
    ----------
    gate : a miss fails the run.
    margin : how many times worse than the target the quick form lets it be; None: the quick form leaves it out.
    """

    name: str
    what: str
    target: float
    measure: Callable[[], Measured | str]
    at_most: bool = True
    gate: bool = False
    margin: float | None = None

    def is_reached(self, value: float, margin: float = 1.0) -> bool:
        return value <= self.target * margin if self.at_most else value >= self.target / margin

    def fails(self, value: float, quick: bool) -> bool:
        """Whether this value ends the run with an error."""
        if quick:
            return self.margin is not None and not self.is_reached(value, self.margin)
        return self.gate and not self.is_reached(value)


ROWS = (
    Row(
        name="E1",
        what="Eq. 15, weights from frequencies, d = 65536, rfft",
        target=2.5,
        measure=lambda: spectrum_rows.measure_weights(spectrum_rows.SMALL),
        margin=3,
    ),
    Row(
        name="E2",
        what="Eq. 15, weights from frequencies, d = 2^20, rfft",
        target=2.0,
        measure=lambda: spectrum_rows.measure_weights(spectrum_rows.LARGE),
    ),
    Row(
        name="E2",
        what="growth exponent of the same, d = 2^14 to 2^20",
        target=1.15,
        measure=spectrum_rows.measure_growth,
        gate=True,
        margin=1.2,
    ),
    Row(
        name="E3",
        what="ln g over the whole grid, d = 65536, rfft",
        target=5.0,
        measure=lambda: spectrum_rows.measure_logs(spectrum_rows.SMALL),
        margin=3,
    ),
    Row(
        name="E3",
        what="ln g over the whole grid, d = 2^20, rfft",
        target=3.5,
        measure=lambda: spectrum_rows.measure_logs(spectrum_rows.LARGE),
        gate=True,
    ),
    Row(
        name="E4",
        what="scipy gaussian_kde over Eq. 15, d = 65536",
        target=8000,
        at_most=False,
        measure=spectrum_rows.measure_scipy,
    ),
    Row(
        name="E4",
        what="scikit-learn at rtol 1e-8 over Eq. 15, d = 65536",
        target=100,
        at_most=False,
        measure=spectrum_rows.measure_scikit_learn,
    ),
    Row(
        name="E4",
        what="KDEpy FFTKDE over Eq. 15, d = 65536",
        target=1.5,
        at_most=False,
        measure=spectrum_rows.measure_kdepy,
    ),
    Row(
        name="E5",
        what="error of ln g / max(1, abs ln g), d = 65536",
        target=1e-12,
        measure=spectrum_rows.measure_error,
        gate=True,
        margin=1,
    ),
    Row(
        name="E5",
        what="the same with frequencies in bins as given",
        target=1e-14,
        measure=spectrum_rows.measure_error_of_sums,
        gate=True,
        margin=1,
    ),
    Row(
        name="E6",
        what="traced peak of the weights, d = 1e6, MiB",
        target=16,
        measure=spectrum_rows.measure_peak_linear,
        margin=1.5,
    ),
    Row(
        name="E6",
        what="traced peak with ln g, d = 1e6, MiB",
        target=40,
        measure=spectrum_rows.measure_peak_logs,
        gate=True,
        margin=1,
    ),
    Row(
        name="E6",
        what="resident peak of the command, d = 1e6, MiB",
        target=100,
        measure=spectrum_rows.measure_command,
        gate=True,
        margin=1.2,
    ),
    Row(
        name="E6",
        what="the same with --json, MiB",
        target=150,
        measure=spectrum_rows.measure_command_with_json,
        gate=True,
        margin=1,
    ),
    Row(
        name="E7",
        what="compute_spectrum, d = 256, broadcast of the formula",
        target=5,
        measure=spectrum_rows.measure_small,
        gate=True,
        margin=4,
    ),
    Row(
        name="E8",
        what="JSON of g, d = 65536, json.dumps of its lists",
        target=1.1,
        measure=spectrum_rows.measure_json,
        gate=True,
        margin=2,
    ),
    Row(
        name="E8",
        what="CSV of g, d = 65536, json.dumps of its lists",
        target=1.1,
        measure=spectrum_rows.measure_csv,
        margin=3,
    ),
    Row(
        name="E8",
        what="CSV of g, d = 65536, repr of its numbers in lines",
        target=1.1,
        measure=spectrum_rows.measure_csv_over_bare,
        margin=1.5,
    ),
    Row(
        name="A1",
        what="Algorithm 1, any function, d = 4096, rfft + irfft",
        target=1.48,
        measure=lambda: reconstruction_rows.measure_any_function(4096),
    ),
    Row(
        name="A1",
        what="of that, its parts alone, rfft + irfft",
        target=1.35,
        measure=lambda: reconstruction_rows.measure_parts_of_any_function(4096),
    ),
    Row(
        name="A1",
        what="Algorithm 1, any function, d = 65536, rfft + irfft",
        target=1.2,
        measure=lambda: reconstruction_rows.measure_any_function(65536),
        margin=3,
    ),
    Row(
        name="A2",
        what="three one-hots, d = 4096, rfft + irfft",
        target=0.89,
        measure=lambda: reconstruction_rows.measure_one_hots(4096),
        gate=True,
    ),
    Row(
        name="A2",
        what="of that, its parts alone, rfft + irfft",
        target=0.81,
        measure=lambda: reconstruction_rows.measure_parts_of_one_hots(4096),
    ),
    Row(
        name="A2",
        what="three one-hots, d = 65536, rfft + irfft",
        target=0.9,
        measure=lambda: reconstruction_rows.measure_one_hots(65536),
        gate=True,
        margin=3,
    ),
    Row(
        name="A3",
        what="all positions at once, d = 16384, d x (rfft + irfft)",
        target=0.001,
        measure=reconstruction_rows.measure_all_positions,
        gate=True,
        margin=3,
    ),
    Row(
        name="A3",
        what="numbers that all rows of the same share, in d",
        target=2,
        measure=reconstruction_rows.measure_memory_of_all_positions,
        gate=True,
        margin=1,
    ),
    Row(
        name="A3",
        what="the same copied out, np.full((d, d))",
        target=1.1,
        measure=reconstruction_rows.measure_copy_of_all_positions,
    ),
    Row(
        name="F1",
        what="brute force over smallest separation, S = 1e6, d = 512",
        target=500,
        at_most=False,
        measure=separation_rows.measure_brute,
        margin=3,
    ),
    Row(
        name="F1",
        what="smallest separation, S = 1e6, one pass over S floats",
        target=15,
        measure=separation_rows.measure_passes,
    ),
    Row(
        name="F1",
        what="traced peak of the same, MiB",
        target=10,
        measure=separation_rows.measure_peak,
        margin=1,
        gate=True,
    ),
    Row(
        name="F2",
        what="scipy pdist over smallest separation, S = 8192",
        target=10000,
        at_most=False,
        measure=separation_rows.measure_pdist,
    ),
    Row(
        name="F2",
        what="relative error of the smallest separation, S = 8192",
        target=1e-13,
        measure=separation_rows.measure_error,
        gate=True,
        margin=1,
    ),
    Row(
        name="F2",
        what="scikit-learn brute over smallest separation, S = 8192",
        target=500,
        at_most=False,
        measure=separation_rows.measure_scikit_learn,
        gate=True,
    ),
    Row(
        name="F3",
        what="closest pair of 8192 x 512, half float32 product",
        target=1.2,
        measure=lambda: gram_rows.measure_closest_pair(8192),
        gate=True,
        margin=2,
    ),
    Row(
        name="F3",
        what="of that, its parts alone, half float32 product",
        target=1.1,
        measure=gram_rows.measure_parts_of_closest_pair,
    ),
    Row(
        name="F3",
        what="scikit-learn brute over closest pair, 8192 x 512",
        target=2,
        at_most=False,
        measure=gram_rows.measure_scikit_learn,
        gate=True,
    ),
    Row(
        name="F3",
        what="scipy pdist over closest pair, 8192 x 512",
        target=10,
        at_most=False,
        measure=gram_rows.measure_pdist,
        gate=True,
    ),
    Row(
        name="F3",
        what="traced peak of the closest pair, MiB",
        target=64,
        measure=gram_rows.measure_peak_of_closest_pair,
        gate=True,
        margin=1,
    ),
    Row(
        name="F3",
        what="scipy pdist over closest pair, 65536 x 384",
        target=10,
        at_most=False,
        measure=separation_rows.measure_long_pdist,
        gate=True,
    ),
    Row(
        name="F3",
        what="scikit-learn brute over closest pair, 65536 x 384",
        target=2,
        at_most=False,
        measure=separation_rows.measure_long_scikit_learn,
        gate=True,
    ),
    Row(
        name="F3",
        what="traced peak of the closest pair, 65536 x 384, MiB",
        target=128,
        measure=separation_rows.measure_long_peak,
    ),
    Row(
        name="F3",
        what="differences lag by lag over the curve over the lag, calendar, 17520 x 8",
        target=2,
        at_most=False,
        measure=separation_rows.measure_lags,
        gate=True,
        margin=1.2,
    ),
    Row(
        name="F4",
        what="closest pair of 1000 x 512, half float32 product",
        target=2,
        measure=lambda: gram_rows.measure_closest_pair(1000),
        gate=True,
        margin=4,
    ),
    Row(
        name="F5",
        what="equal rows of 8192 x 512, np.unique",
        target=1 / 30,
        measure=gram_rows.measure_equal_rows,
        gate=True,
        # it waits for memory where the sort computes: with neighbours that use the memory it takes twice as long
        margin=16,
    ),
    Row(
        name="L1",
        what="Gram matrix and traces over Gram diagonals, 4096 x 384",
        target=8,
        at_most=False,
        measure=gram_rows.measure_diagonals,
        gate=True,
    ),
    Row(
        name="L1",
        what="Gram diagonals of 4096 x 384, T.T @ T",
        target=2,
        measure=gram_rows.measure_diagonals_in_products,
        gate=True,
        margin=3,
    ),
    Row(
        name="L2",
        what="Gram matrix and traces over Gram diagonals, 65536 x 384",
        target=60,
        at_most=False,
        measure=gram_rows.measure_long_diagonals,
        gate=True,
    ),
    Row(
        name="L2",
        what="traced peak of Gram diagonals, 65536 x 384, MiB",
        target=64,
        measure=gram_rows.measure_peak_of_long_diagonals,
        gate=True,
    ),
    Row(
        name="L3",
        what="error of Gram diagonals at 65536 lags over k(0)",
        target=1e-13,
        measure=gram_rows.measure_error,
        gate=True,
        margin=1,
    ),
    Row(
        name="L4",
        what="192 lags over all lags, 65536 x 384",
        target=0.5,
        measure=gram_rows.measure_few_lags,
        gate=True,
    ),
    Row(
        name="L4",
        what="traced peak of 192 lags, MiB",
        target=16,
        measure=gram_rows.measure_peak_of_few_lags,
        gate=True,
        margin=1,
    ),
    Row(
        name="F6",
        what="distinct rows in bfloat16, S = 1e6, d = 256, cos and sin of all",
        target=1.65,
        measure=lambda: precision_rows.measure_narrow("bfloat16"),
        margin=4,
    ),
    Row(
        name="F6",
        what="distinct rows in float16, S = 1e6, d = 256, cos and sin of all",
        target=1.65,
        measure=lambda: precision_rows.measure_narrow("float16"),
    ),
    Row(
        name="F6",
        what="of that, its parts alone, cos and sin of all",
        target=1.5,
        measure=precision_rows.measure_parts,
    ),
    Row(
        name="F6",
        what="np.unique of rows over distinct rows in float16",
        target=2,
        at_most=False,
        measure=precision_rows.measure_unique,
    ),
    Row(
        name="F6",
        what="traced peak of distinct rows, S = 1e6, d = 256, MiB",
        target=88,
        measure=precision_rows.measure_peak,
    ),
    Row(
        name="G",
        what="growth exponent of Algorithm 1, d = 2^14 to 2^19",
        target=1.2,
        measure=growth_rows.measure_reconstruction,
        gate=True,
        margin=1.2,
    ),
    Row(
        name="G",
        what="growth exponent of the smallest separation, S = 2^15 to 2^20",
        target=1.15,
        measure=growth_rows.measure_separation,
        gate=True,
        margin=1.2,
    ),
    Row(
        name="G",
        what="growth exponent of the closest pair, 1024 to 8192 rows",
        target=2.1,
        measure=growth_rows.measure_closest_pair,
        gate=True,
        margin=1.1,
    ),
    Row(
        name="G",
        what="growth exponent of equal rows, 4096 to 65536",
        target=1.2,
        measure=growth_rows.measure_equal_rows,
        gate=True,
        margin=1.2,
    ),
    Row(
        name="G",
        what="growth exponent of Gram diagonals, S = 4096 to 65536",
        target=1.2,
        measure=growth_rows.measure_diagonals,
        gate=True,
        margin=1.2,
    ),
    Row(
        name="G",
        what="growth exponent of distinct rows in bfloat16, S = 2^12 to 2^16",
        target=1.15,
        measure=growth_rows.measure_narrow_rows,
        gate=True,
        margin=1.2,
    ),
    Row(name="S1", what="--help, import typer", target=1.1, measure=command_rows.measure_help, gate=True, margin=1.3),
    Row(
        name="S1",
        what="--version, import typer",
        target=1.1,
        measure=command_rows.measure_version,
        gate=True,
        margin=1,
    ),
    Row(
        name="S2",
        what="spectrum --json --no-figure, import typer",
        target=2.1,
        measure=command_rows.measure_spectrum,
        margin=1.5,
    ),
    *(
        Row(
            name="S2",
            what=f"of that, {what}, import typer",
            target=most,
            measure=partial(command_rows.measure_part, what),
        )
        for what, most in command_rows.PARTS.items()
    ),
    Row(
        name="S2",
        what="spectrum --json --no-figure, bare interpreter",
        target=12,
        measure=command_rows.measure_spectrum_from_bare,
        gate=True,
        margin=1.3,
    ),
    Row(
        name="S3", what="spectrum with a figure, import typer", target=9, measure=command_rows.measure_figure, margin=2
    ),
    Row(
        name="S3",
        what="spectrum with a figure, two bare panels",
        target=1.1,
        measure=command_rows.measure_figure_over_bare,
        margin=1.4,
    ),
    *(
        Row(
            name="S4",
            what=f"{line} beside its own work, import numpy",
            target=1.5,
            measure=partial(command_rows.measure_loading, name),
            gate=name in command_rows.QUICK,
        )
        for name, line in command_rows.LINES.items()
    ),
    Row(
        name="W",
        what="sweep of 1000 points, processes that answer one",
        target=sweep_rows.POINTS / 50,
        measure=sweep_rows.measure_sweep,
        gate=True,
        margin=2,
    ),
    Row(
        name="W",
        what="share of the parent of two workers in the processor time, spectrum",
        target=0.15,
        measure=sweep_rows.measure_parent,
        gate=True,
        margin=1,
    ),
    *(
        Row(
            name="W",
            what=f"processor time of one worker over the busiest of two, {command}",
            target=1.8,
            at_most=False,
            measure=partial(sweep_rows.measure_gain, command),
        )
        for command in sweep_rows.LONG
    ),
)
