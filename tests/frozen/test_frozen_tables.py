"""Tables and formulas by their digests: any number counts, the type that it is stored in is told apart."""

import json

import numpy as np
import pytest

from pe_spectra import GivenArray, Learned, read_encoding
from pe_spectra.frozen import frozen_tables as tables
from pe_spectra.frozen.digests import digest_array
from pe_spectra.frozen.entries import write_entry
from pe_spectra.frozen.frozen_tables import take_encoding
from tests.frozen.planting import compare, name_changes
from tests.planted import make_trained


def write(encoding, known=None):
    return json.loads(json.dumps(write_entry(take_encoding(encoding, known))))


def make(values, dtype="float32", **more):
    return Learned(values=GivenArray(values, origin="table.npy", dtype=dtype), **more)


@pytest.fixture(scope="module")
def table():
    return make_trained(64, 16).astype(np.float32)


@pytest.fixture(scope="module")
def frozen(table):
    return write(make(table))


def test_a_table_is_as_it_was_frozen_and_nothing_is_measured_again(table, frozen, monkeypatch):
    monkeypatch.setattr("pe_spectra.inspection.portrait.draw_portrait", None)
    assert write(make(table), frozen) == frozen
    assert set(frozen) == {"source", "encoding", "arrays", "metrics"} | ({"findings"} & set(frozen))


@pytest.mark.parametrize("key", ["metrics", "findings"])
def test_what_a_person_wrote_of_a_table_is_not_taken_for_what_is_there(table, frozen, key):
    name, value = next(iter(frozen["metrics"].items()))
    planted = {"metrics": {**frozen["metrics"], name: 2.0 + (value or 0.0)}, "findings": frozen.get("findings", [])[1:]}
    assert frozen.get(key) != planted[key]
    assert write(make(table), {**frozen, key: planted[key]}) == frozen
    assert write(make(table), {**frozen, key: 5}) == frozen


def test_roundings_of_another_machine_are_no_change_of_a_metric(table, frozen):
    """Of the same numbers; where these are others, metrics are compared as all else."""
    value = next(name for name, value in frozen["metrics"].items() if isinstance(value, float) and value)
    for factor, changed in ((1 + 1e-12, []), (1 + 1e-3, [f"metrics.{value}"])):
        other = {**frozen, "metrics": {**frozen["metrics"], value: frozen["metrics"][value] * factor}}
        assert name_changes(frozen, other) == changed
    planted = json.loads(
        json.dumps({**other, "metrics": {**frozen["metrics"], value: frozen["metrics"][value] * (1 + 1e-12)}})
    )
    planted["arrays"]["table"]["digest"] = "0" * 64
    assert name_changes(frozen, planted) == ["digest", f"metrics.{value}"]


def test_one_number_of_a_table_is_a_change_with_its_rows(table, frozen):
    other = table.copy()
    other[41, 3] = np.nextafter(other[41, 3], np.float32(9))
    found = compare(frozen, write(make(other), frozen)).changes
    assert found[0].what == "digest"
    assert (found[0].layers, found[0].first_position) == (("table",), 40)
    assert found[0].effect == "numbers differ in 1 of 32 stretches of rows, first in rows 40 to 41"


def test_the_first_of_several_stretches_is_told(table, frozen):
    other = table.copy()
    other[[20, 50]] += 1
    (change,) = (one for one in compare(frozen, write(make(other), frozen)).changes if one.what == "digest")
    assert change.first_position == 20
    assert "2 of 32 stretches of rows, first in rows 20 to 21" in change.effect


def test_metrics_are_one_change_with_the_one_that_changed_most(table, frozen):
    found = compare(frozen, write(make(3 * table), frozen)).changes
    assert [one.what.partition(".")[0] for one in found] == ["digest", "metrics"]
    assert "metrics changed, the most norm_" in found[1].effect


def test_the_type_that_a_table_is_stored_in_is_told_apart(table, frozen):
    assert name_changes(frozen, write(make(table, "float64"), frozen)) == ["dtype"]


def test_another_shape_and_another_reading_are_told(table, frozen):
    assert {"shape", "encoding.rows"} <= set(name_changes(frozen, write(make(table[:32]), frozen)))
    assert "encoding.prefix" in name_changes(frozen, write(make(table, prefix=1), frozen))


@pytest.mark.parametrize("spec", ["sinusoidal:d=16", "rope:d=8", "dft:d=9", "alibi:heads=4", "calendar", "t5"])
def test_a_formula_is_as_it_was_frozen(spec):
    frozen = write(read_encoding(spec))
    assert write(read_encoding(spec), frozen) == frozen
    (array,) = frozen["arrays"].values()
    assert array["dtype"] == "float32"
    assert compare(frozen, frozen, tolerance=0.0).changes == ()


@pytest.mark.parametrize(
    ("spec", "other", "named"),
    [
        ("sinusoidal:d=16", "sinusoidal:d=16,rho=100", "encoding.parameters.rho"),
        ("sinusoidal:d=16", "sinusoidal:d=16,rho=100", "frequencies"),
        ("sinusoidal:d=16", "dft:d=16", "encoding.name"),
        ("rope:d=8", "rope:d=8,layout=interleaved", "encoding.parameters.layout"),
        ("rope:d=8", "rope:d=8,layout=interleaved", "digest"),
        ("alibi:heads=4", "alibi:heads=8", "shape"),
        ("alibi:heads=4", "alibi:heads=4,causal=no", "encoding.parameters.causal"),
    ],
)
def test_each_change_of_a_formula_is_named(spec, other, named):
    assert named in name_changes(write(read_encoding(spec)), write(read_encoding(other)))


def test_what_machines_round_otherwise_does_not_count_in_a_formula(monkeypatch):
    frozen = write(read_encoding("sinusoidal:d=16"))
    exported = tables.export_encoding
    monkeypatch.setattr(tables, "export_encoding", lambda one: push(exported(one)))
    assert write(read_encoding("sinusoidal:d=16")) == frozen


def push(found):
    from dataclasses import replace

    return replace(found, values=np.nextafter(found.values, 2.0))


def test_digests():
    values = np.arange(100.0)[:, None]
    found = digest_array(values, "float64")
    assert (found.shape, found.stretch, len(found.stretches)) == ((100, 1), 4, 25)
    assert digest_array(values.astype(">f8"), "float64").digest == found.digest  # whatever the order of bytes
    assert digest_array(values[::-1], "float64").digest != found.digest
    assert digest_array(np.zeros((0, 2)), "float64").stretches == ()
