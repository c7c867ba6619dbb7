"""CONTRIBUTING.md is true: its encoding runs, its files and commands exist; and versions agree elsewhere."""

import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import __version__, compute_spectrum, count_low_bin, measure_faithfulness
from pe_spectra.encodings import HasFrequencies, HasTable
from pe_spectra.names import ENCODING_CLASSES
from tests.laws import test_classes, test_kernels, test_keys, test_objects, test_tables
from tests.places import ROOT

#: Laws of every encoding with the views that the worked example has.
LAWS = (
    test_objects.test_frozen_and_comparable,
    test_objects.test_parameters_are_json,
    test_objects.test_the_label_tells_what_it_is,
    test_objects.test_positions_are_described,
    test_objects.test_sizes_are_sizes,
    test_tables.test_table_has_shape_type_and_finite_numbers,
    test_tables.test_no_entry_is_larger_than_its_amplitude,
    test_tables.test_table_is_the_same_every_time,
    test_tables.test_who_changes_a_table_does_not_change_the_encoding,
    test_tables.test_a_row_is_the_same_whatever_others_are_asked_for,
    test_tables.test_table_refuses_what_is_no_position,
    test_tables.test_the_last_position_has_a_code_and_the_next_has_none,
    test_tables.test_a_table_that_cannot_be_held_is_refused_before_anything_is,
    test_kernels.test_frequencies_are_read_only_arrays_of_one_length,
    test_kernels.test_masses_count_columns,
    test_kernels.test_turns_are_the_frequencies,
    test_keys.test_equal_keys_are_equal_rows,
    test_keys.test_keys_do_not_change_what_they_are_given,
    test_keys.test_the_theorem_has_a_name_and_a_sentence,
)

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def list_blocks(language):
    """The fenced blocks of one language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def clock():
    """The class of the worked example, made by running its text."""
    [block] = list_blocks("python")
    names = {"__name__": "worked_example"}
    exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    return names["Clock"]


def test_its_table_is_the_hand_of_a_clock(clock):
    assert all(isinstance(clock(), view) for view in (HasTable, HasFrequencies))
    assert clock().theorem is not None
    angle = 2 * np.pi * np.arange(30) / 12
    expected = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    assert_allclose(clock(period=12).table(30), expected, rtol=0, atol=1e-14)
    assert_array_equal(clock(period=12).table(4)[3], [1.0, 0.0])


def test_its_spectrum_peaks_at_its_frequency(clock):
    spectrum = compute_spectrum(clock(period=64), bandwidth=1.0)
    assert spectrum.grid == 64
    assert spectrum.summary.peak_bin == 1
    assert_allclose(spectrum.weights.sum(), 1.0, rtol=1e-12)
    # Eq. 15 with one frequency at bin 1: a Gaussian over the bins
    expected = np.exp(-((np.arange(33) - 1) ** 2) / 2)
    assert_allclose(spectrum.weights, expected / expected.sum(), rtol=1e-11)
    assert count_low_bin(clock(period=64), length=16).inside == 1


def test_its_faithfulness_ends_after_a_period(clock):
    found = measure_faithfulness(clock(period=24), length=80)
    assert found.injective is False
    assert found.closest_pair == (0, 24)
    assert found.collisions.count == sum(80 - lag for lag in (24, 48, 72))
    assert found.rank == 2
    within = measure_faithfulness(clock(period=24), length=24)
    assert within.injective is True
    assert_allclose(within.min_separation, 2 * np.sin(np.pi / 24), rtol=1e-12)


@pytest.mark.parametrize("period", [3, 24, 57])
def test_the_laws_of_the_catalogue_hold_for_it(clock, period):
    """Those that ask for no entry in the catalogue: what it has besides, a test then asks for by name."""
    encoding = clock(period=period)
    for law in LAWS:
        law(encoding)
    test_classes.test_parameters_are_the_fields(clock)
    test_classes.test_names_of_parameters_are_unique(clock)


def test_the_command_line_picks_it_up(clock, cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "pe_spectra.encodings.clock", SimpleNamespace(Clock=clock))
    monkeypatch.setitem(ENCODING_CLASSES, "clock", ("clock", "Clock"))
    done = cli("faithfulness -e clock:period=12 --no-figure --json")
    assert done.code == 0, done.err
    [row] = json.loads(done.out)["rows"]
    assert row["encoding"] == {"name": "clock", "parameters": {"period": 12}}
    assert row["closest_pair"] == [0, 12]
    assert cli("spectrum -e clock:period=168 --no-figure").code == 0
    refused = cli("spectrum -e clock:period=2 --no-figure")
    assert refused.code == 2
    assert "clock: period" in refused.err


def test_it_is_short_and_formatted(clock):
    [block] = list_blocks("python")
    assert max(len(line) for line in block.splitlines()) <= 120
    code = [line for line in block.partition("@final")[2].splitlines() if line.strip()]
    assert len(code) <= 50


def test_named_files_exist():
    named = re.findall(r"`((?:pe_spectra|tests|docs|\.ci)/[\w./]*|[\w.]+\.(?:md|toml|cff))`", TEXT)
    assert len(named) >= 12
    for name in named:
        assert (ROOT / name).exists(), name


def test_commands_are_those_of_the_readme_and_of_ci():
    tests, everything, site = (block.strip() for block in list_blocks("sh"))
    assert tests in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / everything).stat().st_mode & 0o111
    for step in (*tests.split(" && "), *site.split(" && ")):
        assert step in (ROOT / everything).read_text(encoding="utf-8"), step


@pytest.mark.parametrize(
    ("file", "line"),
    [("CITATION.cff", f"version: {__version__}"), ("CHANGELOG.md", f"## [{__version__}]")],
)
def test_the_version_is_the_same_everywhere(file, line):
    assert f"\n{line}" in (ROOT / file).read_text(encoding="utf-8")
