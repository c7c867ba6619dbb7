"""What figures say of one table with a row of another size and a tail of noise, and of encodings drawn together."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from pe_spectra.compare import compare_encodings
from pe_spectra.encodings import Dft, Encoding, GivenArray, Sinusoidal, find_encoding
from pe_spectra.encodings.learned import Learned
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.lengths.methods import compare_methods
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.plots.audit import compose_audit
from pe_spectra.plots.comparison import compose_comparison
from pe_spectra.plots.comparison_words import find_beyond
from pe_spectra.plots.context import compose_context
from pe_spectra.plots.faithfulness import compose_faithfulness
from pe_spectra.plots.inspection import compose_portrait
from pe_spectra.plots.inspection_panels import plot_bias
from pe_spectra.plots.precision import compose_precision
from pe_spectra.plots.separation import SeparationCurve, find_gram_scale, part_curves
from pe_spectra.plots.spectrum import compose_spectrum
from pe_spectra.plots.style import curve_style, escape_text, measure_text, shorten_text
from pe_spectra.portrait import draw_portrait
from pe_spectra.precision import measure_precision
from pe_spectra.records.inspection import answer_portrait
from pe_spectra.spectrum import compute_local_spectra, compute_spectrum

ROPE = "rope d=128 base=10000 scaling=llama3 factor=8"


def make_weird(factor: float = 5.0) -> np.ndarray:
    """Sinusoids; the first row is longer, and from row 150 on there is noise."""
    table = Sinusoidal(d=64).table(200).copy()
    table[0] *= factor
    table[150:] = np.random.default_rng(0).normal(0, 0.02, (50, 64))
    return table


def given(table: np.ndarray, name: str = "weird.npy") -> Learned:
    return Learned(values=GivenArray(table, origin=name))


def named(name: str, **keys: object) -> Encoding:
    return find_encoding(name)(**keys)


def words(figure: Figure) -> str:
    """Title, key and small print, in one line."""
    return " ".join(" ".join(text.get_text() for text in figure.texts).replace("\u00a0", " ").split())


def labels(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


@functools.cache
def separations() -> Figure:
    encodings = (given(Sinusoidal(d=64).table(200), "sin.npy"), Dft(d=64), named("alibi"))
    return compose_faithfulness(*[measure_faithfulness(encoding) for encoding in encodings])


# ------------------------------------------------------------------------------------------- inspection


def sum_toeplitz_share(codes: np.ndarray) -> float:
    """Over the Gram matrix's energy, that of the matrix with the mean of each diagonal in its place."""
    size = len(codes)
    gram = [[math.fsum(a * b) for b in codes] for a in codes]
    energy = math.fsum(value**2 for row in gram for value in row)
    diagonals = [[gram[s][s + lag] for s in range(size - lag)] for lag in range(size)]
    parts = [(2 if lag else 1) * math.fsum(one) ** 2 / len(one) for lag, one in enumerate(diagonals)]
    return math.fsum(parts) / energy


def test_the_toeplitz_share_is_the_same_in_text_and_figure_and_names_its_rows() -> None:
    table = make_weird()
    table[1:150] += np.random.default_rng(1).normal(0, 0.1, (149, 64))
    portrait = draw_portrait(given(table))
    assert portrait.inspection is not None
    assert portrait.inspection.rows_used == (1, 150)
    share = f"{100 * sum_toeplitz_share(table[1:150]):.1f} %"
    assert share != "100.0 %"
    facts = dict(answer_portrait(portrait).facts)
    assert facts["toeplitz share"] == f"{share} (rows 1 to 149)"
    said = "Toeplitz share of rows 1 to 149 (of the Gram matrix's energy, what is a function of the lag alone)"
    text = words(compose_portrait(portrait))
    assert f"{said}: {share}" in text
    assert text.count("Toeplitz") == 1


def test_no_rows_are_named_where_none_is_left_out() -> None:
    portrait = draw_portrait(given(Sinusoidal(d=16).table(96)))
    assert dict(answer_portrait(portrait).facts)["toeplitz share"] == "100.0 %"


def test_a_grid_says_offset_and_a_bias_has_no_toeplitz_share() -> None:
    codes = np.random.default_rng(2).standard_normal((36, 4))
    grid = Learned(values=GivenArray(codes), grid="6x6")
    assert "Toeplitz share (of the Gram matrix's energy, what is a function of the offset alone)" in words(
        compose_portrait(draw_portrait(grid))
    )
    assert "Toeplitz" not in words(compose_portrait(draw_portrait(named("alibi"), length=32)))


def test_heads_of_one_colour_are_told_apart_by_a_piece_of_their_line() -> None:
    axes = Figure().subplots()
    plot_bias(axes, np.arange(4), np.linspace(0, 1, 32).reshape(8, 4), first=3)
    pieces = [artist for artist in axes.figure.artists if isinstance(artist, Line2D)]
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    styles = {}
    for head in range(8):
        (piece,) = [one for one in pieces if one.get_ydata()[0] == heights[f"head {head + 3}"]]
        style = curve_style(head)
        expected = Line2D([], [], **style)
        assert piece.get_color() == style["color"]
        assert piece._unscaled_dash_pattern == expected._unscaled_dash_pattern
        styles[head] = (piece.get_color(), str(piece._unscaled_dash_pattern))
    assert styles[0][0] == styles[6][0]
    assert len(set(styles.values())) == 8


