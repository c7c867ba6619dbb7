"""What the scripts share that measure which positions a query sees in other stacks, by the window of the file.

Small models are built whose layers slide as their file says: all of them, and some of them. What was seen is written
into the table of the package, `stack-windows.json`: of each model_type how many positions more than the window of the
file its layers see that slide, `all` where they see everything, `refused` where the stack refuses such a file, and
`others` where other layers slide than those of the file. `mixed` is there where it differs for a file whose layers are
of several types, and `placed` where the stack lets the same layers slide whatever the file says: a letter for each, and
so on. They run in environments of their own, so nothing but the standard library is imported.
"""

import json
import re
from pathlib import Path

from tests.reference.freezing import write_date

TABLE = Path(__file__).parents[2] / "pe_spectra" / "models" / "measured" / "stack-windows.json"
#: Layers of a small model, and the windows that are tried.
LAYERS, TRIED = 6, (7, 10)
FULL, SLIDING = "full_attention", "sliding_attention"
#: The types of its layers: every one slides, or the second half, which is the pattern of no class.
ALIKE, MIXED = (SLIDING,) * LAYERS, (FULL, FULL, FULL, SLIDING, SLIDING, SLIDING)


def judge(seen):
    """The word or number for what was seen: of each window that was tried a type of layer and what each layer sees.

    None where the numbers follow no window.
    """
    found = set()
    for window, layers in seen.items():
        slide = {one for kind, one in layers if kind == SLIDING}
        if any(one is not None for kind, one in layers if kind != SLIDING):
            return "others"
        if len(slide) != 1:
            return "others" if None in slide else None
        (one,) = slide
        found.add("all" if one is None else one - window)
    return found.pop() if len(found) == 1 else None


def join(alike, mixed):
    """The entry of a model, of a word or number for each of the two kinds of files; None where one is not known."""
    if alike is None or mixed is None:
        return None
    return {"alike": alike, **({"mixed": mixed} if mixed != alike else {})}


def add_places(entry, kinds):
    """An entry that holds for layers of these types alone, S for those that slide."""
    return entry and {**entry, "placed": "".join("S" if kind == SLIDING else "F" for kind in kinds)}


def write_windows(stack, version, models):
    """Write what was measured of the models of a release into the table."""
    write_release(stack, version, {"models": dict(sorted(models.items()))})


def write_release(stack, version, found):
    """Write what is known of a release into the table, one model on a line."""
    table = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    release = {"date": write_date(), **found}
    table[stack] = dict(sorted({**table.get(stack, {}), version: release}.items()))
    text = json.dumps(dict(sorted(table.items())), indent=1)
    # what is said of one model stands on its line
    TABLE.write_text(re.sub(r"\{\s+([^{}]*?)\s+\}", _join_lines, text) + "\n", encoding="utf-8")
    print(stack, version, *(f"{len(one)} {name}" for name, one in found.items()))


def _join_lines(found):
    """Join the lines of an entry that has few."""
    inner = re.sub(r"\s*\n\s*", " ", found[1])
    return f"{{{inner}}}" if inner.count(":") <= 3 else found[0]
