"""What the study shows of each encoding, as a file of the package: run this file to write it anew.

.venv/bin/python -m tests.study.shown_counts
"""

from pe_spectra.study.counting import count_shown
from tests.places import ROOT

SHOWN = ROOT / "pe_spectra" / "study" / "shown.tsv"


def write_counts() -> str:
    """What is counted, as the text of the file: a line for each encoding and norm."""
    rows = [("encoding", "norm", "better", "worse", "comparisons")]
    rows += [(*names, *found) for names, found in count_shown().items()]
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


if __name__ == "__main__":
    SHOWN.write_text(write_counts(), encoding="utf-8")
