"""Files that `context --write` writes, against what the real classes of two releases of transformers make of them."""

import json

import numpy as np
import pytest

from pe_spectra.models.stated.statement import NEWEST, OLDER
from tests.places import REFERENCE
from tests.reference.transformers.lengthened import lengthen, list_files, list_promised, sign

FILES = dict(list_files())
ROWS = [
    pytest.param(release, row, id=f"{release}-{row['name']}-{row['times']}")
    for release in (NEWEST, OLDER)
    for row in json.loads((REFERENCE / "transformers" / f"lengthened-{release}.json").read_text())
]


@pytest.mark.few(12)
@pytest.mark.parametrize(("release", "row"), ROWS)
def test_a_written_file_is_read_as_promised(release, row):
    found, target = lengthen(FILES[row["name"]], row["times"], release)
    assert sign(found.keys) == row["file"], "another file is written than was measured: run lengthened.py again"
    promised = list(list_promised(found, target, release))
    assert [[part, layer] for part, layer, *_ in promised] == [layer[:2] for layer in row["layers"]]
    for (_, _, values, factor), (_, _, pairs, sample, scaling) in zip(promised, row["layers"], strict=True):
        assert len(values) == pairs
        np.testing.assert_allclose([values[i] for i in (1, pairs // 2, -1)], sample, rtol=3e-6)
        assert factor == pytest.approx(scaling, rel=3e-6)


def test_many_files_were_measured():
    assert len({row.values[1]["name"] for row in ROWS}) >= 30
    assert {row.values[1]["times"] for row in ROWS} == {2, 8}
