"""What is found in the tables of the corpus, beside what is in them.

.venv/bin/python -m tests.inspection.confusion writes the table of docs/reading-tables.md anew (two minutes);
.venv/bin/python -m tests.inspection.confusion 20 KIND.. prints in which tables of the first 20 seeds of these kinds,
or of all, something is missed or false.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pe_spectra.inspection.anatomy import dissect
from pe_spectra.inspection.diagnosis import find_in_table
from pe_spectra.inspection.periods import find_periods
from pe_spectra.inspection.table_portrait import recognise
from tests.inspection.corpus import KINDS, Case, Line, Truth, list_facts, make
from tests.places import ROOT

PAGE = ROOT / "docs" / "reading-tables.md"
TABLE = re.compile(r"<!-- corpus -->\n.*?<!-- /corpus -->", re.DOTALL)
#: Seeds that the page is about; what every kind in which nothing is planted begins with.
SEEDS, SOUND = range(20), "sound: "
#: Of kinds that lie at the edge of what can be found, 20 do not tell 95 % from 85 %; how their names end.
MANY_SEEDS, WEAK = range(100), "by 5 to 9 %"

#: A period is right within this part of it, and where a line that drifts begins and ends, or within so many cycles over
#: the table: at its ends few of its turns tell.
RIGHT, RIGHT_ENDS, RIGHT_CYCLES = 0.02, 0.05, 0.5
PERIOD = "period"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One table: what was found, what of the truth was missed, and what is false of what was found."""

    kind: str
    seed: int
    found: tuple[str, ...]
    missed: tuple[str, ...]
    false: tuple[str, ...]


def is_met(truth: Truth, finding) -> bool:
    """Whether a finding says what was planted: its code, its rows, its numbers."""
    if finding.code not in truth.codes:
        return False
    if truth.rows is not None:
        rows = [row for one in finding.rows for row in (one if isinstance(one, tuple) else (one,))]
        ends = (rows[0], rows[-1]) if rows else (-1, -1)
        if any(abs(a - b) > truth.within for a, b in zip(ends, truth.rows, strict=True)):
            return False
    wanted = dict(truth.data)
    axes = wanted.pop("axes", [])
    found = [(axis["old"], axis["new"]) for axis in finding.data.get("axes", ())]
    if axes and found != [(axis["old"], axis["new"]) for axis in axes]:
        return False
    named = zip(axes, finding.data["axes"], strict=True) if axes else ()
    return all(one["way"] in axis["ways"] for one, axis in named) and all(
        finding.data[name] == value for name, value in wanted.items()
    )


def is_line(line: Line, one, rows: int) -> bool:
    """Whether a period that was found in so many rows is the planted one."""

    def agree(planted, found, part, cycles=0.0):
        if planted is None or found is None:
            return planted is found
        return abs(1 / found - 1 / planted) <= max(part / abs(planted), cycles / rows)

    if line.drift is not None:
        return one.drift is not None and all(
            agree(*ends, RIGHT_ENDS, RIGHT_CYCLES) for ends in zip(line.drift, one.drift, strict=True)
        )
    found = one.along if len(line.along) > 1 else (one.period,)
    # a wave and its opposite are one
    turned = tuple(along and -along for along in found)
    return one.drift is None and any(
        all(agree(a, b, RIGHT) for a, b in zip(line.along, way, strict=True)) for way in (found, turned)
    )


def judge(kind: str, seed: int) -> Judged:
    """Look at one table of the corpus; its findings are those of `inspect_table`.

    A formula is looked for where there is one: the search takes long, and another table has none that is exact.
    """
    case = make(kind, seed)
    grid, prefix = case.options.get("grid"), case.options.get("prefix", 0)
    looked = {"grid": grid, "prefix": prefix}
    anatomy = recognise(case.table, **looked)[0] if case.is_formula else dissect(case.table, **looked)
    findings = find_in_table(anatomy)
    missed = ["/".join(sorted(t.codes)) for t in case.truth if not any(is_met(t, one) for one in findings)]
    true = case.also | list_facts(case.table)
    wanted = {one.code for one in findings if any(is_met(truth, one) for truth in case.truth)}
    false = [one.code for one in findings if one.code not in true | wanted]
    lines = judge_lines(case, grid, prefix)
    return Judged(
        kind=kind,
        seed=seed,
        found=(*(one.code for one in findings), *lines[0]),
        missed=(*missed, *lines[1]),
        false=(*false, *lines[2]),
    )


