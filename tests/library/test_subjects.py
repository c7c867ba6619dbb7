"""Every function that takes an encoding takes a table, a list of rows, a SPEC and a function of positions, too."""

import inspect
import itertools

import numpy as np
import pytest

import pe_spectra
from pe_spectra.library import as_encoding

WRAPPED = sorted(itertools.chain(*vars(pe_spectra)["_OF_SUBJECTS"].values()))
OF_SEVERAL = vars(pe_spectra)["_OF_SEVERAL"]
TABLE = np.random.default_rng(0).normal(size=(24, 6))


def wave(positions):
    """Two columns for each position."""
    return np.stack([np.sin(positions / 3), np.cos(positions / 3)], axis=1)


def test_every_public_function_of_an_encoding_is_wrapped():
    taking = set()
    for name in pe_spectra.__all__:
        member = getattr(pe_spectra, name)
        if inspect.isfunction(member):
            first = next(iter(inspect.signature(member).parameters.values()), None)
            if first is not None and "Encoding" in str(first.annotation):
                taking.add(name)
    assert taking == set(WRAPPED)


OF_TABLES = sorted(set(WRAPPED) - {"count_low_bin", "compute_density_spectrum", "compute_grid_spectrum"})


@pytest.mark.few(7)
@pytest.mark.parametrize("name", OF_TABLES)
@pytest.mark.parametrize("subject", [TABLE, list(TABLE), TABLE.tolist(), wave], ids=["array", "rows", "lists", "rule"])
def test_a_table_in_any_form_is_that_table(name, subject):
    function = getattr(pe_spectra, name)
    several = name in OF_SEVERAL
    origin, values = ("wave", wave(np.arange(24))) if subject is wave else (f"array{' 1' * several}", TABLE)
    table = pe_spectra.Learned(values=pe_spectra.GivenArray(values, origin=origin))
    found = function([subject] if several else subject, length=24)
    assert repr(found) == repr(function([table] if several else table, length=24))


SPECS = ["compute_spectrum", "count_low_bin", "measure_faithfulness", "compute_density_spectrum"]


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_is_the_encoding_that_it_names(name):
    function = getattr(pe_spectra, name)
    assert repr(function("sinusoidal:d=16")) == repr(function(pe_spectra.Sinusoidal(d=16)))
    assert repr(function(encoding="sinusoidal:d=16")) == repr(function(encoding=pe_spectra.Sinusoidal(d=16)))


@pytest.mark.parametrize("name", OF_SEVERAL)
def test_what_can_be_read_once_is_read_once(name):
    function, specs = getattr(pe_spectra, name), ["dft:d=8", "sinusoidal:d=8", "dft:d=16"]
    assert repr(function(one for one in specs)) == repr(function(specs))


def test_several_are_compared_in_any_form():
    rows = pe_spectra.compare_encodings(["dft:d=8", TABLE, wave, pe_spectra.Dft(d=16)], length=8)
    assert [row.encoding.label for row in rows] == ["dft d=8", "array 1 24 x 6", "wave 8 x 2", "dft d=16"]
    assert len(pe_spectra.compare_encodings("dft:d=8")) == 1


@pytest.mark.parametrize(
    ("subject", "length", "words"),
    [
        (None, None, "array is no table"),
        (3.0, None, "(one number)"),
        (np.ones(3), None, "array is no table (3); (S, d)"),
        ([np.eye(3), np.eye(3)], None, "several tables go to pe_spectra.compare_encodings"),
        (object(), None, "no encoding (object)"),
        ([[1, 2], [3]], None, "no encoding (list)"),
        (wave, None, "a function of positions needs a length (None); pe_spectra.as_encoding(function, length=64)"),
        (wave, 0, "length"),
        (lambda positions: positions, 5, "(5, d): a row for each position"),
        (lambda _: np.ones((3, 2)), 5, "(5, d): a row for each position"),
        ("nothing:d=3", None, "nothing"),
    ],
)
def test_what_is_no_encoding_is_said_in_words(subject, length, words):
    with pytest.raises(pe_spectra.InputError) as caught:
        as_encoding(subject, length=length)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_function_has_its_name_when_it_takes_every_subject(monkeypatch):
    """Other threads may ask for it while it is imported."""
    seen = []

    def wrap(function):
        seen.append(vars(pe_spectra).get("count_low_bin"))
        return function

    monkeypatch.delitem(vars(pe_spectra), "count_low_bin", raising=False)
    monkeypatch.setattr("pe_spectra.library.accept", wrap)
    function = pe_spectra.count_low_bin
    assert seen == [None]
    assert vars(pe_spectra).pop("count_low_bin") is function
