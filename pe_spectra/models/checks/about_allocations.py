"""A finding about what is allocated for a cache: implementations that read another list for it than for the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pe_spectra.findings import Finding, Kind
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import STACKS, Stack
from pe_spectra.models.stacks.allocation import find_list, say_chosen

_OTHER_LIST = Kind(
    code="other-list",
    levels=("warning",),
    phrase="implementations read different lists for this allocation",
    reasoning="LongRoPE has a list of divisors for lengths up to the original and another beyond. Some implementations "
    "choose once, by the length that a cache is allocated for, others by the positions of the prompt: a short prompt "
    "in a long allocation is then turned by other frequencies in one than in the other. It is told where --allocated "
    "is given, of the implementations that were measured and take the file.",
    formula="the lists that implementations take at the inference and the allocated context length are not all one; "
    "breaks from the first position where a phase is off by more than pi/8 between both",
    references=("Ding et al. 2024, arXiv:2402.13753",),
)


def goes_by_allocation(layer: LayerAudit) -> bool:
    """Tell whether an implementation goes by the length that is allocated for these layers.

    >>> from pe_spectra.models.stated.statement import Configuration
    >>> stated = Configuration(path="config.json", scheme="rotary")
    >>> goes_by_allocation(LayerAudit(configuration=stated, trained_length=None, served_length=None))
    False
    """
    return any(stack.goes_by_allocation(layer.statement) for stack in STACKS.values())


def _check_lists(layer: LayerAudit) -> Iterator[Finding]:
    """Say which list each implementation takes, where they differ for what is allocated."""
    allocated, served = layer.allocated_length, layer.served_length
    if allocated is None or served is None or layer.rotation is None or not goes_by_allocation(layer):
        return
    taken = tuple(_take_lists(layer, served, allocated))
    by_list = {find_list(one): one for _, one in taken}
    if len(by_list) < 2:
        return
    from pe_spectra.models.comparison.divergence import compare_frequencies

    said = "; ".join(f"{name}, {who}" for name in sorted(by_list) for who in _name_choosers(layer, taken, name))
    short, long = by_list.values()
    off = compare_frequencies(layer.name, short, long, layer.limit(served)).first_position_off
    breaks = "" if off is None else f": one against the other breaks from position {off:,} on"
    stacks = {stack.release_name: find_list(one) for stack, one in taken}
    yield layer.find(_OTHER_LIST, f"{said}{breaks}", allocated=allocated, first_position_off=off, lists=stacks)


def _name_choosers(layer: LayerAudit, taken: Sequence[tuple[Stack, Rotation]], name: str) -> Iterator[str]:
    """Name the implementations that take one list, those that go by what is allocated first."""
    found = [stack for stack, one in taken if find_list(one) == name]
    choosing = [one.title for one in found if one.goes_by_allocation(layer.statement)]
    if choosing:
        yield say_chosen(choosing, layer.allocated_length or 0)
    if len(choosing) < len(found):
        others = [one.title for one in found if one.title not in choosing]
        yield f"for the {layer.served_length:,} that are served: {', '.join(others)}"


def _take_lists(layer: LayerAudit, served: int, allocated: int) -> Iterator[tuple[Stack, Rotation]]:
    """Give what each implementation that was measured turns by, of those that take the file and choose a list."""
    for stack in STACKS.values():
        length = stack.choose_length(layer.statement, served, allocated)
        found = stack.read(layer.configuration, layer.statement, length) if stack.how != "read" else None
        if isinstance(found, Rotation) and find_list(found):
            yield stack, found


CHECKS = (_check_lists,)
