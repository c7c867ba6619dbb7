"""Every quantity that the program prints has its sentence in the documentation."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

DOCUMENT = (Path(__file__).parents[1] / "docs" / "quantities.md").read_text(encoding="utf-8")


def list_properties(node: object) -> set[str]:
    if isinstance(node, list):
        return {name for item in node for name in list_properties(item)}
    if not isinstance(node, dict):
        return set()
    return set(node.get("properties", {})) | {name for item in node.values() for name in list_properties(item)}


SCHEMA = json.loads((files("pe_spectra") / "schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("key", sorted(list_properties(SCHEMA)))
def test_every_key_of_the_schema_is_explained(key: str) -> None:
    assert f"`{key}`" in DOCUMENT
