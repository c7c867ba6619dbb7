"""The options and arguments of the commands about frozen files."""

from __future__ import annotations

from collections.abc import Mapping

from pe_spectra.cli.declaring import Option
from pe_spectra.limits import MAX_TOLERANCE
from pe_spectra.numbers import RealRange

#: By names of their own, as in `options`, which finds them here.
OPTIONS: Mapping[str, Option] = {
    "items": Option(
        "items",
        "WHAT...",
        "config.json, params.json, GGUF, a folder of models; inv_freq or cos and sin; tables; SPECs",
        several=True,
    ),
    "output:frozen": Option("frozen --output", "FILE.json", "the frozen file"),
    "against": Option("--against", "FILE.json", "the frozen file"),
    "tolerance": Option(
        "--tolerance",
        "X",
        "largest relative difference of two numbers that count as equal, 0 to 0.99",
        RealRange(minimum=0, maximum=MAX_TOLERANCE),
        usual="2**-50",
    ),
    "accept": Option(
        "--accept", "CODE", "a finding that is accepted, with --reason; give --accept again for each", several=True
    ),
    "reason": Option("--reason", "TEXT", "why they are accepted, which every later answer shows"),
    "update": Option("--update", "", "write FILE.json anew, showing first what changed"),
}
