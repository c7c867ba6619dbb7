"""The program, with networks and trainings so small that a trial takes milliseconds; it stops at a byte of its file."""

import sys

from pe_spectra import cli
from pe_spectra.experiment import design
from pe_spectra.experiment.design import Design
from tests.stopping import stop_at

if __name__ == "__main__":
    stop_at(int(sys.argv.pop(1)), piece=16)
    design.QUICK = Design(
        width=8, layers=1, heads=2, hidden=8, windows=32, validation=16, test=16, passes=1, rates=(4e-3,)
    )
    cli.run_process()
