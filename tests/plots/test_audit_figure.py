"""The figures of ladders: audits and contexts."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from pe_spectra.errors import UndefinedError
from pe_spectra.model_sources import read_model
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.cosine_sums import sample_kernel
from pe_spectra.models.lengths.methods import compare_methods, propose_bases
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.plots.style import COLUMN_WIDTH, PAGE_WIDTH, SMALL_SIZE, fixed_style
from pe_spectra.plots.wavelengths import _draw_wavelengths, _find_unscaled, _list_key, compose_audit, compose_context
from tests.answers.audits import GEMMA3, LLAMA2, LLAMA31, YARN, at
from tests.documents import read_json
from tests.places import MODELS
from tests.plots.figures import read_words

# ----------------------------------------------------------------------------------- figures


def draw(name, **lengths):
    return compose_audit(audit_configuration(read_model(str(MODELS / name)), **lengths))


DRAWN = {
    "llama3": lambda: draw(LLAMA31),
    "yarn": lambda: draw(YARN),
    "longrope": lambda: draw("phi-3.5-mini-instruct.json"),
    "two layer types": lambda: draw(GEMMA3),
    "pairs at rest": lambda: draw("gemma-4-26b-a4b.json"),
    "layers that are not turned": lambda: draw("smollm3-3b.json"),
    "new phases": lambda: draw(LLAMA2, served=32768),
}


def visible_words(figure):
    return " ".join(text.get_text() for text in figure.texts)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", DRAWN)
def test_figure_has_a_message_and_everything_inside(name):
    figure = DRAWN[name]()
    assert isinstance(figure, Figure)
    assert figure.get_size_inches()[0] in (COLUMN_WIDTH, PAGE_WIDTH)
    assert "never complete a period" in visible_words(figure)
    with fixed_style():
        figure.draw_without_rendering()
        for text in (*figure.texts, *(text for axes in figure.axes for text in axes.texts)):
            box = text.get_window_extent()
            assert 0 <= box.x0 <= box.x1 <= figure.bbox.x1, text.get_text()
            assert 0 <= box.y0 <= box.y1 <= figure.bbox.y1, text.get_text()


def test_ladder_holds_the_wavelengths():
    found = audit_configuration(read_model(str(MODELS / LLAMA31)))
    (layer,) = found.layers
    ladder, _ = compose_audit(found).axes
    before, *parts = [np.asarray(line.get_ydata(), dtype=float) for line in ladder.lines if len(line.get_xdata()) == 64]
    expected = np.log10(2 * np.pi / layer.frequencies)
    joined = np.nanmax(parts, axis=0)
    np.testing.assert_allclose(joined, expected, rtol=1e-12)
    np.testing.assert_allclose(before, np.log10(2 * np.pi * 500000.0 ** (np.arange(64) / 64)), rtol=1e-12)


def test_nothing_is_drawn_before_a_scaling_that_changes_nothing():
    (layer,) = audit_configuration(read_model(str(MODELS / LLAMA2))).layers
    assert _find_unscaled(layer) is None
    sliding, full, *_ = audit_configuration(read_model(str(MODELS / GEMMA3))).layers
    assert _find_unscaled(sliding) is None
    np.testing.assert_allclose(_find_unscaled(full), 8 * full.frequencies, rtol=1e-15)


def test_figure_on_the_command_line(cli, tmp_path):
    done = cli(f"audit {at(GEMMA3)} --figure ladder.svg --json")
    assert read_json(done)["figure"] == "ladder.svg"
    assert (tmp_path / "ladder.svg").read_bytes().startswith(b"<?xml")
    assert done.err == "wrote ladder.svg\n"


def test_what_does_not_turn_has_no_figure(cli):
    done = cli(f"audit {at('bloom-560m.json')} --figure a.png")
    assert done.code == 2
    assert "--figure has no rotary frequencies to draw (alibi)" in done.err


@pytest.mark.parametrize("options", ["--output config.json", "--output model/config.json", "--figure link.png"])
def test_what_is_read_is_not_written_over(refuse, tmp_path, options):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_bytes((MODELS / LLAMA2).read_bytes())
    (tmp_path / "config.json").symlink_to("model/config.json")
    (tmp_path / "link.png").symlink_to("model/config.json")
    named = "model" if "model" in options else "config.json"
    assert "is read by this command" in refuse(f"audit {named} {options}")
    assert (tmp_path / "model" / "config.json").read_bytes() == (MODELS / LLAMA2).read_bytes()


METHODS = ("none", "linear", "ntk", "dynamic", "yarn", "yarn-paper", "llama3", "critical-base", "men-base")


# ----------------------------------------------------------------------------------- the figure


def texts_of(figure):
    texts = [*figure.texts]
    for axes in figure.axes:
        texts += [*axes.texts, axes.xaxis.label, axes.yaxis.label]
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            texts += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text for text in texts if text.get_text() and text.get_visible()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [(128, 5e5, 8192, 131072), (4, 2.0, 8, 100), (64, 1e18, 8, 1 << 30), (128, 1e3, 4096, 8192)]
)
def test_the_figure_holds_its_words(model):
    figure = compose_context(compare_methods(*model))
    assert isinstance(figure, Figure)
    with fixed_style():
        figure.draw_without_rendering()
    width, height = figure.get_size_inches() * figure.dpi
    assert figure.get_size_inches()[0] == PAGE_WIDTH
    for text in texts_of(figure):
        box = text.get_window_extent()
        assert text.get_fontsize() >= SMALL_SIZE
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text


@pytest.mark.slow
def test_the_figure_draws_the_numbers(context_report):
    figure = compose_context(context_report)
    assert len(figure.axes) == 2 * (len(METHODS) - 1)
    ladder, kernel = figure.axes[:2]  # linear
    curves = [np.asarray(line.get_ydata()) for line in ladder.lines if len(line.get_ydata()) == 64]
    assert_allclose(curves[0], np.log10(2 * np.pi / context_report.methods[0].frequencies))
    assert_allclose(curves[1], np.log10(2 * np.pi / context_report.methods[1].frequencies))
    assert len(curves) == 2  # no pair with unseen phases
    heights = sorted(float(line.get_ydata()[0]) for line in ladder.lines if len(line.get_ydata()) == 2)
    assert_allclose(heights, np.log10([8192, 131072]))
    ntk = [np.asarray(line.get_ydata()) for line in figure.axes[2].lines if len(line.get_ydata()) == 64]
    assert np.isfinite(ntk[2]).sum() == 28
    sample = sample_kernel(context_report.methods[1].frequencies, 131072)
    assert_allclose(kernel.lines[-1].get_ydata(), sample.mean)


def test_a_figure_needs_a_model():
    with pytest.raises(UndefinedError, match="needs a model"):
        compose_context(propose_bases(64, 100))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.png", *(pytest.param(n, marks=pytest.mark.slow) for n in ("a.svg", "a.pdf"))])
def test_a_figure_is_drawn_only_when_asked(cli, tmp_path, name):
    line = "context --d 16 --base 10000 --trained 512 --target 2048"
    assert read_json(cli(f"{line} --json"))["figure"] is None
    assert list(tmp_path.iterdir()) == []
    assert read_json(cli(f"{line} --json --figure {name}"))["figure"] == name
    first = (tmp_path / name).read_bytes()
    assert cli(f"{line} --figure {name}").code == 0
    assert (tmp_path / name).read_bytes() == first


# ----------------------------------------------------------------------------------- audits and ladders


def audit(name: str) -> Figure:
    return compose_audit(audit_configuration(read_model(str(MODELS / name))))


def find_classes(ladder: Axes) -> list[np.ndarray]:
    return [np.asarray(line.get_ydata(), dtype=float) for line in ladder.lines if line.get_linewidth() > 1.5]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt-neox-20b.json", "llama-4-scout-17b-16e-instruct.json", "modernbert-base.json"])
def test_no_class_of_pairs_crosses_the_trained_length(name: str) -> None:
    layers = [one for one in audit_configuration(read_model(str(MODELS / name))).layers if one.frequencies.size]
    for layer, ladder in zip(layers, audit(name).axes, strict=False):
        if layer.trained_length is None:  # of the places of patches
            continue
        limit = math.log10(layer.limit(layer.trained_length))
        drawn = find_classes(ladder)
        for waves in drawn:
            seen = waves[np.isfinite(waves)]
            assert (seen <= limit).all() or (seen >= limit).all()
        np.testing.assert_array_equal(np.sum([np.isfinite(waves) for waves in drawn], axis=0), 1)


@pytest.mark.slow
def test_a_pair_alone_in_its_class_is_a_dot() -> None:
    config = {"model_type": "llama", "head_dim": 8, "max_position_embeddings": 300}
    (layer,) = audit_configuration(read_configuration(config, "config.json")).layers
    assert layer.states == ("many", "few", "never", "never")
    axes = Figure().add_subplot()
    _draw_wavelengths(axes, layer)
    marks = [line.get_markevery() for line in axes.lines if line.get_marker() == "o"]
    assert marks == [[0], [1]]


@pytest.mark.slow
def test_before_scaling_is_dashed_as_in_a_context() -> None:
    layers = audit_configuration(read_model(str(MODELS / "llama-3.1-8b.json"))).layers
    figure = audit("llama-3.1-8b.json")
    _, kernel = figure.axes
    assert len({str(style["linestyle"]) for _, style in _list_key(layers)}) == 4
    before, after = [line for line in kernel.lines if len(line.get_xdata()) > 2]
    assert (before.get_linestyle(), after.get_linestyle()) == ("--", "-")
    assert "over the pairs, solid after scaling, dashed before;" in read_words(figure)
    assert "dashed before" not in read_words(audit("gpt-neox-20b.json"))


@pytest.mark.slow
def test_ladders_name_axes_and_only_the_classes_that_are_drawn() -> None:
    figure = compose_context(compare_methods(128, 500000.0, 8192, 131072))
    assert {axes.get_ylabel() for axes in figure.axes} == {"wavelength", "mean cos"}
    assert "pairs with out-of-range phases" in read_words(figure)
    (cell,) = [axes for axes in figure.axes if axes.texts and axes.texts[-1].get_text() == "ntk"]
    white, beads = cell.lines[-2:]
    assert white.get_color() == "white"
    assert white.get_linewidth() == beads.get_linewidth() >= 2.5
    report = compare_methods(128, 500000.0, 8192, 131072)
    none = read_words(compose_context(replace(report, methods=report.methods[:2])))  # linear leaves none
    assert "pairs with out-of-range phases" not in none.partition("leave none")[2]


# ----------------------------------------------------------------------------------- audits


def test_no_pair_seems_to_be_missing_between_two_classes() -> None:
    config = {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 4096}
    audit = audit_configuration(read_configuration(config, "config.json"))
    (layer,) = audit.layers
    figure = compose_audit(audit)
    waves = [math.log10(2 * math.pi * 10000 ** (i / 32)) for i in range(32)]
    (thin,) = [line for line in figure.axes[0].lines if line.get_linewidth() == 0.6 and len(line.get_xdata()) > 2]
    found = np.column_stack([thin.get_xdata(), thin.get_ydata()])
    ends = [(i, i + 1) for (i, a), (_, b) in itertools.pairwise(enumerate(layer.states)) if a != b]
    assert len(ends) == 2
    expected = [row for i, k in ends for row in ((i, waves[i]), (k, waves[k]), (math.nan, math.nan))]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert "Thin line: the step between neighbouring pairs of two classes." in read_words(figure)
