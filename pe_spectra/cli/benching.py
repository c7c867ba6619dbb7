"""The command that measures how fast the package is on this machine."""

from __future__ import annotations

from pe_spectra.cli.run import Outcome, Run


def bench(run: Run) -> Outcome:
    """Each pair takes turns in one run, with one thread, and what is compared is processor time, never the
    clock. It takes about half a minute. A ratio that is missed is a measurement and no failure: exit 0.
    """
    from pe_spectra.answers.benches import answer_bench
    from pe_spectra.benchmarks import SHORT_ROWS, measure_rows

    with run.progress("measuring", is_long=True) as tell:
        found = tuple(measure_rows(SHORT_ROWS, tell))
    return run.finish(answer_bench(found))
