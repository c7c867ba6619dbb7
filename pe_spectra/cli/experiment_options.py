"""The options and arguments of experiments, as :mod:`pe_spectra.cli.options` has those of others."""

from __future__ import annotations

from collections.abc import Mapping

from pe_spectra.cli.declaring import Option
from pe_spectra.names import ENCODING_CLASSES
from pe_spectra.numbers import Choice, IntegerRange
from pe_spectra.vocabulary import ARMS, NORMS, QUICK_ARMS, QUICK_TASKS, TASKS

#: By names of their own.
OPTIONS: Mapping[str, Option] = {
    "tasks": Option(
        "--tasks",
        "",
        f"what networks are taught  [all; quick: {' '.join(QUICK_TASKS)}]",
        Choice(members=TASKS),
        several=True,
    ),
    "arms": Option(
        "--arms",
        "SPEC...",
        f"encodings to compare, or none  [{' '.join(ARMS)}; quick: {' '.join(QUICK_ARMS)}]",
        several=True,
        words=("none", *ENCODING_CLASSES),
    ),
    "norms": Option(
        "--norms",
        "",
        "vectors as the encoding has them, or scaled to the norm of the sinusoid  [both]",
        Choice(members=NORMS),
        several=True,
    ),
    "seeds": Option(
        "--seeds", "N", "networks of each kind, 1 to 1000  [10; quick: 3]", IntegerRange(minimum=1, maximum=1000)
    ),
    "lengths": Option(
        "--lengths",
        "N...",
        "positions of a window, 16 to 512  [32]",
        IntegerRange(minimum=16, maximum=512),
        several=True,
    ),
    "workers": Option(
        "--workers", "N|dask:tcp://HOST:PORT", "processes, or the workers of a Dask scheduler  [all processors]"
    ),
    "quick": Option("--quick", "", "a small form, within minutes: one learning rate, fewer passes, tasks, arms, seeds"),
    "output:results": Option(
        "--output", "FILE", "where each result is a line; a .csv file that is there is gone on with"
    ),
    "results": Option("results", "[RESULTS]", "the file that `experiment run` wrote  [the study of this version]"),
    "runs": Option(
        "--runs", "N", "networks to train again, 0 to 1000", IntegerRange(minimum=0, maximum=1000), default="3"
    ),
    "seed": Option(
        "--seed", "N", "of the draw of these networks", IntegerRange(minimum=0, maximum=2**31 - 1), default="0"
    ),
    "by_number": Option("--by-number", "", "a row and a panel for each of our numbers, in place of each arm"),
    "data": Option(
        "--data", "FORM:PLACE", "smd:FOLDER, msl:FOLDER, smap:FOLDER, ett:FILE, ucr:FILE.ts, table:FILE --label COLUMN"
    ),
    "label": Option("--label", "COLUMN[=CLASS]", "of a table, the column of classes, and which is looked for"),
    "length:window": Option(
        "--length", "N", "rows of a window, 16 to 512  [32; of cases all]", IntegerRange(minimum=16, maximum=512)
    ),
    "stride": Option("--stride", "N", "rows to the next window  [half a window]", IntegerRange(minimum=1, maximum=512)),
    "resume": Option("--resume", "", "go on with FILE, which must be there  [if it is there]"),
    "no_resume": Option("--no-resume", "", "begin FILE, which must have no results yet"),
}
