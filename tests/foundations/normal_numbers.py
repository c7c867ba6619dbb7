"""The first normal numbers of NumPy's generator as a file of the package: run this file to write it anew.

.venv/bin/python -m tests.foundations.normal_numbers
"""

import numpy as np

from pe_spectra.draws import FEW
from tests.places import ROOT

NORMAL = ROOT / "pe_spectra" / "normal.f8"


def draw_numbers() -> bytes:
    """What NumPy draws with seed 0, as the bytes of the file."""
    return np.random.Generator(np.random.PCG64(0)).standard_normal(FEW).astype("<f8").tobytes()


if __name__ == "__main__":
    NORMAL.write_bytes(draw_numbers())
