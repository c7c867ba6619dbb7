"""The configuration of a model for a longer context, as an implementation reads it, and its audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from pe_spectra.errors import FileError, InputError
from pe_spectra.exact import F64
from pe_spectra.findings import OPEN_OBJECT, Finding
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.checks import list_findings
from pe_spectra.models.lengths.rewriting import NEWER, list_generations, write_block, write_length
from pe_spectra.models.lengths.starting import SAME, is_same
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import STACKS, Stack
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import find_composite, find_known
from pe_spectra.models.stated.statement import Configuration, LayerStatement
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import NamedTuple, dataclass

_OPEN: Mapping[str, object] = {**OPEN_OBJECT, "propertyNames": {"pattern": "^."}}

#: Why a part that turns as the first does is left.
_UNREAD = "no block is read so of it"


@dataclass(frozen=True, kw_only=True)
class NewConfiguration(Result):
    """A configuration for the longer context; `keys` is the object of its file, and its audit is at the target."""

    keys: Mapping[str, Any]
    stack: str = quantity("The implementation that reads it so, with its version.")
    where: str = quantity(
        "Where its rotary block stands, dotted; empty where no block changes.", schema={"type": "string"}
    )
    block: Mapping[str, Any] = quantity("The keys of that block.", schema=_OPEN)
    length_key: str = quantity("The key of the context length, dotted, which is the target.")
    along: tuple[str, ...] = quantity(
        "The types of layers with a window that the same block scales, which do not need it.", default=()
    )
    alike: tuple[str, ...] = quantity("Other parts that are given the same block and length.", default=())
    left: tuple[str, ...] = quantity(
        "Other parts that turn positions in a line and stay as they are, and why.", default=()
    )
    findings: tuple[Finding, ...] = quantity("What an audit of it finds at the target, the gravest first.", default=())


class Model(NamedTuple):
    """The model of a file: its layers that see all positions, its other ones, and what is wanted of it."""

    configuration: Configuration
    keys: Mapping[str, Any] | None
    far: Sequence[LayerAudit]
    near: Sequence[LayerAudit]
    target: int
    stack: Stack | None

    @property
    def part(self) -> tuple[str, ...]:
        """The keys that lead to the part that is lengthened, which a file may leave out."""
        names: tuple[str, ...] = ()
        if self.configuration.where:  # else it has one part
            from pe_spectra.models.stated.passed_keys import NESTED_CONFIG

            found = [str(one.data["part"]) for one in self.configuration.findings if one.code == NESTED_CONFIG.code]
            names = tuple(found[0].split(".")) if found else ()
        inside = [name for name in find_known(self.configuration.model).parts if name not in names]
        is_passed = inside and NEWER in find_composite(self.configuration.model)[inside[0]].silent_passed
        return names if is_passed else (*names, *inside)

    @property
    def reader(self) -> Stack:
        """The implementation that the new configuration is for."""
        return self.stack or STACKS["transformers-5"]


class Attempt(NamedTuple):
    """A way, its keys in a rotary block, and what it is computed by."""

    method: str
    scaling: Mapping[str, Any]  #: empty where nothing is scaled; None for a key that goes
    frequencies: F64  #: of each pair at the target, fastest first
    attention: float
    reason: str
    training: str
    keeps: bool = False  #: whether the keys of the scaling that there is stay


def find_configuration(model: Model, layer: LayerAudit, choice: Attempt) -> NewConfiguration | None:
    """Find the configuration that a stack reads as a way, in the first generation of keys that it does; None for none.

    Its audit must have no error that the file has not. Layers with a window may go along with a common block.

    >>> from pe_spectra.models.lengths.starting import list_turned
    >>> config = {"model_type": "llama", "head_dim": 4, "rope_theta": 1e4, "max_position_embeddings": 64}
    >>> read = read_configuration(config, "config.json")
    >>> (layer,) = list_turned(read, None)
    >>> choice = Attempt("linear", {"rope_type": "linear", "factor": 2.0}, layer.frequencies / 2, 1.0, "", "")
    >>> find_configuration(Model(read, config, [layer], [], 128, None), layer, choice).where
    'rope_parameters'
    """
    stack = model.reader
    is_newest = stack.name == "transformers-5"
    old = {one.code for one in list_findings(model.configuration) if one.level == "error"}
    generations = list_generations(model.keys or {}, model.part, newest_first=is_newest) if choice.scaling else ("",)
    nested = (None, _list_beside(model)) if model.near else (None,)
    parts = list(_list_parts(model))
    alike = tuple(one for one, why in parts if not why)
    # a class whose own block has the share turns whole heads by another block that lacks it
    share = layer.statement.share
    shares = [{}, {"partial_rotary_factor": share}] if choice.scaling and share != 1 else [{}]
    for others, beside, shared, generation in product((alike, ()) if alike else ((),), nested, shares, generations):
        paths = (model.part, *map(_find_path, others))
        tried = choice._replace(scaling={**choice.scaling, **shared})
        written, where, block, length_key = _write(model, paths, layer, tried, generation, beside)
        try:
            new = read_configuration(written, model.configuration.path)
        except (FileError, InputError):
            continue
        findings = list_findings(new, model.target)
        is_sound = {one.code for one in findings if one.level == "error"} <= old
        along = _reads_so(model, new, choice, stack) if is_sound and _read_alike(model, new, others) else None
        if along is not None:
            return NewConfiguration(
                keys=MappingProxyType(written),
                stack=stack.title,
                where=where,
                block=MappingProxyType(block),
                length_key=length_key,
                along=along,
                alike=tuple(one.where for one in others),
                left=tuple(f"{one.where}: {why or _UNREAD}" for one, why in parts if one not in others),
                findings=findings,
            )
    return None


def _list_parts(model: Model) -> Iterator[tuple[Configuration, str]]:
    """Give each other part that turns positions in a line, and why it is not lengthened alike; "" where it may be.

    Towers of pictures have no context length.
    """
    whole = model.configuration
    own = _read_layers(model.reader, whole, model.target)
    for one in whole.parts:
        if one.length is None or one.axes or not any(layer.turns and layer.axes is None for layer in one.layers):
            continue
        same = _is_alike(model, own, one)
        other = f"its context is {one.length:,} positions" if one.length != whole.length else ""
        yield one, other or ("" if same else "its frequencies are others")


def _find_path(part: Configuration) -> tuple[str, ...]:
    """The keys that lead to where the class of a part reads its block."""
    names = tuple(part.where.split("."))
    return (*names, *(name for name in find_known(part.model).parts if name not in names))


def _read_layers(stack: Stack, part: Configuration, served: int) -> dict[str, Rotation | None]:
    return {layer.name: _read(stack, part, layer, served) for layer in part.layers}


def _is_alike(model: Model, own: Mapping[str, Rotation | None], part: Configuration) -> bool:
    """Whether every type of layers of a part turns as that of the same name does."""
    for name, found in _read_layers(model.reader, part, model.target).items():
        one = own.get(name)
        if one is None or found is None or not is_same(one.listed, found.listed):
            return False
        if abs((one.attention_scaling or 1) - (found.attention_scaling or 1)) > SAME:
            return False
    return True


def _read_alike(model: Model, new: Configuration, others: Sequence[Configuration]) -> bool:
    """Whether the other parts that were written turn as the first does."""
    own = _read_layers(model.reader, new, model.target)
    for other in others:
        found = [one for one in new.parts if f"{one.where}.".startswith(f"{other.where}.") and one.layers]
        if not found or not all(_is_alike(model, own, one) for one in found):
            return False
    return True


def _write(
    model: Model,
    paths: Sequence[tuple[str, ...]],
    layer: LayerAudit,
    choice: Attempt,
    generation: str,
    beside: Mapping[str, Mapping[str, Any]] | None,
) -> tuple[dict[str, Any], str, dict[str, Any], str]:
    """The keys with block and length in every part; of the first the place of its block, this, and the length's key."""
    written, first = dict(model.keys or {}), None
    for path in paths:
        where, block = "", dict[str, Any]()
        if generation:
            written, where, block = write_block(
                written,
                path,
                layer=layer.name,
                generation=generation,
                scaling=choice.scaling,
                base=layer.base or 0.0,
                kept=find_known(model.configuration.model).scaling if choice.keeps else None,
                beside=beside,
            )
        written, length_key = write_length(written, path, model.target)
        first = first or (where, block, length_key)
    return (written, *(first or ("", {}, "")))


