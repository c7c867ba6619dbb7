"""Two arrays that each hold sines and cosines side by side: what differs in their entries is a difference."""

import itertools
import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from pe_spectra.models.comparison.rotations import compare_rotations
from pe_spectra.models.comparison.wave_tables import compare_waves, shows_rotations
from pe_spectra.models.dumps.dump import Arrangement
from pe_spectra.models.dumps.dumped_arrays import read_cache
from tests.models.rotations import told

ROWS, WIDTH = 200, 64
LADDER = 1e4 ** -(np.arange(0, WIDTH, 2) / WIDTH)


def make_table(*, interleaved=True, sines_first=True, signs=(1, 1), factor=1.0, offset=0, dtype="float32", **others):
    """Sines and cosines of positions as Vaswani et al. have them, or with their columns in another order."""
    ladder, rows = others.get("ladder", LADDER), others.get("rows", ROWS)
    angles = (np.arange(rows)[:, None] + offset) * ladder
    parts = [factor * signs[0] * np.sin(angles), factor * signs[1] * np.cos(angles)]
    parts = parts if sines_first else parts[::-1]
    table = np.stack(parts, axis=-1).reshape(rows, -1) if interleaved else np.hstack(parts)
    return table.astype(dtype)


FIRST = make_table()
#: Every way to change the first table that the arrays themselves show.
CHANGES = [
    {
        "interleaved": interleaved,
        "sines_first": first,
        "signs": signs,
        "factor": factor,
        "offset": offset,
        "dtype": kind,
    }
    for interleaved, first, signs, factor, offset, kind in itertools.product(
        (True, False), (True, False), ((1, 1), (-1, -1), (-1, 1), (1, -1)), (1.0, 2.0), (0, 1), ("float32", "float16")
    )
]


#: The same table as it is found in files, by what was done to the first.
NAMED = {
    "interleaved": FIRST.copy(),
    "halves": make_table(interleaved=False),
    "halves, cosines first": make_table(interleaved=False, sines_first=False),
    "interleaved, cosines first": make_table(sines_first=False),
    "negated": -FIRST,
    "doubled": 2 * FIRST,
    "one row later": make_table(offset=1),
    "float16": FIRST.astype(np.float16),
}


@pytest.fixture
def diff(cli, tmp_path):
    """Compare two arrays with --check; give the exit code, the first line and the document."""

    def run(a, b):
        np.save(tmp_path / "a.npy", a)
        np.save(tmp_path / "b.npy", b)
        done = cli("diff a.npy b.npy --json --check")
        document = json.loads(done.out)
        assert document["agree"] is (None if done.code == 0 else False)
        return done.code, document["verdict"]["text"], document

    return run


def are_equal(a, b):
    """Tell by NumPy alone whether two arrays hold the same numbers, within the rounding of the coarser type."""
    coarser = np.result_type(np.float16) if np.float16 in (a.dtype, b.dtype) else np.result_type(np.float32)
    return np.allclose(a.astype(float), b.astype(float), rtol=0, atol=np.finfo(coarser).eps * np.abs(a).max())


def compare(a, b):
    """The comparison as tables, that as rotations, and whether the second is the answer."""
    dumps = [read_cache(one.astype(float)) for one in (a, b)]
    found = compare_waves(a.astype(float), b.astype(float), *dumps)
    rotations = compare_rotations(dumps[:1], dumps[1:], length=len(a))
    return found, rotations, shows_rotations(found, rotations)


@pytest.mark.few(15)
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_entries_that_differ_are_never_the_same(change):
    other = make_table(**change)
    found, rotations, as_rotations = compare(FIRST, other)
    assert found.agree == as_rotations == are_equal(FIRST, other)
    if as_rotations:
        # the type is a part of its own
        assert [one.what for one in rotations.differences] == ["dtype"] * (change["dtype"] != "float32")
    else:
        assert_says(told(found)[1], found, change)


@pytest.mark.parametrize("name", NAMED)
def test_a_check_of_tables_fails_where_entries_differ(diff, name):
    code, text, document = diff(FIRST, NAMED[name])
    if are_equal(FIRST, NAMED[name]):
        assert text.startswith("Same frequencies; dtype differs" if code else "The same: all 200 rows are equal.")
        assert (code, name) in ((0, "interleaved"), (1, "float16"))
        return
    assert (code, document["differences"][0]["what"]) == (1, "table")
    assert text.startswith("Different: ")
    assert "The same" not in text


@pytest.mark.few(15)
@pytest.mark.parametrize(("a", "b"), [*itertools.product(NAMED, repeat=2)])
def test_any_two_of_them_are_the_same_or_not_as_their_entries_are(a, b):
    found, rotations, as_rotations = compare(NAMED[a], NAMED[b])
    assert found.agree == as_rotations == are_equal(NAMED[a], NAMED[b])
    assert not as_rotations or bool(rotations.differences) == (NAMED[a].dtype != NAMED[b].dtype)


