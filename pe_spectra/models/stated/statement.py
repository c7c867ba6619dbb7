"""What a model's files state about its positional encoding, before any implementation reads it.

A file states; an implementation (a stack) makes a rotation of what it states. The two differ: one
release takes the base from a key that another does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.findings import Finding
from pe_spectra.limits import MAX_CONTEXT
from pe_spectra.records import dataclass

#: The releases of transformers that were measured, the newest of each major one.
NEWEST, OLDER = "5.24.0", "4.57.6"
#: Sources that several kinds of findings have.
SU = "Su et al. 2021, arXiv:2104.09864"
PENG = "Peng et al. 2023, arXiv:2309.00071"
TRANSFORMERS = f"huggingface/transformers, src/transformers/modeling_rope_utils.py ({NEWEST}, {OLDER})"
#: The base that every reader takes where neither the file nor the model's class has one.
DEFAULT_BASE = 10000.0
#: The key of the length that a model was trained at before its scaling, and the scalings that are computed from it.
ORIGINAL = "original_max_position_embeddings"
WITH_ORIGINAL = ("llama3", "yarn", "longrope")
#: A value of a rotary block: a number, a list of numbers, a truth value.
KeyValue = float | tuple[float, ...] | bool


class Written(float):
    """A number that its key cannot have, read as it is written; nan for what is no number."""


_StatedName = Literal["rotary", "alibi", "t5", "learned", "sinusoidal", "none"]
#: Those that no key names, of which a table says which class has them. Of several in a class the first is audited.
_MeasuredName = Literal[
    "learned", "sinusoidal", "sine-2d", "axial-tables", "axial-rotary", "transformer-xl", "shaw", "disentangled",
    "bucketed-bias", "window-bias", "offset-bias", "decomposed-bias", "relative-logits", "random-fourier",
    "learned-fourier", "convolutional",
]  # fmt: skip
SchemeName = _StatedName | _MeasuredName
#: How a stack keeps to the window of a file: its layers that slide see so many positions more, or all; other layers
#: slide; it refuses the file; None: it is not known.
Kept = int | Literal["all", "others", "refused"] | None
MEASURED_SCHEMES: tuple[SchemeName, ...] = get_args(_MeasuredName)
SCHEMES: tuple[SchemeName, ...] = tuple(dict.fromkeys((*get_args(_StatedName), *MEASURED_SCHEMES)))
#: The numbers of schemes without a rotation, each with the least that it may be and what it is.
SIZES: Mapping[str, tuple[int, str]] = {
    "heads": (1, "Number of heads."),
    "buckets": (1, "Number of T5's buckets of lags."),
    "max_distance": (1, "Distance from which on T5's lags share the last bucket."),
    "max_lag": (1, "Lag beyond which all lags have the code of this one."),
    "d": (1, "Width of a position vector, in columns."),
    "rows": (1, "Rows of a table of positions."),
    "unused": (0, "Rows of it that are no positions."),
    "distances": (1, "Lags that have a learned vector each."),
    "window": (1, "Side of the window within which offsets have a bias, in patches."),
    "c2p": (0, "1 where scores have queries times the vectors of their lags (DeBERTa), else 0."),
    "p2c": (0, "1 where scores have keys times the vectors of their lags (DeBERTa), else 0."),
    "kernel": (1, "Positions that a convolution sees at once."),
    "fails_from": (1, "The first row or column of a grid for which a class has no row in its table, and fails."),
    "before": (0, "Positions before a query that a convolution sees, or that have a row of their own."),
    "behind": (0, "The same of positions behind it."),
    "grid_height": (1, "Patches of a picture in its height."),
    "grid_width": (1, "Patches of a picture in its width."),
}
#: Which keys a file has: those of transformers, of Meta's releases, of GGUF, of diffusers or of timm.
FORMATS = ("config.json", "params.json", "gguf", "diffusers", "timm")
#: The key that marks a file without a model_type, and names its class -> its format.
MARKS: Mapping[str, str] = {"_class_name": "diffusers", "architecture": "timm"}
#: Keys by which a file asks for another encoding than its class has: for T5's buckets of distance, by its name, for
#: linear biases; and for dual chunk attention.
BUCKETS, POSITION_TYPE = "relative_attention_num_buckets", "position_embedding_type"
ALIBI_KEYS, CHUNKS = ("alibi", "attn_config"), "dual_chunk_attention_config"
#: Pairs (i, i + D/2), and pairs (2i, 2i + 1).
LAYOUTS: tuple[Literal["half", "interleaved"], ...] = ("half", "interleaved")
#: Types of layers, as files call them; of several with and without a rotation, UNTURNED are those without.
FULL, SLIDING, CHUNKED, UNTURNED = "full_attention", "sliding_attention", "chunked_attention", "nope"
#: Layers that have the base and the share of those that slide. Zaya's have a recurrence beside attention.
WITH_WINDOW = (SLIDING, "hybrid_sliding")
#: What DeepSeek V4 calls the rotations of its sliding-window layers and of all others.
MAIN, COMPRESSED = "main", "compress"


#: How a block begins to be called that no file has: it is that of a class.
BY_CLASS = "the default of"


@dataclass(frozen=True, kw_only=True)
class RotaryBlock:
    """The rotary keys of one generation for one layer type, checked and in one spelling."""

    where: str  #: the key that holds them, for messages: "rope_parameters.full_attention", "rope_scaling"
    kind: str = "default"  #: rope_type as written; "default" where nothing asks for a scaling
    base: float | None = None  #: rope_theta; None where the block gives none
    base_key: str = ""  #: the key that gives it, "rope_theta" or an older spelling
    #: the other keys that a scaling takes, spelled as in rope_parameters: factor, .., short_factor, truncate
    values: Mapping[str, KeyValue] = field(default_factory=lambda: MappingProxyType({}))
    base_beside: float | None = None  #: rope_theta beside the block, which goes behind one inside it
    original_beside: bool = False  #: whether original_max_position_embeddings stands beside the block
    original_inside: float | None = None  #: the one inside it, which goes behind
    untyped: bool = False  #: whether it names no rope_type that is read
    type_inside: str | None = None  #: the key type inside the block, which goes behind rope_type
    nulls: frozenset[str] = frozenset()  #: keys that are null, which some readers take for more than "not set"
    integers: frozenset[str] = frozenset()  #: keys whose number is written without a decimal point
    attention_by_class: bool = False  #: attention_factor in `values` is what the model's class takes, not stated

    def find(self, key: str) -> float | None:
        """Return the number of a key; None where there is none."""
        value = self.values.get(key)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def find_base_key(self) -> str:
        """Return the key that gives the base; empty where none does.

        >>> RotaryBlock(where="", base_key="rope_theta").find_base_key()
        ''
        """
        return self.base_key if self.base is not None else ""

    @property
    def is_of_class(self) -> bool:
        """Whether no file has it: it is the default of a class."""
        return self.where.startswith(BY_CLASS)

    def fill_base(self, other: RotaryBlock | None) -> RotaryBlock:
        """Return the same with the base of another block where it has none."""
        if self.base is not None or other is None:
            return self
        return replace(self, base=other.base, base_key=other.base_key)


#: A block for a file that states none.
NO_BLOCK = RotaryBlock(where="")


def state_served(block: RotaryBlock, length: int | None) -> int | None:
    """Return the length that a file states it serves: YaRN's reaches factor times the original length.

    Parameters
    ----------
    length : max_position_embeddings, in positions; None where it is not stated.

    >>> block = RotaryBlock(where="", kind="yarn", values={"factor": 4.0, "original_max_position_embeddings": 4096.0})
    >>> state_served(block, 8192)
    16384
    """
    if block.kind != "yarn":
        return length
    factor, original = block.find("factor"), block.find(ORIGINAL) or length
    if factor is None or original is None:
        return length
    return max(length or 0, round(min(factor * original, MAX_CONTEXT)))


@dataclass(frozen=True, kw_only=True)
class LayerStatement:
    """What a file states about the rotation in the layers of one type."""

    name: str = "all"  #: full_attention, sliding_attention, ..; "all" where there is one type
    places: tuple[int, ...] = ()  #: which layers are of this type, from 0; (): not known
    head_dim: int  #: width of a head, or of the part that is turned where that part stands on its own
    share: float = 1.0  #: the share of it that is turned; rotary width int(head_dim share)
    share_beside: float | None = None  #: the share beside rope_parameters where one inside it goes before
    share_ignored: bool = False  #: the model's class turns all channels of a ladder without scaling
    strided: bool = False  #: every second frequency of the ladder comes first, and the others behind them
    refused: tuple[str, ...] = ()  #: each rope_type of a block that the model's class in transformers does not build
    blocks_ignored: bool = False  #: the model's class in transformers reads neither rope_parameters nor rope_scaling
    layout: Literal["half", "interleaved"] = "half"  #: pairs (i, i + D/2), or pairs (2i, 2i + 1)
    axes: tuple[int, ...] | None = None  #: of each pair the axis of the position that turns it; None: there is one
    coordinates: str | None = None  #: of the patches of a picture: counted, or their span
    indexer_layout: str | None = None  #: of an indexer beside attention, as the file states it
    newer: RotaryBlock | None = None  #: rope_parameters, which transformers 5 writes
    older: RotaryBlock | None = None  #: rope_theta with rope_scaling and their older spellings
    default_base: float = DEFAULT_BASE  #: what the model's class takes where no key gives a base
    window: int | None = None  #: longest lag + 1 that attention in these layers sees; None for all
    sides: tuple[int, int] | None = None  #: positions before and after a query that it sees; None: none after it
    doubted: int | None = None  #: such a window of which it is not known whether who reads the file keeps to it
    beside: int = 0  #: channels of a query beside the turned part, not turned (qk_nope_head_dim)
    turns: bool = True  #: False for layers that are not turned (NoPE)
    unusable: str = ""  #: a value that its key cannot have, on which the rotation may depend; empty without one
    #: the same with such values as they are written, for who computes with any number; None where that is not known
    written: LayerStatement | None = None
    width_key: str = "head_dim"  #: what gives `head_dim`, for messages
    share_key: str = "partial_rotary_factor"  #: what gives `share`
    whole: int | None = None  #: the width of a head where the scaling proportional has another than `head_dim`

    @property
    def block(self) -> RotaryBlock:
        """The keys of the newer generation, else of the older one; NO_BLOCK where the file has neither."""
        return self.newer or self.older or NO_BLOCK

    def stride(self, values: F64) -> F64:
        """Return the frequencies of a ladder as pairs have them: every second one first, the others behind them."""
        return np.concatenate([values[::2], values[1::2]])

    @property
    def may_be_untrained(self) -> bool:
        """Whether the scaling may stretch a model that was not trained with it, which the file does not tell."""
        has_original = self.block.find(ORIGINAL) is not None
        return has_original and self.block.kind in ("linear", "dynamic", "yarn")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """What a file states about a model."""

    path: str  #: the file, for messages
    format: str = "config.json"  #: of FORMATS
    model: str = ""  #: model_type or architecture; empty where it is not said
    release: str = NEWEST  #: of transformers, whose classes have read a config.json
    scheme: SchemeName  #: the kind of positional encoding
    length: int | None = None  #: the context length that is stated (max_position_embeddings)
    length_key: str = ""  #: the key that lacks where `length` is what the class of the model takes without it
    layers: tuple[LayerStatement, ...] = ()  #: the layer types, for rotary; empty for other schemes
    axes: tuple[str, ...] = ()  #: the names of the axes that turn parts of a head, which `layers` has in their place
    #: parameters of other schemes, by the names of the catalogue (heads, buckets, rows, d, ..)
    values: Mapping[str, int | float | str] = field(default_factory=lambda: MappingProxyType({}))
    #: the encoding of the catalogue that a class was measured to have: its name and parameters; empty for others
    formula: Mapping[str, int | float | str] = field(default_factory=lambda: MappingProxyType({}))
    untold: str = ""  #: why it is not known how the class of a model computes its sinusoids; empty where it is
    grows: bool = False  #: whether rows of sinusoids are made for any number of positions
    dtype: str | None = None  #: the type that weights and activations have (torch_dtype)
    query_scale: str | None = None  #: the factor on queries by their position, or none; None where it is not known
    #: always, asked or never: whether a table of patches is resampled for larger pictures, and by which filter
    resized: tuple[str, ...] = ()
    dual_chunk: str | None = None  #: what dual chunk attention does to distances, or none; None for other formats
    findings: tuple[Finding, ...] = ()  #: what reading it found
    where: str = ""  #: the keys that lead to the part that this is about; empty for a model of one part
    part: str = ""  #: the same of a part beside that which reads text
    parts: tuple[Configuration, ...] = ()  #: those beside it that encode positions
    #: the object of a config.json as a whole; empty for other files, and in a part
    keys: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), compare=False, repr=False)
    #: reads the same file as the classes of another release do; None where no class reads it
    read_by: Callable[[str], Configuration] | None = field(default=None, compare=False, repr=False)
    #: gives the other ways in which its class has positions, each with `where` it is in the model; they are not audited
    list_ways: Callable[[], Iterable[Configuration]] = field(default=tuple, compare=False, repr=False)

    def list_beside(self) -> Iterator[tuple[str, Configuration]]:
        """Give what it states beside the part that is audited: other ways, other parts with theirs, each by its place.

        >>> from pe_spectra.models.stated.configuration import read_configuration
        >>> keys = {"model_type": "clip", "text_config": {}, "vision_config": {}}
        >>> [place for place, _ in read_configuration(keys, "config.json").list_beside()]
        ['vision_config']
        """
        yield from ((one.where, one) for one in self.list_ways())
        for part in self.parts:
            yield part.part, part
            yield from ((f"{part.part}: {one.where}", one) for one in part.list_ways())

    def name_layer(self, layer: LayerStatement) -> str:
        """Name a type of its layers; of a part beside the one that reads text, with the key of that part.

        >>> vision = Configuration(path="", scheme="rotary", part="vision_config")
        >>> [vision.name_layer(LayerStatement(name=name, head_dim=64)) for name in ("all", "full_attention")]
        ['vision_config', 'vision_config.full_attention']
        """
        return layer.name if not self.part else self.part if layer.name == "all" else f"{self.part}.{layer.name}"
