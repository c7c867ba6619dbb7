"""Which axis of a position turns each pair, where positions have several: time, height and width (mrope)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import HEAD_WIDTH, Keys
from pe_spectra.models.stated.known_models import KnownModel
from pe_spectra.models.stated.statement import TRANSFORMERS, LayerStatement
from pe_spectra.wording import write_number

#: In what order pairs go to axes: in one block for each, in turns, or height and width in turns and then time.
AXIS_ORDERS = ("blocks", "turns", "height-width")
GRID_ROTATION = Kind(
    code="grid-rotation",
    levels=("note",),
    phrase="each axis of a grid is turned by the same frequencies",
    reasoning="A class that sees pictures turns a part of each head by the row of a patch and another by its column, "
    "with one ladder for all axes; what is listed is the ladder of one axis. Some count patches; others scale pictures "
    "of any size to coordinates from -1 to 1, so that the angle between neighbours follows the number of patches.",
    formula="frequency times the coordinate on its axis; where coordinates are scaled, span / n between neighbours of "
    "n patches by a frequency of 1; both measured",
    references=(TRANSFORMERS,),
)


def report_grid(keys: Keys, known: KnownModel, layers: Sequence[LayerStatement]) -> None:
    """Report how a class with several axes of a grid turns them.

    >>> keys = Keys({}, "config.json")
    >>> report_grid(keys, KnownModel(axes=2), [LayerStatement(head_dim=32)])
    >>> [found.code for found in keys.findings]
    ['grid-rotation']
    """
    span = known.grid_span
    place = (
        f"each of the {known.axes} axes of a grid turns {count_pairs(layers[0])} pairs of a head by these frequencies"
    )
    unit = "coordinates count patches"
    if span is not None:
        unit = tell_span(span)
    keys.report(GRID_ROTATION, f"{place}; {unit}", axes=known.axes, span=span)


def tell_span(span: float) -> str:
    """Say what coordinates are that go from end to end of a grid whatever the patches.

    Parameters
    ----------
    span : the angle from end to end of a frequency of 1, in rad.

    >>> tell_span(12.5664)
    'coordinates are scaled, so a frequency of 1 turns by 12.5664/n between neighbours of n patches'
    """
    turn = f"{write_number(span)}/n between neighbours of n patches"
    return f"coordinates are scaled, so a frequency of 1 turns by {turn}"


def list_axes(sections: Sequence[int], order: str, pairs: int) -> tuple[int, ...]:
    """List the axis of each pair, from 0; pairs that no section covers turn by the first axis.

    Parameters
    ----------
    sections : pairs of each axis. order : of `AXIS_ORDERS`. Of blocks any number of axes; of the others three,
        0 time, 1 height and 2 width.

    >>> list_axes((2, 1, 1), "blocks", 4), list_axes((2, 1, 1), "turns", 4), list_axes((1, 1, 2), "height-width", 4)
    ((0, 0, 1, 2), (0, 1, 2, 0), (1, 2, 0, 0))
    """
    if order == "turns":
        return tuple(i % 3 if i < 3 * sections[i % 3] else 0 for i in range(pairs))
    if order == "height-width":
        both = sections[0] + sections[1]
        return tuple(1 + i % 2 if i < both else 0 for i in range(pairs))
    listed = [axis for axis, size in enumerate(sections) for _ in range(size)]
    return tuple((listed + [0] * pairs)[:pairs])


def add_axes(keys: Keys, known: KnownModel, layers: Sequence[LayerStatement]) -> tuple[LayerStatement, ...]:
    """Add to layers which axis turns each pair, and report sections that do not cover the pairs.

    >>> keys = Keys({"mrope_section": [1, 1, 1]}, "config.json")
    >>> [layer.axes for layer in add_axes(keys, KnownModel(), [LayerStatement(head_dim=8)])]
    [(0, 1, 2, 0)]
    >>> [one.code for one in keys.findings]
    ['head-width']
    >>> block = {"mrope_section": [2, 1, 1], "mrope_interleaved": True}
    >>> add_axes(Keys({"rope_scaling": block}, "config.json"), KnownModel(), [LayerStatement(head_dim=8)])[0].axes
    (0, 1, 2, 0)
    """
    _check_sections(keys, known, layers[0])
    return tuple(replace(layer, axes=_read_axes(keys, known, count_pairs(layer))) for layer in layers)


def _read_axes(keys: Keys, known: KnownModel, pairs: int) -> tuple[int, ...]:
    """Read the axis of each of the pairs that are turned; 0 of all where neither the file nor the class has sections.

    mrope_interleaved, which no class of transformers reads and vLLM does, goes before the order of the class.
    """
    stated = [block.find_numbers("mrope_section") for block in _list_places(keys)]
    sections = next((one for one in stated if one), None) or known.sections or known.axis_sections
    asked = [block.find_truth("mrope_interleaved") for block in _list_places(keys)]
    in_turns = next((one for one in asked if one is not None), None)
    order = known.axis_order if in_turns is None else "turns" if in_turns else "blocks"
    whole = [int(min(max(size, 0), pairs)) for size in sections]
    return list_axes(whole, order if len(whole) == 3 else "blocks", pairs)


def _check_sections(keys: Keys, known: KnownModel, layer: LayerStatement) -> None:
    """Report sections of mrope, stated or the class's, that do not cover the pairs which are turned."""
    pairs = count_pairs(layer)
    places = [*_list_places(keys)]
    if known.sections:
        places.append(Keys({"mrope_section": [*known.sections]}, keys.path, f"the default of {known.model}: "))
    for block in places:
        sections = block.find_numbers("mrope_section")
        if sections is not None and sum(sections) != pairs:
            message = (
                f"{block.where}mrope_section adds up to {write_number(sum(sections))} pairs, but {pairs} pairs are "
                "turned; its sections must cover them"
            )
            keys.report(HEAD_WIDTH, message, sections=sections)
            return


def count_pairs(layer: LayerStatement) -> int:
    """Count the pairs that are turned; a class that ignores the share turns all of a ladder without scaling.

    >>> count_pairs(LayerStatement(head_dim=64, share=0.5))
    16
    """
    is_wide = layer.share != 1 and layer.share_ignored and layer.block.kind in ("default", "mrope", "axial")
    width = int(layer.head_dim * (1 if is_wide else layer.share))
    # a share that leaves an odd width is rounded up
    return (width + (" / " not in layer.share_key and width < layer.head_dim)) // 2


def _list_places(keys: Keys) -> Iterator[Keys]:
    yield from (keys.find_object("rope_parameters"), keys.find_object("rope_scaling"), keys)
