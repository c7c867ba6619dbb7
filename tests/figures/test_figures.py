"""The recipes of `pe-spectra figures`: their numbers, their bytes, and the check of what is committed."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pe_spectra.answers.drawn import Mismatch
from pe_spectra.errors import InputError
from pe_spectra.figures import (
    ALL_RECIPES,
    RECIPES,
    FigureRecipe,
    build,
    build_figures,
    check_figures,
    compare_figures,
    list_figure_files,
)
from pe_spectra.figures.build import write_columns
from pe_spectra.figures.recipes import Columns
from pe_spectra.study.lines import find_study
from tests.places import ROOT

NAMES = (
    "fig1_spectrum",
    "fig2_reconstruction",
    "fig3_width_bandwidth",
    "fig4_lag_window",
    "fig5_rotary_ladders",
    "fig6_precision_staircase",
    "fig7_separation",
    "fig8_gram",
)
#: Of the study, where there is one.
OF_STUDY = () if find_study() is None else ("fig9_learning", "fig10_predictors")


@cache
def compute(how: Callable[[int], Any], grid: int) -> Any:
    return how(grid)


def compute_columns(name: str) -> Columns:
    recipe = recipe_of(name)
    return recipe.tabulate(compute(recipe.compute, 256))


#: What they compute is computed once for all tests here: it is the files that change.
REMEMBERED = tuple(replace(recipe, compute=partial(compute, recipe.compute)) for recipe in ALL_RECIPES)


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "ALL_RECIPES", REMEMBERED)


@pytest.fixture(scope="module")
def built() -> dict[str, bytes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "ALL_RECIPES", REMEMBERED)
        return build_figures()


@pytest.fixture(scope="module")
def committed() -> dict[str, bytes]:
    """The figures as they are committed: drawing them anew takes many seconds, and slow tests do."""
    return {name: (ROOT / "figures" / name).read_bytes() for name in list_figure_files()}


@pytest.fixture
def folder(committed: dict[str, bytes], tmp_path: Path, remembered: None) -> Path:
    """The figures as files."""
    for name, contents in committed.items():
        (tmp_path / name).write_bytes(contents)
    return tmp_path


def recipe_of(name: str) -> FigureRecipe:
    return next(recipe for recipe in ALL_RECIPES if recipe.name == name)


def edit_cell(path: Path, line: int, column: int, text: str) -> None:
    lines = path.read_text().splitlines()
    cells = lines[line - 1].split(",")
    cells[column - 1] = text
    lines[line - 1] = ",".join(cells)
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.slow
def test_every_figure_has_its_files(built: dict[str, bytes]) -> None:
    assert tuple(recipe.name for recipe in RECIPES) == NAMES
    assert set(built) == set(list_figure_files())
    assert set(built) == {f"{name}{suffix}" for name in NAMES for suffix in (".png", ".svg", ".csv")} | {
        *(f"{name}{suffix}" for name in OF_STUDY for suffix in (".png", ".svg", ".pdf", ".csv")),
        "manifest.json",
    }
    for name in NAMES:
        assert built[f"{name}.png"].startswith(b"\x89PNG")
        assert built[f"{name}.svg"].startswith(b"<?xml")


def test_figure_1_holds_the_weights_of_the_paper() -> None:
    columns = compute_columns("fig1_spectrum")
    expected = [0.106987100713653796, 0.108915806006287646, 0.10512105438015145, 0.0964742810824619642]
    np.testing.assert_allclose(columns["weight"][:4], expected, rtol=1e-14)
    assert columns["weight"][:10].sum() == pytest.approx(0.742222498832, abs=1e-12)
    assert columns["log10_weight"][-1] == pytest.approx(-106.2836003906547, rel=1e-14)
    assert columns["omega"][-1] == pytest.approx(math.pi)
    np.testing.assert_allclose(columns["dft_weight"], [1 / 256, *[2 / 256] * 127, 1 / 256], rtol=1e-15)
    np.testing.assert_allclose(columns["log10_dft_weight"], np.log10(columns["dft_weight"]))


def test_figure_2_holds_the_reconstructions_of_the_paper() -> None:
    columns = compute_columns("fig2_reconstruction")
    np.testing.assert_array_equal(columns["location"], np.arange(256))
    for s in (5, 40, 75):
        original = columns[f"original_s{s}"]
        assert original[s] == original.max() == pytest.approx(0.340274929515680308, rel=1e-13)
        assert original[s + 1] == pytest.approx(0.324315958991005413, rel=1e-12)
        one_hot = np.arange(256) == s
        np.testing.assert_allclose(columns[f"dft_s{s}"], one_hot, atol=5e-15)
        assert np.linalg.norm(original - one_hot) == pytest.approx(1.148673208954, abs=1e-11)


def test_figure_3_holds_the_widths_of_the_notes() -> None:
    columns = compute_columns("fig3_width_bandwidth")
    fwhm = dict(zip(columns["bandwidth"], columns["fwhm"], strict=True))
    expected = {0.25: 47.74, 1.0: 27.32, 4.0: 11.9043527599, 16.0: 4.746, 64.0: 1.458}
    for bandwidth, width in expected.items():
        assert fwhm[bandwidth] == pytest.approx(width, rel=2e-4)
    at_paper = list(columns["bandwidth"]).index(4.0)
    assert columns["width_10"][at_paper] == pytest.approx(32.56, abs=0.005)
    assert math.isnan(columns["width_10"][0])  # the curve never falls to a tenth of its peak
    assert (np.diff(columns["fwhm"]) < 0).all()


def test_figure_4_holds_one_curve_twice() -> None:
    columns = compute_columns("fig4_lag_window")
    np.testing.assert_allclose(columns["lag_window"], columns["eq15_reflected"], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(columns["difference"], columns["eq15_reflected"] - columns["lag_window"])
    assert columns["eq15_reflected"].sum() == pytest.approx(1)


def test_figure_6_holds_the_known_answers() -> None:
    """bfloat16 has 8 bits: 256 and 257 are one, and of 0 .. 8191 there are 257 + 5 x 128 = 897 left."""
    columns = compute_columns("fig6_precision_staircase")
    assert columns["positions"][[0, -1]].tolist() == [1, 8192]
    last = {name: column[-1] for name, column in columns.items() if name.startswith("distinct_")}
    assert last["distinct_fp32_then_cast_bfloat16"] == 8192
    assert last["distinct_bf16_positions_bfloat16"] == last["distinct_all_bf16_bfloat16"] == 897
    assert last["distinct_bf16_positions_float16"] == 2049 + 2 * 1024
    assert columns["first_collision_bf16_positions_bfloat16"][:2].tolist() == [256, 257]
    assert columns["first_collision_bf16_positions_float16"][:2].tolist() == [2048, 2049]
    assert "first_collision_fp32_then_cast_bfloat16" not in columns
    # the fastest frequency is 1 rad: the error of an angle is that of its position, at most half a step of 32
    assert columns["log10_phase_error_bf16_positions_bfloat16"][-1] == pytest.approx(math.log10(16))


def test_figure_7_holds_the_witness() -> None:
    columns = compute_columns("fig7_separation")
    place = int(np.argmin(columns["separation"]))
    assert columns["lag"][place] == 446
    assert columns["separation"][place] == pytest.approx(0.95283, abs=5e-6)
    frequencies = 3.0 ** (-np.arange(0, 8, 2) / 8)
    expected = np.sqrt(sum(4 * np.sin(w * columns["lag"] / 2) ** 2 for w in frequencies))
    np.testing.assert_allclose(columns["separation"], expected, rtol=1e-12)


def test_figure_8_holds_the_dot_products() -> None:
    columns = compute_columns("fig8_gram")
    lags = columns["s"] - columns["t"]
    frequencies = 10000.0 ** (-np.arange(0, 256, 2) / 256)
    np.testing.assert_allclose(columns["dot_product"], np.cos(np.outer(lags, frequencies)).mean(axis=1), rtol=1e-12)
    assert len(set(zip(columns["s"], columns["t"], strict=True))) == 64**2


@pytest.mark.few(3)
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_what_is_drawn_is_in_the_columns(recipe: FigureRecipe) -> None:
    """Each column is a line of the drawing or an axis of one."""
    result = compute(recipe.compute, 256)
    columns, figure = recipe.tabulate(result), recipe.draw(result)
    drawn = [np.asarray(line.get_xdata(), dtype=float) for axes in figure.axes for line in axes.lines]
    drawn += [np.asarray(line.get_ydata(), dtype=float) for axes in figure.axes for line in axes.lines]
    bands = [path.vertices[:, 1] for axes in figure.axes for area in axes.collections for path in area.get_paths()]
    images = [np.asarray(image.get_array()) for axes in figure.axes for image in axes.images]
    drawn += [place.ravel() for image in images for place in (image, *np.indices(image.shape))]
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    scales = {"difference": 1e16}
    for name, column in columns.items():
        length = len(column) - int(np.argmax(np.isfinite(column[::-1])))  # shorter columns end in nan
        scaled = column[:length] * scales.get(name, 1.0)
        if name.startswith("unseen_"):  # a line over these pairs
            assert any(np.isfinite(line).sum() == np.count_nonzero(scaled) for line in drawn) or not scaled.any(), name
            continue
        if name.startswith("first_collision_"):  # a label at its mark; curves that are one have one label
            assert "{:g} = {:g}".format(*scaled) in words, name
            continue
        forms = [scaled, 10**scaled] if name.startswith("log10_") else [scaled]  # on an axis of logarithms
        is_line = any(
            line.shape == form.shape and np.allclose(line, form, rtol=1e-9, equal_nan=True)
            for line in drawn
            for form in forms
        )
        assert is_line or any(np.isin(np.round(scaled, 9), np.round(band, 9)).all() for band in bands), name


@pytest.mark.few(3)
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_lines_of_a_key_differ_without_their_colours(recipe: FigureRecipe) -> None:
    lines = recipe.draw(compute(recipe.compute, 256)).lines
    patterns = {(str(line._unscaled_dash_pattern), line.get_linewidth(), line.get_marker()) for line in lines}
    assert len(patterns) == len(lines)


@pytest.mark.slow
@pytest.mark.parametrize("grid", [2, 3, 50, 65, 512])
def test_other_lattices_build_and_check(grid: int, tmp_path: Path) -> None:
    built = build_figures(grid=grid)
    for name, contents in built.items():
        (tmp_path / name).write_bytes(contents)
    assert check_figures(tmp_path, grid=grid) == ()
    lines = {name: built[f"{name}.csv"].count(b"\n") - 1 for name in NAMES}
    assert [lines[name] for name in NAMES] == [grid // 2 + 1, grid, 33, grid // 2 + 1, 137, 275, 799, 4096]
    manifest = json.loads(built["manifest.json"])
    assert manifest["figures"]["fig1_spectrum"]["parameters"]["grid"] == grid
    assert manifest["figures"]["fig3_width_bandwidth"]["parameters"]["grid"] == 256
    assert check_figures(tmp_path, grid=grid + 2)


def test_impossible_lattice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="grid"):
        build_figures(grid=1)
    with pytest.raises(InputError, match="grid"):
        check_figures(tmp_path, grid=0)


@pytest.mark.slow
def test_two_builds_are_the_same_bytes(built: dict[str, bytes]) -> None:
    assert build_figures() == built


@pytest.mark.slow
def test_manifest_says_what_the_figures_depend_on(built: dict[str, bytes], tmp_path: Path) -> None:
    manifest = json.loads(built["manifest.json"])
    assert set(manifest) == {"figures", "versions"}
    assert set(manifest["versions"]) == {"pe-spectra", "numpy", "matplotlib", "python"}
    assert tuple(manifest["figures"]) == (*NAMES, *OF_STUDY)
    assert manifest["figures"]["fig2_reconstruction"]["parameters"]["positions"] == [5, 40, 75]
    assert str(tmp_path.parent).encode() not in built["manifest.json"]


@pytest.mark.slow
def test_checking_changes_no_file(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert check_figures(folder) == ()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_fresh_build_passes_its_check(built: dict[str, bytes], tmp_path: Path) -> None:
    for name, contents in built.items():
        (tmp_path / name).write_bytes(contents)
    assert check_figures(tmp_path) == ()


def test_files_are_compared_with_those_that_are_there(committed: dict[str, bytes], folder: Path) -> None:
    assert compare_figures(committed, folder) == dict.fromkeys((*NAMES, *OF_STUDY), True)
    edit_cell(folder / "fig1_spectrum.csv", 4, 2, "0.5")
    (folder / "fig8_gram.csv").unlink()
    assert compare_figures(committed, folder) == {
        "fig1_spectrum": False,
        **dict.fromkeys((*NAMES[1:7], *OF_STUDY), True),
    }


def test_changed_cell_is_named(folder: Path) -> None:
    edit_cell(folder / "fig1_spectrum.csv", 4, 2, "0.5")
    (difference,) = check_figures(folder)
    assert (difference.figure, difference.column, difference.row) == ("fig1_spectrum", "weight", 4)
    assert float(difference.expected) == pytest.approx(0.10512105438015145)
    assert (difference.got, difference.reason) == ("0.5", "differs")


@pytest.mark.few(1)
@pytest.mark.parametrize("text", ["abc", "nan", "inf", "1_0", "0x1p3", " 0.1", "1e999", "'", "=1+1"])
def test_word_in_a_cell_is_named(folder: Path, text: str) -> None:
    edit_cell(folder / "fig2_reconstruction.csv", 7, 3, text)
    (difference,) = check_figures(folder)
    assert (difference.figure, difference.column, difference.row) == ("fig2_reconstruction", "original_s40", 7)
    assert (difference.got, difference.reason) == (text, "differs: the cell is not a number")


def test_empty_cells_mean_that_there_is_no_number(folder: Path) -> None:
    path = folder / "fig3_width_bandwidth.csv"
    assert path.read_text().splitlines()[1].endswith(",")  # width_10 at bandwidth 0.25
    edit_cell(path, 2, 3, "100.0")
    edit_cell(path, 3, 2, "")
    first, second = check_figures(folder)
    assert (first.column, first.row, first.reason) == ("fwhm", 3, "differs: the cell is empty")
    assert (second.column, second.row, second.expected) == ("width_10", 2, "")


def test_tolerance_is_a_share_of_the_largest_value(folder: Path) -> None:
    path = folder / "fig1_spectrum.csv"
    edit_cell(path, 2, 2, repr(0.1069871007136538 + 0.9e-10))  # largest value 0.1089: 1.089e-10 is allowed
    assert check_figures(folder) == ()
    edit_cell(path, 2, 2, repr(0.1069871007136538 + 1.2e-10))
    (difference,) = check_figures(folder)
    assert difference.column == "weight"
    edit_cell(path, 2, 2, repr(0.1069871007136538))
    edit_cell(path, 130, 3, "-106.2836")  # the far tail is held by its logarithm, not by its weight
    (difference,) = check_figures(folder)
    assert (difference.column, difference.row) == ("log10_weight", 130)


def test_rounding_noise_does_not_trip_but_an_error_does(folder: Path) -> None:
    path = folder / "fig4_lag_window.csv"
    for line in range(2, 131):
        edit_cell(path, line, 4, repr((-1) ** line * 4e-16))
    assert check_figures(folder) == ()
    edit_cell(path, 9, 4, "2e-14")
    (difference,) = check_figures(folder)
    assert (difference.column, difference.row) == ("difference", 9)


def test_many_bad_rows_are_one_difference(folder: Path) -> None:
    for line in range(5, 15):
        edit_cell(folder / "fig1_spectrum.csv", line, 4, "1.0")
    (difference,) = check_figures(folder)
    assert difference.row == 5
    assert "9 further rows" in difference.reason


def drop_last_line(data: bytes) -> bytes:
    return data[: data.rstrip(b"\n").rindex(b"\n") + 1]


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda _: b"", "is empty"),
        (lambda _: b"\n", "no such column"),
        (drop_last_line, "another number of lines"),
        (lambda data: data + data.splitlines(keepends=True)[-1], "another number of lines"),
        (lambda data: data + b"1,2\n", "another number of cells"),
        (lambda data: data.replace(b"\n1.0,", b"\n1.0,1.0,", 1), "another number of cells"),
        (lambda data: data.replace(b"original_s40", b"original_s41", 1), "no such column"),
        (lambda data: data.replace(b"original_s40", b"original_s5", 1), "two columns have one name"),
        (lambda data: data.replace(b"original_s5,original_s40", b"original_s40,original_s5", 1), "another order"),
        (lambda data: data.replace(b"location", b"location,more", 1), "a column too many"),
        (lambda data: data[:100] + b"\xff\xfe" + data[100:], "not a table of numbers"),
        (lambda data: data.replace(b"1.0", b'"1.0', 1), "not a table of numbers"),
        (lambda data: data[:100] + b"\0" + data[100:], "not a"),
        (lambda _: b"x" * 200_000, "not a table of numbers"),
    ],
    ids=range(14),
)
def test_damaged_files_are_differences(folder: Path, damage: Callable[[bytes], bytes], words: str) -> None:
    path = folder / "fig2_reconstruction.csv"
    path.write_bytes(damage(path.read_bytes()))
    differences = check_figures(folder)
    assert differences
    assert {difference.figure for difference in differences} == {"fig2_reconstruction"}
    assert any(words in difference.reason for difference in differences)


def test_missing_files_are_differences(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (folder / "fig4_lag_window.csv").unlink()
    (folder / "fig3_width_bandwidth.csv").unlink()
    (folder / "fig3_width_bandwidth.csv").mkdir()
    third, fourth = check_figures(folder)
    assert (third.figure, fourth.figure) == ("fig3_width_bandwidth", "fig4_lag_window")
    assert "fig4_lag_window.csv" in fourth.reason
    assert fourth.row is None
    empty = check_figures(tmp_path_factory.mktemp("empty"))
    assert tuple(difference.figure for difference in empty) == (*NAMES, *OF_STUDY)


def test_progress_is_told(remembered: None) -> None:
    told: list[tuple[int, int]] = []
    check_figures(Path("/nonexistent"), progress=lambda done, of: told.append((done, of)))
    total = len(NAMES) + len(OF_STUDY)
    assert told == [(step, total) for step in range(1, total + 1)]


def test_columns_are_written_with_every_digit() -> None:
    data = write_columns({"a": np.array([0.1, 1e-300]), "b": np.array([np.nan, 1 / 3])})
    assert data == b"a,b\n0.1,\n1e-300,0.3333333333333333\n"


def test_difference_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Mismatch(figure="a", reason="b").figure = "c"


@pytest.mark.slow  # the plain run has README's `pe-spectra figures --check`
def test_committed_figures_agree_and_checking_draws_nothing() -> None:
    script = (
        "import sys; from pathlib import Path; from pe_spectra.figures import check_figures;"
        "print(check_figures(Path('figures')), 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "() False"


@pytest.mark.slow
def test_committed_drawings_are_those_of_today(built: dict[str, bytes]) -> None:
    """The check compares numbers; a drawing that was left behind by a change of its plot shows here."""
    committed = ROOT / "figures"
    if (
        json.loads((committed / "manifest.json").read_bytes())["versions"]
        != json.loads(built["manifest.json"])["versions"]
    ):
        pytest.skip("the drawings were made with other versions of Python, NumPy or Matplotlib")
    # on another processor numbers may end in another digit, and one drawing is of rounding errors themselves
    unlike = {name for name, data in built.items() if (committed / name).read_bytes() != data}
    others = {name.removesuffix(".csv") for name in unlike if name.endswith(".csv")}
    assert sorted(name for name in unlike if name.partition(".")[0] not in others) == []
