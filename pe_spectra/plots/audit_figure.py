"""The figure of `pe-spectra audit`: wavelengths and kernel of each type of layer, before and after scaling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pe_spectra.answers.audits import entitle_audit
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.audited_pairs import MANY_TURNS
from pe_spectra.models.lengths.ways import sample_kernel
from pe_spectra.plots.axes import (
    Spot,
    draw_band,
    draw_curve,
    head_panel,
    label_integers,
    label_powers_of_ten,
    place_label,
    places_along,
)
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import (
    BLUE,
    COLUMN_WIDTH,
    GREEN,
    GREY,
    PAGE_WIDTH,
    VERMILION,
    DashPattern,
    LineStyle,
    escape_text,
    fixed_style,
)

if TYPE_CHECKING:
    from pe_spectra.models.audit import ModelAudit

F64 = NDArray[np.float64]

#: Inches: height of the ladder and of the kernel.
_LADDER, _KERNEL = 1.75, 1.15
#: Types of layers that are drawn side by side.
_MOST = 3
#: Characters of a title.
_LONGEST_TITLE = 300
#: Lags of a kernel end here where no length is known.
_LONGEST = 1 << 16
_BEFORE: LineStyle = {"color": GREY, "linestyle": (0, (4, 1.5))}
#: From the last pair of a class to the first of the next.
_JOINT: LineStyle = {"color": GREY, "linestyle": "-"}
_STATES: dict[str, tuple[str, LineStyle]] = {
    "many": (f"pairs that complete {MANY_TURNS:g} periods or more in training", {"color": BLUE, "linestyle": "-"}),
    "few": ("pairs that complete fewer", {"color": GREEN, "linestyle": (0, (6, 1.2, 1, 1.2))}),
    "never": ("pairs that never complete a period", {"color": VERMILION, "linestyle": (0, (1, 0.8))}),
}
_DASHES: dict[str, DashPattern] = {"trained": (0, (1, 1.5)), "served": "-", "original": (0, (5, 2))}
_UNKNOWN: LineStyle = {"color": BLUE, "linestyle": "-"}


@fixed_style()
def compose_audit(audit: ModelAudit) -> Figure:
    """Draw the ladder of wavelengths of each type of layers, and the kernel below it.

    Raises
    ------
    ValueError : nothing is turned.
    """
    turned = [layer for layer in audit.layers if layer.frequencies.size]
    if not turned:
        raise ValueError("a figure of an audit needs layers that are turned")
    layers = turned[:_MOST]
    layout = Layout(
        title=escape_text(entitle_audit(audit), longest=_LONGEST_TITLE),
        heights=(_LADDER, _KERNEL),
        small_print=_describe(audit, turned),
        key=_list_key(layers),
        left=0.62,
        right=0.13,
        top=0.26,
        gap=0.50,
        bottom=0.46,
        width=COLUMN_WIDTH if len(layers) == 1 else PAGE_WIDTH,
        columns=len(layers),
    )
    figure, panels = lay_out(layout)
    for layer, ladder, kernel in zip(layers, panels, panels[len(layers) :], strict=False):
        plot_wavelengths(ladder, layer)
        head_panel(ladder, _head(layer))
        plot_layer_kernel(kernel, layer)
    panels[0].set_ylabel("wavelength (positions)")
    panels[len(layers)].set_ylabel("mean cos(lag θ)")
    _share_limits(panels[: len(layers)])
    _share_limits(panels[len(layers) :])
    for layer, ladder in zip(layers, panels, strict=False):
        _name_lengths(ladder, layer)
    return figure


def plot_wavelengths(axes: Axes, layer: LayerAudit) -> None:
    """Draw base-10 logarithms of the wavelengths against the pair, by how often each turns, with the lengths.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 8, "max_position_embeddings": 64}
    >>> layer, = audit_configuration(read_configuration(config, "config.json")).layers
    >>> axes = Figure().subplots()
    >>> plot_wavelengths(axes, layer)
    >>> axes.get_xlabel()
    'pair'
    """
    pairs = np.arange(layer.frequencies.size, dtype=np.float64)
    for length, dashes in _list_lengths(layer).values():
        axes.axhline(math.log10(length), color=GREY, linewidth=0.6, linestyle=dashes, zorder=0)
    before = find_unscaled(layer)
    if before is not None:
        draw_curve(axes, pairs, _find_logarithms(before), _BEFORE, linewidth=0.8)
    waves = _find_logarithms(layer.frequencies)
    states = np.array(layer.states)
    last = np.flatnonzero(states[1:] != states[:-1])  # of each class but the last: no pair is missing there
    if last.size:
        steps = np.column_stack([pairs[last], pairs[last + 1], np.full(last.size, np.nan)]).ravel()
        draw_curve(axes, steps, np.interp(steps, pairs, waves), _JOINT, linewidth=0.6)
    for state, (_, style) in _STATES.items():
        own = states == state
        if own.any():  # between pairs of two classes is a gap: the line there would belong to neither
            alone = np.flatnonzero(own & ~np.append(False, own[:-1]) & ~np.append(own[1:], False)).tolist()
            dots = {"marker": "o" if alone else "", "markevery": alone, "markersize": 3.0, "markeredgewidth": 0}
            draw_curve(axes, pairs, np.where(own, waves, np.nan), style, linewidth=1.8, **dots)
    if not any(layer.states):
        draw_curve(axes, pairs, waves, _UNKNOWN, linewidth=1.8)
    axes.set_xlim(0, max(1, pairs.size - 1))
    drawn = np.concatenate([waves, *([] if before is None else [_find_logarithms(before)])])
    ends = [math.log10(length) for length, _ in _list_lengths(layer).values()]
    seen = [*drawn[np.isfinite(drawn)].tolist(), *ends]
    axes.set_ylim(min(seen) - 0.2, max(seen) + 0.45)
    label_integers(axes.xaxis)
    label_powers_of_ten(axes.yaxis)
    axes.set_xlabel("pair", labelpad=1)


def plot_layer_kernel(axes: Axes, layer: LayerAudit) -> None:
    """Draw the mean cosine over the pairs against the base-10 logarithm of the lag, before and after scaling.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 8, "max_position_embeddings": 64}
    >>> layer, = audit_configuration(read_configuration(config, "config.json")).layers
    >>> axes = Figure().subplots()
    >>> plot_layer_kernel(axes, layer)
    >>> axes.get_xlabel()
    'lag (positions)'
    """
    axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    longest = max([2, *(length for length, _ in _list_lengths(layer).values())])
    before = find_unscaled(layer)
    drawn: list[tuple[F64, LineStyle]] = [] if before is None else [(before, _BEFORE)]
    lowest = 0.0
    for frequencies, style in (*drawn, (layer.frequencies, _UNKNOWN)):
        sample = sample_kernel(frequencies, longest if _list_lengths(layer) else _LONGEST)
        lags = np.log10(sample.lags)
        draw_band(axes, lags, sample.low, sample.high, style["color"])
        draw_curve(axes, lags, sample.mean, style, linewidth=1.0)
        lowest = min(lowest, float(sample.low.min()))
        axes.set_xlim(0, float(lags[-1]))
    axes.set_ylim(min(-0.1, 1.1 * lowest), 1.06)
    axes.set_yticks([0, 0.5, 1])
    label_powers_of_ten(axes.xaxis)
    axes.set_xlabel("lag (positions)", labelpad=1)


def find_unscaled(layer: LayerAudit) -> F64 | None:
    """Return the frequencies before scaling, (D/2,); None where the scaling changes none, or there is no base."""
    unscaled = layer.unscaled
    if unscaled is None or np.allclose(unscaled, layer.frequencies, rtol=1e-9, atol=0):
        return None
    return unscaled


def _find_logarithms(frequencies: F64) -> F64:
    """Base-10 logarithms of wavelengths; nan for pairs at rest."""
    turning = frequencies > 0
    logarithms: F64 = np.where(turning, math.log10(2 * math.pi) - np.log10(np.where(turning, frequencies, 1)), np.nan)
    return logarithms


def _list_lengths(layer: LayerAudit) -> dict[str, tuple[int, DashPattern]]:
    """The lengths that these layers see at once, with the line that each is drawn by."""
    stated = {"trained": layer.trained_length, "served": layer.served_length, "original": layer.original_length}
    lengths: dict[str, tuple[int, DashPattern]] = {}
    for name, length in stated.items():
        seen = None if length is None else layer.limit(length)
        if seen is not None and seen not in [other for other, _ in lengths.values()]:
            lengths[name] = (seen, _DASHES[name])
    return lengths


def _name_lengths(axes: Axes, layer: LayerAudit) -> None:
    pairs = np.linspace(0, axes.get_xlim()[1], 40)
    for name, (length, _) in _list_lengths(layer).items():
        window = layer.reach is not None and length == layer.reach
        text = f"window {length:,}" if window else f"{name} {length:,}"
        height = np.full(pairs.size, math.log10(length))
        places: list[Spot] = places_along(pairs, height, ("above right", "below right", "above left", "below left"))
        place_label(axes, text, places, colour=GREY)


def _share_limits(panels: Sequence[Axes]) -> None:
    low, high = min(axes.get_ylim()[0] for axes in panels), max(axes.get_ylim()[1] for axes in panels)
    for axes in panels:
        axes.set_ylim(low, high)


def _list_key(layers: Sequence[LayerAudit]) -> tuple[tuple[str, LineStyle], ...]:
    shown = {state for layer in layers for state in layer.states}
    key = [entry for state, entry in _STATES.items() if state in shown]
    if any(find_unscaled(layer) is not None for layer in layers):
        key += [] if key else [("after scaling", _UNKNOWN)]
        key.append(("before scaling", _BEFORE))
    return tuple(key)


def _head(layer: LayerAudit) -> str:
    rotation = layer.rotation
    name = "" if layer.name == "all" else f"{escape_text(layer.name, longest=24)}: "
    if rotation is None or rotation.base is None:
        return name
    scaling = "" if rotation.scaling in (None, "none") else f", {rotation.scaling} scaling"
    return f"{name}base {rotation.base:,.9g}{scaling}"


def _describe(audit: ModelAudit, layers: Sequence[LayerAudit]) -> tuple[str, ...]:
    drawn = ", solid after scaling, dashed before" if any(find_unscaled(one) is not None for one in layers) else ""
    words = [f"Kernel: mean of cos(lag θ) over the pairs{drawn}; line and range of stretches of lags."]
    if any(len(set(layer.states)) > 1 for layer in layers[:_MOST]):
        words.append("Thin line: the step between neighbouring pairs of two classes.")
    for layer in layers[:_MOST]:
        rest = int(np.count_nonzero(layer.frequencies == 0))
        if rest:
            words.append(f"{escape_text(layer.name)}: {rest} pairs at rest are not drawn.")
    if len(layers) > _MOST:
        words.append(f"{len(layers) - _MOST} more layer types are not drawn.")
    still = [layer.name for layer in audit.layers if not layer.frequencies.size]
    if still:
        words.append(f"Not turned: {escape_text(', '.join(still))}.")
    return (" ".join(words),)