def assert_says(text, table, change):
    """The answer names what was changed, and nothing else."""
    assert ("interleaved in A" in text) == (not change["interleaved"])
    assert ("cosines first in B" in text or "cosines and sines in halves in B" in text) == (not change["sines_first"])
    if change["signs"][0] == change["signs"][1]:
        assert table.explained
        assert (table.factor, table.shift) == (change["factor"] * change["signs"][0], change["offset"])
        columns = slice(None) if table.columns is None else table.columns
        ordered = make_table(interleaved=change["interleaved"], sines_first=change["sines_first"])
        np.testing.assert_array_equal(FIRST[:, columns], ordered)
    else:
        assert not table.explained
        turned = "sines" if change["signs"][0] < 0 else "cosines"
        assert f"the {turned} of B have the opposite sign" in text
        assert (", times 2" in text) == (change["factor"] == 2)
        assert ("row i of B is row i + 1 of A" in text) == (change["offset"] == 1)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ({}, {"interleaved": False}, "sines and cosines interleaved in A, in halves in B"),
        ({"interleaved": False}, {}, "sines and cosines in halves in A, interleaved in B"),
        ({}, {"sines_first": False}, "sines first in A, cosines first in B"),
        (
            {"sines_first": False},
            {"interleaved": False},
            "cosines and sines interleaved in A, sines and cosines in halves in B",
        ),
    ],
)
def test_how_columns_stand_is_said(diff, a, b, words):
    text = f"Different: the columns of B are those of A in another order: {words}."
    code, found, document = diff(make_table(**a), make_table(**b))
    assert (code, found) == (1, text)
    assert document["notes"][1:] == ["read as rotary caches, both have the same frequencies"]


def test_a_name_makes_no_rotation_of_a_table(cli, tmp_path):
    save_file({"wpe.weight": FIRST, "head": np.zeros((2, 3), np.float32)}, tmp_path / "gpt.safetensors")
    np.save(tmp_path / "half.npy", make_table(interleaved=False))
    done = cli("diff gpt.safetensors::wpe.weight half.npy --check")
    assert done.code == 1
    assert done.out.startswith("Different: the columns of B are those of A in another order: sines and cosines")


def test_equal_tables_say_what_they_leave_open(diff):
    code, text, document = diff(FIRST, FIRST.copy())
    assert (code, text) == (
        0,
        "The same: all 200 rows are equal.",
    )
    (unknown,) = document["unknown"]
    assert unknown["why"] == "a cache with cosines and sines side by side does not say"
    assert "entry by entry: all 200 rows are equal" in document["notes"]


@pytest.mark.parametrize("is_last_bit", [True, False])
def test_numbers_that_arithmetic_alone_changed_are_the_same_as_far_as_is_known(diff, is_last_bit):
    code, text, _ = diff(FIRST, np.nextafter(FIRST, np.float32(0)) if is_last_bit else compute_in_float32(ROWS))
    assert (code, text.partition(":")[0]) == (0, "The same, as far as is known")


def test_a_factor_is_said_of_scores_beside_the_table(diff):
    _, text, document = diff(FIRST, 2 * FIRST)
    assert text == "Different: row i of B is row i of A, times 2."
    assert "attention scaling differs: scores in B are 4 times those in A" in document["notes"][-1]


@pytest.mark.parametrize("change", [{}, {"interleaved": False}])
def test_other_frequencies_are_compared_as_rotations(diff, change):
    code, text, document = diff(FIRST, make_table(ladder=5e5 ** -(np.arange(0, WIDTH, 2) / WIDTH), **change))
    assert (code, document["differences"][0]["what"]) == (1, "base")
    assert text.startswith("Another base (10000 in A, 500000 in B): breaks from position")
    (note,) = (note for note in document["notes"] if note.startswith("entry by entry: "))
    assert note.endswith("; sines and cosines interleaved in A, in halves in B") == bool(change)


def test_rows_in_reverse_order_are_not_called_sines_of_the_opposite_sign(diff):
    code, text, _ = diff(FIRST, FIRST[::-1])
    assert code == 1
    assert text.startswith("Different: the rows of B are those of A in reverse order; no row equals")
    assert "sign" not in text


def test_more_rows_of_one_rotation_are_no_other_rotation(diff):
    code, text, document = diff(FIRST, make_table(rows=ROWS + 7))
    assert (code, text.partition(":")[0]) == (0, "The same, as far as is known")
    assert "entry by entry: B has 7 rows more (200 and 207); the 200 rows that both have are equal" in document["notes"]


def test_fewer_columns_are_fewer_pairs(diff):
    code, _, document = diff(FIRST, make_table(ladder=LADDER[:16]))
    assert (code, document["differences"][0]["what"]) == (1, "rotary_dim")


# ----------------------------------------------------------------------------------- arithmetic in float32


def compute_in_float32(rows, **change):
    """A table whose angles were computed in float32, as most implementations do."""
    ladder = np.exp(np.arange(0, WIDTH, 2, dtype=np.float32) * np.float32(-np.log(1e4) / WIDTH))
    angles = np.arange(rows, dtype=np.float32)[:, None] * ladder
    parts = [np.sin(angles), np.cos(angles)]
    return np.hstack(parts) if change else np.stack(parts, axis=-1).reshape(rows, -1)


