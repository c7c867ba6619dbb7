"""The frozen files of tests/reference/packages: small, named, and every case of them compared."""

import importlib
import re

import pytest

from tests.reference.frozen_packages import COMPARED, FILES, FOLDER, label, read


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_is_small_and_names_its_packages(path):
    assert path.stat().st_size < 60_000
    header = read(path.stem)["header"]
    assert set(header) == {"what", "versions", "written by"}
    assert header["versions"].keys() >= {"torch", "python"}
    pinned = dict(
        re.findall(
            r"([a-z-]+)==([\d.]+)", (FOLDER / header["written by"].rpartition("/")[2]).read_text(encoding="utf-8")
        )
    )
    assert {name: version for name, version in header["versions"].items() if name != "python"}.items() <= pinned.items()
    for case in read(path.stem)["cases"]:
        assert case["function"]
        assert case["arguments"]
        assert case["values"]


def test_every_case_is_compared():
    # they name their cases when they are loaded
    for name in ("biases", "ladders", "rotations"):
        importlib.import_module(f"tests.reference.test_package_{name}")
    assert len(FILES) == 15
    left_out = [label(case) for path in FILES for case in read(path.stem)["cases"] if id(case) not in COMPARED]
    assert left_out == []
