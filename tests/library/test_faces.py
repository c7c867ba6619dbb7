"""A result says what it is: its verdict, its findings, and what a notebook shows."""

import base64
import re
from io import BytesIO

import matplotlib.image
import pytest

import pe_spectra


def test_a_result_has_the_verdict_of_the_program(cli):
    count = pe_spectra.count_low_bin("sinusoidal:d=256")
    assert count.verdict.text in cli("count-low-bin --d 256").out
    assert (count.verdict.level, count.verdict.code) == ("note", "crowded-low-bin")
    assert count.findings == ()


def test_a_part_of_a_result_has_no_verdict():
    summary = pe_spectra.compute_spectrum("dft:d=8").summary
    with pytest.raises(AttributeError, match="nothing is said of SpectrumSummary by itself"):
        _ = summary.verdict


def test_a_notebook_shows_verdict_and_first_rows():
    page = pe_spectra.count_low_bin("sinusoidal:d=256")._repr_html_()
    assert page.startswith("<p>76 of 128 frequencies (59.4 %) lie below 2 pi/256")
    assert "<th>share_inside</th>" in page
    spectrum = pe_spectra.compute_spectrum("dft:d=256")._repr_html_()
    assert "<p>121 more rows</p>" in spectrum


@pytest.mark.parametrize(
    "make",
    [
        lambda: pe_spectra.compute_spectrum("sinusoidal:d=64"),
        lambda: pe_spectra.count_low_bin("sinusoidal:d=64"),
        lambda: pe_spectra.reconstruct_positions(pe_spectra.compute_spectrum("sinusoidal:d=64"), [5, 40]),
        lambda: pe_spectra.compute_grid_spectrum("sincos2d:d=16"),
    ],
    ids=["spectrum", "count", "reconstruction", "plane"],
)
def test_a_notebook_shows_a_small_picture(make):
    [encoded] = re.findall(r'<img alt="" src="data:image/png;base64,([^"]+)">', make()._repr_html_())
    picture = matplotlib.image.imread(BytesIO(base64.b64decode(encoded)))
    assert picture.shape[1] > picture.shape[0] > 100
    assert picture[..., :3].std() > 0.05
