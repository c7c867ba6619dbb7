"""Rotary frequencies before and after a change: the ladder of wavelengths, and the kernel.

The figure of `pe-spectra audit` shows each type of layers, that of `pe-spectra context` each way to lengthen a context.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.answers.audits import answer_audits
from pe_spectra.answers.lengthenings import answer_lengthenings, entitle_way
from pe_spectra.errors import UndefinedError
from pe_spectra.exact import F64, NDArray
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.cosine_sums import KernelSample, sample_kernel
from pe_spectra.models.lengths.methods import ContextReport, MethodResult
from pe_spectra.models.rotation import MANY_TURNS
from pe_spectra.plots.axes import (
    anchor_ticks,
    beside,
    draw_band,
    draw_curve,
    find_range,
    head_panel,
    label_integers,
    label_powers_of_ten,
    measure_above,
    place_label,
    write_above,
)
from pe_spectra.plots.sheet import Layout, lay_out, share_limits
from pe_spectra.plots.style import (
    BLUE,
    COLUMN_WIDTH,
    GREEN,
    GREY,
    PAGE_WIDTH,
    TICK_SIZE,
    VERMILION,
    DashPattern,
    LineStyle,
    curve_style,
    escape_text,
    fixed_style,
)
from pe_spectra.wording import shorten

if TYPE_CHECKING:
    from pe_spectra.models.model_audit import ModelAudit

_BEFORE: LineStyle = {"color": GREY, "linestyle": (0, (4, 1.5))}
_AFTER: LineStyle = {"color": BLUE, "linestyle": "-"}
#: Beads, which are told from the line below them without colour, too.
_UNSEEN: LineStyle = {"color": VERMILION, "linestyle": (0, (0.9, 0.7))}
_KEY = (("before", _BEFORE), ("after", _AFTER), ("pairs with out-of-range phases", _UNSEEN))
#: Of a context, in inches: a panel, white at its left and right, its tick labels, white between rows; cells across.
_PANEL, _LEFT, _RIGHT, _TICKS, _WHITE = 0.86, 0.52, 0.13, 0.24, 0.10
_ACROSS = 2

#: Of an audit: inches of the ladder and of the kernel, types of layers side by side, characters of a title.
_LADDER, _KERNEL, _MOST = 1.75, 1.15, 3
#: Lags of a kernel end here where no length is known.
_LONGEST = 1 << 16
_STATES: dict[str, tuple[str, LineStyle]] = {
    "many": (f"pairs that complete {MANY_TURNS:g} periods or more in training", {"color": BLUE, "linestyle": "-"}),
    "few": ("pairs that complete fewer", {"color": GREEN, "linestyle": (0, (6, 1.2, 1, 1.2))}),
    "never": ("pairs that never complete a period", {"color": VERMILION, "linestyle": (0, (1, 0.8))}),
}
_DASHES: dict[str, DashPattern] = {"trained": (0, (1, 1.5)), "served": "-", "original": (0, (5, 2))}


@fixed_style()
def compose_context(report: ContextReport) -> Figure:
    """Draw a cell for each way, in order: its ladder beside its kernel, both with those of the unchanged model.

    Raises
    ------
    UndefinedError : a report without a model.
    """
    trained, (before, *ways) = _read_ways(report)
    words = measure_above(1)
    layout = Layout(
        title=answer_lengthenings(report).title,
        heights=(_PANEL,) * math.ceil(len(ways) / _ACROSS),
        small_print=_describe_context(trained, report),
        key=_KEY if any(row.unseen.any() for row in ways) else _KEY[:2],
        left=_LEFT,
        right=_RIGHT,
        top=0.06 + words,
        gap=_TICKS + _WHITE + words,
        bottom=0.44,
        width=PAGE_WIDTH,
        columns=2 * _ACROSS,
        cells=2 * len(ways),
    )
    figure, panels = lay_out(layout)
    for ladder, kernel, row in zip(panels[::2], panels[1::2], ways, strict=True):
        _draw_change(ladder, before, row, {trained: "trained", report.target: "served"})
        _draw_kernels(kernel, [(before.kernel, _BEFORE), (row.kernel, _AFTER)], linewidth=0.9)
        kernel.set_yticks([0, 1])
        kernel.set_ylabel("mean cos", fontsize=TICK_SIZE)
        for axes in (ladder, kernel):
            axes.tick_params(length=2, pad=2)
        label, numbers = entitle_way(row, report)
        write_above(ladder, label, [numbers], last=kernel)
    share_limits(panels[::2])
    share_limits(panels[1::2])
    for place, axes in list(enumerate(panels))[-2 * _ACROSS :]:  # nothing below
        axes.set_xlabel("lag (positions)" if place % 2 else "pair", fontsize=TICK_SIZE, labelpad=1)
    return figure


def _describe_context(trained: int, report: ContextReport) -> tuple[str, ...]:
    guide = f"Left: wavelength of each pair in positions, with the context lengths of training, {trained:,} (dotted), "
    guide += f"and inference, {report.target:,} (solid). Right: mean of cos(lag θ) over the pairs; line and range of "
    return (
        f"{guide}stretches of lags.",
        f"d = {report.d}, base {report.base:,.6g}, factor {report.target / trained:.6g} where a way has one.",
    )


def draw_ways(axes: Axes, report: ContextReport) -> None:
    """Draw the wavelengths of all ways over each other, each by its name, with both context lengths."""
    trained, ways = _read_ways(report)
    ladders = [_find_logarithms(row.frequencies) for row in ways]
    _frame_ladders(axes, ladders, {trained: "trained", report.target: "served"}, 0.2)
    for number, (row, waves) in enumerate(zip(ways, ladders, strict=True)):
        draw_curve(axes, np.arange(float(waves.size)), waves, curve_style(number), label=row.method)
    axes.set(xlabel="pair", ylabel="wavelength (positions)")


def _read_ways(report: ContextReport) -> tuple[int, tuple[MethodResult, ...]]:
    """The context length in training, and the ways to lengthen it, the unchanged model first."""
    if report.trained is None:
        raise UndefinedError("a figure of a context needs a model")
    return report.trained, report.methods


def _draw_change(axes: Axes, before: MethodResult, row: MethodResult, lengths: dict[int, str]) -> None:
    """Draw base-10 logarithms of the wavelengths against the pair, with the two context lengths."""
    old, new = _find_logarithms(before.frequencies), _find_logarithms(row.frequencies)
    pairs = np.arange(float(old.size))
    _frame_ladders(axes, [old, new], lengths, 0.2)
    draw_curve(axes, pairs, old, _BEFORE, linewidth=0.9)
    draw_curve(axes, pairs, new, _AFTER, linewidth=1.2)
    if row.unseen.any():
        beads = np.where(row.unseen, new, np.nan)
        draw_curve(axes, pairs, beads, {"color": "white", "linestyle": "-"}, linewidth=2.6)  # between the beads
        draw_curve(axes, pairs, beads, _UNSEEN, linewidth=2.6)
    axes.set_xticks([0, pairs.size - 1])
    anchor_ticks(axes)
    axes.set_ylabel("wavelength", fontsize=TICK_SIZE)


@fixed_style()
def compose_audit(audit: ModelAudit) -> Figure:
    """Draw the ladder of wavelengths of each type of layers, and the kernel below it."""
    turned = [layer for layer in audit.layers if layer.frequencies.size]
    layers = turned[:_MOST]
    layout = Layout(
        title=escape_text(f"{shorten(audit.model or audit.file, 30)}: {answer_audits([audit]).title}", longest=300),
        heights=(_LADDER, _KERNEL),
        small_print=(_describe(audit, turned),),
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
    ladders, kernels = panels[: len(layers)], panels[len(layers) :]
    for layer, ladder, kernel in zip(layers, ladders, kernels, strict=True):
        _draw_wavelengths(ladder, layer)
        head_panel(ladder, _head(layer))
        parts = [(_find_unscaled(layer), _BEFORE), (layer.frequencies, _AFTER)]
        reach = max(2, max(_list_lengths(layer), default=_LONGEST))
        samples = [(sample_kernel(found, reach), style) for found, style in parts if found is not None]
        _draw_kernels(kernel, samples, linewidth=1.0)
        kernel.set_yticks([0, 0.5, 1])
        kernel.set_xlabel("lag (positions)", labelpad=1)
    ladders[0].set_ylabel("wavelength (positions)")
    kernels[0].set_ylabel("mean cos(lag θ)")
    share_limits(ladders)
    share_limits(kernels)
    for layer, ladder in zip(layers, ladders, strict=True):
        _name_lengths(ladder, layer)
    return figure


def draw_audit(axes: Axes, audit: ModelAudit) -> None:
    """Draw the ladder of the first layers that are turned."""
    draw_ladder(axes, next((layer for layer in audit.layers if layer.frequencies.size), audit.layers[0]))


def draw_ladder(axes: Axes, layer: LayerAudit) -> None:
    """Draw the ladder of layers of one type, with its labels and the context lengths by name."""
    if not layer.frequencies.size:
        raise UndefinedError("there are no rotary frequencies to draw")
    _draw_wavelengths(axes, layer)
    _name_lengths(axes, layer)
    axes.set_ylabel("wavelength (positions)")
    head_panel(axes, _head(layer))


def _draw_wavelengths(axes: Axes, layer: LayerAudit) -> None:
    """Draw base-10 logarithms of the wavelengths against the pair, by how often each turns, with the lengths."""
    waves, unscaled = _find_logarithms(layer.frequencies), _find_unscaled(layer)
    ladders = [waves] if unscaled is None else [waves, _find_logarithms(unscaled)]
    pairs = np.arange(float(waves.size))
    _frame_ladders(axes, ladders, _list_lengths(layer), 0.45)
    for before in ladders[1:]:
        draw_curve(axes, pairs, before, _BEFORE, linewidth=0.8)
    _draw_states(axes, pairs, waves, np.array(layer.states))
    label_integers(axes.xaxis)
    axes.set_xlabel("pair", labelpad=1)


def _draw_states(axes: Axes, pairs: F64, waves: F64, states: NDArray[np.str_]) -> None:
    """Draw each class of pairs in its style, a lone pair as a dot, and the steps between classes thinly."""
    last = np.flatnonzero(states[1:] != states[:-1])  # of each class but the last: no pair is missing there
    if last.size:
        steps = np.column_stack([pairs[last], pairs[last + 1], np.full(last.size, np.nan)]).ravel()
        draw_curve(axes, steps, np.interp(steps, pairs, waves), {"color": GREY, "linestyle": "-"}, linewidth=0.6)
    for state, (_, style) in _STATES.items():
        own = states == state
        if own.any():  # between pairs of two classes is a gap: the line there would belong to neither
            alone = np.flatnonzero(own & ~np.append(False, own[:-1]) & ~np.append(own[1:], False)).tolist()
            dots = {"marker": "o" if alone else "", "markevery": alone, "markersize": 3.0, "markeredgewidth": 0}
            draw_curve(axes, pairs, np.where(own, waves, np.nan), style, linewidth=1.8, **dots)
    if not any(states):
        draw_curve(axes, pairs, waves, _AFTER, linewidth=1.8)


def _find_unscaled(layer: LayerAudit) -> F64 | None:
    """Return the frequencies before scaling, (D/2,); None where the scaling changes none, or there is no base."""
    unscaled = layer.unscaled
    if unscaled is None or np.allclose(unscaled, layer.frequencies, rtol=1e-9, atol=0):
        return None
    return unscaled


def _list_lengths(layer: LayerAudit) -> dict[int, str]:
    """The lengths that these layers see at once, and what they are."""
    stated = {"trained": layer.trained_length, "served": layer.served_length, "original": layer.original_length}
    lengths: dict[int, str] = {}
    for name, length in stated.items():
        seen = None if length is None else layer.limit(length)
        if seen is not None:
            lengths.setdefault(seen, name)
    return lengths


def _name_lengths(axes: Axes, layer: LayerAudit) -> None:
    pairs = np.linspace(0, axes.get_xlim()[1], 40)
    for length, name in _list_lengths(layer).items():
        window = layer.reach is not None and length == layer.reach
        text = f"window {length:,}" if window else f"{name} {length:,}"
        sides = ("above right", "below right", "above left", "below left")
        place_label(axes, text, beside(pairs, np.full(40, math.log10(length)), sides), colour=GREY)


def _list_key(layers: Sequence[LayerAudit]) -> tuple[tuple[str, LineStyle], ...]:
    shown = {state for layer in layers for state in layer.states}
    key = [entry for state, entry in _STATES.items() if state in shown]
    if any(_find_unscaled(layer) is not None for layer in layers):
        key += [] if key else [("after scaling", _AFTER)]
        key.append(("before scaling", _BEFORE))
    return tuple(key)


def _head(layer: LayerAudit) -> str:
    rotation = layer.rotation
    name = "" if layer.name == "all" else f"{escape_text(layer.name, longest=24)}: "
    if rotation is None or rotation.base is None:
        return name
    scaling = "" if rotation.scaling in (None, "none") else f", {rotation.scaling} scaling"
    return f"{name}base {rotation.base:,.9g}{scaling}"


def _describe(audit: ModelAudit, layers: Sequence[LayerAudit]) -> str:
    drawn = ", solid after scaling, dashed before" if any(_find_unscaled(one) is not None for one in layers) else ""
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
    return " ".join(words)


def _find_logarithms(frequencies: F64) -> F64:
    """Base-10 logarithms of wavelengths; nan for pairs at rest."""
    logarithms: F64 = math.log10(2 * math.pi) - np.log10(np.where(frequencies > 0, frequencies, np.nan))
    return logarithms


def _frame_ladders(axes: Axes, ladders: Sequence[F64], lengths: dict[int, str], white: float) -> None:
    """Let axes hold ladders of wavelengths, as base-10 logarithms, and context lengths, which are drawn."""
    for length, name in lengths.items():
        axes.axhline(math.log10(length), color=GREY, linewidth=0.5, linestyle=_DASHES[name], zorder=0)
    low, high = find_range(*ladders, np.log10(list(lengths)))
    axes.set(xlim=(0, max(1, ladders[0].size - 1)), ylim=(low - 0.2, high + white))
    label_powers_of_ten(axes.yaxis)


def _draw_kernels(axes: Axes, samples: Sequence[tuple[KernelSample, LineStyle]], *, linewidth: float) -> None:
    """Draw the mean cosine over the pairs against the base-10 logarithm of the lag, with its range."""
    axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    lowest = 0.0
    for sample, style in samples:
        lags = np.log10(sample.lags)
        draw_band(axes, lags, sample.low, sample.high, style["color"])
        draw_curve(axes, lags, sample.mean, style, linewidth=linewidth)
        axes.set_xlim(0, float(lags[-1]))
        lowest = min(lowest, float(sample.low.min()))
    axes.set_ylim(min(-0.1, 1.1 * lowest), 1.06)
    label_powers_of_ten(axes.xaxis)
