"""Which windows of a file stacks keep to that are not its library: measured by tests/reference/windows.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pe_spectra.errors import InputError
from pe_spectra.models.stacks.description import Description
from pe_spectra.models.stated.known_models import read_measured
from pe_spectra.models.stated.statement import Configuration, Kept, LayerStatement


def find_entry(stack: str, version: str, model: str) -> Mapping[str, Any]:
    """Return what was measured of the windows of a model_type in a release; empty where nothing was.

    `alike`, how a file is read all of whose layers have a window, and `mixed` where it differs for one whose layers are
    of several types, as :data:`Kept` has it; `placed`, where the same layers slide whatever the file says: a letter for
    each of the first ones, S for those that slide, and so on.

    >>> dict(find_entry("vllm", "0.33.0", "gpt_oss"))
    {'alike': 0, 'placed': 'SFSFSF'}
    """
    found: Mapping[str, Any] = read_measured("stack-windows")[stack][version]["models"].get(model, {})
    return found


def keep_windows(stack: str, version: str) -> Callable[[Configuration], Kept]:
    """Make the function that tells of a configuration whether a release keeps to its windows.

    What classes see that look to both sides was not measured.

    >>> from pe_spectra.models.stated.statement import LayerStatement
    >>> layers = (LayerStatement(head_dim=64, window=4096),)
    >>> models = ("mistral", "cohere2", "mamba")
    >>> stated = [Configuration(path="", model=model, scheme="rotary", layers=layers) for model in models]
    >>> [keep_windows("vllm", "0.33.0")(one) for one in stated]
    [0, 1, None]
    """

    def tell(configuration: Configuration) -> Kept:
        windows = [layer.window for layer in configuration.layers]
        if configuration.format != "config.json" or any(layer.sides for layer in configuration.layers):
            return None
        entry = find_entry(stack, version, configuration.model)
        if "placed" in entry and not _are_placed(configuration.layers, entry["placed"]):
            return "others"
        kept: Kept = entry.get("mixed", entry.get("alike")) if None in windows else entry.get("alike")
        return kept

    return tell


def _are_placed(layers: Sequence[LayerStatement], letters: str) -> bool:
    """Tell whether the layers that slide are those of the letters, as far as it is stated which they are."""
    slide = [letters[place % len(letters)] == "S" for layer in layers if layer.window for place in layer.places]
    others = [letters[place % len(letters)] == "S" for layer in layers if not layer.window for place in layer.places]
    return all(slide) and not any(others)


def refuse_mixed(stack: str, version: str) -> Callable[[Description], None]:
    """Make the step that refuses layers of several types, where a release has the model with one type alone.

    >>> from pe_spectra.models.stacks import STACKS
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> keys = {"model_type": "qwen2", "head_dim": 64, "use_sliding_window": True, "max_window_layers": 8}
    >>> stated = read_configuration({**keys, "num_hidden_layers": 16, "sliding_window": 4096}, "config.json")
    >>> STACKS["vllm"].read(stated, stated.layers[0], None).cause
    'refused'
    """
    tell = keep_windows(stack, version)

    def step(found: Description) -> None:
        layers = found.configuration.layers
        if any(layer.window for layer in layers) and tell(found.configuration) == "refused":
            what = f"some of the {len(layers)} types of layers see a window"
            raise InputError(what, "", f"{found.reader} has {found.configuration.model} with one type alone", "refused")

    return step
