"""From what was typed to an encoding: files and their keys, options, hybrids, positions."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.cli.positions import read_places
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import FileError, InputError
from tests.sources.specs import build, build_one

# ----------------------------------------------------------------------------------- keys of files


@pytest.mark.parametrize(
    ("keys", "rows", "shape"),
    [
        ("", slice(None), None),
        ("?rows=3:9", slice(3, 9), None),
        ("?rows=3:", slice(3, None), None),
        ("?rows=:9", slice(9), None),
        ("?prefix=4", slice(4, None), (6, 6)),
        ("?rows=:9,prefix=2", slice(2, 9), None),
        ("?rows=2:29,prefix=3", slice(5, 29), None),
        ("?prefix=4,grid=6x6", slice(4, None), (6, 6)),
        ("?grid=4x10", slice(None), (4, 10)),
        ("?rows=1:31,prefix=2,grid=4x7", slice(3, 31), (4, 7)),
    ],
)
def test_keys_choose_rows(folder, keys, rows, shape):
    encoding = build_one(f"t.npy{keys}")
    expected = np.load("t.npy")[rows]
    assert_array_equal(encoding.table(encoding.rows), expected)
    if shape is None or "grid" in keys:
        assert encoding.shape == shape
    again = build_one(encoding.spec)
    assert (again, again.spec) == (encoding, encoding.spec)


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ("t.npy?rows=9", "rows is no range of rows"),
        ("t.npy?rows=:", "rows is no range of rows"),
        ("t.npy?rows=9:3", "rows are not in the table"),
        ("t.npy?rows=3:3", "rows are not in the table"),
        ("t.npy?rows=0:41", "rows are not in the table"),
        ("t.npy?rows=40:", "rows are not in the table"),
        ("t.npy?rows=-3:5", "out of range"),
        ("t.npy?rows=1.5:5", "not an integer"),
        ("t.npy?prefix=40", "prefix leaves no row"),
        ("t.npy?grid=6x6", "grid does not fit the rows"),
        ("t.npy?grid=40", "no size of a grid"),
        ("t.npy?row=1:2", "did you mean rows"),
        ("t.npy?d=3", "key is not known"),
        ("t.npy?rows=1:2,rows=1:2", "given twice"),
    ],
)
def test_keys_are_checked(folder, spec, match):
    with pytest.raises(InputError, match=match):
        build(spec)


def test_rows_as_an_option(folder):
    table = np.load("t.npy")
    for spec in ("t.npy", "learned:table=t.npy", "t.npy?rows=3:9"):
        assert_array_equal(build_one(spec, rows="3:9").table(6), table[3:9])
    assert build_one("learned:init=normal,d=4", rows="3:9").rows == 6
    both = build("t.npy", "learned:table=t.npy,first=3", "sinusoidal", rows="3:")
    assert [encoding.rows for encoding in both] == [37, None]  # the first two are one
    for spec in ("t.npy?rows=3:9", "learned:table=t.npy,first=1"):
        with pytest.raises(InputError, match="--rows contradicts"):
            build(spec, rows="3:10")
    with pytest.raises(InputError, match="--rows has no meaning for sinusoidal"):
        build("sinusoidal", rows="3:9")
    with pytest.raises(InputError, match="--rows is no range"):
        build("t.npy", rows="3")


def test_width_of_a_file_is_its_own(folder):
    assert build_one("t.npy", d="6").d == 6
    with pytest.raises(InputError, match="d contradicts the given values") as caught:
        build("t.npy", d="7")
    assert "7" in str(caught.value)
    assert "d=6" in str(caught.value)
    with pytest.raises(InputError, match="--rho has no meaning for learned"):
        build("t.npy", rho="3")
    assert [encoding.d for encoding in build("t.npy", "sinusoidal", d="6")] == [6, 6]


def test_several_values_give_several_encodings(folder):
    assert [e.d for e in build("sinusoidal", d=["4", "6"], rho="100")] == [4, 6]
    assert len(build("sinusoidal", d=["4", "6"], rho=["100", "1e4"])) == 4
    assert len(build("sinusoidal:d=4", "sinusoidal", d="4")) == 1
    with pytest.raises(InputError, match="--d contradicts sinusoidal:d=4"):
        build("sinusoidal:d=4", d="6")


def test_hybrids_of_files(folder):
    table = np.load("t.npy")
    hybrid = build_one("hybrid:of='t.npy?rows=3:9'+'t.npy?rows=2:8'")
    np.testing.assert_allclose(hybrid.table(6), (table[3:9] + table[2:8]) / 2, rtol=0, atol=1e-15)
    assert build_one(hybrid.spec) == hybrid
    mixed = build_one("hybrid:of=t.npy+'sinusoidal:d=6'")
    assert mixed.table(3).shape == (3, 6)
    assert build_one("hybrid:of=t.npy+sinusoidal") == mixed
    with pytest.raises(InputError, match="different widths"):
        build("hybrid:of=t.npy+'sinusoidal:d=8'")
    assert build_one("hybrid:of=t.npy+sinusoidal,mode=concat").d == 262
    with pytest.raises(InputError, match="--rows has no meaning for hybrid"):
        build("hybrid:of=t.npy+'sinusoidal:d=6'", rows="2:9")


@pytest.mark.parametrize(
    ("of", "width"),
    [
        ("'rope:d=64,base=5e5'+sinusoidal,weights=0.5+0.5,mode=sum", 64),
        ("sinusoidal+'rope:d=64',mode='sum'", 64),
        ("t.npy+sinusoidal+dft+'learned:init=normal'", 6),
        ("'learned:table=t.npy'+sinusoidal", 6),
        ("'sinusoidal:d=8'+'dft:d=8'+dft", 8),
        ("'sinusoidal:d=8'+'calendar:rows=fixed,mode=sum'", 8),
        ("sinusoidal+calendar", 8),
        ("'hybrid:of=t.npy+sinusoidal'+dft", 6),
        ("dft+'hybrid:of=t.npy+sinusoidal,mode=mix,d=12'", 12),
        ("sinusoidal+dft", 256),
        ("sinusoidal+'dft:d=8',mode=concat", 264),
    ],
)
def test_an_open_width_in_a_sum_is_that_of_the_others(folder, of, width):
    hybrid = build_one(f"hybrid:of={of}")
    assert hybrid.table(5).shape == (5, width)
    if hybrid.mode == "sum":
        assert {member.d for member in hybrid.members} == {width}
    assert build_one(hybrid.spec) == hybrid


@pytest.mark.parametrize(
    "of",
    [
        "'sinusoidal:d=8'+'dft:d=6'+dft",  # two widths
        "t.npy+'sinusoidal:d=8'",
        "'sinusoidal:d=8'+'calendar:rows=fixed'",  # its d is that of each of four fields
        "'learned:init=normal,d=7'+rope",  # even alone
    ],
)
def test_widths_that_cannot_be_one_are_refused(folder, of):
    with pytest.raises(InputError, match="different widths do not add"):
        build(f"hybrid:of={of}")


def test_no_encoding_and_no_file(folder):
    with pytest.raises(InputError, match="not known"):
        build("sinusoid")
    with pytest.raises(FileError, match="no such file"):
        build("missing.npy")
    (folder / "model").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        build("./model")


# ----------------------------------------------------------------------------------- real positions on the command line


@pytest.mark.parametrize("step", ["0.1", "0.3", "0.7", "0.05", "0.15", "1.1", "0.25"])
def test_ranges_are_half_open_as_decimals(step):
    from decimal import Decimal

    from pe_spectra.cli.positions import read_places

    for count in range(1, 60):
        found = read_places(f"0:{Decimal(step) * count}:{step}").times
        np.testing.assert_allclose(found, [float(Decimal(step) * k) for k in range(count)], rtol=1e-15)


@pytest.mark.parametrize(
    "text", ["", "5", "1:0:0.5", "0:1:0", "0:1:-1", "0:1", "a:b:c", "0:nan:1", "0:1e9:1e-3", "0::1"]
)
def test_ranges_are_checked(text):
    from pe_spectra.cli.positions import read_places

    with pytest.raises(InputError, match="--positions"):
        read_places(text)


def test_positions_from_files(folder):
    from pe_spectra.cli.positions import read_places

    np.save("p.npy", np.array([0.5, 1.5, 4.0]))
    np.save("q.npy", np.array([[0.5], [1.5]]))
    (folder / "r.csv").write_text("time\n0.5\n2\n", encoding="utf-8")
    assert_array_equal(read_places("p.npy").times, [0.5, 1.5, 4.0])
    assert_array_equal(read_places("./q.npy").times, [0.5, 1.5])
    assert_array_equal(read_places("r.csv").times, [0.5, 2.0])
    with pytest.raises(InputError, match="has shape"):
        read_places("t.npy")


def test_what_is_known_about_a_file_is_noted(folder):
    places = np.stack(np.divmod(np.arange(196), 14))
    angles = np.concatenate([0.3 * places, places])
    np.save("g.npy", np.concatenate([np.cos(angles), np.sin(angles)]).T)
    encoding = build_one("g.npy")
    assert encoding.shape == (14, 14)
    assert "read as a grid of 14 x 14" in encoding.all_notes[0]
    assert build_one("g.npy?grid=1x196").shape == (1, 196)
    assert isinstance(encoding, Learned)


# ----------------------------------------------------------------------------------- real positions


@pytest.mark.parametrize("name", ["p.npy", "P.NPY", "p.csv"])
def test_positions_of_files(tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file:
        if name.endswith("csv"):
            file.write(b"0\n0.5\n1\n")
        else:
            np.save(file, [0, 0.5, 1])
    assert_array_equal(read_places(str(path)).times, [0, 0.5, 1])
