"""What the class of a rotary model takes where its configuration says nothing, reads and refuses.

A config.json names its model_type; transformers' class of that name fills in what the file leaves out, and the code
decides how channels are paired. Both are measured: tests/reference/transformers/probe.py builds each class of a
release and changes one key at a time, and the tables in `pe_spectra.models.measured` have what it found.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pe_spectra.models.stated.statement import DEFAULT_BASE, NEWEST, OLDER
from pe_spectra.records import dataclass

_MEASURED = Path(__file__).parents[1] / "measured"
#: A block of rotary keys, as in rope_parameters, flat or nested by layer type.
_Block = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class KnownModel:
    """What the class of one rotary model takes where the file says nothing.

    >>> KnownModel().default_base, KnownModel(layout="interleaved").layout
    (10000.0, 'interleaved')
    """

    default_base: float = DEFAULT_BASE
    local_base: float | None = None  #: of sliding-window layers, where it is one of their own
    compressed_base: float | None = None  #: of compressed layers (compress_rope_theta), which alone are scaled
    base_key: str = "rope_theta"  #: the older key of the base that is read; "": none is
    local_key: str = ""
    share: float = 1.0  #: of a head, that is turned
    share_key: str = "partial_rotary_factor"
    reads_share: bool = False  #: a plain ladder is narrowed by partial_rotary_factor; others turn all channels
    share_beside: tuple[str, ...] = ()  #: the blocks beside which that key counts; (): it counts by itself too
    null_share: float | None = None  #: what a share that is null means, where it is not that of the class
    share_fixed: bool = False  #: no share is read, whatever the scaling
    flat_share: bool = True  #: a flat block may have a share, where those by layer type may
    #: of a file's blocks by layer type without one: if plain, if scaled
    block_shares: _Block = field(default_factory=dict)
    joint_shares: bool = False  #: a plain block among scaled ones has the share of these
    older_share: float | None = None  #: of rope_scaling without one, where it is not that of the class
    turns_null: bool = False  #: a type of layer whose block is null has that of the class; others are not turned
    turns_by_base: bool = False  #: nothing is turned where its block has no base of its own: null, or blocks by type
    #: of a type of layer, a key that has the width that is turned there alone
    type_keys: _Block = field(default_factory=dict)
    #: by type, the key, if any, and the width of the head that it is of
    proportional: _Block = field(default_factory=dict)
    whole_blocks: tuple[str, ...] = ()  #: types of layers: blocks by type are read only where each of these has one
    #: which of rope_scaling and blocks by type of layer is read where a file has both; "": each adds to the other
    both: Literal["", "older", "newer", "refused"] = ""
    reads_original: bool = True  #: original_max_position_embeddings beside a flat block is read
    width_key: str = ""  #: a key that has the rotary width itself
    rotary_width: int | None = None  #: that width where the file has none
    unset_rotary: bool = False  #: that key 0, or null, is the width of all heads, which is more than a head has
    head_keys: tuple[str, ...] = ("head_dim",)  #: keys that have the width that is turned, the first that is set
    head_dim: int | None = None  #: that width where the file has none; None: hidden over heads
    null_head: bool = False  #: head_dim null is hidden over heads, whatever the class has without that key
    part_key: str = ""  #: a key that has the width of the part that is turned, which gives the share
    beside: int | None = None  #: width of the other part (key qk_nope_head_dim), which is added to give a head's
    strided: bool = False  #: every second frequency comes first, and the others behind them
    full_head_dim: int | None = None  #: in full-attention layers, where it differs (key global_head_dim)
    least_width: int = 0  #: that heads are turned by that are narrower, where their width is computed
    hidden_key: str = ""  #: a key for the hidden width that stands for that of other classes
    heads_key: str = ""
    hidden: int | None = None  #: the hidden width where the file has none
    heads: int | None = None  #: the number of heads where the file has none
    axes: int = 1  #: of a grid; each turns its part of a head with the same ladder
    one_axis: bool = False  #: of these axes there is one, and the other channels rest
    axis_step: int = 1  #: the channels of an axis are a multiple of this, and others rest
    grid_span: float | None = None  #: angle from end to end of a frequency of 1, whatever the patches; None: by patch
    layout: Literal["half", "interleaved"] = "half"  #: pairs (i, i + D/2), or pairs (2i, 2i + 1)
    obeys_interleave: bool = False  #: the key rope_interleave decides the layout; other classes ignore it
    layers: tuple[str, ...] = ()  #: the type of each layer, repeated, where no layer_types are given; (): all alike
    period_key: str = ""  #: a key that replaces the length of that pattern, its one full layer kept first or last
    last_full: bool = False  #: the last layer is one of full attention whatever the pattern is
    needs_window: bool = False  #: layers that slide are refused where the file has no sliding_window
    window: int | None = None  #: longest lag + 1 of sliding layers; of all layers where these are alike
    #: what a query sees of a window W by its key: (W + a) // d + b positions before it, and after it where it sees any;
    #: with the key and value that switch it, if any. The first is also that of `window`; empty: W - 1 before it
    sees: tuple[_Block, ...] = ()
    reads_window: bool = True  #: its code names a key of windows; where it does not, none is read
    switched: bool = False  #: the window applies only with use_sliding_window true
    window_from: int | None = None  #: layers before this one do not slide, unless max_window_layers says another
    slides_before: bool = False  #: every second layer before it slides, the first too, and none from it on
    unturned: tuple[str, ...] = ()  #: the types of layers that are not turned
    nope_every: int | None = None  #: layer i is not turned where i + 1 is a multiple, unless no_rope_layers say so
    scaling: _Block = field(default_factory=dict)  #: the block that is taken where the file has none
    null_scaling: bool = False  #: rope_scaling that is null leaves that out
    only_if: tuple[str, str | bool] | None = None  #: a key and the value with which the model is rotary at all
    length: int | None = None  #: max_position_embeddings where the file has none
    original: int | None = None  #: original_max_position_embeddings beside the block where the file has none
    by_type: bool = False  #: rope_parameters is read by layer type although all have one base; see `is_layered`
    refuses_flat: bool = False  #: rope_parameters that are not nested by layer type are refused
    takes_flat: bool = False  #: such a block serves every type of layer; where it is neither, it is ignored
    refuses_older: bool = False  #: rope_scaling is refused
    older_everywhere: bool = False  #: rope_scaling serves every type of layer, not full attention only
    refuses_type: bool = False  #: rope_scaling that names its scaling by type alone is refused
    needs_original: tuple[str, ...] = ()  #: blocks refused with a scaling that lacks the length before it
    needs_block: bool = False  #: a file without rope_scaling is refused
    shared: int | None = None  #: layers at the end (key num_kv_shared_layers) that need an earlier one of their type
    reads_blocks: bool = True  #: rope_parameters and rope_scaling are read at all
    base_only: bool = False  #: of them the base alone is: no scaling is computed
    reads_older: bool = True  #: rope_scaling is read
    base_types: tuple[str, ...] = ()  #: of its own blocks by layer type, those that a base on top replaces that of
    divides: bool = False  #: hidden widths that are no multiple of the heads are refused
    needs: tuple[str, ...] = ()  #: keys that a block must have, or a nested one for each type of layer
    sections: tuple[int, ...] = ()  #: of mrope, where the file has none; they must cover the pairs
    axis_sections: tuple[int, ...] = ()  #: the same, where they need not cover them
    axis_order: str = "blocks"  #: in what order pairs go to the axes of a position
    short_only: bool = False  #: the short list of longrope serves every length
    factor_key: str = ""  #: a key of longrope's block that has the attention factor
    unnamed_refused: bool = False  #: of a model of several parts: one without its model_type is refused
    refused: tuple[str, ...] = ("mrope",)  #: each rope_type that the class does not build
    takes_axial: bool = False  #: the rope_type axial is built, and is what default is; others refuse it
    refused_without_head: tuple[str, ...] = ()  #: those that it builds only where head_dim is stated
    inner_base: tuple[str, ...] = ()  #: scalings that are refused where a base stands on top of rope_scaling
    built_with_length: tuple[str, ...] = ()  #: of `refused` those that it builds where the file states its length
    model: str = ""  #: model_type as the file has it
    part_model: str = ""  #: model_type of the class that reads the text part; `model` where there is one part
    parts: tuple[str, ...] = ()  #: of a model of several parts, the keys that lead to the one that reads text
    is_known: bool = False  #: whether there is such a class
    has_schemes: bool = True  #: something beside a rotation may be listed of it in the table of schemes
    query_scale: _Block | None = None  #: a factor on queries by their position; empty: it has none, None: not run

    @property
    def is_layered(self) -> bool:
        """Whether the class reads rope_parameters by layer type, and rope_scaling for full attention only."""
        return self.by_type or self.local_base is not None or self.compressed_base is not None

    @property
    def ignores_flat(self) -> bool:
        """Whether it reads nothing of rope_parameters that are not nested, nor the name `type` in rope_scaling."""
        return (self.by_type or self.local_base is not None) and not self.takes_flat

    def keeps_block(self, found: Mapping[str, Any]) -> bool:
        """Whether the keys of a file without a block leave that of the class.

        >>> [find_known("gpt_oss", release).keeps_block({"rope_scaling": None}) for release in (NEWEST, OLDER)]
        [True, False]
        """
        return not (self.null_scaling and "rope_scaling" in found)

    def take_length(self) -> KnownModel:
        """Return what it does with a file that states its length: some scalings are refused only without one.

        >>> KnownModel(refused=("yarn", "longrope"), built_with_length=("yarn",)).take_length().refused
        ('longrope',)
        """
        return replace(self, refused=tuple(one for one in self.refused if one not in self.built_with_length))

    def see(self, size: int, key: str | None, found: Mapping[str, Any]) -> tuple[int, tuple[int, int] | None]:
        """Return the longest lag + 1 that a query sees of a window, and its two sides where it sees what comes after.

        Parameters
        ----------
        size : the window. key : that has it, None for the default of the class. found : the keys of the file.

        >>> find_known("modernbert").see(128, "local_attention", {}), KnownModel().see(128, None, {})
        ((65, (64, 64)), (128, None))
        """
        laws = (one for one in self.sees if key in (None, one["key"]))
        laws = (one for one in laws if "if" not in one or found.get(one["if"][0]) == one["if"][1])
        law = next(laws, {"before": (0, 1, -1)})
        seen = [max(0, (size + a) // d + b) for a, d, b in (law[side] for side in ("before", "after") if side in law)]
        return max(seen) + 1, (seen[0], seen[1]) if len(seen) > 1 else None


#: Code that checkpoints bring along, read by hand; no release of transformers has it.
_REMOTE: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        **{name: {"only_if": ("alibi", False)} for name in ("RefinedWeb", "RefinedWebModel")},
        **{name: {} for name in ("baichuan", "deepseek", "exaone", "internlm", "internlm2", "minicpm")},
        "chatglm": {"share": 0.5, "layout": "interleaved", "reads_share": True},
        "kimi_k2": {"layout": "interleaved", "head_keys": ("qk_rope_head_dim", "head_dim"), "head_dim": 64},
        "qwen": {
            "head_keys": ("head_dim", "kv_channels"),
            "base_key": "rotary_emb_base",
            "share_key": "rotary_pct",
            "reads_share": True,
        },
    }
)


#: What the name of a release is followed by in that of the table of what its classes refuse.
REFUSALS = "-refusals"
#: The parts of a table that name classes.
_SECTIONS = ("classes", "parts", "composites")


@cache
def read_measured(name: str) -> Mapping[str, Any]:
    """Read the table of a release, when it is asked for and once: version, date, and what was measured of each class.

    >>> sorted(read_measured("timm-1.0.31"))
    ['classes', 'date', 'learned', 'version']
    """
    found: Mapping[str, Any] = json.loads((_MEASURED / f"{name}.json").read_bytes())
    return found


def find_looked_at(found: Mapping[str, Any], *, is_last: bool) -> str:
    """Return the rotary block of a file that a class looks at: the older one where it is set, or the last of both.

    Parameters
    ----------
    found : the keys of the file, in its order.
    is_last : whether the class was measured to look at the last (`last_block` of the table of refusals).

    >>> found = {"rope_scaling": {"type": "linear"}, "rope_parameters": None}
    >>> [find_looked_at(found, is_last=is_last) for is_last in (False, True)]
    ['rope_scaling', 'rope_parameters']
    """
    last = [key for key in found if key in ("rope_scaling", "rope_parameters")][-1:]
    is_newer = last == ["rope_parameters"] if is_last else not found.get("rope_scaling")
    return "rope_parameters" if is_newer else "rope_scaling"


@cache
def load_table(release: str) -> Mapping[str, Any]:
    """Return what was measured of a release of transformers: version, date, `classes` and `parts`.

    `NEWEST-schemes` names a table beside that of the newest, `RELEASE-refusals` one beside that of each release. The
    file of an older release has what differs from the table that it names under `beside`, as a merge patch (RFC 7396):
    null for what is not there.

    >>> load_table("5.24.0")["classes"]["llama4_text"]["nope_every"]
    4
    """
    found = read_measured(f"transformers-{release}")
    return patch(load_table(found["beside"]), found) if "beside" in found else found


def load_schemes(model: str) -> Mapping[str, Any]:
    """Return what was found of the ways in which the classes of a model_type have positions; empty of others.

    >>> load_schemes("bloom")["sizes"]["heads"]
    8
    """
    found: Mapping[str, Any] = load_table(f"{NEWEST}-schemes")["types"].get(model, {})
    return found


def choose_table(model_type: str, release: str) -> Mapping[str, Any]:
    """Return the table of a release; that of the older one for a class that the newest does not have any more.

    >>> choose_table("llama", "5.24.0")["version"], choose_table("lfm2-vl", "5.24.0")["version"]
    ('5.24.0', '4.57.6')
    """
    asked = load_table(release)
    if model_type in _REMOTE or any(model_type in asked[name] for name in _SECTIONS):
        return asked
    older = load_table(OLDER)
    return older if any(model_type in older[name] for name in _SECTIONS) else asked


def patch(whole: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with the changes of a merge patch (RFC 7396) in it.

    >>> patch({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": None, "e": 4}})
    {'a': {'b': 1, 'e': 4}, 'd': 3}
    """
    found = {**whole}
    for key, value in changes.items():
        if value is None:
            found.pop(key, None)
        elif isinstance(value, dict):
            inner = found.get(key)
            found[key] = patch(inner if isinstance(inner, dict) else {}, value)
        else:
            found[key] = value
    return found


