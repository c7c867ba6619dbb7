"""What a model's files state about its positional encoding, before any implementation reads it.

A file states; an implementation (a stack) makes a rotation of what it states. The two differ: one
release takes the base from a key that another does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from pe_spectra.errors import InputError
from pe_spectra.findings import Finding
from pe_spectra.limits import MAX_CONTEXT

#: Sources that several kinds of findings have.
SU = "Su et al. 2021, arXiv:2104.09864"
PENG = "Peng et al. 2023, arXiv:2309.00071"
TRANSFORMERS = "huggingface/transformers, src/transformers/modeling_rope_utils.py (5.23.0, 4.57.6)"
#: The base that every reader takes where neither the file nor the model's class has one.
DEFAULT_BASE = 10000.0
#: A value of a rotary block: a number, a list of numbers, a truth value.
KeyValue = float | tuple[float, ...] | bool
SchemeName = Literal["rotary", "alibi", "t5", "learned", "sinusoidal", "none"]
SCHEMES = get_args(SchemeName)
#: Which keys a file has: those of transformers, of Meta's releases, or of GGUF.
FORMATS = ("config.json", "params.json", "gguf")
#: Pairs (i, i + D/2), and pairs (2i, 2i + 1).
LAYOUTS = ("half", "interleaved")


@dataclass(frozen=True, kw_only=True)
class RotaryBlock:
    """The rotary keys of one generation for one layer type, checked and in one spelling.

    Attributes
    ----------
    where : the key that holds them, for messages: "rope_parameters.full_attention", "rope_scaling".
    kind : rope_type as written; "default" where nothing asks for a scaling.
    base : rope_theta; None where the block gives none.
    base_key : the key that gives it, "rope_theta" or an older spelling.
    values : the other keys that a scaling takes, in the spelling of rope_parameters: factor,
        original_max_position_embeddings, beta_fast, .., short_factor, long_factor, truncate.
    base_beside : rope_theta beside the block, which goes behind one inside it.
    original_beside : whether original_max_position_embeddings stands beside the block.
    original_inside : the one inside it, which goes behind.
    type_inside : the key type inside the block, which goes behind rope_type.
    nulls : keys of the block whose value is null, which some readers take for more than "not set".
    attention_by_class : attention_factor in `values` is what the class of the model takes, not stated by the file.
    """

    where: str
    kind: str = "default"
    base: float | None = None
    base_key: str = ""
    values: Mapping[str, KeyValue] = field(default_factory=lambda: MappingProxyType({}))
    base_beside: float | None = None
    original_beside: bool = False
    original_inside: float | None = None
    type_inside: str | None = None
    nulls: frozenset[str] = frozenset()
    attention_by_class: bool = False

    def find(self, key: str) -> float | None:
        """Return the number of a key; None where there is none."""
        value = self.values.get(key)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def state_served(block: RotaryBlock | None, length: int | None) -> int | None:
    """Return the length that a file states it serves: YaRN's reaches factor times the original length.

    Parameters
    ----------
    length : max_position_embeddings, in positions; None where it is not stated.

    >>> block = RotaryBlock(where="", kind="yarn", values={"factor": 4.0, "original_max_position_embeddings": 4096.0})
    >>> state_served(block, 8192)
    16384
    """
    if block is None or block.kind != "yarn":
        return length
    factor, original = block.find("factor"), block.find("original_max_position_embeddings") or length
    if factor is None or original is None:
        return length
    return max(length or 0, round(min(factor * original, MAX_CONTEXT)))


def limit_length(length: int, window: int | None) -> int:
    """Return the part of a length that layers with a window (None: without) see at once, both in positions.

    >>> limit_length(8192, 4096), limit_length(8192, None)
    (4096, 8192)
    """
    return length if window is None else min(length, window)


@dataclass(frozen=True, kw_only=True)
class LayerStatement:
    """What a file states about the rotation in the layers of one type.

    Attributes
    ----------
    name : full_attention, sliding_attention, ..; "all" where there is one type.
    head_dim : width of a head, or of the part that is turned where that part stands on its own.
    share : the share of it that is turned; rotary width int(head_dim share).
    share_beside : the share beside rope_parameters where one inside it goes before; None: there is none.
    share_ignored : the class of the model turns all channels of a ladder without scaling, whatever the share.
    layout : half, pairs (i, i + D/2), or interleaved, pairs (2i, 2i + 1).
    newer : rope_parameters, which transformers 5 writes; None where the file has none.
    older : rope_theta with rope_scaling and their older spellings; None where the file has none.
    default_base : what the model's class takes where no key gives a base.
    window : positions that attention in these layers sees at once (sliding_window); None for all.
    beside : channels of a query that stand beside the turned part and are not turned (qk_nope_head_dim).
    turns : False for layers that are not turned (NoPE).
    width_key, share_key : what gives `head_dim` and `share`, for messages.
    """

    name: str = "all"
    head_dim: int
    share: float = 1.0
    share_beside: float | None = None
    share_ignored: bool = False
    layout: Literal["half", "interleaved"] = "half"
    newer: RotaryBlock | None = None
    older: RotaryBlock | None = None
    default_base: float = DEFAULT_BASE
    window: int | None = None
    beside: int = 0
    turns: bool = True
    width_key: str = "head_dim"
    share_key: str = "partial_rotary_factor"

    def say_in_keys(self, text: str) -> str:
        """Write a sentence about the catalogue's `rope` with the keys of the file.

        >>> LayerStatement(head_dim=127).say_in_keys("rope: d is odd (127); an even d is accepted")
        'head_dim is odd (127); an even number is accepted'
        """
        words = {
            "rope: int(d share)": f"int({self.width_key} x {self.share_key})",
            "int(head_dim share)": f"int({self.width_key} x {self.share_key})",
            "rope: share": self.share_key,
            "rope: d ": f"{self.width_key} ",
            "an even d ": "an even number ",
        }
        for word, key in words.items():
            text = text.replace(word, key)
        return text.removeprefix("rope: ")

    def find_width(self) -> int:
        """Return the rotary width D = int(head_dim share).

        Raises
        ------
        InputError : it is odd or 0.
        """
        width = int(self.head_dim * self.share)
        if width % 2 or not width:
            raise InputError("int(head_dim share) is no even width", str(width), "2, 4, .. are accepted")
        return width

    def read_newer(self) -> RotaryBlock:
        """The keys of the newer generation, else of the older one, which gives a missing base; a block without keys."""
        block = self.block or RotaryBlock(where="")
        if block.base is None and self.older is not None:
            return RotaryBlock(where=block.where, kind=block.kind, base=self.older.base, values=block.values)
        return block

    @property
    def block(self) -> RotaryBlock | None:
        """The keys of the newer generation, else of the older one."""
        return self.newer if self.newer is not None else self.older

    @property
    def may_be_untrained(self) -> bool:
        """Whether the scaling may stretch a model that was not trained with it, which the file does not tell."""
        block = self.block
        stretches = block is not None and block.kind in ("linear", "dynamic", "yarn")
        return stretches and block is not None and block.find("original_max_position_embeddings") is not None


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """What a file states about a model.

    Attributes
    ----------
    path : the file, for messages.
    format : "config.json", "params.json" or "gguf".
    model : model_type or architecture; empty where it is not said.
    scheme : the kind of positional encoding.
    length : the context length that is stated (max_position_embeddings); None where none is.
    length_by_class : no key gives `length`; it is what the class of the model takes.
    layers : the layer types, for rotary; empty for other schemes.
    values : parameters of other schemes, by the names of the catalogue (heads, buckets, rows, d, ..).
    dtype : the type that weights and activations have (torch_dtype); None where it is not said.
    findings : what reading it found.
    """

    path: str
    format: str = "config.json"
    model: str = ""
    scheme: SchemeName
    length: int | None = None
    length_by_class: bool = False
    layers: tuple[LayerStatement, ...] = ()
    values: Mapping[str, int | float | str] = field(default_factory=lambda: MappingProxyType({}))
    dtype: str | None = None
    findings: tuple[Finding, ...] = ()
