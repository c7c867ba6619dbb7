"""The length that is allocated for a cache, by which some stacks choose the list of longrope, whatever is served of it.

`diff` and `audit` say so in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable

from pe_spectra.encodings.rope_scaling import choose_longrope_list
from pe_spectra.errors import InputError
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import list_releases


def check_allocated(allocated: int | None, length: int, served: int | None) -> None:
    """Refuse to serve more than is allocated; length is what is served, also where nobody asked for it.

    >>> check_allocated(4096, 1024, None)
    """
    if allocated is not None and allocated < length:
        accepted = f"{length} or more is accepted" if served else f"--served {allocated} or less goes with it"
        raise InputError("--allocated is below what is served", f"{allocated} and {length}", accepted)


def say_chosen(choosing: Iterable[str], allocated: int) -> str:
    """Name what goes by the length that is allocated.

    >>> say_chosen(["vLLM 0.33.0"], 131072)
    'chosen by the 131,072 positions that are allocated: vLLM 0.33.0'
    """
    return f"chosen by the {allocated:,} positions that are allocated: {', '.join(dict.fromkeys(choosing))}"


def say_unused(what: str) -> str:
    """Say that nothing goes by it, and where something would; what is "side" or "layer".

    >>> say_unused("side")[:61]
    '--allocated changes nothing here: no side chooses by it, as l'
    """
    of_longrope = [
        one.name for one in list_releases() if "longrope" in one.readings and one.readings["longrope"].by_allocation
    ]
    names = ", ".join(dict.fromkeys(of_longrope))
    return f"--allocated changes nothing here: no {what} chooses by it, as longrope's list is chosen in {names}"


def find_list(rotation: Rotation) -> str:
    """Return which list of longrope a rotation takes, by its key; empty of another scaling.

    >>> find_list(Rotation(scaling="longrope", options={"served": 3900, "original": 4096}))
    'short_factor'
    """
    served, original = (rotation.options.get(name) for name in ("served", "original"))
    if rotation.scaling != "longrope" or not isinstance(served, int) or not isinstance(original, int):
        return ""
    return choose_longrope_list(original, served)
