"""The portrait of an encoding: which rows it is of, and what it holds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Learned, Sinusoidal, compute_spectrum, read_encoding
from pe_spectra.answers.portraits import answer_portrait
from pe_spectra.encodings import ENCODINGS
from pe_spectra.encodings.learned import GivenArray
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.inspection.portrait import draw_portrait
from pe_spectra.inspection.resize import resize_encoding
from pe_spectra.metrics.resolution import measure_ranks
from pe_spectra.spectrum import gram, kernels, measure_toeplitz_share
from tests.planted import plant_cls

# ----------------------------------------------------------------------------------- resizing


@pytest.mark.few(12, keep=["sincos2d"])
@pytest.mark.parametrize("cls", [cls for cls in ENCODINGS if cls.name != "learned"], ids=lambda cls: cls.name)
def test_a_portrait_has_what_the_encoding_has(cls):
    portrait = draw_portrait(cls())
    assert portrait.kernel is not None
    assert len(portrait.spectra) == (1 if portrait.encoding.shape is None else 2)
    assert (portrait.plane is not None) == (portrait.encoding.shape is not None)


# ----------------------------------------------------------------------------------- rows used


@pytest.mark.slow
@pytest.mark.parametrize("case", ["tail", "first row", "part of a file"])
def test_metrics_are_of_the_rows_used(planted_table, trained_table, case):
    table, encoding, rows = {
        "tail": (planted_table, Learned(values=planted_table), (0, 400)),
        "first row": (special := plant_cls(trained_table[:300]), Learned(values=special), (1, len(special))),
        "part of a file": (planted_table, Learned(values=planted_table, first=90, prefix=2), (92, 400)),
    }[case]
    portrait = draw_portrait(encoding)
    assert portrait.inspection.rows_used == rows
    used = table[slice(*rows)]
    ranks = measure_ranks(used)
    assert_allclose(portrait.metrics["toeplitz_share"], measure_toeplitz_share(used), rtol=1e-12)
    centred = measure_toeplitz_share(used - used.mean(axis=0))
    assert_allclose(portrait.metrics["toeplitz_share_centred"], centred, rtol=1e-12)
    for name in ("stable_rank_centred", "effective_rank_entropy", "effective_rank_entropy_centred"):
        assert_allclose(portrait.metrics[name], getattr(ranks, name), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2, 3, 4, 5, 7, 9])
@pytest.mark.parametrize("scale", [0.0, 1.0, 9.0])
def test_the_smallest_tables_have_a_portrait(rows, scale):
    table = np.random.default_rng(rows).standard_normal((rows, 6))
    table[: rows // 2] *= scale
    for prefix in range(rows - 1):
        portrait = draw_portrait(Learned(values=table, prefix=prefix))
        assert portrait.inspection is None or portrait.inspection.rows_used[1] == rows
        assert answer_portrait(portrait).verdict.text


def truncated(bandwidth=0.25):
    """Too few lags of a kernel that is a constant."""
    return compute_spectrum(Learned(values=GivenArray(np.ones((4, 1)))), bandwidth=bandwidth)


# ----------------------------------------------------------------------------------- inspect


def test_findings_of_spectra_stand_behind_those_of_the_table(previous_heads):
    assert draw_portrait(read_encoding("alibi")).findings == ()
    (found,) = draw_portrait(read_encoding(previous_heads)).findings
    assert found.data["axis"] is None
    portrait = draw_portrait(Learned(values=GivenArray(np.array([[0.0], [1.0], [5.0], [1.0]]))))
    both = type(portrait)(
        **{name: getattr(portrait, name) for name in portrait.__dataclass_fields__} | {"spectra": (truncated(),)}
    )
    assert [one.code for one in both.findings] == [*(one.code for one in portrait.findings), "no-shares"]


def test_resized_tables_give_no_mean_frequency_of_signed_weights():
    table = Learned(values=GivenArray(np.concatenate([np.full((1, 1), 0.1), np.ones((4, 1)), np.full((1, 1), 0.1)])))
    resized = resize_encoding(table, (9,), method="bilinear")
    body = answer_portrait(draw_portrait(table, resized=resized)).body.to_dict()["resized"]["axes"]
    assert body[0]["centroid_before"] is not None
    signed = type(resized)(
        **{name: getattr(resized, name) for name in resized.__dataclass_fields__} | {"after": (truncated(),)}
    )
    answer = answer_portrait(draw_portrait(table, resized=signed))
    (axis,) = answer.body.to_dict()["resized"]["axes"]
    assert (axis["centroid_after"], axis["beyond"]) == (None, None)
    text = dict(answer.facts)["centroid"]
    assert "-> - (negative weights) rad/position" in text
    assert "above pi" not in text


# ----------------------------------------------------------------------------------- work done once


@pytest.mark.parametrize("grid", [None, "16x20"])
def test_each_table_is_read_once_and_has_its_gram_kernel_computed_once(monkeypatch, trained_table, grid):
    seen, read = [], []
    kernel = gram.compute_gram_kernel if grid is None else gram.compute_grid_kernel

    def count(table, *more, **named):
        seen.append(table.tobytes())
        return kernel(table, *more, **named)

    for module in (gram, kernels):
        monkeypatch.setattr(module, kernel.__name__, count)
    encoding = Learned(values=trained_table[:320], grid=grid)
    table = Learned.table
    monkeypatch.setattr(Learned, "table", lambda self, positions: [read.append(1), table(self, positions)][1])
    draw_portrait(encoding)
    centred = [one for one in seen if one != encoding.codes.tobytes()]
    assert len(seen) == 2  # of the table, and of the table about its mean row
    assert len(centred) == len(read) == 1


@pytest.mark.parametrize("step", [0.25, 0.5, 1.0, 1.5])
def test_periods_are_in_positions_as_frequencies_are(step):
    """The fastest pair turns by 1 rad per position, however far apart the rows are."""
    times = 3.0 + step * np.arange(160)
    portrait = draw_portrait(Sampled(encoding=Sinusoidal(d=8), times=GivenArray(times)))
    assert_allclose(min(one.period for one in portrait.dominant_periods), 2 * np.pi, rtol=1e-3)
    assert_allclose(portrait.inspection.channels.periods[:2], 2 * np.pi, rtol=1e-3)
    assert portrait.inspection.spacing == pytest.approx(step)
    assert (portrait.metrics["nearest_sinusoid_rho"] is None) == (step != 1)


def test_positions_that_are_not_evenly_apart_have_no_periods():
    times = np.cumsum(np.random.default_rng(0).uniform(0.2, 1.0, 160))
    portrait = draw_portrait(Sampled(encoding=Sinusoidal(d=8), times=GivenArray(times)))
    assert portrait.dominant_periods == ()
    assert np.isnan(portrait.inspection.channels.periods).all()
    assert "positions are not evenly apart: no periods are looked for" in portrait.notes
