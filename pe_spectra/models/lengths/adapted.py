"""The configuration of a model for a longer context, as an implementation reads it, and its audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pe_spectra.errors import FileError, InputError
from pe_spectra.exact import F64
from pe_spectra.findings import OPEN_OBJECT, Finding
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.lengths.rewriting import NEWER, list_generations, write_block, write_length
from pe_spectra.models.lengths.starting import SAME, is_same
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import STACKS, Stack
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import find_composite, find_known
from pe_spectra.models.stated.position_tables import NESTED_CONFIG
from pe_spectra.models.stated.statement import Configuration, LayerStatement
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass

_OPEN: Mapping[str, object] = {**OPEN_OBJECT, "propertyNames": {"pattern": "^."}}


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
        found = [str(one.data["part"]) for one in self.configuration.findings if one.code == NESTED_CONFIG.code]
        names = tuple(found[0].split(".")) if found else ()
        inside = [name for name in find_known(self.configuration.model).parts if name not in names]
        is_passed = inside and NEWER in find_composite(self.configuration.model)[inside[0]].silent_passed
        return names if is_passed else (*names, *inside)


class Attempt(NamedTuple):
    """A way, its keys in a rotary block, and what it is computed by."""

    method: str
    scaling: Mapping[str, Any]  #: empty where nothing is scaled
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
    keys, stack = model.keys or {}, model.stack or STACKS["transformers-5"]
    is_newest = stack.name == "transformers-5"
    old = {one.code for one in audit_configuration(model.configuration).findings if one.level == "error"}
    generations = list_generations(keys, model.part, newest_first=is_newest) if choice.scaling else ("",)
    nested = (None, _list_beside(model)) if model.near else (None,)
    for beside, generation in product(nested, generations):
        written, where, block = dict(keys), "", dict[str, Any]()
        if generation:
            written, where, block = write_block(
                keys,
                model.part,
                layer=layer.name,
                generation=generation,
                scaling=choice.scaling,
                base=layer.base or 0.0,
                kept=find_known(model.configuration.model).scaling if choice.keeps else None,
                beside=beside,
            )
            block.pop("attention_factor", None)
        written, length_key = write_length(written, model.part, model.target)
        try:
            new = read_configuration(written, model.configuration.path)
        except (FileError, InputError):
            continue
        findings = audit_configuration(new, served=model.target).findings
        is_sound = {one.code for one in findings if one.level == "error"} <= old
        along = _reads_so(model, new, choice, stack) if is_sound else None
        if along is not None:
            return NewConfiguration(
                keys=MappingProxyType(written),
                stack=stack.title,
                where=where,
                block=MappingProxyType(block),
                length_key=length_key,
                along=along,
                findings=findings,
            )
    return None


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
        if found is None or not is_same(np.sort(_frequencies(found))[::-1], choice.frequencies):
            return None
        if abs((found.attention_scaling or 1) - choice.attention) > SAME:
            return None
    along = []
    for one in model.near:
        before = _read(stack, model.configuration, one.statement, model.target)
        after = _read(stack, new, layers.get(one.name), model.target)
        if before is None or after is None:
            return None
        if not is_same(_frequencies(before), _frequencies(after)):
            if not is_same(np.sort(_frequencies(after))[::-1], choice.frequencies):
                return None
            along.append(one.name)
    return tuple(along)


def _read(stack: Stack, configuration: Configuration, layer: LayerStatement | None, served: int) -> Rotation | None:
    found = stack.read(configuration, layer, served) if layer is not None else None
    return found if isinstance(found, Rotation) else None


def _frequencies(found: Rotation) -> F64:
    return np.empty(0) if found.frequencies is None else found.frequencies