@pytest.mark.few(2)
@pytest.mark.parametrize("rows", [200, 4096, 32768])
def test_angles_in_float32_are_no_difference(rows):
    exact, computed = make_table(rows=rows), compute_in_float32(rows)
    assert np.abs(exact - computed).max() > 2 * np.finfo(np.float32).eps
    found, _, as_rotations = compare(exact, computed)
    assert (found.agree, found.in_place, as_rotations) == (False, True, True)
    assert "equal within the rounding of angles" in found.findings[0]
    permuted, _, as_rotations = compare(exact, compute_in_float32(rows, half=True))
    assert (permuted.explained, permuted.factor, permuted.shift, as_rotations) == (True, 1.0, 0, False)
    assert permuted.order.endswith("sines and cosines interleaved in A, in halves in B")


def turn(table, row, pair, angle):
    """Turn one pair of one row: the point stays on its circle."""
    sine, cosine = table[row, 2 * pair : 2 * pair + 2].astype(float)
    turned = table.copy()
    turned[row, 2 * pair] = sine * np.cos(angle) + cosine * np.sin(angle)
    turned[row, 2 * pair + 1] = cosine * np.cos(angle) - sine * np.sin(angle)
    return turned


@pytest.mark.parametrize(("row", "pair", "angle"), [(100, 0, 1e-5), (4000, 0, 1e-4), (4000, 31, 2e-6), (7, 15, 2e-6)])
def test_a_single_point_that_was_moved_is_a_difference(row, pair, angle):
    exact = make_table(rows=4096)
    found, _, as_rotations = compare(exact, turn(exact, row, pair, angle))
    assert (found.unmatched_rows, found.first_row, as_rotations) == ((row,), row, False)
    assert found.findings[0] == f"A and B are the same except row {row} of B"


def test_a_slow_pair_that_is_off_by_more_than_its_arithmetic_is_a_difference():
    exact, computed = make_table(rows=4096), compute_in_float32(4096)
    moved = turn(computed, 4000, 31, 5e-5)  # an angle of 0.5 rad, whose digits end at 3e-8
    found, _, as_rotations = compare(exact, moved)
    assert (found.agree, found.in_place, as_rotations) == (False, False, False)
    assert np.abs(moved - computed).max() < np.abs(exact - computed).max()


# ----------------------------------------------------------------------------------- what a cache shows


@pytest.mark.parametrize("offset", [0, 1, 7])
@pytest.mark.parametrize("signs", [*itertools.product((1, -1), repeat=2)])
@pytest.mark.parametrize(("interleaved", "first"), [*itertools.product((True, False), repeat=2)])
def test_a_cache_shows_how_its_columns_stand(interleaved, first, signs, offset):
    table = make_table(interleaved=interleaved, sines_first=first, signs=signs, offset=offset)
    found = read_cache(table.astype(float))
    assert (found.arrangement, found.signs) == (Arrangement(interleaved, first), signs)


def test_two_arrays_and_complex_numbers_show_none():
    angles = np.arange(64)[:, None] * LADDER
    waves = np.cos(angles), np.sin(angles)
    found = [read_cache(*waves), read_cache(waves[0] + 1j * waves[1]), read_cache(np.stack(waves, axis=-1))]
    assert [one.arrangement for one in found] == [None] * 3
    assert compare_waves(FIRST, FIRST, found[0], read_cache(FIRST.astype(float))) is None


@pytest.mark.parametrize("form", ["two arrays", "complex"])
@pytest.mark.parametrize(
    ("signs", "parts"),
    [((1, 1), []), ((1, -1), ["layout"]), ((-1, -1), ["offset"]), ((-1, 1), ["layout", "offset"])],
    ids=str,
)
def test_two_caches_show_the_signs_that_differ(cli, tmp_path, form, signs, parts):
    angles = np.arange(64)[:, None] * LADDER
    cosines, sines = np.cos(angles), np.sin(angles)
    for name, (one, other) in {"a": (1, 1), "b": signs}.items():
        if form == "complex":
            np.save(tmp_path / f"{name}.npy", one * cosines + 1j * other * sines)
        else:
            np.savez(tmp_path / f"{name}.npz", cos=one * cosines, sin=other * sines)
    end = "npy" if form == "complex" else "npz"
    for line, letter in ((f"diff a.{end} b.{end} --check --json", "B"), (f"diff b.{end} a.{end} --check --json", "A")):
        done = cli(line)
        document = json.loads(done.out)
        assert [one["what"] for one in document["differences"]] == parts
        assert done.code == bool(parts)
        assert "direction" not in [one["what"] for one in document["unknown"]]
        effects = " ".join(one["effect"] for one in document["differences"])
        assert (f"all sines of {letter} have the opposite sign" in effects) == ("layout" in parts)
        assert (f"every phase of {letter} is half a period ahead" in effects) == ("offset" in parts)
    both = cli(f"diff b.{end} b.{end} --check")
    assert (both.code, both.out.split("\n")[0]) == (0, "The same: A and B are one file.")