# -------------------------------------------------------------------------------------------- precision


def test_the_title_names_the_worst_type() -> None:
    dtypes = ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
    report = measure_precision(Sinusoidal(d=32), length=300, dtypes=dtypes)
    # two bits of mantissa: from 8 on every second number, from 16 on every fourth, and so on
    kept = 8 + sum(4 for _ in range(5)) + 2
    text = words(compose_precision(report))
    assert text.startswith(f"At worst, in float8_e5m2, 300 positions are left with {kept} distinct codes")
    alone = words(compose_precision(measure_precision(Sinusoidal(d=32), length=300, dtypes=["float16", "bfloat16"])))
    assert alone.startswith("In bfloat16, 300 positions are left with 279 distinct codes")


# --------------------------------------------------------------------------------------- Gram matrices


def test_a_row_of_large_norm_does_not_wash_out_the_gram_matrix() -> None:
    table = make_weird()
    figure = compose_faithfulness(measure_faithfulness(given(table)))
    _, axes, bar = figure.axes
    (image,) = axes.images
    norms = sorted(math.fsum(row**2) for row in table)
    reach = norms[math.ceil(0.9 * (len(norms) - 1))] / norms[-1]
    assert reach == pytest.approx(0.04, rel=1e-9)
    assert image.get_clim() == pytest.approx((-reach, reach), rel=1e-12)
    assert float(image.get_array().max()) == pytest.approx(1.0)
    (arrow,) = [patch for patch in bar.patches if isinstance(patch, Polygon)]
    assert arrow.get_xy()[:, 1].max() > 1  # at the upper end: no product is as far below zero
    assert "colours end at 0.04, which 90 % of the squared norms do not exceed (arrow)" in words(figure)


def test_arrows_stand_at_both_ends_of_a_table_that_is_cut() -> None:
    figure = compose_portrait(draw_portrait(given(make_weird())))
    # older versions draw spans, as in the panels of rows, as polygons, too; those have a label
    bars = [axes for axes in figure.axes if not axes.get_xlabel() + axes.get_ylabel() + axes.get_title()]
    tips = [float(y) for bar in bars for patch in bar.patches for y in patch.get_xy()[:, 1]]
    assert min(tips) < 0 < 1 < max(tips)


def test_a_gram_matrix_of_even_norms_keeps_all_its_colours() -> None:
    codes = np.arange(40.0)[:, None]
    assert find_gram_scale(codes @ codes.T / 39**2) is None
    assert find_gram_scale(np.zeros((20, 20))) is None
    assert "colours" not in words(separations())
    assert not [patch for axes in separations().axes for patch in axes.patches if isinstance(patch, Polygon)]


def test_of_two_gram_matrices_the_one_that_is_cut_is_named() -> None:
    both = [measure_faithfulness(encoding) for encoding in (Dft(d=16), given(make_weird()))]
    assert "colours of weird.npy 200 x 64 end at 0.04" in words(compose_faithfulness(*both))


# -------------------------------------------------------------------------------------------- galleries


def make_wild() -> Learned:
    """Its kernel is far above 1 at one lag and far below -1 at the next."""
    table = np.ones((128, 2))
    table[0], table[126], table[127] = 20.0, 20.0, -20.0
    return given(table, "wild.npy")


def test_a_kernel_that_leaves_its_panel_is_marked_and_named() -> None:
    compared = list(compare_encodings([make_wild(), Dft(d=64)], length=128))
    table = np.ones(128)
    table[[0, 126, 127]] = 20.0, 20.0, -20.0
    peak = math.fsum(table**2) / 128
    down, up = (-400 / peak, math.fsum(table[:2] * table[126:]) / 2 / peak)
    at = {lag: math.fsum(table[: 128 - lag] * table[lag:]) / (128 - lag) / peak for lag in range(128)}
    lowest, highest = min(at, key=at.__getitem__), max(at, key=at.__getitem__)
    assert at[127] == pytest.approx(down)
    assert at[126] == pytest.approx(up)
    assert find_beyond(compared[0]) == [(-1.05, lowest), (1.5, highest)]
    figure = compose_comparison(compared)
    marks = [(line.get_xdata()[0], line.get_ydata()[0]) for line in figure.axes[0].lines if len(line.get_xdata()) == 1]
    assert marks == [(lowest, -1.05), (highest, 1.5)]
    assert not [line for line in figure.axes[2].lines if len(line.get_xdata()) == 1]
    written = f"wild.npy 128 x 2 to −{-at[lowest]:.3g}, wild.npy 128 x 2 to {at[highest]:.3g}"
    assert f"triangles: kernels that leave their panel, {written}." in words(figure)


