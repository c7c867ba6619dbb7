"""Every stack on one file: what each makes of it beside the newest transformers.

The comparison of two rotations is that of `diff`; here are the rows of its table, for one file and for
one example of each scaling.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from pe_spectra.models.rotation import SAME_FORMULA, Rotation
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stacks.stack import Refusal
from pe_spectra.models.stated.statement import (
    LAYOUTS,
    ORIGINAL,
    Configuration,
    KeyValue,
    LayerStatement,
    RotaryBlock,
    state_served,
)
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass

#: The stack that the others are compared with.
REFERENCE = "transformers-5"
#: What the examples of `tabulate_scalings` have where the file states no length, and the factor of all.
_LENGTH, _FACTOR = 8192, 4.0


@dataclass(frozen=True, kw_only=True)
class ConformanceRow(Result):
    """What one implementation makes of the layers of one type, beside transformers 5."""

    of: str = quantity(
        "Whether it is about the file or about the example of a scaling.", default="file", words=("file", "example")
    )
    scaling: str = quantity("Name of the scaling as the file has it.")
    stack: str = quantity("Name of the implementation, as --stack takes it.")
    layer: str = quantity("Name of the type of layer; all where there is one.", key="layer_type")
    refusal: str | None = quantity("Why the implementation does not take the file; null where it does.", default=None)
    smallest_ratio: float | None = quantity(
        "Smallest of its frequencies over those of transformers 5; null where they cannot be compared.",
        default=None,
        minimum=0,
    )
    largest_ratio: float | None = quantity(
        "Largest of them; null where they cannot be compared.", default=None, minimum=0
    )
    differing: int | None = quantity(
        "Pairs with another frequency than in transformers 5; null where they cannot be compared.",
        key="differing_pairs",
        default=None,
        minimum=0,
    )
    attention_scaling: float | None = quantity(
        "Factor on every cosine and sine; null where it refuses the file.", default=None, above=0
    )
    layout: str | None = quantity(
        "Which channels are a pair; null where it refuses the file.", default=None, words=LAYOUTS
    )
    max_phase_error: float | None = quantity(
        "Largest difference of two phases at the last position, whole turns not taken off; null where unknown.",
        unit="rad",
        default=None,
        minimum=0,
    )
    first_position_off: int | None = quantity(
        "First position where a phase is off by more than pi/8; null where none is, or where it is unknown.",
        default=None,
        minimum=0,
    )
    notes: tuple[str, ...] = quantity(
        "What the implementation ignores or assumes, each a sentence.", default=(), column=None
    )


def tabulate_conformance(
    configuration: Configuration, served: int | None = None, allocated: int | None = None
) -> tuple[ConformanceRow, ...]:
    """Tabulate what every stack makes of every layer type of a file.

    Parameters
    ----------
    configuration : what the file states; rotary.
    served : the length that is served; None for the longest that it states.
    allocated : the length that is allocated, which some stacks go by; None for the one that is served.

    Returns
    -------
    rows by layer type, the stacks in their order, the reference first; without those that read files of another
    format alone. Where the reference itself refuses the file, nothing is compared.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 64, "rope_theta": 1e4}, "config.json")
    >>> [row.stack for row in tabulate_conformance(stated)][:2]
    ['transformers-5', 'transformers-4']
    """
    length = served or find_length_served(configuration)
    rows: list[ConformanceRow] = []
    for layer in configuration.layers:
        found = {
            name: stack.read(configuration, layer, stack.choose_length(layer, served, allocated))
            for name, stack in STACKS.items()
            if {configuration.format, "config.json"} & {*stack.formats}
        }
        for name, one in found.items():
            seen = min(length, STACKS[name].see(configuration, layer).window or length)
            rows.append(_describe_row(layer, name, one, found[REFERENCE], seen))
    return tuple(rows)


def find_length_served(configuration: Configuration) -> int:
    """Return the longest length that a file states: max_position_embeddings, or factor x original; at least 1.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> find_length_served(read_configuration(config, "config.json"))
    4096
    """
    lengths = (state_served(layer.block, configuration.length) for layer in configuration.layers)
    return max(configuration.length or 1, *(length or 1 for length in lengths), 1)


def tabulate_scalings(
    configuration: Configuration, served: int | None = None, allocated: int | None = None
) -> tuple[ConformanceRow, ...]:
    """Tabulate what every stack makes of one example of each scaling, for the head and the base of a file.

    Parameters
    ----------
    configuration : its first turned layer type gives width, share, layout and base, and it the model and the
        length, 8192 positions where none is stated.
    served : the length; None for s/2 times the original length, s = 4 the factor, where nothing agrees by chance:
        at s times that length the fixed base of vLLM's dynamic is that of transformers.
    allocated : as there.

    Returns
    -------
    the rows of :func:`tabulate_conformance` for each of six examples; none for a file of a format of its own, as that
    of diffusers, whose keys are not those of the examples.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 64, "rope_theta": 1e4}, "config.json")
    >>> [row.stack for row in tabulate_scalings(stated) if row.scaling == "dynamic" and row.refusal]
    ['torchtune', 'x-transformers', 'rotary-embedding-torch', 'meta', 'yarn-paper']
    """
    if configuration.axes:
        return ()
    layer = next((layer for layer in configuration.layers if layer.turns), configuration.layers[0])
    stated = layer.block.find(ORIGINAL)
    original = int(stated or configuration.length or _LENGTH)
    length = served or max(2, int(_FACTOR * original / 2))
    examples = _build_examples(configuration.model, layer, original)
    return tuple(replace(row, of="example") for one in examples for row in tabulate_conformance(one, length, allocated))


def _build_examples(model: str, layer: LayerStatement, original: int) -> list[Configuration]:
    """Build one example of each scaling: default, linear, dynamic, yarn, llama3, longrope, in the older keys.

    All state s times the original length, but for default and dynamic, which count from the length that is
    stated. The lists of longrope are an example's: 1 for short, s**(2 i/(D - 2)) for long.
    """
    base = layer.default_base if layer.block.base is None else layer.block.base
    found = []
    for kind, values in _list_values(float(original), max(1, int(layer.head_dim * layer.share) // 2)).items():
        block = RotaryBlock(
            where="rope_scaling",
            kind=kind,
            base=base,
            values=MappingProxyType(values),
            original_beside=kind == "longrope",  # as in the files that have it
        )
        example = LayerStatement(
            head_dim=layer.head_dim, share=layer.share, layout=layer.layout, older=block, refused=layer.refused
        )
        length = original if kind in ("default", "dynamic") else int(_FACTOR * original)
        path = f"example of {kind}"
        found.append(Configuration(path=path, model=model, scheme="rotary", length=length, layers=(example,)))
    return found


def _list_values(original: float, pairs: int) -> dict[str, dict[str, KeyValue]]:
    stated: dict[str, KeyValue] = {"factor": _FACTOR, ORIGINAL: original}
    last = max(1, pairs - 1)
    return {
        "default": {},
        "linear": {"factor": _FACTOR},
        "dynamic": {"factor": _FACTOR},
        "yarn": stated,
        "llama3": {**stated, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        "longrope": {
            ORIGINAL: original,
            "short_factor": (1.0,) * pairs,
            "long_factor": tuple(_FACTOR ** (i / last) for i in range(pairs)),
        },
    }


def _describe_row(
    layer: LayerStatement, name: str, found: Rotation | Refusal, reference: Rotation | Refusal, length: int
) -> ConformanceRow:
    from pe_spectra.models.comparison.rotations import compare_rotations

    row = ConformanceRow(scaling=layer.block.kind, stack=name, layer=layer.name)
    if isinstance(found, Refusal):
        return replace(row, refusal=found.reason)
    row = replace(row, attention_scaling=found.attention_scaling, layout=found.layout, notes=found.notes)
    if isinstance(reference, Refusal):
        return row
    (compared,) = compare_rotations([reference], [found], length=length).layer_types
    row = replace(row, max_phase_error=compared.max_phase_error, first_position_off=compared.first_position_off)
    a, b = reference.frequencies, found.frequencies
    if a is None or b is None or len(a) != len(b):
        return row
    ratios = [pair.ratio for pair in compared.pairs if pair.ratio is not None]
    return replace(
        row,
        smallest_ratio=min(ratios, default=None),
        largest_ratio=max(ratios, default=None),
        differing=int(np.count_nonzero(np.abs(a - b) > SAME_FORMULA * a)),
    )
