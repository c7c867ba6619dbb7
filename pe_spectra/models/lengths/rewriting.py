"""A config.json for another length: its rotary block and its length written anew, all other keys kept in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pe_spectra.models.stated.keys import LENGTHS, LISTS, NUMBERS

#: The two generations of rotary blocks; transformers 5 writes the first.
GENERATIONS = NEWER, OLDER = ("rope_parameters", "rope_scaling")
#: Keys of a block that belong to a scaling and go with it.
_OF_SCALINGS = ("rope_type", "type", "truncate", *NUMBERS, *LISTS)


def write_block(
    config: Mapping[str, Any],
    part: Sequence[str],
    *,
    layer: str,
    generation: str,
    scaling: Mapping[str, Any],
    base: float,
    kept: Mapping[str, Any] | None = None,
    beside: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Return a configuration with another scaling, the place of its block, dotted, and the block.

    Parameters
    ----------
    config : the object of config.json; it stays as it is.
    part : the keys that lead to the part that is written, ("text_config",); () for the whole.
    layer : the type of layers whose scaling it is, "all" where there is one; where rope_parameters is nested by type,
        the block of this one alone is written.
    generation : of GENERATIONS, the block that is written.
    scaling : rope_type and its keys, None for one that goes.
    base : what the block gives as rope_theta, where it is of the newer generation.
    kept : the block that the model's class takes where the file has none, if keys of the scaling that there is stay,
        unless `scaling` has them; None where they go.
    beside : the blocks of the other types of layers, where rope_parameters becomes nested by type; None leaves it flat.

    >>> config = {"rope_theta": 1e4, "rope_scaling": None, "vocab_size": 8}
    >>> write_block(config, (), layer="all", generation="rope_scaling", scaling={"rope_type": "linear"}, base=1e4)[0]
    {'rope_theta': 10000.0, 'rope_scaling': {'rope_type': 'linear'}, 'vocab_size': 8}
    """
    whole = dict(config)
    keys = _open(whole, part)
    newer, older = ({**keys[name]} if isinstance(keys.get(name), Mapping) else {} for name in GENERATIONS)
    is_flat = not isinstance(newer.get(layer), Mapping)
    nested = generation == NEWER and (beside is not None or not is_flat)
    there = [newer if is_flat else newer[layer], older] if generation == NEWER else [older]
    stays = {key: value for block in there for key, value in block.items()}
    if kept is None:
        stays = {key: value for key, value in stays.items() if key not in _OF_SCALINGS}
    elif not stays:
        stays = dict(kept)
    block = {"rope_type": scaling["rope_type"], **({"rope_theta": base} if generation == NEWER else {}), **stays}
    block = {**{key: value for key, value in block.items() if key != "type"}, **scaling}
    block = {key: value for key, value in block.items() if value is not None or key not in scaling}
    written = {**(newer if beside is None else beside), layer: block} if nested else block
    others = [name for name in GENERATIONS if name != generation and keys.get(name) is not None]
    _replace(keys, generation, others, written)
    if generation == OLDER:
        keys.setdefault("rope_theta", base)
    where = (*part, generation, *([layer] if nested else []))
    return whole, ".".join(where), block


def write_length(config: Mapping[str, Any], part: Sequence[str], length: int) -> tuple[dict[str, Any], str]:
    """Return a configuration with another context length, and the key that has it, dotted.

    Parameters
    ----------
    part : as in :func:`write_block`. length : in positions.

    >>> write_length({"n_positions": 8, "vocab_size": 2}, (), 16)
    ({'n_positions': 16, 'vocab_size': 2}, 'n_positions')
    """
    whole = dict(config)
    keys = _open(whole, part)
    key = next((key for key in LENGTHS if keys.get(key) is not None), LENGTHS[0])
    keys[key] = length
    return whole, ".".join((*part, key))


def list_generations(config: Mapping[str, Any], part: Sequence[str], *, newest_first: bool) -> Iterator[str]:
    """List the generations to try: the newest, or the one that the file has, and then the other.

    >>> list(list_generations({"rope_scaling": {"type": "linear"}}, (), newest_first=False))
    ['rope_scaling', 'rope_parameters']
    """
    keys = _open(dict(config), part)
    own = NEWER if newest_first or keys.get(NEWER) is not None else OLDER
    yield own
    yield from (name for name in GENERATIONS if name != own)


def _open(whole: dict[str, Any], part: Sequence[str]) -> dict[str, Any]:
    """Copy the objects on the way to a part, or make them, so that what was given stays as it is; return the part."""
    keys = whole
    for name in part:
        keys[name] = dict(keys.get(name) or {})
        keys = keys[name]
    return keys


def _replace(keys: dict[str, Any], name: str, others: Sequence[str], block: Mapping[str, Any]) -> None:
    """Put a block where one of its name or of another stands, behind the base where none does; leave others out."""
    old = dict(keys)
    place = next((key for key in (name, *others, "rope_theta") if key in old), None)
    keys.clear()
    for key, value in old.items():
        if key not in (name, *others):
            keys[key] = value
        if key == place:
            keys[name] = dict(block)
    keys.setdefault(name, dict(block))