@dataclass(frozen=True, kw_only=True)
class KnownPart:
    """A part of a model of several: its model_type, and what it takes where its class takes something else."""

    model: str
    by_file: bool = False  #: the model_type that the file states decides its class
    given: _Block = field(default_factory=dict)
    silent: _Block = field(default_factory=dict)  #: the same of a file that leaves the part out
    keys: _Block = field(default_factory=dict)  #: keys that it then has otherwise than its class by itself
    passed: tuple[str, ...] = ()  #: keys on top of the file that the class of the whole passes on to it
    silent_passed: tuple[str, ...] = ()  #: the same of a file that leaves the part out


@cache
def find_composite(model_type: str, release: str = NEWEST) -> Mapping[str, KnownPart]:
    """Return the parts that the class of a model has, by the key of each; none where it has one part.

    >>> find_composite("t5gemma")["encoder"].model, find_composite("llama")
    ('t5_gemma_module', {})
    """
    found, table = {}, choose_table(model_type, release)
    for key, (model, *others) in table.get("composites", {}).get(model_type, {}).items():
        own = dict(others[0]) if others else {}
        by_file = own.pop("any", False)
        silent = dict(own.pop("silent", own))
        for given in (own, silent):
            if "head_dim" in given and "head_dim" not in table["classes"].get(model, given):
                given["null_head"] = True  # what a model gives its part stands for a key that lacks, not for null
        found[key] = KnownPart(
            model=model,
            by_file=by_file,
            passed=tuple(own.pop("passed", ())),
            silent_passed=tuple(silent.pop("passed", ())),
            keys=silent.pop("keys", {}),
            given=own,
            silent=silent,
        )
    return found