def _list_beside(model: Model) -> dict[str, dict[str, Any]]:
    """Blocks of the types of layers with a window, for a file whose class reads blocks by type of layer alone."""
    plain = [one for one in model.near if one.scaling == "none"]
    return {one.name: {"rope_type": "default", "rope_theta": one.base} for one in plain}


def _reads_so(model: Model, new: Configuration, choice: Attempt, stack: Stack) -> tuple[str, ...] | None:
    """The layers with a window that turn otherwise than before, of a stack that turns all others by a way; else None.

    Where one block is for all layers, those with a window go along; no other rotation may change.
    """
    layers = {one.name: one for one in new.layers}
    for one in model.far:
        found = _read(stack, new, layers.get(one.name), model.target)
        if found is None or not is_same(np.sort(found.listed), np.sort(choice.frequencies)):
            return None
        if abs((found.attention_scaling or 1) - choice.attention) > SAME:
            return None
    along = []
    for one in model.near:
        before = _read(stack, model.configuration, one.statement, model.target)
        after = _read(stack, new, layers.get(one.name), model.target)
        if before is None or after is None:
            return None
        if not is_same(before.listed, after.listed):
            if not is_same(np.sort(after.listed), np.sort(choice.frequencies)):
                return None
            along.append(one.name)
    return tuple(along)


def _read(stack: Stack, configuration: Configuration, layer: LayerStatement | None, served: int) -> Rotation | None:
    found = stack.read(configuration, layer, served) if layer is not None else None
    return found if isinstance(found, Rotation) else None
