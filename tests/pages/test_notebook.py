"""The notebook runs, and shows what its cells give now."""

import pytest

from tests.pages.notebook import read_cells, run_cells


def reduce(output):
    """An output without its picture, whose bytes depend on the release that draws."""
    data = output.get("data", {})
    kept = {kind: data[kind] for kind in data if kind == "text/plain"}
    return {**{key: value for key, value in output.items() if key != "data"}, "data": kept, "kinds": sorted(data)}


@pytest.mark.slow
def test_every_cell_gives_what_it_shows(tmp_path):
    shown = read_cells()
    run = run_cells(shown, tmp_path)
    assert sum(cell["cell_type"] == "code" for cell in shown) >= 5
    for before, after in zip(shown, run, strict=True):
        assert [reduce(one) for one in before.get("outputs", [])] == [reduce(one) for one in after.get("outputs", [])]
    pictures = [one for cell in shown for one in cell.get("outputs", []) if "image/png" in one.get("data", {})]
    assert len(pictures) == 2
    assert (tmp_path / "fig1.pdf").stat().st_size > 5000
