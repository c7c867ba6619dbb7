"""What is said of a capture is what was captured."""

import numpy as np
import pytest

from pe_spectra import capture
from pe_spectra.answers.captures import answer_capture
from tests.capturing.fakes import Embedding, Model, Rotary, make_ladder

TABLE = np.random.default_rng(4).normal(size=(16, 4))


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ({"wpe": Embedding(TABLE)}, "Model: 1 table, without a finding."),
        ({"wpe": Embedding(TABLE), "embed_positions": Embedding(-TABLE)}, "Model: 2 tables, without a finding."),
        ({"a": Rotary(make_ladder(2)), "wpe": Embedding(TABLE)}, "Model: 1 rotation and 1 table; a after .half(): "),
    ],
)
def test_what_is_said_of_a_capture_is_what_it_has(modules, said):
    found = capture(Model(**modules))
    answer = answer_capture(found)
    assert answer.verdict == found.verdict
    assert answer.verdict.text.startswith(said)
    assert (answer.body.rows, answer.body.tables) == (found.rotations, found.tables)
    if found.findings:
        first, more = found.findings[0], len(found.findings) - 1
        assert (found.verdict.level, found.verdict.code) == (first.level, first.code)
        others = f"; {more} other finding{'s' if more > 1 else ''}" if more else ""
        assert found.verdict.text.endswith(f"{first.message.removesuffix('.')}{others}.")
    else:
        assert (found.verdict.level, found.verdict.code) == ("ok", "captured")


def test_a_notebook_shows_the_verdict():
    assert capture(Model(wpe=Embedding(TABLE)))._repr_html_().startswith("<p>Model: 1 table, without a finding.</p>")