def judge_lines(case: Case, grid, prefix) -> tuple[list[str], list[str], list[str]]:
    """Found, missed and false periods, where the corpus knows them."""
    if case.lines is None:
        return [], [], []
    found, rows = find_periods(case.table[prefix:], grid).dominant, len(case.table) - prefix
    missed = [line for line in case.lines if not any(is_line(line, one, rows) for one in found)]
    false = [one for one in found if not any(is_line(line, one, rows) for line in case.lines)]
    return (
        [PERIOD] * bool(found),
        [f"{PERIOD} {one}" for one in missed],
        [f"{PERIOD} {one.along} {one.drift}" for one in false],
    )


# ----------------------------------------------------------------------------------- the page


def list_planted() -> list[str]:
    """The kinds in which something is planted."""
    return [kind for kind in KINDS if not kind.startswith(SOUND)]


def list_sound() -> list[str]:
    """The kinds in which nothing is."""
    return [kind for kind in KINDS if kind.startswith(SOUND)]


def list_seeds(kind: str) -> range:
    """The seeds of a kind that the page is about."""
    return MANY_SEEDS if kind.endswith(WEAK) else SEEDS


def count(words: Iterable[str]) -> str:
    """Words with how often each is there, the commonest first."""
    return ", ".join(f"{word} {times}" for word, times in Counter(words).most_common())


def write_table(judging: Callable[[str, int], Judged]) -> str:
    """One line for each kind: in how many tables all was found, and what was found in the others, or beside it."""
    lines = ["| what is planted | tables | found | found instead | found beside it, wrongly |", "|---|---|---|---|---|"]
    total = Counter()
    for kind in (*list_planted(), *list_sound()):
        judged = [judging(kind, seed) for seed in list_seeds(kind)]
        missed = [one for one in judged if one.missed]
        false = count(code.split()[0] for one in judged for code in set(one.false))
        found = "" if kind.startswith(SOUND) else f"{len(judged) - len(missed)}"
        instead = count(" and ".join(one.found) or "nothing" for one in missed)
        lines.append(f"| {kind} | {len(judged)} | {found} | {instead} | {false} |")
        sound = kind.startswith(SOUND)
        total[sound, "tables"] += len(judged)
        total[sound, "missed"] += len(missed)
        total[sound, "false"] += sum(bool(one.false) for one in judged)
    planted, sound = ([total[one, name] for name in ("tables", "missed", "false")] for one in (False, True))
    lines.append(f"| all with something planted | {planted[0]} | {planted[0] - planted[1]} | | in {planted[2]} |")
    lines.append(f"| all sound ones | {sound[0]} | | | in {sound[2]} |")
    return "\n".join(lines) + "\n"


def write_page(text: str, judging: Callable[[str, int], Judged] = judge) -> str:
    """The page with its table made anew."""
    return TABLE.sub(lambda _: f"<!-- corpus -->\n{write_table(judging)}<!-- /corpus -->", text)


def main(arguments: list[str]) -> None:
    """Write the page anew; or print where something is missed or false in these kinds, and how often."""
    if not arguments:
        PAGE.write_text(write_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    seeds = range(int(arguments[0])) if arguments else ()
    for kind in arguments[1:] or (KINDS if arguments else ()):
        missed = false = 0
        for seed in seeds:
            one = judge(kind, seed)
            missed += bool(one.missed)
            false += bool(one.false)
            if one.missed or one.false:
                said = (", ".join(words) or "-" for words in (one.found, one.missed, one.false))
                print("  {} | seed {} | found {} | missed {} | false {}".format(kind, seed, *said))
        print(f"{kind}: missed {missed}, false {false} of {len(seeds)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