@cache
def find_known(model_type: str, release: str = NEWEST, *, silent: bool = False) -> KnownModel:
    """Return what the class of a model takes by default; `is_known` says whether it is known as rotary.

    A model of several parts gives its text part's.

    Parameters
    ----------
    silent : the file of a model of several parts has none of them.

    >>> find_known("gemma3").default_base, find_known("gpt2").is_known
    (1000000.0, False)
    """
    table = choose_table(model_type, release)
    key = table["parts"].get(model_type)  # of the part that reads text
    parts, part = ((key,), find_composite(model_type, release)[key]) if key else ((), KnownPart(model=model_type))
    name = part.model
    found = table["classes"].get(name, _REMOTE.get(name))
    scale = table["query_scales"].get(name)
    if found is None:
        return KnownModel(model=model_type, parts=parts, query_scale=scale)
    if scale is None and name in table["classes"] and name not in table["scales_unknown"]:
        scale = {}
    lists = {key: tuple(value) for key, value in found.items() if isinstance(value, list)}
    layers = tuple(table["letters"][letter] for letter in found.get("layers", ""))
    whole = {"layers": layers, "model": model_type, "part_model": name, "parts": parts, "is_known": True}
    whole |= {"query_scale": scale, "has_schemes": bool(load_schemes(model_type).get("has"))}
    return KnownModel(**{**found, **lists, **(part.silent if silent else part.given), **whole})
