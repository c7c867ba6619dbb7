"""From the statements of a file to the parameters of the catalogue's encoding `rope`, step by step.

Every stack chooses the block of keys that it reads and the keys that it needs; the steps that they
share are here; `turning` makes rotations of what they found. A key that cannot be used raises an
InputError, which the readers turn into a refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import InputError
from pe_spectra.models.stated.statement import Configuration, KeyValue, LayerStatement, RotaryBlock, state_served
from pe_spectra.wording import write_number

#: Keys of a block by the parameters of `rope`.
SCALING_KEYS = {
    "factor": "factor",
    "original": "original_max_position_embeddings",
    "beta_fast": "beta_fast",
    "beta_slow": "beta_slow",
    "attention_factor": "attention_factor",
    "mscale": "mscale",
    "mscale_all_dim": "mscale_all_dim",
    "low_freq_factor": "low_freq_factor",
    "high_freq_factor": "high_freq_factor",
    "short_factor": "short_factor",
    "long_factor": "long_factor",
}
#: A block for a file that states none.
NO_BLOCK = RotaryBlock(where="")


def spell_option(name: str, value: KeyValue) -> KeyValue:
    """Spell the value of a key as the parameter `name` of the catalogue has it: a length is an integer.

    >>> spell_option("original", 8192.0), spell_option("factor", 8.0)
    (8192, 8.0)
    """
    return int(value) if name == "original" and not isinstance(value, tuple) else value


@dataclass(kw_only=True)
class Description:
    """The parameters of `rope` as far as they are known, and what must be said about them.

    Attributes
    ----------
    configuration : what the file states.
    block : the keys of it that are read.
    served : the length that was asked for; None for what the file states.
    values : parameters by the names of the catalogue.
    notes : sentences.
    """

    configuration: Configuration
    block: RotaryBlock
    served: int | None = None
    values: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def copy_keys(self, *names: str) -> None:
        """Copy these parameters of the scaling where the block has them.

        Raises
        ------
        InputError : a value beyond what the catalogue accepts.
        """
        for name in names:
            value = self.block.values.get(SCALING_KEYS[name])
            if value is not None:
                self.values[name] = _check(name, spell_option(name, value), f"{self._where}{SCALING_KEYS[name]}")

    def take(self, name: str, value: KeyValue, key: str) -> None:
        """Take a value for a parameter that the block does not have.

        Parameters
        ----------
        key : what it comes from, for messages.

        Raises
        ------
        InputError : a value beyond what the catalogue accepts.
        """
        self.values[name] = _check(name, value, key)

    def need_keys(self, stack: str, *names: str) -> None:
        """Copy these parameters of the scaling.

        Raises
        ------
        InputError : the block lacks one.
        """
        self.copy_keys(*names)
        for name in names:
            if name not in self.values:
                what = f"{self._where}{SCALING_KEYS[name]} is not set"
                raise InputError(what, accepted=f"{stack} needs it for {self.block.kind}")

    @property
    def _where(self) -> str:
        return f"{self.block.where}: " if self.block.where else ""

    def copy_alpha(self) -> bool:
        """Read alpha, which stands for a base enlarged once and for all; say whether the file has it."""
        alpha = self.block.find("alpha")
        if alpha is not None:
            self.values |= {"scaling": "ntk", "factor": alpha}
            self.notes.append(f"alpha {write_number(alpha)} enlarges the base whatever the length; factor is not read")
        return alpha is not None

    def step_at_end(self, low: str, high: str, *, at: str) -> None:
        """Where the ends of a ramp are in the wrong order, put both at the one that the code of a stack obeys first.

        Parameters
        ----------
        low, high : the parameters that end the ramp, turns within the original length. at : one of them.
        """
        ends: dict[str, float] = {name: self.values.get(name, getattr(Rope, name)) for name in (low, high)}
        if ends[high] < ends[low]:
            self.values |= dict.fromkeys((low, high), ends[at])
            self.notes.append(f"{high} is below {low}: there is no ramp, but a step at {write_number(ends[at])} turns")

    def find_length(self) -> int:
        """Return max_position_embeddings, or the original length where it is not stated.

        Raises
        ------
        InputError : neither is stated.
        """
        length = self.configuration.length or self.block.find("original_max_position_embeddings")
        if length is None:
            accepted = f"the scaling {self.block.kind} depends on it"
            raise InputError("max_position_embeddings is not stated", accepted=accepted)
        return int(_check("original", int(length), "max_position_embeddings"))

    def find_original(self) -> int:
        """Return original_max_position_embeddings, or max_position_embeddings where it is not stated.

        Raises
        ------
        InputError : neither is stated.
        """
        stated = self.block.find("original_max_position_embeddings")
        if stated is None:
            return self.find_length()
        return int(_check("original", int(stated), "original_max_position_embeddings"))

    def find_served(self) -> int | None:
        """Return the length that is served: the one that is asked for, else what the file states.

        At least 2, below which nothing depends on it.
        """
        if self.served is not None:
            return max(2, self.served)
        return state_served(self.block, self.configuration.length)

    def take_longrope_lengths(self) -> None:
        """Take the lengths of longrope as stacks do that have the attention factor from nothing else.

        Raises
        ------
        InputError : no length is stated.
        """
        length, original = self.find_length(), self.find_original()
        self.values |= {
            "original": original,
            "factor": max(1.0, length / original),
            "served": self.find_served() or length,
        }
        if {"factor", "attention_factor"} & set(self.block.values):
            self.notes.append("factor and attention_factor are not read: the lengths give the attention factor")


def start_description(
    configuration: Configuration, layer: LayerStatement, block: RotaryBlock, scaling: str, served: int | None
) -> Description:
    """Begin with what every scaling has: width, base, share and layout; a missing base is said.

    Raises
    ------
    InputError : a base beyond what the catalogue accepts.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 4, "rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> stated = read_configuration(config, "config.json")
    >>> found = Description(configuration=stated, block=stated.layers[0].older)
    >>> start_description(stated, stated.layers[0], found.block, "none", None).values["base"]
    10000.0
    """
    found = Description(configuration=configuration, block=block, served=served)
    base = layer.default_base if block.base is None else block.base
    if block.base is None:
        taken = write_number(layer.default_base)
        found.notes.append(f"the file gives it no base, so {taken} is taken, the default of its class")
    found.values = {"d": layer.head_dim, "base": _check("base", base, block.base_key or "rope_theta")}
    if layer.share != 1:
        found.values["share"] = layer.share
    if layer.layout != "half":
        found.values["layout"] = layer.layout
    if scaling != "none":
        found.values["scaling"] = scaling
    return found


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
        return newer or older or NO_BLOCK, ()
    if layer.name == "all" and older.where:
        return older, ("rope_scaling takes the place of rope_parameters, which is not read, not even its rope_theta",)
    return (newer if newer.base is not None else replace(newer, base=older.base, base_key=older.base_key)), ()


def _check(name: str, value: Any, key: str) -> Any:
    accepts = next(parameter.accepts for parameter in Rope.accepts if parameter.name == name)
    return accepts.check(value, key)
