"""What a class has for positions besides a rotation, a bias that its keys name, and a table of words; measured.

tests/reference/transformers/schemes.py builds every class of a release and tells kinds by the names and shapes of what
it holds; `pe_spectra.models.measured` has what it found: where it is, how its sizes follow from keys, and the switch
that adds it. A class in which nothing was found has no positions of its own, or has them from the parts around it.
tests/reference/transformers/formulas.py runs what it found, and adds which encoding of the catalogue it computes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import BASES, LOCAL_BASES, SHARES, Keys
from pe_spectra.models.stated.known_models import load_schemes
from pe_spectra.models.stated.statement import MEASURED_SCHEMES, NEWEST, OLDER, SIZES, TRANSFORMERS, SchemeName
from pe_spectra.records import NamedTuple

SEVERAL_SCHEMES = Kind(
    code="several-schemes",
    levels=("note",),
    phrase="the model has positions in more than one way",
    reasoning="Speech models convolve and compare lags, vision models add a table and bias attention within windows. "
    "One of these ways is what is audited; the others change what the model can tell apart as well.",
    formula=f"kinds of parameters, buffers and modules found in the classes of the model (transformers {NEWEST})",
    references=(TRANSFORMERS,),
)
NO_SCHEME = Kind(
    code="no-position-scheme",
    levels=("note",),
    phrase="no position scheme was found in the model's classes",
    reasoning="Convolutions know where a neighbour is, and recurrences what came before; they need no encoding. That "
    "none was found is a measurement of names and shapes: a class that gets positions from outside has none either.",
    formula=f"no parameter, buffer or module of a kind that is known here in any class of the model_type "
    f"(transformers {NEWEST})",
    references=(TRANSFORMERS,),
)
UNKNOWN_TYPE = Kind(
    code="unknown-type",
    levels=("warning",),
    phrase="the type of the model is not known",
    reasoning="Code that a checkpoint brings along may read other keys, take other values where a file is silent, and "
    "pair channels in another way; the file does not say so. Of a type that is not known here all that is taken to be "
    "as in most classes.",
    formula=f"model_type is that of no class of transformers {NEWEST} or {OLDER}, and of none whose code was read",
    references=(TRANSFORMERS,),
)
#: What the sizes of a kind are called; those that are not here are left out.
_NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "learned": {"d": "d", "rows": "rows", "grid_height": "grid_height", "grid_width": "grid_width"},
        "sinusoidal": {"d": "d"},
        "sine-2d": {"d": "d"},
        "axial-tables": {"d": "d", "rows": "rows"},
        "transformer-xl": {"d": "d"},
        "shaw": {"rows": "distances"},
        "disentangled": {"d": "d"},  # three keys give its rows, by which of them are above 0
        "bucketed-bias": {"rows": "rows", "heads": "heads"},
        "window-bias": {"window": "window", "heads": "heads"},
        "offset-bias": {"rows": "rows", "heads": "heads"},
        "decomposed-bias": {"rows": "distances"},
        "relative-logits": {"rows": "distances"},
        "convolutional": {"rows": "kernel", "d": "d"},
    }
)


class FoundScheme(NamedTuple):
    """One way in which a class has positions.

    >>> find_schemes(Keys({"window_size": 8}, "config.json"), "swin")[0].values
    {'heads': 3, 'window': 8}
    >>> find_schemes(Keys({}, "config.json"), "xlnet")[0].made
    {'name': 'transformer-xl', 'layout': 'concatenated', 'd': 1024, 'rho': 10000.0}
    """

    name: SchemeName
    at: str  #: where it is in the model
    values: Mapping[str, int]  #: its sizes, by the names that audits have
    #: what it was measured to compute: an encoding of the catalogue with its parameters, or how far it reaches
    made: Mapping[str, int | float | str]
    elsewhere: str = ""  #: what other architectures of the model_type have of this kind, by another formula

    @property
    def formula(self) -> Mapping[str, int | float | str]:
        """The encoding of the catalogue that it was measured to be: its name and parameters; empty where it is none."""
        return self.made if "name" in self.made else {}

    @property
    def sizes(self) -> Mapping[str, int | float | str]:
        """All of its sizes."""
        return {**self.values, **{name: size for name, size in self.made.items() if name in SIZES}}


def asks_rotation(keys: Keys) -> bool:
    """Whether a key speaks of rotation.

    >>> asks_rotation(Keys({"rope_theta": 1e4}, "config.json")), asks_rotation(Keys({}, "config.json"))
    (True, False)
    """
    if keys.find_object("attn_config").find_truth("rope"):
        return True
    return keys.has_any(*BASES, *LOCAL_BASES, *SHARES, "rope_parameters", "rope_scaling", "rotary_dim")


def tell_how_known(model: str) -> str:
    """Say how it is known what the classes of a model_type have: measured, or read in their source; "" where it is not.

    >>> tell_how_known("resnet"), tell_how_known("dinat"), tell_how_known("no-such-model")
    ('measured', 'read', '')
    """
    found = load_schemes(model)
    return "" if found.get("has") is None else "read" if found.get("read") else "measured"


def read_size(keys: Keys, names: tuple[str, ...], axis: str, model: str) -> int:
    """Read the first of the names that is set, a positive integer; without, what the class of a model takes.

    Parameters
    ----------
    axis : "d" for a width, "heads" for a number of heads.

    Raises
    ------
    FileError : none is set and the class is not known, or it is no positive integer.

    >>> read_size(Keys({}, "config.json"), ("n_head",), "heads", "bloom")
    8
    """
    size: int | None = load_schemes(model).get("sizes", {}).get(axis)
    return keys.find_integer(*names) or size or keys.read_integer(*names)


def find_schemes(keys: Keys, model: str) -> tuple[FoundScheme, ...]:
    """Return in which ways the class of a model has positions with these keys, the one to be audited first.

    Raises
    ------
    FileError : a key that a size follows is no integer from 1 and no list of them.

    >>> [found.name for found in find_schemes(Keys({}, "config.json"), "wavlm")]
    ['bucketed-bias', 'convolutional']
    """
    applying = [one for one in load_schemes(model).get("has") or () if _applies(keys, one)]
    found = {
        one["kind"]: FoundScheme(
            name=one["kind"],
            at=one["at"],
            values={**_read_sizes(keys, one), **_read_terms(keys, one)},
            made=_read_made(keys, one),
            elsewhere=one.get("elsewhere", ""),
        )
        for one in reversed(applying)
        if one["kind"] in MEASURED_SCHEMES
    }
    return tuple(sorted(found.values(), key=lambda one: MEASURED_SCHEMES.index(one.name)))


def has_buckets(model: str, key: str) -> bool:
    """Whether the class of a model has learned biases by bucket of distance, and of a key how many buckets.

    >>> [has_buckets(model, "relative_attention_num_buckets") for model in ("mt5", "wavlm")]
    [True, False]
    """
    found = load_schemes(model).get("has") or ()
    return any(one["kind"] == "bucketed-bias" and one["rows"][0] == key for one in found)


def is_switched_off(keys: Keys, model: str, kind: str) -> bool:
    """Whether a key takes away what the class of a model has by default.

    >>> is_switched_off(Keys({"position_biased_input": False}, "config.json"), "deberta-v2", "learned")
    True
    """
    has = [one for one in load_schemes(model).get("has") or () if one["kind"] == kind]
    return bool(has) and not any(_applies(keys, one) for one in has)


def _applies(keys: Keys, fact: Mapping[str, Any]) -> bool:
    key, value = fact.get("if", (None, None))
    # null is a value here: a class without a word for positions has none
    taken_away = any(one in keys.found and keys.found[one] == other for one, other in fact.get("unless", ()))
    is_switched = key is None or keys.found.get(key) == value
    return not taken_away and is_switched and ("terms" not in fact or 1 in _read_terms(keys, fact).values())


def _read_terms(keys: Keys, fact: Mapping[str, Any]) -> dict[str, int]:
    """Which products with its vectors attention adds, each 1 or 0, where a key names them."""
    terms = fact.get("terms", {"key": "", "words": ()})
    stated = keys.found.get(terms["key"])
    named = terms.get("default") if terms["key"] not in keys.found else stated
    if isinstance(named, str):
        named = [one.strip() for one in named.lower().split("|")]
    return {word: int(isinstance(named, list | tuple) and word in named) for word in terms["words"]}


def _read_sizes(keys: Keys, fact: Mapping[str, Any]) -> dict[str, int]:
    names = _NAMES.get(fact["kind"], {})
    return {names[axis]: _read_size(keys, law) for axis, law in fact.items() if axis in names}


def _read_made(keys: Keys, fact: Mapping[str, Any]) -> dict[str, int | float | str]:
    """The first way to compute a scheme that these keys leave; empty without one."""
    for made in fact.get("made", ()):
        held = all(keys.found.get(key, value) in (None, value) for key, value in made.get("held", ()))
        found = {name: _follow(keys, law) for name, law in made.items() if name != "held"} if held else {}
        if None not in found.values() and found:
            return {name: value for name, value in found.items() if value is not None}
    return {}


def _follow(keys: Keys, law: Any) -> int | float | str | None:
    """A constant, or times key + plus rounded down, None where the key is not above 0; of several laws the first."""
    if not isinstance(law, list):
        constant: int | float | str = law
        return constant
    if isinstance(law[0], list):
        return next((found for one in law if (found := _follow(keys, one)) is not None), None)
    key, times, plus, default = law
    first = _take_first(keys, key, default)
    if not isinstance(first, int | float) or isinstance(first, bool) or not math.isfinite(first):
        keys.refuse(key, "a number or a list of them is accepted")
    if first <= 0:
        return None
    return float(first) if isinstance(first, float) else math.floor(times * first + plus)


def _read_size(keys: Keys, law: int | list[Any]) -> int:
    """A number, or times key + plus; of a grid of patches the picture over the patch."""
    if isinstance(law, int):
        return law
    key, times, plus, default, *patch = law
    size = _read_first(keys, key, default)
    if patch:
        side = _read_first(keys, *patch)
        if side > size:
            keys.refuse(key, f"a size from that of a patch, {side}, is accepted")
        size //= side
    return int(times * size + plus)


def _read_first(keys: Keys, key: str, default: int) -> int:
    first = _take_first(keys, key, default)
    if not isinstance(first, int) or isinstance(first, bool) or first < 1:
        keys.refuse(key, "an integer from 1 or a list of them is accepted")
    return first


def _take_first(keys: Keys, key: str, default: object) -> object:
    """The value of a key, of a list the first; the default where it is not set."""
    value = keys.found.get(key)
    first = value[0] if isinstance(value, list) and value else value
    return default if first is None else first


def opts_out(keys: Keys, key: str, value: str | bool) -> bool:
    """Whether a model that can be rotary is not: its class turns only where a key has a certain value.

    >>> opts_out(Keys({"alibi": True}, "config.json"), "alibi", False)
    True
    """
    asked = keys.found.get(key)
    # false is what a class takes for a switch that is not set
    return value is not False if asked is None else asked != value
