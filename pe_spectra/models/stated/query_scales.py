"""A factor on queries that goes by their position, as some classes have it for long contexts; measured.

tests/reference/transformers/query_scales.py runs a small model of each class of a release and compares the norms of
queries at many positions; `pe_spectra.models.measured` has the form that was found, and the keys of its two numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pe_spectra.findings import Kind
from pe_spectra.models.rotation import NONE
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.loading import TYPES, VALUE_REFUSED, tell_value
from pe_spectra.models.stated.statement import NEWEST, TRANSFORMERS
from pe_spectra.records import NamedTuple
from pe_spectra.wording import write_number

_QUERY_SCALE = Kind(
    code="query-scale",
    levels=("note", "error"),
    phrase="queries are multiplied by a factor that goes by their position",
    reasoning="Attention over more keys is flatter. Some classes sharpen it: they multiply a query by a factor that "
    "grows with its position, which scores have too. No frequency shows it, and a port without it agrees up to the "
    "position at which it begins. An error where a block lacks a key that the factor is computed from: the class is "
    "made of such a file, and its first pass fails.",
    formula="steps: 1 + a ln(1 + floor(s/n)); beyond: 1 + a ln(max(s/n, 1)); power: (1 + s/n)^a; s the position, or "
    f"the position + 1; measured by the norms of queries (transformers {NEWEST})",
    references=(TRANSFORMERS, "Nakanishi 2025, arXiv:2501.19399 (scalable softmax)"),
)


#: The formula by the name of a form: s the position, a the strength, n the length.
_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "steps": "1 + {a} ln(1 + floor({s}/{n}))",
        "beyond": "1 + {a} ln(max({s}/{n}, 1))",
        "power": "(1 + {s}/{n})^{a}",
    }
)


class QueryScale(NamedTuple):
    """A factor on queries by their position.

    >>> scale = QueryScale("steps", strength=0.1, length=8192, offset=1)
    >>> scale.text, scale.begins, round(scale.compute(131071), 4)
    ('1 + 0.1 ln(1 + floor((s + 1)/8192))', 8191, 1.2833)
    """

    form: str  #: steps, beyond or power
    strength: float
    length: int  #: in positions
    offset: int = 0  #: added to the position
    layers: str = "all"  #: or unturned, for those without a rotation, or a layer type

    def compute(self, position: int) -> float:
        """The factor at a position >= 0."""
        ratio = (position + self.offset) / self.length
        if self.form == "steps":
            return 1 + self.strength * math.log1p(math.floor(ratio))
        if self.form == "beyond":
            return 1 + self.strength * math.log(max(ratio, 1.0))
        return math.pow(1 + ratio, self.strength)

    @property
    def begins(self) -> int:
        """The first position at which it is not 1."""
        place = {"steps": self.length, "beyond": self.length + 1}.get(self.form, 1)
        return max(0, place - self.offset)

    @property
    def text(self) -> str:
        """Its formula, s the position, and the layers that have it."""
        s = f"(s + {self.offset})" if self.offset else "s"
        formula = _TEXTS[self.form].format(a=write_number(self.strength), s=s, n=self.length)
        where = {"all": "", "unturned": " in layers without a rotation"}
        return formula + where.get(self.layers, f" in {self.layers} layers")


def read_query_scale(keys: Keys, model: str, measured: Mapping[str, Any], length: int | None) -> str:
    """Return the formula of the factor that a class has with the keys of a file, and report it; none for no factor.

    Parameters
    ----------
    model : the class's model_type. measured : what was found of it. length : the context length that is stated, in
    positions; None for none.

    >>> from pe_spectra.models.stated.known_models import find_known
    >>> keys = Keys({"floor_scale": 16384}, "config.json")
    >>> read_query_scale(keys, "llama4_text", find_known("llama4_text").query_scale, 65536)
    '1 + 0.1 ln(1 + floor((s + 1)/16384)) in layers without a rotation'
    >>> round(keys.findings[0].data["factor"], 4)
    1.1609
    """
    if keys.release == NEWEST:  # of an older release this is not measured
        _report_refused(keys, measured.get("refused", {}), model)
    _report_lacking(keys, measured)
    n, a = (_read_value(keys, *measured[name], off=measured.get("off")) for name in ("length", "strength"))
    blocks = keys.found.get("rope_parameters")
    if isinstance(blocks, Mapping) and isinstance(blocks.get(measured["layers"]), Mapping):
        return NONE  # layers without a rotation have it, and these have one
    if not n or not a or n < 1 or not all(keys.found.get(key, True) for key in measured.get("switch", ())):
        return NONE
    found = QueryScale(measured["form"], a, int(n), measured["offset"], measured["layers"])
    last = None if length is None else length - 1
    told = f"1 before position {found.begins:,}" if found.begins else "from the first position on"
    if last is not None:
        reached = f", {found.compute(last):.4g} at {last:,}"
        told += reached if last >= found.begins else f", which {length:,} positions do not reach"
    keys.report(
        _QUERY_SCALE,
        f"queries are multiplied by {found.text}, s the position: {told}",
        **found._asdict(),
        begins=found.begins,
        last_position=last,
        factor=None if last is None else found.compute(last),
    )
    return found.text


def _report_refused(keys: Keys, refused: Mapping[str, Any], model: str) -> None:
    """Report keys of a type that a class refuses, by the names of types for each key."""
    for key, types in refused.items():
        if key in keys.found and TYPES.get(type(keys.found[key])) in types:
            keys.report_refused(VALUE_REFUSED, f"{keys.where}{key}", tell_value(keys.found[key]), model)


def _read_value(keys: Keys, path: str, default: float, *, off: str | None) -> float | None:
    """One number of it by the path of its key: what the file states, else the default of the class.

    Parameters
    ----------
    off : a key without a default, which switches the factor on.
    """
    *block, key = path.split(".")
    stated: object = keys.found
    if block:  # a block of the file stands for all of that of the class
        stated = keys.found.get("rope_parameters") or keys.found.get("rope_scaling") or {key: default}
    value = stated.get(key, None if block or path == off else default) if isinstance(stated, dict) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _report_lacking(keys: Keys, measured: Mapping[str, Any]) -> None:
    """Report a key of the block that the factor is computed from and that the block lacks."""
    block = keys.found.get("rope_parameters") or keys.found.get("rope_scaling") or {}
    for path in measured.get("needed", ()) if isinstance(block, dict) and block else ():
        key = path.rpartition(".")[2]
        if block.get(key) is None:
            name = f"{keys.where}{path}"
            message = f"{name} is not set, and queries are multiplied by what it gives: the first pass fails"
            keys.report(_QUERY_SCALE, message, level="error", key=name)
