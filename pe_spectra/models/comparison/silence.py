"""What one side of a comparison does not say, and why."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pe_spectra.models.comparison.divergence import Unknown
from pe_spectra.models.comparison.sides import Sides
from pe_spectra.models.rotation import NONE, Rotation, is_dump

#: Parts that few models have: what one side does not say is unknown only where the other has it.
_RARE = ("query_scale", "dual_chunk")
#: How a module that was called gives each pair twice -> what that says of the layout: models of GLM pair 2i and 2i + 1,
#: and their modules give halves.
_REPEATS = {
    "half": "; its rows have each value again half a row later, as those of models of either layout",
    "interleaved": "; its rows have each value twice side by side, as pairs 2i and 2i + 1 have it",
    None: "",
}


def list_unknown(sides: Sides) -> Iterator[Unknown]:
    """List the parts that one side does not say.

    >>> from pe_spectra.models.comparison.divergence import compare_frequencies
    >>> a, b = (Rotation(frequencies=np.ones(1), layout=layout, offset=0) for layout in ("half", None))
    >>> [one.what for one in list_unknown(Sides(a=a, b=b, layer=compare_frequencies("all", a, b, 8)))]
    ['layout']
    """
    a, b = sides.a, sides.b
    names = ["layout", "attention_scaling", "offset", "dtype"]
    if sides.layer.agree is None:
        names = ["frequencies", *names]
    elif not sides.layer.agree and a.rotary_dim and b.rotary_dim:
        names = ["base", "scaling", *names]
    names += [name for name in _RARE if {getattr(a, name), getattr(b, name)} - {None, NONE}]
    for name in names:
        values = [name_cosine_dtype(side) if name == "dtype" else getattr(side, name) for side in (a, b)]
        silent = {letter: side for letter, side, value in zip("AB", (a, b), values, strict=True) if value is None}
        # two files that are silent alike do not contradict each other
        if not silent or (len(silent) == 2 and not sides.dumps):
            continue
        shown = [None, None] if name == "frequencies" else values
        why = "; ".join(dict.fromkeys(_explain_silence(name, letter, side) for letter, side in silent.items()))
        yield Unknown(what=name, a=shown[0], b=shown[1], why=why)


def _explain_silence(name: str, letter: str, side: Rotation) -> str:
    if not is_dump(side):
        if name == "query_scale":
            return f"whether {letter} multiplies queries so was not measured"
        no_type = "a configuration does not say the type of cosines and sines"
        return no_type if name == "dtype" else f"{letter} does not say"
    if name in ("base", "scaling"):
        alone = np.count_nonzero(side.frequencies) < 2
        return "one pair alone does not say" if alone else f"no published scaling fits the frequencies of {letter}"
    if side.kind == "frequencies":
        return "a dump of inv_freq does not say"
    if name == "layout" and side.kind == "call":
        return f"what a module gives does not say how it is applied{_REPEATS[side.repeats]}"
    if name == "layout":
        how = "with cosines and sines side by side" if side.arrangement else "with one column for each pair"
        return f"a cache {how} does not say"
    return "no one integer fits the phases of the first row" if name == "offset" else "the cache does not say"


def name_cosine_dtype(rotation: Rotation) -> str | None:
    """Return the type of cosines and sines; a dump of frequencies does not say it.

    >>> name_cosine_dtype(Rotation(dtype="bfloat16"))
    'bfloat16'
    """
    return None if is_dump(rotation) and rotation.kind == "frequencies" else rotation.dtype