def test_many_kernels_that_leave_their_panels_are_counted() -> None:
    (one,) = compare_encodings([make_wild()], length=128)
    assert ", and 2 more." in words(compose_comparison([one] * 3))


# ---------------------------------------------------------------------------------------------- spectra


@functools.cache
def mixed() -> Figure:
    table = given(Sinusoidal(d=64).table(200), "sin.npy")
    local = compute_local_spectra(table, length=200)
    return compose_spectrum(compute_spectrum(table), compute_spectrum(named("t5")), local=local)


def test_both_panels_name_the_weight_in_the_same_words() -> None:
    upper, lower = mixed().axes[:2]
    assert upper.get_ylabel() == lower.get_ylabel() == "weight per rad/position"


def test_a_band_that_leaves_the_logarithmic_axis_is_lighter() -> None:
    lower = mixed().axes[1]
    bottom = lower.get_ylim()[0]
    light = {}
    for band in lower.collections:
        assert isinstance(band, PolyCollection)
        sinks = any((path.vertices[:, 1] <= bottom + 1e-9).any() for path in band.get_paths())
        light[sinks] = band.get_alpha()
    assert light[False] > 2 * light[True] > 0


def test_the_map_says_that_its_mean_is_not_that_of_the_curves() -> None:
    said = "its mean ω is smoothed by that window, not by the bandwidth of the curves"
    assert said in words(mixed())
    # the two means differ, on either side of that of the sinusoids themselves
    true = math.fsum(10000 ** (-i / 32) for i in range(32)) / 32
    table = given(Sinusoidal(d=64).table(200))
    local = compute_local_spectra(table, length=200)
    mean = float((local.weights @ local.omega).mean())
    assert mean < true < compute_spectrum(table).summary.centroid


# --------------------------------------------------------------------------------------------- distances


def test_distances_of_other_sizes_stand_in_two_panels_with_their_labels_near() -> None:
    figure = separations()
    near, far = figure.axes[:2]
    assert near.get_ylim()[1] < 10 < 100 < far.get_ylim()[1]
    assert [text for text in labels(near) if text.startswith("closest")] == [
        "closest: 0 and 1, distance 1.4718",
        "closest: 0 and 64, distance 0",
    ]
    (label,) = far.texts
    assert label.get_text() == "closest: 0 and 1, distance 0.57735"
    box = label.get_window_extent()
    across, up = far.transData.transform((1, 0.57735))
    gap = np.hypot(max(box.x0 - across, 0), max(box.y0 - up, up - box.y1, 0)) / figure.dpi
    assert gap < 0.5  # inches
    assert far.lines[0].get_color() == curve_style(2)["color"]
    assert "two panels, for the distances differ more than tenfold" in words(figure)


def test_distances_of_one_size_or_of_many_stand_in_one_panel() -> None:
    def curve(*distances: float) -> SeparationCurve:
        lags = np.arange(1.0, len(distances) + 1)
        return SeparationCurve(
            label="c", length=len(lags) + 1, lags=lags, distances=np.array(distances), closest=(0, 1, distances[0])
        )

    nothing = SeparationCurve(label="n", length=1, lags=None, distances=None, closest=None)
    assert part_curves([curve(1.0), curve(10.0)]) == [[0, 1]]
    assert part_curves([curve(11.0), nothing, curve(0.0), curve(1.0)]) == [[0], [1, 2, 3]]
    assert part_curves([curve(0.001), curve(5.0)]) == [[0, 1]]  # a logarithmic axis shows both
    assert part_curves([nothing]) == [[0]]


# ------------------------------------------------------------------------------------------------- audits


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
    assert "Thin line: the step between neighbouring pairs of two classes." in words(figure)


# --------------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("width", [1.3, 1.6, 2.0, 2.2])
def test_labels_are_cut_between_words(width: float) -> None:
    cut = shorten_text(ROPE, 7.0, width)
    assert measure_text(cut, 7.0) <= width
    head, tail = cut.split(" … ")
    assert ROPE.startswith(f"{head} ")
    assert ROPE.endswith(f" {tail}")


def test_a_long_word_is_cut_inside_and_a_short_text_is_not_cut() -> None:
    long = "a" * 40 + " " + "b" * 40
    assert "a…" in shorten_text(long, 7.0, 1.0)
    assert shorten_text(ROPE, 7.0, 9.0) == ROPE
    assert escape_text("a " + "x" * 70 + " b") == "a " + "x" * 27 + "…" + "x" * 28 + " b"


def test_text_from_outside_is_cut_between_words() -> None:
    assert escape_text(ROPE, longest=40) == "rope d=128 … scaling=llama3 factor=8"
    assert len(escape_text(ROPE * 2)) <= 60


def test_bases_are_written_as_the_text_writes_them() -> None:
    report = compare_methods(128, 10000.0, 4096, 32768)
    figure = compose_context(report)
    shown = [text for axes in figure.axes for text in labels(axes)]
    assert {"critical-base 192,144", "men-base 630,000"} <= set(shown)
    assert "base 10,000, factor 8" in words(figure)
