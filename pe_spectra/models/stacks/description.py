"""From the statements of a file to the parameters of the catalogue's encoding `rope`: the steps that stacks share.

A key that cannot be used raises an InputError, which becomes a refusal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import InputError
from pe_spectra.models.stated.keys import LISTS, NUMBERS
from pe_spectra.models.stated.statement import (
    NO_BLOCK,
    ORIGINAL,
    Configuration,
    KeyValue,
    LayerStatement,
    RotaryBlock,
    state_served,
)
from pe_spectra.wording import write_number

#: Keys of a block that vLLM alone reads.
_OF_VLLM = ("alpha", "max_trained_positions", "mixed_b")
#: Keys of a block by the parameters of `rope`.
SCALING_KEYS = {key.removesuffix("_max_position_embeddings"): key for key in (*NUMBERS, *LISTS) if key not in _OF_VLLM}
#: Every rope_type that transformers has; mrope: positions of several axes share the ladder of text; axial: each axis
#: has a default one of its own.
KINDS = ("default", "axial", "mrope", "linear", "dynamic", "yarn", "llama3", "longrope", "su", "proportional")
#: What those are called in the catalogue that it has by another name.
SCALING_NAMES = {"default": "none", "axial": "none", "mrope": "none", "su": "longrope"}


def spell_option(name: str, value: KeyValue) -> KeyValue:
    """Spell the value of a key as the parameter `name` of the catalogue has it: a length is an integer.

    >>> spell_option("original", 8192.0), spell_option("factor", 8.0)
    (8192, 8.0)
    """
    return int(value) if name == "original" and isinstance(value, float) and value.is_integer() else value


def choose_block(layer: LayerStatement) -> tuple[RotaryBlock, tuple[str, ...]]:
    """Choose between the two generations of keys as transformers 5 does; the second part says what is not read.

    rope_parameters is read and rope_theta fills in a missing base, but where rope_scaling is not empty it
    takes the place of rope_parameters altogether (convert_rope_params_to_dict).

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"head_dim": 64, "rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 2.0}}
    >>> stated = read_configuration(config, "config.json")
    >>> choose_block(stated.layers[0])[0].kind
    'linear'
    """
    newer, older = layer.newer, layer.older
    if newer is None or older is None:
        return layer.block, ()
    if newer.where.endswith("rope_parameters") and older.where:
        return older, ("rope_scaling takes the place of rope_parameters, which is not read, not even its rope_theta",)
    if "rope_parameters." in newer.where and older.where:  # what the nested block has besides stays
        merged = replace(
            newer, kind=newer.kind if older.untyped else older.kind, values={**newer.values, **older.values}
        )
        inside = "rope_scaling." in older.base_key
        return replace(merged, base=older.base, base_key=older.base_key) if inside else merged.fill_base(older), ()
    return newer.fill_base(older), ()


def drop_blocks(layer: LayerStatement) -> tuple[RotaryBlock, tuple[str, ...]]:
    """Take the base beside the blocks and nothing of them, for classes that read none.

    >>> drop_blocks(LayerStatement(head_dim=64, newer=RotaryBlock(where="rope_parameters", kind="linear")))[1]
    ('rope_parameters is not read: its class has no rotary block',)
    """
    older = layer.older or NO_BLOCK
    where = next((block.where for block in (layer.older, layer.newer) if block is not None and block.where), "")
    base = older.base_beside
    key = older.base_key if not older.base_key.startswith("rope_scaling") else "rope_theta"
    notes = (f"{where} is not read: its class has no rotary block",) if where else ()
    return replace(NO_BLOCK, base=base, base_key=key if base is not None else ""), notes


class Description:
    """The parameters of `rope` as far as they are known, and what must be said about them.

    Parameters
    ----------
    reader : what messages call the stack. configuration : what the file states. layer : what it states of the layers of
        this type. block : the keys of it that are read.
    served : the length that was asked for; None for what the file states.
    as_written : whether numbers are taken that the catalogue does not accept.
    """

    def __init__(
        self,
        reader: str,
        configuration: Configuration,
        layer: LayerStatement,
        block: RotaryBlock,
        *,
        served: int | None,
        as_written: bool,
    ) -> None:
        self.reader, self.configuration, self.layer, self.block = reader, configuration, layer, block
        self.served, self.as_written = served, as_written
        self.values: dict[str, Any] = {}  #: parameters by the names of the catalogue
        self.notes: list[str] = []  #: sentences

    def start(self, scaling: str) -> None:
        """Begin with what every scaling has: width, base, share and layout; a missing base is said."""
        layer, block = self.layer, self.block
        base = layer.default_base if block.base is None else block.base
        if block.base is None:
            taken = write_number(layer.default_base)
            self.notes.append(f"the file gives it no base, so {taken} is taken, the default of its class")
        self.values = {"d": layer.head_dim, "share": layer.share, "layout": layer.layout, "scaling": scaling}
        self.take("base", base, block.base_key or "rope_theta")

    def take(self, name: str, value: KeyValue, key: str) -> None:
        """Take a value that the catalogue accepts for a parameter; key is what it comes from, for messages."""
        self.values[name] = self._check(name, value, key)

    def _check(self, name: str, value: Any, key: str) -> Any:
        if self.as_written:
            return value
        accepts = next(parameter.accepts for parameter in Rope.accepts if parameter.name == name)
        return accepts.check(value, key)

    def copy_keys(self, *names: str) -> None:
        """Copy these parameters of the scaling where the block has them."""
        for name in names:
            value = self.block.values.get(SCALING_KEYS[name])
            if value is not None:
                self.take(name, spell_option(name, value), f"{self._where}{SCALING_KEYS[name]}")

    def need_keys(self, *names: str) -> None:
        """Copy these parameters of the scaling, all of which the block must have."""
        self.copy_keys(*names)
        for name in names:
            if name not in self.values:
                what = f"{self._where}{SCALING_KEYS[name]} is not set"
                raise InputError(what, "", f"{self.reader} needs it for {self.block.kind}", "key-missing")

    def fix(self, name: str, value: float) -> None:
        """Take a number that stands in the code, and say so where the file has another."""
        stated = self.block.find(SCALING_KEYS[name])
        self.values[name] = value
        if stated not in (None, value):
            key, fixed = SCALING_KEYS[name], write_number(value)
            self.notes.append(f"{key} {write_number(stated)} is not read: {fixed} is fixed in the code")

    def turn_whole_heads(self) -> None:
        """Refuse a share of the head."""
        if self.layer.share != 1:
            what = f"the share of a head is not known to {self.reader}"
            raise InputError(what, write_number(self.layer.share), "1 is")

    def turn_pairs(self) -> None:
        """Turn channels 2i and 2i + 1 together, and say what that means for weights of halves."""
        if self.layer.layout == "half":
            self.notes.append("its weights have the rows of q and k in pairs: those of transformers must be permuted")
        self.values["layout"] = "interleaved"

    @property
    def _where(self) -> str:
        return f"{self.block.where}: " if self.block.where else ""

    def name_scaling(self, kinds: tuple[str, ...]) -> str:
        """Return what rope_type is called in the catalogue, where it is one of the kinds that are known."""
        kind = self.block.kind
        if kind not in kinds:
            known = "one of other classes in" if kind in self.layer.refused else "not known to"
            what = f"{self._where}rope_type is {known} {self.reader}"
            raise InputError(what, kind, f"{', '.join(kinds)} are", "unknown-scaling")
        return SCALING_NAMES.get(kind, kind)

    def leave_unscaled(self, why: str) -> None:
        """Scale nothing."""
        self.values["scaling"] = "none"
        self.notes.append(why)

    def list_unread(self, *keys: str) -> str:
        """Join those of the keys that the block has, none of which is read."""
        return ", ".join(key for key in keys if key in self.block.values)

    def copy_alpha(self) -> bool:
        """Read alpha, which stands for a base enlarged once and for all; say whether the file has it."""
        alpha = self.block.find("alpha")
        if alpha is not None:
            self.values |= {"scaling": "ntk", "factor": alpha}
            self.notes.append(f"alpha {write_number(alpha)} enlarges the base whatever the length; factor is not read")
        return alpha is not None

    def step_at_end(self, low: str, high: str) -> None:
        """Where the ends of a ramp, in turns within the original length, are in the wrong order, put both at high."""
        first, last = (self.values.get(name, getattr(Rope, name)) for name in (low, high))
        if last < first:
            self.values |= dict.fromkeys((low, high), last)
            self.notes.append(f"{high} is below {low}: there is no ramp, but a step at {write_number(last)} turns")

    def find_length(self) -> int:
        """Return max_position_embeddings, or the original length where it is not stated; one of them must be."""
        length = self.configuration.length or self.block.find(ORIGINAL)
        if length is None:
            accepted = f"the scaling {self.block.kind} depends on it"
            raise InputError("max_position_embeddings is not stated", "", accepted, "key-missing")
        return int(self._check("original", int(length), "max_position_embeddings"))

    def take_original(self) -> float:
        """Take the original length, or max_position_embeddings where it is not stated; return it too."""
        stated = self.block.find(ORIGINAL)
        original = self.find_length() if stated is None else int(stated) if stated.is_integer() else stated
        self.take("original", original, ORIGINAL)
        return original

    def copy_truncate(self) -> None:
        """Read truncate, which says no only where it is false."""
        if self.block.values.get("truncate") is False:
            self.values["truncate"] = "no"

    def find_served(self) -> int | None:
        """Return the length that is served: the one that is asked for, else what the file states."""
        return state_served(self.block, self.configuration.length) if self.served is None else self.served

    def take_longrope_lengths(self) -> None:
        """Take the lengths of longrope as stacks do that have the attention factor from nothing else."""
        length, original = self.find_length(), self.take_original()
        self.values |= {"factor": max(1.0, length / original), "served": self.find_served() or length}
        if {"factor", "attention_factor"} & set(self.block.values):
            self.notes.append("factor and attention_factor are not read: the lengths give the attention factor")
