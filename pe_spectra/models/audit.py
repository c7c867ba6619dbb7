"""What a configuration really gives: the frequencies of every pair, how often each turns, and what to distrust.

The answer is that of the library that the file is made for, for config.json the newest major release
of Hugging Face transformers; findings say where another reading differs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.exact import F64
from pe_spectra.findings import Finding, Kind
from pe_spectra.models.rotation import SAME_FORMULA, Rotation
from pe_spectra.models.scheme import build_scheme, rebuild_rope, turn_layer
from pe_spectra.models.stacks import STACKS, Refusal
from pe_spectra.models.stacks.description import choose_block
from pe_spectra.models.stated.statement import (
    Configuration,
    LayerStatement,
    RotaryBlock,
    limit_length,
    state_served,
)
from pe_spectra.models.turns import TURN, mark_unseen
from pe_spectra.spectrum import LowBinCount, Spectrum, compute_density_spectrum, count_low_bin
from pe_spectra.vocabulary import Level

#: A pair that turns so often within the training is left alone by YaRN (its beta_fast).
MANY_TURNS = 32.0


@dataclass(frozen=True, kw_only=True)
class LayerAudit:
    """What the layers of one type are given.

    Attributes
    ----------
    name : the layer type; "all" where there is one.
    scheme : rotary, or what the model has instead; "none" for layers that are not turned.
    statement : what the file states about the rotation; None for other schemes.
    rotation : what the answering stack makes of it; None where it refuses, and for other schemes.
    encoding : the same as an encoding of the catalogue; None where there is none.
    trained_length, served_length : positions; None where neither file nor caller says.
    trained_scaled : the length that is known to have been trained with the scaling; None where the
        file does not tell: linear, dynamic and yarn also stretch models without further training.
    reach : the longest span of positions that these layers see at once (sliding window); None for all.
    """

    name: str
    scheme: str
    statement: LayerStatement | None = None
    rotation: Rotation | None = None
    encoding: Encoding | None = None
    trained_length: int | None = None
    served_length: int | None = None
    trained_scaled: int | None = None
    reach: int | None = None

    def find(self, kind: Kind, message: str, /, *, level: Level | None = None, **data: object) -> Finding:
        """Make a finding about these layers; of several types, the sentence begins with the name."""
        if self.name == "all":
            return kind.find(message, level=level, **data)
        return kind.find(f"{self.name}: {message}", level=level, **data, layer_type=self.name)

    @property
    def frequencies(self) -> F64:
        """Frequency of each pair, rad/position, shape (D/2,); empty where nothing turns."""
        if self.rotation is None or self.rotation.frequencies is None:
            return np.empty(0)
        return self.rotation.frequencies

    @property
    def block(self) -> RotaryBlock | None:
        """The keys that transformers 5 reads; None where the file has none."""
        if self.statement is None or self.statement.block is None:
            return None
        return choose_block(self.statement)[0]

    @property
    def original_length(self) -> int | None:
        """The length at which the ladder was trained before it was scaled; the trained length without scaling."""
        block = self.block
        stated = block.find("original_max_position_embeddings") if block is not None else None
        return int(stated) if stated is not None else self.trained_length

    def count_turns(self, length: int | None) -> F64 | None:
        """How often each pair turns within `length` positions, shape (D/2,); None where no length is known."""
        if length is None:
            return None
        return self.frequencies * (self.limit(length) / TURN)

    def limit(self, length: int) -> int:
        """Return the part of a length that these layers see at once."""
        return limit_length(length, self.reach)

    @property
    def states(self) -> tuple[str, ...]:
        """Of each pair: "many" turns within the trained length, "few", or "never" a whole one."""
        turns = self.count_turns(self.trained_length)
        if turns is None:
            return ("",) * len(self.frequencies)
        return tuple("never" if one < 1 else "few" if one < MANY_TURNS else "many" for one in turns)

    @property
    def never_turn(self) -> int | None:
        """Pairs that complete no turn within the trained length; None where that is not known."""
        turns = self.count_turns(self.trained_length)
        return None if turns is None or self.rotation is None else int(np.count_nonzero(turns < 1))

    @property
    def seen_phases(self) -> F64:
        """The largest phase of each pair that training is known to have shown, in radians, shape (D/2,).

        That is the unscaled ladder at the original length, and the pair itself at the length that was
        trained with its scaling.
        """
        original, scaled = self.original_length or 0, self.trained_scaled or 0
        before = self.frequencies if self.unscaled is None else self.unscaled
        return np.maximum(before * self.limit(original), self.frequencies * self.limit(scaled))

    @cached_property
    def unseen(self) -> tuple[int, ...]:
        """Pairs that did not complete a turn in training and see a phase above 1.01 times the largest shown."""
        if self.rotation is None or self.original_length is None or self.served_length is None:
            return ()
        if self.trained_length is None and not _may_be_untrained(self.statement):
            return ()  # llama3 and longrope are trained with, for a length that nobody says here
        largest = self.frequencies * self.limit(self.served_length)
        return tuple(int(i) for i in np.flatnonzero(mark_unseen(self.seen_phases, largest)))

    @cached_property
    def unscaled(self) -> F64 | None:
        """The ladder of the base before scaling, rad/position, shape (D/2,), right to float64.

        Pairs at rest stay so. None where there is no base.
        """
        rotation = self.rotation
        if rotation is None or rotation.base is None or not rotation.rotary_dim:
            return None
        ladder = [float(theta) for theta in compute_ladder(rotation.base, rotation.rotary_dim, len(self.frequencies))]
        return np.where(self.frequencies > 0, ladder, 0.0)

    @cached_property
    def spectrum(self) -> Spectrum | None:
        """Eq. (15) of the frequencies on a lattice of a point for each channel of a head; None without a rotation."""
        if self.encoding is None or self.rotation is None:
            return None
        return compute_density_spectrum(self.encoding)

    @cached_property
    def low_bin(self) -> LowBinCount | None:
        """Eq. (16) with the edge 2 pi over the trained length: the pairs that never turn, except those at rest."""
        if self.encoding is None or self.rotation is None or self.trained_length is None or self.trained_length < 2:
            return None
        return count_low_bin(self.encoding, length=self.limit(self.trained_length))


@dataclass(frozen=True, kw_only=True)
class ModelAudit:
    """What one file gives.

    Attributes
    ----------
    configuration : what the file states.
    layers : one for each type of layer.
    findings : the gravest first.
    """

    configuration: Configuration
    layers: tuple[LayerAudit, ...]
    findings: tuple[Finding, ...] = ()


def build_layers(
    configuration: Configuration, *, trained: int | None = None, served: int | None = None
) -> tuple[tuple[LayerAudit, ...], tuple[tuple[str, Refusal], ...]]:
    """Read every layer type as the answering stack does.

    Parameters
    ----------
    trained, served : lengths in positions that go before those of the file.

    Returns
    -------
    The layer types, and for each that the stack refuses its name and why.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 4096}
    >>> layers, refused = build_layers(read_configuration(config, "config.json"))
    >>> layers[0].never_turn, refused
    (18, ())
    """
    given = trained is not None
    trained = trained if trained is not None else configuration.length
    if configuration.scheme != "rotary":
        return (_build_other(configuration, trained, served),), ()
    layers: list[LayerAudit] = []
    refused: list[tuple[str, Refusal]] = []
    for statement in configuration.layers:
        length = served if served is not None else state_served(statement.block, configuration.length)
        named = LayerAudit(
            name=statement.name,
            scheme="rotary" if statement.turns else "none",
            statement=statement,
            trained_length=trained,
            served_length=length if length is not None else trained,
            trained_scaled=trained if given or not _may_be_untrained(statement) else None,
            reach=statement.window,
        )
        if not statement.turns:
            layers.append(named)
            continue
        found = turn_layer(configuration, statement, length)
        if isinstance(found, Refusal):
            refused.append((statement.name, found))
            if found.seen:
                found = STACKS["transformers-4"].read(configuration, statement, length)
        layers.append(named if isinstance(found, Refusal) else _add_rotation(named, found))
    return tuple(layers), tuple(refused)


def _may_be_untrained(statement: LayerStatement | None) -> bool:
    block = statement.block if statement is not None else None
    stretches = block is not None and block.kind in ("linear", "dynamic", "yarn")
    return stretches and block is not None and block.find("original_max_position_embeddings") is not None


def _add_rotation(layer: LayerAudit, found: Rotation) -> LayerAudit:
    layer = replace(layer, rotation=found)
    encoding = rebuild_rope(found)
    if encoding is None:
        return layer
    values = encoding.frequencies().values
    # another library's formula may have no twin in the catalogue; divisors of a tensor are rounded
    near = max(SAME_FORMULA, found.error_bound)
    if values.shape == layer.frequencies.shape and np.allclose(values, layer.frequencies, rtol=near, atol=0):
        return replace(layer, encoding=encoding)
    return layer


def _build_other(configuration: Configuration, trained: int | None, served: int | None) -> LayerAudit:
    return LayerAudit(
        name="all",
        scheme=configuration.scheme,
        encoding=build_scheme(configuration),
        trained_length=trained,
        served_length=served if served is not None else trained,
    )
